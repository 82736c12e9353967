//! Rows of `booking_pages` and `bookings`.

use kalends_app::ports::{FieldCipher, Place};
use kalends_availability::{Hours, Week, WrittenHours};
use kalends_bookings::{Booking, BookingPage, Confidential, Guest, SecretHash, Timetable};
use kalends_kernel::{AgentId, BookingId, BookingPageId, CalendarId, EventId, OrgId, StoreError, Timestamp, Version};

use super::{Row, row_id};

/// Where the sealed part of a page is stored.
pub(crate) const fn page_place(id: BookingPageId) -> Place {
    Place { table: "booking_pages", column: "content", id: id.uuid() }
}

/// Where the sealed guest of a booking is stored.
pub(crate) const fn guest_place(id: BookingId) -> Place {
    Place { table: "bookings", column: "guest", id: id.uuid() }
}

/// The hours of each weekday, as JSON.
pub(crate) fn constraints_json(constraints: Option<&Week<Hours>>) -> Result<Option<String>, sqlx::Error> {
    let written = constraints.map(|week| serde_json::to_string(&Week::<WrittenHours>::from(week)));
    written.transpose().map_err(|error| sqlx::Error::Encode(error.into()))
}

pub(crate) struct BookingPageRow {
    pub(crate) org_id: Vec<u8>,
    pub(crate) id: Vec<u8>,
    pub(crate) calendar_id: Vec<u8>,
    pub(crate) agent_id: Option<Vec<u8>>,
    pub(crate) content: String,
    pub(crate) duration_minutes: i64,
    pub(crate) buffer_minutes: i64,
    pub(crate) window_days: i64,
    pub(crate) min_notice_minutes: i64,
    pub(crate) timezone: String,
    pub(crate) constraints: Option<String>,
    pub(crate) active: bool,
    pub(crate) bookings: i64,
    pub(crate) version: i64,
    pub(crate) created_at: i64,
    pub(crate) updated_at: i64,
    pub(crate) deleted_at: Option<i64>,
}

impl BookingPageRow {
    pub(crate) fn read(self, cipher: &dyn FieldCipher) -> Result<BookingPage, StoreError> {
        let id = BookingPageId::from_uuid(row_id("booking_pages", "id", &self.id)?);
        let row = Row { table: "booking_pages", id: &id };
        let plain = row.read("content", cipher.open(page_place(id), &self.content))?;
        let Confidential { slug, title, description } = row.read("content", Confidential::read(&plain))?;
        let agent = self.agent_id.as_deref().map(|agent| row.uuid("agent_id", agent).map(AgentId::from_uuid));
        let constraints = self.constraints.as_deref().map(|json| {
            let written: Week<WrittenHours> = row.read("constraints", serde_json::from_str(json))?;
            Week::read("constraints", &written).map_err(|errors| row.corrupt("constraints", errors.first()))
        });
        Ok(BookingPage {
            id,
            org: OrgId::from_uuid(row.uuid("org_id", &self.org_id)?),
            calendar: CalendarId::from_uuid(row.uuid("calendar_id", &self.calendar_id)?),
            agent: agent.transpose()?,
            slug,
            title,
            description,
            timetable: Timetable {
                duration_minutes: row.read("duration_minutes", u16::try_from(self.duration_minutes))?,
                zone: row.read("timezone", self.timezone.parse())?,
                constraints: constraints.transpose()?,
            },
            buffer_minutes: row.read("buffer_minutes", u8::try_from(self.buffer_minutes))?,
            window_days: row.read("window_days", u16::try_from(self.window_days))?,
            min_notice_minutes: row.read("min_notice_minutes", u32::try_from(self.min_notice_minutes))?,
            active: self.active,
            bookings: row.read("bookings", u64::try_from(self.bookings))?,
            version: Version(self.version),
            created_at: Timestamp::from_micros(self.created_at),
            updated_at: Timestamp::from_micros(self.updated_at),
            deleted_at: self.deleted_at.map(Timestamp::from_micros),
        })
    }
}

pub(crate) struct BookingRow {
    pub(crate) org_id: Vec<u8>,
    pub(crate) id: Vec<u8>,
    pub(crate) page_id: Vec<u8>,
    pub(crate) calendar_id: Vec<u8>,
    pub(crate) event_id: Vec<u8>,
    pub(crate) cancel_hash: Vec<u8>,
    pub(crate) move_hash: Vec<u8>,
    pub(crate) guest: String,
    pub(crate) created_at: i64,
}

impl BookingRow {
    pub(crate) fn read(self, cipher: &dyn FieldCipher) -> Result<Booking, StoreError> {
        let id = BookingId::from_uuid(row_id("bookings", "id", &self.id)?);
        let row = Row { table: "bookings", id: &id };
        let plain = row.read("guest", cipher.open(guest_place(id), &self.guest))?;
        Ok(Booking {
            id,
            org: OrgId::from_uuid(row.uuid("org_id", &self.org_id)?),
            page: BookingPageId::from_uuid(row.uuid("page_id", &self.page_id)?),
            calendar: CalendarId::from_uuid(row.uuid("calendar_id", &self.calendar_id)?),
            event: EventId::from_uuid(row.uuid("event_id", &self.event_id)?),
            cancel: SecretHash(row.digest("cancel_hash", &self.cancel_hash)?),
            moves: SecretHash(row.digest("move_hash", &self.move_hash)?),
            guest: row.read("guest", Guest::read(&plain))?,
            created_at: Timestamp::from_micros(self.created_at),
        })
    }
}
