//! `cargo xtask bench availability --peers`: the algebra of busy times, compared with other libraries of intervals.
//!
//! The programs in `xtask/peers/sets` measure one library each, with the same busy times.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};

use crate::packages::Packages;
use crate::process;
use crate::workspace::{self, Workspace};

const RUST: &str = "xtask/peers/sets/Cargo.toml";
const PYTHON: &str = "xtask/peers/sets/sets.py";

/// The number of times that each library is measured, unless an argument sets another.
const ROUNDS: usize = 5;

/// A library. It is a crate if it has no packages.
struct Peer {
    name: &'static str,
    version: &'static str,
    packages: Option<&'static [&'static str]>,
}

/// The first one is ours. The second one sorts all spans and sweeps over them.
const PEERS: [Peer; 5] = [
    Peer { name: "kalends", version: "", packages: None },
    Peer { name: "plain", version: "", packages: None },
    Peer { name: "rangemap", version: "1.8.0", packages: None },
    Peer { name: "range-set-blaze", version: "0.8.0", packages: None },
    Peer { name: "portion", version: "2.6.3", packages: Some(&["portion==2.6.3"]) },
];

/// A line of a program.
#[derive(Debug, Clone, PartialEq)]
struct Measured {
    case: String,
    /// The number of spans in the answer, and their total length.
    answer: (u64, i64),
    nanos: f64,
}

/// The installed programs.
struct Programs {
    rust: PathBuf,
    /// Python with the packages of a library, if they could be installed.
    python: Option<PathBuf>,
}

/// Measures all libraries in turns and prints the medians.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let rounds = rounds(arguments)?;
    let folder = Workspace::load()?.target.join("set-peers");
    let programs = Programs::install(&folder)?;
    let spans = folder.join("spans.tsv");
    std::fs::write(&spans, process::read(Command::new(&programs.rust).arg("spans"))?)?;
    let mut measured: Vec<Vec<Vec<Measured>>> = PEERS.iter().map(|_| Vec::new()).collect();
    for _ in 0..rounds {
        for (peer, rounds) in PEERS.iter().zip(&mut measured) {
            if let Some(mut command) = programs.command(peer, &spans) {
                rounds.push(read(&process::read(&mut command)?)?);
            }
        }
    }
    print!("{}", table(&measured.iter().map(|rounds| medians(rounds)).collect::<Result<Vec<_>>>()?)?);
    Ok(())
}

fn rounds(arguments: &[String]) -> Result<usize> {
    match arguments {
        [] => Ok(ROUNDS),
        [name, number] if name == "--rounds" => {
            let number = number.parse().ok().filter(|number| *number > 0);
            number.context("--rounds needs a whole number from 1")
        }
        _ => bail!("availability --peers takes --rounds N"),
    }
}

impl Programs {
    fn install(folder: &Path) -> Result<Self> {
        std::fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
        let cargo = ["build", "--quiet", "--release", "--locked", "--manifest-path", RUST, "--target-dir"];
        process::run(process::cargo(cargo).arg(folder.join("rust")))?;
        let mut python = None;
        for Peer { name, packages, .. } in &PEERS {
            let Some(packages) = packages else { continue };
            match Packages::Python(packages).install(folder) {
                Ok(bin) => python = Some(bin.join("python")),
                Err(error) => println!("{name} is left out; install {} with pip: {error:#}", packages.join(" ")),
            }
        }
        Ok(Self { rust: folder.join("rust/release/kalends-set-peers"), python })
    }

    /// The program that measures a library; `None` if it is not installed.
    fn command(&self, peer: &Peer, spans: &Path) -> Option<Command> {
        let mut command = match (peer.packages, &self.python) {
            (None, _) => {
                let mut command = Command::new(&self.rust);
                command.arg(peer.name);
                command
            }
            (Some(_), python) => {
                let mut command = Command::new(python.as_ref()?);
                command.arg(PYTHON);
                command
            }
        };
        command.arg(spans).current_dir(workspace::root());
        Some(command)
    }
}

fn read(lines: &str) -> Result<Vec<Measured>> {
    let read = |line: &str| {
        let [case, count, total, nanos] = line.split('\t').collect::<Vec<_>>()[..] else { return None };
        let answer = (count.parse().ok()?, total.parse().ok()?);
        Some(Measured { case: case.to_owned(), answer, nanos: nanos.parse().ok()? })
    };
    lines.lines().map(|line| read(line).with_context(|| format!("not a measurement: {line}"))).collect()
}

