//! The second factor of a user who signs in with a password: turning it on and off, its codes, and the second step of a
//! sign-in.

use kalends_accounts::{
    Action, Allowance, Change, FactorUse, Password, RecoveryCode, SecondFactor, SecondStep, SecondStepToken,
    SessionEnd, Taken, TotpSecret, User, WrongCode,
};
use kalends_kernel::{FieldError, StoreError, UserId};
use kalends_quotas::retry_after_seconds;
use kalends_time::Timestamp;
use kalends_wire as wire;

use crate::{
    Actor, Answered, App, ChangeSet, Refusal,
    attempt::retry_stale,
    console::human,
    letters,
    ports::{Mail, Verdict},
};

/// A code was wrong.
struct WrongTry {
    /// Whether it is the last wrong one that the user has in this hour.
    is_last: bool,
}

/// The state of the caller's second factor.
#[derive(Clone)]
pub enum SecondFactorState {
    /// It is off.
    Off,
    /// It is off, and waits for its first code.
    Pending(wire::SecondFactorStarted),
    /// It is on.
    On {
        /// How many recovery codes are left.
        recovery_codes: usize,
    },
}

impl App {
    /// The state of the caller's second factor.
    ///
    /// # Errors
    /// [`Refusal::NotSignedIn`] if the user has just been deleted.
    pub async fn second_factor(&self, actor: &Actor) -> Result<SecondFactorState, Refusal> {
        let (_, id) = human(actor)?;
        let user = self.user(id).await?;
        Ok(match self.parts.store.find_second_factor(id).await? {
            Some(factor) if factor.is_on() => SecondFactorState::On { recovery_codes: factor.recovery.len() },
            Some(factor) if factor.is_pending(self.now()) => {
                SecondFactorState::Pending(wire::SecondFactorStarted::new(&factor.secret, &user.email))
            }
            _ => SecondFactorState::Off,
        })
    }

    /// Makes a secret for the caller's authenticator app, in place of an earlier one that still waits for its first
    /// code. Until [`Self::confirm_second_factor`], it changes nothing else.
    ///
    /// # Errors
    /// [`Refusal::SecondFactorOn`]; [`Refusal::PasswordRequired`]; [`Refusal::Invalid`] if the password is wrong;
    /// [`Refusal::TooFast`] after too many wrong ones; [`Refusal::Credentials`].
    pub async fn start_second_factor(
        &self,
        actor: &Actor,
        password: Option<Password>,
    ) -> Result<Answered<wire::SecondFactorStarted>, Refusal> {
        let (_, id) = human(actor)?;
        // The holder of a session could guess passwords here as at sign-in, so both count together.
        let gate = self.pace_attempt(&self.user(id).await?.email).await?;
        let outcome = retry_stale(|| async {
            let user = self.user(id).await?;
            if self.has_second_factor(id).await? {
                return Err(Refusal::SecondFactorOn.into());
            }
            if user.password.is_none() {
                return Err(Refusal::PasswordRequired.into());
            }
            let Some(password) = &password else { return Ok(None) };
            let verdict = self.parts.passwords.verify(password.clone(), user.password.clone()).await?;
            if verdict == Verdict::Wrong {
                return Ok(None);
            }
            let factor = SecondFactor::begin(id, TotpSecret::generate(self.entropy()), self.now());
            let started = wire::SecondFactorStarted::new(&factor.secret, &user.email);
            let mut changes = ChangeSet::new(actor.org());
            changes.accounts.push(Change::PutSecondFactor(factor));
            let answer = Answered::shows(&actor.request, started, None);
            Ok(Some(self.commit_for(actor, None, id.to_string(), changes, answer).await?))
        })
        .await;
        if !matches!(outcome, Ok(None)) {
            gate.give_back().await;
        }
        match outcome? {
            Some(answered) => Ok(answered),
            None => {
                self.note_sampled(actor, Action::AuthFailure, 400).await;
                Err(FieldError::new("password", "is not your password").into())
            }
        }
    }

