//! The pages about the organization and about the user's own account, by their forms.

use kalends_e2e::{Database, Server};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Value, json};

use crate::{
    console::{Human, PASSWORD},
    fixtures::agent_with_calendar,
    members::member,
    on_both,
    pages::{HOSTILE, Pages, hidden},
};

const ADA: &str = "ada@example.com";
/// Gives sign-ups a plan with a high rate, because no test waits between its requests.
const FAST: [(&str, &str); 1] = [("KALENDS_SIGNUP_PLAN", "custom")];
const PAGE: &str = "/console/organization";
const DELETE: &str = "/console/organization/delete";
const EXPORT: &str = "/console/export";
const FILE: &str = "/console/export/file";
const ACCOUNT: &str = "/console/account";
const CHANGE_PASSWORD: &str = "/console/account/password";
const EVIL: &str = "https://evil.example";
const SWITCHED: &str = "You switched to another organization in another tab";
const SESSION: &str = "service_session";

#[apply(on_both)]
#[tokio::test]
async fn an_organization_is_renamed_by_a_form(#[case] database: Database) {
    let server = Server::start_with(database, &FAST).await;
    let ada = Human::sign_up(&server, ADA).await;
    let mut pages = Pages::new(&server);
    pages.open(PAGE).await.asks_to_sign_in();
    pages.sign_in(ADA).await;
    let page = pages.open(PAGE).await.says(200, "<dd>Engines</dd>");
    for part in [&*ada.org, "<dd>Custom (", "2026-01-01, accepted ", "/console/members", EXPORT, DELETE, ACCOUNT] {
        assert!(page.text.contains(part), "no {part} in {}", page.text);
    }
    assert!(!page.text.contains("New terms") && !page.text.contains("is not proved"), "{}", page.text);
    let org = hidden(&page.text, "org");
    let named = |name| [("org", &*org), ("name", name)];
    assert_eq!(pages.send_from(EVIL, PAGE, &named("Difference")).await.status, 403);
    pages.send(PAGE, &[("name", "Difference")]).await.says(409, SWITCHED);
    pages.send(PAGE, &named(" ")).await.says(400, "Must be 1 to 255 characters long, got 0.");
    let long = "x".repeat(256);
    let refused = pages.send(PAGE, &named(&long)).await.says(400, "Must be 1 to 255 characters long, got 256.");
    assert!(refused.text.contains(&long), "what was typed is kept");
    // Two tabs: the later form counts.
    for name in ["Difference", "y".repeat(255).as_str(), HOSTILE] {
        pages.send(PAGE, &named(name)).await.leads_to("/console/organization?done=saved");
    }
    pages.open("/console/organization?done=saved").await.says(200, "Saved.");
    let me = server.client(&ada.token).get("/v1/auth/me").await.expect(200);
    assert_eq!(me["org"]["name"], HOSTILE);
}

#[apply(on_both)]
#[tokio::test]
async fn only_owners_and_admins_manage_the_organization(#[case] database: Database) {
    let server = Server::start_with(database, &FAST).await;
    let ada = Human::sign_up(&server, ADA).await;
    let owner = server.client(&ada.token);
    for (role, manages) in [("admin", true), ("member", false), ("viewer", false)] {
        let (human, _) = member(&server, &owner, &format!("{role}@example.com"), role).await;
        let mut pages = Pages::new(&server);
        pages.sign_in_to(&human.email, &ada.org).await;
        let page = pages.open(PAGE).await.says(200, "<dd>Engines</dd>");
        let form = [("org", &*ada.org), ("name", "Engines")];
        assert_eq!(page.text.contains("Rename it") && page.text.contains(EXPORT), manages, "{role}: {}", page.text);
        assert!(page.text.contains("/console/members") && !page.text.contains(DELETE), "{role}: {}", page.text);
        assert_eq!(pages.send(PAGE, &form).await.status, if manages { 303 } else { 403 }, "{role}");
        let terms = [("org", &*ada.org), ("tos_version", "2026-01-01")];
        let accepted = pages.send("/console/organization/terms", &terms).await.status;
        assert_eq!(accepted, if manages { 303 } else { 403 }, "{role}");
        for path in [EXPORT, FILE] {
            assert_eq!(pages.open(path).await.status, if manages { 200 } else { 403 }, "{role} {path}");
        }
        pages.open(DELETE).await.says(403, "Your role does not allow this.");
        assert_eq!(pages.send(DELETE, &form).await.status, 403, "{role}");
    }
    // The session of another organization, and none.
    Human::sign_up(&server, "mallory@example.com").await;
    let mut other = Pages::new(&server);
    let form = [("org", &*ada.org), ("name", "Engines")];
    other.send(PAGE, &form).await.says(401, "Your session has ended");
    other.send(DELETE, &form).await.asks_to_sign_in();
    other.sign_in("mallory@example.com").await;
    for path in [PAGE, DELETE, "/console/organization/terms"] {
        other.send(path, &form).await.says(409, SWITCHED);
    }
    assert_eq!(owner.get("/v1/auth/me").await.expect(200)["org"]["name"], "Engines");
}

