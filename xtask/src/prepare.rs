//! `cargo xtask prepare`: the query data (`.sqlx`), with which the adapters compile without a database.
//!
//! Each adapter is checked against a new database with all migrations applied. The query macros write the database's
//! description of each statement into a scratch folder, which then replaces the adapter's own. Tests and benchmarks of
//! an adapter use the driver's run-time functions instead of the macros, so they need no data.

use std::collections::BTreeMap;
use std::fs::{File, FileTimes};
use std::path::Path;
use std::time::SystemTime;

use anyhow::{Context as _, Result, bail, ensure};

use crate::postgres::{Cluster, Durability};
use crate::{process, workspace};

/// A store whose statements are checked at compile time.
struct Adapter {
    /// The folder of the crate and of the migrations.
    name: &'static str,
    package: &'static str,
}

const ADAPTERS: &[Adapter] =
    &[Adapter { name: "sqlite", package: "kalends-sqlite" }, Adapter { name: "postgres", package: "kalends-postgres" }];

/// File names with their content.
type QueryData = BTreeMap<String, String>;

/// Writes the data of the named adapter, or of both. With `--check`, it only compares.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let mut check = false;
    let mut name = None;
    for argument in arguments {
        match argument.as_str() {
            "--check" => check = true,
            other if ADAPTERS.iter().any(|adapter| adapter.name == other) => name = Some(other),
            other => bail!("expected sqlite, postgres or --check, not `{other}`"),
        }
    }
    for adapter in ADAPTERS.iter().filter(|adapter| name.is_none_or(|name| name == adapter.name)) {
        adapter.prepare(check).with_context(|| format!("the query data of {}", adapter.package))?;
    }
    Ok(())
}

impl Adapter {
    fn prepare(&self, check: bool) -> Result<()> {
        let folder = workspace::root().join("crates").join(self.name);
        let kept = folder.join(".sqlx");
        let new = self.describe(&folder)?;
        let old = read(&kept)?;
        let differences = differences(&old, &new);
        if check {
            ensure!(differences.is_empty(), "run `cargo xtask prepare`: {}", differences.join(", "));
        } else {
            replace(&kept, &old, &new)?;
        }
        eprintln!("{}: {} queries, {} changed", self.package, new.len(), differences.len());
        Ok(())
    }

    /// Compiles the crate against its own database and collects the output of the macros.
    fn describe(&self, folder: &Path) -> Result<QueryData> {
        let scratch = tempfile::tempdir()?;
        let (data, database) = (scratch.path().join("queries"), scratch.path().join("check.db"));
        std::fs::create_dir(&data)?;
        let (url, _cluster) = match self.name {
            "sqlite" => (format!("sqlite://{}", database.display()), None),
            _ => {
                let cluster = Cluster::throwaway(Durability::None)?;
                (cluster.url(), Some(cluster))
            }
        };
        let migrations = format!("migrations/{}", self.name);
        let apply = ["run", "--quiet", "--package", "xtask", "--features", "migrations", "--bin", "apply-migrations"];
        process::run(process::cargo(apply).args(["--", &url, &migrations]))?;

        // Unchanged sources would not be recompiled, and then the macros would write nothing.
        let root = folder.join("src/lib.rs");
        let root =
            File::options().append(true).open(&root).with_context(|| format!("cannot touch {}", root.display()))?;
        root.set_times(FileTimes::new().set_modified(now()))?;
        let mut cargo = process::cargo(["check", "--lib", "--package", self.package]);
        // Only this adapter is compiled, so the macros' one variable does for both databases.
        process::run(cargo.env("DATABASE_URL", &url).env("SQLX_OFFLINE", "false").env("SQLX_OFFLINE_DIR", &data))?;
        read(&data)
    }
}

#[expect(clippy::disallowed_methods, reason = "a file's time stamp, not the service's clock")]
fn now() -> SystemTime {
    SystemTime::now()
}

/// The query data of a folder, which is empty if the folder does not exist.
fn read(folder: &Path) -> Result<QueryData> {
    if !folder.exists() {
        return Ok(QueryData::new());
    }
    let mut data = QueryData::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if let Some(name) = path.file_name().filter(|_| path.extension().is_some_and(|extension| extension == "json")) {
            data.insert(name.to_string_lossy().into_owned(), std::fs::read_to_string(&path)?);
        }
    }
    Ok(data)
}

/// Replaces the folder's data. Files that stay the same are not touched.
fn replace(folder: &Path, old: &QueryData, new: &QueryData) -> Result<()> {
    std::fs::create_dir_all(folder)?;
    for name in old.keys().filter(|name| !new.contains_key(*name)) {
        std::fs::remove_file(folder.join(name))?;
    }
    for (name, text) in new.iter().filter(|(name, text)| old.get(*name) != Some(*text)) {
        std::fs::write(folder.join(name), text)?;
    }
    Ok(())
}

fn differences(old: &QueryData, new: &QueryData) -> Vec<String> {
    let missing = new.keys().filter(|name| !old.contains_key(*name)).map(|name| format!("{name} is missing"));
    let stale = old.keys().filter(|name| !new.contains_key(*name)).map(|name| format!("{name} is unused"));
    let changed = new.iter().filter(|(name, text)| old.get(*name).is_some_and(|old| old != *text));
    missing.chain(stale).chain(changed.map(|(name, _)| format!("{name} differs"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(files: &[(&str, &str)]) -> QueryData {
        files.iter().map(|(name, text)| ((*name).into(), (*text).into())).collect()
    }

    #[test]
    fn each_kind_of_difference_is_named() {
        let old = data(&[("same.json", "1"), ("stale.json", "1"), ("other.json", "1")]);
        let new = data(&[("same.json", "1"), ("new.json", "1"), ("other.json", "2")]);
        assert_eq!(differences(&old, &new), ["new.json is missing", "stale.json is unused", "other.json differs"]);
        assert!(differences(&new, &new).is_empty());
    }

    #[test]
    fn replacing_leaves_only_the_new_data() {
        let folder = tempfile::tempdir().unwrap();
        let (old, new) = (data(&[("a.json", "1"), ("b.json", "1")]), data(&[("b.json", "2"), ("c.json", "3")]));
        replace(folder.path(), &QueryData::new(), &old).unwrap();
        replace(folder.path(), &old, &new).unwrap();
        assert_eq!(read(folder.path()).unwrap(), new);
    }
}
