//! A cipher for tests: it behaves like the real one but protects nothing.

use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError,
    atomic::{AtomicU64, Ordering},
};

use base64::{Engine as _, engine::general_purpose::STANDARD_NO_PAD};
use kalends_app::ports::{FieldCipher, OpenError, Place};
use kalends_kernel::Entropy;

use crate::SeededEntropy;

const VERSION: &str = "v1";

/// Seals and opens as [`FieldCipher`] requires, without any secrecy. The plain text is masked so that it cannot be
/// found in a database, and a checksum binds it to its place and key. Clones share the keys.
///
/// As with the real cipher, no two seals are equal, even of the same value at the same place.
#[derive(Debug, Clone)]
pub struct TestCipher {
    keys: Arc<Mutex<Keys>>,
    seals: Arc<AtomicU64>,
}

#[derive(Debug)]
struct Keys {
    writing: String,
    reading: Vec<String>,
}

impl Default for TestCipher {
    /// A cipher that seals with the key `first`.
    fn default() -> Self {
        Self::new("first")
    }
}

impl TestCipher {
    /// A cipher with one key. A key's identifier must not contain dots.
    pub fn new(key: &str) -> Self {
        let keys = Keys { writing: key.to_owned(), reading: vec![key.to_owned()] };
        Self { keys: Arc::new(Mutex::new(keys)), seals: Arc::default() }
    }

    /// Seals with `key` from now on. The keys that it already has still open.
    pub fn write_with(&self, key: &str) {
        let mut keys = self.lock();
        key.clone_into(&mut keys.writing);
        if !keys.reading.iter().any(|held| held == key) {
            keys.reading.push(key.to_owned());
        }
    }

    /// Removes `key`: opening what it sealed fails with [`OpenError::UnknownKey`].
    pub fn forget(&self, key: &str) {
        self.lock().reading.retain(|held| held != key);
    }

    fn lock(&self) -> MutexGuard<'_, Keys> {
        self.keys.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl FieldCipher for TestCipher {
    fn seal(&self, place: Place, plain: &[u8]) -> String {
        let key = self.lock().writing.clone();
        let nonce = self.seals.fetch_add(1, Ordering::Relaxed).to_le_bytes();
        let mut sealed = nonce.to_vec();
        sealed.extend(masked(&key, nonce, plain));
        sealed.extend(check_sum(&key, place, nonce, plain));
        format!("{VERSION}.{key}.{}", STANDARD_NO_PAD.encode(sealed))
    }

    fn open(&self, place: Place, sealed: &str) -> Result<Vec<u8>, OpenError> {
        let rest = sealed.strip_prefix(VERSION).and_then(|rest| rest.strip_prefix('.')).ok_or(OpenError::Malformed)?;
        let (key, body) = rest.split_once('.').ok_or(OpenError::Malformed)?;
        let body = STANDARD_NO_PAD.decode(body).map_err(|_| OpenError::Malformed)?;
        let (nonce, body) = body.split_first_chunk::<8>().ok_or(OpenError::Malformed)?;
        let (body, sum) = body.split_last_chunk::<8>().ok_or(OpenError::Malformed)?;
        if !self.lock().reading.iter().any(|held| held == key) {
            return Err(OpenError::UnknownKey(key.to_owned()));
        }
        let plain = masked(key, *nonce, body);
        if check_sum(key, place, *nonce, &plain) == *sum { Ok(plain) } else { Err(OpenError::Forged) }
    }

    fn writing_prefix(&self) -> String {
        format!("{VERSION}.{}.", self.lock().writing)
    }

    fn digest(&self, plain: &[u8]) -> i64 {
        digest(&self.lock().writing, plain)
    }

    fn digests(&self, plain: &[u8]) -> Vec<i64> {
        self.lock().reading.iter().map(|key| digest(key, plain)).collect()
    }
}

/// The bytes combined with a mask that depends on the key and the nonce. Masking twice restores them.
fn masked(key: &str, nonce: [u8; 8], bytes: &[u8]) -> Vec<u8> {
    let mut mask = vec![0; bytes.len()];
    SeededEntropy::new(mix(START, key.as_bytes().iter().chain(&nonce))).fill(&mut mask);
    bytes.iter().zip(mask).map(|(byte, mask)| byte ^ mask).collect()
}

fn digest(key: &str, plain: &[u8]) -> i64 {
    mix(mix(START, key.as_bytes()), plain).cast_signed()
}

fn check_sum(key: &str, place: Place, nonce: [u8; 8], plain: &[u8]) -> [u8; 8] {
    // The separators keep adjacent names from running into each other.
    let names = [key, "\0", place.table, "\0", place.column, "\0"];
    let state = mix(START, names.iter().flat_map(|name| name.as_bytes()));
    let state = mix(state, place.id.as_bytes().iter().chain(&nonce).chain(plain));
    state.to_le_bytes()
}

/// FNV-1a over 64 bits.
fn mix<'a>(state: u64, bytes: impl IntoIterator<Item = &'a u8>) -> u64 {
    bytes.into_iter().fold(state, |state, byte| (state ^ u64::from(*byte)).wrapping_mul(PRIME))
}

