//! The form that changes a calendar, and the question whether to delete it.

use std::sync::Arc;

use axum::{Router, response::Response, routing::get};
use kalends_app::{Actor, App, Refusal, operations};
use kalends_calendars::{Calendar, PublicationPolicy, ports::EventFilter};
use kalends_kernel::{LIMIT_MAX, Page};
use kalends_web::{CALENDAR_FIELDS, CalendarGiven, CalendarSettings, DeleteCalendar, Done, Place};
use kalends_wire::{self as wire, Listing};

use super::{
    form::{OwnForm, new_once},
    frame::{Asked, AskedOf, needs, shell},
    places::{AGENTS, CALENDAR_SETTINGS, DELETE_CALENDAR, Form, segment},
    settings::{Filled, Settings},
    shown::{for_page, page_or_refused, refused, shown_again},
};
use crate::{
    Service,
    error::ApiError,
    extract::{Caller, PathOf},
    pages::{Fields, line},
    reply::see_other,
};

/// The pages and forms, each with its operation.
pub(super) const OPERATIONS: &[Form] = &[
    ("GET", CALENDAR_SETTINGS, &operations::GET_CALENDAR),
    ("POST", CALENDAR_SETTINGS, &operations::UPDATE_CALENDAR),
    ("GET", DELETE_CALENDAR, &operations::GET_CALENDAR),
    ("POST", DELETE_CALENDAR, &operations::DELETE_CALENDAR),
];

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route(CALENDAR_SETTINGS, get(show).post(change))
        .route(DELETE_CALENDAR, get(ask_to_delete).post(delete))
}

/// The address below which the calendars are.
const CALENDARS: &str = "/console/calendars";
/// The page to continue on, with the text of the link to it.
const TO_AGENTS: (&str, &str) = (AGENTS, "See the agents");
/// The form that changes a calendar.
const SETTINGS: Settings = Settings {
    fields: &CALENDAR_FIELDS,
    changed: "The calendar has changed since you opened this page. Its current state is shown here. Save again to \
              change it.",
    problems: |_| None,
    list: TO_AGENTS,
};
/// Why the question is asked again.
const CHANGED_SINCE: &str = "The calendar has changed since you opened this page. Its current state is shown here.";
/// The booking pages that are read to count those of a calendar.
const PAGES_MAX: Page = Page { limit: LIMIT_MAX, offset: 0 };

/// `GET /console/calendars/{id}`
async fn show(app: Service, caller: Caller, id: PathOf<String>, asked: AskedOf<Asked>) -> Result<Response, ApiError> {
    page_or_refused(render(&app, &caller.0, &id.0, Asked::of(asked).done(), Filled::NOW).await, TO_AGENTS)
}

/// The identifier and the name of the agent that owns the calendar, if one does.
async fn owner(app: &App, caller: &Actor, calendar: &Calendar) -> Result<Option<(String, String)>, Refusal> {
    match calendar.agent {
        None => Ok(None),
        Some(agent) => {
            let id = agent.to_string();
            let name = app.agent(caller, &id).await?.name;
            Ok(Some((id, name)))
        }
    }
}

/// The page of a calendar, with what was typed in a form that had no effect, and the reason.
async fn render(app: &App, caller: &Actor, id: &str, done: Done, filled: Filled<'_>) -> Result<String, Refusal> {
    needs(caller, &operations::UPDATE_CALENDAR)?;
    let calendar = app.calendar(caller, id).await?;
    let agent = owner(app, caller, &calendar).await?;
    let name = line(&calendar.name);
    let now = CalendarGiven { name: &name, zone: Some(calendar.zone.name()) };
    let given = fields(now, |name, now| filled.text(name, now));
    let was = fields(now, |name, now| filled.text_before(name, now));
    let shown = CalendarSettings {
        shell: &shell(caller, Place::Agents)?,
        done,
        once: &new_once(app.entropy()),
        now: app.now(),
        id: &calendar.id.to_string(),
        name: &calendar.name,
        agent: agent.as_ref().map(|(id, name)| (id.as_str(), name.as_str())),
        version: &filled.version(calendar.version),
        publication: calendar.publication.map(PublicationPolicy::as_str),
        may_delete: caller.may(&operations::DELETE_CALENDAR),
        given,
        was,
        problems: filled.problems(),
    };
    Ok(shown.html())
}

