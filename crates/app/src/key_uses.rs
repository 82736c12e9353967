//! The days on which keys were used: noted in memory when a key is accepted, and written a little later.
//!
//! A request never waits for that. A process that is killed loses the days that it has not written.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Mutex, MutexGuard, PoisonError},
};

use kalends_kernel::{KeyId, OrgId};
use kalends_time::{CivilDate, Timestamp};
use moka::sync::Cache;

/// The most keys whose noted day is remembered, and the most whose day waits to be written.
const KEYS_MAX: usize = 50_000;
/// How many keys one statement writes at most.
const KEYS_AT_ONCE: usize = 500;

/// The days that this process has noted.
pub(crate) struct KeyUses {
    /// The last noted day of each key, so that a day is written only once.
    noted: Cache<KeyId, CivilDate>,
    /// The days that are not written yet. An entry requires a valid key, so outsiders cannot make the map grow.
    waiting: Mutex<HashMap<KeyId, (OrgId, CivilDate)>>,
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

    fn waiting(&self) -> MutexGuard<'_, HashMap<KeyId, (OrgId, CivilDate)>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that the key was used. If too many days wait already, a later use is noted instead.
    pub(crate) fn note(&self, org: OrgId, key: KeyId, at: Timestamp) {
        let day = at.utc_date();
        if self.noted.get(&key).is_some_and(|noted| day <= noted) {
            return;
        }
        if keep(&mut self.waiting(), org, key, day) {
            self.noted.insert(key, day);
        }
    }

    /// Takes out the days that are not written yet.
    pub(crate) fn take(&self) -> Vec<Used> {
        let waiting = std::mem::take(&mut *self.waiting());
        let mut of_days: BTreeMap<(OrgId, CivilDate), Vec<KeyId>> = BTreeMap::new();
        for (key, of) in waiting {
            of_days.entry(of).or_default().push(key);
        }
        let batches = of_days.into_iter().flat_map(|((org, day), mut keys)| {
            keys.sort_unstable();
            keys.chunks(KEYS_AT_ONCE).map(|keys| Used { org, day, keys: keys.to_vec() }).collect::<Vec<_>>()
        });
        batches.collect()
    }

    /// Puts back days that could not be written.
    pub(crate) fn put_back(&self, all: impl IntoIterator<Item = Used>) {
        let mut waiting = self.waiting();
        for Used { org, day, keys } in all {
            for key in keys {
                keep(&mut waiting, org, key, day);
            }
        }
    }
}

/// Keeps the later day of a key. Returns whether there was room.
fn keep(waiting: &mut HashMap<KeyId, (OrgId, CivilDate)>, org: OrgId, key: KeyId, day: CivilDate) -> bool {
    if waiting.len() >= KEYS_MAX && !waiting.contains_key(&key) {
        return false;
    }
    let (_, known) = waiting.entry(key).or_insert((org, day));
    *known = day.max(*known);
    true
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

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
        assert_eq!(uses.take(), [Used { org: org(1), day: day("2026-03-02"), keys: vec![key(1)] }]);
        uses.note(org(1), key(1), at("2026-03-02T12:00:00Z"));
        uses.note(org(1), key(1), at("2026-03-01T12:00:00Z"));
        assert_eq!(uses.take(), []);
        uses.note(org(1), key(1), at("2026-03-03T00:00:00Z"));
        assert_eq!(uses.take(), [Used { org: org(1), day: day("2026-03-03"), keys: vec![key(1)] }]);
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
        assert_eq!(uses.take(), expected);
    }

    #[test]
    fn days_that_could_not_be_written_wait_until_the_next_time() {
        let uses = KeyUses::new();
        uses.note(org(1), key(1), at("2026-03-02T08:00:00Z"));
        uses.note(org(1), key(2), at("2026-03-02T08:00:00Z"));
        let failed = uses.take();
        uses.note(org(1), key(1), at("2026-03-03T08:00:00Z"));
        uses.put_back(failed);
        let days = uses.take().into_iter().map(|used| (used.day, used.keys)).collect::<Vec<_>>();
        assert_eq!(days, [(day("2026-03-02"), vec![key(2)]), (day("2026-03-03"), vec![key(1)])]);
    }

    #[test]
    fn the_number_of_waiting_days_is_bounded() {
        let uses = KeyUses::new();
        let last = KEYS_MAX as u128 + 1;
        for number in 1..=last {
            uses.note(org(1), key(number), at("2026-03-02T08:00:00Z"));
        }
        let written = uses.take();
        assert!(written.iter().all(|used| used.keys.len() <= KEYS_AT_ONCE));
        assert_eq!(written.iter().map(|used| used.keys.len()).sum::<usize>(), KEYS_MAX);
        uses.note(org(1), key(last), at("2026-03-02T09:00:00Z"));
        assert_eq!(uses.take(), [Used { org: org(1), day: day("2026-03-02"), keys: vec![key(last)] }]);
    }
}
