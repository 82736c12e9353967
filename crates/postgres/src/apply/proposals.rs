//! Proposals, and the responses of their participants.

use kalends_kernel::Version;
use kalends_proposals::{Change, Proposal, Response, write_slots};
use kalends_rows::SealedChangeSet;
use sqlx::PgConnection;
use uuid::Uuid;

use crate::error::{ApplyError, all_written};

/// Writes the rows in the order of the changes.
pub(crate) async fn apply(connection: &mut PgConnection, batch: &[SealedChangeSet]) -> Result<(), ApplyError> {
    for (change, sealed) in batch.iter().flat_map(SealedChangeSet::proposals) {
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

async fn create(connection: &mut PgConnection, proposal: &Proposal, content: &str) -> Result<(), ApplyError> {
    sqlx::query!(
        "INSERT INTO proposals (org_id, id, content, organizer_id, calendar_id, slots, status, expires_at, hold_slots,
             skip_taken, version, created_at, updated_at, min_accepts, placement)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $12, $13, $14)",
        proposal.org().uuid(),
        proposal.id().uuid(),
        content,
        proposal.organizer().uuid(),
        proposal.calendar().uuid(),
        write_slots(proposal.slots()),
        proposal.state().status().as_str(),
        proposal.expires_at().as_micros(),
        proposal.hold_slots(),
        proposal.skip_taken(),
        proposal.version().0,
        proposal.created_at().as_micros(),
        i64::from(proposal.min_accepts()),
        proposal.placement().as_str(),
    )
    .execute(&mut *connection)
    .await?;
    let (agents, places): (Vec<Uuid>, Vec<i64>) =
        proposal.participants().iter().zip(0..).map(|(agent, place)| (agent.uuid(), place)).unzip();
    sqlx::query!(
        "INSERT INTO proposal_participants (org_id, proposal_id, agent_id, place)
         SELECT $1, $2, asked.agent_id, asked.place FROM unnest($3::uuid[], $4::bigint[]) AS asked (agent_id, place)",
        proposal.org().uuid(),
        proposal.id().uuid(),
        &agents,
        &places,
    )
    .execute(connection)
    .await?;
    Ok(())
}

async fn update(connection: &mut PgConnection, proposal: &Proposal, Version(seen): Version) -> Result<(), ApplyError> {
    let (won, reason) = proposal.state().details();
    let (slot, event) = won.map(|(slot, event)| (slot.uuid(), event.uuid())).unzip();
    let updated = sqlx::query!(
        "UPDATE proposals SET status = $4, slot_id = $5, event_id = $6, reason = $7, version = $8, updated_at = $9
         WHERE org_id = $1 AND id = $2 AND version = $3",
        proposal.org().uuid(),
        proposal.id().uuid(),
        seen,
        proposal.state().status().as_str(),
        slot,
        event,
        reason.map(|reason| reason.as_str()),
        proposal.version().0,
        proposal.updated_at().as_micros(),
    )
    .execute(connection)
    .await?;
    all_written(updated.rows_affected(), 1)
}

async fn respond(
    connection: &mut PgConnection,
    proposal: &Proposal,
    response: &Response,
    remark: &str,
) -> Result<(), ApplyError> {
    let responded = sqlx::query!(
        "UPDATE proposal_participants
         SET response_id = $4, response = $5, slot_id = $6, remark = $7, responded_at = $8, calendar_id = $9
         WHERE org_id = $1 AND proposal_id = $2 AND agent_id = $3 AND response_id IS NULL",
        proposal.org().uuid(),
        proposal.id().uuid(),
        response.agent().uuid(),
        response.id().uuid(),
        response.kind().as_str(),
        response.selected().map(|slot| slot.uuid()),
        remark,
        response.created_at().as_micros(),
        response.calendar().map(|calendar| calendar.uuid()),
    )
    .execute(connection)
    .await?;
    all_written(responded.rows_affected(), 1)
}

/// Writes which events the participants got.
async fn write_events(connection: &mut PgConnection, proposal: &Proposal) -> Result<(), ApplyError> {
    let events = proposal.participant_events();
    if events.is_empty() {
        return Ok(());
    }
    let (agents, ids): (Vec<Uuid>, Vec<Uuid>) =
        events.iter().map(|created| (created.agent.uuid(), created.event.uuid())).unzip();
    let written = sqlx::query!(
        "UPDATE proposal_participants p SET event_id = made.event_id
         FROM unnest($3::uuid[], $4::uuid[]) AS made (agent_id, event_id)
         WHERE p.org_id = $1 AND p.proposal_id = $2 AND p.agent_id = made.agent_id",
        proposal.org().uuid(),
        proposal.id().uuid(),
        &agents,
        &ids,
    )
    .execute(connection)
    .await?;
    all_written(written.rows_affected(), events.len())
}
