//! Test support: invented names, a recorder of connections, traps, servers, and a clock that tests advance.

use std::{
    collections::HashMap,
    future::Future,
    io,
    net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener as StdListener},
    num::NonZeroUsize,
    pin::Pin,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering::SeqCst},
        mpsc,
    },
    task::{Context, Poll},
    time::Duration,
};

use async_trait::async_trait;
use kalends_remote::{NotPublic, RemoteUrl, not_public};
use rustls::{
    RootCertStore, ServerConfig,
    crypto::aws_lc_rs,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _},
};
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _},
    net::TcpListener,
};
use tokio_rustls::TlsAcceptor;
use tower::{Layer, Service};

use crate::{
    Allowed, Egress, EgressError, Exchange, Method, Reply, Resolver,
    clients::{Recipe, tls},
    guard::Judge,
};

/// Plays the public internet.
pub(crate) const PUBLIC: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 10));

pub(crate) fn playing_public(address: IpAddr) -> Option<NotPublic> {
    if address == PUBLIC { None } else { not_public(address) }
}

/// Counts the connections that the client's connector is asked for, and those that it opens.
#[derive(Clone, Default)]
pub(crate) struct Recorder(Arc<(AtomicUsize, AtomicUsize)>);

impl Recorder {
    /// How often a connection was requested. A refused URL does not even get that far.
    pub(crate) fn requested(&self) -> usize {
        self.0.0.load(SeqCst)
    }

    /// How many connections were opened successfully.
    pub(crate) fn opened(&self) -> usize {
        self.0.1.load(SeqCst)
    }
}

impl<S> Layer<S> for Recorder {
    type Service = Recorded<S>;

    fn layer(&self, inner: S) -> Recorded<S> {
        Recorded { inner, recorder: self.clone() }
    }
}

#[derive(Clone)]
pub(crate) struct Recorded<S> {
    inner: S,
    recorder: Recorder,
}

impl<S: Service<R, Future: Send + 'static>, R> Service<R> for Recorded<S> {
    type Response = S::Response;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<S::Response, S::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: R) -> Self::Future {
        let counts = Arc::clone(&self.recorder.0);
        counts.0.fetch_add(1, SeqCst);
        let connecting = self.inner.call(request);
        Box::pin(async move {
            let connection = connecting.await;
            counts.1.fetch_add(usize::from(connection.is_ok()), SeqCst);
            connection
        })
    }
}

/// Names and their answers. The answers are given in order, and the last one is repeated.
#[derive(Default)]
pub(crate) struct Names {
    answers: Mutex<HashMap<String, Vec<Vec<IpAddr>>>>,
    lookups: Mutex<Vec<String>>,
}

impl Names {
    /// Sets the answers of a name. Each is a comma-separated list of addresses.
    pub(crate) fn set(&self, name: &str, answers: &[&str]) {
        let parse = |answer: &&str| answer.split(',').filter(|a| !a.is_empty()).map(|a| a.parse().unwrap()).collect();
        self.answers.lock().unwrap().insert(name.to_owned(), answers.iter().map(parse).collect());
    }

    /// The names that were looked up, as written.
    pub(crate) fn lookups(&self) -> Vec<String> {
        self.lookups.lock().unwrap().clone()
    }
}

#[async_trait]
impl Resolver for Names {
    async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        self.lookups.lock().unwrap().push(host.to_owned());
        let mut answers = self.answers.lock().unwrap();
        match answers.get_mut(host.trim_end_matches('.')) {
            Some(answers) if answers.len() > 1 => Ok(answers.remove(0)),
            Some(answers) => Ok(answers.first().cloned().unwrap_or_default()),
            None => Err(io::Error::new(io::ErrorKind::NotFound, "no such name")),
        }
    }
}

/// A client with its names and its recorder.
pub(crate) struct Stage {
    pub(crate) egress: Arc<Egress>,
    pub(crate) names: Arc<Names>,
    pub(crate) recorder: Recorder,
    pub(crate) allowed: Allowed,
}

impl Stage {
    /// A stage with the real rules.
    pub(crate) fn real(allowed: &[(&str, u16)]) -> Self {
        Self::with(allowed, 4, not_public)
    }

