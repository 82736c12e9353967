//! The first run: one form creates an agent with a calendar and a key, and another one a test event.

use std::sync::Arc;

use axum::{
    Router,
    response::Response,
    routing::{get, post},
};
use http::StatusCode;
use kalends_app::{
    Actor, Answer, Answered, App, Refusal,
    operations::{self, Operation},
};
use kalends_calendars::{NewAgent, NewCalendar, ports::AgentFilter};
use kalends_kernel::{FieldError, FieldErrors, Page};
use kalends_plans::Feature;
use kalends_time::Zone;
use kalends_web::{
    CalendarShown, FIRST_RUN_FIELDS, FirstAgent, FirstRunForm, FirstRunGiven, FirstRunMade, NO_PROBLEMS, Place,
    Problems, TestEvent, View, Viewed,
};
use kalends_wire as wire;
use serde::Deserialize;

use super::{
    first_event::next_working_hour,
    form::{ONCE, OwnForm, caller_of, is_once, new_once, once, read},
    frame::{needs, shell},
    places::{AGENTS, FIRST_RUN, Form, TEST_EVENT},
    shown::{page, problems, refused, shown_again},
};
use crate::{Service, error::ApiError, extract::Caller, pages::Fields, reply::see_other};

/// The pages and forms, each with its operation.
pub(super) const OPERATIONS: &[Form] = &[
    ("GET", FIRST_RUN, &operations::LIST_AGENTS),
    // Each step is an operation of its own. This is the last one, and every role that may do it may do the others.
    ("POST", FIRST_RUN, &operations::CREATE_KEY),
    ("POST", TEST_EVENT, &operations::CREATE_EVENT),
];

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new().route(FIRST_RUN, get(ask).post(set_up)).route(TEST_EVENT, post(try_it).get(back))
}

/// The page to continue on, with the text of the link to it.
const TO_AGENTS: (&str, &str) = (AGENTS, "See the agents");
/// Why a form that had an effect with other names had none now.
const SENT_BEFORE: &str = "This form was sent before, with other names. The agents show what it created. Send it again to \
                           create another one.";
/// What the form begins with.
const SUGGESTED: FirstRunGiven<'static> = FirstRunGiven { agent: "Assistant", calendar: "Calendar", zone: None };
const KEY_LABEL: &str = "First key";
const TEST_TITLE: &str = "Kalends test";

async fn has_agents(app: &App, caller: &Actor) -> Result<bool, Refusal> {
    Ok(app.list_agents(caller, AgentFilter::default(), Page { limit: 1, offset: 0 }).await?.total > 0)
}

/// Whether the plan has keys of single agents.
fn makes_key(caller: &Actor) -> bool {
    caller.needs(Feature::ScopedKeys).is_ok()
}

/// `GET /console/start`
async fn ask(app: Service, caller: Caller) -> Result<Response, ApiError> {
    if let Err(refusal) = needs(&caller.0, &operations::CREATE_KEY) {
        return refused(refusal, TO_AGENTS);
    }
    let once = new_once(app.entropy());
    let text = render(&app, &caller.0, &once, SUGGESTED, FirstRunMade::Nothing, &NO_PROBLEMS).await?;
    Ok(page(StatusCode::OK, text))
}

async fn render(
    app: &App,
    caller: &Actor,
    once: &str,
    given: FirstRunGiven<'_>,
    made: FirstRunMade,
    problems: &Problems,
) -> Result<String, Refusal> {
    let form = FirstRunForm {
        shell: &shell(caller, Place::Home)?,
        once,
        now: app.now(),
        has_agents: made == FirstRunMade::Nothing && has_agents(app, caller).await?,
        makes_key: makes_key(caller),
        given,
        made,
        problems,
    };
    Ok(form.html())
}

fn typed(fields: &Fields) -> FirstRunGiven<'_> {
    let given = |name| fields.get(name).trim();
    FirstRunGiven { agent: given("agent"), calendar: given("calendar"), zone: Some(given("timezone")) }
}

