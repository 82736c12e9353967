//! `cargo xtask package`: packages the crates that are published, and uses them as another project would.

use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};

use crate::process;
use crate::workspace::{Package, Workspace};

/// The project that uses the packaged crates.
const OUTSIDE: &str = "examples/outside/Cargo.toml";

/// Packages that use the operating system. No published crate needs one of them, so that all of them build for every
/// target that has the standard library.
const OF_THE_SYSTEM: &[&str] = &["getrandom", "libc", "rustix", "windows-sys", "windows-link"];

/// Checks the dependencies, makes the archives and builds each from its archive, then runs the project with them.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    ensure!(arguments.is_empty(), "package takes no arguments");
    let workspace = Workspace::load()?;
    for package in workspace.published() {
        let tree = ["tree", "--locked", "--edges", "normal", "--prefix", "none", "--format", "{p}", "--package"];
        let tree = process::read(process::cargo(tree).arg(&package.name))?;
        let found = of_the_system(&tree);
        ensure!(found.is_empty(), "{} must not depend on {}", package.name, found.join(", "));
    }
    let target = workspace.target.join("package-check");
    archive(&workspace, &target)?;
    outside(&workspace, &target)
}

/// Makes an archive of each published package, and builds what is in it. Cargo orders them by their dependencies and
/// takes them from each other's archives, as a registry would deliver them. The other dependencies are already here, so
/// this needs no network.
fn archive(workspace: &Workspace, target: &Path) -> Result<()> {
    let mut cargo = process::cargo(["package", "--offline", "--quiet", "--allow-dirty", "--target-dir"]);
    cargo.arg(target).args(workspace.published().flat_map(|package| ["--package", &package.name]));
    process::run(&mut cargo)
}

/// Builds and runs the project in `examples/outside` with what was in the archives.
fn outside(workspace: &Workspace, target: &Path) -> Result<()> {
    let mut cargo = process::cargo(["run", "--quiet", "--manifest-path", OUTSIDE, "--target-dir"]);
    cargo.arg(target);
    for package in workspace.published() {
        cargo.arg("--config").arg(replacement(package, &unpacked(package, target)));
    }
    process::run(&mut cargo)
}

/// The folder into which Cargo unpacks the archive of a package to build it.
fn unpacked(package: &Package, target: &Path) -> PathBuf {
    target.join("package").join(format!("{}-{}", package.name, package.version))
}

/// Cargo's setting that takes a package from a folder instead of the registry.
fn replacement(package: &Package, folder: &Path) -> String {
    format!("patch.crates-io.{}.path={:?}", package.name, folder.display().to_string())
}

/// The packages in a tree that use the operating system, without their versions.
fn of_the_system(tree: &str) -> Vec<&str> {
    let names = tree.lines().filter_map(|line| line.split(' ').next());
    let mut found: Vec<&str> = names.filter(|name| OF_THE_SYSTEM.contains(name)).collect();
    found.sort_unstable();
    found.dedup();
    found
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::layers::PUBLISHED;

    #[test]
    fn a_tree_is_searched_for_packages_of_the_system() {
        let tree =
            "kalends-time v0.1.0 (/w/crates/time)\njiff v0.2.46\nlibc v0.2.191\ngetrandom v0.4.3\nlibc v0.2.191 (*)\n";
        assert_eq!(of_the_system(tree), ["getrandom", "libc"]);
        assert!(of_the_system("jiff v0.2.46\nlibcall v1.0.0\n").is_empty());
    }

    #[test]
    fn the_crates_that_may_be_published_are_those_of_the_layer_check() {
        let workspace = Workspace::load().unwrap();
        let mut published: Vec<&str> = workspace.published().map(|package| package.name.as_str()).collect();
        published.sort_unstable();
        let expected: BTreeSet<String> = PUBLISHED.iter().map(|name| format!("kalends-{name}")).collect();
        assert!(published.iter().copied().eq(&expected), "{published:?}");
    }
}
