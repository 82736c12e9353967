//! Stand-ins for the ports, for the tests of this crate.

use std::{
    future::Future,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
};

use async_trait::async_trait;
use base64::{Engine, prelude::BASE64_STANDARD};
use kalends_app::ports::{DataKeyState, FieldCipher, KeyTable, Place, Reseal, WrappedDataKey};
use kalends_kernel::{DataKeyId, Entropy, StoreError};
use kalends_time::{Clock, Timestamp};
use uuid::Uuid;

use crate::{KeyRing, MasterKeys, Pause, VaultError};

pub(crate) fn run<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(work)
}

/// Master keys named by letters: `"ba"` is the new key b and the old key a.
pub(crate) fn masters(letters: &str) -> MasterKeys {
    let keys = letters.bytes().map(|letter| BASE64_STANDARD.encode([letter; 32])).collect::<Vec<_>>();
    MasterKeys::parse(&keys.join(",")).unwrap()
}

/// Bytes that never repeat.
#[derive(Default)]
pub(crate) struct SeededEntropy(AtomicU64);

static SEED: AtomicU64 = AtomicU64::new(0);

impl Entropy for SeededEntropy {
    fn fill(&self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(8) {
            let mut value = SEED.fetch_add(1, Ordering::Relaxed).wrapping_add(self.0.fetch_add(1, Ordering::Relaxed));
            value = value.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x1234_5678;
            chunk.copy_from_slice(&value.to_le_bytes()[..chunk.len()]);
        }
    }
}

/// A clock that stands still. Keys generated one after another still have an order.
pub(crate) struct StillClock;

impl Clock for StillClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(1_790_000_000_000_000)
    }
}

pub(crate) async fn ring(table: &Arc<MemoryTable>, letters: &str) -> Result<Arc<KeyRing>, VaultError> {
    let table = Arc::clone(table) as Arc<dyn KeyTable>;
    KeyRing::open(table, Arc::new(masters(letters)), Arc::new(StillClock), Arc::new(SeededEntropy::default())).await
}

/// A key table in memory that can be made to fail.
#[derive(Default)]
pub(crate) struct MemoryTable {
    keys: Mutex<Vec<WrappedDataKey>>,
    calls_left: Mutex<Option<u32>>,
    hidden: AtomicUsize,
}

impl MemoryTable {
    /// Fails every access after `calls` accesses.
    pub(crate) fn fail_after(&self, calls: u32) {
        *self.calls_left.lock().unwrap() = Some(calls);
    }

    pub(crate) fn heal(&self) {
        *self.calls_left.lock().unwrap() = None;
    }

    /// Returns an empty table on the first of every two reads, for `reads` pairs of reads.
    pub(crate) fn hide_next(&self, reads: usize) {
        self.hidden.store(reads * 2, Ordering::Relaxed);
    }

    pub(crate) fn check(&self) -> Result<(), StoreError> {
        match &mut *self.calls_left.lock().unwrap() {
            Some(0) => Err(StoreError::Failed("failed by the test".into())),
            Some(left) => {
                *left -= 1;
                Ok(())
            }
            None => Ok(()),
        }
    }
}

#[async_trait]
impl KeyTable for MemoryTable {
    async fn data_keys(&self) -> Result<Vec<WrappedDataKey>, StoreError> {
        self.check()?;
        let hidden = self.hidden.load(Ordering::Relaxed);
        if hidden > 0 {
            self.hidden.store(hidden - 1, Ordering::Relaxed);
            if hidden.is_multiple_of(2) {
                return Ok(Vec::new());
            }
        }
        let mut keys = self.keys.lock().unwrap().clone();
        keys.sort_by_key(|key| (key.created_at, key.id));
        Ok(keys)
    }

    async fn add_data_key(&self, key: &WrappedDataKey, only_if_empty: bool) -> Result<bool, StoreError> {
        self.check()?;
        let mut keys = self.keys.lock().unwrap();
        if only_if_empty && !keys.is_empty() {
            return Ok(false);
        }
        keys.push(key.clone());
        Ok(true)
    }

    async fn write_with(&self, id: DataKeyId) -> Result<(), StoreError> {
        self.check()?;
        for key in self.keys.lock().unwrap().iter_mut() {
            if key.id == id && key.state == DataKeyState::Reading {
                key.resealed_at = None;
            }
            key.state = if key.id == id { DataKeyState::Writing } else { DataKeyState::Reading };
        }
        Ok(())
    }

    async fn record_resealed(&self, id: DataKeyId, at: Timestamp) -> Result<bool, StoreError> {
        self.check()?;
        let mut keys = self.keys.lock().unwrap();
        let writing = keys.iter_mut().find(|key| key.id == id && key.state == DataKeyState::Writing);
        Ok(writing.map(|key| key.resealed_at = Some(at)).is_some())
    }

