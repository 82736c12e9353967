//! The columns whose values are sealed again after the data key has changed, and how.

use std::fmt::Display;

use kalends_app::ports::{FieldCipher, Place};
use kalends_kernel::{
    AgentId, ApprovalId, BookingId, BookingPageId, CalendarId, ConnectionId, EventId, ExternalCalendarId, LetterId,
    MessageId, OrgId, ProposalId, ResponseId, RunWriteId, StoreError, SubscriptionId, UserId, WebhookId,
};
use uuid::Uuid;

use crate::{EventContent, Located, located_answer, metadata_digests, open_feed_token, places, row_id};

/// A column whose values are sealed again after the data key has changed. The secrets of attempts are sealed too, but
/// they expire instead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SealedColumn {
    /// The texts of events.
    Events,
    /// The payloads of messages.
    Outbox,
    /// The bodies of entries of change feeds.
    FeedEntries,
    /// The addresses and secrets of webhook endpoints.
    Webhooks,
    /// The addresses and labels of subscriptions.
    Subscriptions,
    /// The texts of proposals.
    Proposals,
    /// The remarks of responses.
    Responses,
    /// The slugs and texts of booking pages.
    BookingPages,
    /// The guests of bookings.
    Bookings,
    /// The contents of letters.
    Letters,
    /// The envelopes of letters.
    LetterRecords,
    /// The labels of connections.
    ConnectionLabels,
    /// The tokens of connections.
    ConnectionTokens,
    /// The names of external calendars.
    ExternalCalendars,
    /// The provider's identifiers of copies.
    Copies,
    /// The tokens of calendars' feeds.
    FeedTokens,
    /// The metadata of agents.
    AgentMetadata,
    /// The metadata of calendars.
    CalendarMetadata,
    /// The secrets of second factors. Their rows have no organization: the user is in its place.
    SecondFactors,
    /// The states before the writes of runs.
    RunStates,
    /// The requests and decisions of approvals.
    Approvals,
    /// The bodies of stored answers.
    Answers,
}

/// The value that replaces an old one.
pub struct Renewed {
    /// The value, sealed with the current key.
    pub sealed: String,
    /// The hash by which the value is found, in columns that have one.
    pub hash: Option<[u8; 32]>,
    /// The digests of the metadata of an event.
    pub digests: Vec<i64>,
}

impl SealedColumn {
    /// Every such column.
    pub const ALL: [Self; 22] = [
        Self::Events,
        Self::Outbox,
        Self::FeedEntries,
        Self::Webhooks,
        Self::Subscriptions,
        Self::Proposals,
        Self::Responses,
        Self::BookingPages,
        Self::Bookings,
        Self::Letters,
        Self::LetterRecords,
        Self::ConnectionLabels,
        Self::ConnectionTokens,
        Self::ExternalCalendars,
        Self::Copies,
        Self::FeedTokens,
        Self::AgentMetadata,
        Self::CalendarMetadata,
        Self::SecondFactors,
        Self::RunStates,
        Self::Approvals,
        Self::Answers,
    ];

    /// Opens `sealed`, the value of the row `key` of the organization, and seals it with the current key. A key is the 16 bytes of an
    /// identifier, or the 32 bytes of a stored answer's scope.
    pub fn renew(self, org: OrgId, key: &[u8], sealed: &str, cipher: &dyn FieldCipher) -> Result<Renewed, StoreError> {
        let (place, row) = self.place(key)?;
        let plain = match self {
            Self::FeedTokens => {
                let token = open_feed_token(CalendarId::from_uuid(place.id), sealed, cipher)?;
                let sealed = cipher.seal(place, token.reveal().as_bytes());
                return Ok(Renewed { sealed, hash: Some(token.hash().0), digests: Vec::new() });
            }
            Self::AgentMetadata | Self::CalendarMetadata => row.metadata(place, sealed, cipher)?.to_json().into_bytes(),
            _ => row.open(place, sealed, cipher)?,
        };
        let digests = match self {
            // An event that cannot be read is not found either.
            Self::Events => EventContent::read(&plain)
                .map_or_else(|_| Vec::new(), |content| metadata_digests(org, &content.metadata, cipher)),
            _ => Vec::new(),
        };
        Ok(Renewed { sealed: cipher.seal(place, &plain), hash: None, digests })
    }

