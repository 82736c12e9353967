//! `http`: a running server under load, compared with floors that are measured in the same run.

mod cases;
mod commits;
mod console;
mod data;
mod feeds;
pub(crate) mod floor;
mod held;
mod tools;

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};

use self::cases::Case;
use self::commits::Rates;
use self::data::Data;
use crate::Surroundings;
use crate::connection::{Connection, get};
use crate::database::{Kind, Place};
use crate::figures::{Figure, Table, median};
use crate::load::{self, Round};
use crate::service::{Process, Program};

/// How long each case is sent before its first measurement.
const WARM_UP: Duration = Duration::from_secs(1);
/// The service's default pool sizes, which the floors use too.
const SQLITE_POOL: u32 = 4;
const POSTGRES_POOL: u32 = 16;
/// The maximum memory of an idle server in MiB, and the maximum time to its first answer.
const RESIDENT_MIB: f64 = 40.0;
const START: Duration = Duration::from_millis(500);

/// The options of the measurement.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    #[command(flatten)]
    surroundings: Surroundings,
    /// The length of each round of a case, in seconds.
    #[arg(long, default_value_t = 1.6)]
    seconds: f64,
    /// The number of rounds of each case. The medians are shown.
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// The databases to measure.
    #[arg(long, value_enum, default_value_t = Databases::Both)]
    database: Databases,
    /// Measure only cases whose name contains this, with their floors.
    #[arg(long)]
    only: Option<String>,
    /// The pool size of the service and the floors. Without it, the service's default.
    #[arg(long)]
    pool: Option<u32>,
    /// Fail if a held ratio is missed by more than a tenth.
    #[arg(long)]
    check: bool,
    /// Another server binary, measured in turns with the first. Prints how much faster or slower each case became.
    #[arg(long)]
    before: Option<PathBuf>,
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

/// The startup of a server.
#[derive(Debug, Clone, Copy)]
struct Start {
    /// The time to the first answer on an empty database.
    first: Duration,
    /// The time to the first answer on a database that was used before.
    again: Duration,
    /// Resident memory in KiB.
    resident: u64,
}

/// A server with its own data, and its requests.
struct Side {
    service: Process,
    cases: Vec<Case>,
    start: Start,
    /// The length of an event's JSON.
    event_bytes: usize,
}

/// The printed report, and the held ratios that were missed.
#[derive(Debug, Default)]
struct Report {
    text: String,
    missed: Vec<String>,
}

/// Measures and prints.
pub(crate) async fn run(options: &Options) -> Result<()> {
    let mut missed = Vec::new();
    for kind in options.database.kinds() {
        let place = Place::new(*kind, options.surroundings.postgres.as_deref()).await?;
        let earlier = match options.before {
            Some(_) => Some(Place::new(*kind, options.surroundings.postgres.as_deref()).await?),
            None => None,
        };
        let measured = measure(options, &place, earlier.as_ref()).await;
        place.remove().await?;
        if let Some(earlier) = earlier {
            earlier.remove().await?;
        }
        let report = measured.with_context(|| format!("the measurement on {kind} failed"))?;
        print!("{}", report.text);
        missed.extend(report.missed.into_iter().map(|what| format!("{kind}: {what}")));
    }
    ensure!(!options.check || missed.is_empty(), "missed by more than a tenth:\n{}", missed.join("\n"));
    Ok(())
}

async fn measure(options: &Options, place: &Place, earlier: Option<&Place>) -> Result<Report> {
    let side = Side::prepare(options, &options.surroundings.server()?, place).await?;
    let before = match (&options.before, earlier) {
        (Some(binary), Some(place)) => {
            let binary = binary.canonicalize().with_context(|| format!("no server at {}", binary.display()))?;
            Some(Side::prepare(options, &binary, place).await.context("the earlier server")?)
        }
        _ => None,
    };
    let floor = floor_program(place, options.pool, side.event_bytes)?.start().await?;
    let rounds = measure_cases(options, &side, before.as_ref(), &floor).await?;
    drop(floor);
    if let Some(before) = before {
        before.service.stop().await?;
    }
    let Side { service, cases, start, .. } = side;
    service.stop().await?;
    let rates = match place.kind {
        Kind::Sqlite if cases.iter().any(|case| case.name.starts_with("POST")) => {
            let directory = place.directory().to_owned();
            Some(tokio::task::spawn_blocking(move || commits::measure(&directory)).await??)
        }
        _ => None,
    };
    let figures: Vec<Figure> = rounds.iter().map(|rounds| Figure::of(&rounds.now)).collect();
    let mut report = report(options, place.kind, start, &cases, &figures, rates);
    if options.before.is_some() {
        report.text.push_str(&comparison(&cases, &rounds));
    }
    Ok(report)
}

