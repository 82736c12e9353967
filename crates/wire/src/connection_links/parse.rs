//! Parses the requests into values of the domain, and builds the answers from them.

use std::borrow::Cow;

use kalends_bridge::{self as domain, NewLink, PublicationPolicy};
use kalends_calendars::{Agent, Calendar};
use kalends_kernel::{FieldError, FieldErrors};
use kalends_time::Timestamp;

use super::{ConnectionLink, CreateConnectionLink, FollowedLink, OpenConnectionLink};
use crate::names::{AVAILABILITY, PUBLISHING};

/// The maximum length of the token at the end of a link's address, in characters.
const TOKEN_MAX: usize = 64;

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
fn capabilities(requested: NewLink) -> Vec<Cow<'static, str>> {
    let publishing = requested.publishing.then_some(PUBLISHING);
    [AVAILABILITY].into_iter().chain(publishing).map(Cow::Borrowed).collect()
}

impl ConnectionLink {
    /// The link as it is at `now`.
    pub fn new(link: &domain::ConnectionLink, now: Timestamp) -> Self {
        Self {
            id: link.id,
            calendar_id: link.calendar,
            status: link.status(now).as_str().into(),
            capabilities: capabilities(link.requested),
            publication_policy: link.requested.policy.as_str().into(),
            expires_at: link.expires_at,
            connection_id: link.connection,
        }
    }
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
        let request: CreateConnectionLink = serde_json::from_str(json).unwrap();
        request.parse().map_err(|errors| errors.first().to_string())
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
