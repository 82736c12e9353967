//! The pages about webhooks. They are in English, like the console, and work without scripts.

use askama::Template;
use kalends_time::{CivilDate, Timestamp};

use crate::{
    chart::{Chart, Group},
    english::in_english,
    field::Field,
    numbers::grouped,
    paging::Paging,
    problems::Problems,
    shell::{Done, Shell},
    time::{in_utc, short_date},
};

/// The fields of the form of a webhook.
pub const WEBHOOK_FIELDS: [&str; 2] = ["url", "events"];
/// The maximum length of an address, in characters.
const URL: usize = 2_048;
/// The event type that stands for all of them.
const EVERYTHING: &str = "*";

/// Whether a webhook receives messages, and why not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WebhookState {
    /// It does.
    Active,
    /// Its organization switched it off.
    SwitchedOff,
    /// The server switched it off, because its address answered that it is gone.
    Gone,
    /// The server switched it off, because all deliveries failed.
    Failing,
}

/// A webhook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebhookShown {
    /// The identifier.
    pub id: String,
    /// The address.
    pub url: String,
    /// The event types, as the API names them.
    pub events: Vec<&'static str>,
    /// Whether it receives messages.
    pub state: WebhookState,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

impl WebhookShown {
    fn title(&self) -> &str {
        &self.url
    }

    fn status_text(&self) -> &'static str {
        match self.state {
            WebhookState::Active => "Active",
            WebhookState::SwitchedOff => "Switched off by your organization",
            WebhookState::Gone => "Switched off by the server: the address answered 410 Gone",
            WebhookState::Failing => "Switched off by the server: all deliveries failed for five days",
        }
    }

    fn events_text(&self) -> String {
        if self.events.contains(&EVERYTHING) { "All".to_owned() } else { self.events.join(", ") }
    }

    fn created(&self) -> String {
        in_utc(self.created_at)
    }

    fn updated(&self) -> String {
        in_utc(self.updated_at)
    }
}

/// The list of webhooks.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "webhooks.html")]
pub struct Webhooks<'a> {
    /// The frame.
    pub shell: &'a Shell,
    /// What a form did.
    pub done: Done,
    /// Whether the user may create webhooks.
    pub may_create: bool,
    /// The webhooks of this page of the list.
    pub webhooks: &'a [WebhookShown],
    /// Where in the list it is.
    pub paging: &'a Paging,
}

/// An event type to choose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventChoice {
    /// The type, as the API names it.
    pub name: &'static str,
    /// When it is sent, in one sentence.
    pub about: &'static str,
    /// Whether it is chosen.
    pub is_chosen: bool,
}

/// What was typed into the form of a webhook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WebhookGiven<'a> {
    /// The address.
    pub url: &'a str,
    /// Whether all event types are chosen, including those of later versions.
    pub all: bool,
    /// The event types.
    pub events: &'a [EventChoice],
    /// Whether it is to receive messages. A new one always is.
    pub active: bool,
}

/// The field of the event types, which is a group of boxes to check.
struct EventField<'a> {
    given: WebhookGiven<'a>,
    problem: Option<&'a str>,
}

impl<'a> WebhookGiven<'a> {
    fn url(&self, problems: &'a Problems) -> Field<'a> {
        Field { kind: "url", ..Field::text("url", "URL", self.url, URL) }.checked(problems)
    }

    fn events(&self, problems: &'a Problems) -> EventField<'a> {
        EventField { given: *self, problem: problems.of("events") }
    }
}

/// The form that creates a webhook.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "new_webhook.html")]
pub struct NewWebhookForm<'a> {
    /// The frame.
    pub shell: &'a Shell,
    /// The random key of the form.
    pub once: &'a str,
    /// What was typed.
    pub given: WebhookGiven<'a>,
    /// What is wrong with it.
    pub problems: &'a Problems,
}

/// The secret of a webhook, which is shown only once.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "webhook_secret.html")]
pub struct SecretShown<'a> {
    /// The frame.
    pub shell: &'a Shell,
    /// The identifier of the webhook.
    pub id: &'a str,
    /// The secret.
    pub secret: &'a str,
    /// Whether the webhook is new. Otherwise it has a new secret.
    pub is_new: bool,
    /// When the previous secret stops signing, if there is one.
    pub previous_until: Option<Timestamp>,
}

