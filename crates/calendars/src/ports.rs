//! The reads that the rules of this crate need. Stores implement these traits. A method that takes an organization
//! treats the rows of any other as absent.
//!
//! A calendar is visible unless it is deleted or its agent is decommissioned. An event is visible unless it is deleted
//! or its calendar is not visible.

use async_trait::async_trait;
use kalends_availability::Rules;

use crate::Block;
use kalends_kernel::{
    AgentId, CalendarId, EventId, HoldSetId, Listed, MetadataFilter, OrgId, Page, Revision, StoreError, Version,
};
use kalends_time::{SignedDuration, Span, Timestamp, Zone};

use crate::{
    Agent, AgentStatus, AgentType, AvailabilityRules, Calendar, Candidates, ChangedSince, ChangesRead, ChangesSince,
    Conflicts, ContextEvents, EmittedUntil, Event, EventSource, EventStatus, HoldSet, Occurrence, Publication,
    Reminders, Repeating, Reservation, SearchPosition,
};

/// Selects the agents of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AgentFilter {
    /// Only agents of this type.
    pub kind: Option<AgentType>,
    /// Only agents with this status.
    pub status: Option<AgentStatus>,
}

/// Reads agents, decommissioned ones included.
#[async_trait]
pub trait Agents: Send + Sync {
    /// The agent, or `None` if the organization has none with that id.
    async fn find_agent(&self, org: OrgId, id: AgentId) -> Result<Option<Agent>, StoreError>;

    /// Agents by creation, oldest first.
    async fn list_agents(&self, org: OrgId, filter: AgentFilter, page: Page) -> Result<Listed<Agent>, StoreError>;
}

/// Selects the calendars of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CalendarFilter {
    /// The calendars of one agent.
    OfAgent(AgentId),
    /// The calendars of one agent, and the shared ones.
    OfAgentAndShared(AgentId),
    /// The calendars of all agents.
    OfAgents,
    /// The calendars of all agents, and the shared ones.
    All,
}

/// What a page shows of a calendar in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CalendarEntry {
    /// The identifier.
    pub id: CalendarId,
    /// The name.
    pub name: String,
    /// The owning agent and its name; `None` for a calendar that the organization shares.
    pub agent: Option<(AgentId, String)>,
    /// The zone.
    pub zone: Zone,
    /// Whether its events may overlap.
    pub conflicts: Conflicts,
}

/// Reads visible calendars.
#[async_trait]
pub trait Calendars: Send + Sync {
    /// The calendar, or `None` if the organization has no visible one with that id.
    async fn find_calendar(&self, org: OrgId, id: CalendarId) -> Result<Option<Calendar>, StoreError>;

    /// Calendars by creation, oldest first.
    async fn list_calendars(
        &self,
        org: OrgId,
        filter: CalendarFilter,
        page: Page,
    ) -> Result<Listed<Calendar>, StoreError>;

    /// The entries of the calendars that [`CalendarFilter::All`] selects, by creation, oldest first, in one statement.
    async fn calendar_entries(&self, org: OrgId, page: Page) -> Result<Listed<CalendarEntry>, StoreError>;

    /// The next `limit` calendars by creation and then id. They follow the calendar with the creation time and the id
    /// of `after`, or start with the first if that is `None`. A caller that reads page after page misses no calendar,
    /// even if others are deleted in between.
    async fn calendars_after(
        &self,
        org: OrgId,
        after: Option<(Timestamp, CalendarId)>,
        limit: u32,
    ) -> Result<Vec<Calendar>, StoreError>;
}

/// Selects the calendars whose events are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventScope {
    /// One calendar.
    Calendar(CalendarId),
    /// All calendars of one agent.
    Agent(AgentId),
}

/// A status at an instant. A hold that has expired by then counts as cancelled ([`Event::at`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StatusAt {
    /// The status.
    pub status: EventStatus,
    /// The instant.
    pub now: Timestamp,
}

/// Selects the events of a list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EventFilter {
    /// Only events that start at this instant or later.
    pub start_after: Option<Timestamp>,
    /// Only events that start before this instant.
    pub start_before: Option<Timestamp>,
    /// Only events with this status.
    pub status: Option<StatusAt>,
    /// Only events from this source.
    pub source: Option<EventSource>,
    /// Only events with this metadata.
    pub metadata: MetadataFilter,
}

