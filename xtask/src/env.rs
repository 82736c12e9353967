//! The environment variables that this tool reads.

/// The value of a variable that is set, not empty and valid UTF-8.
#[expect(
    clippy::disallowed_methods,
    reason = "this tool is no part of the service; CI and PATH are told to it this way"
)]
pub(crate) fn var(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Whether this is a run of continuous integration.
pub(crate) fn is_ci() -> bool {
    var("CI").is_some_and(|value| value != "false" && value != "0")
}
