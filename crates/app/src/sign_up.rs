//! An agent signs itself up and verifies its email address.

use std::{sync::Arc, time::Duration};

use kalends_accounts::{
    Action, Change as AccountChange, Code, NewSignUp, Organization, SignedUp, VerificationCode, VerifyError, sign_up,
    verify,
};
use kalends_calendars::{Agent, AgentType, Change, NewAgent};
use kalends_kernel::{AgentId, FieldError, Foreign, Metadata, OrgId};
use kalends_notifications::EventType;
use kalends_wire::CheckedSignUp;
use tokio::task::JoinHandle;
use tracing::Instrument as _;

use crate::{
    Actor, Answered, App, ChangeSet, Missing, Refusal, Request,
    attempt::{Attempt, retry_stale},
    audit::Subject,
    letters,
    ports::Mail,
};

/// How long a sign-up waits until its email is accepted.
const MAIL_WAIT: Duration = Duration::from_secs(5);
/// Every sign-up gets the same message, so that the answer does not reveal which addresses are known.
const MESSAGE: &str = "If the address can receive mail, a message with the next step is on its way.";

impl App {
    /// Signs up an agent: creates a new organization in the sandbox with its first agent and key, and emails a code.
    /// For a known address the answer contains only a message, and the owner of the address gets an email.
    ///
    /// # Errors
    /// [`Refusal::SignUpClosed`], [`Refusal::StaleTerms`], [`Refusal::TooMany`] for a mail domain that signs up too often, [`Refusal::Store`].
    pub async fn sign_up(
        &self,
        request: &Request,
        new: CheckedSignUp,
    ) -> Result<Answered<kalends_wire::SignUpAnswer>, Refusal> {
        // Agents hold no invitations.
        if !self.parts.settings.sign_ups.admits(false) {
            return Err(Refusal::SignUpClosed);
        }
        let acceptance = self.parts.settings.terms.accept(&new.tos_version, self.now())?;
        // Each call counts, whatever its outcome, so that the limit does not reveal which addresses are known.
        self.allow(&self.sign_ups(&new.email, request)).await?;
        let new = NewSignUp { email: new.email, agent_name: new.agent_name, acceptance };
        let (answer, mail) = retry_stale(|| async {
            match self.parts.store.find_by_email(&new.email).await? {
                Some(known) => match self.sign_up_again(request, &known, &new).await {
                    // It was deleted since the lookup, and the address is free again.
                    Err(Attempt::Refused(Refusal::Unauthorized)) => Err(Attempt::Stale),
                    outcome => outcome,
                },
                None => match self.sign_up_first(request, &new).await {
                    // Another request signed up with the address since the lookup.
                    Err(Attempt::Refused(Refusal::EmailTaken)) => Err(Attempt::Stale),
                    outcome => outcome,
                },
            }
        })
        .await?;
        self.send(mail).await;
        Ok(answer)
    }

    /// Sends an email in a separate task, and waits for it up to [`MAIL_WAIT`]. The email goes out even if the caller
    /// stops waiting. A failure is logged, and repeating the request sends another email.
    pub(crate) async fn send(&self, mail: Mail) {
        // A slow mail server must not keep the caller from the key, which is only shown once.
        if tokio::time::timeout(MAIL_WAIT, self.post(mail)).await.is_err() {
            tracing::warn!("the mail server is slow; a request is answered before its email is sent");
        }
    }

    /// Sends an email without waiting for it. A failure is logged.
    pub(crate) fn post(&self, mail: Mail) -> JoinHandle<()> {
        let mailer = Arc::clone(&self.parts.mailer);
        let mailing = async move {
            if let Err(error) = mailer.send(mail).await {
                tracing::error!(error = &error as &dyn std::error::Error, "an email could not be sent");
            }
        };
        tokio::spawn(mailing.instrument(tracing::error_span!("mail")))
    }

    async fn sign_up_first(
        &self,
        request: &Request,
        new: &NewSignUp,
    ) -> Result<(Answered<kalends_wire::SignUpAnswer>, Mail), Attempt> {
        let now = self.now();
        let id = OrgId::new(now, self.entropy());
        let SignedUp { organization, key, code } = sign_up(id, new, now, self.entropy());
        let agent = Agent::create(
            AgentId::new(now, self.entropy()),
            id,
            NewAgent {
                name: new.agent_name.clone(),
                kind: AgentType::Ai,
                description: None,
                metadata: Metadata::default(),
            },
            now,
        );
        let body = kalends_wire::SignUpAnswer::New(kalends_wire::SignedUp {
            org_id: id,
            agent_id: agent.id,
            api_key: key.text.clone(),
            message: MESSAGE.into(),
        });
        let mut changes = ChangeSet::new(id);
        changes.accounts = vec![
            AccountChange::CreateOrganization(organization),
            AccountChange::CreateKey(key.key),
            AccountChange::PutCode { code: VerificationCode::issue(id, &code, None, now), seen: None },
            AccountChange::RecordAcceptance { org: id, acceptance: new.acceptance.clone() },
        ];
        changes.calendars.push(Change::CreateAgent(agent.clone()));
        let (agent_id, version) = (agent.id, agent.version);
        let resource = kalends_wire::Agent::from(agent);
        changes.messages.push(self.message(id, EventType::AgentCreated, &resource, version, now));
        let answer = Answered::shows(request, body, None);
        let subject = Subject { org: id, agent: Some(agent_id), resource: id.to_string() };
        let answer = self.commit(request, None, subject, changes, answer).await?;
        Ok((answer, letters::verification_code(&new.email, &Foreign::new(&new.agent_name), &code)))
    }

