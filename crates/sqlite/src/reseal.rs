//! Seals stored fields again after the data key has changed.

mod progress;

use async_trait::async_trait;
use kalends_app::ports::{DataKeyView, FieldCipher, KeyTable as _, Reseal, SealingKeys};
use kalends_kernel::{OrgId, StoreError};
use kalends_rows::{Renewed, SealedColumn};
use sqlx::{Connection as _, SqliteConnection, sqlite::SqliteQueryResult};

pub(crate) use self::progress::Progress;
use crate::{
    SqliteStore,
    error::store_error,
    json::{self, HexDigest},
    rows::row_id,
};

/// A value that the current writing key has not sealed.
struct OldRow {
    place: i64,
    org_id: Vec<u8>,
    id: Vec<u8>,
    sealed: String,
}

impl OldRow {
    fn renewed(&self, column: SealedColumn, cipher: &dyn FieldCipher) -> Result<Renewed, StoreError> {
        let org = OrgId::from_uuid(row_id("organizations", "id", &self.org_id)?);
        column.renew(org, &self.id, &self.sealed, cipher)
    }
}

#[async_trait]
impl Reseal for SqliteStore {
    async fn reseal(&self, limit: u32) -> Result<u64, StoreError> {
        let prefix = self.cipher.writing_prefix();
        for column in SealedColumn::ALL {
            let mut old = self.sealed_otherwise(column, &prefix, self.resealed.of(column), limit).await?;
            if old.is_empty() {
                old = self.sealed_otherwise(column, &prefix, i64::MIN, limit).await?;
            }
            let Some(last) = old.last() else { continue };
            self.resealed.set(column, last.place);
            return self.seal_again(column, &old).await;
        }
        Ok(0)
    }
}

#[async_trait]
impl SealingKeys for SqliteStore {
    async fn sealing_keys(&self) -> Result<Vec<DataKeyView>, StoreError> {
        let keys = self.database.key_table().data_keys().await?;
        Ok(keys.into_iter().map(DataKeyView::from).collect())
    }
}

impl SqliteStore {
    /// Seals again all values that can be opened. If one cannot be opened, the others are still written, and then its
    /// error is returned: the value does not hold up the others, but does not count as done either.
    async fn seal_again(&self, column: SealedColumn, old: &[OldRow]) -> Result<u64, StoreError> {
        let (mut renewed, mut unopened) = (Vec::with_capacity(old.len()), None);
        for row in old {
            match row.renewed(column, self.cipher.as_ref()) {
                Ok(new) => renewed.push((row, new)),
                Err(error) => unopened = Some(error),
            }
        }
        let rows: Vec<_> = renewed
            .iter()
            .map(|(old, new)| (old.place, &old.sealed, &new.sealed, new.hash.as_ref().map(HexDigest), &new.digests))
            .collect();
        self.replace(column, &json::rows(&rows).map_err(store_error)?).await?;
        unopened.map_or_else(|| Ok(old.len() as u64), Err)
    }

