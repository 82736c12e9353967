//! The parts of Microsoft's calendar API that the service uses.

use axum::{
    Json, Router,
    extract::{Path, Query, State},
    http::{HeaderMap, StatusCode},
    response::{IntoResponse, Response},
    routing::get,
};
use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use super::{CalendarProvider, TheirEvent, Transparency};
use crate::authorization::{Parameters, value};

/// The base path of the API.
pub(super) const API: &str = "/v1.0";
/// The scope that asks for a refresh token.
pub(super) const LASTING: &str = "offline_access";
pub(super) const SCOPES: &[&str] = &[LASTING, READ];

const READ: &str = "https://graph.microsoft.com/Calendars.ReadBasic";
/// The number of entries on a page, whatever the request asks for.
const PAGE: usize = 2;

pub(super) fn routes() -> Router<CalendarProvider> {
    Router::new()
        .route(&format!("{API}/me/calendars"), get(calendars))
        .route(&format!("{API}/me/calendars/{{id}}/calendarView"), get(calendar_view))
}

fn refused(status: StatusCode, code: &str) -> Response {
    (status, Json(json!({ "error": { "code": code, "message": code } }))).into_response()
}

/// A page of entries, with a link to the next one.
fn page(provider: &CalendarProvider, path: &str, query: &Parameters, entries: Vec<Value>) -> Response {
    let from = match value(query, "$skip") {
        "" => 0,
        text => match text.parse() {
            Ok(from) => from,
            Err(_) => return refused(StatusCode::BAD_REQUEST, "BadRequest"),
        },
    };
    let more = from + PAGE < entries.len();
    let entries: Vec<Value> = entries.into_iter().skip(from).take(PAGE).collect();
    let mut answer = json!({ "@odata.context": format!("{}{API}/$metadata", provider.base), "value": entries });
    if more {
        let mut next = reqwest::Url::parse(&format!("{}{path}", provider.base)).expect("an address");
        let kept = query.iter().filter(|(name, _)| *name != "$skip");
        next.query_pairs_mut().extend_pairs(kept).append_pair("$skip", &(from + PAGE).to_string());
        answer["@odata.nextLink"] = next.as_str().into();
    }
    Json(answer).into_response()
}

async fn calendars(
    State(provider): State<CalendarProvider>,
    headers: HeaderMap,
    Query(query): Query<Parameters>,
) -> Response {
    let Some(account) = provider.admitted(&headers, READ) else {
        return refused(StatusCode::UNAUTHORIZED, "InvalidAuthenticationToken");
    };
    let entries = provider.calendars(&account).into_iter().enumerate().map(|(place, known)| {
        json!({
            "id": known.id, "name": known.name, "isDefaultCalendar": place == 0,
            "owner": { "name": account, "address": account }
        })
    });
    page(&provider, &format!("{API}/me/calendars"), &query, entries.collect())
}

async fn calendar_view(
    State(provider): State<CalendarProvider>,
    Path(id): Path<String>,
    uri: axum::http::Uri,
    headers: HeaderMap,
    Query(query): Query<Parameters>,
) -> Response {
    let Some(account) = provider.admitted(&headers, READ) else {
        return refused(StatusCode::UNAUTHORIZED, "InvalidAuthenticationToken");
    };
    // Without this header the real API returns times in the mailbox's zone. Every page needs it.
    if headers.get("prefer").is_none_or(|value| value != "outlook.timezone=\"UTC\"") {
        return refused(StatusCode::BAD_REQUEST, "NotInUtc");
    }
    let time = |name: &str| DateTime::parse_from_rfc3339(value(&query, name)).ok().map(|time| time.to_utc());
    let (Some(from), Some(to)) = (time("startDateTime"), time("endDateTime")) else {
        return refused(StatusCode::BAD_REQUEST, "ErrorInvalidParameter");
    };
    let Some(calendar) = provider.calendars(&account).into_iter().find(|known| known.id == id) else {
        return refused(StatusCode::NOT_FOUND, "ErrorItemNotFound");
    };
    let within = calendar.events.iter().filter(|event| event.start < to && from < event.end);
    page(&provider, uri.path(), &query, within.map(event).collect())
}

fn event(event: &TheirEvent) -> Value {
    let time =
        |at: DateTime<Utc>| json!({ "dateTime": at.format("%Y-%m-%dT%H:%M:%S%.6f0").to_string(), "timeZone": "UTC" });
    let show_as = match event.transparency {
        Transparency::Busy => "busy",
        Transparency::Free => "free",
    };
    json!({
        "@odata.etag": "W/\"x\"", "subject": event.title, "start": time(event.start), "end": time(event.end),
        "showAs": show_as, "isCancelled": false
    })
}
