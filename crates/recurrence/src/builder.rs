//! Builds a rule from typed parts, and checks that they may be given together (RFC 5545 section 3.3.10).

use kalends_time::{CivilDateTime, CivilTime, SignedDuration, Timestamp};

use crate::error::RuleError;
use crate::limits::{MAX_COUNT, MAX_INTERVAL};
use crate::rule::{ByDay, End, Frequency, Part, Rule, Until};
use crate::sets::{Place, Places};
use crate::{Weekday, WeekdayNum};

/// Builds a [`Rule`] from its parts. Lists add to what was given before; the other parts replace it.
///
/// ```
/// use kalends_recurrence::{Frequency, Rule, Weekday};
///
/// let rule = Rule::builder(Frequency::Daily).interval(2).by_hour([9, 17]).by_minute([30]).count(20).build()?;
/// assert_eq!(rule.to_string(), "FREQ=DAILY;INTERVAL=2;BYHOUR=9,17;BYMINUTE=30;COUNT=20");
///
/// let error = Rule::builder(Frequency::Monthly).by_month_day([32]).build().unwrap_err();
/// assert_eq!(error.to_string(), r#"BYMONTHDAY must be numbers from 1 to 31 or -31 to -1, separated by commas, got "32""#);
/// # Ok::<(), kalends_recurrence::RuleError>(())
/// ```
#[derive(Debug, Clone)]
#[must_use = "a builder does nothing until `build` is called"]
pub struct RuleBuilder {
    rule: Rule,
    /// The first value that no rule can have.
    refused: Option<RuleError>,
    count: Option<u32>,
    until: Option<Until>,
}

impl Rule {
    /// Builds a rule from its parts. [`RuleBuilder`] has an example.
    pub fn builder(frequency: Frequency) -> RuleBuilder {
        let rule = Self {
            frequency,
            interval: 1,
            months: 0,
            weeks: Places::NONE,
            year_days: Places::NONE,
            month_days: Places::NONE,
            days: ByDay::NONE,
            hours: 0,
            minutes: 0,
            seconds: 0,
            positions: Places::NONE,
            week_start: Weekday::Monday,
            end: End::Never,
        };
        RuleBuilder { rule, refused: None, count: None, until: None }
    }

    /// A builder with the parts of this rule, to change some of them.
    ///
    /// ```
    /// use kalends_recurrence::Rule;
    ///
    /// let rule: Rule = "FREQ=DAILY;COUNT=3".parse()?;
    /// assert_eq!(rule.to_builder().without_end().interval(2).build()?.to_string(), "FREQ=DAILY;INTERVAL=2");
    /// # Ok::<(), kalends_recurrence::RuleError>(())
    /// ```
    pub fn to_builder(&self) -> RuleBuilder {
        RuleBuilder { rule: self.clone(), refused: None, count: self.count(), until: self.until() }
    }
}

impl RuleBuilder {
    /// `INTERVAL`: 1 to [`MAX_INTERVAL`].
    ///
    /// ```
    /// use kalends_recurrence::{Frequency, Rule};
    ///
    /// assert_eq!(Rule::builder(Frequency::Weekly).interval(2).build()?.to_string(), "FREQ=WEEKLY;INTERVAL=2");
    /// assert!(Rule::builder(Frequency::Weekly).interval(0).build().is_err());
    /// # Ok::<(), kalends_recurrence::RuleError>(())
    /// ```
    pub fn interval(mut self, interval: u32) -> Self {
        self.require((1..=MAX_INTERVAL).contains(&interval), Part::Interval, &interval, || whole(MAX_INTERVAL));
        self.rule.interval = interval;
        self
    }

    /// `BYMONTH`: 1 to 12.
    ///
    /// ```
    /// use kalends_recurrence::{Frequency, Rule};
    ///
    /// let summer = Rule::builder(Frequency::Daily).by_month(6..=8).build()?;
    /// assert_eq!(summer.to_string(), "FREQ=DAILY;BYMONTH=6,7,8");
    /// # Ok::<(), kalends_recurrence::RuleError>(())
    /// ```
    pub fn by_month(mut self, months: impl IntoIterator<Item = u8>) -> Self {
        for month in months {
            if self.require((1..=12).contains(&month), Part::ByMonth, &month, || MONTHS.to_owned()) {
                self.rule.months |= 1 << (month - 1);
            }
        }
        self
    }

