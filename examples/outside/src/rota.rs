//! The rota of a hospital with wards in three zones: one rule for each shift, and the changes that people made.

use kalends_recurrence::{Frequency, Length, RecurrenceSet, Rule, SignedDuration, Span, Timestamp, Weekday, Zone};

use crate::{Outcome, expect};

/// Night shifts of eight hours, from 22:00 on the ward's clock.
fn nights(ward: &str, first: &str, days: &[Weekday]) -> Result<RecurrenceSet, Box<dyn std::error::Error>> {
    let zone: Zone = ward.parse()?;
    let mut shifts = RecurrenceSet::new(first.parse()?, zone, Length::elapsed(SignedDuration::hours(8))?);
    shifts.add_rule(Rule::builder(Frequency::Weekly).by_day(days.iter().copied()).build()?)?;
    Ok(shifts)
}

pub fn run() -> Outcome {
    // Clocks change in New York on 14 March 2027, in Berlin on 28 March, and never in Kolkata.
    let mut berlin = nights("Europe/Berlin", "2027-03-01T21:00:00Z", &[Weekday::Monday, Weekday::Saturday])?;
    let kolkata = nights("Asia/Kolkata", "2027-03-02T16:30:00Z", &[Weekday::Tuesday])?;
    let new_york = nights("America/New_York", "2027-03-01T03:00:00Z", &[Weekday::Sunday])?;

    // The shift of Easter Monday is left out, and the one before begins an hour earlier.
    let easter_monday: Timestamp = "2027-03-29T20:00:00Z".parse()?;
    berlin.add_exception(easter_monday);
    let saturday: Timestamp = "2027-03-27T21:00:00Z".parse()?;
    berlin.add_override(saturday, Span::new("2027-03-27T20:00:00Z".parse()?, "2027-03-28T05:00:00Z".parse()?)?);

    let week = Span::new("2027-03-27T12:00:00Z".parse()?, "2027-04-03T12:00:00Z".parse()?)?;
    let mut shifts = Vec::new();
    for (ward, set) in [("Berlin", &berlin), ("Kolkata", &kolkata), ("New York", &new_york)] {
        shifts.extend(set.between(week).map(|shift| (shift.span.start().to_string(), ward)));
    }
    shifts.sort();
    for (start, ward) in &shifts {
        println!("{start}  {ward}");
    }
    let expected =
        [("2027-03-27T20:00:00Z", "Berlin"), ("2027-03-29T02:00:00Z", "New York"), ("2027-03-30T16:30:00Z", "Kolkata")];
    expect(&shifts, &expected.map(|(start, ward)| (start.to_owned(), ward)).to_vec())
}
