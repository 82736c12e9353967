//! Large bodies: one at a time for each organization, without delaying other organizations.

use kalends_e2e::{Client, Database, Org, Server};
use serde_json::{Value, json};

use crate::raw::Connection;

/// An organization with a calendar, its client, and the path for imports.
async fn tenant(server: &Server) -> (Org, Client, String) {
    let org = server.org("pro").await;
    let api = server.api(&org);
    let agent = api.post("/v1/agents").json(json!({ "name": "Ada", "type": "ai" })).await.expect(201).id();
    let work = json!({ "name": "Work", "timezone": "UTC" });
    let calendar = api.post(format!("/v1/agents/{agent}/calendars")).json(work).await.expect(201).id();
    (org, api, format!("/v1/calendars/{calendar}/import"))
}

/// A file of at most this many bytes, with one event.
fn file(bytes: usize) -> String {
    let (head, tail) = (
        "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:x\r\nBEGIN:VEVENT\r\nUID:one\r\nDTSTAMP:20270101T000000Z\r\n\
         DTSTART:20270301T090000Z\r\nDTEND:20270301T100000Z\r\nSUMMARY:Large\r\n",
        "END:VEVENT\r\nEND:VCALENDAR\r\n",
    );
    let line = format!("X-NOTE:{}\r\n", "x".repeat(60));
    format!("{head}{}{tail}", line.repeat((bytes - head.len() - tail.len()) / line.len()))
}

const LARGE: usize = 2 << 20;

#[tokio::test]
async fn organization_sends_one_large_body_at_a_time() {
    let server = Server::start(Database::Sqlite).await;
    let (org, api, import) = tenant(&server).await;
    let (_, other, others) = tenant(&server).await;
    let send =
        |api: &Client, path: &str, bytes| api.post(path).header("content-type", "text/calendar").body(file(bytes));

    // The server asks for the body when it is the upload's turn.
    let mut begun = Connection::open(server.address()).await;
    let head = format!(
        "POST {import} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\nContent-Length: {LARGE}\r\n\
         Content-Type: text/calendar\r\nExpect: 100-continue\r\n\r\n",
        org.key
    );
    begun.send(head).await;
    assert_eq!(begun.answer().await.map(|answer| answer.status), Some(100));

    let refused = send(&api.impatient(), &import, LARGE).await.refused(429, "rate_limit_error");
    assert_eq!((refused.at("/error/code"), refused.header("retry-after")), (json!("upload_in_progress"), "5"));
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": "importCalendar", "arguments": { "id": "cal_1", "content": file(LARGE) } } });
    let refused = api.impatient().post("/mcp").json(message).await.refused(429, "rate_limit_error");
    assert_eq!(refused.at("/error/code"), "upload_in_progress");
    send(&api, &import, 1 << 19).await.expect(200);
    send(&other, &others, LARGE).await.expect(200);

    // If a caller disconnects, its turn ends.
    drop(begun);
    let mut answers = Vec::<Value>::new();
    loop {
        let answer = send(&api.impatient(), &import, LARGE).await;
        if answer.status == 200 {
            break;
        }
        answers.push(answer.refused(429, "rate_limit_error").at("/error/code"));
        assert!(answers.len() < 1_000, "the turn never ends");
    }
    assert!(answers.iter().all(|code| code == "upload_in_progress"), "{answers:?}");
}
