//! Moves messages from the outbox to the queues of endpoints, and from there to receivers: what workers on any number
//! of nodes read and write.
//!
//! Claimed rows are skipped by other workers (`SKIP LOCKED`), so nobody waits. Rows are locked in the order of
//! `commit`: messages, queues by organization and endpoint, counters.

use std::collections::BTreeSet;

use async_trait::async_trait;
use kalends_accounts::Organization;
use kalends_kernel::{OrgId, StoreError, Version, WebhookId};
use kalends_notifications::ports::{Backlog, DeliveryQueue, DueDelivery, FannedOut};
use kalends_notifications::{CLAIM_LASTS, Claim, Delivery, Fence, Listener, Message, Places, Waiting};
use kalends_plans::Metric;
use kalends_quotas::Period;
use kalends_rows::{FanOut, fan_out};
use kalends_time::Timestamp;
use sqlx::PgConnection;
use uuid::Uuid;

use crate::PostgresStore;
use crate::counts::{count, signed};
use crate::error::{ApplyError, store_error};
use crate::retry::retried;
use crate::rows::{ListenerRow, OrganizationRow, WaitingRow, delivery_row};
use crate::transaction::in_transaction;

#[async_trait]
impl DeliveryQueue for PostgresStore {
    async fn fan_out(&self, now: Timestamp, limit: u32) -> Result<FannedOut, StoreError> {
        let fanned = retried(|| {
            in_transaction(&self.connections, async |connection| fan_out(&mut Statements(connection), now, limit).await)
        });
        fanned.await.map_err(unexpected)
    }

    async fn claim_webhooks(&self, now: Timestamp, places: Places) -> Result<Vec<Claim>, StoreError> {
        let rows = retried(|| {
            sqlx::query!(
                "UPDATE webhook_queues q SET due_at = $2, claimed_until = $2, fence = q.fence + 1
                 FROM (
                     SELECT * FROM (
                         SELECT org_id, webhook_id FROM webhook_queues WHERE due_at <= $1 AND failing_since IS NULL
                         ORDER BY due_at, webhook_id LIMIT $3 FOR UPDATE SKIP LOCKED
                     ) sound
                     UNION ALL
                     SELECT * FROM (
                         SELECT org_id, webhook_id FROM webhook_queues WHERE due_at <= $1 AND failing_since IS NOT NULL
                         ORDER BY due_at, webhook_id LIMIT $4 FOR UPDATE SKIP LOCKED
                     ) failing
                 ) due
                 WHERE q.org_id = due.org_id AND q.webhook_id = due.webhook_id
                 RETURNING q.org_id, q.webhook_id, q.fence, q.failing_since",
                now.as_micros(),
                (now + CLAIM_LASTS).as_micros(),
                i64::from(places.sound),
                i64::from(places.failing),
            )
            .fetch_all(&self.connections)
        });
        let read = |(org, webhook, fence, since): (_, _, _, Option<i64>)| Claim {
            org: OrgId::from_uuid(org),
            webhook: WebhookId::from_uuid(webhook),
            fence: Fence(fence),
            failing: since.is_some(),
        };
        let rows = rows.await.map_err(store_error)?;
        Ok(rows.into_iter().map(|row| read((row.org_id, row.webhook_id, row.fence, row.failing_since))).collect())
    }

    async fn due_deliveries(&self, claim: Claim, now: Timestamp, limit: u32) -> Result<Vec<DueDelivery>, StoreError> {
        let rows = sqlx::query!(
            r#"SELECT d.id, d.message_id, d.event_type, d.status, d.attempts, d.last_attempt_at, d.next_attempt_at,
                 d.response_status, d.created_at, o.payload AS "payload?", o.resource_version AS "resource_version?",
                 o.created_at AS "announced_at?"
             FROM (
                 SELECT * FROM webhook_deliveries
                 WHERE org_id = $1 AND webhook_id = $2 AND status = 'pending' AND next_attempt_at <= $3
                 ORDER BY next_attempt_at, id LIMIT $4
             ) d
             LEFT JOIN outbox o ON o.org_id = d.org_id AND o.id = d.message_id
             ORDER BY d.next_attempt_at, d.id"#,
            claim.org.uuid(),
            claim.webhook.uuid(),
            now.as_micros(),
            i64::from(limit),
        );
        let rows = rows.fetch_all(&self.connections).await.map_err(store_error)?;
        let due = rows.into_iter().map(|row| {
            let sealed = row.payload.zip(row.resource_version).zip(row.announced_at);
            let delivery = delivery_row!(row);
            let delivery = delivery.into_domain(claim.org, claim.webhook)?;
            let message = sealed.map(|((payload, version), at)| {
                Ok(Message {
                    id: delivery.message,
                    org: delivery.org,
                    event_type: delivery.event_type,
                    payload: self.opened_payload(&delivery, &payload)?,
                    resource_version: Version(version),
                    about: None,
                    created_at: Timestamp::from_micros(at),
                })
            });
            Ok(DueDelivery { delivery, message: message.transpose()? })
        });
        due.collect()
    }

