//! `cargo xtask db`: a Postgres for development that keeps its data in `target/dev-postgres`.

use anyhow::{Result, bail};

use crate::postgres::{self, Cluster};
use crate::workspace::Workspace;

/// The preferred port, so that the URL seldom changes.
const PORT: u16 = 54320;

/// Starts, stops or locates the server.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let folder = Workspace::load()?.target.join("dev-postgres");
    let running = postgres::running(&folder);
    match (arguments, running) {
        ([], Some(url)) => println!("{url}"),
        ([], None) => start(&folder)?,
        ([what], running) => match (what.as_str(), running) {
            ("start", None) => start(&folder)?,
            ("start", Some(url)) => bail!("it is already running: {url}"),
            ("url", Some(url)) => println!("{url}"),
            ("stop", Some(_)) => postgres::stop(&folder)?,
            ("url" | "stop", None) => bail!("it is not running; start it with `cargo xtask db start`"),
            (other, _) => bail!("there is no `db {other}`; there are start, stop and url"),
        },
        _ => bail!("expected one of start, stop and url"),
    }
    Ok(())
}

fn start(folder: &std::path::Path) -> Result<()> {
    let mut cluster = Cluster::persistent(folder, PORT)?;
    println!("{}", cluster.url());
    eprintln!("running until Ctrl-C");
    cluster.wait()
}
