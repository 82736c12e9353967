//! Seals the fields of a change-set.
//!
//! Fields are sealed before a transaction begins, and opened after the rows have been read, so that no lock or
//! connection is held in between. Entries of the change feed are the exception: only the transaction learns whether the
//! organization has a feed, and most have none.

use std::sync::Arc;

use kalends_app::ports::FieldCipher;
use kalends_app::{ChangeSet, StoredAnswer};
use kalends_calendars::{Agent, Calendar, Change, Event};
use kalends_kernel::{CalendarId, MessageId, OrgId, Version};
use kalends_notifications::{ChangeType, Confidential, Letter, Message};
use kalends_time::Timestamp;

use crate::{
    EventContent, approval::write_approval, event_state::write_event_state, metadata_digests, places, sealed_envelope,
};

/// A change-set whose fields are sealed. It is ready to be written, alone or with others, and again after a retry.
pub struct SealedChangeSet {
    changes: Arc<ChangeSet>,
    /// The sealed part of each change to accounts, in order.
    accounts: Vec<Option<String>>,
    /// The contents of the events that are written, in order.
    contents: Vec<String>,
    /// The digests of the metadata of the events that are written, in order.
    digests: Vec<Vec<i64>>,
    /// The metadata of the agents that are written, in order.
    agents: Vec<String>,
    /// The metadata of the calendars that are written, in order.
    metadata: Vec<String>,
    /// The feed tokens of the calendars that are written, in order.
    tokens: Vec<String>,
    /// The payloads of the messages, in order.
    payloads: Vec<String>,
    /// The sealed part of each change to webhooks, in order.
    hooks: Vec<Option<String>>,
    /// The sealed part of each change to subscriptions, in order.
    feeds: Vec<Option<String>>,
    /// The sealed part of each change to proposals, in order.
    proposals: Vec<Option<String>>,
    /// The sealed part of each change to booking pages, in order.
    bookings: Vec<String>,
    /// The sealed parts of each change to the bridge, in order.
    bridge: Vec<SealedBridge>,
    /// The contents of the letters, and what their organization sees of them, in order.
    letters: Vec<SealedLetter>,
    /// The states before the writes of runs, in order.
    runs: Vec<Option<String>>,
    /// The sealed part of each change to approvals, in order.
    approvals: Vec<String>,
    /// The body of the answer.
    body: Option<String>,
}

/// The sealed parts of a letter.
struct SealedLetter {
    content: String,
    envelope: Option<String>,
}

/// An entry of the change feed to write.
pub struct EntryWrite<'a> {
    /// The organization.
    pub org: OrgId,
    /// The identifier under which the body is sealed.
    pub id: MessageId,
    /// The name of the type.
    pub change_type: &'static str,
    /// The version of the resource.
    pub version: Version,
    /// The plain body. [`EntriesToPlace::placed`](crate::EntriesToPlace::placed) seals it.
    pub body: &'a str,
    /// When the change was made.
    pub created_at: Timestamp,
}

/// A letter to write.
pub struct LetterWrite<'a> {
    /// The letter.
    pub letter: &'a Letter,
    /// Its sealed content.
    pub content: &'a str,
    /// Its sealed envelope, if its organization sees it. It then has a record.
    pub envelope: Option<&'a str>,
    /// When it is due.
    pub due_at: Timestamp,
}

/// The sealed parts of one change to the bridge.
#[derive(Default)]
pub struct SealedBridge {
    /// The user's label for the connection, if any.
    pub label: Option<String>,
    /// What opens a connection's account, if it is written.
    pub access: Option<String>,
    /// The contents of the external calendars that are written, in order.
    pub contents: Vec<String>,
    /// The references of the copies that are written, in order.
    pub references: Vec<String>,
}

/// One agent to write.
pub struct AgentWrite<'a> {
    /// The agent.
    pub agent: &'a Agent,
    /// The sealed metadata.
    pub metadata: &'a str,
    /// The version that was read; `None` for a new agent.
    pub seen: Option<Version>,
}

/// One calendar to write.
pub struct CalendarWrite<'a> {
    /// The calendar.
    pub calendar: &'a Calendar,
    /// The sealed metadata.
    pub metadata: &'a str,
    /// The sealed token of its feed.
    pub token: &'a str,
    /// The version that was read; `None` for a new calendar.
    pub seen: Option<Version>,
}

/// One event to write.
pub struct EventWrite<'a> {
    /// The event.
    pub event: &'a Event,
    /// The sealed content.
    pub content: &'a str,
    /// The digests of its metadata, each once.
    pub digests: &'a [i64],
    /// The version that was read; `None` for a new event.
    pub seen: Option<Version>,
    /// The calendar that it leaves, if it moves to another one.
    pub from: Option<CalendarId>,
}

