//! Rows of `availability_grants`, with those of their calendars and agents.

use kalends_bridge::{Audience, Grant};
use kalends_kernel::{AgentId, ExternalCalendarId, GrantId, OrgId, StoreError, Timestamp, UserId, Version};
use uuid::Uuid;

use super::{Row, row_id};

pub(crate) struct GrantRow {
    pub(crate) id: Vec<u8>,
    pub(crate) human_id: Vec<u8>,
    pub(crate) audience: String,
    /// The identifiers as hexadecimal digits, separated by commas; `None` if there are none.
    pub(crate) sources: Option<String>,
    /// The agents, in the same form.
    pub(crate) agents: Option<String>,
    pub(crate) version: i64,
    pub(crate) created_at: i64,
}

impl GrantRow {
    pub(crate) fn read(self, org: OrgId) -> Result<Grant, StoreError> {
        let id = GrantId::from_uuid(row_id("availability_grants", "id", &self.id)?);
        let row = Row { table: "availability_grants", id: &id };
        let of = |table, column, listed: Option<String>| {
            let row = Row { table, id: &id };
            let each = listed.iter().flat_map(|listed| listed.split(','));
            let mut read: Vec<Uuid> = each.map(|digits| row.read(column, digits.parse())).collect::<Result<_, _>>()?;
            // The aggregate does not guarantee an order.
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
            audience: row.named("audience", Audience::from_name, &self.audience)?,
            agents: agents.into_iter().map(AgentId::from_uuid).collect(),
            version: Version(self.version),
            created_at: Timestamp::from_micros(self.created_at),
        })
    }
}
