//! `timers`: several workers on one Postgres database send what falls due. Some are killed, and every reminder, start,
//! end and expiry must be sent exactly once.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use kalends_time::SignedDuration;
use sqlx::{Connection as _, PgConnection};

use crate::Surroundings;
use crate::connection::{Connection, post};
use crate::database::{Kind, Place};
use crate::json;
use crate::random::{Random, fresh_seed};
use crate::service::{Process, Program};

/// A timestamp of the service, as opposed to an `Instant` of this machine.
type Moment = kalends_time::Timestamp;

/// The number of workers.
const WORKERS: usize = 3;
/// The number of events that one request creates.
const BATCH: u32 = 100;
/// How far ahead the first event is when it is created. This is longer than creating all events takes.
const AHEAD: SignedDuration = SignedDuration::minutes(12);
/// How long before the first start the workers begin, by their clocks. The first reminders are already late by then.
const HEAD_START: SignedDuration = SignedDuration::seconds(15);
/// The length of an event in seconds.
const LASTS: i64 = 5;
/// How long after the last due time everything must have been sent. The claims of a killed worker have to run out
/// first.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long to wait between two checks.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// The size of the campaign.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    #[command(flatten)]
    surroundings: Surroundings,
    /// The number of events. Each has a reminder, a start and an end.
    #[arg(long, default_value_t = 3_000)]
    events: u32,
    /// The number of holds that expire.
    #[arg(long, default_value_t = 1_000)]
    holds: u32,
    /// The number of seconds over which the starts are spread. 0 means all at once.
    #[arg(long, default_value_t = 60)]
    seconds: u32,
    /// The number of kills.
    #[arg(long, default_value_t = 30)]
    kills: u32,
    /// The seed for the choice of workers and times. Without it, every run is different.
    #[arg(long)]
    seed: Option<u64>,
}

/// Runs the campaign, and fails if anything was sent twice or not at all.
pub(crate) async fn run(options: &Options) -> Result<()> {
    let place = Place::new(Kind::Postgres, options.surroundings.postgres.as_deref()).await?;
    let seed = options.seed.unwrap_or_else(fresh_seed);
    let timers = 3 * options.events + options.holds;
    println!("timers: {timers} over {WORKERS} workers, {} kills, --seed {seed}", options.kills);
    match campaign(options, &place, seed).await {
        Ok(report) => {
            println!("timers: {report}");
            place.remove().await
        }
        Err(error) => Err(error.context(format!("the campaign failed; kept for inspection: {}", place.leave()))),
    }
}

async fn campaign(options: &Options, place: &Place, seed: u64) -> Result<String> {
    let kalends = Program::kalends(&options.surroundings.server()?, place);
    let with = |flag: &str| Program { arguments: vec!["serve".into(), flag.into()], ..kalends.clone() };
    let server = with("--no-workers").start().await?;
    let key = kalends.create_organization("Timers").await?;
    let first = fill(options, &server, &key).await?;

    let mut workers = with("--workers-only");
    let now = server.present().await?;
    let offset = (first - HEAD_START - now).as_seconds();
    workers.environment.push(("KALENDS_CLOCK_OFFSET_SECONDS", offset.to_string()));
    let begun = Instant::now();
    let mut running = Vec::with_capacity(WORKERS);
    while running.len() < WORKERS {
        running.push(workers.start().await?);
    }
    kill_some(options, &workers, &mut running, Random::new(seed)).await?;
    let mut database = PgConnection::connect(place.url().context("this campaign needs Postgres")?).await?;
    let lasts = Duration::from_secs(u64::from(options.seconds) + u64::try_from(HEAD_START.as_seconds() + LASTS)?);
    while count(&mut database, "timers").await? > 0 {
        ensure!(begun.elapsed() < lasts + PATIENCE, "{} timers are left", count(&mut database, "timers").await?);
        tokio::time::sleep(LOOK_AGAIN).await;
    }
    let elapsed = begun.elapsed();
    for worker in running {
        worker.stop().await?;
    }
    server.stop().await?;
    let report = judge(options, &mut database, first).await?;
    database.close().await?;
    Ok(format!("{report} {} workers killed, {:.0} s in all.", options.kills, elapsed.as_secs_f64()))
}

