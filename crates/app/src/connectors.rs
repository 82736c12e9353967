//! Connectors: programs that register themselves, and act for an agent once a person grants it (OAuth 2.1).
//!
//! A client gets tokens for what was granted in `connector_tokens`.

use kalends_accounts::{
    ACCESS_TOKEN_LASTS, AUTHORIZATION_CODE_LASTS, AuthorizationCode, CLIENT_KEPT, Change, ConnectorClient,
    GRANTS_WITHOUT_KEYS, NEW_CLIENT_KEPT, NEW_CLIENTS_MAX, Principal, ScopedKey, Scopes, TokenHash, challenge_of,
    new_authorization_code,
};
use kalends_kernel::{AgentId, ConnectorClientId, StoreError, UserId};
use kalends_plans::{Feature, Limits, Metric, Plan};
use kalends_quotas::Period;

use crate::{Actor, App, ChangeSet, Refusal, attempt::retry_stale, operations};

/// The longest `state` that a client may send, in characters.
const STATE_MAX: usize = 1_000;

/// What a client asks for at the authorization endpoint, as it sent it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuthorizationRequest {
    /// The client.
    pub client_id: String,
    /// The address to which the answer is sent.
    pub redirect_uri: String,
    /// What is asked for.
    pub response_type: String,
    /// The challenge (RFC 7636).
    pub code_challenge: String,
    /// How the challenge was made of its verifier.
    pub code_challenge_method: String,
    /// What the answer repeats.
    pub state: Option<String>,
    /// The scopes, with spaces in between.
    pub scope: String,
    /// The address for which the token is (RFC 8707).
    pub resource: Option<String>,
    /// A parameter that was sent more than once.
    pub repeated: Option<String>,
}

impl AuthorizationRequest {
    /// What the answer repeats, unless it is too long.
    pub fn state_to_return(&self) -> Option<&str> {
        self.state.as_deref().filter(|state| state.chars().count() <= STATE_MAX)
    }
}

/// A request for authorization that a person may decide.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectorRequest {
    /// The client.
    pub client: ConnectorClient,
    /// The address to which the answer is sent.
    pub redirect: String,
    /// The challenge.
    pub challenge: [u8; 32],
    /// The scopes that the client asks for.
    pub scopes: Scopes,
}

/// Why an endpoint refuses a client: a code of RFC 6749, RFC 7009 or RFC 8707, and a text for developers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrantError {
    /// The code.
    pub code: &'static str,
    /// What is wrong, and what to do.
    pub description: String,
}

impl GrantError {
    /// The error with that code and text. The standard allows neither quotes nor backslashes nor characters outside ASCII,
    /// so they are left out.
    pub fn new(code: &'static str, description: impl Into<String>) -> Self {
        let mut description: String = description.into();
        description.retain(|char| matches!(char, ' '..='~') && !['"', '\\'].contains(&char));
        Self { code, description }
    }

    /// A parameter is missing, repeated or malformed.
    pub fn request(description: impl Into<String>) -> Self {
        Self::new("invalid_request", description)
    }

    /// The code or the token is wrong, or what was granted no longer holds.
    pub(crate) fn grant(description: impl Into<String>) -> Self {
        Self::new("invalid_grant", description)
    }

    /// The client is unknown.
    pub const CLIENT: &str = "invalid_client";
    /// The server cannot do it now, but can later.
    pub const UNAVAILABLE: &str = "temporarily_unavailable";
}

