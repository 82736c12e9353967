//! The requests for events of Microsoft's API, alone and in batches.

use std::collections::BTreeSet;

use axum::{
    Json, Router,
    body::{Body, Bytes},
    extract::State,
    http::{HeaderMap, Method, StatusCode, Uri},
    response::{IntoResponse, Response},
    routing::{any, post},
};
use serde_json::{Value, json};

use super::{
    CalendarProvider, Desk,
    microsoft::{API, IN_UTC, admitted, refused},
    written::{Written, expanded},
};
use crate::authorization::{Parameters, value};

/// The most requests in a batch.
const BATCH_MAX: usize = 20;

pub(super) fn routes() -> Router<CalendarProvider> {
    Router::new()
        .route(&format!("{API}/me/calendars/{{id}}/events"), any(alone))
        .route(&format!("{API}/me/calendars/{{id}}/events/{{event}}"), any(alone))
        .route(&format!("{API}/$batch"), post(batch))
}

/// A request for events.
struct Asked<'a> {
    method: &'a str,
    /// The path and the query below the base path of the API.
    url: &'a str,
    prefer: Option<&'a str>,
    if_match: Option<&'a str>,
    body: Option<&'a Value>,
}

/// The answer to one request.
struct Said {
    status: StatusCode,
    retry_after: Option<u32>,
    body: Value,
}

fn said(status: StatusCode, body: Value) -> Said {
    Said { status, retry_after: None, body }
}

fn no(status: StatusCode, code: &str) -> Said {
    said(status, json!({ "error": { "code": code, "message": code } }))
}

/// What a request is about.
struct Place {
    calendar: String,
    event: Option<String>,
}

/// A segment of a path, decoded. It may contain only unreserved and encoded characters.
fn decoded(segment: &str) -> Option<String> {
    let plain = segment.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~%".contains(&byte));
    let url = reqwest::Url::parse(&format!("http://x/?v={segment}")).ok().filter(|_| plain)?;
    url.query_pairs().next().map(|(_, value)| value.into_owned())
}

fn parsed(provider: &CalendarProvider, url: &str) -> Option<(Place, Parameters)> {
    let whole = reqwest::Url::parse(&format!("{}{url}", provider.base)).ok()?;
    let steps: Vec<&str> = whole.path_segments()?.collect();
    let place = match steps.as_slice() {
        ["me", "calendars", calendar, "events"] => Place { calendar: decoded(calendar)?, event: None },
        ["me", "calendars", calendar, "events", event] => {
            Place { calendar: decoded(calendar)?, event: Some(decoded(event)?) }
        }
        _ => return None,
    };
    let query: Vec<(String, String)> = whole.query_pairs().into_owned().collect();
    let count = query.len();
    let query: Parameters = query.into_iter().collect();
    // A parameter must not be repeated.
    (query.len() == count).then_some((place, query))
}

/// Does what a request asks for.
fn act(provider: &CalendarProvider, account: &str, asked: &Asked<'_>) -> Said {
    let Some((place, query)) = parsed(provider, asked.url) else { return no(StatusCode::BAD_REQUEST, "BadRequest") };
    let path = asked.url.split('?').next().unwrap_or_default();
    let wait = provider.desk(|desk| {
        desk.writing.calls.push(format!("{} {path}", asked.method));
        let (left, seconds) = &mut desk.writing.throttled;
        let throttled = *left > 0;
        *left = left.saturating_sub(1);
        throttled.then_some(*seconds)
    });
    if let Some(seconds) = wait {
        return Said { retry_after: Some(seconds), ..no(StatusCode::TOO_MANY_REQUESTS, "ApplicationThrottled") };
    }
    if !provider.calendars(account).iter().any(|known| known.id == place.calendar) {
        return no(StatusCode::NOT_FOUND, "ErrorItemNotFound");
    }
    match (asked.method, &place.event) {
        ("GET", Some(event)) => item(provider, account, asked, (&place.calendar, event), &query),
        // The others have no parameters.
        (_, _) if !query.is_empty() => no(StatusCode::BAD_REQUEST, "BadRequest"),
        ("POST", None) => provider.desk(|desk| create(desk, account, &place.calendar, asked.body)),
        ("PATCH" | "DELETE", Some(event)) => {
            provider.desk(|desk| change(desk, account, (&place.calendar, event), asked))
        }
        _ => no(StatusCode::METHOD_NOT_ALLOWED, "MethodNotAllowed"),
    }
}

fn item(
    provider: &CalendarProvider,
    account: &str,
    asked: &Asked<'_>,
    (calendar, event): (&str, &str),
    query: &Parameters,
) -> Said {
    if asked.prefer != Some(IN_UTC) || query.keys().any(|name| !["$select", "$expand"].contains(&name.as_str())) {
        return no(StatusCode::BAD_REQUEST, "BadRequest");
    }
    let expand = match expanded(query) {
        Ok(expand) => expand,
        Err(code) => return no(StatusCode::BAD_REQUEST, code),
    };
    provider.desk(|desk| match desk.writing.of(account, calendar).iter().find(|known| known.id == *event) {
        Some(known) => said(StatusCode::OK, known.shown(value(query, "$select"), expand.as_deref())),
        None => no(StatusCode::NOT_FOUND, "ErrorItemNotFound"),
    })
}

