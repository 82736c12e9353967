//! The emails that Kalends sends: the text of each, rendered as plain text and as HTML.
//!
//! An email consists of our own words and of [`Foreign`] text, which never becomes a link. There is no other way to
//! put text into an email: [`Words`] accepts only words from this module, [`Own`] values, our tokens and foreign text. The
//! only address of others that is a link is that of an event's call.

use std::fmt::Display;

use kalends_accounts::{Code, Email, MailedToken, MemberInvitation, Role, User};
use kalends_calendars::{ConferenceUrl, Event, Times};
use kalends_feeds::write::MAILED_DESCRIPTION_MAX;
use kalends_i18n::{Sentence, Translator};
use kalends_kernel::{Foreign, WebhookId};
use kalends_notifications::Deactivation;
use kalends_time::{SignedDuration, Timestamp, Zone};

use crate::ports::Mail;

mod bookings;
mod operator;
mod second_factor;
#[cfg(test)]
mod tests;

pub(crate) use bookings::{
    Appointment, HostLetter, Visit, asks_for_consent, asks_for_replies, booked, booking_cancelled, booking_moved,
    booking_reminder, called_off, for_host,
};
pub(crate) use operator::test_mail;
pub(crate) use second_factor::{
    recovery_code_used, recovery_codes_renewed, second_factor_off, second_factor_on, wrong_codes_used_up,
};

/// The frame of the HTML.
const FRAME: &str = include_str!("../templates/letter.html");
/// Begins the signature of a plain text (RFC 3676 section 4.3).
const SIGNATURE: &str = "-- ";

/// A value of ours that may appear in an email as it is: nobody else chooses its text.
pub(crate) trait Own: Display {}

impl Own for Timestamp {}
impl Own for usize {}
impl Own for WebhookId {}
impl Own for When {}

/// The times of an event, as an email shows them.
#[derive(Debug)]
pub(crate) struct When(pub(crate) String);

impl When {
    /// The times of an event, by the clocks of `zone`.
    pub(crate) fn of(times: Times, zone: Zone, words: &Translator) -> Self {
        let start = zone.to_civil(times.span.start());
        // Whole days are named by the first and the last of them.
        let end = if times.all_day { times.span.end() - SignedDuration::micros(1) } else { times.span.end() };
        let end = zone.to_civil(end);
        let sentence = words.say(match (times.all_day, start.date == end.date) {
            (true, true) => "when-all-day",
            (true, false) => "when-all-days",
            (false, true) => "when-times",
            (false, false) => "when-days",
        });
        let sentence = sentence.with("date", words.date(start.date)).with("last", words.date(end.date));
        let sentence = sentence.with("start", words.time(start.time)).with("end", words.time(end.time));
        Self(sentence.with("zone", zone).to_string())
    }
}

impl Display for When {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// One or more sentences, in which third-party text is never a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Words(String);

impl Words {
    /// Words from this module.
    fn new(words: &'static str) -> Self {
        Self(words.to_owned())
    }

    /// Appends words from this module.
    fn and(mut self, words: &'static str) -> Self {
        self.0.push_str(words);
        self
    }

    /// Appends third-party text.
    fn foreign(mut self, text: &Foreign) -> Self {
        self.0.push_str(text.as_str());
        self
    }

    /// Appends a value of ours.
    fn own(mut self, value: &impl Own) -> Self {
        self.0.push_str(&value.to_string());
        self
    }

    /// Appends a secret of ours.
    fn token(mut self, token: &MailedToken) -> Self {
        self.0.push_str(token.reveal());
        self
    }
}

impl From<&'static str> for Words {
    fn from(words: &'static str) -> Self {
        Self::new(words)
    }
}

/// A message of ours in the reader's language, in which only the texts of an email are filled in.
struct Message(Sentence);

impl Message {
    fn new(words: &Translator, id: &'static str) -> Self {
        Self(words.say(id))
    }

    /// Fills third-party text in.
    fn foreign(self, name: &'static str, text: &Foreign) -> Self {
        Self(self.0.with(name, text))
    }

