//! The writes that a use case commits, as plain data.

use std::collections::BTreeSet;

use kalends_accounts::{Allowance, AuditEntry};
use kalends_kernel::{AgentId, CalendarId, EventId, OrgId, RequestId, Revision, Version};
use kalends_notifications::{FeedEntry, Letter, Message, Withdrawn};
use kalends_plans::Metric;
use kalends_quotas::Period;
use kalends_time::{Span, Timestamp};

/// Everything that one request changes, with the conditions that must hold when the changes are committed.
///
/// Stores apply it in one transaction. They lock rows in this order: calendars by id, then the rows that the changes
/// name, then the organization's quota rows, and then the head of its change feed, so that entries become visible in
/// the order of their positions.
#[derive(Debug, Clone, PartialEq)]
pub struct ChangeSet {
    /// The organization whose data changes.
    pub org: OrgId,
    /// The request that asked for the changes, for the log; `None` for background work.
    pub request: Option<RequestId>,
    /// Whether the store checks and applies the change-set, and then rolls it back. A success is
    /// [`crate::ports::CommitError::RolledBack`].
    pub dry_run: bool,
    /// What must still hold, in addition to the versions in the changes themselves.
    pub guards: Vec<Guard>,
    /// Writes to organizations, keys, codes, users and sessions.
    pub accounts: Vec<kalends_accounts::Change>,
    /// Writes to agents, calendars and events.
    pub calendars: Vec<kalends_calendars::Change>,
    /// The events among those writes that were deleted before. They only get a new version, which readers of the change
    /// feed need not know.
    pub still_gone: BTreeSet<EventId>,
    /// Writes to webhook endpoints and their deliveries.
    pub webhooks: Vec<kalends_notifications::Change>,
    /// Writes to subscriptions and imported items.
    pub feeds: Vec<kalends_feeds::Change>,
    /// Writes to proposals.
    pub proposals: Vec<kalends_proposals::Change>,
    /// Writes to booking pages and bookings.
    pub bookings: Vec<kalends_bookings::Change>,
    /// Writes to connection links, connections of human calendars and grants.
    pub bridge: Vec<kalends_bridge::Change>,
    /// Writes to the journal of runs.
    pub runs: Vec<kalends_runs::Change>,
    /// Writes of approvals.
    pub approvals: Vec<kalends_approvals::Change>,
    /// Monthly usage: condition and write in one.
    pub charges: Vec<Charge>,
    /// Whether the status of an agent changes, and with it what its keys may do.
    pub alters_agent_keys: bool,
    /// Whether the organization changes only in what no principal has, such as its name. Otherwise, each change of it
    /// counts as one of its principals.
    pub keeps_principals: bool,
    /// The messages to webhook endpoints. None is stored if the organization has no enabled endpoint.
    pub messages: Vec<Message>,
    /// The entries of the change feed for changes that no message announces. Each message has an entry too. None is
    /// stored if nobody reads the organization's change feed.
    pub entries: Vec<FeedEntry>,
    /// Emails to people outside the organization, which a worker sends.
    pub letters: Vec<Letter>,
    /// What emails that still wait must not announce any more. They are removed; those of the change itself are not.
    pub withdrawn: Vec<Withdrawn>,
    /// Uses of allowances: condition and write in one.
    pub uses: Vec<Use>,
    /// The entries of the audit log.
    pub audit: Vec<AuditEntry>,
    /// The answer that a repetition of the request gets.
    pub answer: Option<StoredAnswer>,
}

/// A condition of a change-set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Guard {
    /// Nothing was scheduled on the calendar since it was read; otherwise the change-set is stale.
    CalendarRevision {
        /// The calendar.
        calendar: CalendarId,
        /// Its revision when it was read.
        seen: Revision,
    },
    /// Since the calendar was read, nothing was written to it that overlaps `window` and is neither deleted nor
    /// cancelled; otherwise the change-set is stale. Other writes to the calendar do not matter.
    CalendarTime {
        /// The calendar.
        calendar: CalendarId,
        /// Its revision when it was read.
        seen: Revision,
        /// The time in question.
        window: Span,
    },
    /// The agent owns as many visible calendars as when they were read; otherwise the change-set is stale. Together
    /// with a [`Self::CalendarRevision`] or [`Self::CalendarTime`] for each of them, it ensures that they are still
    /// the same calendars.
    CalendarsOfAgent {
        /// The agent.
        agent: AgentId,
        /// How many it owned.
        count: u64,
    },
    /// After the change, at most `limit` things of a metric exist ([`kalends_plans::Counted::Existing`]). The store
    /// locks the organization's row, then counts.
    AtMost {
        /// What is counted.
        metric: Metric,
        /// The plan's limit.
        limit: u64,
    },
    /// After the change, at most `limit` visible series have an occurrence that ends after `now`. This replaces
    /// [`Self::AtMost`] for [`Metric::RecurringEvents`], whose count depends on the time.
    SeriesAtMost {
        /// The plan's limit.
        limit: u64,
        /// The current time.
        now: Timestamp,
    },
    /// After the change, at most `limit` visible holds that the agent's keys placed on calendars of others are live at
    /// `now`; otherwise the change-set is stale.
    PlacedAtMost {
        /// The agent that placed them.
        agent: AgentId,
        /// How many may be live.
        limit: u64,
        /// The current time.
        now: Timestamp,
    },
    /// As many bookings that nobody cancelled have the event as when they were counted; otherwise the change-set is
    /// stale. A guest may cancel although the event is gone, so its version says nothing about them. The change-set
    /// writes the event, and such a cancellation guards the event's calendar: one of the two comes first.
    Guests {
        /// The event.
        event: EventId,
        /// How many there were.
        count: u64,
    },
}

