//! `cargo xtask api`: compares the public API of each published crate with the list in its folder.
//!
//! A change of the list is a change that other projects see. It belongs in the crate's changelog.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail, ensure};

use crate::process;
use crate::workspace::{self, Package, Workspace};

/// The list, in the folder of its crate.
const LIST: &str = "public-api.txt";

/// Compares the lists, or writes them.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let renews = match arguments {
        [] => false,
        [renew] if renew == "--renew" => true,
        _ => bail!("api takes no arguments, or --renew"),
    };
    let workspace = Workspace::load()?;
    let rustc = process::read(std::process::Command::new("rustc").arg("--version"))?;
    for package in workspace.published() {
        if !is_release(&rustc, &package.rust_version) {
            // The JSON of another release can have another format, which cannot be read.
            let needed = &package.rust_version;
            ensure!(!renews, "the lists are made with Rust {needed}, but this is {}", rustc.trim());
            eprintln!("not compared, because the lists are made with Rust {needed} and this is {}", rustc.trim());
            return Ok(());
        }
        let path = workspace::root().join(&package.folder).join(LIST);
        let public = listed(package, &workspace)?;
        if renews {
            fs::write(&path, public).with_context(|| format!("cannot write {}", path.display()))?;
            continue;
        }
        let known = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let differences = differences(&known, &public);
        ensure!(
            differences.is_empty(),
            "the public API of {} has changed; `cargo xtask api --renew` writes the new list:\n{}",
            package.name,
            differences.join("\n")
        );
    }
    Ok(())
}

/// Whether `rustc --version` printed this release, such as `1.95`.
fn is_release(rustc: &str, release: &str) -> bool {
    rustc.split(' ').nth(1).and_then(|version| version.strip_prefix(release)).is_some_and(|rest| rest.starts_with('.'))
}

/// The public API of a package with all its features, an item per line.
fn listed(package: &Package, workspace: &Workspace) -> Result<String> {
    // In a folder of its own: with another setting of this variable, Cargo builds all dependencies again.
    let target = workspace.target.join("api");
    let mut cargo = process::cargo(["rustdoc", "--quiet", "--locked", "--lib", "--all-features", "--package"]);
    cargo.args([package.name.as_str(), "-Zunstable-options", "--output-format", "json", "--target-dir"]);
    process::run(cargo.arg(&target).env("RUSTC_BOOTSTRAP", "1"))?;
    let lister = ["run", "--quiet", "--locked", "--package", "xtask", "--features", "xtask/api", "--bin", "public-api"];
    process::read(process::cargo(lister).arg("--").arg(described(package, &target)))
}

fn described(package: &Package, target: &Path) -> PathBuf {
    target.join("doc").join(package.name.replace('-', "_")).with_extension("json")
}

/// The lines that were added and removed.
fn differences(known: &str, public: &str) -> Vec<String> {
    let (known, public): (BTreeSet<&str>, BTreeSet<&str>) = (known.lines().collect(), public.lines().collect());
    let removed = known.difference(&public).map(|line| format!("- {line}"));
    removed.chain(public.difference(&known).map(|line| format!("+ {line}"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_release_is_read_without_its_patch() {
        assert!(is_release("rustc 1.95.0 (59807616e 2026-03-21)", "1.95"));
        assert!(!is_release("rustc 1.950.0", "1.95"));
        assert!(!is_release("rustc 1.96.0-nightly", "1.95"));
    }

    #[test]
    fn differences_are_the_lines_of_one_side() {
        assert_eq!(
            differences("pub fn a()\npub fn b()\n", "pub fn b()\npub fn c()\n"),
            ["- pub fn a()", "+ pub fn c()"]
        );
        assert!(differences("pub fn a()\n", "pub fn a()\n").is_empty());
    }
}
