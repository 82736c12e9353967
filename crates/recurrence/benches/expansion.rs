//! Measures the cost of expanding a series, compared with the crate `rrule` and with the simplest loop for the same
//! rule: `cargo bench -p kalends-recurrence --bench expansion`.
//!
//! Every round runs each case once, one after the other, so that a slow moment of the machine affects them all. The
//! output is the median over the rounds. Parsing the rule is not measured on either side.

use std::{hint::black_box, time::Instant as Timer};

use chrono::{DateTime, Utc};
use kalends_recurrence::{Length, Rule, Series};
use kalends_time::{CivilDate, SignedDuration, Span, Timestamp, Zone};
use rrule::{RRule, RRuleSet, Tz, Unvalidated};

const ROUNDS: usize = 21;
/// A measurement repeats its run until it takes about this many nanoseconds.
const WORTH_TIMING: f64 = 200_000.0;
/// 2026-01-02T09:00:00Z, a Friday.
const FIRST: Timestamp = Timestamp::from_micros(1_767_344_400_000_000);
const DAY: i64 = 86_400_000_000;
const YEAR: i64 = 365;
/// The maximum cost relative to the plain loop for most cases, and relative to the nearby case.
const PLAIN_MOST: f64 = 10.0;
const NEAR_MOST: f64 = 2.0;

/// A case to measure: a rule, and the days after the first start at which the window begins and ends.
struct Case {
    name: &'static str,
    rule: &'static str,
    days: (i64, i64),
    /// The plain loop, from the beginning of the window.
    plain: fn(i64, i64) -> i64,
    /// How many times faster than the crate `rrule` it must be.
    target: f64,
    /// The case with the same window near the start. This case may take up to twice as long.
    near: Option<&'static str>,
    /// The maximum cost relative to the plain loop.
    plain_most: f64,
    /// Whether both engines expand it in Europe/Berlin. Else both do in UTC.
    zoned: bool,
}

const CASES: &[Case] = &[
    Case {
        name: "weekly MO,WE, 1,000 occurrences",
        rule: "FREQ=WEEKLY;BYDAY=MO,WE",
        days: (3, 3_503),
        plain: plain_weekly,
        target: 20.0,
        near: None,
        plain_most: PLAIN_MOST,
        zoned: false,
    },
    Case {
        name: DAILY_NEAR,
        rule: "FREQ=DAILY",
        days: (0, YEAR),
        plain: plain_daily,
        target: 20.0,
        near: None,
        plain_most: PLAIN_MOST,
        zoned: false,
    },
    Case {
        name: "daily, 365 days, 10 years far",
        rule: "FREQ=DAILY",
        days: (10 * YEAR, 11 * YEAR),
        plain: plain_daily,
        target: 20.0,
        near: Some(DAILY_NEAR),
        plain_most: PLAIN_MOST,
        zoned: false,
    },
    Case {
        name: COUNT_NEAR,
        rule: "FREQ=DAILY;COUNT=10000",
        days: (0, YEAR),
        plain: plain_daily,
        target: 20.0,
        near: None,
        plain_most: PLAIN_MOST,
        zoned: false,
    },
    Case {
        name: "daily COUNT=10000, 365 days, 25 years far",
        rule: "FREQ=DAILY;COUNT=10000",
        days: (25 * YEAR, 26 * YEAR),
        plain: plain_daily,
        target: 20.0,
        near: Some(COUNT_NEAR),
        plain_most: PLAIN_MOST,
        zoned: false,
    },
    Case {
        name: MONTH_NEAR,
        rule: "FREQ=DAILY",
        days: (60, 90),
        plain: plain_daily,
        target: 20.0,
        near: None,
        plain_most: PLAIN_MOST,
        zoned: false,
    },
    Case {
        name: "daily, 30 days, 10 years far",
        rule: "FREQ=DAILY",
        days: (10 * YEAR, 10 * YEAR + 30),
        plain: plain_daily,
        target: 1_000.0,
        near: Some(MONTH_NEAR),
        plain_most: PLAIN_MOST,
        zoned: false,
    },
    Case {
        name: "daily, 30 days, 50 years far",
        rule: "FREQ=DAILY",
        days: (50 * YEAR, 50 * YEAR + 30),
        plain: plain_daily,
        target: 1_000.0,
        near: Some(MONTH_NEAR),
        plain_most: PLAIN_MOST,
        zoned: false,
    },
    Case {
        name: WEEKS_NEAR,
        rule: "FREQ=WEEKLY;BYDAY=MO,WE",
        days: (59, 89),
        plain: plain_weekly,
        target: 20.0,
        near: None,
        plain_most: PLAIN_MOST,
        zoned: false,
    },
    Case {
        name: "weekly MO,WE, 30 days, 10 years far",
        rule: "FREQ=WEEKLY;BYDAY=MO,WE",
        days: (10 * YEAR, 10 * YEAR + 30),
        plain: plain_weekly,
        target: 1_000.0,
        near: Some(WEEKS_NEAR),
        plain_most: PLAIN_MOST,
        zoned: false,
    },
    Case {
        name: "weekly MO,WE, 30 days, 50 years far",
        rule: "FREQ=WEEKLY;BYDAY=MO,WE",
        days: (50 * YEAR + 2, 50 * YEAR + 32),
        plain: plain_weekly,
        target: 1_000.0,
        near: Some(WEEKS_NEAR),
        plain_most: PLAIN_MOST,
        zoned: false,
    },
    Case {
        name: "monthly last Friday, 10 years",
        rule: "FREQ=MONTHLY;BYDAY=-1FR",
        days: (3, 10 * YEAR),
        plain: plain_last_friday,
        target: 8.0,
        near: None,
        plain_most: PLAIN_MOST,
        zoned: false,
    },
    Case {
        name: "yearly second Tuesday, 50 years",
        rule: "FREQ=YEARLY;BYDAY=2TU",
        days: (3, 50 * YEAR),
        plain: plain_second_tuesday,
        target: 20.0,
        near: None,
        plain_most: PLAIN_MOST,
        zoned: false,
    },
    Case {
        name: "yearly week 20, 10 years, 50 years far",
        rule: "FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO",
        days: (50 * YEAR, 60 * YEAR),
        plain: plain_week_20,
        target: 20.0,
        near: None,
        plain_most: 20.0,
        zoned: false,
    },
    Case {
        name: "hourly at 9, 12, 15, 30 days, in a zone",
        rule: "FREQ=HOURLY;BYHOUR=9,12,15",
        days: (1, 31),
        plain: plain_hours,
        target: 20.0,
        near: None,
        plain_most: 100.0,
        zoned: true,
    },
];

