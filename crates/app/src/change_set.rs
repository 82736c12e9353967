//! What a use case commits: plain data, all or nothing.

use kalends_accounts::{Allowance, AuditEntry};
use kalends_kernel::{AgentId, CalendarId, OrgId, Revision, Span, Timestamp, Version};
use kalends_notifications::{Letter, Message};
use kalends_quotas::{Metric, Period};

/// Everything that one request changes, with the conditions under which it may.
///
/// Stores apply it in one transaction and lock rows in this order: calendars by id, then the rows
/// that the changes name, then the organization's quota rows.
#[derive(Debug, Clone, PartialEq)]
pub struct ChangeSet {
    /// The organization whose data changes.
    pub org: OrgId,
    /// What must still hold, beside the versions that the changes themselves carry.
    pub guards: Vec<Guard>,
    /// Writes to organizations, keys, codes, humans and sessions.
    pub accounts: Vec<kalends_accounts::Change>,
    /// Writes to agents, calendars and events.
    pub calendars: Vec<kalends_calendars::Change>,
    /// Writes to webhook endpoints and their deliveries.
    pub webhooks: Vec<kalends_notifications::Change>,
    /// Writes to subscriptions, and to what is known of imported items.
    pub feeds: Vec<kalends_feeds::Change>,
    /// Writes to proposals.
    pub proposals: Vec<kalends_proposals::Change>,
    /// Writes to booking pages and bookings.
    pub bookings: Vec<kalends_bookings::Change>,
    /// Writes to connection links, connections of human calendars and grants.
    pub bridge: Vec<kalends_bridge::Change>,
    /// Use that is counted by the month: condition and write in one.
    pub charges: Vec<Charge>,
    /// Whether the status of an agent changes, and with it what the agent's keys may do.
    pub alters_agent_keys: bool,
    /// What is announced to webhook endpoints; nothing is kept where none of the organization's is switched on.
    pub messages: Vec<Message>,
    /// Letters to people outside, which a worker sends.
    pub letters: Vec<Letter>,
    /// Use that is allowed so often, whatever the plan: condition and write in one.
    pub uses: Vec<Use>,
    /// The entry of the audit log.
    pub audit: Option<AuditEntry>,
    /// The answer that a repetition of the request shall get.
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
    /// Since the calendar was read nothing was written to it that reaches into `window` and is neither deleted nor
    /// cancelled; otherwise the change-set is stale. Other writes to the calendar do not matter.
    CalendarTime {
        /// The calendar.
        calendar: CalendarId,
        /// Its revision when it was read.
        seen: Revision,
        /// The time in question.
        window: Span,
    },
    /// The agent owns as many calendars in sight as when they were read; otherwise the change-set is stale. With
    /// a [`Self::CalendarRevision`] or [`Self::CalendarTime`] of each of them, they are still the same ones.
    CalendarsOfAgent {
        /// The agent.
        agent: AgentId,
        /// How many it owned.
        count: u64,
    },
    /// After the change at most `limit` things of a metric exist ([`kalends_quotas::Counted::Existing`]).
    /// The organization's row is locked, then what exists is counted.
    AtMost {
        /// What is counted.
        metric: Metric,
        /// The plan's limit.
        limit: u64,
    },
    /// After the change at most `limit` series in sight have an occurrence that ends after `now`: as
    /// [`Self::AtMost`] of [`Metric::RecurringEvents`], whose count depends on the time.
    SeriesAtMost {
        /// The plan's limit.
        limit: u64,
        /// The present instant.
        now: Timestamp,
    },
}

/// Use of a metric that counts by the UTC month. Fails where it would pass the limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Charge {
    /// What is used.
    pub metric: Metric,
    /// In which month.
    pub period: Period,
    /// How much.
    pub amount: u64,
    /// The plan's limit; `None` is unlimited, and counted all the same.
    pub limit: Option<u64>,
}

/// Use of an allowance of the organization. Fails where it would pass what is allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Use {
    /// What is used.
    pub allowance: Allowance,
    /// How often.
    pub count: u32,
    /// The present instant.
    pub now: Timestamp,
}

