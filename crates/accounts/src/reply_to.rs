//! The address that replies to an organization's emails go to.
//!
//! Anyone can name any address, so it is asked by email first, and used once the person with the link in that email has
//! agreed. Until then the address that agreed before stays in use.

use std::fmt;

use kalends_kernel::{Entropy, OrgId, base64url, from_base64url, random_bytes};
use kalends_time::{SignedDuration, Timestamp};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest as _, Sha256};

use crate::Email;

/// How long an address can agree.
pub const REPLY_TO_ASKED_LASTS: SignedDuration = SignedDuration::days(7);

/// The addresses of an organization for replies.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ReplyTo {
    /// The address in use. It has agreed.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "address_if_any")]
    pub agreed: Option<Email>,
    /// The address that was asked last, until it agrees.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<AskedAddress>,
}

/// An address that was asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AskedAddress {
    /// The address.
    #[serde(with = "address")]
    pub email: Email,
    /// When it was asked.
    pub at: Timestamp,
    /// SHA-256 of the secret in the link.
    secret: [u8; 32],
}

/// The token of the link in the email to an address: the person who has it agrees for the address.
#[derive(Clone, PartialEq, Eq)]
pub struct ReplyToToken {
    /// The organization.
    pub org: OrgId,
    secret: [u8; 16],
}

impl fmt::Debug for ReplyToToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ReplyToToken(…)")
    }
}

impl ReplyToToken {
    /// The number of characters of a token.
    const LENGTH: usize = 43;

    /// The text for a link: 43 characters of base64url.
    pub fn reveal(&self) -> String {
        base64url([self.org.uuid().into_bytes(), self.secret].as_flattened())
    }

    /// The token from a link; `None` if the text cannot be one.
    pub fn presented(text: &str) -> Option<Self> {
        let bytes = if text.len() == Self::LENGTH { from_base64url(text)? } else { return None };
        let (parts, []) = bytes.as_chunks::<16>() else { return None };
        let [org, secret] = *<&[[u8; 16]; 2]>::try_from(parts).ok()?;
        Some(Self { org: OrgId::from_bytes(org), secret })
    }

    fn hash(&self) -> [u8; 32] {
        Sha256::digest(self.secret).into()
    }
}

impl AskedAddress {
    /// When it can agree no more.
    pub fn expires_at(&self) -> Timestamp {
        self.at + REPLY_TO_ASKED_LASTS
    }
}

impl ReplyTo {
    /// The addresses after `email` is asked at `now`, and the token for the link. If it has agreed already, it is not asked
    /// again, and nobody else is.
    #[must_use]
    pub fn asking(
        &self,
        org: OrgId,
        email: Email,
        now: Timestamp,
        entropy: &dyn Entropy,
    ) -> (Self, Option<ReplyToToken>) {
        if self.agreed.as_ref() == Some(&email) {
            return (Self { agreed: Some(email), asked: None }, None);
        }
        let token = ReplyToToken { org, secret: random_bytes(entropy) };
        let asked = AskedAddress { email, at: now, secret: token.hash() };
        (Self { agreed: self.agreed.clone(), asked: Some(asked) }, Some(token))
    }

    /// The address that was asked with this token and can still agree at `now`.
    pub fn asked_with(&self, token: &ReplyToToken, now: Timestamp) -> Option<&Email> {
        let asked = self.asked.as_ref().filter(|asked| asked.secret == token.hash() && now < asked.expires_at());
        asked.map(|asked| &asked.email)
    }

    /// The addresses after the asked one has agreed with this token; `None` if the token opens nothing.
    #[must_use]
    pub fn agreed_with(&self, token: &ReplyToToken, now: Timestamp) -> Option<Self> {
        Some(Self { agreed: Some(self.asked_with(token, now)?.clone()), asked: None })
    }
}

/// An address as JSON.
mod address {
    use super::{Deserialize as _, Deserializer, Email, Serializer};

    pub(super) fn serialize<S: Serializer>(address: &Email, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(address.as_str())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Email, D::Error> {
        String::deserialize(from).map(Email::from_stored)
    }
}

/// An address that may be missing, as JSON.
mod address_if_any {
    use super::{Deserialize as _, Deserializer, Email, Serialize as _, Serializer};

