//! The subscriptions of calendars to feeds, and the forms about them.

use std::sync::Arc;

use axum::{
    Router,
    response::Response,
    routing::{get, post},
};
use kalends_app::{Actor, Answered, App, IfMatch, Refusal, operations};
use kalends_calendars::{Calendar, Patch, ports::CalendarFilter};
use kalends_feeds::{NewSubscription, SubscriptionPatch};
use kalends_kernel::FieldError;
use kalends_web::{
    Choice, DeleteSubscription, Done, NO_PROBLEMS, NewSubscriptionForm, Place, Problems, SUBSCRIPTION_FIELDS,
    SubscriptionGiven, SubscriptionPage,
};
use kalends_wire as wire;
use serde::Deserialize;

use super::{
    form::{OwnForm, new_once, read},
    frame::{Asked, AskedOf, needs, shell},
    places::{
        DELETE_SUBSCRIPTION, Form, NEW_SUBSCRIPTION, PAUSE_SUBSCRIPTION, RESUME_SUBSCRIPTION, SUBSCRIPTION,
        SUBSCRIPTIONS, SYNC_SUBSCRIPTION, segment,
    },
    settings::{Filled, Settings},
    shown::{after_removal, for_page, page_or_refused, problems, refused, shown_again},
    subscription_list::{MOST, TO_LIST, agent_names, list, one_shown},
};
use crate::{
    Service,
    error::ApiError,
    extract::{Caller, PathOf},
    pages::{Fields, line},
    reply::see_other,
};

/// The pages and forms, each with its operation.
pub(super) const OPERATIONS: &[Form] = &[
    ("GET", SUBSCRIPTIONS, &operations::LIST_SUBSCRIPTIONS),
    ("POST", SUBSCRIPTIONS, &operations::CREATE_SUBSCRIPTION),
    ("GET", NEW_SUBSCRIPTION, &operations::LIST_SUBSCRIPTIONS),
    ("GET", SUBSCRIPTION, &operations::GET_SUBSCRIPTION),
    ("POST", SUBSCRIPTION, &operations::UPDATE_SUBSCRIPTION),
    ("POST", SYNC_SUBSCRIPTION, &operations::SYNC_SUBSCRIPTION),
    ("POST", PAUSE_SUBSCRIPTION, &operations::UPDATE_SUBSCRIPTION),
    ("POST", RESUME_SUBSCRIPTION, &operations::UPDATE_SUBSCRIPTION),
    ("GET", DELETE_SUBSCRIPTION, &operations::GET_SUBSCRIPTION),
    ("POST", DELETE_SUBSCRIPTION, &operations::DELETE_SUBSCRIPTION),
];

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route(SUBSCRIPTIONS, get(list).post(create))
        .route(NEW_SUBSCRIPTION, get(ask))
        .route(SUBSCRIPTION, get(show).post(change))
        .route(SYNC_SUBSCRIPTION, post(sync).get(back))
        .route(PAUSE_SUBSCRIPTION, post(pause).get(back))
        .route(RESUME_SUBSCRIPTION, post(resume).get(back))
        .route(DELETE_SUBSCRIPTION, get(ask_to_delete).post(delete))
}

/// The form that changes a subscription.
const SETTINGS: Settings = Settings {
    fields: &SUBSCRIPTION_FIELDS,
    changed: "The subscription has changed since you opened this page. Its current state is shown above. The fields that \
              you changed keep what you typed. Save again to apply your changes.",
    problems: doubled,
    list: TO_LIST,
};
/// Why the question is asked again.
const CHANGED_SINCE: &str = "The subscription has changed since you opened this page. Its current state is shown here.";
/// Why a calendar is not subscribed to an address.
const ALREADY: &str = "The calendar is subscribed to this address already.";

/// The calendar that the address of the form names.
#[derive(Debug, Default, Deserialize)]
struct For {
    /// Its identifier; empty if there is none.
    #[serde(default)]
    calendar: String,
}

/// `GET /console/feeds/subscriptions/new`
async fn ask(app: Service, caller: Caller, named: AskedOf<For>) -> Result<Response, ApiError> {
    let named = named.map(|named| named.0).unwrap_or_default();
    let given = SubscriptionGiven { calendar: &named.calendar, url: "", label: "", busy_only: false };
    page_or_refused(new(&app, &caller.0, given, &NO_PROBLEMS).await, TO_LIST)
}

