//! The environment variables that this tool reads.

/// The value of a variable, if it is set, not empty and valid UTF-8.
#[expect(clippy::disallowed_methods, reason = "this tool is not part of the service; it needs CI and PATH")]
pub(crate) fn var(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Whether this is a CI run.
pub(crate) fn is_ci() -> bool {
    var("CI").is_some_and(|value| value != "false" && value != "0")
}
