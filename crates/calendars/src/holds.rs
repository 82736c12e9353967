//! Holds: events that keep a time until they are confirmed or expire.
//!
//! A hold is an event with the status `hold`. It has an expiry, a priority, and a scope of calendars that it must fit.
//! From the instant at which it expires, it blocks no time, even if its expiry has not been written yet.
//! [`Event::expired`] returns the event to write then.

mod hold;

use std::collections::BTreeMap;

use crate::Block;
use kalends_kernel::{CalendarId, EventId, HoldSetId};
use kalends_time::{Span, Timestamp};

pub use self::hold::{
    HOLD_LEAST, HOLD_MOST, HOLD_PRIORITY_MAX, Hold, HoldError, HoldExpiry, HoldScope, LONG_HOLD_MOST, NewHold,
};
use crate::{Event, EventError, EventStatus, Publication, named_values};

/// The maximum number of calendars in a hold set.
pub const HOLD_SET_MAX: usize = 20;

/// The time that a hold or a reservation blocks, and until when.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct HeldTime {
    /// The time.
    pub span: Span,
    /// From this instant on, it is no longer blocked.
    pub expires_at: Timestamp,
}

impl Event {
    /// The event's hold, if it is live at `now`.
    ///
    /// # Errors
    /// [`HoldError::Expired`], or [`HoldError::NotHeld`] if the event is not a hold.
    pub fn live_hold(&self, now: Timestamp) -> Result<Hold, HoldError> {
        match self.hold {
            Some(hold) if hold.has_expired(now) => Err(HoldError::Expired(hold.expires_at)),
            Some(hold) if self.status == EventStatus::Hold => Ok(hold),
            _ => Err(HoldError::NotHeld(self.status)),
        }
    }

    /// The time that the event blocks as a hold, if it is one.
    pub fn held_time(&self) -> Option<HeldTime> {
        let hold = self.hold.filter(|_| self.status == EventStatus::Hold && self.deleted_at.is_none())?;
        Some(HeldTime { span: self.times.span, expires_at: hold.expires_at })
    }

    /// The event as it is at `now`: an expired hold counts as cancelled, even if that has not been written yet.
    #[must_use]
    pub fn at(mut self, now: Timestamp) -> Self {
        self.set_at(now);
        self
    }

    /// Sets the event to its state at `now`. See [`Self::at`].
    pub fn set_at(&mut self, now: Timestamp) {
        if self.status == EventStatus::Hold && self.hold.is_some_and(|hold| hold.has_expired(now)) {
            self.status = EventStatus::Cancelled;
        }
    }

    /// The confirmed event that a live hold becomes.
    ///
    /// # Errors
    /// The same as [`Self::live_hold`].
    pub fn confirmed(&self, now: Timestamp) -> Result<Self, EventError> {
        self.live_hold(now)?;
        Ok(self.no_hold(EventStatus::Confirmed, now))
    }

    /// The cancelled event that a live hold becomes when it is released.
    ///
    /// # Errors
    /// The same as [`Self::live_hold`].
    pub fn released(&self, now: Timestamp) -> Result<Self, EventError> {
        self.live_hold(now)?;
        Ok(self.no_hold(EventStatus::Cancelled, now))
    }

    /// The cancelled event that an expired hold becomes; `None` if it has not expired at `now`. The event keeps the
    /// expiry, so that a later attempt to confirm it is refused with the right reason.
    pub fn expired(&self, now: Timestamp) -> Option<Self> {
        let over = self.status == EventStatus::Hold && self.hold.is_some_and(|hold| hold.has_expired(now));
        over.then(|| Self { hold: self.hold, ..self.no_hold(EventStatus::Cancelled, now) })
    }

    fn no_hold(&self, status: EventStatus, now: Timestamp) -> Self {
        Self { status, hold: None, version: self.version.next(), updated_at: now, ..self.clone() }
    }
}

/// The blocks that conflict with a hold.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the time is taken")]
pub struct Taken(
    /// Everything that blocks the time and does not give way, by start.
    pub Vec<Block>,
);

