//! Properties of the grid and of the offered slots, around the moments at which clocks change.

use kalends_availability::BusySet;
use kalends_kernel::{AgentId, CalendarId, Entropy, OrgId};
use kalends_time::testing::{clock_change, config};
use proptest::prelude::*;

use super::*;
use crate::{BookingPage, NewBookingPage, PageDetails, SlotError, Taken};

struct Zeros;

impl Entropy for Zeros {
    fn fill(&self, bytes: &mut [u8]) {
        bytes.fill(0);
    }
}

/// Hours on quarters, so that they often coincide with clock changes.
fn hours() -> impl Strategy<Value = Option<Hours>> {
    let drawn = (0..96u16, 1..=96u16).prop_map(|(start, length)| Hours::new(start * 15, (start + length).min(96) * 15));
    prop_oneof![1 => Just(None), 5 => drawn]
}

fn timetable_and_moment() -> impl Strategy<Value = (Timetable, Timestamp)> {
    let week = prop_oneof![
        1 => Just(None),
        4 => prop::array::uniform7(hours()).prop_map(|[mon, tue, wed, thu, fri, sat, sun]| {
            Some(Week { mon, tue, wed, thu, fri, sat, sun })
        }),
    ];
    let duration = prop_oneof![Just(5u16), Just(30), Just(45), Just(60), 5..=480u16];
    (clock_change(), week, duration).prop_map(|((zone, moment), constraints, duration_minutes)| {
        (Timetable { duration_minutes, zone, constraints }, moment)
    })
}

/// A window around a moment, in minutes.
fn around(moment: Timestamp, from: i64, length: i64) -> Span {
    let start = moment + SignedDuration::minutes(from);
    Span::new(start, start + SignedDuration::minutes(length)).unwrap()
}

/// Whether the span is a slot, computed without the grid: from the times that the clocks show.
fn is_slot(timetable: &Timetable, slot: Span) -> bool {
    let (zone, start) = (timetable.zone, slot.start());
    let local = zone.to_civil(start);
    let minute = local.time.as_micros() / 60_000_000;
    let hours = match &timetable.constraints {
        Some(week) => week.on(local.date).copied(),
        None => Some(Hours::ALL_DAY),
    };
    let Some(hours) = hours else { return false };
    let (length, first, end) =
        (i64::from(timetable.duration_minutes), i64::from(hours.start()), i64::from(hours.end()));
    let on_a_step =
        minute >= first && (minute - first).rem_euclid(length) == 0 && local.time.as_micros() % 60_000_000 == 0;
    // If the clocks were set back, they may have shown the same time before, less than a day ago.
    let is_first = zone.to_timestamp(local) == Some(start);
    let by_their_faces = minute + length <= end;
    let in_fact = hours.closes(local.date, zone).is_some_and(|closes| slot.end() <= closes);
    on_a_step && is_first && by_their_faces && in_fact
}

fn page(timetable: Timetable, buffer_minutes: u8, min_notice_minutes: u32, window_days: u16) -> BookingPage {
    let new = NewBookingPage {
        slug: None,
        title: "Intro".into(),
        description: None,
        details: PageDetails::default(),
        duration_minutes: timetable.duration_minutes,
        zone: None,
        constraints: None,
        buffer_minutes,
        window_days,
        min_notice_minutes,
        max_per_day: None,
        seats: 1,
        active: true,
    };
    let now = Timestamp::EPOCH;
    let of = (OrgId::new(now, &Zeros), CalendarId::new(now, &Zeros), None::<AgentId>);
    let page = BookingPage::create(of, Zone::UTC, new, now, &Zeros);
    BookingPage { timetable, ..page }
}

