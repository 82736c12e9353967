//! Properties of pages for several calendars.

use std::collections::BTreeMap;

use kalends_kernel::Entropy;
use kalends_time::{SignedDuration, Timestamp, testing::config};
use proptest::prelude::*;

use super::*;
use crate::offered;

struct Count(u8);

impl Entropy for Count {
    fn fill(&self, bytes: &mut [u8]) {
        bytes.fill(self.0);
    }
}

fn calendars(count: u8) -> Vec<CalendarId> {
    (0..count).map(|number| CalendarId::new(Timestamp::EPOCH, &Count(number))).collect()
}

fn minutes(from: i64, length: i64) -> Span {
    let start = Timestamp::EPOCH + SignedDuration::minutes(from);
    Span::new(start, start + SignedDuration::minutes(length)).unwrap()
}

fn busy() -> impl Strategy<Value = Vec<BusySet>> {
    let spans = prop::collection::vec((0i64..600, 1i64..120), 0..6);
    let one = spans.prop_map(|spans| spans.into_iter().map(|(from, length)| minutes(from, length)).collect());
    prop::collection::vec(one, 1..6)
}

proptest! {
    #![proptest_config(config(256))]

    /// A slot of a collective page is free on every calendar, and one of a round robin is free on at least one calendar
    /// for its whole length.
    #[test]
    fn teams_offer_what_their_assignment_says(each in busy(), length in 5i64..90) {
        let slots: Vec<Span> = (0..).map(|step| minutes(step * length, length)).take(12).collect();
        let free = |slot: &Span| each.iter().filter(|busy| !busy.overlaps(*slot)).count();
        let together = Taken::of(Some(Assignment::Collective), each.clone());
        let in_turn = Taken::of(Some(Assignment::RoundRobin), each.clone());
        let all: Vec<Span> = slots.iter().copied().filter(|slot| free(slot) == each.len()).collect();
        prop_assert_eq!(offered(slots.iter().copied(), together.parties()).collect::<Vec<_>>(), all);
        let some: Vec<Span> = slots.iter().copied().filter(|slot| free(slot) > 0).collect();
        prop_assert_eq!(offered(slots.iter().copied(), in_turn.parties()).collect::<Vec<_>>(), some);
        for slot in slots {
            let able: Vec<usize> = in_turn.free_for(slot).collect();
            prop_assert_eq!(able.len(), free(&slot));
            prop_assert!(able.iter().all(|party| !each[*party].overlaps(slot)));
            prop_assert_eq!(together.free_for(slot).next().is_some(), free(&slot) == each.len());
            let closed = minutes(0, 90);
            prop_assert_eq!(
                in_turn.clone().and(&BusySet::from_unsorted(vec![closed])).free_for(slot).next().is_some(),
                free(&slot) > 0 && slot.clip(closed).is_none()
            );
        }
    }

    /// If everybody is free, the shares never differ by more than one, and nobody gets a booking who is not free or has more
    /// than another who is free.
    #[test]
    fn turns_are_fair(count in 1u8..8, drawn in prop::collection::vec(prop::collection::vec(any::<bool>(), 8), 1..60)) {
        let all = calendars(count);
        let (mut even, mut given) = (BTreeMap::new(), BTreeMap::new());
        for free in drawn {
            let shares: Vec<_> = even.iter().map(|(calendar, share)| (*calendar, *share)).collect();
            let next = next_in_turn(&all, &shares).unwrap();
            *even.entry(next).or_insert(0u64) += 1;
            let share = |calendar: &CalendarId| even.get(calendar).copied().unwrap_or(0);
            let (least, most) = (all.iter().map(share).min().unwrap(), all.iter().map(share).max().unwrap());
            prop_assert!(most - least <= 1, "{even:?}");

            let able: Vec<CalendarId> = all.iter().zip(free).filter(|(_, free)| *free).map(|(of, _)| *of).collect();
            let shares: Vec<_> = given.iter().map(|(calendar, share)| (*calendar, *share)).collect();
            let Some(next) = next_in_turn(&able, &shares) else {
                prop_assert!(able.is_empty());
                continue;
            };
            let share = |calendar: &CalendarId| given.get(calendar).copied().unwrap_or(0);
            prop_assert!(able.contains(&next) && able.iter().all(|other| share(&next) <= share(other)));
            *given.entry(next).or_insert(0u64) += 1;
        }
    }
}

#[test]
fn teams_of_a_change() {
    use Assignment::{Collective, RoundRobin};
    let all = calendars(22);
    let own = all[0];
    let patch = |calendars: Option<Option<&[CalendarId]>>, assignment: Option<Option<Assignment>>| TeamPatch {
        calendars: calendars.map_or(Patch::Keep, |named| Patch::Set(named.map(<[_]>::to_vec))),
        assignment: assignment.map_or(Patch::Keep, Patch::Set),
    };
    let team = |others: &[CalendarId], assignment| Ok(Some(Team { others: others.to_vec(), assignment }));
    let after = |before: Option<&Team>, patch| Team::after(before, own, patch).map_err(|error| error.param);
    let wrong = |param: &str| Err(param.to_owned());
    let both = |named, assignment| patch(Some(Some(named)), Some(Some(assignment)));
    let before = Team { others: vec![all[5], all[3]], assignment: Collective };
    let some = Some(&before);

    assert_eq!(after(None, patch(None, None)), Ok(None));
    assert_eq!(after(None, both(&all[1..2], Collective)), team(&all[1..2], Collective));
    let mixed = [all[2], own, all[1]];
    assert_eq!(after(None, both(&mixed, RoundRobin)), team(&[all[2], all[1]], RoundRobin));
    assert_eq!(after(None, both(&all[..20], RoundRobin)), team(&all[1..20], RoundRobin));
    for named in [&[][..], &all[..1], &all[..21], &all[1..21], &[all[1], all[1]], &[own, own, all[1]]] {
        assert_eq!(after(None, both(named, Collective)), wrong("calendars"), "{named:?}");
    }
    assert_eq!(after(None, patch(Some(Some(&all[..2])), None)), wrong("assignment"));
    assert_eq!(after(None, patch(None, Some(Some(RoundRobin)))), wrong("calendars"));

    assert_eq!(after(some, patch(None, None)), Ok(Some(before.clone())));
    assert_eq!(after(some, patch(None, Some(Some(RoundRobin)))), team(&[all[5], all[3]], RoundRobin));
    assert_eq!(after(some, patch(Some(Some(&all[..2])), None)), team(&all[1..2], Collective));
    assert_eq!(after(some, patch(Some(None), None)), Ok(None));
    assert_eq!(after(some, patch(Some(None), Some(None))), Ok(None));
    assert_eq!(after(some, patch(None, Some(None))), wrong("assignment"));
    assert_eq!(after(some, patch(Some(None), Some(Some(RoundRobin)))), wrong("calendars"));
}
