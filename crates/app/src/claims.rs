//! A human takes over an organization that an agent signed up, or that the operator made (ruling 3.11).
//!
//! What an initiation finds is told to nobody: it does the same for every address, and its mail leaves after the
//! answer. A claim on hold takes effect when somebody looks, the duty that looks every second or its human; it is
//! written once, however many look.

use futures::{StreamExt as _, stream};
use kalends_accounts::{
    Action, AddressHash, Allowance, AuditEntry, CLAIM_KEPT, CLAIM_REFUSED, CODE_LASTS, Change, Claim, ClaimError,
    ClaimState, Code, Email, Organization, Ownership, Principal, RevocationToken, RevokeError, Revoked, Rivals, Taken,
    claimable,
};
use kalends_kernel::{AuditId, ClaimId, FieldError, Foreign, Listed, OrgId, Page, RequestId, SignedDuration, UserId};
use kalends_wire::{AccountClaim, ClaimInitiated, ClaimRevoked};

use crate::{
    Actor, Answer, App, ChangeSet, Missing, Refusal, Request,
    app::{Attempt, Subject, json, retry_stale, shown},
    console::human,
    letters,
};

/// Every initiation is told the same.
const MESSAGE: &str = "If an organization can be claimed with the address, a code is on its way there.";
/// How many claims take effect at the same time.
const TOGETHER: usize = 8;
/// How many claims of one human are looked at before they are shown; what is more, the duty gets to.
const OWN: u32 = 50;
/// Whom nothing belongs to: asked for where there is nothing to ask for, so that each request asks the same.
const NOBODY: OrgId = OrgId::from_bytes([0; 16]);

