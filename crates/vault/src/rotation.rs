//! Rotation: a new master key and a new data key under it, while nodes are running.

use std::{fmt, time::Duration};

use async_trait::async_trait;
use kalends_app::ports::{DataKeyState, KeyTable, Reseal, WrappedDataKey};
use kalends_kernel::DataKeyId;
use kalends_time::SignedDuration;

use crate::{KeyRing, VaultError, data_key};

/// How long a rotation waits after a change of the key table. Nodes see the change within 2 s. One second is a margin.
pub const SETTLE: Duration = Duration::from_secs(3);
/// How many values are sealed again at a time.
const BATCH: u32 = 500;

/// Waits long enough for every running node to read the key table again.
#[async_trait]
pub trait Pause: Send + Sync {
    /// Returns after [`SETTLE`]. In tests, nodes refresh instead.
    async fn pause(&self);
}

/// The progress of a rotation, for the operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RotationStep {
    /// The only data key is already wrapped under the new master key, so there is nothing to do.
    NothingToDo(DataKeyId),
    /// An interrupted rotation is continued with its data key.
    Resumed(DataKeyId),
    /// A new data key has been published for reading.
    Published(DataKeyId),
    /// This many data keys have been wrapped under the new master key.
    Rewrapped(usize),
    /// New values are now sealed under the new data key.
    Writing(DataKeyId),
    /// This many values have been checked and sealed again if needed.
    Resealed(u64),
    /// This many data keys that an earlier rotation retired have been removed.
    Removed(usize),
}

impl fmt::Display for RotationStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NothingToDo(key) => write!(
                f,
                "nothing to do: everything is sealed under the data key {key}, which the new master key wraps"
            ),
            Self::Resumed(key) => write!(f, "continuing an interrupted rotation with the data key {key}"),
            Self::Published(key) => write!(f, "published the data key {key} for reading"),
            Self::Rewrapped(count) => write!(f, "wrapped {count} data keys under the new master key"),
            Self::Writing(key) => write!(f, "sealing new values with the data key {key}"),
            Self::Resealed(count) => write!(f, "checked {count} values and resealed them as needed"),
            Self::Removed(count) => write!(f, "removed {count} old data keys"),
        }
    }
}

/// Replaces the data keys with a new one under the current master key, so that nothing depends on the old master key
/// any more. `ring` must know both master keys, and so must every node before this is called.
///
/// A rotation may be interrupted at any point and started again. Nodes may read and write throughout. The steps are:
///
/// 1. A new data key is published for reading, under the new master key. This happens before the rewrapping because it
///    marks the rotation: a repeated call that finds the newest data key under the current master key continues with
///    that key.
/// 2. All other data keys are rewrapped under the new master key.
/// 3. After a pause, every node can open values that are sealed under the new data key. This key becomes the writing
///    key.
/// 4. After another pause, no node seals under an old key. `reseal` then seals the remaining values again, until it
///    finds none in two runs in a row. There is a pause between these two, because a slow transaction may have been in
///    progress. The table then records that every value is sealed with the writing key.
/// 5. Data keys that were retired before this rotation are removed. The key that this rotation retires stays until the
///    next rotation, which seals everything again: a slow transaction may still write a value that was sealed under
///    it, and a node that could not read the table or the new key may still seal under it.
///
/// # Errors
/// [`VaultError`]. Completed steps stay, and a repeated call continues.
pub async fn rotate(
    ring: &KeyRing,
    reseal: &dyn Reseal,
    pause: &dyn Pause,
    progress: &mut (dyn FnMut(RotationStep) + Send),
) -> Result<(), VaultError> {
    let table = ring.table();
    let masters = ring.masters().await?;
    let rows = table.data_keys().await?;
    let newest = rows.last().ok_or(VaultError::NoWritingKey)?;
    let wrote = rows.iter().find(|row| row.state == DataKeyState::Writing).map(|row| row.id);

    let fresh = if newest.master == masters.current().fingerprint {
        if rows.len() == 1 {
            progress(RotationStep::NothingToDo(newest.id));
            return Ok(());
        }
        progress(RotationStep::Resumed(newest.id));
        newest.id
    } else {
        // The new key must be the newest one regardless of clocks, because that is how a repeated call finds it.
        let now = ring.clock().now().max(newest.created_at + SignedDuration::micros(1));
        let key = data_key::generate(&masters, DataKeyState::Reading, now, ring.entropy())?;
        table.add_data_key(&key, false).await?;
        progress(RotationStep::Published(key.id));
        key.id
    };

    let mut rewrapped = 0;
    for row in rows.iter().filter(|row| row.master != masters.current().fingerprint) {
        let wrapped = data_key::rewrap(row, &masters, ring.entropy())?;
        table.rewrap(row.id, &masters.current().fingerprint, &wrapped).await?;
        rewrapped += 1;
    }
    progress(RotationStep::Rewrapped(rewrapped));

    pause.pause().await;
    table.write_with(fresh).await?;
    ring.refresh().await?;
    progress(RotationStep::Writing(fresh));

    pause.pause().await;
    reseal_all(reseal, pause, progress).await?;
    if !table.record_resealed(fresh, ring.clock().now()).await? {
        return Err(VaultError::RotatedElsewhere);
    }

    let mut old = older_than(fresh, table).await?;
    old.pop();
    old.retain(|key| Some(*key) != wrote);
    for key in &old {
        table.remove_data_key(*key).await?;
    }
    ring.refresh().await?;
    progress(RotationStep::Removed(old.len()));
    Ok(())
}

