//! The agents of the organization, and the forms about them.

use std::sync::Arc;

use axum::{
    Router,
    response::Response,
    routing::{get, post},
};
use http::StatusCode;
use kalends_app::{Actor, App, IfMatch, Refusal, operations};
use kalends_calendars::{Agent, AgentPatch, AgentStatus, AgentType, Calendar, NewAgent, Patch, ports::AgentFilter};
use kalends_kernel::{AgentId, FieldError, FieldErrors, Page};
use kalends_plans::Feature;
use kalends_web::{
    AGENT_FIELDS, AgentGiven, AgentPage, AgentShown, Agents, CalendarShown, Decommission, Done, NO_PROBLEMS,
    NewAgentForm, Paging, Place, Problems,
};
use kalends_wire as wire;
use serde::Deserialize;

use super::{
    form::{OwnForm, new_once, read},
    frame::{Asked, AskedOf, needs, shell},
    keys::may_create,
    places::{AGENT, AGENTS, DECOMMISSION, Form, NEW_AGENT, PAUSE_AGENT, RESUME_AGENT, segment},
    settings::{Filled, Settings},
    shown::{for_page, page, page_or_refused, problems, refused, shown_again},
};
use crate::{
    Service,
    error::ApiError,
    extract::{Caller, PathOf},
    pages::{Fields, line, lines},
    reply::see_other,
};

/// The pages and forms, each with its operation.
pub(super) const OPERATIONS: &[Form] = &[
    ("GET", AGENTS, &operations::LIST_AGENTS),
    ("POST", AGENTS, &operations::CREATE_AGENT),
    ("GET", NEW_AGENT, &operations::LIST_AGENTS),
    ("GET", AGENT, &operations::GET_AGENT),
    ("POST", AGENT, &operations::UPDATE_AGENT),
    ("POST", PAUSE_AGENT, &operations::UPDATE_AGENT),
    ("POST", RESUME_AGENT, &operations::UPDATE_AGENT),
    ("GET", DECOMMISSION, &operations::GET_AGENT),
    ("POST", DECOMMISSION, &operations::DELETE_AGENT),
];

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route(AGENTS, get(list).post(create))
        .route(NEW_AGENT, get(ask))
        .route(AGENT, get(show).post(change))
        .route(PAUSE_AGENT, post(pause).get(back))
        .route(RESUME_AGENT, post(resume).get(back))
        .route(DECOMMISSION, get(ask_to_decommission).post(decommission))
}

/// The list, to continue on after a refused form, with the text of the link to it.
const TO_LIST: (&str, &str) = (AGENTS, "See the agents");
/// The form that changes an agent.
const SETTINGS: Settings = Settings {
    fields: &AGENT_FIELDS,
    changed: "The agent has changed since you opened this page. Its current state is shown above. The fields that you \
              changed keep what you typed. Save again to apply your changes.",
    problems: |_| None,
    list: TO_LIST,
};
/// Why the question is asked again.
const CHANGED_SINCE: &str = "The agent has changed since you opened this page. Its current state is shown here.";

/// `GET /console/agents`
async fn list(app: Service, caller: Caller, asked: AskedOf<Asked>) -> Result<Response, ApiError> {
    let asked = Asked::of(asked);
    let listed = app.list_agents(&caller.0, AgentFilter::default(), asked.page()).await?;
    let paging = Paging { path: AGENTS.to_owned(), filter: Vec::new(), page: asked.page(), total: listed.total };
    let agents: Vec<_> = listed.data.into_iter().map(shown).collect();
    let list = Agents {
        shell: &shell(&caller.0, Place::Agents)?,
        done: asked.done(),
        may_create: caller.0.may(&operations::CREATE_AGENT),
        agents: &agents,
        paging: &paging,
    };
    Ok(page(StatusCode::OK, list.html()))
}

fn shown(agent: Agent) -> AgentShown {
    AgentShown {
        id: agent.id.to_string(),
        name: agent.name,
        kind: agent.kind.as_str(),
        description: agent.description.unwrap_or_default(),
        status: agent.status.as_str(),
        version: agent.version.0,
        created_at: agent.created_at,
        updated_at: agent.updated_at,
    }
}

