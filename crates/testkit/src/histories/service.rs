//! The service under test: two nodes over one store, with a manual clock.

use std::{
    fmt,
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
};

use async_trait::async_trait;
use kalends_accounts::{Credential, Organization, Principal, Reach, reach::CallerKind};
use kalends_app::{
    Actor, Answered, App, ChangeSet, EventPath, IfMatch, MemoryRateLimiter, Parts, Refusal, Request,
    operations::{self, Operation},
    ports::{HumanCalendars, HumanSeen, Store},
};
use kalends_bridge::HumanBusy;
use kalends_calendars::{
    Attendees, EventPatch, EventStatus, HOLD_MOST, Hold, HoldScope, Moment, NewEvent, NewHold, NewRecurrence, Patch,
    SeriesScope,
    ports::{BusySource, LivingAgent},
};
use kalends_kernel::HumanSource;
use kalends_kernel::{CalendarId, KeyId, Metadata, OrgId, RequestId, StoreError};
use kalends_proposals::{Placement, Weight};
use kalends_time::{Clock as _, SignedDuration, Span, Timestamp, Zone};
use kalends_wire::{
    Event, HoldSet, MoveEvent, NewHoldSet, Proposal, Resolution, WantedProposal, WantedResponse, WantedSlot,
};

use super::{
    history::{AGENTS, CALENDARS, DAWN, ORGANIZER, Status, TITLE},
    model::Held,
};
use crate::{
    Mailbox, NoCalendarProviders, NoFetcher, NoProviders, NoSender, TestPasswords, TestTokens,
    conformance::StoreUnderTest,
    fixtures::{Compose as _, Fixtures, settings},
};

/// How many expired holds are ended at once: more than a history has.
const AT_ONCE: u32 = 200;

/// A request to the service, in the service's own types.
#[derive(Debug, Clone)]
pub(super) enum Call {
    Create {
        calendar: String,
        new: Box<NewEvent>,
    },
    CreateSet(NewHoldSet),
    Confirm(String),
    Release(String),
    ConfirmSet(String),
    ReleaseSet(String),
    Expire,
    /// With the identifier of an event, or of an occurrence if the scope is not [`SeriesScope::This`].
    Patch(String, SeriesScope, Box<EventPatch>),
    Carry {
        id: String,
        calendar: String,
        if_free: bool,
    },
    /// As [`Self::Patch`].
    Delete(String, SeriesScope),
    Propose(WantedProposal),
    Respond(String, WantedResponse),
    Settle(String),
    Withdraw(String),
}

/// The reply of the service.
#[derive(Debug)]
pub(super) enum Returned {
    Event(Box<Event>),
    Set(HoldSet),
    Nothing,
    Ended(usize),
    Proposal(Box<Proposal>),
    Resolution(Box<Resolution>),
}

pub(super) type Reply = Result<Returned, Refusal>;

/// An organization with its calendars, and two nodes that serve it.
pub(super) struct Service {
    pub nodes: [Arc<App>; 2],
    pub org: OrgId,
    pub agents: Vec<String>,
    pub calendars: Vec<CalendarId>,
    pub interruption: Interruption,
    organization: Organization,
    make: Fixtures,
}

impl Service {
    /// A new organization, at two minutes past eight on the day on which the fixtures begin.
    pub(super) async fn open(under_test: &StoreUnderTest, make: &Fixtures) -> Self {
        let day = Fixtures::BEGINNING - SignedDuration::hours(8);
        make.clock.set(day + SignedDuration::minutes(DAWN + 1));
        let organization = make.organization();
        let org = organization.id;
        let agents: Vec<_> = (0..AGENTS).map(|_| make.agent(org)).collect();
        let of = |owner: &Option<usize>| match owner {
            Some(agent) => make.calendar(&agents[*agent]),
            None => make.shared_calendar(org),
        };
        let calendars: Vec<_> = CALENDARS.iter().map(|(_, owner)| of(owner)).collect();
        // Messages are stored only if an endpoint listens for them.
        let mut changes = ChangeSet::new(org).create(&organization).create(&make.webhook(org));
        for agent in &agents {
            changes = changes.create(agent);
        }
        for calendar in &calendars {
            changes = changes.create(calendar);
        }
        under_test.store.commit(changes).await.expect("a new organization");
        make.clock.set(day + SignedDuration::minutes(DAWN + 2));
        let interruption = Interruption::default();
        let node = || {
            let parts = Parts {
                store: Arc::<dyn Store>::clone(&under_test.store),
                clock: Arc::new(make.clock.clone()),
                entropy: Arc::new(make.entropy.clone()),
                mailer: Arc::new(Mailbox::default()),
                calendar_providers: Arc::new(NoCalendarProviders),
                limiter: Arc::new(MemoryRateLimiter::default()),
                passwords: Arc::new(TestPasswords::default()),
                tokens: Arc::new(TestTokens),
                providers: Arc::new(NoProviders),
                sender: Arc::new(NoSender),
                fetcher: Arc::new(NoFetcher),
                settings: settings(),
            };
            App::with_human_calendars(parts, Arc::new(interruption.clone()))
        };
        Self {
            nodes: [node(), node()],
            org,
            agents: agents.iter().map(|agent| agent.id.to_string()).collect(),
            calendars: calendars.iter().map(|calendar| calendar.id).collect(),
            interruption,
            organization,
            make: make.clone(),
        }
    }

