//! The keys of the organization, and the forms about them.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use axum::{Router, response::Response, routing::get};
use http::StatusCode;
use kalends_accounts::{ApprovalPolicy, ApprovedWrites, KeyLabel, KeyView, Principal, Scope, Scopes};
use kalends_app::{Actor, App, KeysInForce, Refusal, operations, ports::AgentName};
use kalends_calendars::{AgentStatus, ports::AgentFilter};
use kalends_kernel::{AgentId, FieldError, FieldErrors, LIMIT_MAX, Page};
use kalends_plans::Feature;
use kalends_web::{
    Choice, KEY_FIELDS, KeyApproval, KeyFacts, KeyGiven, KeyMade, KeyReplaced, KeyShown, Keys, KeysOf, NO_PROBLEMS,
    NewKeyForm, Paging, Place, Problems, ReplaceKey, RevokeKey, ScopeChoice,
};
use kalends_wire as wire;
use serde::Deserialize;

use super::{
    form::{OwnForm, new_once, read},
    frame::{Asked, AskedOf, needs, shell},
    places::{Form, KEYS, NEW_KEY, REPLACE_KEY, REVOKE_KEY},
    shown::{after_removal, page, problems, refused, shown_again},
};
use crate::{
    Service,
    error::ApiError,
    extract::{Caller, PathOf},
    new_key::wanted_key,
    pages::Fields,
};

/// The pages and forms, each with its operation.
pub(super) const OPERATIONS: &[Form] = &[
    ("GET", KEYS, &operations::LIST_KEYS),
    ("POST", KEYS, &operations::CREATE_KEY),
    ("GET", NEW_KEY, &operations::LIST_KEYS),
    ("GET", REPLACE_KEY, &operations::LIST_KEYS),
    ("POST", REPLACE_KEY, &operations::REGENERATE_KEY),
    ("GET", REVOKE_KEY, &operations::LIST_KEYS),
    ("POST", REVOKE_KEY, &operations::DELETE_KEY),
];

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route(KEYS, get(list).post(create))
        .route(NEW_KEY, get(ask))
        .route(REPLACE_KEY, get(ask_to_replace).post(replace))
        .route(REVOKE_KEY, get(ask_to_revoke).post(revoke))
}

/// The list, to continue on after a refused form, with the text of the link to it.
const TO_LIST: (&str, &str) = (KEYS, "See the keys");
/// The most hours that a write waits for approval.
const HOURS_MAX: i64 = 168;
/// The hours that a write waits for approval unless the form says otherwise.
const HOURS: &str = "24";
/// The most agents that are read or offered at once.
pub(super) const AGENTS_MAX: Page = Page { limit: LIMIT_MAX, offset: 0 };

/// The agent that the address of a page names.
#[derive(Debug, Deserialize)]
struct Of {
    /// Its identifier; empty if there is none.
    #[serde(default)]
    agent: String,
}

impl Of {
    fn agent(asked: AskedOf<Self>) -> String {
        asked.map(|asked| asked.0.agent).unwrap_or_default()
    }
}

/// Whether the caller may create keys of agents.
pub(super) fn may_create(caller: &Actor) -> bool {
    caller.may(&operations::CREATE_KEY) && caller.needs(Feature::ScopedKeys).is_ok()
}

/// `GET /console/keys`
async fn list(app: Service, caller: Caller, asked: AskedOf<Asked>, of: AskedOf<Of>) -> Result<Response, ApiError> {
    match render(&app, &caller.0, &Asked::of(asked), &Of::agent(of)).await {
        Ok(text) => Ok(page(StatusCode::OK, text)),
        Err(refusal) => refused(refusal, TO_LIST),
    }
}

