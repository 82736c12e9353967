//! Letters (outgoing mail): how workers on any number of nodes claim and end them, and what their organizations see of
//! them.

use std::collections::BTreeMap;

use async_trait::async_trait;
use kalends_kernel::{LetterId, OrgId, StoreError};
use kalends_notifications::ports::Letters;
use kalends_notifications::{
    ClaimedLetter, FailedLetter, Fence, LETTER_CLAIM_LASTS, LetterEnd, LetterRecord, LetterStatus, LetterWork,
    RecordSearch,
};
use kalends_time::{CivilDate, Timestamp};
use sqlx::types::Uuid;

use crate::PostgresStore;
use crate::counts::count;
use crate::error::store_error;
use crate::retry::retried;
use crate::rows::{ClaimedLetterRow, LetterRecordRow, sealed_envelope};

#[async_trait]
impl Letters for PostgresStore {
    async fn claim_letters(&self, now: Timestamp, limit: u32) -> Result<Vec<ClaimedLetter>, StoreError> {
        let rows = retried(|| {
            sqlx::query_as!(
                ClaimedLetterRow,
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
        let (mut readable, mut unreadable) = (Vec::new(), Vec::new());
        for row in rows.await.map_err(store_error)? {
            let claim = row.claim();
            match row.open(self.cipher.as_ref()) {
                Ok(claimed) => readable.push(claimed),
                Err(error) => {
                    tracing::error!(error = &error as &dyn std::error::Error, "a due letter cannot be read");
                    unreadable.push(claim);
                }
            }
        }
        // An unreadable letter does not hold up newer ones about the same event. It is due again when its claim ends.
        let later = LetterWork { end: LetterEnd::PutOff(now + LETTER_CLAIM_LASTS), attempt: None, at: now };
        for (org, id, fence) in unreadable.into_iter().flatten() {
            self.end_letter(org, id, fence, &later).await?;
        }
        Ok(readable)
    }

    async fn end_letter(
        &self,
        org: OrgId,
        letter: LetterId,
        fence: Fence,
        work: &LetterWork,
    ) -> Result<(), StoreError> {
        let envelope = work.attempt.as_ref().map(|envelope| sealed_envelope(letter, envelope, self.cipher.as_ref()));
        let (status, superseded) = (work.status().as_str(), LetterStatus::Superseded.as_str());
        let next = work.next_attempt_at().map(Timestamp::as_micros);
        let ended = work.ended_at().map(Timestamp::as_micros);
        /// Ends the claim, and updates the records of the letters that the statement returns as `ended`.
        macro_rules! recorded {
            ($ended:literal) => {
                retried(|| {
                    sqlx::query!(
                        "WITH ended AS (" + $ended + ")
                         UPDATE letter_records r SET
                             status = CASE WHEN r.id = $2 THEN $4 ELSE $8 END,
                             next_attempt_at = $5,
                             ended_at = $6,
                             attempts = r.attempts + (r.id = $2 AND $7::text IS NOT NULL)::int,
                             envelope = CASE WHEN r.id = $2 THEN coalesce($7, r.envelope) ELSE r.envelope END
                         FROM ended WHERE r.org_id = $1 AND r.id = ended.id",
                        org.uuid(),
                        letter.uuid(),
                        fence.0,
                        status,
                        next,
                        ended,
                        envelope.as_deref(),
                        superseded,
                    )
                    .execute(&self.connections)
                })
                .await
            };
        }
        let recorded = match work.end {
            // This also deletes the letter itself. `FOR UPDATE` waits for a claim under way, and compares the claim
            // number after it.
            LetterEnd::Sent => recorded!(
                "DELETE FROM letters older USING (
                     SELECT org_id, id, recipient, about, occurrence, created_at FROM letters
                     WHERE org_id = $1 AND id = $2 AND fence = $3 FOR UPDATE
                 ) sent
                 WHERE older.org_id = sent.org_id AND older.recipient = sent.recipient AND older.about = sent.about
                     AND (sent.occurrence IS NULL OR older.occurrence = sent.occurrence)
                     AND (older.created_at, older.id) <= (sent.created_at, sent.id)
                 RETURNING older.id"
            ),
            LetterEnd::Dropped(_) => {
                recorded!("DELETE FROM letters WHERE org_id = $1 AND id = $2 AND fence = $3 RETURNING id")
            }
            LetterEnd::PutOff(_) => recorded!(
                "UPDATE letters SET due_at = $5, put_off = fence
                 WHERE org_id = $1 AND id = $2 AND fence = $3 RETURNING id"
            ),
        };
        let recorded = recorded.map_err(store_error)?;
        if matches!(work.end, LetterEnd::Sent) && recorded.rows_affected() == 0 {
            // It was withdrawn while it was being sent.
            let sent = retried(|| {
                sqlx::query!(
                    "UPDATE letter_records SET
                         status = $3, ended_at = $4, attempts = attempts + ($5::text IS NOT NULL)::int,
                         envelope = coalesce($5, envelope)
                     WHERE org_id = $1 AND id = $2 AND status = $6
                         AND NOT EXISTS (SELECT 1 FROM letters WHERE org_id = $1 AND id = $2)",
                    org.uuid(),
                    letter.uuid(),
                    status,
                    ended,
                    envelope.as_deref(),
                    LetterStatus::Outdated.as_str(),
                )
                .execute(&self.connections)
            });
            sent.await.map_err(store_error)?;
        }
        Ok(())
    }

    async fn letter_records(&self, org: OrgId, search: RecordSearch) -> Result<Vec<LetterRecord>, StoreError> {
        // Without a letter to begin after, the page starts at the newest.
        let before = search.before.map_or(Uuid::max(), LetterId::uuid);
        let rows = sqlx::query_as!(
            LetterRecordRow,
            "SELECT id, status, attempts, envelope, created_at, next_attempt_at, ended_at FROM letter_records
             WHERE org_id = $1 AND id < $2 AND ($3::text IS NULL OR status = $3)
             ORDER BY id DESC LIMIT $4",
            org.uuid(),
            before,
            search.status.map(LetterStatus::as_str),
            i64::from(search.limit),
        )
        .fetch_all(&self.connections)
        .await
        .map_err(store_error)?;
        rows.into_iter().map(|row| row.open(org, self.cipher.as_ref())).collect()
    }

    async fn failed_letters(&self, limit: u32, of_each: u32, among: u32) -> Result<Vec<FailedLetter>, StoreError> {
        // The condition is that of the index.
        let rows = sqlx::query!(
            "SELECT r.org_id, o.name, r.id, r.status, r.attempts, r.envelope, r.created_at, r.next_attempt_at, r.ended_at
             FROM (
                 SELECT f.org_id, f.id,
                     row_number() OVER (PARTITION BY f.org_id ORDER BY f.created_at DESC, f.id DESC) AS place
                 FROM (
                     SELECT l.org_id, l.created_at, l.id FROM letter_records l
                     WHERE l.status IN ('refused', 'expired') OR (l.status = 'pending' AND l.attempts > 0)
                     ORDER BY l.created_at DESC, l.id DESC LIMIT $3::bigint
                 ) f
             ) newest
             JOIN letter_records r ON r.org_id = newest.org_id AND r.id = newest.id
             JOIN organizations o ON o.id = r.org_id
             WHERE newest.place <= $2::bigint
             ORDER BY r.created_at DESC, r.id DESC LIMIT $1::bigint",
            i64::from(limit),
            i64::from(of_each),
            i64::from(among),
        );
        let rows = rows.fetch_all(&self.connections).await.map_err(store_error)?;
        let failed = rows.into_iter().map(|row| {
            let record = LetterRecordRow {
                id: row.id,
                status: row.status,
                attempts: row.attempts,
                envelope: row.envelope,
                created_at: row.created_at,
                next_attempt_at: row.next_attempt_at,
                ended_at: row.ended_at,
            };
            Ok(FailedLetter::of(record.open(OrgId::from_uuid(row.org_id), self.cipher.as_ref())?, row.name))
        });
        failed.collect()
    }

    async fn failed_letters_by_day(
        &self,
        since: Timestamp,
        limit: u32,
    ) -> Result<BTreeMap<CivilDate, u64>, StoreError> {
        let rows = sqlx::query!(
            r#"SELECT created_at / 86400000000 AS "day!", count(*) AS "counted!"
             FROM (
                 SELECT r.created_at FROM letter_records r
                 WHERE r.created_at >= $1
                     AND (r.status IN ('refused', 'expired') OR (r.status = 'pending' AND r.attempts > 0))
                 ORDER BY r.created_at DESC LIMIT $2::bigint
             ) newest
             GROUP BY 1"#,
            since.as_micros(),
            i64::from(limit),
        );
        let rows = rows.fetch_all(&self.connections).await.map_err(store_error)?;
        Ok(rows.into_iter().map(|row| (CivilDate::from_days(row.day), count(row.counted))).collect())
    }

    async fn forget_letter_records(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
        let forgotten = retried(|| {
            sqlx::query!(
                "DELETE FROM letter_records WHERE created_at < $1 AND (org_id, id) IN (
                     SELECT org_id, id FROM letter_records WHERE created_at < $1 ORDER BY created_at LIMIT $2
                 )",
                before.as_micros(),
                i64::from(limit),
            )
            .execute(&self.connections)
        });
        Ok(forgotten.await.map_err(store_error)?.rows_affected())
    }
}
