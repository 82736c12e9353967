//! The emails to users about their accounts: members, providers and passwords.

use kalends_accounts::{Email, MailedToken, MemberInvitation, Role};
use kalends_kernel::Foreign;

use super::{Letter, Part, Words};
use crate::ports::Mail;

/// An invitation to become a member of an organization. `page` carries the token.
pub(crate) fn invites_member(
    invitation: &MemberInvitation,
    organization: &Foreign,
    by: &Foreign,
    page: String,
) -> Mail {
    let may = match invitation.role {
        Role::Viewer => "\". You can see its calendars and settings there.",
        Role::Member => "\". You can work with its agents, calendars, events and booking pages there.",
        Role::Admin => "\" as an admin. You can do everything there except change its owners and delete it.",
        Role::Owner => "\" as an owner. You can do everything there.",
    };
    let mail = Letter {
        subject: Words::new("Join \"").foreign(organization).and("\" on Kalends"),
        parts: vec![
            Part::Says(
                Words::new("\"")
                    .foreign(by)
                    .and("\" invites you to the organization \"")
                    .foreign(organization)
                    .and(may),
            ),
            Part::Says(
                "To join, open this page within 7 days, and sign in or create an account with this address:".into(),
            ),
            Part::Link(page),
            Part::Says("If you did not expect this, ignore this message: nothing happens then.".into()),
        ],
    };
    Mail { until: Some(invitation.expires_at), ..mail.to(&invitation.email) }
}

/// The first sign-in that verified the address replaced all earlier ways to sign in.
pub(crate) fn provider_took_over(to: &Email, provider: &Foreign, console_url: &str) -> Mail {
    Letter {
        subject: "Your Kalends account has a new way to sign in".into(),
        parts: vec![
            Part::Says(Words::new("you signed in to Kalends with ").foreign(provider).and(
                ", which has verified this address. It is the first proof that the address is yours. Anyone who used it \
                 here before was signed out, and their password, their other ways to sign in and all API keys no longer \
                 work. Create new keys in the console at",
            )),
            Part::Link(console_url.to_owned()),
            Part::Says(
                "Agents, webhooks, connected calendars and booking pages are unchanged. If you did not set them up, look \
                 through them and remove what is not yours."
                    .into(),
            ),
        ],
    }
    .to(to)
}

/// Another provider can be used to sign in to an account.
pub(crate) fn provider_added(to: &Email, provider: &Foreign, console_url: &str) -> Mail {
    Letter {
        subject: "Your Kalends account has a new way to sign in".into(),
        parts: vec![
            Part::Says(Words::new("somebody signed in to Kalends with ").foreign(provider).and(
                ", which has verified this address. You can sign in this way from now on, in addition to the ways that \
                 worked before. If this was not you, somebody else may be reading your mail: secure your mailbox, and \
                 check the account in the console at",
            )),
            Part::Link(console_url.to_owned()),
        ],
    }
    .to(to)
}

/// The page on which the token sets a password.
pub(crate) fn reset_page(console_url: &str, token: &MailedToken) -> String {
    format!("{console_url}/reset#{}", token.reveal())
}

/// How a user sets a new or first password. Anyone with the link can do so, for an hour.
pub(crate) fn password_reset(to: &Email, token: &MailedToken, console_url: &str) -> Mail {
    Letter {
        subject: "Set a new Kalends password".into(),
        parts: vec![
            Part::Says(
                "somebody asked to set a new password for the Kalends account with this address. To do so, open".into(),
            ),
            Part::Link(reset_page(console_url, token)),
            Part::Says(
                "or enter this code where you were asked for it:".into(),
            ),
            Part::Code(token.reveal().to_owned()),
            Part::Says(
                "It works once, within an hour, and ends all sessions of the account. If this was not you, ignore this \
                 message: nothing has changed."
                    .into(),
            ),
        ],
    }
    .to(to)
}

/// A password was set with an emailed link. This may have proved the address, and revoked the account's keys.
pub(crate) fn password_was_reset(to: &Email, has_lost_keys: bool) -> Mail {
    let says = Words::new(
        "a new password was set for the Kalends account with this address, with a link that was mailed here. All \
         sessions of the account have ended.",
    );
    let says = says.and(if has_lost_keys {
        " This is the first proof that the address is yours, so all API keys of the account were revoked: create new ones \
         in the console."
    } else {
        ""
    });
    let says = says.and(
        " If this was not you, somebody else may be reading your mail: secure your mailbox, and set another password.",
    );
    Letter { subject: "Your Kalends password was set".into(), parts: vec![Part::Says(says)] }.to(to)
}
