//! The names of things by their identifiers.

use std::collections::{BTreeMap, BTreeSet};

use kalends_app::ports::{AgentName, AuditKey, AuditSubjects, CalendarName, NAMES_MAX, NamedForAudit};
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
    /// The same identifiers, as a page of the audit log has them.
    pub(super) fn in_audit(&self) -> AuditSubjects {
        AuditSubjects {
            agents: self.agents.clone(),
            calendars: self.calendars.clone(),
            events: self.events.clone(),
            proposals: self.proposals.clone(),
            booking_pages: self.pages.clone(),
            webhooks: self.webhooks.clone(),
            subscriptions: self.subscriptions.clone(),
        }
    }

    /// Reads the names of every kind as those of that organization.
    pub(super) async fn of(&self, scene: &Scene, org: OrgId) -> Known {
        let store = &scene.store;
        let named = store.names_for_audit(org, &self.in_audit()).await.unwrap();
        Known {
            agents: store.names_of_agents(org, &self.agents).await.unwrap(),
            calendars: store.names_of_calendars(org, &self.calendars).await.unwrap(),
            events: named.events,
            proposals: named.proposals,
            pages: named.booking_pages,
            webhooks: named.webhooks,
            subscriptions: named.subscriptions,
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
    let both = AuditSubjects { events: [series.id, replaced.id].into(), ..AuditSubjects::default() };
    let named = scene.store.names_for_audit(scene.org, &both).await.unwrap();
    let own: BTreeMap<_, _> = [(series.id, series.title.clone())].into();
    assert_eq!(named.events, own, "an occurrence has the title of its series");

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

/// A page of the audit log names what is asked for and visible. All agents, keys and members are there too.
pub async fn a_page_of_the_audit_log_is_named(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let other = scene.other_organization().await;
    let (ours, theirs) = (Things::of(&scene).await, Things::of(&other).await);
    let (second, gone) = (scene.agent().await, scene.agent().await);
    let (own, of_agent) = (scene.make.key(scene.org).key, scene.make.scoped_key(&ours.agent).key);
    let owner = scene.first_owner().await;
    scene.commit(scene.changes().create(&own).create(&of_agent)).await;
    scene.commit(scene.changes().create(&scene.make.scoped_key(&gone).key)).await;
    scene.decommission(&gone).await;
    let email = scene.store.members_of(scene.org).await.unwrap()[0].1.email.as_str().to_owned();
    let key = |id, prefix: &str, agent: Option<&Agent>, label| AuditKey {
        id,
        prefix: prefix.to_owned(),
        agent: agent.map(|agent| agent.id),
        agent_name: agent.map(|agent| agent.name.clone()),
        label,
    };
    let everywhere = NamedForAudit {
        agents: [&ours.agent, &second, &gone].map(|agent| (agent.id, agent.name.clone())).into(),
        keys: vec![
            key(own.id, &own.prefix, None, None),
            key(of_agent.id, &of_agent.prefix, Some(&ours.agent), of_agent.label.clone()),
        ],
        members: vec![(owner.user, email)],
        ..NamedForAudit::default()
    };
    let nothing = AuditSubjects::default();
    assert_eq!(scene.store.names_for_audit(scene.org, &nothing).await.unwrap(), everywhere);
    let known = ours.known;
    let expected = NamedForAudit {
        calendars: known.calendars.into_iter().map(|(id, calendar)| (id, calendar.name)).collect(),
        events: known.events,
        proposals: known.proposals,
        booking_pages: known.pages,
        webhooks: known.webhooks,
        subscriptions: known.subscriptions,
        ..everywhere.clone()
    };
    assert_eq!(scene.store.names_for_audit(scene.org, &ours.asked.in_audit()).await.unwrap(), expected);
    let of_others = scene.store.names_for_audit(scene.org, &theirs.asked.in_audit()).await.unwrap();
    assert_eq!(of_others, everywhere, "what other organizations have is missing");

    scene.delete(&ours.calendar).await;
    let left = scene.store.names_for_audit(scene.org, &ours.asked.in_audit()).await.unwrap();
    let kept = NamedForAudit { proposals: expected.proposals, webhooks: expected.webhooks, ..everywhere };
    assert_eq!(left, kept, "what is on a deleted calendar has no name");
}

/// An agent that is not among the oldest has a name in the audit log if it is asked for.
pub async fn a_young_agent_is_named_in_the_audit_log(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let made: Vec<_> = (0..NAMES_MAX + 2).map(|_| scene.make.agent(scene.org)).collect();
    scene.commit(made.iter().fold(scene.changes(), |changes, agent| changes.create(agent))).await;
    let named = async |ids: &[AgentId]| {
        let asked = AuditSubjects { agents: ids.iter().copied().collect(), ..AuditSubjects::default() };
        let named = scene.store.names_for_audit(scene.org, &asked).await.unwrap();
        named.agents.into_iter().map(|(id, _)| id).collect::<Vec<_>>()
    };
    let oldest: Vec<_> = made.iter().take(NAMES_MAX).map(|agent| agent.id).collect();
    let youngest = made[NAMES_MAX + 1].id;
    assert_eq!(named(&[]).await, oldest);
    assert_eq!(named(&[youngest, oldest[0]]).await, [oldest, vec![youngest]].concat());
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
