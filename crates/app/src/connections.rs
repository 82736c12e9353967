//! Connected calendars of humans, as the console shows and changes them (rulings 9.2 and 9.3).

use std::time::Duration;

use futures::{StreamExt as _, stream};
use kalends_bridge::{Change, Connection, ConnectionPatch, ConnectionStatus};
use kalends_kernel::{ConnectionId, LIMIT_MAX, Listed, OrgId, Page, StoreError};
use kalends_wire as wire;

use crate::{
    Actor, Answer, App, ChangeSet, Missing, Refusal,
    app::{Attempt, nothing, retry_stale, shown},
};

/// How many consents are given back at once.
const TOGETHER: usize = 8;
/// How long whoever deletes an account waits for providers.
const GIVEN_BACK_WITHIN: Duration = Duration::from_secs(15);

impl App {
    /// The organization's connections, the oldest first.
    ///
    /// # Errors
    /// [`Refusal::Store`].
    pub async fn list_connections(
        &self,
        actor: &Actor,
        page: Page,
    ) -> Result<Listed<wire::CalendarConnection>, Refusal> {
        let now = self.now();
        let listed = self.store.list_connections(actor.org(), page).await?;
        Ok(listed.map(|connection| wire::CalendarConnection::new(&connection, now)))
    }

    /// One connection.
    ///
    /// # Errors
    /// [`Refusal::NotFound`].
    pub async fn connection(&self, actor: &Actor, id: &str) -> Result<wire::CalendarConnection, Refusal> {
        Ok(wire::CalendarConnection::new(&self.connection_of(actor, id).await?, self.now()))
    }

    /// Calls a connection something else.
    ///
    /// # Errors
    /// [`Refusal::NotFound`].
    pub async fn label_connection(&self, actor: &Actor, id: &str, label: Option<String>) -> Result<Answer, Refusal> {
        self.patch_connection(actor, id, ConnectionPatch::Label(label)).await
    }

    /// Pauses a connection, or has it go on: while it is paused, its calendars count for nobody.
    ///
    /// # Errors
    /// [`Refusal::NotFound`].
    pub async fn pause_connection(&self, actor: &Actor, id: &str, paused: bool) -> Result<Answer, Refusal> {
        self.patch_connection(actor, id, ConnectionPatch::Paused(paused)).await
    }

    async fn patch_connection(&self, actor: &Actor, id: &str, patch: ConnectionPatch) -> Result<Answer, Refusal> {
        retry_stale(|| async {
            let seen = self.connection_of(actor, id).await?;
            let now = self.now();
            let connection = seen.patched(patch.clone(), now);
            let due = (seen.paused && connection.is_refreshed()).then_some(now);
            let answer = shown(actor, &wire::CalendarConnection::new(&connection, now), None);
            let id = connection.id.to_string();
            let mut changes = ChangeSet::new(actor.org());
            let (connection, seen) = (Box::new(connection), seen.version);
            changes.bridge.push(Change::UpdateConnection { connection, seen, due });
            self.commit_for(actor, None, id, changes, answer).await
        })
        .await
    }

    /// Has a connection refreshed at once.
    ///
    /// # Errors
    /// [`Refusal::NotFound`], [`Refusal::NotRefreshed`] for one that is paused or has lapsed.
    pub async fn ask_refresh(&self, actor: &Actor, id: &str) -> Result<Answer, Refusal> {
        retry_stale(|| async {
            let seen = self.connection_of(actor, id).await?;
            if let status @ (ConnectionStatus::Paused | ConnectionStatus::ReauthorizationRequired) = seen.status() {
                return Err(Refusal::NotRefreshed(status).into());
            }
            let (org, connection, at) = (actor.org(), seen.id, self.now());
            let mut changes = ChangeSet::new(org);
            changes.bridge.push(Change::AskRefresh { org, connection, at });
            let answer = shown(actor, &wire::Refreshing::default(), None);
            self.commit_for(actor, None, connection.to_string(), changes, answer).await
        })
        .await
    }

    /// Ends a connection: its provider is told to forget the consent, and everything that is known of it is deleted.
    ///
    /// # Errors
    /// [`Refusal::NotFound`].
    pub async fn delete_connection(&self, actor: &Actor, id: &str) -> Result<Answer, Refusal> {
        let seen = self.connection_of(actor, id).await?;
        // First, while there is still something to revoke with. A provider that does not answer keeps nobody from leaving.
        self.revoke(&seen).await;
        let outcome = retry_stale(|| async {
            let Some(seen) = self.store.find_connection(actor.org(), seen.id).await? else {
                return Err(Attempt::Refused(Refusal::missing(Missing::Connection, id)));
            };
            let mut changes = ChangeSet::new(actor.org());
            let (org, connection) = (seen.org, seen.id);
            changes.bridge.push(Change::DeleteConnection { org, connection, seen: seen.version });
            self.commit_for(actor, None, connection.to_string(), changes, nothing(actor)).await
        });
        outcome.await
    }

    /// The calendars of a connection, as its provider told of them last.
    ///
    /// # Errors
    /// [`Refusal::NotFound`].
    pub async fn external_calendars(&self, actor: &Actor, id: &str) -> Result<wire::ExternalCalendars, Refusal> {
        let connection = self.connection_of(actor, id).await?;
        let now = self.now();
        let mut known = self.store.external_calendars(actor.org(), connection.id).await?;
        // The account's own first, then as their human knows them.
        known.sort_by(|one, other| {
            let key = |known: &kalends_bridge::ports::KnownCalendar| {
                (!known.calendar.theirs.primary, known.calendar.theirs.name.to_lowercase(), known.calendar.id)
            };
            key(one).cmp(&key(other))
        });
        Ok(wire::ExternalCalendars {
            data: known.into_iter().map(|known| wire::ExternalCalendar::new(known, now)).collect(),
        })
    }

    /// A connection of the caller's organization.
    pub(crate) async fn connection_of(&self, actor: &Actor, id: &str) -> Result<Connection, Refusal> {
        let missing = || Refusal::missing(Missing::Connection, id);
        let connection: ConnectionId = id.parse().map_err(|_| missing())?;
        self.store.find_connection(actor.org(), connection).await?.ok_or_else(missing)
    }

    /// Has the providers forget every consent of an organization, as far as they answer in time.
    pub(crate) async fn revoke_all(&self, org: OrgId) -> Result<(), StoreError> {
        let mut connections = Vec::new();
        let mut page = Page { limit: LIMIT_MAX, offset: 0 };
        loop {
            let Listed { data, total } = self.store.list_connections(org, page).await?;
            connections.extend(data);
            page.offset += page.limit;
            if u64::from(page.offset) >= total {
                break;
            }
        }
        let revoking = stream::iter(connections.into_iter().map(|connection| async move {
            self.revoke(&connection).await;
        }));
        let revoked = revoking.buffer_unordered(TOGETHER).collect::<()>();
        if tokio::time::timeout(GIVEN_BACK_WITHIN, revoked).await.is_err() {
            tracing::warn!(%org, "not every provider was told in time to forget a consent");
        }
        Ok(())
    }

    /// Has the provider forget a consent, as far as it can be asked to.
    pub(crate) async fn revoke(&self, connection: &Connection) {
        if let Err(error) = self.calendar_providers.revoke(connection.provider, &connection.tokens).await {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                connection = %connection.id,
                "a provider was not told to forget a consent"
            );
        }
    }
}
