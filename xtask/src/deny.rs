//! The checks of `deny.toml` that do not need the advisory database.

use anyhow::Result;

use crate::workspace::Workspace;
use crate::{process, tools};

/// Checks bans, licences and sources. It fetches the dependencies in the lock file for all platforms, then works
/// offline.
pub(crate) fn check() -> Result<()> {
    let mut deny = tools::DENY.command(&Workspace::load()?)?;
    process::run(&mut process::cargo(["fetch", "--locked", "--quiet"]))?;
    process::run(deny.args(["--offline", "check", "-A", "unused-wrapper", "bans", "licenses", "sources"]))
}
