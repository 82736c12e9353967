//! Proposals, and the responses of their participants.

use kalends_kernel::Version;
use kalends_proposals::{Change, CreatedEvent, Proposal, Response, write_slots};
use kalends_rows::SealedChangeSet;
use sqlx::SqliteConnection;

use crate::{
    error::{Failure, fresh},
    json::{self, Hex},
};

/// Applies the changes of one change-set in their order.
pub(crate) async fn apply(connection: &mut SqliteConnection, sealed: &SealedChangeSet) -> Result<(), Failure> {
    for (change, sealed) in sealed.proposals() {
        match change {
            Change::Create(proposal) => create(connection, proposal, sealed).await?,
            Change::Update { proposal, seen, response, .. } => {
                update(connection, proposal, *seen).await?;
                if let Some(response) = response {
                    respond(connection, proposal, response, sealed).await?;
                }
                write_events(connection, proposal).await?;
            }
        }
    }
    Ok(())
}

async fn create(connection: &mut SqliteConnection, proposal: &Proposal, content: &str) -> Result<(), Failure> {
    let (org_id, id) = (proposal.org().uuid(), proposal.id().uuid());
    let (organizer_id, calendar_id) = (proposal.organizer().uuid(), proposal.calendar().uuid());
    let (slots, status) = (write_slots(proposal.slots()), proposal.state().status().as_str());
    let (expires_at, created_at) = (proposal.expires_at().as_micros(), proposal.created_at().as_micros());
    let (min_accepts, placement) = (proposal.min_accepts(), proposal.placement().as_str());
    sqlx::query!(
        "insert into proposals (org_id, id, content, organizer_id, calendar_id, slots, status, expires_at, hold_slots,
            skip_taken, version, created_at, updated_at, min_accepts, placement)
         values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?12, ?13, ?14)",
        org_id,
        id,
        content,
        organizer_id,
        calendar_id,
        slots,
        status,
        expires_at,
        proposal.hold_slots(),
        proposal.skip_taken(),
        proposal.version().0,
        created_at,
        min_accepts,
        placement
    )
    .execute(&mut *connection)
    .await?;
    let participants: Vec<Hex> = proposal.participants().iter().map(|agent| Hex(agent.uuid())).collect();
    let participants = json::rows(&participants)?;
    sqlx::query!(
        "insert into proposal_participants (org_id, proposal_id, agent_id, place)
         select ?1, ?2, unhex(asked.value), asked.key from json_each(?3) asked",
        org_id,
        id,
        participants
    )
    .execute(connection)
    .await?;
    Ok(())
}

async fn update(connection: &mut SqliteConnection, proposal: &Proposal, Version(seen): Version) -> Result<(), Failure> {
    let (org_id, id, status) = (proposal.org().uuid(), proposal.id().uuid(), proposal.state().status().as_str());
    let (won, reason) = proposal.state().details();
    let (slot_id, event_id) = won.map(|(slot, event)| (slot.uuid(), event.uuid())).unzip();
    let (reason, updated_at) = (reason.map(|reason| reason.as_str()), proposal.updated_at().as_micros());
    let updated = sqlx::query!(
        "update proposals set status = ?4, slot_id = ?5, event_id = ?6, reason = ?7, version = ?8, updated_at = ?9
         where org_id = ?1 and id = ?2 and version = ?3",
        org_id,
        id,
        seen,
        status,
        slot_id,
        event_id,
        reason,
        proposal.version().0,
        updated_at
    )
    .execute(connection)
    .await?;
    fresh(updated.rows_affected(), 1)
}

async fn respond(
    connection: &mut SqliteConnection,
    proposal: &Proposal,
    response: &Response,
    remark: &str,
) -> Result<(), Failure> {
    let (org_id, proposal_id, agent_id) = (proposal.org().uuid(), proposal.id().uuid(), response.agent().uuid());
    let (id, kind, slot_id) =
        (response.id().uuid(), response.kind().as_str(), response.selected().map(|slot| slot.uuid()));
    let (at, calendar_id) = (response.created_at().as_micros(), response.calendar().map(|calendar| calendar.uuid()));
    let responded = sqlx::query!(
        "update proposal_participants set response_id = ?4, response = ?5, slot_id = ?6, remark = ?7, responded_at = ?8,
            calendar_id = ?9
         where org_id = ?1 and proposal_id = ?2 and agent_id = ?3 and response_id is null",
        org_id,
        proposal_id,
        agent_id,
        id,
        kind,
        slot_id,
        remark,
        at,
        calendar_id
    )
    .execute(connection)
    .await?;
    fresh(responded.rows_affected(), 1)
}

/// Writes which events the participants got.
async fn write_events(connection: &mut SqliteConnection, proposal: &Proposal) -> Result<(), Failure> {
    let events = proposal.participant_events();
    if events.is_empty() {
        return Ok(());
    }
    let (org_id, id) = (proposal.org().uuid(), proposal.id().uuid());
    let hex = |CreatedEvent { agent, event }: &CreatedEvent| (Hex(agent.uuid()), Hex(event.uuid()));
    let rows = json::rows(&events.iter().map(hex).collect::<Vec<_>>())?;
    let written = sqlx::query!(
        "update proposal_participants set event_id = unhex(made.value ->> 1) from jsonb_each(?3) made
         where org_id = ?1 and proposal_id = ?2 and agent_id = unhex(made.value ->> 0)",
        org_id,
        id,
        rows
    )
    .execute(connection)
    .await?;
    fresh(written.rows_affected(), events.len() as u64)
}
