//! A store with an organization, and shorthands for the cases.

use std::{future::Future, sync::Arc, time::Duration};

use kalends_accounts::{AuditEntry, Organization, VerificationCode};
use kalends_app::{
    ChangeSet,
    ports::{CommitError, Store},
};
use kalends_calendars::{
    Agent, Calendar, Event,
    ports::{AgentFilter, CalendarFilter, EventFilter, EventScope},
};
use kalends_kernel::{CalendarId, OrgId, Page, Revision};
use kalends_notifications::Message;
use kalends_plans::Metric;
use kalends_time::{SignedDuration, Span};
use tokio::sync::Barrier;

use super::StoreUnderTest;
use crate::{
    Inspect,
    fixtures::{Compose, Fixtures},
};

/// How long a race may take. One that takes longer is stuck.
const DEADLINE: Duration = Duration::from_secs(60);

/// The largest page.
pub(super) const LARGEST_PAGE: Page = Page { limit: 200, offset: 0 };

/// The span between two times, in hours after the beginning of the fixtures.
pub(super) fn hours(start: i64, end: i64) -> Span {
    minutes(start * 60, end * 60)
}

/// The span between two times, in minutes after the beginning of the fixtures.
pub(super) fn minutes(start: i64, end: i64) -> Span {
    micros(start * 60_000_000, end * 60_000_000)
}

/// The span between two times, in microseconds after the beginning of the fixtures.
pub(super) fn micros(start: i64, end: i64) -> Span {
    let after = |micros| Fixtures::BEGINNING + SignedDuration::micros(micros);
    Span::new(after(start), after(end)).unwrap()
}

/// Asserts that a change-set failed with this error.
macro_rules! assert_refused {
    ($outcome:expr, $error:pat) => {
        match $outcome {
            Err($error) => {}
            other => panic!("expected {}, got {other:?}", stringify!($error)),
        }
    };
}
pub(super) use assert_refused;

/// An organization in a store, with fixtures to add more.
#[derive(Clone)]
pub(super) struct Scene {
    pub(super) store: Arc<dyn Store>,
    pub(super) inspect: Arc<dyn Inspect>,
    pub(super) make: Fixtures,
    pub(super) org: OrgId,
}

impl Scene {
    /// Creates one organization in the store.
    pub(super) async fn set(under_test: &StoreUnderTest) -> Self {
        let make = Fixtures::new();
        let organization = make.organization();
        let scene = Self {
            store: Arc::clone(&under_test.store),
            inspect: Arc::clone(&under_test.inspect),
            make,
            org: organization.id,
        };
        // Messages are stored only if an endpoint listens for them.
        scene.commit(scene.changes().create(&organization).create(&scene.make.webhook(scene.org))).await;
        scene
    }

    /// A second organization in the same store.
    pub(super) async fn other_organization(&self) -> Self {
        let organization = self.make.organization();
        let other = Self { org: organization.id, ..self.clone() };
        other.commit(other.changes().create(&organization).create(&other.make.webhook(other.org))).await;
        other
    }

    /// An empty change-set of the organization.
    pub(super) fn changes(&self) -> ChangeSet {
        ChangeSet::new(self.org)
    }

    /// Commits a change-set that must succeed.
    pub(super) async fn commit(&self, changes: ChangeSet) {
        self.try_commit(changes).await.expect("the change-set is applied");
    }

    /// Commits a change-set that may fail.
    pub(super) async fn try_commit(&self, changes: ChangeSet) -> Result<(), CommitError> {
        self.store.commit(changes).await
    }

    /// Stores an agent of the organization.
    pub(super) async fn agent(&self) -> Agent {
        let agent = self.make.agent(self.org);
        self.commit(self.changes().create(&agent)).await;
        agent
    }

    /// Stores a calendar of an agent.
    pub(super) async fn calendar(&self, agent: &Agent) -> Calendar {
        let calendar = self.make.calendar(agent);
        self.commit(self.changes().create(&calendar)).await;
        calendar
    }

    /// Stores a shared calendar of the organization.
    pub(super) async fn shared_calendar(&self) -> Calendar {
        let calendar = self.make.shared_calendar(self.org);
        self.commit(self.changes().create(&calendar)).await;
        calendar
    }

    /// Stores a confirmed event.
    pub(super) async fn event(&self, calendar: &Calendar, span: Span) -> Event {
        self.stored(self.make.event(calendar, span)).await
    }

    /// Stores the event.
    pub(super) async fn stored(&self, event: Event) -> Event {
        self.commit(self.changes().create(&event)).await;
        event
    }

