//! Seals stored fields again while the service runs.
//!
//! The tables are walked by key, one batch per call, starting where the previous call stopped. Searching from the
//! beginning each time would skip more and more newly sealed values. A walk that starts at the beginning and finds
//! nothing ends the work.

mod anew;

use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use kalends_app::ports::{FieldCipher, OpenError, Place, Reseal};
use kalends_kernel::{
    AgentId, BookingId, BookingPageId, CalendarId, ConnectionId, EventId, ExternalCalendarId, LetterId, MessageId,
    ProposalId, ResponseId, StoreError, SubscriptionId, WebhookId,
};
use uuid::Uuid;

use self::anew::Anew;
use crate::PostgresStore;
use crate::error::store_error;
use crate::retry::retried;
use crate::rows::located_answer;
use crate::sealed;

/// How far this process has come.
#[derive(Debug, Default)]
pub(crate) struct Progress(Mutex<(String, Position)>);

impl Progress {
    /// Where to continue; at the beginning if the writing key has changed.
    fn position(&self, prefix: &str) -> Position {
        let guard = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if guard.0 == prefix { guard.1.clone() } else { Position::default() }
    }

    fn set(&self, prefix: &str, position: Position) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = (prefix.to_owned(), position);
    }
}

/// A sealed column, and the key after which the walk continues.
#[derive(Debug, Clone, PartialEq)]
enum Position {
    Events(Uuid, Uuid),
    Outbox(Uuid, Uuid),
    Webhooks(Uuid, Uuid),
    Subscriptions(Uuid, Uuid),
    Proposals(Uuid, Uuid),
    Responses(Uuid, Uuid),
    BookingPages(Uuid, Uuid),
    Bookings(Uuid, Uuid),
    Letters(Uuid, Uuid),
    ConnectionLabels(Uuid, Uuid),
    ConnectionTokens(Uuid, Uuid),
    ExternalCalendars(Uuid, Uuid),
    Calendars(Uuid, Uuid),
    AgentMetadata(Uuid, Uuid),
    CalendarMetadata(Uuid, Uuid),
    Answers(Vec<u8>),
}

impl Default for Position {
    fn default() -> Self {
        Self::Events(Uuid::nil(), Uuid::nil())
    }
}

impl Position {
    /// The start of the next column.
    fn next_column(&self) -> Option<Self> {
        match self {
            Self::Events(..) => Some(Self::Outbox(Uuid::nil(), Uuid::nil())),
            Self::Outbox(..) => Some(Self::Webhooks(Uuid::nil(), Uuid::nil())),
            Self::Webhooks(..) => Some(Self::Subscriptions(Uuid::nil(), Uuid::nil())),
            Self::Subscriptions(..) => Some(Self::Proposals(Uuid::nil(), Uuid::nil())),
            Self::Proposals(..) => Some(Self::Responses(Uuid::nil(), Uuid::nil())),
            Self::Responses(..) => Some(Self::BookingPages(Uuid::nil(), Uuid::nil())),
            Self::BookingPages(..) => Some(Self::Bookings(Uuid::nil(), Uuid::nil())),
            Self::Bookings(..) => Some(Self::Letters(Uuid::nil(), Uuid::nil())),
            Self::Letters(..) => Some(Self::ConnectionLabels(Uuid::nil(), Uuid::nil())),
            Self::ConnectionLabels(..) => Some(Self::ConnectionTokens(Uuid::nil(), Uuid::nil())),
            Self::ConnectionTokens(..) => Some(Self::ExternalCalendars(Uuid::nil(), Uuid::nil())),
            Self::ExternalCalendars(..) => Some(Self::Calendars(Uuid::nil(), Uuid::nil())),
            Self::Calendars(..) => Some(Self::AgentMetadata(Uuid::nil(), Uuid::nil())),
            Self::AgentMetadata(..) => Some(Self::CalendarMetadata(Uuid::nil(), Uuid::nil())),
            Self::CalendarMetadata(..) => Some(Self::Answers(Vec::new())),
            Self::Answers(_) => None,
        }
    }
}

/// A value that another key has sealed.
struct Old {
    /// Its row, which is the position of the walk after it.
    at: Position,
    sealed: String,
}

