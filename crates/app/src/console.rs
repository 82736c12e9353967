//! Users in the console: they sign up, sign in and out, change their password, and switch between their
//! organizations.

use std::sync::Arc;

use kalends_accounts::{
    Account, Action, AddressStanding, Change, Email, FactorUse, Founding, Membership, NewAccount, OrgName, Password,
    PasswordHash, Principal, SecondStep, Session, SessionEnd, SignUpError, SignedIn, User, UserName, WrongCode,
    open_account,
};
use kalends_kernel::{FieldError, OrgId, SessionId, UserId};
use kalends_wire as wire;
use tracing::Instrument as _;
use wire::CheckedConsoleSignUp;

use crate::{
    Actor, Answered, App, ChangeSet, Missing, Refusal, Request,
    attempt::{Attempt, retry_stale},
    audit::{By, Subject},
    letters,
    ports::Verdict,
};

/// The credentials of someone who wants to sign in.
#[derive(Debug, Clone)]
pub struct Entrant {
    /// The address.
    pub email: Email,
    /// The password to try; `None` if no account can have it.
    pub password: Option<Password>,
    /// The code of the second factor to try, if there is one.
    pub code: Option<String>,
}

/// An answer that begins a session.
#[derive(Debug, Clone)]
pub struct SessionBegun<T> {
    /// The answer.
    pub answered: Answered<T>,
    /// The session's token, for the cookie.
    pub token: String,
}

impl App {
    /// Signs up a user. Creates the user, an organization that they own, its key, and a session.
    ///
    /// # Errors
    /// [`Refusal::SignUpClosed`]; [`Refusal::Invalid`] and [`Refusal::Member`] for an invitation that cannot be accepted
    /// with the address; [`Refusal::StaleTerms`]; [`Refusal::TooMany`] for a mail domain that signs up too often;
    /// [`Refusal::EmailTaken`] for an address that another user holds; [`Refusal::Waitlisted`] for an address on the
    /// waiting list; [`Refusal::Credentials`].
    pub async fn console_sign_up(
        &self,
        request: &Request,
        new: CheckedConsoleSignUp,
    ) -> Result<SessionBegun<wire::ConsoleSignedUp>, Refusal> {
        let is_invited = self.check_invited(new.invitation_token.as_deref(), &new.email).await?;
        if !self.parts.settings.sign_ups.admits(is_invited) {
            return Err(Refusal::SignUpClosed);
        }
        let acceptance = self.parts.settings.terms.accept(&new.tos_version, self.now())?;
        // Each call counts, whatever its outcome.
        self.allow_person(&new.email, request).await?;
        // Checked before the costly hash. The change-set decides.
        self.check_free(&new.email).await?;
        let password = self.parts.passwords.hash(new.password).await?;
        let new = NewAccount {
            email: new.email,
            standing: self.address_standing(is_invited),
            name: new.name,
            org_name: new.org_name,
            password: Some(password),
            acceptance,
            plan: self.parts.settings.sign_up_plan,
        };
        retry_stale(|| async {
            self.check_free(&new.email).await?;
            match self.open_account(request, &new).await {
                // A user or an organization took the address since it was looked up.
                Err(Attempt::Refused(Refusal::EmailTaken)) => Err(Attempt::Stale),
                outcome => outcome,
            }
        })
        .await
    }

    async fn check_free(&self, email: &Email) -> Result<(), Refusal> {
        match self.parts.store.find_user_by_email(email).await? {
            Some(_) => Err(Refusal::EmailTaken),
            None => Ok(()),
        }
    }

