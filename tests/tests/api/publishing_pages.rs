//! The pages on which a user allows that events are copied to their calendar, and changes or stops it. No scripts run.

use kalends_e2e::{Answer, Database};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Value, json};

use crate::{
    claims::text,
    connecting::{CALENDARS, Connecting, path_of, token},
    connection_pages::{consent_at, signed_in},
    fixtures::wait_for,
    members::member,
    on_both,
    pages::{HOSTILE, Pages, hidden},
};

const OFFER: &str = "/console/connect/offer";
const DECLINE: &str = "/console/connect/decline";
const LIST: &str = "/console/connections";
const WHAT: &str = "The title, description, place and time of events are copied, and no guests. You can change or stop \
                    it at any time.";

/// A link that asks to copy events, too.
pub(crate) async fn ask_to_copy(it: &Connecting, policy: &str) -> Answer {
    let body = json!({ "capabilities": ["availability", "publishing"], "publication_policy": policy });
    it.api.post(it.links()).json(body).await.expect(201)
}

/// The address of the destination of the agent's calendar.
pub(crate) fn destination_path(it: &Connecting) -> String {
    format!("/v1/calendars/{}/external-destination", it.calendar)
}

/// Opens the link in the browser.
async fn follow(pages: &mut Pages<'_>, link: &Answer) {
    pages.send("/console/connect", &[("token", &token(link))]).await.leads_to(OFFER);
}

/// Whether the option with that value is chosen.
fn is_selected(page: &str, value: &str) -> bool {
    page.contains(&format!("<option value=\"{value}\" selected>"))
}

/// Connects the Microsoft account by the API, with consent to write events. Returns the connection.
pub(crate) async fn connected_to_write(it: &Connecting) -> String {
    let body = json!({ "publishing": true });
    let path = "/v1/calendar-connections/oauth/microsoft/start";
    let begun = it.console.post(path).json(body).await.expect(200);
    let begun = crate::connecting::begun(&begun);
    it.connected(&it.consent(&it.microsoft, &begun).await, None)
}

/// Sends the events of the agent's calendar to the calendar at this index of the account.
pub(crate) async fn put(it: &Connecting, connection: &str, place: usize, policy: &str) -> Answer {
    let target = it.external(connection).await[place]["id"].clone();
    let body = json!({ "external_calendar_id": target, "policy": policy });
    it.console.put(destination_path(it)).json(body).await
}

#[apply(on_both)]
#[tokio::test]
async fn a_user_lets_an_agent_copy_events(#[case] database: Database) {
    let it = Connecting::new(database).await;
    let link = ask_to_copy(&it, "confirmed_tentative").await;
    let mut pages = signed_in(&it).await;
    follow(&mut pages, &link).await;
    let offer = pages.open(OFFER).await.says(200, "It would also like to copy its events to your calendar");
    assert!(offer.text.contains("Google calendars give busy times only."), "{}", offer.text);
    assert!(!offer.text.contains("Connect Google"), "{}", offer.text);
    let (org, id) = (hidden(&offer.text, "org"), hidden(&offer.text, "link"));
    let fields = [("org", &*org), ("link", &*id)];
    let google = pages.send(&format!("{OFFER}/google"), &fields).await;
    google.says(409, "calendars give busy times only.");

    let begun = pages.send(&format!("{OFFER}/microsoft"), &fields).await.says(200, "Continue to Microsoft");
    let choose = consent_at(&it, &it.microsoft, &mut pages, &begun).await;
    let form = pages.open(&choose).await.says(200, WHAT);
    // Nothing is copied unless the user chooses it. The link says which events it would like.
    assert!(form.text.contains("id=\"copies\" value=\"yes\">"), "not chosen: {}", form.text);
    assert!(is_selected(&form.text, "confirmed_tentative"), "{}", form.text);
    let (path, _) = choose.split_once('?').unwrap();
    let connection = path.split('/').nth(3).unwrap();
    let known: Vec<_> = it.external(connection).await.iter().map(|calendar| text(&calendar["id"])).collect();
    assert!(is_selected(&form.text, &known[0]), "the primary calendar: {}", form.text);
    it.console.get(destination_path(&it)).await.refused(404, "not_found").code("external_destination_not_found");

    let once = hidden(&form.text, "once");
    let base = [
        fields[0],
        fields[1],
        ("once", &*once),
        ("agent", &*it.agent),
        ("audience", "selected"),
        ("calendar", &*known[0]),
        ("copies", "yes"),
    ];
    // Errors are beside the field, and what was chosen stays.
    let wrong = [&base[..], &[("target", HOSTILE), ("policy", "confirmed")]].concat();
    let again = pages.send(path, &wrong).await.says(404, "The account has no such calendar any more.");
    assert!(again.text.contains("id=\"target-problem\""), "{}", again.text);
    assert!(again.text.contains("value=\"yes\" checked") && is_selected(&again.text, "confirmed"), "{}", again.text);
    let wrong = [&base[..], &[("target", &*known[1]), ("policy", "everything")]].concat();
    let again = pages.send(path, &wrong).await.says(400, "Must be none, confirmed or confirmed_tentative");
    assert!(again.text.contains("id=\"policy-problem\"") && is_selected(&again.text, &known[1]), "{}", again.text);
    assert_eq!(it.console.get("/v1/availability-grants").await.expect(200).data(), Vec::<Value>::new());

    // A double click.
    let right = [&base[..], &[("target", &*known[1]), ("policy", "confirmed")]].concat();
    for _ in 0..2 {
        pages.send(path, &right).await.says(200, "You can close this page.");
    }
    let made = it.console.get(destination_path(&it)).await.expect(200);
    assert_eq!((&made["external_calendar_id"], &made["policy"]), (&json!(known[1]), &json!("confirmed")));
    let poll = it.api.get(format!("/v1/connection-links/{}", link.id())).await.expect(200);
    assert_eq!((&poll["status"], &poll["connection_id"]), (&json!("completed"), &json!(connection)));
}

