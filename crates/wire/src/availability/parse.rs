//! Parses the requests, and writes the answers. An answer is written directly into one buffer, because writing
//! dominates the cost of a long answer.

use std::io::Write as _;

use kalends_availability::BusySet;
use kalends_bridge::{self as bridge, Warning};
use kalends_calendars::AsOf;
use kalends_kernel::{AgentId, CalendarId, Code, FieldError, FieldErrors};
use kalends_time::{Span, Timestamp};

use super::{AcrossAgents, AvailabilityOf, AvailabilityState};
use crate::{SlotLength, SlotQuery, TooManySlots, fields::instant};

/// The default length of a slot: half an hour.
const DEFAULT_LENGTH: SlotLength = SlotLength::DEFAULT;

/// The maximum number of agents or calendars in a query, which is checked before the plan's own limit.
const NAMED_MAX: usize = 1_000;

/// A checked query for slots.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SlotsRequest {
    /// The range and the slots.
    pub query: SlotQuery,
    /// Whether busy times are requested.
    pub include_busy: bool,
    /// Whether to offer times even if busy times of human calendars are stale or unknown.
    pub allow_stale: bool,
}

impl AvailabilityOf {
    /// Checks every parameter.
    ///
    /// # Errors
    /// Lists every invalid parameter.
    pub fn parse(&self) -> Result<SlotsRequest, FieldErrors> {
        let query = slot_query(&self.start, &self.end, self.slot_duration.as_deref(), self.slot_step.as_deref())?;
        let (include_busy, allow_stale) = (self.include_busy.unwrap_or(false), self.allow_stale.unwrap_or(false));
        Ok(SlotsRequest { query, include_busy, allow_stale })
    }
}

/// The query parameters that contain several values, separated by commas.
pub const LISTS: [&str; 3] = ["agents", "calendars", "types"];

/// A checked query across agents.
#[derive(Debug, Clone)]
pub struct Across {
    /// The agents as written, in the order given, without duplicates.
    pub agents: Vec<String>,
    /// The calendars as written, without duplicates. `None` means all calendars of the agents.
    pub calendars: Option<Vec<String>>,
    /// The range and the slots.
    pub slots: SlotsRequest,
}

impl AcrossAgents {
    /// Checks every parameter, except whether the identifiers exist.
    ///
    /// # Errors
    /// Lists every invalid parameter.
    pub fn parse(&self) -> Result<Across, FieldErrors> {
        let mut errors = FieldErrors::default();
        let agents = errors.take(names("agents", &self.agents));
        let calendars = errors.take(self.calendars.as_deref().map(|text| names("calendars", text)).transpose());
        match slot_query(&self.start, &self.end, self.slot_duration.as_deref(), self.slot_step.as_deref()) {
            Ok(query) => match (agents, calendars) {
                (Some(agents), Some(calendars)) => {
                    let include_busy = self.include_busy.unwrap_or(false);
                    let allow_stale = self.allow_stale.unwrap_or(false);
                    Ok(Across { agents, calendars, slots: SlotsRequest { query, include_busy, allow_stale } })
                }
                _ => Err(errors),
            },
            Err(found) => {
                errors.extend(&found);
                Err(errors)
            }
        }
    }
}

fn names(param: &str, text: &str) -> Result<Vec<String>, FieldError> {
    let mut names: Vec<String> = Vec::new();
    for name in text.split(',').map(str::trim) {
        if name.is_empty() {
            return Err(FieldError::new(param, "must be identifiers separated by commas, without empty ones"));
        }
        if !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
        if names.len() > NAMED_MAX {
            return Err(FieldError::new(param, format!("must name at most {NAMED_MAX}")));
        }
    }
    Ok(names)
}

fn slot_query(start: &str, end: &str, length: Option<&str>, step: Option<&str>) -> Result<SlotQuery, FieldErrors> {
    let mut errors = FieldErrors::default();
    let start = errors.take(instant("start", start));
    let end = errors.take(instant("end", end));
    let mut read = |param: &str, text: &str| errors.take(text.parse::<SlotLength>().map_err(|error| error.of(param)));
    let length = length.map_or(Some(DEFAULT_LENGTH), |text| read("slot_duration", text));
    let step = step.map_or(Some(None), |text| read("slot_step", text).map(Some));
    let (Some(start), Some(end), Some(length), Some(step)) = (start, end, length, step) else {
        return Err(errors);
    };
    let window = range(start, end)?;
    let query = SlotQuery::new(window, length).map_err(FieldError::from)?;
    Ok(step.map_or(query, |step| query.stepping(step)))
}

