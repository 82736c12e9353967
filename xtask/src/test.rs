//! `cargo xtask test`: every test, on its own Postgres. Nextest's summary ends the output.

use std::process::Command;

use anyhow::{Context as _, Result};

use crate::artifacts::{self, Profile};
use crate::postgres::{self, Durability, TestServer};
use crate::workspace::Workspace;
use crate::{env, memory, process, tools};

/// The variable that names the server's binary to the tests that start it.
pub(crate) const SERVER_BINARY: &str = "KALENDS_BIN";

/// The package whose tests use a browser.
const PAGE_TESTS: &str = "kalends-e2e";

/// Runs the doc tests, then the other tests. Further arguments go to nextest.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let workspace = Workspace::load()?;
    let mut nextest = nextest(&workspace)?;
    let packages = selected(arguments)?;
    let everything = packages.is_empty();
    // Report a missing browser before compiling anything.
    if opens_pages(&packages) {
        tools::require_browser()?;
    }

    if everything {
        artifacts::build_workspace()?;
    } else if drives_the_server(&workspace, &packages) {
        artifacts::build(Profile::Debug, &[artifacts::SERVER])?;
    }

    doc_tests(&workspace, &packages)?;

    let postgres = TestServer::obtain(Durability::None)?;
    nextest.env(postgres::TEST_POSTGRES, postgres.url());
    if let Ok(server) = artifacts::server(&workspace, Profile::Debug) {
        nextest.env(SERVER_BINARY, server);
    }
    if everything {
        nextest.arg("--workspace");
    }
    if env::is_ci() && !arguments.iter().any(|argument| argument.starts_with("--profile")) {
        nextest.args(["--profile", "ci"]);
    }
    process::run_last(nextest.args(arguments))
}

/// `cargo nextest run`. The temporary folders of the tests are in memory if there is enough.
pub(crate) fn nextest(workspace: &Workspace) -> Result<Command> {
    let mut nextest = tools::NEXTEST.command(workspace)?;
    nextest.arg("run");
    if let Some(folder) = memory::folder() {
        // The temporary folders hold the SQLite databases.
        nextest.env("TMPDIR", folder);
    }
    Ok(nextest)
}

/// Only libraries have doc tests, and Cargo refuses to look for them elsewhere.
fn doc_tests(workspace: &Workspace, packages: &[String]) -> Result<()> {
    let mut cargo = process::cargo(["test", "--quiet", "--doc"]);
    if packages.is_empty() {
        return process::run(cargo.arg("--workspace"));
    }
    let is_library = |package: &&String| workspace.package(package).is_some_and(|package| package.has_library);
    let libraries: Vec<&String> = packages.iter().filter(is_library).collect();
    if libraries.is_empty() {
        return Ok(());
    }
    process::run(cargo.args(libraries.into_iter().flat_map(|package| ["--package", package])))
}

/// The packages that the arguments name with `-p` or `--package`. An empty list means all.
fn selected(arguments: &[String]) -> Result<Vec<String>> {
    let mut packages = Vec::new();
    let mut arguments = arguments.iter().take_while(|argument| *argument != "--");
    while let Some(argument) = arguments.next() {
        if argument == "-p" || argument == "--package" {
            packages.push(arguments.next().with_context(|| format!("{argument} needs a package"))?.clone());
        } else if let Some(package) = argument.strip_prefix("--package=") {
            packages.push(package.into());
        } else if let Some(package) = argument.strip_prefix("-p") {
            packages.push(package.trim_start_matches('=').into());
        }
    }
    Ok(packages)
}

/// Whether one of the packages uses a browser. An empty list means all packages.
fn opens_pages(packages: &[String]) -> bool {
    packages.is_empty() || packages.iter().any(|package| package == PAGE_TESTS)
}

/// Whether one of the packages starts the server: the server's own tests, and packages outside `crates/` other than
/// the tools.
fn drives_the_server(workspace: &Workspace, packages: &[String]) -> bool {
    workspace.package(artifacts::SERVER).is_some()
        && packages.iter().filter_map(|name| workspace.package(name)).any(|package| {
            let within = |folder: &str| package.folder.starts_with(folder);
            package.name == artifacts::SERVER || !(within("crates/") || within("fuzz/") || package.name == "xtask")
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(line: &str) -> Vec<String> {
        line.split_whitespace().map(String::from).collect()
    }

    #[test]
    fn packages_are_found_in_every_notation() {
        let packages = selected(&arguments("-p a --package b --package=c -pd some_test -- -p e")).unwrap();
        assert_eq!(packages, ["a", "b", "c", "d"]);
        assert!(selected(&arguments("--retries 2 some_test")).unwrap().is_empty());
        assert!(selected(&arguments("-p")).is_err());
    }

    #[test]
    fn only_page_tests_need_a_browser() {
        assert!(opens_pages(&[]));
        assert!(opens_pages(&["kalends-web".into(), "kalends-e2e".into()]));
        assert!(!opens_pages(&["kalends-web".into()]));
    }

    #[test]
    fn the_server_is_built_only_for_packages_that_start_it() {
        let package = |name: &str, folder: &str| {
            format!(
                r#"{{"name": "{name}", "manifest_path": "/w/{folder}/Cargo.toml", "version": "0.1.0",
                    "rust_version": "1.95", "dependencies": [], "targets": []}}"#
            )
        };
        let all = [
            package("kalends-server", "crates/server"),
            package("kalends-kernel", "crates/kernel"),
            package("kalends-fuzz-checks", "fuzz/checks"),
            package("kalends-e2e", "tests"),
        ];
        let metadata =
            format!(r#"{{"workspace_root": "/w", "target_directory": "/t", "packages": [{}]}}"#, all.join(","));
        let workspace = Workspace::parse(&metadata).unwrap();
        let drives = |name: &str| drives_the_server(&workspace, &[name.into()]);
        assert!(drives("kalends-e2e"));
        assert!(drives("kalends-server"));
        assert!(!drives("kalends-kernel"));
        assert!(!drives("kalends-fuzz-checks"));
    }
}
