//! Rows of the bridge to human calendars that the program never writes, and which of their fields are sealed.

use kalends_app::{
    ChangeSet,
    ports::{Commit as _, HumanCalendars as _, Reseal as _},
};
use kalends_availability::BusySet;
use kalends_bridge::{
    Access, Audience, CLAIM_LASTS, CalendarProvider, Change, Connection, ConnectionLink, ExternalCalendar, Grant,
    NewGrant, NewLink, Reading, TheirCalendar, Tokens, listing,
    ports::{ConnectionLinks as _, Connections as _, Grants as _},
};
use kalends_calendars::Calendar;
use kalends_kernel::{Page, UserId};
use kalends_sqlite::SqliteStore;
use kalends_time::{SignedDuration, Span};
use sqlx::{AssertSqlSafe, SqliteConnection};

use crate::{corruption::place, scratch::Scratch};

/// A connection of a user, for a shared calendar.
struct Bridged {
    calendar: Calendar,
    link: ConnectionLink,
    connection: Connection,
    external: ExternalCalendar,
    grant: Grant,
    window: Span,
}

impl Bridged {
    async fn in_store(scratch: &Scratch, store: &SqliteStore) -> Self {
        let (calendar, now, entropy) = (scratch.calendar(store).await, scratch.make.tick(), &scratch.make.entropy);
        let (org, human) = (calendar.org, UserId::new(now, entropy));
        let (link, _) = ConnectionLink::create((org, None, calendar.id), NewLink::default(), now, entropy);
        let tokens =
            Tokens { access: "planted".into(), access_until: now, refresh: "planted".into(), publishing: true };
        let made = Connection::create((org, human, CalendarProvider::Google), Access::Consent(tokens), now, entropy);
        let connection = Connection { label: Some("planted".into()), ..made };
        let theirs = TheirCalendar { reference: "planted".into(), name: "planted".into(), primary: true };
        let window = Span::new(now, now + SignedDuration::hours(9)).unwrap();
        let spans = BusySet::from_unsorted(vec![Span::new(now, now + SignedDuration::hours(1)).unwrap()]);
        let copies = vec![(calendar.id, Span::new(now, now + SignedDuration::hours(2)).unwrap())];
        let reading = Reading { read_at: now, covers: window, spans, copies, tag: Some([7; 32]) };
        let external = listing((org, connection.id), &[], vec![theirs], now, entropy).present.remove(0).read(reading);
        let new = NewGrant { sources: vec![external.id], audience: Audience::All, agents: vec![] };
        let grant = Grant::create((org, human), new, now, entropy);
        let mut changes = ChangeSet::new(org);
        changes.bridge = vec![
            Change::CreateLink(Box::new(link.clone())),
            Change::CreateConnection { connection: Box::new(connection.clone()), calendars: vec![external.clone()] },
            Change::CreateGrant(Box::new(grant.clone())),
        ];
        store.commit(changes).await.unwrap();
        Self { calendar, link, connection, external, grant, window }
    }

    async fn is_whole(&self, store: &SqliteStore) {
        let org = self.calendar.org;
        assert_eq!(store.find_link(org, self.link.id).await.unwrap().as_ref(), Some(&self.link));
        let found = store.find_connection(org, self.connection.id).await.unwrap();
        // A claim moves the time of the next refresh.
        let found = found.map(|found| Connection { due_at: self.connection.due_at, ..found });
        assert_eq!(found.as_ref(), Some(&self.connection));
        let known = store.external_calendars(org, self.connection.id).await.unwrap();
        assert_eq!(known.iter().map(|known| &known.calendar).collect::<Vec<_>>(), [&self.external]);
        assert_eq!(store.find_grant(org, self.grant.id).await.unwrap().as_ref(), Some(&self.grant));
    }
}

/// Sets the column of the table's only row.
async fn set(plain: &mut SqliteConnection, table: &str, column: &str, value: &str) {
    let statement = format!("update {table} set {column} = {value}");
    sqlx::query(AssertSqlSafe(statement)).execute(plain).await.unwrap();
}

