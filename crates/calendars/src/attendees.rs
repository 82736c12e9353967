//! The people who take part in an event.

use std::{fmt, sync::Arc};

use kalends_kernel::{
    AgentId, Email, EventId, FieldError, FieldErrors, OrgId, base64url, bounded_text, from_base64url,
};
use kalends_time::Timestamp;
use subtle::ConstantTimeEq as _;

use crate::{bytes::take, named_values};

/// The maximum number of attendees of one event.
pub const ATTENDEES_MAX: usize = 200;
/// The maximum number of characters in an attendee's name.
pub const ATTENDEE_NAME_MAX: usize = 200;
/// The maximum number of bytes that the names and addresses of one event's attendees take together.
pub const ATTENDEES_BYTES_MAX: usize = 32_768;
/// The maximum number of characters in the note of a reply.
pub const REPLY_NOTE_MAX: usize = 500;

named_values! {
    /// Whether an attendee has to be there.
    #[derive(Default)]
    pub enum AttendeeRole {
        /// Has to be there (`REQ-PARTICIPANT` in RFC 5545, section 3.2.16).
        #[default]
        Required = "required",
        /// May be there (`OPT-PARTICIPANT`).
        Optional = "optional",
    }
}

named_values! {
    /// An attendee's answer to the invitation.
    #[derive(Default)]
    pub enum AttendeeStatus {
        /// There is none yet.
        #[default]
        NeedsAction = "needs_action",
        /// The attendee will be there.
        Accepted = "accepted",
        /// The attendee may be there.
        Tentative = "tentative",
        /// The attendee will not be there.
        Declined = "declined",
    }
}

/// Somebody who takes part in an event. Personal data: sealed at rest, never logged, and never in a public feed.
#[derive(Clone, PartialEq, Eq)]
pub struct Attendee {
    /// The address, which identifies the attendee within the event.
    pub email: Email,
    /// A name on one line, of at most [`ATTENDEE_NAME_MAX`] characters.
    pub name: Option<String>,
    /// Whether the attendee has to be there.
    pub role: AttendeeRole,
    /// The agent that the attendee is, or that acts for the attendee.
    pub agent: Option<AgentId>,
    /// The reply.
    pub status: AttendeeStatus,
    /// When the attendee replied; `None` before that.
    pub responded_at: Option<Timestamp>,
    /// The secret of the attendee's link; `None` until the first invitation.
    pub secret: Option<ReplySecret>,
}

impl fmt::Debug for Attendee {
    /// Omits the name and the secret. An [`Email`] shows only its domain.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Attendee")
            .field("email", &self.email)
            .field("role", &self.role)
            .field("status", &self.status)
            .finish_non_exhaustive()
    }
}

/// The attendees of one event, in the caller's order. Instances of a series share them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Attendees(Option<Arc<[Attendee]>>);

/// The secret part of the link with which an attendee replies: 128 random bits.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ReplySecret(pub [u8; 16]);

impl fmt::Debug for ReplySecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ReplySecret(…)")
    }
}

/// The token of the link with which an attendee replies. It names the event and contains the attendee's secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplyToken {
    /// The organization.
    pub org: OrgId,
    /// The event: a one-off event or a series.
    pub event: EventId,
    /// The original start of the occurrence, if the link is for a changed occurrence of a series.
    pub occurrence: Option<Timestamp>,
    /// The attendee's secret.
    pub secret: ReplySecret,
}

impl ReplyToken {
    /// The text for an address: 64 characters of base64url, or 75 for an occurrence.
    pub fn reveal(&self) -> String {
        let parts = [self.org.uuid().into_bytes(), self.event.uuid().into_bytes(), self.secret.0];
        let mut bytes = parts.as_flattened().to_vec();
        bytes.extend(self.occurrence.map(|start| start.as_micros().to_be_bytes()).into_iter().flatten());
        base64url(&bytes)
    }

    /// The token from an address; `None` if the text cannot be one.
    pub fn presented(text: &str) -> Option<Self> {
        if text.len() > 75 {
            return None;
        }
        let bytes = from_base64url(text)?;
        let mut rest = bytes.as_slice();
        let org = OrgId::from_bytes(take(&mut rest)?);
        let event = EventId::from_bytes(take(&mut rest)?);
        let secret = ReplySecret(take(&mut rest)?);
        let occurrence = match rest {
            [] => None,
            start => Some(Timestamp::from_micros(i64::from_be_bytes(start.try_into().ok()?))),
        };
        Some(Self { org, event, occurrence, secret })
    }
}

