//! The busy times of calendars: asks for the tag of each (RFC 6578 section 4), and for its events only if the tag is a
//! new one (RFC 4791 section 7.8).

use std::{collections::BTreeMap, sync::Arc};

use kalends_app::ports::{AskedCalendar, ProviderError, TheirBusy};
use kalends_bridge::CaldavAccount;
use kalends_egress::Egress;
use kalends_feeds::limits::STEPS_MAX;
use kalends_remote::RemoteUrl;
use kalends_time::{SignedDuration, Span, Timestamp, Zone};
use sha2::{Digest as _, Sha256};
use tokio::{
    task::spawn_blocking,
    time::{Instant, timeout_at},
};

use super::{
    dav::{Answer, Fault, Question, Server},
    resource,
    xml::{Props, Response, XmlError},
};
use crate::answer::{RAW_SPANS_MAX, TOO_MUCH, unknown};

/// The maximum length of one answer with events, in bytes. For a longer one, the window is halved.
const EVENTS_MAX: usize = 8 << 20;
/// The maximum length of all answers with the events of one calendar, in bytes.
const CALENDAR_MAX: usize = 32 << 20;
/// The maximum number of answers of one calendar that are too long. They are enough to find the busiest day of a year.
const TOO_LONG_MAX: usize = 16;
/// The shortest window that is asked for.
const SHORTEST: SignedDuration = SignedDuration::days(1);
/// How much longer the window in a request is, on both sides. A server may read whole days and times without a zone in
/// another zone than we do.
const MARGIN: SignedDuration = SignedDuration::days(1);

/// Asks for the tag and the zone of a calendar.
const STATE: &str = r#"<?xml version="1.0" encoding="utf-8"?>
<D:propfind xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav" xmlns:S="http://calendarserver.org/ns/"><D:prop>
<D:sync-token/><S:getctag/><C:calendar-timezone/><C:calendar-timezone-id/>
</D:prop></D:propfind>"#;

/// Asks for the events of a window: the part before the fields.
const EVENTS: &str = r#"<?xml version="1.0" encoding="utf-8"?>
<C:calendar-query xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav"><D:prop>"#;
/// Only the times of events, and what determines whether they block.
const NEEDED: &str = r#"<C:calendar-data>
<C:comp name="VCALENDAR"><C:prop name="VERSION"/><C:comp name="VEVENT">
<C:prop name="UID"/><C:prop name="DTSTART"/><C:prop name="DTEND"/><C:prop name="DURATION"/>
<C:prop name="RRULE"/><C:prop name="EXRULE"/><C:prop name="RDATE"/><C:prop name="EXDATE"/>
<C:prop name="RECURRENCE-ID"/><C:prop name="SEQUENCE"/><C:prop name="DTSTAMP"/><C:prop name="LAST-MODIFIED"/>
<C:prop name="STATUS"/><C:prop name="TRANSP"/><C:prop name="ATTENDEE"/>
<C:prop name="X-MICROSOFT-CDO-BUSYSTATUS"/>
</C:comp><C:comp name="VTIMEZONE"><C:allprop/><C:allcomp/></C:comp></C:comp></C:calendar-data>"#;
/// Whole events.
const WHOLE: &str = "<C:calendar-data/>";
/// The part between the fields and the window.
const FILTER: &str = r#"</D:prop>
<C:filter><C:comp-filter name="VCALENDAR"><C:comp-filter name="VEVENT">"#;
/// The part after the window.
const EVENTS_END: &str = "</C:comp-filter></C:comp-filter></C:filter></C:calendar-query>";

/// The code for a calendar that was not read in time.
const TOO_SLOW: &str = "not_in_time";

/// What is asked for of each event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fields {
    /// [`NEEDED`].
    Needed,
    /// [`WHOLE`]. Some servers return events only as a whole, such as Xandikos.
    All,
}

/// The busy times of calendars, as far as they are read until then. A refresh thus keeps what it has read, and the next
/// one asks for less.
pub(crate) async fn busy(
    egress: &Egress,
    account: &CaldavAccount,
    calendars: &[AskedCalendar],
    window: Span,
    until: Instant,
) -> Result<Vec<TheirBusy>, ProviderError> {
    let server = Server::new(egress, &account.server, &account.username, &account.password)?;
    let mut busy = Vec::with_capacity(calendars.len());
    for asked in calendars {
        // After the end, no request is sent.
        let read = if Instant::now() < until {
            timeout_at(until, of_calendar(&server, account, asked, window)).await.ok()
        } else {
            None
        };
        match read {
            Some(read) => busy.push(read.or_else(of_fault)?),
            None if busy.is_empty() => return Err(ProviderError::Unavailable("it answers too slowly".into())),
            None => busy.push(unknown(TOO_SLOW)),
        }
    }
    Ok(busy)
}

