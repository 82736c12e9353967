//! What the test run was given.

use std::path::PathBuf;

/// Names the binary under test.
const BINARY: &str = "KALENDS_BIN";

/// The binary under test: the one that the variable names, or the one that was built with the tests.
pub fn binary() -> PathBuf {
    variable(BINARY).map(PathBuf::from).unwrap_or_else(|| {
        let test = std::env::current_exe().expect("the path of the test");
        test.ancestors().nth(2).expect("target/debug/deps/TEST").join("kalends")
    })
}

/// A variable of the test run.
#[expect(clippy::disallowed_methods, reason = "not part of the service; the test run is configured this way")]
pub(crate) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}
