//! The keys of forms: a form that is sent twice has its effect once.

use std::{net::IpAddr, sync::Arc};

use kalends_app::{Actor, Answer, Answered, App, Idempotency, Refusal, Repeater, Request as Called, RunningGuard};
use kalends_kernel::{Entropy, base64url, random_bytes};
use serde::de::DeserializeOwned;

use crate::{
    error::ApiError,
    limits::{ANONYMOUS_KEY_MIN, IDEMPOTENCY_KEY_MAX},
};

/// The name of the hidden field with the key of a form that must have only one effect.
pub(crate) const ONCE: &str = "once";
/// Stands for the address of the request in the identity of a form.
const FORM: &str = "form";

/// A random value for the hidden field [`ONCE`].
pub(crate) fn new_once(entropy: &dyn Entropy) -> String {
    base64url(&random_bytes::<24>(entropy))
}

/// Whether the text can be the value of the hidden field [`ONCE`]: it is long enough to be secret.
pub(crate) fn is_once(key: &str) -> bool {
    (ANONYMOUS_KEY_MIN..=IDEMPOTENCY_KEY_MAX).contains(&key.len()) && key.bytes().all(|byte| byte.is_ascii_graphic())
}

/// What happened to a form before.
pub(crate) enum Earlier {
    /// It had its effect, with this answer.
    Answered(Answer),
    /// It had none yet. While this exists, the same form waits.
    Nothing(Option<RunningGuard>),
}

/// Begins the effect of a form, and lets `called` know it. Two forms with the same `key` and content have one effect. A
/// form whose key is too short to be secret is never a repetition.
///
/// # Errors
/// [`Refusal::IdempotencyMismatch`] if a form with this key and another content had its effect.
pub(crate) async fn begin(
    app: &App,
    called: &mut Called,
    repeater: Repeater<'_>,
    key: &str,
    content: &[u8],
) -> Result<Earlier, Refusal> {
    if !is_once(key) {
        return Ok(Earlier::Nothing(None));
    }
    let idempotency = Idempotency::of(repeater, called.operation, key, FORM, content);
    let running = app.begin_after(&idempotency).await;
    called.idempotency = Some(idempotency);
    Ok(match earlier(app, called).await? {
        Some(answer) => Earlier::Answered(answer),
        None => Earlier::Nothing(Some(running)),
    })
}

/// The answer to the same form, if it has had its effect. If a form is refused, another node may just have answered it.
///
/// # Errors
/// As [`begin`].
pub(crate) async fn earlier(app: &App, called: &Called) -> Result<Option<Answer>, Refusal> {
    match &called.idempotency {
        Some(idempotency) => app.earlier_answer(called.operation, idempotency).await,
        None => Ok(None),
    }
}

/// Lets a form of the caller have its effect once, and returns the answer: of the effect, or of an equal form that had it
/// before.
///
/// # Errors
/// Those of the effect, and as [`begin`].
pub(crate) async fn once<T>(
    app: &App,
    caller: &mut Actor,
    key: &str,
    content: &[u8],
    effect: impl AsyncFnOnce(&Actor) -> Result<Answered<T>, Refusal>,
) -> Result<Answer, Refusal> {
    let principal = Arc::clone(&caller.principal);
    match begin(app, &mut caller.request, Repeater::of(&principal), key, content).await? {
        Earlier::Answered(answer) => Ok(answer),
        Earlier::Nothing(_running) => match effect(caller).await {
            Ok(answered) => Ok(answered.answer),
            Err(refusal) => earlier(app, &caller.request).await?.ok_or(refusal),
        },
    }
}

/// Reads the answer of an earlier effect.
///
/// # Errors
/// [`ApiError::Internal`] if it has another shape, which is a bug.
pub(crate) fn read<T: DeserializeOwned>(answer: &Answer) -> Result<T, ApiError> {
    serde_json::from_str(answer.body.as_deref().unwrap_or_default()).map_err(|error| {
        tracing::error!(%error, "a stored answer has another shape than its page expects");
        ApiError::Internal
    })
}

/// [`begin`], for somebody who is not signed in.
///
/// # Errors
/// As [`begin`].
pub(crate) async fn begin_anonymous(
    app: &App,
    called: &mut Called,
    key: &str,
    content: &[u8],
) -> Result<Earlier, Refusal> {
    let address = called.ip.as_ref().map(IpAddr::to_string).unwrap_or_default();
    begin(app, called, Repeater::Anonymous(&address), key, content).await
}
