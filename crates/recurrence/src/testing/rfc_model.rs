//! A plain model of the recurrence rules of RFC 5545, written from the text of section 3.3.10.
//!
//! It is slow and literal: it takes one period of the rule after the other, writes down every start the period may
//! have, sorts them, and applies BYSETPOS. It knows no zones, no COUNT and no UNTIL.
//!
//! Days are numbered from 1970-01-01, which is day 0. Weekdays are numbered from Monday, which is 0.

#![expect(clippy::expect_used, clippy::panic, reason = "the model is only used by tests, which fail by panicking")]

use std::fmt;

/// Seconds of a day.
const DAY: i64 = 86_400;

/// The first and the last year that has starts.
const YEARS: std::ops::RangeInclusive<i64> = 1..=9999;

/// The weekdays as the RFC writes them, from Monday on.
const WEEKDAYS: [&str; 7] = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"];

/// How often a rule repeats, from the longest period to the shortest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Freq {
    /// FREQ=YEARLY
    Yearly,
    /// FREQ=MONTHLY
    Monthly,
    /// FREQ=WEEKLY
    Weekly,
    /// FREQ=DAILY
    Daily,
    /// FREQ=HOURLY
    Hourly,
    /// FREQ=MINUTELY
    Minutely,
    /// FREQ=SECONDLY
    Secondly,
}

/// Every frequency with its name in the RFC.
const FREQUENCIES: [(Freq, &str); 7] = [
    (Freq::Yearly, "YEARLY"),
    (Freq::Monthly, "MONTHLY"),
    (Freq::Weekly, "WEEKLY"),
    (Freq::Daily, "DAILY"),
    (Freq::Hourly, "HOURLY"),
    (Freq::Minutely, "MINUTELY"),
    (Freq::Secondly, "SECONDLY"),
];

/// The parts of a rule. An empty list is a part that is not there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parts {
    /// FREQ
    pub frequency: Freq,
    /// INTERVAL, 1 if it is not there
    pub interval: i64,
    /// BYMONTH
    pub months: Vec<i64>,
    /// BYWEEKNO
    pub weeks: Vec<i64>,
    /// BYYEARDAY
    pub year_days: Vec<i64>,
    /// BYMONTHDAY
    pub month_days: Vec<i64>,
    /// BYDAY: the ordinal (0 for none) and the weekday
    pub days: Vec<(i64, i64)>,
    /// BYHOUR
    pub hours: Vec<i64>,
    /// BYMINUTE
    pub minutes: Vec<i64>,
    /// BYSECOND
    pub seconds: Vec<i64>,
    /// BYSETPOS
    pub positions: Vec<i64>,
    /// WKST, Monday if it is not there
    pub week_start: i64,
}

impl Parts {
    /// A rule with nothing but a frequency.
    pub fn new(frequency: Freq) -> Self {
        Self {
            frequency,
            interval: 1,
            months: Vec::new(),
            weeks: Vec::new(),
            year_days: Vec::new(),
            month_days: Vec::new(),
            days: Vec::new(),
            hours: Vec::new(),
            minutes: Vec::new(),
            seconds: Vec::new(),
            positions: Vec::new(),
            week_start: 0,
        }
    }

    /// Reads the text of a rule.
    ///
    /// # Panics
    ///
    /// If the text is not a rule, or has COUNT or UNTIL.
    pub fn read(text: &str) -> Self {
        let mut parts = Self::new(Freq::Yearly);
        for part in text.split(';') {
            let (name, value) = part.split_once('=').expect("a part is NAME=VALUE");
            match name {
                "FREQ" => {
                    let named = FREQUENCIES.iter().find(|(_, name)| *name == value);
                    parts.frequency = named.expect("a known frequency").0;
                }
                "INTERVAL" => parts.interval = number(value),
                "BYMONTH" => parts.months = numbers(value),
                "BYWEEKNO" => parts.weeks = numbers(value),
                "BYYEARDAY" => parts.year_days = numbers(value),
                "BYMONTHDAY" => parts.month_days = numbers(value),
                "BYDAY" => parts.days = value.split(',').map(numbered_day).collect(),
                "BYHOUR" => parts.hours = numbers(value),
                "BYMINUTE" => parts.minutes = numbers(value),
                "BYSECOND" => parts.seconds = numbers(value),
                "BYSETPOS" => parts.positions = numbers(value),
                "WKST" => parts.week_start = weekday_named(value),
                _ => panic!("not a part of this model: {part}"),
            }
        }
        parts
    }
}

/// A number with or without a sign.
fn number(text: &str) -> i64 {
    text.parse().expect("a number")
}

/// Numbers with commas between them.
fn numbers(text: &str) -> Vec<i64> {
    text.split(',').map(number).collect()
}

/// The number of a weekday.
fn weekday_named(text: &str) -> i64 {
    (0..7).zip(WEEKDAYS).find(|(_, name)| *name == text).expect("a weekday").0
}

/// A weekday with or without an ordinal.
fn numbered_day(text: &str) -> (i64, i64) {
    let (ordinal, name) = text.split_at(text.len() - 2);
    (if ordinal.is_empty() { 0 } else { number(ordinal) }, weekday_named(name))
}

