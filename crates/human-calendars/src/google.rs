//! Google's calendar API, version 3 (<https://developers.google.com/workspace/calendar/api/v3/reference>).

use std::collections::BTreeMap;

use kalends_app::ports::{ProviderError, TheirBusy};
use kalends_bridge::TheirCalendar;
use kalends_time::{SignedDuration, Span, Timestamp};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    account::Account,
    answer::{Malformed, add, known, listed, read, unavailable, unknown},
};

/// The maximum number of pages of calendars that are read. A page has up to 250 calendars.
const PAGES_MAX: usize = 10;
/// The maximum number of calendars in one request (`calendarExpansionMax`).
const CALENDARS_AT_ONCE: usize = 50;
/// The longest time range in one request. Google refuses about three months, so two leave a margin.
const AT_ONCE: SignedDuration = SignedDuration::days(60);

/// The reasons of a 403 that a new consent fixes: the user did not grant everything that was asked for.
const NOT_CONSENTED: [&str; 2] = ["insufficientPermissions", "ACCESS_TOKEN_SCOPE_INSUFFICIENT"];

/// The calendars of the account.
pub(crate) async fn calendars(account: &Account<'_>) -> Result<Vec<TheirCalendar>, ProviderError> {
    let mut found = Vec::new();
    let mut page: Option<String> = None;
    for _ in 0..PAGES_MAX {
        let mut query = vec![
            ("maxResults", "250"),
            // A hidden calendar still makes its owner busy.
            ("showHidden", "true"),
            ("fields", "nextPageToken,items(id,summary,summaryOverride,primary,deleted)"),
        ];
        query.extend(page.as_deref().map(|token| ("pageToken", token)));
        let url = account.url("/users/me/calendarList", &query)?;
        let answer = account.get(url, None).await?;
        let (calendars, next) = listing(answer.status, &answer.body)?;
        found.extend(calendars);
        page = next;
        if page.is_none() {
            return Ok(listed(found));
        }
    }
    // Calendars that were not read would look removed.
    Err(Malformed::Sense("the account has more calendars than are read").into())
}

/// The busy times of each calendar within the window.
pub(crate) async fn busy(
    account: &Account<'_>,
    references: &[String],
    window: Span,
) -> Result<Vec<TheirBusy>, ProviderError> {
    let mut found = vec![known(Vec::new()); references.len()];
    for part in parts(window) {
        for (references, found) in references.chunks(CALENDARS_AT_ONCE).zip(found.chunks_mut(CALENDARS_AT_ONCE)) {
            let items: Vec<_> = references.iter().map(|reference| json!({ "id": reference })).collect();
            let question = json!({
                "timeMin": part.start().to_string(),
                "timeMax": part.end().to_string(),
                "items": items,
            });
            let answer = account.post(account.url("/freeBusy", &[])?, &question).await?;
            let answered = free_busy(answer.status, &answer.body)?;
            for (reference, found) in references.iter().zip(found) {
                let missing = || TheirBusy::Unknown("missing".to_owned());
                add(found, answered.get(reference).cloned().unwrap_or_else(missing));
            }
        }
    }
    Ok(found)
}

