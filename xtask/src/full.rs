//! `cargo xtask full`: what takes too long for every change, before a release.

use anyhow::{Result, ensure};

use crate::artifacts::Profile;
use crate::soak::Scale;
use crate::steps::Steps;
use crate::{artifacts, bench, interop, lint, package, process, soak, test};

/// The number of random attacks on each operation. A change is tested with fewer.
const ATTACKS: &str = "100";

/// Runs every step. The first failure ends the run.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    ensure!(arguments.is_empty(), "full takes no arguments");
    let steps = Steps::begin();
    lint::further_steps(&steps)?;
    steps.step("packages", || package::run(&[]))?;
    steps.step("long tests", || test::run(&["-p", "kalends-e2e", "--run-ignored", "only"].map(str::to_owned)))?;
    steps.step("many attacks", || {
        let attacks = ["xtask", "test", "-p", "kalends-e2e", "-E", "test(no_input_makes_the_server_fail)"];
        process::run(process::cargo(attacks).env("PROPTEST_CASES", ATTACKS))
    })?;
    steps.step("third-party tools", || interop::run(&[]))?;
    steps.step("build", || artifacts::build(Profile::Dist, &[artifacts::SERVER, artifacts::BENCH]))?;
    steps.step("held ratios", || bench::run(&["http".into(), "--check".into()]))?;
    steps.step("random histories", || soak::histories(Scale::Full))?;
    steps.step("soak campaigns", || soak::run_built(Scale::Full))
}
