//! Counts what there is in an organization.

use async_trait::async_trait;
use kalends_app::ports::{GLANCE_AHEAD, Glance, Glances, Waits};
use kalends_kernel::{OrgId, StoreError};
use kalends_time::Timestamp;

use super::count;
use crate::{SqliteStore, error::store_error};

#[async_trait]
impl Glances for SqliteStore {
    async fn glance(&self, org: OrgId, now: Timestamp) -> Result<Glance, StoreError> {
        let (org_id, ahead, now) = (org.uuid(), (now + GLANCE_AHEAD).as_micros(), now.as_micros());
        let found = sqlx::query!(
            r#"select
                exists (select 1 from api_keys where org_id = ?1 and last_used_on is not null) as "has_used_key!: bool",
                exists (select 1 from agents where org_id = ?1) as "has_had_agent!: bool",
                (select count(*) from agents where org_id = ?1 and status <> 'decommissioned') as "agents!: i64",
                (select count(*)
                 from calendars c left join agents a on a.org_id = c.org_id and a.id = c.agent_id
                 where c.org_id = ?1 and c.deleted_at is null
                    and (c.agent_id is null or a.status <> 'decommissioned')) as "calendars!: i64",
                (select count(*)
                 from calendars c left join agents a on a.org_id = c.org_id and a.id = c.agent_id
                    cross join events e on e.org_id = c.org_id and e.calendar_id = c.id
                 where c.org_id = ?1 and c.deleted_at is null and (c.agent_id is null or a.status <> 'decommissioned')
                    and e.recurrence is not null and e.deleted_at is null and e.reaches > ?2
                    and e.source = 'internal') as "series!: i64",
                (select count(*)
                 from booking_pages p
                    join calendars c on c.org_id = p.org_id and c.id = p.calendar_id
                    left join agents a on a.org_id = c.org_id and a.id = c.agent_id
                 where p.org_id = ?1 and p.deleted_at is null and c.deleted_at is null
                    and (c.agent_id is null or a.status <> 'decommissioned')) as "booking_pages!: i64",
                (select count(*) from webhooks where org_id = ?1) as "webhooks!: i64",
                (select count(*) from webhooks where org_id = ?1 and not active and deactivated is not null)
                    as "failed_webhooks!: i64",
                (select count(*) from proposals indexed by proposals_pending_of_org
                 where org_id = ?1 and status = 'pending' and expires_at > ?2) as "pending_proposals!: i64",
                (select count(*) from approvals
                 where org_id = ?1 and status = 'pending' and expires_at > ?2) as "pending_approvals!: i64",
                (select count(*)
                 from events e indexed by events_holds_of_org
                    cross join calendars c on c.org_id = e.org_id and c.id = e.calendar_id
                    left join agents a on a.org_id = c.org_id and a.id = c.agent_id
                 where e.org_id = ?1 and e.status = 'hold' and e.deleted_at is null and e.hold_expires_at > ?2
                    and c.deleted_at is null and (c.agent_id is null or a.status <> 'decommissioned')) as "holds!: i64",
                (select count(*)
                 from calendars c left join agents a on a.org_id = c.org_id and a.id = c.agent_id
                    cross join events e indexed by events_by_start on e.org_id = c.org_id and e.calendar_id = c.id
                    cross join bookings b on b.org_id = e.org_id and b.event_id = e.id
                 where c.org_id = ?1 and c.deleted_at is null and (c.agent_id is null or a.status <> 'decommissioned')
                    and e.deleted_at is null and e.start_at >= ?2 and e.start_at < ?3 and e.status <> 'cancelled'
                    and b.cancelled_by is null) as "bookings!: i64""#,
            org_id,
            now,
            ahead
        );
        let found = found.fetch_one(self.readers()).await.map_err(store_error)?;
        Ok(Glance {
            has_used_key: found.has_used_key,
            has_had_agent: found.has_had_agent,
            agents: count(found.agents),
            calendars: count(found.calendars),
            series: count(found.series),
            booking_pages: count(found.booking_pages),
            webhooks: count(found.webhooks),
            failed_webhooks: count(found.failed_webhooks),
            pending_proposals: count(found.pending_proposals),
            pending_approvals: count(found.pending_approvals),
            holds: count(found.holds),
            bookings: count(found.bookings),
        })
    }

    async fn waits(&self, org: OrgId, now: Timestamp) -> Result<Waits, StoreError> {
        let (org_id, now) = (org.uuid(), now.as_micros());
        let found = sqlx::query!(
            r#"select
                (select count(*) from approvals
                 where org_id = ?1 and status = 'pending' and expires_at > ?2) as "approvals!: i64",
                exists (select 1
                 from events e indexed by events_holds_of_org
                    cross join calendars c on c.org_id = e.org_id and c.id = e.calendar_id
                    left join agents a on a.org_id = c.org_id and a.id = c.agent_id
                 where e.org_id = ?1 and e.status = 'hold' and e.deleted_at is null and e.hold_expires_at > ?2
                    and c.deleted_at is null
                    and (c.agent_id is null or a.status <> 'decommissioned')) as "has_holds!: bool",
                exists (select 1 from proposals indexed by proposals_pending_of_org
                 where org_id = ?1 and status = 'pending' and expires_at > ?2) as "has_proposals!: bool",
                (select count(*) from member_invitations
                 where org_id = ?1 and expires_at > ?2) as "invitations!: i64""#,
            org_id,
            now
        );
        let found = found.fetch_one(self.readers()).await.map_err(store_error)?;
        Ok(Waits {
            approvals: count(found.approvals),
            has_holds: found.has_holds,
            has_proposals: found.has_proposals,
            invitations: count(found.invitations),
        })
    }
}
