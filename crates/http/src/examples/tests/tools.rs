//! The protocol of the tools.

use http::StatusCode;
use kalends_app::operations as op;
use serde_json::{Value, json};

use super::{
    house::House,
    story::{Ask, Story},
};

/// The version of the protocol in which an unknown method has its own status.
const LATEST: &str = "2026-07-28";

/// An agent lists agents with a tool. Then it sends two invalid messages.
pub(super) async fn an_agent_uses_tools(story: &mut Story, house: &House) {
    story.chapter("2026-03-02T09:40:00Z");
    let call = json!({ "name": "listAgents", "arguments": { "limit": 5 } });
    say(story, house, json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": call })).record().await;
    say(story, house, json!(["tools/call"])).record_failure(StatusCode::BAD_REQUEST).await;
    let about = json!({
        "io.modelcontextprotocol/protocolVersion": LATEST,
        "io.modelcontextprotocol/clientInfo": { "name": "ada", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {}
    });
    let unknown = json!({ "jsonrpc": "2.0", "id": 8, "method": "tools/forget", "params": { "_meta": about } });
    let unknown = say(story, house, unknown).with("mcp-protocol-version", LATEST).with("mcp-method", "tools/forget");
    unknown.record_failure(StatusCode::NOT_FOUND).await;
}

fn say<'s>(story: &'s mut Story, House { key, .. }: &House, message: Value) -> Ask<'s> {
    story.ask(&op::MCP).by(key).with("host", "calendar.example.com").send(message)
}
