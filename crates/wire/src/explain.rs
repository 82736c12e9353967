//! Explains why a time is not offered.

use kalends_availability::{self as availability, Warning};
use kalends_kernel::{CalendarId, FieldError, FieldErrors, SignedDuration, Span, Timestamp};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::{AvailabilityState, availability::range, event::instant};

/// The longest time that a query can ask about.
const LONGEST: SignedDuration = SignedDuration::days(LONGEST_DAYS);
const LONGEST_DAYS: i64 = 7;

/// Asks why an agent or a calendar is not free at a time. Send exactly one of `agent` and `calendar`.
#[derive(Debug, Default, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ExplainAvailability {
    /// The agent, `agt_…`. All of its calendars are considered.
    pub agent: Option<String>,
    /// The calendar, `cal_…`.
    pub calendar: Option<String>,
    /// The start of the time.
    #[param(format = DateTime, example = "2026-03-02T09:45:00Z")]
    pub start: String,
    /// The end of the time: after the start, and at most 7 days later.
    #[param(format = DateTime, example = "2026-03-02T10:45:00Z")]
    pub end: String,
    /// Whether to explain the answer to a query with `allow_stale=true`.
    #[param(default = false)]
    pub allow_stale: Option<bool>,
}

/// The agent or calendar that the query is about, with its identifier as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExplainOf {
    /// An agent.
    Agent(String),
    /// A calendar.
    Calendar(String),
}

/// A checked query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExplainAsked {
    /// The agent or calendar.
    pub of: ExplainOf,
    /// The time.
    pub time: Span,
    /// Whether stale and unknown busy times of human calendars are allowed.
    pub allow_stale: bool,
}

impl ExplainAvailability {
    /// Checks every parameter, except whether the identifier exists.
    ///
    /// # Errors
    /// Lists every invalid parameter.
    pub fn parse(self) -> Result<ExplainAsked, FieldErrors> {
        let mut errors = FieldErrors::default();
        let of = errors.take(match (self.agent, self.calendar) {
            (Some(agent), None) => Ok(ExplainOf::Agent(agent)),
            (None, Some(calendar)) => Ok(ExplainOf::Calendar(calendar)),
            (None, None) => Err(FieldError::new("agent", "is required, unless calendar is given")),
            (Some(_), Some(_)) => Err(FieldError::new("calendar", "must be left out if agent is given")),
        });
        let start = errors.take(instant("start", &self.start));
        let end = errors.take(instant("end", &self.end));
        let time = match (start, end) {
            (Some(start), Some(end)) => errors.take(range(start, end).and_then(short)),
            _ => None,
        };
        match (of, time) {
            (Some(of), Some(time)) => Ok(ExplainAsked { of, time, allow_stale: self.allow_stale.unwrap_or(false) }),
            _ => Err(errors),
        }
    }
}

fn short(time: Span) -> Result<Span, FieldError> {
    if time.length() <= LONGEST {
        return Ok(time);
    }
    let hours = time.length().as_seconds().div_euclid(3_600);
    Err(FieldError::new("end", format!("must be at most {LONGEST_DAYS} days after the start, got {hours} hours")))
}

/// A reason why a time is not offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReasonKind {
    /// An event blocks the time.
    Event,
    /// A hold blocks the time.
    Hold,
    /// An imported event blocks the time.
    ExternalEvent,
    /// A human calendar is busy at that time, or is not known to be free.
    HumanBusy,
    /// A pending proposal reserves the time.
    Reservation,
    /// The time is in the buffer before or after something that blocks.
    Buffer,
    /// The time is outside the working hours of the weekday.
    OutsideWorkingHours,
    /// A date override closes the time, although the working hours of the weekday do not.
    Override,
    /// The time is outside the range in which anything is offered.
    OutsideRange,
}

impl From<availability::ReasonKind> for ReasonKind {
    fn from(kind: availability::ReasonKind) -> Self {
        use availability::ReasonKind as Domain;
        match kind {
            Domain::Event => Self::Event,
            Domain::Hold => Self::Hold,
            Domain::ExternalEvent => Self::ExternalEvent,
            Domain::HumanBusy => Self::HumanBusy,
            Domain::Reservation => Self::Reservation,
            Domain::Buffer => Self::Buffer,
            Domain::OutsideWorkingHours => Self::OutsideWorkingHours,
            Domain::Override => Self::Override,
            Domain::OutsideRange => Self::OutsideRange,
        }
    }
}

/// One reason. It reveals neither titles nor which human calendar is busy.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct Reason {
    /// The calendar whose events or rules are the reason. Null if the time is outside the range, and if a human
    /// calendar is busy for an agent without calendars.
    #[schema(value_type = Option<String>)]
    pub calendar_id: Option<CalendarId>,
    /// The kind of the reason.
    pub reason: ReasonKind,
    /// The start. For an event or a hold, its own start. Otherwise, the start of the part within the queried time.
    /// The busy time of a human calendar includes its buffers.
    #[schema(value_type = String, format = DateTime)]
    pub start: Timestamp,
    /// The end, exclusive.
    #[schema(value_type = String, format = DateTime)]
    pub end: Timestamp,
}

