//! The metrics of a server: one declaration each, with its name, meaning, labels and buckets.
//!
//! Metrics are counted in atomics from the first use, whether or not anybody reads them. [`text`] returns all of them in
//! the Prometheus text format. Labels have few values, all of them ours, so that memory is bounded.

use std::sync::LazyLock;

use prometheus::{
    Gauge, Histogram, HistogramOpts, HistogramVec, IntCounter, IntCounterVec, IntGauge, Opts, Registry, TextEncoder,
    core::Collector,
};

/// The value of the header `Content-Type` for [`text`].
pub const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The histogram buckets of durations, in seconds.
const SECONDS: &[f64] = &[0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0];
/// The histogram buckets for lateness, in seconds: hours after an outage.
const LATENESS: &[f64] = &[0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 15.0, 60.0, 300.0, 1_800.0, 3_600.0, 86_400.0];

static REGISTRY: LazyLock<Registry> = LazyLock::new(Registry::new);

/// Every metric in the Prometheus text format, version 0.0.4. A metric with labels appears with its first value.
///
/// # Errors
/// Returns the encoder's error for a metric that breaks the format.
pub fn text() -> prometheus::Result<String> {
    for register in ALL {
        register();
    }
    TextEncoder::new().encode_to_string(&REGISTRY.gather())
}

/// A kind of metric that the macro below can declare.
trait Kind: Collector + Clone + Sized + 'static {
    fn build(opts: Opts, labels: &[&str], buckets: &[f64]) -> prometheus::Result<Self>;
}

impl Kind for IntCounter {
    fn build(opts: Opts, _: &[&str], _: &[f64]) -> prometheus::Result<Self> {
        Self::with_opts(opts)
    }
}

impl Kind for IntCounterVec {
    fn build(opts: Opts, labels: &[&str], _: &[f64]) -> prometheus::Result<Self> {
        Self::new(opts, labels)
    }
}

impl Kind for IntGauge {
    fn build(opts: Opts, _: &[&str], _: &[f64]) -> prometheus::Result<Self> {
        Self::with_opts(opts)
    }
}

impl Kind for Gauge {
    fn build(opts: Opts, _: &[&str], _: &[f64]) -> prometheus::Result<Self> {
        Self::with_opts(opts)
    }
}

impl Kind for Histogram {
    fn build(opts: Opts, _: &[&str], buckets: &[f64]) -> prometheus::Result<Self> {
        Self::with_opts(HistogramOpts::from(opts).buckets(buckets.to_vec()))
    }
}

impl Kind for HistogramVec {
    fn build(opts: Opts, labels: &[&str], buckets: &[f64]) -> prometheus::Result<Self> {
        Self::new(HistogramOpts::from(opts).buckets(buckets.to_vec()), labels)
    }
}

/// Creates a metric and registers it.
#[expect(clippy::expect_used, reason = "the declarations below are fixed, and a test registers them all")]
fn registered<K: Kind>(name: &str, help: &str, labels: &[&str], buckets: &[f64]) -> K {
    let metric = K::build(Opts::new(name, help.trim()), labels, buckets).expect("a valid declaration");
    REGISTRY.register(Box::new(metric.clone())).expect("a name of its own");
    metric
}

