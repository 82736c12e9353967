//! The last step of the use cases that change an event: its message, its answer and the commit.

use kalends_calendars::{Event, Publication};
use kalends_kernel::AgentId;
use kalends_notifications::EventType;
use kalends_time::{Timestamp, Zone};
use kalends_wire as wire;

use crate::{Actor, Answered, App, ChangeSet, attempt::Attempt, local::shown_in};

/// An event that a use case has changed.
pub(crate) struct ChangedEvent {
    /// The event as of now.
    pub(crate) event: Event,
    /// What happened to it.
    pub(crate) about: EventType,
    /// The identifier under which the audit log records the change: the event's, or the occurrence's.
    pub(crate) resource: String,
    /// The owner of its calendar.
    pub(crate) agent: Option<AgentId>,
    /// The zone of its calendar, for notices and for the local times that a request may ask for; `None` if it is not
    /// known.
    pub(crate) zone: Option<Zone>,
    /// How the events of its calendar are published; `None` if that is not known.
    pub(crate) publication: Option<Publication>,
}

impl App {
    /// Adds the message about an event to `changes`, and returns the event without local times and without the state of
    /// its copy.
    pub(crate) fn announced(
        &self,
        event: Event,
        about: EventType,
        now: Timestamp,
        changes: &mut ChangeSet,
    ) -> wire::Event {
        let version = event.version;
        let resource = wire::Event::from(event);
        changes.messages.push(self.message(changes.org, about, &resource, version, now));
        resource
    }

    /// Commits `changes` with the message about the event. The answer shows the event.
    pub(crate) async fn commit_event(
        &self,
        actor: &Actor,
        changed: ChangedEvent,
        now: Timestamp,
        mut changes: ChangeSet,
    ) -> Result<Answered<wire::Event>, Attempt> {
        let ChangedEvent { event, about, resource, agent, zone, publication } = changed;
        let version = event.version;
        let sync = self.sync_of(publication, &event).await?;
        let event = self.announced(event, about, now, &mut changes).with_external_sync(sync);
        let event = match zone {
            Some(zone) => shown_in(actor, event, zone),
            None => event,
        };
        let answer = Answered::shows(&actor.request, event, Some(version));
        let answered = self.commit_for(actor, agent, resource, changes, answer).await?;
        self.nudge_publishing(publication);
        Ok(answered)
    }
}
