//! Counts what an organization uses, in one statement for both display and limits.

use kalends_kernel::OrgId;
use kalends_plans::Metric;
use kalends_quotas::Period;
use kalends_time::Timestamp;
use sqlx::{Executor, Postgres};

/// How much of a metric is used, by the metric's name.
pub(crate) struct CountRow {
    pub(crate) metric: String,
    /// The month of a counter; `None` for what exists.
    pub(crate) period: Option<i64>,
    pub(crate) used: i64,
}

/// Returns the counters of the months from the first one to the last one, if they are given, and the numbers of things
/// that exist at `now`. With `only`, it counts only the things of that metric.
pub(crate) async fn counts(
    executor: impl Executor<'_, Database = Postgres>,
    org: OrgId,
    months: Option<(Period, Period)>,
    only: Option<Metric>,
    now: Timestamp,
) -> Result<Vec<CountRow>, sqlx::Error> {
    let (first, last) = months.map(|(first, last)| (first.number(), last.number())).unzip();
    // The condition on the metric excludes a part before any row of its table is read.
    let rows = sqlx::query_as!(
        CountRow,
        r#"SELECT metric AS "metric!", period AS "period?", used AS "used!"
         FROM usage_counters WHERE org_id = $1 AND period BETWEEN $2 AND $5
         UNION ALL
         SELECT 'agents', NULL::bigint, count(*)
         FROM agents
         WHERE org_id = $1 AND coalesce($3, 'agents') = 'agents' AND status <> 'decommissioned'
         UNION ALL
         SELECT 'calendars', NULL::bigint, count(*)
         FROM calendars c
         LEFT JOIN agents a ON a.org_id = c.org_id AND a.id = c.agent_id
         WHERE c.org_id = $1 AND coalesce($3, 'calendars') = 'calendars' AND c.deleted_at IS NULL
             AND (c.agent_id IS NULL OR a.status <> 'decommissioned')
         UNION ALL
         SELECT 'scoped_keys', NULL::bigint, count(*)
         FROM api_keys k
         JOIN agents a ON a.org_id = k.org_id AND a.id = k.agent_id
         WHERE k.org_id = $1 AND coalesce($3, 'scoped_keys') = 'scoped_keys' AND k.agent_id IS NOT NULL
             AND k.revoked_at IS NULL AND a.status <> 'decommissioned'
         UNION ALL
         SELECT 'webhook_endpoints', NULL::bigint, count(*)
         FROM webhooks
         WHERE org_id = $1 AND coalesce($3, 'webhook_endpoints') = 'webhook_endpoints'
         UNION ALL
         SELECT 'ical_subscriptions', NULL::bigint, count(*)
         FROM ical_subscriptions s
         JOIN calendars c ON c.org_id = s.org_id AND c.id = s.calendar_id
         LEFT JOIN agents a ON a.org_id = c.org_id AND a.id = c.agent_id
         WHERE s.org_id = $1 AND coalesce($3, 'ical_subscriptions') = 'ical_subscriptions' AND s.remains IS NULL
             AND c.deleted_at IS NULL
             AND (c.agent_id IS NULL OR a.status <> 'decommissioned')
         UNION ALL
         SELECT 'booking_pages', NULL::bigint, count(*)
         FROM booking_pages p
         JOIN calendars c ON c.org_id = p.org_id AND c.id = p.calendar_id
         LEFT JOIN agents a ON a.org_id = c.org_id AND a.id = c.agent_id
         WHERE p.org_id = $1 AND coalesce($3, 'booking_pages') = 'booking_pages' AND p.deleted_at IS NULL
             AND c.deleted_at IS NULL AND (c.agent_id IS NULL OR a.status <> 'decommissioned')
         UNION ALL
         SELECT 'recurring_events', NULL::bigint, count(*)
         FROM calendars c
         LEFT JOIN agents a ON a.org_id = c.org_id AND a.id = c.agent_id
         JOIN events e ON e.org_id = c.org_id AND e.calendar_id = c.id
         WHERE c.org_id = $1 AND coalesce($3, 'recurring_events') = 'recurring_events' AND c.deleted_at IS NULL
             AND (c.agent_id IS NULL OR a.status <> 'decommissioned')
             AND e.recurrence IS NOT NULL AND e.deleted_at IS NULL AND e.reaches > $4
             AND e.source = 'internal'
         UNION ALL
         SELECT 'imported_events', NULL::bigint, (
                 SELECT count(*) FROM events e WHERE e.org_id = $1 AND e.source = 'external_ical'
             ) + (
                 SELECT coalesce(sum(s.reserved), 0)::bigint
                 FROM ical_subscriptions s
                 WHERE s.org_id = $1 AND s.claimed_until IS NOT NULL
             )
         WHERE coalesce($3, 'imported_events') = 'imported_events'"#,
        org.uuid(),
        first,
        only.map(Metric::as_str),
        now.as_micros(),
        last,
    );
    rows.fetch_all(executor).await
}

/// A count, as the type that the ports return.
pub(crate) fn count(counted: i64) -> u64 {
    u64::try_from(counted).unwrap_or(0)
}

/// The number as the database stores it; larger numbers become the largest one.
pub(crate) fn signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
