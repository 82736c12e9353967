//! Parses the requests into values of the domain, and builds the answers from them.

use kalends_calendars::{
    self as domain, ConferenceUrl, DESCRIPTION_MAX, EXPANDED_MAX, LOCATION_MAX, Moment, Reminders, TITLE_MAX,
    cannot_recur,
    ports::{EventFilter, InstanceFilter, StatusAt},
};
use kalends_kernel::{FieldError, FieldErrors, Metadata, MetadataFilter, Page, bounded_text, optional_text};
use kalends_recurrence::Rule;
use kalends_time::{Span, Timestamp, Zone};

use super::{
    ChangeEvent, CreateEvent, CreateEventBatch, DeleteEvent, Event, ExternalSync, ListEvents, Notice, UpdateEvent,
};
use crate::{
    Attendee, Local,
    attendees::attendees as attendees_in,
    fields::{instant, metadata, zone},
    holds::{hold, hold_expiry, state_seen},
    patch::{nothing_to_change, set, set_or_clear},
};

/// The maximum number of events in a batch.
const BATCH_MAX: usize = 100;

impl From<domain::Event> for Event {
    fn from(event: domain::Event) -> Self {
        let occurrence = event.occurrence();
        let (rule, exdates, zone) = match event.recurrence() {
            None => (None, Vec::new(), None),
            Some(series) => {
                let zone = series.zone().name().to_owned();
                (Some(series.rule().to_string()), series.exdates().to_vec(), Some(zone))
            }
        };
        Self {
            id: occurrence.map_or_else(|| event.id.to_string(), |occurrence| occurrence.to_string()),
            calendar_id: event.calendar,
            org_id: event.org,
            title: event.title,
            description: event.description,
            location: event.location,
            conference_url: event.conference_url.map(String::from),
            attendees: event.attendees.as_slice().iter().map(Attendee::from).collect(),
            start_time: event.times.span.start(),
            end_time: event.times.span.end(),
            all_day: event.times.all_day,
            status: event.status.into(),
            source: event.source.into(),
            metadata: event.metadata.into_map(),
            reminders: event.reminders.map(|reminders| reminders.minutes().to_vec()),
            hold_expires_at: event.hold.map(|hold| hold.expires_at),
            hold_priority: event.hold.map(|hold| hold.priority),
            hold_set_id: event.hold_set,
            transparent: event.transparent,
            recurrence_rule: rule,
            recurrence_exdates: exdates,
            recurrence_timezone: zone,
            previous_series_id: event.previous_series,
            recurring_event_id: occurrence.map(|occurrence| occurrence.series),
            original_start_time: occurrence.map(|occurrence| occurrence.start),
            external_sync: None,
            notices: Vec::new(),
            local: None,
            deleted_at: event.deleted_at,
            created_at: event.created_at,
            updated_at: event.updated_at,
        }
    }
}

impl Event {
    /// Returns the event with the state of its copy.
    #[must_use]
    pub fn with_external_sync(mut self, status: domain::ExternalSync) -> Self {
        self.external_sync = Some(ExternalSync { status: status.into() });
        self
    }

    /// Returns the event with the notices about it. `zone` is the zone of its calendar.
    #[must_use]
    pub fn with_notices(mut self, zone: Zone) -> Self {
        let in_utc = self.recurrence_timezone.as_deref() == Some(Zone::UTC.name());
        if in_utc && !self.all_day && zone.offset_period_at(self.start_time).end.is_some() {
            let message = format!(
                "the series repeats in UTC, so its local time changes when the clocks of its calendar's zone {zone} do; \
                 to keep the local time, set recurrence_timezone to {zone}"
            );
            self.notices.push(Notice { code: "repeats_in_utc".into(), message });
        }
        self
    }

    /// Returns the event with its times in `zone`, the zone of its calendar.
    #[must_use]
    pub fn with_local(mut self, zone: Zone) -> Self {
        self.local = Span::new(self.start_time, self.end_time).ok().map(|span| Box::new(Local::of(span, zone)));
        self
    }
}

