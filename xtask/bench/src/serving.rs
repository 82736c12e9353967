//! How the servers of a benchmark serve: in the same way as the service.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use axum::Router;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tower::Service as _;

/// How long a client may take to send the head of a request. The service has such a limit too.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);

/// Serves until standard input ends, which it does when the measuring program ends.
pub(crate) async fn until_input_ends(listener: TcpListener, routes: Router) -> Result<()> {
    std::thread::spawn(|| {
        // Nothing is ever written there; this waits for the end.
        let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
        std::process::exit(0);
    });
    accept(listener, routes).await
}

/// Serves hyper-util connections with a deadline for heads.
async fn accept(listener: TcpListener, routes: Router) -> Result<()> {
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder.http1().timer(TokioTimer::new()).header_read_timeout(HEAD_TIMEOUT);
    let builder = Arc::new(builder);
    loop {
        let (stream, peer) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let mut connect = routes.clone().into_make_service_with_connect_info::<std::net::SocketAddr>();
        let Ok(service): Result<_, Infallible> = connect.call(peer).await;
        let builder = Arc::clone(&builder);
        tokio::spawn(async move {
            // A client that disconnects is not a failure of the server.
            let _ = builder.serve_connection(TokioIo::new(stream), TowerToHyperService::new(service)).await;
        });
    }
}
