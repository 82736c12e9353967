//! Signing up and signing in: the cost of password checks, and the lifetime of sessions.

use std::{net::IpAddr, sync::Arc};

use kalends_accounts::{
    Action, Change, Email, OrgName, Password, RecoveryCode, SecondFactor, Session, SessionEnd, TotpSecret,
    ports::{Organizations as _, People as _, Principals as _},
};
use kalends_app::{
    Actor, App, ChangeSet, Entrant, Parts, Refusal, Request, SessionBegun,
    operations::{self, Operation},
    ports::Commit as _,
};
use kalends_kernel::UserId;
use kalends_plans::SIGN_IN_FAILURES;
use kalends_testkit::{
    Inspect as _, Mailbox, MemoryStore, TestPasswords,
    fixtures::{Compose as _, Fixtures},
};
use kalends_time::{SignedDuration, Timestamp};
use kalends_wire::{self as wire, ConsoleSignUp};
use serde_json::json;

use crate::common::{parts, request};

const PASSWORD: &str = "correct horse battery staple";

struct Door {
    app: Arc<App>,
    mailbox: Mailbox,
    store: MemoryStore,
    make: Fixtures,
    passwords: TestPasswords,
}

impl Door {
    fn new() -> Self {
        let (store, make, passwords) = (MemoryStore::new(), Fixtures::new(), TestPasswords::default());
        let mailbox = Mailbox::default();
        let app = App::new(Parts {
            mailer: Arc::new(mailbox.clone()),
            passwords: Arc::new(passwords.clone()),
            ..parts(&store, &make)
        });
        Self { app, mailbox, store, make, passwords }
    }

    fn request(&self, operation: &'static Operation) -> Request {
        let ip: IpAddr = "192.0.2.1".parse().unwrap();
        Request { ip: Some(ip), ..request(&self.make, self.make.tick(), operation) }
    }

    async fn sign_up(&self, email: &str) -> Result<SessionBegun<wire::ConsoleSignedUp>, Refusal> {
        let body = json!({ "email": email, "password": PASSWORD, "name": "Ada", "tos_version": "2026-01-01" });
        let new: ConsoleSignUp = serde_json::from_value(body).unwrap();
        self.app.console_sign_up(&self.request(&operations::CONSOLE_SIGN_UP), new.parse().unwrap()).await
    }

    async fn sign_in(&self, email: &str, password: &str) -> Result<SessionBegun<wire::SignedIn>, Refusal> {
        self.app.sign_in(&self.request(&operations::SIGN_IN), &entrant(email, password)).await
    }

    /// An attempt at that time, from that network address.
    async fn sign_in_at(
        &self,
        now: Timestamp,
        from: &str,
        email: &str,
        password: &str,
    ) -> Result<SessionBegun<wire::SignedIn>, Refusal> {
        let ip = Some(from.parse().unwrap());
        let request = Request { ip, started: now, ..self.request(&operations::SIGN_IN) };
        self.make.clock.set(now);
        self.app.sign_in(&request, &entrant(email, password)).await
    }

    /// Turns a second factor of the user on, with these recovery codes.
    async fn turn_on(&self, user: UserId, codes: &[RecoveryCode]) {
        let now = self.make.tick();
        let factor = SecondFactor::begin(user, TotpSecret::generate(&self.make.entropy), now);
        let org = self.store.memberships_of(user).await.unwrap()[0].org;
        let changes = ChangeSet::new(org)
            .account(Change::PutSecondFactor(factor.clone()))
            .account(Change::ConfirmSecondFactor(factor.confirmed(1, now)))
            .account(Change::PutRecoveryCodes { user, codes: codes.iter().map(RecoveryCode::hash).collect() });
        self.store.commit(changes).await.unwrap();
    }

    async fn actor(&self, token: &str, operation: &'static Operation) -> Result<Actor, Refusal> {
        Actor::enter(self.app.authenticate_session(token).await?, self.request(operation))
    }
}

fn entrant(email: &str, password: &str) -> Entrant {
    let email = Email::parse("email", email).unwrap();
    Entrant { email, password: Password::attempt(password.to_owned()), code: None }
}

impl Door {
    /// Requests a password reset email, and waits until there are `count` emails.
    async fn forgot(&self, email: &str, count: usize) {
        let email = Email::parse("email", email).unwrap();
        let answer = self.app.forgot_password(&self.request(&operations::FORGOT_PASSWORD), email);
        assert_eq!(answer.answer.status, 202);
        for _ in 0..1_000 {
            if self.mailbox.mails().len() >= count {
                return;
            }
            tokio::task::yield_now().await;
        }
    }

