//! Counts what an organization uses, in one statement for both display and limits.

use kalends_kernel::OrgId;
use kalends_plans::Metric;
use kalends_quotas::Period;
use kalends_time::Timestamp;
use serde::Deserialize;
use sqlx::{Executor, Sqlite};

use crate::json;

/// How much of a metric is used, by the metric's name.
#[derive(Deserialize)]
pub(crate) struct CountRow {
    pub(crate) metric: String,
    /// The month of a counter; `None` for what exists.
    pub(crate) period: Option<i64>,
    pub(crate) used: i64,
}

/// Returns the counters of the months from the first one to the last one, if they are given, and the numbers of things
/// that exist at `now`. With `only`, it counts only the things of that metric.
pub(crate) async fn counts(
    executor: impl Executor<'_, Database = Sqlite>,
    org: OrgId,
    months: Option<(Period, Period)>,
    only: Option<Metric>,
    now: Timestamp,
) -> Result<Vec<CountRow>, sqlx::Error> {
    let (first, last) = months.map(|(first, last)| (first.number(), last.number())).unzip();
    let (org_id, only, now) = (org.uuid(), only.map(Metric::as_str), now.as_micros());
    // The condition on the metric excludes a part before any row of its table is read.
    let pack = sqlx::query_scalar!(
        r#"select json_group_array(json_array(metric, period, used)) as "pack!: String"
         from (
            select metric, period, used
            from usage_counters where org_id = ?1 and period between ?2 and ?5
            union all
            select 'agents', null, count(*) from agents
            where org_id = ?1 and coalesce(?3, 'agents') = 'agents' and status <> 'decommissioned'
            union all
            select 'calendars', null, count(*)
            from calendars c left join agents a on a.org_id = c.org_id and a.id = c.agent_id
            where c.org_id = ?1 and coalesce(?3, 'calendars') = 'calendars' and c.deleted_at is null
               and (c.agent_id is null or a.status <> 'decommissioned')
            union all
            select 'scoped_keys', null, count(*)
            from api_keys k join agents a on a.org_id = k.org_id and a.id = k.agent_id
            where k.org_id = ?1 and coalesce(?3, 'scoped_keys') = 'scoped_keys' and k.agent_id is not null
               and k.revoked_at is null and a.status <> 'decommissioned'
            union all
            select 'webhook_endpoints', null, count(*) from webhooks
            where org_id = ?1 and coalesce(?3, 'webhook_endpoints') = 'webhook_endpoints'
            union all
            select 'ical_subscriptions', null, count(*)
            from ical_subscriptions s
               join calendars c on c.org_id = s.org_id and c.id = s.calendar_id
               left join agents a on a.org_id = c.org_id and a.id = c.agent_id
            where s.org_id = ?1 and coalesce(?3, 'ical_subscriptions') = 'ical_subscriptions' and s.remains is null
               and c.deleted_at is null
               and (c.agent_id is null or a.status <> 'decommissioned')
            union all
            select 'booking_pages', null, count(*)
            from booking_pages p
               join calendars c on c.org_id = p.org_id and c.id = p.calendar_id
               left join agents a on a.org_id = c.org_id and a.id = c.agent_id
            where p.org_id = ?1 and coalesce(?3, 'booking_pages') = 'booking_pages' and p.deleted_at is null
               and c.deleted_at is null and (c.agent_id is null or a.status <> 'decommissioned')
            union all
            select 'recurring_events', null, count(*)
            from calendars c left join agents a on a.org_id = c.org_id and a.id = c.agent_id
               cross join events e on e.org_id = c.org_id and e.calendar_id = c.id
            where c.org_id = ?1 and coalesce(?3, 'recurring_events') = 'recurring_events' and c.deleted_at is null
               and (c.agent_id is null or a.status <> 'decommissioned')
               and e.recurrence is not null and e.deleted_at is null and e.reaches > ?4
               and e.source = 'internal'
            union all
            select 'imported_events', null, (
                   select count(*) from events e where e.org_id = ?1 and e.source = 'external_ical') + (
                   select coalesce(sum(s.reserved), 0) from ical_subscriptions s
                   where s.org_id = ?1 and s.claimed_until is not null)
            where coalesce(?3, 'imported_events') = 'imported_events'
         )"#,
        org_id,
        first,
        only,
        now,
        last
    );
    json::packed(&pack.fetch_one(executor).await?)
}
