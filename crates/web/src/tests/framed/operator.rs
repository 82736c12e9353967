//! The operator's pages.

use kalends_kernel::Page;
use kalends_time::CivilDate;

use super::{Named, done, problems};
use crate::{
    Choice, Done, NO_PROBLEMS, OperatorBackup, OperatorConfiguration, OperatorCount, OperatorDataKey, OperatorDayCount,
    OperatorDuty, OperatorFailedEmail, OperatorFailedMail, OperatorFailure, OperatorKeys, OperatorLimit, OperatorMail,
    OperatorMailOutcome, OperatorOrganization, OperatorOrganizationPage, OperatorOrganizations, OperatorOverview,
    OperatorPlace, OperatorPlanGiven, OperatorSetting, OperatorShell, OperatorSignIn, OperatorState, OperatorWaiting,
    PLAN_FIELDS, Paging, TEST_MAIL_FIELDS,
};

fn shell(place: OperatorPlace) -> OperatorShell {
    OperatorShell { place, ends_at: "2026-03-02T09:00:00Z".parse().unwrap() }
}

fn organization(text: &str, waits: bool) -> OperatorOrganization {
    let at = "2026-03-02T08:00:00Z".parse().unwrap();
    OperatorOrganization {
        id: "org_01jn8r6v9ke0bt3m5qz2c7xwdg".to_owned(),
        name: text.to_owned(),
        email: waits.then(|| text.to_owned()),
        plan: "custom",
        has_own_limits: !waits,
        test: !waits,
        waiting_since: waits.then_some(at),
        used: (!waits).then_some((1_234, 1)),
        created_at: at,
    }
}

pub(super) fn pages(text: &str) -> Named {
    let mut pages = signing_in(text);
    pages.extend(server(text));
    pages.extend(lists(text));
    pages.extend(one(text));
    pages.extend(mail(text));
    pages.extend(keys(text));
    pages
}

fn signing_in(text: &str) -> Named {
    let sign_in = OperatorSignIn { next: text, needed: false, problem: None };
    vec![
        ("operator, signed out", sign_in.html()),
        ("operator, wrong", OperatorSignIn { problem: Some(text), ..sign_in }.html()),
        ("operator, ended", OperatorSignIn { needed: true, ..sign_in }.html()),
    ]
}

fn server(text: &str) -> Named {
    let counts = [OperatorCount { title: text, count: 1_234 }];
    let duties = [OperatorDuty { name: text, runs: 12, failed: 3 }];
    let busy = OperatorOverview {
        shell: &shell(OperatorPlace::Overview),
        version: text,
        database: text,
        schema: 37,
        bytes: Some(12_345_678),
        backup: OperatorBackup::MadeAt("2026-03-01T08:00:00Z".parse().unwrap()),
        is_ready: true,
        started_at: "2026-02-02T08:00:00Z".parse().unwrap(),
        now: "2026-03-02T08:00:00Z".parse().unwrap(),
        organizations: Some((1_000, 3)),
        queues: &counts,
        oldest_due: "2026-03-02T07:59:00Z".parse().ok(),
        keeps_mail: true,
        letters: &counts,
        duties: &duties,
    };
    let down = OperatorOverview {
        is_ready: false,
        bytes: None,
        backup: OperatorBackup::Unread,
        organizations: None,
        queues: &[],
        oldest_due: None,
        letters: &[],
        duties: &[],
        ..busy
    };
    let read_only = OperatorOverview { is_ready: false, backup: OperatorBackup::Unknown, ..busy };
    let set = OperatorSetting { name: text, value: text, source: text };
    let settings = [set, OperatorSetting { source: "default", ..set }];
    let configuration = OperatorConfiguration { shell: &shell(OperatorPlace::Configuration), settings: &settings };
    let untouched = OperatorConfiguration { settings: &settings[1..], ..configuration };
    vec![
        ("operator", busy.html()),
        ("operator, database down", down.html()),
        ("operator, database read-only", read_only.html()),
        ("operator, no figures", OperatorOverview { is_ready: true, ..down }.html()),
        ("operator's configuration", configuration.html()),
        ("operator's configuration, defaults", untouched.html()),
    ]
}