impl App {
    /// Initiates a claim on the organization that stands for the address, and mails a code there.
    /// The answer is the same where there is none.
    ///
    /// # Errors
    /// [`Refusal::TooMany`] for a human who initiates too many, whatever they name.
    pub async fn initiate_claim(&self, actor: &Actor, email: &Email) -> Result<Answer, Refusal> {
        let (_, user) = human(actor)?;
        self.allow(&Allowance::claims_of(user)).await?;
        let now = self.now();
        let id = ClaimId::new(now, self.entropy());
        let told = ClaimInitiated { claim_id: id, expires_at: now + CODE_LASTS, message: MESSAGE };
        let answer = || shown(actor, &told, None);
        // Over the limit of an address nothing more is sent there, and nobody is told.
        if let Taken::Refused { .. } = self.store.take(&Allowance::claims_on(email), now).await? {
            return Ok(answer());
        }
        let address = AddressHash::of(email);
        let (answer, letter) = retry_stale(|| async {
            let found = self.store.find_by_email(email).await?;
            let owner = self.store.owner_of(found.as_ref().map_or(NOBODY, |found| found.id)).await?;
            let target = claimable(found.as_ref(), owner.is_some());
            let code = Code::generate(self.entropy());
            let claim = Claim::initiate(id, target.map(|target| target.id), user, address, &code, now);
            let mut changes = ChangeSet::new(actor.org());
            let earlier = self.store.waiting_claim(user, address).await?;
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
            // Not waited for: how long it takes must not tell that there is one.
            drop(self.post(letter));
        }
        Ok(answer)
    }

    /// Proves a claim with the code of the mail: it is on hold from now on, and the organization's address is told
    /// how to revoke it.
    ///
    /// # Errors
    /// [`Refusal::Invalid`] for every failure of the code (wrong, expired, burned, superseded, of no claim of this
    /// human), [`Refusal::ClaimTaken`] where it is right and another was faster, [`Refusal::Undelivered`] where the
    /// organization's address cannot be told: there is no hold to which nobody could object.
    pub async fn verify_claim(&self, actor: &Actor, claim: Option<ClaimId>, code: &Code) -> Result<Answer, Refusal> {
        let (_, user) = human(actor)?;
        let id = claim.unwrap_or(ClaimId::from_bytes([0; 16]));
        let token = RevocationToken::generate(self.entropy());
        let outcome = retry_stale(|| async {
            let now = self.now();
            let stored = self.store.find_claim(id).await?;
            let org = stored.and_then(|claim| claim.org).unwrap_or(NOBODY);
            // Who holds is asked before who owns: one of them stands when a claim goes from the one to the other.
            let held = self.store.held_claim(org).await?.is_some();
            let owned = self.store.owner_of(org).await?.is_some();
            let organization = self.store.find_organization(org).await?;
            let mailbox = organization.as_ref().and_then(|organization| organization.email.as_ref());
            // An organization that has gone, or reads no mail any more, cannot be claimed.
            let stored = stored.filter(|claim| claim.org.is_none() || mailbox.is_some());
            let verdict = Claim::verify(stored.as_ref(), id, user, code, Rivals { owned, held }, &token, now);
            match (verdict, stored, organization.as_ref().zip(mailbox)) {
                (Ok(proved), Some(stored), Some((organization, mailbox))) => {
                    self.tell_of_hold(organization, mailbox, &proved, &token).await?;
                    let mut changes = ChangeSet::new(actor.org());
                    changes.accounts.push(Change::UpdateClaim { claim: proved, seen: stored.version });
                    let answer = shown(actor, &AccountClaim::new(&proved, now), None);
                    let subject = Subject { org, agent: None, resource: org.to_string() };
                    let prefix = Some(actor.principal.key_prefix.as_str());
                    self.commit(&actor.request, prefix, subject, changes, answer).await.map(Ok)
                }
                (Err(ClaimError::Wrong { counted }), Some(stored), _) => {
                    // Counted before it is told, so that many guesses at once are judged one after the other.
                    let mut changes = ChangeSet::new(actor.org());
                    changes.accounts.push(Change::UpdateClaim { claim: *counted.clone(), seen: stored.version });
                    self.store.commit(changes).await.map_err(|error| self.refused_commit(error))?;
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
            // Also what was not judged, because too many guessed at once.
            Ok(Err(ClaimError::Wrong { .. } | ClaimError::Void)) | Err(Refusal::Contended) => {
                self.note_sampled(actor, Action::AuthFailure, 400).await;
                Err(FieldError::new("otp", CLAIM_REFUSED).into())
            }
            Err(refusal) => Err(refusal),
        }
    }

    /// Tells the organization's mailbox how to object, before the hold begins.
    async fn tell_of_hold(
        &self,
        organization: &Organization,
        mailbox: &Email,
        proved: &Claim,
        token: &RevocationToken,
    ) -> Result<(), Refusal> {
        let ClaimState::Held { until, .. } = proved.state else { return Ok(()) };
        let places = letters::Revocation {
            page: format!("{}/claims/{}/revoke#{}", self.settings.console_url, proved.id, token.reveal()),
            route: format!("{}/v1/auth/claim/{}/revoke", self.settings.base_url, proved.id),
            token,
        };
        let letter = letters::claim_held(mailbox, &Foreign::new(organization.name.as_str()), until, &places);
        self.mailer.send(letter).await.map_err(|error| {
            tracing::error!(error = &error as &dyn std::error::Error, "a claim waits for a mail that cannot be sent");
            Refusal::Undelivered
        })
    }

    /// Revokes a claim on hold on behalf of whoever has the token of the mail. A second time changes nothing.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] for an unknown claim or another token, [`Refusal::ClaimOver`] after the hold.
    pub async fn revoke_claim(&self, request: &Request, id: &str, token: &str) -> Result<Answer, Refusal> {
        let missing = || Refusal::missing(Missing::Claim, id);
        let claim: ClaimId = id.parse().map_err(|_| missing())?;
        let answer = || {
            let body = json(&ClaimRevoked { claim_id: claim, status: "revoked" });
            Answer { status: request.operation.status, body: Some(body), version: None }
        };
        retry_stale(|| async {
            let seen = self.store.find_claim(claim).await?.ok_or_else(missing)?;
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

    /// The caller's claims, the oldest first. Those whose hold is over take effect before they are shown.
    ///
    /// # Errors
    /// [`Refusal::Store`].
    pub async fn list_claims(&self, actor: &Actor, page: Page) -> Result<Listed<AccountClaim>, Refusal> {
        let (_, user) = human(actor)?;
        self.settle_claims_of(user).await?;
        let now = self.now();
        Ok(self.store.claims_of(user, page).await?.map(|claim| AccountClaim::new(&claim, now)))
    }

    /// Lets up to `limit` claims take effect whose hold is over, whichever node gets to it first, and says how many
    /// there were.
    ///
    /// # Errors
    /// [`Refusal::Store`].
    pub async fn settle_claims(&self, limit: u32) -> Result<usize, Refusal> {
        self.settle(self.store.due_claims(None, self.now(), limit).await?).await
    }

    /// Lets the claims of one human take effect whose hold is over, so that whoever looks finds them so.
    ///
    /// # Errors
    /// [`Refusal::Store`].
    pub(crate) async fn settle_claims_of(&self, user: UserId) -> Result<(), Refusal> {
        self.settle(self.store.due_claims(Some(user), self.now(), OWN).await?).await.map(drop)
    }

    async fn settle(&self, due: Vec<Claim>) -> Result<usize, Refusal> {
        let found = due.len();
        let mut settled =
            stream::iter(due.into_iter().map(|claim| self.settle_one(claim.id))).buffer_unordered(TOGETHER);
        let mut outcome = Ok(found);
        while let Some(one) = settled.next().await {
            // What cannot be done for one is no reason to leave the others.
            if let Err(refusal) = one {
                outcome = Err(refusal);
            }
        }
        outcome
    }

    async fn settle_one(&self, id: ClaimId) -> Result<(), Refusal> {
        retry_stale(|| async {
            let now = self.now();
            let Some(seen) = self.store.find_claim(id).await? else { return Ok(()) };
            let org = seen.org.unwrap_or(NOBODY);
            let user = self.store.find_user(seen.user).await?;
            let owned = self.store.owner_of(org).await?.is_some();
            let gone = user.is_none() || self.store.find_organization(org).await?.is_none();
            // Whoever was faster left nothing to do.
            let Some(claim) = seen.take_effect(owned || gone, now) else { return Ok(()) };
            let mut changes = ChangeSet::new(org);
            changes.accounts.push(Change::UpdateClaim { claim, seen: seen.version });
            if let (ClaimState::Effective { .. }, Some(user)) = (claim.state, user) {
                let ownership = Ownership { user: user.id, org, since: now };
                changes.accounts.push(Change::AddOwner { ownership, seen: user.version });
                changes.audit = Some(self.takeover(org, user.id));
            }
            self.store.commit(changes).await.map_err(|error| self.refused_commit(error))?;
            tracing::info!(%org, claim = %id, status = claim.status(now).as_str(), "the hold of a claim is over");
            Ok::<_, Attempt>(())
        })
        .await
    }

    /// The entry of the organization's log: nobody asked for it, the hold was over.
    fn takeover(&self, org: OrgId, by: UserId) -> AuditEntry {
        let now = self.now();
        AuditEntry {
            id: AuditId::new(now, self.entropy()),
            org,
            action: Action::OrgUpdate,
            actor_key_prefix: Some(Principal::shown_of(by)),
            agent: None,
            resource: org.to_string(),
            ip: None,
            status: 200,
            method: "AUTO".to_owned(),
            path: "claim takes effect".to_owned(),
            duration: SignedDuration::ZERO,
            request: RequestId::new(now, self.entropy()),
            created_at: now,
        }
    }

    /// Forgets up to `limit` claims that came to nothing long ago, and says whether that was all.
    ///
    /// # Errors
    /// [`Refusal::Store`].
    pub async fn forget_claims(&self, limit: u32) -> Result<bool, Refusal> {
        Ok(self.store.forget_claims(self.now() - CLAIM_KEPT, limit).await? < u64::from(limit))
    }
}