impl Old {
    fn place(&self) -> Result<Place, StoreError> {
        Ok(match &self.at {
            Position::Events(_, id) => sealed::event_content(EventId::from_uuid(*id)),
            Position::Outbox(_, id) => sealed::message_payload(MessageId::from_uuid(*id)),
            Position::Webhooks(_, id) => sealed::webhook_content(WebhookId::from_uuid(*id)),
            Position::Subscriptions(_, id) => sealed::subscription_content(SubscriptionId::from_uuid(*id)),
            Position::Proposals(_, id) => sealed::proposal_content(ProposalId::from_uuid(*id)),
            Position::Responses(_, id) => sealed::response_remark(ResponseId::from_uuid(*id)),
            Position::BookingPages(_, id) => sealed::booking_page_content(BookingPageId::from_uuid(*id)),
            Position::Bookings(_, id) => sealed::booking_guest(BookingId::from_uuid(*id)),
            Position::Letters(_, id) => sealed::letter_content(LetterId::from_uuid(*id)),
            Position::ConnectionLabels(_, id) => sealed::connection_label(ConnectionId::from_uuid(*id)),
            Position::ConnectionTokens(_, id) => sealed::connection_tokens(ConnectionId::from_uuid(*id)),
            Position::ExternalCalendars(_, id) => sealed::external_content(ExternalCalendarId::from_uuid(*id)),
            Position::Calendars(_, id) => sealed::feed_token(CalendarId::from_uuid(*id)),
            Position::AgentMetadata(_, id) => sealed::agent_metadata(AgentId::from_uuid(*id)),
            Position::CalendarMetadata(_, id) => sealed::calendar_metadata(CalendarId::from_uuid(*id)),
            Position::Answers(scope) => sealed::answer_body(&located_answer(scope).hash("scope", scope)?),
        })
    }

    fn corrupt(&self, error: OpenError) -> StoreError {
        match &self.at {
            Position::Events(_, id) => StoreError::corrupt("events", "content", EventId::from_uuid(*id), error),
            Position::Outbox(_, id) => StoreError::corrupt("outbox", "payload", MessageId::from_uuid(*id), error),
            Position::Webhooks(_, id) => StoreError::corrupt("webhooks", "content", WebhookId::from_uuid(*id), error),
            Position::Subscriptions(_, id) => {
                StoreError::corrupt("ical_subscriptions", "content", SubscriptionId::from_uuid(*id), error)
            }
            Position::Proposals(_, id) => {
                StoreError::corrupt("proposals", "content", ProposalId::from_uuid(*id), error)
            }
            Position::Responses(_, id) => {
                StoreError::corrupt("proposal_participants", "remark", ResponseId::from_uuid(*id), error)
            }
            Position::BookingPages(_, id) => {
                StoreError::corrupt("booking_pages", "content", BookingPageId::from_uuid(*id), error)
            }
            Position::Bookings(_, id) => StoreError::corrupt("bookings", "guest", BookingId::from_uuid(*id), error),
            Position::Letters(_, id) => StoreError::corrupt("letters", "content", LetterId::from_uuid(*id), error),
            Position::ConnectionLabels(_, id) => {
                StoreError::corrupt("calendar_connections", "label", ConnectionId::from_uuid(*id), error)
            }
            Position::ConnectionTokens(_, id) => {
                StoreError::corrupt("calendar_connections", "tokens", ConnectionId::from_uuid(*id), error)
            }
            Position::ExternalCalendars(_, id) => {
                StoreError::corrupt("external_calendars", "content", ExternalCalendarId::from_uuid(*id), error)
            }
            Position::Calendars(_, id) => {
                StoreError::corrupt("calendars", "feed_token", CalendarId::from_uuid(*id), error)
            }
            Position::AgentMetadata(_, id) => StoreError::corrupt("agents", "metadata", AgentId::from_uuid(*id), error),
            Position::CalendarMetadata(_, id) => {
                StoreError::corrupt("calendars", "metadata", CalendarId::from_uuid(*id), error)
            }
            Position::Answers(scope) => located_answer(scope).corrupt("body", error),
        }
    }

