//! `bookings`: many guests want the same slots of a booking page at once. Each slot goes to one of them.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::Surroundings;
use crate::connection::{Connection, get, post};
use crate::database::{Kind, Place};
use crate::json;
use crate::random::{Random, fresh_seed};
use crate::service::Program;

/// The number of concurrent guests.
const GUESTS: usize = 64;
/// The number of events on a page of a list.
const LISTED: usize = 200;

/// The size of the campaign.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    #[command(flatten)]
    surroundings: Surroundings,
    /// The number of slots.
    #[arg(long, default_value_t = 500)]
    slots: usize,
    /// The number of guests for each slot.
    #[arg(long, default_value_t = 20)]
    each: usize,
    /// The seed for the order of guests. Without it, every run is different.
    #[arg(long)]
    seed: Option<u64>,
}

/// Runs the campaign on both databases. Fails if a slot went to nobody, or to two guests.
pub(crate) async fn run(options: &Options) -> Result<()> {
    let seed = options.seed.unwrap_or_else(fresh_seed);
    // SQLite has one server process. Postgres has two.
    for (kind, servers) in [(Kind::Sqlite, 1), (Kind::Postgres, 2)] {
        let place = Place::new(kind, options.surroundings.postgres.as_deref()).await?;
        println!(
            "bookings: {} slots, {} attempts on each, {servers} servers on {kind}, --seed {seed}",
            options.slots, options.each
        );
        match campaign(options, &place, servers, seed).await {
            Ok(report) => {
                println!("bookings: {report}");
                place.remove().await?;
            }
            Err(error) => {
                return Err(error.context(format!("the campaign failed; kept for inspection: {}", place.leave())));
            }
        }
    }
    Ok(())
}

async fn campaign(options: &Options, place: &Place, count: usize, seed: u64) -> Result<String> {
    let program = Program::kalends(&options.surroundings.server()?, place);
    let mut servers = Vec::with_capacity(count);
    while servers.len() < count {
        servers.push(program.start().await?);
    }
    let key = program.create_organization("Bookings").await?;
    let mut owner = Connection::open(servers[0].address).await?;
    let calendar = made(&mut owner, &key, "/v1/calendars", &json!({ "name": "Desk", "timezone": "UTC" })).await?;
    let calendar = json::text(&calendar, "id")?.to_owned();
    // A quarter of an hour each, so there are 96 a day.
    let window = options.slots / 96 + 2;
    let page = json!({ "calendar_id": calendar, "title": "Desk", "duration_minutes": 15, "window_days": window });
    let page = made(&mut owner, &key, "/v1/booking-pages", &page).await?;
    let book = format!("/book/{}", json::text(&page, "slug")?);
    let offered = owner.ask(&get(&format!("{book}/slots"), None)).await?.json(200)?;
    let offered = offered["slots"].as_array().context("no slots")?;
    // The first slots begin in a moment, and would be over when a guest wants them.
    let wanted: Vec<&str> =
        offered.iter().skip(2).take(options.slots).filter_map(|slot| slot["start"].as_str()).collect();
    ensure!(wanted.len() == options.slots, "only {} slots are offered", wanted.len());

    let requests = Arc::new(shuffled(&book, &wanted, options.each, Random::new(seed)));
    let addresses: Vec<SocketAddr> = servers.iter().map(|server| server.address).collect();
    let (begun, next) = (Instant::now(), Arc::new(AtomicUsize::new(0)));
    let mut guests = JoinSet::new();
    for guest in 0..GUESTS {
        let address = addresses[guest % addresses.len()];
        guests.spawn(attempt(address, Arc::clone(&requests), Arc::clone(&next)));
    }
    let mut statuses: BTreeMap<u16, usize> = BTreeMap::new();
    while let Some(ended) = guests.join_next().await {
        for (status, count) in ended?? {
            *statuses.entry(status).or_default() += count;
        }
    }
    let seconds = begun.elapsed().as_secs_f64();
    let expected = BTreeMap::from([(201, options.slots), (409, options.slots * (options.each - 1))]);
    ensure!(statuses == expected, "the answers are {statuses:?} instead of {expected:?}");
    // The first connection has been idle for too long.
    let starts = booked(&mut Connection::open(servers[0].address).await?, &key, &calendar).await?;
    let mut sought: Vec<String> = wanted.iter().map(|start| (*start).to_owned()).collect();
    sought.sort();
    ensure!(starts == sought, "the {} events are not the {} wanted slots", starts.len(), sought.len());
    for server in servers {
        server.stop().await?;
    }
    Ok(format!("{} booked, each once; {:.0} attempts a second", starts.len(), requests.len() as f64 / seconds))
}

/// Creates something as the owner of the key.
async fn made(connection: &mut Connection, key: &str, target: &str, body: &Value) -> Result<Value> {
    connection.ask(&post(target, Some(key), None, &body.to_string())).await?.json(201)
}

/// `each` attempts at every slot, in an order that the seed decides.
fn shuffled(book: &str, wanted: &[&str], each: usize, mut random: Random) -> Vec<Vec<u8>> {
    let mut requests: Vec<Vec<u8>> = (0..each)
        .flat_map(|guest| {
            wanted.iter().map(move |start| {
                let body = json!({ "name": format!("Guest {guest}"), "email": "guest@example.com", "start": start });
                post(book, None, None, &body.to_string())
            })
        })
        .collect();
    for index in (1..requests.len()).rev() {
        let other = usize::try_from(random.below(index as u64 + 1)).unwrap_or(index);
        requests.swap(index, other);
    }
    requests
}

/// Sends requests until all are sent, and counts the answers by status.
async fn attempt(
    address: SocketAddr,
    requests: Arc<Vec<Vec<u8>>>,
    next: Arc<AtomicUsize>,
) -> Result<BTreeMap<u16, usize>> {
    let mut connection = Connection::open(address).await?;
    let mut answers = BTreeMap::new();
    while let Some(request) = requests.get(next.fetch_add(1, Ordering::Relaxed)) {
        let (status, _) = connection.exchange(request).await?;
        *answers.entry(status).or_default() += 1;
    }
    Ok(answers)
}

/// The starts of the calendar's events, in order.
async fn booked(connection: &mut Connection, key: &str, calendar: &str) -> Result<Vec<String>> {
    let mut starts = Vec::new();
    loop {
        let target = format!("/v1/calendars/{calendar}/events?limit={LISTED}&offset={}", starts.len());
        let page = connection.ask(&get(&target, Some(key))).await?.json(200)?;
        let data = page["data"].as_array().context("no list")?;
        if data.is_empty() {
            return Ok(starts);
        }
        starts.extend(data.iter().filter_map(|event| event["startTime"].as_str().map(str::to_owned)));
    }
}
