//! A password that was forgotten, and a form that outlives its session, in a real browser.

use kalends_e2e::Server;
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Value, json};

use crate::{
    calendar_desk::Desk,
    connecting::HUMAN,
    console::{Human, PASSWORD},
    in_every_way,
    walk::{Walk, Way},
};

const NEW: &str = "a password of her own";
/// Signs in as in another tab, and returns the status of the page that follows. The driver would stay in its tab, and
/// a page without scripts never ends a request that a script waits for later.
const SIGN_IN: &str = "const form = new URLSearchParams({ email: EMAIL, password: SECRET });
    const call = new XMLHttpRequest();
    call.open('POST', '/console/sign-in', false);
    call.setRequestHeader('content-type', 'application/x-www-form-urlencoded');
    call.send(form.toString());
    return call.status";

#[apply(in_every_way)]
#[tokio::test]
async fn a_person_sets_a_forgotten_password(#[case] way: Way) {
    let server = Server::start(way.database).await;
    let ada = Human::sign_up(&server, "ada@example.com").await;
    let walk = Walk::open(&server, way).await;
    walk.goto("/console/sign-in").await;
    walk.reaches("Sign in").await;
    walk.press("Forgot your password, or never set one?").await;
    walk.reaches("Set your password").await;
    walk.fill("#email", &ada.email).await;
    walk.follow("main button.primary").await;
    walk.sees("If an account has the address ada@example.com, an email with a link").await;
    walk.fits().await;

    let mails = server.wait_for_mails(1).await;
    let mut words = mails[0].text.split_whitespace();
    let code = words.find_map(|word| word.strip_prefix(&format!("{}/console/reset#", server.base_url()))).unwrap();
    walk.press("Enter the code").await;
    walk.reaches("Choose a password").await;
    walk.fill("#code", &code[1..]).await;
    walk.fill("#password", NEW).await;
    walk.press("Set the password").await;
    walk.sees("This code does not work").await;
    walk.fits().await;

    // A link to the page that is open would only scroll.
    walk.goto("/console/sign-in").await;
    walk.reaches("Sign in").await;
    walk.goto(&format!("/console/reset#{code}")).await;
    walk.reaches("Choose a password").await;
    // A script has filled in the code. Without scripts, the person copies it.
    if walk.browser.property("#code", "value").await.is_empty() {
        walk.fill("#code", code).await;
    } else {
        assert!(!walk.browser.url().await.contains('#'), "the code stays out of the history");
    }
    walk.fill("#password", "short").await;
    walk.press("Set the password").await;
    walk.browser.find("#password-problem").await;
    walk.fits().await;
    assert_eq!(walk.browser.property("#code", "value").await, code, "what was typed stays");
    assert_eq!(walk.browser.property("#password", "value").await, "");
    server.client(&ada.token).get("/v1/auth/me").await.expect(200);
    walk.fill("#password", NEW).await;
    walk.press("Set the password").await;
    walk.reaches("Your password is set").await;
    server.client(&ada.token).get("/v1/auth/me").await.expect(401);

    walk.press("Sign in").await;
    walk.reaches("Sign in").await;
    walk.send_password(&ada.email, PASSWORD).await;
    walk.browser.find(".problem[role='alert']").await;
    assert!(!walk.browser.has("nav[aria-label='Console']").await, "the old password does not work");
    walk.send_password(&ada.email, NEW).await;
    walk.browser.find("nav[aria-label='Console']").await;
}

#[apply(in_every_way)]
#[tokio::test]
async fn a_form_is_sent_again_after_its_session_has_ended(#[case] way: Way) {
    let it = Desk::new(way.database).await;
    let walk = Walk::begin(&it, way).await;
    let listed = async || it.api.get("/v1/agents").await.expect(200).data();
    walk.goto("/console/agents/new").await;
    walk.reaches("New agent").await;
    walk.fill("#name", "Room").await;
    walk.choose("#type", "resource").await;
    walk.fill("#description", "One\nTwo").await;
    // A new password ends all other sessions.
    let change = json!({ "current_password": PASSWORD, "new_password": NEW });
    it.console.post("/v1/auth/password").json(change).await.expect(204);
    walk.press("Create the agent").await;
    walk.reaches("Your session has ended").await;
    walk.sees("Nothing was changed.").await;
    let way_in = walk.browser.property("main a[target='_blank']", "href").await;
    let expected = format!("{}/console/sign-in?next=", it.server.base_url());
    assert!(way_in.starts_with(&expected) && way_in.contains(&it.org), "{way_in}");
    assert_eq!(listed().await, [] as [Value; 0]);

    let sign_in = SIGN_IN.replace("EMAIL", &json!(HUMAN).to_string()).replace("SECRET", &json!(NEW).to_string());
    assert_eq!(walk.browser.run(&sign_in).await, 200);
    walk.press("Send it again").await;
    walk.sees("Created.").await;
    walk.reaches("Room").await;
    let [made]: [Value; 1] = listed().await.try_into().unwrap();
    assert_eq!((&made["name"], &made["type"]), (&json!("Room"), &json!("resource")));
    assert_eq!(made["description"], "One\nTwo");
}
