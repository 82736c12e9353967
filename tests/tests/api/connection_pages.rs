//! The pages about connected calendars, by their forms.

use kalends_e2e::{Answer, CalendarProvider, Database};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::json;

use crate::{
    claims::text,
    connecting::{Connecting, HUMAN, path_of, token},
    console::PASSWORD,
    members::member,
    on_both,
    pages::{HOSTILE, Pages, Seen, hidden},
};

const CONNECT: &str = "/console/connect";
const OFFER: &str = "/console/connect/offer";
const DECLINE: &str = "/console/connect/decline";
const LIST: &str = "/console/connections";
const LINK_COOKIE: &str = "service_connection_link";
const EVIL: &str = "https://evil.example";
const SWITCHED: &str = "You switched to another organization in another tab";

async fn poll(it: &Connecting, link: &Answer) -> Answer {
    it.api.get(format!("/v1/connection-links/{}", link.id())).await.expect(200)
}

/// The number of grants of the user.
async fn grants(it: &Connecting) -> usize {
    it.console.get("/v1/availability-grants").await.expect(200).data().len()
}

/// A browser in which the user is signed in.
pub(crate) async fn signed_in(it: &Connecting) -> Pages<'_> {
    let mut pages = Pages::new(&it.server);
    pages.sign_in(HUMAN).await;
    pages
}

/// The address to which a page leads that continues to a provider.
fn continues_to(page: &Seen) -> String {
    let (_, rest) = page.text.split_once("class=\"primary\" href=\"").unwrap();
    let escaped = rest.split('"').next().unwrap();
    assert!(page.text.contains(&format!("content=\"0;url={escaped}\"")), "{}", page.text);
    escaped.replace("&#38;", "&")
}

/// Takes the browser to Google and back, as far as the form for the calendars. Returns its path.
async fn consent(it: &Connecting, pages: &mut Pages<'_>, page: &Seen) -> String {
    consent_at(it, &it.google, pages, page).await
}

/// Takes the browser to the provider and back, as far as the form for the calendars. Returns its path.
pub(crate) async fn consent_at(
    it: &Connecting,
    provider: &CalendarProvider,
    pages: &mut Pages<'_>,
    page: &Seen,
) -> String {
    let base = it.server.base_url();
    let back = provider.authorize(&continues_to(page)).await.unwrap();
    let returned = pages.open(back.strip_prefix(base).unwrap()).await;
    assert_eq!(returned.status, 302, "{}", returned.text);
    let listed = pages.open(returned.location.strip_prefix(base).unwrap()).await;
    assert_eq!(listed.status, 303, "{}", listed.text);
    listed.location
}