    /// `BYWEEKNO`: numbers of ISO weeks, 1 to 53 or -53 to -1. Only under `YEARLY`.
    ///
    /// ```
    /// use kalends_recurrence::{Frequency, Rule, Weekday};
    ///
    /// let rule = Rule::builder(Frequency::Yearly).by_week_number([1, -1]).by_day([Weekday::Monday]).build()?;
    /// assert_eq!(rule.to_string(), "FREQ=YEARLY;BYWEEKNO=1,-1;BYDAY=MO");
    /// # Ok::<(), kalends_recurrence::RuleError>(())
    /// ```
    pub fn by_week_number(mut self, weeks: impl IntoIterator<Item = i8>) -> Self {
        for week in weeks {
            let place = self.place(Part::ByWeekNo, week, 53);
            place.into_iter().for_each(|place| self.rule.weeks.insert(place));
        }
        self
    }

    /// `BYYEARDAY`: 1 to 366 or -366 to -1. Not under `DAILY`, `WEEKLY` and `MONTHLY`.
    ///
    /// ```
    /// use kalends_recurrence::{Frequency, Rule};
    ///
    /// let last_day = Rule::builder(Frequency::Yearly).by_year_day([-1]);
    /// assert_eq!(last_day.build()?.to_string(), "FREQ=YEARLY;BYYEARDAY=-1");
    /// assert!(Rule::builder(Frequency::Monthly).by_year_day([100]).build().is_err());
    /// # Ok::<(), kalends_recurrence::RuleError>(())
    /// ```
    pub fn by_year_day(mut self, days: impl IntoIterator<Item = i16>) -> Self {
        for day in days {
            let place = self.place(Part::ByYearDay, day, 366);
            place.into_iter().for_each(|place| self.rule.year_days.insert(place));
        }
        self
    }

    /// `BYMONTHDAY`: 1 to 31 or -31 to -1. Not under `WEEKLY`.
    ///
    /// ```
    /// use kalends_recurrence::{Frequency, Rule};
    ///
    /// let rule = Rule::builder(Frequency::Monthly).by_month_day([15, -1]).build()?;
    /// assert_eq!(rule.to_string(), "FREQ=MONTHLY;BYMONTHDAY=15,-1");
    /// # Ok::<(), kalends_recurrence::RuleError>(())
    /// ```
    pub fn by_month_day(mut self, days: impl IntoIterator<Item = i8>) -> Self {
        for day in days {
            let place = self.place(Part::ByMonthDay, day, 31);
            place.into_iter().for_each(|place| self.rule.month_days.insert(place));
        }
        self
    }

    /// `BYDAY`: days of the week, under `MONTHLY` and `YEARLY` also with ordinals from 1 to 53 or -53 to -1.
    ///
    /// ```
    /// use kalends_recurrence::{Frequency, Rule, Weekday, WeekdayNum};
    ///
    /// let weekdays = Rule::builder(Frequency::Weekly).by_day([Weekday::Tuesday, Weekday::Thursday]).build()?;
    /// assert_eq!(weekdays.to_string(), "FREQ=WEEKLY;BYDAY=TU,TH");
    /// let third_monday = Rule::builder(Frequency::Monthly).by_day([WeekdayNum::nth(3, Weekday::Monday)]).build()?;
    /// assert_eq!(third_monday.to_string(), "FREQ=MONTHLY;BYDAY=3MO");
    /// # Ok::<(), kalends_recurrence::RuleError>(())
    /// ```
    pub fn by_day(mut self, days: impl IntoIterator<Item = impl Into<WeekdayNum>>) -> Self {
        for day in days {
            let WeekdayNum { ordinal, weekday } = day.into();
            let bit = 1 << weekday.number();
            let Some(ordinal) = ordinal else {
                self.rule.days.every |= bit;
                continue;
            };
            let place = Place::numbered(ordinal.into()).filter(|place| place.number <= YEARS_WEEKS);
            let (got, frequency) = (WeekdayNum::nth(ordinal, weekday), self.rule.frequency);
            if self.require(place.is_some(), Part::ByDay, &got, || ordinals(&weekdays(frequency)))
                && let (Some(place), Some(places)) =
                    (place, self.rule.days.ordinals.get_mut(usize::from(weekday.number())))
            {
                self.rule.days.numbered |= bit;
                places.insert(place);
            }
        }
        self
    }

    /// `BYHOUR`: 0 to 23. [`RuleBuilder`] has an example.
    pub fn by_hour(mut self, hours: impl IntoIterator<Item = u8>) -> Self {
        for hour in hours {
            if self.require(hour <= 23, Part::ByHour, &hour, || up_to("hours", 23)) {
                self.rule.hours |= 1 << hour;
            }
        }
        self
    }

