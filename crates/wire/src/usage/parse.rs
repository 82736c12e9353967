//! Builds the answers from values of the domain.

use kalends_plans::{Metric, UsageReport};

use super::{Usage, Used, UsedCalls};

impl From<&UsageReport> for Usage {
    fn from(report: &UsageReport) -> Self {
        let of = |metric| {
            let used = report.of(metric);
            Used { used: used.used, limit: used.limit }
        };
        let calls = report.of(Metric::ApiCalls);
        Self {
            plan: report.plan.into(),
            period_start: report.period_start(),
            period_end: report.period_end(),
            api_calls: UsedCalls { used: calls.used, limit: calls.limit, remaining: calls.remaining() },
            agents: of(Metric::Agents),
            calendars: of(Metric::Calendars),
            events: of(Metric::Events),
            webhook_deliveries: of(Metric::WebhookDeliveries),
            availability_queries: of(Metric::AvailabilityQueries),
            ical_subscriptions: of(Metric::IcalSubscriptions),
            proposals: of(Metric::Proposals),
            webhook_endpoints: of(Metric::WebhookEndpoints),
            scoped_keys: of(Metric::ScopedKeys),
            recurring_events: of(Metric::RecurringEvents),
            booking_pages: of(Metric::BookingPages),
            imported_events: of(Metric::ImportedEvents),
        }
    }
}
