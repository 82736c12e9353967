//! A rule as it is written: its parts and their canonical text.

use std::fmt;

use kalends_time::{CivilDate, CivilDateTime, Timestamp, Zone};

use crate::sets::{Place, Places, bits};
use crate::{Weekday, WeekdayNum};

/// How often a rule repeats: the value of `FREQ`.
///
/// ```
/// use kalends_recurrence::{Frequency, Rule};
///
/// let rule: Rule = "FREQ=YEARLY".parse()?;
/// assert_eq!(rule.frequency(), Frequency::Yearly);
/// assert!(Frequency::Hourly < Frequency::Daily);
/// # Ok::<(), kalends_recurrence::RuleError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Frequency {
    /// Every `INTERVAL` seconds.
    Secondly,
    /// Every `INTERVAL` minutes.
    Minutely,
    /// Every `INTERVAL` hours.
    Hourly,
    /// Every `INTERVAL` days.
    Daily,
    /// Every `INTERVAL` weeks.
    Weekly,
    /// Every `INTERVAL` months.
    Monthly,
    /// Every `INTERVAL` years.
    Yearly,
}

impl Frequency {
    /// Every frequency, the most frequent first.
    pub const ALL: [Self; 7] =
        [Self::Secondly, Self::Minutely, Self::Hourly, Self::Daily, Self::Weekly, Self::Monthly, Self::Yearly];

    /// The written form, such as `WEEKLY`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Secondly => "SECONDLY",
            Self::Minutely => "MINUTELY",
            Self::Hourly => "HOURLY",
            Self::Daily => "DAILY",
            Self::Weekly => "WEEKLY",
            Self::Monthly => "MONTHLY",
            Self::Yearly => "YEARLY",
        }
    }

    /// Whether a rule can have several periods in one day.
    ///
    /// ```
    /// use kalends_recurrence::Frequency;
    ///
    /// assert!(Frequency::Hourly.is_shorter_than_a_day());
    /// assert!(!Frequency::Daily.is_shorter_than_a_day());
    /// ```
    pub const fn is_shorter_than_a_day(self) -> bool {
        matches!(self, Self::Secondly | Self::Minutely | Self::Hourly)
    }
}

impl fmt::Display for Frequency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The latest time at which an occurrence may start: the value of `UNTIL`.
///
/// ```
/// use kalends_recurrence::{CivilDate, Rule, Timestamp, Until};
///
/// let date: CivilDate = "2026-12-31".parse()?;
/// assert_eq!("FREQ=DAILY;UNTIL=20261231".parse::<Rule>()?.until(), Some(Until::Date(date)));
/// let at: Timestamp = "2026-12-31T09:00:00Z".parse()?;
/// assert_eq!(Until::from(at).to_string(), "20261231T090000Z");
/// assert_eq!(Until::from(date.midnight()).to_string(), "20261231T000000");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Until {
    /// This time, inclusive.
    Timestamp(Timestamp),
    /// The end of this date in the zone of the series.
    Date(CivilDate),
    /// This time on the wall clock of the series, inclusive. A fraction of a second is cut off.
    Local(CivilDateTime),
}

impl From<Timestamp> for Until {
    fn from(until: Timestamp) -> Self {
        Self::Timestamp(until)
    }
}

impl From<CivilDate> for Until {
    fn from(until: CivilDate) -> Self {
        Self::Date(until)
    }
}

impl From<CivilDateTime> for Until {
    fn from(until: CivilDateTime) -> Self {
        Self::Local(until)
    }
}

impl fmt::Display for Until {
    /// The form of RFC 5545: `20261231T090000Z`, `20261231` or `20261231T090000`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (date, time) = match self {
            Self::Date(date) => (*date, None),
            Self::Timestamp(until) => {
                let civil = Zone::UTC.to_civil(*until);
                (civil.date, Some((civil.time, "Z")))
            }
            Self::Local(until) => (until.date, Some((until.time, ""))),
        };
        let (year, month, day) = date.year_month_day();
        write!(f, "{year:04}{month:02}{day:02}")?;
        let Some((time, mark)) = time else { return Ok(()) };
        let (hour, minute, second) = time.hour_minute_second();
        write!(f, "T{hour:02}{minute:02}{second:02}{mark}")
    }
}

/// How a series ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum End {
    Never,
    Count(u32),
    Until(Until),
}

