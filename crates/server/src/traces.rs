//! Spans for a collector, by OTLP over HTTP (`KALENDS_OTLP_ENDPOINT`).
//!
//! A span that has ended is queued, and one task sends what is queued. Nothing else waits for the collector: if the
//! queue is full, spans are dropped, and counted.

use std::{fmt, sync::Arc, time::Duration};

use anyhow::{Context as _, anyhow};
use async_trait::async_trait;
use bytes::Bytes;
use kalends_app::{BATCH_MAX, operations};
use kalends_egress::{Allowed, Egress, Exchange, header::USER_AGENT};
use kalends_kernel::random_bytes;
use kalends_remote::RemoteUrl;
use opentelemetry::{
    Context, KeyValue, Value,
    trace::{SpanId, SpanKind, Status, TraceId, TracerProvider as _},
};
use opentelemetry_http::{HttpClient, HttpError, Request, Response};
use opentelemetry_otlp::{Protocol, RetryPolicy, SpanExporter, WithExportConfig as _, WithHttpConfig as _};
use opentelemetry_sdk::{
    Resource,
    error::OTelSdkResult,
    trace::{IdGenerator, Sampler, SdkTracer, SdkTracerProvider, Span, SpanData, SpanExporter as _, SpanProcessor},
};
use tokio::{
    sync::mpsc,
    time::{Instant, sleep},
};
use tokio_util::sync::CancellationToken;

use crate::{ambient::SystemEntropy, config::Config, outgoing};

/// The name of the service in its spans, and of the instrumentation.
const SERVICE: &str = "kalends";
/// The most spans that wait. They take about 8 MB.
const WAITING_MAX: usize = 8_192;
/// The most spans in one message to the collector.
const BATCH: usize = 512;
/// How long spans gather before they are sent together.
const GATHER: Duration = Duration::from_millis(200);
/// How long the collector may take to answer.
const DEADLINE: Duration = Duration::from_secs(5);
/// The most bytes of its answer.
const ANSWER_MAX: usize = 64 << 10;
/// The least time between two log lines about failures.
const FAILURES_LOGGED: Duration = Duration::from_secs(60);
/// The attributes for which OpenTelemetry has a name (semantic conventions for HTTP).
const METHOD: &str = "http.request.method";
const ROUTE: &str = "http.route";
const STATUS: &str = "http.response.status_code";

/// The queue of spans, and what fills it.
pub(crate) struct Traces {
    /// The spans that have ended.
    queue: mpsc::Receiver<SpanData>,
    provider: SdkTracerProvider,
}

impl Traces {
    /// Makes the queue, if the configuration names a collector.
    pub(crate) fn new(config: &Config) -> Option<Self> {
        config.otlp_endpoint.as_ref().map(|_| Self::queue(WAITING_MAX))
    }

    fn queue(waiting_max: usize) -> Self {
        let (sender, queue) = mpsc::channel(waiting_max);
        let links = u32::try_from(BATCH_MAX).unwrap_or(u32::MAX);
        let provider = SdkTracerProvider::builder()
            .with_span_processor(Queue(sender))
            // Whatever the caller says: it cannot hide its requests.
            .with_sampler(Sampler::AlwaysOn)
            .with_id_generator(Ids)
            .with_max_links_per_span(links)
            .build();
        Self { queue, provider }
    }

    /// Makes the spans that are queued.
    pub(crate) fn tracer(&self) -> SdkTracer {
        self.provider.tracer(SERVICE)
    }

    /// Sends the spans to the collector of `config`, until `stop` is cancelled and the queue is empty.
    ///
    /// # Errors
    /// If the address of the collector cannot be called.
    pub(crate) fn send(
        self,
        config: &Config,
        stop: CancellationToken,
    ) -> anyhow::Result<impl Future<Output = ()> + Send + 'static> {
        let url = format!("{}/v1/traces", config.otlp_endpoint.as_deref().unwrap_or_default());
        let mut exporter = SpanExporter::builder()
            .with_http()
            .with_http_client(Collector::at(config, &url)?)
            .with_protocol(Protocol::HttpBinary)
            .with_endpoint(url)
            .with_timeout(DEADLINE)
            // A later message follows soon anyway.
            .with_retry_policy(RetryPolicy::disabled())
            .build()
            .context("cannot set up the sending of spans")?;
        let version = KeyValue::new("service.version", env!("CARGO_PKG_VERSION"));
        exporter.set_resource(&Resource::builder_empty().with_service_name(SERVICE).with_attribute(version).build());
        Ok(send_all(self.queue, exporter, stop))
    }
}