#[apply(on_both)]
#[tokio::test]
async fn new_terms_are_accepted_by_a_form(#[case] database: Database) {
    let mut server = Server::start(database).await;
    Human::sign_up(&server, ADA).await;
    assert!(server.stop().await.success());
    server.start_again(&[("KALENDS_TERMS_VERSION", "2026-11-01")]).await;
    let mut pages = Pages::new(&server);
    pages.sign_in(ADA).await;
    let page = pages.open(PAGE).await.says(200, "The terms of 2026-11-01 are current.");
    let (org, version) = (hidden(&page.text, "org"), hidden(&page.text, "tos_version"));
    let accept = |version| [("org", &*org), ("tos_version", version)];
    let terms = "/console/organization/terms";
    pages.send(terms, &accept("2026-01-01")).await.says(409, "The terms have changed.");
    pages.send(terms, &accept(&version)).await.leads_to("/console/organization?done=accepted");
    let page = pages.open("/console/organization?done=accepted").await.says(200, "Accepted.");
    assert!(page.text.contains("2026-11-01, accepted ") && !page.text.contains("New terms"), "{}", page.text);
    pages.open(terms).await.leads_to(PAGE);
}

#[apply(on_both)]
#[tokio::test]
async fn everything_is_exported_to_a_browser(#[case] database: Database) {
    let server = Server::start_with(database, &FAST).await;
    let ada = Human::sign_up(&server, ADA).await;
    let mut pages = Pages::new(&server);
    pages.open(FILE).await.asks_to_sign_in();
    pages.sign_in(ADA).await;
    pages.open(EXPORT).await.says(200, "href=\"/console/export/file\"");
    let cookie = format!("{SESSION}={}", pages.cookies[SESSION]);
    let file = server.anonymous().undescribed().get(FILE).header("cookie", cookie).await.expect(200);
    assert!(file.header("content-disposition").starts_with("attachment; filename=\"kalends-export-"));
    assert_eq!((file.header("content-type"), file.header("cache-control")), ("application/json", "no-store"));
    for _ in 0..9 {
        let file = pages.open(FILE).await;
        let export: Value = serde_json::from_str(&file.text).unwrap();
        assert_eq!((file.status, &export["org"]["id"]), (200, &json!(ada.org)));
    }
    let refused = pages.open(FILE).await.says(429, "exports an hour");
    assert!(refused.retry_after.parse::<u32>().is_ok_and(|after| (1..=3_600).contains(&after)), "a page, not a file");
}

#[apply(on_both)]
#[tokio::test]
async fn an_organization_is_deleted_by_its_name(#[case] database: Database) {
    let server = Server::start_with(database, &FAST).await;
    let ada = Human::sign_up(&server, ADA).await;
    agent_with_calendar(&server.client(&ada.key)).await;
    let (bob, _) = member(&server, &server.client(&ada.token), "bob@example.com", "owner").await;
    let mut pages = Pages::new(&server);
    pages.sign_in_to(&bob.email, &ada.org).await;
    let mut elsewhere = Pages::new(&server);
    elsewhere.sign_in(&bob.email).await;
    let page = pages.open(DELETE).await.says(200, "Your account stays");
    let others = "Members who belong to no other organization lose their accounts too.";
    assert!(page.text.contains(others), "no {others} in {}", page.text);
    for (what, count) in [("Agents", 1), ("Calendars", 1), ("Webhooks", 0), ("Members", 2)] {
        let loss = format!("<dt>{what}</dt><dd>{count}</dd>");
        assert!(page.text.contains(&loss), "no {loss} in {}", page.text);
    }
    let named = |name| [("org", &*ada.org), ("name", name)];
    for wrong in ["", "engines", HOSTILE] {
        let problem = "Type the name of the organization exactly as it is shown.";
        pages.send(DELETE, &named(wrong)).await.says(400, problem);
    }
    pages.send(DELETE, &named("engines")).await.says(400, "value=\"engines\"");
    assert_eq!(pages.send_from(EVIL, DELETE, &named("Engines")).await.status, 403);
    pages.send(DELETE, &[("name", "Engines")]).await.says(409, SWITCHED);
    server.client(&ada.key).get("/v1/agents").await.expect(200);

    let gone = pages.send(DELETE, &named("Engines")).await.says(200, "Engines is deleted");
    assert!(gone.text.contains("Sign in again") && !pages.cookies.contains_key(SESSION), "{}", gone.text);
    server.client(&ada.key).get("/v1/agents").await.refused(401, "unauthorized");
    // A double click.
    let second = "/console/sign-in?next=%2Fconsole%2Forgs&ended=parting";
    pages.send(DELETE, &named("Engines")).await.leads_to(second);
    pages.open(second).await.says(200, "this page does not know whether the form had its effect before.");
    elsewhere.open("/console").await.leads_to("/console/sign-in");
    // Ada belonged to nothing else. Bob has an organization left, and deletes it together with his account.
    let credentials = [("email", ADA), ("password", PASSWORD)];
    pages.send("/console/sign-in", &credentials).await.says(401, "The address or the password is wrong.");
    pages.sign_in(&bob.email).await;
    pages.open(DELETE).await.says(200, "Your account is deleted too");
    let named = [("org", &*bob.org), ("name", " Engines ")];
    pages.send(DELETE, &named).await.says(200, "Your account is deleted too");
    let credentials = [("email", &*bob.email), ("password", PASSWORD)];
    pages.send("/console/sign-in", &credentials).await.says(401, "The address or the password is wrong.");
}

