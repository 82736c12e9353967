//! Humans with a console account (ruling 3.10).

use std::fmt;

use kalends_kernel::{FieldError, OrgId, Timestamp, UserId, Version, bounded_text};
use zeroize::Zeroizing;

use crate::Email;

/// A password as its owner types it. Kept in memory no longer than it takes to hash it.
#[derive(Clone, PartialEq, Eq)]
pub struct Password(Zeroizing<String>);

impl Password {
    /// The fewest characters.
    pub const MIN: usize = 10;
    /// The most characters: hashing longer ones only costs.
    pub const MAX: usize = 128;

    /// Checks the length in characters. Any character is allowed but NUL; nothing is trimmed or folded.
    ///
    /// # Errors
    /// Names the field and the bounds, never the password.
    pub fn parse(param: &str, text: String) -> Result<Self, FieldError> {
        let text = Zeroizing::new(text);
        let length = text.chars().count();
        if !(Self::MIN..=Self::MAX).contains(&length) {
            let message = format!("must be {} to {} characters long, got {length}", Self::MIN, Self::MAX);
            return Err(FieldError::new(param, message));
        }
        if text.contains('\0') {
            return Err(FieldError::new(param, "must not contain the NUL character"));
        }
        Ok(Self(text))
    }

    /// The password as somebody tries it at sign-in: whatever is out of bounds is wrong, and told like any
    /// wrong one, so that no bounds are checked here but the longest.
    pub fn attempt(text: String) -> Option<Self> {
        let text = Zeroizing::new(text);
        (text.chars().count() <= Self::MAX).then_some(Self(text))
    }

    /// The text, for the hash function.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Password(…)")
    }
}

/// A password's hash as a PHC string (Argon2id, ruling 3.1). It is made and checked by an adapter.
#[derive(Clone, PartialEq, Eq)]
pub struct PasswordHash(String);

impl PasswordHash {
    /// The hash as a store or the adapter has it.
    pub const fn new(phc: String) -> Self {
        Self(phc)
    }

    /// The PHC string.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for PasswordHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PasswordHash(…)")
    }
}

/// A human's name: 1-100 characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserName(String);

impl UserName {
    /// The most characters.
    pub const MAX: usize = 100;

    /// Checks the bounds.
    ///
    /// # Errors
    /// Names the field and the bounds.
    pub fn parse(param: &str, text: &str) -> Result<Self, FieldError> {
        bounded_text(param, text, 1, Self::MAX).map(Self)
    }

    /// The name as a store kept it.
    pub const fn from_stored(name: String) -> Self {
        Self(name)
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A human as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    /// The identifier.
    pub id: UserId,
    /// The address, which is unique.
    pub email: Email,
    /// When it was proved that the human reads mail there; `None` where it is only their word. Whoever opens the
    /// account by another proof of the address (a provider's word) takes it from whoever set its password.
    pub email_verified_at: Option<Timestamp>,
    /// The name.
    pub name: UserName,
    /// The password's hash; `None` for whoever signs in with a provider only.
    pub password: Option<PasswordHash>,
    /// The row's version: raised by every change of the row, of what the human owns, and so what a decision
    /// about either is held against.
    pub version: Version,
    /// When the account was made.
    pub created_at: Timestamp,
    /// When the row last changed.
    pub updated_at: Timestamp,
}

impl User {
    /// A human who has just signed up: with a password, or with a provider. Nothing proves their address yet.
    pub const fn create(
        id: UserId,
        email: Email,
        name: UserName,
        password: Option<PasswordHash>,
        now: Timestamp,
    ) -> Self {
        Self {
            id,
            email,
            email_verified_at: None,
            name,
            password,
            version: Version::FIRST,
            created_at: now,
            updated_at: now,
        }
    }

    /// The human with another password. All other sessions end with it
    /// ([`crate::SessionEnd::PasswordChange`]).
    #[must_use]
    pub fn with_password(&self, password: PasswordHash, now: Timestamp) -> Self {
        Self { password: Some(password), ..self.changed(now) }
    }

    /// The human with a password that was set by a token which was mailed to them. It proves their address too, and all
    /// sessions end with it.
    #[must_use]
    pub fn with_mailed_password(&self, password: PasswordHash, now: Timestamp) -> Self {
        Self { email_verified_at: self.email_verified_at.or(Some(now)), ..self.with_password(password, now) }
    }

    /// The human under another name.
    #[must_use]
    pub fn named(&self, name: UserName, now: Timestamp) -> Self {
        Self { name, ..self.changed(now) }
    }

