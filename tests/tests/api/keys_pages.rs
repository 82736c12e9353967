//! The pages about keys, by their forms.

use kalends_e2e::{Client, Database, Server};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Value, json};

use crate::{
    claims::text,
    console::Human,
    fixtures::{agent, wait_until},
    members::member,
    on_both,
    pages::{HOSTILE, Pages, hidden},
};

const ADA: &str = "ada@example.com";
const LIST: &str = "/console/keys";
const NEW: &str = "/console/keys/new";
const REPLACE: &str = "/console/keys/replace";
const EVIL: &str = "https://evil.example";
const SWITCHED: &str = "You switched to another organization in another tab";
const NOT_INCLUDED: &str = "Your plan does not include keys of agents.";
const ROLE: &str = "Your role does not allow this.";

/// A server on which everybody who signs up gets a plan with keys of agents.
async fn server_with_keys(database: Database) -> Server {
    Server::start_with(database, &[("KALENDS_SIGNUP_PLAN", "pro")]).await
}

/// Puts the organization of a user on the plan `pro` with these limits.
async fn set_plan(server: &Server, human: &Human, limits: &str) {
    server.cli(&["org", "set-plan", &human.org, "pro", "--limits", limits]).await.succeeded();
    let api = server.client(&human.key);
    wait_until(|| async { api.get("/v1/agents").await }, |answer| answer.header("x-service-plan") == "pro").await;
}

async fn signed_in<'a>(server: &'a Server, email: &str) -> Pages<'a> {
    let mut pages = Pages::new(server);
    pages.sign_in(email).await;
    pages
}

/// The keys of agents in force.
async fn keys(api: &Client) -> Vec<Value> {
    api.get("/v1/keys").await.expect(200)["keys"].as_array().unwrap().clone()
}

/// The fields of a form that creates a key without a label.
fn creating<'a>(org: &'a str, agent: &'a str, once: &'a str) -> [(&'a str, &'a str); 3] {
    [("org", org), ("agent_id", agent), ("once", once)]
}

/// The key on the page that shows it once.
fn new_key(page: &str) -> String {
    let (_, rest) = page.split_once("<pre><code data-copy=\"the key\">").unwrap();
    rest.split('<').next().unwrap().to_owned()
}

