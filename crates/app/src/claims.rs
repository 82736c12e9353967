//! Claims: a user becomes the owner of an organization that an agent signed up or the operator created.
//!
//! An initiation never reveals whether it found an organization: it does the same for every address, and sends the
//! email after the answer. A claim whose hold has ended takes effect when it is next read, by the duty that runs every
//! second or by its user. The effect is written once, even if several readers find the claim.

use std::time::Duration;

use futures::{StreamExt as _, stream};
use kalends_accounts::{
    Action, AddressHash, Allowance, AuditEntry, CLAIM_KEPT, CLAIM_REFUSED, CODE_LASTS, Change, Claim, ClaimError,
    ClaimState, Code, Email, MailedToken, Membership, Organization, Principal, RevokeError, Revoked, Rivals, Taken,
    claimable,
};
use kalends_kernel::{AuditId, ClaimId, FieldError, Foreign, Listed, OrgId, Page, RequestId, UserId};
use kalends_time::SignedDuration;
use kalends_wire::{AccountClaim, ClaimInitiated, ClaimRevoked};

use crate::{
    Actor, Answered, App, ChangeSet, Missing, Refusal, Request,
    attempt::{Attempt, retry_stale},
    audit::{By, Subject},
    console::human,
    letters,
    ports::MailError,
};

/// Every initiation gets the same message.
const MESSAGE: &str = "If an organization can be claimed with the address, a code is on its way there.";
/// The cause in the audit log.
const TAKES_EFFECT: &str = "claim takes effect";
/// How many claims take effect concurrently.
const TOGETHER: usize = 8;
/// How many claims of one user are settled before they are listed. The duty settles the rest.
const OWN: u32 = 50;
/// An organization that owns nothing. It is queried if there is no organization, so that each request runs the same
/// queries.
const NOBODY: OrgId = OrgId::from_bytes([0; 16]);
/// How long a request waits until the email about a claim is handed over.
const NOTICE_WITHIN: Duration = Duration::from_secs(15);

impl App {
    /// Initiates a claim on the organization with that address, and emails a code there. The answer is the same if
    /// there is none.
    ///
    /// # Errors
    /// [`Refusal::TooMany`] for a user who initiates too many claims, whatever addresses they name.
    pub async fn initiate_claim(&self, actor: &Actor, email: &Email) -> Result<Answered<ClaimInitiated>, Refusal> {
        let (_, user) = human(actor)?;
        self.allow(&Allowance::claims_of(user)).await?;
        let now = self.now();
        let id = ClaimId::new(now, self.entropy());
        let answer = || {
            let initiated = ClaimInitiated { claim_id: id, expires_at: now + CODE_LASTS, message: MESSAGE };
            Answered::shows(&actor.request, initiated, None)
        };
        // Above the limit of an address nothing more is sent there, and the answer does not say so.
        if let Taken::Refused { .. } = self.parts.store.take(&Allowance::claims_on(email), now).await? {
            return Ok(answer());
        }
        let address = AddressHash::of(email);
        let (answer, letter) = retry_stale(|| async {
            let found = self.parts.store.find_by_email(email).await?;
            let owner = self.parts.store.owner_of(found.as_ref().map_or(NOBODY, |found| found.id)).await?;
            let target = claimable(found.as_ref(), owner.is_some());
            let code = Code::generate(self.entropy());
            let claim = Claim::initiate(id, target.map(|target| target.id), user, address, &code, now);
            let mut changes = ChangeSet::new(actor.org());
            let earlier = self.parts.store.waiting_claim(user, address).await?;
            if let Some((seen, claim)) = earlier.and_then(|seen| Some((seen.version, seen.superseded(now)?))) {
                changes.accounts.push(Change::UpdateClaim { claim, seen });
            }
            changes.accounts.push(Change::CreateClaim(claim));
            let letter = target.map(|target| letters::claim_code(email, &Foreign::new(target.name.as_str()), &code));
            let answer = self.commit_for(actor, None, id.to_string(), changes, answer()).await?;
            Ok((answer, letter))
        })
        .await?;
        if let Some(letter) = letter {
            // Not awaited: the response time must not reveal that an email is sent.
            drop(self.post(letter));
        }
        Ok(answer)
    }

