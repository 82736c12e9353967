//! Consents that are given back to their provider: of connections that are gone, and what was let into and is not kept.
//!
//! A provider may forget all consents of an account at once, so that one is given back only where no connection of the same human
//! lives by another. It happens apart from the request that has it done: whoever goes away meanwhile takes nothing back.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use futures::{StreamExt as _, stream};
use kalends_accounts::oauth::Provider;
use kalends_bridge::{Connection, TheirCalendar, Tokens};
use kalends_kernel::{LIMIT_MAX, Listed, OrgId, Page, StoreError, UserId};

use crate::App;

/// How many consents are given back at once.
const TOGETHER: usize = 8;
/// How long a request waits until they are.
const WITHIN: Duration = Duration::from_secs(15);

/// A consent that nothing here lives by any more.
pub(crate) struct Consent {
    pub(crate) org: OrgId,
    pub(crate) provider: Provider,
    pub(crate) human: UserId,
    pub(crate) tokens: Tokens,
    /// By which its account is recognized; `None` where that is not known.
    pub(crate) calendars: Option<Vec<TheirCalendar>>,
}

/// Whether both lists are of one account: its own calendar is the same. No more is known of who it is.
pub(crate) fn same_account(one: &[TheirCalendar], other: &[TheirCalendar]) -> bool {
    let own = |calendars: &[TheirCalendar]| {
        calendars.iter().find(|calendar| calendar.primary).map(|calendar| calendar.reference.clone())
    };
    own(one).is_some() && own(one) == own(other)
}

impl App {
    /// What a connection lives by.
    pub(crate) async fn consent_of(&self, connection: Connection) -> Result<Consent, StoreError> {
        let calendars = Some(self.their_calendars(&connection).await?);
        let Connection { org, provider, human, tokens, .. } = connection;
        Ok(Consent { org, provider, human, tokens, calendars })
    }

    /// What the connections of an organization live by.
    pub(crate) async fn consents_of(&self, org: OrgId) -> Result<Vec<Consent>, StoreError> {
        let mut consents = Vec::new();
        for connection in self.all_connections(org).await? {
            consents.push(self.consent_of(connection).await?);
        }
        Ok(consents)
    }

    /// Every connection of an organization.
    pub(crate) async fn all_connections(&self, org: OrgId) -> Result<Vec<Connection>, StoreError> {
        let mut connections = Vec::new();
        let mut page = Page { limit: LIMIT_MAX, offset: 0 };
        loop {
            let Listed { data, total } = self.store.list_connections(org, page).await?;
            connections.extend(data);
            page.offset += page.limit;
            if u64::from(page.offset) >= total {
                return Ok(connections);
            }
        }
    }

    /// The calendars of a connection's account, as they were told last.
    pub(crate) async fn their_calendars(&self, connection: &Connection) -> Result<Vec<TheirCalendar>, StoreError> {
        let known = self.store.external_calendars(connection.org, connection.id).await?;
        Ok(known.into_iter().map(|known| known.calendar.theirs).collect())
    }

    /// Gives consents back, and waits for that a while. A provider that does not answer keeps nobody from leaving.
    pub(crate) async fn give_back(self: &Arc<Self>, consents: Vec<Consent>) {
        let app = Arc::clone(self);
        let giving = tokio::spawn(async move {
            let each = |consent: Consent| {
                let app = &app;
                async move { app.give_back_one(&consent).await }
            };
            stream::iter(consents).for_each_concurrent(TOGETHER, each).await;
        });
        if tokio::time::timeout(WITHIN, giving).await.is_err() {
            tracing::warn!("providers that are told to forget a consent take their time");
        }
    }

    async fn give_back_one(&self, consent: &Consent) {
        let given = match self.is_lived_by(consent).await {
            Ok(true) => return,
            Ok(false) => self
                .calendar_providers
                .revoke(consent.provider, &consent.tokens)
                .await
                .map_err(Box::<dyn std::error::Error + Send + Sync>::from),
            Err(error) => Err(error.into()),
        };
        if let Err(error) = given {
            tracing::warn!(error = &*error as &dyn std::error::Error, "a provider was not told to forget a consent");
        }
    }

    /// Whether a connection of the same human lives by a consent for the same account, or perhaps does.
    async fn is_lived_by(&self, consent: &Consent) -> Result<bool, StoreError> {
        let owned = self.store.owned_by(consent.human).await?;
        let orgs: BTreeSet<OrgId> = owned.into_iter().map(|owned| owned.org).chain([consent.org]).collect();
        for org in orgs {
            for connection in self.all_connections(org).await? {
                if connection.provider != consent.provider || connection.human != consent.human {
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
