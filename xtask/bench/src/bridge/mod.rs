//! `bridge`: two workers on one Postgres database refresh connected accounts and copy events to them, and are killed
//! again and again. No account may be forgotten, and each event must have one copy, which is current.

mod events;
mod provider;
mod seed;

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use kalends_bridge::CLAIM_LASTS;
use kalends_time::{SignedDuration, Timestamp};
use sqlx::{Connection as _, PgConnection};

use self::events::Events;
use self::provider::{Figures, Provider};
use self::seed::Published;
use crate::Surroundings;
use crate::abuse::watch::mebibytes;
use crate::database::{Kind, Place};
use crate::random::{Random, fresh_seed};
use crate::service::{Process, Program};

/// The number of workers.
const WORKERS: usize = 2;
/// The longest time between two refreshes of an account, if no worker is killed.
const EVERY: SignedDuration = SignedDuration::minutes(5);
/// How many of 100 refreshes must be on time. A kill delays at most a few of them.
const ON_TIME: usize = 95;
/// How late a refresh that is on time may begin, because workers look for due accounts once a second.
const POLL: Duration = Duration::from_secs(10);
/// How much longer the others may take, because many accounts may be due together after a kill.
const SLACK: SignedDuration = SignedDuration::minutes(2);
/// How far the clocks of the workers are set forward: all accounts are due again then, and the claims of killed workers
/// have expired.
const JUMP: SignedDuration = sum(&[CLAIM_LASTS, SLACK]);
/// The longest time between two refreshes of an account: the claim of a killed worker has to expire first.
const LONGEST: SignedDuration = sum(&[EVERY, CLAIM_LASTS, SLACK]);
/// The most requests to the provider within a second.
const REQUESTS_MAX: usize = 200;
/// The most memory of a worker, in KiB.
const MEMORY_MAX: u64 = 150 << 10;
/// How long to wait between two checks of the database, and between two looks at the provider.
const LOOK_AGAIN: Duration = Duration::from_millis(500);
const PEEK_AGAIN: Duration = Duration::from_millis(2);

/// The size of the campaign.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    #[command(flatten)]
    surroundings: Surroundings,
    /// The number of connected accounts.
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..))]
    connections: u32,
    /// The number of calendars whose events are copied, each to an account of its own.
    #[arg(long, default_value_t = 300)]
    calendars: u32,
    /// The number of organizations that have the accounts and the calendars.
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    organizations: u32,
    /// The number of changes of events.
    #[arg(long, default_value_t = 9_000)]
    changes: u32,
    /// The number of kills.
    #[arg(long, default_value_t = 30)]
    kills: u32,
    /// The number of seconds over which the kills and the changes are spread.
    #[arg(long, default_value_t = 900)]
    seconds: u32,
    /// Set the clocks of the workers forward after the last kill, instead of waiting until the claims of killed workers
    /// have expired and all accounts are due again.
    #[arg(long)]
    jump: bool,
    /// The seed for the choice of workers, times and changes. Without it, every run is different.
    #[arg(long)]
    seed: Option<u64>,
}

/// Runs the campaign, and fails if an account was forgotten, or if the copies are not those of the events.
pub(crate) async fn run(options: &Options) -> Result<()> {
    ensure!(options.calendars <= options.connections, "each calendar needs an account of its own");
    let place = Place::new(Kind::Postgres, options.surroundings.postgres.as_deref()).await?;
    let seed = options.seed.unwrap_or_else(fresh_seed);
    println!(
        "bridge: {} accounts and {} published calendars over {WORKERS} workers, {} kills, --seed {seed}",
        options.connections, options.calendars, options.kills
    );
    match campaign(options, &place, seed).await {
        Ok(report) => {
            for line in report {
                println!("bridge: {line}");
            }
            place.remove().await
        }
        Err(error) => Err(error.context(format!("the campaign failed; kept for inspection: {}", place.leave()))),
    }
}

