//! The envelope of every error.

use std::borrow::Cow;

use kalends_time::Timestamp;
use serde::{Deserialize, Deserializer, Serialize, de::DeserializeOwned};
use serde_json::Value;

#[cfg(feature = "parse")]
use crate::ErrorCode;
#[cfg(feature = "schema")]
use crate::schemas::{FeatureName, RequiredPlan};
use crate::{Conflict, InTheWay, Slot, derives::ToSchema, patch::given};

/// The body of every error response.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({ "error": {
    "type": "validation_error",
    "message": "end_time: must be after the start (2026-03-02T10:00:00Z), got 2026-03-02T09:00:00Z",
    "request_id": "req_01jn8r6v9ke0bt3m5qz2c7xwdh",
    "param": "end_time",
    "code": "end_before_start"
} }))]
pub struct ErrorEnvelope {
    /// The error.
    pub error: ErrorBody,
}

macro_rules! error_types {
    ($($(#[$doc:meta])* $name:ident = $text:tt,)*) => {
        /// The type of an error. The service returns no other types.
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

// Some types differ in name alone, because the routes that return them promise those names.
error_types! {
    /// The API key is missing or not valid.
    Unauthorized = "unauthorized",
    /// There is no session, or the password is wrong.
    AuthenticationError = "authentication_error",
    /// The caller may not do this.
    Forbidden = "forbidden",
    /// The organization is on the waiting list.
    AccountWaitlisted = "account_waitlisted",
    /// The plan does not include the feature.
    PlanRequired = "plan_required",
    /// A limit of the plan is reached.
    QuotaExceeded = "quota_exceeded",
    /// The caller sends requests too fast.
    RateLimitError = "rate_limit_error",
    /// Too many exports.
    RateLimited = "rate_limited",
    /// The resource does not exist in the caller's organization, or the route does not exist.
    NotFound = "not_found",
    /// The current state does not allow the request.
    Conflict = "conflict",
    /// The accepted terms are not the current ones.
    TosVersionStale = "tos_version_stale",
    /// A field or parameter is invalid.
    ValidationError = "validation_error",
    /// A field or parameter is invalid (routes below `/v1/scheduling`).
    Validation = "validation",
    /// A field or parameter is invalid (`/v1/availability`).
    BadRequest = "bad_request",
    /// The request itself is malformed: it is not JSON, too large or too slow.
    InvalidRequest = "invalid_request",
    /// The service failed or could not answer at the moment.
    InternalError = "internal_error",
}

/// An error.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct ErrorBody {
    /// The type of the error.
    // A string, so that a client can read types that are added later.
    #[schema(value_type = ErrorType)]
    pub r#type: Cow<'static, str>,
    /// What is wrong, what is allowed and what was received.
    pub message: String,
    /// The request's identifier, which is also in the `X-Request-Id` header.
    pub request_id: String,
    /// The path of the invalid field or parameter, such as `slots[2].end_time`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub param: Option<String>,
    /// A more specific, stable name. Every error has one.
    // An optional string, so that a client can read answers of older and newer services.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = ErrorCode, required = true)]
    pub code: Option<Cow<'static, str>>,
    /// `plan_required`: the smallest plan that includes the feature.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<RequiredPlan>)]
    pub required_plan: Option<Cow<'static, str>>,
    /// `plan_required`: the name of the feature.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<FeatureName>)]
    pub feature: Option<Cow<'static, str>>,
    /// `plan_required`: the page on which to change the plan. Null if the operator has not set one.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub upgrade_url: Option<Option<String>>,
    /// `plan_required`: the page that describes the feature.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub docs_url: Option<String>,
    /// `slot_taken` and `stale`: what blocks the time, sorted by calendar and start.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "known")]
    pub conflicts: Option<Vec<Conflict>>,
    /// `slot_taken` and `stale`: up to three free times of the same length, nearest first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nearest_free: Option<Vec<Slot>>,
    /// `slot_taken` for a series: the starts of its occurrences whose time something blocks, at most 20.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<String>>)]
    pub occurrences: Option<Vec<Timestamp>>,
    /// `run_changed`: the resources that keep the run from being taken back.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "known")]
    pub in_the_way: Option<Vec<InTheWay>>,
    /// `tos_version_stale`: the version to accept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub current_version: Option<String>,
}

/// Reads the entries of a known kind and drops the others, so that an error of a newer service stays readable.
fn known<'de, D: Deserializer<'de>, T: DeserializeOwned>(field: D) -> Result<Option<Vec<T>>, D::Error> {
    let entries = Option::<Vec<Value>>::deserialize(field)?;
    Ok(entries.map(|all| all.into_iter().filter_map(|one| serde_json::from_value(one).ok()).collect()))
}

#[cfg(feature = "parse")]
impl ErrorBody {
    /// Builds an error without the optional fields.
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
            occurrences: None,
            in_the_way: None,
            current_version: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_with_a_conflict_of_an_unknown_kind_is_readable() {
        let known = serde_json::json!({
            "calendar_id": "cal_01jn8r7d2xe9tvn4a6k8m0pqrs", "kind": "event",
            "start": "2026-03-02T09:00:00Z", "end": "2026-03-02T10:00:00Z"
        });
        let mut unknown = known.clone();
        unknown["kind"] = "meteor".into();
        let body = serde_json::json!({
            "type": "conflict", "message": "…", "request_id": "req_1", "code": "slot_taken", "conflicts": [unknown, known]
        });
        let read: ErrorBody = serde_json::from_value(body).unwrap();
        assert_eq!((read.code.as_deref(), read.conflicts.map(|all| all.len())), (Some("slot_taken"), Some(1)));
    }
}
