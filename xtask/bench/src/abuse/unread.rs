//! Connections whose answers nobody reads, and connections without requests.

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use axum::body::Bytes;
use axum::http::Request;
use h2::client;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::attacks::{Outcome, Scene};
use crate::connection::{Connection, get, post};

/// The number of events that one request creates.
const BATCH: usize = 5;
/// The maximum length of a description. Its characters have four bytes each.
const DESCRIPTION: usize = 20_000;
/// The number of requests on a connection before any answer would be read.
const PIPELINED: usize = 20;
/// How long a server may take to read a request or to open a stream, before no more are sent.
const STUCK: Duration = Duration::from_millis(200);
/// The pause between lists. A free key may ask for ten in a second.
const BETWEEN: Duration = Duration::from_millis(100);
/// How long to wait for the head of an answer, and for a list while the server is busy with others.
const PATIENCE: Duration = Duration::from_secs(60);
/// The most open files while one address holds all the connections it can: the server's default for an address, and
/// some files of its own.
const HELD: usize = 256 + 64;
/// The most concurrent streams on one connection.
const STREAMS: usize = 32;

/// Creates events whose list is as long as possible.
pub(crate) async fn fill(scene: &Scene<'_>, connection: &mut Connection) -> Result<()> {
    let description = "\u{1F4C5}".repeat(DESCRIPTION);
    let target = format!("/v1/calendars/{}/events/batch", scene.calendar);
    let event = json!({
        "title": "Planning", "description": description, "metadata": { "notes": "n".repeat(15_000) },
        "start_time": "2099-03-02T09:00:00Z", "end_time": "2099-03-02T10:00:00Z",
    });
    let body = json!({ "events": vec![event; BATCH] }).to_string();
    for _ in 0..scene.size.events / BATCH {
        connection.ask(&post(&target, Some(&scene.key), None, &body)).await?.json(201).context("large events")?;
    }
    Ok(())
}

fn list(scene: &Scene<'_>) -> Vec<u8> {
    get(&format!("/v1/calendars/{}/events?limit={}", scene.calendar, scene.size.events), Some(&scene.key))
}

/// Whether everything could be sent. A server that stops reading is not waited for.
async fn sent(stream: &mut TcpStream, bytes: &[u8]) -> bool {
    matches!(tokio::time::timeout(STUCK, stream.write_all(bytes)).await, Ok(Ok(())))
}

/// Sends pipelined requests on many connections, and reads no answer.
pub(crate) async fn pipelines(scene: &Scene<'_>) -> Result<Outcome> {
    let requests = get("/v1/plans", Some(&scene.key)).repeat(PIPELINED);
    hold(scene, &requests).await
}

/// Opens many connections and sends nothing.
pub(crate) async fn silence(scene: &Scene<'_>) -> Result<Outcome> {
    hold(scene, b"").await
}

/// Opens many connections, sends the same bytes on each, and keeps them open.
async fn hold(scene: &Scene<'_>, bytes: &[u8]) -> Result<Outcome> {
    let (mut held, mut refused) = (Vec::with_capacity(scene.size.connections), 0);
    for _ in 0..scene.size.connections {
        match scene.stream().await {
            Ok(mut stream) => {
                sent(&mut stream, bytes).await;
                held.push(stream);
            }
            Err(_) => refused += 1,
        }
    }
    let most = settled(scene).await?;
    tokio::time::sleep(scene.size.lasts).await;
    let left = scene.server.usage().open_files()?;
    let summary = format!("{} connections, {refused} refused; {most} open files then, {left} at the end", held.len());
    Ok(Outcome::of(summary)
        .unless(most <= HELD, || format!("{most} open files for the connections of one address, {HELD} are allowed")))
}

/// The open files once the server has accepted every connection. It is known to have done so when it answers a later
/// connection.
async fn settled(scene: &Scene<'_>) -> Result<usize> {
    let mut connection = Connection::open_from(super::neighbour::ADDRESS, scene.server.address).await?;
    let status = connection.ask(&get("/health", None)).await?.status;
    ensure!(status == 200, "/health answered {status}");
    scene.server.usage().open_files()
}

