//! What guests can do on booking pages.

use std::borrow::Cow;

use kalends_kernel::{BookingId, BookingPageId, CalendarId, EventId};
use kalends_time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

#[cfg(feature = "schema")]
use crate::schemas::{BookingStatus, CancelledByName};
use crate::{
    Event, EventStatus, Question, Slot,
    derives::{IntoParams, ToSchema},
};

#[cfg(feature = "parse")]
mod parse;
#[cfg(feature = "parse")]
pub use parse::SlotRange;

/// Selects the time in which slots are listed.
#[derive(Debug, Default, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct SlotsOfPage {
    /// Only slots that start at this time or later: RFC 3339 with an offset, or a date in the page's zone. Defaults
    /// to now.
    pub from: Option<String>,
    /// Only slots that end by this time: RFC 3339 with an offset, or a date in the page's zone, inclusive. Defaults
    /// to the end of the page's window.
    pub to: Option<String>,
}

/// A booking page, as guests see it.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "slug": "x7Jd0aQ2mVtY5cKw9LrB3g", "title": "Intro call", "description": null, "duration_minutes": 30,
    "timezone": "Europe/Berlin"
}))]
pub struct OpenPage {
    /// The last part of the page's address.
    pub slug: String,
    /// The title of the page, which says what is booked.
    pub title: String,
    /// A description, as free text.
    pub description: Option<String>,
    /// Who receives the guests. Absent if the page does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub host_name: Option<String>,
    /// Where bookings take place. Absent if the page does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub location: Option<String>,
    /// What guests are asked. Send the answers with the booking. Absent if there are no questions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(nullable = false)]
    pub questions: Vec<Question>,
    /// The length of a slot, in minutes.
    pub duration_minutes: u16,
    /// The IANA time zone of the slots.
    pub timezone: String,
}

/// The slots that can be booked on a page.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct BookingSlots {
    /// The page.
    pub booking_page: OpenPage,
    /// The offered slots, sorted by start. At most 5,000.
    #[schema(max_items = 5000)]
    pub slots: Vec<Slot>,
    /// The start of the first slot that is not listed: send it as `from` to continue. Absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub next_from: Option<Timestamp>,
    /// Why the page offers no slots right now, with the code `booking_closed`. Absent while bookings are accepted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<PageNotice>,
}

/// A remark about an answer that is not an error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PageNotice {
    /// A stable name. `booking_closed`: no bookings are accepted right now.
    #[schema(value_type = String, example = "booking_closed")]
    pub code: Cow<'static, str>,
    /// The remark as text.
    #[schema(value_type = String)]
    pub message: Cow<'static, str>,
}

/// The fields of a guest's booking.
#[derive(Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({
    "name": "Ada Lovelace", "email": "ada@example.com", "notes": "I bring the engine.", "start": "2026-03-02T09:00:00Z"
}))]
pub struct SubmitBooking {
    /// Your name, 1-200 characters.
    #[schema(min_length = 1, max_length = 200)]
    pub name: String,
    /// The address that receives the confirmation, at most 320 characters.
    #[schema(format = "email", max_length = 320)]
    pub email: String,
    /// Notes for the host, up to 2,000 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 2000)]
    pub notes: Option<String>,
    /// The answers to the page's questions, by their ids: text, or true or false for a checkbox. At most 4,096 bytes of
    /// JSON. In a form, the fields `answers[id]`.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    #[schema(value_type = Object, nullable = false)]
    pub answers: Map<String, Value>,
    /// The IANA time zone in which emails show you the time. Defaults to that of the page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timezone: Option<String>,
    /// The language of the emails to you, with or without a region, such as pt-BR: English (en), German (de), French (fr),
    /// Spanish (es), Portuguese (pt) or Japanese (ja). Defaults to `lang` in the address, else to `Accept-Language`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// The start of one of the offered slots. RFC 3339 with an offset.
    #[schema(format = DateTime)]
    pub start: String,
}

/// The slot to move a booking to.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "start": "2026-03-02T10:00:00Z" }))]
pub struct MoveBooking {
    /// The start of one of the offered slots. RFC 3339 with an offset.
    #[schema(format = DateTime)]
    pub start: String,
}

/// The addresses at which a guest can change a booking.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BookingLinks {
    /// The address that cancels the booking with a POST without a body.
    #[schema(format = "uri")]
    pub cancel_url: String,
    /// The address of the booking as an iCalendar file, which guests add to their calendars. It returns 404 once the booking
    /// is cancelled.
    #[schema(format = "uri")]
    pub ics_url: String,
    /// The address that moves the booking with a POST of `start`. Absent if the address of this request can only cancel
    /// the booking.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(format = "uri")]
    pub reschedule_url: Option<String>,
}

/// The part of an event that its guest sees.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "id": "evt_01jn8r6v9ke0bt3m5qz2c7xwdh", "title": "Intro call: Ada Lovelace", "start_time": "2026-03-02T09:00:00Z",
    "end_time": "2026-03-02T09:30:00Z", "status": "confirmed"
}))]
pub struct GuestEvent {
    /// The identifier, `evt_…`.
    #[schema(value_type = String)]
    pub id: EventId,
    /// The event's title.
    pub title: String,
    /// The start.
    #[schema(value_type = String, format = DateTime)]
    pub start_time: Timestamp,
    /// The end, exclusive.
    #[schema(value_type = String, format = DateTime)]
    pub end_time: Timestamp,
    /// Whether the event takes place.
    pub status: EventStatus,
    /// Where it takes place. Absent if it is not set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub location: Option<String>,
    /// The call in which it takes place, an https URL. Absent if it is not set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(format = "uri", nullable = false)]
    pub conference_url: Option<String>,
}