const DAILY_NEAR: &str = "daily, 365 days";
const COUNT_NEAR: &str = "daily COUNT=10000, 365 days";
const MONTH_NEAR: &str = "daily, 30 days";
const WEEKS_NEAR: &str = "weekly MO,WE, 30 days";

fn main() {
    let measured: Vec<[f64; 4]> = measure();
    println!(
        "{:<42}{:>8}{:>8}{:>12}{:>16}{:>16}{:>13}{:>7}",
        "", "ns", "Berlin", "rrule ns", "times (target)", "of plain (most)", "of near (2)", "holds"
    );
    for (case, [ours, zoned, theirs, plain]) in CASES.iter().zip(&measured) {
        let near = case.near.and_then(|near| CASES.iter().position(|case| case.name == near));
        let of_near = near.map(|near| ours / measured[near][0]);
        let (times, of_plain) = (theirs / if case.zoned { zoned } else { ours }, ours / plain);
        let holds =
            times >= case.target && of_plain <= case.plain_most && of_near.is_none_or(|of_near| of_near <= NEAR_MOST);
        println!(
            "{:<42}{ours:>8.0}{zoned:>8.0}{theirs:>12.0}{times:>8.0} ({:>5.0}){of_plain:>10.2} ({:>3.0}){:>13}{:>7}",
            case.name,
            case.target,
            case.plain_most,
            of_near.map_or_else(String::new, |of_near| format!("{of_near:.2}")),
            if holds { "yes" } else { "NO" },
        );
    }
}

/// The medians of each case: ours in UTC, ours in a zone, theirs, the plain loop.
fn measure() -> Vec<[f64; 4]> {
    let mut runs: Vec<[Box<dyn FnMut() -> i64>; 4]> = CASES.iter().map(runs).collect();
    let repeats: Vec<[u32; 4]> = runs.iter_mut().map(|runs| runs.each_mut().map(repeats)).collect();
    let mut nanos = vec![[(); 4].map(|()| Vec::with_capacity(ROUNDS)); CASES.len()];
    for _ in 0..ROUNDS {
        for ((runs, repeats), nanos) in runs.iter_mut().zip(&repeats).zip(&mut nanos) {
            for ((run, repeats), nanos) in runs.iter_mut().zip(repeats).zip(nanos) {
                nanos.push(timed(run, *repeats));
            }
        }
    }
    let median = |mut nanos: Vec<f64>| {
        nanos.sort_by(f64::total_cmp);
        nanos[ROUNDS / 2]
    };
    nanos.into_iter().map(|nanos| nanos.map(median)).collect()
}

fn runs(case: &Case) -> [Box<dyn FnMut() -> i64>; 4] {
    let (from, to) = (FIRST + SignedDuration::days(case.days.0), FIRST + SignedDuration::days(case.days.1));
    let (Ok(window), Ok(berlin)) = (Span::new(from, to), "Europe/Berlin".parse::<Zone>()) else {
        unreachable!("no window here is empty, and the zone is known")
    };
    let (utc, zoned) = (series(case.rule, Zone::UTC), series(case.rule, berlin));
    let set = theirs(case.rule, if case.zoned { Tz::Europe__Berlin } else { Tz::UTC });
    let plain = case.plain;
    [
        Box::new(move || sum(black_box(&utc).occurrences(black_box(window)))),
        Box::new(move || sum(black_box(&zoned).occurrences(black_box(window)))),
        Box::new(move || {
            let (from, to) = (black_box(from.as_micros()), black_box(to.as_micros()));
            let starts = black_box(&set).into_iter().map(|start| start.timestamp_micros());
            starts.skip_while(|start| *start < from).take_while(|start| *start < to).map(black_box).sum()
        }),
        Box::new(move || plain(black_box(from.as_micros()), black_box(to.as_micros()))),
    ]
}

