//! Connectors: programs that a person lets act for an agent by OAuth, and what they hold.
//!
//! What is granted is a key of the agent ([`crate::ScopedKey`] with a client). The text of the key is the access token. It
//! is replaced whenever the connector uses its refresh token, so one grant is one key: listed, audited and revoked as one.

use std::fmt;

use kalends_kernel::{
    AgentId, ConnectorClientId, Entropy, FieldError, FieldErrors, KeyId, OrgId, UserId, app_scheme, base64url,
    from_base64url, random_bytes,
};
use kalends_time::{SignedDuration, Timestamp};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;
use url::Url;

use crate::{KeyHash, NewKey, Scopes, TokenHash};

/// The prefix of an access token.
pub const ACCESS_TOKEN_PREFIX: &str = "svc_at_";
/// The prefix of a refresh token.
pub const REFRESH_TOKEN_PREFIX: &str = "svc_rt_";
/// The prefix of an authorization code.
pub const AUTHORIZATION_CODE_PREFIX: &str = "svc_ac_";
/// How long an access token is accepted.
pub const ACCESS_TOKEN_LASTS: SignedDuration = SignedDuration::hours(1);
/// How long a refresh token is accepted.
pub const REFRESH_TOKEN_LASTS: SignedDuration = SignedDuration::days(30);
/// How long an authorization code is accepted (RFC 6749, section 4.1.2, recommends at most 10 minutes).
pub const AUTHORIZATION_CODE_LASTS: SignedDuration = SignedDuration::minutes(1);
/// How long a client is kept that no longer has access.
pub const CLIENT_KEPT: SignedDuration = SignedDuration::days(30);
/// How long a client is kept for which nobody ever approved anything.
pub const NEW_CLIENT_KEPT: SignedDuration = SignedDuration::days(1);
/// The most clients on a server for which nobody ever approved anything. Anybody can register them.
pub const NEW_CLIENTS_MAX: u32 = 10_000;
/// The least time between two notes that a client was used.
const USE_NOTED_EVERY: SignedDuration = SignedDuration::days(1);
/// The most grants of an organization whose plan has no keys of agents.
pub const GRANTS_WITHOUT_KEYS: u64 = 3;
/// The most redirect addresses of a client.
pub const REDIRECTS_MAX: usize = 10;
/// The longest redirect address, in bytes.
pub const REDIRECT_MAX: usize = 2_000;
/// The longest redirect addresses of a client together, in bytes.
pub const REDIRECTS_BYTES_MAX: usize = 4_000;
/// The longest name of a client, in characters.
pub const CLIENT_NAME_MAX: usize = 100;

/// The number of random bytes in a token.
const SECRET: usize = 32;
/// The hosts on the user's own machine. A program on it cannot choose a port beforehand.
const LOOPBACK_HOSTS: [&str; 3] = ["127.0.0.1", "[::1]", "localhost"];
/// The length of a verifier (RFC 7636, section 4.1).
const VERIFIER_LENGTH: std::ops::RangeInclusive<usize> = 43..=128;

/// A program that registered itself (RFC 7591). Nothing that it says about itself is verified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectorClient {
    /// The `client_id`.
    pub id: ConnectorClientId,
    /// The name that it gave itself; empty if none.
    pub name: String,
    /// The addresses to which codes may be sent ([`ConnectorClient::allows`]).
    pub redirects: Vec<String>,
    /// When it registered.
    pub created_at: Timestamp,
    /// When somebody last approved it, or it renewed a grant, to the day; [`Self::created_at`] if nobody ever approved
    /// anything.
    pub used_at: Timestamp,
}

/// What a person granted, until the client exchanges the code for tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuthorizationCode {
    /// The hash of the code.
    pub hash: TokenHash,
    /// The client.
    pub client: ConnectorClientId,
    /// The address to which the code was sent.
    pub redirect: String,
    /// The SHA-256 of the verifier (RFC 7636, method S256).
    pub challenge: [u8; 32],
    /// The organization.
    pub org: OrgId,
    /// The agent for which the client will act.
    pub agent: AgentId,
    /// What it may do beyond its agent.
    pub scopes: Scopes,
    /// The person who granted it.
    pub user: UserId,
    /// From this instant on, it is refused.
    pub expires_at: Timestamp,
    /// The key that it was exchanged for. A second use of the code revokes that key.
    pub key: Option<KeyId>,
}

