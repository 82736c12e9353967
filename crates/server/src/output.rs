//! What commands print on standard output.

use std::io::{self, Write};

/// Prints one line at once, also where nobody reads line by line.
pub(crate) fn line(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{text}")?;
    out.flush()
}