    /// Where the value of the row `key` is sealed, and the row as errors name it.
    fn place(self, key: &[u8]) -> Result<(Place, Located<String>), StoreError> {
        match self {
            Self::Events => place_of(key, EventId::from_uuid, places::event_content),
            Self::Outbox => place_of(key, MessageId::from_uuid, places::message_payload),
            Self::FeedEntries => place_of(key, MessageId::from_uuid, places::entry_body),
            Self::Webhooks => place_of(key, WebhookId::from_uuid, places::webhook_content),
            Self::Subscriptions => place_of(key, SubscriptionId::from_uuid, places::subscription_content),
            Self::Proposals => place_of(key, ProposalId::from_uuid, places::proposal_content),
            Self::Responses => place_of(key, ResponseId::from_uuid, places::response_remark),
            Self::BookingPages => place_of(key, BookingPageId::from_uuid, places::booking_page_content),
            Self::Bookings => place_of(key, BookingId::from_uuid, places::booking_guest),
            Self::Letters => place_of(key, LetterId::from_uuid, places::letter_content),
            Self::LetterRecords => place_of(key, LetterId::from_uuid, places::letter_envelope),
            Self::ConnectionLabels => place_of(key, ConnectionId::from_uuid, places::connection_label),
            Self::ConnectionTokens => place_of(key, ConnectionId::from_uuid, places::connection_tokens),
            Self::ExternalCalendars => place_of(key, ExternalCalendarId::from_uuid, places::external_content),
            Self::Copies => place_of(key, |id| id, places::copy_content),
            Self::FeedTokens => place_of(key, CalendarId::from_uuid, places::feed_token),
            Self::AgentMetadata => place_of(key, AgentId::from_uuid, places::agent_metadata),
            Self::CalendarMetadata => place_of(key, CalendarId::from_uuid, places::calendar_metadata),
            Self::SecondFactors => place_of(key, UserId::from_uuid, places::second_factor_secret),
            Self::RunStates => place_of(key, RunWriteId::from_uuid, places::run_state),
            Self::Approvals => place_of(key, ApprovalId::from_uuid, places::approval_content),
            Self::Answers => {
                let row = located_answer(key);
                let scope = row.digest("scope", key)?;
                Ok((places::answer_body(&scope), row))
            }
        }
    }
}

fn place_of<I: Copy + Display>(
    key: &[u8],
    from_uuid: impl Fn(Uuid) -> I,
    place: impl Fn(I) -> Place,
) -> Result<(Place, Located<String>), StoreError> {
    let table = place(from_uuid(Uuid::nil())).table;
    let id = from_uuid(row_id(table, "id", key)?);
    Ok((place(id), Located { table, id: id.to_string() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_has_a_place_of_its_own() {
        let id = Uuid::from_u128(7);
        let mut seen = Vec::new();
        for column in SealedColumn::ALL {
            let key = if column == SealedColumn::Answers { vec![7; 32] } else { id.as_bytes().to_vec() };
            let (place, row) = column.place(&key).unwrap();
            assert_eq!(place.table, row.table);
            assert!(!seen.contains(&(place.table, place.column)), "{column:?}");
            seen.push((place.table, place.column));
        }
    }

    #[test]
    fn a_corrupt_key_is_located() {
        for column in SealedColumn::ALL {
            let Err(StoreError::Corrupt(row)) = column.place(&[0xab; 3]) else { panic!("{column:?}") };
            assert_eq!(row.id, "ababab", "{column:?}");
        }
    }
}
