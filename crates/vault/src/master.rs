//! Master keys: they wrap data keys and never touch a field.

use std::{error::Error, fmt, fmt::Write as _, sync::Arc};

use async_trait::async_trait;
use base64::{
    Engine, alphabet,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use chacha20poly1305::{KeyInit, XChaCha20Poly1305};
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

/// Operators make keys with all kinds of tools: padding is optional.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);
/// A fingerprint is this many bytes of the key's SHA-256.
const FINGERPRINT: usize = 8;

/// A text that is no pair of master keys. Never quotes the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum MasterKeysError {
    /// Neither one key nor two.
    #[error("must be one key, or \"new,old\" while rotating, got {0} keys")]
    Count(usize),
    /// The same key twice.
    #[error("the new and the old key must differ")]
    Same,
    /// Not base64.
    #[error("each key must be base64")]
    Base64,
    /// Not 32 bytes.
    #[error("each key must be 32 bytes, got {0}")]
    Length(usize),
}

/// The master key that wraps new data keys, and while rotating the one before it.
///
/// The keys are wiped from memory when the last clone goes.
#[derive(Clone)]
pub struct MasterKeys {
    current: Arc<MasterKey>,
    old: Option<Arc<MasterKey>>,
}

/// One master key, ready for use.
pub(crate) struct MasterKey {
    /// The first bytes of its SHA-256 in hexadecimal, as the key table names it.
    pub(crate) fingerprint: String,
    pub(crate) cipher: XChaCha20Poly1305,
}

impl MasterKey {
    fn parse(text: &str) -> Result<Self, MasterKeysError> {
        // Both alphabets are in use for keys; they differ in two characters only.
        let standard: Zeroizing<String> = Zeroizing::new(text.trim().replace('-', "+").replace('_', "/"));
        let bytes = Zeroizing::new(BASE64.decode(standard.as_str()).map_err(|_| MasterKeysError::Base64)?);
        let cipher = XChaCha20Poly1305::new_from_slice(&bytes).map_err(|_| MasterKeysError::Length(bytes.len()))?;
        let mut fingerprint = String::with_capacity(2 * FINGERPRINT);
        for byte in &Sha256::digest(&*bytes)[..FINGERPRINT] {
            // Writing to a string cannot fail.
            let _ = write!(fingerprint, "{byte:02x}");
        }
        Ok(Self { fingerprint, cipher })
    }
}

impl MasterKeys {
    /// Reads `new` or `new,old`, each 32 bytes in base64 of either alphabet, padded or not.
    ///
    /// # Errors
    /// [`MasterKeysError`] says what a key must be, never what was given.
    pub fn parse(text: &str) -> Result<Self, MasterKeysError> {
        let keys = text.split(',').map(MasterKey::parse).collect::<Vec<_>>();
        let count = keys.len();
        let mut keys = keys.into_iter();
        match (keys.next(), keys.next(), keys.next()) {
            (Some(current), None, None) => Ok(Self { current: Arc::new(current?), old: None }),
            (Some(current), Some(old), None) => {
                let (current, old) = (current?, old?);
                if current.fingerprint == old.fingerprint {
                    return Err(MasterKeysError::Same);
                }
                Ok(Self { current: Arc::new(current), old: Some(Arc::new(old)) })
            }
            _ => Err(MasterKeysError::Count(count)),
        }
    }

    /// Whether an old key stands beside the current one, as a rotation needs it.
    pub const fn is_rotating(&self) -> bool {
        self.old.is_some()
    }

    pub(crate) fn current(&self) -> &MasterKey {
        &self.current
    }

    pub(crate) fn find(&self, fingerprint: &str) -> Option<&MasterKey> {
        [Some(&self.current), self.old.as_ref()]
            .into_iter()
            .flatten()
            .find(|key| key.fingerprint == fingerprint)
            .map(AsRef::as_ref)
    }
}

impl fmt::Debug for MasterKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MasterKeys(…)")
    }
}

/// The place that holds the master keys did not give them.
#[derive(Debug, thiserror::Error)]
#[error("{what}")]
pub struct MasterSourceError {
    /// What failed, with the name of the place.
    pub what: String,
    /// Why.
    #[source]
    pub source: Option<Box<dyn Error + Send + Sync>>,
}

/// Where the master keys come from. A ring asks at its start and whenever it meets a data key that is
/// wrapped under a master key it does not know, so that a rotated key file is heeded without a restart.
#[async_trait]
pub trait MasterSource: Send + Sync {
    /// The master keys as they are now.
    async fn masters(&self) -> Result<MasterKeys, MasterSourceError>;
}

/// Keys that stay as they were given, such as those of the environment.
#[async_trait]
impl MasterSource for MasterKeys {
    async fn masters(&self) -> Result<MasterKeys, MasterSourceError> {
        Ok(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const ONES: &str = "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=";
    const TWOS: &str = "AgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgI";

    #[test]
    fn reads_one_key_or_two() {
        let one = MasterKeys::parse(ONES).unwrap();
        assert!(!one.is_rotating());
        let two = MasterKeys::parse(&format!("{TWOS}, {ONES}\n")).unwrap();
        assert!(two.is_rotating());
        assert!(two.find(&one.current().fingerprint).is_some());
        assert_ne!(two.current().fingerprint, one.current().fingerprint);
        // SHA-256 of 32 bytes 0x01 begins so.
        assert_eq!(one.current().fingerprint, "72cd6e8422c407fb");
    }

    #[test]
    fn reads_the_url_alphabet_too() {
        let standard = MasterKeys::parse("+/+/+/+/+/+/+/+/+/+/+/+/+/+/+/+/+/+/+/+/+/8=").unwrap();
        let url = MasterKeys::parse("-_-_-_-_-_-_-_-_-_-_-_-_-_-_-_-_-_-_-_-_-_8").unwrap();
        assert_eq!(standard.current().fingerprint, url.current().fingerprint);
    }

    #[rstest]
    #[case("", MasterKeysError::Length(0))]
    #[case("AQEB", MasterKeysError::Length(3))]
    #[case("not base64!", MasterKeysError::Base64)]
    #[case(&format!("{ONES},{ONES}"), MasterKeysError::Same)]
    #[case(&format!("{ONES},{TWOS},{ONES}"), MasterKeysError::Count(3))]
    #[case(&format!("{ONES},"), MasterKeysError::Length(0))]
    fn refuses(#[case] text: &str, #[case] error: MasterKeysError) {
        assert_eq!(MasterKeys::parse(text).unwrap_err(), error);
    }

    #[test]
    fn shows_nothing() {
        let shown = format!("{:?}", MasterKeys::parse(ONES).unwrap());
        assert_eq!(shown, "MasterKeys(…)");
    }
}
