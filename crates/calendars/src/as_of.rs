//! The state that an availability response was computed from. A caller sends it back to show which state its decision
//! was based on.

use std::collections::BTreeSet;

use kalends_kernel::{AgentId, CalendarId, FieldError, HumanSource, Revision, base64url, from_base64url};
use uuid::Uuid;

use crate::bytes::take;

/// The maximum number of calendars in an `as_of` that is sent back.
pub const AS_OF_CALENDARS_MAX: usize = 1_000;
/// The maximum number of human calendars in an `as_of` that is sent back. A human calendar counts once for each
/// calendar or agent that it applies to.
pub const AS_OF_HUMANS_MAX: usize = 10_000;

/// The revisions that an availability response was computed from, or older ones. They are never newer than the state in
/// the response.
///
/// The text form is opaque to callers: a compact binary form in base64url.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AsOf {
    /// Each calendar with its revision.
    pub calendars: Vec<(CalendarId, Revision)>,
    /// Each human calendar that counted. Those for calendars come before those for agents.
    pub humans: Vec<HumanAsOf>,
}

/// The calendar or agent that a human calendar counts for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum HumanFor {
    /// A calendar. Its rules apply to the busy times.
    Calendar(CalendarId),
    /// An agent without calendars.
    Agent(AgentId),
}

impl From<CalendarId> for HumanFor {
    fn from(calendar: CalendarId) -> Self {
        Self::Calendar(calendar)
    }
}

impl From<AgentId> for HumanFor {
    fn from(agent: AgentId) -> Self {
        Self::Agent(agent)
    }
}

/// A human calendar that counted for a calendar or an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HumanAsOf {
    /// The calendar or agent that it counted for.
    pub of: HumanFor,
    /// The human calendar.
    pub source: HumanSource,
    /// Its revision.
    pub revision: Revision,
}

/// The first byte, which identifies the format.
const FORMAT: u8 = 1;
/// The maximum number of bytes of an entry: two identifiers and a revision.
const ENTRY_BYTES: usize = 16 + 16 + VARINT_BYTES;
/// The maximum number of bytes of a 64-bit number, at seven bits a byte.
const VARINT_BYTES: usize = 10;
/// The longest text that is parsed.
const CHARACTERS_MAX: usize = (AS_OF_CALENDARS_MAX + AS_OF_HUMANS_MAX) * ENTRY_BYTES * 4 / 3 + 64;

impl AsOf {
    /// The text form.
    pub fn to_text(&self) -> String {
        let mut bytes = Vec::with_capacity(8 + (self.calendars.len() + self.humans.len()) * ENTRY_BYTES);
        bytes.push(FORMAT);
        write_number(&mut bytes, self.calendars.len() as u64);
        for (calendar, revision) in &self.calendars {
            bytes.extend(calendar.uuid().as_bytes());
            write_number(&mut bytes, revision.0.unsigned_abs());
        }
        let of_calendars = self.humans.iter().filter_map(|human| match human.of {
            HumanFor::Calendar(calendar) => Some((calendar.uuid(), human)),
            HumanFor::Agent(_) => None,
        });
        write_humans(&mut bytes, of_calendars.collect());
        let of_agents = self.humans.iter().filter_map(|human| match human.of {
            HumanFor::Agent(agent) => Some((agent.uuid(), human)),
            HumanFor::Calendar(_) => None,
        });
        let of_agents: Vec<_> = of_agents.collect();
        // They are rare. Leaving an empty list out keeps the text readable for code that does not know it.
        if !of_agents.is_empty() {
            write_humans(&mut bytes, of_agents);
        }
        base64url(&bytes)
    }

