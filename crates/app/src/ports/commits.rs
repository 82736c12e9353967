//! Applying change-sets, and the answers that repetitions of a request get.

use async_trait::async_trait;
use kalends_accounts::Limited;
use kalends_kernel::StoreError;
use kalends_plans::Metric;
use kalends_time::{SignedDuration, Timestamp};

use crate::{ChangeSet, StoredAnswer};

/// Why a change-set was not applied. None of its writes were applied.
#[derive(Debug, thiserror::Error)]
pub enum CommitError {
    /// Something that the decision read has changed: read and decide again.
    #[error("the decision is stale")]
    Stale,
    /// The change would exceed a limit of the plan.
    #[error("the plan's limit of {limit} {metric} is reached", metric = .metric.as_str())]
    LimitReached {
        /// The metric.
        metric: Metric,
        /// The limit.
        limit: u64,
    },
    /// An allowance is used up. It does not depend on the plan.
    #[error("{limited}")]
    TooMany {
        /// Which allowance.
        limited: Limited,
        /// The time until the use is allowed again.
        retry_after: SignedDuration,
    },
    /// An organization or a user with that address exists.
    #[error("the address is taken")]
    EmailTaken,
    /// Another booking page has that slug, or had it when it was deleted.
    #[error("the slug is taken")]
    SlugTaken,
    /// The organization does not exist, or has been deleted since the request began.
    #[error("the organization does not exist")]
    NoOrganization,
    /// Another request with the same `Idempotency-Key` has been answered in the meantime: replay that answer.
    #[error("the request has already been answered")]
    AlreadyAnswered,
    /// The change-set is a dry run. All of its conditions hold and all of its writes were applied, and then rolled back.
    #[error("the change was applied and rolled back, as it asks for")]
    RolledBack,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Applies change-sets atomically and durably: a change-set for which `commit` returned `Ok` survives a crash.
///
/// If the caller stops waiting, its change-set may still be applied.
#[async_trait]
pub trait Commit: Send + Sync {
    /// Applies `changes` in one transaction. If the organization does not exist, nothing is written unless the
    /// change-set creates it. So once a deletion is committed, no change-set adds a row to the organization.
    async fn commit(&self, changes: ChangeSet) -> Result<(), CommitError>;
}

/// Finds the answers to earlier requests, and removes expired ones.
#[async_trait]
pub trait StoredAnswers: Send + Sync {
    /// The answer stored under `scope`, unless it has expired at `now`.
    async fn find_answer(&self, scope: [u8; 32], now: Timestamp) -> Result<Option<StoredAnswer>, StoreError>;

    /// Removes up to `limit` answers that have expired at `now`, and returns how many.
    async fn forget_answers(&self, now: Timestamp, limit: u32) -> Result<u64, StoreError>;
}
