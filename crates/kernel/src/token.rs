//! Bytes as text, for secret tokens and signatures.

use base64::{
    Engine,
    engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD},
};

/// Encodes `bytes` as base64 with padding (RFC 4648 section 4), the form in structured fields and signatures.
///
/// ```
/// use kalends_kernel::base64;
///
/// assert_eq!(base64(&[0xfb, 0xff]), "+/8=");
/// ```
pub fn base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// Decodes a text that [`base64()`] made; `None` for any other text.
///
/// ```
/// use kalends_kernel::{base64, from_base64};
///
/// assert_eq!(from_base64(&base64(b"secret")).as_deref(), Some(&b"secret"[..]));
/// assert_eq!(from_base64("-_8"), None);
/// ```
pub fn from_base64(text: &str) -> Option<Vec<u8>> {
    STANDARD.decode(text).ok()
}

/// Encodes `bytes` as base64url without padding (RFC 4648 section 5): 32 bytes make 43 characters.
///
/// ```
/// use kalends_kernel::base64url;
///
/// assert_eq!(base64url(&[0xfb, 0xff]), "-_8");
/// assert_eq!(base64url(&[7; 32]).len(), 43);
/// ```
pub fn base64url(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

/// Decodes a text that [`base64url()`] made; `None` for any other text, even a second way to write the same bytes.
///
/// ```
/// use kalends_kernel::from_base64url;
///
/// assert_eq!(from_base64url("Zg"), Some(b"f".to_vec()));
/// assert_eq!(from_base64url("Zh"), None, "the same byte in a second form");
/// ```
pub fn from_base64url(text: &str) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_the_rfc_vectors() {
        for (bytes, text) in
            [("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foob", "Zm9vYg"), ("foobar", "Zm9vYmFy")]
        {
            assert_eq!(base64url(bytes.as_bytes()), text);
            assert_eq!(from_base64url(text), Some(bytes.as_bytes().to_vec()));
        }
        for (bytes, text) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")] {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
        assert_eq!(base64(&[0xfb, 0xff]), "+/8=");
        assert_eq!(base64url(&[0xfb, 0xff]), "-_8");
        assert_eq!(base64url(&[7; 32]).len(), 43);
    }

    #[test]
    fn a_text_has_one_form() {
        for other in ["Zh", "Zg==", "Z", "Zm9v\n", "Zm9 v", "+/8", "é"] {
            assert_eq!(from_base64url(other), None, "{other}");
        }
    }
}
