//! Destinations and copies: what is sealed, what cannot be read, and what becomes of claims and due times.

use kalends_app::{
    ChangeSet,
    ports::{Commit as _, CommitError, Reseal as _},
};
use kalends_bridge::{
    Access, CLAIM_LASTS, CalendarProvider, Change, Connection, ConnectionPatch, Copy, CopyKey, CopyState, Destination,
    PublicationPolicy, PublishClaim, PublishState, TheirCalendar, Tokens, listing,
    ports::{ClaimedDestination, Destinations as _},
};
use kalends_calendars::Calendar;
use kalends_kernel::{EventId, UserId, Version};
use kalends_sqlite::SqliteStore;
use kalends_time::{SignedDuration, Timestamp};
use sqlx::{AssertSqlSafe, SqliteConnection};

use crate::{corruption::place, scratch::Scratch};

/// A calendar that is published to a connection.
struct Published {
    calendar: Calendar,
    connection: Connection,
    destination: Destination,
}

impl Published {
    async fn in_store(scratch: &Scratch, store: &SqliteStore) -> Self {
        let (calendar, now, entropy) = (scratch.calendar(store).await, scratch.make.tick(), &scratch.make.entropy);
        let (org, human) = (calendar.org, UserId::new(now, entropy));
        let tokens = Tokens { access: "open".into(), access_until: now, refresh: "sesame".into(), publishing: true };
        let connection =
            Connection::create((org, human, CalendarProvider::Microsoft), Access::Consent(tokens), now, entropy);
        let theirs = TheirCalendar { reference: "theirs".into(), name: "Theirs".into(), primary: true };
        let target = listing((org, connection.id), &[], vec![theirs], now, entropy).present.remove(0);
        let destination = Destination {
            org,
            calendar: calendar.id,
            human,
            connection: connection.id,
            target: target.id,
            policy: PublicationPolicy::Confirmed,
            ending: false,
            state: PublishState::default(),
            version: Version::FIRST,
            created_at: now,
            updated_at: now,
        };
        let published = Self { calendar, connection, destination };
        let made =
            Change::CreateConnection { connection: Box::new(published.connection.clone()), calendars: vec![target] };
        let put = Change::PutDestination { destination: Box::new(published.destination.clone()), seen: None };
        published.commit(store, vec![made, put]).await.unwrap();
        published
    }

    async fn commit(&self, store: &SqliteStore, bridge: Vec<Change>) -> Result<(), CommitError> {
        let mut changes = ChangeSet::new(self.calendar.org);
        changes.bridge = bridge;
        store.commit(changes).await
    }

    /// A copy of an event that does not repeat, and one of an occurrence.
    fn copies(&self, scratch: &Scratch) -> [Copy; 2] {
        let now = scratch.make.tick();
        let mut copies = [None, Some(now)].map(|original_start| Copy {
            key: CopyKey { event: EventId::new(now, &scratch.make.entropy), original_start },
            target: self.destination.target,
            reference: "planted-reference".into(),
            digest: [1; 32],
            visible: [2; 32],
            ends_at: now,
            state: CopyState::Published,
        });
        copies.sort_by_key(|copy| copy.key);
        copies
    }

    async fn record(&self, store: &SqliteStore, claim: PublishClaim, copies: &[Copy], until: Timestamp) {
        let change = Change::RecordCopies { claim, written: copies.to_vec(), forgotten: Vec::new(), until };
        self.commit(store, vec![change]).await.unwrap();
    }

    async fn pause(&self, store: &SqliteStore, paused: bool, now: Timestamp) -> Self {
        let connection = self.connection.patched(ConnectionPatch::Paused(paused), now);
        let (seen, due) = (self.connection.version, (!paused).then_some(now));
        let change = Change::UpdateConnection { connection: Box::new(connection.clone()), seen, due };
        self.commit(store, vec![change]).await.unwrap();
        Self { connection, calendar: self.calendar.clone(), destination: self.destination.clone() }
    }
}

async fn claimed(store: &SqliteStore, now: Timestamp) -> Vec<ClaimedDestination> {
    store.claim_publications(now, now + CLAIM_LASTS, 9).await.unwrap()
}

/// Sets the column of each row of the table.
async fn set(plain: &mut SqliteConnection, table: &str, column: &str, value: &str) {
    let statement = format!("update {table} set {column} = {value}");
    sqlx::query(AssertSqlSafe(statement)).execute(plain).await.unwrap();
}

#[tokio::test]
async fn references_of_copies_are_sealed_and_resealed() {
    let scratch = Scratch::new().await;
    let store = scratch.store();
    let published = Published::in_store(&scratch, &store).await;
    let now = scratch.make.tick();
    let claim = claimed(&store, now).await.remove(0).claim;
    let copies = published.copies(&scratch);
    published.record(&store, claim, &copies, now + CLAIM_LASTS).await;
    let (org, calendar) = (published.calendar.org, published.calendar.id);
    assert_eq!(store.copies_of(org, calendar).await.unwrap(), copies);
    let mut plain = scratch.plain().await;
    for key in ["first", "second"] {
        scratch.cipher.write_with(key);
        while store.reseal(1).await.unwrap() > 0 {}
        let sealed: Vec<String> =
            sqlx::query_scalar("select content from publication_copies").fetch_all(&mut plain).await.unwrap();
        assert_eq!(sealed.len(), 2);
        assert!(sealed.iter().all(|sealed| sealed.starts_with(&format!("v1.{key}."))), "{sealed:?}");
    }
    scratch.cipher.forget("first");
    assert_eq!(store.copies_of(org, calendar).await.unwrap(), copies);
}

