//! Copies of events at Microsoft: requests, and the results of the answers.

use std::time::Duration;

use kalends_app::ports::{CalendarProviders as _, ProviderError, PublishedStep, TheirBusy};
use kalends_bridge::{
    Access,
    CalendarProvider::{Google, Microsoft},
    CopyContent, CopyKey, FoundCopy, Step, Tokens,
};
use kalends_kernel::{CalendarId, EventId};
use kalends_time::Timestamp;
use rstest::rstest;
use serde_json::{Value, json};

use super::{
    access, accounts, references, span,
    stand_in::{ReceivedRequest, StandIn, StubAnswer, cut, ok, reply},
    tokens,
};
use crate::answer::known;

const PROPERTY: &str = "String {6f1c2f0e-5f0d-4d0a-9c57-3b1e8a7d2c64} Name KalendsCopy";
const PREFER: &str = "outlook.timezone=\"UTC\"";
const TARGET: &str = "AAMk/1==";
const EVENTS: &str = "/me/calendars/AAMk%2F1%3D%3D/events";

fn calendar() -> CalendarId {
    CalendarId::from_bytes([1; 16])
}

fn key(event: u8) -> CopyKey {
    CopyKey { event: EventId::from_bytes([event; 16]), original_start: None }
}

/// The earliest end of the copies that are asked for.
fn since() -> Timestamp {
    "2026-03-01T00:00:00Z".parse().unwrap()
}

fn writing() -> Access {
    Access::Consent(Tokens { publishing: true, ..tokens() })
}

fn meeting() -> CopyContent {
    CopyContent {
        title: "Planning".into(),
        description: Some("Bring the plan.".into()),
        location: Some("Room 1".into()),
        span: span("2026-03-02T09:00:00Z", "2026-03-02T10:00:00Z"),
        all_day: false,
        zone: "Europe/Berlin".parse().unwrap(),
        tentative: false,
        transparent: false,
    }
}

/// A day of 23 hours.
fn day() -> CopyContent {
    CopyContent { span: span("2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z"), all_day: true, ..meeting() }
}

