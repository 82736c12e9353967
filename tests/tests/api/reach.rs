//! Access: every operation of the description, by every kind of caller, on the caller's own things, a sibling's,
//! shared, foreign and missing ones.
//!
//! The operations come from the service's own description. The expected access of each is repeated here, so that a new
//! route cannot be added without an entry.

use crate::on_both;
use std::collections::BTreeSet;

use kalends_e2e::{Answer, Client, Database, Server, shifted};
use reqwest::Method;
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Value, json};

use crate::{
    console::{Human, PASSWORD, owner, signing_up},
    fixtures::{agent, calendar_of, event, now, shared_calendar, wait_until},
    members::member,
    subscriber::{NOWHERE, meetings, vcalendar},
};

/// The user whose console session is used.
const HUMAN: &str = "ada@example.com";

/// The address of the organization whose members have roles.
const ORG: &str = "org@example.com";

/// A well-formed identifier that belongs to nothing.
const NOBODY: &str = "00000000000000000000000000";

/// The kind of thing that an operation concerns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum About {
    /// Public things. No credential is needed.
    Public,
    /// The organization. Agents' keys are refused.
    Organization,
    /// Operations of the operator, whatever they concern.
    Operator,
    /// Operations of a user in the console.
    Console,
    /// The organization and one of its agents. Agents' keys are refused.
    OrganizationsAgent,
    /// The organization and one of its keys. Agents' keys are refused.
    OrganizationsKey,
    /// The organization and one of its webhooks. Agents' keys are refused.
    OrganizationsWebhook,
    /// A list that is limited to the key's agent, or something that any key may read.
    Common,
    /// An agent.
    Agent,
    /// A calendar.
    Calendar,
    /// An event on a calendar.
    Event,
    /// A hold.
    Hold,
    /// A hold set.
    HoldSet,
    /// A calendar with rules.
    Rules,
    /// A subscription of an agent's calendar.
    Subscription,
    /// A proposal that an agent organizes and takes part in.
    Proposal,
    /// A booking page of a calendar.
    BookingPage,
    /// A booking on a page of a calendar.
    Booking,
    /// A link that asks a user for a calendar.
    Link,
    /// A run of an agent.
    Run,
    /// A write of an agent that waits for approval.
    Approval,
    /// A decision on such a write. Agents' keys are refused.
    Decision,
    /// The tools. Every key is accepted, and each call is checked as the operation that it stands for.
    Tools,
}

/// The kind of thing that each operation concerns. Panics for an operation without an entry.
fn ruled(operation: &str) -> About {
    match operation {
        "getHealth"
        | "getReady"
        | "getOpenApi"
        | "listPlans"
        | "getCurrentTerms"
        | "agentSignUp"
        | "joinWaitlist"
        | "signUp"
        | "signIn"
        | "forgotPassword"
        | "resetPassword"
        | "verifyEmail"
        | "revokeClaim"
        | "startSignInWith"
        | "endSignInWith"
        | "getFeed"
        | "showBookingPage"
        | "getBookingAsset"
        | "showCancellation"
        | "showMove"
        | "getBookingFile"
        | "showReplyLink"
        | "answerReplyLink"
        | "showBookingEmails"
        | "answerBookingEmails"
        | "showInvitation"
        | "replyToInvitation"
        | "listBookingSlots"
        | "createBooking"
        | "getBooking"
        | "cancelBooking"
        | "moveBooking"
        | "endCalendarConnection" => About::Public,
        "signOut"
        | "resendVerification"
        | "startSecondFactor"
        | "confirmSecondFactor"
        | "renewRecoveryCodes"
        | "removeSecondFactor"
        | "getMe"
        | "updateMe"
        | "changePassword"
        | "listOwnOrgs"
        | "listMembers"
        | "inviteMember"
        | "updateMember"
        | "deleteMember"
        | "acceptInvitation"
        | "switchOrg"
        | "initiateClaim"
        | "verifyClaim"
        | "listClaims"
        | "updateOrg"
        | "acceptTermsInConsole"
        | "exportAccount"
        | "deleteAccount"
        | "regenerateKey"
        | "createScopedKeyFromConsole"
        | "openConnectionLink"
        | "declineConnectionLink"
        | "startCalendarConnection"
        | "listCalendarConnections"
        | "getCalendarConnection"
        | "updateCalendarConnection"
        | "deleteCalendarConnection"
        | "refreshCalendarConnection"
        | "pauseCalendarConnection"
        | "resumeCalendarConnection"
        | "reauthorizeCalendarConnection"
        | "listExternalCalendars"
        | "createAvailabilityGrant"
        | "listAvailabilityGrants"
        | "deleteAvailabilityGrant" => About::Console,
        "activateOrganization" => About::Operator,
        "agentVerify" | "acceptTerms" | "createAgent" | "listAgents" | "createCalendar" | "listScopedKeys"
        | "listAuditLog" | "listChanges" | "listMail" | "getReplyTo" | "putReplyTo" | "deleteReplyTo"
        | "createWebhook" | "listWebhooks" => About::Organization,
        "updateAgent" | "deleteAgent" | "getAvailability" | "createScopedKey" => About::OrganizationsAgent,
        "deleteScopedKey" => About::OrganizationsKey,
        "getWebhook"
        | "updateWebhook"
        | "deleteWebhook"
        | "rotateWebhookSecret"
        | "testWebhook"
        | "listWebhookDeliveries"
        | "retryWebhookDelivery" => About::OrganizationsWebhook,
        "listCalendars" | "listHoldSets" | "searchEvents" | "listProposals" | "listBookingPages" | "getUsage"
        | "sendFeedback" | "listApprovals" => About::Common,
        "mcp" => About::Tools,
        "createProposal" => About::Agent,
        "getProposal" | "respondToProposal" | "resolveProposal" | "cancelProposal" => About::Proposal,
        "getBookingPage" | "updateBookingPage" | "deleteBookingPage" | "listBookings" => About::BookingPage,
        "cancelBookingAsHost" => About::Booking,
        "getRun" | "undoRun" => About::Run,
        "getApproval" | "cancelApproval" => About::Approval,
        "approve" | "denyApproval" => About::Decision,
        "getAgent"
        | "createAgentCalendar"
        | "listAgentCalendars"
        | "listAgentEvents"
        | "getAgentAvailability"
        | "createIcalSubscription"
        | "listIcalSubscriptions" => About::Agent,
        "getCalendar"
        | "updateCalendar"
        | "deleteCalendar"
        | "rotateCalendarFeedToken"
        | "exportCalendar"
        | "importCalendar"
        | "getCalendarContext"
        | "listCalendarChanges"
        | "createEvent"
        | "createEventBatch"
        | "listCalendarEvents"
        | "createHoldSet"
        | "createBookingPage"
        | "getCalendarAvailability"
        | "putAvailabilityRules"
        | "createConnectionLink"
        | "explainAvailability" => About::Calendar,
        "getConnectionLink" | "cancelConnectionLink" => About::Link,
        "getCalendarEvent"
        | "updateCalendarEvent"
        | "deleteCalendarEvent"
        | "getEvent"
        | "updateEvent"
        | "deleteEvent"
        | "moveEvent" => About::Event,
        "confirmHold" | "releaseHold" => About::Hold,
        "getHoldSet" | "confirmHoldSet" | "releaseHoldSet" => About::HoldSet,
        "getAvailabilityRules" | "deleteAvailabilityRules" => About::Rules,
        "getIcalSubscription" | "updateIcalSubscription" | "syncIcalSubscription" | "deleteIcalSubscription" => {
            About::Subscription
        }
        unknown => panic!("{unknown} has no entry in the matrix"),
    }
}

