//! Sessions of users: their lifetime, and their cookies behind HTTPS.

use crate::on_both;
use kalends_e2e::{Answer, Client, Database, Server, SignInProvider};
use reqwest::Method;
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::json;

use crate::{
    claims::text,
    console::{Human, PASSWORD, by_cookie, cookie, signing_up},
};

const BASE: &str = "https://calendar.example.com";
const ME: &str = "/v1/auth/me";
const HALF_A_DAY: i64 = 12 * 3_600;

async fn sign_in(anybody: &Client, password: &str) -> Answer {
    let body = json!({ "email": "ada@example.com", "password": password });
    anybody.post("/v1/auth/signin").json(body).await.expect(200)
}

#[apply(on_both)]
#[tokio::test]
async fn a_session_ends_after_exactly_half_a_day(#[case] database: Database) {
    let mut server = Server::start(database).await;
    let ada = Human::sign_up(&server, "ada@example.com").await;
    let entered = text(&sign_in(&server.anonymous(), PASSWORD).await["token"]);
    server.restart_at_offset(HALF_A_DAY - 60).await;
    for token in [&ada.token, &entered] {
        server.client(token).get(ME).await.expect(200);
        by_cookie(&server, token, Method::GET, ME).await.expect(200);
    }
    // Using a session does not extend it.
    server.client(&ada.token).patch(ME).json(json!({ "name": "Countess" })).await.expect(200);
    let late = text(&sign_in(&server.anonymous(), PASSWORD).await["token"]);

    server.restart_at_offset(HALF_A_DAY + 60).await;
    for token in [&ada.token, &entered] {
        server.client(token).get(ME).await.refused(401, "authentication_error");
        by_cookie(&server, token, Method::GET, ME).await.refused(401, "authentication_error");
    }
    assert_eq!(server.client(&late).get(ME).await.expect(200)["user"]["name"], "Countess");
    server.client(&ada.key).get("/v1/agents").await.expect(200);
}

/// The attributes and the value of the cookie with this name that an answer sets.
fn set(answer: &Answer, name: &str) -> (String, String) {
    let mut lines = answer.headers.get_all("set-cookie").iter().map(|line| line.to_str().unwrap());
    let line =
        lines.find(|line| line.starts_with(&format!("{name}="))).unwrap_or_else(|| panic!("{}", answer.describe()));
    let (pair, attributes) = line.split_once("; ").unwrap();
    (attributes.to_owned(), pair.split_once('=').unwrap().1.to_owned())
}

#[apply(on_both)]
#[tokio::test]
async fn every_cookie_is_secure_behind_https(#[case] database: Database) {
    const SESSION: &str = "Path=/; Max-Age=43200; HttpOnly; Secure; SameSite=Lax";
    const STATE: &str = "Path=/; Max-Age=600; HttpOnly; Secure; SameSite=Lax";
    const CLEARED: &str = "Path=/; Max-Age=0; HttpOnly; Secure; SameSite=Lax";
    let provider = SignInProvider::start().await;
    provider.register(&format!("{BASE}/v1/auth/oauth/google/callback"));
    let mut variables = provider.variables("google");
    variables.push(("KALENDS_EGRESS_ALLOW".to_owned(), provider.address().to_owned()));
    variables.push(("KALENDS_BASE_URL".to_owned(), BASE.to_owned()));
    let variables: Vec<_> = variables.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let server = Server::start_with(database, &variables).await;
    let anybody = server.anonymous();

    let made = anybody.post("/v1/auth/signup").json(signing_up("ada@example.com")).await.expect(201);
    let (token, attributes) = cookie(&made);
    assert_eq!(attributes, SESSION);
    let entered = sign_in(&anybody, PASSWORD).await;
    assert_eq!(set(&entered, "service_session").0, SESSION);
    let change = json!({ "current_password": PASSWORD, "new_password": "another password" });
    let changed = server.client(&token).post("/v1/auth/password").json(change).await.expect(204);
    let (attributes, token) = set(&changed, "service_session");
    assert_eq!(attributes, SESSION);
    let out = server.client(&token).post("/v1/auth/signout").await.expect(204);
    assert_eq!(set(&out, "service_session"), (CLEARED.to_owned(), String::new()));

    // With a provider: the cookie that binds the attempt to the browser, and the resulting session.
    let begun = anybody.get("/v1/auth/oauth/google").await.expect(302);
    let (attributes, state) = set(&begun, "service_oauth_state");
    assert_eq!((attributes.as_str(), state.len()), (STATE, 43));
    let back = provider.authorize(begun.header("location")).await.unwrap();
    let path = back.strip_prefix(BASE).unwrap_or_else(|| panic!("sent elsewhere: {back}"));
    let ended = anybody.get(path).header("cookie", format!("service_oauth_state={state}")).await.expect(302);
    assert_eq!(ended.header("location"), format!("{BASE}/console"));
    assert_eq!(set(&ended, "service_oauth_state"), (CLEARED.to_owned(), String::new()));
    let (attributes, token) = set(&ended, "service_session");
    assert_eq!(attributes, SESSION);
    assert_eq!(server.client(&token).get(ME).await.expect(200)["user"]["email"], "ada@example.com");

    // A failed attempt removes its cookie too.
    let failed = anybody.get("/v1/auth/oauth/google/callback?state=x").header("cookie", "service_oauth_state=x");
    let failed = failed.await.expect(302);
    assert_eq!(set(&failed, "service_oauth_state"), (CLEARED.to_owned(), String::new()));
    let gone = server.client(&token).delete("/v1/auth/account").await.expect(204);
    assert_eq!(set(&gone, "service_session"), (CLEARED.to_owned(), String::new()));
}
