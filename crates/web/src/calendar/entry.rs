//! The events of one day of the calendar.

use std::fmt::Display;

use kalends_i18n::Translator;
use kalends_time::{CivilDate, Span, Timestamp, Zone};

use super::{
    days::{Day, Hour, LABELLED, Part, clock},
    event::EventInView,
    fields::clock_text,
    layout::{Place, arrange},
    range::{View, Viewed, date_in_range},
    seen::{DaySeen, Entry, Movable, Slot},
    style::{COLUMNS_MAX, classes},
};
use crate::{link::with, time::short_date};

/// The largest number of events side by side on a day of a week. More would be too narrow to be read.
const COLUMNS_OF_WEEK: usize = 2;
/// The events of a day that a month shows.
const ENTRIES_OF_MONTH: usize = 3;
/// The events of a day that a list shows.
const ENTRIES_OF_LIST: usize = 50;
/// The events that a week or a day shows above the hours of a day.
const STRIP_MAX: usize = 20;
/// The row of 07:00 on a usual day.
const MORNING: usize = 14;
/// The days of the week, from Monday on, where there is little space.
const SHORT: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

/// What all days of a page have in common.
pub(crate) struct Days<'a> {
    pub viewed: &'a Viewed,
    /// In the order in which a list shows them.
    pub events: Vec<&'a EventInView>,
    /// Whether the user may create events on one of the calendars.
    pub may_create: bool,
    /// Whether the user may move events.
    pub may_move: bool,
    /// That of [`query_of`].
    pub query: String,
    pub now: Timestamp,
}

/// The query of the pages of events, which lead back to the same calendars.
pub(crate) fn query_of(viewed: &Viewed) -> String {
    let zone = viewed.zone.name();
    let own: [(&str, &dyn Display); 1] = [("tz", &zone)];
    with("", &own.into_iter().chain(viewed.cals()).collect::<Vec<_>>())
}

