//! Booking pages and bookings.

use kalends_app::ports::FieldCipher;
use kalends_availability::{Hours, Week, WrittenHours};
use kalends_bookings::{Booking, BookingPage, Confidential, Guest, SecretHash, Timetable};
use kalends_kernel::{AgentId, BookingId, BookingPageId, CalendarId, EventId, OrgId, StoreError, Timestamp, Version};
use uuid::Uuid;

use super::Located;
use crate::sealed::{booking_guest, booking_page_content};

/// The hours of each weekday, as JSON.
pub(crate) fn constraints_json(constraints: Option<&Week<Hours>>) -> Result<Option<String>, sqlx::Error> {
    let written = constraints.map(|week| serde_json::to_string(&Week::<WrittenHours>::from(week)));
    written.transpose().map_err(|error| sqlx::Error::Encode(error.into()))
}

/// The columns of a page.
pub(crate) struct BookingPageRow {
    pub(crate) org_id: Uuid,
    pub(crate) id: Uuid,
    pub(crate) calendar_id: Uuid,
    pub(crate) agent_id: Option<Uuid>,
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
    pub(crate) fn open(self, cipher: &dyn FieldCipher) -> Result<BookingPage, StoreError> {
        let id = BookingPageId::from_uuid(self.id);
        let row = Located { table: "booking_pages", id };
        let plain =
            cipher.open(booking_page_content(id), &self.content).map_err(|error| row.corrupt("content", error))?;
        let Confidential { slug, title, description } =
            Confidential::read(&plain).map_err(|error| row.corrupt("content", error))?;
        let constraints = self.constraints.as_deref().map(|json| {
            let written: Week<WrittenHours> =
                serde_json::from_str(json).map_err(|error| row.corrupt("constraints", error))?;
            Week::read("constraints", &written).map_err(|errors| row.corrupt("constraints", errors.first()))
        });
        Ok(BookingPage {
            id,
            org: OrgId::from_uuid(self.org_id),
            calendar: CalendarId::from_uuid(self.calendar_id),
            agent: self.agent_id.map(AgentId::from_uuid),
            slug,
            title,
            description,
            timetable: Timetable {
                duration_minutes: u16::try_from(self.duration_minutes)
                    .map_err(|error| row.corrupt("duration_minutes", error))?,
                zone: self
                    .timezone
                    .parse()
                    .map_err(|error: kalends_kernel::ZoneError| row.corrupt("timezone", error))?,
                constraints: constraints.transpose()?,
            },
            buffer_minutes: u8::try_from(self.buffer_minutes).map_err(|error| row.corrupt("buffer_minutes", error))?,
            window_days: u16::try_from(self.window_days).map_err(|error| row.corrupt("window_days", error))?,
            min_notice_minutes: u32::try_from(self.min_notice_minutes)
                .map_err(|error| row.corrupt("min_notice_minutes", error))?,
            active: self.active,
            bookings: u64::try_from(self.bookings).map_err(|error| row.corrupt("bookings", error))?,
            version: Version(self.version),
            created_at: Timestamp::from_micros(self.created_at),
            updated_at: Timestamp::from_micros(self.updated_at),
            deleted_at: self.deleted_at.map(Timestamp::from_micros),
        })
    }
}

/// The columns of a booking.
pub(crate) struct BookingRow {
    pub(crate) org_id: Uuid,
    pub(crate) id: Uuid,
    pub(crate) page_id: Uuid,
    pub(crate) calendar_id: Uuid,
    pub(crate) event_id: Uuid,
    pub(crate) cancel_hash: Vec<u8>,
    pub(crate) move_hash: Vec<u8>,
    pub(crate) guest: String,
    pub(crate) created_at: i64,
}

impl BookingRow {
    pub(crate) fn open(self, cipher: &dyn FieldCipher) -> Result<Booking, StoreError> {
        let id = BookingId::from_uuid(self.id);
        let row = Located { table: "bookings", id };
        let plain = cipher.open(booking_guest(id), &self.guest).map_err(|error| row.corrupt("guest", error))?;
        Ok(Booking {
            id,
            org: OrgId::from_uuid(self.org_id),
            page: BookingPageId::from_uuid(self.page_id),
            calendar: CalendarId::from_uuid(self.calendar_id),
            event: EventId::from_uuid(self.event_id),
            cancel: SecretHash(row.hash("cancel_hash", &self.cancel_hash)?),
            moves: SecretHash(row.hash("move_hash", &self.move_hash)?),
            guest: Guest::read(&plain).map_err(|error| row.corrupt("guest", error))?,
            created_at: Timestamp::from_micros(self.created_at),
        })
    }
}
