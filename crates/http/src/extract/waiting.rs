//! How a caller wants to wait.

use std::time::Duration;

use axum::extract::FromRequestParts;
use http::{HeaderMap, HeaderName, header, request::Parts};

use crate::{error::ApiError, known::Carried};

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// The longest wait of a tool call. Its message has the deadline of other requests.
const WAIT_OF_TOOLS: Duration = Duration::from_secs(20);

/// The parts of a request that decide how its answer is waited for.
pub(crate) struct Waiting {
    /// The headers, with the credential.
    pub(crate) headers: HeaderMap,
    /// Whether it is a tool call, whose message must be answered earlier.
    for_tool: bool,
}

impl Waiting {
    /// How long the request waits if it asks for `wait`.
    pub(crate) fn bounded(&self, wait: Duration) -> Duration {
        if self.for_tool { wait.min(WAIT_OF_TOOLS) } else { wait }
    }

    /// Whether the caller asks for a stream of events.
    pub(crate) fn wants_stream(&self) -> bool {
        let accepted = self.headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
        let mut kinds = accepted.flat_map(|value| value.split(','));
        !self.for_tool
            && kinds.any(|kind| {
                kind.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("text/event-stream"))
            })
    }

    /// The identifier of the last event that the caller got of an earlier stream.
    pub(crate) fn last_event_id(&self) -> Option<String> {
        let value = self.headers.get(LAST_EVENT_ID)?.to_str().ok()?;
        (!value.is_empty()).then(|| value.to_owned())
    }
}

impl<S: Sync> FromRequestParts<S> for Waiting {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        Ok(Self { headers: parts.headers.clone(), for_tool: parts.extensions.get::<Carried>().is_some() })
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("text/event-stream", true)]
    #[case("application/json, Text/Event-Stream;q=0.5", true)]
    #[case("application/json", false)]
    #[case("*/*", false)]
    #[case("", false)]
    fn a_stream_is_sent_if_it_is_asked_for(#[case] accept: &'static str, #[case] streams: bool) {
        let mut headers = HeaderMap::new();
        headers.insert(header::ACCEPT, HeaderValue::from_static(accept));
        assert_eq!(Waiting { headers: headers.clone(), for_tool: false }.wants_stream(), streams);
        assert!(!Waiting { headers, for_tool: true }.wants_stream());
    }
}
