//! Requests, retries and the parsing of answers.

mod stub;
mod table;

use std::{collections::BTreeMap, time::Duration};

use kalends_wire::{ApprovalStatus, ChangeEvent, ListEvents, UpdateAgent, UpdateEvent};
use rstest::rstest;

use self::stub::{Does, Stub};
use crate::{Client, Error, Retry};

const JSON: &str = "200 OK\r\ncontent-type: application/json\r\nx-request-id: req_1";
const GONE: &str = "204 No Content";
const AGENT: &str = r#"{
    "id": "agt_01jn8r6v9ke0bt3m5qz2c7xwdh", "orgId": "org_01jn8r6v9ke0bt3m5qz2c7xwdg", "name": "Ada", "type": "ai",
    "description": null, "status": "active", "metadata": {}, "createdAt": "2026-03-02T08:00:00Z",
    "updatedAt": "2026-03-02T08:00:00Z"
}"#;
const ACCEPTED: &str = "202 Accepted\r\ncontent-type: application/json";
const WAITS: &str = r#"{"approval": {
    "id": "apr_01jn8r6v9ke0bt3m5qz2c7xwdh", "status": "pending", "operation": "deleteAgent",
    "summary": "Decommission the agent \"Ada\".", "agent_id": "agt_01jn8r6v9ke0bt3m5qz2c7xwdh",
    "key_prefix": "svc_ak_Zk9wQm7cXb2dR", "created_at": "2026-03-02T08:00:00Z", "expires_at": "2026-03-03T08:00:00Z",
    "decide_url": "https://kalends.example/console/approvals/apr_01jn8r6v9ke0bt3m5qz2c7xwdh"
}}"#;
const TOO_FAST: &str = "429 Too Many Requests\r\nretry-after: 0";
const REFUSED: &str = r#"{"error":{"type":"rate_limit_error","message":"too fast","request_id":"req_2"}}"#;

fn answers(head: &'static str, body: &str) -> Does {
    Does::Answers(head, body.to_owned())
}

/// Nothing really waits: the service asks for 0 seconds, and other waits are capped at 2 ms.
fn client(stub: &Stub) -> Client {
    let retry = Retry { longest_wait: Duration::from_millis(2), ..Retry::default() };
    Client::builder(&stub.url).key("svc_sk_secret").retry(retry).build().unwrap()
}

