//! The sentence that says what a write would do, for the person who decides about it.
//!
//! Titles and names were written by others. They are quoted, on one line and cut, so that no text of theirs can pass for a
//! part of the sentence.

use std::collections::{BTreeMap, BTreeSet};

use kalends_bookings::Change as Booked;
use kalends_calendars::{Change as Scheduled, Event, EventStatus, Recurrence, Times};
use kalends_feeds::Change as Subscribed;
use kalends_i18n::Translator;
use kalends_kernel::{CalendarId, Email, Foreign, visible};
use kalends_proposals::{Change as Proposed, Proposal, Response, ResponseKind};
use kalends_time::Zone;

use crate::{
    ChangeSet,
    letters::When,
    operations::{self, Operation},
    ports::CalendarName,
};

/// The longest sentence, in characters.
const SENTENCE_MAX: usize = 300;
/// The most characters of a title in it.
const TITLE_MAX: usize = 80;
/// The most characters of a name in it.
const NAME_MAX: usize = 50;

/// A write, with what its sentence names.
pub(crate) struct Wanted<'a> {
    /// The operation.
    pub(crate) operation: &'a Operation,
    /// The identifier of what it changes.
    pub(crate) resource: &'a str,
    /// What it would write.
    pub(crate) changes: &'a ChangeSet,
    /// The events that it would change, as they are.
    pub(crate) before: &'a [Event],
    /// The calendars of its events and rules.
    pub(crate) calendars: &'a BTreeMap<CalendarId, CalendarName>,
}

