//! The pages about webhooks and their deliveries.

use kalends_kernel::Page;
use kalends_time::{CivilDate, Timestamp};

use super::{done, problems, shell};
use crate::{
    Deliveries, DeliveryDay, DeliveryPage, DeliveryShown, DeliveryState, Done, EventChoice, NO_PROBLEMS,
    NewWebhookForm, Paging, Place, SecretShown, Shell, StatusFilter, WEBHOOK_FIELDS, WebhookGiven, WebhookPage,
    WebhookQuestion, WebhookQuestions, WebhookShown, WebhookState, WebhookTested, Webhooks,
};

const ID: &str = "whk_01jn8r6v9ke0bt3m5qz2c7xwdh";

fn at() -> Timestamp {
    "2026-03-02T08:00:00Z".parse().unwrap()
}

fn webhook(text: &str, state: WebhookState) -> WebhookShown {
    WebhookShown {
        id: ID.to_owned(),
        url: text.to_owned(),
        events: vec!["event.created", "event.updated"],
        state,
        created_at: at(),
        updated_at: at(),
    }
}

fn delivery(state: DeliveryState) -> DeliveryShown {
    let was_tried = state != DeliveryState::Skipped;
    DeliveryShown {
        id: "whd_01jn8r6v9ke0bt3m5qz2c7xwdh".to_owned(),
        event_type: "event.created".to_owned(),
        state,
        attempts: u32::from(was_tried),
        last_attempt_at: was_tried.then(at),
        next_attempt_at: (state == DeliveryState::Waiting).then(at),
        response_status: (state == DeliveryState::Delivered).then_some(204),
        created_at: at(),
    }
}

const EVENTS: [EventChoice; 2] = [
    EventChoice { name: "event.created", about: "An event was created, or a booking made.", is_chosen: true },
    EventChoice { name: "event.updated", about: "An event was changed.", is_chosen: false },
];

pub(super) fn pages(text: &str) -> Vec<(&'static str, String)> {
    let shell = &shell(text, Place::Webhooks);
    [endpoints(shell, text), one(shell, text), deliveries(shell, text)].concat()
}

/// The list, and the forms that make a webhook.
fn endpoints(shell: &Shell, text: &str) -> Vec<(&'static str, String)> {
    let webhooks = [
        webhook(text, WebhookState::Active),
        webhook(text, WebhookState::SwitchedOff),
        webhook(text, WebhookState::Gone),
        WebhookShown { events: vec!["*"], ..webhook(text, WebhookState::Failing) },
    ];
    let page = Page { limit: 50, offset: 50 };
    let paging = &Paging { path: "/console/webhooks".to_owned(), filter: Vec::new(), page, total: 132 };
    let none = &Paging { page: Page::default(), total: 0, ..paging.clone() };
    let list = Webhooks { shell, done: done(), may_create: true, webhooks: &webhooks, paging };
    let empty = Webhooks { done: Done::default(), may_create: false, webhooks: &[], paging: none, ..list };
    let given = WebhookGiven { url: text, all: true, events: &EVENTS, active: true };
    let new = NewWebhookForm { shell, once: "once", given, problems: &NO_PROBLEMS };
    let secret = SecretShown { shell, id: ID, secret: text, is_new: true, previous_until: None };
    vec![
        ("webhooks", list.html()),
        ("webhooks, none", empty.html()),
        ("new webhook", new.html()),
        ("new webhook, wrong", NewWebhookForm { problems: &problems(&WEBHOOK_FIELDS, text), ..new }.html()),
        ("webhook, created", secret.html()),
        ("webhook, new secret", SecretShown { is_new: false, previous_until: Some(at()), ..secret }.html()),
    ]
}