/// Reads visible events.
#[async_trait]
pub trait Events: Send + Sync {
    /// The event together with the agent that owns its calendar, or `None` if the organization has no visible one with
    /// that id. Overrides are found only through [`Instances`].
    async fn find_event(&self, org: OrgId, id: EventId) -> Result<Option<OwnedEvent>, StoreError>;

    /// The visible events of the calendars with these ids, in no particular order, in one statement.
    async fn events_of(&self, org: OrgId, calendars: &[CalendarId], ids: &[EventId]) -> Result<Vec<Event>, StoreError>;

    /// Events by start and then id. A series is listed once, by its own start, without its occurrences. A filter by
    /// metadata finds only events in the [index](MetadataIndex).
    async fn list_events(
        &self,
        org: OrgId,
        scope: EventScope,
        filter: EventFilter,
        page: Page,
    ) -> Result<Listed<Event>, StoreError>;

    /// The events around `now`, without those that are cancelled by then. A series shows as its instances.
    async fn context_events(
        &self,
        org: OrgId,
        calendar: CalendarId,
        now: Timestamp,
    ) -> Result<ContextEvents, StoreError>;
}

/// Selects the calendars whose instances are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InstanceScope<'a> {
    /// These calendars.
    Calendars(&'a [CalendarId]),
    /// All calendars of one agent.
    Agent(AgentId),
}

impl<'a> From<&'a EventScope> for InstanceScope<'a> {
    fn from(scope: &'a EventScope) -> Self {
        match scope {
            EventScope::Calendar(calendar) => Self::Calendars(std::slice::from_ref(calendar)),
            EventScope::Agent(agent) => Self::Agent(*agent),
        }
    }
}

/// Selects the instances of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstanceFilter {
    /// Only instances that overlap this window.
    pub window: Span,
    /// Only instances with this status.
    pub status: Option<StatusAt>,
    /// Only instances from this source.
    pub source: Option<EventSource>,
    /// Only instances with this metadata: that of their series, or their own if they were changed.
    pub metadata: MetadataFilter,
}

/// Selects the events that a search reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SearchFilter {
    /// Only events of this calendar.
    pub calendar: Option<CalendarId>,
    /// Only events of this agent's calendars.
    pub agent: Option<AgentId>,
    /// Only events that start in this window, and series with an occurrence that does.
    pub window: Span,
}

/// The blocking series of a calendar that may have an occurrence in a window.
#[derive(Debug, Clone)]
pub struct BlockingSeries {
    /// The calendar.
    pub calendar: CalendarId,
    /// Its revision when they were read.
    pub revision: Revision,
    /// The series, in no particular order. Some may have no occurrence in the window after all.
    pub series: Vec<Repeating>,
}

/// Reads visible series with their occurrences.
#[async_trait]
pub trait Instances: Send + Sync {
    /// The override of an occurrence, or `None` if it has none.
    async fn find_override(&self, org: OrgId, occurrence: Occurrence) -> Result<Option<Event>, StoreError>;

    /// All overrides of a series, by the start that the rule gives them.
    async fn list_overrides(&self, org: OrgId, series: EventId) -> Result<Vec<Event>, StoreError>;

    /// One-off events, overrides and the instances of series, by start and then by the identifier that they show. They
    /// are read in one snapshot, in the same number of statements for a thousand series and many calendars as for one.
    /// Calendars that are not visible have none. `None` if the window contains more than
    /// [`INSTANCES_MAX`](crate::INSTANCES_MAX).
    async fn list_instances(
        &self,
        org: OrgId,
        scope: InstanceScope<'_>,
        filter: InstanceFilter,
        page: Page,
    ) -> Result<Option<Listed<Event>>, StoreError>;

    /// The next events to search, by their positions ([`SearchPosition`]): one-off events, overrides and series. They are
    /// read in one snapshot and in three statements. There are at most `limit`, and fewer if they are large.
    async fn events_to_search(
        &self,
        org: OrgId,
        filter: SearchFilter,
        after: Option<SearchPosition>,
        limit: usize,
    ) -> Result<Candidates, StoreError>;

    /// The series on the given calendars that block `window`, in one query. Calendars that are not visible are left
    /// out. Overrides are not included: [`BusyTimes::blocking_spans`] returns their spans.
    async fn blocking_series(
        &self,
        org: OrgId,
        calendars: &[CalendarId],
        window: Span,
    ) -> Result<Vec<BlockingSeries>, StoreError>;
}