/// Creates everything that falls due, and returns the start of the first event.
async fn fill(options: &Options, server: &Process, key: &str) -> Result<Moment> {
    let mut connection = Connection::open(server.address).await?;
    // Messages are stored only if there is an endpoint, whatever it subscribes to.
    let listener = r#"{"url":"https://kalends.invalid/","events":["webhook.deactivated"]}"#;
    connection.ask(&post("/v1/webhooks", Some(key), None, listener)).await?.json(201)?;
    let body = r#"{"name":"Timers","timezone":"UTC"}"#;
    let calendar = connection.ask(&post("/v1/calendars", Some(key), None, body)).await?.json(201)?;
    let path = format!("/v1/calendars/{}/events", json::text(&calendar, "id")?);
    let first = server.present().await? + AHEAD;
    // Whole seconds, so that everything is due at the same time if the starts are not spread.
    let first = Moment::from_micros(first.as_unix_seconds() * 1_000_000);
    let spread = |number: u32, all: u32| {
        SignedDuration::micros(i64::from(options.seconds) * 1_000_000 * i64::from(number) / i64::from(all))
    };
    for batch in (0..options.events).step_by(usize::try_from(BATCH)?) {
        let event = |number: u32| {
            let start = first + spread(number, options.events);
            let (start, end) = (start, start + SignedDuration::seconds(LASTS));
            format!(r#"{{"title":"x","start_time":"{start}","end_time":"{end}","reminders":[1]}}"#)
        };
        let events: Vec<String> = (batch..(batch + BATCH).min(options.events)).map(event).collect();
        let body = format!(r#"{{"events":[{}]}}"#, events.join(","));
        connection.ask(&post(&format!("{path}/batch"), Some(key), None, &body)).await?.json(201)?;
    }
    for number in 0..options.holds {
        // Each at a different time, long afterwards.
        let start = first + SignedDuration::days(1) + SignedDuration::minutes(i64::from(number));
        let (start, end) = (start, start + SignedDuration::minutes(1));
        let until = first + spread(number, options.holds);
        let body = format!(r#"{{"title":"x","start_time":"{start}","end_time":"{end}","hold_expires_at":"{until}"}}"#);
        connection.ask(&post(&path, Some(key), None, &body)).await?.json(201)?;
    }
    Ok(first)
}

/// Kills a worker and starts another in its place, as often as configured, at random times while things fall due.
async fn kill_some(options: &Options, program: &Program, workers: &mut Vec<Process>, mut random: Random) -> Result<()> {
    let lasts = u64::from(options.seconds) + u64::try_from(HEAD_START.as_seconds() + LASTS)?;
    let share = Duration::from_secs(lasts) / options.kills.max(1);
    for _ in 0..options.kills {
        let begun = Instant::now();
        tokio::time::sleep(random.between(Duration::ZERO, share)).await;
        let which = usize::try_from(random.below(WORKERS as u64))?;
        workers.remove(which).kill()?;
        workers.push(program.start().await?);
        tokio::time::sleep(share.saturating_sub(begun.elapsed())).await;
    }
    Ok(())
}

async fn count(database: &mut PgConnection, of: &'static str) -> Result<i64> {
    let statement = match of {
        "timers" => "SELECT count(*) FROM timers",
        "cancelled" => "SELECT count(*) FROM events WHERE status = 'cancelled' AND version = 2",
        _ => "SELECT count(*) FROM events WHERE status = 'confirmed' AND version = 1",
    };
    Ok(sqlx::query_scalar(statement).fetch_one(database).await?)
}

/// Compares the messages with what was due.
async fn judge(options: &Options, database: &mut PgConnection, first: Moment) -> Result<String> {
    let (events, holds) = (i64::from(options.events), i64::from(options.holds));
    for (event_type, expected) in [
        ("event.reminder", events),
        ("event.started", events),
        ("event.ended", events),
        ("event.hold_expired", holds),
        ("event.hold_created", holds),
        ("event.created", events),
    ] {
        let sent: i64 = sqlx::query_scalar("SELECT count(*) FROM outbox WHERE event_type = $1")
            .bind(event_type)
            .fetch_one(&mut *database)
            .await?;
        ensure!(sent == expected, "{sent} messages of the type {event_type} instead of {expected}");
    }
    let (cancelled, confirmed) = (count(database, "cancelled").await?, count(database, "confirmed").await?);
    ensure!((cancelled, confirmed) == (holds, events), "{cancelled} holds expired, {confirmed} events remained");

    // Messages are sealed, so they cannot be matched with events. Sorted, the starts and their messages are as late as
    // they are one by one.
    let sent_at: Vec<i64> =
        sqlx::query_scalar("SELECT created_at FROM outbox WHERE event_type = 'event.started' ORDER BY created_at")
            .fetch_all(&mut *database)
            .await?;
    let due = |number: usize| {
        let spread = i64::from(options.seconds) * 1_000_000 * i64::try_from(number)? / events;
        Ok::<_, anyhow::Error>(first.as_micros() + spread)
    };
    let mut late = Vec::with_capacity(sent_at.len());
    for (number, sent) in sent_at.iter().enumerate() {
        late.push(sent - due(number)?);
    }
    late.sort_unstable();
    let quantile = |percent: usize| late.get(late.len() * percent / 100).copied().unwrap_or(0) / 1_000;
    let (half, most) = (quantile(50), quantile(99));
    Ok(format!("{} sent once each; starts late by {half} ms (median), {most} ms (99 of 100).", 3 * events + holds))
}
