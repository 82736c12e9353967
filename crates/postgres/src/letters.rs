//! Letters (outgoing mail): how workers on any number of nodes claim and end them.

use async_trait::async_trait;
use kalends_kernel::{EventId, LetterId, OrgId, StoreError};
use kalends_notifications::ports::Letters;
use kalends_notifications::{About, ClaimedLetter, Fence, LETTER_CLAIM_LASTS, Letter, LetterEnd};
use kalends_time::Timestamp;

use crate::PostgresStore;
use crate::error::store_error;
use crate::retry::retried;
use crate::rows::places;

#[async_trait]
impl Letters for PostgresStore {
    async fn claim_letters(&self, now: Timestamp, limit: u32) -> Result<Vec<ClaimedLetter>, StoreError> {
        let rows = retried(|| {
            sqlx::query!(
                r#"UPDATE letters l SET due_at = $2, fence = l.fence + 1
                 FROM (
                     SELECT d.org_id, d.id FROM letters d
                     WHERE d.due_at <= $1
                         AND NOT EXISTS (
                             SELECT 1 FROM letters older
                             WHERE older.org_id = d.org_id AND older.recipient = d.recipient AND older.about = d.about
                                 AND (older.occurrence IS NULL OR d.occurrence IS NULL
                                     OR older.occurrence = d.occurrence)
                                 AND (older.created_at, older.id) < (d.created_at, d.id)
                                 AND (older.fence = 0 OR older.fence > older.put_off)
                         )
                     ORDER BY d.due_at, d.org_id, d.id LIMIT $3 FOR UPDATE OF d SKIP LOCKED
                 ) due
                 WHERE l.org_id = due.org_id AND l.id = due.id
                 RETURNING l.org_id, l.id, l.recipient, l.about, l.occurrence, l.content, l.created_at, l.fence, l.put_off,
                     EXISTS (
                         SELECT 1 FROM letters newer
                         WHERE newer.org_id = l.org_id AND newer.recipient = l.recipient AND newer.about = l.about
                             AND (newer.occurrence IS NULL OR newer.occurrence = l.occurrence)
                             AND (newer.created_at, newer.id) > (l.created_at, l.id)
                     ) AS "superseded!""#,
                now.as_micros(),
                (now + LETTER_CLAIM_LASTS).as_micros(),
                i64::from(limit),
            )
            .fetch_all(&self.connections)
        });
        let claimed = rows.await.map_err(store_error)?.into_iter().map(|row| {
            let (org, id, fence) = (OrgId::from_uuid(row.org_id), LetterId::from_uuid(row.id), Fence(row.fence));
            let read = || -> Result<ClaimedLetter, StoreError> {
                let corrupt =
                    |column, detail: &dyn std::fmt::Display| StoreError::corrupt("letters", column, id, detail);
                let plain = self
                    .cipher
                    .open(places::letter_content(id), &row.content)
                    .map_err(|error| corrupt("content", &error))?;
                let content = String::from_utf8(plain).map_err(|error| corrupt("content", &error))?;
                let letter = Letter {
                    id,
                    org,
                    recipient: row.recipient.as_slice().try_into().map_err(|error| corrupt("recipient", &error))?,
                    about: About {
                        event: EventId::from_uuid(row.about),
                        occurrence: row.occurrence.map(Timestamp::from_micros),
                    },
                    content,
                    created_at: Timestamp::from_micros(row.created_at),
                };
                Ok(ClaimedLetter {
                    letter,
                    fence,
                    put_off: u32::try_from(row.put_off).map_err(|error| corrupt("put_off", &error))?,
                    superseded: row.superseded,
                })
            };
            ((org, id, fence), read())
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
        for (org, id, fence) in unreadable {
            self.end_letter(org, id, fence, LetterEnd::PutOff(now + LETTER_CLAIM_LASTS)).await?;
        }
        Ok(readable)
    }

    async fn end_letter(&self, org: OrgId, letter: LetterId, fence: Fence, end: LetterEnd) -> Result<(), StoreError> {
        let ended = match end {
            // This also deletes the letter itself. `FOR UPDATE` waits for a claim under way, and compares the claim
            // number after it.
            LetterEnd::Sent => {
                retried(|| {
                    sqlx::query!(
                        "DELETE FROM letters older USING (
                             SELECT org_id, id, recipient, about, occurrence, created_at FROM letters
                             WHERE org_id = $1 AND id = $2 AND fence = $3 FOR UPDATE
                         ) sent
                         WHERE older.org_id = sent.org_id AND older.recipient = sent.recipient
                             AND older.about = sent.about
                             AND (sent.occurrence IS NULL OR older.occurrence = sent.occurrence)
                             AND (older.created_at, older.id) <= (sent.created_at, sent.id)",
                        org.uuid(),
                        letter.uuid(),
                        fence.0,
                    )
                    .execute(&self.connections)
                })
                .await
            }
            LetterEnd::Dropped => {
                retried(|| {
                    sqlx::query!(
                        "DELETE FROM letters WHERE org_id = $1 AND id = $2 AND fence = $3",
                        org.uuid(),
                        letter.uuid(),
                        fence.0,
                    )
                    .execute(&self.connections)
                })
                .await
            }
            LetterEnd::PutOff(until) => {
                retried(|| {
                    sqlx::query!(
                        "UPDATE letters SET due_at = $4, put_off = fence
                         WHERE org_id = $1 AND id = $2 AND fence = $3",
                        org.uuid(),
                        letter.uuid(),
                        fence.0,
                        until.as_micros(),
                    )
                    .execute(&self.connections)
                })
                .await
            }
        };
        ended.map(drop).map_err(store_error)
    }
}
