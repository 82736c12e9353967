//! The shell that keeps a server running as long as we live, and a moment longer; see `keeper.sh`.

use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};

use anyhow::{Context as _, Result};

const SCRIPT: &str = include_str!("keeper.sh");

/// How a keeper stops its server.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stop<'a> {
    signal: &'static str,
    remove: Option<&'a Path>,
}

impl<'a> Stop<'a> {
    /// Stops with a last checkpoint.
    pub(super) const ORDERLY: Self = Self { signal: "INT", remove: None };

    /// Stops immediately, then deletes this folder.
    pub(super) fn and_remove(folder: &'a Path) -> Self {
        Self { signal: "QUIT", remove: Some(folder) }
    }
}

/// A running keeper. Dropping it stops the server and waits for that.
#[derive(Debug)]
pub(super) struct Keeper {
    shell: Child,
    lifeline: Option<ChildStdin>,
}

impl Keeper {
    /// Starts a server by its command line, which begins with the program. Its output is appended to `log`.
    pub(super) fn start(folder: &Path, log: &Path, stop: Stop<'_>, server: &[String]) -> Result<Self> {
        let remove = stop.remove.unwrap_or(Path::new(""));
        let mut sh = Command::new("/bin/sh");
        sh.args(["-c", SCRIPT, "keeper", stop.signal]).arg(log).arg(remove).args(server).current_dir(folder);
        // A separate process group, so that Ctrl-C reaches only us and the keeper can finish.
        sh.process_group(0).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut shell = sh.spawn().context("cannot start /bin/sh")?;
        let lifeline = shell.stdin.take();
        Ok(Self { shell, lifeline })
    }

    /// The exit status of the server, if it ended by itself.
    pub(super) fn ended(&mut self) -> Result<Option<ExitStatus>> {
        Ok(self.shell.try_wait()?)
    }

    /// Waits until the server ends by itself, or somebody else stops it.
    pub(super) fn wait(&mut self) -> Result<ExitStatus> {
        Ok(self.shell.wait()?)
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        drop(self.lifeline.take());
        let _ = self.shell.wait();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// A keeper whose server is a shell script. A background script can trap TERM, but not INT or QUIT.
    fn keep(folder: &Path, script: &str) -> Keeper {
        let data = folder.join("data");
        std::fs::create_dir(&data).unwrap();
        let server = ["/bin/sh", "-c", script].map(String::from);
        Keeper::start(folder, &folder.join("log"), Stop { signal: "TERM", remove: Some(&data) }, &server).unwrap()
    }

    #[test]
    fn dropping_a_keeper_stops_the_server_and_removes_its_folder() {
        let folder = tempfile::tempdir().unwrap();
        let keeper = keep(folder.path(), "trap 'echo stopped; exit 7' TERM; echo up; while :; do sleep 0.01; done");
        let log = folder.path().join("log");
        while !std::fs::read_to_string(&log).is_ok_and(|text| text == "up\n") {
            std::thread::sleep(Duration::from_millis(5));
        }
        drop(keeper);
        assert_eq!(std::fs::read_to_string(log).unwrap(), "up\nstopped\n");
        assert!(!folder.path().join("data").exists());
    }

    #[test]
    fn a_server_that_ends_by_itself_ends_its_keeper() {
        let folder = tempfile::tempdir().unwrap();
        let mut keeper = keep(folder.path(), "exit 3");
        assert_eq!(keeper.wait().unwrap().code(), Some(3));
        assert!(folder.path().join("data").exists());
    }
}
