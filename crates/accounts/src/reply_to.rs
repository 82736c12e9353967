//! The address that replies to an organization's emails go to.
//!
//! Anyone can name any address, so it is asked by email first, and used once the person with the link in that email has
//! agreed. Until then the address that agreed before stays in use. The same link also ends the replies.

use std::fmt;

use kalends_kernel::{Entropy, OrgId, base64url, from_base64url, random_bytes};
use kalends_time::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::{Email, stored_address};

/// How long an address can agree.
pub const REPLY_TO_ASKED_LASTS: SignedDuration = SignedDuration::days(7);

/// The addresses of an organization for replies.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ReplyTo {
    /// The address in use. It has agreed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    agreed: Option<AskedAddress>,
    /// The address that was asked last, until it agrees.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    asked: Option<AskedAddress>,
}

/// An address that was asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AskedAddress {
    /// The address.
    #[serde(with = "stored_address")]
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
    /// The address in use: it has agreed.
    pub fn in_use(&self) -> Option<&Email> {
        self.agreed.as_ref().map(|agreed| &agreed.email)
    }

    /// The address that was asked and can still agree at `now`.
    pub fn asked(&self, now: Timestamp) -> Option<&AskedAddress> {
        self.asked.as_ref().filter(|asked| now < asked.expires_at())
    }

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
        if self.in_use() == Some(&email) {
            return (Self { agreed: self.agreed.clone(), asked: None }, None);
        }
        let token = ReplyToToken { org, secret: random_bytes(entropy) };
        let asked = AskedAddress { email, at: now, secret: token.hash() };
        (Self { agreed: self.agreed.clone(), asked: Some(asked) }, Some(token))
    }

    /// The address whose link has this token, and whether it has agreed. `None` if the link is replaced, has expired before
    /// the address agreed, or never existed.
    pub fn opened_by(&self, token: &ReplyToToken, now: Timestamp) -> Option<(&Email, bool)> {
        let hash = token.hash();
        let agreed = self.agreed.as_ref().filter(|agreed| agreed.secret == hash);
        let asked = self.asked(now).filter(|asked| asked.secret == hash);
        agreed.map(|of| (&of.email, true)).or_else(|| asked.map(|of| (&of.email, false)))
    }

    /// The addresses after the one whose link has this token has answered: it agrees, or no reply is to go to it. `None` as
    /// for [`Self::opened_by`].
    #[must_use]
    pub fn answered_with(&self, token: &ReplyToToken, agrees: bool, now: Timestamp) -> Option<Self> {
        let (_, agreed) = self.opened_by(token, now)?;
        let Self { agreed: in_use, asked } = self.clone();
        Some(match (agreed, agrees) {
            (true, true) => Self { agreed: in_use, asked },
            (false, true) => Self { agreed: asked, asked: None },
            (true, false) => Self { agreed: None, asked },
            (false, false) => Self { agreed: in_use, asked: None },
        })
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
        let (ada, bob) = (email("ada@example.com"), email("bob@example.com"));
        let (first, token) = asked(&ReplyTo::default(), "ada@example.com", &entropy);
        assert_eq!((first.in_use(), first.opened_by(&token, NOW)), (None, Some((&ada, false))));
        let agreed = first.answered_with(&token, true, NOW).unwrap();
        assert_eq!((agreed.in_use(), agreed.asked(NOW)), (Some(&ada), None));
        // The link shows for ever that it has agreed. The same answer changes nothing.
        let later = NOW + REPLY_TO_ASKED_LASTS;
        assert_eq!(agreed.opened_by(&token, later), Some((&ada, true)));
        assert_eq!(agreed.answered_with(&token, true, later), Some(agreed.clone()));

        // Another address is asked, and the first stays in use until it agrees.
        let (second, other) = asked(&agreed, "bob@example.com", &entropy);
        assert_eq!((second.in_use(), second.opened_by(&token, NOW)), (Some(&ada), Some((&ada, true))));
        let replaced = second.answered_with(&other, true, NOW).unwrap();
        assert_eq!((replaced.in_use(), replaced.opened_by(&token, NOW)), (Some(&bob), None));
        // Back to the first, which is not asked again.
        assert_eq!(second.asking(ORG, ada, NOW, &entropy), (agreed, None));
    }

    #[test]
    fn an_address_can_refuse_and_stop() {
        let entropy = Counting::default();
        let (first, token) = asked(&ReplyTo::default(), "ada@example.com", &entropy);
        assert_eq!(first.answered_with(&token, false, NOW), Some(ReplyTo::default()));
        let agreed = first.answered_with(&token, true, NOW).unwrap();
        assert_eq!(agreed.answered_with(&token, false, NOW), Some(ReplyTo::default()));
        // Each answers for itself alone.
        let (second, other) = asked(&agreed, "bob@example.com", &entropy);
        assert_eq!(second.answered_with(&other, false, NOW), Some(agreed.clone()));
        let stopped = second.answered_with(&token, false, NOW).unwrap();
        assert_eq!((stopped.in_use(), stopped.asked(NOW).map(|of| &of.email)), (None, Some(&email("bob@example.com"))));
    }

    #[test]
    fn only_the_newest_link_works_and_only_for_seven_days() {
        let entropy = Counting::default();
        let (first, old) = asked(&ReplyTo::default(), "ada@example.com", &entropy);
        let (again, token) = asked(&first, "ada@example.com", &entropy);
        assert_eq!(again.opened_by(&old, NOW), None);
        let end = NOW + REPLY_TO_ASKED_LASTS;
        let last = end - SignedDuration::micros(1);
        assert!(again.asked(last).is_some() && again.answered_with(&token, true, last).is_some());
        assert_eq!((again.asked(end), again.answered_with(&token, true, end)), (None, None));
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
        let both = ReplyTo { agreed: asked.asked.clone(), ..asked.clone() };
        for addresses in [ReplyTo::default(), asked, both] {
            let json = serde_json::to_string(&addresses).unwrap();
            assert_eq!(serde_json::from_str::<ReplyTo>(&json).unwrap(), addresses, "{json}");
        }
    }
}
