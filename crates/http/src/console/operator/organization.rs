//! One organization: its plan, its limits, and whether it waits.

use std::sync::Arc;

use axum::{
    extract::{Query, rejection::QueryRejection},
    response::Response,
};
use http::StatusCode;
use kalends_accounts::{Organization, SignUpSource};
use kalends_app::{App, Missing, Refusal, SETTABLE_PLANS};
use kalends_kernel::{FieldError, OrgId, Version};
use kalends_plans::{Limits, Metric, Plan, UsageReport};
use kalends_web::{
    Choice, Done, NO_PROBLEMS, OperatorLimit, OperatorOrganizationPage, OperatorPlace, OperatorPlanGiven, PLAN_FIELDS,
    Problems,
};
use serde::Deserialize;
use serde_json::Value;

use super::{
    super::{
        places::{OPERATOR_ORGANIZATIONS, OPERATOR_WAITING},
        shown::{because_of, page, problems, refused},
    },
    organizations::shown,
    session::{Operator, OperatorForm},
};
use crate::{Service, error::ApiError, extract::PathOf, reply::see_other};

/// The list, to continue on after a refused form, with the text of the link to it.
const TO_LIST: (&str, &str) = (OPERATOR_ORGANIZATIONS, "See the organizations");
/// Why a form about an organization that has changed since had no effect.
const CHANGED: &str = "The organization has changed since you opened this page. Its current state is shown above. The \
                       fields keep what you typed. Save again to apply your changes.";
/// The field of the page from which an organization is admitted.
const FROM: &str = "from";

/// The identifier in the address of a form. It counts only after the session was checked.
type Id = Result<PathOf<String>, ApiError>;

/// What the address of the page says.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Asked {
    /// The form that had its effect.
    #[serde(default)]
    done: String,
}

/// `GET /console/operator/organizations/{id}`
pub(super) async fn show(
    app: Service,
    operator: Operator,
    id: PathOf<String>,
    query: Result<Query<Asked>, QueryRejection>,
) -> Result<Response, ApiError> {
    let done = Done::named(&query.map(|query| query.0).unwrap_or_default().done);
    let organization = match find(&app, &id.0).await {
        Ok(organization) => organization,
        Err(refusal) => return refused(refusal, TO_LIST),
    };
    let text = render(&app, &operator, &organization, done, None, &NO_PROBLEMS).await?;
    Ok(page(StatusCode::OK, text))
}

fn parse(id: &str) -> Result<OrgId, Refusal> {
    id.parse().map_err(|_| Refusal::missing(Missing::Organization, id))
}

async fn find(app: &App, id: &str) -> Result<Organization, Refusal> {
    app.organization_for_operator(parse(id)?).await
}

/// What was sent in a form that had no effect, and the version that it was for.
struct Sent<'a> {
    given: OperatorPlanGiven<'a>,
    version: String,
}

async fn render(
    app: &App,
    operator: &Operator,
    organization: &Organization,
    done: Done,
    sent: Option<Sent<'_>>,
    problems: &Problems,
) -> Result<String, Refusal> {
    let (report, in_force) = app.usage_for_operator(organization).await?;
    let limits = limits(organization.plan, &report, &in_force);
    let stored = organization.limit_overrides.as_ref().map(Value::to_string).unwrap_or_default();
    let current = OperatorPlanGiven { plan: organization.plan.as_str(), limits: &stored };
    let Sent { given, version } =
        sent.unwrap_or_else(|| Sent { given: current, version: organization.version.0.to_string() });
    let shown = OperatorOrganizationPage {
        shell: &operator.shell(OperatorPlace::Organizations),
        done,
        organization: &shown(organization),
        source: through(organization.source),
        version: &version,
        limits: &limits,
        plans: &choices(organization.plan),
        given,
        problems,
    };
    Ok(shown.html())
}

