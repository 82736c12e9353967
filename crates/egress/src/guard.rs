//! The check of a name's addresses before they are dialled.

use std::{
    io,
    net::{IpAddr, SocketAddr},
    sync::Arc,
};

use kalends_remote::NotPublic;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use crate::{NotAllowed, Resolver};

/// Returns why an address must not be dialled, or `None` if it may be.
pub(crate) type Judge = fn(IpAddr) -> Option<NotPublic>;

/// The maximum number of addresses of one name that are dialled. Without a limit, the owner of a name could list a
/// whole network and have it probed.
const DIALLED: usize = 8;

/// Resolves names for the client, which dials exactly the addresses returned here. Literal addresses are checked with
/// their URL instead.
pub(crate) struct Guard {
    pub(crate) resolver: Arc<dyn Resolver>,
    /// `None` if the operator allows the destination.
    pub(crate) judge: Option<Judge>,
}

impl Resolve for Guard {
    fn resolve(&self, name: Name) -> Resolving {
        let (resolver, judge) = (Arc::clone(&self.resolver), self.judge);
        Box::pin(async move {
            // A public name is fully qualified. A name that the operator allows may be relative to the local network.
            let host = match judge {
                Some(_) => format!("{}.", name.as_str().trim_end_matches('.')),
                None => name.as_str().to_owned(),
            };
            let found = resolver.resolve(&host).await?;
            // One bad address is enough: in a mixed answer, the private address would be tried once the public one
            // fails.
            if let Some(why) = judge.and_then(|judge| found.iter().find_map(|address| judge(*address))) {
                return Err(NotAllowed::Address(why).into());
            }
            if found.is_empty() {
                return Err(io::Error::new(io::ErrorKind::NotFound, "the name has no addresses").into());
            }
            // The client replaces port 0 with the URL's port.
            let dialled = found.into_iter().take(DIALLED).map(|address| SocketAddr::new(address, 0));
            Ok(Box::new(dialled) as Addrs)
        })
    }
}