/// The list of all keys, or of those of `agent` if it is not empty.
async fn render(app: &App, caller: &Actor, asked: &Asked, agent: &str) -> Result<String, Refusal> {
    let of = if agent.is_empty() { None } else { Some(app.agent(caller, agent).await?) };
    let KeysInForce { own, of_agents: mut keys } = app.keys_in_force(caller).await?;
    // Keys that are left from a better plan still work.
    let included = !keys.is_empty() || caller.needs(Feature::ScopedKeys).is_ok();
    keys.retain(|key| of.as_ref().is_none_or(|agent| key.agent == Some(agent.id)));
    let filter = of.iter().map(|agent| ("agent", agent.id.to_string())).collect();
    let total = u64::try_from(keys.len()).unwrap_or(u64::MAX);
    let paging = Paging { path: KEYS.to_owned(), filter, page: asked.page(), total };
    let keys = keys.into_iter().skip(paging.page.offset as usize).take(paging.page.limit as usize).collect();
    let own = if of.is_none() { own } else { Vec::new() };
    let list = Keys {
        shell: &shell(caller, Place::Keys)?,
        done: asked.done(),
        of: of.as_ref().map(|of| KeysOf { id: agent, name: &of.name }),
        included,
        may_create: may_create(caller),
        may_revoke: caller.may(&operations::DELETE_KEY),
        may_replace: of.is_none() && caller.may(&operations::REGENERATE_KEY),
        keys: &all_shown(app, caller, keys).await?,
        paging: &paging,
        own: &own.into_iter().map(own_facts).collect::<Vec<_>>(),
    };
    Ok(list.html())
}

fn own_facts(key: KeyView) -> KeyFacts {
    KeyFacts { prefix: key.prefix, created_at: key.created_at, last_used_on: key.last_used_on }
}

/// The keys of a page with the names of their agents and creators.
async fn all_shown(app: &App, caller: &Actor, keys: Vec<KeyView>) -> Result<Vec<KeyShown>, Refusal> {
    if keys.is_empty() {
        return Ok(Vec::new());
    }
    let agents: BTreeSet<_> = keys.iter().filter_map(|key| key.agent).collect();
    let agents = app.agent_names(caller, &agents).await?;
    let creators = creators(app, caller).await?;
    // Every agent was found. A key without one would not be in force.
    Ok(keys.into_iter().filter_map(|key| shown(&agents, &creators, key)).collect())
}

fn shown(agents: &BTreeMap<AgentId, AgentName>, creators: &BTreeMap<String, String>, key: KeyView) -> Option<KeyShown> {
    let id = key.agent?;
    let agent = agents.get(&id)?;
    let created_by = key.created_by.unwrap_or_default();
    Some(KeyShown {
        id: key.id.to_string(),
        label: key.label.map(|label| label.as_str().to_owned()).unwrap_or_default(),
        agent: id.to_string(),
        agent_name: agent.name.clone(),
        is_paused: agent.status == AgentStatus::Paused,
        scopes: key.scopes.iter().map(Scope::as_str).collect(),
        approval: key.approval.as_ref().map(approval),
        is_connected: key.connector.is_some(),
        created_by: creators.get(&created_by).cloned().unwrap_or(created_by),
        facts: KeyFacts { prefix: key.prefix, created_at: key.created_at, last_used_on: key.last_used_on },
    })
}

fn approval(policy: &ApprovalPolicy) -> KeyApproval {
    let operations = match &policy.covers {
        ApprovedWrites::All => None,
        ApprovedWrites::Operations(names) => Some(names.len()),
    };
    KeyApproval { operations, lasts: policy.lasts }
}

/// The addresses of the members, by the name of each as the creator of a key.
async fn creators(app: &App, caller: &Actor) -> Result<BTreeMap<String, String>, Refusal> {
    let members = app.members(caller).await?;
    Ok(members.into_iter().map(|member| (Principal::user_prefix(member.id), member.email)).collect())
}

/// `GET /console/keys/new`
async fn ask(app: Service, caller: Caller, of: AskedOf<Of>) -> Result<Response, ApiError> {
    let agent = Of::agent(of);
    let scopes = scopes_to_choose(&Fields::default());
    let given = KeyGiven { agent: &agent, label: "", scopes: &scopes, approval: "", hours: HOURS };
    match new(&app, &caller.0, given, &NO_PROBLEMS).await {
        Ok(text) => Ok(page(StatusCode::OK, text)),
        Err(refusal) => refused(refusal, TO_LIST),
    }
}