impl Attendee {
    /// An attendee who has not replied. `param` is the attendee's place in the request, such as `attendees[2]`.
    ///
    /// # Errors
    /// Every invalid field, such as `attendees[2].email`.
    pub fn parse(
        param: &str,
        email: &str,
        name: Option<&str>,
        role: AttendeeRole,
        agent: Option<&str>,
    ) -> Result<Self, FieldErrors> {
        let mut errors = FieldErrors::default();
        let email = errors.take(Email::parse(&format!("{param}.email"), email));
        let name = errors.take(name.map(|name| one_line(&format!("{param}.name"), name)).transpose());
        let agent = agent.map(|text| text.parse().map_err(|_| no_such_agent(param)));
        let agent = errors.take(agent.transpose());
        match (email, name, agent) {
            (Some(email), Some(name), Some(agent)) => Ok(Self {
                email,
                name,
                role,
                agent,
                status: AttendeeStatus::NeedsAction,
                responded_at: None,
                secret: None,
            }),
            _ => Err(errors),
        }
    }
}

/// The error for the `agent_id` of an attendee if the organization has no such agent.
pub fn no_such_agent(param: &str) -> FieldError {
    let message = "must be the id of an agent of your organization; GET /v1/agents lists them";
    FieldError::new(format!("{param}.agent_id"), message)
}

/// The error for invitations to a hold.
pub fn not_for_holds() -> FieldError {
    let message =
        "must be false for a hold, which may be gone in minutes; confirm it, then PATCH it with send_invitations";
    FieldError::new("send_invitations", message)
}

fn one_line(param: &str, name: &str) -> Result<String, FieldError> {
    let name = bounded_text(param, name, 1, ATTENDEE_NAME_MAX)?;
    if name.chars().any(|letter| letter.is_control() || matches!(letter, '\u{2028}' | '\u{2029}')) {
        return Err(FieldError::new(param, "must be on one line, without control characters"));
    }
    Ok(name)
}

impl Attendees {
    /// The attendees in that order, each with an address of its own.
    ///
    /// # Errors
    /// There are more than [`ATTENDEES_MAX`], they take more than [`ATTENDEES_BYTES_MAX`], or two have the same address,
    /// such as `attendees[3].email`.
    pub fn new(attendees: Vec<Attendee>) -> Result<Self, FieldErrors> {
        Self::fits(attendees.len())?;
        let mut errors = FieldErrors::default();
        for (index, attendee) in attendees.iter().enumerate() {
            if attendees.iter().take(index).any(|earlier| earlier.email == attendee.email) {
                let message = "must be another address: an attendee before has the same";
                errors.push(FieldError::new(format!("attendees[{index}].email"), message));
            }
        }
        let attendees = Self::from_stored(attendees);
        let bytes = attendees.bytes();
        if bytes > ATTENDEES_BYTES_MAX {
            let message = format!(
                "must take at most {ATTENDEES_BYTES_MAX} bytes, all names and addresses together, got {bytes}; shorten \
                 the names"
            );
            errors.push(FieldError::new("attendees", message));
        }
        errors.finish()?;
        Ok(attendees)
    }

    /// Checks the number of attendees, before they are read.
    ///
    /// # Errors
    /// There are more than [`ATTENDEES_MAX`].
    pub fn fits(count: usize) -> Result<(), FieldError> {
        if count <= ATTENDEES_MAX {
            return Ok(());
        }
        let message =
            format!("must hold at most {ATTENDEES_MAX} attendees, got {count}; invite a list's address instead");
        Err(FieldError::new("attendees", message))
    }

    /// Attendees that were checked before they were stored.
    pub fn from_stored(attendees: Vec<Attendee>) -> Self {
        if attendees.is_empty() { Self(None) } else { Self(Some(attendees.into())) }
    }

    /// The attendees.
    pub fn as_slice(&self) -> &[Attendee] {
        self.0.as_deref().unwrap_or_default()
    }

    /// Whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// The attendee with that address.
    pub fn get(&self, email: &Email) -> Option<&Attendee> {
        self.as_slice().iter().find(|attendee| attendee.email == *email)
    }

    /// The attendee whose link has that secret.
    pub fn with_secret(&self, secret: ReplySecret) -> Option<&Attendee> {
        let same = |known: &ReplySecret| bool::from(known.0.ct_eq(&secret.0));
        self.as_slice().iter().find(|attendee| attendee.secret.as_ref().is_some_and(same))
    }

    /// The number of bytes of the names and addresses.
    pub fn bytes(&self) -> usize {
        let of = |attendee: &Attendee| attendee.email.as_str().len() + attendee.name.as_ref().map_or(0, String::len);
        self.as_slice().iter().map(of).sum()
    }

    /// Whether the same people are asked in the same way. Their replies may differ.
    pub(crate) fn asks_the_same(&self, other: &Self) -> bool {
        let asked = |attendees: &Self| -> Vec<_> {
            let of = attendees.as_slice().iter();
            of.map(|one| (one.email.clone(), one.name.clone(), one.role, one.agent)).collect()
        };
        asked(self) == asked(other)
    }

    /// These attendees in place of `before`. The attendees that stay keep their reply and their link.
    #[must_use]
    pub(crate) fn instead_of(&self, before: &Self) -> Self {
        self.each(|attendee| {
            if let Some(known) = before.get(&attendee.email) {
                (attendee.status, attendee.responded_at) = (known.status, known.responded_at);
                attendee.secret = known.secret.or(attendee.secret);
            }
        })
    }

