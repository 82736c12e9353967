//! A single exchange with a provider, through the guarded client.

use std::time::Duration;

use bytes::Bytes;
use kalends_app::ports::ProviderError;
use kalends_bridge::Tokens;
use kalends_egress::{Egress, EgressError, Exchange, HeaderMap, HeaderName, HeaderValue, Method, header};
use kalends_remote::RemoteUrl;
use url::Url;

use crate::answer::Malformed;

/// How long one exchange may take.
const WITHIN: Duration = Duration::from_secs(15);
/// The maximum length of an answer with calendars or busy times, in bytes.
const ANSWER_MAX: usize = 4 << 20;
/// The maximum length of an answer with tokens, in bytes.
const TOKENS_MAX: usize = 64 << 10;
/// The maximum length of a link to the next page, in bytes. Servers commonly have this limit for a whole request line.
const LINK_MAX: usize = 8 << 10;

/// The longest wait that a provider may ask for.
pub(crate) const RETRY_AFTER_MAX: Duration = Duration::from_secs(60 * 60);

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const FORM: HeaderValue = HeaderValue::from_static("application/x-www-form-urlencoded");

/// An answer with any status.
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// How long to wait before the next request, if the provider said that in seconds. At most [`RETRY_AFTER_MAX`].
    pub(crate) retry_after: Option<Duration>,
    pub(crate) body: Bytes,
}

/// Posts a form to a token endpoint.
pub(crate) async fn post_form(egress: &Egress, url: &RemoteUrl, form: String) -> Result<Answer, ProviderError> {
    let mut exchange = Exchange::new(Method::POST, url.clone(), WITHIN, TOKENS_MAX);
    exchange.headers.insert(header::CONTENT_TYPE, FORM);
    exchange.body = form.into();
    send(egress, exchange).await
}

async fn send(egress: &Egress, mut exchange: Exchange) -> Result<Answer, ProviderError> {
    exchange.headers.insert(header::ACCEPT, JSON);
    match egress.send(exchange).await {
        Ok(reply) => {
            Ok(Answer { status: reply.status.as_u16(), retry_after: retry_after(&reply.headers), body: reply.body })
        }
        // A retry would not make it shorter.
        Err(error @ EgressError::TooLarge { .. }) => Err(ProviderError::Malformed(Box::new(error))),
        Err(error) => Err(ProviderError::Unavailable(Box::new(error))),
    }
}

fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let seconds = headers.get(header::RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds).min(RETRY_AFTER_MAX))
}

/// The calendar API of a provider, called for one user.
pub(crate) struct Account<'a> {
    egress: &'a Egress,
    api: &'a RemoteUrl,
    bearer: HeaderValue,
}

impl<'a> Account<'a> {
    /// The account that the tokens belong to.
    pub(crate) fn new(egress: &'a Egress, api: &'a RemoteUrl, tokens: &Tokens) -> Result<Self, ProviderError> {
        // A token that is not a valid header value cannot be valid.
        let mut bearer = HeaderValue::from_str(&format!("Bearer {}", tokens.access))
            .map_err(|_| ProviderError::Lapsed("invalid_token".to_owned()))?;
        bearer.set_sensitive(true);
        Ok(Self { egress, api, bearer })
    }

    /// An address of the API. The path begins with a slash and is already encoded. The query is not yet encoded.
    pub(crate) fn url(&self, path: &str, query: &[(&str, &str)]) -> Result<RemoteUrl, ProviderError> {
        let mut url = self.api.as_url().clone();
        let path = format!("{}{path}", url.path().trim_end_matches('/'));
        url.set_path(&path);
        url.set_query(None);
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
            // Not every API reads a plus sign as a space.
            let encoded = url.query().map(|query| query.replace('+', "%20"));
            url.set_query(encoded.as_deref());
        }
        // The limits on third-party URLs do not apply: the encoded ID of a calendar alone may be longer.
        RemoteUrl::from_stored(url.as_str()).map_err(|error| ProviderError::Unavailable(Box::new(error)))
    }

    /// The next page, if the link leads to the provider's API. The token is not sent anywhere else.
    pub(crate) fn next(&self, link: &str) -> Result<RemoteUrl, Malformed> {
        let next = Url::parse(link).ok().filter(|url| url.username().is_empty() && url.password().is_none());
        next.filter(|_| link.len() <= LINK_MAX)
            .and_then(|url| RemoteUrl::from_stored(url.as_str()).ok())
            .filter(|url| url.same_origin(self.api))
            .ok_or(Malformed::Sense("the link to the next page leads away from the provider"))
    }

    /// Sends a GET request.
    pub(crate) async fn get(
        &self,
        url: RemoteUrl,
        header: Option<(HeaderName, HeaderValue)>,
    ) -> Result<Answer, ProviderError> {
        let mut exchange = Exchange::new(Method::GET, url, WITHIN, ANSWER_MAX);
        exchange.headers.extend(header);
        self.ask(exchange).await
    }

    /// Posts JSON.
    pub(crate) async fn post(&self, url: RemoteUrl, json: &serde_json::Value) -> Result<Answer, ProviderError> {
        let mut exchange = Exchange::new(Method::POST, url, WITHIN, ANSWER_MAX);
        exchange.headers.insert(header::CONTENT_TYPE, JSON);
        exchange.body = json.to_string().into();
        self.ask(exchange).await
    }

    async fn ask(&self, mut exchange: Exchange) -> Result<Answer, ProviderError> {
        exchange.headers.insert(header::AUTHORIZATION, self.bearer.clone());
        send(self.egress, exchange).await
    }
}
