//! `kalends serve`.

use std::{fs::File, net::SocketAddr, sync::Arc, time::Duration};

use anyhow::Context;
use kalends_http::RequestLog;
use kalends_plans::TrustedProxies;
use tokio::{net::TcpListener, time::timeout};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{
    ambient::SystemEntropy,
    background,
    cli::Serve,
    config::{Config, ConnectionLimits, DatabaseUrl},
    connections::Connections,
    data_dir::{self, DataDir},
    failure::Failure,
    masters, metrics, open_files, output,
    request_log::Requests,
    service::Service,
    signals::Signals,
    traces::Traces,
};

/// How long requests, webhooks and emails in flight may take to finish. Together with [`CLOSE`], [`LAST_LINES`] and the
/// runtime's own shutdown, a stop takes at most 10 s, whatever hangs.
const DRAIN: Duration = Duration::from_secs(8);
/// How many open files are reserved for everything but connections: the database, outgoing calls, mail, logs.
const OTHER_FILES: usize = 256;
/// The most connections to the metrics endpoint.
const METRICS_CONNECTIONS: usize = 64;
/// How long the last lines of the log of requests may take to be written.
const LAST_LINES: Duration = Duration::from_millis(100);
/// How long the background tasks and the database may take to stop.
const CLOSE: Duration = Duration::from_millis(1_200);

/// Serves until SIGTERM or SIGINT.
pub(crate) async fn serve(config: &Config, part: Serve, traces: Option<Traces>) -> Result<(), Failure> {
    require_all_on_sqlite(config, part)?;
    masters::require_given(config)?;
    let open_files = open_files::raise();
    let mut signals = Signals::install().context("cannot wait for signals")?;
    // Bind first: a port that is in use is reported before anything is changed, and port 0 is resolved.
    let (listener, address) = bind(config.listen).await?;
    let (stop, tasks) = (CancellationToken::new(), TaskTracker::new());
    if let Some(listen) = config.metrics_listen {
        serve_metrics(listen, &tasks, &stop).await?;
    }

    // Spans have a token of their own, so that they are sent until everything else has ended.
    let (stop_tracing, tracing_tasks) = (CancellationToken::new(), TaskTracker::new());
    if let Some(traces) = traces {
        tracing_tasks.spawn(traces.send(config, stop_tracing.clone())?);
    }
    tracing_tasks.close();

    let _lock = alone_on_sqlite(config)?;
    let session_key = masters::session_key(config, &SystemEntropy)?;
    let opened = tokio::select! {
        opened = Service::open(config, config.base_url(Some(address)), &session_key) => opened,
        () = signals.next() => return Ok(()),
    };
    let Service { app, ring, database } = opened?;
    database.take_over().await.context("cannot release the claims of the previous server")?;
    background::start(&app, &ring, &tasks, &stop);
    // Webhooks and emails stop on their own token, so that they drain while requests drain.
    let (stop_sending, sending) = (CancellationToken::new(), TaskTracker::new());
    if !part.no_workers {
        kalends_worker::start(&app, &tasks, &stop);
        kalends_worker::start_sending(&app, &sending, &stop_sending);
    }
    let requests = Requests::start(config).context("cannot start the log of requests")?;
    let log = requests.clone().map(|requests| requests as Arc<dyn RequestLog>);
    let router = if part.workers_only { kalends_http::probes } else { kalends_http::router };
    let router = router(Arc::clone(&app), log.clone());
    let trusted = TrustedProxies::new(config.trusted_proxies.iter().copied());
    let connections = Connections::new(router, connection_limits(config, open_files), trusted, log);

    let accepting = connections.accept(listener, signals.next());
    tracing::info!(%address, part = part.part().unwrap_or("all"), "serving");
    // The listener already queues connections, so the address works as soon as this line is printed.
    let _ = output::line(&format!("kalends listening on http://{address}"));
    accepting.await;

    tracing::info!("stopping: waiting for requests in flight");
    app.end_waits();
    stop_sending.cancel();
    sending.close();
    let began = tokio::time::Instant::now();
    tokio::select! {
        finished = connections.drain(DRAIN) => {
            if !finished {
                tracing::warn!("requests still running after {} s are cut off", DRAIN.as_secs());
            }
        }
        () = signals.next() => tracing::warn!("second signal: requests in flight are cut off"),
    }
    tokio::select! {
        sent = timeout(DRAIN.saturating_sub(began.elapsed()), sending.wait()) => {
            if sent.is_err() {
                tracing::warn!("webhooks and emails still being sent after {} s are cut off; they will be sent again", DRAIN.as_secs());
            }
        }
        () = signals.next() => tracing::warn!("second signal: webhooks and emails in flight are cut off; they will be sent again"),
    }
    stop.cancel();
    tasks.close();
    let closed = timeout(CLOSE, async {
        tasks.wait().await;
        app.return_leases().await;
        app.write_key_uses().await;
        database.close().await;
    });
    // A collector that does not answer takes no time from the database.
    let flushed = timeout(CLOSE, async {
        tasks.wait().await;
        stop_tracing.cancel();
        tracing_tasks.wait().await;
    });
    let (closed, flushed) = tokio::join!(closed, flushed);
    if flushed.is_err() {
        tracing::warn!("the last spans could not be sent in time");
    }
    if closed.is_err() {
        tracing::warn!("the database did not close in time");
    }
    if let Some(requests) = requests {
        requests.flush(LAST_LINES);
    }
    tracing::info!("stopped");
    Ok(())
}

