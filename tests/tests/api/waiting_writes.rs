//! Writes that wait for approval: every write of a key that requires it.

use kalends_e2e::Database;
use reqwest::Method;
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::json;

use crate::{
    reach::{ExpectedAnswer, cell, targets_of},
    reach_operations::{About, Operation, Part, in_parts, operations},
    reach_world::{Who, Whose, World},
};

/// The writes of a key that need no approval: the tools, whose calls need it themselves, feedback, and decisions.
const NEED_NONE: &[&str] = &["mcp", "sendFeedback", "approve", "denyApproval", "cancelApproval"];
/// The writes that cannot wait for one: their answers have secrets, or they are long.
const CANNOT_WAIT: &[&str] =
    &["createAgentCalendar", "rotateCalendarFeedToken", "importCalendar", "createConnectionLink"];
/// The writes that change nothing here, so that there is nothing to approve: the event is on that calendar already.
const CHANGE_NOTHING: &[&str] = &["moveEvent"];

/// The owner of the things that a key of an agent writes to, if the key may make the write.
fn written(operation: &Operation) -> Option<Whose> {
    let about = operation.about();
    let whose = if targets_of(about).contains(&Whose::Own) { Whose::Own } else { Whose::Missing };
    let is_keyless = matches!(about, About::Public | About::Console | About::Operator);
    let is_left_out = operation.method == Method::GET || is_keyless || NEED_NONE.contains(&operation.id.as_str());
    let is_open = cell(operation, Who::Own, whose) == ExpectedAnswer::Yes;
    Some(whose).filter(|_| !is_left_out && is_open)
}

#[apply(in_parts)]
#[tokio::test]
async fn every_write_of_a_key_that_requires_approval_waits(#[case] database: Database, part: Part) {
    let mut world = World::of_keys(database).await;
    let body = json!({ "agent_id": world.own, "requires_approval": "writes" });
    let made = world.api.post("/v1/keys").json(body).await.expect(201);
    let (plain, asking) = (world.caller(Who::Own).clone(), world.server.client(made["key"].as_str().unwrap()));
    let operations = operations(&world.server).await;
    let exempt = CANNOT_WAIT.len() + CHANGE_NOTHING.len();
    let writes = operations.iter().filter(|operation| written(operation).is_some()).count();
    assert!(writes >= 25 + exempt, "{writes}");
    for operation in part.of(&operations) {
        let Some(whose) = written(operation) else { continue };
        let id = operation.id.as_str();
        let things = world.things(operation, whose).await;
        world.let_own_be(&asking);
        let answer = world.ask(operation, Who::Own, &things).await;
        world.let_own_be(&plain);
        if CANNOT_WAIT.contains(&id) {
            answer.refused(403, "forbidden").code("approval_not_possible");
        } else if CHANGE_NOTHING.contains(&id) {
            assert!((200..300).contains(&answer.status), "{}", answer.describe());
        } else {
            let answer = answer.expect(202);
            assert_eq!(answer.at("/approval/operation"), id, "{}", answer.describe());
            let approval = answer.at("/approval/id");
            let cancel = format!("/v1/approvals/{}/cancel", approval.as_str().unwrap());
            asking.post(cancel).await.expect(200);
        }
    }
}