    pub(super) fn serialize<S: Serializer>(address: &Option<Email>, to: S) -> Result<S::Ok, S::Error> {
        address.as_ref().map(Email::as_str).serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Email>, D::Error> {
        Ok(Option::<String>::deserialize(from)?.map(Email::from_stored))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU8, Ordering};

    use super::*;

    const ORG: OrgId = OrgId::from_bytes([7; 16]);
    const NOW: Timestamp = Timestamp::from_micros(1_800_000_000_000_000);

    /// Fills each time with another byte.
    #[derive(Default)]
    struct Counting(AtomicU8);

    impl Entropy for Counting {
        fn fill(&self, bytes: &mut [u8]) {
            bytes.fill(self.0.fetch_add(1, Ordering::Relaxed));
        }
    }

    fn email(text: &str) -> Email {
        Email::from_stored(text.to_owned())
    }

    fn asked(before: &ReplyTo, address: &str, entropy: &Counting) -> (ReplyTo, ReplyToToken) {
        let (after, token) = before.asking(ORG, email(address), NOW, entropy);
        (after, token.unwrap())
    }

    #[test]
    fn an_address_is_used_once_it_has_agreed() {
        let entropy = Counting::default();
        let (first, token) = asked(&ReplyTo::default(), "ada@example.com", &entropy);
        assert_eq!(first.agreed, None);
        let agreed = first.agreed_with(&token, NOW).unwrap();
        assert_eq!((agreed.agreed.clone(), agreed.asked.clone()), (Some(email("ada@example.com")), None));
        assert_eq!(agreed.agreed_with(&token, NOW), None, "a link works once");

        // Another address is asked, and the first stays in use until it agrees.
        let (second, other) = asked(&agreed, "bob@example.com", &entropy);
        assert_eq!(second.agreed, Some(email("ada@example.com")));
        assert_eq!(second.agreed_with(&token, NOW), None);
        assert_eq!(second.agreed_with(&other, NOW).unwrap().agreed, Some(email("bob@example.com")));
        // Back to the first, which is not asked again.
        let (back, none) = second.asking(ORG, email("ada@example.com"), NOW, &entropy);
        assert_eq!((back, none), (agreed, None));
    }

    #[test]
    fn only_the_newest_link_works_and_only_for_seven_days() {
        let entropy = Counting::default();
        let (first, old) = asked(&ReplyTo::default(), "ada@example.com", &entropy);
        let (again, token) = asked(&first, "ada@example.com", &entropy);
        assert_eq!(again.asked_with(&old, NOW), None);
        let last = NOW + REPLY_TO_ASKED_LASTS - SignedDuration::micros(1);
        assert_eq!(again.asked_with(&token, last), Some(&email("ada@example.com")));
        assert_eq!(again.asked_with(&token, NOW + REPLY_TO_ASKED_LASTS), None);
    }

    #[test]
    fn tokens_are_read_back() {
        let (_, token) = asked(&ReplyTo::default(), "ada@example.com", &Counting::default());
        let text = token.reveal();
        assert_eq!(text.len(), ReplyToToken::LENGTH);
        assert_eq!(ReplyToToken::presented(&text), Some(token.clone()));
        for wrong in ["", "x", &text[1..], &format!("{text}A"), &"=".repeat(43)] {
            assert_eq!(ReplyToToken::presented(wrong), None, "{wrong}");
        }
        assert!(!format!("{token:?}").contains(&text));
    }

    #[test]
    fn stored_addresses_are_read_back() {
        let (asked, _) = asked(&ReplyTo::default(), "ada@example.com", &Counting::default());
        let both = ReplyTo { agreed: Some(email("bob@example.com")), ..asked.clone() };
        for addresses in [ReplyTo::default(), asked, both] {
            let json = serde_json::to_string(&addresses).unwrap();
            assert_eq!(serde_json::from_str::<ReplyTo>(&json).unwrap(), addresses, "{json}");
        }
    }
}
