//! The pages of the console for people: sign-in, sign-up, and the first page, without scripts.

use kalends_e2e::{
    Browser,
    Database::{self, Sqlite},
    Server, Visitor,
};
use rstest::rstest;
use rstest_reuse::apply;

use crate::{
    booking_browser::{PHONE, fits},
    console::{Human, PASSWORD},
    fixtures::wait_until,
    front::http,
    members::member,
    on_both,
};

const ADA: &str = "ada@example.com";

/// An answer to a browser that follows no redirect.
struct Seen {
    status: u16,
    location: String,
    cookie: String,
    retry_after: String,
    text: String,
}

/// A browser of one user: it keeps the session's cookie.
struct Pages<'a> {
    server: &'a Server,
    cookie: String,
}

impl<'a> Pages<'a> {
    const fn new(server: &'a Server) -> Self {
        Self { server, cookie: String::new() }
    }

    async fn ask(&mut self, request: reqwest::RequestBuilder) -> Seen {
        let request = request.header("accept", "text/html").header("cookie", &self.cookie);
        let answer = request.send().await.unwrap();
        let header = |name: &str| answer.headers().get(name).map_or("", |value| value.to_str().unwrap()).to_owned();
        let (status, location, cookie) = (answer.status().as_u16(), header("location"), header("set-cookie"));
        let retry_after = header("retry-after");
        if let Some((pair, _)) = cookie.split_once(';') {
            self.cookie = pair.to_owned();
        }
        Seen { status, location, cookie, retry_after, text: answer.text().await.unwrap() }
    }

    async fn open(&mut self, path: &str) -> Seen {
        self.ask(http().get(format!("{}{path}", self.server.base_url()))).await
    }

    /// Sends a form, as a browser does from a page of this server.
    async fn send(&mut self, path: &str, fields: &[(&str, &str)]) -> Seen {
        let origin = self.server.base_url().to_owned();
        self.send_from(&origin, path, fields).await
    }

    async fn send_from(&mut self, origin: &str, path: &str, fields: &[(&str, &str)]) -> Seen {
        let encoded = |text: &str| -> String { text.bytes().map(|byte| format!("%{byte:02X}")).collect() };
        let body: Vec<_> = fields.iter().map(|(name, value)| format!("{name}={}", encoded(value))).collect();
        let form = http().post(format!("{}{path}", self.server.base_url()));
        let form = form.header("content-type", "application/x-www-form-urlencoded").header("origin", origin);
        self.ask(form.body(body.join("&"))).await
    }
}

const HOSTILE: &str = "\"><script>alert(1)</script>";

#[apply(on_both)]
#[tokio::test]
async fn a_user_signs_in_and_out_by_forms(#[case] database: Database) {
    let server = Server::start(database).await;
    Human::sign_up(&server, ADA).await;
    let mut pages = Pages::new(&server);
    // Nobody is signed in: the first page leads to the form, and the form leads back.
    let first = pages.open("/console").await;
    assert_eq!((first.status, &*first.location), (303, "/console/sign-in"));
    let form = pages.open("/console/sign-in?next=/console/connect").await;
    assert_eq!(form.status, 200);
    assert!(
        form.text.contains("value=\"/console/connect\"") && form.text.contains("Create an account"),
        "{}",
        form.text
    );
    let failed = pages.open("/console?error=oauth_declined").await;
    let form = pages.open(&failed.location).await;
    assert!(form.text.contains("You or your provider declined the sign-in."), "{}", form.text);

    let wrong = pages.send("/console/sign-in", &[("email", ADA), ("password", "not the password")]).await;
    assert_eq!((wrong.status, &*wrong.cookie), (401, ""));
    assert!(wrong.text.contains("The address or the password is wrong.") && wrong.text.contains(ADA), "{}", wrong.text);
    assert!(!wrong.text.contains("not the password"));
    let hostile =
        pages.send("/console/sign-in", &[("email", HOSTILE), ("password", PASSWORD), ("next", HOSTILE)]).await;
    assert!(hostile.status == 400 && !hostile.text.contains("<script>"), "{}", hostile.text);
    // Another site can neither sign its visitors in, nor choose where a sign-in leads.
    let credentials = [("email", ADA), ("password", PASSWORD)];
    let foreign = pages.send_from("https://evil.example", "/console/sign-in", &credentials).await;
    assert_eq!((foreign.status, &*foreign.cookie), (403, ""));
    assert!(foreign.text.contains(&format!("Open it at {},", server.base_url())), "{}", foreign.text);
    let alias = server.base_url().replace("127.0.0.1", "localhost");
    let named = pages.send_from(&alias, "/console/sign-in", &credentials).await;
    assert_eq!((named.status, &*named.location), (303, "/console"), "another name of this machine");
    pages.send("/console/sign-out", &[]).await;
    for next in [
        "https://evil.example/",
        "//evil.example",
        "/v1/auth/signout",
        "/\\evil.example",
        "/console\n",
        "/console/../book/x",
        "/console/%2e%2e/v1/auth/oauth/google",
        "/console/sign-out",
        "/console/connect#secret",
    ] {
        let signed_in = pages.send("/console/sign-in", &[credentials[0], credentials[1], ("next", next)]).await;
        assert_eq!((signed_in.status, &*signed_in.location), (303, "/console"), "{next}");
    }
    let signed_in =
        pages.send("/console/sign-in", &[credentials[0], credentials[1], ("next", "/console/connect")]).await;
    assert_eq!(signed_in.location, "/console/connect");
    assert!(signed_in.cookie.ends_with("; Path=/; Max-Age=43200; HttpOnly; SameSite=Lax"), "{}", signed_in.cookie);

    let page = pages.open("/console").await;
    assert!(page.status == 200 && page.text.contains("You are Ada (ada@example.com), an owner."), "{}", page.text);
    assert!(!page.text.contains("Confirm your address"), "this server asks for no proof");
    let foreign = pages.send_from("https://evil.example", "/console/sign-out", &[]).await;
    assert_eq!(foreign.status, 403);
    assert_eq!(pages.open("/console").await.status, 200, "the session goes on");
    let out = pages.send("/console/sign-out", &[]).await;
    assert_eq!((out.status, &*out.location), (303, "/console/sign-in"));
    assert_eq!(pages.open("/console").await.location, "/console/sign-in");
    // A form of a session that has ended leads to the sign-in too.
    let late = pages.send("/console/verify/resend", &[]).await;
    assert_eq!((late.status, &*late.location), (303, "/console/sign-in"));
    // A program gets JSON.
    server.anonymous().undescribed().get("/console").await.refused(401, "authentication_error");
}

