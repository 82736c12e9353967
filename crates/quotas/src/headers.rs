//! The rate-limit headers of answers: structured fields (RFC 9651) of the IETF's draft, as pure text
//! (ruling 2.9).

use std::fmt::Write;

use kalends_kernel::{Instant, base64};

use crate::{Metric, Period, Plan, Rate};

/// The header that states the limits.
pub const RATE_LIMIT_POLICY: &str = "ratelimit-policy";
/// The header that says how much is left.
pub const RATE_LIMIT: &str = "ratelimit";
/// The header that shows the plan.
pub const SERVICE_PLAN: &str = "x-service-plan";
/// The header that says after how many seconds to try again.
pub const RETRY_AFTER: &str = "retry-after";

/// The window of a monthly limit in seconds: about a month, as the specification has it.
const MONTH: u64 = 30 * 86_400;
/// The largest integer of a structured field.
const INTEGER_MAX: u64 = 999_999_999_999_999;

/// The values of `RateLimit-Policy` and `RateLimit`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RateLimitHeaders {
    /// The value of `RateLimit-Policy`.
    pub policy: String,
    /// The value of `RateLimit`.
    pub limit: String,
}

/// The headers of an authenticated answer: the monthly limit of API calls and what is left of it. None
/// for an unlimited plan.
///
/// `partition` tells whose limit it is; any bytes will do, such as the organization's identifier.
pub fn monthly_headers(
    limit: Option<u64>,
    remaining: Option<u64>,
    partition: &[u8],
    now: Instant,
) -> Option<RateLimitHeaders> {
    let limit = limit?;
    let remaining = remaining.unwrap_or(limit).min(limit);
    let name = Metric::ApiCalls.as_str();
    // 48 characters are fixed; numbers and the partition key make up the rest.
    let mut policy = String::with_capacity(64 + partition.len() * 4 / 3);
    let mut left = String::with_capacity(64);
    // Writing to a string cannot fail.
    let _ = write!(policy, "\"{name}\";q={};w={MONTH};pk=:{}:", limit.min(INTEGER_MAX), base64(partition));
    let _ = write!(left, "\"{name}\";r={};t={}", remaining.min(INTEGER_MAX), Period::of(now).seconds_left(now));
    Some(RateLimitHeaders { policy, limit: left })
}

/// The headers of a 429 of the requests-per-second limit; `retry_after` as [`retry_after_seconds`] says.
pub fn burst_headers(rate: Rate, retry_after: i64) -> RateLimitHeaders {
    RateLimitHeaders {
        policy: format!("\"burst\";q={};w={}", rate.count(), rate.seconds()),
        limit: format!("\"burst\";r=0;t={}", retry_after.max(1)),
    }
}

/// A wait as `Retry-After` shows it: whole seconds, rounded up, at least one.
pub fn retry_after_seconds(wait: kalends_kernel::Elapsed) -> i64 {
    wait.as_micros().saturating_add(999_999).div_euclid(1_000_000).max(1)
}

/// The value of `X-Service-Plan`.
pub const fn service_plan(plan: Plan) -> &'static str {
    plan.shown()
}

#[cfg(test)]
mod tests {
    use kalends_kernel::Elapsed;
    use rstest::rstest;

    use super::*;

    fn at(text: &str) -> Instant {
        text.parse().unwrap()
    }

    #[test]
    fn the_ruling_s_own_example() {
        let headers = monthly_headers(Some(50_000), Some(49_873), b"org", at("2026-11-21T00:00:00Z")).unwrap();
        assert_eq!(headers.policy, "\"api_calls\";q=50000;w=2592000;pk=:b3Jn:");
        assert_eq!(headers.limit, "\"api_calls\";r=49873;t=864000");
    }

    #[test]
    fn unlimited_plans_send_none() {
        assert_eq!(monthly_headers(None, None, b"org", at("2026-11-21T00:00:00Z")), None);
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
    fn numbers(#[case] limit: Option<u64>, #[case] remaining: Option<u64>, #[case] policy: &str, #[case] left: &str) {
        let headers = monthly_headers(limit, remaining, &[0xff; 16], at("2026-11-30T23:59:59.5Z")).unwrap();
        assert!(headers.policy.contains(policy) && headers.policy.ends_with("pk=://///////////////////w==:"));
        assert!(headers.limit.contains(left) && headers.limit.ends_with("t=1"), "the last half second is one");
    }

    #[test]
    fn a_refused_burst() {
        let headers = burst_headers(Rate::per_second(10), 1);
        assert_eq!((headers.policy.as_str(), headers.limit.as_str()), ("\"burst\";q=10;w=1", "\"burst\";r=0;t=1"));
        assert_eq!(burst_headers(Rate::per_minute(5), 12).policy, "\"burst\";q=5;w=60");
    }

    #[rstest]
    #[case(Elapsed::ZERO, 1)]
    #[case(Elapsed::micros(1), 1)]
    #[case(Elapsed::seconds(1), 1)]
    #[case(Elapsed::micros(1_000_001), 2)]
    #[case(Elapsed::seconds(-5), 1)]
    fn waits_are_rounded_up(#[case] wait: Elapsed, #[case] seconds: i64) {
        assert_eq!(retry_after_seconds(wait), seconds);
    }

    #[test]
    fn plans_are_shown() {
        let shown: Vec<_> = Plan::ALL.into_iter().map(service_plan).collect();
        assert_eq!(shown, ["free", "free", "free", "pro", "scale"]);
    }
}
