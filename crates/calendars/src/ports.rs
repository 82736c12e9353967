//! What the rules of this crate need to read. Stores implement these traits; every method takes the
//! organization, and what belongs to another one is simply absent.

use async_trait::async_trait;
use kalends_availability::{Block, Rules};
use kalends_kernel::{
    AgentId, CalendarId, EventId, HoldSetId, Listed, OrgId, Page, Revision, SignedDuration, Span, StoreError,
    Timestamp, Version,
};

use crate::{
    Agent, AgentStatus, AgentType, AvailabilityRules, Calendar, ChangedSince, ChangesQuery, ChangesRead, ContextEvents,
    EmittedUntil, Event, EventSource, EventStatus, Occurrence, Reminders, Repeating, Reservation,
};

/// Which agents a list holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AgentFilter {
    /// Only agents of this type.
    pub kind: Option<AgentType>,
    /// Only agents of this status.
    pub status: Option<AgentStatus>,
}

/// Reads agents. Decommissioned ones are readable like any other.
#[async_trait]
pub trait Agents: Send + Sync {
    /// The agent, or `None` where the organization has none of that id.
    async fn find_agent(&self, org: OrgId, id: AgentId) -> Result<Option<Agent>, StoreError>;

    /// Agents by creation, the oldest first.
    async fn list_agents(&self, org: OrgId, filter: AgentFilter, page: Page) -> Result<Listed<Agent>, StoreError>;
}

/// Which calendars a list holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CalendarFilter {
    /// Those of one agent.
    OfAgent(AgentId),
    /// Those of all agents.
    OfAgents,
    /// Those of all agents and the shared ones.
    All,
}

/// Reads calendars that are in sight: neither deleted nor owned by a decommissioned agent.
#[async_trait]
pub trait Calendars: Send + Sync {
    /// The calendar, or `None` where the organization has none of that id in sight.
    async fn find_calendar(&self, org: OrgId, id: CalendarId) -> Result<Option<Calendar>, StoreError>;

    /// Calendars by creation, the oldest first.
    async fn list_calendars(
        &self,
        org: OrgId,
        filter: CalendarFilter,
        page: Page,
    ) -> Result<Listed<Calendar>, StoreError>;

    /// The next `limit` calendars by creation, then id, behind the one that was made at `after` and has that
    /// identifier, or from the first on. Who walks on like this passes none over that stays, whatever is deleted
    /// meanwhile.
    async fn calendars_after(
        &self,
        org: OrgId,
        after: Option<(Timestamp, CalendarId)>,
        limit: u32,
    ) -> Result<Vec<Calendar>, StoreError>;
}

/// Whose events a list holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventScope {
    /// Those of one calendar.
    Calendar(CalendarId),
    /// Those of all calendars of one agent.
    Agent(AgentId),
}

/// A status at an instant: a hold that is over by then counts as cancelled ([`Event::at`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StatusAt {
    /// The status.
    pub status: EventStatus,
    /// The instant.
    pub now: Timestamp,
}

/// Which events a list holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EventFilter {
    /// Only events that start at this instant or later.
    pub start_after: Option<Timestamp>,
    /// Only events that start before this instant.
    pub start_before: Option<Timestamp>,
    /// Only events of this status.
    pub status: Option<StatusAt>,
    /// Only events of this source.
    pub source: Option<EventSource>,
}

/// Reads events that are in sight: not deleted, on a calendar in sight.
#[async_trait]
pub trait Events: Send + Sync {
    /// The event together with the agent that owns its calendar, or `None` where the organization has
    /// none of that id in sight. An occurrence of a series is found by [`Instances`] only.
    async fn find_event(&self, org: OrgId, id: EventId) -> Result<Option<OwnedEvent>, StoreError>;

    /// Those of the given events of a calendar that are in sight, in no particular order.
    async fn events_of(&self, org: OrgId, calendar: CalendarId, ids: &[EventId]) -> Result<Vec<Event>, StoreError>;

    /// Events by start, then id. A series is one of them, by its own start; occurrences are not.
    async fn list_events(
        &self,
        org: OrgId,
        scope: EventScope,
        filter: EventFilter,
        page: Page,
    ) -> Result<Listed<Event>, StoreError>;