/// The kinds of callers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Who {
    Organization,
    Own,
    /// Keys of the same agent as `Own`, each with one scope.
    OwnFreebusy,
    OwnDirectory,
    OwnHolds,
    /// A key of the same agent with every scope.
    OwnAll,
    Sibling,
    Paused,
    Foreign,
    /// An organization that an agent signed up, on a plan without paid features.
    Sandbox,
    Waitlisted,
    Revoked,
    Garbage,
    /// A user of another organization, on a plan without paid features.
    Session,
    /// The owner of the organization, in the console.
    Owner,
    /// An admin.
    Admin,
    /// A member.
    Member,
    /// A viewer.
    Viewer,
    Nobody,
}

const CALLERS: [Who; 19] = [
    Who::Organization,
    Who::Own,
    Who::OwnFreebusy,
    Who::OwnDirectory,
    Who::OwnHolds,
    Who::OwnAll,
    Who::Sibling,
    Who::Paused,
    Who::Foreign,
    Who::Sandbox,
    Who::Waitlisted,
    Who::Revoked,
    Who::Garbage,
    Who::Session,
    Who::Owner,
    Who::Admin,
    Who::Member,
    Who::Viewer,
    Who::Nobody,
];

/// The owner of the thing. `Paused` is the agent of the paused key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Whose {
    Own,
    Sibling,
    Paused,
    Shared,
    Foreign,
    Missing,
}

const THINGS: [Whose; 6] = [Whose::Own, Whose::Sibling, Whose::Paused, Whose::Shared, Whose::Foreign, Whose::Missing];

/// Identifiers of one owner's things.
#[derive(Debug, Clone)]
struct Things {
    agent: String,
    calendar: String,
    event: String,
    set: String,
    key: String,
    webhook: String,
    delivery: String,
    subscription: String,
    proposal: String,
    page: String,
    booking: String,
    link: String,
    run: String,
    approval: String,
}

struct World {
    server: Server,
    api: Client,
    foreign: Client,
    callers: Vec<(Who, Client)>,
    /// Keys of the agents whose writes need approval.
    asking: Vec<(Whose, Client)>,
    own: String,
    sibling: String,
    paused: String,
    abroad: String,
    /// The expiry of holds, later than the end of the test.
    expires: String,
    made: u32,
}

/// The expected answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ExpectedAnswer {
    /// 2xx, or a fixed other status for operations that cannot succeed here.
    Yes,
    Refused(u16, &'static str),
}