#[tokio::test]
async fn a_write_is_retried_with_the_same_key() {
    let stub = Stub::that(vec![
        answers(TOO_FAST, REFUSED),
        Does::HangsUp,
        Does::BreaksOff,
        answers("200 OK\r\ncontent-type: application/json\r\nidempotency-replayed: true\r\netag: \"1\"", AGENT),
    ])
    .await;
    let body = UpdateAgent { name: Some(Some("Ada".to_owned())), description: Some(None), ..UpdateAgent::default() };
    let reply = client(&stub).update_agent("agt_x", &body).if_match("\"0\"").send().await.unwrap();
    assert_eq!((&*reply.value.name, reply.replayed, reply.etag.as_deref()), ("Ada", true, Some("\"1\"")));

    let requests = stub.requests();
    assert_eq!(requests.len(), 4);
    for request in &requests {
        assert_eq!(request, &requests[0], "a retry is the same request");
    }
    assert_eq!(requests[0].line, "PATCH /v1/agents/agt_x");
    assert_eq!(requests[0].body, r#"{"name":"Ada","description":null}"#);
    assert_eq!(requests[0].header("authorization"), "Bearer svc_sk_secret");
    assert_eq!(requests[0].header("if-match"), "\"0\"");
    let key = requests[0].header("idempotency-key");
    assert!(key.len() == 32 && key.bytes().all(|byte| byte.is_ascii_hexdigit()), "{key}");
}

#[tokio::test]
async fn each_call_generates_a_key_unless_one_is_set() {
    let stub = Stub::that(vec![answers(GONE, "")]).await;
    let client = client(&stub);
    client.delete_agent("a").await.unwrap();
    client.delete_agent("a").await.unwrap();
    client.delete_agent("a").idempotency_key("mine").await.unwrap();
    let requests = stub.requests();
    let key = |number: usize| requests[number].header("idempotency-key");
    assert_ne!(key(0), key(1));
    assert_eq!(key(2), "mine");
    assert_eq!(requests[2].headers.iter().filter(|(name, _)| name == "idempotency-key").count(), 1);
}

#[tokio::test]
async fn the_last_value_of_a_header_is_sent() {
    let stub = Stub::that(vec![answers(JSON, AGENT)]).await;
    let call = client(&stub).update_agent("a", &UpdateAgent::default());
    call.idempotency_key("one").if_match("\"1\"").idempotency_key("two").if_match("\"2\"").await.unwrap();
    let requests = stub.requests();
    for (name, last) in [("idempotency-key", "two"), ("if-match", "\"2\"")] {
        let sent = requests[0].headers.iter().filter(|(known, _)| known == name);
        assert_eq!(sent.map(|(_, value)| value.as_str()).collect::<Vec<_>>(), [last], "{name}");
    }
}

#[tokio::test]
async fn reads_have_no_idempotency_key() {
    let stub = Stub::that(vec![answers("200 OK\r\ncontent-type: text/calendar", "BEGIN:VCALENDAR")]).await;
    let anonymous = Client::builder(&stub.url).build().unwrap();
    assert_eq!(anonymous.get_feed("a b.ics").await.unwrap(), "BEGIN:VCALENDAR");
    let requests = stub.requests();
    assert_eq!((&*requests[0].line, requests[0].header("idempotency-key")), ("GET /ical/a%20b.ics", ""));
    assert_eq!((requests[0].header("authorization"), &*requests[0].body), ("", ""));
}

#[rstest]
#[case::too_fast(answers(TOO_FAST, REFUSED), 4)]
#[case::overloaded(answers("503 Service Unavailable", "busy"), 4)]
#[case::lost(Does::HangsUp, 4)]
#[case::monthly_quota(answers("429 Too Many Requests\r\nretry-after: 86400", REFUSED), 1)]
#[case::not_found(answers("404 Not Found", REFUSED), 1)]
#[case::internal_error(answers("500 Internal Server Error", REFUSED), 1)]
#[case::wrong_body(answers(JSON, "{}"), 1)]
#[case::redirect(answers("302 Found\r\nlocation: /v1/agents/b", ""), 1)]
#[tokio::test]
async fn attempts_are_bounded(#[case] does: Does, #[case] attempts: usize) {
    let stub = Stub::that(vec![does]).await;
    let client = client(&stub);
    client.get_agent("a").await.unwrap_err();
    assert_eq!(stub.requests().len(), attempts);
    client.delete_agent("a").await.err();
    assert!(stub.requests().len() <= 2 * attempts);
}

#[tokio::test]
async fn an_error_of_the_service_is_returned() {
    let head = "429 Too Many Requests\r\nretry-after: 86400\r\ncontent-type: application/json";
    let body =
        r#"{"error":{"type":"quota_exceeded","message":"all used","request_id":"req_3","code":"c","param":"p"}}"#;
    let stub = Stub::that(vec![answers(head, body)]).await;
    let error = client(&stub).get_usage().await.unwrap_err();
    assert_eq!(error.to_string(), "429 quota_exceeded: all used");
    assert_eq!((error.kind(), error.code(), error.param()), (Some("quota_exceeded"), Some("c"), Some("p")));
    assert_eq!((error.status(), error.request_id()), (Some(429), Some("req_3")));
    assert!(matches!(error, Error::Api { retry_after: Some(wait), .. } if wait == Duration::from_secs(86_400)));
}

#[tokio::test]
async fn a_write_that_waits_for_approval_has_no_value() {
    let stub = Stub::that(vec![answers(ACCEPTED, WAITS)]).await;
    let client = client(&stub);
    let alone = ChangeEvent::default();
    for error in [
        client.delete_agent("a").await.unwrap_err(),
        client.delete_event("a", &kalends_wire::DeleteEvent::default()).await.map(|_| ()).unwrap_err(),
        client.update_event("a", &alone, &UpdateEvent::default()).await.map(|_| ()).unwrap_err(),
    ] {
        let approval = error.approval().unwrap();
        assert_eq!((approval.status, &*approval.operation), (ApprovalStatus::Pending, "deleteAgent"));
        assert_eq!((error.status(), error.code()), (Some(202), None));
        assert!(error.to_string().contains("apr_01jn8r6v9ke0bt3m5qz2c7xwdh"), "{error}");
    }
    assert_eq!(stub.requests().len(), 3, "a waiting write is not repeated");
}

#[tokio::test]
async fn another_answer_with_202_is_the_value() {
    let stub = Stub::that(vec![answers(ACCEPTED, AGENT)]).await;
    let agent = client(&stub).update_agent("a", &UpdateAgent::default()).await.unwrap();
    assert_eq!(&*agent.name, "Ada");
}

#[tokio::test]
async fn an_unreadable_answer_names_the_expected_type() {
    let stub = Stub::that(vec![answers(JSON, "{}"), answers("404 Not Found", "<html>")]).await;
    let client = client(&stub);
    let error = client.get_agent("a").await.unwrap_err();
    assert_eq!(error.to_string(), "the answer is not kalends_wire::agent::ShownAgent: status 200, request req_1");
    let error = client.get_agent("a").await.unwrap_err();
    assert_eq!(error.to_string(), "the answer is not an error of the service: status 404, request unknown");
    assert_eq!((error.status(), error.kind()), (Some(404), None));
}

#[tokio::test]
async fn an_endless_answer_is_an_error() {
    let stub = Stub::that(vec![Does::GoesOn]).await;
    let error = client(&stub).export_calendar("cal_x").await.unwrap_err();
    assert!(matches!(error, Error::TooLarge { limit: 67_108_864, .. }), "{error:?}");
    assert_eq!(stub.requests().len(), 1, "a retry would be just as long");
}

#[tokio::test]
async fn answer_max_sets_the_limit() {
    let head = "200 OK\r\ncontent-type: text/calendar\r\nx-request-id: req_1";
    let stub = Stub::that(vec![answers(head, "BEGIN")]).await;
    let that_reads = |bytes| Client::builder(&stub.url).answer_max(bytes).build().unwrap();
    assert_eq!(that_reads(5).export_calendar("cal_x").await.unwrap(), "BEGIN");
    let error = that_reads(4).export_calendar("cal_x").await.unwrap_err();
    assert!(matches!(error, Error::TooLarge { limit: 4, .. }), "{error:?}");
    assert_eq!((error.request_id(), stub.requests().len()), (Some("req_1"), 2));
}

#[tokio::test]
async fn an_attempt_times_out() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    // The operating system accepts the connection, but nobody answers on it.
    let client = Client::builder(&url).timeout(Duration::from_millis(20)).retry(Retry::NEVER).build().unwrap();
    let error = client.get_health().await.unwrap_err();
    assert!(matches!(&error, Error::Transport(cause) if cause.is_timeout() && cause.url().is_none()), "{error:?}");
}

