//! A request, its repetitions, and its answer.

use std::{fmt, future::IntoFuture, marker::PhantomData, pin::Pin};

use reqwest::{
    Method, Request, RequestBuilder,
    header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, IF_MATCH, IF_NONE_MATCH},
};
use serde::{Serialize, de::DeserializeOwned};

use crate::{
    Client, Error, Outcome, Reply,
    reply::{Answer, request_id},
};

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// The most bytes of an answer that are read, after decompression, unless the caller says otherwise
/// ([`Builder::answer_max`](crate::Builder::answer_max)): 64 MiB. The export of a calendar holds all of its events, and
/// may be longer.
pub const ANSWER_MAX: usize = 64 * 1024 * 1024;

/// A call of an operation, which is sent when it is awaited.
///
/// Awaiting gives the value; [`Call::send`] gives the headers as well. Either repeats the request as the client's
/// [`Retry`](crate::Retry) allows. Every write carries an idempotency key, the same in each attempt, so that a repetition
/// never does it twice.
#[must_use = "a call is sent when it is awaited"]
pub struct Call<T> {
    client: Client,
    request: Result<RequestBuilder, Error>,
    value: PhantomData<fn() -> T>,
}

/// Headers and bodies are not shown: they may hold keys.
impl<T> fmt::Debug for Call<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call").field("client", &self.client).finish_non_exhaustive()
    }
}

impl<T> Call<T> {
    pub(crate) const fn new(client: Client, request: Result<RequestBuilder, Error>) -> Self {
        Self { client, request, value: PhantomData }
    }

    pub(crate) fn query<Q: Serialize>(self, query: &Q) -> Self {
        self.with(|request| request.query(query))
    }

    pub(crate) fn body<B: Serialize>(self, body: &B) -> Self {
        self.with(|request| request.json(body))
    }

    pub(crate) fn file(self, file: &str) -> Self {
        self.with(|request| request.header(CONTENT_TYPE, "text/calendar").body(file.to_owned()))
    }

    /// Sends the request under this key instead of one of its own: 1 to 255 visible ASCII characters, at least 20 from
    /// callers without an API key. Choose one for each thing that is to be done, and keep it, to ask for the same again
    /// after the program was started anew. Reading takes no key. Of several keys the last counts.
    pub fn idempotency_key(self, key: &str) -> Self {
        self.header(IDEMPOTENCY_KEY, key)
    }

    /// Makes the change hold for this version only ([`Reply::etag`]): 412 where somebody was faster. Agents, calendars,
    /// events, rules and booking pages heed it when they are changed or deleted. Of several versions the last counts.
    pub fn if_match(self, etag: &str) -> Self {
        self.header(IF_MATCH, etag)
    }

    /// Asks for the value only where it is no longer this version; `None` where it still is. Plans, feeds and exports of
    /// calendars heed it, others answer with their value.
    pub fn if_none_match(self, etag: &str) -> Call<Option<T>> {
        let Call { client, request, .. } = self.header(IF_NONE_MATCH, etag);
        Call::new(client, request)
    }

    /// Sets a header, in place of what it was: `RequestBuilder::header` would add a second one.
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
    /// Sends the request, and gives the value with what the headers tell.
    ///
    /// # Errors
    /// What the last attempt ended with.
    pub async fn send(self) -> Result<Reply<T>, Error> {
        let Self { client, request, .. } = self;
        let mut request = request?.build().map_err(|error| unmade(&error))?;
        if request.method() != Method::GET && !request.headers().contains_key(IDEMPOTENCY_KEY) {
            request.headers_mut().insert(IDEMPOTENCY_KEY, fresh_key()?);
        }
        let mut attempt = 1;
        loop {
            // Only a body that is a stream cannot be sent twice, and none is.
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

/// Sends a request once, and reads the answer to its end.
async fn exchange(client: &Client, request: Request) -> Result<Answer, Error> {
    // Addresses of bookings and feeds open what they name: they do not belong in a log.
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

/// What is wrong with a request, without the address that it was for.
fn unmade(error: &reqwest::Error) -> Error {
    let cause = std::error::Error::source(error).map(ToString::to_string);
    Error::Request(cause.unwrap_or_else(|| "it is malformed".to_owned()).into())
}

/// 128 random bits: no two calls have the same.
fn fresh_key() -> Result<HeaderValue, Error> {
    let key = format!("{:032x}", u128::from_ne_bytes(random()?));
    HeaderValue::try_from(key).map_err(|error| Error::Request(error.to_string().into()))
}

#[expect(clippy::disallowed_methods, reason = "a program beside the service has no port to draw from")]
fn random<const N: usize>() -> Result<[u8; N], Error> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|error| Error::Request(error.to_string().into()))?;
    Ok(bytes)
}