    /// The account of a new user, and the changes that create it, with the first session and the request for a proof of
    /// the address. They do not create the key, which only a caller that shows it can use.
    ///
    /// # Errors
    /// [`Refusal::Waitlisted`].
    pub(crate) async fn changes_of_sign_up(&self, new: &NewAccount) -> Result<(Account, ChangeSet), Refusal> {
        let known = self.parts.store.find_by_email(&new.email).await?;
        let owned = match &known {
            Some(known) => self.parts.store.owner_of(known.id).await?.is_some(),
            None => false,
        };
        let known = known.as_ref().map(|known| (known, owned));
        let account =
            open_account(known, new, self.now(), self.entropy()).map_err(|SignUpError::Waiting| Refusal::Waitlisted)?;
        let organization = account.founding.organization();
        let (org, seen) = (organization.id, account.user.version);
        let mut changes = ChangeSet::new(org);
        changes.accounts = vec![
            Change::CreateUser(account.user.clone()),
            match account.founding.clone() {
                Founding::New(organization) => Change::CreateOrganization(organization),
                Founding::LetIn { organization, seen } => Change::UpdateOrganization { organization, seen },
            },
            Change::AddOwner { membership: account.membership, seen },
            // Adding the membership raised the user's version.
            Change::CreateSession { session: account.session, seen: seen.next() },
            Change::RecordAcceptance { org, acceptance: new.acceptance.clone() },
        ];
        if new.standing == AddressStanding::Stated {
            self.ask_for_proof(&account.user, &organization.name, &mut changes);
        }
        Ok((account, changes))
    }

    async fn open_account(
        &self,
        request: &Request,
        new: &NewAccount,
    ) -> Result<SessionBegun<wire::ConsoleSignedUp>, Attempt> {
        let (account, mut changes) = self.changes_of_sign_up(new).await?;
        let token = self.token_of(&account.session)?;
        let organization = account.founding.organization();
        let org = organization.id;
        let body = wire::ConsoleSignedUp {
            org: organization.into(),
            user: wire::User::new(&account.user, false),
            api_key: account.key.text.clone(),
        };
        let answer = Answered::shows(request, body, None);
        let prefix = Principal::user_prefix(account.user.id);
        changes.accounts.push(Change::CreateKey(account.key.key));
        let subject = Subject { org, agent: None, resource: org.to_string() };
        let answered = self.commit(request, Some(&prefix), subject, changes, answer).await?;
        Ok(SessionBegun { answered, token })
    }

    /// Signs in a user, to the organization that they have belonged to longest.
    ///
    /// # Errors
    /// [`Refusal::WrongPassword`], also for an address that no user has; [`Refusal::TooFast`] after too many wrong
    /// passwords, whether or not this one is right; [`Refusal::Credentials`]. Only after a right password:
    /// [`Refusal::SecondFactorRequired`] if the second factor is on and there is no code;
    /// [`Refusal::SecondFactorWrong`]; [`Refusal::TooMany`] after ten wrong codes in an hour, whether or not this one is
    /// right.
    pub async fn sign_in(
        self: &Arc<Self>,
        request: &Request,
        entrant: &Entrant,
    ) -> Result<SessionBegun<wire::SignedIn>, Refusal> {
        // Before the password is checked: a check costs as much as a hash.
        let gate = self.pace_attempt(&entrant.email).await?;
        let outcome = self.check_and_let_in(request, entrant).await;
        if !matches!(outcome, Err(Refusal::WrongPassword)) {
            gate.give_back().await;
        }
        outcome
    }

    async fn check_and_let_in(
        self: &Arc<Self>,
        request: &Request,
        entrant: &Entrant,
    ) -> Result<SessionBegun<wire::SignedIn>, Refusal> {
        let Some(password) = &entrant.password else { return Err(Refusal::WrongPassword) };
        retry_stale(|| async {
            let accounts = self.accounts_of(&entrant.email).await?;
            if accounts.is_empty() {
                // Takes as long as for a known address.
                self.parts.passwords.verify(password.clone(), None).await.map_err(Refusal::from)?;
            }
            for user in accounts {
                let verdict = self.parts.passwords.verify(password.clone(), user.password.clone()).await;
                match verdict.map_err(Refusal::from)? {
                    Verdict::Right { outdated } => {
                        let fresh =
                            if outdated { Some(self.parts.passwords.hash(password.clone()).await?) } else { None };
                        return self.let_in(request, user, fresh, entrant.code.as_deref()).await;
                    }
                    Verdict::Wrong => self.note_failed_sign_in(request, user.id),
                }
            }
            Err(Refusal::WrongPassword.into())
        })
        .await
    }

