//! `cargo xtask fuzz`: runs libFuzzer on the parsers of untrusted text and on the engines behind them, for a time or a number of inputs.
//!
//! The seeds in `fuzz/corpus` are only read. New inputs are kept in `target/fuzz/corpus`, where the next run
//! continues. An input that fails is written to `fuzz/artifacts`.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail, ensure};

use crate::workspace::{self, Workspace};
use crate::{process, tools};

/// The toolchain that libFuzzer's instrumentation needs.
const TOOLCHAIN: &str = "nightly";

/// The maximum time for one input, in seconds.
const TIMEOUT: &str = "5";

/// The memory limit of a target in megabytes, including the fuzzer itself, which takes 28 MB before the first input.
const MEMORY: &str = "96";

/// AddressSanitizer is off: Kalends is safe Rust, and the sanitizer's shadow memory alone would exceed [`MEMORY`].
const BUILT: [&str; 4] = ["--sanitizer", "none", "--target-dir", "target/fuzz"];

/// A program in `fuzz/fuzz_targets`.
struct Target {
    name: &'static str,
    /// The longest input in bytes: somewhat more than the parser accepts, or enough for what it inspects.
    longest: u32,
    /// Folders with further seeds.
    seeds: &'static [&'static str],
    /// Further libFuzzer flags.
    flags: &'static [&'static str],
}

const TARGETS: [Target; 7] = [
    Target { name: "rule", longest: 320, seeds: &[], flags: &[] },
    Target {
        name: "feed",
        longest: 4_096,
        seeds: &["crates/feeds/tests/corpus"],
        // Some feeds take a million times as long as others. Without this flag, most of the time would go to feeds
        // like those.
        flags: &["-entropic_scale_per_exec_time=1"],
    },
    Target { name: "time", longest: 96, seeds: &[], flags: &[] },
    Target { name: "lenient", longest: 320, seeds: &["fuzz/corpus/rule"], flags: &[] },
    Target { name: "built", longest: 128, seeds: &[], flags: &[] },
    Target { name: "set", longest: 512, seeds: &[], flags: &[] },
    Target { name: "algebra", longest: 512, seeds: &[], flags: &[] },
];

/// When a target stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Until {
    Seconds(u32),
    Inputs(u32),
}

/// Builds the targets and runs the named one, or all of them in turn.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let (name, until) = options(arguments)?;
    let present = process::succeeds(Command::new("rustup").args(["run", TOOLCHAIN, "rustc", "--version"]));
    ensure!(present, "fuzzing needs a nightly toolchain: rustup toolchain install {TOOLCHAIN} --profile minimal");
    let workspace = Workspace::load()?;
    let fuzz = || tools::FUZZ.command_on(TOOLCHAIN, &workspace);
    process::run(fuzz()?.arg("build").args(BUILT))?;
    for target in TARGETS.iter().filter(|target| name.is_none_or(|name| name == target.name)) {
        target.run(&mut fuzz()?, until)?;
    }
    Ok(())
}

/// The target that the arguments name, and when it stops.
fn options(arguments: &[String]) -> Result<(Option<&str>, Until)> {
    let (mut name, mut until) = (None, Until::Seconds(60));
    let mut arguments = arguments.iter().map(String::as_str);
    while let Some(argument) = arguments.next() {
        let mut number = || {
            let number = arguments.next().and_then(|text| text.parse().ok()).filter(|number| *number > 0);
            number.with_context(|| format!("{argument} needs a whole number greater than 0"))
        };
        match argument {
            "--seconds" => until = Until::Seconds(number()?),
            "--inputs" => until = Until::Inputs(number()?),
            other if TARGETS.iter().any(|target| target.name == other) => name = Some(other),
            other => bail!("there is no target `{other}`; there are {}", TARGETS.map(|target| target.name).join(", ")),
        }
    }
    Ok((name, until))
}

impl Target {
    /// Runs the target with its output in a file, and prints the result in one line.
    fn run(&self, cargo_fuzz: &mut Command, until: Until) -> Result<()> {
        let name = self.name;
        let kept = format!("target/fuzz/corpus/{name}");
        let log = workspace::root().join(format!("target/fuzz/{name}.log"));
        fs::create_dir_all(workspace::root().join(&kept)).with_context(|| format!("cannot create {kept}"))?;
        let output = File::create(&log).with_context(|| format!("cannot write {}", log.display()))?;

        cargo_fuzz.arg("run").args(BUILT).args([name, &kept, &format!("fuzz/corpus/{name}")]).args(self.seeds);
        cargo_fuzz.arg("--").args(self.limits(until)).args(self.flags);
        let status = cargo_fuzz.stdin(Stdio::null()).stdout(Stdio::null()).stderr(output).status();
        let status = status.context("cannot start `rustup`")?;
        let log_text = read(&log)?;
        if !status.success() {
            eprintln!("{}", end_of(&log_text));
            bail!("{name} failed ({status}); the whole output is in {}", log.display());
        }
        println!("{name}: {}", summary(&log_text).with_context(|| format!("no figures in {}", log.display()))?);
        Ok(())
    }

