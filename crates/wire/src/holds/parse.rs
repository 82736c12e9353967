//! Parses the requests into values of the domain, and builds the answers from them.

use kalends_calendars::Block;
use kalends_calendars::{
    self as domain, AsOf, HOLD_MOST, HOLD_PRIORITY_MAX, HOLD_SET_MAX, HoldExpiry, NewHold, TITLE_MAX,
};
use kalends_kernel::{CalendarId, FieldError, FieldErrors, Page, bounded_text};
use kalends_time::Span;

use super::{ConfirmHold, Conflict, CreateHoldSet, ListHoldSets};
use crate::{EventStatus, HoldScope, Slot, fields::instant};

/// Builds a hold from the fields of an event, if they describe one.
pub(crate) fn hold(
    status: Option<EventStatus>,
    expires_at: Option<&str>,
    priority: Option<i64>,
    scope: Option<HoldScope>,
) -> Result<Option<NewHold>, FieldErrors> {
    let mut errors = FieldErrors::default();
    if status != Some(EventStatus::Hold) && expires_at.is_none() {
        for (param, given) in [("hold_priority", priority.is_some()), ("scope", scope.is_some())] {
            if given {
                errors.push(FieldError::new(param, "is for holds only; send hold_expires_at too, or leave it out"));
            }
        }
        errors.finish()?;
        return Ok(None);
    }
    let is_hold = errors.take(no_other_status(status));
    let missing = || FieldError::new("hold_expires_at", "is required for a hold, such as 5 minutes ahead");
    let expires_at = errors.take(expires_at.ok_or_else(missing).and_then(|text| instant("hold_expires_at", text)));
    let priority = errors.take(hold_priority(priority));
    match (is_hold, expires_at, priority) {
        (Some(()), Some(expires_at), Some(priority)) => {
            let hold = domain::Hold { expires_at, priority, scope: scope.map(Into::into).unwrap_or_default() };
            Ok(Some(NewHold { hold, longest: HOLD_MOST }))
        }
        _ => Err(errors),
    }
}

fn no_other_status(status: Option<EventStatus>) -> Result<(), FieldError> {
    match status.map(domain::EventStatus::from) {
        None | Some(domain::EventStatus::Hold) => Ok(()),
        Some(other) => {
            let message = format!("must be hold, or left out, with hold_expires_at; got {}", other.as_str());
            Err(FieldError::new("status", message))
        }
    }
}

/// Parses the priority of a hold. Absent and null mean 0.
fn hold_priority(given: Option<i64>) -> Result<u8, FieldError> {
    let priority = given.unwrap_or(0);
    u8::try_from(priority)
        .ok()
        .filter(|priority| *priority <= HOLD_PRIORITY_MAX)
        .ok_or_else(|| FieldError::new("hold_priority", format!("must be 0 to {HOLD_PRIORITY_MAX}, got {priority}")))
}

/// The new expiry of a hold. The use case sets the bound of the organization's plan.
pub(crate) fn hold_expiry(text: &str) -> Result<HoldExpiry, FieldError> {
    Ok(HoldExpiry { at: instant("hold_expires_at", text)?, longest: HOLD_MOST })
}

/// A checked request for a hold set.
#[derive(Debug, Clone, PartialEq)]
pub struct NewHoldSet {
    /// The title of every hold.
    pub title: String,
    /// The time of the holds.
    pub span: Span,
    /// The calendars as written, without duplicates.
    pub calendars: Vec<String>,
    /// The agents as written, without duplicates. There is at least one calendar or agent.
    pub agents: Vec<String>,
    /// The expiry, the priority and the scope of the holds.
    pub hold: NewHold,
    /// The state on which the caller decided.
    pub if_as_of: Option<AsOf>,
}

/// The state on which the caller decided.
pub(crate) fn state_seen(text: Option<&str>) -> Result<Option<AsOf>, FieldError> {
    text.map(|text| AsOf::parse("if_as_of", text)).transpose()
}

impl ConfirmHold {
    /// Checks the state on which the caller decided, if it is given.
    ///
    /// # Errors
    /// If it is not an unchanged `as_of`.
    pub fn parse(self) -> Result<Option<AsOf>, FieldErrors> {
        Ok(state_seen(self.if_as_of.as_deref())?)
    }
}

impl CreateHoldSet {
    /// Checks every field that can be checked without the calendars and the clock.
    ///
    /// # Errors
    /// Lists every invalid field.
    pub fn parse(self) -> Result<NewHoldSet, FieldErrors> {
        let mut errors = FieldErrors::default();
        let title = errors.take(bounded_text("title", &self.title, 1, TITLE_MAX));
        let start = errors.take(instant("start_time", &self.start_time));
        let end = errors.take(instant("end_time", &self.end_time));
        let span = match (start, end) {
            (Some(start), Some(end)) => errors.take(Span::new(start, end).map_err(|error| {
                FieldError::new("end_time", error.to_string()).with_code(kalends_kernel::Code::EndBeforeStart)
            })),
            _ => None,
        };
        let whose = errors.take(whose(self.calendar_ids, self.agent_ids));
        let hold =
            errors.take_all(hold(Some(EventStatus::Hold), Some(&self.hold_expires_at), self.hold_priority, None));
        let if_as_of = errors.take(state_seen(self.if_as_of.as_deref()));
        match (title, span, whose, hold.flatten(), if_as_of) {
            (Some(title), Some(span), Some((calendars, agents)), Some(hold), Some(if_as_of)) => {
                Ok(NewHoldSet { title, span, calendars, agents, hold, if_as_of })
            }
            _ => Err(errors),
        }
    }
}

/// The calendars and the agents of a hold set.
fn whose(calendars: Vec<String>, agents: Vec<String>) -> Result<(Vec<String>, Vec<String>), FieldError> {
    let count = calendars.len() + agents.len();
    if !(1..=HOLD_SET_MAX).contains(&count) {
        let message = format!("must name 1 to {HOLD_SET_MAX} calendars, together with agent_ids; got {count}");
        return Err(FieldError::new("calendar_ids", message));
    }
    // An identifier has only one written form, so equal texts mean equal calendars or agents.
    for (param, ids, thing) in [("calendar_ids", &calendars, "a calendar"), ("agent_ids", &agents, "an agent")] {
        let repeated = ids.iter().enumerate().find(|(index, id)| ids.iter().take(*index).any(|earlier| earlier == *id));
        if let Some((index, _)) = repeated {
            return Err(FieldError::new(format!("{param}[{index}]"), format!("repeats {thing}")));
        }
    }
    Ok((calendars, agents))
}

impl ListHoldSets {
    /// Checks every parameter.
    ///
    /// # Errors
    /// Lists every invalid parameter.
    pub fn parse(self) -> Result<(Option<domain::EventStatus>, Page), FieldErrors> {
        Ok((self.status.map(Into::into), Page::parse(self.limit, self.offset)?))
    }
}

impl Conflict {
    /// Builds the conflict of a calendar with a block.
    pub fn new(calendar: CalendarId, block: Block) -> Self {
        let kind = domain::ReasonKind::Block(block.kind).into();
        Self { calendar_id: calendar, kind, start: block.span.start(), end: block.span.end() }
    }
}

impl From<Span> for Slot {
    fn from(span: Span) -> Self {
        Self { start: span.start(), end: span.end() }
    }
}
