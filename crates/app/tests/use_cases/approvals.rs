//! Writes that wait for approval, over the in-memory store.

use std::{collections::BTreeSet, future::poll_fn, sync::Arc, task::Poll, time::Duration};

use kalends_accounts::{
    Action, ApprovalPolicy, ApprovedWrites, Change as AccountChange, Credential, MailedToken, Membership, Organization,
    Password, Principal, Reach, Role, Scope, ScopedKey, Scopes, TokenPurpose, User, UserToken, ports::People as _,
    reach::ScopedAgent,
};
use kalends_app::{
    Actor, App, Approving, Asking, ChangeSet, EventPath, IfMatch, Parts, Refusal, Request, ToMake, needs_approval,
    operations::{self, Operation},
    ports::Commit as _,
};
use kalends_approvals::{
    APPROVAL_LASTS, PENDING_MAX, RESERVED_MAX, State, Status, WaitingRequest, ports::Approvals as _,
};
use kalends_calendars::{
    Agent, Attendee, AttendeeRole, AttendeeStatus, Attendees, Calendar, CalendarPatch, Change as Scheduled, Event,
    EventPatch, EventStatus, Hold, HoldExpiry, HoldScope, Moment, NewEvent, NewHold, NewRecurrence, Patch, SeriesScope,
    ports::{BusyTimes as _, Events as _},
};
use kalends_kernel::Metadata;
use kalends_notifications::{EventType, LetterStatus, RecordSearch, ports::Letters as _};
use kalends_runs::RunName;
use kalends_testkit::{
    Inspect as _, Mailbox, MemoryStore,
    fixtures::{Compose as _, Fixtures, span},
};
use kalends_time::{Clock as _, SignedDuration, Span};
use kalends_wire as wire;

use crate::common::{parts, principal, request};

/// An agent whose writes need approval, and people who decide.
struct Desk {
    app: Arc<App>,
    store: MemoryStore,
    make: Fixtures,
    mailbox: Mailbox,
    organization: Organization,
    owner: User,
    agent: Agent,
    calendar: Calendar,
    other: Calendar,
    key: ScopedKey,
}

/// An hour of 9 March 2026.
fn hour(from: u32) -> Span {
    span(&format!("2026-03-09T{from:02}:00:00Z"), &format!("2026-03-09T{:02}:00:00Z", from + 1))
}

fn new_event(at: Span) -> NewEvent {
    NewEvent {
        title: "Kick-off".to_owned(),
        description: None,
        location: None,
        conference_url: None,
        attendees: Attendees::default(),
        start: Moment::At(at.start()),
        end: Moment::At(at.end()),
        all_day: false,
        status: EventStatus::Confirmed,
        metadata: Metadata::default(),
        reminders: None,
        recurrence: None,
        hold: None,
        if_free: true,
        if_as_of: None,
        send_invitations: false,
    }
}

fn fresh_password() -> Password {
    Password::parse("password", "a fresh start for my horse".to_owned()).unwrap()
}

fn titled(title: &str) -> EventPatch {
    EventPatch { title: Patch::Set(title.to_owned()), ..EventPatch::default() }
}

/// The approval that a write waits for.
fn awaited<T>(outcome: Result<T, Refusal>) -> wire::Approval {
    match outcome {
        Err(Refusal::AwaitsApproval(approval)) => *approval,
        Err(refusal) => panic!("{refusal:?}"),
        Ok(_) => panic!("it was made at once"),
    }
}

impl Desk {
    async fn set() -> Self {
        let (store, make, mailbox) = (MemoryStore::new(), Fixtures::new(), Mailbox::default());
        let app = App::new(Parts { mailer: Arc::new(mailbox.clone()), ..parts(&store, &make) });
        let organization = make.organization();
        let (agent, org) = (make.agent(organization.id), organization.id);
        let calendar =
            Calendar { name: "Ada".to_owned(), zone: "Europe/Berlin".parse().unwrap(), ..make.calendar(&agent) };
        let other = make.calendar(&agent);
        let policy = ApprovalPolicy { covers: ApprovedWrites::All, lasts: APPROVAL_LASTS };
        let key = ScopedKey { approval: Some(policy), ..make.scoped_key(&agent).key };
        let owner = User { email_verified_at: Some(make.tick()), ..make.user() };
        let changes = ChangeSet::new(org)
            .create(&organization)
            .create(&agent)
            .create(&calendar)
            .create(&other)
            .create(&owner)
            .create(&make.webhook(org));
        let membership = Membership::owner(owner.id, org, make.tick());
        let changes = changes.account(AccountChange::AddOwner { membership, seen: owner.version });
        store.commit(changes).await.unwrap();
        store.commit(ChangeSet::new(org).create(&key)).await.unwrap();
        Self { app, store, make, mailbox, organization, owner, agent, calendar, other, key }
    }