    async fn sealed_otherwise(
        &self,
        column: SealedColumn,
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
        match column {
            SealedColumn::Events => old!(
                r#"select rowid as "place!", org_id, id, content as sealed from events
                     where rowid > ?2 and substr(content, 1, length(?1)) <> ?1 order by rowid limit ?3"#
            ),
            SealedColumn::Outbox => old!(
                r#"select rowid as "place!", org_id, id, payload as sealed from outbox
                     where rowid > ?2 and substr(payload, 1, length(?1)) <> ?1 order by rowid limit ?3"#
            ),
            SealedColumn::FeedEntries => old!(
                r#"select rowid as "place!", org_id, id, body as sealed from change_feed
                     where rowid > ?2 and substr(body, 1, length(?1)) <> ?1 order by rowid limit ?3"#
            ),
            SealedColumn::Webhooks => old!(
                r#"select rowid as "place!", org_id, id, content as sealed from webhooks
                     where rowid > ?2 and substr(content, 1, length(?1)) <> ?1 order by rowid limit ?3"#
            ),
            SealedColumn::Subscriptions => old!(
                r#"select rowid as "place!", org_id, id, content as sealed from ical_subscriptions
                     where rowid > ?2 and substr(content, 1, length(?1)) <> ?1 order by rowid limit ?3"#
            ),
            SealedColumn::Proposals => old!(
                r#"select rowid as "place!", org_id, id, content as sealed from proposals
                     where rowid > ?2 and substr(content, 1, length(?1)) <> ?1 order by rowid limit ?3"#
            ),
            SealedColumn::Responses => old!(
                r#"select rowid as "place!", org_id, response_id as "id!", remark as "sealed!" from proposal_participants
                     where rowid > ?2 and substr(remark, 1, length(?1)) <> ?1 order by rowid limit ?3"#
            ),
            SealedColumn::BookingPages => old!(
                r#"select rowid as "place!", org_id, id, content as sealed from booking_pages
                     where rowid > ?2 and substr(content, 1, length(?1)) <> ?1 order by rowid limit ?3"#
            ),
            SealedColumn::Bookings => old!(
                r#"select rowid as "place!", org_id, id, guest as sealed from bookings
                     where rowid > ?2 and substr(guest, 1, length(?1)) <> ?1 order by rowid limit ?3"#
            ),
            SealedColumn::Letters => old!(
                r#"select rowid as "place!", org_id, id, content as sealed from letters
                     where rowid > ?2 and substr(content, 1, length(?1)) <> ?1 order by rowid limit ?3"#
            ),
            SealedColumn::LetterRecords => old!(
                r#"select rowid as "place!", org_id, id, envelope as sealed from letter_records
                     where rowid > ?2 and substr(envelope, 1, length(?1)) <> ?1 order by rowid limit ?3"#
            ),
            SealedColumn::ConnectionTokens => old!(
                r#"select rowid as "place!", org_id, id, tokens as sealed from calendar_connections
                     where rowid > ?2 and substr(tokens, 1, length(?1)) <> ?1 order by rowid limit ?3"#
            ),
            SealedColumn::ConnectionLabels => old!(
                r#"select rowid as "place!", org_id, id, label as "sealed!" from calendar_connections
                     where rowid > ?2 and substr(label, 1, length(?1)) <> ?1 order by rowid limit ?3"#
            ),
            SealedColumn::ExternalCalendars => old!(
                r#"select rowid as "place!", org_id, id, content as sealed from external_calendars
                     where rowid > ?2 and substr(content, 1, length(?1)) <> ?1 order by rowid limit ?3"#
            ),
            SealedColumn::Copies => old!(
                r#"select rowid as "place!", org_id, id, content as sealed from publication_copies
                     where rowid > ?2 and substr(content, 1, length(?1)) <> ?1 order by rowid limit ?3"#
            ),
            SealedColumn::FeedTokens => old!(
                r#"select rowid as "place!", org_id, id, feed_token as sealed from calendars
                     where rowid > ?2 and substr(feed_token, 1, length(?1)) <> ?1 order by rowid limit ?3"#
            ),
            SealedColumn::AgentMetadata => old!(
                r#"select rowid as "place!", org_id, id, metadata as sealed from agents
                     where rowid > ?2 and substr(metadata, 1, length(?1)) <> ?1 order by rowid limit ?3"#
            ),
            SealedColumn::CalendarMetadata => old!(
                r#"select rowid as "place!", org_id, id, metadata as sealed from calendars
                     where rowid > ?2 and substr(metadata, 1, length(?1)) <> ?1 order by rowid limit ?3"#
            ),
            SealedColumn::SecondFactors => old!(
                r#"select rowid as "place!", user_id as "org_id!", user_id as "id!", secret as sealed from second_factors
                     where rowid > ?2 and substr(secret, 1, length(?1)) <> ?1 order by rowid limit ?3"#
            ),
            SealedColumn::RunStates => old!(
                r#"select rowid as "place!", org_id, id, state as "sealed!" from run_writes
                     where rowid > ?2 and substr(state, 1, length(?1)) <> ?1 order by rowid limit ?3"#
            ),
            SealedColumn::Approvals => old!(
                r#"select rowid as "place!", org_id, id, content as sealed from approvals
                     where rowid > ?2 and substr(content, 1, length(?1)) <> ?1 order by rowid limit ?3"#
            ),
            SealedColumn::Answers => old!(
                r#"select rowid as "place!", org_id, scope as id, body as "sealed!" from idempotent_answers
                     where rowid > ?2 and substr(body, 1, length(?1)) <> ?1 order by rowid limit ?3"#
            ),
        }
        .map_err(store_error)
    }

