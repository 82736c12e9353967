//! Rows of `booking_pages` and `bookings`.

use kalends_app::ports::FieldCipher;
use kalends_availability::{Hours, Week};
use kalends_bookings::{
    Assignment, Booking, BookingNow, BookingPage, CancelledBy, Confidential, GuestDocument, SecretHash, SharedEvent,
    Team, Timetable,
};
use kalends_calendars::{WrittenWeek, ports::BusySource};
use kalends_kernel::{AgentId, BookingId, BookingPageId, CalendarId, EventId, OrgId, Revision, StoreError, Version};
use kalends_time::{Span, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use crate::{Key, Located, places, row_id};

/// The hours of each weekday, as JSON.
pub fn constraints_json(constraints: Option<&Week<Hours>>) -> Result<Option<String>, serde_json::Error> {
    constraints.map(|week| serde_json::to_string(&WrittenWeek::from(week))).transpose()
}

/// A [`Team`] as JSON.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenTeam {
    assignment: String,
    /// Each as 32 hexadecimal digits, which statements can read.
    calendars: Vec<String>,
}

/// The team of a page, as JSON.
pub fn team_json(team: Option<&Team>) -> Result<Option<String>, serde_json::Error> {
    let written = team.map(|team| WrittenTeam {
        assignment: team.assignment.as_str().to_owned(),
        calendars: team.others.iter().map(|calendar| calendar.uuid().simple().to_string()).collect(),
    });
    written.as_ref().map(serde_json::to_string).transpose()
}

fn read_team(row: &Located<&BookingPageId>, json: &str) -> Result<Team, StoreError> {
    let WrittenTeam { assignment, calendars } = row.read("team", serde_json::from_str(json))?;
    let calendar = |text: &String| row.read("team", Uuid::parse_str(text)).map(CalendarId::from_uuid);
    let others = calendars.iter().map(calendar).collect::<Result<_, _>>()?;
    Ok(Team { others, assignment: row.named("team", &assignment, Assignment::from_name)? })
}

/// The visible calendars of a team, which a statement returns as a JSON array of `[id, agent, revision, granted]`, in the
/// order of the page. An agent that is missing is null or empty.
pub fn team_sources(page: &BookingPage, json: Option<&str>) -> Result<Vec<BusySource>, StoreError> {
    let row = Located { table: "booking_pages", id: &page.id };
    let (Some(json), Some(team)) = (json, &page.team) else { return Ok(Vec::new()) };
    let found: Vec<(String, Option<String>, i64, Value)> = row.read("team", serde_json::from_str(json))?;
    let mut sources = Vec::with_capacity(found.len());
    for (calendar, agent, revision, granted) in found {
        let agent = agent.filter(|agent| !agent.is_empty()).map(|agent| row.read("team", Uuid::parse_str(&agent)));
        sources.push(BusySource {
            agent: agent.transpose()?.map(AgentId::from_uuid),
            calendar: CalendarId::from_uuid(row.read("team", Uuid::parse_str(&calendar))?),
            revision: Revision(revision),
            granted: granted == Value::Bool(true) || granted == 1,
        });
    }
    sources.sort_by_key(|source| team.others.iter().position(|calendar| *calendar == source.calendar));
    Ok(sources)
}

columns! {
    $ macro booking_page_row;
    /// The columns of a booking page.
    pub struct BookingPageRow<K> {
        org_id: K,
        id: K,
        calendar_id: K,
        agent_id: Option<K>,
        content: String,
        duration_minutes: i64,
        buffer_minutes: i64,
        window_days: i64,
        min_notice_minutes: i64,
        timezone: String,
        constraints: Option<String>,
        team: Option<String>,
        active: bool,
        bookings: i64,
        version: i64,
        created_at: i64,
        updated_at: i64,
        deleted_at: Option<i64>,
    }
}

impl<K: Key> BookingPageRow<K> {
    /// The page, or an error that names the corrupt column.
    pub fn open(self, cipher: &dyn FieldCipher) -> Result<BookingPage, StoreError> {
        let id = BookingPageId::from_uuid(row_id("booking_pages", "id", &self.id)?);
        let row = Located { table: "booking_pages", id: &id };
        let plain = row.open(places::booking_page_content(id), &self.content, cipher)?;
        let Confidential { slug, former_slugs, title, description, details, max_per_day, listeners, seats } =
            row.read("content", Confidential::read(&plain))?;
        let agent = row.uuid_if_any("agent_id", self.agent_id.as_ref())?;
        let constraints = self.constraints.as_deref().map(|json| {
            let written: WrittenWeek = row.read("constraints", serde_json::from_str(json))?;
            written.read("constraints").map_err(|errors| row.corrupt("constraints", errors.first()))
        });
        let team = self.team.as_deref().map(|json| read_team(&row, json));
        Ok(BookingPage {
            id,
            org: OrgId::from_uuid(row.uuid("org_id", &self.org_id)?),
            calendar: CalendarId::from_uuid(row.uuid("calendar_id", &self.calendar_id)?),
            team: team.transpose()?,
            listeners,
            agent: agent.map(AgentId::from_uuid),
            slug,
            former_slugs,
            title,
            description,
            details,
            timetable: Timetable {
                duration_minutes: row.read("duration_minutes", u16::try_from(self.duration_minutes))?,
                zone: row.read("timezone", self.timezone.parse())?,
                constraints: constraints.transpose()?,
            },
            buffer_minutes: row.read("buffer_minutes", u8::try_from(self.buffer_minutes))?,
            window_days: row.read("window_days", u16::try_from(self.window_days))?,
            min_notice_minutes: row.read("min_notice_minutes", u32::try_from(self.min_notice_minutes))?,
            max_per_day,
            seats,
            active: self.active,
            bookings: row.read("bookings", u64::try_from(self.bookings))?,
            version: Version(self.version),
            created_at: Timestamp::from_micros(self.created_at),
            updated_at: Timestamp::from_micros(self.updated_at),
            deleted_at: self.deleted_at.map(Timestamp::from_micros),
        })
    }
}

