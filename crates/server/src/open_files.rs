//! The limit of open files. Each connection takes one.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Raises the soft limit of open files to the hard one, and returns the limit in force.
///
/// The soft limit is low (1,024 on many systems) for the sake of programs that use `select`. This one does not.
pub(crate) fn raise() -> usize {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let raised = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
    if let Err(error) = raised {
        tracing::warn!(%error, "cannot raise the limit of open files");
    }
    let limit = if raised.is_ok() { maximum } else { current };
    // `None` means unlimited.
    limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_soft_limit_becomes_the_hard_one() {
        let limit = raise();
        let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
        assert_eq!(current, maximum);
        assert_eq!(
            current.and_then(|current| usize::try_from(current).ok()),
            Some(limit).filter(|limit| *limit != usize::MAX)
        );
    }
}
