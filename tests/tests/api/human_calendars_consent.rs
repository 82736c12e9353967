//! Consent that fails, and consent that must be given again.

use crate::on_both;
use kalends_e2e::{CalendarProvider, Database, Server};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Value, json};

use crate::{
    connecting::{ACCOUNT, CALENDARS, Connecting, path_of, until},
    console::Human,
    fixtures::names,
};

const CONNECTIONS: &str = "/v1/calendar-connections";
const OTHER: &str = "other-account@planted.example";

fn start_at(provider: &str) -> String {
    format!("{CONNECTIONS}/oauth/{provider}/start")
}

async fn connections(it: &Connecting) -> Vec<String> {
    it.console.get(CONNECTIONS).await.expect(200).column("id")
}

#[apply(on_both)]
#[tokio::test]
async fn a_provider_without_calendars_connects_nothing(#[case] database: Database) {
    // Google is configured for signing in, but not for calendars.
    let google = CalendarProvider::google().await;
    let variables: Vec<_> = google.variables().into_iter().filter(|(name, _)| !name.ends_with("_CALENDARS")).collect();
    let mut variables: Vec<_> = variables.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    variables.push(("KALENDS_EGRESS_ALLOW", google.address()));
    let server = Server::start_with(database, &variables).await;
    let human = Human::sign_up(&server, "ada@example.com").await;
    let console = server.client(&human.token);
    for provider in ["google", "microsoft", "apple", "GOOGLE", "%20"] {
        let missing = console.post(start_at(provider)).json(json!({})).await;
        missing.refused(404, "not_found").code("provider_not_found");
        let callback = format!("{CONNECTIONS}/oauth/{provider}/callback?state=x&code=x");
        let missing = server.anonymous().get(callback).await;
        missing.refused(404, "not_found").code("provider_not_found");
    }
    server.client(&human.key).post(start_at("google")).json(json!({})).await.refused(401, "authentication_error");
    assert_eq!(console.get(CONNECTIONS).await.expect(200)["total"], 0);
}

#[apply(on_both)]
#[tokio::test]
async fn google_does_not_publish(#[case] database: Database) {
    let it = Connecting::new(database).await;
    let made = it.api.post(it.links()).json(json!({ "capabilities": ["availability", "publishing"] })).await;
    let link = crate::connecting::open(&it.console, &crate::connecting::token(&made)).await.expect(200).id();
    let body = json!({ "connection_link_id": link });
    let refused = it.console.post(start_at("google")).json(body.clone()).await;
    refused.refused(409, "conflict").code("publishing_unsupported");
    it.console.post(start_at("microsoft")).json(body).await.expect(200);
    for body in [json!({ "link": link }), json!({ "connection_link_id": 7 })] {
        it.console.post(start_at("google")).json(body).await.refused(400, "validation_error");
    }
    let missing = it.console.post(start_at("google")).json(json!({ "connection_link_id": "cln_x" })).await;
    missing.refused(404, "not_found").code("connection_link_not_found");
}

#[apply(on_both)]
#[tokio::test]
async fn a_callback_counts_once_and_only_in_the_browser_that_began(#[case] database: Database) {
    let mut it = Connecting::new(database).await;
    let provider = it.google.clone();
    let (ours, theirs) = (it.begin(&provider, None).await, it.begin(&provider, None).await);
    let path = it.back(&provider, &ours).await;
    // With another browser's cookie or none, the attempt is used up anyway, and the browser's own cookie stays.
    for cookie in ["", "service_oauth_state=", &theirs.cookie] {
        let begun = it.begin(&provider, None).await;
        let path = it.back(&provider, &begun).await;
        let answer = it.answer(&path, cookie).await;
        it.failed(&answer, "oauth_state");
        assert!(answer.headers.get("set-cookie").is_none(), "{}", answer.describe());
    }
    for path in [
        path.replace("state=", "stat="),
        path.replace("/google/", "/microsoft/").replace("state=", "state=x"),
        format!("{path}&state=x"),
        format!("{CONNECTIONS}/oauth/google/callback"),
    ] {
        it.failed(&it.answer(&path, &ours.cookie).await, "oauth_state");
    }
    assert!(provider.requests().is_empty(), "none of these reached the provider");
    assert_eq!(connections(&it).await, [""; 0]);

    // The first callback succeeds and a repetition fails. Of many concurrent callbacks, one succeeds.
    let connection = it.connected(&it.answer(&path, &ours.cookie).await, None);
    it.failed(&it.answer(&path, &ours.cookie).await, "oauth_state");
    assert_eq!(connections(&it).await, [connection]);
    let path = it.back(&provider, &theirs).await;
    let answers = futures::future::join_all((0..8).map(|_| it.answer(&path, &theirs.cookie))).await;
    assert_eq!(answers.iter().filter(|answer| answer.header("location").contains("?connected=")).count(), 1);

    // The callback of another provider; a callback after ten minutes.
    let begun = it.begin(&provider, None).await;
    let path = it.back(&provider, &begun).await.replace("/google/", "/microsoft/");
    it.failed(&it.answer(&path, &begun.cookie).await, "oauth_state");
    let begun = it.begin(&provider, None).await;
    let path = it.back(&provider, &begun).await;
    it.restart_at_offset(601).await;
    it.failed(&it.answer(&path, &begun.cookie).await, "oauth_state");
}

