//! The state of the server.

use askama::Template;
use kalends_time::{SignedDuration, Timestamp};

use super::frame::OperatorShell;
use crate::{
    english::in_english,
    numbers::{grouped, size_text},
    time::in_utc,
};

/// A number of things.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OperatorCount<'a> {
    /// What is counted.
    pub title: &'a str,
    /// How many there are.
    pub count: u64,
}

impl OperatorCount<'_> {
    pub(super) fn text(&self) -> String {
        grouped(self.count)
    }
}

/// A duty that a process does in the background.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OperatorDuty<'a> {
    /// The name, as the metrics have it.
    pub name: &'a str,
    /// How often it ran.
    pub runs: u64,
    /// How often it failed.
    pub failed: u64,
}

impl OperatorDuty<'_> {
    fn runs_text(&self) -> String {
        grouped(self.runs)
    }

    fn failed_text(&self) -> String {
        grouped(self.failed)
    }
}

/// What is known of the last backup, which other programs make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OperatorBackup {
    /// It could not be read.
    Unread,
    /// None was recorded.
    Unknown,
    /// When the last one was made that was recorded.
    MadeAt(Timestamp),
}

/// The state of the server.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "operator_overview.html")]
pub struct OperatorOverview<'a> {
    /// The frame.
    pub shell: &'a OperatorShell,
    /// The version of the program.
    pub version: &'a str,
    /// The kind of database.
    pub database: &'a str,
    /// The number of the newest migration.
    pub schema: i64,
    /// The size of the database in bytes; `None` if it is not known.
    pub bytes: Option<u64>,
    /// The last backup.
    pub backup: OperatorBackup,
    /// Whether the database answers, and takes writes.
    pub is_ready: bool,
    /// When the process started.
    pub started_at: Timestamp,
    /// The current time.
    pub now: Timestamp,
    /// The number of organizations, and of those on the waiting list. `None` if nothing is known of them and of the
    /// queues.
    pub organizations: Option<(u64, u64)>,
    /// The queues.
    pub queues: &'a [OperatorCount<'a>],
    /// When the oldest webhook delivery that is due fell due.
    pub oldest_due: Option<Timestamp>,
    /// Whether mail is only written to files.
    pub keeps_mail: bool,
    /// The emails from the queue that this process has dealt with since it started, by their outcome.
    pub letters: &'a [OperatorCount<'a>],
    /// The duties of this process since it started.
    pub duties: &'a [OperatorDuty<'a>],
}

impl OperatorOverview<'_> {
    fn started(&self) -> String {
        in_utc(self.started_at)
    }

    fn uptime(&self) -> String {
        lasted(self.now - self.started_at)
    }

    fn size(&self) -> String {
        self.bytes.map_or_else(|| "unknown".to_owned(), size_text)
    }

    fn backup_text(&self) -> String {
        match self.backup {
            OperatorBackup::Unread => "unknown".to_owned(),
            OperatorBackup::Unknown => "unknown: the server does not make backups, and none was recorded".to_owned(),
            OperatorBackup::MadeAt(at) if at > self.now => {
                format!("recorded at {}, which is in the future: a clock is or was wrong", in_utc(at))
            }
            OperatorBackup::MadeAt(at) => format!("recorded at {} ({} ago)", in_utc(at), lasted(self.now - at)),
        }
    }

    fn oldest_text(&self) -> String {
        match self.oldest_due {
            _ if self.organizations.is_none() => "unknown".to_owned(),
            Some(due) => format!("due for {}", lasted(self.now - due)),
            None => "none".to_owned(),
        }
    }

    fn seen(&self) -> String {
        in_utc(self.now)
    }

    fn organizations_text(&self) -> String {
        let Some((all, waiting)) = self.organizations else { return "unknown".to_owned() };
        format!("{}, of which {} on the waiting list", grouped(all), grouped(waiting))
    }
}

/// How long something lasted, in its two largest units.
fn lasted(time: SignedDuration) -> String {
    let seconds = time.as_seconds().max(0);
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3_600 % 24, seconds / 60 % 60);
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{seconds} s"),
        (0, 0, minutes) => format!("{minutes} min {} s", seconds % 60),
        (0, hours, minutes) => format!("{hours} h {minutes} min"),
        (days, hours, _) => format!("{days} d {hours} h"),
    }
}

in_english!(OperatorOverview<'_>);

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::not_read(OperatorBackup::Unread, "unknown")]
    #[case::none(OperatorBackup::Unknown, "none was recorded")]
    #[case::now(OperatorBackup::MadeAt(Timestamp::from_micros(60_000_000)), "(0 s ago)")]
    #[case::before(OperatorBackup::MadeAt(Timestamp::EPOCH), "(1 min 0 s ago)")]
    #[case::in_the_future(OperatorBackup::MadeAt(Timestamp::from_micros(60_000_001)), "which is in the future")]
    fn the_age_of_a_backup_is_shown_unless_it_is_in_the_future(#[case] backup: OperatorBackup, #[case] says: &str) {
        let page = OperatorOverview {
            shell: &OperatorShell { place: crate::OperatorPlace::Overview, ends_at: Timestamp::EPOCH },
            version: "1.0.0",
            database: "SQLite",
            schema: 1,
            bytes: None,
            backup,
            is_ready: true,
            started_at: Timestamp::EPOCH,
            now: Timestamp::from_micros(60_000_000),
            organizations: None,
            queues: &[],
            oldest_due: None,
            keeps_mail: false,
            letters: &[],
            duties: &[],
        };
        let text = page.backup_text();
        assert!(text.contains(says) && (says.contains("ago") || !text.contains("ago")), "{text}");
    }

    #[rstest]
    #[case(-5, "0 s")]
    #[case(59, "59 s")]
    #[case(61, "1 min 1 s")]
    #[case(3_600, "1 h 0 min")]
    #[case(90_061, "1 d 1 h")]
    #[case(864_000, "10 d 0 h")]
    fn times_have_two_units(#[case] seconds: i64, #[case] text: &str) {
        assert_eq!(lasted(SignedDuration::seconds(seconds)), text);
    }
}
