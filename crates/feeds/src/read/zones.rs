//! From the zone names of a feed to clocks.

use std::collections::HashMap;
use std::rc::Rc;

use kalends_time::{Timestamp, Zone};

use super::clock::Clock;
use super::observances::Described;
use super::steps::Steps;
use super::windows;
use crate::limits::{ZONE_NAME_MAX, ZONES_MAX};

/// The zone names that a feed uses, with their numbers.
#[derive(Debug, Default)]
pub(super) struct ZoneNames {
    numbers: HashMap<String, u32>,
    names: Vec<String>,
    /// Caches the last name, because most events name the same zone as the event before.
    last: Option<u32>,
}

impl ZoneNames {
    /// The number of a name. Names that are too long, and names beyond [`ZONES_MAX`], share the number of a name that
    /// no zone has.
    pub(super) fn number(&mut self, name: &str) -> u32 {
        let name = name.trim();
        if let Some(last) = self.last
            && self.names.get(last as usize).is_some_and(|known| known == name)
        {
            return last;
        }
        let full = self.names.len() >= ZONES_MAX && !self.numbers.contains_key(name);
        let name = if full || name.len() > ZONE_NAME_MAX { "" } else { name };
        let next = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
        let number = *self.numbers.entry(name.to_owned()).or_insert(next);
        if number == next {
            self.names.push(name.to_owned());
        }
        self.last = Some(number);
        number
    }

    pub(super) fn names(&self) -> &[String] {
        &self.names
    }
}

/// The clock of a name: by the name alone if it is unambiguous, else as the feed describes it, else by a guess from the
/// name.
pub(super) fn clock_of(
    name: &str,
    described: &HashMap<String, Described>,
    now: Timestamp,
    steps: &mut Steps,
) -> Option<Clock> {
    if let Some(zone) = named(name) {
        return Some(Clock::Zone(zone));
    }
    if let Some(described) = described.get(name) {
        if let Some(zone) = described.location.as_deref().and_then(named) {
            return Some(Clock::Zone(zone));
        }
        if let Some(transitions) = described.evaluated(steps) {
            let known = transitions.same_as(now).map(Clock::Zone);
            return Some(known.unwrap_or_else(|| Clock::Described(Rc::new(transitions))));
        }
    }
    guessed(name).map(Clock::Zone)
}

/// The zone that a name names unambiguously: a name of the IANA database, with or without the prefix of a producer, or
/// a Windows name.
pub fn named(name: &str) -> Option<Zone> {
    if ["UTC", "GMT", "Z", "Etc/UTC", "Etc/GMT", "tzone://Microsoft/Utc"]
        .iter()
        .any(|utc| name.eq_ignore_ascii_case(utc))
    {
        return Some(Zone::UTC);
    }
    if name.ends_with("Standard Time") {
        return windows::zone(name);
    }
    // Drop prefixes, as in `/mozilla.org/20050126_1/Europe/Berlin`, until a known name is left.
    let mut rest = Some(name);
    while let Some(name) = rest.filter(|name| name.contains('/')) {
        if let Ok(zone) = name.parse() {
            return Some(zone);
        }
        rest = name.split_once('/').map(|(_, rest)| rest);
    }
    None
}

/// The zone that a name probably means: a short name of the IANA database (`EST`), which some producers use for zones
/// with summer time, or a display name.
pub(super) fn guessed(name: &str) -> Option<Zone> {
    name.trim_start_matches('/').parse().ok().or_else(|| windows::zone(name))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("Europe/Berlin", "Europe/Berlin")]
    #[case("US/Eastern", "US/Eastern")]
    #[case("America/Indiana/Indianapolis", "America/Indiana/Indianapolis")]
    #[case("utc", "UTC")]
    #[case("W. Europe Standard Time", "Europe/Berlin")]
    #[case("Pacific Standard Time", "America/Los_Angeles")]
    #[case("India Standard Time", "Asia/Calcutta")]
    #[case("AUS Eastern Standard Time", "Australia/Sydney")]
    #[case("/freeassociation.sourceforge.net/Europe/Berlin", "Europe/Berlin")]
    #[case("/freeassociation.sourceforge.net/Tzfile/Europe/Berlin", "Europe/Berlin")]
    #[case("/mozilla.org/20050126_1/Europe/Berlin", "Europe/Berlin")]
    #[case("/softwarestudio.org/Olson_20011030_5/America/Chicago", "America/Chicago")]
    #[case("/citadel.org/20190914_1/America/Argentina/Buenos_Aires", "America/Argentina/Buenos_Aires")]
    #[case("(UTC+01:00) Amsterdam, Berlin, Bern, Rome, Stockholm, Vienna", "Europe/Berlin")]
    #[case("EST5EDT", "EST5EDT")]
    #[case("/EST5EDT", "EST5EDT")]
    fn names_are_known(#[case] name: &str, #[case] zone: &str) {
        let clock = clock_of(name, &HashMap::new(), Timestamp::EPOCH, &mut Steps::new());
        assert_eq!(clock.and_then(|clock| clock.zone()).map(Zone::name), Some(zone));
    }

    #[rstest]
    #[case("")]
    #[case("Customized Time Zone")]
    #[case("Mars/Olympus")]
    #[case("/////")]
    #[case("Moon Standard Time")]
    #[case("(UTC+05:30) Some hills")]
    fn names_are_unknown(#[case] name: &str) {
        assert!(clock_of(name, &HashMap::new(), Timestamp::EPOCH, &mut Steps::new()).is_none());
    }

    #[test]
    fn names_are_numbered_and_bounded() {
        let mut names = ZoneNames::default();
        assert_eq!([names.number("a"), names.number("b"), names.number(" a"), names.number("b")], [0, 1, 0, 1]);
        for index in 0..2 * ZONES_MAX {
            names.number(&index.to_string());
        }
        assert!(names.names().len() <= ZONES_MAX + 1);
        assert_eq!(names.number(&"x".repeat(ZONE_NAME_MAX + 1)), names.number("another"));
    }
}
