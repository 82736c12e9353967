//! Processes that start on one data folder, one after the other or all at once.

use std::{
    fs::{self, Permissions},
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use futures::future::join_all;
use kalends_e2e::{Database::Sqlite, Server, binary};
use rstest::rstest;
use serde_json::Value;
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader},
    process::{Child, Command},
    time::timeout,
};

use crate::fixtures::agent;

/// The number of processes that start at once.
const AT_ONCE: usize = 6;

/// The longest wait on a busy machine for a process to start or to end.
const PATIENCE: Duration = Duration::from_secs(60);

/// A data folder that does not exist yet, and the directory that will contain it.
fn no_data() -> (TempDir, PathBuf) {
    let root = tempfile::Builder::new().prefix("kalends-e2e-").tempdir().unwrap();
    let data = root.path().join("data");
    (root, data)
}

/// The binary on the folder `data`, with the defaults and a free port.
fn process(data: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(binary());
    command
        .args(arguments)
        .env_clear()
        .env("KALENDS_DATA_DIR", data)
        .env("KALENDS_LISTEN", "127.0.0.1:0")
        .current_dir(data.parent().unwrap())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    command
}

/// Requires the one line that refuses a server whose database another server uses.
#[track_caller]
fn is_refused(code: Option<i32>, stderr: &str, data: &Path) {
    assert_eq!(code, Some(1), "{stderr}");
    let database = data.join("kalends.db");
    let line = format!(
        "error: another server already serves the database {}: stop it, or set KALENDS_DATA_DIR to another folder\n",
        database.display()
    );
    assert_eq!(stderr, line);
}

/// Creates an organization with this name and returns its key.
async fn key(data: &Path, name: &str) -> String {
    let ended = process(data, &["org", "create", "--name", name, "--plan", "pro"]).output();
    let ended = timeout(PATIENCE, ended).await.unwrap().unwrap();
    assert!(ended.status.success(), "{ended:?}");
    let made: Value = serde_json::from_slice(&ended.stdout).unwrap();
    made["api_key"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_second_server_on_the_same_file_is_refused() {
    let server = Server::start(Sqlite).await;
    let org = server.org("pro").await;
    let refused = server.cli(&["serve"]).await.failed();
    is_refused(refused.status.code(), &refused.stderr, &server.data_dir());
    assert_eq!(refused.stdout, "");

    // The first server continues, and commands work next to it.
    agent(&server.api(&org)).await;
    let second_org = server.org("pro").await;
    agent(&server.api(&second_org)).await;
}

#[rstest]
#[case::empty(false)]
#[case::migrated_only(true)]
#[tokio::test]
async fn processes_that_create_the_data_folder_together_share_its_keys(#[case] migrated: bool) {
    let (_root, data) = no_data();
    if migrated {
        // The processes then do not wait for each other's migrations, so all look for the master key at once.
        assert!(process(&data, &["migrate"]).status().await.unwrap().success());
    }
    let names: Vec<String> = (0..AT_ONCE).map(|number| format!("First {number}")).collect();
    let folder = data.display().to_string();
    let variables = [("KALENDS_DATA_DIR", &*folder)];
    let (keys, mut server) =
        tokio::join!(join_all(names.iter().map(|name| key(&data, name))), Server::start_with(Sqlite, &variables),);
    // The server that started with the processes can read what each of them sealed. So can a server that starts later.
    for agents in 1..=2 {
        for key in &keys {
            let api = server.client(key);
            agent(&api).await;
            assert_eq!(api.get("/v1/agents").await.expect(200).column("name"), vec!["Ada"; agents]);
        }
        let listed = server.cli(&["org", "list"]).await.succeeded().stdout;
        let listed = listed.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let mut listed: Vec<_> = listed.map(|org| org["name"].as_str().unwrap().to_owned()).collect();
        listed.sort_unstable();
        assert_eq!(listed, names);
        server.restart().await;
    }
}

/// Waits until `server` listens and returns its address, or until it has ended and returns its exit code and standard
/// error.
async fn started(server: &mut Child) -> Result<String, (Option<i32>, String)> {
    let mut line = String::new();
    let mut stdout = BufReader::new(server.stdout.take().unwrap());
    timeout(PATIENCE, stdout.read_line(&mut line)).await.unwrap().unwrap();
    if let Some(base) = line.trim_end().strip_prefix("kalends listening on ") {
        return Ok(base.to_owned());
    }
    let mut stderr = String::new();
    server.stderr.take().unwrap().read_to_string(&mut stderr).await.unwrap();
    let status = timeout(PATIENCE, server.wait()).await.unwrap().unwrap();
    Err((status.code(), stderr))
}

#[tokio::test]
async fn only_one_of_many_servers_that_start_at_once_serves() {
    let (_root, data) = no_data();
    let mut servers: Vec<Child> = (0..AT_ONCE).map(|_| process(&data, &["serve"]).spawn().unwrap()).collect();
    let outcomes = join_all(servers.iter_mut().map(started)).await;
    let mut serving = Vec::new();
    for outcome in outcomes {
        match outcome {
            Ok(base) => serving.push(base),
            Err((code, stderr)) => is_refused(code, &stderr, &data),
        }
    }
    let [base] = &*serving else { panic!("{serving:?} serve") };
    let key = key(&data, "Beside").await;
    let answer = reqwest::Client::new().get(format!("{base}/v1/agents")).bearer_auth(key).send().await.unwrap();
    assert_eq!(answer.status(), 200);
}

#[rstest]
#[case::for_the_owner_only(0o700, false)]
#[case::readable_by_others(0o755, false)]
#[case::writable_by_the_group(0o770, true)]
#[case::writable_by_everyone(0o777, true)]
#[tokio::test]
async fn a_data_folder_writable_by_others_causes_a_warning(#[case] mode: u32, #[case] warned: bool) {
    let (_root, data) = no_data();
    fs::create_dir(&data).unwrap();
    fs::set_permissions(&data, Permissions::from_mode(mode)).unwrap();
    let folder = data.display().to_string();
    let server = Server::start_with(Sqlite, &[("KALENDS_DATA_DIR", &folder)]).await;
    let log = server.log();
    let warnings: Vec<&str> = log.lines().filter(|line| line.contains("other users may write")).collect();
    assert_eq!(warnings.len(), usize::from(warned), "{log}");
    for warning in warnings {
        assert!(warning.contains("WARN") && warning.contains(&folder) && warning.contains("chmod 700"), "{warning}");
    }
    // The server still starts.
    server.anonymous().get("/ready").await.expect(200);
}