/// The agent and the calendar that the form describes.
fn wanted(given: FirstRunGiven<'_>) -> Result<(NewAgent, NewCalendar), FieldErrors> {
    let agent = wire::CreateAgent {
        name: given.agent.to_owned(),
        r#type: wire::AgentType::Ai,
        description: None,
        metadata: None,
    };
    let calendar = wire::CreateCalendar {
        name: given.calendar.to_owned(),
        timezone: given.zone.unwrap_or_default().to_owned(),
        ..wire::CreateCalendar::default()
    };
    let mut errors = FieldErrors::default();
    let agent = errors.take_all(agent.parse().map_err(|errors| about(&errors, "agent")));
    let calendar = errors.take_all(calendar.parse().map_err(|errors| about(&errors, "calendar")));
    match (agent, calendar) {
        (Some(agent), Some(calendar)) => Ok((agent, calendar)),
        _ => Err(errors),
    }
}

/// The same errors, by the fields of this form. The name is in `field`.
fn about(errors: &FieldErrors, field: &str) -> FieldErrors {
    let mut renamed = FieldErrors::default();
    for error in errors.iter() {
        let param = if error.param == "name" { field } else { error.param.as_str() };
        renamed.push(FieldError::new(param, error.message.as_str()));
    }
    renamed
}

/// The part of an answer that the page shows.
#[derive(Deserialize)]
struct Named {
    id: String,
    name: String,
}

/// What the form creates.
struct Created {
    agent: Named,
    calendar: Named,
    /// The text of the key; `None` if the plan has no keys of single agents.
    key: Option<String>,
}

/// `POST /console/start`
async fn set_up(app: Service, form: OwnForm) -> Result<Response, ApiError> {
    let given = typed(&form.fields);
    let mut made = FirstRunMade::Nothing;
    match create(&app, &form, given, &mut made).await {
        Ok(created) => show(&app, &form.caller, given, created),
        Err(ApiError::Refused(refusal)) => again(&app, &form, given, made, refusal).await,
        Err(error) => Err(error),
    }
}

/// Creates everything, step by step. `made` says how far it got. A form that is sent again gets the answers of the steps
/// that had their effect, and continues with the others.
async fn create(
    app: &App,
    form: &OwnForm,
    given: FirstRunGiven<'_>,
    made: &mut FirstRunMade,
) -> Result<Created, ApiError> {
    let (new_agent, new_calendar) = wanted(given)?;
    if !is_once(form.fields.get(ONCE)) {
        // Without a key, a repetition would create everything again.
        return Err(FieldErrors::from(FieldError::new(ONCE, "this form is not complete; send it again")).into());
    }
    let answer = step(app, form, &operations::CREATE_AGENT, given.agent, async |caller: &Actor| {
        app.create_agent(caller, new_agent).await
    });
    let agent: Named = read(&answer.await?)?;
    *made = FirstRunMade::Agent;
    let content = format!("{}\n{}", given.calendar, given.zone.unwrap_or_default());
    let answer = step(app, form, &operations::CREATE_AGENT_CALENDAR, &content, async |caller: &Actor| {
        app.create_calendar(caller, Some(&agent.id), new_calendar).await
    });
    let calendar: Named = read(&answer.await?)?;
    *made = FirstRunMade::Calendar;
    let key = if makes_key(&form.caller) { Some(key_of(app, form, &agent.id).await?) } else { None };
    Ok(Created { agent, calendar, key })
}

/// Creates the key, and returns its text.
async fn key_of(app: &App, form: &OwnForm, agent: &str) -> Result<String, ApiError> {
    let new = wire::CreateScopedKey {
        agent_id: agent.to_owned(),
        label: Some(KEY_LABEL.to_owned()),
        scopes: None,
        requires_approval: None,
        approval_expires_in_minutes: None,
    };
    let wanted = new.parse()?;
    let answer = step(app, form, &operations::CREATE_KEY, &wanted.agent, async |caller: &Actor| {
        app.create_key(caller, &wanted).await
    });
    Ok(read::<wire::NewScopedKey>(&answer.await?)?.key)
}

/// A step of the form, as the operation that it is: it has its effect once, and its own entry in the audit log. The same
/// step of the same form has the same `content`.
async fn step<T>(
    app: &App,
    form: &OwnForm,
    operation: &'static Operation,
    content: &str,
    effect: impl AsyncFnOnce(&Actor) -> Result<Answered<T>, Refusal>,
) -> Result<Answer, Refusal> {
    // The operation is part of the identity of a form, so all steps share the key of this one.
    let mut caller = caller_of(operation, &form.caller)?;
    once(app, &mut caller, form.fields.get(ONCE), content.as_bytes(), effect).await
}

