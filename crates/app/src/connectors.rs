//! Connectors: programs that register themselves, and act for an agent once a person grants it (OAuth 2.1).
//!
//! A grant is one key of the agent. The exchange of a code creates it, each refresh gives it another text, and a token that
//! is used twice revokes it.

use std::fmt;

use kalends_accounts::{
    ACCESS_TOKEN_LASTS, AUTHORIZATION_CODE_LASTS, Action, AuthorizationCode, CLIENT_KEPT, Change, CodeError,
    ConnectorClient, Credential, GRANTS_WITHOUT_KEYS, KeyHash, NEW_CLIENT_KEPT, NEW_CLIENTS_MAX, NewAccessToken,
    Principal, REFRESH_TOKEN_LASTS, RefreshError, RefreshToken, ScopedKey, Scopes, TokenHash, Waitlist, challenge_of,
    new_authorization_code, new_refresh_token,
    reach::{self, CallerKind, Touch},
};
use kalends_kernel::{AgentId, ConnectorClientId, KeyId, OrgId, StoreError, UserId};
use kalends_plans::{Feature, Limits, Metric, Plan};
use kalends_quotas::Period;
use kalends_time::{SignedDuration, Timestamp};

use crate::{
    Actor, App, ChangeSet, Guard, Refusal, Request,
    attempt::{Attempt, retry_stale},
    audit::{By, Subject},
    operations,
    ports::CommitError,
};

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

    fn grant(description: impl Into<String>) -> Self {
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

/// The exchange of an authorization code.
#[derive(Clone)]
pub struct CodeExchange {
    /// The client.
    pub client_id: String,
    /// The code.
    pub code: String,
    /// The address to which the code was sent.
    pub redirect_uri: String,
    /// The verifier of its challenge.
    pub code_verifier: String,
    /// The address for which the token is, if the client names it.
    pub resource: Option<String>,
}

/// The exchange of a refresh token.
#[derive(Clone)]
pub struct TokenRefresh {
    /// The client.
    pub client_id: String,
    /// The token.
    pub refresh_token: String,
    /// The scopes that the client asks for, if it names any.
    pub scope: Option<String>,
    /// The address for which the token is, if the client names it.
    pub resource: Option<String>,
}

/// What a client is given.
#[derive(Clone)]
pub struct ConnectorTokens {
    /// The access token.
    pub access: String,
    /// The refresh token.
    pub refresh: String,
    /// How long the access token is accepted.
    pub lasts: SignedDuration,
    /// What the key reaches beyond its agent.
    pub scopes: Scopes,
}

impl fmt::Debug for ConnectorTokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConnectorTokens").field("scopes", &self.scopes).finish_non_exhaustive()
    }
}

/// What one attempt at an exchange results in.
type Outcome = Result<Result<ConnectorTokens, GrantError>, Attempt>;

/// The most grants of an organization. On a plan with keys of agents, they count as such keys.
fn grants_limit(plan: Plan, limits: &Limits) -> Option<u64> {
    if plan.has(Feature::ScopedKeys) { limits.get(Metric::ScopedKeys) } else { Some(GRANTS_WITHOUT_KEYS) }
}

/// Whether one more key fits into the limit.
fn has_room(keys: &[ScopedKey], limit: u64) -> bool {
    u64::try_from(keys.len()).is_ok_and(|keys| keys < limit)
}

