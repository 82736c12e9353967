//! A request, its retries and its answer.

use std::{fmt, future::IntoFuture, marker::PhantomData, pin::Pin};

use reqwest::{
    Method, Request, RequestBuilder,
    header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, IF_MATCH, IF_NONE_MATCH},
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use crate::{
    Client, Error, Outcome, Reply, path,
    reply::{Answer, request_id},
};

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
const RUN: HeaderName = HeaderName::from_static("kalends-run");

/// A call of an operation. It is sent when it is awaited.
///
/// Awaiting returns the value; [`Call::send`] returns the headers as well. Both retry the request as the client's
/// [`Retry`](crate::Retry) allows. Every write carries an idempotency key, which is the same in every attempt, so a
/// retry never performs the write twice.
#[must_use = "a call is sent when it is awaited"]
pub struct Call<T> {
    client: Client,
    request: Result<RequestBuilder, Error>,
    value: PhantomData<fn() -> T>,
}

/// The parameters of a query. The entries of a map are `name.key=value`.
fn pairs<Q: Serialize>(query: &Q) -> Result<Vec<(String, String)>, serde_json::Error> {
    let text = |value: Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let mut pairs = Vec::new();
    let Value::Object(parameters) = serde_json::to_value(query)? else { return Ok(pairs) };
    for (name, value) in parameters {
        match value {
            Value::Null => {}
            Value::Object(entries) => {
                pairs.extend(entries.into_iter().map(|(key, value)| (format!("{name}.{key}"), text(value))));
            }
            value => pairs.push((name, text(value))),
        }
    }
    Ok(pairs)
}

/// Hides the headers and the body, which can contain keys.
impl<T> fmt::Debug for Call<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call").field("client", &self.client).finish_non_exhaustive()
    }
}

impl Client {
    /// Creates the call of an operation.
    pub(crate) fn call<T>(&self, method: Method, template: &str, parameters: &[&dyn fmt::Display]) -> Call<T> {
        let path = path::filled(template, parameters);
        let request = path.map(|path| self.http().request(method, format!("{}{path}", self.base())));
        Call::new(self.clone(), request)
    }
}

impl<T> Call<T> {
    const fn new(client: Client, request: Result<RequestBuilder, Error>) -> Self {
        Self { client, request, value: PhantomData }
    }

    pub(crate) fn query<Q: Serialize>(self, query: &Q) -> Self {
        let pairs = pairs(query).map_err(|error| Error::Request(error.to_string().into()));
        let request = self.request.and_then(|request| pairs.map(|pairs| request.query(&pairs)));
        Self { request, ..self }
    }

    pub(crate) fn body<B: Serialize>(self, body: &B) -> Self {
        self.with(|request| request.json(body))
    }

    pub(crate) fn file(self, file: &str) -> Self {
        self.with(|request| request.header(CONTENT_TYPE, "text/calendar").body(file.to_owned()))
    }

    /// Sets the idempotency key instead of generating one: 1 to 255 visible ASCII characters, at least 20 for callers
    /// without an API key. To be able to repeat a request after your program restarts, choose one key for each write
    /// and store it. Reads need no key. If set several times, the last key counts.
    pub fn idempotency_key(self, key: &str) -> Self {
        self.header(IDEMPOTENCY_KEY, key)
    }

    /// Applies the change only if the resource still has this version ([`Reply::etag`]). Otherwise the call fails
    /// with 412. Changes and deletions of agents, calendars, events, availability rules, booking pages, iCal
    /// subscriptions and webhook endpoints support it. If set several times, the last version counts.
    pub fn if_match(self, etag: &str) -> Self {
        self.header(IF_MATCH, etag)
    }

    /// Makes the write part of a run: 1 to 64 visible ASCII characters. [`Client::undo_run`] takes all writes of a run back.
    /// Writes of events, holds and new proposals support it. If set several times, the last name counts.
    pub fn in_run(self, name: &str) -> Self {
        self.header(RUN, name)
    }

    /// Only checks the write: it is answered as usual, but nothing is kept or sent. The identifiers in the answer are made
    /// up, and secrets are left out.
    pub fn dry_run(self) -> Self {
        self.with(|request| request.query(&[("dry_run", "true")]))
    }

