//! The plans.

use crate::{Limits, Metric};

/// A plan, internal ones included (ruling 3.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Plan {
    /// An agent's self-signup before its e-mail address is verified: the sandbox.
    FreeAgentUnverified,
    /// An agent's self-signup, verified.
    FreeAgent,
    /// Free.
    Free,
    /// Paid.
    Pro,
    /// Negotiated.
    Custom,
}

/// Something that a plan has or lacks, beside its limits.
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

    /// The least plan that has the feature: what `plan_required` answers name.
    pub const fn required_plan(self) -> Plan {
        match self {
            Self::Scheduling
            | Self::ScopedKeys
            | Self::CrossAgentAvailability
            | Self::Holds
            | Self::UnboundedRecurrence => Plan::Pro,
        }
    }

    /// What an answer `plan_required` adds to the error. The addresses are the caller's: where a plan is chosen, if
    /// there is such a page, and where features are described.
    pub const fn plan_required<'a>(self, upgrade_url: Option<&'a str>, docs_url: &'a str) -> PlanRequired<'a> {
        PlanRequired { required_plan: self.required_plan().as_str(), feature: self.as_str(), upgrade_url, docs_url }
    }

    /// The name in `plan_required` answers.
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

/// What a 403 `plan_required` adds to the error's envelope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlanRequired<'a> {
    /// The least plan that has the feature.
    pub required_plan: &'static str,
    /// The feature that the plan lacks.
    pub feature: &'static str,
    /// Where a plan is chosen; `None` without such a page.
    pub upgrade_url: Option<&'a str>,
    /// Where the feature is described.
    pub docs_url: &'a str,
}

/// How a plan presents itself. Marketing text, not for capability checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PublicPlan {
    /// The plan.
    pub plan: Plan,
    /// Its display name.
    pub name: &'static str,
    /// One line.
    pub tagline: &'static str,
    /// A month's price in the currency's smallest unit; `None` where the operator of the service sets it.
    pub price: Option<u32>,
    /// Lower-case ISO 4217.
    pub currency: Option<&'static str>,
    /// What the plan offers, in words.
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
            tagline: "For whatever does not fit",
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

    /// The plan of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|plan| plan.as_str() == name)
    }

    /// The name in `X-Service-Plan` and in usage: the three free plans are one, and `custom` is
    /// `scale` (ruling 3.2).
    pub const fn shown(self) -> &'static str {
        match self {
            Self::FreeAgentUnverified | Self::FreeAgent | Self::Free => "free",
            Self::Pro => "pro",
            Self::Custom => "scale",
        }
    }

    /// The plan's limits, in the order of [`Metric::ALL`].
    pub const fn limits(self) -> Limits {
        match self {
            // Sandbox caps that its table does not name are those of Free (ruling 3.3).
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

    /// The most agents and the most days of one cross-agent availability query.
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

    /// The specification's tables, written again so that a slip in either shows.
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
    fn limits(#[case] metric: Metric, #[case] sandbox: u64, #[case] free: u64, #[case] pro: u64) {
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
    fn rates_and_ranges(#[case] plan: Plan, #[case] per_second: u32, #[case] range: (usize, i64)) {
        assert_eq!(plan.limits().rate_per_second(), Some(per_second));
        assert_eq!(plan.limits().rate(), Some(crate::Rate::per_second(per_second)));
        assert_eq!(plan.availability_range(), range);
    }

    #[test]
    fn features_are_those_of_paid_plans() {
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
        assert_eq!(Plan::from_name("scale"), None, "shown, but not a name");
    }
}
