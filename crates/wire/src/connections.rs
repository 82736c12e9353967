//! Connected calendars of humans, and for whom they count, as the console shows them (rulings 9.2 and 9.3).

use std::borrow::Cow;

use kalends_accounts::oauth::Provider;
use kalends_availability::{STALE_AFTER, UNAVAILABLE_AFTER};
use kalends_bridge::{self as domain, AGENTS_MAX, Audience, LABEL_MAX, SOURCES_MAX, ports::KnownCalendar};
use kalends_kernel::{
    AgentId, ConnectionId, ExternalCalendarId, FieldError, FieldErrors, GrantId, Timestamp, bounded_text,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{
    patch::{Given, given, nothing_to_change, set_or_clear},
    schemas::{ConnectionStatusName, DataWorth, GrantAudience, ProviderName, RefreshingStatus},
};

/// A connected account of a human.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[schema(example = json!({
    "id": "con_01jn8r6v9ke0bt3m5qz2c7xwdh", "provider": "google", "label": "Work", "status": "active",
    "last_refreshed_at": "2026-03-02T08:00:00Z", "data": "fresh", "last_error": null,
    "created_at": "2026-03-02T07:55:00Z", "updated_at": "2026-03-02T07:55:00Z"
}))]
pub struct CalendarConnection {
    /// `con_…`
    #[schema(value_type = String)]
    pub id: ConnectionId,
    /// `google` or `microsoft`.
    #[schema(value_type = ProviderName)]
    pub provider: &'static str,
    /// What you call it.
    pub label: Option<String>,
    /// `active`, `error` (the last refresh failed; it is tried again), `reauthorization_required` (the provider lets us in no
    /// more) or `paused`.
    #[schema(value_type = ConnectionStatusName)]
    pub status: &'static str,
    /// When its busy times were last read; null before the first time.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub last_refreshed_at: Option<Timestamp>,
    /// How much they are worth: `unread`, `fresh`, `stale` (older than 1 h) or `unavailable` (older than 24 h).
    #[schema(value_type = DataWorth)]
    pub data: &'static str,
    /// What went wrong, where the last refresh failed.
    pub last_error: Option<String>,
    /// When it was connected.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// When it was last changed, not counting refreshes.
    #[schema(value_type = String, format = DateTime)]
    pub updated_at: Timestamp,
}

/// How much data can be worth.
pub(crate) const WORTHS: [&str; 4] = ["unread", "fresh", "stale", "unavailable"];

/// How much data are worth that were read then (ruling 9.3).
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
    /// The connection as it is at `now`.
    pub fn new(connection: &domain::Connection, now: Timestamp) -> Self {
        Self {
            id: connection.id,
            provider: connection.provider.as_str(),
            label: connection.label.clone(),
            status: connection.status().as_str(),
            last_refreshed_at: connection.refresh.refreshed_at,
            data: worth(connection.refresh.refreshed_at, now),
            last_error: connection.refresh.last_error.clone(),
            created_at: connection.created_at,
            updated_at: connection.updated_at,
        }
    }
}

/// What a PATCH of a connection may change.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "label": "Work" }))]
pub struct UpdateConnection {
    /// What you call it, 1-255 characters; null takes the label away.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<String>, min_length = 1, max_length = 255)]
    pub label: Given<String>,
}

impl UpdateConnection {
    /// Checks the field.
    ///
    /// # Errors
    /// It is missing or out of bounds.
    pub fn parse(self) -> Result<Option<String>, FieldErrors> {
        match set_or_clear(self.label, |text| bounded_text("label", &text, 1, LABEL_MAX))? {
            kalends_calendars::Patch::Set(label) => Ok(label),
            kalends_calendars::Patch::Keep => Err(nothing_to_change("label").into()),
        }
    }
}

/// That a refresh is under way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Refreshing {
    /// `refreshing`
    #[schema(value_type = RefreshingStatus, example = "refreshing")]
    pub status: Cow<'static, str>,
}

impl Default for Refreshing {
    fn default() -> Self {
        Self { status: "refreshing".into() }
    }
}

/// Where consent is asked for.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "connection_link_id": "cln_01jn8r6v9ke0bt3m5qz2c7xwdh" }))]
pub struct StartConnection {
    /// The link that you follow, `cln_…`, if one asked for it.
    pub connection_link_id: Option<String>,
}

/// Where a browser goes for consent.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({ "authorization_url": "https://accounts.google.com/o/oauth2/v2/auth?response_type=code&state=…" }))]
pub struct ConsentBegun {
    /// The provider's page, good for 10 minutes and for the browser that has this answer's cookie.
    #[schema(format = "uri")]
    pub authorization_url: String,
}

