//! Resources for tests to start with, and change-sets built in one expression.
//!
//! What a [`Fixtures`] makes is complete and plain. A test changes the public fields that it is about:
//!
//! ```
//! use kalends_app::ChangeSet;
//! use kalends_calendars::{Event, EventStatus};
//! use kalends_testkit::fixtures::{Compose, Fixtures, span};
//!
//! let make = Fixtures::new();
//! let organization = make.organization();
//! let calendar = make.shared_calendar(organization.id);
//! let nine_to_ten = span("2026-03-02T09:00:00Z", "2026-03-02T10:00:00Z");
//! let maybe = Event { status: EventStatus::Tentative, ..make.event(&calendar, nine_to_ten) };
//! let changes = ChangeSet::new(organization.id).create(&calendar).create(&maybe);
//! assert_eq!(changes.calendars.len(), 2);
//! ```

mod compose;

use std::net::{IpAddr, Ipv6Addr};

use kalends_accounts::{
    Acceptance, Action, AuditEntry, Code, Email, KeyKind, KeyLabel, NewKey, NewScopedKey, OrgName, Organization,
    PasswordHash, PublicMailDomains, ScopedKey, Scopes, Session, SignUpSource, SignUps, Terms, User, UserName,
    VerificationCode, Waitlist,
};
use kalends_app::{Answer, Charge, Deployment, Settings, StoredAnswer};
use kalends_approvals::{APPROVAL_LASTS, Approval, State, WaitingRequest};
use kalends_availability::Rules;
use kalends_calendars::{
    Agent, AgentActivity, AgentType, Attendees, AvailabilityRules, Calendar, Conflicts, Event, EventSource,
    EventStatus, FeedToken, Hold, HoldScope, Moment, NewAgent, NewCalendar, NewEvent, NewRecurrence, RecurrenceDefault,
    Reminders, Repeats, Times,
};
use kalends_kernel::{
    AgentId, ApprovalId, AuditId, CalendarId, EventId, LetterId, MessageId, Metadata, OrgId, RequestId, RulesId,
    UserId, Version, base64url, random_bytes,
};
use kalends_notifications::{About, Envelope, EventType, Letter, Message, NewEndpoint, Subscription, WebhookEndpoint};
use kalends_plans::{IpLimits, MailLimits, Metric, Plan, TrustedProxies};
use kalends_proposals::{NewProposal, NewSlot, Proposal};
use kalends_quotas::Period;
use kalends_remote::RemoteUrl;
use kalends_time::{Clock, SignedDuration, Span, Timestamp, Zone};

pub use self::compose::{Compose, Create, Delete, Update};
use crate::{ManualClock, SeededEntropy};

/// The timestamp of an RFC 3339 text.
///
/// # Panics
/// If the text is not an RFC 3339 time.
#[expect(clippy::expect_used, reason = "a test with a malformed time cannot continue")]
pub fn at(text: &str) -> Timestamp {
    text.parse().expect("an RFC 3339 time")
}

/// The span between two RFC 3339 texts.
///
/// # Panics
/// If a text is not an RFC 3339 time, or the end is not after the start.
#[expect(clippy::expect_used, reason = "a test with a malformed span cannot continue")]
pub fn span(start: &str, end: &str) -> Span {
    Span::new(at(start), at(end)).expect("the end is after the start")
}

/// Metadata from a JSON object.
///
/// # Panics
/// If the value is not an object, or exceeds the bounds.
#[expect(clippy::expect_used, reason = "a test with malformed metadata cannot continue")]
pub fn metadata(value: serde_json::Value) -> Metadata {
    Metadata::parse("metadata", value).expect("an object within the bounds")
}

/// Availability rules from their JSON document.
///
/// # Panics
/// If the document is not valid rules.
#[expect(clippy::expect_used, reason = "a test with malformed rules cannot continue")]
pub fn rules(document: &str) -> Rules {
    kalends_calendars::read_rules(document).expect("valid rules")
}