#[tokio::test]
async fn a_corrupt_row_of_publishing_is_a_located_error() {
    let scratch = Scratch::new().await;
    let store = scratch.store();
    let published = Published::in_store(&scratch, &store).await;
    let now = scratch.make.tick();
    let claim = claimed(&store, now).await.remove(0).claim;
    let [copy, _] = published.copies(&scratch);
    published.record(&store, claim, std::slice::from_ref(&copy), now + CLAIM_LASTS).await;
    let (org, calendar) = (published.calendar.org, published.calendar.id);
    let mut plain = scratch.plain().await;
    sqlx::query("create table kept (value)").execute(&mut plain).await.unwrap();
    for (table, column, value) in [
        ("publication_destinations", "policy", "'some'"),
        ("publication_destinations", "failures", "-1"),
        ("publication_destinations", "target_id", "x'00'"),
        ("publication_copies", "content", "'v1.first.AAAA'"),
        ("publication_copies", "original_start", "original_start + 1"),
        ("publication_copies", "digest", "x'00'"),
        ("publication_copies", "visible", "x'00'"),
        ("publication_copies", "state", "'gone'"),
    ] {
        sqlx::query("delete from kept").execute(&mut plain).await.unwrap();
        let keep = format!("insert into kept select {column} from {table}");
        sqlx::query(AssertSqlSafe(keep)).execute(&mut plain).await.unwrap();
        set(&mut plain, table, column, value).await;
        let (found_table, found, _) = match table {
            "publication_destinations" => place(store.find_destination(org, calendar).await),
            _ => place(store.copies_of(org, calendar).await),
        };
        // A reference opens only in its own row.
        let expected = if column == "original_start" { "content" } else { column };
        assert_eq!((found_table, found), (table, expected), "{value}");
        set(&mut plain, table, column, "(select value from kept)").await;
        assert_eq!(store.find_destination(org, calendar).await.unwrap().as_ref(), Some(&published.destination));
        assert_eq!(store.copies_of(org, calendar).await.unwrap(), std::slice::from_ref(&copy));
    }
}

#[tokio::test]
async fn what_cannot_be_read_does_not_hold_up_other_destinations() {
    let scratch = Scratch::new().await;
    let store = scratch.store();
    let published = Published::in_store(&scratch, &store).await;
    let mut plain = scratch.plain().await;
    for (table, column, value) in [
        ("calendar_connections", "tokens", "'v1.first.AAAA'"),
        ("external_calendars", "content", "'v1.first.AAAA'"),
        ("publication_destinations", "policy", "'some'"),
    ] {
        let other = Published::in_store(&scratch, &store).await;
        let statement = format!("update {table} set {column} = {value} where org_id = ?1");
        let update = sqlx::query(AssertSqlSafe(statement)).bind(published.calendar.org.uuid());
        update.execute(&mut plain).await.unwrap();
        set(&mut plain, "calendars", "publication_due_at", "0").await;
        set(&mut plain, "publication_destinations", "claimed_until", "null").await;
        let found = claimed(&store, scratch.make.tick()).await;
        let whole = |found: &ClaimedDestination| found.connection.is_some() && found.target.is_some();
        let ours = found.iter().find(|found| found.destination.calendar == published.calendar.id);
        assert_eq!(ours.map(whole), (table != "publication_destinations").then_some(false), "{table}");
        let other = found.iter().find(|found| found.destination.calendar == other.calendar.id);
        assert!(other.is_some_and(whole), "{table}");
    }
}

#[tokio::test]
async fn a_paused_connection_costs_nothing_until_it_is_resumed() {
    let scratch = Scratch::new().await;
    let store = scratch.store();
    let published = Published::in_store(&scratch, &store).await;
    let now = scratch.make.tick();
    let paused = published.pause(&store, true, now).await;
    assert!(claimed(&store, now).await.is_empty());
    let mut plain = scratch.plain().await;
    let due = "select publication_due_at from calendars";
    let parked: i64 = sqlx::query_scalar(due).fetch_one(&mut plain).await.unwrap();
    assert_eq!(parked, i64::MAX, "it is not looked at again");
    paused.pause(&store, false, now).await;
    assert_eq!(claimed(&store, now).await.len(), 1);
}

#[tokio::test]
async fn claims_of_an_earlier_process_are_released() {
    let scratch = Scratch::new().await;
    let store = scratch.store();
    let published = Published::in_store(&scratch, &store).await;
    let now = scratch.make.tick();
    let first = claimed(&store, now).await.remove(0);
    assert!(!first.claim.interrupted && claimed(&store, now).await.is_empty());
    scratch.database.release_claims().await.unwrap();
    let again = claimed(&store, now).await.remove(0);
    assert!(again.claim.interrupted, "the attempt before did not end");
    assert_eq!(
        (again.destination, again.connection),
        (published.destination.clone(), Some(published.connection.clone()))
    );
    let next = now + SignedDuration::hours(1);
    let end = |claim| Change::EndPublishing {
        claim,
        state: PublishState::default(),
        revision: Some(published.calendar.revision),
        next: Some(next),
        not_before: None,
    };
    let stale = published.commit(&store, vec![end(first.claim)]).await;
    assert!(matches!(stale, Err(CommitError::Stale)), "{stale:?}");
    published.commit(&store, vec![end(again.claim)]).await.unwrap();
    assert!(claimed(&store, now).await.is_empty());
    assert_eq!(claimed(&store, next).await.len(), 1);
}
