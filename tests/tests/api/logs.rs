//! The log of requests, and the spans that a collector gets.

use std::{collections::BTreeSet, time::Duration};

use futures::future::join_all;
use kalends_e2e::{Answer, Client, Collected, Collector, Database, Database::Sqlite, Server};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Value, json};
use tokio::{
    net::TcpListener,
    time::{Instant, sleep},
};

use crate::{
    fixtures::{agent, agent_with_calendar, event_body, has_exactly, is_time},
    on_both,
};

/// The longest wait for a line on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);
const JSON: (&str, &str) = ("KALENDS_LOG_FORMAT", "json");
/// The trace of a caller, and its span.
const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const SPAN: &str = "00f067aa0ba902b7";

/// The lines of requests so far.
fn lines(server: &Server) -> Vec<Value> {
    let log = server.log();
    // The last line may not be complete yet.
    let complete = log.rfind('\n').map_or("", |end| &log[..end]);
    let lines = complete.lines().map(|line| serde_json::from_str::<Value>(line).unwrap_or_else(|_| panic!("{line}")));
    lines.filter(|line| line["target"] == "kalends::requests").collect()
}

/// The line of the request with this answer.
async fn line_of(server: &Server, answer: &Answer) -> Value {
    let (began, id) = (Instant::now(), answer.header("x-request-id"));
    loop {
        let mut found = lines(server).into_iter().filter(|line| line["request_id"] == id);
        if let Some(line) = found.next() {
            assert_eq!(found.next(), None, "one line for each request");
            assert_eq!(line["status"], answer.status, "{line}");
            return line;
        }
        assert!(began.elapsed() < PATIENCE, "no line of {id}:\n{}", server.log());
        sleep(Duration::from_millis(20)).await;
    }
}

/// The members of every line.
const MEMBERS: [&str; 12] = [
    "timestamp",
    "level",
    "message",
    "target",
    "request_id",
    "operation",
    "method",
    "status",
    "duration_ms",
    "bytes",
    "organization",
    "key",
];

#[apply(on_both)]
#[tokio::test]
async fn each_request_has_a_line(#[case] database: Database) {
    let server = Server::start_with(database, &[JSON]).await;
    let org = server.org("pro").await;
    let api = server.api(&org);
    let (_, calendar) = agent_with_calendar(&api).await;
    let path = format!("/v1/calendars/{calendar}/events");
    let body = event_body("A title that nobody else reads", "2030-03-01T10:00:00Z", "2030-03-01T11:00:00Z");
    let created = api.post(&path).json(body).await.expect(201);
    let line = line_of(&server, &created).await;
    has_exactly(&line, &MEMBERS);
    is_time(&line["timestamp"]);
    assert_eq!((&line["level"], &line["message"]), (&json!("INFO"), &json!("request")));
    assert_eq!((&line["operation"], &line["method"]), (&json!("createEvent"), &json!("POST")));
    assert_eq!(line["organization"], org.id.as_str());
    assert!(line["key"].as_str().unwrap().starts_with("key_"), "{line}");
    assert_eq!(line["bytes"], created.bytes.len());
    assert!(line["duration_ms"].as_f64().unwrap() > 0.0, "{line}");

    // Requests without a caller, and requests that are refused.
    let plans = line_of(&server, &server.anonymous().get("/v1/plans").await.expect(200)).await;
    assert_eq!((&plans["operation"], &plans["key"]), (&json!("listPlans"), &Value::Null));
    let stranger = server.client("svc_sk_not_a_key_at_all_but_a_secret_all_the_same");
    let refused = line_of(&server, &stranger.get("/v1/agents").await.expect(401)).await;
    assert_eq!((&refused["operation"], &refused["organization"]), (&json!("listAgents"), &Value::Null));
    let nowhere = api.undescribed().get("/v1/a-secret-path?token=a-secret-query").await.expect(404);
    assert_eq!(line_of(&server, &nowhere).await["operation"], Value::Null);
    let large = api.post(&path).header("content-type", "application/json").body("x".repeat(2 << 20)).await.expect(413);
    assert_eq!(line_of(&server, &large).await["operation"], "createEvent");
    let heavy =
        server.anonymous().undescribed().get("/v1/plans").header("x-heavy", "y".repeat(40_000)).await.expect(431);
    assert_eq!(line_of(&server, &heavy).await["operation"], Value::Null);

    // No line holds a secret, a path or what somebody wrote.
    let log = server.log();
    for secret in [org.key.as_str(), "nobody else reads", "a_secret_all_the_same", "a-secret-path", "a-secret-query"] {
        assert!(!log.contains(secret), "{secret}:\n{log}");
    }
    assert!(!lines(&server).iter().any(|line| line.to_string().contains("/v1/")));
}

