//! The page of the calendar.

use std::fmt::Display;

use askama::Template;
use kalends_i18n::Translator;
use kalends_time::{CivilDate, Timestamp, Zone};

use super::{
    entry::{Days, query_of},
    event::EventInView,
    explain::SHOWN_CALENDARS,
    range::{View, Viewed},
    seen::DaySeen,
};
use crate::{
    link::with,
    shell::{Done, Shell},
    time::zone_label,
    zones::{self, Group},
};

/// The largest number of calendars that are shown at once.
pub const CALENDARS_MAX: usize = 20;
/// The largest number of events that are shown at once.
pub const EVENTS_MAX: usize = 1_000;

/// A calendar to choose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CalendarInView {
    /// The identifier.
    pub id: String,
    /// The name.
    pub name: String,
    /// Whether its events are shown.
    pub is_chosen: bool,
}

/// The calendar.
#[derive(Debug, Clone, Copy)]
pub struct CalendarPage<'a> {
    /// The frame.
    pub shell: &'a Shell,
    /// What a form did.
    pub done: Done,
    /// Whether the user may create events.
    pub may_create: bool,
    /// Whether the user may change events.
    pub may_change: bool,
    /// What is shown.
    pub viewed: &'a Viewed,
    /// The calendars to choose from.
    pub calendars: &'a [CalendarInView],
    /// Whether there are other calendars.
    pub has_more_calendars: bool,
    /// The events, in any order. Those on other days are left out.
    pub events: &'a [EventInView],
    /// Whether there are more than [`EVENTS_MAX`] events.
    pub is_cut: bool,
    /// The names of calendars that have too many events to be read.
    pub overfull: &'a [String],
    /// Whether busy times of connected calendars are unknown or old.
    pub is_out_of_date: bool,
    /// The current time.
    pub now: Timestamp,
}

/// The data of the template.
#[derive(Template)]
#[template(path = "calendar.html")]
struct Shape<'a> {
    shell: &'a Shell,
    done: Done,
    label: String,
    zone: String,
    views: Vec<Way>,
    steps: Vec<Way>,
    new_event: Option<String>,
    explain: String,
    notices: Vec<String>,
    view: &'static str,
    date: CivilDate,
    days: Vec<DaySeen>,
    /// The number of rows of the longest day.
    rows: usize,
    has_two_zones: bool,
    /// The name of the zone, for the script.
    zone_name: &'static str,
    may_change: bool,
    calendars: &'a [CalendarInView],
    /// The zones to choose from, for both choices.
    groups: Vec<Group>,
    zones: [ZoneSelect; 2],
}

/// A link to another state of the page.
struct Way {
    name: &'static str,
    href: String,
    is_here: bool,
    /// The relation of the other page to this one, by which the script finds the link; empty if there is none.
    rel: &'static str,
}

/// The choice of a zone.
struct ZoneSelect {
    name: &'static str,
    label: &'static str,
    /// Whether none may be chosen.
    is_optional: bool,
    chosen: Option<&'static str>,
}

impl Shape<'_> {
    fn words(&self) -> &'static Translator {
        Translator::english()
    }
}

impl CalendarPage<'_> {
    /// The page.
    pub fn html(&self) -> String {
        crate::render(&self.shape())
    }

    fn shape(&self) -> Shape<'_> {
        let Self { shell, done, viewed, calendars, may_change, now, .. } = *self;
        let chosen = calendars.iter().find(|calendar| calendar.is_chosen).map(|calendar| calendar.id.as_str());
        let may_create = self.may_create && chosen.is_some();
        let (events, query) = (self.in_order(), query_of(viewed));
        let days = Days { viewed, events, may_create, may_move: may_change, query, now }.seen();
        let about = |path: &str| {
            let (zone, calendar) = (viewed.zone.name(), chosen.unwrap_or_default());
            let own: [(&str, &dyn Display); 3] = [("cal", &calendar), ("tz", &zone), ("date", &viewed.date)];
            let shown = viewed.calendars.iter().map(|calendar| (SHOWN_CALENDARS, calendar as &dyn Display));
            with(path, &own.into_iter().chain(shown).collect::<Vec<_>>())
        };
        Shape {
            shell,
            done,
            label: viewed.label(),
            zone: zone_label(viewed.zone, self.at()),
            views: View::ALL.map(|view| self.view(view)).into(),
            steps: self.steps(),
            new_event: may_create.then(|| viewed.new_event(&[("date", &viewed.date)])),
            explain: about("/console/calendar/explain"),
            notices: self.notices(),
            view: viewed.view.as_str(),
            date: viewed.date,
            rows: days.iter().map(|day| day.rows).max().unwrap_or_default(),
            days,
            has_two_zones: viewed.second.is_some(),
            zone_name: viewed.zone.name(),
            may_change,
            calendars,
            groups: zones::choices(viewed.second.unwrap_or(viewed.zone), viewed.zone, self.at()),
            zones: self.zones(),
        }
    }

    /// The events as a list shows them: those of whole days first, and then by start.
    fn in_order(&self) -> Vec<&EventInView> {
        let mut events: Vec<&EventInView> = self.events.iter().collect();
        let order = |event: &EventInView| (event.dates.is_none(), event.span);
        events.sort_by(|one, other| {
            let both = order(one).cmp(&order(other));
            both.then_with(|| (&one.calendar, &one.id).cmp(&(&other.calendar, &other.id)))
        });
        events
    }

    /// A time of the days that are shown, whose offsets are shown too.
    fn at(&self) -> Timestamp {
        self.viewed.span(self.viewed.zone).map_or(self.now, |span| span.start())
    }

    fn view(&self, view: View) -> Way {
        let href = self.viewed.href(view, self.viewed.date);
        Way { name: view.title(), href, is_here: view == self.viewed.view, rel: "" }
    }

    fn steps(&self) -> Vec<Way> {
        let Viewed { view, zone, .. } = *self.viewed;
        let today = self.viewed.href(view, zone.to_civil(self.now).date);
        let ways = [
            ("Previous", "prev", self.viewed.previous()),
            ("Today", "", Some(today)),
            ("Next", "next", self.viewed.next()),
        ];
        let way = |(name, rel, href): (&'static str, &'static str, Option<String>)| {
            Some(Way { name, href: href?, is_here: false, rel })
        };
        ways.into_iter().filter_map(way).collect()
    }

    fn notices(&self) -> Vec<String> {
        let mut notices = Vec::new();
        if self.is_cut {
            notices.push(format!(
                "There are more than {EVENTS_MAX} events here. The first {EVENTS_MAX} are shown. \
                 Choose fewer calendars, or a shorter time."
            ));
        }
        for name in self.overfull {
            notices.push(format!("{name} has too many events here to read them all. Choose a shorter time."));
        }
        if self.is_out_of_date {
            notices.push("Some connected calendars are not up to date, so busy times may be missing.".to_owned());
        }
        if self.has_more_calendars {
            notices.push(format!("Only the oldest {} calendars can be chosen here.", self.calendars.len()));
        }
        let chosen = self.calendars.iter().filter(|calendar| calendar.is_chosen).count();
        if chosen == CALENDARS_MAX {
            notices.push(format!("At most {CALENDARS_MAX} calendars are shown at once."));
        }
        notices
    }

    fn zones(&self) -> [ZoneSelect; 2] {
        let Viewed { zone, second, .. } = *self.viewed;
        [
            ZoneSelect { name: "tz", label: "Time zone", is_optional: false, chosen: Some(zone.name()) },
            ZoneSelect { name: "tz2", label: "Second time zone", is_optional: true, chosen: second.map(Zone::name) },
        ]
    }
}