    /// The value, opened and sealed again.
    fn renewed(&self, cipher: &dyn FieldCipher) -> Result<Renewed, StoreError> {
        let place = self.place()?;
        if let Position::Calendars(_, id) = self.at {
            let token = sealed::open_feed_token(CalendarId::from_uuid(id), &self.sealed, cipher)?;
            let sealed = cipher.seal(place, token.reveal().as_bytes());
            return Ok(Renewed { sealed, hash: Some(token.hash().0.to_vec()) });
        }
        let metadata = match self.at {
            Position::AgentMetadata(_, id) => {
                Some(sealed::open_metadata(place, AgentId::from_uuid(id), &self.sealed, cipher)?)
            }
            Position::CalendarMetadata(_, id) => {
                Some(sealed::open_metadata(place, CalendarId::from_uuid(id), &self.sealed, cipher)?)
            }
            _ => None,
        };
        if let Some(metadata) = metadata {
            return Ok(Renewed { sealed: cipher.seal(place, metadata.to_json().as_bytes()), hash: None });
        }
        let plain = cipher.open(place, &self.sealed).map_err(|error| self.corrupt(error))?;
        Ok(Renewed { sealed: cipher.seal(place, &plain), hash: None })
    }
}

/// The value that replaces an old one.
struct Renewed {
    sealed: String,
    /// The hash by which the value is found, in columns that have one.
    hash: Option<Vec<u8>>,
}

#[async_trait]
impl Reseal for PostgresStore {
    async fn reseal(&self, limit: u32) -> Result<u64, StoreError> {
        let prefix = self.cipher.writing_prefix();
        let mut position = self.reseal.position(&prefix);
        let mut from_the_beginning = position == Position::default();
        loop {
            let found = self.sealed_otherwise(&position, &prefix, i64::from(limit.max(1))).await?;
            if let Some(last) = found.last() {
                let next = last.at.clone();
                let failure = self.seal_anew(&found).await?;
                self.reseal.set(&prefix, next);
                // A value that cannot be opened is reported, but does not keep the rest from being sealed.
                return failure.map_or(Ok(u64::try_from(found.len()).unwrap_or(u64::MAX)), Err);
            }
            match position.next_column() {
                Some(next) => position = next,
                None if from_the_beginning => {
                    self.reseal.set(&prefix, Position::default());
                    return Ok(0);
                }
                None => {
                    position = Position::default();
                    from_the_beginning = true;
                }
            }
        }
    }
}

