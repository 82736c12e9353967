//! The end of a worker's attempt at something that it has claimed.

use std::fmt;

use crate::ports::CommitError;

/// The outcome of an attempt at `claimed`, as metrics name it: the outcome that was stored, or `lost` or `broken` if
/// nothing was stored. A failure of the store is logged with `failure`, which says what was not done.
pub(crate) fn outcome_of(
    attempt: Result<&'static str, CommitError>,
    claimed: &dyn fmt::Display,
    failure: &str,
) -> &'static str {
    match attempt {
        Ok(outcome) => outcome,
        Err(CommitError::Store(error)) => {
            tracing::error!(
                error = &error as &dyn std::error::Error,
                %claimed,
                "{failure}; it is claimed again once its claim has expired"
            );
            "broken"
        }
        // The claim is lost, or the organization is gone. Another worker has taken over, if needed.
        Err(_) => "lost",
    }
}

#[cfg(test)]
mod tests {
    use kalends_kernel::StoreError;

    use super::*;

    #[test]
    fn an_attempt_that_stored_nothing_is_lost_or_broken() {
        let outcome = |attempt| outcome_of(attempt, &"con_1", "a connection cannot be refreshed");
        assert_eq!(outcome(Ok("good")), "good");
        assert_eq!(outcome(Err(CommitError::Stale)), "lost");
        assert_eq!(outcome(Err(CommitError::NoOrganization)), "lost");
        assert_eq!(outcome(Err(CommitError::Store(StoreError::Unavailable("away".into())))), "broken");
    }
}
