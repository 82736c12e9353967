//! Organizations, keys, codes, users and sessions (`people`), and the use that is charged to organizations.

use std::collections::{BTreeMap, BTreeSet};

use kalends_accounts::{ApiKey, Change, Organization, ScopedKey, VerificationCode};
use kalends_app::{Guard, ports::CommitError};
use kalends_kernel::{KeyId, OrgId, StoreError, Version};
use kalends_plans::Metric;
use kalends_quotas::Period;
use kalends_rows::{SealedChangeSet, approval_columns, reply_to_json, scopes_text};
use kalends_time::Timestamp;
use sqlx::SqliteConnection;

use super::{claims, connectors, members, people, second_factors};
use crate::{
    counts::counts,
    error::{Failure, email_taken, failed, fresh},
    json::{self, Hex},
};

/// Refuses the group if the organization of one of its change-sets does not exist. Once the deletion of an
/// organization is committed, no row is added to it.
pub(crate) async fn check_organizations(
    connection: &mut SqliteConnection,
    group: &[&SealedChangeSet],
) -> Result<(), Failure> {
    let presumed = group.iter().filter(|sealed| sealed.changes().presumes_organization());
    let wanted: BTreeSet<OrgId> = presumed.map(|sealed| sealed.changes().org).collect();
    if wanted.is_empty() {
        return Ok(());
    }
    let rows: Vec<_> = wanted.into_iter().map(|org| Hex(org.uuid())).collect();
    let rows = json::rows(&rows)?;
    let missing = sqlx::query_scalar!(
        "select count(*) from json_each(?1)
         where not exists (select 1 from organizations where id = unhex(value))",
        rows
    )
    .fetch_one(connection)
    .await?;
    if missing == 0 { Ok(()) } else { Err(CommitError::NoOrganization.into()) }
}

/// Applies the changes of one change-set in their order.
pub(crate) async fn apply(connection: &mut SqliteConnection, sealed: &SealedChangeSet) -> Result<(), Failure> {
    for (change, secret) in sealed.accounts() {
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
            Change::PutCode { code, seen } => put_code(connection, code, *seen).await?,
            Change::RecordAcceptance { org, acceptance } => {
                let (org_id, at) = (org.uuid(), acceptance.at.as_micros());
                sqlx::query!(
                    "insert into terms_acceptances (org_id, version, accepted_at) values (?1, ?2, ?3)",
                    org_id,
                    acceptance.version,
                    at
                )
                .execute(&mut *connection)
                .await?;
            }
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
    if sealed.changes().alters_principals() {
        sqlx::query!("update principals_epoch set epoch = epoch + 1 where one = 1").execute(connection).await?;
    }
    Ok(())
}

async fn create_organization(connection: &mut SqliteConnection, organization: &Organization) -> Result<(), Failure> {
    let id = organization.id.uuid();
    let (name, plan) = (organization.name.as_str(), organization.plan.as_str());
    let overrides = organization.limit_overrides.as_ref().map(ToString::to_string);
    let email = organization.email.as_ref().map(|email| email.as_str());
    let (verified_at, waitlisted_at) =
        (organization.verified_at.map(Timestamp::as_micros), organization.waitlist.since().map(Timestamp::as_micros));
    let accepted = organization.accepted.as_ref();
    let (accepted_terms, accepted_at) =
        (accepted.map(|accepted| accepted.version.as_str()), accepted.map(|accepted| accepted.at.as_micros()));
    let (version, created_at) = (organization.version.0, organization.created_at.as_micros());
    let source = organization.source.as_str();
    sqlx::query!(
        "insert into organizations (id, name, plan, limit_overrides, test, email, verified_at, waitlisted_at,
            accepted_terms, accepted_at, version, created_at, signup_source)
         values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
        id,
        name,
        plan,
        overrides,
        organization.test,
        email,
        verified_at,
        waitlisted_at,
        accepted_terms,
        accepted_at,
        version,
        created_at,
        source
    )
    .execute(connection)
    .await
    .map_err(email_taken)?;
    Ok(())
}

