//! The page of an invitation, on which an attendee replies.

use askama::Template;
use kalends_i18n::{Sentence, Translator};
use kalends_time::{SignedDuration, Span};

use crate::form::too_long;
use crate::link::{Href, Path};
use crate::page::DisplaySettings;

/// An attendee's reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reply {
    /// The attendee will be there.
    Accepted,
    /// The attendee may be there.
    Tentative,
    /// The attendee will not be there.
    Declined,
}

/// Why a reply was not recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplyProblem {
    /// None of the replies was chosen.
    NoReply,
    /// The note is too long, or has characters that cannot be kept.
    Note,
}

/// What the page says about the reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InvitationState {
    /// The attendee can reply. Contains the reply so far.
    Open(Option<Reply>),
    /// The reply has just been recorded. It can still be changed.
    Recorded(Reply),
    /// The event is cancelled.
    Cancelled,
    /// The event is over.
    Over,
}

/// An invitation, as its attendee sees it. It shows no other attendee.
#[derive(Debug, Clone, Template)]
#[template(path = "invitation.html")]
pub struct Invitation<'a> {
    /// The address of the page, to which the reply is sent.
    pub path: &'a Path,
    /// The title of the event.
    pub title: &'a str,
    /// Who invites.
    pub organizer: &'a str,
    /// How times are shown to the attendee.
    pub shown: DisplaySettings<'a>,
    /// When the event takes place; for a series, its first occurrence.
    pub slot: Span,
    /// Whether it takes whole days.
    pub all_day: bool,
    /// Whether it is a series.
    pub repeats: bool,
    /// Where it takes place.
    pub location: Option<&'a str>,
    /// The address of its call.
    pub call: Option<&'a Href>,
    /// What it is about, as plain text with line breaks.
    pub description: Option<&'a str>,
    /// The attendee's address.
    pub email: &'a str,
    /// What the page says about the reply.
    pub state: InvitationState,
    /// The attendee's note, if it could not be recorded.
    pub note: &'a str,
    /// Why the reply was not recorded.
    pub problem: Option<ReplyProblem>,
    /// The maximum number of characters of the note.
    pub note_max: usize,
}

impl Reply {
    const fn message(self) -> &'static str {
        match self {
            Self::Accepted => "you-accepted",
            Self::Tentative => "you-replied-maybe",
            Self::Declined => "you-declined",
        }
    }
}

impl Invitation<'_> {
    /// The page.
    pub fn html(&self) -> String {
        crate::render(self)
    }

    /// Where the form is sent. The answer shows the same zone.
    fn action(&self) -> String {
        self.shown.link(self.path, &[])
    }

    fn words(&self) -> &Translator {
        self.shown.reader.words()
    }

    fn heading(&self) -> Sentence {
        let title = self.shown.say("invitation-title").with("title", self.title);
        match self.problem {
            None => title,
            Some(_) => self.shown.say("error-title").with("title", title),
        }
    }

    /// Why the reply was not recorded.
    fn explained(&self, problem: &ReplyProblem) -> Sentence {
        match problem {
            ReplyProblem::NoReply => self.shown.say("choose-a-reply"),
            ReplyProblem::Note if self.note.chars().count() > self.note_max => too_long(self.shown, self.note_max),
            ReplyProblem::Note => self.shown.say("problem-other"),
        }
    }

    const fn takes_replies(&self) -> bool {
        matches!(self.state, InvitationState::Open(_) | InvitationState::Recorded(_))
    }

    fn is_cancelled(&self) -> bool {
        self.state == InvitationState::Cancelled
    }

    /// Whether this is the reply so far.
    fn is(&self, reply: Reply) -> bool {
        self.state == InvitationState::Open(Some(reply)) || self.state == InvitationState::Recorded(reply)
    }

    /// The days of an event that takes whole days.
    fn days(&self) -> String {
        let first = self.shown.date(self.slot.start());
        let last = self.shown.date(self.slot.end() - SignedDuration::micros(1));
        if first == last {
            return first;
        }
        self.shown.say("dates").with("date", first).with("last", last).to_string()
    }
}
