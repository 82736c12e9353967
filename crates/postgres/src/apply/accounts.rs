//! Organizations, keys, codes and acceptances of terms.
//!
//! These are rare and few, so each is a statement of its own.

use std::collections::BTreeSet;

use kalends_accounts::{Acceptance, ApiKey, Change, Organization, ScopedKey, VerificationCode};
use kalends_app::ports::CommitError;
use kalends_kernel::{KeyId, OrgId, Version};
use kalends_rows::{SealedChangeSet, approval_columns, reply_to_json, scopes_text};
use kalends_time::Timestamp;
use sqlx::PgConnection;
use uuid::Uuid;

use super::{claims, connectors, members, people, second_factors};
use crate::error::{ApplyError, all_written};

/// Writes the rows in the order of the changes.
pub(crate) async fn apply(connection: &mut PgConnection, batch: &[SealedChangeSet]) -> Result<(), ApplyError> {
    for (change, secret) in batch.iter().flat_map(SealedChangeSet::accounts) {
        match change {
            Change::CreateOrganization(organization) => create_organization(connection, organization).await?,
            Change::UpdateOrganization { organization, seen } => {
                update_organization(connection, organization, *seen).await?;
            }
            Change::CreateKey(key) => create_key(connection, key).await?,
            Change::CreateScopedKey(key) => create_scoped_key(connection, key).await?,
            Change::GrantCode(code) => connectors::grant(connection, code).await?,
            Change::UseCode { hash, key } => connectors::use_code(connection, *hash, *key).await?,
            Change::RenewKey { org, key, hash, expires_at } => {
                connectors::renew_key(connection, (*org, *key), *hash, *expires_at).await?;
            }
            Change::PutRefreshToken(token) => connectors::put_refresh_token(connection, token).await?,
            Change::SpendRefreshToken { org, hash, at } => {
                connectors::spend_refresh_token(connection, *org, *hash, *at).await?;
            }
            Change::RevokeKey { org, key, at } => revoke_key(connection, *org, *key, *at).await?,
            Change::RevokeKeys { org, of_agents, at } => revoke_keys(connection, *org, *of_agents, *at).await?,
            Change::PutCode { code, seen: None } => create_code(connection, code).await?,
            Change::PutCode { code, seen: Some(seen) } => update_code(connection, code, *seen).await?,
            Change::RecordAcceptance { org, acceptance } => record(connection, *org, acceptance).await?,
            Change::CreateClaim(claim) => claims::create(connection, claim).await?,
            Change::UpdateClaim { claim, seen } => claims::update(connection, claim, *seen).await?,
            Change::DeleteOrganization { org, seen, at } => delete_organization(connection, *org, *seen, *at).await?,
            Change::AddIdentity(identity) => people::add_identity(connection, identity).await?,
            Change::RemoveIdentities(user) => people::remove_identities(connection, *user).await?,
            Change::PutUserToken(token) => people::put_token(connection, *token).await?,
            Change::UseUserToken(token) => people::use_token(connection, *token).await?,
            Change::PutSecondFactor(factor) => second_factors::put(connection, factor, secret).await?,
            Change::ConfirmSecondFactor(factor) => second_factors::confirm(connection, factor).await?,
            Change::UseSecondFactor { user, used, seen } => {
                second_factors::use_up(connection, *user, *used, *seen).await?;
            }
            Change::PutRecoveryCodes { user, codes } => {
                second_factors::put_codes(connection, *user, codes).await?;
            }
            Change::RemoveSecondFactor(user) => second_factors::remove(connection, *user).await?,
            Change::CreateUser(user) => people::create(connection, user).await?,
            Change::UpdateUser { user, seen } => people::update(connection, user, *seen).await?,
            Change::AddOwner { membership, seen } => members::add_owner(connection, membership, *seen).await?,
            Change::AddMember { membership, seen } => members::add(connection, membership, *seen).await?,
            Change::ChangeRole { membership, seen } => members::change_role(connection, membership, *seen).await?,
            Change::RemoveMember { user, org, seen } => members::remove(connection, *user, *org, *seen).await?,
            Change::RaiseUser { user, seen } => people::touch(connection, *user, *seen).await?,
            Change::PutInvitation(invitation) => members::put_invitation(connection, invitation).await?,
            Change::RemoveInvitation { org, id } => members::remove_invitation(connection, *org, *id).await?,
            Change::DeleteUser { user, seen } => people::delete(connection, *user, *seen).await?,
            Change::CreateSession { session, seen } => people::create_session(connection, session, *seen).await?,
            Change::SwitchSession { session, at } => people::switch_session(connection, session, *at).await?,
            Change::EndSessions { end, at } => people::end_sessions(connection, *end, *at).await?,
        }
    }
    Ok(())
}