/// `GET /console/agents/new`
async fn ask(app: Service, caller: Caller) -> Result<Response, ApiError> {
    let given = AgentGiven { name: "", kind: "ai", description: "" };
    match needs(&caller.0, &operations::CREATE_AGENT) {
        Ok(()) => Ok(page(StatusCode::OK, new(&app, &caller.0, given, &NO_PROBLEMS)?)),
        Err(refusal) => refused(refusal, TO_LIST),
    }
}

fn new(app: &App, caller: &Actor, given: AgentGiven<'_>, problems: &Problems) -> Result<String, Refusal> {
    let shell = shell(caller, Place::Agents)?;
    Ok(NewAgentForm { shell: &shell, once: &new_once(app.entropy()), given, problems }.html())
}

fn typed(fields: &Fields) -> AgentGiven<'_> {
    let given = |name| fields.get(name).trim();
    AgentGiven { name: given("name"), kind: given("type"), description: given("description") }
}

/// The agent that the form describes.
fn wanted(given: AgentGiven<'_>) -> Result<NewAgent, FieldErrors> {
    let kind = AgentType::from_name(given.kind)
        .ok_or_else(|| FieldError::new("type", "must be one of the choices; choose it again"))?;
    let description = Some(given.description.to_owned()).filter(|text| !text.is_empty());
    wire::CreateAgent { name: given.name.to_owned(), r#type: kind.into(), description, metadata: None }.parse()
}

/// The part of an answer that leads to the page of an agent.
#[derive(Deserialize)]
struct Created {
    id: AgentId,
}

/// `POST /console/agents`
async fn create(app: Service, mut form: OwnForm) -> Result<Response, ApiError> {
    let outcome = match wanted(typed(&form.fields)) {
        Ok(new) => form.once(&app, async |caller: &Actor| app.create_agent(caller, new).await).await,
        Err(errors) => Err(errors.into()),
    };
    match outcome {
        Ok(answer) => Ok(see_other(&format!("{AGENTS}/{}?done=created", read::<Created>(&answer)?.id), None)),
        Err(refusal) => {
            let (problems, error) = problems(refusal, &AGENT_FIELDS)?;
            shown_again(error, new(&app, &form.caller, typed(&form.fields), &problems), TO_LIST)
        }
    }
}

/// `GET /console/agents/{id}`
async fn show(app: Service, caller: Caller, id: PathOf<String>, asked: AskedOf<Asked>) -> Result<Response, ApiError> {
    page_or_refused(render(&app, &caller.0, &id.0, Asked::of(asked).done(), Filled::NOW).await, TO_LIST)
}

/// The page of an agent, with what was typed in a form that had no effect, and the reason.
async fn render(app: &App, caller: &Actor, id: &str, done: Done, filled: Filled<'_>) -> Result<String, Refusal> {
    let agent = app.agent(caller, id).await?;
    let keys = app.count_keys(caller, &agent).await?;
    let included = keys > 0 || caller.needs(Feature::ScopedKeys).is_ok();
    let version = agent.version;
    let agent = shown(agent);
    let listed = app.list_agent_calendars(caller, id, Page::default()).await?;
    let calendar = |calendar: Calendar| CalendarShown {
        id: calendar.id.to_string(),
        name: calendar.name,
        zone: calendar.zone.to_string(),
    };
    let calendars: Vec<_> = listed.data.into_iter().map(calendar).collect();
    let (name, description) = (line(&agent.name), lines(&agent.description));
    let now = AgentGiven { name: &name, kind: agent.kind, description: &description };
    let given = fields(now, |name, now| filled.text(name, now));
    let was = fields(now, |name, now| filled.text_before(name, now));
    let shown = AgentPage {
        shell: &shell(caller, Place::Agents)?,
        done,
        may_change: caller.may(&operations::UPDATE_AGENT),
        agent: &agent,
        once: &new_once(app.entropy()),
        version: &filled.version(version),
        given,
        was,
        problems: filled.problems(),
        calendars: &calendars,
        calendars_total: listed.total,
        keys: included.then_some(keys),
        may_create_key: may_create(caller),
    };
    Ok(shown.html())
}

/// The fields that the form changes.
fn fields<'a>(now: AgentGiven<'a>, text: impl Fn(&str, &'a str) -> &'a str) -> AgentGiven<'a> {
    AgentGiven { name: text("name", now.name), description: text("description", now.description), ..now }
}

