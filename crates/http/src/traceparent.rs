//! The trace that a request belongs to, as its caller says (`traceparent`, W3C Trace Context level 1).

use http::HeaderMap;
use opentelemetry::{
    Context,
    trace::{SpanContext, SpanId, TraceContextExt as _, TraceFlags, TraceId, TraceState},
};

/// The header.
const TRACEPARENT: &str = "traceparent";
/// The length of the header's value in version 00, in bytes.
const LENGTH: usize = 55;

/// The span of the caller. `None` if the header is absent, repeated or invalid.
pub(crate) fn parent(headers: &HeaderMap) -> Option<Context> {
    let mut values = headers.get_all(TRACEPARENT).iter();
    let (Some(value), None) = (values.next(), values.next()) else { return None };
    let span = span_of(value.to_str().ok()?)?;
    Some(Context::new().with_remote_span_context(span))
}

/// Reads `version-trace-span-flags`. Later versions may append more fields.
fn span_of(text: &str) -> Option<SpanContext> {
    let (known, rest) = text.split_at_checked(LENGTH)?;
    let mut parts = known.split('-');
    let [version, trace, span, flags] = [2, 32, 16, 2].map(|length| parts.next().filter(|part| is_hex(part, length)));
    let version = version?;
    let fits = if version == "00" { rest.is_empty() } else { rest.is_empty() || rest.starts_with('-') };
    if version == "ff" || !fits {
        return None;
    }
    let flags = TraceFlags::new(u8::from_str_radix(flags?, 16).ok()? & TraceFlags::SAMPLED.to_u8());
    let (trace, span) = (TraceId::from_hex(trace?).ok()?, SpanId::from_hex(span?).ok()?);
    let context = SpanContext::new(trace, span, flags, true, TraceState::default());
    // Identifiers of only zeros are not valid.
    context.is_valid().then_some(context)
}

/// Whether the text consists of that many lower-case hexadecimal digits.
fn is_hex(text: &str, length: usize) -> bool {
    text.len() == length && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
    const SPAN: &str = "00f067aa0ba902b7";

    #[rstest]
    #[case::sampled("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")]
    #[case::not_sampled("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00")]
    #[case::unknown_flags("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-ff")]
    #[case::later_version("01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more")]
    fn a_valid_header_names_the_span_of_the_caller(#[case] text: &str) {
        let span = span_of(text).unwrap();
        assert_eq!((span.trace_id().to_string(), span.span_id().to_string()), (TRACE.to_owned(), SPAN.to_owned()));
        assert!(span.is_remote());
    }

    #[rstest]
    #[case::empty("")]
    #[case::text("hello")]
    #[case::version_ff("ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")]
    #[case::upper_case("00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01")]
    #[case::zero_trace("00-00000000000000000000000000000000-00f067aa0ba902b7-01")]
    #[case::zero_span("00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01")]
    #[case::short("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-1")]
    #[case::long("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-011")]
    #[case::more_in_version_00("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more")]
    #[case::moved_dash("00-4bf92f3577b34da6a3ce929d0e0e473-600f067aa0ba902b7-01")]
    #[case::not_hexadecimal("00-4bf92f3577b34da6a3ce929d0e0e473g-00f067aa0ba902b7-01")]
    #[case::not_ascii("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0\u{e9}")]
    fn an_invalid_header_is_ignored(#[case] text: &str) {
        assert_eq!(span_of(text), None);
    }

    #[test]
    fn a_repeated_header_is_ignored() {
        let value = || format!("00-{TRACE}-{SPAN}-01").parse().unwrap();
        let mut headers = HeaderMap::new();
        assert!(parent(&headers).is_none());
        headers.append(TRACEPARENT, value());
        assert!(parent(&headers).is_some());
        headers.append(TRACEPARENT, value());
        assert!(parent(&headers).is_none());
    }
}
