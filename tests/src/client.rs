//! A thin HTTP client.

use std::{
    future::{Future, IntoFuture},
    pin::Pin,
    time::Duration,
};

use reqwest::{Method, RequestBuilder, header};
use serde_json::Value;

use crate::{
    Answer,
    description::{self, SentRequest},
};

/// Far longer than any request of a test takes.
const DEADLINE: Duration = Duration::from_secs(60);

/// The pause of a patient client before it repeats a rate-limited request.
const PAUSE: Duration = Duration::from_millis(120);

/// Calls one server as one caller.
#[derive(Debug, Clone)]
pub struct Client {
    base: String,
    key: Option<String>,
    patient: bool,
    described: bool,
    http: reqwest::Client,
}

impl Client {
    /// A client of the server at `base`. Without a key it is anonymous.
    pub(crate) fn new(base: &str, key: Option<&str>) -> Self {
        Self {
            base: base.to_owned(),
            key: key.map(str::to_owned),
            patient: true,
            described: true,
            http: http("identity"),
        }
    }

    /// The same client, which asks for this content coding (`gzip` or `zstd`) and decodes it.
    #[must_use]
    pub fn decoding(&self, coding: &str) -> Self {
        Self { http: http(coding), ..self.clone() }
    }

    /// The same client, which returns a rate-limit error instead of trying again.
    #[must_use]
    pub fn impatient(&self) -> Self {
        Self { patient: false, ..self.clone() }
    }

    /// The same client, for a process that serves something other than the API.
    #[must_use]
    pub fn undescribed(&self) -> Self {
        Self { described: false, ..self.clone() }
    }

    /// The same client at another address, such as that of a restarted service.
    #[must_use]
    pub fn moved_to(&self, base: &str) -> Self {
        Self { base: base.to_owned(), ..self.clone() }
    }

    /// Begins a GET.
    pub fn get(&self, path: impl AsRef<str>) -> Call {
        self.call(Method::GET, path)
    }

    /// Begins a POST.
    pub fn post(&self, path: impl AsRef<str>) -> Call {
        self.call(Method::POST, path)
    }

    /// Begins a PATCH.
    pub fn patch(&self, path: impl AsRef<str>) -> Call {
        self.call(Method::PATCH, path)
    }

    /// Begins a PUT.
    pub fn put(&self, path: impl AsRef<str>) -> Call {
        self.call(Method::PUT, path)
    }

    /// Begins a DELETE.
    pub fn delete(&self, path: impl AsRef<str>) -> Call {
        self.call(Method::DELETE, path)
    }

    /// Begins a request of any method.
    pub fn call(&self, method: Method, path: impl AsRef<str>) -> Call {
        let label = format!("{method} {}", path.as_ref());
        let mut request = self.http.request(method, format!("{}{}", self.base, path.as_ref()));
        if let Some(key) = &self.key {
            request = request.bearer_auth(key);
        }
        Call { label, patient: self.patient, described: self.described, request }
    }
}

/// Whether the same request may succeed within a second.
fn is_too_fast(answer: &Answer) -> bool {
    answer.at("/error/type") == "rate_limit_error" && answer.header("retry-after") == "1"
}

/// A builder of clients for servers of the test, which speak plain HTTP. Such a client trusts no certificate: reading
/// the machine's would take longer than most requests.
pub fn plain_http() -> reqwest::ClientBuilder {
    reqwest::Client::builder().no_proxy().tls_certs_only([])
}

fn http(coding: &str) -> reqwest::Client {
    plain_http()
        .gzip(coding == "gzip")
        .zstd(coding == "zstd")
        .redirect(reqwest::redirect::Policy::none())
        .timeout(DEADLINE)
        .build()
        .expect("an HTTP client")
}

/// A request that is sent when it is awaited.
#[derive(Debug)]
#[must_use = "a call is sent when it is awaited"]
pub struct Call {
    label: String,
    patient: bool,
    described: bool,
    request: RequestBuilder,
}

impl Call {
    /// Sends `body` as JSON.
    pub fn json(self, body: impl Into<Value>) -> Self {
        let text = body.into().to_string();
        self.header("content-type", "application/json").body(text)
    }

    /// Sends these bytes without a content type.
    pub fn body(mut self, body: impl Into<reqwest::Body>) -> Self {
        self.request = self.request.body(body);
        self
    }

    /// Adds a header.
    pub fn header(mut self, name: &str, value: impl AsRef<str>) -> Self {
        let value = header::HeaderValue::from_str(value.as_ref()).expect("a header's value");
        self.request = self.request.header(name, value);
        self
    }

    /// Adds parameters to the query, percent-encoded.
    pub fn query(mut self, parameters: &[(&str, &str)]) -> Self {
        self.request = self.request.query(parameters);
        self
    }

    /// Sends the request. A transport failure is returned as an error and does not end the test.
    ///
    /// # Errors
    /// The connection was refused or broke.
    pub async fn attempt(self) -> Result<Answer, reqwest::Error> {
        let Self { label, patient, described, request } = self;
        let (http, request) = request.build_split();
        let mut request = request?;
        let sent = SentRequest::of(&request);
        loop {
            let again = request.try_clone();
            let response = http.execute(request).await?;
            let status = response.status().as_u16();
            let headers = response.headers().clone();
            let bytes = response.bytes().await?;
            let answer = Answer::new(label.clone(), status, headers, bytes.to_vec());
            answer.check(sent.method == Method::HEAD);
            if described {
                description::check(&sent, &answer);
            }
            match again {
                // Most tests are not about rate limits.
                Some(again) if patient && is_too_fast(&answer) => {
                    tokio::time::sleep(PAUSE).await;
                    request = again;
                }
                _ => return Ok(answer),
            }
        }
    }
}

impl IntoFuture for Call {
    type Output = Answer;
    type IntoFuture = Pin<Box<dyn Future<Output = Answer> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let label = self.label.clone();
            self.attempt().await.unwrap_or_else(|error| panic!("{label}: {error:?}"))
        })
    }
}
