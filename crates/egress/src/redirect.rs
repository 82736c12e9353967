//! Decides what a redirect may do. Everything here is a pure function.

use bytes::Bytes;
use http::{
    HeaderMap, HeaderName, Method, StatusCode,
    header::{
        ACCEPT, ACCEPT_LANGUAGE, CONTENT_ENCODING, CONTENT_LANGUAGE, CONTENT_LOCATION, CONTENT_TYPE, IF_MODIFIED_SINCE,
        IF_NONE_MATCH, LOCATION, USER_AGENT,
    },
};
use kalends_remote::RemoteUrl;

use crate::{Allowed, RedirectFault};

/// One request of an exchange.
#[derive(Debug, Clone)]
pub(crate) struct Hop {
    pub(crate) method: Method,
    pub(crate) url: RemoteUrl,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

/// The headers that another origin may see. Any other header may be a credential or a signature.
const HARMLESS: &[HeaderName] = &[ACCEPT, ACCEPT_LANGUAGE, CONTENT_TYPE, IF_MODIFIED_SINCE, IF_NONE_MATCH, USER_AGENT];

/// The headers that describe the content. They are dropped together with it.
const OF_CONTENT: &[HeaderName] = &[CONTENT_ENCODING, CONTENT_LANGUAGE, CONTENT_LOCATION, CONTENT_TYPE];

/// Whether a status is a redirect. 300, 304 and 305 are not.
pub(crate) const fn is(status: StatusCode) -> bool {
    matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308)
}

