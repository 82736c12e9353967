//! Reads proposals, each with its participants in one statement, so that both are consistent.

use async_trait::async_trait;
use kalends_kernel::{Listed, OrgId, Page, ProposalId, StoreError};
use kalends_proposals::ports::{ProposalFilter, Proposals, StatusAt};
use kalends_proposals::{Proposal, Status};
use kalends_time::Timestamp;
use uuid::Uuid;

use super::listed;
use crate::PostgresStore;
use crate::error::store_error;
use crate::retry::retried;
use crate::rows::proposal_row;

#[async_trait]
impl Proposals for PostgresStore {
    async fn find_proposal(&self, org: OrgId, id: ProposalId) -> Result<Option<Proposal>, StoreError> {
        let row = sqlx::query!(
            r#"SELECT p.org_id, p.id, p.content, p.organizer_id, p.calendar_id, p.slots, p.status, p.slot_id, p.event_id,
                 p.reason, p.expires_at, p.hold_slots, p.skip_taken, p.min_accepts, p.placement, p.version, p.created_at,
                 p.updated_at,
                 (SELECT json_agg(json_build_array(a.agent_id, a.response_id, a.response, a.slot_id, a.remark,
                      a.responded_at, a.calendar_id, a.event_id) ORDER BY a.place)::text
                  FROM proposal_participants a WHERE a.org_id = p.org_id AND a.proposal_id = p.id) AS "participants!"
             FROM proposals p
             WHERE p.org_id = $1 AND p.id = $2"#,
            org.uuid(),
            id.uuid(),
        );
        let row = row.fetch_optional(&self.connections).await.map_err(store_error)?;
        row.map(|row| proposal_row!(row).open_with(&row.participants, &*self.cipher)).transpose()
    }

    async fn list_proposals(
        &self,
        org: OrgId,
        filter: ProposalFilter,
        page: Page,
    ) -> Result<Listed<Proposal>, StoreError> {
        let (organizer, party) = (filter.organizer.map(|agent| agent.uuid()), filter.party.map(|agent| agent.uuid()));
        if let Some(StatusAt { status: Status::Pending, now }) = filter.status {
            return self.pending(org, (organizer, party), now, page).await;
        }
        let status = filter.status.map(|at| at.status.as_str());
        let now = filter.status.map(|at| at.now.as_micros());
        let records = sqlx::query!(
            r#"SELECT p.org_id, p.id, p.content, p.organizer_id, p.calendar_id, p.slots, p.status, p.slot_id, p.event_id,
                 p.reason, p.expires_at, p.hold_slots, p.skip_taken, p.min_accepts, p.placement, p.version, p.created_at,
                 p.updated_at,
                 (SELECT json_agg(json_build_array(a.agent_id, a.response_id, a.response, a.slot_id, a.remark,
                      a.responded_at, a.calendar_id, a.event_id) ORDER BY a.place)::text
                  FROM proposal_participants a WHERE a.org_id = p.org_id AND a.proposal_id = p.id) AS "participants!",
                 count(*) OVER () AS "total!"
             FROM proposals p
             WHERE p.org_id = $1 AND ($2::uuid IS NULL OR p.organizer_id = $2)
                 AND ($3::uuid IS NULL OR p.organizer_id = $3 OR EXISTS (
                     SELECT 1 FROM proposal_participants a
                     WHERE a.org_id = $1 AND a.proposal_id = p.id AND a.agent_id = $3))
                 AND ($4::text IS NULL OR $4 = CASE WHEN p.status = 'pending' AND p.expires_at <= $5 THEN 'expired'
                     ELSE p.status END)
             ORDER BY p.created_at, p.id LIMIT $6::bigint OFFSET $7::bigint"#,
            org.uuid(),
            organizer,
            party,
            status,
            now,
            i64::from(page.limit),
            i64::from(page.offset),
        );
        let records = records.fetch_all(&self.connections).await.map_err(store_error)?;
        let counted = records.first().map(|record| record.total);
        let total = sqlx::query_scalar!(
            r#"SELECT count(*) AS "count!"
             FROM proposals p
             WHERE p.org_id = $1 AND ($2::uuid IS NULL OR p.organizer_id = $2)
                 AND ($3::uuid IS NULL OR p.organizer_id = $3 OR EXISTS (
                     SELECT 1 FROM proposal_participants a
                     WHERE a.org_id = $1 AND a.proposal_id = p.id AND a.agent_id = $3))
                 AND ($4::text IS NULL OR $4 = CASE WHEN p.status = 'pending' AND p.expires_at <= $5 THEN 'expired'
                     ELSE p.status END)"#,
            org.uuid(),
            organizer,
            party,
            status,
            now,
        );
        let data = records.into_iter();
        let data = data.map(|record| proposal_row!(record).open_with(&record.participants, &*self.cipher));
        listed(data.collect::<Result<_, _>>()?, page, counted, total.fetch_one(&self.connections)).await
    }

