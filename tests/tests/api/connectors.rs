//! Connectors: programs that register themselves, and act for an agent once a person grants it.

use std::time::{Duration, Instant};

use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD as URL_SAFE_NO_PAD};
use futures::future::join_all;
use kalends_e2e::{Client, Database, Server};
use reqwest::{RequestBuilder, header::HeaderMap};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::{
    claims::text,
    console::Human,
    core_tools::{self, run},
    fixtures::{PATIENCE, agent},
    front::http,
    members::member,
    on_both,
    pages::{HOSTILE, Pages, Seen, hidden},
};

const ADA: &str = "ada@example.com";
const REDIRECT: &str = "https://assistant.example/callback";
/// The address of an app on the person's device.
const APP: &str = "cursor://anysphere.cursor-mcp/oauth/callback";
const VERIFIER: &str = "a-verifier-of-forty-three-or-more-characters~";
const STATE: &str = "state & more";

/// An answer to a client.
struct Reply {
    status: u16,
    headers: HeaderMap,
    json: Value,
}

impl Reply {
    async fn of(request: RequestBuilder) -> Self {
        let answer = request.send().await.unwrap();
        let (status, headers) = (answer.status().as_u16(), answer.headers().clone());
        let text = answer.text().await.unwrap();
        Self { status, headers, json: serde_json::from_str(&text).unwrap_or_default() }
    }

    fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    #[track_caller]
    fn expect(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{:#}", self.json);
        self
    }

    /// Requires an error of OAuth.
    #[track_caller]
    fn refused(self, code: &str) -> Self {
        assert_eq!((self.status, &self.json["error"]), (400, &json!(code)), "{:#}", self.json);
        assert!(self.json["error_description"].as_str().is_some_and(|text| !text.is_empty()), "{:#}", self.json);
        self
    }
}

fn encoded(fields: &[(&str, &str)]) -> String {
    let value = |text: &str| -> String { text.bytes().map(|byte| format!("%{byte:02X}")).collect() };
    fields.iter().map(|(name, text)| format!("{name}={}", value(text))).collect::<Vec<_>>().join("&")
}

async fn get(server: &Server, path: &str) -> Reply {
    Reply::of(http().get(format!("{}{path}", server.base_url()))).await
}

async fn post_form(server: &Server, path: &str, fields: &[(&str, &str)]) -> Reply {
    let request = http().post(format!("{}{path}", server.base_url()));
    let request = request.header("content-type", "application/x-www-form-urlencoded");
    Reply::of(request.body(encoded(fields))).await
}

async fn register_with(server: &Server, body: &Value) -> Reply {
    let request = http().post(format!("{}/oauth/register", server.base_url()));
    Reply::of(request.header("content-type", "application/json").body(body.to_string())).await
}

/// Registers a client, and returns its identifier.
async fn register(server: &Server) -> String {
    let body = json!({ "client_name": HOSTILE, "redirect_uris": [REDIRECT] });
    text(&register_with(server, &body).await.expect(201).json["client_id"])
}

fn challenge() -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(VERIFIER))
}

/// The address at which a client asks for authorization, with other values for some parameters. An empty one is left out.
fn asking(server: &Server, client: &str, others: &[(&str, &str)]) -> String {
    let (challenge, resource) = (challenge(), format!("{}/mcp", server.base_url()));
    let mut fields = vec![
        ("client_id", client),
        ("redirect_uri", REDIRECT),
        ("response_type", "code"),
        ("code_challenge", &*challenge),
        ("code_challenge_method", "S256"),
        ("state", STATE),
        ("scope", "freebusy:org"),
        ("resource", &*resource),
    ];
    for (name, value) in others {
        fields.retain(|(field, _)| field != name);
        if !value.is_empty() {
            fields.push((*name, *value));
        }
    }
    format!("/oauth/authorize?{}", encoded(&fields))
}

/// Opens the page to which that address leads, and returns the page with its address.
async fn opened(pages: &mut Pages<'_>, address: &str) -> (String, Seen) {
    let led = pages.open(address).await;
    assert!(led.status == 302 && led.location.starts_with("/console/authorize?"), "{} {}", led.status, led.location);
    let page = pages.open(&led.location).await;
    (led.location, page)
}

