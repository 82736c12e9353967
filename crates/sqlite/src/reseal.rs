//! Seals stored fields again after the data key has changed.

use std::sync::Mutex;

use async_trait::async_trait;
use kalends_app::ports::{FieldCipher, Place, Reseal};
use kalends_kernel::{CalendarId, StoreError};
use uuid::Uuid;

use crate::{
    SqliteStore,
    error::store_error,
    json::{self, HexDigest},
    rows::{Row, answer::body_place, calendar::open_feed_token, seal_metadata},
};

/// The tables with sealed fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Table {
    Events,
    Outbox,
    Answers,
    Webhooks,
    Subscriptions,
    Proposals,
    Responses,
    BookingPages,
    Bookings,
    Letters,
    Tokens,
    Labels,
    ExternalCalendars,
    Calendars,
    AgentMetadata,
    CalendarMetadata,
}

/// Where the last search ended, so that a long table is not read from its beginning each time. This is only a hint:
/// "nothing is left" is reported only after a search of everything.
#[derive(Default)]
pub(crate) struct Progress(Mutex<[i64; Table::ALL.len()]>);

/// A value that the current writing key has not sealed.
struct OldRow {
    place: i64,
    id: Vec<u8>,
    sealed: String,
}

/// The value that replaces an old one.
struct Renewed {
    sealed: String,
    /// The hash by which the value is found, in tables whose rows have one.
    hash: Option<[u8; 32]>,
}

impl Table {
    const ALL: [Self; 16] = [
        Self::Events,
        Self::Outbox,
        Self::Answers,
        Self::Webhooks,
        Self::Subscriptions,
        Self::Proposals,
        Self::Responses,
        Self::BookingPages,
        Self::Bookings,
        Self::Letters,
        Self::Tokens,
        Self::Labels,
        Self::ExternalCalendars,
        Self::Calendars,
        Self::AgentMetadata,
        Self::CalendarMetadata,
    ];

    fn place(self, id: &[u8]) -> Result<Place, StoreError> {
        let (table, column) = match self {
            Self::Events => ("events", "content"),
            Self::Outbox => ("outbox", "payload"),
            Self::Webhooks => ("webhooks", "content"),
            Self::Subscriptions => ("ical_subscriptions", "content"),
            Self::Proposals => ("proposals", "content"),
            Self::Responses => ("proposal_participants", "remark"),
            Self::BookingPages => ("booking_pages", "content"),
            Self::Bookings => ("bookings", "guest"),
            Self::Letters => ("letters", "content"),
            Self::Tokens => ("calendar_connections", "tokens"),
            Self::Labels => ("calendar_connections", "label"),
            Self::ExternalCalendars => ("external_calendars", "content"),
            Self::Calendars => ("calendars", "feed_token"),
            Self::AgentMetadata => ("agents", "metadata"),
            Self::CalendarMetadata => ("calendars", "metadata"),
            Self::Answers => {
                let row = Row { table: "idempotent_answers", id: &"a stored answer" };
                return Ok(body_place(&row.digest("scope", id)?));
            }
        };
        Ok(Place { table, column, id: crate::rows::row_id(table, "id", id)? })
    }
}

impl Progress {
    fn of(&self, table: Table) -> i64 {
        self.0.lock().map_or(0, |places| places[table as usize])
    }

    fn set(&self, table: Table, place: i64) {
        if let Ok(mut places) = self.0.lock() {
            places[table as usize] = place;
        }
    }
}

#[async_trait]
impl Reseal for SqliteStore {
    async fn reseal(&self, limit: u32) -> Result<u64, StoreError> {
        let prefix = self.cipher.writing_prefix();
        for table in Table::ALL {
            let mut old = self.sealed_otherwise(table, &prefix, self.resealed.of(table), limit).await?;
            if old.is_empty() {
                old = self.sealed_otherwise(table, &prefix, i64::MIN, limit).await?;
            }
            let Some(last) = old.last() else { continue };
            self.resealed.set(table, last.place);
            return self.seal_anew(table, &old).await;
        }
        Ok(0)
    }
}

