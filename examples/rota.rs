//! `kalends-recurrence` on your own storage: the rota of a clinic, kept as lines of text.
//!
//! A duty is a rule (RFC 5545). It is validated when it is stored, and expanded for any week. `cargo run --example
//! rota` prints two weeks around a change of the clocks.

use std::error::Error;

use kalends_recurrence::{Length, Rule, Series};
use kalends_time::{SignedDuration, Span, Timestamp, Zone};

/// One stored duty: the person, the canonical rule, its first start, the zone, the hours, and the last start if there
/// is one.
struct Line(String);

impl Line {
    /// Validates a duty and writes it. A rule that cannot be expanded in bounded time is refused here.
    fn write(who: &str, rule: &str, first: &str, zone: &str, hours: i64) -> Result<Self, Box<dyn Error>> {
        let rule: Rule = rule.parse()?;
        let series = Series::new(rule, first.parse()?, zone.parse()?, Length::elapsed(SignedDuration::hours(hours))?)?;
        let last = series.last_start().map(|last| last.to_string()).unwrap_or_default();
        Ok(Self(format!("{who}|{}|{first}|{zone}|{hours}|{last}", series.rule())))
    }

    /// Reads the duty back without validating it again.
    fn read(&self) -> Result<(&str, Series), Box<dyn Error>> {
        let parts: Vec<&str> = self.0.split('|').collect();
        let [who, rule, first, zone, hours, last] = parts.as_slice() else { return Err("six parts".into()) };
        let last: Option<Timestamp> = if last.is_empty() { None } else { Some(last.parse()?) };
        let length = Length::elapsed(SignedDuration::hours(hours.parse()?))?;
        Ok((who, Series::from_stored(rule.parse()?, first.parse()?, zone.parse::<Zone>()?, length, last)?))
    }
}

/// The shifts within a span, by start.
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
    // Eight o'clock stays eight o'clock, although the clocks are set forward on the 28th.
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
    fn the_example_runs() {
        super::main().unwrap();
    }

    #[test]
    fn a_rule_that_never_repeats_is_refused() {
        let never = super::Line::write("Ada", "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30", "2027-03-01T07:00:00Z", "UTC", 8);
        assert!(never.is_err());
    }
}
