//! The server: configuration, wiring, operator commands, signals.
//!
//! This is the one crate that reads the environment, the clock and the system's random bytes; the
//! others are handed what they need. [`run`] is the whole program: it reads the command line
//! (`cli`) and the configuration ([`config`]), and runs one of `commands`.

mod ambient;
mod background;
mod cli;
mod commands;
pub mod config;
mod connections;
mod data_dir;
mod database;
mod failure;
mod logging;
mod masters;
mod metrics;
mod open_files;
pub mod outgoing;
mod output;
mod service;
mod signals;

use std::{path::Path, process::ExitCode, time::Duration};

use clap::Parser;

use crate::{
    cli::{Cli, Command, Serve},
    config::{Config, Given},
    failure::Failure,
};

/// How long tasks that ignore the end may keep the process.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// Runs the command that the process was started with, and says how it ended: 0 well, 1 not, 2 where
/// the command line or the configuration is wrong. Errors are one line each on standard error.
pub fn run() -> ExitCode {
    let cli = Cli::parse();
    match dispatch(cli.command.unwrap_or_else(|| Command::Serve(Serve::default()))) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

fn dispatch(command: Command) -> Result<(), Failure> {
    let given = Given::read(Path::new("."));
    // The one command that shows a configuration which is wrong, too.
    if matches!(command, Command::Config) {
        return commands::config(&given);
    }
    let config = Config::parse(&given).map_err(Failure::Configuration)?;
    logging::start(&config, matches!(command, Command::Serve(_)))?;

    // Only the service is worth a thread for each core.
    let mut builder = match command {
        Command::Serve(_) => tokio::runtime::Builder::new_multi_thread(),
        _ => tokio::runtime::Builder::new_current_thread(),
    };
    let runtime = builder.enable_all().build().map_err(anyhow::Error::from)?;
    let outcome = runtime.block_on(async {
        match command {
            Command::Serve(part) => {
                for hint in given.hints() {
                    tracing::warn!("{hint}");
                }
                commands::serve(&config, part).await
            }
            Command::Migrate => commands::migrate(&config).await,
            Command::Config => Ok(()),
            Command::Openapi => commands::openapi(&config),
            Command::Org(command) => commands::org(&config, command).await,
            Command::Keys(command) => commands::keys(&config, command).await,
        }
    });
    runtime.shutdown_timeout(LAST_WORDS);
    outcome
}
