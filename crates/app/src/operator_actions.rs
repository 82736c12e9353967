//! What the operator sees and does on the operator's pages. The changes are those of the operator's commands, with the
//! same entries in the audit log of the organization.

use std::{collections::BTreeMap, error::Error, iter::successors, sync::Arc, time::Duration};

use kalends_accounts::{Allowance, Email, Organization, OrganizationCounts, OrganizationSearch, Taken};
use kalends_kernel::{Listed, OrgId, Page, StoreError, Version};
use kalends_notifications::{FailedLetter, ports::Backlog};
use kalends_plans::{Limits, Metric, Plan, UsageReport};
use kalends_quotas::{Period, retry_after_seconds};
use kalends_time::{CivilDate, SignedDuration, Timestamp, Zone};
use serde_json::Value;

use crate::{
    App, Refusal, letters, operators,
    ports::{DataKeyView, MailError, MailReply},
};

/// The plans that an operator can give an organization.
pub const SETTABLE_PLANS: [Plan; 3] = [Plan::Free, Plan::Pro, Plan::Custom];

/// How long a test email may take. The request that sends it ends soon after.
const TEST_MAIL_WITHIN: Duration = Duration::from_secs(25);

/// The maximum number of failed emails that are listed.
const FAILED_LISTED: u32 = 50;
/// The maximum number of failed emails of one organization that are listed, so that it does not hide those of others.
pub const FAILED_LISTED_OF_EACH: u32 = 5;
/// The number of days for which failed emails are counted, with today.
const FAILED_DAYS: i64 = 7;
/// The maximum number of failed emails that are counted, and among which those to list are chosen.
const FAILED_COUNTED: u32 = 10_000;

/// How much there is on the server, and how much work waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Activity {
    /// The numbers of organizations.
    pub organizations: OrganizationCounts,
    /// The queues of webhooks.
    pub webhooks: Backlog,
}

/// An organization with what it has used in this month.
#[derive(Debug, Clone, PartialEq)]
pub struct OrganizationInUse {
    /// The organization.
    pub organization: Organization,
    /// The API calls that are charged. Processes are charged for calls in advance, in blocks.
    pub api_calls: u64,
    /// The events that were created.
    pub events: u64,
}

/// The emails of all organizations that have failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedMail {
    /// The newest 50, up to [`FAILED_LISTED_OF_EACH`] of each organization.
    pub newest: Vec<FailedLetter>,
    /// How many of those that were written on each of the last seven days (UTC) have failed, today first.
    pub by_day: Vec<(CivilDate, FailedOnDay)>,
}

/// How many emails that were written on one day have failed. Counting stops at a maximum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailedOnDay {
    /// All were counted.
    Exactly(u64),
    /// Counting stopped on this day.
    AtLeast(u64),
    /// Counting stopped on a later day.
    NotCounted,
}

/// What became of a test email.
#[derive(Debug)]
pub struct TestMail {
    /// Whether it was accepted.
    pub accepted: bool,
    /// The reply of the mail server, or why it did not accept the email; `None` if there is no mail server.
    pub reply: Option<MailReply>,
    /// Everything that is known about the failure, for the operator only; empty if it was accepted.
    pub details: String,
}

impl App {
    /// How much there is on the server.
    ///
    /// # Errors
    /// [`Refusal::Store`].
    pub async fn activity_of_server(self: &Arc<Self>) -> Result<Activity, Refusal> {
        let organizations = self.parts.store.count_organizations().await?;
        Ok(Activity { organizations, webhooks: self.measure_backlog().await? })
    }

    /// The size of the database in bytes, without its write-ahead log; `None` if it has none.
    ///
    /// # Errors
    /// [`Refusal::Store`].
    pub async fn database_bytes(&self) -> Result<Option<u64>, Refusal> {
        Ok(self.parts.store.database_bytes().await?)
    }

    /// When the last backup was made that the operator recorded ([`operators::record_backup`]).
    ///
    /// # Errors
    /// [`Refusal::Store`].
    pub async fn last_backup(&self) -> Result<Option<Timestamp>, Refusal> {
        Ok(self.parts.store.last_backup().await?)
    }

    /// The data keys, the oldest first.
    ///
    /// # Errors
    /// [`Refusal::Store`].
    pub async fn sealing_keys(&self) -> Result<Vec<DataKeyView>, Refusal> {
        Ok(self.parts.store.sealing_keys().await?)
    }

    /// A page of the organizations that match, the newest first.
    ///
    /// # Errors
    /// [`Refusal::Store`].
    pub async fn find_organizations(
        &self,
        search: &OrganizationSearch,
        page: Page,
    ) -> Result<Listed<OrganizationInUse>, Refusal> {
        let found = self.parts.store.find_organizations(search, page).await?;
        let orgs: Vec<_> = found.data.iter().map(|organization| organization.id).collect();
        let charges = self.parts.store.use_in_month(&orgs, Period::of(self.now())).await?;
        let used = |org: OrgId, metric: Metric| {
            let charge = charges.iter().find(|(of, charged, _)| (*of, *charged) == (org, metric));
            charge.map_or(0, |(.., used)| *used)
        };
        Ok(found.map(|organization| OrganizationInUse {
            api_calls: used(organization.id, Metric::ApiCalls),
            events: used(organization.id, Metric::Events),
            organization,
        }))
    }