#[rstest]
#[case::by_default(&[], false)]
#[case::at_debug(&[("KALENDS_LOG", "info,kalends::requests=debug")], true)]
#[tokio::test]
async fn health_checks_have_lines_at_debug(#[case] variables: &[(&str, &str)], #[case] logged: bool) {
    let server = Server::start_with(Sqlite, &[&[JSON], variables].concat()).await;
    for path in ["/health", "/ready"] {
        server.anonymous().get(path).await.expect(200);
    }
    // Lines are written in order, so this one comes after those of the health checks.
    line_of(&server, &server.anonymous().get("/v1/plans").await.expect(200)).await;
    let seen: Vec<_> = lines(&server).iter().map(|line| (line["operation"].clone(), line["level"].clone())).collect();
    let checks = [(json!("getHealth"), json!("DEBUG")), (json!("getReady"), json!("DEBUG"))];
    let expected = checks.into_iter().filter(|_| logged).chain([(json!("listPlans"), json!("INFO"))]);
    assert_eq!(seen, expected.collect::<Vec<_>>());
}

#[rstest]
#[case::setting(("KALENDS_LOG_REQUESTS", "false"))]
#[case::filter(("KALENDS_LOG", "warn"))]
#[tokio::test]
async fn lines_of_requests_can_be_switched_off(#[case] off: (&str, &str)) {
    let mut server = Server::start_with(Sqlite, &[JSON, off]).await;
    server.anonymous().get("/v1/plans").await.expect(200);
    // A stop writes whatever still waits.
    assert!(server.stop().await.success());
    assert_eq!(lines(&server), Vec::<Value>::new());
}

#[tokio::test]
async fn a_stop_loses_no_line() {
    let mut server = Server::start_with(Sqlite, &[JSON]).await;
    let answer = server.anonymous().get("/v1/plans").await.expect(200);
    assert!(server.stop().await.success());
    let ids: Vec<_> = lines(&server).iter().map(|line| line["request_id"].clone()).collect();
    assert_eq!(ids, [answer.header("x-request-id")]);
}

#[tokio::test]
async fn a_tool_call_has_one_line() {
    let server = Server::start_with(Sqlite, &[JSON]).await;
    let org = server.org("pro").await;
    let api = server.api(&org);
    let call = async |name: &str, arguments: Value| {
        let params = json!({ "name": name, "arguments": arguments });
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
        api.post("/mcp?structured=true").json(body).header("mcp-protocol-version", "2025-06-18").await.expect(200)
    };
    let done = call("createAgent", json!({ "name": "Ada", "type": "ai" })).await;
    let failed = call("getAgent", json!({ "id": "agt_nobody" })).await;
    for (answer, tool, status) in [(&done, "createAgent", 201), (&failed, "getAgent", 404)] {
        let line = line_of(&server, answer).await;
        has_exactly(&line, &[&MEMBERS[..], &["tool", "tool_status", "tool_request_id"]].concat());
        assert_eq!((&line["tool"], &line["tool_status"]), (&json!(tool), &json!(status)));
        assert_eq!((&line["status"], &line["organization"]), (&json!(200), &json!(org.id)));
    }
    // The identifier of the inner request is the one that its error shows.
    let shown = failed.at("/result/structuredContent/error/request_id");
    assert_eq!(line_of(&server, &failed).await["tool_request_id"], shown);
    assert_eq!(lines(&server).len(), 2);
}

/// The span of the request with this answer.
fn request_span<'s>(spans: &'s [Collected], answer: &Answer) -> Option<&'s Collected> {
    let id = answer.header("x-request-id");
    spans.iter().find(|span| span.serves && span.attributes.get("kalends.request_id").is_some_and(|own| own == id))
}

#[apply(on_both)]
#[tokio::test]
async fn a_collector_gets_the_spans_of_requests(#[case] database: Database) {
    let collector = Collector::start().await;
    // No filter of the log keeps spans from the collector.
    let url = collector.url();
    let variables = [("KALENDS_OTLP_ENDPOINT", url.as_str()), ("KALENDS_LOG", "error")];
    let server = Server::start_with(database, &variables).await;
    let org = server.org("pro").await;
    let api = server.api(&org);
    let agent = agent(&api).await;
    let path = format!("/v1/agents/{agent}");
    // The caller's span is the parent, even if the caller does not record it.
    let called = api.get(&path).header("traceparent", format!("00-{TRACE}-{SPAN}-00")).await.expect(200);
    let span = collector.wait_for("span of a request", |spans| request_span(spans, &called).cloned()).await;
    assert_eq!((span.trace.as_str(), span.parent.as_str(), span.name.as_str()), (TRACE, SPAN, "getAgent"));
    let expected = [
        ("http.request.method", "GET"),
        ("http.response.status_code", "200"),
        ("http.route", "/v1/agents/{id}"),
        ("kalends.operation", "getAgent"),
        ("kalends.organization", org.id.as_str()),
        ("kalends.request_id", called.header("x-request-id")),
    ];
    let key = span.attributes.iter().filter(|(name, value)| *name == "kalends.key" && value.starts_with("key_"));
    assert_eq!(key.count(), 1, "{span:#?}");
    let others: Vec<_> = span.attributes.iter().filter(|(name, _)| *name != "kalends.key").collect();
    let others: Vec<_> = others.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    assert_eq!(others, expected);

    // Any other header is ignored, and so is its absence.
    let bad = api.get(&path).header("traceparent", format!("00-{TRACE}-0000000000000000-01")).await.expect(200);
    for answer in [bad, api.get(&path).await.expect(200)] {
        let span = collector.wait_for("span of a request", |spans| request_span(spans, &answer).cloned()).await;
        assert!(span.parent.is_empty() && span.trace != TRACE, "{span:#?}");
    }

    // Background work has spans with the names of its loops.
    for name in ["turn timers", "claim letters", "claim webhooks"] {
        collector.wait_for(name, |spans| spans.iter().find(|span| span.name == name).map(|_| ())).await;
    }
    assert!(!format!("{:?}", collector.spans()).contains(&org.key), "a span holds a key");
}

