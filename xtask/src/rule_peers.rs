//! `cargo xtask bench recurrence --peers`: the speed and the results of other libraries that expand recurrence rules.
//!
//! The programs in `xtask/peers/rules` print a line when they are ready, then read rules and answer with starts or times. A
//! program that does not answer in time is killed, and a new one continues after that rule.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};

use crate::packages::Packages;
use crate::process;
use crate::workspace::{self, Workspace};

const RUST: &str = "xtask/peers/rules/Cargo.toml";
const PYTHON: &[&str] =
    &["python-dateutil==2.9.0.post0", "icalendar==7.3.0", "recurring-ical-events==3.8.2", "tzdata==2026.6"];
const NODE: &[&str] = &["ical.js@2.2.1"];

/// The longest time until a program is ready.
const READY_MAX: Duration = Duration::from_secs(60);
/// The longest time for one measurement.
const TIME_MAX: Duration = Duration::from_secs(2);
/// The longest time for the starts of one rule.
const STARTS_MAX: Duration = Duration::from_millis(250);
/// A program that does not answer this many questions in a row is broken.
const STOPS_MAX: usize = 20;
/// The number of times that each library is timed.
const ROUNDS: usize = 3;
/// The number of random rules, unless an argument sets another.
const RULES: u32 = 10_000;

const DAY: i64 = 86_400;
const YEAR: i64 = 365;
/// 2026-01-02T09:00:00Z, a Friday.
const FIRST: i64 = 1_767_344_400;

/// A library, and what runs it.
struct Peer {
    name: &'static str,
    version: &'static str,
    runs: Runs,
}

#[derive(Clone, Copy)]
enum Runs {
    Rust,
    Python,
    Node,
    C,
}

/// The first one is ours.
const PEERS: [Peer; 8] = [
    Peer { name: "kalends", version: "", runs: Runs::Rust },
    Peer { name: "rrule", version: "0.14.0", runs: Runs::Rust },
    Peer { name: "recurrence", version: "0.15.0", runs: Runs::Rust },
    Peer { name: "rrules", version: "0.2.3", runs: Runs::Rust },
    Peer { name: "libical", version: "3.0", runs: Runs::C },
    Peer { name: "ical.js", version: "2.2.1", runs: Runs::Node },
    Peer { name: "dateutil", version: "2.9.0", runs: Runs::Python },
    Peer { name: "recurring-ical-events", version: "3.8.2", runs: Runs::Python },
];

/// A rule, and the days after the first start at which the window begins and ends. No window holds the first start.
struct Case {
    name: &'static str,
    rule: &'static str,
    days: (i64, i64),
}

const CASES: &[Case] = &[
    Case { name: "weekly MO,WE, 1,000 starts", rule: "FREQ=WEEKLY;BYDAY=MO,WE", days: (3, 3_503) },
    Case { name: "daily, 365 days", rule: "FREQ=DAILY", days: (1, 1 + YEAR) },
    Case { name: "daily, 30 days", rule: "FREQ=DAILY", days: (1, 31) },
    Case { name: "daily, 30 days, 10 years on", rule: "FREQ=DAILY", days: (10 * YEAR, 10 * YEAR + 30) },
    Case { name: "weekly MO,WE, 30 days", rule: "FREQ=WEEKLY;BYDAY=MO,WE", days: (3, 33) },
    Case { name: "monthly last Friday, 10 years", rule: "FREQ=MONTHLY;BYDAY=-1FR", days: (3, 10 * YEAR) },
    Case {
        name: "monthly last working day, 10 years",
        rule: "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1",
        days: (3, 10 * YEAR),
    },
    Case { name: "yearly second Tuesday, 50 years", rule: "FREQ=YEARLY;BYDAY=2TU", days: (3, 50 * YEAR) },
    Case { name: "yearly week 20, 10 years", rule: "FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO", days: (3, 10 * YEAR) },
    Case {
        name: "yearly week 20, 10 years, 50 on",
        rule: "FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO",
        days: (50 * YEAR, 60 * YEAR),
    },
    Case { name: "hourly at 9, 12, 15, 30 days", rule: "FREQ=HOURLY;BYHOUR=9,12,15", days: (1, 31) },
];

/// What a library answered for one rule.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Answer {
    Text(String),
    Refused,
    /// It took longer than [`TIME_MAX`] or [`STARTS_MAX`], or its program ended.
    Stopped,
}

/// The installed programs.
struct Programs {
    rust: PathBuf,
    python: PathBuf,
    c: PathBuf,
    modules: PathBuf,
}

