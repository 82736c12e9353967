//! The settings of the server.

use axum::response::Response;
use http::StatusCode;
use kalends_web::{OperatorConfiguration, OperatorPlace, OperatorSetting};

use super::{super::shown::page, session::Operator};
use crate::Service;

/// `GET /console/operator/configuration`
pub(super) async fn show(app: Service, operator: Operator) -> Response {
    let listed = app.settings().deployment.settings.iter();
    let settings: Vec<_> = listed
        .map(|setting| OperatorSetting { name: setting.name, value: &setting.value, source: &setting.source })
        .collect();
    let shell = operator.shell(OperatorPlace::Configuration);
    page(StatusCode::OK, OperatorConfiguration { shell: &shell, settings: &settings }.html())
}