    /// Returns `None` if the resource still has this version, and its value otherwise. Plans, feeds, exports of
    /// calendars and the OpenAPI description support it. Other operations always return their value.
    pub fn if_none_match(self, etag: &str) -> Call<Option<T>> {
        let Call { client, request, .. } = self.header(IF_NONE_MATCH, etag);
        Call::new(client, request)
    }

    /// Sets a header and replaces an earlier value. `RequestBuilder::header` would add a second one.
    fn header(self, name: HeaderName, value: &str) -> Self {
        let headers = HeaderValue::from_str(value).map(|value| HeaderMap::from_iter([(name, value)]));
        let headers = headers.map_err(|error| Error::Request(error.to_string().into()));
        let request = self.request.and_then(|request| headers.map(|headers| request.headers(headers)));
        Self { request, ..self }
    }

    fn with(self, change: impl FnOnce(RequestBuilder) -> RequestBuilder) -> Self {
        Self { request: self.request.map(change), ..self }
    }
}

impl<T: DeserializeOwned> Call<T> {
    /// Sends the request, and returns the value together with the information in the headers.
    ///
    /// # Errors
    /// The error of the last attempt.
    pub async fn send(self) -> Result<Reply<T>, Error> {
        let Self { client, request, .. } = self;
        let mut request = request?.build().map_err(|error| unmade(&error))?;
        if request.method() != Method::GET && !request.headers().contains_key(IDEMPOTENCY_KEY) {
            request.headers_mut().insert(IDEMPOTENCY_KEY, fresh_key()?);
        }
        let mut attempt = 1;
        loop {
            // Only a body that is a stream cannot be sent twice, and we use no streams.
            let again = request.try_clone();
            let ended = exchange(&client, request).await;
            let outcome = match &ended {
                Ok(answer) => Some(answer.outcome()),
                Err(Error::Transport(_)) => Some(Outcome::Lost),
                Err(_) => None,
            };
            let wait = outcome.zip(again).and_then(|(outcome, again)| {
                Some((client.retry().wait(attempt, outcome, random::<1>().ok()?[0])?, again))
            });
            let Some((wait, again)) = wait else { return ended?.read() };
            tokio::time::sleep(wait).await;
            request = again;
            attempt += 1;
        }
    }
}

impl<T: DeserializeOwned + 'static> IntoFuture for Call<T> {
    type Output = Result<T, Error>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move { self.send().await.map(|reply| reply.value) })
    }
}

/// Sends the request once, and reads the complete answer.
async fn exchange(client: &Client, request: Request) -> Result<Answer, Error> {
    // Addresses of bookings and feeds grant access, so they must not appear in a log.
    let lost = |error: reqwest::Error| Error::Transport(error.without_url());
    let mut response = client.http().execute(request).await.map_err(lost)?;
    let limit = client.answer_max();
    let mut body = Vec::new();
    while let Some(piece) = response.chunk().await.map_err(lost)? {
        if body.len() + piece.len() > limit {
            return Err(Error::TooLarge { limit, request_id: request_id(response.headers()) });
        }
        body.extend_from_slice(&piece);
    }
    Ok(Answer { status: response.status(), headers: response.headers().clone(), body })
}

/// Describes what is wrong with a request, without its address.
fn unmade(error: &reqwest::Error) -> Error {
    let cause = std::error::Error::source(error).map(ToString::to_string);
    Error::Request(cause.unwrap_or_else(|| "it is malformed".to_owned()).into())
}

/// 128 random bits, so that no two calls share a key.
fn fresh_key() -> Result<HeaderValue, Error> {
    let key = format!("{:032x}", u128::from_ne_bytes(random()?));
    HeaderValue::try_from(key).map_err(|error| Error::Request(error.to_string().into()))
}

#[expect(clippy::disallowed_methods, reason = "a client of the service has no port for randomness")]
fn random<const N: usize>() -> Result<[u8; N], Error> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|error| Error::Request(error.to_string().into()))?;
    Ok(bytes)
}