    /// Adds a member.
    async fn join(&self, role: Role, proved: bool) -> User {
        let user = User { email_verified_at: proved.then(|| self.make.tick()), ..self.make.user() };
        let org = self.organization.id;
        let membership = Membership { role, ..Membership::owner(user.id, org, self.make.tick()) };
        let changes = ChangeSet::new(org).create(&user);
        let changes = changes.account(AccountChange::AddMember { membership, seen: user.version });
        self.store.commit(changes).await.unwrap();
        user
    }

    /// A mailed token with which its holder takes over the account of somebody who governs the organization, and who
    /// never proved the address.
    async fn token_for_takeover(&self) -> MailedToken {
        let org = self.organization.id;
        let taken = User { email_verified_at: None, holds_address: false, ..self.make.user() };
        let membership = Membership { role: Role::Admin, ..Membership::owner(taken.id, org, self.make.tick()) };
        let token = MailedToken::generate(&self.make.entropy);
        let mailed = UserToken::issue(&token, TokenPurpose::Password, taken.id, self.make.tick());
        let changes = ChangeSet::new(org)
            .create(&taken)
            .account(AccountChange::AddMember { membership, seen: taken.version })
            .account(AccountChange::PutUserToken(mailed));
        self.store.commit(changes).await.unwrap();
        token
    }

    fn request(&self, operation: &'static Operation) -> Request {
        request(&self.make, self.make.tick(), operation)
    }

    /// The holder of the agent's key, with that reach.
    fn holder(&self, reach: Reach) -> Principal {
        Principal {
            approval: self.key.approval.clone(),
            credential: Credential::Key(self.key.id),
            key_prefix: self.key.prefix.clone(),
            ..principal(&self.make, &self.organization, reach)
        }
    }

    /// The organization's key, which may decide.
    fn decider(&self, operation: &'static Operation) -> Actor {
        let principal = principal(&self.make, &self.organization, Reach::Organization);
        Actor::enter(Arc::new(principal), self.request(operation)).unwrap()
    }

    fn of_agent(&self, request: Request) -> Actor {
        let reach = Reach::Agent(ScopedAgent { id: self.agent.id, paused: false, scopes: Scopes::NONE });
        Actor::enter(Arc::new(self.holder(reach)), request).unwrap()
    }

    /// The agent's key without its policy.
    fn trusted(&self, operation: &'static Operation, run: Option<&str>) -> Actor {
        let run = run.map(|name| RunName::parse(name).unwrap());
        self.of_agent(Request { run, ..self.request(operation) })
    }

    /// The agent's key, which asks.
    fn asking(&self, operation: &'static Operation) -> Actor {
        self.asking_with(&self.key, operation)
    }

    /// Another key of the agent, which asks.
    fn asking_with(&self, key: &ScopedKey, operation: &'static Operation) -> Actor {
        let waiting = WaitingRequest {
            target: operation.path.to_owned(),
            content_type: None,
            if_match: None,
            language: None,
            run: None,
            body: String::new(),
        };
        let asking = Asking {
            key: key.id,
            key_prefix: key.prefix.clone(),
            agent: self.agent.id,
            lasts: APPROVAL_LASTS,
            request: waiting,
        };
        self.of_agent(Request { approving: Some(Approving::Ask(Arc::new(asking))), ..self.request(operation) })
    }

    /// What makes the request of an approval.
    async fn to_make(&self, approval: &wire::Approval) -> ToMake {
        let decider = self.decider(&operations::APPROVE);
        self.app.approval_to_make(&decider, &approval.id.to_string()).await.unwrap().unwrap()
    }

    /// The key that asked, as it makes its request.
    fn making(&self, to_make: &ToMake, operation: &'static Operation) -> Actor {
        let approving = Some(Approving::Make(Arc::clone(&to_make.approved)));
        let request = Request { approving, ..self.request(operation) };
        Actor::enter(Arc::clone(&to_make.caller.as_ref().unwrap().principal), request).unwrap()
    }

    async fn create(&self, actor: &Actor, new: NewEvent) -> Result<wire::Event, Refusal> {
        Ok(self.app.create_event(actor, &self.calendar.id.to_string(), new).await?.resource)
    }

    async fn ask_for_event(&self, at: Span) -> wire::Approval {
        awaited(self.create(&self.asking(&operations::CREATE_EVENT), new_event(at)).await)
    }

    async fn update(&self, actor: &Actor, id: &str, patch: EventPatch) -> Result<wire::Event, Refusal> {
        let path = EventPath { calendar: None, id };
        Ok(self.app.update_event(actor, path, SeriesScope::This, patch, &IfMatch::Any).await?.resource)
    }

    /// An event that exists already.
    async fn existing(&self, event: &Event) {
        self.store.commit(ChangeSet::new(self.organization.id).create(event)).await.unwrap();
    }

