//! Packages of Python and Node.js for third-party tools, at exact versions, and programs of Debian's packages.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::{process, tools};

/// The packages to install. Those of Python and Node.js have exact versions.
pub(crate) enum Packages {
    /// Installed into a virtual environment. The tool is in its `bin`.
    Python(&'static [&'static str]),
    /// Installed into a separate folder. The tool is in `node_modules/.bin`.
    Node(&'static [&'static str]),
    /// Packages of Python, whose tool it is, and those of Node.js that the tool calls.
    Both(&'static [&'static str], &'static [&'static str]),
    /// Programs on PATH, each with its Debian package. The release of Debian decides the versions.
    Debian(&'static [(&'static str, &'static str)]),
}

impl Packages {
    /// Installs the missing packages, and returns the folder of the programs.
    pub(crate) fn install(&self, folder: &Path) -> Result<PathBuf> {
        match self {
            Self::Python(packages) => install_python(packages, folder),
            Self::Node(packages) => install_node(packages, folder),
            Self::Both(python, node) => {
                install_node(node, folder)?;
                install_python(python, folder)
            }
            Self::Debian(programs) => {
                tools::require(programs, "the check needs other programs")?;
                Ok(folder.to_owned())
            }
        }
    }

    /// Whether each package has a version.
    #[cfg(test)]
    pub(crate) fn are_pinned(&self) -> bool {
        // The first character of a name in Node.js can be the mark.
        let pinned = |packages: &[&str], mark: &str| {
            packages.iter().all(|package| package.get(1..).is_some_and(|rest| rest.contains(mark)))
        };
        match self {
            Self::Python(packages) => pinned(packages, "=="),
            Self::Node(packages) => pinned(packages, "@"),
            Self::Both(python, node) => pinned(python, "==") && pinned(node, "@"),
            Self::Debian(_) => true,
        }
    }
}

fn install_python(packages: &[&str], folder: &Path) -> Result<PathBuf> {
    let venv = folder.join("venv");
    let bin = venv.join("bin");
    if !bin.join("pip").exists() {
        let mut python = Command::new("python3");
        process::run(python.args(["-m", "venv"]).arg(&venv))
            .context("cannot create a virtual environment (Debian's package is `python3-venv`)")?;
    }
    process::run(Command::new(bin.join("pip")).args(["install", "--quiet"]).args(packages))?;
    Ok(bin)
}

fn install_node(packages: &[&str], folder: &Path) -> Result<PathBuf> {
    let npm = ["install", "--no-save", "--no-audit", "--no-fund", "--silent", "--prefix"];
    process::run(Command::new("npm").args(npm).arg(folder).args(packages))?;
    Ok(folder.join("node_modules/.bin"))
}
