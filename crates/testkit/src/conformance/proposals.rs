//! Proposals, how they end, and the time that they reserve.

use kalends_app::{Guard, ports::CommitError};
use kalends_calendars::{Calendar, Change as Scheduled, Reservation};
use kalends_kernel::{AgentId, EventId, Page, ProposalId};
use kalends_proposals::{
    CancelReason, Change, NewProposal, NewResponse, NewSlot, Proposal, ResponseKind, State, Status, StoredProposal,
    Weight,
    ports::{ProposalFilter, StatusAt},
};
use kalends_time::{SignedDuration, Timestamp};

use super::{
    StoreUnderTest,
    scene::{LARGEST_PAGE, Scene, assert_refused, hours, race, successes},
};
use crate::fixtures::{Compose, metadata};

/// How many tasks run at once.
const TASKS: usize = 8;

impl Scene {
    /// A proposal with two slots, the second on another calendar.
    fn proposed(
        &self,
        (organizer, participants): (AgentId, Vec<AgentId>),
        calendar: &Calendar,
        expires_at: Option<Timestamp>,
    ) -> Proposal {
        let now = self.make.tick();
        let slot = |span, weight| NewSlot::new(span).with_weight(Weight::parse("", weight).unwrap());
        let slots = vec![slot(hours(30, 31), 0.3), slot(hours(30, 40), 10.0).with_calendar(calendar.id)];
        let new = NewProposal::new("Auftakt: „früh“ 🗓", organizer, participants, calendar.id, slots)
            .with_description("Two\nlines".to_owned())
            .with_expiry(expires_at)
            .with_held_slots(true)
            .with_taken_skipped(true)
            .with_metadata(metadata(serde_json::json!({ "project": { "id": 7 } })));
        Proposal::create(self.org, new, now, &self.make.entropy).unwrap()
    }

    async fn proposal(&self, calendar: &Calendar) -> Proposal {
        let (organizer, first, second) = (self.agent().await, self.agent().await, self.agent().await);
        let made = self.proposed((organizer.id, vec![second.id, first.id]), calendar, None);
        self.propose(vec![Change::Create(Box::new(made.clone()))]).await.unwrap();
        made
    }

    async fn propose(&self, proposals: Vec<Change>) -> Result<(), CommitError> {
        let mut changes = self.changes();
        changes.proposals = proposals;
        self.try_commit(changes).await
    }

    async fn proposal_now(&self, id: ProposalId) -> Option<Proposal> {
        self.store.find_proposal(self.org, id).await.unwrap()
    }

    async fn proposals(&self, filter: ProposalFilter, page: Page) -> (Vec<ProposalId>, u64) {
        let listed = self.store.list_proposals(self.org, filter, page).await.unwrap();
        (listed.data.iter().map(|proposal| proposal.id()).collect(), listed.total)
    }

    async fn schedule(&self, calendars: Vec<Scheduled>) -> Result<(), CommitError> {
        let mut changes = self.changes();
        changes.calendars = calendars;
        self.try_commit(changes).await
    }

    fn reservation(&self, span: (i64, i64)) -> Reservation {
        let owner = ProposalId::new(self.make.tick(), &self.make.entropy);
        Reservation { owner, span: hours(span.0, span.1), expires_at: hours(20, 21).start() }
    }
}

fn response(kind: ResponseKind, proposal: &Proposal) -> NewResponse {
    NewResponse::new(kind, Some(proposal.slots()[1].id()))
        .with_counter_slots(vec![hours(50, 51), hours(60, 61)])
        .with_message("lieber „später“".to_owned())
}

fn update(seen: &Proposal, proposal: &Proposal) -> Change {
    Change::update(seen, proposal.clone()).unwrap()
}

