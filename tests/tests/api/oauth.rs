//! Signing in with a provider, against a strict stand-in.

use crate::on_both;
use kalends_e2e::{Answer, Answering, CLIENT_SECRET, Client, Database, Server, SignInProvider, at};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Value, json};

use crate::{
    fixtures::{is_time, now},
    second_factor::turn_on,
};

const TERMS: &str = "2026-01-01";
const PASSWORD: &str = "correct horse battery";

/// A service with the stand-in as its providers.
pub(crate) struct World {
    pub(crate) server: Server,
    pub(crate) provider: SignInProvider,
}

impl World {
    async fn new(database: Database) -> Self {
        Self::with(database, &[]).await
    }

    async fn with(database: Database, more: &[(&str, &str)]) -> Self {
        let provider = SignInProvider::start().await;
        let variables = ["google", "microsoft"].into_iter().flat_map(|name| provider.variables(name)).collect();
        Self::offering(database, provider, variables, more).await
    }

    /// A service with these settings of its providers, and more settings.
    pub(crate) async fn offering(
        database: Database,
        provider: SignInProvider,
        mut variables: Vec<(String, String)>,
        more: &[(&str, &str)],
    ) -> Self {
        variables.push(("KALENDS_EGRESS_ALLOW".to_owned(), provider.address().to_owned()));
        let own = variables.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let variables: Vec<_> = own.chain(more.iter().copied()).collect();
        let server = Server::start_with(database, &variables).await;
        let world = Self { server, provider };
        world.register();
        world
    }

    pub(crate) fn register(&self) {
        for name in ["google", "microsoft", "oidc"] {
            let base = self.server.base_url();
            self.provider.register(&format!("{base}/v1/auth/oauth/{name}/callback"));
        }
    }

    /// Begins a browser's attempt. Returns the provider's address and the cookie.
    pub(crate) async fn begin(&self, name: &str, query: &str) -> Begun {
        let answer = self.server.anonymous().get(format!("/v1/auth/oauth/{name}{query}")).await.expect(302);
        assert_eq!(answer.header("cache-control"), "no-store");
        let cookie = answer.header("set-cookie");
        let (pair, attributes) = cookie.split_once("; ").unwrap();
        assert_eq!(attributes, "Path=/; Max-Age=600; HttpOnly; SameSite=Lax");
        assert_eq!(pair.split_once('=').map(|(name, value)| (name, value.len())), Some(("service_oauth_state", 43)));
        Begun { location: answer.header("location").to_owned(), cookie: pair.to_owned() }
    }

    /// Takes the browser to the provider and back. Returns the path of the callback.
    pub(crate) async fn back(&self, begun: &Begun) -> String {
        let back = self.provider.authorize(&begun.location).await.unwrap();
        back.strip_prefix(self.server.base_url()).unwrap_or_else(|| panic!("sent elsewhere: {back}")).to_owned()
    }

    pub(crate) async fn answer(&self, path: &str, cookie: &str) -> Answer {
        self.server.anonymous().get(path).header("cookie", cookie).await
    }

    /// The whole flow.
    pub(crate) async fn sign_in(&self, name: &str, query: &str) -> Answer {
        let begun = self.begin(name, query).await;
        self.answer(&self.back(&begun).await, &begun.cookie).await
    }

    /// A client with the session that the answer begins.
    pub(crate) fn signed_in(&self, answer: &Answer) -> Client {
        assert_eq!(answer.status, 302, "{}", answer.describe());
        assert_eq!(answer.header("location"), format!("{}/console", self.server.base_url()), "{}", answer.describe());
        let cookies: Vec<_> =
            answer.headers.get_all("set-cookie").iter().map(|value| value.to_str().unwrap()).collect();
        let [session, state] = cookies[..] else { panic!("{cookies:?}") };
        assert_eq!(state, "service_oauth_state=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax");
        let (pair, attributes) = session.split_once("; ").unwrap();
        assert_eq!(attributes, "Path=/; Max-Age=43200; HttpOnly; SameSite=Lax");
        self.server.client(pair.strip_prefix("service_session=").unwrap())
    }

