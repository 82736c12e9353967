//! What the operator sees and does on the operator's pages. The changes are those of the operator's commands, with the
//! same entries in the audit log of the organization.

use std::sync::Arc;

use kalends_accounts::{Allowance, Email, Organization, Taken, Waitlist};
use kalends_kernel::{OrgId, Version};
use kalends_notifications::ports::Backlog;
use kalends_plans::{Limits, Plan, UsageReport};
use kalends_quotas::retry_after_seconds;
use serde_json::Value;

use crate::{App, Refusal, letters, operators, ports::MailReply};

/// The plans that an operator can give an organization.
pub const SETTABLE_PLANS: [Plan; 3] = [Plan::Free, Plan::Pro, Plan::Custom];

/// How much there is on the server, and how much work waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Activity {
    /// The number of organizations.
    pub organizations: usize,
    /// The number of those on the waiting list.
    pub waiting: usize,
    /// The queues of webhooks.
    pub webhooks: Backlog,
}

/// What became of a test email.
#[derive(Debug)]
pub struct TestMail {
    /// Whether it was accepted.
    pub accepted: bool,
    /// The reply of the mail server; `None` if there is no mail server.
    pub reply: Option<MailReply>,
}

impl App {
    /// How much there is on the server.
    ///
    /// # Errors
    /// [`Refusal::Store`].
    pub async fn activity_of_server(self: &Arc<Self>) -> Result<Activity, Refusal> {
        let all = operators::list_organizations(self).await?;
        let waiting = all.iter().filter(|organization| organization.waitlist != Waitlist::Active).count();
        Ok(Activity { organizations: all.len(), waiting, webhooks: self.measure_backlog().await? })
    }

    /// An organization, for the operator.
    ///
    /// # Errors
    /// [`Refusal::NotFound`].
    pub async fn organization_for_operator(&self, org: OrgId) -> Result<Organization, Refusal> {
        operators::find(self, org).await
    }

    /// What the organization has used, and the limits of which it counts. If the stored limits are not valid, the plan's
    /// are returned, so that the operator can correct them.
    ///
    /// # Errors
    /// [`Refusal::Store`].
    pub async fn usage_for_operator(&self, organization: &Organization) -> Result<(UsageReport, Limits), Refusal> {
        let limits = organization.limits().unwrap_or_else(|_| organization.plan.limits());
        let report = self.usage_of(organization.id, organization.plan, limits).await?;
        Ok((report, limits))
    }

    /// [`operators::set_plan`], for an organization of which the operator has seen the version `seen`. One that has the
    /// plan and the limits already stays as it is.
    ///
    /// # Errors
    /// As [`operators::set_plan`]. [`Refusal::Stale`] if the organization has changed since.
    pub async fn set_plan_seen(
        self: &Arc<Self>,
        org: OrgId,
        seen: Version,
        plan: Plan,
        limits: Option<Value>,
    ) -> Result<(), Refusal> {
        operators::set_plan_seen(self, org, seen, plan, limits).await?;
        self.act_at_once().await;
        Ok(())
    }

    /// [`operators::waitlist`].
    ///
    /// # Errors
    /// [`Refusal::NotFound`].
    pub async fn waitlist_for_operator(self: &Arc<Self>, org: OrgId) -> Result<(), Refusal> {
        operators::waitlist(self, org).await?;
        self.act_at_once().await;
        Ok(())
    }

    /// [`operators::activate`].
    ///
    /// # Errors
    /// [`Refusal::NotFound`].
    pub async fn activate_for_operator(self: &Arc<Self>, org: OrgId) -> Result<(), Refusal> {
        operators::activate(self, org).await?;
        self.act_at_once().await;
        Ok(())
    }

    /// Lets this process act on a command at once. Others do within moments.
    async fn act_at_once(&self) {
        self.refresh_principals().await;
        self.nudges.letters.notify_one();
    }

    /// The address that mail is sent from.
    pub fn mail_sender(&self) -> String {
        self.parts.mailer.sender()
    }

    /// Sends a test email to the address, and waits until it is accepted or refused. It is not stored, and is not tried
    /// again.
    ///
    /// # Errors
    /// [`Refusal::TooMany`] for more than five in an hour, on all nodes together.
    pub async fn send_test_mail(&self, to: &Email) -> Result<TestMail, Refusal> {
        let allowance = Allowance::test_mail();
        if let Taken::Refused { retry_after } = self.parts.store.take(&allowance, self.now()).await? {
            let (limited, retry_after) = (allowance.limited, retry_after_seconds(retry_after));
            return Err(Refusal::TooMany { limited, retry_after });
        }
        let mail = letters::test_mail(to, &self.parts.settings.base_url);
        match self.parts.mailer.send(mail).await {
            Ok(reply) => Ok(TestMail { accepted: true, reply }),
            Err(error) => {
                tracing::warn!(error = &error as &dyn std::error::Error, "a test email could not be sent");
                Ok(TestMail { accepted: false, reply: Some(error.reply().clone()) })
            }
        }
    }
}
