//! `quotas`: several servers on one Postgres database count the calls of one organization together. Some are killed,
//! and the count is compared with the admitted calls.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use kalends_quotas::lease::HELD_MAX;
use sqlx::{Connection as _, PgConnection};
use tokio::task::JoinSet;

use crate::Surroundings;
use crate::connection::{Connection, get};
use crate::database::{Kind, Place};
use crate::random::{Random, fresh_seed};
use crate::service::{Process, Program};

/// The number of servers.
const SERVERS: usize = 3;
/// The number of callers. Each stays with one server.
const CALLERS: usize = 24;
/// The limit is nine out of this many calls, so that it is reached before the last calls.
const TENTH: u64 = 10;
/// How long a caller whose server is gone, and the killer, wait before they try again.
const LOOK_AGAIN: Duration = Duration::from_millis(2);

/// The size of the campaign.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    #[command(flatten)]
    surroundings: Surroundings,
    /// The total number of calls.
    #[arg(long, default_value_t = 200_000)]
    calls: u64,
    /// The number of kills during the calls.
    #[arg(long, default_value_t = 10)]
    kills: u64,
    /// The seed for the choice of servers. Without it, every run is different.
    #[arg(long)]
    seed: Option<u64>,
}

/// The progress and the results of the callers.
#[derive(Debug, Default)]
struct Calls {
    sent: AtomicU64,
    admitted: AtomicU64,
    refused: AtomicU64,
    unanswered: AtomicU64,
}

/// The current addresses of the servers.
type Addresses = Arc<Mutex<[SocketAddr; SERVERS]>>;

/// Runs the campaign, and fails if calls were miscounted.
pub(crate) async fn run(options: &Options) -> Result<()> {
    let place = Place::new(Kind::Postgres, options.surroundings.postgres.as_deref()).await?;
    let seed = options.seed.unwrap_or_else(fresh_seed);
    println!("quotas: {} calls over {SERVERS} servers, {} kills, --seed {seed}", options.calls, options.kills);
    match campaign(options, &place, seed).await {
        Ok(report) => {
            println!("quotas: {report}");
            place.remove().await
        }
        Err(error) => Err(error.context(format!("the campaign failed; kept for inspection: {}", place.leave()))),
    }
}

async fn campaign(options: &Options, place: &Place, seed: u64) -> Result<String> {
    let begun = Instant::now();
    let program = Program::kalends(&options.surroundings.server()?, place);
    // The first server migrates. The others start when that is done.
    let mut servers = vec![program.start().await?];
    while servers.len() < SERVERS {
        servers.push(program.start().await?);
    }
    let limit = options.calls / TENTH * (TENTH - 1);
    let limits = format!(r#"{{"rate_per_second":1000000,"api_calls":{limit}}}"#);
    let key = program.create_organization_with("Quotas", &limits).await?;

    let calls = Arc::new(Calls::default());
    let addresses: [SocketAddr; SERVERS] = std::array::from_fn(|number| servers[number].address);
    let addresses: Addresses = Arc::new(Mutex::new(addresses));
    let mut callers = JoinSet::new();
    for number in 0..CALLERS {
        let (calls, addresses) = (Arc::clone(&calls), Arc::clone(&addresses));
        let request = get("/v1/agents?limit=1", Some(&key));
        callers.spawn(call(calls, options.calls, addresses, number % SERVERS, request));
    }
    let killed = kill_some(options, &program, &mut servers, &calls, &addresses, Random::new(seed)).await?;
    while let Some(ended) = callers.join_next().await {
        ended??;
    }
    for server in servers {
        server.stop().await?;
    }
    let counted = counted(place).await?;
    let [admitted, refused, unanswered] =
        [&calls.admitted, &calls.refused, &calls.unanswered].map(|count| count.load(Ordering::SeqCst));
    ensure!(admitted + refused + unanswered == options.calls, "some calls have no outcome: {calls:?}");
    ensure!(counted >= admitted, "{admitted} calls were admitted, but only {counted} counted");
    ensure!(counted <= limit, "{counted} calls were counted, over the limit of {limit}");
    let lost = killed * HELD_MAX;
    ensure!(
        counted <= admitted + unanswered + lost,
        "{counted} calls were counted, but {admitted} admitted, {unanswered} unanswered and at most {lost} lost"
    );
    // The units that a server holds when the last call is refused elsewhere, and those that killed servers lost,
    // cannot be used.
    let held = lost + (SERVERS as u64) * HELD_MAX;
    ensure!(
        admitted + unanswered + held >= limit,
        "{refused} calls were refused although only {admitted} were admitted"
    );
    Ok(format!(
        "{admitted} calls admitted and {counted} counted of {limit} allowed; {refused} refused, {unanswered} without \
         an answer, {killed} servers killed, which lost at most {lost} units. {:.0} s in all.",
        begun.elapsed().as_secs_f64()
    ))
}

/// Calls until all calls are made, and counts the results.
async fn call(calls: Arc<Calls>, all: u64, addresses: Addresses, server: usize, request: Vec<u8>) -> Result<()> {
    let mut connection = None;
    while calls.sent.load(Ordering::SeqCst) < all {
        let open = match &mut connection {
            Some(open) => open,
            none => {
                let address = addresses.lock().unwrap_or_else(PoisonError::into_inner)[server];
                match Connection::open(address).await {
                    Ok(open) => none.insert(open),
                    // The server was killed, and is not back yet.
                    Err(_) => {
                        tokio::time::sleep(LOOK_AGAIN).await;
                        continue;
                    }
                }
            }
        };
        if calls.sent.fetch_add(1, Ordering::SeqCst) >= all {
            break;
        }
        let outcome = match open.exchange(&request).await {
            Ok((200, _)) => &calls.admitted,
            Ok((429, _)) => &calls.refused,
            Ok((status, _)) => anyhow::bail!("a call was answered with {status}"),
            Err(_) => {
                connection = None;
                &calls.unanswered
            }
        };
        outcome.fetch_add(1, Ordering::SeqCst);
    }
    Ok(())
}

/// Kills a server and starts another in its place, as often as configured, spread over the calls. Returns the number
/// of kills.
async fn kill_some(
    options: &Options,
    program: &Program,
    servers: &mut Vec<Process>,
    calls: &Calls,
    addresses: &Addresses,
    mut random: Random,
) -> Result<u64> {
    for number in 1..=options.kills {
        let due = options.calls * number / (options.kills + 1);
        while calls.sent.load(Ordering::SeqCst) < due {
            tokio::time::sleep(LOOK_AGAIN).await;
        }
        let which = usize::try_from(random.below(SERVERS as u64))?;
        servers.remove(which).kill()?;
        let server = program.start().await?;
        addresses.lock().unwrap_or_else(PoisonError::into_inner)[which] = server.address;
        servers.insert(which, server);
    }
    Ok(options.kills)
}

/// The number of calls that the database has counted.
async fn counted(place: &Place) -> Result<u64> {
    let url = place.url().context("this campaign needs Postgres")?;
    let mut connection = PgConnection::connect(url).await?;
    let counted: i64 =
        sqlx::query_scalar("SELECT coalesce(sum(used), 0)::bigint FROM usage_counters WHERE metric = 'api_calls'")
            .fetch_one(&mut connection)
            .await?;
    connection.close().await?;
    Ok(u64::try_from(counted)?)
}
