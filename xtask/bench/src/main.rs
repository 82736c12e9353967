//! Load and crash campaigns against the real binary of Kalends.
//!
//! `cargo xtask bench http` and `cargo xtask soak crash` build what is needed, start a Postgres server and
//! call this program; `docs/performance.md` tells how to read what it prints.

mod abuse;
mod bookings;
mod connection;
mod crash;
mod database;
mod figures;
mod http;
mod ical;
mod json;
mod layers;
mod load;
mod quotas;
mod random;
mod service;
mod serving;
mod timers;
mod webhooks;

use std::path::PathBuf;

use anyhow::{Context as _, Result};
use clap::{Parser, Subcommand};

/// Where the campaigns find what they need.
#[derive(Debug, Parser)]
#[command(name = "kalends-bench", about = "Load and crash campaigns against a running Kalends.")]
struct Arguments {
    #[command(subcommand)]
    campaign: Campaign,
}

/// The programs and servers that a campaign uses.
#[derive(Debug, Clone, clap::Args)]
struct Surroundings {
    /// The binary of the server.
    #[arg(long, env = "KALENDS_BIN")]
    server: Option<PathBuf>,
    /// The URL of a Postgres server on which databases may be made.
    #[arg(long = "postgres-url", id = "postgres_url", env = "KALENDS_TEST_POSTGRES")]
    postgres: Option<String>,
}

#[derive(Debug, Subcommand)]
enum Campaign {
    /// Requests a second, and how long they take, beside floors measured in the same run.
    Http(http::Options),
    /// Kills the server while it writes, and looks for what it had acknowledged.
    Crash(crash::Options),
    /// One caller does its worst, and what the others see of it is measured.
    Abuse(abuse::Options),
    /// Many guests want the same slots of a booking page at once; each goes to one of them.
    Bookings(bookings::Options),
    /// Kills servers that count calls together, and compares what was counted with what was let in.
    Quotas(quotas::Options),
    /// Kills workers that tell what falls due, and compares what was told with what there was to tell.
    Timers(timers::Options),
    /// How fast webhook messages are delivered, beside slow endpoints too, and what a subscriber costs.
    Webhooks(webhooks::Options),
    /// Kills processes that deliver webhook messages, and looks for every message.
    Deliveries(webhooks::campaign::Options),
    /// What reading feeds of others costs, and what a calendar's own feed does.
    Ical(ical::Options),
    /// The share of the throughput that authentication, limits of rate and counting take.
    Layers(layers::Options),
    /// A server that does only what no service can leave out; `http` starts it.
    #[command(hide = true)]
    Floor(http::floor::Options),
    /// Reads a feed and tells how much memory that took; `ical` starts it.
    #[command(hide = true)]
    IcalReader(ical::reading::ReaderOptions),
    /// A server with or without these layers; `layers` starts it.
    #[command(hide = true)]
    LayersServer(layers::ServerOptions),
}

impl Surroundings {
    /// The server's binary: the one that was named, else the one beside this program.
    fn server(&self) -> Result<PathBuf> {
        let server = match &self.server {
            Some(server) => server.clone(),
            None => std::env::current_exe()?.with_file_name("kalends"),
        };
        let built = format!("no server at {}; build it, or name it in KALENDS_BIN", server.display());
        server.canonicalize().context(built)
    }
}

fn main() -> Result<()> {
    match Arguments::parse().campaign {
        // One thread generates the load, so that most of a small machine is left to what is measured.
        Campaign::Http(options) => single_threaded()?.block_on(http::run(&options)),
        Campaign::Crash(options) => single_threaded()?.block_on(crash::run(&options)),
        Campaign::Abuse(options) => single_threaded()?.block_on(abuse::run(&options)),
        Campaign::Bookings(options) => single_threaded()?.block_on(bookings::run(&options)),
        Campaign::Quotas(options) => single_threaded()?.block_on(quotas::run(&options)),
        Campaign::Timers(options) => single_threaded()?.block_on(timers::run(&options)),
        Campaign::Webhooks(options) => single_threaded()?.block_on(webhooks::run(&options)),
        Campaign::Deliveries(options) => single_threaded()?.block_on(webhooks::campaign::run(&options)),
        Campaign::Ical(options) => single_threaded()?.block_on(ical::run(&options)),
        Campaign::IcalReader(options) => ical::reading::tell_memory(&options),
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
