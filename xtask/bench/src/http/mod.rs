//! `http`: a running server under load, beside floors that are measured in the same run.

mod cases;
mod commits;
mod data;
pub(crate) mod floor;

use std::time::Duration;

use anyhow::{Context as _, Result};

use self::cases::{Case, Target};
use self::commits::Rates;
use self::data::Data;
use crate::Surroundings;
use crate::connection::{Connection, get};
use crate::database::{Kind, Place};
use crate::figures::{Figure, Table};
use crate::load::{self, Round};
use crate::service::{Process, Program};

/// How long each case is sent before it is first measured.
const WARM_UP: Duration = Duration::from_secs(1);
/// The service's defaults for its pool, which the floors get too.
const SQLITE_POOL: u32 = 4;
const POSTGRES_POOL: u32 = 16;
/// What a server may take of memory before anybody asks, and how long it may take to answer at first.
const RESIDENT_MIB: f64 = 40.0;
const START: Duration = Duration::from_millis(500);

/// What is measured.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    #[command(flatten)]
    surroundings: Surroundings,
    /// How long each round of a case lasts, in seconds.
    #[arg(long, default_value_t = 1.6)]
    seconds: f64,
    /// How many rounds there are of each case; the medians are shown.
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// On which databases.
    #[arg(long, value_enum, default_value_t = Databases::Both)]
    database: Databases,
    /// Only cases whose name contains this, with their floors.
    #[arg(long)]
    only: Option<String>,
    /// The size of the pool of both the service and the floors; the service's default without it.
    #[arg(long)]
    pool: Option<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Databases {
    Sqlite,
    Postgres,
    Both,
}

impl Databases {
    const fn kinds(self) -> &'static [Kind] {
        match self {
            Self::Sqlite => &[Kind::Sqlite],
            Self::Postgres => &[Kind::Postgres],
            Self::Both => &[Kind::Sqlite, Kind::Postgres],
        }
    }
}

/// What a server does before it is asked for anything.
#[derive(Debug, Clone, Copy)]
struct Start {
    /// On an empty database.
    first: Duration,
    /// On a database that was used before.
    again: Duration,
    /// KiB in RAM.
    resident: u64,
}

/// Measures and prints.
pub(crate) async fn run(options: &Options) -> Result<()> {
    for kind in options.database.kinds() {
        let place = Place::new(*kind, options.surroundings.postgres.as_deref()).await?;
        let measured = measure(options, &place).await.with_context(|| format!("the measurement on {kind} failed"));
        place.remove().await?;
        print!("{}", measured?);
    }
    Ok(())
}

async fn measure(options: &Options, place: &Place) -> Result<String> {
    let mut program = Program::kalends(&options.surroundings.server()?, place);
    program.environment.extend(options.pool.map(|pool| ("KALENDS_DATABASE_CONNECTIONS", pool.to_string())));
    let (service, start) = start_twice(&program).await?;
    let key = program.create_organization("Bench").await?;
    let mut connection = Connection::open(service.address).await?;
    let data = Data::create(&mut connection, &key).await.context("cannot create the data")?;
    let event = data.events.first().context("there are no events")?;
    let event = connection.ask(&get(&format!("/v1/events/{event}"), Some(&key))).await?;
    event.json(200)?;
    let floor = floor_program(place, options.pool, event.body.len())?.start().await?;

    let mut cases = cases::all(&key, &data);
    let compared: Vec<&str> = cases.iter().filter(|case| options.wants(case)).filter_map(|case| case.floor).collect();
    cases.retain(|case| options.wants(case) || compared.contains(&case.name));
    let figures = measure_cases(options, &cases, &service, &floor).await?;
    drop(floor);
    service.stop().await?;
    let rates = match place.kind {
        Kind::Sqlite if cases.iter().any(|case| case.name.starts_with("POST")) => {
            let directory = place.directory().to_owned();
            Some(tokio::task::spawn_blocking(move || commits::measure(&directory)).await??)
        }
        _ => None,
    };
    Ok(report(options, place.kind, start, &cases, &figures, rates))
}

impl Options {
    fn wants(&self, case: &Case) -> bool {
        case.floor.is_none() || self.only.as_deref().is_none_or(|only| case.name.contains(only))
    }
}

/// Starts the server on the empty database, and once more on the same; the second one stays.
async fn start_twice(program: &Program) -> Result<(Process, Start)> {
    let service = program.start().await?;
    let first = service.first_answer().await?;
    service.stop().await?;
    let service = program.start().await?;
    let again = service.first_answer().await?;
    // What only the start needs is given back by then.
    tokio::time::sleep(Duration::from_secs(1)).await;
    let resident = service.resident()?;
    Ok((service, Start { first, again, resident }))
}

