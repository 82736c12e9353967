//! The plans that `GET /v1/plans` returns.

use std::borrow::Cow;

use kalends_quotas::{Plan as Domain, PublicPlan};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::{patch::given, schemas::PublicPlanName};

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

impl Plans {
    /// Lists the public plans. `contact_url` is the page for questions about the custom plan, if there is one.
    pub fn public(contact_url: Option<&str>) -> Self {
        Self { plans: Domain::PUBLIC.into_iter().map(|plan| Plan::new(plan, contact_url)).collect() }
    }
}

impl Plan {
    fn new(public: PublicPlan, contact_url: Option<&str>) -> Self {
        let custom = public.plan == Domain::Custom;
        Self {
            id: public.plan.as_str().into(),
            name: public.name.into(),
            tagline: public.tagline.into(),
            price: public.price,
            currency: public.currency.map(Cow::Borrowed),
            limits: (!custom).then(|| PlanLimits(public.plan.limits().public())),
            display_features: public.display_features.iter().copied().map(Cow::Borrowed).collect(),
            recommended: public.recommended,
            custom_pricing: custom.then_some(true),
            contact_url: custom.then(|| contact_url.map(str::to_owned)),
        }
    }
}
