//! Limits of the plan: monthly use, and things that exist.

use std::collections::BTreeMap;

use kalends_app::ports::CommitError;
use kalends_app::{Charge, Guard};
use kalends_kernel::OrgId;
use kalends_plans::Metric;
use kalends_rows::SealedChangeSet;
use kalends_time::Timestamp;
use sqlx::PgConnection;
use uuid::Uuid;

use crate::counts::{count, counts, signed};
use crate::error::{ApplyError, failed};

/// Checks [`Guard::AtMost`] and [`Guard::SeriesAtMost`] of all change-sets, after all their other writes.
pub(crate) async fn check_existing(connection: &mut PgConnection, batch: &[SealedChangeSet]) -> Result<(), ApplyError> {
    for sealed in batch {
        let changes = sealed.changes();
        let mut locked = false;
        for guard in &changes.guards {
            let (metric, limit, now) = match *guard {
                // Series end by themselves, so their number depends on the time.
                Guard::AtMost { metric: metric @ Metric::RecurringEvents, .. } => return Err(not_counted(metric)),
                // The time matters only for series.
                Guard::AtMost { metric, limit } => (metric, limit, Timestamp::from_micros(0)),
                Guard::SeriesAtMost { limit, now } => (Metric::RecurringEvents, limit, now),
                Guard::CalendarRevision { .. }
                | Guard::CalendarTime { .. }
                | Guard::CalendarsOfAgent { .. }
                | Guard::PlacedAtMost { .. }
                | Guard::Guests { .. } => continue,
            };
            if !locked {
                lock_organization(connection, changes.org).await?;
                locked = true;
            }
            let counted = counts(&mut *connection, changes.org, None, Some(metric), now).await?;
            let row = counted.iter().find(|row| row.metric == metric.as_str()).ok_or_else(|| not_counted(metric))?;
            if count(row.used) > limit {
                return Err(ApplyError::Refused(CommitError::LimitReached { metric, limit }));
            }
        }
    }
    Ok(())
}

/// Locks the organization's row in a statement of its own, so that the next statement sees what other transactions
/// have committed.
pub(super) async fn lock_organization(connection: &mut PgConnection, org: OrgId) -> Result<(), ApplyError> {
    sqlx::query!("SELECT id FROM organizations WHERE id = $1 FOR NO KEY UPDATE", org.uuid())
        .fetch_optional(connection)
        .await?;
    Ok(())
}

/// A guard needs a count that this store does not have.
#[derive(Debug, thiserror::Error)]
#[error("this store does not count existing {}", .0.as_str())]
struct NotCounted(Metric);

fn not_counted(metric: Metric) -> ApplyError {
    failed(NotCounted(metric)).into()
}

/// Adds the charges of all change-sets to the counters, one row for each organization, metric and month. All
/// transactions of an organization contend for these rows, so this comes last.
pub(crate) async fn charge(connection: &mut PgConnection, batch: &[SealedChangeSet]) -> Result<(), ApplyError> {
    let sums = summed(batch);
    if sums.is_empty() {
        return Ok(());
    }
    let orgs: Vec<Uuid> = sums.keys().map(|(org, ..)| *org).collect();
    let metrics: Vec<&str> = sums.keys().map(|(_, metric, _)| *metric).collect();
    let periods: Vec<i64> = sums.keys().map(|(.., period)| *period).collect();
    let amounts: Vec<i64> = sums.values().map(|sum| signed(sum.amount)).collect();
    // The write locks the row, so comparing the new value with the limit is as good as a condition in the statement.
    // It also covers the first use in a month.
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

/// The sum of several charges to one counter. If the sum stays within the lowest of the limits, each charge stays
/// within its own.
struct Sum {
    metric: Metric,
    amount: u64,
    limit: Option<u64>,
}

/// The charges by organization, metric and period, which is the order in which the counters are locked.
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