#[apply(on_both)]
#[tokio::test]
async fn a_user_connects_a_calendar_by_forms(#[case] database: Database) {
    let it = Connecting::new(database).await;
    let link = it.ask().await;
    let secret = token(&link);
    let mut pages = Pages::new(&it.server);
    for typed in ["", HOSTILE, "secret of another", &"x".repeat(257)] {
        let wrong = pages.send(CONNECT, &[("token", typed)]).await.says(400, "This code is incomplete.");
        assert!(typed.is_empty() || !wrong.text.contains(typed), "{}", wrong.text);
        assert!(wrong.cookie.is_empty());
    }
    let foreign = pages.send_from(EVIL, CONNECT, &[("token", &secret)]).await;
    assert_eq!((foreign.status, &*foreign.cookie), (403, ""));
    pages.open(OFFER).await.leads_to("/console/sign-in?next=%2Fconsole%2Fconnect%2Foffer");
    let opened = pages.send(CONNECT, &[("token", link["setup_url"].as_str().unwrap())]).await.leads_to(OFFER);
    assert!(opened.cookie.ends_with("; Path=/console; Max-Age=3600; HttpOnly; SameSite=Lax"), "{}", opened.cookie);
    pages.open(CONNECT).await.says(200, "Open your link");
    pages.sign_in(HUMAN).await;
    assert_eq!(poll(&it, &link).await["status"], "awaiting_human");
    pages.open(CONNECT).await.says(200, "Continue with the link that you opened");
    let offer = pages.open(OFFER).await.says(200, "When you are busy, and nothing else");
    for part in ["<strong>Ada</strong>", HUMAN, "Connect Google", "Connect Microsoft", " UTC</time>"] {
        assert!(offer.text.contains(part), "no {part} in {}", offer.text);
    }
    assert!(!offer.text.contains(&secret), "no page shows the token");
    assert_eq!(poll(&it, &link).await["status"], "in_progress");

    let (org, id) = (hidden(&offer.text, "org"), hidden(&offer.text, "link"));
    assert_eq!((&*org, &*id), (&*it.org.id, &*link.id()));
    let fields = [("org", &*org), ("link", &*id)];
    let start = format!("{OFFER}/google");
    assert_eq!(pages.send_from(EVIL, &start, &fields).await.status, 403);
    pages.send(&start, &fields[1..]).await.says(409, SWITCHED);
    pages.send(&format!("{OFFER}/apple"), &fields).await.says(404, "This provider is not offered here.");
    pages.open(&start).await.leads_to(OFFER);
    let begun = pages.send(&start, &fields).await.says(200, "Continue to Google");
    let choose = consent(&it, &mut pages, &begun).await;
    let form = pages.open(&choose).await.says(200, "This agent only: Ada");
    assert_eq!(hidden(&form.text, "agent"), it.agent);
    let (path, _) = choose.split_once('?').unwrap();
    let connection = path.split('/').nth(3).unwrap();

    let (once, external) = (hidden(&form.text, "once"), it.external(connection).await);
    let calendars: Vec<_> = external.iter().map(|calendar| text(&calendar["id"])).collect();
    let base = [fields[0], fields[1], ("once", &*once), ("agent", &*it.agent)];
    let none = [&base[..], &[("audience", "all")]].concat();
    let again = pages.send(path, &none).await.says(400, "Please choose at least one calendar.");
    assert!(again.text.contains("value=\"all\" checked"), "{}", again.text);
    let unknown = [&base[..], &[("audience", "all"), ("calendar", HOSTILE)]].concat();
    pages.send(path, &unknown).await.says(404, "The account has no such calendar any more.");
    let chosen =
        [&base[..], &[("audience", "selected"), ("calendar", &*calendars[0]), ("calendar", &*calendars[2])]].concat();
    assert_eq!(pages.send_from(EVIL, path, &chosen).await.status, 403);
    pages.send(path, &chosen[1..]).await.says(409, SWITCHED);
    assert_eq!(grants(&it).await, 0);
    // A double click.
    for _ in 0..2 {
        pages.send(path, &chosen).await.says(200, "You can close this page.");
        assert!(!pages.cookies.contains_key(LINK_COOKIE), "the link is of no more use");
    }
    let granted = it.console.get("/v1/availability-grants").await.expect(200).data();
    assert_eq!((granted.len(), &granted[0]["agent_ids"]), (1, &json!([it.agent])));
    assert_eq!(granted[0]["external_calendar_ids"].as_array().unwrap().len(), 2);
    let known = poll(&it, &link).await;
    assert_eq!((&known["status"], &known["connection_id"]), (&json!("completed"), &json!(connection)));
    pages.open(OFFER).await.leads_to(CONNECT);
    pages.send(DECLINE, &fields).await.says(409, "The link is completed and can no longer be used");
}