/// Settings of a service on this machine: no new terms to accept, no rates for IP addresses, no token for the operator.
#[expect(clippy::expect_used, reason = "the date is constant and valid")]
pub fn settings() -> Settings {
    Settings {
        base_url: "http://localhost".into(),
        console_url: "http://localhost/console".into(),
        terms: Terms {
            version: "2026-01-01".into(),
            effective_at: "2026-01-01".parse().expect("a date"),
            url: "http://localhost/terms".into(),
            material: false,
        },
        terms_text: None,
        cors_origins: Vec::new(),
        admin_token: None,
        sign_up_plan: Plan::Free,
        sign_ups: SignUps::Open,
        email_proof: false,
        upgrade_url: None,
        ip_limits: IpLimits::OFF,
        mail_limits: MailLimits::default(),
        recurrence_default: RecurrenceDefault::default(),
        public_mail_domains: PublicMailDomains::default(),
        trusted_proxies: TrustedProxies::default(),
        deployment: Deployment::default(),
    }
}

/// Makes resources. Each has an identifier of its own and is created later than the previous one.
#[derive(Debug, Clone)]
pub struct Fixtures {
    /// The clock for the timestamps of what is made.
    pub clock: ManualClock,
    /// The source of identifiers and tokens.
    pub entropy: SeededEntropy,
}

impl Default for Fixtures {
    fn default() -> Self {
        Self::new()
    }
}

impl Fixtures {
    /// The start time of the fixtures: 2026-03-02T08:00:00Z, a Monday.
    pub const BEGINNING: Timestamp = Timestamp::from_micros(1_772_438_400_000_000);

    /// Fixtures that start at [`Self::BEGINNING`] and are the same in every run.
    pub fn new() -> Self {
        Self { clock: ManualClock::new(Self::BEGINNING), entropy: SeededEntropy::default() }
    }

    /// Advances the clock by a second and a microsecond, and returns the new time. This makes the order of creation
    /// visible in `created_at`, and exposes a store that drops microseconds.
    pub fn tick(&self) -> Timestamp {
        self.clock.advance(SignedDuration::micros(1_000_001))
    }

    /// An active organization on the plan `custom`, without an address.
    pub fn organization(&self) -> Organization {
        let now = self.tick();
        Organization {
            id: OrgId::new(now, &self.entropy),
            name: OrgName::from_stored("Acme".into()),
            plan: Plan::Custom,
            limit_overrides: None,
            test: false,
            email: None,
            verified_at: None,
            waitlist: Waitlist::Active,
            source: SignUpSource::Operator,
            accepted: None,
            reply_to: kalends_accounts::ReplyTo::default(),
            version: Version::FIRST,
            created_at: now,
        }
    }

    /// A unique address.
    pub fn email(&self) -> Email {
        let local = u64::from_le_bytes(random_bytes(&self.entropy));
        Email::from_stored(format!("ada-{local:x}@example.com"))
    }

    /// The acceptance of some terms.
    pub fn acceptance(&self) -> Acceptance {
        Acceptance { version: "2026-01-01".into(), at: self.tick() }
    }

    /// A user with a password, who owns nothing.
    pub fn user(&self) -> User {
        let now = self.tick();
        let (id, password) = (UserId::new(now, &self.entropy), PasswordHash::new("$argon2id$".into()));
        User::create(id, self.email(), UserName::from_stored("Ada".into()), Some(password), now)
    }

    /// A session of a user that begins now.
    pub fn session(&self, user: UserId, org: Option<OrgId>) -> Session {
        Session::begin(user, org, self.tick(), &self.entropy)
    }

    /// A key of an organization.
    pub fn key(&self, org: OrgId) -> NewKey {
        NewKey::generate(org, KeyKind::Org, self.tick(), &self.entropy)
    }

    /// A key of an agent.
    pub fn scoped_key(&self, agent: &Agent) -> NewScopedKey {
        let label = KeyLabel::from_stored("laptop".to_owned());
        let (scopes, by) = (Scopes::NONE, "svc_sk_0123456789abc");
        NewScopedKey::generate(agent.org, agent.id, Some(label), scopes, by, self.tick(), &self.entropy)
    }

    /// The first code of an organization.
    pub fn code(&self, org: OrgId) -> VerificationCode {
        VerificationCode::issue(org, &Code::generate(&self.entropy), None, self.tick())
    }

    /// An active agent.
    pub fn agent(&self, org: OrgId) -> Agent {
        let now = self.tick();
        let new = NewAgent {
            name: "Scheduler".into(),
            kind: AgentType::Ai,
            description: None,
            metadata: Metadata::default(),
        };
        Agent::create(AgentId::new(now, &self.entropy), org, new, now)
    }

