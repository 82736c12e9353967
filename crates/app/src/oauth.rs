//! Users sign in and sign up with a provider.
//!
//! The caller that returns from a provider is a browser. A failure is reported as a code in the console's URL, and
//! its reason is logged. An attempt accepts one callback, on any node.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use kalends_accounts::{
    Action, AuditEntry, Change, Email, NewAccount, Principal, Session, SessionEnd, TokenHash, User,
    oauth::{
        Attempt as OauthAttempt, Callback, Client, Identity, KnownIdentity, OauthError, Provider, ReturnTo,
        SIGN_IN_SCOPES, SignInAs, sign_in_as,
    },
};
use kalends_kernel::{Foreign, OrgId, StoreError, UserId};

use crate::{
    App, ChangeSet, Missing, Refusal, Request,
    address_proof::unless_taken,
    attempt::{Attempt, retry_stale},
    audit::{By, Subject},
    detached::detached,
    letters,
    ports::{ExchangeError, Exchanged, OfferedProvider},
};

/// The beginning of an attempt to sign in.
#[derive(Clone, PartialEq, Eq)]
pub enum OauthBegun {
    /// The browser continues at the provider.
    AtProvider {
        /// The URL that the browser is redirected to.
        location: String,
        /// The value of the browser's cookie.
        state: String,
    },
    /// There is no attempt.
    Failed(OauthFailure),
}

/// The outcome of an attempt to sign in.
#[derive(Clone, PartialEq, Eq)]
pub enum OauthEnded {
    /// A user is signed in.
    SignedIn {
        /// The session's token, for the cookie.
        token: String,
    },
    /// Nobody is signed in.
    Failed(OauthFailure),
}

/// Why nobody is signed in, as the user sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OauthFailure {
    /// The attempt is unknown, used, expired, or belongs to another browser.
    State,
    /// The user or the provider declined.
    Declined,
    /// The provider's answer is not acceptable.
    Failed,
    /// The provider did not answer.
    Unavailable,
    /// A user has the address, and the provider does not confirm that it belongs to this person.
    NotVouched,
    /// A new user must accept the terms, and the request names no version.
    TermsRequired,
    /// The accepted terms are not the current ones.
    TermsStale,
    /// The address is on the waiting list.
    Waitlisted,
    /// Too many sign-ups with addresses of one mail domain.
    TooMany,
    /// This server does not let the person sign up.
    SignUpClosed,
}

impl OauthFailure {
    /// Every failure.
    pub const ALL: [Self; 10] = [
        Self::State,
        Self::Declined,
        Self::Failed,
        Self::Unavailable,
        Self::NotVouched,
        Self::TermsRequired,
        Self::TermsStale,
        Self::Waitlisted,
        Self::TooMany,
        Self::SignUpClosed,
    ];

    /// The code in the console's URL.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::State => "oauth_state",
            Self::Declined => "oauth_declined",
            Self::Failed => "oauth_failed",
            Self::Unavailable => "provider_unavailable",
            Self::NotVouched => "email_not_verified",
            Self::TermsRequired => "tos_version_required",
            Self::TermsStale => "tos_version_stale",
            Self::Waitlisted => "account_waitlisted",
            Self::TooMany => "rate_limited",
            Self::SignUpClosed => "signup_closed",
        }
    }
}

impl From<OauthError> for OauthFailure {
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

/// The longest error of a provider that is logged, in characters.
const ERROR_MAX: usize = 64;

/// An error from a provider, made safe for a log.
pub(crate) fn plain(error: &str) -> String {
    error.chars().filter(char::is_ascii_graphic).take(ERROR_MAX).collect()
}

/// Logs that a provider did not give an identity, and returns the failure that the user sees.
fn logged(provider: &str, error: &ExchangeError) -> OauthFailure {
    let cause = error as &dyn std::error::Error;
    match error {
        ExchangeError::Refused(_) => OauthFailure::Failed,
        ExchangeError::Malformed(_) => {
            tracing::warn!(provider, error = cause, "a provider's answer cannot be used");
            OauthFailure::Failed
        }
        ExchangeError::Unavailable(_) => {
            tracing::warn!(provider, error = cause, "a provider does not answer");
            OauthFailure::Unavailable
        }
    }
}

/// The session of the user that an identity signs in.
struct Opened {
    /// Its token.
    token: String,
    /// What else the first proof of an address requires, if this was one.
    takeover: Option<Takeover>,
}

/// A user has proved an address for the first time, and with it took over an account.
struct Takeover {
    org: OrgId,
    user: UserId,
    /// The revocations of the keys that others may have. They were committed once.
    revocations: Vec<Change>,
}

impl Opened {
    const fn of(token: String) -> Self {
        Self { token, takeover: None }
    }
}

type Entered = Result<Opened, OauthFailure>;

impl App {
    /// The provider of that name.
    fn sign_in_provider(&self, name: &str) -> Result<Provider, Refusal> {
        let offered = self.sign_in_providers().iter().map(|offered| offered.provider);
        let found = offered.into_iter().find(|provider| provider.as_str() == name);
        found.ok_or_else(|| Refusal::missing(Missing::Provider, name))
    }

