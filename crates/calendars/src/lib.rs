//! Agents, calendars and events, and the rules by which they change.
//!
//! Every rule is a synchronous, pure function of a snapshot and a command. A use case reads the
//! snapshot through the traits in [`ports`], calls the rule, and commits the [`Change`]s that it returns.

mod agent;
mod as_of;
mod attendees;
mod blocks;
mod bytes;
mod calendar;
mod change;
mod changes;
mod conference;
mod conflicts;
mod context;
mod event;
mod event_status;
mod feed_token;
mod holds;
mod instances;
mod invitations;
mod named;
mod patch;
mod placed;
pub mod ports;
mod reminders;
mod reservations;
mod rules;
mod search;
mod series;
mod timers;
mod times;
mod zones;

pub(crate) use named::named_values;

pub use agent::{Agent, AgentError, AgentPatch, AgentStatus, AgentType, NewAgent};
pub use as_of::{AS_OF_CALENDARS_MAX, AS_OF_HUMANS_MAX, AsOf, HumanAsOf, HumanFor};
pub use attendees::{
    ATTENDEE_NAME_MAX, ATTENDEES_BYTES_MAX, ATTENDEES_MAX, Attendee, AttendeeRole, AttendeeStatus, Attendees,
    REPLY_NOTE_MAX, ReplySecret, ReplyToken, no_such_agent, not_for_holds,
};
pub use blocks::{Block, BlockKind, Reason, ReasonKind, block_kind};
pub use calendar::{
    AgentActivity, Calendar, CalendarPatch, Conflicts, NewCalendar, Provider, Publication, PublicationPolicy,
};
pub use change::{Change, calendars_revised};
pub use changes::{
    CHANGED_SINCE_MAX, Changed, ChangedSince, ChangesPage, ChangesRead, ChangesSince, ChangesToken, DELETED_KEPT,
    DatabaseId, Position, Resync,
};
pub use conference::ConferenceUrl;
pub use conflicts::{COMPARED_MAX, CONFLICTS_MAX, Comparison, Met};
pub use context::{Context, ContextEvents, RECENT_MAX, UPCOMING_MAX, UPCOMING_WITHIN};
pub use event::{
    DESCRIPTION_MAX, Event, EventError, EventPatch, EventSource, ExternalSync, LOCATION_MAX, NewEvent, TITLE_MAX,
    cannot_recur,
};
pub use event_status::EventStatus;
pub use feed_token::{FeedToken, FeedTokenHash};
pub use holds::{
    EndedHold, HOLD_LEAST, HOLD_MOST, HOLD_PRIORITY_MAX, HOLD_SET_MAX, HeldTime, Hold, HoldEnd, HoldError, HoldExpiry,
    HoldScope, HoldSet, HoldSetError, LONG_HOLD_MOST, NewHold, Taken, confirm_all, place, release_all,
};
pub use instances::{EXPANDED_MAX, Entry, INSTANCES_MAX, SingleInstance, page_of_instances};
pub use invitations::Invite;
pub use patch::Patch;
pub use placed::PLACED_HOLDS_MAX;
pub use reminders::{REMINDER_DEFAULT_MINUTES, REMINDER_MINUTES, REMINDERS_MAX, Reminders};
pub use reservations::{Reservation, ReservationOwner};
pub use rules::{
    AvailabilityRules, BUFFER_MAX_MINUTES, DATES_MAX, NewRules, WrittenHours, WrittenOverride, WrittenRules,
    WrittenWeek, read_rules, rules_document,
};
pub use search::{
    Candidate, CandidateRows, Candidates, QUERY_MAX, SEARCHED_MAX, SearchPosition, SearchToken, WORDS_MAX, Words,
    finds_series, series_to_search, with_first,
};
pub use series::{
    BOUNDED_DAYS, CancelError, ChangedOverride, ChangedSeries, EXDATES_MAX, NewRecurrence, OVERRIDES_MAX, Occurrence,
    OccurrenceError, REQUEST_RULES, Recurrence, RecurrenceError, RecurrencePatch, Repeating, Repeats, SeriesScope,
    exdates, needs_a_rule, needs_an_occurrence,
};
pub use timers::{Advance, EmittedUntil, Happening, HappeningKind, LATENESS_MAX, Timer};
pub use times::{Moment, Times};
pub use zones::{RecurrenceDefault, Zones};

/// The maximum number of characters in an agent's or calendar's name.
pub const NAME_MAX: usize = 255;
