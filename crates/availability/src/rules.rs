//! The availability rules of a calendar: buffers, working hours and date overrides.

mod day;

use kalends_time::{CivilDate, SignedDuration, Span, Zone};

pub use day::{Hours, HoursError};

use crate::BusySet;

/// A value for each weekday; `None` for a weekday without one.
///
/// ```
/// use kalends_availability::Week;
///
/// let opens_at = Week { sat: Some(10), sun: None, ..Week::every_day(9) };
/// assert_eq!((opens_at.fri, opens_at.sat, opens_at.sun), (Some(9), Some(10), None));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Week<T> {
    /// Monday.
    pub mon: Option<T>,
    /// Tuesday.
    pub tue: Option<T>,
    /// Wednesday.
    pub wed: Option<T>,
    /// Thursday.
    pub thu: Option<T>,
    /// Friday.
    pub fri: Option<T>,
    /// Saturday.
    pub sat: Option<T>,
    /// Sunday.
    pub sun: Option<T>,
}

impl<T: Clone> Week<T> {
    /// The same value from Monday to Friday, and none on Saturday and Sunday.
    ///
    /// ```
    /// use kalends_availability::Week;
    ///
    /// let week = Week::monday_to_friday("open");
    /// assert_eq!((week.fri, week.sat), (Some("open"), None));
    /// ```
    pub fn monday_to_friday(value: T) -> Self {
        Self { sat: None, sun: None, ..Self::every_day(value) }
    }

    /// The same value on each day. [`Week`] has an example.
    pub fn every_day(value: T) -> Self {
        let day = || Some(value.clone());
        Self { mon: day(), tue: day(), wed: day(), thu: day(), fri: day(), sat: day(), sun: day() }
    }
}

impl<T> Week<T> {
    /// The value for the weekday of a date.
    ///
    /// ```
    /// use kalends_availability::{CivilDate, Week};
    ///
    /// let week = Week::monday_to_friday("open");
    /// let (friday, saturday): (CivilDate, CivilDate) = ("2026-03-06".parse()?, "2026-03-07".parse()?);
    /// assert_eq!((week.on(friday), week.on(saturday)), (Some(&"open"), None));
    /// # Ok::<(), kalends_availability::ParseDateError>(())
    /// ```
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
    ///
    /// ```
    /// use kalends_availability::Week;
    ///
    /// // Friday ends early.
    /// let hours = Week::monday_to_friday(8).map(|day, hours| if day == "fri" { Some(hours - 2) } else { Some(*hours) });
    /// assert_eq!((hours.thu, hours.fri, hours.sat), (Some(8), Some(6), None));
    /// ```
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

/// A date with hours of its own instead of those of its weekday. [`Rules`] has an example.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Override {
    /// The date, in the zone of the rules.
    pub date: CivilDate,
    /// The hours that begin on the date; `None` closes it.
    pub hours: Option<Hours>,
}

/// The rules of one calendar: the buffers around its events, and its hours. The default restricts nothing.
///
/// ```
/// use kalends_availability::{
///     BusySet, CivilDate, CivilTime, Hours, Override, Rules, SignedDuration, Span, Timestamp, Week,
/// };
///
/// let span = |start: &str, end: &str| -> Result<Span, Box<dyn std::error::Error>> {
///     Ok(Span::new(start.parse::<Timestamp>()?, end.parse::<Timestamp>()?)?)
/// };
/// let clock = |hour| CivilTime::new(hour, 0, 0).ok_or("no such time");
/// let nine_to_noon = Hours::between(clock(9)?, clock(12)?)?;
/// let closed: CivilDate = "2026-12-24".parse()?;
/// let rules = Rules::new("Europe/Berlin".parse()?)
///     .with_buffers(SignedDuration::minutes(5), SignedDuration::minutes(15))?
///     .with_working_hours(Week::monday_to_friday(nine_to_noon))
///     .with_overrides([Override { date: closed, hours: None }]);
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
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rules {
    /// Not negative.
    buffer_before: SignedDuration,
    /// Not negative.
    buffer_after: SignedDuration,
    working_hours: Option<Week<Hours>>,
    zone: Zone,
    /// Sorted by date, each date once.
    overrides: Vec<Override>,
}