impl CreateEvent {
    /// Checks every field that can be checked without the calendar.
    ///
    /// # Errors
    /// Lists every invalid field.
    pub fn parse(self) -> Result<domain::NewEvent, FieldErrors> {
        let mut errors = FieldErrors::default();
        let title = errors.take(title(&self.title));
        let description = errors.take(optional_text("description", self.description.as_deref(), DESCRIPTION_MAX));
        let location = errors.take(optional_text("location", self.location.as_deref(), LOCATION_MAX));
        let conference_url = errors.take(self.conference_url.as_deref().map(conference_url).transpose());
        let attendees = errors.take_all(attendees_in(self.attendees.unwrap_or_default()));
        let start = errors.take(Moment::parse("start_time", &self.start_time));
        let end = errors.take(Moment::parse("end_time", &self.end_time));
        let hold = errors.take_all(hold(self.status, self.hold_expires_at.as_deref(), self.hold_priority, self.scope));
        let if_as_of = errors.take(state_seen(self.if_as_of.as_deref()));
        let metadata = errors.take(metadata(self.metadata));
        let reminders = errors.take(self.reminders.map(|minutes| Reminders::parse("reminders", &minutes)).transpose());
        let (rule, exdates, zone) = (self.recurrence_rule, self.recurrence_exdates, self.recurrence_timezone);
        let recurrence = match recurrence(rule.as_deref(), exdates.as_deref().unwrap_or_default(), zone.as_deref()) {
            Ok(recurrence) => recurrence,
            Err(found) => {
                errors.extend(&found);
                return Err(errors);
            }
        };
        if recurrence.is_some() && matches!(hold, Some(Some(_))) {
            errors.push(cannot_recur());
        }
        if self.send_invitations && matches!(hold, Some(Some(_))) {
            errors.push(domain::not_for_holds());
        }
        let Some(if_as_of) = if_as_of else { return Err(errors) };
        match (title, description, location, conference_url, attendees, start, end, hold, metadata, reminders) {
            (
                Some(title),
                Some(description),
                Some(location),
                Some(conference_url),
                Some(attendees),
                Some(start),
                Some(end),
                Some(hold),
                Some(metadata),
                Some(reminders),
            ) if errors.is_empty() => {
                let status = self.status.map_or(domain::EventStatus::Confirmed, Into::into);
                let status = if hold.is_some() { domain::EventStatus::Hold } else { status };
                Ok(domain::NewEvent {
                    title,
                    description,
                    location,
                    conference_url,
                    attendees,
                    start,
                    end,
                    all_day: self.all_day,
                    status,
                    metadata,
                    reminders,
                    recurrence,
                    hold,
                    if_free: self.if_free,
                    if_as_of,
                    send_invitations: self.send_invitations,
                })
            }
            _ => Err(errors),
        }
    }
}

fn rule(text: &str) -> Result<Rule, FieldError> {
    Rule::parse_as(text, &domain::REQUEST_RULES).map_err(|error| FieldError::new("recurrence_rule", error.to_string()))
}

fn recurrence_zone(text: &str) -> Result<Zone, FieldError> {
    zone("recurrence_timezone", text)
}

fn exdates(given: &[String]) -> Result<Vec<Moment>, FieldError> {
    domain::exdates(given, |param, text| Moment::parse(param, text))
}

fn recurrence(
    given: Option<&str>,
    given_exdates: &[String],
    given_zone: Option<&str>,
) -> Result<Option<domain::NewRecurrence>, FieldErrors> {
    let mut errors = FieldErrors::default();
    let rule = errors.take(given.map(rule).transpose());
    let exdates = errors.take(exdates(given_exdates));
    let zone = errors.take(given_zone.map(recurrence_zone).transpose());
    if given.is_none() {
        let given = [("recurrence_exdates", !given_exdates.is_empty()), ("recurrence_timezone", given_zone.is_some())];
        given.into_iter().filter(|(_, given)| *given).for_each(|(param, _)| errors.push(domain::needs_a_rule(param)));
    }
    errors.finish()?;
    match (rule.flatten(), exdates, zone) {
        (Some(rule), Some(exdates), Some(zone)) => Ok(Some(domain::NewRecurrence { rule, exdates, zone })),
        _ => Ok(None),
    }
}

