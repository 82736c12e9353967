//! Evaluation of `VTIMEZONE`, a zone that the feed describes itself (RFC 5545 section 3.6.5).

use kalends_recurrence::{Rule, Until};
use kalends_time::{Timestamp, Zone};

use super::clock::Transitions;
use super::expand::Expansion;
use super::steps::{Exhausted, Steps};
use super::values::{DAY, local_seconds};
use crate::limits::{TRANSITIONS_MAX, ZONE_STEPS_MAX};

/// Two years before the earliest event, so that the offset at the beginning is known.
const FROM: i64 = -2 * 366 * DAY;
/// 2037-12-31, the end of the tables from which many producers write their zones.
const COMPARED_UNTIL: i64 = 2_145_830_400;

/// A `VTIMEZONE` as written.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Described {
    /// `X-LIC-LOCATION`: its name in the IANA database.
    pub(super) location: Option<String>,
    pub(super) observances: Vec<Observance>,
    /// Whether it has too many observances, or an invalid one.
    pub(super) unusable: bool,
}

/// A `STANDARD` or `DAYLIGHT` part.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Observance {
    /// In local seconds, by the offset before the change.
    pub(super) start: Option<i64>,
    pub(super) from: Option<i64>,
    pub(super) to: Option<i64>,
    pub(super) rules: Vec<Rule>,
    pub(super) dates: Vec<i64>,
}

impl Described {
    /// The offset changes. `None` if the description has no observance or an unusable one, has too many changes, or
    /// takes too many steps.
    pub(super) fn evaluated(&self, steps: &mut Steps) -> Option<Transitions> {
        if self.unusable {
            return None;
        }
        steps.allow(ZONE_STEPS_MAX);
        let mut changes = Vec::new();
        let mut first: Option<(i64, i64)> = None;
        for observance in &self.observances {
            let (start, from, to) = (observance.start?, observance.from?, observance.to?);
            for onset in observance.onsets(start, from, steps).ok()? {
                changes.push((onset.saturating_sub(from), to));
            }
            if changes.len() > TRANSITIONS_MAX {
                return None;
            }
            first = Some(first.unwrap_or((start, from)).min((start, from)));
        }
        changes.sort_unstable();
        changes.dedup_by_key(|(at, _)| *at);
        first.map(|(_, before)| Transitions { before, changes })
    }
}

impl Observance {
    /// The local times at which it begins, by the offset before the change.
    fn onsets(&self, start: i64, from: i64, steps: &mut Steps) -> Result<Vec<i64>, Exhausted> {
        let horizon = Timestamp::HORIZON.as_unix_seconds();
        let mut onsets = vec![start];
        onsets.extend(self.dates.iter().copied().filter(|date| *date < horizon));
        for rule in &self.rules {
            let until = rule.until().map_or(horizon, |until| match until {
                Until::Timestamp(until) => until.as_unix_seconds().saturating_add(from),
                Until::Date(date) => (date.as_days() + 1) * DAY - 1,
                Until::Local(until) => local_seconds(until),
            });
            let expansion = Expansion::new(rule, start);
            let mut generated = expansion.starts(FROM, until.min(horizon));
            while let Some(onset) = generated.next(steps)? {
                onsets.push(onset);
                if onsets.len() > TRANSITIONS_MAX {
                    return Err(Exhausted);
                }
            }
        }
        Ok(onsets)
    }
}

/// Zones that represent all others with the same clocks, best known first.
const CANDIDATES: [&str; 88] = [
    "Europe/Berlin",
    "Europe/London",
    "America/New_York",
    "America/Chicago",
    "America/Denver",
    "America/Los_Angeles",
    "Europe/Athens",
    "Asia/Kolkata",
    "Asia/Shanghai",
    "Asia/Tokyo",
    "Australia/Sydney",
    "Australia/Brisbane",
    "Australia/Adelaide",
    "Australia/Darwin",
    "Australia/Lord_Howe",
    "Australia/Eucla",
    "Pacific/Auckland",
    "Pacific/Chatham",
    "America/Phoenix",
    "America/Anchorage",
    "America/Adak",
    "Pacific/Honolulu",
    "America/Halifax",
    "America/St_Johns",
    "America/Sao_Paulo",
    "America/Santiago",
    "America/Asuncion",
    "America/Havana",
    "America/Nuuk",
    "America/Miquelon",
    "America/Mexico_City",
    "America/Bogota",
    "America/Caracas",
    "America/Argentina/Buenos_Aires",
    "America/Noronha",
    "Atlantic/Azores",
    "Atlantic/Cape_Verde",
    "Atlantic/Reykjavik",
    "Africa/Lagos",
    "Africa/Johannesburg",
    "Africa/Cairo",
    "Africa/Nairobi",
    "Africa/Casablanca",
    "Europe/Chisinau",
    "Europe/Moscow",
    "Europe/Istanbul",
    "Asia/Beirut",
    "Asia/Jerusalem",
    "Asia/Gaza",
    "Asia/Tehran",
    "Asia/Dubai",
    "Asia/Kabul",
    "Asia/Karachi",
    "Asia/Kathmandu",
    "Asia/Dhaka",
    "Asia/Yangon",
    "Asia/Bangkok",
    "Asia/Singapore",
    "Asia/Seoul",
    "Pacific/Port_Moresby",
    "Pacific/Guadalcanal",
    "Pacific/Fiji",
    "Pacific/Tongatapu",
    "Pacific/Apia",
    "Pacific/Kiritimati",
    "Pacific/Marquesas",
    "Pacific/Gambier",
    "Pacific/Pitcairn",
    "Pacific/Pago_Pago",
    "Pacific/Norfolk",
    "Pacific/Easter",
    "Antarctica/Troll",
    "UTC",
    "Etc/GMT+12",
    "Etc/GMT+11",
    "Etc/GMT+9",
    "Etc/GMT+8",
    "Etc/GMT+7",
    "Etc/GMT+6",
    "Etc/GMT+5",
    "Etc/GMT+4",
    "Etc/GMT+3",
    "Etc/GMT+2",
    "Etc/GMT+1",
    "Etc/GMT-1",
    "Etc/GMT-2",
    "Etc/GMT-13",
    "Etc/GMT-14",
];

impl Transitions {
    /// A known zone whose clocks agree from a year before `now` to 2037, and at least to three years after `now`.
    pub(super) fn same_as(&self, now: Timestamp) -> Option<Zone> {
        let from = now.as_unix_seconds() - 366 * DAY;
        let until = COMPARED_UNTIL.max(now.as_unix_seconds() + 3 * 366 * DAY);
        CANDIDATES.iter().filter_map(|name| name.parse().ok()).find(|zone| self.agrees(*zone, from, until))
    }

    fn agrees(&self, zone: Zone, from: i64, until: i64) -> bool {
        let same = |at: i64| {
            zone.offset_at(Timestamp::from_micros(at.saturating_mul(1_000_000))).as_seconds() == self.offset_at(at)
        };
        let changes = self.changes.iter().map(|(at, _)| *at).filter(|at| (from..until).contains(at));
        if !same(from) || !changes.clone().all(|at| same(at - 1) && same(at)) {
            return false;
        }
        // No zone changes twice within this step, so no change is missed.
        let quiet = Zone::BETWEEN_CHANGES.as_seconds();
        let mut days = (0..).map(|index| from + index * quiet).take_while(|at| *at < until);
        days.all(same)
    }
}
