//! `cargo xtask properties`: runs every law of the workspace with one seed, and prints one line for each.

use std::collections::BTreeMap;
use std::fs;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail, ensure};

use crate::layers::laws::{self, Law, PAGE};
use crate::layers::model::Model;
use crate::postgres::{self, Durability, TestServer};
use crate::workspace::{self, Workspace};
use crate::{process, test};

/// The prefix of our packages, which `--crate` may leave out.
const PREFIX: &str = "kalends-";

/// The profile in `.config/nextest.toml`, which kills no slow law and prints a line for each test.
const PROFILE: &str = "properties";

/// The packages whose tests need Postgres.
const ON_POSTGRES: [&str; 2] = ["kalends-postgres", "kalends-e2e"];

/// The draws for each case that a law may reject: those of a `prop_assume!`, and those of a filter. Proptest's defaults
/// are totals for 256 cases.
const REJECTED: [(&str, u32, u32); 2] =
    [("PROPTEST_MAX_GLOBAL_REJECTS", 20, 1_024), ("PROPTEST_MAX_LOCAL_REJECTS", 256, 65_536)];

/// What to run.
#[derive(Debug, Default, PartialEq, Eq)]
struct Options {
    /// The full name of the only package.
    package: Option<String>,
    /// The number of cases of each law. `None` for the usual number of each.
    cases: Option<u32>,
    seed: Option<u64>,
    renew: bool,
}

/// Runs the laws, or writes their list.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let options = Options::read(arguments)?;
    let laws = laws::laws(&Model::read()?);
    if options.renew {
        return renew(&laws);
    }
    let laws: Vec<Law> =
        laws.into_iter().filter(|law| options.package.as_ref().is_none_or(|package| *package == law.package)).collect();
    ensure!(!laws.is_empty(), "there are no laws in {}", options.package.as_deref().unwrap_or("the workspace"));
    let seed = options.seed.unwrap_or_else(random);
    println!("seed {seed}");

    let workspace = Workspace::load()?;
    let mut nextest = test::nextest(&workspace)?;
    let needs_postgres = laws.iter().any(|law| ON_POSTGRES.contains(&law.package.as_str()));
    let postgres = needs_postgres.then(|| TestServer::obtain(Durability::None)).transpose()?;
    if let Some(postgres) = &postgres {
        nextest.env(postgres::TEST_POSTGRES, postgres.url());
    }
    nextest.args(["--profile", PROFILE]).envs(options.environment(seed)).args(selection(&laws));
    let outcomes = outcomes(&mut nextest, &laws)?;
    let missing: Vec<&Law> = laws.iter().filter(|law| !outcomes.contains_key(&identifier(law))).collect();
    for law in &missing {
        print_line(law, "NOT RUN", "");
    }
    let failed = missing.len() + outcomes.values().filter(|passed| !**passed).count();
    if failed == 0 {
        println!("{} laws passed", laws.len());
        return Ok(());
    }
    println!("to repeat: {}", options.repeated(seed));
    bail!("{failed} of {} laws failed or did not run", laws.len())
}

/// Prints how a law ended.
fn print_line(law: &Law, outcome: &str, time: &str) {
    println!("{:<24} {:<96} {outcome} {time}", law.package, law.test);
}

/// Writes the list of the page.
fn renew(laws: &[Law]) -> Result<()> {
    let path = workspace::root().join(PAGE);
    let page = fs::read_to_string(&path).with_context(|| format!("cannot read {PAGE}"))?;
    let renewed = laws::renewed(&page, laws).with_context(|| format!("{PAGE} has no heading for the list"))?;
    fs::write(&path, renewed).with_context(|| format!("cannot write {PAGE}"))?;
    println!("{PAGE} lists {} laws", laws.len());
    Ok(())
}

