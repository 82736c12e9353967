//! Timers: written with their events, and claimed.

use std::collections::btree_map::Entry;

use async_trait::async_trait;
use kalends_app::ports::CommitError;
use kalends_calendars::{
    Advance, Calendar, EmittedUntil, Event,
    ports::{ClaimedTimer, TimerQueue, Timers},
};
use kalends_kernel::{CalendarId, StoreError, Version};
use kalends_time::Timestamp;

use super::{
    MemoryStore,
    apply::unchanged,
    state::{State, TimerRow},
};

/// The `claimed_until` of a timer that is not claimed.
const FREE: Timestamp = Timestamp::from_micros(0);

impl State {
    /// Writes the timer of an event that was written.
    pub(super) fn keep_timer(&mut self, event: &Event) {
        let calendar = self.calendars.get(&(event.org, event.calendar));
        let defaults = calendar.and_then(|calendar| calendar.default_reminders.as_ref());
        let timer = event.timer(defaults, event.updated_at);
        match (self.timers.entry((event.org, event.calendar, event.id)), timer) {
            (Entry::Occupied(row), _) if row.get().timer.timing == event.timing() => {}
            (Entry::Occupied(mut row), Some(mut timer)) => {
                let before = row.get();
                timer.emitted_until = EmittedUntil {
                    all: timer.emitted_until.all.max(before.timer.emitted_until.all),
                    reminders: timer.emitted_until.reminders.max(before.timer.emitted_until.reminders),
                };
                let version = before.version.next();
                row.insert(TimerRow { timer, again: false, version, claimed_until: FREE });
            }
            (Entry::Occupied(row), None) => {
                row.remove();
            }
            (Entry::Vacant(place), Some(timer)) => {
                place.insert(TimerRow { timer, again: false, version: Version::FIRST, claimed_until: FREE });
            }
            (Entry::Vacant(_), None) => {}
        }
    }

    /// Takes the timer of an event from its former calendar to its present one. Reminders that it inherits are found
    /// again, and those that were due before are not emitted.
    pub(super) fn move_timer(&mut self, event: &Event, from: CalendarId) {
        let Some(mut row) = self.timers.remove(&(event.org, from, event.id)) else { return };
        row.timer.calendar = event.calendar;
        if row.timer.inherits && !row.timer.hold {
            row.timer.emitted_until.reminders = row.timer.emitted_until.reminders.max(event.updated_at);
            row.again = true;
        }
        (row.version, row.claimed_until) = (row.version.next(), FREE);
        self.timers.insert((event.org, event.calendar, event.id), row);
    }

    /// Marks the timers of a calendar whose reminders have changed.
    pub(super) fn mark_for_recompute(&mut self, calendar: &Calendar) {
        let of_it = self.timers.values_mut().filter(|row| {
            (row.timer.org, row.timer.calendar) == (calendar.org, calendar.id) && row.timer.inherits && !row.timer.hold
        });
        for row in of_it {
            row.timer.emitted_until.reminders = row.timer.emitted_until.reminders.max(calendar.updated_at);
            (row.again, row.version, row.claimed_until) = (true, row.version.next(), FREE);
        }
    }

    pub(super) fn advance(&mut self, advance: &Advance) -> Result<(), CommitError> {
        let key = (advance.org, advance.calendar, advance.event);
        let row = self.timers.get_mut(&key).ok_or(CommitError::Stale)?;
        unchanged(row.version, advance.seen)?;
        match advance.next {
            None => {
                self.timers.remove(&key);
            }
            Some((due_at, emitted_until)) => {
                (row.timer.due_at, row.timer.emitted_until) = (due_at, emitted_until);
                (row.again, row.version, row.claimed_until) = (false, row.version.next(), FREE);
            }
        }
        Ok(())
    }
}

#[async_trait]
impl Timers for MemoryStore {
    async fn claim_timers(
        &self,
        queue: TimerQueue,
        now: Timestamp,
        until: Timestamp,
        limit: u32,
    ) -> Result<Vec<ClaimedTimer>, StoreError> {
        Ok(self.write(|state| {
            let wanted = |row: &TimerRow| match queue {
                TimerQueue::Holds => row.timer.hold && row.timer.due_at <= now,
                TimerQueue::Events => !row.timer.hold && row.timer.due_at <= now,
                TimerQueue::Again => row.again,
            };
            let free = state.timers.iter().filter(|(_, row)| wanted(row) && row.claimed_until <= now);
            let mut found: Vec<_> = free.map(|(key, row)| (row.timer.due_at, *key)).collect();
            found.sort_unstable();
            found.truncate(limit.try_into().unwrap_or(usize::MAX));
            let mut claimed = Vec::with_capacity(found.len());
            for (due_at, key) in found {
                let Some(row) = state.timers.get_mut(&key) else { continue };
                row.claimed_until = until;
                let (timer, version) = (row.timer, row.version);
                let calendar = state.calendar(timer.org, timer.calendar);
                let seen = state.events.get(&(timer.org, timer.event));
                claimed.push(ClaimedTimer {
                    org: timer.org,
                    calendar: timer.calendar,
                    event: timer.event,
                    due_at,
                    emitted_until: timer.emitted_until,
                    version,
                    seen: seen.filter(|event| event.deleted_at.is_none() && calendar.is_some()).cloned(),
                    defaults: calendar.and_then(|calendar| calendar.default_reminders.clone()),
                });
            }
            claimed
        }))
    }

    /// Every event has its timer here, so there is nothing to seed.
    async fn seed_timers(&self, _now: Timestamp, _limit: u32) -> Result<bool, StoreError> {
        Ok(true)
    }

    async fn forget_timers(&self, limit: u32) -> Result<u64, StoreError> {
        Ok(self.write(|state| {
            let hidden = state.timers.keys().filter(|(org, calendar, _)| state.calendar(*org, *calendar).is_none());
            let hidden: Vec<_> = hidden.copied().take(limit.try_into().unwrap_or(usize::MAX)).collect();
            hidden.iter().filter(|key| state.timers.remove(key).is_some()).count() as u64
        }))
    }
}
