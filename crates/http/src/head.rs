//! What the head of a request may hold: checked before its route is looked for.
//!
//! The parser of the connection has limits of its own, which lie above these: what it refuses is answered without an
//! envelope, and without a request identifier.

use axum::extract::Request;
use http::{HeaderMap, HeaderValue, Version, header, uri::Authority};

use crate::error::ApiError;

/// The most headers of a request.
pub(crate) const HEADERS_MAX: usize = 100;
/// The most bytes of their names and values, each line with its colon and its end.
pub(crate) const HEADER_BYTES_MAX: usize = 32 << 10;
/// The most bytes of a request's path and query.
pub(crate) const URI_MAX: usize = 8 << 10;

/// What a line of a header holds besides its name and value: a colon, a space, and the line's end.
const LINE: usize = 4;

/// Refuses a request whose head is too large, or does not say which host it is meant for.
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

/// HTTP/1.1 wants exactly one valid `Host` (RFC 9112 section 3.2). HTTP/2 says it in `:authority`, or in `Host` (RFC 9113
/// section 8.3.1). HTTP/1.0 knows no such header.
fn check_host(version: Version, headers: &HeaderMap, has_authority: bool) -> Result<(), ApiError> {
    let mut hosts = headers.get_all(header::HOST).iter();
    match (hosts.next(), hosts.next()) {
        (Some(host), None) if is_host(host) => Ok(()),
        (None, _) if version < Version::HTTP_11 || (version > Version::HTTP_11 && has_authority) => Ok(()),
        _ => Err(ApiError::Host),
    }
}

/// Whether it names a host and perhaps a port. It may be empty where the target has no authority.
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
    #[case::an_address(Version::HTTP_11, "/", &["[::1]:8080"], true)]
    #[case::empty(Version::HTTP_11, "/", &[""], true)]
    #[case::none(Version::HTTP_11, "/", &[], false)]
    #[case::two(Version::HTTP_11, "/", &["a.example", "b.example"], false)]
    #[case::the_same_twice(Version::HTTP_11, "/", &["a.example", "a.example"], false)]
    #[case::none_beside_an_absolute_target(Version::HTTP_11, "http://a.example/", &[], false)]
    #[case::a_user(Version::HTTP_11, "/", &["me@a.example"], false)]
    #[case::a_path(Version::HTTP_11, "/", &["a.example/b"], false)]
    #[case::two_in_one(Version::HTTP_11, "/", &["a.example, b.example"], false)]
    #[case::old_and_none(Version::HTTP_10, "/", &[], true)]
    #[case::old_and_two(Version::HTTP_10, "/", &["a.example", "b.example"], false)]
    #[case::new_by_authority(Version::HTTP_2, "http://a.example/", &[], true)]
    #[case::new_by_host(Version::HTTP_2, "/", &["a.example"], true)]
    #[case::new_by_both(Version::HTTP_2, "http://a.example/", &["a.example"], true)]
    #[case::new_and_none(Version::HTTP_2, "/", &[], false)]
    #[case::new_and_two(Version::HTTP_2, "http://a.example/", &["a.example", "b.example"], false)]
    fn a_request_names_its_host_once(
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
    #[case::as_long_as_may_be(URI_MAX, true)]
    #[case::longer(URI_MAX + 1, false)]
    fn a_target_has_a_longest_length(#[case] length: usize, #[case] fits: bool) {
        let uri = format!("/{}", "a".repeat(length - 1));
        let checked = check(&request(Version::HTTP_11, &uri, &["x"]));
        assert_eq!(checked.is_ok(), fits, "{checked:?}");
        assert!(matches!(checked, Ok(()) | Err(ApiError::UriTooLong)));
    }

    /// `Host: x` is one of them, and takes nine bytes.
    #[rstest]
    #[case::as_many_as_may_be(HEADERS_MAX - 1, 1, true)]
    #[case::one_more(HEADERS_MAX, 1, false)]
    #[case::as_large_as_may_be(1, HEADER_BYTES_MAX - 9 - 5, true)]
    #[case::a_byte_more(1, HEADER_BYTES_MAX - 9 - 4, false)]
    fn headers_have_a_greatest_number_and_size(#[case] count: usize, #[case] length: usize, #[case] fits: bool) {
        let mut request = request(Version::HTTP_11, "/", &["x"]);
        for _ in 0..count {
            request.headers_mut().append("a", "b".repeat(length).try_into().unwrap());
        }
        let checked = check(&request);
        assert_eq!(checked.is_ok(), fits, "{checked:?}");
        assert!(matches!(checked, Ok(()) | Err(ApiError::HeadersTooLarge)));
    }
}
