//! Entries of change feeds.

use std::collections::BTreeMap;

use kalends_app::{ChangeSet, ports::FieldCipher};
use kalends_kernel::OrgId;
use kalends_rows::{EntriesToPlace, SealedChangeSet};
use sqlx::PgConnection;
use uuid::Uuid;

use crate::error::ApplyError;

/// Stores the entries of all change-sets whose organizations have a feed.
///
/// All transactions of an organization contend for its head, and hold it until they end. That gives all readers the
/// same order, so this comes last. The heads are locked one by one in the order of the organizations.
///
/// `with_feed` are the organizations of messages that have a feed.
pub(crate) async fn append(
    connection: &mut PgConnection,
    batch: &[SealedChangeSet],
    mut with_feed: Vec<Uuid>,
    cipher: &dyn FieldCipher,
) -> Result<(), ApplyError> {
    let entries = EntriesToPlace::of(batch);
    if entries.is_empty() {
        return Ok(());
    }
    let counts: BTreeMap<Uuid, i64> = entries.counts().map(|(org, count)| (org.uuid(), count)).collect();
    // An organization is locked before its messages are stored, unless the change-set writes the organization itself.
    // A feed starts only under a lock that waits for this one. So what was read after it is true until the commit.
    let is_unknown = |changes: &ChangeSet| {
        changes.messages.is_empty() && !changes.entries.is_empty() || !changes.presumes_organization()
    };
    if batch.iter().any(|sealed| is_unknown(sealed.changes())) {
        let orgs: Vec<Uuid> = counts.keys().copied().collect();
        with_feed = sqlx::query_scalar!("SELECT org_id FROM change_feed_heads WHERE org_id = ANY($1::uuid[])", &orgs)
            .fetch_all(&mut *connection)
            .await?;
    }
    with_feed.sort_unstable();
    let mut ends = BTreeMap::new();
    for org in with_feed {
        let Some(count) = counts.get(&org).copied() else { continue };
        let end = sqlx::query_scalar!(
            "UPDATE change_feed_heads SET last_seq = last_seq + $2 WHERE org_id = $1 RETURNING last_seq",
            org,
            count,
        )
        .fetch_optional(&mut *connection)
        .await?;
        // The feed may have ended in between, because nobody reads it.
        if let Some(end) = end {
            ends.insert(OrgId::from_uuid(org), end);
        }
    }
    let placed = entries.placed(&ends, cipher);
    if placed.is_empty() {
        return Ok(());
    }
    let orgs: Vec<Uuid> = placed.iter().map(|(_, entry, _)| entry.org.uuid()).collect();
    let ids: Vec<Uuid> = placed.iter().map(|(_, entry, _)| entry.id.uuid()).collect();
    let positions: Vec<i64> = placed.iter().map(|(seq, ..)| *seq).collect();
    let types: Vec<&str> = placed.iter().map(|(_, entry, _)| entry.change_type).collect();
    let versions: Vec<i64> = placed.iter().map(|(_, entry, _)| entry.version.0).collect();
    let bodies: Vec<&str> = placed.iter().map(|(.., body)| body.as_str()).collect();
    let created: Vec<i64> = placed.iter().map(|(_, entry, _)| entry.created_at.as_micros()).collect();
    sqlx::query!(
        "INSERT INTO change_feed (org_id, id, seq, change_type, version, body, created_at)
         SELECT * FROM unnest(
             $1::uuid[], $2::uuid[], $3::bigint[], $4::text[], $5::bigint[], $6::text[], $7::bigint[])",
        &orgs,
        &ids,
        &positions,
        &types as &[&str],
        &versions,
        &bodies as &[&str],
        &created,
    )
    .execute(connection)
    .await?;
    Ok(())
}
