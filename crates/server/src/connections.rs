//! The HTTP connections: accepting them, serving them, ending them.

use std::{
    future::{Future, pending},
    io,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use axum::{Router, extract::ConnectInfo};
use hyper::{Request, body::Incoming, service::service_fn};
use hyper_util::{
    rt::{TokioExecutor, TokioIo, TokioTimer},
    server::{conn::auto, graceful::GracefulShutdown},
};
use tokio::{
    net::{TcpListener, TcpStream},
    time::{sleep, timeout},
};
use tower::Service;

/// How long a client may take over the head of a request; a connection that rests longer is closed.
const HEAD: Duration = Duration::from_secs(10);
/// How long a fresh connection may stay without any request: [`HEAD`] begins only once the version of
/// HTTP is known, so this is what bounds clients that send nothing.
const SILENCE: Duration = Duration::from_secs(15);
/// How often an HTTP/2 client is asked whether it is still there.
const PING: Duration = Duration::from_secs(30);
/// The most requests at once on one HTTP/2 connection.
const STREAMS: u32 = 256;
/// How long accepting rests when the system has no file descriptor left.
const EXHAUSTED: Duration = Duration::from_millis(50);

/// The connections of one router.
pub(crate) struct Connections {
    router: Router,
    protocol: auto::Builder<TokioExecutor>,
    graceful: GracefulShutdown,
    silence: Duration,
}

impl Connections {
    pub(crate) fn new(router: Router) -> Self {
        Self::with_patience(router, HEAD, SILENCE)
    }

    fn with_patience(router: Router, head: Duration, silence: Duration) -> Self {
        let mut protocol = auto::Builder::new(TokioExecutor::new());
        protocol.http1().timer(TokioTimer::new()).header_read_timeout(head);
        protocol.http2().timer(TokioTimer::new()).keep_alive_interval(PING).max_concurrent_streams(STREAMS);
        // The state is fixed now rather than anew for each request.
        Self { router: router.with_state(()), protocol, graceful: GracefulShutdown::new(), silence }
    }

    /// Serves what `listener` accepts until `end`, and closes the listener. Connections go on.
    pub(crate) async fn accept(&self, listener: TcpListener, end: impl Future<Output = ()>) {
        tokio::pin!(end);
        loop {
            tokio::select! {
                biased;
                () = &mut end => return,
                accepted = listener.accept() => match accepted {
                    Ok((stream, peer)) => self.serve(stream, peer),
                    Err(error) => rest_after(&error).await,
                },
            }
        }
    }

    /// Lets requests in flight finish, `patience` at most; says whether all did.
    pub(crate) async fn drain(self, patience: Duration) -> bool {
        timeout(patience, self.graceful.shutdown()).await.is_ok()
    }

    fn serve(&self, stream: TcpStream, peer: SocketAddr) {
        // Answers are written whole, so there is nothing to wait for.
        let _ = stream.set_nodelay(true);
        let arrived = Arc::new(AtomicBool::new(false));
        let (router, seen) = (self.router.clone(), Arc::clone(&arrived));
        let service = service_fn(move |mut request: Request<Incoming>| {
            seen.store(true, Ordering::Relaxed);
            request.extensions_mut().insert(ConnectInfo(peer));
            Service::call(&mut router.clone(), request)
        });
        let connection = self.protocol.serve_connection(TokioIo::new(stream), service).into_owned();
        let connection = self.graceful.watch(connection);
        let silence = self.silence;
        tokio::spawn(async move {
            tokio::select! {
                ended = connection => {
                    if let Err(error) = ended {
                        tracing::debug!(%error, "a connection ended early");
                    }
                }
                () = silent(&arrived, silence) => tracing::debug!("a connection without a request was closed"),
            }
        });
    }
}

/// Returns where no request has arrived in time; otherwise never.
async fn silent(arrived: &AtomicBool, patience: Duration) {
    sleep(patience).await;
    if arrived.load(Ordering::Relaxed) {
        pending::<()>().await;
    }
}

/// A connection that was reset before it was accepted is nothing; a lack of file descriptors passes.
async fn rest_after(error: &io::Error) {
    if matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset | io::ErrorKind::ConnectionRefused
    ) {
        return;
    }
    tracing::error!(%error, "a connection could not be accepted");
    sleep(EXHAUSTED).await;
}

