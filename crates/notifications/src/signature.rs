//! The secrets of endpoints, and the two signatures of every delivery.
//!
//! `X-Signature: sha256=<hex>` is an HMAC-SHA256 with the whole secret, as text, over `<timestamp>.<body>`. The
//! Standard Webhooks headers sign `<id>.<timestamp>.<body>` with the bytes that the secret encodes. In the 24 hours
//! after a rotation, both secrets sign. `X-Signature` is always one value, made with the new secret, so that a receiver
//! may compare the whole header. `X-Signature-Previous` is made with the old secret. `webhook-signature` lists both,
//! separated by a space, the new secret's first.

use std::fmt;

use hmac::{Hmac, KeyInit, Mac};
use kalends_kernel::{Entropy, base64, from_base64, random_bytes};
use kalends_time::{SignedDuration, Timestamp};
use sha2::Sha256;
use subtle::ConstantTimeEq;

use crate::EventType;

/// The prefix of a secret's text.
pub const SECRET_PREFIX: &str = "whsec_";
/// How long the previous secret continues to sign after a rotation.
pub const ROTATION_LASTS: SignedDuration = SignedDuration::hours(24);

/// The secret of an endpoint: [`SECRET_PREFIX`] and 32 random bytes in base64. It is shown once.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret {
    text: String,
    bytes: Vec<u8>,
}

impl Secret {
    /// A secret with 256 random bits.
    pub fn generate(entropy: &dyn Entropy) -> Self {
        let bytes = random_bytes::<32>(entropy).to_vec();
        Self { text: format!("{SECRET_PREFIX}{}", base64(&bytes)), bytes }
    }

    /// The secret from a store's text; `None` for any other text.
    pub fn from_stored(text: &str) -> Option<Self> {
        let bytes = text.strip_prefix(SECRET_PREFIX).and_then(from_base64).filter(|bytes| bytes.len() == 32)?;
        Some(Self { text: text.to_owned(), bytes })
    }

    /// The text, to be shown at creation and sealed in the store.
    pub fn reveal(&self) -> &str {
        &self.text
    }

    /// HMAC-SHA256 with the whole text, over `<timestamp>.<body>`, in hexadecimal.
    fn sign_plain(&self, timestamp: i64, body: &[u8]) -> String {
        let mac = hmac(self.text.as_bytes(), &[timestamp.to_string().as_bytes(), b".", body]);
        mac.iter().fold(String::with_capacity(64), |mut hex, byte| {
            for digit in [byte >> 4, byte & 15] {
                hex.push(char::from_digit(u32::from(digit), 16).unwrap_or('0'));
            }
            hex
        })
    }

    /// HMAC-SHA256 with the decoded bytes, over `<id>.<timestamp>.<body>`, in base64.
    fn sign_standard(&self, id: &str, timestamp: i64, body: &[u8]) -> String {
        base64(&hmac(&self.bytes, &[id.as_bytes(), b".", timestamp.to_string().as_bytes(), b".", body]))
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

fn hmac(key: &[u8], parts: &[&[u8]]) -> [u8; 32] {
    // HMAC accepts a key of any length, so this cannot fail.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key) else { return [0; 32] };
    for part in parts {
        mac.update(part);
    }
    mac.finalize().into_bytes().into()
}

/// The secrets of an endpoint: the current one, and the previous one while it still signs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Secrets {
    /// The current secret.
    pub current: Secret,
    /// The previous secret, and the time until which it signs.
    pub previous: Option<(Secret, Timestamp)>,
}

impl Secrets {
    /// The first secret of an endpoint.
    pub const fn first(secret: Secret) -> Self {
        Self { current: secret, previous: None }
    }

    /// Makes `fresh` the current secret. The one it replaces continues to sign for [`ROTATION_LASTS`]; an older one
    /// stops at once.
    #[must_use]
    pub fn rotate(&self, fresh: Secret, now: Timestamp) -> Self {
        Self { current: fresh, previous: Some((self.current.clone(), now + ROTATION_LASTS)) }
    }

    /// The previous secret, if it still signs at `now`.
    fn previous_at(&self, now: Timestamp) -> Option<&Secret> {
        self.previous.as_ref().filter(|(_, until)| now < *until).map(|(secret, _)| secret)
    }

    /// The secrets that sign at `now`, the current one first.
    pub fn signing(&self, now: Timestamp) -> impl Iterator<Item = &Secret> {
        std::iter::once(&self.current).chain(self.previous_at(now))
    }
}

/// A delivery to be sent, without its headers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outgoing<'a> {
    /// The delivery's identifier (`whd_`). All attempts share it.
    pub delivery: &'a str,
    /// The event type.
    pub event_type: EventType,
    /// The version of the resource, if it has one.
    pub resource_version: Option<i64>,
    /// The body, exactly as it is sent.
    pub body: &'a [u8],
}

