//! Fetches the feeds that calendars subscribe to, through the guarded client.
//!
//! A fetch is one exchange of at most 30 s with at most 3 redirects, each of which is checked. At most 10 MiB are read
//! after decompression; more is an error. [`kalends_feeds`] parses the bytes.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use kalends_app::ports::{FeedFetcher, FetchError, FetchedFeed};
use kalends_egress::{Egress, Exchange, HeaderMap, HeaderName, HeaderValue, Method, Reply, StatusCode, header};
use kalends_feeds::{limits::BYTES_MAX, sync::Validators};
use kalends_remote::RemoteUrl;

/// The time limit of a fetch, including redirects and content.
const WITHIN: Duration = Duration::from_secs(30);
/// How many redirects are followed.
const REDIRECTS: u8 = 3;
/// The maximum length of a validator, in bytes. Longer ones are ignored.
const VALIDATOR_MAX: usize = 512;

/// Some servers use this header to decide whether to answer with an HTML page.
const ACCEPT: HeaderValue = HeaderValue::from_static("text/calendar, */*;q=0.5");

/// A fetcher that uses the guarded client.
pub struct EgressFetcher(Arc<Egress>);

impl EgressFetcher {
    /// Creates a fetcher.
    pub const fn new(egress: Arc<Egress>) -> Self {
        Self(egress)
    }
}

#[async_trait]
impl FeedFetcher for EgressFetcher {
    async fn fetch(&self, url: &RemoteUrl, validators: &Validators) -> Result<FetchedFeed, FetchError> {
        let mut exchange = Exchange::new(Method::GET, url.clone(), WITHIN, BYTES_MAX);
        exchange.redirects = REDIRECTS;
        exchange.headers = asking(validators);
        let reply = self.0.send(exchange).await.map_err(|error| {
            // The sources are only for the operator's log: they may reveal what a name resolves to.
            tracing::debug!(error = &error as &dyn std::error::Error, "cannot fetch a feed");
            FetchError(error.to_string())
        })?;
        fetched(reply, validators)
    }
}

/// The headers of a conditional request with these validators.
fn asking(validators: &Validators) -> HeaderMap {
    let mut headers = HeaderMap::from_iter([(header::ACCEPT, ACCEPT)]);
    let mut add = |name: HeaderName, value: Option<&str>| {
        // The value came from a header, so it normally fits into one.
        if let Some(value) = value.and_then(|value| HeaderValue::from_str(value).ok()) {
            headers.insert(name, value);
        }
    };
    add(header::IF_NONE_MATCH, validators.etag.as_deref());
    add(header::IF_MODIFIED_SINCE, validators.last_modified.as_deref());
    headers
}

/// Interprets an answer.
fn fetched(reply: Reply, validators: &Validators) -> Result<FetchedFeed, FetchError> {
    match reply.status {
        StatusCode::NOT_MODIFIED if *validators != Validators::default() => Ok(FetchedFeed::Unchanged),
        StatusCode::OK => {
            let value = |name: HeaderName| {
                let value = reply.headers.get(name)?.to_str().ok()?;
                (value.len() <= VALIDATOR_MAX).then(|| value.to_owned())
            };
            let validators = Validators { etag: value(header::ETAG), last_modified: value(header::LAST_MODIFIED) };
            Ok(FetchedFeed::Full { validators, body: reply.body })
        }
        status => Err(FetchError(format!("the server answered {}", status.as_u16()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(status: u16, headers: &[(HeaderName, &'static str)]) -> Reply {
        Reply {
            status: StatusCode::from_u16(status).unwrap(),
            headers: headers.iter().map(|(name, value)| (name.clone(), HeaderValue::from_static(value))).collect(),
            body: "BEGIN".into(),
            truncated: false,
        }
    }

    fn etag(value: &str) -> Validators {
        Validators { etag: Some(value.into()), last_modified: None }
    }

    #[test]
    fn validators_become_conditional_headers() {
        let dated = Validators { last_modified: Some("Mon, 02 Mar 2026 08:00:00 GMT".into()), ..etag("W/\"1\"") };
        let headers = asking(&dated);
        assert_eq!(headers[header::IF_NONE_MATCH], "W/\"1\"");
        assert_eq!(headers[header::IF_MODIFIED_SINCE], "Mon, 02 Mar 2026 08:00:00 GMT");
        let first = asking(&Validators::default());
        assert!(first.contains_key(header::ACCEPT) && first.len() == 1);
        // An invalid header value is left out.
        assert!(!asking(&etag("a\nb")).contains_key(header::IF_NONE_MATCH));
    }

    #[test]
    fn statuses_are_interpreted() {
        let full = fetched(reply(200, &[(header::ETAG, "\"1\"")]), &Validators::default());
        let Ok(FetchedFeed::Full { body, validators }) = full else { panic!("{full:?}") };
        assert_eq!((body.as_ref(), validators), (b"BEGIN".as_slice(), etag("\"1\"")));
        assert!(matches!(fetched(reply(304, &[]), &etag("\"1\"")), Ok(FetchedFeed::Unchanged)));
        // The request was not conditional.
        let unconditional = fetched(reply(304, &[]), &Validators::default()).unwrap_err();
        assert_eq!(unconditional, FetchError("the server answered 304".into()));
        for status in [204, 206, 301, 401, 404, 410, 500, 503] {
            assert_eq!(fetched(reply(status, &[]), &etag("x")).unwrap_err().0, format!("the server answered {status}"));
        }
    }

    #[test]
    fn an_overlong_validator_is_ignored() {
        let long: &'static str = Box::leak("x".repeat(VALIDATOR_MAX + 1).into_boxed_str());
        let Ok(FetchedFeed::Full { validators, .. }) = fetched(reply(200, &[(header::ETAG, long)]), &etag("x")) else {
            panic!("a feed")
        };
        assert_eq!(validators, Validators::default());
    }
}
