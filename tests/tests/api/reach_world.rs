//! The callers of the matrix, what belongs to them, and how each operation is called.

use kalends_e2e::{Answer, Client, Database, Server, shifted};
use reqwest::Method;
use serde_json::{Value, json};

use crate::{
    console::{Human, PASSWORD, owner, signing_up},
    fixtures::{TOKEN, agent, calendar_of, event, now, shared_calendar, wait_until},
    members::member,
    reach_operations::{About, Operation},
    subscriber::{NOWHERE, meetings, vcalendar},
};

/// The user whose console session is used.
const HUMAN: &str = "ada@example.com";

/// The address of the organization whose members have roles.
const ORG: &str = "org@example.com";

/// A well-formed identifier that belongs to nothing.
const NOBODY: &str = "00000000000000000000000000";

/// The kinds of callers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Who {
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

pub(crate) const CALLERS: [Who; 19] = [
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
pub(crate) enum Whose {
    Own,
    Sibling,
    Paused,
    Shared,
    Foreign,
    Missing,
}

pub(crate) const THINGS: [Whose; 6] =
    [Whose::Own, Whose::Sibling, Whose::Paused, Whose::Shared, Whose::Foreign, Whose::Missing];

/// Identifiers of one owner's things.
#[derive(Debug, Clone)]
pub(crate) struct Things {
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

/// A server with two organizations, their agents, and callers.
pub(crate) struct World {
    pub(crate) server: Server,
    pub(crate) api: Client,
    foreign: Client,
    callers: Vec<(Who, Client)>,
    /// Keys of the agents whose writes need approval.
    asking: Vec<(Whose, Client)>,
    pub(crate) own: String,
    sibling: String,
    paused: String,
    abroad: String,
    /// The organization of the user of `Session`. Empty if there is none.
    engines: String,
    /// The expiry of holds, later than the end of the test.
    expires: String,
    made: u32,
}

impl World {
    /// A world whose callers are the organizations' keys and the agents' keys without scopes.
    pub(crate) async fn of_keys(database: Database) -> Self {
        let server = Server::start_with(database, &[("KALENDS_ADMIN_TOKEN", TOKEN)]).await;
        let (org, other) = (server.org_with("custom", &["--email", ORG]).await, server.org("custom").await);
        let (api, foreign) = (server.api(&org), server.api(&other));
        let (own, sibling, paused) = (agent(&api).await, agent(&api).await, agent(&api).await);
        let abroad = agent(&foreign).await;
        let mut callers = vec![(Who::Organization, api.clone()), (Who::Foreign, foreign.clone())];
        for (who, agent) in [(Who::Own, &own), (Who::Sibling, &sibling), (Who::Paused, &paused)] {
            callers.push((who, server.client(&key(&api, json!({ "agent_id": agent })).await.1)));
        }
        let mut asking = Vec::new();
        for (whose, api, agent) in
            [(Whose::Own, &api, &own), (Whose::Sibling, &api, &sibling), (Whose::Foreign, &foreign, &abroad)]
        {
            let body = json!({ "agent_id": agent, "requires_approval": "writes" });
            asking.push((whose, server.client(&key(api, body).await.1)));
        }
        api.patch(format!("/v1/agents/{paused}")).json(json!({ "status": "paused" })).await.expect(200);
        let (expires, engines) = (shifted(&now(&api).await, 14), String::new());
        Self { server, api, foreign, callers, asking, own, sibling, paused, abroad, engines, expires, made: 0 }
    }

    /// A world with every caller.
    pub(crate) async fn of_everybody(database: Database) -> Self {
        let mut world = Self::of_keys(database).await;
        let Self { server, api, own, .. } = &world;
        let mut callers = Vec::new();
        let session = owner(server, ORG).await;
        for (who, role) in [(Who::Admin, "admin"), (Who::Member, "member"), (Who::Viewer, "viewer")] {
            callers.push((who, member(server, &session, &format!("{role}@{role}.example"), role).await.1));
        }
        callers.push((Who::Owner, session));
        for who in [Who::OwnFreebusy, Who::OwnDirectory, Who::OwnHolds, Who::OwnAll] {
            let body = json!({ "agent_id": own, "scopes": scopes_of(who) });
            callers.push((who, server.client(&key(api, body).await.1)));
        }
        let (id, revoked) = key(api, json!({ "agent_id": own })).await;
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
        let human = Human::sign_up(server, HUMAN).await;
        server.cli(&["org", "set-plan", &human.org, "free", "--limits", limits]).await.succeeded();
        callers.extend([
            (Who::Sandbox, sandbox),
            (Who::Revoked, server.client(&revoked)),
            (Who::Waitlisted, waitlisted),
            (Who::Garbage, server.client("svc_sk_garbage")),
            (Who::Session, server.client(&human.token)),
            (Who::Nobody, server.anonymous()),
        ]);
        world.callers.extend(callers);
        world.engines = human.org;
        world
    }

    /// The client of that caller.
    pub(crate) fn caller(&self, who: Who) -> &Client {
        self.callers.iter().find(|(known, _)| *known == who).map(|(_, client)| client).unwrap()
    }

    /// Replaces the client of the caller's own key.
    pub(crate) fn let_own_be(&mut self, client: &Client) {
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
    pub(crate) async fn things(&mut self, operation: &Operation, whose: Whose) -> Things {
        let about = operation.about();
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
                // A test looks up the address of the endpoint, which takes long.
                if operation.path.contains("/deliveries") {
                    let tested = api.post(format!("/v1/webhooks/{webhook}/test")).await.expect(200);
                    delivery = tested["delivery"]["id"].as_str().unwrap().to_owned();
                }
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

    /// Calls the operation as that caller, about these things.
    pub(crate) async fn ask(&mut self, operation: &Operation, who: Who, things: &Things) -> Answer {
        let (start, end) = self.span();
        let body = body(&operation.id, things, (&start, &end), &self.expires, self.made);
        let mut caller = self.caller(who).clone();
        let mut path = operation.path.clone();
        if who == Who::Session && operation.about() == About::Console {
            let mut org = self.engines.clone();
            if operation.method != Method::GET {
                // Some of these end the session or change the password, so each is sent by a new user.
                let human = Human::sign_up(&self.server, &format!("human@domain-{}.example", self.made)).await;
                caller = self.server.client(&human.token);
                org = human.org;
            }
            path = path.replace("/orgs/{id}/", &format!("/orgs/{org}/"));
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

/// The identifier and the text of a new key.
async fn key(api: &Client, body: Value) -> (String, String) {
    let made = api.post("/v1/keys").json(body).await.expect(201);
    (made.id(), made["key"].as_str().unwrap().to_owned())
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
        "createConnectionLink" | "startCalendarConnection" | "connectExample" => json!({}),
        "connectCaldav" => json!({ "url": "https://10.0.0.1", "username": "ada", "password": "secret" }),
        "replaceDrawing" => json!({ "calendars": [{ "name": "Work", "busy": [] }] }),
        "openConnectionLink" => json!({ "token": "nobody-s" }),
        "createAvailabilityGrant" => {
            json!({ "external_calendar_ids": [format!("xcl_{NOBODY}")], "audience": "all" })
        }
        "putExternalDestination" => json!({ "external_calendar_id": format!("xcl_{NOBODY}") }),
        "createProposal" => proposing(&things.agent, &[&things.agent], &things.calendar, (start, end)),
        "respondToProposal" => json!({ "agent_id": things.agent, "response": "decline" }),
        "createScopedKey" | "createScopedKeyFromConsole" => json!({ "agent_id": things.agent }),
        _ => return None,
    })
}

/// The scopes of a key.
pub(crate) fn scopes_of(who: Who) -> &'static [&'static str] {
    match who {
        Who::OwnFreebusy => &["freebusy:org"],
        Who::OwnDirectory => &["directory:org"],
        Who::OwnHolds => &["holds:org"],
        Who::OwnAll => &["freebusy:org", "directory:org", "holds:org"],
        _ => &[],
    }
}
