//! Looks behind the ports with plain SQL.

use async_trait::async_trait;
use kalends_accounts::{Action, AuditEntry};
use kalends_app::ports::{FieldCipher as _, Place};
use kalends_kernel::{AgentId, AuditId, MessageId, OrgId, RequestId, Version, WebhookId};
use kalends_notifications::{EventType, Message};
use kalends_plans::Metric;
use kalends_quotas::Period;
use kalends_testkit::{Inspect, TestCipher};
use kalends_time::{SignedDuration, Timestamp};
use sqlx::{PgPool, Row as _};
use uuid::Uuid;

/// A connection that bypasses the store.
#[derive(Clone)]
pub(crate) struct Behind {
    pub(crate) pool: PgPool,
    pub(crate) cipher: TestCipher,
}

impl Behind {
    /// Runs a statement without parameters, and returns how many rows it affected.
    pub(crate) async fn run(&self, statement: &'static str) -> u64 {
        sqlx::query(statement).execute(&self.pool).await.unwrap().rows_affected()
    }

    /// Returns the count that a statement selects.
    pub(crate) async fn count(&self, statement: &'static str) -> i64 {
        sqlx::query_scalar(statement).fetch_one(&self.pool).await.unwrap()
    }
}

#[async_trait]
impl Inspect for Behind {
    async fn messages(&self, org: OrgId) -> Vec<Message> {
        let rows = sqlx::query(
            "SELECT o.*, w.about FROM outbox o LEFT JOIN waiting_messages w
                 ON w.created_at = o.created_at AND w.org_id = o.org_id AND w.id = o.id
             WHERE o.org_id = $1",
        )
        .bind(org.uuid());
        let rows = rows.fetch_all(&self.pool).await.unwrap();
        let messages = rows.iter().map(|row| {
            let place = Place { table: "outbox", column: "payload", id: row.get("id") };
            Message {
                id: MessageId::from_uuid(row.get("id")),
                org: OrgId::from_uuid(row.get("org_id")),
                event_type: EventType::from_stored(row.get("event_type")).unwrap(),
                payload: String::from_utf8(self.cipher.open(place, row.get("payload")).unwrap()).unwrap(),
                resource_version: Version(row.get("resource_version")),
                about: row.get::<Option<Uuid>, _>("about").map(WebhookId::from_uuid),
                created_at: Timestamp::from_micros(row.get("created_at")),
            }
        });
        messages.collect()
    }

    async fn audit_entries(&self, org: OrgId) -> Vec<AuditEntry> {
        let rows = sqlx::query("SELECT * FROM audit_log WHERE org_id = $1").bind(org.uuid());
        let rows = rows.fetch_all(&self.pool).await.unwrap();
        let entries = rows.iter().map(|row| AuditEntry {
            id: AuditId::from_uuid(row.get("id")),
            org: OrgId::from_uuid(row.get("org_id")),
            action: Action::from_name(row.get("action")).unwrap(),
            actor_key_prefix: row.get("actor_key_prefix"),
            agent: row.get::<Option<Uuid>, _>("agent_id").map(AgentId::from_uuid),
            resource: row.get("resource"),
            ip: row.get::<Option<&str>, _>("ip").map(|ip| ip.parse().unwrap()),
            status: row.get::<i32, _>("status").try_into().unwrap(),
            method: row.get("method"),
            path: row.get("path"),
            duration: SignedDuration::micros(row.get("duration_us")),
            request: RequestId::from_uuid(row.get("request_id")),
            created_at: Timestamp::from_micros(row.get("created_at")),
        });
        entries.collect()
    }

    async fn used(&self, org: OrgId, metric: Metric, period: Period) -> u64 {
        let used: Option<i64> =
            sqlx::query_scalar("SELECT used FROM usage_counters WHERE org_id = $1 AND metric = $2 AND period = $3")
                .bind(org.uuid())
                .bind(metric.as_str())
                .bind(period.number())
                .fetch_optional(&self.pool)
                .await
                .unwrap();
        used.unwrap_or(0).try_into().unwrap()
    }

    async fn indexed_entries(&self, org: OrgId) -> usize {
        let count = sqlx::query_scalar("SELECT count(*) FROM event_metadata WHERE org_id = $1").bind(org.uuid());
        let count: i64 = count.fetch_one(&self.pool).await.unwrap();
        count.try_into().unwrap()
    }

    async fn unindex(&self, org: OrgId) {
        for statement in [
            "UPDATE events SET indexed_version = NULL WHERE org_id = $1",
            "UPDATE event_metadata SET digest = digest + 1 WHERE org_id = $1",
        ] {
            sqlx::query(statement).bind(org.uuid()).execute(&self.pool).await.unwrap();
        }
    }

    async fn answers(&self) -> usize {
        self.count("SELECT count(*) FROM idempotent_answers").await.try_into().unwrap()
    }
}