    /// A stage on which 127.0.0.10 is public.
    pub(crate) fn playing(allowed: &[(&str, u16)]) -> Self {
        Self::with(allowed, 4, playing_public)
    }

    pub(crate) fn with(allowed: &[(&str, u16)], per_host: usize, judge: Judge) -> Self {
        let allowed = Allowed::new(allowed.iter().map(|(host, port)| ((*host).to_owned(), *port)));
        let names = Arc::new(Names::default());
        let mut recipe = Recipe::new("Kalends-Test/1", Arc::<Names>::clone(&names)).unwrap();
        let recorder = recipe.recorder.clone();
        recipe.judge = judge;
        recipe.tls = tls(test_authority()).unwrap();
        let per_host = NonZeroUsize::new(per_host).unwrap();
        let egress = Arc::new(Egress::from_recipe(allowed.clone(), recipe, per_host).unwrap());
        Self { egress, names, recorder, allowed }
    }

    pub(crate) fn url(&self, text: &str) -> RemoteUrl {
        RemoteUrl::parse("url", text, |host, port| self.allowed.contains(host, port)).unwrap()
    }

    /// A GET with a deadline of ten seconds and a limit of 64 KiB.
    pub(crate) fn get(&self, text: &str) -> Exchange {
        Exchange::new(Method::GET, self.url(text), Duration::from_secs(10), 65_536)
    }

    pub(crate) async fn fetch(&self, text: &str) -> Result<Reply, EgressError> {
        self.egress.send(self.get(text)).await
    }
}

fn test_authority() -> RootCertStore {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(include_bytes!("tls/ca.pem")).unwrap()).unwrap();
    roots
}

/// Listens for connections that must not come.
pub(crate) struct Trap(Vec<StdListener>);

impl Trap {
    /// Listens on every address of the machine, including IPv6 if there is any, on one port.
    pub(crate) fn everywhere() -> (Self, u16) {
        let listener = StdListener::bind("[::]:0").or_else(|_| StdListener::bind("0.0.0.0:0")).unwrap();
        let port = listener.local_addr().unwrap().port();
        (Self::of(vec![listener]), port)
    }

    /// Listens on loopback addresses other than [`PUBLIC`], on the port of a server there.
    pub(crate) fn on_loopback(port: u16) -> Option<Self> {
        let first = StdListener::bind(("127.0.0.1", port)).ok()?;
        let second = StdListener::bind(("127.0.0.2", port)).ok()?;
        let more = StdListener::bind(("::1", port)).ok();
        Some(Self::of([first, second].into_iter().chain(more).collect()))
    }

    fn of(listeners: Vec<StdListener>) -> Self {
        for listener in &listeners {
            listener.set_nonblocking(true).unwrap();
        }
        Self(listeners)
    }

    /// How many connections were opened since the last call. The kernel opens them before anybody accepts them.
    pub(crate) fn sprung(&self) -> usize {
        self.0.iter().map(|listener| std::iter::from_fn(|| listener.accept().ok()).count()).sum()
    }
}

/// A request as it arrived.
#[derive(Debug, Clone)]
pub(crate) struct Arrived {
    /// `GET /path HTTP/1.1`.
    pub(crate) line: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Arrived {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn path(&self) -> &str {
        self.line.split(' ').nth(1).unwrap_or("")
    }
}

/// A plain connection or a TLS connection.
pub(crate) trait Wire: AsyncRead + AsyncWrite + Unpin + Send {}
impl<T: AsyncRead + AsyncWrite + Unpin + Send> Wire for T {}

/// A test server on a loopback address.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    log: Arc<Log>,
}

#[derive(Default)]
struct Log {
    connections: AtomicUsize,
    requests: Mutex<Vec<Arrived>>,
}

impl Server {
    /// Answers every request with the bytes that `answer` returns, and closes if they say so.
    pub(crate) async fn plain(answer: impl Fn(&Arrived) -> Vec<u8> + Send + Sync + 'static) -> Self {
        Self::answering("127.0.0.1:0", None, answer).await
    }

    /// The same over TLS at [`PUBLIC`].
    pub(crate) async fn public(answer: impl Fn(&Arrived) -> Vec<u8> + Send + Sync + 'static) -> Self {
        Self::answering("127.0.0.10:0", Some(acceptor(include_bytes!("tls/server.pem"))), answer).await
    }