impl Wanted<'_> {
    /// The sentence: at most 300 characters.
    pub(crate) fn sentence(&self) -> String {
        let words = self.of_events().or_else(|| self.of_others());
        let words = words.unwrap_or_else(|| {
            let (operation, resource) = (self.operation.id, quoted(self.resource, TITLE_MAX));
            format!("Call the operation {operation} for {resource}")
        });
        let mailed: BTreeSet<[u8; 32]> = self.changes.letters.iter().map(|letter| letter.recipient).collect();
        let end = match mailed.len() {
            0 => ".".to_owned(),
            count => format!("; {} an email.", counted(count, "guest gets", "guests get")),
        };
        // What the emails are about may be cut, but not that there are some.
        format!("{}{end}", cut(&words, SENTENCE_MAX.saturating_sub(end.chars().count())))
    }

    /// The words for a write of events, if the operation is one.
    fn of_events(&self) -> Option<String> {
        let id = self.operation.id;
        if id == operations::CREATE_EVENT.id || id == operations::CREATE_EVENT_BATCH.id {
            self.creation()
        } else if [operations::UPDATE_EVENT.id, operations::UPDATE_CALENDAR_EVENT.id].contains(&id) {
            self.update()
        } else if [operations::DELETE_EVENT.id, operations::DELETE_CALENDAR_EVENT.id].contains(&id) {
            self.deletion()
        } else if id == operations::MOVE_EVENT.id {
            self.relocation()
        } else if id == operations::CONFIRM_HOLD.id {
            Some(format!("Confirm {}", self.placed(&self.named()?)))
        } else if id == operations::RELEASE_HOLD.id {
            Some(format!("Release {}", self.placed(&self.named()?)))
        } else if id == operations::CREATE_HOLD_SET.id {
            let created: Vec<&Event> = self.created().collect();
            Some(format!("Place {}", self.on_calendars(&created)?))
        } else if id == operations::CONFIRM_HOLD_SET.id {
            Some(format!("Confirm {}", self.on_calendars(&self.of_set())?))
        } else if id == operations::RELEASE_HOLD_SET.id {
            Some(format!("Release {}", self.on_calendars(&self.of_set())?))
        } else {
            None
        }
    }

    /// The words for a write of something else, if the change-set shows what.
    fn of_others(&self) -> Option<String> {
        let id = self.operation.id;
        if id == operations::UNDO_RUN.id {
            let count = self.changes.calendars.iter().filter(|change| change.event().is_some()).count();
            let proposals = self.changes.proposals.len();
            let events = counted(count, "event", "events");
            let proposals = (proposals > 0).then(|| format!(" and {}", counted(proposals, "proposal", "proposals")));
            let run = quoted(self.resource, NAME_MAX);
            return Some(format!("Take back the run {run}: {events}{}", proposals.unwrap_or_default()));
        }
        let proposal = self.changes.proposals.first().map(|change| match change {
            Proposed::Create(proposal) => (&**proposal, None),
            Proposed::Update { proposal, response, .. } => (&**proposal, response.as_ref()),
        });
        if let Some(words) = proposal.and_then(|(proposal, response)| self.of_proposal(proposal, response)) {
            return Some(words);
        }
        let page = self.changes.bookings.iter().find_map(|change| match change {
            Booked::CreatePage(page) => Some(("Create", page)),
            Booked::UpdatePage { page, .. } if page.deleted_at.is_some() => Some(("Delete", page)),
            Booked::UpdatePage { page, .. } => Some(("Change", page)),
            _ => None,
        });
        if let Some((verb, page)) = page {
            return Some(format!("{verb} the booking page {}", quoted(&page.title, TITLE_MAX)));
        }
        if id == operations::CANCEL_BOOKING_AS_HOST.id {
            // Events of the booking that are gone already are written too, so that they stay gone.
            let event = self.before.iter().find(|event| event.takes_place());
            let event = event.or_else(|| self.before.first()).or_else(|| self.written().next())?;
            return Some(format!("Cancel a booking of {}", self.placed(event)));
        }
        if id == operations::CANCEL_CONNECTION_LINK.id {
            return Some(format!("Cancel the connection link {}", quoted(self.resource, NAME_MAX)));
        }
        if let Some(words) = self.changes.feeds.iter().find_map(of_subscription) {
            return Some(words);
        }
        self.changes.calendars.iter().find_map(|change| match change {
            Scheduled::CreateCalendar(calendar) => {
                Some(format!("Create the calendar {}", quoted(&calendar.name, NAME_MAX)))
            }
            Scheduled::UpdateCalendar { calendar, .. } => {
                let verb = if calendar.deleted_at.is_some() { "Delete" } else { "Change" };
                Some(format!("{verb} the calendar {}", quoted(&calendar.name, NAME_MAX)))
            }
            Scheduled::PutRules { rules, .. } => {
                Some(format!("Set the availability rules of {}", self.calendar(rules.calendar)))
            }
            Scheduled::DeleteRules(rules) => {
                Some(format!("Remove the availability rules of {}", self.calendar(rules.calendar)))
            }
            _ => None,
        })
    }

    fn of_proposal(&self, proposal: &Proposal, response: Option<&Response>) -> Option<String> {
        let (id, title) = (self.operation.id, quoted(proposal.title(), TITLE_MAX));
        let verb = if id == operations::CREATE_PROPOSAL.id {
            let times = counted(proposal.slots().len(), "time", "times");
            return Some(format!("Propose {times} for {title}"));
        } else if id == operations::RESPOND_TO_PROPOSAL.id {
            let verb = match response.map(Response::kind) {
                Some(ResponseKind::Accept) => "Accept",
                Some(ResponseKind::Decline) => "Decline",
                Some(ResponseKind::Counter) => "Suggest other times for",
                None => "Respond to",
            };
            let Some(event) = self.created().next() else { return Some(format!("{verb} the proposal {title}")) };
            let (events, when) =
                (counted(self.created().count(), "event", "events"), self.when(event.times, event.calendar));
            return Some(format!("{verb} the proposal {title}, which creates {events} on {when}"));
        } else if id == operations::RESOLVE_PROPOSAL.id {
            let Some(event) = self.created().next() else { return Some(format!("Resolve the proposal {title}")) };
            return Some(format!("Confirm the proposal {title} for {}", self.when(event.times, event.calendar)));
        } else if id == operations::CANCEL_PROPOSAL.id {
            "Cancel"
        } else {
            return None;
        };
        Some(format!("{verb} the proposal {title}"))
    }

    fn creation(&self) -> Option<String> {
        let first = self.created().next()?;
        let count = self.created().count();
        if count > 1 {
            let (calendar, named) = (self.calendar(first.calendar), quoted(&first.title, TITLE_MAX));
            let when = self.when(first.times, first.calendar);
            return Some(format!("Create {count} events in {calendar}, the first {named} on {when}"));
        }
        let verb = if first.status == EventStatus::Hold { "Place" } else { "Create" };
        Some(format!("{verb} {}", self.placed(first)))
    }

    fn update(&self) -> Option<String> {
        let after = self.main()?;
        let Some(before) = self.before_of(after) else {
            // A series that continues another one.
            let named = self.in_calendar(&self.title_of(after), after.calendar);
            return Some(format!("Change {named}: then first on {}", self.when(after.times, after.calendar)));
        };
        let named = self.title_of(&before);
        if after.status == EventStatus::Cancelled && before.status != EventStatus::Cancelled {
            return Some(format!("Cancel {}", self.placed(&before)));
        }
        let fields = changed(&before, after).join(", ");
        let has_moved = before.times != after.times;
        let from = self.when(before.times, before.calendar);
        if has_moved {
            let to = self.when(after.times, after.calendar);
            if fields.is_empty() {
                let named = self.in_calendar(&named, after.calendar);
                return Some(format!("Move {named} from {from} to {to}"));
            }
            return Some(format!("Change {named} on {from}: {fields}, time (to {to})"));
        }
        let fields = if fields.is_empty() { "other details" } else { fields.as_str() };
        Some(format!("Change {}: {fields}", self.placed(&before)))
    }

    fn deletion(&self) -> Option<String> {
        let (after, before) = (self.main()?, self.named()?);
        if after.deleted_at.is_none() {
            // The series goes on without some of its occurrences.
            if let Some(instance) = left_out(&before, after) {
                return Some(format!("Delete {}", self.placed(&instance)));
            }
            let named = self.in_calendar(&self.title_of(&before), before.calendar);
            return Some(format!("Delete occurrences of {named}"));
        }
        Some(format!("Delete {}", self.placed(&before)))
    }

    fn relocation(&self) -> Option<String> {
        let (event, from) = self.changes.calendars.iter().find_map(|change| match change {
            Scheduled::MoveEvent { event, from, .. } => Some((event, *from)),
            _ => None,
        })?;
        let (named, when) = (self.title_of(event), self.when(event.times, event.calendar));
        let (from, to) = (self.calendar(from), self.calendar(event.calendar));
        Some(format!("Move {named} on {when} from {from} to {to}"))
    }

    /// The events that it would write.
    fn written(&self) -> impl Iterator<Item = &Event> {
        self.changes.calendars.iter().filter_map(Scheduled::event)
    }

    /// The events that it would create.
    fn created(&self) -> impl Iterator<Item = &Event> {
        self.changes.calendars.iter().filter_map(|change| match change {
            Scheduled::CreateEvent(event) => Some(event),
            _ => None,
        })
    }

    /// The events of the hold set that it changes.
    fn of_set(&self) -> Vec<&Event> {
        let is_in_set = |event: &&Event| event.hold_set.is_some_and(|set| set.to_string() == self.resource);
        self.written().filter(is_in_set).collect()
    }

    /// The event that the request names, or the first one.
    fn main(&self) -> Option<&Event> {
        let is_named = |event: &&Event| {
            let instance = event.occurrence().map(|occurrence| occurrence.to_string());
            event.id.to_string() == self.resource || instance.as_deref() == Some(self.resource)
        };
        self.written().find(is_named).or_else(|| self.written().next())
    }

    /// [`Self::main`] as it is.
    fn named(&self) -> Option<Event> {
        let main = self.main()?;
        Some(self.before_of(main).unwrap_or_else(|| main.clone()))
    }

    /// An event as it is: as it is stored, or as its series has it.
    fn before_of(&self, event: &Event) -> Option<Event> {
        if let Some(stored) = self.before.iter().find(|before| before.id == event.id) {
            return Some(stored.clone());
        }
        let occurrence = event.occurrence()?;
        self.before.iter().find(|series| series.id == occurrence.series)?.instance(occurrence.start)
    }

    /// A hold set: `a hold “Review” on Monday, 9 March 2026, 10:00 to 10:45 (Europe/Berlin) on 3 calendars`.
    fn on_calendars(&self, events: &[&Event]) -> Option<String> {
        let first = events.first()?;
        let calendars: BTreeSet<CalendarId> = events.iter().map(|event| event.calendar).collect();
        let (title, when) = (quoted(&first.title, TITLE_MAX), self.when(first.times, first.calendar));
        let calendars = counted(calendars.len(), "calendar", "calendars");
        Some(format!("a hold {title} on {when} on {calendars}"))
    }

    /// An event with its title, its times and its calendar.
    fn placed(&self, event: &Event) -> String {
        let on = if event.recurrence().is_some() { "first on" } else { "on" };
        let timed = format!("{} {on} {}", self.title_of(event), self.when(event.times, event.calendar));
        self.in_calendar(&timed, event.calendar)
    }

    /// What an event is, with its title.
    fn title_of(&self, event: &Event) -> String {
        let kind = if event.recurrence().is_some() {
            "the series"
        } else if event.occurrence().is_some() {
            "an occurrence of"
        } else if event.status == EventStatus::Hold {
            "the hold"
        } else {
            "the event"
        };
        format!("{kind} {}", quoted(&event.title, TITLE_MAX))
    }

    fn in_calendar(&self, named: &str, calendar: CalendarId) -> String {
        format!("{named} in {}", self.calendar(calendar))
    }

    fn calendar(&self, id: CalendarId) -> String {
        match self.calendars.get(&id) {
            Some(calendar) => format!("the calendar {}", quoted(&calendar.name, NAME_MAX)),
            None => format!("the calendar {id}"),
        }
    }

    /// Times by the clocks of a calendar.
    fn when(&self, times: Times, calendar: CalendarId) -> String {
        let zone = self.calendars.get(&calendar).map_or(Zone::UTC, |calendar| calendar.zone);
        When::of(times, zone, Translator::english()).to_string()
    }
}

