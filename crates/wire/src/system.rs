//! The service's health.

use std::borrow::Cow;

use kalends_time::Timestamp;
use serde::{Deserialize, Serialize};

use crate::derives::ToSchema;
#[cfg(feature = "schema")]
use crate::schemas::HealthStatus;

/// The answer of `GET /health`.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({ "status": "ok", "ts": "2026-03-02T08:00:00Z" }))]
pub struct Health {
    /// Always `ok`.
    #[schema(value_type = HealthStatus)]
    pub status: Cow<'static, str>,
    /// The server's current time.
    #[schema(value_type = String, format = DateTime)]
    pub ts: Timestamp,
}
