//! Counts what there is in an organization.

use async_trait::async_trait;
use kalends_app::ports::{GLANCE_AHEAD, Glance, Glances, Waits};
use kalends_approvals::Status as Decision;
use kalends_calendars::{EventStatus, ports::StatusAt};
use kalends_kernel::{OrgId, StoreError};
use kalends_plans::Metric;
use kalends_proposals::Status;
use kalends_time::Timestamp;

use super::{MemoryStore, state::has_status};

#[async_trait]
impl Glances for MemoryStore {
    async fn glance(&self, org: OrgId, now: Timestamp) -> Result<Glance, StoreError> {
        let state = self.state();
        let failed = |endpoint: &&kalends_notifications::WebhookEndpoint| {
            endpoint.org == org && !endpoint.active && endpoint.deactivated.is_some()
        };
        let held = StatusAt { status: EventStatus::Hold, now };
        let proposals = state.proposals.values().filter(|proposal| proposal.org() == org);
        let approvals = state.approvals.values().filter(|approval| approval.org == org);
        let begin = |start: Timestamp| now <= start && start < now + GLANCE_AHEAD;
        let next = state.visible_events(org).filter(|(event, _)| begin(event.times.span.start()));
        let next = next.filter(|(event, _)| event.status != EventStatus::Cancelled);
        Ok(Glance {
            has_used_key: state.used_keys.contains(&org),
            has_had_agent: state.agents.values().any(|agent| agent.org == org),
            agents: state.existing(org, Metric::Agents),
            calendars: state.existing(org, Metric::Calendars),
            series: state.existing_at(org, Metric::RecurringEvents, now),
            booking_pages: state.existing(org, Metric::BookingPages),
            webhooks: state.existing(org, Metric::WebhookEndpoints),
            failed_webhooks: state.webhooks.values().filter(failed).count() as u64,
            pending_proposals: proposals.filter(|found| found.state_at(now).status() == Status::Pending).count() as u64,
            pending_approvals: approvals.filter(|found| found.status(now) == Decision::Pending).count() as u64,
            holds: state.visible_events(org).filter(|(event, _)| has_status(event, held)).count() as u64,
            bookings: next.map(|(event, _)| state.guests_of(org, event.id).count() as u64).sum(),
        })
    }

    async fn waits(&self, org: OrgId, now: Timestamp) -> Result<Waits, StoreError> {
        let Glance { pending_approvals, holds, pending_proposals, .. } = self.glance(org, now).await?;
        let state = self.state();
        let invitations = state.invitations.values().filter(|invitation| invitation.org == org);
        Ok(Waits {
            approvals: pending_approvals,
            has_holds: holds > 0,
            has_proposals: pending_proposals > 0,
            invitations: invitations.filter(|invitation| invitation.holds(now)).count() as u64,
        })
    }
}
