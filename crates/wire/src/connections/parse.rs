//! Parses the requests into values of the domain, and builds the answers from them.

use kalends_bridge::{
    self as domain, AGENTS_MAX, Audience, CalendarProvider, LABEL_MAX, SOURCES_MAX, ports::KnownCalendar,
};
use kalends_bridge::{STALE_AFTER, UNAVAILABLE_AFTER};
use kalends_kernel::{FieldError, FieldErrors, bounded_text};
use kalends_time::Timestamp;

use super::{AvailabilityGrant, CalendarConnection, CreateGrant, ExternalCalendar, UpdateConnection};
use crate::{
    names::WORTHS,
    patch::{nothing_to_change, set_or_clear},
};

/// Classifies busy times that were read at `read_at`.
fn worth(read_at: Option<Timestamp>, now: Timestamp) -> &'static str {
    let [unread, fresh, stale, unavailable] = WORTHS;
    match read_at.map(|read_at| now - read_at) {
        None => unread,
        Some(age) if age > UNAVAILABLE_AFTER => unavailable,
        Some(age) if age > STALE_AFTER => stale,
        Some(_) => fresh,
    }
}

impl CalendarConnection {
    /// Builds the connection as it is at `now`.
    pub fn new(connection: &domain::Connection, now: Timestamp) -> Self {
        Self {
            id: connection.id,
            provider: connection.provider.as_str(),
            label: connection.label.clone(),
            status: connection.status().as_str(),
            last_refreshed_at: connection.refresh.refreshed_at,
            publishing: connection.access.publishing(),
            data: worth(connection.refresh.refreshed_at, now),
            last_error: connection.refresh.last_error.clone(),
            created_at: connection.created_at,
            updated_at: connection.updated_at,
        }
    }

    /// Builds the entry of a list as it is at `now`. The user can replace a connection that cannot be read, but not fix
    /// it.
    pub fn listed(listed: &domain::ListedConnection, now: Timestamp) -> Self {
        match listed {
            Ok(connection) => Self::new(connection, now),
            Err(unreadable) => Self {
                id: unreadable.id,
                provider: unreadable.provider.as_str(),
                label: None,
                status: domain::ConnectionStatus::ReauthorizationRequired.as_str(),
                last_refreshed_at: unreadable.refreshed_at,
                publishing: false,
                data: worth(unreadable.refreshed_at, now),
                last_error: Some(domain::UNREADABLE_CONNECTION.to_owned()),
                created_at: unreadable.created_at,
                updated_at: unreadable.updated_at,
            },
        }
    }
}

impl UpdateConnection {
    /// Checks the field.
    ///
    /// # Errors
    /// If the field is missing or out of bounds.
    pub fn parse(self) -> Result<Option<String>, FieldErrors> {
        match set_or_clear(self.label, |text| bounded_text("label", &text, 1, LABEL_MAX))? {
            kalends_calendars::Patch::Set(label) => Ok(label),
            kalends_calendars::Patch::Keep => Err(nothing_to_change("label").into()),
        }
    }
}

impl ExternalCalendar {
    /// Builds the calendar as it is at `now`.
    pub fn new(KnownCalendar { calendar, counts }: KnownCalendar, now: Timestamp) -> Self {
        let last_read_at = calendar.reading.as_ref().map(|reading| reading.read_at);
        Self {
            id: calendar.id,
            connection_id: calendar.connection,
            name: calendar.theirs.name,
            primary: calendar.theirs.primary,
            counts,
            last_read_at,
            data: worth(last_read_at, now),
        }
    }
}

impl From<&domain::Grant> for AvailabilityGrant {
    fn from(grant: &domain::Grant) -> Self {
        Self {
            id: grant.id,
            external_calendar_ids: grant.sources.clone(),
            audience: grant.audience.as_str(),
            agent_ids: (grant.audience != Audience::All).then(|| grant.agents.clone()),
            created_at: grant.created_at,
        }
    }
}

/// A requested grant, with identifiers as they were written.
#[derive(Debug, PartialEq, Eq)]
pub struct WantedGrant {
    /// The human calendars.
    pub sources: Vec<String>,
    /// The audience.
    pub audience: Audience,
    /// The agents, if the audience is [`Audience::Selected`].
    pub agents: Vec<String>,
    /// The connection link.
    pub link: Option<String>,
}

