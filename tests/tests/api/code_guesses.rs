//! Many concurrent guesses at a sign-up code.

use crate::on_both;
use std::collections::BTreeSet;

use futures::future::join_all;
use kalends_e2e::{
    Answer, Client,
    Database::{self, Postgres},
    Server,
};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::json;

use crate::{
    claims,
    stored::{hurry, number},
};

const AGENT: &str = "scout@example.com";

async fn verify(api: &Client, code: &str) -> Answer {
    api.post("/v1/agent/verify").json(json!({ "otp": code })).await
}

/// The error of a refusal, without the request ID.
#[track_caller]
fn error_without_id(answer: Answer) -> String {
    let mut error = answer.refused(400, "validation_error").param("otp").at("/error");
    error.as_object_mut().unwrap().remove("request_id");
    error.to_string()
}

#[apply(on_both)]
#[tokio::test]
async fn a_code_checks_only_ten_of_50_concurrent_guesses(#[case] database: Database) {
    let server = Server::start(database).await;
    let other = if database == Postgres { Some(server.another_node().await) } else { None };
    let (_, key) = claims::agent(&server, AGENT).await;
    hurry(&server, AGENT).await;
    let nodes = [server.client(&key), other.as_ref().unwrap_or(&server).client(&key)];
    let code = server.wait_for_mails(1).await[0].code().to_owned();
    let wrong = claims::wrong(&code);
    let attempts = "select cast(attempts as bigint) from verification_codes";
    assert_eq!(number(&server, attempts).await, 0);

    let answers = join_all((0..50).map(|number| verify(&nodes[number % 2], wrong))).await;
    let mut distinct: BTreeSet<_> = answers.into_iter().map(error_without_id).collect();
    assert_eq!(number(&server, attempts).await, 10, "a code allows ten guesses and no more");
    // The right code comes too late and gets the same error.
    for node in &nodes {
        distinct.insert(error_without_id(verify(node, &code).await));
    }
    assert_eq!(distinct.len(), 1, "{distinct:#?}");
    assert_eq!(number(&server, attempts).await, 10);

    // The organization is still in the sandbox, and a new code takes it out.
    assert_eq!(nodes[1].get("/v1/usage").await.expect(200)["agents"]["limit"], 1);
    let again = json!({ "email": AGENT, "agent_name": "Scout", "tos_version": "2026-01-01" });
    server.anonymous().post("/v1/agent/sign-up").json(again).await.expect(200);
    let fresh = server.wait_for_mails(2).await[1].code().to_owned();
    verify(&nodes[1], &fresh).await.expect(200);
}
