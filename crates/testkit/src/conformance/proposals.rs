//! Proposals and how they end.

use std::sync::Arc;

use async_trait::async_trait;
use kalends_app::{
    ChangeSet,
    ports::{CommitError, Store},
};
use kalends_kernel::{AgentId, CalendarId, EventId, OrgId, Page, ProposalId};
use kalends_proposals::{
    CancelReason, Change, CreatedEvent, NewProposal, NewResponse, NewSlot, Placement, Proposal, ResponseKind, State,
    Status, StoredProposal, Weight,
    ports::{ProposalFilter, Proposals, StatusAt},
};
use kalends_time::{SignedDuration, Timestamp};

use super::{
    StoreUnderTest,
    scene::{LARGEST_PAGE, Scene, assert_refused, hours, race},
};
use crate::fixtures::{Fixtures, metadata};

/// How many tasks run at once.
const TASKS: usize = 8;

/// A store with the port [`Proposals`], and what the cases of the port need from outside of it.
#[async_trait]
pub trait ProposalsUnderTest: Send + Sync {
    /// The port of the store.
    fn proposals(&self) -> Arc<dyn Proposals>;

    /// Writes what the port reads.
    fn writer(&self) -> Arc<dyn WritesProposals>;

    /// The agents of two different organizations that exist in the store and have no proposals. A case asks once.
    async fn parties(&self) -> [Parties; 2];
}

/// How a store takes over proposals. The port only reads them.
#[async_trait]
pub trait WritesProposals: Send + Sync {
    /// Applies the changes of an organization together or not at all.
    ///
    /// # Errors
    /// [`CommitError::Stale`] if the organization has no such proposal, or if it is no longer as the decision read it.
    async fn write(&self, org: OrgId, changes: Vec<Change>) -> Result<(), CommitError>;
}

/// The agents of an organization, who make proposals for its calendar. No agent belongs to two organizations.
#[derive(Debug, Clone)]
pub struct Parties {
    /// The organization.
    pub org: OrgId,
    /// [`Parties::AGENTS`] different agents.
    pub agents: Vec<AgentId>,
    /// The calendar.
    pub calendar: CalendarId,
}

impl Parties {
    /// The number of agents that the cases need.
    pub const AGENTS: usize = 4;
}

#[async_trait]
impl ProposalsUnderTest for StoreUnderTest {
    fn proposals(&self) -> Arc<dyn Proposals> {
        Arc::<dyn Store>::clone(&self.store)
    }

    fn writer(&self) -> Arc<dyn WritesProposals> {
        Arc::new(Committed(Arc::clone(&self.store)))
    }

    async fn parties(&self) -> [Parties; 2] {
        let scene = Scene::set(self).await;
        [scene.parties().await, scene.other_organization().await.parties().await]
    }
}

/// Writes through the commit port.
struct Committed(Arc<dyn Store>);

#[async_trait]
impl WritesProposals for Committed {
    async fn write(&self, org: OrgId, changes: Vec<Change>) -> Result<(), CommitError> {
        let mut committed = ChangeSet::new(org);
        committed.proposals = changes;
        self.0.commit(committed).await
    }
}

impl Scene {
    async fn parties(&self) -> Parties {
        let mut agents = Vec::new();
        for _ in 0..Parties::AGENTS {
            agents.push(self.agent().await.id);
        }
        Parties { org: self.org, agents, calendar: self.shared_calendar().await.id }
    }
}

/// The proposals of one organization.
#[derive(Clone)]
struct Table {
    proposals: Arc<dyn Proposals>,
    writer: Arc<dyn WritesProposals>,
    make: Fixtures,
    parties: Parties,
}

impl Table {
    /// Those of both organizations.
    async fn of(store: &impl ProposalsUnderTest) -> [Self; 2] {
        let make = Fixtures::new();
        store.parties().await.map(|parties| {
            let (proposals, writer) = (store.proposals(), store.writer());
            Self { proposals, writer, make: make.clone(), parties }
        })
    }

    fn agent(&self, number: usize) -> AgentId {
        self.parties.agents[number]
    }

    /// A proposal with two slots, the second on a calendar of its own.
    fn proposed(&self, organizer: AgentId, participants: Vec<AgentId>, expires_at: Option<Timestamp>) -> Proposal {
        let now = self.make.tick();
        let calendar = self.parties.calendar;
        let slot = |span, weight| NewSlot::new(span).with_weight(Weight::parse("", weight).unwrap());
        let slots = vec![slot(hours(30, 31), 0.3), slot(hours(30, 40), 10.0).with_calendar(calendar)];
        let new = NewProposal::new("Auftakt: „früh“ 🗓", organizer, participants, calendar, slots)
            .with_description("Two\nlines".to_owned())
            .with_expiry(expires_at)
            .with_held_slots(true)
            .with_taken_skipped(true)
            .with_metadata(metadata(serde_json::json!({ "project": { "id": 7 } })));
        Proposal::create(self.parties.org, new, now, &self.make.entropy).unwrap()
    }

