//! Applies a folder of migrations to a database: `apply-migrations URL FOLDER`.
//!
//! This is a separate program so that the rest of `cargo xtask` starts without compiling a database driver.

use std::path::PathBuf;
use std::str::FromStr as _;

use anyhow::{Context as _, Result, bail};
use sqlx::migrate::Migrator;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, Connection as _, PgConnection};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [url, folder] = arguments.as_slice() else { bail!("expected a URL and a folder") };
    let migrator = Migrator::new(PathBuf::from(folder)).await.with_context(|| format!("cannot read {folder}"))?;
    if url.starts_with("sqlite:") {
        let mut connection = SqliteConnectOptions::from_str(url)?.create_if_missing(true).connect().await?;
        migrator.run(&mut connection).await?;
    } else {
        migrator.run(&mut PgConnection::connect(url).await?).await?;
    }
    Ok(())
}