/// Why a request for authorization cannot be decided.
#[derive(Debug)]
pub enum NotAuthorizable {
    /// The client is unknown, or the address is not one of its own. The answer must not be sent there.
    Untrusted(&'static str),
    /// The client may be sent the error.
    Wrong(GrantError),
    /// The use case failed.
    Refused(Refusal),
}

impl<T: Into<Refusal>> From<T> for NotAuthorizable {
    fn from(refusal: T) -> Self {
        Self::Refused(refusal.into())
    }
}

/// Why a client gets no tokens.
#[derive(Debug)]
pub enum NotGranted {
    /// The client may be sent the error.
    Wrong(GrantError),
    /// The use case failed.
    Refused(Refusal),
}

impl<T: Into<Refusal>> From<T> for NotGranted {
    fn from(refusal: T) -> Self {
        Self::Refused(refusal.into())
    }
}

impl From<GrantError> for NotGranted {
    fn from(error: GrantError) -> Self {
        Self::Wrong(error)
    }
}

/// The most grants of an organization. On a plan with keys of agents, they count as such keys.
pub(crate) fn grants_limit(plan: Plan, limits: &Limits) -> Option<u64> {
    if plan.has(Feature::ScopedKeys) { limits.get(Metric::ScopedKeys) } else { Some(GRANTS_WITHOUT_KEYS) }
}

/// Whether one more key fits into the limit.
pub(crate) fn has_room(keys: &[ScopedKey], limit: u64) -> bool {
    u64::try_from(keys.len()).is_ok_and(|keys| keys < limit)
}

impl App {
    /// The address of the tools, for which all tokens of connectors are.
    pub fn tools_address(&self) -> String {
        format!("{}{}", self.settings().base_url, operations::MCP.path)
    }

    /// Registers a client. Nothing that it says about itself is verified.
    ///
    /// # Errors
    /// [`Refusal::Invalid`] or [`Refusal::Store`]; [`GrantError::UNAVAILABLE`] if too many clients are registered that nobody
    /// ever approved.
    pub async fn register_connector(
        &self,
        name: Option<&str>,
        redirects: Vec<String>,
    ) -> Result<ConnectorClient, NotGranted> {
        let now = self.now();
        let client = ConnectorClient::register(ConnectorClientId::new(now, self.entropy()), name, redirects, now)?;
        let since = now - NEW_CLIENT_KEPT;
        if !self.parts.store.register_client(&client, since, NEW_CLIENTS_MAX).await? {
            let description = "too many clients are registered that nobody has approved; try again later";
            return Err(GrantError::new(GrantError::UNAVAILABLE, description).into());
        }
        Ok(client)
    }

    /// The client with that identifier, if it is registered.
    pub(crate) async fn known_client(&self, id: &str) -> Result<Option<ConnectorClient>, StoreError> {
        match id.parse::<ConnectorClientId>() {
            Ok(id) => self.parts.store.find_client(id).await,
            Err(_) => Ok(None),
        }
    }

    /// Checks a request for authorization, before a person decides it.
    ///
    /// # Errors
    /// [`NotAuthorizable`].
    pub async fn connector_request(&self, sent: &AuthorizationRequest) -> Result<ConnectorRequest, NotAuthorizable> {
        if let Some("client_id" | "redirect_uri") = sent.repeated.as_deref() {
            return Err(NotAuthorizable::Untrusted("It names itself, or the address to return to, more than once."));
        }
        if sent.client_id.is_empty() {
            return Err(NotAuthorizable::Untrusted(
                "The address of this page is incomplete. Go back to the program that you want to connect, and begin \
                 again. You are signed in now.",
            ));
        }
        let Some(client) = self.known_client(&sent.client_id).await? else {
            return Err(NotAuthorizable::Untrusted(
                "It is not registered here, or its registration has expired. Remove the connection there, and add it \
                 again.",
            ));
        };
        if !client.allows(&sent.redirect_uri) {
            return Err(NotAuthorizable::Untrusted(
                "It asks to return to an address that it has not registered. Nothing was sent there.",
            ));
        }
        let (challenge, scopes) = self.check_authorization(sent).map_err(NotAuthorizable::Wrong)?;
        Ok(ConnectorRequest { client, redirect: sent.redirect_uri.clone(), challenge, scopes })
    }

    /// The challenge and the scopes of a request whose client is known.
    fn check_authorization(&self, sent: &AuthorizationRequest) -> Result<([u8; 32], Scopes), GrantError> {
        if let Some(name) = &sent.repeated {
            return Err(GrantError::request(format!("{name} must be sent once")));
        }
        if sent.state.is_some() && sent.state_to_return().is_none() {
            return Err(GrantError::request(format!("state must have at most {STATE_MAX} characters")));
        }
        if sent.response_type != "code" {
            return Err(GrantError::new("unsupported_response_type", "response_type must be code"));
        }
        if sent.code_challenge_method != "S256" {
            return Err(GrantError::request("code_challenge_method must be S256"));
        }
        let challenge = challenge_of(&sent.code_challenge).ok_or_else(|| {
            GrantError::request(
                "code_challenge must be the SHA-256 of the code_verifier, as 43 characters of base64url",
            )
        })?;
        self.check_resource(sent.resource.as_deref())?;
        Ok((challenge, Scopes::known_in(&sent.scope)))
    }

