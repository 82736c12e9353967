//! Tools, installed on demand: Cargo's own into `target/tools`, the browser of the tests from Debian.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, Result, bail};

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

/// What the tests of pages look through: each program and Debian's package of it.
const BROWSER: [(&str, &str); 2] = [("chromium", "chromium"), ("chromedriver", "chromium-driver")];

/// Makes sure that there is a browser and what drives it; installs what is missing where that is possible.
pub(crate) fn require_browser() -> Result<()> {
    let missing = missing(&BROWSER, |program| on_path(program).is_some());
    if missing.is_empty() {
        return Ok(());
    }
    let packages = missing.join(" ");
    if !(is_root() && on_path("apt-get").is_some()) {
        bail!("no browser for the tests of pages: install Debian's packages {packages}, or what puts the same on PATH");
    }
    eprintln!("installing Debian's packages {packages}");
    apt(&["update"])?;
    apt(&[&["install", "--yes", "--no-install-recommends"], missing.as_slice()].concat())
}

/// The packages of the programs that are not there.
fn missing<'a>(programs: &[(&str, &'a str)], is_there: impl Fn(&str) -> bool) -> Vec<&'a str> {
    programs.iter().filter(|(program, _)| !is_there(program)).map(|(_, package)| *package).collect()
}

/// Runs Debian's package manager, which asks nothing.
pub(crate) fn apt(arguments: &[&str]) -> Result<()> {
    process::read(Command::new("apt-get").arg("-qq").args(arguments).env("DEBIAN_FRONTEND", "noninteractive"))?;
    Ok(())
}

/// Whether we are root.
fn is_root() -> bool {
    process::read(Command::new("id").arg("-u")).is_ok_and(|number| number.trim() == "0")
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_missing_is_installed() {
        assert_eq!(missing(&BROWSER, |_| true), [""; 0]);
        assert_eq!(missing(&BROWSER, |program| program == "chromium"), ["chromium-driver"]);
        assert_eq!(missing(&BROWSER, |_| false), ["chromium", "chromium-driver"]);
    }
}
