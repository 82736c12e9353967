//! The pages of approvals, by their forms, and the form of a key whose writes need approval.

use kalends_e2e::{Client, Database, Server};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Value, json};

use crate::{
    console::Human,
    fixtures::{agent_with_calendar, event, event_body},
    members::member,
    on_both,
    pages::{HOSTILE, Pages, hidden},
    proposals::time,
};

const WAITING: &str = "/console/waiting";
const APPROVALS: &str = "/console/approvals";
const KEYS: &str = "/console/keys";
const EVIL: &str = "https://evil.example";
const SWITCHED: &str = "You switched to another organization in another tab";
const DECIDED: &str = "This was already decided or cancelled, so nothing was changed.";
const GONE: &str = "There is no such approval in this organization.";
/// The plan has no limit of speed.
const SETTINGS: &[(&str, &str)] = &[("KALENDS_SIGNUP_PLAN", "custom")];

/// An agent with a calendar, and a client with its key, whose writes need approval.
pub(crate) struct Asker {
    pub(crate) key: Client,
    pub(crate) agent: String,
    pub(crate) calendar: String,
}

impl Asker {
    pub(crate) async fn of(server: &Server, api: &Client) -> Self {
        let (agent, calendar) = agent_with_calendar(api).await;
        let body = json!({ "agent_id": agent, "label": "Laptop", "requires_approval": "writes" });
        let key = api.post("/v1/keys").json(body).await.expect(201);
        Self { key: server.client(key["key"].as_str().unwrap()), agent, calendar }
    }

    /// Asks for an event, and returns the approval.
    pub(crate) async fn ask(&self, title: &str, clock: [&str; 2]) -> Value {
        let body = event_body(title, &time(clock[0]), &time(clock[1]));
        let asked = self.key.post(format!("/v1/calendars/{}/events", self.calendar)).json(body).await.expect(202);
        asked["approval"].clone()
    }
}

/// The identifier of an approval.
pub(crate) fn id(approval: &Value) -> String {
    approval["id"].as_str().unwrap().to_owned()
}

/// The page of an approval.
fn page_of(approval: &Value) -> String {
    format!("{APPROVALS}/{}", id(approval))
}

/// An approval as the API shows it now.
pub(crate) async fn read(api: &Client, approval: &Value) -> Value {
    api.get(format!("/v1/approvals/{}", id(approval))).await.expect(200).json
}

/// The number of events of a calendar.
async fn events(api: &Client, calendar: &str) -> usize {
    api.get(format!("/v1/calendars/{calendar}/events")).await.expect(200).data().len()
}