#[apply(on_both)]
#[tokio::test]
async fn a_key_is_created_and_revoked_by_forms(#[case] database: Database) {
    let mut server = server_with_keys(database).await;
    let ada = Human::sign_up(&server, ADA).await;
    let api = server.client(&ada.key);
    let body = json!({ "name": HOSTILE, "type": "ai" });
    let agent = api.post("/v1/agents").json(body).await.expect(201).id();
    let agent_page = format!("/console/agents/{agent}");
    let mut pages = Pages::new(&server);
    for path in [LIST, NEW] {
        pages.open(path).await.asks_to_sign_in();
    }
    pages.sign_in(ADA).await;
    let empty = pages.open(LIST).await.says(200, "There are no keys of agents yet.");
    assert!(empty.text.contains(&ada.key[..20]) && !empty.text.contains(&ada.key), "{}", empty.text);
    pages.open(&agent_page).await.says(200, "It has no keys.");
    let form = pages.open(&format!("{NEW}?agent={agent}")).await.says(200, "Create the key");
    assert!(form.text.contains(&format!("value=\"{agent}\" selected")), "{}", form.text);
    let (org, once) = (hidden(&form.text, "org"), hidden(&form.text, "once"));

    // A refused form keeps what was typed, and names the problem beside the field.
    let long = "x".repeat(101);
    let scope = ("scopes", "freebusy:org");
    let fields = |agent, label| [("org", &*org), ("once", &*once), ("agent_id", agent), ("label", label), scope];
    let wrong = pages.send(LIST, &fields(&agent, &long)).await.says(400, "id=\"label-problem\"");
    assert!(wrong.text.contains(&format!("value=\"{long}\"")) && wrong.text.contains("selected"), "{}", wrong.text);
    assert!(wrong.text.contains("value=\"freebusy:org\" checked"), "{}", wrong.text);
    let mut unknown = fields(&agent, "");
    unknown[4].1 = "events:org";
    pages.send(LIST, &unknown).await.says(400, "id=\"scopes-problem\"");
    pages.send(LIST, &fields("agt_nobody", HOSTILE)).await.says(404, "There is no such agent any more.");
    let fields = fields(&agent, HOSTILE);
    assert_eq!(pages.send_from(EVIL, LIST, &fields).await.status, 403);
    pages.send(LIST, &fields[1..]).await.says(409, SWITCHED);
    assert_eq!(keys(&api).await, [] as [Value; 0]);

    // A double click.
    let made = pages.send(LIST, &fields).await.says(200, "Your new key");
    let again = pages.send(LIST, &fields).await.says(200, "Your new key");
    let key = new_key(&made.text);
    assert_eq!(new_key(&again.text), key);
    for part in [format!("{}/mcp", server.base_url()), format!("Bearer {key}"), "curl -H ".to_owned()] {
        assert!(made.text.contains(&part), "no {part} in {}", made.text);
    }
    let listed = pages.open(LIST).await.says(200, "<dt>Last used</dt><dd>no use recorded</dd>");
    assert!(listed.text.contains("<dt>Scopes</dt><dd>freebusy:org</dd>"), "{}", listed.text);
    let [known]: [Value; 1] = keys(&api).await.try_into().unwrap();
    assert_eq!((&known["label"], &known["created_by"]), (&json!(HOSTILE), &json!(ada.user[..20])));
    assert_eq!((&known["key_prefix"], &known["scopes"]), (&json!(key[..20]), &json!(["freebusy:org"])));
    pages.open(&agent_page).await.says(200, "It has 1 key.");

    server.client(&key).get("/v1/calendars").await.expect(200);
    server.restart().await;
    let api = server.client(&ada.key);
    let mut pages = signed_in(&server, ADA).await;
    let used = pages.open(LIST).await.says(200, "<dt>Created by</dt><dd>ada@example.com</dd>");
    assert!(!used.text.contains("no use recorded") && used.text.contains(" (UTC)</dd>"), "{}", used.text);
    assert!(!used.text.contains(&key), "a key is shown once");
    pages.open(&format!("{LIST}?agent={agent}")).await.says(200, "Keys of ");
    pages.open(&format!("{LIST}?agent=agt_nobody")).await.says(404, "There is no such agent any more.");

    let revoke = format!("{LIST}/{}/revoke", text(&known["id"]));
    let asked = pages.open(&revoke).await.says(200, "Revoke this key?");
    assert!(asked.text.contains(&key[..20]) && asked.text.contains(&revoke), "{}", asked.text);
    let form = [("org", &*org)];
    assert_eq!(pages.send_from(EVIL, &revoke, &form).await.status, 403);
    pages.send(&revoke, &[]).await.says(409, SWITCHED);
    assert_eq!(keys(&api).await.len(), 1);
    pages.send(&revoke, &form).await.leads_to("/console/keys?done=revoked");
    pages.open("/console/keys?done=revoked").await.says(200, "Revoked.");
    server.client(&key).get("/v1/calendars").await.refused(401, "unauthorized");
    // A double click.
    pages.send(&revoke, &form).await.leads_to("/console/keys?done=gone");
    pages.open("/console/keys?done=gone").await.says(200, "It is not there any more.");
    pages.open(&revoke).await.says(404, "There is no such key any more.");
    pages.open(&format!("{LIST}/x/revoke")).await.says(404, "There is no such key any more.");

    // The organization's own key is replaced, once for a double click.
    pages.open(LIST).await.says(200, "Replace the key");
    let asked = pages.open(REPLACE).await.says(200, "Programs that use the old key are refused at once.");
    assert!(asked.text.contains(&ada.key[..20]), "{}", asked.text);
    let once = hidden(&asked.text, "once");
    let form = [("org", &*org), ("once", &*once)];
    assert_eq!(pages.send_from(EVIL, REPLACE, &form).await.status, 403);
    pages.send(REPLACE, &form[1..]).await.says(409, SWITCHED);
    api.get("/v1/agents").await.expect(200);
    let made = pages.send(REPLACE, &form).await.says(200, "The organization’s new key");
    let again = pages.send(REPLACE, &form).await.says(200, "The organization’s new key");
    let key = new_key(&made.text);
    assert_eq!(new_key(&again.text), key);
    api.get("/v1/agents").await.refused(401, "unauthorized");
    server.client(&key).get("/v1/agents").await.expect(200);
    let list = pages.open(LIST).await.says(200, &key[..20]);
    assert!(!list.text.contains(&key) && !list.text.contains(&ada.key[..20]), "{}", list.text);
}

