//! Recurrence rules inside and outside the supported subset (`docs/use/recurrence.md`).

use kalends_time::CivilDate;

use super::draw::Draw;
use super::times::{DAY, Defaults, Form, Local, MINUTE};

const WEEKDAYS: [&str; 7] = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"];

/// A rule, whose first occurrence is mostly its start.
pub(crate) struct Drawn {
    /// The value of `RRULE`.
    pub(crate) text: String,
    /// Whether it has several occurrences a day, so that it must end soon.
    pub(crate) dense: bool,
}

/// Draws a rule for a series that starts at `start`.
pub(crate) fn rule(draw: &mut Draw, start: Local, form: &Form, defaults: Defaults) -> Drawn {
    let aimed = if draw.one_in(8) { start.plus(DAY * draw.between(1, 40)) } else { start };
    let (mut text, dense) = match draw.between(0, if form.is_date() { 21 } else { 27 }) {
        0..=2 => (daily(draw, aimed), false),
        3..=7 => (weekly(draw, aimed, aimed == start), false),
        8..=14 => (monthly(draw, aimed), false),
        15..=21 => (yearly(draw, aimed), false),
        _ => (several_a_day(draw, aimed), true),
    };
    if draw.one_in(10) {
        text = text.to_ascii_lowercase();
    }
    // The expander that is compared cannot count a mix of weekdays with and without numbers: it takes only the days
    // that satisfy both.
    let upper = text.to_ascii_uppercase();
    let mixed = upper.split_once("BYDAY=").is_some_and(|(_, days)| {
        let plain = |day: &str| day.starts_with(char::is_alphabetic);
        let days = days.split(';').next().unwrap_or_default();
        days.split(',').any(plain) && !days.split(',').all(plain)
    });
    match draw.between(if mixed { 3 } else { 0 }, if dense { 5 } else { 9 }) {
        0..=2 => text.push_str(&format!(";COUNT={}", draw.between(1, if dense { 120 } else { 40 }))),
        3..=5 => text.push_str(&format!(";UNTIL={}", until(draw, start, form, defaults, if dense { 20 } else { 900 }))),
        _ => {}
    }
    Drawn { text, dense }
}

/// A value for UNTIL in one of the forms that producers write: the same wall-clock time some days later, or any time.
fn until(draw: &mut Draw, start: Local, form: &Form, defaults: Defaults, days: i64) -> String {
    let last = if draw.one_in(3) {
        start.plus(MINUTE * draw.between(0, days * 1_440))
    } else {
        start.plus(7 * DAY * draw.between(0, days / 7))
    };
    match form {
        Form::Date if draw.one_in(4) => format!("{}T000000Z", last.date_text()),
        Form::Date => last.date_text(),
        Form::Floating if !draw.one_in(6) => last.text(),
        _ if draw.one_in(12) => last.date_text(),
        _ if draw.one_in(12) => last.text(),
        _ => format!("{}Z", form.utc(last, defaults).text()),
    }
}

fn daily(draw: &mut Draw, start: Local) -> String {
    let mut text = format!("FREQ=DAILY{}", interval(draw, 6));
    match draw.between(0, 5) {
        0 => text.push_str(&by("BYDAY", &days_with(draw, start))),
        1 => text.push_str(&by("BYMONTH", &draw.list_with(start.month(), 3, 1, 12))),
        2 => text.push_str(&by("BYMONTHDAY", &month_days(draw, start))),
        _ => {}
    }
    text
}

