//! Limits on the head of a request, which are checked before routing.
//!
//! The parser of the connection has its own limits, which are higher. Requests that it rejects are answered without
//! an envelope and without a request identifier.

use axum::extract::Request;
use http::{HeaderMap, HeaderValue, Version, header, uri::Authority};

use crate::{
    error::ApiError,
    limits::{HEADER_BYTES_MAX, HEADERS_MAX, URI_MAX},
};

/// The bytes of a header line besides its name and value: a colon, a space and the line end.
const LINE: usize = 4;

/// Rejects a request whose head is too large or does not name its host correctly.
///
/// # Errors
/// [`ApiError::UriTooLong`], [`ApiError::HeadersTooLarge`], [`ApiError::Host`].
pub(crate) fn check(request: &Request) -> Result<(), ApiError> {
    let uri = request.uri();
    let target = uri.path_and_query().map_or(0, |target| target.as_str().len());
    if target > URI_MAX {
        return Err(ApiError::UriTooLong);
    }
    let headers = request.headers();
    let bytes: usize = headers.iter().map(|(name, value)| name.as_str().len() + value.len() + LINE).sum();
    if headers.len() > HEADERS_MAX || bytes > HEADER_BYTES_MAX {
        return Err(ApiError::HeadersTooLarge);
    }
    check_host(request.version(), headers, uri.authority().is_some())
}

/// HTTP/1.1 requires exactly one valid `Host` (RFC 9112 section 3.2). HTTP/2 uses `:authority` or `Host` (RFC 9113
/// section 8.3.1). HTTP/1.0 does not require the header.
fn check_host(version: Version, headers: &HeaderMap, has_authority: bool) -> Result<(), ApiError> {
    let mut hosts = headers.get_all(header::HOST).iter();
    match (hosts.next(), hosts.next()) {
        (Some(host), None) if is_host(host) => Ok(()),
        (None, _) if version < Version::HTTP_11 || (version > Version::HTTP_11 && has_authority) => Ok(()),
        _ => Err(ApiError::Host),
    }
}

/// Whether the value is a host with an optional port. It may be empty if the target has no authority.
fn is_host(value: &HeaderValue) -> bool {
    let bytes = value.as_bytes();
    bytes.is_empty() || (!bytes.contains(&b'@') && Authority::try_from(bytes).is_ok())
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use rstest::rstest;

    use super::*;

    fn request(version: Version, uri: &str, hosts: &[&str]) -> Request {
        let request = Request::builder().version(version).uri(uri);
        let request = hosts.iter().fold(request, |request, host| request.header("host", *host));
        request.body(Body::empty()).unwrap()
    }

    #[rstest]
    #[case::one(Version::HTTP_11, "/", &["cal.example"], true)]
    #[case::a_port(Version::HTTP_11, "/", &["cal.example:8080"], true)]
    #[case::ip_address(Version::HTTP_11, "/", &["[::1]:8080"], true)]
    #[case::empty(Version::HTTP_11, "/", &[""], true)]
    #[case::missing(Version::HTTP_11, "/", &[], false)]
    #[case::two(Version::HTTP_11, "/", &["a.example", "b.example"], false)]
    #[case::repeated(Version::HTTP_11, "/", &["a.example", "a.example"], false)]
    #[case::missing_with_an_absolute_target(Version::HTTP_11, "http://a.example/", &[], false)]
    #[case::with_a_user(Version::HTTP_11, "/", &["me@a.example"], false)]
    #[case::with_a_path(Version::HTTP_11, "/", &["a.example/b"], false)]
    #[case::two_in_one_value(Version::HTTP_11, "/", &["a.example, b.example"], false)]
    #[case::http_1_0_missing(Version::HTTP_10, "/", &[], true)]
    #[case::http_1_0_two(Version::HTTP_10, "/", &["a.example", "b.example"], false)]
    #[case::http_2_authority(Version::HTTP_2, "http://a.example/", &[], true)]
    #[case::http_2_host(Version::HTTP_2, "/", &["a.example"], true)]
    #[case::http_2_both(Version::HTTP_2, "http://a.example/", &["a.example"], true)]
    #[case::http_2_missing(Version::HTTP_2, "/", &[], false)]
    #[case::http_2_two(Version::HTTP_2, "http://a.example/", &["a.example", "b.example"], false)]
    fn a_request_must_name_one_host(
        #[case] version: Version,
        #[case] uri: &str,
        #[case] hosts: &[&str],
        #[case] fits: bool,
    ) {
        let checked = check(&request(version, uri, hosts));
        assert_eq!(checked.is_ok(), fits, "{checked:?}");
        assert!(matches!(checked, Ok(()) | Err(ApiError::Host)));
    }

    #[rstest]
    #[case::maximum(URI_MAX, true)]
    #[case::one_byte_more(URI_MAX + 1, false)]
    fn the_length_of_a_target_is_limited(#[case] length: usize, #[case] fits: bool) {
        let uri = format!("/{}", "a".repeat(length - 1));
        let checked = check(&request(Version::HTTP_11, &uri, &["x"]));
        assert_eq!(checked.is_ok(), fits, "{checked:?}");
        assert!(matches!(checked, Ok(()) | Err(ApiError::UriTooLong)));
    }

    /// `Host: x` is one of the headers and takes nine bytes.
    #[rstest]
    #[case::maximum_number(HEADERS_MAX - 1, 1, true)]
    #[case::one_header_more(HEADERS_MAX, 1, false)]
    #[case::maximum_size(1, HEADER_BYTES_MAX - 9 - 5, true)]
    #[case::one_byte_more(1, HEADER_BYTES_MAX - 9 - 4, false)]
    fn the_number_and_size_of_headers_are_limited(#[case] count: usize, #[case] length: usize, #[case] fits: bool) {
        let mut request = request(Version::HTTP_11, "/", &["x"]);
        for _ in 0..count {
            request.headers_mut().append("a", "b".repeat(length).try_into().unwrap());
        }
        let checked = check(&request);
        assert_eq!(checked.is_ok(), fits, "{checked:?}");
        assert!(matches!(checked, Ok(()) | Err(ApiError::HeadersTooLarge)));
    }
}
