//! A row of `agents`.

use kalends_app::ports::FieldCipher;
use kalends_calendars::{Agent, AgentStatus, AgentType};
use kalends_kernel::{AgentId, OrgId, StoreError, Timestamp, Version};
use uuid::Uuid;

use super::Located;
use crate::sealed::{agent_metadata, open_metadata};

/// The columns of an agent.
pub(crate) struct AgentRow {
    pub(crate) org_id: Uuid,
    pub(crate) id: Uuid,
    pub(crate) name: String,
    pub(crate) kind: String,
    pub(crate) description: Option<String>,
    pub(crate) status: String,
    pub(crate) metadata: String,
    pub(crate) version: i64,
    pub(crate) created_at: i64,
    pub(crate) updated_at: i64,
}

/// Builds an [`AgentRow`] from a record that may have more columns.
macro_rules! agent_row {
    ($record:ident) => {
        $crate::rows::AgentRow {
            org_id: $record.org_id,
            id: $record.id,
            name: $record.name,
            kind: $record.kind,
            description: $record.description,
            status: $record.status,
            metadata: $record.metadata,
            version: $record.version,
            created_at: $record.created_at,
            updated_at: $record.updated_at,
        }
    };
}
pub(crate) use agent_row;

impl AgentRow {
    pub(crate) fn into_domain(self, cipher: &dyn FieldCipher) -> Result<Agent, StoreError> {
        let id = AgentId::from_uuid(self.id);
        let row = Located { table: "agents", id };
        Ok(Agent {
            id,
            org: OrgId::from_uuid(self.org_id),
            kind: row.named("type", &self.kind, AgentType::from_name)?,
            status: row.named("status", &self.status, AgentStatus::from_name)?,
            metadata: open_metadata(agent_metadata(id), id, &self.metadata, cipher)?,
            name: self.name,
            description: self.description,
            version: Version(self.version),
            created_at: Timestamp::from_micros(self.created_at),
            updated_at: Timestamp::from_micros(self.updated_at),
        })
    }
}