/// An event with the owner of its calendar, and how the calendar is published.
#[derive(Debug, Clone, PartialEq)]
pub struct OwnedEvent {
    /// The event.
    pub event: Event,
    /// The agent that owns the calendar; `None` for a shared calendar.
    pub agent: Option<AgentId>,
    /// How the events of the calendar are published.
    pub publication: Publication,
}

/// A calendar whose events count for availability.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct BusySource {
    /// The owner; `None` for a shared calendar.
    pub agent: Option<AgentId>,
    /// The calendar.
    pub calendar: CalendarId,
    /// The calendar's revision. While it stays the same, cached busy times are valid.
    pub revision: Revision,
    /// Whether a grant lets human calendars count for it. If not, there are none to look for.
    pub granted: bool,
}

/// An agent that is not decommissioned. Used for agents without a visible calendar, which have no [`BusySource`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct LivingAgent {
    /// The agent.
    pub id: AgentId,
    /// Whether a grant lets human calendars count for it, as for a [`BusySource`].
    pub granted: bool,
}

/// Events that last longer than 24 hours have an index of their own. So a query for the events that reach into a window
/// needs to look back no further than this before its start. The migrations repeat the number.
pub const LONG: SignedDuration = SignedDuration::days(1);

/// The busy times that begin on one day are also kept together in one row, up to this number. Reading a month then
/// takes thirty rows. For a fuller day, the events themselves are read.
pub const BUSY_DAY_MAX: u16 = 96;

/// The rules and the busy times of one calendar at one revision.
#[derive(Debug, Clone, PartialEq)]
pub struct CalendarBusy {
    /// The revision.
    pub revision: Revision,
    /// The calendar's rules, if it has any.
    pub rules: Option<Rules>,
    /// The spans of blocking events, ordered by start. They may overlap each other.
    pub spans: Vec<Span>,
    /// Whether there are also series that may have occurrences in the window.
    pub repeats: bool,
    /// Whether there are also holds or reservations, which [`Holds::holds_within`] returns.
    pub held: bool,
}

/// The blocks of one calendar in a window at one revision.
#[derive(Debug, Clone, PartialEq)]
pub struct CalendarBlocks {
    /// The calendar as a source of busy times, with the revision.
    pub source: BusySource,
    /// The calendar's rules, if it has any.
    pub rules: Option<Rules>,
    /// The blocks, ordered by start and end, without buffers.
    pub blocks: Vec<Block>,
    /// Whether there are also series that may have occurrences in the window.
    pub repeats: bool,
    /// Whether there are also holds or reservations, which [`Holds::holds_within`] returns.
    pub held: bool,
}

/// Reads busy times.
#[async_trait]
pub trait BusyTimes: Send + Sync {
    /// The visible calendars of all the given agents, in one query.
    async fn sources_of_agents(&self, org: OrgId, agents: &[AgentId]) -> Result<Vec<BusySource>, StoreError>;

    /// The given agents that are not decommissioned, each once, in any order, in one query.
    async fn living_agents(&self, org: OrgId, agents: &[AgentId]) -> Result<Vec<LivingAgent>, StoreError>;

    /// The given calendar as a source, or `None` if it is not visible.
    async fn source_of_calendar(&self, org: OrgId, calendar: CalendarId) -> Result<Option<BusySource>, StoreError>;

    /// The given calendars that are visible, each once, in any order, in one query.
    async fn sources_of_calendars(&self, org: OrgId, calendars: &[CalendarId]) -> Result<Vec<BusySource>, StoreError>;

    /// The spans of all blocking events of `calendar` that overlap `window`, with its rules and the revision, in one
    /// snapshot. The spans are not clipped, are ordered by start, and may overlap each other. They include overrides,
    /// but neither series nor holds. `None` if the calendar is not visible.
    async fn blocking_spans(
        &self,
        org: OrgId,
        calendar: CalendarId,
        window: Span,
    ) -> Result<Option<CalendarBusy>, StoreError>;

    /// The visible calendars of `agent`, each with the result of [`blocking_spans`](Self::blocking_spans). Empty if
    /// there are none. A store that can read both at once overrides this method.
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

