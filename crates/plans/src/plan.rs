//! The plans, with their limits and features.

use kalends_quotas::Rate;

use crate::{Limits, Metric};

/// How often a wrong password may be tried for one account, over all addresses together.
///
/// An attacker with many addresses gets past every limit by address. This limit is by account.
pub const SIGN_IN_FAILURES: Rate = Rate::per_minute(10);

/// A plan. Plans that are not in [`Plan::PUBLIC`] are internal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Plan {
    /// An agent that signed up and has not verified its email address: the sandbox.
    FreeAgentUnverified,
    /// An agent that signed up and has verified its address.
    FreeAgent,
    /// Free.
    Free,
    /// Paid.
    Pro,
    /// Negotiated.
    Custom,
}

/// A feature that a plan may have, in addition to its limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Feature {
    /// Scheduling proposals.
    Scheduling,
    /// Agent-scoped keys.
    ScopedKeys,
    /// Availability across several agents.
    CrossAgentAvailability,
    /// Holds.
    Holds,
    /// Series without an end within 90 days.
    UnboundedRecurrence,
}

impl Feature {
    /// Every feature.
    pub const ALL: [Self; 5] =
        [Self::Scheduling, Self::ScopedKeys, Self::CrossAgentAvailability, Self::Holds, Self::UnboundedRecurrence];

    /// The lowest plan that has the feature, as `plan_required` responses name it.
    pub const fn required_plan(self) -> Plan {
        match self {
            Self::Scheduling
            | Self::ScopedKeys
            | Self::CrossAgentAvailability
            | Self::Holds
            | Self::UnboundedRecurrence => Plan::Pro,
        }
    }

    /// The additional fields of a `plan_required` error. The caller supplies the URLs of the page on which to choose
    /// a plan, if there is one, and of the documentation of features.
    pub const fn plan_required<'a>(self, upgrade_url: Option<&'a str>, docs_url: &'a str) -> PlanRequired<'a> {
        PlanRequired { required_plan: self.required_plan().as_str(), feature: self.as_str(), upgrade_url, docs_url }
    }

    /// The name in `plan_required` responses.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Scheduling => "scheduling",
            Self::ScopedKeys => "scoped_keys",
            Self::CrossAgentAvailability => "cross_agent_availability",
            Self::Holds => "holds",
            Self::UnboundedRecurrence => "unbounded_recurrence",
        }
    }
}

/// The additional fields of a 403 `plan_required` error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlanRequired<'a> {
    /// The lowest plan that has the feature.
    pub required_plan: &'static str,
    /// The feature that the current plan lacks.
    pub feature: &'static str,
    /// The page on which to choose a plan; `None` if there is none.
    pub upgrade_url: Option<&'a str>,
    /// The documentation of the feature.
    pub docs_url: &'a str,
}

/// How a plan is presented. This is marketing text; do not use it to check capabilities.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PublicPlan {
    /// The plan.
    pub plan: Plan,
    /// Its display name.
    pub name: &'static str,
    /// One line of description.
    pub tagline: &'static str,
    /// The price per month in the currency's smallest unit; `None` if the operator sets it.
    pub price: Option<u32>,
    /// The lower-case ISO 4217 code.
    pub currency: Option<&'static str>,
    /// The features of the plan, in words.
    pub display_features: &'static [&'static str],
    /// Whether the plan is the suggested one.
    pub recommended: bool,
}

impl Plan {
    /// Every plan.
    pub const ALL: [Self; 5] = [Self::FreeAgentUnverified, Self::FreeAgent, Self::Free, Self::Pro, Self::Custom];

    /// The plans that `GET /v1/plans` lists.
    pub const PUBLIC: [PublicPlan; 3] = [
        PublicPlan {
            plan: Self::Free,
            name: "Free",
            tagline: "For a first agent and its calendar",
            price: Some(0),
            currency: Some("usd"),
            display_features: &[
                "3 agents and 10 calendars",
                "2,500 events a month",
                "Availability of an agent or a calendar",
                "iCal feeds and webhooks",
            ],
            recommended: false,
        },
        PublicPlan {
            plan: Self::Pro,
            name: "Pro",
            tagline: "For teams of agents that schedule together",
            price: None,
            currency: None,
            display_features: &[
                "50 agents and 250 calendars",
                "125,000 events a month",
                "Availability across agents, holds and proposals",
                "Agent-scoped keys",
            ],
            recommended: true,
        },
        PublicPlan {
            plan: Self::Custom,
            name: "Custom",
            tagline: "For everything larger",
            price: None,
            currency: None,
            display_features: &["Negotiated limits", "All features"],
            recommended: false,
        },
    ];

