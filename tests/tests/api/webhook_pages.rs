//! The pages about webhooks and their deliveries, by their forms.

use kalends_e2e::{Behaviour, Client, Database, Receiver, Server};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Value, json};

use crate::{
    claims::text,
    console::Human,
    fixtures::agent,
    members::member,
    on_both,
    pages::{HOSTILE, Pages, Seen, hidden},
    webhook_deliveries::{all_are, deliveries},
};

const LIST: &str = "/console/webhooks";
const NEW: &str = "/console/webhooks/new";
const EVIL: &str = "https://evil.example";
const SWITCHED: &str = "You switched to another organization in another tab";
const NO_WEBHOOK: &str = "There is no such webhook any more.";

/// A service that may reach a receiver, an owner of an organization, and a client with the owner's session.
async fn scene(database: Database) -> (Server, Receiver, Human, Client) {
    let receiver = Receiver::start().await;
    let server = Server::start_with(database, &[("KALENDS_EGRESS_ALLOW", receiver.address())]).await;
    let ada = hurried(&server, "ada@example.com").await;
    let api = server.client(&ada.token);
    (server, receiver, ada, api)
}

/// Signs up a user whose organization may send many requests a second.
async fn hurried(server: &Server, email: &str) -> Human {
    let human = Human::sign_up(server, email).await;
    let limits = r#"{"rate_per_second":1000000}"#;
    server.cli(&["org", "set-plan", &human.org, "pro", "--limits", limits]).await.succeeded();
    human
}

/// Makes a webhook over the API, and returns its identifier.
async fn made(api: &Client, url: &str, events: &[&str]) -> String {
    api.post("/v1/webhooks").json(json!({ "url": url, "events": events })).await.expect(201).id()
}

async fn only(api: &Client) -> Value {
    let listed = api.get("/v1/webhooks").await.expect(200).data();
    assert_eq!(listed.len(), 1, "{listed:?}");
    listed[0].clone()
}

/// The secret that a page shows.
fn secret(page: &Seen) -> String {
    let (_, rest) = page.text.split_once("<code data-copy=\"the secret\">whsec_").unwrap();
    rest.split('<').next().unwrap().to_owned()
}

/// The numbers of delivered, failed, waiting and skipped deliveries on all days of the table.
fn totals(page: &Seen) -> [u64; 4] {
    let mut totals = [0; 4];
    for row in page.text.split("<tr>").filter(|row| row.contains("<th scope=\"row\"><time ")) {
        let cells = row.split("<td>").skip(1).map(|cell| cell.split('<').next().unwrap().parse::<u64>().unwrap());
        totals.iter_mut().zip(cells).for_each(|(total, cell)| *total += cell);
    }
    totals
}

#[apply(on_both)]
#[tokio::test]
async fn a_webhook_is_created_by_a_form(#[case] database: Database) {
    let (server, receiver, ada, api) = scene(database).await;
    let mut pages = Pages::new(&server);
    for path in [LIST, NEW] {
        pages.open(path).await.asks_to_sign_in();
    }
    pages.sign_in(&ada.email).await;
    pages.open(LIST).await.says(200, "There are no webhooks yet.");
    let form = pages.open(NEW).await.says(200, "value=\"*\" checked");
    let (org, once) = (hidden(&form.text, "org"), hidden(&form.text, "once"));
    let base = [("org", &*org), ("once", &*once)];

    let typed = format!("ftp://{HOSTILE}");
    let wrong = [&base[..], &[("url", &*typed), ("events", "event.created")]].concat();
    let again = pages.send(LIST, &wrong).await.says(400, "id=\"url-problem\"");
    for part in ["ftp://&#34;&#62;&#60;script&#62;", "value=\"event.created\" checked", "begin with https://"] {
        assert!(again.text.contains(part), "no {part} in {}", again.text);
    }
    let url = receiver.url("/hook");
    let none = [&base[..], &[("url", &*url)]].concat();
    pages.send(LIST, &none).await.says(400, "id=\"events-problem\"");
    let unknown = [&base[..], &[("url", &*url), ("events", HOSTILE)]].concat();
    pages.send(LIST, &unknown).await.says(400, "Must be one of event.created");
    let good = [&base[..], &[("url", &*url), ("events", "event.created"), ("events", "agent.created")]].concat();
    assert_eq!(pages.send_from(EVIL, LIST, &good).await.status, 403);
    assert_eq!(api.get("/v1/webhooks").await.expect(200)["total"], 0);

    // A double click.
    let first = pages.send(LIST, &good).await.says(200, "The webhook is created");
    let second = pages.send(LIST, &good).await.says(200, "The webhook is created");
    assert_eq!(secret(&first), secret(&second));
    let webhook = only(&api).await;
    assert_eq!((&webhook["url"], &webhook["events"]), (&json!(url), &json!(["event.created", "agent.created"])));
    let page = format!("{LIST}/{}", text(&webhook["id"]));
    assert!(first.text.contains(&format!("href=\"{page}\"")) && first.text.contains("/docs/use/webhooks"));
    for path in [LIST, &page] {
        let shown = pages.open(path).await.says(200, &url);
        assert!(!shown.text.contains("whsec_"), "the secret is shown once");
        assert!(shown.text.contains("event.created, agent.created"), "{}", shown.text);
    }
}

