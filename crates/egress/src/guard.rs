//! The check at the moment of dialling.

use std::{
    io,
    net::{IpAddr, SocketAddr},
    sync::Arc,
};

use kalends_kernel::NotPublic;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use crate::{NotAllowed, Resolver};

/// Why an address must not be dialled, if so.
pub(crate) type Judge = fn(IpAddr) -> Option<NotPublic>;

/// The most addresses of one name that are dialled: whoever owns it could list a network and have it called through.
const DIALLED: usize = 8;

/// Resolves for the client, which dials what it is given here and nothing else (literal addresses excepted, which are
/// checked with their URL).
pub(crate) struct Guard {
    pub(crate) resolver: Arc<dyn Resolver>,
    /// `None` where the operator allows the destination.
    pub(crate) judge: Option<Judge>,
}

impl Resolve for Guard {
    fn resolve(&self, name: Name) -> Resolving {
        let (resolver, judge) = (Arc::clone(&self.resolver), self.judge);
        Box::pin(async move {
            // A name of the public internet is complete; one that the operator allows may be of the network's own.
            let host = match judge {
                Some(_) => format!("{}.", name.as_str().trim_end_matches('.')),
                None => name.as_str().to_owned(),
            };
            let found = resolver.resolve(&host).await?;
            // One is enough: a mixed answer waits for the public address to be out of reach.
            if let Some(why) = judge.and_then(|judge| found.iter().find_map(|address| judge(*address))) {
                return Err(NotAllowed::Address(why).into());
            }
            if found.is_empty() {
                return Err(io::Error::new(io::ErrorKind::NotFound, "the name has no addresses").into());
            }
            // The client puts the URL's port in the place of 0.
            let dialled = found.into_iter().take(DIALLED).map(|address| SocketAddr::new(address, 0));
            Ok(Box::new(dialled) as Addrs)
        })
    }
}
