//! `kalends config`.

use crate::{
    config::{Config, Given, list},
    failure::Failure,
    output,
};

/// Lists every setting, then returns the problems.
pub(crate) fn config(given: &Given) -> Result<(), Failure> {
    for line in list(given) {
        output::line(&line)?;
    }
    Config::parse(given).map(drop).map_err(Failure::Configuration)
}