/// `POST /console/agents/{id}`
async fn change(app: Service, id: PathOf<String>, mut form: OwnForm) -> Result<Response, ApiError> {
    let outcome = save(&app, &mut form, &id.0).await;
    SETTINGS
        .answer(outcome, &form, (AGENTS, &id.0), async |filled: Filled<'_>| {
            render(&app, &form.caller, &id.0, Done::default(), filled).await
        })
        .await
}

/// Saves what was typed over. A form that is sent twice saves once.
async fn save(app: &App, form: &mut OwnForm, id: &str) -> Result<(), Refusal> {
    let given = typed(&form.fields);
    let is_typed_over = |name| form.fields.is_typed_over(name);
    if !["name", "description"].into_iter().any(is_typed_over) {
        return app.agent(&form.caller, id).await.map(drop);
    }
    let body = wire::UpdateAgent {
        name: is_typed_over("name").then(|| Some(given.name.to_owned())),
        description: is_typed_over("description")
            .then(|| Some(given.description.to_owned()).filter(|text| !text.is_empty())),
        ..wire::UpdateAgent::default()
    };
    let (patch, seen) = (body.parse()?, form.if_match());
    form.once(app, async |caller: &Actor| app.update_agent(caller, id, patch, &seen).await).await.map(drop)
}

fn after(id: &str, done: &str) -> Response {
    see_other(&format!("{AGENTS}/{}?done={done}", segment(id)), None)
}

/// `POST /console/agents/{id}/pause`
async fn pause(app: Service, id: PathOf<String>, form: OwnForm) -> Result<Response, ApiError> {
    let outcome = set_status(&app, &form, &id.0, AgentStatus::Paused).await;
    outcome.map_or_else(|refusal| refused(refusal, TO_LIST), |()| Ok(after(&id.0, "paused")))
}

/// `POST /console/agents/{id}/resume`
async fn resume(app: Service, id: PathOf<String>, form: OwnForm) -> Result<Response, ApiError> {
    let outcome = set_status(&app, &form, &id.0, AgentStatus::Active).await;
    outcome.map_or_else(|refusal| refused(refusal, TO_LIST), |()| Ok(after(&id.0, "resumed")))
}

async fn set_status(app: &App, form: &OwnForm, id: &str, status: AgentStatus) -> Result<(), Refusal> {
    // A form that is sent twice changes nothing more.
    if app.agent(&form.caller, id).await?.status == status {
        return Ok(());
    }
    let patch = AgentPatch { status: Patch::Set(status), ..AgentPatch::default() };
    app.update_agent(&form.caller, id, patch, &IfMatch::Any).await.map(drop)
}

/// `GET /console/agents/{id}/decommission`
async fn ask_to_decommission(app: Service, caller: Caller, id: PathOf<String>) -> Result<Response, ApiError> {
    page_or_refused(question(&app, &caller.0, &id.0, None).await, TO_LIST)
}

async fn question(app: &App, caller: &Actor, id: &str, problem: Option<&str>) -> Result<String, Refusal> {
    needs(caller, &operations::DELETE_AGENT)?;
    let agent = app.agent(caller, id).await?;
    let calendars = app.list_agent_calendars(caller, id, Page { limit: 1, offset: 0 }).await?.total;
    let shell = shell(caller, Place::Agents)?;
    Ok(Decommission { shell: &shell, agent: &shown(agent), calendars, problem }.html())
}

/// `POST /console/agents/{id}/decommission`
async fn decommission(app: Service, id: PathOf<String>, form: OwnForm) -> Result<Response, ApiError> {
    let refusal = match end(&app, &form, &id.0).await {
        Ok(()) => return Ok(after(&id.0, "decommissioned")),
        Err(refusal) => refusal,
    };
    if !matches!(refusal, Refusal::Stale { .. }) {
        return refused(refusal, TO_LIST);
    }
    let text = question(&app, &form.caller, &id.0, Some(CHANGED_SINCE)).await;
    shown_again(for_page(refusal)?, text, TO_LIST)
}

/// Decommissions the agent in the version that the question showed. The same form may have done so before.
async fn end(app: &App, form: &OwnForm, id: &str) -> Result<(), Refusal> {
    match app.agent(&form.caller, id).await?.status {
        AgentStatus::Decommissioned => Ok(()),
        _ => app.delete_agent(&form.caller, id, &form.if_match()).await.map(drop),
    }
}

/// Somebody reloads the address of a form about an agent.
async fn back(id: PathOf<String>) -> Response {
    see_other(&format!("{AGENTS}/{}", segment(&id.0)), None)
}