/// A header of a delivery: its name in lower case, and its value.
pub type Header = (&'static str, String);

/// The headers of one attempt at `now`.
pub fn headers(outgoing: &Outgoing<'_>, secrets: &Secrets, now: Timestamp) -> Vec<Header> {
    let timestamp = now.as_unix_seconds();
    let Outgoing { delivery, event_type, resource_version, body } = *outgoing;
    let plain = |secret: &Secret| format!("sha256={}", secret.sign_plain(timestamp, body));
    let standard: Vec<_> =
        secrets.signing(now).map(|secret| format!("v1,{}", secret.sign_standard(delivery, timestamp, body))).collect();
    let mut headers = vec![
        ("content-type", "application/json".to_owned()),
        ("x-service-event-type", event_type.as_str().to_owned()),
        ("x-delivery-id", delivery.to_owned()),
        ("x-timestamp", timestamp.to_string()),
        ("x-signature", plain(&secrets.current)),
        ("webhook-id", delivery.to_owned()),
        ("webhook-timestamp", timestamp.to_string()),
        ("webhook-signature", standard.join(" ")),
    ];
    headers.extend(secrets.previous_at(now).map(|previous| ("x-signature-previous", plain(previous))));
    headers.extend(resource_version.map(|version| ("x-resource-version", version.to_string())));
    headers
}

/// The maximum difference between the clocks of a sender and a receiver, and the maximum age of a replay.
pub const TOLERANCE: SignedDuration = SignedDuration::minutes(5);

/// Whether an `X-Signature` or an `X-Signature-Previous` is valid. A receiver makes this check; our own tests and
/// examples use it.
pub fn verify_plain(secret: &Secret, timestamp: &str, body: &[u8], signature: &str, now: Timestamp) -> bool {
    let Some(seconds) = fresh(timestamp, now) else { return false };
    let expected = format!("sha256={}", secret.sign_plain(seconds, body));
    any_equal(std::iter::once(signature), &expected)
}

/// Whether a `webhook-signature` is valid. See [`verify_plain`].
pub fn verify_standard(
    secret: &Secret,
    id: &str,
    timestamp: &str,
    body: &[u8],
    signature: &str,
    now: Timestamp,
) -> bool {
    let Some(seconds) = fresh(timestamp, now) else { return false };
    let expected = format!("v1,{}", secret.sign_standard(id, seconds, body));
    any_equal(signature.split(' '), &expected)
}

fn fresh(timestamp: &str, now: Timestamp) -> Option<i64> {
    let seconds = timestamp.parse::<i64>().ok().filter(|seconds| seconds.to_string() == timestamp)?;
    let apart = now.as_unix_seconds().checked_sub(seconds)?.checked_abs()?;
    (apart <= TOLERANCE.as_seconds()).then_some(seconds)
}

fn any_equal<'a>(mut signatures: impl Iterator<Item = &'a str>, expected: &str) -> bool {
    signatures.any(|signature| bool::from(signature.as_bytes().ct_eq(expected.as_bytes())))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    struct Bytes(u8);
    impl Entropy for Bytes {
        fn fill(&self, bytes: &mut [u8]) {
            bytes.fill(self.0);
        }
    }

    const NOW: Timestamp = Timestamp::from_micros(1_614_265_330_000_000);

    fn header(headers: &[Header], name: &str) -> String {
        headers.iter().find(|(known, _)| *known == name).map(|(_, value)| value.clone()).unwrap()
    }

    fn outgoing(body: &[u8]) -> Outgoing<'_> {
        Outgoing { delivery: "whd_1", event_type: EventType::EventCreated, resource_version: Some(3), body }
    }

    #[rstest]
    // RFC 4231, test cases 1, 2 and 6 (a key longer than a block).
    #[case(&[0x0b; 20], "Hi There", "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7")]
    #[case(b"Jefe", "what do ya want for nothing?", "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")]
    #[case(
        &[0xaa; 131],
        "Test Using Larger Than Block-Size Key - Hash Key First",
        "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
    )]
    fn the_mac_matches_the_rfc(#[case] key: &[u8], #[case] data: &str, #[case] mac: &str) {
        let hex: String = hmac(key, &[data.as_bytes()]).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hex, mac);
    }

    #[test]
    fn the_standard_signature_matches_other_libraries() {
        // The example from the tests of the Standard Webhooks libraries. Its secret has 24 bytes, ours have 32.
        let bytes = from_base64("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        let secret = Secret { text: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw".to_owned(), bytes };
        let signed = secret.sign_standard("msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, br#"{"test": 2432232314}"#);
        assert_eq!(signed, "g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn a_secret_has_one_form() {
        let secret = Secret::generate(&Bytes(7));
        assert_eq!(secret.reveal(), "whsec_BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=");
        assert_eq!(Secret::from_stored(secret.reveal()), Some(secret.clone()));
        assert_eq!(format!("{secret:?}"), "Secret(…)", "a secret is never logged");
        for text in ["", "whsec_", "whsec_BwcH", "BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=", "whsec_!"] {
            assert_eq!(Secret::from_stored(text), None);
        }
    }

    #[test]
    fn every_header_has_its_value() {
        let secrets = Secrets::first(Secret::generate(&Bytes(7)));
        let signed = headers(&outgoing(b"{}"), &secrets, NOW);
        for (name, value) in [
            ("content-type", "application/json"),
            ("x-service-event-type", "event.created"),
            ("x-delivery-id", "whd_1"),
            ("x-timestamp", "1614265330"),
            ("webhook-id", "whd_1"),
            ("webhook-timestamp", "1614265330"),
            ("x-resource-version", "3"),
        ] {
            assert_eq!(header(&signed, name), value);
        }
        let plain = header(&signed, "x-signature");
        let hex = plain.strip_prefix("sha256=").unwrap();
        assert!(hex.len() == 64 && hex.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')));
        let unversioned = Outgoing { resource_version: None, ..outgoing(b"{}") };
        assert!(headers(&unversioned, &secrets, NOW).iter().all(|(name, _)| *name != "x-resource-version"));
    }

    #[test]
    fn both_secrets_sign_for_a_day() {
        let (old, new) = (Secret::generate(&Bytes(1)), Secret::generate(&Bytes(2)));
        let secrets = Secrets::first(old.clone()).rotate(new.clone(), NOW);
        let last = NOW + ROTATION_LASTS - SignedDuration::micros(1);
        for (at, old_signs) in [(NOW, true), (last, true), (NOW + ROTATION_LASTS, false)] {
            let signed = headers(&outgoing(b"{}"), &secrets, at);
            let timestamp = header(&signed, "x-timestamp");
            // Receivers that do not support rotations compare the whole header.
            assert!(verify_plain(&new, &timestamp, b"{}", &header(&signed, "x-signature"), at));
            assert!(!verify_plain(&old, &timestamp, b"{}", &header(&signed, "x-signature"), at));
            let previous = signed.iter().find(|(name, _)| *name == "x-signature-previous");
            assert_eq!(previous.is_some(), old_signs);
            assert!(previous.is_none_or(|(_, value)| verify_plain(&old, &timestamp, b"{}", value, at)));
            for (secret, signs) in [(&new, true), (&old, old_signs)] {
                let standard = header(&signed, "webhook-signature");
                assert_eq!(verify_standard(secret, "whd_1", &timestamp, b"{}", &standard, at), signs);
            }
        }
        let newest = Secret::generate(&Bytes(3));
        let twice = secrets.rotate(newest.clone(), NOW);
        assert_eq!(twice.signing(NOW).collect::<Vec<_>>(), [&newest, &new], "the oldest stops at once");
    }

    #[rstest]
    #[case("1614265330", 0, true)]
    #[case("1614265330", 300, true)]
    #[case("1614265330", 301, false)]
    #[case("1614265330", -300, true)]
    #[case("1614265330", -301, false)]
    #[case("+1614265330", 0, false)]
    #[case(" 1614265330", 0, false)]
    #[case("", 0, false)]
    #[case("-9223372036854775808", 0, false)]
    fn only_fresh_timestamps_are_accepted(#[case] timestamp: &str, #[case] later: i64, #[case] accepted: bool) {
        let secrets = Secrets::first(Secret::generate(&Bytes(7)));
        let signed = headers(&outgoing(b"{}"), &secrets, NOW);
        let at = NOW + SignedDuration::seconds(later);
        let plain = verify_plain(&secrets.current, timestamp, b"{}", &header(&signed, "x-signature"), at);
        let standard = header(&signed, "webhook-signature");
        let standard = verify_standard(&secrets.current, "whd_1", timestamp, b"{}", &standard, at);
        assert_eq!((plain, standard), (accepted, accepted));
    }

    proptest! {
        /// Any change of body, timestamp, identifier or secret is detected.
        #[test]
        fn a_changed_delivery_is_refused(
            body in prop::collection::vec(any::<u8>(), 1..200),
            at in any::<prop::sample::Index>(),
            bit in 0u8..8,
            later in 1i64..300,
        ) {
            let secret = Secret::generate(&Bytes(7));
            let signed = headers(&outgoing(&body), &Secrets::first(secret.clone()), NOW);
            let (plain, standard) = (header(&signed, "x-signature"), header(&signed, "webhook-signature"));
            let timestamp = header(&signed, "x-timestamp");
            prop_assert!(verify_plain(&secret, &timestamp, &body, &plain, NOW));
            prop_assert!(verify_standard(&secret, "whd_1", &timestamp, &body, &standard, NOW));

            let mut changed = body.clone();
            let at = at.index(changed.len());
            changed[at] ^= 1 << bit;
            prop_assert!(!verify_plain(&secret, &timestamp, &changed, &plain, NOW));
            prop_assert!(!verify_standard(&secret, "whd_1", &timestamp, &changed, &standard, NOW));
            let moved = (NOW.as_unix_seconds() + later).to_string();
            prop_assert!(!verify_plain(&secret, &moved, &body, &plain, NOW));
            prop_assert!(!verify_standard(&secret, "whd_1", &moved, &body, &standard, NOW));
            prop_assert!(!verify_standard(&secret, "whd_2", &timestamp, &body, &standard, NOW));
            let other = Secret::generate(&Bytes(8));
            prop_assert!(!verify_plain(&other, &timestamp, &body, &plain, NOW));
            prop_assert!(!verify_standard(&other, "whd_1", &timestamp, &body, &standard, NOW));
        }
    }
}
