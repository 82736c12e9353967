//! Batches of events.

use serde::{Deserialize, Serialize};

use super::{CreateEvent, Event};
use crate::derives::ToSchema;

#[cfg(feature = "schema")]
mod schema;
#[cfg(feature = "schema")]
use schema::BatchedEvent;

/// Up to 100 events. Either all of them are created or none.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateEventBatch {
    /// 1-100 events.
    #[schema(value_type = Vec<BatchedEvent>, min_items = 1, max_items = 100)]
    pub events: Vec<CreateEvent>,
}

/// The events of a batch, in the order in which they were sent.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct EventBatch {
    /// The created events.
    pub data: Vec<Event>,
}