fn hex(bytes: [u8; 32]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn mark(key: CopyKey, content: &CopyContent) -> String {
    format!("{} {} - {} {}", calendar(), key.event, hex(content.visible()), content.zone.name())
}

/// The event as the API returns it while it shows the content.
fn shown(content: &CopyContent, etag: &str) -> Value {
    let time = |at: Timestamp| {
        let zone = if content.all_day { content.zone } else { kalends_time::Zone::UTC };
        json!({ "dateTime": format!("{}.0000000", zone.to_civil(at)), "timeZone": "UTC" })
    };
    let show_as = match (content.transparent, content.tentative) {
        (true, _) => "free",
        (false, true) => "tentative",
        (false, false) => "busy",
    };
    json!({
        "@odata.etag": etag, "id": "E/1=", "subject": content.title, "isAllDay": content.all_day,
        "start": time(content.span.start()), "end": time(content.span.end()), "showAs": show_as,
        "originalStartTimeZone": "UTC", "isCancelled": false,
        "singleValueExtendedProperties": [{ "id": PROPERTY, "value": mark(key(2), content) }]
    })
}

/// The answer to a batch: statuses and bodies in order.
fn batch(answers: &[(u16, Value)]) -> StubAnswer {
    let answers = answers.iter().enumerate().map(|(place, (status, body))| {
        json!({ "id": (place + 1).to_string(), "status": status, "headers": {}, "body": body })
    });
    ok(json!({ "responses": answers.rev().collect::<Vec<_>>() }))
}

fn failure(code: &str) -> Value {
    json!({ "error": { "code": code, "message": "of ada@example.com" } })
}

fn create(content: CopyContent) -> Step {
    Step::Create { key: key(2), content }
}

/// Writes `content` over a meeting.
fn update(content: CopyContent) -> Step {
    Step::Update { key: key(2), reference: "E/1=".into(), visible: meeting().visible(), content }
}

fn renamed() -> CopyContent {
    CopyContent { title: "Review".into(), ..meeting() }
}

async fn publish(server: &StandIn, steps: &[Step]) -> Result<Vec<PublishedStep>, ProviderError> {
    accounts(server).publish(Microsoft, &writing(), TARGET, calendar(), steps).await
}

fn done() -> PublishedStep {
    PublishedStep::Done("E/1=".to_owned())
}

/// The requests of a batch.
fn requests(request: &ReceivedRequest) -> Vec<Value> {
    assert_eq!((request.method.as_str(), request.target.as_str()), ("POST", "/api/v3/$batch"));
    assert_eq!(request.headers["authorization"], "Bearer ya29.access");
    request.json()["requests"].as_array().unwrap().clone()
}

#[tokio::test]
async fn an_event_is_created() {
    let server = StandIn::with_answers(vec![batch(&[(201, shown(&meeting(), "1"))])]).await;
    assert_eq!(publish(&server, &[create(meeting())]).await.unwrap(), [done()]);
    let mut requests = requests(&server.only_request());
    let transaction = requests[0]["body"].as_object_mut().unwrap().remove("transactionId").unwrap();
    assert_eq!(transaction.as_str().unwrap().len(), 36);
    let time = |text: &str| json!({ "dateTime": text, "timeZone": "UTC" });
    let expected = json!([{
        "id": "1", "method": "POST", "url": EVENTS,
        "headers": { "Prefer": PREFER, "Content-Type": "application/json" },
        "body": {
            "subject": "Planning", "body": { "contentType": "text", "content": "Bring the plan." },
            "location": { "displayName": "Room 1" },
            "start": time("2026-03-02T09:00:00"), "end": time("2026-03-02T10:00:00"),
            "isAllDay": false, "showAs": "busy", "isReminderOn": false, "responseRequested": false,
            "singleValueExtendedProperties": [{ "id": PROPERTY, "value": mark(key(2), &meeting()) }]
        }
    }]);
    assert_eq!(Value::Array(requests), expected);
}

#[rstest]
#[case::busy(false, false, "busy")]
#[case::tentative(true, false, "tentative")]
#[case::free(false, true, "free")]
#[case::free_and_tentative(true, true, "free")]
#[tokio::test]
async fn whole_days_are_days_of_the_calendars_zone(
    #[case] tentative: bool,
    #[case] transparent: bool,
    #[case] show_as: &str,
) {
    let content = CopyContent { description: None, location: None, tentative, transparent, ..day() };
    let server = StandIn::with_answers(vec![batch(&[(201, shown(&content, "1"))])]).await;
    assert_eq!(publish(&server, &[create(content)]).await.unwrap(), [done()]);
    let body = requests(&server.requests()[0])[0]["body"].clone();
    let time = |text: &str| json!({ "dateTime": text, "timeZone": "Europe/Berlin" });
    assert_eq!((&body["start"], &body["end"]), (&time("2026-03-29T00:00:00"), &time("2026-03-30T00:00:00")));
    assert_eq!((&body["isAllDay"], &body["showAs"]), (&json!(true), &json!(show_as)));
    assert_eq!((&body["body"]["content"], &body["location"]["displayName"]), (&json!(""), &json!("")));
}

#[tokio::test]
async fn a_transaction_belongs_to_one_copy() {
    let server = StandIn::start(|_| batch(&[(201, shown(&meeting(), "1"))])).await;
    let accounts = accounts(&server);
    let later = CopyKey { original_start: Some(Timestamp::from_micros(7)), ..key(2) };
    let other = CalendarId::from_bytes([9; 16]);
    for (target, calendar, key) in [
        (TARGET, calendar(), key(2)),
        (TARGET, calendar(), key(2)),
        ("other", calendar(), key(2)),
        (TARGET, other, key(2)),
        (TARGET, calendar(), key(3)),
        (TARGET, calendar(), later),
    ] {
        let step = Step::Create { key, content: meeting() };
        assert_eq!(accounts.publish(Microsoft, &writing(), target, calendar, &[step]).await.unwrap(), [done()]);
    }
    let ids: Vec<Value> =
        server.requests().iter().map(|request| requests(request)[0]["body"]["transactionId"].clone()).collect();
    assert_eq!(ids[0], ids[1], "the same copy");
    for (place, id) in ids.iter().enumerate().skip(1) {
        assert!(!ids[place + 1..].contains(id), "{ids:?}");
    }
}

#[tokio::test]
async fn an_event_is_read_before_it_is_changed_or_deleted() {
    let server = StandIn::with_answers(vec![
        batch(&[(200, shown(&meeting(), "W/\"1\"")), (200, shown(&meeting(), "W/\"2\""))]),
        batch(&[(201, shown(&meeting(), "1")), (200, shown(&renamed(), "1")), (204, Value::Null)]),
    ])
    .await;
    let delete = Step::Delete { key: key(2), reference: "E/2=".into(), visible: meeting().visible() };
    let found = publish(&server, &[create(meeting()), update(renamed()), delete]).await.unwrap();
    assert_eq!(found, [done(), done(), PublishedStep::Done("E/2=".into())]);
    let (first, second) = (requests(&server.requests()[0]), requests(&server.requests()[1]));
    let url = first[0]["url"].as_str().unwrap();
    assert!(url.starts_with(&format!("{EVENTS}/E%2F1%3D?$select=")) && url.contains("&$expand="), "{url}");
    assert!(!url.contains([' ', '+', '{']), "{url}");
    assert_eq!(first[1]["url"].as_str().unwrap(), url.replace("E%2F1", "E%2F2"));
    for request in &first {
        assert_eq!((&request["method"], &request["headers"]), (&json!("GET"), &json!({ "Prefer": PREFER })));
    }
    let parts: Vec<_> =
        second.iter().map(|part| (&part["method"], &part["url"], &part["headers"]["If-Match"])).collect();
    let (one, two) = (json!(format!("{EVENTS}/E%2F1%3D")), json!(format!("{EVENTS}/E%2F2%3D")));
    assert_eq!(parts[0], (&json!("POST"), &json!(EVENTS), &Value::Null));
    assert_eq!(parts[1], (&json!("PATCH"), &one, &json!("W/\"1\"")));
    assert_eq!(parts[2], (&json!("DELETE"), &two, &json!("W/\"2\"")));
    assert_eq!(second[1]["body"]["subject"], "Review");
    assert_eq!(second[1]["body"].get("transactionId"), None);
}

#[rstest]
#[case::title(json!({ "subject": "Dentist" }))]
#[case::no_title(json!({ "subject": null }))]
#[case::end(json!({ "end": { "dateTime": "2026-03-02T10:30:00.0000000", "timeZone": "UTC" } }))]
#[case::no_time(json!({ "end": { "dateTime": "2026-03-02T09:00:00.0000000", "timeZone": "UTC" } }))]
#[case::whole_day(json!({ "isAllDay": true }))]
#[case::tentative(json!({ "showAs": "tentative" }))]
#[case::away(json!({ "showAs": "oof" }))]
#[case::cancelled(json!({ "isCancelled": true }))]
#[tokio::test]
async fn what_a_person_changed_is_left_alone(#[case] change: Value) {
    let mut event = shown(&meeting(), "1");
    event.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
    let server = StandIn::with_answers(vec![batch(&[(200, event.clone()), (200, event)])]).await;
    let delete = Step::Delete { key: key(2), reference: "E/1=".into(), visible: meeting().visible() };
    let found = publish(&server, &[update(renamed()), delete]).await.unwrap();
    assert_eq!(found, [PublishedStep::Diverged, PublishedStep::Diverged]);
    assert_eq!(server.requests().len(), 1, "nothing is written");
}

#[rstest]
#[case(404, "ErrorItemNotFound")]
#[case(404, "")]
#[case(410, "")]
#[tokio::test]
async fn what_a_person_deleted_stays_deleted(#[case] status: u16, #[case] code: &str) {
    let gone = (status, failure(code));
    let server = StandIn::with_answers(vec![batch(&[gone.clone(), gone])]).await;
    let delete = Step::Delete { key: key(2), reference: "E/1=".into(), visible: meeting().visible() };
    let found = publish(&server, &[update(renamed()), delete]).await.unwrap();
    assert_eq!(found, [PublishedStep::Diverged, done()]);
}

#[rstest]
#[case::untouched(meeting(), 200, done())]
#[case::changed(renamed(), 0, PublishedStep::Diverged)]
#[case::again(meeting(), 412, PublishedStep::Later(None))]
#[tokio::test]
async fn a_lost_race_is_run_once_more(#[case] then: CopyContent, #[case] again: u16, #[case] expected: PublishedStep) {
    // A person changes no mark.
    let mut then = shown(&then, "2");
    then["singleValueExtendedProperties"][0]["value"] = json!(mark(key(2), &meeting()));
    let server = StandIn::with_answers(vec![
        batch(&[(200, shown(&meeting(), "1"))]),
        batch(&[(412, failure("ErrorIrresolvableConflict"))]),
        batch(&[(200, then)]),
        batch(&[(again, json!({}))]),
    ])
    .await;
    let content = CopyContent { title: "Retrospective".into(), ..meeting() };
    assert_eq!(publish(&server, &[update(content)]).await.unwrap(), [expected]);
    let sent = server.requests();
    assert_eq!(sent.len(), if again == 0 { 3 } else { 4 });
    if let Some(last) = sent.get(3) {
        assert_eq!(requests(last)[0]["headers"]["If-Match"], "2");
    }
}

/// The answer to the last change was lost, so what was written is not recorded.
#[tokio::test]
async fn a_copy_that_was_written_since_it_was_recorded_is_not_a_persons_change() {
    let server =
        StandIn::with_answers(vec![batch(&[(200, shown(&renamed(), "2"))]), batch(&[(200, shown(&day(), "3"))])]).await;
    assert_eq!(publish(&server, &[update(day())]).await.unwrap(), [done()]);
    assert_eq!(requests(&server.requests()[1])[0]["headers"]["If-Match"], "2");
}

/// The provider returns the event that it has for a transaction, which may show what was written before.
#[rstest]
#[case::as_written(&["PATCH"], shown(&meeting(), "1"), done())]
#[case::changed(&[], json!({ "subject": "Dentist" }), PublishedStep::Diverged)]
#[tokio::test]
async fn an_event_that_exists_already_is_brought_up_to_date(
    #[case] written: &[&str],
    #[case] change: Value,
    #[case] expected: PublishedStep,
) {
    let mut event = shown(&meeting(), "1");
    event.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
    let mut answers = vec![batch(&[(201, event.clone())]), batch(&[(200, event)])];
    answers.extend(written.iter().map(|_| batch(&[(200, json!({}))])));
    let server = StandIn::with_answers(answers).await;
    assert_eq!(publish(&server, &[create(renamed())]).await.unwrap(), [expected]);
    let methods: Vec<_> = server.requests().iter().map(|request| requests(request)[0]["method"].clone()).collect();
    assert_eq!(methods, [&["POST", "GET"][..], written].concat());
}

#[rstest]
#[case(400, "ErrorInvalidRequest", PublishedStep::Refused("ErrorInvalidRequest".into()))]
#[case(403, "ErrorAccessDenied", PublishedStep::Refused("ErrorAccessDenied".into()))]
#[case(413, "", PublishedStep::Refused("status_413".into()))]
#[case(401, "InvalidAuthenticationToken", PublishedStep::Later(None))]
#[case(409, "ErrorIrresolvableConflict", PublishedStep::Later(None))]
#[case(429, "ApplicationThrottled", PublishedStep::Later(None))]
#[case(500, "", PublishedStep::Later(None))]
#[case(503, "", PublishedStep::Later(None))]
#[case(504, "", PublishedStep::Later(None))]
#[tokio::test]
async fn one_failure_does_not_fail_the_others(
    #[case] status: u16,
    #[case] code: &str,
    #[case] expected: PublishedStep,
) {
    let answers = [(201, shown(&meeting(), "1")), (status, failure(code))];
    let server = StandIn::with_answers(vec![batch(&answers)]).await;
    let other = Step::Create { key: key(3), content: meeting() };
    assert_eq!(publish(&server, &[create(meeting()), other]).await.unwrap(), [done(), expected]);
}

#[rstest]
#[case::token_ended(401, "InvalidAuthenticationToken", "invalid_token")]
#[case::no_consent(403, "ErrorAccessDenied", "insufficient_scope")]
#[case::no_consent(403, "AccessDenied", "insufficient_scope")]
#[tokio::test]
async fn a_consent_that_is_missing_has_lapsed(#[case] status: u16, #[case] code: &str, #[case] lapsed: &str) {
    for answer in [batch(&[(status, failure(code)), (status, failure(code))]), reply(status, failure(code))] {
        let server = StandIn::with_answers(vec![answer]).await;
        let other = Step::Create { key: key(3), content: meeting() };
        let found = publish(&server, &[create(meeting()), other]).await;
        assert!(matches!(&found, Err(ProviderError::Lapsed(error)) if error == lapsed), "{found:?}");
    }
}

#[rstest]
#[case(429, "17", Some(17))]
#[case(503, "86400", Some(3_600))]
#[case(503, "soon", None)]
#[case(504, "0", Some(0))]
#[tokio::test]
async fn a_throttled_batch_comes_later(#[case] status: u16, #[case] wait: &str, #[case] seconds: Option<u64>) {
    let server = StandIn::with_answers(vec![reply(status, "").header("Retry-After", wait)]).await;
    let found = publish(&server, &[create(meeting())]).await.unwrap();
    assert_eq!(found, [PublishedStep::Later(seconds.map(Duration::from_secs))]);
}

#[tokio::test]
async fn a_throttled_step_says_when() {
    let response = json!({ "id": "1", "status": 429, "headers": { "Retry-After": "42" }, "body": failure("x") });
    let server = StandIn::with_answers(vec![ok(json!({ "responses": [response] }))]).await;
    let found = publish(&server, &[update(renamed())]).await.unwrap();
    assert_eq!(found, [PublishedStep::Later(Some(Duration::from_secs(42)))]);
}

#[tokio::test]
async fn a_lost_answer_is_an_error() {
    let server = StandIn::start(|_| cut()).await;
    let found = publish(&server, &[create(meeting())]).await;
    assert!(matches!(found, Err(ProviderError::Unavailable(_))), "{found:?}");
}

/// What was done must be recorded, whatever happens to the rest.
#[tokio::test]
async fn results_survive_a_later_failure() {
    let server = StandIn::with_answers(vec![
        batch(&[(200, shown(&meeting(), "1"))]),
        batch(&[(201, shown(&meeting(), "1")), (412, failure("x"))]),
        reply(500, ""),
    ])
    .await;
    let other = Step::Create { key: key(3), content: meeting() };
    let found = publish(&server, &[other, update(renamed())]).await.unwrap();
    assert_eq!(found, [done(), PublishedStep::Later(None)]);
}

#[tokio::test]
async fn nothing_is_sent_for_nothing_and_for_too_much() {
    let server = StandIn::with_answers(vec![]).await;
    assert_eq!(publish(&server, &[]).await.unwrap(), []);
    let found = publish(&server, &[(); 21].map(|()| create(meeting()))).await;
    assert!(matches!(found, Err(ProviderError::Unavailable(_))), "{found:?}");
    let accounts = accounts(&server);
    let found = accounts.publish(Microsoft, &writing(), "..", calendar(), &[create(meeting())]).await.unwrap();
    assert_eq!(found, [PublishedStep::Refused("ErrorInvalidIdMalformed".into())]);
    let found = accounts.publish(Google, &writing(), TARGET, calendar(), &[create(meeting())]).await;
    assert!(matches!(found, Err(ProviderError::Unavailable(_))), "{found:?}");
    assert!(accounts.copies(Google, &writing(), TARGET, calendar(), since()).await.is_err());
    assert!(accounts.copies(Microsoft, &writing(), "", calendar(), since()).await.is_err());
}

#[tokio::test]
async fn copies_are_found_over_pages() {
    let server = StandIn::start(|request| {
        let skipped = request.query().iter().any(|(name, _)| name == "$skip");
        if skipped {
            let mut changed = shown(&meeting(), "1");
            changed["subject"] = json!("Dentist");
            return ok(json!({ "value": [changed] }));
        }
        let mut other = shown(&meeting(), "1");
        let value =
            mark(key(2), &meeting()).replace(&calendar().to_string(), &CalendarId::from_bytes([9; 16]).to_string());
        other["singleValueExtendedProperties"][0]["value"] = json!(value);
        let mut garbled = shown(&meeting(), "1");
        garbled["singleValueExtendedProperties"][0]["value"] = json!("x");
        let next = format!("http://{}{}?%24skip=1", request.headers["host"], request.path());
        ok(json!({ "value": [shown(&day(), "1"), other, garbled], "@odata.nextLink": next }))
    })
    .await;
    let found = accounts(&server).copies(Microsoft, &writing(), TARGET, calendar(), since()).await.unwrap();
    let copy = |content: &CopyContent, ends_at: &str, changed| FoundCopy {
        key: key(2),
        reference: "E/1=".into(),
        visible: content.visible(),
        ends_at: ends_at.parse().unwrap(),
        changed,
    };
    let expected = [copy(&day(), "2026-03-30T00:00:00Z", false), copy(&meeting(), "2026-03-02T10:00:00Z", true)];
    assert_eq!(found, expected);
    let request = &server.requests()[0];
    let view = EVENTS.replace("/events", "/calendarView");
    assert_eq!((request.method.as_str(), request.path()), ("GET", &*format!("/api/v3{view}")));
    assert!(!request.target.contains('+'), "{}", request.target);
    let query = request.query();
    assert_eq!(query[0], ("startDateTime".to_owned(), "2026-03-01T00:00:00Z".to_owned()));
    assert_eq!(query[1], ("endDateTime".to_owned(), "2027-03-02T00:00:00Z".to_owned()));
    assert_eq!(query[3], ("$expand".to_owned(), format!("singleValueExtendedProperties($filter=id eq '{PROPERTY}')")));
    assert!(server.requests().iter().all(|request| request.headers["prefer"] == PREFER), "on every page");
}

#[rstest]
#[case(401, "", Some("invalid_token"))]
#[case(403, "ErrorAccessDenied", Some("insufficient_scope"))]
#[case(404, "ErrorItemNotFound", None)]
#[case(429, "", None)]
#[tokio::test]
async fn failures_to_find_copies_are_classified(#[case] status: u16, #[case] code: &str, #[case] lapsed: Option<&str>) {
    let server = StandIn::with_answers(vec![reply(status, failure(code))]).await;
    match (accounts(&server).copies(Microsoft, &writing(), TARGET, calendar(), since()).await, lapsed) {
        (Err(ProviderError::Lapsed(error)), Some(lapsed)) => assert_eq!(error, lapsed),
        (Err(ProviderError::Unavailable(_)), None) => {}
        (found, _) => panic!("{found:?}"),
    }
}

#[tokio::test]
async fn too_many_copies_are_an_error() {
    let server = StandIn::start(|request| {
        let next = format!("http://{}{}?%24skip=1", request.headers["host"], request.path());
        ok(json!({ "value": [], "@odata.nextLink": next }))
    })
    .await;
    let found = accounts(&server).copies(Microsoft, &writing(), TARGET, calendar(), since()).await;
    assert!(matches!(found, Err(ProviderError::Malformed(_))), "{found:?}");
    assert_eq!(server.requests().len(), 50);
}

#[tokio::test]
async fn busy_times_of_copies_are_apart() {
    let server = StandIn::start(|_| {
        let mut own = shown(&meeting(), "1");
        own["singleValueExtendedProperties"] = Value::Null;
        let mut garbled = own.clone();
        garbled["singleValueExtendedProperties"] = json!([{ "id": PROPERTY, "value": 7 }]);
        let free = CopyContent { transparent: true, ..meeting() };
        ok(json!({ "value": [own, garbled, shown(&meeting(), "1"), shown(&day(), "1"), shown(&free, "1")] }))
    })
    .await;
    let accounts = accounts(&server);
    let window = span("2026-03-01T00:00:00Z", "2026-04-02T00:00:00Z");
    let found = accounts.busy(Microsoft, &writing(), &references(&["a"]), window).await.unwrap();
    let copies = vec![(calendar(), meeting().span), (calendar(), day().span)];
    assert_eq!(found, [TheirBusy::Known { spans: vec![meeting().span; 2], copies, tag: None, unread: 0 }]);
    let expand = ("$expand".to_owned(), format!("singleValueExtendedProperties($filter=id eq '{PROPERTY}')"));
    assert!(server.only_request().query().contains(&expand));
}

#[tokio::test]
async fn properties_are_read_only_with_the_permission_to_publish() {
    let server = StandIn::with_answers(vec![ok(json!({ "value": [] }))]).await;
    let window = span("2026-03-01T00:00:00Z", "2026-04-02T00:00:00Z");
    let found = accounts(&server).busy(Microsoft, &access(), &references(&["a"]), window).await.unwrap();
    assert_eq!(found, [known(Vec::new())]);
    assert!(!server.only_request().query().iter().any(|(name, _)| name == "$expand"));
}
