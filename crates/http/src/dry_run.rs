//! Dry runs: the query parameter that asks for one, and the header that says that an answer is of one.

use axum::{extract::Request, response::Response};
use http::{HeaderName, HeaderValue, Uri, uri::PathAndQuery};
use kalends_app::operations::Operation;
use kalends_kernel::FieldError;
use url::form_urlencoded;

use crate::console;

/// The query parameter.
pub(crate) const PARAMETER: &str = "dry_run";
/// The header of the answer to a dry run.
pub(crate) const HEADER: &str = "Kalends-Dry-Run";
const NAME: HeaderName = HeaderName::from_static("kalends-dry-run");

/// Whether the request asks for a dry run. Removes the parameter from its address, so that no endpoint has to know it. An
/// operation that takes no dry run treats the parameter like any other that it does not know. So do forms, whose answers
/// are pages.
///
/// # Errors
/// If the value is neither `true` nor `false`, or the parameter is given twice.
pub(crate) fn take(operation: &Operation, request: &mut Request) -> Result<bool, FieldError> {
    let Some(query) = request.uri().query() else { return Ok(false) };
    let is_page = console::is_form(request) || console::is_page(request.uri().path());
    if !query.contains(PARAMETER) || !operation.takes_dry_run() || is_page {
        return Ok(false);
    }
    let (mut asked, mut others) = (None, form_urlencoded::Serializer::new(String::new()));
    for (name, value) in form_urlencoded::parse(query.as_bytes()) {
        if name != PARAMETER {
            others.append_pair(&name, &value);
            continue;
        }
        let value = match &*value {
            "true" => true,
            "false" => false,
            _ => return Err(FieldError::new(PARAMETER, "must be true or false")),
        };
        if asked.replace(value).is_some() {
            return Err(FieldError::new(PARAMETER, "must be given once"));
        }
    }
    if asked.is_some() {
        let others = others.finish();
        let path = request.uri().path();
        let target = if others.is_empty() { path.to_owned() } else { format!("{path}?{others}") };
        let mut parts = request.uri().clone().into_parts();
        parts.path_and_query = PathAndQuery::try_from(target).ok();
        // The address was valid, and is only shorter now.
        if let Ok(address) = Uri::from_parts(parts) {
            *request.uri_mut() = address;
        }
    }
    Ok(asked.unwrap_or(false))
}

/// Says in the answer of a dry run that succeeded that nothing was committed.
pub(crate) fn mark(response: &mut Response) {
    if response.status().is_success() {
        response.headers_mut().insert(NAME, HeaderValue::from_static("true"));
    }
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use kalends_app::operations;
    use rstest::rstest;

    use super::*;

    fn asked(operation: &Operation, address: &str) -> (Result<bool, String>, String) {
        let mut request = Request::builder().uri(address).body(Body::empty()).unwrap();
        let asked = take(operation, &mut request).map_err(|error| error.to_string());
        (asked, request.uri().to_string())
    }

    #[rstest]
    #[case::absent("/v1/agents", Ok(false), "/v1/agents")]
    #[case::alone("/v1/agents?dry_run=true", Ok(true), "/v1/agents")]
    #[case::off("/v1/agents?dry_run=false&a=b", Ok(false), "/v1/agents?a=b")]
    #[case::between("/v1/agents?a=b%20c&dry_run=true&a=d", Ok(true), "/v1/agents?a=b+c&a=d")]
    #[case::other_name("/v1/agents?dry_runs=true", Ok(false), "/v1/agents?dry_runs=true")]
    #[case::absolute("https://kalends.example/v1/agents?dry_run=true", Ok(true), "https://kalends.example/v1/agents")]
    #[case::neither("/v1/agents?dry_run=yes", Err("dry_run: must be true or false"), "/v1/agents?dry_run=yes")]
    #[case::twice(
        "/v1/agents?dry_run=true&dry_run=true",
        Err("dry_run: must be given once"),
        "/v1/agents?dry_run=true&dry_run=true"
    )]
    fn the_parameter_is_taken_out(#[case] address: &str, #[case] expected: Result<bool, &str>, #[case] left: &str) {
        let expected = expected.map_err(str::to_owned);
        assert_eq!(asked(&operations::CREATE_AGENT, address), (expected, left.to_owned()));
    }

    #[rstest]
    #[case::read(&operations::LIST_AGENTS)]
    #[case::tries_a_code(&operations::VERIFY)]
    #[case::sends_a_message(&operations::TEST_WEBHOOK)]
    #[case::console(&operations::CHANGE_PASSWORD)]
    #[case::operator(&operations::ACTIVATE_ORGANIZATION)]
    fn other_operations_leave_the_parameter(#[case] operation: &Operation) {
        let address = "/v1/somewhere?dry_run=true";
        assert_eq!(asked(operation, address), (Ok(false), address.to_owned()));
    }
}
