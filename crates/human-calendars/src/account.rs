//! One exchange with a provider, through the guarded client.

use std::time::Duration;

use bytes::Bytes;
use kalends_app::ports::ProviderError;
use kalends_bridge::Tokens;
use kalends_egress::{Egress, EgressError, Exchange, HeaderName, HeaderValue, Method, header};
use kalends_kernel::RemoteUrl;
use url::Url;

use crate::answer::Malformed;

/// How long one exchange may take.
const WITHIN: Duration = Duration::from_secs(15);
/// The most bytes of an answer with calendars or busy times.
const ANSWER_MAX: usize = 4 << 20;
/// The most bytes of an answer with tokens.
const TOKENS_MAX: usize = 64 << 10;
/// The most bytes of a link to the next page: what is common to servers for a whole request line.
const LINK_MAX: usize = 8 << 10;

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const FORM: HeaderValue = HeaderValue::from_static("application/x-www-form-urlencoded");

/// An answer, of whatever status.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: Bytes,
}

/// Posts a form to an endpoint of tokens.
pub(crate) async fn post_form(egress: &Egress, url: &RemoteUrl, form: String) -> Result<Answer, ProviderError> {
    let mut exchange = Exchange::new(Method::POST, url.clone(), WITHIN, TOKENS_MAX);
    exchange.headers.insert(header::CONTENT_TYPE, FORM);
    exchange.body = form.into();
    send(egress, exchange).await
}

async fn send(egress: &Egress, mut exchange: Exchange) -> Result<Answer, ProviderError> {
    exchange.headers.insert(header::ACCEPT, JSON);
    match egress.send(exchange).await {
        Ok(reply) => Ok(Answer { status: reply.status.as_u16(), body: reply.body }),
        // It will not be shorter another time.
        Err(error @ EgressError::TooLarge { .. }) => Err(ProviderError::Malformed(Box::new(error))),
        Err(error) => Err(ProviderError::Unavailable(Box::new(error))),
    }
}

/// The calendar API of a provider, asked in the name of one human.
pub(crate) struct Account<'a> {
    egress: &'a Egress,
    api: &'a RemoteUrl,
    bearer: HeaderValue,
}

impl<'a> Account<'a> {
    /// The account that those tokens open.
    pub(crate) fn new(egress: &'a Egress, api: &'a RemoteUrl, tokens: &Tokens) -> Result<Self, ProviderError> {
        // What no header can hold opens nothing.
        let mut bearer = HeaderValue::from_str(&format!("Bearer {}", tokens.access))
            .map_err(|_| ProviderError::Lapsed("invalid_token".to_owned()))?;
        bearer.set_sensitive(true);
        Ok(Self { egress, api, bearer })
    }

    /// An address of the API. The path begins with a slash, and what it names is encoded already; the query is not.
    pub(crate) fn url(&self, path: &str, query: &[(&str, &str)]) -> Result<RemoteUrl, ProviderError> {
        let mut url = self.api.as_url().clone();
        let path = format!("{}{path}", url.path().trim_end_matches('/'));
        url.set_path(&path);
        url.set_query(None);
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        // Not bounded as what others name is: the encoded name of a calendar alone may be longer.
        RemoteUrl::from_stored(url.as_str()).map_err(|error| ProviderError::Unavailable(Box::new(error)))
    }

    /// The next page, where a link of the provider's leads to its API: the token goes nowhere else.
    pub(crate) fn next(&self, link: &str) -> Result<RemoteUrl, Malformed> {
        let next = Url::parse(link).ok().filter(|url| url.username().is_empty() && url.password().is_none());
        next.filter(|_| link.len() <= LINK_MAX)
            .and_then(|url| RemoteUrl::from_stored(url.as_str()).ok())
            .filter(|url| url.same_origin(self.api))
            .ok_or(Malformed::Sense("the link to the next page leads away from the provider"))
    }

    /// Gets what stands there.
    pub(crate) async fn get(
        &self,
        url: RemoteUrl,
        header: Option<(HeaderName, HeaderValue)>,
    ) -> Result<Answer, ProviderError> {
        let mut exchange = Exchange::new(Method::GET, url, WITHIN, ANSWER_MAX);
        exchange.headers.extend(header);
        self.ask(exchange).await
    }

    /// Posts JSON there.
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
