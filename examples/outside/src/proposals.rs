//! A round of proposals: two people cannot meet at the first time, and one of them proposes another.

use std::sync::atomic::{AtomicU8, Ordering};

use kalends_proposals::{
    AgentId, CancelReason, Entropy, EventId, NewProposal, NewResponse, NewSlot, Proposal, SignedDuration, Span, Status,
    Timestamp, Verdict,
};

use crate::{Outcome, expect};

/// Identifiers must be unpredictable in a real service. Here it is enough that they differ.
struct Counting(AtomicU8);

impl Entropy for Counting {
    fn fill(&self, bytes: &mut [u8]) {
        bytes.fill(self.0.fetch_add(1, Ordering::Relaxed));
    }
}

pub fn run() -> Outcome {
    let entropy = Counting(AtomicU8::new(1));
    let now: Timestamp = "2027-03-01T08:00:00Z".parse()?;
    let hour = |hours| Span::new(now + SignedDuration::hours(hours), now + SignedDuration::hours(hours + 1));
    let [ada, ben, eve] = [1, 2, 3].map(|number| format!("agt_{number:026}").parse::<AgentId>());
    let (ada, ben, eve) = (ada?, ben?, eve?);
    let (org, calendar) = ("org_00000000000000000000000001".parse()?, "cal_00000000000000000000000001".parse()?);

    let new = NewProposal::new("Review", ada, vec![ben, eve], calendar, vec![NewSlot::new(hour(24)?)]);
    let first = Proposal::create(org, new, now, &entropy)?;
    let counter = NewResponse::counter(None).with_counter_slots(vec![hour(26)?]);
    let first = first.respond(ben, counter, now, &entropy)?;
    let first = first.respond(eve, NewResponse::decline(), now, &entropy)?;
    let other = first.responses().iter().flat_map(|response| response.counter_slots()).next().copied();
    let other = other.ok_or("Ben proposes another time")?;
    let first = first.cancelled(CancelReason::OrganizerCancelled, now)?;
    expect(&first.state_at(now).status(), &Status::Cancelled)?;

    // Ada takes Ben's time for the second round.
    let new = NewProposal::new("Review", ada, vec![ben, eve], calendar, vec![NewSlot::new(other)]);
    let mut second = Proposal::create(org, new, now, &entropy)?;
    let slot = second.slots()[0].id();
    for who in [ben, eve] {
        second = second.respond(who, NewResponse::accept(slot), now, &entropy)?;
    }
    let Verdict::Ranked(ranking) = second.verdict(now)? else { return Err("both accepted".into()) };
    let best = ranking.best().id();
    let confirmed = second.confirmed(best, EventId::new(now, &entropy), now)?;
    println!("the review begins at {}", ranking.best().span().start());
    expect(&confirmed.state_at(now).status(), &Status::Confirmed)
}