/// The form, with the active agents to choose from, and the agent that was asked for even if it is not one of those.
async fn new(app: &App, caller: &Actor, given: KeyGiven<'_>, problems: &Problems) -> Result<String, Refusal> {
    needs(caller, &operations::CREATE_KEY)?;
    caller.needs(Feature::ScopedKeys)?;
    let active = AgentFilter { status: Some(AgentStatus::Active), ..AgentFilter::default() };
    let listed = app.list_agents(caller, active, AGENTS_MAX).await?;
    let more = listed.total > u64::from(AGENTS_MAX.limit);
    let mut agents: Vec<_> = listed.data.into_iter().map(|agent| (agent.id.to_string(), agent.name)).collect();
    if !given.agent.is_empty() && agents.iter().all(|(id, _)| id != given.agent) {
        match app.agent(caller, given.agent).await {
            Ok(agent) if agent.living().is_ok() => agents.push((agent.id.to_string(), agent.name)),
            Ok(_) | Err(Refusal::NotFound { .. }) => {}
            Err(refusal) => return Err(refusal),
        }
    }
    let agents: Vec<_> = agents.iter().map(|(id, name)| Choice { value: id, title: name }).collect();
    let shell = shell(caller, Place::Keys)?;
    let once = new_once(app.entropy());
    Ok(NewKeyForm { shell: &shell, once: &once, agents: &agents, more, given, problems }.html())
}

fn typed<'a>(fields: &'a Fields, scopes: &'a [ScopeChoice]) -> KeyGiven<'a> {
    KeyGiven {
        agent: fields.get("agent_id").trim(),
        label: fields.get("label").trim(),
        scopes,
        approval: fields.get("requires_approval"),
        hours: fields.get("approval_expires_in_hours").trim(),
    }
}

/// Every scope, and whether the form names it.
pub(super) fn scopes_to_choose(fields: &Fields) -> Vec<ScopeChoice> {
    let about = |scope| match scope {
        Scope::FreebusyOrg => "When the others are free or busy, without what they do",
        Scope::DirectoryOrg => "The names of the other agents and of shared calendars",
        Scope::HoldsOrg => "Holds on the calendars of others, at most 20 at a time",
    };
    let choice = |scope: Scope| {
        let name = scope.as_str();
        ScopeChoice { name, about: about(scope), is_chosen: fields.all("scopes").any(|chosen| chosen == name) }
    };
    Scope::ALL.into_iter().map(choice).collect()
}

/// The key that the form describes.
fn wanted(fields: &Fields) -> Result<wire::WantedKey, FieldErrors> {
    let given = typed(fields, &[]);
    let label = Some(given.label.to_owned()).filter(|label| !label.is_empty());
    let named = fields.all("scopes").map(|name| {
        let scope = Scopes::from_text(name).map_err(|unknown| FieldError::new("scopes", unknown.to_string()))?;
        Ok(scope.iter().map(wire::Scope::from))
    });
    let scopes = named.collect::<Result<Vec<_>, FieldError>>()?.into_iter().flatten().collect();
    let requires_approval = wanted_approval(given.approval)?;
    let minutes = if requires_approval.is_some() { minutes(given.hours)? } else { None };
    wanted_key(wire::CreateScopedKey {
        agent_id: given.agent.to_owned(),
        label,
        scopes: Some(scopes),
        requires_approval,
        approval_expires_in_minutes: minutes,
    })
}

/// Which writes need approval, by the value of the form's choice.
fn wanted_approval(chosen: &str) -> Result<Option<wire::RequiredApproval>, FieldError> {
    match chosen {
        "" => Ok(None),
        ApprovedWrites::ALL => Ok(Some(wire::RequiredApproval::All(wire::AllWrites::Writes))),
        _ => Err(FieldError::new("requires_approval", "must be one of the choices")),
    }
}

/// The minutes of a number of hours; `None` if there is no number.
fn minutes(hours: &str) -> Result<Option<i64>, FieldError> {
    if hours.is_empty() {
        return Ok(None);
    }
    let known = hours.parse::<i64>().ok().filter(|hours| (1..=HOURS_MAX).contains(hours));
    let wrong = || FieldError::new("approval_expires_in_hours", format!("must be 1 to {HOURS_MAX} whole hours"));
    Ok(Some(known.ok_or_else(wrong)? * 60))
}

/// `POST /console/keys`. A form that is sent twice shows the same key.
async fn create(app: Service, mut form: OwnForm) -> Result<Response, ApiError> {
    let outcome = match wanted(&form.fields) {
        Ok(wanted) => form.once(&app, async |caller: &Actor| app.create_key(caller, &wanted).await).await,
        Err(errors) => Err(errors.into()),
    };
    match outcome {
        Ok(answer) => Ok(page(StatusCode::OK, made(&app, &form.caller, &read(&answer)?).await?)),
        Err(refusal) => {
            let (problems, error) = problems(refusal, &KEY_FIELDS)?;
            let scopes = scopes_to_choose(&form.fields);
            shown_again(error, new(&app, &form.caller, typed(&form.fields, &scopes), &problems).await, TO_LIST)
        }
    }
}

