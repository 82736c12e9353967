//! `POST /mcp` in the description of the API. It is no operation of the table, as what a call does is one of those.

use kalends_app::operations;
use serde_json::{Map, Value, json};

use crate::describe::{header_of, of_caller};

/// The operation as the description has it.
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
        "description": "The body, a parameter or a header is not valid, in JSON or in the protocol.",
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
        "summary": "Lists and calls the operations as tools, by the Model Context Protocol.",
        "description": "Streamable HTTP without sessions: one message, one answer in JSON. Every message passes the \
            key's rate and counts as one API call. A call is recorded as the operation that it is; what fails there is a \
            result with `isError`, and not an error here.",
        "security": [{ "apiKey": [] }],
        "requestBody": { "required": true, "content": { "application/json": {
            "schema": { "$ref": "#/components/schemas/ToolMessage" }
        } } },
        "responses": {
            "200": answers("What the message asked for, or the protocol's error."),
            "202": { "description": "A notification, which has no answer.", "headers": headers() },
            "400": refused,
            "401": failure("401"),
            "403": failure("403"),
            "404": answers("The protocol knows no such method."),
            "408": failure("408"),
            "413": failure("413"),
            "415": failure("415"),
            "429": failure("429"),
            "500": failure("500"),
            "503": failure("503"),
        }
    } })
}

/// The schemas that it refers to, by name.
pub(crate) fn schemas() -> [(&'static str, Value); 2] {
    let version = json!({ "type": "string", "enum": ["2.0"] });
    let id = json!({ "type": ["string", "integer", "null"], "description": "Of the request; chosen by the caller." });
    let message = json!({
        "type": "object",
        "description": "A request or notification of JSON-RPC.",
        "required": ["jsonrpc", "method"],
        "properties": {
            "jsonrpc": version,
            "id": id,
            "method": { "type": "string", "description": "Such as `tools/list` or `tools/call`." },
            "params": { "type": "object", "description": "Of a call: the tool's `name` and its `arguments`." }
        }
    });
    let answer = json!({
        "type": "object",
        "description": "An answer of JSON-RPC: a result or an error.",
        "required": ["jsonrpc"],
        "properties": {
            "jsonrpc": version,
            "id": id,
            "result": { "type": "object", "description": "Of a call: `content`, `structuredContent` and `isError`." },
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
