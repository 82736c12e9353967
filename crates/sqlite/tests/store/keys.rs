//! The table of data keys, and sealing again.

use std::sync::Arc;

use kalends_app::ports::{Commit as _, DataKeyState, KeyTable as _, Reseal as _, StoredAnswers as _, WrappedDataKey};
use kalends_calendars::{
    Event, EventPatch, Patch,
    ports::{EventFilter, EventScope, Events as _, MetadataIndex as _},
};
use kalends_kernel::{DataKeyId, Metadata, MetadataFilter, Page, StoreError};
use kalends_testkit::{
    Inspect as _,
    fixtures::{Compose as _, Fixtures},
};
use kalends_time::Zone;

use crate::{inspect::SqliteInspect, scratch::Scratch};

fn key(make: &Fixtures, state: DataKeyState) -> WrappedDataKey {
    let created_at = make.tick();
    WrappedDataKey {
        id: DataKeyId::new(created_at, &make.entropy),
        master: "00ff".into(),
        wrapped: "sealed".into(),
        state,
        created_at,
        resealed_at: (state == DataKeyState::Writing).then_some(created_at),
    }
}

#[tokio::test]
async fn the_key_table_keeps_one_writing_key() {
    let scratch = Scratch::new().await;
    let table = scratch.database.key_table();
    assert_eq!(table.data_keys().await.unwrap(), []);
    let (first, second) = (key(&scratch.make, DataKeyState::Writing), key(&scratch.make, DataKeyState::Reading));
    assert!(table.add_data_key(&first, true).await.unwrap());
    assert!(!table.add_data_key(&second, true).await.unwrap(), "there is one");
    assert!(table.add_data_key(&second, false).await.unwrap());
    assert_eq!(table.data_keys().await.unwrap(), [first.clone(), second.clone()]);

    table.write_with(second.id).await.unwrap();
    let stranger = key(&scratch.make, DataKeyState::Reading);
    assert!(matches!(table.write_with(stranger.id).await, Err(StoreError::Failed(_))));
    table.rewrap(first.id, "ff00", "again").await.unwrap();
    let first =
        WrappedDataKey { master: "ff00".into(), wrapped: "again".into(), state: DataKeyState::Reading, ..first };
    let second = WrappedDataKey { state: DataKeyState::Writing, ..second };
    assert_eq!(table.data_keys().await.unwrap(), [first.clone(), second.clone()]);
    assert!(matches!(table.rewrap(stranger.id, "", "").await, Err(StoreError::Failed(_))));
    // The end of a rotation is recorded for the writing key only, and counts until another key writes.
    let at = scratch.make.tick();
    for (id, recorded) in [(stranger.id, false), (first.id, false), (second.id, true)] {
        assert_eq!(table.record_resealed(id, at).await.unwrap(), recorded);
    }
    table.write_with(second.id).await.unwrap();
    let second = WrappedDataKey { resealed_at: Some(at), ..second };
    assert_eq!(table.data_keys().await.unwrap(), [first.clone(), second.clone()]);

    table.remove_data_key(first.id).await.unwrap();
    assert_eq!(table.data_keys().await.unwrap(), std::slice::from_ref(&second));

    assert!(table.add_data_key(&stranger, false).await.unwrap());
    table.write_with(stranger.id).await.unwrap();
    let resealed_at = table.data_keys().await.unwrap().into_iter().map(|key| key.resealed_at).collect::<Vec<_>>();
    assert_eq!(resealed_at, [Some(at), None]);
    table.write_with(second.id).await.unwrap();
    assert!(table.data_keys().await.unwrap().iter().all(|key| key.resealed_at.is_none()));
}

