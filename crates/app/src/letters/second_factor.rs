//! The emails to users about their second factor.

use kalends_accounts::Email;

use super::{Letter, Part, Words};
use crate::ports::Mail;

/// A user turned their second factor on.
pub(crate) fn second_factor_on(to: &Email, console_url: &str) -> Mail {
    Letter {
        subject: "Your Kalends account has a second factor".into(),
        parts: vec![
            Part::Says(
                "a second factor was turned on for the Kalends account with this address. From now on, a sign-in with \
                 your password also needs a code of your authenticator app, or one of your recovery codes. All other \
                 sessions have ended. If this was not you, somebody else knows your password. Ask the operator of the \
                 server to remove the second factor, and set another password:"
                    .into(),
            ),
            Part::Link(format!("{console_url}/forgot")),
        ],
    }
    .to(to)
}

/// A user turned their second factor off.
pub(crate) fn second_factor_off(to: &Email, console_url: &str) -> Mail {
    Letter {
        subject: "Your Kalends account has no second factor any more".into(),
        parts: vec![
            Part::Says(
                "the second factor was turned off for the Kalends account with this address. Your password alone signs \
                 you in again, and your recovery codes no longer work. If this was not you, set another password:"
                    .into(),
            ),
            Part::Link(format!("{console_url}/forgot")),
        ],
    }
    .to(to)
}

/// A user got new recovery codes.
pub(crate) fn recovery_codes_renewed(to: &Email, console_url: &str) -> Mail {
    Letter {
        subject: "Your Kalends account has new recovery codes".into(),
        parts: vec![
            Part::Says(
                "new recovery codes were made for the Kalends account with this address. The earlier ones no longer \
                 work. If this was not you, somebody else is signed in to your account. Set another password at once, \
                 which ends all sessions:"
                    .into(),
            ),
            Part::Link(format!("{console_url}/forgot")),
            Part::Says("Then get new recovery codes at".into()),
            Part::Link(format!("{console_url}/security")),
        ],
    }
    .to(to)
}

/// A user signed in with a recovery code. `left` says how many are left.
pub(crate) fn recovery_code_used(to: &Email, left: usize, console_url: &str) -> Mail {
    Letter {
        subject: "A Kalends recovery code was used".into(),
        parts: vec![
            Part::Says(
                Words::new(
                    "somebody signed in to the Kalends account with this address with your password and a recovery code. \
                     The code no longer works. Recovery codes left: ",
                )
                .own(&left)
                .and(". If this was you, you can get new ones at"),
            ),
            Part::Link(format!("{console_url}/security")),
            Part::Says("If this was not you, set another password at once:".into()),
            Part::Link(format!("{console_url}/forgot")),
        ],
    }
    .to(to)
}

/// The wrong codes that a user has in an hour are used up.
pub(crate) fn wrong_codes_used_up(to: &Email, console_url: &str) -> Mail {
    Letter {
        subject: "Too many wrong codes for your Kalends account".into(),
        parts: vec![
            Part::Says(
                "somebody has entered too many wrong codes of the second factor for the Kalends account with this \
                 address. These codes signed nobody in. For up to an hour, only your recovery codes work. If this was not \
                 you, somebody else knows your password or is signed in to your account. Set another password, which ends \
                 all sessions:"
                    .into(),
            ),
            Part::Link(format!("{console_url}/forgot")),
        ],
    }
    .to(to)
}
