//! Rows that no version of the program writes, and related cases.

use std::collections::BTreeMap;

use kalends_accounts::ports::{AccountData as _, Organizations as _, Principals as _, ScopedKeys as _};
use kalends_app::ChangeSet;
use kalends_app::ports::{AuditSubjects, Names as _, StoredAnswers as _};
use kalends_approvals::ports::Approvals as _;
use kalends_calendars::ports::{
    Agents as _, BusyTimes as _, Calendars as _, EventFilter, EventScope, Events as _, Instances as _,
    RulesOfCalendars as _,
};
use kalends_kernel::{CorruptRow, Page, StoreError};
use kalends_notifications::LETTER_CLAIM_LASTS;
use kalends_notifications::ports::Letters as _;
use kalends_postgres::Database;
use kalends_proposals::ports::Proposals as _;
use kalends_testkit::fixtures::{Compose as _, span};

use crate::server::{Bench, Scratch};

#[track_caller]
pub(crate) fn located<T: std::fmt::Debug>(
    outcome: Result<T, StoreError>,
    table: &str,
    column: &str,
    id: &impl ToString,
) {
    match outcome {
        Err(StoreError::Corrupt(CorruptRow { table: in_table, column: in_column, id: of, .. })) => {
            assert_eq!((in_table, in_column, of), (table, column, id.to_string()));
        }
        other => panic!("expected a corrupt {table}.{column}, got {other:?}"),
    }
}

#[tokio::test]
async fn a_corrupt_key_or_approval_is_located() {
    let bench = Bench::set().await;
    let (store, behind) = (&bench.store, &bench.behind);
    let org = bench.organization().await;
    let agent = bench.make.agent(org);
    let asking = bench.make.scoped_key(&agent).key;
    let approval = bench.make.approval(&asking);
    let ask = kalends_approvals::Change::Ask(Box::new(approval.clone()));
    bench.commit(ChangeSet::new(org).create(&agent)).await;
    bench.commit(ChangeSet { approvals: vec![ask], ..ChangeSet::new(org).create(&asking) }).await;
    for (column, corrupt) in [
        ("status", "UPDATE approvals SET status = 'settled'"),
        ("status", "UPDATE approvals SET status = 'expired'"),
        ("content", "UPDATE approvals SET status = 'pending', content = 'plain'"),
    ] {
        behind.run(corrupt).await;
        located(store.find_approval(org, approval.id).await, "approvals", column, &approval.id);
        assert_eq!(store.overdue_approvals(approval.expires_at, 9).await.unwrap(), [], "the corrupt row is skipped");
    }
    for (column, corrupt) in [
        ("requires_approval", "UPDATE api_keys SET requires_approval = '', approval_minutes = 5"),
        ("approval_minutes", "UPDATE api_keys SET requires_approval = 'writes', approval_minutes = NULL"),
        ("access_expires_at", "UPDATE api_keys SET requires_approval = NULL, client_id = org_id"),
    ] {
        behind.run(corrupt).await;
        located(store.find_scoped_key(org, asking.id).await, "api_keys", column, &asking.id);
        located(store.find_principal(asking.hash).await, "api_keys", column, &asking.id);
        located(store.keys_in_force(org).await, "api_keys", column, &asking.id);
    }
}

