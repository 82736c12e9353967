//! Booking pages, as their owners see them.

use kalends_kernel::{AgentId, BookingPageId, CalendarId, OrgId};
use kalends_time::Timestamp;
use serde::{Deserialize, Serialize};

#[cfg(feature = "schema")]
use crate::schemas::{AssignmentName, ConsentName, QuestionTypeName};
use crate::{
    Notice, WorkingHours,
    derives::ToSchema,
    patch::{Given, given},
};

#[cfg(feature = "parse")]
mod parse;

/// A public page on which guests book slots of a calendar.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "id": "bkp_01jn8r6v9ke0bt3m5qz2c7xwdh", "org_id": "org_01jn8r6v9ke0bt3m5qz2c7xwdh",
    "calendar_id": "cal_01jn8r6v9ke0bt3m5qz2c7xwdh", "calendars": null, "assignment": null,
    "agent_id": "agt_01jn8r6v9ke0bt3m5qz2c7xwdh", "slug": "x7Jd0aQ2mVtY5cKw9LrB3g", "title": "Intro call", "description": null, "host_name": "Grace Hopper",
    "location": null, "conference_url": "https://meet.example.com/intro", "accent_color": "#0f6457",
    "embed_origins": ["https://www.example.com"],
    "notify_emails": ["grace@example.com"], "notify_consents": [{ "email": "grace@example.com", "status": "agreed" }],
    "questions": [
        { "id": "topic", "label": "What is it about?", "type": "text", "required": true, "options": [] }
    ], "guest_reminders": [1440, 60], "duration_minutes": 30, "buffer_minutes": 10, "window_days": 14, "min_notice_minutes": 120, "max_per_day": null, "seats": 1, "timezone": "Europe/Berlin",
    "availability_constraints": { "mon": { "start": "09:00", "end": "17:00" } }, "active": true, "bookings_count": 3,
    "booking_url": "https://calendar.example.com/book/x7Jd0aQ2mVtY5cKw9LrB3g",
    "created_at": "2026-03-02T08:00:00Z", "updated_at": "2026-03-02T08:00:00Z"
}))]
pub struct BookingPage {
    /// The identifier, `bkp_…`.
    #[schema(value_type = String)]
    pub id: BookingPageId,
    /// The owning organization, `org_…`.
    #[schema(value_type = String)]
    pub org_id: OrgId,
    /// The calendar that is booked, `cal_…`.
    #[schema(value_type = String)]
    pub calendar_id: CalendarId,
    /// All calendars that are booked, `calendar_id` first. One that was deleted stays in the list, but takes no part. Null if
    /// `calendar_id` is the only one.
    #[schema(value_type = Option<Vec<String>>)]
    pub calendars: Option<Vec<CalendarId>>,
    /// Which of `calendars` take part in a booking. Null if there is only one.
    #[schema(value_type = Option<AssignmentName>)]
    pub assignment: Option<String>,
    /// The agent that owns the calendar; null for a shared calendar.
    #[schema(value_type = Option<String>)]
    pub agent_id: Option<AgentId>,
    /// The last part of the page's address. Anyone who has it can book. A generated one is a secret.
    pub slug: String,
    /// The title of the page, which says what is booked.
    pub title: String,
    /// A description, as free text.
    pub description: Option<String>,
    /// Who receives the guests.
    pub host_name: Option<String>,
    /// Where bookings take place.
    pub location: Option<String>,
    /// The call in which bookings take place, an https URL. Guests see it once they have booked.
    #[schema(format = "uri")]
    pub conference_url: Option<String>,
    /// The color of the page's buttons, as `#rrggbb`.
    pub accent_color: Option<String>,
    /// The sites that may show the page in a frame.
    pub embed_origins: Vec<String>,
    /// The addresses that get an email about each booking.
    pub notify_emails: Vec<String>,
    /// Which of these addresses get emails.
    pub notify_consents: Vec<NotifyConsent>,
    /// What guests are asked.
    pub questions: Vec<Question>,
    /// Minutes before the start at which the guest of a booking gets an email, largest first.
    pub guest_reminders: Vec<u16>,
    /// The length of a slot, in minutes.
    pub duration_minutes: u16,
    /// Minutes kept free before and after everything that blocks.
    pub buffer_minutes: u8,
    /// The number of days ahead for which slots are offered.
    pub window_days: u16,
    /// The minimum time between a booking and the start of its slot, in minutes.
    pub min_notice_minutes: u32,
    /// The maximum number of bookings on one date of the page's zone. Null means no maximum.
    pub max_per_day: Option<u16>,
    /// How many guests can book the same slot.
    pub seats: u16,
    /// The IANA time zone of the slots.
    pub timezone: String,
    /// The opening hours of each weekday. A weekday that is left out is closed. Null means any time.
    pub availability_constraints: Option<WorkingHours>,
    /// Whether the page accepts bookings.
    pub active: bool,
    /// The number of bookings that were made on the page, including cancelled ones.
    pub bookings_count: u64,
    /// The address on which guests book.
    #[schema(format = "uri")]
    pub booking_url: String,
    /// What deserves attention although the request succeeded. Only in answers to writes, and absent if there is nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(nullable = false)]
    pub notices: Vec<Notice>,
    /// When the page was created.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// When the page was last changed. Bookings do not count as changes.
    #[schema(value_type = String, format = DateTime)]
    pub updated_at: Timestamp,
}