/// What a caller is told, in the form in which it is stored for a repetition of the request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The status that the operation answers on success.
    pub status: u16,
    /// The body as JSON text, if there is one.
    pub body: Option<String>,
    /// The version of the resource, shown as its `ETag`, if it has one.
    pub version: Option<Version>,
}

/// An answer kept for 24 hours under an `Idempotency-Key` (ruling 2.8).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredAnswer {
    /// SHA-256 of caller, route and key: the unique key.
    pub scope: [u8; 32],
    /// SHA-256 of the concrete address and body.
    pub fingerprint: [u8; 32],
    /// The answer.
    pub answer: Answer,
    /// When it was given.
    pub created_at: Timestamp,
    /// From when on it is forgotten.
    pub expires_at: Timestamp,
}

impl ChangeSet {
    /// An empty change-set of an organization.
    pub const fn new(org: OrgId) -> Self {
        Self {
            org,
            guards: Vec::new(),
            accounts: Vec::new(),
            calendars: Vec::new(),
            webhooks: Vec::new(),
            feeds: Vec::new(),
            proposals: Vec::new(),
            bookings: Vec::new(),
            bridge: Vec::new(),
            charges: Vec::new(),
            alters_agent_keys: false,
            messages: Vec::new(),
            letters: Vec::new(),
            uses: Vec::new(),
            audit: None,
            answer: None,
        }
    }

    /// Whether the change-set only adds events: such ones depend on nothing but their calendars being
    /// in sight, so a store may apply many of them with one statement a table.
    pub fn only_adds_events(&self) -> bool {
        self.guards.is_empty()
            && self.accounts.is_empty()
            && self.webhooks.is_empty()
            && self.feeds.is_empty()
            && self.proposals.is_empty()
            && self.bookings.is_empty()
            && self.bridge.is_empty()
            && self.letters.is_empty()
            && self.uses.is_empty()
            && self.calendars.iter().all(|change| matches!(change, kalends_calendars::Change::CreateEvent(_)))
    }

    /// Whether the organization has to be looked for: no write of the change-set itself makes its row, or
    /// demands a version of it.
    pub fn presumes_organization(&self) -> bool {
        use kalends_accounts::Change::{CreateOrganization, DeleteOrganization, UpdateOrganization};
        // What is recorded is recorded under a claim, and that is gone together with the organization.
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

    /// About how many bytes of text the change-set holds: what its announcements and its answer repeat is
    /// as long as what it writes.
    pub fn weight(&self) -> usize {
        let messages: usize = self.messages.iter().map(|message| message.payload.len()).sum();
        let answer = self.answer.as_ref().and_then(|stored| stored.answer.body.as_ref()).map_or(0, String::len);
        let letters: usize = self.letters.iter().map(|letter| letter.content.len()).sum();
        2 * messages + letters + answer
    }

    /// Whether the change-set alters whom a key speaks for, so that cached principals must go.
    pub fn alters_principals(&self) -> bool {
        use kalends_accounts::Change::{DeleteOrganization, RevokeKey, RevokeOrganizationKeys, UpdateOrganization};
        let alters = |change: &kalends_accounts::Change| {
            matches!(
                change,
                UpdateOrganization { .. }
                    | DeleteOrganization { .. }
                    | RevokeKey { .. }
                    | RevokeOrganizationKeys { .. }
            )
        };
        self.alters_agent_keys || self.accounts.iter().any(alters)
    }

    /// Whether a key stops opening anything, so that the answer waits until no node accepts it (ruling 3.1).
    pub fn revokes_keys(&self) -> bool {
        use kalends_accounts::Change::{DeleteOrganization, RevokeKey, RevokeOrganizationKeys};
        let revokes = |change: &kalends_accounts::Change| {
            matches!(change, DeleteOrganization { .. } | RevokeKey { .. } | RevokeOrganizationKeys { .. })
        };
        self.accounts.iter().any(revokes)
    }
}
