//! The folder of a cluster, and the account that may run it.

use std::fs::Permissions;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use super::locate;
use crate::{process, tools};

/// The account that runs the server if we are root, because Postgres refuses to run as root.
const SERVER_ACCOUNT: &str = "postgres";

/// A folder that only the server's account can access.
pub(super) struct Home {
    folder: PathBuf,
    binaries: PathBuf,
    as_account: bool,
}

impl Home {
    /// Gives the existing folder to the server's account.
    pub(super) fn new(folder: &Path) -> Result<Self> {
        let home = Self { folder: folder.to_owned(), binaries: locate::binaries()?, as_account: is_root() };
        std::fs::create_dir_all(home.socket())?;
        for path in [&home.folder, &home.socket()] {
            if home.as_account {
                let user = account_number("-u", Some(SERVER_ACCOUNT))?;
                let group = account_number("-g", Some(SERVER_ACCOUNT))?;
                chown(path, Some(user), Some(group))?;
            }
            std::fs::set_permissions(path, Permissions::from_mode(0o700))?;
        }
        Ok(home)
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(super) fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    pub(super) fn socket(&self) -> PathBuf {
        self.folder.join("socket")
    }

    pub(super) fn log(&self) -> PathBuf {
        self.folder.join("log")
    }

    /// The last lines of the server's log.
    pub(super) fn last_words(&self) -> String {
        let log = std::fs::read_to_string(self.log()).unwrap_or_default();
        let lines: Vec<&str> = log.lines().collect();
        lines[lines.len().saturating_sub(10)..].join("\n")
    }

    /// Creates the data folder if there is none.
    pub(super) fn initialize(&self) -> Result<()> {
        if !self.data().join("PG_VERSION").exists() {
            let choices = ["--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync"];
            self.run("initdb", &choices)?;
        }
        Ok(())
    }

    /// Stops the server that is running here.
    pub(super) fn stop(&self) -> Result<()> {
        self.run("pg_ctl", &["stop", "--silent", "--mode=fast"])
    }

    /// Runs a program of the server on the data folder.
    fn run(&self, program: &str, arguments: &[&str]) -> Result<()> {
        let line = self.server_line(program)?;
        // `env` runs the command line, whichever program comes first.
        let mut command = Command::new("env");
        command.args(line).args(arguments).arg("--pgdata").arg(self.data()).current_dir(&self.folder);
        process::read(&mut command)?;
        Ok(())
    }

    /// The beginning of the command line for one of the server's programs, under the right account.
    pub(super) fn server_line(&self, program: &str) -> Result<Vec<String>> {
        let program = self.binaries.join(program).display().to_string();
        if !self.as_account {
            return Ok(vec![program]);
        }
        ensure!(tools::on_path("setpriv").is_some(), "root cannot run Postgres without `setpriv` (package util-linux)");
        let account = SERVER_ACCOUNT;
        let line = ["setpriv", "--reuid", account, "--regid", account, "--init-groups", "--", &program];
        Ok(line.map(String::from).into())
    }
}

/// Whether we are root.
pub(super) fn is_root() -> bool {
    account_number("-u", None).is_ok_and(|number| number == 0)
}

/// The number of a user (`-u`) or of its group (`-g`). Without a name, it is our own.
fn account_number(which: &str, name: Option<&str>) -> Result<u32> {
    let number = process::read(Command::new("id").arg(which).args(name))?;
    number.trim().parse().context("`id` did not print a number")
}
