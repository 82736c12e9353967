//! The parts of Google's calendar API that the service uses.

use axum::{
    Form, Json, Router,
    extract::{Query, State},
    http::{HeaderMap, StatusCode},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use chrono::{DateTime, TimeDelta, Utc};
use serde_json::{Map, Value, json};

use super::{CalendarProvider, TheirCalendar, Transparency};
use crate::{
    authorization::{Parameters, error, value},
    time::iso,
};

/// The base path of the API.
pub(super) const API: &str = "/calendar/v3";
pub(super) const SCOPES: &[&str] = &[FREE_BUSY, CALENDAR_LIST];

const FREE_BUSY: &str = "https://www.googleapis.com/auth/calendar.freebusy";
const CALENDAR_LIST: &str = "https://www.googleapis.com/auth/calendar.calendarlist.readonly";
/// The most calendars in one query.
const CALENDARS_AT_ONCE: usize = 50;
/// The longest span of one query. The real limit is a little higher and is not documented.
const AT_ONCE: TimeDelta = TimeDelta::days(60);
/// The number of calendars on a page, whatever the request asks for.
const PAGE: usize = 2;

pub(super) fn routes() -> Router<CalendarProvider> {
    Router::new()
        .route("/revoke", post(revoke))
        .route(&format!("{API}/users/me/calendarList"), get(calendar_list))
        .route(&format!("{API}/freeBusy"), post(free_busy))
}

fn refused(status: StatusCode, reason: &str) -> Response {
    let code = status.as_u16();
    let errors = json!([{ "domain": "global", "reason": reason, "message": reason }]);
    (status, Json(json!({ "error": { "code": code, "message": reason, "errors": errors } }))).into_response()
}

/// Revokes all consent of the token's account (RFC 7009).
async fn revoke(State(provider): State<CalendarProvider>, Form(form): Form<Parameters>) -> Response {
    let token = value(&form, "token").to_owned();
    provider.desk(|desk| {
        let known = desk.refresh.get(&token).or_else(|| desk.access.get(&token)).map(|consent| consent.account.clone());
        desk.revoked.push(token);
        match known {
            Some(account) => {
                desk.forget(&account);
                Json(json!({})).into_response()
            }
            None => error(StatusCode::BAD_REQUEST, "invalid_token"),
        }
    })
}

async fn calendar_list(
    State(provider): State<CalendarProvider>,
    headers: HeaderMap,
    Query(query): Query<Parameters>,
) -> Response {
    let Some(account) = provider.admitted(&headers, CALENDAR_LIST) else {
        return refused(StatusCode::UNAUTHORIZED, "authError");
    };
    let from: usize = match value(&query, "pageToken") {
        "" => 0,
        token => match token.strip_prefix("after=&").and_then(|number| number.parse().ok()) {
            Some(from) => from,
            None => return refused(StatusCode::BAD_REQUEST, "invalidParameter"),
        },
    };
    let calendars = provider.calendars(&account);
    let page = calendars.iter().enumerate().skip(from).take(PAGE);
    let items: Vec<Value> = page
        .map(|(place, TheirCalendar { id, name, .. })| {
            let mut item = json!({ "kind": "calendar#calendarListEntry", "id": id, "summary": name });
            if place == 0 {
                // The primary calendar's `summary` is the account, whatever name the user gave it.
                item["summary"] = account.clone().into();
                item["summaryOverride"] = name.clone().into();
                item["primary"] = true.into();
            }
            item
        })
        .collect();
    let mut answer = json!({ "kind": "calendar#calendarList", "items": items });
    if from + PAGE < calendars.len() {
        answer["nextPageToken"] = format!("after=&{}", from + PAGE).into();
    }
    Json(answer).into_response()
}

async fn free_busy(
    State(provider): State<CalendarProvider>,
    headers: HeaderMap,
    Json(question): Json<Value>,
) -> Response {
    let Some(account) = provider.admitted(&headers, FREE_BUSY) else {
        return refused(StatusCode::UNAUTHORIZED, "authError");
    };
    let time = |name: &str| {
        let text = question[name].as_str().and_then(|text| DateTime::parse_from_rfc3339(text).ok());
        text.map(|time| time.to_utc())
    };
    let (Some(from), Some(to)) = (time("timeMin"), time("timeMax")) else {
        return refused(StatusCode::BAD_REQUEST, "required");
    };
    if to <= from {
        return refused(StatusCode::BAD_REQUEST, "timeRangeEmpty");
    }
    if to - from > AT_ONCE {
        return refused(StatusCode::BAD_REQUEST, "timeRangeTooLong");
    }
    let items = question["items"].as_array().cloned().unwrap_or_default();
    let items: Vec<&str> = items.iter().filter_map(|item| item["id"].as_str()).collect();
    if items.is_empty() || items.len() > CALENDARS_AT_ONCE {
        return refused(StatusCode::BAD_REQUEST, "tooManyCalendarsRequested");
    }
    let calendars = provider.calendars(&account);
    let busy_of_each = items.iter().map(|id| {
        let known = calendars.iter().find(|known| known.id == **id);
        let not_found = json!({ "errors": [{ "domain": "global", "reason": "notFound" }], "busy": [] });
        ((*id).to_owned(), known.map_or(not_found, |known| json!({ "busy": busy(known, from, to) })))
    });
    let calendars: Map<String, Value> = busy_of_each.collect();
    let (from, to) = (iso(from), iso(to));
    Json(json!({ "kind": "calendar#freeBusy", "timeMin": from, "timeMax": to, "calendars": calendars })).into_response()
}

/// The busy times within a window, cut off at its ends.
fn busy(calendar: &TheirCalendar, from: DateTime<Utc>, to: DateTime<Utc>) -> Vec<Value> {
    let taken = calendar.events.iter().filter(|event| event.transparency == Transparency::Busy);
    let within = taken.filter(|event| event.start < to && from < event.end);
    within
        .map(|event| {
            json!({ "start": iso(event.start.max(from)), "end": iso(event.end.min(to)), "summary": event.title })
        })
        .collect()
}
