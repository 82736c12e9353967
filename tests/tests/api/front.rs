//! The pages that introduce the server: the first page, the console's index, the terms and the plans; and the page that
//! revokes a claim.

use std::collections::BTreeSet;

use kalends_e2e::{
    Database::{self, Sqlite},
    Server, Visitor, plain_http,
};
use rstest::rstest;
use rstest_reuse::apply;

use crate::{
    booking_browser::{PHONE, fits},
    claims::{AGENT, DAY, agent, claims, held, human, signed_in, token},
    on_both,
};

/// An answer to a browser.
pub(crate) struct Seen {
    status: u16,
    content_type: String,
    location: String,
    text: String,
}

impl Seen {
    pub(crate) async fn of(request: reqwest::RequestBuilder) -> Self {
        let answer = request.header("accept", "text/html").send().await.unwrap();
        let header = |name: &str| answer.headers().get(name).map_or("", |value| value.to_str().unwrap()).to_owned();
        let (content_type, location) = (header("content-type"), header("location"));
        Self { status: answer.status().as_u16(), content_type, location, text: answer.text().await.unwrap() }
    }

    /// The text of a page with this status.
    #[track_caller]
    pub(crate) fn page(self, status: u16) -> String {
        assert_eq!((self.status, &*self.content_type), (status, "text/html; charset=utf-8"), "{}", self.text);
        self.text
    }
}

pub(crate) fn http() -> reqwest::Client {
    plain_http().redirect(reqwest::redirect::Policy::none()).build().unwrap()
}

/// Opens a page.
async fn open(server: &Server, path: &str) -> Seen {
    Seen::of(http().get(format!("{}{path}", server.base_url()))).await
}

/// The addresses on this server that a page links to, without their fragments.
fn links(text: &str) -> BTreeSet<String> {
    let targets = text.split(" href=\"").skip(1).map(|rest| rest.split(['"', '#']).next().unwrap());
    targets.filter(|target| target.starts_with('/')).map(str::to_owned).collect()
}

#[tokio::test]
async fn every_link_leads_to_a_page() {
    let server = Server::start(Sqlite).await;
    let mut left = vec!["/".to_owned(), "/terms".to_owned()];
    let mut seen = BTreeSet::new();
    while let Some(path) = left.pop() {
        if !seen.insert(path.clone()) {
            continue;
        }
        let page = open(&server, &path).await;
        if page.status == 303 {
            left.push(page.location);
            continue;
        }
        assert_eq!(page.status, 200, "{path}");
        // A test of the documentation follows its links.
        if !path.starts_with("/docs/") && page.content_type.starts_with("text/html") {
            left.extend(links(&page.text));
        }
    }
    for path in [
        "/console",
        "/console/plans",
        "/console/sign-in",
        "/console/sign-up",
        "/console/connections",
        "/console/forgot",
        "/console/reset",
        "/docs/",
        "/docs/use/limits",
    ] {
        assert!(seen.contains(path), "nothing leads to {path}: {seen:?}");
    }
}

#[tokio::test]
async fn a_browser_gets_a_page_where_the_console_has_none() {
    let server = Server::start(Sqlite).await;
    for path in ["/console/nothing", "/console/claims/nobody/revoke"] {
        let page = open(&server, path).await.page(404);
        assert!(page.contains("There is no page here") && page.contains("href=\"/console\""), "{page}");
        // A program gets JSON.
        server.anonymous().undescribed().get(path).await.refused(404, "not_found");
    }
}

#[tokio::test]
async fn the_operator_s_own_pages_are_linked() {
    let server = Server::start(Sqlite).await;
    let terms = open(&server, "/terms").await.page(200);
    assert!(terms.contains("2026-01-01") && terms.contains("has not published the text"), "{terms}");
    let plans = open(&server, "/console/plans").await.page(200);
    assert!(plans.contains("ask the operator") && plans.contains("2,500 events a month"), "{plans}");

    let (tos, offers) = ("https://cal.example/tos", "https://cal.example/plans?from=console&to=pro");
    let variables =
        [("KALENDS_TERMS_URL", tos), ("KALENDS_UPGRADE_URL", offers), ("KALENDS_TERMS_VERSION", "<b>3</b>")];
    let server = Server::start_with(Sqlite, &variables).await;
    let escaped = offers.replace('&', "&#38;");
    let home = open(&server, "/").await.page(200);
    assert!(home.contains(tos) && home.contains(&escaped), "{home}");
    let terms = open(&server, "/terms").await.page(200);
    assert!(terms.contains(tos) && !terms.contains("has not published") && !terms.contains("<b>"), "{terms}");
    let plans = open(&server, "/console/plans").await.page(200);
    assert!(plans.contains(&escaped) && !plans.contains("ask the operator"), "{plans}");
}

