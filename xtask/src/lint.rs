//! `cargo xtask lint`: formatting, the layer check, clippy, the documentation of the code and the public API.

use anyhow::{Result, ensure};

use crate::steps::Steps;
use crate::{api, layers, process};

/// Runs all checks, the fast ones first.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    ensure!(arguments.is_empty(), "lint takes no arguments");
    let begun = Steps::begin();
    steps(&begun)?;
    further_steps(&begun)
}

/// The checks that every change must pass, as steps of a longer run.
pub(crate) fn steps(steps: &Steps) -> Result<()> {
    steps.step("formatting", || process::run(&mut process::cargo(["fmt", "--all", "--check"])))?;
    steps.step("layers", || layers::run(&[]))?;
    steps.step("clippy", clippy)
}

/// The checks that compile the workspace once more, and seldom find something.
pub(crate) fn further_steps(steps: &Steps) -> Result<()> {
    steps.step("features", features)?;
    steps.step("documentation", documentation)?;
    steps.step("public API", || api::run(&[]))
}

fn clippy() -> Result<()> {
    // These features add the binaries that are left out by default.
    let features = ["--features", "xtask/api,xtask/migrations"];
    let mut cargo = process::cargo(["clippy", "--workspace", "--all-targets", "--locked"]);
    process::run(cargo.args(features).args(["--", "-D", "warnings"]))
}

/// Checks crates with fewer features than the workspace builds them with, as other programs may use them. In the
/// workspace, `wire` always has the features that the service needs, even when it is built for the client.
fn features() -> Result<()> {
    for alone in [
        "-p kalends-wire --no-default-features",
        "-p kalends-wire --no-default-features --features parse",
        "-p kalends-client",
        // Proposals need the feature `serde` of the time, which the others work without.
        "-p kalends-time -p kalends-recurrence -p kalends-availability -p kalends-quotas",
        "-p kalends-proposals",
        // The feature `testing` of each crate turns on that of the time.
        "-p kalends-recurrence -p kalends-availability -p kalends-quotas --features \
         kalends-recurrence/testing,kalends-availability/testing,kalends-quotas/testing",
        "-p kalends-proposals --features testing",
    ] {
        let mut cargo = process::cargo(["clippy", "--locked"]);
        process::run(cargo.args(alone.split_whitespace()).args(["--", "-D", "warnings"]))?;
    }
    Ok(())
}

/// Builds the documentation. Broken links are errors.
fn documentation() -> Result<()> {
    let mut cargo = process::cargo(["doc", "--workspace", "--no-deps", "--locked", "--quiet"]);
    process::run(cargo.env("RUSTDOCFLAGS", "-D warnings"))
}