async fn campaign(options: &Options, place: &Place, seed: u64) -> Result<Vec<String>> {
    let mut random = Random::new(seed);
    let provider = Provider::start(Random::new(random.next()))?;
    let mut kalends = Program::kalends(&options.surroundings.server()?, place);
    kalends.environment.extend(provider.environment());
    let with = |flag: &str| Program { arguments: vec!["serve".into(), flag.into()], ..kalends.clone() };
    let server = with("--no-workers").start().await?;
    let published = seed::fill(options, place, &kalends, &server).await?;

    let begun = Instant::now();
    let mut workers = Workers::start(with("--workers-only")).await?;
    let (present, writing) = (server.present().await?, Random::new(random.next()));
    let (written, killed) = tokio::join!(
        events::write(options, server.address, &published, present, writing),
        workers.kill_some(options, &provider, random)
    );
    let (events, ()) = (written?, killed?);
    let cut = provider.figures().cut;

    let ahead = if options.jump { JUMP } else { SignedDuration::ZERO };
    let since = server.present().await? + ahead;
    if options.jump {
        workers.set_forward(ahead).await?;
    }
    let mut database = PgConnection::connect(place.url().context("this campaign needs Postgres")?).await?;
    settled(&mut database, since).await?;
    database.close().await?;
    let elapsed = begun.elapsed();
    let memory = workers.stop().await?;
    server.stop().await?;
    ensure!(memory <= MEMORY_MAX, "a worker had {} MiB, more than {}", mebibytes(memory), mebibytes(MEMORY_MAX));
    let mut report = judge(options, &provider, &published, &events)?;
    report.push(format!("a worker had at most {} MiB of {}.", mebibytes(memory), mebibytes(MEMORY_MAX)));
    report.push(format!(
        "{} workers killed, which cut {cut} requests off; {:.0} s in all.",
        options.kills,
        elapsed.as_secs_f64()
    ));
    Ok(report)
}

/// The running workers.
struct Workers {
    program: Program,
    running: Vec<Process>,
    /// The most memory that one of those had that do not run any more, in KiB.
    memory: u64,
}

impl Workers {
    async fn start(program: Program) -> Result<Self> {
        let mut workers = Self { program, running: Vec::with_capacity(WORKERS), memory: 0 };
        workers.fill_up().await?;
        Ok(workers)
    }

    async fn fill_up(&mut self) -> Result<()> {
        while self.running.len() < WORKERS {
            self.running.push(self.program.start().await?);
        }
        Ok(())
    }

    /// Kills a worker and starts another in its place, as often as configured, at random times.
    async fn kill_some(&mut self, options: &Options, provider: &Provider, mut random: Random) -> Result<()> {
        let share = Duration::from_secs(options.seconds.into()) / options.kills.max(1);
        for _ in 0..options.kills {
            let begun = Instant::now();
            tokio::time::sleep(random.between(Duration::ZERO, share)).await;
            // With few accounts there may be nothing to interrupt.
            while !provider.is_asked() && begun.elapsed() < share {
                tokio::time::sleep(PEEK_AGAIN).await;
            }
            let killed = self.running.remove(usize::try_from(random.below(WORKERS as u64))?);
            self.memory = self.memory.max(killed.usage().most_resident()?);
            killed.kill()?;
            self.fill_up().await?;
            tokio::time::sleep(share.saturating_sub(begun.elapsed())).await;
        }
        Ok(())
    }

    /// Replaces the workers by others, whose clocks are ahead.
    async fn set_forward(&mut self, ahead: SignedDuration) -> Result<()> {
        self.stop_all().await?;
        self.program.environment.push(("KALENDS_CLOCK_OFFSET_SECONDS", ahead.as_seconds().to_string()));
        self.fill_up().await
    }

    /// Stops all workers, and returns the most memory that one of all workers had, in KiB.
    async fn stop(mut self) -> Result<u64> {
        self.stop_all().await?;
        Ok(self.memory)
    }

    async fn stop_all(&mut self) -> Result<()> {
        for worker in self.running.drain(..) {
            self.memory = self.memory.max(worker.usage().most_resident()?);
            worker.stop().await?;
        }
        Ok(())
    }
}

