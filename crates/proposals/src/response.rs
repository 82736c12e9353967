//! The responses of participants.

use kalends_kernel::{AgentId, CalendarId, FieldError, FieldErrors, ResponseId, SlotId, optional_text};
use kalends_time::{Span, Timestamp};

use crate::{StoredError, named::named};

/// The maximum number of counter-proposed times of a response.
pub const COUNTER_SLOTS_MAX: usize = 20;
/// The maximum number of characters of a message.
pub const MESSAGE_MAX: usize = 2_000;

named! {
    /// The kind of a response.
    ///
    /// ```
    /// use kalends_proposals::ResponseKind;
    ///
    /// assert_eq!(ResponseKind::from_name("counter"), Some(ResponseKind::Counter));
    /// assert_eq!(ResponseKind::Counter.as_str(), "counter");
    /// ```
    #[derive(Default)]
    ResponseKind {
        /// The participant accepts the selected slot.
        Accept = "accept",
        /// The participant declines all slots.
        #[default]
        Decline = "decline",
        /// Another time would be better. The selected slot, if any, is acceptable.
        Counter = "counter",
    }
}

/// The fields of a new response. By default it is [`NewResponse::decline`].
/// [`Proposal::respond`](crate::Proposal::respond) checks every bound.
///
/// ```
/// use kalends_kernel::SlotId;
/// use kalends_proposals::{NewResponse, ResponseKind};
///
/// let slot: SlotId = "slt_00000000000000000000000001".parse()?;
/// let response = NewResponse::accept(slot).with_message("See you there".to_owned());
/// assert_eq!((response.kind(), response.selected()), (ResponseKind::Accept, Some(slot)));
/// assert_eq!(response.message(), Some("See you there"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NewResponse {
    pub(crate) kind: ResponseKind,
    pub(crate) selected: Option<SlotId>,
    pub(crate) counter_slots: Vec<Span>,
    pub(crate) message: Option<String>,
    pub(crate) calendar: Option<CalendarId>,
}

impl NewResponse {
    /// A response of any kind. An acceptance without a slot is refused by
    /// [`Proposal::respond`](crate::Proposal::respond).
    ///
    /// ```
    /// use kalends_proposals::{NewResponse, ResponseKind};
    ///
    /// assert_eq!(NewResponse::new(ResponseKind::Decline, None), NewResponse::decline());
    /// ```
    pub const fn new(kind: ResponseKind, selected: Option<SlotId>) -> Self {
        Self { kind, selected, counter_slots: Vec::new(), message: None, calendar: None }
    }

    /// Accepts a slot. [`NewResponse`] has an example.
    pub const fn accept(slot: SlotId) -> Self {
        Self::new(ResponseKind::Accept, Some(slot))
    }

    /// Declines all slots.
    ///
    /// ```
    /// use kalends_proposals::{NewResponse, ResponseKind};
    ///
    /// assert_eq!(NewResponse::decline().kind(), ResponseKind::Decline);
    /// ```
    pub const fn decline() -> Self {
        Self::new(ResponseKind::Decline, None)
    }

    /// Asks for another time. The slot, if any, is acceptable too.
    ///
    /// ```
    /// use kalends_proposals::{NewResponse, ResponseKind};
    /// use kalends_time::Span;
    ///
    /// let better = Span::new("2027-03-02T10:00:00Z".parse()?, "2027-03-02T11:00:00Z".parse()?)?;
    /// let response = NewResponse::counter(None).with_counter_slots(vec![better]);
    /// assert_eq!((response.kind(), response.counter_slots()), (ResponseKind::Counter, &[better][..]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub const fn counter(slot: Option<SlotId>) -> Self {
        Self::new(ResponseKind::Counter, slot)
    }

    /// The same response with times that would be better, for the organizer to read: at most [`COUNTER_SLOTS_MAX`].
    /// [`Self::counter`] has an example.
    #[must_use]
    pub fn with_counter_slots(mut self, counter_slots: Vec<Span>) -> Self {
        self.counter_slots = counter_slots;
        self
    }

    /// The same response with a message for the organizer, at most [`MESSAGE_MAX`] characters. [`NewResponse`] has an
    /// example.
    #[must_use]
    pub fn with_message(mut self, message: impl Into<Option<String>>) -> Self {
        self.message = message.into();
        self
    }

    /// The same response with the calendar for the participant's event, which it gets with
    /// [`Placement::All`](crate::Placement::All). The caller checks that it is a calendar of the participant.
    ///
    /// ```
    /// use kalends_kernel::CalendarId;
    /// use kalends_proposals::NewResponse;
    ///
    /// let calendar: CalendarId = "cal_00000000000000000000000001".parse()?;
    /// assert_eq!(NewResponse::counter(None).with_calendar(calendar).calendar(), Some(calendar));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn with_calendar(mut self, calendar: impl Into<Option<CalendarId>>) -> Self {
        self.calendar = calendar.into();
        self
    }

    /// The kind.
    pub const fn kind(&self) -> ResponseKind {
        self.kind
    }

    /// The selected slot, if any.
    pub const fn selected(&self) -> Option<SlotId> {
        self.selected
    }

    /// Times that would be better.
    pub fn counter_slots(&self) -> &[Span] {
        &self.counter_slots
    }

    /// The message for the organizer.
    pub fn message(&self) -> Option<&str> {
        self.message.as_deref()
    }

    /// The calendar for the participant's event.
    pub const fn calendar(&self) -> Option<CalendarId> {
        self.calendar
    }

    /// The errors of the fields that do not depend on the proposal.
    pub(crate) fn check(&self, errors: &mut FieldErrors) {
        if self.selected.is_none() && self.kind == ResponseKind::Accept {
            let message = "is required to accept: a slot of this proposal";
            errors.push(FieldError::new("selected_slot_id", message));
        }
        if self.counter_slots.len() > COUNTER_SLOTS_MAX {
            let message = format!("must hold at most {COUNTER_SLOTS_MAX} slots, got {}", self.counter_slots.len());
            errors.push(FieldError::new("counter_slots", message));
        }
        errors.take(optional_text("message", self.message.as_deref(), MESSAGE_MAX));
    }
}