impl SecretShown<'_> {
    fn title(&self) -> &'static str {
        if self.is_new { "The webhook is created" } else { "The webhook has a new secret" }
    }

    fn until(&self) -> String {
        self.previous_until.map(in_utc).unwrap_or_default()
    }
}

/// The number of deliveries that were created on a day, by their state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeliveryDay {
    /// The date.
    pub date: CivilDate,
    /// Received.
    pub delivered: u64,
    /// Given up.
    pub failed: u64,
    /// To be sent, or sent again.
    pub waiting: u64,
    /// Never sent, because the quota was used up.
    pub skipped: u64,
}

impl DeliveryDay {
    fn short(&self) -> String {
        short_date(self.date)
    }

    /// The cells of the table's row.
    fn numbers(&self) -> [String; 4] {
        [self.delivered, self.failed, self.waiting, self.skipped].map(grouped)
    }
}

/// One webhook, with the form that changes it.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "webhook.html")]
pub struct WebhookPage<'a> {
    /// The frame.
    pub shell: &'a Shell,
    /// What a form did.
    pub done: Done,
    /// Whether the user may change webhooks.
    pub may_change: bool,
    /// Whether the user may delete webhooks.
    pub may_delete: bool,
    /// The webhook.
    pub webhook: &'a WebhookShown,
    /// The random key of the forms.
    pub once: &'a str,
    /// The version that the form changes.
    pub version: &'a str,
    /// What the form contains: the webhook's fields, or what was typed.
    pub given: WebhookGiven<'a>,
    /// What the form contained before anything was typed.
    pub was: WebhookGiven<'a>,
    /// What is wrong with it.
    pub problems: &'a Problems,
    /// The deliveries of the last days, the oldest first.
    pub days: &'a [DeliveryDay],
    /// The number of deliveries that were counted at most, if there may be more.
    pub newest: Option<u32>,
}

impl WebhookPage<'_> {
    fn chart(&self) -> Chart<2> {
        let group = |day: &DeliveryDay| Group { name: day.short(), numbers: [day.delivered, day.failed] };
        let what = "Delivered and failed deliveries on each of the last seven days. The table below has the numbers.";
        Chart { label: what.to_owned(), series: ["Delivered", "Failed"], groups: self.days.iter().map(group).collect() }
    }

    fn newest_text(&self) -> Option<String> {
        self.newest.map(|newest| grouped(newest.into()))
    }
}

/// What a [`WebhookQuestion`] asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WebhookQuestions {
    /// Whether to replace the secret.
    Rotate,
    /// Whether to delete the webhook.
    Delete,
}

/// The question whether to do something with a webhook that cannot be undone.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "webhook_question.html")]
pub struct WebhookQuestion<'a> {
    /// The frame.
    pub shell: &'a Shell,
    /// The question.
    pub asks: WebhookQuestions,
    /// The webhook.
    pub webhook: &'a WebhookShown,
    /// The random key of the form.
    pub once: &'a str,
}

impl WebhookQuestion<'_> {
    fn title(&self) -> &'static str {
        match self.asks {
            WebhookQuestions::Rotate => "Replace the secret?",
            WebhookQuestions::Delete => "Delete the webhook?",
        }
    }

    fn explanation(&self) -> &'static str {
        match self.asks {
            WebhookQuestions::Rotate => {
                "The new secret is shown once. For 24 hours messages are signed with both secrets, so that you have time \
                 to give the new one to the receiver. If you have replaced the secret in the last 24 hours, the older of \
                 the two stops at once."
            }
            WebhookQuestions::Delete => {
                "This is permanent. Only messages that are being sent right now still arrive, and its deliveries can \
                 no longer be read. To pause it instead, switch it off."
            }
        }
    }

    fn path(&self) -> &'static str {
        match self.asks {
            WebhookQuestions::Rotate => "rotate",
            WebhookQuestions::Delete => "delete",
        }
    }

    fn button(&self) -> &'static str {
        match self.asks {
            WebhookQuestions::Rotate => "Replace the secret",
            WebhookQuestions::Delete => "Delete",
        }
    }
}

in_english!(Webhooks<'_>, NewWebhookForm<'_>, SecretShown<'_>, WebhookPage<'_>, WebhookQuestion<'_>);