/// A part of a rule.
///
/// ```
/// use kalends_recurrence::Part;
///
/// assert_eq!(Part::ALL[0], Part::Freq);
/// assert_eq!(Part::BySetPos.to_string(), "BYSETPOS");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Part {
    /// `FREQ`
    Freq,
    /// `INTERVAL`
    Interval,
    /// `BYMONTH`
    ByMonth,
    /// `BYWEEKNO`
    ByWeekNo,
    /// `BYYEARDAY`
    ByYearDay,
    /// `BYMONTHDAY`
    ByMonthDay,
    /// `BYDAY`
    ByDay,
    /// `BYHOUR`
    ByHour,
    /// `BYMINUTE`
    ByMinute,
    /// `BYSECOND`
    BySecond,
    /// `BYSETPOS`
    BySetPos,
    /// `WKST`
    Wkst,
    /// `COUNT`
    Count,
    /// `UNTIL`
    Until,
}

impl Part {
    /// Every part, in the order of the canonical text.
    pub const ALL: [Self; 14] = [
        Self::Freq,
        Self::Interval,
        Self::ByMonth,
        Self::ByWeekNo,
        Self::ByYearDay,
        Self::ByMonthDay,
        Self::ByDay,
        Self::ByHour,
        Self::ByMinute,
        Self::BySecond,
        Self::BySetPos,
        Self::Wkst,
        Self::Count,
        Self::Until,
    ];

    /// The name before the equals sign.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Freq => "FREQ",
            Self::Interval => "INTERVAL",
            Self::ByMonth => "BYMONTH",
            Self::ByWeekNo => "BYWEEKNO",
            Self::ByYearDay => "BYYEARDAY",
            Self::ByMonthDay => "BYMONTHDAY",
            Self::ByDay => "BYDAY",
            Self::ByHour => "BYHOUR",
            Self::ByMinute => "BYMINUTE",
            Self::BySecond => "BYSECOND",
            Self::BySetPos => "BYSETPOS",
            Self::Wkst => "WKST",
            Self::Count => "COUNT",
            Self::Until => "UNTIL",
        }
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// `BYDAY`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ByDay {
    /// Weekdays without an ordinal; bit 0 is Monday.
    pub(crate) every: u8,
    /// Weekdays with an ordinal; bit 0 is Monday.
    pub(crate) numbered: u8,
    /// The ordinals of each weekday.
    pub(crate) ordinals: [Places<1>; 7],
}

impl ByDay {
    pub(crate) const NONE: Self = Self { every: 0, numbered: 0, ordinals: [Places::NONE; 7] };

    pub(crate) const fn is_empty(&self) -> bool {
        self.every | self.numbered == 0
    }
}

/// A recurrence rule of RFC 5545 (section 3.3.10): when a series repeats, and how it ends.
///
/// A rule is built from parts ([`Rule::builder`]) or parsed from text ([`Rule::parse`], [`std::str::FromStr`]). It is
/// written as its canonical text ([`fmt::Display`]): upper case, with the parts in the order of [`Part::ALL`], values
/// sorted and without duplicates, and without parts that only state a default. Two rules are equal if their canonical
/// texts are, and parsing a canonical text gives the same rule. A rule alone generates nothing;
/// [`Series`](crate::Series) ties it to a first start and a zone.
///
/// It is plain data of a fixed size, with nothing on the heap.
///
/// ```
/// use kalends_recurrence::{Frequency, Rule, Weekday, WeekdayNum};
///
/// let rule: Rule = "freq=monthly;count=6;byday=-1FR,+1mo;interval=1".parse()?;
/// assert_eq!(rule.to_string(), "FREQ=MONTHLY;BYDAY=1MO,-1FR;COUNT=6");
///
/// let built = Rule::builder(Frequency::Monthly)
///     .by_day([WeekdayNum::last(Weekday::Friday), WeekdayNum::nth(1, Weekday::Monday)])
///     .count(6)
///     .build()?;
/// assert_eq!(built, rule);
///
/// let error = "FREQ=WEEKLY;BYMONTHDAY=9".parse::<Rule>().unwrap_err();
/// assert_eq!(error.to_string(), "BYMONTHDAY must not be given under FREQ=WEEKLY (use DAILY, MONTHLY or YEARLY)");
/// # Ok::<(), kalends_recurrence::RuleError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Rule {
    pub(crate) frequency: Frequency,
    /// 1 to [`MAX_INTERVAL`](crate::MAX_INTERVAL).
    pub(crate) interval: u32,
    /// Bit 0 is January. No bits mean every month.
    pub(crate) months: u16,
    pub(crate) weeks: Places<1>,
    pub(crate) year_days: Places<6>,
    pub(crate) month_days: Places<1>,
    pub(crate) days: ByDay,
    /// Bit 0 is the hour after midnight. No bits mean that the rule does not name hours; so do the next two.
    pub(crate) hours: u32,
    pub(crate) minutes: u64,
    pub(crate) seconds: u64,
    pub(crate) positions: Places<6>,
    pub(crate) week_start: Weekday,
    pub(crate) end: End,
}

