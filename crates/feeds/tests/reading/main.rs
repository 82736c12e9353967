//! Reading third-party feeds: a corpus of what producers write, edge cases, bounds and properties.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests fail by panicking, in their helpers too"
)]

mod bounds;
mod busy_only;
mod corpus;
mod edges;
mod laws;
mod recurring;

use kalends_feeds::read::{Context, Feed, ReadError, read};
use kalends_time::{Span, Timestamp, Zone};

/// The present instant in all tests.
const NOW: &str = "2026-03-10T12:00:00Z";

fn at(text: &str) -> Timestamp {
    if text == "2100-01-01T00:00:00Z" { Timestamp::HORIZON } else { text.parse().expect(text) }
}

fn zone(name: &str) -> Zone {
    name.parse().expect(name)
}

fn span(start: &str, end: &str) -> Span {
    Span::new(at(start), at(end)).expect("a span")
}

fn context(zone_name: &str) -> Context {
    Context { calendar_zone: zone(zone_name), now: at(NOW) }
}

/// A calendar with these lines.
fn calendar(lines: &str) -> String {
    let lines: Vec<&str> = lines.lines().map(str::trim_start).filter(|line| !line.is_empty()).collect();
    format!("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Tests//EN\r\n{}\r\nEND:VCALENDAR\r\n", lines.join("\r\n"))
}

/// A calendar with one event with these properties.
fn event(lines: &str) -> String {
    calendar(&format!("BEGIN:VEVENT\nUID:one\nDTSTAMP:20260301T000000Z\n{lines}\nEND:VEVENT"))
}

fn try_read(text: &str) -> Result<Feed, ReadError> {
    read(text.as_bytes(), &context("Europe/Berlin"))
}

fn feed(text: &str) -> Feed {
    try_read(text).expect("a feed")
}

/// The busy times of a year around the tests, as `start/end` without the seconds.
fn busy(feed: &Feed) -> Vec<String> {
    span_texts(&feed.busy(span("2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z")))
}

fn span_texts(spans: &[Span]) -> Vec<String> {
    let minute = |instant: Timestamp| instant.to_string().replace(":00Z", "");
    spans.iter().map(|span| format!("{}/{}", minute(span.start()), minute(span.end()))).collect()
}
