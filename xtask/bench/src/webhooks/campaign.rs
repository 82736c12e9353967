//! `deliveries`: kills processes that deliver webhooks. Every message must arrive, and a repeated one must have the
//! identifier of its first delivery.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use kalends_worker::UNRECORDED_MAX;
use tokio::task::JoinSet;

use super::receiver::Receiver;
use super::scene::{BATCH, Scene};
use crate::Surroundings;
use crate::connection::Connection;
use crate::database::{Kind, Place};
use crate::random::{Random, fresh_seed};
use crate::service::{Process, Program};

/// The number of organizations, each with one endpoint. The claims of a killed process block some of them for a while,
/// and the others continue.
const ORGANIZATIONS: u16 = 20;
/// The number of delivering processes on Postgres.
const WORKERS: usize = 2;
/// How long the last message may take after the last kill: the claims of killed processes have to run out, and retries
/// follow.
const PATIENCE: Duration = Duration::from_secs(420);
/// How long a writer waits for its server before it tries again.
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// The size of the campaign.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    #[command(flatten)]
    surroundings: Surroundings,
    /// The number of messages on each database.
    #[arg(long, default_value_t = 100_000)]
    messages: usize,
    /// The number of kills on each database.
    #[arg(long, default_value_t = 50)]
    kills: u64,
    /// The seed for the choice of processes. Without it, every run is different.
    #[arg(long)]
    seed: Option<u64>,
}

/// Runs the campaign on both databases. Fails if a message was lost, or repeated under another identifier.
pub(crate) async fn run(options: &Options) -> Result<()> {
    let seed = options.seed.unwrap_or_else(fresh_seed);
    println!("webhooks: {} messages and {} kills on each database, --seed {seed}", options.messages, options.kills);
    let mut failed = Vec::new();
    for kind in [Kind::Sqlite, Kind::Postgres] {
        let place = Place::new(kind, options.surroundings.postgres.as_deref()).await?;
        match campaign(options, &place, seed).await {
            Ok(report) => {
                println!("{kind}: {report}");
                place.remove().await?;
            }
            Err(error) => {
                failed.push(kind.to_string());
                println!("{kind}: FAILED: {error:#}");
                println!("{kind}: kept for inspection: {}; repeat with --seed {seed}", place.leave());
            }
        }
    }
    if failed.is_empty() { Ok(()) } else { bail!("the webhook campaign failed on {}", failed.join(" and ")) }
}

/// The processes of a campaign. The first answers requests, and on SQLite also delivers. The others only deliver.
struct Processes {
    kalends: Program,
    serving: Program,
    working: Program,
    running: Vec<Process>,
}

impl Processes {
    async fn start(options: &Options, place: &Place, receiver: &Receiver) -> Result<Self> {
        let allowed: Vec<_> = (0..ORGANIZATIONS).map(|number| receiver.at(number).to_string()).collect();
        let mut serving = Program::kalends(&options.surroundings.server()?, place);
        serving.environment.push(("KALENDS_EGRESS_ALLOW", allowed.join(",")));
        let (kalends, mut working) = (serving.clone(), serving.clone());
        if place.kind == Kind::Postgres {
            serving.arguments = vec!["serve".to_owned(), "--no-workers".to_owned()];
            working.arguments = vec!["serve".to_owned(), "--workers-only".to_owned()];
        }
        let mut running = vec![serving.start().await?];
        while place.kind == Kind::Postgres && running.len() <= WORKERS {
            running.push(working.start().await?);
        }
        let address = running[0].address;
        // It restarts at the same address, so that writers find it again.
        serving.environment.retain(|(name, _)| *name != "KALENDS_LISTEN");
        serving.environment.push(("KALENDS_LISTEN", address.to_string()));
        Ok(Self { kalends, serving, working, running })
    }

    fn server(&self) -> &Process {
        &self.running[0]
    }