    /// The token from the last email.
    fn token(&self) -> String {
        let text = self.mailbox.mails().pop().unwrap().text;
        let (_, rest) = text.split_once("/console/reset#").unwrap();
        rest.split_whitespace().next().unwrap().to_owned()
    }

    async fn reset(&self, token: &str, password: &str) -> Result<(), Refusal> {
        let password = Password::parse("password", password.to_owned()).unwrap();
        self.app.reset_password(&self.request(&operations::RESET_PASSWORD), token, password).await.map(drop)
    }
}

const OTHER: &str = "a fresh start for my horse";

#[tokio::test]
async fn a_mailed_token_sets_a_password_once_and_ends_all_sessions() {
    let door = Door::new();
    let begun = door.sign_up("ada@example.com").await.unwrap();
    door.forgot("ada@example.com", 1).await;
    let token = door.token();
    door.actor(&begun.token, &operations::GET_ME).await.unwrap();
    door.reset(&token, OTHER).await.unwrap();
    assert!(matches!(door.actor(&begun.token, &operations::GET_ME).await, Err(Refusal::NotSignedIn)));
    assert!(matches!(door.sign_in("ada@example.com", PASSWORD).await, Err(Refusal::WrongPassword)));
    door.sign_in("ada@example.com", OTHER).await.unwrap();
    assert!(matches!(door.reset(&token, PASSWORD).await, Err(Refusal::Invalid(_))), "the token works once");
    let email = Email::parse("email", "ada@example.com").unwrap();
    let user = door.store.find_user_by_email(&email).await.unwrap().unwrap();
    assert!(user.email_verified_at.is_some(), "the email verified the address");
}

#[tokio::test]
async fn a_user_without_a_password_sets_one_by_email() {
    let door = Door::new();
    door.sign_up("ada@example.com").await.unwrap();
    let email = Email::parse("email", "ada@example.com").unwrap();
    let user = door.store.find_user_by_email(&email).await.unwrap().unwrap();
    let without = kalends_accounts::User { password: None, version: user.version.next(), ..user.clone() };
    let owned = door.store.memberships_of(user.id).await.unwrap()[0];
    let mut changes = ChangeSet::new(owned.org);
    changes.accounts.push(Change::UpdateUser { user: without, seen: user.version });
    door.store.commit(changes).await.unwrap();
    assert!(matches!(door.sign_in("ada@example.com", PASSWORD).await, Err(Refusal::WrongPassword)));
    door.forgot("ada@example.com", 1).await;
    door.reset(&door.token(), OTHER).await.unwrap();
    door.sign_in("ada@example.com", OTHER).await.unwrap();
}

#[tokio::test]
async fn an_expired_replaced_or_unknown_token_sets_no_password() {
    let door = Door::new();
    door.sign_up("ada@example.com").await.unwrap();
    door.forgot("ada@example.com", 1).await;
    let first = door.token();
    door.forgot("ada@example.com", 2).await;
    let second = door.token();
    for token in [first.as_str(), "unknown"] {
        assert!(matches!(door.reset(token, OTHER).await, Err(Refusal::Invalid(_))), "{token}");
    }
    door.make.clock.advance(SignedDuration::hours(1));
    assert!(matches!(door.reset(&second, OTHER).await, Err(Refusal::Invalid(_))), "expired");
    door.sign_in("ada@example.com", PASSWORD).await.unwrap();
    // No email is sent for an address without an account, nor above five per hour.
    door.forgot("nobody@example.com", 3).await;
    assert_eq!(door.mailbox.mails().len(), 2);
    for count in 3..9 {
        door.forgot("ada@example.com", count).await;
    }
    assert_eq!(door.mailbox.mails().len(), 7, "two from the hour before, and five");
}

#[tokio::test]
async fn an_unknown_address_costs_as_much_as_a_known_one() {
    let door = Door::new();
    door.sign_up("ada@example.com").await.unwrap();
    let (hashes, checks) = door.passwords.counts();
    assert_eq!((hashes, checks), (1, 0));
    let mut messages = Vec::new();
    for (email, password) in [("ada@example.com", "wrong"), ("nobody@example.com", PASSWORD)] {
        let before = door.passwords.counts();
        let refused = door.sign_in(email, password).await.err().unwrap();
        let after = door.passwords.counts();
        assert_eq!((after.0 - before.0, after.1 - before.1), (0, 1), "{email}");
        messages.push(refused.to_string());
    }
    assert_eq!(messages[0], messages[1]);
    // A password that no account can have is not checked, whether or not the account exists.
    for email in ["ada@example.com", "nobody@example.com"] {
        let before = door.passwords.counts();
        assert!(matches!(door.sign_in(email, &"x".repeat(129)).await, Err(Refusal::WrongPassword)));
        assert_eq!(door.passwords.counts(), before);
    }
}