impl SealedChangeSet {
    /// Seals the fields of a change-set.
    pub fn seal(changes: Arc<ChangeSet>, cipher: &dyn FieldCipher) -> Result<Self, serde_json::Error> {
        let accounts = changes.accounts.iter().map(|change| account(change, cipher)).collect();
        let contents = events(&changes).map(|(event, ..)| {
            let plain = EventContent::write(event)?;
            Ok(cipher.seal(places::event_content(event.id), &plain))
        });
        let contents = contents.collect::<Result<_, serde_json::Error>>()?;
        let digests = events(&changes).map(|(event, ..)| match event.deleted_at {
            None => metadata_digests(event.org, &event.metadata, cipher),
            // Nobody finds a deleted event.
            Some(_) => Vec::new(),
        });
        let digests = digests.collect();
        let agents = agents(&changes)
            .map(|(agent, _)| cipher.seal(places::agent_metadata(agent.id), agent.metadata.to_json().as_bytes()))
            .collect();
        let metadata = calendars(&changes)
            .map(|(calendar, _)| {
                cipher.seal(places::calendar_metadata(calendar.id), calendar.metadata.to_json().as_bytes())
            })
            .collect();
        let tokens = calendars(&changes)
            .map(|(calendar, _)| cipher.seal(places::feed_token(calendar.id), calendar.feed_token.reveal().as_bytes()));
        let tokens = tokens.collect();
        let payloads = changes.messages.iter();
        let payloads = payloads
            .map(|message| cipher.seal(places::message_payload(message.id), message.payload.as_bytes()))
            .collect();
        let hooks = changes.webhooks.iter().map(|change| hook(change, cipher)).collect();
        let feeds = changes.feeds.iter().map(|change| subscription(change, cipher)).collect();
        let proposals = changes.proposals.iter().map(|change| proposal(change, cipher)).collect();
        let bookings = changes.bookings.iter().map(|change| booking(change, cipher)).collect();
        let bridge = changes.bridge.iter().map(|change| bridge(change, cipher)).collect();
        let letters = changes.letters.iter().map(|letter| SealedLetter {
            content: cipher.seal(places::letter_content(letter.id), letter.content.as_bytes()),
            envelope: letter.envelope.as_ref().map(|envelope| sealed_envelope(letter.id, envelope, cipher)),
        });
        let letters = letters.collect();
        let runs = changes.runs.iter().map(|change| run_state(change, cipher)).collect::<Result<_, _>>()?;
        let approvals = changes.approvals.iter().map(|change| approval(change, cipher)).collect::<Result<_, _>>()?;
        let body = changes.answer.as_ref().and_then(|stored| {
            let body = stored.answer.body.as_ref()?;
            Some(cipher.seal(places::answer_body(&stored.scope), body.as_bytes()))
        });
        Ok(Self {
            changes,
            accounts,
            contents,
            digests,
            agents,
            metadata,
            tokens,
            payloads,
            hooks,
            feeds,
            proposals,
            bookings,
            bridge,
            letters,
            runs,
            approvals,
            body,
        })
    }

    /// The change-set itself.
    pub fn changes(&self) -> &ChangeSet {
        &self.changes
    }

    /// The changes to accounts, each with its sealed part.
    pub fn accounts(&self) -> impl Iterator<Item = (&kalends_accounts::Change, &str)> {
        let sealed = self.accounts.iter().map(|sealed| sealed.as_deref().unwrap_or_default());
        self.changes.accounts.iter().zip(sealed)
    }