const START: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0000_0100_0000_01b3;

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    const PLACE: Place = Place { table: "events", column: "content", id: Uuid::from_u128(7) };

    #[test]
    fn sealed_values_open_and_reveal_nothing() {
        let cipher = TestCipher::default();
        for plain in ["", "a", "Zahnarzt – 診察"] {
            let sealed = cipher.seal(PLACE, plain.as_bytes());
            assert_eq!(cipher.open(PLACE, &sealed), Ok(plain.as_bytes().to_vec()));
            assert!(sealed.starts_with(&cipher.writing_prefix()));
            assert!(plain.len() < 2 || !sealed.contains(plain));
            assert_ne!(cipher.seal(PLACE, plain.as_bytes()), sealed);
        }
    }

    #[test]
    fn a_value_is_bound_to_its_place() {
        let cipher = TestCipher::default();
        let sealed = cipher.seal(PLACE, b"plain");
        for elsewhere in [
            Place { table: "outbox", ..PLACE },
            Place { column: "payload", ..PLACE },
            Place { id: Uuid::from_u128(8), ..PLACE },
        ] {
            assert_eq!(cipher.open(elsewhere, &sealed), Err(OpenError::Forged));
        }
    }

    #[test]
    fn an_altered_value_does_not_open() {
        let cipher = TestCipher::default();
        let sealed = cipher.seal(PLACE, b"plain");
        let first = cipher.writing_prefix().len();
        for at in first..sealed.len() - 1 {
            let mut altered = sealed.clone().into_bytes();
            altered[at] = if altered[at] == b'A' { b'B' } else { b'A' };
            assert_eq!(cipher.open(PLACE, std::str::from_utf8(&altered).unwrap()), Err(OpenError::Forged));
        }
        for malformed in ["", "plain", "v1.first", "v2.first.AAAA", "v1.first.AAAA", "v1.first.???"] {
            assert_eq!(cipher.open(PLACE, malformed), Err(OpenError::Malformed), "{malformed:?}");
        }
    }

    #[test]
    fn keys_are_changed_and_forgotten() {
        let cipher = TestCipher::default();
        let old = cipher.seal(PLACE, b"plain");
        cipher.clone().write_with("second");
        let new = cipher.seal(PLACE, b"plain");
        assert!(new.starts_with("v1.second."));
        assert_eq!(cipher.open(PLACE, &old), Ok(b"plain".to_vec()));
        cipher.forget("first");
        assert_eq!(cipher.open(PLACE, &old), Err(OpenError::UnknownKey("first".into())));
        assert_eq!(cipher.open(PLACE, &new), Ok(b"plain".to_vec()));
    }
}