#[apply(on_both)]
#[tokio::test]
async fn a_webhook_is_changed_and_deleted_by_forms(#[case] database: Database) {
    let (server, receiver, ada, api) = scene(database).await;
    let url = receiver.url("/hook");
    let id = made(&api, &url, &["event.created"]).await;
    let page = format!("{LIST}/{id}");
    let mut pages = Pages::new(&server);
    pages.sign_in(&ada.email).await;
    let shown = pages.open(&page).await.says(200, "Active");
    let (org, version, once) =
        (hidden(&shown.text, "org"), hidden(&shown.text, "version"), hidden(&shown.text, "once"));
    let was = [("was_url", &*url), ("was_events", "event.created"), ("was_active", "true")];
    let base = [&was[..], &[("org", &*org), ("version", &*version), ("once", &*once)]].concat();
    let wrong = [&base[..], &[("url", "https://localhost/a?b"), ("active", "true")]].concat();
    let again = pages.send(&page, &wrong).await.says(400, "id=\"url-problem\"");
    assert!(again.text.contains("https://localhost/a?b") && again.text.contains("id=\"events-problem\""));
    let off = [&base[..], &[("url", &*url), ("events", "*")]].concat();
    assert_eq!(pages.send_from(EVIL, &page, &off).await.status, 403);
    let saved = format!("{page}?done=saved");
    // A double click.
    for _ in 0..2 {
        pages.send(&page, &off).await.leads_to(&saved);
    }
    pages.open(&saved).await.says(200, "Switched off by your organization");
    let now = only(&api).await;
    assert_eq!((&now["events"], &now["active"], &now["url"]), (&json!(["*"]), &json!(false), &json!(url)));

    // Another tab shows an older version. A form of it that is refused keeps that version.
    let other = [&was[..], &[("org", &*org), ("version", &*version), ("once", "")]].concat();
    let wrong = [&other[..], &[("url", "https://localhost/a?b"), ("events", "*")]].concat();
    let refused = pages.send(&page, &wrong).await.says(400, "id=\"url-problem\"");
    assert_eq!(hidden(&refused.text, "version"), version);
    let late =
        [&other[..], &[("url", "https://example.com/late"), ("events", "event.created"), ("active", "true")]].concat();
    let stale = pages.send(&page, &late).await.says(412, "The webhook has changed since you opened this page.");
    assert!(stale.text.contains("https://example.com/late"), "what was typed is kept: {}", stale.text);
    // What this tab did not touch is what the other tab has made it.
    assert!(stale.text.contains("value=\"*\" checked") && !stale.text.contains("value=\"event.created\" checked"));
    assert!(!stale.text.contains("id=\"active\" value=\"true\" checked") && !stale.text.contains("was_active"));
    let version = hidden(&stale.text, "version");
    let on = [("org", &*org), ("version", &*version), ("url", &*url), ("events", "*"), ("active", "true")];
    pages.send(&page, &on).await.leads_to(&saved);
    assert_eq!(only(&api).await["active"], true);

    let rotate = format!("{page}/rotate");
    let asks = pages.open(&rotate).await.says(200, "signed with both secrets");
    let once = hidden(&asks.text, "once");
    let fields = [("org", &*org), ("once", &*once)];
    assert_eq!(pages.send_from(EVIL, &rotate, &fields).await.status, 403);
    let first = pages.send(&rotate, &fields).await.says(200, "The previous secret also signs until");
    let second = pages.send(&rotate, &fields).await.says(200, "The webhook has a new secret");
    assert_eq!(secret(&first), secret(&second), "a double click shows the same secret");

    let delete = format!("{page}/delete");
    pages.open(&delete).await.says(200, "This is permanent.");
    assert_eq!(only(&api).await["active"], true, "a question deletes nothing");
    assert_eq!(pages.send_from(EVIL, &delete, &fields).await.status, 403);
    // A double click.
    for _ in 0..2 {
        pages.send(&delete, &fields).await.leads_to("/console/webhooks?done=deleted");
    }
    pages.open("/console/webhooks?done=deleted").await.says(200, "Deleted.");
    pages.send(&delete, &[("org", &*org), ("once", "")]).await.says(404, NO_WEBHOOK);
    for path in [&page, &rotate, &delete, &format!("{page}/deliveries"), &format!("{LIST}/whk_nobody")] {
        pages.open(path).await.says(404, NO_WEBHOOK);
    }
    pages.send(&page, &on).await.says(404, NO_WEBHOOK);
}

