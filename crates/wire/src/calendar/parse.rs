//! Parses the requests into values of the domain, and builds the answers from them.

use kalends_calendars::{self as domain, Reminders, ports::CalendarFilter};
use kalends_kernel::{FieldErrors, Metadata, Page};

use super::{Calendar, CalendarName, CreateCalendar, IncludeCalendars, ListCalendars, ShownCalendar, UpdateCalendar};
use crate::{
    fields::{metadata, name, zone},
    patch::{nothing_to_change, set, set_or_clear},
};

impl Calendar {
    /// Builds the answer. Feed addresses start with `base_url`.
    pub fn new(calendar: domain::Calendar, base_url: &str) -> Self {
        Self {
            id: calendar.id,
            org_id: calendar.org,
            agent_id: calendar.agent,
            name: calendar.name,
            timezone: calendar.zone.name().into(),
            metadata: calendar.metadata.into_map(),
            external_id: calendar.external_id,
            provider: calendar.provider.map(Into::into),
            deleted_at: calendar.deleted_at,
            created_at: calendar.created_at,
            updated_at: calendar.updated_at,
            agent_status: calendar.activity.into(),
            default_reminders: calendar.default_reminders.map(|reminders| reminders.minutes().to_vec()),
            conflicts: match calendar.conflicts {
                domain::Conflicts::Allow => None,
                refuse @ domain::Conflicts::Refuse => Some(refuse.into()),
            },
            recurrence_default: calendar.recurrence_default.map(Into::into),
            ical_url: format!("{base_url}/ical/{}.ics", calendar.feed_token.reveal()),
        }
    }
}

impl ShownCalendar {
    /// The calendar, or only its name unless the caller sees `all` of it.
    pub fn new(calendar: domain::Calendar, base_url: &str, all: bool) -> Self {
        if all {
            return Self::Whole(Box::new(Calendar::new(calendar, base_url)));
        }
        Self::Name(CalendarName { id: calendar.id, name: calendar.name, timezone: calendar.zone.name().into() })
    }
}

impl CreateCalendar {
    /// Checks every field.
    ///
    /// # Errors
    /// Lists every invalid field.
    pub fn parse(self) -> Result<domain::NewCalendar, FieldErrors> {
        let mut errors = FieldErrors::default();
        let name = errors.take(name(&self.name));
        let zone = errors.take(zone("timezone", &self.timezone));
        let default_reminders = errors
            .take(self.default_reminders.map(|minutes| Reminders::parse("default_reminders", &minutes)).transpose());
        let metadata = errors.take(metadata(self.metadata));
        match (name, zone, default_reminders, metadata) {
            (Some(name), Some(zone), Some(default_reminders), Some(metadata)) => Ok(domain::NewCalendar {
                name,
                zone,
                activity: self.agent_status.map_or(domain::AgentActivity::Idle, Into::into),
                default_reminders,
                conflicts: self.conflicts.map(Into::into).unwrap_or_default(),
                recurrence_default: self.recurrence_default.map(Into::into),
                metadata,
            }),
            _ => Err(errors),
        }
    }
}

impl UpdateCalendar {
    /// Checks every field.
    ///
    /// # Errors
    /// Lists every invalid field, or reports that no field was sent.
    pub fn parse(self) -> Result<domain::CalendarPatch, FieldErrors> {
        if let Self {
            name: None,
            timezone: None,
            agent_status: None,
            default_reminders: None,
            conflicts: None,
            recurrence_default: None,
            metadata: None,
        } = self
        {
            let fields = "name, timezone, agent_status, default_reminders, conflicts, recurrence_default, metadata";
            return Err(nothing_to_change(fields).into());
        }
        let mut errors = FieldErrors::default();
        let name = errors.take(set("name", self.name, |text| name(&text)));
        let zone = errors.take(set("timezone", self.timezone, |text| zone("timezone", &text)));
        let activity = errors.take(set("agent_status", self.agent_status, |activity| Ok(activity.into())));
        let default_reminders = errors
            .take(set_or_clear(self.default_reminders, |minutes| Reminders::parse("default_reminders", &minutes)));
        let conflicts = errors.take(set("conflicts", self.conflicts, |conflicts| Ok(conflicts.into())));
        let recurrence_default = errors.take(set_or_clear(self.recurrence_default, |default| Ok(default.into())));
        let metadata = errors.take(set("metadata", self.metadata, |value| Metadata::parse("metadata", value)));
        match (name, zone, activity, default_reminders, conflicts, recurrence_default, metadata) {
            (
                Some(name),
                Some(zone),
                Some(activity),
                Some(default_reminders),
                Some(conflicts),
                Some(recurrence_default),
                Some(metadata),
            ) => Ok(domain::CalendarPatch {
                name,
                zone,
                activity,
                default_reminders,
                conflicts,
                recurrence_default,
                metadata,
            }),
            _ => Err(errors),
        }
    }
}

impl ListCalendars {
    /// Checks the bounds.
    ///
    /// # Errors
    /// Lists each parameter that is out of bounds.
    pub fn parse(&self) -> Result<(CalendarFilter, Page), FieldErrors> {
        let filter = match self.include {
            None => CalendarFilter::OfAgents,
            Some(IncludeCalendars::All) => CalendarFilter::All,
        };
        Ok((filter, Page::parse(self.limit, self.offset)?))
    }
}
