//! The state that is kept of a subscription's syncs, and when the next one is due.

use kalends_time::{SignedDuration, Timestamp, Zone};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::{limits::REPORTED_MAX, read::Feed};

/// How long a claim lasts without being renewed. A fetch takes at most 30 s, reading it a few seconds, and writing a
/// chunk less.
pub const CLAIM_LASTS: SignedDuration = SignedDuration::minutes(3);

/// The maximum number of events that one change-set of a sync or an import writes.
pub const CHUNK_MAX: usize = 500;

/// The time from a successful sync to the next one.
const EVERY: SignedDuration = SignedDuration::minutes(15);
/// The longest time from a failed sync to the next one.
const AT_LATEST: SignedDuration = SignedDuration::hours(6);
/// The time to the next sync after deletions were withheld because the feed had shrunk.
const CONFIRM_AFTER: SignedDuration = SignedDuration::minutes(5);
/// How long an unchanged feed is left unread. After that it is read again, because series that are expanded around the
/// present must be extended daily.
const REREAD_AFTER: SignedDuration = SignedDuration::hours(24);

/// How long a deleted subscription with kept events is left alone, before a worker checks whether the events still
/// exist.
pub const LEFT_KEPT: SignedDuration = SignedDuration::days(30);

/// The validators with which a server recognizes a version of a feed (RFC 9110, section 8.8).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Validators {
    /// `ETag`, unchanged.
    pub etag: Option<String>,
    /// `Last-Modified`, unchanged.
    pub last_modified: Option<String>,
}

/// The feed as it was last read, and the conditions under which that reading is still valid.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seen {
    /// The validators of the server.
    pub validators: Validators,
    /// The SHA-256 of its bytes, as hexadecimal digits.
    pub digest: String,
    /// The name of the calendar's zone, in which whole days and floating times were read.
    pub zone: String,
    /// When it was read.
    #[serde(with = "micros")]
    pub at: Timestamp,
}

/// Serializes an instant as microseconds.
mod micros {
    use kalends_time::Timestamp;
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
    /// The record of a feed that was completely read and applied.
    pub fn of(body: &[u8], validators: Validators, zone: Zone, at: Timestamp) -> Self {
        Self { validators, digest: digest(body), zone: zone.name().to_owned(), at }
    }

    /// Whether the same bytes would still be read the same at `now`.
    fn holds(&self, zone: Zone, now: Timestamp) -> bool {
        self.zone == zone.name() && now < self.at + REREAD_AFTER
    }
}

fn digest(body: &[u8]) -> String {
    Sha256::digest(body).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The numbers of events that a sync or an import wrote or left as they were.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// New events.
    pub created: u32,
    /// Changed events.
    pub updated: u32,
    /// Events that were gone from the feed.
    pub deleted: u32,
    /// Unchanged events.
    pub untouched: u32,
}

/// The report of the last successful sync.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// The numbers of written events.
    pub counts: Counts,
    /// The number of skipped events.
    pub skipped: u32,
    /// The number of events that are gone from a feed that shrank by more than half. They stay until another sync
    /// confirms that they are gone.
    pub withheld: u32,
    /// The first skipped events and the first warnings, at most [`REPORTED_MAX`] each.
    #[serde(rename = "told")]
    pub details: SyncDetails,
}

/// The details that a sync reports.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SyncDetails {
    /// The `UID` of each skipped event, and the reason.
    pub skipped: Vec<(String, String)>,
    /// Warnings.
    pub warnings: Vec<String>,
}

impl Report {
    /// The report of a feed that was read, before anything is written.
    pub fn of(feed: &Feed) -> Self {
        let skipped = feed.skipped.iter().take(REPORTED_MAX);
        Self {
            counts: Counts::default(),
            skipped: u32::try_from(feed.skipped_count).unwrap_or(u32::MAX),
            withheld: 0,
            details: SyncDetails {
                skipped: skipped.map(|skipped| (skipped.uid.clone(), skipped.reason.to_string())).collect(),
                warnings: feed.warnings.iter().take(REPORTED_MAX).map(ToString::to_string).collect(),
            },
        }
    }
}

/// The state that is kept of a subscription's syncs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SyncState {
    /// When the last successful sync ended.
    pub last_synced_at: Option<Timestamp>,
    /// The error of the last sync, if it failed.
    pub last_error: Option<String>,
    /// The number of syncs that have failed since the last successful one.
    pub failures: u32,
    /// The memory of the last successful sync.
    pub memory: Memory,
}

/// What the last successful sync leaves for the next one, as one document.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory {
    /// Its report; `None` before the first sync.
    pub report: Option<Report>,
    /// The feed, if the next sync may skip an unchanged one.
    pub seen: Option<Seen>,
    /// Whether it found the feed shrunk by more than half, and so withheld the deletions.
    pub shrunk: bool,
    /// Whether the imported events come from the same address although there is no report: the subscription took them
    /// over from a deleted one, or the feed must be read again. Documents of earlier versions do not have it.
    #[serde(default)]
    pub adopted: bool,
}

