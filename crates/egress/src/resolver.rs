//! Look-ups of names.

use std::{io, net::IpAddr, sync::Arc};

use async_trait::async_trait;
use tokio::{net::lookup_host, sync::Semaphore};

/// Finds the addresses of a name. It is called once for every connection. The client checks the addresses that it
/// returns, and then connects to them.
#[async_trait]
pub trait Resolver: Send + Sync + 'static {
    /// Every address of `host`. A name that ends with a dot is fully qualified: the network's search suffixes are not
    /// tried.
    ///
    /// # Errors
    /// If the name is unknown or the look-up fails.
    async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>>;
}

/// Asks the operating system. Each look-up occupies a thread. Nothing is cached here.
#[derive(Debug)]
pub struct SystemResolver {
    lookups: Arc<Semaphore>,
}

impl SystemResolver {
    /// The maximum number of concurrent look-ups. An abandoned look-up keeps its thread until the system gives up, and
    /// those threads are shared with all other blocking work.
    pub const AT_ONCE: usize = 64;
}

impl Default for SystemResolver {
    fn default() -> Self {
        Self { lookups: Arc::new(Semaphore::new(Self::AT_ONCE)) }
    }
}

#[async_trait]
impl Resolver for SystemResolver {
    async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        let permit = Arc::clone(&self.lookups).acquire_owned().await.map_err(io::Error::other)?;
        let host = host.to_owned();
        // A separate task holds the permit as long as the thread is busy, even if the caller has gone.
        let lookup = tokio::spawn(async move {
            let found = lookup_host((host.as_str(), 0)).await;
            drop(permit);
            found.map(|addresses| addresses.map(|address| address.ip()).collect())
        });
        lookup.await.map_err(io::Error::other)?
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_system_resolves_localhost() {
        let resolver = SystemResolver::default();
        let found = resolver.resolve("localhost").await.unwrap();
        assert!(!found.is_empty() && found.iter().all(IpAddr::is_loopback), "{found:?}");
        assert_eq!(resolver.lookups.available_permits(), SystemResolver::AT_ONCE);
    }
}
