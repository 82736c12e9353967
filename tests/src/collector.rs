//! A collector of spans on its own port.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use axum::{Router, body::Bytes, extract::State, http::StatusCode, routing::post};
use opentelemetry_proto::tonic::{
    collector::trace::v1::ExportTraceServiceRequest,
    common::v1::{AnyValue, any_value::Value},
    trace::v1 as wire,
};
use prost::Message as _;

/// The longest wait for an expected span on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A span as received. Identifiers are in hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Collected {
    /// Its name.
    pub name: String,
    /// The trace that it belongs to.
    pub trace: String,
    /// Its identifier.
    pub id: String,
    /// The identifier of its parent, or an empty text.
    pub parent: String,
    /// The identifiers of the spans that it is linked to.
    pub links: Vec<String>,
    /// Its attributes.
    pub attributes: BTreeMap<String, String>,
    /// Whether it is the span of a request.
    pub serves: bool,
    /// Whether it failed.
    pub failed: bool,
}

/// A collector of spans. It ends with the test.
#[derive(Clone)]
pub struct Collector {
    address: String,
    spans: Arc<Mutex<Vec<Collected>>>,
}

impl Collector {
    /// Starts a collector.
    pub async fn start() -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("its address").to_string();
        let collector = Self { address, spans: Arc::default() };
        let router = Router::new().route("/v1/traces", post(collect)).with_state(collector.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        collector
    }

    /// The base URL, for `KALENDS_OTLP_ENDPOINT`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The spans so far.
    pub fn spans(&self) -> Vec<Collected> {
        self.spans.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Waits until `found` finds something in the spans.
    pub async fn wait_for<T>(&self, what: &str, found: impl Fn(&[Collected]) -> Option<T>) -> T {
        let began = tokio::time::Instant::now();
        loop {
            let spans = self.spans();
            if let Some(found) = found(&spans) {
                return found;
            }
            assert!(began.elapsed() < PATIENCE, "no {what} in {spans:#?}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

async fn collect(State(collector): State<Collector>, body: Bytes) -> Result<Vec<u8>, StatusCode> {
    let request = ExportTraceServiceRequest::decode(body).map_err(|_| StatusCode::BAD_REQUEST)?;
    let scopes = request.resource_spans.into_iter().flat_map(|resource| resource.scope_spans);
    let spans = scopes.flat_map(|scope| scope.spans).map(collected);
    collector.spans.lock().unwrap_or_else(PoisonError::into_inner).extend(spans);
    // The empty message: everything was accepted.
    Ok(Vec::new())
}

fn collected(span: wire::Span) -> Collected {
    let attribute = |value: Option<AnyValue>| match value.and_then(|value| value.value) {
        Some(Value::StringValue(text)) => text,
        Some(Value::IntValue(number)) => number.to_string(),
        Some(Value::BoolValue(flag)) => flag.to_string(),
        other => format!("{other:?}"),
    };
    Collected {
        serves: span.kind() == wire::span::SpanKind::Server,
        failed: span.status.as_ref().is_some_and(|status| status.code() == wire::status::StatusCode::Error),
        name: span.name,
        trace: hex(&span.trace_id),
        id: hex(&span.span_id),
        parent: hex(&span.parent_span_id),
        links: span.links.iter().map(|link| hex(&link.span_id)).collect(),
        attributes: span.attributes.into_iter().map(|pair| (pair.key, attribute(pair.value))).collect(),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
