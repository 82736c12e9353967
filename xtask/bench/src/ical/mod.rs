//! `ical`: what reading the feed of another service costs beside a parser alone, and what a feed costs that is written
//! anew and one that is kept.
//!
//! Each part is a module with a `run` and a value of [`Part`]; without an argument all are run, one after the other.

mod feed;
mod import;
pub(crate) mod reading;
mod text;

use anyhow::{Context as _, Result};

use crate::Surroundings;
use crate::database::Kind;
use crate::figures::Table;

/// What is measured.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    #[command(flatten)]
    surroundings: Surroundings,
    /// Only this part.
    part: Option<Part>,
    /// How many rounds there are of everything; the medians are shown.
    #[arg(long, default_value_t = 9)]
    rounds: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Part {
    /// A feed of others, from its bytes to events.
    Reading,
    /// A calendar's own feed, over HTTP on each database.
    Feed,
    /// A feed of others and a file, imported into each database.
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

/// A table of what was measured beside what it shall be.
struct Verdicts(Table);

impl Verdicts {
    fn new(heading: &str) -> Self {
        Self(Table::new(&[heading, "measured", "target", "holds"]))
    }

    /// A line; without a target and a verdict it tells only what was measured.
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