/// Declares metrics. Their docstrings are the help texts of the Prometheus format.
macro_rules! metrics {
    ($(#[doc = $help:literal] $metric:ident: $kind:ident = $name:literal $([$($label:literal),+])? $(in $buckets:ident)?;)+) => {
        $(
            #[doc = $help]
            pub static $metric: LazyLock<$kind> = LazyLock::new(|| {
                let labels: &[&str] = &[$($($label),+)?];
                let buckets: &[f64] = [$($buckets,)? SECONDS][0];
                registered($name, $help, labels, buckets)
            });
        )+
        /// Registers one metric each.
        const ALL: &[fn()] = &[$(|| { LazyLock::force(&$metric); }),+];
        /// The names of all metrics.
        #[cfg(test)]
        const NAMES: &[&str] = &[$($name),+];
    };
}

metrics! {
    /// Requests that were answered, by operation and status.
    HTTP_REQUESTS: IntCounterVec = "kalends_http_requests_total" ["operation", "status"];
    /// Time from the arrival of a request to the head of its answer.
    HTTP_REQUEST_SECONDS: HistogramVec = "kalends_http_request_seconds" ["operation"];
    /// Lines of requests that could not be written.
    LOG_LINES_DROPPED: IntCounter = "kalends_log_lines_dropped_total";
    /// Spans for the collector, by outcome: sent, failed or dropped.
    SPANS: IntCounterVec = "kalends_spans_total" ["outcome"];
    /// Runs of background duties, by outcome: done or failed.
    DUTY_RUNS: IntCounterVec = "kalends_duty_runs_total" ["duty", "outcome"];
    /// Time that one run of a duty took.
    DUTY_RUN_SECONDS: HistogramVec = "kalends_duty_run_seconds" ["duty"];
    /// Things that a duty found due.
    DUTY_THINGS: IntCounterVec = "kalends_duty_things_total" ["duty"];
    /// Time between the due time of a thing and its completion.
    DUTY_LATENESS: HistogramVec = "kalends_duty_lateness_seconds" ["duty"] in LATENESS;
    /// Webhook messages that were addressed to endpoints.
    WEBHOOK_MESSAGES: IntCounter = "kalends_webhook_messages_total";
    /// Webhook deliveries that were not sent, because the monthly quota was used up.
    WEBHOOK_SKIPPED: IntCounter = "kalends_webhook_skipped_total";
    /// Attempts to deliver a webhook message, by outcome.
    WEBHOOK_ATTEMPTS: IntCounterVec = "kalends_webhook_attempts_total" ["outcome"];
    /// Time that one attempt to deliver took.
    WEBHOOK_ATTEMPT_SECONDS: Histogram = "kalends_webhook_attempt_seconds";
    /// Webhook endpoints that were switched off, by reason.
    WEBHOOK_DEACTIVATED: IntCounterVec = "kalends_webhook_deactivated_total" ["reason"];
    /// Webhook messages that wait to be addressed.
    WEBHOOK_MESSAGES_WAITING: IntGauge = "kalends_webhook_messages_waiting";
    /// Webhook deliveries that have not ended.
    WEBHOOK_DELIVERIES_PENDING: IntGauge = "kalends_webhook_deliveries_pending";
    /// Time since the oldest webhook delivery fell due.
    WEBHOOK_OLDEST_DUE_SECONDS: Gauge = "kalends_webhook_oldest_due_seconds";
    /// Emails from the queue, by outcome.
    LETTERS: IntCounterVec = "kalends_letters_total" ["outcome"];
    /// Syncs of iCal subscriptions, by outcome.
    ICAL_SYNCS: IntCounterVec = "kalends_ical_syncs_total" ["outcome"];
    /// Time that one sync took.
    ICAL_SYNC_SECONDS: Histogram = "kalends_ical_sync_seconds";
    /// Refreshes of human calendars, by provider and outcome.
    HUMAN_CALENDAR_REFRESHES: IntCounterVec = "kalends_human_calendar_refreshes_total" ["provider", "outcome"];
    /// Time that one refresh took, by provider.
    HUMAN_CALENDAR_REFRESH_SECONDS: HistogramVec = "kalends_human_calendar_refresh_seconds" ["provider"];
    /// Attempts to publish a calendar to a human calendar, by outcome.
    PUBLICATIONS: IntCounterVec = "kalends_publications_total" ["outcome"];
    /// Time that one attempt to publish took.
    PUBLICATION_SECONDS: Histogram = "kalends_publication_seconds";
    /// Copies that were created, changed or deleted at a provider, by result.
    PUBLICATION_STEPS: IntCounterVec = "kalends_publication_steps_total" ["result"];
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// The documentation of the metrics.
    const MONITORING: &str = include_str!("../../../docs/run/monitoring.md");

    #[test]
    fn the_docs_list_every_metric() {
        // A name in the docs is code, so it ends before a backtick, a brace or a space.
        let words = MONITORING.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let documented: BTreeSet<&str> = words.filter(|word| word.starts_with("kalends_")).collect();
        assert_eq!(documented, NAMES.iter().copied().collect());
    }

    #[test]
    fn the_text_has_every_metric_with_its_meaning() {
        LETTERS.with_label_values(&["sent"]).inc_by(2);
        HTTP_REQUEST_SECONDS.with_label_values(&["getEvent"]).observe(0.003);
        DUTY_LATENESS.with_label_values(&["timers"]).observe(70.0);
        let text = text().unwrap();
        for line in [
            "# HELP kalends_letters_total Emails from the queue, by outcome.",
            "# TYPE kalends_letters_total counter",
            "kalends_letters_total{outcome=\"sent\"} 2",
            "kalends_http_request_seconds_bucket{operation=\"getEvent\",le=\"0.0025\"} 0",
            "kalends_http_request_seconds_bucket{operation=\"getEvent\",le=\"0.005\"} 1",
            "kalends_duty_lateness_seconds_bucket{duty=\"timers\",le=\"60\"} 0",
            "kalends_duty_lateness_seconds_bucket{duty=\"timers\",le=\"300\"} 1",
            // Without labels, a metric is there before anything happened.
            "kalends_webhook_skipped_total 0",
            "kalends_webhook_oldest_due_seconds 0",
        ] {
            assert!(text.lines().any(|own| own == line), "{line} is not in\n{text}");
        }
    }
}
