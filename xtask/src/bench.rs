//! `cargo xtask bench`: measurements, each on a release build.

use anyhow::{Result, bail};

use crate::artifacts::{self, Profile};
use crate::postgres::{self, Durability, TestServer};
use crate::process;
use crate::test::SERVER_BINARY;
use crate::workspace::Workspace;

/// Runs the named benchmark with the arguments that follow the name.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let Some((name, arguments)) = arguments.split_first() else {
        bail!("which one? There are availability, http and recurrence");
    };
    match name.as_str() {
        "availability" => availability(arguments),
        "http" => http(arguments),
        "recurrence" => recurrence(arguments),
        other => bail!("there is no benchmark `{other}`; there are availability, http and recurrence"),
    }
}

/// The algebra of busy sets.
fn availability(arguments: &[String]) -> Result<()> {
    let bench = ["bench", "--package", "kalends-availability", "--bench", "algebra", "--"];
    process::run(process::cargo(bench).args(arguments))
}

/// The expansion of series, beside another implementation and a plain loop.
fn recurrence(arguments: &[String]) -> Result<()> {
    let bench = ["bench", "--package", "kalends-recurrence", "--bench", "expansion", "--"];
    process::run(process::cargo(bench).args(arguments))
}

/// A running server under load, on databases that keep what they acknowledge.
fn http(arguments: &[String]) -> Result<()> {
    let workspace = Workspace::load()?;
    artifacts::build(Profile::Release, &[artifacts::SERVER, artifacts::BENCH])?;
    let postgres = TestServer::obtain(Durability::Full)?;
    let mut command = std::process::Command::new(artifacts::bench(&workspace, Profile::Release)?);
    command.arg("http").args(arguments).current_dir(crate::workspace::root());
    command.env(SERVER_BINARY, artifacts::server(&workspace, Profile::Release)?);
    process::run(command.env(postgres::TEST_POSTGRES, postgres.url()))
}
