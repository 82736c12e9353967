//! Connection links, on which a user consents to connect a calendar.

use std::borrow::Cow;

use kalends_bridge::{self as domain, NewLink, PublicationPolicy};
use kalends_calendars::{Agent, Calendar};
use kalends_kernel::{AgentId, CalendarId, ConnectionId, ConnectionLinkId, FieldError, FieldErrors, Timestamp};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::schemas::{CapabilityName, ConnectionLinkStatus, PolicyName, ProviderName};

pub(crate) const AVAILABILITY: &str = "availability";
pub(crate) const PUBLISHING: &str = "publishing";
/// The maximum length of the token at the end of a link's address, in characters.
const TOKEN_MAX: usize = 64;

/// The fields of a new connection link.
#[derive(Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "capabilities": ["availability"], "publication_policy": "none" }))]
pub struct CreateConnectionLink {
    /// The access to ask for: `availability`, or `availability` and `publishing` to publish events to the calendar.
    /// Defaults to `availability`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<CapabilityName>>, min_items = 1, max_items = 2, example = json!(["availability"]))]
    pub capabilities: Option<Vec<String>>,
    /// The events to publish: `none`, `confirmed` or `confirmed_tentative`. Defaults to `confirmed` with
    /// `publishing`, and to `none` without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<PolicyName>)]
    pub publication_policy: Option<String>,
}

impl CreateConnectionLink {
    /// Checks every field.
    ///
    /// # Errors
    /// Lists every invalid field.
    pub fn parse(self) -> Result<NewLink, FieldErrors> {
        let mut errors = FieldErrors::default();
        let publishing = errors.take(self.capabilities.map_or(Ok(false), |names| publishing(&names)));
        let policy = errors.take(self.publication_policy.map(|name| policy(&name)).transpose());
        let (Some(publishing), Some(policy)) = (publishing, policy) else { return Err(errors) };
        let default = if publishing { PublicationPolicy::Confirmed } else { PublicationPolicy::None };
        let policy = policy.unwrap_or(default);
        if !publishing && policy != PublicationPolicy::None {
            let message = "must be none unless capabilities contain publishing";
            return Err(FieldError::new("publication_policy", message).into());
        }
        Ok(NewLink { publishing, policy })
    }
}

/// Whether the capabilities contain publishing in addition to availability.
fn publishing(names: &[String]) -> Result<bool, FieldError> {
    let wrong = |message: String| Err(FieldError::new("capabilities", message));
    let mut known = names.iter().filter(|name| [AVAILABILITY, PUBLISHING].contains(&name.as_str()));
    if let Some(other) = names.iter().find(|name| ![AVAILABILITY, PUBLISHING].contains(&name.as_str())) {
        return wrong(format!("must be availability, or availability and publishing; got {other:?}"));
    }
    if names.len() > 2 || (names.len() == 2 && names[0] == names[1]) {
        return wrong("must not repeat availability or publishing".to_owned());
    }
    if !known.any(|name| name == AVAILABILITY) {
        return wrong("must contain availability, which publishing requires".to_owned());
    }
    Ok(names.iter().any(|name| name == PUBLISHING))
}

fn policy(name: &str) -> Result<PublicationPolicy, FieldError> {
    PublicationPolicy::from_name(name).ok_or_else(|| {
        FieldError::new("publication_policy", format!("must be none, confirmed or confirmed_tentative, got {name:?}"))
    })
}

/// The names of the capabilities that a link asks for.
fn capabilities(asked: NewLink) -> Vec<Cow<'static, str>> {
    let publishing = asked.publishing.then_some(PUBLISHING);
    [AVAILABILITY].into_iter().chain(publishing).map(Cow::Borrowed).collect()
}

/// A connection link.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "id": "cln_01jn8r6v9ke0bt3m5qz2c7xwdh", "calendar_id": "cal_01jn8r6v9ke0bt3m5qz2c7xwdh", "status": "awaiting_human",
    "capabilities": ["availability"], "publication_policy": "none", "expires_at": "2026-03-02T08:15:00Z",
    "connection_id": null
}))]
pub struct ConnectionLink {
    /// The identifier, `cln_…`.
    #[schema(value_type = String)]
    pub id: ConnectionLinkId,
    /// The calendar to which a human calendar is to be connected.
    #[schema(value_type = String)]
    pub calendar_id: CalendarId,
    /// The status: `awaiting_human`, `in_progress` (a user has opened the link), `completed`, `declined`, `expired`
    /// or `cancelled`.
    #[schema(value_type = ConnectionLinkStatus)]
    pub status: Cow<'static, str>,
    /// The access that the link asks for: `availability`, possibly with `publishing`.
    #[schema(value_type = Vec<CapabilityName>)]
    pub capabilities: Vec<Cow<'static, str>>,
    /// The events to publish: `none`, `confirmed` or `confirmed_tentative`.
    #[schema(value_type = PolicyName)]
    pub publication_policy: Cow<'static, str>,
    /// When the link expires if it is not completed: 15 minutes after its creation, or 30 minutes after a user opened
    /// it.
    #[schema(value_type = String, format = DateTime)]
    pub expires_at: Timestamp,
    /// The connection that the user made, `con_…`. Null before that.
    #[schema(value_type = Option<String>)]
    pub connection_id: Option<ConnectionId>,
}

impl ConnectionLink {
    /// The link as it is at `now`.
    pub fn new(link: &domain::ConnectionLink, now: Timestamp) -> Self {
        Self {
            id: link.id,
            calendar_id: link.calendar,
            status: link.status(now).as_str().into(),
            capabilities: capabilities(link.asked),
            publication_policy: link.asked.policy.as_str().into(),
            expires_at: link.expires_at,
            connection_id: link.connection,
        }
    }
}