impl Options {
    fn read(arguments: &[String]) -> Result<Self> {
        let mut options = Self::default();
        let mut arguments = arguments.iter().map(String::as_str);
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().with_context(|| format!("{argument} needs a value"));
            match argument {
                "--crate" => {
                    let name = value()?;
                    options.package = Some(format!("{PREFIX}{}", name.strip_prefix(PREFIX).unwrap_or(name)));
                }
                "--cases" => {
                    let number = value()?.parse().ok().filter(|number| *number > 0);
                    options.cases = Some(number.context("--cases needs a whole number greater than 0")?);
                }
                "--seed" => {
                    options.seed = Some(value()?.parse().context("--seed needs a whole number below 2^64")?);
                }
                "--renew" => options.renew = true,
                other => bail!("there is no argument `{other}`; there are --crate, --cases, --seed, --renew"),
            }
        }
        ensure!(!options.renew || options == Self { renew: true, ..Self::default() }, "--renew has no other arguments");
        Ok(options)
    }

    /// The variables that proptest reads.
    fn environment(&self, seed: u64) -> Vec<(&'static str, String)> {
        let mut variables = vec![("PROPTEST_RNG_SEED", seed.to_string())];
        if let Some(cases) = self.cases {
            variables.push(("PROPTEST_CASES", cases.to_string()));
            let most = |(name, each, least): (&'static str, u32, u32)| {
                (name, cases.saturating_mul(each).max(least).to_string())
            };
            variables.extend(REJECTED.map(most));
        }
        variables
    }

    /// The command that runs the same cases.
    fn repeated(&self, seed: u64) -> String {
        let mut text = String::from("cargo xtask properties");
        if let Some(package) = &self.package {
            text.push_str(&format!(" --crate {package}"));
        }
        if let Some(cases) = self.cases {
            text.push_str(&format!(" --cases {cases}"));
        }
        text.push_str(&format!(" --seed {seed}"));
        text
    }
}

/// A seed that differs from run to run.
fn random() -> u64 {
    RandomState::new().build_hasher().finish()
}

/// The arguments that select exactly these laws: their packages, which are built, and a filter expression.
fn selection(laws: &[Law]) -> Vec<String> {
    let mut by_package: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for law in laws {
        let binary =
            law.binary.as_ref().map_or("kind(lib)+kind(bin)".to_owned(), |binary| format!("binary(={binary})"));
        by_package.entry(&law.package).or_default().push(format!("(test(={})&({binary}))", law.test));
    }
    let packages = by_package.keys().flat_map(|package| ["--package".to_owned(), (*package).to_owned()]);
    let filter = by_package.iter().map(|(package, tests)| format!("(package(={package})&({}))", tests.join("+")));
    let filter = filter.collect::<Vec<_>>().join("+");
    packages.chain(["--filterset".to_owned(), filter]).collect()
}

/// Runs nextest and prints a line for each law that ends. What else nextest prints goes to standard error. Returns whether
/// each law passed.
fn outcomes(nextest: &mut Command, laws: &[Law]) -> Result<BTreeMap<String, bool>> {
    let mut child = nextest.stdin(Stdio::null()).stderr(Stdio::piped()).spawn().context("cannot start nextest")?;
    let names: BTreeMap<String, &Law> = laws.iter().map(|law| (identifier(law), law)).collect();
    let mut outcomes = BTreeMap::new();
    for line in BufReader::new(child.stderr.take().context("nextest has no output")?).split(b'\n') {
        let line = line.context("cannot read nextest's output")?;
        let line = String::from_utf8_lossy(&line);
        match outcome(&line).and_then(|(passed, time, name)| Some((passed, time, name, names.get(name)?))) {
            // A failure may be repeated in the summary.
            Some((_, _, name, _)) if outcomes.contains_key(name) => {}
            Some((passed, time, name, law)) => {
                print_line(law, if passed { "passed" } else { "FAILED" }, time);
                outcomes.insert(name.to_owned(), passed);
            }
            None => eprintln!("{line}"),
        }
    }
    let status = child.wait().context("nextest did not end")?;
    if !status.success() && outcomes.values().all(|passed| *passed) {
        return Err(process::Reported.into());
    }
    Ok(outcomes)
}

