//! A row of `approvals`, whose request and decision are sealed.

use std::borrow::Cow;

use kalends_app::ports::FieldCipher;
use kalends_approvals::{Approval, Outcome, Reserved, Seen, State, Status, WaitingRequest};
use kalends_kernel::{AgentId, ApprovalId, CalendarId, KeyId, OrgId, StoreError, Version, base64url, from_base64url};
use kalends_time::{Span, SpanError, Timestamp};
use serde::{Deserialize, Serialize};

use crate::{Key, Located, places, row_id};

columns! {
    $ macro approval_row;
    /// The columns of an approval.
    pub struct ApprovalRow<K> {
        org_id: K,
        id: K,
        key_id: K,
        key_prefix: String,
        agent_id: K,
        operation: String,
        status: String,
        content: String,
        version: i64,
        created_at: i64,
        expires_at: i64,
        decided_at: Option<i64>,
    }
}

/// The sealed part of an approval: what was asked for, and the decision.
#[derive(Serialize, Deserialize)]
struct Content<'a> {
    summary: Cow<'a, str>,
    request: Cow<'a, WaitingRequest>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    seen: Vec<Cow<'a, Seen>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    reserved: Vec<Times>,
    /// Each hash as base64url.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    mailed: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    by: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reason: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    outcome: Option<Cow<'a, Outcome>>,
}

/// The times that are reserved on a calendar, each from and to a number of microseconds.
#[derive(Serialize, Deserialize)]
struct Times {
    calendar: CalendarId,
    spans: Vec<(i64, i64)>,
}

impl Times {
    fn of(reserved: &Reserved) -> Self {
        let micros = |span: &Span| (span.start().as_micros(), span.end().as_micros());
        Self { calendar: reserved.calendar, spans: reserved.spans.iter().map(micros).collect() }
    }

    fn read(self) -> Result<Reserved, SpanError> {
        let span = |(start, end)| Span::new(Timestamp::from_micros(start), Timestamp::from_micros(end));
        let spans = self.spans.into_iter().map(span).collect::<Result<_, _>>()?;
        Ok(Reserved { calendar: self.calendar, spans })
    }
}

/// The plain form of the sealed part of an approval.
pub(crate) fn write_approval(approval: &Approval) -> Result<Vec<u8>, serde_json::Error> {
    let (by, reason, outcome) = match &approval.state {
        State::Pending | State::Expired => (None, None, None),
        State::Approved { by, outcome, .. } | State::Failed { by, outcome, .. } => (Some(by), None, Some(outcome)),
        State::Denied { by, reason, .. } => (Some(by), reason.as_deref(), None),
        State::Cancelled { by, .. } => (Some(by), None, None),
    };
    serde_json::to_vec(&Content {
        summary: Cow::Borrowed(&approval.summary),
        request: Cow::Borrowed(&approval.request),
        seen: approval.seen.iter().map(Cow::Borrowed).collect(),
        reserved: approval.reserved.iter().map(Times::of).collect(),
        mailed: approval.mailed.iter().map(|hash| base64url(hash)).collect(),
        by: by.map(|by| Cow::Borrowed(by.as_str())),
        reason: reason.map(Cow::Borrowed),
        outcome: outcome.map(Cow::Borrowed),
    })
}

fn read_hash(text: &str) -> Option<[u8; 32]> {
    from_base64url(text)?.try_into().ok()
}

/// When the approval was decided, or expired undecided, as a column; `None` while it is pending.
pub const fn approval_decided_at(approval: &Approval) -> Option<Timestamp> {
    match &approval.state {
        State::Pending => None,
        State::Approved { at, .. }
        | State::Failed { at, .. }
        | State::Denied { at, .. }
        | State::Cancelled { at, .. } => Some(*at),
        State::Expired => Some(approval.expires_at),
    }
}

/// The status in a row of the approval.
///
/// # Errors
/// [`StoreError::Corrupt`] if no status has that name.
pub fn approval_status(id: ApprovalId, status: &str) -> Result<Status, StoreError> {
    Located { table: "approvals", id }.named("status", status, Status::from_name)
}

