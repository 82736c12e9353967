//! Which fields are sealed at rest, where each seal belongs, and the plain form inside.
//!
//! Fields are sealed before a transaction begins, and opened after the rows have been read, so that no lock or
//! connection is held in between.

use std::fmt::Display;
use std::sync::Arc;

use kalends_accounts::TokenHash;
use kalends_app::ports::{FieldCipher, Place, SEALED};
use kalends_app::{ChangeSet, StoredAnswer};
use kalends_calendars::{Agent, Calendar, Change, Event, FeedToken};
use kalends_kernel::{
    AgentId, BookingId, BookingPageId, CalendarId, ConnectionId, EventId, ExternalCalendarId, LetterId, MessageId,
    Metadata, ProposalId, ResponseId, StoreError, SubscriptionId, Version, WebhookId,
};
use kalends_notifications::{Confidential, Letter, Message};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, value::RawValue};
use uuid::Uuid;

use crate::error::failed;

/// Where the sealed content of an event is stored.
pub(crate) const fn event_content(id: EventId) -> Place {
    Place { table: "events", column: "content", id: id.uuid() }
}

/// Where the sealed token of a calendar's feed is stored.
pub(crate) const fn feed_token(id: CalendarId) -> Place {
    Place { table: "calendars", column: "feed_token", id: id.uuid() }
}

/// The token in `stored`: sealed, or plain as earlier versions wrote it.
pub(crate) fn open_feed_token(id: CalendarId, stored: &str, cipher: &dyn FieldCipher) -> Result<FeedToken, StoreError> {
    if !stored.starts_with(SEALED) {
        return Ok(stored.into());
    }
    let corrupt = |error: &dyn Display| StoreError::corrupt("calendars", "feed_token", id, error);
    let plain = cipher.open(feed_token(id), stored).map_err(|error| corrupt(&error))?;
    String::from_utf8(plain).map(FeedToken::from).map_err(|error| corrupt(&error))
}

/// Where the sealed metadata of an agent is stored.
pub(crate) const fn agent_metadata(id: AgentId) -> Place {
    Place { table: "agents", column: "metadata", id: id.uuid() }
}

/// Where the sealed metadata of a calendar is stored.
pub(crate) const fn calendar_metadata(id: CalendarId) -> Place {
    Place { table: "calendars", column: "metadata", id: id.uuid() }
}

/// The metadata of row `id` in `stored`, at `place`: sealed, or plain as earlier versions wrote it. A JSON object
/// never starts like a seal.
pub(crate) fn open_metadata(
    place: Place,
    id: impl Display,
    stored: &str,
    cipher: &dyn FieldCipher,
) -> Result<Metadata, StoreError> {
    let corrupt = |error: &dyn Display| StoreError::corrupt(place.table, place.column, &id, error);
    if !stored.starts_with(SEALED) {
        return Metadata::from_json(stored).map_err(|error| corrupt(&error));
    }
    let plain = cipher.open(place, stored).map_err(|error| corrupt(&error))?;
    let text = std::str::from_utf8(&plain).map_err(|error| corrupt(&error))?;
    Metadata::from_json(text).map_err(|error| corrupt(&error))
}

/// Where a secret of an attempt at a provider is stored. Its row has a hash instead of an identifier; half of the
/// hash distinguishes rows just as well.
pub(crate) fn attempt_secret(table: &'static str, column: &'static str, key: TokenHash) -> Place {
    let mut half = [0; 16];
    half.copy_from_slice(&key.0[..16]);
    Place { table, column, id: Uuid::from_bytes(half) }
}

/// The secret of an attempt in `stored`: sealed, or plain as earlier versions wrote it. `None` if it cannot be
/// opened: its key may have been replaced and removed since. The user then starts a new attempt.
pub(crate) fn open_attempt_secret(place: Place, stored: String, cipher: &dyn FieldCipher) -> Option<String> {
    if !stored.starts_with(SEALED) {
        return Some(stored);
    }
    String::from_utf8(cipher.open(place, &stored).ok()?).ok()
}