fn of_subscription(change: &Subscribed) -> Option<String> {
    let (verb, subscription) = match change {
        Subscribed::CreateSubscription(subscription) => ("Add", subscription),
        Subscribed::UpdateSubscription { subscription, .. } => ("Change", subscription),
        Subscribed::DeleteSubscription { subscription, .. } => {
            return Some(format!("Delete the subscription {subscription}"));
        }
        Subscribed::AskSync { subscription, .. } => return Some(format!("Sync the subscription {subscription}")),
        _ => return None,
    };
    let label = subscription.label.as_deref().map(|label| format!(" {}", quoted(label, NAME_MAX)));
    Some(format!("{verb} the subscription{}", label.unwrap_or_default()))
}

/// The occurrence that a series no longer has, if it is one.
fn left_out(before: &Event, after: &Event) -> Option<Event> {
    let (was, is) = (before.recurrence()?.exdates(), after.recurrence()?.exdates());
    let mut gone = is.iter().filter(|start| !was.contains(start));
    let (Some(start), None) = (gone.next(), gone.next()) else { return None };
    before.instance(*start)
}

/// What differs between two states of an event, besides its times.
fn changed(before: &Event, after: &Event) -> Vec<&'static str> {
    let fields = [
        ("title", before.title != after.title),
        ("description", before.description != after.description),
        ("place", before.location != after.location || before.conference_url != after.conference_url),
        ("guests", !guests(before).eq(guests(after))),
        ("status", before.status != after.status),
        ("recurrence", before.recurrence().map(Recurrence::rule) != after.recurrence().map(Recurrence::rule)),
        ("hold", before.hold != after.hold),
        ("reminders", before.reminders != after.reminders),
        ("metadata", before.metadata != after.metadata),
    ];
    fields.into_iter().filter_map(|(name, differs)| differs.then_some(name)).collect()
}