    /// Fills a value of ours in.
    fn own(self, name: &'static str, value: &impl Own) -> Self {
        Self(self.0.with(name, value))
    }

    /// Fills another message in.
    fn message(self, name: &'static str, message: Self) -> Self {
        Self(self.0.with(name, message.0))
    }
}

impl From<Message> for Words {
    fn from(Message(sentence): Message) -> Self {
        Self(sentence.to_string())
    }
}

/// A part of an email.
enum Part {
    /// A paragraph.
    Says(Words),
    /// A code to copy.
    Code(String),
    /// A link to one of our pages, or to the call of an event.
    Link(String),
}

/// An email before it is rendered.
struct Letter {
    subject: Words,
    parts: Vec<Part>,
}

impl Letter {
    /// The email in English.
    fn to(self, to: &Email) -> Mail {
        self.written(to, Translator::english())
    }

    /// The email in the language of its parts.
    fn written(self, to: &Email, words: &Translator) -> Mail {
        let [greeting, signature] = ["mail-greeting", "mail-signature"].map(|id| words.say(id).to_string());
        let mut text = format!("{greeting}\n\n");
        let mut body = format!("<p>{}</p>\n", escaped(&greeting));
        for part in &self.parts {
            match part {
                Part::Says(Words(words)) => {
                    text.push_str(words);
                    body.push_str(&format!("<p>{}</p>\n", escaped(words)));
                }
                Part::Code(code) => {
                    text.push_str(&format!("    {code}"));
                    let style = "font:600 28px/1.2 ui-monospace,monospace;letter-spacing:.15em";
                    body.push_str(&format!("<p style=\"{style}\">{}</p>\n", escaped(code)));
                }
                Part::Link(address) => {
                    text.push_str(address);
                    let address = escaped(address);
                    body.push_str(&format!("<p><a href=\"{address}\">{address}</a></p>\n"));
                }
            }
            text.push_str("\n\n");
        }
        text.push_str(&format!("{SIGNATURE}\n{signature}\n"));
        let Words(subject) = self.subject;
        // The frame is ours. What is filled in is not scanned for placeholders.
        let html = FRAME.split("{{").map(|piece| match piece.split_once("}}") {
            Some(("language", rest)) => format!("{}{rest}", words.language().code()),
            Some(("signature", rest)) => format!("{}{rest}", escaped(&signature)),
            Some(("subject", rest)) => format!("{}{rest}", escaped(&subject)),
            Some(("body", rest)) => format!("{body}{rest}"),
            _ => piece.to_owned(),
        });
        Mail {
            to: to.clone(),
            html: html.collect(),
            subject,
            text,
            calendar: None,
            agreed: false,
            until: None,
            reply_to: None,
        }
    }
}

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
                ". All of its API keys stop working then. If you expect this, there is nothing to do. If not, \
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

/// An endpoint was disabled because of how its receiver responds. Only the host of its address is shown: the rest may
/// be a secret.
pub(crate) fn webhook_deactivated(
    to: &Email,
    organization: &Foreign,
    (webhook, host): (WebhookId, &Foreign),
    why: Deactivation,
) -> Mail {
    let reason = match why {
        Deactivation::Gone => "it answered 410 Gone, which means that it no longer exists",
        Deactivation::Failing => "every attempt in five days has failed",
    };
    Letter {
        subject: "A Kalends webhook was switched off".into(),
        parts: vec![
            Part::Says(
                Words::new("the webhook ")
                    .own(&webhook)
                    .and(" of the organization \"")
                    .foreign(organization)
                    .and("\", which posts to ")
                    .foreign(host)
                    .and(", was switched off: ")
                    .and(reason)
                    .and(". Nothing is sent to it any more."),
            ),
            Part::Says(
                Words::new(
                    "Once its receiver works again, switch it on with a PATCH of {\"active\": true} to /v1/webhooks/",
                )
                .own(&webhook)
                .and(
                    ". Deliveries that failed before then can be sent again one by one, from the list of its \
                     deliveries.",
                ),
            ),
        ],
    }
    .to(to)
}

