//! `layers`: the combined cost of authentication, rate limits and counting, measured on the service's router with and
//! without them.

mod bare;

use std::time::Duration;

use anyhow::{Context as _, Result};
use serde_json::Value;

pub(crate) use self::bare::{Options as ServerOptions, serve};
use crate::connection::get;
use crate::database::{Kind, Place};
use crate::figures::{Figure, Table, median};
use crate::load::{CONNECTIONS, Requests, Round};
use crate::service::{Process, Program};

/// The maximum share of the throughput that the layers may take.
const SHARE: f64 = 0.08;
/// How long each server is loaded before its first measurement.
const WARM_UP: Duration = Duration::from_secs(1);

/// The options of the measurement.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// The length of each round, in seconds.
    #[arg(long, default_value_t = 1.0)]
    seconds: f64,
    /// The number of rounds of each pair of servers, which take turns.
    #[arg(long, default_value_t = 4)]
    rounds: usize,
    /// The number of pairs of servers. Two processes of the same program differ too.
    #[arg(long, default_value_t = 7)]
    pairs: usize,
}

/// Measures and prints.
pub(crate) async fn run(options: &Options) -> Result<()> {
    let mut rounds: [Vec<Round>; 2] = [Vec::new(), Vec::new()];
    for _ in 0..options.pairs {
        measure(options, &mut rounds).await?;
    }
    // Compare round by round, so that other activity on the machine affects both.
    let shares = rounds[0].iter().zip(&rounds[1]).map(|(with, without)| with.per_second / without.per_second);
    let cost = 1.0 - median(&mut shares.collect::<Vec<_>>());
    let figures = rounds.map(|rounds| Figure::of(&rounds));
    let Options { seconds, rounds, pairs } = options;
    println!(
        "\nGET event on SQLite: {CONNECTIONS} connections, medians of {pairs} times {rounds} rounds of {seconds} s\n"
    );
    let mut table = Table::new(&["router", "requests/s", "p50 ms", "p99 ms", "CPU us"]);
    for (name, figure) in ["with authentication, limits and counting", "without them"].into_iter().zip(figures) {
        let milliseconds = |micros: f64| format!("{:.2}", micros / 1000.0);
        table.row(vec![
            name.to_owned(),
            format!("{:.0}", figure.per_second),
            milliseconds(figure.p50),
            milliseconds(figure.p99),
            format!("{:.1}", figure.processor),
        ]);
    }
    print!("{}", table.render());
    let holds = if cost <= SHARE { "holds" } else { "does NOT hold" };
    println!("\nThey take {:.1} % of the throughput; at most {:.0} % {holds}.", cost * 100.0, SHARE * 100.0);
    Ok(())
}

/// Starts a pair of servers and adds their rounds.
async fn measure(options: &Options, rounds: &mut [Vec<Round>; 2]) -> Result<()> {
    let places = [Place::new(Kind::Sqlite, None).await?, Place::new(Kind::Sqlite, None).await?];
    let servers =
        [start(&places[0], &["layers-server"]).await?, start(&places[1], &["layers-server", "--bare"]).await?];
    for (server, requests) in &servers {
        requests.send(server, WARM_UP).await?;
    }
    for number in 0..options.rounds {
        // They take turns in going first.
        for which in if number % 2 == 0 { [0, 1] } else { [1, 0] } {
            let (server, requests) = &servers[which];
            rounds[which].push(requests.send(server, Duration::from_secs_f64(options.seconds)).await?);
        }
    }
    for (server, _) in servers {
        server.kill()?;
    }
    for place in places {
        place.remove().await?;
    }
    Ok(())
}

/// Starts a server, and creates requests for its events.
async fn start(place: &Place, arguments: &[&str]) -> Result<(Process, Requests)> {
    let program = Program {
        binary: std::env::current_exe()?,
        arguments: arguments.iter().map(|argument| (*argument).to_owned()).collect(),
        environment: Vec::new(),
        directory: place.directory().to_owned(),
    };
    let server = program.start().await?;
    let created =
        std::fs::read(place.directory().join(bare::CREATED)).context("the server did not write its events")?;
    let created: Value = serde_json::from_slice(&created)?;
    let key = created["key"].as_str().context("no key")?;
    let events = created["events"].as_array().context("no events")?;
    let requests = events.iter().filter_map(Value::as_str).map(|id| get(&format!("/v1/events/{id}"), Some(key)));
    Ok((server, Requests::shared(200, requests.collect())))
}
