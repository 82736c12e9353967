//! Parses the requests into values of the domain, and builds the answers from them.

use kalends_bridge::{self as domain, ConnectionStatus, PublicationPolicy};
use kalends_kernel::{FieldError, FieldErrors};

use super::{CopyCounts, DeleteExternalDestination, ExternalDestination, PutExternalDestination};
use crate::names::{DELETE_COPIES, KEEP_COPIES};

/// A requested destination, with the identifier as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WantedDestination {
    /// The human calendar.
    pub target: String,
    /// The events to publish.
    pub policy: PublicationPolicy,
}

impl PutExternalDestination {
    /// Checks every field.
    ///
    /// # Errors
    /// If the policy is unknown.
    pub fn parse(self) -> Result<WantedDestination, FieldErrors> {
        let policy = match self.policy {
            Some(name) => PublicationPolicy::from_name(&name).ok_or_else(|| {
                FieldError::new("policy", format!("must be none, confirmed or confirmed_tentative, got {name:?}"))
            })?,
            None => PublicationPolicy::Confirmed,
        };
        Ok(WantedDestination { target: self.external_calendar_id, policy })
    }
}

impl DeleteExternalDestination {
    /// Whether the copies stay.
    ///
    /// # Errors
    /// If the value is unknown.
    pub fn keeps_copies(&self) -> Result<bool, FieldError> {
        match self.copies.as_deref() {
            None | Some(DELETE_COPIES) => Ok(false),
            Some(KEEP_COPIES) => Ok(true),
            Some(other) => Err(FieldError::new("copies", format!("must be delete or keep, got {other:?}"))),
        }
    }
}

impl From<domain::ports::CopyCounts> for CopyCounts {
    fn from(counts: domain::ports::CopyCounts) -> Self {
        Self { published: counts.published, diverged: counts.diverged }
    }
}

impl ExternalDestination {
    /// The destination as its user sees it. `connection` is the status of its connection.
    pub fn new(
        destination: &domain::Destination,
        connection: ConnectionStatus,
        counts: domain::ports::CopyCounts,
    ) -> Self {
        let failed = destination.state.last_error.is_some();
        let status = match connection {
            ConnectionStatus::Paused | ConnectionStatus::ReauthorizationRequired => connection,
            // A refresh that failed is not a failure of publishing.
            ConnectionStatus::Active | ConnectionStatus::Error if failed => ConnectionStatus::Error,
            ConnectionStatus::Active | ConnectionStatus::Error => ConnectionStatus::Active,
        };
        Self {
            calendar_id: destination.calendar,
            connection_id: destination.connection,
            external_calendar_id: destination.target,
            policy: destination.policy.as_str(),
            status: status.as_str(),
            copies: counts.into(),
            published_at: destination.state.published_at,
            last_error: destination.state.last_error.clone(),
            created_at: destination.created_at,
            updated_at: destination.updated_at,
        }
    }
}

#[cfg(test)]
mod tests {
    use kalends_kernel::{CalendarId, ConnectionId, ExternalCalendarId, OrgId, UserId, Version};
    use kalends_time::Timestamp;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(ConnectionStatus::Active, None, "active")]
    #[case::the_refresh_failed(ConnectionStatus::Error, None, "active")]
    #[case(ConnectionStatus::Active, Some("away"), "error")]
    #[case(ConnectionStatus::Paused, Some("away"), "paused")]
    #[case(ConnectionStatus::ReauthorizationRequired, None, "reauthorization_required")]
    fn the_status_says_what_to_do(
        #[case] connection: ConnectionStatus,
        #[case] last_error: Option<&str>,
        #[case] expected: &str,
    ) {
        let state = domain::PublishState { last_error: last_error.map(str::to_owned), ..Default::default() };
        let destination = domain::Destination {
            org: OrgId::from_bytes([1; 16]),
            calendar: CalendarId::from_bytes([2; 16]),
            human: UserId::from_bytes([3; 16]),
            connection: ConnectionId::from_bytes([4; 16]),
            target: ExternalCalendarId::from_bytes([5; 16]),
            policy: PublicationPolicy::Confirmed,
            ending: false,
            state,
            version: Version::FIRST,
            created_at: Timestamp::EPOCH,
            updated_at: Timestamp::EPOCH,
        };
        let shown = ExternalDestination::new(&destination, connection, domain::ports::CopyCounts::default());
        assert_eq!((shown.status, shown.policy), (expected, "confirmed"));
    }

    #[rstest]
    #[case(r#"{"external_calendar_id":"a"}"#, Some(PublicationPolicy::Confirmed))]
    #[case(r#"{"external_calendar_id":"a","policy":"none"}"#, Some(PublicationPolicy::None))]
    #[case(
        r#"{"external_calendar_id":"a","policy":"confirmed_tentative"}"#,
        Some(PublicationPolicy::ConfirmedTentative)
    )]
    #[case(r#"{"external_calendar_id":"a","policy":"all"}"#, None)]
    fn policies_are_checked(#[case] json: &str, #[case] expected: Option<PublicationPolicy>) {
        let parsed = serde_json::from_str::<PutExternalDestination>(json).unwrap().parse();
        assert_eq!(parsed.as_ref().ok().map(|wanted| wanted.policy), expected);
        assert!(parsed.err().is_none_or(|errors| errors.first().param == "policy"));
    }

    #[rstest]
    #[case(None, Some(false))]
    #[case(Some("delete"), Some(false))]
    #[case(Some("keep"), Some(true))]
    #[case(Some("Keep"), None)]
    fn what_happens_to_copies(#[case] copies: Option<&str>, #[case] expected: Option<bool>) {
        let query = DeleteExternalDestination { copies: copies.map(str::to_owned) };
        assert_eq!(query.keeps_copies().ok(), expected);
    }
}