fn create(desk: &mut Desk, account: &str, calendar: &str, body: Option<&Value>) -> Said {
    let id = format!("AAMk/{}+=", desk.writing.created);
    let event = match Written::new(id, body.unwrap_or(&Value::Null)) {
        Ok(event) => event,
        Err(code) => return no(StatusCode::BAD_REQUEST, code),
    };
    if desk.writing.refused.contains(&event.subject) {
        return no(StatusCode::BAD_REQUEST, "ErrorInvalidRequest");
    }
    let events = desk.writing.of(account, calendar);
    let known = events.iter().find(|known| known.transaction.is_some() && known.transaction == event.transaction);
    if let Some(known) = known {
        return said(StatusCode::CREATED, known.shown("", None));
    }
    let shown = event.shown("", None);
    events.push(event);
    desk.writing.created += 1;
    said(StatusCode::CREATED, shown)
}

fn change(desk: &mut Desk, account: &str, (calendar, event): (&str, &str), asked: &Asked<'_>) -> Said {
    let refused = desk.writing.refused.clone();
    let events = desk.writing.of(account, calendar);
    let Some(place) = events.iter().position(|known| known.id == *event) else {
        return no(StatusCode::NOT_FOUND, "ErrorItemNotFound");
    };
    // The real one accepts a write without this header. The service must never send one.
    let Some(etag) = asked.if_match else { return no(StatusCode::BAD_REQUEST, "NoIfMatch") };
    if etag != events[place].etag() {
        return no(StatusCode::PRECONDITION_FAILED, "ErrorIrresolvableConflict");
    }
    if asked.method == "DELETE" {
        if asked.body.is_some() {
            return no(StatusCode::BAD_REQUEST, "BadRequest");
        }
        events.remove(place);
        return said(StatusCode::NO_CONTENT, Value::Null);
    }
    match events[place].changed(asked.body.unwrap_or(&Value::Null)) {
        Ok(event) if refused.contains(&event.subject) => no(StatusCode::BAD_REQUEST, "ErrorInvalidRequest"),
        Ok(event) => {
            let shown = event.shown("", None);
            events[place] = event;
            said(StatusCode::OK, shown)
        }
        Err(code) => no(StatusCode::BAD_REQUEST, code),
    }
}

/// A request for events outside a batch.
async fn alone(
    State(provider): State<CalendarProvider>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let account = match admitted(&provider, &headers, true) {
        Ok(account) => account,
        Err((status, code)) => return refused(status, code),
    };
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let body: Option<Value> = serde_json::from_slice(&body).ok();
    let whole = uri.path_and_query().map_or("", |whole| whole.as_str());
    let asked = Asked {
        method: method.as_str(),
        url: whole.strip_prefix(API).unwrap_or_default(),
        prefer: header("prefer"),
        if_match: header("if-match"),
        body: body.as_ref(),
    };
    let Said { status, retry_after, body } = act(&provider, &account, &asked);
    let wait = retry_after.map(|seconds| [("retry-after", seconds.to_string())]);
    match wait {
        Some(wait) => (status, wait, Json(body)).into_response(),
        None => (status, Json(body)).into_response(),
    }
}

/// The requests of a batch. `None` if the batch is not valid.
fn requests(batch: &Value) -> Option<&Vec<Value>> {
    let requests = batch.as_object().filter(|batch| batch.len() == 1)?.get("requests")?.as_array()?;
    let known = ["id", "method", "url", "headers", "body"];
    let valid = requests.iter().all(|request| {
        let object = request.as_object();
        let texts = ["id", "method", "url"].iter().all(|name| request[*name].is_string());
        let json = request["headers"]["Content-Type"] == "application/json";
        object.is_some_and(|object| object.keys().all(|name| known.contains(&name.as_str())))
            && texts
            // A request has a body and its type, or neither.
            && json == request.get("body").is_some()
    });
    let ids: BTreeSet<_> = requests.iter().map(|request| request["id"].as_str()).collect();
    (valid && (1..=BATCH_MAX).contains(&requests.len()) && ids.len() == requests.len()).then_some(requests)
}

async fn batch(State(provider): State<CalendarProvider>, headers: HeaderMap, Json(batch): Json<Value>) -> Response {
    // The token of the batch is that of its requests.
    let account = admitted(&provider, &headers, true);
    if let Err((StatusCode::UNAUTHORIZED, code)) = account {
        return refused(StatusCode::UNAUTHORIZED, code);
    }
    let storm = provider.desk(|desk| {
        let storm = desk.writing.storms > 0;
        desk.writing.storms = desk.writing.storms.saturating_sub(1);
        storm
    });
    if storm {
        return refused(StatusCode::SERVICE_UNAVAILABLE, "serviceNotAvailable");
    }
    let Some(requests) = requests(&batch) else { return refused(StatusCode::BAD_REQUEST, "BadRequest") };
    let mut responses = Vec::new();
    for request in requests {
        let header = |name: &str| request["headers"][name].as_str();
        let asked = Asked {
            method: request["method"].as_str().unwrap_or_default(),
            url: request["url"].as_str().unwrap_or_default(),
            prefer: header("Prefer"),
            if_match: header("If-Match"),
            body: request.get("body"),
        };
        let Said { status, retry_after, body } = match &account {
            Ok(account) => act(&provider, account, &asked),
            Err((status, code)) => no(*status, code),
        };
        let headers = retry_after.map_or(json!({}), |seconds| json!({ "Retry-After": seconds.to_string() }));
        let status = status.as_u16();
        responses.push(json!({ "id": request["id"], "status": status, "headers": headers, "body": body }));
    }
    // They come in any order.
    responses.reverse();
    let writes = requests.iter().any(|request| request["method"] != "GET");
    let cut = provider.desk(|desk| {
        let cut = writes && desk.writing.cuts > 0;
        desk.writing.cuts -= u32::from(cut);
        cut
    });
    if cut {
        let lost = std::io::Error::other("the connection was cut");
        return Body::from_stream(futures::stream::iter([Err::<Bytes, _>(lost)])).into_response();
    }
    Json(json!({ "responses": responses })).into_response()
}
