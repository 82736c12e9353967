//! Runs the commands of `docs/quickstart.md` as printed, and compares their output with the page.
//!
//! Only two things differ from a reader's run: `cargo` is a script that starts the built binary, and a free port
//! replaces `127.0.0.1:8080`.

use std::{
    fs,
    net::TcpListener,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use kalends_e2e::{Database, Server};
use rstest::rstest;
use tokio::{process::Command, time::timeout};

use kalends_e2e::binary;

/// The address that the service listens on in the page.
const ADDRESS: &str = "127.0.0.1:8080";
/// The line that is printed before the output of each block of commands.
const MARK: &str = "--- block ---";
/// The placeholder in the page for text that differs from run to run.
const ANYTHING: char = '…';

/// Replaces `cargo run [--quiet] --release [-- ARGUMENTS]`.
const CARGO: &str = r#"#!/bin/sh
[ "$1" = run ] || exit 1
while [ $# -gt 0 ] && [ "$1" != -- ]; do shift; done
[ $# -eq 0 ] || shift
exec "$KALENDS_BIN" "$@"
"#;

/// A block of commands and its output.
#[derive(Debug)]
struct Block {
    commands: String,
    prints: String,
}

#[rstest]
#[tokio::test]
async fn the_quickstart_works_as_printed(#[values(Database::Sqlite, Database::Postgres)] database: Database) {
    // The harness creates an empty database and knows its variables.
    let mut server = Server::start(database).await;
    assert!(server.stop().await.success());
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..");
    let page = fs::read_to_string(root.join("docs/quickstart.md")).unwrap().replace(ADDRESS, &address);
    let blocks = blocks(&page);
    assert!(blocks.len() > 5, "{blocks:#?}");

    let folder = tempfile::tempdir().unwrap();
    let cargo = folder.path().join("cargo");
    fs::write(&cargo, CARGO).unwrap();
    fs::set_permissions(&cargo, fs::Permissions::from_mode(0o755)).unwrap();
    let script = folder.path().join("quickstart.sh");
    fs::write(&script, script_of(&blocks)).unwrap();
    let printed = run(&script, &root, &server, &address, folder.path()).await;

    let printed: Vec<&str> = printed.split(&format!("\n{MARK}\n")).skip(1).collect();
    for (index, block) in blocks.iter().enumerate() {
        let got = printed.get(index).copied().unwrap_or("nothing: the commands before it failed");
        assert!(
            agrees(&block.prints, got),
            "{}\n--- should print\n{}\n--- but prints\n{got}",
            block.commands,
            block.prints
        );
    }
}

/// Every block of commands, with the block of text that follows it.
fn blocks(page: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut fence: Option<&str> = None;
    for line in page.lines() {
        match (fence, line.strip_prefix("```")) {
            (None, Some(language)) => {
                match language {
                    "sh" => blocks.push(Block { commands: String::new(), prints: String::new() }),
                    "text" | "console" => {}
                    other => panic!("the page has a block of `{other}`: neither run nor compared"),
                }
                fence = Some(language);
            }
            (Some(_), Some("")) => fence = None,
            (Some(language), _) => {
                let place = match language {
                    "sh" => blocks.last_mut().map(|block| &mut block.commands),
                    "text" => blocks.last_mut().map(|block| &mut block.prints),
                    _ => None,
                };
                if let Some(place) = place {
                    place.push_str(line);
                    place.push('\n');
                }
            }
            (None, None) => {}
        }
    }
    blocks
}

fn script_of(blocks: &[Block]) -> String {
    // If a command fails, the page's own variable holds the process to end.
    let mut script = "set -eu\ntrap 'kill \"${server:-}\" 2>/dev/null || :' EXIT\n".to_owned();
    for block in blocks {
        script.push_str(&format!("printf '\\n%s\\n' '{MARK}'\n{}", block.commands));
    }
    script
}

async fn run(script: &Path, root: &Path, server: &Server, address: &str, programs: &Path) -> String {
    #[expect(clippy::disallowed_methods, reason = "not part of the service; curl and sed must be found")]
    let path = std::env::var("PATH").unwrap();
    let output = Command::new("sh")
        .arg(script)
        .current_dir(root)
        .env_clear()
        .envs(server.environment())
        .env("KALENDS_LISTEN", address)
        .env("KALENDS_BIN", binary())
        .env("PATH", format!("{}:{path}", programs.display()))
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output();
    let output = timeout(Duration::from_secs(120), output).await.expect("the commands to end").unwrap();
    let (printed, complained) =
        (String::from_utf8_lossy(&output.stdout).into_owned(), String::from_utf8_lossy(&output.stderr).into_owned());
    assert!(output.status.success(), "{printed}\n--- standard error\n{complained}");
    printed
}

/// Whether the output matches the page, line by line.
fn agrees(page: &str, printed: &str) -> bool {
    let (expected, got) = (page.trim_end(), printed.trim_end());
    expected.lines().count() == got.lines().count()
        && expected.lines().zip(got.lines()).all(|(expected, got)| line_agrees(expected, got))
}

fn line_agrees(expected: &str, got: &str) -> bool {
    let Some((first, rest)) = expected.split_once(ANYTHING) else {
        return expected == got;
    };
    let Some(mut got) = got.strip_prefix(first) else { return false };
    let parts: Vec<&str> = rest.split(ANYTHING).collect();
    let Some((last, between)) = parts.split_last() else { return false };
    for part in between {
        let Some(at) = got.find(part) else { return false };
        got = &got[at + part.len()..];
    }
    got.len() > last.len() && got.ends_with(last)
}

#[test]
fn a_line_of_the_page_is_matched_around_placeholders() {
    for (expected, got, agree) in [
        ("a", "a", true),
        ("a", "b", false),
        ("id …", "id 1", true),
        ("id …", "id ", false),
        ("{\"id\":\"…\",\"n\":1}", "{\"id\":\"x\",\"n\":1}", true),
        ("{\"id\":\"…\",\"n\":1}", "{\"id\":\"x\",\"n\":2}", false),
        ("…-…!", "1-2!", true),
        ("…-…!", "12!", false),
    ] {
        assert_eq!(line_agrees(expected, got), agree, "{expected} {got}");
    }
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
