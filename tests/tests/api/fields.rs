//! Rules for the fields of every resource: unknown names, metadata, unusual text.

use crate::on_both;
use kalends_e2e::{Call, Client, Database, Server};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::Value;
use serde_json::json;

use crate::{
    console::Human,
    fixtures::{agent_with_calendar, event},
};

/// Every write with a body, and a body that it accepts.
async fn writes(api: &Client) -> Vec<(&'static str, String, Value)> {
    let (agent, calendar) = agent_with_calendar(api).await;
    let id = event(api, &calendar, "2026-05-04T09:00:00Z", "2026-05-04T10:00:00Z").await;
    let new_calendar = json!({ "name": "Work", "timezone": "UTC" });
    let new_event = json!({ "title": "x", "start_time": "2026-05-04T09:00:00Z", "end_time": "2026-05-04T10:00:00Z" });
    vec![
        ("POST", "/v1/agents".into(), json!({ "name": "Ada", "type": "ai" })),
        ("PATCH", format!("/v1/agents/{agent}"), json!({ "name": "Ada" })),
        ("POST", "/v1/calendars".into(), new_calendar.clone()),
        ("POST", format!("/v1/agents/{agent}/calendars"), new_calendar),
        ("PATCH", format!("/v1/calendars/{calendar}"), json!({ "name": "Work" })),
        ("POST", format!("/v1/calendars/{calendar}/events"), new_event),
        ("PATCH", format!("/v1/calendars/{calendar}/events/{id}"), json!({ "title": "x" })),
        ("PATCH", format!("/v1/events/{id}"), json!({ "title": "x" })),
    ]
}

fn with(mut body: Value, field: &str, value: Value) -> Value {
    body[field] = value;
    body
}

#[apply(on_both)]
#[tokio::test]
async fn an_unknown_field_is_named_with_the_nearest_known_one(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    for (method, path, body) in writes(&api).await {
        let call = |body: Value| api.call(method.parse().unwrap(), &path).json(body);
        let answer = call(with(body.clone(), "metdata", json!({}))).await;
        answer.refused(400, "validation_error").param("metdata").code("unknown_field").mentions("metadata");
        let answer = call(with(body.clone(), "zzzzzzzzzzzz", json!(1))).await;
        answer.refused(400, "validation_error").param("zzzzzzzzzzzz").code("unknown_field");
        if path.contains("/events") {
            // Requests always use snake_case.
            let answer = call(with(body.clone(), "startTime", json!("2026-05-04T09:00:00Z"))).await;
            answer.refused(400, "validation_error").param("startTime").code("unknown_field").mentions("start_time");
        }
        // A field that only answers have is not accepted in requests.
        call(with(body, "id", json!("x"))).await.refused(400, "validation_error").param("id").code("unknown_field");
    }
}

/// The operator's token.
const OPERATOR: &str = "token-of-an-operator";

/// A caller for each operation of the description.
struct Callers {
    server: Server,
    api: Client,
    human: Client,
    document: Value,
}

impl Callers {
    async fn of(database: Database) -> Self {
        let variables = [("KALENDS_IP_LIMITS", "off"), ("KALENDS_ADMIN_TOKEN", OPERATOR)];
        let server = Server::start_with(database, &variables).await;
        let api = server.api(&server.org("pro").await);
        let human = server.client(&Human::sign_up(&server, "ada@example.com").await.token);
        let document = server.anonymous().get("/openapi.json").await.expect(200).json;
        Self { server, api, human, document }
    }

    /// Every operation that may have a body, with the description's `content` of that body. The call is made by a
    /// permitted caller, on resources that do not exist.
    fn writes(&self) -> Vec<(String, Value, Call)> {
        let mut writes = Vec::new();
        for (path, methods) in self.document["paths"].as_object().unwrap() {
            for (method, described) in methods.as_object().unwrap() {
                if !["post", "put", "patch"].contains(&method.as_str()) || path == "/mcp" {
                    continue;
                }
                let by = |scheme: &str| !described["security"][0][scheme].is_null();
                let caller = match () {
                    () if by("apiKey") => self.api.clone(),
                    () if by("session") => self.human.clone(),
                    () if by("adminToken") => self.server.client(OPERATOR),
                    () => self.server.anonymous(),
                };
                let filled = path.split('/').map(|part| if part.starts_with('{') { "x" } else { part });
                let filled = filled.collect::<Vec<_>>().join("/");
                let call = caller.call(method.to_uppercase().parse().unwrap(), filled);
                writes.push((format!("{method} {path}"), described["requestBody"]["content"].clone(), call));
            }
        }
        writes
    }
}

#[apply(on_both)]
#[tokio::test]
async fn an_array_is_not_accepted_for_an_object(#[case] database: Database) {
    let callers = Callers::of(database).await;
    let mut tried = 0;
    for (operation, content, call) in callers.writes() {
        let Some(fields) = content["application/json"]["example"].as_object() else { continue };
        let answer = call.json(fields.values().cloned().collect::<Vec<_>>()).await;
        assert_eq!(
            (answer.status, answer.at("/error/param")),
            (400, json!("body")),
            "{operation}: {}",
            answer.describe()
        );
        answer.mentions("must be an object, got an array");
        tried += 1;
    }
    assert!(tried > 30, "{tried}");
}

