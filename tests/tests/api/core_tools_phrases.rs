//! The tool that reads times in words.

use crate::on_both;
use kalends_e2e::{Database, Server};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::json;

use crate::core_tools::{run, wrong};
use crate::fixtures::agent_with_calendar;

/// A Friday.
const NOW: &str = "2026-03-06T09:00:00Z";

#[apply(on_both)]
#[tokio::test]
async fn words_become_times(#[case] database: Database) {
    let (server, api) = Server::with_org(database, "pro").await;
    let asked = json!({ "text": "next Tuesday 2pm", "timezone": "Europe/Berlin", "now": NOW });
    let expected = json!({
        "start": "2026-03-10T13:00:00Z", "when": "Tue 2026-03-10 14:00 Europe/Berlin", "timezone": "Europe/Berlin",
        "reading": "Tuesday, 2026-03-10, at 14:00", "precision": "minute",
    });
    assert_eq!(run(&api, "resolve_time", asked.clone()).await, expected);
    let range = json!({ "text": "tomorrow from 2 to 3pm", "timezone": "Asia/Tokyo", "now": "2026-03-06T09:00" });
    let found = run(&api, "resolve_time", range).await;
    assert_eq!((&found["start"], &found["end"]), (&json!("2026-03-07T05:00:00Z"), &json!("2026-03-07T06:00:00Z")));

    let (agent, _) = agent_with_calendar(&api).await;
    let key = api.post("/v1/keys").json(json!({ "agent_id": agent, "label": "Tools" })).await.expect(201);
    let own = server.client(key.at("/key").as_str().unwrap());
    assert_eq!(run(&own, "resolve_time", asked).await, expected, "the key of an agent may read words");
}

#[apply(on_both)]
#[tokio::test]
async fn words_count_from_the_current_time(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let now = run(&api, "whoami", json!({})).await["now"].clone();
    let found = run(&api, "resolve_time", json!({ "text": "tomorrow", "timezone": "UTC" })).await;
    assert!(found["start"].as_str() > now.as_str(), "{found:#} {now}");
    assert_eq!(found["precision"], "day");
}

#[apply(on_both)]
#[tokio::test]
async fn words_that_can_mean_several_times_are_answered_with_texts(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let asked = |text: &str| json!({ "text": text, "timezone": "Europe/Berlin", "now": NOW });
    let error = wrong(&api, "resolve_time", asked("tomorrow at 3")).await;
    assert_eq!((&error["type"], &error["param"]), (&json!("validation_error"), &json!("text")), "{error:#}");
    for text in ["Saturday, 2026-03-07, at 03:00", "Saturday, 2026-03-07, at 15:00"] {
        assert!(error["message"].as_str().unwrap().contains(text), "{error:#}");
        assert_eq!(run(&api, "resolve_time", asked(text)).await["reading"], text);
    }
    for (text, meaning) in [
        ("today at midnight", "Saturday, 2026-03-07, at 00:00"),
        ("2pm to tomorrow 3pm", "Friday, 2026-03-06, from 14:00 to Saturday, 2026-03-07, at 15:00"),
    ] {
        let error = wrong(&api, "resolve_time", asked(text)).await;
        assert!(error["message"].as_str().unwrap().contains(meaning), "{error:#}");
    }
    let error = wrong(&api, "resolve_time", asked("someday")).await;
    assert!(error["message"].as_str().unwrap().contains("next Tuesday"), "{error:#}");
    let error = wrong(&api, "resolve_time", json!({ "text": "tomorrow", "timezone": "Europe/Berln" })).await;
    assert_eq!(error["param"], "timezone", "{error:#}");
    let error = wrong(&api, "resolve_time", json!({ "text": "tomorrow" })).await;
    assert_eq!(error["param"], "timezone", "{error:#}");
}
