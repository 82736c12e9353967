//! What the organization used, and what its plan allows.

use std::sync::Arc;

use axum::{Router, response::Response, routing::get};
use http::StatusCode;
use kalends_app::{Actor, App, MonthlyUse, Refusal, operations};
use kalends_plans::{Counted, Metric, Used};
use kalends_web::{Place, UsagePage, UsedMetric, UsedMonths};

use super::{
    frame::shell,
    places::{Form, HOME, USAGE},
    shown::{page, refused},
};
use crate::{Service, error::ApiError, extract::Caller};

/// The page with its operation.
pub(super) const OPERATIONS: &[Form] = &[("GET", USAGE, &operations::USAGE)];

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new().route(USAGE, get(show))
}

/// `GET /console/usage`
async fn show(app: Service, caller: Caller) -> Result<Response, ApiError> {
    match render(&app, &caller.0).await {
        Ok(text) => Ok(page(StatusCode::OK, text)),
        Err(refusal) => refused(refusal, (HOME, "Go to the overview")),
    }
}

async fn render(app: &App, caller: &Actor) -> Result<String, Refusal> {
    let (report, months) = app.usage_with_months(caller).await?;
    let metrics: Vec<_> = report.iter().map(used).collect();
    let (used_ones, others): (Vec<_>, Vec<_>) = months.into_iter().partition(was_used);
    let history: Vec<_> = used_ones.into_iter().map(history_of).collect();
    let unused: Vec<_> = others.into_iter().map(|others| others.metric.title()).collect();
    let shown = UsagePage {
        shell: &shell(caller, Place::Usage)?,
        plan: report.plan,
        rate_per_second: caller.principal.limits.rate_per_second(),
        resets_at: report.period_end(),
        metrics: &metrics,
        history: &history,
        unused: &unused,
    };
    Ok(shown.html())
}

/// The use of a metric, as pages show it.
pub(super) fn used((metric, used): (Metric, Used)) -> UsedMetric<'static> {
    UsedMetric {
        title: metric.title(),
        monthly: metric.counted() == Counted::Monthly,
        used: used.used,
        limit: used.limit,
        at_limit: metric.at_limit(),
    }
}

/// Whether something of a metric was used in any month.
fn was_used(of: &MonthlyUse) -> bool {
    of.months.iter().any(|(_, used)| *used > 0)
}

fn history_of(of: MonthlyUse) -> UsedMonths<'static> {
    let months = of.months.into_iter().map(|(month, used)| (month.to_string(), used)).collect();
    UsedMonths { title: of.metric.title(), months }
}
