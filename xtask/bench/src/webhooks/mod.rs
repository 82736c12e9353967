//! `webhooks`: the speed of deliveries, compared with the same client in a bare loop; the effect of endpoints that
//! never answer on others; and the cost of a subscriber for changes.

pub(crate) mod campaign;
mod receiver;
mod scene;

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, anyhow, ensure};
use kalends_egress::{Allowed, Egress, Exchange, HeaderValue, Method, Settings, SystemResolver, header};
use kalends_remote::RemoteUrl;
use tokio::task::JoinSet;

use self::receiver::{HANGING, Receiver};
use self::scene::{BATCH, Scene};
use crate::Surroundings;
use crate::connection::Connection;
use crate::database::{Kind, Place};
use crate::figures::median;
use crate::load::Requests;
use crate::service::{Process, Program};

/// The number of messages per second that is sufficient in any case.
const ENOUGH: f64 = 2_000.0;
/// The minimum share of the speed of the same client in a bare loop.
const PART_OF_LOOP: f64 = 0.5;
/// The minimum share of the changes per second that must remain with a subscriber.
const PART_WITH_SUBSCRIBER: f64 = 0.75;
/// The maximum 99th percentile of the delay next to endpoints that never answer.
const LATE: Duration = Duration::from_secs(2);
/// The most memory that these endpoints may take, in KiB.
const GROWTH: u64 = 50 * 1024;
/// The concurrency of the bare loop: that of the service with one host.
const AT_ONCE: usize = 8;
/// How long everything may take to arrive.
const PATIENCE: Duration = Duration::from_secs(180);
/// The number of connections that make changes.
const WRITERS: usize = 4;

/// The options of the measurement.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    #[command(flatten)]
    surroundings: Surroundings,
    /// The number of messages to deliver.
    #[arg(long, default_value_t = 20_000)]
    messages: usize,
    /// The number of endpoints that never answer.
    #[arg(long, default_value_t = 1_000)]
    hanging: u16,
    /// The number of messages for each of them.
    #[arg(long, default_value_t = 20)]
    backlog: usize,
    /// The number of messages that are sent to the answering endpoint at the same time.
    #[arg(long, default_value_t = 1_000)]
    timed: usize,
    /// The number of rounds with and without a subscriber, in turns.
    #[arg(long, default_value_t = 6)]
    rounds: usize,
}

/// Measures and prints.
pub(crate) async fn run(options: &Options) -> Result<()> {
    for kind in [Kind::Sqlite, Kind::Postgres] {
        println!("\n{kind}");
        throughput(options, kind).await.with_context(|| format!("the throughput on {kind}"))?;
        next_to_hanging(options, kind).await.with_context(|| format!("next to endpoints that hang, on {kind}"))?;
        with_subscriber(options, kind).await.with_context(|| format!("with a subscriber on {kind}"))?;
    }
    Ok(())
}

/// The configuration of a server that may reach the receiver at its first `addresses` addresses.
fn program(options: &Options, place: &Place, receiver: &Receiver, addresses: u16) -> Result<Program> {
    let mut program = Program::kalends(&options.surroundings.server()?, place);
    program.environment.push(("KALENDS_EGRESS_ALLOW", allowed(receiver, addresses)));
    Ok(program)
}

fn allowed(receiver: &Receiver, addresses: u16) -> String {
    (0..addresses).map(|number| receiver.at(number).to_string()).collect::<Vec<_>>().join(",")
}

const fn verdict(holds: bool) -> &'static str {
    if holds { "holds" } else { "does NOT hold" }
}