    /// Kills a delivering process, and starts another in its place.
    async fn kill_one(&mut self, random: &mut Random) -> Result<()> {
        let delivering = self.running.len() as u64 - 1;
        let which = if delivering == 0 { 0 } else { 1 + usize::try_from(random.below(delivering))? };
        self.running.remove(which).kill()?;
        let program = if which == 0 { &self.serving } else { &self.working };
        self.running.insert(which, program.start().await?);
        Ok(())
    }
}

async fn campaign(options: &Options, place: &Place, seed: u64) -> Result<String> {
    let begun = Instant::now();
    let receiver = Receiver::start()?;
    let mut processes = Processes::start(options, place, &receiver).await?;
    let mut scenes = Vec::new();
    for number in 0..ORGANIZATIONS {
        let scene = Scene::set(&processes.kalends, processes.server(), &format!("Campaign {number}")).await?;
        let mut connection = Connection::open(processes.server().address).await?;
        scene.endpoint(&mut connection, receiver.at(number), "/").await?;
        scenes.push(scene);
    }

    let batches = options.messages.div_ceil(BATCH);
    let next = Arc::new(AtomicUsize::new(0));
    let mut writers = JoinSet::new();
    for scene in scenes {
        writers.spawn(write(scene, processes.server().address, Arc::clone(&next), batches));
    }
    let mut random = Random::new(seed);
    let messages = batches * BATCH;
    for number in 1..=options.kills {
        // Kills are spread over the arriving messages.
        let due = messages * usize::try_from(number)? / usize::try_from(options.kills + 1)?;
        receiver.wait_for(due, PATIENCE).await?;
        processes.kill_one(&mut random).await?;
    }
    let mut written = BTreeSet::new();
    while let Some(events) = writers.join_next().await {
        written.extend(events??);
    }
    ensure!(written.len() == messages, "{} events were written instead of {messages}", written.len());
    receiver.wait_for(messages, PATIENCE).await?;
    // Let requests in flight arrive, so that they are counted.
    for process in processes.running {
        process.stop().await?;
    }

    let seen = receiver.seen();
    let mut repeated = 0;
    for event in &written {
        let received = seen.messages.get(&(event.clone(), "/".to_owned())).context("a message was lost")?;
        let deliveries: BTreeSet<_> = received.iter().map(|received| &received.delivery).collect();
        ensure!(deliveries.len() == 1, "the message about {event} arrived with several identifiers: {deliveries:?}");
        repeated += received.len() as u64 - 1;
    }
    let most = options.kills * u64::from(ORGANIZATIONS) * UNRECORDED_MAX as u64;
    ensure!(repeated <= most, "{repeated} messages were repeated, but at most {most} were in flight at the kills");
    ensure!(
        seen.messages.len() == messages,
        "{} messages arrived, some of them about events that nobody wrote",
        seen.messages.len()
    );
    Ok(format!(
        "all {messages} messages arrived over {} kills, {repeated} of them again with the same identifier. {:.0} s \
         in all.",
        options.kills,
        begun.elapsed().as_secs_f64()
    ))
}

/// Writes batches until all are acknowledged, and returns the events.
async fn write(
    scene: Scene,
    server: std::net::SocketAddr,
    next: Arc<AtomicUsize>,
    batches: usize,
) -> Result<Vec<String>> {
    let mut connection = None;
    let mut events = Vec::new();
    loop {
        let number = next.fetch_add(1, Ordering::Relaxed);
        if number >= batches {
            return Ok(events);
        }
        let request = scene.batch(number);
        loop {
            let open = match &mut connection {
                Some(open) => open,
                none => match Connection::open(server).await {
                    Ok(open) => none.insert(open),
                    Err(_) => {
                        tokio::time::sleep(LOOK_AGAIN).await;
                        continue;
                    }
                },
            };
            match open.ask(&request).await {
                Ok(answer) => {
                    events.extend(Scene::added(&answer.json(201)?)?);
                    break;
                }
                // The server was killed. Repeat the request with the same idempotency key.
                Err(_) => connection = None,
            }
        }
    }
}
