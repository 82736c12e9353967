//! Every file of the corpus, on a stable toolchain.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking, in their helpers too")]

use std::fs;
use std::path::{Path, PathBuf};

/// Checks every file in a folder, given relative to this package, and panics where there are fewer than `at_least`.
fn replay(folder: &str, at_least: usize, check: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(files.len() >= at_least, "{} files in {}", files.len(), folder.display());
    for file in files {
        // A check tells what is wrong; which file it was is told here, since a panic unwinds past this line.
        println!("{}", file.display());
        check(&fs::read(&file).unwrap());
    }
}

#[test]
fn rules() {
    replay("../corpus/rule", 20, kalends_fuzz_checks::rule::check);
}

#[test]
fn feeds() {
    replay("../corpus/feed", 12, kalends_fuzz_checks::feed::check);
}

#[test]
fn feeds_of_producers() {
    replay("../../crates/feeds/tests/corpus", 60, kalends_fuzz_checks::feed::check);
}

#[test]
fn times() {
    replay("../corpus/time", 20, kalends_fuzz_checks::time::check);
}