/// The addresses of those who take part. What they replied does not matter.
fn guests(event: &Event) -> impl Iterator<Item = &Email> {
    event.attendees.as_slice().iter().map(|guest| &guest.email)
}

fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// Text of somebody else in quotes that it cannot end, on one line, cut to `most` characters.
fn quoted(text: &str, most: usize) -> String {
    let line = visible(Foreign::new(text).as_str());
    let line = line.split_whitespace().collect::<Vec<_>>().join(" ").replace(['“', '”', '"'], "'");
    format!("“{}”", cut(&line, most))
}

/// Text of at most `most` characters.
fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let kept: String = text.chars().take(most.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
}

#[cfg(test)]
mod tests {
    use kalends_calendars::{Calendar, Change};
    use kalends_kernel::{LetterId, Version};
    use kalends_notifications::{About, Letter};
    use kalends_proposals::NewResponse;
    use kalends_testkit::fixtures::{Fixtures, span};
    use kalends_time::{SignedDuration, Span};

    use super::*;

    /// Two calendars in Berlin, with an event of the next Monday on the first.
    struct Desk {
        make: Fixtures,
        calendar: Calendar,
        other: Calendar,
        event: Event,
    }

    impl Desk {
        fn new() -> Self {
            let make = Fixtures::new();
            let agent = make.agent(make.organization().id);
            let named = |name: &str| Calendar {
                name: name.to_owned(),
                zone: "Europe/Berlin".parse().unwrap(),
                ..make.calendar(&agent)
            };
            let (calendar, other) = (named("Ada"), named("Grace"));
            let event = make.event(&calendar, span("2026-03-09T09:00:00Z", "2026-03-09T09:45:00Z"));
            let event = Event { title: "Kick-off".to_owned(), ..event };
            Self { make, calendar, other, event }
        }

