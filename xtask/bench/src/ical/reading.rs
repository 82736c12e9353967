//! Reading the largest allowed third-party feed into events, compared with parsing it with calcard alone.

use std::hint::black_box;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use calcard::{Entry, Parser};
use kalends_feeds::read::{Context, Feed, read};
use kalends_time::Zone;
use serde_json::{Value, json};

use super::Verdicts;
use super::text::{self, EVENTS};
use crate::figures::median;
use crate::json;

/// The maximum factor compared with parsing alone.
const TIMES: f64 = 3.0;
/// The time of reading: 10 March 2026, 12:00 UTC.
const NOW: kalends_time::Timestamp = kalends_time::Timestamp::from_micros(1_773_144_000_000_000);

/// Options of a process that reads a file once and reports its memory.
#[derive(Debug, clap::Args)]
pub(crate) struct ReaderOptions {
    file: PathBuf,
    /// The parser to use.
    #[arg(value_enum)]
    reader: Reader,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Reader {
    Calcard,
    Kalends,
}

impl Reader {
    const fn name(self) -> &'static str {
        match self {
            Self::Calcard => "calcard",
            Self::Kalends => "kalends",
        }
    }
}

/// The result of reading, kept so that its memory counts.
enum Outcome {
    Calcard(Vec<Entry>),
    Kalends(Box<Feed>),
}

impl Outcome {
    fn of(reader: Reader, text: &str) -> Result<Self> {
        Ok(match reader {
            Reader::Calcard => {
                let mut parser = Parser::new(text);
                let mut entries = Vec::new();
                loop {
                    match parser.entry() {
                        Entry::Eof => break,
                        entry => entries.push(entry),
                    }
                }
                Self::Calcard(entries)
            }
            Reader::Kalends => {
                Self::Kalends(Box::new(read(text.as_bytes(), &Context { calendar_zone: Zone::UTC, now: NOW })?))
            }
        })
    }

    /// Checks that everything was read, so that the measurement is valid.
    fn check(&self) -> Result<()> {
        match self {
            Self::Calcard(entries) => {
                let [Entry::ICalendar(calendar)] = entries.as_slice() else {
                    anyhow::bail!("calcard read {} entries", entries.len())
                };
                ensure!(calendar.components.len() > EVENTS, "calcard read {} components", calendar.components.len());
            }
            Self::Kalends(feed) => {
                ensure!(feed.items.len() >= EVENTS && feed.skipped_count == 0, "{} items", feed.items.len());
            }
        }
        Ok(())
    }
}

/// Measures and prints.
pub(crate) fn run(rounds: usize) -> Result<()> {
    let text = text::feed();
    let (mut calcard, mut kalends, mut times) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..=rounds {
        let alone = seconds(Reader::Calcard, &text)?;
        let full = seconds(Reader::Kalends, &text)?;
        // The first round warms up.
        if round > 0 {
            calcard.push(alone);
            kalends.push(full);
            times.push(full / alone);
        }
    }
    let directory = tempfile::tempdir()?;
    let file = directory.path().join("feed.ics");
    std::fs::write(&file, &text)?;
    let memory = [Reader::Calcard, Reader::Kalends].map(|reader| grown(&file, reader));

    #[expect(clippy::cast_precision_loss, reason = "sizes are far below 2^52")]
    let mebibytes = |bytes: u64| bytes as f64 / 1_048_576.0;
    let size = mebibytes(u64::try_from(text.len())?);
    let rate = |seconds: f64| format!("{:.0} ms, {:.0} MiB/s", seconds * 1e3, size / seconds);
    println!("\nA feed of {size:.1} MiB with {EVENTS} events, medians of {rounds} rounds");
    let mut verdicts = Verdicts::new("reading");
    verdicts.line("calcard alone, to its values", rate(median(&mut calcard)), None);
    verdicts.line("Kalends, to events", rate(median(&mut kalends)), None);
    let times = median(&mut times);
    verdicts.line("times calcard", format!("{times:.2}"), Some((format!("{TIMES:.2}"), times <= TIMES)));
    for (name, grown) in ["calcard", "Kalends"].into_iter().zip(memory) {
        let grown = mebibytes(grown.with_context(|| format!("the memory of {name}"))? * 1024);
        verdicts.line(&format!("most memory over the text, {name}"), format!("{grown:.1} MiB"), None);
    }
    verdicts.print();
    Ok(())
}

/// The time that reading takes, without freeing the result.
fn seconds(reader: Reader, text: &str) -> Result<f64> {
    let begun = Instant::now();
    let outcome = black_box(Outcome::of(reader, black_box(text))?);
    let took = begun.elapsed().as_secs_f64();
    outcome.check()?;
    Ok(took)
}

/// The peak memory of a separate process while it reads, above what it had with the text, in KiB.
fn grown(file: &std::path::Path, reader: Reader) -> Result<u64> {
    let mut command = Command::new(std::env::current_exe()?);
    let output = command.arg("ical-reader").arg(file).arg(reader.name()).stderr(Stdio::inherit()).output()?;
    ensure!(output.status.success(), "the reader ended with {}", output.status);
    let figures: Value = serde_json::from_slice(&output.stdout)?;
    Ok(json::number(&figures, "most")?.saturating_sub(json::number(&figures, "before")?))
}

/// Reads a file and prints the process's resident memory before and at its peak, in KiB.
pub(crate) fn print_memory(options: &ReaderOptions) -> Result<()> {
    let text = std::fs::read_to_string(&options.file)?;
    let before = status("VmRSS:")?;
    let outcome = Outcome::of(options.reader, &text)?;
    let most = status("VmHWM:")?;
    outcome.check()?;
    println!("{}", json!({ "before": before, "most": most }));
    Ok(())
}

fn status(field: &str) -> Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix(field)).with_context(|| format!("no {field}"))?;
    Ok(line.trim().trim_end_matches("kB").trim().parse()?)
}