    /// Requires that nobody is signed in and that the answer redirects to the console with this error code.
    #[track_caller]
    pub(crate) fn failed(&self, answer: &Answer, code: &str) {
        assert_eq!(answer.status, 302, "{}", answer.describe());
        let expected = format!("{}/console?error={code}", self.server.base_url());
        assert_eq!(answer.header("location"), expected, "{}", answer.describe());
        let cookies: Vec<_> =
            answer.headers.get_all("set-cookie").iter().map(|value| value.to_str().unwrap()).collect();
        assert_eq!(cookies, ["service_oauth_state=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax"]);
    }

    /// Requires that nobody is signed in and that the browser's own attempt continues.
    #[track_caller]
    fn not_ours(&self, answer: &Answer) {
        let expected = format!("{}/console?error=oauth_state", self.server.base_url());
        assert_eq!((answer.status, answer.header("location")), (302, &*expected), "{}", answer.describe());
        assert!(answer.headers.get("set-cookie").is_none(), "{}", answer.describe());
    }

    pub(crate) async fn password_human(&self, email: &str) -> (Answer, Client) {
        let body = json!({ "email": email, "password": PASSWORD, "name": "Ada", "tos_version": TERMS });
        let made = self.server.anonymous().post("/v1/auth/signup").json(body).await.expect(201);
        (made, self.server.client(&self.token(email).await))
    }

    async fn try_password(&self, email: &str) -> Answer {
        self.server.anonymous().post("/v1/auth/signin").json(json!({ "email": email, "password": PASSWORD })).await
    }

    async fn token(&self, email: &str) -> String {
        self.try_password(email).await.expect(200)["token"].as_str().unwrap().to_owned()
    }
}

pub(crate) struct Begun {
    pub(crate) location: String,
    pub(crate) cookie: String,
}

impl Begun {
    fn state(&self) -> &str {
        self.cookie.split_once('=').unwrap().1
    }
}

pub(crate) fn terms() -> String {
    format!("?tos_version={TERMS}")
}

pub(crate) async fn me(human: &Client) -> Value {
    human.get("/v1/auth/me").await.expect(200).json
}

#[apply(on_both)]
#[tokio::test]
async fn a_new_user_signs_up_and_signs_in_again(#[case] database: Database) {
    let world = World::new(database).await;
    for (name, email) in [("google", "ada@example.com"), ("microsoft", "bob@example.com")] {
        world.provider.claims(&json!({ "sub": name, "email": email }));
        let first = world.sign_in(name, &terms()).await;
        assert_eq!(first.header("referrer-policy"), "no-referrer");
        let first = me(&world.signed_in(&first)).await;
        assert_eq!((&first["user"]["email"], &first["user"]["name"]), (&json!(email), &json!("Ada Lovelace")));
        assert_eq!(first["accepted_terms_version"], TERMS);
        // A known user need not accept the terms again, and may have a new address.
        world.provider.claims(&json!({ "sub": name, "email": format!("other-{email}"), "email_verified": false }));
        let second = world.sign_in(name, "").await;
        assert_eq!(me(&world.signed_in(&second)).await, first);
        // The account has no password.
        world.try_password(email).await.refused(401, "authentication_error");
    }
    // The same subject at another provider is another user.
    world.provider.claims(&json!({ "sub": "google", "email": "eve@example.com" }));
    let third = me(&world.signed_in(&world.sign_in("microsoft", &terms()).await)).await;
    assert_eq!(third["user"]["email"], "eve@example.com");
    assert_eq!(world.provider.exchanged().len(), 5);
    assert!(!world.server.log().contains(CLIENT_SECRET));
}

