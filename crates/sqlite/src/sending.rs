//! Moves messages from the outbox to the queues of endpoints, and from there to receivers: what workers read and
//! write.
//!
//! Each of these transactions runs alone, since one connection writes. A second process waits too, since each
//! transaction takes the lock for writing when it begins.

use std::collections::BTreeSet;

use async_trait::async_trait;
use kalends_accounts::Organization;
use kalends_kernel::{OrgId, StoreError, Version, WebhookId};
use kalends_notifications::{
    CLAIM_LASTS, Claim, Delivery, Fence, Listener, Message, Places, Waiting,
    ports::{Backlog, DeliveryQueue, DueDelivery, FannedOut},
};
use kalends_plans::Metric;
use kalends_quotas::Period;
use kalends_rows::{FanOut, fan_out};
use kalends_time::Timestamp;
use sqlx::SqliteConnection;

use crate::{
    Database, SqliteStore,
    error::store_error,
    json::{self, Hex},
    read::count,
    rows::{ListenerRow, OrganizationRow, WaitingRow, delivery_row, row_id},
};

/// Runs a statement that the driver keeps prepared like any other.
async fn run(connection: &mut SqliteConnection, statement: &'static str) -> Result<(), StoreError> {
    sqlx::query(statement).execute(connection).await.map(|_| ()).map_err(store_error)
}

impl Database {
    /// Gives up the claims on endpoints, subscriptions and connections that an earlier process held. A process that
    /// serves alone calls this at startup, so that no work waits until those claims expire.
    ///
    /// # Errors
    /// [`StoreError`] if the database cannot be written.
    pub async fn release_claims(&self) -> Result<(), StoreError> {
        let mut writing = self.writer.take().await?;
        let released = sqlx::query!(
            "update webhook_queues set due_at = 0, claimed_until = null where due_at >= 0 and claimed_until is not null"
        )
        .execute(&mut writing.connection)
        .await;
        writing.done(released).await?;
        let mut writing = self.writer.take().await?;
        let released = sqlx::query!(
            "update ical_subscriptions set due_at = 0, claimed_until = null
             where due_at >= 0 and claimed_until is not null"
        )
        .execute(&mut writing.connection)
        .await;
        writing.done(released).await?;
        let mut writing = self.writer.take().await?;
        let released = sqlx::query!(
            "update calendar_connections set due_at = 0, claimed_until = null
             where due_at >= 0 and claimed_until is not null"
        )
        .execute(&mut writing.connection)
        .await;
        writing.done(released).await?;
        let mut writing = self.writer.take().await?;
        let due = sqlx::query!(
            "update calendars set publication_due_at = min(publication_due_at, 0)
             where (org_id, id) in (
                select org_id, calendar_id from publication_destinations where claimed_until is not null)"
        )
        .execute(&mut writing.connection)
        .await;
        writing.done(due).await?;
        let mut writing = self.writer.take().await?;
        let released =
            sqlx::query!("update publication_destinations set claimed_until = null where claimed_until is not null")
                .execute(&mut writing.connection)
                .await;
        writing.done(released).await.map(drop)
    }
}

