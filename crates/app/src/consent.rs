//! Consent: a user lets Kalends read the busy times of an account at a provider.
//!
//! As in [`crate::oauth`], the caller that returns from a provider is a browser. A failure is reported as a code in
//! the console's URL, and its reason is logged. An attempt accepts one callback, on any node. Access that the provider
//! grants but Kalends does not keep is revoked at once.

use std::sync::Arc;

use kalends_accounts::{
    Action, Principal, TokenHash,
    oauth::{Callback, Client, OauthError, TokenRequest},
};
use kalends_bridge::{Access, CalendarProvider, ConnectAttempt, Connection, NewLink, Purpose, TheirCalendar, Tokens};
use kalends_kernel::{ConnectionId, ConnectionLinkId, StoreError};
use kalends_wire as wire;
use tracing::Instrument as _;

use crate::{
    Actor, Answered, App, ChangeSet, Missing, Refusal, Request,
    attempt::{Attempt, retry_stale},
    audit::{By, Subject},
    console::human,
    giving_back::{Consent, same_account},
    keeping::GivenAccess,
    oauth::plain,
    ports::ProviderError,
};

/// The beginning of an attempt to connect an account.
pub struct ConsentBegun {
    /// The answer, with the URL at which the user consents.
    pub answered: Answered<wire::ConsentBegun>,
    /// The value of the browser's cookie.
    pub state: String,
}

/// The outcome of an attempt to connect an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConsentEnded {
    /// The account is connected.
    Connected {
        /// The connection.
        connection: ConnectionId,
        /// The link that asked for it, if one did.
        link: Option<ConnectionLinkId>,
    },
    /// Nothing is connected.
    Failed(ConsentFailure),
}

/// Why nothing is connected, as the user sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ConsentFailure {
    /// The attempt is unknown, used, expired, or belongs to another browser.
    State,
    /// The user or the provider declined.
    Declined,
    /// The provider's answer is not acceptable.
    Failed,
    /// The provider did not answer.
    Unavailable,
    /// The link has ended in the meantime, or belongs to another user.
    LinkOver,
    /// The consent is for a different account than the connection's.
    OtherAccount,
    /// The connection no longer exists.
    Gone,
}

impl ConsentFailure {
    /// Every failure.
    pub const ALL: [Self; 7] =
        [Self::State, Self::Declined, Self::Failed, Self::Unavailable, Self::LinkOver, Self::OtherAccount, Self::Gone];

    /// The code in the console's URL.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::State => "oauth_state",
            Self::Declined => "oauth_declined",
            Self::Failed => "oauth_failed",
            Self::Unavailable => "provider_unavailable",
            Self::LinkOver => "link_over",
            Self::OtherAccount => "other_account",
            Self::Gone => "connection_gone",
        }
    }
}

impl From<OauthError> for ConsentFailure {
    fn from(error: OauthError) -> Self {
        match error {
            OauthError::State => Self::State,
            OauthError::Declined => Self::Declined,
            OauthError::Provider
            | OauthError::NoCode
            | OauthError::Issuer
            | OauthError::Audience
            | OauthError::Time
            | OauthError::Nonce
            | OauthError::Nobody => Self::Failed,
        }
    }
}

/// The access that a consent granted.
struct Consented {
    attempt: ConnectAttempt,
    tokens: Tokens,
    calendars: Vec<TheirCalendar>,
}

impl Consented {
    /// The tokens of a connection of the same account from now on. If it is connected again only to be read, it does not
    /// lose the access to write events. A new consent to a connection of its own may take that away.
    fn access_for(&self, known: &Connection) -> Access {
        let connects = matches!(self.attempt.purpose, Purpose::Connect { .. });
        let is_less = known.access.publishing() && !self.tokens.publishing;
        if connects && is_less && !known.refresh.lapsed {
            known.access.clone()
        } else {
            Access::Consent(self.tokens.clone())
        }
    }
}

/// The connection that a consent created or renewed.
type Kept = Result<ConnectionId, ConsentFailure>;

/// Refuses publishing to a provider that does not support it.
fn can_publish(provider: CalendarProvider, publishing: bool) -> Result<(), Refusal> {
    let asked = NewLink { publishing, ..NewLink::default() };
    if asked.suits(provider) { Ok(()) } else { Err(Refusal::NotPublished(provider)) }
}

/// Logs why nothing is connected, and returns the outcome for the user.
fn unconnected(
    request: &Request,
    provider: CalendarProvider,
    failure: ConsentFailure,
    why: &dyn std::fmt::Display,
) -> ConsentEnded {
    tracing::info!(provider = provider.as_str(), request_id = %request.id, "nothing is connected: {why}");
    ConsentEnded::Failed(failure)
}

/// Like [`unconnected`], for a provider that did not do what was asked.
fn unread(request: &Request, provider: CalendarProvider, error: &ProviderError) -> ConsentEnded {
    let failure = match error {
        ProviderError::Unavailable(_) => {
            tracing::warn!(error = error as &dyn std::error::Error, "a provider does not answer");
            ConsentFailure::Unavailable
        }
        ProviderError::Lapsed(_) | ProviderError::Malformed(_) => ConsentFailure::Failed,
    };
    unconnected(request, provider, failure, error)
}

