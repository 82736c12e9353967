//! Seals stored fields again while the service runs.
//!
//! The tables are walked by key, one batch per call, starting where the previous call stopped. Searching from the
//! beginning each time would skip more and more newly sealed values. A walk that starts at the beginning and finds
//! nothing ends the work.

mod progress;

use async_trait::async_trait;
use kalends_app::ports::{DataKeyView, KeyTable as _, Reseal, SealingKeys};
use kalends_kernel::{OrgId, StoreError};
use kalends_rows::{Renewed, SealedColumn};
use uuid::Uuid;

use self::progress::Position;
pub(crate) use self::progress::Progress;
use crate::error::store_error;
use crate::retry::retried;
use crate::{PostgresKeyTable, PostgresStore};

/// A value that the current writing key has not sealed.
struct Old {
    /// Its row, and so the position from which the walk continues after it.
    at: Position,
    sealed: String,
}

impl Old {
    fn key(&self) -> &[u8] {
        match self.at.column {
            SealedColumn::Answers => &self.at.scope,
            _ => self.at.id.as_bytes(),
        }
    }
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
                let failure = self.seal_again(next.column, &found).await?;
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

#[async_trait]
impl SealingKeys for PostgresStore {
    async fn sealing_keys(&self) -> Result<Vec<DataKeyView>, StoreError> {
        let keys = PostgresKeyTable::new(self.connections.clone()).data_keys().await?;
        Ok(keys.into_iter().map(DataKeyView::from).collect())
    }
}

impl PostgresStore {
    /// The next values after `position` in its column that do not start with `prefix`.
    async fn sealed_otherwise(&self, position: &Position, prefix: &str, limit: i64) -> Result<Vec<Old>, StoreError> {
        macro_rules! old {
            ($sealed:ident, $statement:literal) => {
                sqlx::query!($statement, position.org, position.id, prefix, limit)
                    .fetch_all(&self.connections)
                    .await
                    .map_err(store_error)?
                    .into_iter()
                    .map(|row| Old {
                        at: Position { org: row.org_id, id: row.id, ..position.clone() },
                        sealed: row.$sealed,
                    })
                    .collect()
            };
        }
        let found = match position.column {
            SealedColumn::Events => old!(
                content,
                "SELECT org_id, id, content
                 FROM events
                 WHERE (org_id, id) > ($1, $2) AND NOT starts_with(content, $3)
                 ORDER BY org_id, id
                 LIMIT $4"
            ),
            SealedColumn::Outbox => old!(
                payload,
                "SELECT org_id, id, payload
                 FROM outbox
                 WHERE (org_id, id) > ($1, $2) AND NOT starts_with(payload, $3)
                 ORDER BY org_id, id
                 LIMIT $4"
            ),
            SealedColumn::FeedEntries => old!(
                body,
                "SELECT org_id, id, body
                 FROM change_feed
                 WHERE (org_id, id) > ($1, $2) AND NOT starts_with(body, $3)
                 ORDER BY org_id, id
                 LIMIT $4"
            ),
            SealedColumn::Webhooks => old!(
                content,
                "SELECT org_id, id, content
                 FROM webhooks
                 WHERE (org_id, id) > ($1, $2) AND NOT starts_with(content, $3)
                 ORDER BY org_id, id
                 LIMIT $4"
            ),
            SealedColumn::Subscriptions => old!(
                content,
                "SELECT org_id, id, content
                 FROM ical_subscriptions
                 WHERE (org_id, id) > ($1, $2) AND NOT starts_with(content, $3)
                 ORDER BY org_id, id
                 LIMIT $4"
            ),
            SealedColumn::Proposals => old!(
                content,
                "SELECT org_id, id, content
                 FROM proposals
                 WHERE (org_id, id) > ($1, $2) AND NOT starts_with(content, $3)
                 ORDER BY org_id, id
                 LIMIT $4"
            ),
            SealedColumn::Responses => old!(
                remark,
                r#"SELECT org_id, response_id AS "id!", remark AS "remark!"
                 FROM proposal_participants
                 WHERE (org_id, response_id) > ($1, $2) AND NOT starts_with(remark, $3)
                 ORDER BY org_id, response_id
                 LIMIT $4"#
            ),
            SealedColumn::BookingPages => old!(
                content,
                "SELECT org_id, id, content
                 FROM booking_pages
                 WHERE (org_id, id) > ($1, $2) AND NOT starts_with(content, $3)
                 ORDER BY org_id, id
                 LIMIT $4"
            ),
            SealedColumn::Bookings => old!(
                guest,
                "SELECT org_id, id, guest
                 FROM bookings
                 WHERE (org_id, id) > ($1, $2) AND NOT starts_with(guest, $3)
                 ORDER BY org_id, id
                 LIMIT $4"
            ),
            SealedColumn::Letters => old!(
                content,
                "SELECT org_id, id, content
                 FROM letters
                 WHERE (org_id, id) > ($1, $2) AND NOT starts_with(content, $3)
                 ORDER BY org_id, id
                 LIMIT $4"
            ),
            SealedColumn::LetterRecords => old!(
                envelope,
                "SELECT org_id, id, envelope
                 FROM letter_records
                 WHERE (org_id, id) > ($1, $2) AND NOT starts_with(envelope, $3)
                 ORDER BY org_id, id
                 LIMIT $4"
            ),
            SealedColumn::ConnectionLabels => old!(
                label,
                r#"SELECT org_id, id, label AS "label!"
                 FROM calendar_connections
                 WHERE (org_id, id) > ($1, $2) AND NOT starts_with(label, $3)
                 ORDER BY org_id, id
                 LIMIT $4"#
            ),
            SealedColumn::ConnectionTokens => old!(
                tokens,
                "SELECT org_id, id, tokens
                 FROM calendar_connections
                 WHERE (org_id, id) > ($1, $2) AND NOT starts_with(tokens, $3)
                 ORDER BY org_id, id
                 LIMIT $4"
            ),
            SealedColumn::ExternalCalendars => old!(
                content,
                "SELECT org_id, id, content
                 FROM external_calendars
                 WHERE (org_id, id) > ($1, $2) AND NOT starts_with(content, $3)
                 ORDER BY org_id, id
                 LIMIT $4"
            ),
            SealedColumn::Copies => old!(
                content,
                "SELECT org_id, id, content
                 FROM publication_copies
                 WHERE (org_id, id) > ($1, $2) AND NOT starts_with(content, $3)
                 ORDER BY org_id, id
                 LIMIT $4"
            ),
            SealedColumn::FeedTokens => old!(
                feed_token,
                "SELECT org_id, id, feed_token
                 FROM calendars
                 WHERE (org_id, id) > ($1, $2) AND NOT starts_with(feed_token, $3)
                 ORDER BY org_id, id
                 LIMIT $4"
            ),
            SealedColumn::AgentMetadata => old!(
                metadata,
                "SELECT org_id, id, metadata
                 FROM agents
                 WHERE (org_id, id) > ($1, $2) AND NOT starts_with(metadata, $3)
                 ORDER BY org_id, id
                 LIMIT $4"
            ),
            SealedColumn::CalendarMetadata => old!(
                metadata,
                "SELECT org_id, id, metadata
                 FROM calendars
                 WHERE (org_id, id) > ($1, $2) AND NOT starts_with(metadata, $3)
                 ORDER BY org_id, id
                 LIMIT $4"
            ),
            SealedColumn::SecondFactors => old!(
                secret,
                r#"SELECT user_id AS "org_id!", user_id AS "id!", secret
                 FROM second_factors
                 WHERE (user_id, user_id) > ($1, $2) AND NOT starts_with(secret, $3)
                 ORDER BY user_id
                 LIMIT $4"#
            ),
            SealedColumn::RunStates => old!(
                state,
                r#"SELECT org_id, id, state AS "state!"
                 FROM run_writes
                 WHERE (org_id, id) > ($1, $2) AND NOT starts_with(state, $3)
                 ORDER BY org_id, id
                 LIMIT $4"#
            ),
            SealedColumn::Approvals => old!(
                content,
                "SELECT org_id, id, content
                 FROM approvals
                 WHERE (org_id, id) > ($1, $2) AND NOT starts_with(content, $3)
                 ORDER BY org_id, id
                 LIMIT $4"
            ),
            SealedColumn::Answers => sqlx::query!(
                r#"SELECT scope, body AS "body!"
                 FROM idempotent_answers
                 WHERE scope > $1 AND NOT starts_with(body, $2)
                 ORDER BY scope
                 LIMIT $3"#,
                position.scope,
                prefix,
                limit,
            )
            .fetch_all(&self.connections)
            .await
            .map_err(store_error)?
            .into_iter()
            .map(|row| Old { at: Position { scope: row.scope, ..position.clone() }, sealed: row.body })
            .collect(),
        };
        Ok(found)
    }