    /// Reads the field `param`.
    ///
    /// # Errors
    /// If the text is not an `as_of`, or names more than [`AS_OF_CALENDARS_MAX`] calendars or
    /// [`AS_OF_HUMANS_MAX`] human calendars.
    pub fn parse(param: &str, text: &str) -> Result<Self, FieldError> {
        let malformed = || {
            let excerpt: String = text.chars().take(40).collect();
            FieldError::new(param, format!("must be the unchanged as_of of an availability response, got {excerpt:?}"))
        };
        if text.len() > CHARACTERS_MAX {
            return Err(malformed());
        }
        let bytes = from_base64url(text).ok_or_else(malformed)?;
        let (format, mut rest) = bytes.split_first().ok_or_else(malformed)?;
        if *format != FORMAT {
            return Err(malformed());
        }
        let count = read_number(&mut rest).ok_or_else(malformed)?;
        let calendars = bounded(param, count, AS_OF_CALENDARS_MAX, "calendars")?;
        let calendars = (0..calendars).map(|_| Some((read_calendar(&mut rest)?, read_revision(&mut rest)?)));
        let calendars: Vec<(CalendarId, Revision)> = calendars.collect::<Option<_>>().ok_or_else(malformed)?;
        // Refuse duplicates: each entry costs a check later.
        if calendars.iter().map(|(calendar, _)| calendar).collect::<BTreeSet<_>>().len() < calendars.len() {
            return Err(malformed());
        }
        let count = read_number(&mut rest).ok_or_else(malformed)?;
        bounded(param, count, AS_OF_HUMANS_MAX, "human calendars")?;
        let humans = (0..count).map(|_| read_human(&mut rest, |id| CalendarId::from_uuid(id).into()));
        let mut humans: Vec<HumanAsOf> = humans.collect::<Option<_>>().ok_or_else(malformed)?;
        if !rest.is_empty() {
            // Canonical form: an empty list must be left out.
            let of_agents = read_number(&mut rest).filter(|count| *count > 0).ok_or_else(malformed)?;
            bounded(param, of_agents.saturating_add(count), AS_OF_HUMANS_MAX, "human calendars")?;
            let of_agents = (0..of_agents).map(|_| read_human(&mut rest, |id| AgentId::from_uuid(id).into()));
            humans.extend(of_agents.collect::<Option<Vec<_>>>().ok_or_else(malformed)?);
        }
        if rest.is_empty() { Ok(Self { calendars, humans }) } else { Err(malformed()) }
    }
}

fn bounded(param: &str, count: u64, most: usize, of: &str) -> Result<usize, FieldError> {
    usize::try_from(count).ok().filter(|count| *count <= most).ok_or_else(|| {
        let message = format!("must name at most {most} {of}, got {count}; ask for the availability of fewer");
        FieldError::new(param, message)
    })
}

fn write_humans(bytes: &mut Vec<u8>, humans: Vec<(Uuid, &HumanAsOf)>) {
    write_number(bytes, humans.len() as u64);
    for (of, human) in humans {
        bytes.extend(of.as_bytes());
        bytes.extend(human.source.0.to_be_bytes());
        write_number(bytes, human.revision.0.unsigned_abs());
    }
}

fn read_human(bytes: &mut &[u8], of: impl Fn(Uuid) -> HumanFor) -> Option<HumanAsOf> {
    let of = of(Uuid::from_bytes(take(bytes)?));
    let source = HumanSource(u128::from_be_bytes(take(bytes)?));
    Some(HumanAsOf { of, source, revision: read_revision(bytes)? })
}

fn read_calendar(bytes: &mut &[u8]) -> Option<CalendarId> {
    take(bytes).map(|id| CalendarId::from_uuid(Uuid::from_bytes(id)))
}

fn read_revision(bytes: &mut &[u8]) -> Option<Revision> {
    i64::try_from(read_number(bytes)?).ok().map(Revision)
}

/// Writes seven bits a byte, lowest first. The eighth bit is set if more bytes follow.
fn write_number(bytes: &mut Vec<u8>, mut number: u64) {
    loop {
        let low = u8::try_from(number & 0x7f).unwrap_or(0);
        number >>= 7;
        if number == 0 {
            bytes.push(low);
            return;
        }
        bytes.push(low | 0x80);
    }
}

