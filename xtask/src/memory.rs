//! A folder in memory for databases that need not survive: a test waits for the disk more than for the processor.

use std::path::Path;
use std::process::Command;

use crate::process;

/// The memory-backed folder of Linux.
const FOLDER: &str = "/dev/shm";
/// The free space that a whole test run needs. With less, the run uses the disk.
const NEEDED: u64 = 4 << 30;

/// The memory-backed folder, if there is one with enough space.
pub(crate) fn folder() -> Option<&'static Path> {
    let path = Path::new(FOLDER);
    let free = process::read(Command::new("df").args(["--block-size=1", "--output=avail", FOLDER])).ok()?;
    (path.is_dir() && enough(&free)).then_some(path)
}

/// Whether `df` reports enough free space. Its first line is a header.
fn enough(report: &str) -> bool {
    report.lines().nth(1).and_then(|line| line.trim().parse::<u64>().ok()).is_some_and(|free| free >= NEEDED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_is_used_only_with_enough_space() {
        assert!(enough("     Avail\n4294967296\n"));
        assert!(!enough("     Avail\n4294967295\n"));
        assert!(!enough("     Avail\n         -\n"));
        assert!(!enough(""));
    }
}
