//! Months and years of the proleptic Gregorian calendar.
//!
//! Days are counted from 1970-01-01, and months from January of the year 0.

use kalends_time::CivilDate;

/// A month of the calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Month {
    /// Months since January of the year 0.
    pub(crate) number: i64,
    /// 0 is January.
    pub(crate) in_year: u8,
    pub(crate) first: i64,
    pub(crate) length: i64,
    /// The weekday of its first day; 0 is Monday.
    pub(crate) weekday: u8,
}

impl Month {
    pub(crate) fn new(number: i64) -> Self {
        let year = number.div_euclid(12);
        let in_year = number.rem_euclid(12);
        let index = usize::try_from(in_year).unwrap_or(0);
        let first = first_of_year(year) + i64::from(month_starts(year)[index]);
        let length = i64::from(MONTH_LENGTHS[index]) + i64::from(index == 1 && is_leap(year));
        // A remainder modulo twelve fits in a byte.
        let in_year = u8::try_from(in_year).unwrap_or(0);
        Self { number, in_year, first, length, weekday: CivilDate::from_days(first).weekday() }
    }

    /// The month that contains a day.
    pub(crate) fn of(day: i64) -> Self {
        Self::new(month_number(day))
    }

    /// The month that many months later.
    pub(crate) fn after(self, months: i64) -> Self {
        Self::new(self.number + months)
    }

    /// A bit for each day.
    pub(crate) fn all(self) -> u64 {
        (1 << self.length) - 1
    }
}

/// The number of the month that contains a day: months since January of the year 0.
pub(crate) fn month_number(day: i64) -> i64 {
    let (year, month, _) = CivilDate::from_days(day).year_month_day();
    i64::from(year) * 12 + i64::from(month) - 1
}

/// The year that contains a day.
pub(crate) fn year_of(day: i64) -> i64 {
    month_number(day).div_euclid(12)
}

const MONTH_LENGTHS: [u8; 12] = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const MONTH_STARTS: [[u32; 12]; 2] =
    [[0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334], [0, 31, 60, 91, 121, 152, 182, 213, 244, 274, 305, 335]];

/// The days from 1 January to the first of each month.
pub(crate) fn month_starts(year: i64) -> &'static [u32; 12] {
    &MONTH_STARTS[usize::from(is_leap(year))]
}

pub(crate) fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

/// The day number of 1 January.
pub(crate) fn first_of_year(year: i64) -> i64 {
    let before = year - 1;
    // 477 of the years up to 1969 were leap years.
    365 * (year - 1970) + before.div_euclid(4) - before.div_euclid(100) + before.div_euclid(400) - 477
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn months_agree_with_civil_dates() {
        for number in 12..2102 * 12 {
            let month = Month::new(number);
            let year = i32::try_from(number / 12).unwrap();
            let in_year = u32::try_from(number % 12).unwrap() + 1;
            let first = CivilDate::new(year, in_year, 1).unwrap();
            assert_eq!((month.first, month.weekday), (first.as_days(), first.weekday()));
            assert_eq!(month.first + month.length, month.after(1).first);
            assert_eq!(Month::of(month.first + month.length - 1), month);
            assert_eq!(first_of_year(year.into()), CivilDate::new(year, 1, 1).unwrap().as_days());
        }
    }
}