#[apply(on_both)]
#[tokio::test]
async fn the_first_verified_sign_in_takes_over_an_account(#[case] database: Database) {
    let world = World::new(database).await;
    // The person who typed the address may not own it.
    let (made, squatter) = world.password_human("ada@example.com").await;
    world.server.cli(&["org", "set-plan", made["org"]["id"].as_str().unwrap(), "pro"]).await.succeeded();
    let agent = squatter.post("/v1/agents").json(json!({ "name": "Scout", "type": "ai" })).await.expect(201);
    let scoped = squatter.post("/v1/auth/keys/scoped").json(json!({ "agent_id": agent["id"] })).await.expect(201);
    world.server.client(scoped["key"].as_str().unwrap()).get("/v1/usage").await.expect(200);
    let linked = world.signed_in(&world.sign_in("google", "").await);
    assert_eq!(me(&linked).await["user"]["id"], made["user"]["id"]);
    squatter.get("/v1/auth/me").await.refused(401, "authentication_error");
    let key = world.server.client(made["api_key"].as_str().unwrap());
    key.get("/v1/agents").await.refused(401, "unauthorized");
    let scoped = world.server.client(scoped["key"].as_str().unwrap());
    scoped.get("/v1/usage").await.refused(401, "unauthorized");
    world.try_password("ada@example.com").await.refused(401, "authentication_error");
    // The address is now verified. Another provider is added, and existing sessions continue.
    world.provider.claims(&json!({ "sub": "at-microsoft" }));
    let other = world.signed_in(&world.sign_in("microsoft", "").await);
    assert_eq!(me(&other).await["user"]["id"], made["user"]["id"]);
    me(&linked).await;
    world.provider.claims(&json!({}));
    assert_eq!(me(&world.signed_in(&world.sign_in("google", "").await)).await["user"]["id"], made["user"]["id"]);
    // The owner gets an email about each provider.
    let mails = world.server.wait_for_mails(2).await;
    for (mail, provider) in mails.iter().zip(["Google", "Microsoft"]) {
        assert!(mail.to == "ada@example.com" && mail.text.contains(provider), "{mail:?}");
    }
    // Someone else now owns the mailbox, and the provider knows them under another subject.
    world.provider.claims(&json!({ "sub": "the-next-ada" }));
    world.failed(&world.sign_in("google", &terms()).await, "email_not_verified");
    // A known user needs no address.
    world.provider.claims(&json!({ "email": null }));
    assert_eq!(me(&world.signed_in(&world.sign_in("google", "").await)).await["user"]["id"], made["user"]["id"]);
}

#[apply(on_both)]
#[tokio::test]
async fn a_provider_proves_a_stated_address(#[case] database: Database) {
    let world = World::with(database, &[("KALENDS_EMAIL_PROOF", "on")]).await;
    // The only account that states the address is this person's from now on.
    let (only, _) = world.password_human("ada@example.com").await;
    let session = world.try_password("ada@example.com").await.expect(200);
    turn_on(&world.server, session["token"].as_str().unwrap(), PASSWORD).await;
    let linked = me(&world.signed_in(&world.sign_in("google", "").await)).await;
    assert_eq!(linked["user"]["id"], only["user"]["id"]);
    is_time(&linked["user"]["email_verified_at"]);
    assert_eq!(linked["user"]["second_factor"], false, "somebody else may have set it up");
    let key = world.server.client(only["api_key"].as_str().unwrap());
    key.get("/v1/agents").await.refused(401, "unauthorized");
    // Nobody knows which of two accounts is. This person gets another one, and the address.
    let (first, _) = world.password_human("bob@example.com").await;
    let (second, _) = world.password_human("bob@example.com").await;
    world.provider.claims(&json!({ "sub": "bob", "email": "bob@example.com" }));
    world.failed(&world.sign_in("google", "").await, "tos_version_required");
    let third = me(&world.signed_in(&world.sign_in("google", &terms()).await)).await;
    assert!([&first, &second].iter().all(|made| made["user"]["id"] != third["user"]["id"]));
    is_time(&third["user"]["email_verified_at"]);
    world.try_password("bob@example.com").await.refused(401, "authentication_error");
    world.server.client(first["api_key"].as_str().unwrap()).get("/v1/agents").await.expect(200);
    // A provider that does not vouch for an address leaves it to be proved by email.
    world.provider.claims(&json!({ "sub": "eve", "email": "eve@example.com", "email_verified": false }));
    let eve = me(&world.signed_in(&world.sign_in("google", &terms()).await)).await;
    assert_eq!((&eve["user"]["email"], &eve["user"]["email_verified_at"]), (&json!("eve@example.com"), &Value::Null));
    let mails = world.server.wait_for_mails(5).await;
    assert!(
        mails.iter().any(|mail| mail.to == "eve@example.com" && mail.text.contains("/console/verify#")),
        "{mails:#?}"
    );
}

