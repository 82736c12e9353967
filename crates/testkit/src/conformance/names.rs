//! The names of things by their identifiers.

use std::collections::{BTreeMap, BTreeSet};

use kalends_app::ports::{AgentName, CalendarName, NAMES_MAX};
use kalends_calendars::{Agent, Calendar, Event};
use kalends_kernel::{AgentId, BookingPageId, CalendarId, EventId, OrgId, ProposalId, SubscriptionId, WebhookId};
use kalends_proposals::Change as ProposalChange;
use kalends_time::Zone;

use super::{
    StoreUnderTest,
    samples::TRICKY,
    scene::{Scene, hours},
    series::moved,
};
use crate::fixtures::Compose;

fn name_of(agent: &Agent) -> AgentName {
    AgentName { name: agent.name.clone(), status: agent.status }
}

/// Identifiers of each kind.
#[derive(Debug, Clone, Default)]
pub(super) struct Asked {
    pub(super) agents: BTreeSet<AgentId>,
    calendars: BTreeSet<CalendarId>,
    pub(super) events: BTreeSet<EventId>,
    proposals: BTreeSet<ProposalId>,
    pages: BTreeSet<BookingPageId>,
    webhooks: BTreeSet<WebhookId>,
    subscriptions: BTreeSet<SubscriptionId>,
}

/// The names of each kind.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Known {
    pub(super) agents: BTreeMap<AgentId, AgentName>,
    calendars: BTreeMap<CalendarId, CalendarName>,
    pub(super) events: BTreeMap<EventId, String>,
    proposals: BTreeMap<ProposalId, String>,
    pages: BTreeMap<BookingPageId, String>,
    webhooks: BTreeMap<WebhookId, String>,
    subscriptions: BTreeMap<SubscriptionId, String>,
}

impl Asked {
    /// Reads the names of every kind as those of that organization.
    pub(super) async fn of(&self, scene: &Scene, org: OrgId) -> Known {
        let store = &scene.store;
        Known {
            agents: store.names_of_agents(org, &self.agents).await.unwrap(),
            calendars: store.names_of_calendars(org, &self.calendars).await.unwrap(),
            events: store.titles_of_events(org, &self.events).await.unwrap(),
            proposals: store.titles_of_proposals(org, &self.proposals).await.unwrap(),
            pages: store.titles_of_booking_pages(org, &self.pages).await.unwrap(),
            webhooks: store.hosts_of_webhooks(org, &self.webhooks).await.unwrap(),
            subscriptions: store.names_of_subscriptions(org, &self.subscriptions).await.unwrap(),
        }
    }
}

/// One thing of each kind in an organization.
pub(super) struct Things {
    agent: Agent,
    calendar: Calendar,
    event: Event,
    pub(super) asked: Asked,
    known: Known,
}

impl Things {
    pub(super) async fn of(scene: &Scene) -> Self {
        let agent = Agent { name: TRICKY.into(), ..scene.make.agent(scene.org) };
        scene.commit(scene.changes().create(&agent)).await;
        let zone: Zone = "Pacific/Chatham".parse().unwrap();
        let calendar = Calendar { name: TRICKY.into(), zone, ..scene.make.calendar(&agent) };
        let webhook = scene.make.webhook(scene.org);
        scene.commit(scene.changes().create(&calendar).create(&webhook)).await;
        let event = Event { title: TRICKY.into(), ..scene.make.event(&calendar, hours(1, 2)) };
        let event = scene.stored(event).await;
        let proposal = scene.make.proposal(&calendar, agent.id);
        let mut changes = scene.changes();
        changes.proposals = vec![ProposalChange::Create(Box::new(proposal.clone()))];
        scene.commit(changes).await;
        let page = scene.page_of(&calendar).await;
        let labelled = scene.subscribed(&calendar, "https://feeds.example.com/a?token=secret").await;
        let unnamed = scene.subscribed_unnamed(&calendar, "https://feeds.example.org/b?token=secret").await;
        let known = Known {
            agents: [(agent.id, name_of(&agent))].into(),
            calendars: [(calendar.id, CalendarName { name: calendar.name.clone(), agent: Some(agent.id), zone })]
                .into(),
            events: [(event.id, event.title.clone())].into(),
            proposals: [(proposal.id(), proposal.title().to_owned())].into(),
            pages: [(page.id, page.title.clone())].into(),
            webhooks: [(webhook.id, "hooks.example.com".to_owned())].into(),
            subscriptions: [
                (labelled.id, labelled.label.clone().unwrap()),
                (unnamed.id, "feeds.example.org".to_owned()),
            ]
            .into(),
        };
        let asked = Asked {
            agents: [agent.id].into(),
            calendars: [calendar.id].into(),
            events: [event.id].into(),
            proposals: [proposal.id()].into(),
            pages: [page.id].into(),
            webhooks: [webhook.id].into(),
            subscriptions: [labelled.id, unnamed.id].into(),
        };
        Self { agent, calendar, event, asked, known }
    }
}