#[apply(on_both)]
#[tokio::test]
async fn a_user_shares_busy_times_and_no_events(#[case] database: Database) {
    let it = Connecting::new(database).await;
    // The account was connected before, without consent to write events.
    let connection = it.connect(&it.microsoft, None).await;
    let link = ask_to_copy(&it, "confirmed").await;
    let mut pages = signed_in(&it).await;
    follow(&mut pages, &link).await;
    let id = link.id();
    let path = format!("{LIST}/{connection}/calendars");
    pages.open(OFFER).await.says(200, "Connect your calendar");
    let form =
        pages.open(&format!("{path}?link={id}")).await.says(200, "You have not allowed that for this account yet.");
    assert!(!form.text.contains("id=\"copies\""), "{}", form.text);
    let known = text(&it.external(&connection).await[0]["id"]);
    let once = hidden(&form.text, "once");
    let fields = [
        ("org", &*it.org.id),
        ("link", &*id),
        ("once", &*once),
        ("agent", &*it.agent),
        ("audience", "selected"),
        ("calendar", &*known),
    ];
    // A form that was changed by hand.
    let copies = [&fields[..], &[("copies", "yes"), ("target", &*known), ("policy", "confirmed")]].concat();
    pages.send(&path, &copies).await.says(409, "Events cannot be copied like this.");
    pages.send(&path, &fields).await.says(200, "You can close this page.");
    it.console.get(destination_path(&it)).await.refused(404, "not_found");
    assert_eq!(it.api.get(format!("/v1/connection-links/{id}")).await.expect(200)["status"], "completed");

    // Another link is declined.
    let link = ask_to_copy(&it, "confirmed").await;
    follow(&mut pages, &link).await;
    pages.open(OFFER).await.says(200, "Connect your calendar");
    let id = link.id();
    pages.send(DECLINE, &[("org", &it.org.id), ("link", &id)]).await.says(200, "Nothing was shared");
}

