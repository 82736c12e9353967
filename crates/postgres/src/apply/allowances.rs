//! The use of allowances.

use kalends_accounts::{Allowance, Taken, Used};
use kalends_time::Timestamp;
use sqlx::PgConnection;

/// Takes several uses at once, all or none, in one statement, as [`Allowance::take_many`] does. If they are refused,
/// a second statement finds out how long to wait. Concurrent uses wait for the row, and each is compared with what
/// the previous one left.
pub(crate) async fn use_up(
    connection: &mut PgConnection,
    allowance: &Allowance,
    count: u32,
    now: Timestamp,
) -> Result<Taken, sqlx::Error> {
    let terms = allowance.terms(now);
    let (scope, org_id) = (allowance.scope.as_slice(), allowance.org.map(|org| org.uuid()));
    // The first use has no row to compare with the limit, so the insert compares it.
    let granted = sqlx::query!(
        "INSERT INTO allowances AS kept (scope, org_id, state, expires_at)
         SELECT $1::bytea, $2::uuid, $3::bigint, $4::bigint WHERE $3::bigint <= $5::bigint
         ON CONFLICT (scope) DO UPDATE SET
             state = CASE WHEN kept.expires_at > $6 AND kept.expires_at <= $7 THEN kept.state ELSE 0 END
                 + excluded.state,
             expires_at = CASE WHEN kept.expires_at > $6 AND kept.expires_at <= $7 THEN kept.expires_at
                 ELSE excluded.expires_at END
         WHERE kept.expires_at <= $6 OR kept.expires_at > $7 OR kept.state <= $5::bigint - excluded.state
         RETURNING state, expires_at",
        scope,
        org_id,
        i64::from(count),
        terms.until.as_micros(),
        terms.limit,
        terms.now.as_micros(),
        terms.longest.as_micros(),
    )
    .fetch_optional(&mut *connection)
    .await?;
    if let Some(row) = granted {
        return Ok(Taken::Granted(Used { count: row.state, until: Timestamp::from_micros(row.expires_at) }));
    }
    let kept = sqlx::query_scalar!("SELECT expires_at FROM allowances WHERE scope = $1", scope)
        .fetch_optional(connection)
        .await?;
    Ok(Taken::Refused { retry_after: terms.retry_after(kept.map(Timestamp::from_micros)) })
}