#[apply(on_both)]
#[tokio::test]
async fn roles_decide_who_sees_and_changes_keys(#[case] database: Database) {
    let server = server_with_keys(database).await;
    let ada = Human::sign_up(&server, ADA).await;
    let owner = server.client(&ada.token);
    let agent = agent(&server.client(&ada.key)).await;
    let made = owner.post("/v1/keys").json(json!({ "agent_id": agent })).await.expect(201);
    let (prefix, revoke) = (text(&made["key_prefix"]), format!("{LIST}/{}/revoke", made.id()));
    let agent_page = format!("/console/agents/{agent}");
    let roles = [
        ("bob@example.com", "admin", true),
        ("eve@example.com", "member", false),
        ("joan@example.com", "viewer", false),
    ];
    for (email, role, may) in roles {
        member(&server, &owner, email, role).await;
        let mut pages = signed_in(&server, email).await;
        pages.send(&format!("/console/orgs/{}/switch", ada.org), &[]).await.leads_to("/console");
        let list = pages.open(LIST).await.says(200, &prefix);
        let offered = [NEW, REPLACE, &revoke].map(|path| list.text.contains(path));
        assert_eq!(offered, [may; 3], "{role}");
        let seen = pages.open(&agent_page).await.says(200, "It has 1 key.");
        assert_eq!(seen.text.contains(NEW), may, "{role}");
        if may {
            let form = pages.open(NEW).await.says(200, "Create the key");
            let once = hidden(&form.text, "once");
            pages.send(LIST, &creating(&ada.org, &agent, &once)).await.says(200, "Your new key");
            let more = keys(&owner).await.pop().unwrap();
            let revoke = format!("{LIST}/{}/revoke", text(&more["id"]));
            pages.send(&revoke, &[("org", &*ada.org)]).await.leads_to("/console/keys?done=revoked");
        } else {
            for path in [NEW, REPLACE, &revoke] {
                pages.open(path).await.says(403, ROLE);
            }
            assert_eq!(pages.send(REPLACE, &[("org", &*ada.org)]).await.status, 403, "{role}");
            assert_eq!(pages.send(LIST, &creating(&ada.org, &agent, "")).await.status, 403, "{role}");
            assert_eq!(pages.send(&revoke, &[("org", &*ada.org)]).await.status, 403, "{role}");
        }
        assert_eq!(keys(&owner).await.len(), 1, "{role}");
    }

    // A member of another organization finds nothing of it, and nobody gets in without a session.
    let grace = Human::sign_up(&server, "grace@example.com").await;
    let mut pages = signed_in(&server, &grace.email).await;
    let list = pages.open(LIST).await.says(200, "There are no keys of agents yet.");
    assert!(!list.text.contains(&prefix), "{}", list.text);
    pages.open(&format!("{LIST}?agent={agent}")).await.says(404, "There is no such agent any more.");
    pages.open(&format!("{NEW}?agent={agent}")).await.says(200, "There is no active agent.");
    pages.open(&revoke).await.says(404, "There is no such key any more.");
    let fields = [("org", &*grace.org), ("agent_id", &*agent)];
    pages.send(LIST, &fields).await.says(404, "There is no such agent any more.");
    pages.send(&revoke, &fields[..1]).await.leads_to("/console/keys?done=gone");
    let theirs = [("org", &*ada.org), fields[1]];
    pages.send(LIST, &theirs).await.says(409, SWITCHED);
    pages.send(&revoke, &theirs[..1]).await.says(409, SWITCHED);
    let mut pages = Pages::new(&server);
    for path in [LIST, NEW, &revoke] {
        pages.open(path).await.asks_to_sign_in();
    }
    for path in [LIST, &revoke] {
        pages.send(path, &theirs).await.says(401, "Your session has ended");
    }
    assert_eq!(keys(&owner).await.len(), 1);
}