impl CreateEventBatch {
    /// Checks every field of every event.
    ///
    /// # Errors
    /// Lists every invalid field with its path, such as `events[3].title`.
    pub fn parse(self) -> Result<Vec<domain::NewEvent>, FieldErrors> {
        let count = self.events.len();
        if !(1..=BATCH_MAX).contains(&count) {
            return Err(FieldError::new("events", format!("must contain 1 to {BATCH_MAX} events, got {count}")).into());
        }
        let mut errors = FieldErrors::default();
        let mut events = Vec::with_capacity(count);
        for (index, event) in self.events.into_iter().enumerate() {
            match event.parse() {
                Ok(event) if event.hold.is_some() => {
                    let message = "must not be a hold in a batch; place holds one by one, or on several calendars as a \
                        hold set";
                    errors.push(FieldError::new(format!("events[{index}].status"), message));
                }
                Ok(event) => events.push(event),
                Err(found) => errors.extend_below(&format!("events[{index}]"), &found),
            }
        }
        errors.finish()?;
        Ok(events)
    }
}

impl UpdateEvent {
    /// Checks every field that can be checked without the event.
    ///
    /// # Errors
    /// Lists every invalid field, or reports that no field was sent.
    pub fn parse(self) -> Result<domain::EventPatch, FieldErrors> {
        if let Self {
            title: None,
            description: None,
            location: None,
            conference_url: None,
            attendees: None,
            start_time: None,
            end_time: None,
            all_day: None,
            status: None,
            metadata: None,
            reminders: None,
            recurrence_rule: None,
            recurrence_exdates: None,
            recurrence_timezone: None,
            hold_expires_at: None,
            if_free: _,
            if_as_of: _,
            send_invitations: false,
        } = self
        {
            let fields = "title, description, location, conference_url, attendees, start_time, end_time, all_day, status, \
                metadata, reminders, recurrence_rule, recurrence_exdates, recurrence_timezone, hold_expires_at, send_invitations";
            return Err(nothing_to_change(fields).into());
        }
        let mut errors = FieldErrors::default();
        let new_title = errors.take(set("title", self.title, |text| title(&text)));
        let description =
            errors.take(set_or_clear(self.description, |text| bounded_text("description", &text, 0, DESCRIPTION_MAX)));
        let location =
            errors.take(set_or_clear(self.location, |text| bounded_text("location", &text, 0, LOCATION_MAX)));
        let conference_url = errors.take(set_or_clear(self.conference_url, |text| conference_url(&text)));
        let attendees = self.attendees.map(Option::unwrap_or_default);
        let attendees = errors.take_all(attendees.map(attendees_in).transpose());
        let start = errors.take(set("start_time", self.start_time, |text| Moment::parse("start_time", &text)));
        let end = errors.take(set("end_time", self.end_time, |text| Moment::parse("end_time", &text)));
        let all_day = errors.take(set("all_day", self.all_day, Ok));
        let status = errors.take(set("status", self.status, |status| Ok(status.into())));
        let metadata = errors.take(set("metadata", self.metadata, |value| Metadata::parse("metadata", value)));
        let reminders = errors.take(set_or_clear(self.reminders, |minutes| Reminders::parse("reminders", &minutes)));
        let new_rule = errors.take(set_or_clear(self.recurrence_rule, |text| rule(&text)));
        let given_exdates = self.recurrence_exdates.map(Option::unwrap_or_default);
        let exdates = errors.take(given_exdates.map(|given| exdates(&given)).transpose());
        let zone = errors.take(set_or_clear(self.recurrence_timezone, |text| recurrence_zone(&text)));
        let hold_expires_at = errors.take(set("hold_expires_at", self.hold_expires_at, |text| hold_expiry(&text)));
        let if_as_of = errors.take(state_seen(self.if_as_of.as_deref()));
        let (Some(rule), Some(exdates), Some(zone), Some(hold_expires_at), Some(if_as_of)) =
            (new_rule, exdates, zone, hold_expires_at, if_as_of)
        else {
            return Err(errors);
        };
        let recurrence = domain::RecurrencePatch { rule, exdates: exdates.into(), zone };
        match (
            new_title,
            description,
            location,
            conference_url,
            attendees,
            start,
            end,
            all_day,
            status,
            metadata,
            reminders,
        ) {
            (
                Some(title),
                Some(description),
                Some(location),
                Some(conference_url),
                Some(attendees),
                Some(start),
                Some(end),
                Some(all_day),
                Some(status),
                Some(metadata),
                Some(reminders),
            ) => Ok(domain::EventPatch {
                title,
                description,
                location,
                conference_url,
                attendees: attendees.into(),
                start,
                end,
                all_day,
                status,
                metadata,
                reminders,
                recurrence,
                hold_expires_at,
                if_free: self.if_free,
                if_as_of,
                send_invitations: self.send_invitations,
            }),
            _ => Err(errors),
        }
    }
}

