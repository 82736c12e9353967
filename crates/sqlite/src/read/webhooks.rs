//! Reads webhook endpoints and deliveries.

use std::collections::BTreeMap;

use async_trait::async_trait;
use kalends_kernel::{DeliveryId, Listed, OrgId, PAGE_BYTES_MAX, Page, StoreError, WebhookId};
use kalends_notifications::{
    Delivery, DeliveryStatus, WebhookEndpoint, least_delivery_id,
    ports::{Deliveries, DeliveryHistory, DeliverySeen, DeliveryStats, Webhooks},
};
use kalends_time::{CivilDate, Timestamp};
use kalends_warm_pool::{RowsWithin, rows_within, sealed_weight};

use super::count;
use crate::{
    SqliteStore,
    error::store_error,
    rows::{Located, WebhookRow, delivery_row, places, total_of, webhook_row},
};

#[async_trait]
impl Webhooks for SqliteStore {
    async fn find_webhook(&self, org: OrgId, webhook: WebhookId) -> Result<Option<WebhookEndpoint>, StoreError> {
        let (org_id, id) = (org.uuid(), webhook.uuid());
        sqlx::query_as!(
            WebhookRow,
            "select id, content, events, active, deactivated, version, created_at, updated_at
             from webhooks where org_id = ?1 and id = ?2",
            org_id,
            id
        )
        .fetch_optional(self.readers())
        .await
        .map_err(store_error)?
        .map(|row| row.open(org, self.cipher.as_ref()))
        .transpose()
    }

    async fn list_webhooks(&self, org: OrgId, page: Page) -> Result<Listed<WebhookEndpoint>, StoreError> {
        let org_id = org.uuid();
        let rows = sqlx::query!(
            r#"select id as "id!: Vec<u8>", content as "content!: String", events as "events!: String",
                active as "active!: bool", deactivated as "deactivated?: String", version as "version!: i64",
                created_at as "created_at!: i64", updated_at as "updated_at!: i64",
                (select count(*) from webhooks where org_id = ?1) as "total!: i64"
             from webhooks where org_id = ?1 order by created_at, id limit ?2 offset ?3"#,
            org_id,
            page.limit,
            page.offset
        )
        .fetch_all(self.readers())
        .await
        .map_err(store_error)?;
        let counted = rows.first().map(|row| row.total);
        let count = async {
            let count = sqlx::query_scalar!("select count(*) from webhooks where org_id = ?1", org_id);
            count.fetch_one(self.readers()).await.map_err(store_error)
        };
        let total = total_of(rows.len(), page, counted, count).await?;
        let endpoints = rows.into_iter().map(|row| webhook_row!(row).open(org, self.cipher.as_ref()));
        Ok(Listed { data: endpoints.collect::<Result<_, _>>()?, total })
    }
}

#[async_trait]
impl Deliveries for SqliteStore {
    async fn list_deliveries(
        &self,
        org: OrgId,
        webhook: WebhookId,
        status: Option<DeliveryStatus>,
        payloads: bool,
        page: Page,
    ) -> Result<Vec<DeliverySeen>, StoreError> {
        let (org_id, webhook_id, status) = (org.uuid(), webhook.uuid(), status.map(DeliveryStatus::as_str));
        let rows = sqlx::query!(
            r#"select d.id, d.message_id, d.event_type, d.status, d.attempts, d.last_attempt_at, d.next_attempt_at,
                d.response_status, d.created_at, o.payload as "payload?"
             from webhook_deliveries d left join outbox o on ?4 and o.org_id = d.org_id and o.id = d.message_id
             where d.org_id = ?1 and d.webhook_id = ?2 and (?3 is null or d.status = ?3)
             order by d.id limit ?5 offset ?6"#,
            org_id,
            webhook_id,
            status,
            payloads,
            page.limit,
            page.offset
        )
        .fetch(self.readers());
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
        let (org_id, webhook_id) = (org.uuid(), webhook.uuid());
        let rows = sqlx::query!(
            "select status, count(*) as counted from webhook_deliveries where org_id = ?1 and webhook_id = ?2
             group by status",
            org_id,
            webhook_id
        )
        .fetch_all(self.readers())
        .await
        .map_err(store_error)?;
        let mut stats = DeliveryStats::default();
        for row in rows {
            let table = Located { table: "webhook_deliveries", id: &webhook };
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
        let (org_id, webhook_id, id, now) = (org.uuid(), webhook.uuid(), delivery.uuid(), now.as_micros());
        let row = sqlx::query!(
            r#"select d.id, d.message_id, d.event_type, d.status, d.attempts, d.last_attempt_at, d.next_attempt_at,
                d.response_status, d.created_at, coalesce(q.claimed_until > ?4, false) as "served!: bool"
             from webhook_deliveries d join webhook_queues q on q.org_id = d.org_id and q.webhook_id = d.webhook_id
             where d.org_id = ?1 and d.webhook_id = ?2 and d.id = ?3"#,
            org_id,
            webhook_id,
            id,
            now
        )
        .fetch_optional(self.readers())
        .await
        .map_err(store_error)?;
        let Some(row) = row else { return Ok(None) };
        let served = row.served;
        let delivery = delivery_row!(row);
        Ok(Some((delivery.into_domain(org, webhook)?, served)))
    }

    async fn forget_deliveries(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
        let before = before.as_micros();
        let mut writing = self.database.writer.take().await?;
        let forgotten = sqlx::query!(
            "delete from webhook_deliveries where rowid in (
                select rowid from webhook_deliveries where created_at < ?1 order by created_at limit ?2)",
            before,
            limit
        )
        .execute(&mut writing.connection)
        .await;
        writing.done(forgotten).await
    }

