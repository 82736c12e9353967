//! What the end of a range says about its start.

use super::calendar::last_yearly;
use super::grammar::{Day, Point};
use super::unresolved::Unresolved;
use crate::CivilDate;

/// The ranges that a start and an end may mean together. A year of the end counts for the start too, as in
/// `5 March to 8 March 2027`. The week of the end may be that of a weekday at the start, as in
/// `Thursday to Friday next week`.
///
/// # Errors
/// If the start is 29 February, and the end is more than a year after one.
pub(super) fn ranges(start: &Point, end: &Point) -> Result<Vec<(Point, Point)>, Unresolved> {
    match (start.day, start.weekday, end.day) {
        (Some(Day::Yearly { month, day }), _, Some(Day::On(date))) => Ok(vec![until(start, end, (month, day), date)?]),
        (Some(Day::Yearly { month, day }), _, Some(Day::Either(one, other))) => {
            [one, other].into_iter().map(|date| until(start, end, (month, day), date)).collect()
        }
        (None, Some(_), Some(week @ Day::OfWeek(_))) => {
            let of_that_week = Point { day: Some(week), ..start.clone() };
            Ok(vec![(of_that_week, end.clone()), (start.clone(), end.clone())])
        }
        _ => Ok(vec![(start.clone(), end.clone())]),
    }
}

/// The range from the last such day to a date.
fn until(start: &Point, end: &Point, (month, day): (u32, u32), date: CivilDate) -> Result<(Point, Point), Unresolved> {
    let first = last_yearly(month, day, date).ok_or_else(|| {
        Unresolved::contradiction(format!(
            "has no such day in the year before {date}; send both dates with their years"
        ))
    })?;
    Ok((Point { day: Some(Day::On(first)), ..start.clone() }, Point { day: Some(Day::On(date)), ..end.clone() }))
}