/// A buffer is negative.
///
/// ```
/// use kalends_availability::{Rules, SignedDuration};
///
/// let error = Rules::default().with_buffers(SignedDuration::minutes(-5), SignedDuration::ZERO);
/// let error = error.map_err(|error| error.to_string());
/// assert_eq!(error, Err("a buffer must not be negative, got -PT5M".to_owned()));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a buffer must not be negative, got {buffer:?}")]
#[non_exhaustive]
pub struct NegativeBuffer {
    /// The buffer.
    pub buffer: SignedDuration,
}

impl Default for Rules {
    /// The rules of UTC that restrict nothing.
    fn default() -> Self {
        Self::new(Zone::UTC)
    }
}

impl Rules {
    /// Rules that restrict nothing. `zone` is the zone of the hours and dates that are added to them. [`Rules`] has an
    /// example.
    pub const fn new(zone: Zone) -> Self {
        let (buffer_before, buffer_after) = (SignedDuration::ZERO, SignedDuration::ZERO);
        Self { buffer_before, buffer_after, working_hours: None, zone, overrides: Vec::new() }
    }

    /// The same rules with these times to keep free before and after an event, instead of the present ones. [`Rules`]
    /// has an example.
    ///
    /// # Errors
    /// [`NegativeBuffer`] if one of them is negative.
    pub fn with_buffers(self, before: SignedDuration, after: SignedDuration) -> Result<Self, NegativeBuffer> {
        match [before, after].into_iter().find(|buffer| *buffer < SignedDuration::ZERO) {
            Some(buffer) => Err(NegativeBuffer { buffer }),
            None => Ok(Self { buffer_before: before, buffer_after: after, ..self }),
        }
    }

    /// The same rules with the hours of each weekday, instead of the present ones. A weekday without hours is closed.
    /// [`Rules`] has an example.
    #[must_use]
    pub fn with_working_hours(self, week: Week<Hours>) -> Self {
        Self { working_hours: Some(week), ..self }
    }

    /// The same rules with these dates with hours of their own, in any order, instead of the present ones. If a date
    /// occurs several times, the last one counts. *O*(*o* log *o*) for *o* dates.
    ///
    /// ```
    /// use kalends_availability::{Hours, Override, Rules, Zone};
    ///
    /// let date = "2026-12-24".parse()?;
    /// let [closed, open] = [None, Some(Hours::ALL_DAY)].map(|hours| Override { date, hours });
    /// assert_eq!(Rules::new(Zone::UTC).with_overrides([closed, open]).overrides(), [open]);
    /// # Ok::<(), kalends_availability::ParseDateError>(())
    /// ```
    #[must_use]
    pub fn with_overrides(self, overrides: impl IntoIterator<Item = Override>) -> Self {
        let mut overrides: Vec<Override> = overrides.into_iter().collect();
        // The last one of a date comes first, and the others are removed.
        overrides.reverse();
        overrides.sort_by_key(|given| given.date);
        overrides.dedup_by_key(|given| given.date);
        Self { overrides, ..self }
    }

    /// The time that must stay free before an event.
    pub const fn buffer_before(&self) -> SignedDuration {
        self.buffer_before
    }

    /// The time that must stay free after an event.
    pub const fn buffer_after(&self) -> SignedDuration {
        self.buffer_after
    }

    /// The hours of each weekday; `None` if weekdays restrict nothing.
    pub const fn working_hours(&self) -> Option<&Week<Hours>> {
        self.working_hours.as_ref()
    }

    /// The zone of the hours and dates.
    pub const fn zone(&self) -> Zone {
        self.zone
    }

