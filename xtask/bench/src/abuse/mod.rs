//! `abuse`: one caller with a free key attacks the server. The campaign measures the effect on others, compared with
//! the same figures without the attack: memory, open files, disk space, and how long another organization waits.
//!
//! Each attack has its own server process, so that the peak memory is that of the attack. The neighbour uses its own
//! loopback address, as another tenant would. Everything stays on this machine. The reduced campaign sends less, and
//! only judges figures that do not depend on the machine's speed: memory, open files, rows and statuses.

mod attacks;
mod feeds;
mod messages;
mod neighbour;
mod sessions;
mod unread;
mod uploads;
pub(crate) mod watch;

use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use self::attacks::{Attack, Outcome, Scene};
use self::neighbour::{Neighbour, Waits};
use self::watch::{Seen, Watch, mebibytes};
use crate::Surroundings;
use crate::database::{Kind, Place};
use crate::figures::Table;
use crate::service::Program;

/// The most memory of a server under any attack, in KiB.
const MEMORY: u64 = 300 << 10;
/// By what factor the neighbour's 99th percentile may grow under an attack, and what wait is always allowed.
const SLOWER: u32 = 5;
const WAIT: Duration = Duration::from_millis(50);
/// The limit of open files for this program and its servers: the campaign's connections and some more.
const FILES: u64 = 8_192;

/// Which attacks are run, and how hard.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    #[command(flatten)]
    surroundings: Surroundings,
    /// Send less, and judge nothing that depends on the machine's speed.
    #[arg(long)]
    reduced: bool,
    /// Run only these attacks.
    #[arg(long, value_enum)]
    only: Vec<Attack>,
    /// Run only on SQLite, for machines without Postgres.
    #[arg(long)]
    sqlite: bool,
}

/// The size of the attacks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Size {
    /// How long the neighbour is measured without an attack, and how long an attack that only waits lasts.
    pub(crate) quiet: Duration,
    pub(crate) lasts: Duration,
    /// The number of empty objects in one message, and of concurrent messages like that.
    pub(crate) objects: usize,
    pub(crate) trees: usize,
    /// The number of short messages.
    pub(crate) messages: usize,
    /// The number of unread connections, and of unread lists.
    pub(crate) connections: usize,
    pub(crate) lists: usize,
    /// The number of large events in such a list.
    pub(crate) events: usize,
    pub(crate) streams: usize,
    /// The number of bodies that are never completed.
    pub(crate) bodies: usize,
    /// How often a feed is subscribed to and deleted.
    pub(crate) subscriptions: usize,
    /// The number of requests of a session, and of wrong passwords.
    pub(crate) changes: usize,
    pub(crate) passwords: usize,
    /// Whether times are judged.
    pub(crate) judges_times: bool,
}

impl Size {
    const FULL: Self = Self {
        quiet: Duration::from_secs(5),
        lasts: Duration::from_secs(40),
        objects: 6_900_000,
        trees: 8,
        messages: 5_000,
        connections: 1_200,
        lists: 120,
        events: 200,
        streams: 400,
        bodies: 240,
        subscriptions: 20,
        changes: 4_000,
        passwords: 200,
        judges_times: true,
    };

    const REDUCED: Self = Self {
        quiet: Duration::from_millis(200),
        lasts: Duration::ZERO,
        objects: 1_500_000,
        trees: 2,
        messages: 400,
        connections: 1_200,
        lists: 16,
        events: 60,
        streams: 100,
        bodies: 60,
        subscriptions: 3,
        changes: 400,
        passwords: 60,
        judges_times: false,
    };
}

/// Runs the attacks on each database, and fails if other organizations would have been harmed.
pub(crate) async fn run(options: &Options) -> Result<()> {
    // The server inherits the limit, and also raises its own soft limit to the hard one.
    let limits = getrlimit(Resource::Nofile);
    let most = limits.maximum.map_or(FILES, |most| most.min(FILES));
    let current = limits.current.map(|current| current.max(most));
    setrlimit(Resource::Nofile, Rlimit { current, ..limits }).context("cannot raise the limit of open files")?;
    let size = if options.reduced { Size::REDUCED } else { Size::FULL };
    let mut broken = Vec::new();
    for kind in [Kind::Sqlite, Kind::Postgres] {
        if options.sqlite && kind == Kind::Postgres {
            continue;
        }
        let place = Place::new(kind, options.surroundings.postgres.as_deref()).await?;
        let found = campaign(options, size, &place).await.with_context(|| format!("the attacks on {kind}"));
        place.remove().await?;
        broken.extend(found?.into_iter().map(|what| format!("{kind}: {what}")));
    }
    if broken.is_empty() {
        return Ok(());
    }
    bail!("one caller can harm the others:\n{}", broken.join("\n"))
}

