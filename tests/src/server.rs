//! The service as a process.

use std::{
    collections::BTreeMap,
    fs::File,
    path::{Path, PathBuf},
    process::{ExitStatus, Stdio},
    time::{Duration, SystemTime},
};

use serde_json::Value;
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    process::{Child, Command},
    time::timeout,
};

use crate::{
    Client, Database,
    database::{PostgresDatabase, Schema, make_data_dir},
    mail,
    mail::Mail,
    under_test::binary,
};

/// Names the data directory.
const DATA_DIR: &str = "KALENDS_DATA_DIR";
/// 32 bytes. It need not be secret, because each test has its own database.
const MASTER_KEY: &str = "bWFzdGVyIGtleSBvZiB0aGUgZW5kLXRvLWVuZCB0ZXM=";
const SESSION_KEY: &str = "c2Vzc2lvbiBrZXkgb2YgdGhlIGVuZC10by1lbmQgdGU=";
/// The longest wait on a busy machine for a server to listen or to stop.
const PATIENCE: Duration = Duration::from_secs(60);

/// How long before the end of a half hour no test begins, in seconds.
const NEAR_THE_END: u64 = 20;
/// Half an hour, in seconds.
const HALF_HOUR: u64 = 1_800;

/// Requests per second that no test reaches.
const FAST: u32 = 1_000_000;

/// A running service with its own data directory and database. Dropping this value kills the service and removes both.
pub struct Server {
    database: Database,
    base: String,
    environment: BTreeMap<String, String>,
    process: Child,
    // Dropped after the process, in this order.
    postgres: Option<PostgresDatabase>,
    root: TempDir,
}

/// An organization and its key.
#[derive(Debug, Clone)]
pub struct Org {
    /// `org_…`
    pub id: String,
    /// `svc_sk_…`
    pub key: String,
}

/// The output of a command.
#[derive(Debug, Clone)]
pub struct Output {
    /// The exit status.
    pub status: ExitStatus,
    /// Its standard output.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
}

impl Server {
    /// Starts the service on a database with all tables and no data.
    pub async fn start(database: Database) -> Self {
        Self::start_with(database, &[]).await
    }

    /// Like [`Self::start`], with these variables in addition to the usual ones.
    pub async fn start_with(database: Database, variables: &[(&str, &str)]) -> Self {
        Self::start_on(database, Schema::Current, variables).await
    }

    /// Starts the service as an operator does the first time: there are no tables and no data directory.
    pub async fn first_start(database: Database) -> Self {
        Self::start_on(database, Schema::Absent, &[]).await
    }