    pub(crate) async fn answering(
        address: &str,
        tls: Option<TlsAcceptor>,
        answer: impl Fn(&Arrived) -> Vec<u8> + Send + Sync + 'static,
    ) -> Self {
        let answer = Arc::new(answer);
        let log = Arc::new(Log::default());
        let heard = Arc::clone(&log);
        Self::talking(address, tls, log, move |mut wire| {
            let (answer, heard) = (Arc::clone(&answer), Arc::clone(&heard));
            async move {
                while let Some(arrived) = arrival(&mut wire).await {
                    let bytes = answer(&arrived);
                    heard.requests.lock().unwrap().push(arrived);
                    let closes = bytes.windows(17).any(|part| part == b"connection: close");
                    if wire.write_all(&bytes).await.is_err() || wire.flush().await.is_err() || closes {
                        break;
                    }
                }
                let _ = wire.shutdown().await;
            }
        })
        .await
    }

    /// Passes every connection to `talk`.
    pub(crate) async fn raw<F>(talk: impl Fn(Box<dyn Wire>) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        Self::talking("127.0.0.1:0", None, Arc::default(), talk).await
    }

    async fn talking<F>(
        address: &str,
        tls: Option<TlsAcceptor>,
        log: Arc<Log>,
        talk: impl Fn(Box<dyn Wire>) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let listener = TcpListener::bind(address).await.unwrap();
        let address = listener.local_addr().unwrap();
        let heard = Arc::clone(&log);
        let talk = Arc::new(talk);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                heard.connections.fetch_add(1, SeqCst);
                let (tls, talk) = (tls.clone(), Arc::clone(&talk));
                tokio::spawn(async move {
                    match tls {
                        None => talk(Box::new(stream)).await,
                        Some(tls) => {
                            if let Ok(stream) = tls.accept(stream).await {
                                talk(Box::new(stream)).await;
                            }
                        }
                    }
                });
            }
        });
        Self { address, log }
    }

    pub(crate) fn port(&self) -> u16 {
        self.address.port()
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub(crate) fn connections(&self) -> usize {
        self.log.connections.load(SeqCst)
    }

    pub(crate) fn requests(&self) -> Vec<Arrived> {
        self.log.requests.lock().unwrap().clone()
    }
}

pub(crate) fn acceptor(certificate: &[u8]) -> TlsAcceptor {
    let config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(
            vec![CertificateDer::from_pem_slice(certificate).unwrap()],
            PrivateKeyDer::from_pem_slice(include_bytes!("tls/server.key")).unwrap(),
        )
        .unwrap();
    TlsAcceptor::from(Arc::new(config))
}

/// Reads one request, or returns `None` if the connection ends.
pub(crate) async fn arrival(wire: &mut (impl AsyncRead + Unpin)) -> Option<Arrived> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(wire.read_u8().await.ok()?);
    }
    let text = String::from_utf8(head).unwrap();
    let mut lines = text.split("\r\n");
    let line = lines.next()?.to_owned();
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .collect();
    let length = headers.iter().find(|(name, _)| name == "content-length").map_or(0, |(_, n)| n.parse().unwrap());
    let mut body = vec![0; length];
    wire.read_exact(&mut body).await.ok()?;
    Some(Arrived { line, headers, body: String::from_utf8(body).unwrap() })
}

/// An answer with status 200.
pub(crate) fn ok(body: &str) -> Vec<u8> {
    answer("200 OK", "", body.as_bytes())
}

/// An answer. `headers` consists of complete lines.
pub(crate) fn answer(status: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    let mut bytes = format!("HTTP/1.1 {status}\r\n{headers}content-length: {}\r\n\r\n", body.len()).into_bytes();
    bytes.extend_from_slice(body);
    bytes
}

/// Stops the clock as long as the result lives. Only [`tokio::time::advance`] moves it.
pub(crate) fn stand_still() -> mpsc::Sender<()> {
    tokio::time::pause();
    let (hold, held) = mpsc::channel();
    // While a blocking thread is busy, the runtime does not skip to the next timer.
    tokio::task::spawn_blocking(move || held.recv());
    hold
}