fn weekly(draw: &mut Draw, start: Local, begins: bool) -> String {
    let mut text = format!("FREQ=WEEKLY{}", interval(draw, 4));
    let week_start = draw.of(&[0, 6, 6, 2]);
    if draw.one_in(2) {
        text.push_str(&by("WKST", &[WEEKDAYS[week_start]]));
    }
    let week_start = if text.contains("WKST") { week_start } else { 0 };
    match draw.between(0, 9) {
        0 | 1 => {}
        // The start is the first day of its week in the rule, so that it is clear what the positions count.
        2 if begins => {
            let place = |day: i64| (day - i64::try_from(week_start).unwrap()).rem_euclid(7);
            let days: Vec<i64> = (0..7).filter(|day| place(*day) >= place(start.weekday())).collect();
            text.push_str(&by("BYDAY", &names(&days)));
            text.push_str(&by("BYSETPOS", draw.of(&[&[1][..], &[-1], &[1, 2], &[2, -1]])));
        }
        3 => text.push_str(&format!(";BYMONTH={}{}", start.month(), by("BYDAY", &days_with(draw, start)))),
        _ => text.push_str(&by("BYDAY", &days_with(draw, start))),
    }
    text
}

fn monthly(draw: &mut Draw, start: Local) -> String {
    let mut text = format!("FREQ=MONTHLY{}", interval(draw, 4));
    match draw.between(0, 7) {
        0 | 1 => {}
        2 | 3 => text.push_str(&by("BYMONTHDAY", &month_days(draw, start))),
        4 => text.push_str(&by("BYDAY", &[ordinal(draw, start)])),
        5 => {
            let other = format!("{}{}", draw.of(&[-5, -2, -1, 1, 2, 3, 5]), draw.of(&WEEKDAYS));
            let days = if draw.one_in(4) { draw.of(&WEEKDAYS).to_owned() } else { other };
            text.push_str(&by("BYDAY", &[ordinal(draw, start), days]));
        }
        6 => {
            text.push_str(&by("BYDAY", &days_with(draw, start)));
            text.push_str(&by("BYSETPOS", draw.of(&[&[1][..], &[-1], &[2], &[1, -1], &[3, -2]])));
        }
        _ => {
            let days: Vec<i64> = (1..=31).filter(|day| (day - start.day()).abs() < 8).collect();
            text.push_str(&format!("{}{}", by("BYMONTHDAY", &days), by("BYDAY", &days_with(draw, start))));
        }
    }
    text
}

fn yearly(draw: &mut Draw, start: Local) -> String {
    let mut text = format!("FREQ=YEARLY{}", interval(draw, 3));
    let year_day = start.day_of_year();
    match draw.between(0, 9) {
        0 | 1 => {}
        2 => {
            let days = by("BYMONTHDAY", &month_days(draw, start));
            text.push_str(&format!("{}{days}", by("BYMONTH", &draw.list_with(start.month(), 3, 1, 12))));
        }
        3 => text.push_str(&by("BYMONTH", &draw.list_with(start.month(), 3, 1, 12))),
        4 => text.push_str(&format!(";BYMONTH={}{}", start.month(), by("BYDAY", &[ordinal(draw, start)]))),
        5 => text.push_str(&format!(";BYDAY={}{}", (year_day + 6) / 7, WEEKDAYS[start.weekday_index()])),
        6 => text.push_str(&by("BYYEARDAY", &draw.list_with(year_day, 3, -366, 366))),
        7 => {
            let days = by("BYDAY", &days_with(draw, start));
            let week = (year_day + 9 - start.weekday()) / 7;
            let weeks = by("BYWEEKNO", &draw.list_with(week.clamp(1, 53), 3, -53, 53));
            text.push_str(&if draw.one_in(3) { weeks } else { format!("{weeks}{days}") });
            if draw.one_in(3) {
                text.push_str(&by("WKST", &[draw.of(&["SU", "WE"])]));
            }
        }
        8 => text.push_str(&by("BYMONTHDAY", &month_days(draw, start))),
        _ => {
            let days = by("BYDAY", &days_with(draw, start));
            let places = by("BYSETPOS", draw.of(&[&[1][..], &[-1], &[2, 5], &[-3]]));
            text.push_str(&format!(";BYMONTH={}{days}{places}", start.month()));
        }
    }
    text
}

