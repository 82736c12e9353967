//! The page of what was used, and what the plan allows.

use chrono::{Datelike as _, Utc};
use kalends_e2e::{Database, Server};
use rstest::rstest;
use rstest_reuse::apply;

use crate::{
    console::Human,
    fixtures::{agent, calendar_of},
    members::member,
    on_both,
    pages::Pages,
};

const ADA: &str = "ada@example.com";
const PAGE: &str = "/console/usage";

/// The seconds from now to the middle of a month, so that no month ends during a test.
pub(crate) fn to_the_middle_of_a_month() -> String {
    #[expect(clippy::disallowed_methods, reason = "the server of the test begins with the clock of the machine")]
    let day = i64::from(Utc::now().day());
    let days = if day <= 15 { 15 - day } else { 45 - day };
    (days * 86_400).to_string()
}

async fn limit(server: &Server, org: &str, limits: &str) {
    server.cli(&["org", "set-plan", org, "free", "--limits", limits]).await.succeeded();
}

#[apply(on_both)]
#[tokio::test]
async fn limits_are_shown_with_their_use(#[case] database: Database) {
    let offset = to_the_middle_of_a_month();
    let server = Server::start_with(database, &[("KALENDS_CLOCK_OFFSET_SECONDS", &offset)]).await;
    let ada = Human::sign_up(&server, ADA).await;
    limit(&server, &ada.org, r#"{"agents":5,"calendars":1,"api_calls":5,"rate_per_second":null}"#).await;
    let mut pages = Pages::new(&server);
    pages.open(PAGE).await.asks_to_sign_in();
    pages.sign_in(ADA).await;
    let new = pages.open(PAGE).await.says(200, "Nothing was used in the last 12 months.");
    assert!(new.text.contains("Not in the plan") && !new.text.contains("class=\"alert\""), "{}", new.text);

    let api = server.client(&ada.key);
    let mut made = Vec::new();
    for _ in 0..4 {
        made.push(agent(&api).await);
    }
    calendar_of(&api, &made[0]).await;
    api.get("/v1/agents").await.refused(429, "quota_exceeded");

    // The pages open although the calls of the month are used up, and count none themselves.
    pages.open("/console/agents").await.says(200, "Agents");
    for _ in 0..2 {
        let page = pages.open(PAGE).await.says(200, "Agents: 80 % of the limit of 5 is used.");
        for text in [
            "Calendars: the limit of 1 is reached. No calendar can be created until another one is deleted.",
            "API calls: the limit of 5 is reached. Requests are refused until the month ends.",
            "Monthly counts start again on <time",
            "<h3>API calls</h3>",
            "Nothing in the last 12 months: ",
            "class=\"over\" width=\"100\"",
        ] {
            assert!(page.text.contains(text), "no {text} in {}", page.text);
        }
        assert_eq!(page.text.matches("class=\"chart\"").count(), 1, "nothing else was used: {}", page.text);
    }

    limit(&server, &ada.org, r#"{"agents":2,"calendars":null}"#).await;
    let page = pages.open(PAGE).await.says(200, "Agents: the limit of 2 is exceeded.");
    assert!(page.text.contains("No limit") && page.text.contains("10 requests a second"), "{}", page.text);
}

#[apply(on_both)]
#[tokio::test]
async fn every_member_sees_the_usage_of_the_organization_only(#[case] database: Database) {
    let server = Server::start(database).await;
    let ada = Human::sign_up(&server, ADA).await;
    limit(&server, &ada.org, r#"{"agents":1,"rate_per_second":null}"#).await;
    agent(&server.client(&ada.key)).await;
    let owner = server.client(&ada.token);
    let reached = "Agents: the limit of 1 is reached.";
    for role in ["admin", "member", "viewer"] {
        let email = format!("{role}@example.com");
        member(&server, &owner, &email, role).await;
        let mut pages = Pages::new(&server);
        pages.sign_in(&email).await;
        let own = pages.open(PAGE).await.says(200, "<h1>Usage</h1>");
        assert!(!own.text.contains(reached), "{role}: the user's own organization is open");
        pages.send(&format!("/console/orgs/{}/switch", ada.org), &[]).await.leads_to("/console");
        pages.open(PAGE).await.says(200, reached);
    }
}
