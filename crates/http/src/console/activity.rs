//! The audit log in sentences, and as a file for spreadsheets.

mod words;

use std::sync::{Arc, LazyLock};

use axum::{Router, response::Response, routing::get};
use http::{HeaderValue, StatusCode, header};
use kalends_accounts::{Action, Principal};
use kalends_app::{Actor, App, AuditNames, Refusal, operations};
use kalends_kernel::{
    AgentId, ApprovalId, BookingPageId, CalendarId, EventId, FieldError, FieldErrors, KeyId, LIMIT_MAX, ProposalId,
    SubscriptionId, UserId, WebhookId,
};
use kalends_time::CivilDate;
use kalends_web::{
    ACTIVITY_FIELDS, ACTIVITY_FILE_MAX, Activity, ActivityChoices, ActivityEntry, ActivityGiven, ActivityLog, Choice,
    Href, NO_PROBLEMS, Place, Problems, csv_row, headers,
};
use kalends_wire as wire;
use serde::Deserialize;

use self::words::{actor_in_file, not_done, option_of, outcome, sentence, user_or_key};
use super::{
    frame::{AskedOf, shell},
    places::{
        ACTIVITY, ACTIVITY_FILE, AGENT, APPROVAL, BOOKING_PAGE, CALENDAR_SETTINGS, EVENT, Form, KEYS, MEMBERS,
        PROPOSAL, SUBSCRIPTION, WEBHOOK, segment,
    },
    shown::{because_of, page, problems, refused},
};
use crate::{Service, error::ApiError, extract::Caller, pages::text_of};

/// The pages, each with its operation.
pub(super) const OPERATIONS: &[Form] =
    &[("GET", ACTIVITY, &operations::AUDIT_LOG), ("GET", ACTIVITY_FILE, &operations::AUDIT_LOG)];

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new().route(ACTIVITY, get(show)).route(ACTIVITY_FILE, get(file))
}

/// The page, to continue on if the file is refused, with the text of the link to it.
const TO_PAGE: (&str, &str) = (ACTIVITY, "See the activity");
/// The columns of the file.
const COLUMNS: [&str; 7] = ["time", "action", "actor", "subject", "outcome", "address", "request id"];
/// The number of keys that the form offers at most.
const KEYS_OFFERED: usize = 200;
/// The number of entries on a page.
const ENTRIES: u32 = 25;

/// The actions that the form offers, each with its title. They are the same on every page.
static ACTIONS: LazyLock<Vec<(&str, String)>> =
    LazyLock::new(|| Action::ALL.iter().map(|action| (action.as_str(), option_of(*action))).collect());

/// What the address of the page says. An empty part filters nothing.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Filter {
    agent_id: String,
    actor_key_prefix: String,
    action: String,
    from: String,
    to: String,
    /// The place at which the previous page ended.
    cursor: String,
}

impl Filter {
    fn of(asked: AskedOf<Self>) -> Self {
        asked.map(|asked| asked.0).unwrap_or_default()
    }

    fn given(&self) -> ActivityGiven<'_> {
        ActivityGiven {
            agent: &self.agent_id,
            actor: &self.actor_key_prefix,
            action: &self.action,
            from: &self.from,
            to: &self.to,
        }
    }

    /// The query for the entries after the cursor. Both days belong to the range.
    fn query(&self, cursor: &str, limit: u32) -> Result<wire::AuditQuery, FieldErrors> {
        let mut errors = FieldErrors::default();
        let from = errors.take(midnight("from", &self.from, 0)).flatten();
        let to = errors.take(midnight("to", &self.to, 1)).flatten();
        let list = wire::ListAudit {
            from,
            to,
            action: filled(&self.action),
            actor_key_prefix: filled(&self.actor_key_prefix),
            agent_id: filled(&self.agent_id),
            cursor: filled(cursor),
            limit: Some(limit.into()),
        };
        let query = errors.take_all(list.parse());
        errors.finish()?;
        query.ok_or_else(FieldErrors::default)
    }
}

fn filled(text: &str) -> Option<String> {
    Some(text.to_owned()).filter(|text| !text.is_empty())
}

/// The beginning in UTC of the day that is `days` after the given one, as the API has it.
fn midnight(param: &str, text: &str, days: i64) -> Result<Option<String>, FieldError> {
    if text.is_empty() {
        return Ok(None);
    }
    let date: CivilDate = text.parse().map_err(|_| FieldError::new(param, "must be a date such as 2026-11-28"))?;
    Ok(Some(format!("{}T00:00:00Z", date.plus_days(days))))
}

