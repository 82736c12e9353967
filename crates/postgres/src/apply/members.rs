//! Members of organizations, and invitations to become one.
//!
//! `organization_owners` keeps one owner of each organization that has any; `organization_members` has all others.

use kalends_accounts::{MemberInvitation, Membership};
use kalends_kernel::{MemberInvitationId, OrgId, UserId, Version};
use sqlx::PgConnection;

use super::people::touch;
use crate::error::{ApplyError, all_written};

/// If the organization is deleted at the same time, the row may stay until the organization's last rows are removed.
pub(super) async fn add_owner(
    connection: &mut PgConnection,
    membership: &Membership,
    seen: Version,
) -> Result<(), ApplyError> {
    touch(connection, membership.user, seen).await?;
    let added = sqlx::query!(
        "INSERT INTO organization_owners (org_id, user_id, owned_since)
         SELECT o.id, $2, $3 FROM organizations o WHERE o.id = $1
         ON CONFLICT (org_id) DO NOTHING",
        membership.org.uuid(),
        membership.user.uuid(),
        membership.since.as_micros(),
    )
    .execute(connection)
    .await?;
    all_written(added.rows_affected(), 1)
}

pub(super) async fn add(
    connection: &mut PgConnection,
    membership: &Membership,
    seen: Version,
) -> Result<(), ApplyError> {
    touch(connection, membership.user, seen).await?;
    all_written(insert(connection, membership).await?, 1)
}

/// Returns 0 if the organization does not exist, or if the user is a member of it.
async fn insert(connection: &mut PgConnection, membership: &Membership) -> Result<u64, ApplyError> {
    let added = sqlx::query!(
        "INSERT INTO organization_members (org_id, user_id, role, since)
         SELECT o.id, $2, $3, $4 FROM organizations o
         WHERE o.id = $1
             AND NOT EXISTS (SELECT FROM organization_owners w WHERE w.org_id = $1 AND w.user_id = $2)
             AND NOT EXISTS (SELECT FROM organization_members m WHERE m.org_id = $1 AND m.user_id = $2)",
        membership.org.uuid(),
        membership.user.uuid(),
        membership.role.as_str(),
        membership.since.as_micros(),
    )
    .execute(connection)
    .await?;
    Ok(added.rows_affected())
}

pub(super) async fn change_role(
    connection: &mut PgConnection,
    membership: &Membership,
    seen: Version,
) -> Result<(), ApplyError> {
    touch(connection, membership.user, seen).await?;
    let changed = sqlx::query!(
        "UPDATE organization_members SET role = $3 WHERE org_id = $1 AND user_id = $2",
        membership.org.uuid(),
        membership.user.uuid(),
        membership.role.as_str(),
    )
    .execute(&mut *connection)
    .await?;
    if changed.rows_affected() == 1 {
        return Ok(());
    }
    // The kept owner gives up the place.
    all_written(give_up(connection, membership.org, membership.user).await?, 1)?;
    all_written(insert(connection, membership).await?, 1)?;
    all_written(keep_another(connection, membership.org).await?, 1)
}

pub(super) async fn remove(
    connection: &mut PgConnection,
    user: UserId,
    org: OrgId,
    seen: Version,
) -> Result<(), ApplyError> {
    touch(connection, user, seen).await?;
    sqlx::query!("DELETE FROM sessions WHERE user_id = $1 AND org_id = $2", user.uuid(), org.uuid())
        .execute(&mut *connection)
        .await?;
    let removed =
        sqlx::query!("DELETE FROM organization_members WHERE org_id = $1 AND user_id = $2", org.uuid(), user.uuid())
            .execute(&mut *connection)
            .await?;
    if removed.rows_affected() == 1 {
        return Ok(());
    }
    all_written(give_up(connection, org, user).await?, 1)?;
    keep_another(connection, org).await?;
    Ok(())
}

/// Removes the user as the kept owner. Returns 0 if another user is.
async fn give_up(connection: &mut PgConnection, org: OrgId, user: UserId) -> Result<u64, ApplyError> {
    let removed =
        sqlx::query!("DELETE FROM organization_owners WHERE org_id = $1 AND user_id = $2", org.uuid(), user.uuid())
            .execute(connection)
            .await?;
    Ok(removed.rows_affected())
}

/// Keeps the one of the other owners who has been a member longest. Returns 0 if there is none.
async fn keep_another(connection: &mut PgConnection, org: OrgId) -> Result<u64, ApplyError> {
    let kept = sqlx::query!(
        "INSERT INTO organization_owners (org_id, user_id, owned_since)
         SELECT m.org_id, m.user_id, m.since FROM organization_members m JOIN users u ON u.id = m.user_id
         WHERE m.org_id = $1 AND m.role = 'owner' ORDER BY m.since, m.user_id LIMIT 1",
        org.uuid(),
    )
    .execute(&mut *connection)
    .await?;
    sqlx::query!(
        "DELETE FROM organization_members WHERE org_id = $1 AND user_id IN (
             SELECT user_id FROM organization_owners WHERE org_id = $1)",
        org.uuid(),
    )
    .execute(connection)
    .await?;
    Ok(kept.rows_affected())
}

pub(super) async fn put_invitation(
    connection: &mut PgConnection,
    invitation: &MemberInvitation,
) -> Result<(), ApplyError> {
    let put = sqlx::query!(
        "INSERT INTO member_invitations (id, org_id, email, role, token_hash, invited_by, created_at, expires_at)
         SELECT $1, o.id, $3, $4, $5, $6, $7, $8 FROM organizations o WHERE o.id = $2
         ON CONFLICT (org_id, email) DO UPDATE SET id = excluded.id, role = excluded.role,
             token_hash = excluded.token_hash, invited_by = excluded.invited_by, created_at = excluded.created_at,
             expires_at = excluded.expires_at",
        invitation.id.uuid(),
        invitation.org.uuid(),
        invitation.email.as_str(),
        invitation.role.as_str(),
        invitation.token.0.as_slice(),
        invitation.invited_by.uuid(),
        invitation.created_at.as_micros(),
        invitation.expires_at.as_micros(),
    )
    .execute(connection)
    .await?;
    all_written(put.rows_affected(), 1)
}

pub(super) async fn remove_invitation(
    connection: &mut PgConnection,
    org: OrgId,
    id: MemberInvitationId,
) -> Result<(), ApplyError> {
    let removed = sqlx::query!("DELETE FROM member_invitations WHERE org_id = $1 AND id = $2", org.uuid(), id.uuid())
        .execute(connection)
        .await?;
    all_written(removed.rows_affected(), 1)
}
