//! The feeds of calendars: their addresses, and calendars as files.

use std::sync::Arc;

use axum::{Router, response::Response, routing::get};
use http::{HeaderMap, StatusCode};
use kalends_app::{Actor, App, Refusal, operations};
use kalends_calendars::{Calendar, Conflicts, ports::CalendarEntry};
use kalends_kernel::{Listed, Page};
use kalends_web::{Done, FeedCalendar, FeedCalendarPage, FeedsPage, Paging, Place, RotateFeed};
use kalends_wire as wire;

use super::{
    form::{OwnForm, new_once},
    frame::{Asked, AskedOf, needs, shell},
    places::{CALENDAR_FILE, FEED, FEEDS, Form, ROTATE_FEED, segment},
    shown::{page, refused},
    subscription_list::{Names, agent_names, all_shown, statuses_with},
};
use crate::{
    Service,
    endpoints::feeds::export::calendar_file,
    error::ApiError,
    extract::{Caller, PathOf, has},
    reply::see_other,
};

/// The pages and forms, each with its operation.
pub(super) const OPERATIONS: &[Form] = &[
    ("GET", FEEDS, &operations::LIST_CALENDARS),
    ("GET", FEED, &operations::GET_CALENDAR),
    ("GET", ROTATE_FEED, &operations::GET_CALENDAR),
    ("POST", ROTATE_FEED, &operations::ROTATE_FEED_TOKEN),
    ("GET", CALENDAR_FILE, &operations::EXPORT_CALENDAR),
];

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route(FEEDS, get(list))
        .route(FEED, get(show))
        .route(ROTATE_FEED, get(ask_to_rotate).post(rotate))
        .route(CALENDAR_FILE, get(file))
}

/// The page to continue on after a refused form, with the text of the link to it.
pub(super) const TO_FEEDS: (&str, &str) = (FEEDS, "See the feeds");
/// The subscriptions on the first page.
const FIRST: Page = Page { limit: 10, offset: 0 };

/// The path of the page of a calendar, whose identifier may be any text.
pub(super) fn path_of(calendar: &str) -> String {
    format!("{FEEDS}/calendars/{}", segment(calendar))
}

/// `GET /console/feeds`
async fn list(app: Service, caller: Caller, asked: AskedOf<Asked>) -> Result<Response, ApiError> {
    let asked = Asked::of(asked);
    let Listed { data: entries, total } = app.calendar_entries(&caller.0, asked.page()).await?;
    let paging = Paging { path: FEEDS.to_owned(), filter: Vec::new(), page: asked.page(), total };
    let subscriptions = app.subscriptions_of(&caller.0, None, (None, FIRST)).await?;
    let known = Names {
        agents: entries.iter().filter_map(|entry| entry.agent.clone()).collect(),
        calendars: entries.iter().map(|entry| (entry.id, entry.name.clone())).collect(),
    };
    let calendars: Vec<_> = entries.into_iter().map(shown).collect();
    let list = FeedsPage {
        shell: &shell(&caller.0, Place::Feeds)?,
        done: asked.done(),
        calendars: &calendars,
        paging: &paging,
        may_subscribe: caller.0.may(&operations::CREATE_SUBSCRIPTION),
        statuses: &statuses_with(&app, &caller.0, &subscriptions).await?,
        subscriptions_total: subscriptions.total,
        subscriptions: &all_shown(&app, &caller.0, &subscriptions.data, known).await?,
    };
    Ok(page(StatusCode::OK, list.html()))
}

fn shown(CalendarEntry { id, name, agent, zone, conflicts }: CalendarEntry) -> FeedCalendar {
    FeedCalendar {
        id: id.to_string(),
        name,
        zone: zone.to_string(),
        agent: agent.map(|(agent, name)| (agent.to_string(), name)),
        refuses_conflicts: conflicts == Conflicts::Refuse,
    }
}

/// The calendar, with the name of its agent.
pub(super) async fn with_agent(app: &App, caller: &Actor, calendar: &Calendar) -> Result<FeedCalendar, Refusal> {
    // The agent of a calendar has a name, if only its identifier.
    let agent = agent_names(app, caller, calendar.agent.into_iter().collect()).await?.pop_first();
    let Calendar { id, zone, conflicts, .. } = *calendar;
    Ok(shown(CalendarEntry { id, name: calendar.name.clone(), agent, zone, conflicts }))
}

/// `GET /console/feeds/calendars/{id}`
async fn show(app: Service, caller: Caller, id: PathOf<String>, asked: AskedOf<Asked>) -> Result<Response, ApiError> {
    match render(&app, &caller.0, &id.0, Asked::of(asked).done()).await {
        Ok(text) => Ok(page(StatusCode::OK, text)),
        Err(refusal) => refused(refusal, TO_FEEDS),
    }
}

async fn render(app: &App, caller: &Actor, id: &str, done: Done) -> Result<String, Refusal> {
    let calendar = app.calendar(caller, id).await?;
    let found = with_agent(app, caller, &calendar).await?;
    let shown = FeedCalendarPage {
        shell: &shell(caller, Place::Feeds)?,
        done,
        calendar: &found,
        address: &wire::Calendar::new(calendar, &app.settings().base_url).ical_url,
        may_rotate: caller.may(&operations::ROTATE_FEED_TOKEN),
        may_import: caller.may(&operations::IMPORT_CALENDAR),
        may_subscribe: caller.may(&operations::CREATE_SUBSCRIPTION),
    };
    Ok(shown.html())
}

/// `GET /console/feeds/calendars/{id}/rotate`
async fn ask_to_rotate(app: Service, caller: Caller, id: PathOf<String>) -> Result<Response, ApiError> {
    match question(&app, &caller.0, &id.0).await {
        Ok(text) => Ok(page(StatusCode::OK, text)),
        Err(refusal) => refused(refusal, TO_FEEDS),
    }
}

async fn question(app: &App, caller: &Actor, id: &str) -> Result<String, Refusal> {
    needs(caller, &operations::ROTATE_FEED_TOKEN)?;
    let calendar = with_agent(app, caller, &app.calendar(caller, id).await?).await?;
    let shell = shell(caller, Place::Feeds)?;
    Ok(RotateFeed { shell: &shell, calendar: &calendar, once: &new_once(app.entropy()) }.html())
}

/// `POST /console/feeds/calendars/{id}/rotate`. A form that is sent twice replaces the address once.
async fn rotate(app: Service, id: PathOf<String>, mut form: OwnForm) -> Result<Response, ApiError> {
    match form.once(&app, async |caller: &Actor| app.rotate_feed_token(caller, &id.0).await).await {
        Ok(_) => Ok(see_other(&format!("{}?done=address", path_of(&id.0)), None)),
        Err(refusal) => refused(refusal, TO_FEEDS),
    }
}

/// `GET /console/feeds/calendars/{id}/file`. The answer of the API, except that a refusal is a page.
async fn file(app: Service, caller: Caller, id: PathOf<String>, headers: HeaderMap) -> Result<Response, ApiError> {
    match app.export_calendar(&caller.0, &id.0, |etag| has(&headers, etag)).await {
        Ok(answer) => calendar_file(answer, &id.0),
        Err(refusal) => refused(refusal, TO_FEEDS),
    }
}
