//! Runs the commands of the guides as printed, in one shell for each page, and compares their output with the page.

use std::{collections::BTreeMap, net::TcpListener, os::unix::fs::PermissionsExt as _};

use kalends_e2e::{
    Database::{self, Postgres, Sqlite},
    Guide, Server, binary, root,
};
use rstest::rstest;
use tokio::process::Command;

/// What the quickstart leaves in its shell.
const SHELL: &str = r#"
id() { cut -d '"' -f 4; }
api() {
    curl --silent --show-error \
        --header "Authorization: Bearer $key" --header "Content-Type: application/json" "$@"
}
"#;
/// An agent and its calendar, for the pages that begin with them.
const AGENT: &str = r#"agent=$(api "$base/agents" --data '{"name": "Scout", "type": "ai"}' | id)"#;
const CALENDAR: &str =
    r#"calendar=$(api "$base/agents/$agent/calendars" --data '{"name": "Work", "timezone": "Europe/Berlin"}' | id)"#;

/// The environment of a reader who has installed the server: its variables, and `kalends` in the path.
fn environment(server: &Server) -> BTreeMap<String, String> {
    #[expect(clippy::disallowed_methods, reason = "not part of the service; curl and sed must be found")]
    let path = std::env::var("PATH").unwrap();
    let binary = binary();
    let programs = binary.parent().unwrap().display();
    let mut environment = server.environment().clone();
    environment.insert("PATH".to_owned(), format!("{programs}:{path}"));
    environment
}

#[rstest]
#[case::agents("agents", &[])]
#[case::approvals("approvals", &[AGENT, CALENDAR])]
#[case::calendars("calendars", &[AGENT])]
#[case::events("events", &[AGENT, CALENDAR])]
#[case::attendees("attendees", &[AGENT, CALENDAR])]
#[case::errors("errors", &[])]
#[case::holds("holds", &[AGENT, CALENDAR])]
#[case::keys("keys", &[])]
#[case::proposals("proposals", &[AGENT, CALENDAR])]
#[case::runs("runs", &[AGENT, CALENDAR])]
#[case::booking("booking", &[AGENT, CALENDAR])]
#[case::changes("changes", &[AGENT, CALENDAR])]
#[case::change_feed("change-feed", &[AGENT, CALENDAR])]
#[case::limits("limits", &[])]
#[tokio::test]
async fn the_commands_of_a_guide_work_as_printed(
    #[case] page: &str,
    #[case] before: &[&str],
    #[values(Sqlite, Postgres)] database: Database,
) {
    let server = Server::start(database).await;
    let org = server.org("pro").await;
    let begin = format!("base={}/v1 key={}\n{SHELL}\n{}", server.base_url(), org.key, before.join("\n"));
    Guide::read(&format!("docs/use/{page}.md")).run(&begin, &root(), &environment(&server)).await;
}

/// Whether the machine has the programs. If not, a note says that the page is not run.
async fn has(programs: &[&str]) -> bool {
    for program in programs {
        let found = Command::new("sh").args(["-c", &format!("command -v {program}")]).output().await;
        if !found.is_ok_and(|found| found.status.success()) {
            eprintln!("this machine has no {program}: the page is not run");
            return false;
        }
    }
    true
}

/// An address on which nothing listens.
fn free_address() -> String {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string()
}

/// Replaces `cargo build --release`: the program is there already.
const CARGO: &str = "#!/bin/sh\n[ \"$1\" = build ]\n";

#[tokio::test]
async fn the_installation_works_as_printed() {
    let folder = tempfile::tempdir().unwrap();
    let within = folder.path();
    std::fs::create_dir_all(within.join("target/release")).unwrap();
    std::fs::copy(binary(), within.join("target/release/kalends")).unwrap();
    let cargo = within.join("cargo");
    std::fs::write(&cargo, CARGO).unwrap();
    std::fs::set_permissions(&cargo, std::fs::Permissions::from_mode(0o755)).unwrap();
    #[expect(clippy::disallowed_methods, reason = "not part of the service; curl and sed must be found")]
    let path = std::env::var("PATH").unwrap();
    let environment = BTreeMap::from([
        ("PATH".to_owned(), format!("{}:{path}", within.display())),
        ("HOME".to_owned(), within.join("home").display().to_string()),
    ]);
    let before = "trap 'kill \"${server:-}\" 2>/dev/null || :' EXIT";
    let page = Guide::read("docs/run/install.md").with("127.0.0.1:8080", &free_address());
    page.run(before, within, &environment).await;
}

