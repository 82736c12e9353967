//! A room finder: rooms with opening hours and time for cleaning, and the slots in which two of three are free.

use kalends_availability::{BusySet, CivilTime, Hours, Rules, SignedDuration, Span, Week, Zone, free_slots};

use crate::{Outcome, expect};

fn span(start: &str, end: &str) -> Result<Span, Box<dyn std::error::Error>> {
    Ok(Span::new(start.parse()?, end.parse()?)?)
}

pub fn run() -> Outcome {
    let zone: Zone = "Europe/Lisbon".parse()?;
    // The rooms are open until two in the morning.
    let clock = |hour| CivilTime::new(hour, 0, 0).ok_or("there is no such hour");
    let open = Hours::between(clock(16)?, clock(2)?)?;
    let rules = Rules::new(zone)
        .with_working_hours(Week::monday_to_friday(open))
        .with_buffers(SignedDuration::ZERO, SignedDuration::minutes(30))?;

    let evening = span("2027-03-05T18:00:00Z", "2027-03-06T04:00:00Z")?;
    let booked = [
        vec![span("2027-03-05T18:00:00Z", "2027-03-05T20:00:00Z")?],
        vec![span("2027-03-05T19:00:00Z", "2027-03-05T23:30:00Z")?],
        vec![span("2027-03-05T21:00:00Z", "2027-03-06T01:30:00Z")?],
    ];
    let rooms = booked.map(|spans| rules.apply(&BusySet::from_unsorted(spans), evening));

    // While two rooms are free, two groups can meet at the same time.
    let busy = BusySet::at_least_free(2, &rooms, evening).complement(evening);
    let hour = SignedDuration::hours(1);
    let slots: Vec<String> = free_slots(evening, &busy, hour, hour).map(|slot| slot.start().to_string()).collect();
    println!("two rooms are free at {}", slots.join(", "));
    let expected = ["2027-03-05T18:00:00Z", "2027-03-06T00:00:00Z", "2027-03-06T01:00:00Z"];
    expect(&slots, &expected.map(str::to_owned).to_vec())
}