    async fn is_taken(&self, at: Span) -> bool {
        let mut actor = self.decider(&operations::CREATE_EVENT);
        actor.request.dry_run = true;
        match self.create(&actor, new_event(at)).await {
            Ok(_) => false,
            Err(Refusal::SlotTaken(_)) => true,
            Err(refusal) => panic!("{refusal:?}"),
        }
    }

    async fn status(&self, approval: &wire::Approval) -> Status {
        let found = self.store.find_approval(self.organization.id, approval.id).await.unwrap().unwrap();
        found.status(self.make.clock.now())
    }

    /// How many times of each calendar are reserved for the approval.
    async fn reserved(&self, approval: &wire::Approval) -> Vec<usize> {
        let found = self.store.find_approval(self.organization.id, approval.id).await.unwrap().unwrap();
        found.reserved.iter().map(|reserved| reserved.spans.len()).collect()
    }

    /// The revision of the calendar.
    async fn revision(&self) -> i64 {
        let source = self.store.source_of_calendar(self.organization.id, self.calendar.id).await.unwrap();
        source.unwrap().revision.0
    }

    async fn pending(&self) -> u64 {
        let (org, now) = (self.organization.id, self.make.clock.now());
        self.store.count_pending_approvals(org, self.key.id, now).await.unwrap()
    }

    async fn announced(&self, event_type: EventType) -> usize {
        let messages = self.store.messages(self.organization.id).await;
        messages.iter().filter(|message| message.event_type == event_type).count()
    }

    /// Sends the emails that wait.
    async fn send_emails(&self) {
        for letter in self.app.claim_letters(50).await.unwrap() {
            self.app.send_letter(letter).await;
        }
    }
}

#[tokio::test]
async fn a_write_waits_and_its_time_is_kept_until_it_is_made() {
    let desk = Desk::set().await;
    let approval = desk.ask_for_event(hour(9)).await;
    assert_eq!(
        approval.summary,
        "Create the event “Kick-off” on Monday, 9 March 2026, 10:00 to 11:00 (Europe/Berlin) in the calendar “Ada”."
    );
    assert_eq!(approval.decide_url, format!("http://localhost/console/approvals/{}", approval.id));
    assert!(desk.is_taken(hour(9)).await && !desk.is_taken(hour(10)).await);
    assert_eq!((desk.pending().await, desk.announced(EventType::EventCreated).await), (1, 0));

    let to_make = desk.to_make(&approval).await;
    let made = desk.create(&desk.making(&to_make, &operations::CREATE_EVENT), new_event(hour(9))).await.unwrap();
    let stored = desk.store.find_event(desk.organization.id, made.id.parse().unwrap()).await.unwrap();
    assert!(stored.is_some() && desk.is_taken(hour(9)).await);
    assert_eq!((desk.status(&approval).await, desk.pending().await), (Status::Approved, 0));
    let announced = [EventType::ApprovalRequested, EventType::ApprovalDecided, EventType::EventCreated];
    for event_type in announced {
        assert_eq!(desk.announced(event_type).await, 1, "{event_type:?}");
    }
    let decider = desk.decider(&operations::APPROVE);
    assert!(desk.app.approval_to_make(&decider, &approval.id.to_string()).await.unwrap().is_none(), "nothing is left");
}

#[tokio::test]
async fn of_two_approvals_of_one_write_one_makes_it() {
    let desk = Desk::set().await;
    let approval = desk.ask_for_event(hour(9)).await;
    let (one, other) = (desk.to_make(&approval).await, desk.to_make(&approval).await);
    desk.create(&desk.making(&one, &operations::CREATE_EVENT), new_event(hour(9))).await.unwrap();
    // The second one would take another time, and is refused all the same.
    let again = desk.create(&desk.making(&other, &operations::CREATE_EVENT), new_event(hour(11))).await;
    assert!(matches!(again, Err(Refusal::ApprovalDecided(Status::Approved))), "{again:?}");
    assert!(!desk.is_taken(hour(11)).await);
}

#[tokio::test]
async fn a_denied_or_cancelled_write_frees_its_time() {
    let desk = Desk::set().await;
    let (denied, cancelled) = (desk.ask_for_event(hour(9)).await, desk.ask_for_event(hour(10)).await);
    let decider = desk.decider(&operations::DENY_APPROVAL);
    let reason = Some("Mornings stay free.".to_owned());
    for _ in 0..2 {
        let shown = desk.app.deny_approval(&decider, &denied.id.to_string(), reason.clone()).await.unwrap().resource;
        assert_eq!((shown.status, shown.reason), (wire::ApprovalStatus::Denied, reason.clone()));
    }
    let agent = desk.trusted(&operations::CANCEL_APPROVAL, None);
    for _ in 0..2 {
        let shown = desk.app.cancel_approval(&agent, &cancelled.id.to_string()).await.unwrap().resource;
        assert_eq!(shown.status, wire::ApprovalStatus::Cancelled);
    }
    assert!(!desk.is_taken(hour(9)).await && !desk.is_taken(hour(10)).await);
    assert_eq!((desk.pending().await, desk.announced(EventType::ApprovalDecided).await), (0, 2));
    let late = desk.app.deny_approval(&decider, &cancelled.id.to_string(), None).await;
    assert!(matches!(late, Err(Refusal::ApprovalDecided(Status::Cancelled))), "{late:?}");
    let approve = desk.decider(&operations::APPROVE);
    let late = desk.app.approval_to_make(&approve, &denied.id.to_string()).await;
    assert!(matches!(late, Err(Refusal::ApprovalDecided(Status::Denied))));
}