    /// The events around `now`, those left out that are cancelled by then; of a series, its instances.
    async fn context_events(
        &self,
        org: OrgId,
        calendar: CalendarId,
        now: Timestamp,
    ) -> Result<ContextEvents, StoreError>;
}

/// Which instances a list holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InstanceFilter {
    /// Only what overlaps this window.
    pub window: Span,
    /// Only what has this status.
    pub status: Option<StatusAt>,
    /// Only what comes from this source.
    pub source: Option<EventSource>,
}

/// The series of a calendar that block and have an occurrence in a window.
#[derive(Debug, Clone)]
pub struct BlockingSeries {
    /// The calendar.
    pub calendar: CalendarId,
    /// Its revision when they were read.
    pub revision: Revision,
    /// The series, in no particular order. Some may have no occurrence in the window after all.
    pub series: Vec<Repeating>,
}

/// Reads series with their occurrences, in sight as events are.
#[async_trait]
pub trait Instances: Send + Sync {
    /// The override of an occurrence, or `None` where it has none.
    async fn find_override(&self, org: OrgId, occurrence: Occurrence) -> Result<Option<Event>, StoreError>;

    /// All overrides of a series, by the start that the rule gives them.
    async fn list_overrides(&self, org: OrgId, series: EventId) -> Result<Vec<Event>, StoreError>;

    /// One-off events, overrides and the instances of series, by start, then by the identifier that they
    /// show; in one snapshot, and in as many statements for a thousand series as for one. `None` where
    /// the window holds more than [`INSTANCES_MAX`](crate::INSTANCES_MAX).
    async fn list_instances(
        &self,
        org: OrgId,
        scope: EventScope,
        filter: InstanceFilter,
        page: Page,
    ) -> Result<Option<Listed<Event>>, StoreError>;

    /// What blocks `window` (ruling 4.7) on the given calendars and repeats, in one query. Calendars out of
    /// sight are left out. Overrides are among the spans of [`BusyTimes::blocking_spans`].
    async fn blocking_series(
        &self,
        org: OrgId,
        calendars: &[CalendarId],
        window: Span,
    ) -> Result<Vec<BlockingSeries>, StoreError>;
}

/// An event and whose calendar it stands on.
#[derive(Debug, Clone, PartialEq)]
pub struct OwnedEvent {
    /// The event.
    pub event: Event,
    /// The agent that owns the calendar; `None` for a shared calendar.
    pub agent: Option<AgentId>,
}

/// A calendar whose events decide about availability.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct BusySource {
    /// The owner; `None` for a shared calendar.
    pub agent: Option<AgentId>,
    /// The calendar.
    pub calendar: CalendarId,
    /// What has been scheduled on it so far: while it holds, cached busy times hold.
    pub revision: Revision,
    /// Whether a grant lets human calendars count for it. If not, none counts, and nobody has to look for any.
    pub granted: bool,
}

/// An agent that lives, asked about by itself because it has no calendar in sight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct LivingAgent {
    /// The agent.
    pub id: AgentId,
    /// Whether a grant lets human calendars count for it, as for a [`BusySource`].
    pub granted: bool,
}

/// What lasts longer is indexed apart, so that whoever looks for what reaches into a window has to go
/// back no further than this before its start: 24 hours. The migrations repeat the number.
pub const LONG: SignedDuration = SignedDuration::days(1);

/// The busy times that begin on one day are also kept in one piece, up to this number: reading a month is
/// then reading thirty rows. Of a fuller day the events themselves are read.
pub const BUSY_DAY_MAX: u16 = 96;

/// What decides about the time of one calendar, as it was at one revision.
#[derive(Debug, Clone, PartialEq)]
pub struct CalendarBusy {
    /// The revision.
    pub revision: Revision,
    /// The calendar's rules, if it has any.
    pub rules: Option<Rules>,
    /// The spans of what blocks, ordered by start, possibly overlapping each other.
    pub spans: Vec<Span>,
    /// Whether there are series beside, which may have occurrences in that time.
    pub repeats: bool,
    /// Whether there are holds or reservations beside, which [`Holds::holds_within`] tells.
    pub held: bool,
}

