//! The log of requests: one line for each, in the form of the other log lines.
//!
//! The threads that serve requests only queue their lines. One thread formats and writes them, many at a time: a write
//! for each request would cost more than the rest of its line. It waits for [`GATHER`] after each write, so it is woken
//! at most that often.

use std::{
    fmt::{self, Write as _},
    io::Write,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
    time::Duration,
};

use kalends_http::{RequestLine, RequestLog, ToolCall};
use kalends_time::{Clock as _, SignedDuration, Timestamp};
use tracing::{Level, event_enabled};

use crate::{
    ambient::SystemClock,
    config::{Config, LogFormat},
};

/// The target of the lines, for the log filter.
macro_rules! target {
    () => {
        "kalends::requests"
    };
}
const TARGET: &str = target!();
/// How long lines gather before they are written together.
const GATHER: Duration = Duration::from_millis(20);
/// The most lines that wait. They take about 3 MB. Further ones are dropped, and counted.
const WAITING_MAX: usize = 16_384;
/// How many bytes are written at once.
const WRITTEN: usize = 64 << 10;
/// About how long a line is, in bytes.
const LINE: usize = 400;

/// Queues the lines of requests for the thread that writes them.
pub(crate) struct Requests {
    queue: Mutex<Queue>,
    /// Wakes the thread.
    queued: Condvar,
    /// Wakes those who wait until everything is written.
    written: Condvar,
    clock: SystemClock,
    /// Whether the requests of load balancers get a line.
    probes: bool,
}

#[derive(Default)]
struct Queue {
    lines: Vec<(Timestamp, RequestLine)>,
    /// Whether the thread waits to be woken.
    idle: bool,
    /// Whether the thread has lines that it has not written yet.
    writing: bool,
    /// Whether lines are written as soon as they come, because the process ends.
    ending: bool,
}

impl Requests {
    /// Starts the log of requests on standard error, unless the configuration or the log filter excludes its lines.
    /// Requires that logging has started.
    pub(crate) fn start(config: &Config) -> anyhow::Result<Option<Arc<Self>>> {
        let (all, probes) =
            (event_enabled!(target: target!(), Level::INFO), event_enabled!(target: target!(), Level::DEBUG));
        if !config.log_requests || !all {
            return Ok(None);
        }
        Self::write_to(std::io::stderr(), config.log_format, probes).map(Some)
    }

    fn write_to(to: impl Write + Send + 'static, format: LogFormat, probes: bool) -> anyhow::Result<Arc<Self>> {
        let requests = Arc::new(Self {
            queue: Mutex::default(),
            queued: Condvar::new(),
            written: Condvar::new(),
            // Like the other lines, these show the real time.
            clock: SystemClock::new(SignedDuration::ZERO),
            probes,
        });
        let writer = Arc::clone(&requests);
        thread::Builder::new().name("request-log".to_owned()).spawn(move || writer.write_all(to, format))?;
        Ok(requests)
    }

    /// Waits until every line so far is written, at most for `patience`. Blocks the thread.
    pub(crate) fn flush(&self, patience: Duration) {
        let mut queue = self.queue();
        queue.ending = true;
        self.queued.notify_one();
        let busy = |queue: &mut Queue| queue.writing || !queue.lines.is_empty();
        let _ = self.written.wait_timeout_while(queue, patience, busy);
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes what is queued, for as long as the process runs.
    fn write_all(&self, mut to: impl Write, format: LogFormat) {
        let (mut taken, mut text) = (Vec::new(), String::new());
        loop {
            let mut queue = self.queue();
            queue.writing = false;
            if queue.lines.is_empty() {
                self.written.notify_all();
                queue.idle = true;
                let waited = self.queued.wait_while(queue, |queue| queue.lines.is_empty());
                queue = waited.unwrap_or_else(PoisonError::into_inner);
                queue.idle = false;
            }
            // A flush does not wait for the next lines.
            let (mut queue, _) = self
                .queued
                .wait_timeout_while(queue, GATHER, |queue| !queue.ending)
                .unwrap_or_else(PoisonError::into_inner);
            std::mem::swap(&mut queue.lines, &mut taken);
            queue.writing = true;
            drop(queue);
            for (at, line) in taken.drain(..) {
                // Writing to a string does not fail.
                let _ = match format {
                    LogFormat::Json => writeln!(text, "{}", Json(at, &line)),
                    LogFormat::Text => writeln!(text, "{}", Text(at, &line)),
                };
                if text.len() > WRITTEN - LINE {
                    // A log that cannot be written cannot be complained about.
                    let _ = to.write_all(text.as_bytes());
                    text.clear();
                }
            }
            let _ = to.write_all(text.as_bytes());
            text.clear();
        }
    }
}

impl RequestLog for Requests {
    fn note(&self, line: RequestLine) {
        if line.is_probe() && !self.probes {
            return;
        }
        let at = self.clock.now();
        let mut queue = self.queue();
        if queue.lines.len() >= WAITING_MAX {
            drop(queue);
            kalends_metrics::LOG_LINES_DROPPED.inc();
            return;
        }
        queue.lines.push((at, line));
        let wakes = queue.idle;
        drop(queue);
        if wakes {
            self.queued.notify_one();
        }
    }
}

fn level(line: &RequestLine) -> Level {
    if line.is_probe() { Level::DEBUG } else { Level::INFO }
}

/// The milliseconds of a duration, with three digits after the point.
struct Millis(Duration);

impl fmt::Display for Millis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let micros = self.0.as_micros();
        write!(f, "{}.{:03}", micros / 1_000, micros % 1_000)
    }
}

