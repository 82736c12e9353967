//! Fetches the feeds to which calendars are subscribed, through the one guarded client.
//!
//! One exchange of 30 s in all, over at most 3 redirects each of which is checked, of whose answer 10 MiB are read after
//! decompression; more is an error (ruling 8.2). What the bytes say is for [`kalends_feeds`].

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use kalends_app::ports::{FeedFetcher, FetchError, FetchedFeed};
use kalends_egress::{Egress, Exchange, HeaderMap, HeaderName, HeaderValue, Method, Reply, StatusCode, header};
use kalends_feeds::{limits::BYTES_MAX, sync::Validators};
use kalends_kernel::RemoteUrl;

/// How long a fetch takes at most, its redirects and its content included.
const WITHIN: Duration = Duration::from_secs(30);
/// How many redirects are followed.
const REDIRECTS: u8 = 3;
/// The most bytes of a validator that is kept; one that is longer is none.
const VALIDATOR_MAX: usize = 512;

/// What is asked for; some servers tell by it whether to answer with a page.
const ACCEPT: HeaderValue = HeaderValue::from_static("text/calendar, */*;q=0.5");

/// Fetches by way of the guarded client.
pub struct EgressFetcher(Arc<Egress>);

impl EgressFetcher {
    /// A fetcher over that client.
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
            // The sources are for the operator's log alone: they may tell what a name resolves to.
            tracing::debug!(error = &error as &dyn std::error::Error, "a feed was not fetched");
            FetchError(error.to_string())
        })?;
        told(reply, validators)
    }
}

/// The headers of a request by somebody who has the feed that these validators tell.
fn asking(validators: &Validators) -> HeaderMap {
    let mut headers = HeaderMap::from_iter([(header::ACCEPT, ACCEPT)]);
    let mut add = |name: HeaderName, value: Option<&str>| {
        // What came as a header is one.
        if let Some(value) = value.and_then(|value| HeaderValue::from_str(value).ok()) {
            headers.insert(name, value);
        }
    };
    add(header::IF_NONE_MATCH, validators.etag.as_deref());
    add(header::IF_MODIFIED_SINCE, validators.last_modified.as_deref());
    headers
}

/// What an answer says.
fn told(reply: Reply, asked: &Validators) -> Result<FetchedFeed, FetchError> {
    match reply.status {
        StatusCode::NOT_MODIFIED if *asked != Validators::default() => Ok(FetchedFeed::Unchanged),
        StatusCode::OK => {
            let value = |name: HeaderName| {
                let value = reply.headers.get(name)?.to_str().ok()?;
                (value.len() <= VALIDATOR_MAX).then(|| value.to_owned())
            };
            let validators = Validators { etag: value(header::ETAG), last_modified: value(header::LAST_MODIFIED) };
            Ok(FetchedFeed::Whole { validators, body: reply.body })
        }
        status => Err(FetchError(format!("the server answers {}", status.as_u16()))),
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
    fn what_is_had_is_said() {
        let dated = Validators { last_modified: Some("Mon, 02 Mar 2026 08:00:00 GMT".into()), ..etag("W/\"1\"") };
        let headers = asking(&dated);
        assert_eq!(headers[header::IF_NONE_MATCH], "W/\"1\"");
        assert_eq!(headers[header::IF_MODIFIED_SINCE], "Mon, 02 Mar 2026 08:00:00 GMT");
        let first = asking(&Validators::default());
        assert!(first.contains_key(header::ACCEPT) && first.len() == 1);
        // What no header can hold is left out.
        assert!(!asking(&etag("a\nb")).contains_key(header::IF_NONE_MATCH));
    }

    #[test]
    fn answers_mean() {
        let whole = told(reply(200, &[(header::ETAG, "\"1\"")]), &Validators::default());
        let Ok(FetchedFeed::Whole { body, validators }) = whole else { panic!("{whole:?}") };
        assert_eq!((body.as_ref(), validators), (b"BEGIN".as_slice(), etag("\"1\"")));
        assert!(matches!(told(reply(304, &[]), &etag("\"1\"")), Ok(FetchedFeed::Unchanged)));
        // Nobody asked whether it has changed.
        let unasked = told(reply(304, &[]), &Validators::default()).unwrap_err();
        assert_eq!(unasked, FetchError("the server answers 304".into()));
        for status in [204, 206, 301, 401, 404, 410, 500, 503] {
            assert_eq!(told(reply(status, &[]), &etag("x")).unwrap_err().0, format!("the server answers {status}"));
        }
    }

    #[test]
    fn an_endless_validator_is_none() {
        let long: &'static str = Box::leak("x".repeat(VALIDATOR_MAX + 1).into_boxed_str());
        let Ok(FetchedFeed::Whole { validators, .. }) = told(reply(200, &[(header::ETAG, long)]), &etag("x")) else {
            panic!("a feed")
        };
        assert_eq!(validators, Validators::default());
    }
}