#[apply(on_both)]
#[tokio::test]
async fn a_write_is_approved_by_a_form(#[case] database: Database) {
    let server = Server::start_with(database, SETTINGS).await;
    let ada = Human::sign_up(&server, "ada@example.com").await;
    let owner = server.client(&ada.token);
    let asker = Asker::of(&server, &owner).await;
    let approval = asker.ask(HOSTILE, ["10:00", "10:30"]).await;
    let path = page_of(&approval);
    assert!(approval["decide_url"].as_str().unwrap().ends_with(&path), "{approval:#}");
    let mut pages = Pages::new(&server);
    let next = path.replace('/', "%2F");
    pages.open(&path).await.leads_to(&format!("/console/sign-in?next={next}"));
    pages.sign_in(&ada.email).await;

    let waiting = pages.open(WAITING).await.says(200, "<h2>Approvals</h2>");
    assert!(waiting.text.contains(&format!("href=\"{path}\"")), "{}", waiting.text);
    pages.open("/console").await.says(200, "Approvals waiting</a></dt><dd>1</dd>");
    pages.open(APPROVALS).await.says(200, &format!("href=\"{path}\""));
    pages.open(&format!("{APPROVALS}?status=denied")).await.says(200, "There are no such approvals.");
    let page = pages.open(&path).await.says(200, "Waits for a decision");
    let route = format!("POST /v1/calendars/{}/events", asker.calendar);
    let parts = [&*route, "createEvent", "Laptop, <code>svc_ak_", "&#60;script&#62;", "The day in the calendar"];
    for part in parts.into_iter().chain([&*format!("/console/agents/{}", asker.agent)]) {
        assert!(page.text.contains(part), "no {part}: {}", page.text);
    }

    let (approve, deny) = (format!("{path}/approve"), format!("{path}/deny"));
    let org = hidden(&page.text, "org");
    let form = [("org", &*org)];
    for way in [&approve, &deny] {
        pages.open(way).await.leads_to(&path);
        assert_eq!(pages.send_from(EVIL, way, &form).await.status, 403);
        pages.send(way, &[]).await.says(409, SWITCHED);
    }
    assert_eq!(
        (read(&owner, &approval).await["status"].clone(), events(&owner, &asker.calendar).await),
        (json!("pending"), 0)
    );
    // A double click.
    for _ in 0..2 {
        pages.send(&approve, &form).await.leads_to(&format!("{path}?done=approved"));
    }
    let page = pages.open(&format!("{path}?done=approved")).await.says(200, "Approved and done");
    for part in ["Approved.", "See the result", "/console/calendar/events/evt_", "ada@example.com, "] {
        assert!(page.text.contains(part), "no {part}: {}", page.text);
    }
    assert!(!page.text.contains("/approve\"") && !page.text.contains("/deny\""), "{}", page.text);
    assert_eq!(events(&owner, &asker.calendar).await, 1);
    pages.send(&deny, &form).await.says(409, DECIDED);
    pages.open(WAITING).await.says(200, "Nothing waits for you.");
    pages.open(&format!("{APPROVALS}?status=approved")).await.says(200, &format!("href=\"{path}\""));
    pages.open("/console/activity?action=approval.approve").await.says(200, &format!("href=\"{path}\""));
}

#[apply(on_both)]
#[tokio::test]
async fn a_denial_may_have_a_reason(#[case] database: Database) {
    let server = Server::start_with(database, SETTINGS).await;
    let ada = Human::sign_up(&server, "ada@example.com").await;
    let owner = server.client(&ada.token);
    let asker = Asker::of(&server, &owner).await;
    let mut pages = Pages::new(&server);
    pages.sign_in(&ada.email).await;
    let approval = asker.ask("Kick-off", ["10:00", "10:30"]).await;
    let path = page_of(&approval);
    let form = |reason| [("org", &*ada.org), ("reason", reason)];
    let long = "x".repeat(1_001);
    let wrong = pages.send(&format!("{path}/deny"), &form(&long)).await.says(400, "id=\"reason-problem\"");
    assert!(wrong.text.contains(&long), "what was typed stays: {}", wrong.text);
    for _ in 0..2 {
        pages.send(&format!("{path}/deny"), &form(HOSTILE)).await.leads_to(&format!("{path}?done=denied"));
    }
    let denied = read(&asker.key, &approval).await;
    assert_eq!((&denied["status"], &denied["reason"]), (&json!("denied"), &json!(HOSTILE)));
    pages.open(&path).await.says(200, "&#60;script&#62;");
    pages.send(&format!("{path}/approve"), &form("")).await.says(409, DECIDED);
    assert_eq!(events(&owner, &asker.calendar).await, 0);

    let silent = asker.ask("Retreat", ["12:00", "12:30"]).await;
    let path = page_of(&silent);
    pages.send(&format!("{path}/deny"), &form(" ")).await.leads_to(&format!("{path}?done=denied"));
    assert_eq!(read(&owner, &silent).await["reason"], Value::Null);

    // Somebody else decides first.
    let (_, ben) = member(&server, &owner, "ben@example.com", "member").await;
    let both = asker.ask("Review", ["14:00", "14:30"]).await;
    let path = page_of(&both);
    ben.post(format!("/v1/approvals/{}/deny", id(&both))).json(json!({})).await.expect(200);
    pages.send(&format!("{path}/deny"), &form("")).await.leads_to(&format!("{path}?done=decided-before"));
    let page = pages.open(&format!("{path}?done=decided-before")).await.says(200, "ben@example.com, ");
    assert!(page.text.contains("Somebody else had already decided."), "{}", page.text);
    pages.send(&format!("{path}/approve"), &form("")).await.says(409, DECIDED);
    let cancelled = asker.ask("Lunch", ["16:00", "16:30"]).await;
    asker.key.post(format!("/v1/approvals/{}/cancel", id(&cancelled))).await.expect(200);
    pages.send(&format!("{}/approve", page_of(&cancelled)), &form("")).await.says(409, DECIDED);
    pages.open(&page_of(&cancelled)).await.says(200, "<dd>Cancelled</dd>");
}