    /// Continues a sign-in on a page with a code, after [`Refusal::SecondFactorRequired`].
    ///
    /// # Errors
    /// [`Refusal::NotSignedIn`] if the token has expired, or the user has changed since; for the code as
    /// [`Self::sign_in`].
    pub async fn finish_sign_in(
        self: &Arc<Self>,
        request: &Request,
        token: &str,
        code: &str,
    ) -> Result<SessionBegun<wire::SignedIn>, Refusal> {
        let step = self.parts.tokens.read(token).and_then(|claims| SecondStep::read(&claims, self.now()));
        let step = step.ok_or(Refusal::NotSignedIn)?;
        retry_stale(|| async {
            let user = self.user(step.user).await?;
            // Somebody else may have proved the address since.
            let mut accounts = self.accounts_of(&user.email).await?.into_iter();
            let user = accounts.find(|user| (user.id, user.version) == (step.user, step.version));
            self.let_in(request, user.ok_or(Refusal::NotSignedIn)?, None, Some(code)).await
        })
        .await
    }

    async fn let_in(
        self: &Arc<Self>,
        request: &Request,
        user: User,
        rehashed: Option<PasswordHash>,
        code: Option<&str>,
    ) -> Result<SessionBegun<wire::SignedIn>, Attempt> {
        let user_id = user.id;
        let Some(organization) = self.organization_of(user_id).await? else {
            // Should not happen: a user is deleted together with their last organization.
            tracing::error!(user = %user_id, "a user belongs to no organization and cannot sign in");
            return Err(Refusal::WrongPassword.into());
        };
        let (org, now) = (organization.id, self.now());
        let mut changes = ChangeSet::new(org);
        let subject = || Subject { org, agent: None, resource: user_id.to_string() };
        let prefix = Principal::user_prefix(user_id);
        let factor = self.second_factor_in_force(user_id).await?;
        let mut codes_left = None;
        if let Some(factor) = &factor {
            let Some(code) = code else { return Err(self.ask_for_code(org, &user, rehashed).await?.into()) };
            let used = match self.try_factor(&user, factor, code).await? {
                Ok(used) => used,
                Err(WrongCode) => {
                    self.note_failed_sign_in(request, user_id);
                    return Err(Refusal::SecondFactorWrong.into());
                }
            };
            changes.accounts.push(Self::using(factor, used));
            if let FactorUse::Recovery(_) = used {
                codes_left = Some(factor.recovery.len().saturating_sub(1));
                let by = By::Request { request, key_prefix: Some(&prefix) };
                let status = request.operation.status;
                changes.audit.push(self.audit_entry(Action::AuthRecoveryCode, subject(), &by, status, now));
            }
        }
        let session = Session::begin(user_id, Some(org), now, self.entropy());
        let token = self.token_of(&session)?;
        let mut user = user;
        if let Some(hash) = rehashed {
            let seen = user.version;
            user = user.with_password(hash, now);
            changes.accounts.push(Change::UpdateUser { user: user.clone(), seen });
        }
        changes.accounts.push(Change::CreateSession { session, seen: user.version });
        let shown = wire::User::new(&user, factor.is_some());
        let body = wire::SignedIn { token: token.clone(), user: shown, org: (&organization).into() };
        let answer = Answered::shows(request, body, None);
        let answered = self.commit(request, Some(&prefix), subject(), changes, answer).await?;
        if let Some(left) = codes_left {
            self.report(&user, letters::recovery_code_used(&user.email, left, &self.parts.settings.console_url));
        }
        Ok(SessionBegun { answered, token })
    }

    /// The refusal of a sign-in that needs a code. An outdated hash is replaced already now, because the page sends the code
    /// without the password.
    async fn ask_for_code(&self, org: OrgId, user: &User, rehashed: Option<PasswordHash>) -> Result<Refusal, Attempt> {
        let Some(hash) = rehashed else { return Ok(Refusal::SecondFactorRequired(self.second_step(user)?)) };
        let after = user.with_password(hash, self.now());
        let step = self.second_step(&after)?;
        let mut changes = ChangeSet::new(org);
        changes.accounts.push(Change::UpdateUser { user: after, seen: user.version });
        self.store_changes(changes).await.map_err(|error| self.refused_commit(error))?;
        Ok(Refusal::SecondFactorRequired(step))
    }

