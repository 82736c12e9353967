//! Users and their sessions.
//!
//! The user's row is locked first. Whatever depends on its version reads it under that lock, so a transaction that
//! waited for the lock reads it again.

use kalends_accounts::oauth::KnownIdentity;
use kalends_accounts::{Session, SessionEnd, TokenHash, User, UserToken};
use kalends_kernel::{OrgId, UserId, Version};
use kalends_time::Timestamp;
use sqlx::PgConnection;

use super::second_factors;
use crate::error::{ApplyError, all_written};

pub(super) async fn create(connection: &mut PgConnection, user: &User) -> Result<(), ApplyError> {
    sqlx::query!(
        "INSERT INTO users (
             id, email, email_verified_at, holds_address, name, password_hash, version, created_at, updated_at
         )
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
        user.id.uuid(),
        user.email.as_str(),
        user.email_verified_at.map(|at| at.as_micros()),
        user.holds_address,
        user.name.as_str(),
        user.password.as_ref().map(|password| password.as_str()),
        user.version.0,
        user.created_at.as_micros(),
        user.updated_at.as_micros(),
    )
    .execute(connection)
    .await?;
    Ok(())
}

pub(super) async fn update(
    connection: &mut PgConnection,
    user: &User,
    Version(seen): Version,
) -> Result<(), ApplyError> {
    let written = sqlx::query!(
        "UPDATE users SET email = $3, email_verified_at = $4, holds_address = $5, name = $6, password_hash = $7,
             version = $8, updated_at = $9
         WHERE id = $1 AND version = $2",
        user.id.uuid(),
        seen,
        user.email.as_str(),
        user.email_verified_at.map(|at| at.as_micros()),
        user.holds_address,
        user.name.as_str(),
        user.password.as_ref().map(|password| password.as_str()),
        user.version.0,
        user.updated_at.as_micros(),
    )
    .execute(connection)
    .await?;
    all_written(written.rows_affected(), 1)
}

/// Raises the version of the user if it is the one that the decision saw, and keeps the row locked.
pub(super) async fn touch(
    connection: &mut PgConnection,
    user: UserId,
    Version(seen): Version,
) -> Result<(), ApplyError> {
    let touched =
        sqlx::query!("UPDATE users SET version = version + 1 WHERE id = $1 AND version = $2", user.uuid(), seen)
            .execute(connection)
            .await?;
    all_written(touched.rows_affected(), 1)
}

pub(super) async fn delete(
    connection: &mut PgConnection,
    user: UserId,
    Version(seen): Version,
) -> Result<(), ApplyError> {
    let id = user.uuid();
    let deleted =
        sqlx::query!("DELETE FROM users WHERE id = $1 AND version = $2", id, seen).execute(&mut *connection).await?;
    all_written(deleted.rows_affected(), 1)?;
    sqlx::query!("DELETE FROM organization_owners WHERE user_id = $1", id).execute(&mut *connection).await?;
    sqlx::query!("DELETE FROM organization_members WHERE user_id = $1", id).execute(&mut *connection).await?;
    sqlx::query!("DELETE FROM sessions WHERE user_id = $1", id).execute(&mut *connection).await?;
    sqlx::query!("DELETE FROM account_claims WHERE user_id = $1", id).execute(&mut *connection).await?;
    sqlx::query!("DELETE FROM user_tokens WHERE user_id = $1", id).execute(&mut *connection).await?;
    sqlx::query!("DELETE FROM authorization_codes WHERE user_id = $1", id).execute(&mut *connection).await?;
    second_factors::remove(&mut *connection, user).await?;
    remove_identities(connection, user).await
}

/// Refuses as stale if the identity already signs in a user: the decision did not see that.
pub(super) async fn add_identity(connection: &mut PgConnection, identity: &KnownIdentity) -> Result<(), ApplyError> {
    let added = sqlx::query!(
        "INSERT INTO user_identities (provider, issuer, subject, user_id, since) VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (provider, issuer, subject) DO NOTHING",
        identity.provider.as_str(),
        identity.issuer,
        identity.subject,
        identity.user.uuid(),
        identity.since.as_micros(),
    )
    .execute(connection)
    .await?;
    all_written(added.rows_affected(), 1)
}

