//! Users and their sessions.

use kalends_accounts::{Session, SessionEnd, TokenHash, User, UserToken, oauth::KnownIdentity};
use kalends_kernel::{OrgId, UserId, Version};
use kalends_time::Timestamp;
use sqlx::SqliteConnection;

use super::second_factors;
use crate::error::{Failure, email_taken, fresh};

pub(super) async fn create(connection: &mut SqliteConnection, user: &User) -> Result<(), Failure> {
    let (id, email, name) = (user.id.uuid(), user.email.as_str(), user.name.as_str());
    let verified_at = user.email_verified_at.map(Timestamp::as_micros);
    let password = user.password.as_ref().map(|password| password.as_str());
    let (created_at, updated_at) = (user.created_at.as_micros(), user.updated_at.as_micros());
    sqlx::query!(
        "insert into users (
             id, email, email_verified_at, holds_address, name, password_hash, version, created_at, updated_at
         ) values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        id,
        email,
        verified_at,
        user.holds_address,
        name,
        password,
        user.version.0,
        created_at,
        updated_at
    )
    .execute(connection)
    .await
    .map_err(email_taken)?;
    Ok(())
}

pub(super) async fn update(connection: &mut SqliteConnection, user: &User, seen: Version) -> Result<(), Failure> {
    let (id, email, name) = (user.id.uuid(), user.email.as_str(), user.name.as_str());
    let verified_at = user.email_verified_at.map(Timestamp::as_micros);
    let password = user.password.as_ref().map(|password| password.as_str());
    let updated_at = user.updated_at.as_micros();
    let updated = sqlx::query!(
        "update users set email = ?3, email_verified_at = ?4, holds_address = ?5, name = ?6, password_hash = ?7,
            version = ?8, updated_at = ?9
         where id = ?1 and version = ?2",
        id,
        seen.0,
        email,
        verified_at,
        user.holds_address,
        name,
        password,
        user.version.0,
        updated_at
    )
    .execute(connection)
    .await
    .map_err(email_taken)?;
    fresh(updated.rows_affected(), 1)
}

/// Raises the version of the user if it is the one that the decision saw.
pub(super) async fn touch(connection: &mut SqliteConnection, user: UserId, seen: Version) -> Result<(), Failure> {
    let id = user.uuid();
    let touched = sqlx::query!("update users set version = version + 1 where id = ?1 and version = ?2", id, seen.0)
        .execute(connection)
        .await?;
    fresh(touched.rows_affected(), 1)
}

pub(super) async fn delete(connection: &mut SqliteConnection, user: UserId, seen: Version) -> Result<(), Failure> {
    let id = user.uuid();
    let deleted =
        sqlx::query!("delete from users where id = ?1 and version = ?2", id, seen.0).execute(&mut *connection).await?;
    fresh(deleted.rows_affected(), 1)?;
    sqlx::query!("delete from organization_owners where user_id = ?1", id).execute(&mut *connection).await?;
    sqlx::query!("delete from organization_members where user_id = ?1", id).execute(&mut *connection).await?;
    sqlx::query!("delete from sessions where user_id = ?1", id).execute(&mut *connection).await?;
    sqlx::query!("delete from account_claims where user_id = ?1", id).execute(&mut *connection).await?;
    sqlx::query!("delete from user_tokens where user_id = ?1", id).execute(&mut *connection).await?;
    sqlx::query!("delete from authorization_codes where user_id = ?1", id).execute(&mut *connection).await?;
    second_factors::remove(&mut *connection, user).await?;
    remove_identities(connection, user).await
}

/// Refuses as stale if the identity already signs in a user: the decision did not see that.
pub(super) async fn add_identity(connection: &mut SqliteConnection, identity: &KnownIdentity) -> Result<(), Failure> {
    let (provider, user_id, since) = (identity.provider.as_str(), identity.user.uuid(), identity.since.as_micros());
    let added = sqlx::query!(
        "insert into user_identities (provider, issuer, subject, user_id, since) values (?1, ?2, ?3, ?4, ?5)
         on conflict (provider, issuer, subject) do nothing",
        provider,
        identity.issuer,
        identity.subject,
        user_id,
        since
    )
    .execute(connection)
    .await?;
    fresh(added.rows_affected(), 1)
}