    /// The service's client at a provider, or why nobody can sign in there at present.
    async fn sign_in_client(&self, provider: Provider) -> Result<Result<Client, OauthFailure>, Refusal> {
        match self.parts.providers.client(provider).await {
            Ok(client) => client.map(Ok).ok_or_else(|| Refusal::missing(Missing::Provider, provider.as_str())),
            Err(error) => {
                tracing::warn!(
                    provider = provider.as_str(),
                    error = &error as &dyn std::error::Error,
                    "nobody can sign in with a provider"
                );
                Ok(Err(OauthFailure::Unavailable))
            }
        }
    }

    /// The providers that users can sign in with.
    pub fn sign_in_providers(&self) -> &[OfferedProvider] {
        self.parts.providers.offered()
    }

    /// The name by which people know a provider.
    fn title_of(&self, provider: Provider) -> &str {
        let offered = self.sign_in_providers().iter().find(|offered| offered.provider == provider);
        offered.map_or_else(|| provider.title(), |offered| offered.title.as_str())
    }

    /// Begins an attempt to sign in with the provider of that name. `terms` is the version that the user accepts if
    /// they are new. `page` is the page to return to instead of the console.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] for a provider that is not configured; [`Refusal::Store`].
    pub async fn begin_oauth(
        &self,
        provider: &str,
        terms: Option<String>,
        page: Option<&ReturnTo>,
    ) -> Result<OauthBegun, Refusal> {
        let client = match self.sign_in_client(self.sign_in_provider(provider)?).await? {
            Ok(client) => client,
            Err(failure) => return Ok(OauthBegun::Failed(failure)),
        };
        let mut begun = OauthAttempt::begin(&client, terms, self.now(), self.entropy());
        if let Some(page) = page {
            begun = begun.returning_to(page);
        }
        self.parts.store.keep_attempt(&begun.attempt).await?;
        let location = begun.authorization_url(&client, SIGN_IN_SCOPES).into();
        Ok(OauthBegun::AtProvider { location, state: begun.state })
    }

    /// Completes an attempt with the callback that the browser brings.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] for a provider that is not configured; [`Refusal::Store`].
    pub async fn end_oauth(
        self: &Arc<Self>,
        request: &Request,
        provider: &str,
        callback: Callback<'_>,
    ) -> Result<OauthEnded, Refusal> {
        let failed = |failure: OauthFailure, why: &dyn std::fmt::Display| {
            tracing::info!(provider, request_id = %request.id, "nobody is signed in: {why}");
            Ok(OauthEnded::Failed(failure))
        };
        let known = self.sign_in_provider(provider)?;
        let attempt = match callback.state {
            Some(state) => self.parts.store.use_attempt(TokenHash::of(state)).await?,
            None => None,
        };
        // Checked first, so that nobody makes the service ask a provider without having begun an attempt.
        let Some(attempt) = attempt else { return failed(OauthFailure::State, &OauthError::State) };
        let client = match self.sign_in_client(known).await? {
            Ok(client) => client,
            Err(failure) => return Ok(OauthEnded::Failed(failure)),
        };
        let reported = callback.error.map(plain);
        let token_request = match callback.check(Some(&attempt), &client, self.now()) {
            Ok(token_request) => token_request,
            Err(error @ OauthError::Provider) => {
                let reported = reported.as_deref().unwrap_or_default();
                tracing::warn!(provider = client.provider.as_str(), reported, "a provider reports an error");
                return failed(error.into(), &error);
            }
            Err(error) => return failed(error.into(), &error),
        };
        let Exchanged { claims, incomplete } = match self.parts.providers.exchange(client.provider, token_request).await
        {
            Ok(exchanged) => exchanged,
            Err(error) => return failed(logged(provider, &error), &error),
        };
        let identity = match claims.check(&attempt, &client, self.now()) {
            Ok(identity) => identity,
            Err(error) => return failed(error.into(), &error),
        };
        if let Some(error) = incomplete {
            let failure = logged(provider, &error);
            // A known user needs no more than the identity token.
            if self.known(&identity).await?.is_none() {
                return failed(failure, &error);
            }
        }
        let (app, entering, terms) = (Arc::clone(self), request.clone(), attempt.terms_version);
        // Keys are revoked in a second commit.
        match detached(async move { app.enter(&entering, &identity, terms.as_deref()).await }).await {
            Ok(Ok(token)) => Ok(OauthEnded::SignedIn { token }),
            Ok(Err(failure)) => failed(failure, &failure.as_str()),
            Err(refusal @ Refusal::Store(_)) => Err(refusal),
            // For example, the organization has just been deleted. The browser shows the failure in the console.
            Err(refusal) => failed(OauthFailure::Failed, &refusal),
        }
    }