/// Every field survives, including responses and the outcome.
pub async fn proposals_round_trip(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let calendar = scene.shared_calendar().await;
    let made = scene.proposal(&calendar).await;
    assert_eq!(scene.proposal_now(made.id()).await, Some(made.clone()));
    let other = scene.other_organization().await;
    assert_eq!(other.proposal_now(made.id()).await, None);

    let mut now = made;
    for (agent, kind) in [(now.participants()[1], ResponseKind::Counter), (now.participants()[0], ResponseKind::Accept)]
    {
        let next = now.respond(agent, response(kind, &now), scene.make.tick(), &scene.make.entropy).unwrap();
        scene.propose(vec![update(&now, &next)]).await.unwrap();
        assert_eq!(scene.proposal_now(now.id()).await, Some(next.clone()));
        now = next;
    }
    let event = EventId::new(scene.make.tick(), &scene.make.entropy);
    let confirmed = now.confirmed(now.slots()[1].id(), event, scene.make.tick()).unwrap();
    scene.propose(vec![update(&now, &confirmed)]).await.unwrap();
    assert_eq!(scene.proposal_now(now.id()).await, Some(confirmed));

    for reason in CancelReason::ALL {
        let made = scene.proposal(&calendar).await;
        let now = scene.make.tick();
        let decline = NewResponse::decline();
        let declined = made.respond(made.participants()[0], decline, now, &scene.make.entropy).unwrap();
        scene.propose(vec![update(&made, &declined)]).await.unwrap();
        let cancelled = declined.cancelled(*reason, scene.make.tick()).unwrap();
        scene.propose(vec![update(&declined, &cancelled)]).await.unwrap();
        assert_eq!(scene.proposal_now(made.id()).await, Some(cancelled));
    }
    let (organizer, participant) = (scene.agent().await.id, scene.agent().await.id);
    let slots = vec![NewSlot::new(hours(30, 31))];
    let bare =
        NewProposal::new("Bare", organizer, vec![participant], calendar.id, slots).with_expiry(hours(29, 30).start());
    let bare = Proposal::create(scene.org, bare, scene.make.tick(), &scene.make.entropy).unwrap();
    scene.propose(vec![Change::Create(Box::new(bare.clone()))]).await.unwrap();
    assert_eq!(scene.proposal_now(bare.id()).await, Some(bare));
}

/// Lists return what the filter names, by creation, in pages. Other organizations see nothing.
pub async fn proposals_are_listed(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let calendar = scene.shared_calendar().await;
    let other = scene.other_organization().await;
    other.proposal(&other.shared_calendar().await).await;
    let mut made = Vec::new();
    for _ in 0..5 {
        made.push(scene.proposal(&calendar).await);
    }
    let ids: Vec<ProposalId> = made.iter().map(|proposal| proposal.id()).collect();
    let all = ProposalFilter::default();
    assert_eq!(scene.proposals(all, LARGEST_PAGE).await, (ids.clone(), 5));
    for (limit, offset) in [(2, 0), (2, 2), (2, 4), (5, 0), (3, 5), (3, 9)] {
        let from = usize::try_from(offset).unwrap().min(5);
        let to = (from + usize::try_from(limit).unwrap()).min(5);
        assert_eq!(scene.proposals(all, Page { limit, offset }).await, (ids[from..to].to_vec(), 5));
    }

    let of = |organizer| ProposalFilter { organizer: Some(organizer), ..all };
    assert_eq!(scene.proposals(of(made[2].organizer()), LARGEST_PAGE).await, (vec![ids[2]], 1));
    assert_eq!(scene.proposals(of(made[2].participants()[0]), LARGEST_PAGE).await, (vec![], 0));
    let party = |party| ProposalFilter { party: Some(party), ..all };
    assert_eq!(scene.proposals(party(made[2].organizer()), LARGEST_PAGE).await, (vec![ids[2]], 1));
    assert_eq!(scene.proposals(party(made[3].participants()[0]), LARGEST_PAGE).await, (vec![ids[3]], 1));
    assert_eq!(scene.proposals(party(other.agent().await.id), LARGEST_PAGE).await, (vec![], 0));

    let now = scene.make.tick();
    let cancelled = made[0].cancelled(CancelReason::OrganizerCancelled, now).unwrap();
    scene.propose(vec![update(&made[0], &cancelled)]).await.unwrap();
    let status = |status, now| ProposalFilter { status: Some(StatusAt { status, now }), ..all };
    let over = made[1].expires_at();
    let before = over - SignedDuration::micros(1);
    assert_eq!(scene.proposals(status(Status::Pending, before), LARGEST_PAGE).await, (ids[1..].to_vec(), 4));
    assert_eq!(scene.proposals(status(Status::Expired, before), LARGEST_PAGE).await, (vec![], 0));
    assert_eq!(scene.proposals(status(Status::Pending, over), LARGEST_PAGE).await, (vec![], 0));
    assert_eq!(scene.proposals(status(Status::Expired, over), LARGEST_PAGE).await, (ids[1..].to_vec(), 4));
    assert_eq!(scene.proposals(status(Status::Cancelled, over), LARGEST_PAGE).await, (vec![ids[0]], 1));
    assert_eq!(scene.proposals(status(Status::Confirmed, over), LARGEST_PAGE).await, (vec![], 0));
}