/// Where the sealed payload of a message is stored.
pub(crate) const fn message_payload(id: MessageId) -> Place {
    Place { table: "outbox", column: "payload", id: id.uuid() }
}

/// Where the sealed part of a webhook endpoint is stored.
pub(crate) const fn webhook_content(id: WebhookId) -> Place {
    Place { table: "webhooks", column: "content", id: id.uuid() }
}

/// Where the sealed part of a subscription is stored.
pub(crate) const fn subscription_content(id: SubscriptionId) -> Place {
    Place { table: "ical_subscriptions", column: "content", id: id.uuid() }
}

/// Where the sealed part of a proposal is stored.
pub(crate) const fn proposal_content(id: ProposalId) -> Place {
    Place { table: "proposals", column: "content", id: id.uuid() }
}

/// Where the sealed part of a response is stored.
pub(crate) const fn response_remark(id: ResponseId) -> Place {
    Place { table: "proposal_participants", column: "remark", id: id.uuid() }
}

/// Where the sealed part of a booking page is stored.
pub(crate) const fn booking_page_content(id: BookingPageId) -> Place {
    Place { table: "booking_pages", column: "content", id: id.uuid() }
}

/// Where the sealed guest of a booking is stored.
pub(crate) const fn booking_guest(id: BookingId) -> Place {
    Place { table: "bookings", column: "guest", id: id.uuid() }
}

/// Where the sealed content of a letter is stored.
pub(crate) const fn letter_content(id: LetterId) -> Place {
    Place { table: "letters", column: "content", id: id.uuid() }
}

/// Where the sealed label of a connection is stored.
pub(crate) const fn connection_label(id: ConnectionId) -> Place {
    Place { table: "calendar_connections", column: "label", id: id.uuid() }
}

/// Where the sealed tokens of a connection are stored.
pub(crate) const fn connection_tokens(id: ConnectionId) -> Place {
    Place { table: "calendar_connections", column: "tokens", id: id.uuid() }
}

/// Where the sealed part of an external calendar is stored.
pub(crate) const fn external_content(id: ExternalCalendarId) -> Place {
    Place { table: "external_calendars", column: "content", id: id.uuid() }
}

/// Where the sealed body of an answer is stored. Its row has a scope instead of an identifier; half of that hash
/// distinguishes rows just as well.
pub(crate) fn answer_body(scope: &[u8; 32]) -> Place {
    let mut half = [0; 16];
    half.copy_from_slice(&scope[..16]);
    Place { table: "idempotent_answers", column: "body", id: Uuid::from_bytes(half) }
}

/// The texts of an event.
#[derive(Debug, PartialEq)]
pub(crate) struct Content {
    pub(crate) title: String,
    pub(crate) description: Option<String>,
    pub(crate) metadata: Metadata,
}

#[derive(Serialize)]
struct Written<'a> {
    title: &'a str,
    description: Option<&'a str>,
    metadata: &'a Map<String, Value>,
}

#[derive(Deserialize)]
struct Read<'a> {
    title: String,
    description: Option<String>,
    #[serde(borrow)]
    metadata: &'a RawValue,
}

impl Content {
    /// The plain form of an event's content: a JSON object.
    fn write(event: &Event) -> Result<Vec<u8>, serde_json::Error> {
        serde_json::to_vec(&Written {
            title: &event.title,
            description: event.description.as_deref(),
            metadata: event.metadata.as_map(),
        })
    }

    /// Reads the plain form.
    pub(crate) fn parse(plain: &[u8]) -> Result<Self, serde_json::Error> {
        let Read { title, description, metadata } = serde_json::from_slice(plain)?;
        Ok(Self { title, description, metadata: Metadata::from_json(metadata.get())? })
    }
}

/// A change-set whose fields are sealed. It is ready to be written, alone or with others, and again after a retry.
pub(crate) struct SealedChangeSet {
    changes: Arc<ChangeSet>,
    /// The contents of the events that are written, in order.
    contents: Vec<String>,
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
    /// The contents of the letters, in order.
    letters: Vec<String>,
    /// The body of the answer.
    body: Option<String>,
}

