//! Time zones as `VTIMEZONE` (RFC 5545 section 3.6.5), from the compiled-in database.

use std::collections::BTreeMap;

use kalends_time::{CivilDate, CivilDateTime, SignedDuration, Timestamp, Zone};

use super::{line::Lines, stamp};

/// A zone, and the time for which its rules are needed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Covered {
    pub(super) zone: Zone,
    pub(super) from: Timestamp,
    pub(super) to: Timestamp,
}

impl Covered {
    pub(super) fn widen(&mut self, other: Self) {
        self.from = self.from.min(other.from);
        self.to = self.to.max(other.to);
    }
}

/// How far before the needed time to look for the change that is in force when it begins.
const BEFORE: SignedDuration = SignedDuration::days(400);
/// How far after the needed time to look, so that the rule of the last years is recognized.
const BEHIND: SignedDuration = SignedDuration::days(8 * 366);
/// The longest time from one change of a rule to the next.
const A_YEAR: SignedDuration = SignedDuration::days(372);
/// The minimum number of consecutive years that make a rule. The changes of fewer years are written one by one.
const YEARS: usize = 3;

/// The kind of a clock change, without its time. Changes of the same kind are written together.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Kind {
    before: SignedDuration,
    after: SignedDuration,
    daylight: bool,
    name: Option<String>,
}

/// A clock change.
#[derive(Debug, Clone, Copy)]
struct Change {
    at: Timestamp,
    /// The civil time at that instant before the change.
    local: CivilDateTime,
}

/// Writes the zone's rules.
pub(super) fn write(covered: &Covered, to: &mut Lines) {
    let zone = covered.zone;
    let from = Timestamp::EPOCH.max(covered.from - BEFORE);
    let until = (covered.to + BEHIND).min(Timestamp::HORIZON);
    to.put("BEGIN", "VTIMEZONE");
    to.put("TZID", zone.name());
    let changes = changes(zone, from, until);
    if changes.values().flatten().all(|change| change.at > covered.from) {
        let offset = zone.offset_at(from);
        let kind = kind(zone, from, offset);
        let first = CivilDateTime::ahead_of_utc(from, offset);
        observance(&kind, first, None, to);
    }
    for (kind, changes) in &changes {
        written(kind, changes, until, to);
    }
    to.put("END", "VTIMEZONE");
}

fn kind(zone: Zone, at: Timestamp, before: SignedDuration) -> Kind {
    Kind { before, after: zone.offset_at(at), daylight: zone.saves_daylight_at(at), name: zone.abbreviation_at(at) }
}

/// The changes after `from` and before `until`, by kind, each in order of time. The supported years bound the work:
/// fewer than 8,000 steps, and two dozen more for each change.
fn changes(zone: Zone, from: Timestamp, until: Timestamp) -> BTreeMap<Kind, Vec<Change>> {
    let mut changes: BTreeMap<Kind, Vec<Change>> = BTreeMap::new();
    let (mut at, mut offset) = (from, zone.offset_at(from));
    while at < until {
        let next = (at + Zone::BETWEEN_CHANGES).min(until);
        let after = zone.offset_at(next);
        if after != offset {
            let changed = first_with_another(zone, offset, at, next);
            let local = CivilDateTime::ahead_of_utc(changed, offset);
            changes.entry(kind(zone, changed, offset)).or_default().push(Change { at: changed, local });
        }
        (at, offset) = (next, after);
    }
    changes
}

/// The second, after `low` and up to `high`, at which the offset is no longer `offset`.
fn first_with_another(zone: Zone, offset: SignedDuration, low: Timestamp, high: Timestamp) -> Timestamp {
    let at = |second: i64| Timestamp::EPOCH + SignedDuration::seconds(second);
    let (mut low, mut high) = (low.as_unix_seconds(), high.as_unix_seconds());
    while high - low > 1 {
        let middle = low.midpoint(high);
        if zone.offset_at(at(middle)) == offset { low = middle } else { high = middle }
    }
    at(high)
}

