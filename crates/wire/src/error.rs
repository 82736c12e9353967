//! The envelope of every error (ruling 2.1).

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{Conflict, Slot};

/// The body of every answer that is not a success.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({ "error": {
    "type": "validation_error",
    "message": "end_time: must be after the start (2026-03-02T10:00:00Z), got 2026-03-02T09:00:00Z",
    "request_id": "req_01jn8r6v9ke0bt3m5qz2c7xwdh",
    "param": "end_time",
    "code": "end_before_start"
} }))]
pub struct ErrorEnvelope {
    /// What went wrong.
    pub error: ErrorBody,
}

/// What went wrong.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct ErrorBody {
    /// The kind of error, from the specification's table.
    pub r#type: Cow<'static, str>,
    /// What was wrong, what is allowed and what was got.
    pub message: String,
    /// The same as the `X-Request-Id` header.
    pub request_id: String,
    /// The field or parameter at fault, as a path such as `slots[2].end_time`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub param: Option<String>,
    /// A finer, stable name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<Cow<'static, str>>,
    /// `plan_required`: the least plan that has the feature.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub required_plan: Option<Cow<'static, str>>,
    /// `plan_required`: the feature.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub feature: Option<Cow<'static, str>>,
    /// `plan_required`: where to change the plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upgrade_url: Option<String>,
    /// `plan_required`: where the feature is described.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub docs_url: Option<String>,
    /// `slot_taken` and `stale`: what stands in the way, by calendar and start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conflicts: Option<Vec<Conflict>>,
    /// `slot_taken` and `stale`: up to three times of the same length that are free, the nearest first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nearest_free: Option<Vec<Slot>>,
    /// `tos_version_stale`: the version to accept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub current_version: Option<String>,
}

impl ErrorBody {
    /// An error without any of the optional parts.
    pub const fn new(r#type: &'static str, message: String, request_id: String) -> Self {
        Self {
            r#type: Cow::Borrowed(r#type),
            message,
            request_id,
            param: None,
            code: None,
            required_plan: None,
            feature: None,
            upgrade_url: None,
            docs_url: None,
            conflicts: None,
            nearest_free: None,
            current_version: None,
        }
    }
}