    /// A page of the waiting list. The organization that waits longest comes first.
    ///
    /// # Errors
    /// [`Refusal::Store`].
    pub async fn waiting_organizations(&self, page: Page) -> Result<Listed<Organization>, Refusal> {
        Ok(self.parts.store.waiting_organizations(page).await?)
    }

    /// The emails of all organizations that were refused or given up, or whose last attempt failed.
    ///
    /// # Errors
    /// [`Refusal::Store`].
    pub async fn failed_mail(&self) -> Result<FailedMail, Refusal> {
        let newest = self.parts.store.failed_letters(FAILED_LISTED, FAILED_LISTED_OF_EACH, FAILED_COUNTED).await?;
        let today = Zone::UTC.to_civil(self.now()).date;
        let first = CivilDate::from_days(today.as_days() - (FAILED_DAYS - 1));
        let since = Timestamp::EPOCH + SignedDuration::days(first.as_days());
        let counted = self.parts.store.failed_letters_by_day(since, FAILED_COUNTED).await?;
        let days = (0..FAILED_DAYS).map(|ago| CivilDate::from_days(today.as_days() - ago));
        Ok(FailedMail { newest, by_day: on_days(days, &counted, u64::from(FAILED_COUNTED)) })
    }

    /// An organization, for the operator.
    ///
    /// # Errors
    /// [`Refusal::NotFound`].
    pub async fn organization_for_operator(&self, org: OrgId) -> Result<Organization, Refusal> {
        operators::find(self, org).await
    }

    /// What the organization has used, and its limits.
    ///
    /// # Errors
    /// [`Refusal::Store`].
    pub async fn usage_for_operator(&self, organization: &Organization) -> Result<(UsageReport, Limits), Refusal> {
        // A store returns no organization with other limits.
        let limits = organization
            .limits()
            .map_err(|error| StoreError::corrupt("organizations", "limit_overrides", organization.id, error))?;
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

    /// Sends a test email to the address, and waits for 25 seconds at most until it is accepted or refused. It is not
    /// stored, and is not tried again.
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
        let sent = tokio::time::timeout(TEST_MAIL_WITHIN, self.parts.mailer.send(mail)).await;
        let sent = sent.unwrap_or_else(|late| {
            let text = "The mail server took too long. It may still have accepted the email.".to_owned();
            Err(MailError::new(late).with_reply(MailReply { code: None, text }))
        });
        match sent {
            Ok(reply) => Ok(TestMail { accepted: true, reply, details: String::new() }),
            Err(error) => {
                tracing::warn!(error = &error as &dyn Error, "a test email could not be sent");
                let details = causes(&error);
                Ok(TestMail { accepted: false, reply: Some(error.reply().clone()), details })
            }
        }
    }
}

/// What is known about each of the days if up to `max` emails were counted, the newest first.
fn on_days(
    days: impl Iterator<Item = CivilDate>,
    counted: &BTreeMap<CivilDate, u64>,
    max: u64,
) -> Vec<(CivilDate, FailedOnDay)> {
    let is_cut = counted.values().sum::<u64>() >= max;
    let first = counted.keys().next().copied().filter(|_| is_cut);
    let on_day = |day: CivilDate| {
        let count = counted.get(&day).copied().unwrap_or(0);
        match first {
            Some(first) if day < first => FailedOnDay::NotCounted,
            Some(first) if day == first => FailedOnDay::AtLeast(count),
            _ => FailedOnDay::Exactly(count),
        }
    };
    days.map(|day| (day, on_day(day))).collect()
}

/// What caused an error, in one line. A cause whose text the error before it contains is not repeated.
fn causes(error: &dyn Error) -> String {
    let mut texts: Vec<String> = Vec::new();
    for cause in successors(error.source(), |&cause| cause.source()) {
        let text = cause.to_string();
        if texts.last().is_none_or(|before| !before.contains(&text)) {
            texts.push(text);
        }
    }
    texts.join(": ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_that_was_not_counted_is_not_zero() {
        use FailedOnDay::{AtLeast, Exactly, NotCounted};
        for (counted, expected) in [
            (vec![], [Exactly(0), Exactly(0), Exactly(0), Exactly(0)]),
            (vec![(3, 4), (1, 5)], [Exactly(4), Exactly(0), Exactly(5), Exactly(0)]),
            (vec![(3, 4), (1, 6)], [Exactly(4), Exactly(0), AtLeast(6), NotCounted]),
            (vec![(3, 10)], [AtLeast(10), NotCounted, NotCounted, NotCounted]),
        ] {
            let counted: BTreeMap<_, _> =
                counted.into_iter().map(|(day, count)| (CivilDate::from_days(day), count)).collect();
            let days = (0..4).rev().map(CivilDate::from_days);
            let found: Vec<_> = on_days(days, &counted, 10).into_iter().map(|(_, count)| count).collect();
            assert_eq!(found, expected, "{counted:?}");
        }
    }

    #[test]
    fn causes_are_said_once() {
        let caused_by = |source: &'static str| causes(&MailError::new(MailError::new(source)));
        assert_eq!(caused_by("535 no such account"), "the email was not accepted: 535 no such account");
        assert_eq!(caused_by("the email"), "the email was not accepted");
    }
}
