//! Server processes: starting, querying, stopping and killing them.

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use kalends_time::Timestamp;
use serde_json::Value;

use crate::connection::{Connection, get};
use crate::database::Place;
use crate::json;

/// How long a server may take to start listening.
const START: Duration = Duration::from_secs(60);
/// How long a server may take to stop.
const STOP: Duration = Duration::from_secs(15);
/// The limits of an organization that has none.
const UNLIMITED: &str = r#"{"rate_per_second":1000000}"#;

/// A server that accepts requests. It is killed on drop.
#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
    /// Held open so that the server sees the end of its input when this program ends.
    _input: Option<ChildStdin>,
    pub(crate) address: SocketAddr,
    spawned: Instant,
}

/// A program that serves, with its configuration.
#[derive(Debug, Clone)]
pub(crate) struct Program {
    pub(crate) binary: PathBuf,
    pub(crate) arguments: Vec<String>,
    pub(crate) environment: Vec<(&'static str, String)>,
    pub(crate) directory: PathBuf,
}

impl Program {
    /// Kalends, configured for a place.
    pub(crate) fn kalends(binary: &Path, place: &Place) -> Self {
        let (environment, directory) = (place.environment(), place.directory().to_owned());
        Self { binary: binary.to_owned(), arguments: Vec::new(), environment, directory }
    }

    /// The file for the program's standard error.
    pub(crate) fn log(&self) -> PathBuf {
        self.directory.join("server.log")
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.binary);
        // Only the place configures the server, not the environment of this program.
        command.args(&self.arguments).args(arguments).env_clear().current_dir(&self.directory);
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Starts the program without waiting for anything.
    pub(crate) fn spawn(&self) -> Result<Child> {
        let log = File::options().create(true).append(true).open(self.log())?;
        let mut command = self.command(&[]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(log);
        command.spawn().with_context(|| format!("cannot start {}", self.binary.display()))
    }

    /// Starts the program and waits for the line with its address.
    pub(crate) async fn start(&self) -> Result<Process> {
        let spawned = Instant::now();
        let mut child = self.spawn()?;
        let input = child.stdin.take();
        let output = child.stdout.take().context("the server has no output")?;
        let listening = tokio::task::spawn_blocking(move || first_line(output));
        let line = match tokio::time::timeout(START, listening).await {
            Ok(line) => line??,
            Err(_) => String::new(),
        };
        let address = line.rsplit_once("http://").and_then(|(_, address)| address.trim().parse().ok());
        let Some(address) = address else {
            // Kill it in case it is still running.
            let _ = child.kill();
            let status = child.wait()?;
            bail!("the server did not start ({status}); it printed {line:?} and logged {}", self.last_words());
        };
        Ok(Process { child, _input: input, address, spawned })
    }

    /// Runs an operator command while the server is running, and returns its output.
    pub(crate) async fn operate(&self, arguments: &[&str]) -> Result<String> {
        let mut command = self.command(arguments);
        let output = tokio::task::spawn_blocking(move || command.stdin(Stdio::null()).output()).await??;
        let stderr = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "{arguments:?} failed ({}): {}", output.status, stderr.trim());
        Ok(String::from_utf8(output.stdout)?)
    }

    /// Creates an organization without limits, and returns its key.
    pub(crate) async fn create_organization(&self, name: &str) -> Result<String> {
        self.create_organization_with(name, UNLIMITED).await
    }

    /// Creates an organization without limits, and returns its identifier and its key.
    pub(crate) async fn create_identified_organization(&self, name: &str) -> Result<(String, String)> {
        let made = self.made(&["org", "create", "--name", name, "--plan", "custom", "--limits", UNLIMITED]).await?;
        Ok((json::text(&made, "org_id")?.to_owned(), json::text(&made, "api_key")?.to_owned()))
    }

    /// Creates an organization with these limits, as JSON, and returns its key.
    pub(crate) async fn create_organization_with(&self, name: &str, limits: &str) -> Result<String> {
        self.created(&["org", "create", "--name", name, "--plan", "custom", "--limits", limits]).await
    }

    /// Creates an organization with the limits of the free plan, and returns its key.
    pub(crate) async fn create_free_organization(&self, name: &str) -> Result<String> {
        self.created(&["org", "create", "--name", name, "--plan", "free"]).await
    }