/// `GET /console/activity`
async fn show(app: Service, caller: Caller, asked: AskedOf<Filter>) -> Result<Response, ApiError> {
    let filter = Filter::of(asked);
    match read(&app, &caller.0, &filter, &filter.cursor, ENTRIES).await {
        Ok(log) => Ok(page(StatusCode::OK, render(&app, &caller.0, &filter, Some(log), &NO_PROBLEMS).await?)),
        Err(refusal) => {
            let (problems, error) = problems(refusal, &ACTIVITY_FIELDS)?;
            let shown = page(error.status(), render(&app, &caller.0, &filter, None, &problems).await?);
            Ok(because_of(error, shown))
        }
    }
}

async fn read(app: &App, caller: &Actor, filter: &Filter, cursor: &str, limit: u32) -> Result<wire::AuditLog, Refusal> {
    app.audit_log(caller, filter.query(cursor, limit)?).await
}

async fn render(
    app: &App,
    caller: &Actor,
    filter: &Filter,
    log: Option<wire::AuditLog>,
    problems: &Problems,
) -> Result<String, Refusal> {
    let found = log.as_ref().map(|log| log.data.as_slice()).unwrap_or_default();
    let names = app.audit_names(caller, found, filter.agent_id.parse().ok()).await?;
    let agents: Vec<_> = names.agents.iter().map(|(id, name)| (id.to_string(), name.as_str())).collect();
    let agents = offered("All agents", agents.iter().map(|(id, name)| (id.as_str(), *name)), &filter.agent_id);
    let actors = actors(&names);
    let actors = actors.iter().map(|(prefix, title)| (prefix.as_str(), title.as_str()));
    let actors = offered("Everybody", actors, &filter.actor_key_prefix);
    let actions = ACTIONS.iter().map(|(name, title)| (*name, title.as_str()));
    let actions = offered("All actions", actions, &filter.action);
    let entries: Vec<_> = found.iter().map(|entry| shown(entry, &names, caller)).collect();
    let shown = Activity {
        shell: &shell(caller, Place::Activity)?,
        given: filter.given(),
        choices: ActivityChoices { agents: &agents, actors: &actors, actions: &actions },
        problems,
        log: log.as_ref().map(|log| ActivityLog {
            entries: &entries,
            next: log.pagination.next_cursor.as_deref(),
            retention_days: log.retention_days,
            now: app.now(),
        }),
        continues: !filter.cursor.is_empty(),
    };
    Ok(shown.html())
}

/// The keys in force and the members, each with the first characters that entries have of it.
fn actors(names: &AuditNames) -> Vec<(String, String)> {
    let keys = names.keys.iter().take(KEYS_OFFERED).map(|key| key.prefix.clone());
    let users = names.members().iter().map(|(user, _)| Principal::user_prefix(*user));
    keys.chain(users).map(|prefix| (prefix.clone(), user_or_key(&prefix, names))).collect()
}

/// The options of a choice with their titles: all, the known ones, and the chosen one even if it is not known.
fn offered<'a>(all: &'a str, known: impl IntoIterator<Item = (&'a str, &'a str)>, chosen: &'a str) -> Vec<Choice<'a>> {
    let mut options = vec![Choice { value: "", title: all }];
    options.extend(known.into_iter().map(|(value, title)| Choice { value, title }));
    if options.iter().all(|option| option.value != chosen) {
        options.push(Choice { value: chosen, title: chosen });
    }
    options
}

/// The page of what has this identifier, if there is one that the caller may open.
pub(super) fn page_of(caller: &Actor, id: &str) -> Option<Href> {
    let (kind, _) = id.split_once('_')?;
    let (operation, place) = match kind {
        AgentId::PREFIX => (&operations::GET_AGENT, AGENT),
        CalendarId::PREFIX => (&operations::UPDATE_CALENDAR, CALENDAR_SETTINGS),
        EventId::PREFIX => (&operations::GET_EVENT, EVENT),
        ProposalId::PREFIX => (&operations::GET_PROPOSAL, PROPOSAL),
        ApprovalId::PREFIX => (&operations::GET_APPROVAL, APPROVAL),
        BookingPageId::PREFIX => (&operations::GET_BOOKING_PAGE, BOOKING_PAGE),
        WebhookId::PREFIX => (&operations::GET_WEBHOOK, WEBHOOK),
        SubscriptionId::PREFIX => (&operations::GET_SUBSCRIPTION, SUBSCRIPTION),
        // These are on a list, and have no page of their own.
        KeyId::PREFIX => (&operations::LIST_KEYS, KEYS),
        UserId::PREFIX => (&operations::LIST_MEMBERS, MEMBERS),
        _ => return None,
    };
    Href::new(place.replace("{id}", &segment(id))).filter(|_| caller.may(operation))
}