/// Refuses if an organization does not exist, and locks the existing ones against deletion until the transaction
/// ends. After a committed deletion, no row is added. A later deletion waits, and then removes what was added.
///
/// Those in `locked` have been checked already, with their calendars.
pub(crate) async fn check_organizations(
    connection: &mut PgConnection,
    batch: &[SealedChangeSet],
    locked: &BTreeSet<Uuid>,
) -> Result<(), ApplyError> {
    let presumed = batch.iter().map(SealedChangeSet::changes).filter(|changes| changes.presumes_organization());
    let wanted: BTreeSet<Uuid> =
        presumed.map(|changes| changes.org.uuid()).filter(|org| !locked.contains(org)).collect();
    if wanted.is_empty() {
        return Ok(());
    }
    let (count, wanted) = (wanted.len(), wanted.into_iter().collect::<Vec<_>>());
    let found = sqlx::query_scalar!(
        "SELECT id FROM organizations WHERE id = ANY($1::uuid[]) ORDER BY id FOR KEY SHARE",
        &wanted,
    )
    .fetch_all(connection)
    .await?;
    if found.len() == count { Ok(()) } else { Err(ApplyError::Refused(CommitError::NoOrganization)) }
}

/// Raises the epoch of principals if a change-set changes the principal of a key. All nodes contend for this one row,
/// so it is locked last.
pub(crate) async fn raise_epoch(connection: &mut PgConnection, batch: &[SealedChangeSet]) -> Result<(), ApplyError> {
    if batch.iter().any(|sealed| sealed.changes().alters_principals()) {
        sqlx::query!("UPDATE principals_epoch SET epoch = epoch + 1 WHERE one = 1").execute(connection).await?;
    }
    Ok(())
}

async fn create_organization(connection: &mut PgConnection, organization: &Organization) -> Result<(), ApplyError> {
    let Optional { limit_overrides, email, verified_at, waitlisted_at, accepted_terms, accepted_at } =
        Optional::of(organization);
    sqlx::query!(
        "INSERT INTO organizations (id, name, plan, limit_overrides, test, email, verified_at, waitlisted_at,
             accepted_terms, accepted_at, version, created_at, signup_source)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)",
        organization.id.uuid(),
        organization.name.as_str(),
        organization.plan.as_str(),
        limit_overrides,
        organization.test,
        email,
        verified_at,
        waitlisted_at,
        accepted_terms,
        accepted_at,
        organization.version.0,
        organization.created_at.as_micros(),
        organization.source.as_str(),
    )
    .execute(connection)
    .await?;
    Ok(())
}

async fn update_organization(
    connection: &mut PgConnection,
    organization: &Organization,
    Version(seen): Version,
) -> Result<(), ApplyError> {
    let Optional { limit_overrides, email, verified_at, waitlisted_at, accepted_terms, accepted_at } =
        Optional::of(organization);
    let written = sqlx::query!(
        "UPDATE organizations SET name = $3, plan = $4, limit_overrides = $5, test = $6, email = $7, verified_at = $8,
             waitlisted_at = $9, accepted_terms = $10, accepted_at = $11, version = $12, reply_to = $13
         WHERE id = $1 AND version = $2",
        organization.id.uuid(),
        seen,
        organization.name.as_str(),
        organization.plan.as_str(),
        limit_overrides,
        organization.test,
        email,
        verified_at,
        waitlisted_at,
        accepted_terms,
        accepted_at,
        organization.version.0,
        reply_to_json(&organization.reply_to),
    )
    .execute(connection)
    .await?;
    all_written(written.rows_affected(), 1)
}

