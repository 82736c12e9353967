//! A connection between a server and its database that can be cut or fall silent.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex},
    time::Duration,
};

use kalends_e2e::Server;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{
        TcpListener, TcpStream,
        tcp::{ReadHalf, WriteHalf},
    },
    sync::watch,
    task::{JoinHandle, JoinSet},
    time::timeout,
};

/// The longest wait for an expected state on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Forwards connections while it is whole. Dropping it ends the forwarding.
pub(crate) struct Proxy {
    address: SocketAddr,
    wire: Arc<Wire>,
    forwarding: JoinHandle<()>,
}

/// The state that all connections share.
struct Wire {
    upstream: SocketAddr,
    state: watch::Sender<State>,
    /// The bytes at which the wire falls silent.
    last_words: Mutex<Option<Vec<u8>>>,
    /// The number of open connections that have sent swallowed bytes.
    unheard: watch::Sender<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Forwards everything.
    Forwarding,
    /// Swallows everything that either side sends, and closes nothing.
    Silent,
    /// Breaks all connections.
    Cutting,
    /// Has no connections and refuses new ones.
    Cut,
}

impl Proxy {
    /// A proxy in front of `upstream`.
    async fn before(upstream: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let wire = Arc::new(Wire {
            upstream,
            state: watch::Sender::new(State::Forwarding),
            last_words: Mutex::default(),
            unheard: watch::Sender::new(0),
        });
        let forwarding = tokio::spawn(forward_all(listener, Arc::clone(&wire)));
        Self { address, wire, forwarding }
    }

    /// A proxy in front of the Postgres database of `server`, and the database's URL through it.
    pub(crate) async fn before_database_of(server: &Server) -> (Self, String) {
        let direct = server.postgres_url().unwrap();
        let (login, place) = direct.split_once('@').unwrap();
        let (upstream, name) = place.split_once('/').unwrap();
        let proxy = Self::before(upstream.parse().unwrap()).await;
        let url = format!("{login}@{}/{name}", proxy.address);
        (proxy, url)
    }

    /// Breaks all connections and refuses new ones. Returns when none is left.
    pub(crate) async fn cut(&self) {
        let mut state = self.wire.state.subscribe();
        self.wire.state.send_replace(State::Cutting);
        let cut = timeout(PATIENCE, state.wait_for(|state| *state == State::Cut)).await;
        cut.expect("the connections to end").unwrap();
    }

    /// Swallows everything that either side sends, beginning with the chunk in which a caller sends `bytes`. All
    /// connections stay open, and new ones are accepted.
    pub(crate) fn fall_silent_at(&self, bytes: &[u8]) {
        *self.wire.last_words.lock().unwrap() = Some(bytes.to_owned());
    }

    /// Waits until the wire is silent and at least this many open connections have sent swallowed bytes.
    pub(crate) async fn unheard(&self, connections: usize) {
        let (mut state, mut unheard) = (self.wire.state.subscribe(), self.wire.unheard.subscribe());
        let silent = timeout(PATIENCE, state.wait_for(|state| *state == State::Silent)).await;
        silent.expect("the last words").unwrap();
        let sent = timeout(PATIENCE, unheard.wait_for(|count| *count >= connections)).await;
        let sent = sent.map(|count| *count.unwrap());
        assert!(sent.is_ok(), "{} of {connections} connections have sent something", *self.wire.unheard.borrow());
    }

    pub(crate) fn repair(&self) {
        self.wire.state.send_replace(State::Forwarding);
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.forwarding.abort();
    }
}

async fn forward_all(mut listener: TcpListener, wire: Arc<Wire>) {
    let address = listener.local_addr().unwrap();
    let mut state = wire.state.subscribe();
    loop {
        let mut connections = JoinSet::new();
        loop {
            tokio::select! {
                _ = state.wait_for(|state| *state == State::Cutting) => break,
                accepted = listener.accept() => {
                    let (caller, _) = accepted.unwrap();
                    connections.spawn(forward(caller, Arc::clone(&wire)));
                }
            }
        }
        // Without a listener, a connection attempt is refused, as if no server were running.
        drop(listener);
        connections.shutdown().await;
        wire.state.send_replace(State::Cut);
        if state.wait_for(|state| *state != State::Cut).await.is_err() {
            return;
        }
        listener = TcpListener::bind(address).await.unwrap();
    }
}

async fn forward(mut caller: TcpStream, wire: Arc<Wire>) {
    let Ok(mut server) = TcpStream::connect(wire.upstream).await else { return };
    let (from_caller, to_caller) = caller.split();
    let (from_server, to_server) = server.split();
    // Errors are expected here, because either side may break the connection.
    tokio::select! {
        _ = carry_there(from_caller, to_server, &wire) => {}
        _ = carry_back(from_server, to_caller, &wire) => {}
    }
}

async fn carry_there(mut from: ReadHalf<'_>, mut to: WriteHalf<'_>, wire: &Wire) -> std::io::Result<()> {
    let mut buffer = vec![0; 1 << 16];
    let mut unheard = None;
    loop {
        let length = from.read(&mut buffer).await?;
        let bytes = &buffer[..length];
        if bytes.is_empty() {
            return Ok(());
        }
        if !wire.swallows(bytes) {
            to.write_all(bytes).await?;
        } else if unheard.is_none() {
            unheard = Some(Unheard::count(wire));
        }
    }
}

async fn carry_back(mut from: ReadHalf<'_>, mut to: WriteHalf<'_>, wire: &Wire) -> std::io::Result<()> {
    let mut buffer = vec![0; 1 << 16];
    loop {
        let length = from.read(&mut buffer).await?;
        if length == 0 {
            return Ok(());
        }
        if !wire.is_silent() {
            to.write_all(&buffer[..length]).await?;
        }
    }
}

impl Wire {
    fn is_silent(&self) -> bool {
        *self.state.borrow() == State::Silent
    }

    /// Whether a caller's `bytes` are swallowed. They may be the ones that silence the wire.
    fn swallows(&self, bytes: &[u8]) -> bool {
        let mut last_words = self.last_words.lock().unwrap();
        let is_last = last_words.as_ref().is_some_and(|words| bytes.windows(words.len()).any(|found| found == words));
        if is_last {
            *last_words = None;
            self.state.send_replace(State::Silent);
        }
        is_last || self.is_silent()
    }
}

/// An open connection that has sent swallowed bytes.
struct Unheard<'a>(&'a Wire);

impl<'a> Unheard<'a> {
    fn count(wire: &'a Wire) -> Self {
        wire.unheard.send_modify(|count| *count += 1);
        Self(wire)
    }
}

impl Drop for Unheard<'_> {
    fn drop(&mut self) {
        self.0.unheard.send_modify(|count| *count -= 1);
    }
}