        /// The sentence about writes of events.
        fn says(&self, operation: &Operation, before: &[&Event], writes: Vec<Change>) -> String {
            let resource = writes.iter().find_map(Change::event).map(|event| event.id.to_string()).unwrap_or_default();
            self.says_of(operation, &resource, before, writes)
        }

        fn says_of(&self, operation: &Operation, resource: &str, before: &[&Event], writes: Vec<Change>) -> String {
            let mut changes = ChangeSet::new(self.calendar.org);
            changes.calendars = writes;
            let before: Vec<Event> = before.iter().copied().cloned().collect();
            let named = [&self.calendar, &self.other].map(|calendar| {
                let Calendar { id, agent, zone, .. } = *calendar;
                (id, CalendarName { name: calendar.name.clone(), agent, zone })
            });
            let calendars = BTreeMap::from(named);
            Wanted { operation, resource, changes: &changes, before: &before, calendars: &calendars }.sentence()
        }

        /// The sentence about a change of the event.
        fn says_after(&self, operation: &Operation, after: Event) -> String {
            let seen = self.event.version;
            self.says(operation, &[&self.event], vec![Change::UpdateEvent { event: after, seen }])
        }
    }

    #[test]
    fn a_new_event_is_named_with_its_time_and_calendar() {
        let desk = Desk::new();
        assert_eq!(
            desk.says(&operations::CREATE_EVENT, &[], vec![Change::CreateEvent(desk.event.clone())]),
            "Create the event “Kick-off” on Monday, 9 March 2026, 10:00 to 10:45 (Europe/Berlin) in the calendar “Ada”."
        );
        let hold = desk.make.hold(&desk.calendar, desk.event.times.span, SignedDuration::hours(1));
        assert_eq!(
            desk.says(&operations::CREATE_EVENT, &[], vec![Change::CreateEvent(hold)]),
            "Place the hold “Standup” on Monday, 9 March 2026, 10:00 to 10:45 (Europe/Berlin) in the calendar “Ada”."
        );
        let series = desk.make.series(&desk.calendar, desk.event.times.span, "FREQ=DAILY;COUNT=3");
        assert_eq!(
            desk.says(&operations::CREATE_EVENT, &[], vec![Change::CreateEvent(series)]),
            "Create the series “Standup” first on Monday, 9 March 2026, 10:00 to 10:45 (Europe/Berlin) in the calendar \
             “Ada”."
        );
        let two = vec![
            Change::CreateEvent(desk.event.clone()),
            Change::CreateEvent(desk.make.event(&desk.calendar, desk.event.times.span)),
        ];
        assert_eq!(
            desk.says(&operations::CREATE_EVENT_BATCH, &[], two),
            "Create 2 events in the calendar “Ada”, the first “Kick-off” on Monday, 9 March 2026, 10:00 to 10:45 \
             (Europe/Berlin)."
        );
    }