proptest! {
    #![proptest_config(config(96))]

    /// The grid has exactly the slots of the rule, each once, in order.
    #[test]
    fn the_grid_follows_the_rule(
        (timetable, moment) in timetable_and_moment(), from in -2_000i64..500, length in 1i64..4_000,
    ) {
        let window = around(moment, from, length);
        let found: Vec<_> = timetable.grid(window).collect();
        // All drawn clock changes are at whole minutes, so slots begin at whole minutes of UTC.
        let minutes = (0..length).map(|minute| window.start() + SignedDuration::minutes(minute));
        let all = minutes.filter_map(|start| Span::new(start, start + timetable.length()).ok());
        let expected: Vec<Span> = all.filter(|slot| slot.end() <= window.end() && is_slot(&timetable, *slot)).collect();
        prop_assert_eq!(found, expected);
    }

    /// The grid of a window agrees with the grids of its parts, because the slots of a day do not depend on another
    /// day.
    #[test]
    fn days_do_not_depend_on_each_other((timetable, moment) in timetable_and_moment(), cut in 0i64..5_760) {
        let window = around(moment, -2_880, 5_760);
        let slots: Vec<_> = timetable.grid(window).collect();
        let at = window.start() + SignedDuration::minutes(cut);
        for part in [Span::new(window.start(), at), Span::new(at, window.end())].into_iter().flatten() {
            let inside: Vec<Span> = slots.iter().copied().filter(|slot| slot.clip(part) == Some(*slot)).collect();
            prop_assert_eq!(timetable.grid(part).collect::<Vec<_>>(), inside);
        }
        for slot in &slots {
            prop_assert_eq!(timetable.slot_at(slot.start()), Some(*slot));
        }
    }

    /// A slot of the grid is offered and can be booked exactly if it keeps the buffer from everything that blocks, or if guests
    /// share it.
    #[test]
    fn offered_slots_can_be_booked_and_others_are_taken(
        (timetable, moment) in timetable_and_moment(),
        buffer in prop::sample::select(vec![0u8, 5, 15, 120]),
        notice in 0u32..600,
        blocks in prop::collection::vec((-2_880i64..2_880, 1i64..300), 0..12),
        before in 0i64..2_880,
        share in 1usize..20,
    ) {
        let now = moment - SignedDuration::minutes(before);
        let page = page(timetable, buffer, notice, 3);
        let Some(window) = page.window(now) else { return Ok(()) };
        let blocking: BusySet = blocks.iter().map(|(from, length)| around(moment, *from, *length)).collect();
        let taken = Taken::of(None, vec![page.taken(&BusySet::EMPTY, &blocking, BookingPage::surroundings(window))]);
        let blocked = page.timetable.grid(BookingPage::surroundings(window));
        let blocked = blocked.filter(|slot| blocking.overlaps(page.reads(*slot)));
        let mut shared: Vec<Span> = blocked.step_by(share).collect();
        shared.reverse();
        let taken = taken.with_shared(shared.clone());
        let offers: Vec<_> = page.offers(window, &taken, now).collect();
        prop_assert!(offers.is_sorted_by(|one, next| one.start() < next.start()));
        for slot in &offers {
            prop_assert!(window.start() <= slot.start() && slot.end() <= window.end());
            let free = !blocking.overlaps(page.reads(*slot));
            prop_assert!(free || shared.contains(slot), "{slot:?} is too close to busy time");
            prop_assert_eq!(page.book(slot.start(), &taken, now), Ok(*slot));
        }
        for slot in page.timetable.grid(window) {
            if !offers.contains(&slot) {
                let offered = !blocking.overlaps(page.reads(slot)) || shared.contains(&slot);
                prop_assert!(!offered, "{slot:?} should be offered");
                let refused = page.book(slot.start(), &taken, now);
                let Err(SlotError::Taken { wanted, nearest }) = refused else { panic!("{refused:?}") };
                prop_assert_eq!(wanted, slot);
                prop_assert_eq!(nearest.len(), offers.len().min(3));
                let distance = |other: &Span| (other.start() - slot.start()).as_micros().abs();
                let worst = nearest.iter().map(distance).max().unwrap_or(0);
                let left_out = offers.iter().filter(|offer| !nearest.contains(offer));
                prop_assert!(left_out.map(distance).all(|other| other >= worst));
            }
        }
        let off = now + SignedDuration::micros(1);
        prop_assert_eq!(page.book(off, &taken, now), Err(SlotError::NotOnGrid(off)));
    }

    /// A date that has its maximum of bookings loses all of its slots, and no other date loses one.
    #[test]
    fn full_dates_lose_their_slots_and_no_others(
        (timetable, moment) in timetable_and_moment(),
        max in 1u16..4,
        booked in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
    ) {
        let page = BookingPage { max_per_day: Some(max), ..page(timetable, 0, 0, 3) };
        let slots: Vec<Span> = page.timetable.grid(around(moment, -2_880, 5_760)).collect();
        let starts: Vec<Timestamp> =
            if slots.is_empty() { Vec::new() } else { booked.iter().map(|one| one.get(&slots).start()).collect() };
        let full = page.full_days(&starts);
        let date = |at: Timestamp| page.timetable.zone.to_civil(at).date;
        for slot in &slots {
            let of_date = |start: &Timestamp| date(*start) == date(slot.start());
            let count = starts.iter().filter(|start| of_date(start)).count();
            prop_assert_eq!(full.overlaps(*slot), count >= usize::from(max), "{:?}", slot);
            let counted = page.whole_days(*slot);
            let same_date = starts.iter().filter(|start| of_date(start));
            prop_assert!(same_date.into_iter().all(|start| counted.start() <= *start && *start < counted.end()));
        }
    }

    /// Before the time of `same_before`, the same slots are offered while nothing is scheduled.
    #[test]
    fn offers_do_not_change_before_same_before(
        (timetable, moment) in timetable_and_moment(),
        notice in 0u32..600,
        days in 1u16..4,
        queried in prop::option::of((-600i64..3_000, 1i64..3_000)),
        blocks in prop::collection::vec((-600i64..6_000, 1i64..300), 0..8),
        later in prop::collection::vec(0.0f64..1.0, 8),
    ) {
        let page = page(timetable, 0, notice, days);
        let queried = queried.map(|(from, length)| around(moment, from, length));
        let taken = blocks.iter().map(|(from, length)| around(moment, *from, *length)).collect();
        let taken = Taken::of(None, vec![taken]);
        let all = Span::new(Timestamp::EPOCH, Timestamp::HORIZON).unwrap();
        let offers_at = |now| page.offers(queried.unwrap_or(all), &taken, now).collect::<Vec<_>>();
        let offers = offers_at(moment);
        let until = page.same_before(queried, offers.first().copied(), moment);
        let reach = until.unwrap_or(moment + SignedDuration::days(9)) - moment;
        for part in later {
            #[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "some instant before it")]
            let now = moment + SignedDuration::micros((reach.as_micros().max(0) as f64 * part) as i64);
            if until.is_none_or(|until| now < until) {
                prop_assert_eq!(offers_at(now), offers.clone());
            }
        }
    }

    /// A guest who asks for any start gets a slot that begins then, or a refusal.
    #[test]
    fn any_start_is_booked_or_refused(
        (timetable, moment) in timetable_and_moment(), start in 0..Timestamp::HORIZON.as_micros(),
    ) {
        let page = page(timetable, 0, 0, 365);
        let start = Timestamp::from_micros(start);
        let booked = page.book(start, &Taken::of(None, vec![BusySet::EMPTY]), moment);
        prop_assert!(booked.is_err() || booked.is_ok_and(|slot| slot.start() == start));
    }
}
