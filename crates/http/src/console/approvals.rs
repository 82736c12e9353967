//! The approvals, and the forms that approve or deny one of them.

use std::{collections::BTreeSet, sync::Arc};

use axum::{
    Extension, Router,
    response::Response,
    routing::{get, post},
};
use http::StatusCode;
use kalends_accounts::KeyLabel;
use kalends_app::{Actor, App, ApprovalDetails, Refusal, operations};
use kalends_approvals::{Status, WaitingRequest};
use kalends_kernel::{BookingPageId, CalendarId, EventId, ProposalId, SubscriptionId, WebhookId, visible};
use kalends_time::Span;
use kalends_web::{
    AgentNamed, ApprovalDecision, ApprovalListed, ApprovalPage, ApprovalRequest, ApprovalShown, ApprovalState,
    Approvals, DENIAL_FIELDS, Done, Href, NO_PROBLEMS, Paging, Place, Problems, View, Viewed, date_in_range,
};
use kalends_wire as wire;
use serde::Deserialize;
use serde_json::Value;

use super::{
    activity::page_of,
    form::OwnForm,
    frame::{Asked, AskedOf, shell},
    places::{APPROVAL, APPROVALS, APPROVE, DENY_APPROVAL, Form, segment},
    shown::{page, page_or_refused, problems, refused, sentence, shown_again},
    waiting::{TO_WAITING, asking_agent, waiting_approval},
};
use crate::{
    Service,
    approving::Maker,
    error::ApiError,
    extract::{Caller, PathOf},
    reply::see_other,
};

/// The pages and forms, each with its operation.
pub(super) const OPERATIONS: &[Form] = &[
    ("GET", APPROVALS, &operations::LIST_APPROVALS),
    ("GET", APPROVAL, &operations::GET_APPROVAL),
    ("POST", APPROVE, &operations::APPROVE),
    ("POST", DENY_APPROVAL, &operations::DENY_APPROVAL),
];

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route(APPROVALS, get(list))
        .route(APPROVAL, get(show))
        .route(APPROVE, post(approve).get(back))
        .route(DENY_APPROVAL, post(deny).get(back))
}

/// Which approvals the address names.
#[derive(Debug, Default, Deserialize)]
struct Filter {
    /// A status, as the API names it; empty for all of them.
    #[serde(default)]
    status: String,
}

/// `GET /console/approvals`
async fn list(
    app: Service,
    caller: Caller,
    asked: AskedOf<Asked>,
    filter: AskedOf<Filter>,
) -> Result<Response, ApiError> {
    let filter = filter.map(|filter| filter.0).unwrap_or_default();
    page_or_refused(render_list(&app, &caller.0, &Asked::of(asked), &filter).await, TO_WAITING)
}

async fn render_list(app: &App, caller: &Actor, asked: &Asked, filter: &Filter) -> Result<String, Refusal> {
    let status = Status::from_name(&filter.status);
    let listed = app.list_approvals(caller, status, None, asked.page()).await?;
    let agents: BTreeSet<_> = listed.data.iter().map(|approval| approval.agent_id).collect();
    let names = app.agent_names(caller, &agents).await?;
    let entry = |approval: &wire::Approval| ApprovalListed {
        state: state(approval.status),
        facts: waiting_approval(approval, &names),
    };
    let kept = status.iter().map(|status| ("status", status.as_str().to_owned())).collect();
    let paging = Paging { path: APPROVALS.to_owned(), filter: kept, page: asked.page(), total: listed.total };
    let list = Approvals {
        shell: &shell(caller, Place::Waiting)?,
        status: status.map_or("", Status::as_str),
        approvals: &listed.data.iter().map(entry).collect::<Vec<_>>(),
        paging: &paging,
    };
    Ok(list.html())
}

const fn state(status: wire::ApprovalStatus) -> ApprovalState {
    match status {
        wire::ApprovalStatus::Pending => ApprovalState::Pending,
        wire::ApprovalStatus::Approved => ApprovalState::Approved,
        wire::ApprovalStatus::Failed => ApprovalState::Failed,
        wire::ApprovalStatus::Denied => ApprovalState::Denied,
        wire::ApprovalStatus::Cancelled => ApprovalState::Cancelled,
        wire::ApprovalStatus::Expired => ApprovalState::Expired,
    }
}

/// `GET /console/approvals/{id}`
async fn show(app: Service, caller: Caller, id: PathOf<String>, asked: AskedOf<Asked>) -> Result<Response, ApiError> {
    match render(&app, &caller.0, &id.0, (Asked::of(asked).done(), ""), &NO_PROBLEMS).await {
        Ok(text) => Ok(page(StatusCode::OK, text)),
        Err(refusal) => refused(refusal, TO_WAITING),
    }
}