named_values! {
    /// Why a hold ended without being confirmed, released or deleted.
    pub enum HoldEnd {
        /// It expired.
        Expired = "expired",
        /// It gave way to a hold of a higher priority.
        Preempted = "preempted",
    }
}

/// A hold that ends without being confirmed, released or deleted.
#[derive(Debug, Clone, PartialEq)]
pub struct EndedHold {
    /// The hold as it was read.
    pub seen: Event,
    /// The cancelled event that it becomes.
    pub event: Event,
    /// The reason.
    pub end: HoldEnd,
}

/// Checks whether a hold of that priority fits into `wanted` at `now`. `blocks` is everything that blocks there except
/// holds, and `holds` are the holds. Both may include times outside `wanted`, which do not matter.
///
/// Returns the holds that end: those of a lower priority, which give way, and those that have expired. An expired hold
/// blocks nothing, but its end must be written. A node whose clock is behind may confirm it while this node places a
/// hold over it. Because both write the same row, one of them loses.
///
/// # Errors
/// [`Taken`] with every conflict. In that case no hold gives way.
pub fn place(
    wanted: Span,
    priority: u8,
    blocks: &[Block],
    holds: &[Event],
    now: Timestamp,
) -> Result<Vec<EndedHold>, Taken> {
    let mut taken: Vec<Block> = blocks.iter().filter(|block| block.span.overlaps(wanted)).copied().collect();
    let mut ended = Vec::new();
    for seen in holds.iter().filter(|event| event.times.span.overlaps(wanted)) {
        match seen.live_hold(now) {
            Ok(hold) if hold.priority < priority => {
                let event = seen.no_hold(EventStatus::Cancelled, now);
                ended.push(EndedHold { seen: seen.clone(), event, end: HoldEnd::Preempted });
            }
            Ok(_) => taken.push(seen.block()),
            Err(_) => {
                let over = |event| EndedHold { seen: seen.clone(), event, end: HoldEnd::Expired };
                ended.extend(seen.expired(now).map(over));
            }
        }
    }
    if taken.is_empty() {
        return Ok(ended);
    }
    taken.sort_by_key(|block| (block.span, block.kind));
    Err(Taken(taken))
}

/// The visible events that were placed as one hold set, whatever their status is now.
#[derive(Debug, Clone, PartialEq)]
pub struct HoldSet {
    /// The identifier.
    pub id: HoldSetId,
    /// The events, by creation. There is at least one.
    pub events: Vec<Event>,
    /// How those of its calendars are published that have a destination.
    pub published: BTreeMap<CalendarId, Publication>,
}

impl HoldSet {
    /// The set with these events and their calendars' publication.
    pub fn of(id: HoldSetId, events: impl IntoIterator<Item = (Event, Publication)>) -> Self {
        let mut set = Self { id, events: Vec::new(), published: BTreeMap::new() };
        events.into_iter().for_each(|(event, publication)| set.push(event, publication));
        set
    }

    fn push(&mut self, event: Event, publication: Publication) {
        if publication.policy.is_some() {
            self.published.insert(event.calendar, publication);
        }
        self.events.push(event);
    }

    /// The sets of `events`, which are sorted by set. If they are not `complete`, because a page of them was cut short,
    /// some events of the last set may be missing, so it is left out. Events without a set are ignored.
    pub fn group(events: Vec<(Event, Publication)>, complete: bool) -> Vec<Self> {
        let mut sets: Vec<Self> = Vec::new();
        for (event, publication) in events {
            let Some(id) = event.hold_set else { continue };
            match sets.last_mut() {
                Some(last) if last.id == id => last.push(event, publication),
                _ => sets.push(Self::of(id, [(event, publication)])),
            }
        }
        if !complete {
            sets.pop();
        }
        sets
    }
}

/// Why a hold set cannot be confirmed or released.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the hold {event} of the set prevents this: {error}")]
pub struct HoldSetError {
    /// The hold that prevents it.
    pub event: EventId,
    /// The reason.
    pub error: HoldError,
}