#[tokio::test(start_paused = true)]
async fn the_end_of_a_key_frees_the_times_of_its_waiting_writes() {
    let desk = Desk::set().await;
    let asked = [desk.ask_for_event(hour(9)).await, desk.ask_for_event(hour(10)).await];
    let decider = desk.decider(&operations::DELETE_KEY);
    let before = desk.revision().await;
    desk.app.revoke_key(&decider, &desk.key.id.to_string()).await.unwrap();
    for (approval, hour) in asked.iter().zip([hour(9), hour(10)]) {
        assert_eq!(desk.status(approval).await, Status::Cancelled);
        assert!(!desk.is_taken(hour).await);
    }
    assert_eq!((desk.pending().await, desk.announced(EventType::ApprovalDecided).await), (0, asked.len()));
    let entries = desk.store.audit_entries(desk.organization.id).await;
    let cancelled = entries.iter().filter(|entry| entry.action == Action::ApprovalCancel);
    assert_eq!(cancelled.count(), asked.len());
    // Each commit that frees times of a calendar raises its revision by one.
    assert_eq!(desk.revision().await, before + 1, "they were cancelled one by one");

    let desk = Desk::set().await;
    let approval = desk.ask_for_event(hour(9)).await;
    let decider = desk.decider(&operations::DELETE_AGENT);
    desk.app.delete_agent(&decider, &desk.agent.id.to_string(), &IfMatch::Any).await.unwrap();
    assert_eq!((desk.status(&approval).await, desk.pending().await), (Status::Cancelled, 0));
}

/// They are more than one read returns.
#[tokio::test(start_paused = true)]
async fn a_takeover_cancels_the_waiting_writes_of_each_key_together() {
    const KEYS: u32 = 6;
    let desk = Desk::set().await;
    let org = desk.organization.id;
    let mut asked = Vec::new();
    for from in 9..9 + KEYS {
        let key = ScopedKey { approval: desk.key.approval.clone(), ..desk.make.scoped_key(&desk.agent).key };
        desk.store.commit(ChangeSet::new(org).create(&key)).await.unwrap();
        for day in 0..PENDING_MAX {
            let start = hour(from).start() + SignedDuration::days(i64::try_from(day).unwrap());
            let event = new_event(Span::new(start, start + SignedDuration::hours(1)).unwrap());
            let asking = desk.asking_with(&key, &operations::CREATE_EVENT);
            asked.push(awaited(desk.create(&asking, event).await));
        }
    }
    let token = desk.token_for_takeover().await;
    let before = desk.revision().await;
    let request = desk.request(&operations::RESET_PASSWORD);
    desk.app.reset_password(&request, token.reveal(), fresh_password()).await.unwrap();
    for approval in &asked {
        assert_eq!(desk.status(approval).await, Status::Cancelled);
    }
    let entries = desk.store.audit_entries(org).await;
    let cancelled = entries.iter().filter(|entry| entry.action == Action::ApprovalCancel);
    assert_eq!(cancelled.count(), asked.len());
    // Each commit that frees times of a calendar raises its revision by one.
    assert_eq!(desk.revision().await, before + i64::from(KEYS), "they were cancelled one by one");
}

