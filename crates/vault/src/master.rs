//! Master keys, which wrap data keys and never seal fields.

use std::{error::Error, fmt, fmt::Write as _, sync::Arc};

use async_trait::async_trait;
use base64::{
    Engine, alphabet,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use chacha20poly1305::{KeyInit, XChaCha20Poly1305};
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

/// Padding is optional, because operators generate keys with many kinds of tools.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);
/// The length of a fingerprint: the first bytes of the key's SHA-256.
const FINGERPRINT: usize = 8;

/// The text is not one or two master keys. The error never quotes the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum MasterKeysError {
    /// There are more than two keys.
    #[error("must be one key, or \"new,old\" during a rotation, got {0} keys")]
    Count(usize),
    /// Both keys are the same.
    #[error("the new and the old key must differ")]
    Same,
    /// A key is not base64.
    #[error("each key must be base64")]
    Base64,
    /// A key is not 32 bytes long.
    #[error("each key must be 32 bytes, got {0}")]
    Length(usize),
}

/// The master key that wraps new data keys. During a rotation, also the previous master key.
///
/// The keys are wiped from memory when the last clone is dropped.
#[derive(Clone)]
pub struct MasterKeys {
    current: Arc<MasterKey>,
    old: Option<Arc<MasterKey>>,
}

/// One master key, ready for use.
pub(crate) struct MasterKey {
    /// The first bytes of its SHA-256 in hexadecimal, which identify it in the key table.
    pub(crate) fingerprint: String,
    pub(crate) cipher: XChaCha20Poly1305,
}

impl MasterKey {
    fn parse(text: &str) -> Result<Self, MasterKeysError> {
        // Keys come in the standard and the URL-safe alphabet, which differ in only two characters.
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
    /// Reads `new` or `new,old`. Each key is 32 bytes in base64, in the standard or the URL-safe alphabet, with or
    /// without padding.
    ///
    /// # Errors
    /// [`MasterKeysError`] says what a key must be. It never quotes the text.
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

    /// Whether there is an old key next to the current one, as a rotation requires.
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

/// The master keys could not be read from their source.
#[derive(Debug, thiserror::Error)]
#[error("{what}")]
pub struct MasterSourceError {
    /// What failed, including the name of the source.
    pub what: String,
    /// The cause.
    #[source]
    pub source: Option<Box<dyn Error + Send + Sync>>,
}

/// The source of the master keys. A ring reads it at its start and whenever a data key is wrapped under an unknown
/// master key, so that a rotated key file takes effect without a restart.
#[async_trait]
pub trait MasterSource: Send + Sync {
    /// The current master keys.
    async fn masters(&self) -> Result<MasterKeys, MasterSourceError>;
}

/// Fixed keys, such as those from the environment.
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
    fn one_key_or_two_are_read() {
        let one = MasterKeys::parse(ONES).unwrap();
        assert!(!one.is_rotating());
        let two = MasterKeys::parse(&format!("{TWOS}, {ONES}\n")).unwrap();
        assert!(two.is_rotating());
        assert!(two.find(&one.current().fingerprint).is_some());
        assert_ne!(two.current().fingerprint, one.current().fingerprint);
        // The first bytes of the SHA-256 of 32 bytes 0x01.
        assert_eq!(one.current().fingerprint, "72cd6e8422c407fb");
    }

    #[test]
    fn the_url_safe_alphabet_is_read_too() {
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
    fn invalid_keys_are_refused(#[case] text: &str, #[case] error: MasterKeysError) {
        assert_eq!(MasterKeys::parse(text).unwrap_err(), error);
    }

    #[test]
    fn debug_output_has_no_keys() {
        let printed = format!("{:?}", MasterKeys::parse(ONES).unwrap());
        assert_eq!(printed, "MasterKeys(…)");
    }
}
