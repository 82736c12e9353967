//! Proof that users read mail at the address that they state, and the accounts that an address leads to.
//!
//! A user who signs up in the console states an address. If the server asks for a proof, the user does not hold the
//! address until then: their organization stays in the sandbox, and others can state the same address. The first of
//! them who proves it holds it.

use std::sync::Arc;

use kalends_accounts::{
    Action, AddressStanding, Allowance, Change, Email, MailedToken, OrgName, Organization, Principal, Role,
    SignUpSource, TokenHash, TokenPurpose, User, UserToken, Waitlist,
};
use kalends_kernel::{FieldError, Foreign, OrgId, StoreError, UserId};
use kalends_notifications::About;
use kalends_wire as wire;

use crate::{
    Actor, Answered, App, ChangeSet, Refusal, Request,
    attempt::{Attempt, retry_stale},
    audit::{By, Subject},
    console::human,
    letters,
};

/// What a mailed token proves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnProof {
    /// The address.
    pub email: Email,
    /// The name of the organization in which the user signs in.
    pub organization: String,
    /// Whether it is proved already.
    pub is_proved: bool,
}

/// How many accounts that state one address a sign-in tries. A password is checked for each, which is costly.
const TRIED: u32 = 3;
/// The answer to a request for another email.
const RESENT: &str = "A message with a link is on its way. It works for 24 hours, and voids the one before.";
/// The answer to such a request if there is nothing to prove.
const PROVED_ALREADY: &str = "The address is proved already. There is nothing to do.";

impl App {
    /// The standing of the address of a new account.
    pub(crate) const fn address_standing(&self, proved: bool) -> AddressStanding {
        AddressStanding::of(proved, self.parts.settings.email_proof)
    }

    /// The accounts that a sign-in with that address and a password can mean: the one that holds the address, or else
    /// the newest of those that state it.
    pub(crate) async fn accounts_of(&self, email: &Email) -> Result<Vec<User>, StoreError> {
        match self.parts.store.find_user_by_email(email).await? {
            Some(holder) => Ok(vec![holder]),
            None => self.parts.store.users_stating(email, TRIED).await,
        }
    }

    /// The account that a person with that address can mean without a password: the one that holds the address, or else
    /// the only one that states it. If several state it, it is not known which of them is that person's.
    pub(crate) async fn account_of(&self, email: &Email) -> Result<Option<User>, StoreError> {
        if let Some(holder) = self.parts.store.find_user_by_email(email).await? {
            return Ok(Some(holder));
        }
        let mut stating = self.parts.store.users_stating(email, 2).await?;
        Ok(stating.pop().filter(|_| stating.is_empty()))
    }

    /// The changes that write `after`, a user who was `before`, in the organization whose audit log records them. With
    /// the first proof of the address, the organization that the user signed up leaves the sandbox.
    ///
    /// # Errors
    /// [`Refusal::EmailTaken`] if `after` would hold an address that another user holds; [`Refusal::NotSignedIn`] if
    /// the user belongs to no organization.
    pub(crate) async fn changes_of(&self, before: &User, after: User) -> Result<ChangeSet, Refusal> {
        if after.holds_address
            && !before.holds_address
            && self.parts.store.find_user_by_email(&after.email).await?.is_some()
        {
            return Err(Refusal::EmailTaken);
        }
        let mut opened = None;
        if before.email_verified_at.is_none() && after.email_verified_at.is_some() {
            opened = self.leaving_the_sandbox(&after).await?;
        }
        let (org, raised) = match opened {
            Some((org, raised)) => (org, raised),
            None => (self.organization_of(after.id).await?.ok_or(Refusal::NotSignedIn)?.id, Vec::new()),
        };
        let mut changes = ChangeSet::new(org);
        changes.accounts.push(Change::UpdateUser { user: after, seen: before.version });
        changes.accounts.extend(raised);
        Ok(changes)
    }

