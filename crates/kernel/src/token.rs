//! Tokens as text.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};

/// `bytes` as base64url without padding (RFC 4648 section 5): 32 bytes make 43 characters.
pub fn base64url(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

/// The bytes of such a text; `None` for any other, also for a second way to write the same bytes.
pub fn from_base64url(text: &str) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_the_rfc_s_vectors() {
        for (bytes, text) in
            [("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foob", "Zm9vYg"), ("foobar", "Zm9vYmFy")]
        {
            assert_eq!(base64url(bytes.as_bytes()), text);
            assert_eq!(from_base64url(text), Some(bytes.as_bytes().to_vec()));
        }
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
