//! Two organizations that differ only in whether somebody has read their change feed.

use anyhow::Result;

use super::data::{Organization, agent_with_calendar};
use crate::connection::{Connection, get};
use crate::load::CONNECTIONS;
use crate::service::Program;

/// Creates the one whose feed nobody has read, and the one whose feed was read.
pub(crate) async fn create(connection: &mut Connection, program: &Program) -> Result<(Organization, Organization)> {
    let unread = organization(connection, program, "Unread").await?;
    let followed = organization(connection, program, "Followed").await?;
    // The feed keeps changes from the first request on.
    connection.ask(&get("/v1/changes", Some(&followed.key))).await?.json(200)?;
    Ok((unread, followed))
}

async fn organization(connection: &mut Connection, program: &Program, name: &str) -> Result<Organization> {
    let key = program.create_organization(name).await?;
    let mut calendars = Vec::with_capacity(CONNECTIONS);
    for writer in 0..CONNECTIONS {
        calendars.push(agent_with_calendar(connection, &key, &format!("Writer {writer}")).await?.1);
    }
    Ok(Organization { key, calendars })
}