    /// Replaces old values that have not changed in between. A nonce is never used twice, so an equal text means the
    /// same value.
    async fn replace(&self, column: SealedColumn, rows: &str) -> Result<(), StoreError> {
        let mut writing = self.database.writer.take().await?;
        macro_rules! replaced {
            ($statement:literal) => {
                sqlx::query!($statement, rows).execute(&mut writing.connection).await
            };
        }
        let replaced = match column {
            SealedColumn::Events => replace_events(&mut writing.connection, rows).await,
            SealedColumn::Outbox => replaced!(
                "update outbox set payload = renewed.value ->> 2 from jsonb_each(?1) renewed
                     where outbox.rowid = (renewed.value ->> 0) and outbox.payload = (renewed.value ->> 1)"
            ),
            SealedColumn::FeedEntries => replaced!(
                "update change_feed set body = renewed.value ->> 2 from jsonb_each(?1) renewed
                     where change_feed.rowid = (renewed.value ->> 0) and change_feed.body = (renewed.value ->> 1)"
            ),
            SealedColumn::Webhooks => replaced!(
                "update webhooks set content = renewed.value ->> 2 from jsonb_each(?1) renewed
                     where webhooks.rowid = (renewed.value ->> 0) and webhooks.content = (renewed.value ->> 1)"
            ),
            SealedColumn::Subscriptions => replaced!(
                "update ical_subscriptions set content = renewed.value ->> 2 from jsonb_each(?1) renewed
                     where ical_subscriptions.rowid = (renewed.value ->> 0)
                        and ical_subscriptions.content = (renewed.value ->> 1)"
            ),
            SealedColumn::Proposals => replaced!(
                "update proposals set content = renewed.value ->> 2 from jsonb_each(?1) renewed
                     where proposals.rowid = (renewed.value ->> 0) and proposals.content = (renewed.value ->> 1)"
            ),
            SealedColumn::Responses => replaced!(
                "update proposal_participants set remark = renewed.value ->> 2 from jsonb_each(?1) renewed
                     where proposal_participants.rowid = (renewed.value ->> 0)
                        and proposal_participants.remark = (renewed.value ->> 1)"
            ),
            SealedColumn::BookingPages => replaced!(
                "update booking_pages set content = renewed.value ->> 2 from jsonb_each(?1) renewed
                     where booking_pages.rowid = (renewed.value ->> 0) and booking_pages.content = (renewed.value ->> 1)"
            ),
            SealedColumn::Bookings => replaced!(
                "update bookings set guest = renewed.value ->> 2 from jsonb_each(?1) renewed
                     where bookings.rowid = (renewed.value ->> 0) and bookings.guest = (renewed.value ->> 1)"
            ),
            SealedColumn::Letters => replaced!(
                "update letters set content = renewed.value ->> 2 from jsonb_each(?1) renewed
                     where letters.rowid = (renewed.value ->> 0) and letters.content = (renewed.value ->> 1)"
            ),
            SealedColumn::LetterRecords => replaced!(
                "update letter_records set envelope = renewed.value ->> 2 from jsonb_each(?1) renewed
                     where letter_records.rowid = (renewed.value ->> 0) and letter_records.envelope = (renewed.value ->> 1)"
            ),
            SealedColumn::ConnectionTokens => replaced!(
                "update calendar_connections set tokens = renewed.value ->> 2 from jsonb_each(?1) renewed
                     where calendar_connections.rowid = (renewed.value ->> 0)
                        and calendar_connections.tokens = (renewed.value ->> 1)"
            ),
            SealedColumn::ConnectionLabels => replaced!(
                "update calendar_connections set label = renewed.value ->> 2 from jsonb_each(?1) renewed
                     where calendar_connections.rowid = (renewed.value ->> 0)
                        and calendar_connections.label = (renewed.value ->> 1)"
            ),
            SealedColumn::ExternalCalendars => replaced!(
                "update external_calendars set content = renewed.value ->> 2 from jsonb_each(?1) renewed
                     where external_calendars.rowid = (renewed.value ->> 0)
                        and external_calendars.content = (renewed.value ->> 1)"
            ),
            SealedColumn::Copies => replaced!(
                "update publication_copies set content = renewed.value ->> 2 from jsonb_each(?1) renewed
                     where publication_copies.rowid = (renewed.value ->> 0)
                        and publication_copies.content = (renewed.value ->> 1)"
            ),
            SealedColumn::FeedTokens => replaced!(
                "update calendars set feed_token = renewed.value ->> 2, feed_token_hash = unhex(renewed.value ->> 3)
                     from jsonb_each(?1) renewed
                     where calendars.rowid = (renewed.value ->> 0) and calendars.feed_token = (renewed.value ->> 1)"
            ),
            SealedColumn::AgentMetadata => replaced!(
                "update agents set metadata = renewed.value ->> 2 from jsonb_each(?1) renewed
                     where agents.rowid = (renewed.value ->> 0) and agents.metadata = (renewed.value ->> 1)"
            ),
            SealedColumn::CalendarMetadata => replaced!(
                "update calendars set metadata = renewed.value ->> 2 from jsonb_each(?1) renewed
                     where calendars.rowid = (renewed.value ->> 0) and calendars.metadata = (renewed.value ->> 1)"
            ),
            SealedColumn::SecondFactors => replaced!(
                "update second_factors set secret = renewed.value ->> 2 from jsonb_each(?1) renewed
                     where second_factors.rowid = (renewed.value ->> 0) and second_factors.secret = (renewed.value ->> 1)"
            ),
            SealedColumn::RunStates => replaced!(
                "update run_writes set state = renewed.value ->> 2 from jsonb_each(?1) renewed
                     where run_writes.rowid = (renewed.value ->> 0) and run_writes.state = (renewed.value ->> 1)"
            ),
            SealedColumn::Approvals => replaced!(
                "update approvals set content = renewed.value ->> 2 from jsonb_each(?1) renewed
                     where approvals.rowid = (renewed.value ->> 0) and approvals.content = (renewed.value ->> 1)"
            ),
            SealedColumn::Answers => replaced!(
                "update idempotent_answers set body = renewed.value ->> 2 from jsonb_each(?1) renewed
                     where idempotent_answers.rowid = (renewed.value ->> 0)
                        and idempotent_answers.body = (renewed.value ->> 1)"
            ),
        };
        writing.done(replaced).await.map(|_| ())
    }
}