    async fn start_on(database: Database, schema: Schema, variables: &[(&str, &str)]) -> Self {
        let root = tempfile::Builder::new().prefix("kalends-e2e-").tempdir().expect("a temporary directory");
        let mut environment = BTreeMap::from([
            ("KALENDS_LISTEN".to_owned(), "127.0.0.1:0".to_owned()),
            (DATA_DIR.to_owned(), root.path().join("data").display().to_string()),
            // All tests come from one address.
            ("KALENDS_IP_LIMITS".to_owned(), "off".to_owned()),
            ("RUST_BACKTRACE".to_owned(), "1".to_owned()),
        ]);
        let postgres = match database {
            Database::Sqlite => {
                // A test that names its own folder begins with what is in it.
                if schema == Schema::Current && variables.iter().all(|(name, _)| *name != DATA_DIR) {
                    make_data_dir(&root.path().join("data"));
                }
                None
            }
            Database::Postgres => {
                // The directory's name is known to be unique.
                let name = root.path().file_name().and_then(|name| name.to_str()).unwrap_or_default();
                let unique = name.rsplit('-').next().unwrap_or_default();
                let made = PostgresDatabase::create(&format!("{}_{unique}", std::process::id()), schema).await;
                environment.insert("KALENDS_DATABASE_URL".to_owned(), made.url());
                environment.insert("KALENDS_MASTER_KEY".to_owned(), MASTER_KEY.to_owned());
                environment.insert("KALENDS_SESSION_KEY".to_owned(), SESSION_KEY.to_owned());
                Some(made)
            }
        };
        environment.extend(variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        // Only now, because the first test waits long for its database.
        past_the_end_of_a_half_hour().await;
        let (process, base) = launch(root.path(), &environment, &[]).await;
        Self { database, base, environment, process, postgres, root }
    }

    /// Starts the service with one organization.
    pub async fn with_org(database: Database, plan: &str) -> (Self, Client) {
        let server = Self::start(database).await;
        let org = server.org(plan).await;
        let client = server.api(&org);
        (server, client)
    }

    /// Starts another node on the same Postgres database. Dropping it ends the node and keeps the database.
    pub async fn another_node(&self) -> Self {
        self.another_node_with(&[], &[]).await
    }

    /// Like [`Self::another_node`], with these arguments and additional variables.
    pub async fn another_node_with(&self, arguments: &[&str], variables: &[(&str, &str)]) -> Self {
        assert!(self.postgres.is_some(), "nodes share a Postgres database");
        let root = tempfile::Builder::new().prefix("kalends-e2e-").tempdir().expect("a temporary directory");
        let mut environment = self.environment.clone();
        environment.insert(DATA_DIR.to_owned(), root.path().join("data").display().to_string());
        environment.extend(variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        let (process, base) = launch(root.path(), &environment, arguments).await;
        Self { database: self.database, base, environment, process, postgres: None, root }
    }

    /// `http://ADDR:PORT`.
    pub fn base_url(&self) -> &str {
        &self.base
    }

    /// `ADDR:PORT`.
    pub fn address(&self) -> &str {
        self.base.trim_start_matches("http://")
    }

    /// The database that the service runs on.
    pub const fn database(&self) -> Database {
        self.database
    }

    /// The URL of the service's Postgres database, if it runs on Postgres.
    pub fn postgres_url(&self) -> Option<String> {
        self.postgres.as_ref().map(PostgresDatabase::url)
    }

    /// The service's data directory.
    pub fn data_dir(&self) -> PathBuf {
        PathBuf::from(&self.environment[DATA_DIR])
    }

    /// The variables of the service and its commands.
    pub const fn environment(&self) -> &BTreeMap<String, String> {
        &self.environment
    }

    /// The process ID.
    pub fn pid(&self) -> u32 {
        self.process.id().expect("a running server")
    }

    /// The log of the service.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.root.path().join(LOG)).unwrap_or_default()
    }

    /// A client with the key of `org`.
    pub fn api(&self, org: &Org) -> Client {
        self.client(&org.key)
    }

    /// A client with any key.
    pub fn client(&self, key: &str) -> Client {
        Client::new(&self.base, Some(key))
    }

    /// A client without a key.
    pub fn anonymous(&self) -> Client {
        Client::new(&self.base, None)
    }

    /// Creates an organization with the operator's command. Its keys have no effective rate limit.
    pub async fn org(&self, plan: &str) -> Org {
        self.org_with(plan, &[]).await
    }

    /// Creates an organization with additional arguments for the operator's command. Its keys have no effective rate
    /// limit, unless the given limits set one.
    pub async fn org_with(&self, plan: &str, arguments: &[&str]) -> Org {
        let mut arguments: Vec<String> = arguments.iter().map(|argument| (*argument).to_owned()).collect();
        let given = arguments.iter().position(|argument| argument == "--limits").map(|place| place + 1);
        let mut limits: Value = given.map_or_else(
            || serde_json::json!({}),
            |place| serde_json::from_str(&arguments[place]).expect("limits are JSON"),
        );
        if limits["rate_per_second"].is_null() {
            limits["rate_per_second"] = FAST.into();
        }
        match given {
            Some(place) => arguments[place] = limits.to_string(),
            None => arguments.extend(["--limits".to_owned(), limits.to_string()]),
        }
        self.planned_org(plan, &arguments.iter().map(String::as_str).collect::<Vec<_>>()).await
    }

    /// Creates an organization with exactly the limits of its plan and these arguments.
    pub async fn planned_org(&self, plan: &str, arguments: &[&str]) -> Org {
        let command = [&["org", "create", "--name", "Test", "--plan", plan], arguments].concat();
        let output = self.cli(&command).await.succeeded();
        let made: Value = serde_json::from_str(&output.stdout).expect("one JSON line");
        let text = |field: &str| made[field].as_str().unwrap_or_else(|| panic!("no {field} in {made}")).to_owned();
        Org { id: text("org_id"), key: text("api_key") }
    }

    /// Runs a command of the binary next to the service, in the same environment.
    pub async fn cli(&self, arguments: &[&str]) -> Output {
        self.cli_in(&self.environment, arguments).await
    }

    /// Runs a command with these variables in addition to the service's.
    pub async fn cli_with(&self, variables: &[(&str, &str)], arguments: &[&str]) -> Output {
        let mut environment = self.environment.clone();
        environment.extend(variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        self.cli_in(&environment, arguments).await
    }

    /// Runs a command without these variables of the service.
    pub async fn cli_without(&self, variables: &[&str], arguments: &[&str]) -> Output {
        let mut environment = self.environment.clone();
        environment.retain(|name, _| !variables.contains(&name.as_str()));
        self.cli_in(&environment, arguments).await
    }

    async fn cli_in(&self, environment: &BTreeMap<String, String>, arguments: &[&str]) -> Output {
        let ended = command(self.root.path(), environment).args(arguments).stdin(Stdio::null()).output();
        let ended = timeout(PATIENCE, ended).await.expect("the command to end").expect("the command to start");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
        Output { status: ended.status, stdout: text(ended.stdout), stderr: text(ended.stderr) }
    }

    /// The emails in the file mailbox, oldest first.
    pub fn mails(&self) -> Vec<Mail> {
        mail::read_all(&self.data_dir().join("mail"))
    }

    /// Waits until the mailbox holds `count` emails.
    pub async fn wait_for_mails(&self, count: usize) -> Vec<Mail> {
        let began = tokio::time::Instant::now();
        loop {
            let mails = self.mails();
            if mails.len() >= count {
                return mails;
            }
            assert!(began.elapsed() < PATIENCE, "{} of {count} mails: {mails:#?}", mails.len());
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Asks the service to stop, as an operator would.
    pub async fn terminate(&self) {
        let pid = self.pid().to_string();
        let sent = Command::new("kill").args(["-TERM", &pid]).status().await.expect("kill to start");
        assert!(sent.success(), "the server {pid} is gone");
    }

    /// Waits until the process has ended.
    pub async fn ended(&mut self) -> ExitStatus {
        timeout(PATIENCE, self.process.wait()).await.expect("the server to stop").expect("its status")
    }

    /// Stops the service gracefully.
    pub async fn stop(&mut self) -> ExitStatus {
        self.terminate().await;
        self.ended().await
    }

    /// Ends the process at once, as a crash would.
    pub async fn kill(&mut self) {
        self.process.kill().await.expect("to kill the server");
    }

    /// Starts the service again over the same data, after it has ended. It listens on a new port, so clients made
    /// before cannot reach it.
    pub async fn start_again(&mut self, variables: &[(&str, &str)]) {
        self.start_again_as(&[], variables).await;
    }

    /// Like [`Self::start_again`], with these arguments.
    pub async fn start_again_as(&mut self, arguments: &[&str], variables: &[(&str, &str)]) {
        let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        self.environment.extend(variables);
        (self.process, self.base) = launch(self.root.path(), &self.environment, arguments).await;
    }

    /// Stops the service gracefully and starts it again over the same data, with its clock moved by
    /// `seconds`.
    pub async fn restart_at_offset(&mut self, seconds: i64) {
        assert!(self.stop().await.success());
        self.start_again(&[("KALENDS_CLOCK_OFFSET_SECONDS", &seconds.to_string())]).await;
    }

    /// Stops the service gracefully and starts it again over the same data.
    pub async fn restart(&mut self) {
        assert!(self.stop().await.success());
        self.start_again(&[]).await;
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Killing a process that has already been waited for fails. That does not matter.
        let _ = self.process.start_kill();
        if std::thread::panicking() {
            eprintln!("--- the server's log ---\n{}", self.log());
        }
    }
}

impl Output {
    /// Requires that the command succeeded.
    #[track_caller]
    pub fn succeeded(self) -> Self {
        assert!(self.status.success(), "{self:#?}");
        self
    }

    /// Requires that the command failed and gave a reason on standard error.
    #[track_caller]
    pub fn failed(self) -> Self {
        assert!(!self.status.success() && !self.stderr.trim().is_empty(), "{self:#?}");
        self
    }
}

/// The file next to the data directory that takes the standard error.
const LOG: &str = "stderr.log";

/// Waits for the end of the half hour if it is near, so that no slot, day or month ends during a short test.
#[expect(clippy::disallowed_methods, reason = "not part of the service, whose clock is that of the machine")]
async fn past_the_end_of_a_half_hour() {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("a time after 1970").as_secs();
    let left = HALF_HOUR - now % HALF_HOUR;
    if left <= NEAR_THE_END {
        tokio::time::sleep(Duration::from_secs(left)).await;
    }
}

/// Starts the service and waits for its address.
async fn launch(root: &Path, environment: &BTreeMap<String, String>, arguments: &[&str]) -> (Child, String) {
    let log = File::options().create(true).append(true).open(root.join(LOG)).expect("a log file");
    let mut process = command(root, environment)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(log)
        .spawn()
        .unwrap_or_else(|error| panic!("{} does not start: {error}", binary().display()));
    let mut lines = BufReader::new(process.stdout.take().expect("a pipe")).lines();
    let first = timeout(PATIENCE, lines.next_line()).await;
    let Ok(Ok(Some(line))) = &first else {
        let log = std::fs::read_to_string(root.join(LOG)).unwrap_or_default();
        panic!("the server did not begin to listen: {first:?}\n{log}");
    };
    let base = line.strip_prefix("kalends listening on ").unwrap_or_else(|| panic!("an unexpected line: {line}"));
    assert!(base.starts_with("http://127.0.0.1:"), "an unexpected address: {base}");
    // Keep reading, so that the server never blocks on a full pipe.
    tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
    (process, base.to_owned())
}

/// The binary, without the developer's own environment.
fn command(root: &Path, environment: &BTreeMap<String, String>) -> Command {
    let mut command = Command::new(binary());
    command.env_clear();
    // The binary then trusts the authorities that are compiled in. Reading the machine's takes a notable part of a
    // start.
    command.env("SSL_CERT_FILE", "/dev/null");
    command.envs(environment).current_dir(root).kill_on_drop(true);
    command
}
