//! Reads webhook endpoints and deliveries.

use std::collections::BTreeMap;

use async_trait::async_trait;
use kalends_kernel::{DeliveryId, Listed, OrgId, PAGE_BYTES_MAX, Page, StoreError, WebhookId};
use kalends_notifications::ports::{Deliveries, DeliveryHistory, DeliverySeen, DeliveryStats, Webhooks};
use kalends_notifications::{Delivery, DeliveryStatus, WebhookEndpoint, least_delivery_id};
use kalends_time::{CivilDate, Timestamp};
use kalends_warm_pool::{RowsWithin, rows_within, sealed_weight};

use super::listed;
use crate::PostgresStore;
use crate::counts::count;
use crate::error::store_error;
use crate::retry::retried;
use crate::rows::places;
use crate::rows::{Located, WebhookRow, delivery_row, webhook_row};

#[async_trait]
impl Webhooks for PostgresStore {
    async fn find_webhook(&self, org: OrgId, webhook: WebhookId) -> Result<Option<WebhookEndpoint>, StoreError> {
        let row = sqlx::query_as!(
            WebhookRow,
            "SELECT id, content, events, active, deactivated, version, created_at, updated_at
             FROM webhooks WHERE org_id = $1 AND id = $2",
            org.uuid(),
            webhook.uuid(),
        );
        let row = row.fetch_optional(&self.connections).await.map_err(store_error)?;
        row.map(|row| row.open(org, &*self.cipher)).transpose()
    }

    async fn list_webhooks(&self, org: OrgId, page: Page) -> Result<Listed<WebhookEndpoint>, StoreError> {
        // A plan caps the number of pages, so counting them all is cheap.
        let records = sqlx::query!(
            r#"SELECT id, content, events, active, deactivated, version, created_at, updated_at,
                 count(*) OVER () AS "total!"
             FROM webhooks WHERE org_id = $1 ORDER BY created_at, id LIMIT $2::bigint OFFSET $3::bigint"#,
            org.uuid(),
            i64::from(page.limit),
            i64::from(page.offset),
        );
        let records = records.fetch_all(&self.connections).await.map_err(store_error)?;
        let counted = records.first().map(|record| record.total);
        let webhooks = records.into_iter().map(|record| {
            let row = webhook_row!(record);
            row.open(org, &*self.cipher)
        });
        let webhooks = webhooks.collect::<Result<_, _>>()?;
        let total = sqlx::query_scalar!(r#"SELECT count(*) AS "count!" FROM webhooks WHERE org_id = $1"#, org.uuid());
        listed(webhooks, page, counted, total.fetch_one(&self.connections)).await
    }
}

#[async_trait]
impl Deliveries for PostgresStore {
    async fn list_deliveries(
        &self,
        org: OrgId,
        webhook: WebhookId,
        status: Option<DeliveryStatus>,
        payloads: bool,
        page: Page,
    ) -> Result<Vec<DeliverySeen>, StoreError> {
        let rows = sqlx::query!(
            r#"SELECT d.id, d.message_id, d.event_type, d.status, d.attempts, d.last_attempt_at, d.next_attempt_at,
                 d.response_status, d.created_at, o.payload AS "payload?"
             FROM webhook_deliveries d
             LEFT JOIN outbox o ON $4 AND o.org_id = d.org_id AND o.id = d.message_id
             WHERE d.org_id = $1 AND d.webhook_id = $2 AND ($3::text IS NULL OR d.status = $3)
             ORDER BY d.id LIMIT $5::bigint OFFSET $6::bigint"#,
            org.uuid(),
            webhook.uuid(),
            status.map(DeliveryStatus::as_str),
            payloads,
            i64::from(page.limit),
            i64::from(page.offset),
        );
        let rows = rows.fetch(&self.connections);
        let RowsWithin { rows, .. } =
            rows_within(rows, |row| row.payload.as_deref().map_or(0, sealed_weight), PAGE_BYTES_MAX)
                .await
                .map_err(store_error)?;
        let seen = rows.into_iter().map(|row| {
            let sealed = row.payload;
            let delivery = delivery_row!(row);
            let delivery = delivery.into_domain(org, webhook)?;
            let payload = sealed.map(|sealed| self.opened_payload(&delivery, &sealed)).transpose()?;
            Ok(DeliverySeen { delivery, payload })
        });
        seen.collect()
    }

    async fn delivery_stats(&self, org: OrgId, webhook: WebhookId) -> Result<DeliveryStats, StoreError> {
        let rows = sqlx::query!(
            r#"SELECT status, count(*) AS "counted!"
             FROM webhook_deliveries WHERE org_id = $1 AND webhook_id = $2 GROUP BY status"#,
            org.uuid(),
            webhook.uuid(),
        );
        let rows = rows.fetch_all(&self.connections).await.map_err(store_error)?;
        let mut stats = DeliveryStats::default();
        for row in rows {
            let table = Located { table: "webhook_deliveries", id: webhook };
            stats.set(table.named("status", &row.status, DeliveryStatus::from_name)?, count(row.counted));
        }
        Ok(stats)
    }