    async fn rewrap(&self, id: DataKeyId, master: &str, wrapped: &str) -> Result<(), StoreError> {
        self.check()?;
        for key in self.keys.lock().unwrap().iter_mut().filter(|key| key.id == id) {
            key.master = master.to_owned();
            key.wrapped = wrapped.to_owned();
        }
        Ok(())
    }

    async fn remove_data_key(&self, id: DataKeyId) -> Result<(), StoreError> {
        self.check()?;
        self.keys.lock().unwrap().retain(|key| key.id != id);
        Ok(())
    }
}

/// Stored values, each with its plain text.
#[derive(Default)]
pub(crate) struct SealedRows(Mutex<Vec<(String, String)>>);

fn place(index: usize) -> Place {
    Place { table: "events", column: "content", id: Uuid::from_u128(index as u128) }
}

impl SealedRows {
    pub(crate) fn next_place(&self) -> Place {
        place(self.0.lock().unwrap().len())
    }

    pub(crate) fn put(&self, cipher: &KeyRing, text: &str) {
        let mut rows = self.0.lock().unwrap();
        let sealed = cipher.seal(place(rows.len()), text.as_bytes());
        rows.push((sealed, text.to_owned()));
    }

    pub(crate) fn sealed(&self) -> Vec<String> {
        self.0.lock().unwrap().iter().map(|(sealed, _)| sealed.clone()).collect()
    }

    pub(crate) fn assert_all_open(&self, cipher: &KeyRing) {
        for (index, (sealed, text)) in self.0.lock().unwrap().iter().enumerate() {
            assert_eq!(cipher.open(place(index), sealed).as_deref(), Ok(text.as_bytes()));
        }
    }

    /// Seals again with `cipher`. The rows are in the same store as `table`, so both fail together.
    pub(crate) fn resealer<'a>(&'a self, cipher: &'a KeyRing, table: &'a MemoryTable) -> Resealer<'a> {
        Resealer { rows: self, cipher, table }
    }
}

pub(crate) struct Resealer<'a> {
    rows: &'a SealedRows,
    cipher: &'a KeyRing,
    table: &'a MemoryTable,
}

#[async_trait]
impl Reseal for Resealer<'_> {
    async fn reseal(&self, _limit: u32) -> Result<u64, StoreError> {
        self.table.check()?;
        let prefix = self.cipher.writing_prefix();
        let mut looked_at = 0;
        // Two at a time, so that there are several batches.
        for (index, (sealed, text)) in self.rows.0.lock().unwrap().iter_mut().enumerate() {
            if looked_at < 2 && !sealed.starts_with(&prefix) {
                assert_eq!(self.cipher.open(place(index), sealed).as_deref(), Ok(text.as_bytes()));
                *sealed = self.cipher.seal(place(index), text.as_bytes());
                looked_at += 1;
            }
        }
        Ok(looked_at)
    }
}

/// A running node. Whenever a rotation pauses, it refreshes, reads everything and writes one more value.
pub(crate) struct Node {
    pub(crate) ring: Arc<KeyRing>,
    rows: Arc<SealedRows>,
    table: Arc<MemoryTable>,
    pauses: AtomicUsize,
    late: Option<(String, usize)>,
    disturbance: Option<(DataKeyId, usize)>,
}

impl Node {
    pub(crate) fn new(ring: Arc<KeyRing>, rows: Arc<SealedRows>, table: Arc<MemoryTable>) -> Self {
        Self { ring, rows, table, pauses: AtomicUsize::new(0), late: None, disturbance: None }
    }

    /// Stores `sealed`, which opens to `late`, at the given pause.
    pub(crate) fn bringing(self, sealed: String, at: usize) -> Self {
        // The value is sealed for the next place, so the row is added now and gets its value later.
        self.rows.put(&self.ring, "late");
        Self { late: Some((sealed, at)), ..self }
    }

    /// Makes another data key the writing key at the given pause.
    pub(crate) fn disturbing(self, key: DataKeyId, at: usize) -> Self {
        Self { disturbance: Some((key, at)), ..self }
    }

    pub(crate) fn pauses(&self) -> usize {
        self.pauses.load(Ordering::Relaxed)
    }
}

#[async_trait]
impl Pause for Node {
    async fn pause(&self) {
        let pause = self.pauses.fetch_add(1, Ordering::Relaxed) + 1;
        // A node that cannot refresh continues with its current keys.
        let _ = self.ring.refresh().await;
        self.rows.put(&self.ring, "written during the pause");
        if let Some((sealed, at)) = &self.late
            && *at == pause
        {
            let mut rows = self.rows.0.lock().unwrap();
            let row = rows.iter_mut().find(|(_, text)| text == "late").unwrap();
            row.0.clone_from(sealed);
        }
        if let Some((key, at)) = &self.disturbance
            && *at == pause
        {
            let _ = self.table.write_with(*key).await;
        }
        self.rows.assert_all_open(&self.ring);
    }
}
