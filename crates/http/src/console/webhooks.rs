//! The webhooks of the organization, and the forms about them.

use std::sync::Arc;

use axum::{
    Router,
    response::Response,
    routing::{get, post},
};
use http::StatusCode;
use kalends_app::{Actor, App, DeliveryDays, IfMatch, Refusal, operations};
use kalends_notifications::{
    Deactivation, DeliveryStatus, EVERYTHING, EventType, WebhookEndpoint, ports::DeliveryStats,
};
use kalends_time::{CivilDate, Timestamp};
use kalends_web::{
    DeliveryDay, DeliveryShown, DeliveryState, Done, EventChoice, NO_PROBLEMS, NewWebhookForm, Paging, Place, Problems,
    SecretShown, WEBHOOK_FIELDS, WebhookGiven, WebhookPage, WebhookQuestion, WebhookQuestions, WebhookShown,
    WebhookState, WebhookTested, Webhooks,
};
use kalends_wire as wire;

use super::{
    form::{OwnForm, new_once, read},
    frame::{Asked, AskedOf, needs, shell},
    places::{DELETE_WEBHOOK, Form, NEW_WEBHOOK, ROTATE_SECRET, TEST_WEBHOOK, WEBHOOK, WEBHOOKS, segment},
    settings::{Filled, Settings},
    shown::{page, page_or_refused, problems, refused, shown_again},
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
    ("GET", WEBHOOKS, &operations::LIST_WEBHOOKS),
    ("POST", WEBHOOKS, &operations::CREATE_WEBHOOK),
    ("GET", NEW_WEBHOOK, &operations::LIST_WEBHOOKS),
    ("GET", WEBHOOK, &operations::GET_WEBHOOK),
    ("POST", WEBHOOK, &operations::UPDATE_WEBHOOK),
    ("POST", TEST_WEBHOOK, &operations::TEST_WEBHOOK),
    ("GET", ROTATE_SECRET, &operations::GET_WEBHOOK),
    ("POST", ROTATE_SECRET, &operations::ROTATE_WEBHOOK_SECRET),
    ("GET", DELETE_WEBHOOK, &operations::GET_WEBHOOK),
    ("POST", DELETE_WEBHOOK, &operations::DELETE_WEBHOOK),
];

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route(WEBHOOKS, get(list).post(create))
        .route(NEW_WEBHOOK, get(ask))
        .route(WEBHOOK, get(show).post(change))
        .route(TEST_WEBHOOK, post(test).get(back))
        .route(ROTATE_SECRET, get(ask_to_rotate).post(rotate))
        .route(DELETE_WEBHOOK, get(ask_to_delete).post(delete))
}

/// The list, to continue on after a refused form, with the text of the link to it.
pub(super) const TO_LIST: (&str, &str) = (WEBHOOKS, "See the webhooks");
/// The form that changes a webhook.
const SETTINGS: Settings = Settings {
    fields: &WEBHOOK_FIELDS,
    changed: "The webhook has changed since you opened this page. Its current state is shown above. The fields that you \
              changed keep what you typed. Save again to apply your changes.",
    problems: |_| None,
    list: TO_LIST,
};

/// `GET /console/webhooks`
async fn list(app: Service, caller: Caller, asked: AskedOf<Asked>) -> Result<Response, ApiError> {
    let asked = Asked::of(asked);
    let listed = app.list_webhooks(&caller.0, asked.page()).await?;
    let paging = Paging { path: WEBHOOKS.to_owned(), filter: Vec::new(), page: asked.page(), total: listed.total };
    let webhooks: Vec<_> = listed.data.iter().map(shown).collect();
    let list = Webhooks {
        shell: &shell(&caller.0, Place::Webhooks)?,
        done: asked.done(),
        may_create: caller.0.may(&operations::CREATE_WEBHOOK),
        webhooks: &webhooks,
        paging: &paging,
    };
    Ok(page(StatusCode::OK, list.html()))
}