impl SqliteStore {
    /// Seals again all values that can be opened. If one cannot, the error is returned after the others are written:
    /// it delays nothing, but does not count as done either.
    async fn seal_anew(&self, table: Table, old: &[OldRow]) -> Result<u64, StoreError> {
        let (mut renewed, mut unopened) = (Vec::with_capacity(old.len()), None);
        for row in old {
            match renew(table, row, self.cipher.as_ref()) {
                Ok(new) => renewed.push((row, new)),
                Err(error) => unopened = Some(error),
            }
        }
        let rows: Vec<_> = renewed
            .iter()
            .map(|(old, new)| (old.place, &old.sealed, &new.sealed, new.hash.as_ref().map(HexDigest)))
            .collect();
        self.replace(table, &json::rows(&rows).map_err(store_error)?).await?;
        unopened.map_or_else(|| Ok(old.len() as u64), Err)
    }

    async fn sealed_otherwise(
        &self,
        table: Table,
        prefix: &str,
        after: i64,
        limit: u32,
    ) -> Result<Vec<OldRow>, StoreError> {
        let readers = self.readers();
        macro_rules! old {
            ($statement:literal) => {
                sqlx::query_as!(OldRow, $statement, prefix, after, limit).fetch_all(readers).await
            };
        }
        match table {
            Table::Events => old!(
                r#"select rowid as "place!", id, content as sealed from events
                     where rowid > ?2 and substr(content, 1, length(?1)) <> ?1 order by rowid limit ?3"#
            ),
            Table::Outbox => old!(
                r#"select rowid as "place!", id, payload as sealed from outbox
                     where rowid > ?2 and substr(payload, 1, length(?1)) <> ?1 order by rowid limit ?3"#
            ),
            Table::Webhooks => old!(
                r#"select rowid as "place!", id, content as sealed from webhooks
                     where rowid > ?2 and substr(content, 1, length(?1)) <> ?1 order by rowid limit ?3"#
            ),
            Table::Subscriptions => old!(
                r#"select rowid as "place!", id, content as sealed from ical_subscriptions
                     where rowid > ?2 and substr(content, 1, length(?1)) <> ?1 order by rowid limit ?3"#
            ),
            Table::Proposals => old!(
                r#"select rowid as "place!", id, content as sealed from proposals
                     where rowid > ?2 and substr(content, 1, length(?1)) <> ?1 order by rowid limit ?3"#
            ),
            Table::Responses => old!(
                r#"select rowid as "place!", response_id as "id!", remark as "sealed!" from proposal_participants
                     where rowid > ?2 and substr(remark, 1, length(?1)) <> ?1 order by rowid limit ?3"#
            ),
            Table::BookingPages => old!(
                r#"select rowid as "place!", id, content as sealed from booking_pages
                     where rowid > ?2 and substr(content, 1, length(?1)) <> ?1 order by rowid limit ?3"#
            ),
            Table::Bookings => old!(
                r#"select rowid as "place!", id, guest as sealed from bookings
                     where rowid > ?2 and substr(guest, 1, length(?1)) <> ?1 order by rowid limit ?3"#
            ),
            Table::Letters => old!(
                r#"select rowid as "place!", id, content as sealed from letters
                     where rowid > ?2 and substr(content, 1, length(?1)) <> ?1 order by rowid limit ?3"#
            ),
            Table::Tokens => old!(
                r#"select rowid as "place!", id, tokens as sealed from calendar_connections
                     where rowid > ?2 and substr(tokens, 1, length(?1)) <> ?1 order by rowid limit ?3"#
            ),
            Table::Labels => old!(
                r#"select rowid as "place!", id, label as "sealed!" from calendar_connections
                     where rowid > ?2 and substr(label, 1, length(?1)) <> ?1 order by rowid limit ?3"#
            ),
            Table::ExternalCalendars => old!(
                r#"select rowid as "place!", id, content as sealed from external_calendars
                     where rowid > ?2 and substr(content, 1, length(?1)) <> ?1 order by rowid limit ?3"#
            ),
            Table::Calendars => old!(
                r#"select rowid as "place!", id, feed_token as sealed from calendars
                     where rowid > ?2 and substr(feed_token, 1, length(?1)) <> ?1 order by rowid limit ?3"#
            ),
            Table::AgentMetadata => old!(
                r#"select rowid as "place!", id, metadata as sealed from agents
                     where rowid > ?2 and substr(metadata, 1, length(?1)) <> ?1 order by rowid limit ?3"#
            ),
            Table::CalendarMetadata => old!(
                r#"select rowid as "place!", id, metadata as sealed from calendars
                     where rowid > ?2 and substr(metadata, 1, length(?1)) <> ?1 order by rowid limit ?3"#
            ),
            Table::Answers => old!(
                r#"select rowid as "place!", scope as id, body as "sealed!" from idempotent_answers
                     where rowid > ?2 and substr(body, 1, length(?1)) <> ?1 order by rowid limit ?3"#
            ),
        }
        .map_err(store_error)
    }