columns! {
    $ macro booking_row;
    /// The columns of a booking.
    pub struct BookingRow<K> {
        org_id: K,
        id: K,
        page_id: K,
        calendar_id: K,
        event_id: K,
        cancel_hash: Vec<u8>,
        move_hash: Vec<u8>,
        guest: String,
        cancelled_by: Option<String>,
        created_at: i64,
        shared: bool,
        cancelled_at: Option<i64>,
    }
}

impl<K: Key> BookingRow<K> {
    /// The booking, or an error that names the corrupt column.
    pub fn open(self, cipher: &dyn FieldCipher) -> Result<Booking, StoreError> {
        let id = BookingId::from_uuid(row_id("bookings", "id", &self.id)?);
        let row = Located { table: "bookings", id: &id };
        let plain = row.open(places::booking_guest(id), &self.guest, cipher)?;
        let GuestDocument { guest, also, known_as, kept_token } = row.read("guest", GuestDocument::read(&plain))?;
        Ok(Booking {
            id,
            org: OrgId::from_uuid(row.uuid("org_id", &self.org_id)?),
            page: BookingPageId::from_uuid(row.uuid("page_id", &self.page_id)?),
            calendar: CalendarId::from_uuid(row.uuid("calendar_id", &self.calendar_id)?),
            event: EventId::from_uuid(row.uuid("event_id", &self.event_id)?),
            also,
            shared: self.shared,
            known_as,
            cancel: SecretHash(row.digest("cancel_hash", &self.cancel_hash)?),
            moves: SecretHash(row.digest("move_hash", &self.move_hash)?),
            guest,
            kept_token,
            cancelled_by: self
                .cancelled_by
                .map(|name| row.named("cancelled_by", &name, CancelledBy::from_name))
                .transpose()?,
            cancelled_at: self.cancelled_at.map(Timestamp::from_micros),
            created_at: Timestamp::from_micros(self.created_at),
        })
    }
}

/// The columns of a booking's event, next to those of the booking.
pub struct BookedEventRow<'a, K> {
    /// The calendar on which the event is.
    pub on_calendar: &'a K,
    /// The start.
    pub start_at: i64,
    /// The end.
    pub end_at: i64,
    /// When it was cancelled or deleted, or went away with its calendar.
    pub gone_at: Option<i64>,
}

impl<K: Key> BookedEventRow<'_, K> {
    /// The booking with this event.
    pub fn with(self, booking: Booking) -> Result<BookingNow, StoreError> {
        let row = Located { table: "events", id: &booking.event };
        let calendar = CalendarId::from_uuid(row.uuid("calendar_id", self.on_calendar)?);
        let (start, end) = (Timestamp::from_micros(self.start_at), Timestamp::from_micros(self.end_at));
        let span = row.read("end_at", Span::new(start, end))?;
        let gone_at = booking.cancelled_at.or(self.gone_at.map(Timestamp::from_micros));
        Ok(BookingNow { booking, calendar, span, gone_at })
    }
}

/// The columns of an event that guests share, and the number of them.
#[expect(missing_docs, reason = "the fields are the columns of the same names")]
pub struct SharedEventRow<'a, K> {
    pub id: &'a K,
    pub version: i64,
    pub start_at: i64,
    pub end_at: i64,
    pub guests: i64,
}

impl<K: Key> SharedEventRow<'_, K> {
    /// The event, or an error that names the corrupt column.
    pub fn into_domain(self) -> Result<SharedEvent, StoreError> {
        let id = EventId::from_uuid(row_id("events", "id", self.id)?);
        let row = Located { table: "events", id: &id };
        let span = Span::new(Timestamp::from_micros(self.start_at), Timestamp::from_micros(self.end_at));
        let span = row.read("end_at", span)?;
        let guests = row.read("guests", u64::try_from(self.guests))?;
        Ok(SharedEvent { id, version: Version(self.version), span, guests })
    }
}