impl App {
    /// The provider of that name and its client registration, if users consent there.
    fn calendar_client(&self, name: &str) -> Result<(CalendarProvider, &Client), Refusal> {
        let client = CalendarProvider::with_consent(name).and_then(|provider| {
            let client = self.parts.calendar_providers.client(provider.oauth()?)?;
            Some((provider, client))
        });
        client.ok_or_else(|| Refusal::missing(Missing::CalendarProvider, name))
    }

    /// Begins an attempt to connect an account at the provider of that name, with or without a link.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] for a provider that is not configured, or a link that does not exist; [`Refusal::Link`];
    /// [`Refusal::NotPublished`] if the request or the link asks for publishing, which the provider does not support.
    pub async fn begin_connection(
        &self,
        actor: &Actor,
        provider: &str,
        link: Option<&str>,
        publishing: bool,
    ) -> Result<ConsentBegun, Refusal> {
        let (_, human) = human(actor)?;
        let (provider, client) = self.calendar_client(provider)?;
        let link = self.link_to_complete(actor, link).await?;
        let publishing = publishing || link.as_ref().is_some_and(|link| link.requested.publishing);
        can_publish(provider, publishing)?;
        let purpose = Purpose::Connect { link: link.as_ref().map(|link| link.id) };
        let resource = link.map_or(human.to_string(), |link| link.id.to_string());
        self.begin_consent(actor, client, (purpose, publishing), resource).await
    }

    /// Begins an attempt to renew the consent of a connection. `publishing` says whether to ask for consent to publish
    /// events; `None` asks for what the connection has.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] if no such connection exists, or its provider is no longer configured;
    /// [`Refusal::NotPublished`] for publishing, if the provider does not support it.
    pub async fn begin_reauthorization(
        &self,
        actor: &Actor,
        id: &str,
        publishing: Option<bool>,
    ) -> Result<ConsentBegun, Refusal> {
        let connection = self.connection_of(actor, id).await?;
        let (provider, client) = self.calendar_client(connection.provider.as_str())?;
        let publishing = publishing.unwrap_or(connection.access.publishing());
        can_publish(provider, publishing)?;
        let purpose = Purpose::Reauthorize { connection: connection.id };
        self.begin_consent(actor, client, (purpose, publishing), connection.id.to_string()).await
    }

    async fn begin_consent(
        &self,
        actor: &Actor,
        client: &Client,
        (purpose, publishing): (Purpose, bool),
        resource: String,
    ) -> Result<ConsentBegun, Refusal> {
        let (_, human) = human(actor)?;
        let of = (actor.org(), human);
        let (attempt, begun) = ConnectAttempt::begin(of, purpose, publishing, client, self.now(), self.entropy());
        self.parts.store.keep_connect_attempt(&attempt).await?;
        let url = attempt.authorization_url(&begun, client).into();
        let answer = Answered::shows(&actor.request, wire::ConsentBegun { authorization_url: url }, None);
        let changes = ChangeSet::new(actor.org());
        let answered = self.commit_for(actor, None, resource, changes, answer).await.map_err(Attempt::into_refusal)?;
        Ok(ConsentBegun { answered, state: begun.state })
    }

    /// Completes an attempt with the callback that the browser brings.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] for a provider that is not configured; [`Refusal::Store`].
    pub async fn end_connection(
        self: &Arc<Self>,
        request: &Request,
        provider: &str,
        callback: Callback<'_>,
    ) -> Result<ConsentEnded, Refusal> {
        let (provider, client) = self.calendar_client(provider)?;
        let failed =
            |failure: ConsentFailure, why: &dyn std::fmt::Display| Ok(unconnected(request, provider, failure, why));
        let attempt = match callback.state {
            Some(state) => self.parts.store.use_connect_attempt(TokenHash::of(state)).await?,
            None => None,
        };
        let reported = callback.error.map(plain);
        let token_request = match callback.check(attempt.as_ref().map(|attempt| &attempt.oauth), client, self.now()) {
            Ok(token_request) => token_request,
            Err(error @ OauthError::Provider) => {
                let reported = reported.as_deref().unwrap_or_default();
                tracing::warn!(provider = provider.as_str(), reported, "a provider reports an error");
                return failed(error.into(), &error);
            }
            Err(error) => return failed(error.into(), &error),
        };
        // Cannot happen: the check above returns no token request without an attempt.
        let Some(attempt) = attempt else { return failed(ConsentFailure::State, &OauthError::State) };
        // The attempt is used up. So the granted access must be kept or revoked even if the browser stops waiting.
        let (app, request) = (Arc::clone(self), request.clone());
        let ending = async move { app.consent_given(&request, provider, attempt, token_request).await };
        tokio::spawn(ending.in_current_span()).await.unwrap_or_else(|error| {
            tracing::error!(error = &error as &dyn std::error::Error, "a provider's callback could not be processed");
            Ok(ConsentEnded::Failed(ConsentFailure::Failed))
        })
    }