pub(super) async fn remove_identities(connection: &mut SqliteConnection, user: UserId) -> Result<(), Failure> {
    let user_id = user.uuid();
    sqlx::query!("delete from user_identities where user_id = ?1", user_id).execute(connection).await?;
    Ok(())
}

pub(super) async fn put_token(connection: &mut SqliteConnection, token: UserToken) -> Result<(), Failure> {
    let (user_id, purpose, hash) = (token.user.uuid(), token.purpose.as_str(), token.token.0.as_slice());
    let expires_at = token.expires_at.as_micros();
    let put = sqlx::query!(
        "insert into user_tokens (user_id, purpose, token_hash, expires_at)
         select u.id, ?2, ?3, ?4 from users u where u.id = ?1
         on conflict (user_id, purpose) do update set token_hash = excluded.token_hash,
             expires_at = excluded.expires_at",
        user_id,
        purpose,
        hash,
        expires_at
    )
    .execute(connection)
    .await?;
    fresh(put.rows_affected(), 1)
}

pub(super) async fn use_token(connection: &mut SqliteConnection, TokenHash(token): TokenHash) -> Result<(), Failure> {
    let token = token.as_slice();
    let used = sqlx::query!("delete from user_tokens where token_hash = ?1", token).execute(connection).await?;
    fresh(used.rows_affected(), 1)
}

pub(super) async fn create_session(
    connection: &mut SqliteConnection,
    session: &Session,
    seen: Version,
) -> Result<(), Failure> {
    let (id, user_id, org_id) = (session.id.uuid(), session.user.uuid(), session.org.map(OrgId::uuid));
    let (created_at, expires_at) = (session.created_at.as_micros(), session.expires_at.as_micros());
    let revoked_at = session.revoked_at.map(Timestamp::as_micros);
    let created = sqlx::query!(
        "insert into sessions (id, user_id, org_id, created_at, expires_at, revoked_at)
         select ?1, u.id, ?4, ?5, ?6, ?7 from users u where u.id = ?2 and u.version = ?3",
        id,
        user_id,
        seen.0,
        org_id,
        created_at,
        expires_at,
        revoked_at
    )
    .execute(connection)
    .await?;
    fresh(created.rows_affected(), 1)
}

pub(super) async fn switch_session(
    connection: &mut SqliteConnection,
    session: &Session,
    at: Timestamp,
) -> Result<(), Failure> {
    let (id, user_id, org_id) = (session.id.uuid(), session.user.uuid(), session.org.map(OrgId::uuid));
    let at = at.as_micros();
    let switched = sqlx::query!(
        "update sessions set org_id = ?3 where id = ?1 and user_id = ?2 and revoked_at is null and expires_at > ?4",
        id,
        user_id,
        org_id,
        at
    )
    .execute(connection)
    .await?;
    fresh(switched.rows_affected(), 1)
}

pub(super) async fn end_sessions(
    connection: &mut SqliteConnection,
    end: SessionEnd,
    at: Timestamp,
) -> Result<(), Failure> {
    let at = at.as_micros();
    match end {
        SessionEnd::SignOut(session) => {
            let id = session.uuid();
            sqlx::query!("update sessions set revoked_at = ?2 where id = ?1 and revoked_at is null", id, at)
                .execute(connection)
                .await?;
        }
        SessionEnd::PasswordChange { user, keep } => {
            let (user_id, keep) = (user.uuid(), keep.map(|keep| keep.uuid()));
            sqlx::query!(
                "update sessions set revoked_at = ?3
                 where user_id = ?1 and revoked_at is null and (?2 is null or id <> ?2)",
                user_id,
                keep,
                at
            )
            .execute(&mut *connection)
            .await?;
            // A reset email that was requested before the change must not undo it.
            sqlx::query!("delete from user_tokens where user_id = ?1 and purpose = 'password'", user_id)
                .execute(connection)
                .await?;
        }
        SessionEnd::AccountDeletion(user) => {
            let user_id = user.uuid();
            sqlx::query!("update sessions set revoked_at = ?2 where user_id = ?1 and revoked_at is null", user_id, at)
                .execute(connection)
                .await?;
        }
    }
    Ok(())
}
