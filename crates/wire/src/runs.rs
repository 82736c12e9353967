//! Runs: the writes of one task, and what takes them back.

use kalends_time::Timestamp;
use serde::{Deserialize, Serialize};

use crate::derives::{IntoParams, ToSchema};

/// Names the owner of a run.
#[derive(Debug, Default, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct OwnerOfRun {
    /// The agent whose key made the run. An agent's key reaches its own runs without it. Other callers reach the runs of
    /// the organization without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(example = "agt_01jn8r6v9ke0bt3m5qz2c7xwdh")]
    pub agent_id: Option<String>,
}

/// Names the owner of a run that is taken back.
#[derive(Debug, Default, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct UndoRun {
    /// The agent whose key made the run. An agent's key reaches its own runs without it. Other callers reach the runs of
    /// the organization without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(example = "agt_01jn8r6v9ke0bt3m5qz2c7xwdh")]
    pub agent_id: Option<String>,
    /// Whether to mail what changes to the attendees: invitations to what comes back or changes, and cancellations.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(default = false)]
    pub send_invitations: Option<bool>,
}

/// The kind of a resource that a run wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum RunResource {
    /// An event, a series, an occurrence or a hold.
    Event,
    /// A proposal.
    Proposal,
}

/// One write of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RunWrite {
    /// The `operationId` of the operation that wrote.
    pub operation: String,
    /// What was written.
    pub resource_type: RunResource,
    /// The identifier of what was written.
    pub resource_id: String,
    /// When it was written.
    #[schema(value_type = String, format = DateTime)]
    pub at: Timestamp,
    /// When the write was taken back. Null if it was not.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub undone_at: Option<Timestamp>,
}

/// A run with its writes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "name": "plan-week-10",
    "writes": [{
        "operation": "createEvent", "resource_type": "event", "resource_id": "evt_01jn8r7f5zh7nbsr9m2w4xcykd",
        "at": "2026-03-02T08:00:00Z", "undone_at": null
    }]
}))]
pub struct Run {
    /// The name.
    pub name: String,
    /// The writes in order, at most 500. They are kept for 7 days.
    pub writes: Vec<RunWrite>,
}

/// What an undo did to a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum UndoAction {
    /// It was deleted, because the run had created it.
    Removed,
    /// It has its state before the run again.
    Restored,
    /// The proposal was cancelled, because the run had created it.
    Cancelled,
}

/// A resource of a run that an undo changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct UndoneResource {
    /// The kind of resource.
    pub resource_type: RunResource,
    /// Its identifier.
    pub resource_id: String,
    /// What the undo did.
    pub action: UndoAction,
}

/// The outcome of an undo.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "name": "plan-week-10",
    "undone": [{ "resource_type": "event", "resource_id": "evt_01jn8r7f5zh7nbsr9m2w4xcykd", "action": "removed" }]
}))]
pub struct UndoneRun {
    /// The name of the run.
    pub name: String,
    /// The resources that changed. Empty if there was nothing to take back.
    pub undone: Vec<UndoneResource>,
}

/// Why a write cannot be taken back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum UndoObstacle {
    /// Something else changed the resource, during the run or after it.
    Changed,
    /// Its time must be free, and is not.
    TimeTaken,
    /// Its calendar was deleted.
    CalendarDeleted,
}

/// A resource that keeps a run from being taken back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct InTheWay {
    /// The kind of resource.
    pub resource_type: RunResource,
    /// Its identifier.
    pub resource_id: String,
    /// Why it is in the way.
    pub reason: UndoObstacle,
}