#[apply(on_both)]
#[tokio::test]
async fn a_write_that_cannot_be_made_says_why(#[case] database: Database) {
    let server = Server::start_with(database, SETTINGS).await;
    let ada = Human::sign_up(&server, "ada@example.com").await;
    let owner = server.client(&ada.token);
    let asker = Asker::of(&server, &owner).await;
    let mut pages = Pages::new(&server);
    pages.sign_in(&ada.email).await;
    let known = format!("/v1/events/{}", event(&owner, &asker.calendar, &time("10:00"), &time("10:30")).await);
    let approval = asker.key.patch(&known).json(json!({ "title": "Asked" })).await.expect(202)["approval"].clone();
    owner.patch(&known).json(json!({ "title": "Changed" })).await.expect(200);
    let path = page_of(&approval);
    pages.open(&path).await.says(200, "The event</a>");
    pages.send(&format!("{path}/approve"), &[("org", &ada.org)]).await.leads_to(&path);
    let page = pages.open(&path).await.says(200, "It was approved, but it failed, so nothing was changed.");
    assert!(page.text.contains("The resource has changed since the program asked."), "{}", page.text);
    assert_eq!(owner.get(&known).await.expect(200)["title"], "Changed");
    assert_eq!(read(&owner, &approval).await["status"], "failed");
}

#[apply(on_both)]
#[tokio::test]
async fn each_role_decides_or_only_looks(#[case] database: Database) {
    let server = Server::start_with(database, SETTINGS).await;
    let ada = Human::sign_up(&server, "ada@example.com").await;
    let owner = server.client(&ada.token);
    let asker = Asker::of(&server, &owner).await;
    for (role, clock) in [("admin", ["10:00", "10:30"]), ("member", ["12:00", "12:30"]), ("viewer", ["14:00", "14:30"])]
    {
        let approval = asker.ask(HOSTILE, clock).await;
        let path = page_of(&approval);
        let (human, _) = member(&server, &owner, &format!("{role}@example.com"), role).await;
        let mut pages = Pages::new(&server);
        pages.sign_in_to(&human.email, &ada.org).await;
        let waiting = pages.open(WAITING).await.says(200, &path);
        assert_eq!(waiting.text.contains("<h2>Approvals that others decide</h2>"), role == "viewer", "{role}");
        let page = pages.open(&path).await.says(200, "Waits for a decision");
        let shown = ["/approve\"", "/deny\"", "<h2>The request</h2>"].map(|part| page.text.contains(part));
        let sent = pages.send(&format!("{path}/approve"), &[("org", &ada.org)]).await;
        let denied = pages.send(&format!("{path}/deny"), &[("org", &ada.org)]).await;
        if role == "viewer" {
            assert_eq!((shown, sent.status, denied.status), ([false; 3], 403, 403), "{role}");
            assert_eq!(read(&owner, &approval).await["status"], "pending");
        } else {
            assert_eq!((shown, sent.status, denied.status), ([true; 3], 303, 409), "{role}");
            assert_eq!(read(&owner, &approval).await["status"], "approved");
        }
    }
    let approval = asker.ask(HOSTILE, ["16:00", "16:30"]).await;
    let path = page_of(&approval);
    let eve = Human::sign_up(&server, "eve@example.com").await;
    let mut others = Pages::new(&server);
    others.sign_in(&eve.email).await;
    others.open(&path).await.says(404, GONE);
    others.open(&format!("{APPROVALS}/x")).await.says(404, GONE);
    others.open(WAITING).await.says(200, "Nothing waits for you.");
    for way in ["approve", "deny"] {
        others.send(&format!("{path}/{way}"), &[("org", &eve.org)]).await.says(404, GONE);
        others.send(&format!("{path}/{way}"), &[("org", &ada.org)]).await.says(409, SWITCHED);
    }
    assert_eq!(read(&owner, &approval).await["status"], "pending");
}

