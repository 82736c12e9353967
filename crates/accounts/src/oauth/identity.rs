//! The identity that a provider sends, and the user that it signs in.

use kalends_kernel::{UserId, Version};
use kalends_time::Timestamp;
use subtle::ConstantTimeEq;

use super::{Attempt, Client, OauthError, Provider, provider::TENANT};
use crate::{Email, User, UserName};

/// The maximum difference between the provider's clock and ours, in seconds.
const LEEWAY: i64 = 60;
/// The maximum number of characters of a subject, as OpenID Connect allows.
const SUBJECT_MAX: usize = 255;

/// The claims of the identity token from the provider's token endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdentityClaims {
    /// `iss`.
    pub issuer: String,
    /// `aud`: one or several.
    pub audience: Vec<String>,
    /// `azp`: the party that the token was issued to, if there are several audiences.
    pub authorized_party: Option<String>,
    /// `sub`.
    pub subject: String,
    /// `exp`, in Unix seconds.
    pub expires: i64,
    /// `iat`, in Unix seconds.
    pub issued: i64,
    /// `nonce`.
    pub nonce: Option<String>,
    /// `email`.
    pub email: Option<String>,
    /// Whether the provider vouches for the address: `email_verified`, or Microsoft's `xms_edov`.
    pub email_verified: bool,
    /// `name`.
    pub name: Option<String>,
}

/// A person's identity at a provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// The provider.
    pub provider: Provider,
    /// The issuer, because a provider may have several.
    pub issuer: String,
    /// The permanent identifier there. Addresses can change hands; subjects do not.
    pub subject: String,
    /// The address, if the provider sent a valid one.
    pub email: Option<Email>,
    /// Whether the provider vouches for the address.
    pub email_verified: bool,
    /// The name, if the provider sent one.
    pub name: Option<String>,
}

impl IdentityClaims {
    /// Checks an identity token against its attempt and client (OpenID Connect Core section 3.1.3.7).
    ///
    /// # Errors
    /// [`OauthError`].
    pub fn check(self, attempt: &Attempt, client: &Client, now: Timestamp) -> Result<Identity, OauthError> {
        if attempt.provider != client.provider || !client.is_issuer(&self.issuer) {
            return Err(OauthError::Issuer);
        }
        let for_us = self.audience.contains(&client.client_id);
        let by_us = match &self.authorized_party {
            Some(party) => *party == client.client_id,
            None => self.audience.len() == 1,
        };
        if !for_us || !by_us {
            return Err(OauthError::Audience);
        }
        let seconds = now.as_unix_seconds();
        if seconds >= self.expires.saturating_add(LEEWAY) || self.issued > seconds.saturating_add(LEEWAY) {
            return Err(OauthError::Time);
        }
        let nonce = self.nonce.as_deref().unwrap_or("");
        if !bool::from(nonce.as_bytes().ct_eq(attempt.nonce.as_bytes())) {
            return Err(OauthError::Nonce);
        }
        if !(1..=SUBJECT_MAX).contains(&self.subject.len()) {
            return Err(OauthError::Nobody);
        }
        let email = self.email.as_deref().and_then(|email| Email::parse("email", email).ok());
        // A provider with one issuer keeps one spelling, however it writes itself.
        let issuer = if client.issuer.contains(TENANT) { self.issuer } else { client.issuer.clone() };
        Ok(Identity {
            provider: client.provider,
            issuer,
            subject: self.subject,
            email_verified: self.email_verified && email.is_some(),
            email,
            name: self.name,
        })
    }
}

impl Identity {
    /// The name of a new user: the one that the provider sent, or else the part of the address before the `@`.
    pub fn user_name(&self, email: &Email) -> UserName {
        let sent = self.name.as_deref().map(str::trim).and_then(|name| UserName::parse("name", name).ok());
        let local = email.as_str().split('@').next().unwrap_or_default();
        sent.unwrap_or_else(|| UserName::from_stored(local.chars().take(UserName::MAX).collect()))
    }
}

/// A stored identity of a user. An identity belongs to one user; a user may have several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownIdentity {
    /// The provider.
    pub provider: Provider,
    /// The issuer.
    pub issuer: String,
    /// The subject.
    pub subject: String,
    /// The user.
    pub user: UserId,
    /// When it was linked.
    pub since: Timestamp,
}

impl KnownIdentity {
    /// The row that links the identity to the user.
    pub fn of(identity: &Identity, user: UserId, since: Timestamp) -> Self {
        let Identity { provider, issuer, subject, .. } = identity.clone();
        Self { provider, issuer, subject, user, since }
    }
}

impl User {
    /// The user after a provider has vouched for their address. If nobody had proved the address before, the password
    /// may have been set by somebody else who only claimed it. So the password is removed, and the caller ends the
    /// earlier sessions and other identities ([`Linking::first_proof`]).
    pub fn vouched_for(&self, now: Timestamp) -> Linking {
        let first_proof = self.email_verified_at.is_none();
        let password = if first_proof { None } else { self.password.clone() };
        let user = Self { password, ..self.proved(now) };
        Linking { user, seen: self.version, first_proof }
    }
}