#[apply(on_both)]
#[tokio::test]
async fn a_user_changes_and_stops_copies(#[case] database: Database) {
    let it = Connecting::new(database).await;
    let connection = connected_to_write(&it).await;
    put(&it, &connection, 0, "confirmed").await.expect(200);
    wait_for(async || it.console.get(destination_path(&it)).await, |known| !known["published_at"].is_null()).await;
    let known: Vec<_> = it.external(&connection).await.iter().map(|calendar| text(&calendar["id"])).collect();
    let name = text(&it.api.get(format!("/v1/calendars/{}", it.calendar)).await.expect(200)["name"]);
    let (copies, page) = (format!("{LIST}/{connection}/copies"), format!("/console/copies/{}", it.calendar));
    let stop = format!("{page}/stop");

    let mut pages = Pages::new(&it.server);
    for path in [&copies, &page, &stop] {
        pages.open(path).await.asks_to_sign_in();
    }
    pages.sign_in(crate::connecting::HUMAN).await;
    pages.open(LIST).await.says(200, &copies);
    let title = format!("Copies of {name} go to {}", CALENDARS[0].1);
    let list = pages.open(&copies).await.says(200, &title);
    assert!(list.text.contains("Confirmed events") && list.text.contains(&page), "{}", list.text);
    let settings = pages.open(&format!("/console/calendars/{}", it.calendar)).await;
    settings.says(200, "Copied to a connected calendar: Confirmed events.").says(200, &page);
    let form = pages.open(&page).await.says(200, &title).says(200, "Copying");

    // Two tabs: the one that is late changes nothing, and shows what there is now.
    let (once, version) = (hidden(&form.text, "once"), hidden(&form.text, "version"));
    let sent = |target: &str, policy: &str, once: &str| {
        let fields = [
            ("org", &*it.org.id),
            ("once", once),
            ("version", &*version),
            ("was_target", &*known[0]),
            ("was_policy", "confirmed"),
            ("target", target),
            ("policy", policy),
        ];
        fields.map(|(name, value)| (name, value.to_owned()))
    };
    let send = async |pages: &mut Pages<'_>, target: &str, policy: &str, once: &str| {
        let fields = sent(target, policy, once);
        let fields: Vec<_> = fields.iter().map(|(name, value)| (*name, &**value)).collect();
        pages.send(&page, &fields).await
    };
    let wrong = send(&mut pages, HOSTILE, "confirmed", &once).await;
    let wrong = wrong.says(404, "The account has no such calendar any more.");
    assert!(wrong.text.contains("id=\"target-problem\""), "{}", wrong.text);
    let saved = format!("{page}?done=saved");
    send(&mut pages, &known[1], "confirmed_tentative", &once).await.leads_to(&saved);
    pages.open(&saved).await.says(200, "Saved.").says(200, &format!("go to {}", CALENDARS[1].1));
    let other = hidden(&pages.open(&page).await.text, "once");
    let late = send(&mut pages, &known[2], "confirmed", &other).await;
    let late = late.says(412, "This has changed since you opened the page.");
    assert!(is_selected(&late.text, &known[2]), "what was chosen stays: {}", late.text);
    assert!(is_selected(&late.text, "confirmed_tentative"), "what was not chosen is current: {}", late.text);
    let now = it.console.get(destination_path(&it)).await.expect(200);
    assert_eq!((&now["external_calendar_id"], &now["policy"]), (&json!(known[1]), &json!("confirmed_tentative")));

    // Another member, of whatever role, finds nothing of it.
    for (email, role) in [("bob@example.com", "admin"), ("eve@example.com", "viewer")] {
        let (other, _) = member(&it.server, &it.console, email, role).await;
        let mut others = Pages::new(&it.server);
        others.sign_in_to(&other.email, &it.org.id).await;
        others.open(&copies).await.says(404, "You have no such account connected here.");
        let form = [("org", &*it.org.id), ("version", "1"), ("copies", "keep")];
        for path in [&page, &stop] {
            others.open(path).await.says(404, "not copied to an account of yours");
        }
        others.send(&stop, &form).await.leads_to(&format!("{LIST}?done=gone"));
    }
    it.console.get(destination_path(&it)).await.expect(200);

    // Stopping asks what happens to the copies.
    let asks = pages.open(&stop).await.says(200, "They are deleted soon, except");
    let version = hidden(&asks.text, "version");
    let form = |version: &str, copies: &str| {
        [("org", it.org.id.clone()), ("version", version.to_owned()), ("copies", copies.to_owned())]
    };
    let send = async |pages: &mut Pages<'_>, version: &str, copies: &str| {
        let fields = form(version, copies);
        let fields: Vec<_> = fields.iter().map(|(name, value)| (*name, &**value)).collect();
        pages.send(&stop, &fields).await
    };
    let wrong = send(&mut pages, &version, "some").await.says(400, "Must be delete or keep");
    assert!(wrong.text.contains("id=\"copies-problem\""), "{}", wrong.text);
    let late = send(&mut pages, "1", "keep").await.says(412, "This has changed since you opened the page.");
    assert!(late.text.contains("value=\"keep\" checked"), "{}", late.text);
    // A double click.
    for done in ["copies-kept", "gone"] {
        send(&mut pages, &version, "keep").await.leads_to(&format!("{LIST}?done={done}"));
    }
    pages.open(&format!("{LIST}?done=copies-kept")).await.says(200, "Copying has stopped. The copies stay.");
    pages.open(&copies).await.says(200, "No events are copied to this account.");
    it.console.get(destination_path(&it)).await.refused(404, "not_found");
}

