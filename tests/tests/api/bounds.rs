//! The length limits of account texts. A text at the limit is accepted. A longer or shorter one is refused by its
//! field. Limits count characters, not bytes.

use crate::on_both;
use kalends_e2e::{Answer, Database, Server};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Value, json};

use crate::{
    claims::text,
    console::{Human, PASSWORD, cookie, signing_up},
    fixtures::agent,
};

const TERMS: &str = "2026-01-01";

/// A text of this many characters of two bytes each.
fn long(characters: usize) -> String {
    "é".repeat(characters)
}

#[track_caller]
fn refused(answer: Answer, field: &str, length: usize) {
    let answer = answer.refused(400, "validation_error").param(field);
    assert!(answer.text().contains(&format!("got {length}")), "{}", answer.describe());
}

#[apply(on_both)]
#[tokio::test]
async fn bounds_at_a_user_s_sign_up(#[case] database: Database) {
    let server = Server::start(database).await;
    let anybody = server.anonymous();
    let with = |email: &str, field: &str, length: usize| {
        let mut body = signing_up(email);
        body[field] = json!(long(length));
        anybody.post("/v1/auth/signup").json(body)
    };
    for (field, length) in
        [("password", 9), ("password", 129), ("name", 0), ("name", 101), ("org_name", 0), ("org_name", 256)]
    {
        refused(with("ada@example.com", field, length).await, field, length);
    }
    for (field, length) in
        [("password", 10), ("password", 128), ("name", 1), ("name", 100), ("org_name", 1), ("org_name", 255)]
    {
        let email = format!("ada@{}-{length}.example", field.replace('_', "-"));
        let made = with(&email, field, length).await.expect(201);
        match field {
            "password" => {
                // The whole password counts.
                let enter = |password: String| {
                    anybody.post("/v1/auth/signin").json(json!({ "email": email, "password": password }))
                };
                enter(long(length)).await.expect(200);
                enter(long(length - 1)).await.refused(401, "authentication_error");
            }
            "name" => assert_eq!(made["user"]["name"], long(length)),
            _ => assert_eq!(made["org"]["name"], long(length)),
        }
    }
}

#[apply(on_both)]
#[tokio::test]
async fn bounds_at_a_user_s_changes(#[case] database: Database) {
    let server = Server::start(database).await;
    let mut token = Human::sign_up(&server, "ada@example.com").await.token;
    let mut current = PASSWORD.to_owned();
    for (length, accepted) in [(9, false), (129, false), (10, true), (128, true)] {
        let body = json!({ "current_password": current, "new_password": long(length) });
        let answer = server.client(&token).post("/v1/auth/password").json(body).await;
        if accepted {
            token = cookie(&answer.expect(204)).0;
            current = long(length);
        } else {
            refused(answer, "new_password", length);
        }
    }
    for (length, accepted) in [(0, false), (101, false), (1, true), (100, true)] {
        let answer = server.client(&token).patch("/v1/auth/me").json(json!({ "name": long(length) })).await;
        if accepted {
            assert_eq!(answer.expect(200)["user"]["name"], long(length));
        } else {
            refused(answer, "name", length);
        }
    }
    for (length, accepted) in [(0, false), (256, false), (1, true), (255, true)] {
        let answer = server.client(&token).patch("/v1/auth/org").json(json!({ "name": long(length) })).await;
        if accepted {
            assert_eq!(answer.expect(200)["name"], long(length));
        } else {
            refused(answer, "name", length);
        }
    }
}

#[apply(on_both)]
#[tokio::test]
async fn bounds_of_agent_sign_up_and_waitlist(#[case] database: Database) {
    let server = Server::start(database).await;
    let anybody = server.anonymous();
    let sign_up = |length: usize| {
        let email = format!("scout@agents-{length}.example");
        let body = json!({ "email": email, "agent_name": long(length), "tos_version": TERMS });
        anybody.post("/v1/agent/sign-up").json(body)
    };
    for length in [0, 101] {
        refused(sign_up(length).await, "agent_name", length);
    }
    for length in [1, 100] {
        let made = sign_up(length).await.expect(200);
        let agents = server.client(&text(&made["api_key"])).get("/v1/agents").await.expect(200);
        assert_eq!(agents.column("name"), [long(length)]);
    }

    let join = |length: usize| {
        let email = format!("ada@waiting-{length}.example");
        anybody.post("/v1/waitlist").json(json!({ "email": email, "name": long(length), "tos_version": TERMS }))
    };
    for length in [1, 101] {
        refused(join(length).await, "name", length);
    }
    for length in [2, 100] {
        assert_eq!(join(length).await.expect(201)["data"]["name"], long(length));
    }
}

#[apply(on_both)]
#[tokio::test]
async fn bounds_of_labels_and_feedback(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let agent = agent(&api).await;
    let label = |label: Value| api.post("/v1/keys").json(json!({ "agent_id": agent, "label": label }));
    for length in [0, 101] {
        refused(label(json!(long(length))).await, "label", length);
    }
    for length in [1, 100] {
        assert_eq!(label(json!(long(length))).await.expect(201)["label"], long(length));
    }
    // No label differs from an empty one.
    assert!(label(Value::Null).await.expect(201)["label"].is_null());

    let feedback = |length: usize| api.post("/v1/feedback").json(json!({ "type": "feature", "message": long(length) }));
    for length in [9, 2_001] {
        refused(feedback(length).await, "message", length);
    }
    for length in [10, 2_000] {
        assert_eq!(feedback(length).await.expect(200).json, json!({ "status": "accepted" }));
    }
}
