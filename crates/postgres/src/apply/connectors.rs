//! What people granted to connectors: codes, refresh tokens, and the texts of keys.

use kalends_accounts::{AuthorizationCode, KeyHash, RefreshToken, TokenHash};
use kalends_kernel::{KeyId, OrgId};
use kalends_rows::scopes_text;
use kalends_time::Timestamp;
use sqlx::PgConnection;

use crate::error::{ApplyError, all_written};

/// Stores the code only if its agent is not decommissioned and its user exists. If the agent is decommissioned at the same
/// time, no key is created for the code. A deletion of the user waits, and then removes the code.
pub(super) async fn grant(connection: &mut PgConnection, code: &AuthorizationCode) -> Result<(), ApplyError> {
    let written = sqlx::query!(
        "INSERT INTO authorization_codes (org_id, hash, client_id, redirect, challenge, agent_id, scopes, user_id,
             expires_at, key_id)
         SELECT a.org_id, $2, $3, $4, $5, a.id, $7, u.id, $9, $10
         FROM agents a CROSS JOIN users u
         WHERE a.org_id = $1 AND a.id = $6 AND a.status <> 'decommissioned' AND u.id = $8
         FOR KEY SHARE OF u",
        code.org.uuid(),
        code.hash.0.as_slice(),
        code.client.uuid(),
        code.redirect,
        code.challenge.as_slice(),
        code.agent.uuid(),
        scopes_text(code.scopes),
        code.user.uuid(),
        code.expires_at.as_micros(),
        code.key.map(KeyId::uuid),
    )
    .execute(connection)
    .await?;
    all_written(written.rows_affected(), 1)
}

/// Exchanges the code if it was not exchanged before.
pub(super) async fn use_code(
    connection: &mut PgConnection,
    TokenHash(hash): TokenHash,
    key: KeyId,
) -> Result<(), ApplyError> {
    let written = sqlx::query!(
        "UPDATE authorization_codes SET key_id = $2 WHERE hash = $1 AND key_id IS NULL",
        hash.as_slice(),
        key.uuid(),
    )
    .execute(connection)
    .await?;
    all_written(written.rows_affected(), 1)
}

/// Replaces the text of a connector's key that is in force. If the agent is decommissioned at the same time, the key ends
/// with it anyway, since look-ups join the agent.
pub(super) async fn renew_key(
    connection: &mut PgConnection,
    (org, key): (OrgId, KeyId),
    KeyHash(hash): KeyHash,
    expires_at: Timestamp,
) -> Result<(), ApplyError> {
    let written = sqlx::query!(
        "UPDATE api_keys SET hash = $3, access_expires_at = $4
         WHERE org_id = $1 AND id = $2 AND client_id IS NOT NULL AND revoked_at IS NULL AND EXISTS (
             SELECT 1 FROM agents a
             WHERE a.org_id = api_keys.org_id AND a.id = api_keys.agent_id AND a.status <> 'decommissioned')",
        org.uuid(),
        key.uuid(),
        hash.as_slice(),
        expires_at.as_micros(),
    )
    .execute(connection)
    .await?;
    all_written(written.rows_affected(), 1)
}

pub(super) async fn put_refresh_token(connection: &mut PgConnection, token: &RefreshToken) -> Result<(), ApplyError> {
    sqlx::query!(
        "INSERT INTO refresh_tokens (org_id, hash, key_id, client_id, created_at, expires_at, spent_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7)",
        token.org.uuid(),
        token.hash.0.as_slice(),
        token.key.uuid(),
        token.client.uuid(),
        token.created_at.as_micros(),
        token.expires_at.as_micros(),
        token.spent_at.map(Timestamp::as_micros),
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// Marks the token as exchanged if it was not exchanged before.
pub(super) async fn spend_refresh_token(
    connection: &mut PgConnection,
    org: OrgId,
    TokenHash(hash): TokenHash,
    at: Timestamp,
) -> Result<(), ApplyError> {
    let written = sqlx::query!(
        "UPDATE refresh_tokens SET spent_at = $3 WHERE org_id = $1 AND hash = $2 AND spent_at IS NULL",
        org.uuid(),
        hash.as_slice(),
        at.as_micros(),
    )
    .execute(connection)
    .await?;
    all_written(written.rows_affected(), 1)
}