impl World {
    async fn new(database: Database) -> Self {
        let server = Server::start_with(database, &[("KALENDS_ADMIN_TOKEN", "the-operator-s-own-token")]).await;
        let (org, other) = (server.org_with("custom", &["--email", ORG]).await, server.org("custom").await);
        let (api, foreign) = (server.api(&org), server.api(&other));
        let session = owner(&server, ORG).await;
        let mut roles = Vec::new();
        for (who, role) in [(Who::Admin, "admin"), (Who::Member, "member"), (Who::Viewer, "viewer")] {
            roles.push((who, member(&server, &session, &format!("{role}@{role}.example"), role).await.1));
        }
        roles.push((Who::Owner, session));
        let (own, sibling, paused) = (agent(&api).await, agent(&api).await, agent(&api).await);
        let abroad = agent(&foreign).await;
        let key = async |agent: &str| {
            let made = api.post("/v1/keys").json(json!({ "agent_id": agent })).await.expect(201);
            (made.id(), made["key"].as_str().unwrap().to_owned())
        };
        let mut callers = vec![(Who::Organization, api.clone()), (Who::Foreign, foreign.clone())];
        for (who, agent) in [(Who::Own, &own), (Who::Sibling, &sibling), (Who::Paused, &paused)] {
            callers.push((who, server.client(&key(agent).await.1)));
        }
        for who in [Who::OwnFreebusy, Who::OwnDirectory, Who::OwnHolds, Who::OwnAll] {
            let body = json!({ "agent_id": own, "scopes": scopes_of(who) });
            let made = api.post("/v1/keys").json(body).await.expect(201);
            callers.push((who, server.client(made["key"].as_str().unwrap())));
        }
        let mut asking = Vec::new();
        for (whose, api, agent) in
            [(Whose::Own, &api, &own), (Whose::Sibling, &api, &sibling), (Whose::Foreign, &foreign, &abroad)]
        {
            let body = json!({ "agent_id": agent, "requires_approval": "writes" });
            let made = api.post("/v1/keys").json(body).await.expect(201);
            asking.push((whose, server.client(made["key"].as_str().unwrap())));
        }
        api.patch(format!("/v1/agents/{paused}")).json(json!({ "status": "paused" })).await.expect(200);
        let (id, revoked) = key(&own).await;
        api.delete(format!("/v1/keys/{id}")).await.expect(204);
        let waiting = server.org("custom").await;
        server.cli(&["org", "waitlist", &waiting.id]).await.succeeded();
        let waitlisted = server.api(&waiting);
        wait_until(|| async { waitlisted.get("/v1/agents").await }, |answer| answer.status == 403).await;
        let body = json!({ "email": "scout@sandbox.example", "agent_name": "Scout", "tos_version": "2026-01-01" });
        let signed_up = server.anonymous().post("/v1/agent/sign-up").json(body).await.expect(200);
        let (sandboxed, key) = (signed_up["org_id"].as_str().unwrap(), signed_up["api_key"].as_str().unwrap());
        // With the same rate as the others, and the features of the plan that it began with.
        let limits = r#"{"rate_per_second":1000000}"#;
        server.cli(&["org", "set-plan", sandboxed, "free", "--limits", limits]).await.succeeded();
        let sandbox = server.client(key);
        wait_until(|| async { sandbox.get("/v1/usage").await }, |usage| usage["agents"]["limit"] != 1).await;
        let human = Human::sign_up(&server, HUMAN).await;
        server.cli(&["org", "set-plan", &human.org, "free", "--limits", limits]).await.succeeded();
        callers.extend([
            (Who::Sandbox, sandbox),
            (Who::Revoked, server.client(&revoked)),
            (Who::Waitlisted, waitlisted),
            (Who::Garbage, server.client("svc_sk_garbage")),
            (Who::Session, server.client(&human.token)),
            (Who::Nobody, server.anonymous()),
        ]);
        callers.extend(roles);
        let expires = shifted(&now(&api).await, 14);
        Self { server, api, foreign, callers, asking, own, sibling, paused, abroad, expires, made: 0 }
    }

    fn caller(&self, who: Who) -> &Client {
        self.callers.iter().find(|(known, _)| *known == who).map(|(_, client)| client).unwrap()
    }

    /// Replaces the client of the caller's own key.
    fn let_own_be(&mut self, client: &Client) {
        for (who, known) in &mut self.callers {
            if *who == Who::Own {
                *known = client.clone();
            }
        }
    }

    /// A separate span for each hold, so that no two holds overlap.
    fn span(&mut self) -> (String, String) {
        self.made += 1;
        let (day, hour) = (self.made / 24, self.made % 24);
        let (month, day) = (day / 28, day % 28 + 1);
        let date = format!("{}-{:02}-{day:02}", 2031 + month / 12, month % 12 + 1);
        (format!("{date}T{hour:02}:00:00Z"), format!("{date}T{hour:02}:30:00Z"))
    }

