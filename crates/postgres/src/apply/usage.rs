//! What the plan limits: use that is counted by the month, and things that exist.

use std::collections::BTreeMap;

use kalends_app::ports::CommitError;
use kalends_app::{Charge, Guard};
use kalends_kernel::{Instant, OrgId};
use kalends_quotas::Metric;
use sqlx::PgConnection;
use uuid::Uuid;

use crate::error::{ApplyError, failed};
use crate::sealed::SealedChangeSet;

/// Checks [`Guard::AtMost`] and [`Guard::SeriesAtMost`] of all change-sets, after everything else that they write has been written.
pub(crate) async fn check_existing(connection: &mut PgConnection, batch: &[SealedChangeSet]) -> Result<(), ApplyError> {
    for sealed in batch {
        let changes = sealed.changes();
        let mut locked = false;
        for guard in &changes.guards {
            let (metric, limit) = match *guard {
                Guard::AtMost { metric, limit } => (metric, limit),
                Guard::SeriesAtMost { limit, .. } => (Metric::RecurringEvents, limit),
                Guard::CalendarRevision { .. } | Guard::CalendarTime { .. } | Guard::CalendarsOfAgent { .. } => {
                    continue;
                }
            };
            if !locked {
                lock_organization(connection, changes.org).await?;
                locked = true;
            }
            let count = match *guard {
                Guard::SeriesAtMost { now, .. } => series_after(connection, changes.org, now).await?,
                _ => existing(connection, changes.org, metric).await?,
            };
            if count > limit {
                return Err(ApplyError::Refused(CommitError::LimitReached { metric, limit }));
            }
        }
    }
    Ok(())
}

/// Locks the organization's row, alone: the statement after it sees what others have committed.
async fn lock_organization(connection: &mut PgConnection, org: OrgId) -> Result<(), ApplyError> {
    sqlx::query!("SELECT id FROM organizations WHERE id = $1 FOR NO KEY UPDATE", org.uuid())
        .fetch_optional(connection)
        .await?;
    Ok(())
}

/// How many things of a metric exist.
async fn existing(connection: &mut PgConnection, org: OrgId, metric: Metric) -> Result<u64, ApplyError> {
    let count = match metric {
        Metric::Agents => {
            sqlx::query_scalar!(
                r#"SELECT count(*) AS "count!" FROM agents WHERE org_id = $1 AND status <> 'decommissioned'"#,
                org.uuid(),
            )
            .fetch_one(connection)
            .await?
        }
        Metric::Calendars => {
            sqlx::query_scalar!(
                r#"SELECT count(*) AS "count!"
                 FROM calendars c
                 LEFT JOIN agents a ON a.org_id = c.org_id AND a.id = c.agent_id
                 WHERE c.org_id = $1 AND c.deleted_at IS NULL
                     AND (c.agent_id IS NULL OR a.status <> 'decommissioned')"#,
                org.uuid(),
            )
            .fetch_one(connection)
            .await?
        }
        Metric::ScopedKeys => {
            sqlx::query_scalar!(
                r#"SELECT count(*) AS "count!"
                 FROM api_keys k
                 JOIN agents a ON a.org_id = k.org_id AND a.id = k.agent_id
                 WHERE k.org_id = $1 AND k.agent_id IS NOT NULL AND k.revoked_at IS NULL
                     AND a.status <> 'decommissioned'"#,
                org.uuid(),
            )
            .fetch_one(connection)
            .await?
        }
        Metric::Events
        | Metric::ApiCalls
        | Metric::WebhookDeliveries
        | Metric::AvailabilityQueries
        | Metric::IcalSubscriptions
        | Metric::Proposals
        | Metric::WebhookEndpoints
        | Metric::RecurringEvents
        | Metric::BookingPages => return Err(failed(NotCounted(metric)).into()),
    };
    Ok(u64::try_from(count).unwrap_or(0))
}

/// How many series in sight have an occurrence that ends after `now`.
async fn series_after(connection: &mut PgConnection, org: OrgId, now: Instant) -> Result<u64, ApplyError> {
    let count = sqlx::query_scalar!(
        r#"SELECT count(*) AS "count!"
         FROM calendars c
         LEFT JOIN agents a ON a.org_id = c.org_id AND a.id = c.agent_id
         JOIN events e ON e.org_id = c.org_id AND e.calendar_id = c.id
         WHERE c.org_id = $1 AND c.deleted_at IS NULL AND (c.agent_id IS NULL OR a.status <> 'decommissioned')
             AND e.recurrence IS NOT NULL AND e.deleted_at IS NULL AND e.reaches > $2"#,
        org.uuid(),
        now.as_micros(),
    )
    .fetch_one(connection)
    .await?;
    Ok(u64::try_from(count).unwrap_or(0))
}

/// A guard asks for a count that this store does not take.
#[derive(Debug, thiserror::Error)]
#[error("this store does not count existing {}", .0.as_str())]
struct NotCounted(Metric);

/// Adds the charges of all change-sets to the counters, one row for each organization, metric and
/// month. These rows are what an organization's transactions meet on, so that this comes last.
pub(crate) async fn charge(connection: &mut PgConnection, batch: &[SealedChangeSet]) -> Result<(), ApplyError> {
    let sums = summed(batch);
    if sums.is_empty() {
        return Ok(());
    }
    let orgs: Vec<Uuid> = sums.keys().map(|(org, ..)| *org).collect();
    let metrics: Vec<&str> = sums.keys().map(|(_, metric, _)| *metric).collect();
    let periods: Vec<i64> = sums.keys().map(|(.., period)| *period).collect();
    let amounts: Vec<i64> = sums.values().map(|sum| signed(sum.amount)).collect();
    // The write locks the row, so that comparing what it leaves behind with the limit is as good as a
    // condition in it, and holds for the first use in a month too.
    let counters = sqlx::query!(
        "INSERT INTO usage_counters AS counter (org_id, metric, period, used)
         SELECT * FROM unnest($1::uuid[], $2::text[], $3::bigint[], $4::bigint[])
         ON CONFLICT (org_id, metric, period) DO UPDATE SET used = counter.used + excluded.used
         RETURNING org_id, metric, period, used",
        &orgs,
        &metrics as &[&str],
        &periods,
        &amounts,
    )
    .fetch_all(connection)
    .await?;
    for counter in counters {
        let Some(sum) = sums.get(&(counter.org_id, counter.metric.as_str(), counter.period)) else { continue };
        if let Some(limit) = sum.limit.filter(|limit| counter.used > signed(*limit)) {
            return Err(ApplyError::Refused(CommitError::LimitReached { metric: sum.metric, limit }));
        }
    }
    Ok(())
}

/// What several charges of one counter come to. Where all of it stays within the lowest of the limits,
/// each charge stays within its own.
struct Sum {
    metric: Metric,
    amount: u64,
    limit: Option<u64>,
}

/// The charges by organization, metric and period: the order in which the counters are locked.
fn summed(batch: &[SealedChangeSet]) -> BTreeMap<(Uuid, &'static str, i64), Sum> {
    let mut sums = BTreeMap::new();
    for changes in batch.iter().map(SealedChangeSet::changes) {
        for &Charge { metric, period, amount, limit } in &changes.charges {
            let key = (changes.org.uuid(), metric.as_str(), period.number());
            let sum: &mut Sum = sums.entry(key).or_insert(Sum { metric, amount: 0, limit });
            sum.amount = sum.amount.saturating_add(amount);
            sum.limit = [sum.limit, limit].into_iter().flatten().min();
        }
    }
    sums
}

/// The number as the database counts; what is beyond that stands for its largest.
fn signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