impl CreateGrant {
    /// Checks every field.
    ///
    /// # Errors
    /// Lists every invalid field.
    pub fn parse(self) -> Result<WantedGrant, FieldErrors> {
        let mut errors = FieldErrors::default();
        let bounded = |name: &str, count: usize, max: usize| match count {
            count if (1..=max).contains(&count) => Ok(()),
            count => Err(FieldError::new(name, format!("must contain 1-{max} identifiers, got {count}"))),
        };
        let sources = bounded("external_calendar_ids", self.external_calendar_ids.len(), SOURCES_MAX);
        errors.take(sources);
        let audience = errors.take(Audience::from_name(&self.audience).ok_or_else(|| {
            FieldError::new("audience", format!("must be selected, all_current or all, got {:?}", self.audience))
        }));
        let agents = self.agent_ids;
        let checked = match (audience, &agents) {
            (Some(Audience::Selected), agents) => bounded("agent_ids", agents.as_ref().map_or(0, Vec::len), AGENTS_MAX),
            (Some(Audience::AllCurrent | Audience::All), Some(_)) => {
                Err(FieldError::new("agent_ids", "must be left out unless audience is selected"))
            }
            (_, _) => Ok(()),
        };
        errors.take(checked);
        match audience {
            Some(audience) if errors.iter().next().is_none() => Ok(WantedGrant {
                sources: self.external_calendar_ids,
                audience,
                agents: agents.unwrap_or_default(),
                link: self.connection_link_id,
            }),
            _ => Err(errors),
        }
    }
}

/// The names of the offered providers, in the order of [`CalendarProvider::ALL`].
pub fn provider_names(offered: impl Fn(CalendarProvider) -> bool) -> Vec<&'static str> {
    CalendarProvider::ALL.into_iter().filter(|provider| offered(*provider)).map(CalendarProvider::as_str).collect()
}

#[cfg(test)]
mod tests {
    use kalends_time::SignedDuration;
    use rstest::rstest;

    use super::*;

    const NOW: Timestamp = Timestamp::from_micros(1_800_000_000_000_000);

    #[rstest]
    #[case(None, "unread")]
    #[case(Some(0), "fresh")]
    #[case(Some(3_600), "fresh")]
    #[case(Some(3_601), "stale")]
    #[case(Some(86_400), "stale")]
    #[case(Some(86_401), "unavailable")]
    fn data_age(#[case] seconds: Option<i64>, #[case] expected: &str) {
        assert_eq!(worth(seconds.map(|seconds| NOW - SignedDuration::seconds(seconds)), NOW), expected);
    }

    #[rstest]
    #[case::selected(r#"{"external_calendar_ids":["a"],"audience":"selected","agent_ids":["b"]}"#, None)]
    #[case::all(r#"{"external_calendar_ids":["a"],"audience":"all"}"#, None)]
    #[case::all_current(r#"{"external_calendar_ids":["a"],"audience":"all_current"}"#, None)]
    #[case::no_calendars(r#"{"external_calendar_ids":[],"audience":"all"}"#, Some("external_calendar_ids"))]
    #[case::no_agents(r#"{"external_calendar_ids":["a"],"audience":"selected"}"#, Some("agent_ids"))]
    #[case::empty_agents(r#"{"external_calendar_ids":["a"],"audience":"selected","agent_ids":[]}"#, Some("agent_ids"))]
    #[case::agents_of_all(r#"{"external_calendar_ids":["a"],"audience":"all","agent_ids":["b"]}"#, Some("agent_ids"))]
    #[case::audience(r#"{"external_calendar_ids":["a"],"audience":"some"}"#, Some("audience"))]
    fn grants_are_checked(#[case] json: &str, #[case] fault: Option<&str>) {
        let parsed = serde_json::from_str::<CreateGrant>(json).unwrap().parse();
        assert_eq!(parsed.err().map(|errors| errors.first().param).as_deref(), fault);
    }

    #[test]
    fn a_grant_has_a_maximum_number_of_calendars_and_agents() {
        let of = |calendars: usize, agents: usize| {
            let grant = CreateGrant {
                external_calendar_ids: vec![String::new(); calendars],
                audience: "selected".into(),
                agent_ids: Some(vec![String::new(); agents]),
                connection_link_id: None,
            };
            grant.parse().is_ok()
        };
        assert!(of(SOURCES_MAX, AGENTS_MAX));
        assert!(!of(SOURCES_MAX + 1, AGENTS_MAX) && !of(SOURCES_MAX, AGENTS_MAX + 1));
    }

    #[rstest]
    #[case("{}", Err("body"))]
    #[case(r#"{"label":null}"#, Ok(None))]
    #[case(r#"{"label":"Work"}"#, Ok(Some("Work")))]
    #[case(r#"{"label":""}"#, Err("label"))]
    fn a_label_is_required_and_checked(#[case] json: &str, #[case] expected: Result<Option<&str>, &str>) {
        let parsed = serde_json::from_str::<UpdateConnection>(json).unwrap().parse();
        let parsed = parsed.map_err(|errors| errors.first().param);
        assert_eq!(parsed, expected.map(|label| label.map(str::to_owned)).map_err(str::to_owned));
    }
}