/// A calendar of a connected account. No agent's key ever sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[schema(example = json!({
    "id": "xcl_01jn8r6v9ke0bt3m5qz2c7xwdh", "connection_id": "con_01jn8r6v9ke0bt3m5qz2c7xwdh", "name": "Private",
    "primary": true, "counts": true, "last_read_at": "2026-03-02T08:00:00Z", "data": "fresh"
}))]
pub struct ExternalCalendar {
    /// `xcl_…`
    #[schema(value_type = String)]
    pub id: ExternalCalendarId,
    /// The account.
    #[schema(value_type = String)]
    pub connection_id: ConnectionId,
    /// What it is called there.
    pub name: String,
    /// Whether it is the account's own.
    pub primary: bool,
    /// Whether a grant makes it count for anybody.
    pub counts: bool,
    /// When its busy times were last read; null while they are not.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub last_read_at: Option<Timestamp>,
    /// How much they are worth: `unread`, `fresh`, `stale` (older than 1 h) or `unavailable` (older than 24 h).
    #[schema(value_type = DataWorth)]
    pub data: &'static str,
}

impl ExternalCalendar {
    /// The calendar as it is at `now`.
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

/// The calendars of a connected account.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ExternalCalendars {
    /// All of them, 100 at most.
    pub data: Vec<ExternalCalendar>,
}

/// For which agents calendars of a human count as busy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[schema(example = json!({
    "id": "grt_01jn8r6v9ke0bt3m5qz2c7xwdh", "external_calendar_ids": ["xcl_01jn8r6v9ke0bt3m5qz2c7xwdh"],
    "audience": "selected", "agent_ids": ["agt_01jn8r6v9ke0bt3m5qz2c7xwdh"], "created_at": "2026-03-02T08:00:00Z"
}))]
pub struct AvailabilityGrant {
    /// `grt_…`
    #[schema(value_type = String)]
    pub id: GrantId,
    /// The calendars.
    #[schema(value_type = Vec<String>)]
    pub external_calendar_ids: Vec<ExternalCalendarId>,
    /// `selected`, `all_current` or `all`.
    #[schema(value_type = GrantAudience)]
    pub audience: &'static str,
    /// The agents: those selected, or those that there were; null where all count, also those to come.
    #[schema(value_type = Option<Vec<String>>)]
    pub agent_ids: Option<Vec<AgentId>>,
    /// When it was made.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
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

/// What is needed to make a grant.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({
    "external_calendar_ids": ["xcl_01jn8r6v9ke0bt3m5qz2c7xwdh"], "audience": "selected",
    "agent_ids": ["agt_01jn8r6v9ke0bt3m5qz2c7xwdh"], "connection_link_id": "cln_01jn8r6v9ke0bt3m5qz2c7xwdh"
}))]
pub struct CreateGrant {
    /// Which of your calendars count as busy, `xcl_…`: 1-50.
    #[schema(min_items = 1, max_items = 50)]
    pub external_calendar_ids: Vec<String>,
    /// For whom: `selected` (the agents of `agent_ids`), `all_current` (every agent that there is now) or `all` (those to come
    /// too, and the calendars that the organization shares).
    #[schema(value_type = GrantAudience, example = "selected")]
    pub audience: String,
    /// The agents, `agt_…`: 1-500 with `selected`, and none with the others.
    #[schema(min_items = 1, max_items = 500)]
    pub agent_ids: Option<Vec<String>>,
    /// The link that you follow, `cln_…`, if one asked for it: it is completed.
    pub connection_link_id: Option<String>,
}

/// A grant that is asked for, with identifiers as they were written.
#[derive(Debug, PartialEq, Eq)]
pub struct WantedGrant {
    /// The calendars.
    pub sources: Vec<String>,
    /// For whom.
    pub audience: Audience,
    /// The agents of [`Audience::Selected`].
    pub agents: Vec<String>,
    /// The link.
    pub link: Option<String>,
}

impl CreateGrant {
    /// Checks every field.
    ///
    /// # Errors
    /// All fields at fault.
    pub fn parse(self) -> Result<WantedGrant, FieldErrors> {
        let mut errors = FieldErrors::default();
        let bounded = |name: &str, count: usize, max: usize| match count {
            count if (1..=max).contains(&count) => Ok(()),
            count => Err(FieldError::new(name, format!("must hold 1-{max} identifiers, got {count}"))),
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

/// The names of providers, in the order of [`Provider::ALL`].
pub fn provider_names(offered: impl Fn(Provider) -> bool) -> Vec<&'static str> {
    Provider::ALL.into_iter().filter(|provider| offered(*provider)).map(Provider::as_str).collect()
}

#[cfg(test)]
mod tests {
    use kalends_kernel::SignedDuration;
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
    fn a_grant_holds_so_many_at_most() {
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
    fn labels(#[case] json: &str, #[case] expected: Result<Option<&str>, &str>) {
        let parsed = serde_json::from_str::<UpdateConnection>(json).unwrap().parse();
        let parsed = parsed.map_err(|errors| errors.first().param);
        assert_eq!(parsed, expected.map(|label| label.map(str::to_owned)).map_err(str::to_owned));
    }
}
