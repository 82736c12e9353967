//! The pages of the console for people: sign-in, sign-up, passwords, invitations, and the first page, without scripts.

use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD as URL_SAFE_NO_PAD};
use kalends_e2e::{
    Browser,
    Database::{self, Sqlite},
    Server, Visitor,
};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::json;
use sha2::{Digest as _, Sha256};

use crate::{
    booking_browser::{PHONE, fits},
    console::{Human, PASSWORD},
    fixtures::wait_for,
    members::{invite, member, token},
    on_both,
    pages::{HOSTILE, Pages, hidden},
};

const ADA: &str = "ada@example.com";

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
        form.text.contains("value=\"/console/connect/offer\"") && form.text.contains("Create an account"),
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
    assert_eq!(signed_in.location, "/console/connect/offer", "the link is open already");
    assert!(signed_in.cookie.ends_with("; Path=/; Max-Age=43200; HttpOnly; SameSite=Lax"), "{}", signed_in.cookie);

    let front = pages.open("/").await.says(200, "Go to the console");
    assert!(!front.text.contains("Create an account"), "{}", front.text);
    let page = pages.open("/console").await;
    assert!(page.status == 200 && page.text.contains("You are Ada (ada@example.com), an owner."), "{}", page.text);
    assert!(!page.text.contains("Confirm your address"), "this server asks for no proof");
    let foreign = pages.send_from("https://evil.example", "/console/sign-out", &[]).await;
    assert_eq!(foreign.status, 403);
    assert_eq!(pages.open("/console").await.status, 200, "the session goes on");
    let out = pages.send("/console/sign-out", &[]).await;
    assert_eq!((out.status, &*out.location), (303, "/console/sign-in"));
    assert_eq!(pages.open("/console").await.location, "/console/sign-in");
    pages.open("/").await.says(200, "Create an account");
    // A form of a session that has ended leads to the sign-in too.
    let late = pages.send("/console/verify/resend", &[]).await;
    late.asks_to_sign_in();
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
    let waits = json!({ "email": "waits@example.com", "name": "Wait", "tos_version": "2026-01-01" });
    server.anonymous().post("/v1/waitlist").json(waits).await.expect(201);
    for (name, value, status, problem) in [
        ("email", "ada", 400, "The address "),
        ("email", "waits@example.com", 403, "An email is written when it is admitted. This server sends none"),
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
    assert!(page.text.contains("Confirm your address") && page.text.contains("Write another email"), "{}", page.text);
    let sent = pages.send("/console/verify/resend", &[]).await;
    assert_eq!((sent.status, &*sent.location), (303, "/console?sent"));
    let page = pages.open("/console?sent").await.says(200, "Another email to ada@example.com was written.");
    assert!(page.text.contains("This server sends no email."), "{}", page.text);
    for _ in 0..4 {
        assert_eq!(pages.send("/console/verify/resend", &[]).await.status, 303);
    }
    let refused = pages.send("/console/verify/resend", &[]).await;
    assert!(refused.status == 429 && refused.text.contains("Try again in"), "{}", refused.text);
    assert!(refused.retry_after.parse::<u32>().is_ok_and(|seconds| seconds <= 3_600), "{}", refused.retry_after);
    // As with the API, the audit log records it. Reloading its address leads back.
    let session = server.client(&pages.cookies["service_session"]);
    let ask = || async { session.get("/v1/audit-log?action=rate_limit.exceeded").await };
    wait_for(ask, |log| log.data().len() == 1).await;
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
    pages.open("/console/orgs").await.says(200, &format!("action=\"/console/orgs/{theirs}/switch\""));
    let switched = pages.send(&format!("/console/orgs/{theirs}/switch"), &[]).await;
    assert_eq!((switched.status, &*switched.location), (303, "/console"));
    let page = pages.open("/console").await.says(200, "a viewer.");
    for way in ["waiting", "calendar", "agents", "keys", "account", "orgs"] {
        assert!(page.text.contains(&format!("<li><a href=\"/console/{way}\"><span>")), "no {way}: {}", page.text);
    }
    pages.open("/console/orgs").await.says(200, &format!("/console/orgs/{}/switch", bob.org));
    let unknown = pages.send("/console/orgs/org_01jn8r6v9ke0bt3m5qz2c7xwdh/switch", &[]).await;
    assert!(
        unknown.status == 404 && unknown.text.contains("You no longer belong to that organization."),
        "{}",
        unknown.text
    );
}