    async fn release_webhook(&self, claim: Claim) -> Result<(), StoreError> {
        let released =
            retried(|| in_transaction(&self.connections, async |connection| release(connection, claim).await));
        released.await.map_err(unexpected)
    }

    async fn failing_since(&self, org: OrgId, webhook: WebhookId) -> Result<Option<Timestamp>, StoreError> {
        let since = sqlx::query_scalar!(
            "SELECT failing_since FROM webhook_queues WHERE org_id = $1 AND webhook_id = $2",
            org.uuid(),
            webhook.uuid(),
        );
        let since = since.fetch_optional(&self.connections).await.map_err(store_error)?;
        Ok(since.flatten().map(Timestamp::from_micros))
    }

    async fn backlog(&self, now: Timestamp) -> Result<Backlog, StoreError> {
        let row = sqlx::query!(
            r#"SELECT
                 (SELECT count(*) FROM (SELECT 1 FROM waiting_messages LIMIT 10000) w) AS "waiting!",
                 (SELECT count(*) FROM (
                     SELECT 1 FROM webhook_deliveries WHERE status = 'pending' LIMIT 100000) p) AS "pending!",
                 (SELECT min(due_at) FROM webhook_queues WHERE due_at <= $1) AS oldest"#,
            now.as_micros(),
        );
        let row = row.fetch_one(&self.connections).await.map_err(store_error)?;
        Ok(Backlog {
            waiting: count(row.waiting),
            pending: count(row.pending),
            oldest_due: row.oldest.map(Timestamp::from_micros),
        })
    }
}

/// Translates the error of a transaction that checks no condition of a change-set.
pub(crate) fn unexpected(error: ApplyError) -> StoreError {
    match error {
        ApplyError::Driver(error) => store_error(error),
        ApplyError::Refused(kalends_app::ports::CommitError::Store(error)) => error,
        ApplyError::Refused(other) => crate::error::failed(other),
    }
}

/// The statements of the transaction that addresses messages.
struct Statements<'c>(&'c mut PgConnection);

