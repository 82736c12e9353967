//! `mail`: several workers on one Postgres database send invitations, and some are killed. Each attendee must get the
//! current state of each event, and never an older one after it.

mod receiver;

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use serde_json::json;
use sqlx::{Connection as _, PgConnection};

use self::receiver::{Arrived, Receiver};
use crate::Surroundings;
use crate::connection::{Connection, patch, post};
use crate::database::{Kind, Place};
use crate::json;
use crate::random::{Random, fresh_seed};
use crate::service::{Process, Program};

/// The number of workers.
const WORKERS: usize = 3;
/// The number of attendees of an event.
const ATTENDEES: u32 = 10;
/// How long after the last change everything must have been sent. The claims of a killed worker last two minutes, and a
/// message that was refused twice waits for three.
const PATIENCE: Duration = Duration::from_secs(400);
/// How long to wait between two checks.
const LOOK_AGAIN: Duration = Duration::from_millis(200);

/// The size of the campaign.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    #[command(flatten)]
    surroundings: Surroundings,
    /// The number of events. Each has ten attendees.
    #[arg(long, default_value_t = 250)]
    events: u32,
    /// The number of invitations that each attendee of an event gets: one, and one after each change.
    #[arg(long, default_value_t = 4)]
    versions: u32,
    /// The number of kills.
    #[arg(long, default_value_t = 30)]
    kills: u32,
    /// The number of seconds over which the kills are spread.
    #[arg(long, default_value_t = 60)]
    seconds: u32,
    /// The seed for the choice of workers, times and refusals. Without it, every run is different.
    #[arg(long)]
    seed: Option<u64>,
}

/// Runs the campaign, and fails if an invitation was lost or an old one arrived after a newer one.
pub(crate) async fn run(options: &Options) -> Result<()> {
    let place = Place::new(Kind::Postgres, options.surroundings.postgres.as_deref()).await?;
    let seed = options.seed.unwrap_or_else(fresh_seed);
    let mails = options.events * options.versions * ATTENDEES;
    println!("mail: {mails} invitations over {WORKERS} workers, {} kills, --seed {seed}", options.kills);
    match campaign(options, &place, seed).await {
        Ok(report) => {
            println!("mail: {report}");
            place.remove().await
        }
        Err(error) => Err(error.context(format!("the campaign failed; kept for inspection: {}", place.leave()))),
    }
}

async fn campaign(options: &Options, place: &Place, seed: u64) -> Result<String> {
    let mut random = Random::new(seed);
    let receiver = Receiver::start(Random::new(random.next())).await?;
    let mut kalends = Program::kalends(&options.surroundings.server()?, place);
    kalends.environment.push(("KALENDS_MAIL", format!("smtp://127.0.0.1:{}", receiver.port)));
    kalends.environment.push(("KALENDS_MAIL_LIMITS", "off".to_owned()));
    let with = |flag: &str| Program { arguments: vec!["serve".into(), flag.into()], ..kalends.clone() };
    let server = with("--no-workers").start().await?;
    let key = kalends.create_owned_organization("Mail", "owner@kalends.invalid").await?;
    let workers = with("--workers-only");
    let mut running = Vec::with_capacity(WORKERS);
    while running.len() < WORKERS {
        running.push(workers.start().await?);
    }

    let begun = Instant::now();
    let (written, killed) =
        tokio::join!(write(options, &server, &key), kill_some(options, &workers, &mut running, random));
    written.and(killed)?;
    let mut database = PgConnection::connect(place.url().context("this campaign needs Postgres")?).await?;
    let quiet = Instant::now();
    loop {
        let left: i64 = sqlx::query_scalar("SELECT count(*) FROM letters").fetch_one(&mut database).await?;
        if left == 0 {
            break;
        }
        ensure!(quiet.elapsed() < PATIENCE, "{left} messages were not sent in {PATIENCE:?}");
        tokio::time::sleep(LOOK_AGAIN).await;
    }
    let elapsed = begun.elapsed();
    for worker in running {
        worker.stop().await?;
    }
    server.stop().await?;
    database.close().await?;
    let report = judge(options, &receiver.arrived())?;
    Ok(format!("{report} {} workers killed, {:.0} s in all.", options.kills, elapsed.as_secs_f64()))
}

