//! `cargo xtask interop`: what the server emits, held against other people's tools at pinned versions.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::artifacts::{self, Profile};
use crate::process;
use crate::steps::Steps;
use crate::workspace::Workspace;

/// One check: a tool, and what it is shown.
struct Check {
    name: &'static str,
    packages: Packages,
    /// The arguments of the server whose standard output is checked.
    emit: &'static [&'static str],
    /// The file that the output is kept in.
    file: &'static str,
    /// The tool's command line; the file's path is added to it.
    tool: &'static [&'static str],
}

/// What is installed, each with its exact version.
enum Packages {
    /// Into a virtual environment; the tool is found in its `bin`.
    Python(&'static [&'static str]),
    /// Into a folder of its own; the tool is found in `node_modules/.bin`.
    #[expect(dead_code, reason = "the first check of a Node.js tool only adds a line to the list")]
    Node(&'static [&'static str]),
}

const CHECKS: &[Check] = &[Check {
    name: "openapi",
    packages: Packages::Python(&["openapi-spec-validator==0.9.0"]),
    emit: &["openapi"],
    file: "openapi.json",
    tool: &["openapi-spec-validator"],
}];

/// Runs the named check, or all.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let name = arguments.first();
    if let Some(name) = name.filter(|name| CHECKS.iter().all(|check| check.name != **name)) {
        bail!(
            "there is no check `{name}`; there are: {}",
            CHECKS.iter().map(|c| c.name).collect::<Vec<_>>().join(", ")
        );
    }
    let workspace = Workspace::load()?;
    artifacts::build(Profile::Debug, &[artifacts::SERVER])?;
    let server = artifacts::server(&workspace, Profile::Debug)?;
    let folder = workspace.target.join("interop");
    let steps = Steps::begin();
    for check in CHECKS.iter().filter(|check| name.is_none_or(|name| name == check.name)) {
        steps.step(check.name, || check.run(&server, &folder.join(check.name)))?;
    }
    Ok(())
}

impl Check {
    fn run(&self, server: &Path, folder: &Path) -> Result<()> {
        std::fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
        let programs = self.packages.install(folder)?;
        let file = folder.join(self.file);
        std::fs::write(&file, process::read(Command::new(server).args(self.emit))?)?;
        let Some((tool, arguments)) = self.tool.split_first() else { bail!("the check `{}` has no tool", self.name) };
        process::run(Command::new(programs.join(tool)).args(arguments).arg(file))
    }
}

impl Packages {
    /// Installs what is missing; returns the folder of the programs.
    fn install(&self, folder: &Path) -> Result<PathBuf> {
        match self {
            Self::Python(packages) => {
                let venv = folder.join("venv");
                let bin = venv.join("bin");
                if !bin.join("pip").exists() {
                    let mut python = Command::new("python3");
                    process::run(python.args(["-m", "venv"]).arg(&venv))
                        .context("no virtual environment (Debian's package is `python3-venv`)")?;
                }
                process::run(Command::new(bin.join("pip")).args(["install", "--quiet"]).args(*packages))?;
                Ok(bin)
            }
            Self::Node(packages) => {
                let npm = ["install", "--no-save", "--no-audit", "--no-fund", "--silent", "--prefix"];
                process::run(Command::new("npm").args(npm).arg(folder).args(*packages))?;
                Ok(folder.join("node_modules/.bin"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_package_is_pinned() {
        for check in CHECKS {
            let (packages, mark) = match check.packages {
                Packages::Python(packages) => (packages, "=="),
                Packages::Node(packages) => (packages, "@"),
            };
            assert!(packages.iter().all(|package| package.contains(mark)), "{}", check.name);
        }
    }
}