    /// Records that a wrong password or code was tried for a user. The answer does not wait for this, so that it takes as
    /// long as for an unknown address.
    fn note_failed_sign_in(self: &Arc<Self>, request: &Request, user: UserId) {
        let (app, request) = (Arc::clone(self), request.clone());
        let noting = async move {
            match app.organization_of(user).await {
                Ok(Some(organization)) => {
                    app.note_sampled_of(
                        &request,
                        organization.id,
                        Action::AuthFailure,
                        &Principal::user_prefix(user),
                        401,
                    )
                    .await;
                }
                Ok(None) => {}
                Err(error) => {
                    tracing::warn!(error = &error as &dyn std::error::Error, "an audit entry could not be written");
                }
            }
        };
        tokio::spawn(noting.instrument(tracing::error_span!("note_refusal")));
    }

    /// Ends the caller's session.
    ///
    /// # Errors
    /// [`Refusal::Store`].
    pub async fn sign_out(&self, actor: &Actor) -> Result<Answered<()>, Refusal> {
        let (session, user) = human(actor)?;
        let mut changes = ChangeSet::new(actor.org());
        changes.accounts.push(Change::EndSessions { end: SessionEnd::SignOut(session), at: self.now() });
        let answer = Answered::nothing(&actor.request);
        self.commit_for(actor, None, user.to_string(), changes, answer).await.map_err(Attempt::into_refusal)
    }

    /// The signed-in user and the organization of the session.
    ///
    /// # Errors
    /// [`Refusal::NotSignedIn`] for a key.
    pub async fn me(&self, actor: &Actor) -> Result<wire::Me, Refusal> {
        let SignedIn { user, organization, role, .. } = actor.signed_in()?;
        let second_factor = self.has_second_factor(user.id).await?;
        Ok(wire::Me::new(user, second_factor, organization, *role))
    }

    /// Changes the caller's name.
    ///
    /// # Errors
    /// [`Refusal::NotSignedIn`] if the user or the organization has just been deleted.
    pub async fn update_me(&self, actor: &Actor, name: UserName) -> Result<Answered<wire::Me>, Refusal> {
        retry_stale(|| async {
            let (_, user) = human(actor)?;
            let before = self.user(user).await?;
            let SignedIn { organization, role, .. } = actor.signed_in()?;
            let after = before.named(name.clone(), self.now());
            let second_factor = self.has_second_factor(user).await?;
            let me = wire::Me::new(&after, second_factor, organization, *role);
            let answer = Answered::shows(&actor.request, me, None);
            let mut changes = ChangeSet::new(actor.org());
            changes.accounts.push(Change::UpdateUser { user: after, seen: before.version });
            self.commit_for(actor, None, user.to_string(), changes, answer).await
        })
        .await
    }

    /// Changes the caller's password. All of their sessions end, and a new one begins.
    ///
    /// # Errors
    /// [`Refusal::Invalid`] if the current password is wrong; [`Refusal::TooFast`] after too many wrong ones;
    /// [`Refusal::Credentials`].
    pub async fn change_password(
        &self,
        actor: &Actor,
        current: Option<Password>,
        new: Password,
    ) -> Result<SessionBegun<()>, Refusal> {
        let (_, user) = human(actor)?;
        // The holder of a session could guess passwords here as at sign-in, so both count together.
        let gate = self.pace_attempt(&self.user(user).await?.email).await?;
        let outcome = retry_stale(|| async {
            let before = self.user(user).await?;
            let Some(current) = &current else { return Ok(None) };
            let verdict = self.parts.passwords.verify(current.clone(), before.password.clone()).await?;
            if verdict == Verdict::Wrong {
                return Ok(None);
            }
            let hash = self.parts.passwords.hash(new.clone()).await?;
            let now = self.now();
            let after = before.with_password(hash, now);
            let session = Session::begin(user, Some(actor.org()), now, self.entropy());
            let token = self.token_of(&session)?;
            let mut changes = ChangeSet::new(actor.org());
            let after_version = after.version;
            changes.accounts = vec![
                Change::UpdateUser { user: after, seen: before.version },
                Change::EndSessions { end: SessionEnd::PasswordChange { user, keep: None }, at: now },
                Change::CreateSession { session, seen: after_version },
            ];
            let answered =
                self.commit_for(actor, None, user.to_string(), changes, Answered::nothing(&actor.request)).await?;
            Ok(Some(SessionBegun { answered, token }))
        })
        .await;
        if !matches!(outcome, Ok(None)) {
            gate.give_back().await;
        }
        match outcome? {
            Some(begun) => Ok(begun),
            None => {
                self.note_sampled(actor, Action::AuthFailure, 400).await;
                Err(FieldError::new("current_password", "is not the current password").into())
            }
        }
    }