/// The name of a weekday.
fn weekday_name(weekday: i64) -> &'static str {
    (0..7).zip(WEEKDAYS).find(|(number, _)| *number == weekday).expect("a weekday").1
}

impl fmt::Display for Parts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = FREQUENCIES.iter().find(|(frequency, _)| *frequency == self.frequency);
        write!(f, "FREQ={}", name.expect("a name").1)?;
        if self.interval != 1 {
            write!(f, ";INTERVAL={}", self.interval)?;
        }
        let mut list = |name: &str, values: Vec<String>| {
            if values.is_empty() { Ok(()) } else { write!(f, ";{name}={}", values.join(",")) }
        };
        let plain = |values: &[i64]| values.iter().map(i64::to_string).collect::<Vec<_>>();
        let day = |&(ordinal, weekday): &(i64, i64)| match ordinal {
            0 => weekday_name(weekday).to_owned(),
            _ => format!("{ordinal}{}", weekday_name(weekday)),
        };
        list("BYMONTH", plain(&self.months))?;
        list("BYWEEKNO", plain(&self.weeks))?;
        list("BYYEARDAY", plain(&self.year_days))?;
        list("BYMONTHDAY", plain(&self.month_days))?;
        list("BYDAY", self.days.iter().map(day).collect())?;
        list("BYHOUR", plain(&self.hours))?;
        list("BYMINUTE", plain(&self.minutes))?;
        list("BYSECOND", plain(&self.seconds))?;
        list("BYSETPOS", plain(&self.positions))?;
        if self.week_start != 0 {
            write!(f, ";WKST={}", weekday_name(self.week_start))?;
        }
        Ok(())
    }
}

