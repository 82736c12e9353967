//! State that tests look at although no port reads it.

use async_trait::async_trait;
use kalends_accounts::AuditEntry;
use kalends_kernel::OrgId;
use kalends_notifications::Message;
use kalends_plans::Metric;
use kalends_quotas::Period;

/// Looks behind the ports of a store. An adapter implements it in its tests, with plain SQL. The methods panic if they
/// fail.
#[async_trait]
pub trait Inspect: Send + Sync {
    /// The messages in the outbox, opened, in any order.
    async fn messages(&self, org: OrgId) -> Vec<Message>;

    /// The entries of the audit log, in any order.
    async fn audit_entries(&self, org: OrgId) -> Vec<AuditEntry>;

    /// How much has been charged to a metric in a month; 0 if nothing was.
    async fn used(&self, org: OrgId, metric: Metric, period: Period) -> u64;

    /// How many entries of metadata the index of an organization's events has.
    async fn indexed_entries(&self, org: OrgId) -> usize;

    /// Leaves the organization's events as if nodes of an earlier release had written them last: the index has other
    /// entries than they do.
    async fn unindex(&self, org: OrgId);

    /// How many answers are stored, of all organizations, expired ones included.
    async fn answers(&self) -> usize;
}
