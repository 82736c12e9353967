//! `cargo xtask bench`: measurements. Those of time use the binaries that are shipped.

use anyhow::{Result, bail};

use crate::artifacts::{self, Profile};
use crate::postgres::{self, Durability, TestServer};
use crate::test::SERVER_BINARY;
use crate::workspace::Workspace;
use crate::{process, rule_peers, set_peers};

const NAMES: [&str; 7] = ["agents", "availability", "http", "ical", "layers", "recurrence", "webhooks"];

/// Runs the named benchmark with the arguments that follow the name.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let Some((name, arguments)) = arguments.split_first() else {
        bail!("missing the name of a benchmark; there are {}", NAMES.join(", "));
    };
    match name.as_str() {
        "agents" => agents(arguments),
        "availability" => availability(arguments),
        "http" | "ical" | "webhooks" => serving(name, arguments),
        "layers" => layers(arguments),
        "recurrence" => recurrence(arguments),
        other => bail!("there is no benchmark `{other}`; there are {}", NAMES.join(", ")),
    }
}

/// The algebra of busy sets: alone, or compared with other libraries.
fn availability(arguments: &[String]) -> Result<()> {
    if arguments.first().is_some_and(|argument| argument == "--peers") {
        return set_peers::run(&arguments[1..]);
    }
    let bench = ["bench", "--package", "kalends-availability", "--bench", "algebra", "--"];
    process::run(process::cargo(bench).args(arguments))
}

/// The expansion of series: compared with another implementation and a plain loop, or with many other libraries.
fn recurrence(arguments: &[String]) -> Result<()> {
    if arguments.first().is_some_and(|argument| argument == "--peers") {
        return rule_peers::run(&arguments[1..]);
    }
    let bench = ["bench", "--package", "kalends-recurrence", "--bench", "expansion", "--"];
    process::run(process::cargo(bench).args(arguments))
}

/// The service's router with and without the layers in front of its operations.
fn layers(arguments: &[String]) -> Result<()> {
    let workspace = Workspace::load()?;
    artifacts::build(Profile::Dist, &[artifacts::BENCH])?;
    let mut command = std::process::Command::new(artifacts::bench(&workspace, Profile::Dist)?);
    process::run(command.arg("layers").args(arguments).current_dir(crate::workspace::root()))
}

/// What ten standard tasks of an agent need. Optimized binaries would need the same.
fn agents(arguments: &[String]) -> Result<()> {
    artifacts::build(Profile::Debug, &[artifacts::SERVER, artifacts::BENCH])?;
    agents_built(arguments)
}

/// The same with existing binaries.
pub(crate) fn agents_built(arguments: &[String]) -> Result<()> {
    next_to_a_server("agents", arguments, Profile::Debug, Durability::None)
}

/// A running server under load, on durable databases.
fn serving(name: &str, arguments: &[String]) -> Result<()> {
    artifacts::build(Profile::Dist, &[artifacts::SERVER, artifacts::BENCH])?;
    next_to_a_server(name, arguments, Profile::Dist, Durability::Full)
}

/// Runs a campaign that starts servers.
fn next_to_a_server(name: &str, arguments: &[String], profile: Profile, durability: Durability) -> Result<()> {
    let workspace = Workspace::load()?;
    let postgres = TestServer::obtain(durability)?;
    let mut command = std::process::Command::new(artifacts::bench(&workspace, profile)?);
    command.arg(name).args(arguments).current_dir(crate::workspace::root());
    command.env(SERVER_BINARY, artifacts::server(&workspace, profile)?);
    process::run(command.env(postgres::TEST_POSTGRES, postgres.url()))
}
