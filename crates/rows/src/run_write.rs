//! A row of `run_writes`, whose state is sealed.

use kalends_app::ports::FieldCipher;
use kalends_kernel::{AgentId, EventId, OrgId, ProposalId, RunWriteId, StoreError, Version};
use kalends_runs::{Entry, Resource, ResourceKind, RunKey};
use kalends_time::Timestamp;
use uuid::Uuid;

use crate::{Key, Located, event_state::read_event_state, places, row_id};

columns! {
    /// The columns of a write of a run.
    pub struct RunWriteRow<K> {
        id: K,
        operation: String,
        resource_type: String,
        resource_id: K,
        state: Option<String>,
        version: i64,
        written_at: i64,
        undone_at: Option<i64>,
    }
}

impl<K: Key> RunWriteRow<K> {
    /// The write, or an error that names the corrupt column.
    pub fn open(self, org: OrgId, cipher: &dyn FieldCipher) -> Result<Entry, StoreError> {
        let id = RunWriteId::from_uuid(row_id("run_writes", "id", &self.id)?);
        let row = Located { table: "run_writes", id };
        let resource = row.uuid("resource_id", &self.resource_id)?;
        let resource = match row.named("resource_type", &self.resource_type, ResourceKind::from_name)? {
            ResourceKind::Event => Resource::Event(EventId::from_uuid(resource)),
            ResourceKind::Proposal => Resource::Proposal(ProposalId::from_uuid(resource)),
        };
        let before = match self.state {
            None => None,
            Some(sealed) => {
                let plain = row.open(places::run_state(id), &sealed, cipher)?;
                Some(Box::new(read_event_state(org, &plain, &row, "state")?))
            }
        };
        Ok(Entry {
            id,
            operation: self.operation,
            resource,
            before,
            after: Version(self.version),
            at: Timestamp::from_micros(self.written_at),
            undone_at: self.undone_at.map(Timestamp::from_micros),
        })
    }
}

/// The owner of a run as a column, which is never null: the agent, or all zeros.
pub fn run_owner(run: &RunKey) -> Uuid {
    run.owner.map_or(Uuid::nil(), AgentId::uuid)
}

/// The identifier of what a run wrote, as a column.
pub const fn resource_uuid(resource: Resource) -> Uuid {
    match resource {
        Resource::Event(id) => id.uuid(),
        Resource::Proposal(id) => id.uuid(),
    }
}
