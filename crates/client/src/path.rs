//! Builds paths from their templates.

use std::fmt::Display;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::Error;

/// The characters that are escaped in a segment: all that are not unreserved (RFC 3986 section 2.3).
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Fills in the parameters of a template in order, each as one segment.
///
/// A parameter that is empty, `.` or `..` is an error. No encoding keeps it a segment, so the path would become that
/// of another operation.
pub(crate) fn filled(template: &str, parameters: &[&dyn Display]) -> Result<String, Error> {
    let mut path = String::with_capacity(template.len() + 32 * parameters.len());
    let mut parameters = parameters.iter();
    for segment in template.split('/').skip(1) {
        path.push('/');
        match segment.strip_prefix('{').and_then(|segment| segment.strip_suffix('}')) {
            None => path.push_str(segment),
            Some(name) => {
                let value = parameters.next().map(ToString::to_string).unwrap_or_default();
                if matches!(value.as_str(), "" | "." | "..") {
                    return Err(Error::Request(format!("{name} must be an identifier, got {value:?}").into()));
                }
                path.extend(utf8_percent_encode(&value, ESCAPED));
            }
        }
    }
    Ok(path)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::identifier("evt_01jn8r8f4h3gyqz7s9c1b5wnkd", "evt_01jn8r8f4h3gyqz7s9c1b5wnkd")]
    #[case::a_feed("2vJ0kq7nW8yXb3TzLr5cPQ.ics", "2vJ0kq7nW8yXb3TzLr5cPQ.ics")]
    #[case::a_slash("a/b", "a%2Fb")]
    #[case::parent_directory("../agents", "..%2Fagents")]
    #[case::a_query("a?b=c#d", "a%3Fb%3Dc%23d")]
    #[case::escapes_are_text("%2e%2e", "%252e%252e")]
    #[case::a_space("a b", "a%20b")]
    #[case::a_line("a\r\nb", "a%0D%0Ab")]
    #[case::beyond_ascii("é", "%C3%A9")]
    fn a_parameter_is_one_segment(#[case] value: &str, #[case] encoded: &str) {
        let path = filled("/v1/calendars/{cal_id}/events/{id}", &[&"cal_x", &value]).unwrap();
        assert_eq!(path, format!("/v1/calendars/cal_x/events/{encoded}"));
    }

    #[rstest]
    #[case("")]
    #[case(".")]
    #[case("..")]
    fn empty_and_dot_segments_are_refused(#[case] value: &str) {
        let error = filled("/v1/agents/{id}", &[&value]).unwrap_err();
        assert_eq!(error.to_string(), format!("the request cannot be made: id must be an identifier, got {value:?}"));
    }

    #[test]
    fn a_template_without_parameters_is_the_path() {
        assert_eq!(filled("/v1/agents", &[]).unwrap(), "/v1/agents");
    }
}
