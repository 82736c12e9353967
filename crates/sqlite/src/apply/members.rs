//! Members of organizations, and invitations to become one.
//!
//! `organization_owners` keeps one owner of each organization that has any; `organization_members` has all others.

use kalends_accounts::{MemberInvitation, Membership};
use kalends_kernel::{MemberInvitationId, OrgId, UserId, Version};
use kalends_time::Timestamp;
use sqlx::SqliteConnection;

use super::people::touch;
use crate::error::{Failure, fresh};

pub(super) async fn add_owner(
    connection: &mut SqliteConnection,
    membership: &Membership,
    seen: Version,
) -> Result<(), Failure> {
    touch(connection, membership.user, seen).await?;
    let (org_id, user_id, since) = (membership.org.uuid(), membership.user.uuid(), membership.since.as_micros());
    let added = sqlx::query!(
        "insert into organization_owners (org_id, user_id, owned_since)
         select o.id, ?2, ?3 from organizations o where o.id = ?1
         on conflict (org_id) do nothing",
        org_id,
        user_id,
        since
    )
    .execute(connection)
    .await?;
    fresh(added.rows_affected(), 1)
}

pub(super) async fn add(
    connection: &mut SqliteConnection,
    membership: &Membership,
    seen: Version,
) -> Result<(), Failure> {
    touch(connection, membership.user, seen).await?;
    let added = insert(connection, membership).await?;
    fresh(added, 1)
}

/// Returns 0 if the organization does not exist, or if the user is a member of it.
async fn insert(connection: &mut SqliteConnection, membership: &Membership) -> Result<u64, Failure> {
    let (org_id, user_id) = (membership.org.uuid(), membership.user.uuid());
    let (role, since) = (membership.role.as_str(), membership.since.as_micros());
    let added = sqlx::query!(
        "insert into organization_members (org_id, user_id, role, since)
         select o.id, ?2, ?3, ?4 from organizations o
         where o.id = ?1
            and not exists (select 1 from organization_owners w where w.org_id = ?1 and w.user_id = ?2)
            and not exists (select 1 from organization_members m where m.org_id = ?1 and m.user_id = ?2)",
        org_id,
        user_id,
        role,
        since
    )
    .execute(connection)
    .await?;
    Ok(added.rows_affected())
}

pub(super) async fn change_role(
    connection: &mut SqliteConnection,
    membership: &Membership,
    seen: Version,
) -> Result<(), Failure> {
    touch(connection, membership.user, seen).await?;
    let (org_id, user_id, role) = (membership.org.uuid(), membership.user.uuid(), membership.role.as_str());
    let changed = sqlx::query!(
        "update organization_members set role = ?3 where org_id = ?1 and user_id = ?2",
        org_id,
        user_id,
        role
    )
    .execute(&mut *connection)
    .await?;
    if changed.rows_affected() == 1 {
        return Ok(());
    }
    // The kept owner gives up the place.
    fresh(give_up(connection, membership.org, membership.user).await?, 1)?;
    fresh(insert(connection, membership).await?, 1)?;
    fresh(keep_another(connection, membership.org).await?, 1)
}

pub(super) async fn remove(
    connection: &mut SqliteConnection,
    user: UserId,
    org: OrgId,
    seen: Version,
) -> Result<(), Failure> {
    touch(connection, user, seen).await?;
    let (org_id, user_id) = (org.uuid(), user.uuid());
    sqlx::query!("delete from sessions where user_id = ?1 and org_id = ?2", user_id, org_id)
        .execute(&mut *connection)
        .await?;
    let removed = sqlx::query!("delete from organization_members where org_id = ?1 and user_id = ?2", org_id, user_id)
        .execute(&mut *connection)
        .await?;
    if removed.rows_affected() == 1 {
        return Ok(());
    }
    fresh(give_up(connection, org, user).await?, 1)?;
    keep_another(connection, org).await?;
    Ok(())
}

/// Removes the user as the kept owner. Returns 0 if another user is.
async fn give_up(connection: &mut SqliteConnection, org: OrgId, user: UserId) -> Result<u64, Failure> {
    let (org_id, user_id) = (org.uuid(), user.uuid());
    let removed = sqlx::query!("delete from organization_owners where org_id = ?1 and user_id = ?2", org_id, user_id)
        .execute(connection)
        .await?;
    Ok(removed.rows_affected())
}

/// Keeps the one of the other owners who has been a member longest. Returns 0 if there is none.
async fn keep_another(connection: &mut SqliteConnection, org: OrgId) -> Result<u64, Failure> {
    let org_id = org.uuid();
    let kept = sqlx::query!(
        "insert into organization_owners (org_id, user_id, owned_since)
         select m.org_id, m.user_id, m.since from organization_members m cross join users u on u.id = m.user_id
         where m.org_id = ?1 and m.role = 'owner' order by m.since, m.user_id limit 1",
        org_id
    )
    .execute(&mut *connection)
    .await?;
    sqlx::query!(
        "delete from organization_members where org_id = ?1 and user_id in (
            select user_id from organization_owners where org_id = ?1)",
        org_id
    )
    .execute(connection)
    .await?;
    Ok(kept.rows_affected())
}

pub(super) async fn put_invitation(
    connection: &mut SqliteConnection,
    invitation: &MemberInvitation,
) -> Result<(), Failure> {
    let (id, org_id, email) = (invitation.id.uuid(), invitation.org.uuid(), invitation.email.as_str());
    let (role, token, invited_by) =
        (invitation.role.as_str(), invitation.token.0.as_slice(), invitation.invited_by.uuid());
    let [created_at, expires_at] = [invitation.created_at, invitation.expires_at].map(Timestamp::as_micros);
    let put = sqlx::query!(
        "insert into member_invitations (id, org_id, email, role, token_hash, invited_by, created_at, expires_at)
         select ?1, o.id, ?3, ?4, ?5, ?6, ?7, ?8 from organizations o where o.id = ?2
         on conflict (org_id, email) do update set id = excluded.id, role = excluded.role,
            token_hash = excluded.token_hash, invited_by = excluded.invited_by, created_at = excluded.created_at,
            expires_at = excluded.expires_at",
        id,
        org_id,
        email,
        role,
        token,
        invited_by,
        created_at,
        expires_at
    )
    .execute(connection)
    .await?;
    fresh(put.rows_affected(), 1)
}

pub(super) async fn remove_invitation(
    connection: &mut SqliteConnection,
    org: OrgId,
    id: MemberInvitationId,
) -> Result<(), Failure> {
    let (org_id, id) = (org.uuid(), id.uuid());
    let removed = sqlx::query!("delete from member_invitations where org_id = ?1 and id = ?2", org_id, id)
        .execute(connection)
        .await?;
    fresh(removed.rows_affected(), 1)
}
