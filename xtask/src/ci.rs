//! `cargo xtask ci`: everything that a change must pass. The steps most likely to fail come first, and the tests last.

use anyhow::{Result, ensure};

use crate::steps::Steps;
use crate::{artifacts, bench, deny, lint, soak, test};

/// Runs every step. The first failure ends the run.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    ensure!(arguments.is_empty(), "ci takes no arguments");
    let steps = Steps::begin();
    lint::steps(&steps)?;
    steps.step("dependencies, licences, sources", deny::check)?;
    steps.step("build", artifacts::build_workspace)?;
    steps.step("tasks of an agent", || bench::agents_built(&[]))?;
    steps.step("reduced soak campaigns", || soak::run_built(soak::Scale::Reduced))?;
    steps.last("tests", || test::run(&[]))
}