/// Whether an address gets an email about each booking of a page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({ "email": "grace@example.com", "status": "agreed" }))]
pub struct NotifyConsent {
    /// The address.
    #[schema(format = "email")]
    pub email: String,
    /// Whether it gets emails. `member`: as long as it belongs to a member of the organization. `asked`: not yet; the
    /// person was asked by email. `agreed`: yes. `refused`: no; the person does not want them.
    #[schema(value_type = ConsentName)]
    pub status: String,
}

/// The answer of an address that was asked whether it wants emails about the bookings of a page.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "agrees": true }))]
pub struct AnswerBookingEmails {
    /// Whether the emails may be sent. A later answer replaces an earlier one.
    pub agrees: bool,
}

/// A question to guests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({
    "id": "team", "label": "Whom do you want to meet?", "type": "select", "required": true,
    "options": ["Sales", "Support"]
}))]
pub struct Question {
    /// Names the answer: 1-40 of `a-z`, `0-9`, `_` and `-`. No two questions of a page have the same.
    #[schema(min_length = 1, max_length = 40, pattern = "^[a-z0-9_-]+$")]
    pub id: String,
    /// The question as guests read it, on one line.
    #[schema(min_length = 1, max_length = 200)]
    pub label: String,
    /// How it is answered. `text`: one line of up to 500 characters. `textarea`: up to 2,000 characters. `select`: one of
    /// the options. `checkbox`: true or false. `phone`: a phone number.
    #[serde(rename = "type")]
    #[schema(value_type = QuestionTypeName)]
    pub kind: String,
    /// Whether nobody can book without an answer. A checkbox that is required must be checked. Defaults to false.
    #[serde(default)]
    pub required: bool,
    /// What can be chosen, for `select` only: 1-50 options of up to 100 characters.
    #[serde(default)]
    #[schema(max_items = 50)]
    pub options: Vec<String>,
}

/// The fields of a new booking page.
#[derive(Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({
    "calendar_id": "cal_01jn8r6v9ke0bt3m5qz2c7xwdh", "title": "Intro call", "duration_minutes": 30, "buffer_minutes": 10,
    "timezone": "Europe/Berlin", "availability_constraints": { "mon": { "start": "09:00", "end": "17:00" } }
}))]
pub struct CreateBookingPage {
    /// The calendar to book, `cal_…`.
    pub calendar_id: String,
    /// All calendars to book, 2-20 with `calendar_id`, which counts whether it is named or not. Needs `assignment`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(min_items = 1, max_items = 20)]
    pub calendars: Option<Vec<String>>,
    /// Which of `calendars` take part in a booking. `collective`: all of them; a slot must be free on each calendar.
    /// `round_robin`: one that is free, the one with the fewest bookings that were made through this page in the last 30
    /// days and take place.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<AssignmentName>)]
    pub assignment: Option<String>,
    /// A title that says what is booked, 1-255 characters.
    #[schema(min_length = 1, max_length = 255)]
    pub title: String,
    /// A description of up to 5,000 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 5000)]
    pub description: Option<String>,
    /// The last part of the page's address, 3-60 of `a-z`, `0-9` and `-`, such as `intro-call`. Everyone can guess it.
    /// Without it, the page gets a random one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 3, max_length = 60, pattern = "^[a-z0-9-]+$")]
    pub slug: Option<String>,
    /// Who receives the guests, on one line.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 200)]
    pub host_name: Option<String>,
    /// Where bookings take place. Their events get it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 500)]
    pub location: Option<String>,
    /// The call in which bookings take place, an https URL. Their events get it, and guests see it once they have booked.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(format = "uri", max_length = 2000)]
    pub conference_url: Option<String>,
    /// The color of the page's buttons, as `#rrggbb`. Text on it is black or white. Links have it where it can be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(pattern = "^#[0-9A-Fa-f]{6}$")]
    pub accent_color: Option<String>,
    /// The sites that may show the page in a frame: origins such as `https://www.example.com`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(max_items = 10)]
    pub embed_origins: Option<Vec<String>>,
    /// The addresses that get an email about each booking: when it is made, moved and cancelled. Addresses that do not
    /// belong to a member of the organization are asked by email first, and get nothing else until they agree.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(max_items = 5)]
    pub notify_emails: Option<Vec<String>>,
    /// What guests are asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(max_items = 10)]
    pub questions: Option<Vec<Question>>,
    /// Minutes before the start at which the guest of a booking gets an email, each 1-40320. Defaults to none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(max_items = 3)]
    pub guest_reminders: Option<Vec<i64>>,
    /// The length of a slot, in minutes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 5, maximum = 480, default = 30)]
    pub duration_minutes: Option<i64>,
    /// Minutes to keep free before and after everything that blocks.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0, maximum = 120, default = 0)]
    pub buffer_minutes: Option<i64>,
    /// The number of days ahead for which slots are offered.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 365, default = 14)]
    pub window_days: Option<i64>,
    /// The minimum time between a booking and the start of its slot, in minutes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0, maximum = 525600, default = 0)]
    pub min_notice_minutes: Option<i64>,
    /// The maximum number of bookings on one date of the page's zone. Without it there is no maximum.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 500)]
    pub max_per_day: Option<i64>,
    /// How many guests can book the same slot. They share its event. Must be 1 on a page with `calendars`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 500, default = 1)]
    pub seats: Option<i64>,
    /// The IANA time zone of the slots. Defaults to that of the calendar.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timezone: Option<String>,
    /// The opening hours of each weekday. A weekday that is left out is closed. Null means any time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub availability_constraints: Option<WorkingHours>,
    /// Whether the page accepts bookings. Defaults to true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub active: Option<bool>,
}

