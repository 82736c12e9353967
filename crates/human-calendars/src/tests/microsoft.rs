//! Requests to Microsoft, and the results of its answers.

use kalends_app::ports::{CalendarProviders as _, ProviderError, TheirBusy};
use kalends_bridge::CalendarProvider::Microsoft;
use kalends_time::Span;
use rstest::rstest;
use serde_json::{Value, json};

use super::{
    access, accounts, references, span,
    stand_in::{ReceivedRequest, StandIn, ok, reply},
};
use crate::answer::known;

fn window() -> Span {
    span("2026-03-01T00:00:00Z", "2026-09-02T00:00:00Z")
}

fn event(start: &str, end: &str, show_as: &str) -> Value {
    let time = |at: &str| json!({ "dateTime": format!("2026-03-02T{at}:00.0000000"), "timeZone": "UTC" });
    json!({ "start": time(start), "end": time(end), "showAs": show_as, "isCancelled": false })
}

/// A link to a page by its number, as the API writes it.
fn link(request: &ReceivedRequest, page: u32) -> String {
    format!("http://{}{}?%24skip={page}&x=%2F", request.headers["host"], request.path())
}

fn page_of(request: &ReceivedRequest) -> u32 {
    request.query().iter().find(|(name, _)| name == "$skip").map_or(0, |(_, page)| page.parse().unwrap())
}

#[tokio::test]
async fn calendars_are_listed_over_pages() {
    let server = StandIn::start(|request| {
        ok(match page_of(request) {
            0 => json!({ "value": [{ "id": "b=", "name": "Team" }], "@odata.nextLink": link(request, 1) }),
            _ => json!({ "value": [{ "id": "a=", "name": "Calendar", "isDefaultCalendar": true }] }),
        })
    })
    .await;
    let found = accounts(&server).calendars(Microsoft, &access()).await.unwrap();
    let found: Vec<_> = found.iter().map(|calendar| (calendar.reference.as_str(), calendar.primary)).collect();
    assert_eq!(found, [("a=", true), ("b=", false)]);
    let requests = server.requests();
    let first = [("$select", "id,name,isDefaultCalendar"), ("$top", "100")];
    assert_eq!(requests[0].query(), first.map(|(name, value)| (name.to_owned(), value.to_owned())));
    assert_eq!(requests[1].target, "/api/v3/me/calendars?%24skip=1&x=%2F", "a link is followed unchanged");
    for request in requests {
        assert_eq!((request.method.as_str(), request.path()), ("GET", "/api/v3/me/calendars"));
        assert_eq!(request.headers["authorization"], "Bearer ya29.access");
    }
}

#[tokio::test]
async fn the_number_of_pages_is_limited() {
    let server = StandIn::start(|request| {
        ok(json!({ "value": [{ "id": "x" }], "@odata.nextLink": link(request, page_of(request) + 1) }))
    })
    .await;
    let found = accounts(&server).calendars(Microsoft, &access()).await;
    assert!(
        matches!(found, Err(ProviderError::Malformed(_))),
        "calendars that were not read would look removed: {found:?}"
    );
    assert_eq!(server.requests().len(), 10);
}

#[tokio::test]
async fn busy_times_are_read_for_each_calendar() {
    let server = StandIn::start(|request| {
        let first = request.path().contains("AAMk%2F1%3D%3D");
        match (first, page_of(request)) {
            (true, 0) => ok(json!({
                "value": [event("09:00", "10:00", "busy"), event("10:00", "11:00", "free")],
                "@odata.nextLink": link(request, 1),
            })),
            (true, _) => ok(json!({ "value": [event("09:30", "10:30", "tentative")] })),
            _ => reply(404, json!({ "error": { "code": "ErrorItemNotFound" } })),
        }
    })
    .await;
    let found =
        accounts(&server).busy(Microsoft, &access(), &references(&["AAMk/1==", "ü@x#?%/../"]), window()).await.unwrap();
    let busy = vec![
        span("2026-03-02T09:00:00Z", "2026-03-02T10:00:00Z"),
        span("2026-03-02T09:30:00Z", "2026-03-02T10:30:00Z"),
    ];
    assert_eq!(found, [known(busy), TheirBusy::Unknown("ErrorItemNotFound".into())]);
    let requests = server.requests();
    let paths: Vec<_> = requests.iter().map(ReceivedRequest::path).collect();
    let (known, gone) = ("AAMk%2F1%3D%3D", "%C3%BC%40x%23%3F%25%2F..%2F");
    assert_eq!(paths, [known, known, gone].map(|id| format!("/api/v3/me/calendars/{id}/calendarView")));
    let query = [
        ("startDateTime", "2026-03-01T00:00:00Z"),
        ("endDateTime", "2026-09-02T00:00:00Z"),
        ("$select", "start,end,isAllDay,originalStartTimeZone,showAs,isCancelled"),
        ("$top", "1000"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()));
    assert_eq!(requests[0].query(), query);
    assert_eq!(requests[2].query(), query);
    for request in requests {
        assert_eq!(request.method, "GET");
        assert_eq!(request.headers["prefer"], "outlook.timezone=\"UTC\"", "on every page");
        assert_eq!(request.headers["authorization"], "Bearer ya29.access");
    }
}

