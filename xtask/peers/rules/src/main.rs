//! Expands recurrence rules with one library, which the first argument names.
//!
//! Each line of standard input is a rule, its first start and a window, as `random_rules` of kalends-recurrence writes
//! them: tabs between the fields, and seconds since 1970 in UTC. The first line of the output says `ready`. If the second
//! argument is `starts`, the answer to each rule is a line with the starts in the window and commas between them, or
//! `refused`. If it is `time`, the answer is a line with the number of starts and the nanoseconds of one expansion. Parsing
//! the rule is not measured.

use std::error::Error;
use std::hint::black_box;
use std::io::{BufRead as _, Write as _};
use std::time::{Duration, Instant};

use chrono::{DateTime, Utc};

type Expand = Box<dyn Fn() -> Vec<i64>>;
type Outcome<T> = Result<T, Box<dyn Error>>;

/// A measurement repeats its run for this long.
const WORTH_TIMING: Duration = Duration::from_millis(100);

/// A rule with its first start, and a window that excludes its end.
struct Question {
    rule: String,
    first: i64,
    from: i64,
    to: i64,
}

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [library, answer] = arguments.as_slice() else { return Err("usage: kalends-rule-peers LIBRARY starts|time".into()) };
    let prepare = match library.as_str() {
        "kalends" => kalends,
        "rrule" => rrule,
        "recurrence" => recurrence,
        "rrules" => rrules,
        other => return Err(format!("there is no library `{other}`").into()),
    };
    let mut out = std::io::stdout().lock();
    writeln!(out, "ready")?;
    out.flush()?;
    for line in std::io::stdin().lock().lines() {
        match (prepare(question(&line?)?), answer.as_str()) {
            (Err(_), _) => writeln!(out, "refused")?,
            (Ok(expand), "time") => {
                let (count, nanos) = time(&expand);
                writeln!(out, "{count}\t{nanos:.0}")?;
            }
            (Ok(expand), _) => {
                let starts: Vec<String> = expand().iter().map(i64::to_string).collect();
                writeln!(out, "{}", starts.join(","))?;
            }
        }
        // The reader kills this process if a line takes too long.
        out.flush()?;
    }
    Ok(())
}

fn question(line: &str) -> Outcome<Question> {
    let mut fields = line.split('\t');
    let rule = fields.next().ok_or("a line has a rule")?.to_owned();
    let mut number = || -> Outcome<i64> { Ok(fields.next().ok_or("a line has three numbers")?.parse()?) };
    Ok(Question { rule, first: number()?, from: number()?, to: number()? })
}

fn time(expand: &Expand) -> (usize, f64) {
    let count = expand().len();
    let (began, mut runs) = (Instant::now(), 0u32);
    while began.elapsed() < WORTH_TIMING {
        black_box(expand());
        runs += 1;
    }
    (count, began.elapsed().as_nanos() as f64 / f64::from(runs))
}

fn utc(seconds: i64) -> Outcome<DateTime<Utc>> {
    Ok(DateTime::from_timestamp(seconds, 0).ok_or("outside of the calendar")?)
}

/// The first start in the format of iCalendar.
fn dtstart(seconds: i64) -> Outcome<String> {
    Ok(utc(seconds)?.format("%Y%m%dT%H%M%SZ").to_string())
}

fn kalends(asked: Question) -> Outcome<Expand> {
    use kalends_recurrence::{Length, Series, SignedDuration, Timestamp, Zone};
    let at = |seconds| Timestamp::EPOCH + SignedDuration::seconds(seconds);
    let minute = Length::elapsed(SignedDuration::minutes(1))?;
    let series = Series::new(asked.rule.parse()?, at(asked.first), Zone::UTC, minute)?;
    Ok(Box::new(move || series.starts(at(asked.from)..at(asked.to)).map(Timestamp::as_unix_seconds).collect()))
}

/// The window of these libraries includes its end, and the number of results must be limited.
fn rrule(asked: Question) -> Outcome<Expand> {
    let set: rrule::RRuleSet = format!("DTSTART:{}\nRRULE:{}", dtstart(asked.first)?, asked.rule).parse()?;
    let (from, to) =
        (utc(asked.from)?.with_timezone(&rrule::Tz::UTC), utc(asked.to - 1)?.with_timezone(&rrule::Tz::UTC));
    let set = set.after(from).before(to);
    Ok(Box::new(move || set.clone().all(u16::MAX).dates.iter().map(DateTime::timestamp).collect()))
}

fn recurrence(asked: Question) -> Outcome<Expand> {
    let set: recurrence::RRuleSet = format!("DTSTART:{}\nRRULE:{}", dtstart(asked.first)?, asked.rule).parse()?;
    let zone = recurrence::Tz::from(Utc);
    let set = set.after(utc(asked.from)?.with_timezone(&zone)).before(utc(asked.to - 1)?.with_timezone(&zone));
    Ok(Box::new(move || set.clone().all(u16::MAX).dates.iter().map(DateTime::timestamp).collect()))
}

/// This library has no windows: it counts from the first start.
fn rrules(asked: Question) -> Outcome<Expand> {
    let first = utc(asked.first)?.format("%Y-%m-%dT%H:%M:%SZ");
    // It requires an interval.
    let interval = if asked.rule.contains("INTERVAL=") { "" } else { ";INTERVAL=1" };
    let rule =
        format!("{}{interval};DTSTART={first}", asked.rule).parse::<rrules::Recurrence>().map_err(|_| "refused")?;
    let (from, to) = (utc(asked.from)?, utc(asked.to)?);
    let in_window = move |start: &DateTime<Utc>| *start >= from;
    Ok(Box::new(move || {
        let starts = rule.clone().skip_while(|start| !in_window(start)).take_while(|start| *start < to);
        starts.map(|start| start.timestamp()).collect()
    }))
}