async fn send_all(mut queue: mpsc::Receiver<SpanData>, exporter: SpanExporter, stop: CancellationToken) {
    let mut failed_at = None;
    loop {
        let mut batch = Vec::with_capacity(BATCH);
        // Once it is closed, the queue still hands out what it holds.
        let Some(taken) = stop.run_until_cancelled(queue.recv_many(&mut batch, BATCH)).await else {
            queue.close();
            while queue.recv_many(&mut batch, BATCH).await > 0 {
                send_batch(&exporter, std::mem::take(&mut batch), &mut failed_at).await;
            }
            return;
        };
        if taken == 0 {
            return;
        }
        send_batch(&exporter, batch, &mut failed_at).await;
        if taken < BATCH {
            stop.run_until_cancelled(sleep(GATHER)).await;
        }
    }
}

/// Sends spans, and logs a failure unless one was logged lately.
async fn send_batch(exporter: &SpanExporter, mut batch: Vec<SpanData>, failed_at: &mut Option<Instant>) {
    batch.iter_mut().for_each(describe);
    let count = batch.len();
    match exporter.export(batch).await {
        Ok(()) => counted("sent", count),
        Err(error) => {
            counted("failed", count);
            if failed_at.is_none_or(|at| at.elapsed() >= FAILURES_LOGGED) {
                *failed_at = Some(Instant::now());
                tracing::warn!(error = &error as &dyn std::error::Error, "spans could not be sent to the collector");
            }
        }
    }
}

fn counted(outcome: &'static str, count: usize) {
    let count = u64::try_from(count).unwrap_or(u64::MAX);
    kalends_metrics::SPANS.with_label_values(&[outcome]).inc_by(count);
}

/// Gives a span the names of OpenTelemetry. That is done here, so that a request does not wait for it.
fn describe(span: &mut SpanData) {
    let serves = span.name == "request";
    let (mut operation, mut worker) = (None, None);
    for attribute in &mut span.attributes {
        // Unsigned numbers arrive as text.
        if ["status", "change_sets"].contains(&attribute.key.as_str())
            && let Ok(number) = attribute.value.as_str().parse::<i64>()
        {
            attribute.value = Value::I64(number);
        }
        match (attribute.key.as_str(), &attribute.value) {
            ("status", Value::I64(status)) if serves => {
                if *status >= 500 {
                    span.status = Status::error("");
                }
                attribute.key = STATUS.into();
                continue;
            }
            ("operation", Value::String(id)) => {
                operation = operations::ALL.iter().find(|operation| operation.id == id.as_str());
            }
            ("worker", Value::String(name)) => worker = Some(name.as_str().to_owned()),
            _ => {}
        }
        attribute.key = format!("{SERVICE}.{}", attribute.key).into();
    }
    if serves {
        span.span_kind = SpanKind::Server;
    }
    if let Some(operation) = operation {
        span.name = operation.id.into();
        span.attributes.extend([KeyValue::new(METHOD, operation.method), KeyValue::new(ROUTE, operation.path)]);
    } else if let Some(worker) = worker {
        span.name = format!("{} {worker}", span.name).into();
    }
}

/// Queues spans that have ended.
#[derive(Debug)]
struct Queue(mpsc::Sender<SpanData>);

impl SpanProcessor for Queue {
    fn on_start(&self, _: &mut Span, _: &Context) {}

    fn on_end(&self, span: SpanData) {
        if let Err(mpsc::error::TrySendError::Full(_)) = self.0.try_send(span) {
            counted("dropped", 1);
        }
    }

    fn force_flush(&self) -> OTelSdkResult {
        Ok(())
    }

    fn shutdown_with_timeout(&self, _: Duration) -> OTelSdkResult {
        Ok(())
    }
}

/// Identifiers of the system's random bytes.
#[derive(Debug)]
struct Ids;

