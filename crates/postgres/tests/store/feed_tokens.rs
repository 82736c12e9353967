//! Feed tokens at rest: found by their hash, and sealed so that they can be shown again.

use kalends_app::ChangeSet;
use kalends_app::ports::Reseal as _;
use kalends_calendars::ports::{CalendarFilter, Calendars as _, Feeds as _};
use kalends_calendars::{Calendar, FeedToken};
use kalends_kernel::{Page, StoreError};
use kalends_testkit::fixtures::Compose as _;
use sqlx::{AssertSqlSafe, Row as _};

use crate::server::Bench;

/// The token and the hash in the row of a calendar.
async fn stored(bench: &Bench, calendar: &Calendar) -> (String, Option<Vec<u8>>) {
    let row = sqlx::query("SELECT feed_token, feed_token_hash FROM calendars WHERE id = $1").bind(calendar.id.uuid());
    let row = row.fetch_one(&bench.behind.pool).await.unwrap();
    (row.get(0), row.get(1))
}

/// Writes the token as other versions of the program do, with or without a hash.
async fn store_as(bench: &Bench, calendar: &Calendar, token: &str, hash: Option<&[u8]>) {
    let update = sqlx::query("UPDATE calendars SET feed_token = $2, feed_token_hash = $3 WHERE id = $1");
    let update = update.bind(calendar.id.uuid()).bind(token).bind(hash);
    assert_eq!(update.execute(&bench.behind.pool).await.unwrap().rows_affected(), 1);
}

async fn found(bench: &Bench, token: &FeedToken) -> Option<Calendar> {
    bench.store.calendar_of_feed(token.reveal()).await.unwrap()
}

/// Stores a calendar of a new organization.
async fn calendar(bench: &Bench) -> Calendar {
    let org = bench.organization().await;
    bench.calendar(org).await
}

/// Gives a calendar a new token.
async fn rotate(bench: &Bench, calendar: &Calendar) -> Calendar {
    let rotated = calendar.with_feed_token(FeedToken::generate(&bench.make.entropy), bench.make.tick());
    bench.commit(ChangeSet::new(calendar.org).update(&rotated, calendar.version)).await;
    rotated
}

/// All rows of all tables as text, with bytes as hexadecimal digits.
pub(crate) async fn everything(bench: &Bench) -> String {
    let tables = sqlx::query_scalar("SELECT tablename::text FROM pg_tables WHERE schemaname = 'public'");
    let tables: Vec<String> = tables.fetch_all(&bench.behind.pool).await.unwrap();
    let mut texts = Vec::new();
    for table in tables {
        let rows = sqlx::query_scalar(AssertSqlSafe(format!(r#"SELECT t::text FROM "{table}" t"#)));
        let rows: Vec<String> = rows.fetch_all(&bench.behind.pool).await.unwrap();
        texts.extend(rows);
    }
    texts.join("\n")
}

#[tokio::test]
async fn a_feed_token_is_stored_only_sealed() {
    let bench = Bench::set().await;
    let calendar = calendar(&bench).await;
    let created = everything(&bench).await;
    let rotated = rotate(&bench, &calendar).await;
    let kept = created + &everything(&bench).await;
    for token in [&calendar.feed_token, &rotated.feed_token] {
        let hex: String = token.reveal().bytes().map(|byte| format!("{byte:02x}")).collect();
        assert!(!kept.contains(token.reveal()) && !kept.contains(&hex));
    }
    assert!(kept.contains(&calendar.name), "the search finds what is written");

    let (sealed, hash) = stored(&bench, &calendar).await;
    assert!(sealed.starts_with("v1.first."), "{sealed}");
    assert_eq!(hash.unwrap(), rotated.feed_token.hash().0);
    // Reading the database does not reveal the address of a feed.
    assert_eq!(bench.store.calendar_of_feed(&sealed).await.unwrap(), None);
    assert_eq!(found(&bench, &rotated.feed_token).await, Some(rotated));
}

#[tokio::test]
async fn a_token_of_an_earlier_version_is_found_and_then_sealed() {
    let bench = Bench::set().await;
    let (calendar, other) = (calendar(&bench).await, calendar(&bench).await);
    store_as(&bench, &calendar, calendar.feed_token.reveal(), None).await;
    let seen = async || {
        assert_eq!(found(&bench, &calendar.feed_token).await.as_ref(), Some(&calendar));
        let read = bench.store.find_calendar(calendar.org, calendar.id).await.unwrap();
        assert_eq!(read.as_ref(), Some(&calendar));
        let listed = bench.store.list_calendars(calendar.org, CalendarFilter::All, Page::default()).await.unwrap();
        assert_eq!(listed.data, std::slice::from_ref(&calendar));
    };
    seen().await;
    assert_eq!(bench.store.reseal(100).await.unwrap(), 1);
    assert_eq!(bench.store.reseal(100).await.unwrap(), 0);
    let (sealed, hash) = stored(&bench, &calendar).await;
    assert!(sealed.starts_with("v1.first."), "{sealed}");
    assert_eq!(hash.unwrap(), calendar.feed_token.hash().0);
    seen().await;
    assert_eq!(found(&bench, &other.feed_token).await, Some(other));
}

#[tokio::test]
async fn only_the_token_from_an_older_node_is_valid() {
    let bench = Bench::set().await;
    let calendar = calendar(&bench).await;
    // An older node knows no hash, and leaves the old one in place.
    let renewed_token = FeedToken::generate(&bench.make.entropy);
    store_as(&bench, &calendar, renewed_token.reveal(), Some(&calendar.feed_token.hash().0)).await;
    for _ in 0..2 {
        assert_eq!(found(&bench, &calendar.feed_token).await, None);
        let renewed = Calendar { feed_token: renewed_token.clone(), ..calendar.clone() };
        assert_eq!(found(&bench, &renewed_token).await, Some(renewed));
        bench.store.reseal(100).await.unwrap();
    }
    assert_eq!(stored(&bench, &calendar).await.1.unwrap(), renewed_token.hash().0);
}

#[tokio::test]
async fn tokens_are_resealed() {
    let bench = Bench::set().await;
    let (kept, deleted) = (calendar(&bench).await, calendar(&bench).await);
    let gone = deleted.deleted(bench.make.tick());
    bench.commit(ChangeSet::new(deleted.org).update(&gone, deleted.version)).await;
    bench.cipher.write_with("second");
    while bench.store.reseal(1).await.unwrap() > 0 {}
    bench.cipher.forget("first");
    assert_eq!(found(&bench, &kept.feed_token).await.as_ref(), Some(&kept));
    for calendar in [&kept, &deleted] {
        let (sealed, hash) = stored(&bench, calendar).await;
        assert!(sealed.starts_with("v1.second."), "{sealed}");
        assert_eq!(hash.unwrap(), calendar.feed_token.hash().0);
    }
}

#[tokio::test]
async fn a_token_that_does_not_open_is_a_located_error() {
    let bench = Bench::set().await;
    let (store, calendar, other) = (&bench.store, calendar(&bench).await, calendar(&bench).await);
    let (theirs, _) = stored(&bench, &other).await;
    store_as(&bench, &other, "v1.first.BBBB", None).await;
    bench.cipher.write_with("second");
    let hash = calendar.feed_token.hash().0;
    for broken in ["v1.first.AAAA", "v1.", &theirs] {
        store_as(&bench, &calendar, broken, Some(&hash)).await;
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
