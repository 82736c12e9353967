//! The first run of the console, and new calendars, by their forms.

use kalends_e2e::{Client, Database, Server};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Value, json};

use crate::{
    console::Human,
    fixtures,
    members::member,
    on_both,
    pages::{HOSTILE, Pages, Seen, hidden},
};

const START: &str = "/console/start";
const TRY: &str = "/console/start/test";
const EVIL: &str = "https://evil.example";
const SWITCHED: &str = "You switched to another organization in another tab";
const OFFER: &str = "href=\"/console/start\"";

/// Puts the user's organization on that plan, with these limits of it and without an effective rate.
async fn on_plan(server: &Server, human: &Human, plan: &str, mut limits: Value) {
    limits["rate_per_second"] = json!(1_000);
    let limits = limits.to_string();
    server.cli(&["org", "set-plan", &human.org, plan, "--limits", &limits]).await.succeeded();
}

/// A browser in which the user is signed in.
async fn signed_in<'a>(server: &'a Server, human: &Human) -> Pages<'a> {
    let mut pages = Pages::new(server);
    pages.sign_in(&human.email).await;
    pages
}

/// The text of the element with that identifier, as a user copies it.
fn copied(page: &Seen, id: &str) -> String {
    let (_, rest) = page.text.split_once(&format!("id=\"{id}\">")).unwrap();
    let text = rest.split('<').next().unwrap();
    text.replace("&#34;", "\"").replace("&#39;", "'").replace("&#38;", "&")
}

/// The body of the event in the command on the page.
fn event_of(command: &str) -> Value {
    let (_, body) = command.split_once("--data '").unwrap();
    serde_json::from_str(body.strip_suffix('\'').unwrap()).unwrap()
}

/// The fields of the form of the first run.
fn naming<'a>(org: &'a str, once: &'a str, agent: &'a str, calendar: &'a str) -> [(&'static str, &'a str); 5] {
    [("org", org), ("once", once), ("agent", agent), ("calendar", calendar), ("timezone", "Europe/Berlin")]
}

/// How many agents, calendars and keys of agents there are.
async fn counted(api: &Client) -> (Value, Value, usize) {
    let agents = api.get("/v1/agents").await.expect(200)["total"].clone();
    let calendars = api.get("/v1/calendars").await.expect(200)["total"].clone();
    let keys = api.get("/v1/keys").await.expect(200)["keys"].as_array().unwrap().len();
    (agents, calendars, keys)
}