/// A refresh token of a grant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefreshToken {
    /// The hash of the token.
    pub hash: TokenHash,
    /// The organization.
    pub org: OrgId,
    /// The key of the grant.
    pub key: KeyId,
    /// The client that it was given to.
    pub client: ConnectorClientId,
    /// When it was given.
    pub created_at: Timestamp,
    /// From this instant on, it is refused.
    pub expires_at: Timestamp,
    /// When it was exchanged for another one. A second use revokes the key.
    pub spent_at: Option<Timestamp>,
}

/// The text of a fresh secret, which is shown once.
fn secret(prefix: &str, entropy: &dyn Entropy) -> String {
    format!("{prefix}{}", base64url(&random_bytes::<SECRET>(entropy)))
}

/// Why a code is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CodeError {
    /// It was exchanged before. Someone else may have it, so the key that it was exchanged for must be revoked.
    Used,
    /// It has expired.
    Expired,
    /// It was granted to another client.
    OtherClient,
    /// It was sent to another address.
    OtherRedirect,
    /// The verifier is not the one whose challenge was given, or is malformed.
    WrongVerifier,
}

impl fmt::Display for CodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Used => "the code was exchanged before",
            Self::Expired => "the code has expired",
            Self::OtherClient => "the code was granted to another client",
            Self::OtherRedirect => "the code was sent to another redirect_uri",
            Self::WrongVerifier => "the code_verifier does not match the code_challenge",
        })
    }
}

impl std::error::Error for CodeError {}

/// Why a refresh token is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefreshError {
    /// It was exchanged before. Someone else may have it, so its key must be revoked.
    Spent,
    /// It has expired.
    Expired,
    /// It was given to another client.
    OtherClient,
}

impl fmt::Display for RefreshError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Spent => "the refresh token was exchanged before",
            Self::Expired => "the refresh token has expired",
            Self::OtherClient => "the refresh token was given to another client",
        })
    }
}

impl std::error::Error for RefreshError {}

impl ConnectorClient {
    /// A client that registers with a name and redirect addresses.
    ///
    /// # Errors
    /// Names every field that is wrong: the name is too long or has control characters, there are no redirect addresses
    /// or too many, or one of them is not allowed.
    pub fn register(
        id: ConnectorClientId,
        name: Option<&str>,
        redirects: Vec<String>,
        now: Timestamp,
    ) -> Result<Self, FieldErrors> {
        let mut errors = FieldErrors::default();
        let name = errors.take(check_name(name.unwrap_or_default())).unwrap_or_default();
        if redirects.is_empty() || redirects.len() > REDIRECTS_MAX {
            let message = format!("must have 1 to {REDIRECTS_MAX} addresses, got {}", redirects.len());
            errors.push(FieldError::new("redirect_uris", message));
        }
        for (index, redirect) in redirects.iter().take(REDIRECTS_MAX).enumerate() {
            if let Err(message) = check_redirect(redirect) {
                errors.push(FieldError::new(format!("redirect_uris[{index}]"), message));
            }
        }
        let total: usize = redirects.iter().map(String::len).sum();
        if total > REDIRECTS_BYTES_MAX {
            let message = format!("must have at most {REDIRECTS_BYTES_MAX} bytes together, got {total}");
            errors.push(FieldError::new("redirect_uris", message));
        }
        errors.finish()?;
        Ok(Self { id, name, redirects, created_at: now, used_at: now })
    }

    /// Whether a use of the client at `now` is worth a note: it is the first, or the last note is a day old.
    pub fn notes_use(&self, now: Timestamp) -> bool {
        self.used_at == self.created_at || self.used_at + USE_NOTED_EVERY <= now
    }

    /// Whether a code may be sent to the address. It must be one that the client registered, character by character. Only
    /// the port of a loopback address may differ, because a program asks for a free port when it starts (RFC 8252, section
    /// 7.3).
    pub fn allows(&self, redirect: &str) -> bool {
        let on_any_port = Loopback::of(redirect);
        self.redirects.iter().any(|registered| {
            registered == redirect || on_any_port.is_some() && Loopback::of(registered) == on_any_port
        })
    }
}

