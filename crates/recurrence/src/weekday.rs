//! The days of the week, as `BYDAY` and `WKST` contain them.

use std::fmt;

/// A day of the week.
///
/// ```
/// use kalends_recurrence::Weekday;
///
/// assert_eq!(Weekday::Friday.to_string(), "FR");
/// assert_eq!(Weekday::ALL[4], Weekday::Friday);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Weekday {
    /// `MO`
    Monday,
    /// `TU`
    Tuesday,
    /// `WE`
    Wednesday,
    /// `TH`
    Thursday,
    /// `FR`
    Friday,
    /// `SA`
    Saturday,
    /// `SU`
    Sunday,
}

impl Weekday {
    /// Every day of the week, Monday first.
    pub const ALL: [Self; 7] =
        [Self::Monday, Self::Tuesday, Self::Wednesday, Self::Thursday, Self::Friday, Self::Saturday, Self::Sunday];

    /// The written form, such as `MO`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Monday => "MO",
            Self::Tuesday => "TU",
            Self::Wednesday => "WE",
            Self::Thursday => "TH",
            Self::Friday => "FR",
            Self::Saturday => "SA",
            Self::Sunday => "SU",
        }
    }

    /// The day with this written form, in upper case.
    pub(crate) fn read(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|day| day.as_str() == text)
    }

    /// The number of the day; 0 is Monday.
    ///
    /// ```
    /// use kalends_recurrence::Weekday;
    ///
    /// assert_eq!((Weekday::Monday.number(), Weekday::Sunday.number()), (0, 6));
    /// ```
    pub const fn number(self) -> u8 {
        self as u8
    }
}

impl fmt::Display for Weekday {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A value of `BYDAY`: a day of the week, or the *n*th such day of a month or a year.
///
/// ```
/// use kalends_recurrence::{Weekday, WeekdayNum};
///
/// assert_eq!(WeekdayNum::last(Weekday::Friday).to_string(), "-1FR");
/// assert_eq!(WeekdayNum::from(Weekday::Monday).to_string(), "MO");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct WeekdayNum {
    /// Which of the days: 1 is the first and -1 is the last. `None` is every one of them.
    pub ordinal: Option<i8>,
    /// The day of the week.
    pub weekday: Weekday,
}

impl WeekdayNum {
    /// The `ordinal`th such day; a negative ordinal counts from the end.
    ///
    /// ```
    /// use kalends_recurrence::{Weekday, WeekdayNum};
    ///
    /// assert_eq!(WeekdayNum::nth(2, Weekday::Tuesday).to_string(), "2TU");
    /// assert_eq!(WeekdayNum::nth(-1, Weekday::Tuesday), WeekdayNum::last(Weekday::Tuesday));
    /// ```
    pub const fn nth(ordinal: i8, weekday: Weekday) -> Self {
        Self { ordinal: Some(ordinal), weekday }
    }

    /// The last such day. [`WeekdayNum`] has an example.
    pub const fn last(weekday: Weekday) -> Self {
        Self::nth(-1, weekday)
    }
}

impl From<Weekday> for WeekdayNum {
    fn from(weekday: Weekday) -> Self {
        Self { ordinal: None, weekday }
    }
}

impl fmt::Display for WeekdayNum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.ordinal {
            Some(ordinal) => write!(f, "{ordinal}{}", self.weekday),
            None => write!(f, "{}", self.weekday),
        }
    }
}