    pub(super) fn now(&self) -> i64 {
        self.make.clock.now().as_micros()
    }

    pub(super) fn set_clock(&self, now: i64) {
        self.make.clock.set(Timestamp::from_micros(now));
    }

    /// The time that many quarters of an hour after the first start.
    pub(super) fn quarter(quarters: u16) -> i64 {
        let day = Fixtures::BEGINNING - SignedDuration::hours(8);
        (day + SignedDuration::minutes(DAWN + 15 * i64::from(quarters))).as_micros()
    }

    pub(super) fn actor(&self, operation: &'static Operation) -> Actor {
        let now = self.make.clock.now();
        let principal = Principal {
            signed_in: None,
            approval: None,
            connector: None,
            credential: Credential::Key(KeyId::new(now, &self.make.entropy)),
            key_prefix: "svc_sk_0123456789abc".into(),
            org: self.org,
            kind: CallerKind::OrganizationKey,
            reach: Reach::Organization,
            waitlisted: false,
            plan: self.organization.plan,
            limits: self.organization.limits().expect("a plan"),
            accepted_terms: None,
        };
        let request = Request::new(RequestId::new(now, &self.make.entropy), None, operation, now);
        Actor::enter(Arc::new(principal), request).expect("a key of the organization has access to everything")
    }

    /// Makes `call` at a node. The returned future borrows nothing.
    pub(super) fn make(&self, node: usize, call: Call) -> impl Future<Output = Reply> + Send + 'static {
        let actor = self.actor(match &call {
            Call::Create { .. } => &operations::CREATE_EVENT,
            Call::CreateSet(_) => &operations::CREATE_HOLD_SET,
            Call::Confirm(_) | Call::Expire => &operations::CONFIRM_HOLD,
            Call::Release(_) => &operations::RELEASE_HOLD,
            Call::ConfirmSet(_) => &operations::CONFIRM_HOLD_SET,
            Call::ReleaseSet(_) => &operations::RELEASE_HOLD_SET,
            Call::Patch(..) => &operations::UPDATE_EVENT,
            Call::Carry { .. } => &operations::MOVE_EVENT,
            Call::Delete(..) => &operations::DELETE_EVENT,
            Call::Propose(_) => &operations::CREATE_PROPOSAL,
            Call::Respond(..) => &operations::RESPOND_TO_PROPOSAL,
            Call::Settle(_) => &operations::RESOLVE_PROPOSAL,
            Call::Withdraw(_) => &operations::CANCEL_PROPOSAL,
        });
        let app = Arc::clone(&self.nodes[node]);
        async move {
            let event = |answered: Answered<Event>| Returned::Event(Box::new(answered.resource));
            let set = |answered: Answered<HoldSet>| Returned::Set(answered.resource);
            let proposal = |answered: Answered<Proposal>| Returned::Proposal(Box::new(answered.resource));
            let resolution = |answered: Answered<Resolution>| Returned::Resolution(Box::new(answered.resource));
            match call {
                Call::Create { calendar, new } => app.create_event(&actor, &calendar, *new).await.map(event),
                Call::CreateSet(new) => app.create_hold_set(&actor, new).await.map(set),
                Call::Confirm(id) => app.confirm_hold(&actor, &id, None).await.map(event),
                Call::Release(id) => app.release_hold(&actor, &id).await.map(event),
                Call::ConfirmSet(id) => app.confirm_hold_set(&actor, &id, None).await.map(set),
                Call::ReleaseSet(id) => app.release_hold_set(&actor, &id).await.map(set),
                Call::Patch(id, scope, patch) => {
                    app.update_event(&actor, path(&id), scope, *patch, &IfMatch::Any).await.map(event)
                }
                Call::Carry { id, calendar, if_free } => {
                    let to = MoveEvent { calendar_id: calendar, if_free };
                    app.move_event(&actor, &id, &to, &IfMatch::Any).await.map(event)
                }
                Call::Delete(id, scope) => {
                    let deleted = app.delete_event(&actor, path(&id), scope, None, false, &IfMatch::Any).await?;
                    Ok(deleted.resource.map_or(Returned::Nothing, |event_then| Returned::Event(Box::new(event_then))))
                }
                Call::Propose(wanted) => app.create_proposal(&actor, wanted).await.map(proposal),
                Call::Respond(id, wanted) => app.respond(&actor, &id, wanted).await.map(proposal),
                Call::Settle(id) => app.resolve_proposal(&actor, &id).await.map(resolution),
                Call::Withdraw(id) => app.cancel_proposal(&actor, &id).await.map(resolution),
                Call::Expire => app.expire_holds(AT_ONCE).await.map(|done| Returned::Ended(done.found)),
            }
        }
    }
}