/// The page, which says what a form did, or shows the reason that was given in a form without effect.
async fn render(
    app: &App,
    caller: &Actor,
    id: &str,
    (done, reason): (Done, &str),
    problems: &Problems,
) -> Result<String, Refusal> {
    let details = app.approval_details(caller, id).await?;
    let shown = ApprovalPage {
        shell: &shell(caller, Place::Waiting)?,
        done,
        approval: &shown(app, caller, details).await?,
        may_decide: caller.may(&operations::APPROVE),
        reason,
        problems,
    };
    Ok(shown.html())
}

/// An approval as its page shows it.
async fn shown(app: &App, caller: &Actor, details: ApprovalDetails) -> Result<ApprovalShown, Refusal> {
    let ApprovalDetails { approval, key_label, reserved, request } = details;
    let names = app.agent_names(caller, &BTreeSet::from([approval.agent_id])).await?;
    let mut links = Vec::from_iter(made(caller, &approval));
    if let Some((calendar, span)) = reserved {
        links.extend(day(app, caller, calendar, span).await?);
    }
    links.extend(request.iter().flat_map(|request| concerned(caller, request)));
    Ok(ApprovalShown {
        state: state(approval.status),
        agent: AgentNamed { id: approval.agent_id.to_string(), name: asking_agent(&approval, &names) },
        key_label: visible(key_label.as_ref().map_or("", KeyLabel::as_str)),
        decision: decision(app, caller, &approval).await?,
        reason: reason(&approval),
        links,
        request: request.map(|request| sent(&approval, request)),
        id: approval.id.to_string(),
        summary: approval.summary,
        operation: approval.operation,
        key_prefix: approval.key_prefix,
        created_at: approval.created_at,
        expires_at: approval.expires_at,
    })
}

/// Who decided, and when.
async fn decision(app: &App, caller: &Actor, approval: &wire::Approval) -> Result<Option<ApprovalDecision>, Refusal> {
    let Some((by, at)) = approval.decided_by.as_deref().zip(approval.decided_at) else { return Ok(None) };
    let members = app.audit_members(caller).await?;
    Ok(Some(ApprovalDecision { by: members.member_of(by).unwrap_or(by).to_owned(), at }))
}

/// Why it was denied, or why the request was refused.
fn reason(approval: &wire::Approval) -> String {
    if approval.status != wire::ApprovalStatus::Failed {
        return approval.reason.clone().unwrap_or_default();
    }
    let Some(result) = &approval.result else { return String::new() };
    let body = result.body.as_ref();
    let text = |name: &str| {
        let within = body.and_then(|body| body.get("error")).or(body);
        within.and_then(|error| error.get(name)).and_then(Value::as_str)
    };
    match (text("code"), text("message")) {
        (Some("slot_taken"), _) => "Something else is at that time now.".to_owned(),
        (Some("stale"), _) => "The resource has changed since the program asked.".to_owned(),
        (_, Some(message)) => sentence(message),
        (_, None) => format!("The answer had the status {}.", result.status),
    }
}

/// The page of what the request made.
fn made(caller: &Actor, approval: &wire::Approval) -> Option<(&'static str, Href)> {
    let result = approval.result.as_ref().filter(|_| approval.status == wire::ApprovalStatus::Approved)?;
    let id = result.body.as_ref()?.get("id")?.as_str()?;
    Some(("See the result", page_of(caller, id)?))
}

/// The day of the time that is reserved, in the calendar.
async fn day(
    app: &App,
    caller: &Actor,
    calendar: CalendarId,
    span: Span,
) -> Result<Option<(&'static str, Href)>, Refusal> {
    let known = app.calendar_names(caller, &BTreeSet::from([calendar])).await?;
    let Some(zone) = known.get(&calendar).map(|known| known.zone) else { return Ok(None) };
    let Some(date) = date_in_range(zone.to_civil(span.start()).date) else { return Ok(None) };
    let viewed = Viewed { view: View::Day, date, zone, second: None, calendars: vec![calendar.to_string()] };
    Ok(Href::new(viewed.href(View::Day, date)).map(|href| ("The day in the calendar", href)))
}

/// The pages of what the path of the request names.
fn concerned(caller: &Actor, request: &WaitingRequest) -> Vec<(&'static str, Href)> {
    let path = request.target.split('?').next().unwrap_or_default();
    let named = |id: &str| {
        let (kind, _) = id.split_once('_')?;
        let title = match kind {
            EventId::PREFIX => "The event",
            ProposalId::PREFIX => "The proposal",
            BookingPageId::PREFIX => "The booking page",
            WebhookId::PREFIX => "The webhook",
            SubscriptionId::PREFIX => "The subscription",
            CalendarId::PREFIX => "The settings of the calendar",
            _ => return None,
        };
        Some((title, page_of(caller, id)?))
    };
    path.split('/').filter_map(named).collect()
}