impl Rule {
    /// `FREQ`.
    pub const fn frequency(&self) -> Frequency {
        self.frequency
    }

    /// `INTERVAL`, 1 if the rule does not have it.
    pub const fn interval(&self) -> u32 {
        self.interval
    }

    /// `BYMONTH`: months from 1 to 12, ascending. Empty if the rule does not have it, as are the other lists.
    ///
    /// ```
    /// use kalends_recurrence::Rule;
    ///
    /// let rule: Rule = "FREQ=DAILY;BYMONTH=12,1;BYHOUR=17,9;BYMINUTE=30;BYSECOND=0".parse()?;
    /// assert!(rule.months().eq([1, 12]));
    /// assert!(rule.hours().eq([9, 17]) && rule.minutes().eq([30]) && rule.seconds().eq([0]));
    /// assert_eq!(rule.week_numbers().count(), 0);
    /// # Ok::<(), kalends_recurrence::RuleError>(())
    /// ```
    pub fn months(&self) -> impl Iterator<Item = u8> + use<> {
        bits(self.months.into()).map(|month| byte(month + 1))
    }

    /// `BYWEEKNO`: numbers of weeks, from 1 up and then from -53 up to -1.
    ///
    /// ```
    /// use kalends_recurrence::Rule;
    ///
    /// let rule: Rule = "FREQ=YEARLY;BYWEEKNO=-1,20".parse()?;
    /// assert!(rule.week_numbers().eq([20, -1]));
    /// # Ok::<(), kalends_recurrence::RuleError>(())
    /// ```
    pub fn week_numbers(&self) -> impl Iterator<Item = i8> + '_ {
        self.weeks.iter().map(small)
    }

    /// `BYYEARDAY`: days of the year, from 1 up and then from -366 up to -1.
    ///
    /// ```
    /// use kalends_recurrence::Rule;
    ///
    /// let rule: Rule = "FREQ=YEARLY;BYYEARDAY=-1,100".parse()?;
    /// assert!(rule.year_days().eq([100, -1]));
    /// # Ok::<(), kalends_recurrence::RuleError>(())
    /// ```
    pub fn year_days(&self) -> impl Iterator<Item = i16> + '_ {
        self.year_days.iter().map(Place::signed)
    }

    /// `BYMONTHDAY`: days of the month, from 1 up and then from -31 up to -1.
    ///
    /// ```
    /// use kalends_recurrence::Rule;
    ///
    /// let rule: Rule = "FREQ=MONTHLY;BYMONTHDAY=-1,15,1".parse()?;
    /// assert!(rule.month_days().eq([1, 15, -1]));
    /// # Ok::<(), kalends_recurrence::RuleError>(())
    /// ```
    pub fn month_days(&self) -> impl Iterator<Item = i8> + '_ {
        self.month_days.iter().map(small)
    }

    /// `BYDAY`: days of the week without an ordinal, then those with one by ordinal.
    ///
    /// ```
    /// use kalends_recurrence::{Rule, Weekday, WeekdayNum};
    ///
    /// let rule: Rule = "FREQ=MONTHLY;BYDAY=-1FR,1MO".parse()?;
    /// assert!(rule.days().eq([WeekdayNum::nth(1, Weekday::Monday), WeekdayNum::last(Weekday::Friday)]));
    /// # Ok::<(), kalends_recurrence::RuleError>(())
    /// ```
    pub fn days(&self) -> impl Iterator<Item = WeekdayNum> + '_ {
        let days = &self.days;
        let every = Weekday::ALL.into_iter().filter(|day| days.every >> day.number() & 1 == 1);
        let mut union = Places::<1>::NONE;
        days.ordinals.iter().flat_map(Places::iter).for_each(|place| union.insert(place));
        let places: Vec<Place> = union.iter().collect();
        let numbered = places.into_iter().flat_map(|place| {
            let has = move |ordinals: &Places<1>| ordinals.iter().any(|ordinal| ordinal == place);
            let named = Weekday::ALL.into_iter().zip(&days.ordinals).filter(move |(_, ordinals)| has(ordinals));
            named.map(move |(weekday, _)| WeekdayNum::nth(small(place), weekday))
        });
        every.map(WeekdayNum::from).chain(numbered)
    }

    /// `BYHOUR`: hours from 0 to 23, ascending. [`months`](Self::months) has an example.
    pub fn hours(&self) -> impl Iterator<Item = u8> + use<> {
        bits(self.hours.into()).map(byte)
    }

    /// `BYMINUTE`: minutes from 0 to 59, ascending. [`months`](Self::months) has an example.
    pub fn minutes(&self) -> impl Iterator<Item = u8> + use<> {
        bits(self.minutes).map(byte)
    }

    /// `BYSECOND`: seconds from 0 to 59, ascending. A leap second (60) is the second 59 (section 3.3.12).
    /// [`months`](Self::months) has an example.
    pub fn seconds(&self) -> impl Iterator<Item = u8> + use<> {
        bits(self.seconds).map(byte)
    }

    /// `BYSETPOS`: positions in the set of a period, from 1 up and then from -366 up to -1.
    ///
    /// ```
    /// use kalends_recurrence::Rule;
    ///
    /// let rule: Rule = "FREQ=MONTHLY;BYDAY=MO,TU;BYSETPOS=-1,2".parse()?;
    /// assert!(rule.positions().eq([2, -1]));
    /// # Ok::<(), kalends_recurrence::RuleError>(())
    /// ```
    pub fn positions(&self) -> impl Iterator<Item = i16> + '_ {
        self.positions.iter().map(Place::signed)
    }

    /// `WKST`: the day on which weeks begin. Monday if the rule does not have it.
    pub const fn week_start(&self) -> Weekday {
        self.week_start
    }

    /// `COUNT`: the number of occurrences, including the first.
    pub const fn count(&self) -> Option<u32> {
        match self.end {
            End::Count(count) => Some(count),
            End::Never | End::Until(_) => None,
        }
    }

    /// `UNTIL`.
    pub const fn until(&self) -> Option<Until> {
        match self.end {
            End::Until(until) => Some(until),
            End::Never | End::Count(_) => None,
        }
    }

    /// Whether the rule has an end, by `COUNT` or `UNTIL`.
    ///
    /// ```
    /// use kalends_recurrence::Rule;
    ///
    /// assert!("FREQ=DAILY;COUNT=3".parse::<Rule>()?.is_bounded());
    /// assert!(!"FREQ=DAILY".parse::<Rule>()?.is_bounded());
    /// # Ok::<(), kalends_recurrence::RuleError>(())
    /// ```
    pub const fn is_bounded(&self) -> bool {
        !matches!(self.end, End::Never)
    }

    /// Whether the rule names times of day: `BYHOUR`, `BYMINUTE`, `BYSECOND` or a frequency shorter than a day. If not,
    /// every occurrence has the first one's.
    ///
    /// ```
    /// use kalends_recurrence::Rule;
    ///
    /// assert!("FREQ=HOURLY".parse::<Rule>()?.names_times());
    /// assert!("FREQ=WEEKLY;BYHOUR=9".parse::<Rule>()?.names_times());
    /// assert!(!"FREQ=WEEKLY;BYDAY=MO".parse::<Rule>()?.names_times());
    /// # Ok::<(), kalends_recurrence::RuleError>(())
    /// ```
    pub const fn names_times(&self) -> bool {
        self.frequency.is_shorter_than_a_day() || self.hours != 0 || self.minutes != 0 || self.seconds != 0
    }
}