/// The sealed parts of one change to the bridge.
#[derive(Default)]
pub(crate) struct SealedBridge {
    /// The user's label for the connection, if any.
    pub(crate) label: Option<String>,
    /// The provider's tokens, if they are written.
    pub(crate) tokens: Option<String>,
    /// The contents of the external calendars that are written, in order.
    pub(crate) contents: Vec<String>,
}

/// One agent to write.
pub(crate) struct AgentWrite<'a> {
    pub(crate) agent: &'a Agent,
    /// The sealed metadata.
    pub(crate) metadata: &'a str,
    /// The version that was read; `None` for a new agent.
    pub(crate) seen: Option<Version>,
}

/// One calendar to write.
pub(crate) struct CalendarWrite<'a> {
    pub(crate) calendar: &'a Calendar,
    /// The sealed metadata.
    pub(crate) metadata: &'a str,
    /// The sealed token of its feed.
    pub(crate) token: &'a str,
    /// The version that was read; `None` for a new calendar.
    pub(crate) seen: Option<Version>,
}

/// One event to write.
pub(crate) struct EventWrite<'a> {
    pub(crate) event: &'a Event,
    pub(crate) content: &'a str,
    /// The version that was read; `None` for a new event.
    pub(crate) seen: Option<Version>,
}

impl SealedChangeSet {
    pub(crate) fn seal(changes: Arc<ChangeSet>, cipher: &dyn FieldCipher) -> Result<Self, StoreError> {
        let contents = events(&changes).map(|(event, _)| {
            let plain = Content::write(event).map_err(failed)?;
            Ok(cipher.seal(event_content(event.id), &plain))
        });
        let contents = contents.collect::<Result<_, StoreError>>()?;
        let agents = agents(&changes)
            .map(|(agent, _)| cipher.seal(agent_metadata(agent.id), agent.metadata.to_json().as_bytes()))
            .collect();
        let metadata = calendars(&changes)
            .map(|(calendar, _)| cipher.seal(calendar_metadata(calendar.id), calendar.metadata.to_json().as_bytes()))
            .collect();
        let tokens = calendars(&changes)
            .map(|(calendar, _)| cipher.seal(feed_token(calendar.id), calendar.feed_token.reveal().as_bytes()));
        let tokens = tokens.collect();
        let payloads = changes.messages.iter();
        let payloads =
            payloads.map(|message| cipher.seal(message_payload(message.id), message.payload.as_bytes())).collect();
        let hooks = changes.webhooks.iter().map(|change| hook(change, cipher)).collect();
        let feeds = changes.feeds.iter().map(|change| subscription(change, cipher)).collect();
        let proposals = changes.proposals.iter().map(|change| proposal(change, cipher)).collect();
        let bookings = changes.bookings.iter().map(|change| booking(change, cipher)).collect();
        let bridge = changes.bridge.iter().map(|change| bridge(change, cipher)).collect();
        let letters = changes.letters.iter();
        let letters = letters.map(|letter| cipher.seal(letter_content(letter.id), letter.content.as_bytes())).collect();
        let body = changes.answer.as_ref().and_then(|stored| {
            let body = stored.answer.body.as_ref()?;
            Some(cipher.seal(answer_body(&stored.scope), body.as_bytes()))
        });
        Ok(Self {
            changes,
            contents,
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
            body,
        })
    }

    pub(crate) fn changes(&self) -> &ChangeSet {
        &self.changes
    }