    fn limits(&self, until: Until) -> Vec<String> {
        let enough = match until {
            Until::Seconds(seconds) => format!("-max_total_time={seconds}"),
            Until::Inputs(inputs) => format!("-runs={inputs}"),
        };
        vec![
            enough,
            format!("-timeout={TIMEOUT}"),
            format!("-rss_limit_mb={MEMORY}"),
            format!("-max_len={}", self.longest),
            format!("-dict=fuzz/dictionaries/{}.dict", self.name),
            "-print_final_stats=1".into(),
        ]
    }
}

/// Reads the fuzzer's output. It contains inputs, so it may not be valid UTF-8.
fn read(log: &Path) -> Result<String> {
    let bytes = fs::read(log).with_context(|| format!("cannot read {}", log.display()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The last lines of the output, without lines about the growth of the corpus.
fn end_of(log_text: &str) -> String {
    const LINES: usize = 40;
    let lines: Vec<&str> = log_text.lines().filter(|line| !line.starts_with('#')).collect();
    lines[lines.len().saturating_sub(LINES)..].join("\n")
}

/// The final figures: the number of inputs, the time and the peak memory.
fn summary(log_text: &str) -> Option<String> {
    let figure = |name: &str| log_text.lines().rev().find_map(|line| line.strip_prefix(name)).map(str::trim);
    let inputs = figure("stat::number_of_executed_units:")?;
    let memory = figure("stat::peak_rss_mb:")?;
    let seconds = figure("Done ")?.split(" in ").nth(1)?.split(' ').next()?;
    Some(format!("{inputs} inputs in {seconds} s, at most {memory} MB, nothing found"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_name_a_target_and_a_limit() {
        let options = |line: &str| {
            let arguments: Vec<String> = line.split_whitespace().map(String::from).collect();
            options(&arguments).map(|(name, until)| (name.map(String::from), until)).map_err(|error| error.to_string())
        };
        assert_eq!(options(""), Ok((None, Until::Seconds(60))));
        assert_eq!(options("feed --seconds 5"), Ok((Some("feed".into()), Until::Seconds(5))));
        assert_eq!(options("--inputs 1000000 rule"), Ok((Some("rule".into()), Until::Inputs(1_000_000))));
        assert_eq!(options("rule --inputs"), Err("--inputs needs a whole number greater than 0".into()));
        assert_eq!(options("--seconds 0"), Err("--seconds needs a whole number greater than 0".into()));
        assert_eq!(
            options("rules"),
            Err("there is no target `rules`; there are rule, feed, time, lenient, built, set, algebra".into())
        );
    }

    #[test]
    fn every_target_has_a_program_seeds_and_a_dictionary() {
        for Target { name, seeds, .. } in TARGETS {
            let of = |path: String| workspace::root().join(path);
            assert!(of(format!("fuzz/fuzz_targets/{name}.rs")).is_file(), "{name}");
            assert!(of(format!("fuzz/corpus/{name}")).is_dir(), "{name}");
            assert!(of(format!("fuzz/dictionaries/{name}.dict")).is_file(), "{name}");
            assert!(seeds.iter().all(|seeds| of((*seeds).into()).is_dir()), "{name}");
        }
    }

    #[test]
    fn the_summary_reads_the_figures_of_libfuzzer() {
        let log_text = "#2\tINITED\n#9\tDONE\nDone 1000000 runs in 29 second(s)\nstat::number_of_executed_units: 1000000\n\
                    stat::peak_rss_mb:              37\n";
        assert_eq!(summary(log_text).as_deref(), Some("1000000 inputs in 29 s, at most 37 MB, nothing found"));
        assert_eq!(summary("nothing"), None);
    }

    #[test]
    fn the_end_leaves_out_the_growth_of_the_corpus() {
        assert_eq!(end_of("one\n#12\tNEW cov: 3\ntwo\n"), "one\ntwo");
    }
}