#[apply(on_both)]
#[tokio::test]
async fn a_new_user_needs_an_invitation_if_sign_up_is_not_open(#[case] database: Database) {
    let mut world = World::new(database).await;
    world.password_human("owner@example.com").await;
    world.server.stop().await;
    world.server.start_again(&[("KALENDS_SIGNUP", "invited")]).await;
    world.register();
    let owner = world.server.client(&world.token("owner@example.com").await);
    world.provider.claims(&json!({ "email": "bob@example.com" }));
    world.failed(&world.sign_in("google", &terms()).await, "signup_closed");
    let invited = json!({ "email": "bob@example.com", "role": "viewer" });
    owner.post("/v1/auth/members").json(invited).await.expect(201);
    // The provider has to vouch for the address.
    world.provider.claims(&json!({ "email": "bob@example.com", "email_verified": false }));
    world.failed(&world.sign_in("google", &terms()).await, "signup_closed");
    world.provider.claims(&json!({ "email": "bob@example.com" }));
    let bob = me(&world.signed_in(&world.sign_in("google", &terms()).await)).await;
    assert_eq!(bob["user"]["email"], "bob@example.com");
    is_time(&bob["user"]["email_verified_at"]);
    // A known user signs in as before.
    assert_eq!(me(&world.signed_in(&world.sign_in("google", "").await)).await, bob);
}

#[apply(on_both)]
#[tokio::test]
async fn an_unverified_address_is_refused(#[case] database: Database) {
    let world = World::new(database).await;
    let (_, owner) = world.password_human("ada@example.com").await;
    for (name, claims) in [
        ("google", json!({ "email_verified": false })),
        ("google", json!({ "email_verified": null })),
        ("google", json!({ "hd": null })),
        ("google", json!({ "email_verified": "false" })),
        ("microsoft", json!({ "xms_edov": null, "email_verified": true })),
        ("microsoft", json!({ "xms_edov": 0 })),
    ] {
        world.provider.claims(&claims);
        world.failed(&world.sign_in(name, &terms()).await, "email_not_verified");
    }
    me(&owner).await;
    world.token("ada@example.com").await;
}

#[apply(on_both)]
#[tokio::test]
async fn a_callback_counts_once_and_only_in_the_browser_that_began(#[case] database: Database) {
    let mut world = World::new(database).await;
    let exchanged = world.provider.exchanged().len();
    // No cookie, another browser's cookie, an empty one, and a planted one next to the right one.
    let (ours, theirs) = (world.begin("google", &terms()).await, world.begin("google", &terms()).await);
    for cookie in [
        String::new(),
        theirs.cookie.clone(),
        "service_oauth_state=".to_owned(),
        format!("{}; {}", ours.cookie, theirs.cookie),
    ] {
        let begun = world.begin("google", &terms()).await;
        let cookie = cookie.replace(&ours.cookie, &begun.cookie);
        world.not_ours(&world.answer(&world.back(&begun).await, &cookie).await);
    }
    // Another attempt's state, an empty one, and made-up ones.
    for state in [theirs.state(), "", "x", &"A".repeat(43), &"A".repeat(4_000)] {
        let begun = world.begin("google", &terms()).await;
        let path = world.back(&begun).await.replace(begun.state(), state);
        world.not_ours(&world.answer(&path, &begun.cookie).await);
    }
    let begun = world.begin("google", &terms()).await;
    let path = world.back(&begun).await.replace("state=", "stat=");
    world.not_ours(&world.answer(&path, &begun.cookie).await);
    // A repeated parameter counts as missing.
    let begun = world.begin("google", &terms()).await;
    let path = format!("{}&state={}", world.back(&begun).await, begun.state());
    world.not_ours(&world.answer(&path, &begun.cookie).await);
    // The callback of another provider.
    let begun = world.begin("google", &terms()).await;
    let path = world.back(&begun).await.replace("/google/", "/microsoft/");
    world.failed(&world.answer(&path, &begun.cookie).await, "oauth_state");
    // None of these reached the provider.
    assert_eq!(world.provider.exchanged().len(), exchanged);

    // The first callback succeeds and a repetition fails. Of many concurrent callbacks, one succeeds.
    let begun = world.begin("google", &terms()).await;
    let path = world.back(&begun).await;
    world.signed_in(&world.answer(&path, &begun.cookie).await);
    world.failed(&world.answer(&path, &begun.cookie).await, "oauth_state");
    let begun = world.begin("google", "").await;
    let path = world.back(&begun).await;
    let answers = futures::future::join_all((0..16).map(|_| world.answer(&path, &begun.cookie))).await;
    let right = answers.iter().filter(|answer| answer.header("location").ends_with("/console")).count();
    assert_eq!(right, 1);

    // After ten minutes the attempt has expired.
    let begun = world.begin("google", "").await;
    let path = world.back(&begun).await;
    world.server.restart_at_offset(601).await;
    world.failed(&world.answer(&path, &begun.cookie).await, "oauth_state");
}

