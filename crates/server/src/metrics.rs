//! Metrics in the Prometheus format.

use std::time::Duration;

use anyhow::Context;
use axum::{Router, http::header::CONTENT_TYPE, routing::get};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use tokio::time::interval;

/// How often recorded values are aggregated, which bounds their memory.
const UPKEEP: Duration = Duration::from_secs(5);
/// The histogram buckets of everything measured in seconds.
const SECONDS: &[f64] = &[0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0];
/// The histogram buckets for lateness: seconds at best, hours after an outage.
const LATENESS: &[f64] = &[0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 15.0, 60.0, 300.0, 1_800.0, 3_600.0, 86_400.0];

/// Starts recording. Metrics cost nothing until this is called.
pub(crate) fn start() -> anyhow::Result<PrometheusHandle> {
    PrometheusBuilder::new()
        .set_buckets_for_metric(Matcher::Suffix("_seconds".to_owned()), SECONDS)
        .and_then(|builder| {
            builder.set_buckets_for_metric(Matcher::Full("kalends_duty_lateness_seconds".to_owned()), LATENESS)
        })
        .and_then(PrometheusBuilder::install_recorder)
        .context("cannot record metrics")
}

/// Aggregates recorded values until it is cancelled.
pub(crate) async fn upkeep(handle: PrometheusHandle) {
    let mut ticks = interval(UPKEEP);
    loop {
        ticks.tick().await;
        handle.run_upkeep();
    }
}

/// `GET /metrics`.
pub(crate) fn router(handle: PrometheusHandle) -> Router {
    let render = move || async move { ([(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], handle.render()) };
    Router::new().route("/metrics", get(render))
}
