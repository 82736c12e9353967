//! Revoking consents at their provider: those of deleted connections, and those that were granted but not kept.
//!
//! A provider may revoke all consents of an account at once. So a consent is revoked only if no connection of the
//! same user relies on another consent for that account. Revoking runs in a separate task: it continues even if the
//! request that caused it is dropped.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use futures::{StreamExt as _, stream};
use kalends_bridge::{Access, CalendarProvider, Connection, ListedConnection, TheirCalendar};
use kalends_kernel::{ConnectionId, LIMIT_MAX, Listed, OrgId, Page, StoreError, UserId};
use tracing::Instrument as _;

use crate::App;

/// How many consents are revoked at once.
const TOGETHER: usize = 8;
/// How long a request waits for the consents to be revoked.
const WITHIN: Duration = Duration::from_secs(15);

/// A consent that is no longer needed.
pub(crate) struct Consent {
    pub(crate) org: OrgId,
    pub(crate) provider: CalendarProvider,
    pub(crate) human: UserId,
    pub(crate) access: Access,
    /// The calendars that identify its account; `None` if they are not known.
    pub(crate) calendars: Option<Vec<TheirCalendar>>,
}

/// Whether both lists belong to one account: their primary calendar is the same. Nothing else identifies the account.
pub(crate) fn same_account(one: &[TheirCalendar], other: &[TheirCalendar]) -> bool {
    let own = |calendars: &[TheirCalendar]| {
        calendars.iter().find(|calendar| calendar.primary).map(|calendar| calendar.reference.clone())
    };
    own(one).is_some() && own(one) == own(other)
}

impl App {
    /// The consent that a connection relies on.
    pub(crate) async fn consent_of(&self, connection: Connection) -> Result<Consent, StoreError> {
        let calendars = Some(self.their_calendars(&connection).await?);
        let Connection { org, provider, human, access, .. } = connection;
        Ok(Consent { org, provider, human, access, calendars })
    }

    /// The consent that a connection relies on; `None` if there is no such connection, or if it cannot be opened.
    /// Nobody can revoke a consent whose tokens cannot be opened, but its connection must not stay because of that.
    pub(crate) async fn consent_to_revoke(
        &self,
        org: OrgId,
        connection: ConnectionId,
    ) -> Result<Option<Consent>, StoreError> {
        let found = match self.parts.store.find_connection(org, connection).await {
            Ok(Some(found)) => self.consent_of(found).await.map(Some),
            Ok(None) => Ok(None),
            Err(error) => Err(error),
        };
        match found {
            Err(error @ StoreError::Corrupt(_)) => {
                let cause = &error as &dyn std::error::Error;
                tracing::error!(error = cause, %org, %connection, "a consent cannot be revoked");
                Ok(None)
            }
            found => found,
        }
    }

    /// The consents that the connections of an organization rely on, as far as they can be opened.
    pub(crate) async fn consents_of(&self, org: OrgId) -> Result<Vec<Consent>, StoreError> {
        let mut consents = Vec::new();
        for (connection, _) in self.parts.store.connection_versions(org, None).await? {
            consents.extend(self.consent_to_revoke(org, connection).await?);
        }
        Ok(consents)
    }

    /// Every connection of an organization that can be read, or only those of one user. One whose tokens cannot be
    /// opened relies on no consent.
    pub(crate) async fn all_connections(
        &self,
        org: OrgId,
        human: Option<UserId>,
    ) -> Result<Vec<Connection>, StoreError> {
        Ok(self.listed_connections(org, human).await?.into_iter().filter_map(Result::ok).collect())
    }

    /// Every connection of an organization, or only those of one user, with those that cannot be read.
    pub(crate) async fn listed_connections(
        &self,
        org: OrgId,
        human: Option<UserId>,
    ) -> Result<Vec<ListedConnection>, StoreError> {
        let mut connections = Vec::new();
        let mut page = Page { limit: LIMIT_MAX, offset: 0 };
        loop {
            let Listed { data, total } = self.parts.store.list_connections(org, human, page).await?;
            connections.extend(data);
            page.offset += page.limit;
            if u64::from(page.offset) >= total {
                return Ok(connections);
            }
        }
    }

    /// The calendars of a connection's account, as last listed.
    pub(crate) async fn their_calendars(&self, connection: &Connection) -> Result<Vec<TheirCalendar>, StoreError> {
        let known = self.parts.store.external_calendars(connection.org, connection.id).await?;
        Ok(known.into_iter().map(|known| known.calendar.theirs).collect())
    }

    /// Revokes consents, and waits up to [`WITHIN`] for the outcome. A provider that does not answer must not block
    /// the request.
    pub(crate) async fn give_back(self: &Arc<Self>, consents: Vec<Consent>) {
        let app = Arc::clone(self);
        let giving = async move {
            let each = |consent: Consent| {
                let app = &app;
                async move { app.give_back_one(&consent).await }
            };
            stream::iter(consents).for_each_concurrent(TOGETHER, each).await;
        };
        let giving = tokio::spawn(giving.instrument(tracing::error_span!("revoke_consents")));
        if tokio::time::timeout(WITHIN, giving).await.is_err() {
            tracing::warn!("revoking consents at providers takes long");
        }
    }

    async fn give_back_one(&self, consent: &Consent) {
        // Only the user can end another kind of access, at its server.
        let (Some(provider), Some(tokens)) = (consent.provider.oauth(), consent.access.tokens()) else { return };
        let revoked = match self.is_still_used(consent).await {
            Ok(true) => return,
            Ok(false) => self
                .parts
                .calendar_providers
                .revoke(provider, tokens)
                .await
                .map_err(Box::<dyn std::error::Error + Send + Sync>::from),
            Err(error) => Err(error.into()),
        };
        if let Err(error) = revoked {
            tracing::warn!(error = &*error as &dyn std::error::Error, "a consent could not be revoked");
        }
    }

    /// Whether a connection of the same user relies, or may rely, on a consent for the same account.
    async fn is_still_used(&self, consent: &Consent) -> Result<bool, StoreError> {
        let memberships = self.parts.store.memberships_of(consent.human).await?;
        let orgs = memberships.into_iter().map(|membership| membership.org).chain([consent.org]);
        let orgs: BTreeSet<OrgId> = orgs.collect();
        for org in orgs {
            for connection in self.all_connections(org, Some(consent.human)).await? {
                if connection.provider != consent.provider {
                    continue;
                }
                let same = match &consent.calendars {
                    Some(calendars) => same_account(calendars, &self.their_calendars(&connection).await?),
                    None => true,
                };
                if same {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }
}
