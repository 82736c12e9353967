//! Field encryption at rest.
//!
//! A *data key* seals fields; the key table keeps every data key wrapped under a *master key*, which
//! stands outside the database. A sealed field is `v1.<data key id>.<base64 of nonce and ciphertext>`
//! (XChaCha20-Poly1305) and is bound to its table, column and row: moved elsewhere it does not open.
//!
//! [`KeyRing`] holds the data keys of a process and is its [`FieldCipher`]. [`rotate`] replaces the
//! master key and the data keys while any number of nodes runs.
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
