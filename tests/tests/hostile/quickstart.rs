//! Runs the commands of `docs/use/quickstart.md` as printed, and compares their output with the page.
//!
//! Only two things differ from a reader's run: `cargo` is a script that starts the built binary, and a free port
//! replaces `127.0.0.1:8080`.

use std::{fs, net::TcpListener, os::unix::fs::PermissionsExt as _, path::PathBuf};

use kalends_e2e::{Database, Guide, Server, binary, root};
use rstest::rstest;

/// The address that the service listens on in the page.
const ADDRESS: &str = "127.0.0.1:8080";
/// Replaces `cargo run [--quiet] --release [-- ARGUMENTS]`.
const CARGO: &str = r#"#!/bin/sh
[ "$1" = run ] || exit 1
while [ $# -gt 0 ] && [ "$1" != -- ]; do shift; done
[ $# -eq 0 ] || shift
exec "$KALENDS_BIN" "$@"
"#;

#[rstest]
#[tokio::test]
async fn the_quickstart_works_as_printed(#[values(Database::Sqlite, Database::Postgres)] database: Database) {
    // The harness creates an empty database and knows its variables.
    let mut server = Server::start(database).await;
    assert!(server.stop().await.success());
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let page = Guide::read("docs/use/quickstart.md").with(ADDRESS, &address);
    // Every block of commands is followed by its output, and there is nothing else to run.
    let blocks = page.blocks();
    assert!(blocks.len() > 5 && blocks.iter().all(|block| block.prints.is_some()), "{blocks:#?}");
    let known = |language: &&str| ["sh", "text", "console"].contains(language);
    assert!(page.languages().iter().all(known), "{:?}", page.languages());

    let folder = tempfile::tempdir().unwrap();
    let cargo = folder.path().join("cargo");
    fs::write(&cargo, CARGO).unwrap();
    fs::set_permissions(&cargo, fs::Permissions::from_mode(0o755)).unwrap();
    #[expect(clippy::disallowed_methods, reason = "not part of the service; curl and sed must be found")]
    let path = std::env::var("PATH").unwrap();
    let mut environment = server.environment().clone();
    environment.insert("KALENDS_LISTEN".to_owned(), address);
    environment.insert("KALENDS_BIN".to_owned(), binary().display().to_string());
    environment.insert("PATH".to_owned(), format!("{}:{path}", folder.path().display()));
    // If a command fails, the page's own variable holds the process to end.
    let before = "trap 'kill \"${server:-}\" 2>/dev/null || :' EXIT";
    page.run(before, &root(), &environment).await;
}

#[test]
fn the_team_matches_the_page() {
    let team = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("data/team");
    let (mut agents, mut events) = (0, Vec::new());
    for folder in fs::read_dir(team).unwrap() {
        let read = |name: &str| -> serde_json::Value {
            serde_json::from_slice(&fs::read(folder.as_ref().unwrap().path().join(name)).unwrap()).unwrap()
        };
        assert!(read("agent.json")["name"].is_string() && read("calendar.json")["timezone"].is_string());
        agents += 1;
        events.extend(read("events.json")["events"].as_array().unwrap().clone());
    }
    assert_eq!(agents, 6);
    assert!((140..=180).contains(&events.len()), "{}", events.len());
    for status in ["tentative", "cancelled"] {
        assert!(events.iter().any(|event| event["status"] == status), "{status}");
    }
    let is_whole_days = |event: &&serde_json::Value| event["all_day"] == true;
    assert!(events.iter().filter(is_whole_days).count() >= 5);
}
