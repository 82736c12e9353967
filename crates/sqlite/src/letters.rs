//! Letters (outgoing mail): how workers claim and end them, and what their organizations see of them.

use std::collections::BTreeMap;

use async_trait::async_trait;
use kalends_kernel::{LetterId, OrgId, StoreError};
use kalends_notifications::{
    ClaimedLetter, FailedLetter, Fence, LETTER_CLAIM_LASTS, LetterEnd, LetterRecord, LetterStatus, LetterWork,
    RecordSearch, ports::Letters,
};
use kalends_time::{CivilDate, Timestamp};

use crate::{
    SqliteStore,
    error::store_error,
    read::count,
    rows::{ClaimedLetterRow, LetterRecordRow, row_id, sealed_envelope},
};

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
            ClaimedLetterRow,
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
                occurrence, content as "content!", created_at as "created_at!", fence as "fence!", put_off as "put_off!",
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
        let (mut readable, mut unreadable) = (Vec::new(), Vec::new());
        for row in rows {
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
        let (org_id, id) = (org.uuid(), letter.uuid());
        let (status, next, ended) = (
            work.status().as_str(),
            work.next_attempt_at().map(Timestamp::as_micros),
            work.ended_at().map(Timestamp::as_micros),
        );
        let envelope = work.attempt.as_ref().map(|envelope| sealed_envelope(letter, envelope, self.cipher.as_ref()));
        self.written(async |connection| {
            // The record first, since it is found by the claim, which ends below.
            sqlx::query!(
                "update letter_records set status = ?4, next_attempt_at = ?5, ended_at = ?6,
                    attempts = attempts + (?7 is not null), envelope = coalesce(?7, envelope)
                 where org_id = ?1 and id in (select id from letters where org_id = ?1 and id = ?2 and fence = ?3)",
                org_id,
                id,
                fence.0,
                status,
                next,
                ended,
                envelope
            )
            .execute(&mut *connection)
            .await
            .map_err(store_error)?;
            match work.end {
                LetterEnd::Sent => {
                    // It was withdrawn while it was being sent.
                    let outdated = LetterStatus::Outdated.as_str();
                    sqlx::query!(
                        "update letter_records set status = ?3, ended_at = ?4,
                            attempts = attempts + (?5 is not null), envelope = coalesce(?5, envelope)
                         where org_id = ?1 and id = ?2 and status = ?6
                            and not exists (select 1 from letters where org_id = ?1 and id = ?2)",
                        org_id,
                        id,
                        status,
                        ended,
                        envelope,
                        outdated
                    )
                    .execute(&mut *connection)
                    .await
                    .map_err(store_error)?;
                    let superseded = LetterStatus::Superseded.as_str();
                    sqlx::query!(
                        "update letter_records set status = ?4, next_attempt_at = null, ended_at = ?5
                         where org_id = ?1 and id <> ?2 and id in (
                            select older.id from letters sent join letters older
                            on older.org_id = sent.org_id and older.recipient = sent.recipient
                                and older.about = sent.about
                                and (sent.occurrence is null or older.occurrence = sent.occurrence)
                                and (older.created_at, older.id) <= (sent.created_at, sent.id)
                            where sent.org_id = ?1 and sent.id = ?2 and sent.fence = ?3
                         )",
                        org_id,
                        id,
                        fence.0,
                        superseded,
                        ended
                    )
                    .execute(&mut *connection)
                    .await
                    .map_err(store_error)?;
                    // This also deletes the letter itself.
                    sqlx::query!(
                        "delete from letters where rowid in (
                            select older.rowid from letters sent join letters older
                            on older.org_id = sent.org_id and older.recipient = sent.recipient
                                and older.about = sent.about
                                and (sent.occurrence is null or older.occurrence = sent.occurrence)
                                and (older.created_at, older.id) <= (sent.created_at, sent.id)
                            where sent.org_id = ?1 and sent.id = ?2 and sent.fence = ?3
                         )",
                        org_id,
                        id,
                        fence.0
                    )
                    .execute(&mut *connection)
                    .await
                }
                LetterEnd::Dropped(_) => {
                    sqlx::query!(
                        "delete from letters where org_id = ?1 and id = ?2 and fence = ?3",
                        org_id,
                        id,
                        fence.0
                    )
                    .execute(&mut *connection)
                    .await
                }
                LetterEnd::PutOff(_) => {
                    sqlx::query!(
                        "update letters set due_at = ?4, put_off = fence where org_id = ?1 and id = ?2 and fence = ?3",
                        org_id,
                        id,
                        fence.0,
                        next
                    )
                    .execute(&mut *connection)
                    .await
                }
            }
            .map_err(store_error)
        })
        .await
        .map(drop)
    }

    async fn letter_records(&self, org: OrgId, search: RecordSearch) -> Result<Vec<LetterRecord>, StoreError> {
        let (org_id, status) = (org.uuid(), search.status.map(LetterStatus::as_str));
        // Without a letter to begin after, the page starts at the newest.
        let before = search.before.map_or(uuid::Uuid::max(), LetterId::uuid);
        let rows = sqlx::query_as!(
            LetterRecordRow,
            "select id, status, attempts, envelope, created_at, next_attempt_at, ended_at from letter_records
             where org_id = ?1 and id < ?2 and (?3 is null or status = ?3)
             order by id desc limit ?4",
            org_id,
            before,
            status,
            search.limit
        )
        .fetch_all(self.readers())
        .await
        .map_err(store_error)?;
        rows.into_iter().map(|row| row.open(org, self.cipher.as_ref())).collect()
    }

    async fn failed_letters(&self, limit: u32, of_each: u32, among: u32) -> Result<Vec<FailedLetter>, StoreError> {
        // The condition is that of the index.
        let rows = sqlx::query!(
            r#"select r.org_id as "org_id!", o.name as "name!", r.id as "id!", r.status as "status!",
                r.attempts as "attempts!", r.envelope as "envelope!", r.created_at as "created_at!",
                r.next_attempt_at as "next_attempt_at?: i64", r.ended_at as "ended_at?: i64"
             from (
                select f.entry, row_number() over (partition by f.org_id order by f.created_at desc, f.id desc) as place
                from (
                    select l.rowid as entry, l.org_id, l.created_at, l.id from letter_records l
                    where l.status in ('refused', 'expired') or (l.status = 'pending' and l.attempts > 0)
                    order by l.created_at desc, l.id desc limit ?3) f
                ) newest
             cross join letter_records r on r.rowid = newest.entry
             cross join organizations o on o.id = r.org_id
             where newest.place <= ?2
             order by r.created_at desc, r.id desc limit ?1"#,
            limit,
            of_each,
            among
        )
        .fetch_all(self.readers())
        .await
        .map_err(store_error)?;
        let failed = rows.into_iter().map(|row| {
            let org = OrgId::from_uuid(row_id("letter_records", "org_id", &row.org_id)?);
            let record = LetterRecordRow {
                id: row.id,
                status: row.status,
                attempts: row.attempts,
                envelope: row.envelope,
                created_at: row.created_at,
                next_attempt_at: row.next_attempt_at,
                ended_at: row.ended_at,
            };
            Ok(FailedLetter::of(record.open(org, self.cipher.as_ref())?, row.name))
        });
        failed.collect()
    }

    async fn failed_letters_by_day(
        &self,
        since: Timestamp,
        limit: u32,
    ) -> Result<BTreeMap<CivilDate, u64>, StoreError> {
        let since = since.as_micros();
        let rows = sqlx::query!(
            r#"select created_at / 86400000000 as "day!: i64", count(*) as "counted!: i64"
             from (
                select r.created_at from letter_records r
                where r.created_at >= ?1
                    and (r.status in ('refused', 'expired') or (r.status = 'pending' and r.attempts > 0))
                order by r.created_at desc limit ?2) newest
             group by 1"#,
            since,
            limit
        )
        .fetch_all(self.readers())
        .await
        .map_err(store_error)?;
        Ok(rows.into_iter().map(|row| (CivilDate::from_days(row.day), count(row.counted))).collect())
    }

    async fn forget_letter_records(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
        let before = before.as_micros();
        let mut writing = self.database.writer.take().await?;
        let forgotten = sqlx::query!(
            "delete from letter_records where rowid in (
                select rowid from letter_records where created_at < ?1 order by created_at limit ?2)",
            before,
            limit
        )
        .execute(&mut writing.connection)
        .await;
        writing.done(forgotten).await
    }
}
