//! The pages for the operator of the server, in a real browser.

use kalends_e2e::Server;
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Value, json};

use crate::{
    claims::text,
    fixtures::{LONG, TOKEN, agent, wait_for},
    in_every_way,
    walk::{Walk, Way},
};

const MASTER_KEY: &str = "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=";
const MAIL: &str = "/console/operator/mail";

/// Opens a browser, and signs the operator in by the form after an attempt with a wrong token.
async fn signed_in(server: &Server, way: Way) -> Walk {
    let walk = Walk::open(server, way).await;
    walk.goto("/console/operator").await;
    walk.reaches("Operator").await;
    walk.fill("#token", "another-token-altogether").await;
    walk.press("Sign in").await;
    walk.sees("This is not the token.").await;
    walk.fits().await;
    walk.fill("#token", TOKEN).await;
    walk.press("Sign in").await;
    walk.reaches("Server").await;
    walk
}

#[apply(in_every_way)]
#[tokio::test]
async fn an_operator_runs_the_server(#[case] way: Way) {
    let settings = [("KALENDS_ADMIN_TOKEN", TOKEN), ("KALENDS_MASTER_KEY", MASTER_KEY)];
    let server = Server::start_with(way.database, &settings).await;
    let made = server.cli(&["org", "create", "--name", LONG, "--plan", "free"]).await.succeeded();
    let made: Value = serde_json::from_str(&made.stdout).unwrap();
    let api = server.client(&text(&made["api_key"]));
    agent(&api).await;
    let walk = signed_in(&server, way).await;
    walk.sees("1, of which 0 on the waiting list").await;
    walk.sees("Oldest delivery that is due").await;

    walk.goto("/console/operator/organizations").await;
    walk.reaches("Organizations").await;
    walk.fill("#q", "Nobody has this name").await;
    walk.press("Search").await;
    walk.sees("No organization matches.").await;
    assert_eq!(walk.browser.property("#q", "value").await, "Nobody has this name");
    walk.press("Show all").await;
    walk.sees(&text(&made["org_id"])).await;
    walk.fill("#q", "donaudampf").await;
    walk.choose("#plan", "free").await;
    walk.press("Search").await;
    walk.browser.find("form.filter a.quiet").await;
    walk.press(LONG).await;
    walk.reaches(LONG).await;

    let plan = async || api.get("/v1/agents").await.expect(200).header("x-service-plan").to_owned();
    let wrong = "{\"agnets\": 1}";
    walk.choose("#plan", "pro").await;
    walk.fill("#limits", wrong).await;
    walk.press("Save").await;
    walk.browser.find("#limits-problem").await;
    walk.fits().await;
    let kept = [walk.browser.property("#plan", "value").await, walk.browser.property("#limits", "value").await];
    assert_eq!((kept, &*plan().await), (["pro".to_owned(), wrong.to_owned()], "free"));
    walk.fill("#limits", "{\"agents\": 1, \"rate_per_second\": null}").await;
    walk.press("Save").await;
    walk.sees("Saved.").await;
    walk.sees("pro, with limits of its own").await;
    assert_eq!(plan().await, "pro");
    api.post("/v1/agents").json(json!({ "name": "x", "type": "ai" })).await.refused(429, "quota_exceeded");

    walk.goto("/console/operator/waiting").await;
    walk.reaches("Waiting list").await;
    walk.sees("Nobody waits.").await;
    let body = json!({ "email": "ada@example.com", "name": "Engines", "tos_version": "2026-01-01" });
    server.anonymous().post("/v1/waitlist").json(body).await.expect(201);
    server.wait_for_mails(1).await;
    walk.goto("/console/operator/waiting").await;
    walk.sees("ada@example.com").await;
    walk.press("Admit").await;
    walk.sees("Admitted. Its keys work").await;
    walk.sees("Nobody waits.").await;
    let mails = server.wait_for_mails(2).await;
    assert!(mails[1].to == "ada@example.com" && mails[1].subject.contains("active"), "{:#?}", mails[1]);

    walk.goto(MAIL).await;
    walk.reaches("Mail").await;
    walk.sees("No email of the last 30 days has failed.").await;
    walk.fill("#email", "olga@example.com").await;
    walk.press("Send").await;
    walk.sees("The test email to olga@example.com was written to a file.").await;
    assert_eq!(server.wait_for_mails(3).await[2].to, "olga@example.com");

    walk.goto("/console/operator/keys").await;
    walk.reaches("Keys").await;
    walk.sees("Fingerprint of the master key").await;
    walk.sees("All values are sealed with it since").await;
    walk.goto("/console/operator/configuration").await;
    walk.reaches("Configuration").await;
    walk.sees("KALENDS_LISTEN, from environment").await;
    let shown = walk.text().await;
    assert!(!shown.contains(TOKEN) && !shown.contains(MASTER_KEY), "{shown}");

    walk.press("Sign out").await;
    walk.reaches("Operator").await;
    walk.goto(MAIL).await;
    walk.sees("You are not signed in, or your session has ended. Nothing was changed.").await;
}

#[apply(in_every_way)]
#[tokio::test]
async fn an_operator_sees_emails_that_failed(#[case] way: Way) {
    // Nothing listens at this port.
    let settings = [("KALENDS_ADMIN_TOKEN", TOKEN), ("KALENDS_MAIL", "smtp://127.0.0.1:9")];
    let server = Server::start_with(way.database, &settings).await;
    let org = server.org("pro").await;
    let api = server.api(&org);
    let walk = signed_in(&server, way).await;
    walk.goto(MAIL).await;
    walk.sees("No email of the last 30 days has failed.").await;
    walk.fill("#email", "olga@example.com").await;
    walk.press("Send").await;
    walk.sees("The test email to olga@example.com was not accepted.").await;
    walk.fits().await;

    api.put("/v1/mail/reply-to").json(json!({ "email": "ada.lovelace@mail.example" })).await.expect(200);
    wait_for(|| async { api.get("/v1/mail").await }, |answer| answer.json["data"][0]["attempts"] == 1).await;
    walk.goto(MAIL).await;
    walk.sees("to an address at mail.example").await;
    walk.sees("Failed after 1 attempt").await;
    walk.fits().await;
    assert!(!walk.text().await.contains("lovelace"), "{}", walk.text().await);
    walk.follow(&format!("main a[href='/console/operator/organizations/{}']", org.id)).await;
    walk.reaches("Test").await;
}