#[rstest]
#[case("")]
#[case(".")]
#[case("..")]
#[tokio::test]
async fn a_path_step_is_not_a_calendar(#[case] reference: &str) {
    let server = StandIn::with_answers(vec![]).await;
    let found = accounts(&server).busy(Microsoft, &access(), &references(&[reference]), window()).await.unwrap();
    assert_eq!(found, [TheirBusy::Unknown("ErrorInvalidIdMalformed".into())]);
}

#[rstest]
#[case::another_host("http://127.0.0.2:PORT/next")]
#[case::another_port("http://127.0.0.1:1/next")]
#[case::another_scheme("https://127.0.0.1:PORT/next")]
#[case::with_credentials("http://ada@127.0.0.1:PORT/next")]
#[case::of_another_host("http://127.0.0.1:PORT@other.example/next")]
#[case::relative("/next")]
#[case::no_address("mailto:ada@example.com")]
#[case::empty("")]
#[tokio::test]
async fn tokens_are_sent_only_to_the_provider(#[case] link: &'static str) {
    let server = StandIn::start(|request| {
        let port = request.headers["host"].rsplit(':').next().unwrap();
        ok(json!({ "value": [], "@odata.nextLink": link.replace("PORT", port) }))
    })
    .await;
    let accounts = accounts(&server);
    let calendars = accounts.calendars(Microsoft, &access()).await.map(|_| ());
    let busy = accounts.busy(Microsoft, &access(), &references(&["a"]), window()).await.map(|_| ());
    for failed in [calendars, busy] {
        let Err(ProviderError::Malformed(error)) = failed else { panic!("{failed:?}") };
        assert_eq!(error.to_string(), "the link to the next page leads away from the provider");
    }
    assert_eq!(server.requests().len(), 2);
}

#[tokio::test]
async fn an_overlong_link_is_refused() {
    let server = StandIn::start(|request| {
        let link = format!("{}&{}", link(request, 1), "x".repeat(8 << 10));
        ok(json!({ "value": [], "@odata.nextLink": link }))
    })
    .await;
    let found = accounts(&server).calendars(Microsoft, &access()).await;
    assert!(matches!(found, Err(ProviderError::Malformed(_))), "{found:?}");
}

#[tokio::test]
async fn a_calendar_with_too_many_pages_is_unknown() {
    let server =
        StandIn::start(|request| ok(json!({ "value": [], "@odata.nextLink": link(request, page_of(request) + 1) })))
            .await;
    let found = accounts(&server).busy(Microsoft, &access(), &references(&["a"]), window()).await.unwrap();
    assert_eq!(found, [TheirBusy::Unknown("more_than_is_read".to_owned())]);
    assert_eq!(server.requests().len(), 50);
    let found = accounts(&server).calendars(Microsoft, &access()).await;
    assert!(
        matches!(found, Err(ProviderError::Malformed(_))),
        "calendars that were not read would look removed: {found:?}"
    );
}

#[tokio::test]
async fn a_calendar_with_too_many_events_is_unknown() {
    let server = StandIn::start(|request| {
        let events = vec![event("09:00", "10:00", "busy"); 10_000];
        ok(json!({ "value": events, "@odata.nextLink": link(request, page_of(request) + 1) }))
    })
    .await;
    let found = accounts(&server).busy(Microsoft, &access(), &references(&["a"]), window()).await.unwrap();
    assert_eq!(found, [TheirBusy::Unknown("more_than_is_read".to_owned())]);
    assert_eq!(server.requests().len(), 3);
}

#[rstest]
#[case(401, "invalid_token")]
#[case(429, "")]
#[tokio::test]
async fn one_failure_fails_the_call(#[case] status: u16, #[case] lapsed: &str) {
    let server = StandIn::with_answers(vec![ok(json!({ "value": [] })), reply(status, "")]).await;
    let found = accounts(&server).busy(Microsoft, &access(), &references(&["a", "b", "c"]), window()).await;
    match found {
        Err(ProviderError::Lapsed(error)) => assert_eq!(error, lapsed),
        Err(ProviderError::Unavailable(_)) => assert_eq!(lapsed, ""),
        found => panic!("{found:?}"),
    }
}
