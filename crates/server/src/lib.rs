//! The server: configuration, wiring, operator commands, signals.
//!
//! No other crate of the server reads the environment, the clock or the system's random bytes. This one passes them to
//! the others. [`run`] is the whole program: it reads the command line (`cli`) and the configuration ([`config`]),
//! and runs one of the `commands`.

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
mod request_log;
mod service;
mod signals;
mod traces;

use std::{path::Path, process::ExitCode, time::Duration};

use clap::Parser;

use crate::{
    cli::{Cli, Command, Serve},
    config::{Config, Given},
    failure::Failure,
};

/// How long shutdown waits for tasks that ignore cancellation.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// Runs the command given on the command line and returns its exit code: 0 on success, 1 on failure, 2 if the command
/// line or the configuration is wrong. Each error is one line on standard error.
pub fn run() -> ExitCode {
    let cli = Cli::parse();
    match dispatch(cli.command.unwrap_or_else(|| Command::Serve(Serve::default()))) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

fn dispatch(command: Command) -> Result<(), Failure> {
    let given = Given::read(Path::new("."));
    // This command also prints an invalid configuration, so it runs before the configuration is parsed.
    if matches!(command, Command::Config) {
        return commands::config(&given);
    }
    let config = Config::parse(&given).map_err(Failure::Configuration)?;
    let traces = logging::start(&config, matches!(command, Command::Serve(_)))?;

    // Only the server benefits from one thread per core.
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
                commands::serve(&config, part, traces).await
            }
            Command::Migrate => commands::migrate(&config).await,
            Command::Config => Ok(()),
            Command::Openapi => commands::openapi(&config),
            Command::Org(command) => commands::org(&config, command).await,
            Command::Backup(command) => commands::backup(&config, command).await,
            Command::User(command) => commands::user(&config, command).await,
            Command::Keys(command) => commands::keys(&config, command).await,
        }
    });
    runtime.shutdown_timeout(LAST_WORDS);
    outcome
}