    /// The organization that the user signed up, and the changes with which it leaves the sandbox. If the address was
    /// admitted from the waiting list, the organization takes the place of the one that waited.
    async fn leaving_the_sandbox(&self, proved: &User) -> Result<Option<(OrgId, Vec<Change>)>, StoreError> {
        let known = self.parts.store.find_by_email(&proved.email).await?;
        let admitted =
            |known: &&Organization| known.source == SignUpSource::Waitlist && known.waitlist == Waitlist::Active;
        let place = match known.as_ref().filter(admitted) {
            Some(place) if self.parts.store.owner_of(place.id).await?.is_none() => Some(place),
            _ => None,
        };
        let free = known.is_none() || place.is_some();
        let plan = place.map_or(self.parts.settings.sign_up_plan, |place| place.plan);
        let granted = (plan, place.and_then(|place| place.limit_overrides.as_ref()));
        for membership in self.parts.store.memberships_of(proved.id).await? {
            if membership.role != Role::Owner {
                continue;
            }
            let Some(seen) = self.parts.store.find_organization(membership.org).await? else { continue };
            if let Some(organization) = seen.with_proved_owner(&proved.email, free, granted, self.now()) {
                let (org, takes_place) = (seen.id, place.filter(|_| seen.email.is_none()));
                // The address first, because it belongs to one organization at a time.
                let left = takes_place.map(|place| Change::UpdateOrganization {
                    organization: place.without_email(),
                    seen: place.version,
                });
                let raised = Change::UpdateOrganization { organization, seen: seen.version };
                return Ok(Some((org, left.into_iter().chain([raised]).collect())));
            }
        }
        Ok(None)
    }

    /// Adds to `changes` a token with which the user proves the address, and the email that brings it.
    pub(crate) fn ask_for_proof(&self, user: &User, organization: &OrgName, changes: &mut ChangeSet) {
        let (token, now) = (MailedToken::generate(self.entropy()), self.now());
        let token_of_user = UserToken::issue(&token, TokenPurpose::Address, user.id, now);
        let page = format!("{}/verify#{}", self.parts.settings.console_url, token.reveal());
        let mail = letters::asks_for_proof(user, &Foreign::new(organization.as_str()), page, token_of_user.expires_at);
        changes.accounts.push(Change::PutUserToken(token_of_user));
        self.write_letter(&mail, About::address(user.id), now, changes);
    }

    /// Proves the address of the user to whom the token was mailed. Once the address is proved, the token changes
    /// nothing more, and gets the same answer.
    ///
    /// # Errors
    /// [`Refusal::Invalid`] for a token that is unknown, voided or expired; [`Refusal::EmailTaken`] if another user has
    /// proved the address.
    pub async fn verify_email(&self, request: &Request, token: &str) -> Result<Answered<wire::EmailVerified>, Refusal> {
        let token = TokenHash::of(token);
        let refused = || Refusal::from(FieldError::new("token", TokenPurpose::Address.refused()));
        retry_stale(|| async {
            let found = self.parts.store.find_user_token(TokenPurpose::Address, token).await?;
            let found = found.filter(|token| token.holds(self.now())).ok_or_else(refused)?;
            let before = self.parts.store.find_user(found.user).await?.ok_or_else(refused)?;
            if let Some(at) = before.email_verified_at {
                return Ok(Answered::shows(request, wire::EmailVerified::new(&before, at), None));
            }
            let now = self.now();
            let changes = self.changes_of(&before, before.proved(now)).await?;
            let answer = Answered::shows(request, wire::EmailVerified::new(&before, now), None);
            let subject = Subject { org: changes.org, agent: None, resource: before.id.to_string() };
            let prefix = Principal::user_prefix(before.id);
            unless_taken(self.commit(request, Some(&prefix), subject, changes, answer).await)
        })
        .await
    }

    /// What the token proves, for the user to see first. Nothing changes.
    ///
    /// # Errors
    /// As [`Self::verify_email`].
    pub async fn proof_of(&self, token: &str) -> Result<OwnProof, Refusal> {
        let refused = || Refusal::from(FieldError::new("token", TokenPurpose::Address.refused()));
        let found = self.parts.store.find_user_token(TokenPurpose::Address, TokenHash::of(token)).await?;
        let found = found.filter(|token| token.holds(self.now())).ok_or_else(refused)?;
        let user = self.parts.store.find_user(found.user).await?.ok_or_else(refused)?;
        if !user.holds_address && self.parts.store.find_user_by_email(&user.email).await?.is_some() {
            return Err(Refusal::EmailTaken);
        }
        // If the organization has just been deleted, so was the user, or they belong to another one.
        let organization = self.organization_of(user.id).await?.ok_or_else(refused)?;
        let is_proved = user.email_verified_at.is_some();
        Ok(OwnProof { email: user.email, organization: organization.name.as_str().to_owned(), is_proved })
    }

