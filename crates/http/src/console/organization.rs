//! The organization as a whole: its name, its terms, its export and its deletion.

use std::sync::Arc;

use axum::{
    Router,
    response::Response,
    routing::{get, post},
};
use http::StatusCode;
use kalends_app::{Actor, App, Refusal, operations};
use kalends_kernel::FieldError;
use kalends_plans::Plan;
use kalends_web::{
    DELETION_FIELDS, DeleteOrganization, Done, ExportPage, NO_PROBLEMS, ORGANIZATION_FIELDS, OrganizationPage,
    OrganizationShown, Parted, Place, Problems,
};
use kalends_wire as wire;

use super::{
    form::OwnForm,
    frame::{Asked, AskedOf, belongs_elsewhere, needs, shell},
    places::{ACCEPT_TERMS, DELETE_ORGANIZATION, EXPORT, EXPORT_FILE, Form, ORGANIZATION},
    shown::{page, parted, problems, refused, shown_again, terms_page},
};
use crate::{
    Service,
    error::ApiError,
    extract::Caller,
    reply::{exported, see_other},
};

/// The pages and forms, each with its operation.
pub(super) const OPERATIONS: &[Form] = &[
    ("GET", ORGANIZATION, &operations::GET_ME),
    ("POST", ORGANIZATION, &operations::UPDATE_ORG),
    ("POST", ACCEPT_TERMS, &operations::ACCEPT_TERMS_IN_CONSOLE),
    ("GET", EXPORT, &operations::GET_ME),
    ("GET", EXPORT_FILE, &operations::EXPORT),
    ("GET", DELETE_ORGANIZATION, &operations::GET_ME),
    ("POST", DELETE_ORGANIZATION, &operations::DELETE_ACCOUNT),
];

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route(ORGANIZATION, get(show).post(rename))
        .route(ACCEPT_TERMS, post(accept_terms).get(back))
        .route(EXPORT, get(ask_to_export))
        .route(EXPORT_FILE, get(export))
        .route(DELETE_ORGANIZATION, get(ask_to_delete).post(delete))
}

/// The page to continue on after a refusal, with the text of the link to it.
const TO_ORGANIZATION: (&str, &str) = (ORGANIZATION, "Go to the organization");
/// What is wrong with a name that does not confirm the deletion.
const MISTYPED: &str = "type the name of the organization exactly as it is shown";

/// `GET /console/organization`
async fn show(app: Service, caller: Caller, asked: AskedOf<Asked>) -> Result<Response, ApiError> {
    Ok(page(StatusCode::OK, render(&app, &caller.0, Asked::of(asked).done(), None, &NO_PROBLEMS)?))
}

/// The page of the organization, with what was typed in a form that had no effect, and the reason.
fn render(app: &App, caller: &Actor, done: Done, typed: Option<&str>, problems: &Problems) -> Result<String, Refusal> {
    let organization = &caller.signed_in()?.organization;
    let shown = OrganizationShown {
        plan: plan_name(organization.plan),
        in_sandbox: organization.plan == Plan::FreeAgentUnverified,
        created_at: organization.created_at,
        accepted: organization.accepted.as_ref().map(|accepted| (accepted.version.as_str(), accepted.at)),
        terms_version: &app.settings().terms.version,
        terms: terms_page(app),
    };
    let shown = OrganizationPage {
        shell: &shell(caller, Place::Organization)?,
        done,
        organization: &shown,
        name: typed.unwrap_or_else(|| organization.name.as_str()),
        problems,
        may_change: caller.may(&operations::UPDATE_ORG),
        may_see_members: caller.may(&operations::LIST_MEMBERS),
        may_delete: caller.may(&operations::DELETE_ACCOUNT),
    };
    Ok(shown.html())
}

/// The name of a plan on the page of plans.
fn plan_name(plan: Plan) -> &'static str {
    let public = Plan::PUBLIC.iter().find(|public| public.plan.public_name() == plan.public_name());
    public.map_or_else(|| plan.public_name(), |public| public.name)
}

/// The page that says why a form had no effect, with what was typed.
fn again(app: &App, caller: &Actor, typed: Option<&str>, refusal: Refusal) -> Result<Response, ApiError> {
    let (problems, error) = problems(refusal, &ORGANIZATION_FIELDS)?;
    shown_again(error, render(app, caller, Done::default(), typed, &problems), TO_ORGANIZATION)
}

/// `POST /console/organization`
async fn rename(app: Service, form: OwnForm) -> Result<Response, ApiError> {
    let typed = form.fields.get("name").trim();
    let outcome = match (wire::UpdateOrg { name: Some(Some(typed.to_owned())) }).parse() {
        Ok(name) => app.update_org(&form.caller, name).await,
        Err(errors) => Err(errors.into()),
    };
    match outcome {
        Ok(_) => Ok(see_other(&format!("{ORGANIZATION}?done=saved"), None)),
        Err(refusal) => again(&app, &form.caller, Some(typed), refusal),
    }
}

