//! Setting a password by email: a new one for a user who forgot theirs, or a first one for a user who signs in with a
//! provider.

use std::sync::Arc;

use kalends_accounts::{
    Allowance, Change, Email, MailedToken, Password, Principal, SessionEnd, Taken, TokenHash, TokenPurpose, UserToken,
};
use kalends_kernel::FieldError;
use kalends_wire::PasswordForgotten;
use tokio::sync::OnceCell;
use tracing::Instrument as _;

use crate::{
    Answered, App, ChangeSet, Refusal, Request,
    address_proof::unless_taken,
    attempt::{Attempt, retry_stale},
    audit::{By, Subject},
    detached::detached,
    letters,
};

/// The message is the same for every address, so that it does not reveal who has an account.
const MESSAGE: &str = "If there is an account with the address, a message with the next step is on its way.";

impl App {
    /// Emails a token that sets the password of the account with that address. The work is done after the answer, so
    /// that the answer and its timing are the same for every address.
    pub fn forgot_password(self: &Arc<Self>, request: &Request, email: Email) -> Answered<PasswordForgotten> {
        let app = Arc::clone(self);
        let mailing = async move {
            if let Err(refusal) = app.mail_reset(&email).await {
                tracing::error!(
                    error = &refusal as &dyn std::error::Error,
                    "the password reset email could not be prepared"
                );
            }
        };
        tokio::spawn(mailing.instrument(tracing::error_span!("password_reset")));
        Answered::shows(request, PasswordForgotten { message: MESSAGE }, None)
    }

    async fn mail_reset(&self, email: &Email) -> Result<(), Refusal> {
        // Above the limit no email is sent, and the answer does not say so.
        if let Taken::Refused { .. } = self.parts.store.take(&Allowance::resets(email), self.now()).await? {
            return Ok(());
        }
        let token = MailedToken::generate(self.entropy());
        let known = retry_stale(|| async {
            let Some(user) = self.account_of(email).await? else { return Ok(false) };
            let Some(organization) = self.organization_of(user.id).await? else { return Ok(false) };
            let mut changes = ChangeSet::new(organization.id);
            changes.accounts.push(Change::PutUserToken(UserToken::issue(
                &token,
                TokenPurpose::Password,
                user.id,
                self.now(),
            )));
            self.store_changes(changes).await.map_err(|error| self.refused_commit(error))?;
            Ok::<_, Attempt>(true)
        })
        .await?;
        if known {
            drop(self.post(letters::password_reset(email, &token, &self.parts.settings.console_url)));
        }
        Ok(())
    }

    /// Sets the password of the account that the token was mailed for. All sessions of the user end, the address
    /// counts as verified, and the token is used up. With the first proof of the address, the identities of providers are
    /// removed. If the user did not hold the address before, the second factor is removed too, and the keys of their
    /// organizations are revoked.
    ///
    /// # Errors
    /// [`Refusal::Invalid`] for a token that is unknown, used or expired; [`Refusal::EmailTaken`] if another user has
    /// proved the address; [`Refusal::Credentials`].
    pub async fn reset_password(
        self: &Arc<Self>,
        request: &Request,
        token: &str,
        password: Password,
    ) -> Result<Answered<()>, Refusal> {
        let (app, request, token) = (Arc::clone(self), request.clone(), TokenHash::of(token));
        // Keys are revoked in a second commit.
        detached(async move { app.set_mailed_password(&request, token, password).await }).await
    }

    async fn set_mailed_password(
        &self,
        request: &Request,
        token: TokenHash,
        password: Password,
    ) -> Result<Answered<()>, Refusal> {
        let refused = || Refusal::from(FieldError::new("token", TokenPurpose::Password.refused()));
        // Hashed once, however often the commit is retried, and only for a valid token.
        let hashed = OnceCell::new();
        let (answer, letter, (org, user, revocations)) = retry_stale(|| async {
            let reset = self
                .parts
                .store
                .find_user_token(TokenPurpose::Password, token)
                .await?
                .filter(|reset| reset.holds(self.now()));
            let reset = reset.ok_or_else(refused)?;
            let before = self.parts.store.find_user(reset.user).await?.ok_or_else(refused)?;
            let hash = hashed.get_or_try_init(|| self.parts.passwords.hash(password.clone())).await?.clone();
            let now = self.now();
            let after = before.with_mailed_password(hash, now);
            let (user, email) = (before.id, before.email.clone());
            let mut changes = self.changes_of(&before, after).await?;
            changes.accounts.push(Change::UseUserToken(token));
            changes
                .accounts
                .push(Change::EndSessions { end: SessionEnd::PasswordChange { user, keep: None }, at: now });
            let mut revocations = Vec::new();
            if before.email_verified_at.is_none() {
                // Another person may have signed up with the address, and still have ways to sign in.
                changes.accounts.push(Change::RemoveIdentities(user));
                if !before.holds_address {
                    changes.accounts.push(Change::RemoveSecondFactor(user));
                    revocations = self.revoking_keys_of(user).await?;
                    changes.accounts.extend(revocations.iter().cloned());
                }
            }
            let answer = Answered::nothing(request);
            let (org, has_lost_keys) = (changes.org, !revocations.is_empty());
            let subject = Subject { org, agent: None, resource: user.to_string() };
            let prefix = Principal::user_prefix(user);
            let answer = unless_taken(self.commit(request, Some(&prefix), subject, changes, answer).await)?;
            let letter = letters::password_was_reset(&email, has_lost_keys);
            Ok::<_, Attempt>((answer, letter, (org, user, revocations)))
        })
        .await?;
        drop(self.post(letter));
        let prefix = Principal::user_prefix(user);
        let by = By::Request { request, key_prefix: Some(&prefix) };
        self.commit_revocations(org, revocations, (user, &by)).await.map_err(Attempt::into_refusal)?;
        Ok(answer)
    }
}