/// The query parameters that contain pairs of a key and a value: `metadata.KEY=VALUE`.
pub const MAPS: [&str; 1] = ["metadata"];

/// What a list of events contains.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Listing {
    /// Events. A series is one event.
    Events(EventFilter),
    /// One-off events and the instances of series, in a window.
    Instances(InstanceFilter),
}

impl ListEvents {
    /// Checks every parameter. `now` decides whether a hold has expired.
    ///
    /// # Errors
    /// Lists every invalid parameter.
    pub fn parse(&self, now: Timestamp) -> Result<(Listing, Page), FieldErrors> {
        let mut errors = FieldErrors::default();
        let mut bound = |param: &str, text: Option<&str>| text.and_then(|text| errors.take(instant(param, text)));
        let start_after = bound("start_after", self.start_after.as_deref());
        let start_before = bound("start_before", self.start_before.as_deref());
        let pairs = self.metadata.iter().map(|(key, value)| (key.as_str(), value.as_str()));
        let metadata = errors.take(MetadataFilter::parse("metadata", pairs)).unwrap_or_default();
        match Page::parse(self.limit, self.offset) {
            Ok(page) => {
                errors.finish()?;
                let status = self.status.map(|status| StatusAt { status: status.into(), now });
                let source = self.source.map(Into::into);
                if self.expand == Some(true) {
                    let window = window(start_after, start_before)?;
                    return Ok((Listing::Instances(InstanceFilter { window, status, source, metadata }), page));
                }
                Ok((Listing::Events(EventFilter { start_after, start_before, status, source, metadata }), page))
            }
            Err(found) => {
                errors.extend(&found);
                Err(errors)
            }
        }
    }
}

/// The window in which instances are listed.
fn window(after: Option<Timestamp>, before: Option<Timestamp>) -> Result<Span, FieldErrors> {
    let mut errors = FieldErrors::default();
    let missing =
        |param: &str| FieldError::new(param, "is required with expand=true, which lists the instances in a window");
    let after = errors.take(after.ok_or_else(|| missing("start_after")));
    let before = errors.take(before.ok_or_else(|| missing("start_before")));
    let (Some(after), Some(before)) = (after, before) else { return Err(errors) };
    let window = Span::new(after, before)
        .map_err(|_| FieldError::new("start_before", format!("must be after start_after ({after}), got {before}")))?;
    if window.length() > EXPANDED_MAX {
        let days = EXPANDED_MAX.as_seconds() / 86_400;
        let message = format!("must be at most {days} days after start_after with expand=true, got {before}");
        return Err(FieldError::new("start_before", message).into());
    }
    Ok(window)
}

impl ChangeEvent {
    /// The occurrences to change.
    pub fn scope(self) -> domain::SeriesScope {
        self.scope.map_or(domain::SeriesScope::This, Into::into)
    }
}

impl DeleteEvent {
    /// The occurrences to delete.
    pub fn scope(&self) -> domain::SeriesScope {
        self.scope.map_or(domain::SeriesScope::This, Into::into)
    }

    /// Checks the start of the occurrence.
    ///
    /// # Errors
    /// `invalid_time_format` if the time is invalid.
    pub fn parse(&self) -> Result<Option<Timestamp>, FieldErrors> {
        let start = self.occurrence_start.as_deref().map(|text| instant("occurrence_start", text));
        start.transpose().map_err(FieldErrors::from)
    }
}

fn conference_url(text: &str) -> Result<ConferenceUrl, FieldError> {
    ConferenceUrl::parse("conference_url", text)
}

fn title(text: &str) -> Result<String, FieldError> {
    bounded_text("title", text, 1, TITLE_MAX)
}
