//! How fast callers may call.

use std::sync::Arc;

use async_trait::async_trait;
use kalends_accounts::{Credential, Email};
use kalends_kernel::{KeyId, UserId};
use kalends_plans::IpLane;
use kalends_quotas::{IpKey, Rate};
use kalends_time::{SignedDuration, Timestamp};
use sha2::{Digest as _, Sha256};

/// What a rate is counted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RateKey {
    /// The holder of a key.
    Key(KeyId),
    /// A user in the console, across all sessions of the user.
    User(UserId),
    /// An account at which a password is tried.
    Account(AccountKey),
    /// A network address, for one kind of request that needs no key.
    Address(IpLane, IpKey),
}

impl From<&Credential> for RateKey {
    fn from(credential: &Credential) -> Self {
        match *credential {
            Credential::Key(key) => Self::Key(key),
            Credential::Session { user, .. } => Self::User(user),
        }
    }
}

/// The key for sign-in attempts at one account: a hash of the email address as given. Accounts that exist and accounts
/// that do not are counted alike, and the limiter stores no address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct AccountKey([u8; 16]);

impl From<&Email> for AccountKey {
    fn from(email: &Email) -> Self {
        let hash = Sha256::digest(email.as_str());
        let mut key = [0; 16];
        key.copy_from_slice(&hash[..16]);
        Self(key)
    }
}

/// Whether a request is within its rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Admission {
    /// It may pass, and it is counted.
    Admitted,
    /// It may not pass, and it is not counted.
    Refused {
        /// The time until one request could pass.
        retry_after: SignedDuration,
    },
}

/// Limits how fast callers may call.
pub trait RateLimiter: Send + Sync {
    /// The gate for `key`, which admits requests at `rate`. All gates of a key share one count. A caller that sends
    /// many requests should keep its gate.
    fn gate(&self, key: RateKey, rate: Rate) -> Arc<dyn Gate>;
}

/// Admits the requests of one caller.
#[async_trait]
pub trait Gate: Send + Sync {
    /// Whether a request at `now` is within the rate. If a gate shares its count with other nodes and cannot reach
    /// it, the gate decides by its local count.
    async fn admit(&self, now: Timestamp) -> Admission;

    /// Takes back one admitted request, as if it had never arrived.
    async fn give_back(&self);
}
