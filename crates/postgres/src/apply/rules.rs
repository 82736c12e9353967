//! Availability rules. Their calendars are locked, and were visible when their revisions were raised.

use kalends_calendars::{AvailabilityRules, Change};
use kalends_kernel::Version;
use kalends_rows::SealedChangeSet;
use sqlx::PgConnection;

use crate::error::{ApplyError, all_written, failed};

/// Writes and removes rules. Refuses as stale if the rules have another version than the one that was seen, or if they
/// exist though none were seen.
pub(crate) async fn apply(connection: &mut PgConnection, batch: &[SealedChangeSet]) -> Result<(), ApplyError> {
    for change in batch.iter().flat_map(|sealed| &sealed.changes().calendars) {
        match change {
            Change::PutRules { rules, seen: None } => create(connection, rules).await?,
            Change::PutRules { rules, seen: Some(seen) } => replace(connection, rules, *seen).await?,
            Change::DeleteRules(rules) => delete(connection, rules).await?,
            _ => continue,
        }
        if let Change::PutRules { rules, .. } | Change::DeleteRules(rules) = change {
            stamp(connection, rules).await?;
        }
    }
    Ok(())
}

/// Records the revision of the calendar at which its rules changed.
async fn stamp(connection: &mut PgConnection, rules: &AvailabilityRules) -> Result<(), ApplyError> {
    sqlx::query!(
        "UPDATE calendars SET rules_revision = revision WHERE org_id = $1 AND id = $2",
        rules.org.uuid(),
        rules.calendar.uuid(),
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// The rules as the JSON document that the column holds.
fn document(rules: &AvailabilityRules) -> Result<String, ApplyError> {
    Ok(kalends_calendars::rules_document(&rules.rules).map_err(failed)?)
}

async fn create(connection: &mut PgConnection, rules: &AvailabilityRules) -> Result<(), ApplyError> {
    let written = sqlx::query!(
        "INSERT INTO availability_rules (org_id, calendar_id, id, rules, version, created_at, updated_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7)
         ON CONFLICT (org_id, calendar_id) DO NOTHING",
        rules.org.uuid(),
        rules.calendar.uuid(),
        rules.id.uuid(),
        document(rules)?,
        rules.version.0,
        rules.created_at.as_micros(),
        rules.updated_at.as_micros(),
    )
    .execute(connection)
    .await?;
    all_written(written.rows_affected(), 1)
}

async fn replace(connection: &mut PgConnection, rules: &AvailabilityRules, seen: Version) -> Result<(), ApplyError> {
    let written = sqlx::query!(
        "UPDATE availability_rules SET rules = $4, version = $5, updated_at = $6
         WHERE org_id = $1 AND calendar_id = $2 AND version = $3",
        rules.org.uuid(),
        rules.calendar.uuid(),
        seen.0,
        document(rules)?,
        rules.version.0,
        rules.updated_at.as_micros(),
    )
    .execute(connection)
    .await?;
    all_written(written.rows_affected(), 1)
}

async fn delete(connection: &mut PgConnection, rules: &AvailabilityRules) -> Result<(), ApplyError> {
    let written = sqlx::query!(
        "DELETE FROM availability_rules WHERE org_id = $1 AND calendar_id = $2 AND id = $3 AND version = $4",
        rules.org.uuid(),
        rules.calendar.uuid(),
        rules.id.uuid(),
        rules.version.0,
    )
    .execute(connection)
    .await?;
    all_written(written.rows_affected(), 1)
}
