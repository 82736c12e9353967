//! Rows of `availability_grants`, with those of their calendars and agents.

use kalends_bridge::{Audience, Grant};
use kalends_kernel::{AgentId, ExternalCalendarId, GrantId, OrgId, StoreError, UserId, Version};
use kalends_time::Timestamp;
use uuid::Uuid;

use crate::{Key, Located, row_id};

columns! {
    $ macro grant_row;
    /// The columns of a grant, and the keys of its sources and agents. `S` is the type of those keys.
    pub struct GrantRow<K, S> {
        id: K,
        human_id: K,
        audience: String,
        /// The keys of the external calendars, in any order.
        sources: Vec<S>,
        /// The keys of the agents, in any order.
        agents: Vec<S>,
        version: i64,
        created_at: i64,
    }
}

impl<K: Key, S: Key> GrantRow<K, S> {
    /// The grant, or an error that names the corrupt column.
    pub fn into_domain(self, org: OrgId) -> Result<Grant, StoreError> {
        let id = GrantId::from_uuid(row_id("availability_grants", "id", &self.id)?);
        let row = Located { table: "availability_grants", id: &id };
        let of = |table, column, keys: Vec<S>| {
            let row = Located { table, id };
            let mut read = keys.iter().map(|key| row.uuid(column, key)).collect::<Result<Vec<Uuid>, _>>()?;
            // The statement does not guarantee an order.
            read.sort_unstable();
            Ok::<_, StoreError>(read)
        };
        let sources = of("availability_grant_sources", "external_calendar_id", self.sources)?;
        let agents = of("availability_grant_agents", "agent_id", self.agents)?;
        Ok(Grant {
            id,
            org,
            human: UserId::from_uuid(row.uuid("human_id", &self.human_id)?),
            sources: sources.into_iter().map(ExternalCalendarId::from_uuid).collect(),
            audience: row.named("audience", &self.audience, Audience::from_name)?,
            agents: agents.into_iter().map(AgentId::from_uuid).collect(),
            version: Version(self.version),
            created_at: Timestamp::from_micros(self.created_at),
        })
    }
}

columns! {
    $ macro listed_grant_row;
    /// The columns of a grant, and its sources and agents as lists in text: their keys as hexadecimal digits, separated
    /// by commas. A list without keys is null.
    pub struct ListedGrantRow<K> {
        id: K,
        human_id: K,
        audience: String,
        sources: Option<String>,
        agents: Option<String>,
        version: i64,
        created_at: i64,
    }
}

impl<K: Key> ListedGrantRow<K> {
    /// The grant, or an error that names the corrupt column.
    pub fn into_domain(self, org: OrgId) -> Result<Grant, StoreError> {
        let each =
            |listed: Option<String>| listed.iter().flat_map(|listed| listed.split(',')).map(str::to_owned).collect();
        let row = GrantRow::<K, String> {
            id: self.id,
            human_id: self.human_id,
            audience: self.audience,
            sources: each(self.sources),
            agents: each(self.agents),
            version: self.version,
            created_at: self.created_at,
        };
        row.into_domain(org)
    }
}