impl SqliteStore {
    /// Runs `write` in a transaction of its own; an error rolls it back.
    pub(crate) async fn written<T>(
        &self,
        write: impl AsyncFnOnce(&mut SqliteConnection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut writing = self.database.writer.take().await?;
        let outcome = async {
            run(&mut writing.connection, "begin immediate").await?;
            let outcome = write(&mut writing.connection).await?;
            run(&mut writing.connection, "commit").await?;
            Ok(outcome)
        }
        .await;
        match outcome {
            Ok(outcome) => {
                writing.hand_back();
                Ok(outcome)
            }
            Err(error) => {
                writing.close().await;
                Err(error)
            }
        }
    }
}

#[async_trait]
impl DeliveryQueue for SqliteStore {
    async fn fan_out(&self, now: Timestamp, limit: u32) -> Result<FannedOut, StoreError> {
        // If there is nothing to do, do not wait for the writer.
        let any = sqlx::query_scalar!(r#"select exists (select 1 from waiting_messages) as "any!: bool""#)
            .fetch_one(self.readers())
            .await
            .map_err(store_error)?;
        if !any {
            return Ok(FannedOut::default());
        }
        self.written(async |connection| fan_out(&mut Statements(connection), now, limit).await).await
    }

    async fn claim_webhooks(&self, now: Timestamp, places: Places) -> Result<Vec<Claim>, StoreError> {
        let (at, until) = (now.as_micros(), (now + CLAIM_LASTS).as_micros());
        let any = sqlx::query_scalar!(
            r#"select exists (select 1 from webhook_queues where due_at <= ?1) as "any!: bool""#,
            at
        )
        .fetch_one(self.readers())
        .await
        .map_err(store_error)?;
        if !any {
            return Ok(Vec::new());
        }
        let rows = self
            .written(async |connection| {
                sqlx::query!(
                    "update webhook_queues set due_at = ?2, claimed_until = ?2, fence = fence + 1
                     where rowid in (
                        select * from (
                            select rowid from webhook_queues where due_at <= ?1 and failing_since is null
                            order by due_at, webhook_id limit ?3)
                        union all
                        select * from (
                            select rowid from webhook_queues where due_at <= ?1 and failing_since is not null
                            order by due_at, webhook_id limit ?4))
                     returning org_id, webhook_id, fence, failing_since",
                    at,
                    until,
                    places.sound,
                    places.failing
                )
                .fetch_all(connection)
                .await
                .map_err(store_error)
            })
            .await?;
        let read = rows.into_iter().map(|row| {
            Ok(Claim {
                org: OrgId::from_uuid(row_id("webhook_queues", "org_id", &row.org_id)?),
                webhook: WebhookId::from_uuid(row_id("webhook_queues", "webhook_id", &row.webhook_id)?),
                fence: Fence(row.fence),
                failing: row.failing_since.is_some(),
            })
        });
        read.collect()
    }

    async fn due_deliveries(&self, claim: Claim, now: Timestamp, limit: u32) -> Result<Vec<DueDelivery>, StoreError> {
        let (org_id, webhook_id, now) = (claim.org.uuid(), claim.webhook.uuid(), now.as_micros());
        let rows = sqlx::query!(
            r#"select d.id, d.message_id, d.event_type, d.status, d.attempts, d.last_attempt_at, d.next_attempt_at,
                d.response_status, d.created_at, o.payload as "payload?", o.resource_version as "resource_version?",
                o.created_at as "announced_at?"
             from webhook_deliveries d left join outbox o on o.org_id = d.org_id and o.id = d.message_id
             where d.org_id = ?1 and d.webhook_id = ?2 and d.status = 'pending' and d.next_attempt_at <= ?3
             order by d.next_attempt_at, d.id limit ?4"#,
            org_id,
            webhook_id,
            now,
            limit
        )
        .fetch_all(self.readers())
        .await
        .map_err(store_error)?;
        let due = rows.into_iter().map(|row| {
            let sealed = row.payload.zip(row.resource_version).zip(row.announced_at);
            let delivery = delivery_row!(row);
            let delivery = delivery.into_domain(claim.org, claim.webhook)?;
            let message = sealed
                .map(|((payload, version), at)| {
                    Ok(Message {
                        id: delivery.message,
                        org: delivery.org,
                        event_type: delivery.event_type,
                        payload: self.opened_payload(&delivery, &payload)?,
                        resource_version: Version(version),
                        about: None,
                        created_at: Timestamp::from_micros(at),
                    })
                })
                .transpose();
            Ok(DueDelivery { delivery, message: message? })
        });
        due.collect()
    }

    async fn release_webhook(&self, claim: Claim) -> Result<(), StoreError> {
        let (org_id, webhook_id) = (claim.org.uuid(), claim.webhook.uuid());
        let mut writing = self.database.writer.take().await?;
        // Same as Queue::release. The statement holds the only writer's lock, so messages are addressed to the
        // endpoint either before it or after it.
        let released = sqlx::query!(
            "update webhook_queues set claimed_until = null, due_at = (
                select min(next_attempt_at) from webhook_deliveries
                where org_id = ?1 and webhook_id = ?2 and status = 'pending')
             where org_id = ?1 and webhook_id = ?2 and fence = ?3 and claimed_until is not null",
            org_id,
            webhook_id,
            claim.fence.0
        )
        .execute(&mut writing.connection)
        .await;
        writing.done(released).await.map(|_| ())
    }