pub(super) async fn remove_identities(connection: &mut PgConnection, user: UserId) -> Result<(), ApplyError> {
    sqlx::query!("DELETE FROM user_identities WHERE user_id = $1", user.uuid()).execute(connection).await?;
    Ok(())
}

pub(super) async fn put_token(connection: &mut PgConnection, token: UserToken) -> Result<(), ApplyError> {
    let put = sqlx::query!(
        "INSERT INTO user_tokens (user_id, purpose, token_hash, expires_at)
         SELECT u.id, $2, $3, $4 FROM users u WHERE u.id = $1 FOR KEY SHARE
         ON CONFLICT (user_id, purpose) DO UPDATE SET token_hash = excluded.token_hash,
             expires_at = excluded.expires_at",
        token.user.uuid(),
        token.purpose.as_str(),
        token.token.0.as_slice(),
        token.expires_at.as_micros(),
    )
    .execute(connection)
    .await?;
    all_written(put.rows_affected(), 1)
}

pub(super) async fn use_token(connection: &mut PgConnection, TokenHash(token): TokenHash) -> Result<(), ApplyError> {
    let used =
        sqlx::query!("DELETE FROM user_tokens WHERE token_hash = $1", token.as_slice()).execute(connection).await?;
    all_written(used.rows_affected(), 1)
}

/// Locks the user's row, which every transaction that ends all of the user's sessions locks first. If that transaction
/// commits first, this change-set is stale. Otherwise, that transaction sees the new session and ends it.
pub(super) async fn create_session(
    connection: &mut PgConnection,
    session: &Session,
    Version(seen): Version,
) -> Result<(), ApplyError> {
    let created = sqlx::query!(
        "INSERT INTO sessions (id, user_id, org_id, created_at, expires_at, revoked_at)
         SELECT $1, u.id, $4, $5, $6, $7 FROM users u WHERE u.id = $2 AND u.version = $3 FOR UPDATE",
        session.id.uuid(),
        session.user.uuid(),
        seen,
        session.org.map(OrgId::uuid),
        session.created_at.as_micros(),
        session.expires_at.as_micros(),
        session.revoked_at.map(Timestamp::as_micros),
    )
    .execute(connection)
    .await?;
    all_written(created.rows_affected(), 1)
}

pub(super) async fn switch_session(
    connection: &mut PgConnection,
    session: &Session,
    at: Timestamp,
) -> Result<(), ApplyError> {
    let switched = sqlx::query!(
        "UPDATE sessions SET org_id = $3
         WHERE id = $1 AND user_id = $2 AND revoked_at IS NULL AND expires_at > $4",
        session.id.uuid(),
        session.user.uuid(),
        session.org.map(OrgId::uuid),
        at.as_micros(),
    )
    .execute(connection)
    .await?;
    all_written(switched.rows_affected(), 1)
}

pub(super) async fn end_sessions(
    connection: &mut PgConnection,
    end: SessionEnd,
    at: Timestamp,
) -> Result<(), ApplyError> {
    let at = at.as_micros();
    match end {
        SessionEnd::SignOut(session) => {
            let id = session.uuid();
            sqlx::query!("UPDATE sessions SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL", id, at)
                .execute(connection)
                .await?;
        }
        SessionEnd::PasswordChange { user, keep } => {
            sqlx::query!(
                "UPDATE sessions SET revoked_at = $3
                 WHERE user_id = $1 AND revoked_at IS NULL AND ($2::uuid IS NULL OR id <> $2)",
                user.uuid(),
                keep.map(|keep| keep.uuid()),
                at,
            )
            .execute(&mut *connection)
            .await?;
            // A reset email that was requested before the change must not undo it.
            sqlx::query!("DELETE FROM user_tokens WHERE user_id = $1 AND purpose = 'password'", user.uuid())
                .execute(connection)
                .await?;
        }
        SessionEnd::AccountDeletion(user) => {
            let id = user.uuid();
            sqlx::query!("UPDATE sessions SET revoked_at = $2 WHERE user_id = $1 AND revoked_at IS NULL", id, at)
                .execute(connection)
                .await?;
        }
    }
    Ok(())
}