#[tokio::test(start_paused = true)]
async fn a_takeover_ends_although_its_caller_hangs_up() {
    let desk = Desk::set().await;
    let approval = desk.ask_for_event(hour(9)).await;
    let token = desk.token_for_takeover().await;
    let request = desk.request(&operations::RESET_PASSWORD);
    let mut resetting = Box::pin(desk.app.reset_password(&request, token.reveal(), fresh_password()));
    let waits = poll_fn(|cx| Poll::Ready(resetting.as_mut().poll(cx).is_pending())).await;
    assert!(waits, "there is no moment at which the caller can hang up");
    drop(resetting);
    for _ in 0..1_000 {
        if desk.status(&approval).await == Status::Cancelled {
            return;
        }
        // The clock is paused, so this only lets the others run.
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    panic!("the write of the revoked key waits on");
}

#[tokio::test]
async fn an_approval_expires_once() {
    let desk = Desk::set().await;
    let approval = desk.ask_for_event(hour(9)).await;
    assert_eq!(desk.app.expire_approvals(10).await.unwrap().late.len(), 0);
    desk.make.clock.advance(APPROVAL_LASTS);
    assert_eq!((desk.status(&approval).await, desk.pending().await), (Status::Expired, 0));
    assert!(!desk.is_taken(hour(9)).await, "nothing is reserved from the expiry on");
    let late = desk.app.approval_to_make(&desk.decider(&operations::APPROVE), &approval.id.to_string()).await;
    assert!(matches!(late, Err(Refusal::ApprovalDecided(Status::Expired))));
    assert_eq!(desk.app.expire_approvals(10).await.unwrap().late.len(), 1);
    assert_eq!(desk.app.expire_approvals(10).await.unwrap().late.len(), 0);
    assert_eq!(desk.announced(EventType::ApprovalDecided).await, 1);
    desk.send_emails().await;
    assert!(desk.mailbox.mails().is_empty(), "nobody is asked about an expired approval");
}

#[tokio::test]
async fn an_approval_is_for_the_state_that_was_seen() {
    let desk = Desk::set().await;
    let event = desk.make.event(&desk.calendar, hour(9));
    desk.existing(&event).await;
    let id = event.id.to_string();
    let approval = awaited(desk.update(&desk.asking(&operations::UPDATE_EVENT), &id, titled("Review")).await);
    assert_eq!(desk.reserved(&approval).await, [0; 0], "the event takes its time already");
    desk.update(&desk.decider(&operations::UPDATE_EVENT), &id, titled("Retro")).await.unwrap();

    let to_make = desk.to_make(&approval).await;
    let made = desk.update(&desk.making(&to_make, &operations::UPDATE_EVENT), &id, titled("Review")).await;
    assert!(matches!(made, Err(Refusal::ApprovalStale)), "{made:?}");
    assert_eq!(desk.status(&approval).await, Status::Pending, "the refusal is recorded separately");
    let decider = desk.decider(&operations::APPROVE);
    let refusal = Some("{\"type\":\"stale\"}".to_owned());
    let failed = desk.app.settle_approval(&decider, &to_make.approved, 412, refusal).await.unwrap().resource;
    assert_eq!((failed.status, failed.result.unwrap().status), (wire::ApprovalStatus::Failed, 412));
}

#[tokio::test]
async fn a_guest_cannot_make_a_waiting_write_stale() {
    let desk = Desk::set().await;
    let guest = |status| Attendee {
        status,
        ..Attendee::parse("attendees[0]", "grace@example.com", None, AttendeeRole::Required, None).unwrap()
    };
    let with = |status| Attendees::from_stored(vec![guest(status)]);
    let event = Event { attendees: with(AttendeeStatus::NeedsAction), ..desk.make.event(&desk.calendar, hour(9)) };
    desk.existing(&event).await;
    let id = event.id.to_string();
    let approval = awaited(desk.update(&desk.asking(&operations::UPDATE_EVENT), &id, titled("Review")).await);
    let replied = Event {
        attendees: with(AttendeeStatus::Declined),
        version: event.version.next(),
        updated_at: desk.make.tick(),
        ..event.clone()
    };
    let changes =
        ChangeSet { calendars: vec![Scheduled::update(&event, replied)], ..ChangeSet::new(desk.organization.id) };
    desk.store.commit(changes).await.unwrap();
    let to_make = desk.to_make(&approval).await;
    let made = desk.update(&desk.making(&to_make, &operations::UPDATE_EVENT), &id, titled("Review")).await.unwrap();
    assert_eq!((made.title.as_str(), desk.status(&approval).await), ("Review", Status::Approved));
}

#[tokio::test]
async fn a_calendar_is_deleted_with_the_events_that_were_seen() {
    let desk = Desk::set().await;
    let id = desk.other.id.to_string();
    let delete = async |actor: &Actor| desk.app.delete_calendar(actor, &id, false, &IfMatch::Any).await;
    let approval = awaited(delete(&desk.asking(&operations::DELETE_CALENDAR)).await);
    desk.existing(&desk.make.event(&desk.other, hour(9))).await;
    let to_make = desk.to_make(&approval).await;
    let made = delete(&desk.making(&to_make, &operations::DELETE_CALENDAR)).await;
    assert!(matches!(made, Err(Refusal::ApprovalStale)), "an event was added since");
    let approval = awaited(delete(&desk.asking(&operations::DELETE_CALENDAR)).await);
    let to_make = desk.to_make(&approval).await;
    delete(&desk.making(&to_make, &operations::DELETE_CALENDAR)).await.unwrap();
    assert_eq!(desk.status(&approval).await, Status::Approved);
}

#[tokio::test]
async fn the_kept_answer_has_no_secret_address() {
    let desk = Desk::set().await;
    let (id, named) = (desk.calendar.id.to_string(), || CalendarPatch {
        name: Patch::Set("Desk".to_owned()),
        ..CalendarPatch::default()
    });
    let asking = desk.asking(&operations::UPDATE_CALENDAR);
    let approval = awaited(desk.app.update_calendar(&asking, &id, named(), &IfMatch::Any).await);
    let to_make = desk.to_make(&approval).await;
    let making = desk.making(&to_make, &operations::UPDATE_CALENDAR);
    let made = desk.app.update_calendar(&making, &id, named(), &IfMatch::Any).await.unwrap().resource;
    let kept = desk.store.find_approval(desk.organization.id, approval.id).await.unwrap().unwrap();
    let State::Approved { outcome, .. } = kept.state else { panic!("{kept:?}") };
    let body = outcome.body.unwrap();
    assert!(body.contains("Desk") && !body.contains(&made.ical_url) && !body.contains("ical_url"), "{body}");
}

#[tokio::test]
async fn only_times_that_a_write_newly_takes_are_reserved() {
    let desk = Desk::set().await;
    let event = desk.make.event(&desk.calendar, hour(9));
    let series = desk.make.series(&desk.calendar, hour(13), "FREQ=DAILY;COUNT=150");
    desk.existing(&event).await;
    desk.existing(&series).await;
    let update = || desk.asking(&operations::UPDATE_EVENT);
    let to = |hours: i64| EventPatch {
        start: Patch::Set(Moment::At(hour(9).start() + SignedDuration::hours(hours))),
        ..EventPatch::default()
    };
    let cases = [
        (event.id.to_string(), to(1), vec![1]),
        (event.id.to_string(), to(-24 * 30), vec![]),
        (
            event.id.to_string(),
            EventPatch { status: Patch::Set(EventStatus::Cancelled), ..EventPatch::default() },
            vec![],
        ),
        (series.id.to_string(), titled("Retro"), vec![]),
        (
            kalends_calendars::Occurrence { series: series.id, start: hour(13).start() }.to_string(),
            titled("Retro"),
            vec![],
        ),
        (
            kalends_calendars::Occurrence { series: series.id, start: hour(13).start() }.to_string(),
            EventPatch { start: Patch::Set(Moment::At(hour(16).start())), ..EventPatch::default() },
            vec![1],
        ),
    ];
    for (index, (id, patch, reserved)) in cases.into_iter().enumerate() {
        let approval = awaited(desk.update(&update(), &id, patch).await);
        assert_eq!(desk.reserved(&approval).await, reserved, "case {index}: {}", approval.summary);
    }
    let recurrence = NewRecurrence { rule: "FREQ=DAILY;COUNT=150".parse().unwrap(), exdates: Vec::new(), zone: None };
    let daily = NewEvent { recurrence: Some(recurrence), ..new_event(hour(18)) };
    let approval = awaited(desk.create(&desk.asking(&operations::CREATE_EVENT), daily).await);
    assert_eq!(desk.reserved(&approval).await, [RESERVED_MAX]);
}

#[tokio::test]
async fn a_hold_set_reserves_its_time_on_each_calendar() {
    let desk = Desk::set().await;
    let expires_at = desk.make.clock.now() + SignedDuration::hours(1);
    let hold = Hold { expires_at, priority: 0, scope: HoldScope::Calendar };
    let set = wire::NewHoldSet {
        title: "Review".to_owned(),
        span: hour(9),
        calendars: vec![desk.calendar.id.to_string(), desk.other.id.to_string()],
        agents: Vec::new(),
        hold: NewHold { hold, longest: SignedDuration::hours(2) },
        if_as_of: None,
    };
    let asking = desk.asking(&operations::CREATE_HOLD_SET);
    let approval = awaited(desk.app.create_hold_set(&asking, set.clone()).await);
    assert!(approval.summary.starts_with("Place a hold “Review” on Monday"), "{}", approval.summary);
    assert!(approval.summary.ends_with(" on 2 calendars."), "{}", approval.summary);
    assert_eq!(desk.reserved(&approval).await, [1, 1]);
    assert_eq!(approval.expires_at, expires_at, "the holds could not be placed later");
    assert!(desk.is_taken(hour(9)).await);
    let to_make = desk.to_make(&approval).await;
    desk.app.create_hold_set(&desk.making(&to_make, &operations::CREATE_HOLD_SET), set).await.unwrap();
    assert_eq!(desk.status(&approval).await, Status::Approved);
}

#[tokio::test]
async fn a_longer_hold_is_asked_for_until_the_present_one_expires() {
    let desk = Desk::set().await;
    let placed = desk.make.hold(&desk.calendar, hour(9), SignedDuration::minutes(15));
    desk.existing(&placed).await;
    let expires_at = placed.hold.unwrap().expires_at;
    let later = HoldExpiry { at: expires_at + SignedDuration::hours(1), longest: SignedDuration::hours(2) };
    let longer = EventPatch { hold_expires_at: Patch::Set(later), ..EventPatch::default() };
    let approval = awaited(desk.update(&desk.asking(&operations::UPDATE_EVENT), &placed.id.to_string(), longer).await);
    assert_eq!(approval.expires_at, expires_at, "no hold is left to prolong from then on");
    assert_eq!(desk.reserved(&approval).await, [0; 0], "the hold keeps the time until then");
}

#[tokio::test]
async fn a_hold_set_reserves_nothing_on_calendars_of_others() {
    let desk = Desk::set().await;
    let theirs = desk.make.agent(desk.organization.id);
    let shared = Calendar { agent: None, ..desk.make.calendar(&theirs) };
    let foreign = desk.make.calendar(&theirs);
    let changes = ChangeSet::new(desk.organization.id).create(&theirs).create(&foreign).create(&shared);
    desk.store.commit(changes).await.unwrap();
    let hold =
        Hold { expires_at: desk.make.clock.now() + SignedDuration::hours(1), priority: 0, scope: HoldScope::Calendar };
    let set = wire::NewHoldSet {
        title: "Review".to_owned(),
        span: hour(9),
        calendars: [&desk.calendar, &foreign, &shared].map(|calendar| calendar.id.to_string()).to_vec(),
        agents: Vec::new(),
        hold: NewHold { hold, longest: SignedDuration::hours(2) },
        if_as_of: None,
    };
    let reach =
        Reach::Agent(ScopedAgent { id: desk.agent.id, paused: false, scopes: Scopes::NONE.with(Scope::HoldsOrg) });
    let principal = desk.holder(reach);
    let asking = Actor::enter(Arc::new(principal), desk.asking(&operations::CREATE_HOLD_SET).request).unwrap();
    let approval = awaited(desk.app.create_hold_set(&asking, set).await);
    let found = desk.store.find_approval(desk.organization.id, approval.id).await.unwrap().unwrap();
    let calendars: Vec<_> = found.reserved.iter().map(|reserved| reserved.calendar).collect();
    assert_eq!(calendars, [desk.calendar.id]);
}

#[tokio::test]
async fn an_undo_is_approved_for_the_writes_that_were_seen() {
    let desk = Desk::set().await;
    let create = || desk.trusted(&operations::CREATE_EVENT, Some("tidy-up"));
    let first = desk.create(&create(), new_event(hour(9))).await.unwrap();
    let ask = || desk.asking(&operations::UNDO_RUN);
    let approval = awaited(desk.app.undo_run(&ask(), "tidy-up", None, false).await);
    assert_eq!(approval.summary, "Take back the run “tidy-up”: 1 event.");
    desk.create(&create(), new_event(hour(10))).await.unwrap();
    let to_make = desk.to_make(&approval).await;
    let undone = desk.app.undo_run(&desk.making(&to_make, &operations::UNDO_RUN), "tidy-up", None, false).await;
    assert!(matches!(undone, Err(Refusal::ApprovalStale)), "the run has written more since");

    let approval = awaited(desk.app.undo_run(&ask(), "tidy-up", None, false).await);
    let to_make = desk.to_make(&approval).await;
    desk.app.undo_run(&desk.making(&to_make, &operations::UNDO_RUN), "tidy-up", None, false).await.unwrap();
    let found = desk.store.find_event(desk.organization.id, first.id.parse().unwrap()).await.unwrap();
    assert!(found.is_none() && !desk.is_taken(hour(9)).await && !desk.is_taken(hour(10)).await);
}

#[tokio::test]
async fn a_request_that_would_be_refused_is_refused_at_once() {
    let desk = Desk::set().await;
    desk.existing(&desk.make.event(&desk.calendar, hour(9))).await;
    let taken = desk.create(&desk.asking(&operations::CREATE_EVENT), new_event(hour(9))).await;
    assert!(matches!(taken, Err(Refusal::SlotTaken(_))), "{taken:?}");
    // A time that waits for another approval is taken too.
    desk.ask_for_event(hour(10)).await;
    let taken = desk.create(&desk.asking(&operations::CREATE_EVENT), new_event(hour(10))).await;
    assert!(matches!(taken, Err(Refusal::SlotTaken(_))), "{taken:?}");
    assert_eq!(desk.pending().await, 1);
}

#[tokio::test]
async fn a_dry_run_asks_nobody() {
    let desk = Desk::set().await;
    let mut actor = desk.asking(&operations::CREATE_EVENT);
    actor.request.dry_run = true;
    desk.create(&actor, new_event(hour(9))).await.unwrap();
    assert_eq!((desk.pending().await, desk.announced(EventType::ApprovalRequested).await), (0, 0));
    assert!(!desk.is_taken(hour(9)).await);
}

#[tokio::test]
async fn a_key_has_a_limited_number_of_writes_that_wait() {
    let desk = Desk::set().await;
    for number in 0..PENDING_MAX {
        let start = hour(9).start() + SignedDuration::days(i64::try_from(number).unwrap());
        desk.ask_for_event(Span::new(start, start + SignedDuration::hours(1)).unwrap()).await;
    }
    let more = desk.create(&desk.asking(&operations::CREATE_EVENT), new_event(hour(11))).await;
    assert!(matches!(more, Err(Refusal::TooManyPending)), "{more:?}");
    assert!(!desk.is_taken(hour(11)).await);
    desk.make.clock.advance(APPROVAL_LASTS);
    desk.ask_for_event(hour(11)).await;
}

#[test]
fn a_policy_covers_writes_and_no_decisions() {
    let named = BTreeSet::from(["createEvent".to_owned()]);
    let only = ApprovalPolicy { covers: ApprovedWrites::Operations(named), lasts: APPROVAL_LASTS };
    let all = ApprovalPolicy { covers: ApprovedWrites::All, lasts: APPROVAL_LASTS };
    for (policy, operation, needs) in [
        (None, &operations::CREATE_EVENT, false),
        (Some(&only), &operations::CREATE_EVENT, true),
        (Some(&only), &operations::UPDATE_EVENT, false),
        (Some(&all), &operations::UPDATE_EVENT, true),
        (Some(&all), &operations::GET_EVENT, false),
        (Some(&all), &operations::CANCEL_APPROVAL, false),
    ] {
        assert_eq!(needs_approval(policy, operation), needs, "{}", operation.id);
    }
}

#[tokio::test]
async fn a_waiting_reader_sees_the_decision() {
    let desk = Desk::set().await;
    let approval = desk.ask_for_event(hour(9)).await;
    let id = approval.id.to_string();
    let reader = desk.trusted(&operations::GET_APPROVAL, None);
    assert_eq!(desk.app.approval(&reader, &id, Duration::ZERO).await.unwrap(), approval);
    let waiting = desk.app.approval(&reader, &id, Duration::from_secs(60));
    let decider = desk.decider(&operations::DENY_APPROVAL);
    let (seen, denied) = tokio::join!(waiting, desk.app.deny_approval(&decider, &id, None));
    denied.unwrap();
    assert_eq!(seen.unwrap().status, wire::ApprovalStatus::Denied);
}

#[tokio::test]
async fn people_who_may_decide_get_an_email() {
    let desk = Desk::set().await;
    let member = desk.join(Role::Member, true).await;
    desk.join(Role::Viewer, true).await;
    desk.join(Role::Admin, false).await;
    let approval = desk.ask_for_event(hour(9)).await;
    desk.send_emails().await;
    let mails = desk.mailbox.empty();
    let got = |user: &User| mails.iter().any(|mail| mail.to == user.email);
    assert!(mails.len() == 2 && got(&desk.owner) && got(&member), "{mails:?}");
    let [mail, _] = &mails[..] else { panic!("{mails:?}") };
    assert_eq!(mail.subject, "\"Scheduler\" asks for your approval");
    assert!(mail.text.contains(&approval.decide_url) && mail.text.contains("“Kick-off”"), "{}", mail.text);

    // The emails about a write that is cancelled are not sent any more.
    let cancelled = desk.ask_for_event(hour(10)).await;
    let agent = desk.trusted(&operations::CANCEL_APPROVAL, None);
    desk.app.cancel_approval(&agent, &cancelled.id.to_string()).await.unwrap();
    desk.send_emails().await;
    assert!(desk.mailbox.mails().is_empty());
}

#[tokio::test]
async fn a_decision_withdraws_the_emails_to_those_who_no_longer_decide() {
    let desk = Desk::set().await;
    let admin = desk.join(Role::Admin, true).await;
    let approval = desk.ask_for_event(hour(9)).await;
    let seen = desk.store.find_user(admin.id).await.unwrap().unwrap().version;
    let removed = AccountChange::RemoveMember { user: admin.id, org: desk.organization.id, seen };
    desk.store.commit(ChangeSet::new(desk.organization.id).account(removed)).await.unwrap();
    let decider = desk.decider(&operations::DENY_APPROVAL);
    desk.app.deny_approval(&decider, &approval.id.to_string(), None).await.unwrap();
    desk.send_emails().await;
    assert!(desk.mailbox.mails().is_empty());
}

#[tokio::test]
async fn a_write_waits_even_if_no_more_emails_may_be_sent() {
    let desk = Desk::set().await;
    for _ in 0..35 {
        let approval = desk.ask_for_event(hour(9)).await;
        let agent = desk.trusted(&operations::CANCEL_APPROVAL, None);
        desk.app.cancel_approval(&agent, &approval.id.to_string()).await.unwrap();
    }
    let search = RecordSearch { status: None, before: None, limit: 100 };
    let records = desk.store.letter_records(desk.organization.id, search).await.unwrap();
    assert_eq!(records.len(), 30);
    assert!(records.iter().all(|record| record.status == LetterStatus::Outdated));
    desk.make.clock.advance(SignedDuration::hours(1));
    desk.ask_for_event(hour(9)).await;
    desk.send_emails().await;
    assert_eq!(desk.mailbox.mails().len(), 1);
}