/// A line as JSON. No value needs escapes: they are numbers, identifiers and words of our own.
struct Json<'a>(Timestamp, &'a RequestLine);

impl fmt::Display for Json<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(at, line) = self;
        let RequestLine { request, operation, method, status, took, bytes, organization, key, tool } = line;
        let level = level(line);
        write!(f, r#"{{"timestamp":"{at}","level":"{level}","message":"request","target":"{TARGET}""#)?;
        write!(f, r#","request_id":"{request}""#)?;
        word(f, "operation", operation.map(|operation| operation.id))?;
        word(f, "method", *method)?;
        match status {
            Some(status) => write!(f, r#","status":{}"#, status.as_u16())?,
            None => f.write_str(r#","status":null"#)?,
        }
        write!(f, r#","duration_ms":{},"bytes":{bytes}"#, Millis(*took))?;
        word(f, "organization", *organization)?;
        word(f, "key", *key)?;
        if let Some(ToolCall { operation, status, request }) = tool {
            write!(f, r#","tool":"{}","tool_status":{}"#, operation.id, status.as_u16())?;
            word(f, "tool_request_id", *request)?;
        }
        f.write_str("}")
    }
}

/// Writes a member whose value is a word, or null.
fn word(f: &mut fmt::Formatter<'_>, name: &str, value: Option<impl fmt::Display>) -> fmt::Result {
    match value {
        Some(value) => write!(f, r#","{name}":"{value}""#),
        None => write!(f, r#","{name}":null"#),
    }
}

/// A line as text. What is unknown is left out.
struct Text<'a>(Timestamp, &'a RequestLine);

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(at, line) = self;
        let RequestLine { request, operation, method, status, took, bytes, organization, key, tool } = line;
        write!(f, "{at} {:>5} {TARGET}: request request_id={request}", level(line).as_str())?;
        pair(f, "operation", operation.map(|operation| operation.id))?;
        pair(f, "method", *method)?;
        pair(f, "status", status.map(|status| status.as_u16()))?;
        write!(f, " duration_ms={} bytes={bytes}", Millis(*took))?;
        pair(f, "organization", *organization)?;
        pair(f, "key", *key)?;
        if let Some(ToolCall { operation, status, request }) = tool {
            write!(f, " tool={} tool_status={}", operation.id, status.as_u16())?;
            pair(f, "tool_request_id", *request)?;
        }
        Ok(())
    }
}

fn pair(f: &mut fmt::Formatter<'_>, name: &str, value: Option<impl fmt::Display>) -> fmt::Result {
    match value {
        Some(value) => write!(f, " {name}={value}"),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use axum::http::StatusCode;
    use kalends_app::operations;
    use kalends_kernel::{KeyId, OrgId, RequestId};
    use serde_json::{Value, json};

    use super::*;

    fn at() -> Timestamp {
        "2026-03-01T10:20:30.123456Z".parse().unwrap()
    }

    /// A line in which everything is known.
    fn line() -> RequestLine {
        RequestLine {
            request: RequestId::from_bytes([1; 16]),
            operation: Some(&operations::MCP),
            method: Some("POST"),
            status: Some(StatusCode::OK),
            took: Duration::from_micros(12_034),
            bytes: 677,
            organization: Some(OrgId::from_bytes([2; 16])),
            key: Some(KeyId::from_bytes([3; 16])),
            tool: Some(ToolCall {
                operation: &operations::PLANS,
                status: StatusCode::NOT_FOUND,
                request: Some(RequestId::from_bytes([4; 16])),
            }),
        }
    }

    /// A line of a request about which nothing is known.
    fn bare() -> RequestLine {
        RequestLine { operation: None, method: None, status: None, organization: None, key: None, tool: None, ..line() }
    }

    #[test]
    fn a_line_is_json() {
        let full = Json(at(), &line()).to_string();
        assert_eq!(
            serde_json::from_str::<Value>(&full).unwrap(),
            json!({
                "timestamp": "2026-03-01T10:20:30.123456Z", "level": "INFO", "message": "request",
                "target": "kalends::requests", "request_id": line().request, "operation": operations::MCP.id,
                "method": "POST", "status": 200, "duration_ms": 12.034, "bytes": 677,
                "organization": line().organization, "key": line().key,
                "tool": operations::PLANS.id, "tool_status": 404, "tool_request_id": line().tool.unwrap().request,
            })
        );
        let bare = serde_json::from_str::<Value>(&Json(at(), &bare()).to_string()).unwrap();
        for absent in ["operation", "method", "status", "organization", "key"] {
            assert!(bare[absent].is_null() && bare.as_object().unwrap().contains_key(absent), "{absent}");
        }
        assert!(!bare.as_object().unwrap().contains_key("tool"), "{bare}");
    }

    #[test]
    fn a_line_is_text() {
        let RequestLine { request, organization, key, tool, .. } = line();
        let (organization, key, tool) = (organization.unwrap(), key.unwrap(), tool.unwrap());
        assert_eq!(
            Text(at(), &line()).to_string(),
            format!(
                "2026-03-01T10:20:30.123456Z  INFO kalends::requests: request request_id={request} operation={} \
                 method=POST status=200 duration_ms=12.034 bytes=677 organization={organization} key={key} tool={} \
                 tool_status=404 tool_request_id={}",
                operations::MCP.id,
                tool.operation.id,
                tool.request.unwrap(),
            )
        );
        assert_eq!(
            Text(at(), &bare()).to_string(),
            format!(
                "2026-03-01T10:20:30.123456Z  INFO kalends::requests: request request_id={request} duration_ms=12.034 \
                 bytes=677"
            )
        );
    }

    #[test]
    fn durations_have_three_digits_after_the_point() {
        let millis = |micros| Millis(Duration::from_micros(micros)).to_string();
        assert_eq!([millis(0), millis(7), millis(1_000), millis(61_000_020)], ["0.000", "0.007", "1.000", "61000.020"]);
    }

    /// A place to write to that several threads share.
    #[derive(Clone, Default)]
    struct Shared(Arc<Mutex<Vec<u8>>>);

    impl Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    fn written(shared: &Shared) -> Vec<String> {
        String::from_utf8(shared.0.lock().unwrap().clone()).unwrap().lines().map(str::to_owned).collect()
    }

    #[test]
    fn every_line_is_written_in_order() {
        let shared = Shared::default();
        let requests = Requests::write_to(shared.clone(), LogFormat::Json, false).unwrap();
        for bytes in 0..1_000 {
            requests.note(RequestLine { bytes, ..line() });
        }
        requests.flush(Duration::from_secs(30));
        let bytes: Vec<u64> = written(&shared)
            .iter()
            .map(|line| serde_json::from_str::<Value>(line).unwrap()["bytes"].as_u64().unwrap())
            .collect();
        assert_eq!(bytes, (0..1_000).collect::<Vec<u64>>());
    }

    #[test]
    fn probes_have_lines_at_debug() {
        let probe = RequestLine { operation: Some(&operations::HEALTH), ..bare() };
        for (probes, levels) in [(false, vec!["INFO"]), (true, vec!["DEBUG", "INFO"])] {
            let shared = Shared::default();
            let requests = Requests::write_to(shared.clone(), LogFormat::Text, probes).unwrap();
            requests.note(probe);
            requests.note(bare());
            requests.flush(Duration::from_secs(30));
            let lines = written(&shared);
            let seen: Vec<_> = lines.iter().map(|line| line.split_whitespace().nth(1).unwrap()).collect();
            assert_eq!(seen, levels);
        }
    }

    /// Blocks until it is released, like a pipe that nobody reads.
    struct Stuck(std::sync::mpsc::Receiver<()>, Shared);

    impl Write for Stuck {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            let _ = self.0.recv();
            self.1.write(bytes)
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn lines_are_dropped_while_nothing_can_be_written() {
        let shared = Shared::default();
        let (release, stuck) = std::sync::mpsc::channel();
        let requests = Requests::write_to(Stuck(stuck, shared.clone()), LogFormat::Text, false).unwrap();
        for _ in 0..3 * WAITING_MAX {
            requests.note(line());
        }
        drop(release);
        requests.flush(Duration::from_secs(30));
        // As many as wait, and as many as the thread may have taken before.
        assert!((WAITING_MAX..=2 * WAITING_MAX).contains(&written(&shared).len()));
    }
}
