//! The underlying clients: one for the public internet, one for the addresses that the operator allows.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use kalends_remote::not_public;
use reqwest::{Client, ClientBuilder, redirect::Policy, retry};
use rustls::{ClientConfig, RootCertStore, crypto::aws_lc_rs};
use tokio::time::Instant;

use crate::{
    Resolver, StartError,
    guard::{Guard, Judge},
};

/// How long an idle connection is kept. This is enough for requests that belong together (the messages of one change,
/// the requests of one sync). A connection keeps the address that was checked when it was dialled, so the longer it
/// lives, the longer the client does not notice that the name has another address.
pub(crate) const IDLE: Duration = Duration::from_secs(10);
/// How many idle connections are kept for one destination.
const IDLE_CONNECTIONS: usize = 4;
/// How long the connections of one pool are used. A busy connection is never idle, so after this time new requests
/// take a new pool. Every name is therefore resolved and checked again at least this often.
pub(crate) const POOL_LIFE: Duration = Duration::from_secs(60);
/// How long connecting may take, unless the exchange's deadline ends it earlier. The limit also ends an attempt that
/// continues in the background after its exchange got another connection.
const CONNECT: Duration = Duration::from_secs(10);

/// The recipe for clients, and the two clients in use.
pub(crate) struct Clients {
    pub(crate) recipe: Recipe,
    current: Mutex<Pair>,
}

/// The ingredients of a client.
pub(crate) struct Recipe {
    pub(crate) user_agent: String,
    pub(crate) resolver: Arc<dyn Resolver>,
    pub(crate) tls: ClientConfig,
    /// [`not_public`], except in tests in which the machine's own addresses count as public.
    pub(crate) judge: Judge,
    #[cfg(test)]
    pub(crate) recorder: crate::tests::Recorder,
}

struct Pair {
    public: Client,
    exempt: Client,
    until: Instant,
}

impl Clients {
    pub(crate) fn new(recipe: Recipe) -> Result<Self, StartError> {
        let current = Mutex::new(recipe.pair()?);
        Ok(Self { recipe, current })
    }

    /// The client for an exempt destination or for a public one.
    pub(crate) fn of(&self, exempt: bool) -> Client {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        // Building succeeded once, so it should succeed again. If it fails, the old clients are kept.
        if Instant::now() >= current.until
            && let Ok(fresh) = self.recipe.pair()
        {
            *current = fresh;
        }
        if exempt { current.exempt.clone() } else { current.public.clone() }
    }
}

impl Recipe {
    pub(crate) fn new(user_agent: &str, resolver: Arc<dyn Resolver>) -> Result<Self, StartError> {
        Ok(Self {
            user_agent: user_agent.to_owned(),
            resolver,
            tls: tls(trusted())?,
            judge: not_public,
            #[cfg(test)]
            recorder: crate::tests::Recorder::default(),
        })
    }

    fn pair(&self) -> Result<Pair, StartError> {
        Ok(Pair {
            public: self.client(Some(self.judge)).https_only(true).build().map_err(StartError::new)?,
            exempt: self.client(None).build().map_err(StartError::new)?,
            until: Instant::now() + POOL_LIFE,
        })
    }

    /// Everything that the client could do by itself is switched off, even if it is not compiled in: other crates may
    /// enable those features.
    fn client(&self, judge: Option<Judge>) -> ClientBuilder {
        let client = Client::builder()
            .user_agent(&self.user_agent)
            .dns_resolver(Guard { resolver: Arc::clone(&self.resolver), judge })
            .tls_backend_preconfigured(self.tls.clone())
            .redirect(Policy::none())
            // The caller decides whether to retry. With retries, the client would also keep a copy of each request.
            .retry(retry::never().max_retries_per_request(0))
            .referer(false)
            .no_proxy()
            // HTTP/1.1 only: a simpler protocol leaves a hostile server less to do.
            .http1_only()
            .gzip(true)
            .no_brotli()
            .no_zstd()
            .no_deflate()
            .connect_timeout(CONNECT)
            .pool_idle_timeout(IDLE)
            .pool_max_idle_per_host(IDLE_CONNECTIONS);
        #[cfg(test)]
        let client = client.connector_layer(self.recorder.clone());
        client
    }
}

/// The certificate authorities that the system trusts. If there are none (in a bare container), those of Mozilla.
fn trusted() -> RootCertStore {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if roots.is_empty() {
        roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    }
    roots
}

pub(crate) fn tls(roots: RootCertStore) -> Result<ClientConfig, StartError> {
    let mut tls = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(StartError::new)?
        .with_root_certificates(roots)
        .with_no_client_auth();
    tls.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(tls)
}