#[apply(on_both)]
#[tokio::test]
async fn deliveries_are_shown_and_sent_again(#[case] database: Database) {
    let (server, receiver, ada, api) = scene(database).await;
    let id = made(&api, &receiver.url("/hook"), &["agent.created"]).await;
    let page = format!("{LIST}/{id}");
    let mut pages = Pages::new(&server);
    pages.sign_in(&ada.email).await;
    let shown = pages.open(&page).await.says(200, "<td>0</td><td>0</td><td>0</td><td>0</td>");
    let (org, once) = (hidden(&shown.text, "org"), hidden(&shown.text, "once"));
    let fields = [("org", &*org), ("once", &*once)];
    let test = format!("{page}/test");
    assert_eq!(pages.send_from(EVIL, &test, &fields).await.status, 403);
    for _ in 0..2 {
        let tested = pages.send(&test, &fields).await.says(200, "The test has arrived");
        assert!(tested.text.contains("HTTP status 204") && tested.text.contains(" ms</dd>"), "{}", tested.text);
    }
    assert_eq!(receiver.received("/hook").len(), 1, "a double click sends one test");
    pages.open(&test).await.leads_to(&page);

    api.post("/v1/agents").json(json!({ "name": HOSTILE, "type": "ai" })).await.expect(201);
    let all = deliveries(&api, &id, all_are(2, "delivered")).await;
    assert_eq!(totals(&pages.open(&page).await), [2, 0, 0, 0]);
    let list = format!("{page}/deliveries");
    let listed = pages.open(&list).await.says(200, "Delivered (2)");
    let place = |what: &str| listed.text.find(&format!(">{what}</a>")).unwrap();
    assert!(place("agent.created") < place("webhook.test"), "the newest is first");
    pages.open(&format!("{list}?status=failed")).await.says(200, "There are no such deliveries.");
    pages.open(&format!("{list}?status={HOSTILE}&offset=x")).await.says(200, "agent.created");
    let behind = pages.open(&format!("{list}?status=delivered&offset=2")).await.says(200, "Nothing here");
    assert!(behind.text.contains(&format!("href=\"{list}?status=delivered\"")), "{}", behind.text);

    let delivery = format!("{list}/{}", text(&all[1]["id"]));
    let shown = pages.open(&delivery).await.says(200, "HTTP status 204");
    let payload = "&#34;name&#34;: &#34;\\&#34;&#62;&#60;script&#62;alert(1)";
    assert!(shown.text.contains(payload), "no {payload} in {}", shown.text);
    let (retry, once) = (format!("{delivery}/retry"), hidden(&shown.text, "once"));
    let fields = [("org", &*org), ("once", &*once)];
    assert_eq!(pages.send_from(EVIL, &retry, &fields).await.status, 403);
    let after = format!("{delivery}?done=retrying");
    for _ in 0..2 {
        pages.send(&retry, &fields).await.leads_to(&after);
    }
    pages.open(&after).await.says(200, "It will be sent again.");
    deliveries(&api, &id, |all| all[1]["attempts"] == 2 && all[1]["status"] == "delivered").await;
    assert_eq!(receiver.received("/hook").len(), 3, "a double click sends it once");
    pages.open(&retry).await.leads_to(&delivery);

    api.patch(format!("/v1/webhooks/{id}")).json(json!({ "active": false })).await.expect(200);
    let off = pages.open(&delivery).await.says(200, "Switch it on to send this again.");
    assert!(!off.text.contains(&retry), "{}", off.text);
    let other = [("org", &*org), ("once", "another-key-of-a-form-0123456789")];
    pages.send(&retry, &other).await.says(409, "The webhook is switched off. Switch it on first.");
    let nowhere = format!("{list}/whd_nobody");
    pages.open(&nowhere).await.says(404, "There is no such delivery any more.");
    pages.send(&format!("{nowhere}/retry"), &other).await.says(404, "There is no such delivery any more.");
}