/// The fields that the form changes.
fn fields<'a>(now: CalendarGiven<'a>, text: impl Fn(&str, &'a str) -> &'a str) -> CalendarGiven<'a> {
    CalendarGiven { name: text("name", now.name), zone: now.zone.map(|zone| text("timezone", zone)) }
}

/// What was typed over.
fn body(fields: &Fields) -> wire::UpdateCalendar {
    let typed = |name| fields.is_typed_over(name).then(|| Some(fields.get(name).trim().to_owned()));
    wire::UpdateCalendar { name: typed("name"), timezone: typed("timezone"), ..wire::UpdateCalendar::default() }
}

/// `POST /console/calendars/{id}`
async fn change(app: Service, id: PathOf<String>, mut form: OwnForm) -> Result<Response, ApiError> {
    let outcome = save(&app, &mut form, &id.0).await;
    SETTINGS
        .answer(outcome, &form, (CALENDARS, &id.0), async |filled: Filled<'_>| {
            render(&app, &form.caller, &id.0, Done::default(), filled).await
        })
        .await
}

/// Saves what was typed over. A form that is sent twice saves once.
async fn save(app: &App, form: &mut OwnForm, id: &str) -> Result<(), Refusal> {
    if !CALENDAR_FIELDS.into_iter().any(|name| form.fields.is_typed_over(name)) {
        return app.calendar(&form.caller, id).await.map(drop);
    }
    let (patch, seen) = (body(&form.fields).parse()?, form.if_match());
    form.once(app, async |caller: &Actor| app.update_calendar(caller, id, patch, &seen).await).await.map(drop)
}

/// `GET /console/calendars/{id}/delete`
async fn ask_to_delete(app: Service, caller: Caller, id: PathOf<String>) -> Result<Response, ApiError> {
    page_or_refused(question(&app, &caller.0, &id.0, None).await, TO_AGENTS)
}

async fn question(app: &App, caller: &Actor, id: &str, problem: Option<&str>) -> Result<String, Refusal> {
    needs(caller, &operations::DELETE_CALENDAR)?;
    let calendar = app.calendar(caller, id).await?;
    let agent = owner(app, caller, &calendar).await?;
    let (all, one) = (Listing::Events(EventFilter::default()), Page { limit: 1, offset: 0 });
    let events = app.list_calendar_events(caller, id, all, one).await?.total;
    let pages = app.list_booking_pages(caller, PAGES_MAX).await?;
    let own_pages = pages.data.iter().filter(|page| page.calendar == calendar.id).count();
    let asks = DeleteCalendar {
        shell: &shell(caller, Place::Agents)?,
        id: &calendar.id.to_string(),
        name: &calendar.name,
        agent: agent.as_ref().map(|(id, name)| (id.as_str(), name.as_str())),
        version: calendar.version.0,
        events,
        booking_pages: own_pages,
        has_more_pages: pages.total > u64::from(PAGES_MAX.limit),
        problem,
    };
    Ok(asks.html())
}

/// `POST /console/calendars/{id}/delete`
async fn delete(app: Service, id: PathOf<String>, form: OwnForm) -> Result<Response, ApiError> {
    let done = match app.delete_calendar(&form.caller, &id.0, false, &form.if_match()).await {
        Ok(_) => "deleted",
        // The same form may have deleted it, or somebody else.
        Err(Refusal::NotFound { .. }) => "gone",
        Err(refusal @ Refusal::Stale { .. }) => {
            let text = question(&app, &form.caller, &id.0, Some(CHANGED_SINCE)).await;
            return shown_again(for_page(refusal)?, text, TO_AGENTS);
        }
        Err(refusal) => return refused(refusal, TO_AGENTS),
    };
    let list = match form.fields.get("agent") {
        "" => AGENTS.to_owned(),
        agent => format!("{AGENTS}/{}", segment(agent)),
    };
    Ok(see_other(&format!("{list}?done={done}"), None))
}