#[tokio::test]
async fn wrong_passwords_are_limited_for_each_account() {
    // An account that exists, and one that does not.
    for email in ["ada@example.com", "nobody@example.com"] {
        let door = Door::new();
        door.sign_up("ada@example.com").await.unwrap();
        let now = door.make.tick();
        for _ in 0..SIGN_IN_FAILURES.count() {
            let refused = door.sign_in_at(now, "198.51.100.1", email, "wrong").await;
            assert!(matches!(refused, Err(Refusal::WrongPassword)));
        }
        // This holds from any network address and for any spelling of the email address. The password is not checked.
        let before = door.passwords.counts();
        for password in ["wrong", PASSWORD] {
            let refused = door.sign_in_at(now, "203.0.113.9", &email.to_uppercase(), password).await;
            let Err(Refusal::TooFast { rate, retry_after }) = refused else { panic!("it was admitted") };
            assert_eq!((rate, retry_after), (SIGN_IN_FAILURES, 6));
        }
        assert_eq!(door.passwords.counts(), before);
        // Other accounts are not affected, and this one recovers when time has passed.
        let other = door.sign_in_at(now, "203.0.113.9", "eve@example.com", "wrong").await;
        assert!(matches!(other, Err(Refusal::WrongPassword)));
        let later = door.sign_in_at(now + SignedDuration::seconds(6), "203.0.113.9", email, "wrong").await;
        assert!(matches!(later, Err(Refusal::WrongPassword)));
    }
}

#[tokio::test]
async fn right_passwords_are_not_limited() {
    let door = Door::new();
    door.sign_up("ada@example.com").await.unwrap();
    let now = door.make.tick();
    let attempt = async |password: &str| door.sign_in_at(now, "192.0.2.1", "ada@example.com", password).await;
    for _ in 1..SIGN_IN_FAILURES.count() {
        assert!(matches!(attempt("wrong").await, Err(Refusal::WrongPassword)));
    }
    for _ in 0..30 {
        attempt(PASSWORD).await.unwrap();
    }
    assert!(matches!(attempt("wrong").await, Err(Refusal::WrongPassword)));
    assert!(matches!(attempt(PASSWORD).await, Err(Refusal::TooFast { .. })));
}

#[tokio::test]
async fn wrong_passwords_in_a_session_count_like_those_at_sign_in() {
    let door = Door::new();
    let begun = door.sign_up("ada@example.com").await.unwrap();
    let actor = door.actor(&begun.token, &operations::CHANGE_PASSWORD).await.unwrap();
    let change = async |current: &str| {
        let new = Password::parse("new_password", "another good one".to_owned()).unwrap();
        door.app.change_password(&actor, Password::attempt(current.to_owned()), new).await
    };
    let now = door.make.tick();
    for _ in 0..SIGN_IN_FAILURES.count() {
        assert!(matches!(change("wrong").await, Err(Refusal::Invalid(_))));
    }
    assert!(matches!(change(PASSWORD).await, Err(Refusal::TooFast { .. })));
    let refused = door.sign_in_at(now, "192.0.2.1", "ada@example.com", PASSWORD).await;
    assert!(matches!(refused, Err(Refusal::TooFast { .. })));
    door.make.clock.advance(SignedDuration::seconds(6));
    change(PASSWORD).await.unwrap();
}

#[tokio::test]
async fn all_sessions_of_a_user_share_the_rate_of_the_plan() {
    let door = Door::new();
    let first = door.sign_up("ada@example.com").await.unwrap();
    let second = door.sign_in("ada@example.com", PASSWORD).await.unwrap();
    let other = door.sign_up("bob@example.com").await.unwrap();
    let of = async |token: &str| door.app.caller(door.app.authenticate_session(token).await.unwrap());
    let (first, second, other) = (of(&first.token).await, of(&second.token).await, of(&other.token).await);
    let rate = first.principal.limits.rate().unwrap();
    for number in 0..rate.count() {
        door.app.pace_caller(if number % 2 == 0 { &first } else { &second }).await.unwrap();
    }
    for session in [&first, &second] {
        let refused = door.app.pace_caller(session).await;
        assert!(matches!(refused, Err(Refusal::TooFast { rate: reported, retry_after: 1 }) if reported == rate));
    }
    door.app.pace_caller(&other).await.unwrap();
    door.make.clock.advance(SignedDuration::seconds(1));
    door.app.pace_caller(&first).await.unwrap();
}