#[tokio::test]
async fn a_corrupt_row_is_located() {
    let bench = Bench::set().await;
    let (store, behind) = (&bench.store, &bench.behind);
    let org = bench.organization().await;
    let (agent, key, answer) = (bench.make.agent(org), bench.make.key(org), bench.make.answer());
    let calendar = bench.make.calendar(&agent);
    let event = bench.make.event(&calendar, span("2026-03-02T09:00:00Z", "2026-03-02T10:00:00Z"));
    let code = bench.make.code(org);
    let put = kalends_accounts::Change::PutCode { code, seen: None };
    let changes = ChangeSet::new(org).create(&agent).create(&calendar).create(&event).create(&key.key);
    bench.commit(changes.account(put).answer(answer.clone())).await;

    behind.run("UPDATE agents SET metadata = '[]'").await;
    located(store.find_agent(org, agent.id).await, "agents", "metadata", &agent.id);
    behind.run("UPDATE agents SET metadata = '{}', type = 'robot'").await;
    located(store.list_agents(org, Default::default(), Page::default()).await, "agents", "type", &agent.id);

    behind.run("UPDATE calendars SET timezone = 'Mars/Olympus'").await;
    located(store.find_calendar(org, calendar.id).await, "calendars", "timezone", &calendar.id);
    behind.run("UPDATE calendars SET timezone = 'UTC', default_reminders = '[0]'").await;
    located(store.find_calendar(org, calendar.id).await, "calendars", "default_reminders", &calendar.id);

    behind.run("UPDATE calendars SET default_reminders = NULL").await;
    let proposal = bench.make.proposal(&calendar, agent.id);
    let mut changes = ChangeSet::new(org);
    changes.proposals.push(kalends_proposals::Change::Create(Box::new(proposal.clone())));
    bench.commit(changes).await;
    for (column, corrupt) in [
        ("slots", "UPDATE proposals SET slots = '[{}]'"),
        ("slots", "UPDATE proposals SET slots = '[]'"),
        ("status", "UPDATE proposals SET slots = '[]', status = 'settled'"),
        ("reason", "UPDATE proposals SET status = 'cancelled', reason = 'tired'"),
        ("status", "UPDATE proposals SET status = 'cancelled', reason = NULL"),
        ("content", "UPDATE proposals SET status = 'pending', content = 'plain'"),
    ] {
        behind.run(corrupt).await;
        located(store.find_proposal(org, proposal.id()).await, "proposals", column, &proposal.id());
        assert_eq!(store.overdue_proposals(proposal.expires_at(), 9).await.unwrap(), [], "the corrupt row is skipped");
    }

    let window = span("1970-01-01T00:00:00Z", "2099-01-01T00:00:00Z");
    behind.run("UPDATE events SET status = 'maybe'").await;
    located(store.find_event(org, event.id).await, "events", "status", &event.id);
    behind.run("UPDATE events SET status = 'confirmed', original_start = 5").await;
    located(store.find_event(org, event.id).await, "events", "series_id", &event.id);
    behind.run("UPDATE events SET original_start = NULL, reaches = 9000000000000000000, recurrence = '{}'").await;
    located(store.find_event(org, event.id).await, "events", "recurrence", &event.id);
    located(store.blocking_series(org, &[calendar.id], window).await, "events", "recurrence", &event.id);
    behind.run("UPDATE events SET recurrence = NULL, content = 'plain'").await;
    let scope = EventScope::Agent(agent.id);
    let listed = store.list_events(org, scope, EventFilter::default(), Page::default()).await;
    located(listed, "events", "content", &event.id);

    behind.run("INSERT INTO availability_rules SELECT org_id, id, id, '{\"wishes\": 3}', 1, 1, 1 FROM calendars").await;
    let window = event.times.span;
    located(store.find_rules(org, calendar.id).await, "availability_rules", "rules", &calendar.id);
    located(store.rules_of_calendars(org, &[calendar.id]).await, "availability_rules", "rules", &calendar.id);
    located(store.blocking_spans(org, calendar.id, window).await, "availability_rules", "rules", &calendar.id);
    located(store.blocks(org, calendar.id, window, 9).await, "availability_rules", "rules", &calendar.id);

    behind.run("UPDATE organizations SET limit_overrides = '{\"agents\": -1}'").await;
    located(store.find_principal(key.key.hash).await, "organizations", "limit_overrides", &org);
    behind.run("UPDATE organizations SET limit_overrides = NULL, plan = 'gold'").await;
    located(store.find_organization(org).await, "organizations", "plan", &org);
    behind.run("UPDATE organizations SET plan = 'free', accepted_at = 5").await;
    located(store.list_organizations().await, "organizations", "accepted_terms", &org);
    behind.run("UPDATE api_keys SET kind = 'master'").await;
    located(store.find_principal(key.key.hash).await, "api_keys", "kind", &key.key.id);
    behind.run("UPDATE verification_codes SET attempts = -1").await;
    located(store.find_code(org).await, "verification_codes", "attempts", &org);
    behind.run("DELETE FROM principals_epoch").await;
    located(store.principals_epoch().await, "principals_epoch", "one", &1);

    let scope: String = answer.scope.iter().map(|byte| format!("{byte:02x}")).collect();
    behind.run("UPDATE idempotent_answers SET status = -1").await;
    located(store.find_answer(answer.scope, answer.created_at).await, "idempotent_answers", "status", &scope);
    behind.run("UPDATE idempotent_answers SET fingerprint = '\\x00'").await;
    behind.run("UPDATE idempotent_answers SET status = 200").await;
    located(store.find_answer(answer.scope, answer.created_at).await, "idempotent_answers", "fingerprint", &scope);
}

