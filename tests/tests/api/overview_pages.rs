//! The first page of the console: how much there is, and what to do next.

use kalends_e2e::{Behaviour, Database, Receiver, Server};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::json;

use crate::{
    console::Human,
    fixtures::{agent, event_body, shared_calendar, wait_for},
    on_both,
    pages::{Pages, Seen},
    proposals::{Team, slot},
    waiting_pages::hold,
    webhook_deliveries::{all_are, deliveries},
};

const HOME: &str = "/console";
const START: &str = "/console/start";
const OFFER: &str = "href=\"/console/start\"";
const KEY_STEP: &str = "no key has been used yet";

/// The text of the page has these numbers.
#[track_caller]
fn counts(page: &Seen, numbers: &[(&str, u64)]) {
    for (title, count) in numbers {
        let number = format!("{title}</a></dt><dd>{count}</dd>");
        assert!(page.text.contains(&number), "no {number} in {}", page.text);
    }
}

#[apply(on_both)]
#[tokio::test]
async fn the_first_page_counts_what_there_is_and_leads_to_what_is_left(#[case] database: Database) {
    let receiver = Receiver::start().await;
    receiver.always("/gone", Behaviour::Answer(410));
    let settings = [("KALENDS_EGRESS_ALLOW", receiver.address()), ("KALENDS_SIGNUP_PLAN", "custom")];
    let server = Server::start_with(database, &settings).await;
    let ada = Human::sign_up(&server, "ada@example.com").await;
    let owner = server.client(&ada.token);
    let mut pages = Pages::new(&server);
    pages.sign_in(&ada.email).await;
    let new = pages.open(HOME).await.says(200, OFFER);
    assert!(!new.text.contains("Next steps") && !new.text.contains("<h2>Now</h2>"), "{}", new.text);

    // A shared calendar is something, but not an agent.
    let calendar = shared_calendar(&owner, "UTC").await;
    let shared = pages.open(HOME).await.says(200, KEY_STEP);
    counts(&shared, &[("Agents", 0), ("Series", 0), ("Webhooks", 0), ("Holds", 0)]);
    for part in [OFFER, "href=\"/console/booking-pages/new\"", "href=\"/console/webhooks/new\""] {
        assert!(shared.text.contains(part), "no {part} in {}", shared.text);
    }

    let mut endless = event_body("Standup", "2026-03-09T09:00:00Z", "2026-03-09T09:15:00Z");
    endless["recurrence_rule"] = json!("FREQ=DAILY");
    owner.post(format!("/v1/calendars/{calendar}/events")).json(endless).await.expect(201);
    let team = Team::of(&owner, 1).await;
    team.propose(&owner, &[slot("09:00", "10:00")], json!({})).await;
    hold(&owner, &team.calendar, "Later", ["12:00", "12:30"], 3_600).await;
    let endpoint = json!({ "url": receiver.url("/gone"), "events": ["agent.created"] });
    let webhook = owner.post("/v1/webhooks").json(endpoint).await.expect(201).id();
    let last = agent(&owner).await;
    deliveries(&owner, &webhook, all_are(1, "failed")).await;
    let full = pages.open(HOME).await.says(200, KEY_STEP);
    assert!(!full.text.contains(OFFER) && !full.text.contains("/console/webhooks/new"), "{}", full.text);
    counts(&full, &[("Agents", 3), ("Series", 1), ("Webhooks", 1), ("Webhooks that failed", 1)]);
    counts(&full, &[("Pending proposals", 1), ("Holds", 1)]);

    // The first call ends the step for good, also if its key is revoked.
    let key = owner.post("/v1/keys").json(json!({ "agent_id": last })).await.expect(201);
    let text = key.at("/key").as_str().unwrap().to_owned();
    pages.open(HOME).await.says(200, KEY_STEP);
    server.client(&text).get(format!("/v1/agents/{last}")).await.expect(200);
    let listed = || async { owner.get("/v1/keys").await };
    wait_for(listed, |answer| answer["keys"][0]["last_used_on"].is_string()).await;
    let used = pages.open(HOME).await.says(200, "Next steps");
    assert!(!used.text.contains(KEY_STEP), "{}", used.text);
    owner.delete(format!("/v1/keys/{}", key.id())).await.expect(204);
    let revoked = pages.open(HOME).await.says(200, "Next steps");
    assert!(!revoked.text.contains(KEY_STEP), "{}", revoked.text);

    // Without agents, it does not offer a form that refuses.
    for agent in owner.get("/v1/agents").await.expect(200).column("id") {
        owner.delete(format!("/v1/agents/{agent}")).await.expect(204);
    }
    let left = pages.open(HOME).await.says(200, "Next steps");
    counts(&left, &[("Agents", 0), ("Webhooks that failed", 1), ("Holds", 0)]);
    assert!(!left.text.contains(OFFER), "{}", left.text);
    pages.open(START).await.says(200, "Your organization has agents already.");
}
