//! The form that creates a calendar of an agent.

use std::sync::Arc;

use axum::{Router, response::Response, routing::get};
use http::StatusCode;
use kalends_app::{Actor, App, Refusal, operations};
use kalends_web::{CALENDAR_FIELDS, CalendarGiven, NO_PROBLEMS, NewCalendarForm, Place, Problems};
use kalends_wire as wire;

use super::{
    form::{OwnForm, new_once},
    frame::{needs, shell},
    places::{AGENTS, Form, NEW_CALENDAR, segment},
    shown::{page, problems, refused, shown_again},
};
use crate::{
    Service,
    error::ApiError,
    extract::{Caller, PathOf},
    pages::Fields,
    reply::see_other,
};

/// The page and the form, each with its operation.
pub(super) const OPERATIONS: &[Form] = &[
    ("GET", NEW_CALENDAR, &operations::LIST_AGENT_CALENDARS),
    ("POST", NEW_CALENDAR, &operations::CREATE_AGENT_CALENDAR),
];

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new().route(NEW_CALENDAR, get(ask).post(create))
}

/// The page to continue on, with the text of the link to it.
const TO_AGENTS: (&str, &str) = (AGENTS, "See the agents");

/// `GET /console/agents/{id}/calendars/new`
async fn ask(app: Service, caller: Caller, id: PathOf<String>) -> Result<Response, ApiError> {
    let given = CalendarGiven { name: "", zone: None };
    match render(&app, &caller.0, &id.0, given, &NO_PROBLEMS).await {
        Ok(text) => Ok(page(StatusCode::OK, text)),
        Err(refusal) => refused(refusal, TO_AGENTS),
    }
}

async fn render(
    app: &App,
    caller: &Actor,
    id: &str,
    given: CalendarGiven<'_>,
    problems: &Problems,
) -> Result<String, Refusal> {
    needs(caller, &operations::CREATE_AGENT_CALENDAR)?;
    let agent = app.agent(caller, id).await?;
    agent.living()?;
    let form = NewCalendarForm {
        shell: &shell(caller, Place::Agents)?,
        once: &new_once(app.entropy()),
        now: app.now(),
        agent: &agent.id.to_string(),
        agent_name: &agent.name,
        given,
        problems,
    };
    Ok(form.html())
}

fn typed(fields: &Fields) -> CalendarGiven<'_> {
    CalendarGiven { name: fields.get("name").trim(), zone: Some(fields.get("timezone").trim()) }
}

/// `POST /console/agents/{id}/calendars/new`
async fn create(app: Service, id: PathOf<String>, mut form: OwnForm) -> Result<Response, ApiError> {
    let given = typed(&form.fields);
    let body = wire::CreateCalendar {
        name: given.name.to_owned(),
        timezone: given.zone.unwrap_or_default().to_owned(),
        ..wire::CreateCalendar::default()
    };
    let agent = id.0;
    let outcome = match body.parse() {
        Ok(new) => form.once(&app, async |caller: &Actor| app.create_calendar(caller, Some(&agent), new).await).await,
        Err(errors) => Err(errors.into()),
    };
    match outcome {
        Ok(_) => Ok(see_other(&format!("{AGENTS}/{}?done=created", segment(&agent)), None)),
        Err(refusal) => {
            let (problems, error) = problems(refusal, &CALENDAR_FIELDS)?;
            let text = render(&app, &form.caller, &agent, typed(&form.fields), &problems).await;
            shown_again(error, text, TO_AGENTS)
        }
    }
}