    /// These attendees with the links of those who are also among `current`, so that these links stay valid.
    #[must_use]
    pub fn with_links_of(&self, current: &Self) -> Self {
        self.each(|attendee| {
            if let Some(known) = current.get(&attendee.email) {
                attendee.secret = known.secret.or(attendee.secret);
            }
        })
    }

    /// The attendees of an override, after those of its series, which were `before`, became `after`. The series' list is
    /// also the override's, unless that has its own. A reply for the series was also one for the override, so it goes
    /// with that of the series. Somebody who leaves the series keeps the link to it, because the override still needs
    /// one.
    #[must_use]
    pub(crate) fn following(&self, before: &Self, after: &Self) -> Self {
        let follows = self.asks_the_same(before) && !after.asks_the_same(before);
        let list = if follows { after.instead_of(self) } else { self.clone() };
        let reply = |of: &Attendee| (of.status, of.responded_at);
        list.each(|attendee| match (before.get(&attendee.email), after.get(&attendee.email)) {
            (Some(known), Some(new)) if reply(attendee) == reply(known) => {
                (attendee.status, attendee.responded_at) = reply(new);
            }
            (Some(known), None) => attendee.secret = attendee.secret.or(known.secret),
            _ => {}
        })
    }

    /// These attendees before they replied: the event takes place at another time, so that their replies mean nothing
    /// any more (RFC 6638, section 3.2.8).
    #[must_use]
    pub(crate) fn asked_again(&self) -> Self {
        self.each(|attendee| (attendee.status, attendee.responded_at) = (AttendeeStatus::NeedsAction, None))
    }

    pub(crate) fn each(&self, change: impl Fn(&mut Attendee)) -> Self {
        let mut attendees = self.as_slice().to_vec();
        attendees.iter_mut().for_each(change);
        Self::from_stored(attendees)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    fn attendee(email: &str) -> Attendee {
        Attendee::parse("attendees[0]", email, None, AttendeeRole::Required, None).unwrap()
    }

    #[rstest]
    #[case::no_address("ada", None, None, "attendees[1].email")]
    #[case::a_header("ada@example.com\r\nBcc: eve@example.com", None, None, "attendees[1].email")]
    #[case::two_lines("ada@example.com", Some("Ada\r\nATTENDEE:mailto:eve@example.com"), None, "attendees[1].name")]
    #[case::a_separator("ada@example.com", Some("Ada\u{2028}Eve"), None, "attendees[1].name")]
    #[case::a_blank_name("ada@example.com", Some(" "), None, "attendees[1].name")]
    #[case::no_agent("ada@example.com", None, Some("ada"), "attendees[1].agent_id")]
    fn bad_attendees_are_refused(
        #[case] email: &str,
        #[case] name: Option<&str>,
        #[case] agent: Option<&str>,
        #[case] param: &str,
    ) {
        let refused = Attendee::parse("attendees[1]", email, name, AttendeeRole::Optional, agent).unwrap_err();
        assert_eq!(refused.first().param, param);
    }

    #[test]
    fn lists_are_bounded_and_addresses_are_distinct() {
        let numbered = |count: usize| (0..count).map(|index| attendee(&format!("a{index}@example.com"))).collect();
        assert_eq!(Attendees::new(numbered(ATTENDEES_MAX)).unwrap().as_slice().len(), ATTENDEES_MAX);
        assert_eq!(Attendees::new(numbered(ATTENDEES_MAX + 1)).unwrap_err().first().param, "attendees");
        let twice = vec![attendee("ada@example.com"), attendee("eve@example.com"), attendee("ADA@example.com")];
        assert_eq!(Attendees::new(twice).unwrap_err().first().param, "attendees[2].email");
        let long: Vec<Attendee> = numbered(100);
        let named = |attendee| Attendee { name: Some("ü".repeat(ATTENDEE_NAME_MAX)), ..attendee };
        let refused = Attendees::new(long.into_iter().map(named).collect()).unwrap_err();
        assert!(refused.to_string().contains("at most 32768 bytes"), "{refused}");
    }

    proptest! {
        /// A token is read back from its text, and a part of the text is none.
        #[test]
        fn tokens_are_read_back(org: [u8; 16], event: [u8; 16], secret: [u8; 16], start: Option<i64>) {
            let token = ReplyToken {
                org: OrgId::from_bytes(org),
                event: EventId::from_bytes(event),
                occurrence: start.map(Timestamp::from_micros),
                secret: ReplySecret(secret),
            };
            let text = token.reveal();
            prop_assert_eq!(text.len(), if start.is_some() { 75 } else { 64 });
            prop_assert_eq!(ReplyToken::presented(&text), Some(token));
            prop_assert_eq!(ReplyToken::presented(&text[1..]), None);
        }
    }
}