/// The confirmed events that the holds of a set become: all of them or none.
///
/// # Errors
/// The first hold that is not live.
pub fn confirm_all(holds: &[Event], now: Timestamp) -> Result<Vec<Event>, HoldSetError> {
    let confirmed = holds.iter().map(|event| match event.live_hold(now) {
        Ok(_) => Ok(event.no_hold(EventStatus::Confirmed, now)),
        Err(error) => Err(HoldSetError { event: event.id, error }),
    });
    confirmed.collect()
}

/// The holds of a set after its release. Live holds are cancelled, and the others stay as they are.
///
/// # Errors
/// The error of the first hold, if none is live.
pub fn release_all(holds: &[Event], now: Timestamp) -> Result<Vec<Event>, HoldSetError> {
    let live = |event: &Event| event.live_hold(now).is_ok();
    match holds.first() {
        Some(first) if !holds.iter().any(live) => match first.live_hold(now) {
            Err(error) => Err(HoldSetError { event: first.id, error }),
            Ok(_) => Ok(Vec::new()),
        },
        _ => {
            let released = |event: &Event| {
                if live(event) { event.no_hold(EventStatus::Cancelled, now) } else { event.clone() }
            };
            Ok(holds.iter().map(released).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{BlockKind, Reminders};
    use kalends_kernel::{Metadata, Version};
    use kalends_time::{SignedDuration, Zone};
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;
    use crate::{
        Attendees, EventPatch, EventSource, Moment, NewEvent, Patch, RecurrencePatch, Repeats, Times,
        series::examples::calendar,
    };

    const NOW: Timestamp = Timestamp::from_micros(1_772_323_200_000_000);

    fn span(start: i64, end: i64) -> Span {
        Span::new(NOW + SignedDuration::minutes(start), NOW + SignedDuration::minutes(end)).unwrap()
    }

    fn held(number: u32, span: Span, lasts: SignedDuration, priority: u8) -> Event {
        Event {
            id: format!("evt_{number:026}").parse().unwrap(),
            org: "org_00000000000000000000000001".parse().unwrap(),
            calendar: "cal_00000000000000000000000001".parse().unwrap(),
            title: "Maybe".into(),
            description: None,
            location: None,
            conference_url: None,
            attendees: Attendees::default(),
            times: Times { span, all_day: false },
            status: EventStatus::Hold,
            source: EventSource::Internal,
            metadata: Metadata::default(),
            reminders: None,
            repeats: Repeats::Once,
            hold: Some(Hold { expires_at: NOW + lasts, priority, scope: HoldScope::Calendar }),
            guest_reminders: Reminders::default(),
            seat_changes: 0,
            previous_series: None,
            hold_set: None,
            transparent: false,
            version: Version::FIRST,
            created_at: NOW,
            updated_at: NOW,
            deleted_at: None,
        }
    }

    #[rstest]
    #[case::too_short(HOLD_MOST, 29_999_999, false)]
    #[case::the_shortest(HOLD_MOST, 30_000_000, true)]
    #[case::the_longest(HOLD_MOST, 900_000_000, true)]
    #[case::too_long(HOLD_MOST, 900_000_001, false)]
    #[case::expired_already(HOLD_MOST, -1, false)]
    #[case::too_short_for_a_long_one(LONG_HOLD_MOST, 29_999_999, false)]
    #[case::the_longest_long_one(LONG_HOLD_MOST, 7 * 86_400_000_000, true)]
    #[case::too_long_for_a_long_one(LONG_HOLD_MOST, 7 * 86_400_000_000 + 1, false)]
    fn a_hold_lasts_30_seconds_to_its_longest(
        #[case] longest: SignedDuration,
        #[case] micros: i64,
        #[case] placed: bool,
    ) {
        let hold = Hold { expires_at: NOW + SignedDuration::micros(micros), priority: 0, scope: HoldScope::Calendar };
        match hold.placed(NOW, longest) {
            Ok(same) => assert!(placed && same == hold),
            Err(error) => {
                assert!(!placed);
                assert_eq!(error.param, "hold_expires_at");
                let most =
                    if longest == HOLD_MOST { "30 seconds to 15 minutes ahead" } else { "30 seconds to 7 days ahead" };
                assert!(error.message.contains(most), "{error}");
                assert!(error.message.contains(&(NOW + HOLD_LEAST).to_string()), "{error}");
            }
        }
    }

    /// A hold is placed on and moved to times that end after now, even if they have begun.
    #[rstest]
    #[case::ahead(60, 120, true)]
    #[case::under_way(-60, 1, true)]
    #[case::just_over(-60, 0, false)]
    #[case::long_over(-120, -60, false)]
    fn a_hold_does_not_keep_a_time_that_is_over(#[case] start: i64, #[case] end: i64, #[case] kept: bool) {
        let wanted = span(start, end);
        let param = |error: EventError| match error {
            EventError::Invalid(errors) => errors.first().param.clone(),
            other => panic!("{other}"),
        };
        let expected = if kept { None } else { Some("end_time".to_owned()) };

        let before = held(1, span(200, 260), SignedDuration::minutes(10), 0);
        let times = |start: i64, end: i64| EventPatch {
            start: Patch::Set(Moment::At(span(start, end).start())),
            end: Patch::Set(Moment::At(span(start, end).end())),
            ..EventPatch::default()
        };
        assert_eq!(before.patched(times(start, end), Zone::UTC, NOW).map_err(param).err(), expected);
        let confirmed = before.confirmed(NOW).unwrap();
        assert!(confirmed.patched(times(start, end), Zone::UTC, NOW).is_ok(), "only holds are bound");
        // A time that is over stays as it is.
        let there = held(2, wanted, SignedDuration::minutes(10), 0);
        let title = EventPatch { title: Patch::Set("Still".into()), ..times(start, end) };
        assert!(there.patched(title, Zone::UTC, NOW).is_ok());

        let calendar = calendar("UTC");
        let new = NewEvent {
            title: "Maybe".into(),
            description: None,
            location: None,
            conference_url: None,
            attendees: Attendees::default(),
            start: Moment::At(wanted.start()),
            end: Moment::At(wanted.end()),
            all_day: false,
            status: EventStatus::Hold,
            metadata: Metadata::default(),
            reminders: None,
            recurrence: None,
            hold: Some(NewHold { hold: before.hold.unwrap(), longest: HOLD_MOST }),
            if_free: false,
            if_as_of: None,
            send_invitations: false,
        };
        let placed = Event::create(before.id, &calendar, new, NOW).map_err(EventError::Invalid);
        assert_eq!(placed.map_err(param).err(), expected);
    }

    fn expiring(at: Timestamp, longest: SignedDuration) -> EventPatch {
        EventPatch { hold_expires_at: Patch::Set(HoldExpiry { at, longest }), ..EventPatch::default() }
    }

    /// The bound is measured from the change, so a hold can be prolonged again and again.
    #[test]
    fn a_live_hold_gets_a_new_expiry() {
        let before = held(1, span(60, 120), SignedDuration::minutes(10), 5);
        let now = NOW + SignedDuration::minutes(9);
        for lasts in [HOLD_LEAST, SignedDuration::minutes(10), HOLD_MOST] {
            let after = before.patched(expiring(now + lasts, HOLD_MOST), Zone::UTC, now).unwrap();
            let hold = Hold { expires_at: now + lasts, ..before.hold.unwrap() };
            let version = before.version.next();
            assert_eq!(after, Event { hold: Some(hold), version, updated_at: now, ..before.clone() });
        }
        let late = before.patched(expiring(now + HOLD_MOST + SignedDuration::micros(1), HOLD_MOST), Zone::UTC, now);
        assert!(matches!(late, Err(EventError::Invalid(_))), "{late:?}");
        let week = now + LONG_HOLD_MOST;
        assert!(before.patched(expiring(week, HOLD_MOST), Zone::UTC, now).is_err());
        assert_eq!(
            before.patched(expiring(week, LONG_HOLD_MOST), Zone::UTC, now).unwrap().hold.unwrap().expires_at,
            week
        );
    }

    #[test]
    fn only_a_live_hold_gets_a_new_expiry() {
        let hold = held(1, span(60, 120), SignedDuration::minutes(10), 5);
        let prolonged = |event: &Event, now: Timestamp| {
            let refused = event.patched(expiring(now + SignedDuration::minutes(5), HOLD_MOST), Zone::UTC, now);
            let Err(EventError::Hold(error)) = refused else { panic!("{refused:?}") };
            error
        };
        let over = NOW + SignedDuration::minutes(10);
        assert_eq!(prolonged(&hold, over), HoldError::Expired(over));
        assert_eq!(prolonged(&hold.expired(over).unwrap(), over), HoldError::Expired(over));
        let confirmed = hold.confirmed(NOW).unwrap();
        assert_eq!(prolonged(&confirmed, NOW), HoldError::NotHeld(EventStatus::Confirmed));
        assert_eq!(prolonged(&hold.released(NOW).unwrap(), NOW), HoldError::NotHeld(EventStatus::Cancelled));
    }

    #[test]
    fn a_hold_ends_exactly_at_its_expiry() {
        let hold = held(1, span(60, 90), SignedDuration::minutes(1), 0);
        let over = NOW + SignedDuration::minutes(1);
        let before = over - SignedDuration::micros(1);
        assert!(hold.live_hold(before).is_ok());
        assert_eq!(hold.live_hold(over), Err(HoldError::Expired(over)));
        assert_eq!(hold.clone().at(before).status, EventStatus::Hold);
        assert_eq!(hold.clone().at(over).status, EventStatus::Cancelled);
        assert_eq!(hold.expired(before), None);
        assert_eq!(hold.expired(over).unwrap().live_hold(over), Err(HoldError::Expired(over)));
        assert_eq!(hold.held_time(), Some(HeldTime { span: span(60, 90), expires_at: over }));
        assert_eq!((hold.busy(), hold.blocks()), (None, false));
    }

    #[test]
    fn a_confirmed_or_released_hold_is_an_ordinary_event() {
        let hold = held(1, span(60, 90), SignedDuration::minutes(1), 5);
        let confirmed = hold.confirmed(NOW).unwrap();
        assert_eq!(
            (confirmed.status, confirmed.hold, confirmed.busy()),
            (EventStatus::Confirmed, None, Some(span(60, 90)))
        );
        let released = hold.released(NOW).unwrap();
        assert_eq!((released.status, released.hold, released.busy()), (EventStatus::Cancelled, None, None));
        for (ended, status) in [(confirmed, EventStatus::Confirmed), (released, EventStatus::Cancelled)] {
            assert_eq!(ended.version, hold.version.next());
            assert_eq!(ended.confirmed(NOW), Err(EventError::Hold(HoldError::NotHeld(status))));
            assert_eq!(ended.released(NOW), Err(EventError::Hold(HoldError::NotHeld(status))));
        }
    }

    #[test]
    fn a_patch_cannot_set_the_status_or_a_rule_of_a_hold() {
        let hold = held(1, span(60, 90), SignedDuration::minutes(1), 0);
        let status = EventPatch { status: Patch::Set(EventStatus::Confirmed), ..EventPatch::default() };
        let patched = |patch: &EventPatch, now| hold.patched(patch.clone(), Zone::UTC, now);
        assert_eq!(patched(&status, NOW), Err(EventError::Hold(HoldError::StatusIsNotSet)));
        let over = NOW + SignedDuration::minutes(1);
        assert_eq!(patched(&status, over), Err(EventError::Hold(HoldError::Expired(over))));
        let rule = Patch::Set(Some("FREQ=DAILY".parse().unwrap()));
        let rule = EventPatch { recurrence: RecurrencePatch { rule, ..Default::default() }, ..EventPatch::default() };
        let Err(EventError::Invalid(errors)) = patched(&rule, NOW) else { panic!("a hold does not recur") };
        assert_eq!(errors.first().param, "recurrence_rule");
        let start = Patch::Set(Moment::At(NOW));
        let moved = EventPatch { start, ..EventPatch::default() };
        assert_eq!(patched(&moved, over), Err(EventError::Hold(HoldError::Expired(over))));
        assert_eq!(patched(&moved, NOW).unwrap().times.span.start(), NOW);
        let title = EventPatch { title: Patch::Set("Certainly".into()), ..EventPatch::default() };
        assert_eq!(patched(&title, NOW).unwrap().hold, hold.hold);
    }

    #[test]
    fn confirming_a_set_needs_all_holds_live_and_releasing_needs_one() {
        let live = [1, 2].map(|number| held(number, span(60, 90), SignedDuration::minutes(1), 0));
        let confirmed = confirm_all(&live, NOW).unwrap();
        assert!(confirmed.iter().all(|event| event.status == EventStatus::Confirmed));
        let over = held(3, span(60, 90), SignedDuration::ZERO, 0);
        let mixed = [live[0].clone(), over.clone()];
        let error = HoldSetError { event: over.id, error: HoldError::Expired(NOW) };
        assert_eq!(confirm_all(&mixed, NOW), Err(error.clone()));
        let released = release_all(&mixed, NOW).unwrap();
        assert_eq!(released, [live[0].released(NOW).unwrap(), over.clone()]);
        assert_eq!(release_all(&[over], NOW), Err(error));
        assert_eq!(release_all(&[], NOW), Ok(vec![]));
    }

    fn holds() -> impl Strategy<Value = Vec<Event>> {
        let one = (0..20_i64, 1..9_i64, -2..4_i64, 0..4_u8);
        proptest::collection::vec(one, 0..8).prop_map(|made| {
            let held = |(number, (start, length, lasts, priority)): (usize, (i64, i64, i64, u8))| {
                held(
                    u32::try_from(number).unwrap(),
                    span(start, start + length),
                    SignedDuration::minutes(lasts),
                    priority,
                )
            };
            made.into_iter().enumerate().map(held).collect()
        })
    }

    proptest! {
        /// A hold takes a time exactly if nothing overlaps it but holds that have expired or have a lower priority, and
        /// ends exactly these.
        #[test]
        fn a_placed_hold_overlaps_only_holds_that_end(
            holds in holds(), blocks in proptest::collection::vec((0..20_i64, 1..9_i64), 0..4),
            start in 0..20_i64, length in 1..9_i64, priority in 0..4_u8,
        ) {
            let wanted = span(start, start + length);
            let blocks: Vec<Block> = blocks
                .into_iter()
                .map(|(start, length)| Block { kind: BlockKind::Event, span: span(start, start + length) })
                .collect();
            let stays = |event: &Event| event.live_hold(NOW).is_ok_and(|hold| hold.priority >= priority);
            let in_the_way = blocks.iter().map(|block| block.span)
                .chain(holds.iter().filter(|event| stays(event)).map(|event| event.times.span))
                .filter(|other| other.overlaps(wanted));
            match place(wanted, priority, &blocks, &holds, NOW) {
                Err(Taken(taken)) => {
                    let mut expected: Vec<Span> = in_the_way.collect();
                    expected.sort();
                    prop_assert!(!expected.is_empty());
                    prop_assert_eq!(taken.iter().map(|block| block.span).collect::<Vec<_>>(), expected);
                }
                Ok(ended) => {
                    prop_assert_eq!(in_the_way.count(), 0);
                    // All overlapping holds end, each for its own reason, and no others do.
                    let overlapping: Vec<&Event> =
                        holds.iter().filter(|event| event.times.span.overlaps(wanted)).collect();
                    prop_assert_eq!(ended.iter().map(|ended| &ended.seen).collect::<Vec<_>>(), overlapping);
                    for EndedHold { seen, event, end } in &ended {
                        prop_assert_eq!(event.status, EventStatus::Cancelled);
                        prop_assert_eq!(event.version, seen.version.next());
                        prop_assert_eq!(*end == HoldEnd::Expired, seen.live_hold(NOW).is_err());
                        prop_assert_eq!(event.hold.is_some(), *end == HoldEnd::Expired);
                    }
                }
            }
        }
    }
}
