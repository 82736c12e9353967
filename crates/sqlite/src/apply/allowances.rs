//! The use of allowances.

use kalends_accounts::{Allowance, Taken, Used};
use kalends_time::Timestamp;
use sqlx::SqliteConnection;

/// Takes several uses at once, all or none, in one statement, as [`Allowance::take_many`] does. If they are refused,
/// a second statement finds out how long to wait. The connection is the writing one, so nobody changes the row in
/// between.
pub(crate) async fn use_up(
    connection: &mut SqliteConnection,
    allowance: &Allowance,
    count: u32,
    now: Timestamp,
) -> Result<Taken, sqlx::Error> {
    let terms = allowance.terms(now);
    let (scope, org_id) = (allowance.scope.as_slice(), allowance.org.map(|org| org.uuid()));
    let (at, until, longest) = (terms.now.as_micros(), terms.until.as_micros(), terms.longest.as_micros());
    // The first use has no row to compare with the limit, so the insert compares it.
    let granted = sqlx::query!(
        "insert into allowances (scope, org_id, state, expires_at)
         select ?1, ?2, ?3, ?4 where ?3 <= ?5
         on conflict (scope) do update set
            state = case when expires_at > ?6 and expires_at <= ?7 then state else 0 end + excluded.state,
            expires_at = case when expires_at > ?6 and expires_at <= ?7 then expires_at else excluded.expires_at end
            where expires_at <= ?6 or expires_at > ?7 or state <= ?5 - excluded.state
         returning state, expires_at",
        scope,
        org_id,
        count,
        until,
        terms.limit,
        at,
        longest
    )
    .fetch_all(&mut *connection)
    .await?;
    if let Some(row) = granted.first() {
        return Ok(Taken::Granted(Used { count: row.state, until: Timestamp::from_micros(row.expires_at) }));
    }
    let kept = sqlx::query_scalar!("select expires_at from allowances where scope = ?1", scope)
        .fetch_optional(connection)
        .await?;
    Ok(Taken::Refused { retry_after: terms.retry_after(kept.map(Timestamp::from_micros)) })
}