/// The span from the parameter `start` to the parameter `end`.
pub(crate) fn range(start: Timestamp, end: Timestamp) -> Result<Span, FieldError> {
    Span::new(start, end).map_err(|error| FieldError::new("end", error.to_string()).with_code(Code::EndBeforeStart))
}

impl From<bridge::AvailabilityState> for AvailabilityState {
    fn from(state: bridge::AvailabilityState) -> Self {
        match state {
            bridge::AvailabilityState::Complete => Self::Complete,
            bridge::AvailabilityState::Stale => Self::Stale,
            bridge::AvailabilityState::Partial => Self::Partial,
            bridge::AvailabilityState::Unavailable => Self::Unavailable,
        }
    }
}

/// A result to be written.
pub struct Found<'a> {
    /// The calendar or agents that the result is about.
    pub of: Of<'a>,
    /// The range and the slots.
    pub query: SlotQuery,
    /// All time that is not offered, merged.
    pub taken: &'a BusySet,
    /// A calendar's own busy times, clipped to the range, if they were requested.
    pub busy: Option<&'a BusySet>,
    /// Each agent's own busy times, clipped to the range, if they were requested.
    pub per_agent: Option<&'a [(AgentId, &'a BusySet)]>,
    /// How complete and current the busy times of human calendars are.
    pub state: bridge::AvailabilityState,
    /// Why the busy times of human calendars are not complete and current.
    pub warnings: &'a [Warning],
    /// The state of the calendars that the result is based on.
    pub as_of: &'a AsOf,
}

/// The calendar or agents that an answer is about.
#[derive(Debug, Clone, Copy)]
pub enum Of<'a> {
    /// One calendar.
    Calendar(CalendarId),
    /// These agents.
    Agents(&'a [AgentId]),
}

