//! The audit entries of change-sets.

use kalends_rows::SealedChangeSet;
use sqlx::PgConnection;
use uuid::Uuid;

use crate::error::ApplyError;

pub(crate) async fn apply(connection: &mut PgConnection, batch: &[SealedChangeSet]) -> Result<(), ApplyError> {
    let entries: Vec<_> = batch.iter().flat_map(|sealed| &sealed.changes().audit).collect();
    if entries.is_empty() {
        return Ok(());
    }
    let orgs: Vec<Uuid> = entries.iter().map(|entry| entry.org.uuid()).collect();
    let ids: Vec<Uuid> = entries.iter().map(|entry| entry.id.uuid()).collect();
    let actions: Vec<&str> = entries.iter().map(|entry| entry.action.as_str()).collect();
    let actors: Vec<Option<&str>> = entries.iter().map(|entry| entry.actor_key_prefix.as_deref()).collect();
    let agents: Vec<Option<Uuid>> = entries.iter().map(|entry| entry.agent.map(|agent| agent.uuid())).collect();
    let resources: Vec<&str> = entries.iter().map(|entry| entry.resource.as_str()).collect();
    let addresses: Vec<Option<String>> = entries.iter().map(|entry| entry.ip.map(|ip| ip.to_string())).collect();
    let statuses: Vec<i32> = entries.iter().map(|entry| i32::from(entry.status)).collect();
    let methods: Vec<&str> = entries.iter().map(|entry| entry.method.as_str()).collect();
    let paths: Vec<&str> = entries.iter().map(|entry| entry.path.as_str()).collect();
    let durations: Vec<i64> = entries.iter().map(|entry| entry.duration.as_micros()).collect();
    let requests: Vec<Uuid> = entries.iter().map(|entry| entry.request.uuid()).collect();
    let created: Vec<i64> = entries.iter().map(|entry| entry.created_at.as_micros()).collect();
    sqlx::query!(
        "INSERT INTO audit_log (org_id, id, action, actor_key_prefix, agent_id, resource, ip, status, method, path,
             duration_us, request_id, created_at)
         SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::uuid[], $6::text[], $7::text[],
             $8::integer[], $9::text[], $10::text[], $11::bigint[], $12::uuid[], $13::bigint[])",
        &orgs,
        &ids,
        &actions as &[&str],
        &actors as &[Option<&str>],
        &agents as &[Option<Uuid>],
        &resources as &[&str],
        &addresses as &[Option<String>],
        &statuses,
        &methods as &[&str],
        &paths as &[&str],
        &durations,
        &requests,
        &created,
    )
    .execute(connection)
    .await?;
    Ok(())
}