async fn update_organization(
    connection: &mut SqliteConnection,
    organization: &Organization,
    seen: Version,
) -> Result<(), Failure> {
    let id = organization.id.uuid();
    let (name, plan) = (organization.name.as_str(), organization.plan.as_str());
    let overrides = organization.limit_overrides.as_ref().map(ToString::to_string);
    let email = organization.email.as_ref().map(|email| email.as_str());
    let (verified_at, waitlisted_at) =
        (organization.verified_at.map(Timestamp::as_micros), organization.waitlist.since().map(Timestamp::as_micros));
    let accepted = organization.accepted.as_ref();
    let (accepted_terms, accepted_at) =
        (accepted.map(|accepted| accepted.version.as_str()), accepted.map(|accepted| accepted.at.as_micros()));
    let (version, reply_to) = (organization.version.0, reply_to_json(&organization.reply_to));
    let updated = sqlx::query!(
        "update organizations set name = ?3, plan = ?4, limit_overrides = ?5, test = ?6, email = ?7, verified_at = ?8,
            waitlisted_at = ?9, accepted_terms = ?10, accepted_at = ?11, version = ?12, reply_to = ?13
         where id = ?1 and version = ?2",
        id,
        seen.0,
        name,
        plan,
        overrides,
        organization.test,
        email,
        verified_at,
        waitlisted_at,
        accepted_terms,
        accepted_at,
        version,
        reply_to
    )
    .execute(connection)
    .await
    .map_err(email_taken)?;
    fresh(updated.rows_affected(), 1)
}

async fn delete_organization(
    connection: &mut SqliteConnection,
    org: OrgId,
    seen: Version,
    at: Timestamp,
) -> Result<(), Failure> {
    let (id, at) = (org.uuid(), at.as_micros());
    let deleted = sqlx::query!("delete from organizations where id = ?1 and version = ?2", id, seen.0)
        .execute(&mut *connection)
        .await?;
    fresh(deleted.rows_affected(), 1)?;
    sqlx::query!("delete from api_keys where org_id = ?1", id).execute(&mut *connection).await?;
    sqlx::query!("delete from authorization_codes where org_id = ?1", id).execute(&mut *connection).await?;
    sqlx::query!("delete from refresh_tokens where org_id = ?1", id).execute(&mut *connection).await?;
    // Nothing more is sent.
    sqlx::query!("delete from letters where org_id = ?1", id).execute(&mut *connection).await?;
    sqlx::query!("delete from webhooks where org_id = ?1", id).execute(&mut *connection).await?;
    sqlx::query!("delete from ical_subscriptions where org_id = ?1", id).execute(&mut *connection).await?;
    // No connection is refreshed any more, and no connection link can be followed.
    sqlx::query!("delete from calendar_connections where org_id = ?1", id).execute(&mut *connection).await?;
    sqlx::query!("delete from connection_links where org_id = ?1", id).execute(&mut *connection).await?;
    // Nothing more is booked.
    sqlx::query!("delete from booking_pages where org_id = ?1", id).execute(&mut *connection).await?;
    sqlx::query!("delete from webhook_queues where org_id = ?1", id).execute(&mut *connection).await?;
    // Nobody works in it any more, or joins it.
    sqlx::query!("delete from organization_owners where org_id = ?1", id).execute(&mut *connection).await?;
    sqlx::query!("delete from organization_members where org_id = ?1", id).execute(&mut *connection).await?;
    sqlx::query!("delete from member_invitations where org_id = ?1", id).execute(&mut *connection).await?;
    sqlx::query!("delete from sessions where org_id = ?1", id).execute(&mut *connection).await?;
    sqlx::query!("update terms_acceptances set org_id = null where org_id = ?1", id).execute(&mut *connection).await?;
    sqlx::query!("insert into account_deletions (org_id, deleted_at) values (?1, ?2)", id, at)
        .execute(connection)
        .await?;
    Ok(())
}

