//! Feed tokens at rest: found by their hash, and sealed so that they can be shown again.

use kalends_app::{
    ChangeSet,
    ports::{Commit as _, Reseal as _},
};
use kalends_calendars::{
    Calendar, FeedToken,
    ports::{CalendarFilter, Calendars as _, Feeds as _},
};
use kalends_kernel::{Page, StoreError};
use kalends_sqlite::SqliteStore;
use kalends_testkit::fixtures::Compose as _;
use sqlx::Row as _;

use crate::scratch::Scratch;

/// The token and the hash in the row of a calendar.
async fn stored(scratch: &Scratch, calendar: &Calendar) -> (String, Option<Vec<u8>>) {
    let row = sqlx::query("select feed_token, feed_token_hash from calendars where id = ?1")
        .bind(calendar.id.uuid())
        .fetch_one(&mut scratch.plain().await)
        .await
        .unwrap();
    (row.get(0), row.get(1))
}

/// Writes the token as other versions of the program do, with or without a hash.
async fn store_as(scratch: &Scratch, calendar: &Calendar, token: &str, hash: Option<&[u8]>) {
    sqlx::query("update calendars set feed_token = ?2, feed_token_hash = ?3 where id = ?1")
        .bind(calendar.id.uuid())
        .bind(token)
        .bind(hash)
        .execute(&mut scratch.plain().await)
        .await
        .unwrap();
}

async fn found(store: &SqliteStore, token: &FeedToken) -> Option<Calendar> {
    store.calendar_of_feed(token.reveal()).await.unwrap()
}

/// Gives a calendar a new token.
async fn rotate(scratch: &Scratch, store: &SqliteStore, calendar: &Calendar) -> Calendar {
    let rotated = calendar.with_feed_token(FeedToken::generate(&scratch.make.entropy), scratch.make.tick());
    store.commit(ChangeSet::new(calendar.org).update(&rotated, calendar.version)).await.unwrap();
    rotated
}

/// Whether any file of the database contains the text.
fn written(scratch: &Scratch, text: &str) -> bool {
    std::fs::read_dir(scratch.directory.path()).unwrap().any(|entry| {
        let bytes = std::fs::read(entry.unwrap().path()).unwrap();
        bytes.windows(text.len()).any(|window| window == text.as_bytes())
    })
}

#[tokio::test]
async fn a_feed_token_is_stored_only_sealed() {
    let scratch = Scratch::new().await;
    let store = scratch.store();
    let calendar = scratch.calendar(&store).await;
    let rotated = rotate(&scratch, &store, &calendar).await;
    for token in [&calendar.feed_token, &rotated.feed_token] {
        assert!(!written(&scratch, token.reveal()));
    }
    assert!(written(&scratch, &calendar.name), "the search finds what is written");

    let (sealed, hash) = stored(&scratch, &calendar).await;
    assert!(sealed.starts_with("v1.first."), "{sealed}");
    assert_eq!(hash.unwrap(), rotated.feed_token.hash().0);
    // Reading the database does not reveal the address of a feed.
    assert_eq!(store.calendar_of_feed(&sealed).await.unwrap(), None);
    assert_eq!(found(&store, &rotated.feed_token).await, Some(rotated));
}

#[tokio::test]
async fn a_token_of_an_earlier_version_is_found_and_then_sealed() {
    let scratch = Scratch::new().await;
    let store = scratch.store();
    let calendar = scratch.calendar(&store).await;
    let other = scratch.calendar(&store).await;
    store_as(&scratch, &calendar, calendar.feed_token.reveal(), None).await;
    let seen = async || {
        assert_eq!(found(&store, &calendar.feed_token).await.as_ref(), Some(&calendar));
        assert_eq!(store.find_calendar(calendar.org, calendar.id).await.unwrap().as_ref(), Some(&calendar));
        let listed = store.list_calendars(calendar.org, CalendarFilter::All, Page::default()).await.unwrap();
        assert_eq!(listed.data, std::slice::from_ref(&calendar));
    };
    seen().await;
    assert_eq!(store.reseal(100).await.unwrap(), 1);
    assert_eq!(store.reseal(100).await.unwrap(), 0);
    let (sealed, hash) = stored(&scratch, &calendar).await;
    assert!(sealed.starts_with("v1.first."), "{sealed}");
    assert_eq!(hash.unwrap(), calendar.feed_token.hash().0);
    seen().await;
    assert_eq!(found(&store, &other.feed_token).await, Some(other));
}