#[apply(on_both)]
#[tokio::test]
async fn failures_are_shown(#[case] database: Database) {
    let (server, receiver, ada, api) = scene(database).await;
    receiver.always("/gone", Behaviour::Answer(410));
    let id = made(&api, &receiver.url("/gone"), &["agent.created"]).await;
    agent(&api).await;
    let all = deliveries(&api, &id, all_are(1, "failed")).await;
    let mut pages = Pages::new(&server);
    pages.sign_in(&ada.email).await;
    let gone = "Switched off by the server: the address answered 410 Gone";
    pages.open(LIST).await.says(200, gone);
    let page = format!("{LIST}/{id}");
    let shown = pages.open(&page).await.says(200, gone);
    assert_eq!(totals(&shown), [0, 1, 0, 0]);
    assert!(shown.text.contains("<rect class=\"second\""), "{}", shown.text);
    let delivery = format!("{page}/deliveries/{}", text(&all[0]["id"]));
    let listed = pages.open(&format!("{page}/deliveries?status=failed")).await.says(200, "Failed (1)");
    assert!(listed.text.contains(&delivery), "{}", listed.text);
    pages.open(&delivery).await.says(200, "HTTP status 410");

    // An address that is down for a while.
    receiver.always("/down", Behaviour::Answer(500));
    let down = made(&api, &receiver.url("/down"), &["agent.created"]).await;
    agent(&api).await;
    deliveries(&api, &down, |all| all.len() == 1 && all[0]["attempts"] == 1).await;
    assert_eq!(totals(&pages.open(&format!("{LIST}/{down}")).await), [0, 0, 1, 0]);

    // A test of an address that nobody serves.
    let nowhere = made(&api, "https://kalends.invalid/", &["agent.created"]).await;
    let page = format!("{LIST}/{nowhere}");
    let shown = pages.open(&page).await.says(200, "Send a test");
    let (org, once) = (hidden(&shown.text, "org"), hidden(&shown.text, "once"));
    let tested = pages.send(&format!("{page}/test"), &[("org", &*org), ("once", &*once)]).await;
    tested.says(200, "The test has failed");
}