    /// New things of this owner, which no other cell has changed.
    async fn things(&mut self, about: About, whose: Whose) -> Things {
        if whose == Whose::Missing {
            let id = |prefix: &str| format!("{prefix}_{NOBODY}");
            return Things {
                agent: id("agt"),
                calendar: id("cal"),
                event: id("evt"),
                set: id("hst"),
                key: id("key"),
                webhook: id("whk"),
                delivery: id("whd"),
                subscription: id("isub"),
                proposal: id("spr"),
                page: id("bkp"),
                booking: id("bkg"),
                link: id("cln"),
                run: "nobody-s".to_owned(),
                approval: id("apr"),
            };
        }
        let (start, end) = self.span();
        let api = if whose == Whose::Foreign { &self.foreign } else { &self.api };
        let owner = match whose {
            // Changes of these agents must not affect the callers.
            _ if about == About::OrganizationsAgent => Some(agent(api).await),
            Whose::Own => Some(self.own.clone()),
            Whose::Sibling => Some(self.sibling.clone()),
            Whose::Paused => Some(self.paused.clone()),
            Whose::Foreign => Some(self.abroad.clone()),
            Whose::Shared | Whose::Missing => None,
        };
        let calendar = match &owner {
            Some(owner) => calendar_of(api, owner).await,
            None => shared_calendar(api, "UTC").await,
        };
        let (mut entry, mut set, mut key) = (String::new(), String::new(), String::new());
        let (mut webhook, mut delivery, mut subscription) = (String::new(), String::new(), String::new());
        let (mut proposal, mut page, mut booking, mut link) =
            (String::new(), String::new(), String::new(), String::new());
        let mut approval = String::new();
        match about {
            About::Event => entry = event(api, &calendar, &start, &end).await,
            About::Hold | About::HoldSet => {
                let body = hold_set(&calendar, &start, &end, &self.expires);
                let made = api.post("/v1/hold-sets").json(body).await.expect(201);
                set = made["id"].as_str().unwrap().to_owned();
                entry = api.get(format!("/v1/calendars/{calendar}/events")).await.expect(200).column("id")[0].clone();
            }
            About::Rules => {
                let path = format!("/v1/calendars/{calendar}/availability-rules");
                api.put(path).json(json!({})).await.expect(200);
            }
            About::OrganizationsKey => {
                let agent_id = owner.as_deref().unwrap_or_default();
                key = api.post("/v1/keys").json(json!({ "agent_id": agent_id })).await.expect(201).id();
            }
            About::OrganizationsWebhook => {
                webhook = api.post("/v1/webhooks").json(webhook_body()).await.expect(201).id();
                let tested = api.post(format!("/v1/webhooks/{webhook}/test")).await.expect(200);
                delivery = tested["delivery"]["id"].as_str().unwrap().to_owned();
            }
            About::Subscription => {
                let path = format!("/v1/agents/{}/ical-subscriptions", owner.as_deref().unwrap_or_default());
                let body = json!({ "calendar_id": calendar, "url": NOWHERE });
                subscription = api.post(path).json(body).await.expect(201).id();
            }
            About::Proposal => {
                // Another participant has declined already, so that the proposal can be resolved.
                let (owner, other) = (owner.as_deref().unwrap_or_default(), agent(api).await);
                let body = proposing(owner, &[owner, &other], &calendar, (&start, &end));
                proposal = api.post(PROPOSALS).json(body).await.expect(201).id();
                let declines = json!({ "agent_id": other, "response": "decline" });
                api.post(format!("{PROPOSALS}/{proposal}/respond")).json(declines).await.expect(200);
            }
            About::BookingPage => {
                let body = json!({ "calendar_id": calendar, "title": "x" });
                page = api.post("/v1/booking-pages").json(body).await.expect(201).id();
            }
            About::Booking => {
                let body = json!({ "calendar_id": calendar, "title": "x" });
                let made = api.post("/v1/booking-pages").json(body).await.expect(201);
                page = made.id();
                let book = format!("/book/{}", made["slug"].as_str().unwrap());
                let guest = self.server.anonymous();
                let slots = guest.get(format!("{book}/slots")).await.expect(200);
                let body = json!({ "name": "Ada", "email": "ada@example.com", "start": slots["slots"][40]["start"] });
                guest.post(book).json(body).await.expect(201);
                let listed = api.get(format!("/v1/booking-pages/{page}/bookings")).await.expect(200);
                booking = listed.column("id")[0].clone();
            }
            About::Link => {
                let path = format!("/v1/calendars/{calendar}/connection-links");
                link = api.post(path).json(json!({})).await.expect(201).id();
            }
            About::Run => {
                // A run belongs to the agent whose key made it.
                let key = self.caller(if whose == Whose::Sibling { Who::Sibling } else { Who::Own });
                let body = json!({ "title": "x", "start_time": start, "end_time": end });
                let created = key.post(format!("/v1/calendars/{calendar}/events")).json(body);
                created.header("kalends-run", "reached").await.expect(201);
            }
            About::Approval | About::Decision => {
                let key = self.asking.iter().find(|(known, _)| *known == whose).map(|(_, key)| key).unwrap();
                let body = json!({ "title": "x", "start_time": start, "end_time": end });
                let asked = key.post(format!("/v1/calendars/{calendar}/events")).json(body).await.expect(202);
                approval = asked["approval"]["id"].as_str().unwrap().to_owned();
            }
            _ => {}
        }
        let agent = owner.unwrap_or_default();
        Things {
            agent,
            calendar,
            event: entry,
            set,
            key,
            webhook,
            delivery,
            subscription,
            proposal,
            page,
            booking,
            link,
            run: "reached".to_owned(),
            approval,
        }
    }

