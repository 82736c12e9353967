//! Data keys, and sealing again.

use std::sync::Arc;

use kalends_app::ChangeSet;
use kalends_app::ports::StoredAnswers as _;
use kalends_app::ports::{Commit as _, CommitError, DataKeyState, KeyTable as _, Reseal as _, WrappedDataKey};
use kalends_calendars::Event;
use kalends_calendars::ports::{EventFilter, EventScope, Events as _, MetadataIndex as _};
use kalends_kernel::{DataKeyId, Metadata, MetadataFilter, Page, StoreError};
use kalends_postgres::Database;
use kalends_testkit::Inspect as _;
use kalends_testkit::fixtures::{Compose as _, Fixtures, span};
use tokio::task::JoinSet;

use crate::server::{Bench, Scratch};

fn key(make: &Fixtures, state: DataKeyState) -> WrappedDataKey {
    let created_at = make.tick();
    WrappedDataKey {
        id: DataKeyId::new(created_at, &make.entropy),
        master: "0011".into(),
        wrapped: "v1.wrapped".into(),
        state,
        created_at,
        resealed_at: (state == DataKeyState::Writing).then_some(created_at),
    }
}

#[tokio::test]
async fn the_key_table_keeps_one_writing_key() {
    let (scratch, make) = (Scratch::migrated().await, Fixtures::new());
    let table = Database::open(&scratch.url(), 4).await.unwrap().key_table();
    assert_eq!(table.data_keys().await.unwrap(), []);
    let (first, second) = (key(&make, DataKeyState::Writing), key(&make, DataKeyState::Reading));
    assert!(table.add_data_key(&first, true).await.unwrap());
    assert!(!table.add_data_key(&second, true).await.unwrap());
    assert!(table.add_data_key(&second, false).await.unwrap());
    assert_eq!(table.data_keys().await.unwrap(), [first.clone(), second.clone()]);

    table.write_with(second.id).await.unwrap();
    table.rewrap(first.id, "2233", "v1.again").await.unwrap();
    let (old, new) = (
        WrappedDataKey { state: DataKeyState::Reading, master: "2233".into(), wrapped: "v1.again".into(), ..first },
        WrappedDataKey { state: DataKeyState::Writing, ..second },
    );
    assert_eq!(table.data_keys().await.unwrap(), [old.clone(), new.clone()]);

    let nobody = key(&make, DataKeyState::Reading).id;
    assert!(matches!(table.write_with(nobody).await, Err(StoreError::Failed(_))));
    assert!(matches!(table.rewrap(nobody, "", "").await, Err(StoreError::Failed(_))));
    // The end of a rotation is recorded for the writing key only, and counts until another key writes.
    let at = make.tick();
    for (id, recorded) in [(nobody, false), (old.id, false), (new.id, true)] {
        assert_eq!(table.record_resealed(id, at).await.unwrap(), recorded);
    }
    table.write_with(new.id).await.unwrap();
    let new = WrappedDataKey { resealed_at: Some(at), ..new };
    assert_eq!(table.data_keys().await.unwrap(), [old.clone(), new.clone()]);
    table.remove_data_key(old.id).await.unwrap();
    assert_eq!(table.data_keys().await.unwrap(), std::slice::from_ref(&new));

    let third = key(&make, DataKeyState::Reading);
    assert!(table.add_data_key(&third, false).await.unwrap());
    table.write_with(third.id).await.unwrap();
    let resealed_at = table.data_keys().await.unwrap().into_iter().map(|key| key.resealed_at).collect::<Vec<_>>();
    assert_eq!(resealed_at, [Some(at), None]);
    table.write_with(new.id).await.unwrap();
    assert!(table.data_keys().await.unwrap().iter().all(|key| key.resealed_at.is_none()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn one_of_many_starting_nodes_makes_the_first_key() {
    let (scratch, make) = (Scratch::migrated().await, Fixtures::new());
    let database = Database::open(&scratch.url(), 8).await.unwrap();
    let mut racing = JoinSet::new();
    for _ in 0..16 {
        let (table, key) = (database.key_table(), key(&make, DataKeyState::Writing));
        racing.spawn(async move { table.add_data_key(&key, true).await.unwrap() });
    }
    let added = racing.join_all().await.into_iter().filter(|added| *added).count();
    assert_eq!((added, database.key_table().data_keys().await.unwrap().len()), (1, 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn one_concurrent_choice_of_the_writing_key_wins() {
    let (scratch, make) = (Scratch::migrated().await, Fixtures::new());
    let database = Database::open(&scratch.url(), 8).await.unwrap();
    let keys: Vec<_> = (0..8).map(|_| key(&make, DataKeyState::Reading)).collect();
    for key in &keys {
        database.key_table().add_data_key(key, false).await.unwrap();
    }
    for _ in 0..10 {
        let mut racing = JoinSet::new();
        for key in &keys {
            let (table, id) = (database.key_table(), key.id);
            racing.spawn(async move { table.write_with(id).await.unwrap() });
        }
        racing.join_all().await;
        let keys = database.key_table().data_keys().await.unwrap();
        assert_eq!(keys.iter().filter(|key| key.state == DataKeyState::Writing).count(), 1);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn everything_is_resealed_while_it_changes() {
    let bench = Bench::set().await;
    let org = bench.organization().await;
    let calendar = bench.calendar(org).await;
    let nine_to_ten = span("2026-03-02T09:00:00Z", "2026-03-02T10:00:00Z");
    let mut events = Vec::new();
    let mut answers = Vec::new();
    for number in 0..120 {
        let metadata = Metadata::from_json(&format!(r#"{{"number":{number}}}"#)).unwrap();
        let event = Event { metadata, ..bench.make.event(&calendar, nine_to_ten) };
        let answer = bench.make.answer();
        let changes = ChangeSet::new(org).create(&event).message(bench.make.message(org)).answer(answer.clone());
        bench.commit(changes).await;
        events.push(event);
        answers.push(answer);
    }
    bench.cipher.write_with("second");

    let other = bench.other_node().await;
    let mut racing = JoinSet::new();
    for node in [&bench.store, &other, &bench.store] {
        let node = Arc::clone(node);
        racing.spawn(async move { while node.reseal(7).await.unwrap() > 0 {} });
    }
    for event in events.iter().take(40).cloned() {
        let (node, now) = (Arc::clone(&bench.store), bench.make.tick());
        racing.spawn(async move {
            let changed =
                Event { title: "Retro".into(), version: event.version.next(), updated_at: now, ..event.clone() };
            match node.commit(ChangeSet::new(event.org).update(&changed, event.version)).await {
                Ok(()) => {}
                Err(error @ (CommitError::Stale | CommitError::Store(_))) => panic!("{error:?}"),
                Err(error) => panic!("{error:?}"),
            }
        });
    }
    racing.join_all().await;
    assert_eq!(bench.store.reseal(1_000).await.unwrap(), 0);

    bench.cipher.forget("first");
    for (index, event) in events.iter().enumerate() {
        let found = bench.store.find_event(org, event.id).await.unwrap().unwrap().event;
        assert_eq!(found.title, if index < 40 { "Retro" } else { "Standup" });
        let metadata = MetadataFilter::parse("", [("number", index.to_string().as_str())]).unwrap();
        let filter = EventFilter { metadata, ..EventFilter::default() };
        let scope = EventScope::Calendar(calendar.id);
        let listed = bench.store.list_events(org, scope, filter, Page::default()).await.unwrap();
        assert_eq!(listed.data, [found], "the metadata is found under the new key");
    }
    for answer in answers {
        let found = bench.store.find_answer(answer.scope, answer.created_at).await.unwrap();
        assert_eq!(found, Some(answer));
    }
    assert_eq!(bench.behind.messages(org).await.len(), 120);
}

#[tokio::test]
async fn an_unopenable_value_is_reported_and_delays_nothing() {
    let bench = Bench::set().await;
    let org = bench.organization().await;
    let calendar = bench.calendar(org).await;
    for _ in 0..5 {
        let event = bench.make.event(&calendar, span("2026-03-02T09:00:00Z", "2026-03-02T10:00:00Z"));
        bench.commit(ChangeSet::new(org).create(&event).message(bench.make.message(org))).await;
    }
    let damage = "UPDATE events SET content = 'v1.first.AAAA' WHERE id = (SELECT id FROM events ORDER BY id LIMIT 1)";
    assert_eq!(bench.behind.run(damage).await, 1);
    bench.cipher.write_with("second");
    let (mut reports, mut calls) = (0, 0);
    let old = "SELECT (SELECT count(*) FROM events WHERE content NOT LIKE 'v1.second.%')
                    + (SELECT count(*) FROM outbox WHERE payload NOT LIKE 'v1.second.%')
                    + (SELECT count(*) FROM webhooks WHERE content NOT LIKE 'v1.second.%')
                    + (SELECT count(*) FROM calendars WHERE feed_token NOT LIKE 'v1.second.%')
                    + (SELECT count(*) FROM calendars WHERE metadata NOT LIKE 'v1.second.%')";
    while bench.behind.count(old).await > 1 {
        match bench.store.reseal(2).await {
            Ok(looked_at) => assert!(looked_at > 0, "there is work left"),
            Err(StoreError::Corrupt(row)) => {
                assert_eq!((row.table, row.column), ("events", "content"));
                reports += 1;
            }
            Err(error) => panic!("{error:?}"),
        }
        calls += 1;
        assert!(calls < 20, "no progress");
    }
    assert!(reports > 0);
    assert!(bench.store.reseal(100).await.is_err(), "it does not count as done");
}

#[tokio::test]
async fn metadata_under_an_unknown_key_is_indexed_later() {
    let bench = Bench::set().await;
    let org = bench.organization().await;
    let calendar = bench.calendar(org).await;
    let mut events = Vec::new();
    for (number, key) in ["first", "second", "second"].into_iter().enumerate() {
        bench.cipher.write_with(key);
        let metadata = Metadata::from_json(&format!(r#"{{"number":{number}}}"#)).unwrap();
        let nine_to_ten = span("2026-03-02T09:00:00Z", "2026-03-02T10:00:00Z");
        let event = Event { metadata, ..bench.make.event(&calendar, nine_to_ten) };
        bench.commit(ChangeSet::new(org).create(&event)).await;
        events.push(event);
    }
    assert_eq!(bench.behind.run("DELETE FROM event_metadata").await, 3);
    let damage = "UPDATE events SET indexed_version = NULL, content = CASE
            WHEN id = (SELECT id FROM events ORDER BY id DESC LIMIT 1) THEN 'v1.second.AAAA' ELSE content END";
    assert_eq!(bench.behind.run(damage).await, 3);

    bench.cipher.forget("first");
    let Err(StoreError::Corrupt(row)) = bench.store.index_metadata(100).await else { panic!("it read an unknown key") };
    assert_eq!((row.column, row.id), ("content", events[0].id.to_string()));
    assert!(!bench.store.is_metadata_indexed(org).await.unwrap(), "one is left");
    assert_eq!(bench.behind.indexed_entries(org).await, 1, "the others do not wait for it");

    bench.cipher.write_with("first");
    while !bench.store.index_metadata(100).await.unwrap() {}
    assert!(bench.store.is_metadata_indexed(org).await.unwrap());
    for (number, event) in events[..2].iter().enumerate() {
        let metadata = MetadataFilter::parse("", [("number", number.to_string().as_str())]).unwrap();
        let filter = EventFilter { metadata, ..EventFilter::default() };
        let scope = EventScope::Calendar(calendar.id);
        let listed = bench.store.list_events(org, scope, filter, Page::default()).await.unwrap();
        assert_eq!(listed.data, std::slice::from_ref(event));
    }
}