    /// The first `limit` spans that [`blocking_spans`](Self::blocking_spans) returns for `window`, each with its kind,
    /// and the rules, in one snapshot. `None` if the calendar is not visible.
    async fn blocks(
        &self,
        org: OrgId,
        calendar: CalendarId,
        window: Span,
        limit: u32,
    ) -> Result<Option<CalendarBlocks>, StoreError>;
}

/// The holds and reservations of a calendar in a window at one revision.
#[derive(Debug, Clone, PartialEq)]
pub struct CalendarHolds {
    /// The revision.
    pub revision: Revision,
    /// The events with the status `hold`, in no particular order. Some may have expired.
    pub holds: Vec<Event>,
    /// The reservations of proposals, in no particular order. Some may have expired.
    pub reserved: Vec<Reservation>,
}

/// Selects the hold sets of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HoldSetFilter {
    /// Only sets whose visible events are all on calendars of this agent.
    pub agent: Option<AgentId>,
    /// Also the sets that the keys of that agent placed on calendars of others.
    pub or_placed: bool,
    /// Only sets with at least one event that has this status.
    pub status: Option<StatusAt>,
}

/// A hold that has not expired, and what names its calendar.
#[derive(Debug, Clone, PartialEq)]
pub struct LiveHold {
    /// The hold.
    pub event: Event,
    /// The name of its calendar.
    pub calendar_name: String,
    /// The zone of its calendar.
    pub zone: Zone,
}

/// Reads visible holds. The caller decides whether a hold has expired: a store never compares an expiry with its own
/// clock, only with an instant that it is given.
#[async_trait]
pub trait Holds: Send + Sync {
    /// The holds and reservations of the calendar that overlap `window`, in one snapshot. `None` if the calendar is not
    /// visible.
    async fn holds_within(
        &self,
        org: OrgId,
        calendar: CalendarId,
        window: Span,
    ) -> Result<Option<CalendarHolds>, StoreError>;

    /// The holds of all calendars of the organization that have not expired at `now`, at most `limit`. Those that expire
    /// first come first, then by id. They are read in one statement, whose cost grows with the live and the recently
    /// expired holds of the organization, whatever the limit is.
    async fn live_holds(&self, org: OrgId, now: Timestamp, limit: u32) -> Result<Vec<LiveHold>, StoreError>;

    /// The events that were placed as one hold set, whatever their status is now, by creation.
    async fn events_of_hold_set(&self, org: OrgId, set: HoldSetId) -> Result<Vec<OwnedEvent>, StoreError>;

    /// The agent whose key placed the hold set on calendars of others ([`Change::PlaceHolds`](crate::Change)). `None`
    /// if there is no such set, or it was placed in another way.
    async fn placer_of_hold_set(&self, org: OrgId, set: HoldSetId) -> Result<Option<AgentId>, StoreError>;

    /// How many visible holds that the agent's keys placed on calendars of others are live at `now`.
    async fn count_placed_holds(&self, org: OrgId, agent: AgentId, now: Timestamp) -> Result<u64, StoreError>;

    /// The hold sets that still have a visible event, by creation, each with all of its visible events.
    async fn list_hold_sets(
        &self,
        org: OrgId,
        filter: HoldSetFilter,
        page: Page,
    ) -> Result<Listed<HoldSet>, StoreError>;
}

/// Reads the rules of visible calendars.
#[async_trait]
pub trait RulesOfCalendars: Send + Sync {
    /// The rules of the calendar, or `None` if it has none or is not visible.
    async fn find_rules(&self, org: OrgId, calendar: CalendarId) -> Result<Option<AvailabilityRules>, StoreError>;

    /// The rules of those of the given calendars that are visible and have any, each once, in any order. They are read
    /// in one query, and in none if no calendar is given.
    async fn rules_of_calendars(
        &self,
        org: OrgId,
        calendars: &[CalendarId],
    ) -> Result<Vec<AvailabilityRules>, StoreError>;
}

/// Reads changes of visible calendars.
#[async_trait]
pub trait ChangesOfCalendars: Send + Sync {
    /// The first `limit` events that changed after the position in `query`, each in its present state with the revision
    /// of its last change, by that revision and then by identifier. An event that moved to another calendar is
    /// [`Changed::Deleted`](crate::Changed::Deleted) here. No change is above the returned revision. An
    /// event that changed up to that revision but is missing has changed again since, and a later read finds it above
    /// that revision. `None` if the calendar is not visible.
    async fn changes(
        &self,
        org: OrgId,
        calendar: CalendarId,
        query: ChangesSince,
        limit: u32,
    ) -> Result<Option<ChangesRead>, StoreError>;

