//! Connections, as the console shows and changes them.

use std::sync::Arc;

use kalends_bridge::{Change, Connection, ConnectionPatch, ConnectionStatus, ListedConnection, UnreadableConnection};
use kalends_kernel::{ConnectionId, Listed, Page, StoreError};
use kalends_time::Timestamp;
use kalends_wire as wire;

use crate::{Actor, Answered, App, ChangeSet, Missing, Refusal, attempt::retry_stale, console::human};

/// A connection as an entry of a list.
pub(crate) fn entry(listed: &ListedConnection, now: Timestamp) -> wire::CalendarConnection {
    if let Err(UnreadableConnection { id, cause, .. }) = listed {
        tracing::error!(connection = %id, %cause, "a connection cannot be read");
    }
    wire::CalendarConnection::listed(listed, now)
}

impl App {
    /// The caller's connections in the organization, the oldest first.
    ///
    /// # Errors
    /// [`Refusal::Store`].
    pub async fn list_connections(
        &self,
        actor: &Actor,
        page: Page,
    ) -> Result<Listed<wire::CalendarConnection>, Refusal> {
        let ((_, user), now) = (human(actor)?, self.now());
        let listed = self.parts.store.list_connections(actor.org(), Some(user), page).await?;
        Ok(listed.map(|connection| entry(&connection, now)))
    }

    /// One connection.
    ///
    /// # Errors
    /// [`Refusal::NotFound`].
    pub async fn connection(&self, actor: &Actor, id: &str) -> Result<wire::CalendarConnection, Refusal> {
        match self.connection_of(actor, id).await {
            Ok(connection) => Ok(wire::CalendarConnection::new(&connection, self.now())),
            Err(Refusal::UnreadableConnection) => {
                let ((_, user), now) = (human(actor)?, self.now());
                let own = self.listed_connections(actor.org(), Some(user)).await?;
                let mut shown = own.iter().map(|connection| entry(connection, now));
                let found = shown.find(|connection| id.parse().ok() == Some(connection.id));
                found.ok_or_else(|| Refusal::missing(Missing::Connection, id))
            }
            Err(refusal) => Err(refusal),
        }
    }

    /// Renames a connection.
    ///
    /// # Errors
    /// [`Refusal::NotFound`].
    pub async fn label_connection(
        &self,
        actor: &Actor,
        id: &str,
        label: Option<String>,
    ) -> Result<Answered<wire::CalendarConnection>, Refusal> {
        self.patch_connection(actor, id, ConnectionPatch::Label(label)).await
    }

    /// Pauses or resumes a connection. While it is paused, its calendars do not count as busy for any agent.
    ///
    /// # Errors
    /// [`Refusal::NotFound`].
    pub async fn pause_connection(
        &self,
        actor: &Actor,
        id: &str,
        paused: bool,
    ) -> Result<Answered<wire::CalendarConnection>, Refusal> {
        self.patch_connection(actor, id, ConnectionPatch::Paused(paused)).await
    }

    async fn patch_connection(
        &self,
        actor: &Actor,
        id: &str,
        patch: ConnectionPatch,
    ) -> Result<Answered<wire::CalendarConnection>, Refusal> {
        retry_stale(|| async {
            let seen = self.connection_of(actor, id).await?;
            let now = self.now();
            let connection = seen.patched(patch.clone(), now);
            let due = (seen.paused && connection.is_refreshed()).then_some(now);
            let connection = Connection { due_at: due.or(connection.due_at), ..connection };
            let answer = Answered::shows(&actor.request, wire::CalendarConnection::new(&connection, now), None);
            let id = connection.id.to_string();
            let mut changes = ChangeSet::new(actor.org());
            let (connection, seen) = (Box::new(connection), seen.version);
            changes.bridge.push(Change::UpdateConnection { connection, seen, due });
            self.commit_for(actor, None, id, changes, answer).await
        })
        .await
    }