    /// Turns the caller's second factor on with the first code of the app, and returns recovery codes. All other
    /// sessions of the caller end: they may be those of somebody who learned the password. An email reports it.
    ///
    /// # Errors
    /// [`Refusal::SecondFactorOn`]; [`Refusal::SecondFactorOff`] if none waits for its first code; [`Refusal::Invalid`]
    /// for a wrong code; [`Refusal::TooMany`] after ten of them in an hour.
    pub async fn confirm_second_factor(
        &self,
        actor: &Actor,
        code: &str,
    ) -> Result<Answered<wire::RecoveryCodes>, Refusal> {
        let (session, id) = human(actor)?;
        let codes = RecoveryCode::generate_all(self.entropy());
        let (answered, user) = retry_stale(|| async {
            let user = self.user(id).await?;
            let factor = self.parts.store.find_second_factor(id).await?.ok_or(Refusal::SecondFactorOff)?;
            if factor.is_on() {
                return Err(Refusal::SecondFactorOn.into());
            }
            if !factor.is_pending(self.now()) {
                return Err(Refusal::SecondFactorOff.into());
            }
            // Sign-ins ask for no code yet, so nobody guesses one: the last wrong one sends no email.
            let step = self.try_code(id, |now| factor.check_first(code, now)).await?.map_err(|_| WrongCode);
            let step = self.of_caller(actor, step).await?;
            let mut changes = ChangeSet::new(actor.org());
            let now = self.now();
            changes.accounts.push(Change::ConfirmSecondFactor(factor.confirmed(step, now)));
            changes.accounts.push(put_codes(id, &codes));
            // A sign-in that has not seen the second factor begins again.
            changes.accounts.push(Change::RaiseUser { user: id, seen: user.version });
            let end = SessionEnd::PasswordChange { user: id, keep: Some(session) };
            changes.accounts.push(Change::EndSessions { end, at: now });
            let answer = Answered::shows(&actor.request, wire::RecoveryCodes::new(&codes), None);
            Ok((self.commit_for(actor, None, id.to_string(), changes, answer).await?, user))
        })
        .await?;
        self.report(&user, letters::second_factor_on(&user.email, &self.parts.settings.console_url));
        Ok(answered)
    }

    /// Replaces the caller's recovery codes. An email reports it.
    ///
    /// # Errors
    /// [`Refusal::SecondFactorOff`]; [`Refusal::Invalid`] for a wrong code; [`Refusal::TooMany`] after ten of them in an
    /// hour.
    pub async fn renew_recovery_codes(
        &self,
        actor: &Actor,
        code: &str,
    ) -> Result<Answered<wire::RecoveryCodes>, Refusal> {
        let (_, id) = human(actor)?;
        let codes = RecoveryCode::generate_all(self.entropy());
        let (answered, user) = retry_stale(|| async {
            let user = self.user(id).await?;
            let mut changes = ChangeSet::new(actor.org());
            changes.accounts.push(self.used_by_caller(actor, &user, code).await?);
            changes.accounts.push(put_codes(id, &codes));
            let answer = Answered::shows(&actor.request, wire::RecoveryCodes::new(&codes), None);
            Ok((self.commit_for(actor, None, id.to_string(), changes, answer).await?, user))
        })
        .await?;
        self.report(&user, letters::recovery_codes_renewed(&user.email, &self.parts.settings.console_url));
        Ok(answered)
    }

    /// Turns the caller's second factor off. An email reports it.
    ///
    /// # Errors
    /// As [`Self::renew_recovery_codes`].
    pub async fn remove_second_factor(&self, actor: &Actor, code: &str) -> Result<Answered<()>, Refusal> {
        let (_, id) = human(actor)?;
        let (answered, user) = retry_stale(|| async {
            let user = self.user(id).await?;
            let mut changes = ChangeSet::new(actor.org());
            changes.accounts.push(self.used_by_caller(actor, &user, code).await?);
            changes.accounts.push(Change::RemoveSecondFactor(id));
            let answer = Answered::nothing(&actor.request);
            Ok((self.commit_for(actor, None, id.to_string(), changes, answer).await?, user))
        })
        .await?;
        self.report(&user, letters::second_factor_off(&user.email, &self.parts.settings.console_url));
        Ok(answered)
    }

    /// Whether sign-ins of the user need a code.
    pub(crate) async fn has_second_factor(&self, user: UserId) -> Result<bool, StoreError> {
        Ok(self.second_factor_in_force(user).await?.is_some())
    }

