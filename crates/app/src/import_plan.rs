//! What an import of a file would do, before anything is written.

use bytes::Bytes;
use kalends_calendars::{Change as Write, Event, Times};
use kalends_plans::Metric;
use kalends_wire as wire;

use crate::{
    Actor, App, ChangeSet, Refusal,
    attempt::retry_stale,
    conflicts::Turn,
    import::{Decided, Refused, fresh_in},
    syncing::Compared,
};

/// The maximum number of events that an [`ImportPlan`] names.
const NAMED_MAX: usize = 20;

/// What an import of a file would do.
#[derive(Debug, Clone, PartialEq)]
pub struct ImportPlan {
    /// The report that the import would return.
    pub report: wire::ImportReport,
    /// How many of the new events are series.
    pub new_series: u32,
    /// How many of the changed events are series.
    pub changed_series: u32,
    /// How many events and series would be deleted, because the file contains them in another form. They are not in the
    /// report.
    pub deleted: u32,
    /// How many changed occurrences would be deleted, because the file replaces their series. They are not in the
    /// report.
    pub dropped: u32,
    /// How many events would count against the limit of the month.
    pub charged: u64,
    /// The first events that would be created or changed, at most 20.
    pub first: Vec<PlannedEvent>,
    /// Whether the import takes several change-sets. Events of one are compared with those of the others only when the
    /// file is imported, so more or fewer of them can be refused then.
    pub in_parts: bool,
}

/// An event that an import would write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedEvent {
    /// The title, 1-500 characters.
    pub title: String,
    /// When it takes place. For a series, the times of its first occurrence.
    pub times: Times,
    /// Whether it would be created. Otherwise it would be changed.
    pub is_new: bool,
    /// What it is.
    pub kind: PlannedKind,
}

/// What a [`PlannedEvent`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlannedKind {
    /// An event that takes place once.
    Once,
    /// A series.
    Series,
    /// A changed occurrence of a series.
    Occurrence,
    /// An event, a series or an occurrence that the file cancels.
    Cancelled,
}

impl PlannedEvent {
    fn new(event: &Event, is_new: bool) -> Self {
        let kind = if !event.takes_place() {
            PlannedKind::Cancelled
        } else if event.recurrence().is_some() {
            PlannedKind::Series
        } else if event.occurrence().is_some() {
            PlannedKind::Occurrence
        } else {
            PlannedKind::Once
        };
        Self { title: event.title.clone(), times: event.times, is_new, kind }
    }
}

/// The events of an import so far.
#[derive(Debug, Default, PartialEq)]
struct Sum {
    new_series: u32,
    changed_series: u32,
    deleted: u32,
    dropped: u32,
    charged: u64,
    first: Vec<PlannedEvent>,
}

impl Sum {
    /// Adds what a change-set of the import writes.
    fn add(&mut self, changes: &ChangeSet) {
        let charges = changes.charges.iter().filter(|charge| charge.metric == Metric::Events);
        self.charged += charges.map(|charge| charge.amount).sum::<u64>();
        for change in &changes.calendars {
            let (event, is_new) = match change {
                Write::CreateEvent(event) => (event, true),
                Write::UpdateEvent { event, .. } => (event, false),
                _ => continue,
            };
            // An import also ends the holds whose time is up and that it meets. The file does not contain them.
            if event.hold.is_some() {
                continue;
            }
            if event.deleted_at.is_some() {
                *(if event.occurrence().is_some() { &mut self.dropped } else { &mut self.deleted }) += 1;
                continue;
            }
            if event.recurrence().is_some() {
                *(if is_new { &mut self.new_series } else { &mut self.changed_series }) += 1;
            }
            if self.first.len() < NAMED_MAX {
                self.first.push(PlannedEvent::new(event, is_new));
            }
        }
    }
}

impl App {
    /// What [`Self::import_calendar`] would do with the same file now. Nothing is written. Limits of the plan are not
    /// checked, except those on features.
    ///
    /// # Errors
    /// [`Refusal::NotFound`]; [`Refusal::Invalid`] if it is not an iCalendar file; [`Refusal::PlanRequired`] for a
    /// long-running series.
    pub async fn plan_import(&self, actor: &Actor, id: &str, file: Bytes) -> Result<ImportPlan, Refusal> {
        let calendar = self.calendar(actor, id).await?;
        let Compared { diff, mut report, withheld: _ } = self.compared_file(actor, &calendar, file).await?;
        let fresh = fresh_in(&diff);
        let (mut refused, mut sum) = (Refused::default(), Sum::default());
        for chunk in &diff.chunks {
            let turn = Turn::new();
            let decided = retry_stale(|| self.decide(actor, &calendar, chunk, (&fresh, &refused.uids), &turn)).await?;
            let Decided { changes, taken } = decided;
            sum.add(&changes);
            report.counts.created += taken.counts.created;
            report.counts.updated += taken.counts.updated;
            refused.extend(taken.refused);
        }
        let Sum { new_series, changed_series, deleted, dropped, charged, first } = sum;
        let report = wire::ImportReport::new(report, refused.events, refused.count);
        let in_parts = diff.chunks.len() > 1;
        Ok(ImportPlan { report, new_series, changed_series, deleted, dropped, charged, first, in_parts })
    }
}

#[cfg(test)]
mod tests {
    use kalends_calendars::{EventStatus, Occurrence, Repeats};
    use kalends_kernel::Version;
    use kalends_testkit::fixtures::{Fixtures, span};

    use super::*;

    #[test]
    fn only_events_of_the_file_are_counted_and_named() {
        let make = Fixtures::new();
        let org = make.organization().id;
        let calendar = make.shared_calendar(org);
        let event = make.event(&calendar, span("2026-03-02T09:00:00Z", "2026-03-02T10:00:00Z"));
        let update = |event| Write::UpdateEvent { event, seen: Version::FIRST };
        let cancelled = Event { status: EventStatus::Cancelled, ..event.clone() };
        let deleted = Event { deleted_at: Some(event.created_at), ..event.clone() };
        let occurrence = Occurrence { series: event.id, start: event.times.span.start() };
        let dropped = Event { repeats: Repeats::Instance(occurrence), ..deleted.clone() };
        let mut changes = ChangeSet::new(org);
        let created = Write::CreateEvent(event.clone());
        changes.calendars = vec![created, update(event.clone()), update(cancelled), update(deleted), update(dropped)];
        let mut sum = Sum::default();
        sum.add(&changes);
        let named: Vec<_> = sum.first.iter().map(|event| (event.is_new, event.kind)).collect();
        let once = PlannedKind::Once;
        assert_eq!(named, [(true, once), (false, once), (false, PlannedKind::Cancelled)]);
        assert_eq!((sum.new_series, sum.changed_series, sum.charged), (0, 0, 0));
        assert_eq!((sum.deleted, sum.dropped), (1, 1));

        changes.calendars = vec![Write::CreateEvent(event); NAMED_MAX];
        sum.add(&changes);
        assert_eq!(sum.first.len(), NAMED_MAX);
    }
}
