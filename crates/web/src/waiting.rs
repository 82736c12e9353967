//! What waits for a decision of somebody. The page is in English, like the console, and works without scripts.
//!
//! Each kind has a section of its own: what it shows, whether it is empty, and a template.

use askama::Template;
use kalends_time::{CivilDate, SignedDuration, Span, Timestamp, Zone};

use crate::{
    calendar::event_time,
    english::in_english,
    join::with_article,
    link::with,
    paging::Paging,
    shell::{Done, Shell},
    time::{in_utc, zone_of},
};

/// The page with everything that waits.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "waiting.html")]
pub struct Waiting<'a> {
    /// The frame.
    pub shell: &'a Shell,
    /// What a form did.
    pub done: Done,
    /// The current time.
    pub now: Timestamp,
    /// What this browser has opened and not decided yet.
    pub opened: &'a OpenedHere,
    /// The writes that wait for approval.
    pub approvals: ApprovalsWaiting<'a>,
    /// The holds that expire first.
    pub holds: HoldsWaiting<'a>,
    /// The pending proposals.
    pub proposals: ProposalsWaiting<'a>,
    /// The user's claims that have not taken effect yet.
    pub claims: &'a [ClaimWaiting],
    /// The open invitations that the organization has sent. 0 if the user may not manage them.
    pub invitations: usize,
}

/// What a browser has opened by the link of an email or a message.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OpenedHere {
    /// The invitation, if the user can accept it.
    pub invitation: Option<InvitationWaiting>,
    /// Whether there is a connection link. It belongs to the user only after its page was opened, so nothing more is
    /// known.
    pub has_link: bool,
}

/// An invitation that the user can accept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvitationWaiting {
    /// The name of the organization.
    pub organization: String,
    /// The role, as the API names it.
    pub role: &'static str,
}

impl OpenedHere {
    const fn is_empty(&self) -> bool {
        self.invitation.is_none() && !self.has_link
    }

    const fn invitation(&self) -> Option<&InvitationWaiting> {
        self.invitation.as_ref()
    }
}

impl InvitationWaiting {
    fn role_text(&self) -> String {
        with_article(self.role)
    }
}

/// Writes that wait for approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ApprovalsWaiting<'a> {
    /// Those that expire first.
    pub entries: &'a [ApprovalWaiting],
    /// The number of all.
    pub total: u64,
    /// Whether the user may decide.
    pub may_decide: bool,
}

/// A write that waits for approval.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovalWaiting {
    /// The identifier.
    pub id: String,
    /// What would happen, in one sentence.
    pub summary: String,
    /// The name of the agent whose key asks.
    pub agent: String,
    /// When it was asked for.
    pub created_at: Timestamp,
    /// When it expires.
    pub expires_at: Timestamp,
}

impl ApprovalsWaiting<'_> {
    /// Whether there are others, which expire later.
    fn has_more(&self) -> bool {
        u64::try_from(self.entries.len()).is_ok_and(|shown| shown < self.total)
    }
}

impl ApprovalWaiting {
    pub(crate) fn created(&self) -> String {
        in_utc(self.created_at)
    }

    pub(crate) fn expires(&self) -> String {
        in_utc(self.expires_at)
    }
}

/// Holds that have not expired.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HoldsWaiting<'a> {
    /// Those that expire first.
    pub entries: &'a [HoldWaiting],
    /// Whether the user may confirm and release them.
    pub may_end: bool,
    /// Whether there are others, which expire later.
    pub has_more: bool,
}

/// A hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HoldWaiting {
    /// The identifier of the event.
    pub id: String,
    /// The title.
    pub title: String,
    /// The name of its calendar.
    pub calendar: String,
    /// The zone of its calendar.
    pub zone: Zone,
    /// When it takes place.
    pub span: Span,
    /// The first and the last date, if it takes whole days.
    pub dates: Option<(CivilDate, CivilDate)>,
    /// When it expires.
    pub expires_at: Timestamp,
    /// The random key of the forms about this hold.
    pub once: String,
}

impl HoldWaiting {
    fn href(&self) -> String {
        with(&format!("/console/calendar/events/{}", self.id), &[("tz", &self.zone)])
    }

