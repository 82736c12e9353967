//! Authentication without a query: the principals of keys, cached under a lease.
//!
//! An entry is valid while the store's epoch is the one at which the entry was read, and while that epoch was
//! confirmed within the last second. If it was not, each request asks the store. So authentication fails closed when
//! the store is unavailable.

use std::{sync::Arc, time::Duration};

use kalends_accounts::{Credential, KeyForm, KeyHash, Principal};
use kalends_plans::{Metric, headers::monthly_policy};
use kalends_time::{SignedDuration, Timestamp};

use crate::{App, Caller, Refusal, ports::RateKey, principal_cache::Entry};

/// How long to wait for every lease to expire. The margin covers a clock that pauses while it is corrected.
const LEASE_WAIT: Duration = Duration::from_millis(1_100);
/// How many statements write the days on which keys were used, each time. At midnight, each active organization needs one.
const KEY_USES_AT_ONCE: usize = 50;
/// After how many failures the others wait for the next time.
const KEY_USES_FAILED: usize = 5;

/// Refuses the access token of a connector once it has expired. Its key stays in force, and a refresh gives it another text.
fn require_in_time(principal: &Principal, now: Timestamp) -> Result<(), Refusal> {
    match principal.connector {
        Some(access) if access.expires_at <= now => Err(Refusal::Unauthorized),
        Some(_) | None => Ok(()),
    }
}

impl App {
    /// Makes a caller of the principal of a session, or of one that an adapter has identified itself. The caller of a key
    /// comes from [`App::authenticate`].
    pub fn caller(&self, principal: Arc<Principal>) -> Caller {
        let Principal { org, limits, .. } = *principal;
        let gate = limits.rate().map(|rate| self.parts.limiter.gate(RateKey::from(&principal.credential), rate));
        let slot = |metric| self.meter.slot((org, metric));
        Caller {
            policy: monthly_policy(limits.get(Metric::ApiCalls), org.uuid().as_bytes()),
            gate,
            calls: slot(Metric::ApiCalls),
            queries: slot(Metric::AvailabilityQueries),
            principal,
        }
    }

    /// The caller that `key` identifies. The day is noted as the last use of the key.
    ///
    /// # Errors
    /// [`Refusal::Unauthorized`] or [`Refusal::Store`]. What the key may do is decided by [`crate::Actor::enter`].
    pub async fn authenticate(&self, key: &str) -> Result<Arc<Caller>, Refusal> {
        let hash = KeyHash::of(key);
        let now = self.now();
        let epoch = self.principals.epoch(now);
        if let (Some(epoch), Some(entry)) = (epoch, self.principals.entries.get(&hash.0))
            && entry.epoch == epoch
        {
            require_in_time(&entry.caller.principal, now)?;
            self.note_use(&entry.caller.principal, now);
            return Ok(entry.caller);
        }
        // A text without the form of a key cannot be one, and need not be looked up.
        KeyForm::of(key).ok_or(Refusal::Unauthorized)?;
        let principal = self.parts.store.find_principal(hash).await?.ok_or(Refusal::Unauthorized)?;
        let caller = Arc::new(self.caller(Arc::new(principal)));
        if let Some(epoch) = epoch {
            self.principals.entries.insert(hash.0, Entry { epoch, caller: Arc::clone(&caller) });
        }
        require_in_time(&caller.principal, now)?;
        self.note_use(&caller.principal, now);
        Ok(caller)
    }

    /// Notes that the caller's key was accepted at `at`.
    fn note_use(&self, principal: &Principal, at: Timestamp) {
        if let Credential::Key(key) = principal.credential {
            self.key_uses.note(principal.org, key, at);
        }
    }

    /// Writes on which days keys were used, a limited number of them. Called regularly while the service runs, and near the
    /// end of a shutdown. What fails is tried again later; a store that fails often is left alone until then.
    pub async fn write_key_uses(&self) {
        let mut batches = self.key_uses.take(KEY_USES_AT_ONCE).into_iter();
        let (mut failed, mut last_error) = (Vec::new(), None);
        while failed.len() < KEY_USES_FAILED
            && let Some(used) = batches.next()
        {
            if let Err(error) = self.parts.store.record_key_uses(used.org, &used.keys, used.day).await {
                failed.push(used);
                last_error = Some(error);
            }
        }
        if let Some(error) = last_error {
            let batches = failed.len();
            tracing::warn!(%error, batches, "days on which keys were used could not be written; they are written later");
        }
        self.key_uses.put_back(failed.into_iter().chain(batches));
    }

    /// Waits until every lease from before the last commit has expired. After that, no node accepts a revoked key.
    pub(crate) async fn wait_out_principals(&self) {
        tokio::time::sleep(LEASE_WAIT).await;
    }

    /// [`Self::wait_out_principals`] if `elapsed` of the wait has already passed.
    pub(crate) async fn wait_out_principals_since(&self, elapsed: SignedDuration) {
        let elapsed = Duration::from_micros(u64::try_from(elapsed.as_micros()).unwrap_or(0));
        tokio::time::sleep(LEASE_WAIT.saturating_sub(elapsed)).await;
    }

    /// Confirms the store's epoch: renews the lease of the cached keys, or invalidates them. Called every 250 ms
    /// while the service runs. If the store does not answer, the lease expires.
    pub async fn refresh_principals(&self) {
        let asked_at = self.now();
        match self.parts.store.principals_epoch().await {
            Ok(epoch) => self.principals.confirm(epoch, asked_at),
            Err(error) => tracing::warn!(%error, "the epoch of the keys could not be read"),
        }
    }
}
