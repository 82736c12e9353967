//! How the vault fails, said to an operator.

use kalends_kernel::{DataKeyId, StoreError};

use crate::MasterSourceError;

/// The data keys cannot be read, made or replaced.
#[derive(Debug, thiserror::Error)]
pub enum VaultError {
    /// A data key is wrapped under a master key that this process was not given.
    #[error(
        "the data key {key} is wrapped under the master key {master}, which is not the one given: set KALENDS_MASTER_KEY to \
         that key, or to \"new,old\" while the master key is being rotated"
    )]
    UnknownMaster {
        /// The data key.
        key: DataKeyId,
        /// The fingerprint of the master key that wraps it.
        master: String,
    },
    /// A wrapped data key does not open although its master key is known.
    #[error("the data key {key} is damaged in the key table: restore the table data_keys from a backup")]
    Damaged {
        /// The data key.
        key: DataKeyId,
    },
    /// There are data keys, but none is for writing.
    #[error("no data key of the key table is for writing: restore the table data_keys from a backup")]
    NoWritingKey,
    /// Another rotation chose another writing key meanwhile.
    #[error("another rotation of the master key runs at the same time: wait until it has ended, then start again")]
    RotatedElsewhere,
    /// The master keys cannot be read.
    #[error("the master keys cannot be read")]
    Masters(#[from] MasterSourceError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}
