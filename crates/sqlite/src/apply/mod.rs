//! The writes of change-sets, one module for each kind.
//!
//! Events, messages, charges, audit entries and answers are written for a whole group, with one statement per table.
//! Everything else is written row by row, since only a change-set that is alone in its group has it. A statement for
//! many rows says `or fail`: if it fails, its group is rolled back anyway, so SQLite need not be able to undo the
//! statement alone.

pub(crate) mod accounts;
pub(crate) mod answers;
pub(crate) mod audit;
pub(crate) mod bookings;
pub(crate) mod bridge;
pub(crate) mod busy_days;
pub(crate) mod calendars;
mod claims;
mod connections;
pub(crate) mod letters;
pub(crate) mod outbox;
mod people;
pub(crate) mod proposals;
mod reservations;
mod rules;
pub(crate) mod subscriptions;
pub(crate) mod timers;
pub(crate) mod webhooks;

use std::sync::Arc;

use kalends_app::{ChangeSet, ports::FieldCipher};
use kalends_calendars::Change;

use crate::rows::{event::seal_content, seal_metadata};

/// A change-set whose secret fields are already sealed, so that the transaction only writes.
pub(crate) struct Sealed {
    pub(crate) changes: Arc<ChangeSet>,
    /// The content of each event that is created or updated, in the order of the changes.
    contents: Vec<String>,
    /// The metadata of each agent that is created or updated, in the order of the changes.
    agents: Vec<String>,
    /// The metadata of each calendar that is created or updated, in the order of the changes.
    metadata: Vec<String>,
    /// The token of each calendar that is created or updated, in the order of the changes.
    tokens: Vec<String>,
    /// The payload of each message.
    payloads: Vec<String>,
    /// The sealed part of each change to webhooks, in the order of the changes.
    pub(crate) hooks: Vec<Option<String>>,
    /// The sealed part of each change to subscriptions, in the order of the changes.
    feeds: Vec<Option<String>>,
    /// The sealed part of each change to proposals, in the order of the changes.
    proposals: Vec<Option<String>>,
    /// The sealed part of each change to booking pages, in the order of the changes.
    bookings: Vec<String>,
    /// The sealed parts of each change to the bridge to human calendars, in the order of the changes.
    bridge: Vec<bridge::SealedChange>,
    /// The content of each letter.
    letters: Vec<String>,
    /// The body of the stored answer.
    body: Option<String>,
}

impl Sealed {
    pub(crate) fn new(changes: &Arc<ChangeSet>, cipher: &dyn FieldCipher) -> Result<Self, sqlx::Error> {
        let events = changes.calendars.iter().filter_map(|change| match change {
            Change::CreateEvent(event) | Change::UpdateEvent { event, .. } => Some(event),
            Change::CreateAgent(_)
            | Change::UpdateAgent { .. }
            | Change::CreateCalendar(_)
            | Change::UpdateCalendar { .. }
            | Change::PutRules { .. }
            | Change::DeleteRules(_)
            | Change::Reserve { .. }
            | Change::Unreserve { .. }
            | Change::AdvanceTimer(_) => None,
        });
        Ok(Self {
            contents: events.map(|event| seal_content(event, cipher)).collect::<Result<_, _>>()?,
            agents: calendars::written_agents(changes)
                .map(|(agent, _)| seal_metadata("agents", agent.id.uuid(), &agent.metadata, cipher))
                .collect(),
            metadata: calendars::written(changes)
                .map(|(calendar, _)| seal_metadata("calendars", calendar.id.uuid(), &calendar.metadata, cipher))
                .collect(),
            tokens: calendars::written(changes).map(|(calendar, _)| calendars::seal_token(calendar, cipher)).collect(),
            payloads: changes.messages.iter().map(|message| outbox::seal(message, cipher)).collect(),
            hooks: changes.webhooks.iter().map(|change| webhooks::seal(change, cipher)).collect(),
            feeds: changes.feeds.iter().map(|change| subscriptions::seal(change, cipher)).collect(),
            proposals: changes.proposals.iter().map(|change| proposals::seal(change, cipher)).collect(),
            bookings: changes.bookings.iter().map(|change| bookings::seal(change, cipher)).collect(),
            bridge: changes.bridge.iter().map(|change| bridge::seal(change, cipher)).collect(),
            letters: changes.letters.iter().map(|letter| letters::seal(letter, cipher)).collect(),
            body: changes.answer.as_ref().and_then(|answer| answers::seal(answer, cipher)),
            changes: Arc::clone(changes),
        })
    }
}
