//! The data keys of a process.

use std::{
    fmt,
    sync::{Arc, PoisonError, RwLock},
};

use kalends_app::ports::{DataKeyState, FieldCipher, KeyTable, OpenError, Place, WrappedDataKey};
use kalends_kernel::Entropy;
use kalends_time::Clock;
use tokio::sync::{Mutex, Notify};

use crate::{MasterKeys, MasterSource, VaultError, data_key, data_key::DataKey, sealed};

/// The data keys of a process at one time.
struct Keys {
    /// One key until the first rotation, then two: the writing key and the retired one. There is one more during a
    /// rotation.
    all: Vec<Arc<DataKey>>,
    writing: Arc<DataKey>,
}

impl Keys {
    fn find(&self, name: &str) -> Option<&Arc<DataKey>> {
        // Most values are sealed under the writing key.
        if self.writing.name == name {
            return Some(&self.writing);
        }
        self.all.iter().find(|key| key.name == name)
    }
}

/// The data keys of this process: its [`FieldCipher`].
///
/// The ring is a copy of the key table. [`KeyRing::refresh`] updates it. A node refreshes twice a second and whenever
/// [`KeyRing::nudged`] returns. Opening a value whose key is not in the ring fails at once with
/// [`OpenError::UnknownKey`]. It also makes [`KeyRing::nudged`] return, so that the next attempt succeeds. A rotation
/// publishes a key for reading long before anything is sealed under it, so this happens only on a node that could not
/// refresh.
pub struct KeyRing {
    table: Arc<dyn KeyTable>,
    source: Arc<dyn MasterSource>,
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
    keys: RwLock<Arc<Keys>>,
    /// The master keys as last read. The lock is held during a refresh, so only one refresh runs at a time.
    masters: Mutex<MasterKeys>,
    nudge: Notify,
}

impl fmt::Debug for KeyRing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeyRing(…)")
    }
}

impl KeyRing {
    /// Reads the key table, and generates the first data key if the table is empty. Nodes that start at the same time
    /// agree on that key, because the table accepts only one first key.
    ///
    /// # Errors
    /// [`VaultError`], which says what an operator can do.
    pub async fn open(
        table: Arc<dyn KeyTable>,
        source: Arc<dyn MasterSource>,
        clock: Arc<dyn Clock>,
        entropy: Arc<dyn Entropy>,
    ) -> Result<Arc<Self>, VaultError> {
        let mut masters = source.masters().await?;
        let mut rows = table.data_keys().await?;
        if rows.is_empty() {
            let first = data_key::generate(&masters, DataKeyState::Writing, clock.now(), &*entropy)?;
            table.add_data_key(&first, true).await?;
            rows = table.data_keys().await?;
        }
        let keys = read(&rows, None, &mut masters, &*source).await?;
        Ok(Arc::new(Self {
            table,
            source,
            clock,
            entropy,
            keys: RwLock::new(Arc::new(keys)),
            masters: Mutex::new(masters),
            nudge: Notify::new(),
        }))
    }

    /// Reads the key table again. If that fails, the ring stays as it was.
    ///
    /// # Errors
    /// As [`KeyRing::open`].
    pub async fn refresh(&self) -> Result<(), VaultError> {
        let mut masters = self.masters.lock().await;
        let rows = self.table.data_keys().await?;
        let present = self.present();
        let keys = read(&rows, Some(&present), &mut masters, &*self.source).await?;
        *self.keys.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(keys);
        Ok(())
    }

    /// Waits until opening a value fails because its key is not in the ring.
    pub async fn nudged(&self) {
        self.nudge.notified().await;
    }

    pub(crate) fn table(&self) -> &dyn KeyTable {
        &*self.table
    }

    pub(crate) fn clock(&self) -> &dyn Clock {
        &*self.clock
    }

    pub(crate) fn entropy(&self) -> &dyn Entropy {
        &*self.entropy
    }

    /// The master keys, read again from their source.
    pub(crate) async fn masters(&self) -> Result<MasterKeys, VaultError> {
        let mut masters = self.masters.lock().await;
        *masters = self.source.masters().await?;
        Ok(masters.clone())
    }

