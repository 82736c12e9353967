//! Who calls, and where.

use std::{fmt, sync::Arc, time::Duration};

use reqwest::{
    Method, Url,
    header::{AUTHORIZATION, HeaderMap, HeaderValue},
    redirect::Policy,
};

use crate::{ANSWER_MAX, Call, Error, Retry, path};

/// How long one attempt may take unless the caller says otherwise: more than the service gives itself for anything but
/// the largest imports.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Calls one service as one caller. Clones share their connections.
///
/// Each operation is a method that returns a [`Call`], which is sent when it is awaited.
#[derive(Clone)]
pub struct Client {
    shared: Arc<Shared>,
}

struct Shared {
    http: reqwest::Client,
    /// Without a slash at its end.
    base: String,
    retry: Retry,
    answer_max: usize,
    is_anonymous: bool,
}

/// The key is not shown.
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
    /// A client of the service at `base_url` that presents `key`.
    ///
    /// # Errors
    /// As [`Builder::build`].
    pub fn new(base_url: &str, key: &str) -> Result<Self, Error> {
        Self::builder(base_url).key(key).build()
    }

    /// Begins a client of the service at `base_url`, which is anonymous unless it gets a key.
    pub fn builder(base_url: &str) -> Builder {
        Builder {
            base_url: base_url.to_owned(),
            key: None,
            timeout: TIMEOUT,
            retry: Retry::default(),
            answer_max: ANSWER_MAX,
        }
    }

    /// Begins the call of an operation.
    pub(crate) fn call<T>(&self, method: Method, template: &str, parameters: &[&dyn fmt::Display]) -> Call<T> {
        let path = path::filled(template, parameters);
        let request = path.map(|path| self.shared.http.request(method, format!("{}{path}", self.shared.base)));
        Call::new(self.clone(), request)
    }

    pub(crate) fn http(&self) -> &reqwest::Client {
        &self.shared.http
    }

    pub(crate) fn retry(&self) -> Retry {
        self.shared.retry
    }

    pub(crate) fn answer_max(&self) -> usize {
        self.shared.answer_max
    }
}

/// A client that is being put together.
#[derive(Clone)]
#[must_use = "a builder does nothing until it builds"]
pub struct Builder {
    base_url: String,
    key: Option<String>,
    timeout: Duration,
    retry: Retry,
    answer_max: usize,
}

/// The key is not shown.
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
    /// Presents this key with every request.
    pub fn key(mut self, key: &str) -> Self {
        self.key = Some(key.to_owned());
        self
    }

    /// How long one attempt may take, from the connection to the answer's last byte: 60 seconds unless told. A call
    /// may take this long for each of its attempts, and the waits between them.
    pub const fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// How often a request is sent, and how long it may wait in between.
    pub const fn retry(mut self, retry: Retry) -> Self {
        self.retry = retry;
        self
    }

    /// The most bytes of an answer that are read, after decompression: [`ANSWER_MAX`] unless told. A longer answer is
    /// [`Error::TooLarge`]. Exports of large calendars may need more.
    pub const fn answer_max(mut self, bytes: usize) -> Self {
        self.answer_max = bytes;
        self
    }

    /// The client. Redirects are not followed: the key is for the service that was named. The system's proxies and
    /// trusted certificates apply.
    ///
    /// # Errors
    /// [`Error::Address`] for a base URL that is none, [`Error::Request`] for a key that no header can carry, and
    /// [`Error::Transport`] where TLS cannot be set up.
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

/// The base URL without a slash at its end. What is wrong with it is told without it: it may hold a password.
fn base(text: &str) -> Result<String, Error> {
    let url: Url = text.parse().map_err(|_| Error::Address("must be a URL, such as https://calendar.example.com"))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(Error::Address("must begin with https:// or http://"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(Error::Address("must not hold a user name or a password"));
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
    fn base_urls(#[case] given: &str, #[case] expected: &str) {
        assert_eq!(base(given).unwrap(), expected);
    }

    #[rstest]
    #[case::no_scheme("calendar.example.com")]
    #[case::another_scheme("ftp://calendar.example.com")]
    #[case::a_password("https://ada:secret@calendar.example.com")]
    #[case::a_query("https://calendar.example.com/?a=b")]
    #[case::a_fragment("https://calendar.example.com/#a")]
    #[case::nothing("")]
    fn no_base_urls(#[case] given: &str) {
        let error = Client::builder(given).build().unwrap_err();
        assert!(matches!(error, Error::Address(_)), "{error:?}");
        assert!(!format!("{error:?} {error}").contains("secret"));
    }

    #[test]
    fn the_key_is_not_shown() {
        let builder = Client::builder("https://calendar.example.com").key("svc_sk_secret");
        let client = builder.clone().build().unwrap();
        let call = client.get_usage();
        assert!(!format!("{builder:?} {client:?} {call:?} {:?}", client.http()).contains("svc_sk_secret"));
        assert!(matches!(builder.key("a\nb").build(), Err(Error::Request(_))));
    }
}