pub(crate) fn floor_program(place: &Place, pool: Option<u32>, row_bytes: usize) -> Result<Program> {
    let pool = pool.unwrap_or(if place.kind == Kind::Sqlite { SQLITE_POOL } else { POSTGRES_POOL });
    let mut arguments = vec!["floor".to_owned(), format!("--pool={pool}"), format!("--row-bytes={row_bytes}")];
    arguments.extend(place.url().map(|url| format!("--postgres={url}")));
    let directory = place.directory().to_owned();
    Ok(Program { binary: std::env::current_exe()?, arguments, environment: Vec::new(), directory })
}

/// All cases in each round, one after the other, so that whatever else the machine does falls on all of them.
async fn measure_cases(options: &Options, cases: &[Case], service: &Process, floor: &Process) -> Result<Vec<Figure>> {
    let server = |case: &Case| if case.floor.is_none() { floor } else { service };
    let time = Duration::from_secs_f64(options.seconds);
    let mut rounds: Vec<Vec<Round>> = cases.iter().map(|_| Vec::new()).collect();
    for number in 0..options.rounds {
        for (case, rounds) in cases.iter().zip(&mut rounds) {
            if number == 0 {
                case.requests.send(server(case), WARM_UP).await.with_context(|| case.name.to_owned())?;
            }
            rounds.push(case.requests.send(server(case), time).await.with_context(|| case.name.to_owned())?);
        }
    }
    Ok(rounds.iter().map(|rounds| Figure::of(rounds)).collect())
}

fn report(
    options: &Options,
    kind: Kind,
    start: Start,
    cases: &[Case],
    figures: &[Figure],
    rates: Option<Rates>,
) -> String {
    let connections = load::CONNECTIONS;
    let Options { rounds, seconds, .. } = options;
    let mut text = format!("\n{kind}: {connections} connections, medians of {rounds} rounds of {seconds} s\n\n");
    let mut table =
        Table::new(&["case", "requests/s", "p50 ms", "p99 ms", "CPU us", "bytes", "floor", "ratio", "target", "holds"]);
    for (case, figure) in cases.iter().zip(figures) {
        let floor = case.floor.and_then(|name| Some((name, figure_of(cases, figures, name)?)));
        let ratio = floor.map(|(_, floor)| figure.per_second / floor.per_second);
        let target = case.target.filter(|target| target.on.is_none_or(|on| on == kind)).map(|target| target.least);
        table.row(vec![
            case.name.to_owned(),
            format!("{:.0}", figure.per_second),
            format!("{:.2}", figure.p50 / 1000.0),
            format!("{:.2}", figure.p99 / 1000.0),
            format!("{:.0}", figure.processor),
            figure.body_bytes.to_string(),
            floor.map_or_else(String::new, |(name, _)| name.to_owned()),
            ratio.map_or_else(String::new, |ratio| format!("{ratio:.2}")),
            target.map_or_else(String::new, |target| format!("{target:.2}")),
            holds(ratio.zip(target).map(|(ratio, target)| ratio >= target)),
        ]);
    }
    text.push_str(&table.render());

    let mut table = Table::new(&["beside the load", "measured", "target", "holds"]);
    let mut row = |what: &str, measured: String, target: String, holds_it: bool| {
        table.row(vec![what.to_owned(), measured, target, holds(Some(holds_it))]);
    };
    if let Some(Rates { alone, together }) = rates {
        let times = |rate: f64| format!("{:.1} times ({rate:.0}/s against {alone:.0}/s)", rate / alone);
        let least = Target::COMMITS_TOGETHER;
        row(
            "change-sets of 32 callers, against one transaction each",
            times(together),
            format!("{least:.1} times"),
            together >= least * alone,
        );
        if let Some(posted) = figure_of(cases, figures, cases::POST) {
            let rate = posted.per_second;
            row("POST event, against the same", times(rate), format!("{least:.1} times"), rate >= least * alone);
        }
    }
    let milliseconds = |time: Duration| format!("{:.0} ms", time.as_secs_f64() * 1000.0);
    row("start to first answer, empty database", milliseconds(start.first), milliseconds(START), start.first <= START);
    row("start to first answer, used database", milliseconds(start.again), milliseconds(START), start.again <= START);
    #[expect(clippy::cast_precision_loss, reason = "memory in KiB is far below 2^52")]
    let mebibytes = start.resident as f64 / 1024.0;
    row(
        "resident memory before any load",
        format!("{mebibytes:.1} MiB"),
        format!("{RESIDENT_MIB:.0} MiB"),
        mebibytes <= RESIDENT_MIB,
    );
    text.push('\n');
    text.push_str(&table.render());
    text
}

fn figure_of(cases: &[Case], figures: &[Figure], name: &str) -> Option<Figure> {
    cases.iter().zip(figures).find(|(case, _)| case.name == name).map(|(_, figure)| *figure)
}

fn holds(holds: Option<bool>) -> String {
    match holds {
        Some(true) => "yes",
        Some(false) => "NO",
        None => "",
    }
    .to_owned()
}
