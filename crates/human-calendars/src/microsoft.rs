//! Microsoft's calendar API, Graph version 1.0 (<https://learn.microsoft.com/graph/api/resources/calendar>).
//!
//! All-day events are reported from midnight to midnight UTC, whatever zone their owner lives in. They are read as
//! days of the zone in which they were created. If that zone is unknown, they take all the time during which it is
//! that day anywhere.

mod batch;
mod common;
mod event;
mod mark;
pub(crate) mod publishing;

use kalends_app::ports::{ProviderError, TheirBusy};
use kalends_bridge::TheirCalendar;
use kalends_time::Span;
use serde::Deserialize;

use self::{
    common::{IN_UTC, NOT_CONSENTED, Page, code, is_one_of, lapsed, segment},
    event::Event,
    mark::PROPERTY,
};
use crate::{
    account::Account,
    answer::{Malformed, TOO_MUCH, add, known, listed, read, unavailable, unknown},
};

/// The maximum number of pages of calendars that are read. A page has up to 100 calendars.
const PAGES_MAX: usize = 10;
/// The maximum number of pages of one calendar's events. A page may have fewer events than requested, but there must be
/// a limit.
const EVENT_PAGES_MAX: usize = 50;

/// The codes of a 400 that mean that the calendar does not exist.
const NO_CALENDAR: [&str; 2] = ["ErrorInvalidIdMalformed", "ErrorInvalidId"];

/// The calendars of the account.
pub(crate) async fn calendars(account: &Account<'_>) -> Result<Vec<TheirCalendar>, ProviderError> {
    let mut found = Vec::new();
    let mut url = account.url("/me/calendars", &[("$select", "id,name,isDefaultCalendar"), ("$top", "100")])?;
    for _ in 0..PAGES_MAX {
        let answer = account.get(url, None).await?;
        let (calendars, next) = listing(answer.status, &answer.body)?;
        found.extend(calendars);
        let Some(next) = next else { return Ok(listed(found)) };
        url = account.next(&next)?;
    }
    // Calendars that were not read would look removed.
    Err(Malformed::Sense("the account has more calendars than are read").into())
}

/// The busy times of each calendar within the window. If `publishing` is set, those of copies are returned apart.
pub(crate) async fn busy(
    account: &Account<'_>,
    references: &[String],
    window: Span,
    publishing: bool,
) -> Result<Vec<TheirBusy>, ProviderError> {
    let mut found = Vec::with_capacity(references.len());
    for reference in references {
        found.push(busy_of(account, reference, window, publishing).await?);
    }
    Ok(found)
}

