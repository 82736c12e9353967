//! `cargo xtask soak`: seeded campaigns that kill a running server and look at what is left.

use anyhow::{Result, bail};

use crate::artifacts::{self, Profile};
use crate::postgres::{self, Durability, TestServer};
use crate::process;
use crate::test::SERVER_BINARY;
use crate::workspace::Workspace;

/// How much of a campaign is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scale {
    /// A few rounds on unoptimized binaries, for every change.
    Reduced,
    /// All rounds on release binaries.
    Full,
}

/// A campaign of the package `kalends-bench`.
struct Campaign {
    name: &'static str,
    reduced: &'static [&'static str],
    full: &'static [&'static str],
}

const CAMPAIGNS: &[Campaign] = &[Campaign {
    name: "crash",
    reduced: &["--sqlite", "3", "--postgres", "3", "--seed", "1"],
    full: &["--sqlite", "200", "--postgres", "50"],
}];

/// Builds what is needed and runs the named campaign, or all.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let mut scale = Scale::Full;
    let mut name = None;
    for argument in arguments {
        match argument.as_str() {
            "--reduced" => scale = Scale::Reduced,
            other if CAMPAIGNS.iter().any(|campaign| campaign.name == other) => name = Some(other),
            other => bail!("there is no campaign `{other}`; there is crash"),
        }
    }
    let profile = match scale {
        Scale::Reduced => Profile::Debug,
        Scale::Full => Profile::Release,
    };
    artifacts::build(profile, &[artifacts::SERVER, artifacts::BENCH])?;
    campaigns(name, scale, profile)
}

/// Runs all campaigns on binaries that are built already.
pub(crate) fn run_built(scale: Scale, profile: Profile) -> Result<()> {
    campaigns(None, scale, profile)
}

fn campaigns(name: Option<&str>, scale: Scale, profile: Profile) -> Result<()> {
    let workspace = Workspace::load()?;
    let (server, bench) = (artifacts::server(&workspace, profile)?, artifacts::bench(&workspace, profile)?);
    let postgres = TestServer::obtain(Durability::Full)?;
    for campaign in CAMPAIGNS.iter().filter(|campaign| name.is_none_or(|name| name == campaign.name)) {
        let arguments = match scale {
            Scale::Reduced => campaign.reduced,
            Scale::Full => campaign.full,
        };
        let mut command = std::process::Command::new(&bench);
        command.arg(campaign.name).args(arguments).current_dir(crate::workspace::root());
        process::run(command.env(SERVER_BINARY, &server).env(postgres::TEST_POSTGRES, postgres.url()))?;
    }
    Ok(())
}
