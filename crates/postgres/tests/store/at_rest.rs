//! Data at rest: the metadata of agents and calendars and the secrets of sign-in attempts are sealed.

use kalends_accounts::oauth::{Attempt, Provider};
use kalends_accounts::ports::{OauthAttempts as _, SecondFactors as _};
use kalends_accounts::{Change, SecondFactor, TokenHash, TotpSecret};
use kalends_app::ChangeSet;
use kalends_app::ports::Reseal as _;
use kalends_approvals::Outcome;
use kalends_approvals::ports::Approvals as _;
use kalends_bridge::ports::ConnectAttempts as _;
use kalends_bridge::{ConnectAttempt, Purpose};
use kalends_calendars::ports::{AgentFilter, Agents as _, CalendarFilter, Calendars as _};
use kalends_calendars::{Agent, Calendar};
use kalends_kernel::{Metadata, Page, StoreError, UserId};
use kalends_testkit::fixtures::Compose as _;
use kalends_time::SignedDuration;
use sqlx::AssertSqlSafe;

use crate::feed_tokens::everything;
use crate::server::Bench;

const PLANTED: &str = "planted-in-metadata";

fn planted() -> Metadata {
    Metadata::from_json(&format!(r#"{{"note":{{"deep":["{PLANTED}"]}}}}"#)).unwrap()
}

/// Stores an agent and its calendar, both with planted metadata.
async fn written(bench: &Bench) -> (Agent, Calendar) {
    let org = bench.organization().await;
    let agent = Agent { metadata: planted(), ..bench.make.agent(org) };
    let calendar = Calendar { metadata: planted(), ..bench.make.calendar(&agent) };
    bench.commit(ChangeSet::new(org).create(&agent).create(&calendar)).await;
    (agent, calendar)
}

/// Asserts that the store returns both as they are, one by one and in lists.
async fn are_read(bench: &Bench, agent: &Agent, calendar: &Calendar) {
    let (store, org) = (&bench.store, agent.org);
    assert_eq!(store.find_agent(org, agent.id).await.unwrap().as_ref(), Some(agent));
    let agents = store.list_agents(org, AgentFilter::default(), Page::default()).await.unwrap();
    assert_eq!(agents.data, std::slice::from_ref(agent));
    assert_eq!(store.find_calendar(org, calendar.id).await.unwrap().as_ref(), Some(calendar));
    let calendars = store.list_calendars(org, CalendarFilter::All, Page::default()).await.unwrap();
    assert_eq!(calendars.data, std::slice::from_ref(calendar));
}

async fn metadata_of(bench: &Bench, table: &str) -> String {
    let statement = AssertSqlSafe(format!("SELECT metadata FROM {table}"));
    sqlx::query_scalar(statement).fetch_one(&bench.behind.pool).await.unwrap()
}

/// Overwrites the metadata of the table's only row.
async fn store_as(bench: &Bench, table: &str, text: &str) {
    let statement = AssertSqlSafe(format!("UPDATE {table} SET metadata = $1"));
    sqlx::query(statement).bind(text).execute(&bench.behind.pool).await.unwrap();
}

#[tokio::test]
async fn metadata_is_stored_only_sealed() {
    let bench = Bench::set().await;
    let (agent, calendar) = written(&bench).await;
    are_read(&bench, &agent, &calendar).await;
    let created = everything(&bench).await;
    let renamed = Agent { name: "Renamed".into(), version: agent.version.next(), ..agent.clone() };
    let moved = Calendar { name: "Moved".into(), version: calendar.version.next(), ..calendar.clone() };
    bench.commit(ChangeSet::new(agent.org).update(&renamed, agent.version).update(&moved, calendar.version)).await;
    are_read(&bench, &renamed, &moved).await;
    let kept = created + &everything(&bench).await;
    assert!(!kept.contains(PLANTED));
    assert!(kept.contains("Renamed"), "the search finds what is written");
    for table in ["agents", "calendars"] {
        let sealed = metadata_of(&bench, table).await;
        assert!(sealed.starts_with("v1.first."), "{sealed}");
    }
}

#[tokio::test]
async fn metadata_of_earlier_versions_is_read_and_then_sealed() {
    let bench = Bench::set().await;
    let (agent, calendar) = written(&bench).await;
    for table in ["agents", "calendars"] {
        store_as(&bench, table, &planted().to_json()).await;
    }
    are_read(&bench, &agent, &calendar).await;
    assert_eq!((bench.store.reseal(100).await.unwrap(), bench.store.reseal(100).await.unwrap()), (1, 1));
    assert_eq!(bench.store.reseal(100).await.unwrap(), 0);
    for key in ["first", "second"] {
        bench.cipher.write_with(key);
        while bench.store.reseal(100).await.unwrap() > 0 {}
        for table in ["agents", "calendars"] {
            let sealed = metadata_of(&bench, table).await;
            assert!(sealed.starts_with(&format!("v1.{key}.")), "{sealed}");
        }
        are_read(&bench, &agent, &calendar).await;
    }
}

#[tokio::test]
async fn metadata_that_does_not_open_is_a_located_error() {
    let bench = Bench::set().await;
    let (agent, calendar) = written(&bench).await;
    // A seal is valid only for its row and table.
    let of_calendar = metadata_of(&bench, "calendars").await;
    for broken in ["v1.first.AAAA", "[]", &of_calendar] {
        store_as(&bench, "agents", broken).await;
        let read = bench.store.find_agent(agent.org, agent.id).await;
        let Err(StoreError::Corrupt(row)) = read else { panic!("{broken}: {read:?}") };
        assert_eq!((row.table, row.column), ("agents", "metadata"));
    }
    store_as(&bench, "calendars", "v1.").await;
    let read = bench.store.find_calendar(agent.org, calendar.id).await;
    let Err(StoreError::Corrupt(row)) = read else { panic!("{read:?}") };
    assert_eq!((row.table, row.column), ("calendars", "metadata"));
}

#[tokio::test]
async fn secrets_of_attempts_are_sealed_and_opened_once() {
    let bench = Bench::set().await;
    let store = &bench.store;
    let org = bench.organization().await;
    let attempt = |key: u8, nonce: &str| Attempt {
        key: TokenHash([key; 32]),
        provider: Provider::Google,
        nonce: nonce.to_owned(),
        verifier: format!("planted-verifier-{key}"),
        redirect_uri: "https://kalends.example/back".into(),
        terms_version: None,
        expires_at: bench.make.tick() + SignedDuration::minutes(10),
    };
    let signing_in = attempt(1, "planted-nonce");
    let connecting = ConnectAttempt {
        org,
        human: UserId::new(bench.make.tick(), &bench.make.entropy),
        purpose: Purpose::Connect { link: None },
        publishing: true,
        oauth: attempt(2, ""),
    };
    store.keep_attempt(&signing_in).await.unwrap();
    store.keep_connect_attempt(&connecting).await.unwrap();
    let kept = everything(&bench).await;
    assert!(!kept.contains("planted-"));
    assert!(kept.contains("kalends.example/back"), "the search finds what is written");
    assert!(store.use_attempt(signing_in.key).await.unwrap() == Some(signing_in.clone()));
    assert!(store.use_connect_attempt(connecting.oauth.key).await.unwrap() == Some(connecting.clone()));

    // Earlier versions stored the secrets in the clear. An attempt whose key is gone is over.
    for (nonce, verifier, opens) in [("nonce", "verifier", true), ("v1.gone.AAAA", "v1.gone.AAAA", false)] {
        store.keep_attempt(&signing_in).await.unwrap();
        store.keep_connect_attempt(&connecting).await.unwrap();
        let pool = &bench.behind.pool;
        let update = sqlx::query("UPDATE oauth_attempts SET nonce = $1, verifier = $2").bind(nonce).bind(verifier);
        update.execute(pool).await.unwrap();
        sqlx::query("UPDATE connection_attempts SET verifier = $1").bind(verifier).execute(pool).await.unwrap();
        let used = store.use_attempt(signing_in.key).await.unwrap();
        assert_eq!(used.map(|used| (used.nonce, used.verifier)), opens.then(|| (nonce.into(), verifier.into())));
        let used = store.use_connect_attempt(connecting.oauth.key).await.unwrap();
        assert_eq!(used.map(|used| used.oauth.verifier), opens.then(|| verifier.into()));
        assert!(store.use_attempt(signing_in.key).await.unwrap().is_none(), "the attempt is gone in both cases");
    }
}

#[tokio::test]
async fn requests_and_decisions_of_approvals_are_sealed_with_the_writing_key() {
    let bench = Bench::set().await;
    let (store, org) = (&bench.store, bench.organization().await);
    let agent = bench.make.agent(org);
    let mut approval = bench.make.approval(&bench.make.scoped_key(&agent).key);
    approval.summary = "planted-summary".into();
    approval.request.target = "/v1/planted-target".into();
    approval.request.body = r#"{"title":"planted-title"}"#.into();
    let outcome = Outcome { status: 409, body: Some(r#"{"error":"planted-error"}"#.into()) };
    let failed = approval.failed("planted-person", outcome, approval.created_at).unwrap();
    let seen = approval.version;
    for (change, expected) in [
        (kalends_approvals::Change::Ask(Box::new(approval.clone())), &approval),
        (kalends_approvals::Change::Decide { approval: Box::new(failed.clone()), seen }, &failed),
    ] {
        bench.commit(ChangeSet { approvals: vec![change], ..ChangeSet::new(org) }).await;
        for key in ["first", "second", "first"] {
            bench.cipher.write_with(key);
            while store.reseal(100).await.unwrap() > 0 {}
            let sealed: String =
                sqlx::query_scalar("SELECT content FROM approvals").fetch_one(&bench.behind.pool).await.unwrap();
            assert!(sealed.starts_with(&format!("v1.{key}.")), "{sealed}");
            assert_eq!(store.find_approval(org, approval.id).await.unwrap().as_ref(), Some(expected));
        }
        let kept = everything(&bench).await;
        assert!(!kept.contains("planted-") && kept.contains("createEvent"));
    }
}

#[tokio::test]
async fn secrets_of_second_factors_are_sealed_with_the_writing_key() {
    let bench = Bench::set().await;
    let (store, org, user) = (&bench.store, bench.organization().await, bench.make.user());
    let factor = SecondFactor::begin(user.id, TotpSecret::from_bytes([7; 20]), bench.make.tick());
    let changes = ChangeSet::new(org).create(&user);
    bench.commit(changes.account(Change::PutSecondFactor(factor.clone()))).await;
    for key in ["first", "second"] {
        bench.cipher.write_with(key);
        while store.reseal(100).await.unwrap() > 0 {}
        let sealed: String =
            sqlx::query_scalar("SELECT secret FROM second_factors").fetch_one(&bench.behind.pool).await.unwrap();
        assert!(sealed.starts_with(&format!("v1.{key}.")), "{sealed}");
        assert_eq!(store.find_second_factor(user.id).await.unwrap().as_ref(), Some(&factor));
    }
}