impl FanOut for Statements<'_> {
    type Error = ApplyError;

    /// Locks the messages.
    async fn waiting(&mut self, limit: u32) -> Result<Vec<Waiting>, ApplyError> {
        let rows = sqlx::query_as!(
            WaitingRow,
            "SELECT created_at, org_id, id, event_type, about FROM waiting_messages
             ORDER BY created_at, org_id, id LIMIT $1 FOR UPDATE SKIP LOCKED",
            i64::from(limit),
        )
        .fetch_all(&mut *self.0)
        .await?;
        Ok(rows.into_iter().map(WaitingRow::into_domain).collect::<Result<_, _>>()?)
    }

    async fn listeners(&mut self, organizations: &BTreeSet<OrgId>) -> Result<Vec<Listener>, ApplyError> {
        let organizations: Vec<Uuid> = organizations.iter().map(|org| org.uuid()).collect();
        let rows = sqlx::query_as!(
            ListenerRow,
            "SELECT org_id, id, events FROM webhooks WHERE org_id = ANY($1::uuid[]) AND active ORDER BY org_id, id",
            &organizations,
        )
        .fetch_all(&mut *self.0)
        .await?;
        Ok(rows.into_iter().map(ListenerRow::into_domain).collect::<Result<_, _>>()?)
    }

    /// Locks the queues in order.
    async fn wake(&mut self, queues: &BTreeSet<(OrgId, WebhookId)>, now: Timestamp) -> Result<(), ApplyError> {
        let (orgs, webhooks): (Vec<Uuid>, Vec<Uuid>) =
            queues.iter().map(|(org, webhook)| (org.uuid(), webhook.uuid())).unzip();
        if orgs.is_empty() {
            return Ok(());
        }
        sqlx::query!(
            "SELECT q.fence FROM webhook_queues q
             JOIN unnest($1::uuid[], $2::uuid[]) AS row (org_id, webhook_id)
                 ON q.org_id = row.org_id AND q.webhook_id = row.webhook_id
             ORDER BY q.org_id, q.webhook_id FOR UPDATE OF q",
            &orgs,
            &webhooks,
        )
        .fetch_all(&mut *self.0)
        .await?;
        sqlx::query!(
            "UPDATE webhook_queues q
             SET due_at = CASE WHEN claimed_until > $3 THEN due_at ELSE LEAST(due_at, $3) END
             FROM unnest($1::uuid[], $2::uuid[]) AS row (org_id, webhook_id)
             WHERE q.org_id = row.org_id AND q.webhook_id = row.webhook_id",
            &orgs,
            &webhooks,
            now.as_micros(),
        )
        .execute(&mut *self.0)
        .await?;
        Ok(())
    }

    async fn organization(&mut self, org: OrgId) -> Result<Option<Organization>, ApplyError> {
        let row = sqlx::query_as!(
            OrganizationRow,
            "SELECT id, name, plan, limit_overrides, test, email, verified_at, waitlisted_at, signup_source,
                 accepted_terms, accepted_at, reply_to, version, created_at
             FROM organizations WHERE id = $1",
            org.uuid(),
        );
        let row = row.fetch_optional(&mut *self.0).await?;
        Ok(row.map(OrganizationRow::into_domain).transpose()?)
    }

    async fn charge(&mut self, org: OrgId, period: Period, deliveries: u64) -> Result<u64, ApplyError> {
        let (metric, period) = (Metric::WebhookDeliveries.as_str(), period.number());
        let used = sqlx::query_scalar!(
            "INSERT INTO usage_counters AS counter (org_id, metric, period, used) VALUES ($1, $2, $3, $4)
             ON CONFLICT (org_id, metric, period) DO UPDATE SET used = counter.used + excluded.used
             RETURNING used",
            org.uuid(),
            metric,
            period,
            signed(deliveries),
        );
        Ok(count(used.fetch_one(&mut *self.0).await?))
    }

    async fn refund(&mut self, org: OrgId, period: Period, deliveries: u64) -> Result<(), ApplyError> {
        let (metric, period) = (Metric::WebhookDeliveries.as_str(), period.number());
        sqlx::query!(
            "UPDATE usage_counters SET used = used - $4 WHERE org_id = $1 AND metric = $2 AND period = $3",
            org.uuid(),
            metric,
            period,
            signed(deliveries),
        )
        .execute(&mut *self.0)
        .await?;
        Ok(())
    }

    async fn add(&mut self, deliveries: &[Delivery]) -> Result<(), ApplyError> {
        if deliveries.is_empty() {
            return Ok(());
        }
        let orgs: Vec<Uuid> = deliveries.iter().map(|delivery| delivery.org.uuid()).collect();
        let webhooks: Vec<Uuid> = deliveries.iter().map(|delivery| delivery.webhook.uuid()).collect();
        let ids: Vec<Uuid> = deliveries.iter().map(|delivery| delivery.id.uuid()).collect();
        let messages: Vec<Uuid> = deliveries.iter().map(|delivery| delivery.message.uuid()).collect();
        let types: Vec<&str> = deliveries.iter().map(|delivery| delivery.event_type.as_str()).collect();
        let statuses: Vec<&str> = deliveries.iter().map(|delivery| delivery.state.status.as_str()).collect();
        let next: Vec<Option<i64>> =
            deliveries.iter().map(|delivery| delivery.state.next_attempt_at.map(Timestamp::as_micros)).collect();
        let created: Vec<i64> = deliveries.iter().map(|delivery| delivery.created_at.as_micros()).collect();
        sqlx::query!(
            "INSERT INTO webhook_deliveries (org_id, webhook_id, id, message_id, event_type, status, attempts,
                 next_attempt_at, created_at)
             SELECT row.org_id, row.webhook_id, row.id, row.message_id, row.event_type, row.status, 0, row.next_at,
                 row.created_at
             FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::text[], $6::text[], $7::bigint[],
                     $8::bigint[]) AS row (org_id, webhook_id, id, message_id, event_type, status, next_at, created_at)
             ON CONFLICT (org_id, webhook_id, id) DO NOTHING",
            &orgs,
            &webhooks,
            &ids,
            &messages,
            &types as &[&str],
            &statuses as &[&str],
            &next as &[Option<i64>],
            &created,
        )
        .execute(&mut *self.0)
        .await?;
        Ok(())
    }

    async fn remove(&mut self, waiting: &[Waiting]) -> Result<(), ApplyError> {
        let created: Vec<i64> = waiting.iter().map(|message| message.created_at.as_micros()).collect();
        let orgs: Vec<Uuid> = waiting.iter().map(|message| message.org.uuid()).collect();
        let ids: Vec<Uuid> = waiting.iter().map(|message| message.id.uuid()).collect();
        sqlx::query!(
            "DELETE FROM waiting_messages w
             USING unnest($1::bigint[], $2::uuid[], $3::uuid[]) AS row (created_at, org_id, id)
             WHERE w.created_at = row.created_at AND w.org_id = row.org_id AND w.id = row.id",
            &created,
            &orgs,
            &ids,
        )
        .execute(&mut *self.0)
        .await?;
        Ok(())
    }
}

/// Releases the claim as [`kalends_notifications::Queue::release`] does.
async fn release(connection: &mut PgConnection, claim: Claim) -> Result<(), ApplyError> {
    let (org_id, webhook_id) = (claim.org.uuid(), claim.webhook.uuid());
    // A worker that addresses messages to the endpoint holds the lock, so the next statement sees what it wrote.
    sqlx::query!(
        "SELECT fence FROM webhook_queues WHERE org_id = $1 AND webhook_id = $2 FOR UPDATE",
        org_id,
        webhook_id
    )
    .fetch_optional(&mut *connection)
    .await?;
    sqlx::query!(
        "UPDATE webhook_queues SET claimed_until = NULL, due_at = (
             SELECT min(next_attempt_at) FROM webhook_deliveries
             WHERE org_id = $1 AND webhook_id = $2 AND status = 'pending')
         WHERE org_id = $1 AND webhook_id = $2 AND fence = $3 AND claimed_until IS NOT NULL",
        org_id,
        webhook_id,
        claim.fence.0,
    )
    .execute(connection)
    .await?;
    Ok(())
}
