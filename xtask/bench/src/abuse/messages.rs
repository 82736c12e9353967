//! Messages to `/mcp`: a few large ones, and many short ones.

use std::time::Instant;

use anyhow::{Context as _, Result};
use tokio::task::JoinSet;

use super::attacks::{Outcome, Scene};
use crate::connection::post;

/// How many connections send short messages.
const CONNECTIONS: usize = 8;
/// The rate of the free plan for a key, per second and as a burst.
const RATE: u64 = 10;
const LIST: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;

/// A message whose parameters contain many empty objects.
pub(crate) fn tree(scene: &Scene<'_>) -> Vec<u8> {
    let objects = vec!["{}"; scene.size.objects].join(",");
    let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"x":[{objects}]}}}}"#);
    message(&scene.key, &body)
}

/// Sends such messages concurrently, each on its own connection.
pub(crate) async fn trees(scene: &Scene<'_>, count: usize) -> Result<Outcome> {
    let mut sending = JoinSet::new();
    for _ in 0..count {
        let (mut connection, request) = (scene.connection().await?, scene.prepared.clone());
        // A server that refuses a body need not read all of it. The connection then breaks, which counts as an answer.
        sending.spawn(async move { connection.ask(&request).await.map(|answer| answer.status).unwrap_or_default() });
    }
    let mut statuses = Vec::with_capacity(count);
    while let Some(status) = sending.join_next().await {
        statuses.push(status?);
    }
    statuses.sort_unstable();
    let summary = format!("{count} of {} objects, answered {statuses:?}", scene.size.objects);
    Ok(Outcome::of(summary)
        .unless(!statuses.contains(&200), || format!("a message of {} objects was carried out", scene.size.objects)))
}

/// Sends short messages as fast as they are answered. The plan's rate applies to them as to every request: a burst
/// first, then the rate for each second since the first message.
pub(crate) async fn many(scene: &Scene<'_>) -> Result<Outcome> {
    let each = scene.size.messages / CONNECTIONS;
    let begun = Instant::now();
    let mut sending = JoinSet::new();
    for _ in 0..CONNECTIONS {
        let (mut connection, request) = (scene.connection().await?, message(&scene.key, LIST));
        sending.spawn(async move {
            let (mut answered, mut refused) = (0_u64, 0_u64);
            for _ in 0..each {
                match connection.exchange(&request).await?.0 {
                    200 => answered += 1,
                    429 => refused += 1,
                    status => anyhow::bail!("a message was answered with {status}"),
                }
            }
            Ok((answered, refused))
        });
    }
    let (mut answered, mut refused) = (0, 0);
    while let Some(sent) = sending.join_next().await {
        let sent = sent?.context("tools/list")?;
        answered += sent.0;
        refused += sent.1;
    }
    let allowed = RATE * (begun.elapsed().as_secs() + 2);
    Ok(Outcome::of(format!("{answered} of {} answered, {refused} refused", answered + refused))
        .unless(answered <= allowed, || format!("{answered} messages were answered, the plan allows {allowed}")))
}

fn message(key: &str, body: &str) -> Vec<u8> {
    let accept = "POST /mcp HTTP/1.1\r\naccept: application/json, text/event-stream\r\n";
    let request = post("/mcp", Some(key), None, body);
    // The first line is the same in both requests.
    let rest = request.iter().position(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    [accept.as_bytes(), request.get(rest..).unwrap_or_default()].concat()
}
