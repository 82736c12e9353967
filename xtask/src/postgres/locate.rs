//! Finds the server's binaries, or installs them if that is possible.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::{process, tools};

/// Where Debian puts each major version.
const DEBIAN: &str = "/usr/lib/postgresql";

/// The folder of `initdb`, `postgres` and `pg_ctl`.
pub(crate) fn binaries() -> Result<PathBuf> {
    if let Some(folder) = installed() {
        return Ok(folder);
    }
    if !(super::home::is_root() && tools::on_path("apt-get").is_some()) {
        bail!(
            "no Postgres server found: install one (Debian's package is `postgresql`), or set {}",
            super::TEST_POSTGRES
        );
    }
    eprintln!("installing Debian's package postgresql");
    tools::apt(&["update"])?;
    tools::apt(&["install", "--yes", "--no-install-recommends", "postgresql"])?;
    installed().context("Debian's package postgresql is installed, but its binaries are not where they should be")
}

fn installed() -> Option<PathBuf> {
    let versions = std::fs::read_dir(DEBIAN).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
    let debian = newest_first(versions.collect()).into_iter().map(|version| version.join("bin"));
    let path = tools::on_path("initdb").and_then(|initdb| Some(initdb.canonicalize().ok()?.parent()?.to_owned()));
    let configured = || process::read(Command::new("pg_config").arg("--bindir")).ok().map(|out| out.trim().into());
    debian.chain(path).find(|folder| is_complete(folder)).or_else(|| configured().filter(|f: &PathBuf| is_complete(f)))
}

fn is_complete(folder: &Path) -> bool {
    ["initdb", "postgres", "pg_ctl"].iter().all(|program| folder.join(program).is_file())
}

/// Version folders (`15`, `9.6`), the newest first; other folders last.
fn newest_first(mut folders: Vec<PathBuf>) -> Vec<PathBuf> {
    folders.sort_by_key(|folder| {
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        std::cmp::Reverse(name.split('.').map(|part| part.parse().unwrap_or(0)).collect::<Vec<u32>>())
    });
    folders
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_as_numbers() {
        let folders = ["9.6", "15", "common", "17", "10"].map(PathBuf::from).to_vec();
        assert_eq!(newest_first(folders), ["17", "15", "10", "9.6", "common"].map(PathBuf::from));
    }

    #[test]
    fn a_folder_without_a_server_is_not_enough() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("initdb"), "").unwrap();
        assert!(!is_complete(folder.path()));
    }
}