    fn changed(&self, now: Timestamp) -> Self {
        Self { version: self.version.next(), updated_at: now, ..self.clone() }
    }
}

/// That a human owns an organization. A human may own several.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ownership {
    /// The human.
    pub user: UserId,
    /// The organization, which has one owner at most.
    pub org: OrgId,
    /// Since when.
    pub since: Timestamp,
}

/// The organization that a session opens: the one that the human chose last where it is still theirs, else
/// the one that they have owned longest.
pub fn active_organization(owned: &[Ownership], chosen: Option<OrgId>) -> Option<OrgId> {
    let chosen = owned.iter().find(|ownership| Some(ownership.org) == chosen);
    let longest = || owned.iter().min_by_key(|ownership| (ownership.since, ownership.org));
    chosen.or_else(longest).map(|ownership| ownership.org)
}

/// Whether a human goes with an organization that is deleted: they own nothing else.
pub fn goes_with(owned: &[Ownership], org: OrgId) -> bool {
    owned.iter().all(|ownership| ownership.org == org)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::nine("123456789", false)]
    #[case::ten("1234567890", true)]
    #[case::characters_count("ééééééééé\u{1f511}", true)]
    #[case::the_longest(&"x".repeat(128), true)]
    #[case::too_long(&"x".repeat(129), false)]
    #[case::blanks_are_characters("          ", true)]
    #[case::nul("1234567890\0", false)]
    #[case::empty("", false)]
    fn passwords_are_bounded(#[case] text: &str, #[case] fits: bool) {
        let parsed = Password::parse("password", text.to_owned());
        assert_eq!(parsed.is_ok(), fits);
        if let Err(error) = parsed {
            assert!(error.param == "password" && (text.is_empty() || !error.message.contains(text)));
        }
    }

    #[test]
    fn a_password_is_kept_as_it_was_typed_and_never_shown() {
        let password = Password::parse("password", " correct horse ".to_owned()).unwrap();
        assert_eq!(password.reveal(), " correct horse ");
        assert_eq!(format!("{password:?}"), "Password(…)");
        assert_eq!(format!("{:?}", PasswordHash::new("$argon2id$".to_owned())), "PasswordHash(…)");
        assert!(Password::attempt("short".to_owned()).is_some(), "wrong, but not out of bounds");
        assert_eq!(Password::attempt("x".repeat(129)), None, "not worth hashing");
    }

    #[test]
    fn a_mailed_password_proves_the_address() {
        let (email, name) = (Email::from_stored("ada@example.com".to_owned()), UserName::from_stored("Ada".to_owned()));
        let (made, later) = (Timestamp::from_micros(10), Timestamp::from_micros(20));
        let user = User::create(UserId::from_bytes([1; 16]), email, name, None, made);
        let set = user.with_mailed_password(PasswordHash::new("$one".to_owned()), later);
        assert_eq!((set.email_verified_at, set.version), (Some(later), user.version.next()));
        assert_eq!(set.password, Some(PasswordHash::new("$one".to_owned())));
        let again = set.with_mailed_password(PasswordHash::new("$two".to_owned()), Timestamp::from_micros(30));
        assert_eq!(again.email_verified_at, Some(later), "the first proof stands");
    }

    #[rstest]
    #[case("", false)]
    #[case("Ada", true)]
    #[case(&"é".repeat(100), true)]
    #[case(&"é".repeat(101), false)]
    fn names_are_bounded(#[case] name: &str, #[case] fits: bool) {
        assert_eq!(UserName::parse("name", name).is_ok(), fits);
    }

    #[test]
    fn a_session_opens_one_organization() {
        let user = UserId::from_bytes([1; 16]);
        let owned = |org: u8, since| Ownership {
            user,
            org: OrgId::from_bytes([org; 16]),
            since: Timestamp::from_micros(since),
        };
        let all = [owned(3, 20), owned(2, 10), owned(1, 20)];
        assert_eq!(active_organization(&all, None), Some(all[1].org));
        assert_eq!(active_organization(&all, Some(all[0].org)), Some(all[0].org));
        assert_eq!(active_organization(&all, Some(OrgId::from_bytes([9; 16]))), Some(all[1].org), "not theirs");
        assert_eq!(active_organization(&[], Some(all[0].org)), None);
        assert_eq!(active_organization(&[all[0], all[2]], None), Some(all[2].org), "of equals the first by id");
        assert!(goes_with(&all[..1], all[0].org) && !goes_with(&all, all[0].org));
    }
}
