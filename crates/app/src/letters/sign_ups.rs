//! The emails about signing up and the waiting list.

use kalends_accounts::{Code, Email, User};
use kalends_kernel::Foreign;
use kalends_time::Timestamp;

use super::{Letter, Part, Words};
use crate::ports::Mail;

/// The code for a sign-up.
pub(crate) fn verification_code(to: &Email, agent: &Foreign, code: &Code) -> Mail {
    Letter {
        subject: "Your Kalends verification code".into(),
        parts: vec![
            Part::Says(
                Words::new("the agent \"")
                    .foreign(agent)
                    .and("\" signed up for Kalends with this address. The verification code is"),
            ),
            Part::Code(code.digits()),
            Part::Says(
                "It works for 10 minutes. If this was not you, ignore this message: without the code the agent stays \
                 in the sandbox."
                    .into(),
            ),
        ],
    }
    .to(to)
}

/// A sign-up with an address that already belongs to an organization.
pub(crate) fn already_known(to: &Email, agent: &Foreign) -> Mail {
    Letter {
        subject: "You already have a Kalends organization".into(),
        parts: vec![Part::Says(Words::new("the agent \"").foreign(agent).and(
            "\" tried to sign up for Kalends with this address, which already belongs to an organization. Nothing has \
             changed: use the API key that you have. If this was not you, ignore this message.",
        ))],
    }
    .to(to)
}

/// Joining the waiting list.
pub(crate) fn joined_waitlist(to: &Email) -> Mail {
    Letter {
        subject: "You are on the Kalends waiting list".into(),
        parts: vec![Part::Says(
            "this address was put on the waiting list of Kalends. You get another message when the account is \
             activated; there is nothing to do until then. If this was not you, ignore this message."
                .into(),
        )],
    }
    .to(to)
}

/// Admission from the waiting list.
pub(crate) fn activated(to: &Email, organization: &Foreign, console_url: &str) -> Mail {
    Letter {
        subject: "Your Kalends account is active".into(),
        parts: vec![
            Part::Says(Words::new("the organization \"").foreign(organization).and(
                "\" has been admitted from the waiting list. Its API keys work from now on, and you can sign in with \
                 this address at",
            )),
            Part::Link(console_url.to_owned()),
        ],
    }
    .to(to)
}

/// Asks a user who has signed up for a proof of their address. `page` carries the token.
pub(crate) fn asks_for_proof(user: &User, organization: &Foreign, page: String, until: Timestamp) -> Mail {
    let name = Foreign::new(user.name.as_str());
    let mail = Letter {
        subject: "Confirm your address for Kalends".into(),
        parts: vec![
            Part::Says(
                Words::new("\"")
                    .foreign(&name)
                    .and("\" signed up for Kalends with this address, for the organization \"")
                    .foreign(organization)
                    .and("\". If that was you, confirm the address within 24 hours:"),
            ),
            Part::Link(page),
            Part::Says(
                "If it was not you, ignore this message. If you confirmed, your address would belong to the account of \
                 somebody else."
                    .into(),
            ),
        ],
    };
    Mail { until: Some(until), ..mail.to(&user.email) }
}
