//! The sealed form of a field: `v1.<data key id>.<base64 of nonce, ciphertext and tag>`.

use std::{cell::RefCell, io::Write};

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use chacha20poly1305::{AeadInOut, Tag, XNonce};
use kalends_app::ports::{OpenError, Place};
use kalends_kernel::{DataKeyId, Entropy};

use crate::data_key::{DataKey, NONCE, VERSION};

/// The length of a tag in bytes.
const TAG: usize = 16;
/// The maximum number of bytes that a thread keeps allocated for its next value.
const SCRATCH_KEPT: usize = 64 * 1024;

thread_local! {
    /// A buffer for the associated data and the bytes before base64, so that sealing allocates only its result.
    static SCRATCH: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

fn with_scratch<T>(work: impl FnOnce(&mut Vec<u8>) -> T) -> T {
    SCRATCH.with_borrow_mut(|scratch| {
        scratch.clear();
        let done = work(scratch);
        scratch.clear();
        scratch.shrink_to(SCRATCH_KEPT);
        done
    })
}

/// Appends `table.column.uuid`, which binds a value to its place.
fn write_place(place: Place, out: &mut Vec<u8>) {
    // Writing to a vector cannot fail.
    let _ = write!(out, "{}.{}.{}", place.table, place.column, place.id.hyphenated());
}

/// Seals `plain` for `place` under `key`.
pub(crate) fn seal(key: &DataKey, place: Place, plain: &[u8], entropy: &dyn Entropy) -> String {
    with_scratch(|scratch| {
        write_place(place, scratch);
        let bound = scratch.len();
        scratch.reserve(NONCE + plain.len() + TAG);
        scratch.resize(bound + NONCE, 0);
        entropy.fill(&mut scratch[bound..]);
        scratch.extend_from_slice(plain);
        let (associated, value) = scratch.split_at_mut(bound);
        let (nonce, text) = value.split_at_mut(NONCE);
        let mut nonce_bytes = [0u8; NONCE];
        nonce_bytes.copy_from_slice(nonce);
        let tag = encrypt(key, &XNonce::from(nonce_bytes), associated, text);
        scratch.extend_from_slice(&tag);

        let value = &scratch[bound..];
        let length = VERSION.len() + key.name.len() + 1 + (value.len() * 4).div_ceil(3);
        let mut sealed = String::with_capacity(length);
        sealed.push_str(VERSION);
        sealed.push_str(&key.name);
        sealed.push('.');
        BASE64_URL_SAFE_NO_PAD.encode_string(value, &mut sealed);
        sealed
    })
}

#[expect(clippy::expect_used, reason = "the cipher only refuses messages of more than 256 GiB")]
fn encrypt(key: &DataKey, nonce: &XNonce, associated: &[u8], text: &mut [u8]) -> Tag {
    key.cipher.encrypt_inout_detached(nonce, associated, text.into()).expect("a field is shorter than 256 GiB")
}

/// The data key's name and the base64 of a sealed value.
pub(crate) fn parse(sealed: &str) -> Result<(&str, &str), OpenError> {
    let (name, value) =
        sealed.strip_prefix(VERSION).and_then(|rest| rest.split_once('.')).ok_or(OpenError::Malformed)?;
    Ok((name, value))
}

/// The error for a key that is not in the ring. If no data key can have the name, the value is malformed.
pub(crate) fn unknown(name: &str) -> OpenError {
    match name.parse::<DataKeyId>() {
        Ok(id) => OpenError::UnknownKey(id.to_string()),
        Err(_) => OpenError::Malformed,
    }
}

/// Opens the base64 `value` that `key` sealed for `place`.
pub(crate) fn open(key: &DataKey, place: Place, value: &str) -> Result<Vec<u8>, OpenError> {
    let mut bytes = BASE64_URL_SAFE_NO_PAD.decode(value).map_err(|_| OpenError::Malformed)?;
    let (head, tag) = bytes.split_last_chunk_mut::<TAG>().ok_or(OpenError::Malformed)?;
    let (nonce, text) = head.split_first_chunk_mut::<NONCE>().ok_or(OpenError::Malformed)?;
    let length = text.len();
    with_scratch(|associated| {
        write_place(place, associated);
        key.cipher.decrypt_inout_detached(&XNonce::from(*nonce), associated, text.into(), &Tag::from(*tag))
    })
    .map_err(|_| OpenError::Forged)?;
    bytes.copy_within(NONCE..NONCE + length, 0);
    bytes.truncate(length);
    Ok(bytes)
}
