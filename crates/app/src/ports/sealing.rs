//! Sealing stored fields, and the keys for it.

use async_trait::async_trait;
use kalends_kernel::{DataKeyId, StoreError};
use kalends_time::Timestamp;
use uuid::Uuid;

/// The location of a sealed value. The seal is bound to it: a value moved elsewhere does not open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// The table.
    pub table: &'static str,
    /// The column.
    pub column: &'static str,
    /// The row.
    pub id: Uuid,
}

/// The prefix of every sealed value, whichever key sealed it.
pub const SEALED: &str = "v1.";

/// Why a sealed value cannot be opened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    /// Not of the form `v1.<key id>.<base64>`.
    #[error("not a sealed value")]
    Malformed,
    /// Sealed under a key that this process does not hold.
    #[error("sealed under the unknown data key {0}")]
    UnknownKey(String),
    /// Altered, or moved from another place.
    #[error("altered, or sealed for another place")]
    Forged,
}

/// Seals fields at rest: `v1.<key id>.<base64 of nonce and ciphertext>`, with the place as associated data.
pub trait FieldCipher: Send + Sync {
    /// Seals `plain` for `place` under the current writing key.
    fn seal(&self, place: Place, plain: &[u8]) -> String;

    /// Opens a value that was sealed for `place`.
    fn open(&self, place: Place, sealed: &str) -> Result<Vec<u8>, OpenError>;

    /// The prefix of every value sealed under the current writing key: `v1.<key id>.`.
    fn writing_prefix(&self) -> String;

    /// A hash of `plain` by which a store finds equal values, keyed with the current writing key. It reveals nothing
    /// without the key, except that equal values have equal hashes.
    fn digest(&self, plain: &[u8]) -> i64;

    /// The hash of `plain` under every key under which a value may be stored.
    fn digests(&self, plain: &[u8]) -> Vec<i64>;
}

/// Whether a data key seals or only opens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DataKeyState {
    /// Opens only: an old key, or a new one that is published so that every node can open what another node will
    /// soon seal.
    Reading,
    /// The key that seals.
    Writing,
}

/// A data key as the key table holds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrappedDataKey {
    /// The identifier, which is part of every value that the key seals.
    pub id: DataKeyId,
    /// The master key that wraps it.
    pub master: String,
    /// The wrapped key.
    pub wrapped: String,
    /// Whether it seals or only opens.
    pub state: DataKeyState,
    /// When it was made.
    pub created_at: Timestamp,
    /// When every value had been sealed with it, since it last became the writing key; `None` if that was not recorded.
    pub resealed_at: Option<Timestamp>,
}

/// The table of data keys.
#[async_trait]
pub trait KeyTable: Send + Sync {
    /// All data keys, the oldest first.
    async fn data_keys(&self) -> Result<Vec<WrappedDataKey>, StoreError>;

    /// Adds a data key. If `only_if_empty` is set and a key exists, changes nothing and returns `false`.
    async fn add_data_key(&self, key: &WrappedDataKey, only_if_empty: bool) -> Result<bool, StoreError>;

    /// Makes `key` the writing key and all others reading keys, in one transaction. If it was a reading key, its
    /// `resealed_at` is removed. That of the others stays.
    async fn write_with(&self, key: DataKeyId) -> Result<(), StoreError>;

    /// Records that every value had been sealed with `key` at `at`. If it is not the writing key, changes nothing and
    /// returns `false`.
    async fn record_resealed(&self, key: DataKeyId, at: Timestamp) -> Result<bool, StoreError>;

    /// Replaces the wrapping of a data key.
    async fn rewrap(&self, key: DataKeyId, master: &str, wrapped: &str) -> Result<(), StoreError>;

    /// Removes a data key under which nothing is sealed any more.
    async fn remove_data_key(&self, key: DataKeyId) -> Result<(), StoreError>;
}

/// Reseals stored fields while the service runs.
#[async_trait]
pub trait Reseal: Send + Sync {
    /// Reseals up to `limit` values that the current writing key did not seal, and returns how many it looked at. 0
    /// means that none is left. A value that changes concurrently is skipped.
    async fn reseal(&self, limit: u32) -> Result<u64, StoreError>;
}

/// A data key as the operator may see it: without the key itself, wrapped or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataKeyView {
    /// The identifier, which is part of every value that the key seals.
    pub id: DataKeyId,
    /// The fingerprint of the master key that wraps it.
    pub master: String,
    /// Whether it seals or only opens.
    pub state: DataKeyState,
    /// When it was made.
    pub created_at: Timestamp,
    /// As in [`WrappedDataKey`].
    pub resealed_at: Option<Timestamp>,
}

impl From<WrappedDataKey> for DataKeyView {
    fn from(key: WrappedDataKey) -> Self {
        let WrappedDataKey { id, master, wrapped: _, state, created_at, resealed_at } = key;
        Self { id, master, state, created_at, resealed_at }
    }
}

/// Shows the operator which keys seal the stored fields.
#[async_trait]
pub trait SealingKeys: Send + Sync {
    /// All data keys, the oldest first. A store that seals nothing has none.
    async fn sealing_keys(&self) -> Result<Vec<DataKeyView>, StoreError>;
}