#[apply(on_both)]
#[tokio::test]
async fn a_user_allows_copies_later(#[case] database: Database) {
    let it = Connecting::new(database).await;
    let google = it.connect(&it.google, None).await;
    let connection = it.connect(&it.microsoft, None).await;
    let mut pages = signed_in(&it).await;
    let listed = pages.open(LIST).await.says(200, "Copied events");
    assert!(!listed.text.contains(&format!("{google}/copies")), "{}", listed.text);
    pages.open(&format!("{LIST}/{google}/copies")).await.says(200, "calendars give busy times only.");
    let copies = format!("{LIST}/{connection}/copies");
    let list = pages.open(&copies).await.says(200, "Allow copying events");
    let form = [("org", &*it.org.id), ("publishing", "true")];
    assert_eq!(hidden(&list.text, "publishing"), "true");
    let refused = pages.send(&format!("{LIST}/{google}/reauthorize"), &form).await;
    refused.says(409, "calendars give busy times only.");
    put(&it, &connection, 0, "confirmed").await.refused(409, "conflict").code("consent_required");
    let begun = pages.send(&format!("{LIST}/{connection}/reauthorize"), &form).await;
    let begun = begun.says(200, "Continue to Microsoft");
    consent_at(&it, &it.microsoft, &mut pages, &begun).await;
    assert_eq!(it.console.get(path_of(&connection)).await.expect(200)["publishing"], true);
    let list = pages.open(&copies).await.says(200, "No events are copied to this account.");
    assert!(!list.text.contains("Allow copying events"), "{}", list.text);

    // Without any link, the user chooses one of the organization's calendars.
    let target = text(&it.external(&connection).await[0]["id"]);
    let new = |calendar: &str, target: &str| {
        let fields = [("org", &*it.org.id), ("calendar_id", calendar), ("target", target), ("policy", "confirmed")];
        fields.map(|(name, value)| (name, value.to_owned()))
    };
    for (calendar, to, says, beside) in [
        (HOSTILE, &*target, "There is no such calendar any more.", "calendar_id"),
        (&*it.calendar, HOSTILE, "The account has no such calendar any more.", "target"),
    ] {
        let fields = new(calendar, to);
        let fields: Vec<_> = fields.iter().map(|(name, value)| (*name, &**value)).collect();
        let wrong = pages.send(&copies, &fields).await.says(404, says);
        assert!(wrong.text.contains(&format!("id=\"{beside}-problem\"")), "{}", wrong.text);
    }
    let fields = new(&it.calendar, &target);
    let fields: Vec<_> = fields.iter().map(|(name, value)| (*name, &**value)).collect();
    // A double click.
    for _ in 0..2 {
        let saved = format!("/console/copies/{}?done=saved", it.calendar);
        pages.send(&copies, &fields).await.leads_to(&saved);
    }
    let made = it.console.get(destination_path(&it)).await.expect(200);
    assert_eq!((&made["external_calendar_id"], &made["policy"]), (&json!(target), &json!("confirmed")));

    // A consent that is renewed stays as wide as it was.
    let renewed = pages.send(&format!("{LIST}/{connection}/reauthorize"), &form[..1]).await;
    consent_at(&it, &it.microsoft, &mut pages, &renewed.says(200, "Continue to Microsoft")).await;
    assert_eq!(it.console.get(path_of(&connection)).await.expect(200)["publishing"], true);
}
