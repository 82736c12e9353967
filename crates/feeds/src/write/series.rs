//! Series with their zones and overrides.

use std::collections::{BTreeMap, BTreeSet};

use kalends_calendars::Event;
use kalends_time::{Timestamp, Zone};

use super::{
    event::{Events, OccurrenceId},
    line::Lines,
    zones,
};

/// Writes the rules of the zones that series follow, for the years that they cover.
pub(super) fn write_zones<'e>(series: impl Iterator<Item = &'e Event>, to: &mut Lines) {
    let mut covered: BTreeMap<&str, zones::Covered> = BTreeMap::new();
    for event in series {
        let Some(recurrence) = event.recurrence() else { continue };
        let zone = recurrence.zone();
        if event.times.all_day || zone == Zone::UTC {
            continue;
        }
        let span = event.times.span;
        let end = recurrence.last_start().map_or(Timestamp::HORIZON, |last| last + span.length());
        let years = zones::Covered { zone, from: span.start(), to: end };
        covered.entry(zone.name()).and_modify(|known| known.widen(years)).or_insert(years);
    }
    for covered in covered.values() {
        zones::write(covered, to);
    }
}

/// Writes a series with its overrides.
pub(super) fn write_series(events: &Events<'_>, series: &Event, changed: &[&Event], to: &mut Lines) {
    let (Some(recurrence), Some(id)) = (series.recurrence(), OccurrenceId::of(series)) else { return };
    let mut changed = changed.to_vec();
    changed.sort_unstable_by_key(|event| event.occurrence().map(|occurrence| occurrence.start));
    let written: BTreeSet<Timestamp> =
        changed.iter().filter_map(|event| event.occurrence()).map(|of| of.start).collect();
    // An occurrence whose override is not shown does not take place by the rule either.
    let gone = recurrence.overridden().iter().filter(|start| !written.contains(start)).copied();
    events.series(series, recurrence, id, gone, to);
    for event in changed {
        events.changed(event, id, to);
    }
}
