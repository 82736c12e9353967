//! What is kept of the last syncs, and when the next one is due (ruling 8.2).

use kalends_kernel::{SignedDuration, Timestamp, Zone};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::{limits::TOLD_MAX, read::Feed};

/// How long a claim lasts without being renewed: a fetch takes 30 s at most, reading some seconds, a chunk less.
pub const CLAIM_LASTS: SignedDuration = SignedDuration::minutes(3);

/// The most events that one change-set of a sync or an import writes.
pub const CHUNK_MAX: usize = 500;

/// How long after a good sync the next one is due.
const EVERY: SignedDuration = SignedDuration::minutes(15);
/// How long after one that failed at most.
const AT_LATEST: SignedDuration = SignedDuration::hours(6);
/// How long after a feed had shrunk so much that nothing was deleted.
const CONFIRM_AFTER: SignedDuration = SignedDuration::minutes(5);
/// For how long an answer "not changed" is taken for one: what is expanded around the present is extended daily.
const READ_ANEW_AFTER: SignedDuration = SignedDuration::hours(24);

/// For how long a deleted subscription is left alone whose events stay, before somebody looks whether they are still there.
pub const LEFT_KEPT: SignedDuration = SignedDuration::days(30);

/// What a server says by which a feed is recognized (RFC 9110, section 8.8).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Validators {
    /// `ETag`, as it came.
    pub etag: Option<String>,
    /// `Last-Modified`, as it came.
    pub last_modified: Option<String>,
}

/// The feed as it was read last, and the circumstances under which that holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seen {
    /// By what the server recognizes it.
    pub validators: Validators,
    /// The SHA-256 of its bytes, as hexadecimal digits.
    pub digest: String,
    /// The name of the calendar's zone, by which whole days and floating times were read.
    pub zone: String,
    /// When.
    #[serde(with = "micros")]
    pub at: Timestamp,
}

/// An instant as microseconds.
mod micros {
    use kalends_kernel::Timestamp;
    use serde::{Deserialize as _, Deserializer, Serializer};

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
    pub(super) fn serialize<S: Serializer>(instant: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_i64(instant.as_micros())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Timestamp, D::Error> {
        i64::deserialize(deserializer).map(Timestamp::from_micros)
    }
}

impl Seen {
    /// What is remembered of a feed that was read as a whole and applied as a whole.
    pub fn of(body: &[u8], validators: Validators, zone: Zone, at: Timestamp) -> Self {
        Self { validators, digest: digest(body), zone: zone.name().to_owned(), at }
    }

    /// Whether the same bytes would be read the same today.
    fn holds(&self, zone: Zone, now: Timestamp) -> bool {
        self.zone == zone.name() && now < self.at + READ_ANEW_AFTER
    }
}

fn digest(body: &[u8]) -> String {
    Sha256::digest(body).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// How many events a sync or an import wrote, and how many it did not need to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// New ones.
    pub created: u32,
    /// Changed ones.
    pub updated: u32,
    /// Those that were gone from the feed.
    pub deleted: u32,
    /// Those that were as before.
    pub untouched: u32,
}

/// What the last good sync came to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// What was written.
    pub counts: Counts,
    /// How many events could not be taken over.
    pub skipped: u32,
    /// How many are gone from a feed that shrank by more than half, and stay until the feed says so again.
    pub withheld: u32,
    /// The first of the events that could not be taken over, with the reason, and of what was read as well as possible;
    /// at most [`TOLD_MAX`] each.
    pub told: SyncDetails,
}

/// What a sync has to tell of single events.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SyncDetails {
    /// The `UID` of an event that was skipped, and why.
    pub skipped: Vec<(String, String)>,
    /// Warnings.
    pub warnings: Vec<String>,
}

impl Report {
    /// The report of a feed that was read, before anything is written.
    pub fn of(feed: &Feed) -> Self {
        let skipped = feed.skipped.iter().take(TOLD_MAX);
        Self {
            counts: Counts::default(),
            skipped: u32::try_from(feed.skipped_count).unwrap_or(u32::MAX),
            withheld: 0,
            told: SyncDetails {
                skipped: skipped.map(|skipped| (skipped.uid.clone(), skipped.reason.to_string())).collect(),
                warnings: feed.warnings.iter().take(TOLD_MAX).map(ToString::to_string).collect(),
            },
        }
    }
}

/// What is kept of a subscription's syncs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SyncState {
    /// When a sync last ended well.
    pub last_synced_at: Option<Timestamp>,
    /// What went wrong, where the last one did not.
    pub last_error: Option<String>,
    /// How many have failed since.
    pub failures: u32,
    /// What the last good one came to, and saw.
    pub memory: Memory,
}

