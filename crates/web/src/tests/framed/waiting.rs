//! What waits for somebody.

use kalends_kernel::Page;
use kalends_time::{Span, Timestamp, Zone};

use super::{done, shell};
use crate::{
    ApprovalWaiting, ApprovalsWaiting, ClaimWait, ClaimWaiting, Done, EventInView, HoldWaiting, HoldsWaiting,
    InvitationWaiting, OpenedHere, Paging, Place, ProposalWaiting, ProposalsWaiting, Waiting,
};

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

pub(super) fn pages(text: &str) -> Vec<(&'static str, String)> {
    let shell = &shell(text, Place::Waiting);
    let span = Span::new(at("2026-03-03T00:00:00Z"), at("2026-03-04T00:00:00Z")).unwrap();
    let hold = |expires_at, dates| HoldWaiting {
        id: "evt_01jn8r8f4h3gyqz7s9c1b5wnkd".to_owned(),
        title: text.to_owned(),
        calendar: text.to_owned(),
        zone: "Etc/GMT+3".parse().unwrap(),
        span,
        dates,
        expires_at: at(expires_at),
        once: "once".to_owned(),
    };
    let whole = Some(EventInView::whole_days(span, Zone::UTC));
    let entries = [hold("2026-03-02T08:04:00Z", None), hold("2026-03-02T10:04:00Z", whole)];
    let holds = HoldsWaiting { entries: &entries, may_end: true, has_more: true };
    let approvals = [ApprovalWaiting {
        id: "apr_01jn8r6v9ke0bt3m5qz2c7xwdh".to_owned(),
        summary: text.to_owned(),
        agent: text.to_owned(),
        created_at: at("2026-03-02T08:00:00Z"),
        expires_at: at("2026-03-03T08:00:00Z"),
    }];
    let proposals = [ProposalWaiting {
        id: "spr_01jn8r6v9ke0bt3m5qz2c7xwdh".to_owned(),
        title: text.to_owned(),
        organizer: text.to_owned(),
        expires_at: at("2026-03-03T10:00:00Z"),
        answered: 1,
        participants: 3,
    }];
    let path = || "/console/waiting".to_owned();
    let paging = &Paging { path: path(), filter: Vec::new(), page: Page { limit: 50, offset: 50 }, total: 132 };
    let none = &Paging { path: path(), filter: Vec::new(), page: Page::default(), total: 0 };
    let claim =
        |org: &str, wait| ClaimWaiting { id: "clm_01jn8r6v9ke0bt3m5qz2c7xwdh".to_owned(), org: org.to_owned(), wait };
    let claims = [
        claim("", ClaimWait::Code(at("2026-03-02T08:10:00Z"))),
        claim("org_01jn8r6v9ke0bt3m5qz2c7xwdg", ClaimWait::Effect(at("2026-03-03T08:00:00Z"))),
    ];
    let invitation = Some(InvitationWaiting { organization: text.to_owned(), role: "admin" });
    let opened = &OpenedHere { invitation, has_link: true };
    let everything = Waiting {
        shell,
        done: done(),
        now: at("2026-03-02T08:00:00Z"),
        opened,
        approvals: ApprovalsWaiting { entries: &approvals, total: 21, may_decide: true },
        holds,
        proposals: ProposalsWaiting { entries: &proposals, paging, has_list: true },
        claims: &claims,
        invitations: 3,
    };
    let nothing = Waiting {
        done: Done::default(),
        opened: &OpenedHere::default(),
        approvals: ApprovalsWaiting { entries: &[], total: 0, may_decide: true },
        holds: HoldsWaiting { entries: &[], may_end: false, has_more: false },
        proposals: ProposalsWaiting { entries: &[], paging: none, has_list: false },
        claims: &[],
        invitations: 0,
        ..everything
    };
    let behind = ProposalsWaiting { entries: &[], paging, has_list: true };
    vec![
        ("waiting", everything.html()),
        (
            "waiting, seen by a viewer",
            Waiting {
                approvals: ApprovalsWaiting { may_decide: false, ..everything.approvals },
                holds: HoldsWaiting { may_end: false, ..holds },
                invitations: 0,
                ..everything
            }
            .html(),
        ),
        ("waiting, behind the last proposals", Waiting { proposals: behind, ..nothing }.html()),
        ("waiting, nothing", nothing.html()),
        ("waiting, one approval", {
            Waiting { approvals: ApprovalsWaiting { entries: &approvals, total: 1, may_decide: true }, ..nothing }
                .html()
        }),
    ]
}