/// A decision at another version fails, whatever it is about.
pub async fn proposals_are_settled_only_at_the_version_seen(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let made = scene.proposal(&scene.shared_calendar().await).await;
    let (first, second) = (made.participants()[0], made.participants()[1]);
    let now = scene.make.tick();
    let accepted = made.respond(first, response(ResponseKind::Accept, &made), now, &scene.make.entropy).unwrap();
    scene.propose(vec![update(&made, &accepted)]).await.unwrap();

    let declined = made.respond(second, response(ResponseKind::Decline, &made), now, &scene.make.entropy).unwrap();
    assert_refused!(scene.propose(vec![update(&made, &declined)]).await, CommitError::Stale);
    let cancelled = made.cancelled(CancelReason::OrganizerCancelled, now).unwrap();
    assert_refused!(scene.propose(vec![update(&made, &cancelled)]).await, CommitError::Stale);
    // A decision that read the new version, but not the response.
    let unread = StoredProposal { version: accepted.version(), ..made.clone().into_stored() };
    let unread = Proposal::from_stored(unread).unwrap();
    let again = unread.respond(first, response(ResponseKind::Decline, &made), now, &scene.make.entropy).unwrap();
    let again = update(&unread, &again);
    assert_refused!(scene.propose(vec![again]).await, CommitError::Stale);
    assert_eq!(scene.proposal_now(made.id()).await, Some(accepted.clone()));

    let other = scene.other_organization().await;
    let theirs = StoredProposal { org: other.org, ..accepted.into_stored() };
    let theirs = Proposal::from_stored(theirs).unwrap();
    let cancelled = theirs.cancelled(CancelReason::OrganizerCancelled, now).unwrap();
    assert_refused!(other.propose(vec![update(&theirs, &cancelled)]).await, CommitError::Stale);
}

/// If several callers end a proposal at once, each in its own way, one succeeds.
pub async fn a_proposal_ends_once(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let calendar = scene.shared_calendar().await;
    for _ in 0..6 {
        let made = scene.proposal(&calendar).await;
        let (agent, now) = (made.participants()[0], scene.make.tick());
        let responded = made.respond(agent, response(ResponseKind::Accept, &made), now, &scene.make.entropy).unwrap();
        scene.propose(vec![update(&made, &responded)]).await.unwrap();
        let outcomes = race(TASKS, |task| {
            let (scene, seen) = (scene.clone(), responded.clone());
            async move {
                let now = scene.make.tick();
                let event = EventId::new(now, &scene.make.entropy);
                let next = match task % 3 {
                    0 => seen.confirmed(seen.slots()[0].id(), event, now).unwrap(),
                    1 => seen.cancelled(CancelReason::OrganizerCancelled, now).unwrap(),
                    _ => seen.expired(seen.expires_at()).unwrap(),
                };
                let ended = scene.propose(vec![update(&seen, &next)]).await;
                ended.map(|()| next.state())
            }
        })
        .await;
        assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1, "{outcomes:?}");
        let won = outcomes.into_iter().find_map(Result::ok);
        assert_eq!(scene.proposal_now(made.id()).await.map(|proposal| proposal.state()), won);
    }
}

/// Pending proposals that have expired are found, the longest expired first, and nothing else.
pub async fn overdue_proposals_are_found(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let other = scene.other_organization().await;
    let mut made = Vec::new();
    for (scene, minutes) in [(&scene, 30), (&other, 10), (&scene, 20), (&scene, 40), (&scene, 5)] {
        let calendar = scene.shared_calendar().await;
        let organizer = scene.agent().await.id;
        let participant = scene.agent().await.id;
        let expires_at = hours(10, 11).start() + SignedDuration::minutes(minutes);
        let proposal = scene.proposed((organizer, vec![participant]), &calendar, Some(expires_at));
        scene.propose(vec![Change::Create(Box::new(proposal.clone()))]).await.unwrap();
        made.push(proposal);
    }
    let cancelled = made[4].cancelled(CancelReason::OrganizerCancelled, scene.make.tick()).unwrap();
    scene.propose(vec![update(&made[4], &cancelled)]).await.unwrap();
    let overdue = async |minutes, limit| -> Vec<Proposal> {
        let now = hours(10, 11).start() + SignedDuration::minutes(minutes);
        scene.store.overdue_proposals(now, limit).await.unwrap()
    };
    assert_eq!(overdue(9, 10).await, []);
    assert_eq!(overdue(10, 10).await, [made[1].clone()]);
    assert_eq!(overdue(30, 10).await, [made[1].clone(), made[2].clone(), made[0].clone()]);
    assert_eq!(overdue(90, 2).await, [made[1].clone(), made[2].clone()]);
    let expired = made[1].expired(made[1].expires_at()).unwrap();
    assert_eq!(expired.state(), State::Expired);
    other.propose(vec![update(&made[1], &expired)]).await.unwrap();
    assert_eq!(overdue(90, 1).await, [made[2].clone()]);
}

