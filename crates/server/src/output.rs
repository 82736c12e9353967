//! Output of commands on standard output.

use std::io::{self, Write};

/// Prints one line and flushes, so that a reader behind a pipe gets it immediately.
pub(crate) fn line(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{text}")?;
    out.flush()
}