impl<K: Key> ApprovalRow<K> {
    /// The approval, or an error that names the corrupt column.
    pub fn open(self, cipher: &dyn FieldCipher) -> Result<Approval, StoreError> {
        let id = ApprovalId::from_uuid(row_id("approvals", "id", &self.id)?);
        let row = Located { table: "approvals", id };
        let plain = row.open(places::approval_content(id), &self.content, cipher)?;
        let content: Content<'static> = row.read("content", serde_json::from_slice(&plain))?;
        let Content { summary, request, seen, reserved, mailed, by, reason, outcome } = content;
        let at = self.decided_at.map(Timestamp::from_micros);
        let status = row.named("status", &self.status, Status::from_name)?;
        let decision = (by.map(Cow::into_owned), at, outcome.map(Cow::into_owned));
        let state = state(status, decision, reason.map(Cow::into_owned))
            .ok_or_else(|| row.corrupt("status", "does not match the decision"))?;
        Ok(Approval {
            id,
            org: OrgId::from_uuid(row.uuid("org_id", &self.org_id)?),
            key: KeyId::from_uuid(row.uuid("key_id", &self.key_id)?),
            key_prefix: self.key_prefix,
            agent: AgentId::from_uuid(row.uuid("agent_id", &self.agent_id)?),
            operation: self.operation,
            summary: summary.into_owned(),
            request: request.into_owned(),
            seen: seen.into_iter().map(Cow::into_owned).collect(),
            reserved: row.read("content", reserved.into_iter().map(Times::read).collect())?,
            mailed: mailed
                .iter()
                .map(|text| read_hash(text).ok_or_else(|| row.corrupt("content", "has an invalid hash")))
                .collect::<Result<_, _>>()?,
            state,
            version: Version(self.version),
            created_at: Timestamp::from_micros(self.created_at),
            expires_at: Timestamp::from_micros(self.expires_at),
        })
    }
}

/// The state with that status and that decision, if they match.
fn state(
    status: Status,
    decision: (Option<String>, Option<Timestamp>, Option<Outcome>),
    reason: Option<String>,
) -> Option<State> {
    let state = match (status, decision) {
        (Status::Pending, (None, None, None)) => State::Pending,
        (Status::Approved, (Some(by), Some(at), Some(outcome))) => State::Approved { by, at, outcome },
        (Status::Failed, (Some(by), Some(at), Some(outcome))) => State::Failed { by, at, outcome },
        (Status::Denied, (Some(by), Some(at), None)) => return Some(State::Denied { by, at, reason }),
        (Status::Cancelled, (Some(by), Some(at), None)) => State::Cancelled { by, at },
        (Status::Expired, (None, Some(_), None)) => State::Expired,
        _ => return None,
    };
    reason.is_none().then_some(state)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now() -> Timestamp {
        Timestamp::from_micros(1_772_438_400_000_000)
    }

    #[test]
    fn a_status_and_its_decision_must_match() {
        let (by, outcome) = (|| Some("svc_sk_0".to_owned()), || Some(Outcome { status: 201, body: None }));
        let reason = || Some("Not today.".to_owned());
        for status in Status::ALL {
            let decisions = [
                ((None, None, None), None),
                ((by(), Some(now()), outcome()), None),
                ((by(), Some(now()), outcome()), reason()),
                ((by(), Some(now()), None), None),
                ((by(), Some(now()), None), reason()),
                ((None, Some(now()), None), None),
                ((by(), None, None), None),
            ];
            let read = decisions.into_iter().filter_map(|(decision, reason)| state(status, decision, reason));
            let read: Vec<State> = read.collect();
            assert!(read.iter().all(|state| state.status() == status), "{read:?}");
            // A denial may have a reason.
            assert_eq!(read.len(), if status == Status::Denied { 2 } else { 1 }, "{read:?}");
        }
    }
}