#[apply(on_both)]
#[tokio::test]
async fn a_user_sets_up_the_first_agent_by_forms(#[case] database: Database) {
    let server = Server::start(database).await;
    let ada = Human::sign_up(&server, "ada@example.com").await;
    on_plan(&server, &ada, "pro", json!({})).await;
    let api = server.client(&ada.key);
    let mut pages = signed_in(&server, &ada).await;
    pages.open("/console").await.says(200, OFFER);
    let form = pages.open(START).await.says(200, "value=\"Assistant\"");
    assert!(form.text.contains("<option value=\"UTC\" selected>"), "without scripts, the zone is UTC");
    let (org, once) = (hidden(&form.text, "org"), hidden(&form.text, "once"));

    // What is wrong is said beside its field, and what was typed is kept.
    let nameless = naming(&org, &once, "", "");
    let wrong = pages.send(START, &nameless).await.says(400, "id=\"agent-problem\"");
    assert!(wrong.text.contains("id=\"calendar-problem\"") && !wrong.text.contains("id=\"timezone-problem\""));
    assert!(wrong.text.contains("<option value=\"Europe/Berlin\" selected>"), "{}", wrong.text);
    let mars = [("org", &*org), ("once", &*once), ("agent", "Scout"), ("calendar", HOSTILE), ("timezone", HOSTILE)];
    let wrong = pages.send(START, &mars).await.says(400, "id=\"timezone-problem\"");
    assert!(wrong.text.contains("value=\"Scout\""), "{}", wrong.text);
    let fields = naming(&org, &once, "Scout", HOSTILE);
    assert_eq!(pages.send_from(EVIL, START, &fields).await.status, 403);
    pages.send(START, &fields[1..]).await.says(409, SWITCHED);
    assert_eq!(counted(&api).await, (json!(0), json!(0), 0));

    // A double click.
    let mut same = Pages::new(&server);
    same.cookies.clone_from(&pages.cookies);
    let (one, other) = tokio::join!(pages.send(START, &fields), same.send(START, &fields));
    let (one, other) = (one.says(201, "Your agent is ready"), other.says(201, "Your agent is ready"));
    let key = copied(&one, "key");
    assert!(key.starts_with("svc_ak_") && key == copied(&other, "key"), "{}", one.text);
    let later = pages.send(START, &fields).await.says(201, "Your agent is ready");
    assert_eq!(copied(&later, "key"), key);
    assert_eq!(counted(&api).await, (json!(1), json!(1), 1));
    for action in ["agent.create", "calendar.create", "key.create"] {
        let log = api.get(format!("/v1/audit-log?action={action}")).await.expect(200);
        let by: Vec<_> = log.data().iter().map(|entry| entry["actor_key_prefix"].clone()).collect();
        assert_eq!(by, [json!(ada.user[..20])], "{action}");
    }
    let again = pages.send(START, &naming(&org, &once, "Robin", "Work")).await;
    let again = again.says(422, "This form was sent before, with other names.");
    assert_ne!(hidden(&again.text, "once"), once);

    // The agent can be connected with what the page shows.
    let agent = server.client(&key);
    let calendars = agent.get("/v1/calendars").await.expect(200).data();
    assert_eq!((&calendars[0]["name"], &calendars[0]["timezone"]), (&json!(HOSTILE), &json!("Europe/Berlin")));
    let events = format!("/v1/calendars/{}/events", calendars[0]["id"].as_str().unwrap());
    let configuration: Value = serde_json::from_str(&copied(&one, "configuration")).unwrap();
    let tools = &configuration["mcpServers"]["kalends"];
    assert_eq!(tools["url"], format!("{}/mcp", server.base_url()));
    assert_eq!(tools["headers"]["Authorization"], format!("Bearer {key}"));
    let command = copied(&one, "command");
    assert!(command.starts_with(&format!("curl \"{}{events}\"", server.base_url())), "{command}");
    agent.post(&events).json(event_of(&command)).await.expect(201);

    // So can the session create an event. A double click creates one.
    let (once, calendar) = (hidden(&one.text, "once"), hidden(&one.text, "calendar"));
    let tries = [("org", &*org), ("once", &*once), ("calendar", &*calendar)];
    assert_eq!(pages.send_from(EVIL, TRY, &tries).await.status, 403);
    pages.send(TRY, &tries[1..]).await.says(409, SWITCHED);
    let (shown, same) = tokio::join!(pages.send(TRY, &tries), same.send(TRY, &tries));
    let (shown, same) = (shown.says(201, "It works"), same.says(201, "It works"));
    let event: Value = serde_json::from_str(&copied(&shown, "event")).unwrap();
    assert_eq!((&event["title"], copied(&same, "event")), (&json!("Kalends test"), copied(&shown, "event")));
    assert!(!shown.text.contains(&key), "the key is shown once");
    let (_, week) = shown.text.split_once("href=\"/console/calendar?").unwrap();
    let week = week.split('"').next().unwrap().replace("&#38;", "&");
    pages.open(&format!("/console/calendar?{week}")).await.says(200, "Kalends test");
    assert_eq!(agent.get(&events).await.expect(200)["total"], 2);
    assert_eq!(
        agent.get(format!("/v1/events/{}", event["id"].as_str().unwrap())).await.expect(200)["title"],
        "Kalends test"
    );
    pages.open(TRY).await.leads_to(START);
    let unknown = [tries[0], ("once", ""), ("calendar", HOSTILE)];
    pages.send(TRY, &unknown).await.says(404, "There is no such calendar any more.");

    // The first page no longer leads there.
    let first = pages.open("/console").await.says(200, "Ada");
    assert!(!first.text.contains(OFFER), "{}", first.text);
    for part in ["Agents</a></dt><dd>1</dd>", "href=\"/console/booking-pages/new\"", "href=\"/console/webhooks/new\""] {
        assert!(first.text.contains(part), "no {part} in {}", first.text);
    }
    pages.open(START).await.says(200, "Your organization has agents already.");
}

