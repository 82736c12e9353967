//! The pages on which a user connects an account at a CalDAV server, or draws the busy times of an example calendar.

use kalends_e2e::{CaldavServer, Database, Playing};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::json;

use crate::{
    connecting::{Connecting, HUMAN, path_of, token},
    members::member,
    on_both,
    pages::{HOSTILE, Pages, hidden},
};

const LIST: &str = "/console/connections";
const FORM: &str = "/console/connections/caldav";
const EXAMPLE: &str = "/console/connections/example";
const OFFER: &str = "/console/connect/offer";
const EVIL: &str = "https://evil.example";
const USER: &str = "planted-user@caldav.example";
const PASSWORD: &str = "planted-app-password";
const WRONG: &str = "planted-wrong-password";
/// A connection that does not exist.
const NOTHING: &str = "con_01jn8r6v9ke0bt3m5qz2c7xwdh";

/// A service that can connect the user's account at a CalDAV server, which has one calendar.
async fn with_server(database: Database) -> (Connecting, CaldavServer) {
    let server = CaldavServer::start().await;
    server.account(USER, PASSWORD, &[]);
    server.calendar(USER, "planted", "Planted life");
    let it = Connecting::with(database, &[("KALENDS_EGRESS_ALLOW", server.address())]).await;
    (it, server)
}

/// A browser in which the user is signed in.
async fn signed_in(it: &Connecting) -> Pages<'_> {
    let mut pages = Pages::new(&it.server);
    pages.sign_in(HUMAN).await;
    pages
}

/// The identifier of the connection in the path of the page on which its calendars are chosen.
fn connection_in(path: &str) -> &str {
    path.split('/').nth(3).unwrap()
}

#[apply(on_both)]
#[tokio::test]
async fn a_user_connects_a_server_by_a_form(#[case] database: Database) {
    let (it, server) = with_server(database).await;
    let mut pages = Pages::new(&it.server);
    pages.open(&format!("{FORM}?preset=icloud")).await.asks_to_sign_in();
    pages.sign_in(HUMAN).await;
    let list = pages.open(LIST).await.says(200, "Connect a calendar");
    assert!(list.text.contains(FORM) && list.text.contains("Connect Google"), "{}", list.text);
    assert!(!list.text.contains(EXAMPLE), "the example calendar is off");
    for (preset, address) in [
        ("icloud", "https://caldav.icloud.com/"),
        ("fastmail", "https://caldav.fastmail.com/"),
        ("nextcloud", "https://YOUR-SERVER/remote.php/dav"),
    ] {
        pages.open(&format!("{FORM}?preset={preset}")).await.says(200, &format!("value=\"{address}\""));
    }
    let form = pages.open(&format!("{FORM}?preset=%22%3E%3Cscript%3Ealert(1)&link=x&connection=y")).await;
    let org = hidden(&form.says(200, "Connect a CalDAV calendar").text, "org");

    // Each field has its problem beside it, and keeps what was typed, except for the password.
    let url = server.url();
    let fields = |username: &'static str, password: &'static str| {
        [("org", &*org), ("url", &*url), ("username", username), ("password", password)]
    };
    let empty = pages.send(FORM, &[("org", &org)]).await.says(400, "See what");
    for field in ["url", "username", "password"] {
        assert!(empty.text.contains(&format!("id=\"{field}-problem\"")), "{field}: {}", empty.text);
    }
    let refused = pages.send(FORM, &fields(USER, WRONG)).await.says(400, "id=\"password-problem\"");
    assert!(refused.text.contains(&format!("value=\"{USER}\"")) && refused.text.contains(&format!("value=\"{url}\"")));
    assert!(!refused.text.contains(WRONG), "no page shows a password");
    pages.send(FORM, &fields(HOSTILE, WRONG)).await.says(400, "Error: ");

    let right = fields(USER, PASSWORD);
    assert_eq!(pages.send_from(EVIL, FORM, &right).await.status, 403);
    server.plays(Playing::Status(503));
    pages.send(FORM, &right).await.says(502, "id=\"url-problem\"");
    server.plays(Playing::Answers);
    let connected = pages.send(FORM, &right).await;
    let connection = connection_in(&connected.location).to_owned();
    // A double click.
    pages.send(FORM, &right).await.leads_to(&format!("{LIST}/{connection}/calendars"));
    // Spaces are copied too.
    let copied = fields(" planted-user@caldav.example", " planted-app-password ");
    pages.send(FORM, &copied).await.leads_to(&format!("{LIST}/{connection}/calendars"));
    pages.open(&connected.location).await.says(200, "Planted life");
    let list = pages.open(LIST).await.says(200, "CalDAV");
    assert!(list.text.contains("Read next") && list.text.contains("Enter the password again"), "{}", list.text);
    assert!(!list.text.contains("Renew consent"), "{}", list.text);
}