/// What the last good sync leaves for the next one: one document.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory {
    /// What it came to; `None` before the first.
    pub report: Option<Report>,
    /// The feed, where the next fetch may be answered with "not changed".
    pub seen: Option<Seen>,
    /// Whether it found the feed shrunk by more than half and deleted nothing.
    pub shrunk: bool,
    /// Whether the subscription began with the events that an earlier one to the same address had left. What is kept
    /// from earlier versions does not say it.
    #[serde(default)]
    pub adopted: bool,
}

impl Memory {
    /// The document as JSON text.
    pub fn to_json(&self) -> String {
        // Texts and numbers cannot fail to be written.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Reads a document.
    ///
    /// # Errors
    /// Where it was not written here.
    pub fn from_json(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// By what the next fetch may ask whether the feed has changed; nothing where it has to be read whatever it says.
    pub fn validators(&self, zone: Zone, now: Timestamp) -> Validators {
        let seen = self.seen.as_ref().filter(|seen| seen.holds(zone, now));
        seen.map(|seen| seen.validators.clone()).unwrap_or_default()
    }

    /// Whether a feed is believed that has less than half of what is imported. What another address had is no measure
    /// of this one.
    pub const fn believes(&self) -> bool {
        self.shrunk || (self.report.is_none() && !self.adopted)
    }

    /// Whether these bytes say what is applied already.
    pub fn knows(&self, body: &[u8], zone: Zone, now: Timestamp) -> bool {
        self.seen.as_ref().is_some_and(|seen| seen.holds(zone, now) && seen.digest == digest(body))
    }
}

/// Why a sync imports nothing at all: the organization would hold more imported events than it may.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "this sync would add {added} events, but the organization may hold {limit} imported events at most (see \
     imported_events in GET /v1/usage), so nothing was imported; use a feed with fewer events or have the limit raised \
     (deleted events count for {days} more days)",
    days = kalends_calendars::DELETED_KEPT.as_seconds() / 86_400
)]
pub struct TooManyImported {
    /// How many events the sync would add.
    pub added: u64,
    /// The limit.
    pub limit: u64,
}

/// How a sync ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    /// The feed is as it was.
    Unchanged,
    /// What it says now is applied.
    Applied(Memory),
    /// It could not be fetched or read; every event stays.
    Failed(String),
}

impl SyncState {
    /// The state of a subscription that has another address from now on.
    #[must_use]
    pub fn elsewhere(&self) -> Self {
        Self { last_synced_at: self.last_synced_at, ..Self::default() }
    }

    /// The state after a sync that ended at `now`.
    #[must_use]
    pub fn after(&self, ended: Ended, now: Timestamp) -> Self {
        let good = |memory| Self { last_synced_at: Some(now), last_error: None, failures: 0, memory };
        match ended {
            Ended::Unchanged => {
                let mut memory = self.memory.clone();
                if let Some(report) = &mut memory.report {
                    let Counts { created, updated, deleted: _, untouched } = report.counts;
                    report.counts = Counts {
                        untouched: created.saturating_add(updated).saturating_add(untouched),
                        ..Counts::default()
                    };
                }
                good(memory)
            }
            Ended::Applied(memory) => good(memory),
            // What was seen is asked for anew: an error may mean that it is not what it was.
            Ended::Failed(error) => {
                Self { last_error: Some(error), failures: self.failures.saturating_add(1), ..self.clone() }
            }
        }
    }
}