#[apply(on_both)]
#[tokio::test]
async fn operations_without_a_body_refuse_every_field(#[case] database: Database) {
    let callers = Callers::of(database).await;
    let mut tried = 0;
    for (operation, content, call) in callers.writes() {
        if !content.is_null() {
            continue;
        }
        let answer = call.json(json!({ "zzz": 1 })).await;
        assert_eq!(
            (answer.status, answer.at("/error/param")),
            (400, json!("zzz")),
            "{operation}: {}",
            answer.describe()
        );
        answer.code("unknown_field");
        tried += 1;
    }
    assert!(tried > 10, "{tried}");
}

#[apply(on_both)]
#[tokio::test]
async fn an_unknown_parameter_is_refused_everywhere(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let (agent, calendar) = agent_with_calendar(&api).await;
    let id = event(&api, &calendar, "2026-05-04T09:00:00Z", "2026-05-04T10:00:00Z").await;
    let range = "start=2026-05-04T08:00:00Z&end=2026-05-04T12:00:00Z";
    for path in [
        format!("/v1/agents/{agent}?"),
        format!("/v1/calendars/{calendar}?"),
        format!("/v1/calendars/{calendar}/context?"),
        format!("/v1/events/{id}?"),
        format!("/v1/calendars/{calendar}/events/{id}?"),
        format!("/v1/agents/{agent}/availability?{range}&"),
        format!("/v1/calendars/{calendar}/availability?{range}&"),
    ] {
        let answer = api.get(format!("{path}bogus=1")).await;
        answer.refused(400, "validation_error").param("bogus").code("unknown_field");
    }
    let answer = api.get(format!("/v1/availability?agents={agent}&{range}&bogus=1")).await;
    answer.refused(400, "bad_request").param("bogus").code("unknown_field");
    for (method, path, body) in writes(&api).await {
        let answer = api.call(method.parse().unwrap(), format!("{path}?bogus=1")).json(body).await;
        answer.refused(400, "validation_error").param("bogus").code("unknown_field");
    }
    for path in [format!("/v1/events/{id}"), format!("/v1/calendars/{calendar}"), format!("/v1/agents/{agent}")] {
        let answer = api.delete(format!("{path}?if_emty=true")).await;
        answer.refused(400, "validation_error").param("if_emty").code("unknown_field");
        api.get(path).await.expect(200);
    }
}

#[apply(on_both)]
#[tokio::test]
async fn metadata_is_a_bounded_object(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let filler = |bytes: usize| json!({ "k": "x".repeat(bytes - r#"{"k":""}"#.len()) });
    let nested = |levels: usize| (1..levels).fold(json!({}), |inner, _| json!({ "k": inner }));
    let listed = |levels: usize| json!({ "k": (2..levels).fold(json!([]), |inner, _| json!([inner])) });
    for (method, path, body) in writes(&api).await {
        let call =
            |metadata: Value| api.call(method.parse().unwrap(), &path).json(with(body.clone(), "metadata", metadata));
        for fits in [
            filler(16_384),
            nested(32),
            listed(32),
            // The limit is in bytes, not characters: 8,188 letters of two bytes and 8 bytes for the rest.
            json!({ "k": "é".repeat(8_188) }),
            json!({ "n": [0, -1, 1.5, 1e300, 9_007_199_254_740_993_u64], "": null, "a b": true }),
        ] {
            let answer = call(fits.clone()).await;
            assert!([200, 201].contains(&answer.status), "{}", answer.describe());
            assert_eq!(answer["metadata"], fits);
        }
        for large in [filler(16_385), json!({ "k": "é".repeat(8_189) })] {
            let answer = call(large).await.refused(400, "validation_error");
            answer.param("metadata").code("metadata_too_large").mentions("16384");
        }
        for deep in [nested(33), listed(33)] {
            call(deep).await.refused(400, "validation_error").param("metadata").mentions("32");
        }
        for other in [json!([]), json!("x"), json!(1), json!(true)] {
            call(other).await.refused(400, "validation_error").param("metadata");
        }
    }
}

#[apply(on_both)]
#[tokio::test]
async fn text_is_returned_unchanged(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    for text in ["'; drop table events; --", "\u{202e}abc", "a\tb\nc", "{\"$ne\":1}", "ǅ ﷽ 👩‍👩‍👧", "\\ \" /", "\u{feff}x"]
    {
        let body = json!({ "name": text, "type": "ai", "description": text, "metadata": { text: text } });
        let made = api.post("/v1/agents").json(body).await.expect(201);
        let read = api.get(format!("/v1/agents/{}", made.id())).await.expect(200);
        assert_eq!((&read["name"], &read["description"]), (&json!(text), &json!(text)));
        assert_eq!(read["metadata"], json!({ text: text }));
    }
    // A NUL in metadata is either kept or refused, the same on both databases.
    let body = json!({ "name": "Ada", "type": "ai", "metadata": { "k": "a\u{0}b" } });
    let answer = api.post("/v1/agents").json(body).await;
    if answer.status == 201 {
        let read = api.get(format!("/v1/agents/{}", answer.id())).await.expect(200);
        assert_eq!(read["metadata"], json!({ "k": "a\u{0}b" }));
    } else {
        answer.refused(400, "validation_error").param("metadata");
    }
}
