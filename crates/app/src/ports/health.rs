//! Whether the store works, and when it was last backed up.

use async_trait::async_trait;
use kalends_kernel::StoreError;
use kalends_time::Timestamp;

/// Checks whether the store works.
#[async_trait]
pub trait Readiness: Send + Sync {
    /// `Ok` if a trivial read succeeds.
    async fn ready(&self) -> Result<(), StoreError>;

    /// `Ok` if a trivial write commits. It changes nothing, but takes as much space as any small change.
    async fn writable(&self) -> Result<(), StoreError>;

    /// The size of the database in bytes; `None` if it has none. The write-ahead log is not counted.
    async fn database_bytes(&self) -> Result<Option<u64>, StoreError>;
}

/// Remembers when the operator last made a backup. The server makes none itself.
#[async_trait]
pub trait Backups: Send + Sync {
    /// Records that a backup was made at `at`. This replaces what was recorded, even if that is later: a clock may have
    /// been wrong.
    async fn record_backup(&self, at: Timestamp) -> Result<(), StoreError>;

    /// When the backup was made that was recorded last.
    async fn last_backup(&self) -> Result<Option<Timestamp>, StoreError>;
}
