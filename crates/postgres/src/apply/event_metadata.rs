//! The index by which lists find events by their metadata.

use kalends_rows::EventWrite;
use uuid::Uuid;

/// The digests of events as parameters of the statements that write the events: one entry per digest in each list.
#[derive(Default)]
pub(super) struct Digests {
    pub(super) orgs: Vec<Uuid>,
    pub(super) events: Vec<Uuid>,
    pub(super) digests: Vec<i64>,
    pub(super) calendars: Vec<Uuid>,
}

impl Digests {
    pub(super) fn of(writes: &[EventWrite<'_>]) -> Self {
        let mut all = Self::default();
        for EventWrite { event, digests, .. } in writes {
            for digest in *digests {
                all.orgs.push(event.org.uuid());
                all.events.push(event.id.uuid());
                all.digests.push(*digest);
                all.calendars.push(event.calendar.uuid());
            }
        }
        all
    }
}
