//! The state of the server.

use std::sync::Arc;

use axum::response::Response;
use http::StatusCode;
use kalends_app::App;
use kalends_web::{OperatorCount, OperatorOverview, OperatorPlace};

use super::{super::shown::page, figures::Figures, session::Operator};
use crate::Service;

/// `GET /console/operator`
pub(super) async fn show(app: Service, operator: Operator) -> Response {
    page(StatusCode::OK, render(&app, &operator).await)
}

/// The page. It is shown even if the database does not answer.
async fn render(app: &Arc<App>, operator: &Operator) -> String {
    let is_ready = app.ready().await.is_ok();
    let activity = if is_ready { app.activity_of_server().await.ok() } else { None };
    let count = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
    let webhooks = activity.map(|activity| activity.webhooks).unwrap_or_default();
    // Nothing is known of the queues if the database does not answer.
    let queues = [
        OperatorCount { title: "Messages to be addressed", count: webhooks.waiting },
        OperatorCount { title: "Deliveries to be sent, now or later", count: webhooks.pending },
    ];
    let figures = Figures::read();
    let deployment = &app.settings().deployment;
    let shown = OperatorOverview {
        shell: &operator.shell(OperatorPlace::Overview),
        version: deployment.version,
        database: deployment.database,
        schema: deployment.schema,
        is_ready,
        started_at: deployment.started_at,
        now: app.now(),
        organizations: activity.map(|activity| (count(activity.organizations), count(activity.waiting))),
        queues: if activity.is_some() { &queues } else { &[] },
        oldest_due: webhooks.oldest_due,
        letters: &figures.letters(),
        duties: &figures.duties(),
    };
    shown.html()
}
