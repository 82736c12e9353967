//! The forms of people who are not signed in.

use std::{net::IpAddr, sync::Arc};

use axum::{
    extract::{FromRequest, Request},
    http::HeaderMap,
};
use bytes::Bytes;
use http::header;
use kalends_accounts::invitation_cookie;
use kalends_app::{Answer, App, Idempotency, Refusal, Repeater, Request as Called, RunningGuard};
use kalends_kernel::{Entropy, base64url, random_bytes};

use crate::{
    error::ApiError,
    extract::read_body,
    limits::{ANONYMOUS_KEY_MIN, IDEMPOTENCY_KEY_MAX},
    pages::Fields,
};

/// Marks a form of an address that sends too many. The page answers it, so that what was typed is kept.
#[derive(Debug, Clone)]
pub(crate) struct Exceeded {
    /// Whole seconds after which the address may send another one.
    pub retry_after: i64,
    /// The refusal.
    pub error: Arc<ApiError>,
}

/// A form of somebody who is not signed in.
pub(super) struct Sent {
    pub called: Called,
    pub fields: Fields,
    /// The limit that the sender exceeds. The form must have no effect then.
    pub exceeded: Option<Exceeded>,
    /// The token of the invitation that the sender has opened.
    pub invitation: Option<String>,
    body: Bytes,
}

impl<S: Sync> FromRequest<S> for Sent {
    type Rejection = ApiError;

    async fn from_request(mut request: Request, _: &S) -> Result<Self, ApiError> {
        let called = request.extensions_mut().remove::<Called>().ok_or(ApiError::Internal)?;
        let exceeded = request.extensions_mut().remove::<Exceeded>();
        let invitation = opened_invitation(request.headers());
        let body = read_body(request.into_body()).await?;
        Ok(Self { called, fields: Fields::read(&body), exceeded, invitation, body })
    }
}

/// The token of the invitation that the sender of these headers has opened.
pub(super) fn opened_invitation(headers: &HeaderMap) -> Option<String> {
    let lines = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    invitation_cookie(lines).map(str::to_owned)
}

/// The name of the hidden field that identifies a form. If the form is sent twice, it has one effect.
const ONCE: &str = "once";

/// A random value for the hidden field [`ONCE`].
pub(super) fn new_once(entropy: &dyn Entropy) -> String {
    base64url(&random_bytes::<24>(entropy))
}

impl Sent {
    /// Begins the effect of the form. Returns the answer to the same form if it was sent before. A form without a valid
    /// [`ONCE`] is never a repetition.
    ///
    /// # Errors
    /// [`Refusal::IdempotencyMismatch`] if the form was sent before with other entries.
    pub(super) async fn begin(&mut self, app: &App) -> Result<(Option<RunningGuard>, Option<Answer>), Refusal> {
        let once = self.fields.get(ONCE);
        let is_key = (ANONYMOUS_KEY_MIN..=IDEMPOTENCY_KEY_MAX).contains(&once.len());
        if !is_key || !once.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Ok((None, None));
        }
        let operation = self.called.operation;
        let address = self.called.ip.as_ref().map(IpAddr::to_string).unwrap_or_default();
        let idempotency = Idempotency::of(Repeater::Anonymous(&address), operation, once, ONCE, &self.body);
        let running = app.begin_after(&idempotency).await;
        let earlier = app.earlier_answer(operation, &idempotency).await?;
        self.called.idempotency = Some(idempotency);
        Ok((Some(running), earlier))
    }
}
