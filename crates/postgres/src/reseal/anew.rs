//! Writes the values that were sealed again.

use kalends_warm_pool::WarmPool;
use sqlx::Postgres;
use uuid::Uuid;

use super::{Old, Position, Renewed};

/// Resealed values, by column.
#[derive(Default)]
pub(super) struct Anew<'a> {
    events: Rows<'a>,
    outbox: Rows<'a>,
    webhooks: Rows<'a>,
    subscriptions: Rows<'a>,
    proposals: Rows<'a>,
    responses: Rows<'a>,
    booking_pages: Rows<'a>,
    bookings: Rows<'a>,
    letters: Rows<'a>,
    connection_labels: Rows<'a>,
    connection_tokens: Rows<'a>,
    external_calendars: Rows<'a>,
    agent_metadata: Rows<'a>,
    calendar_metadata: Rows<'a>,
    calendars: Rows<'a>,
    token_hashes: Vec<Option<Vec<u8>>>,
    scopes: Vec<&'a [u8]>,
    answers: Values<'a>,
}

#[derive(Default)]
struct Rows<'a> {
    orgs: Vec<Uuid>,
    ids: Vec<Uuid>,
    values: Values<'a>,
}

#[derive(Default)]
struct Values<'a> {
    seen: Vec<&'a str>,
    anew: Vec<String>,
}

impl<'a> Rows<'a> {
    fn push(&mut self, org: Uuid, id: Uuid, old: &'a Old, anew: String) {
        self.orgs.push(org);
        self.ids.push(id);
        self.values.push(old, anew);
    }
}

impl<'a> Values<'a> {
    fn push(&mut self, old: &'a Old, anew: String) {
        self.seen.push(&old.sealed);
        self.anew.push(anew);
    }
}

impl<'a> Anew<'a> {
    pub(super) fn push(&mut self, old: &'a Old, renewed: Renewed) {
        let Renewed { sealed, hash } = renewed;
        match &old.at {
            Position::Events(org, id) => self.events.push(*org, *id, old, sealed),
            Position::Outbox(org, id) => self.outbox.push(*org, *id, old, sealed),
            Position::Webhooks(org, id) => self.webhooks.push(*org, *id, old, sealed),
            Position::Subscriptions(org, id) => self.subscriptions.push(*org, *id, old, sealed),
            Position::Proposals(org, id) => self.proposals.push(*org, *id, old, sealed),
            Position::Responses(org, id) => self.responses.push(*org, *id, old, sealed),
            Position::BookingPages(org, id) => self.booking_pages.push(*org, *id, old, sealed),
            Position::Bookings(org, id) => self.bookings.push(*org, *id, old, sealed),
            Position::Letters(org, id) => self.letters.push(*org, *id, old, sealed),
            Position::ConnectionLabels(org, id) => self.connection_labels.push(*org, *id, old, sealed),
            Position::ConnectionTokens(org, id) => self.connection_tokens.push(*org, *id, old, sealed),
            Position::ExternalCalendars(org, id) => self.external_calendars.push(*org, *id, old, sealed),
            Position::Calendars(org, id) => {
                self.calendars.push(*org, *id, old, sealed);
                self.token_hashes.push(hash);
            }
            Position::AgentMetadata(org, id) => self.agent_metadata.push(*org, *id, old, sealed),
            Position::CalendarMetadata(org, id) => self.calendar_metadata.push(*org, *id, old, sealed),
            Position::Answers(scope) => {
                self.scopes.push(scope);
                self.answers.push(old, sealed);
            }
        }
    }