fn read_number(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for place in 0..VARINT_BYTES {
        let [byte] = take(bytes)?;
        let low = u64::from(byte & 0x7f);
        number |= low.checked_shl(u32::try_from(place * 7).ok()?).filter(|shifted| shifted >> (place * 7) == low)?;
        if byte & 0x80 == 0 {
            // Canonical form: the last byte is not zero, unless it is the only one.
            return (byte != 0 || place == 0).then_some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn calendar(number: u128) -> CalendarId {
        CalendarId::from_uuid(Uuid::from_u128(number))
    }

    fn message(text: &str) -> String {
        let error = AsOf::parse("if_as_of", text).unwrap_err();
        assert_eq!(error.param, "if_as_of");
        error.message
    }

    #[test]
    fn a_malformed_as_of_is_refused() {
        let some = AsOf { calendars: vec![(calendar(1), Revision(300))], humans: Vec::new() }.to_text();
        let mut bytes = from_base64url(&some).unwrap();
        bytes[0] = 2;
        let other_format = base64url(&bytes);
        for text in ["", "AQ", "now", &some[..some.len() - 2], &format!("{some}AAAA"), &other_format, "é"] {
            assert!(message(text).contains("unchanged as_of"), "{text}");
        }
        assert!(message(&"A".repeat(CHARACTERS_MAX + 1)).len() < 200);
    }

    #[test]
    fn an_as_of_with_too_many_calendars_is_refused() {
        let of = |count: usize| AsOf {
            calendars: (0..count as u128).map(|number| (calendar(number), Revision(1))).collect(),
            humans: Vec::new(),
        };
        let most = of(AS_OF_CALENDARS_MAX);
        assert_eq!(AsOf::parse("if_as_of", &most.to_text()), Ok(most));
        let refused = message(&of(AS_OF_CALENDARS_MAX + 1).to_text());
        assert!(refused.contains("at most 1000 calendars, got 1001"), "{refused}");
        let human = |of| HumanAsOf { of, source: HumanSource(1), revision: Revision(1) };
        let both = |agents: usize| {
            let (of_calendar, of_agent) = (human(calendar(1).into()), human(AgentId::from_uuid(Uuid::nil()).into()));
            let humans = [vec![of_calendar; AS_OF_HUMANS_MAX - 1], vec![of_agent; agents]].concat();
            AsOf { calendars: Vec::new(), humans }
        };
        assert_eq!(AsOf::parse("if_as_of", &both(1).to_text()), Ok(both(1)));
        assert!(message(&both(2).to_text()).contains("at most 10000 human calendars, got 10001"));
        // A claimed count must not allocate memory.
        let mut claims = vec![FORMAT];
        write_number(&mut claims, u64::MAX);
        assert!(message(&base64url(&claims)).contains("at most 1000"));
    }

    proptest! {
        /// Every `as_of` is read back from its text.
        #[test]
        fn an_as_of_round_trips(
            calendars in prop::collection::vec((any::<u128>(), 0..=i64::MAX), 0..9),
            humans in prop::collection::vec((any::<bool>(), any::<u128>(), any::<u128>(), 0..=i64::MAX), 0..9),
        ) {
            let mut humans: Vec<_> = humans
                .into_iter()
                .map(|(agent, id, source, revision)| {
                    let agent = agent.then(|| AgentId::from_uuid(Uuid::from_u128(id)).into());
                    let of = agent.unwrap_or_else(|| HumanFor::from(calendar(id)));
                    HumanAsOf { of, source: HumanSource(source), revision: Revision(revision) }
                })
                .collect();
            humans.sort_by_key(|human| matches!(human.of, HumanFor::Agent(_)));
            let as_of = AsOf {
                calendars: calendars.into_iter().map(|(id, revision)| (calendar(id), Revision(revision))).collect(),
                humans,
            };
            prop_assert_eq!(AsOf::parse("if_as_of", &as_of.to_text()), Ok(as_of));
        }

        /// Any text is refused as an `as_of`, or is the only text of the one that is read.
        #[test]
        fn any_text_is_refused_or_canonical(bytes in prop::collection::vec(any::<u8>(), 0..80), text: String) {
            let mut forged = vec![FORMAT];
            forged.extend(bytes);
            for text in [base64url(&forged), text] {
                if let Ok(as_of) = AsOf::parse("if_as_of", &text) {
                    prop_assert_eq!(as_of.to_text(), text, "an as_of has one text form");
                }
            }
        }
    }
}
