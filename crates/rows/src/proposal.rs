//! Rows of `proposals` and `proposal_participants`.

use kalends_app::ports::FieldCipher;
use kalends_kernel::{AgentId, CalendarId, EventId, OrgId, ProposalId, ResponseId, SlotId, StoreError, Version};
use kalends_proposals::{
    CancelReason, Confidential, CreatedEvent, NewResponse, Placement, Proposal, Remark, Response, ResponseKind, State,
    Status, StoredError, StoredProposal, read_slots,
};
use kalends_time::Timestamp;
use serde::Deserialize;

use crate::{Key, Located, places, row_id};

columns! {
    $ macro proposal_row;
    /// The columns of a proposal.
    pub struct ProposalRow<K> {
        org_id: K,
        id: K,
        content: String,
        organizer_id: K,
        calendar_id: K,
        slots: String,
        status: String,
        slot_id: Option<K>,
        event_id: Option<K>,
        reason: Option<String>,
        expires_at: i64,
        hold_slots: bool,
        skip_taken: bool,
        min_accepts: i64,
        placement: String,
        version: i64,
        created_at: i64,
        updated_at: i64,
    }
}

impl<K: Key> ProposalRow<K> {
    /// The proposal with its participants as a JSON array of [`ParticipantRow`], in the order of invitation.
    pub fn open_with(&self, participants: &str, cipher: &dyn FieldCipher) -> Result<Proposal, StoreError> {
        let id = ProposalId::from_uuid(row_id("proposals", "id", &self.id)?);
        let row = Located { table: "proposal_participants", id };
        let participants: Vec<ParticipantRow<String>> = row.read("agent_id", serde_json::from_str(participants))?;
        self.open(participants.iter(), cipher)
    }

    /// The proposal. `participants` are the rows of its participants, in the order of invitation.
    pub fn open<'a, P: Key + 'a>(
        &self,
        participants: impl Iterator<Item = &'a ParticipantRow<P>>,
        cipher: &dyn FieldCipher,
    ) -> Result<Proposal, StoreError> {
        let id = ProposalId::from_uuid(row_id("proposals", "id", &self.id)?);
        let row = Located { table: "proposals", id };
        let plain = row.open(places::proposal_content(id), &self.content, cipher)?;
        let (title, description, metadata) = row.read("content", Confidential::read(&plain))?;
        let mut asked = Vec::new();
        let mut responses = Vec::new();
        let mut participant_events = Vec::new();
        for participant in participants {
            let (agent, response, event) = participant.open(id, cipher)?;
            asked.push(agent);
            responses.extend(response);
            participant_events.extend(event.map(|event| CreatedEvent { agent, event }));
        }
        responses.sort_by_key(|response: &Response| (response.created_at(), response.id()));
        let stored = StoredProposal {
            id,
            org: OrgId::from_uuid(row.uuid("org_id", &self.org_id)?),
            title,
            description,
            organizer: AgentId::from_uuid(row.uuid("organizer_id", &self.organizer_id)?),
            participants: asked,
            calendar: CalendarId::from_uuid(row.uuid("calendar_id", &self.calendar_id)?),
            slots: row.read("slots", read_slots(&self.slots))?,
            responses,
            state: self.state(&row)?,
            expires_at: Timestamp::from_micros(self.expires_at),
            hold_slots: self.hold_slots,
            skip_taken: self.skip_taken,
            min_accepts: row.read("min_accepts", u32::try_from(self.min_accepts))?,
            placement: row.named("placement", &self.placement, Placement::from_name)?,
            participant_events,
            metadata,
            version: Version(self.version),
            created_at: Timestamp::from_micros(self.created_at),
            updated_at: Timestamp::from_micros(self.updated_at),
        };
        Proposal::from_stored(stored).map_err(|error| {
            let (table, column) = place_of(&error);
            Located { table, id }.corrupt(column, error)
        })
    }

    fn state(&self, row: &Located<ProposalId>) -> Result<State, StoreError> {
        let status = row.named("status", &self.status, Status::from_name)?;
        let won = match (&self.slot_id, &self.event_id) {
            (Some(slot), Some(event)) => {
                let slot = SlotId::from_uuid(row.uuid("slot_id", slot)?);
                Some((slot, EventId::from_uuid(row.uuid("event_id", event)?)))
            }
            _ => None,
        };
        let reason =
            self.reason.as_deref().map(|name| row.named("reason", name, CancelReason::from_name)).transpose()?;
        State::of(status, won, reason)
            .ok_or_else(|| row.corrupt("status", "does not match the outcome of the proposal"))
    }
}

/// The table and the column that show why a proposal cannot be read.
fn place_of(error: &StoredError) -> (&'static str, &'static str) {
    match error {
        StoredError::Field(field) => match field.param.split('[').next() {
            Some("slots") => ("proposals", "slots"),
            Some("expires_at") => ("proposals", "expires_at"),
            Some("participant_agent_ids") => ("proposal_participants", "agent_id"),
            Some("min_accepts") => ("proposals", "min_accepts"),
            _ => ("proposals", "content"),
        },
        StoredError::SlotTwice(_) => ("proposals", "slots"),
        StoredError::Response(..) | StoredError::NotParticipant(_) | StoredError::RespondedTwice(_) => {
            ("proposal_participants", "response")
        }
        StoredError::Event(_) => ("proposal_participants", "event_id"),
        StoredError::State(_) => ("proposals", "status"),
        StoredError::Version(_) => ("proposals", "version"),
    }
}

columns! {
    $ macro participant_row;
    /// The columns of a participant. JSON has them in this order, as an array.
    #[derive(Deserialize)]
    pub struct ParticipantRow<K> {
        agent_id: K,
        response_id: Option<K>,
        response: Option<String>,
        slot_id: Option<K>,
        remark: Option<String>,
        responded_at: Option<i64>,
        calendar_id: Option<K>,
        event_id: Option<K>,
    }
}

impl<K: Key> ParticipantRow<K> {
    /// The participant, its response, and its event.
    fn open(
        &self,
        proposal: ProposalId,
        cipher: &dyn FieldCipher,
    ) -> Result<(AgentId, Option<Response>, Option<EventId>), StoreError> {
        let row = Located { table: "proposal_participants", id: &proposal };
        let agent = AgentId::from_uuid(row.uuid("agent_id", &self.agent_id)?);
        let event = row.uuid_if_any("event_id", self.event_id.as_ref())?.map(EventId::from_uuid);
        let (Some(id), Some(kind), Some(remark), Some(at)) =
            (&self.response_id, &self.response, &self.remark, self.responded_at)
        else {
            return Ok((agent, None, event));
        };
        let id = ResponseId::from_uuid(row.uuid("response_id", id)?);
        let selected = row.uuid_if_any("slot_id", self.slot_id.as_ref())?;
        let plain = row.open(places::response_remark(id), remark, cipher)?;
        let (message, counter_slots) = row.read("remark", Remark::read(&plain))?;
        let kind = row.named("response", kind, ResponseKind::from_name)?;
        let fields = NewResponse::new(kind, selected.map(SlotId::from_uuid))
            .with_counter_slots(counter_slots)
            .with_message(message)
            .with_calendar(row.uuid_if_any("calendar_id", self.calendar_id.as_ref())?.map(CalendarId::from_uuid));
        let response = Response::from_stored(id, agent, Timestamp::from_micros(at), fields);
        Ok((agent, Some(row.read("response", response)?), event))
    }
}