#[tokio::test]
async fn a_taken_address_costs_no_hash() {
    let door = Door::new();
    let first = door.sign_up("ada@example.com").await.unwrap();
    let before = door.passwords.counts();
    assert!(matches!(door.sign_up("ada@example.com").await, Err(Refusal::EmailTaken)));
    assert_eq!(door.passwords.counts(), before);
    assert!(!first.answered.answer.body.unwrap().contains(PASSWORD));
}

#[tokio::test]
async fn an_old_hash_is_replaced_at_sign_in() {
    let door = Door::new();
    door.sign_up("ada@example.com").await.unwrap();
    let email = Email::parse("email", "ada@example.com").unwrap();
    let known = async || door.store.find_user_by_email(&email).await.unwrap().unwrap().password;
    let first = known().await;
    door.sign_in("ada@example.com", PASSWORD).await.unwrap();
    assert_eq!(known().await, first);
    door.passwords.outdate(true);
    let begun = door.sign_in("ada@example.com", PASSWORD).await.unwrap();
    assert_ne!(known().await, first);
    door.passwords.outdate(false);
    door.actor(&begun.token, &operations::GET_ME).await.unwrap();
    door.sign_in("ada@example.com", PASSWORD).await.unwrap();
}

#[tokio::test]
async fn an_old_hash_is_replaced_at_a_sign_in_with_a_code() {
    let door = Door::new();
    door.sign_up("ada@example.com").await.unwrap();
    let email = Email::parse("email", "ada@example.com").unwrap();
    let known = async || door.store.find_user_by_email(&email).await.unwrap().unwrap();
    let user = known().await;
    let codes = RecoveryCode::generate_all(&door.make.entropy);
    door.turn_on(user.id, &codes).await;
    door.passwords.outdate(true);
    // On the page, the code comes without the password.
    let asked = door.sign_in("ada@example.com", PASSWORD).await;
    let Err(Refusal::SecondFactorRequired(step)) = asked else { panic!("no code is asked for") };
    let first = known().await.password;
    assert_ne!(first, user.password);
    let request = door.request(&operations::SIGN_IN);
    let begun = door.app.finish_sign_in(&request, step.reveal(), codes[0].reveal()).await.unwrap();
    assert_eq!(known().await.password, first);
    door.actor(&begun.token, &operations::GET_ME).await.unwrap();
    // A program sends both at once.
    let both = Entrant { code: Some(codes[1].reveal().to_owned()), ..entrant("ada@example.com", PASSWORD) };
    door.app.sign_in(&door.request(&operations::SIGN_IN), &both).await.unwrap();
    let second = known().await.password;
    assert_ne!(second, first);
    door.passwords.outdate(false);
    let asked = door.sign_in("ada@example.com", PASSWORD).await;
    assert!(matches!(asked, Err(Refusal::SecondFactorRequired(_))));
    assert_eq!(known().await.password, second);
}

#[tokio::test]
async fn a_session_ends_after_its_time_and_when_the_password_changes() {
    let door = Door::new();
    let first = door.sign_up("ada@example.com").await.unwrap();
    let second = door.sign_in("ada@example.com", PASSWORD).await.unwrap();
    let actor = door.actor(&second.token, &operations::CHANGE_PASSWORD).await.unwrap();
    let new = Password::parse("new_password", "another good one".to_owned()).unwrap();
    let wrong = Password::attempt("not this one".to_owned());
    let refused = door.app.change_password(&actor, wrong, new.clone()).await;
    assert!(matches!(refused, Err(Refusal::Invalid(errors)) if errors.first().param == "current_password"));
    door.actor(&first.token, &operations::GET_ME).await.unwrap();
    let current = Password::attempt(PASSWORD.to_owned());
    let fresh = door.app.change_password(&actor, current, new).await.unwrap();
    for ended in [&first.token, &second.token] {
        let refused = door.actor(ended, &operations::GET_ME).await;
        assert!(matches!(refused, Err(Refusal::NotSignedIn)));
    }
    door.actor(&fresh.token, &operations::GET_ME).await.unwrap();
    assert!(matches!(door.sign_in("ada@example.com", PASSWORD).await, Err(Refusal::WrongPassword)));
    door.make.clock.advance(SignedDuration::hours(12));
    assert!(matches!(door.actor(&fresh.token, &operations::GET_ME).await, Err(Refusal::NotSignedIn)));
}