#[apply(on_both)]
#[tokio::test]
async fn a_consent_that_fails_connects_nothing(#[case] database: Database) {
    let it = Connecting::new(database).await;
    for provider in [&it.google, &it.microsoft] {
        let link = it.opened().await;
        provider.declines(true);
        let begun = it.begin(provider, Some(&link)).await;
        it.failed(&it.consent(provider, &begun).await, "oauth_declined");
        provider.declines(false);
        // No code; a made-up code; another client's code; a failure at the provider; another issuer.
        let foreign = provider.foreign_code(it.server.base_url());
        for (name, value, code) in [
            ("cod", "x", "oauth_failed"),
            ("code", "", "oauth_failed"),
            ("code", "made-up", "oauth_failed"),
            ("code", foreign.as_str(), "oauth_failed"),
            ("error", "server_error", "oauth_failed"),
            ("error", "access_denied", "oauth_declined"),
        ] {
            let begun = it.begin(provider, Some(&link)).await;
            let (_, state) = begun.cookie.split_once('=').unwrap();
            let mut url = reqwest::Url::parse("http://x").unwrap();
            url.set_path(&format!("{CONNECTIONS}/oauth/{}/callback", provider.name()));
            url.query_pairs_mut().append_pair("state", state).append_pair(name, value);
            let path = url.as_str().strip_prefix("http://x").unwrap();
            let answer = it.answer(path, &begun.cookie).await;
            it.failed(&answer, code);
            assert_eq!(answer.header("set-cookie"), "service_oauth_state=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax");
        }
        let begun = it.begin(provider, Some(&link)).await;
        let path = format!("{}&iss=https%3A%2F%2Fevil.example", it.back(provider, &begun).await);
        it.failed(&it.answer(&path, &begun.cookie).await, "oauth_failed");
        for status in [500, 429, 503] {
            let begun = it.begin(provider, Some(&link)).await;
            provider.fails(Some(status));
            it.failed(&it.consent(provider, &begun).await, "provider_unavailable");
            provider.fails(None);
        }
        assert_eq!(connections(&it).await, [""; 0]);

        // The link is unchanged until the agent cancels it. A consent after that is revoked.
        let begun = it.begin(provider, Some(&link)).await;
        it.api.delete(format!("/v1/connection-links/{link}")).await.expect(204);
        it.failed(&it.consent(provider, &begun).await, "link_over");
        assert_eq!(connections(&it).await, [""; 0]);
    }
    assert_eq!((it.google.revoked().len(), it.google.refresh_tokens(ACCOUNT).len()), (1, 0));
    assert!(it.google.tokens().contains(&it.google.revoked()[0]));
}

