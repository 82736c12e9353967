//! Generating, wrapping and unwrapping data keys.

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use chacha20poly1305::{
    KeyInit, XChaCha20Poly1305, XNonce,
    aead::{Aead, Payload},
};
use hmac::{Hmac, Mac as _};
use kalends_app::ports::{DataKeyState, SEALED, WrappedDataKey};
use kalends_kernel::{DataKeyId, Entropy, random_bytes};
use kalends_time::Timestamp;
use sha2::Sha256;
use zeroize::Zeroizing;

use crate::{MasterKeys, VaultError, master::MasterKey};

/// The prefix of every sealed value and every wrapped key.
pub(crate) const VERSION: &str = SEALED;
/// The length of a nonce in bytes.
pub(crate) const NONCE: usize = 24;
/// The length of a data key in bytes.
const KEY: usize = 32;

/// A data key, ready to seal and open. It is wiped from memory on drop.
pub(crate) struct DataKey {
    pub(crate) id: DataKeyId,
    /// The ID as written in sealed values.
    pub(crate) name: String,
    pub(crate) cipher: XChaCha20Poly1305,
    /// The key of the hashes by which values are found, derived from the data key.
    of_digests: Zeroizing<[u8; KEY]>,
}

impl DataKey {
    /// The keyed hash of `plain`, cut to 64 bits. Nobody without the key can look for two values with the same hash.
    pub(crate) fn digest(&self, plain: &[u8]) -> i64 {
        let [a, b, c, d, e, f, g, h, ..] = hmac(&self.of_digests, plain);
        i64::from_le_bytes([a, b, c, d, e, f, g, h])
    }
}

/// A fresh data key, wrapped under the current master key. If it is the writing key, it is the first one, and nothing
/// is sealed with another.
pub(crate) fn generate(
    masters: &MasterKeys,
    state: DataKeyState,
    now: Timestamp,
    entropy: &dyn Entropy,
) -> Result<WrappedDataKey, VaultError> {
    let id = DataKeyId::new(now, entropy);
    let key = Zeroizing::new(random_bytes::<KEY>(entropy));
    let master = masters.current();
    let wrapped = wrap(id, key.as_slice(), master, entropy)?;
    let resealed_at = (state == DataKeyState::Writing).then_some(now);
    Ok(WrappedDataKey { id, master: master.fingerprint.clone(), wrapped, state, created_at: now, resealed_at })
}

/// Unwraps a data key.
pub(crate) fn unwrap(row: &WrappedDataKey, masters: &MasterKeys) -> Result<DataKey, VaultError> {
    let bytes = unwrap_bytes(row, masters)?;
    let key = <&[u8; KEY]>::try_from(bytes.as_slice()).map_err(|_| VaultError::Damaged { key: row.id })?;
    let cipher = XChaCha20Poly1305::new(key.into());
    // A key of its own: no key serves two algorithms.
    let of_digests = Zeroizing::new(hmac(key, b"digests"));
    Ok(DataKey { id: row.id, name: row.id.to_string(), cipher, of_digests })
}

/// Wraps the same data key under the current master key.
pub(crate) fn rewrap(row: &WrappedDataKey, masters: &MasterKeys, entropy: &dyn Entropy) -> Result<String, VaultError> {
    wrap(row.id, &unwrap_bytes(row, masters)?, masters.current(), entropy)
}

/// HMAC-SHA256 (RFC 2104).
fn hmac(key: &[u8; KEY], text: &[u8]) -> [u8; 32] {
    // A short key is padded with zeros to the length of a block.
    let mut block = Zeroizing::new([0; 64]);
    block[..KEY].copy_from_slice(key);
    let mut mac = <Hmac<Sha256> as KeyInit>::new((&*block).into());
    mac.update(text);
    mac.finalize().into_bytes().0
}

fn wrap(id: DataKeyId, key: &[u8], master: &MasterKey, entropy: &dyn Entropy) -> Result<String, VaultError> {
    let nonce = random_bytes::<NONCE>(entropy);
    let name = id.to_string();
    let ciphertext = master
        .cipher
        .encrypt(&XNonce::from(nonce), Payload { msg: key, aad: name.as_bytes() })
        .map_err(|_| VaultError::Damaged { key: id })?;
    let mut text = VERSION.to_owned();
    BASE64_URL_SAFE_NO_PAD.encode_string([nonce.as_slice(), &ciphertext].concat(), &mut text);
    Ok(text)
}

fn unwrap_bytes(row: &WrappedDataKey, masters: &MasterKeys) -> Result<Zeroizing<Vec<u8>>, VaultError> {
    let master = masters
        .find(&row.master)
        .ok_or_else(|| VaultError::UnknownMaster { key: row.id, master: row.master.clone() })?;
    let damaged = || VaultError::Damaged { key: row.id };
    let bytes = row
        .wrapped
        .strip_prefix(VERSION)
        .and_then(|text| BASE64_URL_SAFE_NO_PAD.decode(text).ok())
        .ok_or_else(damaged)?;
    let (nonce, ciphertext) = bytes.split_first_chunk::<NONCE>().ok_or_else(damaged)?;
    let name = row.id.to_string();
    let key = master
        .cipher
        .decrypt(&XNonce::from(*nonce), Payload { msg: ciphertext, aad: name.as_bytes() })
        .map_err(|_| damaged())?;
    Ok(Zeroizing::new(key))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stand_ins::{SeededEntropy, masters};

    fn row() -> WrappedDataKey {
        generate(&masters("a"), DataKeyState::Writing, Timestamp::from_micros(1_000_000), &SeededEntropy::default())
            .unwrap()
    }

    #[test]
    fn rewrapping_keeps_the_key() {
        let row = row();
        let moved = WrappedDataKey {
            wrapped: rewrap(&row, &masters("ba"), &SeededEntropy::default()).unwrap(),
            master: masters("b").current().fingerprint.clone(),
            ..row.clone()
        };
        assert_eq!(*unwrap_bytes(&row, &masters("a")).unwrap(), *unwrap_bytes(&moved, &masters("b")).unwrap());
        assert!(matches!(unwrap_bytes(&moved, &masters("a")), Err(VaultError::UnknownMaster { .. })));
    }

    #[test]
    fn the_error_for_an_unknown_master_names_the_remedy() {
        let message = unwrap(&row(), &masters("b")).err().unwrap().to_string();
        assert!(message.contains("KALENDS_MASTER_KEY") && message.contains("new,old"), "{message}");
    }

    #[test]
    fn a_wrapped_key_does_not_open_under_another_id() {
        let row = row();
        let other = DataKeyId::new(Timestamp::from_micros(2_000_000), &SeededEntropy::default());
        for damaged in [
            WrappedDataKey { id: other, ..row.clone() },
            WrappedDataKey { wrapped: row.wrapped[..40].to_owned(), ..row.clone() },
            WrappedDataKey { wrapped: String::new(), ..row.clone() },
            WrappedDataKey { wrapped: row.wrapped.replace("v1.", "v2."), ..row },
        ] {
            assert!(matches!(unwrap(&damaged, &masters("a")), Err(VaultError::Damaged { .. })));
        }
    }
}
