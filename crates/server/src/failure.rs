//! Failures of commands.

use std::{io::Write, process::ExitCode};

/// Why a command failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The configuration is invalid: one sentence for each problem.
    Configuration(Vec<String>),
    /// Anything else.
    Other(anyhow::Error),
}

impl<E: Into<anyhow::Error>> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::Other(error.into())
    }
}

impl Failure {
    /// Writes one line for each error to standard error, and returns the exit code.
    pub(crate) fn report(self) -> ExitCode {
        let (lines, code) = self.lines();
        let mut out = std::io::stderr().lock();
        for line in lines {
            // If standard error is closed, there is nowhere left to report it.
            let _ = writeln!(out, "error: {line}");
        }
        ExitCode::from(code)
    }

    fn lines(self) -> (Vec<String>, u8) {
        match self {
            Self::Configuration(problems) => (problems.iter().map(|problem| one_line(problem)).collect(), 2),
            Self::Other(error) if is_broken_pipe(&error) => (Vec::new(), 0),
            Self::Other(error) => (vec![one_line(&chain(&error))], 1),
        }
    }
}

/// Whether the reader of our output (such as `head`) closed the pipe, which is not an error.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<std::io::Error>().is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}

/// The error and its causes. A cause is left out if the previous message already ends with it, as messages of drivers
/// often do.
fn chain(error: &anyhow::Error) -> String {
    let mut messages: Vec<String> = Vec::new();
    for cause in error.chain().map(ToString::to_string) {
        if messages.last().is_none_or(|last| !last.ends_with(&cause)) {
            messages.push(cause);
        }
    }
    messages.join(": ")
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use anyhow::Context;

    use super::*;

    #[test]
    fn an_error_is_one_line_with_its_causes() {
        let cause = std::io::Error::other("no\nspace left");
        let failure = Failure::from(Err::<(), _>(cause).context("cannot write the key").unwrap_err());
        assert_eq!(failure.lines(), (vec!["cannot write the key: no space left".to_owned()], 1));
    }

    #[test]
    fn a_cause_that_is_already_quoted_is_not_repeated() {
        let error = anyhow::anyhow!("no such file").context("driver: no such file").context("cannot open");
        assert_eq!(Failure::from(error).lines().0, ["cannot open: driver: no such file"]);
    }

    #[test]
    fn each_configuration_problem_is_one_line() {
        let failure = Failure::Configuration(vec!["a".to_owned(), "b\nc".to_owned()]);
        assert_eq!(failure.lines(), (vec!["a".to_owned(), "b c".to_owned()], 2));
    }
}