    pub(crate) fn agents(&self) -> impl Iterator<Item = AgentWrite<'_>> {
        agents(&self.changes).zip(&self.agents).map(|((agent, seen), metadata)| AgentWrite { agent, metadata, seen })
    }

    pub(crate) fn calendars(&self) -> impl Iterator<Item = CalendarWrite<'_>> {
        let written = calendars(&self.changes).zip(self.metadata.iter().zip(&self.tokens));
        written.map(|((calendar, seen), (metadata, token))| CalendarWrite { calendar, metadata, token, seen })
    }

    pub(crate) fn events(&self) -> impl Iterator<Item = EventWrite<'_>> {
        events(&self.changes).zip(&self.contents).map(|((event, seen), content)| EventWrite { event, content, seen })
    }

    pub(crate) fn messages(&self) -> impl Iterator<Item = (&Message, &str)> {
        self.changes.messages.iter().zip(self.payloads.iter().map(String::as_str))
    }

    /// The changes to webhooks, each with its sealed part.
    pub(crate) fn webhooks(&self) -> impl Iterator<Item = (&kalends_notifications::Change, &str)> {
        let sealed = self.hooks.iter().map(|sealed| sealed.as_deref().unwrap_or_default());
        self.changes.webhooks.iter().zip(sealed)
    }

    /// The changes to subscriptions, each with its sealed part.
    pub(crate) fn feeds(&self) -> impl Iterator<Item = (&kalends_feeds::Change, &str)> {
        let sealed = self.feeds.iter().map(|sealed| sealed.as_deref().unwrap_or_default());
        self.changes.feeds.iter().zip(sealed)
    }

    /// The changes to proposals, each with its sealed part.
    pub(crate) fn proposals(&self) -> impl Iterator<Item = (&kalends_proposals::Change, &str)> {
        let sealed = self.proposals.iter().map(|sealed| sealed.as_deref().unwrap_or_default());
        self.changes.proposals.iter().zip(sealed)
    }

    /// The changes to booking pages, each with its sealed part.
    pub(crate) fn bookings(&self) -> impl Iterator<Item = (&kalends_bookings::Change, &str)> {
        self.changes.bookings.iter().zip(self.bookings.iter().map(String::as_str))
    }

    /// The changes to the bridge, each with its sealed parts.
    pub(crate) fn bridge(&self) -> impl Iterator<Item = (&kalends_bridge::Change, &SealedBridge)> {
        self.changes.bridge.iter().zip(&self.bridge)
    }

    /// The letters, each with its sealed content.
    pub(crate) fn letters(&self) -> impl Iterator<Item = (&Letter, &str)> {
        self.changes.letters.iter().zip(self.letters.iter().map(String::as_str))
    }

    pub(crate) fn answer(&self) -> Option<(&StoredAnswer, Option<&str>)> {
        self.changes.answer.as_ref().map(|answer| (answer, self.body.as_deref()))
    }

    /// The approximate number of bytes that it sends to the server.
    pub(crate) fn weight(&self) -> usize {
        const ROW: usize = 256;
        let texts = self
            .contents
            .iter()
            .chain(self.agents.iter().chain(&self.metadata))
            .chain(&self.tokens)
            .chain(&self.payloads)
            .chain(&self.bookings)
            .chain(&self.letters)
            .chain(self.hooks.iter().chain(&self.feeds).chain(&self.proposals).flatten())
            .chain(self.bridge.iter().flat_map(SealedBridge::texts))
            .chain(&self.body);
        texts.map(|text| text.len() + ROW).sum::<usize>() + ROW
    }
}

impl SealedBridge {
    fn texts(&self) -> impl Iterator<Item = &String> {
        self.contents.iter().chain(&self.label).chain(&self.tokens)
    }
}

/// The sealed part of a change to webhooks: an endpoint's address and secrets, or a message's payload.
fn hook(change: &kalends_notifications::Change, cipher: &dyn FieldCipher) -> Option<String> {
    use kalends_notifications::Change;
    match change {
        Change::CreateEndpoint(endpoint) | Change::UpdateEndpoint { endpoint, .. } => {
            Some(cipher.seal(webhook_content(endpoint.id), &Confidential::write(endpoint)))
        }
        Change::AddDelivery { message, .. } => {
            Some(cipher.seal(message_payload(message.id), message.payload.as_bytes()))
        }
        Change::DeleteEndpoint { .. } | Change::RetryDelivery { .. } | Change::Record(_) => None,
    }
}