/// Every page and form about a webhook: whether it is a form, its path, and whether a reader may open it.
fn everything(page: &str, delivery: &str) -> Vec<(bool, String, bool)> {
    let of = |form, path: &str, reads| (form, format!("{page}{path}"), reads);
    vec![
        (false, LIST.to_owned(), true),
        (false, NEW.to_owned(), false),
        of(false, "", true),
        of(false, "/rotate", false),
        of(false, "/delete", false),
        of(false, "/deliveries", true),
        of(false, &format!("/deliveries/{delivery}"), true),
        (true, LIST.to_owned(), false),
        of(true, "", false),
        of(true, "/test", false),
        of(true, "/rotate", false),
        of(true, &format!("/deliveries/{delivery}/retry"), false),
        of(true, "/delete", false),
    ]
}

#[apply(on_both)]
#[tokio::test]
async fn roles_decide_what_the_pages_offer(#[case] database: Database) {
    let (server, receiver, ada, api) = scene(database).await;
    let url = receiver.url("/hook");
    let id = made(&api, &url, &["agent.created"]).await;
    api.post("/v1/agents").json(json!({ "name": "Scout", "type": "ai" })).await.expect(201);
    let delivery = text(&deliveries(&api, &id, all_are(1, "delivered")).await[0]["id"]);
    let before = only(&api).await;
    let page = format!("{LIST}/{id}");
    let one = format!("{page}/deliveries/{delivery}");
    let fields = [("org", &*ada.org), ("once", ""), ("url", &*url), ("events", "*"), ("version", "1")];
    let switch = format!("/console/orgs/{}/switch", ada.org);
    for role in ["viewer", "member", "admin", "owner"] {
        let (human, _) = member(&server, &api, &format!("{role}@example.com"), role).await;
        let mut pages = Pages::new(&server);
        pages.sign_in(&human.email).await;
        pages.send(&switch, &[]).await;
        let may = ["admin", "owner"].contains(&role);
        let list = pages.open(LIST).await.says(200, &url);
        assert_eq!(list.text.contains(NEW), may, "{role}: {}", list.text);
        let shown = pages.open(&page).await.says(200, "The last seven days");
        for part in ["Send a test", "Replace the secret", "Delete", "Change it"] {
            assert_eq!(shown.text.contains(part), may, "{role}, {part}: {}", shown.text);
        }
        let shown = pages.open(&one).await.says(200, "&#34;name&#34;: &#34;Scout&#34;");
        assert_eq!(shown.text.contains("Send it again"), may, "{role}: {}", shown.text);
        for (is_form, path, reads) in everything(&page, &delivery) {
            if may && is_form {
                continue;
            }
            let seen = if is_form { pages.send(&path, &fields).await } else { pages.open(&path).await };
            assert_eq!(seen.status, if reads || may { 200 } else { 403 }, "{role}: {is_form} {path}: {}", seen.text);
        }
        assert_eq!(only(&api).await, before, "{role}");
        if may {
            let own = format!("/console/orgs/{}/switch", human.org);
            pages.send(&own, &[]).await;
            for (_, path, _) in everything(&page, &delivery).into_iter().filter(|(is_form, ..)| *is_form) {
                pages.send(&path, &fields).await.says(409, SWITCHED);
            }
        }
    }
    assert_eq!((only(&api).await, receiver.received("/hook").len()), (before.clone(), 1));

    let eve = hurried(&server, "eve@example.com").await;
    let mut pages = Pages::new(&server);
    for (is_form, path, _) in everything(&page, &delivery) {
        if is_form {
            pages.send(&path, &fields).await.says(401, "Your session has ended");
        } else {
            pages.open(&path).await.asks_to_sign_in();
        }
    }
    pages.sign_in(&eve.email).await;
    pages.open(LIST).await.says(200, "There are no webhooks yet.");
    let theirs = [("org", &*eve.org), ("once", ""), ("url", &*url), ("events", "*"), ("version", "1")];
    for (is_form, path, _) in everything(&page, &delivery) {
        if [LIST, NEW].contains(&&*path) {
            continue;
        }
        let seen = if is_form { pages.send(&path, &theirs).await } else { pages.open(&path).await };
        seen.says(404, NO_WEBHOOK);
    }
    assert_eq!(only(&api).await, before);
}