    #[test]
    fn a_change_names_what_it_changes() {
        let desk = Desk::new();
        let later = Times { span: span("2026-03-10T09:00:00Z", "2026-03-10T09:45:00Z"), all_day: false };
        let event = || desk.event.clone();
        let when = "on Monday, 9 March 2026, 10:00 to 10:45 (Europe/Berlin)";
        let cases = [
            (
                Event { times: later, ..event() },
                "Move the event “Kick-off” in the calendar “Ada” from Monday, 9 March 2026, 10:00 to 10:45 \
                 (Europe/Berlin) to Tuesday, 10 March 2026, 10:00 to 10:45 (Europe/Berlin)."
                    .to_owned(),
            ),
            (
                Event { times: later, title: "Start".to_owned(), ..event() },
                format!(
                    "Change the event “Kick-off” {when}: title, time (to Tuesday, 10 March 2026, 10:00 to 10:45 \
                     (Europe/Berlin))."
                ),
            ),
            (
                Event { title: "Start".to_owned(), location: Some("Room 7".to_owned()), ..event() },
                format!("Change the event “Kick-off” {when} in the calendar “Ada”: title, place."),
            ),
            (
                Event { version: Version(2), ..event() },
                format!("Change the event “Kick-off” {when} in the calendar “Ada”: other details."),
            ),
            (
                Event { status: EventStatus::Cancelled, ..event() },
                format!("Cancel the event “Kick-off” {when} in the calendar “Ada”."),
            ),
        ];
        for (after, sentence) in cases {
            assert_eq!(desk.says_after(&operations::UPDATE_EVENT, after), sentence);
        }
        let deleted = Event { deleted_at: Some(desk.make.tick()), ..event() };
        assert_eq!(
            desk.says_after(&operations::DELETE_EVENT, deleted),
            format!("Delete the event “Kick-off” {when} in the calendar “Ada”.")
        );
        let moved = Change::MoveEvent {
            event: Event { calendar: desk.other.id, ..event() },
            seen: desk.event.version,
            from: desk.calendar.id,
        };
        assert_eq!(
            desk.says(&operations::MOVE_EVENT, &[&desk.event], vec![moved]),
            format!("Move the event “Kick-off” {when} from the calendar “Ada” to the calendar “Grace”.")
        );
    }

    #[test]
    fn an_occurrence_is_named_by_its_own_time() {
        let desk = Desk::new();
        let series = desk.make.series(&desk.calendar, desk.event.times.span, "FREQ=DAILY;COUNT=3");
        let start = desk.event.times.span.start() + SignedDuration::days(1);
        let instance = series.instance(start).unwrap();
        let changed = Event { id: desk.event.id, title: "Retro".to_owned(), ..instance };
        let when = "on Tuesday, 10 March 2026, 10:00 to 10:45 (Europe/Berlin)";
        assert_eq!(
            desk.says(&operations::UPDATE_EVENT, &[&series], vec![Change::CreateEvent(changed)]),
            format!("Change an occurrence of “Standup” {when} in the calendar “Ada”: title.")
        );
        let recurrence = series.recurrence().unwrap();
        let without = Recurrence::of_series(&recurrence.series(series.times).unwrap(), vec![start], Vec::new());
        let after = Event { repeats: without.into(), ..series.clone() };
        assert_eq!(
            desk.says(
                &operations::DELETE_EVENT,
                &[&series],
                vec![Change::UpdateEvent { event: after, seen: series.version }]
            ),
            format!("Delete an occurrence of “Standup” {when} in the calendar “Ada”.")
        );
    }

