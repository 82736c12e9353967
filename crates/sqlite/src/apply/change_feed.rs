//! Entries of change feeds.

use std::collections::BTreeMap;

use kalends_app::ports::FieldCipher;
use kalends_kernel::OrgId;
use kalends_rows::{EntriesToPlace, SealedChangeSet};
use sqlx::SqliteConnection;
use uuid::Uuid;

use crate::{
    error::Failure,
    json::{self, Hex},
};

/// Stores the entries of all change-sets of the group whose organizations have a feed.
pub(crate) async fn append(
    connection: &mut SqliteConnection,
    group: &[&SealedChangeSet],
    cipher: &dyn FieldCipher,
) -> Result<(), Failure> {
    let entries = EntriesToPlace::of(group.iter().copied());
    if entries.is_empty() {
        return Ok(());
    }
    let counts: Vec<_> = entries.counts().map(|(org, count)| (Hex(org.uuid()), count)).collect();
    let counts = json::rows(&counts)?;
    let heads = sqlx::query!(
        r#"update or fail change_feed_heads set last_seq = last_seq + (given.value ->> 1) from jsonb_each(?1) given
         where change_feed_heads.org_id = unhex(given.value ->> 0)
         returning org_id as "org_id!: Uuid", last_seq as "last_seq!: i64""#,
        counts
    )
    .fetch_all(&mut *connection)
    .await?;
    if heads.is_empty() {
        return Ok(());
    }
    let ends: BTreeMap<OrgId, i64> =
        heads.into_iter().map(|head| (OrgId::from_uuid(head.org_id), head.last_seq)).collect();
    let rows: Vec<_> = entries
        .placed(&ends, cipher)
        .into_iter()
        .map(|(seq, entry, body)| {
            (
                Hex(entry.org.uuid()),
                Hex(entry.id.uuid()),
                seq,
                entry.change_type,
                entry.version.0,
                body,
                entry.created_at.as_micros(),
            )
        })
        .collect();
    let rows = json::rows(&rows)?;
    sqlx::query!(
        "insert or fail into change_feed (org_id, id, seq, change_type, version, body, created_at)
         select unhex(value ->> 0), unhex(value ->> 1), value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6
         from jsonb_each(?1)",
        rows
    )
    .execute(connection)
    .await?;
    Ok(())
}
