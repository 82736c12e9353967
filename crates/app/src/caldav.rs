//! Connecting an account at a CalDAV server, with a password that the user enters.

use std::{sync::Arc, time::Duration};

use kalends_accounts::Allowance;
use kalends_bridge::{Access, CaldavAccount, CalendarProvider, Connection, TheirCalendar};
use kalends_kernel::{ConnectionLinkId, FieldError, OrgId, StoreError, UserId};
use kalends_wire as wire;

use crate::{
    Actor, Answered, App, Refusal,
    attempt::{Attempt, retry_stale},
    console::human,
    detached::detached,
    keeping::GivenAccess,
    ports::{CaldavLogin, DiscoveryError, ProviderError},
};

/// How long a server may take until all calendars are found. A request is answered within 30 s, so its caller still
/// learns what happened.
const WITHIN: Duration = Duration::from_secs(25);

/// The status if the account was connected before.
const RENEWED: u16 = 200;

/// Why a password is wrong.
const WRONG_PASSWORD: &str = "the server refuses this user name and password; many providers want an app password, \
                              which is made in the settings of the account there";

/// The refusal of an account whose calendars were not found.
fn not_found(error: &DiscoveryError) -> Refusal {
    let url = |what: String| Refusal::from(FieldError::new("url", what));
    match error {
        DiscoveryError::NotAllowed(why) => url(why.clone()),
        DiscoveryError::NoServer => url(format!("{error}; enter the address that its provider gives for CalDAV")),
        DiscoveryError::Elsewhere => {
            url(format!("{error}, to which the password is not sent; enter the address of the server there"))
        }
        DiscoveryError::NoCalendars => url(format!("{error} for events; make one there first")),
        DiscoveryError::Refused | DiscoveryError::Provider(ProviderError::Lapsed(_)) => {
            FieldError::new("password", WRONG_PASSWORD).into()
        }
        DiscoveryError::Provider(ProviderError::Unavailable(_) | ProviderError::Malformed(_)) => {
            tracing::warn!(error = error as &dyn std::error::Error, "a calendar server does not answer as it should");
            Refusal::CalendarServer
        }
    }
}

impl App {
    /// Connects an account at a CalDAV server. If the user connected it before, its access is renewed, and the choices
    /// made for it stay. The server is asked once. A caller who stops waiting does not stop it.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] if CalDAV is not offered, or no such link exists; [`Refusal::Link`];
    /// [`Refusal::NotPublished`] if the link asks for publishing; [`Refusal::TooMany`] above 20 attempts of the user in
    /// an hour; [`Refusal::Invalid`] with `url` or `password` if no calendars are found there;
    /// [`Refusal::CalendarServer`].
    pub async fn connect_caldav(
        self: &Arc<Self>,
        actor: &Actor,
        login: CaldavLogin,
        link: Option<&str>,
    ) -> Result<Answered<wire::CalendarConnection>, Refusal> {
        let (_, user) = human(actor)?;
        self.check_offered(CalendarProvider::Caldav)?;
        let link = self.link_for(actor, link, CalendarProvider::Caldav).await?;
        // Each attempt sends a password to a server that the caller chooses.
        self.allow(&Allowance::calendar_passwords(user)).await?;
        let (app, actor) = (Arc::clone(self), actor.clone());
        detached(async move {
            let found = tokio::time::timeout(WITHIN, app.parts.calendar_providers.discover(&login)).await;
            let (account, calendars) = match found {
                Ok(found) => found.map_err(|error| not_found(&error))?,
                Err(_) => {
                    tracing::warn!("a calendar server takes longer than {} s", WITHIN.as_secs());
                    return Err(Refusal::CalendarServer);
                }
            };
            retry_stale(|| app.keep_caldav(&actor, &account, &calendars, link)).await
        })
        .await
    }

    /// Creates or renews the connection of the account.
    async fn keep_caldav(
        &self,
        actor: &Actor,
        account: &CaldavAccount,
        calendars: &[TheirCalendar],
        link: Option<ConnectionLinkId>,
    ) -> Result<Answered<wire::CalendarConnection>, Attempt> {
        let ((_, user), org) = (human(actor)?, actor.org());
        // The user may have left the organization while the server was asked.
        let mut changes = self.changes_of_member(org, user).await?;
        let known = self.connected_caldav(org, user, account).await?;
        let of = (org, user, CalendarProvider::Caldav);
        let given = GivenAccess { of, access: Access::Password(account.clone()), calendars, link };
        let connection = self.keep(&mut changes, given, known.as_ref()).await?;
        let status = if known.is_some() { RENEWED } else { actor.request.operation.status };
        let shown = wire::CalendarConnection::new(&connection, self.now());
        let answer = Answered::with_status(status, shown, None);
        self.commit_for(actor, None, connection.id.to_string(), changes, answer).await
    }

    /// The user's existing connection of that account, if any.
    async fn connected_caldav(
        &self,
        org: OrgId,
        user: UserId,
        account: &CaldavAccount,
    ) -> Result<Option<Connection>, StoreError> {
        let is_same =
            |known: &Connection| matches!(&known.access, Access::Password(known) if known.is_same_account(account));
        Ok(self.all_connections(org, Some(user)).await?.into_iter().find(is_same))
    }
}

impl From<wire::CheckedCaldav> for CaldavLogin {
    fn from(checked: wire::CheckedCaldav) -> Self {
        let wire::CheckedCaldav { url, username, password } = checked;
        Self { url, username, password }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(DiscoveryError::NotAllowed("must be public".to_owned()), Some("url"))]
    #[case(DiscoveryError::NoServer, Some("url"))]
    #[case(DiscoveryError::Elsewhere, Some("url"))]
    #[case(DiscoveryError::NoCalendars, Some("url"))]
    #[case(DiscoveryError::Refused, Some("password"))]
    #[case(ProviderError::Lapsed("invalid_grant".to_owned()).into(), Some("password"))]
    #[case(ProviderError::Unavailable("away".into()).into(), None)]
    #[case(ProviderError::Malformed("nonsense".into()).into(), None)]
    fn a_failure_names_its_field(#[case] error: DiscoveryError, #[case] field: Option<&str>) {
        match (not_found(&error), field) {
            (Refusal::Invalid(errors), Some(field)) => assert_eq!(errors.first().param, field),
            (Refusal::CalendarServer, None) => {}
            (refusal, _) => panic!("{error}: {refusal}"),
        }
    }
}