/// The request as its page shows it.
fn sent(approval: &wire::Approval, request: WaitingRequest) -> ApprovalRequest {
    let method = operations::named(&approval.operation).map_or("", |operation| operation.method);
    ApprovalRequest {
        line: format!("{method} {}", request.target),
        run: request.run.unwrap_or_default(),
        body: request.body,
    }
}

/// `POST /console/approvals/{id}/approve`. Approving it again changes nothing.
async fn approve(
    app: Service,
    Extension(maker): Extension<Maker>,
    id: PathOf<String>,
    form: OwnForm,
) -> Result<Response, ApiError> {
    match maker.approve(&form.caller, &id.0).await {
        Ok(answered) => Ok(after(&form.caller, &answered.resource, "approved")),
        Err(ApiError::Refused(refusal)) => without_effect(&app, &id.0, &form, refusal).await,
        // It failed in a way that passes, such as a limit of speed.
        Err(ApiError::Relayed { status, error, retry_after }) => {
            let said = format!("It was not done, and still waits. {}", sentence(&error.message));
            let said = Problems::general(said);
            let text = render(&app, &form.caller, &id.0, (Done::default(), ""), &said).await;
            shown_again(ApiError::Relayed { status, error, retry_after }, text, TO_WAITING)
        }
        Err(error) => Err(error),
    }
}

/// `POST /console/approvals/{id}/deny`. Denying it again changes nothing.
async fn deny(app: Service, id: PathOf<String>, form: OwnForm) -> Result<Response, ApiError> {
    let given = Some(form.fields.get("reason").trim().to_owned()).filter(|reason| !reason.is_empty());
    let outcome = match (wire::DenyApproval { reason: given }).parse() {
        Ok(reason) => app.deny_approval(&form.caller, &id.0, reason).await,
        Err(error) => Err(error.into()),
    };
    match outcome {
        Ok(answered) => Ok(after(&form.caller, &answered.resource, "denied")),
        Err(refusal) => without_effect(&app, &id.0, &form, refusal).await,
    }
}

/// The answer to a decision: the page of the approval. Somebody else may have decided the same before.
fn after(caller: &Actor, approval: &wire::Approval, done: &str) -> Response {
    let is_own = approval.decided_by.as_ref() == Some(&caller.principal.key_prefix);
    let done = match approval.status {
        _ if !is_own => "?done=decided-before".to_owned(),
        // The page itself says why.
        wire::ApprovalStatus::Failed => String::new(),
        _ => format!("?done={done}"),
    };
    see_other(&format!("{APPROVALS}/{}{done}", approval.id), None)
}

/// The page after a form without effect, which says why. It shows the decision of somebody else, if there is one.
async fn without_effect(app: &App, id: &str, form: &OwnForm, refusal: Refusal) -> Result<Response, ApiError> {
    let (problems, error) = problems(refusal, &DENIAL_FIELDS)?;
    let given = (Done::default(), form.fields.get("reason").trim());
    shown_again(error, render(app, &form.caller, id, given, &problems).await, TO_WAITING)
}

/// Somebody reloads the address of a form about an approval. That decides nothing.
async fn back(id: PathOf<String>) -> Response {
    see_other(&format!("{APPROVALS}/{}", segment(&id.0)), None)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    fn failed(body: &Value) -> wire::Approval {
        let approval = json!({
            "id": "apr_01jn8r6v9ke0bt3m5qz2c7xwdh", "status": "failed", "operation": "createEvent", "summary": "",
            "agent_id": "agt_01jn8r6v9ke0bt3m5qz2c7xwdh", "key_prefix": "svc_ak_Zk9wQm7cXb2dR",
            "created_at": "2026-03-02T08:00:00Z", "expires_at": "2026-03-03T08:00:00Z", "decide_url": "",
            "result": { "status": 409, "body": body }
        });
        serde_json::from_value(approval).unwrap()
    }

    #[rstest]
    #[case::in_an_envelope(
        json!({ "error": { "code": "x", "message": "the agent is paused" } }),
        "The agent is paused."
    )]
    #[case::bare(json!({ "code": "x", "message": "the agent is paused" }), "The agent is paused.")]
    #[case::taken(json!({ "error": { "code": "slot_taken", "message": "x" } }), "Something else is at that time now.")]
    #[case::changed(
        json!({ "error": { "code": "stale", "message": "x" } }),
        "The resource has changed since the program asked."
    )]
    #[case::nothing(Value::Null, "The answer had the status 409.")]
    fn a_refusal_is_in_plain_words(#[case] body: Value, #[case] said: &str) {
        assert_eq!(reason(&failed(&body)), said);
    }

    #[test]
    fn a_decision_has_the_reason_that_was_given() {
        let denied = wire::Approval {
            status: wire::ApprovalStatus::Denied,
            reason: Some("Too early".to_owned()),
            ..failed(&Value::Null)
        };
        assert_eq!(reason(&denied), "Too early");
    }
}