/// A response as stored. It has an identifier, an agent and a time in addition to the fields of a [`NewResponse`], and
/// keeps its bounds.
///
/// ```
/// use kalends_kernel::{AgentId, ResponseId};
/// use kalends_proposals::{NewResponse, Response, ResponseKind};
///
/// let id: ResponseId = "rsp_00000000000000000000000001".parse()?;
/// let agent: AgentId = "agt_00000000000000000000000001".parse()?;
/// let at = "2027-03-01T08:00:00Z".parse()?;
/// let response = Response::from_stored(id, agent, at, NewResponse::decline())?;
/// assert_eq!((response.agent(), response.kind()), (agent, ResponseKind::Decline));
/// // An acceptance has a slot.
/// assert!(Response::from_stored(id, agent, at, NewResponse::new(ResponseKind::Accept, None)).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    pub(crate) id: ResponseId,
    pub(crate) agent: AgentId,
    pub(crate) created_at: Timestamp,
    pub(crate) fields: NewResponse,
}

impl Response {
    /// The response from what a store kept. [`Response`] has an example.
    ///
    /// # Errors
    /// [`StoredError::Response`] if a field exceeds its bounds or an acceptance does not select a slot.
    pub fn from_stored(
        id: ResponseId,
        agent: AgentId,
        created_at: Timestamp,
        fields: NewResponse,
    ) -> Result<Self, StoredError> {
        let mut errors = FieldErrors::default();
        fields.check(&mut errors);
        errors.finish().map_err(|errors| StoredError::Response(agent, errors.first()))?;
        Ok(Self { id, agent, created_at, fields })
    }

    /// The identifier.
    pub const fn id(&self) -> ResponseId {
        self.id
    }

    /// The participant that responded.
    pub const fn agent(&self) -> AgentId {
        self.agent
    }

    /// The kind.
    pub const fn kind(&self) -> ResponseKind {
        self.fields.kind
    }

    /// The selected slot, if any.
    pub const fn selected(&self) -> Option<SlotId> {
        self.fields.selected
    }

    /// Times that would be better, at most [`COUNTER_SLOTS_MAX`].
    pub fn counter_slots(&self) -> &[Span] {
        &self.fields.counter_slots
    }

    /// The message for the organizer, at most [`MESSAGE_MAX`] characters.
    pub fn message(&self) -> Option<&str> {
        self.fields.message.as_deref()
    }

    /// The calendar for the participant's event, if it named one.
    pub const fn calendar(&self) -> Option<CalendarId> {
        self.fields.calendar
    }

    /// Whether the participant accepts this slot.
    pub(crate) fn accepts(&self, slot: SlotId) -> bool {
        self.kind() == ResponseKind::Accept && self.selected() == Some(slot)
    }

    /// When it was given.
    pub const fn created_at(&self) -> Timestamp {
        self.created_at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_have_their_names_in_the_api() {
        let names: Vec<&str> = ResponseKind::ALL.iter().map(|kind| kind.as_str()).collect();
        assert_eq!(names, ["accept", "decline", "counter"]);
        assert!(ResponseKind::ALL.iter().all(|kind| ResponseKind::from_name(kind.as_str()) == Some(*kind)));
        assert_eq!(ResponseKind::from_name("maybe"), None);
    }
}
