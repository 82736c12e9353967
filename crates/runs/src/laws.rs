//! The laws of undoing, over random histories of a few events.

use std::collections::BTreeMap;

use kalends_calendars::{Attendee, AttendeeRole, Attendees, Event, EventStatus, Hold, HoldScope, ReplySecret};
use kalends_kernel::EventId;
use kalends_time::SignedDuration;
use proptest::prelude::*;

use crate::{
    Entry, Reason, Step, collapse,
    samples::{NOW, calendar, entry, event, event_id},
    undo_event,
};

/// A write to one of three events.
#[derive(Debug, Clone, Copy)]
enum Write {
    /// Creates the event, unless it exists.
    Create(usize),
    /// Gives it another title.
    Rename(usize, u8),
    /// Puts it on one of two calendars.
    Move(usize, u8),
    /// Deletes it.
    Delete(usize),
}

type Events = BTreeMap<EventId, Event>;

/// Applies a write, and returns the event before and after; `None` if there is nothing to write.
fn apply(events: &mut Events, write: Write) -> Option<(Option<Event>, Event)> {
    let (Write::Create(number) | Write::Rename(number, _) | Write::Move(number, _) | Write::Delete(number)) = write;
    let before = events.get(&event_id(number)).cloned();
    let after = match (&before, write) {
        (None, Write::Create(_)) => event(event_id(number), "new"),
        (Some(before), _) if before.deleted_at.is_some() => return None,
        (Some(before), Write::Rename(_, title)) => {
            Event { title: format!("title {title}"), version: before.version.next(), ..before.clone() }
        }
        (Some(before), Write::Move(_, to)) => {
            Event { calendar: calendar(to), version: before.version.next(), ..before.clone() }
        }
        (Some(before), Write::Delete(_)) => before.deleted(NOW).ok()?,
        (None, _) | (Some(_), Write::Create(_)) => return None,
    };
    events.insert(after.id, after.clone());
    Some((before, after))
}

fn writes() -> impl Strategy<Value = Vec<Write>> {
    let write = (0..3_usize, 0..4_u8, 1..3_u8).prop_map(|(number, kind, value)| match kind {
        0 => Write::Create(number),
        1 => Write::Rename(number, value),
        2 => Write::Move(number, value),
        _ => Write::Delete(number),
    });
    prop::collection::vec(write, 0..12)
}

/// Applies the writes of a run, and returns its journal.
fn run(events: &mut Events, writes: &[Write]) -> Vec<Entry> {
    let written = writes.iter().filter_map(|write| apply(events, *write));
    written.enumerate().map(|(number, (before, after))| entry(number, before.as_ref(), &after)).collect()
}

/// The steps of an undo, each with its event.
fn steps(events: &Events, entries: &[Entry]) -> Vec<(EventId, Step)> {
    let written = collapse(entries);
    let step = |written: &crate::Written| match written.resource {
        crate::Resource::Event(id) => Some((id, undo_event(written, events.get(&id), |_| true, NOW))),
        crate::Resource::Proposal(_) => None,
    };
    written.iter().filter_map(step).collect()
}

/// Carries the steps out.
fn undo(events: &mut Events, steps: Vec<(EventId, Step)>) {
    for (id, step) in steps {
        match step {
            Step::Nothing => {}
            Step::Remove => {
                let gone = events[&id].deleted(NOW).unwrap();
                events.insert(id, gone);
            }
            Step::Restore(event) => {
                assert!(event.version > events[&id].version);
                events.insert(id, *event);
            }
            Step::Cancel | Step::Blocked(_) => panic!("{step:?}"),
        }
    }
}

/// What callers see: the events that are not deleted, without versions and times of changes.
fn visible(events: &Events) -> BTreeMap<EventId, Event> {
    let first = event(event_id(0), "");
    let seen = events.values().filter(|event| event.deleted_at.is_none());
    seen.map(|event| (event.id, Event { version: first.version, updated_at: first.updated_at, ..event.clone() }))
        .collect()
}

proptest! {
    /// The undo of any sequence of writes gives the events before it.
    #[test]
    fn an_undo_gives_the_state_before_the_run(earlier in writes(), own in writes()) {
        let mut events = Events::new();
        run(&mut events, &earlier);
        let before = visible(&events);
        let entries = run(&mut events, &own);
        let steps = steps(&events, &entries);
        undo(&mut events, steps);
        prop_assert_eq!(visible(&events), before);
    }

    /// The undo of a run is blocked exactly for the events that something else has written since the run first wrote
    /// them.
    #[test]
    fn a_foreign_write_blocks_the_undo(earlier in writes(), first in writes(), foreign in writes(), last in writes()) {
        let mut events = Events::new();
        run(&mut events, &earlier);
        let mut entries = run(&mut events, &first);
        let own: Vec<EventId> = steps(&events, &entries).into_iter().map(|(id, _)| id).collect();
        let others: Vec<EventId> =
            foreign.iter().filter_map(|write| apply(&mut events, *write)).map(|(_, after)| after.id).collect();
        entries.extend(run(&mut events, &last));
        for (id, step) in steps(&events, &entries) {
            let is_blocked = step == Step::Blocked(Reason::Changed);
            prop_assert_eq!(is_blocked, own.contains(&id) && others.contains(&id), "{} {:?}", id, step);
        }
    }

    /// After an undo, the same writes cannot be taken back again: each event that the undo wrote has another version.
    #[test]
    fn an_undo_is_itself_a_foreign_write(earlier in writes(), own in writes()) {
        let mut events = Events::new();
        run(&mut events, &earlier);
        let entries = run(&mut events, &own);
        let done = steps(&events, &entries);
        undo(&mut events, done.clone());
        for ((id, again), (_, step)) in steps(&events, &entries).into_iter().zip(done) {
            let expected = if step == Step::Nothing { Step::Nothing } else { Step::Blocked(Reason::Changed) };
            prop_assert_eq!(again, expected, "{}", id);
        }
    }
}

