//! The client crate against the service. The service accepts every kind of request, and the client can read every
//! answer.

use crate::on_both;
use std::time::Duration;

use chrono::TimeDelta;
use kalends_client::{
    Client, Error, OPERATIONS, Retry,
    kernel::{CalendarId, WebhookId},
    wire::*,
};
use kalends_e2e::{
    Behaviour,
    Database::{self, Sqlite},
    Receiver, Server, at, iso,
};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Value, json};

use crate::subscriber::NOWHERE;

const NO_LOCAL_TIMES: ShowEvents = ShowEvents { local: None };
const ALWAYS: ConfirmHold = ConfirmHold { if_as_of: None };
/// The longest wait for an expected event on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A client with the key of an organization that an operator created.
async fn with_org(database: Database, plan: &str) -> (Server, Client) {
    let server = Server::start(database).await;
    let key = server.org(plan).await.key;
    let client = Client::new(server.base_url(), &key).unwrap();
    (server, client)
}

fn anonymous(server: &Server) -> Client {
    Client::builder(server.base_url()).build().unwrap()
}

fn ada() -> CreateAgent {
    CreateAgent { name: "Ada".to_owned(), r#type: AgentType::Ai, description: None, metadata: None }
}

async fn agent_with_calendar(client: &Client) -> (Agent, Calendar) {
    let agent = client.create_agent(&ada()).await.unwrap();
    let work = CreateCalendar { name: "Work".to_owned(), timezone: "UTC".to_owned(), ..CreateCalendar::default() };
    let calendar = client.create_agent_calendar(agent.id, &work).await.unwrap();
    assert_eq!(calendar.agent_id, Some(agent.id));
    (agent, calendar)
}

fn event(title: &str, start: &str, end: &str) -> CreateEvent {
    let time = |text: &str| format!("2031-03-03T{text}:00Z");
    CreateEvent { title: title.to_owned(), start_time: time(start), end_time: time(end), ..CreateEvent::default() }
}

fn range(include_busy: bool) -> AvailabilityOf {
    AvailabilityOf {
        start: "2031-03-03T09:00:00Z".to_owned(),
        end: "2031-03-03T11:00:00Z".to_owned(),
        include_busy: Some(include_busy),
        ..AvailabilityOf::default()
    }
}

/// The service's time plus this duration.
async fn later(client: &Client, time: TimeDelta) -> String {
    let now = client.get_health().await.unwrap().ts.to_string();
    iso(at(&now) + time)
}

#[apply(on_both)]
#[tokio::test]
async fn agents_and_calendars(#[case] database: Database) {
    let (_server, client) = with_org(database, "pro").await;
    let (agent, calendar) = agent_with_calendar(&client).await;
    let patch = UpdateAgent {
        description: Some(Some("Plans".to_owned())),
        metadata: Some(Some(json!({ "a": [1] }))),
        ..UpdateAgent::default()
    };
    let patched = client.update_agent(agent.id, &patch).send().await.unwrap();
    assert_eq!((patched.status, patched.plan.as_deref(), patched.replayed), (200, Some("pro"), false));
    assert!(patched.request_id.is_some_and(|id| id.starts_with("req_")));
    assert_eq!(patched.value.description.as_deref(), Some("Plans"));
    let clear = UpdateAgent { description: Some(None), ..UpdateAgent::default() };
    let cleared = client.update_agent(agent.id, &clear).if_match(&patched.etag.clone().unwrap()).await.unwrap();
    assert_eq!((cleared.description, cleared.metadata["a"].clone()), (None, json!([1])));

    let error = client.update_agent(agent.id, &clear).if_match(&patched.etag.unwrap()).await.unwrap_err();
    assert_eq!((error.status(), error.code(), error.param()), (Some(412), Some("stale"), Some("If-Match")));
    let error = client.update_agent(agent.id, &UpdateAgent::default()).await.unwrap_err();
    assert_eq!(error.status(), Some(400), "{error}");
    let error = client.get_agent("agt_nobody/../x").await.unwrap_err();
    assert_eq!((error.status(), error.code()), (Some(404), Some("agent_not_found")));

    client.create_agent(&ada()).await.unwrap();
    let first = ListAgents { limit: Some(1), r#type: Some(AgentType::Ai), ..ListAgents::default() };
    let page = client.list_agents(&first).await.unwrap();
    assert_eq!((page.total, page.data.len(), page.next_offset()), (2, 1, Some(1)));
    let page = client.list_agents(&ListAgents { offset: page.next_offset(), ..first }).await.unwrap();
    assert_eq!((page.data.len(), page.next_offset()), (1, None));

    let shared = CreateCalendar { name: "Rooms".to_owned(), timezone: "Asia/Tokyo".to_owned(), ..Default::default() };
    assert_eq!(client.create_calendar(&shared).await.unwrap().agent_id, None);
    let all = ListCalendars { include: Some(IncludeCalendars::All), ..ListCalendars::default() };
    assert_eq!(client.list_calendars(&all).await.unwrap().total, 2);
    assert_eq!(client.list_agent_calendars(agent.id, &Paging::default()).await.unwrap().total, 1);
    let reminders = UpdateCalendar { default_reminders: Some(Some(vec![10])), ..UpdateCalendar::default() };
    assert_eq!(client.update_calendar(calendar.id, &reminders).await.unwrap().default_reminders, Some(vec![10]));
    let none = UpdateCalendar { default_reminders: Some(None), ..UpdateCalendar::default() };
    assert_eq!(client.update_calendar(calendar.id, &none).await.unwrap().default_reminders, None);
    assert_eq!(client.get_calendar(calendar.id).await.unwrap().timezone, "UTC");
    client.delete_calendar(calendar.id, &DeleteCalendar { if_empty: Some(true) }).await.unwrap();
    assert_eq!(client.delete_agent(agent.id).send().await.unwrap().status, 204);
    assert_eq!(client.get_agent(agent.id).await.unwrap().status(), AgentStatus::Decommissioned);
}

#[apply(on_both)]
#[tokio::test]
async fn events_and_series(#[case] database: Database) {
    let (_server, client) = with_org(database, "pro").await;
    let (agent, calendar) = agent_with_calendar(&client).await;
    let series = CreateEvent { recurrence_rule: Some("FREQ=DAILY;COUNT=3".to_owned()), ..event("S", "09:00", "09:30") };
    let series = client.create_event(calendar.id, &ShowEvents { local: Some(true) }, &series).await.unwrap();
    assert_eq!(series.local.as_ref().map(|local| (local.weekday, &*local.timezone)), Some((Weekday::Monday, "UTC")));
    let batch = CreateEventBatch { events: vec![event("A", "12:00", "13:00"), event("B", "13:00", "14:00")] };
    let batch = client.create_event_batch(calendar.id, &NO_LOCAL_TIMES, &batch).await.unwrap();
    assert_eq!(batch.data.len(), 2);

    let query = ListEvents {
        start_after: Some("2031-03-01T00:00:00+01:00".to_owned()),
        start_before: Some("2031-04-01T00:00:00+01:00".to_owned()),
        expand: Some(true),
        ..ListEvents::default()
    };
    let listed = client.list_calendar_events(calendar.id, &query).await.unwrap();
    assert_eq!(listed.total, 5);
    let instance = listed.data.iter().rfind(|event| event.recurring_event_id.is_some()).unwrap();
    assert_eq!(instance.recurring_event_id.map(|id| id.to_string()).as_ref(), Some(&series.id));
    assert_eq!(client.list_agent_events(agent.id, &ListEvents::default()).await.unwrap().total, 3);

    let moved = UpdateEvent { title: Some(Some("Moved".to_owned())), ..UpdateEvent::default() };
    let changed = client.update_event(&instance.id, &ChangeEvent::default(), &moved).await.unwrap();
    assert_eq!((&*changed.title, changed.original_start_time), ("Moved", instance.original_start_time));
    let only = DeleteEvent { occurrence_start: Some("2031-03-04T09:00:00Z".to_owned()), ..DeleteEvent::default() };
    let rest = client.delete_calendar_event(calendar.id, &series.id, &only).await.unwrap();
    assert_eq!(rest.map(|series| series.recurrence_exdates.len()), Some(1));
    assert!(client.delete_event(&batch.data[0].id, &DeleteEvent::default()).await.unwrap().is_none());
    let once = UpdateEvent { recurrence_rule: Some(None), ..UpdateEvent::default() };
    let once = client.update_calendar_event(calendar.id, &series.id, &ChangeEvent::default(), &once).await.unwrap();
    assert_eq!(once.recurrence_rule, None);
    assert_eq!(client.get_event(&series.id, &NO_LOCAL_TIMES).await.unwrap().title, "S");
    assert_eq!(
        client.get_calendar_event(calendar.id, &series.id, &NO_LOCAL_TIMES).await.unwrap().status,
        EventStatus::Confirmed
    );

    let context = client.get_calendar_context(calendar.id, &NO_LOCAL_TIMES).await.unwrap();
    assert_eq!((context.calendar_id, context.current_event.is_none()), (calendar.id, true));
    let changes = client.list_calendar_changes(calendar.id, &ListChanges::default()).await.unwrap();
    assert!(changes.data.iter().any(|change| matches!(change, Change::Event(event) if event.id == series.id)));
    let gone = &batch.data[0].id;
    assert!(!changes.data.iter().any(|change| matches!(change, Change::Event(event) if event.id == *gone)));

    // The latest time in an answer. No request may name a time that late.
    let last = CreateEvent {
        title: "New Year's Eve".to_owned(),
        start_time: "2099-12-31".to_owned(),
        end_time: "2100-01-01".to_owned(),
        all_day: true,
        ..CreateEvent::default()
    };
    let last = client.create_event(calendar.id, &NO_LOCAL_TIMES, &last).await.unwrap();
    assert_eq!(last.end_time.to_string(), "2100-01-01T00:00:00Z");
}

#[apply(on_both)]
#[tokio::test]
async fn a_repetition_is_replayed(#[case] database: Database) {
    let (_server, client) = with_org(database, "pro").await;
    let create = || client.create_agent(&ada()).idempotency_key("ada");
    let first = create().send().await.unwrap();
    let again = create().send().await.unwrap();
    assert_eq!((first.replayed, again.replayed), (false, true));
    assert_eq!((first.value.id, first.etag), (again.value.id, again.etag));
    assert_ne!(client.create_agent(&ada()).await.unwrap().id, first.value.id);
    let other = CreateAgent { name: "Bob".to_owned(), ..ada() };
    let error = client.create_agent(&other).idempotency_key("ada").await.unwrap_err();
    assert_eq!((error.status(), error.code()), (Some(422), Some("idempotency_mismatch")));
}

#[apply(on_both)]
#[tokio::test]
async fn limits_are_reported(#[case] database: Database) {
    let server = Server::start(database).await;
    let key = server.org_with("free", &["--limits", r#"{"api_calls":2}"#]).await.key;
    // Without waiting, the client gives up even if the month ends soon.
    let hasty = Retry { longest_wait: Duration::ZERO, ..Retry::default() };
    let client = Client::builder(server.base_url()).key(&key).retry(hasty).build().unwrap();
    let limit = client.get_usage().send().await.unwrap().rate_limit.unwrap();
    assert_eq!((&*limit.name, limit.limit, limit.remaining), ("api_calls", 2, 1));
    client.get_usage().await.unwrap();
    let error = client.get_usage().await.unwrap_err();
    assert_eq!((error.status(), error.kind()), (Some(429), Some("quota_exceeded")));
    assert!(matches!(error, Error::Api { retry_after: Some(wait), .. } if !wait.is_zero()));
}

#[apply(on_both)]
#[tokio::test]
async fn availability_and_holds(#[case] database: Database) {
    let (_server, client) = with_org(database, "pro").await;
    let (agent, calendar) = agent_with_calendar(&client).await;
    client.create_event(calendar.id, &NO_LOCAL_TIMES, &event("A", "09:30", "10:00")).await.unwrap();
    let found = client.get_calendar_availability(calendar.id, &range(true)).await.unwrap();
    assert_eq!((found.slots.len(), found.busy.len(), found.availability_state), (3, 1, AvailabilityState::Complete));
    assert_eq!(client.get_calendar_availability(calendar.id, &range(false)).await.unwrap().busy.len(), 0);
    let of_agent = client.get_agent_availability(agent.id, &range(true)).await.unwrap();
    assert_eq!((of_agent.slots.len(), of_agent.per_agent_busy.len()), (3, 1));
    let AvailabilityOf { start, end, .. } = range(false);
    let across = AcrossAgents { agents: agent.id.to_string(), start, end, ..AcrossAgents::default() };
    assert_eq!(client.get_availability(&across).await.unwrap().agents, [agent.id.to_string()]);

    let rules = PutAvailabilityRules {
        buffer_after_minutes: Some(30),
        timezone: Some("UTC".to_owned()),
        ..PutAvailabilityRules::default()
    };
    client.put_availability_rules(calendar.id, &rules).await.unwrap();
    assert_eq!(client.get_availability_rules(calendar.id).await.unwrap().buffer_after_minutes, 30);
    let AvailabilityOf { start, end, .. } = range(false);
    let why = ExplainAvailability { calendar: Some(calendar.id.to_string()), start, end, ..Default::default() };
    let why = client.explain_availability(&why).await.unwrap();
    assert_eq!((why.offered, why.reasons[0].reason), (false, ReasonKind::Event));
    client.delete_availability_rules(calendar.id).await.unwrap();

    let until = later(&client, TimeDelta::minutes(10)).await;
    let hold = CreateEvent {
        hold_expires_at: Some(until.clone()),
        scope: Some(HoldScope::Agent),
        ..event("Maybe", "10:00", "10:30")
    };
    let held = client.create_event(calendar.id, &NO_LOCAL_TIMES, &hold).await.unwrap();
    let error = client.create_event(calendar.id, &NO_LOCAL_TIMES, &hold).await.unwrap_err();
    let body = error.body().unwrap();
    assert_eq!((error.status(), error.code()), (Some(409), Some("slot_taken")));
    assert_eq!(body.conflicts.as_ref().unwrap()[0].kind, ReasonKind::Hold);
    assert_eq!(body.nearest_free.as_ref().unwrap().len(), 3);
    assert_eq!(client.confirm_hold(&held.id, &NO_LOCAL_TIMES, &ALWAYS).await.unwrap().status, EventStatus::Confirmed);
    let hold = CreateEvent { hold_expires_at: Some(until.clone()), ..event("Perhaps", "11:00", "11:30") };
    let held = client.create_event(calendar.id, &NO_LOCAL_TIMES, &hold).await.unwrap();
    assert_eq!(held.status, EventStatus::Hold);
    assert_eq!(client.release_hold(&held.id, &NO_LOCAL_TIMES).await.unwrap().status, EventStatus::Cancelled);
    let both = CreateHoldSet {
        title: "Both".to_owned(),
        start_time: "2031-03-04T09:00:00Z".to_owned(),
        end_time: "2031-03-04T10:00:00Z".to_owned(),
        calendar_ids: vec![calendar.id.to_string()],
        hold_expires_at: until,
        ..CreateHoldSet::default()
    };
    let set = client.create_hold_set(&NO_LOCAL_TIMES, &both).await.unwrap();
    assert_eq!(set.holds[0].hold_set_id, Some(set.id));
    let released = client.release_hold_set(set.id, &NO_LOCAL_TIMES).await.unwrap();
    assert_eq!(released.holds[0].status, EventStatus::Cancelled);
    // The time is free again.
    let set = client.create_hold_set(&NO_LOCAL_TIMES, &both).await.unwrap();
    let confirmed = client.confirm_hold_set(set.id, &NO_LOCAL_TIMES, &ALWAYS).await.unwrap();
    assert_eq!((confirmed.id, confirmed.holds[0].status), (set.id, EventStatus::Confirmed));
}

#[apply(on_both)]
#[tokio::test]
async fn proposals(#[case] database: Database) {
    let (_server, client) = with_org(database, "pro").await;
    let (agent, calendar) = agent_with_calendar(&client).await;
    let offered = OfferedSlot {
        start_time: "2031-05-04T09:00:00Z".to_owned(),
        end_time: "2031-05-04T10:00:00Z".to_owned(),
        weight: Some(2.5),
        ..OfferedSlot::default()
    };
    let body = CreateProposal {
        title: "Kick-off".to_owned(),
        organizer_agent_id: agent.id.to_string(),
        participant_agent_ids: vec![agent.id.to_string()],
        calendar_id: calendar.id.to_string(),
        slots: vec![offered],
        ..CreateProposal::default()
    };
    let made = client.create_proposal(&body).await.unwrap();
    assert_eq!((&*made.summary.status, made.slots[0].weight), ("pending", 2.5));
    let accepting = RespondToProposal {
        agent_id: agent.id.to_string(),
        response: "accept".to_owned(),
        selected_slot_id: Some(made.slots[0].id.to_string()),
        ..RespondToProposal::default()
    };
    let answered = client.respond_to_proposal(made.summary.id, &accepting).await.unwrap();
    assert_eq!((&*answered.summary.status, &*answered.responses[0].response), ("confirmed", "accept"));
    let created = answered.summary.created_event_id.unwrap();
    assert_eq!(client.get_event(created, &NO_LOCAL_TIMES).await.unwrap().title, "Kick-off");
    let second = client.create_proposal(&body).await.unwrap();
    let cancelled = client.cancel_proposal(second.summary.id).await.unwrap();
    assert_eq!((&*cancelled.status, cancelled.resolved_slot.is_none()), ("cancelled", true));
    let error = client.resolve_proposal(second.summary.id).await.unwrap_err();
    assert_eq!((error.status(), error.code()), (Some(409), Some("proposal_not_pending")));
    let confirmed = ListProposals { status: Some("confirmed".to_owned()), ..ListProposals::default() };
    assert_eq!(client.list_proposals(&confirmed).await.unwrap().data[0].id, made.summary.id);
    assert_eq!(client.get_proposal(made.summary.id).await.unwrap(), answered);
}

#[apply(on_both)]
#[tokio::test]
async fn webhooks_and_keys(#[case] database: Database) {
    let (server, client) = with_org(database, "pro").await;
    let (agent, calendar) = agent_with_calendar(&client).await;
    let hook = CreateWebhook { url: "https://kalends.invalid/".to_owned(), events: vec!["*".to_owned()] };
    let hook = client.create_webhook(&hook).await.unwrap();
    assert!(hook.secret.starts_with("whsec_") && hook.active);
    let off = UpdateWebhook { active: Some(Some(false)), ..UpdateWebhook::default() };
    assert!(!client.update_webhook(hook.id, &off).await.unwrap().active);
    assert_eq!(client.list_webhooks(&WebhookPaging::default()).await.unwrap().data[0].events, ["*"]);
    assert_ne!(client.rotate_webhook_secret(hook.id).await.unwrap().secret, hook.secret);
    let query = ListDeliveries { include_payload: Some(true), ..ListDeliveries::default() };
    assert_eq!(client.list_webhook_deliveries(hook.id, &query).await.unwrap().stats.pending, 0);
    assert_eq!(client.get_webhook(hook.id).await.unwrap().deactivated_reason, None);
    client.delete_webhook(hook.id).await.unwrap();

    let key = client.create_scoped_key(&new_key(json!({ "agent_id": agent.id, "label": "laptop" }))).await.unwrap();
    let own = Client::new(server.base_url(), &key.key).unwrap();
    assert_eq!(own.get_calendar(calendar.id).await.unwrap().id, calendar.id);
    let error = own.create_agent(&ada()).await.unwrap_err();
    assert_eq!((error.status(), error.kind()), (Some(403), Some("forbidden")));
    assert_eq!(client.list_scoped_keys().await.unwrap().keys[0].label.as_deref(), Some("laptop"));
    client.delete_scoped_key(key.id).await.unwrap();
    assert_eq!(own.get_calendar(calendar.id).await.unwrap_err().status(), Some(401));

    assert_eq!(client.get_usage().await.unwrap().agents.used, 1);
    let entries = ListAudit { action: Some("agent.create".to_owned()), ..ListAudit::default() };
    assert_eq!(client.list_audit_log(&entries).await.unwrap().data[0].agent_id, Some(agent.id));
    let feedback = Feedback {
        r#type: FeedbackType::Friction,
        message: "It is all rather easy.".to_owned(),
        context: json!({ "sdk_name": "kalends-client" }).as_object().cloned(),
    };
    assert_eq!(client.send_feedback(&feedback).await.unwrap().status, "accepted");
}

/// The body of a new key with these fields.
fn new_key(fields: Value) -> CreateScopedKey {
    serde_json::from_value(fields).unwrap()
}

#[apply(on_both)]
#[tokio::test]
async fn writes_that_wait_for_approval(#[case] database: Database) {
    let (server, client) = with_org(database, "pro").await;
    let (agent, calendar) = agent_with_calendar(&client).await;
    let wanted = new_key(json!({ "agent_id": agent.id, "requires_approval": "writes" }));
    let key = client.create_scoped_key(&wanted).await.unwrap();
    let own = Client::new(server.base_url(), &key.key).unwrap();
    let mut asked = Vec::new();
    for (title, start, end) in [("One", "09:00", "10:00"), ("Two", "10:00", "11:00"), ("Three", "11:00", "12:00")] {
        let body = event(title, start, end);
        let error = own.create_event(calendar.id, &NO_LOCAL_TIMES, &body).await.map(|_| ()).unwrap_err();
        let approval = error.approval().unwrap().clone();
        assert_eq!((approval.status, error.status()), (ApprovalStatus::Pending, Some(202)));
        asked.push(approval);
    }
    let pending = ListApprovals { status: Some(ApprovalStatus::Pending), ..ListApprovals::default() };
    assert_eq!(client.list_approvals(&pending).await.unwrap().data.len(), 3);
    let approved = client.approve(asked[0].id).await.unwrap();
    assert_eq!((approved.status, approved.result.unwrap().status), (ApprovalStatus::Approved, 201));
    let reason = DenyApproval { reason: Some("No.".to_owned()) };
    let denied = client.deny_approval(asked[1].id, &reason).await.unwrap();
    assert_eq!((denied.status, denied.reason.as_deref()), (ApprovalStatus::Denied, Some("No.")));
    assert_eq!(own.cancel_approval(asked[2].id).await.unwrap().status, ApprovalStatus::Cancelled);
    let wait = WaitForApproval { wait: Some(30) };
    assert_eq!(own.get_approval(asked[0].id, &wait).await.unwrap().status, ApprovalStatus::Approved);
    assert_eq!(client.list_calendar_events(calendar.id, &ListEvents::default()).await.unwrap().data.len(), 1);
    // An operation without an answer waits too.
    let error = own.delete_calendar(calendar.id, &DeleteCalendar::default()).await.unwrap_err();
    assert_eq!(error.approval().map(|approval| &*approval.operation), Some("deleteCalendar"));
}

/// Waits until the event of a new agent has been delivered to a webhook in that many attempts.
async fn delivered(client: &Client, webhook: WebhookId, attempts: u32) -> Delivery {
    let query = ListDeliveries { status: Some(DeliveryStatus::Delivered), ..ListDeliveries::default() };
    let began = tokio::time::Instant::now();
    loop {
        let listed = client.list_webhook_deliveries(webhook, &query).await.unwrap();
        let of_agent = |delivery: &Delivery| delivery.event_type == "agent.created" && delivery.attempts == attempts;
        if let Some(delivery) = listed.data.into_iter().find(of_agent) {
            return delivery;
        }
        assert!(began.elapsed() < PATIENCE, "nothing was delivered in {attempts} attempts");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[apply(on_both)]
#[tokio::test]
async fn webhooks_are_tested_and_deliveries_retried(#[case] database: Database) {
    let receiver = Receiver::start().await;
    let server = Server::start_with(database, &[("KALENDS_EGRESS_ALLOW", receiver.address())]).await;
    let key = server.org("pro").await.key;
    let client = Client::new(server.base_url(), &key).unwrap();
    let hook = CreateWebhook { url: receiver.url("/"), events: vec!["agent.created".to_owned()] };
    let hook = client.create_webhook(&hook).await.unwrap();
    receiver.next("/", &[Behaviour::Answer(500)]);
    let failed = client.test_webhook(hook.id).await.unwrap();
    assert_eq!((failed.delivery.status, failed.delivery.response_status), (DeliveryStatus::Failed, Some(500)));
    let tested = client.test_webhook(hook.id).await.unwrap();
    assert_eq!((tested.delivery.status, &*tested.delivery.event_type), (DeliveryStatus::Delivered, "webhook.test"));
    assert_eq!(tested.error, None);

    client.create_agent(&ada()).await.unwrap();
    let first = delivered(&client, hook.id, 1).await;
    // A delivered message can be sent again too. Only this request causes the second attempt.
    let again = client.retry_webhook_delivery(hook.id, first.id).await.unwrap();
    assert_eq!((again.id, again.status), (first.id, DeliveryStatus::Pending));
    assert_eq!(delivered(&client, hook.id, 2).await.id, first.id);
    assert_eq!(receiver.received("/").len(), 4);
}

#[apply(on_both)]
#[tokio::test]
async fn booking_pages(#[case] database: Database) {
    let (server, client) = with_org(database, "pro").await;
    let (_, calendar) = agent_with_calendar(&client).await;
    let page = CreateBookingPage {
        calendar_id: calendar.id.to_string(),
        title: "Intro".to_owned(),
        duration_minutes: Some(60),
        window_days: Some(7),
        ..CreateBookingPage::default()
    };
    let page = client.create_booking_page(&page).await.unwrap();
    let guest = anonymous(&server);
    let slots = guest.list_booking_slots(&page.slug, &SlotsOfPage::default()).await.unwrap();
    assert_eq!(slots.booking_page.title, "Intro");
    // Late enough that neither slot begins while the test runs.
    let (first, second) = (slots.slots[10].start, slots.slots[12].start);
    let body = SubmitBooking {
        name: "Grace".to_owned(),
        email: "grace@example.com".to_owned(),
        answers: serde_json::Map::new(),
        timezone: None,
        language: Some("pt-BR".to_owned()),
        notes: None,
        start: first.to_string(),
    };
    let booked = guest.create_booking(&page.slug, &body).await.unwrap();
    assert_eq!((booked.event.start_time, booked.event.status), (first, EventStatus::Confirmed));
    let error = guest.create_booking(&page.slug, &body).await.unwrap_err();
    assert_eq!((error.code(), error.param()), (Some("slot_taken"), Some("start")));
    // `…/book/{slug}/bookings/{token}/{what}`
    let token = |url: &str| url.rsplit('/').nth(1).unwrap().to_owned();
    let moving = token(&booked.links.reschedule_url.unwrap());
    let moved = guest.move_booking(&page.slug, &moving, &MoveBooking { start: second.to_string() }).await.unwrap();
    assert_eq!(moved.event.map(|event| event.start_time), Some(second));
    let seen = guest.get_booking(&page.slug, &moving).await.unwrap();
    assert_eq!((&*seen.status, seen.links.is_some()), ("confirmed", true));
    let cancelled = guest.cancel_booking(&page.slug, token(&booked.links.cancel_url)).await.unwrap();
    assert_eq!(cancelled.status, "cancelled");

    let close = UpdateBookingPage { active: Some(Some(false)), ..UpdateBookingPage::default() };
    assert!(!client.update_booking_page(page.id, &close).await.unwrap().active);
    assert_eq!(client.list_booking_pages(&Paging::default()).await.unwrap().data[0].id, page.id);
    assert_eq!(client.get_booking_page(page.id).await.unwrap().duration_minutes, 60);
    client.delete_booking_page(page.id).await.unwrap();
    assert_eq!(guest.list_booking_slots(&page.slug, &SlotsOfPage::default()).await.unwrap_err().status(), Some(404));
}

#[apply(on_both)]
#[tokio::test]
async fn feeds_and_files(#[case] database: Database) {
    let (server, client) = with_org(database, "pro").await;
    let (agent, calendar) = agent_with_calendar(&client).await;
    client.create_event(calendar.id, &NO_LOCAL_TIMES, &event("A", "09:30", "10:00")).await.unwrap();
    let feed = calendar.ical_url.rsplit('/').next().unwrap();
    let anybody = anonymous(&server);
    let fetched = anybody.get_feed(feed).send().await.unwrap();
    assert!(fetched.value.starts_with("BEGIN:VCALENDAR"));
    assert_eq!(anybody.get_feed(feed).if_none_match(&fetched.etag.unwrap()).await.unwrap(), None);
    let file = client.export_calendar(calendar.id).await.unwrap();

    let (_, other) = agent_with_calendar(&client).await;
    let report = client.import_calendar(other.id, &file).await.unwrap();
    assert_eq!((report.created, report.skipped), (1, 0));
    assert_eq!(client.import_calendar(other.id, &file).await.unwrap().untouched, 1);
    let rotated = client.rotate_calendar_feed_token(calendar.id).await.unwrap();
    assert_ne!(rotated.ical_url, calendar.ical_url);
    assert_eq!(anybody.get_feed(feed).await.unwrap_err().code(), Some("feed_not_found"));

    let wanted = CreateSubscription {
        calendar_id: calendar.id.to_string(),
        url: NOWHERE.to_owned(),
        ..CreateSubscription::default()
    };
    let made = client.create_ical_subscription(agent.id, &wanted).await.unwrap();
    let label = UpdateSubscription { label: Some(Some("Work".to_owned())), ..UpdateSubscription::default() };
    assert_eq!(client.update_ical_subscription(made.id, &label).await.unwrap().label.as_deref(), Some("Work"));
    let unlabelled = UpdateSubscription { label: Some(None), ..UpdateSubscription::default() };
    assert_eq!(client.update_ical_subscription(made.id, &unlabelled).await.unwrap().label, None);
    let syncing = client.sync_ical_subscription(made.id).send().await.unwrap();
    assert_eq!((syncing.status, &*syncing.value.status), (202, "syncing"));
    assert_eq!(client.list_ical_subscriptions(agent.id, &ListSubscriptions::default()).await.unwrap().total, 1);
    assert_eq!(client.get_ical_subscription(made.id).await.unwrap().url, NOWHERE);
    client.delete_ical_subscription(made.id, &DeleteSubscription::default()).await.unwrap();
}

#[apply(on_both)]
#[tokio::test]
async fn connection_links(#[case] database: Database) {
    let (_server, client) = with_org(database, "pro").await;
    let (_, calendar) = agent_with_calendar(&client).await;
    let new_link = CreateConnectionLink::default();
    let made = client.create_connection_link(calendar.id, &new_link).await.unwrap();
    assert!(made.setup_url.is_some() && !made.reused);
    assert!(client.create_connection_link(calendar.id, &new_link).await.unwrap().reused);
    assert_eq!(client.get_connection_link(made.link.id).await.unwrap(), made.link);
    client.cancel_connection_link(made.link.id).await.unwrap();
    assert_eq!(client.get_connection_link(made.link.id).await.unwrap().status, "cancelled");
}

#[apply(on_both)]
#[tokio::test]
async fn operations_without_a_key(#[case] database: Database) {
    let server = Server::start(database).await;
    let client = anonymous(&server);
    assert_eq!(
        (client.get_health().await.unwrap().status, client.get_ready().await.unwrap().status),
        ("ok".into(), "ok".into())
    );
    let plans = client.list_plans().send().await.unwrap();
    assert_eq!(plans.value.plans[0].id, "free");
    assert!(client.list_plans().if_none_match(&plans.etag.unwrap()).await.unwrap().is_none());
    let terms = client.get_current_terms().await.unwrap();
    let body =
        SignUp { email: "ada@example.com".to_owned(), agent_name: "Scout".to_owned(), tos_version: terms.version };
    let SignUpAnswer::New(signed_up) = client.agent_sign_up(&body).await.unwrap() else { panic!("not new") };
    let own = Client::new(server.base_url(), &signed_up.api_key).unwrap();
    let code = server.wait_for_mails(1).await[0].code().to_owned();
    assert!(own.agent_verify(&Verify { otp: code }).await.unwrap().verified);
    assert!(matches!(client.agent_sign_up(&body).await.unwrap(), SignUpAnswer::Known(_)));
    assert_eq!(own.get_agent(signed_up.agent_id).await.unwrap().name(), "Scout");
    let error = client.create_agent(&ada()).await.unwrap_err();
    assert_eq!((error.status(), error.kind()), (Some(401), Some("unauthorized")));
    let unknown: CalendarId = "cal_01jn8r6v9ke0bt3m5qz2c7xwdh".parse().unwrap();
    assert_eq!(own.get_calendar(unknown).await.unwrap_err().code(), Some("calendar_not_found"));

    let place =
        JoinWaitlist { email: "grace@example.com".to_owned(), name: None, tos_version: Some(body.tos_version.clone()) };
    let joined = client.join_waitlist(&place).send().await.unwrap();
    assert_eq!((joined.status, &*joined.value.data.name, joined.value.data.is_waitlisted), (201, "grace", true));
    let again = client.join_waitlist(&place).send().await.unwrap();
    assert_eq!((again.status, again.value.data.id), (200, joined.value.data.id));
}

#[apply(on_both)]
#[tokio::test]
async fn terms_are_accepted(#[case] database: Database) {
    let (_server, client) = with_org(database, "pro").await;
    let tos_version = client.get_current_terms().await.unwrap().version;
    // An organization that an operator created has not accepted any terms.
    assert_eq!(client.get_usage().send().await.unwrap().terms_to_accept.as_ref(), Some(&tos_version));
    let body = AcceptTerms { tos_version };
    let accepted = client.accept_terms(&body).await.unwrap();
    assert_eq!(accepted.data.accepted_terms_version, body.tos_version);
    assert_eq!(client.get_usage().send().await.unwrap().terms_to_accept, None);
    let old = AcceptTerms { tos_version: "2020-01-01".to_owned() };
    let error = client.accept_terms(&old).await.unwrap_err();
    assert_eq!(
        (error.status(), error.kind(), error.param()),
        (Some(409), Some("tos_version_stale"), Some("tos_version"))
    );
}

/// The client's table of operations matches the service's description.
#[tokio::test]
async fn the_description_has_every_operation_of_the_client() {
    let server = Server::start(Sqlite).await;
    let described: Value = anonymous(&server).get_open_api().await.unwrap();
    for operation in OPERATIONS {
        let described_operation = &described["paths"][operation.path][operation.method.to_lowercase()];
        assert_eq!(described_operation["operationId"], operation.id);
    }
}
