//! The question whether to remove the rules of a calendar.

use axum::response::Response;
use http::StatusCode;
use kalends_app::{Actor, App, Refusal, operations};
use kalends_web::{Place, RemoveRules};

use super::{
    super::{
        form::OwnForm,
        frame::{needs, shell},
        shown::{for_page, page, refused, shown_again},
    },
    list::TO_LIST,
    rules::after,
    stored::{condition, rules_of, shown, version},
};
use crate::{
    Service,
    error::ApiError,
    extract::{Caller, PathOf},
};

/// Why the question is asked again.
const CHANGED: &str = "The rules have changed since you opened this page. Their current state is shown here.";

/// `GET /console/availability/{id}/remove`
pub(super) async fn ask(app: Service, caller: Caller, id: PathOf<String>) -> Result<Response, ApiError> {
    match question(&app, &caller.0, &id.0, None).await {
        Ok(text) => Ok(page(StatusCode::OK, text)),
        Err(refusal) => refused(refusal, TO_LIST),
    }
}

async fn question(app: &App, caller: &Actor, id: &str, problem: Option<&str>) -> Result<String, Refusal> {
    needs(caller, &operations::DELETE_RULES)?;
    let calendar = app.calendar(caller, id).await?;
    let rules = app.availability_rules(caller, id).await?;
    let version = version(Some(&rules));
    let question = RemoveRules {
        shell: &shell(caller, Place::Availability)?,
        calendar: &calendar.id.to_string(),
        name: &calendar.name,
        rules: &shown(rules),
        version: &version,
        problem,
    };
    Ok(question.html())
}

/// `POST /console/availability/{id}/remove`
pub(super) async fn remove(app: Service, id: PathOf<String>, form: OwnForm) -> Result<Response, ApiError> {
    let refusal = match end(&app, &form, &id.0).await {
        Ok(()) => return Ok(after(&id.0, "removed")),
        Err(refusal) => refusal,
    };
    if !matches!(refusal, Refusal::Stale { .. }) {
        return refused(refusal, TO_LIST);
    }
    let text = question(&app, &form.caller, &id.0, Some(CHANGED)).await;
    shown_again(for_page(refusal)?, text, TO_LIST)
}

/// Removes the rules in the version that the question showed. The same form may have done so before.
async fn end(app: &App, form: &OwnForm, id: &str) -> Result<(), Refusal> {
    let Some(rules) = rules_of(app, &form.caller, id).await? else { return Ok(()) };
    let condition = condition(form.version(), Some(&rules))?;
    app.delete_availability_rules(&form.caller, id, &condition).await.map(drop)
}