    /// `BYMINUTE`: 0 to 59. [`RuleBuilder`] has an example.
    pub fn by_minute(mut self, minutes: impl IntoIterator<Item = u8>) -> Self {
        for minute in minutes {
            if self.require(minute <= 59, Part::ByMinute, &minute, || up_to("minutes", 59)) {
                self.rule.minutes |= 1 << minute;
            }
        }
        self
    }

    /// `BYSECOND`: 0 to 60. A leap second (60) is the second 59 (section 3.3.12).
    ///
    /// ```
    /// use kalends_recurrence::{Frequency, Rule};
    ///
    /// let rule = Rule::builder(Frequency::Minutely).by_second([0, 30]).build()?;
    /// assert_eq!(rule.to_string(), "FREQ=MINUTELY;BYSECOND=0,30");
    /// # Ok::<(), kalends_recurrence::RuleError>(())
    /// ```
    pub fn by_second(mut self, seconds: impl IntoIterator<Item = u8>) -> Self {
        for second in seconds {
            if self.require(second <= 60, Part::BySecond, &second, || up_to("seconds", 60)) {
                self.rule.seconds |= 1 << second.min(59);
            }
        }
        self
    }

    /// `BYSETPOS`: 1 to 366 or -366 to -1. Only together with another `BY` part.
    ///
    /// ```
    /// use kalends_recurrence::{Frequency, Rule, Weekday};
    ///
    /// // The last working day of a month.
    /// let working_days = [Weekday::Monday, Weekday::Tuesday, Weekday::Wednesday, Weekday::Thursday, Weekday::Friday];
    /// let rule = Rule::builder(Frequency::Monthly).by_day(working_days).by_position([-1]).build()?;
    /// assert_eq!(rule.to_string(), "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1");
    /// # Ok::<(), kalends_recurrence::RuleError>(())
    /// ```
    pub fn by_position(mut self, positions: impl IntoIterator<Item = i16>) -> Self {
        for position in positions {
            let place = self.place(Part::BySetPos, position, 366);
            place.into_iter().for_each(|place| self.rule.positions.insert(place));
        }
        self
    }

    /// `WKST`: the day on which weeks begin.
    ///
    /// ```
    /// use kalends_recurrence::{Frequency, Rule, Weekday};
    ///
    /// let rule = Rule::builder(Frequency::Weekly).interval(2).week_start(Weekday::Sunday).build()?;
    /// assert_eq!(rule.to_string(), "FREQ=WEEKLY;INTERVAL=2;WKST=SU");
    /// # Ok::<(), kalends_recurrence::RuleError>(())
    /// ```
    pub const fn week_start(mut self, day: Weekday) -> Self {
        self.rule.week_start = day;
        self
    }

    /// `COUNT`: the number of occurrences, including the first; 1 to [`MAX_COUNT`]. Not together with `UNTIL`.
    /// [`RuleBuilder`] has an example.
    pub fn count(mut self, count: u32) -> Self {
        self.require((1..=MAX_COUNT).contains(&count), Part::Count, &count, || whole(MAX_COUNT));
        self.count = Some(count);
        self
    }

    /// `UNTIL`: the latest time at which an occurrence may start. A fraction of a second is cut off. Not together with
    /// `COUNT`.
    ///
    /// ```
    /// use kalends_recurrence::{CivilDate, Frequency, Rule};
    ///
    /// let end = CivilDate::new(2026, 12, 31).ok_or("no such date")?;
    /// let daily = Rule::builder(Frequency::Daily).until(end);
    /// assert_eq!(daily.clone().build()?.to_string(), "FREQ=DAILY;UNTIL=20261231");
    /// assert!(daily.count(3).build().is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn until(mut self, until: impl Into<Until>) -> Self {
        let until = whole_second(until.into());
        let (year, ..) = match until {
            Until::Timestamp(until) => until.utc_date().year_month_day(),
            Until::Date(date) | Until::Local(CivilDateTime { date, .. }) => date.year_month_day(),
        };
        self.require((0..=9_999).contains(&year), Part::Until, &year, || "in the years 0 to 9999".to_owned());
        self.until = Some(until);
        self
    }

    /// Removes `COUNT` and `UNTIL`. [`Rule::to_builder`] has an example.
    pub const fn without_end(mut self) -> Self {
        (self.count, self.until) = (None, None);
        self
    }

    /// The rule. [`RuleBuilder`] has an example.
    ///
    /// # Errors
    /// [`RuleError`] for the first value outside its range, and for parts that must not be given together.
    pub fn build(self) -> Result<Rule, RuleError> {
        let Self { mut rule, refused, count, until } = self;
        if let Some(refused) = refused {
            return Err(refused);
        }
        rule.end = match (count, until) {
            (None, None) => End::Never,
            (Some(count), None) => End::Count(count),
            (None, Some(until)) => End::Until(until),
            (Some(_), Some(_)) => return Err(RuleError::CountAndUntil),
        };
        check_together(&rule)?;
        Ok(rule)
    }

    /// Whether the value is in the range of its part. If it is the first that is not, it is remembered.
    fn require(&mut self, holds: bool, part: Part, got: &dyn ToString, allowed: impl FnOnce() -> String) -> bool {
        if !holds && self.refused.is_none() {
            self.refused = Some(RuleError::Value { part, allowed: allowed(), got: got.to_string() });
        }
        holds
    }

    fn place(&mut self, part: Part, number: impl Into<i64> + Copy, most: u16) -> Option<Place> {
        let place = Place::numbered(number.into()).filter(|place| place.number <= most);
        self.require(place.is_some(), part, &number.into(), || places(most));
        place
    }
}