/// The page that shows the key, and how to connect the agent.
fn show(app: &App, caller: &Actor, given: FirstRunGiven<'_>, created: Created) -> Result<Response, ApiError> {
    let Created { agent, calendar, key } = created;
    let zone = given.zone.unwrap_or_default().to_owned();
    let event = next_working_hour(app.now(), zone.parse().unwrap_or(Zone::UTC));
    let calendar = CalendarShown { id: calendar.id, name: calendar.name, zone };
    let shown = FirstAgent {
        shell: &shell(caller, Place::Home)?,
        once: &new_once(app.entropy()),
        agent: &agent.id,
        agent_name: &agent.name,
        calendar: &calendar,
        key: key.as_deref(),
        base_url: &app.settings().base_url,
        event,
    };
    Ok(page(StatusCode::CREATED, shown.html()))
}

/// The form again, which says what was created and what was not. It keeps its key, so that it continues.
async fn again(
    app: &App,
    form: &OwnForm,
    given: FirstRunGiven<'_>,
    made: FirstRunMade,
    refusal: Refusal,
) -> Result<Response, ApiError> {
    let is_another = matches!(refusal, Refusal::IdempotencyMismatch);
    // What an earlier step created is gone: a repetition would get its stored answer again, and never get further.
    let is_gone = matches!(refusal, Refusal::AgentState(_) | Refusal::NotFound { .. });
    let (problems, error) = problems(refusal, &FIRST_RUN_FIELDS)?;
    let problems = if is_another { Problems::general(SENT_BEFORE.to_owned()) } else { problems };
    let continues = !is_another && !is_gone && made != FirstRunMade::Nothing;
    let text = if continues {
        render(app, &form.caller, form.fields.get(ONCE), given, made, &problems).await
    } else {
        render(app, &form.caller, &new_once(app.entropy()), given, FirstRunMade::Nothing, &problems).await
    };
    shown_again(error, text, TO_AGENTS)
}

/// `POST /console/start/test`
async fn try_it(app: Service, mut form: OwnForm) -> Result<Response, ApiError> {
    let id = form.fields.get("calendar").to_owned();
    let calendar = match app.calendar(&form.caller, &id).await {
        Ok(calendar) => calendar,
        Err(refusal) => return refused(refusal, TO_AGENTS),
    };
    let (start, end) = next_working_hour(app.now(), calendar.zone);
    let event = wire::CreateEvent {
        title: TEST_TITLE.to_owned(),
        start_time: start.to_string(),
        end_time: end.to_string(),
        ..wire::CreateEvent::default()
    };
    let outcome = match event.parse() {
        Ok(new) => form.once(&app, async |caller: &Actor| app.create_event(caller, &id, new).await).await,
        Err(errors) => Err(errors.into()),
    };
    let answer = match outcome {
        Ok(answer) => answer,
        Err(refusal) => return refused(refusal, TO_AGENTS),
    };
    let event: wire::Event = read(&answer)?;
    let agent = calendar.agent.map(|agent| agent.to_string());
    let (zone, date) = (calendar.zone, calendar.zone.to_civil(event.start_time).date);
    let week = Viewed { view: View::Week, date, zone, second: None, calendars: vec![id] };
    let shown = TestEvent {
        shell: &shell(&form.caller, Place::Home)?,
        calendar: &calendar.name,
        agent: agent.as_deref(),
        week: &week.href(View::Week, date),
        event: &pretty(&event)?,
    };
    Ok(page(StatusCode::CREATED, shown.html()))
}

/// The event as the API answers it, on several lines.
fn pretty(event: &wire::Event) -> Result<String, ApiError> {
    serde_json::to_string_pretty(event).map_err(|error| {
        tracing::error!(%error, "an event could not be serialized as JSON");
        ApiError::Internal
    })
}

/// Somebody reloads the address of a form.
async fn back() -> Response {
    see_other(FIRST_RUN, None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_that_is_wrong_is_named() {
        let given = FirstRunGiven { agent: "", calendar: "", zone: Some("Mars") };
        let errors = wanted(given).map(drop).unwrap_err();
        let named: Vec<_> = errors.iter().map(|error| error.param.as_str()).collect();
        assert_eq!(named, FIRST_RUN_FIELDS);
        assert!(wanted(FirstRunGiven { zone: Some("UTC"), ..SUGGESTED }).is_ok());
    }
}
