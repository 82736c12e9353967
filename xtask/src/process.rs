//! Runs other programs: nothing on standard input, and one clear line if they fail.

use std::fmt;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail};

/// A program failed and has already printed its error.
#[derive(Debug)]
pub(crate) struct Reported;

impl fmt::Display for Reported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a program failed and printed its error")
    }
}

impl std::error::Error for Reported {}

/// Cargo, in the repository's root.
pub(crate) fn cargo<S: AsRef<str>>(arguments: impl IntoIterator<Item = S>) -> Command {
    let mut command = Command::new(crate::env::var("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(crate::workspace::root());
    command.args(arguments.into_iter().map(|argument| argument.as_ref().to_owned()));
    command
}

/// Runs a program to its end and passes its output through.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let status =
        command.stdin(Stdio::null()).status().with_context(|| format!("cannot start {}", command_line(command)))?;
    if !status.success() {
        bail!("{} failed ({status})", command_line(command));
    }
    Ok(())
}

/// Runs a program to its end without adding output after its own.
pub(crate) fn run_last(command: &mut Command) -> Result<()> {
    let status =
        command.stdin(Stdio::null()).status().with_context(|| format!("cannot start {}", command_line(command)))?;
    if status.success() { Ok(()) } else { Err(Reported.into()) }
}

/// Runs a program and returns its standard output. Its standard error becomes part of the error.
pub(crate) fn read(command: &mut Command) -> Result<String> {
    let output =
        command.stdin(Stdio::null()).output().with_context(|| format!("cannot start {}", command_line(command)))?;
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        bail!("{} failed ({}): {}", command_line(command), output.status, stderr.trim());
    }
    String::from_utf8(output.stdout).with_context(|| format!("{} did not print UTF-8", command_line(command)))
}

/// Whether a program starts and succeeds.
pub(crate) fn succeeds(command: &mut Command) -> bool {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// The program's name and arguments, as a person would type them.
fn command_line(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or(command.get_program());
    let mut text = format!("`{}", program.to_string_lossy());
    for argument in command.get_args() {
        text.push(' ');
        text.push_str(&argument.to_string_lossy());
    }
    text.push('`');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_names_the_command() {
        let error = run(Command::new("/bin/sh").args(["-c", "exit 3"])).unwrap_err().to_string();
        assert_eq!(error, "`sh -c exit 3` failed (exit status: 3)");
    }

    #[test]
    fn a_failed_read_includes_standard_error() {
        let error = read(Command::new("/bin/sh").args(["-c", "echo no >&2; exit 1"])).unwrap_err().to_string();
        assert!(error.ends_with(": no"), "{error}");
    }

    #[test]
    fn a_missing_program_is_one_line() {
        let error = format!("{:#}", run(&mut Command::new("kalends-no-such-program")).unwrap_err());
        assert!(error.starts_with("cannot start `kalends-no-such-program`"), "{error}");
        assert_eq!(error.lines().count(), 1);
    }
}