async fn throughput(options: &Options, kind: Kind) -> Result<()> {
    let receiver = Receiver::start()?;
    let place = Place::new(kind, options.surroundings.postgres.as_deref()).await?;
    let program = program(options, &place, &receiver, 1)?;
    let server = program.start().await?;
    let scene = Scene::set(&program, &server, "Throughput").await?;
    let mut connection = Connection::open(server.address).await?;
    scene.endpoint(&mut connection, receiver.at(0), "/").await?;
    let messages = options.messages.div_ceil(BATCH) * BATCH;
    add_batches(&server, &scene, messages / BATCH).await?;
    receiver.wait_for(messages, PATIENCE).await?;
    let delivered = rate(&receiver)?;
    server.stop().await?;
    place.remove().await?;

    receiver.forget();
    bare_loop(&receiver, messages / 2).await?;
    let bare = rate(&receiver)?;
    println!(
        "  {messages} messages to one endpoint: {delivered:.0} a second, {:.2} of the {bare:.0} of a bare loop; at \
         least {ENOUGH:.0} or {PART_OF_LOOP} {}",
        delivered / bare,
        verdict(delivered >= ENOUGH.min(PART_OF_LOOP * bare))
    );
    Ok(())
}

/// The requests per second between the first and the last one received.
#[expect(clippy::cast_precision_loss, reason = "far fewer than 2^52 requests")]
fn rate(receiver: &Receiver) -> Result<f64> {
    let seen = receiver.seen();
    let (first, last) = seen.span.context("nothing came")?;
    Ok(seen.requests as f64 / (last - first).as_secs_f64())
}

/// Adds batches of events over several connections.
async fn add_batches(server: &Process, scene: &Scene, batches: usize) -> Result<()> {
    let next = Arc::new(AtomicUsize::new(0));
    let mut writers = JoinSet::new();
    for _ in 0..WRITERS {
        let (next, scene) = (Arc::clone(&next), scene.clone());
        let mut connection = Connection::open(server.address).await?;
        writers.spawn(async move {
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= batches {
                    return anyhow::Ok(());
                }
                connection.ask(&scene.batch(number)).await?.json(201)?;
            }
        });
    }
    while let Some(written) = writers.join_next().await {
        written??;
    }
    Ok(())
}

/// Sends requests of the same kind with the service's client, and does nothing else.
async fn bare_loop(receiver: &Receiver, messages: usize) -> Result<()> {
    let at = receiver.at(0);
    let settings = Settings {
        user_agent: "Kalends/bench".to_owned(),
        per_host: NonZeroUsize::new(AT_ONCE).context("at least one")?,
    };
    let allowed = Allowed::new([(at.ip().to_string(), at.port())]);
    let egress = Arc::new(Egress::new(allowed, Arc::new(SystemResolver::default()), &settings)?);
    let url = RemoteUrl::parse("url", &format!("http://{at}/"), |_, _| true).map_err(|error| anyhow!(error.message))?;
    let next = Arc::new(AtomicUsize::new(0));
    let mut loops = JoinSet::new();
    for _ in 0..AT_ONCE {
        let (next, egress, url) = (Arc::clone(&next), Arc::clone(&egress), url.clone());
        loops.spawn(async move {
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= messages {
                    return anyhow::Ok(());
                }
                let mut exchange = Exchange::new(Method::POST, url.clone(), Duration::from_secs(15), 16 << 10);
                // About the length of an event.
                exchange.body = format!("{{\"id\":\"evt_{number}\",\"filler\":\"{:600}\"}}", "").into();
                exchange.headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
                let reply = egress.send(exchange).await?;
                ensure!(reply.status.is_success(), "the receiver answered {}", reply.status);
            }
        });
    }
    while let Some(ended) = loops.join_next().await {
        ended??;
    }
    Ok(())
}

