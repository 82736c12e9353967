//! Log lines go to standard error. Standard output is only for what commands print.

use std::{
    fmt::{self, Write},
    io::IsTerminal,
};

use anyhow::anyhow;
use tracing::{
    Metadata, Subscriber,
    field::{Field, Visit},
    span::Record,
    subscriber::Interest,
};
use tracing_subscriber::{
    EnvFilter, Layer,
    field::RecordFields,
    fmt::{FormatFields, FormattedFields, format::Writer},
    layer::{Context, Filter, SubscriberExt as _},
    registry::LookupSpan,
    util::SubscriberInitExt as _,
};

use crate::{
    config::{Config, LogFormat},
    traces::Traces,
};

/// Starts logging. Commands other than `serve` log only if the operator set a filter. They report their errors on
/// standard error in any case.
///
/// Returns the spans for the collector, if the configuration of a server names one.
pub(crate) fn start(config: &Config, serving: bool) -> anyhow::Result<Option<Traces>> {
    if !serving && !config.log_is_chosen {
        return Ok(None);
    }
    let filter = EnvFilter::try_new(&config.log)?;
    let traces = Traces::new(config).filter(|_| serving);
    let started = match &traces {
        // One filter for everything costs less than one for each listener.
        None => tracing_subscriber::registry().with(filter).with(lines(config.log_format)).try_init(),
        Some(traces) => {
            let spans = tracing_opentelemetry::layer()
                .with_tracer(traces.tracer())
                .with_location(false)
                .with_threads(false)
                .with_target(false)
                .with_tracked_inactivity(false)
                .with_context_activation(false)
                .with_filter(OwnSpans);
            let lines = lines(config.log_format).with_filter(filter);
            tracing_subscriber::registry().with(lines).with(spans).try_init()
        }
    };
    started.map_err(|error| anyhow!("cannot start logging: {error}"))?;
    Ok(traces)
}

/// Accepts our own spans for the collector, whatever the log filter is. Lines of the log are not sent to the collector.
struct OwnSpans;

impl OwnSpans {
    fn take(metadata: &Metadata<'_>) -> bool {
        metadata.is_span() && metadata.target().starts_with("kalends")
    }
}

impl<S> Filter<S> for OwnSpans {
    fn enabled(&self, metadata: &Metadata<'_>, _: &Context<'_, S>) -> bool {
        Self::take(metadata)
    }

    /// Never answers "always". If every filter answered "always" for a span, the library would not ask the filters for
    /// each such span. It would use their last answers on this thread, and those may be about a statement: the driver
    /// asks whether a statement is logged, and then may not log it.
    fn callsite_enabled(&self, metadata: &'static Metadata<'static>) -> Interest {
        if Self::take(metadata) { Interest::sometimes() } else { Interest::never() }
    }
}

/// Writes the lines.
fn lines<S: Subscriber + for<'a> LookupSpan<'a>>(format: LogFormat) -> Box<dyn Layer<S> + Send + Sync> {
    let layer =
        tracing_subscriber::fmt::layer().with_ansi(std::io::stderr().is_terminal()).with_writer(std::io::stderr);
    match format {
        LogFormat::Text => layer.boxed(),
        // The list of spans contains the current one.
        LogFormat::Json => layer.json().flatten_event(true).with_current_span(false).fmt_fields(SpanFields).boxed(),
    }
}

/// Keeps the fields of a span as the text of a JSON object. The library's own form parses that text and writes it
/// again for each field that becomes known later, which every request would pay for.
struct SpanFields;

impl<'writer> FormatFields<'writer> for SpanFields {
    fn format_fields<R: RecordFields>(&self, mut writer: Writer<'writer>, fields: R) -> fmt::Result {
        writer.write_char('{')?;
        let mut members = Members { to: &mut writer, is_first: true, written: Ok(()) };
        fields.record(&mut members);
        members.written?;
        writer.write_char('}')
    }

    fn add_fields(&self, current: &'writer mut FormattedFields<Self>, fields: &Record<'_>) -> fmt::Result {
        // Without its last brace, the object is open again.
        if current.fields.pop().is_none() {
            current.fields.push('{');
        }
        let is_first = current.fields == "{";
        let mut members = Members { to: &mut current.fields, is_first, written: Ok(()) };
        fields.record(&mut members);
        let written = members.written;
        current.fields.push('}');
        written
    }
}

/// Writes fields as members of a JSON object.
struct Members<'a> {
    to: &'a mut dyn Write,
    is_first: bool,
    written: fmt::Result,
}

impl Members<'_> {
    fn write(&mut self, field: &Field, value: fmt::Arguments<'_>) {
        let comma = if std::mem::take(&mut self.is_first) { "" } else { "," };
        // Names of fields are identifiers, so they need no escapes.
        let written = write!(self.to, "{comma}\"{}\":{value}", field.name());
        self.written = self.written.and(written);
    }
}

impl Visit for Members<'_> {
    fn record_u64(&mut self, field: &Field, value: u64) {
        self.write(field, format_args!("{value}"));
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.write(field, format_args!("{value}"));
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.write(field, format_args!("{value}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.write(field, format_args!("{}", serde_json::Value::from(value)));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.write(field, format_args!("{}", serde_json::Value::from(format!("{value:?}"))));
    }
}

#[cfg(test)]
mod tests {
    use std::{
        io,
        sync::{Arc, Mutex},
    };

    use serde_json::{Value, json};
    use tracing::field;
    use tracing_subscriber::fmt::MakeWriter;

    use super::*;

    /// What was logged.
    #[derive(Clone, Default)]
    struct Lines(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Lines {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl MakeWriter<'_> for Lines {
        type Writer = Self;

        fn make_writer(&self) -> Self {
            self.clone()
        }
    }

    #[test]
    fn fields_of_spans_are_json_whenever_they_become_known() {
        let lines = Lines::default();
        let layer = tracing_subscriber::fmt::layer().with_writer(lines.clone()).json().flatten_event(true);
        let layer = layer.with_current_span(false).fmt_fields(SpanFields);
        tracing::subscriber::with_default(tracing_subscriber::registry().with(layer), || {
            let outer = tracing::error_span!("outer", id = %"a\"b", text = field::Empty, number = field::Empty);
            outer.record("text", "c\\d\n");
            outer.record("number", 7);
            let inner = tracing::error_span!(parent: &outer, "inner", late = field::Empty);
            inner.record("late", true);
            let bare = tracing::error_span!(parent: &inner, "bare");
            bare.in_scope(|| tracing::info!("said"));
        });
        let line: Value = serde_json::from_slice(&lines.0.lock().unwrap()).unwrap();
        assert_eq!(
            line["spans"],
            json!([
                {"name": "outer", "id": "a\"b", "text": "c\\d\n", "number": 7},
                {"name": "inner", "late": true},
                {"name": "bare"},
            ])
        );
        assert_eq!(line["message"], "said");
    }
}
