//! The journal of runs: what a request adds to it, and reading it.

use kalends_calendars::{Change, Event};
use kalends_kernel::{EventId, RunWriteId, Version};
use kalends_runs::{Change as Journaled, Entry, Kept, Resource, RunKey, RunName, WRITES_MAX, ports::WRITES_KEPT};
use kalends_time::Timestamp;
use kalends_wire as wire;

use crate::{Actor, App, ChangeSet, Missing, Refusal, attempt::Attempt};

impl App {
    /// A run with its writes.
    ///
    /// # Errors
    /// [`Refusal::NotFound`]; [`Refusal::OutOfReach`] for the run of another agent.
    pub async fn run(&self, actor: &Actor, name: &str, agent: Option<&str>) -> Result<wire::Run, Refusal> {
        let run = self.run_key(actor, name, agent).await?;
        let entries = self.parts.store.run_writes(actor.org(), &run).await?;
        if entries.is_empty() {
            return Err(Refusal::missing(Missing::Run, name));
        }
        let kept = self.parts.store.kept_events(actor.org(), &events_of(&entries)).await?;
        let write = |entry: Entry| wire::RunWrite {
            resource_type: resource_type(entry.resource),
            resource_id: shown_id(entry.resource, &kept),
            operation: entry.operation,
            at: entry.at,
            undone_at: entry.undone_at,
        };
        Ok(wire::Run { name: run.name.to_string(), writes: entries.into_iter().map(write).collect() })
    }

    /// Forgets up to `limit` old writes of runs. Returns whether none is left.
    ///
    /// # Errors
    /// The store fails.
    pub async fn purge_run_writes(&self, limit: u32) -> Result<bool, Refusal> {
        let before = self.now() - WRITES_KEPT;
        Ok(self.parts.store.purge_run_writes(before, limit).await? < u64::from(limit))
    }

    /// The run with that name, of the agent, or else of the one for which the caller speaks.
    pub(crate) async fn run_key(&self, actor: &Actor, name: &str, agent: Option<&str>) -> Result<RunKey, Refusal> {
        let owner = match agent {
            Some(id) => Some(self.agent(actor, id).await?.id),
            None => actor.narrowed_to(),
        };
        let name = RunName::parse(name).map_err(|_| Refusal::missing(Missing::Run, name))?;
        Ok(RunKey { owner, name })
    }

    /// Adds the writes of `changes` to the journal of the request's run, if it names one. Stale if an event has another
    /// version than the one that the decision read.
    pub(crate) async fn journal(&self, actor: &Actor, changes: &mut ChangeSet) -> Result<(), Attempt> {
        let Some(name) = &actor.request.run else { return Ok(()) };
        let run = RunKey { owner: actor.narrowed_to(), name: name.clone() };
        let now = self.now();
        let mut writes = self.written_events(changes, now).await?;
        writes.extend(changes.proposals.iter().filter_map(|change| match change {
            kalends_proposals::Change::Create(proposal) => {
                Some((Resource::Proposal(proposal.id()), None, proposal.version()))
            }
            kalends_proposals::Change::Update { .. } => None,
        }));
        if writes.is_empty() {
            return Ok(());
        }
        let recorded = self.parts.store.count_run_writes(changes.org, &run).await?;
        if recorded.saturating_add(writes.len() as u64) > WRITES_MAX as u64 {
            return Err(Refusal::RunFull(run.name).into());
        }
        let mut ids: Vec<RunWriteId> = writes.iter().map(|_| RunWriteId::new(now, self.entropy())).collect();
        ids.sort_unstable();
        let operation = actor.request.operation.id;
        changes.runs.extend(ids.into_iter().zip(writes).map(|(id, (resource, before, after))| {
            let operation = operation.to_owned();
            let entry = Entry { id, operation, resource, before, after, at: now, undone_at: None };
            Journaled::Record { run: run.clone(), entry: Box::new(entry) }
        }));
        Ok(())
    }

    /// The events that `changes` write, each with its state before and its version after. Holds that expired, and whose
    /// end is written here, are left out: they would have ended anyway.
    async fn written_events(
        &self,
        changes: &ChangeSet,
        now: Timestamp,
    ) -> Result<Vec<(Resource, Option<Box<Event>>, Version)>, Attempt> {
        let written: Vec<(&Event, Option<Version>)> = changes.calendars.iter().filter_map(written).collect();
        let seen: Vec<EventId> = written.iter().filter(|(_, seen)| seen.is_some()).map(|(event, _)| event.id).collect();
        let kept = if seen.is_empty() { Vec::new() } else { self.parts.store.kept_events(changes.org, &seen).await? };
        let mut writes = Vec::with_capacity(written.len());
        for (event, seen) in written {
            let before = match seen {
                None => None,
                Some(seen) => {
                    let found = kept.iter().find(|kept| kept.event.id == event.id);
                    let found = found.filter(|kept| kept.event.version == seen).ok_or(Attempt::Stale)?;
                    if ends_by_itself(&found.event, event, now) {
                        continue;
                    }
                    Some(Box::new(found.event.clone()))
                }
            };
            writes.push((Resource::Event(event.id), before, event.version));
        }
        Ok(writes)
    }
}

/// The event that a change writes, with the version that was read; `None` for a new event.
const fn written(change: &Change) -> Option<(&Event, Option<Version>)> {
    match change {
        Change::CreateEvent(event) => Some((event, None)),
        Change::UpdateEvent { event, seen } | Change::MoveEvent { event, seen, .. } => Some((event, Some(*seen))),
        Change::CreateAgent(_)
        | Change::UpdateAgent { .. }
        | Change::CreateCalendar(_)
        | Change::UpdateCalendar { .. }
        | Change::PlaceHolds { .. }
        | Change::PutRules { .. }
        | Change::DeleteRules(_)
        | Change::Reserve { .. }
        | Change::Unreserve { .. }
        | Change::AdvanceTimer(_) => None,
    }
}

/// Whether the write is only the end of a hold that has expired.
fn ends_by_itself(before: &Event, after: &Event, now: Timestamp) -> bool {
    before.expired(now).is_some_and(|ended| Event { updated_at: after.updated_at, ..ended } == *after)
}

/// The events that the entries name.
pub(crate) fn events_of(entries: &[Entry]) -> Vec<EventId> {
    let events = entries.iter().filter_map(|entry| match entry.resource {
        Resource::Event(id) => Some(id),
        Resource::Proposal(_) => None,
    });
    let mut events: Vec<EventId> = events.collect();
    events.sort_unstable();
    events.dedup();
    events
}

pub(crate) const fn resource_type(resource: Resource) -> wire::RunResource {
    match resource {
        Resource::Event(_) => wire::RunResource::Event,
        Resource::Proposal(_) => wire::RunResource::Proposal,
    }
}

/// The identifier by which callers know a resource: that of the occurrence, for an override of a series.
pub(crate) fn shown_id(resource: Resource, kept: &[Kept]) -> String {
    let found = kept.iter().find(|kept| Resource::Event(kept.event.id) == resource);
    match found.and_then(|kept| kept.event.occurrence()) {
        Some(occurrence) => occurrence.to_string(),
        None => resource.to_string(),
    }
}
