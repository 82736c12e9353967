//! The availability rules of a calendar: buffers, working hours and date overrides.

mod day;
mod written;

use kalends_time::{CivilDate, SignedDuration, Span, Zone};
use serde::{Deserialize, Serialize};

pub use day::Hours;
pub use written::{WrittenHours, WrittenOverride, WrittenRules};

use crate::BusySet;

/// The longest buffer, in minutes.
pub const BUFFER_MAX_MINUTES: u8 = 120;

/// The maximum number of dates with hours of their own.
pub const OVERRIDES_MAX: usize = 366;

/// A value for each weekday; `None` for a weekday without one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Week<T> {
    /// Monday.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mon: Option<T>,
    /// Tuesday.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tue: Option<T>,
    /// Wednesday.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wed: Option<T>,
    /// Thursday.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thu: Option<T>,
    /// Friday.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fri: Option<T>,
    /// Saturday.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sat: Option<T>,
    /// Sunday.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sun: Option<T>,
}

impl<T> Week<T> {
    /// The value for the weekday of a date.
    pub fn on(&self, date: CivilDate) -> Option<&T> {
        let day = match date.weekday() {
            0 => &self.mon,
            1 => &self.tue,
            2 => &self.wed,
            3 => &self.thu,
            4 => &self.fri,
            5 => &self.sat,
            _ => &self.sun,
        };
        day.as_ref()
    }

    /// Maps each day through `change`, which also gets the day's name: `mon` to `sun`, in this order.
    pub fn map<U>(&self, mut change: impl FnMut(&'static str, &T) -> Option<U>) -> Week<U> {
        let mut changed = |name, day: &Option<T>| day.as_ref().and_then(|day| change(name, day));
        Week {
            mon: changed("mon", &self.mon),
            tue: changed("tue", &self.tue),
            wed: changed("wed", &self.wed),
            thu: changed("thu", &self.thu),
            fri: changed("fri", &self.fri),
            sat: changed("sat", &self.sat),
            sun: changed("sun", &self.sun),
        }
    }
}

impl<T> Default for Week<T> {
    /// Nothing on any day.
    fn default() -> Self {
        Self { mon: None, tue: None, wed: None, thu: None, fri: None, sat: None, sun: None }
    }
}

/// A date with hours of its own instead of those of its weekday.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Override {
    /// The date, in the zone of the rules.
    pub date: CivilDate,
    /// The hours of the date; `None` closes it.
    pub hours: Option<Hours>,
}

/// The rules of one calendar: the buffers around its events, and its hours.
///
/// They are made from [`WrittenRules`], which is also the document that stores keep. The default
/// restricts nothing.
///
/// ```
/// use kalends_availability::{BusySet, Rules, Week, WrittenHours, WrittenRules};
/// use kalends_time::{Timestamp, Span};
///
/// let span = |start: &str, end: &str| -> Result<Span, Box<dyn std::error::Error>> {
///     Ok(Span::new(start.parse::<Timestamp>()?, end.parse::<Timestamp>()?)?)
/// };
/// let nine_to_noon = WrittenHours { start: "09:00".to_owned(), end: "12:00".to_owned() };
/// let rules = Rules::try_from(&WrittenRules {
///     buffer_before_minutes: 5,
///     buffer_after_minutes: 15,
///     working_hours: Some(Week { mon: Some(nine_to_noon), ..Week::default() }),
///     timezone: "Europe/Berlin".to_owned(),
///     overrides: Vec::new(),
/// })?;
///
/// // A Monday in winter, when 09:00 in Berlin is 08:00 UTC.
/// let monday = span("2026-03-02T00:00:00Z", "2026-03-03T00:00:00Z")?;
/// let event = span("2026-03-02T09:00:00Z", "2026-03-02T10:00:00Z")?;
/// let taken = rules.apply(&event.into(), monday);
/// assert_eq!(
///     taken.complement(monday).spans(),
///     [
///         span("2026-03-02T08:00:00Z", "2026-03-02T08:55:00Z")?,
///         span("2026-03-02T10:15:00Z", "2026-03-02T11:00:00Z")?,
///     ]
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "WrittenRules", into = "WrittenRules")]
pub struct Rules {
    buffer_before: u8,
    buffer_after: u8,
    working_hours: Option<Week<Hours>>,
    zone: Zone,
    /// Sorted by date, each date once.
    overrides: Vec<Override>,
}

