//! The console's pages about agents, by their forms.

use kalends_e2e::{Client, Database, Server};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::json;

use crate::{
    claims::text,
    console::Human,
    members::member,
    on_both,
    pages::{HOSTILE, Pages, hidden},
};

const LIST: &str = "/console/agents";
/// The plan has no limit of speed.
const SETTINGS: &[(&str, &str)] = &[("KALENDS_SIGNUP_PLAN", "custom")];
const NEW: &str = "/console/agents/new";
const EVIL: &str = "https://evil.example";
const SWITCHED: &str = "You switched to another organization in another tab";

/// The text as the HTML of a page contains it.
fn escaped(text: &str) -> String {
    text.replace('"', "&#34;").replace('<', "&#60;").replace('>', "&#62;")
}

async fn total(owner: &Client) -> u64 {
    owner.get("/v1/agents").await.expect(200)["total"].as_u64().unwrap()
}

#[apply(on_both)]
#[tokio::test]
async fn an_owner_manages_agents_by_forms(#[case] database: Database) {
    let server = Server::start_with(database, SETTINGS).await;
    let ada = Human::sign_up(&server, "ada@example.com").await;
    let owner = server.client(&ada.token);
    let mut pages = Pages::new(&server);
    pages.open(LIST).await.leads_to("/console/sign-in?next=%2Fconsole%2Fagents");
    pages.sign_in(&ada.email).await;
    pages.open(LIST).await.says(200, "There are no agents yet.");

    let form = pages.open(NEW).await.says(200, "Create the agent");
    let (org, once) = (hidden(&form.text, "org"), hidden(&form.text, "once"));
    let fields =
        |name, kind, about| [("org", &*org), ("once", &*once), ("name", name), ("type", kind), ("description", about)];
    let blank = pages.send(LIST, &fields(" ", "human", HOSTILE)).await;
    let blank = blank.says(400, "aria-invalid=\"true\" aria-describedby=\"name-problem\"");
    assert!(blank.text.contains(&escaped(HOSTILE)), "what was typed stays: {}", blank.text);
    assert!(blank.text.contains("<option value=\"human\" selected>"), "{}", blank.text);
    let robot = pages.send(LIST, &fields("Ada", "robot", "")).await;
    robot.says(400, "Must be one of the choices; choose it again.");
    let long = "x".repeat(256);
    pages.send(LIST, &fields(&long, "ai", "")).await.says(400, &long);
    let complete = fields(HOSTILE, "ai", HOSTILE);
    assert_eq!(pages.send_from(EVIL, LIST, &complete).await.status, 403);
    pages.send(LIST, &complete[1..]).await.says(409, SWITCHED);
    assert_eq!(total(&owner).await, 0);
    // A double click.
    let mut created = Vec::new();
    for _ in 0..2 {
        created.push(pages.send(LIST, &complete).await.location);
    }
    let agent = text(&owner.get("/v1/agents").await.expect(200).data()[0]["id"]);
    let shown = format!("{LIST}/{agent}");
    assert_eq!((total(&owner).await, created), (1, vec![format!("{shown}?done=created"); 2]));
    pages.open(LIST).await.says(200, &escaped(HOSTILE));
    let page = pages.open(&format!("{shown}?done=created")).await.says(200, "Created.");
    assert!(page.text.contains(&agent), "{}", page.text);

    // Two tabs: the second one sees what the first one changed, and decides.
    let change = |(version, once), name, about| {
        let was = [("was_name", HOSTILE), ("was_description", HOSTILE)];
        let sent = [("org", &*org), ("version", version), ("once", once), ("name", name), ("description", about)];
        [&was[..], &sent[..]].concat()
    };
    let tab = |text: &str| (hidden(text, "version"), hidden(text, "once"));
    let (version, first) = tab(&page.text);
    let (_, second) = tab(&pages.open(&shown).await.text);
    // The first tab is sent twice, as by a double click.
    for _ in 0..2 {
        let sent = change((&version, &first), "Scout", "One\r\ntwo");
        pages.send(&shown, &sent).await.leads_to(&format!("{shown}?done=saved"));
    }
    let now = owner.get(format!("/v1/agents/{agent}")).await.expect(200);
    assert_eq!((&now["name"], &now["description"]), (&json!("Scout"), &json!("One\ntwo")));
    // A refused form keeps its version, so that it replaces nothing that its tab has not shown.
    let refused = pages.send(&shown, &change((&version, &second), "", "Mine")).await.says(400, "name-problem");
    let (kept, second) = tab(&refused.text);
    assert_eq!(kept, version);
    let stale = pages.send(&shown, &change((&version, &second), "Lookout", "Mine")).await;
    let stale = stale.says(412, "The agent has changed since you opened this page.");
    assert!(stale.text.contains("<h1>Scout</h1>") && stale.text.contains("value=\"Lookout\""), "{}", stale.text);
    let (version, once) = tab(&stale.text);
    let again = pages.send(&shown, &change((&version, &once), "", "Mine")).await.says(400, "name-problem");
    assert!(again.text.contains(">\nMine</textarea>"), "{}", again.text);
    pages.send(&shown, &change(("", &once), "Lookout", "Mine")).await.says(412, "Save again to apply your changes");
    pages.send(&shown, &change((&version, &once), "Lookout", "Mine")).await.leads_to(&format!("{shown}?done=saved"));
    let now = owner.get(format!("/v1/agents/{agent}")).await.expect(200);
    assert_eq!((&now["name"], &now["description"]), (&json!("Lookout"), &json!("Mine")));

    // A field that this tab does not touch stays what the other tab has made it, also if the form is sent again.
    let page = pages.open(&shown).await.says(200, "name=\"was_name\" value=\"Lookout\"");
    owner.patch(format!("/v1/agents/{agent}")).json(json!({ "description": "Theirs" })).await.expect(200);
    let tab = |text: &str, about| {
        let hidden = |name| (name, hidden(text, name));
        let fields = ["org", "version", "once", "was_name", "was_description"].map(hidden);
        [&fields[..], &[("name", "Watch".to_owned()), ("description", about)]].concat()
    };
    let sent = tab(&page.text, "Mine".to_owned());
    let sent: Vec<_> = sent.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let stale = pages.send(&shown, &sent).await.says(412, ">\nTheirs</textarea>");
    assert!(stale.text.contains("value=\"Watch\""), "what was typed stays: {}", stale.text);
    let sent = tab(&stale.text, "Theirs".to_owned());
    let sent: Vec<_> = sent.iter().map(|(name, value)| (*name, value.as_str())).collect();
    pages.send(&shown, &sent).await.leads_to(&format!("{shown}?done=saved"));
    let now = owner.get(format!("/v1/agents/{agent}")).await.expect(200);
    assert_eq!((&now["name"], &now["description"]), (&json!("Watch"), &json!("Theirs")));

    let act = |way: &str| format!("{shown}/{way}");
    for (way, status) in [("pause", "paused"), ("resume", "active")] {
        assert_eq!(pages.send_from(EVIL, &act(way), &[("org", &org)]).await.status, 403);
        for _ in 0..2 {
            let done = format!("{shown}?done={way}d");
            pages.send(&act(way), &[("org", &org)]).await.leads_to(&done);
        }
        assert_eq!(owner.get(format!("/v1/agents/{agent}")).await.expect(200)["status"], status);
        pages.open(&act(way)).await.leads_to(&shown);
    }
    let log = owner.get("/v1/audit-log?action=agent.update").await.expect(200).data();
    assert_eq!(log.len(), 6, "three forms, a change by the API, a pause and a resume: {log:?}");
    // Whatever is in the address, its forms lead back to a page.
    pages.open(&format!("{LIST}/%0Aset-cookie:%20a=b/pause")).await.leads_to(&format!("{LIST}/%0Aset-cookie%3A+a%3Db"));
    let calendar = json!({ "name": "Desk", "timezone": "Europe/Rome" });
    owner.post(format!("/v1/agents/{agent}/calendars")).json(calendar).await.expect(201);
    pages.open(&shown).await.says(200, "Europe/Rome");
    let asked = pages.open(&act("decommission")).await.says(200, "its calendars (1) disappear");
    owner.patch(format!("/v1/agents/{agent}")).json(json!({ "description": "In use" })).await.expect(200);
    let version = hidden(&asked.text, "version");
    let sent = pages.send(&act("decommission"), &[("org", &org), ("version", &version)]).await;
    let asked = sent.says(412, "The agent has changed since you opened this page.");
    let version = hidden(&asked.text, "version");
    for _ in 0..2 {
        let done = format!("{shown}?done=decommissioned");
        pages.send(&act("decommission"), &[("org", &org), ("version", &version)]).await.leads_to(&done);
    }
    let gone = pages.open(&shown).await.says(200, "Decommissioned: its calendars and keys are gone");
    assert!(!gone.text.contains("<button class=\"primary\">"), "nothing is left to change: {}", gone.text);
    pages.send(&act("pause"), &[("org", &org)]).await.says(409, "That could not be done");
    for missing in [format!("{LIST}/agt_01jn8r6v9ke0bt3m5qz2c7xwdh"), format!("{LIST}/x/decommission")] {
        pages.open(&missing).await.says(404, "There is no such agent any more.");
    }
}