impl PostgresStore {
    /// The next values after `position` in its column that do not start with `prefix`.
    async fn sealed_otherwise(&self, position: &Position, prefix: &str, limit: i64) -> Result<Vec<Old>, StoreError> {
        macro_rules! old {
            ($column:ident, $sealed:ident, $org:ident, $id:ident, $statement:literal) => {
                sqlx::query!($statement, $org, $id, prefix, limit)
                    .fetch_all(&self.connections)
                    .await
                    .map_err(store_error)?
                    .into_iter()
                    .map(|row| Old { at: Position::$column(row.org_id, row.id), sealed: row.$sealed })
                    .collect()
            };
        }
        let found = match position {
            Position::Events(org, id) => old!(
                Events,
                content,
                org,
                id,
                "SELECT org_id, id, content
                 FROM events
                 WHERE (org_id, id) > ($1, $2) AND NOT starts_with(content, $3)
                 ORDER BY org_id, id
                 LIMIT $4"
            ),
            Position::Outbox(org, id) => old!(
                Outbox,
                payload,
                org,
                id,
                "SELECT org_id, id, payload
                 FROM outbox
                 WHERE (org_id, id) > ($1, $2) AND NOT starts_with(payload, $3)
                 ORDER BY org_id, id
                 LIMIT $4"
            ),
            Position::Webhooks(org, id) => old!(
                Webhooks,
                content,
                org,
                id,
                "SELECT org_id, id, content
                 FROM webhooks
                 WHERE (org_id, id) > ($1, $2) AND NOT starts_with(content, $3)
                 ORDER BY org_id, id
                 LIMIT $4"
            ),
            Position::Subscriptions(org, id) => old!(
                Subscriptions,
                content,
                org,
                id,
                "SELECT org_id, id, content
                 FROM ical_subscriptions
                 WHERE (org_id, id) > ($1, $2) AND NOT starts_with(content, $3)
                 ORDER BY org_id, id
                 LIMIT $4"
            ),
            Position::Proposals(org, id) => old!(
                Proposals,
                content,
                org,
                id,
                "SELECT org_id, id, content
                 FROM proposals
                 WHERE (org_id, id) > ($1, $2) AND NOT starts_with(content, $3)
                 ORDER BY org_id, id
                 LIMIT $4"
            ),
            Position::Responses(org, id) => old!(
                Responses,
                remark,
                org,
                id,
                r#"SELECT org_id, response_id AS "id!", remark AS "remark!"
                 FROM proposal_participants
                 WHERE (org_id, response_id) > ($1, $2) AND NOT starts_with(remark, $3)
                 ORDER BY org_id, response_id
                 LIMIT $4"#
            ),
            Position::BookingPages(org, id) => old!(
                BookingPages,
                content,
                org,
                id,
                "SELECT org_id, id, content
                 FROM booking_pages
                 WHERE (org_id, id) > ($1, $2) AND NOT starts_with(content, $3)
                 ORDER BY org_id, id
                 LIMIT $4"
            ),
            Position::Bookings(org, id) => old!(
                Bookings,
                guest,
                org,
                id,
                "SELECT org_id, id, guest
                 FROM bookings
                 WHERE (org_id, id) > ($1, $2) AND NOT starts_with(guest, $3)
                 ORDER BY org_id, id
                 LIMIT $4"
            ),
            Position::Letters(org, id) => old!(
                Letters,
                content,
                org,
                id,
                "SELECT org_id, id, content
                 FROM letters
                 WHERE (org_id, id) > ($1, $2) AND NOT starts_with(content, $3)
                 ORDER BY org_id, id
                 LIMIT $4"
            ),
            Position::ConnectionLabels(org, id) => old!(
                ConnectionLabels,
                label,
                org,
                id,
                r#"SELECT org_id, id, label AS "label!"
                 FROM calendar_connections
                 WHERE (org_id, id) > ($1, $2) AND NOT starts_with(label, $3)
                 ORDER BY org_id, id
                 LIMIT $4"#
            ),
            Position::ConnectionTokens(org, id) => old!(
                ConnectionTokens,
                tokens,
                org,
                id,
                "SELECT org_id, id, tokens
                 FROM calendar_connections
                 WHERE (org_id, id) > ($1, $2) AND NOT starts_with(tokens, $3)
                 ORDER BY org_id, id
                 LIMIT $4"
            ),
            Position::ExternalCalendars(org, id) => old!(
                ExternalCalendars,
                content,
                org,
                id,
                "SELECT org_id, id, content
                 FROM external_calendars
                 WHERE (org_id, id) > ($1, $2) AND NOT starts_with(content, $3)
                 ORDER BY org_id, id
                 LIMIT $4"
            ),
            Position::Calendars(org, id) => old!(
                Calendars,
                feed_token,
                org,
                id,
                "SELECT org_id, id, feed_token
                 FROM calendars
                 WHERE (org_id, id) > ($1, $2) AND NOT starts_with(feed_token, $3)
                 ORDER BY org_id, id
                 LIMIT $4"
            ),
            Position::AgentMetadata(org, id) => old!(
                AgentMetadata,
                metadata,
                org,
                id,
                "SELECT org_id, id, metadata
                 FROM agents
                 WHERE (org_id, id) > ($1, $2) AND NOT starts_with(metadata, $3)
                 ORDER BY org_id, id
                 LIMIT $4"
            ),
            Position::CalendarMetadata(org, id) => old!(
                CalendarMetadata,
                metadata,
                org,
                id,
                "SELECT org_id, id, metadata
                 FROM calendars
                 WHERE (org_id, id) > ($1, $2) AND NOT starts_with(metadata, $3)
                 ORDER BY org_id, id
                 LIMIT $4"
            ),
            Position::Answers(scope) => sqlx::query!(
                r#"SELECT scope, body AS "body!"
                 FROM idempotent_answers
                 WHERE scope > $1 AND NOT starts_with(body, $2)
                 ORDER BY scope
                 LIMIT $3"#,
                scope,
                prefix,
                limit,
            )
            .fetch_all(&self.connections)
            .await
            .map_err(store_error)?
            .into_iter()
            .map(|row| Old { at: Position::Answers(row.scope), sealed: row.body })
            .collect(),
        };
        Ok(found)
    }

    /// Seals the values, all of one column, and replaces each that has not changed. Returns the error of the first
    /// value that cannot be opened.
    async fn seal_anew(&self, found: &[Old]) -> Result<Option<StoreError>, StoreError> {
        let mut failure = None;
        let mut anew = Anew::default();
        for old in found {
            match old.renewed(&*self.cipher) {
                Ok(renewed) => anew.push(old, renewed),
                Err(error) => failure = failure.or(Some(error)),
            }
        }
        retried(|| anew.write(&self.connections)).await.map_err(store_error)?;
        Ok(failure)
    }
}