#[apply(on_both)]
#[tokio::test]
async fn a_user_signs_up_by_a_form(#[case] database: Database) {
    let server = Server::start_with(database, &[("KALENDS_EMAIL_PROOF", "on")]).await;
    let mut pages = Pages::new(&server);
    let form = pages.open("/console/sign-up").await;
    assert!(form.status == 200 && form.text.contains("terms of 2026-01-01"), "{}", form.text);
    let fields = [
        ("email", ADA),
        ("name", "Ada"),
        ("org_name", "Engines"),
        ("password", PASSWORD),
        ("accepted", "yes"),
        ("tos_version", "2026-01-01"),
    ];
    let with = |name: &str, value: &'static str| {
        fields.map(|(field, given)| (field, if field == name { value } else { given }))
    };
    for (name, value, status, problem) in [
        ("email", "ada", 400, "The address "),
        ("name", "", 400, "Your name "),
        ("password", "short", 400, "The password must be 10 to 128 characters long, got 5."),
        ("accepted", "", 400, "Accept the terms"),
        ("tos_version", "2020-01-01", 409, "The terms have changed."),
        ("tos_version", "", 400, "The terms have changed."),
        ("org_name", HOSTILE, 201, "The organization "),
    ] {
        let mut other = Pages::new(&server);
        let with = with(name, value)
            .map(|(field, given)| (field, if status == 201 && field == "email" { "eve@example.com" } else { given }));
        let seen = other.send("/console/sign-up", &with).await;
        assert_eq!(seen.status, status, "{name}: {}", seen.text);
        assert!(seen.text.contains(problem) && !seen.text.contains("<script>"), "{name}: {}", seen.text);
        assert_eq!(seen.cookie.is_empty(), status != 201);
        assert!(status == 201 || name == "name" || seen.text.contains("value=\"Ada\""), "what was typed is kept");
    }
    let made = pages.send("/console/sign-up", &fields).await;
    assert_eq!(made.status, 201, "{}", made.text);
    assert!(made.text.contains("The organization Engines is ready.") && made.text.contains(ADA), "{}", made.text);
    let (_, rest) = made.text.split_once("svc_sk_").unwrap();
    let key = format!("svc_sk_{}", rest.split('<').next().unwrap());
    server.client(&key).get("/v1/agents").await.expect(200);
    let taken = pages.send("/console/sign-up", &with("tos_version", "2026-01-01")).await;
    assert_eq!(taken.status, 201, "nobody holds the address yet");

    // The first page asks for the proof, and sends another email.
    let page = pages.open("/console").await;
    assert!(page.text.contains("Confirm your address") && page.text.contains("Send another email"), "{}", page.text);
    let sent = pages.send("/console/verify/resend", &[]).await;
    assert_eq!((sent.status, &*sent.location), (303, "/console?sent"));
    assert!(pages.open("/console?sent").await.text.contains("is on its way"));
    for _ in 0..4 {
        assert_eq!(pages.send("/console/verify/resend", &[]).await.status, 303);
    }
    let refused = pages.send("/console/verify/resend", &[]).await;
    assert!(refused.status == 429 && refused.text.contains("Try again in"), "{}", refused.text);
    assert!(refused.retry_after.parse::<u32>().is_ok_and(|seconds| seconds <= 3_600), "{}", refused.retry_after);
    // As with the API, the audit log records it. Reloading its address leads back.
    let session = server.client(pages.cookie.strip_prefix("service_session=").unwrap());
    let ask = || async { session.get("/v1/audit-log?action=rate_limit.exceeded").await };
    wait_until(ask, |log| log.data().len() == 1).await;
    let reloaded = pages.open("/console/verify/resend").await;
    assert_eq!((reloaded.status, &*reloaded.location), (303, "/console"));
}

