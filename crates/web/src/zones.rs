//! The zones that a visitor can choose from.

use std::sync::LazyLock;

use kalends_time::{Timestamp, Zone};

use crate::time::offset_label;

/// One zone for each widely used offset and set of rules, by region. The region is named by its message. Any other zone of the database can be requested
/// by `tz`, and is then in the list too.
const REGIONS: &[(&str, &[&str])] = &[
    (
        "zones-africa",
        &[
            "Africa/Accra",
            "Africa/Addis_Ababa",
            "Africa/Algiers",
            "Africa/Cairo",
            "Africa/Casablanca",
            "Africa/Johannesburg",
            "Africa/Lagos",
            "Africa/Nairobi",
        ],
    ),
    (
        "zones-america",
        &[
            "America/Anchorage",
            "America/Argentina/Buenos_Aires",
            "America/Bogota",
            "America/Caracas",
            "America/Chicago",
            "America/Denver",
            "America/Halifax",
            "America/Havana",
            "America/Lima",
            "America/Los_Angeles",
            "America/Mexico_City",
            "America/Montevideo",
            "America/New_York",
            "America/Panama",
            "America/Phoenix",
            "America/Puerto_Rico",
            "America/Santiago",
            "America/Sao_Paulo",
            "America/St_Johns",
            "America/Toronto",
            "America/Vancouver",
        ],
    ),
    (
        "zones-asia",
        &[
            "Asia/Almaty",
            "Asia/Baghdad",
            "Asia/Bangkok",
            "Asia/Beirut",
            "Asia/Colombo",
            "Asia/Dhaka",
            "Asia/Dubai",
            "Asia/Ho_Chi_Minh",
            "Asia/Hong_Kong",
            "Asia/Jakarta",
            "Asia/Jerusalem",
            "Asia/Kabul",
            "Asia/Karachi",
            "Asia/Kathmandu",
            "Asia/Kolkata",
            "Asia/Kuala_Lumpur",
            "Asia/Manila",
            "Asia/Riyadh",
            "Asia/Seoul",
            "Asia/Shanghai",
            "Asia/Singapore",
            "Asia/Taipei",
            "Asia/Tashkent",
            "Asia/Tehran",
            "Asia/Tokyo",
            "Asia/Yangon",
        ],
    ),
    (
        "zones-pacific",
        &[
            "Australia/Adelaide",
            "Australia/Brisbane",
            "Australia/Darwin",
            "Australia/Perth",
            "Australia/Sydney",
            "Pacific/Auckland",
            "Pacific/Fiji",
            "Pacific/Guam",
            "Pacific/Honolulu",
            "Pacific/Tongatapu",
        ],
    ),
    (
        "zones-europe",
        &[
            "Atlantic/Azores",
            "Atlantic/Reykjavik",
            "Europe/Amsterdam",
            "Europe/Athens",
            "Europe/Berlin",
            "Europe/Brussels",
            "Europe/Bucharest",
            "Europe/Budapest",
            "Europe/Copenhagen",
            "Europe/Dublin",
            "Europe/Helsinki",
            "Europe/Istanbul",
            "Europe/Kyiv",
            "Europe/Lisbon",
            "Europe/London",
            "Europe/Madrid",
            "Europe/Moscow",
            "Europe/Oslo",
            "Europe/Paris",
            "Europe/Prague",
            "Europe/Rome",
            "Europe/Stockholm",
            "Europe/Vienna",
            "Europe/Warsaw",
            "Europe/Zurich",
        ],
    ),
    ("zones-other", &["UTC"]),
];

/// [`REGIONS`], looked up once.
static LISTED: LazyLock<Vec<(&'static str, Vec<Zone>)>> = LazyLock::new(|| {
    let zones = |names: &[&str]| names.iter().filter_map(|name| name.parse().ok()).collect();
    REGIONS.iter().map(|(region, names)| (*region, zones(names))).collect()
});

/// A group of zones under one heading.
pub(crate) struct Group {
    /// The message that names it.
    pub(crate) name: &'static str,
    pub(crate) zones: Vec<Choice>,
}