/// The form, with the oldest calendars of agents to choose from, and the one that was asked for even if it is not among
/// those.
async fn new(app: &App, caller: &Actor, given: SubscriptionGiven<'_>, problems: &Problems) -> Result<String, Refusal> {
    needs(caller, &operations::CREATE_SUBSCRIPTION)?;
    let found = app.list_calendars(caller, CalendarFilter::OfAgents, MOST).await?;
    let oldest = (found.total > u64::from(MOST.limit)).then_some(MOST.limit);
    let mut calendars = found.data;
    if !given.calendar.is_empty() && calendars.iter().all(|calendar| calendar.id.to_string() != given.calendar) {
        match app.calendar(caller, given.calendar).await {
            Ok(calendar) if calendar.agent.is_some() => calendars.push(calendar),
            Ok(_) | Err(Refusal::NotFound { .. }) => {}
            Err(refusal) => return Err(refusal),
        }
    }
    let names = agent_names(app, caller, calendars.iter().filter_map(|calendar| calendar.agent).collect()).await?;
    let title = |calendar: &Calendar| {
        let agent = calendar.agent.and_then(|agent| names.get(&agent)).map_or("", String::as_str);
        (calendar.id.to_string(), format!("{} ({agent})", calendar.name))
    };
    let titles: Vec<_> = calendars.iter().map(title).collect();
    let choices: Vec<_> = titles.iter().map(|(value, title)| Choice { value, title }).collect();
    let form = NewSubscriptionForm {
        shell: &shell(caller, Place::Feeds)?,
        once: &new_once(app.entropy()),
        calendars: &choices,
        oldest,
        given,
        problems,
    };
    Ok(form.html())
}

fn typed(fields: &Fields) -> SubscriptionGiven<'_> {
    let given = |name| fields.get(name).trim();
    SubscriptionGiven {
        calendar: given("calendar_id"),
        url: given("url"),
        label: given("label"),
        busy_only: given("busy_only") == ON,
    }
}

/// The value of a box that is checked.
const ON: &str = "true";

/// `POST /console/feeds/subscriptions`
async fn create(app: Service, mut form: OwnForm) -> Result<Response, ApiError> {
    let given = typed(&form.fields);
    let body = wire::CreateSubscription {
        calendar_id: given.calendar.to_owned(),
        url: given.url.to_owned(),
        label: Some(given.label.to_owned()).filter(|label| !label.is_empty()),
        busy_only: given.busy_only,
    };
    let outcome = match body.parse(|host, port| app.may_reach(host, port)) {
        Ok((calendar, new)) => {
            form.once(&app, async |caller: &Actor| subscribe(&app, caller, &calendar, new).await).await
        }
        Err(errors) => Err(errors.into()),
    };
    match outcome {
        Ok(answer) => Ok(after(&read::<wire::Subscription>(&answer)?.id.to_string(), "created")),
        Err(refusal) => {
            let double = doubled(&refusal);
            let (found, error) = problems(refusal, &SUBSCRIPTION_FIELDS)?;
            let text = new(&app, &form.caller, typed(&form.fields), &double.unwrap_or(found)).await;
            shown_again(error, text, TO_LIST)
        }
    }
}

/// Subscribes a calendar of any agent.
async fn subscribe(
    app: &App,
    caller: &Actor,
    calendar: &str,
    new: NewSubscription,
) -> Result<Answered<wire::Subscription>, Refusal> {
    let owner = app.calendar(caller, calendar).await?.agent;
    let none = || FieldError::new("calendar_id", "belongs to no agent; choose a calendar of an agent");
    let agent = owner.ok_or_else(none)?;
    app.create_subscription(caller, &agent.to_string(), calendar, new).await
}

/// What is wrong with the address, if the calendar is subscribed to it already.
fn doubled(refusal: &Refusal) -> Option<Problems> {
    matches!(refusal, Refusal::AlreadySubscribed(_)).then(|| {
        let mut problems = Problems::default();
        problems.add(&SUBSCRIPTION_FIELDS, "url", ALREADY);
        problems
    })
}

fn after(id: &str, done: &str) -> Response {
    see_other(&format!("{SUBSCRIPTIONS}/{}?done={done}", segment(id)), None)
}

/// `GET /console/feeds/subscriptions/{id}`
async fn show(app: Service, caller: Caller, id: PathOf<String>, asked: AskedOf<Asked>) -> Result<Response, ApiError> {
    page_or_refused(render(&app, &caller.0, &id.0, Asked::of(asked).done(), Filled::NOW).await, TO_LIST)
}

/// The page of a subscription, with what was typed in a form that had no effect, and the reason.
async fn render(app: &App, caller: &Actor, id: &str, done: Done, filled: Filled<'_>) -> Result<String, Refusal> {
    let found = app.subscription(caller, id).await?;
    let subscription = one_shown(app, caller, &found).await?;
    let (url, label) = (line(&subscription.url), line(&subscription.label));
    let now = SubscriptionGiven { calendar: "", url: &url, label: &label, busy_only: found.busy_only };
    let given = fields(now, |name, now| filled.text(name, now));
    let was = fields(now, |name, now| filled.text_before(name, now));
    let version = found.version;
    let shown = SubscriptionPage {
        shell: &shell(caller, Place::Feeds)?,
        done,
        may_change: caller.may(&operations::UPDATE_SUBSCRIPTION),
        may_delete: caller.may(&operations::DELETE_SUBSCRIPTION),
        subscription: &subscription,
        once: &new_once(app.entropy()),
        version: &filled.version(version),
        given,
        was,
        problems: filled.problems(),
    };
    Ok(shown.html())
}