    fn when(&self) -> String {
        event_time(self.span, self.dates, self.zone)
    }

    fn zone_text(&self) -> String {
        zone_of(self.zone, [self.span.start(), self.span.end()])
    }

    fn expires(&self) -> String {
        in_utc(self.expires_at)
    }
}

/// Pending proposals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProposalsWaiting<'a> {
    /// Those of this page of the list, the oldest first.
    pub entries: &'a [ProposalWaiting],
    /// Where in the list it is.
    pub paging: &'a Paging,
    /// Whether the user may open the list of all proposals.
    pub has_list: bool,
}

/// A pending proposal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProposalWaiting {
    /// The identifier.
    pub id: String,
    /// The title.
    pub title: String,
    /// The name of the agent that organizes it.
    pub organizer: String,
    /// When it expires.
    pub expires_at: Timestamp,
    /// The number of participants that have answered.
    pub answered: usize,
    /// The number of participants.
    pub participants: usize,
}

impl ProposalWaiting {
    pub(crate) fn expires(&self) -> String {
        in_utc(self.expires_at)
    }

    pub(crate) fn answers(&self) -> String {
        answers(self.answered, self.participants)
    }
}

/// How many have answered.
pub(crate) fn answers(answered: usize, participants: usize) -> String {
    if answered == participants { format!("all {participants}") } else { format!("{answered} of {participants}") }
}

/// A claim of the user that has not taken effect yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimWaiting {
    /// The identifier.
    pub id: String,
    /// The identifier of the organization; empty as long as the user has not proved to read its mail.
    pub org: String,
    /// What it waits for.
    pub wait: ClaimWait,
}

/// What a claim waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClaimWait {
    /// The code from the email, which works until then.
    Code(Timestamp),
    /// The time at which it takes effect.
    Effect(Timestamp),
}

impl ClaimWaiting {
    fn needs_code(&self) -> bool {
        matches!(self.wait, ClaimWait::Code(_))
    }

    fn explanation(&self) -> String {
        match self.wait {
            ClaimWait::Code(until) => {
                format!("It waits for the code from the email, which works until {}.", in_utc(until))
            }
            ClaimWait::Effect(at) => format!(
                "It takes effect at {}. You are then an owner of the organization. Until then, people who read the \
                 organization's mail can revoke the claim with the link that was sent there.",
                in_utc(at)
            ),
        }
    }
}

impl Waiting<'_> {
    fn is_empty(&self) -> bool {
        self.opened.is_empty()
            && self.approvals.entries.is_empty()
            && self.holds.entries.is_empty()
            && self.proposals.paging.total == 0
            && self.claims.is_empty()
    }

    fn ends(&self, hold: &HoldWaiting) -> String {
        ends_in(hold.expires_at - self.now)
    }
}

/// When a hold ends, such as `ends in 4 minutes`. Minutes are rounded up, longer times down.
fn ends_in(left: SignedDuration) -> String {
    let minutes = (left.as_seconds().max(0) + 59) / 60;
    match minutes {
        ..=1 => "ends within a minute".to_owned(),
        2..120 => format!("ends in {minutes} minutes"),
        120..2_880 => format!("ends in {} hours", minutes / 60),
        _ => format!("ends in {} days", minutes / 1_440),
    }
}

in_english!(Waiting<'_>);

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(-5, "ends within a minute")]
    #[case(60, "ends within a minute")]
    #[case(61, "ends in 2 minutes")]
    #[case(240, "ends in 4 minutes")]
    #[case(7_140, "ends in 119 minutes")]
    #[case(7_200, "ends in 2 hours")]
    #[case(172_799, "ends in 2 days")]
    #[case(604_800, "ends in 7 days")]
    fn holds_say_when_they_end(#[case] seconds: i64, #[case] text: &str) {
        assert_eq!(ends_in(SignedDuration::seconds(seconds)), text);
    }

    #[rstest]
    #[case(0, 3, "0 of 3")]
    #[case(2, 3, "2 of 3")]
    #[case(3, 3, "all 3")]
    fn answers_are_counted(#[case] answered: usize, #[case] participants: usize, #[case] text: &str) {
        assert_eq!(answers(answered, participants), text);
    }
}