async fn create_key(connection: &mut SqliteConnection, key: &ApiKey) -> Result<(), Failure> {
    let (org_id, id, kind, created_at) = (key.org.uuid(), key.id.uuid(), key.kind.as_str(), key.created_at.as_micros());
    let hash = key.hash.0.as_slice();
    sqlx::query!(
        "insert into api_keys (org_id, id, kind, hash, prefix, created_at) values (?1, ?2, ?3, ?4, ?5, ?6)",
        org_id,
        id,
        kind,
        hash,
        key.prefix,
        created_at
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// Creates the key only if its agent is not decommissioned.
async fn create_scoped_key(connection: &mut SqliteConnection, key: &ScopedKey) -> Result<(), Failure> {
    let (org_id, id, agent_id) = (key.org.uuid(), key.id.uuid(), key.agent.uuid());
    let (hash, created_at) = (key.hash.0.as_slice(), key.created_at.as_micros());
    let label = key.label.as_ref().map(|label| label.as_str());
    let scopes = scopes_text(key.scopes);
    let (requires_approval, approval_minutes) = approval_columns(key.approval.as_ref());
    let client_id = key.connector.map(|connector| connector.client.uuid());
    let access_expires_at = key.connector.map(|connector| connector.expires_at.as_micros());
    let created = sqlx::query!(
        "insert into api_keys (org_id, id, kind, hash, prefix, agent_id, label, created_at, created_by, scopes,
            requires_approval, approval_minutes, client_id, access_expires_at)
         select a.org_id, ?2, ?3, ?4, ?5, a.id, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14 from agents a
         where a.org_id = ?1 and a.id = ?6 and a.status <> 'decommissioned'",
        org_id,
        id,
        ScopedKey::KIND,
        hash,
        key.prefix,
        agent_id,
        label,
        created_at,
        key.created_by,
        scopes,
        requires_approval,
        approval_minutes,
        client_id,
        access_expires_at
    )
    .execute(connection)
    .await?;
    fresh(created.rows_affected(), 1)
}

async fn revoke_key(connection: &mut SqliteConnection, org: OrgId, key: KeyId, at: Timestamp) -> Result<(), Failure> {
    let (org_id, id, at) = (org.uuid(), key.uuid(), at.as_micros());
    let revoked = sqlx::query!(
        "update api_keys set revoked_at = ?3 where org_id = ?1 and id = ?2 and revoked_at is null",
        org_id,
        id,
        at
    )
    .execute(connection)
    .await?;
    fresh(revoked.rows_affected(), 1)
}

async fn revoke_keys(
    connection: &mut SqliteConnection,
    org: OrgId,
    of_agents: bool,
    at: Timestamp,
) -> Result<(), Failure> {
    let (org_id, at) = (org.uuid(), at.as_micros());
    sqlx::query!(
        "update api_keys set revoked_at = ?3
         where org_id = ?1 and (?2 or agent_id is null) and revoked_at is null",
        org_id,
        of_agents,
        at
    )
    .execute(connection)
    .await?;
    Ok(())
}

async fn put_code(
    connection: &mut SqliteConnection,
    code: &VerificationCode,
    seen: Option<Version>,
) -> Result<(), Failure> {
    let (org_id, hash) = (code.org.uuid(), code.hash.0.as_slice());
    let (expires_at, version) = (code.expires_at.as_micros(), code.version.0);
    let put = match seen {
        Some(seen) => {
            sqlx::query!(
                "update verification_codes set hash = ?3, expires_at = ?4, attempts = ?5, version = ?6
                 where org_id = ?1 and version = ?2",
                org_id,
                seen.0,
                hash,
                expires_at,
                code.attempts,
                version
            )
            .execute(connection)
            .await?
        }
        None => {
            sqlx::query!(
                "insert into verification_codes (org_id, hash, expires_at, attempts, version)
                 values (?1, ?2, ?3, ?4, ?5) on conflict (org_id) do nothing",
                org_id,
                hash,
                expires_at,
                code.attempts,
                version
            )
            .execute(connection)
            .await?
        }
    };
    fresh(put.rows_affected(), 1)
}

/// What one organization uses of one metric in one month.
#[derive(Default)]
struct Used {
    amount: u64,
    limit: Option<u64>,
}

/// Charges the use of all change-sets of the group. Charges to the same metric add up.
///
/// Refuses with [`CommitError::LimitReached`] if a limit would be exceeded.
pub(crate) async fn charge(connection: &mut SqliteConnection, group: &[&SealedChangeSet]) -> Result<(), Failure> {
    let mut totals = BTreeMap::<(OrgId, Metric, Period), Used>::new();
    for sealed in group {
        for charge in &sealed.changes().charges {
            let used = totals.entry((sealed.changes().org, charge.metric, charge.period)).or_default();
            used.amount = used.amount.saturating_add(charge.amount);
            // If the limits differ, the lowest applies.
            used.limit = used.limit.into_iter().chain(charge.limit).min();
        }
    }
    if totals.is_empty() {
        return Ok(());
    }
    let rows: Vec<_> = totals
        .iter()
        .map(|((org, metric, period), used)| (Hex(org.uuid()), metric.as_str(), period.number(), used.amount))
        .collect();
    let rows = json::rows(&rows)?;
    let charged = sqlx::query!(
        r#"insert or fail into usage_counters (org_id, metric, period, used)
         select unhex(value ->> 0), value ->> 1, value ->> 2, value ->> 3 from jsonb_each(?1) where true
         on conflict (org_id, metric, period) do update set used = used + excluded.used
         returning org_id as "org_id!", metric as "metric!", period as "period!", used as "used!""#,
        rows
    )
    .fetch_all(connection)
    .await?;
    // The rows come in no particular order. The transaction holds the only writer's lock, so comparing after the
    // write is as safe as comparing in it.
    for ((org, metric, period), total) in &totals {
        let row = charged.iter().find(|row| {
            row.period == period.number() && row.metric == metric.as_str() && row.org_id == org.uuid().as_bytes()
        });
        let used = row.and_then(|row| u64::try_from(row.used).ok());
        let used = used.ok_or_else(|| {
            CommitError::Store(StoreError::corrupt("usage_counters", "used", org, format_args!("{metric:?} {period}")))
        })?;
        if let Some(limit) = total.limit.filter(|limit| used > *limit) {
            return Err(CommitError::LimitReached { metric: *metric, limit }.into());
        }
    }
    Ok(())
}

/// A guard needs a count that this store does not have.
#[derive(Debug, thiserror::Error)]
#[error("no table counts the metric {0}")]
struct Uncounted(&'static str);

/// Refuses with [`CommitError::LimitReached`] if more exists than the guards allow.
pub(crate) async fn check_existing(connection: &mut SqliteConnection, sealed: &SealedChangeSet) -> Result<(), Failure> {
    let uncounted = |metric: Metric| Failure::from(CommitError::Store(failed(Uncounted(metric.as_str()))));
    for guard in &sealed.changes().guards {
        let (metric, limit, now) = match *guard {
            // Series end by themselves, so their number depends on the time.
            Guard::AtMost { metric: metric @ Metric::RecurringEvents, .. } => return Err(uncounted(metric)),
            // The time matters only for series.
            Guard::AtMost { metric, limit } => (metric, limit, Timestamp::from_micros(0)),
            Guard::SeriesAtMost { limit, now } => (Metric::RecurringEvents, limit, now),
            Guard::CalendarRevision { .. }
            | Guard::CalendarTime { .. }
            | Guard::CalendarsOfAgent { .. }
            | Guard::PlacedAtMost { .. }
            | Guard::Guests { .. } => continue,
        };
        let counted = counts(&mut *connection, sealed.changes().org, None, Some(metric), now).await?;
        let row = counted.iter().find(|row| row.metric == metric.as_str()).ok_or_else(|| uncounted(metric))?;
        if crate::read::count(row.used) > limit {
            return Err(CommitError::LimitReached { metric, limit }.into());
        }
    }
    Ok(())
}
