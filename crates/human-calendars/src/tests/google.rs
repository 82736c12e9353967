//! Requests to Google, and the results of its answers.

use kalends_app::ports::{AskedCalendar, CalendarProviders as _, ProviderError, TheirBusy};
use kalends_bridge::CalendarProvider::Google;
use serde_json::{Value, json};

use super::{
    access, accounts, references, span,
    stand_in::{StandIn, ok, reply},
};
use crate::answer::known;

const FIELDS: &str = "nextPageToken,items(id,summary,summaryOverride,primary,deleted)";

fn pairs(query: &[(&str, &str)]) -> Vec<(String, String)> {
    query.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

#[tokio::test]
async fn calendars_are_listed_over_pages() {
    let server = StandIn::with_answers(vec![
        ok(json!({ "items": [{ "id": "team@x", "summary": "Team" }], "nextPageToken": "p/2&=" })),
        ok(json!({ "items": [{ "id": "ada@x", "summary": "Ada", "primary": true }] })),
    ])
    .await;
    let found = accounts(&server).calendars(Google, &access()).await.unwrap();
    let found: Vec<_> = found.iter().map(|calendar| (calendar.reference.as_str(), calendar.primary)).collect();
    assert_eq!(found, [("ada@x", true), ("team@x", false)]);
    let requests = server.requests();
    let query = |number: usize| requests.get(number).unwrap().query();
    assert_eq!(query(0), pairs(&[("maxResults", "250"), ("showHidden", "true"), ("fields", FIELDS)]));
    assert_eq!(
        query(1),
        pairs(&[("maxResults", "250"), ("showHidden", "true"), ("fields", FIELDS), ("pageToken", "p/2&=")])
    );
    assert_eq!(requests.len(), 2);
    for request in requests {
        assert_eq!((request.method.as_str(), request.path()), ("GET", "/api/v3/users/me/calendarList"));
        assert_eq!(request.headers["authorization"], "Bearer ya29.access");
        assert_eq!(request.headers["accept"], "application/json");
    }
}

#[tokio::test]
async fn the_number_of_pages_is_limited() {
    let server = StandIn::start(|_| ok(json!({ "items": [{ "id": "x" }], "nextPageToken": "again" }))).await;
    let found = accounts(&server).calendars(Google, &access()).await;
    assert!(
        matches!(found, Err(ProviderError::Malformed(_))),
        "calendars that were not read would look removed: {found:?}"
    );
    assert_eq!(server.requests().len(), 10);
}

#[tokio::test]
async fn a_long_window_is_requested_in_parts() {
    let server = StandIn::start(|request| {
        let from = request.json()["timeMin"].clone();
        let until = from.as_str().unwrap().replace("T00:00", "T01:00");
        ok(json!({ "calendars": {
            "ada@x": { "busy": [{ "start": from, "end": until }] },
            "team#1@x": { "errors": [{ "domain": "global", "reason": "notFound" }], "busy": [] },
        } }))
    })
    .await;
    let window = span("2026-03-01T00:00:00Z", "2026-09-02T00:00:00Z");
    let asking = references(&["team#1@x", "ada@x", "of nobody"]);
    let busy_times = accounts(&server).busy(Google, &access(), &asking, window).await.unwrap();
    let edges = [
        "2026-03-01T00:00:00Z",
        "2026-04-30T00:00:00Z",
        "2026-06-29T00:00:00Z",
        "2026-08-28T00:00:00Z",
        "2026-09-02T00:00:00Z",
    ];
    let busy = edges[..4].iter().map(|from| span(from, &from.replace("T00:00", "T01:00"))).collect();
    let unknown = |reason: &str| TheirBusy::Unknown(reason.to_owned());
    assert_eq!(busy_times, [unknown("notFound"), known(busy), unknown("missing")]);
    let requests = server.requests();
    let parts: Vec<_> = requests.iter().map(super::stand_in::ReceivedRequest::json).collect();
    let items = json!([{ "id": "team#1@x" }, { "id": "ada@x" }, { "id": "of nobody" }]);
    let expected: Vec<_> =
        edges.windows(2).map(|edge| json!({ "timeMin": edge[0], "timeMax": edge[1], "items": items })).collect();
    assert_eq!(parts, expected);
    for request in requests {
        assert_eq!((request.method.as_str(), request.target.as_str()), ("POST", "/api/v3/freeBusy"));
        assert_eq!(request.headers["authorization"], "Bearer ya29.access");
    }
}

#[tokio::test]
async fn many_calendars_are_requested_in_groups() {
    let server = StandIn::start(|request| {
        let calendars: serde_json::Map<String, Value> = request.json()["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|item| {
                let id = item["id"].as_str().unwrap();
                let busy = json!({ "start": "2026-03-01T00:00:00Z", "end": format!("2026-03-01T{id}:00Z") });
                (id.to_owned(), json!({ "busy": [busy] }))
            })
            .collect();
        ok(json!({ "calendars": calendars }))
    })
    .await;
    let all: Vec<String> = (0..101).map(|n| format!("{:02}:{:02}", n / 60 + 1, n % 60)).collect();
    let asked: Vec<AskedCalendar> =
        all.iter().map(|reference| AskedCalendar { reference: reference.clone(), known: None }).collect();
    let window = span("2026-03-01T00:00:00Z", "2026-03-02T00:00:00Z");
    let busy_times = accounts(&server).busy(Google, &access(), &asked, window).await.unwrap();
    // Each calendar has its own busy times.
    for (reference, busy) in all.iter().zip(&busy_times) {
        let own = span("2026-03-01T00:00:00Z", &format!("2026-03-01T{reference}:00Z"));
        assert_eq!(*busy, known(vec![own]));
    }
    assert_eq!(busy_times.len(), 101);
    let groups: Vec<_> =
        server.requests().iter().map(|request| request.json()["items"].as_array().unwrap().len()).collect();
    assert_eq!(groups, [50, 50, 1]);
}

#[tokio::test]
async fn no_request_is_sent_for_no_calendars() {
    let server = StandIn::with_answers(vec![]).await;
    let window = span("2026-03-01T00:00:00Z", "2026-03-02T00:00:00Z");
    assert_eq!(accounts(&server).busy(Google, &access(), &[], window).await.unwrap(), []);
}

#[tokio::test]
async fn an_insufficient_consent_has_lapsed() {
    let answer = json!({ "error": { "code": 403, "errors": [{ "reason": "insufficientPermissions" }] } });
    let server = StandIn::with_answers(vec![reply(403, answer)]).await;
    let found = accounts(&server).calendars(Google, &access()).await;
    assert!(matches!(&found, Err(ProviderError::Lapsed(error)) if error == "insufficient_scope"), "{found:?}");
}