const fn sum(parts: &[SignedDuration]) -> SignedDuration {
    let (mut micros, mut place) = (0, 0);
    while place < parts.len() {
        micros += parts[place].as_micros();
        place += 1;
    }
    SignedDuration::micros(micros)
}

/// The same time, as the clock of this machine measures it.
const fn measured(time: SignedDuration) -> Duration {
    Duration::from_secs(time.as_seconds().unsigned_abs())
}

/// Waits until every account was refreshed after `since`, and every published calendar is up to date.
async fn settled(database: &mut PgConnection, since: Timestamp) -> Result<()> {
    let (quiet, longest) = (Instant::now(), measured(LONGEST));
    loop {
        let (accounts, calendars) = (forgotten(database, since).await?, waiting(database, since).await?);
        if accounts == 0 && calendars == 0 {
            return Ok(());
        }
        ensure!(
            quiet.elapsed() < longest,
            "{accounts} accounts were not refreshed and {calendars} calendars were not copied in {longest:?}"
        );
        tokio::time::sleep(LOOK_AGAIN).await;
    }
}

/// The number of accounts whose busy times were not read since then.
async fn forgotten(database: &mut PgConnection, since: Timestamp) -> Result<i64> {
    let count = sqlx::query_scalar(
        "SELECT count(*) FROM calendar_connections k
         WHERE k.refreshed_at IS NULL OR k.refreshed_at < $1 OR k.last_error IS NOT NULL OR NOT EXISTS (
             SELECT 1 FROM external_calendars x
             WHERE x.org_id = k.org_id AND x.connection_id = k.id AND x.read_at >= $1 AND x.spans IS NOT NULL
         )",
    );
    Ok(count.bind(since.as_micros()).fetch_one(database).await?)
}

/// The number of calendars that are due, are being copied or could not be copied.
async fn waiting(database: &mut PgConnection, now: Timestamp) -> Result<i64> {
    let count = sqlx::query_scalar(
        "SELECT count(*) FROM publication_destinations d
         JOIN calendars c ON c.org_id = d.org_id AND c.id = d.calendar_id
         WHERE c.publication_due_at <= $1 OR d.attempting OR d.published_at IS NULL OR d.last_error IS NOT NULL",
    );
    Ok(count.bind(now.as_micros()).fetch_one(database).await?)
}

/// Compares what arrived at the provider with what was written. Returns a line for each figure.
fn judge(options: &Options, provider: &Provider, published: &[Published], events: &[Events]) -> Result<Vec<String>> {
    let Figures { requests, most, refreshes, mut gaps, complaints, .. } = provider.figures();
    ensure!(complaints.is_empty(), "the provider could not answer all requests: {complaints:?}");
    ensure!(most <= REQUESTS_MAX, "{most} requests came within a second, more than {REQUESTS_MAX}");
    gaps.sort_unstable();
    let quantile = |percent: usize| gaps.get(gaps.len() * percent / 100).copied().unwrap_or_default();
    let (worst, longest) = (gaps.last().copied().unwrap_or_default(), measured(LONGEST));
    ensure!(worst <= longest, "an account was not refreshed for {worst:?}, longer than {longest:?}");
    let (usual, most_usual) = (quantile(ON_TIME), measured(EVERY) + POLL);
    ensure!(
        usual <= most_usual,
        "{} of 100 times between two refreshes are longer than {usual:?}; they must be at most {most_usual:?}",
        100 - ON_TIME
    );
    let mut copies = 0;
    for (of, events) in published.iter().zip(events) {
        copies += events::compare(&of.calendar, events, &provider.copies(of.account)?)?;
    }
    Ok(vec![
        format!(
            "all {} accounts were refreshed after the last kill; {refreshes} refreshes, {:.0} s apart (median), \
             {:.0} s ({ON_TIME} of 100), {:.0} s (longest).",
            options.connections,
            quantile(50).as_secs_f64(),
            usual.as_secs_f64(),
            worst.as_secs_f64()
        ),
        format!("{} changes of events left {copies} events, which have one current copy each.", options.changes),
        format!("at most {most} of {REQUESTS_MAX} requests came within a second, {requests} in all."),
    ])
}
