//! Which SQL statements something causes, as the driver itself reports them.
//!
//! The driver reports every statement to `tracing`, on the thread that runs it, within the span of the caller. A test
//! therefore runs its calls in a span of its own; tests that run in parallel have other spans.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Mutex, MutexGuard, Once, PoisonError},
};

use tracing::{
    Event, Instrument as _, Metadata, Subscriber,
    field::{Field, Visit},
    span::Id,
};
use tracing_subscriber::{
    Layer,
    layer::{Context, SubscriberExt as _},
    registry::{LookupSpan, Registry},
};

/// The target under which the driver reports statements.
const DRIVER: &str = "sqlx::query";

/// The statements of every span that is watched.
static SEEN: Mutex<BTreeMap<u64, Vec<String>>> = Mutex::new(BTreeMap::new());

/// Returns the output of `operation` and the statements that it ran, in order. Statements that begin or end a
/// transaction are left out.
///
/// Becomes the subscriber of the process, which must have no other.
///
/// # Panics
/// If the process has another subscriber, since nothing would be seen.
#[expect(clippy::expect_used, reason = "a test that captures nothing must not pass")]
pub async fn statements_of<T>(operation: impl Future<Output = T>) -> (T, Vec<String>) {
    become_subscriber();
    let span = tracing::info_span!("statements");
    let id = span.id().as_ref().map(Id::into_u64).expect("a span of the subscriber above");
    seen().insert(id, Vec::new());
    let answer = operation.instrument(span).await;
    (answer, seen().remove(&id).unwrap_or_default())
}

/// Every statement of the process since [`EveryStatement::watch`], if that was called.
static EVERY: Mutex<Option<Vec<String>>> = Mutex::new(None);

/// Every statement of the process, whichever task or thread runs it: for a test that has the databases of the process
/// to itself. Statements that begin or end a transaction are included if the driver reports them.
#[derive(Debug)]
pub struct EveryStatement(());

impl EveryStatement {
    /// Starts watching. Becomes the subscriber of the process, which must have no other.
    ///
    /// # Panics
    /// If the process has another subscriber, since nothing would be seen.
    pub fn watch() -> Self {
        become_subscriber();
        every().get_or_insert_default();
        Self(())
    }

    /// The statements so far, in the order in which they ended.
    pub fn seen(&self) -> Vec<String> {
        every().clone().unwrap_or_default()
    }

    /// Removes and returns the statements so far.
    pub fn take(&self) -> Vec<String> {
        every().as_mut().map(std::mem::take).unwrap_or_default()
    }
}

fn every() -> MutexGuard<'static, Option<Vec<String>>> {
    EVERY.lock().unwrap_or_else(PoisonError::into_inner)
}

#[expect(clippy::expect_used, reason = "a test that captures nothing must not pass")]
fn become_subscriber() {
    static WATCHING: Once = Once::new();
    WATCHING.call_once(|| {
        tracing::subscriber::set_global_default(Registry::default().with(Watch)).expect("no other subscriber");
    });
}

fn seen() -> MutexGuard<'static, BTreeMap<u64, Vec<String>>> {
    SEEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Records each statement with the span of its caller.
struct Watch;

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Watch {
    fn enabled(&self, metadata: &Metadata<'_>, _context: Context<'_, S>) -> bool {
        metadata.target() == DRIVER || (metadata.is_span() && metadata.target() == module_path!())
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let mut statement = Statement::default();
        event.record(&mut statement);
        let text = statement.text();
        if let Some(every) = every().as_mut() {
            every.push(text.clone());
        }
        let Some(span) = context.event_span(event) else { return };
        if let Some(statements) = seen().get_mut(&span.id().into_u64()) {
            // Only one of the two drivers reports these.
            if !["BEGIN", "COMMIT", "ROLLBACK"].iter().any(|boundary| text.starts_with(boundary)) {
                statements.push(text);
            }
        }
    }
}

/// The fields in which the driver reports a statement: its first words, and its full text if it is longer.
#[derive(Debug, Default)]
struct Statement {
    summary: String,
    full: String,
}

impl Statement {
    fn text(self) -> String {
        let text = if self.full.trim().is_empty() { self.summary } else { self.full };
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

impl Visit for Statement {
    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            "summary" => value.clone_into(&mut self.summary),
            "db.statement" => value.clone_into(&mut self.full),
            _ => {}
        }
    }

    fn record_debug(&mut self, _field: &Field, _value: &dyn fmt::Debug) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    fn driver(statement: &str) {
        tracing::debug!(target: "sqlx::query", summary = "SELECT 1", db.statement = statement);
    }

    #[tokio::test]
    async fn statements_belong_to_the_span_of_the_caller() {
        let operation = async {
            driver("");
            let span = tracing::Span::current();
            // On another thread, as the driver's own threads do.
            std::thread::spawn(move || span.in_scope(|| driver("\n\nSELECT\n  2\n"))).join().map_err(|_| "panicked")?;
            tracing::info!("something else");
            Ok::<_, &str>(3)
        };
        let nobody = async { driver("SELECT 3") };
        let ((answer, statements), ()) = tokio::join!(statements_of(operation), nobody);
        assert_eq!(answer, Ok(3));
        assert_eq!(statements, ["SELECT 1", "SELECT 2"]);
        assert_eq!(statements_of(async {}).await.1, Vec::<String>::new());
    }
}
