//! The commands.

mod backup;
mod config;
mod keys;
mod org;
mod serve;
mod user;

use std::sync::Arc;

use kalends_app::App;
use kalends_kernel::random_bytes;
use serde::Serialize;

use crate::{ambient::SystemEntropy, config::Config, database::Database, failure::Failure, output, service::Service};

pub(crate) use backup::backup;
pub(crate) use config::config;
pub(crate) use keys::keys;
pub(crate) use org::org;
pub(crate) use serve::serve;
pub(crate) use user::user;

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

/// Runs a command on the application, without a server.
async fn with_app<F>(config: &Config, run: impl FnOnce(Arc<App>) -> F) -> Result<(), Failure>
where
    F: Future<Output = Result<(), Failure>>,
{
    // This process issues no sessions, so any key will do.
    let session_key = random_bytes::<32>(&SystemEntropy);
    let service = Service::open(config, config.base_url(None), &session_key).await?;
    let Service { app, database, .. } = service;
    let done = run(app).await;
    database.close().await;
    done
}

/// Prints a line of JSON.
fn json_line(value: &impl Serialize) -> Result<(), Failure> {
    output::line(&serde_json::to_string(value)?)?;
    Ok(())
}