/// A new booking.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct Booked {
    /// The booking page, `bkp_…`.
    #[schema(value_type = String)]
    pub booking_page_id: BookingPageId,
    /// The event.
    pub event: GuestEvent,
    /// The addresses at which the guest can change the booking.
    #[serde(flatten)]
    pub links: BookingLinks,
}

/// A booking, as its guest sees it.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct GuestBooking {
    /// The booking page, `bkp_…`.
    #[schema(value_type = String)]
    pub booking_page_id: BookingPageId,
    /// The page, as guests see it.
    pub booking_page: OpenPage,
    /// `confirmed`, or `cancelled` by the guest or the owner of the calendar.
    #[schema(value_type = BookingStatus, example = "confirmed")]
    pub status: Cow<'static, str>,
    /// The event as it is now. If the owner moves it in the calendar, the booking moves too. Null if it was deleted.
    pub event: Option<GuestEvent>,
    /// The guest's name.
    pub name: String,
    /// The address that receives mail about the booking.
    pub email: String,
    /// The guest's notes.
    pub notes: Option<String>,
    /// The guest's answers, by the ids of the questions. Absent if there are none.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    #[schema(value_type = Object, nullable = false)]
    pub answers: Map<String, Value>,
    /// The addresses at which the guest can change the booking. Absent if it is cancelled.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub links: Option<BookingLinks>,
}

/// A booking, as the owner of the page sees it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "id": "bkg_01jn8r6v9ke0bt3m5qz2c7xwdh", "event_id": "evt_01jn8r6v9ke0bt3m5qz2c7xwdh",
    "booking_page_id": "bkp_01jn8r6v9ke0bt3m5qz2c7xwdh", "calendar_id": "cal_01jn8r6v9ke0bt3m5qz2c7xwdh",
    "status": "confirmed", "start_time": "2026-03-02T09:00:00Z", "end_time": "2026-03-02T09:30:00Z",
    "name": "Ada Lovelace", "email": "ada@example.com", "notes": null, "answers": { "team": "Sales" },
    "created_at": "2026-03-01T08:00:00Z", "cancelled_at": null, "cancelled_by": null
}))]
pub struct Booking {
    /// The identifier, `bkg_…`.
    #[schema(value_type = String)]
    pub id: BookingId,
    /// The event, `evt_…`.
    #[schema(value_type = String)]
    pub event_id: EventId,
    /// The page on which it was made, `bkp_…`.
    #[schema(value_type = String)]
    pub booking_page_id: BookingPageId,
    /// The calendar on which the event is, `cal_…`.
    #[schema(value_type = String)]
    pub calendar_id: CalendarId,
    /// `confirmed`, or `cancelled` by the guest or the host.
    #[schema(value_type = BookingStatus, example = "confirmed")]
    pub status: Cow<'static, str>,
    /// The start of the event as it is now. A cancelled booking keeps it.
    #[schema(value_type = String, format = DateTime)]
    pub start_time: Timestamp,
    /// The end of the event, exclusive.
    #[schema(value_type = String, format = DateTime)]
    pub end_time: Timestamp,
    /// The guest's name.
    pub name: String,
    /// The address that receives mail about the booking.
    #[schema(format = "email")]
    pub email: String,
    /// The guest's notes.
    pub notes: Option<String>,
    /// The guest's answers, by the ids of the questions.
    #[schema(value_type = Object)]
    pub answers: Map<String, Value>,
    /// When the booking was made.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// When it was cancelled. Null if it was not.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub cancelled_at: Option<Timestamp>,
    /// Who cancelled it: `guest` or `host`. Null if nobody did. If the event was cancelled or deleted, it was the host.
    #[schema(value_type = Option<CancelledByName>)]
    pub cancelled_by: Option<Cow<'static, str>>,
}

/// Selects the bookings of a list.
#[derive(Debug, Default, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ListBookings {
    /// Only bookings with this status.
    #[param(value_type = Option<BookingStatus>)]
    pub status: Option<String>,
    /// Only bookings that start at this time or later. RFC 3339 with an offset.
    #[param(value_type = Option<String>, format = DateTime)]
    pub start_after: Option<String>,
    /// Only bookings that start before this time. RFC 3339 with an offset.
    #[param(value_type = Option<String>, format = DateTime)]
    pub start_before: Option<String>,
    /// How many bookings to return.
    #[param(minimum = 1, maximum = 200, default = 50)]
    pub limit: Option<i64>,
    /// How many bookings to skip.
    #[param(minimum = 0, default = 0)]
    pub offset: Option<i64>,
}

/// Why a host cancels a booking.
#[derive(Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "reason": "I am ill. Please choose another day." }))]
pub struct CancelBooking {
    /// What the guest reads in the email, up to 500 characters. Addresses in it do not become links.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 500)]
    pub reason: Option<String>,
}

/// An event of a booking, as the payload of webhook messages.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct BookedEvent {
    /// The event.
    #[serde(flatten)]
    pub event: Event,
    /// The page on which the event was booked, `bkp_…`.
    #[schema(value_type = String)]
    pub booking_page_id: BookingPageId,
    /// The booking that was made, moved or cancelled, `bkg_…`. Only if guests share the event, and absent otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, nullable = false)]
    pub booking_id: Option<BookingId>,
}