#[tokio::test]
async fn an_unchanged_value_is_none() {
    let stub = Stub::that(vec![
        answers("304 Not Modified\r\netag: \"1\"", ""),
        answers("200 OK\r\ncontent-type: text/calendar; charset=utf-8", "BEGIN"),
    ])
    .await;
    let client = client(&stub);
    assert_eq!(client.get_feed("x.ics").if_none_match("\"1\"").await.unwrap(), None);
    assert_eq!(client.get_feed("x.ics").if_none_match("\"1\"").await.unwrap().as_deref(), Some("BEGIN"));
    assert_eq!(stub.requests()[0].header("if-none-match"), "\"1\"");
}

#[tokio::test]
async fn queries_and_parameters_are_encoded() {
    let page = r#"{"data":[],"total":0,"limit":5,"offset":0}"#;
    let stub = Stub::that(vec![answers(JSON, page), answers(JSON, page), answers(GONE, "")]).await;
    let client = client(&stub);
    let query = ListEvents {
        start_after: Some("2026-03-02T09:00:00+01:00".to_owned()),
        expand: Some(true),
        limit: Some(5),
        metadata: BTreeMap::from([("project".to_owned(), "apollo 11".to_owned())]),
        ..ListEvents::default()
    };
    client.list_calendar_events("a/b", &query).await.unwrap();
    client.list_calendar_events("c", &ListEvents::default()).await.unwrap();
    assert_eq!(client.delete_event("d", &kalends_wire::DeleteEvent::default()).await.unwrap().map(|_| ()), None);
    let lines: Vec<String> = stub.requests().into_iter().map(|request| request.line).collect();
    assert_eq!(
        lines,
        [
            "GET /v1/calendars/a%2Fb/events?expand=true&limit=5&metadata.project=apollo+11\
             &start_after=2026-03-02T09%3A00%3A00%2B01%3A00",
            "GET /v1/calendars/c/events",
            "DELETE /v1/events/d"
        ]
    );
}

#[tokio::test]
async fn an_invalid_request_is_not_sent() {
    let stub = Stub::that(vec![answers(GONE, "")]).await;
    let client = client(&stub);
    let alone = ChangeEvent::default();
    for error in [
        client.delete_agent("..").await.unwrap_err(),
        client.delete_agent("a").idempotency_key("a\nb").await.unwrap_err(),
        client.update_event("a", &alone, &UpdateEvent::default()).if_match("\r\n").await.map(|_| ()).unwrap_err(),
    ] {
        assert!(matches!(&error, Error::Request(why) if !why.contains(&stub.url)), "{error:?}");
        assert!(error.to_string().len() > "the request cannot be made: ".len(), "{error}");
    }
    assert!(stub.requests().is_empty());
}