#[rstest]
#[case::configure("configure", None, &[])]
#[case::upgrade("upgrade", None, &[])]
#[case::troubleshooting("troubleshooting", None, &[])]
#[case::keys("keys-at-rest", None, &[])]
#[case::backup("backup", Some("SQLite"), &["sqlite3"])]
#[tokio::test]
async fn the_operators_commands_work_as_printed(
    #[case] page: &str,
    #[case] section: Option<&str>,
    #[case] programs: &[&str],
) {
    if !has(programs).await {
        return;
    }
    let server = Server::start(Sqlite).await;
    server.org("pro").await;
    let guide = Guide::read(&format!("docs/run/{page}.md"));
    let guide = section.into_iter().fold(guide, Guide::section);
    let folder = tempfile::tempdir().unwrap();
    guide.run("", folder.path(), &environment(&server)).await;
}

#[tokio::test]
async fn postgres_is_backed_up_as_printed() {
    if !has(&["psql", "pg_dump", "pg_restore"]).await {
        return;
    }
    let server = Server::start(Postgres).await;
    server.org("pro").await;
    let name = format!("restored_{}", server.pid());
    let page = Guide::read("docs/run/backup.md").section("Postgres").with("kalends_restored", &name);
    let folder = tempfile::tempdir().unwrap();
    let remove =
        format!("trap 'psql --quiet \"$KALENDS_DATABASE_URL\" --command \"DROP DATABASE IF EXISTS {name}\" || :' EXIT");
    page.run(&remove, folder.path(), &environment(&server)).await;
}

#[tokio::test]
async fn several_processes_run_as_printed() {
    let mut server = Server::start(Postgres).await;
    assert!(server.stop().await.success());
    let mut page = Guide::read("docs/run/postgres.md");
    for port in ["8081", "8082"] {
        page = page.with(port, free_address().rsplit(':').next().unwrap());
    }
    let folder = tempfile::tempdir().unwrap();
    let before = "trap 'kill \"${answering:-}\" \"${working:-}\" 2>/dev/null || :' EXIT";
    page.run(before, folder.path(), &environment(&server)).await;
}

#[tokio::test]
async fn a_server_is_monitored_as_printed() {
    let metrics = free_address();
    let server = Server::start_with(Sqlite, &[("KALENDS_METRICS_LISTEN", &metrics)]).await;
    server.anonymous().get("/v1/plans").await.expect(200);
    let before = format!("server={} metrics=http://{metrics}", server.base_url());
    Guide::read("docs/run/monitoring.md").run(&before, &root(), &environment(&server)).await;
}

/// The pages whose commands a test of its own runs, or whose commands are those of the repository.
const ELSEWHERE: &[&str] = &["docs/use/quickstart.md", "docs/use/webhooks.md", "docs/contribute/performance.md"];

#[test]
fn every_guide_with_commands_is_run() {
    let here = include_str!("guides.rs");
    for part in ["use", "run", "embed", "contribute"] {
        for entry in std::fs::read_dir(root().join("docs").join(part)).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            let path = format!("docs/{part}/{name}");
            let Some(page) = name.strip_suffix(".md").filter(|_| !ELSEWHERE.contains(&path.as_str())) else { continue };
            if !Guide::read(&path).blocks().is_empty() {
                let is_run = here.contains(&format!("(\"{page}\",")) || here.contains(&format!("\"{path}\""));
                assert!(is_run, "no test runs the commands of {path}");
            }
        }
    }
}

#[test]
fn the_quickstart_defines_the_shell_of_the_other_guides() {
    let commands: String =
        Guide::read("docs/use/quickstart.md").blocks().into_iter().map(|block| block.commands).collect();
    assert!(SHELL.trim().lines().all(|line| commands.contains(line)));
}
