//! The days on which keys were used: noted in memory when a key is accepted, and written a little later.
//!
//! A request never waits for that. A process that is killed loses the days that it has not written.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Bound,
    sync::{Mutex, MutexGuard, PoisonError},
};

use kalends_kernel::{KeyId, OrgId};
use kalends_time::{CivilDate, Timestamp};
use moka::sync::Cache;

/// The most keys whose noted day is remembered, and the most days of keys that wait to be written.
const KEYS_MAX: usize = 50_000;
/// How many keys one statement writes at most.
const KEYS_AT_ONCE: usize = 500;

/// The days that this process has noted.
pub(crate) struct KeyUses {
    /// The last noted day of each key, so that a day is usually written only once. A key beyond [`KEYS_MAX`] may be noted
    /// again; the store changes nothing then.
    noted: Cache<KeyId, CivilDate>,
    /// The days that are not written yet.
    waiting: Mutex<Waiting>,
}

/// Days that are not written yet. An entry requires a valid key, so outsiders cannot make it grow.
#[derive(Default)]
struct Waiting {
    /// The keys of each organization and day. No set is empty.
    keys: BTreeMap<(OrgId, CivilDate), BTreeSet<KeyId>>,
    /// How many keys these are.
    count: usize,
    /// What was taken out last. The next time goes on after it, so that days that cannot be written hold up no others.
    last: Option<(OrgId, CivilDate)>,
}

/// Keys of an organization that were used on a UTC day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Used {
    pub(crate) org: OrgId,
    pub(crate) day: CivilDate,
    /// At most [`KEYS_AT_ONCE`].
    pub(crate) keys: Vec<KeyId>,
}

impl KeyUses {
    pub(crate) fn new() -> Self {
        Self { noted: Cache::new(KEYS_MAX as u64), waiting: Mutex::default() }
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that the key was used. If too many days wait already, a later use is noted instead.
    pub(crate) fn note(&self, org: OrgId, key: KeyId, at: Timestamp) {
        let day = at.utc_date();
        if self.noted.get(&key).is_some_and(|noted| day <= noted) {
            return;
        }
        if self.waiting().keep((org, day), key) {
            self.noted.insert(key, day);
        }
    }

    /// Takes out days that are not written yet, at most `max` batches.
    pub(crate) fn take(&self, max: usize) -> Vec<Used> {
        let mut waiting = self.waiting();
        std::iter::from_fn(|| waiting.next_batch()).take(max).collect()
    }

    /// Puts back days that could not be written.
    pub(crate) fn put_back(&self, all: impl IntoIterator<Item = Used>) {
        let mut waiting = self.waiting();
        for Used { org, day, keys } in all {
            for key in keys {
                waiting.keep((org, day), key);
            }
        }
    }
}

impl Waiting {
    /// Keeps a day of a key. Returns whether there was room.
    fn keep(&mut self, of: (OrgId, CivilDate), key: KeyId) -> bool {
        if self.keys.get(&of).is_some_and(|keys| keys.contains(&key)) {
            return true;
        }
        if self.count >= KEYS_MAX {
            return false;
        }
        self.keys.entry(of).or_default().insert(key);
        self.count += 1;
        true
    }