    /// Writes the values with one statement per column. A value that has changed in between is left alone.
    pub(super) async fn write(&self, connections: &WarmPool<Postgres>) -> Result<(), sqlx::Error> {
        macro_rules! write {
            ($column:ident, $statement:literal) => {
                let Rows { orgs, ids, values: Values { seen, anew } } = &self.$column;
                if !ids.is_empty() {
                    sqlx::query!($statement, orgs, ids, seen as &[&str], anew).execute(connections).await?;
                }
            };
        }
        write!(
            events,
            "UPDATE events SET content = row.anew
                 FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[]) AS row (org_id, id, seen, anew)
                 WHERE events.org_id = row.org_id AND events.id = row.id AND events.content = row.seen"
        );
        write!(
            outbox,
            "UPDATE outbox SET payload = row.anew
                 FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[]) AS row (org_id, id, seen, anew)
                 WHERE outbox.org_id = row.org_id AND outbox.id = row.id AND outbox.payload = row.seen"
        );
        write!(
            webhooks,
            "UPDATE webhooks SET content = row.anew
                 FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[]) AS row (org_id, id, seen, anew)
                 WHERE webhooks.org_id = row.org_id AND webhooks.id = row.id AND webhooks.content = row.seen"
        );
        write!(
            subscriptions,
            "UPDATE ical_subscriptions s SET content = row.anew
                 FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[]) AS row (org_id, id, seen, anew)
                 WHERE s.org_id = row.org_id AND s.id = row.id AND s.content = row.seen"
        );
        write!(
            proposals,
            "UPDATE proposals p SET content = row.anew
                 FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[]) AS row (org_id, id, seen, anew)
                 WHERE p.org_id = row.org_id AND p.id = row.id AND p.content = row.seen"
        );
        write!(
            responses,
            "UPDATE proposal_participants p SET remark = row.anew
                 FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[]) AS row (org_id, id, seen, anew)
                 WHERE p.org_id = row.org_id AND p.response_id = row.id AND p.remark = row.seen"
        );
        write!(
            booking_pages,
            "UPDATE booking_pages b SET content = row.anew
                 FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[]) AS row (org_id, id, seen, anew)
                 WHERE b.org_id = row.org_id AND b.id = row.id AND b.content = row.seen"
        );
        write!(
            bookings,
            "UPDATE bookings b SET guest = row.anew
                 FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[]) AS row (org_id, id, seen, anew)
                 WHERE b.org_id = row.org_id AND b.id = row.id AND b.guest = row.seen"
        );
        write!(
            letters,
            "UPDATE letters l SET content = row.anew
                 FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[]) AS row (org_id, id, seen, anew)
                 WHERE l.org_id = row.org_id AND l.id = row.id AND l.content = row.seen"
        );
        write!(
            connection_labels,
            "UPDATE calendar_connections k SET label = row.anew
                 FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[]) AS row (org_id, id, seen, anew)
                 WHERE k.org_id = row.org_id AND k.id = row.id AND k.label = row.seen"
        );
        write!(
            connection_tokens,
            "UPDATE calendar_connections k SET tokens = row.anew
                 FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[]) AS row (org_id, id, seen, anew)
                 WHERE k.org_id = row.org_id AND k.id = row.id AND k.tokens = row.seen"
        );
        write!(
            external_calendars,
            "UPDATE external_calendars x SET content = row.anew
                 FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[]) AS row (org_id, id, seen, anew)
                 WHERE x.org_id = row.org_id AND x.id = row.id AND x.content = row.seen"
        );
        write!(
            agent_metadata,
            "UPDATE agents a SET metadata = row.anew
                 FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[]) AS row (org_id, id, seen, anew)
                 WHERE a.org_id = row.org_id AND a.id = row.id AND a.metadata = row.seen"
        );
        write!(
            calendar_metadata,
            "UPDATE calendars c SET metadata = row.anew
                 FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[]) AS row (org_id, id, seen, anew)
                 WHERE c.org_id = row.org_id AND c.id = row.id AND c.metadata = row.seen"
        );
        if !self.calendars.ids.is_empty() {
            sqlx::query!(
                "UPDATE calendars SET feed_token = row.anew, feed_token_hash = row.hash
                 FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::bytea[])
                     AS row (org_id, id, seen, anew, hash)
                 WHERE calendars.org_id = row.org_id AND calendars.id = row.id AND calendars.feed_token = row.seen",
                &self.calendars.orgs,
                &self.calendars.ids,
                &self.calendars.values.seen as &[&str],
                &self.calendars.values.anew,
                &self.token_hashes as &[Option<Vec<u8>>],
            )
            .execute(connections)
            .await?;
        }
        if !self.scopes.is_empty() {
            sqlx::query!(
                "UPDATE idempotent_answers SET body = row.anew
                 FROM unnest($1::bytea[], $2::text[], $3::text[]) AS row (scope, seen, anew)
                 WHERE idempotent_answers.scope = row.scope AND idempotent_answers.body = row.seen",
                &self.scopes as &[&[u8]],
                &self.answers.seen as &[&str],
                &self.answers.anew,
            )
            .execute(connections)
            .await?;
        }
        Ok(())
    }
}
