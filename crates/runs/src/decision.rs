//! The decision what takes the writes of a run back.

use kalends_calendars::{Event, EventStatus};
use kalends_kernel::{AgentId, CalendarId};
use kalends_proposals::{Proposal, State};
use kalends_time::Timestamp;

use crate::Written;

/// An event as it is stored, deleted or not, on a calendar that may be deleted.
#[derive(Debug, Clone, PartialEq)]
pub struct Kept {
    /// The event.
    pub event: Event,
    /// The owner of its calendar.
    pub agent: Option<AgentId>,
}

/// What takes the writes to one resource back.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// The resource is already as it would be without the run.
    Nothing,
    /// Delete the event, which the run created.
    Remove,
    /// Write this state: the one before the run, with a new version.
    Restore(Box<Event>),
    /// Cancel the proposal, which the run created.
    Cancel,
    /// It cannot be taken back.
    Blocked(Reason),
}

/// Why the writes to a resource cannot be taken back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// Something else has changed it, during the run or after it.
    Changed,
    /// Its time must be free, and is not.
    TimeTaken,
    /// Its calendar was deleted.
    CalendarGone,
}

impl Reason {
    /// The name in answers.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Changed => "changed",
            Self::TimeTaken => "time_taken",
            Self::CalendarGone => "calendar_deleted",
        }
    }
}

/// What takes the writes to an event back. `current` is the event as stored; `None` if it was purged. `is_visible` says
/// whether a calendar exists.
pub fn undo_event(
    written: &Written,
    current: Option<&Event>,
    is_visible: impl Fn(CalendarId) -> bool,
    now: Timestamp,
) -> Step {
    let Written { before, after, alone, .. } = written;
    let was_there = before.as_deref().is_some_and(|before| before.deleted_at.is_none());
    let Some(current) = current else {
        return if was_there { Step::Blocked(Reason::Changed) } else { Step::Nothing };
    };
    if !was_there && !is_visible(current.calendar) {
        // Everything on the calendar is gone with it.
        return Step::Nothing;
    }
    if !was_there && hold_is_over(current, now) {
        return Step::Nothing;
    }
    // The end of a hold by itself is one write after that of the run.
    let has_ended = hold_is_over(current, now) && current.version == after.next();
    if !*alone || (current.version != *after && !has_ended) {
        return Step::Blocked(Reason::Changed);
    }
    let Some(before) = before.as_deref().filter(|_| was_there) else {
        return if current.deleted_at.is_some() { Step::Nothing } else { Step::Remove };
    };
    if ![before.calendar, current.calendar].into_iter().all(is_visible) {
        return Step::Blocked(Reason::CalendarGone);
    }
    let restored = restored(before, current, now);
    let as_current = Event { version: current.version, updated_at: current.updated_at, ..restored.clone() };
    if as_current == *current { Step::Nothing } else { Step::Restore(Box::new(restored)) }
}

/// Whether a hold has ended without anybody who ended it.
fn hold_is_over(event: &Event, now: Timestamp) -> bool {
    let has_expired = event.hold.is_some_and(|hold| hold.has_expired(now));
    event.deleted_at.is_none() && event.status == EventStatus::Cancelled && has_expired
}

/// The event as it would be now without the run, with the version after that of `current`. The links that the run mailed
/// to attendees stay valid.
fn restored(before: &Event, current: &Event, now: Timestamp) -> Event {
    let state = before.expired(now).unwrap_or_else(|| before.clone());
    let attendees = state.attendees.with_links_of(&current.attendees);
    Event { version: current.version.next(), updated_at: now, attendees, ..state }
}

/// What takes the creation of a proposal back. `current` is the proposal as stored.
pub fn undo_proposal(written: &Written, current: Option<&Proposal>, now: Timestamp) -> Step {
    let Some(current) = current else { return Step::Nothing };
    match current.state() {
        State::Cancelled(_) | State::Expired => Step::Nothing,
        // It has ended, although this is not written yet.
        State::Pending if current.expires_at() <= now => Step::Nothing,
        State::Pending if current.version() == written.after => Step::Cancel,
        State::Pending | State::Confirmed { .. } => Step::Blocked(Reason::Changed),
    }
}