#[cfg(test)]
mod tests {
    use axum::routing::get;
    use tokio::{
        io::{AsyncReadExt, AsyncWriteExt},
        sync::oneshot,
        task::JoinHandle,
    };

    use super::*;

    fn router() -> Router {
        Router::new()
            .route("/peer", get(|ConnectInfo(peer): ConnectInfo<SocketAddr>| async move { peer.to_string() }))
            .route(
                "/slow",
                get(|| async {
                    sleep(Duration::from_millis(300)).await;
                    "done"
                }),
            )
            .route("/never", get(pending::<&'static str>))
    }

    /// A server that accepts until the sender is used, then drains with the patience given.
    async fn start(patience: Duration) -> (SocketAddr, oneshot::Sender<()>, JoinHandle<bool>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel();
        let quick = Duration::from_millis(200);
        let connections = Connections::with_patience(router(), quick, 2 * quick);
        let task = tokio::spawn(async move {
            connections
                .accept(listener, async {
                    let _ = stopped.await;
                })
                .await;
            connections.drain(patience).await
        });
        (address, stop, task)
    }

    async fn send(address: SocketAddr, text: &str) -> TcpStream {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(text.as_bytes()).await.unwrap();
        stream
    }

    async fn answer(mut stream: TcpStream) -> String {
        let mut text = String::new();
        timeout(Duration::from_secs(5), stream.read_to_string(&mut text)).await.unwrap().unwrap();
        text
    }

    #[tokio::test]
    async fn handlers_see_the_peer() {
        let (address, _stop, _task) = start(Duration::ZERO).await;
        let stream = send(address, "GET /peer HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").await;
        let local = stream.local_addr().unwrap();
        assert!(answer(stream).await.ends_with(&local.to_string()));
    }

    #[tokio::test]
    async fn requests_in_flight_finish_and_no_new_ones_begin() {
        let (address, stop, task) = start(Duration::from_secs(5)).await;
        let stream = send(address, "GET /slow HTTP/1.1\r\nhost: x\r\n\r\n").await;
        let idle = send(address, "").await;
        sleep(Duration::from_millis(100)).await;
        stop.send(()).unwrap();
        assert!(answer(stream).await.ends_with("done"));
        assert_eq!(answer(idle).await, "");
        assert!(task.await.unwrap());
        assert!(TcpStream::connect(address).await.is_err());
    }

    #[tokio::test]
    async fn a_request_that_does_not_end_is_not_waited_for() {
        let (address, stop, task) = start(Duration::from_millis(200)).await;
        let _stream = send(address, "GET /never HTTP/1.1\r\nhost: x\r\n\r\n").await;
        sleep(Duration::from_millis(50)).await;
        stop.send(()).unwrap();
        assert!(!timeout(Duration::from_secs(5), task).await.unwrap().unwrap());
    }

    #[tokio::test]
    async fn clients_that_say_nothing_or_half_of_it_are_closed() {
        let (address, _stop, _task) = start(Duration::ZERO).await;
        // The last two are how HTTP/2 begins, which is waited for before the version is known.
        for beginning in ["", "G", "GET /peer HTTP/1.1\r\nhost:", "P", "PRI * HTTP/2.0\r\n"] {
            let stream = send(address, beginning).await;
            let text = answer(stream).await;
            assert!(text.is_empty() || text.contains("408"), "{beginning:?}: {text}");
        }
    }

    #[tokio::test]
    async fn a_slow_answer_is_not_silence() {
        let (address, _stop, _task) = start(Duration::ZERO).await;
        let mut text = String::from("GET /slow HTTP/1.1\r\nhost: x\r\n\r\n");
        text.push_str("GET /slow HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
        assert_eq!(answer(send(address, &text).await).await.matches("done").count(), 2);
    }
}