/// The bits of a rule's parts are numbers below 64.
fn byte(bit: u32) -> u8 {
    u8::try_from(bit).unwrap_or(u8::MAX)
}

/// Weeks, days of a month and ordinals are at most 53.
fn small(place: Place) -> i8 {
    i8::try_from(place.signed()).unwrap_or(i8::MAX)
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", Part::Freq, self.frequency)?;
        if self.interval != 1 {
            write!(f, ";{}={}", Part::Interval, self.interval)?;
        }
        list(f, Part::ByMonth, self.months())?;
        list(f, Part::ByWeekNo, self.week_numbers())?;
        list(f, Part::ByYearDay, self.year_days())?;
        list(f, Part::ByMonthDay, self.month_days())?;
        list(f, Part::ByDay, self.days())?;
        list(f, Part::ByHour, self.hours())?;
        list(f, Part::ByMinute, self.minutes())?;
        list(f, Part::BySecond, self.seconds())?;
        list(f, Part::BySetPos, self.positions())?;
        if self.week_start != Weekday::Monday {
            write!(f, ";{}={}", Part::Wkst, self.week_start)?;
        }
        match self.end {
            End::Never => Ok(()),
            End::Count(count) => write!(f, ";{}={count}", Part::Count),
            End::Until(until) => write!(f, ";{}={until}", Part::Until),
        }
    }
}

/// Writes `;PART=a,b,c`, or nothing if there is no value.
fn list(f: &mut fmt::Formatter<'_>, part: Part, values: impl Iterator<Item = impl fmt::Display>) -> fmt::Result {
    for (index, value) in values.enumerate() {
        if index == 0 {
            write!(f, ";{part}={value}")?;
        } else {
            write!(f, ",{value}")?;
        }
    }
    Ok(())
}
