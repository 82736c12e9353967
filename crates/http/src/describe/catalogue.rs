//! Headers and error responses that the description defines once and operations refer to.

use serde_json::{Map, Value, json};

use crate::limits::{BODY_MAX, BYTES_A_SECOND, CALL_MAX, FILE_MAX, FREE, WITHIN};

/// The suffix of an error response's name if a browser gets it as a page.
pub(super) const PAGE: &str = "Page";
/// The headers about the caller and the request. Errors have them too.
const OF_CALLER: [&str; 5] =
    ["X-Request-Id", "X-Service-Plan", "RateLimit-Policy", "RateLimit", "Service-Terms-Upgrade-Required"];

/// A reference to a header of the catalogue.
pub(crate) fn header_of(name: &str) -> (String, Value) {
    (name.to_owned(), json!({ "$ref": format!("#/components/headers/{name}") }))
}

/// The headers about the caller and the request.
pub(crate) fn of_caller() -> Map<String, Value> {
    OF_CALLER.into_iter().map(header_of).collect()
}

/// The content of a web page.
pub(super) fn html() -> Value {
    json!({ "schema": { "type": "string" }, "example": "<!doctype html>…" })
}

/// The headers in the description. A required header is on every answer that lists it. The others depend on the
/// caller.
pub(super) fn headers() -> Value {
    let header = |description: &str, example: &str| json!({ "description": description, "schema": { "type": "string" }, "example": example });
    let required = |description: &str, example: &str| {
        let mut header = header(description, example);
        header["required"] = json!(true);
        header
    };
    json!({
        "X-Request-Id": required("The request's identifier. Quote it when you report a problem.", "req_01jn8r6v9ke0bt3m5qz2c7xwdh"),
        "X-Service-Plan": header("The organization's plan: free, pro or scale.", "free"),
        "RateLimit-Policy": header(
            "The plan's monthly limit of API calls. On a 429 `rate_limit_error`, the limit per second. Absent on unlimited \
             plans.",
            "\"api_calls\";q=50000;w=2592000;pk=:AZOCo8n1c3Cn0LmY5F3Kxw==:"
        ),
        "RateLimit": header("What is left of the limit, and the number of seconds until it resets.", "\"api_calls\";r=49873;t=864000"),
        "Service-Terms-Upgrade-Required": header("The version of the terms, if the organization has not accepted it.", "2026-01-01"),
        "Kalends-Dry-Run": header("`true`: this was a dry run, so nothing was kept or sent.", "true"),
        "ETag": required("The resource's version, for If-Match.", "\"3\""),
        "Cache-Control": required("Who may cache the answer, and for how long.", "public, max-age=300"),
        "Idempotency-Replayed": header("`true` if this is the stored answer to an earlier, identical request.", "true"),
        "Set-Cookie": header(
            "Sets or removes the session cookie. `Secure` is left out with plain http on localhost.",
            "service_session=eyJhbGciOiJIUzI1NiJ9.e30.c2ln; Path=/; Max-Age=43200; HttpOnly; Secure; SameSite=Lax"
        ),
        "Location": required("The address to which the browser is redirected.", "https://console.example.com"),
        "Content-Disposition": required("The file name.", "attachment; filename=\"kalends-export-2026-03-02.json\""),
        "WWW-Authenticate": required("The required authentication scheme.", "Bearer"),
        "Retry-After": header("The number of seconds after which the request may be repeated.", "1"),
    })
}

/// The error responses by status, and their variants for browsers that get a page.
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
        "400": failure("The body, a parameter or a header is invalid.", &[]),
        "401": failure(
            "`unauthorized`: the key is missing or not valid. `authentication_error`: there is no session, the password is \
             wrong, or a code of the second factor is missing or wrong.",
            &["WWW-Authenticate"]
        ),
        "403": failure("`forbidden`, `plan_required` or `account_waitlisted`.", &[]),
        "404": failure("`not_found`: the resource does not exist in the caller's organization.", &[]),
        "408": failure(
            &format!(
                "The body arrived at less than {} KB a second after its first {} seconds, or took longer than {} seconds.",
                BYTES_A_SECOND / 1_000, FREE.as_secs(), WITHIN.as_secs()
            ),
            &[]
        ),
        "409": failure(
            "`conflict`: the current state does not allow the request, or the first request with the Idempotency-Key is \
             still running.",
            &["Retry-After"]
        ),
        "410": failure(
            "`conflict`, code `resync`: start the copy of the calendar again, without `since`. Code `claim_over`: the hold \
             on the claim has ended.",
            &[]
        ),
        "412": failure("`conflict`, code `stale`: If-Match names another version.", &[]),
        "413": failure(
            &format!(
                "The body is larger than {} MiB. The limit is {} MiB for an import, and {} MiB for a message to `/mcp` \
                 that calls the import tool.",
                BODY_MAX >> 20, FILE_MAX >> 20, CALL_MAX >> 20
            ),
            &[]
        ),
        "415": failure("The body's content type is not JSON or, for an import, not text/calendar.", &[]),
        "422": failure("The Idempotency-Key was used for another request, or the feed's address must not be fetched.", &[]),
        "429": failure(
            "`quota_exceeded`: a limit of the plan is reached. `rate_limit_error` and `rate_limited`: too many requests.",
            &["Retry-After"]
        ),
        "500": failure("`internal_error`: the service failed.", &[]),
        "502": failure("`internal_error`, code `calendar_server_unavailable`: a calendar server does not answer.", &[]),
        "503": failure("`internal_error`: the database is not answering, or the service is overloaded.", &["Retry-After"]),
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
