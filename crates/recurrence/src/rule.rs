//! A rule as it is written: its parts and their canonical text.

use std::fmt;

use kalends_kernel::{CivilDate, Timestamp};

use crate::sets::{Place, Places, bits};

/// How often a rule repeats: the value of `FREQ`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Frequency {
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
    pub const ALL: [Self; 4] = [Self::Daily, Self::Weekly, Self::Monthly, Self::Yearly];

    /// The written form, such as `WEEKLY`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Daily => "DAILY",
            Self::Weekly => "WEEKLY",
            Self::Monthly => "MONTHLY",
            Self::Yearly => "YEARLY",
        }
    }
}

impl fmt::Display for Frequency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The latest time at which an occurrence may start: the value of `UNTIL`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Until {
    /// This time, inclusive.
    Timestamp(Timestamp),
    /// The end of this date in the zone of the series.
    Date(CivilDate),
}

impl fmt::Display for Until {
    /// The form of RFC 5545: `20261231T090000Z` or `20261231`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (date, second) = match self {
            Self::Date(date) => (*date, None),
            Self::Timestamp(instant) => (instant.utc_date(), Some(instant.as_unix_seconds().rem_euclid(86_400))),
        };
        let (year, month, day) = date.year_month_day();
        write!(f, "{year:04}{month:02}{day:02}")?;
        match second {
            Some(second) => write!(f, "T{:02}{:02}{:02}Z", second / 3_600, second / 60 % 60, second % 60),
            None => Ok(()),
        }
    }
}

/// How a series ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum End {
    Never,
    Count(u16),
    Until(Until),
}

/// A part of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Part {
    /// `FREQ`
    Freq,
    /// `INTERVAL`
    Interval,
    /// `BYMONTH`
    ByMonth,
    /// `BYMONTHDAY`
    ByMonthDay,
    /// `BYDAY`
    ByDay,
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
    /// Every part of the subset, in the order of the canonical text.
    pub const ALL: [Self; 9] = [
        Self::Freq,
        Self::Interval,
        Self::ByMonth,
        Self::ByMonthDay,
        Self::ByDay,
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
            Self::ByMonthDay => "BYMONTHDAY",
            Self::ByDay => "BYDAY",
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

/// The days of the week as `BYDAY` and `WKST` write them, Monday first.
pub(crate) const WEEKDAYS: [&str; 7] = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"];

/// `BYDAY`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
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

/// A recurrence rule of the supported subset: on which days a series falls, and how it ends.
///
/// A rule is parsed from text ([`Rule::parse`], [`std::str::FromStr`]) and written as its canonical text
/// ([`fmt::Display`]): upper case, with the parts in the order of [`Part::ALL`], values sorted and without
/// duplicates, and without parts that only state a default. Two rules are equal if their canonical texts are, and
/// parsing a canonical text gives the same rule. A rule alone generates nothing; [`Series`](crate::Series) ties it to
/// a first start and a zone.
///
/// It is plain data of a fixed size, with nothing on the heap.
///
/// ```
/// use kalends_recurrence::Rule;
///
/// let rule: Rule = "freq=monthly;count=6;byday=-1FR,+1mo;interval=1".parse()?;
/// assert_eq!(rule.to_string(), "FREQ=MONTHLY;BYDAY=1MO,-1FR;COUNT=6");
///
/// let error = "FREQ=DAILY;BYHOUR=9".parse::<Rule>().unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "BYHOUR is not supported; the parts are FREQ, INTERVAL, BYMONTH, BYMONTHDAY, BYDAY, BYSETPOS, WKST, COUNT, UNTIL",
/// );
/// # Ok::<(), kalends_recurrence::RuleError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Rule {
    pub(crate) frequency: Frequency,
    /// 1 to [`MAX_INTERVAL`](crate::MAX_INTERVAL).
    pub(crate) interval: u16,
    /// Bit 0 is January. No bits mean every month.
    pub(crate) months: u16,
    pub(crate) month_days: Places<1>,
    pub(crate) days: ByDay,
    pub(crate) positions: Places<6>,
    /// The day on which weeks begin; 0 is Monday.
    pub(crate) week_start: u8,
    pub(crate) end: End,
}

impl Rule {
    /// `FREQ`.
    pub const fn frequency(&self) -> Frequency {
        self.frequency
    }

    /// `INTERVAL`, 1 if the rule does not have it.
    pub const fn interval(&self) -> u16 {
        self.interval
    }

    /// `COUNT`: the number of occurrences, including the first.
    pub const fn count(&self) -> Option<u16> {
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
    pub const fn is_bounded(&self) -> bool {
        !matches!(self.end, End::Never)
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", Part::Freq, self.frequency)?;
        if self.interval != 1 {
            write!(f, ";{}={}", Part::Interval, self.interval)?;
        }
        list(f, Part::ByMonth, bits(self.months.into()).map(|month| month + 1))?;
        list(f, Part::ByMonthDay, self.month_days.iter())?;
        let every = bits(self.days.every.into()).filter_map(|day| weekday(day).map(|day| (None, day)));
        list(f, Part::ByDay, every.chain(numbered(&self.days)).map(Day))?;
        list(f, Part::BySetPos, self.positions.iter())?;
        if self.week_start != 0 {
            list(f, Part::Wkst, weekday(self.week_start.into()).into_iter())?;
        }
        match self.end {
            End::Never => Ok(()),
            End::Count(count) => write!(f, ";{}={count}", Part::Count),
            End::Until(until) => write!(f, ";{}={until}", Part::Until),
        }
    }
}

fn weekday(day: u32) -> Option<&'static str> {
    WEEKDAYS.get(usize::try_from(day).ok()?).copied()
}

/// The weekdays with ordinals, sorted by ordinal, then by weekday.
fn numbered(days: &ByDay) -> impl Iterator<Item = (Option<Place>, &'static str)> + '_ {
    let mut union = Places::<1>::NONE;
    days.ordinals.iter().flat_map(Places::iter).for_each(|place| union.insert(place));
    let places: Vec<Place> = union.iter().collect();
    places.into_iter().flat_map(|place| {
        let has = move |ordinals: &Places<1>| ordinals.iter().any(|ordinal| ordinal == place);
        let named = WEEKDAYS.iter().zip(&days.ordinals).filter(move |(_, ordinals)| has(ordinals));
        named.map(move |(name, _)| (Some(place), *name))
    })
}

struct Day((Option<Place>, &'static str));

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            (Some(place), name) => write!(f, "{place}{name}"),
            (None, name) => f.write_str(name),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", if self.from_end { "-" } else { "" }, self.number)
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
