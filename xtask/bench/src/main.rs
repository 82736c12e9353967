//! Load and crash campaigns against the real binary of Kalends, and the tasks of agents.
//!
//! `cargo xtask bench http` and `cargo xtask soak crash` build the binaries, start a Postgres server and call this
//! program. `docs/contribute/performance.md` explains the output.

mod abuse;
mod agents;
mod bookings;
mod bridge;
mod connection;
mod crash;
mod database;
mod figures;
mod http;
mod ical;
mod json;
mod layers;
mod load;
mod mail;
mod quotas;
mod random;
mod service;
mod serving;
mod timers;
mod webhooks;

use std::path::PathBuf;

use anyhow::{Context as _, Result};
use clap::{Parser, Subcommand};

/// The command line.
#[derive(Debug, Parser)]
#[command(name = "kalends-bench", about = "Load and crash campaigns against a running Kalends.")]
struct Arguments {
    #[command(subcommand)]
    campaign: Campaign,
}

/// The programs and servers that a campaign uses.
#[derive(Debug, Clone, clap::Args)]
struct Surroundings {
    /// The server's binary.
    #[arg(long, env = "KALENDS_BIN")]
    server: Option<PathBuf>,
    /// The URL of a Postgres server on which databases may be created.
    #[arg(long = "postgres-url", id = "postgres_url", env = "KALENDS_TEST_POSTGRES")]
    postgres: Option<String>,
}

#[derive(Debug, Subcommand)]
enum Campaign {
    /// Measure requests per second and latency, compared with floors from the same run.
    Http(http::Options),
    /// Kill the server while it writes, and look for everything that it acknowledged.
    Crash(crash::Options),
    /// Attack the server as one caller, and measure the effect on others.
    Abuse(abuse::Options),
    /// Do ten standard tasks with the tools for models, and compare the calls, the bytes and the tokens with limits.
    Agents(agents::Options),
    /// Let many guests book the same slots at once, and check that each slot goes to one of them.
    Bookings(bookings::Options),
    /// Kill workers that refresh connected calendars and copy events to them, and check that none is forgotten and no
    /// event is copied twice.
    Bridge(bridge::Options),
    /// Kill servers that count calls together, and compare the count with the admitted calls.
    Quotas(quotas::Options),
    /// Kill workers that send due reminders, starts, ends and expiries, and check that each is sent once.
    Timers(timers::Options),
    /// Kill workers that send invitations, and check that the last one arrives everywhere and no old one after it.
    Mail(mail::Options),
    /// Measure the delivery of webhook messages, also next to endpoints that hang, and the cost of a subscriber.
    Webhooks(webhooks::Options),
    /// Kill processes that deliver webhook messages, and check that every message arrives.
    Deliveries(webhooks::campaign::Options),
    /// Measure reading third-party feeds, and a calendar's own feed.
    Ical(ical::Options),
    /// Measure the share of the throughput that authentication, rate limits and counting take.
    Layers(layers::Options),
    /// A minimal server for comparison. `http` starts it.
    #[command(hide = true)]
    Floor(http::floor::Options),
    /// Read a feed and report the memory used. `ical` starts it.
    #[command(hide = true)]
    IcalReader(ical::reading::ReaderOptions),
    /// A server with or without the layers. `layers` starts it.
    #[command(hide = true)]
    LayersServer(layers::ServerOptions),
}

impl Surroundings {
    /// The server's binary: the given one, or the one next to this program.
    fn server(&self) -> Result<PathBuf> {
        let server = match &self.server {
            Some(server) => server.clone(),
            None => std::env::current_exe()?.with_file_name("kalends"),
        };
        let built = format!("no server at {}: build it, or set KALENDS_BIN", server.display());
        server.canonicalize().context(built)
    }
}

fn main() -> Result<()> {
    match Arguments::parse().campaign {
        // One thread generates the load, so that most of a small machine is left for the server.
        Campaign::Http(options) => single_threaded()?.block_on(http::run(&options)),
        Campaign::Crash(options) => single_threaded()?.block_on(crash::run(&options)),
        Campaign::Abuse(options) => single_threaded()?.block_on(abuse::run(&options)),
        Campaign::Agents(options) => single_threaded()?.block_on(agents::run(&options)),
        Campaign::Bookings(options) => single_threaded()?.block_on(bookings::run(&options)),
        Campaign::Bridge(options) => single_threaded()?.block_on(bridge::run(&options)),
        Campaign::Quotas(options) => single_threaded()?.block_on(quotas::run(&options)),
        Campaign::Timers(options) => single_threaded()?.block_on(timers::run(&options)),
        Campaign::Mail(options) => single_threaded()?.block_on(mail::run(&options)),
        Campaign::Webhooks(options) => single_threaded()?.block_on(webhooks::run(&options)),
        Campaign::Deliveries(options) => single_threaded()?.block_on(webhooks::campaign::run(&options)),
        Campaign::Ical(options) => single_threaded()?.block_on(ical::run(&options)),
        Campaign::IcalReader(options) => ical::reading::print_memory(&options),
        Campaign::Layers(options) => single_threaded()?.block_on(layers::run(&options)),
        Campaign::Floor(options) => multi_threaded()?.block_on(http::floor::serve(&options)),
        Campaign::LayersServer(options) => multi_threaded()?.block_on(layers::serve(&options)),
    }
}

fn single_threaded() -> Result<tokio::runtime::Runtime> {
    Ok(tokio::runtime::Builder::new_current_thread().enable_all().build()?)
}

fn multi_threaded() -> Result<tokio::runtime::Runtime> {
    Ok(tokio::runtime::Builder::new_multi_thread().enable_all().build()?)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::Arguments;

    #[test]
    fn the_command_line_is_well_formed() {
        Arguments::command().debug_assert();
    }
}