    /// The same rules in another zone.
    ///
    /// ```
    /// use kalends_availability::{Rules, Zone};
    ///
    /// let rules = Rules::new(Zone::UTC).in_zone("Asia/Tokyo".parse()?);
    /// assert_eq!(rules.zone().name(), "Asia/Tokyo");
    /// # Ok::<(), kalends_availability::ZoneError>(())
    /// ```
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
    ///
    /// ```
    /// use kalends_availability::{Rules, SignedDuration, Span, Timestamp, Zone};
    ///
    /// let at = |minute| Timestamp::EPOCH + SignedDuration::minutes(minute);
    /// let rules = Rules::new(Zone::UTC).with_buffers(SignedDuration::minutes(5), SignedDuration::minutes(15))?;
    /// // An event that ends 10 minutes before the window still blocks its first 5 minutes.
    /// assert_eq!(rules.reads(Span::new(at(60), at(120))?), Span::new(at(45), at(125))?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn reads(&self, window: Span) -> Span {
        let widened = Span::new(window.start() - self.buffer_after(), window.end() + self.buffer_before());
        // Buffers are not negative.
        widened.unwrap_or(window)
    }

    /// The time in `window` that is not offered: `blocking` widened by the buffers, and the time outside the working
    /// hours. [`Rules`] has an example.
    ///
    /// `blocking` must hold everything that blocks in [`reads(window)`](Self::reads), not only in the window.
    #[must_use]
    pub fn apply(&self, blocking: &BusySet, window: Span) -> BusySet {
        self.buffered(blocking, window).union(&self.outside(window))
    }

    /// `blocking` widened by the buffers and clipped to `window`: the result of [`apply`](Self::apply)
    /// without the working hours.
    ///
    /// ```
    /// use kalends_availability::{BusySet, Rules, SignedDuration, Span, Timestamp, Week, Zone};
    ///
    /// let at = |minute| Timestamp::EPOCH + SignedDuration::minutes(minute);
    /// let rules = Rules::new(Zone::UTC)
    ///     .with_buffers(SignedDuration::ZERO, SignedDuration::minutes(15))?
    ///     .with_working_hours(Week::default());
    /// let event = BusySet::from(Span::new(at(0), at(30))?);
    /// let window = Span::new(at(20), at(120))?;
    /// assert_eq!(rules.buffered(&event, window).spans(), [Span::new(at(20), at(45))?]);
    /// assert_eq!(rules.apply(&event, window).spans(), [window], "no day has hours");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn buffered(&self, blocking: &BusySet, window: Span) -> BusySet {
        blocking.clip(self.reads(window)).widen(self.buffer_before(), self.buffer_after()).clip(window)
    }

    /// The time in `window` that the working hours and the overrides close.
    ///
    /// The hours of a date are one span, from when the clocks first show the start until they last reach
    /// the end. A time in a gap moves by the length of the gap. A date that the clocks skip has no hours. Hours that
    /// cross midnight stay open on the next date, even if an override closes that date.
    ///
    /// Takes *O*(*d* log *o*) for a window of *d* days and *o* overrides, however far in the future it is, and without
    /// working hours *O*(log *o* + *d*). Dates outside the years 0 to 9999 have no hours, so that no window takes
    /// longer than these years do.
    ///
    /// ```
    /// use kalends_availability::{Hours, Rules, Span, Timestamp, Week, Zone};
    ///
    /// let span = |start: &str, end: &str| -> Result<Span, Box<dyn std::error::Error>> {
    ///     Ok(Span::new(start.parse::<Timestamp>()?, end.parse::<Timestamp>()?)?)
    /// };
    /// let nine_to_five = Hours::new(9 * 60, 17 * 60).ok_or("not hours")?;
    /// let rules = Rules::new(Zone::UTC).with_working_hours(Week::monday_to_friday(nine_to_five));
    /// // From Friday noon to Monday noon.
    /// let closed = rules.outside(span("2026-03-06T12:00:00Z", "2026-03-09T12:00:00Z")?);
    /// assert_eq!(closed.spans(), [span("2026-03-06T17:00:00Z", "2026-03-09T09:00:00Z")?]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
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
            None => {
                let closed = overrides.iter().flat_map(|given| self.closed_on(*given)).collect::<BusySet>();
                let late =
                    |given: &Override| given.hours.filter(|hours| hours.crosses_midnight())?.on(given.date, self.zone);
                closed.difference(&overrides.iter().filter_map(late).collect()).clip(window)
            }
        }
    }

    /// The time before and after the hours of an overridden date.
    fn closed_on(&self, given: Override) -> Vec<Span> {
        let Some(day) = Hours::ALL_DAY.on(given.date, self.zone) else { return Vec::new() };
        let open = given.hours.and_then(|hours| hours.on(given.date, self.zone));
        open.map_or(vec![day], |open| BusySet::from(open).gaps(day).collect())
    }

    /// The dates that may have hours in `window`, in the years 0 to 9999. Adds a date on each side, because clocks that
    /// go back over midnight show a date again after the next one has begun, and another one before, because hours may
    /// cross midnight.
    fn dates(&self, window: Span) -> (CivilDate, CivilDate) {
        let date = |at| self.zone.to_civil(at).date;
        let (first, last) = (CivilDate::from_days(FIRST_DAY), CivilDate::from_days(LAST_DAY));
        (date(window.start()).plus_days(-2).max(first), date(window.end()).plus_days(1).min(last))
    }
}

