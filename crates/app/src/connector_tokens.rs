//! The tokens of connectors: a client exchanges a code for them, exchanges them for others, and gives them back.
//!
//! A grant is one key of the agent. The exchange of a code creates it, each refresh gives it another text, and a code or
//! a token that is used twice revokes it.

use std::fmt;

use kalends_accounts::{
    ACCESS_TOKEN_LASTS, Action, AuthorizationCode, Change, CodeError, ConnectorClient, Credential, KeyHash,
    NewAccessToken, Principal, REFRESH_TOKEN_LASTS, RefreshError, RefreshToken, ScopedKey, Scopes, TokenHash, Waitlist,
    new_refresh_token,
    reach::{self, CallerKind, Touch},
};
use kalends_kernel::{ConnectorClientId, KeyId, OrgId, StoreError};
use kalends_plans::Metric;
use kalends_time::{SignedDuration, Timestamp};

use crate::{
    App, ChangeSet, Guard, Refusal, Request,
    attempt::{Attempt, retry_stale},
    audit::{By, Subject},
    connectors::{GrantError, NotGranted, grants_limit, has_room},
    ports::CommitError,
};

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