/// Runs the attacks on one database, prints the figures, and returns the violations.
async fn campaign(options: &Options, size: Size, place: &Place) -> Result<Vec<String>> {
    let feed = feeds::stub().await?;
    let mut program = Program::kalends(&options.surroundings.server()?, place);
    program.environment.push(("KALENDS_EGRESS_ALLOW", feed.to_string()));
    let neighbour = {
        let server = program.start().await?;
        let neighbour = Neighbour::move_in(&program, &server).await?;
        server.stop().await?;
        neighbour
    };
    let mut table = Table::new(&[
        "attack",
        "memory before",
        "most",
        "files before",
        "most",
        "disk",
        "p50 quiet",
        "p99 quiet",
        "p50",
        "p99",
        "holds",
    ]);
    let (mut broken, mut notes) = (Vec::new(), Vec::new());
    for attack in Attack::ALL.into_iter().filter(|attack| options.only.is_empty() || options.only.contains(attack)) {
        let name = attack.name();
        let Assault { seen, quiet, waits, disk, outcome } =
            assault(attack, size, place, &program, &neighbour, feed).await.with_context(|| name.to_owned())?;
        let mut against = outcome.broken;
        against.extend(judged(size, &seen, &quiet, &waits));
        table.row(vec![
            name.to_owned(),
            mebibytes(seen.memory_before),
            mebibytes(seen.memory),
            seen.files_before.to_string(),
            seen.files.to_string(),
            mebibytes(disk >> 10),
            milliseconds(quiet.part(50)),
            milliseconds(quiet.part(99)),
            milliseconds(waits.part(50)),
            milliseconds(waits.part(99)),
            if against.is_empty() { "yes" } else { "NO" }.to_owned(),
        ]);
        notes.push(format!("  {name}: {}", outcome.summary));
        broken.extend(against.into_iter().map(|what| format!("{name}: {what}")));
    }
    println!("\n{}: the server under attack, memory in MiB, times of another organization in ms\n", place.kind);
    println!("{}\n{}", table.render(), notes.join("\n"));
    Ok(broken)
}

/// The measurements of one attack.
struct Assault {
    seen: Seen,
    quiet: Waits,
    waits: Waits,
    /// Bytes.
    disk: u64,
    outcome: Outcome,
}

async fn assault(
    attack: Attack,
    size: Size,
    place: &Place,
    program: &Program,
    neighbour: &Neighbour,
    feed: std::net::SocketAddr,
) -> Result<Assault> {
    let server = program.start().await?;
    let mut scene = Scene::set(size, place, program, &server, feed, attack).await?;
    let quiet = neighbour.waits_for(server.address, size.quiet).await?;
    let disk = place.disk().await?;
    let watch = Watch::begin(&server)?;
    let living = neighbour.lives(server.address);
    let outcome = attack.run(&mut scene).await;
    let waits = living.end().await?;
    let seen = watch.end().await?;
    let disk = place.disk().await?.saturating_sub(disk);
    // A server that failed under the attack is a finding like any other.
    let outcome = outcome.unwrap_or_else(|error| Outcome::of("aborted".into()).unless(false, || format!("{error:#}")));
    drop(scene);
    // The attacker may have left requests that the server would still answer.
    server.kill()?;
    Ok(Assault { seen, quiet, waits, disk, outcome })
}

/// The violations that are judged for every attack.
fn judged(size: Size, seen: &Seen, quiet: &Waits, waits: &Waits) -> Vec<String> {
    let mut broken = Vec::new();
    if seen.memory > MEMORY {
        broken.push(format!("used {} MiB of memory, {} are allowed", mebibytes(seen.memory), mebibytes(MEMORY)));
    }
    // A slow server, such as an unoptimized build, refuses requests that took too long.
    if size.judges_times && waits.unanswered > 0 {
        broken.push(format!("{} requests of another organization were not answered", waits.unanswered));
    }
    let allowed = WAIT.max(quiet.part(99) * SLOWER);
    if size.judges_times && waits.part(99) > allowed {
        let (waited, allowed) = (milliseconds(waits.part(99)), milliseconds(allowed));
        broken.push(format!("another organization waited {waited} ms, {allowed} are allowed (99 of 100 requests)"));
    }
    broken
}

fn milliseconds(time: Duration) -> String {
    format!("{:.1}", time.as_secs_f64() * 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waits(milliseconds: u64, unanswered: usize) -> Waits {
        Waits { times: vec![Duration::from_millis(milliseconds); 10], unanswered }
    }

    #[test]
    fn a_neighbour_may_wait_five_times_as_long_or_50_ms() {
        let seen = |memory| Seen { memory_before: 0, memory, files_before: 0, files: 0 };
        let broken =
            |size, memory, quiet, attacked| judged(size, &seen(memory), &waits(quiet, 0), &waits(attacked, 0)).len();
        assert_eq!(broken(Size::FULL, 0, 1, 50), 0);
        assert_eq!(broken(Size::FULL, 0, 1, 51), 1);
        assert_eq!(broken(Size::FULL, 0, 20, 100), 0);
        assert_eq!(broken(Size::FULL, 0, 20, 101), 1);
        assert_eq!(broken(Size::REDUCED, 0, 1, 9_000), 0);
        assert_eq!(broken(Size::REDUCED, MEMORY + 1, 1, 1), 1);
        assert_eq!(judged(Size::FULL, &seen(0), &waits(1, 0), &waits(1, 2)).len(), 1);
        assert_eq!(judged(Size::REDUCED, &seen(0), &waits(1, 0), &waits(1, 2)).len(), 0);
    }
}