    async fn sign_up_again(
        &self,
        request: &Request,
        known: &Organization,
        new: &NewSignUp,
    ) -> Result<(Answered<kalends_wire::SignUpAnswer>, Mail), Attempt> {
        let body = kalends_wire::SignUpAnswer::Known(kalends_wire::SignUpExisting { message: MESSAGE.into() });
        let answer = Answered::shows(request, body, None);
        let subject = || Subject { org: known.id, agent: None, resource: known.id.to_string() };
        if !known.awaits_code() {
            // Only the audit log and the stored answer change.
            let answer = self.commit(request, None, subject(), ChangeSet::new(known.id), answer).await?;
            return Ok((answer, letters::already_known(&new.email, &Foreign::new(&new.agent_name))));
        }
        let seen = self.parts.store.find_code(known.id).await?.map(|code| code.version);
        let code = Code::generate(self.entropy());
        let mut changes = ChangeSet::new(known.id);
        let fresh = VerificationCode::issue(known.id, &code, seen, self.now());
        changes.accounts.push(AccountChange::PutCode { code: fresh, seen });
        let answer = self.commit(request, None, subject(), changes, answer).await?;
        Ok((answer, letters::verification_code(&new.email, &Foreign::new(&new.agent_name), &code)))
    }

    /// Verifies the caller's organization with the emailed code: the sandbox limits are lifted, and the key stays the
    /// same.
    ///
    /// # Errors
    /// [`Refusal::Invalid`] for every failure (wrong, expired or used up code, or no code expected).
    pub async fn verify(&self, actor: &Actor, code: &Code) -> Result<Answered<kalends_wire::Verified>, Refusal> {
        let outcome = retry_stale(|| async {
            let missing = || Refusal::missing(Missing::Organization, &actor.org().to_string());
            let organization = self.parts.store.find_organization(actor.org()).await?.ok_or_else(missing)?;
            let stored = self.parts.store.find_code(actor.org()).await?;
            let mut changes = ChangeSet::new(actor.org());
            match verify(&organization, stored.as_ref(), code, self.parts.settings.sign_up_plan, self.now()) {
                Ok((verified, used_up)) => {
                    let plan = verified.plan.public_name();
                    let code_seen = stored.as_ref().map(|code| code.version);
                    changes.accounts.push(AccountChange::PutCode { code: used_up, seen: code_seen });
                    changes
                        .accounts
                        .push(AccountChange::UpdateOrganization { organization: verified, seen: organization.version });
                    let message = format!("The address is verified: the limits of the {plan} plan apply now.").into();
                    let answer =
                        Answered::shows(&actor.request, kalends_wire::Verified { verified: true, message }, None);
                    let resource = actor.org().to_string();
                    self.commit_for(actor, None, resource, changes, answer).await.map(Ok)
                }
                Err(VerifyError::Wrong { counted, left }) => {
                    // The attempt is counted before it is refused, so that parallel requests cannot guess codes: all
                    // but one of them become stale and start over.
                    let seen = stored.map(|code| code.version);
                    changes.accounts.push(AccountChange::PutCode { code: counted.clone(), seen });
                    match self.parts.store.commit(changes).await {
                        Ok(()) => Ok(Err(VerifyError::Wrong { counted, left })),
                        Err(crate::ports::CommitError::Stale) => Err(Attempt::Stale),
                        Err(error) => Err(self.refused_commit(error)),
                    }
                }
                Err(error @ (VerifyError::AlreadyVerified | VerifyError::Void)) => Ok(Err(error)),
            }
        })
        .await;
        match outcome {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(error)) => {
                self.note_sampled(actor, Action::AuthFailure, 400).await;
                Err(FieldError::new("otp", error.to_string()).into())
            }
            // Every failure looks the same to the caller, including too many concurrent guesses.
            Err(Refusal::Contended) => {
                Err(FieldError::new("otp", "too many attempts at the same time; try again").into())
            }
            Err(refusal) => Err(refusal),
        }
    }
}
