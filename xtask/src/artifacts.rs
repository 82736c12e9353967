//! The programs that tests and campaigns start. They are built first.

use std::path::PathBuf;

use anyhow::{Context as _, Result};

use crate::process;
use crate::workspace::Workspace;

/// The package of the server's binary.
pub(crate) const SERVER: &str = "kalends-server";
/// The package of the load and crash campaigns.
pub(crate) const BENCH: &str = "kalends-bench";

/// A Cargo profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Profile {
    Debug,
    /// The profile of what is shipped. Benchmarks and full campaigns use it.
    Dist,
}

impl Profile {
    /// The arguments of `cargo build` and `cargo test`.
    pub(crate) const fn arguments(self) -> &'static [&'static str] {
        match self {
            Self::Debug => &[],
            Self::Dist => &["--profile", "dist"],
        }
    }

    /// The folder in the target folder that holds its programs.
    const fn folder(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Dist => "dist",
        }
    }
}

/// Builds all packages with their tests in one go, so that nothing is recompiled with other features.
pub(crate) fn build_workspace() -> Result<()> {
    process::run(&mut process::cargo(["build", "--workspace", "--bins", "--tests"]))
}

/// Builds the binaries of these packages.
pub(crate) fn build(profile: Profile, packages: &[&str]) -> Result<()> {
    let mut cargo = process::cargo(["build"]);
    cargo.args(profile.arguments());
    process::run(cargo.args(packages.iter().flat_map(|package| ["--package", package])))
}

/// The path of the server's binary once it is built.
pub(crate) fn server(workspace: &Workspace, profile: Profile) -> Result<PathBuf> {
    binary(workspace, profile, SERVER, "kalends")
}

/// The path of the campaigns' binary once it is built.
pub(crate) fn bench(workspace: &Workspace, profile: Profile) -> Result<PathBuf> {
    binary(workspace, profile, BENCH, BENCH)
}

fn binary(workspace: &Workspace, profile: Profile, package: &str, name: &str) -> Result<PathBuf> {
    workspace.package(package).with_context(|| format!("the workspace has no package `{package}`"))?;
    Ok(workspace.target.join(profile.folder()).join(name))
}
