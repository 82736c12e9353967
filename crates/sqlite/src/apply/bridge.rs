//! Connection links and grants of the bridge to human calendars. Connections and publishing have modules of their own.

use kalends_bridge::{Change, ConnectionLink, Grant};
use kalends_kernel::{GrantId, OrgId, Version};
use kalends_rows::SealedChangeSet;
use sqlx::SqliteConnection;

use super::{connections, publishing};
use crate::{
    error::{Failure, fresh},
    json::{self, Hex},
};

/// Applies the changes of one change-set in their order.
pub(crate) async fn apply(connection: &mut SqliteConnection, sealed: &SealedChangeSet) -> Result<(), Failure> {
    for (change, sealed) in sealed.bridge() {
        match change {
            Change::CreateLink(link) => create_link(connection, link).await?,
            Change::UpdateLink { link, seen } => update_link(connection, link, *seen).await?,
            Change::CreateConnection { connection: made, calendars } => {
                connections::create(connection, made, calendars, sealed).await?;
            }
            Change::UpdateConnection { connection: changed, seen, due } => {
                connections::update(connection, changed, sealed, *seen, *due).await?;
            }
            Change::ReauthorizeConnection { connection: changed, seen, at } => {
                connections::reauthorize(connection, changed, sealed, *seen, *at).await?;
            }
            Change::DeleteConnection { org, connection: gone, seen } => {
                connections::delete(connection, *org, *gone, *seen).await?;
            }
            Change::AskRefresh { org, connection: id, at } => {
                connections::ask(connection, *org, *id, *at).await?;
            }
            Change::EndRefresh { claim, access: _, state, calendars, gone, next, at } => {
                connections::end(connection, *claim, state, sealed, (*next, *at)).await?;
                connections::keep_calendars(connection, calendars, sealed).await?;
                let gone: Vec<_> = gone.iter().map(|calendar| Hex(calendar.uuid())).collect();
                connections::forget_calendars(connection, claim.org, &gone).await?;
            }
            Change::CreateGrant(grant) => create_grant(connection, grant).await?,
            Change::DeleteGrant { org, grant } => delete_grant(connection, *org, *grant).await?,
            Change::PutDestination { destination, seen } => publishing::put(connection, destination, *seen).await?,
            Change::EndDestination { org, calendar, seen, keep, at } => {
                publishing::end_destination(connection, (*org, *calendar), *seen, *keep, *at).await?;
            }
            Change::RecordCopies { claim, written, forgotten, until } => {
                publishing::extend_claim(connection, *claim, *until).await?;
                publishing::forget_copies(connection, *claim, forgotten).await?;
                publishing::write_copies(connection, *claim, written, &sealed.references).await?;
            }
            Change::EndPublishing { claim, state, revision, next, not_before } => {
                publishing::end(connection, *claim, state, *revision, (*next, *not_before)).await?;
            }
        }
    }
    Ok(())
}

async fn create_link(connection: &mut SqliteConnection, link: &ConnectionLink) -> Result<(), Failure> {
    let (org_id, id, calendar_id) = (link.org.uuid(), link.id.uuid(), link.calendar.uuid());
    let (agent_id, human_id) = (link.agent.map(|agent| agent.uuid()), link.human.map(|human| human.uuid()));
    let connection_id = link.connection.map(|connection| connection.uuid());
    let (secret, policy, state) = (link.secret.0.as_slice(), link.requested.policy.as_str(), link.state.as_str());
    let (expires_at, created_at) = (link.expires_at.as_micros(), link.created_at.as_micros());
    let updated_at = link.updated_at.as_micros();
    let created = sqlx::query!(
        "insert into connection_links (org_id, id, agent_id, calendar_id, secret_hash, publishing, policy, state,
            human_id, connection_id, expires_at, version, created_at, updated_at)
         select ?1, ?2, ?3, c.id, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14
         from calendars c left join agents a on a.org_id = c.org_id and a.id = c.agent_id
         where c.org_id = ?1 and c.id = ?4 and c.deleted_at is null
            and (c.agent_id is null or a.status <> 'decommissioned')
         on conflict (org_id, calendar_id) where state = 'awaiting_human' do nothing",
        org_id,
        id,
        agent_id,
        calendar_id,
        secret,
        link.requested.publishing,
        policy,
        state,
        human_id,
        connection_id,
        expires_at,
        link.version.0,
        created_at,
        updated_at
    )
    .execute(connection)
    .await?;
    fresh(created.rows_affected(), 1)
}

