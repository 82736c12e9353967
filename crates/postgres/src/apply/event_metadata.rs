//! The index by which lists find events by their metadata.

use kalends_rows::EventWrite;
use sqlx::PgConnection;
use uuid::Uuid;

use crate::error::ApplyError;

/// The digests of events: one entry per digest in each list.
#[derive(Default)]
pub(super) struct Digests {
    pub(super) orgs: Vec<Uuid>,
    pub(super) events: Vec<Uuid>,
    pub(super) digests: Vec<i64>,
    calendars: Vec<Uuid>,
}

impl Digests {
    pub(super) fn of(writes: &[EventWrite<'_>]) -> Self {
        let mut all = Self::default();
        for EventWrite { event, digests, .. } in writes {
            for digest in *digests {
                all.orgs.push(event.org.uuid());
                all.events.push(event.id.uuid());
                all.digests.push(*digest);
                all.calendars.push(event.calendar.uuid());
            }
        }
        all
    }

    /// Adds those that are not there.
    pub(super) async fn add(&self, connection: &mut PgConnection) -> Result<(), ApplyError> {
        if self.digests.is_empty() {
            return Ok(());
        }
        sqlx::query!(
            "INSERT INTO event_metadata (org_id, event_id, digest, calendar_id)
             SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::uuid[])
             ON CONFLICT (org_id, event_id, digest) DO NOTHING",
            &self.orgs,
            &self.events,
            &self.digests,
            &self.calendars,
        )
        .execute(connection)
        .await?;
        Ok(())
    }
}
