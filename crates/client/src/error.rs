//! Why there is no value.

use std::{borrow::Cow, time::Duration};

use kalends_wire::ErrorBody;

/// Why a call has no value.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The base URL is none of a service. Nothing was sent.
    #[error("the base URL {0}")]
    Address(&'static str),
    /// The request cannot be made as it was asked for: a path parameter is empty, or a header's value is none. Nothing
    /// was sent.
    #[error("the request cannot be made: {0}")]
    Request(Cow<'static, str>),
    /// The service refused.
    #[error("{status} {}: {}", error.r#type, error.message)]
    Api {
        /// The HTTP status.
        status: u16,
        /// What it said: its message tells what was wrong, what is allowed and what was got.
        error: Box<ErrorBody>,
        /// After what time the request may be repeated, where the service said so.
        retry_after: Option<Duration>,
    },
    /// No connection was made, it broke before the answer was complete, or time ran out.
    #[error("the service was not reached, or its answer did not arrive")]
    Transport(#[source] reqwest::Error),
    /// The answer is not what it should be. Where something between the caller and the service answers for it, it is
    /// often this.
    #[error("the answer is no {expected}: status {status}, request {}", request_id.as_deref().unwrap_or("unknown"))]
    Decode {
        /// The type that should have come.
        expected: &'static str,
        /// The HTTP status.
        status: u16,
        /// The service's name for the request, if it is the service that answered.
        request_id: Option<String>,
        /// What is wrong with it.
        #[source]
        source: serde_json::Error,
    },
    /// The answer is longer than it may be. What was asked for was done.
    #[error("the answer is longer than {limit} bytes: request {}", request_id.as_deref().unwrap_or("unknown"))]
    TooLarge {
        /// The most bytes, after decompression.
        limit: usize,
        /// The service's name for the request.
        request_id: Option<String>,
    },
}

impl Error {
    /// What the service said, if it refused.
    pub fn body(&self) -> Option<&ErrorBody> {
        match self {
            Self::Api { error, .. } => Some(error),
            _ => None,
        }
    }

    /// The kind of refusal, such as `validation_error` or `quota_exceeded`.
    pub fn kind(&self) -> Option<&str> {
        self.body().map(|error| &*error.r#type)
    }

    /// The finer name of the refusal, such as `slot_taken`, where there is one.
    pub fn code(&self) -> Option<&str> {
        self.body()?.code.as_deref()
    }

    /// The field or parameter at fault, as a path such as `slots[2].end_time`.
    pub fn param(&self) -> Option<&str> {
        self.body()?.param.as_deref()
    }

    /// The HTTP status, where the answer was read to its end.
    pub const fn status(&self) -> Option<u16> {
        match self {
            Self::Api { status, .. } | Self::Decode { status, .. } => Some(*status),
            _ => None,
        }
    }

    /// The service's name for the request: quote it to whoever runs the service.
    pub fn request_id(&self) -> Option<&str> {
        match self {
            Self::Api { error, .. } => Some(&error.request_id),
            Self::Decode { request_id, .. } | Self::TooLarge { request_id, .. } => request_id.as_deref(),
            _ => None,
        }
    }
}