/// What exists has its name. Unknown identifiers and those of other organizations have none.
pub async fn names_are_read_by_identifier(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let other = scene.other_organization().await;
    let (ours, theirs) = (Things::of(&scene).await, Things::of(&other).await);
    let mut asked = ours.asked.clone();
    asked.agents.extend(theirs.asked.agents.iter().copied().chain([AgentId::from_bytes([0; 16])]));
    asked.calendars.extend(theirs.asked.calendars.iter().copied().chain([CalendarId::from_bytes([0; 16])]));
    asked.events.extend(theirs.asked.events.iter().copied().chain([EventId::from_bytes([0; 16])]));
    asked.proposals.extend(theirs.asked.proposals.iter().copied().chain([ProposalId::from_bytes([0; 16])]));
    asked.pages.extend(theirs.asked.pages.iter().copied().chain([BookingPageId::from_bytes([0; 16])]));
    asked.webhooks.extend(theirs.asked.webhooks.iter().copied().chain([WebhookId::from_bytes([0; 16])]));
    asked.subscriptions.extend(theirs.asked.subscriptions.iter().copied().chain([SubscriptionId::from_bytes([0; 16])]));
    assert_eq!(asked.of(&scene, scene.org).await, ours.known);
    assert_eq!(asked.of(&scene, other.org).await, theirs.known);
    assert_eq!(Asked::default().of(&scene, scene.org).await, Known::default());
}

/// What is deleted has no name, and neither has what is on a deleted calendar. A decommissioned agent keeps its name,
/// and a proposal keeps its title.
pub async fn what_is_gone_has_no_name(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let Things { calendar, event, asked, known, .. } = Things::of(&scene).await;
    let deleted = event.deleted(scene.make.tick()).unwrap();
    scene.commit(scene.changes().update(&deleted, event.version)).await;
    let left = asked.of(&scene, scene.org).await;
    assert_eq!(left, Known { events: BTreeMap::new(), ..known });

    let series = scene.make.series(&calendar, hours(1, 2), "FREQ=DAILY");
    scene.commit(scene.changes().create(&series)).await;
    let (_, replaced) = moved(&scene, &series, series.times.span.start(), hours(3, 4)).await;
    let both: BTreeSet<EventId> = [series.id, replaced.id].into();
    let titles = scene.store.titles_of_events(scene.org, &both).await.unwrap();
    let own: BTreeMap<_, _> = [(series.id, series.title.clone())].into();
    assert_eq!(titles, own, "an occurrence has the title of its series");

    let hidden = |left: Known| Known {
        agents: left.agents,
        proposals: left.proposals,
        webhooks: left.webhooks,
        ..Known::default()
    };
    let shared = scene.shared_calendar().await;
    let named = scene.store.names_of_calendars(scene.org, &[shared.id].into()).await.unwrap();
    assert_eq!(named[&shared.id].agent, None);
    let second = Things::of(&scene).await;
    scene.delete(&calendar).await;
    assert_eq!(asked.of(&scene, scene.org).await, hidden(left));
    let gone = scene.decommission(&second.agent).await;
    let agents = [(gone.id, name_of(&gone))].into();
    assert_eq!(second.asked.of(&scene, scene.org).await, Known { agents, ..hidden(second.known) });
}

/// As many names as a page has are read at once. Further identifiers are ignored.
pub async fn as_many_names_as_a_page_has_are_read(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let mut changes = scene.changes();
    let mut made = BTreeMap::new();
    for number in 0..=NAMES_MAX {
        let agent = Agent { name: format!("Agent {number}"), ..scene.make.agent(scene.org) };
        changes = changes.create(&agent);
        made.insert(agent.id, name_of(&agent));
    }
    scene.commit(changes).await;
    let named = |ids: BTreeSet<AgentId>| {
        let store = scene.store.clone();
        let org = scene.org;
        async move { store.names_of_agents(org, &ids).await.unwrap() }
    };
    let all: BTreeSet<AgentId> = made.keys().copied().collect();
    let last = *all.last().unwrap();
    let most: BTreeMap<_, _> = made.iter().take(NAMES_MAX).map(|(id, name)| (*id, name.clone())).collect();
    assert_eq!(named(all).await, most);
    assert_eq!(named([last].into()).await.len(), 1);
}
