//! Why a call failed.

use std::{borrow::Cow, time::Duration};

use kalends_wire::{Approval, ErrorBody};

/// Why a call has no value.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The base URL is invalid. Nothing was sent.
    #[error("the base URL {0}")]
    Address(&'static str),
    /// The request cannot be built, for example because a path parameter is empty or a header's value is invalid.
    /// Nothing was sent.
    #[error("the request cannot be made: {0}")]
    Request(Cow<'static, str>),
    /// The service returned an error.
    #[error("{status} {}: {}", error.r#type, error.message)]
    Api {
        /// The HTTP status.
        status: u16,
        /// The error. Its message says what is wrong, what is allowed and what was received.
        error: Box<ErrorBody>,
        /// The time after which the request may be repeated, if the service named one.
        retry_after: Option<Duration>,
    },
    /// The write waits for a person's approval, because the key requires it. Nothing has changed yet. If the write is
    /// approved, the service makes it, so do not repeat the call: [`Client::get_approval`](crate::Client::get_approval)
    /// waits for the decision.
    #[error("the write waits for approval {}: {}", .0.id, .0.summary)]
    AwaitsApproval(Box<Approval>),
    /// The connection failed or broke before the answer was complete, or the attempt timed out.
    #[error("the service was not reached, or its answer did not arrive")]
    Transport(#[source] reqwest::Error),
    /// The answer has an unexpected form. Often, a proxy between the client and the service sent it.
    #[error("the answer is not {expected}: status {status}, request {}", request_id.as_deref().unwrap_or("unknown"))]
    Decode {
        /// The expected type.
        expected: &'static str,
        /// The HTTP status.
        status: u16,
        /// The request's identifier, if the service itself answered.
        request_id: Option<String>,
        /// What is wrong with the answer.
        #[source]
        source: serde_json::Error,
    },
    /// The answer is larger than the limit. The service may have executed the request.
    #[error("the answer is longer than {limit} bytes: request {}", request_id.as_deref().unwrap_or("unknown"))]
    TooLarge {
        /// The limit, in bytes after decompression.
        limit: usize,
        /// The request's identifier.
        request_id: Option<String>,
    },
}

impl Error {
    /// The error that the service returned, if any.
    pub fn body(&self) -> Option<&ErrorBody> {
        match self {
            Self::Api { error, .. } => Some(error),
            _ => None,
        }
    }

    /// The approval that the write waits for, if it does.
    pub fn approval(&self) -> Option<&Approval> {
        match self {
            Self::AwaitsApproval(approval) => Some(approval),
            _ => None,
        }
    }

    /// The type of the service's error, such as `validation_error` or `quota_exceeded`.
    pub fn kind(&self) -> Option<&str> {
        self.body().map(|error| &*error.r#type)
    }

    /// The code of the service's error, such as `slot_taken`, if it has one.
    pub fn code(&self) -> Option<&str> {
        self.body()?.code.as_deref()
    }

    /// The path of the invalid field or parameter, such as `slots[2].end_time`.
    pub fn param(&self) -> Option<&str> {
        self.body()?.param.as_deref()
    }

    /// The HTTP status, if the answer was read completely.
    pub const fn status(&self) -> Option<u16> {
        match self {
            Self::Api { status, .. } | Self::Decode { status, .. } => Some(*status),
            Self::AwaitsApproval(_) => Some(202),
            _ => None,
        }
    }

    /// The request's identifier. Quote it to the operator of the service.
    pub fn request_id(&self) -> Option<&str> {
        match self {
            Self::Api { error, .. } => Some(&error.request_id),
            Self::Decode { request_id, .. } | Self::TooLarge { request_id, .. } => request_id.as_deref(),
            _ => None,
        }
    }
}