    /// The name in stores and operator commands.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::FreeAgentUnverified => "free-agent-unverified",
            Self::FreeAgent => "free-agent",
            Self::Free => "free",
            Self::Pro => "pro",
            Self::Custom => "custom",
        }
    }

    /// The plan with that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|plan| plan.as_str() == name)
    }

    /// The name in `X-Service-Plan` and in usage reports. The three free plans share one name, and `custom` is shown
    /// as `scale`.
    pub const fn public_name(self) -> &'static str {
        match self {
            Self::FreeAgentUnverified | Self::FreeAgent | Self::Free => "free",
            Self::Pro => "pro",
            Self::Custom => "scale",
        }
    }

    /// The plan's limits.
    pub const fn limits(self) -> Limits {
        match self {
            // The sandbox has the same limits as Free for every metric without a sandbox limit of its own.
            Self::FreeAgentUnverified => Limits::of([1, 1, 10, 1_000, 25, 50, 1, 0, 1, 0, 5, 1, 1_000], 10),
            Self::FreeAgent | Self::Free => {
                Limits::of([3, 10, 2_500, 50_000, 5_000, 10_000, 5, 0, 3, 0, 5, 1, 5_000], 10)
            }
            Self::Pro => {
                Limits::of([50, 250, 125_000, 1_000_000, 250_000, 1_000_000, 100, 0, 25, 50, 250, 25, 100_000], 50)
                    .without(Metric::Proposals)
            }
            Self::Custom => Limits::unlimited(Some(200)),
        }
    }

    /// Whether the plan has a feature.
    pub const fn has(self, feature: Feature) -> bool {
        match feature {
            Feature::Scheduling
            | Feature::ScopedKeys
            | Feature::CrossAgentAvailability
            | Feature::Holds
            | Feature::UnboundedRecurrence => matches!(self, Self::Pro | Self::Custom),
        }
    }

    /// Whether holds may last up to 7 days instead of 15 minutes.
    pub const fn has_long_holds(self) -> bool {
        matches!(self, Self::Custom)
    }

    /// The maximum number of agents and of days in one cross-agent availability query.
    pub const fn availability_range(self) -> (usize, i64) {
        match self {
            Self::FreeAgentUnverified | Self::FreeAgent | Self::Free => (5, 30),
            Self::Pro => (20, 90),
            Self::Custom => (50, 365),
        }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    /// The table of limits, written a second time so that a slip in either place shows.
    #[rstest]
    #[case(Metric::Agents, 1, 3, 50)]
    #[case(Metric::Calendars, 1, 10, 250)]
    #[case(Metric::Events, 10, 2_500, 125_000)]
    #[case(Metric::ApiCalls, 1_000, 50_000, 1_000_000)]
    #[case(Metric::WebhookDeliveries, 25, 5_000, 250_000)]
    #[case(Metric::AvailabilityQueries, 50, 10_000, 1_000_000)]
    #[case(Metric::IcalSubscriptions, 1, 5, 100)]
    #[case(Metric::WebhookEndpoints, 1, 3, 25)]
    #[case(Metric::ScopedKeys, 0, 0, 50)]
    #[case(Metric::RecurringEvents, 5, 5, 250)]
    #[case(Metric::BookingPages, 1, 1, 25)]
    #[case(Metric::ImportedEvents, 1_000, 5_000, 100_000)]
    fn every_plan_has_its_limits(#[case] metric: Metric, #[case] sandbox: u64, #[case] free: u64, #[case] pro: u64) {
        assert_eq!(Plan::FreeAgentUnverified.limits().get(metric), Some(sandbox));
        assert_eq!(Plan::FreeAgent.limits().get(metric), Some(free));
        assert_eq!(Plan::Free.limits().get(metric), Some(free));
        assert_eq!(Plan::Pro.limits().get(metric), Some(pro));
        assert_eq!(Plan::Custom.limits().get(metric), None);
    }

    #[test]
    fn proposals_are_unlimited_on_paid_plans_only() {
        assert_eq!(Plan::Free.limits().get(Metric::Proposals), Some(0));
        assert_eq!(Plan::Pro.limits().get(Metric::Proposals), None);
    }

    #[rstest]
    #[case(Plan::FreeAgentUnverified, 10, (5, 30))]
    #[case(Plan::FreeAgent, 10, (5, 30))]
    #[case(Plan::Free, 10, (5, 30))]
    #[case(Plan::Pro, 50, (20, 90))]
    #[case(Plan::Custom, 200, (50, 365))]
    fn every_plan_has_its_rate_and_range(#[case] plan: Plan, #[case] per_second: u32, #[case] range: (usize, i64)) {
        assert_eq!(plan.limits().rate_per_second(), Some(per_second));
        assert_eq!(plan.limits().rate(), Some(Rate::per_second(per_second)));
        assert_eq!(plan.availability_range(), range);
    }

    #[test]
    fn negotiated_plans_have_long_holds() {
        assert_eq!(Plan::ALL.into_iter().filter(|plan| plan.has_long_holds()).collect::<Vec<_>>(), [Plan::Custom]);
    }

    #[test]
    fn only_paid_plans_have_features() {
        for feature in Feature::ALL {
            let having: Vec<_> = Plan::ALL.into_iter().filter(|plan| plan.has(feature)).collect();
            assert_eq!(having, [Plan::Pro, Plan::Custom]);
            assert!(feature.required_plan().has(feature));
            let required = feature.plan_required(Some("https://console.example/plans"), "https://docs.example");
            assert_eq!((required.required_plan, required.feature), ("pro", feature.as_str()));
            assert_eq!(
                (required.upgrade_url, required.docs_url),
                (Some("https://console.example/plans"), "https://docs.example")
            );
        }
    }

    #[test]
    fn names_round_trip() {
        for plan in Plan::ALL {
            assert_eq!(Plan::from_name(plan.as_str()), Some(plan));
        }
        assert_eq!(Plan::from_name("scale"), None, "a shown name is not a plan's name");
    }
}