#[apply(on_both)]
#[tokio::test]
async fn a_password_is_entered_again(#[case] database: Database) {
    const NEXT: &str = "planted-next-password";
    let (it, server) = with_server(database).await;
    let body = json!({ "url": server.url(), "username": USER, "password": PASSWORD });
    let connection = it.console.post("/v1/calendar-connections/caldav").json(body).await.expect(201).id();
    // No other refresh is due then.
    it.wait_until(&connection, "refreshed", |read| !read["last_refreshed_at"].is_null()).await;
    server.password(USER, NEXT);
    it.console.post(format!("{}/refresh", path_of(&connection))).await.expect(202);
    it.wait_until(&connection, "lapsed", |read| read["status"] == "reauthorization_required").await;
    let mut pages = signed_in(&it).await;
    pages.open(LIST).await.says(200, "The server no longer accepts the password");
    let address = format!("{FORM}?connection={connection}");
    let form = pages.open(&address).await.says(200, "<h1>Enter the password again</h1>");
    let org = hidden(&form.text, "org");
    let url = server.url();
    for known in [USER, &*url] {
        assert!(form.text.contains(&format!("value=\"{known}\"")), "{known}: {}", form.text);
    }
    assert!(!form.text.contains(PASSWORD), "no page shows a password");
    let fields = |password: &'static str| {
        [("org", &*org), ("connection", &*connection), ("url", &*url), ("username", USER), ("password", password)]
    };
    let again = pages.send(FORM, &fields(PASSWORD)).await.says(400, "<h1>Enter the password again</h1>");
    assert_eq!(hidden(&again.text, "connection"), connection);
    pages.send(FORM, &fields(NEXT)).await.leads_to(&format!("{LIST}/{connection}/calendars"));
    it.is(&connection, "active").await;

    // Only the user sees what was entered.
    let (bob, _) = member(&it.server, &it.console, "bob@example.com", "admin").await;
    let mut others = Pages::new(&it.server);
    others.sign_in_to(&bob.email, &org).await;
    others.open(&address).await.says(404, "You have no such account connected here.");
    pages.open(&format!("{FORM}?connection={NOTHING}")).await.says(404, "You have no such account connected here.");
}

#[apply(on_both)]
#[tokio::test]
async fn a_link_leads_to_the_form_and_on(#[case] database: Database) {
    let (it, server) = with_server(database).await;
    let secret = token(&it.ask().await);
    let mut pages = signed_in(&it).await;
    pages.send("/console/connect", &[("token", &secret)]).await.leads_to(OFFER);
    let offer = pages.open(OFFER).await.says(200, FORM);
    let (org, link, url) = (hidden(&offer.text, "org"), hidden(&offer.text, "link"), server.url());
    let form = pages.open(&format!("{FORM}?preset=other&link={link}")).await.says(200, "Back to the link");
    assert_eq!(hidden(&form.text, "link"), link);
    let fields = |link| [("org", &*org), ("link", link), ("url", &*url), ("username", USER), ("password", PASSWORD)];
    pages.send(FORM, &fields("cln_01jn8r6v9ke0bt3m5qz2c7xwdh")).await.says(404, "There is no such link here.");
    let connected = pages.send(FORM, &fields(&*link)).await;
    let connection = connection_in(&connected.location).to_owned();
    assert_eq!(connected.location, format!("{LIST}/{connection}/calendars?link={link}"));
    pages.open(&connected.location).await.says(200, "Planted life");
    // A link that has ended leads nowhere.
    it.console.post(format!("/v1/connection-links/{link}/decline")).await.expect(200);
    pages.send(FORM, &fields(&*link)).await.says(409, "link");
}