    async fn failing_since(&self, org: OrgId, webhook: WebhookId) -> Result<Option<Timestamp>, StoreError> {
        let (org_id, webhook_id) = (org.uuid(), webhook.uuid());
        let since = sqlx::query_scalar!(
            "select failing_since from webhook_queues where org_id = ?1 and webhook_id = ?2",
            org_id,
            webhook_id
        )
        .fetch_optional(self.readers())
        .await
        .map_err(store_error)?;
        Ok(since.flatten().map(Timestamp::from_micros))
    }

    async fn backlog(&self, now: Timestamp) -> Result<Backlog, StoreError> {
        let now = now.as_micros();
        let row = sqlx::query!(
            r#"select
                (select count(*) from (select 1 from waiting_messages limit 10000)) as "waiting!: i64",
                (select count(*) from (
                    select 1 from webhook_deliveries where status = 'pending' limit 100000)) as "pending!: i64",
                (select min(due_at) from webhook_queues where due_at <= ?1) as "oldest?: i64""#,
            now
        )
        .fetch_one(self.readers())
        .await
        .map_err(store_error)?;
        Ok(Backlog {
            waiting: count(row.waiting),
            pending: count(row.pending),
            oldest_due: row.oldest.map(Timestamp::from_micros),
        })
    }
}

/// The statements of the transaction that addresses messages.
struct Statements<'c>(&'c mut SqliteConnection);