/// Reservations are returned with holds, announced with blocking times, and make guarded decisions stale.
pub async fn reservations_are_read_with_holds(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let calendar = scene.calendar(&scene.agent().await).await;
    let aside = scene.shared_calendar().await;
    let (org, id, window) = (scene.org, calendar.id, hours(10, 12));
    let held = async |calendar: &Calendar| {
        let spans = scene.store.blocking_spans(org, calendar.id, window).await.unwrap().unwrap();
        let blocks = scene.store.blocks(org, calendar.id, window, 10).await.unwrap().unwrap();
        assert_eq!((spans.held, spans.spans, spans.revision), (blocks.held, vec![], blocks.source.revision));
        if let Some(agent) = calendar.agent {
            let together = scene.store.busy_of_agent(org, agent, window).await.unwrap();
            assert_eq!(together[0].1.held, blocks.held);
        }
        blocks.held
    };
    assert!(!held(&calendar).await);
    let seen = scene.revision(&calendar).await;

    let owner = scene.reservation((9, 11)).owner;
    let of = |from, to| Reservation { owner, ..scene.reservation((from, to)) };
    let (inside, outside) = ([of(9, 11), of(10, 11), of(11, 99)], [of(8, 10), of(12, 13)]);
    let reserve = |calendar: &Calendar, reservations: &[Reservation]| Scheduled::Reserve {
        org,
        calendar: calendar.id,
        reservations: reservations.to_vec(),
    };
    scene.schedule(vec![reserve(&calendar, &[&inside[..], &outside[..]].concat())]).await.unwrap();
    let other = Reservation { expires_at: Timestamp::EPOCH, ..scene.reservation((10, 12)) };
    scene.schedule(vec![reserve(&calendar, &[other])]).await.unwrap();
    assert!(held(&calendar).await && !held(&aside).await);
    assert_eq!(scene.revision(&calendar).await.0, seen.0 + 2);
    let reservations = async || {
        let mut reservations = scene.store.holds_within(org, id, window).await.unwrap().unwrap().reserved;
        reservations.sort();
        reservations
    };
    let mut expected = inside.to_vec();
    expected.push(other);
    expected.sort();
    assert_eq!(reservations().await, expected);

    // A decision about that time is stale now; one about another time is not.
    let decided = |window| {
        let guard = Guard::CalendarTime { calendar: id, seen, window };
        scene.changes().guard(guard).create(&scene.make.agent(org))
    };
    assert_refused!(scene.try_commit(decided(hours(10, 11))).await, CommitError::Stale);
    scene.commit(decided(hours(6, 8))).await;

    let ended = Scheduled::Unreserve { org, calendar: id, owner };
    scene.schedule(vec![ended.clone()]).await.unwrap();
    assert_eq!(reservations().await, [other]);
    assert_eq!(scene.revision(&calendar).await.0, seen.0 + 3);
    assert_eq!(scene.store.forget_reservations(Timestamp::EPOCH, 10).await.unwrap(), 1);
    assert!(!held(&calendar).await && reservations().await.is_empty());
    assert_eq!(scene.store.forget_reservations(Timestamp::EPOCH, 10).await.unwrap(), 0);

    scene.delete(&calendar).await;
    assert_refused!(scene.schedule(vec![ended]).await, CommitError::Stale);
    assert_refused!(scene.schedule(vec![reserve(&calendar, &inside)]).await, CommitError::Stale);
}

/// If many callers reserve the same time under the same guard, one succeeds.
pub async fn a_time_is_reserved_once(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let calendar = scene.shared_calendar().await;
    for hour in 0..6 {
        let seen = scene.revision(&calendar).await;
        let outcomes = race(TASKS, |_| {
            let (scene, id) = (scene.clone(), calendar.id);
            async move {
                let reservation = scene.reservation((hour, hour + 1));
                let mut changes =
                    scene.changes().guard(Guard::CalendarTime { calendar: id, seen, window: reservation.span });
                let reservations = vec![reservation];
                changes.calendars.push(Scheduled::Reserve { org: scene.org, calendar: id, reservations });
                scene.try_commit(changes).await
            }
        })
        .await;
        assert_eq!(successes(&outcomes), 1, "{outcomes:?}");
    }
}
