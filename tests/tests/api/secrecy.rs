//! What lies on disk, and under which key.

use std::{fs, os::unix::fs::PermissionsExt as _, path::Path};

use kalends_e2e::{
    Database,
    Database::{Postgres, Sqlite},
    Server,
};
use rstest::rstest;
use serde_json::json;
use sqlx::{AssertSqlSafe, Connection as _, PgConnection};

use crate::fixtures::{agent_with_calendar, event_body, shared_calendar};

const TITLE: &str = "Zanzibar rendezvous";
const DESCRIPTION: &str = "Quetzalcoatl agenda";

/// Everything that the service keeps, as text where it is text.
async fn kept(server: &Server) -> String {
    let mut bytes = Vec::new();
    read_below(&server.data_dir(), &mut bytes);
    if let Some(url) = server.postgres_url() {
        let mut connection = PgConnection::connect(&url).await.unwrap();
        let tables: Vec<(String,)> =
            sqlx::query_as("select tablename::text from pg_tables where schemaname = 'public'")
                .fetch_all(&mut connection)
                .await
                .unwrap();
        assert!(!tables.is_empty());
        for (table,) in tables {
            let rows: Vec<(String,)> = sqlx::query_as(AssertSqlSafe(format!(r#"select t::text from "{table}" t"#)))
                .fetch_all(&mut connection)
                .await
                .unwrap();
            bytes.extend(rows.into_iter().flat_map(|(row,)| row.into_bytes()));
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn read_below(directory: &Path, bytes: &mut Vec<u8>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            read_below(&path, bytes);
        } else {
            bytes.extend(fs::read(path).unwrap());
        }
    }
}

fn holds(kept: &str, part: &str) -> bool {
    kept.contains(part) || kept.contains(&hex(part))
}

/// As Postgres shows bytes.
fn hex(text: &str) -> String {
    text.bytes().map(|byte| format!("{byte:02x}")).collect()
}

#[rstest]
#[case::sqlite(Sqlite)]
#[case::postgres(Postgres)]
#[tokio::test]
async fn titles_and_keys_are_not_kept_in_the_clear(#[case] database: Database) {
    let server = Server::start(database).await;
    let org = server.org("pro").await;
    let api = server.api(&org);
    let calendar = shared_calendar(&api, "Antarctica/Troll").await;
    let mut body = event_body(TITLE, "2026-05-04T09:00:00Z", "2026-05-04T10:00:00Z");
    body["description"] = json!(DESCRIPTION);
    let events = format!("/v1/calendars/{calendar}/events");
    let made = api.post(&events).header("idempotency-key", "k").json(body).await.expect(201);
    assert_eq!((&made["title"], &made["description"]), (&json!(TITLE), &json!(DESCRIPTION)));

    let kept = kept(&server).await;
    for secret in [TITLE, DESCRIPTION, &org.key] {
        assert!(!holds(&kept, secret), "{secret} is kept in the clear");
    }
    // What is looked through is what the service keeps: the zone is no secret.
    assert!(holds(&kept, "Antarctica/Troll"));
    assert!(holds(&kept, "v1."), "sealed values name their form and key");
    assert!(!server.log().contains(TITLE) && !server.log().contains(&org.key));

    if database == Sqlite {
        for entry in fs::read_dir(server.data_dir()).unwrap() {
            let entry = entry.unwrap();
            if entry.path().extension().is_some_and(|extension| extension == "key") {
                let mode = entry.metadata().unwrap().permissions().mode() & 0o777;
                assert_eq!(mode, 0o600, "{}", entry.path().display());
            }
        }
    }
}

#[rstest]
#[case::sqlite(Sqlite)]
#[case::postgres(Postgres)]
#[tokio::test]
async fn a_new_master_key_takes_over_while_serving(#[case] database: Database) {
    const OLD: &str = "b2xkIG1hc3RlciBrZXkgb2YgYSByb3RhdGlvbiB0ZXM=";
    const NEW: &str = "bmV3IG1hc3RlciBrZXkgb2YgYSByb3RhdGlvbiB0ZXM=";
    let mut server = Server::start_with(database, &[("KALENDS_MASTER_KEY", OLD)]).await;
    let org = server.org("pro").await;
    let (_, calendar) = agent_with_calendar(&server.api(&org)).await;
    let events = format!("/v1/calendars/{calendar}/events");
    let mut body = event_body(TITLE, "2026-05-04T09:00:00Z", "2026-05-04T10:00:00Z");
    body["description"] = json!(DESCRIPTION);
    let made = server.api(&org).post(&events).json(body.clone()).await.expect(201);

    // Both keys, then the rotation beside the server, which goes on answering.
    assert!(server.stop().await.success());
    server.start_again(&[("KALENDS_MASTER_KEY", &format!("{NEW},{OLD}"))]).await;
    let api = server.api(&org);
    api.post(&events).json(body.clone()).await.expect(201);
    server.cli(&["keys", "rotate-master"]).await.succeeded();
    let during = api.get(format!("/v1/events/{}", made.id())).await.expect(200);
    assert_eq!(during["title"], TITLE);
    api.post(&events).json(body).await.expect(201);

    // The old key is no longer needed.
    assert!(server.stop().await.success());
    server.start_again(&[("KALENDS_MASTER_KEY", NEW)]).await;
    let listed = server.api(&org).get(&events).await.expect(200);
    assert_eq!(listed.column("title"), [TITLE; 3]);
    assert_eq!(listed.column("description"), [DESCRIPTION; 3]);

    // Nor is it of use.
    assert!(server.stop().await.success());
    let refused = server.cli_with(&[("KALENDS_MASTER_KEY", OLD)], &[]).await.failed();
    assert!(refused.stderr.contains("KALENDS_MASTER_KEY"), "{refused:#?}");
}