/// Locks the SQLite file, so that no second server serves it: each would do the work of both. The lock is held as long
/// as the returned file.
fn alone_on_sqlite(config: &Config) -> anyhow::Result<Option<File>> {
    let DatabaseUrl::Sqlite(path) = &config.database else { return Ok(None) };
    if path.starts_with(&config.data_dir) {
        DataDir::make(&config.data_dir)?;
    }
    let folder_of_database =
        path.parent().filter(|folder| *folder != config.data_dir && !folder.as_os_str().is_empty());
    for folder in folder_of_database.into_iter().chain([config.data_dir.as_path()]) {
        if data_dir::others_may_write(folder) {
            tracing::warn!(
                "other users may write to the data directory {}, so they can replace the database and its keys: chmod 700 it",
                folder.display()
            );
        }
    }
    data_dir::lock_database(path).map(Some)
}

/// The connection limits of the configuration, lowered to what the limit of open files allows. Each connection takes
/// one file.
fn connection_limits(config: &Config, open_files: usize) -> ConnectionLimits {
    let ConnectionLimits { total, per_address } = config.max_connections;
    let possible = open_files.saturating_sub(OTHER_FILES).max(1);
    if total > possible {
        tracing::warn!(
            "KALENDS_MAX_CONNECTIONS allows {total} connections, but the process may open only {open_files} files, so the \
             limit is {possible}: raise the limit of open files (ulimit -Hn, LimitNOFILE) or lower the setting"
        );
    }
    let total = total.min(possible);
    ConnectionLimits { total, per_address: per_address.min(total) }
}

/// SQLite has one server process, so work that it skips would never be done.
fn require_all_on_sqlite(config: &Config, part: Serve) -> Result<(), Failure> {
    match (&config.database, part.part()) {
        (DatabaseUrl::Sqlite(_), Some(flag)) => Err(Failure::Configuration(vec![format!(
            "{flag} needs Postgres, where several processes share one database: leave it out on SQLite, or set KALENDS_DATABASE_URL to postgres://..."
        )])),
        _ => Ok(()),
    }
}

async fn bind(listen: SocketAddr) -> anyhow::Result<(TcpListener, SocketAddr)> {
    let listener = TcpListener::bind(listen).await.with_context(|| format!("cannot listen on {listen}"))?;
    let address = listener.local_addr().with_context(|| format!("cannot listen on {listen}"))?;
    Ok((listener, address))
}

async fn serve_metrics(listen: SocketAddr, tasks: &TaskTracker, stop: &CancellationToken) -> anyhow::Result<()> {
    let (listener, address) = bind(listen).await?;
    let limits = ConnectionLimits { total: METRICS_CONNECTIONS, per_address: METRICS_CONNECTIONS };
    let connections = Connections::new(metrics::router(), limits, TrustedProxies::default(), None);
    let ended = stop.clone();
    tasks.spawn(async move { connections.accept(listener, ended.cancelled_owned()).await });
    tracing::info!("metrics on http://{address}/metrics");
    Ok(())
}