    /// Signs in the user that the identity belongs to, and returns the token of the session.
    async fn enter(
        &self,
        request: &Request,
        identity: &Identity,
        terms: Option<&str>,
    ) -> Result<Result<String, OauthFailure>, Refusal> {
        let counted = AtomicBool::new(false);
        let entered = retry_stale(|| self.enter_as(request, identity, terms, &counted)).await?;
        let Opened { token, takeover } = match entered {
            Ok(opened) => opened,
            Err(failure) => return Ok(Err(failure)),
        };
        if let Some(Takeover { org, user, revocations }) = takeover {
            let prefix = Principal::user_prefix(user);
            let by = By::Request { request, key_prefix: Some(&prefix) };
            self.commit_revocations(org, revocations, (user, &by)).await.map_err(Attempt::into_refusal)?;
        }
        Ok(Ok(token))
    }

    /// One attempt at [`Self::enter`], without what follows a takeover.
    async fn enter_as(
        &self,
        request: &Request,
        identity: &Identity,
        terms: Option<&str>,
        counted: &AtomicBool,
    ) -> Result<Entered, Attempt> {
        let known = self.known(identity).await?;
        let by_email = match &identity.email {
            Some(email) if identity.email_verified => self.account_of(email).await?,
            Some(email) => self.parts.store.find_user_by_email(email).await?,
            None => None,
        };
        match (sign_in_as(identity, known, by_email.as_ref().map(|user| user.id)), by_email) {
            (SignInAs::Known(user), _) => {
                // An identity is deleted with its user. If the user is missing, both have just been deleted.
                let user = self.parts.store.find_user(user).await?.ok_or(Attempt::Stale)?;
                // The identity may also have been removed alone since it was read. That raises the user's version, so
                // check it again.
                if self.known(identity).await? != Some(user.id) {
                    return Err(Attempt::Stale);
                }
                let Some(organization) = self.organization_of(user.id).await? else {
                    tracing::error!(user = %user.id, "a user belongs to no organization and cannot sign in");
                    return Ok(Err(OauthFailure::Failed));
                };
                self.open(request, &user, ChangeSet::new(organization.id)).await
            }
            (SignInAs::Linked(_), Some(user)) => {
                let now = self.now();
                let linking = user.vouched_for(now);
                let id = user.id;
                if !linking.may_add(identity, &self.parts.store.identities_of(id).await?) {
                    return Ok(Err(OauthFailure::NotVouched));
                }
                let mut changes = match self.changes_of(&user, linking.user.clone()).await {
                    // Another user has proved the address since it was looked up.
                    Err(Refusal::EmailTaken) => return Err(Attempt::Stale),
                    changes => changes?,
                };
                let mut revocations = Vec::new();
                if linking.first_proof {
                    let end = SessionEnd::PasswordChange { user: id, keep: None };
                    changes.accounts.push(Change::EndSessions { end, at: now });
                    changes.accounts.push(Change::RemoveIdentities(id));
                    changes.accounts.push(Change::RemoveSecondFactor(id));
                    revocations = self.revoking_keys_of(id).await?;
                    changes.accounts.extend(revocations.iter().cloned());
                }
                changes.accounts.push(Change::AddIdentity(KnownIdentity::of(identity, id, now)));
                let address = linking.user.email.clone();
                let org = changes.org;
                let mut entered = unless_taken(self.open(request, &linking.user, changes).await)?;
                if let Ok(opened) = &mut entered {
                    opened.takeover = linking.first_proof.then_some(Takeover { org, user: id, revocations });
                    let provider = Foreign::new(self.title_of(identity.provider));
                    let console = &self.parts.settings.console_url;
                    drop(self.post(if linking.first_proof {
                        letters::provider_took_over(&address, &provider, console)
                    } else {
                        letters::provider_added(&address, &provider, console)
                    }));
                }
                Ok(entered)
            }
            (SignInAs::New, _) => match &identity.email {
                Some(email) => self.found(request, identity, email, terms, counted).await,
                None => Ok(Err(OauthFailure::Failed)),
            },
            (SignInAs::Nobody, _) => Ok(Err(OauthFailure::Failed)),
            (SignInAs::NotVouched | SignInAs::Linked(_), _) => Ok(Err(OauthFailure::NotVouched)),
        }
    }