async fn delete_organization(
    connection: &mut PgConnection,
    org: OrgId,
    Version(seen): Version,
    at: Timestamp,
) -> Result<(), ApplyError> {
    let id = org.uuid();
    let deleted = sqlx::query!("DELETE FROM organizations WHERE id = $1 AND version = $2", id, seen)
        .execute(&mut *connection)
        .await?;
    all_written(deleted.rows_affected(), 1)?;
    sqlx::query!("DELETE FROM api_keys WHERE org_id = $1", id).execute(&mut *connection).await?;
    sqlx::query!("DELETE FROM authorization_codes WHERE org_id = $1", id).execute(&mut *connection).await?;
    sqlx::query!("DELETE FROM refresh_tokens WHERE org_id = $1", id).execute(&mut *connection).await?;
    // Nothing more is sent.
    sqlx::query!("DELETE FROM letters WHERE org_id = $1", id).execute(&mut *connection).await?;
    sqlx::query!("DELETE FROM webhooks WHERE org_id = $1", id).execute(&mut *connection).await?;
    sqlx::query!("DELETE FROM ical_subscriptions WHERE org_id = $1", id).execute(&mut *connection).await?;
    // No connection is refreshed any more, and no connection link can be followed.
    sqlx::query!("DELETE FROM calendar_connections WHERE org_id = $1", id).execute(&mut *connection).await?;
    sqlx::query!("DELETE FROM connection_links WHERE org_id = $1", id).execute(&mut *connection).await?;
    // Nothing more is booked.
    sqlx::query!("DELETE FROM booking_pages WHERE org_id = $1", id).execute(&mut *connection).await?;
    sqlx::query!("DELETE FROM webhook_queues WHERE org_id = $1", id).execute(&mut *connection).await?;
    // Nobody works in it any more, or joins it.
    sqlx::query!("DELETE FROM organization_owners WHERE org_id = $1", id).execute(&mut *connection).await?;
    sqlx::query!("DELETE FROM organization_members WHERE org_id = $1", id).execute(&mut *connection).await?;
    sqlx::query!("DELETE FROM member_invitations WHERE org_id = $1", id).execute(&mut *connection).await?;
    sqlx::query!("DELETE FROM sessions WHERE org_id = $1", id).execute(&mut *connection).await?;
    sqlx::query!("UPDATE terms_acceptances SET org_id = NULL WHERE org_id = $1", id).execute(&mut *connection).await?;
    sqlx::query!("INSERT INTO account_deletions (org_id, deleted_at) VALUES ($1, $2)", id, at.as_micros())
        .execute(connection)
        .await?;
    Ok(())
}

/// The nullable columns of an organization.
struct Optional<'a> {
    limit_overrides: Option<String>,
    email: Option<&'a str>,
    verified_at: Option<i64>,
    waitlisted_at: Option<i64>,
    accepted_terms: Option<&'a str>,
    accepted_at: Option<i64>,
}

impl<'a> Optional<'a> {
    fn of(organization: &'a Organization) -> Self {
        Self {
            limit_overrides: organization.limit_overrides.as_ref().map(ToString::to_string),
            email: organization.email.as_ref().map(|email| email.as_str()),
            verified_at: organization.verified_at.map(|at| at.as_micros()),
            waitlisted_at: organization.waitlist.since().map(Timestamp::as_micros),
            accepted_terms: organization.accepted.as_ref().map(|accepted| accepted.version.as_str()),
            accepted_at: organization.accepted.as_ref().map(|accepted| accepted.at.as_micros()),
        }
    }
}