    fn present(&self) -> Arc<Keys> {
        Arc::clone(&self.keys.read().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Reads the keys of a table. Those in `known` are not unwrapped again: rewrapping does not change a key, so a node
/// keeps working during a rotation. If a master key is missing, the master keys are read from `source` again.
async fn read(
    rows: &[WrappedDataKey],
    known: Option<&Keys>,
    masters: &mut MasterKeys,
    source: &dyn MasterSource,
) -> Result<Keys, VaultError> {
    let mut all = Vec::with_capacity(rows.len());
    let mut writing = None;
    for row in rows {
        let held = known.and_then(|known| known.all.iter().find(|key| key.id == row.id));
        let key = match held {
            Some(key) => Arc::clone(key),
            None => {
                if masters.find(&row.master).is_none() {
                    *masters = source.masters().await?;
                }
                Arc::new(data_key::unwrap(row, masters)?)
            }
        };
        if row.state == DataKeyState::Writing {
            writing = Some(Arc::clone(&key));
        }
        all.push(key);
    }
    Ok(Keys { all, writing: writing.ok_or(VaultError::NoWritingKey)? })
}

impl FieldCipher for KeyRing {
    fn seal(&self, place: Place, plain: &[u8]) -> String {
        sealed::seal(&self.present().writing, place, plain, &*self.entropy)
    }

    fn open(&self, place: Place, value: &str) -> Result<Vec<u8>, OpenError> {
        let (name, value) = sealed::parse(value)?;
        let keys = self.present();
        let Some(key) = keys.find(name) else {
            let error = sealed::unknown(name);
            if matches!(error, OpenError::UnknownKey(_)) {
                self.nudge.notify_one();
            }
            return Err(error);
        };
        sealed::open(key, place, value)
    }

    fn writing_prefix(&self) -> String {
        format!("{}{}.", data_key::VERSION, self.present().writing.name)
    }

    fn digest(&self, plain: &[u8]) -> i64 {
        self.present().writing.digest(plain)
    }

    fn digests(&self, plain: &[u8]) -> Vec<i64> {
        self.present().all.iter().map(|key| key.digest(plain)).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;
    use rstest::rstest;
    use uuid::Uuid;

    use super::*;
    use crate::stand_ins::{MemoryTable, StillClock, ring, run};

    const PLACE: Place = Place { table: "events", column: "content", id: Uuid::from_u128(7) };

    #[test]
    fn the_first_start_generates_a_writing_key_that_later_starts_keep() {
        run(async {
            let table = Arc::new(MemoryTable::default());
            let first = ring(&table, "a").await.unwrap();
            let second = ring(&table, "a").await.unwrap();
            assert_eq!(first.writing_prefix(), second.writing_prefix());
            assert!(first.seal(PLACE, b"x").starts_with(&first.writing_prefix()));
            assert_eq!(second.open(PLACE, &first.seal(PLACE, b"text")).unwrap(), b"text");
        });
    }

    #[test]
    fn nodes_that_start_together_agree_on_the_first_key() {
        run(async {
            let table = Arc::new(MemoryTable::default());
            // The table looks empty to both nodes. One of the additions is refused.
            table.hide_next(2);
            let (a, b) = (ring(&table, "a").await.unwrap(), ring(&table, "a").await.unwrap());
            assert_eq!(a.writing_prefix(), b.writing_prefix());
        });
    }

    #[test]
    fn another_master_key_is_an_error() {
        run(async {
            let table = Arc::new(MemoryTable::default());
            ring(&table, "a").await.unwrap();
            let error = ring(&table, "b").await.err().unwrap();
            assert!(matches!(error, VaultError::UnknownMaster { .. }), "{error}");
        });
    }

    #[test]
    fn an_unknown_key_nudges_the_refresh_that_finds_it() {
        run(async {
            let table = Arc::new(MemoryTable::default());
            let node = ring(&table, "a").await.unwrap();
            let other = data_key::generate(
                &crate::stand_ins::masters("a"),
                DataKeyState::Reading,
                StillClock.now(),
                &crate::stand_ins::SeededEntropy::default(),
            )
            .unwrap();
            table.add_data_key(&other, false).await.unwrap();
            table.write_with(other.id).await.unwrap();
            let writer = ring(&table, "a").await.unwrap();
            let value = writer.seal(PLACE, b"text");
            assert_eq!(node.open(PLACE, &value), Err(OpenError::UnknownKey(other.id.to_string())));
            tokio::time::timeout(Duration::from_secs(30), node.nudged()).await.unwrap();
            node.refresh().await.unwrap();
            assert_eq!(node.open(PLACE, &value).unwrap(), b"text");
            assert_eq!(node.writing_prefix(), writer.writing_prefix());
        });
    }

    #[test]
    fn a_failed_refresh_keeps_the_keys() {
        run(async {
            let table = Arc::new(MemoryTable::default());
            let node = ring(&table, "a").await.unwrap();
            let value = node.seal(PLACE, b"text");
            table.fail_after(0);
            assert!(node.refresh().await.is_err());
            assert_eq!(node.open(PLACE, &value).unwrap(), b"text");
        });
    }

    #[test]
    fn a_digest_is_found_under_every_key_of_the_ring() {
        run(async {
            let table = Arc::new(MemoryTable::default());
            let before = ring(&table, "a").await.unwrap();
            let (old, other) = (before.digest(b"text"), before.digest(b"texts"));
            assert_ne!(old, other);
            assert_eq!(before.digests(b"text"), [old]);
            let entropy = crate::stand_ins::SeededEntropy::default();
            let masters = crate::stand_ins::masters("a");
            let next = data_key::generate(&masters, DataKeyState::Reading, StillClock.now(), &entropy).unwrap();
            table.add_data_key(&next, false).await.unwrap();
            table.write_with(next.id).await.unwrap();
            let after = ring(&table, "a").await.unwrap();
            assert_ne!(after.digest(b"text"), old, "the hash depends on the key");
            let found = after.digests(b"text");
            assert!(found.len() == 2 && found.contains(&old) && found.contains(&after.digest(b"text")), "{found:?}");
            assert!(after.digests(b"").iter().all(|digest| !found.contains(digest)));
        });
    }

    fn one_ring() -> Arc<KeyRing> {
        run(async { ring(&Arc::new(MemoryTable::default()), "a").await.unwrap() })
    }

    #[rstest]
    #[case::another_table(Place { table: "outbox", ..PLACE })]
    #[case::another_column(Place { column: "payload", ..PLACE })]
    #[case::another_row(Place { id: Uuid::from_u128(8), ..PLACE })]
    fn a_moved_value_does_not_open(#[case] place: Place) {
        let ring = one_ring();
        assert_eq!(ring.open(place, &ring.seal(PLACE, b"text")), Err(OpenError::Forged));
    }

    #[test]
    fn other_texts_are_malformed() {
        let ring = one_ring();
        let prefix = ring.writing_prefix();
        let some_id = kalends_kernel::DataKeyId::from_uuid(Uuid::from_u128(1));
        for value in
            ["", "v1", "v1.", "v1..", "v1.x.AAAA", "v2.a.b", &prefix, &format!("{prefix}AAAA"), &format!("{prefix}%%")]
        {
            assert_eq!(ring.open(PLACE, value), Err(OpenError::Malformed), "{value}");
        }
        assert_eq!(ring.open(PLACE, &format!("v1.{some_id}.AAAA")), Err(OpenError::UnknownKey(some_id.to_string())));
    }

    proptest! {
        /// A sealed value opens to what was sealed, and no two sealed values are equal.
        #[test]
        fn a_sealed_value_opens(plain in proptest::collection::vec(any::<u8>(), 0..2_000)) {
            let ring = one_ring();
            let (one, two) = (ring.seal(PLACE, &plain), ring.seal(PLACE, &plain));
            prop_assert_ne!(&one, &two, "nonces differ");
            prop_assert_eq!(one.len(), one.capacity());
            prop_assert_eq!(ring.open(PLACE, &one).unwrap(), plain);
        }

        /// A sealed value that was altered or cut does not open.
        #[test]
        fn an_altered_or_cut_value_never_opens(plain in ".{0,40}", at: proptest::sample::Index, with in "[A-Za-z0-9_.-]") {
            let ring = one_ring();
            let value = ring.seal(PLACE, plain.as_bytes());
            let at = at.index(value.len());
            let mut altered = value.clone();
            altered.replace_range(at..=at, &with);
            if altered != value {
                prop_assert!(ring.open(PLACE, &altered).is_err());
            }
            prop_assert!(ring.open(PLACE, &value[..at]).is_err());
        }
    }
}
