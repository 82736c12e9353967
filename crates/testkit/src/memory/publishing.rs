//! Destinations and the copies that were written there: reads, writes and claims.

use std::collections::BTreeMap;

use async_trait::async_trait;
use kalends_app::ports::CommitError;
use kalends_bridge::{
    Copy, CopyKey, CopyState, Destination, Fence, PUBLICATIONS_PER_ORG, PublicationPolicy, PublishClaim, PublishState,
    ports::{ClaimedDestination, CopyCounts, Destinations},
};
use kalends_kernel::{CalendarId, ConnectionId, EventId, OrgId, Revision, StoreError, Version};
use kalends_time::Timestamp;

use super::{
    MemoryStore,
    apply::unchanged,
    state::{ConnectionRow, DestinationRow, State},
};

/// When a calendar is due that became so for a cause that its revision does not show. An attempt in progress ends
/// without a later time.
const AGAIN: Timestamp = Timestamp::from_micros(-1);

impl State {
    pub(super) fn put_destination(
        &mut self,
        destination: &Destination,
        seen: Option<Version>,
    ) -> Result<(), CommitError> {
        let key = (destination.org, destination.calendar);
        self.calendar(key.0, key.1).ok_or(CommitError::Stale)?;
        let target = self.external.get(&(destination.org, destination.target));
        if target.is_none_or(|target| target.connection != destination.connection) {
            return Err(CommitError::Stale);
        }
        let last = self.destinations.get(&key);
        if last.map(|row| row.destination.version) != seen {
            return Err(CommitError::Stale);
        }
        let mut row = DestinationRow {
            destination: destination.clone(),
            due_at: Timestamp::EPOCH,
            claimed_until: None,
            fence: Fence(0),
            attempting: false,
        };
        if let Some(last) = last {
            row.destination.state.clone_from(&last.destination.state);
            row.fence = Fence(last.fence.0 + 1);
            row.attempting = last.attempting;
        }
        self.destinations.insert(key, row);
        self.set_policy(key, Some(destination.policy));
        Ok(())
    }

    pub(super) fn end_destination(
        &mut self,
        key: (OrgId, CalendarId),
        seen: Version,
        keep: bool,
        at: Timestamp,
    ) -> Result<(), CommitError> {
        let row = self.destinations.get_mut(&key).ok_or(CommitError::Stale)?;
        unchanged(row.destination.version, seen)?;
        if keep {
            self.forget_destination(key);
            return Ok(());
        }
        row.destination.ending = true;
        row.destination.version = seen.next();
        row.destination.updated_at = at;
        row.fence.0 += 1;
        (row.claimed_until, row.due_at) = (None, Timestamp::EPOCH);
        self.set_policy(key, None);
        Ok(())
    }

    pub(super) fn record_copies(
        &mut self,
        claim: PublishClaim,
        written: &[Copy],
        forgotten: &[CopyKey],
        until: Timestamp,
    ) -> Result<(), CommitError> {
        self.claimed_destination(claim)?.claimed_until = Some(until);
        for key in forgotten {
            self.copies.remove(&(claim.org, claim.calendar, *key));
        }
        self.copies.extend(written.iter().map(|copy| ((claim.org, claim.calendar, copy.key), copy.clone())));
        Ok(())
    }

    pub(super) fn end_publishing(
        &mut self,
        claim: PublishClaim,
        state: &PublishState,
        revision: Option<Revision>,
        (next, not_before): (Option<Timestamp>, Option<Timestamp>),
    ) -> Result<(), CommitError> {
        let key = (claim.org, claim.calendar);
        let now = self.calendars.get(&key).map(|calendar| calendar.revision);
        let row = self.claimed_destination(claim)?;
        let Some(next) = next else {
            self.forget_destination(key);
            return Ok(());
        };
        row.destination.state.clone_from(state);
        row.claimed_until = not_before;
        row.fence.0 += 1;
        row.attempting = false;
        let again = row.due_at <= AGAIN
            || match revision {
                Some(revision) => now.is_some_and(|now| now != revision),
                None => row.due_at == Timestamp::EPOCH,
            };
        row.due_at = if again { Timestamp::EPOCH } else { next };
        Ok(())
    }

    /// Makes the calendar due because its revision rose.
    pub(super) fn publish_revision(&mut self, org: OrgId, calendar: CalendarId) {
        if let Some(row) = self.destinations.get_mut(&(org, calendar)) {
            row.due_at = row.due_at.min(Timestamp::EPOCH);
        }
    }

    /// Makes the destinations that match due, for a cause that no revision shows.
    pub(super) fn publish_again(&mut self, org: OrgId, due: impl Fn(&Destination) -> bool) {
        for row in self.destinations.values_mut() {
            if row.destination.org == org && due(&row.destination) {
                row.due_at = row.due_at.min(AGAIN);
            }
        }
    }

    /// Removes the destinations at a connection with their copies.
    pub(super) fn forget_destinations(&mut self, org: OrgId, connection: ConnectionId) {
        let of =
            self.destinations.iter().filter(|((by, _), row)| (*by, row.destination.connection) == (org, connection));
        let gone: Vec<_> = of.map(|(key, _)| *key).collect();
        for key in gone {
            self.forget_destination(key);
        }
    }