    /// The user that the identity signs in.
    async fn known(&self, identity: &Identity) -> Result<Option<UserId>, StoreError> {
        let known = self.parts.store.find_identity(identity.provider, &identity.issuer, &identity.subject).await?;
        Ok(known.map(|known| known.user))
    }

    /// Commits `changes` with a session of an existing user in their organization.
    async fn open(&self, request: &Request, user: &User, mut changes: ChangeSet) -> Result<Entered, Attempt> {
        let session = Session::begin(user.id, Some(changes.org), self.now(), self.entropy());
        let token = self.token_of(&session)?;
        changes.accounts.push(Change::CreateSession { session, seen: user.version });
        changes.audit.push(self.entered(request, changes.org, Action::AuthSignin, user));
        self.commit_changes(changes).await?;
        Ok(Ok(Opened::of(token)))
    }

    /// Signs up a new user. They begin without a key, because a redirect cannot show one.
    async fn found(
        &self,
        request: &Request,
        identity: &Identity,
        email: &Email,
        terms: Option<&str>,
        counted: &AtomicBool,
    ) -> Result<Entered, Attempt> {
        let now = self.now();
        let policy = self.parts.settings.sign_ups;
        let is_invited =
            !policy.admits(false) && identity.email_verified && self.parts.store.is_invited(email, now).await?;
        if !policy.admits(is_invited) {
            return Ok(Err(OauthFailure::SignUpClosed));
        }
        let Some(terms) = terms else { return Ok(Err(OauthFailure::TermsRequired)) };
        let Ok(acceptance) = self.parts.settings.terms.accept(terms, now) else {
            return Ok(Err(OauthFailure::TermsStale));
        };
        // Count once, even if the commit is retried.
        if !counted.swap(true, Ordering::Relaxed) {
            match self.allow_person(email, request).await {
                Ok(()) => {}
                Err(Refusal::TooMany { .. }) => return Ok(Err(OauthFailure::TooMany)),
                Err(refusal) => return Err(refusal.into()),
            }
        }
        let new = NewAccount {
            email: email.clone(),
            standing: self.address_standing(identity.email_verified),
            name: identity.user_name(email),
            org_name: None,
            password: None,
            acceptance,
            plan: self.parts.settings.sign_up_plan,
        };
        let (account, mut changes) = match self.changes_of_sign_up(&new).await {
            Ok(signed_up) => signed_up,
            Err(Refusal::Waitlisted) => return Ok(Err(OauthFailure::Waitlisted)),
            Err(refusal) => return Err(refusal.into()),
        };
        let token = self.token_of(&account.session)?;
        changes.audit.push(self.entered(request, changes.org, Action::AuthSignup, &account.user));
        changes.accounts.push(Change::AddIdentity(KnownIdentity::of(identity, account.user.id, now)));
        match self.commit_changes(changes).await {
            // A user or an organization took the address since it was looked up.
            Err(Attempt::Refused(Refusal::EmailTaken)) => Err(Attempt::Stale),
            Err(Attempt::Refused(Refusal::TooMany { .. })) => Ok(Err(OauthFailure::TooMany)),
            Err(other) => Err(other),
            Ok(()) => Ok(Ok(Opened::of(token))),
        }
    }

    /// The audit log entry. The route only redirects, so its operation has no audit action of its own.
    fn entered(&self, request: &Request, org: OrgId, action: Action, user: &User) -> AuditEntry {
        let prefix = Principal::user_prefix(user.id);
        let by = By::Request { request, key_prefix: Some(&prefix) };
        let subject = Subject { org, agent: None, resource: user.id.to_string() };
        self.audit_entry(action, subject, &by, request.operation.status, self.now())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_failure_has_a_unique_code() {
        let codes: BTreeSet<_> = OauthFailure::ALL.into_iter().map(OauthFailure::as_str).collect();
        assert_eq!(codes.len(), OauthFailure::ALL.len());
    }
}
