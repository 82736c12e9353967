//! A calendar's own feed over HTTP: written again after a change of the calendar, and cached.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

use super::{Options, Verdicts};
use crate::connection::{Connection, get, post};
use crate::database::{Kind, Place};
use crate::figures::median;
use crate::http;
use crate::json;
use crate::load::{CONNECTIONS, Requests};
use crate::service::Program;

/// The number of events in the calendar.
const EVENTS: usize = 5_000;
/// The number of events that one request adds.
const BATCH: usize = 100;
/// The minimum speed of writing a feed, in 10^6 bytes a second.
const COLD: f64 = 60.0;
/// The minimum share of the speed of a constant of the same size.
const WARM: f64 = 0.5;
/// The length of a round of requests for the cached feed.
const ROUND: Duration = Duration::from_millis(1_600);

/// Measures on one kind of database and prints.
pub(crate) async fn run(options: &Options, kind: Kind) -> Result<()> {
    let place = Place::new(kind, options.surroundings.postgres.as_deref()).await?;
    let program = Program::kalends(&options.surroundings.server()?, &place);
    let server = program.start().await?;
    let key = program.create_organization("Bench").await?;
    let mut connection = Connection::open(server.address).await?;
    let body = json!({ "name": "Work", "timezone": "Europe/Berlin" }).to_string();
    let calendar = connection.ask(&post("/v1/calendars", Some(&key), None, &body)).await?.json(201)?;
    let id = json::text(&calendar, "id")?;
    let url = json::text(&calendar, "ical_url")?;
    let path = url.find("/ical/").and_then(|at| url.get(at..)).context("no path in ical_url")?;
    let target = format!("/v1/calendars/{id}/events/batch");
    for first in (0..EVENTS).step_by(BATCH) {
        let events: Vec<Value> = (first..first + BATCH).map(event).collect();
        let added = post(&target, Some(&key), None, &json!({ "events": events }).to_string());
        connection.ask(&added).await?.json(201)?;
    }

    let request = get(path, None);
    let (mut rates, mut times, mut bytes) = (Vec::new(), Vec::new(), 0);
    for round in 0..=options.rounds {
        let change = event(EVENTS + round).to_string();
        let added = post(&format!("/v1/calendars/{id}/events"), Some(&key), None, &change);
        connection.ask(&added).await?.json(201)?;
        let began = Instant::now();
        let (status, length) = connection.exchange(&request).await?;
        let took = began.elapsed().as_secs_f64();
        ensure!(status == 200, "the feed answered {status}");
        // The first round warms up.
        if round > 0 {
            rates.push(f64::from(u32::try_from(length)?) / 1e6 / took);
            times.push(took);
        }
        bytes = length;
    }

    let mut program = http::floor_program(&place, None, 0)?;
    program.arguments.push(format!("--long-bytes={bytes}"));
    let floor = program.start().await?;
    let (kept, constant) = (Requests::shared(200, vec![request]), Requests::shared(200, vec![get("/long", None)]));
    let (mut feeds, mut constants, mut parts) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..=options.rounds {
        let constant = constant.send(&floor, ROUND).await?.per_second;
        let kept = kept.send(&server, ROUND).await?;
        ensure!(kept.body_bytes == bytes, "the feed has {} bytes, and had {bytes}", kept.body_bytes);
        if round > 0 {
            feeds.push(kept.per_second);
            constants.push(constant);
            parts.push(kept.per_second / constant);
        }
    }
    drop(floor);
    server.stop().await?;
    place.remove().await?;

    let (cold, warm) = (median(&mut rates), median(&mut parts));
    println!("\n{kind}: the feed of {EVENTS} events, {bytes} bytes, medians of {} rounds", options.rounds);
    let mut verdicts = Verdicts::new("feed");
    let measured = format!("{cold:.0} MB/s, {:.0} ms", median(&mut times) * 1e3);
    verdicts.line("cold: after a change, one connection", measured, Some((format!("{COLD:.0} MB/s"), cold >= COLD)));
    let constant = format!("{:.0}/s", median(&mut constants));
    verdicts.line(&format!("a constant of the same size, {CONNECTIONS} connections"), constant, None);
    let measured = format!("{:.0}/s, {warm:.2} of it", median(&mut feeds));
    verdicts.line("warm: kept since", measured, Some((format!("{WARM:.2}"), warm >= WARM)));
    verdicts.print();
    Ok(())
}

fn event(number: usize) -> Value {
    let (day, hour) = (number / 24 % 28 + 1, number % 24);
    let (year, month) = (2026 + number / 8_064, number / 672 % 12 + 1);
    json!({
        "title": "Weekly planning with the design team",
        "description": "What was done, what comes next, and what stands in the way. Notes are in the usual place.",
        "start_time": format!("{year}-{month:02}-{day:02}T{hour:02}:00:00Z"),
        "end_time": format!("{year}-{month:02}-{day:02}T{hour:02}:30:00Z"),
        "metadata": { "room": "4.12", "source": "bench" },
    })
}