/// `POST /console/organization/terms`
async fn accept_terms(app: Service, form: OwnForm) -> Result<Response, ApiError> {
    let terms = wire::AcceptTerms { tos_version: form.fields.get("tos_version").to_owned() };
    let outcome = match terms.parse() {
        Ok(version) => app.accept_terms(&form.caller, &version).await,
        Err(errors) => Err(errors.into()),
    };
    match outcome {
        Ok(_) => Ok(see_other(&format!("{ORGANIZATION}?done=accepted"), None)),
        Err(refusal) => again(&app, &form.caller, None, refusal),
    }
}

/// Somebody reloads the address of a form.
async fn back() -> Response {
    see_other(ORGANIZATION, None)
}

/// `GET /console/export`
async fn ask_to_export(caller: Caller) -> Result<Response, ApiError> {
    match needs(&caller.0, &operations::EXPORT) {
        Ok(()) => {
            let shell = shell(&caller.0, Place::Organization)?;
            Ok(page(StatusCode::OK, ExportPage { shell: &shell }.html()))
        }
        Err(refusal) => refused(refusal, TO_ORGANIZATION),
    }
}

/// `GET /console/export/file`. The answer of the API, except that a refusal is a page.
async fn export(app: Service, caller: Caller) -> Result<Response, ApiError> {
    match app.export(&caller.0).await {
        Ok(export) => exported(export),
        Err(refusal) => refused(refusal, TO_ORGANIZATION),
    }
}

/// `GET /console/organization/delete`
async fn ask_to_delete(app: Service, caller: Caller) -> Result<Response, ApiError> {
    match question(&app, &caller.0, "", &NO_PROBLEMS).await {
        Ok(text) => Ok(page(StatusCode::OK, text)),
        Err(refusal) => refused(refusal, TO_ORGANIZATION),
    }
}

/// The question whether to delete the organization, with what was typed in a form that had no effect, and the reason.
async fn question(app: &App, caller: &Actor, typed: &str, problems: &Problems) -> Result<String, Refusal> {
    needs(caller, &operations::DELETE_ACCOUNT)?;
    let used = wire::Usage::from(&app.usage(caller).await?);
    let members = app.members(caller).await?.len();
    let losses = [
        ("Agents", used.agents.used),
        ("Calendars", used.calendars.used),
        ("Subscriptions to feeds", used.ical_subscriptions.used),
        ("Booking pages", used.booking_pages.used),
        ("Keys of agents", used.scoped_keys.used),
        ("Webhooks", used.webhook_endpoints.used),
        ("Members", u64::try_from(members).unwrap_or(u64::MAX)),
    ];
    let shell = shell(caller, Place::Organization)?;
    let stays = belongs_elsewhere(app, caller).await?;
    Ok(DeleteOrganization { shell: &shell, losses: &losses, stays, typed, problems }.html())
}

/// `POST /console/organization/delete`
async fn delete(app: Service, form: OwnForm) -> Result<Response, ApiError> {
    let organization = &form.caller.signed_in()?.organization;
    let stays = belongs_elsewhere(&app, &form.caller).await?;
    let (name, typed) = (organization.name.as_str(), form.fields.get("name"));
    let outcome = if is_typed(name, typed) {
        app.delete_account(&form.caller).await
    } else {
        Err(FieldError::new("name", MISTYPED).into())
    };
    let refusal = match outcome {
        Ok(_) => return Ok(parted(&app, &Parted { organization: name, deleted: true, stays })),
        Err(refusal) => refusal,
    };
    let (problems, error) = problems(refusal, &DELETION_FIELDS)?;
    shown_again(error, question(&app, &form.caller, typed, &problems).await, TO_ORGANIZATION)
}

/// Whether the name was typed as it is shown. A page shows any white space as one space, and none at the ends.
fn is_typed(name: &str, typed: &str) -> bool {
    name.split_whitespace().eq(typed.split_whitespace())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::the_same("Engines Ltd", "Engines Ltd", true)]
    #[case::as_shown(" Engines\n\u{a0}Ltd ", "Engines Ltd", true)]
    #[case::other_case("Engines Ltd", "engines ltd", false)]
    #[case::a_part("Engines Ltd", "Engines", false)]
    #[case::nothing("Engines Ltd", "", false)]
    fn a_deletion_is_confirmed_by_the_whole_name(#[case] name: &str, #[case] typed: &str, #[case] confirms: bool) {
        assert_eq!(is_typed(name, typed), confirms);
    }

    #[test]
    fn every_plan_has_a_name() {
        let named = [Plan::FreeAgentUnverified, Plan::Free, Plan::Pro, Plan::Custom].map(plan_name);
        assert_eq!(named, ["Free", "Free", "Pro", "Custom"]);
    }
}