/// Times all libraries with the same cases, and compares their starts for random rules.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let (seed, rules) = options(arguments)?;
    let workspace = Workspace::load()?;
    let programs = Programs::install(&workspace.target.join("rule-peers"))?;
    let example = ["run", "--quiet", "--package", "kalends-recurrence", "--example", "random_rules", "--"];
    let lines = process::read(process::cargo(example).args([&seed.to_string(), &rules.to_string(), "near"]))?;
    println!("{}", speed(&programs)?);
    let questions = questions(&lines)?;
    println!("{} random rules, seed {seed}", questions.len());
    correctness(&programs, &questions)
}

fn options(arguments: &[String]) -> Result<(u32, u32)> {
    let (mut seed, mut rules) = (1, RULES);
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        let mut number = || {
            let number = arguments.next().and_then(|text| text.parse().ok());
            number.with_context(|| format!("{argument} needs a whole number"))
        };
        match argument.as_str() {
            "--seed" => seed = number()?,
            "--rules" => rules = number()?,
            other => bail!("--peers takes --seed N and --rules N, got {other}"),
        }
    }
    Ok((seed, rules))
}

impl Programs {
    fn install(folder: &Path) -> Result<Self> {
        std::fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
        let cargo = ["build", "--quiet", "--release", "--locked", "--manifest-path", RUST, "--target-dir"];
        process::run(process::cargo(cargo).arg(folder.join("rust")))?;
        let c = folder.join("peer-libical");
        let mut compiler = Command::new("cc");
        compiler
            .args(["-O2", "-o"])
            .arg(&c)
            .arg("xtask/peers/rules/peer.c")
            .arg("-lical")
            .current_dir(workspace::root());
        process::run(&mut compiler).context("this needs a C compiler and Debian's package `libical-dev`")?;
        let python = Packages::Python(PYTHON).install(folder)?.join("python");
        Packages::Node(NODE).install(folder)?;
        let rust = folder.join("rust/release/kalends-rule-peers");
        Ok(Self { rust, python, c, modules: folder.join("node_modules") })
    }

    /// The program of a library. It answers with `starts` or with `time`.
    fn command(&self, peer: &Peer, answer: &str) -> Command {
        let mut command = match peer.runs {
            Runs::Rust => Command::new(&self.rust),
            Runs::C => Command::new(&self.c),
            Runs::Node => Command::new("node"),
            Runs::Python => Command::new(&self.python),
        };
        match peer.runs {
            Runs::Rust => command.arg(peer.name),
            Runs::C => &mut command,
            Runs::Node => command.arg("xtask/peers/rules/peer.cjs").env("NODE_PATH", &self.modules),
            Runs::Python => command.args(["xtask/peers/rules/peer.py", peer.name]),
        };
        command.arg(answer).current_dir(workspace::root());
        command
    }

    /// The library's answer to each question. Each of them may take `longest`.
    fn ask(&self, peer: &Peer, answer: &str, questions: &[String], longest: Duration) -> Result<Vec<Answer>> {
        let (mut answers, mut in_a_row) = (Vec::with_capacity(questions.len()), 0);
        while answers.len() < questions.len() {
            let mut running = Running::start(self.command(peer, answer), &questions[answers.len()..])?;
            let before = answers.len();
            running.lines.recv_timeout(READY_MAX).with_context(|| format!("{} does not start", peer.name))?;
            while let Ok(line) = running.lines.recv_timeout(longest) {
                answers.push(if line == "refused" { Answer::Refused } else { Answer::Text(line) });
            }
            running.child.kill().ok();
            running.child.wait().with_context(|| format!("{} cannot be ended", peer.name))?;
            if answers.len() < questions.len() {
                in_a_row = if answers.len() == before { in_a_row + 1 } else { 0 };
                ensure!(in_a_row < STOPS_MAX, "{} answers nothing", peer.name);
                answers.push(Answer::Stopped);
            }
        }
        Ok(answers)
    }
}

/// A program that answers questions.
struct Running {
    child: Child,
    lines: Receiver<String>,
}

impl Running {
    fn start(mut command: Command, questions: &[String]) -> Result<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().with_context(|| format!("cannot start {:?}", command.get_program()))?;
        let (Some(mut input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            bail!("{:?} has no pipes", command.get_program());
        };
        let text = questions.iter().fold(String::new(), |text, question| text + question + "\n");
        // Each in a thread of its own, so that neither pipe fills while the other is used. They end with the program.
        std::thread::spawn(move || input.write_all(text.as_bytes()));
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            BufReader::new(output).lines().map_while(Result::ok).try_for_each(|line| sender.send(line))
        });
        Ok(Self { child, lines })
    }
}