    /// The user, whose address a mailed token of another kind has just proved. The proof is committed on its own.
    ///
    /// # Errors
    /// As [`Self::changes_of`].
    pub(crate) async fn with_proof(&self, request: &Request, user: User) -> Result<User, Attempt> {
        if user.email_verified_at.is_some() {
            return Ok(user);
        }
        let proved = user.proved(self.now());
        let mut changes = self.changes_of(&user, proved.clone()).await?;
        let prefix = Principal::user_prefix(user.id);
        let by = By::Request { request, key_prefix: Some(&prefix) };
        let subject = Subject { org: changes.org, agent: None, resource: user.id.to_string() };
        changes.audit.push(self.audit_entry(Action::UserUpdate, subject, &by, request.operation.status, self.now()));
        unless_taken(self.commit_changes(changes).await)?;
        Ok(proved)
    }

    /// Mails the caller another link that proves their address, and voids the one before.
    ///
    /// # Errors
    /// [`Refusal::EmailTaken`] if another user has proved the address; [`Refusal::TooMany`] after five emails in an
    /// hour, or if the organization has used up its emails.
    pub async fn resend_proof(self: &Arc<Self>, actor: &Actor) -> Result<Answered<wire::ProofResent>, Refusal> {
        let (_, id) = human(actor)?;
        let user = self.user(id).await?;
        let answer = |message| Answered::shows(&actor.request, wire::ProofResent { message }, None);
        if user.email_verified_at.is_some() {
            return Ok(answer(PROVED_ALREADY));
        }
        if !user.holds_address && self.parts.store.find_user_by_email(&user.email).await?.is_some() {
            return Err(Refusal::EmailTaken);
        }
        self.allow(&Allowance::proofs(id)).await?;
        let organization = self.parts.store.find_organization(actor.org()).await?.ok_or(Refusal::NotSignedIn)?;
        retry_stale(|| async {
            let mut changes = ChangeSet::new(actor.org());
            self.ask_for_proof(&user, &organization.name, &mut changes);
            self.commit_for(actor, None, id.to_string(), changes, answer(RESENT)).await
        })
        .await
    }

    /// The changes that revoke every key, with those of agents, in the organizations that the user governs. A person
    /// who takes over an account does not know who has these keys.
    pub(crate) async fn revoking_keys_of(&self, user: UserId) -> Result<Vec<Change>, StoreError> {
        let governed = self.parts.store.memberships_of(user).await?.into_iter().filter(|one| one.role >= Role::Admin);
        Ok(governed.map(|membership| self.revoking_keys(membership.org)).collect())
    }

    /// The change that revokes every key of an organization, with those of its agents.
    pub(crate) fn revoking_keys(&self, org: OrgId) -> Change {
        Change::RevokeKeys { org, of_agents: true, at: self.now() }
    }

    /// Commits revocations in a change-set of `org`, and waits until no node accepts the keys. Until then, a request
    /// with one of them can make another one. So a takeover revokes twice: the second time once no node accepts the
    /// keys. Then the writes that wait with them are cancelled, for `user`, who takes over.
    pub(crate) async fn commit_revocations(
        &self,
        org: OrgId,
        revocations: Vec<Change>,
        (user, cause): (UserId, &By<'_>),
    ) -> Result<(), Attempt> {
        if revocations.is_empty() {
            return Ok(());
        }
        let revoked = revocations.iter().filter_map(|change| match change {
            Change::RevokeKeys { org, .. } => Some(*org),
            _ => None,
        });
        let revoked: Vec<OrgId> = revoked.collect();
        let mut changes = ChangeSet::new(org);
        changes.accounts = revocations;
        self.commit_changes(changes).await?;
        let by = Principal::user_prefix(user);
        for org in revoked {
            self.cancel_approvals_in(org, &by, cause).await;
        }
        Ok(())
    }
}

/// The outcome of a commit that proves an address. If a user or an organization took the address since it was looked
/// up, it is looked up again.
pub(crate) fn unless_taken<T>(outcome: Result<T, Attempt>) -> Result<T, Attempt> {
    match outcome {
        Err(Attempt::Refused(Refusal::EmailTaken)) => Err(Attempt::Stale),
        outcome => outcome,
    }
}