/// The sealed part of a change to subscriptions: an address and a label.
fn subscription(change: &kalends_feeds::Change, cipher: &dyn FieldCipher) -> Option<String> {
    use kalends_feeds::{Change, Confidential};
    match change {
        Change::CreateSubscription(subscription) | Change::UpdateSubscription { subscription, .. } => {
            Some(cipher.seal(subscription_content(subscription.id), &Confidential::write(subscription)))
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
        Change::Create(proposal) => Some(cipher.seal(proposal_content(proposal.id), &Confidential::write(proposal))),
        Change::Update { response, .. } => {
            response.as_ref().map(|response| cipher.seal(response_remark(response.id), &Remark::write(response)))
        }
    }
}

/// The sealed part of a change to booking pages: a page's slug and texts, or a booking's guest.
fn booking(change: &kalends_bookings::Change, cipher: &dyn FieldCipher) -> String {
    use kalends_bookings::{Change, Confidential};
    match change {
        Change::CreatePage(page) | Change::UpdatePage { page, .. } => {
            cipher.seal(booking_page_content(page.id), &Confidential::write(page))
        }
        Change::CreateBooking { booking, .. } => cipher.seal(booking_guest(booking.id), &booking.guest.write()),
    }
}

/// The sealed parts of a change to the bridge: a connection's label and tokens, and its calendars' names.
fn bridge(change: &kalends_bridge::Change, cipher: &dyn FieldCipher) -> SealedBridge {
    use kalends_bridge::{Change, Confidential, Connection, ExternalCalendar, Tokens};
    let tokens = |id, tokens: &Tokens| Some(cipher.seal(connection_tokens(id), &tokens.write()));
    let label = |connection: &Connection| {
        connection.label.as_ref().map(|label| cipher.seal(connection_label(connection.id), label.as_bytes()))
    };
    let content = |calendar: &ExternalCalendar| {
        cipher.seal(external_content(calendar.id), &Confidential::write(&calendar.theirs))
    };
    match change {
        Change::CreateConnection { connection, calendars } => SealedBridge {
            label: label(connection),
            tokens: tokens(connection.id, &connection.tokens),
            contents: calendars.iter().map(content).collect(),
        },
        Change::UpdateConnection { connection, .. } => {
            SealedBridge { label: label(connection), ..SealedBridge::default() }
        }
        Change::ReauthorizeConnection { connection, .. } => {
            SealedBridge { tokens: tokens(connection.id, &connection.tokens), ..SealedBridge::default() }
        }
        Change::EndRefresh { claim, tokens: renewed, calendars, .. } => SealedBridge {
            label: None,
            tokens: renewed.as_ref().and_then(|renewed| tokens(claim.connection, renewed)),
            contents: calendars.iter().map(content).collect(),
        },
        Change::CreateLink(_)
        | Change::UpdateLink { .. }
        | Change::DeleteConnection { .. }
        | Change::AskRefresh { .. }
        | Change::CreateGrant(_)
        | Change::DeleteGrant { .. } => SealedBridge::default(),
    }
}

fn agents(changes: &ChangeSet) -> impl Iterator<Item = (&Agent, Option<Version>)> {
    changes.calendars.iter().filter_map(|change| match change {
        Change::CreateAgent(agent) => Some((agent, None)),
        Change::UpdateAgent { agent, seen } => Some((agent, Some(*seen))),
        Change::CreateCalendar(_)
        | Change::UpdateCalendar { .. }
        | Change::CreateEvent(_)
        | Change::UpdateEvent { .. }
        | Change::PutRules { .. }
        | Change::DeleteRules(_)
        | Change::Reserve { .. }
        | Change::Unreserve { .. }
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
        | Change::PutRules { .. }
        | Change::DeleteRules(_)
        | Change::Reserve { .. }
        | Change::Unreserve { .. }
        | Change::AdvanceTimer(_) => None,
    })
}

fn events(changes: &ChangeSet) -> impl Iterator<Item = (&Event, Option<Version>)> {
    changes.calendars.iter().filter_map(|change| match change {
        Change::CreateEvent(event) => Some((event, None)),
        Change::UpdateEvent { event, seen } => Some((event, Some(*seen))),
        Change::CreateAgent(_)
        | Change::UpdateAgent { .. }
        | Change::CreateCalendar(_)
        | Change::UpdateCalendar { .. }
        | Change::PutRules { .. }
        | Change::DeleteRules(_)
        | Change::Reserve { .. }
        | Change::Unreserve { .. }
        | Change::AdvanceTimer(_) => None,
    })
}
