//! Strategies for property-based tests of code that uses this crate, and a plain model of busy time. They come with the
//! feature `testing`.
//!
//! - Busy times on a grid of minutes: [`span`], [`spans`], [`busy_set`] and [`calendars`] draw spans that are short
//!   enough to overlap, nest and touch often. The functions [`busy_minutes`], [`free_minutes`], [`slots_by_trying`] and
//!   [`nearest_by_trying`] compute the answers minute by minute, without the algebra. A test compares the two.
//! - Rules around clock changes: [`rules_and_moment`] and [`rules_window_blocks`] draw rules in zones whose clocks change
//!   in different ways. [`is_open`] reads the clock instead of computing sets.
//!
//! The strategies are those of the `proptest` that [`kalends_time::testing`] re-exports.
//!
//! ```
//! use kalends_availability::BusySet;
//! use kalends_availability::testing::{MINUTES, busy_minutes, calendars, free_minutes, minutes};
//! use kalends_time::testing::config;
//! use kalends_time::testing::proptest::prelude::*;
//!
//! proptest! {
//!     #![proptest_config(config(64))]
//!
//!     # /*
//!     #[test]
//!     # */
//!     fn a_meeting_is_offered_when_all_are_free(calendars in calendars()) {
//!         let day = minutes(0, MINUTES);
//!         let offered = BusySet::common_free(&calendars, day);
//!         prop_assert_eq!(busy_minutes(&offered), free_minutes(&calendars, day, calendars.len()));
//!     }
//! }
//! # a_meeting_is_offered_when_all_are_free();
//! ```

#![expect(clippy::unwrap_used, reason = "what is drawn is valid by construction, and a failed draw must fail the test")]

use kalends_time::testing::{clock_change, span_near};
use kalends_time::{CivilDate, SignedDuration, Span, Timestamp, Zone};
use proptest::prelude::*;

use crate::{BusySet, Hours, Override, Rules, Week};

/// The number of minutes of the grid. [`span`], [`spans`], [`busy_set`] and [`calendars`] draw times within them.
pub const MINUTES: i64 = 240;

/// The start of the grid: 2026-03-01T00:00:00Z.
const MIDNIGHT: Timestamp = Timestamp::from_micros(1_772_323_200_000_000);

/// The start of a minute of the grid, which begins at 2026-03-01T00:00:00Z.
pub fn at(minute: i64) -> Timestamp {
    MIDNIGHT + SignedDuration::minutes(minute)
}

/// The span from the start of one minute of the grid to the start of another.
///
/// # Panics
///
/// If `end` is not after `start`.
pub fn minutes(start: i64, end: i64) -> Span {
    Span::new(at(start), at(end)).unwrap()
}

/// A span of 1 to 60 minutes within the grid.
pub fn span() -> impl Strategy<Value = Span> {
    (0..MINUTES, 1..=60i64).prop_map(|(start, length)| minutes(start, (start + length).min(MINUTES)))
}

/// Up to 23 spans of [`span`], sorted or not.
pub fn spans() -> impl Strategy<Value = Vec<Span>> {
    let drawn = prop::collection::vec(span(), 0..24);
    (drawn, any::<bool>()).prop_map(|(mut spans, sorted)| {
        if sorted {
            spans.sort();
        }
        spans
    })
}

/// The busy times of one calendar: up to 23 spans of up to an hour, or only of up to 12 minutes.
pub fn busy_set() -> impl Strategy<Value = BusySet> {
    let short = (0..MINUTES, 1..=12i64).prop_map(|(start, length)| minutes(start, (start + length).min(MINUTES)));
    prop_oneof![prop::collection::vec(short, 0..24), spans()].prop_map(BusySet::from_unsorted)
}

/// The busy times of up to 5 calendars.
pub fn calendars() -> impl Strategy<Value = Vec<BusySet>> {
    prop::collection::vec(busy_set(), 0..6)
}

/// Whether each minute of the grid is busy, computed without the algebra.
pub fn busy_minutes(busy: &BusySet) -> Vec<bool> {
    (0..MINUTES).map(|minute| busy.spans().iter().any(|span| span.contains(at(minute)))).collect()
}

/// Whether at least `least` of the calendars are free in each minute of the grid that is in the window, computed without
/// the algebra.
pub fn free_minutes(calendars: &[BusySet], window: Span, least: usize) -> Vec<bool> {
    let free = |at: Timestamp| {
        let busy = |calendar: &&BusySet| calendar.spans().iter().any(|span| span.contains(at));
        calendars.iter().filter(|calendar| !busy(calendar)).count()
    };
    (0..MINUTES).map(at).map(|at| window.contains(at) && free(at) >= least).collect()
}

/// What [`free_slots`](crate::free_slots) returns, computed by trying each start. The step must be positive.
pub fn slots_by_trying(window: Span, busy: &BusySet, length: SignedDuration, step: SignedDuration) -> Vec<Span> {
    let mut tried = Vec::new();
    let mut start = window.start();
    while start < window.end() {
        let slot = Span::new(start, start + length).unwrap();
        if slot.end() <= window.end() && !busy.spans().iter().any(|span| span.overlaps(slot)) {
            tried.push(slot);
        }
        start = start + step;
    }
    tried
}

