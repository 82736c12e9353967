//! One Postgres cluster, created by `initdb` and kept running by a small shell that outlives us briefly.
//!
//! The server listens on a private socket directory and on loopback, and trusts every connection. A throwaway cluster
//! is in a temporary folder, which is deleted even if this process is killed.

use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use tempfile::TempDir;

use super::home::Home;
use super::keeper::{Keeper, Stop};
use super::ready::Ready;
use crate::memory;

const START_TIMEOUT: Duration = Duration::from_secs(60);
/// How many ports are tried if somebody takes the free port that we found.
const ATTEMPTS: u32 = 5;

/// Whether acknowledged writes survive a power cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Durability {
    /// They need not. For tests, which start from nothing.
    None,
    /// They do. For benchmarks and crash campaigns.
    Full,
}

impl Durability {
    fn settings(self) -> &'static [&'static str] {
        match self {
            Self::None => &["fsync=off", "synchronous_commit=off", "full_page_writes=off"],
            Self::Full => &[],
        }
    }

    /// The folder in memory for a cluster whose writes need not survive.
    fn folder(self) -> Option<&'static Path> {
        match self {
            Self::None => memory::folder(),
            Self::Full => None,
        }
    }
}

/// A running server, which is stopped on drop.
#[derive(Debug)]
pub(crate) struct Cluster {
    port: u16,
    // The order of the fields matters: the server stops before its folder is deleted.
    keeper: Keeper,
    /// The folder of a throwaway cluster. It is deleted here only if the server ended by itself; otherwise the keeper
    /// has deleted it.
    _folder: Option<TempDir>,
}

impl Cluster {
    /// Creates and starts a cluster that is deleted when it stops.
    pub(crate) fn throwaway(durability: Durability) -> Result<Self> {
        let mut folder = tempfile::Builder::new();
        folder.prefix("kalends-postgres-");
        let folder = match durability.folder() {
            Some(memory) => folder.tempdir_in(memory),
            None => folder.tempdir(),
        }?;
        let home = Home::new(folder.path())?;
        home.initialize()?;
        let (port, keeper) = start(&home, durability, Stop::and_remove(folder.path()), None)?;
        Ok(Self { port, keeper, _folder: Some(folder) })
    }

    /// Starts the cluster in `folder`, creating it first if it does not exist, on `port` if that is free.
    pub(crate) fn persistent(folder: &Path, port: u16) -> Result<Self> {
        std::fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
        let home = Home::new(folder)?;
        home.initialize()?;
        let (port, keeper) = start(&home, Durability::Full, Stop::ORDERLY, Some(port))?;
        Ok(Self { port, keeper, _folder: None })
    }

    /// The URL of the database `postgres`, whose user is a superuser.
    pub(crate) fn url(&self) -> String {
        url(self.port)
    }

    /// Waits until somebody stops the server.
    pub(crate) fn wait(&mut self) -> Result<()> {
        let status = self.keeper.wait()?;
        ensure!(status.success(), "Postgres ended ({status})");
        Ok(())
    }
}

/// The URL of the server that is running in `folder`, if there is one.
pub(crate) fn running(folder: &Path) -> Option<String> {
    Ready::read(&folder.join("data")).map(|ready| url(ready.port))
}

/// Stops the server that is running in `folder`.
pub(crate) fn stop(folder: &Path) -> Result<()> {
    Home::new(folder)?.stop()
}

fn url(port: u16) -> String {
    format!("postgres://postgres@{}:{port}/postgres", Ipv4Addr::LOCALHOST)
}

/// Starts the server, waits until it accepts connections, and returns its port.
fn start(home: &Home, durability: Durability, stop: Stop<'_>, preferred: Option<u16>) -> Result<(u16, Keeper)> {
    let mut preferred = preferred.filter(|port| TcpListener::bind((Ipv4Addr::LOCALHOST, *port)).is_ok());
    for _ in 0..ATTEMPTS {
        let port = match preferred.take() {
            Some(port) => port,
            None => TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port(),
        };
        let mut keeper = Keeper::start(home.folder(), &home.log(), stop, &command_line(home, port, durability)?)?;
        match await_ready(home, port, &mut keeper)? {
            None => return Ok((port, keeper)),
            Some(status) => {
                let last_words = home.last_words();
                ensure!(
                    last_words.contains("Address already in use"),
                    "Postgres did not start ({status}): {last_words}"
                );
            }
        }
    }
    bail!("Postgres found no free port in {ATTEMPTS} attempts")
}

fn command_line(home: &Home, port: u16, durability: Durability) -> Result<Vec<String>> {
    let mut line = home.server_line("postgres")?;
    line.extend(["-D".into(), home.data().display().to_string()]);
    let place = [
        format!("port={port}"),
        format!("listen_addresses={}", Ipv4Addr::LOCALHOST),
        format!("unix_socket_directories={}", home.socket().display()),
        "unix_socket_permissions=0700".into(),
        "max_connections=300".into(),
    ];
    for setting in place.into_iter().chain(durability.settings().iter().map(|setting| (*setting).into())) {
        line.extend(["-c".into(), setting]);
    }
    Ok(line)
}

/// Waits until the server accepts connections. Returns the exit status if it ended instead.
fn await_ready(home: &Home, port: u16, keeper: &mut Keeper) -> Result<Option<ExitStatus>> {
    let began = Instant::now();
    while began.elapsed() < START_TIMEOUT {
        if let Some(status) = keeper.ended()? {
            return Ok(Some(status));
        }
        if Ready::read(&home.data()).is_some_and(|ready| ready.port == port) {
            return Ok(None);
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    bail!("Postgres was not ready after {} s: {}", START_TIMEOUT.as_secs(), home.last_words())
}
