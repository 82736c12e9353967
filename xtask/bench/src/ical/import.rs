//! A third-party feed and a file, imported by the service: the speed, the memory, and the cost of a sync that finds no
//! changes.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use axum::Router;
use axum::body::Bytes;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::text;
use super::{Options, Verdicts};
use crate::connection::{Connection, get, post};
use crate::database::{Kind, Place};
use crate::figures::median;
use crate::json;
use crate::service::{Process, Program};

/// The minimum number of events imported into SQLite per second.
const RATE: f64 = 8_000.0;
/// The most memory of an import, in MiB.
const MEMORY: f64 = 96.0;
/// How often the progress of an import and the service's memory are checked.
const LOOK: Duration = Duration::from_millis(5);
/// How long an import may take.
const PATIENCE: Duration = Duration::from_secs(120);
const TAG: &str = "\"bench\"";

/// A server of one feed.
struct Feed {
    text: Bytes,
    requests: AtomicUsize,
    /// When a conditional request for it last arrived.
    conditional: Mutex<Option<Instant>>,
}

impl Feed {
    async fn start(text: &str) -> Result<(Arc<Self>, String)> {
        let text = Bytes::from(text.to_owned());
        let feed = Arc::new(Self { text, requests: AtomicUsize::new(0), conditional: Mutex::default() });
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?.to_string();
        let served = Arc::clone(&feed);
        let routes = Router::new().fallback(move |headers: HeaderMap| {
            let feed = Arc::clone(&served);
            async move { feed.answer(&headers) }
        });
        tokio::spawn(async move { axum::serve(listener, routes).await });
        Ok((feed, address))
    }

    fn answer(&self, headers: &HeaderMap) -> Response {
        self.requests.fetch_add(1, Ordering::SeqCst);
        if headers.get(header::IF_NONE_MATCH).is_some_and(|tag| tag == TAG) {
            *self.conditional.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
            return StatusCode::NOT_MODIFIED.into_response();
        }
        ([(header::ETAG, TAG), (header::CONTENT_TYPE, "text/calendar")], self.text.clone()).into_response()
    }
}

/// The state of a subscription.
async fn subscription(connection: &mut Connection, key: &str, id: &str) -> Result<Value> {
    connection.ask(&get(&format!("/v1/ical-subscriptions/{id}"), Some(key))).await?.json(200)
}

/// Waits for a sync to end after the one that ended at `before`. Returns the subscription and the service's peak
/// memory.
async fn synced(server: &Process, key: &str, id: &str, before: &Value) -> Result<(Value, u64)> {
    let mut connection = Connection::open(server.address).await?;
    let (began, mut most) = (Instant::now(), 0);
    while began.elapsed() < PATIENCE {
        most = most.max(server.resident()?);
        let subscription_now = subscription(&mut connection, key, id).await?;
        ensure!(subscription_now["last_error"].is_null(), "the sync failed: {subscription_now}");
        if subscription_now["last_synced_at"] != *before {
            return Ok((subscription_now, most));
        }
        tokio::time::sleep(LOOK).await;
    }
    bail!("no sync within {PATIENCE:?}")
}

async fn calendar(connection: &mut Connection, key: &str, agent: &str) -> Result<String> {
    let body = json!({ "name": "Work", "timezone": "Europe/Berlin" }).to_string();
    let made = connection.ask(&post(&format!("/v1/agents/{agent}/calendars"), Some(key), None, &body)).await?;
    Ok(json::text(&made.json(201)?, "id")?.to_owned())
}

/// Measures on one kind of database and prints.
#[expect(clippy::cast_precision_loss, reason = "counts and sizes are far below 2^52")]
pub(crate) async fn run(options: &Options, kind: Kind) -> Result<()> {
    let text = text::feed();
    let (feed, address) = Feed::start(&text).await?;
    let place = Place::new(kind, options.surroundings.postgres.as_deref()).await?;
    let mut program = Program::kalends(&options.surroundings.server()?, &place);
    program.environment.push(("KALENDS_EGRESS_ALLOW", address.clone()));
    let (mut rates, mut files, mut unchanged, mut grown) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut count = 0;
    // Each round has its own service, because a process does not return all of its memory.
    for _ in 0..options.rounds.min(3) {
        let server = program.start().await?;
        let key = program.create_organization("Bench").await?;
        let mut connection = Connection::open(server.address).await?;
        let agent = connection.ask(&post("/v1/agents", Some(&key), None, r#"{"name":"Ada","type":"ai"}"#)).await?;
        let agent = json::text(&agent.json(201)?, "id")?.to_owned();
        let (subscribed, filled) =
            (calendar(&mut connection, &key, &agent).await?, calendar(&mut connection, &key, &agent).await?);
        let idle = server.resident()?;

        let body = json!({ "calendar_id": subscribed, "url": format!("http://{address}/feed.ics") }).to_string();
        let began = Instant::now();
        let target = format!("/v1/agents/{agent}/ical-subscriptions");
        let made = connection.ask(&post(&target, Some(&key), None, &body)).await?.json(201)?;
        let id = json::text(&made, "id")?.to_owned();
        let (first, most) = synced(&server, &key, &id, &Value::Null).await?;
        let took = began.elapsed().as_secs_f64();
        count = json::number(&first["last_sync"], "created")?;
        ensure!(count >= text::EVENTS as u64, "{first}");
        rates.push(count as f64 / took);
        grown.push(most.saturating_sub(idle) as f64 / 1024.0);

        let requests = feed.requests.load(Ordering::SeqCst);
        let began = Instant::now();
        connection.ask(&post(&format!("/v1/ical-subscriptions/{id}/sync"), Some(&key), None, "")).await?.json(202)?;
        let (again, _) = synced(&server, &key, &id, &first["last_synced_at"]).await?;
        ensure!(feed.requests.load(Ordering::SeqCst) == requests + 1, "a sync must send one request");
        ensure!(
            feed.conditional.lock().unwrap_or_else(PoisonError::into_inner).is_some(),
            "the request must be conditional"
        );
        ensure!(json::number(&again["last_sync"], "untouched")? == count, "{again}");
        unchanged.push(began.elapsed().as_secs_f64());

        let began = Instant::now();
        let target = format!("/v1/calendars/{filled}/import");
        let request = String::from_utf8(post(&target, Some(&key), None, &text)).context("no text")?;
        let request = request.replacen("application/json", "text/calendar", 1);
        let imported = connection.ask(request.as_bytes()).await?.json(200)?;
        files.push(json::number(&imported, "created")? as f64 / began.elapsed().as_secs_f64());
        server.stop().await?;
    }
    place.remove().await?;

    println!("\n{kind}: {} events, which become {count}, {} bytes", text::EVENTS, text.len());
    let mut verdicts = Verdicts::new("import");
    let rate = median(&mut rates);
    let held = |target: f64, holds| (kind == Kind::Sqlite).then(|| (format!("{target:.0}/s"), holds));
    verdicts.line("a subscription's first sync, fetch included", format!("{rate:.0}/s"), held(RATE, rate >= RATE));
    let memory = median(&mut grown);
    let target = Some((format!("{MEMORY:.0} MiB"), memory <= MEMORY));
    verdicts.line("most memory over the idle server", format!("{memory:.0} MiB"), target);
    verdicts.line("a sync with nothing changed", format!("{:.0} ms", median(&mut unchanged) * 1e3), None);
    verdicts.line("the same as a file, announced and charged", format!("{:.0}/s", median(&mut files)), None);
    verdicts.print();
    Ok(())
}