/// What [`nearest_free`](crate::nearest_free) returns for times on the grid, computed by trying each minute as a start.
/// The step is in minutes.
pub fn nearest_by_trying(busy: &BusySet, wanted: Span, within: Span, step: i64, count: usize) -> Vec<Span> {
    let taken = busy.overlaps(wanted);
    let fits = |start: i64| {
        let span = Span::new(at(start), at(start) + wanted.length()).unwrap();
        let blocked = busy.spans().iter().any(|busy| busy.overlaps(span)) || (taken && span.overlaps(wanted));
        (!blocked && span.clip(within) == Some(span)).then_some(span)
    };
    let distance = |span: &Span| (span.start() - wanted.start()).as_micros() / 60_000_000;
    let near_first = |spans: &mut Vec<Span>| spans.sort_by_key(|span| (distance(span).abs(), span.start()));
    // Consecutive minutes that fit belong to one gap.
    let mut offers = Vec::new();
    let mut gap: Vec<Span> = Vec::new();
    for start in -1..=MINUTES {
        if let Some(span) = fits(start) {
            gap.push(span);
            continue;
        }
        let on_grid: Vec<Span> = gap.iter().copied().filter(|span| distance(span) % step == 0).collect();
        if on_grid.is_empty() {
            near_first(&mut gap);
            gap.truncate(1);
            offers.append(&mut gap);
        }
        offers.extend(on_grid);
        gap.clear();
    }
    near_first(&mut offers);
    offers.truncate(count);
    offers
}

/// Working hours of a day: all day, 09:00 to 17:00, hours within the day, or a night that ends on the next day.
pub fn hours() -> impl Strategy<Value = Hours> {
    let any = (0..1_440u16, 1..=1_440u16).prop_map(|(a, b)| Hours::new(a.min(b - 1), b.max(a + 1)).unwrap());
    let night = (720..1_440u16, 1..=720u16).prop_map(|(start, end)| Hours::new(start, 1_440 + end).unwrap());
    prop_oneof![1 => Just(Hours::ALL_DAY), 1 => Just(Hours::new(540, 1_020).unwrap()), 3 => any, 2 => night]
}

/// A week with hours or none on each day.
pub fn week() -> impl Strategy<Value = Week<Hours>> {
    prop::collection::vec(prop::option::of(hours()), 7).prop_map(|days| {
        let mut days = days.into_iter();
        let mut next = || days.next().unwrap();
        Week { mon: next(), tue: next(), wed: next(), thu: next(), fri: next(), sat: next(), sun: next() }
    })
}

/// Rules of a zone: buffers of up to 2 hours, a week or none, and up to 4 overrides within 4 days of a date.
pub fn rules(zone: Zone, about: CivilDate) -> impl Strategy<Value = Rules> {
    let one = move |(days, hours)| Override { date: about.plus_days(days), hours };
    let overrides = prop::collection::vec((-4..4i64, prop::option::of(hours())).prop_map(one), 0..5);
    let buffers = prop_oneof![Just((0, 0)), (0..=7_200i64, 0..=7_200i64)];
    (buffers, prop::option::weighted(0.7, week()), overrides).prop_map(move |((before, after), week, overrides)| {
        let (before, after) = (SignedDuration::seconds(before), SignedDuration::seconds(after));
        let rules = Rules::new(zone).with_buffers(before, after).unwrap().with_overrides(overrides);
        week.map_or(rules.clone(), |week| rules.with_working_hours(week))
    })
}

/// Rules, and a moment at which the clocks of their zone change, if they ever do.
pub fn rules_and_moment() -> impl Strategy<Value = (Rules, Timestamp)> {
    clock_change().prop_flat_map(|(zone, moment)| (rules(zone, moment.utc_date()), Just(moment)))
}

/// Rules, a window near a clock change, and up to 7 busy spans of up to 3 hours around it.
pub fn rules_window_blocks() -> impl Strategy<Value = (Rules, Span, Vec<Span>)> {
    rules_and_moment().prop_flat_map(|(rules, moment)| {
        let short = (span_near(moment), 1..=180i64);
        let short = short.prop_map(|(span, length)| {
            Span::new(span.start(), span.start() + SignedDuration::minutes(length)).unwrap()
        });
        (Just(rules), span_near(moment), prop::collection::vec(short, 0..8))
    })
}

/// Whether the clocks of the rules' zone show a time inside the hours, computed without the algebra. Buffers are left
/// out. On dates that are not 24 hours long, [`Rules::outside`] may offer more.
pub fn is_open(rules: &Rules, at: Timestamp) -> bool {
    let local = rules.zone().to_civil(at);
    let given = |date| rules.overrides().iter().find(|given| given.date == date);
    let hours = |date| match (given(date), rules.working_hours()) {
        (Some(given), _) => given.hours,
        (None, Some(week)) => week.on(date).copied(),
        (None, None) => Some(Hours::ALL_DAY),
    };
    let minute = local.time.as_micros() / 60_000_000;
    [(local.date, minute), (local.date.plus_days(-1), minute + 1_440)].into_iter().any(|(date, minute)| {
        hours(date).is_some_and(|hours| i64::from(hours.start()) <= minute && minute < i64::from(hours.end()))
    })
}
