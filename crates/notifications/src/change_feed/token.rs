//! The tokens of readers.

use kalends_kernel::{OrgId, base64url, from_base64url};
use kalends_time::SignedDuration;

/// How long an entry is kept. The purge must use this constant, because the error for an old token names it.
pub const CHANGES_KEPT: SignedDuration = SignedDuration::days(7);

/// The approximate maximum size of the bodies on a page, in bytes. It is small because many readers of an organization
/// may be woken at once.
pub const FEED_PAGE_BYTES: usize = 1 << 20;

/// How many entries one read looks at, whether they have a wanted type or not.
pub const ENTRIES_LOOKED_AT: i64 = 5_000;

/// The position of an entry in its organization's change feed. A reader at a position has everything up to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FeedPosition(pub i64);

impl FeedPosition {
    /// The last position that one read looks at, for a reader at this one.
    #[must_use]
    pub const fn looked_on(self) -> Self {
        Self(self.0.saturating_add(ENTRIES_LOOKED_AT))
    }
}

/// Why a reader cannot continue from a token and must read everything again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FeedResync {
    /// The text is not a token of the organization, or the feed has not come so far.
    #[error(
        "since is not a token of this organization's changes; start again: ask without since for next, then read \
         everything, then continue from next"
    )]
    Unknown,
    /// Entries after the token have been purged.
    #[error(
        "since is older than {days} days, for which changes are kept; start again: ask without since for next, then \
         read everything, then continue from next",
        days = CHANGES_KEPT.as_seconds() / 86_400
    )]
    TooOld,
}

/// The progress of a reader of an organization's change feed.
///
/// The text form is opaque to callers: 25 bytes in base64url.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FeedToken {
    org: OrgId,
    position: FeedPosition,
}

/// The first byte of a token, which identifies the format.
const FORMAT: u8 = 1;
const TOKEN_BYTES: usize = 1 + 16 + 8;
const TOKEN_CHARACTERS: usize = (TOKEN_BYTES * 4).div_ceil(3);

impl FeedToken {
    /// The token of a reader that has everything up to `position`.
    pub const fn new(org: OrgId, position: FeedPosition) -> Self {
        Self { org, position }
    }

    /// Reads a token of `org`, and returns its position.
    ///
    /// # Errors
    /// [`FeedResync::Unknown`], also for a token of another organization.
    pub fn parse(text: &str, org: OrgId) -> Result<FeedPosition, FeedResync> {
        let token = Self::read(text).ok_or(FeedResync::Unknown)?;
        if token.org == org { Ok(token.position) } else { Err(FeedResync::Unknown) }
    }

    fn read(text: &str) -> Option<Self> {
        if text.len() != TOKEN_CHARACTERS {
            return None;
        }
        let bytes = from_base64url(text)?;
        let (format, rest) = bytes.split_first()?;
        let (org, rest) = rest.split_first_chunk::<16>()?;
        let position = i64::from_be_bytes(rest.try_into().ok()?);
        (*format == FORMAT && position >= 0)
            .then(|| Self { org: OrgId::from_bytes(*org), position: FeedPosition(position) })
    }

    /// The text form.
    pub fn to_text(self) -> String {
        let mut bytes = Vec::with_capacity(TOKEN_BYTES);
        bytes.push(FORMAT);
        bytes.extend(self.org.uuid().as_bytes());
        bytes.extend(self.position.0.to_be_bytes());
        base64url(&bytes)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ORG: OrgId = OrgId::from_bytes([7; 16]);

    #[test]
    fn other_texts_are_refused() {
        let (negative, good) = (FeedToken::new(ORG, FeedPosition(-1)).to_text(), FeedToken::new(ORG, FeedPosition(1)));
        let long = format!("{}A", good.to_text());
        for text in ["", "x", "!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!", &negative, &long] {
            assert_eq!(FeedToken::parse(text, ORG), Err(FeedResync::Unknown), "{text}");
        }
    }

    #[test]
    fn a_token_of_another_format_is_refused() {
        let text = FeedToken::new(ORG, FeedPosition(1)).to_text();
        let mut bytes = from_base64url(&text).unwrap();
        bytes[0] = FORMAT + 1;
        assert_eq!(FeedToken::parse(&base64url(&bytes), ORG), Err(FeedResync::Unknown));
    }

    #[test]
    fn the_errors_say_how_to_go_on() {
        for error in [FeedResync::Unknown, FeedResync::TooOld] {
            assert!(error.to_string().contains("continue from next"), "{error}");
        }
        assert!(FeedResync::TooOld.to_string().contains("7 days"));
    }

    proptest! {
        /// A token that was written is read back as the same position, in an address without escapes.
        #[test]
        fn a_token_is_read_back(org: [u8; 16], position in 0..=i64::MAX) {
            let org = OrgId::from_bytes(org);
            let text = FeedToken::new(org, FeedPosition(position)).to_text();
            prop_assert_eq!(text.len(), TOKEN_CHARACTERS);
            prop_assert!(text.chars().all(|char| char.is_ascii_alphanumeric() || "-_".contains(char)));
            prop_assert_eq!(FeedToken::parse(&text, org), Ok(FeedPosition(position)));
        }

        /// No organization accepts the token of another one.
        #[test]
        fn a_token_of_another_organization_is_refused(org: [u8; 16], other: [u8; 16], position in 0..=i64::MAX) {
            prop_assume!(org != other);
            let text = FeedToken::new(OrgId::from_bytes(org), FeedPosition(position)).to_text();
            prop_assert_eq!(FeedToken::parse(&text, OrgId::from_bytes(other)), Err(FeedResync::Unknown));
        }

        /// Any text is either refused or the one text of its token.
        #[test]
        fn a_token_has_one_text(text in "[A-Za-z0-9_-]{34}") {
            if let Some(token) = FeedToken::read(&text) {
                prop_assert_eq!(token.to_text(), text);
            }
        }
    }
}
