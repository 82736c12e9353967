//! The state of the server.

use std::{error::Error, sync::Arc, time::Duration};

use axum::response::Response;
use http::StatusCode;
use kalends_app::{Activity, App, Refusal};
use kalends_web::{OperatorBackup, OperatorCount, OperatorOverview, OperatorPlace};
use tokio::time::timeout;

use super::{super::shown::page, figures::Figures, session::Operator};
use crate::Service;

/// How long the figures may take. The request ends later, so that the page is shown without them.
const FIGURES_WITHIN: Duration = Duration::from_secs(10);

/// `GET /console/operator`
pub(super) async fn show(app: Service, operator: Operator) -> Response {
    page(StatusCode::OK, render(&app, &operator).await)
}

/// What the database says; `None` if it does not say so in time. `what` is for the log.
pub(super) async fn in_time<T>(what: &'static str, read: impl Future<Output = Result<T, Refusal>>) -> Option<T> {
    match timeout(FIGURES_WITHIN, read).await {
        Ok(Ok(read)) => Some(read),
        Ok(Err(refusal)) => {
            tracing::error!(error = &refusal as &dyn Error, what, "a figure of the operator's page cannot be read");
            None
        }
        Err(late) => {
            tracing::error!(error = &late as &dyn Error, what, "a figure of the operator's page takes too long");
            None
        }
    }
}

/// Whether the database answers, and takes writes.
async fn is_ready(app: &App) -> bool {
    let ready = app.ready().await;
    if let Err(refusal) = &ready {
        tracing::error!(error = refusal as &dyn Error, "the database is not ready");
    }
    ready.is_ok()
}

/// The page. It is shown even if the database does not answer.
async fn render(app: &Arc<App>, operator: &Operator) -> String {
    let is_ready = is_ready(app).await;
    let (activity, bytes, backup) = tokio::join!(
        in_time("activity", app.activity_of_server()),
        in_time("database size", app.database_bytes()),
        in_time("last backup", app.last_backup()),
    );
    let backup = match backup {
        None => OperatorBackup::Unread,
        Some(None) => OperatorBackup::Unknown,
        Some(Some(at)) => OperatorBackup::MadeAt(at),
    };
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
        bytes: bytes.flatten(),
        backup,
        is_ready,
        started_at: deployment.started_at,
        now: app.now(),
        organizations: activity.map(|Activity { organizations, .. }| (organizations.total, organizations.waiting)),
        queues: if activity.is_some() { &queues } else { &[] },
        oldest_due: webhooks.oldest_due,
        keeps_mail: deployment.keeps_mail,
        letters: &figures.letters(),
        duties: &figures.duties(),
    };
    shown.html()
}
