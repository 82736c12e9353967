//! The rate-limit headers of responses: structured fields (RFC 9651) of the IETF draft, as plain text.

use std::fmt::{Display, from_fn};

use kalends_kernel::base64;
use kalends_quotas::{Period, Rate};
use kalends_time::Timestamp;

use crate::Metric;

/// The header that states the limits.
pub const RATE_LIMIT_POLICY: &str = "ratelimit-policy";
/// The header that states how much is left.
pub const RATE_LIMIT: &str = "ratelimit";

/// The name of the monthly limit.
const MONTHLY: &str = Metric::ApiCalls.as_str();
/// The window of a monthly limit in seconds: about a month.
const MONTH: u64 = 30 * 86_400;
/// The largest integer of a structured field.
const INTEGER_MAX: u64 = 999_999_999_999_999;

/// The two headers. Their values are written piece by piece, without building a string first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateLimitHeaders<P, L> {
    /// The value of `RateLimit-Policy`.
    pub policy: P,
    /// The value of `RateLimit`.
    pub limit: L,
}

/// The `RateLimit-Policy` of an authenticated response: the monthly limit of API calls. `None` for an unlimited plan.
///
/// `partition` identifies the owner of the limit. Any bytes will do, such as the organization's identifier.
pub fn monthly_policy(limit: Option<u64>, partition: &[u8]) -> Option<String> {
    let quota = limit?.min(INTEGER_MAX);
    Some(format!("\"{MONTHLY}\";q={quota};w={MONTH};pk=:{}:", base64(partition)))
}

/// The `RateLimit` of an authenticated response: the number of calls that remain, and the seconds until the month
/// ends. If the number of remaining calls is unknown, the whole limit is returned.
pub fn monthly_limit(limit: Option<u64>, remaining: Option<u64>, now: Timestamp) -> Option<impl Display> {
    let limit = limit?;
    let remaining = remaining.unwrap_or(limit).min(limit).min(INTEGER_MAX);
    let seconds = Period::of(now).seconds_left(now);
    Some(from_fn(move |f| write!(f, "\"{MONTHLY}\";r={remaining};t={seconds}")))
}

/// The headers of a 429 for the limit of requests per second. `retry_after` is the result of
/// [`kalends_quotas::retry_after_seconds`].
pub fn burst_headers(rate: Rate, retry_after: i64) -> RateLimitHeaders<impl Display, impl Display> {
    RateLimitHeaders {
        policy: from_fn(move |f| write!(f, "\"burst\";q={};w={}", rate.count(), rate.seconds())),
        limit: from_fn(move |f| write!(f, "\"burst\";r=0;t={}", retry_after.max(1))),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[test]
    fn a_known_example_is_written_exactly() {
        let policy = monthly_policy(Some(50_000), b"org").unwrap();
        assert_eq!(policy, "\"api_calls\";q=50000;w=2592000;pk=:b3Jn:");
        let limit = monthly_limit(Some(50_000), Some(49_873), at("2026-11-21T00:00:00Z")).unwrap();
        assert_eq!(limit.to_string(), "\"api_calls\";r=49873;t=864000");
    }

    #[test]
    fn unlimited_plans_send_no_headers() {
        assert!(monthly_policy(None, b"org").is_none());
        assert!(monthly_limit(None, None, at("2026-11-21T00:00:00Z")).is_none());
    }

    #[rstest]
    #[case::used_up(Some(10), Some(0), "q=10;", "r=0;")]
    #[case::never_more_than_the_limit(Some(10), Some(11), "q=10;", "r=10;")]
    #[case::not_known(Some(10), None, "q=10;", "r=10;")]
    #[case::beyond_the_integers_of_the_format(
        Some(u64::MAX),
        Some(u64::MAX),
        "q=999999999999999;",
        "r=999999999999999;"
    )]
    fn numbers_are_clamped(
        #[case] limit: Option<u64>,
        #[case] remaining: Option<u64>,
        #[case] policy: &str,
        #[case] left: &str,
    ) {
        let policy_field = monthly_policy(limit, &[0xff; 16]).unwrap();
        let limit_field = monthly_limit(limit, remaining, at("2026-11-30T23:59:59.5Z")).unwrap().to_string();
        assert!(policy_field.contains(policy) && policy_field.ends_with("pk=://///////////////////w==:"));
        assert!(limit_field.contains(left) && limit_field.ends_with("t=1"), "the last half second is rounded up");
    }

    #[test]
    fn a_refused_burst_names_its_rate() {
        let headers = burst_headers(Rate::per_second(10), 1);
        assert_eq!(
            (headers.policy.to_string().as_str(), headers.limit.to_string().as_str()),
            ("\"burst\";q=10;w=1", "\"burst\";r=0;t=1")
        );
        assert_eq!(burst_headers(Rate::per_minute(5), 12).policy.to_string(), "\"burst\";q=5;w=60");
    }
}