/// The fields that the form changes.
fn fields<'a>(now: SubscriptionGiven<'a>, text: impl Fn(&str, &'a str) -> &'a str) -> SubscriptionGiven<'a> {
    let box_now = if now.busy_only { ON } else { "" };
    SubscriptionGiven {
        url: text("url", now.url),
        label: text("label", now.label),
        busy_only: text("busy_only", box_now) == ON,
        ..now
    }
}

/// `POST /console/feeds/subscriptions/{id}`
async fn change(app: Service, id: PathOf<String>, mut form: OwnForm) -> Result<Response, ApiError> {
    let outcome = save(&app, &mut form, &id.0).await;
    SETTINGS
        .answer(outcome, &form, (SUBSCRIPTIONS, &id.0), async |filled: Filled<'_>| {
            render(&app, &form.caller, &id.0, Done::default(), filled).await
        })
        .await
}

/// Saves what was typed over. A form that is sent twice saves once.
async fn save(app: &App, form: &mut OwnForm, id: &str) -> Result<(), Refusal> {
    let given = typed(&form.fields);
    let is_typed_over = |name| form.fields.is_typed_over(name);
    let body = wire::UpdateSubscription {
        url: is_typed_over("url").then(|| Some(given.url.to_owned())),
        label: is_typed_over("label").then(|| Some(given.label.to_owned()).filter(|label| !label.is_empty())),
        status: None,
        busy_only: is_typed_over("busy_only").then_some(Some(given.busy_only)),
    };
    let (patch, seen) = (body.parse(|host, port| app.may_reach(host, port))?, form.if_match());
    form.once(app, async |caller: &Actor| app.update_subscription(caller, id, patch, &seen).await).await.map(drop)
}

/// `POST /console/feeds/subscriptions/{id}/sync`
async fn sync(app: Service, id: PathOf<String>, mut form: OwnForm) -> Result<Response, ApiError> {
    match form.once(&app, async |caller: &Actor| app.ask_sync(caller, &id.0).await).await {
        Ok(_) => Ok(after(&id.0, "syncing")),
        Err(refusal) => refused(refusal, TO_LIST),
    }
}

/// `POST /console/feeds/subscriptions/{id}/pause`
async fn pause(app: Service, id: PathOf<String>, form: OwnForm) -> Result<Response, ApiError> {
    let outcome = set_paused(&app, &form, &id.0, true).await;
    outcome.map_or_else(|refusal| refused(refusal, TO_LIST), |()| Ok(after(&id.0, "paused")))
}

/// `POST /console/feeds/subscriptions/{id}/resume`
async fn resume(app: Service, id: PathOf<String>, form: OwnForm) -> Result<Response, ApiError> {
    let outcome = set_paused(&app, &form, &id.0, false).await;
    outcome.map_or_else(|refusal| refused(refusal, TO_LIST), |()| Ok(after(&id.0, "resumed")))
}

async fn set_paused(app: &App, form: &OwnForm, id: &str, paused: bool) -> Result<(), Refusal> {
    // A form that is sent twice changes nothing more.
    if app.subscription(&form.caller, id).await?.paused == paused {
        return Ok(());
    }
    let patch = SubscriptionPatch { paused: Patch::Set(paused), ..SubscriptionPatch::default() };
    app.update_subscription(&form.caller, id, patch, &IfMatch::Any).await.map(drop)
}

/// `GET /console/feeds/subscriptions/{id}/delete`
async fn ask_to_delete(app: Service, caller: Caller, id: PathOf<String>) -> Result<Response, ApiError> {
    page_or_refused(question(&app, &caller.0, &id.0, None).await, TO_LIST)
}

async fn question(app: &App, caller: &Actor, id: &str, problem: Option<&str>) -> Result<String, Refusal> {
    needs(caller, &operations::DELETE_SUBSCRIPTION)?;
    let found = app.subscription(caller, id).await?;
    let asked = DeleteSubscription {
        shell: &shell(caller, Place::Feeds)?,
        subscription: &one_shown(app, caller, &found).await?,
        version: &found.version.0.to_string(),
        problem,
    };
    Ok(asked.html())
}

/// `POST /console/feeds/subscriptions/{id}/delete`. The form says what happens to the events, as the API does.
async fn delete(app: Service, id: PathOf<String>, form: OwnForm) -> Result<Response, ApiError> {
    let events = Some(form.fields.get("events").to_owned()).filter(|events| !events.is_empty());
    let outcome = match (wire::DeleteSubscription { events }).parse() {
        Ok(remains) => app.delete_subscription(&form.caller, &id.0, remains, &form.if_match()).await,
        Err(error) => Err(error.into()),
    };
    match outcome {
        Err(refusal @ Refusal::Stale { .. }) => {
            let text = question(&app, &form.caller, &id.0, Some(CHANGED_SINCE)).await;
            shown_again(for_page(refusal)?, text, TO_LIST)
        }
        outcome => after_removal(outcome, "deleted", TO_LIST),
    }
}

/// Somebody reloads the address of a form about a subscription.
async fn back(id: PathOf<String>) -> Response {
    see_other(&format!("{SUBSCRIPTIONS}/{}", segment(&id.0)), None)
}
