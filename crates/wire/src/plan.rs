//! The plans as `GET /v1/plans` lists them.

use std::borrow::Cow;

use kalends_quotas::{Plan as Domain, PublicPlan};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::{patch::given, schemas::PublicPlanName};

/// The plans that anybody may choose.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct Plans {
    /// From the smallest to the largest.
    pub plans: Vec<Plan>,
}

/// Limits by metric; null is unlimited.
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
    /// `free`, `pro` or `custom`.
    #[schema(value_type = PublicPlanName)]
    pub id: Cow<'static, str>,
    /// The display name.
    pub name: Cow<'static, str>,
    /// One line.
    pub tagline: Cow<'static, str>,
    /// A month's price in the currency's smallest unit; null where the operator sets it.
    pub price: Option<u32>,
    /// Lower-case ISO 4217.
    pub currency: Option<Cow<'static, str>>,
    /// Limits by metric; null where they are negotiated.
    pub limits: Option<PlanLimits>,
    /// What the plan offers, in words; not for capability checks.
    pub display_features: Vec<Cow<'static, str>>,
    /// Whether the plan is the suggested one.
    pub recommended: bool,
    /// True on `custom` only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub custom_pricing: Option<bool>,
    /// Where to ask; on `custom` only, null if the operator names no such page.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub contact_url: Option<Option<String>>,
}

impl Plans {
    /// The public plans; `contact_url` answers questions about the custom one, if there is such a page.
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
