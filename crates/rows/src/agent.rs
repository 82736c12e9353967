//! A row of `agents`.

use kalends_app::ports::FieldCipher;
use kalends_calendars::{Agent, AgentStatus, AgentType};
use kalends_kernel::{AgentId, OrgId, StoreError, Version};
use kalends_time::Timestamp;

use crate::{Key, Located, places, row_id};

columns! {
    $ macro agent_row;
    /// The columns of an agent.
    #[derive(serde::Deserialize)]
    pub struct AgentRow<K> {
        id: K,
        name: String,
        r#type: String,
        description: Option<String>,
        status: String,
        metadata: String,
        version: i64,
        created_at: i64,
        updated_at: i64,
    }
}

impl<K: Key> AgentRow<K> {
    /// The agent, or an error that names the corrupt column.
    pub fn open(self, org: OrgId, cipher: &dyn FieldCipher) -> Result<Agent, StoreError> {
        let id = AgentId::from_uuid(row_id("agents", "id", &self.id)?);
        let row = Located { table: "agents", id: &id };
        Ok(Agent {
            id,
            org,
            name: self.name,
            kind: row.named("type", &self.r#type, AgentType::from_name)?,
            description: self.description,
            status: row.named("status", &self.status, AgentStatus::from_name)?,
            metadata: row.metadata(places::agent_metadata(id), &self.metadata, cipher)?,
            version: Version(self.version),
            created_at: Timestamp::from_micros(self.created_at),
            updated_at: Timestamp::from_micros(self.updated_at),
        })
    }
}
