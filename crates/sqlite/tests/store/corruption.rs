//! Rows that hold what the program never writes.

use std::collections::BTreeMap;

use kalends_accounts::ports::{AccountData as _, Organizations as _, Principals as _, ScopedKeys as _};
use kalends_app::{
    ChangeSet,
    ports::{AuditSubjects, Commit as _, Names as _},
};
use kalends_approvals::ports::Approvals as _;
use kalends_calendars::ports::{BusyTimes as _, Calendars as _, Events as _, RulesOfCalendars as _};
use kalends_kernel::StoreError;
use kalends_notifications::{LETTER_CLAIM_LASTS, ports::Letters as _};
use kalends_proposals::ports::Proposals as _;
use kalends_testkit::fixtures::Compose as _;
use sqlx::AssertSqlSafe;

use crate::scratch::Scratch;

/// The table, column and row of the corrupt value that a read found.
pub(crate) fn place<T: std::fmt::Debug>(outcome: Result<T, StoreError>) -> (&'static str, &'static str, String) {
    match outcome {
        Err(StoreError::Corrupt(row)) => (row.table, row.column, row.id),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_corrupt_value_is_a_located_error() {
    let scratch = Scratch::new().await;
    let store = scratch.store();
    let calendar = scratch.calendar(&store).await;
    let event = scratch.event(&calendar);
    store.commit(scratch.addition(&event)).await.unwrap();
    let other = scratch.event(&calendar);
    store.commit(scratch.addition(&other)).await.unwrap();

    let mut plain = scratch.plain().await;
    for (column, value) in [
        ("status", "'done'"),
        ("source", "''"),
        ("reminders", "'[0]'"),
        ("reminders", "'none'"),
        ("recurrence", "'{}'"),
        ("recurrence", r#"'{"rule":"FREQ=HOURLY","zone":"UTC","exdates":[],"overridden":[],"last_start":null}'"#),
        // A rule without any date, and one that ends before the series begins.
        (
            "recurrence",
            r#"'{"rule":"FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30","zone":"UTC","exdates":[],"overridden":[],"last_start":null}'"#,
        ),
        (
            "recurrence",
            r#"'{"rule":"FREQ=DAILY;UNTIL=19700101","zone":"UTC","exdates":[],"overridden":[],"last_start":null}'"#,
        ),
        ("content", "'v1.first.AAAA'"),
        ("content", "(select content from events where id <> ?1)"),
    ] {
        sqlx::query("savepoint before").execute(&mut plain).await.unwrap();
        sqlx::query(AssertSqlSafe(format!("update events set {column} = {value} where id = ?1")))
            .bind(event.id.uuid())
            .execute(&mut plain)
            .await
            .unwrap();
        let old: String = sqlx::query_scalar("select status from events where id = ?1")
            .bind(other.id.uuid())
            .fetch_one(&mut plain)
            .await
            .unwrap();
        assert_eq!(old, "confirmed");
        sqlx::query("release before").execute(&mut plain).await.unwrap();
        let expected = ("events", column, event.id.to_string());
        assert_eq!(place(store.find_event(event.org, event.id).await), expected, "{value}");
        // Restored, so that the next value is the only corrupt one.
        restore(&mut plain, &event, &scratch).await;
        assert!(store.find_event(event.org, event.id).await.unwrap().is_some());
    }

    for (table, column, value) in [
        ("calendars", "timezone", "'Mars/Olympus'"),
        ("organizations", "plan", "'platinum'"),
        ("organizations", "limit_overrides", "'{\"wishes\": 3}'"),
    ] {
        let table_and_value = format!("update {table} set {column} = {value}");
        sqlx::query(AssertSqlSafe(table_and_value)).execute(&mut plain).await.unwrap();
        if table == "calendars" {
            let found = place(store.find_calendar(calendar.org, calendar.id).await);
            assert_eq!(found, (table, column, calendar.id.to_string()));
        } else {
            let found = place(store.find_organization(calendar.org).await);
            assert_eq!(found, (table, column, calendar.org.to_string()));
            sqlx::query("update organizations set plan = 'free'").execute(&mut plain).await.unwrap();
        }
    }

    let agent = scratch.make.agent(calendar.org);
    let proposal = scratch.make.proposal(&calendar, agent.id);
    let mut changes = ChangeSet::new(calendar.org);
    changes.proposals.push(kalends_proposals::Change::Create(Box::new(proposal.clone())));
    store.commit(changes).await.unwrap();
    let slots = kalends_proposals::write_slots(proposal.slots());
    for (column, value) in [
        ("slots", "'[{}]'"),
        ("slots", "'[]'"),
        ("status", "'settled'"),
        ("reason", "'tired'"),
        ("version", "0"),
        ("content", "'plain'"),
    ] {
        let statement = AssertSqlSafe(format!("update proposals set {column} = {value}"));
        sqlx::query(statement).execute(&mut plain).await.unwrap();
        let found = place(store.find_proposal(calendar.org, proposal.id()).await);
        assert_eq!(found, ("proposals", column, proposal.id().to_string()));
        assert_eq!(store.overdue_proposals(proposal.expires_at(), 9).await.unwrap(), [], "the corrupt row is skipped");
        let restored = "update proposals set slots = ?1, status = 'pending', reason = null, version = 1";
        sqlx::query(restored).bind(&slots).execute(&mut plain).await.unwrap();
    }

    let rules = "insert into availability_rules select org_id, id, id, '{\"wishes\": 3}', 1, 1, 1 from calendars";
    sqlx::query(rules).execute(&mut plain).await.unwrap();
    let expected = ("availability_rules", "rules", calendar.id.to_string());
    let window = event.times.span;
    assert_eq!(place(store.find_rules(calendar.org, calendar.id).await), expected);
    assert_eq!(place(store.rules_of_calendars(calendar.org, &[calendar.id]).await), expected);
    assert_eq!(place(store.blocking_spans(calendar.org, calendar.id, window).await), expected);
    assert_eq!(place(store.blocks(calendar.org, calendar.id, window, 9).await), expected);
}

#[tokio::test]
async fn a_corrupt_key_or_approval_is_a_located_error() {
    let scratch = Scratch::new().await;
    let store = scratch.store();
    let org = scratch.calendar(&store).await.org;
    let agent = scratch.make.agent(org);
    let key = scratch.make.scoped_key(&agent).key;
    let approval = scratch.make.approval(&key);
    let ask = kalends_approvals::Change::Ask(Box::new(approval.clone()));
    store.commit(ChangeSet::new(org).create(&agent)).await.unwrap();
    store.commit(ChangeSet { approvals: vec![ask], ..ChangeSet::new(org).create(&key) }).await.unwrap();
    let mut plain = scratch.plain().await;
    for (column, value) in [
        ("status", "'settled'"),
        ("status", "'expired'"),
        ("key_id", "x'00'"),
        ("agent_id", "x'00'"),
        ("content", "'plain'"),
    ] {
        let statement = AssertSqlSafe(format!("update approvals set {column} = {value}"));
        sqlx::query(statement).execute(&mut plain).await.unwrap();
        let found = place(store.find_approval(org, approval.id).await);
        assert_eq!(found, ("approvals", column, approval.id.to_string()));
        assert_eq!(store.overdue_approvals(approval.expires_at, 9).await.unwrap(), [], "the corrupt row is skipped");
        let restored = "update approvals set status = 'pending', key_id = ?1, agent_id = ?2";
        let restored = sqlx::query(restored).bind(approval.key.uuid()).bind(approval.agent.uuid());
        restored.execute(&mut plain).await.unwrap();
    }

    for (column, fields) in [
        ("requires_approval", "requires_approval = '', approval_minutes = 5"),
        ("approval_minutes", "requires_approval = 'writes', approval_minutes = null"),
        ("approval_minutes", "requires_approval = null, approval_minutes = 5"),
        ("access_expires_at", "approval_minutes = null, client_id = zeroblob(16)"),
        ("client_id", "client_id = x'00', access_expires_at = 5"),
    ] {
        let statement = AssertSqlSafe(format!("update api_keys set {fields}"));
        sqlx::query(statement).execute(&mut plain).await.unwrap();
        let expected = ("api_keys", column, key.id.to_string());
        assert_eq!(place(store.find_scoped_key(org, key.id).await), expected, "{fields}");
        assert_eq!(place(store.find_principal(key.hash).await), expected, "{fields}");
        assert_eq!(place(store.keys_in_force(org).await), expected, "{fields}");
    }
}

#[tokio::test]
async fn an_unreadable_name_is_left_out() {
    let scratch = Scratch::new().await;
    let store = scratch.store();
    let calendar = scratch.calendar(&store).await;
    let org = calendar.org;
    let (corrupt, sound) = (scratch.event(&calendar), scratch.event(&calendar));
    for event in [&corrupt, &sound] {
        store.commit(scratch.addition(event)).await.unwrap();
    }
    let mut plain = scratch.plain().await;
    let asked = AuditSubjects {
        calendars: [calendar.id].into(),
        events: [corrupt.id, sound.id].into(),
        ..AuditSubjects::default()
    };
    for value in ["'plain'", "(select content from events where id <> ?1)"] {
        let statement = AssertSqlSafe(format!("update events set content = {value} where id = ?1"));
        sqlx::query(statement).bind(corrupt.id.uuid()).execute(&mut plain).await.unwrap();
        let named = store.names_for_audit(org, &asked).await.unwrap();
        assert_eq!(named.events, BTreeMap::from([(sound.id, sound.title.clone())]), "{value}");
    }
    assert_eq!(store.names_of_calendars(org, &[calendar.id].into()).await.unwrap().len(), 1);
    sqlx::query("update calendars set timezone = 'Mars/Olympus'").execute(&mut plain).await.unwrap();
    assert!(store.names_of_calendars(org, &[calendar.id].into()).await.unwrap().is_empty());
    let named = store.names_for_audit(org, &asked).await.unwrap();
    assert_eq!(named.calendars, BTreeMap::from([(calendar.id, calendar.name.clone())]), "its zone is not read");
}

#[tokio::test]
async fn an_unreadable_letter_does_not_hold_up_others() {
    let scratch = Scratch::new().await;
    let store = scratch.store();
    let calendar = scratch.calendar(&store).await;
    let letters = [scratch.make.letter(calendar.org), scratch.make.letter(calendar.org)];
    let mut changes = ChangeSet::new(calendar.org);
    changes.letters.extend(letters.clone());
    store.commit(changes).await.unwrap();
    let mut plain = scratch.plain().await;
    let [corrupt, sound] = &letters;
    let mut now = scratch.make.tick();
    for statement in [
        "update letters set content = 'plain' where id = ?1",
        "update letters set content = (select content from letters where id <> ?1) where id = ?1",
        "update letters set recipient = x'00' where id = ?1",
        "update letters set about = x'00' where id = ?1",
    ] {
        let broken = sqlx::query(statement).bind(corrupt.id.uuid()).execute(&mut plain).await.unwrap();
        assert_eq!(broken.rows_affected(), 1);
        let mut claimed = store.claim_letters(now, 9).await.unwrap();
        claimed.extend(store.claim_letters(now, 9).await.unwrap());
        assert_eq!(claimed.into_iter().map(|claimed| claimed.letter.id).collect::<Vec<_>>(), [sound.id], "{statement}");
        assert!(store.claim_letters(now, 9).await.unwrap().is_empty(), "both are claimed");
        now = now + LETTER_CLAIM_LASTS;
    }
}

async fn restore(plain: &mut sqlx::SqliteConnection, event: &kalends_calendars::Event, scratch: &Scratch) {
    use kalends_app::ports::{FieldCipher as _, Place};
    let content = scratch.cipher.seal(
        Place { table: "events", column: "content", id: event.id.uuid() },
        br#"{"title":"Standup","description":null,"metadata":{}}"#,
    );
    sqlx::query(
        "update events set status = 'confirmed', source = 'internal', reminders = null, content = ?2, recurrence = null
         where id = ?1",
    )
    .bind(event.id.uuid())
    .bind(content)
    .execute(plain)
    .await
    .unwrap();
}