    /// Seals the values, all of one column, and replaces each that has not changed. Returns the error of the first
    /// value that cannot be opened.
    async fn seal_again(&self, column: SealedColumn, found: &[Old]) -> Result<Option<StoreError>, StoreError> {
        let mut failure = None;
        let mut replacements = Replacements::default();
        for old in found {
            match column.renew(OrgId::from_uuid(old.at.org), old.key(), &old.sealed, &*self.cipher) {
                Ok(renewed) => replacements.push(old, renewed),
                Err(error) => failure = failure.or(Some(error)),
            }
        }
        retried(|| self.replace(column, &replacements)).await.map_err(store_error)?;
        Ok(failure)
    }

    /// Replaces the values with one statement. A value that has changed in between is left alone.
    async fn replace(&self, column: SealedColumn, rows: &Replacements<'_>) -> Result<(), sqlx::Error> {
        let Replacements { orgs, ids, scopes, seen, renewed, hashes, digests } = rows;
        if seen.is_empty() {
            return Ok(());
        }
        macro_rules! replaced {
            ($statement:literal) => {
                sqlx::query!($statement, orgs, ids, seen as &[&str], renewed).execute(&self.connections).await
            };
        }
        let replaced = match column {
            SealedColumn::Events => {
                sqlx::query!(
                    "WITH replaced AS (
                         UPDATE events SET content = row.renewed, indexed_version = events.version
                         FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[]) AS row (org_id, id, seen, renewed)
                         WHERE events.org_id = row.org_id AND events.id = row.id AND events.content = row.seen
                         RETURNING events.org_id, events.id, events.calendar_id, events.deleted_at
                     ), gone AS (
                         DELETE FROM event_metadata m USING replaced
                         WHERE m.org_id = replaced.org_id AND m.event_id = replaced.id AND NOT EXISTS (
                             SELECT 1 FROM unnest($5::uuid[], $6::uuid[], $7::bigint[]) AS kept (org_id, id, digest)
                             WHERE kept.org_id = m.org_id AND kept.id = m.event_id AND kept.digest = m.digest
                         )
                     )
                     INSERT INTO event_metadata (org_id, event_id, digest, calendar_id)
                     SELECT replaced.org_id, replaced.id, row.digest, replaced.calendar_id
                     FROM unnest($5::uuid[], $6::uuid[], $7::bigint[]) AS row (org_id, id, digest)
                     JOIN replaced ON replaced.org_id = row.org_id AND replaced.id = row.id
                     WHERE replaced.deleted_at IS NULL
                     ON CONFLICT (org_id, event_id, digest) DO NOTHING",
                    orgs,
                    ids,
                    seen as &[&str],
                    renewed,
                    &digests.orgs,
                    &digests.ids,
                    &digests.digests,
                )
                .execute(&self.connections)
                .await
            }
            SealedColumn::Outbox => replaced!(
                "UPDATE outbox SET payload = row.renewed
                 FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[]) AS row (org_id, id, seen, renewed)
                 WHERE outbox.org_id = row.org_id AND outbox.id = row.id AND outbox.payload = row.seen"
            ),
            SealedColumn::FeedEntries => replaced!(
                "UPDATE change_feed SET body = row.renewed
                 FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[]) AS row (org_id, id, seen, renewed)
                 WHERE change_feed.org_id = row.org_id AND change_feed.id = row.id AND change_feed.body = row.seen"
            ),
            SealedColumn::Webhooks => replaced!(
                "UPDATE webhooks SET content = row.renewed
                 FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[]) AS row (org_id, id, seen, renewed)
                 WHERE webhooks.org_id = row.org_id AND webhooks.id = row.id AND webhooks.content = row.seen"
            ),
            SealedColumn::Subscriptions => replaced!(
                "UPDATE ical_subscriptions s SET content = row.renewed
                 FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[]) AS row (org_id, id, seen, renewed)
                 WHERE s.org_id = row.org_id AND s.id = row.id AND s.content = row.seen"
            ),
            SealedColumn::Proposals => replaced!(
                "UPDATE proposals p SET content = row.renewed
                 FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[]) AS row (org_id, id, seen, renewed)
                 WHERE p.org_id = row.org_id AND p.id = row.id AND p.content = row.seen"
            ),
            SealedColumn::Responses => replaced!(
                "UPDATE proposal_participants p SET remark = row.renewed
                 FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[]) AS row (org_id, id, seen, renewed)
                 WHERE p.org_id = row.org_id AND p.response_id = row.id AND p.remark = row.seen"
            ),
            SealedColumn::BookingPages => replaced!(
                "UPDATE booking_pages b SET content = row.renewed
                 FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[]) AS row (org_id, id, seen, renewed)
                 WHERE b.org_id = row.org_id AND b.id = row.id AND b.content = row.seen"
            ),
            SealedColumn::Bookings => replaced!(
                "UPDATE bookings b SET guest = row.renewed
                 FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[]) AS row (org_id, id, seen, renewed)
                 WHERE b.org_id = row.org_id AND b.id = row.id AND b.guest = row.seen"
            ),
            SealedColumn::Letters => replaced!(
                "UPDATE letters l SET content = row.renewed
                 FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[]) AS row (org_id, id, seen, renewed)
                 WHERE l.org_id = row.org_id AND l.id = row.id AND l.content = row.seen"
            ),
            SealedColumn::LetterRecords => replaced!(
                "UPDATE letter_records l SET envelope = row.renewed
                 FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[]) AS row (org_id, id, seen, renewed)
                 WHERE l.org_id = row.org_id AND l.id = row.id AND l.envelope = row.seen"
            ),
            SealedColumn::ConnectionLabels => replaced!(
                "UPDATE calendar_connections k SET label = row.renewed
                 FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[]) AS row (org_id, id, seen, renewed)
                 WHERE k.org_id = row.org_id AND k.id = row.id AND k.label = row.seen"
            ),
            SealedColumn::ConnectionTokens => replaced!(
                "UPDATE calendar_connections k SET tokens = row.renewed
                 FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[]) AS row (org_id, id, seen, renewed)
                 WHERE k.org_id = row.org_id AND k.id = row.id AND k.tokens = row.seen"
            ),
            SealedColumn::ExternalCalendars => replaced!(
                "UPDATE external_calendars x SET content = row.renewed
                 FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[]) AS row (org_id, id, seen, renewed)
                 WHERE x.org_id = row.org_id AND x.id = row.id AND x.content = row.seen"
            ),
            SealedColumn::Copies => replaced!(
                "UPDATE publication_copies p SET content = row.renewed
                 FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[]) AS row (org_id, id, seen, renewed)
                 WHERE p.org_id = row.org_id AND p.id = row.id AND p.content = row.seen"
            ),
            SealedColumn::AgentMetadata => replaced!(
                "UPDATE agents a SET metadata = row.renewed
                 FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[]) AS row (org_id, id, seen, renewed)
                 WHERE a.org_id = row.org_id AND a.id = row.id AND a.metadata = row.seen"
            ),
            SealedColumn::CalendarMetadata => replaced!(
                "UPDATE calendars c SET metadata = row.renewed
                 FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[]) AS row (org_id, id, seen, renewed)
                 WHERE c.org_id = row.org_id AND c.id = row.id AND c.metadata = row.seen"
            ),
            SealedColumn::SecondFactors => replaced!(
                "UPDATE second_factors f SET secret = row.renewed
                 FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[]) AS row (org_id, id, seen, renewed)
                 WHERE row.org_id = row.id AND f.user_id = row.id AND f.secret = row.seen"
            ),
            SealedColumn::RunStates => replaced!(
                "UPDATE run_writes w SET state = row.renewed
                 FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[]) AS row (org_id, id, seen, renewed)
                 WHERE w.org_id = row.org_id AND w.id = row.id AND w.state = row.seen"
            ),
            SealedColumn::Approvals => replaced!(
                "UPDATE approvals a SET content = row.renewed
                 FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[]) AS row (org_id, id, seen, renewed)
                 WHERE a.org_id = row.org_id AND a.id = row.id AND a.content = row.seen"
            ),
            SealedColumn::FeedTokens => {
                sqlx::query!(
                    "UPDATE calendars SET feed_token = row.renewed, feed_token_hash = row.hash
                     FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::bytea[])
                         AS row (org_id, id, seen, renewed, hash)
                     WHERE calendars.org_id = row.org_id AND calendars.id = row.id AND calendars.feed_token = row.seen",
                    orgs,
                    ids,
                    seen as &[&str],
                    renewed,
                    hashes as &[Option<Vec<u8>>],
                )
                .execute(&self.connections)
                .await
            }
            SealedColumn::Answers => {
                sqlx::query!(
                    "UPDATE idempotent_answers SET body = row.renewed
                     FROM unnest($1::bytea[], $2::text[], $3::text[]) AS row (scope, seen, renewed)
                     WHERE idempotent_answers.scope = row.scope AND idempotent_answers.body = row.seen",
                    scopes as &[&[u8]],
                    seen as &[&str],
                    renewed,
                )
                .execute(&self.connections)
                .await
            }
        };
        replaced.map(drop)
    }
}

/// The values of one column that are replaced: one entry per value in each list.
#[derive(Default)]
struct Replacements<'a> {
    orgs: Vec<Uuid>,
    ids: Vec<Uuid>,
    scopes: Vec<&'a [u8]>,
    seen: Vec<&'a str>,
    renewed: Vec<String>,
    hashes: Vec<Option<Vec<u8>>>,
    digests: Digests,
}

/// The digests of the metadata of events: one entry per digest in each list.
#[derive(Default)]
struct Digests {
    orgs: Vec<Uuid>,
    ids: Vec<Uuid>,
    digests: Vec<i64>,
}

impl<'a> Replacements<'a> {
    fn push(&mut self, old: &'a Old, renewed: Renewed) {
        self.orgs.push(old.at.org);
        self.ids.push(old.at.id);
        self.scopes.push(&old.at.scope);
        self.seen.push(&old.sealed);
        self.renewed.push(renewed.sealed);
        self.hashes.push(renewed.hash.map(|hash| hash.to_vec()));
        for digest in renewed.digests {
            self.digests.orgs.push(old.at.org);
            self.digests.ids.push(old.at.id);
            self.digests.digests.push(digest);
        }
    }
}