    /// Proves a claim with the code from the email. The claim is then on hold, and the organization's address gets an
    /// email that says how to revoke it.
    ///
    /// # Errors
    /// [`Refusal::Invalid`] for every failure of the code (wrong, expired, used up, superseded, or not of a claim of
    /// this user); [`Refusal::ClaimTaken`] if the code is right but another claim was faster;
    /// [`Refusal::Undelivered`] if the email to the organization cannot be sent, because without it nobody could
    /// object during the hold.
    pub async fn verify_claim(
        &self,
        actor: &Actor,
        claim: Option<ClaimId>,
        code: &Code,
    ) -> Result<Answered<AccountClaim>, Refusal> {
        let (_, user) = human(actor)?;
        let id = claim.unwrap_or(ClaimId::from_bytes([0; 16]));
        let token = MailedToken::generate(self.entropy());
        let outcome = retry_stale(|| async {
            let now = self.now();
            let stored = self.parts.store.find_claim(id).await?;
            let org = stored.and_then(|claim| claim.org).unwrap_or(NOBODY);
            // Read the held claim before the owner. When a held claim takes effect, its user becomes the owner, so at
            // least one of the two reads finds it.
            let held = self.parts.store.held_claim(org).await?.is_some();
            let owned = self.parts.store.owner_of(org).await?.is_some();
            let organization = self.parts.store.find_organization(org).await?;
            let mailbox = organization.as_ref().and_then(|organization| organization.email.as_ref());
            // An organization that is deleted, or has no address any more, cannot be claimed.
            let stored = stored.filter(|claim| claim.org.is_none() || mailbox.is_some());
            let verdict = Claim::verify(stored.as_ref(), id, user, code, Rivals { owned, held }, &token, now);
            match (verdict, stored, organization.as_ref().zip(mailbox)) {
                (Ok(proved), Some(stored), Some((organization, mailbox))) => {
                    self.notify_of_hold(organization, mailbox, &proved, &token).await?;
                    let mut changes = ChangeSet::new(actor.org());
                    changes.accounts.push(Change::UpdateClaim { claim: proved, seen: stored.version });
                    let answer = Answered::shows(&actor.request, AccountClaim::new(&proved, now), None);
                    let subject = Subject { org, agent: None, resource: org.to_string() };
                    let prefix = Some(actor.principal.key_prefix.as_str());
                    self.commit(&actor.request, prefix, subject, changes, answer).await.map(Ok)
                }
                (Err(ClaimError::Wrong { counted }), Some(stored), _) => {
                    // The attempt is counted before the answer, so that concurrent guesses are judged one after the
                    // other.
                    let mut changes = ChangeSet::new(actor.org());
                    changes.accounts.push(Change::UpdateClaim { claim: *counted.clone(), seen: stored.version });
                    self.parts.store.commit(changes).await.map_err(|error| self.refused_commit(error))?;
                    Ok(Err(ClaimError::Wrong { counted }))
                }
                (Err(error), ..) => Ok(Err(error)),
                (Ok(_), ..) => Ok(Err(ClaimError::Void)),
            }
        })
        .await;
        match outcome {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(ClaimError::Taken)) => Err(Refusal::ClaimTaken),
            // Also an attempt that was not judged, because of too many concurrent guesses.
            Ok(Err(ClaimError::Wrong { .. } | ClaimError::Void)) | Err(Refusal::Contended) => {
                self.note_sampled(actor, Action::AuthFailure, 400).await;
                Err(FieldError::new("otp", CLAIM_REFUSED).into())
            }
            Err(refusal) => Err(refusal),
        }
    }

    /// Emails the organization instructions for revoking the claim, before the hold begins.
    async fn notify_of_hold(
        &self,
        organization: &Organization,
        mailbox: &Email,
        proved: &Claim,
        token: &MailedToken,
    ) -> Result<(), Refusal> {
        let ClaimState::Held { until, .. } = proved.state else { return Ok(()) };
        let places = letters::Revocation {
            page: format!("{}/claims/{}/revoke#{}", self.parts.settings.console_url, proved.id, token.reveal()),
            route: format!("{}/v1/auth/claim/{}/revoke", self.parts.settings.base_url, proved.id),
            token,
        };
        let letter = letters::claim_held(mailbox, &Foreign::new(organization.name.as_str()), until, &places);
        let sent = tokio::time::timeout(NOTICE_WITHIN, self.parts.mailer.send(letter)).await;
        sent.unwrap_or_else(|late| Err(MailError::new(late))).map(drop).map_err(|error| {
            tracing::error!(error = &error as &dyn std::error::Error, "the email about a claim cannot be sent");
            Refusal::Undelivered
        })
    }

    /// Revokes a claim on hold for a caller with the token from the email. Revoking it again changes nothing.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] for an unknown claim or a wrong token, [`Refusal::ClaimOver`] after the hold.
    pub async fn revoke_claim(
        &self,
        request: &Request,
        id: &str,
        token: &str,
    ) -> Result<Answered<ClaimRevoked>, Refusal> {
        let missing = || Refusal::missing(Missing::Claim, id);
        let claim: ClaimId = id.parse().map_err(|_| missing())?;
        let answer = || Answered::shows(request, ClaimRevoked { claim_id: claim, status: "revoked" }, None);
        retry_stale(|| async {
            let seen = self.parts.store.find_claim(claim).await?.ok_or_else(missing)?;
            match (seen.revoke(token, self.now()), seen.org) {
                (Ok(Revoked::Now(revoked)), Some(org)) => {
                    let mut changes = ChangeSet::new(org);
                    changes.accounts.push(Change::UpdateClaim { claim: revoked, seen: seen.version });
                    let subject = Subject { org, agent: None, resource: org.to_string() };
                    self.commit(request, None, subject, changes, answer()).await
                }
                (Ok(Revoked::Before), _) => Ok(answer()),
                (Err(RevokeError::TooLate), _) => Err(Refusal::ClaimOver.into()),
                (Err(RevokeError::Unknown), _) | (Ok(Revoked::Now(_)), None) => Err(missing().into()),
            }
        })
        .await
    }

    /// The caller's claims, the oldest first. Claims whose hold has ended take effect before they are listed.
    ///
    /// # Errors
    /// [`Refusal::Store`].
    pub async fn list_claims(&self, actor: &Actor, page: Page) -> Result<Listed<AccountClaim>, Refusal> {
        let (_, user) = human(actor)?;
        self.settle_claims_of(user).await?;
        let now = self.now();
        Ok(self.parts.store.claims_of(user, page).await?.map(|claim| AccountClaim::new(&claim, now)))
    }

    /// The caller's newest claims that are on hold or wait for a code that has not expired, at most `limit`, the oldest
    /// of them first. Claims whose hold has ended take effect before they are listed. Claims whose code was tried too
    /// often are among them until it expires.
    ///
    /// # Errors
    /// [`Refusal::Store`].
    pub async fn unfinished_claims(&self, actor: &Actor, limit: u32) -> Result<Vec<AccountClaim>, Refusal> {
        let (_, user) = human(actor)?;
        let now = self.now();
        let mut found = self.parts.store.unfinished_claims(user, now, limit).await?;
        let is_due = |claim: &&Claim| claim.take_effect(false, now).is_some();
        let due: Vec<Claim> = found.iter().filter(is_due).copied().collect();
        if !due.is_empty() {
            self.settle(due).await?;
            found = self.parts.store.unfinished_claims(user, now, limit).await?;
        }
        Ok(found.iter().map(|claim| AccountClaim::new(claim, now)).collect())
    }

    /// Puts up to `limit` claims whose hold has ended into effect, and returns how many there were. Several nodes may
    /// do this at once.
    ///
    /// # Errors
    /// [`Refusal::Store`].
    pub async fn settle_claims(&self, limit: u32) -> Result<usize, Refusal> {
        self.settle(self.parts.store.due_claims(None, self.now(), limit).await?).await
    }

    /// Puts the claims of one user whose hold has ended into effect, so that the user sees the result.
    ///
    /// # Errors
    /// [`Refusal::Store`].
    pub(crate) async fn settle_claims_of(&self, user: UserId) -> Result<(), Refusal> {
        self.settle(self.parts.store.due_claims(Some(user), self.now(), OWN).await?).await.map(drop)
    }

    async fn settle(&self, due: Vec<Claim>) -> Result<usize, Refusal> {
        let found = due.len();
        let mut settled =
            stream::iter(due.into_iter().map(|claim| self.settle_one(claim.id))).buffer_unordered(TOGETHER);
        let mut outcome = Ok(found);
        while let Some(one) = settled.next().await {
            // An error with one claim must not stop the others.
            if let Err(refusal) = one {
                outcome = Err(refusal);
            }
        }
        outcome
    }

    async fn settle_one(&self, id: ClaimId) -> Result<(), Refusal> {
        self.lock_out_former_holder(id).await.map_err(Attempt::into_refusal)?;
        retry_stale(|| async {
            let now = self.now();
            let Some(seen) = self.parts.store.find_claim(id).await? else { return Ok(()) };
            let org = seen.org.unwrap_or(NOBODY);
            let user = self.parts.store.find_user(seen.user).await?;
            let owned = self.parts.store.owner_of(org).await?.is_some();
            let gone = user.is_none() || self.parts.store.find_organization(org).await?.is_none();
            // Nothing is left to do if another node was faster.
            let Some(claim) = seen.take_effect(owned || gone, now) else { return Ok(()) };
            let mut changes = ChangeSet::new(org);
            changes.accounts.push(Change::UpdateClaim { claim, seen: seen.version });
            if let (ClaimState::Effective { .. }, Some(user)) = (claim.state, user) {
                let membership = Membership::owner(user.id, org, now);
                changes.accounts.push(Change::AddOwner { membership, seen: user.version });
                changes.accounts.push(self.revoking_keys(org));
                changes.audit.push(self.takeover(org, user.id));
            }
            self.store_changes(changes).await.map_err(|error| self.refused_commit(error))?;
            self.refresh_principals().await;
            tracing::info!(%org, claim = %id, status = claim.status(now).as_str(), "the hold of a claim is over");
            Ok::<_, Attempt>(())
        })
        .await
    }

    /// Revokes the keys of the organization if the claim takes effect now: its former holder has seen them. The claim takes
    /// effect once no node accepts them, so none of them can make a key that the new owner does not know.
    async fn lock_out_former_holder(&self, id: ClaimId) -> Result<(), Attempt> {
        let Some(claim) = self.parts.store.find_claim(id).await? else { return Ok(()) };
        let Some(org) = claim.org else { return Ok(()) };
        let owned = self.parts.store.owner_of(org).await?.is_some();
        let gone = self.parts.store.find_organization(org).await?.is_none();
        match claim.take_effect(owned || gone, self.now()) {
            Some(Claim { state: ClaimState::Effective { .. }, .. }) => {
                let by = (claim.user, &By::Duty(TAKES_EFFECT));
                self.commit_revocations(org, vec![self.revoking_keys(org)], by).await
            }
            _ => Ok(()),
        }
    }

    /// The entry for the organization's audit log. No request caused it: the hold ended.
    fn takeover(&self, org: OrgId, by: UserId) -> AuditEntry {
        let now = self.now();
        AuditEntry {
            id: AuditId::new(now, self.entropy()),
            org,
            action: Action::OrgUpdate,
            actor_key_prefix: Some(Principal::user_prefix(by)),
            agent: None,
            resource: org.to_string(),
            ip: None,
            status: 200,
            method: "AUTO".to_owned(),
            path: TAKES_EFFECT.to_owned(),
            duration: SignedDuration::ZERO,
            request: RequestId::new(now, self.entropy()),
            created_at: now,
        }
    }

    /// Removes up to `limit` claims that were initiated more than [`CLAIM_KEPT`] ago and did not succeed, and returns
    /// whether that was all.
    ///
    /// # Errors
    /// [`Refusal::Store`].
    pub async fn forget_claims(&self, limit: u32) -> Result<bool, Refusal> {
        Ok(self.parts.store.forget_claims(self.now() - CLAIM_KEPT, limit).await? < u64::from(limit))
    }
}
