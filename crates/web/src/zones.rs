//! The zones that a visitor can choose from.

use std::sync::{Arc, LazyLock, Mutex, PoisonError};

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
    pub(crate) label: Arc<str>,
    pub(crate) chosen: bool,
}

/// The labels of [`LISTED`] during a time in which no listed zone changes its offset.
struct Labels {
    /// The beginning of that time; `None` if it has none.
    from: Option<Timestamp>,
    /// The end of that time; `None` if it has none.
    until: Option<Timestamp>,
    of: Vec<Vec<Arc<str>>>,
}

impl Labels {
    /// The labels at that time. The last ones are kept, because most pages need the same.
    fn at(at: Timestamp) -> Arc<Self> {
        static KEPT: Mutex<Option<Arc<Labels>>> = Mutex::new(None);
        let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(labels) = kept.as_ref().filter(|labels| labels.hold_at(at)) {
            return Arc::clone(labels);
        }
        let labels = Arc::new(Self::new(at));
        *kept = Some(Arc::clone(&labels));
        labels
    }

    fn new(at: Timestamp) -> Self {
        let periods = || LISTED.iter().flat_map(|(_, zones)| zones).map(|zone| zone.offset_period_at(at));
        let labels = |zones: &[Zone]| -> Vec<Arc<str>> { zones.iter().map(|zone| label(*zone, at).into()).collect() };
        Self {
            from: periods().filter_map(|period| period.start).max(),
            until: periods().filter_map(|period| period.end).min(),
            of: LISTED.iter().map(|(_, zones)| labels(zones)).collect(),
        }
    }

    fn hold_at(&self, at: Timestamp) -> bool {
        self.from.is_none_or(|from| from <= at) && self.until.is_none_or(|until| at < until)
    }
}

/// The place of a zone and its offset at that time, such as `Berlin (UTC+2)`.
fn label(zone: Zone, at: Timestamp) -> String {
    let (name, offset) = (zone.name(), offset_label(zone.offset_at(at)));
    let place = name.split_once('/').map_or(name, |(_, place)| place).replace('_', " ");
    if place == offset { place } else { format!("{place} ({offset})") }
}

/// The zones to choose from, with their offsets at that time. The shown zone and the page's zone come first if they
/// are not in the list.
pub(crate) fn choices(shown: Zone, page: Zone, at: Timestamp) -> Vec<Group> {
    let choice = |zone: Zone, label| Choice { name: zone.name(), label, chosen: zone == shown };
    let listed = |zone: &Zone| LISTED.iter().any(|(_, zones)| zones.contains(zone));
    let mut own: Vec<Zone> = [shown, page].into_iter().filter(|zone| !listed(zone)).collect();
    own.dedup();
    let own = own.into_iter().map(|zone| choice(zone, label(zone, at).into())).collect();
    let own = Group { name: "zones-here", zones: own };
    let labels = Labels::at(at);
    let groups = LISTED.iter().zip(&labels.of).map(|((name, zones), labels)| {
        let zones = zones.iter().zip(labels).map(|(zone, label)| choice(*zone, Arc::clone(label)));
        Group { name, zones: zones.collect() }
    });
    std::iter::once(own).filter(|own| !own.zones.is_empty()).chain(groups).collect()
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
    fn labels_follow_the_time() {
        for (at, label) in [
            ("2026-07-01T12:00:00Z", "Berlin (UTC+2)"),
            ("2026-10-25T00:59:59Z", "Berlin (UTC+2)"),
            ("2026-10-25T01:00:00Z", "Berlin (UTC+1)"),
            ("2026-03-29T01:00:00Z", "Berlin (UTC+2)"),
            ("2026-03-29T00:59:59Z", "Berlin (UTC+1)"),
        ] {
            let groups = choices(Zone::UTC, Zone::UTC, at.parse().unwrap());
            let mut zones = groups.iter().flat_map(|group| &group.zones);
            assert!(zones.any(|choice| &*choice.label == label), "{at} {label}");
        }
    }

    #[test]
    fn labels_have_the_place_and_the_offset() {
        let groups = choices(Zone::UTC, Zone::UTC, at());
        let labels: Vec<&str> = groups.iter().flat_map(|group| &group.zones).map(|choice| &*choice.label).collect();
        for label in ["Argentina/Buenos Aires (UTC\u{2212}3)", "Berlin (UTC+2)", "Kathmandu (UTC+5:45)", "UTC"] {
            assert!(labels.contains(&label), "{label}");
        }
    }
}