#[apply(on_both)]
#[tokio::test]
async fn a_first_run_that_stops_in_between_continues(#[case] database: Database) {
    let server = Server::start(database).await;
    let ada = Human::sign_up(&server, "ada@example.com").await;
    on_plan(&server, &ada, "pro", json!({ "calendars": 0 })).await;
    let mut pages = signed_in(&server, &ada).await;
    let form = pages.open(START).await.says(200, "Set up your first agent");
    let (org, once) = (hidden(&form.text, "org"), hidden(&form.text, "once"));
    let fields = naming(&org, &once, "Scout", "Work");

    let stopped = pages.send(START, &fields).await;
    let stopped = stopped.says(429, "The agent Scout was created. Its calendar and its key were not.");
    assert!(stopped.text.contains("Calendars: the limit of 0 is reached."), "{}", stopped.text);
    assert!(stopped.retry_after.parse::<i64>().is_ok_and(|seconds| seconds > 0));
    assert_eq!((hidden(&stopped.text, "once"), hidden(&stopped.text, "agent")), (once.clone(), "Scout".to_owned()));
    assert!(stopped.text.contains("value=\"Work\""), "{}", stopped.text);

    // The calendar that was not created may get another name.
    on_plan(&server, &ada, "pro", json!({ "scoped_keys": 0 })).await;
    let fields = naming(&org, &once, "Scout", "Travel");
    let stopped = pages.send(START, &fields).await;
    let stopped = stopped.says(429, "The agent Scout and its calendar Travel were created. The key was not.");
    assert_eq!(hidden(&stopped.text, "timezone"), "Europe/Berlin");

    on_plan(&server, &ada, "pro", json!({})).await;
    let ready = pages.send(START, &fields).await.says(201, "Your agent is ready");
    let api = server.client(&ada.key);
    assert_eq!(counted(&api).await, (json!(1), json!(1), 1));
    let own = server.client(&copied(&ready, "key")).get("/v1/calendars").await.expect(200);
    assert_eq!(own.column("name"), ["Travel"]);
}

#[apply(on_both)]
#[tokio::test]
async fn on_a_plan_without_keys_of_agents_the_organization_s_key_is_used(#[case] database: Database) {
    let server = Server::start(database).await;
    let ada = Human::sign_up(&server, "ada@example.com").await;
    on_plan(&server, &ada, "free", json!({})).await;
    let mut pages = signed_in(&server, &ada).await;
    let form = pages.open(START).await.says(200, "This creates an agent and its calendar.");
    let (org, once) = (hidden(&form.text, "org"), hidden(&form.text, "once"));
    let ready = pages.send(START, &naming(&org, &once, "Scout", "Work")).await.says(201, "Your agent is ready");
    assert!(!ready.text.contains("svc_ak_") && ready.text.contains("YOUR_KEY"), "{}", ready.text);
    let command = copied(&ready, "command");
    let events = format!("/v1/calendars/{}/events", hidden(&ready.text, "calendar"));
    assert!(command.contains(&events) && command.contains("Bearer YOUR_KEY"), "{command}");
    server.client(&ada.key).post(&events).json(event_of(&command)).await.expect(201);
}