/// The result for a calendar that alone is faulty. The other faults concern the account.
fn of_fault(fault: Fault) -> Result<TheirBusy, ProviderError> {
    match fault {
        Fault::Status(403) => Ok(unknown("forbidden")),
        Fault::Status(404 | 410) => Ok(unknown("not_found")),
        Fault::Elsewhere => Ok(unknown("at_another_domain")),
        fault => Err(fault.into()),
    }
}

async fn of_calendar(
    server: &Server<'_>,
    account: &CaldavAccount,
    asked: &AskedCalendar,
    window: Span,
) -> Result<TheirBusy, Fault> {
    let Ok(url) = RemoteUrl::from_stored(&asked.reference) else { return Ok(unknown("not_an_address")) };
    // The tag comes first, so that a change between the two requests is read again the next time.
    let state = server.ask(&url, &Question::props(0, STATE)).await?;
    let Some(state) = state.responses.into_iter().next() else { return Ok(unknown("no_properties")) };
    if let Some(status @ (403 | 404 | 410)) = state.status {
        return Err(Fault::Status(status));
    }
    let zone = resource::zone(&state.props);
    let tag = tag(&state.props, zone, &account.addresses);
    if tag.is_some() && tag == asked.known {
        return Ok(TheirBusy::Unchanged);
    }
    let mut events = Events::new(&account.addresses, zone);
    let mut parts = vec![window];
    let (mut too_long, mut fields) = (0, Fields::Needed);
    while let Some(part) = parts.pop() {
        let max = EVENTS_MAX.min(CALENDAR_MAX.saturating_sub(events.length));
        match server.ask(&url, &events_of(part, fields, max)).await {
            Ok(answer) if fields == Fields::Needed && lacks_data(&answer) => {
                fields = Fields::All;
                parts.push(part);
            }
            Ok(answer) if !answer.is_cut() => match events.add(answer, part).await {
                Ok(()) => {}
                Err(TooMuch) => return Ok(unknown(TOO_MUCH)),
            },
            Ok(_) | Err(Fault::TooLarge | Fault::Malformed(XmlError::TooMany)) => {
                too_long += 1;
                let Some(halves) = halves(part).filter(|_| too_long <= TOO_LONG_MAX && max == EVENTS_MAX) else {
                    return Ok(unknown(TOO_MUCH));
                };
                parts.extend(halves);
            }
            // The other calendars may still be read.
            Err(Fault::Malformed(_)) => return Ok(unknown("malformed_answer")),
            Err(fault) => return Err(fault),
        }
    }
    let unread = events.unread.values().sum();
    Ok(TheirBusy::Known { spans: events.spans, copies: Vec::new(), tag, unread })
}

/// A digest of the state of a calendar. It covers the zone and the user's own addresses, because with them whole days
/// move, and other events are declined ones. Servers do not count that as a change of the events.
fn tag(props: &Props, zone: Zone, addresses: &[String]) -> Option<[u8; 32]> {
    let (kind, value) = match (&props.sync_token, &props.ctag) {
        (Some(token), _) => ("sync-token", token),
        (None, Some(tag)) => ("getctag", tag),
        (None, None) => return None,
    };
    let mut digest = Sha256::new();
    for part in [kind, value, zone.name()].into_iter().chain(addresses.iter().map(String::as_str)) {
        digest.update(part);
        digest.update([0]);
    }
    Some(digest.finalize().into())
}

/// The halves of a window, unless they would be shorter than [`SHORTEST`]. The later one comes first, because the last
/// one is asked for next.
fn halves(part: Span) -> Option<[Span; 2]> {
    let length = part.length();
    if length <= SHORTEST {
        return None;
    }
    let half = SignedDuration::micros(length.as_micros() / 2).max(SHORTEST);
    let middle = part.start() + half;
    Some([Span::new(middle, part.end()).ok()?, Span::new(part.start(), middle).ok()?])
}

/// Whether the server returns no text for an event that is there.
fn lacks_data(answer: &Answer) -> bool {
    answer.responses.iter().any(|response| response.status.is_none() && response.props.data.is_none())
}

/// Asks for the events of a window.
fn events_of(part: Span, fields: Fields, max: usize) -> Question {
    let (start, end) = (stamp(part.start() - MARGIN), stamp(part.end() + MARGIN));
    let fields = match fields {
        Fields::Needed => NEEDED,
        Fields::All => WHOLE,
    };
    let body = format!("{EVENTS}{fields}{FILTER}<C:time-range start=\"{start}\" end=\"{end}\"/>{EVENTS_END}");
    Question { method: "REPORT", depth: 1, body: body.into(), max }
}

