//! Sending an exchange.

use std::{num::NonZeroUsize, sync::Arc};

use bytes::BytesMut;
use http::{
    HeaderMap, HeaderName, HeaderValue, Method,
    header::{
        ACCEPT_ENCODING, CONNECTION, CONTENT_LENGTH, EXPECT, HOST, PROXY_AUTHORIZATION, TE, TRAILER, TRANSFER_ENCODING,
        UPGRADE,
    },
};
use kalends_remote::RemoteUrl;
use reqwest::{Request, Response};
use tokio::time::timeout;

use crate::{
    Allowed, EgressError, Exchange, NotAllowed, PastCap, RedirectFault, Reply, Resolver, StartError,
    clients::{Clients, Recipe},
    lanes::Lanes,
    redirect::{self, Hop},
};

/// The headers that only the client may set: they frame the message or concern its transport.
const FRAMING: &[HeaderName] = &[
    ACCEPT_ENCODING,
    CONNECTION,
    CONTENT_LENGTH,
    EXPECT,
    HOST,
    PROXY_AUTHORIZATION,
    TE,
    TRAILER,
    TRANSFER_ENCODING,
    UPGRADE,
];

/// The settings of the client.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The `User-Agent` of the service.
    pub user_agent: String,
    /// The maximum number of concurrent exchanges with one host and port. The others wait, within their deadlines.
    pub per_host: NonZeroUsize,
}

/// The client for addresses from outside.
pub struct Egress {
    allowed: Allowed,
    clients: Clients,
    lanes: Arc<Lanes>,
}

impl Egress {
    /// A client that reaches the public internet and what is `allowed`.
    ///
    /// # Errors
    /// If TLS cannot be set up, or the user agent is not a valid header value.
    pub fn new(allowed: Allowed, resolver: Arc<dyn Resolver>, settings: &Settings) -> Result<Self, StartError> {
        Self::from_recipe(allowed, Recipe::new(&settings.user_agent, resolver)?, settings.per_host)
    }

    pub(crate) fn from_recipe(allowed: Allowed, recipe: Recipe, per_host: NonZeroUsize) -> Result<Self, StartError> {
        Ok(Self { allowed, clients: Clients::new(recipe)?, lanes: Lanes::new(per_host) })
    }

    /// The private addresses that may be reached. [`RemoteUrl::parse`] takes them as its `exempt`.
    pub const fn allowed(&self) -> &Allowed {
        &self.allowed
    }

    /// Sends a request and reads the answer, whatever its status. Dropping the future cancels the exchange.
    ///
    /// # Errors
    /// See [`EgressError`]. With [`EgressError::NotAllowed`] and [`EgressError::Resolve`], the request has not arrived,
    /// except at servers that redirected it. With any other error, it may have arrived.
    pub async fn send(&self, exchange: Exchange) -> Result<Reply, EgressError> {
        let within = exchange.deadline;
        timeout(within, self.follow(exchange)).await.unwrap_or(Err(EgressError::Deadline { within }))
    }

    async fn follow(&self, exchange: Exchange) -> Result<Reply, EgressError> {
        let Exchange { method, url, mut headers, body, max_body, past_cap, redirects, deadline: _ } = exchange;
        for name in FRAMING {
            headers.remove(name);
        }
        let url = url.recheck("url", |host, port| self.allowed.contains(host, port));
        let url = url.map_err(|refused| EgressError::NotAllowed(NotAllowed::Url(refused)))?;
        let mut hop = Hop { method, url, headers, body };
        let limit = redirects.min(Exchange::MAX_REDIRECTS);
        for left in (0..=limit).rev() {
            // One seat at a time, so that two exchanges that redirect to each other's hosts do not deadlock.
            let _seat = self.lanes.enter(hop.url.destination()).await;
            // Headers that are not needed for another request are not kept: many exchanges may be waiting for servers
            // that hang.
            let headers = if left == 0 { std::mem::take(&mut hop.headers) } else { hop.headers.clone() };
            let response = self.dispatch(&hop, headers).await?;
            let status = response.status();
            if limit == 0 || !redirect::is(status) {
                return read(response, max_body, past_cap).await;
            }
            if left > 0 {
                hop = redirect::next(hop, status, response.headers(), &self.allowed).map_err(EgressError::Redirect)?;
            }
        }
        Err(EgressError::Redirect(RedirectFault::TooMany { limit }))
    }

    async fn dispatch(&self, hop: &Hop, headers: HeaderMap) -> Result<Response, EgressError> {
        let mut request = Request::new(hop.method.clone(), hop.url.as_url().clone());
        *request.headers_mut() = headers;
        if !hop.body.is_empty() {
            *request.body_mut() = Some(hop.body.clone().into());
        } else if matches!(hop.method, Method::POST | Method::PUT | Method::PATCH) {
            // Some servers require an explicit length of zero.
            request.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from_static("0"));
        }
        let exempt = self.is_exempt(&hop.url);
        let response = self.clients.of(exempt).execute(request).await.map_err(EgressError::of)?;
        // This cannot happen as long as the client dials what it is given. If it ever does, the answer is not
        // revealed.
        let peer = response.remote_addr().filter(|_| !exempt);
        match peer.and_then(|peer| (self.clients.recipe.judge)(peer.ip())) {
            Some(why) => Err(EgressError::NotAllowed(NotAllowed::Address(why))),
            None => Ok(response),
        }
    }

    fn is_exempt(&self, url: &RemoteUrl) -> bool {
        let (host, port) = url.destination();
        self.allowed.contains(host, port)
    }

    #[cfg(test)]
    pub(crate) fn open_lanes(&self) -> usize {
        self.lanes.count()
    }
}

/// Reads the content, decompressed, up to the cap.
async fn read(mut response: Response, limit: usize, past_cap: PastCap) -> Result<Reply, EgressError> {
    let announced = response.content_length().and_then(|length| usize::try_from(length).ok());
    if past_cap == PastCap::Refuse && announced.is_some_and(|length| length > limit) {
        return Err(EgressError::TooLarge { limit });
    }
    let mut body = BytesMut::new();
    let mut truncated = false;
    while let Some(chunk) = response.chunk().await.map_err(EgressError::of)? {
        let room = limit - body.len();
        if chunk.len() > room {
            if past_cap == PastCap::Refuse {
                return Err(EgressError::TooLarge { limit });
            }
            body.extend_from_slice(chunk.get(..room).unwrap_or_default());
            truncated = true;
            break;
        }
        body.extend_from_slice(&chunk);
    }
    let (status, headers) = (response.status(), std::mem::take(response.headers_mut()));
    Ok(Reply { status, headers, body: body.freeze(), truncated })
}