/// Replaces the contents of events, and the digests of their metadata.
async fn replace_events(connection: &mut SqliteConnection, rows: &str) -> Result<SqliteQueryResult, sqlx::Error> {
    let mut transaction = connection.begin_with("begin immediate").await?;
    let replaced = sqlx::query!(
        "update events set content = renewed.value ->> 2, indexed_version = events.version from jsonb_each(?1) renewed
         where events.rowid = (renewed.value ->> 0) and events.content = (renewed.value ->> 1)",
        rows
    )
    .execute(&mut *transaction)
    .await?;
    sqlx::query!(
        "delete from event_metadata where (org_id, event_id) in (
            select e.org_id, e.id from jsonb_each(?1) renewed cross join events e on e.rowid = (renewed.value ->> 0)
            where e.content = (renewed.value ->> 2))",
        rows
    )
    .execute(&mut *transaction)
    .await?;
    sqlx::query!(
        "insert into event_metadata (org_id, event_id, digest, calendar_id)
         select e.org_id, e.id, digest.value, e.calendar_id
         from jsonb_each(?1) renewed cross join events e on e.rowid = (renewed.value ->> 0)
            cross join jsonb_each(renewed.value, '$[4]') digest
         where e.content = (renewed.value ->> 2) and e.deleted_at is null",
        rows
    )
    .execute(&mut *transaction)
    .await?;
    transaction.commit().await?;
    Ok(replaced)
}
