//! Slow uploads with one key, while another organization imports a file.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use super::attacks::{Outcome, Scene};
use super::neighbour::ADDRESS;
use super::{SLOWER, WAIT, milliseconds};
use crate::connection::{Connection, post};

/// The number of uploads, and the most concurrent ones of an organization.
const UPLOADS: usize = 16;
const TOGETHER: usize = 1;
/// The length that each announces.
const LENGTH: usize = 8 << 20;
/// The bytes that each sends at a time, and the pause between them. This is slower than the server allows.
const DROP: &[u8] = &[b' '; 1 << 10];
const BETWEEN: Duration = Duration::from_millis(500);
/// The longest time that they send.
const DRIPS: Duration = Duration::from_secs(60);
/// The length of a body that does not need a permit, and the most concurrent ones of an organization.
const BODY: usize = 1 << 20;
const ARRIVING: usize = 16;
/// The file of the other organization: longer than any body except an import may be.
const EVENTS: usize = 80;
const DESCRIPTION: usize = 18_000;

/// Starts the uploads, and imports a file as another organization at the same time.
pub(crate) async fn drip(scene: &Scene<'_>) -> Result<Outcome> {
    let other = scene.program.create_organization("Importer").await?;
    let quiet = import(scene, &other, 0).await?;
    let head = head(scene);
    let mut uploads = JoinSet::new();
    for _ in 0..UPLOADS {
        let (stream, head) = (scene.stream().await?, head.clone());
        uploads.spawn(async move { upload(stream, &head).await });
    }
    let imported = import(scene, &other, 1).await?;
    let mut statuses = Vec::with_capacity(UPLOADS);
    // The last ones may continue, because they were admitted.
    while statuses.len() < UPLOADS - TOGETHER {
        let Some(status) = uploads.join_next().await else { break };
        statuses.push(status?);
    }
    drop(uploads);
    let refused = statuses.iter().filter(|status| **status == Some(429)).count();
    let (took, usual) = (milliseconds(imported), milliseconds(quiet));
    let allowed = WAIT.max(quiet * SLOWER);
    let summary =
        format!("{refused} of {UPLOADS} refused at once; another organization's import took {took} ms, {usual} before");
    Ok(Outcome::of(summary)
        .unless(refused + TOGETHER >= UPLOADS, || {
            format!("{} concurrent uploads of one organization were admitted, {TOGETHER} is allowed", UPLOADS - refused)
        })
        .unless(!scene.size.judges_times || imported <= allowed, || {
            format!("another organization's import took {took} ms, {} are allowed", milliseconds(allowed))
        }))
}

/// Sends almost all of many bodies that do not need a permit, then stops.
pub(crate) async fn stop_short(scene: &Scene<'_>) -> Result<Outcome> {
    let (calendar, key) = (&scene.calendar, &scene.key);
    let head = format!(
        "POST /v1/calendars/{calendar}/events/batch HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {key}\r\n\
         content-type: application/json\r\ncontent-length: {BODY}\r\n\r\n"
    );
    let request = [head.as_bytes(), &vec![b' '; BODY - 1]].concat();
    let mut held = JoinSet::new();
    for _ in 0..scene.size.bodies {
        let (mut stream, request) = (scene.stream().await?, request.clone());
        held.spawn(async move {
            let mut answer = [0; 12];
            let (mut reading, mut writing) = stream.split();
            let sending = async {
                let _ = writing.write_all(&request).await;
                // The kernel may still buffer the request when the server has answered.
                std::future::pending::<()>().await;
            };
            let status = tokio::select! {
                read = tokio::time::timeout(DRIPS, reading.read_exact(&mut answer)) => {
                    read.ok().and_then(Result::ok).and_then(|_| std::str::from_utf8(answer.get(9..)?).ok()?.parse().ok())
                }
                () = sending => None,
            };
            (stream, status)
        });
    }
    let mut statuses = Vec::with_capacity(scene.size.bodies);
    while statuses.len() < scene.size.bodies.saturating_sub(ARRIVING) {
        let Some(ended) = held.join_next().await else { break };
        statuses.push(ended?.1);
    }
    let refused = statuses.iter().filter(|status: &&Option<u16>| **status == Some(429)).count();
    Ok(Outcome::of(format!("{refused} of {} refused", scene.size.bodies))
        .unless(refused + ARRIVING >= scene.size.bodies, || {
            format!("{} bodies of 1 MiB were admitted, {ARRIVING} are allowed", scene.size.bodies - refused)
        }))
}

/// The head of a long upload.
fn head(scene: &Scene<'_>) -> Vec<u8> {
    let (calendar, key) = (&scene.calendar, &scene.key);
    format!(
        "POST /v1/calendars/{calendar}/import HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {key}\r\n\
         content-type: text/calendar\r\ncontent-length: {LENGTH}\r\n\r\n"
    )
    .into_bytes()
}

/// Sends slowly until there is an answer, and returns its status. `None` if the connection ended without one.
async fn upload(mut stream: TcpStream, head: &[u8]) -> Option<u16> {
    stream.write_all(head).await.ok()?;
    let (mut reading, mut writing) = stream.split();
    let drips = async {
        let begun = Instant::now();
        while begun.elapsed() < DRIPS && writing.write_all(DROP).await.is_ok() {
            tokio::time::sleep(BETWEEN).await;
        }
        // An answer may have arrived before the connection broke.
        tokio::time::sleep(BETWEEN).await;
    };
    let mut answer = [0; 12];
    tokio::select! {
        read = reading.read_exact(&mut answer) => {
            read.ok()?;
            std::str::from_utf8(answer.get(9..)?).ok()?.parse().ok()
        }
        () = drips => None,
    }
}

/// Imports a file into a new calendar, and returns how long that took.
async fn import(scene: &Scene<'_>, key: &str, number: usize) -> Result<Duration> {
    let mut connection = Connection::open_from(ADDRESS, scene.server.address).await?;
    let body = r#"{"name":"Work","timezone":"UTC"}"#;
    let calendar = connection.ask(&post("/v1/calendars", Some(key), None, body)).await?.json(201)?;
    let calendar = crate::json::text(&calendar, "id")?;
    let mut file = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Kalends//Abuse//EN\r\n".to_owned();
    for event in 0..EVENTS {
        file.push_str(&format!(
            "BEGIN:VEVENT\r\nUID:{number}-{event}@localhost\r\nDTSTAMP:20260101T000000Z\r\nSUMMARY:Long\r\n\
             DTSTART:20990302T09{:02}00Z\r\nDURATION:PT1M\r\nDESCRIPTION:{}\r\nEND:VEVENT\r\n",
            event % 60,
            "d".repeat(DESCRIPTION)
        ));
    }
    file.push_str("END:VCALENDAR\r\n");
    let request = String::from_utf8(post(&format!("/v1/calendars/{calendar}/import"), Some(key), None, &file))?;
    let request = request.replacen("application/json", "text/calendar", 1);
    let begun = Instant::now();
    connection.ask(request.as_bytes()).await?.json(200).context("another organization's import")?;
    Ok(begun.elapsed())
}
