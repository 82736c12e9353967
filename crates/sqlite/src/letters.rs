//! Letters (outgoing mail): how workers claim and end them.

use async_trait::async_trait;
use kalends_kernel::{EventId, LetterId, OrgId, StoreError};
use kalends_notifications::{About, ClaimedLetter, Fence, LETTER_CLAIM_LASTS, Letter, LetterEnd, ports::Letters};
use kalends_time::Timestamp;

use crate::{
    SqliteStore,
    error::store_error,
    rows::{places, row_id},
};

/// A claimed row.
struct Row {
    org_id: Vec<u8>,
    id: Vec<u8>,
    recipient: Vec<u8>,
    about: Vec<u8>,
    occurrence: Option<i64>,
    content: String,
    created_at: i64,
    fence: i64,
    put_off: u32,
    superseded: bool,
}

#[async_trait]
impl Letters for SqliteStore {
    async fn claim_letters(&self, now: Timestamp, limit: u32) -> Result<Vec<ClaimedLetter>, StoreError> {
        let (at, until) = (now.as_micros(), (now + LETTER_CLAIM_LASTS).as_micros());
        // If nothing is due, do not wait for the writer.
        let any =
            sqlx::query_scalar!(r#"select exists (select 1 from letters where due_at <= ?1) as "any!: bool""#, at)
                .fetch_one(self.readers())
                .await
                .map_err(store_error)?;
        if !any {
            return Ok(Vec::new());
        }
        let mut writing = self.database.writer.take().await?;
        let claimed = sqlx::query_as!(
            Row,
            r#"update letters set due_at = ?2, fence = fence + 1
             where rowid in (
                select due.rowid from letters due
                where due.due_at <= ?1
                    and not exists (
                        select 1 from letters older
                        where older.org_id = due.org_id and older.recipient = due.recipient and older.about = due.about
                            and (older.occurrence is null or due.occurrence is null or older.occurrence = due.occurrence)
                            and (older.created_at, older.id) < (due.created_at, due.id)
                            and (older.fence = 0 or older.fence > older.put_off)
                    )
                order by due.due_at, due.rowid limit ?3
             )
             returning org_id as "org_id!", id as "id!", recipient as "recipient!", about as "about!",
                occurrence, content as "content!", created_at as "created_at!", fence as "fence!", put_off as "put_off!: u32",
                exists (
                    select 1 from letters newer
                    where newer.org_id = letters.org_id and newer.recipient = letters.recipient
                        and newer.about = letters.about
                        and (newer.occurrence is null or newer.occurrence = letters.occurrence)
                        and (newer.created_at, newer.id) > (letters.created_at, letters.id)
                ) as "superseded!: bool""#,
            at,
            until,
            limit
        )
        .fetch_all(&mut writing.connection)
        .await;
        let rows = match claimed {
            Ok(rows) => {
                writing.hand_back();
                rows
            }
            Err(error) => {
                writing.close().await;
                return Err(store_error(error));
            }
        };
        let read = |row: Row| -> Result<ClaimedLetter, StoreError> {
            let id = LetterId::from_uuid(row_id("letters", "id", &row.id)?);
            let corrupt = |column, detail: &dyn std::fmt::Display| StoreError::corrupt("letters", column, id, detail);
            let plain = self
                .cipher
                .open(places::letter_content(id), &row.content)
                .map_err(|error| corrupt("content", &error))?;
            let content = String::from_utf8(plain).map_err(|error| corrupt("content", &error))?;
            let letter = Letter {
                id,
                org: OrgId::from_uuid(row_id("letters", "org_id", &row.org_id)?),
                recipient: row.recipient.as_slice().try_into().map_err(|error| corrupt("recipient", &error))?,
                about: About {
                    event: EventId::from_uuid(row_id("letters", "about", &row.about)?),
                    occurrence: row.occurrence.map(Timestamp::from_micros),
                },
                content,
                created_at: Timestamp::from_micros(row.created_at),
            };
            Ok(ClaimedLetter { letter, fence: Fence(row.fence), put_off: row.put_off, superseded: row.superseded })
        };
        let claimed = rows.into_iter().map(|row| {
            let ids = (row_id("letters", "org_id", &row.org_id), row_id("letters", "id", &row.id));
            let of = match ids {
                (Ok(org), Ok(id)) => Some((OrgId::from_uuid(org), LetterId::from_uuid(id), Fence(row.fence))),
                _ => None,
            };
            (of, read(row))
        });
        let (mut readable, mut unreadable) = (Vec::new(), Vec::new());
        for (of, claimed) in claimed {
            match claimed {
                Ok(claimed) => readable.push(claimed),
                Err(error) => {
                    tracing::error!(error = &error as &dyn std::error::Error, "a due letter cannot be read");
                    unreadable.push(of);
                }
            }
        }
        // An unreadable letter does not hold up newer ones about the same event. It is due again when its claim ends.
        for (org, id, fence) in unreadable.into_iter().flatten() {
            self.end_letter(org, id, fence, LetterEnd::PutOff(now + LETTER_CLAIM_LASTS)).await?;
        }
        Ok(readable)
    }

    async fn end_letter(&self, org: OrgId, letter: LetterId, fence: Fence, end: LetterEnd) -> Result<(), StoreError> {
        let (org_id, id) = (org.uuid(), letter.uuid());
        let mut writing = self.database.writer.take().await?;
        let ended = match end {
            // This also deletes the letter itself.
            LetterEnd::Sent => {
                sqlx::query!(
                    "delete from letters where rowid in (
                        select older.rowid from letters sent join letters older
                        on older.org_id = sent.org_id and older.recipient = sent.recipient and older.about = sent.about
                            and (sent.occurrence is null or older.occurrence = sent.occurrence)
                            and (older.created_at, older.id) <= (sent.created_at, sent.id)
                        where sent.org_id = ?1 and sent.id = ?2 and sent.fence = ?3
                     )",
                    org_id,
                    id,
                    fence.0
                )
                .execute(&mut writing.connection)
                .await
            }
            LetterEnd::Dropped => {
                sqlx::query!("delete from letters where org_id = ?1 and id = ?2 and fence = ?3", org_id, id, fence.0)
                    .execute(&mut writing.connection)
                    .await
            }
            LetterEnd::PutOff(until) => {
                let until = until.as_micros();
                sqlx::query!(
                    "update letters set due_at = ?4, put_off = fence where org_id = ?1 and id = ?2 and fence = ?3",
                    org_id,
                    id,
                    fence.0,
                    until
                )
                .execute(&mut writing.connection)
                .await
            }
        };
        writing.done(ended).await.map(drop)
    }
}