#[tokio::test]
async fn the_operator_s_own_terms_are_shown() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("terms.md");
    std::fs::write(&file, "# Scope\n\nBe *kind* <script>alert(1)</script>.\n").unwrap();
    let server = Server::start_with(Sqlite, &[("KALENDS_TERMS_FILE", file.to_str().unwrap())]).await;
    let terms = open(&server, "/terms").await.page(200);
    let text = "<h2>Scope</h2><p>Be <em>kind</em> &#60;script&#62;alert(1)&#60;/script&#62;.</p>";
    assert!(terms.contains(text) && terms.contains("2026-01-01"), "{terms}");
    assert!(!terms.contains("has not published") && !terms.contains("<script>alert"), "{terms}");
    assert!(open(&server, "/").await.page(200).contains("href=\"/terms\""));
}

/// Sends the form of the page.
async fn send(server: &Server, claim: &str, code: &str) -> Seen {
    let encoded: String = code.bytes().map(|byte| format!("%{byte:02X}")).collect();
    let form = http().post(format!("{}/v1/auth/claim/{claim}/revoke", server.base_url()));
    let form = form.header("content-type", "application/x-www-form-urlencoded");
    Seen::of(form.body(format!("revocation_token={encoded}"))).await
}

#[apply(on_both)]
#[tokio::test]
async fn a_claim_is_revoked_by_a_form(#[case] database: Database) {
    let mut server = Server::start(database).await;
    agent(&server, AGENT).await;
    let ada = human(&server, "ada@example.com").await;
    let claim = held(&server, &ada, AGENT).await;
    let right = token(&server, AGENT, 1).await;
    let path = format!("/console/claims/{claim}/revoke");
    let mail = server.mails().into_iter().find(|mail| mail.text.contains("/revoke#")).unwrap();
    assert!(mail.text.contains(&format!("{}{path}#{right}", server.base_url())), "{}", mail.text);
    let page = open(&server, &path).await.page(200);
    assert!(page.contains("Keep your organization"), "{page}");

    // A wrong code changes nothing.
    let hostile = "\"><script>alert(1)</script>";
    for (code, status) in [("A", 404), (hostile, 404), ("", 400), (&*"A".repeat(257), 400)] {
        let text = send(&server, &claim, code).await.page(status);
        assert!(text.contains("This code does not belong to the claim") && !text.contains("<script>"), "{text}");
        assert!(text.contains(" value=\"\""), "what was typed may be another secret: {text}");
    }
    let unknown = send(&server, "clm_01jn8r6v9ke0bt3m5qz2c7xwdh", &right).await.page(404);
    assert!(unknown.contains("This code does not belong to the claim"), "{unknown}");
    let page = send(&server, "nobody", &right).await.page(404);
    assert!(page.contains("There is no page here"), "{page}");
    assert_eq!(claims(&ada).await[0]["status"], "held");

    // The whole address from the email works too, more than once.
    for code in [format!(" {}{path}#{right} ", server.base_url()), right.clone()] {
        let page = send(&server, &claim, &code).await.page(200);
        assert!(page.contains("The claim is revoked"), "{page}");
        assert_eq!(claims(&ada).await[0]["status"], "revoked");
    }

    // After the hold, it is too late.
    let bob = human(&server, "bob@example.com").await;
    let second = held(&server, &bob, AGENT).await;
    let late = token(&server, AGENT, 2).await;
    server.restart_at_offset(DAY + 5).await;
    let bob = signed_in(&server, "bob@example.com").await;
    assert_eq!(claims(&bob).await[0]["status"], "effective");
    let page = send(&server, &second, &late).await.page(410);
    assert!(page.contains("can no longer be revoked"), "{page}");
}

#[tokio::test]
async fn the_link_in_the_email_fills_in_the_code() {
    let server = Server::start(Sqlite).await;
    agent(&server, AGENT).await;
    let ada = human(&server, "ada@example.com").await;
    let claim = held(&server, &ada, AGENT).await;
    let token = token(&server, AGENT, 1).await;
    let page = format!("{}/console/claims/{claim}/revoke", server.base_url());
    let browser = Visitor::new().phone(PHONE.0, PHONE.1).open().await;
    browser.goto(&format!("{page}#{token}")).await;
    browser.headed("Keep your organization").await;
    browser.loaded().await;
    assert_eq!(browser.property("#code", "value").await, token);
    assert_eq!(browser.url().await, page, "the token is neither in the address nor in the history");
    fits(&browser).await;
    browser.click("button.danger").await;
    browser.headed("The claim is revoked").await;
    assert_eq!(claims(&ada).await[0]["status"], "revoked");
}

#[tokio::test]
async fn the_first_pages_fit_a_phone_and_work_by_keyboard() {
    let server = Server::start(Sqlite).await;
    let browser = Visitor::new().without_scripts().phone(PHONE.0, PHONE.1).open().await;
    for (path, heading) in [
        ("/", "Kalends"),
        ("/console", "Sign in"),
        ("/console/sign-up", "Create an account"),
        ("/console/plans", "Plans"),
        ("/terms", "Terms of service"),
    ] {
        browser.goto(&format!("{}{path}", server.base_url())).await;
        browser.headed(heading).await;
        fits(&browser).await;
    }
    browser.goto(server.base_url()).await;
    browser.headed("Kalends").await;
    browser.tab_to("a[href='/console']").await;
    browser.enter().await;
    browser.headed("Sign in").await;
}