#[apply(on_both)]
#[tokio::test]
async fn each_role_sees_what_it_may_do(#[case] database: Database) {
    let server = Server::start_with(database, SETTINGS).await;
    let ada = Human::sign_up(&server, "ada@example.com").await;
    let owner = server.client(&ada.token);
    let agent = owner.post("/v1/agents").json(json!({ "name": "Scout", "type": "ai" })).await.expect(201).id();
    let shown = format!("{LIST}/{agent}");
    for role in ["admin", "member", "viewer"] {
        let (human, _) = member(&server, &owner, &format!("{role}@example.com"), role).await;
        let mut pages = Pages::new(&server);
        pages.sign_in(&human.email).await;
        pages.send(&format!("/console/orgs/{}/switch", ada.org), &[("next", LIST)]).await;
        let (list, page) = (pages.open(LIST).await, pages.open(&shown).await.says(200, "Scout"));
        let fields = [("org", &*ada.org), ("once", "a-key-that-nobody-guesses"), ("name", role), ("type", "ai")];
        let (new, created) = (pages.open(NEW).await, pages.send(LIST, &fields).await);
        let asked = pages.open(&format!("{shown}/decommission")).await;
        let paused = pages.send(&format!("{shown}/pause"), &fields[..1]).await;
        let offered = [list.text.contains(NEW), page.text.contains("/pause\""), page.text.contains("/decommission\"")];
        let answers = [new.status, created.status, asked.status, paused.status];
        if role == "viewer" {
            assert_eq!((offered, answers), ([false; 3], [403; 4]), "{role}");
            new.says(403, "Your role does not allow this.");
        } else {
            assert_eq!((offered, answers), ([true; 3], [200, 303, 200, 303]), "{role}");
        }
    }
    // Somebody of another organization finds none of it.
    let eve = Human::sign_up(&server, "eve@example.com").await;
    let mut pages = Pages::new(&server);
    pages.sign_in(&eve.email).await;
    pages.open(LIST).await.says(200, "There are no agents yet.");
    pages.open(&shown).await.says(404, "There is no such agent any more.");
    let form = [("org", &*eve.org)];
    pages.send(&format!("{shown}/pause"), &form).await.says(404, "There is no such agent any more.");
    pages.send(&format!("{shown}/pause"), &[("org", &ada.org)]).await.says(409, SWITCHED);
    assert_eq!(owner.get(format!("/v1/agents/{agent}")).await.expect(200)["status"], "paused");
}

#[apply(on_both)]
#[tokio::test]
async fn a_long_list_has_pages(#[case] database: Database) {
    let server = Server::start_with(database, SETTINGS).await;
    let ada = Human::sign_up(&server, "ada@example.com").await;
    let owner = server.client(&ada.token);
    for number in 0..51 {
        let body = json!({ "name": format!("Agent {number:02}"), "type": "resource" });
        owner.post("/v1/agents").json(body).await.expect(201);
    }
    let mut pages = Pages::new(&server);
    pages.sign_in(&ada.email).await;
    let first = pages.open(LIST).await.says(200, "1–50 of 51");
    assert!(first.text.contains("Agent 49") && !first.text.contains("Agent 50"), "{}", first.text);
    assert!(first.text.contains("href=\"/console/agents?offset=50\""), "{}", first.text);
    let last = pages.open(&format!("{LIST}?offset=50")).await.says(200, "51–51 of 51");
    assert!(last.text.contains("Agent 50") && !last.text.contains("Agent 49"), "{}", last.text);
    for nonsense in ["offset=-1", "offset=x", "offset=99999999999999", "done=%3Cscript%3E"] {
        pages.open(&format!("{LIST}?{nonsense}")).await.says(200, "1–50 of 51");
    }
}