/// A parameter of the address of the client to which a page has a link.
#[track_caller]
fn parameter(seen: &Seen, name: &str) -> String {
    parameter_at(REDIRECT, seen, name)
}

/// [`parameter`] of a client with another address.
#[track_caller]
fn parameter_at(redirect: &str, seen: &Seen, name: &str) -> String {
    assert_eq!(seen.location, "", "no answer redirects to a client");
    let link = seen.text.split_once(&format!("href=\"{redirect}?")).and_then(|(_, rest)| rest.split_once('"'));
    let query = link.unwrap_or_else(|| panic!("{} {}", seen.status, seen.text)).0;
    let query = query.replace("&#38;", "&").replace("&amp;", "&");
    let found = query.split('&').filter_map(|pair| pair.split_once('=')).find(|(given, _)| *given == name);
    found.map(|(_, value)| value.to_owned()).unwrap_or_default()
}

/// Whether the page leads to the address of the client by itself.
fn leads_back(seen: &Seen) -> bool {
    leads_to(REDIRECT, seen)
}

/// Whether the page leads to the address by itself.
fn leads_to(redirect: &str, seen: &Seen) -> bool {
    seen.text.contains(&format!("http-equiv=\"refresh\" content=\"0;url={redirect}?"))
}

/// A parameter of the decision of a person, with which the browser is led back.
#[track_caller]
fn decided(seen: &Seen, name: &str) -> String {
    assert!(seen.status == 200 && leads_back(seen), "{} {}", seen.status, seen.text);
    parameter(seen, name)
}

/// Approves what a client asks for, and returns the code.
async fn code(pages: &mut Pages<'_>, server: &Server, client: &str, agent: &str) -> String {
    let (address, page) = opened(pages, &asking(server, client, &[])).await;
    let org = hidden(&page.text, "org");
    let fields = [("org", &*org), ("agent_id", agent), ("scopes", "freebusy:org"), ("decision", "approve")];
    let code = decided(&pages.send(&address, &fields).await, "code");
    assert!(code.starts_with("svc_ac_"), "{code}");
    code
}

fn exchanging<'a>(client: &'a str, code: &'a str) -> [(&'a str, &'a str); 5] {
    [
        ("grant_type", "authorization_code"),
        ("client_id", client),
        ("code", code),
        ("redirect_uri", REDIRECT),
        ("code_verifier", VERIFIER),
    ]
}

fn refreshing<'a>(client: &'a str, token: &'a str) -> [(&'a str, &'a str); 3] {
    [("grant_type", "refresh_token"), ("client_id", client), ("refresh_token", token)]
}

async fn token(server: &Server, fields: &[(&str, &str)]) -> Reply {
    post_form(server, "/oauth/token", fields).await
}

/// The access token and the refresh token of an answer.
#[track_caller]
fn tokens(reply: Reply) -> (String, String) {
    let reply = reply.expect(200);
    assert_eq!(reply.header("cache-control"), "no-store");
    assert_eq!((&reply.json["token_type"], &reply.json["expires_in"]), (&json!("Bearer"), &json!(3_600)));
    assert_eq!(reply.json["scope"], "freebusy:org");
    (text(&reply.json["access_token"]), text(&reply.json["refresh_token"]))
}