#[apply(on_both)]
#[tokio::test]
async fn invalid_identities_are_refused(#[case] database: Database) {
    let world = World::new(database).await;
    let now = at(&now(&world.server.anonymous()).await).timestamp();
    for claims in [
        json!({ "nonce": "another" }),
        json!({ "nonce": null }),
        json!({ "aud": "another-client" }),
        json!({ "aud": ["kalends-client", "another-client"] }),
        json!({ "aud": ["kalends-client", "another-client"], "azp": "another-client" }),
        json!({ "iss": "https://evil.example" }),
        json!({ "iss": null }),
        json!({ "exp": now - 3_600 }),
        json!({ "iat": now + 3_600 }),
        json!({ "sub": "" }),
        json!({ "sub": "x".repeat(256) }),
        json!({ "email": null }),
        json!({ "email": "no address" }),
    ] {
        world.provider.claims(&claims);
        world.failed(&world.sign_in("google", &terms()).await, "oauth_failed");
    }
    world.provider.claims(&json!({}));

    // The provider or the user refuses.
    let begun = world.begin("google", &terms()).await;
    let path = format!("/v1/auth/oauth/google/callback?error=access_denied&state={}", begun.state());
    world.failed(&world.answer(&path, &begun.cookie).await, "oauth_declined");
    // No code; an empty one; a made-up one; another client's code; another attempt's code.
    let callback = format!("{}/v1/auth/oauth/google/callback", world.server.base_url());
    let other = world.begin("google", &terms()).await;
    let other_code = code_in(&world.back(&other).await);
    for code in [
        "",
        "&code=",
        "&code=made-up",
        &format!("&code={}", encoded(&world.provider.foreign_code(&callback))),
        &other_code,
    ] {
        let begun = world.begin("google", &terms()).await;
        let path = format!("/v1/auth/oauth/google/callback?state={}{code}", begun.state());
        world.failed(&world.answer(&path, &begun.cookie).await, "oauth_failed");
    }
    // A wrong issuer in the callback.
    let begun = world.begin("google", &terms()).await;
    let path = format!("{}&iss=https%3A%2F%2Fevil.example", world.back(&begun).await);
    world.failed(&world.answer(&path, &begun.cookie).await, "oauth_failed");

    for (status, text, code) in [
        (400, r#"{"error":"invalid_grant"}"#, "oauth_failed"),
        (401, r#"{"error":"invalid_client"}"#, "oauth_failed"),
        (200, "{}", "oauth_failed"),
        (200, "<html>", "oauth_failed"),
        (200, r#"{"id_token":"a.b.c"}"#, "oauth_failed"),
        (500, "{}", "provider_unavailable"),
        (302, "{}", "provider_unavailable"),
        (200, &" ".repeat(1 << 20), "provider_unavailable"),
    ] {
        world.provider.answers(Answering::With(status, text.to_owned()));
        world.failed(&world.sign_in("google", &terms()).await, code);
    }
    world.provider.answers(Answering::Properly);
    world.signed_in(&world.sign_in("google", &terms()).await);
    assert_eq!(world.provider.user_infos(), 0, "only the operator's own provider is asked for an address");
}

/// The `&code=…` parameter of a callback's address.
fn code_in(path: &str) -> String {
    let (_, rest) = path.split_once("&code=").unwrap();
    format!("&code={}", rest.split('&').next().unwrap())
}

fn encoded(text: &str) -> String {
    text.replace('+', "%2B").replace('&', "%26").replace('/', "%2F")
}

#[apply(on_both)]
#[tokio::test]
async fn a_new_user_must_accept_the_terms(#[case] database: Database) {
    let world = World::new(database).await;
    world.failed(&world.sign_in("google", "").await, "tos_version_required");
    world.failed(&world.sign_in("google", "?tos_version=2020-01-01").await, "tos_version_stale");
    let anonymous = world.server.anonymous();
    for query in ["?tos_version=", &format!("?tos_version={}", "x".repeat(65))] {
        anonymous
            .get(format!("/v1/auth/oauth/google{query}"))
            .await
            .refused(400, "validation_error")
            .param("tos_version");
    }
    anonymous
        .get("/v1/auth/oauth/google?redirect_uri=https%3A%2F%2Fevil.example")
        .await
        .refused(400, "validation_error");
    // A waitlisted user stays waitlisted.
    let joined = anonymous.post("/v1/waitlist").json(json!({ "email": "ada@example.com", "tos_version": TERMS })).await;
    joined.expect(201);
    world.failed(&world.sign_in("google", &terms()).await, "account_waitlisted");
    // An organization that an agent signed up with the address is unchanged.
    let body = json!({ "email": "bob@example.com", "agent_name": "Scout", "tos_version": TERMS });
    let agents = anonymous.post("/v1/agent/sign-up").json(body).await.expect(200);
    world.provider.claims(&json!({ "sub": "bob", "email": "bob@example.com" }));
    let bob = me(&world.signed_in(&world.sign_in("google", &terms()).await)).await;
    assert_ne!(bob["org"]["id"], agents["org_id"]);
    // Ten sign-ups per mail domain and hour. Two and the agent have been counted already.
    for number in 0..8 {
        world.provider.claims(&json!({ "sub": number.to_string(), "email": format!("{number}@example.com") }));
        let answer = world.sign_in("google", &terms()).await;
        if number < 7 {
            world.signed_in(&answer);
        } else {
            world.failed(&answer, "rate_limited");
        }
    }
}

#[apply(on_both)]
#[tokio::test]
async fn an_unconfigured_provider_is_not_found(#[case] database: Database) {
    let server = Server::start(database).await;
    for name in ["google", "microsoft", "oidc", "apple", "GOOGLE", "%20"] {
        let start = format!("/v1/auth/oauth/{name}");
        server.anonymous().get(&start).await.refused(404, "not_found").code("provider_not_found");
        server.anonymous().get(format!("{start}/callback")).await.refused(404, "not_found");
    }
    let variable = |key: &str| format!("KALENDS_OAUTH_GOOGLE_{key}");
    let (id, secret) = (variable("CLIENT_ID"), variable("CLIENT_SECRET"));
    let half = server.cli_with(&[(&id, "kalends")], &["config"]).await.failed();
    assert!(half.stderr.contains(&secret), "{half:?}");
    let half = server.cli_with(&[(&secret, "hush-hush-hush")], &["config"]).await.failed();
    assert!(half.stderr.contains(&id) && !half.stderr.contains("hush-hush-hush"), "{half:?}");
    let settings = server.cli_with(&[(&id, "kalends"), (&secret, "hush-hush-hush")], &["config"]).await.succeeded();
    assert!(settings.stdout.contains("https://accounts.google.com") && !settings.stdout.contains("hush-hush-hush"));
    for (key, value) in [
        ("TOKEN_URL", "http://provider.example/token"),
        ("TOKEN_URL", "https://127.0.0.1/token"),
        ("AUTHORIZE_URL", "http://provider.example/authorize"),
        ("AUTHORIZE_URL", "javascript:alert(1)"),
        ("ISSUER", "accounts.google.com"),
    ] {
        let name = variable(key);
        let wrong =
            server.cli_with(&[(&id, "kalends"), (&secret, "hush-hush-hush"), (&name, value)], &["config"]).await;
        assert!(wrong.failed().stderr.contains(&name), "{key}={value}");
    }
}

#[apply(on_both)]
#[tokio::test]
async fn provider_sign_in_returns_to_the_page_and_allows_a_password(#[case] database: Database) {
    let world = World::new(database).await;
    let base = world.server.base_url();
    let anybody = world.server.anonymous();
    // The page of the sign-in offers every provider, with the page to return to.
    let page = anybody.undescribed().get("/console/sign-in?next=/console/join").await.expect(200);
    for provider in ["google", "microsoft"] {
        let way = format!("href=\"/v1/auth/oauth/{provider}?return_to=join\"");
        assert!(page.text().contains(&way), "{}", page.text());
    }
    let way = async |query: &str| {
        let answer = anybody.get(format!("/v1/auth/oauth/google{query}")).await.expect(302);
        let cookie = answer.header("set-cookie").split("; ").next().unwrap().to_owned();
        (Begun { location: answer.header("location").to_owned(), cookie: cookie.clone() }, cookie)
    };
    let (begun, cookie) = way(&format!("{}&return_to=connect", terms())).await;
    let entered = world.answer(&world.back(&begun).await, &cookie).await.expect(302);
    assert_eq!(entered.header("location"), format!("{base}/console/connect/offer"));
    let cookies: Vec<_> = entered.headers.get_all("set-cookie").iter().map(|value| value.to_str().unwrap()).collect();
    assert!(cookies.iter().any(|line| line.starts_with("service_session=")), "{cookies:?}");
    // A failed sign-in is explained, and continues to that page.
    let (begun, cookie) = way("?return_to=connections").await;
    let path = format!("/v1/auth/oauth/google/callback?error=access_denied&state={}", begun.state());
    let refused = world.answer(&path, &cookie).await.expect(302);
    assert_eq!(
        refused.header("location"),
        format!("{base}/console/sign-in?next=/console/connections&error=oauth_declined")
    );
    // Any page of the console, with its query.
    let (begun, cookie) = way(&format!("{}&return_to=/console/agents%3Foffset%3D50", terms())).await;
    let entered = world.answer(&world.back(&begun).await, &cookie).await.expect(302);
    assert_eq!(entered.header("location"), format!("{base}/console/agents?offset=50"));
    let (begun, cookie) = way("?return_to=/console/agents%3Foffset%3D50").await;
    let path = format!("/v1/auth/oauth/google/callback?error=access_denied&state={}", begun.state());
    let refused = world.answer(&path, &cookie).await.expect(302);
    let explained = format!("{base}/console/sign-in?next=/console/agents%3Foffset%3D50&error=oauth_declined");
    assert_eq!(refused.header("location"), explained);
    // A path that is no page, and a state that somebody else wrote.
    let (begun, cookie) = way(&format!("{}&return_to=/console/../v1/agents", terms())).await;
    let entered = world.answer(&world.back(&begun).await, &cookie).await.expect(302);
    assert_eq!(entered.header("location"), format!("{base}/console"));
    let forged = "/v1/auth/oauth/google/callback?code=x&state=page-aHR0cHM6Ly9ldmlsLmV4YW1wbGUv.x";
    let refused = world.answer(forged, &cookie).await.expect(302);
    assert_eq!(refused.header("location"), format!("{base}/console?error=oauth_state"));
    anybody
        .get("/v1/auth/oauth/google?return_to=https://evil.example")
        .await
        .refused(400, "validation_error")
        .param("return_to");

    // The user has no password and sets one by mail.
    let sign_in = |password: &str| {
        anybody.post("/v1/auth/signin").json(json!({ "email": "ada@example.com", "password": password }))
    };
    sign_in("a first password").await.refused(401, "authentication_error");
    anybody.post("/v1/auth/password/forgot").json(json!({ "email": "ada@example.com" })).await.expect(202);
    let mails = world.server.wait_for_mails(1).await;
    let (_, rest) = mails[0].text.split_once("/console/reset#").unwrap();
    let body = json!({ "token": rest.split_whitespace().next().unwrap(), "password": "a first password" });
    anybody.post("/v1/auth/password/reset").json(body).await.expect(204);
    sign_in("a first password").await.expect(200);
    // The provider still opens the account.
    world.signed_in(&world.sign_in("google", "").await).get("/v1/auth/me").await.expect(200);
}
