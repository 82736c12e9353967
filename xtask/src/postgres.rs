//! Postgres servers for tests, benchmarks and development, started from the machine's own binaries.

mod cluster;
mod home;
mod keeper;
mod locate;
mod ready;

pub(crate) use cluster::{Cluster, Durability, running, stop};

use anyhow::Result;

/// The variable that names a server in which tests may create databases.
pub(crate) const TEST_POSTGRES: &str = "KALENDS_TEST_POSTGRES";

/// A server for one run: our own cluster, or the one that the caller named.
pub(crate) enum TestServer {
    Own(Cluster),
    Given(String),
}

impl TestServer {
    /// Uses the server in `KALENDS_TEST_POSTGRES`, or starts a throwaway one.
    pub(crate) fn obtain(durability: Durability) -> Result<Self> {
        match crate::env::var(TEST_POSTGRES) {
            Some(url) => Ok(Self::Given(url)),
            None => Cluster::throwaway(durability).map(Self::Own),
        }
    }

    /// The URL of a database whose user may create others.
    pub(crate) fn url(&self) -> String {
        match self {
            Self::Own(cluster) => cluster.url(),
            Self::Given(url) => url.clone(),
        }
    }
}
