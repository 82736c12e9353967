//! The approvals.

use kalends_kernel::Page;
use kalends_time::Timestamp;

use super::{done, problems, shell};
use crate::{
    AgentNamed, ApprovalDecision, ApprovalListed, ApprovalPage, ApprovalRequest, ApprovalShown, ApprovalState,
    ApprovalWaiting, Approvals, DENIAL_FIELDS, Done, Href, NO_PROBLEMS, Paging, Place,
};

const ID: &str = "apr_01jn8r6v9ke0bt3m5qz2c7xwdh";

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn approval(text: &str, state: ApprovalState, body: String) -> ApprovalShown {
    let is_decided = !matches!(state, ApprovalState::Pending | ApprovalState::Expired);
    ApprovalShown {
        id: ID.to_owned(),
        summary: text.to_owned(),
        state,
        operation: "createEvent".to_owned(),
        agent: AgentNamed { id: "agt_01jn8r6v9ke0bt3m5qz2c7xwdh".to_owned(), name: text.to_owned() },
        key_prefix: "svc_ak_Zk9wQm7cXb2dR".to_owned(),
        key_label: text.to_owned(),
        created_at: at("2026-03-02T08:00:00Z"),
        expires_at: at("2026-03-03T08:00:00Z"),
        decision: is_decided.then(|| ApprovalDecision { by: text.to_owned(), at: at("2026-03-02T09:00:00Z") }),
        reason: if is_decided { text.to_owned() } else { String::new() },
        links: vec![("The day in the calendar", Href::new("/console/calendar?view=day&date=2026-03-09").unwrap())],
        request: Some(ApprovalRequest {
            line: format!("POST /v1/calendars/{text}/events"),
            run: text.to_owned(),
            body,
        }),
    }
}

pub(super) fn pages(text: &str) -> Vec<(&'static str, String)> {
    let shell = &shell(text, Place::Waiting);
    let body = || serde_json::json!({ "title": text, "attendees": [{ "email": text }] }).to_string();
    let of = |state| approval(text, state, body());
    let pending = &of(ApprovalState::Pending);
    let wrong = &problems(&DENIAL_FIELDS, text);
    let page = ApprovalPage {
        shell,
        done: Done::default(),
        approval: pending,
        may_decide: true,
        reason: "",
        problems: &NO_PROBLEMS,
    };
    let over = |state| ApprovalPage { done: done(), approval: &of(state), ..page }.html();
    let of_body = |body| ApprovalPage { approval: &approval(text, ApprovalState::Pending, body), ..page }.html();
    let bare =
        ApprovalShown { key_label: String::new(), links: Vec::new(), request: None, ..of(ApprovalState::Pending) };
    let listed = |state| ApprovalListed {
        state,
        facts: ApprovalWaiting {
            id: ID.to_owned(),
            summary: text.to_owned(),
            agent: text.to_owned(),
            created_at: at("2026-03-02T08:00:00Z"),
            expires_at: at("2026-03-03T08:00:00Z"),
        },
    };
    let entries = [listed(ApprovalState::Pending), listed(ApprovalState::Failed)];
    let path = || "/console/approvals".to_owned();
    let some = &Paging { path: path(), filter: Vec::new(), page: Page { limit: 50, offset: 50 }, total: 132 };
    let none = &Paging { path: path(), filter: Vec::new(), page: Page::default(), total: 0 };
    let list = Approvals { shell, status: "", approvals: &entries, paging: some };
    vec![
        ("approvals", list.html()),
        ("approvals, none", Approvals { approvals: &[], paging: none, ..list }.html()),
        ("approvals, none expired", Approvals { status: "expired", approvals: &[], paging: none, ..list }.html()),
        ("approval", page.html()),
        ("approval, wrong", ApprovalPage { reason: text, problems: wrong, ..page }.html()),
        ("approval, seen by a viewer", ApprovalPage { approval: &bare, may_decide: false, ..page }.html()),
        ("approval, without a body", of_body(String::new())),
        ("approval, of many lines", of_body(format!("[{}0]", "0,".repeat(2_000)))),
        ("approval, of a long line", of_body(format!("\"{}\"", "long ".repeat(20_000)))),
        ("approval, done", over(ApprovalState::Approved)),
        ("approval, failed", over(ApprovalState::Failed)),
        ("approval, denied", over(ApprovalState::Denied)),
        ("approval, cancelled", over(ApprovalState::Cancelled)),
        ("approval, expired", over(ApprovalState::Expired)),
    ]
}

#[test]
fn a_page_says_how_much_of_a_request_it_leaves_out() {
    let shell = &shell("Engines", Place::Waiting);
    let shown = |body| {
        let approval = &approval("Ada", ApprovalState::Pending, body);
        let (done, problems) = (Done::default(), &NO_PROBLEMS);
        ApprovalPage { shell, done, approval, may_decide: true, reason: "", problems }.html()
    };
    assert!(!shown("{}".to_owned()).contains("This is not all"));
    assert!(shown(format!("[{}0]", "0,".repeat(2_000))).contains("more lines do not fit on this page (1003)"));
    assert!(shown("0".repeat(100_000)).contains("too long for this page"));
}

#[test]
fn a_request_that_was_not_made_is_no_longer_kept() {
    let shell = &shell("Engines", Place::Waiting);
    let shown = |state| {
        let approval = &approval("Ada", state, String::new());
        let (done, problems) = (Done::default(), &NO_PROBLEMS);
        let page = ApprovalPage { shell, done, approval, may_decide: true, reason: "", problems }.html();
        (page.contains("body was deleted"), page.contains("It has no body"))
    };
    for state in [ApprovalState::Denied, ApprovalState::Cancelled, ApprovalState::Expired] {
        assert_eq!(shown(state), (true, false), "{state:?}");
    }
    for state in [ApprovalState::Pending, ApprovalState::Approved, ApprovalState::Failed] {
        assert_eq!(shown(state), (false, true), "{state:?}");
    }
}

#[test]
fn only_who_may_decide_gets_the_forms_and_only_while_it_waits() {
    let shell = &shell("Engines", Place::Waiting);
    let has_forms = |state, may_decide| {
        let approval = &approval("Ada", state, String::new());
        let (done, problems) = (Done::default(), &NO_PROBLEMS);
        let page = ApprovalPage { shell, done, approval, may_decide, reason: "", problems }.html();
        ["/approve\"", "/deny\""].map(|form| page.contains(form))
    };
    assert_eq!(has_forms(ApprovalState::Pending, true), [true; 2]);
    assert_eq!(has_forms(ApprovalState::Pending, false), [false; 2]);
    for state in [ApprovalState::Approved, ApprovalState::Failed, ApprovalState::Denied, ApprovalState::Expired] {
        assert_eq!(has_forms(state, true), [false; 2], "{state:?}");
    }
}