    async fn ask(&mut self, operation: &Operation, who: Who, things: &Things) -> Answer {
        let (start, end) = self.span();
        let body = body(&operation.id, things, (&start, &end), &self.expires, self.made);
        let mut caller = self.caller(who).clone();
        let mut path = operation.path.clone();
        if who == Who::Session && ruled(&operation.id) == About::Console {
            // Some of these end the session or change the password, so each is sent by a new user.
            let human = Human::sign_up(&self.server, &format!("human@domain-{}.example", self.made)).await;
            caller = self.server.client(&human.token);
            path = path.replace("/orgs/{id}/", &format!("/orgs/{}/", human.org));
        }
        let path = path
            .replace("{agent_id}", &things.agent)
            .replace("{cal_id}", &things.calendar)
            .replace("{delivery_id}", &things.delivery)
            .replace("{name}", &things.run)
            .replace("{id}", named(&operation.path, things));
        let call = caller.call(operation.method.clone(), path);
        let window = [("start", start.as_str()), ("end", end.as_str())];
        let call = match operation.id.as_str() {
            "getAvailability" => call.query(&window).query(&[("agents", things.agent.as_str())]),
            "getAgentAvailability" | "getCalendarAvailability" => call.query(&window),
            "getRun" | "undoRun" => call.query(&[("agent_id", things.agent.as_str())]),
            "searchEvents" => call.query(&[("q", "anything")]),
            "explainAvailability" => call.query(&window).query(&[("calendar", things.calendar.as_str())]),
            "importCalendar" => call.header("content-type", "text/calendar").body(vcalendar(&meetings("x", 1))),
            _ => call,
        };
        match body {
            Some(body) => call.json(body).await,
            None => call.await,
        }
    }
}

/// An endpoint that cannot be reached, because its domain does not exist.
fn webhook_body() -> Value {
    json!({ "url": "https://kalends.invalid/hook", "events": ["webhook.deactivated"] })
}

fn hold_set(calendar: &str, start: &str, end: &str, expires: &str) -> Value {
    json!({
        "title": "x", "start_time": start, "end_time": end, "calendar_ids": [calendar], "hold_expires_at": expires
    })
}

const PROPOSALS: &str = "/v1/scheduling/proposals";

fn proposing(organizer: &str, participants: &[&str], calendar: &str, (start, end): (&str, &str)) -> Value {
    json!({
        "title": "x", "organizer_agent_id": organizer, "participant_agent_ids": participants, "calendar_id": calendar,
        "slots": [{ "start_time": start, "end_time": end }]
    })
}

/// The thing that `{id}` stands for.
fn named<'a>(path: &str, things: &'a Things) -> &'a str {
    if path.starts_with("/v1/agents/") {
        &things.agent
    } else if path.starts_with("/v1/keys/") {
        &things.key
    } else if path.starts_with("/v1/webhooks/") {
        &things.webhook
    } else if path.starts_with("/v1/ical-subscriptions/") {
        &things.subscription
    } else if path.starts_with(PROPOSALS) {
        &things.proposal
    } else if path.starts_with("/v1/booking-pages/") {
        &things.page
    } else if path.starts_with("/v1/bookings/") {
        &things.booking
    } else if path.starts_with("/v1/connection-links/") {
        &things.link
    } else if path.starts_with("/v1/hold-sets/") {
        &things.set
    } else if path.starts_with("/v1/approvals/") {
        &things.approval
    } else if path.contains("/events/") {
        &things.event
    } else {
        &things.calendar
    }
}

fn body(operation: &str, things: &Things, (start, end): (&str, &str), expires: &str, number: u32) -> Option<Value> {
    let entry = json!({ "title": "x", "start_time": start, "end_time": end });
    Some(match operation {
        "agentSignUp" => json!({
            "email": format!("ada-{number}@domain-{number}.example"), "agent_name": "Scout", "tos_version": "2026-01-01"
        }),
        "signUp" => signing_up(&format!("grace@domain-{number}.example")),
        "signIn" => json!({ "email": HUMAN, "password": PASSWORD }),
        "mcp" => json!({ "jsonrpc": "2.0", "id": number, "method": "tools/list" }),
        "updateMe" => json!({ "name": "Grace" }),
        "updateOrg" => json!({ "name": "Engines" }),
        "startSecondFactor" => json!({ "password": PASSWORD }),
        "confirmSecondFactor" | "renewRecoveryCodes" | "removeSecondFactor" => json!({ "code": "123456" }),
        "changePassword" => json!({ "current_password": PASSWORD, "new_password": "a new password" }),
        "forgotPassword" => json!({ "email": HUMAN }),
        "resetPassword" => json!({ "token": "nobody-s", "password": "a new password" }),
        "joinWaitlist" => json!({ "email": format!("bob@domain-{number}.example"), "tos_version": "2026-01-01" }),
        "acceptTerms" | "acceptTermsInConsole" => json!({ "tos_version": "2026-01-01" }),
        "inviteMember" => json!({ "email": format!("joan@domain-{number}.example"), "role": "viewer" }),
        "updateMember" => json!({ "role": "viewer" }),
        "acceptInvitation" | "verifyEmail" => json!({ "token": "nobody-s" }),
        "sendFeedback" => json!({ "type": "bug", "message": "It is broken." }),
        "agentVerify" => json!({ "otp": "123456" }),
        "initiateClaim" => json!({ "email": "agent@example.com" }),
        "verifyClaim" => json!({ "claim_id": format!("clm_{NOBODY}"), "otp": "123456" }),
        "revokeClaim" => json!({ "revocation_token": "nobody-s" }),
        "createAgent" => json!({ "name": "x", "type": "ai" }),
        "updateAgent" | "updateCalendar" => json!({ "name": "y" }),
        "createCalendar" | "createAgentCalendar" => json!({ "name": "x", "timezone": "UTC" }),
        "createEvent" => entry,
        "createEventBatch" => json!({ "events": [entry] }),
        "updateCalendarEvent" | "updateEvent" => json!({ "title": "y" }),
        "moveEvent" => json!({ "calendar_id": things.calendar }),
        "createHoldSet" => hold_set(&things.calendar, start, end, expires),
        "putAvailabilityRules" => json!({}),
        "createWebhook" => webhook_body(),
        "updateWebhook" => json!({ "events": ["event.created"] }),
        "createIcalSubscription" => {
            json!({ "calendar_id": things.calendar, "url": format!("{NOWHERE}?created={number}") })
        }
        "createBookingPage" => json!({ "calendar_id": things.calendar, "title": "x" }),
        "updateBookingPage" => json!({ "title": "y" }),
        "createBooking" => json!({ "name": "Ada", "email": "ada@example.com", "start": start }),
        "moveBooking" => json!({ "start": start }),
        "replyToInvitation" => json!({ "status": "accepted" }),
        "answerBookingEmails" | "answerReplyLink" => json!({ "agrees": true }),
        "putReplyTo" => json!({ "email": format!("team-{number}@example.com") }),
        "updateIcalSubscription" | "updateCalendarConnection" => json!({ "label": "y" }),
        "createConnectionLink" | "startCalendarConnection" => json!({}),
        "openConnectionLink" => json!({ "token": "nobody-s" }),
        "createAvailabilityGrant" => {
            json!({ "external_calendar_ids": [format!("xcl_{NOBODY}")], "audience": "all" })
        }
        "createProposal" => proposing(&things.agent, &[&things.agent], &things.calendar, (start, end)),
        "respondToProposal" => json!({ "agent_id": things.agent, "response": "decline" }),
        "createScopedKey" | "createScopedKeyFromConsole" => json!({ "agent_id": things.agent }),
        _ => return None,
    })
}