    async fn overdue_proposals(&self, now: Timestamp, limit: u32) -> Result<Vec<Proposal>, StoreError> {
        let rows = sqlx::query!(
            r#"SELECT p.org_id, p.id, p.content, p.organizer_id, p.calendar_id, p.slots, p.status, p.slot_id, p.event_id,
                 p.reason, p.expires_at, p.hold_slots, p.skip_taken, p.min_accepts, p.placement, p.version, p.created_at,
                 p.updated_at,
                 (SELECT json_agg(json_build_array(a.agent_id, a.response_id, a.response, a.slot_id, a.remark,
                      a.responded_at, a.calendar_id, a.event_id) ORDER BY a.place)::text
                  FROM proposal_participants a WHERE a.org_id = p.org_id AND a.proposal_id = p.id) AS "participants!"
             FROM proposals p
             WHERE p.status = 'pending' AND p.expires_at <= $1
             ORDER BY p.expires_at, p.id LIMIT $2::bigint"#,
            now.as_micros(),
            i64::from(limit),
        );
        let rows = rows.fetch_all(&self.connections).await.map_err(store_error)?;
        let read = rows.into_iter().filter_map(|row| {
            // An unreadable proposal must not keep the others from being ended.
            let report = |error: &StoreError| {
                tracing::error!(error = error as &dyn std::error::Error, "an overdue proposal cannot be read");
            };
            proposal_row!(row).open_with(&row.participants, &*self.cipher).inspect_err(report).ok()
        });
        Ok(read.collect())
    }

    async fn forget_reservations(&self, now: Timestamp, limit: u32) -> Result<u64, StoreError> {
        let forgotten = retried(|| {
            sqlx::query!(
                "DELETE FROM reservations
                 WHERE (org_id, calendar_id, proposal_id, place) IN (
                     SELECT org_id, calendar_id, proposal_id, place FROM reservations
                     WHERE expires_at <= $1 LIMIT $2::bigint)",
                now.as_micros(),
                i64::from(limit),
            )
            .execute(&self.connections)
        });
        Ok(forgotten.await.map_err(store_error)?.rows_affected())
    }
}

impl PostgresStore {
    /// A page of the pending proposals of an organization. Most proposals are not pending any more, so these have an
    /// index of their own.
    async fn pending(
        &self,
        org: OrgId,
        (organizer, party): (Option<Uuid>, Option<Uuid>),
        now: Timestamp,
        page: Page,
    ) -> Result<Listed<Proposal>, StoreError> {
        let records = sqlx::query!(
            r#"SELECT p.org_id, p.id, p.content, p.organizer_id, p.calendar_id, p.slots, p.status, p.slot_id, p.event_id,
                 p.reason, p.expires_at, p.hold_slots, p.skip_taken, p.min_accepts, p.placement, p.version, p.created_at,
                 p.updated_at,
                 (SELECT json_agg(json_build_array(a.agent_id, a.response_id, a.response, a.slot_id, a.remark,
                      a.responded_at, a.calendar_id, a.event_id) ORDER BY a.place)::text
                  FROM proposal_participants a WHERE a.org_id = p.org_id AND a.proposal_id = p.id) AS "participants!",
                 count(*) OVER () AS "total!"
             FROM proposals p
             WHERE p.org_id = $1 AND ($2::uuid IS NULL OR p.organizer_id = $2)
                 AND ($3::uuid IS NULL OR p.organizer_id = $3 OR EXISTS (
                     SELECT 1 FROM proposal_participants a
                     WHERE a.org_id = $1 AND a.proposal_id = p.id AND a.agent_id = $3))
                 AND p.status = 'pending' AND p.expires_at > $4
             ORDER BY p.created_at, p.id LIMIT $5::bigint OFFSET $6::bigint"#,
            org.uuid(),
            organizer,
            party,
            now.as_micros(),
            i64::from(page.limit),
            i64::from(page.offset),
        );
        let records = records.fetch_all(&self.connections).await.map_err(store_error)?;
        let counted = records.first().map(|record| record.total);
        let total = sqlx::query_scalar!(
            r#"SELECT count(*) AS "count!"
             FROM proposals p
             WHERE p.org_id = $1 AND ($2::uuid IS NULL OR p.organizer_id = $2)
                 AND ($3::uuid IS NULL OR p.organizer_id = $3 OR EXISTS (
                     SELECT 1 FROM proposal_participants a
                     WHERE a.org_id = $1 AND a.proposal_id = p.id AND a.agent_id = $3))
                 AND p.status = 'pending' AND p.expires_at > $4"#,
            org.uuid(),
            organizer,
            party,
            now.as_micros(),
        );
        let data = records.into_iter();
        let data = data.map(|record| proposal_row!(record).open_with(&record.participants, &*self.cipher));
        listed(data.collect::<Result<_, _>>()?, page, counted, total.fetch_one(&self.connections)).await
    }
}
