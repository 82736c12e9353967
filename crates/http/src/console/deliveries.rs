//! The deliveries of a webhook.

use std::sync::Arc;

use axum::{
    Router,
    response::Response,
    routing::{get, post},
};
use http::StatusCode;
use kalends_app::{Actor, App, Refusal, operations};
use kalends_kernel::Page;
use kalends_notifications::DeliveryStatus;
use kalends_web::{Deliveries, DeliveryPage, Done, Paging, Place, StatusFilter, pretty_json};
use kalends_wire as wire;
use serde::Deserialize;

use super::{
    form::{OwnForm, new_once},
    frame::{Asked, AskedOf, shell},
    places::{DELIVERIES, DELIVERY, Form, RETRY_DELIVERY, WEBHOOKS, segment},
    shown::{page, refused},
    webhooks::{TO_LIST, shown, shown_delivery, state_of},
};
use crate::{
    Service,
    error::ApiError,
    extract::{Caller, PathOf},
    reply::see_other,
};

/// The pages and forms, each with its operation.
pub(super) const OPERATIONS: &[Form] = &[
    ("GET", DELIVERIES, &operations::LIST_DELIVERIES),
    ("GET", DELIVERY, &operations::LIST_DELIVERIES),
    ("POST", RETRY_DELIVERY, &operations::RETRY_DELIVERY),
];

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new().route(DELIVERIES, get(list)).route(DELIVERY, get(show)).route(RETRY_DELIVERY, post(retry).get(back))
}

/// What the address of the list says.
#[derive(Debug, Default, Deserialize)]
struct Filtered {
    /// The status, as the API names it. Any other text stands for all of them.
    #[serde(default)]
    status: String,
    #[serde(default)]
    offset: u32,
}

/// `GET /console/webhooks/{id}/deliveries`
async fn list(
    app: Service,
    caller: Caller,
    id: PathOf<String>,
    asked: AskedOf<Filtered>,
) -> Result<Response, ApiError> {
    let asked = asked.map(|asked| asked.0).unwrap_or_default();
    let status = DeliveryStatus::from_name(&asked.status);
    match render(&app, &caller.0, &id.0, status, Page { offset: asked.offset, ..Page::default() }).await {
        Ok(text) => Ok(page(StatusCode::OK, text)),
        Err(refusal) => refused(refusal, TO_LIST),
    }
}

async fn render(
    app: &App,
    caller: &Actor,
    id: &str,
    status: Option<DeliveryStatus>,
    page: Page,
) -> Result<String, Refusal> {
    let endpoint = app.webhook(caller, id).await?;
    let listed = app.newest_deliveries(caller, &endpoint, status, page).await?;
    let webhook = shown(&endpoint);
    let deliveries: Vec<_> = listed.data.iter().map(shown_delivery).collect();
    let filter = status.map(|status| ("status", status.as_str().to_owned())).into_iter().collect();
    let list = Deliveries {
        shell: &shell(caller, Place::Webhooks)?,
        webhook: &webhook,
        statuses: &statuses(&listed.stats, status),
        deliveries: &deliveries,
        paging: &Paging { path: format!("{WEBHOOKS}/{}/deliveries", webhook.id), filter, page, total: listed.total },
    };
    Ok(list.html())
}

/// The filters of the list: all deliveries, and those of each status.
fn statuses(stats: &wire::DeliveryStats, chosen: Option<DeliveryStatus>) -> Vec<StatusFilter> {
    let count = |status| match status {
        None => stats.pending + stats.delivered + stats.failed + stats.skipped,
        Some(DeliveryStatus::Pending) => stats.pending,
        Some(DeliveryStatus::Delivered) => stats.delivered,
        Some(DeliveryStatus::Failed) => stats.failed,
        Some(DeliveryStatus::Skipped) => stats.skipped,
    };
    let all = [None].into_iter().chain(DeliveryStatus::ALL.map(Some));
    let filter = |status: Option<DeliveryStatus>| StatusFilter {
        state: status.map(state_of),
        name: status.map_or("", DeliveryStatus::as_str),
        count: count(status),
        is_chosen: status == chosen,
    };
    all.map(filter).collect()
}

/// `GET /console/webhooks/{id}/deliveries/{delivery}`
async fn show(
    app: Service,
    caller: Caller,
    path: PathOf<(String, String)>,
    asked: AskedOf<Asked>,
) -> Result<Response, ApiError> {
    let (id, delivery) = path.0;
    match render_one(&app, &caller.0, (&id, &delivery), Asked::of(asked).done()).await {
        Ok(text) => Ok(page(StatusCode::OK, text)),
        Err(refusal) => refused(refusal, TO_LIST),
    }
}

async fn render_one(app: &App, caller: &Actor, (id, delivery): (&str, &str), done: Done) -> Result<String, Refusal> {
    let webhook = app.webhook(caller, id).await?;
    let delivery = app.delivery(caller, &webhook, delivery).await?;
    let payload = delivery.payload.as_ref().and_then(Option::as_ref).map(|payload| pretty_json(payload.get()));
    let shown = DeliveryPage {
        shell: &shell(caller, Place::Webhooks)?,
        done,
        may_retry: caller.may(&operations::RETRY_DELIVERY),
        webhook: &webhook.id.to_string(),
        is_active: webhook.active,
        delivery: &shown_delivery(&delivery),
        payload: payload.as_deref(),
        once: &new_once(app.entropy()),
    };
    Ok(shown.html())
}

/// `POST /console/webhooks/{id}/deliveries/{delivery}/retry`. A form that is sent twice sends the message once.
async fn retry(app: Service, path: PathOf<(String, String)>, mut form: OwnForm) -> Result<Response, ApiError> {
    let (id, delivery) = path.0;
    match form.once(&app, async |caller: &Actor| app.retry_delivery(caller, &id, &delivery).await).await {
        Ok(_) => {
            let (id, delivery) = (segment(&id), segment(&delivery));
            Ok(see_other(&format!("{WEBHOOKS}/{id}/deliveries/{delivery}?done=retrying"), None))
        }
        Err(refusal) => refused(refusal, TO_LIST),
    }
}

/// Somebody reloads the address of a form about a delivery.
async fn back(path: PathOf<(String, String)>) -> Response {
    let (id, delivery) = path.0;
    see_other(&format!("{WEBHOOKS}/{}/deliveries/{}", segment(&id), segment(&delivery)), None)
}