/// The window in parts that fit into one request each.
fn parts(window: Span) -> impl Iterator<Item = Span> {
    let mut from = window.start();
    std::iter::from_fn(move || {
        let part = Span::new(from, window.end().min(from + AT_ONCE)).ok()?;
        from = part.end();
        Some(part)
    })
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CalendarList {
    /// Missing if the account has no calendars.
    #[serde(default)]
    items: Vec<CalendarListEntry>,
    next_page_token: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CalendarListEntry {
    id: Option<String>,
    summary: Option<String>,
    summary_override: Option<String>,
    #[serde(default)]
    primary: bool,
    #[serde(default)]
    deleted: bool,
}

/// The calendars on a page, and the token of the next page.
fn listing(status: u16, body: &[u8]) -> Result<(Vec<TheirCalendar>, Option<String>), ProviderError> {
    if status != 200 {
        return Err(failure(status, body));
    }
    let list: CalendarList = read("a list of calendars", body)?;
    let calendars = list.items.into_iter().filter(|entry| !entry.deleted).filter_map(|entry| {
        // The user's own name for it takes precedence over its owner's name.
        let name = entry.summary_override.or(entry.summary).unwrap_or_default();
        Some(TheirCalendar { reference: entry.id?, name, primary: entry.primary })
    });
    Ok((calendars.collect(), list.next_page_token.filter(|token| !token.is_empty())))
}

#[derive(Deserialize)]
struct FreeBusy {
    calendars: BTreeMap<String, FreeBusyCalendar>,
}

#[derive(Deserialize)]
struct FreeBusyCalendar {
    busy: Option<Vec<TimePeriod>>,
    #[serde(default)]
    errors: Vec<FreeBusyError>,
}

#[derive(Deserialize)]
struct TimePeriod {
    start: Timestamp,
    end: Timestamp,
}

#[derive(Deserialize)]
struct FreeBusyError {
    #[serde(default)]
    reason: String,
}

/// The busy times of each calendar, by its reference.
fn free_busy(status: u16, body: &[u8]) -> Result<BTreeMap<String, TheirBusy>, ProviderError> {
    if status != 200 {
        return Err(failure(status, body));
    }
    let FreeBusy { calendars } = read("a list of busy times", body)?;
    let parsed = calendars.into_iter().map(|(reference, calendar)| {
        let busy = match (calendar.errors.first(), calendar.busy) {
            (Some(error), _) => unknown(&error.reason),
            // Empty and reversed times are left out.
            (None, Some(busy)) => known(busy.iter().filter_map(|time| Span::new(time.start, time.end).ok()).collect()),
            (None, None) => return Err(Malformed::Sense("the answer has neither busy times nor an error").into()),
        };
        Ok((reference, busy))
    });
    parsed.collect()
}

/// Classifies an error of the API (<https://developers.google.com/workspace/calendar/api/guides/errors>).
fn failure(status: u16, body: &[u8]) -> ProviderError {
    // The document is read loosely: a flaw in its details must not hide the error.
    let document: Value = serde_json::from_slice(body).unwrap_or_default();
    let reasons: Vec<&str> = ["/error/errors", "/error/details"]
        .iter()
        .filter_map(|place| document.pointer(place)?.as_array())
        .flatten()
        .filter_map(|error| error.get("reason")?.as_str())
        .collect();
    match status {
        // The token has expired or was revoked.
        401 => ProviderError::Lapsed("invalid_token".to_owned()),
        403 if reasons.iter().any(|reason| NOT_CONSENTED.contains(reason)) => {
            ProviderError::Lapsed("insufficient_scope".to_owned())
        }
        _ => unavailable(status, reasons.first().copied()),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn span(start: &str, end: &str) -> Span {
        Span::new(start.parse().unwrap(), end.parse().unwrap()).unwrap()
    }

    #[rstest]
    #[case::none("{}", &[], None)]
    #[case::empty(r#"{"items":[],"nextPageToken":""}"#, &[], None)]
    #[case::more(r#"{"items":[],"nextPageToken":"a=&b"}"#, &[], Some("a=&b"))]
    #[case::every_field(
        r#"{"kind":"calendar#calendarList","items":[
            {"id":"ada@example.com","summary":"ada@example.com","summaryOverride":"Ada","primary":true,"etag":7},
            {"id":"en.uk#holiday@group.v.calendar.google.com","summary":"Holidays","primary":false,"deleted":false},
            {"id":"gone@example.com","deleted":true},
            {"summary":"no identifier"},
            {"id":"nameless@example.com","summary":null}]}"#,
        &[
            ("ada@example.com", "Ada", true),
            ("en.uk#holiday@group.v.calendar.google.com", "Holidays", false),
            ("nameless@example.com", "", false)
        ],
        None
    )]
    fn calendars_are_read(#[case] body: &str, #[case] expected: &[(&str, &str, bool)], #[case] next: Option<&str>) {
        let (calendars, page) = listing(200, body.as_bytes()).unwrap();
        let calendars: Vec<_> =
            calendars.iter().map(|found| (found.reference.as_str(), found.name.as_str(), found.primary)).collect();
        assert_eq!((calendars.as_slice(), page.as_deref()), (expected, next));
    }

    #[rstest]
    #[case::nothing("")]
    #[case::not_json("<html>Dentist</html>")]
    #[case::cut_off(r#"{"items":[{"id":"a","summary":"Dentist"#)]
    #[case::no_object("[]")]
    #[case::no_list(r#"{"items":{"summary":"Dentist"}}"#)]
    #[case::no_text(r#"{"items":[{"id":"a","summary":["Dentist"]}]}"#)]
    #[case::no_flag(r#"{"items":[{"id":"a","primary":"Dentist"}]}"#)]
    #[case::no_token(r#"{"nextPageToken":7}"#)]
    fn malformed_lists_are_refused(#[case] body: &str) {
        let read = listing(200, body.as_bytes());
        assert!(matches!(read, Err(ProviderError::Malformed(_))), "{read:?}");
        assert!(!format!("{read:?}").contains("Dentist"), "{read:?}");
    }

    #[test]
    fn busy_times_are_read() {
        let body = r#"{"kind":"calendar#freeBusy","timeMin":"x","calendars":{
            "ada@example.com":{"busy":[
                {"start":"2026-03-02T09:00:00Z","end":"2026-03-02T10:00:00+01:00"},
                {"start":"2026-03-02T09:00:00+01:00","end":"2026-03-02T10:30:00.5+01:00","summary":"Dentist"},
                {"start":"2026-03-02T11:00:00Z","end":"2026-03-02T11:00:00Z"},
                {"start":"1969-01-01T00:00:00Z","end":"2150-01-01T00:00:00Z"}]},
            "free":{"busy":[],"errors":[]},
            "gone":{"errors":[{"domain":"global","reason":"notFound\n"}],"busy":[]},
            "odd":{"errors":[{}]}},"groups":{}}"#;
        let calendars = free_busy(200, body.as_bytes()).unwrap();
        let TheirBusy::Known { spans, .. } = &calendars["ada@example.com"] else { panic!("{calendars:?}") };
        assert_eq!(spans[0], span("2026-03-02T08:00:00Z", "2026-03-02T09:30:00.5Z"));
        // It reaches far outside any window. The caller clips it.
        assert_eq!((spans.len(), spans[1].end().to_string()), (2, "2150-01-01T00:00:00Z".to_owned()));
        assert_eq!(calendars["free"], known(vec![]));
        assert_eq!(calendars["gone"], TheirBusy::Unknown("notFound".into()));
        assert_eq!(calendars["odd"], TheirBusy::Unknown("unknown".into()));
    }

    #[rstest]
    #[case::nothing("")]
    #[case::not_json("<html>Dentist</html>")]
    #[case::cut_off(r#"{"calendars":{"Dentist":{"busy":[{"start":"2026-03-02T09:00:00Z""#)]
    #[case::no_calendars("{}")]
    #[case::neither(r#"{"calendars":{"Dentist":{}}}"#)]
    #[case::no_list(r#"{"calendars":{"Dentist":{"busy":"Dentist"}}}"#)]
    #[case::no_end(r#"{"calendars":{"Dentist":{"busy":[{"start":"2026-03-02T09:00:00Z"}]}}}"#)]
    #[case::no_time(r#"{"calendars":{"a":{"busy":[{"start":"Dentist","end":"2026-03-02T09:00:00Z"}]}}}"#)]
    #[case::a_date(r#"{"calendars":{"a":{"busy":[{"start":"2026-03-02","end":"2026-03-03"}]}}}"#)]
    #[case::no_offset(r#"{"calendars":{"a":{"busy":[{"start":"2026-03-02T09:00:00","end":"2026-03-02T09:00:00Z"}]}}}"#)]
    #[case::a_number(r#"{"calendars":{"a":{"busy":[{"start":1772442000,"end":1772445600}]}}}"#)]
    fn malformed_times_are_refused(#[case] body: &str) {
        let read = free_busy(200, body.as_bytes());
        assert!(matches!(read, Err(ProviderError::Malformed(_))), "{read:?}");
        assert!(!format!("{read:?}").contains("Dentist"), "{read:?}");
    }

    #[rstest]
    #[case(401, r#"{"error":{"code":401,"errors":[{"reason":"authError"}]}}"#, Some("invalid_token"), "")]
    #[case(401, "", Some("invalid_token"), "")]
    #[case(403, r#"{"error":{"errors":[{"reason":"insufficientPermissions"}]}}"#, Some("insufficient_scope"), "")]
    #[case(
        403,
        r#"{"error":{"status":"PERMISSION_DENIED","details":[{"reason":"ACCESS_TOKEN_SCOPE_INSUFFICIENT"}]}}"#,
        Some("insufficient_scope"),
        ""
    )]
    #[case(403, r#"{"error":{"errors":[{"reason":"rateLimitExceeded"}]}}"#, None, "403 (rateLimitExceeded)")]
    #[case(403, r#"{"error":{"errors":[{"reason":"userRateLimitExceeded"}]}}"#, None, "403 (userRateLimitExceeded)")]
    #[case(403, r#"{"error":{"errors":[{"reason":"quotaExceeded"}]}}"#, None, "403 (quotaExceeded)")]
    #[case::api_not_enabled(
        403,
        r#"{"error":{"errors":[{"reason":"accessNotConfigured"}]}}"#,
        None,
        "403 (accessNotConfigured)"
    )]
    #[case(403, "<html>", None, "403")]
    #[case(429, r#"{"error":{"errors":"x","details":[7,{"reason":7},{"reason":"soon"}]}}"#, None, "429 (soon)")]
    #[case(400, r#"{"error":"invalid"}"#, None, "400")]
    #[case(404, "", None, "404")]
    #[case(500, "{}", None, "500")]
    #[case(503, "", None, "503")]
    #[case(302, "", None, "302")]
    #[case(204, "", None, "204")]
    fn errors_are_classified(
        #[case] status: u16,
        #[case] body: &str,
        #[case] lapsed: Option<&str>,
        #[case] status_text: &str,
    ) {
        for error in [listing(status, body.as_bytes()).unwrap_err(), free_busy(status, body.as_bytes()).unwrap_err()] {
            match (error, lapsed) {
                (ProviderError::Lapsed(code), Some(expected)) => assert_eq!(code, expected),
                (ProviderError::Unavailable(error), None) => {
                    assert_eq!(error.to_string(), format!("it answers with status {status_text}"));
                }
                (error, _) => panic!("{error:?}"),
            }
        }
    }

    #[rstest]
    #[case("2026-03-01T00:00:00Z", "2026-03-01T00:00:01Z", &["2026-03-01T00:00:00Z"])]
    #[case("2026-03-01T00:00:00Z", "2026-04-30T00:00:00Z", &["2026-03-01T00:00:00Z"])]
    #[case(
        "2026-03-01T00:00:00Z",
        "2026-09-02T00:00:00Z",
        &["2026-03-01T00:00:00Z", "2026-04-30T00:00:00Z", "2026-06-29T00:00:00Z", "2026-08-28T00:00:00Z"]
    )]
    fn parts_cover_the_window(#[case] start: &str, #[case] end: &str, #[case] starts: &[&str]) {
        let parts: Vec<_> = parts(span(start, end)).collect();
        assert_eq!(parts.iter().map(|part| part.start().to_string()).collect::<Vec<_>>(), starts);
        assert!(parts.windows(2).all(|pair| pair[0].end() == pair[1].start()), "neither gap nor overlap: {parts:?}");
        assert!(parts.iter().all(|part| part.length() <= AT_ONCE));
        assert_eq!(parts.last().unwrap().end().to_string(), end);
    }
}
