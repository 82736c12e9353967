//! A third-party feed that is subscribed to, synced and deleted, repeatedly.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use axum::Router;
use axum::http::header::CONTENT_TYPE;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::attacks::{Outcome, Scene};
use crate::connection::{Answer, Connection, delete, get, post};
use crate::json;

/// The number of series in the feed. Each has an event every minute.
const SERIES: usize = 10;
/// The most imported events of a free organization.
const IMPORTED: u64 = 5_000;
/// The pause between calls. A free key may call ten times a second.
const REST: Duration = Duration::from_millis(150);
/// How long a sync may take before the campaign fails.
const PATIENCE: Duration = Duration::from_secs(120);

/// How often the feed was fetched.
static FETCHED: AtomicUsize = AtomicUsize::new(0);

/// Serves the feed on its own port.
pub(crate) async fn stub() -> Result<SocketAddr> {
    let mut text = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Kalends//Abuse//EN\r\n".to_owned();
    for number in 0..SERIES {
        text.push_str(&format!(
            "BEGIN:VEVENT\r\nUID:{number}@localhost\r\nDTSTAMP:20260101T000000Z\r\nSUMMARY:Every minute\r\n\
             DTSTART:20260101T0000{number:02}Z\r\nDURATION:PT1S\r\nRRULE:FREQ=MINUTELY\r\nEND:VEVENT\r\n"
        ));
    }
    text.push_str("END:VCALENDAR\r\n");
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let routes = Router::new().fallback(move || {
        FETCHED.fetch_add(1, Ordering::SeqCst);
        let text = text.clone();
        async move { ([(CONTENT_TYPE, "text/calendar")], text) }
    });
    tokio::spawn(async move { axum::serve(listener, routes).await });
    Ok(address)
}

/// Subscribes, waits for the sync and deletes the subscription, as often as configured. Counts rows after each sync.
pub(crate) async fn again_and_again(scene: &Scene<'_>) -> Result<Outcome> {
    let mut connection = scene.connection().await?;
    let agent = r#"{"name":"Reader","type":"ai"}"#;
    let agent = paced(&mut connection, &post("/v1/agents", Some(&scene.key), None, agent)).await?.json(201)?;
    let agent = format!("/v1/agents/{}", json::text(&agent, "id")?);
    let calendar = r#"{"name":"Holidays","timezone":"UTC"}"#;
    let calendar = post(&format!("{agent}/calendars"), Some(&scene.key), None, calendar);
    let calendar = paced(&mut connection, &calendar).await?.json(201)?;
    let body = json!({
        "calendar_id": json::text(&calendar, "id")?, "url": format!("http://{}/feed.ics", scene.feed),
    });
    let subscribe = post(&format!("{agent}/ical-subscriptions"), Some(&scene.key), None, &body.to_string());
    let (before, fetched) = (scene.place.rows("events").await?, FETCHED.load(Ordering::SeqCst));
    let (mut most, mut made, mut refused) = (0, 0, 0);
    for _ in 0..scene.size.subscriptions {
        let answer = paced(&mut connection, &subscribe).await?;
        if answer.status != 201 {
            refused += 1;
            continue;
        }
        made += 1;
        let target = format!("/v1/ical-subscriptions/{}", json::text(&answer.json(201)?, "id")?);
        synced(scene, &mut connection, &target).await?;
        most = most.max(scene.place.rows("events").await?.saturating_sub(before));
        paced(&mut connection, &delete(&target, &scene.key)).await?;
    }
    Ok(Outcome::of(format!("{made} subscriptions, {refused} refused, {most} rows at most"))
        .unless(FETCHED.load(Ordering::SeqCst) > fetched, || {
            "the feed was never fetched, so nothing was tested".to_owned()
        })
        .unless(most <= IMPORTED, || format!("{most} imported rows were stored, the plan allows {IMPORTED}")))
}

/// Waits until the first sync has ended, successfully or not.
async fn synced(scene: &Scene<'_>, connection: &mut Connection, target: &str) -> Result<()> {
    let begun = Instant::now();
    while begun.elapsed() < PATIENCE {
        let subscription: Value = paced(connection, &get(target, Some(&scene.key))).await?.json(200)?;
        if !subscription["last_synced_at"].is_null() || !subscription["last_error"].is_null() {
            return Ok(());
        }
    }
    bail!("no sync within {PATIENCE:?}")
}

/// Sends a request at the rate of a free key.
async fn paced(connection: &mut Connection, request: &[u8]) -> Result<Answer> {
    let begun = Instant::now();
    loop {
        tokio::time::sleep(REST).await;
        let answer = connection.ask(request).await?;
        let too_fast = answer.status == 429 && String::from_utf8_lossy(&answer.body).contains("rate_limit_error");
        if !too_fast || begun.elapsed() > PATIENCE {
            return Ok(answer);
        }
    }
}
