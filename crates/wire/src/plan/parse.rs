//! Builds the answers from values of the domain.

use std::borrow::Cow;

use kalends_plans::{Plan as Domain, PublicPlan};

use super::{Plan, PlanLimits, Plans};

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
