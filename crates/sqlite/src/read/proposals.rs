//! Reads proposals.

use async_trait::async_trait;
use kalends_kernel::{Listed, OrgId, Page, ProposalId, StoreError};
use kalends_proposals::{
    Proposal, Status,
    ports::{ProposalFilter, Proposals, StatusAt},
};
use kalends_time::Timestamp;
use sqlx::SqliteConnection;
use uuid::Uuid;

use super::count;
use crate::{
    SqliteStore,
    error::store_error,
    json,
    rows::{ParticipantRow, ProposalRow, participant_row},
};

#[async_trait]
impl Proposals for SqliteStore {
    async fn find_proposal(&self, org: OrgId, id: ProposalId) -> Result<Option<Proposal>, StoreError> {
        let (org_id, id) = (org.uuid(), id.uuid());
        let read = self
            .snapshot(async |snapshot| {
                let row = sqlx::query_as!(
                    ProposalRow,
                    "select org_id, id, content, organizer_id, calendar_id, slots, status, slot_id, event_id, reason,
                        expires_at, hold_slots, skip_taken, min_accepts, placement, version, created_at, updated_at
                     from proposals where org_id = ?1 and id = ?2",
                    org_id,
                    id
                )
                .fetch_optional(&mut *snapshot)
                .await
                .map_err(store_error)?;
                with_participants(snapshot, row.into_iter().collect()).await
            })
            .await?;
        Ok(self.read_proposals(&read)?.pop())
    }

    async fn list_proposals(
        &self,
        org: OrgId,
        filter: ProposalFilter,
        page: Page,
    ) -> Result<Listed<Proposal>, StoreError> {
        let org_id = org.uuid();
        let status = filter.status.map(|at| at.status.as_str());
        let now = filter.status.map(|at| at.now.as_micros());
        let (organizer, party) = (filter.organizer.map(|agent| agent.uuid()), filter.party.map(|agent| agent.uuid()));
        let (read, total) = self
            .snapshot(async |snapshot| {
                if let Some(StatusAt { status: Status::Pending, now }) = filter.status {
                    return pending(snapshot, org_id, (organizer, party), now, page).await;
                }
                let rows = sqlx::query_as!(
                    ProposalRow,
                    "select org_id, id, content, organizer_id, calendar_id, slots, status, slot_id, event_id, reason,
                        expires_at, hold_slots, skip_taken, min_accepts, placement, version, created_at, updated_at
                     from proposals p
                     where p.org_id = ?1 and (?2 is null or p.organizer_id = ?2)
                        and (?3 is null or p.organizer_id = ?3 or exists (select 1 from proposal_participants a
                            where a.org_id = ?1 and a.proposal_id = p.id and a.agent_id = ?3))
                        and (?4 is null or ?4 = iif(p.status = 'pending' and p.expires_at <= ?5, 'expired', p.status))
                     order by p.created_at, p.id limit ?6 offset ?7",
                    org_id,
                    organizer,
                    party,
                    status,
                    now,
                    page.limit,
                    page.offset
                )
                .fetch_all(&mut *snapshot)
                .await
                .map_err(store_error)?;
                let total = match page.total_if_known(rows.len()) {
                    Some(total) => total,
                    None => sqlx::query_scalar!(
                        "select count(*)
                         from proposals p
                         where p.org_id = ?1 and (?2 is null or p.organizer_id = ?2)
                            and (?3 is null or p.organizer_id = ?3 or exists (select 1 from proposal_participants a
                                where a.org_id = ?1 and a.proposal_id = p.id and a.agent_id = ?3))
                            and (?4 is null
                                or ?4 = iif(p.status = 'pending' and p.expires_at <= ?5, 'expired', p.status))",
                        org_id,
                        organizer,
                        party,
                        status,
                        now
                    )
                    .fetch_one(&mut *snapshot)
                    .await
                    .map(count)
                    .map_err(store_error)?,
                };
                Ok((with_participants(snapshot, rows).await?, total))
            })
            .await?;
        Ok(Listed { data: self.read_proposals(&read)?, total })
    }

    async fn overdue_proposals(&self, now: Timestamp, limit: u32) -> Result<Vec<Proposal>, StoreError> {
        let now = now.as_micros();
        let read = self
            .snapshot(async |snapshot| {
                let rows = sqlx::query_as!(
                    ProposalRow,
                    "select org_id, id, content, organizer_id, calendar_id, slots, status, slot_id, event_id, reason,
                        expires_at, hold_slots, skip_taken, min_accepts, placement, version, created_at, updated_at
                     from proposals indexed by proposals_pending
                     where status = 'pending' and expires_at <= ?1 order by expires_at, id limit ?2",
                    now,
                    limit
                )
                .fetch_all(&mut *snapshot)
                .await
                .map_err(store_error)?;
                with_participants(snapshot, rows).await
            })
            .await?;
        let readable = |read: Result<Proposal, StoreError>| {
            // An unreadable proposal must not keep the others from being ended.
            let report = |error: &StoreError| {
                tracing::error!(error = error as &dyn std::error::Error, "an overdue proposal cannot be read");
            };
            read.inspect_err(report).ok()
        };
        Ok(self.each_proposal(&read).filter_map(readable).collect())
    }