    /// The agents that are written, in order.
    pub fn agents(&self) -> impl Iterator<Item = AgentWrite<'_>> {
        agents(&self.changes).zip(&self.agents).map(|((agent, seen), metadata)| AgentWrite { agent, metadata, seen })
    }

    /// The calendars that are written, in order.
    pub fn calendars(&self) -> impl Iterator<Item = CalendarWrite<'_>> {
        let written = calendars(&self.changes).zip(self.metadata.iter().zip(&self.tokens));
        written.map(|((calendar, seen), (metadata, token))| CalendarWrite { calendar, metadata, token, seen })
    }

    /// The events that are written, in order.
    pub fn events(&self) -> impl Iterator<Item = EventWrite<'_>> {
        let written = events(&self.changes).zip(self.contents.iter().zip(&self.digests));
        written.map(|((event, seen, from), (content, digests))| EventWrite { event, content, digests, seen, from })
    }

    /// The messages, each with its sealed payload.
    pub fn messages(&self) -> impl Iterator<Item = (&Message, &str)> {
        self.changes.messages.iter().zip(self.payloads.iter().map(String::as_str))
    }

    /// The entries of the change feed, in the order of the changes.
    pub fn entries(&self) -> impl Iterator<Item = EntryWrite<'_>> {
        entries(&self.changes)
    }

    /// The changes to webhooks, each with its sealed part.
    pub fn webhooks(&self) -> impl Iterator<Item = (&kalends_notifications::Change, &str)> {
        let sealed = self.hooks.iter().map(|sealed| sealed.as_deref().unwrap_or_default());
        self.changes.webhooks.iter().zip(sealed)
    }

    /// The changes to subscriptions, each with its sealed part.
    pub fn feeds(&self) -> impl Iterator<Item = (&kalends_feeds::Change, &str)> {
        let sealed = self.feeds.iter().map(|sealed| sealed.as_deref().unwrap_or_default());
        self.changes.feeds.iter().zip(sealed)
    }

    /// The changes to proposals, each with its sealed part.
    pub fn proposals(&self) -> impl Iterator<Item = (&kalends_proposals::Change, &str)> {
        let sealed = self.proposals.iter().map(|sealed| sealed.as_deref().unwrap_or_default());
        self.changes.proposals.iter().zip(sealed)
    }

    /// The changes to booking pages, each with its sealed part.
    pub fn bookings(&self) -> impl Iterator<Item = (&kalends_bookings::Change, &str)> {
        self.changes.bookings.iter().zip(self.bookings.iter().map(String::as_str))
    }

    /// The changes to the bridge, each with its sealed parts.
    pub fn bridge(&self) -> impl Iterator<Item = (&kalends_bridge::Change, &SealedBridge)> {
        self.changes.bridge.iter().zip(&self.bridge)
    }

    /// The letters.
    pub fn letters(&self) -> impl Iterator<Item = LetterWrite<'_>> {
        let letters = self.changes.letters.iter().zip(&self.letters);
        letters.zip(self.changes.letters_due().into_iter().cycle()).map(|((letter, sealed), due_at)| LetterWrite {
            letter,
            content: &sealed.content,
            envelope: sealed.envelope.as_deref(),
            due_at,
        })
    }

    /// The writes to the journal of runs, each with the sealed state before the write.
    pub fn runs(&self) -> impl Iterator<Item = (&kalends_runs::Change, Option<&str>)> {
        self.changes.runs.iter().zip(self.runs.iter().map(Option::as_deref))
    }

    /// The changes to approvals, each with its sealed part.
    pub fn approvals(&self) -> impl Iterator<Item = (&kalends_approvals::Change, &str)> {
        self.changes.approvals.iter().zip(self.approvals.iter().map(String::as_str))
    }

    /// The answer to store, with its sealed body.
    pub fn answer(&self) -> Option<(&StoredAnswer, Option<&str>)> {
        self.changes.answer.as_ref().map(|answer| (answer, self.body.as_deref()))
    }

    /// The approximate number of bytes that writing the change-set sends to the server.
    pub fn weight(&self) -> usize {
        const ROW: usize = 256;
        const DIGEST: usize = 64;
        let texts = self
            .contents
            .iter()
            .chain(self.agents.iter().chain(&self.metadata))
            .chain(&self.tokens)
            .chain(&self.payloads)
            .chain(&self.bookings)
            .chain(self.accounts.iter().chain(&self.hooks).chain(&self.feeds).chain(&self.proposals).flatten())
            .chain(self.bridge.iter().flat_map(SealedBridge::texts))
            .chain(self.letters.iter().flat_map(|letter| letter.envelope.iter().chain([&letter.content])))
            .chain(self.runs.iter().flatten())
            .chain(&self.approvals)
            .chain(&self.body);
        let digests = self.digests.iter().map(|digests| digests.len() * DIGEST).sum::<usize>();
        let entries = entries(&self.changes).map(|entry| entry.body.len() + ROW).sum::<usize>();
        texts.map(|text| text.len() + ROW).sum::<usize>() + digests + entries + ROW
    }
}

impl SealedBridge {
    fn texts(&self) -> impl Iterator<Item = &String> {
        self.contents.iter().chain(&self.references).chain(&self.label).chain(&self.access)
    }
}

/// The sealed part of a change to accounts: the secret of a second factor.
fn account(change: &kalends_accounts::Change, cipher: &dyn FieldCipher) -> Option<String> {
    match change {
        kalends_accounts::Change::PutSecondFactor(factor) => {
            Some(cipher.seal(places::second_factor_secret(factor.user), factor.secret.reveal()))
        }
        _ => None,
    }
}