    /// Creates an organization without limits whose address is this one, and returns its key.
    pub(crate) async fn create_owned_organization(&self, name: &str, email: &str) -> Result<String> {
        self.created(&["org", "create", "--name", name, "--plan", "custom", "--email", email]).await
    }

    /// Creates an organization, and returns its key.
    async fn created(&self, arguments: &[&str]) -> Result<String> {
        Ok(json::text(&self.made(arguments).await?, "api_key")?.to_owned())
    }

    /// Creates an organization, and returns what the command printed.
    async fn made(&self, arguments: &[&str]) -> Result<Value> {
        let printed = self.operate(arguments).await?;
        let line = printed.lines().rfind(|line| line.starts_with('{')).context("org create did not print JSON")?;
        Ok(serde_json::from_str(line)?)
    }

    /// The end of the log.
    fn last_words(&self) -> String {
        let log = std::fs::read_to_string(self.log()).unwrap_or_default();
        let lines: Vec<&str> = log.lines().collect();
        lines[lines.len().saturating_sub(12)..].join("\n")
    }
}

/// The resources of a process.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Usage {
    process: u32,
}

impl Usage {
    /// The memory that the process has in RAM, in KiB.
    pub(crate) fn resident(&self) -> Result<u64> {
        self.kibibytes("VmRSS:")
    }

    /// Its peak memory in KiB.
    pub(crate) fn most_resident(&self) -> Result<u64> {
        self.kibibytes("VmHWM:")
    }

    /// The number of its open files, including connections.
    pub(crate) fn open_files(&self) -> Result<usize> {
        Ok(std::fs::read_dir(format!("/proc/{}/fd", self.process))?.count())
    }

    fn kibibytes(&self, name: &str) -> Result<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.process))?;
        let line = status.lines().find_map(|line| line.strip_prefix(name)).with_context(|| format!("no {name}"))?;
        Ok(line.trim().trim_end_matches("kB").trim().parse()?)
    }
}

/// Returns the first line. Later output is read and dropped, so that the program never blocks on it.
fn first_line(output: ChildStdout) -> Result<String> {
    let mut reader = BufReader::new(output);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    std::thread::spawn(move || std::io::copy(&mut reader, &mut std::io::sink()));
    Ok(line)
}

impl Process {
    /// The time from the start of the process to the answer of `/health`, which is requested now.
    pub(crate) async fn first_answer(&self) -> Result<Duration> {
        let answer = Connection::open(self.address).await?.ask(&get("/health", None)).await?;
        ensure!(answer.status == 200, "/health answered {}", answer.status);
        Ok(self.spawned.elapsed())
    }

    /// The current time of the server's clock.
    pub(crate) async fn present(&self) -> Result<Timestamp> {
        let health = Connection::open(self.address).await?.ask(&get("/health", None)).await?.json(200)?;
        Ok(json::text(&health, "ts")?.parse()?)
    }

    /// The memory that the process has in RAM, in KiB.
    pub(crate) fn resident(&self) -> Result<u64> {
        self.usage().resident()
    }

    /// The resources of the process, for use in another task.
    pub(crate) fn usage(&self) -> Usage {
        Usage { process: self.child.id() }
    }

    /// The processor time that the process has used.
    pub(crate) fn processor_time(&self) -> Result<Duration> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id()))?;
        // The program's name may contain anything, and ends with the last parenthesis. Fields 14 and 15 are the times
        // in user mode and in the kernel, in hundredths of a second on every current Linux.
        let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
        let ticks = fields.split_whitespace().skip(11).take(2).map(str::parse::<u64>);
        Ok(Duration::from_millis(10 * ticks.sum::<Result<u64, _>>()?))
    }

    /// Kills the process without warning.
    pub(crate) fn kill(mut self) -> Result<()> {
        self.child.kill().context("cannot kill the server")?;
        self.child.wait()?;
        Ok(())
    }

    /// Asks the process to stop and waits until it has.
    pub(crate) async fn stop(mut self) -> Result<()> {
        let killed = Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status();
        ensure!(killed.is_ok_and(|status| status.success()), "cannot send SIGTERM; is the program `kill` missing?");
        let until = Instant::now() + STOP;
        while Instant::now() < until {
            if let Some(status) = self.child.try_wait()? {
                ensure!(status.success(), "the server stopped with {status}");
                return Ok(());
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        bail!("the server did not stop within {STOP:?}")
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