async fn create_key(connection: &mut PgConnection, key: &ApiKey) -> Result<(), ApplyError> {
    sqlx::query!(
        "INSERT INTO api_keys (org_id, id, kind, hash, prefix, created_at) VALUES ($1, $2, $3, $4, $5, $6)",
        key.org.uuid(),
        key.id.uuid(),
        key.kind.as_str(),
        &key.hash.0,
        key.prefix,
        key.created_at.as_micros(),
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// Creates the key only if its agent is not decommissioned. If the agent is decommissioned at the same time, the key
/// ends with it anyway, since look-ups join the agent.
async fn create_scoped_key(connection: &mut PgConnection, key: &ScopedKey) -> Result<(), ApplyError> {
    let (requires_approval, approval_minutes) = approval_columns(key.approval.as_ref());
    let written = sqlx::query!(
        "INSERT INTO api_keys (org_id, id, kind, hash, prefix, agent_id, label, created_at, created_by, scopes,
             requires_approval, approval_minutes, client_id, access_expires_at)
         SELECT a.org_id, $2, $3, $4, $5, a.id, $7, $8, $9, $10, $11, $12, $13, $14
         FROM agents a
         WHERE a.org_id = $1 AND a.id = $6 AND a.status <> 'decommissioned'",
        key.org.uuid(),
        key.id.uuid(),
        ScopedKey::KIND,
        &key.hash.0,
        key.prefix,
        key.agent.uuid(),
        key.label.as_ref().map(|label| label.as_str()),
        key.created_at.as_micros(),
        key.created_by.as_deref(),
        scopes_text(key.scopes),
        requires_approval,
        approval_minutes,
        key.connector.map(|connector| connector.client.uuid()),
        key.connector.map(|connector| connector.expires_at.as_micros()),
    )
    .execute(connection)
    .await?;
    all_written(written.rows_affected(), 1)
}

async fn revoke_key(connection: &mut PgConnection, org: OrgId, key: KeyId, at: Timestamp) -> Result<(), ApplyError> {
    let written = sqlx::query!(
        "UPDATE api_keys SET revoked_at = $3 WHERE org_id = $1 AND id = $2 AND revoked_at IS NULL",
        org.uuid(),
        key.uuid(),
        at.as_micros(),
    )
    .execute(connection)
    .await?;
    all_written(written.rows_affected(), 1)
}

async fn revoke_keys(
    connection: &mut PgConnection,
    org: OrgId,
    of_agents: bool,
    at: Timestamp,
) -> Result<(), ApplyError> {
    sqlx::query!(
        "UPDATE api_keys SET revoked_at = $3
         WHERE org_id = $1 AND ($2 OR agent_id IS NULL) AND revoked_at IS NULL",
        org.uuid(),
        of_agents,
        at.as_micros(),
    )
    .execute(connection)
    .await?;
    Ok(())
}

async fn create_code(connection: &mut PgConnection, code: &VerificationCode) -> Result<(), ApplyError> {
    let written = sqlx::query!(
        "INSERT INTO verification_codes (org_id, hash, expires_at, attempts, version) VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (org_id) DO NOTHING",
        code.org.uuid(),
        &code.hash.0,
        code.expires_at.as_micros(),
        attempts(code),
        code.version.0,
    )
    .execute(connection)
    .await?;
    all_written(written.rows_affected(), 1)
}

async fn update_code(
    connection: &mut PgConnection,
    code: &VerificationCode,
    Version(seen): Version,
) -> Result<(), ApplyError> {
    let written = sqlx::query!(
        "UPDATE verification_codes SET hash = $3, expires_at = $4, attempts = $5, version = $6
         WHERE org_id = $1 AND version = $2",
        code.org.uuid(),
        seen,
        &code.hash.0,
        code.expires_at.as_micros(),
        attempts(code),
        code.version.0,
    )
    .execute(connection)
    .await?;
    all_written(written.rows_affected(), 1)
}

fn attempts(code: &VerificationCode) -> i32 {
    i32::try_from(code.attempts).unwrap_or(i32::MAX)
}

async fn record(connection: &mut PgConnection, org: OrgId, acceptance: &Acceptance) -> Result<(), ApplyError> {
    sqlx::query!(
        "INSERT INTO terms_acceptances (org_id, version, accepted_at) VALUES ($1, $2, $3)",
        org.uuid(),
        acceptance.version,
        acceptance.at.as_micros(),
    )
    .execute(connection)
    .await?;
    Ok(())
}