impl Default for Rules {
    fn default() -> Self {
        Self { buffer_before: 0, buffer_after: 0, working_hours: None, zone: Zone::UTC, overrides: Vec::new() }
    }
}

impl Rules {
    /// The time that must stay free before an event.
    pub fn buffer_before(&self) -> SignedDuration {
        SignedDuration::minutes(self.buffer_before.into())
    }

    /// The time that must stay free after an event.
    pub fn buffer_after(&self) -> SignedDuration {
        SignedDuration::minutes(self.buffer_after.into())
    }

    /// The hours of each weekday; `None` if weekdays restrict nothing.
    pub fn working_hours(&self) -> Option<&Week<Hours>> {
        self.working_hours.as_ref()
    }

    /// The zone of the hours and dates.
    pub fn zone(&self) -> Zone {
        self.zone
    }

    /// The same rules in another zone.
    #[must_use]
    pub fn in_zone(self, zone: Zone) -> Self {
        Self { zone, ..self }
    }

    /// The dates with hours of their own, in order.
    pub fn overrides(&self) -> &[Override] {
        &self.overrides
    }

    /// The range in which events must be read so that [`apply`](Self::apply) gets everything that blocks time in
    /// `window`. It begins `buffer_after` before the window, because an event blocks for that long after its end. It
    /// ends `buffer_before` after the window, because an event blocks for that long before its start.
    pub fn reads(&self, window: Span) -> Span {
        let widened = Span::new(window.start() - self.buffer_after(), window.end() + self.buffer_before());
        // Buffers are not negative.
        widened.unwrap_or(window)
    }

    /// The time in `window` that is not offered: `blocking` widened by the buffers, and the time outside the
    /// working hours.
    ///
    /// `blocking` must hold everything that blocks in [`reads(window)`](Self::reads), not only in the window.
    #[must_use]
    pub fn apply(&self, blocking: &BusySet, window: Span) -> BusySet {
        self.buffered(blocking, window).union(&self.outside(window))
    }

    /// `blocking` widened by the buffers and clipped to `window`: the result of [`apply`](Self::apply)
    /// without the working hours.
    #[must_use]
    pub fn buffered(&self, blocking: &BusySet, window: Span) -> BusySet {
        blocking.clip(self.reads(window)).widen(self.buffer_before(), self.buffer_after()).clip(window)
    }

    /// The time in `window` that the working hours and the overrides close.
    ///
    /// The hours of a date are one span, from when the clocks first show the start until they last reach
    /// the end. A time in a gap moves by the length of the gap. A date that the clocks skip has no hours.
    /// Takes *O*(*d*) for a window of *d* days, however far in the future it is, and without working hours
    /// *O*(log *o* + *d*) for *o* overrides.
    #[must_use]
    pub fn outside(&self, window: Span) -> BusySet {
        self.outside_with(&self.overrides, window)
    }

    /// [`outside`](Self::outside) in two parts that share no instant: the time that the hours of the
    /// weekdays close, and the time that only an override closes.
    pub(crate) fn outside_by_cause(&self, window: Span) -> Outside {
        let by_weekday = self.outside_with(&[], window);
        let outside = self.outside(window);
        Outside {
            by_override: outside.intersection(&by_weekday.complement(window)),
            by_weekday: outside.intersection(&by_weekday),
        }
    }

    fn outside_with(&self, overrides: &[Override], window: Span) -> BusySet {
        let (first, last) = self.dates(window);
        let overrides = within(overrides, first, last);
        match &self.working_hours {
            Some(week) => {
                let hours = |date| match overrides.binary_search_by_key(&date, |given| given.date) {
                    Ok(at) => overrides.get(at).and_then(|given| given.hours),
                    Err(_) => week.on(date).copied(),
                };
                let dates = (first.as_days()..=last.as_days()).map(CivilDate::from_days);
                let open = dates.filter_map(|date| hours(date)?.on(date, self.zone));
                open.collect::<BusySet>().complement(window)
            }
            None => overrides.iter().flat_map(|given| self.closed_on(*given)).collect::<BusySet>().clip(window),
        }
    }