#[apply(on_both)]
#[tokio::test]
async fn connecting_an_account_again_keeps_the_connection(#[case] database: Database) {
    let it = Connecting::new(database).await;
    for provider in [&it.google, &it.microsoft] {
        let before = connections(&it).await.len();
        provider.events(ACCOUNT, CALENDARS[0].0, &[it.event(9 * 60, 10 * 60)]);
        let first = it.granted(provider).await;
        it.until_busy(&[(9 * 60, 10 * 60)]).await;
        let link = it.opened().await;
        let again = it.connect(provider, Some(&link)).await;
        assert_eq!(again, first);
        let counts = it.external(&first).await[0]["counts"].clone();
        assert_eq!(counts, true, "the choice of calendars stays");
        it.refresh(&first).await;
        assert_eq!(it.busy(&it.calendar).await, it.spans(&[(9 * 60, 10 * 60)]));
        // Another account is another connection.
        provider.account(OTHER, &[(OTHER, "Other")]);
        assert_ne!(it.connect(provider, None).await, first);
        assert_eq!(connections(&it).await.len(), before + 2);
        it.console.delete(path_of(&first)).await.expect(204);
        provider.visited_by(ACCOUNT);
    }
    // No token that a connection uses was revoked.
    assert_eq!(it.google.revoked().len(), 1);
}

#[apply(on_both)]
#[tokio::test]
async fn revoked_consent_must_be_given_again(#[case] database: Database) {
    let mut it = Connecting::new(database).await;
    for provider in [it.google.clone(), it.microsoft.clone()] {
        provider.events(ACCOUNT, CALENDARS[0].0, &[it.event(9 * 60, 10 * 60)]);
        let connection = it.granted(&provider).await;
        it.until_busy(&[(9 * 60, 10 * 60)]).await;
        provider.forgets(ACCOUNT);
        it.ask_refresh(&connection).await;
        let lapsed = it.wait_until(&connection, "lapsed", |read| read["status"] != "active").await;
        assert_eq!(lapsed["status"], "reauthorization_required", "{}", lapsed.describe());
        assert!(lapsed["last_error"].as_str().is_some_and(|error| error.contains("invalid_grant")));
        let refresh = it.console.post(format!("{}/refresh", path_of(&connection))).await;
        refresh.refused(409, "conflict").code("reauthorization_required");
        assert_eq!(it.busy(&it.calendar).await, it.spans(&[(9 * 60, 10 * 60)]), "as of the last refresh");

        // A consent for another account, or a refused one, changes nothing.
        provider.account(OTHER, &[(OTHER, "Other")]);
        let begun = it.begin_again(&connection).await;
        it.failed(&it.consent(&provider, &begun).await, "other_account");
        provider.visited_by(ACCOUNT);
        provider.declines(true);
        let begun = it.begin_again(&connection).await;
        it.failed(&it.consent(&provider, &begun).await, "oauth_declined");
        provider.declines(false);
        it.is(&connection, "reauthorization_required").await;

        provider.events(ACCOUNT, CALENDARS[0].0, &[it.event(11 * 60, 12 * 60)]);
        let begun = it.begin_again(&connection).await;
        assert_eq!(it.connected(&it.consent(&provider, &begun).await, None), connection);
        it.until_busy(&[(11 * 60, 12 * 60)]).await;
        let read = it.console.get(path_of(&connection)).await.expect(200);
        assert_eq!((&read["status"], &read["last_error"]), (&json!("active"), &Value::Null));

        // A consent for a connection that has been deleted connects nothing.
        let begun = it.begin_again(&connection).await;
        it.console.delete(path_of(&connection)).await.expect(204);
        it.failed(&it.consent(&provider, &begun).await, "connection_gone");
        assert_eq!(connections(&it).await, [""; 0]);
    }
    // The tokens for another account and for the deleted connection were revoked.
    assert_eq!(it.google.refresh_tokens(OTHER).len(), 0);
    assert_eq!(it.google.refresh_tokens(ACCOUNT).len(), 0);

    // The data of a lapsed connection counts until it is stale.
    it.google.events(ACCOUNT, CALENDARS[0].0, &[it.event(9 * 60, 10 * 60)]);
    let connection = it.granted(&it.google).await;
    it.until_busy(&[(9 * 60, 10 * 60)]).await;
    it.google.forgets(ACCOUNT);
    it.ask_refresh(&connection).await;
    it.wait_until(&connection, "lapsed", |read| read["status"] == "reauthorization_required").await;
    it.restart_at_offset(3_700).await;
    let known = until("stale", || it.available(&it.calendar), |known| known["availability_state"] == "stale").await;
    assert!(names(&known.json).contains("warnings"));
    it.is(&connection, "reauthorization_required").await;
}