impl IdGenerator for Ids {
    fn new_trace_id(&self) -> TraceId {
        TraceId::from_bytes(random_bytes(&SystemEntropy))
    }

    fn new_span_id(&self) -> SpanId {
        SpanId::from_bytes(random_bytes(&SystemEntropy))
    }
}

/// A client of the collector. It may call one address besides those of the public internet: that of the collector.
/// Another client calls the addresses that callers give, so they cannot reach the collector.
struct Collector {
    egress: Arc<Egress>,
    url: RemoteUrl,
}

impl Collector {
    fn at(config: &Config, url: &str) -> anyhow::Result<Self> {
        let url = RemoteUrl::parse("KALENDS_OTLP_ENDPOINT", url, |_, _| true);
        let url = url.map_err(|wrong| anyhow!("{} {}", wrong.param, wrong.message))?;
        let (host, port) = url.destination();
        let allowed = Allowed::new([(host.to_owned(), port)]);
        let egress = outgoing::client(config, allowed).context("cannot set up calls of the collector")?;
        Ok(Self { egress: Arc::new(egress), url })
    }
}

impl fmt::Debug for Collector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Collector").finish_non_exhaustive()
    }
}

#[async_trait]
impl HttpClient for Collector {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let (parts, body) = request.into_parts();
        let mut headers = parts.headers;
        // The library's own; the client adds that of the service.
        headers.remove(USER_AGENT);
        let exchange = Exchange::new(parts.method, self.url.clone(), DEADLINE, ANSWER_MAX);
        let reply = self.egress.send(Exchange { headers, body, ..exchange }).await.inspect_err(|error| {
            tracing::debug!(error = error as &dyn std::error::Error, "cannot reach the collector");
        })?;
        let mut response = Response::new(reply.body);
        *response.status_mut() = reply.status;
        Ok(response)
    }
}

#[cfg(test)]
mod tests {
    use opentelemetry::trace::{Span as _, Tracer as _};

    use super::*;

    /// The spans in the queue.
    fn queued(traces: &mut Traces) -> Vec<SpanData> {
        std::iter::from_fn(|| traces.queue.try_recv().ok()).collect()
    }

    #[test]
    fn spans_are_dropped_while_the_queue_is_full() {
        let mut traces = Traces::queue(2);
        let tracer = traces.tracer();
        for name in ["a", "b", "c"] {
            tracer.start(name).end();
        }
        assert_eq!(queued(&mut traces).iter().map(|span| span.name.as_ref()).collect::<Vec<_>>(), ["a", "b"]);
        tracer.start("d").end();
        assert_eq!(queued(&mut traces)[0].name, "d");
    }

    #[test]
    fn spans_of_requests_have_the_names_of_opentelemetry() {
        let described = |name: &'static str, attributes: Vec<KeyValue>| {
            let mut traces = Traces::queue(1);
            let mut span = traces.tracer().start(name);
            span.set_attributes(attributes);
            span.end();
            let mut span = queued(&mut traces).remove(0);
            describe(&mut span);
            let mut attributes: Vec<_> =
                span.attributes.iter().map(|own| format!("{}={}", own.key, own.value)).collect();
            attributes.sort();
            (span.name.into_owned(), span.span_kind, span.status, attributes)
        };
        let plans = vec![KeyValue::new("operation", "listPlans"), KeyValue::new("status", "503")];
        assert_eq!(
            described("request", plans),
            (
                "listPlans".to_owned(),
                SpanKind::Server,
                Status::error(""),
                [
                    "http.request.method=GET",
                    "http.response.status_code=503",
                    "http.route=/v1/plans",
                    "kalends.operation=listPlans",
                ]
                .map(str::to_owned)
                .to_vec()
            )
        );
        let (name, kind, status, _) = described("request", vec![KeyValue::new("status", "404")]);
        assert_eq!((name.as_str(), kind, status), ("request", SpanKind::Server, Status::Unset));
        let (name, kind, _, attributes) = described("turn", vec![KeyValue::new("worker", "timers")]);
        assert_eq!((name.as_str(), kind), ("turn timers", SpanKind::Internal));
        assert_eq!(attributes, ["kalends.worker=timers"]);
    }
}
