//! The keys that seal the stored fields.

use axum::{
    extract::{Query, rejection::QueryRejection},
    response::Response,
};
use http::StatusCode;
use kalends_app::{TO_RESEAL_COUNTED, ports::DataKeyState};
use kalends_web::{OperatorDataKey, OperatorKeys, OperatorOldValues, OperatorPlace};
use serde::Deserialize;

use super::{super::shown::page, overview::in_time, session::Operator};
use crate::Service;

/// What the address of the page says.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Asked {
    /// Whether to count the values that the current key did not seal: `1` if so.
    #[serde(default)]
    count: String,
}

/// `GET /console/operator/keys`
pub(super) async fn show(app: Service, operator: Operator, query: Result<Query<Asked>, QueryRejection>) -> Response {
    let asked = query.map(|query| query.0).unwrap_or_default();
    let found = in_time("data keys", app.sealing_keys()).await;
    let old_values = if asked.count == "1" {
        match in_time("values to seal again", app.count_to_reseal()).await {
            Some(count) => OperatorOldValues::Counted { count, max: u64::from(TO_RESEAL_COUNTED) },
            None => OperatorOldValues::Unknown,
        }
    } else {
        OperatorOldValues::NotCounted
    };
    let found = found.map(|keys| keys.into_iter().map(|key| (key.id.to_string(), key)).collect::<Vec<_>>());
    let keys: Option<Vec<_>> = found.as_ref().map(|found| {
        let shown = found.iter().map(|(id, key)| OperatorDataKey {
            id,
            made_at: key.created_at,
            seals: key.state == DataKeyState::Writing,
            master: &key.master,
        });
        shown.collect()
    });
    let shell = operator.shell(OperatorPlace::Keys);
    page(StatusCode::OK, OperatorKeys { shell: &shell, keys: keys.as_deref(), old_values }.html())
}