impl Days<'_> {
    /// The days, in order.
    pub(crate) fn seen(&self) -> Vec<DaySeen> {
        let mut days: Vec<DaySeen> = self.viewed.dates().map(|date| self.day(date)).collect();
        let mut before: Vec<Hour> = Vec::new();
        for day in &mut days {
            if day.axis == before {
                day.axis.clear();
            } else {
                before.clone_from(&day.axis);
            }
        }
        let opens = opening_row(days.iter().filter_map(|day| day.first_row).min());
        if let Some(day) = days.iter_mut().find(|day| !day.axis.is_empty()) {
            day.opens = Some(opens);
        }
        days
    }

    fn day(&self, date: CivilDate) -> DaySeen {
        let Viewed { view, zone, second, .. } = *self.viewed;
        let words = Translator::english();
        let spoken = words.day(date);
        let name = if view == View::Day { words.date(date) } else { spoken.clone() };
        let mut seen = DaySeen {
            date,
            name,
            spoken,
            short: self.short_name(date),
            href: self.viewed.href(View::Day, date),
            is_today: zone.to_civil(self.now).date == date,
            is_outside: !self.viewed.has(date),
            note: None,
            axis: Vec::new(),
            opens: None,
            first_row: None,
            rows: 0,
            begin: None,
            new_href: None,
            slots: Vec::new(),
            strip: Vec::new(),
            timed: Vec::new(),
            rest: Vec::new(),
            more: 0,
            more_href: String::new(),
        };
        let Some(day) = Day::of(date, zone) else {
            seen.note = Some(format!("The clocks of {zone} skip this day"));
            return seen;
        };
        seen.note = day.change();
        seen.rows = day.rows();
        seen.begin = Some(day.span.start());
        seen.new_href = self.new_event(&[("date", &date)], date);
        let mut parts = self.events.iter().filter_map(|event| Some((*event, part(event, &day)?)));
        match view {
            View::Week | View::Day => {
                seen.axis = day.hours(zone, second);
                seen.slots = self.slots(&day);
                self.place(&day, parts.collect(), &mut seen);
            }
            View::List | View::Month => {
                let most = if view == View::List { ENTRIES_OF_LIST } else { ENTRIES_OF_MONTH };
                let first = parts.by_ref().take(most);
                seen.strip = first.map(|(event, _)| self.entry(event, &day, String::new())).collect();
                seen.more = parts.count();
                seen.more_href.clone_from(&seen.href);
            }
        }
        seen
    }

    /// The name of a day at the head of a column. The first one and the first of a month say the month.
    fn short_name(&self, date: CivilDate) -> Option<String> {
        if ![View::Week, View::Month].contains(&self.viewed.view) {
            return None;
        }
        let weekday = SHORT.get(usize::from(date.weekday()))?;
        let (_, _, day) = date.year_month_day();
        let says_month = day == 1 || self.viewed.dates().next() == Some(date);
        Some(if says_month { format!("{weekday} {}", short_date(date)) } else { format!("{weekday} {day}") })
    }

    /// The address of the form of a new event at that time, if the user may create one.
    fn new_event(&self, time: &[(&str, &dyn Display)], date: CivilDate) -> Option<String> {
        date_in_range(date).filter(|_| self.may_create).map(|_| self.viewed.new_event(time))
    }

    /// The hours of a day, each with the address of the form of a new event.
    fn slots(&self, day: &Day) -> Vec<Slot> {
        let zone = self.viewed.zone;
        // All of them begin alike, and times need no escapes in a query.
        let Some(form) = self.new_event(&[], day.date) else { return Vec::new() };
        let slot = |(rows, at)| {
            let (start, place) = (clock_text(at, zone), classes(&Place { index: 0, rows, column: 0, columns: 1 }));
            // If clocks show the time twice, the form means the first, unless it knows better.
            if zone.to_timestamp(zone.to_civil(at)) == Some(at) {
                return Slot { place, href: format!("{form}&start={start}"), clock: clock(at, zone) };
            }
            let href = format!("{form}&start={start}&start_at={at}");
            Slot { place, href, clock: format!("{}, the second time", clock(at, zone)) }
        };
        day.cells().into_iter().map(slot).collect()
    }

    /// Places the events on the grid of hours. For those that find no place there, a week leads to the page of the day,
    /// and that page lists them.
    fn place(&self, day: &Day, parts: Vec<(&EventInView, Part)>, seen: &mut DaySeen) {
        let (mut timed, mut rows, mut rest) = (Vec::new(), Vec::new(), Vec::new());
        for (event, part) in parts {
            match part {
                Part::Whole if seen.strip.len() < STRIP_MAX => {
                    seen.strip.push(self.entry(event, day, String::new()));
                }
                Part::Whole => rest.push(event),
                Part::Rows(range) => {
                    timed.push(event);
                    rows.push(range);
                }
            }
        }
        // What continues from the day before does not open the grid at midnight.
        let begins = timed.iter().zip(&rows).filter(|(event, _)| event.span.start() >= day.span.start());
        seen.first_row = begins.map(|(_, range)| range.start).min();
        let is_single = self.viewed.view == View::Day;
        let arranged = arrange(&rows, if is_single { COLUMNS_MAX } else { COLUMNS_OF_WEEK });
        let placed = arranged.places.iter().filter_map(|place| Some((*timed.get(place.index)?, classes(place))));
        let timed_entry = |(event, place)| Entry { movable: self.movable(event, day), ..self.entry(event, day, place) };
        seen.timed = placed.map(timed_entry).collect();
        rest.extend(arranged.hidden.iter().filter_map(|index| timed.get(*index).copied()));
        if is_single {
            seen.rest = rest.into_iter().map(|event| self.entry(event, day, String::new())).collect();
        } else {
            seen.more = rest.len();
            seen.more_href.clone_from(&seen.href);
        }
    }

    /// The address of the page of an event, which leads back to the same calendars.
    fn page_of(&self, id: &str) -> String {
        format!("/console/calendar/events/{id}{}", self.query)
    }

    fn movable(&self, event: &EventInView, day: &Day) -> Option<Movable> {
        (self.may_move && event.is_movable()).then(|| Movable {
            id: event.id.clone(),
            version: event.version,
            span: event.span,
            series_version: event.series_version,
            has_end: event.span.end() <= day.span.end(),
        })
    }

    fn entry(&self, event: &EventInView, day: &Day, place: String) -> Entry {
        let Viewed { zone, second, .. } = *self.viewed;
        let state = event.state(self.now);
        let is_marked = !["Confirmed", "Busy"].contains(&state.as_str());
        Entry {
            place,
            class: event.class(),
            href: (!event.id.is_empty()).then(|| self.page_of(&event.id)),
            clock: clocks(event, day.span, zone),
            begin: begin(event, day.span, zone),
            second: second.filter(|_| event.dates.is_none()).map(|second| {
                let (from, to) = (clock(event.span.start(), second), clock(event.span.end(), second));
                format!("{from}–{to} in {}", second.name().replace('_', " "))
            }),
            title: event.title().to_owned(),
            calendar: event.calendar.clone(),
            state,
            is_marked,
            movable: None,
        }
    }
}

/// The row of the hour with which a grid opens: 07:00, or an hour before the first event if that is earlier.
fn opening_row(first: Option<usize>) -> usize {
    let row = first.map_or(MORNING, |row| row.saturating_sub(LABELLED)).min(MORNING);
    row - row % LABELLED
}

/// The first time of an event on a day.
fn begin(event: &EventInView, day: Span, zone: Zone) -> String {
    let start = event.span.start();
    if event.dates.is_some() || start < day.start() { clocks(event, day, zone) } else { clock(start, zone) }
}

/// The part of an event on a day. Whole days are those of the event's calendar, whatever zone is shown.
fn part(event: &EventInView, day: &Day) -> Option<Part> {
    match event.dates {
        Some((first, last)) => (first <= day.date && day.date <= last).then_some(Part::Whole),
        None => day.part(event.span),
    }
}

/// When an event takes place on a day.
fn clocks(event: &EventInView, day: Span, zone: Zone) -> String {
    if event.dates.is_some() {
        return "All day".to_owned();
    }
    let (start, end) = (event.span.start(), event.span.end());
    match (start >= day.start(), end <= day.end()) {
        (true, true) => format!("{}–{}", clock(start, zone), clock(end, zone)),
        (true, false) => format!("From {}", clock(start, zone)),
        (false, true) => format!("Until {}", clock(end, zone)),
        (false, false) => "All day".to_owned(),
    }
}

#[cfg(test)]
mod tests;