#[apply(on_both)]
#[tokio::test]
async fn a_calendar_is_created_by_a_form(#[case] database: Database) {
    let server = Server::start(database).await;
    let ada = Human::sign_up(&server, "ada@example.com").await;
    on_plan(&server, &ada, "pro", json!({})).await;
    let api = server.client(&ada.key);
    let agent = fixtures::agent(&api).await;
    let (page, path) = (format!("/console/agents/{agent}"), format!("/console/agents/{agent}/calendars/new"));
    let mut pages = signed_in(&server, &ada).await;
    pages.open(&page).await.says(200, &format!("href=\"{path}\""));
    let form = pages.open(&path).await.says(200, "New calendar");
    let (org, once) = (hidden(&form.text, "org"), hidden(&form.text, "once"));
    let with = |name, zone| [("org", &*org), ("once", &*once), ("name", name), ("timezone", zone)];
    pages.send(&path, &with("", "Asia/Tokyo")).await.says(400, "<option value=\"Asia/Tokyo\" selected>");
    let wrong = pages.send(&path, &with("Work", "Mars")).await.says(400, "id=\"timezone-problem\"");
    assert!(wrong.text.contains("value=\"Work\""), "{}", wrong.text);
    let fields = with(HOSTILE, "Asia/Tokyo");
    assert_eq!(pages.send_from(EVIL, &path, &fields).await.status, 403);
    pages.send(&path, &fields[1..]).await.says(409, SWITCHED);
    // A double click.
    let mut same = Pages::new(&server);
    same.cookies.clone_from(&pages.cookies);
    let after = format!("{page}?done=created");
    let (one, other) = tokio::join!(pages.send(&path, &fields), same.send(&path, &fields));
    one.leads_to(&after);
    other.leads_to(&after);
    pages.open(&after).await.says(200, "Created.");
    let calendars = api.get(format!("/v1/agents/{agent}/calendars")).await.expect(200).data();
    assert_eq!(calendars.len(), 1);
    assert_eq!((&calendars[0]["name"], &calendars[0]["timezone"]), (&json!(HOSTILE), &json!("Asia/Tokyo")));

    // At the limit of the plan, the form says so.
    on_plan(&server, &ada, "pro", json!({ "calendars": 1 })).await;
    let more = [("org", &*org), ("once", ""), ("name", "More"), ("timezone", "UTC")];
    pages.send(&path, &more).await.says(429, "Calendars: the limit of 1 is reached.");
    // An agent of another organization is unknown, and a decommissioned one gets no calendars.
    let bob = Human::sign_up(&server, "bob@example.com").await;
    let mut theirs = signed_in(&server, &bob).await;
    theirs.open(&path).await.says(404, "There is no such agent any more.");
    let own = [("org", &*bob.org), ("once", ""), ("name", "Work"), ("timezone", "UTC")];
    theirs.send(&path, &own).await.says(404, "There is no such agent any more.");
    api.delete(format!("/v1/agents/{agent}")).await.expect(204);
    assert_eq!(pages.open(&path).await.status, 409);
    assert_eq!(pages.send(&path, &more).await.status, 409);
}

#[apply(on_both)]
#[tokio::test]
async fn a_role_decides_who_sets_up_agents_and_calendars(#[case] database: Database) {
    let server = Server::start(database).await;
    let ada = Human::sign_up(&server, "ada@example.com").await;
    on_plan(&server, &ada, "pro", json!({})).await;
    let owner = server.client(&ada.token);
    let mut nobody = Pages::new(&server);
    nobody.open(START).await.leads_to("/console/sign-in?next=%2Fconsole%2Fstart");
    let switch = format!("/console/orgs/{}/switch", ada.org);
    for (email, role) in [("bob@example.com", "admin"), ("eve@example.com", "member"), ("joan@example.com", "viewer")] {
        let (human, _) = member(&server, &owner, email, role).await;
        let mut pages = signed_in(&server, &human).await;
        pages.send(&switch, &[]).await.leads_to("/console");
        let may = role == "admin";
        let first = pages.open("/console").await.says(200, role);
        assert_eq!(first.text.contains(OFFER), may, "{role}");
        let form = pages.open(START).await;
        if may {
            form.says(200, "Set up your first agent");
        } else {
            form.says(403, "Your role does not allow this.");
            let fields = naming(&ada.org, "", "Scout", "Work");
            assert_eq!(pages.send(START, &fields).await.status, 403, "{role}");
        }
    }
    assert_eq!(counted(&owner).await, (json!(0), json!(0), 0));

    let agent = fixtures::agent(&owner).await;
    let path = format!("/console/agents/{agent}/calendars/new");
    let sign_in = format!("/console/sign-in?next={}", path.replace('/', "%2F"));
    nobody.open(&path).await.leads_to(&sign_in);
    let fields = [("org", &*ada.org), ("once", ""), ("name", "Work"), ("timezone", "UTC")];
    for (email, status) in [("eve@example.com", 303), ("joan@example.com", 403)] {
        let mut pages = Pages::new(&server);
        pages.sign_in(email).await;
        pages.send(&switch, &[]).await.leads_to("/console");
        assert_eq!(pages.open(&path).await.status, if status == 303 { 200 } else { 403 }, "{email}");
        assert_eq!(pages.send(&path, &fields).await.status, status, "{email}");
        let page = pages.open(&format!("/console/agents/{agent}")).await.says(200, "Ada");
        assert_eq!(page.text.contains(&path), status == 303, "{email}");
        let first = pages.open("/console").await.says(200, "Agents</a></dt><dd>1</dd>");
        assert_eq!(first.text.contains("/console/booking-pages/new"), status == 303, "{email}");
        assert!(!first.text.contains("/console/webhooks/new"), "{email}");
    }
    assert_eq!(owner.get("/v1/calendars").await.expect(200)["total"], 1);
}
