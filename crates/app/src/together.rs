//! Which change-sets a store may apply with the same statements.

use std::collections::BTreeSet;

use kalends_calendars::calendars_revised;
use kalends_kernel::{CalendarId, OrgId};

use crate::{ChangeSet, Guard};

type Calendars = BTreeSet<(OrgId, CalendarId)>;

/// Change-sets of [`ChangeSet::only_adds_events`] that are applied together: the store checks the guards of all of
/// them, then writes the events of all of them.
///
/// A guard must see what was written before. Therefore, if one of them guards a calendar, no other writes to it.
#[derive(Debug, Default)]
pub struct Together {
    guarded: Calendars,
    written: Calendars,
}

impl Together {
    /// The order in which to add the change-sets of a batch. Those with guards come last, so that they do not keep
    /// others apart. Change-sets of one organization stay together: most are refused because their organization is at
    /// a limit.
    pub fn order(changes: &ChangeSet) -> (bool, OrgId) {
        (!changes.guards.is_empty(), changes.org)
    }

    /// Adds a change-set, and returns whether it can be applied with the ones before. If not, it is the first of the
    /// next ones.
    pub fn continues(&mut self, changes: &ChangeSet) -> bool {
        let of = |calendar| (changes.org, calendar);
        let guarded = changes.guards.iter().filter_map(|guard| match guard {
            Guard::CalendarTime { calendar, .. } => Some(of(*calendar)),
            _ => None,
        });
        let guarded: Calendars = guarded.collect();
        let written: Calendars = calendars_revised(&changes.calendars).into_iter().map(of).collect();
        let continues = guarded.is_disjoint(&self.written) && written.is_disjoint(&self.guarded);
        if !continues {
            *self = Self::default();
        }
        self.guarded.extend(guarded);
        self.written.extend(written);
        continues
    }
}

#[cfg(test)]
mod tests {
    use kalends_kernel::Revision;
    use kalends_time::{SignedDuration, Span, Timestamp};

    use super::*;

    /// A change-set that adds an event to one calendar, and guards others.
    fn addition(org: u8, to: u8, guarded: &[u8]) -> ChangeSet {
        let calendar = |number| CalendarId::from_bytes([number; 16]);
        let window = Span::new(Timestamp::EPOCH, Timestamp::EPOCH + SignedDuration::hours(1)).unwrap();
        let guard = |number: &u8| Guard::CalendarTime { calendar: calendar(*number), seen: Revision(1), window };
        let org = OrgId::from_bytes([org; 16]);
        let reserved = kalends_calendars::Change::Unreserve {
            org,
            calendar: calendar(to),
            owner: kalends_kernel::ProposalId::from_bytes([1; 16]).into(),
        };
        ChangeSet { guards: guarded.iter().map(guard).collect(), calendars: vec![reserved], ..ChangeSet::new(org) }
    }

    fn continues(batch: &[ChangeSet]) -> Vec<bool> {
        let mut together = Together::default();
        batch.iter().map(|changes| together.continues(changes)).collect()
    }

    #[test]
    fn a_guarded_calendar_is_written_by_nobody_else() {
        // (before, after, together)
        let cases = [
            (addition(1, 1, &[]), addition(1, 1, &[]), true),
            (addition(1, 1, &[1]), addition(1, 2, &[2]), true),
            (addition(1, 1, &[1]), addition(2, 1, &[1]), true),
            (addition(1, 1, &[1]), addition(1, 1, &[1]), false),
            (addition(1, 1, &[]), addition(1, 1, &[1]), false),
            (addition(1, 1, &[1]), addition(1, 1, &[]), false),
            (addition(1, 1, &[1, 2]), addition(1, 2, &[]), false),
            (addition(1, 2, &[]), addition(1, 1, &[1, 2]), false),
            // Both read the third calendar, and neither writes to it.
            (addition(1, 1, &[1, 3]), addition(1, 2, &[2, 3]), true),
        ];
        for (before, after, together) in cases {
            assert_eq!(continues(&[before.clone(), after.clone()]), [true, together], "{before:?} {after:?}");
            let between = addition(3, 9, &[9]);
            assert_eq!(continues(&[before, between, after]), [true, true, together]);
        }
    }

    #[test]
    fn one_that_does_not_continue_is_the_first_of_the_next() {
        let batch = [addition(1, 1, &[]), addition(1, 1, &[1]), addition(1, 2, &[]), addition(1, 1, &[])];
        assert_eq!(continues(&batch), [true, false, true, false]);
    }

    #[test]
    fn guards_come_last() {
        let mut batch = [addition(2, 1, &[1]), addition(2, 1, &[]), addition(1, 1, &[1]), addition(1, 1, &[])];
        batch.sort_by_key(Together::order);
        assert_eq!(continues(&batch), [true, true, false, true]);
    }
}
