//! `crash`: kills the server while it writes, starts it again, and looks for everything that it had acknowledged.
//!
//! Each round writes to its own calendar, so a round's check reads what the round wrote. A sample of the earlier
//! calendars is read again each time, and all of them at the end.

mod check;
mod writer;

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use serde_json::json;
use tokio::task::JoinSet;

use self::check::{Findings, check_calendar};
use self::writer::{Ledger, Outcome, Write, Writer};
use crate::Surroundings;
use crate::connection::{Connection, post};
use crate::database::{Kind, Place};
use crate::json;
use crate::random::{Random, fresh_seed};
use crate::service::Program;

/// The number of concurrent writers.
const WRITERS: u64 = 8;
/// The range of times at which the server is killed after the first write.
const SOONEST: Duration = Duration::from_millis(50);
const LATEST: Duration = Duration::from_millis(600);
/// One in this many starts is killed before it has finished.
const KILLED_STARTS: u64 = 8;
/// The latest time at which such a start is killed.
const START_LATEST: Duration = Duration::from_millis(120);
/// The most answered requests that are repeated after the crash.
const REPEATED: usize = 8;

/// How often the server is killed.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    #[command(flatten)]
    surroundings: Surroundings,
    /// The number of kills on SQLite.
    #[arg(long, default_value_t = 20)]
    sqlite: u64,
    /// The number of kills on Postgres.
    #[arg(long, default_value_t = 10)]
    postgres: u64,
    /// The seed for the times of the kills. Without it, every run is different.
    #[arg(long)]
    seed: Option<u64>,
}

/// One server, which is killed repeatedly.
struct Campaign {
    program: Program,
    key: String,
    agent: String,
    random: Random,
    /// The writes to each calendar.
    ledgers: BTreeMap<String, Ledger>,
    totals: Totals,
}

/// The totals of all rounds.
#[derive(Debug, Default)]
struct Totals {
    acknowledged: u64,
    unanswered: u64,
    /// The unanswered events that exist anyway.
    unanswered_present: u64,
    repeated: u64,
    replayed: u64,
    killed_starts: u64,
    slowest_start: Duration,
}

/// Runs the campaign on each database, and fails if anything was lost.
pub(crate) async fn run(options: &Options) -> Result<()> {
    let server = options.surroundings.server()?;
    let seed = options.seed.unwrap_or_else(fresh_seed);
    println!("crash: {} rounds on SQLite, {} on Postgres, --seed {seed}", options.sqlite, options.postgres);
    let mut lost = Vec::new();
    for (kind, rounds) in [(Kind::Sqlite, options.sqlite), (Kind::Postgres, options.postgres)] {
        if rounds == 0 {
            continue;
        }
        let place = Place::new(kind, options.surroundings.postgres.as_deref()).await?;
        match campaign(&server, &place, rounds, seed).await {
            Ok(report) => {
                println!("{report}");
                place.remove().await?;
            }
            Err(error) => {
                lost.push(kind.to_string());
                println!("{kind}: FAILED: {error:#}");
                println!("{kind}: kept for inspection: {}; repeat with --seed {seed}", place.leave());
            }
        }
    }
    if lost.is_empty() { Ok(()) } else { bail!("the crash campaign failed on {}", lost.join(" and ")) }
}

async fn campaign(server: &Path, place: &Place, rounds: u64, seed: u64) -> Result<String> {
    let begun = Instant::now();
    let program = Program::kalends(server, place);
    let mut campaign = Campaign::prepare(program, seed).await?;
    for round in 1..=rounds {
        let line = campaign.round(round).await.with_context(|| format!("round {round}"))?;
        println!("{}: round {round}/{rounds}: {line}", place.kind);
    }
    campaign.check_everything().await.context("after the last round")?;
    let Totals { acknowledged, unanswered, unanswered_present, repeated, replayed, killed_starts, slowest_start } =
        campaign.totals;
    Ok(format!(
        "{}: {rounds} kills, nothing lost: all {acknowledged} acknowledged events exist, once each. \
         {unanswered} events were sent without an answer, of which {unanswered_present} exist, once each. \
         {repeated} requests were repeated under their Idempotency-Key, {replayed} of them were replayed. \
         {killed_starts} starts were killed too; the slowest start took {:.0} ms. {:.0} s in all.",
        place.kind,
        slowest_start.as_secs_f64() * 1000.0,
        begun.elapsed().as_secs_f64(),
    ))
}

impl Campaign {
    /// Creates the organization and its agent.
    async fn prepare(program: Program, seed: u64) -> Result<Self> {
        let service = program.start().await?;
        let key = program.create_organization("Crash").await?;
        let mut connection = Connection::open(service.address).await?;
        let body = json!({ "name": "Writer", "type": "ai" }).to_string();
        let agent = connection.ask(&post("/v1/agents", Some(&key), None, &body)).await?.json(201)?;
        let agent = json::text(&agent, "id")?.to_owned();
        service.kill()?;
        Ok(Self { program, key, agent, random: Random::new(seed), ledgers: BTreeMap::new(), totals: Totals::default() })
    }