/// Where an event takes place. Only the address of the call is a link.
fn places(words: &Translator, location: Option<&Foreign>, call: Option<&ConferenceUrl>) -> Vec<Part> {
    let mut parts = Vec::new();
    if let Some(location) = location {
        parts.push(Part::Says(Message::new(words, "mail-place").foreign("place", location).into()));
    }
    if let Some(call) = call {
        parts.extend([Part::Says(Message::new(words, "mail-call").into()), Part::Link(call.as_str().to_owned())]);
    }
    parts
}

/// An event as the emails to its attendees show it.
pub(crate) struct Gathering {
    title: Foreign,
    organizer: Foreign,
    when: When,
    repeats: bool,
    location: Option<Foreign>,
    call: Option<ConferenceUrl>,
    description: Vec<Foreign>,
}

impl Gathering {
    /// The event, which `organizer` organizes. `when` shows its times.
    pub(crate) fn new(event: &Event, when: When, organizer: Foreign) -> Self {
        let filled = |text: &&String| !text.trim().is_empty();
        let text = event.description.as_deref().unwrap_or_default();
        let description: String = text.chars().take(MAILED_DESCRIPTION_MAX).collect();
        let rest = (description.len() < text.len()).then_some("…");
        let lines = description.lines().filter(|line| !line.trim().is_empty()).chain(rest);
        Self {
            title: Foreign::new(&event.title),
            organizer,
            when,
            repeats: event.recurrence().is_some(),
            location: event.location.as_ref().filter(filled).map(|location| Foreign::new(location)),
            call: event.conference_url.clone(),
            description: lines.map(Foreign::new).collect(),
        }
    }
}

/// An invitation, or a change of an event to which the recipient was invited before. `reply` is the page to reply on.
pub(crate) fn invited(to: &Email, event: &Gathering, changed: bool, reply: &str) -> Mail {
    let says = if changed {
        Words::new("the event \"")
            .foreign(&event.title)
            .and("\" has changed. ")
            .foreign(&event.organizer)
            .and(" invites you to it on ")
    } else {
        Words::new("").foreign(&event.organizer).and(" invites you to \"").foreign(&event.title).and("\" on ")
    };
    let says = says.own(&event.when);
    let says = says.and(if event.repeats { ". It repeats on later dates." } else { "." });
    let mut parts = vec![Part::Says(says)];
    parts.extend(places(Translator::english(), event.location.as_ref(), event.call.as_ref()));
    if !event.description.is_empty() {
        parts.push(Part::Says("The organizer writes:".into()));
        parts.extend(event.description.iter().map(|line| Part::Says(Words::new("> ").foreign(line))));
    }
    parts.extend([
        Part::Says("To accept or decline, open".into()),
        Part::Link(reply.to_owned()),
        Part::Says(
            "Anyone with this link can reply in your name: do not forward this message. A reply by email is not recorded."
                .into(),
        ),
    ]);
    let subject = Words::new(if changed { "Changed: " } else { "Invitation: " }).foreign(&event.title);
    Letter { subject, parts }.to(to)
}

/// The end of an invitation. The event may still take place, without the recipient.
pub(crate) fn uninvited(to: &Email, event: &Gathering, takes_place: bool) -> Mail {
    let says = Words::new(if takes_place { "you are no longer invited to \"" } else { "the event \"" });
    let says = says.foreign(&event.title);
    let says = if event.repeats { says.and("\", on all of its dates") } else { says.and("\" on ").own(&event.when) };
    let says = if takes_place { says.and(".") } else { says.and(" is cancelled.") };
    let says = says.and(" There is nothing to do.");
    let subject = Words::new(if takes_place { "No longer invited: " } else { "Cancelled: " }).foreign(&event.title);
    Letter { subject, parts: vec![Part::Says(says)] }.to(to)
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

/// Escapes text for HTML, both between tags and in attributes.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            letter => escaped.push(letter),
        }
    }
    escaped
}
