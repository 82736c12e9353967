//! The journal of a run.

use std::collections::BTreeMap;

use kalends_calendars::Event;
use kalends_kernel::{AgentId, EventId, ProposalId, RunWriteId, Version};
use kalends_time::Timestamp;

use crate::RunName;

/// The maximum number of writes of a run.
pub const WRITES_MAX: usize = 500;

/// What identifies a run within its organization. Runs of two owners may have the same name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunKey {
    /// The agent whose key made the run; `None` for all other callers.
    pub owner: Option<AgentId>,
    /// The name.
    pub name: RunName,
}

/// The kind of a resource that a run writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ResourceKind {
    /// An event, a series, an override of a series or a hold.
    Event,
    /// A proposal.
    Proposal,
}

impl ResourceKind {
    /// The name in rows and answers.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Event => "event",
            Self::Proposal => "proposal",
        }
    }

    /// The kind with that name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Event, Self::Proposal].into_iter().find(|kind| kind.as_str() == name)
    }
}

/// A resource that a run wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Resource {
    /// An event, a series, an override of a series or a hold.
    Event(EventId),
    /// A proposal.
    Proposal(ProposalId),
}

impl Resource {
    /// The kind.
    pub const fn kind(self) -> ResourceKind {
        match self {
            Self::Event(_) => ResourceKind::Event,
            Self::Proposal(_) => ResourceKind::Proposal,
        }
    }
}

impl std::fmt::Display for Resource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Event(id) => id.fmt(f),
            Self::Proposal(id) => id.fmt(f),
        }
    }
}

/// One write of a run to one resource.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The identifier.
    pub id: RunWriteId,
    /// The identifier of the operation that wrote.
    pub operation: String,
    /// What was written.
    pub resource: Resource,
    /// The event before the write; `None` if the resource did not exist.
    pub before: Option<Box<Event>>,
    /// The version that the write gave it.
    pub after: Version,
    /// When it was written.
    pub at: Timestamp,
    /// When the write was taken back, if it was.
    pub undone_at: Option<Timestamp>,
}

/// All writes of a run to one resource.
#[derive(Debug, Clone, PartialEq)]
pub struct Written {
    /// What was written.
    pub resource: Resource,
    /// The event before the first write; `None` if the resource did not exist.
    pub before: Option<Box<Event>>,
    /// The version after the last write.
    pub after: Version,
    /// When the run first wrote it.
    pub since: Timestamp,
    /// Whether nobody else wrote it between two writes of the run.
    pub alone: bool,
}

/// The resources that `entries` wrote, each once, in the order of their first writes.
pub fn collapse<'a>(entries: impl IntoIterator<Item = &'a Entry>) -> Vec<Written> {
    let mut of: BTreeMap<Resource, Vec<&Entry>> = BTreeMap::new();
    let mut order = Vec::new();
    for entry in entries {
        let known = of.entry(entry.resource).or_default();
        if known.is_empty() {
            order.push(entry.resource);
        }
        known.push(entry);
    }
    let written = order.into_iter().filter_map(|resource| {
        let mut entries = of.remove(&resource)?;
        entries.sort_by_key(|entry| entry.after);
        let follows = |pair: &[&Entry]| match pair {
            [one, next] => next.before.as_ref().is_some_and(|before| before.version == one.after),
            _ => true,
        };
        let alone = entries.windows(2).all(follows);
        let (first, last) = (entries.first()?, entries.last()?);
        Some(Written { resource, before: first.before.clone(), after: last.after, since: first.at, alone })
    });
    written.collect()
}