/// The sealed part of a write to the journal of runs: the event before.
fn run_state(change: &kalends_runs::Change, cipher: &dyn FieldCipher) -> Result<Option<String>, serde_json::Error> {
    match change {
        kalends_runs::Change::Record { entry, .. } => {
            let Some(before) = entry.before.as_deref() else { return Ok(None) };
            Ok(Some(cipher.seal(places::run_state(entry.id), &write_event_state(before)?)))
        }
        kalends_runs::Change::Undo { .. } => Ok(None),
    }
}

/// The sealed part of a change to approvals: the request and the decision.
fn approval(change: &kalends_approvals::Change, cipher: &dyn FieldCipher) -> Result<String, serde_json::Error> {
    let approval = change.approval();
    Ok(cipher.seal(places::approval_content(approval.id), &write_approval(approval)?))
}

/// The sealed part of a change to webhooks: an endpoint's address and secrets, or a message's payload.
fn hook(change: &kalends_notifications::Change, cipher: &dyn FieldCipher) -> Option<String> {
    use kalends_notifications::Change;
    match change {
        Change::CreateEndpoint(endpoint) | Change::UpdateEndpoint { endpoint, .. } => {
            Some(cipher.seal(places::webhook_content(endpoint.id), &Confidential::write(endpoint)))
        }
        Change::AddDelivery { message, .. } => {
            Some(cipher.seal(places::message_payload(message.id), message.payload.as_bytes()))
        }
        Change::DeleteEndpoint { .. } | Change::RetryDelivery { .. } | Change::Record(_) => None,
    }
}

/// The sealed part of a change to subscriptions: an address and a label.
fn subscription(change: &kalends_feeds::Change, cipher: &dyn FieldCipher) -> Option<String> {
    use kalends_feeds::{Change, Confidential};
    match change {
        Change::CreateSubscription(subscription) | Change::UpdateSubscription { subscription, .. } => {
            Some(cipher.seal(places::subscription_content(subscription.id), &Confidential::write(subscription)))
        }
        Change::DeleteSubscription { .. }
        | Change::AdoptRemains { .. }
        | Change::RemoveRemains { .. }
        | Change::ForgetSubscription { .. }
        | Change::AskSync { .. }
        | Change::RenewClaim { .. }
        | Change::EndSync { .. }
        | Change::KeepItems { .. }
        | Change::ForgetItems { .. } => None,
    }
}

/// The sealed part of a change to proposals: the text of a new one, or the remark of a response.
fn proposal(change: &kalends_proposals::Change, cipher: &dyn FieldCipher) -> Option<String> {
    use kalends_proposals::{Change, Confidential, Remark};
    match change {
        Change::Create(proposal) => {
            Some(cipher.seal(places::proposal_content(proposal.id()), &Confidential::write(proposal)))
        }
        Change::Update { response, .. } => response
            .as_ref()
            .map(|response| cipher.seal(places::response_remark(response.id()), &Remark::write(response))),
    }
}

/// The sealed part of a change to booking pages: a page's slug and texts, or a booking's guest.
fn booking(change: &kalends_bookings::Change, cipher: &dyn FieldCipher) -> String {
    use kalends_bookings::{Change, Confidential, GuestDocument};
    match change {
        Change::CreatePage(page) | Change::UpdatePage { page, .. } => {
            cipher.seal(places::booking_page_content(page.id), &Confidential::write(page))
        }
        Change::CreateBooking { booking, .. } | Change::MoveBooking { booking, .. } => {
            cipher.seal(places::booking_guest(booking.id), &GuestDocument::of(booking).write())
        }
        Change::CancelBooking { .. } => String::new(),
    }
}

