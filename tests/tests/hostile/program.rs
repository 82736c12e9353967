//! Where the binary is, for the tests that start it in a way of their own.

use std::path::PathBuf;

/// The binary under test: the one that is named, else the one that was built beside the tests.
pub(crate) fn program() -> PathBuf {
    #[expect(clippy::disallowed_methods, reason = "no part of the service; the test run names its binary this way")]
    let named = std::env::var_os("KALENDS_BIN").filter(|path| !path.is_empty());
    named.map(PathBuf::from).unwrap_or_else(|| {
        let test = std::env::current_exe().unwrap();
        test.ancestors().nth(2).unwrap().join("kalends")
    })
}