#[tokio::test]
async fn a_corrupt_row_of_the_bridge_is_a_located_error() {
    let scratch = Scratch::new().await;
    let store = scratch.store();
    let bridged = Bridged::in_store(&scratch, &store).await;
    let (org, sources) = (bridged.calendar.org, [bridged.external.source()]);
    let mut plain = scratch.plain().await;
    sqlx::query("create table kept (value)").execute(&mut plain).await.unwrap();
    for (table, column, value) in [
        ("connection_links", "state", "'followed'"),
        ("connection_links", "policy", "'some'"),
        ("connection_links", "secret_hash", "x'00'"),
        ("connection_links", "human_id", "x'00'"),
        ("calendar_connections", "provider", "'apple'"),
        ("calendar_connections", "tokens", "label"),
        ("calendar_connections", "label", "'plain'"),
        ("calendar_connections", "failures", "-1"),
        ("external_calendars", "content", "'v1.first.AAAA'"),
        ("external_calendars", "read_at", "null"),
        ("external_calendars", "covers_until", "covers_from"),
        ("external_calendars", "spans", "x'00'"),
        ("external_calendars", "spans", "zeroblob(16)"),
        ("external_calendars", "spans", "cast(spans || spans as blob)"),
        ("external_calendars", "copies", "zeroblob(32)"),
        ("external_calendars", "copies", "substr(copies, 1, 16)"),
        ("external_calendars", "tag", "substr(tag, 1, 31)"),
        ("availability_grants", "audience", "'some'"),
        ("availability_grant_sources", "external_calendar_id", "x'00'"),
    ] {
        sqlx::query("delete from kept").execute(&mut plain).await.unwrap();
        let keep = format!("insert into kept select {column} from {table}");
        sqlx::query(AssertSqlSafe(keep)).execute(&mut plain).await.unwrap();
        set(&mut plain, table, column, value).await;
        let (found, id) = match table {
            "connection_links" => (place(store.find_link(org, bridged.link.id).await), bridged.link.id.to_string()),
            "calendar_connections" => {
                let now = scratch.make.tick() + CLAIM_LASTS;
                assert!(store.claim_refreshes(now, now, 9).await.unwrap().is_empty(), "the corrupt row is skipped");
                let connection = bridged.connection.id;
                let versions = store.connection_versions(org, None).await.unwrap();
                assert!(versions.contains(&(connection, bridged.connection.version)), "it can still be deleted");
                if column != "provider" {
                    let listed = store.list_connections(org, None, Page::default()).await.unwrap();
                    let unreadable = listed.data.into_iter().next().unwrap().unwrap_err();
                    let known = (unreadable.id, unreadable.provider, unreadable.created_at, unreadable.cause.column);
                    let made = &bridged.connection;
                    assert_eq!(known, (made.id, made.provider, made.created_at, column));
                }
                (place(store.find_connection(org, connection).await), connection.to_string())
            }
            "external_calendars" => {
                let id = bridged.external.id.to_string();
                if column != "content" {
                    let found = place(store.human_busy(org, &sources, bridged.window).await);
                    assert_eq!(found, (table, column, id.clone()));
                }
                (place(store.external_calendars(org, bridged.connection.id).await), id)
            }
            _ => (place(store.find_grant(org, bridged.grant.id).await), bridged.grant.id.to_string()),
        };
        assert_eq!(found, (table, column, id), "{value}");
        set(&mut plain, table, column, "(select value from kept)").await;
        bridged.is_whole(&store).await;
    }
}

#[tokio::test]
async fn tokens_and_labels_of_connections_are_sealed_and_resealed() {
    let scratch = Scratch::new().await;
    let store = scratch.store();
    let bridged = Bridged::in_store(&scratch, &store).await;
    let bare = Bridged::in_store(&scratch, &store).await;
    let mut plain = scratch.plain().await;
    sqlx::query("update calendar_connections set label = null where id = ?1")
        .bind(bare.connection.id.uuid())
        .execute(&mut plain)
        .await
        .unwrap();
    let bare = Bridged { connection: Connection { label: None, ..bare.connection.clone() }, ..bare };
    scratch.cipher.write_with("second");
    let mut looked_at = 0;
    loop {
        match store.reseal(2).await.unwrap() {
            0 => break,
            some => looked_at += some,
        }
    }
    assert!(looked_at >= 7, "{looked_at}: two of each but the label");
    scratch.cipher.forget("first");
    bridged.is_whole(&store).await;
    bare.is_whole(&store).await;
    let sealed = "select tokens from calendar_connections union all select label from calendar_connections
        where label is not null union all select content from external_calendars";
    let sealed: Vec<String> = sqlx::query_scalar(sealed).fetch_all(&mut plain).await.unwrap();
    assert_eq!(sealed.len(), 5);
    assert!(sealed.iter().all(|sealed| sealed.starts_with("v1.second.")), "{sealed:?}");
}

#[tokio::test]
async fn claims_of_an_earlier_process_are_released() {
    let scratch = Scratch::new().await;
    let store = scratch.store();
    let bridged = Bridged::in_store(&scratch, &store).await;
    let now = scratch.make.tick();
    let claim = async || store.claim_refreshes(now, now + CLAIM_LASTS, 9).await.unwrap();
    assert_eq!((claim().await.len(), claim().await.len()), (1, 0));
    scratch.database.release_claims().await.unwrap();
    let again = claim().await;
    assert_eq!(again.into_iter().map(|(_, connection)| connection.id).collect::<Vec<_>>(), [bridged.connection.id]);
}