#[apply(on_both)]
#[tokio::test]
async fn a_link_that_cannot_be_used_is_explained(#[case] database: Database) {
    let it = Connecting::new(database).await;
    let link = it.ask().await;
    let secret = token(&link);
    let mut pages = signed_in(&it).await;
    pages.open(OFFER).await.leads_to(CONNECT);
    // The link of another organization, or of none.
    pages.send(CONNECT, &[("token", &"A".repeat(43))]).await.leads_to(OFFER);
    let unknown = pages.open(OFFER).await.says(404, "This link is unknown here");
    assert!(unknown.text.contains("/switch\"") && pages.cookies.contains_key(LINK_COOKIE), "{}", unknown.text);
    pages.send(CONNECT, &[("token", &"A".repeat(65))]).await.leads_to(OFFER);
    pages.open(OFFER).await.says(404, "This link is unknown here");

    // Another member cannot use an opened link. It is kept for the one who can.
    let (bob, _) = member(&it.server, &it.console, "bob@example.com", "viewer").await;
    let mut theirs = Pages::new(&it.server);
    theirs.sign_in(&bob.email).await;
    theirs.send(CONNECT, &[("token", &secret)]).await.leads_to(OFFER);
    let unknown = theirs.open(OFFER).await.says(404, "Try another of your organizations");
    let switch = format!("/console/orgs/{}/switch", it.org.id);
    assert!(unknown.text.contains(&switch), "{}", unknown.text);
    pages.send(CONNECT, &[("token", &secret)]).await.leads_to(OFFER);
    pages.open(OFFER).await.says(200, "Connect your calendar");
    theirs.send(&switch, &[("next", OFFER)]).await.leads_to(OFFER);
    theirs.open(OFFER).await.says(409, "Another user has already opened the link");
    assert!(theirs.cookies.contains_key(LINK_COOKIE));

    let id = link.id();
    let fields = [("org", &*it.org.id), ("link", &*id)];
    theirs.send(DECLINE, &fields).await.says(409, "Another user has already opened the link");
    assert_eq!(pages.send_from(EVIL, DECLINE, &fields).await.status, 403);
    pages.send(DECLINE, &fields[1..]).await.says(409, SWITCHED);
    pages.send(DECLINE, &[fields[0], ("link", HOSTILE)]).await.says(404, "There is no such link here.");
    assert_eq!(poll(&it, &link).await["status"], "in_progress");
    // A double click.
    for _ in 0..2 {
        pages.send(DECLINE, &fields).await.says(200, "Nothing was shared, and Ada is notified.");
    }
    theirs.send(DECLINE, &fields).await.says(409, "The link is declined and can no longer be used");
    assert_eq!(poll(&it, &link).await["status"], "declined");
    assert!(!pages.cookies.contains_key(LINK_COOKIE));
    pages.send(CONNECT, &[("token", &secret)]).await.leads_to(OFFER);
    pages.open(OFFER).await.says(409, "The link is declined and can no longer be used");
    assert!(!pages.cookies.contains_key(LINK_COOKIE), "it is of no more use");
    pages.send(&format!("{OFFER}/google"), &fields).await.says(409, "This link cannot be used");
}

#[apply(on_both)]
#[tokio::test]
async fn a_reload_of_the_offer_changes_nothing(#[case] database: Database) {
    let it = Connecting::new(database).await;
    let link = it.ask().await;
    let mut pages = signed_in(&it).await;
    pages.send(CONNECT, &[("token", &token(&link))]).await.leads_to(OFFER);
    let log = "/v1/audit-log?action=connection.authorize";
    assert!(it.console.get(log).await.expect(200).data().is_empty());
    for _ in 0..4 {
        pages.open(OFFER).await.says(200, "Connect your calendar");
        assert_eq!(it.console.get(log).await.expect(200).data().len(), 1, "the link was opened once");
    }
    // The same over the API. A repetition gets the kept answer.
    let body = json!({ "token": token(&link) });
    for replayed in ["", "true"] {
        let open = it.console.post("/v1/connection-links/open").header("idempotency-key", "a");
        let opened = open.json(body.clone()).await.expect(200);
        assert_eq!((opened.header("idempotency-replayed"), &*opened.id()), (replayed, &*link.id()));
    }
    assert_eq!(it.console.get(log).await.expect(200).data().len(), 1, "the link was opened once");
}