/// One webhook.
fn one(shell: &Shell, text: &str) -> Vec<(&'static str, String)> {
    let (webhook, off) = (&webhook(text, WebhookState::Active), &webhook(text, WebhookState::Gone));
    let date = |after: i64| CivilDate::from_days(20_500 + after);
    let day = |(after, delivered, failed, waiting, skipped)| DeliveryDay {
        date: date(after),
        delivered,
        failed,
        waiting,
        skipped,
    };
    let days = [(0, 0, 0, 0, 0), (1, 1_200, 30, 0, 0), (2, 1, 0, 0, 7), (3, 770, 41, 0, 0), (4, 0, 9, 3, 0)].map(day);
    let given = WebhookGiven { url: text, all: false, events: &EVENTS, active: true };
    let shown = WebhookPage {
        shell,
        done: done(),
        may_change: true,
        may_delete: true,
        webhook,
        once: "once",
        version: text,
        given,
        was: given,
        problems: &NO_PROBLEMS,
        days: &days,
        newest: None,
    };
    let quiet = &[day((0, 0, 0, 0, 0))];
    let seen = WebhookPage { done: Done::default(), may_change: false, may_delete: false, days: quiet, ..shown };
    let wrong = &problems(&WEBHOOK_FIELDS, text);
    let asks = WebhookQuestion { shell, asks: WebhookQuestions::Rotate, webhook, once: "once" };
    let (arrived, lost) = (&delivery(DeliveryState::Delivered), &delivery(DeliveryState::Failed));
    let tested = WebhookTested { shell, id: ID, delivery: arrived, duration_ms: 212, error: None };
    vec![
        ("webhook", shown.html()),
        ("webhook, wrong", WebhookPage { webhook: off, problems: wrong, newest: Some(10_000), ..shown }.html()),
        ("webhook, seen by a viewer", seen.html()),
        ("webhook, replace the secret", asks.html()),
        ("webhook, delete", WebhookQuestion { asks: WebhookQuestions::Delete, ..asks }.html()),
        ("webhook, tested", tested.html()),
        ("webhook, test failed", WebhookTested { delivery: lost, error: Some(text), ..tested }.html()),
    ]
}

fn deliveries(shell: &Shell, text: &str) -> Vec<(&'static str, String)> {
    let states = [DeliveryState::Waiting, DeliveryState::Delivered, DeliveryState::Failed, DeliveryState::Skipped];
    let all = states.map(delivery);
    let failed = StatusFilter { state: Some(DeliveryState::Failed), name: "failed", count: 1_700, is_chosen: true };
    let everything = StatusFilter { state: None, name: "", count: 1_700, is_chosen: false };
    let statuses = [everything, failed];
    let page = Page { limit: 50, offset: 50 };
    let paging = &Paging {
        path: "/console/webhooks/whk_x/deliveries".to_owned(),
        filter: vec![("status", "failed".to_owned())],
        page,
        total: 132,
    };
    let none = &Paging { page: Page::default(), total: 0, ..paging.clone() };
    let list = Deliveries {
        shell,
        webhook: &webhook(text, WebhookState::Active),
        statuses: &statuses,
        deliveries: &all,
        paging,
    };
    let [pending, delivered, failed, skipped] = &all;
    let shown = DeliveryPage {
        shell,
        done: done(),
        may_retry: true,
        webhook: ID,
        is_active: true,
        delivery: failed,
        payload: Some(text),
        once: "once",
    };
    vec![
        ("deliveries", list.html()),
        ("deliveries, none", Deliveries { deliveries: &[], paging: none, ..list }.html()),
        ("delivery", shown.html()),
        ("delivery, waiting", DeliveryPage { done: Done::default(), delivery: pending, ..shown }.html()),
        ("delivery, without payload", DeliveryPage { delivery: skipped, payload: None, ..shown }.html()),
        ("delivery, to a webhook that is off", DeliveryPage { is_active: false, ..shown }.html()),
        ("delivery, seen by a viewer", DeliveryPage { may_retry: false, delivery: delivered, ..shown }.html()),
    ]
}