/// Requests long lists and reads none.
pub(crate) async fn lists(scene: &Scene<'_>) -> Result<Outcome> {
    let request = list(scene);
    let bytes = scene.connection().await?.ask(&request).await?;
    ensure!(bytes.status == 200, "a list with a reader was answered with {}", bytes.status);
    let bytes = bytes.body.len();
    let mut held = Vec::with_capacity(scene.size.lists);
    for _ in 0..scene.size.lists {
        let mut stream = scene.stream().await?;
        sent(&mut stream, &request).await;
        held.push(stream);
        tokio::time::sleep(BETWEEN).await;
    }
    // By now all of them are written or refused: the requests of an organization are answered in order.
    let last = scene.connection().await?.ask(&request).await?.status;
    tokio::time::sleep(scene.size.lasts).await;
    let mut written = 0;
    for stream in &mut held {
        written += usize::from(status(stream).await == Some(200));
    }
    Ok(Outcome::of(format!("{} lists of {bytes} bytes, {written} written; the next one: {last}", held.len()))
        .unless(bytes <= 9 << 20, || format!("a list has {bytes} bytes, 8 MiB are allowed"))
        .unless(held.len() < 10 || written < held.len(), || "every list without a reader was written".into()))
}

/// The status of the answer, if it has arrived.
async fn status(stream: &mut TcpStream) -> Option<u16> {
    let mut line = [0; 12];
    tokio::time::timeout(STUCK, stream.read_exact(&mut line)).await.ok()?.ok()?;
    std::str::from_utf8(line.get(9..)?).ok()?.parse().ok()
}

/// Requests the feed of a large calendar repeatedly, each time in another version.
pub(crate) async fn versions(scene: &Scene<'_>) -> Result<Outcome> {
    let mut writer = scene.connection().await?;
    let event = json!({
        "title": "First", "start_time": "2099-03-01T09:00:00Z", "end_time": "2099-03-01T10:00:00Z",
    });
    let target = format!("/v1/calendars/{}/events", scene.calendar);
    let export = get(&format!("/v1/calendars/{}/export.ics", scene.calendar), Some(&scene.key));
    let (mut held, mut written) = (Vec::new(), 0);
    for _ in 0..scene.size.lists {
        writer.ask(&post(&target, Some(&scene.key), None, &event.to_string())).await?.json(201)?;
        let mut stream = scene.stream().await?;
        stream.write_all(&export).await?;
        // Wait until this version is being sent before making the next one.
        let answer = tokio::time::timeout(PATIENCE, stream.readable()).await;
        answer.context("no answer to an export")??;
        written += usize::from(status(&mut stream).await == Some(200));
        held.push(stream);
    }
    tokio::time::sleep(scene.size.lasts).await;
    Ok(Outcome::of(format!("{} versions of a calendar requested, {written} written", held.len())))
}

/// Requests long lists on one HTTP/2 connection whose window is closed.
pub(crate) async fn window(scene: &Scene<'_>) -> Result<Outcome> {
    let stream = scene.stream().await?;
    let (streams, connection) = client::Builder::new().initial_window_size(0).handshake::<_, Bytes>(stream).await?;
    // It ends with the server, or with this program.
    let serving = tokio::spawn(connection);
    let uri = format!("http://localhost/v1/calendars/{}/events?limit={}", scene.calendar, scene.size.events);
    let authorization = format!("Bearer {}", scene.key);
    let request = || Request::get(&uri).header("authorization", &authorization).body(());
    // Once the head of an answer has arrived, the server has announced how many streams it allows.
    let (first, _) = streams.clone().ready().await?.send_request(request()?, true)?;
    let first = tokio::time::timeout(PATIENCE, first).await.context("no head of an answer arrived")??;
    let most = streams.current_max_send_streams();
    let mut held = Vec::with_capacity(scene.size.streams);
    while held.len() < scene.size.streams {
        let Ok(Ok(mut ready)) = tokio::time::timeout(STUCK, streams.clone().ready()).await else { break };
        let Ok((answer, _)) = ready.send_request(request()?, true) else { break };
        held.push(answer);
    }
    tokio::time::sleep(scene.size.lasts).await;
    serving.abort();
    let summary = format!("{} streams opened, the server allows {most} at once", held.len() + 1);
    drop(first);
    Ok(Outcome::of(summary)
        .unless(most <= STREAMS, || format!("the server allows {most} concurrent streams instead of {STREAMS}")))
}