    #[test]
    fn a_hold_set_shows_how_many_calendars_it_takes() {
        let desk = Desk::new();
        let on = |calendar: &Calendar| desk.make.hold(calendar, desk.event.times.span, SignedDuration::hours(1));
        let holds = [on(&desk.calendar), on(&desk.other)];
        let writes = holds.iter().cloned().map(Change::CreateEvent).collect();
        assert_eq!(
            desk.says_of(&operations::CREATE_HOLD_SET, "hst_1", &[], writes),
            "Place a hold “Standup” on Monday, 9 March 2026, 10:00 to 10:45 (Europe/Berlin) on 2 calendars."
        );
        let [hold, _] = &holds;
        let confirmed = Event { status: EventStatus::Confirmed, hold: None, ..hold.clone() };
        let writes = vec![Change::UpdateEvent { event: confirmed.clone(), seen: hold.version }];
        assert_eq!(
            desk.says(&operations::CONFIRM_HOLD, &[hold], writes),
            "Confirm the hold “Standup” on Monday, 9 March 2026, 10:00 to 10:45 (Europe/Berlin) in the calendar “Ada”."
        );
        let undone = vec![Change::UpdateEvent { event: confirmed, seen: hold.version }];
        assert_eq!(
            desk.says_of(&operations::UNDO_RUN, "tidy-up", &[], undone),
            "Take back the run “tidy-up”: 1 event."
        );
    }

    #[test]
    fn other_writes_name_what_they_change() {
        let desk = Desk::new();
        let seen = desk.calendar.version;
        let writes = vec![Change::UpdateCalendar { calendar: desk.calendar.clone(), seen }];
        assert_eq!(desk.says(&operations::UPDATE_CALENDAR, &[], writes), "Change the calendar “Ada”.");
        let gone = Calendar { deleted_at: Some(desk.make.tick()), ..desk.calendar.clone() };
        let writes = vec![Change::UpdateCalendar { calendar: gone, seen }];
        assert_eq!(desk.says(&operations::DELETE_CALENDAR, &[], writes), "Delete the calendar “Ada”.");
        let writes = vec![Change::PutRules { rules: desk.make.rules(&desk.other), seen: None }];
        assert_eq!(
            desk.says(&operations::PUT_RULES, &[], writes),
            "Set the availability rules of the calendar “Grace”."
        );
        assert_eq!(
            desk.says_of(&operations::CANCEL_CONNECTION_LINK, "cnl_1", &[], Vec::new()),
            "Cancel the connection link “cnl_1”."
        );
        assert_eq!(
            desk.says_of(&operations::RETRY_DELIVERY, "whk_1", &[], Vec::new()),
            "Call the operation retryWebhookDelivery for “whk_1”."
        );
    }

    /// A booking of several calendars has several events, and some of them may be gone.
    #[test]
    fn a_cancelled_booking_is_named_by_an_event_that_takes_place() {
        let desk = Desk::new();
        let at = |hours: i64| {
            let shifted = SignedDuration::hours(hours);
            let span = desk.event.times.span;
            Times { span: Span::new(span.start() + shifted, span.end() + shifted).unwrap(), all_day: false }
        };
        let takes_place = Event { calendar: desk.other.id, ..desk.event.clone() };
        let deleted = Event { times: at(1), deleted_at: Some(desk.make.tick()), ..desk.event.clone() };
        let cancelled = Event { times: at(2), status: EventStatus::Cancelled, ..desk.event.clone() };
        let says = |before: &[&Event]| desk.says_of(&operations::CANCEL_BOOKING_AS_HOST, "bkg_1", before, Vec::new());
        let place = "on Monday, 9 March 2026, 10:00 to 10:45 (Europe/Berlin) in the calendar “Grace”";
        for before in [[&deleted, &takes_place], [&cancelled, &takes_place], [&takes_place, &deleted]] {
            assert_eq!(says(&before), format!("Cancel a booking of the event “Kick-off” {place}."));
        }
        let gone = "on Monday, 9 March 2026, 11:00 to 11:45 (Europe/Berlin) in the calendar “Ada”";
        assert_eq!(says(&[&deleted]), format!("Cancel a booking of the event “Kick-off” {gone}."));
    }