    /// Takes out the next batch, after the last one.
    fn next_batch(&mut self) -> Option<Used> {
        let after = self.last.map_or(Bound::Unbounded, Bound::Excluded);
        let following = self.keys.range((after, Bound::Unbounded)).next().or_else(|| self.keys.iter().next());
        let of = following.map(|(of, _)| *of)?;
        let mut keys = self.keys.remove(&of)?;
        let taken: Vec<_> = std::iter::from_fn(|| keys.pop_first()).take(KEYS_AT_ONCE).collect();
        self.count = self.count.saturating_sub(taken.len());
        if !keys.is_empty() {
            self.keys.insert(of, keys);
        }
        self.last = Some(of);
        let (org, day) = of;
        Some(Used { org, day, keys: taken })
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    const MAX: usize = 1_000;

    fn key(number: u128) -> KeyId {
        KeyId::from_uuid(Uuid::from_u128(number))
    }

    fn org(number: u128) -> OrgId {
        OrgId::from_uuid(Uuid::from_u128(number))
    }

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    fn day(text: &str) -> CivilDate {
        text.parse().unwrap()
    }

    #[test]
    fn a_day_is_written_once() {
        let uses = KeyUses::new();
        for time in ["2026-03-02T08:00:00Z", "2026-03-02T23:59:59Z", "2026-03-01T23:59:59Z"] {
            uses.note(org(1), key(1), at(time));
        }
        assert_eq!(uses.take(MAX), [Used { org: org(1), day: day("2026-03-02"), keys: vec![key(1)] }]);
        uses.note(org(1), key(1), at("2026-03-02T12:00:00Z"));
        uses.note(org(1), key(1), at("2026-03-01T12:00:00Z"));
        assert_eq!(uses.take(MAX), []);
        uses.note(org(1), key(1), at("2026-03-03T00:00:00Z"));
        assert_eq!(uses.take(MAX), [Used { org: org(1), day: day("2026-03-03"), keys: vec![key(1)] }]);
    }

    #[test]
    fn organizations_and_days_are_written_separately() {
        let uses = KeyUses::new();
        for (of, number, time) in [
            (1, 1, "2026-03-02T08:00:00Z"),
            (2, 2, "2026-03-02T08:00:00Z"),
            (1, 3, "2026-03-02T09:00:00Z"),
            (1, 4, "2026-03-03T00:00:00Z"),
        ] {
            uses.note(org(of), key(number), at(time));
        }
        let used = |of, on, numbers: &[u128]| Used {
            org: org(of),
            day: day(on),
            keys: numbers.iter().map(|number| key(*number)).collect(),
        };
        let expected = [used(1, "2026-03-02", &[1, 3]), used(1, "2026-03-03", &[4]), used(2, "2026-03-02", &[2])];
        assert_eq!(uses.take(MAX), expected);
    }

    #[test]
    fn days_that_could_not_be_written_wait_until_the_next_time() {
        let uses = KeyUses::new();
        uses.note(org(1), key(1), at("2026-03-02T08:00:00Z"));
        uses.note(org(1), key(2), at("2026-03-02T08:00:00Z"));
        let failed = uses.take(MAX);
        uses.note(org(1), key(1), at("2026-03-03T08:00:00Z"));
        uses.put_back(failed);
        let days = uses.take(MAX).into_iter().map(|used| (used.day, used.keys)).collect::<Vec<_>>();
        // The store keeps the later day of a key, in whichever order they are written.
        assert_eq!(days, [(day("2026-03-03"), vec![key(1)]), (day("2026-03-02"), vec![key(1), key(2)])]);
    }

    #[test]
    fn days_that_cannot_be_written_hold_up_no_others() {
        let uses = KeyUses::new();
        for number in 1..=5 {
            uses.note(org(number), key(number), at("2026-03-02T08:00:00Z"));
        }
        let mut written = Vec::new();
        for _ in 0..4 {
            let taken = uses.take(2);
            assert_eq!(taken.len(), 2);
            let (failed, others): (Vec<_>, Vec<_>) = taken.into_iter().partition(|used| used.org <= org(2));
            written.extend(others.into_iter().map(|used| used.org));
            uses.put_back(failed);
        }
        assert_eq!(written, [3, 4, 5].map(org));
        assert_eq!(uses.take(MAX).len(), 2);
        assert_eq!(uses.take(MAX), []);
    }

    #[test]
    fn the_number_of_waiting_days_is_bounded() {
        let uses = KeyUses::new();
        let last = KEYS_MAX as u128 + 1;
        for number in 1..=last {
            uses.note(org(1), key(number), at("2026-03-02T08:00:00Z"));
        }
        let written = uses.take(MAX);
        assert!(written.iter().all(|used| used.keys.len() <= KEYS_AT_ONCE));
        assert_eq!(written.iter().map(|used| used.keys.len()).sum::<usize>(), KEYS_MAX);
        uses.note(org(1), key(last), at("2026-03-02T09:00:00Z"));
        assert_eq!(uses.take(MAX), [Used { org: org(1), day: day("2026-03-02"), keys: vec![key(last)] }]);
    }
}
