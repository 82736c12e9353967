//! Signing up and in: what is asked of the hasher for whom, and what becomes of sessions meanwhile.

use std::{net::IpAddr, sync::Arc};

use kalends_accounts::{Action, Change, Email, Password, Session, SessionEnd, ports::People as _};
use kalends_app::{
    Actor, App, ChangeSet, Entrant, MemoryRateLimiter, NoCalendarProviders, NoHumanCalendars, Parts, Refusal, Request,
    SessionBegun,
    operations::{self, Operation},
    ports::Commit as _,
};
use kalends_kernel::{Elapsed, RequestId};
use kalends_testkit::{
    Inspect as _, Mailbox, MemoryStore, TestPasswords, TestTokens,
    fixtures::{Compose as _, Fixtures, settings},
};
use kalends_wire::ConsoleSignUp;
use serde_json::{Value, json};

const PASSWORD: &str = "correct horse battery staple";

struct Door {
    app: Arc<App>,
    store: MemoryStore,
    make: Fixtures,
    passwords: TestPasswords,
}

impl Door {
    fn new() -> Self {
        let (store, make, passwords) = (MemoryStore::new(), Fixtures::new(), TestPasswords::default());
        let app = App::new(Parts {
            store: Arc::new(store.clone()),
            clock: Arc::new(make.clock.clone()),
            entropy: Arc::new(make.entropy.clone()),
            mailer: Arc::new(Mailbox::default()),
            human: Arc::new(NoHumanCalendars),
            calendar_providers: Arc::new(NoCalendarProviders),
            limiter: Arc::new(MemoryRateLimiter::default()),
            passwords: Arc::new(passwords.clone()),
            tokens: Arc::new(TestTokens),
            providers: Arc::new(kalends_app::NoProviders),
            sender: Arc::new(kalends_app::NoSender),
            fetcher: Arc::new(kalends_app::NoFetcher),
            settings: settings(),
        });
        Self { app, store, make, passwords }
    }

    fn request(&self, operation: &'static Operation) -> Request {
        let started = self.make.tick();
        let ip: IpAddr = "192.0.2.1".parse().unwrap();
        let id = RequestId::new(started, &self.make.entropy);
        Request { id, ip: Some(ip), operation, started, idempotency: None, local: false }
    }

    async fn sign_up(&self, email: &str) -> Result<SessionBegun, Refusal> {
        let body = json!({ "email": email, "password": PASSWORD, "name": "Ada", "tos_version": "2026-01-01" });
        let new: ConsoleSignUp = serde_json::from_value(body).unwrap();
        self.app.console_sign_up(&self.request(&operations::CONSOLE_SIGN_UP), new.parse().unwrap()).await
    }

    async fn sign_in(&self, email: &str, password: &str) -> Result<SessionBegun, Refusal> {
        let email = Email::parse("email", email).unwrap();
        let entrant = Entrant { email, password: Password::attempt(password.to_owned()) };
        self.app.sign_in(&self.request(&operations::SIGN_IN), &entrant).await
    }

    async fn actor(&self, token: &str, operation: &'static Operation) -> Result<Actor, Refusal> {
        Actor::enter(self.app.authenticate_session(token).await?, self.request(operation))
    }
}

fn body(begun: &SessionBegun) -> Value {
    serde_json::from_str(begun.answer.body.as_deref().unwrap()).unwrap()
}

