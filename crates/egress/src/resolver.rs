//! Which addresses a name has.

use std::{io, net::IpAddr, sync::Arc};

use async_trait::async_trait;
use tokio::{net::lookup_host, sync::Semaphore};

/// Finds the addresses of a name. Asked once for every connection; what it answers is checked and dialled.
#[async_trait]
pub trait Resolver: Send + Sync + 'static {
    /// Every address of `host`. A name that ends with a dot is complete: no suffix of the network is tried on it.
    ///
    /// # Errors
    /// The name is not known, or nobody could be asked.
    async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>>;
}

/// Asks the operating system, which takes a thread for each look-up. Nothing is remembered here.
#[derive(Debug)]
pub struct SystemResolver {
    lookups: Arc<Semaphore>,
}

impl SystemResolver {
    /// How many look-ups run at once. One that nobody waits for any more still keeps its thread until the system gives
    /// up, and threads are shared with everything else that blocks.
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
        // In a task of its own, so that the permit is held as long as the thread, not as long as the caller.
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
    async fn what_the_system_knows() {
        let resolver = SystemResolver::default();
        let found = resolver.resolve("localhost").await.unwrap();
        assert!(!found.is_empty() && found.iter().all(IpAddr::is_loopback), "{found:?}");
        assert_eq!(resolver.lookups.available_permits(), SystemResolver::AT_ONCE);
    }
}