#[tokio::test]
async fn user_texts_are_stored_only_sealed() {
    let bench = Bench::set().await;
    let org = bench.organization().await;
    let calendar = bench.calendar(org).await;
    let event = bench.make.event(&calendar, span("2026-03-02T09:00:00Z", "2026-03-02T10:00:00Z"));
    let changes = ChangeSet::new(org).create(&event).message(bench.make.message(org)).answer(bench.make.answer());
    bench.commit(changes).await;
    let sealed = "SELECT (SELECT count(*) FROM events WHERE content LIKE 'v1.first.%')
                       + (SELECT count(*) FROM outbox WHERE payload LIKE 'v1.first.%')
                       + (SELECT count(*) FROM idempotent_answers WHERE body LIKE 'v1.first.%')";
    assert_eq!(bench.behind.count(sealed).await, 3);
}

#[tokio::test]
async fn concurrent_migrations_are_applied_once() {
    let scratch = Scratch::empty().await;
    let database = Database::open(&scratch.url(), 8).await.unwrap();
    assert!(database.migrations_pending().await.unwrap());
    let (first, second, third) = tokio::join!(database.migrate(), database.migrate(), database.migrate());
    first.and(second).and(third).unwrap();
    assert!(!database.migrations_pending().await.unwrap());

    let pool = scratch.pool().await;
    sqlx::query("UPDATE _sqlx_migrations SET checksum = '\\x00'").execute(&pool).await.unwrap();
    for _ in 0..3 {
        // The failed migration must not keep its lock.
        let refused = tokio::time::timeout(std::time::Duration::from_secs(60), database.migrate()).await.unwrap();
        assert!(matches!(refused, Err(StoreError::Failed(_))), "{refused:?}");
    }
}

#[tokio::test]
async fn an_unreadable_name_is_left_out() {
    let bench = Bench::set().await;
    let (store, behind) = (&bench.store, &bench.behind);
    let org = bench.organization().await;
    let calendar = bench.calendar(org).await;
    let event = || bench.make.event(&calendar, span("2026-03-02T09:00:00Z", "2026-03-02T10:00:00Z"));
    let (corrupt, sound) = (event(), event());
    bench.commit(ChangeSet::new(org).create(&corrupt).create(&sound)).await;
    let asked = AuditSubjects {
        calendars: [calendar.id].into(),
        events: [corrupt.id, sound.id].into(),
        ..AuditSubjects::default()
    };
    for statement in [
        "UPDATE events SET content = 'plain' WHERE id = $1",
        "UPDATE events SET content = (SELECT content FROM events WHERE id <> $1) WHERE id = $1",
    ] {
        sqlx::query(statement).bind(corrupt.id.uuid()).execute(&behind.pool).await.unwrap();
        let named = store.names_for_audit(org, &asked).await.unwrap();
        assert_eq!(named.events, BTreeMap::from([(sound.id, sound.title.clone())]), "{statement}");
    }
    assert_eq!(store.names_of_calendars(org, &[calendar.id].into()).await.unwrap().len(), 1);
    behind.run("UPDATE calendars SET timezone = 'Mars/Olympus'").await;
    assert!(store.names_of_calendars(org, &[calendar.id].into()).await.unwrap().is_empty());
    let named = store.names_for_audit(org, &asked).await.unwrap();
    assert_eq!(named.calendars, BTreeMap::from([(calendar.id, calendar.name.clone())]), "its zone is not read");
}

#[tokio::test]
async fn an_unreadable_letter_does_not_hold_up_others() {
    let bench = Bench::set().await;
    let (store, behind) = (&bench.store, &bench.behind);
    let org = bench.organization().await;
    let [corrupt, sound] = [bench.make.letter(org), bench.make.letter(org)];
    let mut changes = ChangeSet::new(org);
    changes.letters.extend([corrupt.clone(), sound.clone()]);
    bench.commit(changes).await;
    let mut now = bench.make.tick();
    for statement in [
        "UPDATE letters SET content = 'plain' WHERE id = $1",
        "UPDATE letters SET content = (SELECT content FROM letters WHERE id <> $1) WHERE id = $1",
        "UPDATE letters SET recipient = '\\x00' WHERE id = $1",
        "UPDATE letters SET put_off = -1 WHERE id = $1",
    ] {
        let broken = sqlx::query(statement).bind(corrupt.id.uuid()).execute(&behind.pool).await.unwrap();
        assert_eq!(broken.rows_affected(), 1);
        let mut claimed = store.claim_letters(now, 9).await.unwrap();
        claimed.extend(store.claim_letters(now, 9).await.unwrap());
        assert_eq!(claimed.into_iter().map(|claimed| claimed.letter.id).collect::<Vec<_>>(), [sound.id], "{statement}");
        assert!(store.claim_letters(now, 9).await.unwrap().is_empty(), "both are claimed");
        now = now + LETTER_CLAIM_LASTS;
    }
}