#[tokio::test]
async fn who_is_unknown_costs_what_others_cost() {
    let door = Door::new();
    door.sign_up("ada@example.com").await.unwrap();
    let (hashes, checks) = door.passwords.asked();
    assert_eq!((hashes, checks), (1, 0));
    let mut told = Vec::new();
    for (email, password) in [("ada@example.com", "wrong"), ("nobody@example.com", PASSWORD)] {
        let before = door.passwords.asked();
        let refused = door.sign_in(email, password).await.unwrap_err();
        let after = door.passwords.asked();
        assert_eq!((after.0 - before.0, after.1 - before.1), (0, 1), "{email}");
        told.push(refused.to_string());
    }
    assert_eq!(told[0], told[1]);
    // What nobody can have is not worth a check, whoever's it would be.
    for email in ["ada@example.com", "nobody@example.com"] {
        let before = door.passwords.asked();
        assert!(matches!(door.sign_in(email, &"x".repeat(129)).await, Err(Refusal::WrongPassword)));
        assert_eq!(door.passwords.asked(), before);
    }
}

#[tokio::test]
async fn an_address_that_is_taken_costs_no_hash() {
    let door = Door::new();
    let first = door.sign_up("ada@example.com").await.unwrap();
    let before = door.passwords.asked();
    assert!(matches!(door.sign_up("ada@example.com").await, Err(Refusal::EmailTaken)));
    assert_eq!(door.passwords.asked(), before);
    assert!(!body(&first).to_string().contains(PASSWORD));
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
async fn a_session_ends_by_itself_and_with_the_password() {
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
    for ended in [&first, &second] {
        let refused = door.actor(&ended.token, &operations::GET_ME).await;
        assert!(matches!(refused, Err(Refusal::NotSignedIn)));
    }
    door.actor(&fresh.token, &operations::GET_ME).await.unwrap();
    assert!(matches!(door.sign_in("ada@example.com", PASSWORD).await, Err(Refusal::WrongPassword)));
    door.make.clock.advance(Elapsed::hours(12));
    assert!(matches!(door.actor(&fresh.token, &operations::GET_ME).await, Err(Refusal::NotSignedIn)));
}

#[tokio::test]
async fn a_session_is_no_key_and_a_token_no_session() {
    let door = Door::new();
    let begun = door.sign_up("ada@example.com").await.unwrap();
    let refused = door.actor(&begun.token, &operations::LIST_AGENTS).await;
    assert!(matches!(refused, Err(Refusal::Unauthorized)), "the table lets sessions into the console alone");
    // A well-formed token of a session that was never begun.
    let user = door.make.user();
    let unknown = Session::begin(user.id, None, door.make.tick(), &door.make.entropy);
    let token = serde_json::to_string(&unknown.claims()).unwrap();
    assert!(matches!(door.app.authenticate_session(&token).await, Err(Refusal::NotSignedIn)));
    // And one of a human who owns nothing.
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
async fn the_log_tells_who_came_and_who_was_refused() {
    let door = Door::new();
    let begun = door.sign_up("ada@example.com").await.unwrap();
    let org = door.app.authenticate_session(&begun.token).await.unwrap().org;
    let signed_in = door.sign_in("ada@example.com", PASSWORD).await.unwrap();
    for _ in 0..3 {
        door.sign_in("ada@example.com", "wrong").await.unwrap_err();
    }
    let actor = door.actor(&signed_in.token, &operations::SIGN_OUT).await.unwrap();
    door.app.sign_out(&actor).await.unwrap();
    // The refusals are recorded when nobody waits for it.
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    let mut entries = door.store.audit_entries(org).await;
    entries.sort_by_key(|entry| entry.id);
    let actions: Vec<_> = entries.iter().map(|entry| entry.action).collect();
    let count = |action| actions.iter().filter(|found| **found == action).count();
    assert_eq!((count(Action::AuthSignup), count(Action::AuthSignin), count(Action::AuthSignout)), (1, 1, 1));
    assert_eq!(count(Action::AuthFailure), 1, "sampled");
    let user = body(&signed_in)["user"]["id"].as_str().unwrap().to_owned();
    for entry in &entries {
        assert_eq!(entry.actor_key_prefix.as_deref(), Some(&user[..20]), "{:?}", entry.action);
        let shown = format!("{entry:?}");
        assert!(!shown.contains(PASSWORD) && !shown.contains(&signed_in.token));
    }
}