struct Operation {
    id: String,
    method: Method,
    path: String,
}

async fn operations(server: &Server) -> Vec<Operation> {
    let description = server.anonymous().get("/openapi.json").await.expect(200);
    let mut all = Vec::new();
    for (path, methods) in description["paths"].as_object().unwrap() {
        for (method, described) in methods.as_object().unwrap() {
            let id = described["operationId"].as_str().unwrap().to_owned();
            all.push(Operation { id, method: method.to_uppercase().parse().unwrap(), path: path.clone() });
        }
    }
    all
}

/// The expected answer of a cell.
fn cell(operation: &Operation, about: About, who: Who, whose: Whose) -> ExpectedAnswer {
    let writes = operation.method != Method::GET;
    let forbidden = ExpectedAnswer::Refused(403, "forbidden");
    if let Some(opened) = opened(operation, who, whose) {
        return opened;
    }
    let who = if scopes_of(who).is_empty() { who } else { Who::Own };
    if role_of(who).is_some_and(|role| role < least(operation)) {
        return forbidden;
    }
    match (about, who) {
        (About::Public, _) | (About::Console, Who::Session) => return ExpectedAnswer::Yes,
        (About::Console, who) if role_of(who).is_some() => return ExpectedAnswer::Yes,
        (About::Console, _) => return ExpectedAnswer::Refused(401, "authentication_error"),
        (About::Operator, _)
        | (About::Tools, Who::Session | Who::Owner | Who::Admin | Who::Member | Who::Viewer)
        | (_, Who::Revoked | Who::Garbage | Who::Nobody) => {
            return ExpectedAnswer::Refused(401, "unauthorized");
        }
        (_, Who::Waitlisted) => return ExpectedAnswer::Refused(403, "account_waitlisted"),
        (About::Tools, _) => return ExpectedAnswer::Yes,
        (
            About::Organization
            | About::OrganizationsAgent
            | About::OrganizationsKey
            | About::OrganizationsWebhook
            | About::Decision,
            _,
        ) if is_scoped(who) => return forbidden,
        (_, Who::Paused) if writes => return forbidden,
        (_, Who::Sandbox | Who::Session) if is_paid_for(&operation.id) => {
            return ExpectedAnswer::Refused(403, "plan_required");
        }
        (About::Organization | About::Common, _) => return ExpectedAnswer::Yes,
        _ => {}
    }
    let missing = ExpectedAnswer::Refused(404, "not_found");
    match (who, whose) {
        (_, Whose::Missing) => missing,
        (Who::Foreign, Whose::Foreign) => ExpectedAnswer::Yes,
        (Who::Foreign | Who::Sandbox | Who::Session, _) | (_, Whose::Foreign) => missing,
        (Who::Organization | Who::Owner | Who::Admin | Who::Member | Who::Viewer, _)
        | (Who::Own, Whose::Own)
        | (Who::Sibling, Whose::Sibling)
        | (Who::Paused, Whose::Paused) => ExpectedAnswer::Yes,
        _ => forbidden,
    }
}

/// The scopes of a key.
fn scopes_of(who: Who) -> &'static [&'static str] {
    match who {
        Who::OwnFreebusy => &["freebusy:org"],
        Who::OwnDirectory => &["directory:org"],
        Who::OwnHolds => &["holds:org"],
        Who::OwnAll => &["freebusy:org", "directory:org", "holds:org"],
        _ => &[],
    }
}

