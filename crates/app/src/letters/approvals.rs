//! The email that asks people to decide about a write of an agent.

use kalends_accounts::Email;
use kalends_kernel::Foreign;
use kalends_time::Timestamp;

use super::{Letter, Part, Words};
use crate::ports::Mail;

/// A write that waits for a decision.
pub(crate) struct Asked<'a> {
    /// The agent whose key asks.
    pub(crate) agent: &'a Foreign,
    /// The organization.
    pub(crate) organization: &'a Foreign,
    /// What would happen.
    pub(crate) summary: &'a Foreign,
    /// Until when it can be decided.
    pub(crate) until: Timestamp,
    /// The page to decide on. It asks for a sign-in.
    pub(crate) page: &'a str,
}

/// Asks a person to approve or deny a write.
pub(crate) fn asks_for_approval(to: &Email, asked: &Asked<'_>) -> Mail {
    let Asked { agent, organization, summary, until, page } = *asked;
    let mail = Letter {
        subject: Words::new("\"").foreign(agent).and("\" asks for your approval"),
        parts: vec![
            Part::Says(
                Words::new("the agent \"")
                    .foreign(agent)
                    .and("\" of the organization \"")
                    .foreign(organization)
                    .and("\" asks for approval of this:"),
            ),
            Part::Says(Words::new("> ").foreign(summary)),
            Part::Says(Words::new("To approve or deny it before ").own(&until).and(", sign in and open")),
            Part::Link(page.to_owned()),
            Part::Says(
                "Nothing happens until somebody approves it. You get this email because you can approve requests in \
                 this organization."
                    .into(),
            ),
        ],
    };
    Mail { until: Some(until), ..mail.to(to) }
}
