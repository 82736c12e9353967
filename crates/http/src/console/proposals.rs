//! The proposals, and the forms that answer, resolve and cancel one of them.

mod given;
mod list;
mod reading;

use std::sync::Arc;

use axum::{
    Router,
    extract::RawQuery,
    response::Response,
    routing::{get, post},
};
use http::StatusCode;
use kalends_app::{Actor, Answer, App, Refusal, operations};
use kalends_kernel::FieldErrors;
use kalends_proposals::{ProposalError, State};
use kalends_time::Zone;
use kalends_web::{ANSWER_FIELDS, CancelProposal, Done, NO_PROBLEMS, Place, Problems, ProposalPage};
use url::form_urlencoded;

use self::{
    given::{foreseen, typed, wanted},
    reading::{Choices, Read, outlook},
};
use super::{
    form::{OwnForm, new_once},
    frame::{needs, shell},
    places::{CANCEL_PROPOSAL, Form, PROPOSAL, PROPOSALS, RESOLVE, RESPOND, segment},
    shown::{page, problems, refused, shown_again, taken},
    waiting::TO_WAITING,
};
use crate::{
    Service,
    error::ApiError,
    extract::{Caller, PathOf},
    pages::Fields,
    reply::see_other,
};

/// The pages and forms, each with its operation.
pub(super) const OPERATIONS: &[Form] = &[
    ("GET", PROPOSALS, &operations::LIST_PROPOSALS),
    ("GET", PROPOSAL, &operations::GET_PROPOSAL),
    ("POST", RESPOND, &operations::RESPOND_TO_PROPOSAL),
    ("POST", RESOLVE, &operations::RESOLVE_PROPOSAL),
    ("GET", CANCEL_PROPOSAL, &operations::GET_PROPOSAL),
    ("POST", CANCEL_PROPOSAL, &operations::CANCEL_PROPOSAL),
];

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route(PROPOSALS, get(list::show))
        .route(PROPOSAL, get(show))
        .route(RESPOND, post(respond).get(back))
        .route(RESOLVE, post(resolve).get(back))
        .route(CANCEL_PROPOSAL, get(ask_to_cancel).post(cancel))
}

/// Why a form that would choose something else than its page showed had no effect.
const UNFORESEEN: &str = "Somebody has answered since you opened this page, or a time has begun, so the best time is \
                          another one now. Nothing was changed. Look at the page again, and then decide.";

/// The parameters of the address.
fn parameters(RawQuery(query): RawQuery) -> Fields {
    Fields::read(query.unwrap_or_default().as_bytes())
}

/// `GET /console/proposals/{id}`
async fn show(app: Service, caller: Caller, id: PathOf<String>, query: RawQuery) -> Result<Response, ApiError> {
    match render(&app, &caller.0, &id.0, &parameters(query), &NO_PROBLEMS).await {
        Ok(text) => Ok(page(StatusCode::OK, text)),
        Err(refusal) => refused(refusal, TO_WAITING),
    }
}

/// The page, with what was typed in a form that had no effect, and the reason.
async fn render(app: &App, caller: &Actor, id: &str, fields: &Fields, problems: &Problems) -> Result<String, Refusal> {
    let proposal = app.whole_proposal(caller, id).await?;
    let now = app.now();
    let read = Read::of(app, caller, &proposal).await?;
    let may_answer = caller.may(&operations::RESPOND_TO_PROPOSAL) && proposal.state_at(now) == State::Pending;
    let choices = if may_answer { read.choices(app, caller, &proposal).await? } else { Choices::default() };
    let zone = read.zone(&proposal, fields.get("tz").parse().ok());
    let shown = ProposalPage {
        shell: &shell(caller, Place::Waiting)?,
        done: Done::named(fields.get("done")),
        once: &new_once(app.entropy()),
        proposal: &read.shown(&proposal, zone, now),
        outlook: &outlook(&proposal, now),
        may_answer,
        may_organize: caller.may(&operations::RESOLVE_PROPOSAL),
        agents: &choices.agents(),
        calendars: &choices.calendars(),
        has_more_calendars: choices.has_more_calendars,
        given: typed(fields),
        problems,
        now,
    };
    Ok(shown.html())
}

/// `POST /console/proposals/{id}/respond`
async fn respond(app: Service, id: PathOf<String>, mut form: OwnForm) -> Result<Response, ApiError> {
    let outcome = match wanted(&form.fields) {
        Ok(wanted) => form.once(&app, async |caller: &Actor| app.respond(caller, &id.0, wanted).await).await,
        Err(errors) => Err(errors.into()),
    };
    ended(&app, &id.0, &form, outcome, "answered").await
}