/// The fields of a booking page that a PATCH can change. At least one is required.
#[derive(Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "active": false }))]
pub struct UpdateBookingPage {
    /// A new title, 1-255 characters.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, nullable = false, min_length = 1, max_length = 255)]
    pub title: Given<String>,
    /// Replaces the calendars to book, 2-20 with the page's own, which counts whether it is named or not. Null leaves only
    /// the page's own.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<String>>, min_items = 1, max_items = 20)]
    pub calendars: Given<Vec<String>>,
    /// Which of `calendars` take part in a booking. Null only together with `calendars`.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<AssignmentName>)]
    pub assignment: Given<String>,
    /// A new description of up to 5,000 characters. Null clears it.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, max_length = 5000)]
    pub description: Given<String>,
    /// A new last part of the page's address. The old address no longer works, but the links in emails to guests do.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, nullable = false, min_length = 3, max_length = 60, pattern = "^[a-z0-9-]+$")]
    pub slug: Given<String>,
    /// Who receives the guests. Null clears it.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, min_length = 1, max_length = 200)]
    pub host_name: Given<String>,
    /// Where later bookings take place. Null clears it.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, min_length = 1, max_length = 500)]
    pub location: Given<String>,
    /// The call in which later bookings take place, an https URL. Null clears it.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = "uri", max_length = 2000)]
    pub conference_url: Given<String>,
    /// The color of the page's buttons, as `#rrggbb`. Null restores the usual one.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, pattern = "^#[0-9A-Fa-f]{6}$")]
    pub accent_color: Given<String>,
    /// Replaces the sites that may show the page in a frame.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<String>>, nullable = false, max_items = 10)]
    pub embed_origins: Given<Vec<String>>,
    /// Replaces the addresses that get an email about each booking. Answers of addresses that stay are kept.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<String>>, nullable = false, max_items = 5)]
    pub notify_emails: Given<Vec<String>>,
    /// Replaces all questions to guests.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<Question>>, nullable = false, max_items = 10)]
    pub questions: Given<Vec<Question>>,
    /// Replaces the minutes before the start at which guests get an email. Bookings that were made before keep theirs.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<i64>>, nullable = false, max_items = 3)]
    pub guest_reminders: Given<Vec<i64>>,
    /// The length of a slot, in minutes.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<i64>, nullable = false, minimum = 5, maximum = 480)]
    pub duration_minutes: Given<i64>,
    /// Minutes to keep free before and after everything that blocks.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<i64>, nullable = false, minimum = 0, maximum = 120)]
    pub buffer_minutes: Given<i64>,
    /// The number of days ahead for which slots are offered.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<i64>, nullable = false, minimum = 1, maximum = 365)]
    pub window_days: Given<i64>,
    /// The minimum time between a booking and the start of its slot, in minutes.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<i64>, nullable = false, minimum = 0, maximum = 525600)]
    pub min_notice_minutes: Given<i64>,
    /// The maximum number of bookings on one date of the page's zone. Null removes it.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<i64>, minimum = 1, maximum = 500)]
    pub max_per_day: Given<i64>,
    /// How many guests can book the same slot. Bookings that were made before stay.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<i64>, nullable = false, minimum = 1, maximum = 500)]
    pub seats: Given<i64>,
    /// The IANA time zone of the slots.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, nullable = false)]
    pub timezone: Given<String>,
    /// Replaces the opening hours of all weekdays. Null means any time.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<WorkingHours>)]
    pub availability_constraints: Given<WorkingHours>,
    /// Whether the page accepts bookings.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<bool>, nullable = false)]
    pub active: Given<bool>,
}
