//! `cargo xtask layers`: checks the rules of `docs/contribute/architecture.md` that the compiler does not enforce.
//!
//! The table below is the only list of crates and layers. Each rule is a pure function over a [`Model`] of the
//! repository, in its own module, with tests that break it.

mod arrows;
mod cycles;
mod dialect;
mod examples;
mod files;
mod hosts;
pub(crate) mod laws;
mod map;
pub(crate) mod model;
mod prose;
mod rust;
mod sources;
mod statement;

use std::fmt;

use anyhow::{Result, bail, ensure};
use model::Model;

/// Every crate under `crates/`, from top to bottom. A dependency may only point down.
const LAYERS: &[(Layer, &[&str])] = &[
    (Layer::Server, &["server"]),
    (
        Layer::Adapter,
        &[
            "worker",
            "http",
            "postgres",
            "sqlite",
            "egress",
            "ical-fetch",
            "webhook-delivery",
            "human-calendars",
            "mail",
            "credentials",
            "vault",
            "rows",
            "warm-pool",
            "sign-in",
            "client",
        ],
    ),
    (Layer::Application, &["app", "wire", "wire-derives", "docs", "web", "metrics"]),
    (
        Layer::Domain,
        &[
            "bookings",
            "runs",
            "approvals",
            "bridge",
            "accounts",
            "proposals",
            "feeds",
            "calendars",
            "notifications",
            "availability",
            "recurrence",
            "plans",
            "quotas",
        ],
    ),
    (Layer::Kernel, &["i18n", "remote", "kernel", "time"]),
    (Layer::Tool, &["testkit"]),
];

/// The adapters that other adapters may use: one for everything that leaves the machine, one for database connections,
/// and one for what both stores do with rows.
const SHARED: &[&str] = &["egress", "rows", "warm-pool"];

/// Crates without a runtime and I/O, although their layer allows both: the JSON of every resource, the HTML of pages and
/// of the documentation, and the rows of both stores.
const ALSO_PURE: &[&str] = &["wire", "docs", "web", "rows"];

/// The crates that are published in a registry.
pub(crate) const PUBLISHED: &[&str] = &["time", "kernel", "recurrence", "availability", "quotas", "proposals"];

/// The crates that a pure crate must not depend on.
const IMPURE: &[&str] = &["tokio", "sqlx", "axum", "reqwest", "hyper", "getrandom"];

/// External crates that only a few of our crates may use.
const RESERVED: &[Reserved] = &[
    Reserved { dependency: "sqlx", owners: DRIVERS, in_tests_too: true },
    Reserved { dependency: "axum", owners: &["http", "server"], in_tests_too: false },
    Reserved { dependency: "reqwest", owners: &["egress", "client"], in_tests_too: false },
    Reserved { dependency: "clap", owners: &["server"], in_tests_too: false },
];

/// The crates that contain SQL.
const STORES: &[&str] = &["postgres", "sqlite"];

/// The crates that use the database driver: those that contain SQL, and the connection pool.
const DRIVERS: &[&str] = &["postgres", "sqlite", "warm-pool"];

/// The crates that may read the environment.
const READS_ENVIRONMENT: &[&str] = &["server", "testkit"];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layer {
    Server,
    Adapter,
    Application,
    Domain,
    Kernel,
    Tool,
}

/// An external crate and the crates that may depend on it.
struct Reserved {
    dependency: &'static str,
    owners: &'static [&'static str],
    in_tests_too: bool,
}

/// A crate's layer, and its row counted from the top.
fn place(name: &str) -> Option<(Layer, usize)> {
    let rows = LAYERS.iter().flat_map(|(layer, names)| names.iter().map(move |name| (*layer, *name)));
    rows.enumerate().find(|(_, (_, row))| *row == name).map(|(row, (layer, _))| (layer, row))
}

/// Whether a crate must not do any I/O.
fn is_pure(name: &str) -> bool {
    ALSO_PURE.contains(&name) || place(name).is_some_and(|(layer, _)| matches!(layer, Layer::Domain | Layer::Kernel))
}

/// A broken rule and its place.
#[derive(Debug, PartialEq, Eq)]
struct Violation {
    place: String,
    what: String,
}

impl Violation {
    fn new(place: impl Into<String>, what: impl Into<String>) -> Self {
        Self { place: place.into(), what: what.into() }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.what)
    }
}

/// Checks the repository and lists the violations.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    ensure!(arguments.is_empty(), "layers takes no arguments");
    let violations = check(&Model::read()?);
    for violation in &violations {
        eprintln!("{violation}");
    }
    match violations.len() {
        0 => Ok(()),
        1 => bail!("1 violation of the architecture"),
        many => bail!("{many} violations of the architecture"),
    }
}

fn check(model: &Model) -> Vec<Violation> {
    let rules = [
        arrows::check,
        map::check,
        files::check,
        sources::check,
        dialect::check,
        examples::check,
        hosts::check,
        prose::check,
        cycles::check,
        laws::check,
    ];
    rules.iter().flat_map(|rule| rule(model)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_repository_keeps_its_rules() {
        let violations = check(&Model::read().unwrap());
        let list: Vec<String> = violations.iter().map(Violation::to_string).collect();
        assert!(list.is_empty(), "\n{}", list.join("\n"));
    }

    #[test]
    fn places_follow_the_table() {
        assert_eq!(place("server"), Some((Layer::Server, 0)));
        assert_eq!(place("http"), Some((Layer::Adapter, 2)));
        assert_eq!(place("unheard-of"), None);
        assert!(place("wire").unwrap().1 > place("app").unwrap().1);
    }

    #[test]
    fn crates_without_io_are_pure() {
        assert!(is_pure("kernel") && is_pure("quotas") && is_pure("wire"));
        assert!(!is_pure("app") && !is_pure("http") && !is_pure("testkit"));
    }
}