#[apply(on_both)]
#[tokio::test]
async fn a_batch_is_linked_to_the_requests_in_it(#[case] database: Database) {
    let collector = Collector::start().await;
    let url = collector.url();
    let server = Server::start_with(database, &[("KALENDS_OTLP_ENDPOINT", url.as_str())]).await;
    let org = server.org("pro").await;
    let api = server.api(&org);
    let (_, calendar) = agent_with_calendar(&api).await;
    let create = |api: Client, hour: usize| {
        let path = format!("/v1/calendars/{calendar}/events");
        let (start, end) = (format!("2030-03-01T{hour:02}:00:00Z"), format!("2030-03-01T{hour:02}:30:00Z"));
        async move { api.post(path).json(event_body("One of many", &start, &end)).await.expect(201) }
    };
    let answers = join_all((0..24).map(|hour| create(api.clone(), hour))).await;
    let requests: Vec<Collected> = collector
        .wait_for("spans of all requests", |spans| {
            answers.iter().map(|answer| request_span(spans, answer).cloned()).collect()
        })
        .await;
    // Each request is in exactly one batch.
    let ids: BTreeSet<&str> = requests.iter().map(|span| span.id.as_str()).collect();
    let linked = collector
        .wait_for("batches with all requests", |spans| {
            let batches = spans.iter().filter(|span| span.name == "commit");
            let links = batches.flat_map(|batch| batch.links.clone());
            let links: Vec<String> = links.filter(|link| ids.contains(link.as_str())).collect();
            (links.len() >= ids.len()).then_some(links)
        })
        .await;
    assert_eq!(linked.len(), ids.len());
    assert_eq!(linked.iter().map(String::as_str).collect::<BTreeSet<_>>(), ids);
    for batch in collector.spans().iter().filter(|span| span.name == "commit" && !span.links.is_empty()) {
        assert_eq!(batch.attributes["kalends.change_sets"], batch.links.len().to_string(), "{batch:#?}");
        assert!(batch.parent.is_empty(), "{batch:#?}");
    }
}

#[tokio::test]
async fn a_stop_sends_the_last_spans() {
    let collector = Collector::start().await;
    let url = collector.url();
    let mut server = Server::start_with(Sqlite, &[("KALENDS_OTLP_ENDPOINT", url.as_str())]).await;
    let answer = server.anonymous().get("/v1/plans").await.expect(200);
    assert!(server.stop().await.success());
    assert!(request_span(&collector.spans(), &answer).is_some());
}

/// A collector that fails in some way.
#[derive(Debug, Clone, Copy)]
enum Dead {
    /// Nothing listens at its address.
    Away,
    /// It takes connections, and never answers.
    Silent,
}

#[rstest]
#[case::away(Dead::Away)]
#[case::silent(Dead::Silent)]
#[tokio::test]
async fn a_dead_collector_harms_no_request(#[case] dead: Dead) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let _listening = match dead {
        Dead::Away => None,
        // The system accepts connections for it.
        Dead::Silent => Some(listener),
    };
    let mut server = Server::start_with(Sqlite, &[JSON, ("KALENDS_OTLP_ENDPOINT", url.as_str())]).await;
    let org = server.org("pro").await;
    let api = server.api(&org);
    for _ in 0..20 {
        agent(&api).await;
    }
    if let Dead::Away = dead {
        let began = Instant::now();
        while !server.log().contains("spans could not be sent") {
            assert!(began.elapsed() < PATIENCE, "no line about the collector:\n{}", server.log());
            sleep(Duration::from_millis(20)).await;
        }
    }
    assert!(server.stop().await.success());
    let complaints = server.log().matches("spans could not be sent to the collector").count();
    assert!(complaints <= 1, "a failure is logged at most once a minute:\n{}", server.log());
    assert!(server.log().contains("\"stopped\""), "the server stops in time:\n{}", server.log());
}