/// What an organization was created through.
const fn through(source: SignUpSource) -> &'static str {
    match source {
        SignUpSource::Agent => "the sign-up of an agent",
        SignUpSource::Waitlist => "the waiting list",
        SignUpSource::Operator => "a command of the operator",
        SignUpSource::Console => "the sign-up in the console",
    }
}

/// Everything that a plan limits, with the use, the limit of the plan and the limit in force.
fn limits(plan: Plan, report: &UsageReport, in_force: &Limits) -> Vec<OperatorLimit<'static>> {
    let of_plan = plan.limits();
    let metric = |metric: Metric| OperatorLimit {
        title: metric.title(),
        name: metric.as_str(),
        used: Some(report.of(metric).used),
        of_plan: of_plan.get(metric),
        limit: in_force.get(metric),
    };
    let rate = OperatorLimit {
        title: "Requests a second, of one key",
        name: "rate_per_second",
        used: None,
        of_plan: of_plan.rate_per_second().map(u64::from),
        limit: in_force.rate_per_second().map(u64::from),
    };
    Metric::ALL.into_iter().map(metric).chain([rate]).collect()
}

/// The plans to choose from: those that an operator gives, and the one that the organization has.
fn choices(current: Plan) -> Vec<Choice<'static>> {
    let own = Some(current).filter(|current| !SETTABLE_PLANS.contains(current));
    let choice = |plan: Plan| Choice { value: plan.as_str(), title: plan.as_str() };
    own.into_iter().chain(SETTABLE_PLANS).map(choice).collect()
}

/// `POST /console/operator/organizations/{id}`
pub(super) async fn set_plan(app: Service, id: Id, form: OperatorForm) -> Result<Response, ApiError> {
    let organization = match find(&app, &id?.0).await {
        Ok(organization) => organization,
        Err(refusal) => return refused(refusal, TO_LIST),
    };
    let org = organization.id;
    let given = OperatorPlanGiven { plan: form.fields.get("plan").trim(), limits: form.fields.get("limits").trim() };
    let sent_version = form.fields.get("version");
    let refusal = match wanted(given, organization.plan) {
        Ok((plan, limits)) => {
            // A version that cannot be read is none that the organization has.
            let seen = Version(sent_version.parse().unwrap_or_default());
            match app.set_plan_seen(org, seen, plan, limits).await {
                Ok(()) => return Ok(see_other(&format!("{OPERATOR_ORGANIZATIONS}/{org}?done=saved"), None)),
                Err(refusal) => refusal,
            }
        }
        Err(error) => error.into(),
    };
    again(&app, &form.operator, org, given, sent_version, refusal).await
}

/// The plan and the limits that the form asks for.
fn wanted(given: OperatorPlanGiven<'_>, current: Plan) -> Result<(Plan, Option<Value>), FieldError> {
    let plan = Plan::from_name(given.plan).filter(|plan| *plan == current || SETTABLE_PLANS.contains(plan));
    let plan = plan.ok_or_else(|| FieldError::new("plan", "must be one of the choices; choose it again"))?;
    if given.limits.is_empty() {
        return Ok((plan, None));
    }
    let limits = serde_json::from_str(given.limits);
    let limits = limits.map_err(|error| FieldError::new("limits", format!("must be JSON: {error}")))?;
    Ok((plan, Some(limits)))
}

/// The page of a form that had no effect, which says why. What was typed is kept.
async fn again(
    app: &App,
    operator: &Operator,
    org: OrgId,
    given: OperatorPlanGiven<'_>,
    sent_version: &str,
    refusal: Refusal,
) -> Result<Response, ApiError> {
    let is_stale = matches!(refusal, Refusal::Stale { .. });
    let (problems, error) = problems(refusal, &PLAN_FIELDS)?;
    let problems = if is_stale { Problems::general(CHANGED.to_owned()) } else { problems };
    let organization = match app.organization_for_operator(org).await {
        Ok(organization) => organization,
        Err(refusal) => return refused(refusal, TO_LIST),
    };
    let version = if is_stale { organization.version.0.to_string() } else { sent_version.to_owned() };
    let sent = Some(Sent { given, version });
    let text = render(app, operator, &organization, Done::default(), sent, &problems).await?;
    let shown = page(error.status(), text);
    Ok(because_of(error, shown))
}