    /// Starts the server, writes, kills it, starts it again and checks the result.
    async fn round(&mut self, round: u64) -> Result<String> {
        let service = self.start().await?;
        let mut connection = Connection::open(service.address).await?;
        let body = json!({ "name": format!("Round {round}"), "timezone": "UTC" }).to_string();
        let target = format!("/v1/agents/{}/calendars", self.agent);
        let calendar = connection.ask(&post(&target, Some(&self.key), None, &body)).await?.json(201)?;
        let calendar = json::text(&calendar, "id")?.to_owned();

        let mut writers = JoinSet::new();
        for number in 0..WRITERS {
            let seed = self.random.next();
            let writer = Writer { address: service.address, key: self.key.clone(), calendar: calendar.clone() };
            writers.spawn(async move { writer.write(round, number, seed).await });
        }
        let lives = self.random.between(SOONEST, LATEST);
        tokio::time::sleep(lives).await;
        service.kill()?;
        let mut ledger = Ledger::default();
        while let Some(written) = writers.join_next().await {
            ledger.extend(written??);
        }

        self.kill_a_start_now_and_then().await?;
        let service = self.start().await?;
        let mut connection = Connection::open(service.address).await?;
        let before = check_calendar(&mut connection, &self.key, &calendar, &ledger).await?;
        self.repeat(&mut connection, &calendar, &mut ledger).await.context("repeating requests")?;
        check_calendar(&mut connection, &self.key, &calendar, &ledger).await.context("after requests were repeated")?;
        self.look_back(&mut connection).await?;
        // Killed without requests in flight: the next round must find this round's events anyway.
        service.kill()?;
        Ok(self.account(lives, calendar, ledger, before))
    }

    async fn start(&mut self) -> Result<crate::service::Process> {
        let service = self.program.start().await?;
        let took = service.first_answer().await?;
        self.totals.slowest_start = self.totals.slowest_start.max(took);
        Ok(service)
    }

    /// Kills some starts, because a crash may happen while the server still recovers from the previous one.
    async fn kill_a_start_now_and_then(&mut self) -> Result<()> {
        if self.random.one_in(KILLED_STARTS) {
            let mut child = self.program.spawn()?;
            tokio::time::sleep(self.random.between(Duration::ZERO, START_LATEST)).await;
            child.kill()?;
            child.wait()?;
            self.totals.killed_starts += 1;
        }
        Ok(())
    }

    /// Repeats half of the unanswered requests with the same idempotency key, and some of the answered ones.
    async fn repeat(&mut self, connection: &mut Connection, calendar: &str, ledger: &mut Ledger) -> Result<()> {
        let mut answered_ones = REPEATED;
        for (write, outcome) in ledger.writes_mut() {
            let answered = outcome.is_acknowledged();
            let again = if answered { answered_ones > 0 && self.random.one_in(4) } else { self.random.one_in(2) };
            if !again {
                continue;
            }
            let answer = connection.ask(&write.request(&self.key, calendar)).await?;
            let ids = write.acknowledged(&answer)?;
            self.totals.repeated += 1;
            self.totals.replayed += u64::from(answer.replayed);
            if let Outcome::Acknowledged(first) = outcome {
                answered_ones -= 1;
                if !answer.replayed || *first != ids {
                    bail!("{} was acknowledged as {first:?}, and repeated as {ids:?}", write.name());
                }
            }
            *outcome = Outcome::Acknowledged(ids);
        }
        Ok(())
    }

    /// Checks one of the earlier calendars.
    async fn look_back(&mut self, connection: &mut Connection) -> Result<()> {
        let count = self.ledgers.len() as u64;
        if count > 0
            && let Some((calendar, ledger)) = self.ledgers.iter().nth(usize::try_from(self.random.below(count))?)
        {
            check_calendar(connection, &self.key, calendar, ledger).await.context("in an earlier round's calendar")?;
        }
        Ok(())
    }

    fn account(&mut self, lives: Duration, calendar: String, ledger: Ledger, before: Findings) -> String {
        let Findings { acknowledged, unanswered, unanswered_present } = before;
        self.totals.acknowledged += acknowledged;
        self.totals.unanswered += unanswered;
        self.totals.unanswered_present += unanswered_present;
        self.ledgers.insert(calendar, ledger);
        format!(
            "killed after {:.0} ms, {acknowledged} acknowledged, {unanswered} without an answer, of which {unanswered_present} exist",
            lives.as_secs_f64() * 1000.0
        )
    }

    async fn check_everything(&mut self) -> Result<()> {
        let service = self.start().await?;
        let mut connection = Connection::open(service.address).await?;
        for (calendar, ledger) in &self.ledgers {
            check_calendar(&mut connection, &self.key, calendar, ledger).await?;
        }
        service.stop().await
    }
}

impl Write {
    /// The name of the write in a report.
    fn name(&self) -> &str {
        self.titles.first().map_or("an empty write", String::as_str)
    }
}