/// The answer of the tools to a bearer of this token.
async fn at_tools(server: &Server, token: Option<&str>) -> Reply {
    let request = http().post(format!("{}/mcp", server.base_url())).header("content-type", "application/json");
    let request = match token {
        Some(token) => request.bearer_auth(token),
        None => request,
    };
    Reply::of(request.body(json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" }).to_string())).await
}

/// The keys of agents in force.
async fn keys(api: &Client) -> Vec<Value> {
    let listed = api.get("/v1/keys").await;
    // A plan without keys of agents lists those that are left.
    if listed.status == 403 { Vec::new() } else { listed.expect(200)["keys"].as_array().unwrap().clone() }
}

/// A server with a person who has an agent, and a browser in which the person is signed in.
struct House {
    server: Server,
    ada: Human,
    agent: String,
}

impl House {
    async fn on(database: Database, plan: &str) -> Self {
        let server = Server::start_with(database, &[("KALENDS_SIGNUP_PLAN", plan)]).await;
        let ada = Human::sign_up(&server, ADA).await;
        let agent = agent(&server.client(&ada.key)).await;
        Self { server, ada, agent }
    }

    fn api(&self) -> Client {
        self.server.client(&self.ada.key)
    }

    async fn pages(&self) -> Pages<'_> {
        let mut pages = Pages::new(&self.server);
        pages.sign_in(ADA).await;
        pages
    }

    /// Grants the client access, and returns the answer with its tokens.
    async fn grant(&self, client: &str) -> Reply {
        let code = code(&mut self.pages().await, &self.server, client, &self.agent).await;
        token(&self.server, &exchanging(client, &code)).await
    }
}

#[apply(on_both)]
#[tokio::test]
async fn a_person_connects_an_assistant(#[case] database: Database) {
    let house = House::on(database, "pro").await;
    let (server, api, base) = (&house.server, house.api(), house.server.base_url());

    // The client knows nothing but the address of the tools.
    let asked = at_tools(server, None).await.expect(401);
    let metadata = format!("{base}/.well-known/oauth-protected-resource/mcp");
    assert_eq!(asked.header("www-authenticate"), format!("Bearer resource_metadata=\"{metadata}\""));
    for path in ["/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-protected-resource"] {
        let found = get(server, path).await.expect(200);
        assert_eq!(found.json["resource"], format!("{base}/mcp"));
        assert_eq!(found.json["authorization_servers"], json!([base]));
        assert_eq!(found.header("access-control-allow-origin"), "*");
    }
    let found = get(server, "/.well-known/oauth-authorization-server").await.expect(200).json;
    assert_eq!(found["issuer"], base);
    for (name, path) in [
        ("authorization_endpoint", "/oauth/authorize"),
        ("token_endpoint", "/oauth/token"),
        ("registration_endpoint", "/oauth/register"),
        ("revocation_endpoint", "/oauth/revoke"),
    ] {
        assert_eq!(found[name], format!("{base}{path}"));
    }
    assert_eq!(found["code_challenge_methods_supported"], json!(["S256"]));
    assert_eq!(found["token_endpoint_auth_methods_supported"], json!(["none"]));

    let client = register(server).await;
    let mut pages = Pages::new(server);
    let led = pages.open(&asking(server, &client, &[])).await;
    pages.open(&led.location).await.asks_to_sign_in();
    pages.sign_in(ADA).await;
    let (address, page) = opened(&mut pages, &asking(server, &client, &[])).await;
    let page = page.says(200, "assistant.example");
    for part in [&*house.agent, "value=\"freebusy:org\"", "value=\"holds:org\"", "Asked for by", "Approve", "Deny"] {
        assert!(page.text.contains(part), "no {part} in {}", page.text);
    }
    assert!(!page.text.contains("\" checked"), "{}", page.text);
    let seen = Reply::of(http().get(format!("{base}{address}")).header("accept", "text/html").header(
        "cookie",
        pages.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("; "),
    ))
    .await;
    let policy = seen.header("content-security-policy");
    assert!(policy.contains("form-action 'self';"), "{policy}");
    assert!(policy.contains("frame-ancestors 'none'"), "{policy}");

    let org = hidden(&page.text, "org");
    let fields = [("org", &*org), ("agent_id", &*house.agent), ("decision", "approve"), ("scopes", "freebusy:org")];
    assert_eq!(pages.send_from("https://evil.example", &address, &fields).await.status, 403);
    pages.send(&address, &fields[1..]).await.says(409, "You switched to another organization");
    let unknown = [fields[0], ("agent_id", "agt_nobody"), fields[2]];
    pages.send(&address, &unknown).await.says(404, "There is no such agent any more.");
    let denied = pages.send(&address, &[fields[0], ("decision", "deny")]).await;
    assert_eq!(decided(&denied, "error"), "access_denied");
    let approved = pages.send(&address, &fields).await;
    assert_eq!(decided(&approved, "state"), "state+%26+more");
    assert_eq!(parameter(&approved, "iss"), base.replace(':', "%3A").replace('/', "%2F"));
    assert_eq!(keys(&api).await, [] as [Value; 0], "the key is created when the client has it");

    let code = parameter(&approved, "code");
    let (access, refresh) = tokens(token(server, &exchanging(&client, &code)).await);
    assert!(access.starts_with("svc_at_") && refresh.starts_with("svc_rt_"), "{access} {refresh}");
    let [key]: [Value; 1] = keys(&api).await.try_into().unwrap();
    assert_eq!((&key["agent_id"], &key["created_by"]), (&json!(house.agent), &json!(house.ada.user[..20])));
    assert_eq!((&key["label"], &key["scopes"]), (&json!(HOSTILE), &json!(["freebusy:org"])));
    let audited = api.get("/v1/audit-log").query(&[("action", "key.create")]).await.expect(200);
    assert_eq!(audited.data()[0]["resource"], key["id"]);

    // The token works for the tools, and for nothing else.
    let assistant = server.client(&access);
    assert!(core_tools::names(&assistant, "core").await.contains(&"whoami".to_owned()));
    run(&assistant, "whoami", json!({})).await;
    for path in ["/v1/calendars", "/v1/usage", "/v1/auth/me"] {
        assistant.get(path).await.expect(401);
    }
    assistant.get("/v1/calendars").await.expect(401).code("invalid_key").mentions("/mcp");

    let (newer, next) = tokens(token(server, &refreshing(&client, &refresh)).await);
    run(&server.client(&newer), "whoami", json!({})).await;
    // A node that knows the former access token may accept it until it expires.
    assert_eq!(keys(&api).await.len(), 1, "it is the same key");

    // Somebody uses the first refresh token again.
    token(server, &refreshing(&client, &refresh)).await.refused("invalid_grant");
    for ended in [&access, &newer] {
        let refused = at_tools(server, Some(ended)).await.expect(401);
        assert!(refused.header("www-authenticate").contains("error=\"invalid_token\""));
    }
    token(server, &refreshing(&client, &next)).await.refused("invalid_grant");
    assert_eq!(keys(&api).await, [] as [Value; 0]);
}

#[apply(on_both)]
#[tokio::test]
async fn a_person_connects_an_app_on_their_device(#[case] database: Database) {
    let house = House::on(database, "pro").await;
    let server = &house.server;
    let redirects = [APP, "https://www.cursor.com/agents/mcp/oauth/callback", "http://localhost:8787/callback"];
    let asked = json!({ "client_name": "Cursor", "redirect_uris": redirects });
    let made = register_with(server, &asked).await.expect(201).json;
    assert_eq!(made["redirect_uris"], json!(redirects));
    let client = text(&made["client_id"]);
    let mut pages = house.pages().await;
    for other in ["cursor://anysphere.cursor-mcp/oauth/callback/", "cursor://other/oauth/callback"] {
        let (_, page) = opened(&mut pages, &asking(server, &client, &[("redirect_uri", other)])).await;
        page.says(400, "This program cannot be connected");
    }
    let (address, page) = opened(&mut pages, &asking(server, &client, &[("redirect_uri", APP)])).await;
    let page = page.says(200, "Connect an app on this device that opens cursor: addresses?");
    let org = hidden(&page.text, "org");
    let fields = [("org", &*org), ("agent_id", &*house.agent), ("scopes", "freebusy:org"), ("decision", "approve")];
    let denied = pages.send(&address, &[fields[0], ("decision", "deny")]).await;
    assert!(denied.status == 200 && leads_to(APP, &denied), "{} {}", denied.status, denied.text);
    assert_eq!(parameter_at(APP, &denied, "error"), "access_denied");
    let approved = pages.send(&address, &fields).await;
    assert!(approved.status == 200 && leads_to(APP, &approved), "{} {}", approved.status, approved.text);
    assert_eq!(parameter_at(APP, &approved, "state"), "state+%26+more");
    let code = parameter_at(APP, &approved, "code");
    let sent = exchanging(&client, &code);
    // The code was sent to the app, and not to the site of its maker.
    let elsewhere = sent.map(|(field, given)| (field, if field == "redirect_uri" { redirects[1] } else { given }));
    token(server, &elsewhere).await.refused("invalid_grant");
    let sent = sent.map(|(field, given)| (field, if field == "redirect_uri" { APP } else { given }));
    let (access, _) = tokens(token(server, &sent).await);
    run(&server.client(&access), "whoami", json!({})).await;
}

#[apply(on_both)]
#[tokio::test]
async fn only_the_client_that_was_granted_access_exchanges_a_code(#[case] database: Database) {
    let house = House::on(database, "pro").await;
    let (server, api) = (&house.server, house.api());
    let (client, other) = (register(server).await, register(server).await);
    let code = code(&mut house.pages().await, server, &client, &house.agent).await;
    let right = exchanging(&client, &code);
    for (name, value, error) in [
        ("code_verifier", "another-verifier-of-forty-three-characters~", "invalid_grant"),
        ("redirect_uri", "https://assistant.example/callback/", "invalid_grant"),
        ("client_id", &*other, "invalid_grant"),
        ("code", "svc_ac_unknown", "invalid_grant"),
        ("code_verifier", "", "invalid_request"),
        ("grant_type", "password", "unsupported_grant_type"),
    ] {
        let wrong = right.map(|(field, given)| (field, if field == name { value } else { given }));
        token(server, &wrong).await.refused(error);
    }
    let elsewhere: Vec<_> = right.into_iter().chain([("resource", "https://other.example/mcp")]).collect();
    token(server, &elsewhere).await.refused("invalid_target");
    let many: Vec<_> = right.into_iter().chain(std::iter::repeat_n(("x", ""), 2_000)).collect();
    token(server, &many).await.refused("invalid_request");
    let twice: Vec<_> = right.into_iter().chain([("code", &*code)]).collect();
    token(server, &twice).await.refused("invalid_request");
    let unknown = right.map(|(field, given)| (field, if field == "client_id" { "oac_nobody" } else { given }));
    assert_eq!(token(server, &unknown).await.expect(401).json["error"], "invalid_client");

    let (access, _) = tokens(token(server, &right).await);
    at_tools(server, Some(&access)).await.expect(200);
    // Somebody uses the code again.
    token(server, &right).await.refused("invalid_grant");
    at_tools(server, Some(&access)).await.expect(401);
    assert_eq!(keys(&api).await, [] as [Value; 0]);
}

#[apply(on_both)]
#[tokio::test]
async fn of_two_exchanges_of_a_code_one_succeeds_and_the_other_ends_its_access(#[case] database: Database) {
    let house = House::on(database, "pro").await;
    let (server, api) = (&house.server, house.api());
    let client = register(server).await;
    let code = code(&mut house.pages().await, server, &client, &house.agent).await;
    let fields = exchanging(&client, &code);
    let replies = join_all([token(server, &fields), token(server, &fields)]).await;
    let mut statuses: Vec<_> = replies.iter().map(|reply| reply.status).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 400]);
    assert_eq!(keys(&api).await, [] as [Value; 0]);
}