async fn next_to_hanging(options: &Options, kind: Kind) -> Result<()> {
    let receiver = Receiver::start()?;
    let place = Place::new(kind, options.surroundings.postgres.as_deref()).await?;
    let program = program(options, &place, &receiver, options.hanging + 1)?;
    let server = program.start().await?;
    let hanging = Scene::set(&program, &server, "Hanging").await?;
    let healthy = Scene::set(&program, &server, "Healthy").await?;
    let mut connection = Connection::open(server.address).await?;
    for number in 1..=options.hanging {
        hanging.endpoint(&mut connection, receiver.at(number), HANGING).await?;
    }
    healthy.endpoint(&mut connection, receiver.at(0), "/").await?;
    // First deliver as many messages that arrive: memory that the service and its database keep after any work does
    // not count against the endpoints that hang.
    let warm = (usize::from(options.hanging) * options.backlog).div_ceil(BATCH) * BATCH;
    add_batches(&server, &healthy, warm / BATCH).await?;
    receiver.wait_for(warm, PATIENCE).await?;
    let before = server.resident()?;
    for number in 0..options.backlog {
        connection.ask(&hanging.event(number)).await?.json(201)?;
    }
    let mut made = Vec::with_capacity(options.timed);
    for number in 0..options.timed {
        let event = connection.ask(&healthy.event(number)).await?.json(201)?;
        made.push((crate::json::text(&event, "id")?.to_owned(), Instant::now()));
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    receiver.wait_for(warm + options.timed, PATIENCE).await?;
    let grown = server.resident()?.saturating_sub(before);
    let seen = receiver.seen().messages.clone();
    let mut delays = Vec::with_capacity(made.len());
    for (event, at) in made {
        let received =
            seen.get(&(event, "/".to_owned())).and_then(|all| all.first()).context("a message is missing")?;
        delays.push(received.at.saturating_duration_since(at));
    }
    delays.sort_unstable();
    let late = delays.get(delays.len() * 99 / 100).copied().unwrap_or_default();
    println!(
        "  next to {} endpoints that never answer, with {} messages each: half of the messages to one that does arrive \
         within {:.0} ms, 99 % within {:.0} ms; under {LATE:?} {}. {:.1} MiB more memory; under {} {}",
        options.hanging,
        options.backlog,
        delays.get(delays.len() / 2).copied().unwrap_or_default().as_secs_f64() * 1e3,
        late.as_secs_f64() * 1e3,
        verdict(late < LATE),
        f64::from(u32::try_from(grown)?) / 1024.0,
        GROWTH / 1024,
        verdict(grown < GROWTH)
    );
    server.kill()?;
    place.remove().await
}

async fn with_subscriber(options: &Options, kind: Kind) -> Result<()> {
    let receiver = Receiver::start()?;
    let place = Place::new(kind, options.surroundings.postgres.as_deref()).await?;
    let program = program(options, &place, &receiver, 1)?;
    let server = program.start().await?;
    let heard = Scene::set(&program, &server, "Heard").await?;
    let alone = Scene::set(&program, &server, "Alone").await?;
    let mut connection = Connection::open(server.address).await?;
    heard.endpoint(&mut connection, receiver.at(0), "/").await?;
    let requests = [&heard, &alone].map(|scene| Requests::shared(201, (0..5_000).map(|n| scene.event(n)).collect()));
    let mut rates = [Vec::new(), Vec::new()];
    for round in 0..=options.rounds {
        for which in if round % 2 == 0 { [0, 1] } else { [1, 0] } {
            let measured = requests[which].send(&server, Duration::from_secs(2)).await?;
            // The first round warms up.
            if round > 0 {
                rates[which].push(measured.per_second);
            }
            drained(&receiver).await;
        }
    }
    let [with, without] = &mut rates;
    let part = median(&mut with.iter().zip(without.iter()).map(|(with, without)| with / without).collect::<Vec<_>>());
    println!(
        "  POST event with a subscriber {:.0} a second, without one {:.0}: {part:.2} of it; at least \
         {PART_WITH_SUBSCRIBER} {}",
        median(with),
        median(without),
        verdict(part >= PART_WITH_SUBSCRIBER)
    );
    server.stop().await?;
    place.remove().await
}

/// Waits until nothing arrives for a while, so that the next round does not pay for this one.
async fn drained(receiver: &Receiver) {
    let mut before = None;
    loop {
        let now = receiver.seen().requests;
        if before == Some(now) {
            return;
        }
        before = Some(now);
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}