#[apply(on_both)]
#[tokio::test]
async fn a_user_manages_connections_by_forms(#[case] database: Database) {
    let it = Connecting::new(database).await;
    let connection = it.granted(&it.google).await;
    it.console.patch(path_of(&connection)).json(json!({ "label": HOSTILE })).await.expect(200);
    let mut pages = Pages::new(&it.server);
    pages.open(LIST).await.leads_to("/console/sign-in?next=%2Fconsole%2Fconnections");
    pages.sign_in(HUMAN).await;
    let list = pages.open(LIST).await.says(200, "1 agent");
    let org = hidden(&list.text, "org");
    let form = [("org", &*org)];
    let act = |way: &str| format!("{LIST}/{connection}/{way}");
    for (way, done, says) in [
        ("pause", "paused", "Paused."),
        ("resume", "resumed", "Resumed."),
        ("refresh", "refreshing", "Refreshing. This takes a moment."),
    ] {
        assert_eq!(pages.send_from(EVIL, &act(way), &form).await.status, 403);
        let after = format!("{LIST}?done={done}");
        pages.send(&act(way), &form).await.leads_to(&after);
        pages.open(&after).await.says(200, says);
        pages.open(&act(way)).await.leads_to(LIST);
        if way == "pause" {
            it.is(&connection, "paused").await;
            pages.send(&act("refresh"), &form).await.says(409, "The account is paused. Resume it first.");
        }
    }
    let again = pages.send(&act("reauthorize"), &form).await.says(200, "Continue to Google");
    let choose = consent(&it, &mut pages, &again).await;
    assert_eq!(choose, act("calendars"));
    let chooses = pages.open(&choose).await.says(200, "All current agents");
    assert!(!chooses.text.contains("This agent only"), "no agent asks");
    pages.open(&format!("{LIST}?error=link_over")).await.says(200, "The link has expired");
    pages.open(&format!("{LIST}?error={}", "%22%3E%3Cscript%3Ealert(1)")).await.says(200, "Something went wrong.");
    pages.open(&format!("{LIST}?connected=//evil.example&done=x")).await.says(200, "Connected calendars");

    // The session is switched to another organization in another tab.
    let orgs = it.console.get("/v1/auth/orgs").await.expect(200);
    let other = orgs["orgs"].as_array().unwrap().iter().find(|one| one["active"] == false).unwrap();
    let switch = |org: &str| format!("/console/orgs/{org}/switch");
    pages.send(&switch(&text(&other["id"])), &[]).await.leads_to("/console");
    pages.send(&act("pause"), &form).await.says(409, SWITCHED);
    let theirs = [("org", other["id"].as_str().unwrap())];
    pages.send(&act("pause"), &theirs).await.says(404, "You have no such account connected here.");
    pages.send(&switch(&org), &[]).await.leads_to("/console");
    it.is(&connection, "active").await;

    // Another member finds nothing of it.
    let (bob, _) = member(&it.server, &it.console, "bob@example.com", "admin").await;
    let mut others = Pages::new(&it.server);
    others.sign_in(&bob.email).await;
    others.send(&switch(&org), &[("next", LIST)]).await.leads_to(LIST);
    others.open(LIST).await.says(200, "No account is connected.");
    let grant = text(&it.console.get("/v1/availability-grants").await.expect(200).data()[0]["id"]);
    let revoke = format!("/console/grants/{grant}/revoke");
    for way in ["calendars", "disconnect"] {
        others.open(&act(way)).await.says(404, "You have no such account connected here.");
    }
    for way in ["pause", "refresh", "reauthorize", "calendars"] {
        let fields = [form[0], ("calendar", "x"), ("audience", "all")];
        others.send(&act(way), &fields).await.says(404, "You have no such account connected here.");
    }
    // What is not there needs no removal.
    let gone = "/console/connections?done=gone";
    others.send(&act("disconnect"), &form).await.leads_to(gone);
    others.send(&revoke, &form).await.leads_to(gone);
    others.open(gone).await.says(200, "It is not there any more.");
    it.is(&connection, "active").await;
    assert_eq!(grants(&it).await, 1);

    // A double click.
    for done in ["revoked", "gone"] {
        pages.send(&revoke, &form).await.leads_to(&format!("{LIST}?done={done}"));
    }
    pages.open(LIST).await.says(200, "Your calendars do not count for anybody.");
    pages.open(&act("disconnect")).await.says(200, "Everything stored about it will be deleted");
    it.is(&connection, "active").await;
    for done in ["disconnected", "gone"] {
        pages.send(&act("disconnect"), &form).await.leads_to(&format!("{LIST}?done={done}"));
    }
    pages.open(LIST).await.says(200, "No account is connected.");
    pages.send(&act("pause"), &form).await.says(404, "You have no such account connected here.");
    // A button of a session that has ended. After signing in, its address leads back to the list.
    pages.send("/console/sign-out", &[]).await;
    pages.send(&act("pause"), &form).await.asks_to_sign_in();
    let next = act("pause");
    let entered = [("email", HUMAN), ("password", PASSWORD), ("next", &*next)];
    pages.send("/console/sign-in", &entered).await.leads_to(&next);
    pages.open(&next).await.leads_to(LIST);
}