/// A zone to choose.
pub(crate) struct Choice {
    pub(crate) name: &'static str,
    pub(crate) label: String,
    pub(crate) chosen: bool,
}

/// The zones to choose from, with their offsets at that time. The shown zone and the page's zone come first if they
/// are not in the list.
pub(crate) fn choices(shown: Zone, page: Zone, at: Timestamp) -> Vec<Group> {
    let choice = |zone: Zone| {
        let (name, offset) = (zone.name(), offset_label(zone.offset_at(at)));
        let place = name.split_once('/').map_or(name, |(_, place)| place).replace('_', " ");
        let label = if place == offset { place } else { format!("{place} ({offset})") };
        Choice { name, label, chosen: zone == shown }
    };
    let listed = |zone: &Zone| LISTED.iter().any(|(_, zones)| zones.contains(zone));
    let mut own: Vec<Zone> = [shown, page].into_iter().filter(|zone| !listed(zone)).collect();
    own.dedup();
    let own = Group { name: "zones-here", zones: own.into_iter().map(choice).collect() };
    let group =
        |(name, zones): &(&'static str, Vec<Zone>)| Group { name, zones: zones.iter().copied().map(choice).collect() };
    std::iter::once(own).filter(|own| !own.zones.is_empty()).chain(LISTED.iter().map(group)).collect()
}

/// The field in which a form asks for a zone. Its name is `timezone`.
pub(crate) struct ZoneField<'a> {
    pub(crate) groups: Vec<Group>,
    /// Whether a script chooses the zone of the browser.
    pub(crate) follows_browser: bool,
    /// What is wrong with it.
    pub(crate) problem: Option<&'a str>,
}

impl<'a> ZoneField<'a> {
    /// The field with the zone that was sent, and the offsets at that time. If nothing was sent yet, UTC is chosen, and a
    /// script chooses the browser's zone instead.
    pub(crate) fn new(sent: Option<&str>, at: Timestamp, problem: Option<&'a str>) -> Self {
        let zone = sent.and_then(|name| name.parse::<Zone>().ok()).unwrap_or(Zone::UTC);
        Self { groups: choices(zone, zone, at), follows_browser: sent.is_none(), problem }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at() -> Timestamp {
        "2026-07-01T12:00:00Z".parse().unwrap()
    }

    #[test]
    fn listed_zones_are_known_and_unique() {
        let mut names: Vec<&str> = REGIONS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        for name in &names {
            assert_eq!(name.parse::<Zone>().unwrap().name(), *name);
        }
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }

    #[test]
    fn only_the_shown_zone_is_chosen() {
        for zone in ["Europe/Berlin", "Asia/Calcutta", "UTC"] {
            let groups = choices(zone.parse().unwrap(), "Europe/Vaduz".parse().unwrap(), at());
            let chosen: Vec<&str> =
                groups.iter().flat_map(|group| &group.zones).filter(|one| one.chosen).map(|one| one.name).collect();
            assert_eq!(chosen, [zone]);
        }
    }

    #[test]
    fn a_field_keeps_what_was_sent() {
        for (sent, chosen) in [(None, "UTC"), (Some("Europe/Vaduz"), "Europe/Vaduz"), (Some("Mars"), "UTC")] {
            let field = ZoneField::new(sent, at(), None);
            let zones = field.groups.iter().flat_map(|group| &group.zones);
            let chosen_ones: Vec<&str> = zones.filter(|one| one.chosen).map(|one| one.name).collect();
            assert_eq!((chosen_ones, field.follows_browser), (vec![chosen], sent.is_none()));
        }
    }

    #[test]
    fn labels_have_the_place_and_the_offset() {
        let groups = choices(Zone::UTC, Zone::UTC, at());
        let labels: Vec<&str> =
            groups.iter().flat_map(|group| &group.zones).map(|choice| choice.label.as_str()).collect();
        for label in ["Argentina/Buenos Aires (UTC\u{2212}3)", "Berlin (UTC+2)", "Kathmandu (UTC+5:45)", "UTC"] {
            assert!(labels.contains(&label), "{label}");
        }
    }
}
