//! The clients below: one for the public internet, one for what the operator allows.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use kalends_kernel::not_public;
use reqwest::{Client, ClientBuilder, redirect::Policy, retry};
use rustls::{ClientConfig, RootCertStore, crypto::aws_lc_rs};
use tokio::time::Instant;

use crate::{
    Resolver, StartError,
    guard::{Guard, Judge},
};

/// How long an idle connection waits for another request: enough for what belongs together (the messages of one
/// change, the requests of one sync). A connection stays with the address that was checked when it was dialled, so
/// the longer it lives the longer a name that has moved is not noticed.
pub(crate) const IDLE: Duration = Duration::from_secs(10);
/// How many idle connections wait for one destination.
const IDLE_CONNECTIONS: usize = 4;
/// For how long connections of one pool are used. A busy connection is never idle; after this, new requests take a
/// new pool, so that every name is resolved and checked again at least this often.
pub(crate) const POOL_LIFE: Duration = Duration::from_secs(60);
/// How long a connection may take to be made. The deadline of the exchange is what counts; but a connection that
/// was begun when another became free goes on without it.
const CONNECT: Duration = Duration::from_secs(10);

/// What clients are made of, and the two in use.
pub(crate) struct Clients {
    pub(crate) recipe: Recipe,
    current: Mutex<Pair>,
}

/// What clients are made of.
pub(crate) struct Recipe {
    pub(crate) user_agent: String,
    pub(crate) resolver: Arc<dyn Resolver>,
    pub(crate) tls: ClientConfig,
    /// [`not_public`], but in tests that play the public internet on the machine's own addresses.
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

    /// The client for a destination.
    pub(crate) fn of(&self, exempt: bool) -> Client {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        // What could be made once can be made again; if not, the old one does.
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

    /// Whatever the client could do by itself is switched off, though some of it is not even compiled in: other
    /// crates may ask for the features.
    fn client(&self, judge: Option<Judge>) -> ClientBuilder {
        let client = Client::builder()
            .user_agent(&self.user_agent)
            .dns_resolver(Guard { resolver: Arc::clone(&self.resolver), judge })
            .tls_backend_preconfigured(self.tls.clone())
            .redirect(Policy::none())
            // Whoever sends decides whether to send again. Otherwise each request is kept twice.
            .retry(retry::never().max_retries_per_request(0))
            .referer(false)
            .no_proxy()
            // One protocol, and the simpler one: what a server can do to us is bounded by less.
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

/// The authorities that the system trusts; where it names none (a bare container), those of Mozilla.
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
