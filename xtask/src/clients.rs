//! `cargo xtask clients`: generates the clients in Python and TypeScript from the description of the API.
//!
//! The generated code is in the repository. Nobody edits it by hand: the layer above it is in the folders next to it.

mod description;
mod generated;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};

use self::generated::Generated;
use crate::artifacts::{self, Profile};
use crate::packages::Packages;
use crate::process;
use crate::workspace::{self, Workspace};

/// The generator for Python, and what formats its output.
const PYTHON: Packages = Packages::Python(&["openapi-python-client==0.29.1", "ruff==0.17.6"]);
/// The generator for TypeScript. Newer ones need Node.js 22.
const TYPESCRIPT: Packages = Packages::Node(&["@hey-api/openapi-ts@0.95.0", "typescript@5.9.3"]);
/// The configurations of the generators.
const PYTHON_CONFIGURATION: &str = "clients/python/openapi-python-client.yml";
const TYPESCRIPT_CONFIGURATION: &str = "clients/typescript/openapi-ts.config.mjs";
/// Where the generated code is in the repository.
const PYTHON_FOLDER: &str = "clients/python/kalends_api";
const TYPESCRIPT_FOLDER: &str = "clients/typescript/src/generated";

/// Generates the clients, or checks them.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let checks = match arguments {
        [] => false,
        [only] if only == "--check" => true,
        _ => bail!("clients takes no arguments, or --check"),
    };
    let workspace = Workspace::load()?;
    artifacts::build(Profile::Debug, &[artifacts::SERVER])?;
    let server = artifacts::server(&workspace, Profile::Debug)?;
    if checks {
        return check(&server, &workspace);
    }
    for (folder, generated) in generate(&server, &workspace)? {
        generated.write(&workspace::root().join(folder))?;
        eprintln!("{folder}: {} files, {} KiB", generated.count(), generated.size() / 1024);
    }
    Ok(())
}

/// Checks that the generated code in the repository is what the generators make of the description of this server.
pub(crate) fn check(server: &Path, workspace: &Workspace) -> Result<()> {
    for (folder, generated) in generate(server, workspace)? {
        let differences = generated.differences(&Generated::read(&workspace::root().join(folder))?);
        ensure!(
            differences.is_empty(),
            "{folder} is not up to date; `cargo xtask clients` writes it:\n{}",
            differences.join("\n")
        );
    }
    Ok(())
}

/// The generated code, with its folder in the repository.
fn generate(server: &Path, workspace: &Workspace) -> Result<[(&'static str, Generated); 2]> {
    let folder = workspace.target.join("clients");
    let (python_folder, typescript_folder) = (folder.join("python"), folder.join("typescript"));
    for folder in [&python_folder, &typescript_folder] {
        fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    }
    let described = folder.join("openapi.json");
    let all = process::read(Command::new(server).arg("openapi"))?;
    fs::write(&described, description::for_clients(&all)?)
        .with_context(|| format!("cannot write {}", described.display()))?;
    Ok([
        (PYTHON_FOLDER, python(&described, &python_folder)?),
        (TYPESCRIPT_FOLDER, typescript(&described, &typescript_folder)?),
    ])
}

fn python(described: &Path, folder: &Path) -> Result<Generated> {
    let programs = PYTHON.install(folder)?;
    let made = cleared(folder.join("kalends_api"))?;
    let mut generator = Command::new(programs.join("openapi-python-client"));
    // Without the second option it leaves out what it cannot read, and succeeds.
    generator.args(["generate", "--fail-on-warning", "--meta", "none", "--path"]).arg(described);
    generator.arg("--config").arg(workspace::root().join(PYTHON_CONFIGURATION)).arg("--output-path").arg(&made);
    // It starts the formatter by its name.
    let path = crate::env::var("PATH").unwrap_or_default();
    process::read(generator.env("PATH", format!("{}:{path}", programs.display())).env("NO_COLOR", "1"))?;
    // The code has types, but the generator does not mark it.
    let marker = made.join("py.typed");
    fs::write(&marker, "").with_context(|| format!("cannot write {}", marker.display()))?;
    Generated::read(&made)
}

fn typescript(described: &Path, folder: &Path) -> Result<Generated> {
    let programs = TYPESCRIPT.install(folder)?;
    let made = cleared(folder.join("generated"))?;
    let mut generator = Command::new(programs.join("openapi-ts"));
    generator.args(["--silent", "--file"]).arg(workspace::root().join(TYPESCRIPT_CONFIGURATION)).current_dir(folder);
    process::read(generator.env("KALENDS_DESCRIPTION", described).env("KALENDS_GENERATED", &made))?;
    Generated::read(&made)
}

/// A folder without the files of an earlier run.
fn cleared(folder: PathBuf) -> Result<PathBuf> {
    if folder.exists() {
        fs::remove_dir_all(&folder).with_context(|| format!("cannot remove {}", folder.display()))?;
    }
    Ok(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generators_are_pinned() {
        assert!(PYTHON.are_pinned() && TYPESCRIPT.are_pinned());
    }

    #[test]
    fn the_clients_have_the_licences_of_the_workspace() {
        for name in ["LICENSE-APACHE", "LICENSE-MIT"] {
            let text = fs::read_to_string(workspace::root().join(name)).unwrap();
            for folder in ["clients/python", "clients/typescript"] {
                let copy = fs::read_to_string(workspace::root().join(folder).join(name)).unwrap();
                assert!(copy == text, "{folder}/{name} differs from {name}");
            }
        }
    }

    #[test]
    fn the_clients_have_the_version_of_the_workspace() {
        let version = env!("CARGO_PKG_VERSION");
        for (file, line) in [
            ("clients/python/pyproject.toml", format!("version = \"{version}\"\n")),
            ("clients/typescript/package.json", format!("\"version\": \"{version}\",\n")),
        ] {
            let text = fs::read_to_string(workspace::root().join(file)).unwrap();
            assert!(text.contains(&line), "{file} has another version than {version}");
        }
    }
}