pub(super) fn shown(endpoint: &WebhookEndpoint) -> WebhookShown {
    WebhookShown {
        id: endpoint.id.to_string(),
        url: endpoint.url.as_str().to_owned(),
        events: endpoint.subscription.names(),
        state: state(endpoint),
        created_at: endpoint.created_at,
        updated_at: endpoint.updated_at,
    }
}

const fn state(endpoint: &WebhookEndpoint) -> WebhookState {
    match endpoint.deactivated {
        _ if endpoint.active => WebhookState::Active,
        None => WebhookState::SwitchedOff,
        Some(Deactivation::Gone) => WebhookState::Gone,
        Some(Deactivation::Failing) => WebhookState::Failing,
    }
}

pub(super) const fn state_of(status: DeliveryStatus) -> DeliveryState {
    match status {
        DeliveryStatus::Pending => DeliveryState::Waiting,
        DeliveryStatus::Delivered => DeliveryState::Delivered,
        DeliveryStatus::Failed => DeliveryState::Failed,
        DeliveryStatus::Skipped => DeliveryState::Skipped,
    }
}

fn shown_day((date, stats): (CivilDate, DeliveryStats)) -> DeliveryDay {
    let DeliveryStats { pending: waiting, delivered, failed, skipped } = stats;
    DeliveryDay { date, delivered, failed, waiting, skipped }
}

pub(super) fn shown_delivery(delivery: &wire::Delivery) -> DeliveryShown {
    DeliveryShown {
        id: delivery.id.to_string(),
        event_type: delivery.event_type.to_string(),
        state: state_of(delivery.status.into()),
        attempts: delivery.attempts,
        last_attempt_at: delivery.last_attempt_at,
        next_attempt_at: delivery.next_retry_at,
        response_status: delivery.response_status,
        created_at: delivery.created_at,
    }
}

/// What the form of a webhook contains.
struct Typed {
    url: String,
    all: bool,
    events: Vec<EventChoice>,
    active: bool,
}

impl Typed {
    /// The form with these values of its fields.
    fn new<'a>(values: impl Fn(&str) -> Vec<&'a str>) -> Self {
        let (url, chosen) = (values("url"), values("events"));
        let choice = |event_type: &EventType| {
            let name = event_type.as_str();
            EventChoice { name, about: event_type.about(), is_chosen: chosen.contains(&name) }
        };
        Self {
            url: url.first().map_or("", |url| url.trim()).to_owned(),
            all: chosen.contains(&EVERYTHING),
            events: EventType::ALL.iter().map(choice).collect(),
            active: values("active") == [ON],
        }
    }

    fn of(fields: &Fields) -> Self {
        Self::new(|name| fields.all(name).collect())
    }

    fn given(&self) -> WebhookGiven<'_> {
        WebhookGiven { url: &self.url, all: self.all, events: &self.events, active: self.active }
    }
}

/// The value of a box that is checked.
const ON: &str = "true";

/// The values of the fields of the form of a webhook.
fn values<'a>(endpoint: &'a WebhookEndpoint, name: &str) -> Vec<&'a str> {
    match name {
        "url" => vec![endpoint.url.as_str()],
        "events" => endpoint.subscription.names(),
        _ if endpoint.active => vec![ON],
        _ => Vec::new(),
    }
}

/// The event types that the form sends, known or not.
fn events(fields: &Fields) -> Vec<String> {
    fields.all("events").map(str::to_owned).collect()
}

/// `GET /console/webhooks/new`
async fn ask(app: Service, caller: Caller) -> Result<Response, ApiError> {
    let empty = Typed::new(|name| if name == "events" { vec![EVERYTHING] } else { Vec::new() });
    match needs(&caller.0, &operations::CREATE_WEBHOOK) {
        Ok(()) => Ok(page(StatusCode::OK, new(&app, &caller.0, &empty, &NO_PROBLEMS)?)),
        Err(refusal) => refused(refusal, TO_LIST),
    }
}

fn new(app: &App, caller: &Actor, typed: &Typed, problems: &Problems) -> Result<String, Refusal> {
    let shell = shell(caller, Place::Webhooks)?;
    let once = &new_once(app.entropy());
    Ok(NewWebhookForm { shell: &shell, once, given: typed.given(), problems }.html())
}