async fn update_link(connection: &mut SqliteConnection, link: &ConnectionLink, seen: Version) -> Result<(), Failure> {
    let (org_id, id) = (link.org.uuid(), link.id.uuid());
    let (human_id, connection_id) =
        (link.human.map(|human| human.uuid()), link.connection.map(|connection| connection.uuid()));
    let (policy, state) = (link.requested.policy.as_str(), link.state.as_str());
    let (expires_at, updated_at) = (link.expires_at.as_micros(), link.updated_at.as_micros());
    let updated = sqlx::query!(
        "update connection_links set publishing = ?4, policy = ?5, state = ?6, human_id = ?7, connection_id = ?8,
            expires_at = ?9, version = ?10, updated_at = ?11
         where org_id = ?1 and id = ?2 and version = ?3",
        org_id,
        id,
        seen.0,
        link.requested.publishing,
        policy,
        state,
        human_id,
        connection_id,
        expires_at,
        link.version.0,
        updated_at
    )
    .execute(connection)
    .await?;
    fresh(updated.rows_affected(), 1)
}

async fn create_grant(connection: &mut SqliteConnection, grant: &Grant) -> Result<(), Failure> {
    let (org_id, id, human_id) = (grant.org.uuid(), grant.id.uuid(), grant.human.uuid());
    let (audience, created_at) = (grant.audience.as_str(), grant.created_at.as_micros());
    sqlx::query!(
        "insert into availability_grants (org_id, id, human_id, audience, version, created_at)
         values (?1, ?2, ?3, ?4, ?5, ?6)",
        org_id,
        id,
        human_id,
        audience,
        grant.version.0,
        created_at
    )
    .execute(&mut *connection)
    .await?;
    let sources: Vec<_> = grant.sources.iter().map(|source| Hex(source.uuid())).collect();
    let sources = json::rows(&sources)?;
    let added = sqlx::query!(
        "insert into availability_grant_sources (org_id, grant_id, external_calendar_id)
         select ?1, ?2, e.id from json_each(?3) named
            cross join external_calendars e on e.org_id = ?1 and e.id = unhex(named.value)",
        org_id,
        id,
        sources
    )
    .execute(&mut *connection)
    .await?;
    fresh(added.rows_affected(), grant.sources.len() as u64)?;
    let agents: Vec<_> = grant.agents.iter().map(|agent| Hex(agent.uuid())).collect();
    let agents = json::rows(&agents)?;
    sqlx::query!(
        "insert into availability_grant_agents (org_id, grant_id, agent_id)
         select ?1, ?2, unhex(value) from json_each(?3)",
        org_id,
        id,
        agents
    )
    .execute(connection)
    .await?;
    Ok(())
}

async fn delete_grant(connection: &mut SqliteConnection, org: OrgId, grant: GrantId) -> Result<(), Failure> {
    let (org_id, id) = (org.uuid(), grant.uuid());
    let deleted = sqlx::query!("delete from availability_grants where org_id = ?1 and id = ?2", org_id, id)
        .execute(&mut *connection)
        .await?;
    fresh(deleted.rows_affected(), 1)?;
    // Busy times that no grant covers any more are deleted with the last grant.
    sqlx::query!(
        "update external_calendars
         set revision = revision + 1, read_at = null, covers_from = null, covers_until = null, spans = null,
            copies = null, tag = null
         where org_id = ?1 and read_at is not null and id in (
                select s.external_calendar_id from availability_grant_sources s where s.org_id = ?1 and s.grant_id = ?2)
            and not exists (
                select 1 from availability_grant_sources o
                where o.org_id = ?1 and o.external_calendar_id = external_calendars.id and o.grant_id <> ?2)",
        org_id,
        id
    )
    .execute(&mut *connection)
    .await?;
    sqlx::query!("delete from availability_grant_sources where org_id = ?1 and grant_id = ?2", org_id, id)
        .execute(&mut *connection)
        .await?;
    sqlx::query!("delete from availability_grant_agents where org_id = ?1 and grant_id = ?2", org_id, id)
        .execute(connection)
        .await?;
    Ok(())
}