#[apply(on_both)]
#[tokio::test]
async fn a_user_switches_between_organizations(#[case] database: Database) {
    let server = Server::start(database).await;
    let owner = server.client(&Human::sign_up(&server, "grace@example.com").await.token);
    let (bob, session) = member(&server, &owner, "bob@example.com", "viewer").await;
    let theirs = session.get("/v1/auth/me").await.expect(200)["org"]["id"].as_str().unwrap().to_owned();
    let mut pages = Pages::new(&server);
    pages.send("/console/sign-in", &[("email", &bob.email), ("password", PASSWORD)]).await;
    let page = pages.open("/console").await;
    assert!(page.text.contains(&format!("action=\"/console/orgs/{theirs}/switch\"")), "{}", page.text);
    let switched = pages.send(&format!("/console/orgs/{theirs}/switch"), &[]).await;
    assert_eq!((switched.status, &*switched.location), (303, "/console"));
    let page = pages.open("/console").await;
    assert!(page.text.contains("a viewer.") && page.text.contains(&format!("/console/orgs/{}/switch", bob.org)));
    let unknown = pages.send("/console/orgs/org_01jn8r6v9ke0bt3m5qz2c7xwdh/switch", &[]).await;
    assert!(
        unknown.status == 404 && unknown.text.contains("You no longer belong to that organization."),
        "{}",
        unknown.text
    );
}

#[tokio::test]
async fn sign_up_can_be_closed() {
    for (policy, says) in [("invited", "lets only invited people sign up"), ("closed", "does not accept new accounts")]
    {
        let server = Server::start_with(Sqlite, &[("KALENDS_SIGNUP", policy)]).await;
        let mut pages = Pages::new(&server);
        let page = pages.open("/console/sign-up").await;
        assert!(page.text.contains(says) && !page.text.contains("<form"), "{}", page.text);
        assert!(!pages.open("/console/sign-in").await.text.contains("/console/sign-up"));
        let fields = [
            ("email", ADA),
            ("name", "Ada"),
            ("password", PASSWORD),
            ("accepted", "yes"),
            ("tos_version", "2026-01-01"),
        ];
        let refused = pages.send("/console/sign-up", &fields).await;
        assert!(refused.status == 403 && refused.text.contains(says) && refused.cookie.is_empty(), "{}", refused.text);
    }
}

#[tokio::test]
async fn a_person_signs_up_on_a_phone() {
    let server = Server::start_with(Sqlite, &[("KALENDS_EMAIL_PROOF", "on")]).await;
    signs_up(&server, &Visitor::new().phone(PHONE.0, PHONE.1).open().await, true).await;
}

#[tokio::test]
async fn a_person_signs_up_without_scripts() {
    let server = Server::start_with(Sqlite, &[("KALENDS_EMAIL_PROOF", "on")]).await;
    signs_up(&server, &Visitor::new().without_scripts().open().await, false).await;
}

async fn signs_up(server: &Server, browser: &Browser, is_narrow: bool) {
    let fits = async || {
        if is_narrow {
            fits(browser).await;
        }
    };
    browser.goto(&format!("{}/console", server.base_url())).await;
    browser.headed("Sign in").await;
    fits().await;
    browser.click("a[href='/console/sign-up']").await;
    browser.headed("Create an account").await;
    fits().await;
    for (field, text) in [("#email", ADA), ("#name", "Ada"), ("#password", PASSWORD)] {
        browser.fill(field, text).await;
    }
    browser.click("#accepted").await;
    browser.click("button.primary").await;
    browser.headed("Welcome to Kalends").await;
    fits().await;
    browser.click("a.primary").await;
    browser.headed("Ada").await;
    fits().await;
    browser.click("form[action='/console/verify/resend'] button").await;
    // The pages before and after a form have the same heading, so it waits for what only the second one has.
    browser.wait_for_paragraph("A message to ada@example.com is on its way. Its link works for 24 hours.").await;
    browser.click("form[action='/console/sign-out'] button").await;
    browser.headed("Sign in").await;
    browser.fill("#email", ADA).await;
    browser.fill("#password", "a wrong password").await;
    browser.click("button.primary").await;
    browser.wait_for_paragraph("The address or the password is wrong.").await;
    fits().await;
    assert_eq!(browser.property("#email", "value").await, ADA);
    browser.fill("#password", PASSWORD).await;
    browser.enter().await;
    browser.headed("Ada").await;
}
