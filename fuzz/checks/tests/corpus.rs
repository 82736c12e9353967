//! Replays every file of the corpus on the stable toolchain.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking, in their helpers too")]

use std::fs;
use std::path::{Path, PathBuf};

/// Checks every file in a folder, which is relative to this package. Panics if there are fewer than `at_least`.
fn replay(folder: &str, at_least: usize, check: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(files.len() >= at_least, "{} files in {}", files.len(), folder.display());
    for file in files {
        // The check's panic does not name the file, so print it first.
        println!("{}", file.display());
        check(&fs::read(&file).unwrap());
    }
}

#[test]
fn rules_of_the_corpus_pass() {
    replay("../corpus/rule", 20, kalends_fuzz_checks::rule::check);
}

#[test]
fn feeds_of_the_corpus_pass() {
    replay("../corpus/feed", 12, kalends_fuzz_checks::feed::check);
}

#[test]
fn feeds_of_known_producers_pass() {
    replay("../../crates/feeds/tests/corpus", 60, kalends_fuzz_checks::feed::check);
}

#[test]
fn times_of_the_corpus_pass() {
    replay("../corpus/time", 20, kalends_fuzz_checks::time::check);
}

#[test]
fn rules_of_other_programs_in_the_corpus_pass() {
    replay("../corpus/lenient", 7, kalends_fuzz_checks::lenient::check);
    replay("../corpus/rule", 20, kalends_fuzz_checks::lenient::check);
}

#[test]
fn built_rules_of_the_corpus_pass() {
    replay("../corpus/built", 4, kalends_fuzz_checks::built::check);
}

#[test]
fn sets_of_the_corpus_pass() {
    replay("../corpus/set", 4, kalends_fuzz_checks::set::check);
}

#[test]
fn algebra_of_the_corpus_passes() {
    replay("../corpus/algebra", 4, kalends_fuzz_checks::algebra::check);
}