    async fn find_delivery(
        &self,
        org: OrgId,
        webhook: WebhookId,
        delivery: DeliveryId,
        now: Timestamp,
    ) -> Result<Option<(Delivery, bool)>, StoreError> {
        let row = sqlx::query!(
            r#"SELECT d.id, d.message_id, d.event_type, d.status, d.attempts, d.last_attempt_at, d.next_attempt_at,
                 d.response_status, d.created_at, coalesce(q.claimed_until > $4, FALSE) AS "served!"
             FROM webhook_deliveries d
             JOIN webhook_queues q ON q.org_id = d.org_id AND q.webhook_id = d.webhook_id
             WHERE d.org_id = $1 AND d.webhook_id = $2 AND d.id = $3"#,
            org.uuid(),
            webhook.uuid(),
            delivery.uuid(),
            now.as_micros(),
        );
        let row = row.fetch_optional(&self.connections).await.map_err(store_error)?;
        let Some(row) = row else { return Ok(None) };
        let served = row.served;
        let delivery = delivery_row!(row);
        Ok(Some((delivery.into_domain(org, webhook)?, served)))
    }

    async fn forget_deliveries(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
        let forgotten = retried(|| {
            sqlx::query!(
                "DELETE FROM webhook_deliveries WHERE created_at < $1 AND (org_id, webhook_id, id) IN (
                     SELECT org_id, webhook_id, id FROM webhook_deliveries
                     WHERE created_at < $1 ORDER BY created_at LIMIT $2
                 )",
                before.as_micros(),
                i64::from(limit),
            )
            .execute(&self.connections)
        });
        Ok(forgotten.await.map_err(store_error)?.rows_affected())
    }

    async fn forget_messages(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
        let forgotten = retried(|| {
            sqlx::query!(
                "DELETE FROM outbox WHERE created_at < $1 AND (org_id, id) IN (
                     SELECT org_id, id FROM outbox WHERE created_at < $1 ORDER BY created_at LIMIT $2
                 )",
                before.as_micros(),
                i64::from(limit),
            )
            .execute(&self.connections)
        });
        Ok(forgotten.await.map_err(store_error)?.rows_affected())
    }
}

#[async_trait]
impl DeliveryHistory for PostgresStore {
    async fn newest_deliveries(
        &self,
        org: OrgId,
        webhook: WebhookId,
        status: Option<DeliveryStatus>,
        page: Page,
    ) -> Result<Vec<Delivery>, StoreError> {
        let rows = sqlx::query!(
            "SELECT id, message_id, event_type, status, attempts, last_attempt_at, next_attempt_at, response_status,
                 created_at
             FROM webhook_deliveries
             WHERE org_id = $1 AND webhook_id = $2 AND ($3::text IS NULL OR status = $3)
             ORDER BY id DESC LIMIT $4::bigint OFFSET $5::bigint",
            org.uuid(),
            webhook.uuid(),
            status.map(DeliveryStatus::as_str),
            i64::from(page.limit),
            i64::from(page.offset),
        );
        let rows = rows.fetch_all(&self.connections).await.map_err(store_error)?;
        let deliveries = rows.into_iter().map(|row| {
            let delivery = delivery_row!(row);
            delivery.into_domain(org, webhook)
        });
        deliveries.collect()
    }

    async fn delivery_days(
        &self,
        org: OrgId,
        webhook: WebhookId,
        since: Timestamp,
        limit: u32,
    ) -> Result<BTreeMap<CivilDate, DeliveryStats>, StoreError> {
        // Identifiers sort by time, so the primary key finds the newest ones.
        let rows = sqlx::query!(
            r#"SELECT created_at / 86400000000 AS "day!", status AS "status!", count(*) AS "counted!"
             FROM (
                 SELECT created_at, status FROM webhook_deliveries
                 WHERE org_id = $1 AND webhook_id = $2 AND id >= $3 ORDER BY id DESC LIMIT $4::bigint
             ) newest
             GROUP BY 1, 2"#,
            org.uuid(),
            webhook.uuid(),
            least_delivery_id(since).uuid(),
            i64::from(limit),
        );
        let rows = rows.fetch_all(&self.connections).await.map_err(store_error)?;
        let mut days = BTreeMap::<_, DeliveryStats>::new();
        for row in rows {
            let table = Located { table: "webhook_deliveries", id: webhook };
            let status = table.named("status", &row.status, DeliveryStatus::from_name)?;
            days.entry(CivilDate::from_days(row.day)).or_default().set(status, count(row.counted));
        }
        Ok(days)
    }

    async fn delivery_payload(&self, delivery: &Delivery) -> Result<Option<String>, StoreError> {
        let sealed = sqlx::query_scalar!(
            "SELECT payload FROM outbox WHERE org_id = $1 AND id = $2",
            delivery.org.uuid(),
            delivery.message.uuid(),
        );
        let sealed = sealed.fetch_optional(&self.connections).await.map_err(store_error)?;
        sealed.map(|sealed| self.opened_payload(delivery, &sealed)).transpose()
    }
}

impl PostgresStore {
    /// The payload that a delivery sends.
    pub(crate) fn opened_payload(&self, delivery: &Delivery, sealed: &str) -> Result<String, StoreError> {
        let row = Located { table: "outbox", id: delivery.message };
        let plain = self.cipher.open(places::message_payload(delivery.message), sealed);
        let plain = plain.map_err(|error| row.corrupt("payload", error))?;
        String::from_utf8(plain).map_err(|error| row.corrupt("payload", error))
    }
}