/// The table of times. The libraries take turns.
fn speed(programs: &Programs) -> Result<String> {
    let questions: Vec<String> = CASES.iter().map(Case::question).collect();
    // By case and library.
    let mut timed = vec![vec![Vec::new(); PEERS.len()]; CASES.len()];
    for _ in 0..ROUNDS {
        for (column, peer) in PEERS.iter().enumerate() {
            for (row, answer) in programs.ask(peer, "time", &questions, TIME_MAX)?.into_iter().enumerate() {
                timed[row][column].push(answer);
            }
        }
    }
    let mut table = format!("{:<36}{:>12}", "starts in a window, in UTC", "kalends ns");
    PEERS[1..].iter().for_each(|peer| table += &format!("{:>width$}", peer.name, width = width(peer)));
    for (case, row) in CASES.iter().zip(&timed) {
        let ours = median(&row[0]).with_context(|| format!("no time for {}", case.name))?;
        table += &format!("\n{:<36}{:>12.0}", case.name, ours.nanos);
        for (peer, column) in PEERS[1..].iter().zip(&row[1..]) {
            let cell = match median(column) {
                None if column.contains(&Answer::Stopped) => "timed out".to_owned(),
                None => "refused".to_owned(),
                Some(theirs) if theirs.count != ours.count => "wrong".to_owned(),
                Some(theirs) => format!("{:.1} x", theirs.nanos / ours.nanos),
            };
            table += &format!("{cell:>width$}", width = width(peer));
        }
    }
    Ok(table + "\n")
}

fn width(peer: &Peer) -> usize {
    peer.name.len().max(10) + 2
}

impl Case {
    fn question(&self) -> String {
        let at = |days: i64| FIRST + days * DAY;
        format!("{}\t{FIRST}\t{}\t{}", self.rule, at(self.days.0), at(self.days.1))
    }
}

/// The number of starts, and the time of one expansion.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Timed {
    count: u64,
    nanos: f64,
}

impl Timed {
    fn read(answer: &Answer) -> Option<Self> {
        let Answer::Text(text) = answer else { return None };
        let (count, nanos) = text.split_once('\t')?;
        Some(Self { count: count.parse().ok()?, nanos: nanos.parse().ok()? })
    }
}

/// `None` if an answer is not a time.
fn median(answers: &[Answer]) -> Option<Timed> {
    let mut times: Vec<Timed> = answers.iter().map(Timed::read).collect::<Option<_>>()?;
    times.sort_by(|a, b| a.nanos.total_cmp(&b.nanos));
    times.get(times.len() / 2).copied()
}

/// A random rule, and the starts that it has in its window according to our engine.
struct Question {
    line: String,
    first: i64,
    starts: BTreeSet<i64>,
}

fn questions(lines: &str) -> Result<Vec<Question>> {
    let read = |line: &str| -> Result<Question> {
        let (line, starts) = line.rsplit_once('\t').context("a rule without starts")?;
        let first = line.split('\t').nth(1).context("a rule without a first start")?.parse()?;
        Ok(Question { line: line.to_owned(), first, starts: numbers(starts).context("starts that are no numbers")? })
    };
    lines.lines().map(read).collect()
}

fn numbers(list: &str) -> Option<BTreeSet<i64>> {
    list.split(',').filter(|number| !number.is_empty()).map(|number| number.parse().ok()).collect()
}

/// How the starts of a library differ from ours.
#[derive(Debug, Default, PartialEq, Eq)]
struct Score {
    right: u64,
    wrong: u64,
    refused: u64,
    stopped: u64,
    missing: u64,
    extra: u64,
}

impl Score {
    fn count(&mut self, question: &Question, answer: &Answer) {
        let found = match answer {
            Answer::Refused => return self.refused += 1,
            Answer::Stopped => return self.stopped += 1,
            Answer::Text(text) => numbers(text).unwrap_or_default(),
        };
        // RFC 5545 leaves open what happens if a rule does not generate its first start (section 3.8.5.3).
        let compared = |start: &&i64| **start != question.first;
        let missing = question.starts.difference(&found).filter(compared).count();
        let extra = found.difference(&question.starts).filter(compared).count();
        if missing + extra == 0 {
            self.right += 1;
        } else {
            self.wrong += 1;
        }
        self.missing += u64::try_from(missing).unwrap_or(u64::MAX);
        self.extra += u64::try_from(extra).unwrap_or(u64::MAX);
    }
}

