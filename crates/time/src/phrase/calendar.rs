//! The dates that a point may mean.

use super::grammar::{Day, Point, Which};
use super::unresolved::Unresolved;
use super::words::WEEKDAYS;
use crate::CivilDate;

const WEEK: i64 = 7;

/// The longest time between two leap days, in years: from 1896 to 1904, or from 2096 to 2104.
const LEAP_YEARS_APART: i32 = 8;

/// The dates that a point may mean, the earliest first; `None` if it names no day. Weekdays alone and dates without a
/// year are the next ones from `from` on, everything else is relative to `today`.
///
/// # Errors
/// If its weekday is not that of its date, or `next week` has no weekday.
pub(super) fn dates(point: &Point, today: CivilDate, from: CivilDate) -> Result<Option<Vec<CivilDate>>, Unresolved> {
    let dates = match (point.day, point.weekday) {
        (None, None) => return Ok(None),
        (None, Some(weekday)) => match days_until(weekday, from) {
            0 => vec![from, from.plus_days(WEEK)],
            days => vec![from.plus_days(days)],
        },
        (Some(Day::Which(which)), Some(weekday)) => which_of(which, weekday, today),
        (Some(Day::OfWeek(weeks)), Some(weekday)) => vec![of_week(weeks, weekday, today)],
        (Some(Day::Which(_) | Day::OfWeek(_)), None) => {
            return Err(Unresolved::incomplete("lacks a weekday; send, for example, Tuesday next week"));
        }
        (Some(day), weekday) => on_weekday(of(day, today, from).ok_or(Unresolved::OutOfRange)?, weekday)?,
    };
    Ok(Some(dates))
}

/// The dates of a day that needs no weekday. `None` if they are out of range.
fn of(day: Day, today: CivilDate, from: CivilDate) -> Option<Vec<CivilDate>> {
    Some(match day {
        Day::Ahead(days) => vec![today.plus_days(days)],
        Day::MonthsAhead(months) => vec![months_after(today, months)?],
        Day::On(date) => vec![date],
        Day::Either(one, other) => vec![one.min(other), one.max(other)],
        Day::Yearly { month, day } => vec![next_yearly(month, day, from)?],
        Day::Which(_) | Day::OfWeek(_) => return None,
    })
}

/// The dates that are on that weekday.
fn on_weekday(mut dates: Vec<CivilDate>, weekday: Option<u8>) -> Result<Vec<CivilDate>, Unresolved> {
    let Some(weekday) = weekday else { return Ok(dates) };
    let first = dates.first().copied();
    dates.retain(|date| date.weekday() == weekday);
    match first {
        Some(first) if dates.is_empty() => {
            let (is, not) = (name(first.weekday()), name(weekday));
            Err(Unresolved::contradiction(format!("names {first}, which is a {is}, not a {not}; send one of them")))
        }
        _ => Ok(dates),
    }
}

/// The name of a weekday; 0 is Monday.
pub(super) fn name(weekday: u8) -> &'static str {
    WEEKDAYS.get(usize::from(weekday)).copied().unwrap_or_default()
}

/// The days from a date to the next such weekday: 0 to 6.
fn days_until(weekday: u8, from: CivilDate) -> i64 {
    (i64::from(weekday) - i64::from(from.weekday())).rem_euclid(WEEK)
}

/// The weekday of the week that is that many weeks after the one of `today`.
fn of_week(weeks: i64, weekday: u8, today: CivilDate) -> CivilDate {
    today.plus_days(weeks * WEEK + i64::from(weekday) - i64::from(today.weekday()))
}

/// What people mean by `next Friday` and the like, the earliest first.
fn which_of(which: Which, weekday: u8, today: CivilDate) -> Vec<CivilDate> {
    let coming = today.plus_days(1 + days_until(weekday, today.plus_days(1)));
    let before = today.plus_days(days_until(weekday, today) - WEEK);
    let mut dates = match which {
        Which::Coming => vec![coming],
        Which::Next => vec![coming, of_week(1, weekday, today)],
        Which::Last => vec![of_week(-1, weekday, today), before],
        Which::This => match of_week(0, weekday, today) {
            over if over < today => vec![over, coming],
            ahead => vec![ahead],
        },
    };
    dates.dedup();
    dates
}

/// The same day that many months later, or the last day of that month if it is shorter.
fn months_after(date: CivilDate, months: i64) -> Option<CivilDate> {
    let (year, month, day) = date.year_month_day();
    let months = i64::from(year) * 12 + i64::from(month) - 1 + months;
    let (year, month) = (i32::try_from(months.div_euclid(12)).ok()?, u32::try_from(months.rem_euclid(12)).ok()? + 1);
    (1..=day).rev().find_map(|day| CivilDate::new(year, month, day))
}

/// The last such date up to a date, in its year or the year before.
pub(super) fn last_yearly(month: u32, day: u32, until: CivilDate) -> Option<CivilDate> {
    let (year, _, _) = until.year_month_day();
    [year, year - 1].into_iter().filter_map(|year| CivilDate::new(year, month, day)).find(|date| *date <= until)
}

/// The first such date from a date on.
fn next_yearly(month: u32, day: u32, from: CivilDate) -> Option<CivilDate> {
    let (year, _, _) = from.year_month_day();
    (year..=year + LEAP_YEARS_APART).find_map(|year| CivilDate::new(year, month, day).filter(|date| *date >= from))
}