/// The route of an event by its identifier.
pub(super) const fn path(id: &str) -> EventPath<'_> {
    EventPath { calendar: None, id }
}

pub(super) fn span(start: i64, end: i64) -> Span {
    Span::new(Timestamp::from_micros(start), Timestamp::from_micros(end)).expect("the end is after the start")
}

/// The hold as a request gives it.
pub(super) const fn hold(held: Held) -> NewHold {
    let scope = if held.wide { HoldScope::Agent } else { HoldScope::Calendar };
    let hold = Hold { expires_at: Timestamp::from_micros(held.until), priority: held.priority, scope };
    NewHold { hold, longest: HOLD_MOST }
}

pub(super) const fn status(status: Status) -> EventStatus {
    match status {
        Status::Confirmed => EventStatus::Confirmed,
        Status::Tentative => EventStatus::Tentative,
        Status::Cancelled => EventStatus::Cancelled,
        Status::Hold => EventStatus::Hold,
    }
}

pub(super) fn new_event(start: i64, end: i64, as_what: Status, held: Option<Held>) -> Box<NewEvent> {
    Box::new(NewEvent {
        title: TITLE.into(),
        description: None,
        location: None,
        conference_url: None,
        attendees: Attendees::default(),
        start: Moment::At(Timestamp::from_micros(start)),
        end: Moment::At(Timestamp::from_micros(end)),
        all_day: false,
        status: status(as_what),
        metadata: Metadata::default(),
        reminders: None,
        recurrence: None,
        hold: held.map(hold),
        if_free: false,
        if_as_of: None,
        send_invitations: false,
    })
}

pub(super) fn other_times(start: i64, end: i64) -> Box<EventPatch> {
    let at = |micros| Patch::Set(Moment::At(Timestamp::from_micros(micros)));
    Box::new(EventPatch { start: at(start), end: at(end), ..EventPatch::default() })
}

/// No human calendars, but a hook that runs something when they are read. A caller that places a hold reads them for
/// each calendar, after it has read the calendar and before it decides.
#[derive(Clone, Default)]
pub(super) struct Interruption(Arc<Mutex<Option<Armed>>>);

struct Armed {
    /// After how many more reads the hook runs.
    left: u8,
    happens: Pin<Box<dyn Future<Output = ()> + Send>>,
}

impl fmt::Debug for Interruption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Interruption").finish_non_exhaustive()
    }
}

impl Interruption {
    /// Runs `happens` after `left` reads.
    pub(super) fn arm(&self, left: u8, happens: impl Future<Output = ()> + Send + 'static) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Armed { left, happens: Box::pin(happens) });
    }

    /// Returns the future that has not run.
    pub(super) fn disarm(&self) -> Option<impl Future<Output = ()> + Send + use<>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take().map(|armed| armed.happens)
    }

    fn due(&self) -> Option<Pin<Box<dyn Future<Output = ()> + Send>>> {
        let mut armed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match armed.as_mut() {
            Some(waiting) if waiting.left > 0 => {
                waiting.left -= 1;
                None
            }
            _ => armed.take().map(|armed| armed.happens),
        }
    }
}

#[async_trait]
impl HumanCalendars for Interruption {
    async fn human_sources_of_agents(&self, _: OrgId, _: &[LivingAgent]) -> Result<Vec<HumanSeen>, StoreError> {
        Ok(Vec::new())
    }

    async fn human_sources(&self, _: OrgId, _: &[BusySource]) -> Result<Vec<HumanSeen>, StoreError> {
        if let Some(happens) = self.due() {
            happens.await;
        }
        Ok(Vec::new())
    }

    async fn human_busy(&self, _: OrgId, _: &[HumanSource], _: Span) -> Result<Vec<HumanBusy>, StoreError> {
        Ok(Vec::new())
    }
}

/// A rule that repeats every day.
pub(super) fn daily(count: u8) -> NewRecurrence {
    let rule = format!("FREQ=DAILY;COUNT={count}").parse().expect("a rule");
    NewRecurrence { rule, exdates: Vec::new(), zone: Some(Zone::UTC) }
}

/// A proposal of one time to all agents, each of which gets an event.
pub(super) fn proposal(
    agents: &[String],
    calendar: String,
    span: Span,
    hold_slots: bool,
    skip_taken: bool,
) -> WantedProposal {
    WantedProposal {
        title: TITLE.into(),
        description: None,
        organizer: agents[ORGANIZER].clone(),
        participants: agents.to_vec(),
        calendar,
        slots: vec![WantedSlot { span, weight: Weight::default(), calendar: None }],
        expires_at: None,
        hold_slots,
        skip_taken,
        min_accepts: 0,
        placement: Placement::All,
        metadata: Metadata::default(),
    }
}