#[apply(on_both)]
#[tokio::test]
async fn a_user_draws_a_week(#[case] database: Database) {
    let it = Connecting::with(database, &[("KALENDS_STANDIN_PROVIDER", "true")]).await;
    let mut pages = signed_in(&it).await;
    let list = pages.open(LIST).await.says(200, "Example calendar");
    let (org, once) = (hidden(&list.text, "org"), hidden(&list.text, "once"));
    let fields = [("org", &*org), ("once", &*once)];
    assert_eq!(pages.send_from(EVIL, EXAMPLE, &fields).await.status, 403);
    let made = pages.send(EXAMPLE, &fields).await;
    let connection = connection_in(&made.location).to_owned();
    // A double click.
    pages.send(EXAMPLE, &fields).await.leads_to(&format!("{LIST}/{connection}/calendars"));
    pages.open(EXAMPLE).await.leads_to(LIST);
    let page = format!("{LIST}/{connection}/drawing");
    pages.open(LIST).await.says(200, &format!("href=\"{page}\""));
    pages.open(&page).await.says(200, "Draw busy times");
    let address = format!("{page}?week=2026-12-02&calendar=Private&tz=Europe/Berlin");
    let empty = pages.open(&address).await.says(200, "30 November");
    assert!(!empty.text.contains(" checked"), "{}", empty.text);
    assert_eq!(hidden(&empty.text, "calendar"), "Private");

    let saved = format!("{page}?done=saved&week=2026-11-30&calendar=Private&tz=Europe%2FBerlin");
    let shown = [("org", &*org), ("week", "2026-11-30"), ("calendar", "Private"), ("tz", "Europe/Berlin")];
    let hours = [("busy", "2026-12-02T09"), ("busy", "2026-12-02T10"), ("busy", "2026-12-05T23")];
    let drawn = [&shown[..], &hours[..]].concat();
    assert_eq!(pages.send_from(EVIL, &page, &drawn).await.status, 403);
    pages.send(&page, &drawn).await.leads_to(&saved);
    let checked = pages.open(&saved).await.says(200, "Saved.");
    assert_eq!(checked.text.matches(" checked>").count(), 3, "{}", checked.text);
    let drawing = format!("{}/drawing", path_of(&connection));
    let time = |start: &str, end: &str| json!({ "start_time": start, "end_time": end });
    let morning = time("2026-12-02T08:00:00Z", "2026-12-02T10:00:00Z");
    let night = time("2026-12-05T22:00:00Z", "2026-12-05T23:00:00Z");
    let kept = it.console.get(&drawing).await.expect(200);
    assert_eq!((kept.at("/calendars/0/busy"), kept.at("/calendars/1/busy")), (json!([]), json!([morning, night])));

    // Only what was changed is replaced.
    let was = [("was_busy", "2026-12-02T09"), ("was_busy", "2026-12-02T10"), ("was_busy", "2026-12-05T23")];
    let changed = [&shown[..], &was[..], &hours[1..]].concat();
    pages.send(&page, &changed).await.leads_to(&saved);
    let kept = it.console.get(&drawing).await.expect(200);
    let rest = time("2026-12-02T09:00:00Z", "2026-12-02T10:00:00Z");
    assert_eq!(kept.at("/calendars/1/busy"), json!([rest, night]));

    // What cannot be saved changes nothing.
    let unknown = [("org", &*org), ("week", "2026-11-30"), ("calendar", HOSTILE), ("tz", "UTC"), hours[0]];
    pages.send(&page, &unknown).await.says(400, "Error: ");
    let undated = [("org", &*org), ("week", "x"), ("calendar", "Private"), ("tz", "UTC"), hours[0]];
    pages.send(&page, &undated).await.says(400, "Must be a date from 1970 to 2099.");
    pages.open(&format!("{page}?week=%22%3E%3Cscript&calendar=%3Cscript%3E&tz=x")).await.says(200, "Work");
    assert_eq!(it.console.get(&drawing).await.expect(200)["calendars"], kept["calendars"]);
    pages.open(&format!("{LIST}/{NOTHING}/drawing")).await.says(404, "You have no such account connected here.");
}