/// The name by which nextest calls a law.
fn identifier(Law { package, binary, test, .. }: &Law) -> String {
    match binary {
        None => format!("{package} {test}"),
        Some(binary) => format!("{package}::{binary} {test}"),
    }
}

/// Reads a line of nextest about the end of a test: whether it passed, its time, and its name.
fn outcome(line: &str) -> Option<(bool, &str, &str)> {
    let (status, rest) = line.trim_start().split_once(" [")?;
    let (time, rest) = rest.split_once(']')?;
    // The number of the test among all, if nextest prints it.
    let name = rest.trim_start();
    let name = name.strip_prefix('(').and_then(|name| name.split_once(") ")).map_or(name, |(_, name)| name);
    let passed = match status.trim() {
        "PASS" => true,
        // A slow test has not ended.
        "SLOW" => return None,
        _ => false,
    };
    Some((passed, time.trim(), name.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(line: &str) -> Result<Options, String> {
        let arguments: Vec<String> = line.split_whitespace().map(String::from).collect();
        Options::read(&arguments).map_err(|error| error.to_string())
    }

    #[test]
    fn arguments_narrow_and_repeat_a_run() {
        assert_eq!(options(""), Ok(Options::default()));
        let full = Options { package: Some("kalends-time".into()), cases: Some(9), seed: Some(u64::MAX), renew: false };
        assert_eq!(options("--crate time --cases 9 --seed 18446744073709551615"), Ok(full));
        assert_eq!(options("--crate kalends-time"), options("--crate time"));
        assert_eq!(options("--cases 0"), Err("--cases needs a whole number greater than 0".into()));
        assert_eq!(options("--cases"), Err("--cases needs a value".into()));
        assert_eq!(options("--seed -1"), Err("--seed needs a whole number below 2^64".into()));
        assert_eq!(options("--renew --seed 1"), Err("--renew has no other arguments".into()));
        assert_eq!(
            options("time"),
            Err("there is no argument `time`; there are --crate, --cases, --seed, --renew".into())
        );
    }

    #[test]
    fn the_repeated_command_reads_back() {
        for line in ["--seed 7", "--crate kalends-time --seed 7", "--crate kalends-time --cases 9 --seed 7"] {
            let repeated = options(line).unwrap().repeated(7);
            assert_eq!(repeated, format!("cargo xtask properties {line}"));
        }
    }

    #[test]
    fn proptest_reads_the_seed_and_the_cases() {
        let variables = |line: &str| options(line).unwrap().environment(5);
        assert_eq!(variables(""), [("PROPTEST_RNG_SEED", "5".to_owned())]);
        let more = variables("--cases 100000");
        assert!(more.contains(&("PROPTEST_CASES", "100000".to_owned())));
        assert!(more.contains(&("PROPTEST_MAX_GLOBAL_REJECTS", "2000000".to_owned())));
        assert!(variables("--cases 1").contains(&("PROPTEST_MAX_LOCAL_REJECTS", "65536".to_owned())));
    }

    #[test]
    fn lines_of_nextest_are_read() {
        let line = "        PASS [   0.014s] (  3/140) kalends-time zone::tests::holds";
        assert_eq!(outcome(line), Some((true, "0.014s", "kalends-time zone::tests::holds")));
        let line = "        FAIL [  10.014s] kalends-recurrence::engine laws::holds";
        assert_eq!(outcome(line), Some((false, "10.014s", "kalends-recurrence::engine laws::holds")));
        assert!(
            outcome("     TIMEOUT [ 240.014s] (1/1) kalends-time zone::tests::holds")
                .is_some_and(|(passed, ..)| !passed)
        );
        assert_eq!(outcome("        SLOW [>600.000s] kalends-time zone::tests::holds"), None);
        assert_eq!(outcome("     Summary of nothing"), None);
    }

    #[test]
    fn seeds_differ() {
        assert_ne!(random(), random());
    }
}
