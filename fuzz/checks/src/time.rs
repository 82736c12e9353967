//! Timestamps, dates and zones, as requests contain them.

use kalends_calendars::Moment;
use kalends_kernel::{EARLIEST_TIME, request_time};
use kalends_time::phrase::{Unresolved, resolve};
use kalends_time::{CivilDate, Timestamp, Zone};

use crate::{check_message, zone};

/// Zones whose clocks skip one hour, half an hour, midnight, a whole day, or follow decrees.
const ZONES: [&str; 5] =
    ["Europe/Berlin", "Australia/Lord_Howe", "America/Santiago", "Pacific/Apia", "Africa/Casablanca"];

/// Parses the input as a timestamp, a date, a moment, a zone and words.
///
/// # Panics
/// If a value does not survive a round trip, or a moment is outside the accepted years.
pub fn check(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    match text.parse::<Timestamp>() {
        Ok(instant) => read_back(instant),
        Err(error) => check_message(&error),
    }
    if let Ok(date) = text.parse::<CivilDate>() {
        assert_eq!(date.to_string(), text, "a date has one form");
        let (year, month, day) = date.year_month_day();
        assert_eq!(CivilDate::new(year, month, day), Some(date));
    }
    match text.parse::<Zone>() {
        Ok(zone) => assert_eq!(zone.name().parse(), Ok(zone)),
        Err(error) => check_message(&error),
    }
    moment(text);
    for zone in ZONES.map(zone) {
        words(text, zone);
    }
}

/// Words resolve to a time whose reading resolves to the same, or the error lists texts that do.
fn words(text: &str, zone: Zone) {
    // 2026-10-25T01:00:00Z, when the clocks of Berlin go back.
    let now = Timestamp::from_micros(1_792_890_000_000_000);
    let texts = match resolve(text, zone, now) {
        Ok(resolved) => vec![resolved.reading],
        Err(error) => {
            check_message(&error);
            match error {
                Unresolved::Ambiguous { candidates } => candidates,
                Unresolved::Skipped { next, .. } => vec![next],
                _ => Vec::new(),
            }
        }
    };
    for text in texts {
        let read_back = resolve(&text, zone, now).map(|resolved| resolved.reading);
        assert_eq!(read_back.as_ref(), Ok(&text), "in {zone}");
    }
}

fn read_back(instant: Timestamp) {
    // An offset can move the last hours of 9999 and the first of the year 0 to years that RFC 3339 does not have.
    if (0..=9_999).contains(&instant.utc_date().year_month_day().0) {
        assert_eq!(instant.to_string().parse(), Ok(instant));
    }
    for zone in ZONES.map(zone) {
        // If two timestamps have the same civil time, the first is returned.
        let civil = zone.to_civil(instant);
        let back = zone.to_timestamp(civil);
        assert!(back.is_some_and(|back| back <= instant && zone.to_civil(back) == civil), "{instant} in {zone}");
    }
}

/// A moment is a date if the text is one, else a timestamp, and nothing else.
fn moment(text: &str) {
    match Moment::parse("start_time", text) {
        Ok(Moment::On(date)) => assert_eq!(text.parse(), Ok(date)),
        Ok(Moment::At(instant)) => {
            assert!((EARLIEST_TIME..Timestamp::HORIZON).contains(&instant), "{instant} is outside the accepted years");
            assert_eq!(text.parse(), Ok(instant));
        }
        Err(_) => assert!(request_time(text).is_err() && text.parse::<CivilDate>().is_err(), "{text:?}"),
    }
}
