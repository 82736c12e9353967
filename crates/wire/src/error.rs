//! The envelope of every error (ruling 2.1).

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::{
    Conflict, ErrorCode, Slot,
    patch::given,
    schemas::{FeatureName, RequiredPlan},
};

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

macro_rules! error_types {
    ($($(#[$doc:meta])* $name:ident = $text:tt,)*) => {
        /// The kinds of errors: the service answers with no others.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
        pub enum ErrorType { $($(#[$doc])* #[serde(rename = $text)] $name,)* }

        impl ErrorType {
            /// The name in the JSON.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }
        }
    };
}

// What differs in name alone differs in the specification (ruling 2.2).
error_types! {
    /// No key, or none in force.
    Unauthorized = "unauthorized",
    /// No session, or a wrong password.
    AuthenticationError = "authentication_error",
    /// Not the caller's to do.
    Forbidden = "forbidden",
    /// The organization waits to be let in.
    AccountWaitlisted = "account_waitlisted",
    /// The plan does not include it.
    PlanRequired = "plan_required",
    /// A limit of the plan is reached.
    QuotaExceeded = "quota_exceeded",
    /// Too fast.
    RateLimitError = "rate_limit_error",
    /// Too many exports.
    RateLimited = "rate_limited",
    /// No such thing in the caller's organization, or no such route.
    NotFound = "not_found",
    /// The state does not allow it.
    Conflict = "conflict",
    /// Other terms are in force than those that were accepted.
    TosVersionStale = "tos_version_stale",
    /// A field or parameter is not valid.
    ValidationError = "validation_error",
    /// The same, below `/v1/scheduling`.
    Validation = "validation",
    /// The same, at `/v1/availability`.
    BadRequest = "bad_request",
    /// The request itself is malformed: no JSON, too long, too late.
    InvalidRequest = "invalid_request",
    /// The service failed, or could not answer just now.
    InternalError = "internal_error",
}

/// What went wrong.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct ErrorBody {
    /// The kind of error, from the specification's table.
    // Text, so that whoever reads it bears kinds that are yet to come.
    #[schema(value_type = ErrorType)]
    pub r#type: Cow<'static, str>,
    /// What was wrong, what is allowed and what was got.
    pub message: String,
    /// The same as the `X-Request-Id` header.
    pub request_id: String,
    /// The field or parameter at fault, as a path such as `slots[2].end_time`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub param: Option<String>,
    /// A finer, stable name. Every error has one.
    // Text that may be missing, so that a client bears services that are older or newer than it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = ErrorCode, required = true)]
    pub code: Option<Cow<'static, str>>,
    /// `plan_required`: the least plan that has the feature.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<RequiredPlan>)]
    pub required_plan: Option<Cow<'static, str>>,
    /// `plan_required`: the feature.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<FeatureName>)]
    pub feature: Option<Cow<'static, str>>,
    /// `plan_required`: where to change the plan; null if the operator names no such page.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub upgrade_url: Option<Option<String>>,
    /// `plan_required`: where the feature is described.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub docs_url: Option<String>,
    /// `slot_taken` and `stale`: what stands in the way, by calendar and start.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "known")]
    pub conflicts: Option<Vec<Conflict>>,
    /// `slot_taken` and `stale`: up to three times of the same length that are free, the nearest first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nearest_free: Option<Vec<Slot>>,
    /// `tos_version_stale`: the version to accept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub current_version: Option<String>,
}

/// Reads what is known here: the refusal itself is to be understood where a newer service names another kind of obstacle.
fn known<'de, D: Deserializer<'de>>(field: D) -> Result<Option<Vec<Conflict>>, D::Error> {
    let told = Option::<Vec<Value>>::deserialize(field)?;
    Ok(told.map(|all| all.into_iter().filter_map(|one| serde_json::from_value(one).ok()).collect()))
}

impl ErrorBody {
    /// An error without any of the optional parts.
    pub fn new(r#type: ErrorType, code: ErrorCode, message: String, request_id: String) -> Self {
        Self {
            r#type: Cow::Borrowed(r#type.as_str()),
            message,
            request_id,
            param: None,
            code: Some(code.name()),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_read_where_an_obstacle_is_unknown() {
        let known = serde_json::json!({
            "calendar_id": "cal_01jn8r7d2xe9tvn4a6k8m0pqrs", "kind": "event",
            "start": "2026-03-02T09:00:00Z", "end": "2026-03-02T10:00:00Z"
        });
        let mut unknown = known.clone();
        unknown["kind"] = "meteor".into();
        let told = serde_json::json!({
            "type": "conflict", "message": "…", "request_id": "req_1", "code": "slot_taken", "conflicts": [unknown, known]
        });
        let read: ErrorBody = serde_json::from_value(told).unwrap();
        assert_eq!((read.code.as_deref(), read.conflicts.map(|all| all.len())), (Some("slot_taken"), Some(1)));
    }
}