    /// Forgets up to `limit` events that moved to another calendar at or before that time, in all organizations.
    /// Returns how many.
    async fn purge_moved(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError>;

    /// The writes since the revision `since` that affect `window`, in one snapshot. `None` if the calendar is not
    /// visible.
    async fn changed_since(
        &self,
        org: OrgId,
        calendar: CalendarId,
        since: Revision,
        window: Span,
    ) -> Result<Option<ChangedSince>, StoreError>;
}

/// Reads the content of feeds, for readers who have only the address of a feed.
#[async_trait]
pub trait Feeds: Send + Sync {
    /// The visible calendar whose feed has this token, in any organization; `None` if there is none.
    async fn calendar_of_feed(&self, token: &str) -> Result<Option<Calendar>, StoreError>;

    /// Calls `each` with every event of the calendar that is internal and confirmed or tentative, by start and then id:
    /// one-off events, series and overrides, as stored in their rows. They are read in one snapshot, whose revision is
    /// returned, with one statement for every few hundred events. `None`, without a call, if the calendar is not
    /// visible.
    async fn read_feed(
        &self,
        org: OrgId,
        calendar: CalendarId,
        each: &mut (dyn FnMut(Event) + Send),
    ) -> Result<Option<Revision>, StoreError>;
}

/// A queue of timers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimerQueue {
    /// The timers of holds that have expired.
    Holds,
    /// The timers of other events that are due.
    Events,
    /// The timers whose calendar has new default reminders, due or not.
    Again,
}

/// A timer that a worker has claimed.
#[derive(Debug, Clone, PartialEq)]
pub struct ClaimedTimer {
    /// The organization.
    pub org: OrgId,
    /// The calendar.
    pub calendar: CalendarId,
    /// The event.
    pub event: EventId,
    /// When it was due.
    pub due_at: Timestamp,
    /// The times up to which the event's happenings were emitted.
    pub emitted_until: EmittedUntil,
    /// The row's version.
    pub version: Version,
    /// The event, if it is visible.
    pub seen: Option<Event>,
    /// The default reminders of its calendar.
    pub defaults: Option<Reminders>,
}

/// The index by which lists find events by their metadata.
///
/// Every write of an event writes its part of the index too. Events of earlier releases have none, until
/// [`MetadataIndex::index_metadata`] has added them.
#[async_trait]
pub trait MetadataIndex: Send + Sync {
    /// Whether the index covers all events of the organization.
    async fn is_metadata_indexed(&self, org: OrgId) -> Result<bool, StoreError>;

    /// Indexes up to `limit` events, and returns whether that was all. The call is cheap if nothing is left. An event
    /// that cannot be read is logged, and found by no metadata.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] if an event is sealed under a data key that this node does not know yet. The others are
    /// indexed, and a later call tries that event again.
    async fn index_metadata(&self, limit: u32) -> Result<bool, StoreError>;
}

/// Reads the timers of all organizations.
///
/// Each timer is written with its event, by [`Event::timer`]. A write that changes [`Event::timing`] replaces the
/// event's timer or removes it, and never moves its [`EmittedUntil`] back. Any other write leaves the timer alone. When
/// the default reminders of a calendar change, the timers that inherit them are processed again.
#[async_trait]
pub trait Timers: Send + Sync {
    /// Claims up to `limit` timers of the queue that are due at `now` and not claimed at `now`, longest due first. A
    /// claim lasts until `until` or until the timer is written. The number of statements does not depend on the number
    /// of timers. A row that cannot be read is logged and left out.
    async fn claim_timers(
        &self,
        queue: TimerQueue,
        now: Timestamp,
        until: Timestamp,
        limit: u32,
    ) -> Result<Vec<ClaimedTimer>, StoreError>;

    /// Creates the timers, as of `now`, of the next `limit` events that were written before timers existed. Returns
    /// whether all events have timers. The call is cheap once they do.
    async fn seed_timers(&self, now: Timestamp, limit: u32) -> Result<bool, StoreError>;

    /// Removes up to `limit` timers whose calendar is not visible, and returns their number.
    async fn forget_timers(&self, limit: u32) -> Result<u64, StoreError>;
}
