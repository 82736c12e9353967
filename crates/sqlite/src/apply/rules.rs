//! Availability rules. Raising the revision of their calendar has checked that the calendar is visible.

use kalends_calendars::{AvailabilityRules, Change};
use kalends_kernel::Version;
use kalends_rows::SealedChangeSet;
use sqlx::SqliteConnection;

use crate::error::{Failure, fresh};

/// Writes and removes the rules of all change-sets of the group.
///
/// Refuses as stale if the rules have another version than the one that was seen, or if they exist though none were
/// seen.
pub(crate) async fn apply(connection: &mut SqliteConnection, group: &[&SealedChangeSet]) -> Result<(), Failure> {
    for change in group.iter().flat_map(|sealed| &sealed.changes().calendars) {
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
async fn stamp(connection: &mut SqliteConnection, rules: &AvailabilityRules) -> Result<(), Failure> {
    let (org_id, calendar_id) = (rules.org.uuid(), rules.calendar.uuid());
    sqlx::query!("update calendars set rules_revision = revision where org_id = ?1 and id = ?2", org_id, calendar_id)
        .execute(connection)
        .await?;
    Ok(())
}

/// The rules as the JSON document that the column holds.
fn document(rules: &AvailabilityRules) -> Result<String, Failure> {
    Ok(kalends_calendars::rules_document(&rules.rules).map_err(|error| sqlx::Error::Encode(Box::new(error)))?)
}

async fn create(connection: &mut SqliteConnection, rules: &AvailabilityRules) -> Result<(), Failure> {
    let (org_id, calendar_id, id) = (rules.org.uuid(), rules.calendar.uuid(), rules.id.uuid());
    let document = document(rules)?;
    let (created_at, updated_at) = (rules.created_at.as_micros(), rules.updated_at.as_micros());
    let created = sqlx::query!(
        "insert into availability_rules (org_id, calendar_id, id, rules, version, created_at, updated_at)
         values (?1, ?2, ?3, ?4, ?5, ?6, ?7)
         on conflict (org_id, calendar_id) do nothing",
        org_id,
        calendar_id,
        id,
        document,
        rules.version.0,
        created_at,
        updated_at
    )
    .execute(connection)
    .await?;
    fresh(created.rows_affected(), 1)
}

async fn replace(connection: &mut SqliteConnection, rules: &AvailabilityRules, seen: Version) -> Result<(), Failure> {
    let (org_id, calendar_id) = (rules.org.uuid(), rules.calendar.uuid());
    let (document, updated_at) = (document(rules)?, rules.updated_at.as_micros());
    let replaced = sqlx::query!(
        "update availability_rules set rules = ?4, version = ?5, updated_at = ?6
         where org_id = ?1 and calendar_id = ?2 and version = ?3",
        org_id,
        calendar_id,
        seen.0,
        document,
        rules.version.0,
        updated_at
    )
    .execute(connection)
    .await?;
    fresh(replaced.rows_affected(), 1)
}

async fn delete(connection: &mut SqliteConnection, rules: &AvailabilityRules) -> Result<(), Failure> {
    let (org_id, calendar_id, id) = (rules.org.uuid(), rules.calendar.uuid(), rules.id.uuid());
    let deleted = sqlx::query!(
        "delete from availability_rules where org_id = ?1 and calendar_id = ?2 and id = ?3 and version = ?4",
        org_id,
        calendar_id,
        id,
        rules.version.0
    )
    .execute(connection)
    .await?;
    fresh(deleted.rows_affected(), 1)
}
