//! Keeping access to an account that its user has just given: the connection of the account, and the link that asked
//! for it.

use kalends_accounts as accounts;
use kalends_bridge::{Access, CalendarProvider, Change, Connection, TheirCalendar, listing};
use kalends_kernel::{ConnectionLinkId, OrgId, UserId};

use crate::{Actor, App, ChangeSet, Missing, Refusal};

/// Access to an account, as its user has given it.
pub(crate) struct GivenAccess<'a> {
    /// The organization, the user, and the provider of the account.
    pub(crate) of: (OrgId, UserId, CalendarProvider),
    /// What opens the account.
    pub(crate) access: Access,
    /// The calendars of the account.
    pub(crate) calendars: &'a [TheirCalendar],
    /// The link that asked for it, if one did.
    pub(crate) link: Option<ConnectionLinkId>,
}

impl App {
    /// Refuses a provider that is not offered.
    ///
    /// # Errors
    /// [`Refusal::NotFound`].
    pub(crate) fn check_offered(&self, provider: CalendarProvider) -> Result<(), Refusal> {
        if self.parts.calendar_providers.offers(provider) {
            Ok(())
        } else {
            Err(Refusal::missing(Missing::CalendarProvider, provider.as_str()))
        }
    }

    /// The link with that identifier, if one is given, to be completed with an account at this provider.
    ///
    /// # Errors
    /// [`Refusal::NotFound`]; [`Refusal::Link`] if it is over, or another user follows it; [`Refusal::NotPublished`] if
    /// it asks for publishing, which the provider does not support.
    pub(crate) async fn link_for(
        &self,
        actor: &Actor,
        link: Option<&str>,
        provider: CalendarProvider,
    ) -> Result<Option<ConnectionLinkId>, Refusal> {
        let link = self.link_to_complete(actor, link).await?;
        if link.as_ref().is_some_and(|link| !link.requested.suits(provider)) {
            return Err(Refusal::NotPublished(provider));
        }
        Ok(link.map(|link| link.id))
    }

    /// A change-set for access that the user gives. It is stale if the user leaves the organization, or gives other
    /// access, at the same time.
    ///
    /// # Errors
    /// [`Refusal::NotSignedIn`] if the user has left the organization; [`Refusal::Store`].
    pub(crate) async fn changes_of_member(&self, org: OrgId, user: UserId) -> Result<ChangeSet, Refusal> {
        let found = self.parts.store.find_user(user).await?;
        let memberships = self.parts.store.memberships_of(user).await?;
        let found = found.filter(|_| memberships.iter().any(|membership| membership.org == org));
        let seen = found.ok_or(Refusal::NotSignedIn)?.version;
        let mut changes = ChangeSet::new(org);
        changes.accounts.push(accounts::Change::RaiseUser { user, seen });
        Ok(changes)
    }

    /// Adds the changes that keep the access: in the connection `known`, whose choices stay, or else in a new one. The
    /// link belongs to that connection from then on.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] or [`Refusal::Link`] if the link can no longer be completed; [`Refusal::Store`].
    pub(crate) async fn keep(
        &self,
        changes: &mut ChangeSet,
        given: GivenAccess<'_>,
        known: Option<&Connection>,
    ) -> Result<Connection, Refusal> {
        let GivenAccess { of: (org, user, provider), access, calendars, link } = given;
        let now = self.now();
        let connection = match known {
            Some(known) => {
                let due_at = (!known.paused).then_some(now);
                let connection = Connection { due_at, ..known.reauthorized(access, now) };
                let kept = Box::new(connection.clone());
                changes.bridge.push(Change::ReauthorizeConnection { connection: kept, seen: known.version, at: now });
                connection
            }
            None => {
                let connection = Connection::create((org, user, provider), access, now, self.entropy());
                let of = (org, connection.id);
                let calendars = listing(of, &[], calendars.to_vec(), now, self.entropy()).present;
                changes.bridge.push(Change::CreateConnection { connection: Box::new(connection.clone()), calendars });
                connection
            }
        };
        if let Some(id) = link {
            let missing = || Refusal::missing(Missing::ConnectionLink, &id.to_string());
            let seen = self.parts.store.find_link(org, id).await?.ok_or_else(missing)?;
            self.check_link_visible(&seen).await?;
            let link = Box::new(seen.connect(user, connection.id, now)?);
            changes.bridge.push(Change::UpdateLink { link, seen: seen.version });
        }
        Ok(connection)
    }
}
