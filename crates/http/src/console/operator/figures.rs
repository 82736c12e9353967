//! What the metrics of this process say, for people.

use std::collections::BTreeMap;

use kalends_web::{OperatorCount, OperatorDuty};

/// The metrics of the process at one moment.
pub(super) struct Figures(String);

impl Figures {
    /// Reads the metrics. Metrics that cannot be read are left out.
    pub(super) fn read() -> Self {
        Self(kalends_metrics::text().unwrap_or_default())
    }

    /// The duties that ran, by name.
    pub(super) fn duties(&self) -> Vec<OperatorDuty<'_>> {
        let mut duties = BTreeMap::<&str, (u64, u64)>::new();
        for (labels, count) in self.values("kalends_duty_runs_total") {
            let (Some(duty), Some(outcome)) = (label(labels, "duty"), label(labels, "outcome")) else { continue };
            let (runs, failed) = duties.entry(duty).or_default();
            *runs += count;
            if outcome == "failed" {
                *failed += count;
            }
        }
        duties.into_iter().map(|(name, (runs, failed))| OperatorDuty { name, runs, failed }).collect()
    }

    /// The emails from the queue, by their outcome.
    pub(super) fn letters(&self) -> Vec<OperatorCount<'_>> {
        let titled = |(labels, count)| {
            let title = match label(labels, "outcome")? {
                "sent" => "Sent",
                "failed" => "Failed, to be tried again",
                "dropped" => "Not sent: refused, or outdated",
                "over_limit" => "Waited for the limit of the recipient",
                other => other,
            };
            Some(OperatorCount { title, count })
        };
        self.values("kalends_letters_total").filter_map(titled).collect()
    }

    /// The labels and values of a counter.
    fn values(&self, name: &'static str) -> impl Iterator<Item = (&str, u64)> {
        self.0.lines().filter_map(move |line| {
            let (labels, value) = line.strip_prefix(name)?.strip_prefix('{')?.rsplit_once("} ")?;
            Some((labels, value.parse().ok()?))
        })
    }
}

/// The value of a label. All values are ours, and none has a quote.
fn label<'a>(labels: &'a str, name: &str) -> Option<&'a str> {
    labels.split(',').find_map(|pair| pair.strip_prefix(name)?.strip_prefix("=\"")?.strip_suffix('"'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_read() {
        let text = "# TYPE kalends_duty_runs_total counter\n\
                    kalends_duty_runs_total{duty=\"timers\",outcome=\"done\"} 12\n\
                    kalends_duty_runs_total{duty=\"timers\",outcome=\"failed\"} 3\n\
                    kalends_duty_runs_total{duty=\"purge\",outcome=\"done\"} 1\n\
                    kalends_letters_total{outcome=\"sent\"} 7\n\
                    kalends_letters_total_of_others 9\n";
        let figures = Figures(text.to_owned());
        let duties = figures.duties();
        let [purge, timers] = &*duties else { panic!("{duties:?}") };
        assert_eq!((purge.name, purge.runs, purge.failed), ("purge", 1, 0));
        assert_eq!((timers.name, timers.runs, timers.failed), ("timers", 15, 3));
        assert_eq!(figures.letters(), [OperatorCount { title: "Sent", count: 7 }]);
    }

    #[test]
    fn the_metrics_of_this_process_are_in_that_form() {
        kalends_metrics::LETTERS.with_label_values(&["over_limit"]).inc();
        let figures = Figures::read();
        assert!(figures.letters().iter().any(|count| count.title.starts_with("Waited")), "{}", figures.0);
    }
}
