//! What a page shows, asks and sends, in addition to its title and its slots.

use kalends_calendars::{ConferenceUrl, LOCATION_MAX, Patch, Reminders};
use kalends_kernel::{FieldError, bounded_text};

use crate::{
    colour::Colour,
    embedding::Origin,
    guest::Sees,
    questions::{Questions, one_line},
};

/// The maximum number of characters of a host's name.
pub const HOST_NAME_MAX: usize = 200;

/// The maximum number of reminders to the guest of a booking.
pub const GUEST_REMINDERS_MAX: usize = 3;

/// Checks when guests are reminded: at most [`GUEST_REMINDERS_MAX`] numbers of minutes before the start.
///
/// # Errors
/// Names the field `guest_reminders`, or the entry of it.
pub fn guest_reminders(minutes: &[i64]) -> Result<Reminders, FieldError> {
    Reminders::parse_up_to(GUEST_REMINDERS_MAX, "guest_reminders", minutes)
}

/// Checks the name of a host.
///
/// # Errors
/// Names the field `host_name`.
pub fn host_name(text: &str) -> Result<String, FieldError> {
    one_line("host_name", text, HOST_NAME_MAX)
}

/// Checks where bookings take place: 1 to [`LOCATION_MAX`] characters.
///
/// # Errors
/// Names the field `location`.
pub fn location(text: &str) -> Result<String, FieldError> {
    bounded_text("location", text, 1, LOCATION_MAX)
}

/// What a page shows, asks and sends, in addition to its title and its slots. Nothing by default.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PageDetails {
    /// Who receives the guests, on one line, 1 to [`HOST_NAME_MAX`] characters.
    pub host_name: Option<String>,
    /// Where bookings take place. Their events get it.
    pub location: Option<String>,
    /// The call in which bookings take place. Their events get it. The page itself does not show the address.
    pub conference_url: Option<ConferenceUrl>,
    /// The colour of the page's buttons.
    pub accent: Option<Colour>,
    /// The sites that may show the page in a frame.
    pub embed_origins: Vec<Origin>,
    /// What guests are asked.
    pub questions: Questions,
    /// When guests are reminded of their bookings. An event keeps those that the page has when it is made.
    pub guest_reminders: Reminders,
}

/// The changes of [`PageDetails`]. `None` clears a field.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PageDetailsPatch {
    /// A new name of the host.
    pub host_name: Patch<Option<String>>,
    /// A new place.
    pub location: Patch<Option<String>>,
    /// A new call.
    pub conference_url: Patch<Option<ConferenceUrl>>,
    /// A new colour.
    pub accent: Patch<Option<Colour>>,
    /// Other sites, which replace the earlier ones.
    pub embed_origins: Patch<Vec<Origin>>,
    /// Other questions, which replace the earlier ones.
    pub questions: Patch<Questions>,
    /// Other reminders, which replace the earlier ones.
    pub guest_reminders: Patch<Reminders>,
}

impl PageDetails {
    /// What those who book now see of their events.
    pub const fn shown_to_guests(&self) -> Sees {
        Sees { place: self.location.is_some(), call: self.conference_url.is_some() }
    }

    /// Whether emails to guests contain words or a link of the owner that they did not contain before.
    pub fn has_new_words(&self, before: &Self) -> bool {
        let is_new = |now: Option<&str>, before: Option<&str>| now.is_some() && now != before;
        is_new(self.host_name.as_deref(), before.host_name.as_deref())
            || is_new(self.location.as_deref(), before.location.as_deref())
            || (self.conference_url.is_some() && self.conference_url != before.conference_url)
    }
}

impl PageDetailsPatch {
    pub(crate) fn apply_to(self, details: &mut PageDetails) {
        self.host_name.apply_to(&mut details.host_name);
        self.location.apply_to(&mut details.location);
        self.conference_url.apply_to(&mut details.conference_url);
        self.accent.apply_to(&mut details.accent);
        self.embed_origins.apply_to(&mut details.embed_origins);
        self.questions.apply_to(&mut details.questions);
        self.guest_reminders.apply_to(&mut details.guest_reminders);
    }
}