/// What blocks a time of one calendar, thing by thing, as it was at one revision.
#[derive(Debug, Clone, PartialEq)]
pub struct CalendarBlocks {
    /// The calendar as a source of busy times, with the revision.
    pub source: BusySource,
    /// The calendar's rules, if it has any.
    pub rules: Option<Rules>,
    /// What blocks, ordered by start and end, before any buffer.
    pub blocks: Vec<Block>,
    /// Whether there are series beside, which may have occurrences in that time.
    pub repeats: bool,
    /// Whether there are holds or reservations beside, which [`Holds::holds_within`] tells.
    pub held: bool,
}

/// Reads what blocks time.
#[async_trait]
pub trait BusyTimes: Send + Sync {
    /// The calendars in sight of all the given agents, in one query.
    async fn sources_of_agents(&self, org: OrgId, agents: &[AgentId]) -> Result<Vec<BusySource>, StoreError>;

    /// Those of the given agents that live, each once, in any order, in one query.
    async fn living_agents(&self, org: OrgId, agents: &[AgentId]) -> Result<Vec<LivingAgent>, StoreError>;

    /// The given calendar as a source, or `None` where it is out of sight.
    async fn source_of_calendar(&self, org: OrgId, calendar: CalendarId) -> Result<Option<BusySource>, StoreError>;

    /// The spans of all events of `calendar` that block (ruling 4.7) and overlap `window`, not clipped, ordered by
    /// start, possibly overlapping each other, with its rules and the revision at which both were read, in one
    /// snapshot. Neither series nor holds are among them, changed occurrences are. `None` where the calendar is out of sight.
    async fn blocking_spans(
        &self,
        org: OrgId,
        calendar: CalendarId,
        window: Span,
    ) -> Result<Option<CalendarBusy>, StoreError>;

    /// The calendars in sight of `agent`, each with what [`blocking_spans`](Self::blocking_spans) tells of it.
    /// Empty where there is none. A store that can tell both at once does.
    async fn busy_of_agent(
        &self,
        org: OrgId,
        agent: AgentId,
        window: Span,
    ) -> Result<Vec<(BusySource, CalendarBusy)>, StoreError> {
        let mut found = Vec::new();
        for source in self.sources_of_agents(org, &[agent]).await? {
            if let Some(busy) = self.blocking_spans(org, source.calendar, window).await? {
                found.push((BusySource { revision: busy.revision, ..source }, busy));
            }
        }
        Ok(found)
    }

    /// The first `limit` of what [`blocking_spans`](Self::blocking_spans) tells of `window`, each with
    /// what it is, and the rules, in one snapshot. `None` where the calendar is out of sight.
    async fn blocks(
        &self,
        org: OrgId,
        calendar: CalendarId,
        window: Span,
        limit: u32,
    ) -> Result<Option<CalendarBlocks>, StoreError>;
}

/// The holds of a calendar in a window, as they were at one revision.
#[derive(Debug, Clone, PartialEq)]
pub struct CalendarHolds {
    /// The revision.
    pub revision: Revision,
    /// The events of the status `hold`, in no particular order. Some may be over.
    pub holds: Vec<Event>,
    /// What proposals keep free, in no particular order. Some may be over.
    pub reserved: Vec<Reservation>,
}

/// Reads holds that are in sight as events are. Whether one is over is for the reader to say: a store compares
/// no expiry with any clock but where it is given the instant.
#[async_trait]
pub trait Holds: Send + Sync {
    /// The holds and reservations of the calendar that overlap `window`, in one snapshot. `None` where the calendar is out of sight.
    async fn holds_within(
        &self,
        org: OrgId,
        calendar: CalendarId,
        window: Span,
    ) -> Result<Option<CalendarHolds>, StoreError>;

    /// The events that were placed together as holds, whatever became of them, by creation.
    async fn events_of_hold_set(&self, org: OrgId, set: HoldSetId) -> Result<Vec<OwnedEvent>, StoreError>;
}

