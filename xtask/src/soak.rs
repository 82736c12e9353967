//! `cargo xtask soak`: long campaigns. They kill servers that write or count, replay random histories against a model,
//! and send hostile requests.

use anyhow::{Result, bail};

use crate::artifacts::{self, Profile};
use crate::postgres::{self, Durability, TestServer};
use crate::process;
use crate::test::SERVER_BINARY;
use crate::workspace::Workspace;

/// The size of a campaign.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scale {
    /// A few rounds on unoptimized binaries, for every change.
    Reduced,
    /// All rounds on the binaries that are shipped.
    Full,
}

impl Scale {
    const fn profile(self) -> Profile {
        match self {
            Self::Reduced => Profile::Debug,
            Self::Full => Profile::Dist,
        }
    }
}

/// A campaign of the package `kalends-bench`.
struct Campaign {
    name: &'static str,
    /// The arguments that make it small enough for every change. `None` if it takes too long for that.
    reduced: Option<&'static [&'static str]>,
    full: &'static [&'static str],
}

const CAMPAIGNS: &[Campaign] = &[
    Campaign { name: "abuse", reduced: Some(&["--reduced"]), full: &[] },
    Campaign { name: "bookings", reduced: Some(&["--slots", "40", "--each", "10", "--seed", "1"]), full: &[] },
    Campaign {
        name: "bridge",
        reduced: Some(&[
            "--connections=60",
            "--calendars=12",
            "--organizations=4",
            "--changes=120",
            "--kills=3",
            "--seconds=12",
            "--jump",
            "--seed=1",
        ]),
        full: &[],
    },
    Campaign {
        name: "crash",
        reduced: Some(&["--sqlite", "3", "--postgres", "3", "--seed", "1"]),
        full: &["--sqlite", "200", "--postgres", "50"],
    },
    // The claims of a killed process are held for half a minute after each kill.
    Campaign { name: "deliveries", reduced: None, full: &[] },
    // The claims of a killed process are held for two minutes after each kill.
    Campaign { name: "mail", reduced: None, full: &[] },
    Campaign { name: "quotas", reduced: Some(&["--calls", "6000", "--kills", "2", "--seed", "1"]), full: &[] },
    Campaign {
        name: "timers",
        reduced: Some(&["--events", "300", "--holds", "60", "--seconds", "10", "--kills", "4", "--seed", "1"]),
        full: &[],
    },
];

/// The campaign that is a test of both stores with more histories.
const HISTORIES: &str = "histories";
/// The variable with the number of histories.
const HISTORIES_COUNT: &str = "KALENDS_HISTORIES";
/// The packages that have the test.
const STORES: [&str; 2] = ["kalends-sqlite", "kalends-postgres"];

/// Builds the binaries and runs the named campaign, or all of them.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let (scale, name) = options(arguments)?;
    if name.is_none_or(|name| name == HISTORIES) {
        histories(scale)?;
    }
    if name == Some(HISTORIES) {
        return Ok(());
    }
    artifacts::build(scale.profile(), &[artifacts::SERVER, artifacts::BENCH])?;
    campaigns(name, scale)
}

/// The scale and the campaign that the arguments name.
fn options(arguments: &[String]) -> Result<(Scale, Option<&str>)> {
    let mut scale = Scale::Full;
    let mut name = None;
    for argument in arguments {
        match argument.as_str() {
            "--reduced" => scale = Scale::Reduced,
            other if names().any(|name| name == other) => name = Some(other),
            other => bail!("there is no campaign `{other}`; there are {}", names().collect::<Vec<_>>().join(", ")),
        }
    }
    Ok((scale, name))
}

fn names() -> impl Iterator<Item = &'static str> {
    CAMPAIGNS.iter().map(|campaign| campaign.name).chain([HISTORIES])
}

/// Runs all campaigns on existing binaries. The histories are not included, because the tests replay a few of them.
pub(crate) fn run_built(scale: Scale) -> Result<()> {
    campaigns(None, scale)
}

/// Replays random histories on both databases. This does not use nextest, which limits the time of a test.
pub(crate) fn histories(scale: Scale) -> Result<()> {
    let count = match scale {
        Scale::Reduced => "20",
        Scale::Full => "5000",
    };
    let postgres = TestServer::obtain(Durability::None)?;
    let mut command = process::cargo(["test", "--test", "store"]);
    command.args(scale.profile().arguments()).args(STORES.into_iter().flat_map(|package| ["--package", package]));
    command.args(["--", "histories_are_as_the_model_says"]);
    process::run(command.env(HISTORIES_COUNT, count).env(postgres::TEST_POSTGRES, postgres.url()))
}

fn campaigns(name: Option<&str>, scale: Scale) -> Result<()> {
    let workspace = Workspace::load()?;
    let profile = scale.profile();
    let (server, bench) = (artifacts::server(&workspace, profile)?, artifacts::bench(&workspace, profile)?);
    let postgres = TestServer::obtain(Durability::Full)?;
    for campaign in CAMPAIGNS.iter().filter(|campaign| name.is_none_or(|name| name == campaign.name)) {
        let arguments = match scale {
            Scale::Reduced => campaign.reduced,
            Scale::Full => Some(campaign.full),
        };
        let Some(arguments) = arguments else { continue };
        let mut command = std::process::Command::new(&bench);
        command.arg(campaign.name).args(arguments).current_dir(crate::workspace::root());
        process::run(command.env(SERVER_BINARY, &server).env(postgres::TEST_POSTGRES, postgres.url()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_name_a_campaign_and_a_scale() {
        let options = |line: &str| {
            let arguments: Vec<String> = line.split_whitespace().map(String::from).collect();
            options(&arguments).map(|(scale, name)| (scale, name.map(String::from))).map_err(|error| error.to_string())
        };
        assert_eq!(options(""), Ok((Scale::Full, None)));
        assert_eq!(options("histories"), Ok((Scale::Full, Some("histories".into()))));
        assert_eq!(options("crash --reduced"), Ok((Scale::Reduced, Some("crash".into()))));
        assert_eq!(
            options("history"),
            Err("there is no campaign `history`; there are abuse, bookings, bridge, crash, deliveries, mail, quotas, \
                 timers, histories"
                .into())
        );
    }
}
