//! Builds the answers from values of the domain.

use std::time::Duration;

use kalends_approvals::{self as domain, Outcome, State, Status};
use kalends_kernel::{FieldError, FieldErrors, Page, bounded_text};
use kalends_time::Timestamp;

use super::{Approval, ApprovalResult, ApprovalStatus, DenyApproval, ListApprovals, WaitForApproval};
use crate::organization_changes::WAIT_MAX;

/// The longest reason of a denial, in characters.
const REASON_MAX: usize = 1_000;

impl From<Status> for ApprovalStatus {
    fn from(status: Status) -> Self {
        match status {
            Status::Pending => Self::Pending,
            Status::Approved => Self::Approved,
            Status::Failed => Self::Failed,
            Status::Denied => Self::Denied,
            Status::Cancelled => Self::Cancelled,
            Status::Expired => Self::Expired,
        }
    }
}

impl From<ApprovalStatus> for Status {
    fn from(status: ApprovalStatus) -> Self {
        match status {
            ApprovalStatus::Pending => Self::Pending,
            ApprovalStatus::Approved => Self::Approved,
            ApprovalStatus::Failed => Self::Failed,
            ApprovalStatus::Denied => Self::Denied,
            ApprovalStatus::Cancelled => Self::Cancelled,
            ApprovalStatus::Expired => Self::Expired,
        }
    }
}

impl From<Outcome> for ApprovalResult {
    fn from(Outcome { status, body }: Outcome) -> Self {
        // It was written as JSON.
        Self { status, body: body.and_then(|body| serde_json::from_str(&body).ok()) }
    }
}

impl Approval {
    /// An approval as it is at `now`. People decide it at `decide_url`.
    pub fn of(approval: domain::Approval, decide_url: String, now: Timestamp) -> Self {
        let status = approval.status(now).into();
        let (mut reason, mut result) = (None, None);
        let decision = match approval.state {
            State::Pending | State::Expired => None,
            State::Approved { by, at, outcome } | State::Failed { by, at, outcome } => {
                result = Some(outcome.into());
                Some((by, at))
            }
            State::Denied { by, at, reason: given } => {
                reason = given;
                Some((by, at))
            }
            State::Cancelled { by, at } => Some((by, at)),
        };
        let (decided_by, decided_at) = decision.unzip();
        Self {
            id: approval.id,
            status,
            operation: approval.operation,
            summary: approval.summary,
            agent_id: approval.agent,
            key_prefix: approval.key_prefix,
            created_at: approval.created_at,
            expires_at: approval.expires_at,
            decide_url,
            decided_at,
            decided_by,
            reason,
            result,
        }
    }
}

impl ListApprovals {
    /// Returns the status, the agent's identifier as written, and the page.
    ///
    /// # Errors
    /// Lists each parameter that is out of bounds.
    pub fn parse(self) -> Result<(Option<Status>, Option<String>, Page), FieldErrors> {
        let page = Page::parse(self.limit, self.offset)?;
        Ok((self.status.map(Status::from), self.agent_id, page))
    }
}

impl WaitForApproval {
    /// How long to wait.
    ///
    /// # Errors
    /// If it is out of bounds.
    pub fn parse(self) -> Result<Duration, FieldError> {
        match self.wait.unwrap_or(0) {
            seconds @ 0..=WAIT_MAX => Ok(Duration::from_secs(seconds.unsigned_abs())),
            other => Err(FieldError::new("wait", format!("must be 0 to {WAIT_MAX} seconds, got {other}"))),
        }
    }
}

impl DenyApproval {
    /// Returns the reason.
    ///
    /// # Errors
    /// If it is too long or blank.
    pub fn parse(self) -> Result<Option<String>, FieldError> {
        self.reason.map(|reason| bounded_text("reason", &reason, 1, REASON_MAX)).transpose()
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::left_out(None, Some(0))]
    #[case::longest(Some(60), Some(60))]
    #[case::too_long(Some(61), None)]
    #[case::negative(Some(-1), None)]
    fn waits_are_bounded(#[case] wait: Option<i64>, #[case] seconds: Option<u64>) {
        assert_eq!(WaitForApproval { wait }.parse().ok(), seconds.map(Duration::from_secs));
    }

    #[rstest]
    #[case::left_out(None, true)]
    #[case::longest(Some("x".repeat(1_000)), true)]
    #[case::too_long(Some("x".repeat(1_001)), false)]
    #[case::empty(Some(String::new()), false)]
    fn reasons_are_bounded(#[case] reason: Option<String>, #[case] is_valid: bool) {
        assert_eq!(DenyApproval { reason }.parse().is_ok(), is_valid);
    }

    /// The names of the statuses in JSON are those of the domain.
    #[test]
    fn statuses_have_their_names() {
        for status in Status::ALL {
            let shown = ApprovalStatus::from(status);
            assert_eq!(serde_json::to_value(shown).unwrap(), serde_json::json!(status.as_str()));
            assert_eq!(Status::from(shown), status);
        }
    }
}