fn shown(entry: &wire::AuditEntry, names: &AuditNames, caller: &Actor) -> ActivityEntry {
    ActivityEntry {
        sentence: sentence(entry, names, &|id| page_of(caller, id)),
        refused: not_done(entry),
        at: entry.created_at,
        action: entry.action.to_string(),
        actor: entry.actor_key_prefix.clone(),
        agent: entry.agent_id.map(|id| (id.to_string(), names.agent(id).map(str::to_owned))),
        resource: entry.resource.clone(),
        ip: entry.ip.clone(),
        request: format!("{} {}", entry.method, entry.path),
        request_id: entry.request_id.to_string(),
    }
}

/// `GET /console/activity/file`
async fn file(app: Service, caller: Caller, asked: AskedOf<Filter>) -> Result<Response, ApiError> {
    let text = match written(&app, &caller.0, &Filter::of(asked)).await {
        Ok(text) => text,
        Err(refusal) => return refused(refusal, TO_PAGE),
    };
    let mut response = text_of(StatusCode::OK, "text/csv; charset=utf-8", text, &headers::PAGE);
    let name = HeaderValue::from_static("attachment; filename=\"activity.csv\"");
    response.headers_mut().insert(header::CONTENT_DISPOSITION, name);
    Ok(response)
}

/// The newest entries that the filter admits, at most [`ACTIVITY_FILE_MAX`]. A row has no name of anything that users
/// can make long except an address, so the file has at most about 5 MB.
async fn written(app: &App, caller: &Actor, filter: &Filter) -> Result<String, Refusal> {
    // A wrong filter does not count as a file.
    filter.query("", LIMIT_MAX)?;
    app.allow_audit_file(caller).await?;
    let names = app.audit_members(caller).await?;
    let mut text = String::new();
    csv_row(&mut text, &COLUMNS);
    let mut cursor = String::new();
    for _ in 0..ACTIVITY_FILE_MAX / LIMIT_MAX {
        let log = read(app, caller, filter, &cursor, LIMIT_MAX).await?;
        for entry in &log.data {
            write_row(&mut text, entry, &names);
        }
        match log.pagination.next_cursor {
            Some(next) => cursor = next,
            None => break,
        }
    }
    Ok(text)
}

fn write_row(text: &mut String, entry: &wire::AuditEntry, names: &AuditNames) {
    let (at, outcome, request) = (entry.created_at.to_string(), outcome(entry), entry.request_id.to_string());
    let address = entry.ip.as_deref().unwrap_or_default();
    csv_row(text, &[&at, &entry.action, actor_in_file(entry, names), &entry.resource, &outcome, address, &request]);
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[test]
    fn both_days_belong_to_the_range() {
        let filter = Filter { from: "2026-03-01".to_owned(), to: "2026-03-02".to_owned(), ..Filter::default() };
        let query = filter.query("", 50).unwrap();
        let at = |time: Option<kalends_time::Timestamp>| time.map(|time| time.to_string());
        assert_eq!(at(query.from).as_deref(), Some("2026-03-01T00:00:00Z"));
        assert_eq!(at(query.to).as_deref(), Some("2026-03-03T00:00:00Z"));
    }

    #[rstest]
    #[case::nothing(Filter::default(), &[])]
    #[case::no_dates(Filter { from: "x".into(), to: "2026-02-30".into(), ..Filter::default() }, &["from", "to"])]
    #[case::out_of_bounds(Filter { to: "9999-12-31".into(), ..Filter::default() }, &["to"])]
    #[case::unknown(
        Filter { agent_id: "x".into(), action: "x".into(), actor_key_prefix: "x".repeat(21), ..Filter::default() },
        &["action", "actor_key_prefix", "agent_id"]
    )]
    fn a_wrong_filter_is_refused_by_field(#[case] filter: Filter, #[case] params: &[&str]) {
        let errors = filter.query("", 50).err().unwrap_or_default();
        assert_eq!(errors.iter().map(|error| error.param.as_str()).collect::<Vec<_>>(), params);
        assert!(errors.iter().all(|error| ACTIVITY_FIELDS.contains(&error.param.as_str())));
    }

    #[test]
    fn the_chosen_option_is_always_offered() {
        let values = |chosen: &'static str| -> Vec<&str> {
            offered("All", [("a", "A")], chosen).into_iter().map(|option| option.value).collect()
        };
        assert_eq!(values(""), ["", "a"]);
        assert_eq!(values("a"), ["", "a"]);
        assert_eq!(values("b"), ["", "a", "b"]);
    }

    #[test]
    fn the_pages_of_the_file_fill_it() {
        assert_eq!(ACTIVITY_FILE_MAX % LIMIT_MAX, 0);
    }
}