impl Linking {
    /// Whether the identity may be added to those that the user `has`. If a proved address now belongs to another
    /// account at the same provider, it has changed hands, and its current holder is another person.
    pub fn may_add(&self, identity: &Identity, has: &[KnownIdentity]) -> bool {
        let same = |known: &KnownIdentity| known.provider == identity.provider && known.issuer == identity.issuer;
        self.first_proof || !has.iter().any(same)
    }
}

/// The result of linking an identity to the user with its address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Linking {
    /// The row to write.
    pub user: User,
    /// The version that was read.
    pub seen: Version,
    /// Whether this is the first proof of the address. If so, the account's earlier credentials stop working.
    pub first_proof: bool,
}

/// The user that an identity signs in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignInAs {
    /// Nobody: the identity is unknown and has no address.
    Nobody,
    /// The user with that identity.
    Known(UserId),
    /// The user with that address, which the provider vouches for. The identity is added ([`User::vouched_for`]).
    Linked(UserId),
    /// A new user. Their address only counts as verified if the provider vouches for it.
    New,
    /// Nobody: the address belongs to a user, but the provider does not vouch for it. That user has to sign in as
    /// before.
    NotVouched,
}

/// The user that an identity signs in, given the user with the identity and the user with the address. Anyone may
/// claim an address that the provider does not vouch for, so such an address does not sign in the user who has it.
pub fn sign_in_as(identity: &Identity, by_subject: Option<UserId>, by_email: Option<UserId>) -> SignInAs {
    match (by_subject, by_email) {
        (None, _) if identity.email.is_none() => SignInAs::Nobody,
        (Some(user), _) => SignInAs::Known(user),
        (None, Some(user)) if identity.email_verified => SignInAs::Linked(user),
        (None, Some(_)) => SignInAs::NotVouched,
        (None, None) => SignInAs::New,
    }
}

#[cfg(test)]
mod tests {
    use kalends_time::SignedDuration;
    use rstest::rstest;

    use super::{
        super::{
            parse_terms_version,
            tests::{NOW, attempt, client},
        },
        *,
    };

    const fn user(number: u8) -> UserId {
        UserId::from_bytes([number; 16])
    }

    fn claims(attempt: &Attempt) -> IdentityClaims {
        IdentityClaims {
            issuer: "https://provider.example".to_owned(),
            audience: vec!["kalends&co".to_owned()],
            authorized_party: None,
            subject: "10769150350006150715113082367".to_owned(),
            expires: NOW.as_unix_seconds() + 3_600,
            issued: NOW.as_unix_seconds(),
            nonce: Some(attempt.nonce.clone()),
            email: Some("Ada@Example.com".to_owned()),
            email_verified: true,
            name: Some("Ada".to_owned()),
        }
    }

    #[test]
    fn a_valid_identity_token_is_accepted() {
        let attempt = attempt();
        let identity = claims(&attempt).check(&attempt, &client(Provider::Google), NOW).unwrap();
        let email = identity.email.as_ref().map(Email::as_str);
        assert_eq!((email, identity.email_verified), (Some("ada@example.com"), true));
        let both = IdentityClaims {
            audience: vec!["other".to_owned(), "kalends&co".to_owned()],
            authorized_party: Some("kalends&co".to_owned()),
            ..claims(&attempt)
        };
        assert!(both.check(&attempt, &client(Provider::Google), NOW).is_ok());
    }

    #[rstest]
    #[case::another_issuer(|claims: &mut IdentityClaims| claims.issuer.push('/'), OauthError::Issuer)]
    #[case::another_audience(|claims: &mut IdentityClaims| claims.audience = vec!["other".to_owned()], OauthError::Audience)]
    #[case::no_audience(|claims: &mut IdentityClaims| claims.audience.clear(), OauthError::Audience)]
    #[case::several_and_no_party(|claims: &mut IdentityClaims| claims.audience.push("other".to_owned()), OauthError::Audience)]
    #[case::another_party(|claims: &mut IdentityClaims| claims.authorized_party = Some("other".to_owned()), OauthError::Audience)]
    #[case::expired(|claims: &mut IdentityClaims| claims.expires = NOW.as_unix_seconds() - 60, OauthError::Time)]
    #[case::of_the_future(|claims: &mut IdentityClaims| claims.issued = NOW.as_unix_seconds() + 61, OauthError::Time)]
    #[case::no_nonce(|claims: &mut IdentityClaims| claims.nonce = None, OauthError::Nonce)]
    #[case::another_nonce(|claims: &mut IdentityClaims| claims.nonce = Some("x".to_owned()), OauthError::Nonce)]
    #[case::no_subject(|claims: &mut IdentityClaims| claims.subject.clear(), OauthError::Nobody)]
    fn invalid_identity_tokens_are_refused(#[case] spoil: fn(&mut IdentityClaims), #[case] error: OauthError) {
        let attempt = attempt();
        let mut spoiled = claims(&attempt);
        spoil(&mut spoiled);
        assert_eq!(spoiled.check(&attempt, &client(Provider::Google), NOW), Err(error));
    }

