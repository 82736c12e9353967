//! An answer's value and the information in its headers.

use std::time::Duration;

use reqwest::{
    StatusCode,
    header::{CONTENT_TYPE, ETAG, HeaderMap, RETRY_AFTER},
};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{
    Error, Outcome,
    wire::{AwaitsApproval, ErrorEnvelope},
};

const REQUEST_ID: &str = "x-request-id";

/// An answer: its value, and the information in its headers.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reply<T> {
    /// The value.
    pub value: T,
    /// The HTTP status.
    pub status: u16,
    /// The version of the returned resource, for [`Call::if_match`](crate::Call::if_match).
    pub etag: Option<String>,
    /// The request's identifier.
    pub request_id: Option<String>,
    /// The plan of the caller's organization.
    pub plan: Option<String>,
    /// Whether this is the stored answer to an earlier, identical request. If so, this request changed nothing.
    pub replayed: bool,
    /// What is left of the plan's limit. `None` if there is no limit.
    pub rate_limit: Option<RateLimit>,
    /// The version of the terms that the organization has not accepted yet.
    pub terms_to_accept: Option<String>,
}

/// A limit and what is left of it, from the headers `RateLimit-Policy` and `RateLimit`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RateLimit {
    /// The name of the limit, such as `api_calls`.
    pub name: String,
    /// The limit.
    pub limit: u64,
    /// The number that is left.
    pub remaining: u64,
    /// The time until the full limit is available again.
    pub resets_in: Duration,
}

impl RateLimit {
    fn of(headers: &HeaderMap) -> Option<Self> {
        let (name, policy) = text(headers, "ratelimit-policy")?.split_once(';')?;
        let (limited, left) = text(headers, "ratelimit")?.split_once(';')?;
        let number = |parts: &str, of: &str| {
            let mut numbers = parts.split(';').filter_map(|part| part.trim().strip_prefix(of)?.strip_prefix('='));
            numbers.next()?.parse::<u64>().ok()
        };
        (name == limited).then_some(())?;
        Some(Self {
            name: name.trim_matches('"').to_owned(),
            limit: number(policy, "q")?,
            remaining: number(left, "r")?,
            resets_in: Duration::from_secs(number(left, "t")?),
        })
    }
}

/// A raw answer.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    /// The outcome of the attempt.
    pub(crate) fn outcome(&self) -> Outcome {
        Outcome::Answered { status: self.status.as_u16(), retry_after: self.retry_after() }
    }

    fn retry_after(&self) -> Option<Duration> {
        Some(Duration::from_secs(text(&self.headers, RETRY_AFTER.as_str())?.parse().ok()?))
    }

    /// Parses the answer into a reply or into the error that it contains.
    pub(crate) fn read<T: DeserializeOwned>(self) -> Result<Reply<T>, Error> {
        let status = self.status.as_u16();
        if let Some(AwaitsApproval { approval }) = self.awaited() {
            return Err(Error::AwaitsApproval(Box::new(approval)));
        }
        // 304 is the answer if the client has the newest version. It has no body, so its value is `None`.
        if self.status.is_success() || self.status == StatusCode::NOT_MODIFIED {
            let value = self.value().map_err(|source| self.unexpected(std::any::type_name::<T>(), source))?;
            let header = |name: &str| text(&self.headers, name).map(str::to_owned);
            return Ok(Reply {
                value,
                status,
                etag: header(ETAG.as_str()),
                request_id: header(REQUEST_ID),
                plan: header("x-service-plan"),
                replayed: text(&self.headers, "idempotency-replayed") == Some("true"),
                rate_limit: RateLimit::of(&self.headers),
                terms_to_accept: header("service-terms-upgrade-required"),
            });
        }
        let ErrorEnvelope { error } =
            serde_json::from_slice(&self.body).map_err(|source| self.unexpected("an error of the service", source))?;
        Err(Error::Api { status, error: Box::new(error), retry_after: self.retry_after() })
    }

    /// What the write waits for. Other answers with 202 have no approval.
    fn awaited(&self) -> Option<AwaitsApproval> {
        if self.status == StatusCode::ACCEPTED { serde_json::from_slice(&self.body).ok() } else { None }
    }

    /// Parses JSON as it is. Other text becomes one JSON string, and an empty body becomes null, so that `String`,
    /// `()` and `Option` are parsed like any other type.
    fn value<T: DeserializeOwned>(&self) -> serde_json::Result<T> {
        if self.body.is_empty() {
            return serde_json::from_value(Value::Null);
        }
        if text(&self.headers, CONTENT_TYPE.as_str()).is_some_and(|kind| kind.starts_with("application/json")) {
            return serde_json::from_slice(&self.body);
        }
        serde_json::from_value(Value::String(String::from_utf8_lossy(&self.body).into_owned()))
    }

    fn unexpected(&self, expected: &'static str, source: serde_json::Error) -> Error {
        Error::Decode { expected, status: self.status.as_u16(), request_id: request_id(&self.headers), source }
    }
}

/// The request's identifier.
pub(crate) fn request_id(headers: &HeaderMap) -> Option<String> {
    text(headers, REQUEST_ID).map(str::to_owned)
}

/// The value of a header, if it consists of visible ASCII characters.
fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

#[cfg(test)]
mod tests {
    use reqwest::header::HeaderValue;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::a_month("\"api_calls\";q=50000;w=2592000;pk=:b3Jn:", "\"api_calls\";r=49873;t=864000", Some((50_000, 49_873, 864_000)))]
    #[case::a_second("\"burst\";q=10;w=1", "\"burst\";r=0;t=1", Some((10, 0, 1)))]
    #[case::different_names("\"burst\";q=10;w=1", "\"api_calls\";r=0;t=1", None)]
    #[case::not_a_number("\"burst\";q=ten;w=1", "\"burst\";r=0;t=1", None)]
    #[case::nothing("", "", None)]
    fn rate_limits_are_parsed(#[case] policy: &str, #[case] limit: &str, #[case] expected: Option<(u64, u64, u64)>) {
        let mut headers = HeaderMap::new();
        assert_eq!(RateLimit::of(&headers), None);
        headers.insert("ratelimit-policy", HeaderValue::from_str(policy).unwrap());
        headers.insert("ratelimit", HeaderValue::from_str(limit).unwrap());
        let read = RateLimit::of(&headers).map(|read| (read.limit, read.remaining, read.resets_in.as_secs()));
        assert_eq!(read, expected);
    }
}