/// `POST /console/operator/organizations/{id}/activate`
pub(super) async fn activate(app: Service, id: Id, form: OperatorForm) -> Result<Response, ApiError> {
    let id = id?.0;
    let to = match form.fields.get(FROM) {
        "waiting" => admitted_from(form.fields.get("offset")),
        _ => format!("{OPERATOR_ORGANIZATIONS}/{id}?done=admitted"),
    };
    match admit(&app, &id).await {
        Ok(()) => Ok(see_other(&to, None)),
        Err(refusal) => refused(refusal, TO_LIST),
    }
}

/// The page of the waiting list from which an organization was admitted.
fn admitted_from(offset: &str) -> String {
    match offset.parse::<u32>() {
        Ok(offset) if offset > 0 => format!("{OPERATOR_WAITING}?done=admitted&offset={offset}"),
        _ => format!("{OPERATOR_WAITING}?done=admitted"),
    }
}

async fn admit(app: &Arc<App>, id: &str) -> Result<(), Refusal> {
    app.activate_for_operator(parse(id)?).await
}

/// `POST /console/operator/organizations/{id}/waitlist`
pub(super) async fn waitlist(app: Service, id: Id, _form: OperatorForm) -> Result<Response, ApiError> {
    let id = id?.0;
    match stop(&app, &id).await {
        Ok(()) => Ok(see_other(&format!("{OPERATOR_ORGANIZATIONS}/{id}?done=stopped"), None)),
        Err(refusal) => refused(refusal, TO_LIST),
    }
}

async fn stop(app: &Arc<App>, id: &str) -> Result<(), Refusal> {
    app.waitlist_for_operator(parse(id)?).await
}

/// Somebody reloads the address of a form.
pub(super) async fn back(_operator: Operator, id: PathOf<String>) -> Response {
    match parse(&id.0) {
        Ok(org) => see_other(&format!("{OPERATOR_ORGANIZATIONS}/{org}"), None),
        Err(_) => see_other(OPERATOR_ORGANIZATIONS, None),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    #[rstest]
    #[case::a_plan("pro", "", Plan::Free, Some((Plan::Pro, None)))]
    #[case::limits("custom", "{\"agents\":null}", Plan::Free, Some((Plan::Custom, Some(json!({ "agents": null })))))]
    #[case::the_plan_that_it_has("free-agent", "", Plan::FreeAgent, Some((Plan::FreeAgent, None)))]
    #[case::a_plan_of_sign_ups("free-agent", "", Plan::Free, None)]
    #[case::a_public_name("scale", "", Plan::Free, None)]
    #[case::no_plan("", "", Plan::Free, None)]
    #[case::not_json("pro", "{", Plan::Free, None)]
    fn forms_are_read_as_the_command_is(
        #[case] plan: &str,
        #[case] limits: &str,
        #[case] current: Plan,
        #[case] expected: Option<(Plan, Option<Value>)>,
    ) {
        assert_eq!(wanted(OperatorPlanGiven { plan, limits }, current).ok(), expected);
    }

    #[test]
    fn every_source_has_words_for_people() {
        for source in SignUpSource::ALL {
            assert!(through(source).contains(' '), "{source:?}");
        }
    }

    #[test]
    fn the_plan_of_the_organization_can_be_kept() {
        let names = |plan| choices(plan).into_iter().map(|choice| choice.value).collect::<Vec<_>>();
        assert_eq!(names(Plan::Pro), ["free", "pro", "custom"]);
        assert_eq!(names(Plan::FreeAgent), ["free-agent", "free", "pro", "custom"]);
    }
}
