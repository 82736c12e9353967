//! Looking behind the ports.

use async_trait::async_trait;
use kalends_accounts::AuditEntry;
use kalends_kernel::OrgId;
use kalends_notifications::Message;
use kalends_plans::Metric;
use kalends_quotas::Period;

use super::MemoryStore;
use crate::Inspect;

#[async_trait]
impl Inspect for MemoryStore {
    async fn messages(&self, org: OrgId) -> Vec<Message> {
        self.state().messages.values().filter(|message| message.org == org).cloned().collect()
    }

    async fn audit_entries(&self, org: OrgId) -> Vec<AuditEntry> {
        self.state().audit.values().filter(|entry| entry.org == org).cloned().collect()
    }

    async fn used(&self, org: OrgId, metric: Metric, period: Period) -> u64 {
        self.state().used.get(&(org, metric, period)).copied().unwrap_or(0)
    }

    async fn indexed_entries(&self, org: OrgId) -> usize {
        let state = self.state();
        let events = state.events.values().filter(|event| event.org == org && event.deleted_at.is_none());
        events.map(|event| event.metadata.terms().len()).sum()
    }

    async fn unindex(&self, org: OrgId) {
        self.write(|state| state.not_indexed.insert(org));
    }

    async fn answers(&self) -> usize {
        self.state().answers.len()
    }
}