    /// Requires that tokens are for the tools of this server.
    pub(crate) fn check_resource(&self, resource: Option<&str>) -> Result<(), GrantError> {
        let own = self.tools_address();
        match resource {
            None => Ok(()),
            Some(resource) if resource == own => Ok(()),
            Some(_) => Err(GrantError::new("invalid_target", format!("resource must be {own}"))),
        }
    }

    /// Grants a client access for an agent, and returns the code for it. The person has decided this on the page of the
    /// request.
    ///
    /// # Errors
    /// [`Refusal::OutOfReach`] or [`Refusal::NotSignedIn`] for a key; [`Refusal::NotFound`] if there is no such agent;
    /// [`Refusal::AgentState`] if it is decommissioned; [`Refusal::LimitReached`] if the organization has as many grants or
    /// keys of agents as it may have.
    pub async fn grant_connector(
        &self,
        actor: &Actor,
        asked: &ConnectorRequest,
        agent: &str,
        scopes: Scopes,
    ) -> Result<String, Refusal> {
        actor.for_organization()?;
        let (_, user) = actor.human().ok_or(Refusal::NotSignedIn)?;
        let code = retry_stale(|| async {
            let agent = self.agent(actor, agent).await?.living()?.id;
            self.check_room_for_grant(actor, asked.client.id, agent, user).await?;
            let text = new_authorization_code(self.entropy());
            let code = AuthorizationCode {
                hash: TokenHash::of(&text),
                client: asked.client.id,
                redirect: asked.redirect.clone(),
                challenge: asked.challenge,
                org: actor.org(),
                agent,
                scopes,
                user,
                expires_at: self.now() + AUTHORIZATION_CODE_LASTS,
                key: None,
            };
            let mut changes = ChangeSet::new(actor.org());
            changes.request = Some(actor.request.id);
            changes.accounts.push(Change::GrantCode(Box::new(code)));
            // The audit log records the key, once the client has it.
            self.commit_changes(changes).await?;
            Ok(text)
        })
        .await?;
        self.note_connector(&asked.client).await;
        Ok(code)
    }

    /// Refuses a grant that would be refused when its code is exchanged, so that the page can say so.
    async fn check_room_for_grant(
        &self,
        actor: &Actor,
        client: ConnectorClientId,
        agent: AgentId,
        user: UserId,
    ) -> Result<(), Refusal> {
        let Some(limit) = grants_limit(actor.principal.plan, &actor.principal.limits) else { return Ok(()) };
        let keys = self.parts.store.list_scoped_keys(actor.org()).await?;
        let person = Principal::user_prefix(user);
        let replaces = || keys.iter().any(|key| key.is_grant(client, agent, &person));
        // After a change of plan, there may be more keys than the limit. Then a replacement makes no room.
        if has_room(&keys, limit) || has_room(&keys, limit.saturating_add(1)) && replaces() {
            return Ok(());
        }
        let now = self.now();
        let retry_after = Period::of(now).seconds_left(now);
        Err(Refusal::LimitReached { metric: Metric::ScopedKeys, limit, retry_after })
    }

    /// Notes that the client was just approved or has just got tokens. Neither depends on it.
    pub(crate) async fn note_connector(&self, client: &ConnectorClient) {
        let now = self.now();
        if client.notes_use(now)
            && let Err(error) = self.parts.store.note_client_use(client.id, now).await
        {
            tracing::warn!(%error, "the use of a connector could not be noted");
        }
    }

    /// Removes up to `limit` expired codes, refresh tokens and unused clients each, and returns whether that was all. An
    /// exchanged code is kept for as long as the access token that it was exchanged for, so that a second use is noticed.
    ///
    /// # Errors
    /// [`Refusal::Store`].
    pub async fn forget_connectors(&self, limit: u32) -> Result<bool, Refusal> {
        let now = self.now();
        let grants = self.parts.store.forget_grants(now - ACCESS_TOKEN_LASTS, limit).await?;
        let clients = self.parts.store.forget_clients(now - CLIENT_KEPT, now - NEW_CLIENT_KEPT, limit).await?;
        Ok(grants.max(clients) < u64::from(limit))
    }
}
