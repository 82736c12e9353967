//! Proptest strategies of this crate: short spans on a grid of minutes, dense enough to overlap, nest and
//! touch; and rules around the moments at which clocks change.

use kalends_time::{CivilDate, SignedDuration, Span, Timestamp, Zone};
use proptest::prelude::*;

use crate::{BusySet, Hours, Override, Rules, Week};

/// Drawn spans are within the first `MINUTES` minutes of the grid.
pub(crate) const MINUTES: i64 = 240;

/// 2026-03-01T00:00:00Z.
const MIDNIGHT: Timestamp = Timestamp::from_micros(1_772_323_200_000_000);

pub(crate) fn at(minute: i64) -> Timestamp {
    MIDNIGHT + SignedDuration::minutes(minute)
}

pub(crate) fn minutes(start: i64, end: i64) -> Span {
    Span::new(at(start), at(end)).unwrap()
}

pub(crate) fn span() -> impl Strategy<Value = Span> {
    (0..MINUTES, 1..=60i64).prop_map(|(start, length)| minutes(start, (start + length).min(MINUTES)))
}

pub(crate) fn spans() -> impl Strategy<Value = Vec<Span>> {
    let drawn = prop::collection::vec(span(), 0..24);
    (drawn, any::<bool>()).prop_map(|(mut spans, sorted)| {
        if sorted {
            spans.sort();
        }
        spans
    })
}

pub(crate) fn busy_set() -> impl Strategy<Value = BusySet> {
    let short = (0..MINUTES, 1..=12i64).prop_map(|(start, length)| minutes(start, (start + length).min(MINUTES)));
    prop_oneof![prop::collection::vec(short, 0..24), spans()].prop_map(BusySet::from_unsorted)
}

/// Whether each minute of the grid is busy, computed without the algebra.
pub(crate) fn busy_minutes(busy: &BusySet) -> Vec<bool> {
    (0..MINUTES).map(|minute| busy.spans().iter().any(|span| span.contains(at(minute)))).collect()
}

/// Zones, each with an instant at which its clocks change, if they ever do.
const MOMENTS: [(&str, &str); 12] = [
    ("UTC", "2026-03-01T00:00:00Z"),
    ("Asia/Kathmandu", "2026-05-01T18:15:00Z"),
    ("Europe/Berlin", "2026-03-29T01:00:00Z"),
    ("Europe/Berlin", "2026-10-25T01:00:00Z"),
    ("America/New_York", "2026-11-01T06:00:00Z"),
    ("Australia/Lord_Howe", "2026-10-03T15:30:00Z"),
    ("Australia/Lord_Howe", "2026-04-04T15:00:00Z"),
    ("America/Santiago", "2026-09-06T04:00:00Z"),
    ("America/Havana", "2025-11-02T05:00:00Z"),
    ("America/St_Johns", "2010-11-07T02:31:00Z"),
    ("Antarctica/Troll", "2026-10-25T01:00:00Z"),
    ("Pacific/Apia", "2011-12-30T10:00:00Z"),
];

fn hours() -> impl Strategy<Value = Hours> {
    let any = (0..1_440u16, 1..=1_440u16).prop_map(|(a, b)| Hours::new(a.min(b - 1), b.max(a + 1)).unwrap());
    let night = (720..1_440u16, 1..=720u16).prop_map(|(start, end)| Hours::new(start, 1_440 + end).unwrap());
    prop_oneof![1 => Just(Hours::ALL_DAY), 1 => Just(Hours::new(540, 1_020).unwrap()), 3 => any, 2 => night]
}

fn week() -> impl Strategy<Value = Week<Hours>> {
    prop::collection::vec(prop::option::of(hours()), 7).prop_map(|days| {
        let mut days = days.into_iter();
        let mut next = || days.next().unwrap();
        Week { mon: next(), tue: next(), wed: next(), thu: next(), fri: next(), sat: next(), sun: next() }
    })
}

/// Rules of a zone, with overrides around a date.
fn rules(zone: Zone, about: CivilDate) -> impl Strategy<Value = Rules> {
    let one = move |(days, hours)| Override { date: about.plus_days(days), hours };
    let overrides = prop::collection::vec((-4..4i64, prop::option::of(hours())).prop_map(one), 0..5);
    let buffers = prop_oneof![Just((0, 0)), (0..=7_200i64, 0..=7_200i64)];
    (buffers, prop::option::weighted(0.7, week()), overrides).prop_map(move |((before, after), week, overrides)| {
        let (before, after) = (SignedDuration::seconds(before), SignedDuration::seconds(after));
        let rules = Rules::new(zone).with_buffers(before, after).unwrap().with_overrides(overrides);
        week.map_or(rules.clone(), |week| rules.with_working_hours(week))
    })
}

/// Rules, and an instant at which the clocks of their zone may change.
pub(crate) fn rules_and_moment() -> impl Strategy<Value = (Rules, Timestamp)> {
    prop::sample::select(MOMENTS.to_vec()).prop_flat_map(|(zone, moment)| {
        let moment: Timestamp = moment.parse().unwrap();
        (rules(zone.parse().unwrap(), moment.utc_date()), Just(moment))
    })
}

/// Spans of up to two days that begin within three days of a moment, in minutes.
pub(crate) fn near(moment: Timestamp) -> impl Strategy<Value = Span> {
    (-4_320..4_320i64, 1..=2_880i64).prop_map(move |(start, length)| {
        let start = moment + SignedDuration::minutes(start);
        Span::new(start, start + SignedDuration::minutes(length)).unwrap()
    })
}

/// Rules, a window near a clock change, and busy spans around it.
pub(crate) fn rules_window_blocks() -> impl Strategy<Value = (Rules, Span, Vec<Span>)> {
    rules_and_moment().prop_flat_map(|(rules, moment)| {
        let short = (near(moment), 1..=180i64);
        let short = short.prop_map(|(span, length)| {
            Span::new(span.start(), span.start() + SignedDuration::minutes(length)).unwrap()
        });
        (Just(rules), near(moment), prop::collection::vec(short, 0..8))
    })
}
