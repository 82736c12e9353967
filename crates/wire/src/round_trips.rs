//! Every answer can be read back as it was written, and every request can be written as it was read.

use rstest::rstest;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use utoipa::PartialSchema;

use crate::*;

/// The example of a type in the OpenAPI description.
fn example<T: PartialSchema>() -> Value {
    let schema = serde_json::to_value(T::schema()).unwrap();
    let example = schema["example"].clone();
    assert!(!example.is_null(), "no example in {schema:#}");
    example
}

fn returns<T: Serialize + DeserializeOwned>(json: &Value) {
    // As text, as it is sent.
    let read: T = serde_json::from_str(&json.to_string()).unwrap_or_else(|error| panic!("{error}: {json:#}"));
    assert_eq!(&serde_json::to_value(&read).unwrap(), json);
    // A newer service may send more fields.
    if let Value::Object(fields) = json {
        let mut more = fields.clone();
        more.insert("of_a_later_version".to_owned(), json!([1]));
        let read: T = serde_json::from_str(&Value::Object(more).to_string()).unwrap();
        assert_eq!(&serde_json::to_value(&read).unwrap(), json);
    }
}

/// Checks that a request is written with everything in its example. Flags that the example leaves out may be added.
fn is_sent<T: PartialSchema + Serialize + DeserializeOwned>() {
    let example = example::<T>();
    let sent = serde_json::to_value(serde_json::from_value::<T>(example.clone()).unwrap()).unwrap();
    contains(&sent, &example);
}

fn contains(sent: &Value, returned: &Value) {
    match (sent, returned) {
        (Value::Object(sent), Value::Object(returned)) => {
            for (name, value) in sent {
                match returned.get(name) {
                    Some(returned) => contains(value, returned),
                    None => assert_eq!(value, &Value::Bool(false), "{name} is not in the example"),
                }
            }
            assert!(returned.keys().all(|name| sent.contains_key(name)), "{sent:?} lacks some of {returned:?}");
        }
        (Value::Array(sent), Value::Array(returned)) => {
            assert_eq!(sent.len(), returned.len());
            sent.iter().zip(returned).for_each(|(sent, returned)| contains(sent, returned));
        }
        (sent, returned) => assert_eq!(sent, returned),
    }
}

macro_rules! each {
    ($($type:ty),* $(,)?) => {
        [$((stringify!($type), (|| {
            let json = example::<$type>();
            returns::<$type>(&json);
        }) as fn()),)*]
    };
}

#[test]
fn examples_of_answers_round_trip() {
    let answers = each![
        Terms,
        Accepted,
        Agent,
        AgentAvailability,
        Approval,
        AuditLog,
        AvailabilityRules,
        BookingPage,
        Calendar,
        CalendarAvailability,
        Changes,
        ConnectionLink,
        ConnectionNeedsAttention,
        Deleted,
        Delivery,
        ErrorEnvelope,
        Event,
        Explanation,
        FoundEvents,
        GuestEvent,
        Health,
        JoinedWaitlist,
        Local,
        MailList,
        AnsweredReplyLink,
        ReplyTo,
        NewConnectionLink,
        OpenPage,
        OrganizationChanges,
        Proposal,
        ProposalSummary,
        Resolution,
        Run,
        SignedUp,
        Subscription,
        TermsAccepted,
        UndoneRun,
        Webhook,
    ];
    for (name, check) in answers {
        eprintln!("{name}");
        check();
    }
}

#[test]
fn examples_of_requests_round_trip() {
    is_sent::<AcceptTerms>();
    is_sent::<ConfirmHold>();
    is_sent::<CreateAgent>();
    is_sent::<CreateCalendar>();
    is_sent::<CreateConnectionLink>();
    is_sent::<CreateEvent>();
    is_sent::<CreateHoldSet>();
    is_sent::<CreateBookingPage>();
    is_sent::<CreateProposal>();
    is_sent::<CreateSubscription>();
    is_sent::<CreateWebhook>();
    is_sent::<Feedback>();
    is_sent::<JoinWaitlist>();
    is_sent::<PutAvailabilityRules>();
    is_sent::<PutReplyTo>();
    is_sent::<AnswerReplyLink>();
    is_sent::<RespondToProposal>();
    is_sent::<SignUp>();
    is_sent::<SubmitBooking>();
    is_sent::<UpdateAgent>();
    is_sent::<UpdateWebhook>();
    is_sent::<Verify>();
}