/// `POST /console/webhooks`. A form that is sent twice shows the same secret.
async fn create(app: Service, mut form: OwnForm) -> Result<Response, ApiError> {
    let typed = Typed::of(&form.fields);
    let body = wire::CreateWebhook { url: typed.url.clone(), events: events(&form.fields) };
    let outcome = match body.parse(|host, port| app.may_reach(host, port)) {
        Ok(new) => form.once(&app, async |caller: &Actor| app.create_webhook(caller, new).await).await,
        Err(errors) => Err(errors.into()),
    };
    match outcome {
        Ok(answer) => {
            let made = read::<wire::NewWebhook>(&answer)?;
            let secret = Secret { id: made.id.to_string(), text: made.secret, is_new: true, previous_until: None };
            secret.page(&form.caller)
        }
        Err(refusal) => {
            let (problems, error) = problems(refusal, &WEBHOOK_FIELDS)?;
            shown_again(error, new(&app, &form.caller, &typed, &problems), TO_LIST)
        }
    }
}

/// A secret, to be shown once.
struct Secret {
    id: String,
    text: String,
    is_new: bool,
    previous_until: Option<Timestamp>,
}

impl Secret {
    fn page(&self, caller: &Actor) -> Result<Response, ApiError> {
        let shell = &shell(caller, Place::Webhooks)?;
        let (id, secret, is_new, previous_until) = (&self.id, &self.text, self.is_new, self.previous_until);
        Ok(page(StatusCode::OK, SecretShown { shell, id, secret, is_new, previous_until }.html()))
    }
}

/// `GET /console/webhooks/{id}`
async fn show(app: Service, caller: Caller, id: PathOf<String>, asked: AskedOf<Asked>) -> Result<Response, ApiError> {
    page_or_refused(render(&app, &caller.0, &id.0, Asked::of(asked).done(), Filled::NOW).await, TO_LIST)
}

/// The page of a webhook, with what was typed in a form that had no effect, and the reason.
async fn render(app: &App, caller: &Actor, id: &str, done: Done, filled: Filled<'_>) -> Result<String, Refusal> {
    let endpoint = app.webhook(caller, id).await?;
    let DeliveryDays { days, newest } = app.delivery_days(caller, &endpoint).await?;
    let days: Vec<_> = days.into_iter().map(shown_day).collect();
    let now = |name: &str| values(&endpoint, name);
    let given = Typed::new(|name| filled.values(name, now(name)));
    let was = Typed::new(|name| filled.values_before(name, now(name)));
    let version = endpoint.version;
    let shown = WebhookPage {
        shell: &shell(caller, Place::Webhooks)?,
        done,
        may_change: caller.may(&operations::UPDATE_WEBHOOK),
        may_delete: caller.may(&operations::DELETE_WEBHOOK),
        webhook: &shown(&endpoint),
        once: &new_once(app.entropy()),
        version: &filled.version(version),
        given: given.given(),
        was: was.given(),
        problems: filled.problems(),
        days: &days,
        newest,
    };
    Ok(shown.html())
}

/// `POST /console/webhooks/{id}`
async fn change(app: Service, id: PathOf<String>, mut form: OwnForm) -> Result<Response, ApiError> {
    let outcome = save(&app, &mut form, &id.0).await;
    SETTINGS
        .answer(outcome, &form, (WEBHOOKS, &id.0), async |filled: Filled<'_>| {
            render(&app, &form.caller, &id.0, Done::default(), filled).await
        })
        .await
}