/// Local starts (seconds since 1970-01-01T00:00 on the series' own wall clock, no zone) in ascending order, without
/// duplicates, from `from` (inclusive) up to `to` (exclusive).
///
/// `first` is DTSTART. It is always an occurrence, whether or not the rule generates it, and nothing occurs before
/// it. The rule comes without UNTIL and COUNT.
///
/// # Panics
///
/// If the rule has a weekday with an ordinal and is neither YEARLY nor MONTHLY, which the RFC does not allow.
pub fn starts(rule: &Parts, first: i64, from: i64, to: i64) -> Vec<i64> {
    let rule = complete(rule, first);
    let (from, to) = (from.max(first), to.min(new_year(*YEARS.end() + 1) * DAY));
    if from >= to {
        return Vec::new();
    }
    let base = period_of(&rule, first);
    let skipped = (period_of(&rule, from) - base) / rule.interval;
    let mut period = base + skipped * rule.interval;
    let last = period_of(&rule, to - 1);
    let mut found = Vec::new();
    if first >= from {
        found.push(first);
    }
    while period <= last {
        found.extend(chosen(&rule, period).into_iter().filter(|start| (from..to).contains(start)));
        let Some(next) = period.checked_add(rule.interval) else { break };
        period = next;
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// The rule with the parts that come from DTSTART because they are missing, and without second 60.
fn complete(rule: &Parts, first: i64) -> Parts {
    let mut rule = rule.clone();
    let date = Date::of(first.div_euclid(DAY));
    let second = first.rem_euclid(DAY);
    match rule.frequency {
        Freq::Yearly if rule.year_days.is_empty() && rule.month_days.is_empty() && rule.days.is_empty() => {
            if rule.weeks.is_empty() {
                rule.month_days = vec![date.day];
                if rule.months.is_empty() {
                    rule.months = vec![date.month];
                }
            } else {
                rule.days = vec![(0, date.weekday())];
            }
        }
        Freq::Monthly if rule.month_days.is_empty() && rule.days.is_empty() => rule.month_days = vec![date.day],
        Freq::Weekly if rule.days.is_empty() => rule.days = vec![(0, date.weekday())],
        _ => {}
    }
    if rule.frequency < Freq::Hourly && rule.hours.is_empty() {
        rule.hours = vec![second / 3600];
    }
    if rule.frequency < Freq::Minutely && rule.minutes.is_empty() {
        rule.minutes = vec![second / 60 % 60];
    }
    if rule.frequency < Freq::Secondly && rule.seconds.is_empty() {
        rule.seconds = vec![second % 60];
    }
    for second in &mut rule.seconds {
        *second = (*second).min(59);
    }
    rule
}

/// The number of the period that contains a time. Periods one after the other have numbers one after the other.
fn period_of(rule: &Parts, time: i64) -> i64 {
    let day = time.div_euclid(DAY);
    match rule.frequency {
        Freq::Yearly => Date::of(day).year,
        Freq::Monthly => Date::of(day).year * 12 + Date::of(day).month - 1,
        Freq::Weekly => (day - since_week_start(day, rule.week_start)).div_euclid(7),
        Freq::Daily => day,
        Freq::Hourly => time.div_euclid(3600),
        Freq::Minutely => time.div_euclid(60),
        Freq::Secondly => time,
    }
}

/// The days of a period, from the first up to the last.
fn days_of(rule: &Parts, period: i64) -> Vec<i64> {
    match rule.frequency {
        Freq::Yearly => (new_year(period)..new_year(period + 1)).collect(),
        Freq::Monthly => {
            let (year, month) = (period.div_euclid(12), period.rem_euclid(12) + 1);
            (1..=month_length(year, month)).map(|day| Date { year, month, day }.number()).collect()
        }
        Freq::Weekly => {
            let start = (period * 7..period * 7 + 7).find(|day| weekday(*day) == rule.week_start);
            let start = start.expect("a week has every weekday");
            (start..start + 7).collect()
        }
        Freq::Daily => vec![period],
        Freq::Hourly => vec![period.div_euclid(24)],
        Freq::Minutely => vec![period.div_euclid(24 * 60)],
        Freq::Secondly => vec![period.div_euclid(DAY)],
    }
}

/// The starts of one period after BYSETPOS.
fn chosen(rule: &Parts, period: i64) -> Vec<i64> {
    let all = candidates(rule, period);
    if rule.positions.is_empty() {
        return all;
    }
    let count = i64::try_from(all.len()).expect("a length");
    (1..).zip(all).filter(|(place, _)| listed(&rule.positions, *place, count)).map(|(_, start)| start).collect()
}

/// Every start that one period has before BYSETPOS, in order.
fn candidates(rule: &Parts, period: i64) -> Vec<i64> {
    let mut all = Vec::new();
    for day in days_of(rule, period) {
        let date = Date::of(day);
        if !YEARS.contains(&date.year) || !day_passes(rule, date) {
            continue;
        }
        for hour in (0..24).filter(|hour| passes(&rule.hours, *hour)) {
            let time = day * DAY + hour * 3600;
            if rule.frequency >= Freq::Hourly && time.div_euclid(3600) != period_in(rule, period, 3600) {
                continue;
            }
            for minute in (0..60).filter(|minute| passes(&rule.minutes, *minute)) {
                let time = time + minute * 60;
                if rule.frequency >= Freq::Minutely && time.div_euclid(60) != period_in(rule, period, 60) {
                    continue;
                }
                for second in (0..60).filter(|second| passes(&rule.seconds, *second)) {
                    let time = time + second;
                    if rule.frequency < Freq::Secondly || time == period {
                        all.push(time);
                    }
                }
            }
        }
    }
    all
}

/// The hour (unit 3600) or minute (unit 60), counted from 1970, that contains an hour, minute or second.
fn period_in(rule: &Parts, period: i64, unit: i64) -> i64 {
    let length = match rule.frequency {
        Freq::Hourly => 3600,
        Freq::Minutely => 60,
        _ => 1,
    };
    (period * length).div_euclid(unit)
}

/// Whether a part that is a plain list lets a value through.
fn passes(list: &[i64], value: i64) -> bool {
    list.is_empty() || list.contains(&value)
}

/// Whether a list has a place counted from 1, or the same place counted from the end as -1, -2 and so on.
fn listed(list: &[i64], place: i64, count: i64) -> bool {
    list.contains(&place) || list.contains(&(place - count - 1))
}

/// Whether every part that filters days lets a day through.
fn day_passes(rule: &Parts, date: Date) -> bool {
    let day = date.number();
    let year_start = new_year(date.year);
    let in_months = passes(&rule.months, date.month);
    let in_weeks = rule.weeks.is_empty() || {
        let (week, count) = week_of(day, rule.week_start);
        listed(&rule.weeks, week, count)
    };
    let in_year_days = rule.year_days.is_empty()
        || listed(&rule.year_days, day - year_start + 1, new_year(date.year + 1) - year_start);
    let in_month_days =
        rule.month_days.is_empty() || listed(&rule.month_days, date.day, month_length(date.year, date.month));
    let in_days = rule.days.is_empty() || rule.days.iter().any(|listed| weekday_passes(rule, date, *listed));
    in_months && in_weeks && in_year_days && in_month_days && in_days
}

/// Whether one entry of BYDAY lets a day through.
fn weekday_passes(rule: &Parts, date: Date, (ordinal, weekday): (i64, i64)) -> bool {
    if date.weekday() != weekday {
        return false;
    }
    if ordinal == 0 {
        return true;
    }
    let within_month = match rule.frequency {
        Freq::Monthly => true,
        Freq::Yearly => !rule.months.is_empty(),
        _ => panic!("a numbered weekday needs YEARLY or MONTHLY"),
    };
    let (start, end) = if within_month {
        let start = Date { day: 1, ..date }.number();
        (start, start + month_length(date.year, date.month))
    } else {
        (new_year(date.year), new_year(date.year + 1))
    };
    let same: Vec<i64> = (start..end).filter(|day| self::weekday(*day) == weekday).collect();
    let place = if ordinal > 0 { ordinal - 1 } else { i64::try_from(same.len()).expect("a length") + ordinal };
    usize::try_from(place).ok().and_then(|place| same.get(place)) == Some(&date.number())
}

/// A day of the Gregorian calendar, which is taken to hold for all years.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Date {
    year: i64,
    month: i64,
    day: i64,
}

impl Date {
    /// The date of a day.
    fn of(number: i64) -> Self {
        let mut year = 1970 + number.div_euclid(366);
        while new_year(year + 1) <= number {
            year += 1;
        }
        while new_year(year) > number {
            year -= 1;
        }
        let mut month = 1;
        let mut day = number - new_year(year) + 1;
        while day > month_length(year, month) {
            day -= month_length(year, month);
            month += 1;
        }
        Self { year, month, day }
    }

    /// The number of the day.
    fn number(self) -> i64 {
        let before: i64 = (1..self.month).map(|month| month_length(self.year, month)).sum();
        new_year(self.year) + before + self.day - 1
    }

    /// The weekday of the day.
    fn weekday(self) -> i64 {
        weekday(self.number())
    }
}

/// The day of 1 January.
fn new_year(year: i64) -> i64 {
    let days = |years: i64| years * 365 + years.div_euclid(4) - years.div_euclid(100) + years.div_euclid(400);
    days(year - 1) - days(1969)
}

/// The number of days of a month.
fn month_length(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// The weekday of a day. 1970-01-01 was a Thursday.
fn weekday(day: i64) -> i64 {
    (day + 3).rem_euclid(7)
}

/// How many days a day comes after the first day of its week.
fn since_week_start(day: i64, week_start: i64) -> i64 {
    (weekday(day) - week_start).rem_euclid(7)
}

/// The first day of week 1 of a year: the first week that has at least four days in the year.
fn week_one(year: i64, week_start: i64) -> i64 {
    let january = new_year(year);
    let start = january - since_week_start(january, week_start);
    if start + 7 - january >= 4 { start } else { start + 7 }
}

/// The number of the week that contains a day, and how many weeks the year of that week has.
fn week_of(day: i64, week_start: i64) -> (i64, i64) {
    let start = day - since_week_start(day, week_start);
    let near = Date::of(day).year;
    let owns = |year: &i64| week_one(*year, week_start) <= start && start < week_one(*year + 1, week_start);
    let year = (near - 1..=near + 1).find(owns).expect("every week belongs to a year");
    let (first, next) = (week_one(year, week_start), week_one(year + 1, week_start));
    ((start - first) / 7 + 1, (next - first) / 7)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The seconds of a local time written as `19970902T090000`.
    fn at(text: &str) -> i64 {
        let digits = |from: usize, to: usize| number(&text[from..to]);
        let date = Date { year: digits(0, 4), month: digits(4, 6), day: digits(6, 8) };
        date.number() * DAY + digits(9, 11) * 3600 + digits(11, 13) * 60 + digits(13, 15)
    }

    /// A local time in the same form.
    fn written(time: i64) -> String {
        let Date { year, month, day } = Date::of(time.div_euclid(DAY));
        let second = time.rem_euclid(DAY);
        format!("{year:04}{month:02}{day:02}T{:02}{:02}{:02}", second / 3600, second / 60 % 60, second % 60)
    }

    /// Times at 09:00 of days written as `1997-09 2 9 16..20 1997-10 7`.
    fn nine(days: &str) -> Vec<String> {
        let mut month = "";
        let mut all = Vec::new();
        for word in days.split_whitespace() {
            if word.contains('-') {
                month = word;
                continue;
            }
            let (start, end) = word.split_once("..").unwrap_or((word, word));
            all.extend((number(start)..=number(end)).map(|day| format!("{}{day:02}T090000", month.replace('-', ""))));
        }
        all
    }

    /// The starts of a rule from DTSTART up to and with `until`.
    fn until(rule: &str, first: &str, until: &str) -> Vec<String> {
        starts(&Parts::read(rule), at(first), at(first), at(until) + 1).into_iter().map(written).collect()
    }

    /// The first `count` starts of a rule within twenty years.
    fn count(rule: &str, first: &str, count: usize) -> Vec<String> {
        let all = starts(&Parts::read(rule), at(first), at(first), at(first) + 20 * 366 * DAY);
        all.into_iter().take(count).map(written).collect()
    }

    #[test]
    fn daily_for_10_occurrences() {
        assert_eq!(count("FREQ=DAILY", "19970902T090000", 10), nine("1997-09 2..11"));
    }

    #[test]
    fn daily_until_december_24() {
        let expected = nine("1997-09 2..30 1997-10 1..31 1997-11 1..30 1997-12 1..23");
        assert_eq!(until("FREQ=DAILY", "19970902T090000", "19971223T190000"), expected);
    }

    #[test]
    fn every_other_day() {
        let expected = nine(
            "1997-09 2 4 6 8 10 12 14 16 18 20 22 24 26 28 30 1997-10 2 4 6 8 10 12 14 16 18 20 22 24 26 28 30 \
             1997-11 1 3 5 7 9 11 13 15 17 19 21 23 25 27 29 1997-12 1 3",
        );
        assert_eq!(until("FREQ=DAILY;INTERVAL=2", "19970902T090000", "19971204T000000"), expected);
    }

    #[test]
    fn every_10_days() {
        assert_eq!(count("FREQ=DAILY;INTERVAL=10", "19970902T090000", 5), nine("1997-09 2 12 22 1997-10 2 12"));
    }

    #[test]
    fn every_day_in_january_for_3_years() {
        let expected = nine("1998-01 1..31 1999-01 1..31 2000-01 1..31");
        let yearly = "FREQ=YEARLY;BYMONTH=1;BYDAY=SU,MO,TU,WE,TH,FR,SA";
        assert_eq!(until(yearly, "19980101T090000", "20000131T090000"), expected);
        assert_eq!(until("FREQ=DAILY;BYMONTH=1", "19980101T090000", "20000131T090000"), expected);
    }

    #[test]
    fn weekly_for_10_occurrences() {
        let expected = nine("1997-09 2 9 16 23 30 1997-10 7 14 21 28 1997-11 4");
        assert_eq!(count("FREQ=WEEKLY", "19970902T090000", 10), expected);
    }

    #[test]
    fn weekly_until_december_24() {
        let expected = nine("1997-09 2 9 16 23 30 1997-10 7 14 21 28 1997-11 4 11 18 25 1997-12 2 9 16 23");
        assert_eq!(until("FREQ=WEEKLY", "19970902T090000", "19971223T190000"), expected);
    }

    #[test]
    fn every_other_week() {
        let expected = nine("1997-09 2 16 30 1997-10 14 28 1997-11 11 25 1997-12 9 23 1998-01 6 20 1998-02 3 17");
        assert_eq!(count("FREQ=WEEKLY;INTERVAL=2;WKST=SU", "19970902T090000", 13), expected);
    }

    #[test]
    fn weekly_on_tuesday_and_thursday_for_five_weeks() {
        let expected = nine("1997-09 2 4 9 11 16 18 23 25 30 1997-10 2");
        let rule = "FREQ=WEEKLY;WKST=SU;BYDAY=TU,TH";
        assert_eq!(until(rule, "19970902T090000", "19971006T200000"), expected);
        assert_eq!(count(rule, "19970902T090000", 10), expected);
    }

    #[test]
    fn every_other_week_on_monday_wednesday_and_friday() {
        let expected = nine(
            "1997-09 1 3 5 15 17 19 29 1997-10 1 3 13 15 17 27 29 31 1997-11 10 12 14 24 26 28 1997-12 8 10 12 22",
        );
        let rule = "FREQ=WEEKLY;INTERVAL=2;WKST=SU;BYDAY=MO,WE,FR";
        assert_eq!(until(rule, "19970901T090000", "19971223T190000"), expected);
    }

    #[test]
    fn every_other_week_on_tuesday_and_thursday() {
        let rule = "FREQ=WEEKLY;INTERVAL=2;WKST=SU;BYDAY=TU,TH";
        assert_eq!(count(rule, "19970902T090000", 8), nine("1997-09 2 4 16 18 30 1997-10 2 14 16"));
    }

    #[test]
    fn monthly_on_the_first_friday() {
        let all =
            nine("1997-09 5 1997-10 3 1997-11 7 1997-12 5 1998-01 2 1998-02 6 1998-03 6 1998-04 3 1998-05 1 1998-06 5");
        assert_eq!(count("FREQ=MONTHLY;BYDAY=1FR", "19970905T090000", 10), all);
        assert_eq!(until("FREQ=MONTHLY;BYDAY=1FR", "19970905T090000", "19971223T190000"), all[..4]);
    }

    #[test]
    fn every_other_month_on_the_first_and_last_sunday() {
        let expected = nine("1997-09 7 28 1997-11 2 30 1998-01 4 25 1998-03 1 29 1998-05 3 31");
        assert_eq!(count("FREQ=MONTHLY;INTERVAL=2;BYDAY=1SU,-1SU", "19970907T090000", 10), expected);
    }

    #[test]
    fn monthly_on_the_second_to_last_monday() {
        let expected = nine("1997-09 22 1997-10 20 1997-11 17 1997-12 22 1998-01 19 1998-02 16");
        assert_eq!(count("FREQ=MONTHLY;BYDAY=-2MO", "19970922T090000", 6), expected);
    }

    #[test]
    fn monthly_on_the_third_to_the_last_day() {
        let expected = nine("1997-09 28 1997-10 29 1997-11 28 1997-12 29 1998-01 29 1998-02 26");
        assert_eq!(count("FREQ=MONTHLY;BYMONTHDAY=-3", "19970928T090000", 6), expected);
    }

    #[test]
    fn monthly_on_the_2nd_and_15th() {
        let expected = nine("1997-09 2 15 1997-10 2 15 1997-11 2 15 1997-12 2 15 1998-01 2 15");
        assert_eq!(count("FREQ=MONTHLY;BYMONTHDAY=2,15", "19970902T090000", 10), expected);
    }

    #[test]
    fn monthly_on_the_first_and_last_day() {
        let expected = nine("1997-09 30 1997-10 1 31 1997-11 1 30 1997-12 1 31 1998-01 1 31 1998-02 1");
        assert_eq!(count("FREQ=MONTHLY;BYMONTHDAY=1,-1", "19970930T090000", 10), expected);
    }

    #[test]
    fn every_18_months_on_the_10th_to_15th() {
        let rule = "FREQ=MONTHLY;INTERVAL=18;BYMONTHDAY=10,11,12,13,14,15";
        assert_eq!(count(rule, "19970910T090000", 10), nine("1997-09 10..15 1999-03 10..13"));
    }

    #[test]
    fn every_tuesday_every_other_month() {
        let expected = nine("1997-09 2 9 16 23 30 1997-11 4 11 18 25 1998-01 6 13 20 27 1998-03 3 10 17 24 31");
        assert_eq!(count("FREQ=MONTHLY;INTERVAL=2;BYDAY=TU", "19970902T090000", 18), expected);
    }

    #[test]
    fn yearly_in_june_and_july() {
        let expected = nine(
            "1997-06 10 1997-07 10 1998-06 10 1998-07 10 1999-06 10 1999-07 10 2000-06 10 2000-07 10 2001-06 10 \
             2001-07 10",
        );
        assert_eq!(count("FREQ=YEARLY;BYMONTH=6,7", "19970610T090000", 10), expected);
    }

    #[test]
    fn every_other_year_in_january_february_and_march() {
        let expected = nine(
            "1997-03 10 1999-01 10 1999-02 10 1999-03 10 2001-01 10 2001-02 10 2001-03 10 2003-01 10 2003-02 10 \
             2003-03 10",
        );
        assert_eq!(count("FREQ=YEARLY;INTERVAL=2;BYMONTH=1,2,3", "19970310T090000", 10), expected);
    }

    #[test]
    fn every_third_year_on_the_1st_100th_and_200th_day() {
        let expected = nine(
            "1997-01 1 1997-04 10 1997-07 19 2000-01 1 2000-04 9 2000-07 18 2003-01 1 2003-04 10 2003-07 19 2006-01 1",
        );
        assert_eq!(count("FREQ=YEARLY;INTERVAL=3;BYYEARDAY=1,100,200", "19970101T090000", 10), expected);
    }

    #[test]
    fn every_20th_monday_of_the_year() {
        let expected = nine("1997-05 19 1998-05 18 1999-05 17");
        assert_eq!(count("FREQ=YEARLY;BYDAY=20MO", "19970519T090000", 3), expected);
    }

    #[test]
    fn monday_of_week_20() {
        let expected = nine("1997-05 12 1998-05 11 1999-05 17");
        assert_eq!(count("FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO", "19970512T090000", 3), expected);
    }

    #[test]
    fn every_thursday_in_march() {
        let expected = nine("1997-03 13 20 27 1998-03 5 12 19 26 1999-03 4 11 18 25");
        assert_eq!(count("FREQ=YEARLY;BYMONTH=3;BYDAY=TH", "19970313T090000", 11), expected);
    }

    #[test]
    fn every_thursday_in_june_july_and_august() {
        let expected = nine(
            "1997-06 5 12 19 26 1997-07 3 10 17 24 31 1997-08 7 14 21 28 \
             1998-06 4 11 18 25 1998-07 2 9 16 23 30 1998-08 6 13 20 27 \
             1999-06 3 10 17 24 1999-07 1 8 15 22 29 1999-08 5 12 19 26",
        );
        assert_eq!(count("FREQ=YEARLY;BYDAY=TH;BYMONTH=6,7,8", "19970605T090000", 39), expected);
    }

    #[test]
    fn every_friday_the_13th() {
        let all = count("FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13", "19970902T090000", 6);
        assert_eq!(all[..1], nine("1997-09 2"), "DTSTART, which the example takes out with EXDATE");
        assert_eq!(all[1..], nine("1998-02 13 1998-03 13 1998-11 13 1999-08 13 2000-10 13"));
    }

    #[test]
    fn the_first_saturday_after_the_first_sunday() {
        let expected = nine(
            "1997-09 13 1997-10 11 1997-11 8 1997-12 13 1998-01 10 1998-02 7 1998-03 7 1998-04 11 1998-05 9 1998-06 13",
        );
        let rule = "FREQ=MONTHLY;BYDAY=SA;BYMONTHDAY=7,8,9,10,11,12,13";
        assert_eq!(count(rule, "19970913T090000", 10), expected);
    }

    #[test]
    fn the_first_tuesday_after_a_monday_in_november_every_4_years() {
        let rule = "FREQ=YEARLY;INTERVAL=4;BYMONTH=11;BYDAY=TU;BYMONTHDAY=2,3,4,5,6,7,8";
        assert_eq!(count(rule, "19961105T090000", 3), nine("1996-11 5 2000-11 7 2004-11 2"));
    }

    #[test]
    fn the_third_tuesday_wednesday_or_thursday_of_the_month() {
        let rule = "FREQ=MONTHLY;BYDAY=TU,WE,TH;BYSETPOS=3";
        assert_eq!(count(rule, "19970904T090000", 3), nine("1997-09 4 1997-10 7 1997-11 6"));
    }

    #[test]
    fn the_second_to_last_weekday_of_the_month() {
        let expected = nine("1997-09 29 1997-10 30 1997-11 27 1997-12 30 1998-01 29 1998-02 26 1998-03 30");
        assert_eq!(count("FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-2", "19970929T090000", 7), expected);
    }

    #[test]
    fn every_3_hours_of_a_day() {
        let expected = ["19970902T090000", "19970902T120000", "19970902T150000"];
        assert_eq!(until("FREQ=HOURLY;INTERVAL=3", "19970902T090000", "19970902T170000"), expected);
    }

    #[test]
    fn every_15_minutes() {
        let found = until("FREQ=MINUTELY;INTERVAL=15", "19970902T090000", "19970902T101500");
        assert_eq!(found.len(), 6);
        assert_eq!(found[4..], ["19970902T100000", "19970902T101500"]);
    }

    #[test]
    fn every_hour_and_a_half() {
        let expected = ["19970902T090000", "19970902T103000", "19970902T120000", "19970902T133000"];
        assert_eq!(until("FREQ=MINUTELY;INTERVAL=90", "19970902T090000", "19970902T133000"), expected);
    }

    #[test]
    fn every_20_minutes_from_9_to_16_40_every_day() {
        let mut expected = Vec::new();
        for day in ["02", "03", "04"] {
            for hour in 9..=16 {
                expected.extend(["00", "20", "40"].map(|minute| format!("199709{day}T{hour:02}{minute}00")));
            }
        }
        let daily = "FREQ=DAILY;BYHOUR=9,10,11,12,13,14,15,16;BYMINUTE=0,20,40";
        assert_eq!(until(daily, "19970902T090000", "19970904T235959"), expected);
        let minutely = "FREQ=MINUTELY;INTERVAL=20;BYHOUR=9,10,11,12,13,14,15,16";
        assert_eq!(until(minutely, "19970902T090000", "19970904T235959"), expected);
    }

    #[test]
    fn the_week_start_changes_every_other_week() {
        let monday = "FREQ=WEEKLY;INTERVAL=2;BYDAY=TU,SU;WKST=MO";
        assert_eq!(count(monday, "19970805T090000", 4), nine("1997-08 5 10 19 24"));
        let sunday = "FREQ=WEEKLY;INTERVAL=2;BYDAY=TU,SU;WKST=SU";
        assert_eq!(count(sunday, "19970805T090000", 4), nine("1997-08 5 17 19 31"));
    }

    #[test]
    fn february_30_is_ignored() {
        let expected = nine("2007-01 15 30 2007-02 15 2007-03 15 30");
        assert_eq!(count("FREQ=MONTHLY;BYMONTHDAY=15,30", "20070115T090000", 5), expected);
    }

    /// The example of section 3.3.10.
    #[test]
    fn every_sunday_in_january_every_other_year_at_8_30_and_9_30() {
        let rule = "FREQ=YEARLY;INTERVAL=2;BYMONTH=1;BYDAY=SU;BYHOUR=8,9;BYMINUTE=30";
        let mut expected = Vec::new();
        for day in ["19970105", "19970112", "19970119", "19970126", "19990103"] {
            expected.extend(["083000", "093000"].map(|time| format!("{day}T{time}")));
        }
        assert_eq!(count(rule, "19970105T083000", 10), expected);
    }

    /// "-306 represents the 306th to the last day of the year (March 1st)".
    #[test]
    fn day_306_from_the_end_is_march_1() {
        let expected = nine("1999-03 1 2000-03 1 2001-03 1 2002-03 1 2003-03 1 2004-03 1");
        assert_eq!(count("FREQ=YEARLY;BYYEARDAY=-306", "19990301T090000", 6), expected);
    }

    /// "week 53 can only occur when Thursday is January 1 or if it is a leap year and Wednesday is January 1".
    #[test]
    fn week_53_is_where_the_rfc_says() {
        for year in 1..=9999 {
            let january = weekday(new_year(year));
            let leap = month_length(year, 2) == 29;
            let (_, weeks) = week_of(Date { year, month: 7, day: 1 }.number(), 0);
            assert_eq!(weeks == 53, january == 3 || leap && january == 2, "{year}");
        }
    }

    #[test]
    fn weeks_reach_over_the_end_of_the_year() {
        // 2015 has 53 weeks. The last one is 28 December 2015 to 3 January 2016.
        let rule = "FREQ=YEARLY;BYWEEKNO=53;BYDAY=WE,SA";
        let expected = nine("2015-12 30 2016-01 2 2020-12 30 2021-01 2");
        assert_eq!(until(rule, "20151230T090000", "20221231T090000"), expected);
        assert_eq!(
            until("FREQ=YEARLY;BYWEEKNO=-1;BYDAY=SA", "20160102T090000", "20170108T090000")[..2],
            ["20160102T090000", "20161231T090000"]
        );
        // Week 1 of 2020 begins on 30 December 2019; 2020 has 53 weeks.
        let expected = nine("2019-12 30 2025-12 29");
        assert_eq!(until("FREQ=YEARLY;BYWEEKNO=-53;BYDAY=MO", "20191230T090000", "20251228T090000"), expected[..1]);
        let expected = nine("2019-12 30 2021-01 4 2022-01 3 2023-01 2 2024-01 1 2024-12 30");
        assert_eq!(until("FREQ=YEARLY;BYWEEKNO=1", "20191230T090000", "20250102T090000"), expected);
    }

    #[test]
    fn weekdays_with_and_without_numbers_stand_together() {
        let expected = nine("2024-01 1 2 9 16 23 30 2024-02 5 6 13 20 27");
        assert_eq!(count("FREQ=MONTHLY;BYDAY=1MO,TU", "20240101T090000", 11), expected);
    }

    #[test]
    fn positions_count_starts_before_dtstart() {
        // The week of Wednesday 3 January 2024 has Monday as its first start.
        let expected = nine("2024-01 3 8 15");
        assert_eq!(count("FREQ=WEEKLY;BYDAY=MO,TH;BYSETPOS=1", "20240103T090000", 3), expected);
        let hourly = "FREQ=HOURLY;BYMINUTE=10,20,30;BYSETPOS=2,-1";
        let expected = ["20240103T092500", "20240103T093000", "20240103T102000", "20240103T103000"];
        assert_eq!(until(hourly, "20240103T092500", "20240103T110000"), expected);
    }

    #[test]
    fn second_60_is_second_59() {
        let rule = "FREQ=MINUTELY;BYSECOND=59,60;BYSETPOS=-1";
        let expected = ["20240103T092500", "20240103T092559", "20240103T092659"];
        assert_eq!(until(rule, "20240103T092500", "20240103T092730"), expected);
    }

    #[test]
    fn intervals_count_hours_minutes_and_seconds_over_days() {
        let expected = ["20240101T050000", "20240102T060000", "20240103T070000"];
        assert_eq!(until("FREQ=HOURLY;INTERVAL=25", "20240101T050000", "20240103T080000"), expected);
        let expected = ["20231231T235959", "20240101T235958", "20240102T235957"];
        assert_eq!(until("FREQ=SECONDLY;INTERVAL=86399", "20231231T235959", "20240103T000000"), expected);
        assert_eq!(until("FREQ=DAILY;INTERVAL=1000000000000000000", "20240103T092500", "99991231T000000").len(), 1);
    }

    #[test]
    fn a_window_is_a_cut_of_the_whole() {
        let rules = [
            "FREQ=YEARLY;INTERVAL=3;BYDAY=-1FR,10MO",
            "FREQ=MONTHLY;INTERVAL=5;BYMONTHDAY=31,-1",
            "FREQ=WEEKLY;INTERVAL=7;BYDAY=MO,SU;WKST=WE",
            "FREQ=DAILY;INTERVAL=11;BYHOUR=1,23",
            "FREQ=HOURLY;INTERVAL=100;BYMINUTE=1,2",
        ];
        let first = at("19991231T233000");
        for rule in rules.map(Parts::read) {
            let all = starts(&rule, first, first, first + 4000 * DAY);
            for (from, to) in [(0, 4000), (5, 6), (365, 1000), (1234, 3456), (3999, 4000)] {
                let (from, to) = (first + from * DAY + 7, first + to * DAY);
                let expected: Vec<i64> = all.iter().copied().filter(|start| (from..to).contains(start)).collect();
                assert_eq!(starts(&rule, first, from, to), expected, "{rule}");
            }
        }
    }

    #[test]
    fn days_and_dates_agree() {
        let mut expected = Date { year: 1, month: 1, day: 1 };
        let days = expected.number()..new_year(10_000);
        for number in days {
            let found = Date::of(number);
            assert_eq!(found, expected);
            expected.day += 1;
            if expected.day > month_length(expected.year, expected.month) {
                (expected.day, expected.month) = (1, expected.month + 1);
            }
            if expected.month > 12 {
                (expected.month, expected.year) = (1, expected.year + 1);
            }
        }
        assert_eq!(expected, Date { year: 10_000, month: 1, day: 1 });
        assert_eq!(Date { year: 1970, month: 1, day: 1 }.number(), 0);
        assert_eq!(weekday(Date { year: 2024, month: 2, day: 29 }.number()), 3);
    }

    #[test]
    fn the_text_is_read_and_written() {
        let text = "FREQ=YEARLY;INTERVAL=2;BYMONTH=1,12;BYYEARDAY=-1;BYMONTHDAY=31;BYDAY=-1SU,MO,53TU;BYHOUR=0;\
                    BYMINUTE=59;BYSECOND=60;BYSETPOS=-366,1;WKST=SU";
        assert_eq!(Parts::read(text).to_string(), text);
        assert_eq!(Parts::read("FREQ=YEARLY;BYWEEKNO=-53,+1").to_string(), "FREQ=YEARLY;BYWEEKNO=-53,1");
        assert_eq!(Parts::read("FREQ=SECONDLY"), Parts::new(Freq::Secondly));
    }
}
