//! `POST /mcp` in the OpenAPI description. It is not in the table of operations, because each call of a tool runs one
//! of those operations.

use kalends_app::operations;
use serde_json::{Map, Value, json};

use crate::describe::{header_of, of_caller};

/// The path item of the description.
pub(crate) fn path_item() -> Value {
    let failure = |status: &str| json!({ "$ref": format!("#/components/responses/{status}") });
    let answers = |description: &str| {
        json!({
            "description": description,
            "headers": headers(),
            "content": { "application/json": {
                "schema": { "$ref": "#/components/schemas/ToolAnswer" }
            } }
        })
    };
    let refused = json!({
        "description": "The request is not valid JSON or violates the protocol.",
        "headers": headers(),
        "content": { "application/json": {
            "schema": { "anyOf": [
                { "$ref": "#/components/schemas/ErrorEnvelope" }, { "$ref": "#/components/schemas/ToolAnswer" }
            ] }
        } }
    });
    json!({ "post": {
        "tags": ["Tools"],
        "operationId": operations::MCP.id,
        "summary": "Lists and calls the operations as tools (Model Context Protocol).",
        "description": "Streamable HTTP without sessions: each message gets one JSON answer. Every message counts \
            against the key's rate and as one API call. A tool call is recorded as the operation that it calls. If \
            that operation fails, the answer is a result with `isError`, not an error. Resources show agendas and \
            contexts, and prompts name the tools for common requests.",
        "security": [{ "apiKey": [] }],
        "parameters": parameters(),
        "requestBody": { "required": true, "content": { "application/json": {
            "schema": { "$ref": "#/components/schemas/ToolMessage" }
        } } },
        "responses": {
            "200": answers("The result of the message, or an error of the protocol."),
            "202": { "description": "The message was a notification, which has no answer.", "headers": headers() },
            "400": refused,
            "401": failure("401"),
            "403": failure("403"),
            "404": answers("The protocol has no such method."),
            "408": failure("408"),
            "413": failure("413"),
            "415": failure("415"),
            "429": failure("429"),
            "500": failure("500"),
            "503": failure("503"),
        }
    } })
}

/// What a client may say in the address about the tools that it wants ([`super::toolset`]).
fn parameters() -> Value {
    json!([
        {
            "name": "tools", "in": "query", "required": false,
            "description": "The tools to list: `all` operations, or sets with commas between them: `core` (the tools \
                that are written for models) and groups such as `webhooks`. Tools that are not listed can be called too.",
            "schema": { "type": "string", "default": "all" }, "example": "core",
        },
        {
            "name": "structured", "in": "query", "required": false,
            "description": "Whether results also contain their JSON as structured content. By default, they do with \
                `tools=all`.",
            "schema": { "type": "boolean" },
        },
    ])
}

/// The schemas that the path item refers to, by name.
pub(crate) fn schemas() -> [(&'static str, Value); 2] {
    let version = json!({ "type": "string", "enum": ["2.0"] });
    let id = json!({ "type": ["string", "integer", "null"], "description": "The request's identifier, chosen by the caller." });
    let message = json!({
        "type": "object",
        "description": "A JSON-RPC request or notification.",
        "required": ["jsonrpc", "method"],
        "properties": {
            "jsonrpc": version,
            "id": id,
            "method": { "type": "string", "description": "The method, such as `tools/call`." },
            "params": { "type": "object", "description": "For a call: the tool's `name` and its `arguments`." }
        }
    });
    let answer = json!({
        "type": "object",
        "description": "A JSON-RPC answer: a result or an error.",
        "required": ["jsonrpc"],
        "properties": {
            "jsonrpc": version,
            "id": id,
            "result": { "type": "object", "description": "For a call: `content`, `structuredContent` and `isError`." },
            "error": {
                "type": "object",
                "required": ["code", "message"],
                "properties": { "code": { "type": "integer" }, "message": { "type": "string" }, "data": {} }
            }
        }
    });
    [("ToolMessage", message), ("ToolAnswer", answer)]
}

fn headers() -> Map<String, Value> {
    let mut headers = of_caller();
    headers.extend([header_of("Retry-After")]);
    headers
}
