//! The state of the store, and which of it is visible.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::atomic::{AtomicU64, Ordering},
};

use kalends_accounts::{
    Acceptance, ApiKey, AuditEntry, AuthorizationCode, Claim, ConnectorClient, EndedKey, KeyHash, MemberInvitation,
    Membership, Organization, RefreshToken, ScopedKey, SecondFactor, Session, TokenHash, TokenPurpose, Used, User,
    UserToken, VerificationCode,
    oauth::{Attempt, KnownIdentity},
};
use kalends_app::StoredAnswer;
use kalends_approvals::Approval;
use kalends_bookings::{Booking, BookingPage};
use kalends_bridge::{ConnectAttempt, Connection, ConnectionLink, CopyKey, Destination, ExternalCalendar, Grant};
use kalends_calendars::{
    Agent, AgentStatus, AvailabilityRules, Calendar, DatabaseId, Event, Occurrence, Reservation, Timer, ports::StatusAt,
};
use kalends_feeds::{
    Fence, Subscription,
    sync::{ItemKey, KnownItem},
};
use kalends_kernel::{
    AgentId, ApprovalId, AuditId, BookingId, BookingPageId, CalendarId, ClaimId, ConnectionId, ConnectionLinkId,
    DeliveryId, EventId, ExternalCalendarId, GrantId, HoldSetId, KeyId, LetterId, Listed, MemberInvitationId,
    MessageId, OrgId, PAGE_BYTES_MAX, Page, ProposalId, Revision, RunWriteId, SessionId, SubscriptionId, UserId,
    Version, WebhookId,
};
use kalends_notifications::{
    Delivery, FeedEntry, FeedHead, FeedPosition, Health, Letter, LetterRecord, Message, Queue, WebhookEndpoint,
};
use kalends_plans::Metric;
use kalends_proposals::Proposal;
use kalends_quotas::Period;
use kalends_time::{CivilDate, Timestamp};
use uuid::Uuid;