    /// Exchanges the code at the provider, and keeps the granted access.
    async fn consent_given(
        self: &Arc<Self>,
        request: &Request,
        provider: CalendarProvider,
        attempt: ConnectAttempt,
        token_request: TokenRequest,
    ) -> Result<ConsentEnded, Refusal> {
        let (org, human) = (attempt.org, attempt.human);
        let tokens =
            match self.parts.calendar_providers.authorize(attempt.oauth.provider, token_request, self.now()).await {
                Ok(tokens) => tokens,
                Err(error) => return Ok(unread(request, provider, &error)),
            };
        let access = Access::Consent(tokens.clone());
        let unused = |calendars| Consent { org, provider, human, access: access.clone(), calendars };
        let calendars = match self.parts.calendar_providers.calendars(provider, &access).await {
            Ok(calendars) => calendars,
            Err(error) => {
                self.give_back(vec![unused(None)]).await;
                return Ok(unread(request, provider, &error));
            }
        };
        let consented = Consented { attempt, tokens, calendars };
        let kept = retry_stale(|| self.keep_consent(request, provider, &consented)).await;
        if !matches!(kept, Ok(Ok(_))) {
            self.give_back(vec![unused(Some(consented.calendars.clone()))]).await;
        }
        match kept {
            Ok(Ok(connection)) => {
                let link = match consented.attempt.purpose {
                    Purpose::Connect { link } => link,
                    Purpose::Reauthorize { .. } => None,
                };
                Ok(ConsentEnded::Connected { connection, link })
            }
            Ok(Err(failure)) => Ok(unconnected(request, provider, failure, &failure.as_str())),
            Err(refusal @ Refusal::Store(_)) => Err(refusal),
            // For example, the organization has just been deleted. The browser shows the failure in the console.
            Err(refusal) => Ok(unconnected(request, provider, ConsentFailure::Failed, &refusal)),
        }
    }

    /// Creates or renews the connection.
    async fn keep_consent(
        &self,
        request: &Request,
        provider: CalendarProvider,
        consented: &Consented,
    ) -> Result<Kept, Attempt> {
        let (org, human) = (consented.attempt.org, consented.attempt.human);
        // The user may have left the organization in the meantime, or may be leaving it now.
        let mut changes = match self.changes_of_member(org, human).await {
            Ok(changes) => changes,
            Err(Refusal::NotSignedIn) => return Ok(Err(ConsentFailure::Failed)),
            Err(refusal) => return Err(refusal.into()),
        };
        let known = match consented.attempt.purpose {
            Purpose::Reauthorize { connection } => match self.parts.store.find_connection(org, connection).await? {
                Some(known) if self.is_of(&known, provider, consented).await? => Some(known),
                Some(_) => return Ok(Err(ConsentFailure::OtherAccount)),
                None => return Ok(Err(ConsentFailure::Gone)),
            },
            // If the account was connected before, the choices made for it stay.
            Purpose::Connect { .. } => self.connected_before(provider, consented).await?,
        };
        let access = match &known {
            Some(known) => consented.access_for(known),
            None => Access::Consent(consented.tokens.clone()),
        };
        let link = match consented.attempt.purpose {
            Purpose::Connect { link } => link,
            Purpose::Reauthorize { .. } => None,
        };
        let given = GivenAccess { of: (org, human, provider), access, calendars: &consented.calendars, link };
        let connection = match self.keep(&mut changes, given, known.as_ref()).await {
            Ok(connection) => connection.id,
            Err(Refusal::NotFound { .. } | Refusal::Link(_)) => return Ok(Err(ConsentFailure::LinkOver)),
            Err(refusal) => return Err(refusal.into()),
        };
        // The route only redirects, so its operation has no audit action of its own.
        let prefix = Principal::user_prefix(human);
        let by = By::Request { request, key_prefix: Some(&prefix) };
        let subject = Subject { org, agent: None, resource: connection.to_string() };
        let (action, status) = (Action::ConnectionAuthorize, request.operation.status);
        changes.audit.push(self.audit_entry(action, subject, &by, status, self.now()));
        self.store_changes(changes).await.map_err(|error| self.refused_commit(error))?;
        Ok(Ok(connection))
    }

    /// The user's existing connection of the account that the consent is for, if any.
    async fn connected_before(
        &self,
        provider: CalendarProvider,
        consented: &Consented,
    ) -> Result<Option<Connection>, StoreError> {
        let human = Some(consented.attempt.human);
        for known in self.all_connections(consented.attempt.org, human).await? {
            if self.is_of(&known, provider, consented).await? {
                return Ok(Some(known));
            }
        }
        Ok(None)
    }

    /// Whether a connection is one of the account that the consent is for.
    async fn is_of(
        &self,
        known: &Connection,
        provider: CalendarProvider,
        consented: &Consented,
    ) -> Result<bool, StoreError> {
        Ok(known.provider == provider && same_account(&consented.calendars, &self.their_calendars(known).await?))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_failure_has_a_unique_code() {
        let codes: BTreeSet<_> = ConsentFailure::ALL.into_iter().map(ConsentFailure::as_str).collect();
        assert_eq!(codes.len(), ConsentFailure::ALL.len());
    }
}