async fn busy_of(
    account: &Account<'_>,
    reference: &str,
    window: Span,
    publishing: bool,
) -> Result<TheirBusy, ProviderError> {
    let Some(calendar) = segment(reference) else { return Ok(unknown("ErrorInvalidIdMalformed")) };
    let path = format!("/me/calendars/{calendar}/calendarView");
    let mut query = vec![
        ("startDateTime", window.start().to_string()),
        ("endDateTime", window.end().to_string()),
        ("$select", "start,end,isAllDay,originalStartTimeZone,showAs,isCancelled".to_owned()),
        ("$top", "1000".to_owned()),
    ];
    if publishing {
        query.push(("$expand", format!("singleValueExtendedProperties($filter=id eq '{PROPERTY}')")));
    }
    let query: Vec<_> = query.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let mut url = account.url(&path, &query)?;
    let mut found = known(Vec::new());
    for _ in 0..EVENT_PAGES_MAX {
        let answer = account.get(url, Some(IN_UTC)).await?;
        let (page, next) = view(answer.status, &answer.body)?;
        add(&mut found, page);
        let Some(next) = next.filter(|_| matches!(found, TheirBusy::Known { .. })) else { return Ok(found) };
        url = account.next(&next)?;
    }
    Ok(unknown(TOO_MUCH))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Calendar {
    id: Option<String>,
    name: Option<String>,
    is_default_calendar: Option<bool>,
}

/// The calendars on a page, and the link to the next page.
fn listing(status: u16, body: &[u8]) -> Result<(Vec<TheirCalendar>, Option<String>), ProviderError> {
    if status != 200 {
        return Err(match code(body) {
            _ if status == 401 => lapsed("invalid_token"),
            Some(code) if status == 403 && is_one_of(&NOT_CONSENTED, &code) => lapsed("insufficient_scope"),
            code => unavailable(status, code.as_deref()),
        });
    }
    let Page { value, next }: Page<Calendar> = read("a list of calendars", body)?;
    let calendars = value.into_iter().filter_map(|calendar| {
        Some(TheirCalendar {
            reference: calendar.id?,
            name: calendar.name.unwrap_or_default(),
            primary: calendar.is_default_calendar.unwrap_or_default(),
        })
    });
    Ok((calendars.collect(), next))
}

/// The busy times on a page, and the link to the next page.
fn view(status: u16, body: &[u8]) -> Result<(TheirBusy, Option<String>), ProviderError> {
    if status != 200 {
        let code = code(body);
        let reason = code.as_deref().unwrap_or_default();
        return match status {
            401 => Err(lapsed("invalid_token")),
            404 => Ok((unknown(if reason.is_empty() { "not_found" } else { reason }), None)),
            400 if is_one_of(&NO_CALENDAR, reason) => Ok((unknown(reason), None)),
            // The account granted access, because its calendars are known. This calendar does not: its owner shared it
            // and revoked that, which a new consent cannot fix.
            403 if is_one_of(&NOT_CONSENTED, reason) => Ok((unknown(reason), None)),
            _ => Err(unavailable(status, code.as_deref())),
        };
    }
    let Page { value, next }: Page<Event<'_>> = read("a list of events", body)?;
    let (mut spans, mut copies) = (Vec::new(), Vec::new());
    for event in value.iter().filter(|event| event.is_busy()) {
        // Empty and reversed times are left out.
        let Some(span) = event.span()? else { continue };
        match event.mark() {
            Some(mark) => copies.push((mark.calendar, span)),
            None => spans.push(span),
        }
    }
    Ok((TheirBusy::Known { spans, copies, tag: None, unread: 0 }, next))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::{Value, json};

    use super::*;

    fn event(start: &str, end: &str) -> Value {
        let time = |text: &str| json!({ "dateTime": text, "timeZone": "UTC" });
        json!({ "@odata.etag": "W/\"x\"", "id": "AAMk", "subject": "Dentist", "start": time(start), "end": time(end) })
    }

    fn nine_to_ten() -> Value {
        event("2026-03-02T09:00:00.0000000", "2026-03-02T10:00:00.0000000")
    }

    fn page(events: &[Value]) -> Vec<u8> {
        json!({ "@odata.context": "x", "value": events }).to_string().into_bytes()
    }

    fn spans(busy: &TheirBusy) -> Vec<String> {
        let TheirBusy::Known { spans, .. } = busy else { panic!("{busy:?}") };
        spans.iter().map(|span| format!("{}/{}", span.start(), span.end())).collect()
    }

    #[rstest]
    #[case::windows_zone(json!("Pacific Standard Time"), "2026-03-08T08:00:00Z/2026-03-09T07:00:00Z")]
    #[case::iana_zone(json!("Asia/Kolkata"), "2026-03-07T18:30:00Z/2026-03-08T18:30:00Z")]
    #[case::unknown_zone(json!("Customized Time Zone"), "2026-03-07T10:00:00Z/2026-03-09T12:00:00Z")]
    #[case::no_zone(Value::Null, "2026-03-07T10:00:00Z/2026-03-09T12:00:00Z")]
    #[case::utc(json!("UTC"), "2026-03-07T10:00:00Z/2026-03-09T12:00:00Z")]
    fn all_day_events_are_days_of_their_zone(#[case] zone: Value, #[case] expected: &str) {
        // This day has 23 hours in Los Angeles.
        let mut day = event("2026-03-08T00:00:00.0000000", "2026-03-09T00:00:00.0000000");
        day["isAllDay"] = json!(true);
        day["originalStartTimeZone"] = zone;
        let (busy, _) = view(200, &page(&[day])).unwrap();
        assert_eq!(spans(&busy), [expected]);
    }

    #[rstest]
    #[case::none(r#"{"value":[]}"#, &[], None)]
    #[case::more(r#"{"value":[],"@odata.nextLink":"https://x/"}"#, &[], Some("https://x/"))]
    #[case::every_field(
        r#"{"@odata.context":"x","value":[
            {"@odata.id":"y","id":"AAMkAGI=","name":"Calendar","isDefaultCalendar":true,"owner":{"name":"Ada"}},
            {"id":"AAMk/2","name":"Birthdays","isDefaultCalendar":false},
            {"name":"no identifier"},
            {"id":"AAMk3","name":null,"isDefaultCalendar":null}]}"#,
        &[("AAMkAGI=", "Calendar", true), ("AAMk/2", "Birthdays", false), ("AAMk3", "", false)],
        None
    )]
    fn calendars_are_read(#[case] body: &str, #[case] expected: &[(&str, &str, bool)], #[case] next: Option<&str>) {
        let (calendars, link) = listing(200, body.as_bytes()).unwrap();
        let calendars: Vec<_> =
            calendars.iter().map(|found| (found.reference.as_str(), found.name.as_str(), found.primary)).collect();
        assert_eq!((calendars.as_slice(), link.as_deref()), (expected, next));
    }

    #[rstest]
    #[case::nothing("")]
    #[case::not_json("<html>Dentist</html>")]
    #[case::cut_off(r#"{"value":[{"id":"a","name":"Dentist"#)]
    #[case::no_value("{}")]
    #[case::no_list(r#"{"value":"Dentist"}"#)]
    #[case::no_text(r#"{"value":[{"id":"a","name":["Dentist"]}]}"#)]
    #[case::no_link(r#"{"value":[],"@odata.nextLink":{"Dentist":1}}"#)]
    fn malformed_answers_are_refused(#[case] body: &str) {
        let read = listing(200, body.as_bytes()).map(|_| ()).unwrap_err();
        assert!(matches!(read, ProviderError::Malformed(_)) && !format!("{read:?}").contains("Dentist"), "{read:?}");
        let read = view(200, body.as_bytes()).map(|_| ()).unwrap_err();
        assert!(matches!(read, ProviderError::Malformed(_)) && !format!("{read:?}").contains("Dentist"), "{read:?}");
    }

    #[rstest]
    #[case("busy", true)]
    #[case("tentative", true)]
    #[case("oof", true)]
    #[case("unknown", true)]
    #[case("some new status", true)]
    #[case("free", false)]
    #[case("workingElsewhere", false)]
    fn only_free_and_cancelled_events_are_not_busy(#[case] show_as: &str, #[case] busy: bool) {
        let mut changed = nine_to_ten();
        changed["showAs"] = json!(show_as);
        assert_eq!(spans(&view(200, &page(&[changed.clone()])).unwrap().0).len(), usize::from(busy));
        changed["isCancelled"] = json!(true);
        assert_eq!(spans(&view(200, &page(&[changed])).unwrap().0).len(), 0);
    }

    #[test]
    fn an_event_without_a_status_is_busy() {
        let mut without_status = nine_to_ten();
        without_status["showAs"] = Value::Null;
        without_status["isCancelled"] = Value::Null;
        let busy = view(200, &page(&[nine_to_ten(), without_status])).unwrap().0;
        assert_eq!(spans(&busy), ["2026-03-02T09:00:00Z/2026-03-02T10:00:00Z"; 2]);
    }

    #[test]
    fn times_are_read() {
        let busy = view(
            200,
            &page(&[
                event("2026-03-02T09:00:00.1234567", "2026-03-02T10:00:00.0000000"),
                event("2026-03-02T09:00:00.0000000", "2026-03-02T09:00:00.0000000"),
                event("2026-03-02T09:00:00.0000000", "2026-03-02T08:00:00.0000000"),
                event("1601-01-01T00:00:00.0000000", "4500-09-01T00:00:00.0000000"),
            ]),
        );
        assert_eq!(
            spans(&busy.unwrap().0),
            ["2026-03-02T09:00:00.123456Z/2026-03-02T10:00:00Z", "1601-01-01T00:00:00Z/4500-09-01T00:00:00Z"]
        );
    }

    #[rstest]
    #[case("2026-03-02T09:00:00")]
    #[case("2026-03-02T09:00:00.000000")]
    #[case("2026-03-02T09:00:00.00000000")]
    #[case("2026-03-02 09:00:00.0000000")]
    #[case("2026-03-02T09:00:00.0000000Z")]
    #[case("2026-03-02T09:00:00.00+01:00")]
    #[case("2026-02-30T09:00:00.0000000")]
    #[case("2026-03-02T24:00:00.0000000")]
    #[case("Dentist")]
    #[case("")]
    fn times_in_other_forms_are_refused(#[case] text: &str) {
        let events = [event(text, "2026-03-02T10:00:00.0000000"), event("2026-03-02T10:00:00.0000000", text)];
        for odd in events {
            let Err(ProviderError::Malformed(error)) = view(200, &page(&[nine_to_ten(), odd])) else {
                panic!("{text}")
            };
            assert_eq!(error.to_string(), "an event's time is not valid");
        }
    }

    #[rstest]
    #[case("W. Europe Standard Time")]
    #[case("Europe/Berlin")]
    #[case("utc")]
    #[case("")]
    fn times_in_other_zones_are_refused(#[case] zone: &str) {
        for edge in ["start", "end"] {
            let mut odd = nine_to_ten();
            odd[edge]["timeZone"] = json!(zone);
            let Err(ProviderError::Malformed(error)) = view(200, &page(&[odd])) else { panic!("{zone}") };
            assert_eq!(error.to_string(), "an event's time is not in UTC");
        }
    }

    #[rstest]
    #[case::no_start(json!({ "end": nine_to_ten()["end"] }))]
    #[case::a_text(json!({ "start": "2026-03-02T09:00:00Z", "end": nine_to_ten()["end"] }))]
    #[case::no_zone(json!({ "start": { "dateTime": "Dentist" }, "end": nine_to_ten()["end"] }))]
    #[case::a_flag(json!({ "start": nine_to_ten()["start"], "end": nine_to_ten()["end"], "showAs": true }))]
    #[case::no_flag(json!({ "start": nine_to_ten()["start"], "end": nine_to_ten()["end"], "isCancelled": "Dentist" }))]
    fn malformed_events_are_refused(#[case] odd: Value) {
        let read = view(200, &page(&[odd])).map(|_| ()).unwrap_err();
        assert!(matches!(read, ProviderError::Malformed(_)) && !format!("{read:?}").contains("Dentist"), "{read:?}");
    }

    #[test]
    fn json_escapes_are_read() {
        let text = String::from_utf8(page(&[nine_to_ten()])).unwrap().replace("UTC", "UT\\u0043");
        assert_eq!(spans(&view(200, text.as_bytes()).unwrap().0).len(), 1);
    }

    /// The meaning of an error for a list of calendars, and for one calendar.
    #[rstest]
    #[case(401, "InvalidAuthenticationToken", "lapsed invalid_token", "lapsed invalid_token")]
    #[case(403, "ErrorAccessDenied", "lapsed insufficient_scope", "unknown ErrorAccessDenied")]
    #[case(403, "accessDenied", "lapsed insufficient_scope", "unknown accessDenied")]
    #[case(403, "ErrorQuotaExceeded", "403 (ErrorQuotaExceeded)", "403 (ErrorQuotaExceeded)")]
    #[case(404, "ErrorItemNotFound", "404 (ErrorItemNotFound)", "unknown ErrorItemNotFound")]
    #[case(404, "", "404", "unknown not_found")]
    #[case(400, "ErrorInvalidIdMalformed", "400 (ErrorInvalidIdMalformed)", "unknown ErrorInvalidIdMalformed")]
    #[case(400, "BadRequest", "400 (BadRequest)", "400 (BadRequest)")]
    #[case(429, "TooManyRequests", "429 (TooManyRequests)", "429 (TooManyRequests)")]
    #[case(500, "ErrorAccessDenied", "500 (ErrorAccessDenied)", "500 (ErrorAccessDenied)")]
    #[case(503, "", "503", "503")]
    #[case(302, "", "302", "302")]
    fn errors_are_classified(#[case] status: u16, #[case] code: &str, #[case] list: &str, #[case] one: &str) {
        let body = json!({ "error": { "code": code, "message": "of ada@example.com", "innerError": {} } }).to_string();
        let described = |error: ProviderError| match error {
            ProviderError::Lapsed(code) => format!("lapsed {code}"),
            ProviderError::Unavailable(error) => error.to_string().replace("it answers with status ", ""),
            ProviderError::Malformed(error) => panic!("{error:?}"),
        };
        assert_eq!(described(listing(status, body.as_bytes()).unwrap_err()), list);
        let found = match view(status, body.as_bytes()) {
            Ok((TheirBusy::Unknown(reason), None)) => format!("unknown {reason}"),
            Ok(found) => panic!("{found:?}"),
            Err(error) => described(error),
        };
        assert_eq!(found, one);
    }

    #[rstest]
    #[case(b"<html>".as_slice())]
    #[case(br#"{"error":"x"}"#)]
    #[case(br#"{"error":{"code":7}}"#)]
    #[case(b"\xff")]
    fn malformed_errors_are_tolerated(#[case] body: &[u8]) {
        assert_eq!(code(body), None);
        assert!(matches!(listing(403, body), Err(ProviderError::Unavailable(_))));
        assert!(matches!(view(404, body), Ok((TheirBusy::Unknown(_), None))));
    }
}