/// The whole state, one collection per table.
#[derive(Debug, Clone, Default)]
pub(super) struct State {
    pub(super) identity: Identity,
    pub(super) organizations: BTreeMap<OrgId, Organization>,
    pub(super) keys: HashMap<KeyHash, ApiKey>,
    pub(super) scoped_keys: BTreeMap<(OrgId, KeyId), ScopedKey>,
    /// The UTC day of the last use of an organization's own key. An agent's key has its own.
    pub(super) own_keys_used: BTreeMap<(OrgId, KeyId), CivilDate>,
    /// The organizations of which a key was used, in force or not.
    pub(super) used_keys: BTreeSet<OrgId>,
    pub(super) revoked_keys: HashMap<KeyHash, EndedKey>,
    pub(super) connector_clients: BTreeMap<kalends_kernel::ConnectorClientId, ConnectorClient>,
    pub(super) authorization_codes: HashMap<TokenHash, AuthorizationCode>,
    pub(super) refresh_tokens: HashMap<TokenHash, RefreshToken>,
    pub(super) codes: BTreeMap<OrgId, VerificationCode>,
    pub(super) claims: BTreeMap<ClaimId, Claim>,
    pub(super) attempts: HashMap<TokenHash, Attempt>,
    pub(super) identities: Vec<KnownIdentity>,
    pub(super) acceptances: Vec<(Option<OrgId>, Acceptance)>,
    pub(super) deletions: BTreeMap<OrgId, Timestamp>,
    pub(super) users: BTreeMap<UserId, User>,
    pub(super) members: BTreeMap<(OrgId, UserId), Membership>,
    pub(super) invitations: BTreeMap<(OrgId, MemberInvitationId), MemberInvitation>,
    pub(super) sessions: BTreeMap<SessionId, Session>,
    pub(super) user_tokens: BTreeMap<(UserId, TokenPurpose), UserToken>,
    pub(super) second_factors: BTreeMap<UserId, SecondFactor>,
    /// The use of each allowance, and the organization that it belongs to.
    pub(super) allowances: HashMap<[u8; 32], (Used, Option<OrgId>)>,
    pub(super) epoch: i64,
    pub(super) agents: BTreeMap<(OrgId, AgentId), Agent>,
    pub(super) calendars: BTreeMap<(OrgId, CalendarId), Calendar>,
    pub(super) events: BTreeMap<(OrgId, EventId), Event>,
    /// The organizations with events that seem to be of an earlier release.
    pub(super) not_indexed: BTreeSet<OrgId>,
    pub(super) rules: BTreeMap<(OrgId, CalendarId), AvailabilityRules>,
    /// The revision of its calendar at which each event was last written.
    pub(super) event_revisions: BTreeMap<(OrgId, EventId), Revision>,
    /// The agents whose keys placed hold sets on calendars of others.
    pub(super) placed: BTreeMap<(OrgId, HoldSetId), AgentId>,
    /// The events that moved from a calendar to another one.
    pub(super) moved: BTreeMap<(OrgId, CalendarId, EventId), MovedRow>,
    /// The revision at which the rules of each calendar were last written or removed.
    pub(super) rules_revisions: BTreeMap<(OrgId, CalendarId), Revision>,
    pub(super) timers: BTreeMap<(OrgId, CalendarId, EventId), TimerRow>,
    pub(super) used: BTreeMap<(OrgId, Metric, Period), u64>,
    pub(super) messages: BTreeMap<(OrgId, MessageId), Message>,
    /// The messages that are not addressed yet.
    pub(super) waiting: BTreeSet<(OrgId, MessageId)>,
    /// The change feeds that somebody reads.
    pub(super) feed_heads: BTreeMap<OrgId, FeedHead>,
    pub(super) feed_entries: BTreeMap<(OrgId, FeedPosition), FeedEntry>,
    pub(super) webhooks: BTreeMap<(OrgId, WebhookId), WebhookEndpoint>,
    pub(super) queues: BTreeMap<(OrgId, WebhookId), (Queue, Health)>,
    pub(super) deliveries: BTreeMap<(OrgId, WebhookId, DeliveryId), Delivery>,
    pub(super) subscriptions: BTreeMap<(OrgId, SubscriptionId), SubscriptionRow>,
    /// The imported items, by origin and key.
    pub(super) imported: BTreeMap<(OrgId, Uuid, ItemKey), KnownItem>,
    pub(super) proposals: BTreeMap<(OrgId, ProposalId), Proposal>,
    pub(super) run_writes: BTreeMap<(OrgId, RunWriteId), RunWriteRow>,
    pub(super) approvals: BTreeMap<(OrgId, ApprovalId), Approval>,
    pub(super) reservations: Vec<ReservationRow>,
    pub(super) booking_pages: BTreeMap<(OrgId, BookingPageId), BookingPage>,
    pub(super) bookings: BTreeMap<(OrgId, BookingId), Booking>,
    pub(super) links: BTreeMap<(OrgId, ConnectionLinkId), ConnectionLink>,
    pub(super) connect_attempts: HashMap<TokenHash, ConnectAttempt>,
    pub(super) connections: BTreeMap<(OrgId, ConnectionId), ConnectionRow>,
    pub(super) external: BTreeMap<(OrgId, ExternalCalendarId), ExternalCalendar>,
    pub(super) grants: BTreeMap<(OrgId, GrantId), Grant>,
    pub(super) destinations: BTreeMap<(OrgId, CalendarId), DestinationRow>,
    pub(super) copies: BTreeMap<(OrgId, CalendarId, CopyKey), kalends_bridge::Copy>,
    pub(super) letters: BTreeMap<(OrgId, LetterId), LetterRow>,
    pub(super) letter_records: BTreeMap<(OrgId, LetterId), LetterRecord>,
    pub(super) audit: BTreeMap<(OrgId, AuditId), AuditEntry>,
    pub(super) answers: HashMap<[u8; 32], StoredAnswer>,
    pub(super) last_backup: Option<Timestamp>,
}

/// A subscription with the fields that only stores have.
#[derive(Debug, Clone)]
pub(super) struct SubscriptionRow {
    pub(super) subscription: Subscription,
    pub(super) due_at: Option<Timestamp>,
    pub(super) claimed_until: Option<Timestamp>,
    pub(super) fence: Fence,
    pub(super) requested: bool,
    pub(super) reserved: u64,
}

/// A letter with the fields that only stores have.
#[derive(Debug, Clone)]
pub(super) struct LetterRow {
    pub(super) letter: Letter,
    pub(super) due_at: Timestamp,
    pub(super) fence: i64,
    pub(super) put_off: u32,
}

/// A connection with the fields that only stores have.
#[derive(Debug, Clone)]
pub(super) struct ConnectionRow {
    pub(super) connection: Connection,
    pub(super) due_at: Option<Timestamp>,
    pub(super) claimed_until: Option<Timestamp>,
    pub(super) fence: kalends_bridge::Fence,
    pub(super) requested: bool,
}

impl ConnectionRow {
    /// The connection as stores return it.
    pub(super) fn read(&self) -> Connection {
        Connection { due_at: self.due_at, ..self.connection.clone() }
    }
}

/// A destination with the fields that only stores have.
#[derive(Debug, Clone)]
pub(super) struct DestinationRow {
    pub(super) destination: Destination,
    pub(super) due_at: Timestamp,
    pub(super) claimed_until: Option<Timestamp>,
    pub(super) fence: kalends_bridge::Fence,
    /// Whether the last attempt did not end.
    pub(super) attempting: bool,
}

/// A reservation with the fields that only stores have.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReservationRow {
    pub(super) org: OrgId,
    pub(super) calendar: CalendarId,
    pub(super) reservation: Reservation,
    pub(super) revision: Revision,
}