#[tokio::test]
async fn a_session_speaks_for_its_organization_and_a_token_is_not_a_session() {
    let door = Door::new();
    let begun = door.sign_up("ada@example.com").await.unwrap();
    let actor = door.actor(&begun.token, &operations::LIST_AGENTS).await.unwrap();
    assert_eq!((actor.org(), actor.narrowed_to()), (actor.principal.org, None));
    // A well-formed token of a session that never began.
    let user = door.make.user();
    let unknown = Session::begin(user.id, None, door.make.tick(), &door.make.entropy);
    let token = serde_json::to_string(&unknown.claims()).unwrap();
    assert!(matches!(door.app.authenticate_session(&token).await, Err(Refusal::NotSignedIn)));
    // A session of a user who owns no organization.
    let org = door.app.authenticate_session(&begun.token).await.unwrap().org;
    let changes = ChangeSet::new(org).create(&user);
    let changes = changes.account(Change::CreateSession { session: unknown, seen: user.version });
    door.store.commit(changes).await.unwrap();
    assert!(matches!(door.app.authenticate_session(&token).await, Err(Refusal::NotSignedIn)));
    let end = SessionEnd::SignOut(unknown.id);
    let at = door.make.tick();
    door.store.commit(ChangeSet::new(org).account(Change::EndSessions { end, at })).await.unwrap();
    assert!(matches!(door.app.authenticate_session(&token).await, Err(Refusal::NotSignedIn)));
}

#[tokio::test]
async fn sign_ins_and_sampled_failures_are_audited() {
    let door = Door::new();
    let begun = door.sign_up("ada@example.com").await.unwrap();
    let org = door.app.authenticate_session(&begun.token).await.unwrap().org;
    let signed_in = door.sign_in("ada@example.com", PASSWORD).await.unwrap();
    for _ in 0..3 {
        door.sign_in("ada@example.com", "wrong").await.err().unwrap();
    }
    let actor = door.actor(&signed_in.token, &operations::SIGN_OUT).await.unwrap();
    door.app.sign_out(&actor).await.unwrap();
    // The refusals are recorded in the background.
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    let mut entries = door.store.audit_entries(org).await;
    entries.sort_by_key(|entry| entry.id);
    let actions: Vec<_> = entries.iter().map(|entry| entry.action).collect();
    let count = |action| actions.iter().filter(|found| **found == action).count();
    assert_eq!((count(Action::AuthSignup), count(Action::AuthSignin), count(Action::AuthSignout)), (1, 1, 1));
    assert_eq!(count(Action::AuthFailure), 1, "sampled");
    let user = signed_in.answered.resource.user.id.to_string();
    for entry in &entries {
        assert_eq!(entry.actor_key_prefix.as_deref(), Some(&user[..20]), "{:?}", entry.action);
        let text = format!("{entry:?}");
        assert!(!text.contains(PASSWORD) && !text.contains(&signed_in.token));
    }
}

#[tokio::test]
async fn a_rename_keeps_the_principals_and_the_same_name_changes_nothing() {
    let door = Door::new();
    let begun = door.sign_up("ada@example.com").await.unwrap();
    let rename = async |name: &str| {
        let actor = door.actor(&begun.token, &operations::UPDATE_ORG).await.unwrap();
        let renamed = door.app.update_org(&actor, OrgName::parse("name", name).unwrap()).await.unwrap();
        assert_eq!(renamed.resource.name, name);
        let entries = door.store.audit_entries(actor.org()).await;
        let version = door.store.find_organization(actor.org()).await.unwrap().unwrap().version;
        (version, entries.iter().filter(|entry| entry.action == Action::OrgUpdate).count())
    };
    let before = door.store.principals_epoch().await.unwrap();
    let first = rename("Difference").await;
    assert_eq!(first.1, 1);
    assert_eq!(rename("Difference").await, first);
    assert_eq!(rename("Analysis").await, (first.0.next(), 2));
    assert_eq!(door.store.principals_epoch().await.unwrap(), before);
}
