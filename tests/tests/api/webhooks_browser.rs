//! The pages about webhooks and their deliveries, in a real browser.

use kalends_e2e::{Behaviour, Receiver};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::Value;

use crate::{
    calendar_desk::Desk,
    claims::text,
    fixtures::agent,
    in_every_way,
    walk::{Walk, Way},
    webhook_deliveries::deliveries,
    webhooks::signed_by,
};

const WRONG: &str = "ftp://kalends.invalid/hook";

#[apply(in_every_way)]
#[tokio::test]
async fn an_owner_runs_a_webhook(#[case] way: Way) {
    let receiver = Receiver::start().await;
    let it = Desk::with(way.database, &[("KALENDS_EGRESS_ALLOW", receiver.address())]).await;
    let all = async || it.api.get("/v1/webhooks").await.expect(200).data();
    let walk = Walk::begin(&it, way).await;
    walk.goto("/console/webhooks").await;
    walk.reaches("Webhooks").await;
    walk.sees("There are no webhooks yet.").await;

    walk.follow("a[href='/console/webhooks/new']").await;
    walk.reaches("New webhook").await;
    walk.fill("#url", WRONG).await;
    walk.tick("#events-all").await;
    walk.tick("input[value='agent.created']").await;
    walk.press("Create the webhook").await;
    walk.browser.find("#url-problem").await;
    walk.fits().await;
    assert_eq!(walk.browser.property("#url", "value").await, WRONG);
    assert!(walk.browser.has("input[value='agent.created']:checked").await, "what was ticked is kept");
    assert!(!walk.browser.has("#events-all:checked").await, "what was unticked is kept");
    assert_eq!(all().await, Vec::<Value>::new());
    walk.fill("#url", &receiver.url("/hook")).await;
    walk.press("Create the webhook").await;
    walk.reaches("The webhook is created").await;
    let secret = walk.browser.text("pre code").await;
    assert!(secret.starts_with("whsec_"), "{secret}");
    let id = text(&all().await[0]["id"]);
    let page = format!("/console/webhooks/{id}");
    walk.press("I have stored it").await;
    walk.reaches("Webhook").await;
    assert!(!walk.text().await.contains("whsec_"), "the secret is shown once");

    walk.press("Send a test").await;
    walk.reaches("The test has arrived").await;
    walk.sees("HTTP status 204").await;
    let test = receiver.received("/hook").remove(0);
    assert_eq!((test.event_type(), signed_by(&test, &secret)), ("webhook.test", (true, true)));

    // The receiver says that it is gone, so the server switches the webhook off.
    receiver.next("/hook", &[Behaviour::Answer(410)]);
    agent(&it.api).await;
    deliveries(&it.api, &id, |all| all.iter().any(|delivery| delivery["status"] == "failed")).await;
    walk.press("Back to the webhook").await;
    walk.reaches("Webhook").await;
    walk.sees("Switched off by the server: the address answered 410 Gone").await;
    walk.tick("#active").await;
    walk.press("Save").await;
    walk.sees("Status Active Events").await;
    assert_eq!(all().await[0]["active"], true);

    walk.press("All deliveries").await;
    walk.reaches("Deliveries").await;
    walk.press("Skipped (0)").await;
    walk.sees("There are no such deliveries.").await;
    walk.press("Failed (1)").await;
    walk.browser.find("a[href$='status=failed'][aria-current='page']").await;
    walk.press("agent.created").await;
    walk.reaches("agent.created").await;
    walk.sees("HTTP status 410").await;
    walk.sees("\"name\": \"Ada\"").await;
    walk.press("Send it again").await;
    walk.sees("It will be sent again. This takes a moment.").await;
    deliveries(&it.api, &id, |all| all.iter().all(|delivery| delivery["status"] == "delivered")).await;
    assert_eq!(receiver.received("/hook").len(), 3, "the test, and two attempts");
    walk.goto(&walk.browser.url().await.replace(it.server.base_url(), "")).await;
    walk.sees("HTTP status 204").await;

    walk.goto(&page).await;
    walk.reaches("Webhook").await;
    walk.tick("#active").await;
    walk.press("Save").await;
    walk.sees("Switched off by your organization").await;
    assert_eq!(all().await[0]["active"], false);
    walk.tick("#active").await;
    walk.press("Save").await;
    walk.sees("Status Active Events").await;
    assert_eq!(all().await[0]["active"], true);

    walk.press("Replace the secret").await;
    walk.reaches("Replace the secret?").await;
    walk.press("Replace the secret").await;
    walk.reaches("The webhook has a new secret").await;
    walk.sees("The previous secret also signs until").await;
    let replaced = walk.browser.text("pre code").await;
    assert!(replaced.starts_with("whsec_") && replaced != secret, "{replaced}");
    walk.press("I have stored it").await;
    walk.reaches("Webhook").await;

    walk.press("Delete").await;
    walk.reaches("Delete the webhook?").await;
    walk.press("Delete").await;
    walk.sees("Deleted.").await;
    walk.sees("There are no webhooks yet.").await;
    assert_eq!(all().await, Vec::<Value>::new());
}