    fn forget_destination(&mut self, key: (OrgId, CalendarId)) {
        self.destinations.remove(&key);
        self.copies.retain(|(org, calendar, _), _| (*org, *calendar) != key);
        self.set_policy(key, None);
    }

    fn set_policy(&mut self, key: (OrgId, CalendarId), policy: Option<PublicationPolicy>) {
        if let Some(calendar) = self.calendars.get_mut(&key) {
            calendar.publication = policy;
        }
    }

    fn claimed_destination(&mut self, claim: PublishClaim) -> Result<&mut DestinationRow, CommitError> {
        let row = self.destinations.get_mut(&(claim.org, claim.calendar)).ok_or(CommitError::Stale)?;
        if row.fence == claim.fence && row.claimed_until.is_some() { Ok(row) } else { Err(CommitError::Stale) }
    }

    fn copies_on(&self, org: OrgId, on: CalendarId) -> impl Iterator<Item = &Copy> {
        let copies = self.copies.iter().filter(move |((by, calendar, _), _)| (*by, *calendar) == (org, on));
        copies.map(|(_, copy)| copy)
    }

    /// Whether the connection exists, and is neither paused nor lapsed.
    fn publishes(&self, destination: &Destination) -> bool {
        let connection = self.connections.get(&(destination.org, destination.connection));
        connection.is_some_and(|row| row.connection.is_refreshed())
    }
}

#[async_trait]
impl Destinations for MemoryStore {
    async fn find_destination(&self, org: OrgId, calendar: CalendarId) -> Result<Option<Destination>, StoreError> {
        Ok(self.state().destinations.get(&(org, calendar)).map(|row| row.destination.clone()))
    }

    async fn destinations_of(
        &self,
        org: OrgId,
        connection: ConnectionId,
    ) -> Result<Vec<(Destination, Option<String>)>, StoreError> {
        let state = self.state();
        let all = state.destinations.values().map(|row| &row.destination);
        let of = all.filter(|destination| (destination.org, destination.connection) == (org, connection));
        let shown = of.filter(|destination| !destination.ending).map(|destination| {
            let calendar = state.calendar(org, destination.calendar);
            (destination.clone(), calendar.map(|calendar| calendar.name.clone()))
        });
        Ok(shown.collect())
    }

    async fn count_copies(&self, org: OrgId, calendar: CalendarId) -> Result<CopyCounts, StoreError> {
        let mut counts = CopyCounts::default();
        for copy in self.state().copies_on(org, calendar) {
            match copy.state {
                CopyState::Published => counts.published += 1,
                CopyState::Diverged => counts.diverged += 1,
            }
        }
        Ok(counts)
    }

    async fn copies_of(&self, org: OrgId, calendar: CalendarId) -> Result<Vec<Copy>, StoreError> {
        Ok(self.state().copies_on(org, calendar).cloned().collect())
    }

    async fn copies_of_event(&self, org: OrgId, calendar: CalendarId, event: EventId) -> Result<Vec<Copy>, StoreError> {
        Ok(self.state().copies_on(org, calendar).filter(|copy| copy.key.event == event).cloned().collect())
    }

    async fn claim_publications(
        &self,
        now: Timestamp,
        until: Timestamp,
        limit: u32,
    ) -> Result<Vec<ClaimedDestination>, StoreError> {
        Ok(self.write(|state| {
            let due = state.destinations.iter().filter(|(_, row)| {
                let claimed = row.claimed_until.is_some_and(|until| now < until);
                row.due_at <= now && !claimed && state.publishes(&row.destination)
            });
            let mut due: Vec<_> = due.map(|((org, calendar), row)| (row.due_at, *calendar, *org)).collect();
            due.sort_unstable();
            let mut taken: BTreeMap<OrgId, u32> = BTreeMap::new();
            for ((org, _), row) in &state.destinations {
                if row.attempting && row.claimed_until.is_some_and(|until| now < until) {
                    *taken.entry(*org).or_default() += 1;
                }
            }
            due.retain(|(_, _, org)| {
                let of_org = taken.entry(*org).or_default();
                *of_org += 1;
                *of_org <= PUBLICATIONS_PER_ORG
            });
            due.truncate(limit as usize);
            let claimed = due.into_iter().filter_map(|(_, calendar, org)| {
                let row = state.destinations.get_mut(&(org, calendar))?;
                row.fence.0 += 1;
                (row.due_at, row.claimed_until) = (until, Some(until));
                let interrupted = std::mem::replace(&mut row.attempting, true);
                let claim = PublishClaim { org, calendar, fence: row.fence, interrupted };
                let destination = row.destination.clone();
                let connection = state.connections.get(&(org, destination.connection));
                let target = state.external.get(&(org, destination.target));
                Some(ClaimedDestination {
                    claim,
                    connection: connection.map(ConnectionRow::read),
                    target: target.filter(|target| target.connection == destination.connection).cloned(),
                    destination,
                })
            });
            claimed.collect()
        }))
    }
}