#[apply(on_both)]
#[tokio::test]
async fn a_user_changes_the_own_account_by_forms(#[case] database: Database) {
    let server = Server::start_with(database, &FAST).await;
    let ada = Human::sign_up(&server, ADA).await;
    let mut pages = Pages::new(&server);
    pages.open(ACCOUNT).await.asks_to_sign_in();
    pages.sign_in(ADA).await;
    pages.open("/console").await.says(200, "href=\"/console/account\"");
    let page = pages.open(ACCOUNT).await.says(200, "value=\"Ada\"");
    let org = hidden(&page.text, "org");
    let named = |name| [("org", &*org), ("name", name)];
    pages.send(ACCOUNT, &named("")).await.says(400, "Must be 1 to 100 characters long, got 0.");
    pages.send(ACCOUNT, &[("name", "Grace")]).await.says(409, SWITCHED);
    assert_eq!(pages.send_from(EVIL, ACCOUNT, &named("Grace")).await.status, 403);
    pages.send(ACCOUNT, &named(HOSTILE)).await.leads_to("/console/account?done=saved");
    pages.open("/console/account?done=saved").await.says(200, "Saved.");
    let me = server.client(&ada.token).get("/v1/auth/me").await.expect(200);
    assert_eq!(me["user"]["name"], HOSTILE);

    let other = "another of her own";
    let once = hidden(&page.text, "once");
    let change =
        |current, new| [("org", &*org), ("once", &*once), ("current_password", current), ("new_password", new)];
    let wrong = pages.send(CHANGE_PASSWORD, &change("not the password", other)).await;
    let wrong = wrong.says(400, "This is not your password.");
    assert!(!wrong.text.contains("not the password") && !wrong.text.contains(other), "{}", wrong.text);
    let short = pages.send(CHANGE_PASSWORD, &change(PASSWORD, "short")).await;
    short.says(400, "Must be 10 to 128 characters long, got 5.");
    assert_eq!(pages.send_from(EVIL, CHANGE_PASSWORD, &change(PASSWORD, other)).await.status, 403);
    server.client(&ada.token).get("/v1/auth/me").await.expect(200);
    let earlier = pages.cookies.clone();
    let changed = pages.send(CHANGE_PASSWORD, &change(PASSWORD, other)).await;
    let changed = changed.leads_to("/console/account?done=password");
    assert!(changed.cookie.starts_with("service_session="), "{}", changed.cookie);
    pages.open("/console/account?done=password").await.says(200, "Your password is changed.");
    // The same form again: it is not checked against the new password, and begins no session.
    let again = pages.send(CHANGE_PASSWORD, &change(PASSWORD, other)).await;
    let again = again.leads_to("/console/account?done=password");
    assert_eq!(again.cookie, "");
    pages.open(ACCOUNT).await.says(200, "value=\"");
    let another = pages.send(CHANGE_PASSWORD, &change(PASSWORD, "yet another one")).await;
    another.says(422, "This form was sent before, with other content.");
    server.client(&ada.token).get("/v1/auth/me").await.refused(401, "authentication_error");
    pages.open(CHANGE_PASSWORD).await.leads_to(ACCOUNT);
    // The second click of a double click comes with the session that has ended.
    let mut late = Pages::new(&server);
    late.cookies = earlier;
    let second = "/console/sign-in?next=%2Fconsole%2Faccount&ended=password";
    late.send(CHANGE_PASSWORD, &change(PASSWORD, other)).await.leads_to(second);
    late.open(second).await.says(200, "this page does not know whether your password was changed before.");
    let credentials = [("email", ADA), ("password", other)];
    Pages::new(&server).send("/console/sign-in", &credentials).await.leads_to("/console");
}
