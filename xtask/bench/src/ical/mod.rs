//! `ical`: the cost of reading third-party feeds, compared with a parser alone, and the cost of a calendar's own feed,
//! both rewritten and cached.
//!
//! Each part is a module with a `run`, and a value of [`Part`]. Without an argument, all parts are run in turn.

mod feed;
mod import;
pub(crate) mod reading;
mod text;

use anyhow::{Context as _, Result};

use crate::Surroundings;
use crate::database::Kind;
use crate::figures::Table;

/// The options of the measurement.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    #[command(flatten)]
    surroundings: Surroundings,
    /// Run only this part.
    part: Option<Part>,
    /// The number of rounds. The medians are shown.
    #[arg(long, default_value_t = 9)]
    rounds: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Part {
    /// A third-party feed, from its bytes to events.
    Reading,
    /// A calendar's own feed, over HTTP on each database.
    Feed,
    /// A third-party feed and a file, imported into each database.
    Import,
}

/// Measures and prints.
pub(crate) async fn run(options: &Options) -> Result<()> {
    let wanted = |part| options.part.is_none_or(|only| only == part);
    if wanted(Part::Reading) {
        reading::run(options.rounds)?;
    }
    if wanted(Part::Feed) {
        for kind in [Kind::Sqlite, Kind::Postgres] {
            feed::run(options, kind).await.with_context(|| format!("the feed on {kind}"))?;
        }
    }
    if wanted(Part::Import) {
        for kind in [Kind::Sqlite, Kind::Postgres] {
            import::run(options, kind).await.with_context(|| format!("the import into {kind}"))?;
        }
    }
    Ok(())
}

/// A table of measurements and targets.
struct Verdicts(Table);

impl Verdicts {
    fn new(heading: &str) -> Self {
        Self(Table::new(&[heading, "measured", "target", "holds"]))
    }

    /// Adds a line. Without a target, it has only the measurement.
    fn line(&mut self, what: &str, measured: String, target: Option<(String, bool)>) {
        let (target, holds) = match target {
            Some((target, true)) => (target, "yes"),
            Some((target, false)) => (target, "NO"),
            None => (String::new(), ""),
        };
        self.0.row(vec![what.to_owned(), measured, target, holds.to_owned()]);
    }

    fn print(&self) {
        print!("\n{}", self.0.render());
    }
}