/// Writes the answer as JSON.
///
/// # Errors
/// [`TooManySlots`] if more than 50,000 slots are free. Then nothing is written.
pub fn render(found: &Found<'_>) -> Result<Vec<u8>, TooManySlots> {
    const SLOT_BYTES: usize = br#"{"start":"2026-03-02T09:00:00Z","end":"2026-03-02T09:30:00Z"},"#.len();
    let slots = found.query.count(found.taken)?;
    let mut out = Vec::with_capacity(slots * SLOT_BYTES + 256);
    match found.of {
        Of::Calendar(calendar) => {
            // Writing to a vector cannot fail.
            let _ = write!(out, r#"{{"calendar_id":"{calendar}""#);
        }
        Of::Agents(agents) => {
            out.extend_from_slice(br#"{"agents":["#);
            for (index, agent) in agents.iter().enumerate() {
                let _ = write!(out, r#"{}"{agent}""#, if index == 0 { "" } else { "," });
            }
            out.push(b']');
        }
    }
    out.extend_from_slice(br#","slots":"#);
    write_spans(&mut out, found.query.slots(found.taken));
    if let Some(busy) = found.busy {
        out.extend_from_slice(br#","busy":"#);
        write_spans(&mut out, busy.spans().iter().copied());
    }
    if let Some(per_agent) = found.per_agent {
        out.extend_from_slice(br#","per_agent_busy":{"#);
        for (index, (agent, busy)) in per_agent.iter().enumerate() {
            let _ = write!(out, r#"{}"{agent}":"#, if index == 0 { "" } else { "," });
            write_spans(&mut out, busy.spans().iter().copied());
        }
        out.push(b'}');
    }
    let _ = write!(out, r#","availability_state":"{}","warnings":["#, found.state);
    for (index, warning) in found.warnings.iter().enumerate() {
        // A warning is a sentence without characters that JSON escapes.
        let _ = write!(out, r#"{}"{warning}""#, if index == 0 { "" } else { "," });
    }
    // base64url has no characters that JSON escapes.
    let _ = write!(out, r#"],"as_of":"{}"}}"#, found.as_of.to_text());
    Ok(out)
}

fn write_spans(out: &mut Vec<u8>, spans: impl Iterator<Item = Span>) {
    const START: usize = br#",{"start":""#.len();
    const END: usize = br#",{"start":"2026-03-02T09:00:00Z","end":""#.len();
    const INSTANT: usize = b"2026-03-02T09:00:00Z".len();
    let mut text = *br#",{"start":"0000-00-00T00:00:00Z","end":"0000-00-00T00:00:00Z"}"#;
    out.push(b'[');
    let mut days = Days::default();
    // The end that is in `text` already. Most slots start at the end of the one before.
    let mut written = None;
    // Skip the comma before the first span.
    let mut comma = 1;
    for span in spans {
        let goes_on = written == Some(span.start());
        if goes_on {
            text.copy_within(END..END + INSTANT, START);
        }
        if (goes_on || days.put(&mut text[START..], span.start())) && days.put(&mut text[END..], span.end()) {
            out.extend_from_slice(&text[comma..]);
            written = Some(span.end());
        } else {
            written = None;
            out.extend_from_slice(&text[comma..START]);
            span.start().write_iso(out);
            out.extend_from_slice(br#"","end":""#);
            span.end().write_iso(out);
            out.extend_from_slice(br#""}"#);
        }
        comma = 0;
    }
    out.push(b']');
}

/// Writes timestamps, which dominate the cost of a long answer. The date takes the most work, and most timestamps are
/// on the same day as the previous one, so the date is computed only once per day.
#[derive(Default)]
struct Days {
    /// The day's first microsecond and its date, up to the `T`.
    last: Option<(i64, [u8; Self::DATE])>,
}

impl Days {
    const DATE: usize = b"2026-03-02T".len();

    /// Overwrites the start of `text` with the timestamp, in the format of [`Timestamp::write_iso`]. There is no room
    /// for a fraction of a second: if the timestamp has one, nothing is written, and `false` is returned.
    fn put(&mut self, text: &mut [u8], instant: Timestamp) -> bool {
        const MICROS_A_DAY: i64 = 86_400_000_000;
        let micros = instant.as_micros();
        let (day, date) = match self.last {
            Some((day, date)) if (0..MICROS_A_DAY).contains(&micros.wrapping_sub(day)) => (day, date),
            _ => {
                let mut written = Vec::with_capacity(27);
                instant.write_iso(&mut written);
                let mut date = [0; Self::DATE];
                date.copy_from_slice(&written[..Self::DATE]);
                *self.last.insert((micros - micros.rem_euclid(MICROS_A_DAY), date))
            }
        };
        let inside = micros.wrapping_sub(day);
        let seconds = u32::try_from(inside / 1_000_000).unwrap_or(0);
        if i64::from(seconds) * 1_000_000 != inside {
            return false;
        }
        text[..Self::DATE].copy_from_slice(&date);
        for (place, value) in [(11, seconds / 3_600), (14, seconds / 60 % 60), (17, seconds % 60)] {
            // Both digits are below ten.
            text[place] = b'0' + u8::try_from(value / 10).unwrap_or(0);
            text[place + 1] = b'0' + u8::try_from(value % 10).unwrap_or(0);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use kalends_bridge::WarningKind;
    use kalends_kernel::Revision;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn a_rendered_answer_is_json() {
        let query = slot_query("2026-03-02T09:00:00Z", "2026-03-02T11:00:00Z", None, None).unwrap();
        let nine_to_ten = slot_query("2026-03-02T09:00:00Z", "2026-03-02T10:00:00Z", None, None).unwrap().window();
        let quarter = slot_query("2026-03-02T09:30:00Z", "2026-03-02T09:45:00Z", None, None).unwrap().window();
        let calendar: CalendarId = "cal_00000000000000000000000001".parse().unwrap();
        let (taken, busy) = (BusySet::from(nine_to_ten), BusySet::from(quarter));
        let as_of = AsOf { calendars: vec![(calendar, Revision(7))], humans: Vec::new() };
        let warnings: Vec<Warning> = [WarningKind::Unread, WarningKind::Stale]
            .into_iter()
            .flat_map(|about| [(1, false), (2, true)].map(|(calendars, allowed)| Warning { about, calendars, allowed }))
            .collect();
        let found = Found {
            of: Of::Calendar(calendar),
            query,
            taken: &taken,
            busy: Some(&busy),
            per_agent: None,
            state: bridge::AvailabilityState::Partial,
            warnings: &warnings,
            as_of: &as_of,
        };
        let answer: Value = serde_json::from_slice(&render(&found).unwrap()).unwrap();
        assert_eq!(
            answer,
            json!({
                "calendar_id": "cal_00000000000000000000000001",
                "slots": [
                    { "start": "2026-03-02T10:00:00Z", "end": "2026-03-02T10:30:00Z" },
                    { "start": "2026-03-02T10:30:00Z", "end": "2026-03-02T11:00:00Z" },
                ],
                "busy": [{ "start": "2026-03-02T09:30:00Z", "end": "2026-03-02T09:45:00Z" }],
                "availability_state": "partial",
                "warnings": warnings.iter().map(ToString::to_string).collect::<Vec<_>>(),
                "as_of": as_of.to_text(),
            })
        );
    }

    #[test]
    fn state_names_match_the_domain() {
        use bridge::AvailabilityState::{Complete, Partial, Stale, Unavailable};
        for state in [Complete, Stale, Partial, Unavailable] {
            assert_eq!(serde_json::to_value(AvailabilityState::from(state)).unwrap(), state.as_str());
        }
    }

    #[test]
    fn slot_step_is_independent_of_slot_duration() {
        let step = |length, step| slot_query("2026-03-02T09:00:00Z", "2026-03-02T11:00:00Z", length, step);
        let parsed = step(Some("1h"), Some("5m")).unwrap();
        assert_eq!((parsed.length().as_minutes(), parsed.step().as_minutes()), (60, 5));
        assert_eq!(step(Some("480m"), None).unwrap().step().as_minutes(), 480);
        for bad in ["4m", "481m", "30", ""] {
            let errors = step(None, Some(bad)).unwrap_err();
            assert_eq!(errors.first().param, "slot_step");
            assert!(errors.first().message.contains("5m to 480m or 1h to 8h"), "{}", errors.first().message);
        }
    }

    proptest! {
        /// Spans are written as JSON with the texts of their timestamps.
        #[test]
        fn spans_are_written_with_their_timestamps(
            micros in prop::collection::vec((0..Timestamp::HORIZON.as_micros() / 500_000 - 500_000, 1..200_000i64), 0..8),
        ) {
            // Half seconds, so that fractions are as frequent as whole seconds.
            let at = |halves: i64| Timestamp::from_micros(halves * 500_000);
            let spans: Vec<Span> =
                micros.iter().map(|(start, length)| Span::new(at(*start), at(start + length)).unwrap()).collect();
            let mut out = Vec::new();
            write_spans(&mut out, spans.iter().copied());
            let written: Value = serde_json::from_slice(&out).unwrap();
            let expected: Vec<Value> = spans
                .iter()
                .map(|span| json!({ "start": span.start().to_string(), "end": span.end().to_string() }))
                .collect();
            prop_assert_eq!(written, Value::from(expected));
        }
    }

    #[test]
    fn every_invalid_parameter_is_named() {
        let errors = slot_query("today", "2026", Some("7"), Some("0m")).unwrap_err();
        assert_eq!(
            errors.iter().map(|error| error.param.as_str()).collect::<Vec<_>>(),
            ["start", "end", "slot_duration", "slot_step"]
        );
        let errors = slot_query("2026-03-02T11:00:00Z", "2026-03-02T09:00:00Z", None, None).unwrap_err();
        assert_eq!((errors.first().param.as_str(), errors.first().code), ("end", Some(Code::EndBeforeStart)));
        assert_eq!(
            slot_query("2026-01-01T00:00:00Z", "2027-01-03T00:00:00Z", None, None).unwrap_err().first().param,
            "end"
        );
    }
}