const ID: &str = "01jn8r6v9ke0bt3m5qz2c7xwdh";
const AT: &str = "2026-03-02T08:00:00Z";

fn id(prefix: &str) -> Value {
    format!("{prefix}_{ID}").into()
}

/// Answers that the description composes from others, and fields that are only sometimes present.
#[test]
fn composed_answers_round_trip() {
    let slot = json!({ "start": AT, "end": "2026-03-02T08:30:00Z" });
    returns::<List<Agent>>(&json!({ "data": [example::<Agent>()], "total": 3, "limit": 1, "offset": 0 }));
    returns::<EventBatch>(&json!({ "data": [example::<Event>()] }));
    returns::<HoldSet>(&json!({ "id": id("hst"), "holds": [example::<Event>()] }));
    let mut ended = example::<Event>();
    let mut instance = example::<Event>();
    ended["reason"] = "preempted".into();
    returns::<EndedHold>(&ended);
    instance["transparent"] = true.into();
    instance["holdSetId"] = id("hst");
    instance["recurringEventId"] = id("evt");
    instance["originalStartTime"] = AT.into();
    instance["local"] = example::<Local>();
    returns::<Event>(&instance);
    let mut decided = example::<Approval>();
    returns::<AwaitsApproval>(&json!({ "approval": decided }));
    decided["status"] = "failed".into();
    decided["decided_at"] = AT.into();
    decided["decided_by"] = "usr_0123".into();
    decided["reason"] = "no".into();
    decided["result"] = json!({ "status": 204, "body": null });
    returns::<Approval>(&decided);
    returns::<CalendarContext>(&json!({
        "calendar_id": id("cal"), "now": AT, "agent_status": "idle", "current_event": null,
        "next_event": instance, "recent_events": [], "upcoming": [instance]
    }));
    returns::<ErrorEnvelope>(&json!({ "error": {
        "type": "conflict", "message": "taken", "request_id": id("req"), "code": "slot_taken",
        "conflicts": [{ "calendar_id": id("cal"), "kind": "hold", "start": AT, "end": "2026-03-02T09:00:00Z" }],
        "nearest_free": [slot]
    } }));
    returns::<BookingSlots>(&json!({ "booking_page": example::<OpenPage>(), "slots": [slot] }));
    returns::<BookingSlots>(&json!({ "booking_page": example::<OpenPage>(), "slots": [], "next_from": AT }));
    let notice = json!({ "code": "booking_closed", "message": "closed" });
    returns::<BookingSlots>(&json!({ "booking_page": example::<OpenPage>(), "slots": [], "notices": [notice] }));
    let links = json!({ "cancel_url": "https://example.com/c", "ics_url": "https://example.com/i", "reschedule_url": "https://example.com/m" });
    let mut booked = json!({ "booking_page_id": id("bkp"), "event": example::<GuestEvent>() });
    let mut booking = json!({
        "booking_page_id": id("bkp"), "booking_page": example::<OpenPage>(), "status": "confirmed",
        "event": example::<GuestEvent>(), "name": "Ada", "email": "ada@example.com", "notes": null
    });
    returns::<GuestBooking>(&booking);
    for (name, url) in links.as_object().unwrap() {
        booked[name] = url.clone();
        booking[name] = url.clone();
    }
    returns::<Booked>(&booked);
    returns::<GuestBooking>(&booking);
    let plan = json!({
        "id": "custom", "name": "Custom", "tagline": "More", "price": null, "currency": null, "limits": null,
        "display_features": ["All"], "recommended": false, "custom_pricing": true, "contact_url": "https://example.com"
    });
    let mut bounded = plan.clone();
    bounded["limits"] = json!({ "agents": 3, "events": null });
    let mut without_contact = plan.clone();
    without_contact["contact_url"] = Value::Null;
    returns::<Plans>(&json!({ "plans": [bounded, plan, without_contact] }));
}