/// Prints the table of results, a line as soon as its library has answered.
fn correctness(programs: &Programs, questions: &[Question]) -> Result<()> {
    let lines: Vec<String> = questions.iter().map(|question| question.line.clone()).collect();
    println!(
        "{:<24}{:<10}{:>8}{:>8}{:>9}{:>11}{:>10}{:>10}",
        "library", "version", "right", "wrong", "refused", "timed out", "missing", "extra"
    );
    for peer in &PEERS[1..] {
        let mut score = Score::default();
        for (question, answer) in questions.iter().zip(programs.ask(peer, "starts", &lines, STARTS_MAX)?) {
            score.count(question, &answer);
        }
        let Score { right, wrong, refused, stopped, missing, extra } = score;
        println!(
            "{:<24}{:<10}{right:>8}{wrong:>8}{refused:>9}{stopped:>11}{missing:>10}{extra:>10}",
            peer.name, peer.version
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(starts: &str) -> Question {
        Question { line: String::new(), first: 10, starts: numbers(starts).unwrap() }
    }

    fn text(starts: &str) -> Answer {
        Answer::Text(starts.to_owned())
    }

    #[test]
    fn starts_are_compared_without_the_first() {
        let mut score = Score::default();
        score.count(&question("10,20,30"), &text("20,30"));
        score.count(&question("20,30"), &text("10,30,40,50"));
        score.count(&question(""), &text(""));
        score.count(&question(""), &Answer::Refused);
        score.count(&question(""), &Answer::Stopped);
        assert_eq!(score, Score { right: 2, wrong: 1, refused: 1, stopped: 1, missing: 1, extra: 2 });
    }

    #[test]
    fn rules_are_read_with_their_starts() {
        let read = questions("FREQ=DAILY\t5\t5\t9\t5,7\nFREQ=DAILY\t8\t0\t9\t\n").unwrap();
        assert_eq!((read[0].line.as_str(), read[0].first), ("FREQ=DAILY\t5\t5\t9", 5));
        assert_eq!((&read[0].starts, &read[1].starts), (&BTreeSet::from([5, 7]), &BTreeSet::new()));
    }

    #[test]
    fn the_median_needs_every_time() {
        let answers = ["12\t830", "12\t810", "12\t820"].map(text);
        assert_eq!(median(&answers), Some(Timed { count: 12, nanos: 820.0 }));
        assert_eq!(median(&[text("12\t830"), Answer::Stopped]), None);
        assert_eq!(median(&[Answer::Refused]), None);
    }

    #[test]
    fn versions_are_those_of_the_programs() {
        let manifest = std::fs::read_to_string(workspace::root().join(RUST)).unwrap();
        for Peer { name, version, runs } in PEERS.iter().filter(|peer| !peer.version.is_empty()) {
            let pinned = |packages: &[&str]| packages.iter().any(|one| one.starts_with(name) && one.contains(version));
            assert!(
                match runs {
                    Runs::Rust => manifest.lines().any(|line| line.starts_with(name) && line.contains(version)),
                    Runs::Node => pinned(NODE),
                    Runs::Python => PYTHON.iter().any(|one| one.contains(&format!("{name}=={version}"))),
                    // The package of the system.
                    Runs::C => true,
                },
                "{name} {version}"
            );
        }
    }

    #[test]
    fn arguments_set_the_seed_and_the_number_of_rules() {
        let options = |line: &str| options(&line.split_whitespace().map(String::from).collect::<Vec<_>>());
        assert_eq!(options("").unwrap(), (1, RULES));
        assert_eq!(options("--rules 5 --seed 7").unwrap(), (7, 5));
        assert!(options("--rules").is_err() && options("5").is_err());
    }

    #[test]
    fn a_program_that_stops_is_started_again_after_the_question() {
        let [rust, python, c, modules] = ["sh"; 4].map(PathBuf::from);
        let programs = Programs { rust, python, c, modules };
        let peer = Peer { name: "-c", version: "", runs: Runs::Rust };
        let script = "echo ready; read line; echo \"$line\"";
        let questions = ["one", "refused", "two"].map(String::from);
        let answers = programs.ask(&peer, script, &questions, READY_MAX);
        assert_eq!(answers.unwrap(), [text("one"), Answer::Stopped, text("two")]);
    }
}
