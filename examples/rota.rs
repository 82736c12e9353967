//! `kalends-recurrence` on storage of one's own: the rota of a clinic, kept as lines of text.
//!
//! A duty is written once as a rule (RFC 5545), validated when it is stored, and expanded for whatever week is asked
//! for. `cargo run --example rota` prints two weeks around a change of the clocks.

use std::error::Error;

use kalends_kernel::{SignedDuration, Span, Timestamp, Zone};
use kalends_recurrence::{Length, Rule, Series};

/// One stored duty: who, the canonical rule, its first start, zone, hours, and the last start where there is one.
struct Line(String);

impl Line {
    /// Validates a duty and writes it. What cannot be expanded in bounded time is refused here, once.
    fn write(who: &str, rule: &str, first: &str, zone: &str, hours: i64) -> Result<Self, Box<dyn Error>> {
        let rule: Rule = rule.parse()?;
        let series = Series::new(rule, first.parse()?, zone.parse()?, Length::elapsed(SignedDuration::hours(hours))?)?;
        let last = series.last_start().map(|last| last.to_string()).unwrap_or_default();
        Ok(Self(format!("{who}|{}|{first}|{zone}|{hours}|{last}", series.rule())))
    }

    /// Reads it back without counting anything anew.
    fn read(&self) -> Result<(&str, Series), Box<dyn Error>> {
        let parts: Vec<&str> = self.0.split('|').collect();
        let [who, rule, first, zone, hours, last] = parts.as_slice() else { return Err("six parts".into()) };
        let last: Option<Timestamp> = if last.is_empty() { None } else { Some(last.parse()?) };
        let length = Length::elapsed(SignedDuration::hours(hours.parse()?))?;
        Ok((who, Series::from_stored(rule.parse()?, first.parse()?, zone.parse::<Zone>()?, length, last)?))
    }
}

/// Who is on duty when, in that time, by start.
fn on_duty(rota: &[Line], within: Span) -> Result<Vec<(Timestamp, String)>, Box<dyn Error>> {
    let mut shifts = Vec::new();
    for line in rota {
        let (who, series) = line.read()?;
        shifts.extend(series.occurrences(within).map(|shift| (shift.start(), who.to_owned())));
    }
    shifts.sort();
    Ok(shifts)
}

fn main() -> Result<(), Box<dyn Error>> {
    let rota = [
        Line::write("Ada", "FREQ=WEEKLY;BYDAY=MO,TH", "2027-03-01T07:00:00Z", "Europe/Berlin", 8)?,
        Line::write("Ben", "FREQ=WEEKLY;INTERVAL=2;BYDAY=SA;COUNT=6", "2027-03-06T07:00:00Z", "Europe/Berlin", 12)?,
    ];
    let within = Span::new("2027-03-22T00:00:00Z".parse()?, "2027-04-05T00:00:00Z".parse()?)?;
    let shifts = on_duty(&rota, within)?;
    for (start, who) in &shifts {
        println!("{start} {who}");
    }
    // Eight o'clock stays eight o'clock: on the 28th the clocks are set forward.
    let starts: Vec<String> = shifts.iter().map(|(start, who)| format!("{start} {who}")).collect();
    let expected = [
        "2027-03-22T07:00:00Z Ada",
        "2027-03-25T07:00:00Z Ada",
        "2027-03-29T06:00:00Z Ada",
        "2027-04-01T06:00:00Z Ada",
        "2027-04-03T06:00:00Z Ben",
    ];
    if starts == expected { Ok(()) } else { Err(format!("an hour is off: {starts:?}").into()) }
}

#[cfg(test)]
mod tests {
    #[test]
    fn it_runs() {
        super::main().unwrap();
    }

    #[test]
    fn what_repeats_never_is_refused() {
        let never = super::Line::write("Ada", "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30", "2027-03-01T07:00:00Z", "UTC", 8);
        assert!(never.is_err());
    }
}
