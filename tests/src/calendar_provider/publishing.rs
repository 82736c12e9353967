//! How a test plays with the events that the service wrote at Microsoft.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};

use super::{CalendarProvider, Desk, written::Written};

/// The events that were written, and the faults of the requests that write them.
#[derive(Default)]
pub(super) struct Writing {
    /// The events by account and calendar, in the order in which they were created.
    pub(super) events: BTreeMap<(String, String), Vec<Written>>,
    /// The number of events ever created, for their identifiers.
    pub(super) created: u32,
    /// How many of the next requests for events are answered with 429, and the seconds to wait.
    pub(super) throttled: (u32, u32),
    /// How many of the next batches are answered with 503.
    pub(super) storms: u32,
    /// How many of the next batches that write are done, and then cut off.
    pub(super) cuts: u32,
    /// The subjects of events that are refused.
    pub(super) refused: Vec<String>,
    /// The method and the path of each request for events.
    pub(super) calls: Vec<String>,
}

impl Writing {
    /// The events of a calendar.
    pub(super) fn of(&mut self, account: &str, calendar: &str) -> &mut Vec<Written> {
        self.events.entry((account.to_owned(), calendar.to_owned())).or_default()
    }
}

/// A copy that the service wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TheirCopy {
    /// The identifier.
    pub id: String,
    /// The title.
    pub title: String,
    /// The description.
    pub description: String,
    /// The location.
    pub location: String,
    /// The start: in UTC, or midnight of the first whole day.
    pub start: DateTime<Utc>,
    /// The end: in UTC, or midnight after the last whole day.
    pub end: DateTime<Utc>,
    /// The zone in which it was written.
    pub zone: String,
    /// Whether it takes whole days.
    pub all_day: bool,
    /// `busy`, `tentative`, `free`, or another status.
    pub show_as: String,
    /// Whether it reminds its owner.
    pub reminds: bool,
    /// The values of its extended properties.
    pub properties: Vec<String>,
}

impl From<&Written> for TheirCopy {
    fn from(event: &Written) -> Self {
        Self {
            id: event.id.clone(),
            title: event.subject.clone(),
            description: event.body.clone(),
            location: event.location.clone(),
            start: event.start.and_utc(),
            end: event.end.and_utc(),
            zone: event.zone.clone(),
            all_day: event.all_day,
            show_as: event.show_as.clone(),
            reminds: event.reminder,
            properties: event.properties.values().cloned().collect(),
        }
    }
}

impl CalendarProvider {
    /// The copies in a calendar, by start and then title.
    pub fn copies(&self, account: &str, calendar: &str) -> Vec<TheirCopy> {
        let mut copies: Vec<TheirCopy> =
            self.desk(|desk| desk.writing.of(account, calendar).iter().map(TheirCopy::from).collect());
        copies.sort_by(|a, b| (a.start, &a.title).cmp(&(b.start, &b.title)));
        copies
    }

    fn person(&self, account: &str, calendar: &str, title: &str, act: impl FnOnce(&mut Desk, usize)) {
        self.desk(|desk| {
            let place = desk.writing.of(account, calendar).iter().position(|event| event.subject == title);
            act(desk, place.unwrap_or_else(|| panic!("no copy is named {title}")));
        });
    }

    /// A person gives a copy another title.
    pub fn renames(&self, account: &str, calendar: &str, title: &str, to: &str) {
        self.person(account, calendar, title, |desk, place| {
            let event = &mut desk.writing.of(account, calendar)[place];
            to.clone_into(&mut event.subject);
            event.change += 1;
        });
    }

    /// A person moves a copy to another time.
    pub fn moves(&self, account: &str, calendar: &str, title: &str, start: DateTime<Utc>, end: DateTime<Utc>) {
        self.person(account, calendar, title, |desk, place| {
            let event = &mut desk.writing.of(account, calendar)[place];
            (event.start, event.end) = (start.naive_utc(), end.naive_utc());
            event.change += 1;
        });
    }

    /// Something that the service does not compare changes, such as a category: only the version.
    pub fn touches(&self, account: &str, calendar: &str, title: &str) {
        self.person(account, calendar, title, |desk, place| desk.writing.of(account, calendar)[place].change += 1);
    }

    /// A person deletes a copy.
    pub fn deletes(&self, account: &str, calendar: &str, title: &str) {
        self.person(account, calendar, title, |desk, place| {
            desk.writing.of(account, calendar).remove(place);
        });
    }

    /// Answers the next requests for events, in batches or not, with 429 and this wait in seconds.
    pub fn throttles(&self, requests: u32, seconds: u32) {
        self.desk(|desk| desk.writing.throttled = (requests, seconds));
    }

    /// Answers the next batches with 503.
    pub fn storms(&self, batches: u32) {
        self.desk(|desk| desk.writing.storms = batches);
    }

    /// Does what the next batches with writes ask for, and cuts the connection before the answer.
    pub fn cuts(&self, batches: u32) {
        self.desk(|desk| desk.writing.cuts = batches);
    }

    /// Refuses to write events with this title.
    pub fn refuses(&self, title: &str) {
        self.desk(|desk| desk.writing.refused.push(title.to_owned()));
    }

    /// Ends the access tokens of an account. Its refresh tokens still work.
    pub fn expires(&self, account: &str) {
        self.desk(|desk| desk.access.retain(|_, consent| consent.account != account));
    }

    /// Sets whether the person at the browser grants only reading, although writing was asked for.
    pub fn grants_only_reading(&self, only: bool) {
        self.desk(|desk| desk.only_reading = only);
    }

    /// The method and the path of each request for events, in batches or not.
    pub fn calls(&self) -> Vec<String> {
        self.desk(|desk| desk.writing.calls.clone())
    }
}
