//! The pages of the audit log and of the usage, in a real browser.

use rstest::rstest;
use rstest_reuse::apply;
use serde_json::json;

use crate::{
    calendar_desk::Desk,
    fixtures::{LONG, agent, event_body, now},
    in_every_way,
    usage_pages::to_the_middle_of_a_month,
    walk::{Walk, Way},
};

/// The number of entries of the log on the page.
async fn entries(walk: &Walk) -> u64 {
    walk.browser.run("return document.querySelectorAll('ul.log > li').length").await.as_u64().unwrap()
}

/// Sends the filter, and waits for the page with its answer. Its file has this part in its address.
async fn filter(walk: &Walk, part: &str) {
    walk.press("Show").await;
    walk.browser.find(&format!("a[href*='/activity/file?'][href*='{part}']")).await;
    walk.fits().await;
}

#[apply(in_every_way)]
#[tokio::test]
async fn an_owner_reads_and_filters_the_log(#[case] way: Way) {
    let it = Desk::new(way.database).await;
    let ada = agent(&it.api).await;
    let long = it.api.post("/v1/agents").json(json!({ "name": LONG, "type": "ai" })).await.expect(201).id();
    let planning = event_body("Planning", "2031-03-03T09:00:00Z", "2031-03-03T10:00:00Z");
    let path = format!("/v1/calendars/{}/events", it.calendar);
    let event = it.api.post(path).json(planning).await.expect(201).id();
    let walk = Walk::begin(&it, way).await;
    walk.goto("/console/activity").await;
    walk.reaches("Activity").await;
    for sentence in [
        "owner-of-ada@example.com signed in to the console.",
        "created the agent “Ada”.",
        &format!("created the agent “{LONG}”."),
    ] {
        walk.sees(sentence).await;
    }

    walk.fill_time("#to", "2020-01-01").await;
    filter(&walk, "to=2020-01-01").await;
    walk.sees("No entries match.").await;
    walk.fill_time("#from", "2020-01-02").await;
    walk.press("Show").await;
    walk.browser.find("#from-problem").await;
    walk.fits().await;
    let typed = [walk.browser.property("#from", "value").await, walk.browser.property("#to", "value").await];
    assert_eq!((typed, entries(&walk).await), (["2020-01-02".to_owned(), "2020-01-01".to_owned()], 0));
    walk.press("Show everything").await;
    walk.sees("owner-of-ada@example.com signed in to the console.").await;

    walk.choose("#agent_id", &long).await;
    filter(&walk, &long).await;
    assert_eq!(entries(&walk).await, 1);
    walk.unfold("ul.log details").await;
    assert!(walk.text().await.contains("POST /v1/agents"), "{}", walk.text().await);
    walk.goto("/console/activity").await;
    walk.reaches("Activity").await;
    walk.choose("#action", "agent.create").await;
    walk.fill_time("#from", "2020-01-01").await;
    filter(&walk, "action=agent.create").await;
    let logged = it.api.get("/v1/audit-log?action=agent.create").await.expect(200).data();
    assert_eq!((entries(&walk).await, logged.len()), (2, 2));
    walk.press("Download as CSV").await;
    let file = walk.browser.downloaded("activity.csv").await;
    assert!(file.lines().count() == 3 && file.contains(&long) && file.contains(&ada), "{file}");

    walk.follow(&format!("ul.log a[href='/console/agents/{ada}']")).await;
    walk.reaches("Ada").await;
    walk.goto("/console/activity?action=event.create").await;
    walk.reaches("Activity").await;
    walk.follow(&format!("ul.log a[href='/console/calendar/events/{event}']")).await;
    walk.reaches("Planning").await;
}

#[apply(in_every_way)]
#[tokio::test]
async fn an_owner_sees_what_was_used_and_what_is_allowed(#[case] way: Way) {
    let offset = to_the_middle_of_a_month();
    let it = Desk::with(way.database, &[("KALENDS_CLOCK_OFFSET_SECONDS", &offset)]).await;
    let walk = Walk::begin(&it, way).await;
    agent(&it.api).await;
    let limits = json!({ "agents": 1, "calendars": null, "rate_per_second": 1_000_000 });
    it.server.cli(&["org", "set-plan", &it.org, "pro", "--limits", &limits.to_string()]).await.succeeded();
    walk.goto("/console/usage").await;
    walk.reaches("Usage").await;
    walk.sees("Agents: the limit of 1 is reached.").await;
    walk.sees("No limit").await;
    let calls = it.api.get("/v1/usage").await.expect(200).at("/api_calls/used");
    assert!(calls.as_u64().is_some_and(|calls| calls > 0), "{calls}");
    let chart = walk.browser.property("section.beside svg[role='img']", "ariaLabel").await;
    assert!(chart.ends_with("The table has the numbers."), "{chart}");
    let month = now(&it.api).await[..7].to_owned();
    assert!(walk.browser.text("section.beside table").await.contains(&month), "the chart of {chart}");
    walk.press("Plans").await;
    walk.reaches("Plans").await;
}