/// When the next sync is due after one that ended at `now`: every 15 minutes, and after failures in a row 15 minutes
/// times a power of two, 6 hours at most; each within a tenth of that, so that many subscriptions do not stay in step
/// with each other. `random` decides where.
pub fn next_due(state: &SyncState, now: Timestamp, random: u32) -> Timestamp {
    let wait = match state.failures {
        0 if state.memory.shrunk => CONFIRM_AFTER,
        0 => EVERY,
        failures => {
            let doubled = EVERY.as_micros().saturating_mul(1 << (failures - 1).min(10));
            SignedDuration::micros(doubled.min(AT_LATEST.as_micros()))
        }
    };
    // From nine to eleven tenths.
    let tenth = wait.as_micros() / 10;
    let part = i128::from(random) * 2 * i128::from(tenth) / i128::from(u32::MAX);
    let jitter = i64::try_from(part).unwrap_or(tenth) - tenth;
    now + SignedDuration::micros(wait.as_micros() + jitter)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const NOW: Timestamp = Timestamp::from_micros(1_800_000_000_000_000);

    fn seen(body: &[u8]) -> Memory {
        let validators = Validators { etag: Some("\"1\"".into()), last_modified: None };
        Memory { seen: Some(Seen::of(body, validators, Zone::UTC, NOW)), ..Memory::default() }
    }

    #[rstest]
    #[case(0, false, 15)]
    #[case(0, true, 5)]
    #[case(1, false, 15)]
    #[case(2, false, 30)]
    #[case(3, true, 60)]
    #[case(5, false, 240)]
    #[case(6, false, 360)]
    #[case(u32::MAX, false, 360)]
    fn waits(#[case] failures: u32, #[case] shrunk: bool, #[case] minutes: i64) {
        let state = SyncState { failures, memory: Memory { shrunk, ..Memory::default() }, ..SyncState::default() };
        let after = |random| (next_due(&state, NOW, random) - NOW).as_seconds();
        assert_eq!((after(0), after(u32::MAX)), (minutes * 54, minutes * 66));
        assert!((minutes * 54..=minutes * 66).contains(&after(1 << 30)));
    }

    #[test]
    fn what_was_read_holds_for_a_day_and_in_its_zone() {
        let (memory, berlin) = (seen(b"x"), "Europe/Berlin".parse().unwrap());
        let day = NOW + SignedDuration::hours(24);
        assert!(memory.knows(b"x", Zone::UTC, NOW) && !memory.knows(b"y", Zone::UTC, NOW));
        assert!(!memory.knows(b"x", berlin, NOW) && !memory.knows(b"x", Zone::UTC, day));
        assert_eq!(memory.validators(Zone::UTC, NOW).etag.as_deref(), Some("\"1\""));
        assert_eq!(memory.validators(berlin, NOW), Validators::default());
        assert_eq!(memory.validators(Zone::UTC, day), Validators::default());
        assert_eq!(Memory::default().validators(Zone::UTC, NOW), Validators::default());
    }

    #[test]
    fn a_failure_forgets_nothing_and_a_good_sync_ends_it() {
        let first = SyncState::default().after(Ended::Applied(seen(b"x")), NOW);
        let failed = first.after(Ended::Failed("away".into()), NOW + SignedDuration::hours(1));
        let again = failed.after(Ended::Failed("gone".into()), NOW + SignedDuration::hours(2));
        assert_eq!((again.failures, again.last_error.as_deref()), (2, Some("gone")));
        assert_eq!((again.last_synced_at, &again.memory), (Some(NOW), &first.memory));
        let good = again.after(Ended::Unchanged, NOW + SignedDuration::hours(3));
        assert_eq!((good.failures, good.last_error), (0, None));
        assert_eq!(good.last_synced_at, Some(NOW + SignedDuration::hours(3)));
    }

    #[test]
    fn an_unchanged_feed_reports_what_is_there_as_untouched() {
        let counts = Counts { created: 3, updated: 2, deleted: 7, untouched: 1 };
        let report = Report { counts, skipped: 4, ..Report::default() };
        let state = SyncState { memory: Memory { report: Some(report), ..Memory::default() }, ..SyncState::default() };
        let report = state.after(Ended::Unchanged, NOW).memory.report.unwrap();
        assert_eq!(report.counts, Counts { untouched: 6, ..Counts::default() });
        assert_eq!(report.skipped, 4);
    }

    #[test]
    fn a_shrunken_feed_is_believed_where_nothing_is_a_measure() {
        let fresh = SyncState::default();
        let adopting = SyncState { memory: Memory { adopted: true, ..Memory::default() }, ..fresh.clone() };
        let failed = |state: &SyncState| state.after(Ended::Failed("away".into()), NOW);
        assert!(fresh.memory.believes() && failed(&fresh).memory.believes());
        assert!(!adopting.memory.believes() && !failed(&adopting).memory.believes());
        assert!(adopting.elsewhere().memory.believes() && failed(&adopting).elsewhere().memory.believes());
        let synced = Memory { report: Some(Report::default()), ..Memory::default() };
        assert!(!synced.believes() && Memory { shrunk: true, ..synced }.believes());
    }

    #[test]
    fn documents_of_earlier_versions_are_read() {
        let memory = Memory::from_json(r#"{"report":null,"seen":null,"shrunk":true}"#).unwrap();
        assert_eq!(memory, Memory { shrunk: true, ..Memory::default() });
    }

    #[test]
    fn documents_come_back() {
        let memory = Memory {
            report: Some(Report {
                told: SyncDetails { skipped: vec![("a".into(), "b".into())], ..SyncDetails::default() },
                ..Report::default()
            }),
            shrunk: true,
            adopted: true,
            ..seen(b"x")
        };
        assert_eq!(Memory::from_json(&memory.to_json()).unwrap(), memory);
        assert!(Memory::from_json("{").is_err());
    }
}