/// 0000-01-01, in days since 1970.
const FIRST_DAY: i64 = -719_528;
/// 9999-12-31, in days since 1970.
const LAST_DAY: i64 = 2_932_896;

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
    use kalends_time::testing::span_near;
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;
    use crate::testing::{is_open, rules_and_moment, rules_window_blocks};

    fn span(text: &str) -> Span {
        let (start, end) = text.split_once(' ').unwrap();
        Span::new(start.parse().unwrap(), end.parse().unwrap()).unwrap()
    }

    fn set(spans: &[&str]) -> BusySet {
        spans.iter().map(|text| span(text)).collect()
    }

    fn march(day: u32, hours: Option<Hours>) -> Override {
        Override { date: CivilDate::new(2026, 3, day).unwrap(), hours }
    }

    fn hours(start: u16, end: u16) -> Hours {
        Hours::new(start * 60, end * 60).unwrap()
    }

    /// Berlin, weekdays 09:00 to 17:00; Thursday 5 March closed, Saturday 7 March 10:00 to 12:00.
    fn office() -> Rules {
        Rules::new("Europe/Berlin".parse().unwrap())
            .with_buffers(SignedDuration::minutes(10), SignedDuration::minutes(30))
            .unwrap()
            .with_working_hours(Week::monday_to_friday(hours(9, 17)))
            .with_overrides([march(7, Some(hours(10, 12))), march(5, None)])
    }

    /// UTC, always open except on 5 March (closed) and 7 March (10:00 to 12:00).
    fn always_but() -> Rules {
        Rules::new(Zone::UTC).with_overrides([march(5, None), march(7, Some(hours(10, 12)))])
    }

    #[test]
    fn the_last_override_of_a_date_counts() {
        let rules = Rules::default().with_overrides([march(7, None), march(5, None), march(7, Some(hours(10, 12)))]);
        assert_eq!(rules.overrides(), [march(5, None), march(7, Some(hours(10, 12)))]);
        assert_eq!(rules.with_overrides([]), Rules::default());
    }

    #[test]
    fn buffers_are_not_negative() {
        let (none, tick) = (SignedDuration::ZERO, SignedDuration::micros(1));
        let rules = Rules::default().with_buffers(none, tick).unwrap();
        assert_eq!((rules.buffer_before(), rules.buffer_after()), (none, tick));
        for (before, after) in [(-tick, none), (none, -tick)] {
            assert_eq!(Rules::default().with_buffers(before, after), Err(NegativeBuffer { buffer: -tick }));
        }
    }

    /// Hours from 22:00 to 06:00 on Friday 6 March and Monday 9 March 2026.
    #[rstest]
    #[case::nothing_else(&[], &["2026-03-06T22:00:00Z 2026-03-07T06:00:00Z", "2026-03-09T22:00:00Z 2026-03-10T06:00:00Z"])]
    #[case::the_next_date_is_closed(&[march(7, None)], &["2026-03-06T22:00:00Z 2026-03-07T06:00:00Z", "2026-03-09T22:00:00Z 2026-03-10T06:00:00Z"])]
    #[case::the_date_is_closed(&[march(6, None)], &["2026-03-09T22:00:00Z 2026-03-10T06:00:00Z"])]
    #[case::another_night(&[march(6, Some(hours(23, 25))), march(9, None)], &["2026-03-06T23:00:00Z 2026-03-07T01:00:00Z"])]
    fn nights(#[case] overrides: &[Override], #[case] open: &[&str]) {
        let night = Some(hours(22, 30));
        let rules = Rules::default()
            .with_working_hours(Week { mon: night, fri: night, ..Week::default() })
            .with_overrides(overrides.iter().copied());
        let window = span("2026-03-05T00:00:00Z 2026-03-12T00:00:00Z");
        assert_eq!(rules.outside(window).complement(window), set(open));
        // The morning belongs to the date before, even if nothing of that date is in the window.
        let morning = span("2026-03-07T00:00:00Z 2026-03-08T00:00:00Z");
        assert_eq!(rules.outside(morning).complement(morning), set(open).clip(morning));
    }

    #[test]
    fn a_night_of_its_own_on_dates_that_are_otherwise_open() {
        let rules = Rules::default().with_overrides([march(6, Some(hours(22, 30))), march(7, None)]);
        let window = span("2026-03-05T00:00:00Z 2026-03-09T00:00:00Z");
        let closed = ["2026-03-06T00:00:00Z 2026-03-06T22:00:00Z", "2026-03-07T06:00:00Z 2026-03-08T00:00:00Z"];
        assert_eq!(rules.outside(window), set(&closed));
    }

    #[test]
    fn the_ends_of_time() {
        let always = Span::new(Timestamp::from_micros(i64::MIN), Timestamp::from_micros(i64::MAX)).unwrap();
        let longest = SignedDuration::micros(i64::MAX);
        let rules = Rules::default().with_buffers(longest, longest).unwrap();
        assert_eq!(rules.reads(always), always);
        assert_eq!(rules.apply(&BusySet::EMPTY, always), BusySet::EMPTY);
        let event = set(&["2026-03-02T09:00:00Z 2026-03-02T10:00:00Z"]);
        assert!(rules.apply(&event, always).overlaps(span("1970-01-01T00:00:00Z 1970-01-01T00:00:01Z")));
        let last = Span::new(always.end() - SignedDuration::hours(1), always.end()).unwrap();
        let first = Span::new(always.start(), always.start() + SignedDuration::hours(1)).unwrap();
        for edge in [first, last] {
            assert_eq!(office().outside(edge), edge.into(), "no hours beyond the year 9999");
            assert_eq!(always_but().outside(edge), BusySet::EMPTY);
            assert_eq!(office().reads(edge).clip(edge), Some(edge));
        }
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
        assert_eq!((first.to_string(), last.to_string()), ("2099-12-28".to_owned(), "2100-01-01".to_owned()));
    }

    /// The length of a date in the zone, from midnight to midnight.
    fn lasts(date: CivilDate, zone: Zone) -> SignedDuration {
        zone.to_timestamp(date.plus_days(1).midnight()).unwrap() - zone.to_timestamp(date.midnight()).unwrap()
    }

    proptest! {
        /// The time outside working hours is the time at which the clocks of the zone show no open hours.
        #[test]
        fn outside_agrees_with_reading_the_clock((rules, moment) in rules_and_moment(), start in -6_000..6_000i64) {
            let start = moment + SignedDuration::minutes(start);
            let window = Span::new(start, start + SignedDuration::hours(26)).unwrap();
            let outside = rules.outside(window);
            for minute in (0..26 * 60).step_by(3) {
                let at = start + SignedDuration::minutes(minute);
                let date = rules.zone().to_civil(at).date;
                let around = [-1, 0, 1].map(|days| lasts(date.plus_days(days), rules.zone()));
                let offered = !outside.spans().iter().any(|span| span.contains(at));
                if around.iter().all(|lasts| *lasts == SignedDuration::days(1)) {
                    prop_assert_eq!(offered, is_open(&rules, at), "{}", at);
                } else if around.iter().all(|lasts| *lasts >= SignedDuration::days(1)) && rules.working_hours().is_some() {
                    prop_assert!(offered || !is_open(&rules, at), "{}", at);
                }
            }
        }

        /// The time outside working hours does not depend on the window that asks for it.
        #[test]
        fn clipping_a_longer_window_gives_the_same(
            (rules, windows) in rules_and_moment().prop_flat_map(|(rules, moment)| (Just(rules), (span_near(moment), span_near(moment)))),
        ) {
            let (one, other) = windows;
            let both = Span::new(one.start().min(other.start()), one.end().max(other.end())).unwrap();
            let outside = rules.outside(both);
            prop_assert_eq!(outside.clip(one), rules.outside(one));
            prop_assert_eq!(outside.clip(both), outside);
        }

        /// Each time of a window is inside working hours, or outside because of its weekday, or outside because of an
        /// override.
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

        /// A slot is offered exactly if it keeps the buffers around every event and is within working hours.
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

        /// Events outside of the range that rules ask to read change nothing.
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

        /// Longer buffers and more events block no less time.
        #[test]
        fn longer_buffers_and_more_events_block_more(
            (rules, window, blocks) in rules_window_blocks(), before in 0..=30i64, after in 0..=30i64,
        ) {
            let more = |buffer: SignedDuration, by| SignedDuration::micros(buffer.as_micros() + by * 60_000_000);
            let (before, after) = (more(rules.buffer_before, before), more(rules.buffer_after, after));
            let longer = rules.clone().with_buffers(before, after).unwrap();
            let fewer: BusySet = blocks.iter().skip(1).copied().collect();
            let taken = rules.apply(&fewer, window);
            let more = longer.apply(&BusySet::from_unsorted(blocks), window);
            prop_assert_eq!(taken.union(&more), more);
        }
    }
}
