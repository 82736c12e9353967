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
use sqlx::{Row as _, SqliteConnection};
use tokio::sync::Mutex;
use uuid::Uuid;

pub(crate) struct SqliteInspect {
    connection: Mutex<SqliteConnection>,
    cipher: TestCipher,
}

impl SqliteInspect {
    pub(crate) fn new(connection: SqliteConnection, cipher: TestCipher) -> Self {
        Self { connection: Mutex::new(connection), cipher }
    }
}

#[async_trait]
impl Inspect for SqliteInspect {
    async fn messages(&self, org: OrgId) -> Vec<Message> {
        sqlx::query(
            "select o.id, o.event_type, payload, resource_version, o.created_at, about
             from outbox o left join waiting_messages w
                on w.created_at = o.created_at and w.org_id = o.org_id and w.id = o.id
             where o.org_id = ?1",
        )
        .bind(org.uuid())
        .fetch_all(&mut *self.connection.lock().await)
        .await
        .unwrap()
        .into_iter()
        .map(|row| {
            let id: Uuid = row.get("id");
            let place = Place { table: "outbox", column: "payload", id };
            Message {
                id: MessageId::from_uuid(id),
                org,
                event_type: EventType::from_stored(row.get("event_type")).unwrap(),
                payload: String::from_utf8(self.cipher.open(place, row.get("payload")).unwrap()).unwrap(),
                resource_version: Version(row.get("resource_version")),
                about: row.get::<Option<Uuid>, _>("about").map(WebhookId::from_uuid),
                created_at: Timestamp::from_micros(row.get("created_at")),
            }
        })
        .collect()
    }

    async fn audit_entries(&self, org: OrgId) -> Vec<AuditEntry> {
        sqlx::query("select * from audit_log where org_id = ?1")
            .bind(org.uuid())
            .fetch_all(&mut *self.connection.lock().await)
            .await
            .unwrap()
            .into_iter()
            .map(|row| AuditEntry {
                id: AuditId::from_uuid(row.get("id")),
                org,
                action: Action::from_name(row.get("action")).unwrap(),
                actor_key_prefix: row.get("actor_key_prefix"),
                agent: row.get::<Option<Uuid>, _>("agent_id").map(AgentId::from_uuid),
                resource: row.get("resource"),
                ip: row.get::<Option<String>, _>("ip").map(|ip| ip.parse().unwrap()),
                status: row.get("status"),
                method: row.get("method"),
                path: row.get("path"),
                duration: SignedDuration::micros(row.get("duration_us")),
                request: RequestId::from_uuid(row.get("request_id")),
                created_at: Timestamp::from_micros(row.get("created_at")),
            })
            .collect()
    }

    async fn used(&self, org: OrgId, metric: Metric, period: Period) -> u64 {
        let used: Option<i64> =
            sqlx::query_scalar("select used from usage_counters where org_id = ?1 and metric = ?2 and period = ?3")
                .bind(org.uuid())
                .bind(metric.as_str())
                .bind(period.number())
                .fetch_optional(&mut *self.connection.lock().await)
                .await
                .unwrap();
        used.map_or(0, |used| used.try_into().unwrap())
    }

    async fn indexed_entries(&self, org: OrgId) -> usize {
        let count: i64 = sqlx::query_scalar("select count(*) from event_metadata where org_id = ?1")
            .bind(org.uuid())
            .fetch_one(&mut *self.connection.lock().await)
            .await
            .unwrap();
        count.try_into().unwrap()
    }

    async fn unindex(&self, org: OrgId) {
        for statement in [
            "update events set indexed_version = version - 1 where org_id = ?1",
            "update event_metadata set digest = digest + 1 where org_id = ?1",
        ] {
            let mut connection = self.connection.lock().await;
            sqlx::query(statement).bind(org.uuid()).execute(&mut *connection).await.unwrap();
        }
    }

    async fn answers(&self) -> usize {
        let count: i64 = sqlx::query_scalar("select count(*) from idempotent_answers")
            .fetch_one(&mut *self.connection.lock().await)
            .await
            .unwrap();
        count.try_into().unwrap()
    }
}