/// `POST /console/proposals/{id}/resolve`
async fn resolve(app: Service, id: PathOf<String>, mut form: OwnForm) -> Result<Response, ApiError> {
    let foreseen = foreseen(&form.fields);
    let outcome = form.once(&app, async |caller: &Actor| app.resolve_as_foreseen(caller, &id.0, foreseen).await).await;
    ended(&app, &id.0, &form, outcome, "resolved").await
}

/// `POST /console/proposals/{id}/cancel`
async fn cancel(app: Service, id: PathOf<String>, mut form: OwnForm) -> Result<Response, ApiError> {
    let outcome = form.once(&app, async |caller: &Actor| app.cancel_proposal(caller, &id.0).await).await;
    ended(&app, &id.0, &form, outcome, "cancelled").await
}

/// The page after a form about the proposal, which says what was done, or why nothing was.
async fn ended(
    app: &App,
    id: &str,
    form: &OwnForm,
    outcome: Result<Answer, Refusal>,
    done: &str,
) -> Result<Response, ApiError> {
    let refusal = match outcome {
        Ok(_) => return Ok(after(id, form.fields.get("tz").parse().ok(), done)),
        Err(refusal) => refusal,
    };
    let (said, refusal) = match in_words(app, id, form, refusal).await {
        Ok(found) => found,
        Err(refusal) => return refused(refusal, TO_WAITING),
    };
    let (problems, error) = problems(refusal, &ANSWER_FIELDS)?;
    let problems = said.map_or(problems, Problems::general);
    shown_again(error, render(app, &form.caller, id, &form.fields, &problems).await, TO_WAITING)
}

/// The refusal of a form, with names in the place of identifiers; and what the page says about it, if that needs more
/// than the refusal.
async fn in_words(app: &App, id: &str, form: &OwnForm, refusal: Refusal) -> Result<(Option<String>, Refusal), Refusal> {
    match refusal {
        Refusal::SlotTaken(obstacles) => {
            let proposal = app.whole_proposal(&form.caller, id).await?;
            let read = Read::of(app, &form.caller, &proposal).await?;
            let zone = read.zone(&proposal, form.fields.get("tz").parse().ok());
            Ok((Some(taken(&obstacles, zone)), Refusal::SlotTaken(obstacles)))
        }
        Refusal::Invalid(errors) if errors.iter().any(|error| error.param == "calendar_id") => {
            let proposal = app.whole_proposal(&form.caller, id).await?;
            let read = Read::of(app, &form.caller, &proposal).await?;
            let mut named = FieldErrors::default();
            for mut error in errors.iter().cloned() {
                error.message = read.named(form.fields.get("agent_id"), &error.message);
                named.push(error);
            }
            Ok((None, named.into()))
        }
        Refusal::Stale { current } => Ok((Some(UNFORESEEN.to_owned()), Refusal::Stale { current })),
        refusal => Ok((None, refusal)),
    }
}

/// The answer to a form: the page of the proposal, with times in the zone in which the form showed them.
fn after(id: &str, zone: Option<Zone>, done: &str) -> Response {
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.append_pair("done", done);
    if let Some(zone) = zone {
        query.append_pair("tz", zone.name());
    }
    see_other(&format!("{PROPOSALS}/{}?{}", segment(id), query.finish()), None)
}

/// `GET /console/proposals/{id}/cancel`
async fn ask_to_cancel(
    app: Service,
    caller: Caller,
    id: PathOf<String>,
    query: RawQuery,
) -> Result<Response, ApiError> {
    match question(&app, &caller.0, &id.0, &parameters(query)).await {
        Ok(text) => Ok(page(StatusCode::OK, text)),
        Err(refusal) => refused(refusal, TO_WAITING),
    }
}

async fn question(app: &App, caller: &Actor, id: &str, fields: &Fields) -> Result<String, Refusal> {
    needs(caller, &operations::CANCEL_PROPOSAL)?;
    let proposal = app.whole_proposal(caller, id).await?;
    let state = proposal.state_at(app.now());
    if state != State::Pending {
        return Err(Refusal::Proposal(ProposalError::NotPending(state.status())));
    }
    let shown = CancelProposal {
        shell: &shell(caller, Place::Waiting)?,
        once: &new_once(app.entropy()),
        id: &proposal.id().to_string(),
        title: proposal.title(),
        zone: fields.get("tz"),
        answered: proposal.responses().len(),
        participants: proposal.participants().len(),
        slots: proposal.slots().len(),
        is_reserved: proposal.hold_slots(),
    };
    Ok(shown.html())
}

/// Somebody reloads the address of a form about a proposal.
async fn back(id: PathOf<String>) -> Response {
    see_other(&format!("{PROPOSALS}/{}", segment(&id.0)), None)
}