/// Use of a metric that counts by the UTC month. Fails if it would exceed the limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Charge {
    /// The metric.
    pub metric: Metric,
    /// The month.
    pub period: Period,
    /// The amount.
    pub amount: u64,
    /// The plan's limit; `None` means unlimited, but the use is still counted.
    pub limit: Option<u64>,
}

/// Use of an allowance of the organization. Fails if it would exceed the allowance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Use {
    /// The allowance.
    pub allowance: Allowance,
    /// How many uses.
    pub count: u32,
    /// The current time.
    pub now: Timestamp,
}

/// An answer to a caller, in the form in which it is stored for repetitions of the request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The status of the operation on success.
    pub status: u16,
    /// The body as JSON text, if there is one.
    pub body: Option<String>,
    /// The version of the resource, shown as its `ETag`, if it has one.
    pub version: Option<Version>,
}

/// An answer that is kept for 24 hours under an `Idempotency-Key`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredAnswer {
    /// SHA-256 of caller, operation and idempotency key. It is unique.
    pub scope: [u8; 32],
    /// SHA-256 of the full path, the query and the body.
    pub fingerprint: [u8; 32],
    /// The answer.
    pub answer: Answer,
    /// When it was given.
    pub created_at: Timestamp,
    /// When it expires.
    pub expires_at: Timestamp,
}

impl ChangeSet {
    /// When the letters are due: all at once, although each was written after the one before.
    pub fn letters_due(&self) -> Option<Timestamp> {
        self.letters.first().map(|letter| letter.created_at)
    }

    /// An empty change-set of an organization.
    pub const fn new(org: OrgId) -> Self {
        Self {
            org,
            request: None,
            dry_run: false,
            guards: Vec::new(),
            accounts: Vec::new(),
            calendars: Vec::new(),
            still_gone: BTreeSet::new(),
            webhooks: Vec::new(),
            feeds: Vec::new(),
            proposals: Vec::new(),
            bookings: Vec::new(),
            bridge: Vec::new(),
            runs: Vec::new(),
            approvals: Vec::new(),
            charges: Vec::new(),
            alters_agent_keys: false,
            keeps_principals: false,
            messages: Vec::new(),
            entries: Vec::new(),
            letters: Vec::new(),
            withdrawn: Vec::new(),
            uses: Vec::new(),
            audit: Vec::new(),
            answer: None,
        }
    }

    /// Whether the change-set only adds events, guards nothing but the time of calendars, and is to be kept. Such change-sets depend
    /// only on calendars, so a store may apply many of them with one statement per table: [`crate::Together`].
    pub fn only_adds_events(&self) -> bool {
        !self.dry_run
            && self.guards.iter().all(|guard| matches!(guard, Guard::CalendarTime { .. }))
            && self.accounts.is_empty()
            && self.webhooks.is_empty()
            && self.feeds.is_empty()
            && self.proposals.is_empty()
            && self.bookings.is_empty()
            && self.bridge.is_empty()
            && self.runs.is_empty()
            && self.approvals.is_empty()
            && self.letters.is_empty()
            && self.withdrawn.is_empty()
            && self.uses.is_empty()
            && self.calendars.iter().all(|change| matches!(change, kalends_calendars::Change::CreateEvent(_)))
    }

    /// Whether the store must check that the organization exists. It must, unless a write of the change-set creates
    /// the organization's row, requires a version of it, or records deliveries under a claim.
    pub fn presumes_organization(&self) -> bool {
        use kalends_accounts::Change::{CreateOrganization, DeleteOrganization, UpdateOrganization};
        // A delivery is recorded under a claim, which is deleted together with the organization.
        let records = matches!(self.webhooks.as_slice(), [kalends_notifications::Change::Record(_)]);
        !records
            && !self.accounts.iter().any(|change| match change {
                CreateOrganization(organization) | UpdateOrganization { organization, .. } => {
                    organization.id == self.org
                }
                DeleteOrganization { org, .. } => *org == self.org,
                _ => false,
            })
    }

    /// Approximately how many bytes of text the change-set holds. Its messages and its answer repeat what it writes,
    /// so they are about as long as the writes.
    pub fn weight(&self) -> usize {
        let messages: usize = self.messages.iter().map(|message| message.payload.len()).sum();
        let entries: usize = self.entries.iter().map(|entry| entry.body.len()).sum();
        let answer = self.answer.as_ref().and_then(|stored| stored.answer.body.as_ref()).map_or(0, String::len);
        let letters: usize = self.letters.iter().map(|letter| letter.content.len()).sum();
        let approvals: usize = self.approvals.iter().map(|change| change.approval().request.body.len()).sum();
        2 * messages + entries + letters + answer + approvals
    }

    /// Whether the change-set changes what a key gives access to, so that cached principals must be dropped.
    pub fn alters_principals(&self) -> bool {
        use kalends_accounts::Change::{DeleteOrganization, RevokeKey, RevokeKeys, UpdateOrganization};
        let alters = |change: &kalends_accounts::Change| match change {
            UpdateOrganization { .. } => !self.keeps_principals,
            DeleteOrganization { .. } | RevokeKey { .. } | RevokeKeys { .. } => true,
            _ => false,
        };
        self.alters_agent_keys || self.accounts.iter().any(alters)
    }

    /// Whether a key becomes invalid, so that the answer must wait until no node accepts the key.
    pub fn revokes_keys(&self) -> bool {
        use kalends_accounts::Change::{DeleteOrganization, RevokeKey, RevokeKeys};
        let revokes = |change: &kalends_accounts::Change| {
            matches!(change, DeleteOrganization { .. } | RevokeKey { .. } | RevokeKeys { .. })
        };
        self.accounts.iter().any(revokes)
    }
}