    #[rstest]
    #[case::none(None)]
    #[case::no_real_one(Some("ada"))]
    fn without_an_address_only_known_identities_sign_in(#[case] email: Option<&str>) {
        let attempt = attempt();
        let claims = IdentityClaims { email: email.map(str::to_owned), ..claims(&attempt) };
        let identity = claims.check(&attempt, &client(Provider::Google), NOW).unwrap();
        assert!(identity.email.is_none() && !identity.email_verified);
        assert_eq!(sign_in_as(&identity, None, None), SignInAs::Nobody);
        assert_eq!(sign_in_as(&identity, Some(user(1)), None), SignInAs::Known(user(1)));
    }

    #[test]
    fn both_spellings_of_googles_issuer_are_accepted() {
        let (attempt, client) = (attempt(), client(Provider::Google));
        let claims = IdentityClaims { issuer: "provider.example".to_owned(), ..claims(&attempt) };
        assert_eq!(claims.check(&attempt, &client, NOW).unwrap().issuer, client.issuer);
    }

    #[test]
    fn an_address_that_changed_hands_opens_no_account() {
        let attempt = attempt();
        let identity = claims(&attempt).check(&attempt, &client(Provider::Google), NOW).unwrap();
        let email = Email::parse("email", "ada@example.com").unwrap();
        let ada = User::create(user(1), email, UserName::from_stored("Ada".to_owned()), None, NOW);
        let other = KnownIdentity { subject: "another".to_owned(), ..KnownIdentity::of(&identity, user(1), NOW) };
        let elsewhere = KnownIdentity { provider: Provider::Microsoft, ..other.clone() };
        // A user who only typed the address has not proved that they own it.
        let first = ada.vouched_for(NOW);
        assert!(first.may_add(&identity, std::slice::from_ref(&other)));
        let second = first.user.vouched_for(NOW);
        assert!(second.may_add(&identity, &[]) && second.may_add(&identity, std::slice::from_ref(&elsewhere)));
        assert!(!second.may_add(&identity, &[elsewhere, other]));
    }

    #[rstest]
    #[case::known(Some(1), None, true, SignInAs::Known(user(1)))]
    #[case::known_under_another_s_address(Some(1), Some(2), true, SignInAs::Known(user(1)))]
    #[case::linked(None, Some(2), true, SignInAs::Linked(user(2)))]
    #[case::an_address_that_nobody_vouches_for(None, Some(2), false, SignInAs::NotVouched)]
    #[case::new(None, None, true, SignInAs::New)]
    #[case::new_and_not_vouched_for(None, None, false, SignInAs::New)]
    fn an_identity_signs_in_its_user(
        #[case] by_subject: Option<u8>,
        #[case] by_email: Option<u8>,
        #[case] email_verified: bool,
        #[case] expected: SignInAs,
    ) {
        let attempt = attempt();
        let claims = IdentityClaims { email_verified, ..claims(&attempt) };
        let identity = claims.check(&attempt, &client(Provider::Google), NOW).unwrap();
        assert_eq!(sign_in_as(&identity, by_subject.map(user), by_email.map(user)), expected);
    }

    #[test]
    fn the_first_proof_of_an_address_removes_the_password() {
        use crate::PasswordHash;
        let password = PasswordHash::new("$argon2id$".to_owned());
        let email = Email::parse("email", "ada@example.com").unwrap();
        let ada = User::create(user(1), email, UserName::from_stored("Ada".to_owned()), Some(password.clone()), NOW);
        let later = NOW + SignedDuration::hours(1);
        let first = ada.vouched_for(later);
        assert!(first.first_proof && first.user.password.is_none());
        assert_eq!(
            (first.user.email_verified_at, first.seen, first.user.version),
            (Some(later), ada.version, ada.version.next())
        );
        let proved = User { password: Some(password), ..first.user };
        let second = proved.vouched_for(later + SignedDuration::hours(1));
        assert!(!second.first_proof && second.user.password.is_some());
        assert_eq!(second.user.email_verified_at, Some(later));
    }

    #[test]
    fn new_users_have_a_name() {
        let attempt = attempt();
        let named = |name: Option<&str>| {
            let claims = IdentityClaims { name: name.map(str::to_owned), ..claims(&attempt) };
            claims
                .check(&attempt, &client(Provider::Google), NOW)
                .unwrap()
                .user_name(&Email::parse("email", "ada@example.com").unwrap())
                .as_str()
                .to_owned()
        };
        assert_eq!(named(Some(" Ada Lovelace ")), "Ada Lovelace");
        for unusable in [None, Some(""), Some("  "), Some(&*"x".repeat(101))] {
            assert_eq!(named(unusable), "ada", "{unusable:?}");
        }
        assert_eq!(parse_terms_version("2026-01-01"), Ok("2026-01-01".to_owned()));
        assert!(parse_terms_version("").is_err() && parse_terms_version(&"x".repeat(65)).is_err());
    }
}