    /// Replaces old values that have not changed in between. A nonce is never used twice, so an equal text means the
    /// same value.
    async fn replace(&self, table: Table, rows: &str) -> Result<(), StoreError> {
        let mut writing = self.database.writer.take().await?;
        macro_rules! replaced {
            ($statement:literal) => {
                sqlx::query!($statement, rows).execute(&mut writing.connection).await
            };
        }
        let replaced = match table {
            Table::Events => replaced!(
                "update events set content = renewed.value ->> 2 from json_each(?1) renewed
                     where events.rowid = (renewed.value ->> 0) and events.content = (renewed.value ->> 1)"
            ),
            Table::Outbox => replaced!(
                "update outbox set payload = renewed.value ->> 2 from json_each(?1) renewed
                     where outbox.rowid = (renewed.value ->> 0) and outbox.payload = (renewed.value ->> 1)"
            ),
            Table::Webhooks => replaced!(
                "update webhooks set content = renewed.value ->> 2 from json_each(?1) renewed
                     where webhooks.rowid = (renewed.value ->> 0) and webhooks.content = (renewed.value ->> 1)"
            ),
            Table::Subscriptions => replaced!(
                "update ical_subscriptions set content = renewed.value ->> 2 from json_each(?1) renewed
                     where ical_subscriptions.rowid = (renewed.value ->> 0)
                        and ical_subscriptions.content = (renewed.value ->> 1)"
            ),
            Table::Proposals => replaced!(
                "update proposals set content = renewed.value ->> 2 from json_each(?1) renewed
                     where proposals.rowid = (renewed.value ->> 0) and proposals.content = (renewed.value ->> 1)"
            ),
            Table::Responses => replaced!(
                "update proposal_participants set remark = renewed.value ->> 2 from json_each(?1) renewed
                     where proposal_participants.rowid = (renewed.value ->> 0)
                        and proposal_participants.remark = (renewed.value ->> 1)"
            ),
            Table::BookingPages => replaced!(
                "update booking_pages set content = renewed.value ->> 2 from json_each(?1) renewed
                     where booking_pages.rowid = (renewed.value ->> 0) and booking_pages.content = (renewed.value ->> 1)"
            ),
            Table::Bookings => replaced!(
                "update bookings set guest = renewed.value ->> 2 from json_each(?1) renewed
                     where bookings.rowid = (renewed.value ->> 0) and bookings.guest = (renewed.value ->> 1)"
            ),
            Table::Letters => replaced!(
                "update letters set content = renewed.value ->> 2 from json_each(?1) renewed
                     where letters.rowid = (renewed.value ->> 0) and letters.content = (renewed.value ->> 1)"
            ),
            Table::Tokens => replaced!(
                "update calendar_connections set tokens = renewed.value ->> 2 from json_each(?1) renewed
                     where calendar_connections.rowid = (renewed.value ->> 0)
                        and calendar_connections.tokens = (renewed.value ->> 1)"
            ),
            Table::Labels => replaced!(
                "update calendar_connections set label = renewed.value ->> 2 from json_each(?1) renewed
                     where calendar_connections.rowid = (renewed.value ->> 0)
                        and calendar_connections.label = (renewed.value ->> 1)"
            ),
            Table::ExternalCalendars => replaced!(
                "update external_calendars set content = renewed.value ->> 2 from json_each(?1) renewed
                     where external_calendars.rowid = (renewed.value ->> 0)
                        and external_calendars.content = (renewed.value ->> 1)"
            ),
            Table::Calendars => replaced!(
                "update calendars set feed_token = renewed.value ->> 2, feed_token_hash = unhex(renewed.value ->> 3)
                     from json_each(?1) renewed
                     where calendars.rowid = (renewed.value ->> 0) and calendars.feed_token = (renewed.value ->> 1)"
            ),
            Table::AgentMetadata => replaced!(
                "update agents set metadata = renewed.value ->> 2 from json_each(?1) renewed
                     where agents.rowid = (renewed.value ->> 0) and agents.metadata = (renewed.value ->> 1)"
            ),
            Table::CalendarMetadata => replaced!(
                "update calendars set metadata = renewed.value ->> 2 from json_each(?1) renewed
                     where calendars.rowid = (renewed.value ->> 0) and calendars.metadata = (renewed.value ->> 1)"
            ),
            Table::Answers => replaced!(
                "update idempotent_answers set body = renewed.value ->> 2 from json_each(?1) renewed
                     where idempotent_answers.rowid = (renewed.value ->> 0)
                        and idempotent_answers.body = (renewed.value ->> 1)"
            ),
        };
        writing.done(replaced).await.map(|_| ())
    }
}