    #[test]
    fn a_response_is_named_with_the_events_that_it_creates() {
        let desk = Desk::new();
        let agent = desk.calendar.agent.unwrap();
        let proposal = desk.make.proposal(&desk.calendar, agent);
        let slot = proposal.slots()[0].id();
        let says = |response: NewResponse, writes: Vec<Change>| {
            let responded = proposal.respond(agent, response, desk.make.tick(), &desk.make.entropy).unwrap();
            let mut changes = ChangeSet::new(desk.calendar.org);
            changes.proposals = vec![Proposed::update(&proposal, responded).unwrap()];
            changes.calendars = writes;
            let (operation, calendars) = (&operations::RESPOND_TO_PROPOSAL, BTreeMap::new());
            Wanted { operation, resource: "", changes: &changes, before: &[], calendars: &calendars }.sentence()
        };
        assert_eq!(says(NewResponse::decline(), Vec::new()), "Decline the proposal “Kick-off”.");
        let counter = NewResponse::counter(Some(slot));
        assert_eq!(says(counter, Vec::new()), "Suggest other times for the proposal “Kick-off”.");
        let accept = || NewResponse::accept(slot).with_calendar(desk.calendar.id);
        assert_eq!(says(accept(), Vec::new()), "Accept the proposal “Kick-off”.");
        let made = says(accept(), vec![Change::CreateEvent(desk.event.clone())]);
        assert!(made.starts_with("Accept the proposal “Kick-off”, which creates 1 event on Monday, 9 March"), "{made}");
    }

    #[test]
    fn a_sentence_says_how_many_guests_get_an_email() {
        let desk = Desk::new();
        let of = |recipients: &[u8]| {
            let mut changes = ChangeSet::new(desk.calendar.org);
            changes.calendars = vec![Change::CreateEvent(Event { title: "ü".repeat(500), ..desk.event.clone() })];
            changes.letters = recipients.iter().map(|recipient| letter_to(&desk, *recipient)).collect();
            let calendars = BTreeMap::new();
            let operation = &operations::CREATE_EVENT;
            Wanted { operation, resource: "", changes: &changes, before: &[], calendars: &calendars }.sentence()
        };
        assert!(!of(&[]).contains("email"), "{}", of(&[]));
        assert!(of(&[1]).ends_with("; 1 guest gets an email."), "{}", of(&[1]));
        assert!(of(&[1, 2, 1]).ends_with("; 2 guests get an email."), "{}", of(&[1, 2, 1]));
        assert!(of(&[1, 2]).chars().count() <= SENTENCE_MAX);
    }

    fn letter_to(desk: &Desk, recipient: u8) -> Letter {
        let now = desk.make.tick();
        Letter {
            id: LetterId::new(now, &desk.make.entropy),
            org: desk.calendar.org,
            recipient: [recipient; 32],
            about: About::event(desk.event.id),
            content: String::new(),
            envelope: None,
            created_at: now,
        }
    }

    #[test]
    fn text_of_others_stays_inside_its_quotes() {
        for (text, most, shown) in [
            ("a” in the calendar “b", 40, "“a' in the calendar 'b”"),
            ("a\r\n\r\nb\u{2028}c\u{7}", 40, "“a b c”"),
            ("a\u{202e}b\u{e0041}\u{fe0f}", 40, "“ab”"),
            ("see evil.example", 40, "“see evil.example”"),
            ("ü ü ü ü ü ü", 9, "“ü ü ü ü…”"),
        ] {
            assert_eq!(quoted(text, most), shown);
        }
    }

    #[test]
    fn no_sentence_is_longer_than_its_limit() {
        let desk = Desk::new();
        let long = Event { title: "ü".repeat(500), ..desk.event.clone() };
        let calendar = Calendar { name: "é".repeat(255), ..desk.calendar.clone() };
        let desk = Desk { calendar, ..desk };
        let two_days = Times { span: span("2026-09-09T09:00:00Z", "2026-09-10T09:45:00Z"), all_day: false };
        let later = Times { span: span("2026-09-16T09:00:00Z", "2026-09-17T09:45:00Z"), all_day: false };
        let before = Event { times: two_days, ..long };
        let seen = before.version;
        let after = Event { times: later, ..before.clone() };
        let sentence =
            desk.says(&operations::UPDATE_EVENT, &[&before], vec![Change::UpdateEvent { event: after, seen }]);
        assert!(sentence.starts_with("Move the event “üü"), "{sentence}");
        assert!(sentence.chars().count() <= SENTENCE_MAX, "{sentence}");
    }
}
