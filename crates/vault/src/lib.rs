//! Encryption of stored fields.
//!
//! A *data key* seals fields. The key table holds every data key, wrapped under a *master key*, which is kept outside
//! the database. A sealed field is `v1.<data key id>.<base64 of nonce and ciphertext>` (XChaCha20-Poly1305). It is
//! bound to its table, column and row, and does not open anywhere else.
//!
//! [`KeyRing`] holds the data keys of a process and is its [`FieldCipher`]. [`rotate`] replaces the master key and the
//! data keys while nodes are running.
//!
//! [`FieldCipher`]: kalends_app::ports::FieldCipher

mod data_key;
mod error;
mod master;
mod ring;
mod rotation;
mod sealed;
#[cfg(test)]
mod stand_ins;

pub use error::VaultError;
pub use master::{MasterKeys, MasterKeysError, MasterSource, MasterSourceError};
pub use ring::KeyRing;
pub use rotation::{Pause, RotationStep, SETTLE, rotate};
