//! The bounds of a proposal's fields.

use std::collections::BTreeSet;

use kalends_kernel::{AgentId, FieldError, FieldErrors, bounded_text, optional_text};
use kalends_time::{Span, Timestamp};

use crate::{DESCRIPTION_MAX, PARTICIPANTS_MAX, PLACES_MAX, Placement, SLOTS_MAX, TITLE_MAX};

/// The fields of a proposal that have bounds.
pub(crate) struct Bounds<'a> {
    pub(crate) title: &'a str,
    pub(crate) description: Option<&'a str>,
    pub(crate) organizer: AgentId,
    pub(crate) participants: &'a [AgentId],
    pub(crate) slots: Vec<Span>,
    pub(crate) expires_at: Option<Timestamp>,
    pub(crate) min_accepts: u32,
    pub(crate) placement: Placement,
}

impl Bounds<'_> {
    /// Returns every error of a proposal that was made at `now`.
    pub(crate) fn check(&self, now: Timestamp) -> Result<(), FieldErrors> {
        let mut errors = FieldErrors::default();
        errors.take(bounded_text("title", self.title, 1, TITLE_MAX));
        errors.take(optional_text("description", self.description, DESCRIPTION_MAX));
        if !(1..=PARTICIPANTS_MAX).contains(&self.participants.len()) {
            let message = format!("must name 1 to {PARTICIPANTS_MAX} agents, got {}", self.participants.len());
            errors.push(FieldError::new("participant_agent_ids", message));
        }
        let mut named = BTreeSet::new();
        for (index, agent) in self.participants.iter().enumerate().filter(|(_, agent)| !named.insert(**agent)) {
            let message = format!("names {agent} a second time");
            errors.push(FieldError::new(format!("participant_agent_ids[{index}]"), message));
        }
        let parties = named.len() + usize::from(!named.contains(&self.organizer));
        if self.placement == Placement::All && parties > PLACES_MAX {
            let message = format!(
                "must name at most {PLACES_MAX} agents together with the organizer if placement is all, got {parties}"
            );
            errors.push(FieldError::new("participant_agent_ids", message));
        }
        if usize::try_from(self.min_accepts).is_ok_and(|accepts| accepts > self.participants.len()) {
            let message = format!(
                "must be at most the number of participants, {}, got {}",
                self.participants.len(),
                self.min_accepts
            );
            errors.push(FieldError::new("min_accepts", message));
        }
        if !(1..=SLOTS_MAX).contains(&self.slots.len()) {
            let message = format!("must hold 1 to {SLOTS_MAX} slots, got {}", self.slots.len());
            errors.push(FieldError::new("slots", message));
        }
        for (index, span) in self.slots.iter().enumerate().filter(|(_, span)| span.start() <= now) {
            let message = format!("must be in the future, after {now}; got {}", span.start());
            errors.push(FieldError::new(format!("slots[{index}].start_time"), message));
        }
        if let Some(at) = self.expires_at.filter(|at| *at <= now) {
            errors.push(FieldError::new("expires_at", format!("must be in the future, after {now}; got {at}")));
        }
        errors.finish()
    }
}