fn several_a_day(draw: &mut Draw, start: Local) -> String {
    let (hour, minute) = (start.hour(), start.minute());
    match draw.between(0, 6) {
        0 => format!("FREQ=HOURLY;INTERVAL={}", draw.between(1, 14)),
        1 => format!("FREQ=HOURLY{}", by("BYHOUR", &draw.list_with(hour.max(1), 5, 1, 23))),
        2 => format!("FREQ=HOURLY{}{}", by("BYDAY", &days_with(draw, start)), by("BYMINUTE", &[minute])),
        3 => format!(
            "FREQ=MINUTELY;INTERVAL={}{}",
            draw.of(&[5, 15, 45, 90]),
            by("BYHOUR", &draw.list_with(hour.max(1), 4, 1, 23))
        ),
        4 => format!("FREQ=DAILY{}{}", by("BYHOUR", &draw.list_with(hour.max(1), 3, 1, 23)), by("BYMINUTE", &[minute])),
        5 => format!(
            "FREQ=WEEKLY{}{}",
            by("BYDAY", &days_with(draw, start)),
            by("BYHOUR", &draw.list_with(hour.max(1), 2, 1, 23))
        ),
        _ => format!(
            "FREQ=MONTHLY{}{};BYSETPOS=1,-1",
            by("BYDAY", &days_with(draw, start)),
            by("BYHOUR", &draw.list_with(hour.max(1), 2, 1, 23))
        ),
    }
}

fn interval(draw: &mut Draw, most: i64) -> String {
    if draw.one_in(2) { String::new() } else { format!(";INTERVAL={}", draw.between(1, most)) }
}

fn by<T: ToString>(name: &str, values: &[T]) -> String {
    format!(";{name}={}", values.iter().map(T::to_string).collect::<Vec<_>>().join(","))
}

fn names(days: &[i64]) -> Vec<&'static str> {
    days.iter().map(|day| WEEKDAYS[usize::try_from(*day).unwrap()]).collect()
}

/// The start's weekday and some others.
fn days_with(draw: &mut Draw, start: Local) -> Vec<&'static str> {
    let chosen = draw.between(0, 127) & draw.between(0, 127);
    let days: Vec<i64> = (0..7).filter(|day| *day == start.weekday() || chosen >> day & 1 == 1).collect();
    names(&days)
}

/// The start's day of the month, counted from either end, and some others.
fn month_days(draw: &mut Draw, start: Local) -> Vec<i64> {
    let own = if draw.one_in(3) { start.day() - start.days_of_month() - 1 } else { start.day() };
    draw.list_with(own, 2, -31, 31)
}

/// The start's weekday with its number in the month, counted from either end.
fn ordinal(draw: &mut Draw, start: Local) -> String {
    let number = if draw.one_in(2) { (start.day() + 6) / 7 } else { -((start.days_of_month() - start.day()) / 7 + 1) };
    format!("{number}{}", WEEKDAYS[start.weekday_index()])
}

/// A date near a change of clocks, months or years, or any date.
pub(crate) fn date(draw: &mut Draw, year: i64) -> CivilDate {
    let year = i32::try_from(year).unwrap();
    let on = |month: u32, day: u32| CivilDate::new(year, month, day).unwrap();
    let sunday = |from: CivilDate| from.plus_days((6 - i64::from(from.weekday())).rem_euclid(7));
    let near = |date: CivilDate, draw: &mut Draw| date.plus_days(draw.between(-1, 1));
    match draw.between(0, 9) {
        // The clock changes of the European Union, the United States and the southern hemisphere.
        0 => near(sunday(on(3, 25)), draw),
        1 => near(sunday(on(10, 25)), draw),
        2 => near(sunday(on(3, 8)), draw),
        3 => near(sunday(on(11, 1)), draw),
        4 => near(sunday(draw.of(&[on(4, 1), on(10, 1), on(9, 2), on(9, 24)])), draw),
        5 => draw.of(&[on(1, 31), on(2, 28), on(3, 31), on(5, 30), on(8, 29), on(12, 31), on(1, 1)]),
        6 => CivilDate::new(year - year % 4, 2, 29).unwrap_or(on(2, 28)),
        7 => on(12, 28).plus_days(draw.between(0, 7)),
        _ => on(1, 1).plus_days(draw.between(0, 364)),
    }
}