/// The largest ordinal of a weekday within a year.
pub(crate) const YEARS_WEEKS: u16 = 53;

/// The largest ordinal of a weekday within a month.
const MONTHS_WEEKS: u16 = 5;

pub(crate) const MONTHS: &str = "months from 1 to 12, separated by commas";

pub(crate) fn whole(most: u32) -> String {
    format!("a whole number from 1 to {most}")
}

pub(crate) fn places(most: u16) -> String {
    format!("numbers from 1 to {most} or -{most} to -1, separated by commas")
}

pub(crate) fn up_to(what: &str, most: u8) -> String {
    format!("{what} from 0 to {most}, separated by commas")
}

/// What `BYDAY` takes under a frequency.
pub(crate) fn weekdays(frequency: Frequency) -> String {
    let ordinal = match frequency {
        Frequency::Monthly | Frequency::Yearly => ", each with an optional ordinal before it",
        _ => "",
    };
    format!("weekdays ({}){ordinal}, separated by commas", Weekday::ALL.map(Weekday::as_str).join(", "))
}

pub(crate) fn ordinals(weekdays: &str) -> String {
    format!("{weekdays}, ordinals from 1 to {YEARS_WEEKS} or -{YEARS_WEEKS} to -1")
}

fn whole_second(until: Until) -> Until {
    match until {
        Until::Timestamp(until) => {
            Until::Timestamp(Timestamp::EPOCH + SignedDuration::seconds(until.as_unix_seconds()))
        }
        Until::Local(CivilDateTime { date, time }) => {
            let (hour, minute, second) = time.hour_minute_second();
            Until::Local(date.at(CivilTime::new(hour, minute, second).unwrap_or(time)))
        }
        date @ Until::Date(_) => date,
    }
}

/// Checks the parts against the table of section 3.3.10.
fn check_together(rule: &Rule) -> Result<(), RuleError> {
    let frequency = rule.frequency;
    let refuse = |part, instead| Err(RuleError::Frequency { part, frequency, instead });
    if !rule.weeks.is_empty() && frequency != Frequency::Yearly {
        return refuse(Part::ByWeekNo, "YEARLY");
    }
    if !rule.year_days.is_empty() && matches!(frequency, Frequency::Daily | Frequency::Weekly | Frequency::Monthly) {
        return refuse(Part::ByYearDay, "YEARLY, HOURLY, MINUTELY or SECONDLY");
    }
    if !rule.month_days.is_empty() && frequency == Frequency::Weekly {
        return refuse(Part::ByMonthDay, "DAILY, MONTHLY or YEARLY");
    }
    if let Some(numbered) = rule.days().find(|day| day.ordinal.is_some()) {
        if !matches!(frequency, Frequency::Monthly | Frequency::Yearly) {
            return Err(RuleError::OrdinalFrequency { frequency, got: numbered.to_string() });
        }
        if !rule.weeks.is_empty() {
            return Err(RuleError::OrdinalOfWeek { got: numbered.to_string() });
        }
        let within_month = frequency == Frequency::Monthly || rule.months != 0;
        let beyond =
            |day: &WeekdayNum| day.ordinal.is_some_and(|ordinal| u16::from(ordinal.unsigned_abs()) > MONTHS_WEEKS);
        if let Some(numbered) = rule.days().find(|day| within_month && beyond(day)) {
            return Err(RuleError::OrdinalOfMonth { got: numbered.to_string() });
        }
    }
    let chooses_from = !rule.days.is_empty()
        || !rule.month_days.is_empty()
        || !rule.year_days.is_empty()
        || !rule.weeks.is_empty()
        || rule.months != 0
        || rule.hours != 0
        || rule.minutes != 0
        || rule.seconds != 0;
    if !rule.positions.is_empty() && !chooses_from {
        return Err(RuleError::PositionAlone);
    }
    Ok(())
}
