//! Reading attendees and replies.

use kalends_calendars::{self as domain, REPLY_NOTE_MAX};
use kalends_kernel::{FieldError, FieldErrors, optional_text};

use super::{Attendee, AttendeeResponded, NewAttendee, SubmitReply};

impl From<&domain::Attendee> for Attendee {
    fn from(attendee: &domain::Attendee) -> Self {
        Self {
            email: attendee.email.as_str().to_owned(),
            name: attendee.name.clone(),
            role: attendee.role.into(),
            agent_id: attendee.agent,
            status: attendee.status.into(),
            responded_at: attendee.responded_at,
        }
    }
}

impl AttendeeResponded {
    /// The reply of `attendee` to the invitation to `event`.
    pub fn new(event: &domain::Event, attendee: &domain::Attendee, note: Option<String>) -> Self {
        let event_id = event.occurrence().map_or_else(|| event.id.to_string(), |occurrence| occurrence.to_string());
        Self { event_id, calendar_id: event.calendar, attendee: attendee.into(), note }
    }
}

/// Checks a list of attendees.
///
/// # Errors
/// Every invalid field with its path, such as `attendees[3].email`.
pub(crate) fn attendees(given: Vec<NewAttendee>) -> Result<domain::Attendees, FieldErrors> {
    domain::Attendees::fits(given.len())?;
    let mut errors = FieldErrors::default();
    let read = given.into_iter().enumerate().filter_map(|(index, attendee)| {
        let NewAttendee { email, name, role, agent_id } = attendee;
        let role = role.map(Into::into).unwrap_or_default();
        let param = format!("attendees[{index}]");
        let read = domain::Attendee::parse(&param, &email, name.as_deref(), role, agent_id.as_deref());
        errors.take_all(read)
    });
    let read: Vec<domain::Attendee> = read.collect();
    errors.finish()?;
    domain::Attendees::new(read)
}

impl SubmitReply {
    /// Checks the reply. A blank note is none.
    ///
    /// # Errors
    /// Every invalid field.
    pub fn parse(self) -> Result<(domain::AttendeeStatus, Option<String>), FieldErrors> {
        let mut errors = FieldErrors::default();
        let status = domain::AttendeeStatus::from_name(&self.status)
            .filter(|status| *status != domain::AttendeeStatus::NeedsAction)
            .ok_or_else(|| FieldError::new("status", "must be accepted, tentative or declined"));
        let status = errors.take(status);
        let note = errors.take(optional_text("note", self.note.as_deref(), REPLY_NOTE_MAX));
        match (status, note) {
            (Some(status), Some(note)) => Ok((status, note.filter(|note| !note.trim().is_empty()))),
            _ => Err(errors),
        }
    }
}