/// A connection link, with its address.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "id": "cln_01jn8r6v9ke0bt3m5qz2c7xwdh", "calendar_id": "cal_01jn8r6v9ke0bt3m5qz2c7xwdh", "status": "awaiting_human",
    "capabilities": ["availability"], "publication_policy": "none", "expires_at": "2026-03-02T08:15:00Z",
    "connection_id": null, "setup_url": "https://kalends.example/console/connect#GCUQ1kCtWL3ZIG3FEPyvJ0sGTTnVYYLhxsXMzY0C6P8",
    "reused": false
}))]
pub struct NewConnectionLink {
    /// The link.
    #[serde(flatten)]
    pub link: ConnectionLink,
    /// The address to send the user to. It works once and is shown only in this answer. Null if an open link is
    /// reused.
    #[schema(format = "uri")]
    pub setup_url: Option<String>,
    /// Whether the calendar already had an open link, which this answer returns.
    pub reused: bool,
}

/// The token from a link's address, sent by the user who opened the link.
#[derive(Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "token": "GCUQ1kCtWL3ZIG3FEPyvJ0sGTTnVYYLhxsXMzY0C6P8" }))]
pub struct OpenConnectionLink {
    /// The part of `setup_url` after the `#`.
    #[schema(min_length = 1, max_length = 64)]
    pub token: String,
}

impl OpenConnectionLink {
    /// Checks the bounds.
    ///
    /// # Errors
    /// If the token is empty or too long.
    pub fn parse(self) -> Result<String, FieldErrors> {
        if (1..=TOKEN_MAX).contains(&self.token.len()) {
            return Ok(self.token);
        }
        Err(FieldError::new("token", format!("must be 1-{TOKEN_MAX} bytes long, got {}", self.token.len())).into())
    }
}

/// A connection link, as shown to the user who opened it.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({
    "id": "cln_01jn8r6v9ke0bt3m5qz2c7xwdh", "calendar_id": "cal_01jn8r6v9ke0bt3m5qz2c7xwdh", "status": "in_progress",
    "capabilities": ["availability"], "publication_policy": "none", "expires_at": "2026-03-02T08:30:00Z",
    "connection_id": null, "calendar_name": "Meetings", "agent_id": "agt_01jn8r6v9ke0bt3m5qz2c7xwdh",
    "agent_name": "Scheduler", "providers": ["google"]
}))]
pub struct FollowedLink {
    /// The link.
    #[serde(flatten)]
    pub link: ConnectionLink,
    /// The name of the calendar that asks for access to yours. Null if it was deleted.
    pub calendar_name: Option<String>,
    /// The agent that asks. Null for the organization.
    #[schema(value_type = Option<String>)]
    pub agent_id: Option<AgentId>,
    /// The agent's name.
    pub agent_name: Option<String>,
    /// The providers that can be connected for what the link asks: `google`, `microsoft`, both or none.
    #[schema(value_type = Vec<ProviderName>)]
    pub providers: Vec<&'static str>,
}

impl FollowedLink {
    /// Builds the answer: the link at `now`, the calendar and the agent that it is for, and the available providers.
    pub fn new(
        (link, now): (&domain::ConnectionLink, Timestamp),
        calendar: Option<&Calendar>,
        agent: Option<&Agent>,
        providers: Vec<&'static str>,
    ) -> Self {
        Self {
            link: ConnectionLink::new(link, now),
            calendar_name: calendar.map(|calendar| calendar.name.clone()),
            agent_id: link.agent,
            agent_name: agent.map(|agent| agent.name.clone()),
            providers,
        }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn parse(json: &str) -> Result<NewLink, String> {
        let asked: CreateConnectionLink = serde_json::from_str(json).unwrap();
        asked.parse().map_err(|errors| errors.first().to_string())
    }

    #[rstest]
    #[case("{}", false, PublicationPolicy::None)]
    #[case(r#"{"capabilities":["availability"]}"#, false, PublicationPolicy::None)]
    #[case(r#"{"capabilities":["publishing","availability"]}"#, true, PublicationPolicy::Confirmed)]
    #[case(
        r#"{"capabilities":["availability","publishing"],"publication_policy":"none"}"#,
        true,
        PublicationPolicy::None
    )]
    #[case(
        r#"{"capabilities":["availability","publishing"],"publication_policy":"confirmed_tentative"}"#,
        true,
        PublicationPolicy::ConfirmedTentative
    )]
    fn valid_requests(#[case] json: &str, #[case] publishing: bool, #[case] policy: PublicationPolicy) {
        assert_eq!(parse(json), Ok(NewLink { publishing, policy }));
    }

    #[rstest]
    #[case::empty(r#"{"capabilities":[]}"#, "capabilities")]
    #[case::publishing_alone(r#"{"capabilities":["publishing"]}"#, "capabilities")]
    #[case::repeated(r#"{"capabilities":["availability","availability"]}"#, "capabilities")]
    #[case::three(r#"{"capabilities":["availability","publishing","availability"]}"#, "capabilities")]
    #[case::unknown(r#"{"capabilities":["availability","titles"]}"#, "capabilities")]
    #[case::unknown_policy(r#"{"publication_policy":"all"}"#, "publication_policy")]
    #[case::policy_without_publishing(r#"{"publication_policy":"confirmed"}"#, "publication_policy")]
    fn invalid_requests(#[case] json: &str, #[case] param: &str) {
        let error = parse(json).unwrap_err();
        assert!(error.starts_with(param), "{error}");
    }

    #[test]
    fn every_status_is_named() {
        let names: Vec<_> = domain::LinkStatus::ALL.iter().map(|status| status.as_str()).collect();
        assert_eq!(names, ["awaiting_human", "in_progress", "completed", "declined", "expired", "cancelled"]);
    }
}
