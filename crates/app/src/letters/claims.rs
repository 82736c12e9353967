//! The emails about claims of organizations.

use kalends_accounts::{Code, Email, MailedToken};
use kalends_kernel::Foreign;
use kalends_time::Timestamp;

use super::{Letter, Part, Words};
use crate::ports::Mail;

/// The code for a claim.
pub(crate) fn claim_code(to: &Email, organization: &Foreign, code: &Code) -> Mail {
    Letter {
        subject: "Your Kalends claim code".into(),
        parts: vec![
            Part::Says(
                Words::new("a user of Kalends wants to become the owner of the organization \"")
                    .foreign(organization)
                    .and("\", which is registered with this address. The code that allows it is"),
            ),
            Part::Code(code.digits()),
            Part::Says(
                "It works for 10 minutes. If this was not you, do not share the code, and ignore this message: without \
                 the code nothing happens."
                    .into(),
            ),
        ],
    }
    .to(to)
}

/// Where and how a claim can be revoked.
pub(crate) struct Revocation<'a> {
    /// The page for people. Its URL carries the token.
    pub page: String,
    /// The API route for agents.
    pub route: String,
    /// The token.
    pub token: &'a MailedToken,
}

/// A claim that takes effect unless it is revoked.
pub(crate) fn claim_held(to: &Email, organization: &Foreign, until: Timestamp, places: &Revocation<'_>) -> Mail {
    let proved = "a user of Kalends entered the code that was sent to this address, and becomes the owner of the \
                  organization \"";
    Letter {
        subject: "Your Kalends organization is being taken over".into(),
        parts: vec![
            Part::Says(Words::new(proved).foreign(organization).and("\" at ").own(&until).and(
                ". All of its API keys stop working then. If you expect this, do nothing. If not, \
                         revoke the claim before then:",
            )),
            Part::Link(places.page.clone()),
            Part::Says(
                Words::new("An agent does the same with a POST of {\"revocation_token\": \"")
                    .token(places.token)
                    .and("\"} as JSON to"),
            ),
            Part::Link(places.route.clone()),
        ],
    }
    .to(to)
}
