//! What guests can do on booking pages.

use std::borrow::Cow;

use kalends_kernel::{BookingPageId, EventId};
use kalends_time::Timestamp;
use serde::{Deserialize, Serialize};

#[cfg(feature = "schema")]
use crate::schemas::BookingStatus;
use crate::{
    Event, EventStatus, Slot,
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
    /// The secret part at the end of the page's address.
    pub slug: String,
    /// The title of the page, which says what is booked.
    pub title: String,
    /// A description, as free text.
    pub description: Option<String>,
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
    /// The addresses at which the guest can change the booking. Absent if it is cancelled.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub links: Option<BookingLinks>,
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
}