    async fn forget_reservations(&self, now: Timestamp, limit: u32) -> Result<u64, StoreError> {
        let now = now.as_micros();
        let mut writing = self.database.writer.take().await?;
        let forgotten = sqlx::query!(
            "delete from reservations where (org_id, calendar_id, proposal_id, place) in (
                select org_id, calendar_id, proposal_id, place from reservations where expires_at <= ?1 limit ?2)",
            now,
            limit
        )
        .execute(&mut writing.connection)
        .await;
        writing.done(forgotten).await
    }
}

/// Proposals and all their participants, each with the key of its proposal, in the order of invitation.
type Found = (Vec<ProposalRow>, Vec<(Vec<u8>, ParticipantRow)>);

/// A page of the pending proposals of an organization, and their number. Most proposals are not pending any more, so
/// these have an index of their own.
async fn pending(
    snapshot: &mut SqliteConnection,
    org_id: Uuid,
    (organizer, party): (Option<Uuid>, Option<Uuid>),
    now: Timestamp,
    page: Page,
) -> Result<(Found, u64), StoreError> {
    let now = now.as_micros();
    let rows = sqlx::query_as!(
        ProposalRow,
        "select org_id, id, content, organizer_id, calendar_id, slots, status, slot_id, event_id, reason,
            expires_at, hold_slots, skip_taken, min_accepts, placement, version, created_at, updated_at
         from proposals p indexed by proposals_pending_of_org
         where p.org_id = ?1 and (?2 is null or p.organizer_id = ?2)
            and (?3 is null or p.organizer_id = ?3 or exists (select 1 from proposal_participants a
                where a.org_id = ?1 and a.proposal_id = p.id and a.agent_id = ?3))
            and p.status = 'pending' and p.expires_at > ?4
         order by p.created_at, p.id limit ?5 offset ?6",
        org_id,
        organizer,
        party,
        now,
        page.limit,
        page.offset
    )
    .fetch_all(&mut *snapshot)
    .await
    .map_err(store_error)?;
    let total = match page.total_if_known(rows.len()) {
        Some(total) => total,
        None => sqlx::query_scalar!(
            "select count(*)
             from proposals p indexed by proposals_pending_of_org
             where p.org_id = ?1 and (?2 is null or p.organizer_id = ?2)
                and (?3 is null or p.organizer_id = ?3 or exists (select 1 from proposal_participants a
                    where a.org_id = ?1 and a.proposal_id = p.id and a.agent_id = ?3))
                and p.status = 'pending' and p.expires_at > ?4",
            org_id,
            organizer,
            party,
            now
        )
        .fetch_one(&mut *snapshot)
        .await
        .map(count)
        .map_err(store_error)?,
    };
    Ok((with_participants(snapshot, rows).await?, total))
}

/// Adds the participants and their responses, in one statement.
async fn with_participants(connection: &mut SqliteConnection, rows: Vec<ProposalRow>) -> Result<Found, StoreError> {
    if rows.is_empty() {
        return Ok((rows, Vec::new()));
    }
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let wanted: Vec<(String, String)> = rows.iter().map(|row| (hex(&row.org_id), hex(&row.id))).collect();
    let wanted = json::rows(&wanted).map_err(store_error)?;
    let participants = sqlx::query!(
        "select p.proposal_id, p.agent_id, p.response_id, p.response, p.slot_id, p.remark, p.responded_at,
            p.calendar_id, p.event_id
         from jsonb_each(?1) asked
            cross join proposal_participants p
                on p.org_id = unhex(asked.value ->> 0) and p.proposal_id = unhex(asked.value ->> 1)
         order by p.place",
        wanted
    )
    .fetch_all(connection)
    .await
    .map_err(store_error)?;
    let participants = participants.into_iter().map(|row| (row.proposal_id, participant_row!(row)));
    Ok((rows, participants.collect()))
}

impl SqliteStore {
    fn read_proposals(&self, found: &Found) -> Result<Vec<Proposal>, StoreError> {
        self.each_proposal(found).collect()
    }

    fn each_proposal(&self, (rows, participants): &Found) -> impl Iterator<Item = Result<Proposal, StoreError>> {
        rows.iter().map(|row| {
            let own = participants.iter().filter(|(proposal, _)| *proposal == row.id);
            row.open(own.map(|(_, participant)| participant), self.cipher.as_ref())
        })
    }
}
