//! Parses the query, and builds the answers from the values of the domain.

use std::time::Duration;

use kalends_kernel::{FieldError, FieldErrors, Page};
use kalends_notifications::{FeedEntry, WantedTypes};
use serde_json::Value;

use super::{ListOrganizationChanges, OrganizationChange};

/// The longest time to wait, in seconds.
pub const WAIT_MAX: i64 = 60;

/// A checked query for an organization's changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeedQuery {
    /// The token as written.
    pub since: Option<String>,
    /// How long to wait if there is nothing.
    pub wait: Duration,
    /// The types that the reader wants.
    pub types: WantedTypes,
    /// The maximum number of entries per page.
    pub limit: u32,
}

impl ListOrganizationChanges {
    /// Checks the parameters. The token itself is checked later.
    ///
    /// # Errors
    /// Lists every invalid parameter.
    pub fn parse(self) -> Result<FeedQuery, FieldErrors> {
        let mut errors = FieldErrors::default();
        let wait = errors.take(match self.wait.unwrap_or(0) {
            seconds @ 0..=WAIT_MAX => Ok(Duration::from_secs(seconds.unsigned_abs())),
            other => Err(FieldError::new("wait", format!("must be 0 to {WAIT_MAX} seconds, got {other}"))),
        });
        let types = errors.take(match self.types.as_deref() {
            None => Ok(WantedTypes::ALL),
            Some(list) => WantedTypes::parse(list).map_err(|error| FieldError::new("types", error.to_string())),
        });
        let page = errors.take_all(Page::parse(self.limit, None));
        match (wait, types, page) {
            (Some(wait), Some(types), Some(page)) => {
                Ok(FeedQuery { since: self.since, wait, types, limit: page.limit })
            }
            _ => Err(errors),
        }
    }
}

impl From<FeedEntry> for OrganizationChange {
    fn from(entry: FeedEntry) -> Self {
        let body: Value = serde_json::from_str(&entry.body).unwrap_or_default();
        let id = body.get(entry.change_type.names_resource_by()).and_then(Value::as_str);
        Self {
            change_type: entry.change_type.as_str().to_owned(),
            at: entry.created_at,
            resource_type: entry.change_type.resource_type().to_owned(),
            resource_id: id.unwrap_or_default().to_owned(),
            version: entry.version.0,
            body,
        }
    }
}

#[cfg(test)]
mod tests {
    use kalends_kernel::{MessageId, OrgId, Version};
    use kalends_notifications::{ChangeType, EventType};
    use kalends_time::Timestamp;

    use super::*;

    #[test]
    fn every_invalid_parameter_is_named() {
        let query = ListOrganizationChanges {
            since: None,
            wait: Some(61),
            types: Some("event.creatd".to_owned()),
            limit: Some(0),
        };
        let errors = query.parse().unwrap_err();
        let params: Vec<_> = errors.iter().map(|error| error.param.as_str()).collect();
        assert_eq!(params, ["wait", "types", "limit"]);
        for wait in [-1, 61, i64::MIN] {
            let query = ListOrganizationChanges { wait: Some(wait), ..ListOrganizationChanges::default() };
            assert!(query.parse().unwrap_err().to_string().contains("0 to 60"), "{wait}");
        }
    }

    #[test]
    fn every_parameter_is_optional() {
        let parsed = ListOrganizationChanges::default().parse().unwrap();
        let expected = FeedQuery { since: None, wait: Duration::ZERO, types: WantedTypes::ALL, limit: 50 };
        assert_eq!(parsed, expected);
        let longest = ListOrganizationChanges { wait: Some(60), ..ListOrganizationChanges::default() };
        assert_eq!(longest.parse().unwrap().wait, Duration::from_secs(WAIT_MAX.unsigned_abs()));
    }

    #[test]
    fn the_resource_is_named_by_its_body() {
        for (change_type, body, id) in [
            (ChangeType::CalendarCreated, r#"{"id":"cal_1"}"#, "cal_1"),
            (ChangeType::Announced(EventType::EventAttendeeResponded), r#"{"event_id":"evt_1"}"#, "evt_1"),
            (ChangeType::Announced(EventType::ProposalExpired), r#"{"proposal_id":"pro_1"}"#, "pro_1"),
        ] {
            let shown = OrganizationChange::from(FeedEntry {
                id: MessageId::from_bytes([1; 16]),
                org: OrgId::from_bytes([1; 16]),
                change_type,
                body: body.to_owned(),
                version: Version(3),
                created_at: Timestamp::EPOCH,
            });
            assert_eq!((shown.resource_id.as_str(), shown.version), (id, 3));
            assert_eq!(shown.change_type.split('.').next(), Some(shown.resource_type.as_str()));
        }
    }
}