impl FanOut for Statements<'_> {
    type Error = StoreError;

    async fn waiting(&mut self, limit: u32) -> Result<Vec<Waiting>, StoreError> {
        let rows = sqlx::query_as!(
            WaitingRow,
            "select created_at, org_id, id, event_type, about from waiting_messages
             order by created_at, org_id, id limit ?1",
            limit
        )
        .fetch_all(&mut *self.0)
        .await
        .map_err(store_error)?;
        rows.into_iter().map(WaitingRow::into_domain).collect()
    }

    async fn listeners(&mut self, organizations: &BTreeSet<OrgId>) -> Result<Vec<Listener>, StoreError> {
        let wanted: Vec<_> = organizations.iter().map(|org| Hex(org.uuid())).collect();
        let wanted = json::rows(&wanted).map_err(store_error)?;
        let rows = sqlx::query_as!(
            ListenerRow,
            "select w.org_id, w.id, w.events from json_each(?1) join webhooks w on w.org_id = unhex(value) and w.active
             order by w.org_id, w.id",
            wanted
        )
        .fetch_all(&mut *self.0)
        .await
        .map_err(store_error)?;
        rows.into_iter().map(ListenerRow::into_domain).collect()
    }

    async fn wake(&mut self, queues: &BTreeSet<(OrgId, WebhookId)>, now: Timestamp) -> Result<(), StoreError> {
        let queues: Vec<_> = queues.iter().map(|(org, webhook)| (Hex(org.uuid()), Hex(webhook.uuid()))).collect();
        let (queues, now) = (json::rows(&queues).map_err(store_error)?, now.as_micros());
        sqlx::query!(
            "update webhook_queues
             set due_at = case when claimed_until > ?2 then due_at else min(coalesce(due_at, ?2), ?2) end
             from jsonb_each(?1) where org_id = unhex(value ->> 0) and webhook_id = unhex(value ->> 1)",
            queues,
            now
        )
        .execute(&mut *self.0)
        .await
        .map_err(store_error)?;
        Ok(())
    }

    async fn organization(&mut self, org: OrgId) -> Result<Option<Organization>, StoreError> {
        let id = org.uuid();
        sqlx::query_as!(
            OrganizationRow,
            "select id, name, plan, limit_overrides, test, email, verified_at, waitlisted_at, signup_source,
                accepted_terms, accepted_at, reply_to, version, created_at
             from organizations where id = ?1",
            id
        )
        .fetch_optional(&mut *self.0)
        .await
        .map_err(store_error)?
        .map(OrganizationRow::into_domain)
        .transpose()
    }

    async fn charge(&mut self, org: OrgId, period: Period, deliveries: u64) -> Result<u64, StoreError> {
        let (org_id, metric, period) = (org.uuid(), Metric::WebhookDeliveries.as_str(), period.number());
        let amount = i64::try_from(deliveries).unwrap_or(i64::MAX);
        let used = sqlx::query_scalar!(
            r#"insert into usage_counters (org_id, metric, period, used) values (?1, ?2, ?3, ?4)
             on conflict (org_id, metric, period) do update set used = used + excluded.used
             returning used as "used!""#,
            org_id,
            metric,
            period,
            amount
        );
        used.fetch_one(&mut *self.0).await.map(count).map_err(store_error)
    }

    async fn refund(&mut self, org: OrgId, period: Period, deliveries: u64) -> Result<(), StoreError> {
        let (org_id, metric, period) = (org.uuid(), Metric::WebhookDeliveries.as_str(), period.number());
        let back = i64::try_from(deliveries).unwrap_or(i64::MAX);
        sqlx::query!(
            "update usage_counters set used = used - ?4 where org_id = ?1 and metric = ?2 and period = ?3",
            org_id,
            metric,
            period,
            back
        )
        .execute(&mut *self.0)
        .await
        .map_err(store_error)?;
        Ok(())
    }

    async fn add(&mut self, deliveries: &[Delivery]) -> Result<(), StoreError> {
        let rows: Vec<_> = deliveries
            .iter()
            .map(|delivery| {
                (
                    Hex(delivery.org.uuid()),
                    Hex(delivery.webhook.uuid()),
                    Hex(delivery.id.uuid()),
                    Hex(delivery.message.uuid()),
                    delivery.event_type.as_str(),
                    delivery.state.status.as_str(),
                    delivery.state.next_attempt_at.map(Timestamp::as_micros),
                    delivery.created_at.as_micros(),
                )
            })
            .collect();
        let rows = json::rows(&rows).map_err(store_error)?;
        sqlx::query!(
            "insert into webhook_deliveries (org_id, webhook_id, id, message_id, event_type, status, attempts,
                next_attempt_at, created_at)
             select unhex(value ->> 0), unhex(value ->> 1), unhex(value ->> 2), unhex(value ->> 3), value ->> 4,
                value ->> 5, 0, value ->> 6, value ->> 7
             from jsonb_each(?1) where true
             on conflict (org_id, webhook_id, id) do nothing",
            rows
        )
        .execute(&mut *self.0)
        .await
        .map_err(store_error)?;
        Ok(())
    }

    async fn remove(&mut self, waiting: &[Waiting]) -> Result<(), StoreError> {
        let key = |message: &Waiting| (message.created_at.as_micros(), Hex(message.org.uuid()), Hex(message.id.uuid()));
        let rows: Vec<_> = waiting.iter().map(key).collect();
        let rows = json::rows(&rows).map_err(store_error)?;
        sqlx::query!(
            "delete from waiting_messages where (created_at, org_id, id) in (
                select value ->> 0, unhex(value ->> 1), unhex(value ->> 2) from jsonb_each(?1))",
            rows
        )
        .execute(&mut *self.0)
        .await
        .map_err(store_error)?;
        Ok(())
    }
}