/// What a scope of the key opens: the cell is then as for a key of the organization.
fn opened(operation: &Operation, who: Who, whose: Whose) -> Option<ExpectedAnswer> {
    let scope = match operation.id.as_str() {
        "getAvailability" | "getAgentAvailability" | "getCalendarAvailability" => "freebusy:org",
        "listAgents" | "getAgent" => "directory:org",
        "createHoldSet" => "holds:org",
        _ => return None,
    };
    let is_list = operation.id == "listAgents";
    scopes_of(who).contains(&scope).then_some(match whose {
        Whose::Foreign | Whose::Missing if !is_list => ExpectedAnswer::Refused(404, "not_found"),
        _ => ExpectedAnswer::Yes,
    })
}

/// The role of the organization's own users.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Role {
    Viewer,
    Member,
    Admin,
    Owner,
}

fn role_of(who: Who) -> Option<Role> {
    match who {
        Who::Owner => Some(Role::Owner),
        Who::Admin => Some(Role::Admin),
        Who::Member => Some(Role::Member),
        Who::Viewer => Some(Role::Viewer),
        _ => None,
    }
}

/// The lowest role that may call the operation.
fn least(operation: &Operation) -> Role {
    let about = ruled(&operation.id);
    match operation.id.as_str() {
        _ if [About::Public, About::Operator, About::Tools].contains(&about) => Role::Viewer,
        "deleteAccount" => Role::Owner,
        "updateOrg"
        | "acceptTermsInConsole"
        | "exportAccount"
        | "regenerateKey"
        | "createScopedKeyFromConsole"
        | "createScopedKey"
        | "deleteScopedKey"
        | "inviteMember"
        | "updateMember"
        | "agentVerify"
        | "acceptTerms"
        | "putReplyTo"
        | "deleteReplyTo"
        | "createWebhook"
        | "updateWebhook"
        | "deleteWebhook"
        | "rotateWebhookSecret"
        | "testWebhook"
        | "retryWebhookDelivery" => Role::Admin,
        // A user's own account, and feedback.
        "sendFeedback" => Role::Viewer,
        _ if about == About::Console || operation.method == Method::GET => Role::Viewer,
        _ => Role::Member,
    }
}

fn is_scoped(who: Who) -> bool {
    matches!(who, Who::Own | Who::Sibling | Who::Paused)
}

/// Whether it needs a paid feature.
fn is_paid_for(operation: &str) -> bool {
    // Holds that were placed on another plan can still be read.
    let named = operation.contains("Hold") && !["getHoldSet", "listHoldSets"].contains(&operation)
        || operation.contains("Proposal");
    named || ["getAvailability", "createScopedKey", "listScopedKeys", "deleteScopedKey"].contains(&operation)
}

/// Whether a success uses the thing up.
fn consumes(operation: &Operation) -> bool {
    let ends = ["/confirm", "/release", "/respond", "/resolve", "/cancel", "/retry", "/approve", "/deny"];
    operation.method == Method::DELETE || ends.iter().any(|end| operation.path.ends_with(end))
}

/// Whether it is a user's operation on an existing link, connection or grant.
fn names_a_connection(operation: &Operation) -> bool {
    let below = ["/v1/connection-links/", "/v1/calendar-connections/", "/v1/availability-grants/"];
    below.iter().any(|below| operation.path.starts_with(below)) || operation.id == "createAvailabilityGrant"
}

fn targets_of(about: About) -> &'static [Whose] {
    match about {
        About::Public | About::Operator | About::Console | About::Organization | About::Common | About::Tools => {
            &[Whose::Missing]
        }
        // Agents have no owner but themselves. A shared calendar has no subscriptions and no organizer of proposals.
        About::OrganizationsAgent | About::OrganizationsKey | About::Agent | About::Subscription | About::Proposal => {
            &[Whose::Own, Whose::Sibling, Whose::Paused, Whose::Foreign, Whose::Missing]
        }
        About::OrganizationsWebhook => &[Whose::Own, Whose::Foreign, Whose::Missing],
        // The key of a paused agent has made no run.
        About::Run => &[Whose::Own, Whose::Sibling, Whose::Missing],
        // It asks for nothing either.
        About::Approval | About::Decision => &[Whose::Own, Whose::Sibling, Whose::Foreign, Whose::Missing],
        About::Calendar
        | About::Event
        | About::Hold
        | About::HoldSet
        | About::Rules
        | About::BookingPage
        | About::Booking
        | About::Link => &THINGS,
    }
}

