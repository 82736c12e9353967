//! The page of a proposal.

use kalends_kernel::Page;
use kalends_time::{Span, Timestamp};

use super::{done, problems, shell};
use crate::{
    ANSWER_FIELDS, AgentNamed, AnswerGiven, AnswerKind, CancelProposal, Choice, DECLINES, Done, NO_PROBLEMS, Outlook,
    Paging, Place, ProposalAnswer, ProposalListed, ProposalPage, ProposalShown, ProposalState, ProposalWaiting,
    Proposals, ProposedSlot,
};

const FIRST: &str = "slt_01jn8r6v9ke0bt3m5qz2c7xwd0";
const SECOND: &str = "slt_01jn8r6v9ke0bt3m5qz2c7xwd1";

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn span(start: &str, end: &str) -> Span {
    Span::new(at(start), at(end)).unwrap()
}

fn agent(number: u8, text: &str) -> AgentNamed {
    AgentNamed { id: format!("agt_01jn8r6v9ke0bt3m5qz2c7xwd{number}"), name: text.to_owned() }
}

/// A pending proposal with an answer of each kind, and one that is missing.
fn proposal(text: &str) -> ProposalShown {
    let slot = |id: &str, span, calendar| ProposedSlot {
        id: id.to_owned(),
        span,
        score: "2.3".to_owned(),
        calendar,
        is_chosen: false,
    };
    let answer = |number, kind, counter_slots: &[Span], calendar| ProposalAnswer {
        agent: agent(number, text),
        kind,
        counter_slots: counter_slots.to_vec(),
        message: text.to_owned(),
        calendar,
        at: at("2026-03-02T08:00:00Z"),
    };
    let better = [span("2026-03-04T10:00:00Z", "2026-03-04T10:30:00Z")];
    ProposalShown {
        id: "spr_01jn8r6v9ke0bt3m5qz2c7xwdh".to_owned(),
        title: text.to_owned(),
        description: text.to_owned(),
        state: ProposalState::Pending,
        organizer: agent(0, text),
        calendar: text.to_owned(),
        zone: "Etc/GMT+3".parse().unwrap(),
        expires_at: at("2026-03-03T10:00:00Z"),
        is_reserved: false,
        skips_taken: true,
        min_accepts: 2,
        places_all: true,
        participants: (0..5).map(|number| agent(number, text)).collect(),
        slots: vec![
            slot(FIRST, span("2026-03-02T07:30:00Z", "2026-03-02T08:00:00Z"), None),
            slot(SECOND, span("2026-03-03T10:00:00Z", "2026-03-03T11:30:00Z"), Some(text.to_owned())),
        ],
        answers: vec![
            answer(0, AnswerKind::Accepts(SECOND.to_owned()), &[], Some(text.to_owned())),
            answer(1, AnswerKind::Declines, &[], None),
            answer(2, AnswerKind::Counters(Some(FIRST.to_owned())), &better, None),
            answer(3, AnswerKind::Counters(None), &better, None),
        ],
        events: Vec::new(),
        notices: vec![text.to_owned()],
    }
}

pub(super) fn pages(text: &str) -> Vec<(&'static str, String)> {
    let shell = &shell(text, Place::Waiting);
    let pending = &proposal(text);
    let confirmed = {
        let mut confirmed = proposal(text);
        confirmed.state = ProposalState::Confirmed;
        confirmed.slots[1].is_chosen = true;
        confirmed.events = vec![(text.to_owned(), "evt_01jn8r8f4h3gyqz7s9c1b5wnkd".to_owned())];
        confirmed
    };
    let reserved = ProposalShown { is_reserved: true, places_all: false, ..proposal(text) };
    let declined = ProposalShown {
        state: ProposalState::AllDeclined,
        description: String::new(),
        calendar: String::new(),
        min_accepts: 0,
        places_all: false,
        is_reserved: true,
        answers: Vec::new(),
        notices: Vec::new(),
        ..proposal(text)
    };
    let expired = ProposalShown { state: ProposalState::Expired, skips_taken: false, ..proposal(text) };
    let cancelled = ProposalShown { state: ProposalState::Cancelled, slots: Vec::new(), ..declined.clone() };
    let choices = [Choice { value: "", title: "Choose an agent" }, Choice { value: "agt_1", title: text }];
    let best = Outlook::Chooses(SECOND.to_owned());
    let page = ProposalPage {
        shell,
        done: done(),
        once: "once",
        proposal: pending,
        outlook: &best,
        may_answer: true,
        may_organize: true,
        agents: &choices,
        calendars: &choices,
        has_more_calendars: true,
        given: AnswerGiven::default(),
        problems: &NO_PROBLEMS,
        now: at("2026-03-02T08:00:00Z"),
    };
    let given = AnswerGiven { agent: "agt_1", slot: SECOND, calendar: "agt_1", message: text };
    let wrong = &problems(&ANSWER_FIELDS, text);
    let again = ProposalPage { done: Done::default(), given, problems: wrong, ..page };
    let outlook = |outlook: &Outlook| ProposalPage { outlook, calendars: &[], ..page }.html();
    let over = |proposal: &ProposalShown| ProposalPage { proposal, outlook: &Outlook::Over, ..page }.html();
    let cancel = CancelProposal {
        shell,
        once: "once",
        id: &pending.id,
        title: text,
        zone: "Etc/GMT+3",
        answered: 2,
        participants: 3,
        slots: 4,
        is_reserved: true,
    };
    let listed = |state| ProposalListed {
        state,
        facts: ProposalWaiting {
            id: pending.id.clone(),
            title: text.to_owned(),
            organizer: text.to_owned(),
            expires_at: pending.expires_at,
            answered: 1,
            participants: 3,
        },
    };
    let entries = [listed(ProposalState::Pending), listed(ProposalState::Expired)];
    let path = || "/console/proposals".to_owned();
    let some = &Paging { path: path(), filter: Vec::new(), page: Page { limit: 50, offset: 50 }, total: 132 };
    let none = &Paging { path: path(), filter: Vec::new(), page: Page::default(), total: 0 };
    let list = Proposals { shell, status: "", proposals: &entries, paging: some };
    vec![
        ("proposals", list.html()),
        ("proposals, none", Proposals { proposals: &[], paging: none, ..list }.html()),
        ("proposals, none expired", Proposals { status: "expired", proposals: &[], paging: none, ..list }.html()),
        ("proposal", page.html()),
        ("proposal, reserved", ProposalPage { proposal: &reserved, ..page }.html()),
        ("proposal, wrong", again.html()),
        ("proposal, wrong, declines", ProposalPage { given: AnswerGiven { slot: DECLINES, ..given }, ..again }.html()),
        ("proposal, seen by a viewer", ProposalPage { may_answer: false, may_organize: false, ..page }.html()),
        ("proposal, to be cancelled", outlook(&Outlook::Cancels)),
        ("proposal, no answers", outlook(&Outlook::Unanswered)),
        ("proposal, no slot left", outlook(&Outlook::NoSlotLeft)),
        ("proposal, too few accept", outlook(&Outlook::TooFewAccepts)),
        ("proposal, all have answered", ProposalPage { agents: &[], ..page }.html()),
        ("proposal, confirmed", over(&confirmed)),
        ("proposal, declined", over(&declined)),
        ("proposal, expired", over(&expired)),
        ("proposal, cancelled", over(&cancelled)),
        ("cancel proposal", cancel.html()),
        ("cancel proposal, nothing reserved", CancelProposal { zone: "", is_reserved: false, ..cancel }.html()),
    ]
}