#[tokio::test]
async fn only_one_of_two_first_keys_is_kept() {
    let scratch = Scratch::new().await;
    let table = scratch.database.key_table();
    let keys: Vec<_> = (0..8).map(|_| key(&scratch.make, DataKeyState::Writing)).collect();
    let added = futures::future::try_join_all(keys.iter().map(|key| table.add_data_key(key, true))).await.unwrap();
    assert_eq!(added.iter().filter(|added| **added).count(), 1);
    assert_eq!(table.data_keys().await.unwrap().len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn everything_is_resealed_while_others_write() {
    let scratch = Scratch::new().await;
    let store = Arc::new(scratch.store());
    let calendar = scratch.calendar(&store).await;
    let metadata = |number| Metadata::from_json(&format!(r#"{{"number":{number}}}"#)).unwrap();
    let mut events: Vec<_> =
        (0..60).map(|number| Event { metadata: metadata(number), ..scratch.event(&calendar) }).collect();
    let mut answers = Vec::new();
    for event in &events {
        let changes = scratch.addition(event);
        answers.extend(changes.answer.clone());
        store.commit(changes).await.unwrap();
    }
    scratch.cipher.write_with("second");
    let writing = tokio::spawn({
        let (store, old) = (Arc::clone(&store), events.clone());
        let now = scratch.make.tick();
        async move {
            let mut renamed = Vec::new();
            for event in old {
                let patch = EventPatch { title: Patch::Set("Renamed".into()), ..EventPatch::default() };
                let next = event.patched(patch, Zone::UTC, now).unwrap();
                store.commit(kalends_app::ChangeSet::new(event.org).update(&next, event.version)).await.unwrap();
                renamed.push(next);
            }
            renamed
        }
    });
    while store.reseal(7).await.unwrap() > 0 {}
    events = writing.await.unwrap();
    while store.reseal(7).await.unwrap() > 0 {}

    scratch.cipher.forget("first");
    for event in &events {
        assert_eq!(&store.find_event(event.org, event.id).await.unwrap().unwrap().event, event);
    }
    for (number, event) in events.iter().enumerate() {
        let metadata = MetadataFilter::parse("", [("number", number.to_string().as_str())]).unwrap();
        let filter = EventFilter { metadata, ..EventFilter::default() };
        let scope = EventScope::Calendar(calendar.id);
        let listed = store.list_events(event.org, scope, filter, Page::default()).await.unwrap();
        assert_eq!(listed.data, std::slice::from_ref(event), "the metadata is found under the new key");
    }
    for answer in answers {
        assert_eq!(store.find_answer(answer.scope, answer.created_at).await.unwrap(), Some(answer));
    }
    let inspect = SqliteInspect::new(scratch.plain().await, scratch.cipher.clone());
    assert_eq!(inspect.messages(calendar.org).await.len(), 60);
}

#[tokio::test]
async fn an_unopenable_value_is_reported_and_delays_nothing() {
    let scratch = Scratch::new().await;
    let store = scratch.store();
    let calendar = scratch.calendar(&store).await;
    let events: Vec<_> = (0..10).map(|_| scratch.event(&calendar)).collect();
    for event in &events {
        store.commit(scratch.addition(event)).await.unwrap();
    }
    sqlx::query("update events set content = 'v1.first.AAAA' where id = ?1")
        .bind(events[4].id.uuid())
        .execute(&mut scratch.plain().await)
        .await
        .unwrap();
    scratch.cipher.write_with("second");
    let mut reports = 0;
    for _ in 0..40 {
        match store.reseal(3).await {
            Ok(looked_at) => assert!(looked_at > 0, "one is left"),
            Err(StoreError::Corrupt(row)) => {
                assert_eq!((row.table, row.column, row.id), ("events", "content", events[4].id.to_string()));
                reports += 1;
            }
            Err(other) => panic!("{other:?}"),
        }
    }
    assert!(reports > 0);
    scratch.cipher.forget("first");
    for event in events.iter().filter(|event| event.id != events[4].id) {
        assert!(store.find_event(event.org, event.id).await.unwrap().is_some());
    }
}

#[tokio::test]
async fn metadata_under_an_unknown_key_is_indexed_later() {
    let scratch = Scratch::new().await;
    let store = scratch.store();
    let calendar = scratch.calendar(&store).await;
    let mut events = Vec::new();
    for (number, key) in ["first", "second", "second"].into_iter().enumerate() {
        scratch.cipher.write_with(key);
        let metadata = Metadata::from_json(&format!(r#"{{"number":{number}}}"#)).unwrap();
        let event = Event { metadata, ..scratch.event(&calendar) };
        store.commit(scratch.addition(&event)).await.unwrap();
        events.push(event);
    }
    let mut plain = scratch.plain().await;
    for statement in ["delete from event_metadata", "update events set indexed_version = null"] {
        sqlx::query(statement).execute(&mut plain).await.unwrap();
    }
    let damage = sqlx::query("update events set content = 'v1.second.AAAA' where id = ?1");
    damage.bind(events[2].id.uuid()).execute(&mut plain).await.unwrap();

    scratch.cipher.forget("first");
    let Err(StoreError::Corrupt(row)) = store.index_metadata(100).await else { panic!("it read an unknown key") };
    assert_eq!((row.column, row.id), ("content", events[0].id.to_string()));
    assert!(!store.is_metadata_indexed(calendar.org).await.unwrap(), "one is left");
    let inspect = SqliteInspect::new(scratch.plain().await, scratch.cipher.clone());
    assert_eq!(inspect.indexed_entries(calendar.org).await, 1, "the others do not wait for it");

    scratch.cipher.write_with("first");
    assert!(store.index_metadata(100).await.unwrap());
    assert!(store.is_metadata_indexed(calendar.org).await.unwrap());
    for (number, event) in events[..2].iter().enumerate() {
        let metadata = MetadataFilter::parse("", [("number", number.to_string().as_str())]).unwrap();
        let filter = EventFilter { metadata, ..EventFilter::default() };
        let scope = EventScope::Calendar(calendar.id);
        let listed = store.list_events(event.org, scope, filter, Page::default()).await.unwrap();
        assert_eq!(listed.data, std::slice::from_ref(event));
    }
}
