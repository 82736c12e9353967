//! A row of `agents`.

use kalends_app::ports::FieldCipher;
use kalends_calendars::{Agent, AgentStatus, AgentType};
use kalends_kernel::{AgentId, OrgId, StoreError, Timestamp, Version};

use super::{Row, row_id};

pub(crate) struct AgentRow {
    pub(crate) id: Vec<u8>,
    pub(crate) name: String,
    pub(crate) r#type: String,
    pub(crate) description: Option<String>,
    pub(crate) status: String,
    pub(crate) metadata: String,
    pub(crate) version: i64,
    pub(crate) created_at: i64,
    pub(crate) updated_at: i64,
}

impl AgentRow {
    pub(crate) fn read(self, org: OrgId, cipher: &dyn FieldCipher) -> Result<Agent, StoreError> {
        let id = AgentId::from_uuid(row_id("agents", "id", &self.id)?);
        let row = Row { table: "agents", id: &id };
        Ok(Agent {
            id,
            org,
            name: self.name,
            kind: row.named("type", AgentType::from_name, &self.r#type)?,
            description: self.description,
            status: row.named("status", AgentStatus::from_name, &self.status)?,
            metadata: row.metadata(id.uuid(), &self.metadata, cipher)?,
            version: Version(self.version),
            created_at: Timestamp::from_micros(self.created_at),
            updated_at: Timestamp::from_micros(self.updated_at),
        })
    }
}