    /// The time before and after the hours of an overridden date.
    fn closed_on(&self, given: Override) -> Vec<Span> {
        let Some(day) = Hours::ALL_DAY.on(given.date, self.zone) else { return Vec::new() };
        let open = given.hours.and_then(|hours| hours.on(given.date, self.zone));
        open.map_or(vec![day], |open| BusySet::from(open).gaps(day).collect())
    }

    /// The dates that may have hours in `window`. Adds a date on each side, because clocks that go back over
    /// midnight show a date again after the next one has begun.
    fn dates(&self, window: Span) -> (CivilDate, CivilDate) {
        let date = |at| self.zone.to_civil(at).date;
        (date(window.start()).plus_days(-1), date(window.end()).plus_days(1))
    }
}

/// The time that the rules close, by cause.
pub(crate) struct Outside {
    /// Closed by the hours of the weekday.
    pub(crate) by_weekday: BusySet,
    /// Closed by an override alone.
    pub(crate) by_override: BusySet,
}

/// The overrides of the dates from `first` to `last`.
fn within(overrides: &[Override], first: CivilDate, last: CivilDate) -> &[Override] {
    let from = overrides.partition_point(|given| given.date < first);
    let to = overrides.partition_point(|given| given.date <= last);
    overrides.get(from..to).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use kalends_time::Timestamp;
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;
    use crate::strategies::{near, rules_and_moment, rules_window_blocks};

    fn rules(document: &str) -> Rules {
        serde_json::from_str(document).unwrap()
    }

    fn span(text: &str) -> Span {
        let (start, end) = text.split_once(' ').unwrap();
        Span::new(start.parse().unwrap(), end.parse().unwrap()).unwrap()
    }

    fn set(spans: &[&str]) -> BusySet {
        spans.iter().map(|text| span(text)).collect()
    }

    /// Berlin, weekdays 09:00 to 17:00; Thursday 5 March closed, Saturday 7 March 10:00 to 12:00.
    fn office() -> Rules {
        let day = r#"{"start":"09:00","end":"17:00"}"#;
        rules(&format!(
            r#"{{"buffer_before_minutes":10,"buffer_after_minutes":30,"timezone":"Europe/Berlin",
                "working_hours":{{"mon":{day},"tue":{day},"wed":{day},"thu":{day},"fri":{day}}},
                "overrides":[{{"date":"2026-03-07","working_hours":{{"start":"10:00","end":"12:00"}}}},
                             {{"date":"2026-03-05","working_hours":null}}]}}"#
        ))
    }

    /// UTC, always open except on 5 March (closed) and 7 March (10:00 to 12:00).
    fn always_but() -> Rules {
        rules(
            r#"{"buffer_before_minutes":0,"buffer_after_minutes":0,"timezone":"UTC","working_hours":null,
                "overrides":[{"date":"2026-03-05","working_hours":null},
                             {"date":"2026-03-07","working_hours":{"start":"10:00","end":"12:00"}}]}"#,
        )
    }

    #[test]
    fn a_week_of_an_office() {
        let week = span("2026-03-02T00:00:00Z 2026-03-09T00:00:00Z");
        let open = [
            "2026-03-02T08:00:00Z 2026-03-02T16:00:00Z",
            "2026-03-03T08:00:00Z 2026-03-03T16:00:00Z",
            "2026-03-04T08:00:00Z 2026-03-04T16:00:00Z",
            "2026-03-06T08:00:00Z 2026-03-06T16:00:00Z",
            "2026-03-07T09:00:00Z 2026-03-07T11:00:00Z",
        ];
        assert_eq!(office().outside(week).complement(week), set(&open));
    }

    #[test]
    fn overrides_without_working_hours_close_only_their_dates() {
        let week = span("2026-03-02T00:00:00Z 2026-03-09T00:00:00Z");
        let closed = [
            "2026-03-05T00:00:00Z 2026-03-06T00:00:00Z",
            "2026-03-07T00:00:00Z 2026-03-07T10:00:00Z",
            "2026-03-07T12:00:00Z 2026-03-08T00:00:00Z",
        ];
        assert_eq!(always_but().outside(week), set(&closed));
    }

    #[test]
    fn the_cause_is_the_override_only_if_the_weekday_is_open() {
        let days = span("2026-03-05T00:00:00Z 2026-03-08T00:00:00Z");
        let Outside { by_weekday, by_override } = office().outside_by_cause(days);
        assert_eq!(by_override, set(&["2026-03-05T08:00:00Z 2026-03-05T16:00:00Z"]));
        assert!(by_weekday.overlaps(span("2026-03-07T08:00:00Z 2026-03-07T09:00:00Z")), "a Saturday anyway");
        assert!(!by_weekday.overlaps(span("2026-03-07T09:00:00Z 2026-03-07T11:00:00Z")));
        assert_eq!(always_but().outside_by_cause(days).by_weekday, BusySet::EMPTY);
    }

    #[test]
    fn a_week_without_days_is_closed_and_the_default_is_open() {
        let window = span("2026-03-02T00:00:00Z 2026-03-09T00:00:00Z");
        let closed = Rules { working_hours: Some(Week::default()), ..Rules::default() };
        assert_eq!(closed.outside(window), window.into());
        assert_eq!(Rules::default().outside(window), BusySet::EMPTY);
        assert_eq!(Rules::default().reads(window), window);
    }

    #[rstest]
    #[case::right_after("2026-03-02T10:00:00Z 2026-03-02T10:30:00Z", false)]
    #[case::a_little_later("2026-03-02T10:29:59Z 2026-03-02T10:40:00Z", false)]
    #[case::after_the_buffer("2026-03-02T10:30:00Z 2026-03-02T10:40:00Z", true)]
    #[case::right_before("2026-03-02T08:30:00Z 2026-03-02T09:00:00Z", false)]
    #[case::before_the_buffer("2026-03-02T08:30:00Z 2026-03-02T08:50:00Z", true)]
    fn buffers_of_an_event_from_9_to_10(#[case] slot: &str, #[case] offered: bool) {
        let event = set(&["2026-03-02T09:00:00Z 2026-03-02T10:00:00Z"]);
        assert_eq!(!office().apply(&event, span(slot)).overlaps(span(slot)), offered);
    }

    #[test]
    fn reads_as_far_as_events_reach() {
        let window = span("2026-03-02T12:00:00Z 2026-03-02T13:00:00Z");
        assert_eq!(office().reads(window), span("2026-03-02T11:30:00Z 2026-03-02T13:10:00Z"));
    }

    #[test]
    fn a_far_window_costs_no_more_than_a_near_one() {
        // A linear walk from 1970 would also end, so check that only these dates are looked at.
        let window = span("2099-12-30T00:00:00Z 2099-12-31T00:00:00Z");
        let (first, last) = office().dates(window);
        assert_eq!((first.to_string(), last.to_string()), ("2099-12-29".to_owned(), "2100-01-01".to_owned()));
    }

    /// The length of a date in the zone, from midnight to midnight.
    fn lasts(date: CivilDate, zone: Zone) -> SignedDuration {
        zone.to_timestamp(date.plus_days(1).midnight()).unwrap() - zone.to_timestamp(date.midnight()).unwrap()
    }

    /// Whether the clocks show a time inside the hours, computed without the algebra.
    fn shows_open(rules: &Rules, at: Timestamp) -> bool {
        let local = rules.zone().to_civil(at);
        let given = rules.overrides().iter().find(|given| given.date == local.date);
        let hours = match (given, rules.working_hours()) {
            (Some(given), _) => given.hours,
            (None, Some(week)) => week.on(local.date).copied(),
            (None, None) => Some(Hours::ALL_DAY),
        };
        let minute = local.time.as_micros() / 60_000_000;
        hours.is_some_and(|hours| i64::from(hours.start()) <= minute && minute < i64::from(hours.end()))
    }

    proptest! {
        #[test]
        fn outside_agrees_with_reading_the_clock((written, moment) in rules_and_moment(), start in -6_000..6_000i64) {
            let rules = Rules::try_from(&written).unwrap();
            let start = moment + SignedDuration::minutes(start);
            let window = Span::new(start, start + SignedDuration::hours(26)).unwrap();
            let outside = rules.outside(window);
            for minute in (0..26 * 60).step_by(3) {
                let at = start + SignedDuration::minutes(minute);
                let date = rules.zone().to_civil(at).date;
                let around = [-1, 0, 1].map(|days| lasts(date.plus_days(days), rules.zone()));
                let offered = !outside.spans().iter().any(|span| span.contains(at));
                if around.iter().all(|lasts| *lasts == SignedDuration::days(1)) {
                    prop_assert_eq!(offered, shows_open(&rules, at), "{}", at);
                } else if around.iter().all(|lasts| *lasts >= SignedDuration::days(1)) && rules.working_hours().is_some() {
                    prop_assert!(offered || !shows_open(&rules, at), "{}", at);
                }
            }
        }

        #[test]
        fn clipping_a_longer_window_gives_the_same(
            (written, windows) in rules_and_moment().prop_flat_map(|(written, moment)| (Just(written), (near(moment), near(moment)))),
        ) {
            let rules = Rules::try_from(&written).unwrap();
            let (one, other) = windows;
            let both = Span::new(one.start().min(other.start()), one.end().max(other.end())).unwrap();
            let outside = rules.outside(both);
            prop_assert_eq!(outside.clip(one), rules.outside(one));
            prop_assert_eq!(outside.clip(both), outside);
        }

        #[test]
        fn inside_and_outside_partition_the_window((rules, window, _) in rules_window_blocks()) {
            let outside = rules.outside(window);
            let inside = outside.complement(window);
            prop_assert_eq!(outside.union(&inside), window.into());
            prop_assert_eq!(outside.intersection(&inside), BusySet::EMPTY);
            let Outside { by_weekday, by_override } = rules.outside_by_cause(window);
            prop_assert_eq!(by_weekday.union(&by_override), outside);
            prop_assert_eq!(by_weekday.intersection(&by_override), BusySet::EMPTY);
        }

        #[test]
        fn a_slot_is_offered_iff_it_keeps_the_buffers_and_the_hours(
            (rules, window, blocks) in rules_window_blocks(), offset in 0..2_880i64, length in 1..480i64,
        ) {
            // Somewhere in the window, at least a minute long.
            let minutes = window.length().as_seconds() / 60;
            let start = window.start() + SignedDuration::minutes(offset % minutes);
            let slot = Span::new(start, (start + SignedDuration::minutes(length)).min(window.end())).unwrap();
            let keeps = |event: &Span| {
                slot.end() + rules.buffer_before() <= event.start() || event.end() + rules.buffer_after() <= slot.start()
            };
            let offered = blocks.iter().all(keeps) && !rules.outside(slot).overlaps(slot);
            let taken = rules.apply(&BusySet::from_unsorted(blocks), window);
            prop_assert_eq!(!taken.overlaps(slot), offered);
        }

        #[test]
        fn blocks_outside_the_read_range_change_nothing((rules, window, blocks) in rules_window_blocks()) {
            let all = BusySet::from_unsorted(blocks.clone());
            let read = rules.reads(window);
            let overlapping: BusySet = blocks.into_iter().filter(|span| span.overlaps(read)).collect();
            let taken = rules.apply(&all, window);
            prop_assert_eq!(&rules.apply(&overlapping, window), &taken);
            prop_assert_eq!(&rules.apply(&all.clip(read), window), &taken);
            prop_assert_eq!(taken.clip(window), taken);
        }

        #[test]
        fn longer_buffers_and_more_events_block_more(
            (rules, window, blocks) in rules_window_blocks(), before in 0..=30u8, after in 0..=30u8,
        ) {
            let longer = Rules {
                buffer_before: (rules.buffer_before + before).min(BUFFER_MAX_MINUTES),
                buffer_after: (rules.buffer_after + after).min(BUFFER_MAX_MINUTES),
                ..rules.clone()
            };
            let fewer: BusySet = blocks.iter().skip(1).copied().collect();
            let taken = rules.apply(&fewer, window);
            let more = longer.apply(&BusySet::from_unsorted(blocks), window);
            prop_assert_eq!(taken.union(&more), more);
        }
    }
}