/// The fields of a sign-up in which nothing is wrong.
fn signing_up<'a>(email: &'a str, once: &'a str) -> [(&'a str, &'a str); 6] {
    [
        ("email", email),
        ("name", "Ada"),
        ("password", PASSWORD),
        ("accepted", "yes"),
        ("tos_version", "2026-01-01"),
        ("once", once),
    ]
}

/// The key of the form that accepts the invitation with that token.
fn key_of(token: &str) -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(token))
}

#[apply(on_both)]
#[tokio::test]
async fn a_form_that_is_sent_twice_makes_one_account(#[case] database: Database) {
    let server = Server::start_with(database, &[("KALENDS_EMAIL_PROOF", "on")]).await;
    let mut pages = Pages::new(&server);
    let once = hidden(&pages.open("/console/sign-up").await.text, "once");
    let again = hidden(&pages.open("/console/sign-up").await.text, "once");
    assert!(once.len() == 32 && once != again, "{once} {again}");
    // A double click: both are under way at once, and the browser shows the answer to the second one.
    let (mut first, mut second) = (Pages::new(&server), Pages::new(&server));
    let fields = signing_up(ADA, &once);
    let (one, other) = tokio::join!(first.send("/console/sign-up", &fields), second.send("/console/sign-up", &fields));
    assert_eq!((one.status, other.status), (201, 201), "{} {}", one.text, other.text);
    assert!(one.text == other.text && one.text.contains("svc_sk_"), "both show the same key");
    assert!([&one, &other].iter().any(|seen| seen.cookie.starts_with("service_session=")));
    let later = Pages::new(&server).send("/console/sign-up", &fields).await;
    assert_eq!((later.status, &later.text), (201, &one.text));
    server.wait_for_mails(1).await;
    assert_eq!(server.mails().len(), 1, "one account asks for one proof");

    let changed = Pages::new(&server).send("/console/sign-up", &signing_up("eve@example.com", &once)).await;
    assert!(changed.status == 409 && changed.text.contains("This form was sent before"), "{}", changed.text);
    assert!(changed.text.contains("eve@example.com") && hidden(&changed.text, "once") != once);
    // Without a usable key, each form counts.
    for once in ["", "short", &"x".repeat(256)] {
        let mut pages = Pages::new(&server);
        let made = pages.send("/console/sign-up", &signing_up("bob@example.com", once)).await;
        assert!(made.status == 201 && made.text != one.text, "{}", made.text);
    }
}

#[apply(on_both)]
#[tokio::test]
async fn a_form_over_a_limit_keeps_what_was_typed(#[case] database: Database) {
    let limits = "sign_in=1,sign_up=1";
    let server = Server::start_with(database, &[("KALENDS_IP_LIMITS", limits)]).await;
    let mut pages = Pages::new(&server);
    let credentials = [("email", "typed@example.com"), ("password", PASSWORD), ("next", "/console/join")];
    let signs_up = signing_up("typed@example.com", "");
    let forgot = [("email", "typed@example.com")];
    let reset = [("token", "typed@example.com"), ("password", PASSWORD)];
    assert_eq!(pages.send("/console/sign-in", &credentials).await.status, 401);
    pages.send("/console/sign-up", &signs_up).await;
    for (path, fields) in [
        ("/console/sign-in", &credentials[..]),
        ("/console/sign-up", &signs_up),
        ("/console/forgot", &forgot),
        ("/console/reset", &reset),
    ] {
        let seen = pages.send(path, fields).await;
        assert!(seen.status == 429 && seen.text.contains("Try again in "), "{path} {} {}", seen.status, seen.text);
        assert!(seen.text.contains("value=\"typed@example.com\"") && !seen.text.contains(PASSWORD), "{}", seen.text);
        assert!(seen.retry_after.parse::<u32>().is_ok_and(|seconds| seconds > 0), "{path}");
        let foreign = pages.send_from("https://evil.example", path, fields).await;
        assert_eq!(foreign.status, 403, "{path}");
    }
    // The forms sent no email, so this one is the first.
    server
        .anonymous()
        .post("/v1/waitlist")
        .json(json!({ "email": "waits@example.com", "name": "Wait", "tos_version": "2026-01-01" }))
        .await
        .expect(201);
    assert_eq!(server.wait_for_mails(1).await[0].to, "waits@example.com");
}

