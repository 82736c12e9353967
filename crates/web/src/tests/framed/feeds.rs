//! The pages about feeds, files and subscriptions.

use kalends_kernel::Page;
use kalends_time::{SignedDuration, Span, Timestamp, Zone};

use super::{done, problems, shell};
use crate::{
    Choice, DeleteSubscription, Done, FeedCalendar, FeedCalendarPage, FeedsPage, IMPORT_FIELDS, ImportCheck,
    ImportForm, ImportShown, Imported, NO_PROBLEMS, NewSubscriptionForm, Obstacle, Paging, Place, PlannedShown,
    RefusedShown, RotateFeed, SUBSCRIPTION_FIELDS, Shell, SubscriptionFilter, SubscriptionGiven, SubscriptionPage,
    SubscriptionShown, SubscriptionState, Subscriptions, SubscriptionsOf, SyncShown, WhyNot,
};

const CALENDAR: &str = "cal_01jn8r6v9ke0bt3m5qz2c7xwdj";
const AGENT: &str = "agt_01jn8r6v9ke0bt3m5qz2c7xwdh";
const STATUSES: [SubscriptionFilter; 2] = [
    SubscriptionFilter { name: "", count: 1_700, is_chosen: false },
    SubscriptionFilter { name: "error", count: 1, is_chosen: true },
];

fn at() -> Timestamp {
    "2026-03-02T08:00:00Z".parse().unwrap()
}

fn calendar(text: &str, is_shared: bool) -> FeedCalendar {
    FeedCalendar {
        id: CALENDAR.to_owned(),
        name: text.to_owned(),
        zone: "Europe/Berlin".to_owned(),
        agent: (!is_shared).then(|| (AGENT.to_owned(), text.to_owned())),
        refuses_conflicts: !is_shared,
    }
}

fn report(text: &str) -> SyncShown {
    SyncShown {
        created: 1_200,
        updated: 1,
        deleted: 0,
        untouched: 7,
        skipped: 3,
        withheld: 2,
        skipped_events: vec![(text.to_owned(), text.to_owned())],
        warnings: vec![text.to_owned()],
    }
}

fn subscription(text: &str, state: SubscriptionState) -> SubscriptionShown {
    let is_failing = state == SubscriptionState::Failing;
    let synced = state != SubscriptionState::Waiting;
    SubscriptionShown {
        id: "isub_01jn8r6v9ke0bt3m5qz2c7xwdh".to_owned(),
        label: text.to_owned(),
        url: text.to_owned(),
        calendar: CALENDAR.to_owned(),
        calendar_name: text.to_owned(),
        agent: AGENT.to_owned(),
        agent_name: text.to_owned(),
        state,
        is_busy_only: is_failing,
        last_error: if is_failing { text.to_owned() } else { String::new() },
        failures: u32::from(is_failing),
        last_synced_at: synced.then(at),
        report: synced.then(|| report(text)),
        created_at: at(),
        updated_at: at(),
        now: at() + SignedDuration::minutes(12),
    }
}

pub(super) fn pages(text: &str) -> Vec<(&'static str, String)> {
    let shell = &shell(text, Place::Feeds);
    [feeds(shell, text), imports(shell, text), list(shell, text), one(shell, text)].concat()
}

fn feeds(shell: &Shell, text: &str) -> Vec<(&'static str, String)> {
    let calendars = [calendar(text, false), calendar(text, true)];
    let [owned, shared] = &calendars;
    let page = Page { limit: 50, offset: 50 };
    let paging = &Paging { path: "/console/feeds".to_owned(), filter: Vec::new(), page, total: 132 };
    let none = &Paging { page: Page::default(), total: 0, ..paging.clone() };
    let subscriptions = [subscription(text, SubscriptionState::Active)];
    let list = FeedsPage {
        shell,
        done: done(),
        calendars: &calendars,
        paging,
        may_subscribe: true,
        statuses: &STATUSES,
        subscriptions: &subscriptions,
        subscriptions_total: 11,
    };
    let empty = FeedsPage {
        done: Done::default(),
        calendars: &[],
        paging: none,
        may_subscribe: false,
        subscriptions: &[],
        subscriptions_total: 0,
        ..list
    };
    let shown = FeedCalendarPage {
        shell,
        done: done(),
        calendar: owned,
        address: text,
        may_rotate: true,
        may_import: true,
        may_subscribe: true,
    };
    let seen = FeedCalendarPage { may_rotate: false, may_import: false, may_subscribe: false, ..shown };
    vec![
        ("feeds", list.html()),
        ("feeds, none", empty.html()),
        ("feed of a calendar", shown.html()),
        ("feed of a shared calendar", FeedCalendarPage { calendar: shared, done: Done::default(), ..shown }.html()),
        ("feed, seen by a viewer", seen.html()),
        ("feed, replace the address", RotateFeed { shell, calendar: owned, once: "once" }.html()),
    ]
}