    async fn forget_messages(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
        let before = before.as_micros();
        let mut writing = self.database.writer.take().await?;
        let forgotten = sqlx::query!(
            "delete from outbox where rowid in (
                select rowid from outbox where created_at < ?1 order by created_at limit ?2)",
            before,
            limit
        )
        .execute(&mut writing.connection)
        .await;
        writing.done(forgotten).await
    }
}

#[async_trait]
impl DeliveryHistory for SqliteStore {
    async fn newest_deliveries(
        &self,
        org: OrgId,
        webhook: WebhookId,
        status: Option<DeliveryStatus>,
        page: Page,
    ) -> Result<Vec<Delivery>, StoreError> {
        let (org_id, webhook_id, status) = (org.uuid(), webhook.uuid(), status.map(DeliveryStatus::as_str));
        let rows = sqlx::query!(
            "select id, message_id, event_type, status, attempts, last_attempt_at, next_attempt_at, response_status,
                created_at
             from webhook_deliveries where org_id = ?1 and webhook_id = ?2 and (?3 is null or status = ?3)
             order by id desc limit ?4 offset ?5",
            org_id,
            webhook_id,
            status,
            page.limit,
            page.offset
        )
        .fetch_all(self.readers())
        .await
        .map_err(store_error)?;
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
        let (org_id, webhook_id, first) = (org.uuid(), webhook.uuid(), least_delivery_id(since).uuid());
        // Identifiers sort by time, so the primary key finds the newest ones.
        let rows = sqlx::query!(
            r#"select created_at / 86400000000 as "day!: i64", status as "status!: String", count(*) as "counted!: i64"
             from (
                select created_at, status from webhook_deliveries
                where org_id = ?1 and webhook_id = ?2 and id >= ?3 order by id desc limit ?4) newest
             group by 1, 2"#,
            org_id,
            webhook_id,
            first,
            limit
        )
        .fetch_all(self.readers())
        .await
        .map_err(store_error)?;
        let mut days = BTreeMap::<_, DeliveryStats>::new();
        for row in rows {
            let table = Located { table: "webhook_deliveries", id: &webhook };
            let status = table.named("status", &row.status, DeliveryStatus::from_name)?;
            days.entry(CivilDate::from_days(row.day)).or_default().set(status, count(row.counted));
        }
        Ok(days)
    }

    async fn delivery_payload(&self, delivery: &Delivery) -> Result<Option<String>, StoreError> {
        let (org_id, id) = (delivery.org.uuid(), delivery.message.uuid());
        let sealed = sqlx::query_scalar!("select payload from outbox where org_id = ?1 and id = ?2", org_id, id)
            .fetch_optional(self.readers())
            .await
            .map_err(store_error)?;
        sealed.map(|sealed| self.opened_payload(delivery, &sealed)).transpose()
    }
}

impl SqliteStore {
    /// The payload that a delivery sends.
    pub(crate) fn opened_payload(&self, delivery: &Delivery, sealed: &str) -> Result<String, StoreError> {
        let row = Located { table: "outbox", id: &delivery.message };
        let plain = row.open(places::message_payload(delivery.message), sealed, self.cipher.as_ref())?;
        row.read("payload", String::from_utf8(plain))
    }
}