impl Memory {
    /// The document as JSON text.
    pub fn to_json(&self) -> String {
        // Serializing strings and numbers cannot fail.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Reads a document.
    ///
    /// # Errors
    /// If the text is not such a document.
    pub fn from_json(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// The validators for a conditional fetch. Empty if the feed must be read even if it has not changed.
    pub fn validators(&self, zone: Zone, now: Timestamp) -> Validators {
        let seen = self.seen.as_ref().filter(|seen| seen.holds(zone, now));
        seen.map(|seen| seen.validators.clone()).unwrap_or_default()
    }

    /// Whether to believe a feed that has fewer than half of the imported events: the previous sync found the same, or
    /// the imported events come from another address and so say nothing about this one.
    pub const fn believes(&self) -> bool {
        self.shrunk || (self.report.is_none() && !self.adopted)
    }

    /// Whether these bytes are already applied.
    pub fn knows(&self, body: &[u8], zone: Zone, now: Timestamp) -> bool {
        self.seen.as_ref().is_some_and(|seen| seen.holds(zone, now) && seen.digest == digest(body))
    }
}

/// A sync imports nothing, because the organization would exceed its limit of imported events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "this sync would add {added} events, but the organization may hold at most {limit} imported events (see \
     imported_events in GET /v1/usage), so nothing was imported; use a feed with fewer events or have the limit raised \
     (deleted events count for {days} more days)",
    days = kalends_calendars::DELETED_KEPT.as_seconds() / 86_400
)]
pub struct TooManyImported {
    /// The number of events that the sync would add.
    pub added: u64,
    /// The limit.
    pub limit: u64,
}

/// How a sync ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    /// The feed is unchanged.
    Unchanged,
    /// The feed was applied.
    Applied(Memory),
    /// The feed could not be fetched or read. Every event stays.
    Failed(String),
}

impl SyncState {
    /// The state after the subscription gets another address.
    #[must_use]
    pub fn elsewhere(&self) -> Self {
        Self { last_synced_at: self.last_synced_at, ..Self::default() }
    }

    /// The state after something else of the same feed is imported: the feed must be read even if it has not changed.
    #[must_use]
    pub fn reread(&self) -> Self {
        let memory = Memory { adopted: true, ..Memory::default() };
        Self { last_synced_at: self.last_synced_at, memory, ..Self::default() }
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
            Ended::Failed(error) => {
                Self { last_error: Some(error), failures: self.failures.saturating_add(1), ..self.clone() }
            }
        }
    }
}

/// When the next sync is due after one that ended at `now`. The wait is 15 minutes, or 5 minutes after a sync that
/// withheld deletions. It doubles with each further failure in a row, up to 6 hours. It varies by up to a tenth, as
/// `random` decides, so that subscriptions do not stay in step with each other.
pub fn next_due(state: &SyncState, now: Timestamp, random: u32) -> Timestamp {
    let wait = match state.failures {
        0 if state.memory.shrunk => CONFIRM_AFTER,
        0 => EVERY,
        failures => {
            let doubled = EVERY.as_micros().saturating_mul(1 << (failures - 1).min(10));
            SignedDuration::micros(doubled.min(AT_LATEST.as_micros()))
        }
    };
    // From 9/10 to 11/10 of the wait.
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
    fn the_wait_doubles_with_each_failure(#[case] failures: u32, #[case] shrunk: bool, #[case] minutes: i64) {
        let state = SyncState { failures, memory: Memory { shrunk, ..Memory::default() }, ..SyncState::default() };
        let after = |random| (next_due(&state, NOW, random) - NOW).as_seconds();
        assert_eq!((after(0), after(u32::MAX)), (minutes * 54, minutes * 66));
        assert!((minutes * 54..=minutes * 66).contains(&after(1 << 30)));
    }

    #[test]
    fn a_reading_is_valid_for_a_day_and_in_its_zone() {
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
    fn a_failure_keeps_the_memory_and_a_success_clears_the_error() {
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
    fn an_unchanged_feed_reports_its_events_as_untouched() {
        let counts = Counts { created: 3, updated: 2, deleted: 7, untouched: 1 };
        let report = Report { counts, skipped: 4, ..Report::default() };
        let state = SyncState { memory: Memory { report: Some(report), ..Memory::default() }, ..SyncState::default() };
        let report = state.after(Ended::Unchanged, NOW).memory.report.unwrap();
        assert_eq!(report.counts, Counts { untouched: 6, ..Counts::default() });
        assert_eq!(report.skipped, 4);
    }

    #[test]
    fn a_shrunken_feed_is_believed_if_there_is_nothing_to_compare() {
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
    fn a_feed_that_must_be_reread_is_not_known_but_still_protected() {
        let state = SyncState { last_synced_at: Some(NOW), memory: seen(b"a"), ..SyncState::default() };
        assert!(state.memory.knows(b"a", Zone::UTC, NOW));
        let again = state.reread();
        assert!(!again.memory.knows(b"a", Zone::UTC, NOW) && !again.memory.believes());
        assert_eq!(again.memory.validators(Zone::UTC, NOW), Validators::default());
        assert_eq!((again.last_synced_at, again.failures), (Some(NOW), 0));
    }

    #[test]
    fn documents_of_earlier_versions_are_read() {
        let memory = Memory::from_json(r#"{"report":null,"seen":null,"shrunk":true}"#).unwrap();
        assert_eq!(memory, Memory { shrunk: true, ..Memory::default() });
        let report = r#"{"counts":{"created":1,"updated":0,"deleted":0,"untouched":0},"skipped":1,"withheld":0,"told":{"skipped":[["a","b"]],"warnings":[]}}"#;
        let memory = Memory::from_json(&format!(r#"{{"report":{report},"seen":null,"shrunk":false}}"#)).unwrap();
        assert_eq!(memory.report.unwrap().details.skipped, [("a".into(), "b".into())]);
    }

    #[test]
    fn documents_round_trip() {
        let memory = Memory {
            report: Some(Report {
                details: SyncDetails { skipped: vec![("a".into(), "b".into())], ..SyncDetails::default() },
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