/// Writes the changes of one kind: those that follow a rule for some years as that rule, and the others by date.
fn written(kind: &Kind, mut changes: &[Change], until: Timestamp, to: &mut Lines) {
    let mut single: Vec<Change> = Vec::new();
    while let Some((first, _)) = changes.split_first() {
        let (count, days) = by_one_rule(changes);
        let (run, rest) = changes.split_at(count);
        changes = rest;
        match run.last() {
            Some(last) if run.len() >= YEARS => {
                let mut rule = days.rule(first);
                if last.at + A_YEAR < until {
                    rule.push_str(";UNTIL=");
                    rule.push_str(&stamp::utc(last.at));
                }
                observance(kind, first.local, Some(("RRULE", rule)), to);
            }
            _ => single.extend(run),
        }
    }
    if let Some(first) = single.first() {
        // Write each date on a line of its own, and the first one too. Some readers take only the first date of a line,
        // and others ignore the start if there are dates.
        let several = single.iter().filter(|_| single.len() > 1);
        let dates = several.map(|change| ("RDATE", stamp::local(change.local)));
        observance(kind, first.local, dates, to);
    }
}

fn observance(
    kind: &Kind,
    first: CivilDateTime,
    repeats: impl IntoIterator<Item = (&'static str, String)>,
    to: &mut Lines,
) {
    let name = if kind.daylight { "DAYLIGHT" } else { "STANDARD" };
    to.put("BEGIN", name);
    to.put("DTSTART", &stamp::local(first));
    to.put("TZOFFSETFROM", &stamp::offset(kind.before));
    to.put("TZOFFSETTO", &stamp::offset(kind.after));
    if let Some(name) = &kind.name {
        to.put("TZNAME", name);
    }
    for (property, value) in repeats {
        to.put(property, &value);
    }
    to.put("END", name);
}

/// Seven days in a row that contain the date of a weekday in each of several years.
#[derive(Debug, Clone, Copy)]
struct Days {
    /// The earliest and latest day of the month.
    days: (u32, u32),
    /// The same, counted from the end of the month. The last day is 0.
    from_end: (u32, u32),
}

impl Days {
    fn of(change: &Change) -> Self {
        let (_, _, day) = change.local.date.year_month_day();
        let from_end = month_length(change.local.date) - day;
        Self { days: (day, day), from_end: (from_end, from_end) }
    }

    /// The days together with those of another year; `None` if no seven days in a row contain both.
    fn with(self, other: Self) -> Option<Self> {
        let both = |(a, b): (u32, u32), (c, d): (u32, u32)| (a.min(c), b.max(d));
        let all = Self { days: both(self.days, other.days), from_end: both(self.from_end, other.from_end) };
        (all.days.1 - all.days.0 < 7 || all.in_last_week()).then_some(all)
    }

    const fn in_last_week(self) -> bool {
        self.from_end.1 < 7
    }

    /// The rule that `change` and those after it follow.
    fn rule(self, change: &Change) -> String {
        let (_, month, _) = change.local.date.year_month_day();
        let weekday = WEEKDAYS.get(usize::from(change.local.date.weekday())).copied().unwrap_or("MO");
        let week = (self.days.0 - 1) / 7;
        if self.in_last_week() {
            format!("FREQ=YEARLY;BYMONTH={month};BYDAY=-1{weekday}")
        } else if self.days.1 <= week * 7 + 7 {
            format!("FREQ=YEARLY;BYMONTH={month};BYDAY={}{weekday}", week + 1)
        } else {
            let days: Vec<String> = (self.days.0..self.days.0 + 7).map(|day| day.to_string()).collect();
            format!("FREQ=YEARLY;BYMONTH={month};BYMONTHDAY={};BYDAY={weekday}", days.join(","))
        }
    }
}

const WEEKDAYS: [&str; 7] = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"];

/// How many of the first changes follow one yearly rule, and the days on which they are.
fn by_one_rule(changes: &[Change]) -> (usize, Days) {
    let key = |change: &Change| {
        let (year, month, _) = change.local.date.year_month_day();
        (year, (month, change.local.date.weekday(), change.local.time))
    };
    let Some((first, rest)) = changes.split_first() else {
        return (0, Days { days: (1, 1), from_end: (30, 30) });
    };
    let ((mut year, same), mut days, mut count) = (key(first), Days::of(first), 1);
    for change in rest {
        let (its_year, its) = key(change);
        let Some(all) = days.with(Days::of(change)).filter(|_| its_year == year + 1 && its == same) else { break };
        (year, days, count) = (its_year, all, count + 1);
    }
    (count, days)
}

fn month_length(date: CivilDate) -> u32 {
    let (year, month, _) = date.year_month_day();
    let (next_year, next) = if month == 12 { (year + 1, 1) } else { (year, month + 1) };
    let first = |year, month| CivilDate::new(year, month, 1).map_or(0, CivilDate::as_days);
    u32::try_from(first(next_year, next) - first(year, month)).unwrap_or(31)
}
