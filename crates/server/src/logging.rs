//! Log lines go to standard error. Standard output is only for what commands print.

use std::io::IsTerminal;

use anyhow::anyhow;
use tracing_subscriber::EnvFilter;

use crate::config::{Config, LogFormat};

/// Starts logging. Commands other than `serve` log only if the operator set a filter. They report their errors on
/// standard error in any case.
pub(crate) fn start(config: &Config, serving: bool) -> anyhow::Result<()> {
    if !serving && !config.log_is_chosen {
        return Ok(());
    }
    let builder = tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::try_new(&config.log)?)
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(std::io::stderr);
    let started = match config.log_format {
        LogFormat::Text => builder.try_init(),
        LogFormat::Json => builder.json().flatten_event(true).try_init(),
    };
    started.map_err(|error| anyhow!("cannot start logging: {error}"))
}
