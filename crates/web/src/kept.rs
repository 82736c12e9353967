//! The page that keeps a form which had no effect, and the page on which its user signs in or switches for it. They are
//! in English, like the console, and work without scripts.

use askama::Template;

use crate::{
    english::in_english,
    link::{Path, with},
    overview::OtherOrganization,
    problem::Problem,
    shell::Shell,
};

/// Why a form had no effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoEffect {
    /// The session had ended.
    Ended,
    /// The operator's session had ended.
    OperatorEnded,
    /// The session had been switched to another organization.
    Switched,
}

impl NoEffect {
    /// What is the matter, as a heading.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Ended | Self::OperatorEnded => "Your session has ended",
            Self::Switched => Problem::SWITCHED.title,
        }
    }

    const fn effect(self) -> &'static str {
        match self {
            Self::Ended | Self::OperatorEnded => "Nothing was changed.",
            Self::Switched => {
                "Nothing was changed, because the form belongs to the organization that you were in before."
            }
        }
    }

    const fn first_step(self) -> &'static str {
        match self {
            Self::Ended | Self::OperatorEnded => "Sign in",
            Self::Switched => "Switch back",
        }
    }

    const fn way_text(self) -> &'static str {
        match self {
            Self::Ended | Self::OperatorEnded => "Sign in in another tab",
            Self::Switched => "Switch in another tab",
        }
    }

    const fn second_step(self) -> &'static str {
        match self {
            Self::Ended | Self::OperatorEnded => "Send the form again as soon as you are signed in.",
            Self::Switched => "Send the form again as soon as you have switched back.",
        }
    }
}

/// The page that says why a form had no effect, with the form to send again.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "kept.html")]
pub struct KeptForm<'a> {
    /// Why the form had no effect.
    pub reason: NoEffect,
    /// The identifier of the organization in which the form was opened, if it is known.
    pub org: Option<&'a str>,
    /// What the page keeps of it.
    pub part: KeptPart<'a>,
}

/// What a page keeps of a form that had no effect.
#[derive(Debug, Clone, Copy)]
pub enum KeptPart<'a> {
    /// The form, to be sent again.
    Form(SentForm<'a>),
    /// Nothing: the form is too long.
    TooLong,
    /// Nothing: the form has a file, which no page can put into a form, or the long text of one.
    File {
        /// The address at which the form is opened again.
        form: &'a Path,
    },
}

/// A form that was sent.
#[derive(Debug, Clone, Copy)]
pub struct SentForm<'a> {
    /// The address of the form.
    pub action: &'a Path,
    /// The names and values of its fields, in their order.
    pub fields: &'a [(&'a str, &'a str)],
    /// Whether fields that may be secrets were left out.
    pub left_out: bool,
}

impl KeptForm<'_> {
    const fn lead(&self) -> &'static str {
        match self.part {
            KeptPart::Form(_) => "This page keeps what you sent until you close it.",
            KeptPart::TooLong => "What you sent is too long to keep. Go back to copy it.",
            KeptPart::File { .. } => {
                "This page cannot keep a file or a long text. Choose the file or paste the text again."
            }
        }
    }

    /// Whether the user continues in this tab.
    const fn has_steps(&self) -> bool {
        !matches!(self.part, KeptPart::TooLong)
    }

    /// The address of the page on which the user signs in, or switches back.
    fn way(&self) -> String {
        const SIGNED_IN: &str = "/console/signed-in";
        let page = self.org.map_or_else(|| SIGNED_IN.to_owned(), |org| with(SIGNED_IN, &[("org", &org)]));
        match self.reason {
            NoEffect::Ended => with("/console/sign-in", &[("next", &page)]),
            NoEffect::OperatorEnded => "/console/operator".to_owned(),
            NoEffect::Switched => page,
        }
    }
}

/// Where the form in the other tab belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FormPlace<'a> {
    /// To the organization of the session, or to none.
    Here,
    /// To another organization of the user.
    Elsewhere(&'a OtherOrganization),
    /// To an organization to which the user does not belong.
    Lost,
}

/// The page to which a sign-in in another tab leads, and on which the user can switch back.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "signed_in_again.html")]
pub struct SignedInAgain<'a> {
    /// The frame.
    pub shell: &'a Shell,
    /// Where the form in the other tab belongs.
    pub form: FormPlace<'a>,
}

in_english!(KeptForm<'_>, SignedInAgain<'_>);
