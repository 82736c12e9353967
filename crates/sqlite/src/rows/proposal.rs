//! Rows of `proposals` and `proposal_participants`.

use kalends_app::ports::{FieldCipher, Place};
use kalends_kernel::{
    AgentId, CalendarId, EventId, OrgId, ProposalId, ResponseId, SlotId, StoreError, Timestamp, Version,
};
use kalends_proposals::{
    CancelReason, Confidential, Proposal, Remark, Response, ResponseKind, State, Status, read_slots,
};

use super::{Row, row_id};

/// Where the sealed part of a proposal is stored.
pub(crate) const fn content_place(id: ProposalId) -> Place {
    Place { table: "proposals", column: "content", id: id.uuid() }
}

/// Where the sealed part of a response is stored.
pub(crate) const fn remark_place(id: ResponseId) -> Place {
    Place { table: "proposal_participants", column: "remark", id: id.uuid() }
}

pub(crate) struct ProposalRow {
    pub(crate) org_id: Vec<u8>,
    pub(crate) id: Vec<u8>,
    pub(crate) content: String,
    pub(crate) organizer_id: Vec<u8>,
    pub(crate) calendar_id: Vec<u8>,
    pub(crate) slots: String,
    pub(crate) status: String,
    pub(crate) slot_id: Option<Vec<u8>>,
    pub(crate) event_id: Option<Vec<u8>>,
    pub(crate) reason: Option<String>,
    pub(crate) expires_at: i64,
    pub(crate) hold_slots: bool,
    pub(crate) skip_taken: bool,
    pub(crate) version: i64,
    pub(crate) created_at: i64,
    pub(crate) updated_at: i64,
}

impl ProposalRow {
    /// The proposal. `participants` are the rows of its participants, in the order of invitation.
    pub(crate) fn read<'a>(
        &self,
        participants: impl Iterator<Item = &'a ParticipantRow>,
        cipher: &dyn FieldCipher,
    ) -> Result<Proposal, StoreError> {
        let id = ProposalId::from_uuid(row_id("proposals", "id", &self.id)?);
        let row = Row { table: "proposals", id: &id };
        let plain = row.read("content", cipher.open(content_place(id), &self.content))?;
        let (title, description, metadata) = row.read("content", Confidential::read(&plain))?;
        let mut asked = Vec::new();
        let mut responses = Vec::new();
        for participant in participants {
            let (agent, response) = participant.read(id, cipher)?;
            asked.push(agent);
            responses.extend(response);
        }
        responses.sort_by_key(|response: &Response| (response.created_at, response.id));
        Ok(Proposal {
            id,
            org: OrgId::from_uuid(row.uuid("org_id", &self.org_id)?),
            title,
            description,
            organizer: AgentId::from_uuid(row.uuid("organizer_id", &self.organizer_id)?),
            participants: asked,
            calendar: CalendarId::from_uuid(row.uuid("calendar_id", &self.calendar_id)?),
            slots: row.read("slots", read_slots(&self.slots))?,
            responses,
            state: self.state(row)?,
            expires_at: Timestamp::from_micros(self.expires_at),
            hold_slots: self.hold_slots,
            skip_taken: self.skip_taken,
            metadata,
            version: Version(self.version),
            created_at: Timestamp::from_micros(self.created_at),
            updated_at: Timestamp::from_micros(self.updated_at),
        })
    }

    fn state(&self, row: Row<'_>) -> Result<State, StoreError> {
        let status = row.named("status", Status::from_name, &self.status)?;
        let won = match (&self.slot_id, &self.event_id) {
            (Some(slot), Some(event)) => {
                let slot = SlotId::from_uuid(row.uuid("slot_id", slot)?);
                Some((slot, EventId::from_uuid(row.uuid("event_id", event)?)))
            }
            _ => None,
        };
        let reason =
            self.reason.as_deref().map(|name| row.named("reason", CancelReason::from_name, name)).transpose()?;
        State::of(status, won, reason)
            .ok_or_else(|| row.corrupt("status", "does not match the outcome of the proposal"))
    }
}

pub(crate) struct ParticipantRow {
    pub(crate) proposal_id: Vec<u8>,
    pub(crate) agent_id: Vec<u8>,
    pub(crate) response_id: Option<Vec<u8>>,
    pub(crate) response: Option<String>,
    pub(crate) slot_id: Option<Vec<u8>>,
    pub(crate) remark: Option<String>,
    pub(crate) responded_at: Option<i64>,
}

impl ParticipantRow {
    fn read(&self, proposal: ProposalId, cipher: &dyn FieldCipher) -> Result<(AgentId, Option<Response>), StoreError> {
        let row = Row { table: "proposal_participants", id: &proposal };
        let agent = AgentId::from_uuid(row.uuid("agent_id", &self.agent_id)?);
        let (Some(id), Some(kind), Some(remark), Some(at)) =
            (&self.response_id, &self.response, &self.remark, self.responded_at)
        else {
            return Ok((agent, None));
        };
        let id = ResponseId::from_uuid(row.uuid("response_id", id)?);
        let selected = self.slot_id.as_deref().map(|slot| row.uuid("slot_id", slot)).transpose()?;
        let plain = row.read("remark", cipher.open(remark_place(id), remark))?;
        let (message, counter_slots) = row.read("remark", Remark::read(&plain))?;
        let response = Response {
            id,
            agent,
            kind: row.named("response", ResponseKind::from_name, kind)?,
            selected: selected.map(SlotId::from_uuid),
            counter_slots,
            message,
            created_at: Timestamp::from_micros(at),
        };
        Ok((agent, Some(response)))
    }
}
