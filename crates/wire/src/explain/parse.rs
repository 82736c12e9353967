//! Parses the requests into values of the domain, and builds the answers from them.

use kalends_bridge::{HumanTime, Warning};
use kalends_calendars::{self as domain, BlockKind};
use kalends_kernel::{FieldError, FieldErrors};
use kalends_time::{SignedDuration, Span};

use super::{ExplainAvailability, Explanation, Reason, ReasonKind};
use crate::{availability::range, fields::instant};

/// The longest time that a query can ask about.
const LONGEST: SignedDuration = SignedDuration::days(LONGEST_DAYS);

const LONGEST_DAYS: i64 = 7;

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
pub struct ExplainQuery {
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
    pub fn parse(self) -> Result<ExplainQuery, FieldErrors> {
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
            (Some(of), Some(time)) => Ok(ExplainQuery { of, time, allow_stale: self.allow_stale.unwrap_or(false) }),
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

impl From<domain::ReasonKind> for ReasonKind {
    fn from(kind: domain::ReasonKind) -> Self {
        use domain::ReasonKind as Domain;
        match kind {
            Domain::Block(BlockKind::Event) => Self::Event,
            Domain::Block(BlockKind::Hold) => Self::Hold,
            Domain::Block(BlockKind::ExternalEvent) => Self::ExternalEvent,
            Domain::Block(BlockKind::HumanBusy) => Self::HumanBusy,
            Domain::Block(BlockKind::Reservation) => Self::Reservation,
            Domain::Buffer => Self::Buffer,
            Domain::OutsideWorkingHours => Self::OutsideWorkingHours,
            Domain::Override => Self::Override,
            Domain::OutsideRange => Self::OutsideRange,
        }
    }
}

impl From<domain::Reason> for Reason {
    fn from(reason: domain::Reason) -> Self {
        let (start, end) = (reason.span.start(), reason.span.end());
        Self { calendar_id: reason.calendar, reason: reason.kind.into(), start, end }
    }
}

impl Explanation {
    /// Builds the answer about `time` with at most `most` of the reasons. `cut` means that there are more reasons
    /// than those given.
    pub fn new(time: Span, reasons: &[domain::Reason], most: usize, cut: bool, known: &HumanTime) -> Self {
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

    fn request(agent: Option<&str>, calendar: Option<&str>, start: &str, end: &str) -> ExplainAvailability {
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
        let of = |agent, calendar| request(agent, calendar, start, end).parse().map(|request| request.of);
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
        let errors = request(Some("agt_x"), None, start, end).parse().unwrap_err();
        assert_eq!(errors.iter().map(|error| error.param.as_str()).collect::<Vec<_>>(), params);
        let code = errors.first().code;
        assert_eq!(code == Some(Code::EndBeforeStart), start == end);
    }

    #[test]
    fn reasons_are_named_as_in_the_domain() {
        use BlockKind::{Event, ExternalEvent, Hold, HumanBusy, Reservation};
        use domain::ReasonKind as Domain;
        for kind in [Event, Hold, ExternalEvent, HumanBusy, Reservation] {
            assert_eq!(serde_json::to_value(ReasonKind::from(Domain::Block(kind))).unwrap(), kind.as_str());
        }
        for (kind, name) in [
            (Domain::Buffer, "buffer"),
            (Domain::OutsideWorkingHours, "outside_working_hours"),
            (Domain::Override, "override"),
            (Domain::OutsideRange, "outside_range"),
        ] {
            assert_eq!(serde_json::to_value(ReasonKind::from(kind)).unwrap(), name);
        }
    }
}
