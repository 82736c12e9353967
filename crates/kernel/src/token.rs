//! Secret tokens as text.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};

/// `bytes` as base64url without padding (RFC 4648 section 5): 32 bytes make 43 characters.
pub fn base64url(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
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
        }
        assert_eq!(base64url(&[0xfb, 0xff]), "-_8");
        assert_eq!(base64url(&[7; 32]).len(), 43);
    }
}
