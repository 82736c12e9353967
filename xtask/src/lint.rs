//! `cargo xtask lint`: formatting, the layer check, clippy and the documentation of the code.

use anyhow::{Result, ensure};

use crate::steps::Steps;
use crate::{layers, process};

/// Runs all, the quick ones first.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    ensure!(arguments.is_empty(), "lint takes no arguments");
    steps(&Steps::begin())
}

/// The same as steps of a longer run.
pub(crate) fn steps(steps: &Steps) -> Result<()> {
    steps.step("formatting", || process::run(&mut process::cargo(["fmt", "--all", "--check"])))?;
    steps.step("layers", || layers::run(&[]))?;
    steps.step("clippy", clippy)?;
    steps.step("documentation", documentation)
}

fn clippy() -> Result<()> {
    // The feature belongs to this package alone: it adds the one binary that is left out by default.
    let features = ["--features", "xtask/migrations"];
    let mut cargo = process::cargo(["clippy", "--workspace", "--all-targets", "--locked"]);
    process::run(cargo.args(features).args(["--", "-D", "warnings"]))
}

/// Builds what `cargo doc` shows: a link that leads nowhere fails.
fn documentation() -> Result<()> {
    let mut cargo = process::cargo(["doc", "--workspace", "--no-deps", "--locked", "--quiet"]);
    process::run(cargo.env("RUSTDOCFLAGS", "-D warnings"))
}