#[tokio::test]
async fn only_the_token_from_an_older_node_is_valid() {
    let scratch = Scratch::new().await;
    let store = scratch.store();
    let calendar = scratch.calendar(&store).await;
    // An older node knows no hash, and leaves the old one in place.
    let renewed_token = FeedToken::generate(&scratch.make.entropy);
    store_as(&scratch, &calendar, renewed_token.reveal(), Some(&calendar.feed_token.hash().0)).await;
    for _ in 0..2 {
        assert_eq!(found(&store, &calendar.feed_token).await, None);
        let renewed = Calendar { feed_token: renewed_token.clone(), ..calendar.clone() };
        assert_eq!(found(&store, &renewed_token).await, Some(renewed));
        store.reseal(100).await.unwrap();
    }
    assert_eq!(stored(&scratch, &calendar).await.1.unwrap(), renewed_token.hash().0);
}

#[tokio::test]
async fn tokens_are_resealed() {
    let scratch = Scratch::new().await;
    let store = scratch.store();
    let (calendar, deleted) = (scratch.calendar(&store).await, scratch.calendar(&store).await);
    let gone = deleted.deleted(scratch.make.tick());
    store.commit(ChangeSet::new(deleted.org).update(&gone, deleted.version)).await.unwrap();
    scratch.cipher.write_with("second");
    while store.reseal(1).await.unwrap() > 0 {}
    scratch.cipher.forget("first");
    assert_eq!(found(&store, &calendar.feed_token).await.as_ref(), Some(&calendar));
    for calendar in [&calendar, &deleted] {
        let (sealed, hash) = stored(&scratch, calendar).await;
        assert!(sealed.starts_with("v1.second."), "{sealed}");
        assert_eq!(hash.unwrap(), calendar.feed_token.hash().0);
    }
}

#[tokio::test]
async fn a_token_that_does_not_open_is_a_located_error() {
    let scratch = Scratch::new().await;
    let store = scratch.store();
    let (calendar, other) = (scratch.calendar(&store).await, scratch.calendar(&store).await);
    let (theirs, _) = stored(&scratch, &other).await;
    store_as(&scratch, &other, "v1.first.BBBB", None).await;
    scratch.cipher.write_with("second");
    let hash = calendar.feed_token.hash().0;
    for broken in ["v1.first.AAAA", "v1.", &theirs] {
        store_as(&scratch, &calendar, broken, Some(&hash)).await;
        let read = [
            store.calendar_of_feed(calendar.feed_token.reveal()).await.map(|_| ()),
            store.find_calendar(calendar.org, calendar.id).await.map(|_| ()),
            store.calendars_after(calendar.org, None, 9).await.map(|_| ()),
            store.list_calendars(calendar.org, CalendarFilter::All, Page::default()).await.map(|_| ()),
        ];
        for outcome in read {
            let Err(StoreError::Corrupt(row)) = outcome else { panic!("{broken}: {outcome:?}") };
            assert_eq!((row.table, row.column, row.id), ("calendars", "feed_token", calendar.id.to_string()));
        }
    }
    // Sealing again reports it too, and does not count it as done.
    let mut reports = 0;
    for _ in 0..9 {
        match store.reseal(100).await {
            Ok(looked_at) => assert!(looked_at > 0),
            Err(StoreError::Corrupt(row)) => {
                assert_eq!((row.table, row.column), ("calendars", "feed_token"));
                reports += 1;
            }
            Err(other) => panic!("{other:?}"),
        }
    }
    assert!(reports > 1);
}
