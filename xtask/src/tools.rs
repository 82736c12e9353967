//! Cargo's own tools, installed on demand into `target/tools`.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::process;
use crate::workspace::Workspace;

/// A tool that a registry offers as `cargo install`.
pub(crate) struct Tool {
    name: &'static str,
    subcommand: &'static str,
    version: &'static str,
    features: &'static [&'static str],
}

/// Runs the tests.
pub(crate) const NEXTEST: Tool = Tool {
    name: "cargo-nextest",
    subcommand: "nextest",
    version: "0.9.143",
    features: &["--no-default-features", "--features", "default-no-update"],
};

/// Checks dependencies, licences and where they come from.
pub(crate) const DENY: Tool = Tool { name: "cargo-deny", subcommand: "deny", version: "0.20.2", features: &[] };

/// Runs libFuzzer's targets.
pub(crate) const FUZZ: Tool = Tool { name: "cargo-fuzz", subcommand: "fuzz", version: "0.13.2", features: &[] };

impl Tool {
    /// The tool as a Cargo subcommand; installs it first where it is missing.
    pub(crate) fn command(&self, workspace: &Workspace) -> Result<Command> {
        let folder = workspace.target.join("tools");
        let mut command = process::cargo([self.subcommand]);
        command.env("PATH", search_path(&folder.join("bin")));
        if !process::succeeds(command.arg("--version")) {
            self.install(&folder)
                .with_context(|| format!("{} is missing: cargo install {} --locked", self.name, self.name))?;
        }
        let mut command = process::cargo([self.subcommand]);
        command.env("PATH", search_path(&folder.join("bin")));
        Ok(command)
    }

    /// The same as a subcommand of the Cargo that belongs to another of rustup's toolchains.
    pub(crate) fn command_on(&self, toolchain: &str, workspace: &Workspace) -> Result<Command> {
        self.command(workspace)?;
        let mut command = Command::new("rustup");
        command.args(["run", toolchain, "cargo", self.subcommand]).current_dir(crate::workspace::root());
        command.env("PATH", search_path(&workspace.target.join("tools").join("bin")));
        Ok(command)
    }

    fn install(&self, folder: &std::path::Path) -> Result<()> {
        eprintln!("installing {} {} into {}", self.name, self.version, folder.display());
        let mut cargo =
            process::cargo(["install", "--quiet", self.name, "--version", self.version, "--locked", "--root"]);
        cargo.arg(folder).args(self.features);
        // The tool runs for seconds: compiling it quickly matters more than how fast it is.
        for (key, value) in [("LTO", "off"), ("OPT_LEVEL", "0"), ("CODEGEN_UNITS", "16"), ("DEBUG", "0")] {
            cargo.env(format!("CARGO_PROFILE_RELEASE_{key}"), value);
        }
        process::run(cargo.env("CARGO_TARGET_DIR", folder.join("build")))
    }
}

/// `PATH`, with the folder of our own tools last: what the machine has comes first.
fn search_path(tools: &std::path::Path) -> String {
    let path = crate::env::var("PATH").unwrap_or_default();
    format!("{path}:{}", tools.display())
}

/// Where a program is found on `PATH`.
pub(crate) fn on_path(program: &str) -> Option<PathBuf> {
    let path = crate::env::var("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(program)).find(|file| file.is_file())
}
