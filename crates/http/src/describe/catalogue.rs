//! What the description defines once and operations refer to: headers, and the answers of failures.

use serde_json::{Map, Value, json};

use crate::{
    BODY_MAX, CALL_MAX, FILE_MAX,
    incoming::{BYTES_A_SECOND, FREE, WITHIN},
};

/// What follows the status in the name of an error that a browser gets as a page.
pub(super) const PAGE: &str = "Page";
/// What tells of the caller and the request, failures included.
const OF_CALLER: [&str; 5] =
    ["X-Request-Id", "X-Service-Plan", "RateLimit-Policy", "RateLimit", "Service-Terms-Upgrade-Required"];

/// A header by its name in the catalogue.
pub(crate) fn header_of(name: &str) -> (String, Value) {
    (name.to_owned(), json!({ "$ref": format!("#/components/headers/{name}") }))
}

/// The headers that tell of the caller and the request.
pub(crate) fn of_caller() -> Map<String, Value> {
    OF_CALLER.into_iter().map(header_of).collect()
}

/// The content of a page.
pub(super) fn html() -> Value {
    json!({ "schema": { "type": "string" }, "example": "<!doctype html>…" })
}

/// The headers that the description tells of. Those that are required stand on every answer that is told to have them;
/// others depend on who asks.
pub(super) fn headers() -> Value {
    let header = |description: &str, example: &str| json!({ "description": description, "schema": { "type": "string" }, "example": example });
    let required = |description: &str, example: &str| {
        let mut header = header(description, example);
        header["required"] = json!(true);
        header
    };
    json!({
        "X-Request-Id": required("The request's identifier; quote it when something is wrong.", "req_01jn8r6v9ke0bt3m5qz2c7xwdh"),
        "X-Service-Plan": header("The organization's plan: free, pro or scale.", "free"),
        "RateLimit-Policy": header(
            "The plan's monthly limit of API calls; a 429 `rate_limit_error` tells that of a second. Unlimited plans send none.",
            "\"api_calls\";q=50000;w=2592000;pk=:AZOCo8n1c3Cn0LmY5F3Kxw==:"
        ),
        "RateLimit": header("What is left of it, and the seconds until it begins anew.", "\"api_calls\";r=49873;t=864000"),
        "Service-Terms-Upgrade-Required": header("The terms to accept, where the organization has not.", "2026-01-01"),
        "ETag": required("The resource's version, for If-Match.", "\"3\""),
        "Cache-Control": required("Who may keep the answer, and how long.", "public, max-age=300"),
        "Idempotency-Replayed": header("`true` where the answer is that of an earlier, same request.", "true"),
        "Set-Cookie": header(
            "The session's cookie, set or removed. `Secure` is left out on plain http of the machine itself.",
            "service_session=eyJhbGciOiJIUzI1NiJ9.e30.c2ln; Path=/; Max-Age=43200; HttpOnly; Secure; SameSite=Lax"
        ),
        "Location": required("Where the browser goes on.", "https://console.example.com"),
        "Content-Disposition": required("The name of the file.", "attachment; filename=\"kalends-export-2026-03-02.json\""),
        "WWW-Authenticate": required("What opens it.", "Bearer"),
        "Retry-After": header("Seconds after which the request may be repeated.", "1"),
    })
}

/// The answers of failures, by status; and the same where a browser gets a page.
pub(super) fn responses() -> Value {
    let failure = |description: &str, also: &[&str]| {
        let mut headers = of_caller();
        headers.extend(also.iter().map(|name| header_of(name)));
        json!({
            "description": description,
            "headers": headers,
            "content": { "application/json": { "schema": { "$ref": "#/components/schemas/ErrorEnvelope" } } }
        })
    };
    let mut responses = json!({
        "400": failure("The body, a parameter or a header is not valid.", &[]),
        "401": failure(
            "`unauthorized`: no key, or none in force. `authentication_error`: no session, or a wrong password.", &["WWW-Authenticate"]
        ),
        "403": failure("`forbidden`, `plan_required` or `account_waitlisted`.", &[]),
        "404": failure("`not_found`: no such thing in the caller's organization.", &[]),
        "408": failure(
            &format!(
                "The body arrived at less than {} KB a second after its first {} seconds, or not within {} seconds.",
                BYTES_A_SECOND / 1_000, FREE.as_secs(), WITHIN.as_secs()
            ),
            &[]
        ),
        "409": failure("`conflict`: the state does not allow it, or the first request with the key still runs.", &["Retry-After"]),
        "410": failure("`conflict`, code `resync`: the copy of the calendar must begin anew, without `since`; code `claim_over`: the hold of the claim is over.", &[]),
        "412": failure("`conflict`, code `stale`: If-Match names another version.", &[]),
        "413": failure(
            &format!(
                "The body is over {} MiB; that of an import, over {} MiB; a message to `/mcp` that calls the tool of an \
                 import, over {} MiB.",
                BODY_MAX >> 20, FILE_MAX >> 20, CALL_MAX >> 20
            ),
            &[]
        ),
        "415": failure("The body is not declared as JSON; that of an import, as text/calendar.", &[]),
        "422": failure("The Idempotency-Key was used for another request; or the address of a feed is none that may be asked.", &[]),
        "429": failure("`quota_exceeded`: a limit of the plan is reached. `rate_limit_error` and `rate_limited`: too often.", &["Retry-After"]),
        "500": failure("`internal_error`", &[]),
        "503": failure("`internal_error`: the database does not answer, or the service has more to do than it can.", &["Retry-After"]),
    });
    if let Some(all) = responses.as_object_mut() {
        for (status, response) in all.clone() {
            let mut page = response;
            page["content"]["text/html"] = html();
            all.insert(format!("{status}{PAGE}"), page);
        }
    }
    responses
}