fn lists(text: &str) -> Named {
    let organizations = [organization(text, true), organization(text, false)];
    let paging = |total, filter| Paging {
        path: "/console/operator/organizations".to_owned(),
        filter,
        page: Page::default(),
        total,
    };
    let (long, none) = (&paging(120, vec![("q", text.to_owned())]), &paging(0, Vec::new()));
    let found = OperatorOrganizations {
        shell: &shell(OperatorPlace::Organizations),
        search: text,
        plan: "pro",
        plans: &[Choice { value: "", title: "Any" }, Choice { value: "pro", title: text }],
        state: Some(OperatorState::Waiting),
        organizations: &organizations,
        paging: long,
    };
    let nothing = OperatorOrganizations { organizations: &[], paging: none, ..found };
    let waiting = OperatorWaiting {
        shell: &shell(OperatorPlace::Waiting),
        done: done(),
        organizations: &organizations[..1],
        paging: long,
    };
    let nobody = OperatorWaiting { done: Done::default(), organizations: &[], paging: none, ..waiting };
    vec![
        ("operator's organizations", found.html()),
        ("operator's organizations, not found", nothing.html()),
        (
            "operator's organizations, none",
            OperatorOrganizations { search: "", plan: "", state: None, ..nothing }.html(),
        ),
        ("operator's waiting list", waiting.html()),
        ("operator's waiting list, empty", nobody.html()),
    ]
}

fn one(text: &str) -> Named {
    let limits = [
        OperatorLimit { title: text, name: text, used: Some(1_000), of_plan: Some(50), limit: None },
        OperatorLimit { title: text, name: text, used: None, of_plan: None, limit: Some(7) },
    ];
    let plans = [Choice { value: "free", title: text }, Choice { value: "custom", title: "custom" }];
    let active = OperatorOrganizationPage {
        shell: &shell(OperatorPlace::Organizations),
        done: done(),
        organization: &organization(text, false),
        source: text,
        version: "7",
        limits: &limits,
        plans: &plans,
        given: OperatorPlanGiven { plan: "custom", limits: text },
        problems: &NO_PROBLEMS,
    };
    let waiting = OperatorOrganizationPage {
        done: Done::default(),
        organization: &organization(text, true),
        version: text,
        problems: &problems(&PLAN_FIELDS, text),
        ..active
    };
    vec![("operator's organization", active.html()), ("operator's organization, wrong", waiting.html())]
}

fn keys(text: &str) -> Named {
    let made_at = "2026-03-02T08:00:00Z".parse().unwrap();
    let current =
        OperatorDataKey { id: text, made_at, seals: true, resealed_at: Some(made_at), master: "72cd6e8422c407fb" };
    let published = OperatorDataKey { seals: false, resealed_at: None, master: text, ..current };
    let both = [current, published];
    let rotating = OperatorKeys { shell: &shell(OperatorPlace::Keys), keys: Some(&both) };
    let none = OperatorKeys { keys: Some(&[]), ..rotating };
    let unknown = OperatorKeys { keys: None, ..rotating };
    vec![
        ("operator's keys", rotating.html()),
        ("operator's keys, none", none.html()),
        ("operator's keys, unknown", unknown.html()),
    ]
}

fn mail(text: &str) -> Named {
    let counts = [OperatorCount { title: text, count: 7 }];
    let kept = OperatorMail {
        shell: &shell(OperatorPlace::Mail),
        transport: text,
        sender: text,
        keeps_mail: true,
        letters: &[],
        failed: None,
        email: "",
        outcome: None,
        problems: &NO_PROBLEMS,
    };
    let refused = OperatorFailedEmail {
        org: "org_01jn8r6v9ke0bt3m5qz2c7xwdg",
        organization: text,
        domain: text,
        state: OperatorFailure::Refused,
        attempts: 3,
        code: Some(550),
        reason: text,
        written_at: "2026-03-02T08:00:00Z".parse().unwrap(),
    };
    let waits = OperatorFailure::Again("2026-03-02T09:00:00Z".parse().ok());
    let emails = [refused, OperatorFailedEmail { state: waits, code: None, ..refused }];
    let day = |text: &str| text.parse::<CivilDate>().unwrap();
    let days =
        [(day("2026-03-02"), OperatorDayCount::AtLeast(1_234)), (day("2026-03-01"), OperatorDayCount::NotCounted)];
    let failed = OperatorFailedMail { emails: &emails, of_each: 5, days: &days };
    let none = OperatorFailedMail { emails: &[], ..failed };
    let sent = OperatorMail { keeps_mail: false, letters: &counts, failed: Some(failed), email: text, ..kept };
    let outcome = |accepted, code| Some(OperatorMailOutcome { accepted, code, text, details: text });
    let silent = Some(OperatorMailOutcome { accepted: true, code: None, text: "", details: "" });
    vec![
        ("operator's mail", kept.html()),
        ("operator's mail, written", OperatorMail { outcome: silent, failed: Some(none), ..kept }.html()),
        ("operator's mail, sent", OperatorMail { outcome: outcome(true, Some(250)), ..sent }.html()),
        ("operator's mail, refused", OperatorMail { outcome: outcome(false, None), ..sent }.html()),
        ("operator's mail, wrong", OperatorMail { problems: &problems(&TEST_MAIL_FIELDS, text), ..sent }.html()),
    ]
}
