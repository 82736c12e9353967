//! The checks of `deny.toml` that need no advisory database.

use anyhow::Result;

use crate::workspace::Workspace;
use crate::{process, tools};

/// Bans, licences and sources. Fetches what the lock file names for all platforms, then works offline.
pub(crate) fn check() -> Result<()> {
    let mut deny = tools::DENY.command(&Workspace::load()?)?;
    process::run(&mut process::cargo(["fetch", "--locked", "--quiet"]))?;
    process::run(deny.args(["--offline", "check", "-A", "unused-wrapper", "bans", "licenses", "sources"]))
}
