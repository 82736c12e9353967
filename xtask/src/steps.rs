//! Headers for a run of several steps, with the time of each.

use std::time::{Duration, Instant};

use anyhow::Result;

/// A run of named steps.
pub(crate) struct Steps {
    began: Instant,
}

impl Steps {
    /// Starts the clock.
    pub(crate) fn begin() -> Self {
        Self { began: Instant::now() }
    }

    /// Runs one step between a header and its duration.
    pub(crate) fn step(&self, name: &str, run: impl FnOnce() -> Result<()>) -> Result<()> {
        let began = Instant::now();
        self.header(name);
        run()?;
        eprintln!("== {name}: {}", duration_text(began.elapsed()));
        Ok(())
    }

    /// Runs the last step, whose output ends the run.
    pub(crate) fn last(&self, name: &str, run: impl FnOnce() -> Result<()>) -> Result<()> {
        self.header(name);
        run()
    }

    fn header(&self, name: &str) {
        eprintln!("\n== {name} (after {})", duration_text(self.began.elapsed()));
    }
}

fn duration_text(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..60 => format!("{seconds} s"),
        seconds => format!("{} min {:02} s", seconds / 60, seconds % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_printed_in_minutes_and_seconds() {
        assert_eq!(duration_text(Duration::from_millis(59_999)), "59 s");
        assert_eq!(duration_text(Duration::from_secs(125)), "2 min 05 s");
    }
}