/// The name that a client gives itself, without white space around it.
fn check_name(name: &str) -> Result<String, FieldError> {
    let (name, param) = (name.trim(), "client_name");
    let length = name.chars().count();
    if length > CLIENT_NAME_MAX {
        let message = format!("must have at most {CLIENT_NAME_MAX} characters, got {length}");
        return Err(FieldError::new(param, message));
    }
    // The page on which a person allows the client shows the name. Directional controls would rearrange its text, and what
    // is not visible would make two names look the same.
    let controls = |char: char| {
        char.is_control()
            || matches!(char, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}')
            || matches!(char, '\u{2066}'..='\u{2069}' | '\u{feff}')
    };
    if name.contains(controls) {
        return Err(FieldError::new(param, "must not have control characters or invisible characters"));
    }
    Ok(name.to_owned())
}

/// Checks that codes may be sent to the address, or says what is wrong with it.
fn check_redirect(redirect: &str) -> Result<(), String> {
    let length = redirect.len();
    if length > REDIRECT_MAX {
        return Err(format!("must have at most {REDIRECT_MAX} bytes, got {length}"));
    }
    // Browsers read `\` as `/`, and remove tabs and line breaks. Without these, they read the address as it is compared.
    if !redirect.bytes().all(|byte| byte.is_ascii_graphic() && !br#""<>\^`{|}"#.contains(&byte)) {
        return Err("must be a URL: all characters other than those of RFC 3986 must be percent-encoded".to_owned());
    }
    if redirect.contains('#') {
        return Err("must not have a fragment".to_owned());
    }
    if app_scheme(redirect).is_some() {
        return check_app_redirect(redirect);
    }
    let parts = Parts::of(redirect).ok_or("must be an absolute URL, such as https://client.example/callback")?;
    match parts.scheme {
        "https" => {}
        "http" if LOOPBACK_HOSTS.contains(&parts.host) => {}
        "http" => return Err(format!("must begin with https:// unless its host is {}", LOOPBACK_HOSTS.join(", "))),
        _ => {
            return Err(format!(
                "must begin with https://, with http:// and the host {}, or with the scheme of an app, such as \
                 com.example.app:/",
                LOOPBACK_HOSTS.join(", ")
            ));
        }
    }
    if parts.authority.contains('@') {
        return Err("must not have a user name or a password".to_owned());
    }
    if parts.host.is_empty() {
        return Err("must have a host".to_owned());
    }
    let url = Url::parse(redirect).map_err(|error| format!("must be a URL: {error}"))?;
    // The page on which a person allows the client shows the host as it is written.
    match url.host_str() {
        Some(host) if host == parts.host.to_ascii_lowercase() => Ok(()),
        host => Err(format!("must name its host as browsers do: {}", host.unwrap_or_default())),
    }
}

/// Checks an address that an app opens (RFC 8252, section 7.1). It need not have a host.
fn check_app_redirect(redirect: &str) -> Result<(), String> {
    let url = Url::parse(redirect).map_err(|error| format!("must be a URL: {error}"))?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err("must not have a user name or a password".to_owned());
    }
    // The code is sent to the address as browsers read it.
    if url.as_str() != redirect {
        return Err(format!("must be written as browsers do: {url}"));
    }
    Ok(())
}

/// The parts of an address, as they are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Parts<'a> {
    scheme: &'a str,
    authority: &'a str,
    host: &'a str,
    /// Without the colon.
    port: Option<&'a str>,
    rest: &'a str,
}

impl<'a> Parts<'a> {
    fn of(redirect: &'a str) -> Option<Self> {
        let (scheme, after) = redirect.split_once("://")?;
        let end = after.find(['/', '?', '#']).unwrap_or(after.len());
        let (authority, rest) = after.split_at_checked(end)?;
        // The colons in brackets belong to an IPv6 address.
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, port)) if !port.contains(']') => (host, Some(port)),
            _ => (authority, None),
        };
        Some(Self { scheme, authority, host, port, rest })
    }
}