    /// The organizations that the caller belongs to.
    ///
    /// # Errors
    /// [`Refusal::Store`].
    pub async fn own_orgs(&self, actor: &Actor) -> Result<wire::OwnOrgs, Refusal> {
        let (_, user) = human(actor)?;
        // Due claims take effect first, so that the list includes them.
        self.settle_claims_of(user).await?;
        let own = self.parts.store.organizations_of(user).await?.into_iter();
        let own = own.map(|(Membership { org, role, since, .. }, organization)| {
            let (active, role) = (org == actor.org(), role.as_str());
            wire::OwnOrg { org: (&organization).into(), role, member_since: since, active }
        });
        Ok(wire::OwnOrgs { orgs: own.collect() })
    }

    /// Renames the organization of the session. If two requests rename it at the same time, the later name stays. If it has
    /// the name already, nothing happens: there is no audit entry.
    ///
    /// # Errors
    /// [`Refusal::NotSignedIn`] if the organization has just been deleted.
    pub async fn update_org(&self, actor: &Actor, name: OrgName) -> Result<Answered<wire::Org>, Refusal> {
        retry_stale(|| async {
            let before = self.parts.store.find_organization(actor.org()).await?.ok_or(Refusal::NotSignedIn)?;
            if before.name == name {
                let answer = Answered::shows(&actor.request, wire::Org::from(&before), None);
                self.keep_answer(actor, &answer.answer).await?;
                return Ok(answer);
            }
            let seen = before.version;
            let organization = before.named(name.clone());
            let answer = Answered::shows(&actor.request, wire::Org::from(&organization), None);
            let mut changes = ChangeSet::new(actor.org());
            changes.keeps_principals = true;
            changes.accounts.push(Change::UpdateOrganization { organization, seen });
            self.commit_for(actor, None, actor.org().to_string(), changes, answer).await
        })
        .await
    }

    /// Switches the caller's session to another organization that they belong to. The audit log of that organization records
    /// the switch.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] for an organization that the caller does not belong to; [`Refusal::NotSignedIn`] if the
    /// session has just ended.
    pub async fn switch_org(&self, actor: &Actor, id: &str) -> Result<Answered<wire::Me>, Refusal> {
        let (session, user) = human(actor)?;
        let missing = || Refusal::missing(Missing::Organization, id);
        let org: OrgId = id.parse().map_err(|_| missing())?;
        retry_stale(|| async {
            let memberships = self.parts.store.memberships_of(user).await?;
            let membership = memberships.into_iter().find(|membership| membership.org == org).ok_or_else(missing)?;
            let organization = self.parts.store.find_organization(org).await?.ok_or_else(missing)?;
            let now = self.now();
            let session = self.parts.store.find_session(session).await?;
            let session = session.filter(|session| session.holds(user, now)).ok_or(Refusal::NotSignedIn)?;
            let second_factor = self.has_second_factor(user).await?;
            let me = wire::Me::new(&self.user(user).await?, second_factor, &organization, membership.role);
            let answer = Answered::shows(&actor.request, me, None);
            let mut changes = ChangeSet::new(org);
            changes.accounts.push(Change::SwitchSession { session: Session { org: Some(org), ..session }, at: now });
            let subject = Subject { org, agent: None, resource: user.to_string() };
            let prefix = actor.principal.key_prefix.as_str();
            self.commit(&actor.request, Some(prefix), subject, changes, answer).await
        })
        .await
    }
}

/// The caller's session and user. The access table lets no other caller reach the operations that use this.
pub(crate) fn human(actor: &Actor) -> Result<(SessionId, UserId), Refusal> {
    actor.human().ok_or(Refusal::NotSignedIn)
}