/// A write of a run.
#[derive(Debug, Clone)]
pub(super) struct RunWriteRow {
    pub(super) run: kalends_runs::RunKey,
    pub(super) entry: kalends_runs::Entry,
}

/// An event that moved from a calendar to another one.
#[derive(Debug, Clone, Copy)]
pub(super) struct MovedRow {
    pub(super) occurrence: Option<Occurrence>,
    pub(super) revision: Revision,
    pub(super) at: Timestamp,
}

/// A timer with the fields that only stores have.
#[derive(Debug, Clone, Copy)]
pub(super) struct TimerRow {
    pub(super) timer: Timer,
    pub(super) again: bool,
    pub(super) version: Version,
    pub(super) claimed_until: Timestamp,
}

/// The identity of the database: each store has its own.
#[derive(Debug, Clone, Copy)]
pub(super) struct Identity(pub(super) DatabaseId);

impl Default for Identity {
    fn default() -> Self {
        static MADE: AtomicU64 = AtomicU64::new(0);
        let mut identity = [0; 16];
        identity[..8].copy_from_slice(&MADE.fetch_add(1, Ordering::Relaxed).to_be_bytes());
        Self(DatabaseId(identity))
    }
}

impl State {
    /// Whether the agent exists and is not decommissioned.
    pub(super) fn agent_lives(&self, org: OrgId, agent: AgentId) -> bool {
        self.agents.get(&(org, agent)).is_some_and(|agent| agent.status != AgentStatus::Decommissioned)
    }

    /// The organization's agent keys that are in force.
    pub(super) fn scoped_keys_in_force(&self, org: OrgId) -> impl Iterator<Item = &ScopedKey> {
        self.scoped_keys.values().filter(move |key| key.org == org && self.agent_lives(key.org, key.agent))
    }

    /// Whether a calendar is neither deleted nor owned by a decommissioned agent.
    pub(super) fn is_visible(&self, calendar: &Calendar) -> bool {
        calendar.deleted_at.is_none() && calendar.agent.is_none_or(|agent| self.agent_lives(calendar.org, agent))
    }

    /// The calendar, if it is visible.
    pub(super) fn calendar(&self, org: OrgId, id: CalendarId) -> Option<&Calendar> {
        self.calendars.get(&(org, id)).filter(|calendar| self.is_visible(calendar))
    }

    /// The organization's visible calendars.
    pub(super) fn visible_calendars(&self, org: OrgId) -> impl Iterator<Item = &Calendar> {
        self.calendars.values().filter(move |calendar| calendar.org == org && self.is_visible(calendar))
    }

    /// The organization's visible events, each with its calendar.
    pub(super) fn visible_events(&self, org: OrgId) -> impl Iterator<Item = (&Event, &Calendar)> {
        self.events
            .values()
            .filter(move |event| event.org == org && event.deleted_at.is_none())
            .filter_map(|event| Some((event, self.calendar(event.org, event.calendar)?)))
    }

    /// How many visible holds that the agent's keys placed on calendars of others are live at `now`.
    pub(super) fn placed_holds(&self, org: OrgId, agent: AgentId, now: Timestamp) -> u64 {
        let placed = self.visible_events(org).filter(|(event, on)| {
            let set = event.hold_set.map(|set| (org, set));
            on.agent != Some(agent)
                && set.and_then(|set| self.placed.get(&set)) == Some(&agent)
                && event.live_hold(now).is_ok()
        });
        placed.count().try_into().unwrap_or(u64::MAX)
    }
}

/// Whether the event has a status at a point in time.
pub(super) fn has_status(event: &Event, at: StatusAt) -> bool {
    event.clone().at(at.now).status == at.status
}

/// The approximate size of an event in bytes, counting only the parts that vary much.
pub(super) fn weight(event: &Event) -> usize {
    event.description.as_ref().map_or(0, String::len)
}

/// The first entries, up to and including the one that reaches [`PAGE_BYTES_MAX`].
pub(super) fn within_bytes<T>(entries: Vec<T>, weigh: impl Fn(&T) -> usize) -> Vec<T> {
    let mut weight = 0;
    let fits = entries.into_iter().take_while(|entry| {
        let fits = weight < PAGE_BYTES_MAX;
        weight += weigh(entry);
        fits
    });
    fits.collect()
}

/// One page of `matching`, ordered by `key`.
pub(super) fn page_of<'a, T: Clone + 'a, K: Ord>(
    matching: impl Iterator<Item = &'a T>,
    key: impl Fn(&T) -> K,
    page: Page,
) -> Listed<T> {
    let mut all: Vec<&T> = matching.collect();
    all.sort_by_key(|entry| key(entry));
    let total = all.len();
    let (limit, offset) = (page.limit.try_into().unwrap_or(usize::MAX), page.offset.try_into().unwrap_or(usize::MAX));
    let data = all.into_iter().skip(offset).take(limit).cloned().collect();
    Listed { data, total: total.try_into().unwrap_or(u64::MAX) }
}