#[apply(on_both)]
#[tokio::test]
async fn a_user_sets_a_password_by_forms(#[case] database: Database) {
    let server = Server::start(database).await;
    Human::sign_up(&server, ADA).await;
    let mut pages = Pages::new(&server);
    pages.send("/console/sign-in", &[("email", ADA), ("password", PASSWORD)]).await;
    let wrong = pages.send("/console/forgot", &[("email", HOSTILE)]).await;
    assert!(wrong.status == 400 && wrong.text.contains("Enter an email address"), "{}", wrong.text);
    assert!(!wrong.text.contains("<script>alert"));
    let nobody = pages.send("/console/forgot", &[("email", "nobody@example.com")]).await;
    let asked = pages.send("/console/forgot", &[("email", ADA)]).await;
    assert_eq!((nobody.status, asked.status), (202, 202));
    assert_eq!(nobody.text.replace("nobody@", "ada@"), asked.text, "the page does not say who has an account");
    let mails = server.wait_for_mails(1).await;
    let link = mails[0].text.split_whitespace().find(|word| word.contains("/console/reset#")).unwrap();

    for (code, password, status, says) in [
        ("", "a new password", 400, "This code does not work"),
        (HOSTILE, "a new password", 400, "This code does not work"),
        ("Zk9wQm7cXb2dRt5yHn1vLs8pGf3jKe6aUi4oWqMxEzT", "a new password", 400, "This code does not work"),
        (link, "short", 400, "The password must be 10 to 128 characters long, got 5."),
        (link, "a new password", 200, "Your password is set"),
        (link, "a new password", 200, "Your password is set"),
        (link, "another password", 400, "This code does not work"),
    ] {
        let seen = pages.send("/console/reset", &[("token", code), ("password", password)]).await;
        assert!(seen.status == status && seen.text.contains(says), "{code} {}", seen.text);
        assert!(!seen.text.contains("<script>alert") && !seen.text.contains(password));
        // A wrong code may be the secret of something else, so only one that may work is kept.
        assert_eq!(seen.text.contains(&format!("value=\"{code}\"")), password == "short" || code.is_empty(), "{code}");
    }
    assert_eq!(pages.open("/console").await.location, "/console/sign-in", "all sessions have ended");
    let entered = pages.send("/console/sign-in", &[("email", ADA), ("password", "a new password")]).await;
    assert_eq!(entered.status, 303);
}