proptest! {
    /// A hold that ended by itself comes back as it would be without the run, and any other write blocks the undo.
    #[test]
    fn a_hold_that_has_ended_by_itself_comes_back(lasts in -5..5_i64, ended in 0..5_i64, later in 1..3_i64) {
        let before = held(SignedDuration::minutes(lasts));
        let hold = before.hold.map(|hold| Hold { expires_at: NOW - SignedDuration::minutes(ended), ..hold });
        let changed = Event { title: "other".to_owned(), hold, version: before.version.next(), ..before.clone() };
        let entries = [entry(1, Some(&before), &changed)];
        let mut current = changed.expired(NOW).unwrap();
        current.version.0 += later - 1;
        let step = step_of(&entries, &current);
        if later > 1 {
            prop_assert_eq!(step, Step::Blocked(Reason::Changed));
        } else {
            let Step::Restore(restored) = step else { panic!("{step:?}") };
            let status = if lasts > 0 { EventStatus::Hold } else { EventStatus::Cancelled };
            prop_assert_eq!((restored.status, restored.hold), (status, before.hold));
            prop_assert_eq!((&restored.title, restored.version), (&before.title, current.version.next()));
        }
    }
}

fn held(lasts: SignedDuration) -> Event {
    let hold = Hold { expires_at: NOW + lasts, priority: 0, scope: HoldScope::Calendar };
    Event { status: EventStatus::Hold, hold: Some(hold), ..event(event_id(1), "held") }
}

fn step_of(entries: &[Entry], current: &Event) -> Step {
    undo_event(&collapse(entries)[0], Some(current), |_| true, NOW)
}

#[test]
fn a_hold_that_has_ended_by_itself_needs_nothing() {
    let hold = held(SignedDuration::ZERO);
    let entries = [entry(1, None, &hold)];
    assert_eq!(step_of(&entries, &hold.expired(NOW).unwrap()), Step::Nothing);
    assert_eq!(step_of(&entries, &hold), Step::Remove, "nobody has written its end yet");
}

#[test]
fn a_confirmed_hold_comes_back_as_it_would_be_now() {
    for (lasts, status) in
        [(SignedDuration::minutes(5), EventStatus::Hold), (SignedDuration::ZERO, EventStatus::Cancelled)]
    {
        let hold = held(lasts);
        let version = hold.version.next();
        let confirmed = Event { status: EventStatus::Confirmed, hold: None, version, ..hold.clone() };
        let Step::Restore(restored) = step_of(&[entry(1, Some(&hold), &confirmed)], &confirmed) else {
            panic!("it was there")
        };
        assert_eq!((restored.status, restored.hold), (status, hold.hold));
    }
}

#[test]
fn the_links_that_a_run_mailed_stay_valid() {
    let asked = |names: &[(&str, Option<u8>)]| {
        let attendee = |(name, link): &(&str, Option<u8>)| {
            let email = format!("{name}@example.com");
            let attendee = Attendee::parse("attendees[0]", &email, None, AttendeeRole::Required, None).unwrap();
            Attendee { secret: link.map(|byte| ReplySecret([byte; 16])), ..attendee }
        };
        Attendees::from_stored(names.iter().map(attendee).collect())
    };
    let attendees = asked(&[("ada", None), ("bob", Some(1)), ("cy", Some(2))]);
    let before = Event { attendees, ..event(event_id(1), "before") };
    let attendees = asked(&[("ada", Some(3)), ("bob", Some(1)), ("dan", Some(4))]);
    let after = Event { title: "after".to_owned(), attendees, version: before.version.next(), ..before.clone() };
    let Step::Restore(restored) = step_of(&[entry(1, Some(&before), &after)], &after) else { panic!("it was there") };
    assert_eq!(restored.attendees, asked(&[("ada", Some(3)), ("bob", Some(1)), ("cy", Some(2))]));
}

#[test]
fn what_was_on_a_deleted_calendar_is_in_the_way() {
    let before = event(event_id(1), "before");
    let after = before.deleted(NOW).unwrap();
    let gone = |entries: &[Entry], current: &Event| undo_event(&collapse(entries)[0], Some(current), |_| false, NOW);
    assert_eq!(gone(&[entry(1, Some(&before), &after)], &after), Step::Blocked(Reason::CalendarGone));
    assert_eq!(gone(&[entry(1, None, &before)], &before), Step::Nothing);
}