/// The request that a redirect leads to.
///
/// Methods change as in browsers: 303 turns everything except HEAD into GET, and 301 and 302 turn POST into GET.
pub(crate) fn next(hop: Hop, status: StatusCode, answer: &HeaderMap, allowed: &Allowed) -> Result<Hop, RedirectFault> {
    let mut locations = answer.get_all(LOCATION).iter();
    let location = match (locations.next(), locations.next()) {
        (Some(location), None) => std::str::from_utf8(location.as_bytes()).map_err(|_| RedirectFault::NoTarget)?,
        _ => return Err(RedirectFault::NoTarget),
    };
    let exempt = |host: &str, port| allowed.contains(host, port);
    let url = hop.url.join("location", location, exempt).map_err(RedirectFault::NotAllowed)?;
    if hop.url.as_url().scheme() == "https" && url.as_url().scheme() != "https" {
        return Err(RedirectFault::Downgrade);
    }

    let Hop { mut method, mut headers, mut body, url: from } = hop;
    let becomes_get = match status {
        StatusCode::SEE_OTHER => method != Method::HEAD,
        StatusCode::MOVED_PERMANENTLY | StatusCode::FOUND => method == Method::POST,
        _ => false,
    };
    if becomes_get {
        method = Method::GET;
        body = Bytes::new();
        for name in OF_CONTENT {
            headers.remove(name);
        }
    }
    if !from.same_origin(&url) {
        if !body.is_empty() {
            return Err(RedirectFault::BodyElsewhere);
        }
        headers = HARMLESS.iter().filter_map(|name| Some((name.clone(), headers.get(name)?.clone()))).collect();
    }
    Ok(Hop { method, url, headers, body })
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use rstest::rstest;

    use super::*;

    fn hop(method: Method, url: &str, body: &'static str) -> Hop {
        let mut headers = HeaderMap::new();
        for (name, value) in [
            ("authorization", "Bearer secret"),
            ("x-signature", "sha256=secret"),
            ("webhook-signature", "v1,secret"),
            ("cookie", "secret"),
            ("accept", "text/calendar"),
            ("if-none-match", "\"1\""),
            ("content-type", "application/json"),
        ] {
            headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        Hop { method, url: RemoteUrl::from_stored(url).unwrap(), headers, body: Bytes::from_static(body.as_bytes()) }
    }

    fn follow(hop: Hop, status: u16, location: &str) -> Result<Hop, RedirectFault> {
        let mut answer = HeaderMap::new();
        answer.insert(LOCATION, HeaderValue::from_bytes(location.as_bytes()).unwrap());
        let allowed = Allowed::new([("localhost".to_owned(), 9_000), ("feeds.test".to_owned(), 80)]);
        next(hop, StatusCode::from_u16(status).unwrap(), &answer, &allowed)
    }

    #[rstest]
    #[case(301, Method::POST, Method::GET, "")]
    #[case(302, Method::POST, Method::GET, "")]
    #[case(303, Method::POST, Method::GET, "")]
    #[case(303, Method::PUT, Method::GET, "")]
    #[case(303, Method::HEAD, Method::HEAD, "x")]
    #[case(301, Method::PUT, Method::PUT, "x")]
    #[case(307, Method::POST, Method::POST, "x")]
    #[case(308, Method::POST, Method::POST, "x")]
    fn methods_change_as_in_browsers(
        #[case] status: u16,
        #[case] before: Method,
        #[case] after: Method,
        #[case] body: &str,
    ) {
        let next = follow(hop(before, "https://example.com/a", "x"), status, "/b").unwrap();
        assert_eq!((next.method, next.url.as_str(), &next.body[..]), (after, "https://example.com/b", body.as_bytes()));
        assert_eq!(next.headers.contains_key(CONTENT_TYPE), !body.is_empty());
        assert!(next.headers.contains_key("x-signature"), "the origin is the same");
    }

    #[rstest]
    #[case("https://www.example.com/a")]
    #[case("https://example.com:8443/a")]
    #[case("//example.org/a")]
    #[case("https://localhost:9000/a")]
    fn another_origin_gets_no_secrets(#[case] location: &str) {
        let next = follow(hop(Method::GET, "https://example.com/a", ""), 302, location).unwrap();
        let mut names: Vec<_> = next.headers.keys().map(HeaderName::as_str).collect();
        names.sort_unstable();
        assert_eq!(names, ["accept", "content-type", "if-none-match"]);
        // Headers that were dropped do not come back on the way back.
        let back = follow(next, 302, "https://example.com/a").unwrap();
        assert!(!back.headers.contains_key("authorization") && !back.headers.contains_key("x-signature"));
        let kept = follow(hop(Method::POST, "https://example.com/a", "x"), 307, location);
        assert_eq!(kept.unwrap_err(), RedirectFault::BodyElsewhere);
    }

    #[rstest]
    #[case("http://localhost:9000/")]
    #[case("http://feeds.test/")]
    fn a_redirect_from_https_to_http_is_refused(#[case] location: &str) {
        let refused = follow(hop(Method::GET, "https://example.com/", ""), 302, location).unwrap_err();
        assert_eq!(refused, RedirectFault::Downgrade);
        // The operator allows http to http.
        assert!(follow(hop(Method::GET, "http://feeds.test/", ""), 302, location).is_ok());
    }

    #[test]
    fn a_redirect_needs_exactly_one_target() {
        let get = || hop(Method::GET, "https://example.com/", "");
        let refused = next(get(), StatusCode::FOUND, &HeaderMap::new(), &Allowed::none()).unwrap_err();
        assert_eq!(refused, RedirectFault::NoTarget);
        let mut two = HeaderMap::new();
        two.append(LOCATION, HeaderValue::from_static("/a"));
        two.append(LOCATION, HeaderValue::from_static("/b"));
        assert_eq!(next(get(), StatusCode::FOUND, &two, &Allowed::none()).unwrap_err(), RedirectFault::NoTarget);
        let mut odd = HeaderMap::new();
        odd.insert(LOCATION, HeaderValue::from_bytes(b"/\xff").unwrap());
        assert_eq!(next(get(), StatusCode::FOUND, &odd, &Allowed::none()).unwrap_err(), RedirectFault::NoTarget);
    }

    #[test]
    fn only_some_statuses_are_redirects() {
        let found: Vec<u16> = (100..600).filter(|code| is(StatusCode::from_u16(*code).unwrap())).collect();
        assert_eq!(found, [301, 302, 303, 307, 308]);
    }
}