impl From<availability::Reason> for Reason {
    fn from(reason: availability::Reason) -> Self {
        let (start, end) = (reason.span.start(), reason.span.end());
        Self { calendar_id: reason.calendar, reason: reason.kind.into(), start, end }
    }
}

/// The reasons why a time is not offered.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "start": "2026-03-02T09:45:00Z", "end": "2026-03-02T10:45:00Z", "offered": false,
    "reasons": [
        { "calendar_id": "cal_01jn8r7d2xe9tvn4a6k8m0pqrs", "reason": "event",
          "start": "2026-03-02T09:00:00Z", "end": "2026-03-02T10:00:00Z" },
        { "calendar_id": "cal_01jn8r7d2xe9tvn4a6k8m0pqrs", "reason": "buffer",
          "start": "2026-03-02T10:00:00Z", "end": "2026-03-02T10:30:00Z" }
    ],
    "has_more": false, "availability_state": "complete", "warnings": []
}))]
pub struct Explanation {
    /// The start of the queried time.
    #[schema(value_type = String, format = DateTime)]
    pub start: Timestamp,
    /// The end of the queried time, exclusive.
    #[schema(value_type = String, format = DateTime)]
    pub end: Timestamp,
    /// Whether all of the time is free, so that it can be offered as a slot. If true, there are no reasons.
    pub offered: bool,
    /// The reasons, sorted by start and then by calendar. At most 1,000.
    pub reasons: Vec<Reason>,
    /// Whether there are more reasons. To see them, ask about a shorter time.
    pub has_more: bool,
    /// How complete and current the busy times of human calendars are.
    pub availability_state: AvailabilityState,
    /// Warnings about the answer.
    pub warnings: Vec<String>,
}

impl Explanation {
    /// Builds the answer about `time` with at most `most` of the reasons. `cut` means that there are more reasons
    /// than those given.
    pub fn new(
        time: Span,
        reasons: &[availability::Reason],
        most: usize,
        cut: bool,
        known: &availability::HumanTime,
    ) -> Self {
        Self {
            start: time.start(),
            end: time.end(),
            offered: reasons.is_empty(),
            reasons: reasons.iter().take(most).copied().map(Into::into).collect(),
            has_more: cut || reasons.len() > most,
            availability_state: known.state.into(),
            warnings: known.warnings.iter().map(Warning::to_string).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use kalends_kernel::Code;
    use rstest::rstest;

    use super::*;

    fn asked(agent: Option<&str>, calendar: Option<&str>, start: &str, end: &str) -> ExplainAvailability {
        let owned = |text: Option<&str>| text.map(str::to_owned);
        ExplainAvailability {
            agent: owned(agent),
            calendar: owned(calendar),
            start: start.to_owned(),
            end: end.to_owned(),
            allow_stale: None,
        }
    }

    #[test]
    fn exactly_one_of_agent_and_calendar_is_required() {
        let (start, end) = ("2026-03-02T09:00:00Z", "2026-03-09T09:00:00Z");
        let of = |agent, calendar| asked(agent, calendar, start, end).parse().map(|asked| asked.of);
        assert_eq!(of(Some("agt_x"), None), Ok(ExplainOf::Agent("agt_x".to_owned())));
        assert_eq!(of(None, Some("cal_x")), Ok(ExplainOf::Calendar("cal_x".to_owned())));
        assert_eq!(of(None, None).unwrap_err().first().param, "agent");
        assert_eq!(of(Some("agt_x"), Some("cal_x")).unwrap_err().first().param, "calendar");
    }

    #[rstest]
    #[case::backwards("2026-03-02T09:00:00Z", "2026-03-02T09:00:00Z", &["end"])]
    #[case::too_long("2026-03-02T09:00:00Z", "2026-03-09T09:00:00.000001Z", &["end"])]
    #[case::not_timestamps("noon", "2026-03-02", &["start", "end"])]
    fn times_are_checked(#[case] start: &str, #[case] end: &str, #[case] params: &[&str]) {
        let errors = asked(Some("agt_x"), None, start, end).parse().unwrap_err();
        assert_eq!(errors.iter().map(|error| error.param.as_str()).collect::<Vec<_>>(), params);
        let code = errors.first().code;
        assert_eq!(code == Some(Code::EndBeforeStart), start == end);
    }

    #[test]
    fn reasons_are_named_as_in_the_domain() {
        use availability::ReasonKind as Domain;
        for kind in [
            Domain::Event,
            Domain::Hold,
            Domain::ExternalEvent,
            Domain::HumanBusy,
            Domain::Reservation,
            Domain::Buffer,
            Domain::OutsideWorkingHours,
            Domain::Override,
            Domain::OutsideRange,
        ] {
            assert_eq!(serde_json::to_value(ReasonKind::from(kind)).unwrap(), kind.as_str());
        }
    }
}
