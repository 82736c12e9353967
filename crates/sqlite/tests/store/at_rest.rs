//! Data at rest: the metadata of agents and calendars and the secrets of sign-in attempts are sealed, and deleted
//! rows leave nothing in the files.

use kalends_accounts::{
    Change, SecondFactor, TokenHash, TotpSecret,
    oauth::{Attempt, Provider},
    ports::{Deletions as _, OauthAttempts as _, SecondFactors as _},
};
use kalends_app::{
    ChangeSet,
    ports::{Commit as _, Reseal as _},
};
use kalends_approvals::{Outcome, ports::Approvals as _};
use kalends_bridge::{ConnectAttempt, Purpose, ports::ConnectAttempts as _};
use kalends_calendars::{
    Agent, Calendar,
    ports::{AgentFilter, Agents as _, CalendarFilter, Calendars as _},
};
use kalends_kernel::{Metadata, Page, StoreError, UserId};
use kalends_sqlite::SqliteStore;
use kalends_testkit::fixtures::Compose as _;
use kalends_time::SignedDuration;
use sqlx::{AssertSqlSafe, Row as _};

use crate::scratch::Scratch;

const PLANTED: &str = "planted-in-metadata";

fn planted() -> Metadata {
    Metadata::from_json(&format!(r#"{{"note":{{"deep":["{PLANTED}"]}}}}"#)).unwrap()
}

/// Stores an agent and its calendar, both with planted metadata.
async fn written(scratch: &Scratch, store: &SqliteStore) -> (Agent, Calendar) {
    let organization = scratch.make.organization();
    let agent = Agent { metadata: planted(), ..scratch.make.agent(organization.id) };
    let calendar = Calendar { metadata: planted(), ..scratch.make.calendar(&agent) };
    let changes = ChangeSet::new(organization.id).create(&organization).create(&agent).create(&calendar);
    store.commit(changes).await.unwrap();
    (agent, calendar)
}

/// Asserts that the store returns both as they are, one by one and in lists.
async fn are_read(store: &SqliteStore, agent: &Agent, calendar: &Calendar) {
    let org = agent.org;
    assert_eq!(store.find_agent(org, agent.id).await.unwrap().as_ref(), Some(agent));
    let agents = store.list_agents(org, AgentFilter::default(), Page::default()).await.unwrap();
    assert_eq!(agents.data, std::slice::from_ref(agent));
    assert_eq!(store.find_calendar(org, calendar.id).await.unwrap().as_ref(), Some(calendar));
    let calendars = store.list_calendars(org, CalendarFilter::All, Page::default()).await.unwrap();
    assert_eq!(calendars.data, std::slice::from_ref(calendar));
}

/// How many files of the database contain the text.
fn files_with(scratch: &Scratch, text: &str) -> usize {
    let files = std::fs::read_dir(scratch.directory.path()).unwrap();
    let holds = |bytes: Vec<u8>| bytes.windows(text.len()).any(|window| window == text.as_bytes());
    files.filter(|entry| holds(std::fs::read(entry.as_ref().unwrap().path()).unwrap())).count()
}

async fn metadata_of(scratch: &Scratch, table: &str) -> String {
    let statement = AssertSqlSafe(format!("select metadata from {table}"));
    sqlx::query(statement).fetch_one(&mut scratch.plain().await).await.unwrap().get(0)
}

/// Overwrites the metadata of the table's only row.
async fn store_as(scratch: &Scratch, table: &str, text: &str) {
    let statement = AssertSqlSafe(format!("update {table} set metadata = ?1"));
    sqlx::query(statement).bind(text).execute(&mut scratch.plain().await).await.unwrap();
}

#[tokio::test]
async fn metadata_is_stored_only_sealed() {
    let scratch = Scratch::new().await;
    let store = scratch.store();
    let (agent, calendar) = written(&scratch, &store).await;
    are_read(&store, &agent, &calendar).await;
    let renamed = Agent { name: "Renamed".into(), version: agent.version.next(), ..agent.clone() };
    let moved = Calendar { name: "Moved".into(), version: calendar.version.next(), ..calendar.clone() };
    let changes = ChangeSet::new(agent.org).update(&renamed, agent.version).update(&moved, calendar.version);
    store.commit(changes).await.unwrap();
    are_read(&store, &renamed, &moved).await;
    assert_eq!(files_with(&scratch, PLANTED), 0);
    assert_ne!(files_with(&scratch, "Renamed"), 0, "the search finds what is written");
    for table in ["agents", "calendars"] {
        let sealed = metadata_of(&scratch, table).await;
        assert!(sealed.starts_with("v1.first."), "{sealed}");
    }
}

#[tokio::test]
async fn metadata_of_earlier_versions_is_read_and_then_sealed() {
    let scratch = Scratch::new().await;
    let store = scratch.store();
    let (agent, calendar) = written(&scratch, &store).await;
    for table in ["agents", "calendars"] {
        store_as(&scratch, table, &planted().to_json()).await;
    }
    are_read(&store, &agent, &calendar).await;
    assert_eq!((store.reseal(100).await.unwrap(), store.reseal(100).await.unwrap()), (1, 1));
    assert_eq!(store.reseal(100).await.unwrap(), 0);
    for key in ["first", "second"] {
        scratch.cipher.write_with(key);
        while store.reseal(100).await.unwrap() > 0 {}
        for table in ["agents", "calendars"] {
            let sealed = metadata_of(&scratch, table).await;
            assert!(sealed.starts_with(&format!("v1.{key}.")), "{sealed}");
        }
        are_read(&store, &agent, &calendar).await;
    }
}

#[tokio::test]
async fn metadata_that_does_not_open_is_a_located_error() {
    let scratch = Scratch::new().await;
    let store = scratch.store();
    let (agent, calendar) = written(&scratch, &store).await;
    // A seal is valid only for its row and table.
    let of_calendar = metadata_of(&scratch, "calendars").await;
    for broken in ["v1.first.AAAA", "[]", &of_calendar] {
        store_as(&scratch, "agents", broken).await;
        let read = store.find_agent(agent.org, agent.id).await;
        let Err(StoreError::Corrupt(row)) = read else { panic!("{broken}: {read:?}") };
        assert_eq!((row.table, row.column), ("agents", "metadata"));
    }
    store_as(&scratch, "calendars", "v1.").await;
    let read = store.find_calendar(agent.org, calendar.id).await;
    let Err(StoreError::Corrupt(row)) = read else { panic!("{read:?}") };
    assert_eq!((row.table, row.column), ("calendars", "metadata"));
}

#[tokio::test]
async fn secrets_of_attempts_are_sealed_and_opened_once() {
    let scratch = Scratch::new().await;
    let store = scratch.store();
    let organization = scratch.make.organization();
    store.commit(ChangeSet::new(organization.id).create(&organization)).await.unwrap();
    let attempt = |key: u8, nonce: &str| Attempt {
        key: TokenHash([key; 32]),
        provider: Provider::Google,
        nonce: nonce.to_owned(),
        verifier: format!("planted-verifier-{key}"),
        redirect_uri: "https://kalends.example/back".into(),
        terms_version: None,
        expires_at: scratch.make.tick() + SignedDuration::minutes(10),
    };
    let signing_in = attempt(1, "planted-nonce");
    let connecting = ConnectAttempt {
        org: organization.id,
        human: UserId::new(scratch.make.tick(), &scratch.make.entropy),
        purpose: Purpose::Connect { link: None },
        publishing: true,
        oauth: attempt(2, ""),
    };
    store.keep_attempt(&signing_in).await.unwrap();
    store.keep_connect_attempt(&connecting).await.unwrap();
    assert_eq!(files_with(&scratch, "planted-"), 0);
    assert_ne!(files_with(&scratch, "kalends.example/back"), 0, "the search finds what is written");
    assert!(store.use_attempt(signing_in.key).await.unwrap() == Some(signing_in.clone()));
    assert!(store.use_connect_attempt(connecting.oauth.key).await.unwrap() == Some(connecting.clone()));

    // Earlier versions stored the secrets in the clear. An attempt whose key is gone is over.
    for (nonce, verifier, opens) in [("nonce", "verifier", true), ("v1.gone.AAAA", "v1.gone.AAAA", false)] {
        store.keep_attempt(&signing_in).await.unwrap();
        store.keep_connect_attempt(&connecting).await.unwrap();
        let mut plain = scratch.plain().await;
        let update = sqlx::query("update oauth_attempts set nonce = ?1, verifier = ?2").bind(nonce).bind(verifier);
        update.execute(&mut plain).await.unwrap();
        let update = sqlx::query("update connection_attempts set verifier = ?1").bind(verifier);
        update.execute(&mut plain).await.unwrap();
        let used = store.use_attempt(signing_in.key).await.unwrap();
        assert_eq!(used.map(|used| (used.nonce, used.verifier)), opens.then(|| (nonce.into(), verifier.into())));
        let used = store.use_connect_attempt(connecting.oauth.key).await.unwrap();
        assert_eq!(used.map(|used| used.oauth.verifier), opens.then(|| verifier.into()));
        assert!(store.use_attempt(signing_in.key).await.unwrap().is_none(), "the attempt is gone in both cases");
    }
}

#[tokio::test]
async fn requests_and_decisions_of_approvals_are_sealed_with_the_writing_key() {
    let scratch = Scratch::new().await;
    let store = scratch.store();
    let (agent, _) = written(&scratch, &store).await;
    let mut approval = scratch.make.approval(&scratch.make.scoped_key(&agent).key);
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
        store.commit(ChangeSet { approvals: vec![change], ..ChangeSet::new(agent.org) }).await.unwrap();
        for key in ["first", "second", "first"] {
            scratch.cipher.write_with(key);
            while store.reseal(100).await.unwrap() > 0 {}
            let sealed: String = sqlx::query_scalar("select content from approvals")
                .fetch_one(&mut scratch.plain().await)
                .await
                .unwrap();
            assert!(sealed.starts_with(&format!("v1.{key}.")), "{sealed}");
            assert_eq!(store.find_approval(agent.org, approval.id).await.unwrap().as_ref(), Some(expected));
        }
        assert_eq!(files_with(&scratch, "planted-"), 0);
        assert_ne!(files_with(&scratch, "createEvent"), 0, "the search finds what is written");
    }
}

#[tokio::test]
async fn deleted_content_is_wiped_from_the_files() {
    let scratch = Scratch::new().await;
    let store = scratch.store();
    let (ours, theirs) = (scratch.make.organization(), scratch.make.organization());
    for organization in [&ours, &theirs] {
        store.commit(ChangeSet::new(organization.id).create(organization)).await.unwrap();
    }
    // Rows of both organizations alternate, in sizes that make pages split and merge.
    for round in 0..60_usize {
        for (org, word) in [(ours.id, "planted-name"), (theirs.id, "kept-name")] {
            for number in 0..10_usize {
                let filler = "x".repeat((round * 31 + number * 97) % 700);
                let agent = scratch.make.agent(org);
                let agent = Agent { name: format!("{word}-{round}-{number}"), description: Some(filler), ..agent };
                let created = ChangeSet::new(org).create(&agent).audit(scratch.make.audit_entry(org));
                store.commit(created).await.unwrap();
                // The row may not fit in its place any more.
                let grown = Agent {
                    name: format!("{word}-{}", "y".repeat(round * 13 % 300)),
                    version: agent.version.next(),
                    ..agent.clone()
                };
                store.commit(ChangeSet::new(org).update(&grown, agent.version)).await.unwrap();
            }
        }
    }
    let (org, seen, at) = (ours.id, ours.version, scratch.make.tick());
    store.commit(ChangeSet::new(org).account(Change::DeleteOrganization { org, seen, at })).await.unwrap();
    while store.remove_rows(org, 50).await.unwrap() > 0 {}
    store.end_deletion(org).await.unwrap();
    drop(store);
    assert_ne!(files_with(&scratch, "kept-name"), 0, "the search finds what is written");
    scratch.database.close().await;
    assert_eq!(files_with(&scratch, "planted-name"), 0);
    assert_ne!(files_with(&scratch, "kept-name"), 0, "the other organization's content stays");
}

#[tokio::test]
async fn secrets_of_second_factors_are_sealed_with_the_writing_key() {
    let scratch = Scratch::new().await;
    let store = scratch.store();
    let (organization, user) = (scratch.make.organization(), scratch.make.user());
    let factor = SecondFactor::begin(user.id, TotpSecret::from_bytes([7; 20]), scratch.make.tick());
    let changes = ChangeSet::new(organization.id).create(&organization).create(&user);
    store.commit(changes.account(Change::PutSecondFactor(factor.clone()))).await.unwrap();
    for key in ["first", "second"] {
        scratch.cipher.write_with(key);
        while store.reseal(100).await.unwrap() > 0 {}
        let sealed: String = sqlx::query_scalar("select secret from second_factors")
            .fetch_one(&mut scratch.plain().await)
            .await
            .unwrap();
        assert!(sealed.starts_with(&format!("v1.{key}.")), "{sealed}");
        assert_eq!(store.find_second_factor(user.id).await.unwrap().as_ref(), Some(&factor));
    }
}
