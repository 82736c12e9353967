//! The header that names the run of a request.

use axum::extract::Request;
use http::HeaderMap;
use kalends_app::{Refusal, operations::Operation};
use kalends_kernel::FieldError;
use kalends_runs::{HEADER, RunName};

use crate::console;

/// The run that the request names, if it is a write. Public routes, reads and forms of the console ignore the header.
///
/// # Errors
/// [`Refusal::NotUndoable`] if the writes of the operation cannot be taken back; [`Refusal::Invalid`] if the name is not
/// one, or the header is given twice.
pub(crate) fn of(operation: &'static Operation, request: &Request) -> Result<Option<RunName>, Refusal> {
    if !request.headers().contains_key(HEADER) {
        return Ok(None);
    }
    let is_page = console::is_form(request) || console::is_page(request.uri().path());
    if operation.is_public() || !operation.writes() || is_page {
        return Ok(None);
    }
    if !operation.is_undoable() {
        return Err(Refusal::NotUndoable(operation));
    }
    Ok(named(request.headers())?)
}

/// The run that the header names, if it is there.
///
/// # Errors
/// If the name is not one, or the header is given twice.
pub(crate) fn named(headers: &HeaderMap) -> Result<Option<RunName>, FieldError> {
    let mut given = headers.get_all(HEADER).iter();
    let Some(name) = given.next() else { return Ok(None) };
    // Nothing else fits: a name with a comma would be two headers for some proxies.
    let name = if given.next().is_some() { "" } else { name.to_str().unwrap_or_default() };
    RunName::parse(name).map(Some)
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use kalends_app::operations;

    use super::*;

    fn of_headers(operation: &'static Operation, names: &[&str]) -> Result<Option<RunName>, Refusal> {
        let request =
            names.iter().fold(Request::builder().uri("/v1/events"), |request, name| request.header(HEADER, *name));
        of(operation, &request.body(Body::empty()).unwrap())
    }

    /// Every operation takes the header, refuses it or ignores it.
    #[test]
    fn each_operation_takes_refuses_or_ignores_the_header() {
        for operation in operations::ALL {
            let outcome = of_headers(operation, &["plan"]);
            if operation.is_public() || !operation.writes() {
                assert!(matches!(outcome, Ok(None)), "{} {outcome:?}", operation.id);
            } else if operation.is_undoable() {
                assert_eq!(outcome.unwrap().unwrap().as_str(), "plan", "{}", operation.id);
            } else {
                assert!(matches!(outcome, Err(Refusal::NotUndoable(_))), "{} {outcome:?}", operation.id);
            }
            assert!(of_headers(operation, &[]).unwrap().is_none());
        }
    }

    #[test]
    fn a_name_that_is_not_one_is_refused() {
        let long = "n".repeat(65);
        for names in [&["two words"][..], &[""], &["a", "b"], &[long.as_str()]] {
            let refused = of_headers(&operations::CREATE_EVENT, names);
            assert!(matches!(refused, Err(Refusal::Invalid(_))), "{names:?} {refused:?}");
        }
    }
}
