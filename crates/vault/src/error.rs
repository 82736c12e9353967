//! Errors of the vault, written for an operator.

use kalends_kernel::{DataKeyId, StoreError};

use crate::MasterSourceError;

/// The data keys cannot be read, generated or replaced.
#[derive(Debug, thiserror::Error)]
pub enum VaultError {
    /// A data key is wrapped under a master key that this process does not have.
    #[error(
        "the data key {key} is wrapped under the master key with the fingerprint {master}, which is not the configured one: \
         set KALENDS_MASTER_KEY to that key, or to \"new,old\" during a rotation"
    )]
    UnknownMaster {
        /// The data key.
        key: DataKeyId,
        /// The fingerprint of the master key that wraps it.
        master: String,
    },
    /// A wrapped data key does not open, although its master key is known.
    #[error("the data key {key} is damaged in the key table: restore the table data_keys from a backup")]
    Damaged {
        /// The data key.
        key: DataKeyId,
    },
    /// There are data keys, but none is the writing key.
    #[error("the key table has no writing key: restore the table data_keys from a backup")]
    NoWritingKey,
    /// Another rotation has chosen another writing key.
    #[error("another rotation of the master key is running: wait until it has ended, then start this one again")]
    RotatedElsewhere,
    /// The master keys cannot be read.
    #[error("cannot read the master keys")]
    Masters(#[from] MasterSourceError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}