    /// A calendar of an agent, in UTC.
    pub fn calendar(&self, agent: &Agent) -> Calendar {
        self.calendar_of(agent.org, Some(agent.id))
    }

    /// A calendar that an organization shares, in UTC.
    pub fn shared_calendar(&self, org: OrgId) -> Calendar {
        self.calendar_of(org, None)
    }

    fn calendar_of(&self, org: OrgId, agent: Option<AgentId>) -> Calendar {
        let now = self.tick();
        let new = NewCalendar {
            name: "Work".into(),
            zone: Zone::UTC,
            activity: AgentActivity::Idle,
            default_reminders: None,
            conflicts: Conflicts::Allow,
            recurrence_default: None,
            metadata: Metadata::default(),
        };
        let feed_token = FeedToken::generate(&self.entropy);
        Calendar::create(CalendarId::new(now, &self.entropy), org, agent, new, feed_token, now)
    }

    /// A confirmed event.
    pub fn event(&self, calendar: &Calendar, span: Span) -> Event {
        let now = self.tick();
        Event {
            id: EventId::new(now, &self.entropy),
            org: calendar.org,
            calendar: calendar.id,
            title: "Standup".into(),
            description: None,
            location: None,
            conference_url: None,
            attendees: Attendees::default(),
            times: Times { span, all_day: false },
            status: EventStatus::Confirmed,
            source: EventSource::Internal,
            metadata: Metadata::default(),
            reminders: None,
            repeats: Repeats::Once,
            hold: None,
            guest_reminders: Reminders::default(),
            seat_changes: 0,
            previous_series: None,
            hold_set: None,
            transparent: false,
            version: Version::FIRST,
            created_at: now,
            updated_at: now,
            deleted_at: None,
        }
    }

    /// A confirmed series in UTC whose first occurrence takes place in `first`.
    ///
    /// # Panics
    /// If the rule is invalid, or no series can be created with it.
    #[expect(clippy::expect_used, reason = "a test with a malformed rule cannot continue")]
    pub fn series(&self, calendar: &Calendar, first: Span, rule: &str) -> Event {
        let now = self.tick();
        let new = NewEvent {
            title: "Standup".into(),
            description: None,
            location: None,
            conference_url: None,
            attendees: Attendees::default(),
            start: Moment::At(first.start()),
            end: Moment::At(first.end()),
            all_day: false,
            status: EventStatus::Confirmed,
            metadata: Metadata::default(),
            reminders: None,
            recurrence: Some(NewRecurrence { rule: rule.parse().expect("a rule"), exdates: Vec::new(), zone: None }),
            hold: None,
            if_free: false,
            if_as_of: None,
            send_invitations: false,
        };
        Event::create(EventId::new(now, &self.entropy), calendar, new, now).expect("a series")
    }

    /// A hold of priority 0 for its own calendar, which expires `lasts` after the current time of the fixtures.
    pub fn hold(&self, calendar: &Calendar, span: Span, lasts: SignedDuration) -> Event {
        let hold = Hold { expires_at: self.tick() + lasts, priority: 0, scope: HoldScope::Calendar };
        Event { status: EventStatus::Hold, hold: Some(hold), ..self.event(calendar, span) }
    }

    /// Rules of a calendar that restrict nothing.
    pub fn rules(&self, calendar: &Calendar) -> AvailabilityRules {
        let now = self.tick();
        AvailabilityRules {
            id: RulesId::new(now, &self.entropy),
            org: calendar.org,
            calendar: calendar.id,
            rules: Rules::default(),
            version: Version::FIRST,
            created_at: now,
            updated_at: now,
        }
    }

    /// A pending proposal of `organizer`, who is also the only participant. Its only slot is on the calendar, one day
    /// after [`Self::BEGINNING`], and lasts an hour.
    #[expect(clippy::expect_used, reason = "an hour of the next day is always a valid slot")]
    pub fn proposal(&self, calendar: &Calendar, organizer: AgentId) -> Proposal {
        let now = self.tick();
        let start = Self::BEGINNING + SignedDuration::days(1);
        let slot = NewSlot::new(Span::new(start, start + SignedDuration::hours(1)).expect("an hour"));
        let new = NewProposal::new("Kick-off", organizer, vec![organizer], calendar.id, vec![slot]);
        Proposal::create(calendar.org, new, now, &self.entropy).expect("a proposal")
    }

