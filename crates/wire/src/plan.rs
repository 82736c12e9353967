//! The plans that `GET /v1/plans` returns.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

#[cfg(feature = "schema")]
use crate::schemas::PublicPlanName;
use crate::{derives::ToSchema, patch::given};

#[cfg(feature = "parse")]
mod parse;

/// The public plans.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct Plans {
    /// The plans, smallest first.
    pub plans: Vec<Plan>,
}

/// Limits by metric. Null means unlimited.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(
    value_type = BTreeMap<String, Option<u64>>,
    example = json!({ "agents": 3, "calendars": 10, "events": 2500, "proposals": 0 })
)]
#[serde(transparent)]
pub struct PlanLimits(pub Map<String, Value>);

/// A plan.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct Plan {
    /// The plan: `free`, `pro` or `custom`.
    #[schema(value_type = PublicPlanName)]
    pub id: Cow<'static, str>,
    /// The display name.
    pub name: Cow<'static, str>,
    /// A one-line description.
    pub tagline: Cow<'static, str>,
    /// The price per month, in the currency's smallest unit. Null if the operator sets it.
    pub price: Option<u32>,
    /// The currency, as a lower-case ISO 4217 code.
    pub currency: Option<Cow<'static, str>>,
    /// Limits by metric. Null if they are negotiated.
    pub limits: Option<PlanLimits>,
    /// The plan's features, as text to display. Do not check capabilities with it.
    pub display_features: Vec<Cow<'static, str>>,
    /// Whether this is the suggested plan.
    pub recommended: bool,
    /// True on `custom`. Otherwise absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub custom_pricing: Option<bool>,
    /// The page on which to ask about the plan. Only on `custom`; null if the operator has not set one.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub contact_url: Option<Option<String>>,
}
