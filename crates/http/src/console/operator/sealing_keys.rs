//! The keys that seal the stored fields.

use axum::response::Response;
use http::StatusCode;
use kalends_app::ports::DataKeyState;
use kalends_web::{OperatorDataKey, OperatorKeys, OperatorPlace};

use super::{super::shown::page, overview::in_time, session::Operator};
use crate::Service;

/// `GET /console/operator/keys`
pub(super) async fn show(app: Service, operator: Operator) -> Response {
    let found = in_time("data keys", app.sealing_keys()).await;
    let found = found.map(|keys| keys.into_iter().map(|key| (key.id.to_string(), key)).collect::<Vec<_>>());
    let keys: Option<Vec<_>> = found.as_ref().map(|found| {
        let shown = found.iter().map(|(id, key)| OperatorDataKey {
            id,
            made_at: key.created_at,
            seals: key.state == DataKeyState::Writing,
            resealed_at: key.resealed_at,
            master: &key.master,
        });
        shown.collect()
    });
    let shell = operator.shell(OperatorPlace::Keys);
    page(StatusCode::OK, OperatorKeys { shell: &shell, keys: keys.as_deref() }.html())
}