fn renew(table: Table, row: &OldRow, cipher: &dyn FieldCipher) -> Result<Renewed, StoreError> {
    let place = table.place(&row.id)?;
    if table == Table::Calendars {
        let token = open_feed_token(CalendarId::from_uuid(place.id), &row.sealed, cipher)?;
        let sealed = cipher.seal(place, token.reveal().as_bytes());
        return Ok(Renewed { sealed, hash: Some(token.hash().0) });
    }
    if matches!(table, Table::AgentMetadata | Table::CalendarMetadata) {
        let of = Row { table: place.table, id: &shown(table, place.id) };
        let metadata = of.metadata(place.id, &row.sealed, cipher)?;
        return Ok(Renewed { sealed: seal_metadata(place.table, place.id, &metadata, cipher), hash: None });
    }
    let plain = cipher
        .open(place, &row.sealed)
        .map_err(|error| StoreError::corrupt(place.table, place.column, shown(table, place.id), error))?;
    Ok(Renewed { sealed: cipher.seal(place, &plain), hash: None })
}

/// The identifier of a row, as the rest of the program displays it.
fn shown(table: Table, id: Uuid) -> String {
    match table {
        Table::Events => kalends_kernel::EventId::from_uuid(id).to_string(),
        Table::Outbox => kalends_kernel::MessageId::from_uuid(id).to_string(),
        Table::Webhooks => kalends_kernel::WebhookId::from_uuid(id).to_string(),
        Table::Subscriptions => kalends_kernel::SubscriptionId::from_uuid(id).to_string(),
        Table::BookingPages => kalends_kernel::BookingPageId::from_uuid(id).to_string(),
        Table::Bookings => kalends_kernel::BookingId::from_uuid(id).to_string(),
        Table::Letters => kalends_kernel::LetterId::from_uuid(id).to_string(),
        Table::Tokens | Table::Labels => kalends_kernel::ConnectionId::from_uuid(id).to_string(),
        Table::ExternalCalendars => kalends_kernel::ExternalCalendarId::from_uuid(id).to_string(),
        Table::Calendars | Table::CalendarMetadata => CalendarId::from_uuid(id).to_string(),
        Table::AgentMetadata => kalends_kernel::AgentId::from_uuid(id).to_string(),
        Table::Proposals => kalends_kernel::ProposalId::from_uuid(id).to_string(),
        Table::Responses => kalends_kernel::ResponseId::from_uuid(id).to_string(),
        Table::Answers => id.simple().to_string(),
    }
}