    /// A pending approval: the key asks to create an event.
    pub fn approval(&self, key: &ScopedKey) -> Approval {
        let now = self.tick();
        Approval {
            id: ApprovalId::new(now, &self.entropy),
            org: key.org,
            key: key.id,
            key_prefix: key.prefix.clone(),
            agent: key.agent,
            operation: "createEvent".into(),
            summary: "Create the event \u{201c}Standup\u{201d}.".into(),
            request: WaitingRequest {
                target: "/v1/calendars/cal_00000000000000000000000001/events".into(),
                content_type: Some("application/json".into()),
                if_match: None,
                language: None,
                run: None,
                body: r#"{"title":"Standup"}"#.into(),
            },
            seen: Vec::new(),
            reserved: Vec::new(),
            mailed: Vec::new(),
            state: State::Pending,
            version: Version::FIRST,
            created_at: now,
            expires_at: now + APPROVAL_LASTS,
        }
    }

    /// A webhook endpoint that listens for everything.
    #[expect(clippy::expect_used, reason = "the URL is constant and valid")]
    pub fn webhook(&self, org: OrgId) -> WebhookEndpoint {
        let now = self.tick();
        let url = RemoteUrl::from_stored(&format!(
            "https://hooks.example.com/{}",
            base64url(&random_bytes::<8>(&self.entropy))
        ));
        let new = NewEndpoint { url: url.expect("a URL"), subscription: Subscription::ALL };
        WebhookEndpoint::create(org, new, now, &self.entropy)
    }

    /// A message of an organization.
    pub fn message(&self, org: OrgId) -> Message {
        let now = self.tick();
        Message {
            id: MessageId::new(now, &self.entropy),
            org,
            event_type: EventType::EventCreated,
            payload: r#"{"title":"Standup"}"#.into(),
            resource_version: Version::FIRST,
            about: None,
            created_at: now,
        }
    }

    /// A letter on behalf of an organization.
    pub fn letter(&self, org: OrgId) -> Letter {
        let now = self.tick();
        Letter {
            id: LetterId::new(now, &self.entropy),
            org,
            recipient: [1; 32],
            about: About::event(EventId::from_bytes([1; 16])),
            content: "to ada: \u{1f4ee}".into(),
            envelope: Some(Envelope {
                to: "ada@example.com".into(),
                subject: "Standup: \u{1f4ee}".into(),
                reply: None,
            }),
            created_at: now,
        }
    }

    /// An audit entry of an organization, with every field set.
    pub fn audit_entry(&self, org: OrgId) -> AuditEntry {
        let now = self.tick();
        AuditEntry {
            id: AuditId::new(now, &self.entropy),
            org,
            action: Action::EventCreate,
            actor_key_prefix: Some("svc_sk_0123456789abc".into()),
            agent: Some(AgentId::new(now, &self.entropy)),
            resource: EventId::new(now, &self.entropy).to_string(),
            ip: Some(IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1))),
            status: 201,
            method: "POST".into(),
            path: "/v1/calendars/{id}/events".into(),
            duration: SignedDuration::micros(1_234),
            request: RequestId::new(now, &self.entropy),
            created_at: now,
        }
    }

    /// An answer with a body and a version, kept for 24 hours under a scope of its own.
    pub fn answer(&self) -> StoredAnswer {
        let now = self.tick();
        StoredAnswer {
            scope: random_bytes(&self.entropy),
            fingerprint: random_bytes(&self.entropy),
            answer: Answer { status: 201, body: Some(r#"{"id":1}"#.into()), version: Some(Version::FIRST) },
            created_at: now,
            expires_at: now + SignedDuration::hours(24),
        }
    }

    /// The current month.
    pub fn period(&self) -> Period {
        Period::of(self.clock.now())
    }

    /// The creation of one event in the current month, charged against `limit`.
    pub fn charge(&self, limit: Option<u64>) -> Charge {
        Charge { metric: Metric::Events, period: self.period(), amount: 1, limit }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_fixtures_have_later_times() {
        let make = Fixtures::new();
        assert_eq!(Fixtures::BEGINNING, at("2026-03-02T08:00:00Z"));
        let (first, second) = (make.organization(), make.organization());
        assert!(first.created_at < second.created_at && first.id < second.id);
        assert_ne!(make.email(), make.email());
    }
}
