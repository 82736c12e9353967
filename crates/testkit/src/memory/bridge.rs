//! The bridge to human calendars: writes. Reads are in [`read`]; publishing has a module of its own.

mod read;

use std::collections::BTreeSet;

use kalends_app::ports::CommitError;
use kalends_bridge::{Change, Connection, ConnectionLink, ExternalCalendar, Fence, Grant, LinkStatus, RefreshClaim};
use kalends_kernel::{ConnectionId, ExternalCalendarId, OrgId};

use super::{
    apply::{create, unchanged},
    state::{ConnectionRow, State},
};

impl State {
    pub(super) fn apply_to_bridge(&mut self, change: &Change) -> Result<(), CommitError> {
        match change {
            Change::CreateLink(link) => {
                self.calendar(link.org, link.calendar).ok_or(CommitError::Stale)?;
                let waits = |other: &ConnectionLink| {
                    other.state == LinkStatus::AwaitingHuman && (other.org, other.calendar) == (link.org, link.calendar)
                };
                if waits(link) && self.links.values().any(waits) {
                    return Err(CommitError::Stale);
                }
                create(self.links.entry((link.org, link.id)), &**link)?;
            }
            Change::UpdateLink { link, seen } => {
                let row = self.links.get_mut(&(link.org, link.id)).ok_or(CommitError::Stale)?;
                unchanged(row.version, *seen)?;
                *row = ConnectionLink::clone(link);
            }
            Change::CreateConnection { connection, calendars } => {
                let row = ConnectionRow {
                    connection: Connection::clone(connection),
                    due_at: connection.is_refreshed().then_some(connection.created_at),
                    claimed_until: None,
                    fence: Fence(0),
                    requested: false,
                };
                create(self.connections.entry((connection.org, connection.id)), &row)?;
                self.keep_calendars(calendars);
            }
            Change::UpdateConnection { connection, seen, due } => {
                let row = self.connection((connection.org, connection.id))?;
                unchanged(row.connection.version, *seen)?;
                row.connection = Connection {
                    access: row.connection.access.clone(),
                    refresh: row.connection.refresh.clone(),
                    ..Connection::clone(connection)
                };
                // A connection that is resumed while it is still claimed is due when the claim ends. After that
                // refresh it is due once more.
                let due_at = row.claimed_until.max(*due).or(row.due_at);
                row.due_at = due_at.filter(|_| row.connection.is_refreshed());
                row.requested |= row.claimed_until.is_some() && due.is_some();
                if due.is_some() && !connection.paused {
                    self.publish_again(connection.org, |destination| destination.connection == connection.id);
                }
            }
            Change::ReauthorizeConnection { connection, seen, at } => {
                let row = self.connection((connection.org, connection.id))?;
                unchanged(row.connection.version, *seen)?;
                *row = ConnectionRow {
                    connection: Connection {
                        label: row.connection.label.clone(),
                        paused: row.connection.paused,
                        ..Connection::clone(connection)
                    },
                    due_at: (!row.connection.paused).then_some(*at),
                    claimed_until: None,
                    fence: Fence(row.fence.0 + 1),
                    requested: false,
                };
                self.publish_again(connection.org, |destination| destination.connection == connection.id);
            }
            Change::DeleteConnection { org, connection, seen } => {
                unchanged(self.connection((*org, *connection))?.connection.version, *seen)?;
                self.connections.remove(&(*org, *connection));
                self.forget_destinations(*org, *connection);
                let of = self
                    .external
                    .values()
                    .filter(|calendar| (calendar.org, calendar.connection) == (*org, *connection));
                let gone: Vec<ExternalCalendarId> = of.map(|calendar| calendar.id).collect();
                self.forget_calendars(*org, &gone);
            }
            Change::AskRefresh { org, connection, at } => {
                let row = self.connection((*org, *connection))?;
                if !row.connection.is_refreshed() {
                    return Err(CommitError::Stale);
                }
                row.requested = true;
                if row.claimed_until.is_none_or(|until| until <= *at) {
                    row.due_at = Some(*at);
                }
            }
            Change::EndRefresh { claim, access, state, calendars, gone, next, at } => {
                let row = self.claimed_connection(*claim)?;
                if let Some(access) = access {
                    row.connection.access.clone_from(access);
                }
                row.connection.refresh.clone_from(state);
                row.claimed_until = None;
                let requested = std::mem::take(&mut row.requested);
                let next = next.filter(|_| row.connection.is_refreshed());
                row.due_at = next.map(|next| if requested { *at } else { next });
                self.keep_calendars(calendars);
                self.forget_calendars(claim.org, gone);
            }
            Change::CreateGrant(grant) => {
                if !grant.sources.iter().all(|source| self.external.contains_key(&(grant.org, *source))) {
                    return Err(CommitError::Stale);
                }
                create(self.grants.entry((grant.org, grant.id)), &**grant)?;
            }
            Change::DeleteGrant { org, grant } => {
                let gone = self.grants.remove(&(*org, *grant)).ok_or(CommitError::Stale)?;
                let counts =
                    |source: &_| self.grants.values().any(|grant| grant.org == *org && grant.sources.contains(source));
                let idle: Vec<_> = gone.sources.into_iter().filter(|source| !counts(source)).collect();
                for source in idle {
                    if let Some(calendar) = self.external.get_mut(&(*org, source)) {
                        *calendar = calendar.unread();
                    }
                }
            }
            Change::PutDestination { destination, seen } => self.put_destination(destination, *seen)?,
            Change::EndDestination { org, calendar, seen, keep, at } => {
                self.end_destination((*org, *calendar), *seen, *keep, *at)?;
            }
            Change::RecordCopies { claim, written, forgotten, until } => {
                self.record_copies(*claim, written, forgotten, *until)?;
            }
            Change::EndPublishing { claim, state, revision, next, not_before } => {
                self.end_publishing(*claim, state, *revision, (*next, *not_before))?;
            }
        }
        Ok(())
    }

    fn connection(&mut self, key: (OrgId, ConnectionId)) -> Result<&mut ConnectionRow, CommitError> {
        self.connections.get_mut(&key).ok_or(CommitError::Stale)
    }

    fn claimed_connection(&mut self, claim: RefreshClaim) -> Result<&mut ConnectionRow, CommitError> {
        let row = self.connection((claim.org, claim.connection))?;
        if row.fence == claim.fence && row.claimed_until.is_some() { Ok(row) } else { Err(CommitError::Stale) }
    }

    fn keep_calendars(&mut self, calendars: &[ExternalCalendar]) {
        self.external.extend(calendars.iter().map(|calendar| ((calendar.org, calendar.id), calendar.clone())));
    }

    /// Removes the calendars, also from grants. A grant that had no others is removed.
    fn forget_calendars(&mut self, org: OrgId, gone: &[ExternalCalendarId]) {
        let gone: BTreeSet<&ExternalCalendarId> = gone.iter().collect();
        self.external.retain(|(by, id), _| *by != org || !gone.contains(id));
        self.grants.retain(|(by, _), Grant { sources, .. }| {
            let before = sources.len();
            sources.retain(|source| *by != org || !gone.contains(source));
            !sources.is_empty() || before == 0
        });
    }
}