/// Uses both ends of every occurrence.
fn sum(spans: impl Iterator<Item = Span>) -> i64 {
    spans.map(black_box).map(|span| span.start().as_micros() ^ span.end().as_micros()).fold(0, |sum, next| sum ^ next)
}

fn repeats(run: &mut Box<dyn FnMut() -> i64>) -> u32 {
    let mut repeats = 1;
    while timed(run, repeats) * f64::from(repeats) < WORTH_TIMING {
        repeats *= 2;
    }
    repeats
}

/// Returns nanoseconds per run.
fn timed(run: &mut Box<dyn FnMut() -> i64>, repeats: u32) -> f64 {
    let timer = Timer::now();
    for _ in 0..repeats {
        black_box(run());
    }
    timer.elapsed().as_secs_f64() * 1e9 / f64::from(repeats)
}

fn series(rule: &str, zone: Zone) -> Series {
    let made = rule.parse::<Rule>().ok().zip(Length::elapsed(SignedDuration::hours(1)).ok());
    match made.and_then(|(rule, length)| Series::new(rule, FIRST, zone, length).ok()) {
        Some(series) => series,
        None => unreachable!("every rule here is valid"),
    }
}

fn theirs(rule: &str, zone: Tz) -> RRuleSet {
    let first = DateTime::<Utc>::from_timestamp_micros(FIRST.as_micros()).unwrap_or_default().with_timezone(&zone);
    match rule.parse::<RRule<Unvalidated>>().and_then(|rule| rule.build(first)) {
        Ok(set) => set,
        Err(_) => unreachable!("every rule here is valid"),
    }
}

/// What a loop does with each occurrence of one hour.
fn one(start: i64) -> i64 {
    black_box((start, start + DAY / 24)).0
}

fn plain_daily(from: i64, to: i64) -> i64 {
    let (mut start, mut sum) = (from, 0);
    while start < to {
        sum ^= one(start);
        start += DAY;
    }
    sum
}

/// `from` is a Monday.
fn plain_weekly(from: i64, to: i64) -> i64 {
    let (mut monday, mut sum) = (from, 0);
    while monday < to {
        sum ^= one(monday);
        if monday + 2 * DAY < to {
            sum ^= one(monday + 2 * DAY);
        }
        monday += 7 * DAY;
    }
    sum
}

fn plain_last_friday(from: i64, to: i64) -> i64 {
    let (mut year, mut month, _) = CivilDate::from_days(from / DAY).year_month_day();
    let mut sum = 0;
    loop {
        (year, month) = if month == 12 { (year + 1, 1) } else { (year, month + 1) };
        let last = first_of(year, month) - 1;
        // Weekday 4, with Monday as 0. 1970-01-01 was weekday 3.
        let friday = last - (last + 3 - 4).rem_euclid(7);
        let start = friday * DAY + from % DAY;
        if start >= to {
            return sum;
        }
        sum ^= one(start);
    }
}

fn plain_second_tuesday(from: i64, to: i64) -> i64 {
    let (mut year, _, _) = CivilDate::from_days(from / DAY).year_month_day();
    let mut sum = 0;
    loop {
        let first = first_of(year, 1);
        let tuesday = first + (1 - (first + 3)).rem_euclid(7) + 7;
        let start = tuesday * DAY + from % DAY;
        if start >= to {
            return sum;
        }
        sum ^= one(start);
        year += 1;
    }
}

/// The Monday of ISO week 20. Week 1 has 4 January.
fn plain_week_20(from: i64, to: i64) -> i64 {
    let (mut year, _, _) = CivilDate::from_days(from / DAY).year_month_day();
    let mut sum = 0;
    loop {
        let fourth = first_of(year, 1) + 3;
        let monday = fourth - (fourth + 3).rem_euclid(7) + 19 * 7;
        let start = monday * DAY + from % DAY;
        if start >= to {
            return sum;
        }
        if start >= from {
            sum ^= one(start);
        }
        year += 1;
    }
}

fn plain_hours(from: i64, to: i64) -> i64 {
    let (mut day, mut sum) = (from - from % DAY, 0);
    while day < to {
        for hour in [9, 12, 15] {
            sum ^= one(day + hour * DAY / 24);
        }
        day += DAY;
    }
    sum
}

fn first_of(year: i32, month: u32) -> i64 {
    let (year, month) = if month <= 2 { (i64::from(year) - 1, month + 9) } else { (i64::from(year), month - 3) };
    365 * year + year / 4 - year / 100 + year / 400 + i64::from((153 * month + 2) / 5) - 719_468
}
