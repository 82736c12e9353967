//! The parts of Microsoft's calendar API that the service uses.

use axum::{
    Json, Router,
    extract::{Path, Query, State},
    http::{HeaderMap, StatusCode, Uri},
    response::{IntoResponse, Response},
    routing::get,
};
use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use super::{CalendarProvider, TheirEvent, Transparency, written::expanded};
use crate::authorization::{Parameters, value};

/// The base path of the API.
pub(super) const API: &str = "/v1.0";
/// The scope that asks for a refresh token.
pub(super) const LASTING: &str = "offline_access";
pub(super) const SCOPES: &[&str] = &[LASTING, READ];
/// The scopes that allow writing events too.
pub(super) const PUBLISHING_SCOPES: &[&str] = &[LASTING, WRITE];
/// The value of the header `Prefer` with which times are in UTC.
pub(super) const IN_UTC: &str = "outlook.timezone=\"UTC\"";

const WRITE: &str = "https://graph.microsoft.com/Calendars.ReadWrite";
const READ: &str = "https://graph.microsoft.com/Calendars.ReadBasic";
/// The number of entries on a page, whatever the request asks for.
const PAGE: usize = 2;

pub(super) fn routes() -> Router<CalendarProvider> {
    Router::new()
        .route(&format!("{API}/me/calendars"), get(calendars))
        .route(&format!("{API}/me/calendars/{{id}}/calendarView"), get(calendar_view))
}

/// The account of a request's token, if its owner consented to reading, or to writing. Otherwise the status and the
/// code of the error.
pub(super) fn admitted(
    provider: &CalendarProvider,
    headers: &HeaderMap,
    writing: bool,
) -> Result<String, (StatusCode, &'static str)> {
    let (writes, reads) = (provider.admitted(headers, WRITE), provider.admitted(headers, READ));
    match (writes, reads) {
        (Some(account), _) => Ok(account),
        (None, Some(account)) if !writing => Ok(account),
        (None, Some(_)) => Err((StatusCode::FORBIDDEN, "ErrorAccessDenied")),
        (None, None) => Err((StatusCode::UNAUTHORIZED, "InvalidAuthenticationToken")),
    }
}

pub(super) fn refused(status: StatusCode, code: &str) -> Response {
    (status, Json(json!({ "error": { "code": code, "message": code } }))).into_response()
}

/// A page of entries, with a link to the next one.
fn page(provider: &CalendarProvider, path: &str, query: &Parameters, entries: Vec<Value>) -> Response {
    let from: usize = match value(query, "$skip") {
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
    let account = match admitted(&provider, &headers, false) {
        Ok(account) => account,
        Err((status, code)) => return refused(status, code),
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
    uri: Uri,
    headers: HeaderMap,
    Query(query): Query<Parameters>,
) -> Response {
    let account = match admitted(&provider, &headers, false) {
        Ok(account) => account,
        Err((status, code)) => return refused(status, code),
    };
    // Without this header the real API returns times in the mailbox's zone. Every page needs it.
    if headers.get("prefer").is_none_or(|value| value != IN_UTC) {
        return refused(StatusCode::BAD_REQUEST, "NotInUtc");
    }
    let time = |name: &str| DateTime::parse_from_rfc3339(value(&query, name)).ok().map(|time| time.to_utc());
    let (Some(from), Some(to)) = (time("startDateTime"), time("endDateTime")) else {
        return refused(StatusCode::BAD_REQUEST, "ErrorInvalidParameter");
    };
    let Some(calendar) = provider.calendars(&account).into_iter().find(|known| known.id == id) else {
        return refused(StatusCode::NOT_FOUND, "ErrorItemNotFound");
    };
    let known = ["startDateTime", "endDateTime", "$select", "$expand", "$top", "$skip"];
    if query.keys().any(|name| !known.contains(&name.as_str())) {
        return refused(StatusCode::BAD_REQUEST, "BadRequest");
    }
    let expand = match expanded(&query) {
        // Reading the busy times alone does not include extended properties.
        Ok(Some(_)) if admitted(&provider, &headers, true).is_err() => {
            return refused(StatusCode::FORBIDDEN, "ErrorAccessDenied");
        }
        Ok(expand) => expand,
        Err(code) => return refused(StatusCode::BAD_REQUEST, code),
    };
    let within = calendar.events.iter().filter(|event| event.start < to && from < event.end);
    let mut entries: Vec<Value> = within.map(event).collect();
    let written = provider.desk(|desk| desk.writing.of(&account, &id).clone());
    let written = written.iter().filter(|event| event.is_within(from, to));
    entries.extend(written.map(|event| event.shown(value(&query, "$select"), expand.as_deref())));
    page(&provider, uri.path(), &query, entries)
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