fn imports(shell: &Shell, text: &str) -> Vec<(&'static str, String)> {
    let (owned, shared) = (&calendar(text, false), &calendar(text, true));
    let (once, base_url, wrong) = ("once", text, &problems(&IMPORT_FIELDS, text));
    let form = ImportForm { shell, calendar: owned, once, base_url, text, problems: wrong };
    let span = Span::new(at(), at() + SignedDuration::hours(1)).unwrap();
    let met = Some(WhyNot { obstacle: Obstacle::Event, span });
    let refused = RefusedShown { uid: text.to_owned(), start: at(), zone: Zone::UTC, met };
    let result = &ImportShown { report: report(text), refused_count: 170, refused: vec![refused; 30] };
    let counted = SyncShown { skipped: 0, skipped_events: Vec::new(), warnings: Vec::new(), ..report(text) };
    let clean = &ImportShown { report: counted, refused_count: 0, refused: Vec::new() };
    let nothing = SyncShown { created: 0, updated: 0, ..clean.report.clone() };
    let nothing = &ImportShown { report: nothing, ..clean.clone() };
    let planned = PlannedShown { title: text.to_owned(), when: text.to_owned(), what: "Created, a series" };
    let first = vec![planned; 20];
    let check = ImportCheck {
        shell,
        calendar: owned,
        once: "once",
        text,
        result,
        new_series: 1,
        changed_series: 0,
        deleted: 2,
        dropped: 3,
        charged: 1_200,
        first: &first,
        numbers_can_differ: true,
    };
    let idle = ImportCheck { result: nothing, new_series: 0, deleted: 0, dropped: 0, charged: 0, first: &[], ..check };
    let done = Imported { shell, calendar: owned, result };
    vec![
        ("import", ImportForm { calendar: shared, problems: &NO_PROBLEMS, ..form }.html()),
        ("import, wrong", form.html()),
        ("import, checked", check.html()),
        (
            "import, complete",
            ImportCheck { result: clean, changed_series: 2, numbers_can_differ: false, ..check }.html(),
        ),
        ("import, without effect", idle.html()),
        ("imported", done.html()),
        ("imported completely", Imported { result: clean, ..done }.html()),
    ]
}

/// The list, and the form that makes a subscription.
fn list(shell: &Shell, text: &str) -> Vec<(&'static str, String)> {
    let states =
        [SubscriptionState::Waiting, SubscriptionState::Active, SubscriptionState::Failing, SubscriptionState::Paused];
    let all = states.map(|state| subscription(text, state));
    let page = Page { limit: 50, offset: 50 };
    let paging = &Paging {
        path: "/console/feeds/subscriptions".to_owned(),
        filter: vec![("status", "error".to_owned())],
        page,
        total: 132,
    };
    let none = &Paging { page: Page::default(), total: 0, ..paging.clone() };
    let of = Some(SubscriptionsOf { id: AGENT, name: text });
    let list = Subscriptions {
        shell,
        done: done(),
        may_create: true,
        of: None,
        statuses: &STATUSES,
        subscriptions: &all,
        paging,
    };
    let quiet = Subscriptions { done: Done::default(), may_create: false, ..list };
    let empty = Subscriptions { of, subscriptions: &[], paging: none, ..quiet };
    let given = SubscriptionGiven { calendar: CALENDAR, url: text, label: text, busy_only: true };
    let calendars = [Choice { value: CALENDAR, title: text }];
    let new = NewSubscriptionForm {
        shell,
        once: "once",
        calendars: &calendars,
        oldest: Some(200),
        given,
        problems: &problems(&SUBSCRIPTION_FIELDS, text),
    };
    vec![
        ("subscriptions", list.html()),
        ("subscriptions of an agent, none", empty.html()),
        ("new subscription, wrong", new.html()),
        ("new subscription", NewSubscriptionForm { oldest: None, problems: &NO_PROBLEMS, ..new }.html()),
        ("new subscription, no calendar", NewSubscriptionForm { calendars: &[], ..new }.html()),
    ]
}

/// One subscription.
fn one(shell: &Shell, text: &str) -> Vec<(&'static str, String)> {
    let active = &subscription(text, SubscriptionState::Active);
    let (waiting, failing) =
        (&subscription(text, SubscriptionState::Waiting), &subscription(text, SubscriptionState::Failing));
    let paused = &SubscriptionShown { label: String::new(), ..subscription(text, SubscriptionState::Paused) };
    let given = SubscriptionGiven { calendar: "", url: text, label: text, busy_only: true };
    let shown = SubscriptionPage {
        shell,
        done: done(),
        may_change: true,
        may_delete: true,
        subscription: active,
        once: "once",
        version: text,
        given,
        was: given,
        problems: &NO_PROBLEMS,
    };
    let seen = SubscriptionPage { done: Done::default(), may_change: false, may_delete: false, ..shown };
    let wrong = &problems(&SUBSCRIPTION_FIELDS, text);
    let delete = DeleteSubscription { shell, subscription: active, version: text, problem: Some(text) };
    vec![
        ("subscription", shown.html()),
        ("subscription, wrong", SubscriptionPage { subscription: failing, problems: wrong, ..shown }.html()),
        ("subscription, waiting", SubscriptionPage { subscription: waiting, ..shown }.html()),
        ("subscription, paused", SubscriptionPage { subscription: paused, ..shown }.html()),
        ("subscription, seen by a viewer", seen.html()),
        ("subscription, delete", delete.html()),
        ("subscription, delete early", DeleteSubscription { subscription: waiting, problem: None, ..delete }.html()),
    ]
}