impl Side {
    /// Starts the server at an empty place, fills it, and keeps the selected cases.
    async fn prepare(options: &Options, binary: &Path, place: &Place) -> Result<Self> {
        let mut program = Program::kalends(binary, place);
        program.environment.extend(options.pool.map(|pool| ("KALENDS_DATABASE_CONNECTIONS", pool.to_string())));
        let (service, start) = start_twice(&program).await?;
        let key = program.create_organization("Bench").await?;
        let mut connection = Connection::open(service.address).await?;
        let mut data = Data::create(&mut connection, &key).await.context("cannot create the data")?;
        data.session = console::create(&mut connection, &program).await.context("cannot fill the console")?;
        data.searched = tools::create(&mut connection, &key).await.context("cannot create the searched agents")?;
        (data.unread, data.followed) =
            feeds::create(&mut connection, &program).await.context("cannot create the organizations with feeds")?;
        let event = data.events.first().context("there are no events")?;
        let event = connection.ask(&get(&format!("/v1/events/{event}"), Some(&key))).await?;
        event.json(200)?;
        let mut cases = cases::all(&key, &data);
        let compared: Vec<&str> =
            cases.iter().filter(|case| options.wants(case)).filter_map(|case| case.floor).collect();
        cases.retain(|case| options.wants(case) || compared.contains(&case.name));
        for case in cases.iter().filter(|case| tools::calls(case.name)) {
            let call = case.requests.first().context("no calls")?;
            let answer = connection.ask(call).await?.json(200)?;
            // A refused call has the status of a success.
            ensure!(answer["result"]["isError"] == false, "{} is refused: {answer}", case.name);
        }
        Ok(Self { service, cases, start, event_bytes: event.body.len() })
    }
}

impl Options {
    fn wants(&self, case: &Case) -> bool {
        case.floor.is_none() || self.only.as_deref().is_none_or(|only| case.name.contains(only))
    }
}

/// Starts the server on the empty database, then once more on the same. The second one keeps running.
async fn start_twice(program: &Program) -> Result<(Process, Start)> {
    let service = program.start().await?;
    let first = service.first_answer().await?;
    service.stop().await?;
    let service = program.start().await?;
    let again = service.first_answer().await?;
    // By then, memory that only the start needs has been released.
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

/// The rounds of one case, for this server and the earlier one.
#[derive(Debug, Default)]
struct Rounds {
    now: Vec<Round>,
    before: Vec<Round>,
}

/// Measures all cases in each round, one after the other, so that other activity on the machine affects all of them.
/// If there is an earlier server, it is measured next to this one, and goes first in every second round.
async fn measure_cases(options: &Options, side: &Side, before: Option<&Side>, floor: &Process) -> Result<Vec<Rounds>> {
    let time = Duration::from_secs_f64(options.seconds);
    let mut rounds: Vec<Rounds> = side.cases.iter().map(|_| Rounds::default()).collect();
    for number in 0..options.rounds {
        for (place, (case, rounds)) in side.cases.iter().zip(&mut rounds).enumerate() {
            let server = if case.floor.is_none() { floor } else { &side.service };
            // A floor gets the same requests whichever server it is compared with.
            let earlier =
                before.filter(|_| case.floor.is_some()).and_then(|before| Some((before, before.cases.get(place)?)));
            let mut turns = [Some((server, case, &mut rounds.now)), None];
            turns[1] = earlier.map(|(before, case)| (&before.service, case, &mut rounds.before));
            if number % 2 == 1 {
                turns.reverse();
            }
            for (server, case, rounds) in turns.into_iter().flatten() {
                if number == 0 {
                    case.requests.send(server, WARM_UP).await.with_context(|| case.name.to_owned())?;
                }
                rounds.push(case.requests.send(server, time).await.with_context(|| case.name.to_owned())?);
            }
        }
    }
    Ok(rounds)
}

/// The speed of each case, compared with the earlier server: the median of the rounds' ratios.
fn comparison(cases: &[Case], rounds: &[Rounds]) -> String {
    let mut table = Table::new(&["case", "before/s", "now/s", "now/before", "as fast"]);
    for (case, rounds) in cases.iter().zip(rounds).filter(|(_, rounds)| !rounds.before.is_empty()) {
        let both = rounds.now.iter().zip(&rounds.before);
        let ratio = median(&mut both.map(|(now, before)| now.per_second / before.per_second).collect::<Vec<_>>());
        table.row(vec![
            case.name.to_owned(),
            format!("{:.0}", Figure::of(&rounds.before).per_second),
            format!("{:.0}", Figure::of(&rounds.now).per_second),
            format!("{ratio:.3}"),
            holds(Some(held::is_as_fast(ratio))),
        ]);
    }
    format!("\n{}", table.render())
}

fn report(
    options: &Options,
    kind: Kind,
    start: Start,
    cases: &[Case],
    figures: &[Figure],
    rates: Option<Rates>,
) -> Report {
    let connections = load::CONNECTIONS;
    let mut missed = Vec::new();
    let Options { rounds, seconds, .. } = options;
    let mut text = format!("\n{kind}: {connections} connections, medians of {rounds} rounds of {seconds} s\n\n");
    let mut table =
        Table::new(&["case", "requests/s", "p50 ms", "p99 ms", "CPU us", "bytes", "floor", "ratio", "target", "holds"]);
    for (case, figure) in cases.iter().zip(figures) {
        let floor = case.floor.and_then(|name| Some((name, figure_of(cases, figures, name)?)));
        let ratio = floor.map(|(_, floor)| figure.per_second / floor.per_second);
        let target = held::least(case.name, kind);
        if let Some((ratio, target)) = ratio.zip(target)
            && held::is_missed(ratio, target)
        {
            missed.push(format!(
                "{} is {ratio:.2} of {}, must be {target:.2}",
                case.name,
                case.floor.unwrap_or_default()
            ));
        }
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
        let least = held::COMMITS_TOGETHER;
        if held::is_missed(together / alone, least) {
            missed.push(format!("change-sets together are {}, must be {least:.1} times", times(together)));
        }
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
    Report { text, missed }
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