/// A refresh token for the key, as it is stored.
fn refresh_token(text: &str, org: OrgId, key: KeyId, client: ConnectorClientId, now: Timestamp) -> RefreshToken {
    RefreshToken {
        hash: TokenHash::of(text),
        org,
        key,
        client,
        created_at: now,
        expires_at: now + REFRESH_TOKEN_LASTS,
        spent_at: None,
    }
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

    async fn known_client(&self, id: &str) -> Result<Option<ConnectorClient>, StoreError> {
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
    fn check_resource(&self, resource: Option<&str>) -> Result<(), GrantError> {
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

    /// The key that the exchange of a code replaces: at the limit, the oldest that the same person granted the same client
    /// for the same agent. A client that asks again has usually lost what it had.
    async fn replaced_by(
        &self,
        code: &AuthorizationCode,
        limit: Option<u64>,
        person: &str,
    ) -> Result<Option<ScopedKey>, Refusal> {
        let Some(limit) = limit else { return Ok(None) };
        let keys = self.parts.store.list_scoped_keys(code.org).await?;
        if has_room(&keys, limit) {
            return Ok(None);
        }
        Ok(keys.into_iter().find(|key| key.is_grant(code.client, code.agent, person)))
    }

    /// The client that a request for tokens names.
    async fn client_of_grant(&self, id: &str) -> Result<ConnectorClient, NotGranted> {
        let unknown = || GrantError::new(GrantError::CLIENT, "client_id is unknown, or has expired; register again");
        Ok(self.known_client(id).await?.ok_or_else(unknown)?)
    }

    /// Notes that the client was just approved or has just got tokens. Neither depends on it.
    async fn note_connector(&self, client: &ConnectorClient) {
        let now = self.now();
        if client.notes_use(now)
            && let Err(error) = self.parts.store.note_client_use(client.id, now).await
        {
            tracing::warn!(%error, "the use of a connector could not be noted");
        }
    }

    /// Exchanges a code for tokens, which creates the key. A code that was exchanged before revokes its key.
    ///
    /// # Errors
    /// [`NotGranted`].
    pub async fn exchange_code(&self, request: &Request, sent: &CodeExchange) -> Result<ConnectorTokens, NotGranted> {
        let client = self.client_of_grant(&sent.client_id).await?;
        self.check_resource(sent.resource.as_deref())?;
        let tokens = retry_stale(|| self.try_exchange(request, &client, sent)).await??;
        self.note_connector(&client).await;
        Ok(tokens)
    }

    async fn try_exchange(&self, request: &Request, client: &ConnectorClient, sent: &CodeExchange) -> Outcome {
        let (hash, now) = (TokenHash::of(&sent.code), self.now());
        let Some(code) = self.parts.store.find_authorization_code(hash).await? else {
            return Ok(Err(GrantError::grant("the code is unknown or has expired; ask for authorization again")));
        };
        if let Err(error) = code.opens(client.id, &sent.redirect_uri, &sent.code_verifier, now) {
            if let (CodeError::Used, Some(key)) = (error, code.key) {
                self.end_grant(request, code.org, key).await?;
            }
            return Ok(Err(GrantError::grant(error.to_string())));
        }
        let limit = match self.grantable(&code).await? {
            Ok(limit) => limit,
            Err(reason) => return Ok(Err(GrantError::grant(reason))),
        };
        let (org, created_by) = (code.org, Principal::user_prefix(code.user));
        let (access, refresh) = (NewAccessToken::generate(self.entropy()), new_refresh_token(self.entropy()));
        let id = KeyId::new(now, self.entropy());
        let ends = now + ACCESS_TOKEN_LASTS;
        let key = ScopedKey::of_connector(id, org, code.agent, client, code.scopes, &access, &created_by, ends, now);
        let mut changes = ChangeSet::new(org);
        changes.request = Some(request.id);
        changes.guards.extend(limit.map(|limit| Guard::AtMost { metric: Metric::ScopedKeys, limit }));
        changes.accounts = vec![
            Change::CreateScopedKey(key),
            Change::UseCode { hash, key: id },
            Change::PutRefreshToken(refresh_token(&refresh, org, id, client.id, now)),
        ];
        let subject = Subject { org, agent: Some(code.agent), resource: id.to_string() };
        let by = By::Request { request, key_prefix: Some(&created_by) };
        if let Some(replaced) = self.replaced_by(&code, limit, &created_by).await? {
            self.add_end(&replaced, &by, request.operation.status, &mut changes);
        }
        changes.audit.push(self.audit_entry(Action::KeyCreate, subject, &by, request.operation.status, now));
        match self.commit_changes(changes).await {
            Ok(()) => {
                Ok(Ok(ConnectorTokens { access: access.text, refresh, lasts: ACCESS_TOKEN_LASTS, scopes: code.scopes }))
            }
            Err(Attempt::Refused(Refusal::LimitReached { limit, .. })) => Ok(Err(GrantError::grant(format!(
                "the organization may have {limit} keys of agents; revoke one that is no longer used, then ask for \
                 authorization again"
            )))),
            Err(other) => Err(other),
        }
    }

    /// The limit of keys for the exchange of a code, or why what was granted no longer holds: the person could not grant it
    /// any more, or the agent is gone.
    async fn grantable(&self, code: &AuthorizationCode) -> Result<Result<Option<u64>, &'static str>, Refusal> {
        let store = &self.parts.store;
        let Some(organization) = store.find_organization(code.org).await? else {
            return Ok(Err("the organization does not exist any more"));
        };
        let memberships = store.memberships_of(code.user).await?;
        let role = memberships.iter().find(|membership| membership.org == code.org).map(|membership| membership.role);
        let waitlisted = organization.waitlist != Waitlist::Active;
        let may_create_keys = role.is_some_and(|role| {
            let caller = reach::Caller { kind: CallerKind::of_role(role), agent: None, waitlisted };
            reach::enter(&caller, Touch::KeyCreation, true).is_ok()
        });
        if !may_create_keys {
            return Ok(Err("the person who granted it may not create keys any more; ask for authorization again"));
        }
        let agent = store.find_agent(code.org, code.agent).await?;
        if agent.is_none_or(|agent| agent.living().is_err()) {
            return Ok(Err("the agent is decommissioned; ask for authorization again"));
        }
        let limits = organization
            .limits()
            .map_err(|error| StoreError::corrupt("organizations", "limit_overrides", code.org, error))?;
        Ok(Ok(grants_limit(organization.plan, &limits)))
    }

    /// Exchanges a refresh token for other tokens of the same key. A token that was exchanged before revokes the key.
    ///
    /// # Errors
    /// [`NotGranted`].
    pub async fn refresh_tokens(&self, request: &Request, sent: &TokenRefresh) -> Result<ConnectorTokens, NotGranted> {
        let client = self.client_of_grant(&sent.client_id).await?;
        self.check_resource(sent.resource.as_deref())?;
        let tokens = retry_stale(|| self.try_refresh(request, client.id, sent)).await??;
        self.note_connector(&client).await;
        Ok(tokens)
    }

    async fn try_refresh(&self, request: &Request, client: ConnectorClientId, sent: &TokenRefresh) -> Outcome {
        let (hash, now) = (TokenHash::of(&sent.refresh_token), self.now());
        let gone = || GrantError::grant("the refresh token is unknown, or its access was revoked");
        let Some(token) = self.parts.store.find_refresh_token(hash).await? else { return Ok(Err(gone())) };
        if let Err(error) = token.check(client, now) {
            if error == RefreshError::Spent {
                self.end_grant(request, token.org, token.key).await?;
            }
            return Ok(Err(GrantError::grant(error.to_string())));
        }
        let (org, id) = (token.org, token.key);
        let Some(key) = self.parts.store.find_scoped_key(org, id).await? else { return Ok(Err(gone())) };
        if let Err(error) = within_grant(sent.scope.as_deref(), key.scopes) {
            return Ok(Err(error));
        }
        let (access, refresh) = (NewAccessToken::generate(self.entropy()), new_refresh_token(self.entropy()));
        let mut changes = ChangeSet::new(org);
        changes.request = Some(request.id);
        changes.accounts = vec![
            Change::SpendRefreshToken { org, hash, at: now },
            Change::RenewKey { org, key: id, hash: access.hash, expires_at: now + ACCESS_TOKEN_LASTS },
            Change::PutRefreshToken(refresh_token(&refresh, org, id, client, now)),
        ];
        self.commit_changes(changes).await?;
        Ok(Ok(ConnectorTokens { access: access.text, refresh, lasts: ACCESS_TOKEN_LASTS, scopes: key.scopes }))
    }

    /// Ends the grant of a token of either kind (RFC 7009). Nothing happens for a token that is unknown, or that another
    /// client was given.
    ///
    /// # Errors
    /// [`Refusal::Store`] or [`Refusal::Contended`].
    pub async fn revoke_token(&self, request: &Request, client_id: &str, token: &str) -> Result<(), Refusal> {
        let Ok(client) = client_id.parse::<ConnectorClientId>() else { return Ok(()) };
        if let Some(refresh) = self.parts.store.find_refresh_token(TokenHash::of(token)).await? {
            return if refresh.client == client {
                self.end_grant(request, refresh.org, refresh.key).await
            } else {
                Ok(())
            };
        }
        let Some(principal) = self.parts.store.find_principal(KeyHash::of(token)).await? else { return Ok(()) };
        match (principal.credential, principal.connector) {
            (Credential::Key(key), Some(access)) if access.client == client => {
                self.end_grant(request, principal.org, key).await
            }
            _ => Ok(()),
        }
    }

    /// Revokes the key of a grant, if it is in force.
    async fn end_grant(&self, request: &Request, org: OrgId, key: KeyId) -> Result<(), Refusal> {
        retry_stale(|| async {
            let Some(ended) = self.parts.store.find_scoped_key(org, key).await? else { return Ok(()) };
            let mut changes = ChangeSet::new(org);
            changes.request = Some(request.id);
            let by = By::Request { request, key_prefix: Some(&ended.prefix) };
            self.add_end(&ended, &by, request.operation.status, &mut changes);
            self.commit_changes(changes).await?;
            self.cancel_approvals_of(request, org, &ended.prefix, &[key]).await;
            Ok(())
        })
        .await
    }

    /// Adds the revocation of a key to the changes, with its entry in the audit log.
    fn add_end(&self, ended: &ScopedKey, by: &By<'_>, status: u16, changes: &mut ChangeSet) {
        let (org, key, now) = (ended.org, ended.id, self.now());
        changes.accounts.push(Change::RevokeKey { org, key, at: now });
        let subject = Subject { org, agent: Some(ended.agent), resource: key.to_string() };
        changes.audit.push(self.audit_entry(Action::KeyDelete, subject, by, status, now));
    }

    /// Revokes up to `limit` keys of clients whose refresh tokens have all expired, and returns whether that was all.
    /// Otherwise they would count as keys of agents for ever. Nothing accepts them any more, so nobody waits.
    ///
    /// # Errors
    /// [`Refusal::Store`].
    pub async fn end_lapsed_grants(&self, limit: u32) -> Result<bool, Refusal> {
        // An access token and its refresh token are given at once.
        let expired = self.now() + ACCESS_TOKEN_LASTS - REFRESH_TOKEN_LASTS;
        let lapsed = self.parts.store.lapsed_grants(expired, limit).await?;
        let all = u64::try_from(lapsed.len()).is_ok_and(|found| found < u64::from(limit));
        for key in lapsed {
            let mut changes = ChangeSet::new(key.org);
            self.add_end(&key, &By::Duty("refresh token expires"), 200, &mut changes);
            match self.store_changes(changes).await {
                // Somebody else was faster, or the account was deleted.
                Ok(()) | Err(CommitError::Stale | CommitError::NoOrganization) => {}
                Err(CommitError::Store(error)) => return Err(error.into()),
                Err(other) => {
                    tracing::error!(error = &other as &dyn std::error::Error, "a lapsed grant could not end");
                }
            }
        }
        Ok(all)
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

/// Allows scopes that the key has. A refresh cannot add any. Unknown ones have no effect.
fn within_grant(asked: Option<&str>, granted: Scopes) -> Result<(), GrantError> {
    match Scopes::known_in(asked.unwrap_or_default()).iter().find(|scope| !granted.contains(*scope)) {
        Some(scope) => {
            let description = format!("scope {} was not granted; ask for authorization again", scope.as_str());
            Err(GrantError::new("invalid_scope", description))
        }
        None => Ok(()),
    }
}