/// The sealed parts of a change to the bridge: a connection's label and access, its calendars' names, and references of
/// copies.
fn bridge(change: &kalends_bridge::Change, cipher: &dyn FieldCipher) -> SealedBridge {
    use kalends_bridge::{Access, Change, Confidential, Connection, Copy, ExternalCalendar};
    let access = |id, access: &Access| Some(cipher.seal(places::connection_tokens(id), &access.write()));
    let label = |connection: &Connection| {
        connection.label.as_ref().map(|label| cipher.seal(places::connection_label(connection.id), label.as_bytes()))
    };
    let content = |calendar: &ExternalCalendar| {
        cipher.seal(places::external_content(calendar.id), &Confidential::write(&calendar.theirs))
    };
    match change {
        Change::CreateConnection { connection, calendars } => SealedBridge {
            label: label(connection),
            access: access(connection.id, &connection.access),
            contents: calendars.iter().map(content).collect(),
            references: Vec::new(),
        },
        Change::UpdateConnection { connection, .. } => {
            SealedBridge { label: label(connection), ..SealedBridge::default() }
        }
        Change::ReauthorizeConnection { connection, .. } => {
            SealedBridge { access: access(connection.id, &connection.access), ..SealedBridge::default() }
        }
        Change::EndRefresh { claim, access: renewed, calendars, .. } => SealedBridge {
            label: None,
            access: renewed.as_ref().and_then(|renewed| access(claim.connection, renewed)),
            contents: calendars.iter().map(content).collect(),
            references: Vec::new(),
        },
        Change::RecordCopies { claim, written, .. } => {
            let reference = |copy: &Copy| {
                let place = places::copy_content(places::copy_id(claim.calendar, &copy.key));
                cipher.seal(place, copy.reference.as_bytes())
            };
            SealedBridge { references: written.iter().map(reference).collect(), ..SealedBridge::default() }
        }
        Change::CreateLink(_)
        | Change::UpdateLink { .. }
        | Change::DeleteConnection { .. }
        | Change::AskRefresh { .. }
        | Change::CreateGrant(_)
        | Change::DeleteGrant { .. }
        | Change::PutDestination { .. }
        | Change::EndDestination { .. }
        | Change::EndPublishing { .. } => SealedBridge::default(),
    }
}

/// The entries of the change feed with their plain bodies: those of messages, then the others.
fn entries(changes: &ChangeSet) -> impl Iterator<Item = EntryWrite<'_>> {
    let of_messages = changes.messages.iter().filter_map(|message| {
        Some(EntryWrite {
            org: message.org,
            id: message.id,
            change_type: ChangeType::of_message(message.event_type)?.as_str(),
            version: message.resource_version,
            body: &message.payload,
            created_at: message.created_at,
        })
    });
    let others = changes.entries.iter().map(|entry| EntryWrite {
        org: entry.org,
        id: entry.id,
        change_type: entry.change_type.as_str(),
        version: entry.version,
        body: &entry.body,
        created_at: entry.created_at,
    });
    of_messages.chain(others)
}

fn agents(changes: &ChangeSet) -> impl Iterator<Item = (&Agent, Option<Version>)> {
    changes.calendars.iter().filter_map(|change| match change {
        Change::CreateAgent(agent) => Some((agent, None)),
        Change::UpdateAgent { agent, seen } => Some((agent, Some(*seen))),
        Change::CreateCalendar(_)
        | Change::UpdateCalendar { .. }
        | Change::CreateEvent(_)
        | Change::UpdateEvent { .. }
        | Change::MoveEvent { .. }
        | Change::PutRules { .. }
        | Change::DeleteRules(_)
        | Change::Reserve { .. }
        | Change::Unreserve { .. }
        | Change::PlaceHolds { .. }
        | Change::AdvanceTimer(_) => None,
    })
}

fn calendars(changes: &ChangeSet) -> impl Iterator<Item = (&Calendar, Option<Version>)> {
    changes.calendars.iter().filter_map(|change| match change {
        Change::CreateCalendar(calendar) => Some((calendar, None)),
        Change::UpdateCalendar { calendar, seen } => Some((calendar, Some(*seen))),
        Change::CreateAgent(_)
        | Change::UpdateAgent { .. }
        | Change::CreateEvent(_)
        | Change::UpdateEvent { .. }
        | Change::MoveEvent { .. }
        | Change::PutRules { .. }
        | Change::DeleteRules(_)
        | Change::Reserve { .. }
        | Change::Unreserve { .. }
        | Change::PlaceHolds { .. }
        | Change::AdvanceTimer(_) => None,
    })
}

/// The events, each with the version that was read and the calendar that it leaves.
fn events(changes: &ChangeSet) -> impl Iterator<Item = (&Event, Option<Version>, Option<CalendarId>)> {
    changes.calendars.iter().filter_map(|change| match change {
        Change::CreateEvent(event) => Some((event, None, None)),
        Change::UpdateEvent { event, seen } => Some((event, Some(*seen), None)),
        Change::MoveEvent { event, seen, from } => Some((event, Some(*seen), Some(*from))),
        Change::CreateAgent(_)
        | Change::UpdateAgent { .. }
        | Change::CreateCalendar(_)
        | Change::UpdateCalendar { .. }
        | Change::PutRules { .. }
        | Change::DeleteRules(_)
        | Change::Reserve { .. }
        | Change::Unreserve { .. }
        | Change::PlaceHolds { .. }
        | Change::AdvanceTimer(_) => None,
    })
}