#[apply(on_both)]
#[tokio::test]
async fn codes_and_access_tokens_expire(#[case] database: Database) {
    let mut house = House::on(database, "pro").await;
    let client = register(&house.server).await;
    let (access, refresh) = tokens(house.grant(&client).await);
    at_tools(&house.server, Some(&access)).await.expect(200);
    let late = code(&mut house.pages().await, &house.server, &client, &house.agent).await;
    house.server.restart_at_offset(61).await;
    token(&house.server, &exchanging(&client, &late)).await.refused("invalid_grant");
    at_tools(&house.server, Some(&access)).await.expect(200);
    house.server.restart_at_offset(3_601).await;
    at_tools(&house.server, Some(&access)).await.expect(401);
    let (access, _) = tokens(token(&house.server, &refreshing(&client, &refresh)).await);
    at_tools(&house.server, Some(&access)).await.expect(200);
}

#[apply(on_both)]
#[tokio::test]
async fn a_grant_that_is_not_refreshed_ends(#[case] database: Database) {
    let mut house = House::on(database, "free").await;
    let client = register(&house.server).await;
    let (_, refresh) = tokens(house.grant(&client).await);
    house.server.restart_at_offset(29 * 86_400).await;
    let (_, refresh) = tokens(token(&house.server, &refreshing(&client, &refresh)).await);
    assert_eq!(keys(&house.api()).await.len(), 1);
    house.server.restart_at_offset(60 * 86_400).await;
    token(&house.server, &refreshing(&client, &refresh)).await.expect(400);
    let deadline = Instant::now() + PATIENCE;
    while !keys(&house.api()).await.is_empty() {
        assert!(Instant::now() < deadline, "the purge runs when the service starts");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let ended = house.api().get("/v1/audit-log").query(&[("action", "key.delete")]).await.expect(200);
    assert_eq!(
        (&ended.data()[0]["method"], &ended.data()[0]["path"]),
        (&json!("AUTO"), &json!("refresh token expires"))
    );
}

#[apply(on_both)]
#[tokio::test]
async fn a_client_ends_its_own_access(#[case] database: Database) {
    let house = House::on(database, "pro").await;
    let (server, api) = (&house.server, house.api());
    let (client, other) = (register(server).await, register(server).await);
    let (access, refresh) = tokens(house.grant(&client).await);
    let revoke = async |client: &str, token: &str| {
        post_form(server, "/oauth/revoke", &[("client_id", client), ("token", token)]).await.expect(200);
    };
    revoke(&other, &access).await;
    revoke(&other, &refresh).await;
    revoke(&client, "svc_at_unknown").await;
    revoke(&client, &house.ada.key).await;
    at_tools(server, Some(&access)).await.expect(200);
    revoke(&client, &access).await;
    at_tools(server, Some(&access)).await.expect(401);
    token(server, &refreshing(&client, &refresh)).await.refused("invalid_grant");

    let (access, refresh) = tokens(house.grant(&client).await);
    revoke(&client, &refresh).await;
    at_tools(server, Some(&access)).await.expect(401);

    // A person revokes the key of a grant like any other.
    let (access, _) = tokens(house.grant(&client).await);
    let [key]: [Value; 1] = keys(&api).await.try_into().unwrap();
    api.delete(format!("/v1/keys/{}", text(&key["id"]))).await.expect(204);
    at_tools(server, Some(&access)).await.expect(401);
}

#[apply(on_both)]
#[tokio::test]
async fn a_plan_without_keys_of_agents_has_three_grants(#[case] database: Database) {
    let house = House::on(database, "free").await;
    let server = &house.server;
    let (client, third, fourth) = (register(server).await, register(server).await, register(server).await);
    let mut pages = house.pages().await;
    // The last two codes are granted before the key of the third is created.
    let (access, _) = tokens(house.grant(&client).await);
    tokens(house.grant(&client).await);
    let code_of_third = code(&mut pages, server, &third, &house.agent).await;
    let code_of_fourth = code(&mut pages, server, &fourth, &house.agent).await;
    tokens(token(server, &exchanging(&third, &code_of_third)).await);
    token(server, &exchanging(&fourth, &code_of_fourth)).await.refused("invalid_grant");
    // Another grant of the same client replaces its oldest.
    at_tools(server, Some(&access)).await.expect(200);
    tokens(house.grant(&client).await);
    at_tools(server, Some(&access)).await.expect(401);
    assert_eq!(keys(&house.api()).await.len(), 3);
    let (address, page) = opened(&mut pages, &asking(server, &fourth, &[])).await;
    let org = hidden(&page.text, "org");
    let fields = [("org", &*org), ("agent_id", &*house.agent), ("decision", "approve")];
    pages.send(&address, &fields).await.says(429, "limit of keys of agents is 3");
}

#[apply(on_both)]
#[tokio::test]
async fn a_person_may_choose_no_scopes(#[case] database: Database) {
    let house = House::on(database, "pro").await;
    let server = &house.server;
    let client = register(server).await;
    let mut pages = house.pages().await;
    let (address, page) = opened(&mut pages, &asking(server, &client, &[])).await;
    let org = hidden(&page.text, "org");
    let fields = [("org", &*org), ("agent_id", &*house.agent), ("decision", "approve")];
    let code = decided(&pages.send(&address, &fields).await, "code");
    let granted = token(server, &exchanging(&client, &code)).await.expect(200).json;
    assert_eq!(granted["scope"], "");
    let refresh = text(&granted["refresh_token"]);
    let with = |scope| refreshing(&client, &refresh).into_iter().chain([("scope", scope)]).collect::<Vec<_>>();
    token(server, &with("freebusy:org")).await.refused("invalid_scope");
    let renewed = token(server, &with("openid offline_access")).await.expect(200).json;
    assert_eq!(renewed["scope"], "");
}

#[apply(on_both)]
#[tokio::test]
async fn errors_are_shown_and_lead_nowhere_by_themselves(#[case] database: Database) {
    let house = House::on(database, "pro").await;
    let server = &house.server;
    let client = register(server).await;
    let mut pages = house.pages().await;
    for others in [
        [("client_id", "oac_nobody")],
        [("client_id", "")],
        [("redirect_uri", "https://assistant.example/callback/")],
        [("redirect_uri", "https://evil.example/")],
        [("redirect_uri", "")],
    ] {
        let (_, page) = opened(&mut pages, &asking(server, &client, &others)).await;
        let page = page.says(400, "This program cannot be connected");
        assert_eq!(page.location, "");
    }
    let long = "x".repeat(1_001);
    for (other, error) in [
        (("response_type", "token"), "unsupported_response_type"),
        (("code_challenge_method", "plain"), "invalid_request"),
        (("code_challenge_method", ""), "invalid_request"),
        (("code_challenge", ""), "invalid_request"),
        (("code_challenge", "short"), "invalid_request"),
        (("resource", "https://other.example/mcp"), "invalid_target"),
        (("state", &*long), "invalid_request"),
    ] {
        let (_, page) = opened(&mut pages, &asking(server, &client, &[other])).await;
        let page = page.says(400, "assistant.example cannot be connected").says(400, "Return to assistant.example");
        assert!(!leads_back(&page), "{}", page.text);
        assert_eq!(parameter(&page, "error"), error, "{other:?}");
        assert!(!parameter(&page, "iss").is_empty());
        assert_eq!(parameter(&page, "state").is_empty(), other.0 == "state");
    }
    let twice = format!("{}&scope=holds:org", asking(server, &client, &[]));
    assert_eq!(parameter(&opened(&mut pages, &twice).await.1, "error"), "invalid_request");
    let (_, page) = opened(&mut pages, &asking(server, &client, &[("resource", ""), ("scope", "openid")])).await;
    page.says(200, "Approve");
}

#[apply(on_both)]
#[tokio::test]
async fn members_see_whom_to_ask(#[case] database: Database) {
    let house = House::on(database, "pro").await;
    let server = &house.server;
    let (grace, _) = member(server, &server.client(&house.ada.token), "grace@example.com", "member").await;
    let client = register(server).await;
    let mut pages = Pages::new(server);
    pages.sign_in_to(&grace.email, &house.ada.org).await;
    let (address, page) = opened(&mut pages, &asking(server, &client, &[])).await;
    let page = page.says(200, "Only owners and admins can connect assistant.example");
    assert!(page.text.contains(ADA) && !page.text.contains("Approve"), "{}", page.text);
    let fields = [("org", &*house.ada.org), ("agent_id", &*house.agent), ("decision", "approve")];
    assert_eq!(pages.send(&address, &fields).await.status, 403);
}

#[apply(on_both)]
#[tokio::test]
async fn owners_see_that_their_organization_waits_for_admission(#[case] database: Database) {
    let house = House::on(database, "pro").await;
    let server = &house.server;
    let client = register(server).await;
    let mut pages = house.pages().await;
    server.cli(&["org", "waitlist", &house.ada.org]).await.succeeded();
    let (address, page) = opened(&mut pages, &asking(server, &client, &[])).await;
    let page = page.says(200, "assistant.example cannot be connected yet").says(200, "on the waiting list");
    assert!(!page.text.contains("Only owners") && !page.text.contains("Approve"), "{}", page.text);
    let fields = [("org", &*house.ada.org), ("agent_id", &*house.agent), ("decision", "approve")];
    assert_eq!(pages.send(&address, &fields).await.status, 403);
    server.cli(&["org", "activate", &house.ada.org]).await.succeeded();
    opened(&mut pages, &asking(server, &client, &[])).await.1.says(200, "Approve");
}

#[apply(on_both)]
#[tokio::test]
async fn a_grant_holds_only_while_its_giver_may_create_keys(#[case] database: Database) {
    let house = House::on(database, "pro").await;
    let server = &house.server;
    let ada = server.client(&house.ada.token);
    let (grace, _) = member(server, &ada, "grace@example.com", "admin").await;
    let client = register(server).await;
    let mut pages = Pages::new(server);
    pages.sign_in_to(&grace.email, &house.ada.org).await;
    let code = code(&mut pages, server, &client, &house.agent).await;
    ada.patch(format!("/v1/auth/members/{}", grace.user)).json(json!({ "role": "member" })).await.expect(200);
    token(server, &exchanging(&client, &code)).await.refused("invalid_grant");
    assert_eq!(keys(&house.api()).await, [] as [Value; 0]);
}

#[apply(on_both)]
#[tokio::test]
async fn clients_register_themselves(#[case] database: Database) {
    let server = Server::start(database).await;
    let asked = json!({ "redirect_uris": [REDIRECT], "token_endpoint_auth_method": "client_secret_basic", "x": 1 });
    let made = register_with(&server, &asked).await.expect(201);
    assert_eq!((&made.json["token_endpoint_auth_method"], &made.json["client_name"]), (&json!("none"), &Value::Null));
    assert_eq!((&made.json["redirect_uris"], made.header("cache-control")), (&json!([REDIRECT]), "no-store"));
    assert_eq!(made.header("access-control-allow-credentials"), "");
    let long = ["a", "b", "c"].map(|name| format!("{REDIRECT}/{name}{}", "x".repeat(1_900)));
    for (body, error) in [
        (json!({ "redirect_uris": ["http://assistant.example/"] }), "invalid_redirect_uri"),
        (json!({ "redirect_uris": ["javascript:alert(1)"] }), "invalid_redirect_uri"),
        (json!({ "redirect_uris": [APP, "assistant://callback"] }), "invalid_redirect_uri"),
        (json!({ "redirect_uris": ["https://assistant.example/#x"] }), "invalid_redirect_uri"),
        (json!({ "client_name": "x" }), "invalid_redirect_uri"),
        (json!({ "redirect_uris": long }), "invalid_redirect_uri"),
        (json!({ "client_name": "x".repeat(101), "redirect_uris": [REDIRECT] }), "invalid_client_metadata"),
        (json!({ "redirect_uris": "x" }), "invalid_client_metadata"),
        (json!({ "redirect_uris": [REDIRECT], "note": "x".repeat(40_000) }), "invalid_client_metadata"),
    ] {
        register_with(&server, &body).await.refused(error);
    }
    register_with(&server, &asked).await.expect(201);
}

#[apply(on_both)]
#[tokio::test]
async fn registrations_and_requests_for_tokens_are_limited_by_address(#[case] database: Database) {
    let limits = [("KALENDS_IP_LIMITS", "connector_registration=1,connector_token=1")];
    let server = Server::start_with(database, &limits).await;
    let (asked, refresh) = (json!({ "redirect_uris": [REDIRECT] }), refreshing("oac_nobody", "svc_rt_x"));
    // Several at once, so that they take less time than the next place.
    let registered = join_all((0..4).map(|_| register_with(&server, &asked))).await;
    let refreshed = join_all((0..4).map(|_| token(&server, &refresh))).await;
    for (answers, allowed) in [(registered, 201), (refreshed, 401)] {
        let (served, refused): (Vec<_>, Vec<_>) = answers.into_iter().partition(|answer| answer.status == allowed);
        assert_eq!((served.len(), refused.len()), (1, 3));
        for answer in refused {
            let answer = answer.expect(429);
            assert_eq!(answer.json["error"], "too_many_requests");
            assert!(answer.json["error_description"].is_string() && !answer.header("retry-after").is_empty());
            assert_eq!(answer.header("cache-control"), "no-store");
        }
    }
}

#[apply(on_both)]
#[tokio::test]
async fn pages_of_any_origin_may_call_the_endpoints_without_cookies(#[case] database: Database) {
    let server = Server::start(database).await;
    for (method, path) in [
        ("GET", "/.well-known/oauth-protected-resource/mcp"),
        ("POST", "/oauth/register"),
        ("POST", "/oauth/token"),
        ("POST", "/oauth/revoke"),
    ] {
        let request = http().request(reqwest::Method::OPTIONS, format!("{}{path}", server.base_url()));
        let request = request.header("origin", "https://page.example").header("access-control-request-method", method);
        let allowed = Reply::of(request).await.expect(204);
        assert_eq!(allowed.header("access-control-allow-origin"), "*");
        assert_eq!(allowed.header("access-control-allow-credentials"), "");
    }
    let request = http().request(reqwest::Method::OPTIONS, format!("{}/v1/keys", server.base_url()));
    let request = request.header("origin", "https://page.example").header("access-control-request-method", "POST");
    assert_eq!(Reply::of(request).await.header("access-control-allow-origin"), "");
    let answer = token(&server, &[("grant_type", "password")]).await.refused("unsupported_grant_type");
    assert_eq!(answer.header("access-control-allow-origin"), "*");
}
