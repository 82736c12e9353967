//! The busy spans of each day as one value.

use std::collections::{BTreeMap, BTreeSet};

use kalends_calendars::{
    Event,
    ports::{BUSY_DAY_MAX, LONG},
};
use kalends_kernel::{CalendarId, OrgId};
use kalends_rows::EventWrite;
use kalends_time::Timestamp;
use sqlx::SqliteConnection;

use crate::busy_text::{BUSY_DIGITS, busy_text};
use crate::{
    error::Failure,
    json::{self, Hex},
};

/// The most hexadecimal digits that a row holds.
const DIGITS_MAX: i64 = BUSY_DAY_MAX as i64 * BUSY_DIGITS as i64;

/// A day of a calendar, as the number of days since 1970 in UTC.
type Day = (OrgId, CalendarId, i64);

/// The days on which the written events begin.
#[derive(Default)]
pub(crate) struct Touched {
    /// The spans of new events, to append to those that begin on the day already.
    added: BTreeMap<Day, String>,
    /// The days whose spans must be read again, since some may be gone.
    changed: BTreeSet<Day>,
}

impl Touched {
    pub(crate) fn created(&mut self, event: &Event) {
        if let Some(span) = event.busy().filter(|span| span.length() <= LONG) {
            self.added.entry(day(event, span.start())).or_default().push_str(&busy_text(span));
        }
    }

    /// Notes the days on which events begin that are about to be updated, before and after the update. An event that
    /// does not exist makes the update stale.
    pub(crate) async fn before_update(
        &mut self,
        connection: &mut SqliteConnection,
        updated: &[EventWrite<'_>],
    ) -> Result<(), Failure> {
        let rows: Vec<_> =
            updated.iter().map(|write| (Hex(write.event.org.uuid()), Hex(write.event.id.uuid()))).collect();
        let rows = json::rows(&rows)?;
        let were = sqlx::query!(
            r#"select e.start_at, row.key + 0 as "place!: i64"
             from jsonb_each(?1) row
                cross join events e on e.org_id = unhex(row.value ->> 0) and e.id = unhex(row.value ->> 1)"#,
            rows
        )
        .fetch_all(connection)
        .await?;
        for was in were {
            let Some(write) = usize::try_from(was.place).ok().and_then(|place| updated.get(place)) else { continue };
            let calendar = write.from.unwrap_or(write.event.calendar);
            self.changed.insert((write.event.org, calendar, day_of(Timestamp::from_micros(was.start_at))));
        }
        self.changed.extend(updated.iter().map(|write| day(write.event, write.event.times.span.start())));
        Ok(())
    }

    /// Writes the days. The events must have been written before.
    pub(crate) async fn write(mut self, connection: &mut SqliteConnection) -> Result<(), Failure> {
        // These days are read again as a whole, with what was added.
        self.added.retain(|day, _| !self.changed.contains(day));
        if !self.added.is_empty() {
            let rows: Vec<_> = self
                .added
                .iter()
                .map(|((org, calendar, day), spans)| (Hex(org.uuid()), Hex(calendar.uuid()), day, spans))
                .collect();
            let rows = json::rows(&rows)?;
            sqlx::query!(
                "insert into busy_days (org_id, calendar_id, day, spans)
                 select unhex(value ->> 0), unhex(value ->> 1), value ->> 2,
                    case when length(value ->> 3) <= ?2 then value ->> 3 end
                 from jsonb_each(?1) where true
                 on conflict (org_id, calendar_id, day) do update
                    set spans = case when length(spans) + length(excluded.spans) <= ?2 then spans || excluded.spans end",
                rows,
                DIGITS_MAX
            )
            .execute(&mut *connection)
            .await?;
        }
        if !self.changed.is_empty() {
            let rows: Vec<_> =
                self.changed.iter().map(|(org, calendar, day)| (Hex(org.uuid()), Hex(calendar.uuid()), day)).collect();
            let rows = json::rows(&rows)?;
            sqlx::query!(
                "insert into busy_days (org_id, calendar_id, day, spans)
                 select changed.org_id, changed.calendar_id, changed.day,
                    (select case when count(*) * 32 <= ?2 then coalesce(group_concat(e.busy, ''), '') end from events e
                        where e.org_id = changed.org_id and e.calendar_id = changed.calendar_id and e.busy is not null
                            and e.start_at >= changed.day * 86400000000
                            and e.start_at < (changed.day + 1) * 86400000000
                            and e.end_at - e.start_at <= 86400000000)
                 from (select unhex(value ->> 0) as org_id, unhex(value ->> 1) as calendar_id, value ->> 2 as day
                    from jsonb_each(?1)) changed where true
                 on conflict (org_id, calendar_id, day) do update set spans = excluded.spans",
                rows,
                DIGITS_MAX
            )
            .execute(connection)
            .await?;
        }
        Ok(())
    }
}

fn day(event: &Event, start: Timestamp) -> Day {
    (event.org, event.calendar, day_of(start))
}

fn day_of(start: Timestamp) -> i64 {
    start.utc_date().as_days()
}