#[apply(on_both)]
#[tokio::test]
async fn every_cell_of_the_matrix_is_as_expected(#[case] database: Database) {
    let mut world = World::new(database).await;
    let operations = operations(&world.server).await;
    assert!(operations.len() >= 120, "{}", operations.len());
    let mut wrong = BTreeSet::new();
    let mut cells = 0;
    for operation in &operations {
        let about = ruled(&operation.id);
        for whose in targets_of(about) {
            let mut things = world.things(about, *whose).await;
            for who in CALLERS {
                let ruled = cell(operation, about, who, *whose);
                // Some that write end the session, so they are only called as a new user.
                let writes = operation.method != Method::GET;
                if about == About::Console && role_of(who).is_some() && writes && ruled == ExpectedAnswer::Yes {
                    continue;
                }
                let answer = world.ask(operation, who, &things).await;
                let status = answer.status;
                let kind = answer.at("/error/type");
                let right = match ruled {
                    // Allowed, but the code or the token is wrong, or the claim or the feed is unknown.
                    ExpectedAnswer::Yes
                        if ["agentVerify", "verifyClaim", "resetPassword", "verifyEmail"]
                            .contains(&operation.id.as_str()) =>
                    {
                        status == 400
                    }
                    ExpectedAnswer::Yes if ["revokeClaim", "getFeed"].contains(&operation.id.as_str()) => status == 404,
                    // No page has this slug.
                    ExpectedAnswer::Yes
                        if ["/book/", "/rsvp/", "/replies/"].iter().any(|below| operation.path.starts_with(below)) =>
                    {
                        status == 404
                    }
                    ExpectedAnswer::Yes if operation.id == "acceptInvitation" => status == 400,
                    // A first code is awaited, and this one is wrong. The second factor is not on.
                    ExpectedAnswer::Yes if operation.id == "confirmSecondFactor" => [400, 409].contains(&status),
                    ExpectedAnswer::Yes
                        if ["renewRecoveryCodes", "removeSecondFactor"].contains(&operation.id.as_str()) =>
                    {
                        status == 409
                    }
                    ExpectedAnswer::Yes if ["updateMember", "deleteMember"].contains(&operation.id.as_str()) => {
                        status == 404
                    }
                    // No provider is configured.
                    ExpectedAnswer::Yes if operation.path.contains("/oauth/") => status == 404,
                    // The user has followed no link and connected nothing.
                    ExpectedAnswer::Yes if about == About::Console && names_a_connection(operation) => status == 404,
                    // Users sign up on the free plan, which has no scoped keys.
                    ExpectedAnswer::Yes if operation.id == "createScopedKeyFromConsole" => kind == "plan_required",
                    ExpectedAnswer::Yes => (200..300).contains(&status),
                    ExpectedAnswer::Refused(expected, type_is) => status == expected && kind == type_is,
                };
                if ruled == ExpectedAnswer::Refused(403, "forbidden") && role_of(who).is_some() {
                    assert_eq!(answer.at("/error/code"), "role_too_low", "{}", answer.describe());
                }
                if !right {
                    wrong
                        .insert(format!("{} by {who:?} about {whose:?}: {ruled:?}, got {status} {kind}", operation.id));
                }
                let paused = !matches!(about, About::Public | About::Tools)
                    && who == Who::Paused
                    && operation.method != Method::GET;
                if paused
                    && matches!(
                        about,
                        About::Agent
                            | About::Calendar
                            | About::Event
                            | About::Subscription
                            | About::Proposal
                            | About::Link
                    )
                {
                    assert_eq!(answer.at("/error/code"), "agent_paused", "{}", answer.describe());
                }
                cells += 1;
                if ruled == ExpectedAnswer::Yes && consumes(operation) {
                    things = world.things(about, *whose).await;
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {cells} cells:\n{}", wrong.len(), Vec::from_iter(wrong).join("\n"));
}

/// The writes of a key that need no approval: the tools, whose calls need it themselves, feedback, and decisions.
const NEED_NONE: &[&str] = &["mcp", "sendFeedback", "approve", "denyApproval", "cancelApproval"];
/// The writes that cannot wait for one: their answers have secrets, or they are long.
const CANNOT_WAIT: &[&str] =
    &["createAgentCalendar", "rotateCalendarFeedToken", "importCalendar", "createConnectionLink"];
/// The writes that change nothing here, so that there is nothing to approve: the event is on that calendar already.
const CHANGE_NOTHING: &[&str] = &["moveEvent"];

#[apply(on_both)]
#[tokio::test]
async fn every_write_of_a_key_that_requires_approval_waits(#[case] database: Database) {
    let mut world = World::new(database).await;
    let body = json!({ "agent_id": world.own, "requires_approval": "writes" });
    let made = world.api.post("/v1/keys").json(body).await.expect(201);
    let (plain, asking) = (world.caller(Who::Own).clone(), world.server.client(made["key"].as_str().unwrap()));
    let operations = operations(&world.server).await;
    let mut waiting = 0;
    for operation in &operations {
        let about = ruled(&operation.id);
        let whose = if targets_of(about).contains(&Whose::Own) { Whose::Own } else { Whose::Missing };
        let is_keyless = matches!(about, About::Public | About::Console | About::Operator);
        let id = operation.id.as_str();
        if operation.method == Method::GET
            || is_keyless
            || NEED_NONE.contains(&id)
            || cell(operation, about, Who::Own, whose) != ExpectedAnswer::Yes
        {
            continue;
        }
        let things = world.things(about, whose).await;
        world.let_own_be(&asking);
        let answer = world.ask(operation, Who::Own, &things).await;
        world.let_own_be(&plain);
        if CANNOT_WAIT.contains(&id) {
            answer.refused(403, "forbidden").code("approval_not_possible");
        } else if CHANGE_NOTHING.contains(&id) {
            assert!((200..300).contains(&answer.status), "{}", answer.describe());
        } else {
            let answer = answer.expect(202);
            assert_eq!(answer.at("/approval/operation"), id, "{}", answer.describe());
            let approval = answer.at("/approval/id");
            let cancel = format!("/v1/approvals/{}/cancel", approval.as_str().unwrap());
            asking.post(cancel).await.expect(200);
            waiting += 1;
        }
    }
    assert!(waiting >= 25, "{waiting}");
}