/// The page that shows a new key.
async fn made(app: &App, caller: &Actor, made: &wire::NewScopedKey) -> Result<String, Refusal> {
    let agent = app.agent(caller, &made.agent_id.to_string()).await?;
    let shell = shell(caller, Place::Keys)?;
    let base_url = &app.settings().base_url;
    Ok(KeyMade { shell: &shell, agent: &agent.name, key: &made.key, base_url }.html())
}

/// `GET /console/keys/replace`
async fn ask_to_replace(app: Service, caller: Caller) -> Result<Response, ApiError> {
    match replacing(&app, &caller.0).await {
        Ok(text) => Ok(page(StatusCode::OK, text)),
        Err(refusal) => refused(refusal, TO_LIST),
    }
}

async fn replacing(app: &App, caller: &Actor) -> Result<String, Refusal> {
    needs(caller, &operations::REGENERATE_KEY)?;
    let own = app.keys_in_force(caller).await?.own;
    let asks = ReplaceKey {
        shell: &shell(caller, Place::Keys)?,
        once: &new_once(app.entropy()),
        own: &own.into_iter().map(own_facts).collect::<Vec<_>>(),
    };
    Ok(asks.html())
}

/// The part of an answer that shows the organization's new key.
#[derive(Deserialize)]
struct Replaced {
    key: String,
}

/// `POST /console/keys/replace`. A form that is sent twice shows the same key.
async fn replace(app: Service, mut form: OwnForm) -> Result<Response, ApiError> {
    let outcome = form.once(&app, async |caller: &Actor| app.regenerate_key(caller).await).await;
    match outcome {
        Ok(answer) => {
            let Replaced { key } = read(&answer)?;
            let shell = shell(&form.caller, Place::Keys)?;
            let base_url = &app.settings().base_url;
            Ok(page(StatusCode::OK, KeyReplaced { shell: &shell, key: &key, base_url }.html()))
        }
        Err(refusal) => refused(refusal, TO_LIST),
    }
}

/// `GET /console/keys/{id}/revoke`
async fn ask_to_revoke(app: Service, caller: Caller, id: PathOf<String>) -> Result<Response, ApiError> {
    match question(&app, &caller.0, &id.0).await {
        Ok(text) => Ok(page(StatusCode::OK, text)),
        Err(refusal) => refused(refusal, TO_LIST),
    }
}

async fn question(app: &App, caller: &Actor, id: &str) -> Result<String, Refusal> {
    needs(caller, &operations::DELETE_KEY)?;
    let key = app.key(caller, id).await?;
    let agent = app.agent(caller, &key.agent.to_string()).await?;
    let asks = RevokeKey {
        shell: &shell(caller, Place::Keys)?,
        id: &key.id.to_string(),
        label: key.label.as_ref().map_or("", KeyLabel::as_str),
        is_connected: key.connector.is_some(),
        agent_name: &agent.name,
        facts: &KeyFacts { prefix: key.prefix, created_at: key.created_at, last_used_on: key.last_used_on },
    };
    Ok(asks.html())
}

/// `POST /console/keys/{id}/revoke`
async fn revoke(app: Service, id: PathOf<String>, form: OwnForm) -> Result<Response, ApiError> {
    after_removal(app.revoke_key(&form.caller, &id.0).await, "revoked", TO_LIST)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::none("", Some(None))]
    #[case::least("1", Some(Some(60)))]
    #[case::most("168", Some(Some(10_080)))]
    #[case::too_few("0", None)]
    #[case::too_many("169", None)]
    #[case::huge("9223372036854775807", None)]
    #[case::a_part("1.5", None)]
    fn hours_are_bounded(#[case] hours: &str, #[case] expected: Option<Option<i64>>) {
        assert_eq!(minutes(hours).ok(), expected);
    }

    #[test]
    fn the_most_hours_are_those_of_the_api() {
        assert_eq!(HOURS_MAX * 3_600, kalends_approvals::APPROVAL_LASTS_MOST.as_seconds());
        assert_eq!(HOURS.parse::<i64>().unwrap() * 3_600, kalends_approvals::APPROVAL_LASTS.as_seconds());
    }
}