/// Creates the events and changes each of them, with invitations.
async fn write(options: &Options, server: &Process, key: &str) -> Result<()> {
    let mut connection = Connection::open(server.address).await?;
    let body = json!({ "name": "Mail", "timezone": "UTC" });
    let calendar = done(&mut connection, &post("/v1/calendars", Some(key), None, &body.to_string()), 201).await?;
    let path = format!("/v1/calendars/{calendar}/events");
    let mut events = Vec::with_capacity(options.events as usize);
    for version in 1..=options.versions {
        for event in 0..options.events {
            let title = title(event, version);
            let made = match events.get(event as usize) {
                Some(id) => {
                    let body = json!({ "title": title, "send_invitations": true });
                    done(&mut connection, &patch(&format!("/v1/events/{id}"), key, &body.to_string()), 200).await
                }
                None => {
                    let attendees: Vec<_> =
                        (0..ATTENDEES).map(|attendee| json!({ "email": address(event, attendee) })).collect();
                    let body = json!({
                        "title": title, "start_time": "2090-05-05T10:00:00Z", "end_time": "2090-05-05T11:00:00Z",
                        "attendees": attendees, "send_invitations": true
                    });
                    done(&mut connection, &post(&path, Some(key), None, &body.to_string()), 201).await
                }
            };
            if version == 1 {
                events.push(made?);
            } else {
                made?;
            }
        }
    }
    Ok(())
}

/// Sends a request, and returns the identifier of what it made or changed.
async fn done(connection: &mut Connection, request: &[u8], status: u16) -> Result<String> {
    let answer = connection.ask(request).await?.json(status)?;
    Ok(json::text(&answer, "id")?.to_owned())
}

/// The title of an event, which the subjects of its invitations end with.
fn title(event: u32, version: u32) -> String {
    format!("{event}-{version}")
}

fn address(event: u32, attendee: u32) -> String {
    format!("a{attendee}@e{event}.kalends.invalid")
}

/// Kills a worker and starts another in its place, as often as configured, at random times.
async fn kill_some(options: &Options, program: &Program, workers: &mut Vec<Process>, mut random: Random) -> Result<()> {
    let share = Duration::from_secs(options.seconds.into()) / options.kills.max(1);
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

/// Compares what arrived with what was written.
fn judge(options: &Options, arrived: &Arrived) -> Result<String> {
    let (mut total, mut repeated) = (0, 0);
    for event in 0..options.events {
        for attendee in 0..ATTENDEES {
            let address = address(event, attendee);
            let subjects = arrived.get(&address).with_context(|| format!("nothing arrived at {address}"))?;
            let mut versions = Vec::with_capacity(subjects.len());
            for subject in subjects {
                let (of, version) = subject.split_once('-').with_context(|| format!("a subject {subject}"))?;
                ensure!(of.parse() == Ok(event), "{address} got a message about event {of}");
                versions.push(version.parse::<u32>()?);
            }
            ensure!(versions.is_sorted(), "{address} got an old message after a newer one: {versions:?}");
            ensure!(versions.last() == Some(&options.versions), "{address} did not get the last message: {versions:?}");
            total += versions.len();
            versions.dedup();
            repeated += subjects.len() - versions.len();
        }
    }
    ensure!(arrived.len() == (options.events * ATTENDEES) as usize, "{} addresses got messages", arrived.len());
    let written = (options.events * options.versions * ATTENDEES) as usize;
    let replaced = written + repeated - total;
    Ok(format!(
        "{total} of {written} invitations arrived, {repeated} of them again; {replaced} that had to wait were replaced by \
         newer ones; nobody got an old one after a newer one."
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        options: Options,
    }

    fn judged(of_first: &[&str]) -> Result<String> {
        let line = Line::parse_from(["mail", "--events", "1", "--versions", "3"]);
        let mut arrived: Arrived =
            (1..ATTENDEES).map(|attendee| (address(0, attendee), vec!["0-3".to_owned()])).collect();
        arrived.insert(address(0, 0), of_first.iter().map(|subject| (*subject).to_owned()).collect());
        judge(&line.options, &arrived)
    }

    #[test]
    fn the_last_version_must_arrive_and_none_after_it() {
        assert!(judged(&["0-1", "0-2", "0-2", "0-3"]).unwrap().starts_with("13 of 30 invitations arrived, 1 of them"));
        for wrong in [&["0-1", "0-3", "0-2"][..], &["0-1", "0-2"], &["0-3", "0-1"], &["1-3"], &[]] {
            assert!(judged(wrong).is_err(), "{wrong:?}");
        }
    }
}
