//! Proposals with their participants.

use kalends_app::ports::FieldCipher;
use kalends_kernel::{
    AgentId, CalendarId, EventId, OrgId, ProposalId, ResponseId, SlotId, StoreError, Timestamp, Version,
};
use kalends_proposals::{
    CancelReason, Confidential, Proposal, Remark, Response, ResponseKind, State, Status, read_slots,
};
use serde::Deserialize;
use uuid::Uuid;

use super::Located;
use crate::sealed::{proposal_content, response_remark};

/// The columns of a proposal.
pub(crate) struct ProposalRow {
    pub(crate) org_id: Uuid,
    pub(crate) id: Uuid,
    pub(crate) content: String,
    pub(crate) organizer_id: Uuid,
    pub(crate) calendar_id: Uuid,
    pub(crate) slots: String,
    pub(crate) status: String,
    pub(crate) slot_id: Option<Uuid>,
    pub(crate) event_id: Option<Uuid>,
    pub(crate) reason: Option<String>,
    pub(crate) expires_at: i64,
    pub(crate) hold_slots: bool,
    pub(crate) skip_taken: bool,
    pub(crate) version: i64,
    pub(crate) created_at: i64,
    pub(crate) updated_at: i64,
    /// The rows of `proposal_participants` in the order of invitation, as a JSON array of [`ParticipantRow`].
    pub(crate) participants: String,
}

/// Takes the columns of a proposal from a record.
macro_rules! proposal_row {
    ($record:expr) => {
        $crate::rows::ProposalRow {
            org_id: $record.org_id,
            id: $record.id,
            content: $record.content,
            organizer_id: $record.organizer_id,
            calendar_id: $record.calendar_id,
            slots: $record.slots,
            status: $record.status,
            slot_id: $record.slot_id,
            event_id: $record.event_id,
            reason: $record.reason,
            expires_at: $record.expires_at,
            hold_slots: $record.hold_slots,
            skip_taken: $record.skip_taken,
            version: $record.version,
            created_at: $record.created_at,
            updated_at: $record.updated_at,
            participants: $record.participants,
        }
    };
}
pub(crate) use proposal_row;

/// The columns of a participant: agent, response, answer, slot, remark, time.
#[derive(Deserialize)]
struct ParticipantRow(String, Option<String>, Option<String>, Option<String>, Option<String>, Option<i64>);

impl ProposalRow {
    pub(crate) fn open(self, cipher: &dyn FieldCipher) -> Result<Proposal, StoreError> {
        let id = ProposalId::from_uuid(self.id);
        let row = Located { table: "proposals", id };
        let plain = cipher.open(proposal_content(id), &self.content).map_err(|error| row.corrupt("content", error))?;
        let (title, description, metadata) =
            Confidential::read(&plain).map_err(|error| row.corrupt("content", error))?;
        let asked = Located { table: "proposal_participants", id };
        let rows: Vec<ParticipantRow> =
            serde_json::from_str(&self.participants).map_err(|error| asked.corrupt("agent_id", error))?;
        let (mut participants, mut responses) = (Vec::with_capacity(rows.len()), Vec::new());
        for participant in rows {
            let (agent, response) = participant.open(&asked, cipher)?;
            participants.push(agent);
            responses.extend(response);
        }
        responses.sort_by_key(|response: &Response| (response.created_at, response.id));
        let status = row.named("status", &self.status, Status::from_name)?;
        let won = self.slot_id.zip(self.event_id);
        let won = won.map(|(slot, event)| (SlotId::from_uuid(slot), EventId::from_uuid(event)));
        let reason =
            self.reason.as_deref().map(|name| row.named("reason", name, CancelReason::from_name)).transpose()?;
        let state = State::of(status, won, reason)
            .ok_or_else(|| row.corrupt("status", "does not match the outcome of the proposal"))?;
        Ok(Proposal {
            id,
            org: OrgId::from_uuid(self.org_id),
            title,
            description,
            organizer: AgentId::from_uuid(self.organizer_id),
            participants,
            calendar: CalendarId::from_uuid(self.calendar_id),
            slots: read_slots(&self.slots).map_err(|error| row.corrupt("slots", error))?,
            responses,
            state,
            expires_at: Timestamp::from_micros(self.expires_at),
            hold_slots: self.hold_slots,
            skip_taken: self.skip_taken,
            metadata,
            version: Version(self.version),
            created_at: Timestamp::from_micros(self.created_at),
            updated_at: Timestamp::from_micros(self.updated_at),
        })
    }
}

impl ParticipantRow {
    fn open(
        self,
        row: &Located<ProposalId>,
        cipher: &dyn FieldCipher,
    ) -> Result<(AgentId, Option<Response>), StoreError> {
        let uuid = |column, text: &str| Uuid::parse_str(text).map_err(|error| row.corrupt(column, error));
        let Self(agent, id, kind, selected, remark, at) = self;
        let agent = AgentId::from_uuid(uuid("agent_id", &agent)?);
        let (Some(id), Some(kind), Some(remark), Some(at)) = (id, kind, remark, at) else { return Ok((agent, None)) };
        let id = ResponseId::from_uuid(uuid("response_id", &id)?);
        let plain = cipher.open(response_remark(id), &remark).map_err(|error| row.corrupt("remark", error))?;
        let (message, counter_slots) = Remark::read(&plain).map_err(|error| row.corrupt("remark", error))?;
        let selected = selected.map(|slot| uuid("slot_id", &slot)).transpose()?;
        let response = Response {
            id,
            agent,
            kind: row.named("response", &kind, ResponseKind::from_name)?,
            selected: selected.map(SlotId::from_uuid),
            counter_slots,
            message,
            created_at: Timestamp::from_micros(at),
        };
        Ok((agent, Some(response)))
    }
}
