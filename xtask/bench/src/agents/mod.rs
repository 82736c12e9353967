//! `agents`: a client of the tools for models does ten standard tasks. What it sends and reads is counted and compared
//! with limits, and what it did is checked.

mod checks;
mod client;
mod clocks;
mod count;
mod limits;
mod perform;
mod report;
mod rest;
mod scene;
mod table;
mod task;
mod tokens;

use anyhow::{Result, ensure};

use self::client::{Client, ENDPOINT};
use self::count::Count;
use self::report::{Key, Report, Tried};
use self::scene::Scene;
use self::task::Task;
use crate::Surroundings;
use crate::database::{Kind, Place};
use crate::service::{Process, Program};

/// The options of the campaign.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    #[command(flatten)]
    surroundings: Surroundings,
}

/// Does the tasks on both databases, prints what they needed, and fails if a limit is broken.
pub(crate) async fn run(options: &Options) -> Result<()> {
    let mut broken = Vec::new();
    for kind in [Kind::Sqlite, Kind::Postgres] {
        let place = Place::new(kind, options.surroundings.postgres.as_deref()).await?;
        match campaign(options, &place).await {
            Ok(reports) => {
                let keys: Vec<String> = reports.iter().map(|report| report.key.to_string()).collect();
                println!("{kind}: {ENDPOINT} with {}; tokens of {}", keys.join(", then "), tokens::ENCODING);
                println!("\n{}", table::render(&reports));
                let sentences = reports.iter().flat_map(limits::broken);
                broken.extend(sentences.map(|sentence| format!("{kind}: {sentence}")));
                place.remove().await?;
            }
            Err(error) => {
                return Err(error.context(format!("the campaign failed; kept for inspection: {}", place.leave())));
            }
        }
    }
    ensure!(broken.is_empty(), "the tools need too much, or do not suffice:\n{}", broken.join("\n"));
    println!("agents: all tasks are done, within all limits.");
    Ok(())
}

async fn campaign(options: &Options, place: &Place) -> Result<Vec<Report>> {
    let program = Program::kalends(&options.surroundings.server()?, place);
    let server = program.start().await?;
    let mut reports = Vec::new();
    for key in [Key::Agent, Key::Organization] {
        reports.push(tried(&program, &server, key).await?);
    }
    server.stop().await?;
    Ok(reports)
}

/// Tries all tasks in an organization of their own. A task that fails does not end the run.
async fn tried(program: &Program, server: &Process, key: Key) -> Result<Report> {
    let organization = program.create_organization(&key.to_string()).await?;
    let mut scene = Scene::set(server.address, &organization, key).await?;
    let list = scene.agent.list().await?;
    let mut tasks = Vec::new();
    for task in Task::ALL {
        let outcome = perform::perform(task, &mut scene).await;
        let Scene { agent, bo, cleo, .. } = &mut scene;
        let count: Count = [agent, bo, cleo].into_iter().map(Client::take).sum();
        tasks.push(Tried { task, count, failure: outcome.err().map(|error| format!("{error:#}")) });
    }
    Ok(Report { key, list, tasks })
}