    /// The second factor of the user, if it is on.
    pub(crate) async fn second_factor_in_force(&self, user: UserId) -> Result<Option<SecondFactor>, StoreError> {
        Ok(self.parts.store.find_second_factor(user).await?.filter(SecondFactor::is_on))
    }

    /// Checks a code of a user at the current time, and counts a wrong one.
    ///
    /// # Errors
    /// [`Refusal::TooMany`] after ten wrong codes in an hour, whether or not this one is right.
    async fn try_code<T: Send>(
        &self,
        user: UserId,
        check: impl FnOnce(Timestamp) -> Result<T, WrongCode> + Send,
    ) -> Result<Result<T, WrongTry>, Refusal> {
        let (allowance, now) = (Allowance::second_factor(user), self.now());
        // Taken before the check, so that codes that are tried at once count too.
        let taken = match self.parts.store.take(&allowance, now).await? {
            Taken::Granted(taken) => taken,
            Taken::Refused { retry_after } => {
                let retry_after = retry_after_seconds(retry_after);
                return Err(Refusal::TooMany { limited: allowance.limited, retry_after });
            }
        };
        let checked = check(now);
        if checked.is_ok() {
            self.parts.store.give_back(&allowance, taken.until).await?;
        }
        Ok(checked.map_err(|WrongCode| WrongTry { is_last: allowance.is_used_up(taken) }))
    }

    /// Checks a code of a user's second factor that is on. A recovery code passes the limit of wrong codes, so that nobody
    /// can lock the user out by trying codes. The last wrong code of an hour sends the user an email, since codes are asked
    /// for only after the right password or in a session.
    ///
    /// # Errors
    /// As [`Self::try_code`].
    pub(crate) async fn try_factor(
        &self,
        user: &User,
        factor: &SecondFactor,
        code: &str,
    ) -> Result<Result<FactorUse, WrongCode>, Refusal> {
        if let Some(used) = factor.recovery_code(code) {
            return Ok(Ok(used));
        }
        let tried = self.try_code(user.id, |now| factor.check(code, now)).await?;
        if let Err(WrongTry { is_last: true }) = &tried {
            self.report(user, letters::wrong_codes_used_up(&user.email, &self.parts.settings.console_url));
        }
        Ok(tried.map_err(|_| WrongCode))
    }

    /// The outcome of a check for a user who is signed in.
    async fn of_caller<T>(&self, actor: &Actor, checked: Result<T, WrongCode>) -> Result<T, Refusal> {
        match checked {
            Ok(used) => Ok(used),
            Err(wrong) => {
                self.note_sampled(actor, Action::AuthFailure, 400).await;
                Err(FieldError::new("code", wrong.to_string()).into())
            }
        }
    }

    /// The change that uses up a code of the caller's second factor.
    async fn used_by_caller(&self, actor: &Actor, user: &User, code: &str) -> Result<Change, Refusal> {
        let factor = self.second_factor_in_force(user.id).await?.ok_or(Refusal::SecondFactorOff)?;
        let used = self.of_caller(actor, self.try_factor(user, &factor, code).await?).await?;
        Ok(Self::using(&factor, used))
    }

    /// The change that uses up a code.
    pub(crate) const fn using(factor: &SecondFactor, used: FactorUse) -> Change {
        Change::UseSecondFactor { user: factor.user, used, seen: factor.last_step }
    }

    /// The token with which a page asks for the code after the password was right.
    pub(crate) fn second_step(&self, user: &User) -> Result<SecondStepToken, Refusal> {
        let step = SecondStep { user: user.id, version: user.version };
        Ok(SecondStepToken::new(self.parts.tokens.sign(&step.claims(self.now()))?))
    }

    /// Emails a user about their second factor, unless the address may be that of somebody else.
    pub(crate) fn report(&self, user: &User, letter: Mail) {
        if user.holds_address {
            drop(self.post(letter));
        }
    }
}

/// The change that stores new recovery codes.
fn put_codes(user: UserId, codes: &[RecoveryCode]) -> Change {
    Change::PutRecoveryCodes { user, codes: codes.iter().map(RecoveryCode::hash).collect() }
}