#[test]
fn answers_about_keys_and_webhooks_round_trip() {
    let key = json!({
        "id": id("key"), "key_prefix": "svc_ak_0123", "agent_id": id("agt"), "label": null,
        "scopes": ["freebusy:org", "directory:org", "holds:org"], "created_at": AT
    });
    let mut unused = key.clone();
    unused["created_by"] = Value::Null;
    unused["last_used_on"] = Value::Null;
    let mut used = key.clone();
    used["created_by"] = "usr_0123".into();
    used["last_used_on"] = "2026-03-02".into();
    used["requires_approval"] = json!(["createEvent"]);
    used["approval_expires_in_minutes"] = 60.into();
    returns::<ScopedKeys>(&json!({ "keys": [unused, used] }));
    let mut fresh = key;
    fresh["key"] = "svc_ak_0123".into();
    fresh["requires_approval"] = "writes".into();
    fresh["approval_expires_in_minutes"] = 1_440.into();
    returns::<NewScopedKey>(&fresh);
    let mut hook = example::<Webhook>();
    hook["secret"] = "whsec_x".into();
    returns::<NewWebhook>(&hook);
    let mut off = example::<Webhook>();
    off["reason"] = "gone".into();
    returns::<WebhookDeactivated>(&off);
    returns::<WebhookSecret>(&json!({ "id": id("whk"), "secret": "whsec_x", "previous_secret_expires_at": AT }));
    let mut with_payload = example::<Delivery>();
    with_payload["payload"] = json!({ "a": 1 });
    let mut without = example::<Delivery>();
    without["payload"] = Value::Null;
    let stats = json!({ "pending": 1, "delivered": 2, "failed": 0, "skipped": 0 });
    let data = json!([example::<Delivery>(), with_payload, without]);
    returns::<DeliveryList>(&json!({ "data": data, "total": 3, "limit": 20, "offset": 0, "stats": stats }));
    returns::<TestedDelivery>(&json!({ "delivery": with_payload, "duration_ms": 7, "error": null }));
    returns::<SignUpAnswer>(&json!({ "message": "known" }));
    returns::<Verified>(&json!({ "verified": true, "message": "done" }));
    returns::<Syncing>(&json!({ "status": "syncing" }));
    let used = json!({ "used": 1, "limit": null });
    let mut usage = json!({ "plan": "free", "period_start": AT, "period_end": "2026-04-01T00:00:00Z" });
    for metric in [
        "agents",
        "calendars",
        "events",
        "webhook_deliveries",
        "availability_queries",
        "ical_subscriptions",
        "proposals",
        "webhook_endpoints",
        "scoped_keys",
        "recurring_events",
        "booking_pages",
        "imported_events",
    ] {
        usage[metric] = used.clone();
    }
    usage["api_calls"] = json!({ "used": 1, "limit": 2, "remaining": 1 });
    returns::<Usage>(&usage);
}

#[test]
fn an_unknown_value_is_an_error() {
    let mut agent = example::<Agent>();
    agent["status"] = "asleep".into();
    let error = serde_json::from_value::<Agent>(agent).unwrap_err().to_string();
    assert!(error.contains("asleep") && error.contains("paused"), "{error}");
}

#[rstest]
#[case::nothing(UpdateEvent::default(), json!({}))]
#[case::cleared(UpdateEvent { description: Some(None), ..UpdateEvent::default() }, json!({ "description": null }))]
#[case::given(
    UpdateEvent { title: Some(Some("x".to_owned())), reminders: Some(Some(vec![5])), ..UpdateEvent::default() },
    json!({ "title": "x", "reminders": [5] })
)]
fn a_patch_distinguishes_null_from_absent(#[case] patch: UpdateEvent, #[case] json: Value) {
    assert_eq!(serde_json::to_value(&patch).unwrap(), json);
    returns_strict(&json);
}

fn returns_strict(json: &Value) {
    let read: UpdateEvent = serde_json::from_value(json.clone()).unwrap();
    assert_eq!(&serde_json::to_value(&read).unwrap(), json);
}

#[rstest]
#[case(0, 2, 3, Some(2))]
#[case(2, 1, 3, None)]
#[case(0, 0, 0, None)]
#[case::past_the_end(9, 0, 3, None)]
fn pages_follow_each_other(#[case] offset: u32, #[case] count: usize, #[case] total: u64, #[case] next: Option<i64>) {
    let list = List { data: vec![(); count], total, limit: 2, offset, has_more: None };
    assert_eq!(list.next_offset(), next);
}
