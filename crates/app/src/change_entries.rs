//! Entries of the change feed for changes that no webhook message announces.

use std::collections::BTreeSet;

use kalends_calendars::{AgentStatus, EventSource};
use kalends_kernel::{CalendarId, MessageId, OrgId, Version};
use kalends_notifications::{ChangeType, FeedEntry};
use kalends_time::Timestamp;
use kalends_wire as wire;
use serde::Serialize;
use serde_json::{Value, json};

use crate::{App, ChangeSet, event_entries::unannounced};

/// The field that lets its holder read. Answers to requests show it, but the feed keeps no secrets.
const LEFT_OUT_OF_CALENDARS: &[&str] = &["ical_url"];
/// A slug that the service made is a secret, and the address contains it. The number of bookings changes without an
/// entry of the page.
const LEFT_OUT_OF_PAGES: &[&str] = &["slug", "booking_url", "bookings_count"];
/// The address of a private feed is a secret, and an error may repeat a part of it. Syncs change the other fields
/// without an entry of the subscription.
const LEFT_OUT_OF_SUBSCRIPTIONS: &[&str] = &["url", "status", "last_error", "last_sync", "last_synced_at"];

/// The version in the entry of a change that no row of its resource shows.
const NO_VERSION: Version = Version(0);

/// What an entry is made of.
struct Made {
    change_type: ChangeType,
    version: Version,
    body: Value,
}

impl Made {
    fn of(change_type: ChangeType, version: Version, resource: &impl Serialize, left_out: &[&str]) -> Self {
        let mut body = serde_json::to_value(resource).unwrap_or_default();
        if let Some(fields) = body.as_object_mut() {
            for field in left_out {
                fields.remove(*field);
            }
        }
        Self { change_type, version, body }
    }
}

impl App {
    /// Adds the entries of the change-set's writes to it.
    pub(crate) fn add_entries(&self, changes: &mut ChangeSet) {
        let now = self.now();
        let events = unannounced(changes, now).into_iter().map(|(about, event)| {
            let (change_type, version) = (ChangeType::Announced(about), event.version);
            Made::of(change_type, version, &wire::Event::from(event.at(now)), &[])
        });
        let made: Vec<Made> = events
            .chain(self.of_calendars(&changes.calendars))
            .chain(changes.bookings.iter().filter_map(|change| self.of_page(change)))
            .chain(changes.feeds.iter().filter_map(of_subscription))
            .collect();
        if !made.is_empty() {
            let org = changes.org;
            changes.entries.extend(made.iter().map(|made| self.entry(org, made, now)));
        }
    }

    fn entry(&self, org: OrgId, made: &Made, now: Timestamp) -> FeedEntry {
        FeedEntry {
            id: MessageId::new(now, self.entropy()),
            org,
            change_type: made.change_type,
            body: made.body.to_string(),
            version: made.version,
            created_at: now,
        }
    }

    fn of_calendars(&self, changes: &[kalends_calendars::Change]) -> Vec<Made> {
        use kalends_calendars::Change;
        let mut made = Vec::new();
        let mut imported: BTreeSet<CalendarId> = BTreeSet::new();
        for change in changes {
            match change {
                Change::UpdateAgent { agent, .. } if agent.status == AgentStatus::Decommissioned => {
                    let resource = wire::Agent::from(agent.clone());
                    made.push(Made::of(ChangeType::AgentDeleted, agent.version, &resource, &[]));
                }
                Change::CreateCalendar(calendar) => made.push(self.of_calendar(ChangeType::CalendarCreated, calendar)),
                Change::UpdateCalendar { calendar, .. } => made.push(self.of_calendar(
                    if calendar.deleted_at.is_some() {
                        ChangeType::CalendarDeleted
                    } else {
                        ChangeType::CalendarUpdated
                    },
                    calendar,
                )),
                Change::PutRules { rules, .. } => {
                    let resource = wire::AvailabilityRules::from(rules.clone());
                    made.push(Made::of(ChangeType::RulesUpdated, rules.version, &resource, &[]));
                }
                Change::DeleteRules(rules) => {
                    let body = json!({ "id": rules.id.to_string(), "calendar_id": rules.calendar.to_string() });
                    made.push(Made { change_type: ChangeType::RulesDeleted, version: rules.version, body });
                }
                Change::CreateEvent(event) | Change::UpdateEvent { event, .. } | Change::MoveEvent { event, .. } => {
                    // Native events have messages, or entries of their own.
                    if event.source == EventSource::ExternalIcal {
                        imported.insert(event.calendar);
                    }
                }
                // Messages announce agents and holds. What a proposal reserves belongs to the proposal.
                Change::CreateAgent(_)
                | Change::UpdateAgent { .. }
                | Change::PlaceHolds { .. }
                | Change::Reserve { .. }
                | Change::Unreserve { .. }
                | Change::AdvanceTimer(_) => {}
            }
        }
        made.extend(imported.into_iter().map(|calendar| Made {
            change_type: ChangeType::CalendarImported,
            version: NO_VERSION,
            body: json!({ "id": calendar.to_string() }),
        }));
        made
    }

    fn of_calendar(&self, change_type: ChangeType, calendar: &kalends_calendars::Calendar) -> Made {
        let resource = wire::Calendar::new(calendar.clone(), &self.parts.settings.base_url);
        Made::of(change_type, calendar.version, &resource, LEFT_OUT_OF_CALENDARS)
    }

    fn of_page(&self, change: &kalends_bookings::Change) -> Option<Made> {
        use kalends_bookings::Change;
        let (change_type, page) = match change {
            Change::CreatePage(page) => (ChangeType::BookingPageCreated, page),
            Change::UpdatePage { page, .. } if page.deleted_at.is_some() => (ChangeType::BookingPageDeleted, page),
            Change::UpdatePage { page, .. } => (ChangeType::BookingPageUpdated, page),
            // Messages announce the events of bookings.
            Change::CreateBooking { .. } | Change::MoveBooking { .. } | Change::CancelBooking { .. } => return None,
        };
        let resource = wire::BookingPage::new(page, &self.parts.settings.base_url);
        Some(Made::of(change_type, page.version, &resource, LEFT_OUT_OF_PAGES))
    }
}

fn of_subscription(change: &kalends_feeds::Change) -> Option<Made> {
    use kalends_feeds::Change;
    let (change_type, subscription) = match change {
        Change::CreateSubscription(subscription) => (ChangeType::SubscriptionCreated, subscription),
        Change::UpdateSubscription { subscription, .. } => (ChangeType::SubscriptionUpdated, subscription),
        Change::DeleteSubscription { subscription, seen, .. } => {
            let body = json!({ "id": subscription.to_string() });
            return Some(Made { change_type: ChangeType::SubscriptionDeleted, version: seen.next(), body });
        }
        // Syncs do not change the subscription. What they change on its calendar has an entry.
        Change::AdoptRemains { .. }
        | Change::RemoveRemains { .. }
        | Change::ForgetSubscription { .. }
        | Change::AskSync { .. }
        | Change::RenewClaim { .. }
        | Change::EndSync { .. }
        | Change::KeepItems { .. }
        | Change::ForgetItems { .. } => return None,
    };
    let resource = wire::Subscription::from(&**subscription);
    Some(Made::of(change_type, subscription.version, &resource, LEFT_OUT_OF_SUBSCRIPTIONS))
}
