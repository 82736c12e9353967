//! The scenario whose requests and answers are the examples of the OpenAPI description.
//!
//! Every run is identical: the clock is moved by hand, random bytes are derived from the request that draws them, and
//! nothing leaves the process. Each chapter starts at its own time and states what it needs from earlier ones.

mod accounts;
mod approvals;
mod bridge;
mod console;
mod counts;
mod errors;
mod events;
mod feeds;
mod holds;
mod house;
mod outside;
mod proposals;
mod record;
mod runs;
mod story;
mod tools;
mod webhooks;

use kalends_app::operations::{self, Operation};
use serde_json::Value;

use self::{house::House, record::Record, story::Story};
use super::{EXAMPLES, RECORD, UNRECORDED, is_recorded};

/// Plays the whole scenario.
async fn play() -> Record {
    let mut story = Story::begin();
    play_scenario(&mut story).await;
    story.record
}

/// Plays the scenario on this story. When statements are counted or dry runs are tried, the errors are skipped, because some need time to
/// pass and their cost does not matter.
async fn play_scenario(story: &mut Story) {
    accounts::the_service_introduces_itself(story).await;
    let house = House::built(story).await;
    events::the_week_is_planned(story, &house).await;
    events::somebody_asks_for_time(story, &house).await;
    holds::time_is_held(story, &house).await;
    proposals::agents_settle_on_a_time(story, &house).await;
    proposals::a_guest_books(story, &house).await;
    events::somebody_is_invited(story, &house).await;
    feeds::calendars_travel(story, &house).await;
    webhooks::events_are_posted(story, &house).await;
    tools::an_agent_uses_tools(story, &house).await;
    runs::a_task_is_taken_back(story, &house).await;
    approvals::writes_wait_for_approval(story, &house).await;
    if story.counter.is_none() && story.dry.is_none() {
        errors::everything_goes_wrong(story, &house).await;
    }
    accounts::the_account_is_looked_at(story, &house).await;
    let owned = console::a_human_takes_over(story).await;
    bridge::a_human_connects_a_calendar(story, &owned).await;
    if story.counter.is_some() || story.dry.is_some() {
        counts::everything_is_given_up(story, &house, &owned).await;
    }
}

#[tokio::test(start_paused = true)]
async fn examples_match_the_answers() {
    let happened = play().await;
    if record::is_to_be_renewed() {
        happened.write();
        return;
    }
    let differing = happened.differing_from(&EXAMPLES);
    assert!(
        differing.is_empty(),
        "the examples of the description differ from the answers:\n{}\nIf that is intended, renew them: {}",
        differing.join("\n"),
        record::RENEW,
    );
}

/// Before each request of the scenario that takes `dry_run`, the same request is sent as a dry run.
#[tokio::test(start_paused = true)]
async fn a_dry_run_answers_as_the_request_and_keeps_nothing() {
    let mut story = Story::dry();
    play_scenario(&mut story).await;
    let tried = story.dry.map(|dry| dry.tried).unwrap_or_default();
    let all = operations::ALL.iter().filter(|operation| operation.takes_dry_run()).map(|operation| operation.id);
    let missing: Vec<&str> = all.filter(|id| !tried.contains(id)).collect();
    assert!(missing.is_empty(), "the scenario does not call {missing:?}");
}

#[test]
fn the_recording_is_formatted_as_when_renewed() {
    let recorded: Value = serde_json::from_str(RECORD).unwrap();
    assert_eq!(record::pretty(&recorded), RECORD, "renew the examples: {}", record::RENEW);
}

#[test]
fn every_body_is_recorded_or_listed_as_unrecorded() {
    let document: Value = crate::description("http://localhost");
    let mut missing = Vec::new();
    let mut look = |what: &str, operation, content: &Value, recorded: Option<&Value>| {
        for (media_type, media) in content.as_object().into_iter().flatten() {
            let example = recorded.filter(|recorded| fits(recorded, media_type) && media["example"] == **recorded);
            if is_recorded(operation, media_type) && example.is_none() {
                missing.push(format!("{} {what} {media_type}", operation.id));
            }
        }
    };
    for operation in operations::ALL.iter().copied().chain([&operations::MCP]) {
        let described = &document["paths"][operation.path][operation.method.to_ascii_lowercase()];
        look("request", operation, &described["requestBody"]["content"], super::request(operation));
        for (status, response) in described["responses"].as_object().unwrap() {
            // The answer to a write that waits is the same for all operations.
            if status == "202" && operation.can_wait() && super::answer(operation, status).is_none() {
                continue;
            }
            look(status, operation, &response["content"], super::answer(operation, status));
        }
    }
    assert!(missing.is_empty(), "neither recorded nor listed as unrecorded: {missing:#?}");
    for (whose, media_type, reason) in UNRECORDED {
        let answers = |operation: &Operation| {
            let described = &document["paths"][operation.path][operation.method.to_ascii_lowercase()];
            described["responses"][operation.status.to_string()]["content"][*media_type].is_object()
        };
        let mut those = operations::ALL.iter().filter(|operation| whose.is_none_or(|whose| whose == **operation));
        assert!(!reason.is_empty() && those.any(|operation| answers(operation)), "{whose:?} {media_type}");
    }
}

/// Whether the body can be of that media type: a text for a text type, and JSON otherwise.
fn fits(body: &Value, media_type: &str) -> bool {
    body.is_string() == (media_type.starts_with("text/") || media_type.starts_with("image/"))
}

#[test]
fn every_error_is_recorded() {
    let document: Value = crate::description("http://localhost");
    for (status, response) in document["components"]["responses"].as_object().unwrap() {
        if let Some(media) = response["content"].get("application/json") {
            let request = media["example"]["error"]["request_id"].as_str();
            assert!(request.is_some_and(|id| id.starts_with("req_")), "{status}");
        }
    }
}
