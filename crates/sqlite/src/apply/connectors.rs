//! What people granted to connectors: codes, refresh tokens, and the texts of keys.

use kalends_accounts::{AuthorizationCode, KeyHash, RefreshToken, TokenHash};
use kalends_kernel::{KeyId, OrgId};
use kalends_rows::scopes_text;
use kalends_time::Timestamp;
use sqlx::SqliteConnection;

use crate::error::{Failure, fresh};

/// Stores the code only if its agent is not decommissioned and its user exists.
pub(super) async fn grant(connection: &mut SqliteConnection, code: &AuthorizationCode) -> Result<(), Failure> {
    let (org_id, agent_id, user_id) = (code.org.uuid(), code.agent.uuid(), code.user.uuid());
    let (hash, challenge) = (code.hash.0.as_slice(), code.challenge.as_slice());
    let (client_id, key_id) = (code.client.uuid(), code.key.map(KeyId::uuid));
    let (scopes, expires_at) = (scopes_text(code.scopes), code.expires_at.as_micros());
    let granted = sqlx::query!(
        "insert into authorization_codes (org_id, hash, client_id, redirect, challenge, agent_id, scopes, user_id,
            expires_at, key_id)
         select a.org_id, ?2, ?3, ?4, ?5, a.id, ?7, u.id, ?9, ?10 from agents a cross join users u
         where a.org_id = ?1 and a.id = ?6 and a.status <> 'decommissioned' and u.id = ?8",
        org_id,
        hash,
        client_id,
        code.redirect,
        challenge,
        agent_id,
        scopes,
        user_id,
        expires_at,
        key_id
    )
    .execute(connection)
    .await?;
    fresh(granted.rows_affected(), 1)
}

/// Exchanges the code if it was not exchanged before.
pub(super) async fn use_code(
    connection: &mut SqliteConnection,
    TokenHash(hash): TokenHash,
    key: KeyId,
) -> Result<(), Failure> {
    let (hash, key_id) = (hash.as_slice(), key.uuid());
    let used =
        sqlx::query!("update authorization_codes set key_id = ?2 where hash = ?1 and key_id is null", hash, key_id)
            .execute(connection)
            .await?;
    fresh(used.rows_affected(), 1)
}

/// Replaces the text of a connector's key that is in force.
pub(super) async fn renew_key(
    connection: &mut SqliteConnection,
    (org, key): (OrgId, KeyId),
    KeyHash(hash): KeyHash,
    expires_at: Timestamp,
) -> Result<(), Failure> {
    let (org_id, id, hash, expires_at) = (org.uuid(), key.uuid(), hash.as_slice(), expires_at.as_micros());
    let renewed = sqlx::query!(
        "update api_keys set hash = ?3, access_expires_at = ?4
         where org_id = ?1 and id = ?2 and client_id is not null and revoked_at is null and exists (
            select 1 from agents a
            where a.org_id = api_keys.org_id and a.id = api_keys.agent_id and a.status <> 'decommissioned')",
        org_id,
        id,
        hash,
        expires_at
    )
    .execute(connection)
    .await?;
    fresh(renewed.rows_affected(), 1)
}

pub(super) async fn put_refresh_token(connection: &mut SqliteConnection, token: &RefreshToken) -> Result<(), Failure> {
    let (org_id, hash, key_id) = (token.org.uuid(), token.hash.0.as_slice(), token.key.uuid());
    let (client_id, created_at) = (token.client.uuid(), token.created_at.as_micros());
    let (expires_at, spent_at) = (token.expires_at.as_micros(), token.spent_at.map(Timestamp::as_micros));
    sqlx::query!(
        "insert into refresh_tokens (org_id, hash, key_id, client_id, created_at, expires_at, spent_at)
         values (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        org_id,
        hash,
        key_id,
        client_id,
        created_at,
        expires_at,
        spent_at
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// Marks the token as exchanged if it was not exchanged before.
pub(super) async fn spend_refresh_token(
    connection: &mut SqliteConnection,
    org: OrgId,
    TokenHash(hash): TokenHash,
    at: Timestamp,
) -> Result<(), Failure> {
    let (org_id, hash, at) = (org.uuid(), hash.as_slice(), at.as_micros());
    let spent = sqlx::query!(
        "update refresh_tokens set spent_at = ?3 where org_id = ?1 and hash = ?2 and spent_at is null",
        org_id,
        hash,
        at
    )
    .execute(connection)
    .await?;
    fresh(spent.rows_affected(), 1)
}