    /// Stores a proposal that the first agent makes to the third and the second.
    async fn proposal(&self) -> Proposal {
        self.stored(self.proposed(self.agent(0), vec![self.agent(2), self.agent(1)], None)).await
    }

    async fn stored(&self, proposal: Proposal) -> Proposal {
        self.write(Change::Create(Box::new(proposal.clone()))).await.unwrap();
        proposal
    }

    async fn write(&self, change: Change) -> Result<(), CommitError> {
        self.writer.write(self.parties.org, vec![change]).await
    }

    async fn now(&self, id: ProposalId) -> Option<Proposal> {
        self.proposals.find_proposal(self.parties.org, id).await.unwrap()
    }

    async fn list(&self, filter: ProposalFilter, page: Page) -> (Vec<ProposalId>, u64) {
        let listed = self.proposals.list_proposals(self.parties.org, filter, page).await.unwrap();
        (listed.data.iter().map(|proposal| proposal.id()).collect(), listed.total)
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
pub async fn proposals_round_trip(store: &impl ProposalsUnderTest) {
    let [table, other] = Table::of(store).await;
    let made = table.proposal().await;
    assert_eq!(table.now(made.id()).await, Some(made.clone()));
    assert_eq!(other.now(made.id()).await, None);

    let mut now = made;
    for (agent, kind) in [(now.participants()[1], ResponseKind::Counter), (now.participants()[0], ResponseKind::Accept)]
    {
        let next = now.respond(agent, response(kind, &now), table.make.tick(), &table.make.entropy).unwrap();
        table.write(update(&now, &next)).await.unwrap();
        assert_eq!(table.now(now.id()).await, Some(next.clone()));
        now = next;
    }
    let event = EventId::new(table.make.tick(), &table.make.entropy);
    let confirmed = now.confirmed(now.slots()[1].id(), event, table.make.tick()).unwrap();
    table.write(update(&now, &confirmed)).await.unwrap();
    assert_eq!(table.now(now.id()).await, Some(confirmed));

    for reason in CancelReason::ALL {
        let made = table.proposal().await;
        let now = table.make.tick();
        let decline = NewResponse::decline();
        let declined = made.respond(made.participants()[0], decline, now, &table.make.entropy).unwrap();
        table.write(update(&made, &declined)).await.unwrap();
        let cancelled = declined.cancelled(*reason, table.make.tick()).unwrap();
        table.write(update(&declined, &cancelled)).await.unwrap();
        assert_eq!(table.now(made.id()).await, Some(cancelled));
    }
    let (parties, slots) = (&table.parties, vec![NewSlot::new(hours(30, 31))]);
    let bare = NewProposal::new("Bare", table.agent(0), vec![table.agent(1)], parties.calendar, slots)
        .with_expiry(hours(29, 30).start());
    let bare = Proposal::create(parties.org, bare, table.make.tick(), &table.make.entropy).unwrap();
    let bare = table.stored(bare).await;
    assert_eq!(table.now(bare.id()).await, Some(bare));
}

/// The minimum of acceptances, the placement, the calendars that responses name and the events of participants survive.
pub async fn events_of_participants_round_trip(store: &impl ProposalsUnderTest) {
    let [table, other] = Table::of(store).await;
    let (parties, slots) = (&table.parties, vec![NewSlot::new(hours(30, 31))]);
    let participants = [3, 1, 2].map(|number| table.agent(number)).to_vec();
    let new = NewProposal::new("For all", table.agent(0), participants.clone(), parties.calendar, slots)
        .with_min_accepts(1)
        .with_placement(Placement::All);
    let made = Proposal::create(parties.org, new, table.make.tick(), &table.make.entropy).unwrap();
    let mut now = table.stored(made).await;
    assert_eq!(table.now(now.id()).await, Some(now.clone()));
    let accept = NewResponse::accept(now.slots()[0].id());
    let named = CalendarId::new(table.make.tick(), &table.make.entropy);
    for (agent, response) in [
        (participants[2], accept.clone().with_calendar(named)),
        (participants[0], accept),
        (participants[1], NewResponse::decline().with_calendar(parties.calendar)),
    ] {
        let next = now.respond(agent, response, table.make.tick(), &table.make.entropy).unwrap();
        table.write(update(&now, &next)).await.unwrap();
        assert_eq!(table.now(now.id()).await, Some(next.clone()));
        now = next;
    }
    let event = || EventId::new(table.make.tick(), &table.make.entropy);
    // One of the two that could get an event has none.
    let created = vec![CreatedEvent { agent: participants[2], event: event() }];
    let confirmed = now.confirmed_for(now.slots()[0].id(), event(), created, table.make.tick()).unwrap();
    table.write(update(&now, &confirmed)).await.unwrap();
    let listed = table.proposals.list_proposals(parties.org, ProposalFilter::default(), LARGEST_PAGE).await.unwrap();
    assert_eq!(listed.data.first(), Some(&confirmed));
    assert_eq!(table.now(now.id()).await, Some(confirmed));
    assert_eq!(other.now(now.id()).await, None);
}

/// Lists return what the filter names, by creation, in pages. Other organizations see nothing.
pub async fn proposals_are_listed(store: &impl ProposalsUnderTest) {
    let [table, other] = Table::of(store).await;
    other.proposal().await;
    let mut made = Vec::new();
    for (organizer, participant) in [(0, 2), (1, 2), (0, 3), (3, 2), (1, 0)] {
        let proposal = table.proposed(table.agent(organizer), vec![table.agent(participant)], None);
        made.push(table.stored(proposal).await);
    }
    let ids: Vec<ProposalId> = made.iter().map(|proposal| proposal.id()).collect();
    let all = ProposalFilter::default();
    assert_eq!(table.list(all, LARGEST_PAGE).await, (ids.clone(), 5));
    for (limit, offset) in [(2, 0), (2, 2), (2, 4), (5, 0), (3, 5), (3, 9)] {
        let from = usize::try_from(offset).unwrap().min(5);
        let to = (from + usize::try_from(limit).unwrap()).min(5);
        assert_eq!(table.list(all, Page { limit, offset }).await, (ids[from..to].to_vec(), 5));
    }

    for (agent, organizes, takes_part) in
        [(0, vec![0, 2], vec![0, 2, 4]), (2, vec![], vec![0, 1, 3]), (3, vec![3], vec![2, 3])]
    {
        let expected = |numbers: Vec<usize>| {
            let ids: Vec<ProposalId> = numbers.into_iter().map(|number| ids[number]).collect();
            (ids.clone(), u64::try_from(ids.len()).unwrap())
        };
        let organized = ProposalFilter { organizer: Some(table.agent(agent)), ..all };
        assert_eq!(table.list(organized, LARGEST_PAGE).await, expected(organizes));
        let with_part = ProposalFilter { party: Some(table.agent(agent)), ..all };
        assert_eq!(table.list(with_part, LARGEST_PAGE).await, expected(takes_part));
    }
    let of_another = ProposalFilter { party: Some(other.agent(0)), ..all };
    assert_eq!(table.list(of_another, LARGEST_PAGE).await, (vec![], 0));

    let now = table.make.tick();
    let cancelled = made[0].cancelled(CancelReason::OrganizerCancelled, now).unwrap();
    table.write(update(&made[0], &cancelled)).await.unwrap();
    let status = |status, now| ProposalFilter { status: Some(StatusAt { status, now }), ..all };
    let over = made[1].expires_at();
    let before = over - SignedDuration::micros(1);
    assert_eq!(table.list(status(Status::Pending, before), LARGEST_PAGE).await, (ids[1..].to_vec(), 4));
    for (offset, part) in [(0, &ids[1..3]), (2, &ids[3..]), (4, &ids[5..])] {
        let page = Page { limit: 2, offset };
        assert_eq!(table.list(status(Status::Pending, before), page).await, (part.to_vec(), 4));
    }
    let pending = status(Status::Pending, before);
    let organized = ProposalFilter { organizer: Some(table.agent(0)), ..pending };
    assert_eq!(table.list(organized, LARGEST_PAGE).await, (vec![ids[2]], 1));
    let with_part = ProposalFilter { party: Some(table.agent(0)), ..pending };
    assert_eq!(table.list(with_part, LARGEST_PAGE).await, (vec![ids[2], ids[4]], 2));
    assert_eq!(table.list(status(Status::Expired, before), LARGEST_PAGE).await, (vec![], 0));
    assert_eq!(table.list(status(Status::Pending, over), LARGEST_PAGE).await, (vec![], 0));
    assert_eq!(table.list(status(Status::Expired, over), LARGEST_PAGE).await, (ids[1..].to_vec(), 4));
    assert_eq!(table.list(status(Status::Cancelled, over), LARGEST_PAGE).await, (vec![ids[0]], 1));
    assert_eq!(table.list(status(Status::Confirmed, over), LARGEST_PAGE).await, (vec![], 0));
}

/// A decision at another version fails, whatever it is about.
pub async fn proposals_are_settled_only_at_the_version_seen(store: &impl ProposalsUnderTest) {
    let [table, other] = Table::of(store).await;
    let made = table.proposal().await;
    let (first, second) = (made.participants()[0], made.participants()[1]);
    let now = table.make.tick();
    let accepted = made.respond(first, response(ResponseKind::Accept, &made), now, &table.make.entropy).unwrap();
    table.write(update(&made, &accepted)).await.unwrap();

    let declined = made.respond(second, response(ResponseKind::Decline, &made), now, &table.make.entropy).unwrap();
    assert_refused!(table.write(update(&made, &declined)).await, CommitError::Stale);
    let cancelled = made.cancelled(CancelReason::OrganizerCancelled, now).unwrap();
    assert_refused!(table.write(update(&made, &cancelled)).await, CommitError::Stale);
    // A decision that read the new version, but not the response.
    let unread = StoredProposal { version: accepted.version(), ..made.clone().into_stored() };
    let unread = Proposal::from_stored(unread).unwrap();
    let again = unread.respond(first, response(ResponseKind::Decline, &made), now, &table.make.entropy).unwrap();
    let again = update(&unread, &again);
    assert_refused!(table.write(again).await, CommitError::Stale);
    assert_eq!(table.now(made.id()).await, Some(accepted.clone()));

    let theirs = StoredProposal { org: other.parties.org, ..accepted.into_stored() };
    let theirs = Proposal::from_stored(theirs).unwrap();
    let cancelled = theirs.cancelled(CancelReason::OrganizerCancelled, now).unwrap();
    assert_refused!(other.write(update(&theirs, &cancelled)).await, CommitError::Stale);
}

/// If several callers end a proposal at once, each in its own way, one succeeds.
pub async fn a_proposal_ends_once(store: &impl ProposalsUnderTest) {
    let [table, _] = Table::of(store).await;
    for _ in 0..6 {
        let made = table.proposal().await;
        let (agent, now) = (made.participants()[0], table.make.tick());
        let responded = made.respond(agent, response(ResponseKind::Accept, &made), now, &table.make.entropy).unwrap();
        table.write(update(&made, &responded)).await.unwrap();
        let outcomes = race(TASKS, |task| {
            let (table, seen) = (table.clone(), responded.clone());
            async move {
                let now = table.make.tick();
                let event = EventId::new(now, &table.make.entropy);
                let next = match task % 3 {
                    0 => seen.confirmed(seen.slots()[0].id(), event, now).unwrap(),
                    1 => seen.cancelled(CancelReason::OrganizerCancelled, now).unwrap(),
                    _ => seen.expired(seen.expires_at()).unwrap(),
                };
                let ended = table.write(update(&seen, &next)).await;
                ended.map(|()| next.state())
            }
        })
        .await;
        assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1, "{outcomes:?}");
        let won = outcomes.into_iter().find_map(Result::ok);
        assert_eq!(table.now(made.id()).await.map(|proposal| proposal.state()), won);
    }
}

/// Pending proposals that have expired are found, the longest expired first, and nothing else.
pub async fn overdue_proposals_are_found(store: &impl ProposalsUnderTest) {
    let [table, other] = Table::of(store).await;
    let mut made = Vec::new();
    for (table, minutes) in [(&table, 30), (&other, 10), (&table, 20), (&table, 40), (&table, 5)] {
        let expires_at = hours(10, 11).start() + SignedDuration::minutes(minutes);
        let proposal = table.proposed(table.agent(0), vec![table.agent(1)], Some(expires_at));
        made.push(table.stored(proposal).await);
    }
    let cancelled = made[4].cancelled(CancelReason::OrganizerCancelled, table.make.tick()).unwrap();
    table.write(update(&made[4], &cancelled)).await.unwrap();
    let overdue = async |minutes, limit| -> Vec<Proposal> {
        let now = hours(10, 11).start() + SignedDuration::minutes(minutes);
        table.proposals.overdue_proposals(now, limit).await.unwrap()
    };
    assert_eq!(overdue(9, 10).await, []);
    assert_eq!(overdue(10, 10).await, [made[1].clone()]);
    assert_eq!(overdue(30, 10).await, [made[1].clone(), made[2].clone(), made[0].clone()]);
    assert_eq!(overdue(90, 2).await, [made[1].clone(), made[2].clone()]);
    let expired = made[1].expired(made[1].expires_at()).unwrap();
    assert_eq!(expired.state(), State::Expired);
    other.write(update(&made[1], &expired)).await.unwrap();
    assert_eq!(overdue(90, 1).await, [made[2].clone()]);
}