/// Saves what was typed over: a URL or a switch that is sent makes the server forget earlier failures, and switches on what
/// it has switched off. A form that is sent twice saves once.
async fn save(app: &App, form: &mut OwnForm, id: &str) -> Result<(), Refusal> {
    if !["url", "events", "active"].into_iter().any(|name| form.fields.is_typed_over(name)) {
        return app.webhook(&form.caller, id).await.map(drop);
    }
    let (fields, typed) = (&form.fields, Typed::of(&form.fields));
    let body = wire::UpdateWebhook {
        url: fields.is_typed_over("url").then_some(Some(typed.url)),
        events: fields.is_typed_over("events").then(|| Some(events(fields))),
        active: fields.is_typed_over("active").then_some(Some(typed.active)),
    };
    let patch = body.parse(|host, port| app.may_reach(host, port))?;
    let if_match = form.if_match();
    form.once(app, async |caller: &Actor| app.update_webhook(caller, id, patch, &if_match).await).await.map(drop)
}

/// `POST /console/webhooks/{id}/test`. A form that is sent twice sends one test.
async fn test(app: Service, id: PathOf<String>, mut form: OwnForm) -> Result<Response, ApiError> {
    let outcome = form.once(&app, async |caller: &Actor| app.test_webhook(caller, &id.0).await).await;
    let tested = match outcome {
        Ok(answer) => read::<wire::TestedDelivery>(&answer)?,
        Err(refusal) => return refused(refusal, TO_LIST),
    };
    let shown = WebhookTested {
        shell: &shell(&form.caller, Place::Webhooks)?,
        id: &id.0,
        delivery: &shown_delivery(&tested.delivery),
        duration_ms: tested.duration_ms,
        error: tested.error.as_deref(),
    };
    Ok(page(StatusCode::OK, shown.html()))
}

/// `GET /console/webhooks/{id}/rotate`
async fn ask_to_rotate(app: Service, caller: Caller, id: PathOf<String>) -> Result<Response, ApiError> {
    asks(&app, &caller.0, &id.0, WebhookQuestions::Rotate).await
}

/// `GET /console/webhooks/{id}/delete`
async fn ask_to_delete(app: Service, caller: Caller, id: PathOf<String>) -> Result<Response, ApiError> {
    asks(&app, &caller.0, &id.0, WebhookQuestions::Delete).await
}

async fn asks(app: &App, caller: &Actor, id: &str, asks: WebhookQuestions) -> Result<Response, ApiError> {
    page_or_refused(question(app, caller, id, asks).await, TO_LIST)
}

async fn question(app: &App, caller: &Actor, id: &str, asks: WebhookQuestions) -> Result<String, Refusal> {
    let operation = match asks {
        WebhookQuestions::Rotate => &operations::ROTATE_WEBHOOK_SECRET,
        WebhookQuestions::Delete => &operations::DELETE_WEBHOOK,
    };
    needs(caller, operation)?;
    let webhook = &shown(&app.webhook(caller, id).await?);
    let shell = &shell(caller, Place::Webhooks)?;
    Ok(WebhookQuestion { shell, asks, webhook, once: &new_once(app.entropy()) }.html())
}

/// `POST /console/webhooks/{id}/rotate`. A form that is sent twice shows the same secret.
async fn rotate(app: Service, id: PathOf<String>, mut form: OwnForm) -> Result<Response, ApiError> {
    match form.once(&app, async |caller: &Actor| app.rotate_webhook_secret(caller, &id.0).await).await {
        Ok(answer) => {
            let wire::WebhookSecret { id, secret, previous_secret_expires_at: previous_until } = read(&answer)?;
            let secret = Secret { id: id.to_string(), text: secret, is_new: false, previous_until };
            secret.page(&form.caller)
        }
        Err(refusal) => refused(refusal, TO_LIST),
    }
}

/// `POST /console/webhooks/{id}/delete`. A form that is sent twice leads to the list both times.
async fn delete(app: Service, id: PathOf<String>, mut form: OwnForm) -> Result<Response, ApiError> {
    match form.once(&app, async |caller: &Actor| app.delete_webhook(caller, &id.0, &IfMatch::Any).await).await {
        Ok(_) => Ok(see_other(&format!("{WEBHOOKS}?done=deleted"), None)),
        Err(refusal) => refused(refusal, TO_LIST),
    }
}

/// Somebody reloads the address of a form about a webhook.
async fn back(id: PathOf<String>) -> Response {
    see_other(&format!("{WEBHOOKS}/{}", segment(&id.0)), None)
}