/// A loopback address without its port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Loopback<'a> {
    host: &'a str,
    rest: &'a str,
}

impl<'a> Loopback<'a> {
    /// `None` for any other address.
    fn of(redirect: &'a str) -> Option<Self> {
        let Parts { scheme, authority: _, host, port, rest } = Parts::of(redirect)?;
        let is_port = |port: &str| port.bytes().all(|byte| byte.is_ascii_digit()) && port.parse::<u16>().is_ok();
        (scheme == "http" && LOOPBACK_HOSTS.contains(&host) && port.is_none_or(is_port)).then_some(Self { host, rest })
    }
}

impl AuthorizationCode {
    /// Whether the client may exchange the code at `now`, with the address to which it was sent and the verifier.
    ///
    /// # Errors
    /// The first reason against it, in the order of [`CodeError`].
    pub fn opens(
        &self,
        client: ConnectorClientId,
        redirect: &str,
        verifier: &str,
        now: Timestamp,
    ) -> Result<(), CodeError> {
        if self.key.is_some() {
            Err(CodeError::Used)
        } else if self.expires_at <= now {
            Err(CodeError::Expired)
        } else if self.client != client {
            Err(CodeError::OtherClient)
        } else if self.redirect != redirect {
            Err(CodeError::OtherRedirect)
        } else if !is_verifier_of(verifier, &self.challenge) {
            Err(CodeError::WrongVerifier)
        } else {
            Ok(())
        }
    }
}

/// Whether the text is a verifier whose SHA-256 is the challenge. The comparison takes the same time for every challenge.
fn is_verifier_of(verifier: &str, challenge: &[u8; 32]) -> bool {
    let is_unreserved = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    if !VERIFIER_LENGTH.contains(&verifier.len()) || !verifier.bytes().all(is_unreserved) {
        return false;
    }
    let digest: [u8; 32] = Sha256::digest(verifier.as_bytes()).into();
    digest.ct_eq(challenge).into()
}

/// Reads a challenge of the method S256 (RFC 7636, section 4.2): 32 bytes as 43 characters of base64url. `None` for any
/// other text.
pub fn challenge_of(text: &str) -> Option<[u8; 32]> {
    // A long text need not be decoded.
    if text.len() != 43 {
        return None;
    }
    from_base64url(text)?.try_into().ok()
}

impl RefreshToken {
    /// Whether the client may exchange the token at `now`.
    ///
    /// # Errors
    /// The first reason against it, in the order of [`RefreshError`].
    pub fn check(&self, client: ConnectorClientId, now: Timestamp) -> Result<(), RefreshError> {
        if self.spent_at.is_some() {
            Err(RefreshError::Spent)
        } else if self.expires_at <= now {
            Err(RefreshError::Expired)
        } else if self.client != client {
            Err(RefreshError::OtherClient)
        } else {
            Ok(())
        }
    }
}

/// A new access token.
#[derive(Clone, PartialEq, Eq)]
pub struct NewAccessToken {
    /// The text.
    pub text: String,
    /// Its hash, by which the key is found.
    pub hash: KeyHash,
    /// The first [`NewKey::PREFIX_LEN`] characters.
    pub prefix: String,
}

impl fmt::Debug for NewAccessToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NewAccessToken").field("prefix", &self.prefix).finish_non_exhaustive()
    }
}

impl NewAccessToken {
    /// A token with 256 random bits.
    pub fn generate(entropy: &dyn Entropy) -> Self {
        let text = secret(ACCESS_TOKEN_PREFIX, entropy);
        let (hash, prefix) = (KeyHash::of(&text), text.chars().take(NewKey::PREFIX_LEN).collect());
        Self { text, hash, prefix }
    }
}

/// The text of a new refresh token.
pub fn new_refresh_token(entropy: &dyn Entropy) -> String {
    secret(REFRESH_TOKEN_PREFIX, entropy)
}

/// The text of a new authorization code.
pub fn new_authorization_code(entropy: &dyn Entropy) -> String {
    secret(AUTHORIZATION_CODE_PREFIX, entropy)
}

#[cfg(test)]
mod tests;