/// The median of each case over the rounds of one library. It is empty if there are no rounds.
fn medians(rounds: &[Vec<Measured>]) -> Result<Vec<Measured>> {
    let Some(first) = rounds.first() else { return Ok(Vec::new()) };
    let median = |(row, one): (usize, &Measured)| {
        let same: Vec<&Measured> = rounds.iter().filter_map(|round| round.get(row)).collect();
        let steady = same.iter().all(|other| other.case == one.case && other.answer == one.answer);
        ensure!(same.len() == rounds.len() && steady, "the rounds of `{}` differ", one.case);
        let mut nanos: Vec<f64> = same.iter().map(|one| one.nanos).collect();
        nanos.sort_by(f64::total_cmp);
        Ok(Measured { nanos: nanos[nanos.len() / 2], ..one.clone() })
    };
    first.iter().enumerate().map(median).collect()
}

/// Our times, and how many times as long each library takes. The columns are in the order of [`PEERS`].
fn table(columns: &[Vec<Measured>]) -> Result<String> {
    let Some((ours, others)) = columns.split_first() else { bail!("there are no measurements") };
    let mut table = format!("{:<46}{:>8}{:>12}", "busy times in microseconds", "spans", "kalends us");
    PEERS[1..].iter().for_each(|peer| table += &format!("{:>width$}", peer.title(), width = peer.width()));
    for (row, own) in ours.iter().enumerate() {
        table += &format!("\n{:<46}{:>8}{:>12.1}", own.case, own.answer.0, own.nanos / 1e3);
        for (peer, column) in PEERS[1..].iter().zip(others) {
            let cell = match column.get(row) {
                None => "missing".to_owned(),
                Some(theirs) if theirs.case != own.case || theirs.answer != own.answer => "differs".to_owned(),
                Some(theirs) => format!("{:.1} x", theirs.nanos / own.nanos),
            };
            table += &format!("{cell:>width$}", width = peer.width());
        }
    }
    Ok(table + "\n")
}

impl Peer {
    fn title(&self) -> String {
        format!("{} {}", self.name, self.version).trim_end().to_owned()
    }

    fn width(&self) -> usize {
        self.title().len().max(8) + 2
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(count: u64, nanos: f64) -> Measured {
        Measured { case: "one".into(), answer: (count, 70), nanos }
    }

    #[test]
    fn the_rounds_are_an_argument() {
        let rounds = |line: &str| rounds(&line.split_whitespace().map(String::from).collect::<Vec<_>>());
        assert_eq!(rounds("").unwrap(), ROUNDS);
        assert_eq!(rounds("--rounds 3").unwrap(), 3);
        assert!(rounds("--rounds").is_err() && rounds("--rounds 0").is_err() && rounds("3").is_err());
    }

    #[test]
    fn every_line_is_a_measurement() {
        assert_eq!(read("one\t4\t70\t2500\n").unwrap(), [measured(4, 2500.0)]);
        assert!(read("one\t4\t70").is_err() && read("one\tfour\t70\t1").is_err());
    }

    #[test]
    fn the_median_needs_equal_answers() {
        let rounds = [3.0, 1.0, 2.0].map(|nanos| vec![measured(4, nanos)]);
        assert_eq!(medians(&rounds).unwrap(), [measured(4, 2.0)]);
        assert_eq!(medians(&[]).unwrap(), []);
        assert!(medians(&[vec![measured(4, 1.0)], vec![measured(5, 1.0)]]).is_err());
        assert!(medians(&[vec![measured(4, 1.0)], Vec::new()]).is_err());
    }

    #[test]
    fn a_different_answer_and_a_missing_library_are_named() {
        let column = |count, nanos| vec![measured(count, nanos)];
        let columns = [column(4, 2_000.0), column(4, 5_000.0), column(5, 1.0), Vec::new(), column(4, 1_000.0)];
        let table = table(&columns).unwrap();
        let row: Vec<&str> = table.lines().nth(1).unwrap().split_whitespace().collect();
        assert_eq!(row, ["one", "4", "2.0", "2.5", "x", "differs", "missing", "0.5", "x"]);
    }

    #[test]
    fn versions_are_those_of_the_programs() {
        let manifest = std::fs::read_to_string(workspace::root().join(RUST)).unwrap();
        for peer in PEERS.iter().filter(|peer| !peer.version.is_empty()) {
            match peer.packages {
                Some(packages) => assert_eq!(packages[0], format!("{}=={}", peer.name, peer.version)),
                None => assert!(manifest.contains(&format!("{} = \"={}\"", peer.name, peer.version)), "{}", peer.name),
            }
        }
    }
}
