//! The caller and the service that it calls.

use std::{fmt, sync::Arc, time::Duration};

use reqwest::{
    Url,
    header::{AUTHORIZATION, HeaderMap, HeaderValue},
    redirect::Policy,
};

use crate::{Error, Retry};

/// The default timeout of one attempt. It is longer than the longest `wait`, which is 60 seconds, and than the service's
/// own limit for everything except the largest imports.
const TIMEOUT: Duration = Duration::from_secs(75);

/// The default maximum size of an answer, in bytes after decompression: 64 MiB.
/// [`Builder::answer_max`] changes it. The export of a calendar contains all of its
/// events and can be larger.
pub const ANSWER_MAX: usize = 64 * 1024 * 1024;

/// Calls one service with one key, or with none. Clones share their connections.
///
/// Each operation is a method that returns a [`Call`](crate::Call). The call is sent when it is awaited.
#[derive(Clone)]
pub struct Client {
    shared: Arc<Shared>,
}

struct Shared {
    http: reqwest::Client,
    /// Without a trailing slash.
    base: String,
    retry: Retry,
    answer_max: usize,
    is_anonymous: bool,
}

/// Hides the key.
impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Shared { base, retry, answer_max, is_anonymous, http: _ } = &*self.shared;
        f.debug_struct("Client")
            .field("base", base)
            .field("anonymous", is_anonymous)
            .field("retry", retry)
            .field("answer_max", answer_max)
            .finish_non_exhaustive()
    }
}

impl Client {
    /// Creates a client of the service at `base_url` that sends `key`.
    ///
    /// # Errors
    /// The errors of [`Builder::build`].
    pub fn new(base_url: &str, key: &str) -> Result<Self, Error> {
        Self::builder(base_url).key(key).build()
    }

    /// Starts to build a client of the service at `base_url`. Without a key, the client is anonymous.
    pub fn builder(base_url: &str) -> Builder {
        Builder {
            base_url: base_url.to_owned(),
            key: None,
            timeout: TIMEOUT,
            retry: Retry::default(),
            answer_max: ANSWER_MAX,
        }
    }

    pub(crate) fn http(&self) -> &reqwest::Client {
        &self.shared.http
    }

    /// Without a trailing slash.
    pub(crate) fn base(&self) -> &str {
        &self.shared.base
    }

    pub(crate) fn retry(&self) -> Retry {
        self.shared.retry
    }

    pub(crate) fn answer_max(&self) -> usize {
        self.shared.answer_max
    }
}

/// A client under construction.
#[derive(Clone)]
#[must_use = "a builder does nothing until it builds"]
pub struct Builder {
    base_url: String,
    key: Option<String>,
    timeout: Duration,
    retry: Retry,
    answer_max: usize,
}

/// Hides the key.
impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("timeout", &self.timeout)
            .field("retry", &self.retry)
            .field("answer_max", &self.answer_max)
            .finish_non_exhaustive()
    }
}

impl Builder {
    /// Sends this key with every request.
    pub fn key(mut self, key: &str) -> Self {
        self.key = Some(key.to_owned());
        self
    }

    /// Sets the timeout of one attempt, from the connection to the last byte of the answer. The default is 75
    /// seconds, which is longer than the longest `wait`. A call can take this long for each of its attempts, plus the
    /// waits between them.
    pub const fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Sets how often a request is sent, and how long to wait between attempts.
    pub const fn retry(mut self, retry: Retry) -> Self {
        self.retry = retry;
        self
    }

    /// Sets the maximum size of an answer, in bytes after decompression. The default is [`ANSWER_MAX`]. A larger
    /// answer is [`Error::TooLarge`]. Exports of large calendars may need a higher limit.
    pub const fn answer_max(mut self, bytes: usize) -> Self {
        self.answer_max = bytes;
        self
    }

    /// Builds the client. It does not follow redirects, because the key is meant for the given service only. It uses
    /// the system's proxies and trusted certificates.
    ///
    /// # Errors
    /// [`Error::Address`] for an invalid base URL, [`Error::Request`] for a key that a header cannot contain, and
    /// [`Error::Transport`] if TLS cannot be set up.
    pub fn build(self) -> Result<Client, Error> {
        let base = base(&self.base_url)?;
        let mut headers = HeaderMap::new();
        if let Some(key) = &self.key {
            let mut value = HeaderValue::try_from(format!("Bearer {key}"))
                .map_err(|_| Error::Request("the key must be visible ASCII characters".into()))?;
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
        }
        let http = reqwest::Client::builder()
            .user_agent(concat!(env!("CARGO_PKG_NAME"), "/", env!("CARGO_PKG_VERSION")))
            .default_headers(headers)
            .redirect(Policy::none())
            .timeout(self.timeout)
            .build()
            .map_err(Error::Transport)?;
        let (retry, answer_max) = (self.retry, self.answer_max);
        let shared = Shared { http, base, retry, answer_max, is_anonymous: self.key.is_none() };
        Ok(Client { shared: Arc::new(shared) })
    }
}

/// Returns the base URL without a trailing slash. Errors do not repeat the URL, which may contain a password.
fn base(text: &str) -> Result<String, Error> {
    let url: Url = text.parse().map_err(|_| Error::Address("must be a URL, such as https://calendar.example.com"))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(Error::Address("must begin with https:// or http://"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(Error::Address("must not contain a user name or a password"));
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(Error::Address("must end with its path, without a query or a fragment"));
    }
    Ok(url.as_str().trim_end_matches('/').to_owned())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("https://calendar.example.com", "https://calendar.example.com")]
    #[case("https://calendar.example.com/", "https://calendar.example.com")]
    #[case("http://127.0.0.1:8080", "http://127.0.0.1:8080")]
    #[case::below_a_path("https://example.com/kalends/", "https://example.com/kalends")]
    fn valid_base_urls(#[case] given: &str, #[case] expected: &str) {
        assert_eq!(base(given).unwrap(), expected);
    }

    #[rstest]
    #[case::no_scheme("calendar.example.com")]
    #[case::another_scheme("ftp://calendar.example.com")]
    #[case::a_password("https://ada:secret@calendar.example.com")]
    #[case::a_query("https://calendar.example.com/?a=b")]
    #[case::a_fragment("https://calendar.example.com/#a")]
    #[case::empty("")]
    fn invalid_base_urls(#[case] given: &str) {
        let error = Client::builder(given).build().unwrap_err();
        assert!(matches!(error, Error::Address(_)), "{error:?}");
        assert!(!format!("{error:?} {error}").contains("secret"));
    }

    /// Otherwise a call that waits as long as it may, for changes or for a decision, ends in a timeout instead of an
    /// answer.
    #[test]
    fn the_default_timeout_is_longer_than_the_longest_wait() {
        let longest = Duration::from_secs(kalends_wire::WAIT_MAX.unsigned_abs());
        let timeout = Client::builder("https://calendar.example.com").timeout;
        assert_eq!(timeout, Duration::from_secs(75));
        assert!(timeout > longest, "{timeout:?}");
    }

    #[test]
    fn debug_output_hides_the_key() {
        let builder = Client::builder("https://calendar.example.com").key("svc_sk_secret");
        let client = builder.clone().build().unwrap();
        let call = client.get_usage();
        assert!(!format!("{builder:?} {client:?} {call:?} {:?}", client.http()).contains("svc_sk_secret"));
        assert!(matches!(builder.key("a\nb").build(), Err(Error::Request(_))));
    }
}
