//! `kalends-availability` on your own storage: when a meeting room is free, and when all of a group are free.
//!
//! Bookings are in a map of the program. The crate sorts and merges them, adds buffers and finds slots.

use std::{collections::BTreeMap, error::Error};

use kalends_availability::{BusySet, SignedDuration, Span, Timestamp, free_slots, nearest_free};

/// The bookings of each room or person, in any order.
#[derive(Default)]
struct Bookings(BTreeMap<&'static str, Vec<Span>>);

impl Bookings {
    fn add(&mut self, what: &'static str, start: &str, end: &str) -> Result<(), Box<dyn Error>> {
        self.0.entry(what).or_default().push(span(start, end)?);
        Ok(())
    }

    /// The busy times, with the time that it takes to air a room.
    fn taken(&self, what: &str, airing: SignedDuration) -> BusySet {
        let booked = self.0.get(what).cloned().unwrap_or_default();
        BusySet::from_unsorted(booked).widen(SignedDuration::minutes(0), airing)
    }

    /// The slots of a window in which all of them are free. Only bookings that overlap the window are merged.
    fn all_free(&self, all: &[&str], window: Span, length: SignedDuration) -> Vec<Span> {
        let taken: Vec<BusySet> = all.iter().map(|what| self.taken(what, SignedDuration::ZERO)).collect();
        let taken = BusySet::common_free(&taken, window).complement(window);
        free_slots(window, &taken, length, length).collect()
    }
}

fn span(start: &str, end: &str) -> Result<Span, Box<dyn Error>> {
    Ok(Span::new(start.parse::<Timestamp>()?, end.parse::<Timestamp>()?)?)
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut bookings = Bookings::default();
    bookings.add("Library", "2027-03-01T10:00:00Z", "2027-03-01T11:00:00Z")?;
    bookings.add("Library", "2027-03-01T09:00:00Z", "2027-03-01T09:30:00Z")?;
    bookings.add("Ada", "2027-03-01T09:00:00Z", "2027-03-01T10:30:00Z")?;
    bookings.add("Ben", "2027-03-01T11:00:00Z", "2027-03-01T11:30:00Z")?;

    let morning = span("2027-03-01T09:00:00Z", "2027-03-01T12:00:00Z")?;
    let together = bookings.all_free(&["Library", "Ada", "Ben"], morning, SignedDuration::minutes(30));
    for slot in &together {
        println!("all are free from {} to {}", slot.start(), slot.end());
    }
    if together != [span("2027-03-01T11:30:00Z", "2027-03-01T12:00:00Z")?] {
        return Err(format!("{together:?}").into());
    }

    // Somebody wants ten o'clock, which is taken. These are the nearest times that leave a quarter of an hour to air
    // the room.
    let wanted = span("2027-03-01T10:00:00Z", "2027-03-01T10:30:00Z")?;
    let taken = bookings.taken("Library", SignedDuration::minutes(15));
    let nearest = nearest_free(&taken, wanted, morning, SignedDuration::minutes(15), 2);
    for slot in &nearest {
        println!("instead of {}: {}", wanted.start(), slot.start());
    }
    if nearest.is_empty() || nearest.iter().any(|slot| taken.overlaps(*slot)) {
        return Err(format!("{nearest:?}").into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_example_runs() {
        super::main().unwrap();
    }
}
