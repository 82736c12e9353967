//! Users: people with a console account.

use std::fmt;

use kalends_kernel::{FieldError, UserId, Version, bounded_text};
use kalends_time::Timestamp;
use zeroize::Zeroizing;

use crate::Email;

/// A password as its owner types it. It is kept in memory only until it is hashed.
#[derive(Clone, PartialEq, Eq)]
pub struct Password(Zeroizing<String>);

impl Password {
    /// The minimum number of characters.
    pub const MIN: usize = 10;
    /// The maximum number of characters. Hashing longer ones only costs more.
    pub const MAX: usize = 128;

    /// Checks the length in characters. Any character except NUL is allowed. Nothing is trimmed or folded.
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

    /// A password from a sign-in attempt. A password out of bounds is wrong, and gets the same response as any wrong
    /// one, so only the maximum length is checked here.
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

/// A password's hash as a PHC string (Argon2id). An adapter creates and checks it.
#[derive(Clone, PartialEq, Eq)]
pub struct PasswordHash(String);

impl PasswordHash {
    /// The hash from a store or the adapter.
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

/// A user's name: 1-100 characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserName(String);

impl UserName {
    /// The maximum number of characters.
    pub const MAX: usize = 100;

    /// Checks the bounds.
    ///
    /// # Errors
    /// Names the field and the bounds.
    pub fn parse(param: &str, text: &str) -> Result<Self, FieldError> {
        bounded_text(param, text, 1, Self::MAX).map(Self)
    }

    /// The name from a store.
    pub const fn from_stored(name: String) -> Self {
        Self(name)
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A user as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    /// The identifier.
    pub id: UserId,
    /// The address that the user states.
    pub email: Email,
    /// When the user proved that they read mail at the address; `None` if they only stated the address. In that case, a
    /// person who proves the address in another way, such as with a provider, takes the account over from the person
    /// who set its password.
    pub email_verified_at: Option<Timestamp>,
    /// Whether the address belongs to this user. One user at most holds an address, and a proved address is held. Several
    /// users who do not hold it can state the same one; it belongs to the first of them who proves it.
    pub holds_address: bool,
    /// The name.
    pub name: UserName,
    /// The password's hash; `None` if the user only signs in with a provider.
    pub password: Option<PasswordHash>,
    /// The row's version. Every change of the row and of the user's memberships raises it, so decisions about either
    /// are guarded by it.
    pub version: Version,
    /// When the account was created.
    pub created_at: Timestamp,
    /// When the row last changed.
    pub updated_at: Timestamp,
}

impl User {
    /// A user who has just signed up, with a password or with a provider. They hold their address, which is not proved
    /// yet.
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
            holds_address: true,
            name,
            password,
            version: Version::FIRST,
            created_at: now,
            updated_at: now,
        }
    }

    /// The user with another password hash. If the password itself is new, the caller also ends the user's earlier
    /// sessions ([`crate::SessionEnd::PasswordChange`]).
    #[must_use]
    pub fn with_password(&self, password: PasswordHash, now: Timestamp) -> Self {
        Self { password: Some(password), ..self.changed(now) }
    }

    /// The user with a password that was set with a mailed token. This also proves their address. The caller ends all
    /// of their sessions.
    #[must_use]
    pub fn with_mailed_password(&self, password: PasswordHash, now: Timestamp) -> Self {
        Self { password: Some(password), ..self.proved(now) }
    }

    /// The user under another name.
    #[must_use]
    pub fn named(&self, name: UserName, now: Timestamp) -> Self {
        Self { name, ..self.changed(now) }
    }

    /// The user, whose address is proved now if it was not before.
    #[must_use]
    pub fn proved(&self, now: Timestamp) -> Self {
        let email_verified_at = self.email_verified_at.or(Some(now));
        Self { email_verified_at, holds_address: true, ..self.changed(now) }
    }

    fn changed(&self, now: Timestamp) -> Self {
        Self { version: self.version.next(), updated_at: now, ..self.clone() }
    }
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
    fn a_password_is_kept_as_typed_and_never_shown() {
        let password = Password::parse("password", " correct horse ".to_owned()).unwrap();
        assert_eq!(password.reveal(), " correct horse ");
        assert_eq!(format!("{password:?}"), "Password(…)");
        assert_eq!(format!("{:?}", PasswordHash::new("$argon2id$".to_owned())), "PasswordHash(…)");
        assert!(Password::attempt("short".to_owned()).is_some(), "wrong, but within the maximum");
        assert_eq!(Password::attempt("x".repeat(129)), None, "not worth hashing");
    }

    #[test]
    fn a_mailed_password_proves_the_address() {
        let (email, name) = (Email::from_stored("ada@example.com".to_owned()), UserName::from_stored("Ada".to_owned()));
        let (made, later) = (Timestamp::from_micros(10), Timestamp::from_micros(20));
        let hash = |text: &str| PasswordHash::new(text.to_owned());
        let user = User::create(UserId::from_bytes([1; 16]), email, name, None, made);
        let set = user.with_mailed_password(hash("$one"), later);
        assert_eq!((set.email_verified_at, set.version), (Some(later), user.version.next()));
        let stated = User { holds_address: false, ..user };
        assert!(stated.proved(later).holds_address && stated.with_mailed_password(hash("$one"), later).holds_address);
        assert_eq!(set.password, Some(hash("$one")));
        let again = set.with_mailed_password(hash("$two"), Timestamp::from_micros(30));
        assert_eq!(again.email_verified_at, Some(later), "the first proof is kept");
    }

    #[rstest]
    #[case("", false)]
    #[case("Ada", true)]
    #[case(&"é".repeat(100), true)]
    #[case(&"é".repeat(101), false)]
    fn names_are_bounded(#[case] name: &str, #[case] fits: bool) {
        assert_eq!(UserName::parse("name", name).is_ok(), fits);
    }
}
