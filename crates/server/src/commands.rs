//! The commands.

mod config;
mod keys;
mod org;
mod serve;

use crate::{config::Config, database::Database, failure::Failure, output};

pub(crate) use config::config;
pub(crate) use keys::keys;
pub(crate) use org::org;
pub(crate) use serve::serve;

/// `kalends migrate`.
pub(crate) async fn migrate(config: &Config) -> Result<(), Failure> {
    let database = Database::open(config).await?;
    database.migrate().await?;
    database.close().await;
    output::line("the database is up to date")?;
    Ok(())
}

/// `kalends openapi`.
pub(crate) fn openapi(config: &Config) -> Result<(), Failure> {
    output::line(&kalends_http::openapi_json(&config.base_url(None)))?;
    Ok(())
}
