//! Counts what there is in an organization.

use async_trait::async_trait;
use kalends_app::ports::{GLANCE_AHEAD, Glance, Glances, Waits};
use kalends_kernel::{OrgId, StoreError};
use kalends_time::Timestamp;

use crate::PostgresStore;
use crate::counts::count;
use crate::error::store_error;

#[async_trait]
impl Glances for PostgresStore {
    async fn glance(&self, org: OrgId, now: Timestamp) -> Result<Glance, StoreError> {
        let found = sqlx::query!(
            r#"SELECT
                 EXISTS (SELECT 1 FROM api_keys WHERE org_id = $1 AND last_used_on IS NOT NULL) AS "has_used_key!",
                 EXISTS (SELECT 1 FROM agents WHERE org_id = $1) AS "has_had_agent!",
                 (SELECT count(*) FROM agents WHERE org_id = $1 AND status <> 'decommissioned') AS "agents!",
                 (
                     SELECT count(*)
                     FROM calendars c
                     LEFT JOIN agents a ON a.org_id = c.org_id AND a.id = c.agent_id
                     WHERE c.org_id = $1 AND c.deleted_at IS NULL
                         AND (c.agent_id IS NULL OR a.status <> 'decommissioned')
                 ) AS "calendars!",
                 (
                     SELECT count(*)
                     FROM calendars c
                     LEFT JOIN agents a ON a.org_id = c.org_id AND a.id = c.agent_id
                     JOIN events e ON e.org_id = c.org_id AND e.calendar_id = c.id
                     WHERE c.org_id = $1 AND c.deleted_at IS NULL
                         AND (c.agent_id IS NULL OR a.status <> 'decommissioned')
                         AND e.org_id = $1 AND e.recurrence IS NOT NULL AND e.deleted_at IS NULL AND e.reaches > $2
                         AND e.source = 'internal'
                 ) AS "series!",
                 (
                     SELECT count(*)
                     FROM booking_pages p
                     JOIN calendars c ON c.org_id = p.org_id AND c.id = p.calendar_id
                     LEFT JOIN agents a ON a.org_id = c.org_id AND a.id = c.agent_id
                     WHERE p.org_id = $1 AND p.deleted_at IS NULL AND c.deleted_at IS NULL
                         AND (c.agent_id IS NULL OR a.status <> 'decommissioned')
                 ) AS "booking_pages!",
                 (SELECT count(*) FROM webhooks WHERE org_id = $1) AS "webhooks!",
                 (
                     SELECT count(*) FROM webhooks WHERE org_id = $1 AND NOT active AND deactivated IS NOT NULL
                 ) AS "failed_webhooks!",
                 (
                     SELECT count(*) FROM proposals WHERE org_id = $1 AND status = 'pending' AND expires_at > $2
                 ) AS "pending_proposals!",
                 (
                     SELECT count(*) FROM approvals WHERE org_id = $1 AND status = 'pending' AND expires_at > $2
                 ) AS "pending_approvals!",
                 (
                     SELECT count(*)
                     FROM calendars c
                     LEFT JOIN agents a ON a.org_id = c.org_id AND a.id = c.agent_id
                     JOIN events e ON e.org_id = c.org_id AND e.calendar_id = c.id
                     WHERE c.org_id = $1 AND c.deleted_at IS NULL
                         AND (c.agent_id IS NULL OR a.status <> 'decommissioned')
                         AND e.org_id = $1 AND e.status = 'hold' AND e.deleted_at IS NULL AND e.hold_expires_at > $2
                 ) AS "holds!",
                 (
                     SELECT count(*)
                     FROM calendars c
                     LEFT JOIN agents a ON a.org_id = c.org_id AND a.id = c.agent_id
                     JOIN events e ON e.org_id = c.org_id AND e.calendar_id = c.id
                     JOIN bookings b ON b.org_id = e.org_id AND b.event_id = e.id
                     WHERE c.org_id = $1 AND c.deleted_at IS NULL
                         AND (c.agent_id IS NULL OR a.status <> 'decommissioned')
                         AND e.org_id = $1 AND e.deleted_at IS NULL AND e.start_at >= $2 AND e.start_at < $3
                         AND e.status <> 'cancelled' AND b.org_id = $1 AND b.cancelled_by IS NULL
                 ) AS "bookings!""#,
            org.uuid(),
            now.as_micros(),
            (now + GLANCE_AHEAD).as_micros(),
        );
        let found = found.fetch_one(&self.connections).await.map_err(store_error)?;
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
        let found = sqlx::query!(
            r#"SELECT
                 (
                     SELECT count(*) FROM approvals WHERE org_id = $1 AND status = 'pending' AND expires_at > $2
                 ) AS "approvals!",
                 EXISTS (
                     SELECT 1
                     FROM calendars c
                     LEFT JOIN agents a ON a.org_id = c.org_id AND a.id = c.agent_id
                     JOIN events e ON e.org_id = c.org_id AND e.calendar_id = c.id
                     WHERE c.org_id = $1 AND c.deleted_at IS NULL
                         AND (c.agent_id IS NULL OR a.status <> 'decommissioned')
                         AND e.org_id = $1 AND e.status = 'hold' AND e.deleted_at IS NULL AND e.hold_expires_at > $2
                 ) AS "has_holds!",
                 EXISTS (
                     SELECT 1 FROM proposals WHERE org_id = $1 AND status = 'pending' AND expires_at > $2
                 ) AS "has_proposals!",
                 (SELECT count(*) FROM member_invitations WHERE org_id = $1 AND expires_at > $2) AS "invitations!""#,
            org.uuid(),
            now.as_micros(),
        );
        let found = found.fetch_one(&self.connections).await.map_err(store_error)?;
        Ok(Waits {
            approvals: count(found.approvals),
            has_holds: found.has_holds,
            has_proposals: found.has_proposals,
            invitations: count(found.invitations),
        })
    }
}
