//! Tools, installed on demand: Cargo subcommands into `target/tools`, and programs of Debian's packages, such as the
//! tests' browser.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::process;
use crate::workspace::Workspace;

/// A tool that is installed with `cargo install`.
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

/// Checks dependencies, licences and sources.
pub(crate) const DENY: Tool = Tool { name: "cargo-deny", subcommand: "deny", version: "0.20.2", features: &[] };

/// Runs libFuzzer targets.
pub(crate) const FUZZ: Tool = Tool { name: "cargo-fuzz", subcommand: "fuzz", version: "0.13.2", features: &[] };

impl Tool {
    /// The tool as a Cargo subcommand. It is installed first if it is missing.
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

    /// The tool as a subcommand of the Cargo of another rustup toolchain. It is installed first if it is missing.
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
        // The tool runs only for seconds, so compiling it quickly matters more than its speed.
        for (key, value) in [("LTO", "off"), ("OPT_LEVEL", "0"), ("CODEGEN_UNITS", "16"), ("DEBUG", "0")] {
            cargo.env(format!("CARGO_PROFILE_RELEASE_{key}"), value);
        }
        process::run(cargo.env("CARGO_TARGET_DIR", folder.join("build")))
    }
}

/// The programs that page tests need, each with its Debian package.
const BROWSER: [(&str, &str); 2] =
    [("chromium-headless-shell", "chromium-headless-shell"), ("chromedriver", "chromium-driver")];

/// Ensures that there is a browser and its driver. Installs what is missing, if that is possible.
pub(crate) fn require_browser() -> Result<()> {
    require(&BROWSER, "page tests need a browser")
}

/// Ensures that there are these programs, each given with its Debian package. Installs what is missing, if that is
/// possible. The error begins with `reason`.
pub(crate) fn require(programs: &[(&str, &str)], reason: &str) -> Result<()> {
    let missing = missing(programs, |program| on_path(program).is_some());
    if missing.is_empty() {
        return Ok(());
    }
    let packages = missing.join(" ");
    if !(is_root() && on_path("apt-get").is_some()) {
        bail!("{reason}: install Debian's packages {packages}, or put the same programs on PATH");
    }
    eprintln!("installing Debian's packages {packages}");
    apt(&["update"])?;
    apt(&[&["install", "--yes", "--no-install-recommends"], missing.as_slice()].concat())
}

/// The packages of the missing programs.
fn missing<'a>(programs: &[(&str, &'a str)], is_there: impl Fn(&str) -> bool) -> Vec<&'a str> {
    programs.iter().filter(|(program, _)| !is_there(program)).map(|(_, package)| *package).collect()
}

/// Runs Debian's package manager without prompts.
pub(crate) fn apt(arguments: &[&str]) -> Result<()> {
    process::read(Command::new("apt-get").arg("-qq").args(arguments).env("DEBIAN_FRONTEND", "noninteractive"))?;
    Ok(())
}

/// Whether we are root.
fn is_root() -> bool {
    process::read(Command::new("id").arg("-u")).is_ok_and(|number| number.trim() == "0")
}

/// `PATH` with the folder of our own tools last, so that the machine's programs come first.
fn search_path(tools: &std::path::Path) -> String {
    let path = crate::env::var("PATH").unwrap_or_default();
    format!("{path}:{}", tools.display())
}

/// The path of a program on `PATH`.
pub(crate) fn on_path(program: &str) -> Option<PathBuf> {
    let path = crate::env::var("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(program)).find(|file| file.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_missing_programs_are_installed() {
        assert_eq!(missing(&BROWSER, |_| true), [""; 0]);
        assert_eq!(missing(&BROWSER, |program| program == BROWSER[0].0), ["chromium-driver"]);
        assert_eq!(missing(&BROWSER, |_| false), ["chromium-headless-shell", "chromium-driver"]);
    }
}