/// Reads the rules of calendars in sight.
#[async_trait]
pub trait RulesOfCalendars: Send + Sync {
    /// The rules of the calendar, or `None` where it has none or is out of sight.
    async fn find_rules(&self, org: OrgId, calendar: CalendarId) -> Result<Option<AvailabilityRules>, StoreError>;
}

/// Reads what changed on calendars in sight.
#[async_trait]
pub trait ChangesOfCalendars: Send + Sync {
    /// The first `limit` events that changed after what is asked for, each in its present state under the revision
    /// of its last change, by that revision and then by identifier. None is above the revision that is told with
    /// them; what is missing up to there is so because it changed again meanwhile, and will be found above it.
    /// `None` where the calendar is out of sight.
    async fn changes(
        &self,
        org: OrgId,
        calendar: CalendarId,
        asked: ChangesQuery,
        limit: u32,
    ) -> Result<Option<ChangesRead>, StoreError>;

    /// What was written since the revision `since` and reaches into `window`, in one snapshot. `None` where the
    /// calendar is out of sight.
    async fn changed_since(
        &self,
        org: OrgId,
        calendar: CalendarId,
        since: Revision,
        window: Span,
    ) -> Result<Option<ChangedSince>, StoreError>;
}

/// Reads calendars for those who have the address of a feed and nothing else, and what a feed shows.
#[async_trait]
pub trait Feeds: Send + Sync {
    /// The calendar in sight whose feed has this token, of whatever organization it is; `None` where there is none.
    async fn calendar_of_feed(&self, token: &str) -> Result<Option<Calendar>, StoreError>;

    /// Hands `each` whatever on the calendar came from callers of this service and is confirmed or tentative, by start,
    /// then id: one-off events, series and overrides as their rows are. In one snapshot, whose revision it returns, and
    /// in one statement for some hundred of them. `None`, and nothing is handed over, where the calendar is out of
    /// sight.
    async fn read_feed(
        &self,
        org: OrgId,
        calendar: CalendarId,
        each: &mut (dyn FnMut(Event) + Send),
    ) -> Result<Option<Revision>, StoreError>;
}

/// Which timers are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimerQueue {
    /// Those of holds that are over.
    Holds,
    /// Those of other events of which something is due.
    Events,
    /// Those whose calendar's reminders were written anew, due or not.
    Again,
}

/// A timer that whoever reads it has claimed.
#[derive(Debug, Clone, PartialEq)]
pub struct ClaimedTimer {
    /// The organization.
    pub org: OrgId,
    /// The calendar.
    pub calendar: CalendarId,
    /// The event.
    pub event: EventId,
    /// When it was to be looked at.
    pub due_at: Timestamp,
    /// Up to where the event has told.
    pub told: EmittedUntil,
    /// The row's version.
    pub version: Version,
    /// The event, while it is in sight.
    pub seen: Option<Event>,
    /// What its calendar says of reminders.
    pub defaults: Option<Reminders>,
}

/// Reads timers, of all organizations. They are written with the events that they belong to, by [`Event::timer`]: a
/// write that changes [`Event::timing`] puts the event's timer in place of the one before, told at least as far as
/// that, or removes it; any other write leaves it alone. A calendar whose default reminders change has those timers
/// looked at again that inherit them.
#[async_trait]
pub trait Timers: Send + Sync {
    /// Claims up to `limit` timers of the queue that are due at `now` and claimed by nobody else at `now`, until
    /// `until` or until the timer is written; the longest due first. In no more statements for many than for one. A
    /// row that cannot be read is told in the log and left out.
    async fn claim_timers(
        &self,
        queue: TimerQueue,
        now: Timestamp,
        until: Timestamp,
        limit: u32,
    ) -> Result<Vec<ClaimedTimer>, StoreError>;

    /// Gives the next `limit` events, of those that are older than timers are, theirs as of `now`; says whether that
    /// was all. Cheap once it was.
    async fn seed_timers(&self, now: Timestamp, limit: u32) -> Result<bool, StoreError>;

    /// Removes up to `limit` timers whose calendar is out of sight, and says how many.
    async fn forget_timers(&self, limit: u32) -> Result<u64, StoreError>;
}