#[apply(on_both)]
#[tokio::test]
async fn a_plan_can_have_no_keys_of_agents_or_a_limit(#[case] database: Database) {
    let server = Server::start(database).await;
    let ada = Human::sign_up(&server, ADA).await;
    let agent = agent(&server.client(&ada.key)).await;
    let mut pages = signed_in(&server, ADA).await;
    let list = pages.open(LIST).await.says(200, NOT_INCLUDED);
    assert!(list.text.contains(&ada.key[..20]) && !list.text.contains(NEW), "{}", list.text);
    pages.open(&format!("/console/agents/{agent}")).await.says(200, NOT_INCLUDED);
    pages.open(NEW).await.says(403, NOT_INCLUDED);
    pages.send(LIST, &creating(&ada.org, &agent, "")).await.says(403, NOT_INCLUDED);

    set_plan(&server, &ada, r#"{"scoped_keys":1}"#).await;
    let api = server.client(&ada.key);
    for (status, says) in [(200, "Your new key"), (429, "limit of keys of agents is 1.")] {
        let form = pages.open(NEW).await.says(200, "Create the key");
        let once = hidden(&form.text, "once");
        pages.send(LIST, &creating(&ada.org, &agent, &once)).await.says(status, says);
    }
    assert_eq!(keys(&api).await.len(), 1);

    // A paused agent is not offered, except on the way from its own page.
    api.patch(format!("/v1/agents/{agent}")).json(json!({ "status": "paused" })).await.expect(200);
    pages.open(NEW).await.says(200, "There is no active agent.");
    pages.open(&format!("{NEW}?agent={agent}")).await.says(200, " selected>");
    pages.open(LIST).await.says(200, "Only reads, while its agent is paused");
}

#[apply(on_both)]
#[tokio::test]
async fn many_keys_are_shown_page_by_page(#[case] database: Database) {
    let server = Server::start(database).await;
    let ada = Human::sign_up(&server, ADA).await;
    let api = server.client(&ada.key);
    let agent = agent(&api).await;
    set_plan(&server, &ada, r#"{"scoped_keys":51,"rate_per_second":1000}"#).await;
    for number in 1..=51 {
        let body = json!({ "agent_id": agent, "label": format!("key {number}.") });
        api.post("/v1/keys").json(body).await.expect(201);
    }
    let mut pages = signed_in(&server, ADA).await;
    let first = pages.open(LIST).await.says(200, "1–50 of 51");
    assert!(first.text.contains(">key 50.<") && !first.text.contains(">key 51.<"), "{}", first.text);
    let last = pages.open(&format!("{LIST}?agent={agent}&offset=50")).await.says(200, "51–51 of 51");
    assert!(last.text.contains(">key 51.<") && !last.text.contains(">key 50.<"), "{}", last.text);
    pages.open(&format!("{LIST}?offset=100")).await.says(200, "Nothing here: the list has 51 entries");
}