#[apply(on_both)]
#[tokio::test]
async fn the_approvals_that_expire_first_are_shown_first(#[case] database: Database) {
    let server = Server::start_with(database, SETTINGS).await;
    let ada = Human::sign_up(&server, "ada@example.com").await;
    let owner = server.client(&ada.token);
    let asker = Asker::of(&server, &owner).await;
    let mut first = Vec::new();
    for minute in 0..20 {
        let [start, end] = [minute * 2, minute * 2 + 1].map(|minute| format!("10:{minute:02}"));
        first.push(page_of(&asker.ask("Kick-off", [&start, &end]).await));
    }
    let body = json!({
        "agent_id": asker.agent, "requires_approval": ["createEvent"], "approval_expires_in_minutes": 60
    });
    let key = owner.post("/v1/keys").json(body).await.expect(201);
    let hasty = Asker { key: server.client(key["key"].as_str().unwrap()), ..asker };
    let soon = page_of(&hasty.ask("Soon", ["12:00", "12:30"]).await);
    let mut pages = Pages::new(&server);
    pages.sign_in(&ada.email).await;
    let seen = pages.open(WAITING).await.says(200, "All pending approvals: 21");
    let at = |path: &str| seen.text.find(&format!("href=\"{path}\""));
    assert!(at(&soon).is_some() && at(&soon) < at(&first[0]), "{}", seen.text);
    assert!(at(&first[18]).is_some() && at(&first[19]).is_none(), "the last to expire is left out: {}", seen.text);
    let listed = pages.open(&format!("{APPROVALS}?status=pending")).await.says(200, "21 found");
    assert!(listed.text.contains(&first[19]), "{}", listed.text);
}

#[apply(on_both)]
#[tokio::test]
async fn a_key_whose_writes_need_approval_is_created_by_a_form(#[case] database: Database) {
    let server = Server::start_with(database, SETTINGS).await;
    let ada = Human::sign_up(&server, "ada@example.com").await;
    let owner = server.client(&ada.token);
    let (agent, _) = agent_with_calendar(&owner).await;
    let mut pages = Pages::new(&server);
    pages.sign_in(&ada.email).await;
    let page = pages.open(&format!("{KEYS}/new")).await.says(200, "Writes need approval");
    let once = hidden(&page.text, "once");
    let form = |covers, hours| {
        [
            ("org", &*ada.org),
            ("once", &*once),
            ("agent_id", &*agent),
            ("requires_approval", covers),
            ("approval_expires_in_hours", hours),
        ]
    };
    for hours in ["0", "169", "soon"] {
        let wrong = pages.send(KEYS, &form("writes", hours)).await.says(400, "approval_expires_in_hours-problem");
        assert!(wrong.text.contains("<option value=\"writes\" selected>"), "what was chosen stays: {}", wrong.text);
    }
    pages.send(KEYS, &form("reads", "2")).await.says(400, "id=\"requires_approval-problem\"");
    pages.send(KEYS, &form("writes", "2")).await.says(200, "Your new key");
    let listed = owner.get("/v1/keys").await.expect(200);
    let key = listed.at("/keys/0");
    assert_eq!((&key["requires_approval"], &key["approval_expires_in_minutes"]), (&json!("writes"), &json!(120)));
    pages.open(KEYS).await.says(200, "Writes wait up to 2 hours for approval");

    let page = pages.open(&format!("{KEYS}/new")).await.says(200, "<option value=\"\" selected>");
    let once = hidden(&page.text, "once");
    let free = [
        ("org", &*ada.org),
        ("once", &*once),
        ("agent_id", &*agent),
        ("requires_approval", ""),
        ("approval_expires_in_hours", "24"),
    ];
    pages.send(KEYS, &free).await.says(200, "Your new key");
    let listed = owner.get("/v1/keys").await.expect(200);
    assert_eq!(listed.at("/keys/1/requires_approval"), Value::Null);
}