#[apply(on_both)]
#[tokio::test]
async fn a_user_joins_an_organization_by_forms(#[case] database: Database) {
    let server = Server::start(database).await;
    let owner = server.client(&Human::sign_up(&server, "grace@example.com").await.token);
    let bob = Human::sign_up(&server, "bob@example.com").await;
    invite(&owner, "bob@example.com", "viewer").await.expect(201);
    let token = token(&server, "bob@example.com", 1).await;
    let mut pages = Pages::new(&server);
    for typed in ["", HOSTILE, "a b", &"x".repeat(257)] {
        let wrong = pages.send("/console/invitations", &[("token", typed)]).await;
        assert!(wrong.status == 400 && wrong.text.contains("This code is incomplete"), "{}", wrong.text);
        assert!(wrong.cookie.is_empty() && !wrong.text.contains("<script>alert"));
    }
    let foreign = pages.send_from("https://evil.example", "/console/invitations", &[("token", &token)]).await;
    assert_eq!((foreign.status, &*foreign.cookie), (403, ""));
    let opened = pages.send("/console/invitations", &[("token", &token)]).await;
    assert_eq!((opened.status, &*opened.location), (303, "/console/join"));
    assert!(opened.cookie.ends_with("; Path=/console; Max-Age=3600; HttpOnly; SameSite=Lax"), "{}", opened.cookie);
    for path in ["/console/join", "/console/invitations"] {
        assert!(!pages.open(path).await.text.contains(&token), "no page shows the token");
    }
    let first = pages.open("/console/join").await;
    assert_eq!((first.status, &*first.location), (303, "/console/sign-in?next=%2Fconsole%2Fjoin"));

    // Another user cannot accept it, and can sign in as somebody else.
    member(&server, &owner, "eve@example.com", "viewer").await;
    let credentials = |email| [("email", email), ("password", PASSWORD), ("next", "/console/join")];
    let entered = pages.send("/console/sign-in", &credentials("eve@example.com")).await;
    assert_eq!(entered.location, "/console/join");
    let page_of_bob = pages.open("/console/join").await;
    assert!(!page_of_bob.text.contains("name=\"key\""), "there is nothing to accept");
    let key = key_of(&token);
    for seen in [page_of_bob, pages.send("/console/join", &[("key", &key)]).await] {
        assert!(
            seen.status == 403 && seen.text.contains("It was sent to another address than yours."),
            "{}",
            seen.text
        );
    }
    let out = pages.send("/console/sign-out", &[("next", "/console/join")]).await;
    assert_eq!(out.location, "/console/sign-in?next=%2Fconsole%2Fjoin");
    let entered = pages.send("/console/sign-in", &credentials(&bob.email)).await;
    assert_eq!(entered.location, "/console/join");
    let page = pages.open("/console/join").await;
    assert!(
        page.status == 200 && page.text.contains("invited to the organization Engines as a viewer"),
        "{}",
        page.text
    );
    assert_eq!(hidden(&page.text, "key"), key);
    let foreign = pages.send_from("https://evil.example", "/console/join", &[("key", &key)]).await;
    assert_eq!(foreign.status, 403);
    // Another invitation was opened in between: the page shows that one first.
    let other = pages.send("/console/join", &[("key", &key_of("another"))]).await;
    assert_eq!((other.status, &*other.location), (303, "/console/join"));
    // A double click.
    let mut same = Pages::new(&server);
    same.cookies.clone_from(&pages.cookies);
    let fields = [("key", &*key)];
    let (joined, again) = tokio::join!(pages.send("/console/join", &fields), same.send("/console/join", &fields));
    assert!(joined.status == 200 && joined.text.contains("Welcome to Engines"), "{}", joined.text);
    assert_eq!((again.status, &again.text), (200, &joined.text));
    assert!(!pages.cookies.contains_key("service_invitation"));
    let (_, rest) = joined.text.split_once("action=\"/console/orgs/").unwrap();
    let switched = pages.send(&format!("/console/orgs/{}", rest.split('"').next().unwrap()), &[]).await;
    assert_eq!((switched.status, &*switched.location), (303, "/console"));
    assert!(pages.open("/console").await.text.contains("a viewer."));
    // Without the cookie, the page asks for the code. A used one is refused.
    assert_eq!(pages.open("/console/join").await.location, "/console/invitations");
    assert_eq!(pages.send("/console/join", &[]).await.location, "/console/invitations");
    pages.send("/console/invitations", &[("token", &token)]).await;
    let used = pages.open("/console/join").await;
    assert!(used.status == 400 && used.text.contains("It is unknown, used, withdrawn"), "{}", used.text);
    assert!(!pages.cookies.contains_key("service_invitation"), "it is of no more use");
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
    browser.headed("Set up your first agent").await;
    fits().await;
    browser.click("form[action='/console/start'] a.quiet").await;
    browser.headed("Ada").await;
    fits().await;
    browser.click("form[action='/console/verify/resend'] button").await;
    // The pages before and after a form have the same heading, so it waits for what only the second one has.
    browser.wait_for_paragraph("Another email to ada@example.com was written. Its link works for 24 hours.").await;
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