/// A time in UTC, in whole seconds (RFC 5545 section 3.3.5).
fn stamp(at: Timestamp) -> String {
    let seconds = Timestamp::from_micros(at.as_unix_seconds().saturating_mul(1_000_000));
    seconds.to_string().replace(['-', ':'], "")
}

/// The events of a calendar, as far as they are read.
struct Events {
    addresses: Arc<[String]>,
    zone: Zone,
    spans: Vec<Span>,
    /// The number of parts of each resource that cannot be read.
    unread: BTreeMap<String, usize>,
    /// The length of the answers, in bytes.
    length: usize,
    steps: u64,
}

/// There are more events than are read.
struct TooMuch;

impl Events {
    fn new(addresses: &[String], zone: Zone) -> Self {
        let addresses = addresses.into();
        Self { addresses, zone, spans: Vec::new(), unread: BTreeMap::new(), length: 0, steps: 0 }
    }

    /// Adds the events of an answer. Each resource is read alone, so that a broken one does not hide the others.
    async fn add(&mut self, answer: Answer, part: Span) -> Result<(), TooMuch> {
        self.length = self.length.saturating_add(answer.length);
        for Response { href, status, props } in answer.responses {
            // It was deleted in the meantime.
            if matches!(status, Some(404 | 410)) {
                continue;
            }
            let (addresses, zone) = (Arc::clone(&self.addresses), self.zone);
            // To read a resource may take long, and must not hold up other tasks. Between two of them, the time limit
            // of the call applies.
            let read = spawn_blocking(move || resource::times(&props.data?, &addresses, zone, part));
            // If the reader panics, the resource counts as one that cannot be read.
            let unread = match read.await.ok().flatten() {
                Some(times) => {
                    self.spans.extend(times.busy);
                    self.steps = self.steps.saturating_add(times.steps);
                    times.unread
                }
                None => 1,
            };
            // An event in two parts of the window is counted once.
            if unread > 0 {
                self.unread.insert(href, unread);
            }
            if self.spans.len() > RAW_SPANS_MAX || self.steps > STEPS_MAX {
                return Err(TooMuch);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn span(start: &str, end: &str) -> Span {
        Span::new(start.parse().unwrap(), end.parse().unwrap()).unwrap()
    }

    fn props(sync_token: Option<&str>, ctag: Option<&str>) -> Props {
        Props { sync_token: sync_token.map(str::to_owned), ctag: ctag.map(str::to_owned), ..Props::default() }
    }

    #[test]
    fn tags_differ_by_kind_value_zone_and_addresses() {
        let berlin: Zone = "Europe/Berlin".parse().unwrap();
        let tags = [
            tag(&props(Some("1"), None), Zone::UTC, &[]),
            tag(&props(Some("2"), None), Zone::UTC, &[]),
            tag(&props(None, Some("1")), Zone::UTC, &[]),
            tag(&props(Some("1"), None), berlin, &[]),
            tag(&props(Some("1"), None), Zone::UTC, &["mailto:ada@example.com".to_owned()]),
        ];
        for (index, one) in tags.iter().enumerate() {
            assert!(one.is_some() && tags.iter().skip(index + 1).all(|other| one != other), "{index}");
        }
        let with_ctag = |ctag: &str| tag(&props(Some("1"), Some(ctag)), Zone::UTC, &[]);
        assert_eq!(with_ctag("x"), with_ctag("y"));
        assert_eq!(tag(&props(None, None), Zone::UTC, &[]), None);
    }

    #[rstest]
    #[case::days("2026-03-01T00:00:00Z", "2026-03-09T00:00:00Z", Some("2026-03-05T00:00:00Z"))]
    #[case::less_than_two_days("2026-03-01T00:00:00Z", "2026-03-02T12:00:00Z", Some("2026-03-02T00:00:00Z"))]
    #[case::a_day("2026-03-01T00:00:00Z", "2026-03-02T00:00:00Z", None)]
    fn windows_are_halved(#[case] start: &str, #[case] end: &str, #[case] middle: Option<&str>) {
        let expected = middle.map(|middle| [span(middle, end), span(start, middle)]);
        assert_eq!(halves(span(start, end)), expected);
    }

    /// A server may leave out what is not asked for.
    #[test]
    fn everything_that_is_read_is_asked_for() {
        for needed in resource::NEEDED.iter().chain(&["ATTENDEE"]) {
            assert!(NEEDED.contains(&format!("<C:prop name=\"{needed}\"/>")), "{needed}");
        }
    }

    #[test]
    fn windows_are_asked_for_with_a_margin() {
        let part = span("2026-03-01T00:00:00.5Z", "2026-04-01T12:30:15Z");
        let body = String::from_utf8(events_of(part, Fields::Needed, 1).body.to_vec()).unwrap();
        assert!(body.contains(r#"<C:time-range start="20260228T000000Z" end="20260402T123015Z"/>"#), "{body}");
    }
}