/// Seals values again until none is left in two runs in a row.
async fn reseal_all(
    reseal: &dyn Reseal,
    pause: &dyn Pause,
    progress: &mut (dyn FnMut(RotationStep) + Send),
) -> Result<(), VaultError> {
    let mut looked_at = 0;
    let mut empty = 0;
    while empty < 2 {
        match reseal.reseal(BATCH).await? {
            0 => {
                empty += 1;
                if empty == 1 {
                    pause.pause().await;
                }
            }
            some => {
                empty = 0;
                looked_at += some;
                progress(RotationStep::Resealed(looked_at));
            }
        }
    }
    Ok(())
}

/// The data keys older than `fresh`, provided that it is still the writing key. Newer keys belong to another rotation.
async fn older_than(fresh: DataKeyId, table: &dyn KeyTable) -> Result<Vec<DataKeyId>, VaultError> {
    let rows = table.data_keys().await?;
    let writes = |row: &WrappedDataKey| row.id == fresh && row.state == DataKeyState::Writing;
    if !rows.iter().any(writes) {
        return Err(VaultError::RotatedElsewhere);
    }
    Ok(rows.iter().take_while(|row| row.id != fresh).map(|row| row.id).collect())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use kalends_app::ports::{FieldCipher, KeyTable};

    use super::*;
    use crate::stand_ins::{MemoryTable, Node, SealedRows, ring, run};

    /// The table, a node that knows both master keys, and rows that it sealed under the old one.
    async fn sealed_under_a() -> (Arc<MemoryTable>, Node, Arc<SealedRows>) {
        let table = Arc::new(MemoryTable::default());
        ring(&table, "a").await.unwrap();
        let rows = Arc::new(SealedRows::default());
        let node = Node::new(ring(&table, "ba").await.unwrap(), Arc::clone(&rows), Arc::clone(&table));
        for text in ["one", "two", "three", "", "five"] {
            rows.put(&node.ring, text);
        }
        (table, node, rows)
    }

    /// Checks that everything opens, is sealed under one data key, and depends only on the master key `b`.
    async fn assert_rotated(table: &Arc<MemoryTable>, rows: &SealedRows) {
        let ring = ring(table, "b").await.unwrap();
        assert_eq!(table.data_keys().await.unwrap().len(), 2, "the new data key and the retired one");
        rows.assert_all_open(&ring);
        assert!(all_resealed(rows, &ring));
        assert!(records_the_end(table).await);
    }

    fn all_resealed(rows: &SealedRows, ring: &KeyRing) -> bool {
        rows.sealed().iter().all(|sealed| sealed.starts_with(&ring.writing_prefix()))
    }

    /// Whether the table says that every value is sealed with the writing key.
    async fn records_the_end(table: &Arc<MemoryTable>) -> bool {
        let keys = table.data_keys().await.unwrap();
        keys.iter().any(|key| key.state == DataKeyState::Writing && key.resealed_at.is_some())
    }

    #[test]
    fn a_node_reads_and_writes_during_a_rotation() {
        run(async {
            let (table, node, rows) = sealed_under_a().await;
            let operator = ring(&table, "ba").await.unwrap();
            let mut steps = Vec::new();
            rotate(&operator, &rows.resealer(&operator, &table), &node, &mut |step| steps.push(step)).await.unwrap();
            assert_rotated(&table, &rows).await;
            assert!(matches!(
                steps[..3],
                [RotationStep::Published(_), RotationStep::Rewrapped(1), RotationStep::Writing(_)]
            ));
            assert_eq!(steps.last(), Some(&RotationStep::Removed(0)));
            // A second rotation only has to seal the values that were written in the meantime.
            rotate(&operator, &rows.resealer(&operator, &table), &node, &mut |_| {}).await.unwrap();
            assert_rotated(&table, &rows).await;
        });
    }

    #[test]
    fn an_interrupted_rotation_can_be_continued_after_any_step() {
        run(async {
            let (mut interruptions, mut ends_recorded, mut ends_missing) = (0, 0, 0);
            loop {
                let (table, node, rows) = sealed_under_a().await;
                let operator = ring(&table, "ba").await.unwrap();
                table.fail_after(interruptions);
                let done = rotate(&operator, &rows.resealer(&operator, &table), &node, &mut |_| {}).await;
                table.heal();
                // A node that starts now and a node that is running can both read everything.
                let started = ring(&table, "ba").await.unwrap();
                rows.assert_all_open(&started);
                let recorded = records_the_end(&table).await;
                assert!(!recorded || all_resealed(&rows, &started), "recorded after {interruptions} accesses");
                ends_recorded += usize::from(recorded);
                ends_missing += usize::from(!recorded);
                node.pause().await;
                if done.is_ok() {
                    break;
                }
                let again = ring(&table, "ba").await.unwrap();
                rotate(&again, &rows.resealer(&again, &table), &node, &mut |_| {}).await.unwrap();
                assert_rotated(&table, &rows).await;
                interruptions += 1;
            }
            assert!(interruptions >= 8, "every access to the table must have been interrupted, got {interruptions}");
            assert!(ends_recorded > 0 && ends_missing > 2, "{ends_missing} interruptions while values were resealed");
        });
    }

    #[test]
    fn a_rotation_to_a_third_master_key_starts_over() {
        run(async {
            for interruptions in 0..12 {
                let (table, node, rows) = sealed_under_a().await;
                let operator = ring(&table, "ba").await.unwrap();
                table.fail_after(interruptions);
                let _ = rotate(&operator, &rows.resealer(&operator, &table), &node, &mut |_| {}).await;
                table.heal();
                let before = table.data_keys().await.unwrap();
                if before.iter().any(|key| crate::stand_ins::masters("cb").find(&key.master).is_none()) {
                    // The old master key is still needed, so the operator must finish that rotation first.
                    assert!(ring(&table, "cb").await.is_err());
                    continue;
                }
                let third = ring(&table, "cb").await.unwrap();
                let node = Node::new(ring(&table, "cb").await.unwrap(), Arc::clone(&rows), Arc::clone(&table));
                rotate(&third, &rows.resealer(&third, &table), &node, &mut |_| {}).await.unwrap();
                let after = table.data_keys().await.unwrap();
                assert!(after.iter().all(|key| crate::stand_ins::masters("c").find(&key.master).is_some()));
                let newest = after.last().unwrap();
                assert!(before.iter().all(|key| key.id != newest.id), "the writing key was never wrapped by b");
                assert!(after.len() <= before.len() + 1);
                rows.assert_all_open(&ring(&table, "c").await.unwrap());
            }
        });
    }

    #[test]
    fn a_value_that_is_written_late_is_sealed_again() {
        run(async {
            let (table, node, rows) = sealed_under_a().await;
            let late = node.ring.seal(rows.next_place(), b"late");
            let node = node.bringing(late, 3);
            let operator = ring(&table, "ba").await.unwrap();
            rotate(&operator, &rows.resealer(&operator, &table), &node, &mut |_| {}).await.unwrap();
            assert_rotated(&table, &rows).await;
            assert_eq!(rows.sealed().len(), 5 + 1 + node.pauses());
        });
    }

    #[test]
    fn a_concurrent_rotation_is_detected() {
        run(async {
            let (table, node, rows) = sealed_under_a().await;
            let operator = ring(&table, "ba").await.unwrap();
            let old = table.data_keys().await.unwrap()[0].id;
            let node = node.disturbing(old, 3);
            let error = rotate(&operator, &rows.resealer(&operator, &table), &node, &mut |_| {}).await.unwrap_err();
            assert!(matches!(error, VaultError::RotatedElsewhere), "{error}");
            let keys = table.data_keys().await.unwrap();
            assert_eq!(keys.len(), 2, "no key is removed");
            assert!(keys.iter().all(|key| key.resealed_at.is_none()), "{keys:?}");
        });
    }
}