    /// Requests an immediate refresh of a connection.
    ///
    /// # Errors
    /// [`Refusal::NotFound`], [`Refusal::NotRefreshed`] if the connection is paused or has lapsed.
    pub async fn ask_refresh(&self, actor: &Actor, id: &str) -> Result<Answered<wire::Refreshing>, Refusal> {
        retry_stale(|| async {
            let seen = self.connection_of(actor, id).await?;
            if let status @ (ConnectionStatus::Paused | ConnectionStatus::ReauthorizationRequired) = seen.status() {
                return Err(Refusal::NotRefreshed(status).into());
            }
            let (org, connection, at) = (actor.org(), seen.id, self.now());
            let mut changes = ChangeSet::new(org);
            changes.bridge.push(Change::AskRefresh { org, connection, at });
            let answer = Answered::shows(&actor.request, wire::Refreshing::default(), None);
            self.commit_for(actor, None, connection.to_string(), changes, answer).await
        })
        .await
    }

    /// Deletes a connection with everything that is stored about it, and revokes its consent at the provider if the
    /// provider has a way to.
    ///
    /// # Errors
    /// [`Refusal::NotFound`].
    pub async fn delete_connection(self: &Arc<Self>, actor: &Actor, id: &str) -> Result<Answered<()>, Refusal> {
        let ((_, user), org) = (human(actor)?, actor.org());
        let missing = || Refusal::missing(Missing::Connection, id);
        let connection: ConnectionId = id.parse().map_err(|_| missing())?;
        let (answer, consent) = retry_stale(|| async {
            let own = self.parts.store.connection_versions(org, Some(user)).await?;
            let (_, version) = own.into_iter().find(|(id, _)| *id == connection).ok_or_else(missing)?;
            let consent = self.consent_to_revoke(org, connection).await?;
            let mut changes = ChangeSet::new(org);
            changes.bridge.push(Change::DeleteConnection { org, connection, seen: version });
            let answer = self
                .commit_for(actor, None, connection.to_string(), changes, Answered::nothing(&actor.request))
                .await?;
            Ok((answer, consent))
        })
        .await?;
        self.give_back(Vec::from_iter(consent)).await;
        Ok(answer)
    }

    /// The calendars of a connection, as last listed by its provider.
    ///
    /// # Errors
    /// [`Refusal::NotFound`].
    pub async fn external_calendars(&self, actor: &Actor, id: &str) -> Result<wire::ExternalCalendars, Refusal> {
        let connection = self.connection_of(actor, id).await?;
        Ok(wire::ExternalCalendars { data: self.shown_calendars(&connection, self.now()).await? })
    }

    /// The calendars of a connection at `now`, as the console shows them.
    pub(crate) async fn shown_calendars(
        &self,
        connection: &Connection,
        now: Timestamp,
    ) -> Result<Vec<wire::ExternalCalendar>, StoreError> {
        let mut known = self.parts.store.external_calendars(connection.org, connection.id).await?;
        // The account's own calendar first, then by name.
        known.sort_by(|one, other| {
            let key = |known: &kalends_bridge::ports::KnownCalendar| {
                (!known.calendar.theirs.primary, known.calendar.theirs.name.to_lowercase(), known.calendar.id)
            };
            key(one).cmp(&key(other))
        });
        Ok(known.into_iter().map(|known| wire::ExternalCalendar::new(known, now)).collect())
    }

    /// A connection of the caller in the organization. Those of other members do not exist for the caller.
    ///
    /// # Errors
    /// [`Refusal::NotFound`]; [`Refusal::UnreadableConnection`] if it cannot be opened.
    pub(crate) async fn connection_of(&self, actor: &Actor, id: &str) -> Result<Connection, Refusal> {
        let (_, user) = human(actor)?;
        let missing = || Refusal::missing(Missing::Connection, id);
        let connection: ConnectionId = id.parse().map_err(|_| missing())?;
        let found = match self.parts.store.find_connection(actor.org(), connection).await {
            Err(error @ StoreError::Corrupt(_)) => {
                // The versions are of the caller's own connections.
                let own = self.parts.store.connection_versions(actor.org(), Some(user)).await?;
                if !own.iter().any(|(id, _)| *id == connection) {
                    return Err(missing());
                }
                tracing::error!(error = &error as &dyn std::error::Error, %connection, "a connection cannot be read");
                return Err(Refusal::UnreadableConnection);
            }
            found => found?,
        };
        found.filter(|connection| connection.human == user).ok_or_else(missing)
    }
}