    /// Decommissions an agent, and returns its new state.
    pub(super) async fn decommission(&self, agent: &Agent) -> Agent {
        let gone = agent.decommissioned(self.make.tick()).unwrap();
        self.commit(self.changes().update(&gone, agent.version)).await;
        gone
    }

    /// Deletes a calendar.
    pub(super) async fn delete(&self, calendar: &Calendar) {
        let gone = calendar.deleted(self.make.tick());
        self.commit(self.changes().update(&gone, calendar.version)).await;
    }

    /// The current state of the organization.
    pub(super) async fn organization(&self) -> Organization {
        self.store.find_organization(self.org).await.unwrap().unwrap()
    }

    /// The revision of a visible calendar.
    pub(super) async fn revision(&self, calendar: &Calendar) -> Revision {
        self.store.find_calendar(self.org, calendar.id).await.unwrap().unwrap().revision
    }

    /// The current state of the event, if it is visible.
    pub(super) async fn now(&self, event: &Event) -> Option<Event> {
        self.store.find_event(self.org, event.id).await.unwrap().map(|found| found.event)
    }

    /// The visible calendars, including shared ones.
    pub(super) async fn calendars(&self) -> Vec<Calendar> {
        self.store.list_calendars(self.org, CalendarFilter::All, LARGEST_PAGE).await.unwrap().data
    }

    /// The visible events of a calendar.
    pub(super) async fn events(&self, calendar: CalendarId) -> Vec<Event> {
        let scope = EventScope::Calendar(calendar);
        self.store.list_events(self.org, scope, EventFilter::default(), LARGEST_PAGE).await.unwrap().data
    }

    /// How much of a metric the organization has used in the current month.
    pub(super) async fn used(&self, metric: Metric) -> u64 {
        self.inspect.used(self.org, metric, self.make.period()).await
    }

    /// Everything that can be read of the organization.
    pub(super) async fn observe(&self) -> Observed {
        let calendars = self.calendars().await;
        let mut events = Vec::new();
        for calendar in &calendars {
            events.extend(self.events(calendar.id).await);
        }
        let mut used = Vec::new();
        for metric in Metric::ALL {
            used.push(self.used(metric).await);
        }
        let mut messages = self.inspect.messages(self.org).await;
        messages.sort_by_key(|message| message.id);
        let mut audit = self.inspect.audit_entries(self.org).await;
        audit.sort_by_key(|entry| entry.id);
        Observed {
            organizations: self.store.list_organizations().await.unwrap(),
            code: self.store.find_code(self.org).await.unwrap(),
            epoch: self.store.principals_epoch().await.unwrap(),
            agents: self.store.list_agents(self.org, AgentFilter::default(), LARGEST_PAGE).await.unwrap().data,
            calendars,
            events,
            messages,
            audit,
            used,
            answers: self.inspect.answers().await,
        }
    }
}

/// Everything that can be read of an organization.
#[derive(Debug, PartialEq)]
pub(super) struct Observed {
    pub(super) organizations: Vec<Organization>,
    pub(super) code: Option<VerificationCode>,
    pub(super) epoch: i64,
    pub(super) agents: Vec<Agent>,
    pub(super) calendars: Vec<Calendar>,
    pub(super) events: Vec<Event>,
    pub(super) messages: Vec<Message>,
    pub(super) audit: Vec<AuditEntry>,
    pub(super) used: Vec<u64>,
    pub(super) answers: usize,
}

/// Runs `count` tasks at once and returns their outcomes in order.
pub(super) async fn race<T, F>(count: usize, task: impl Fn(usize) -> F) -> Vec<T>
where
    T: Send + 'static,
    F: Future<Output = T> + Send + 'static,
{
    let start = Arc::new(Barrier::new(count));
    let racing: Vec<_> = (0..count)
        .map(|index| {
            let (task, start) = (task(index), Arc::clone(&start));
            tokio::spawn(async move {
                start.wait().await;
                task.await
            })
        })
        .collect();
    let finish = async {
        let mut outcomes = Vec::with_capacity(count);
        for task in racing {
            outcomes.push(task.await.expect("no racing task panics"));
        }
        outcomes
    };
    tokio::time::timeout(DEADLINE, finish).await.expect("the race ends: nothing waits forever")
}

/// How many of the outcomes are successes.
pub(super) fn successes(outcomes: &[Result<(), CommitError>]) -> usize {
    outcomes.iter().filter(|outcome| outcome.is_ok()).count()
}
