//! Writes that wait for approval: how a request is kept instead of made, and how it is made once it is approved.
//!
//! The entrance captures the request of a key that needs approval. The commit of its use case then stores it instead of
//! the change. Once somebody approves it, the same request is sent through the whole API again, in the name of the key
//! that asked. Its commit contains the decision too.

use std::{
    net::SocketAddr,
    sync::{Arc, OnceLock, Weak},
};

use axum::{
    Router,
    body::Body,
    extract::{ConnectInfo, Request},
    response::Response,
};
use http::{HeaderMap, HeaderName, StatusCode, header};
use http_body_util::BodyExt as _;
use kalends_accounts::{ApprovalPolicy, Credential, Principal, Reach, reach::Touch};
use kalends_app::{
    Actor, Answered, App, Approving, Asking, Caller, Refusal, Request as Called, ToMake, needs_approval,
    operations::{self, Operation},
};
use kalends_approvals::{BODY_MAX, Outcome, WaitingRequest};
use kalends_runs::{HEADER, RunName};
use kalends_wire::{self as wire, ErrorBody, ErrorCode, ErrorEnvelope, ErrorType};
use tower::ServiceExt as _;

use crate::{
    error::ApiError,
    extract::{AlreadyRead, read_whole},
    known::{Approved, Carried},
};

/// The policy under which the write needs approval; `None` if it needs none.
pub(crate) fn policy<'a>(principal: &'a Principal, called: &Called) -> Option<&'a ApprovalPolicy> {
    let policy = principal.approval.as_ref();
    let is_free = called.dry_run || called.approving.is_some();
    policy.filter(|_| !is_free && needs_approval(policy, called.operation))
}

/// Why the writes of an operation cannot wait for approval.
pub(crate) fn why_not(operation: &Operation) -> &'static str {
    if operation.is_public() || operation.is_console() || operation.touch == Touch::Admin {
        "no key of an agent is needed for it"
    } else if !operation.changes_data() {
        "it changes no data"
    } else if operation.decides() {
        "it decides about an approval itself"
    } else if !operation.secret_fields().is_empty() {
        "its answer has a secret, which only the caller may read"
    } else if operation.takes_dry_run() {
        "it is not one single change"
    } else {
        "it sends something, or counts at once"
    }
}

/// Captures a request that needs approval. Returns it with what its use case needs to ask for approval.
///
/// # Errors
/// [`Refusal::ApprovalNotPossible`] if it cannot wait, and the errors of a body that does not arrive.
pub(crate) async fn ask(
    called: &Called,
    principal: &Principal,
    policy: &ApprovalPolicy,
    request: Request,
) -> Result<(Request, Approving), ApiError> {
    let operation = called.operation;
    if !operation.can_wait() {
        return Err(not_possible(operation, why_not(operation)));
    }
    // Only keys of agents have a policy.
    let (Credential::Key(key), Reach::Agent(agent)) = (principal.credential, principal.reach) else {
        return Err(ApiError::Internal);
    };
    let (request, waiting) = captured(operation, called.run.as_ref(), request).await?;
    let asking = Asking {
        key,
        key_prefix: principal.key_prefix.clone(),
        agent: agent.id,
        lasts: policy.lasts,
        request: waiting,
    };
    Ok((request, Approving::Ask(Arc::new(asking))))
}

fn not_possible(operation: &Operation, why: &str) -> ApiError {
    let message = format!(
        "the writes of this key need approval, and this {} cannot wait for it: {why}; use a key without \
         requires_approval for it, or let a person do it",
        operation.id
    );
    Refusal::ApprovalNotPossible(message).into()
}

/// The request as it waits, and the same request with its body in memory.
async fn captured(
    operation: &Operation,
    run: Option<&RunName>,
    request: Request,
) -> Result<(Request, WaitingRequest), ApiError> {
    let (request, body) = read_whole(request, BODY_MAX).await.map_err(|error| match error {
        ApiError::TooLarge(max) => not_possible(operation, &format!("its body is longer than {max} bytes")),
        error => error,
    })?;
    let body = std::str::from_utf8(&body).map_err(|_| not_possible(operation, "its body is not UTF-8 text"))?;
    let headers = request.headers();
    let waiting = WaitingRequest {
        target: request.uri().path_and_query().map_or("", |target| target.as_str()).to_owned(),
        content_type: texts(headers, header::CONTENT_TYPE).into_iter().next().map(str::to_owned),
        if_match: joined(headers, header::IF_MATCH),
        language: joined(headers, header::ACCEPT_LANGUAGE),
        run: run.map(|run| run.as_str().to_owned()),
        body: body.to_owned(),
    };
    Ok((request, waiting))
}

/// The values of a header. Its use case refuses one that is not text.
fn texts(headers: &HeaderMap, name: HeaderName) -> Vec<&str> {
    headers.get_all(name).iter().filter_map(|value| value.to_str().ok()).collect()
}

/// The values of a header as one, which means the same.
fn joined(headers: &HeaderMap, name: HeaderName) -> Option<String> {
    let values = texts(headers, name);
    (!values.is_empty()).then(|| values.join(", "))
}

/// The request as it was captured.
fn rebuilt(waiting: &WaitingRequest, operation: &Operation) -> Result<Request, http::Error> {
    let mut request = Request::builder().method(operation.method).uri(waiting.target.as_str());
    let headers = [
        (header::CONTENT_TYPE.as_str(), &waiting.content_type),
        (header::IF_MATCH.as_str(), &waiting.if_match),
        (header::ACCEPT_LANGUAGE.as_str(), &waiting.language),
        (HEADER, &waiting.run),
    ];
    for (name, value) in headers {
        if let Some(value) = value {
            request = request.header(name, value.as_str());
        }
    }
    request.body(Body::from(waiting.body.clone()))
}

/// Makes requests that were approved.
#[derive(Clone)]
pub(crate) struct Maker(Arc<Parts>);

struct Parts {
    app: Arc<App>,
    /// The whole API, with all of its layers. It contains this value itself, so it is not kept from here.
    api: OnceLock<Weak<Router>>,
}

impl Maker {
    /// A maker without an API, for the routes of which it is built.
    pub(crate) fn new(app: Arc<App>) -> Self {
        Self(Arc::new(Parts { app, api: OnceLock::new() }))
    }

    /// Sets the API. It must live as long as requests are answered.
    pub(crate) fn serve(&self, api: &Arc<Router>) {
        // It is set once, where the router is built.
        let _ = self.0.api.set(Arc::downgrade(api));
    }

    /// Approves the write and makes it. Returns the approval as it is afterwards: `approved`, or `failed` if the request
    /// was refused. If the request fails in a way that passes, the approval stays pending. A dry run of `actor` changes
    /// nothing, and shows what would become of the approval.
    ///
    /// # Errors
    /// [`Refusal::NotFound`]; [`Refusal::ApprovalDecided`]; a failure of the request that passes.
    pub(crate) async fn approve(&self, actor: &Actor, id: &str) -> Result<Answered<wire::Approval>, ApiError> {
        let app = &self.0.app;
        let Some(ToMake { approved, caller }) = app.approval_to_make(actor, id).await? else {
            return Ok(app.decided_approval(actor, id).await?);
        };
        let outcome = match caller {
            Some(caller) => self.make(actor, &approved, caller).await?,
            None => revoked(actor),
        };
        // If the request committed something, its outcome is recorded already, and this only reads it.
        Ok(app.settle_approval(actor, &approved, outcome.status, outcome.body).await?)
    }

    /// Sends the request in the name of the key that asked.
    async fn make(
        &self,
        actor: &Actor,
        approved: &Arc<kalends_app::Approved>,
        caller: Arc<Caller>,
    ) -> Result<Outcome, ApiError> {
        let approval = &approved.approval;
        let Some(operation) = operations::named(&approval.operation) else {
            // It was asked for in a release that had the operation.
            let error = ApiError::NoRoute;
            return Ok(refused(error.status(), error.body(&self.0.app, actor.request.id.to_string(), None)));
        };
        let api = self.0.api.get().and_then(Weak::upgrade).ok_or(ApiError::Internal)?;
        let mut request = rebuilt(&approval.request, operation).map_err(|_| ApiError::Internal)?;
        let extensions = request.extensions_mut();
        extensions.insert(Carried(caller));
        extensions.insert(Approved { approved: Arc::clone(approved), is_dry_run: actor.request.dry_run });
        extensions.insert(AlreadyRead);
        if let Some(ip) = actor.request.ip {
            // The audit log shows from where the write was approved.
            extensions.insert(ConnectInfo(SocketAddr::new(ip, 0)));
        }
        let router: Router = (*api).clone();
        match router.oneshot(request).await {
            Ok(response) => outcome(response).await,
            Err(never) => match never {},
        }
    }
}

/// The outcome that an answer is.
///
/// # Errors
/// The failure, if it passes: the approval can be decided again.
async fn outcome(response: Response) -> Result<Outcome, ApiError> {
    let (parts, body) = response.into_parts();
    let body = body.collect().await.map_err(|_| ApiError::Internal)?.to_bytes();
    let body = String::from_utf8(body.to_vec()).map_err(|_| ApiError::Internal)?;
    let retry_after = parts.headers.get(header::RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
    let is_over_limit = parts.status == StatusCode::TOO_MANY_REQUESTS;
    if parts.status.is_server_error() || is_over_limit || retry_after.is_some() {
        return Err(match serde_json::from_str::<ErrorEnvelope>(&body) {
            Ok(envelope) => ApiError::Relayed { status: parts.status, error: Box::new(envelope.error), retry_after },
            Err(_) => ApiError::Internal,
        });
    }
    Ok(Outcome { status: parts.status.as_u16(), body: Some(body).filter(|body| !body.is_empty()) })
}

/// The outcome of a request whose key is no longer in force.
fn revoked(actor: &Actor) -> Outcome {
    let message =
        "the key that asked for this was revoked, so nothing was changed; create a key, and ask again with it";
    let (kind, code) = (ErrorType::Unauthorized, ErrorCode::InvalidKey);
    refused(StatusCode::UNAUTHORIZED, ErrorBody::new(kind, code, message.to_owned(), actor.request.id.to_string()))
}

fn refused(status: StatusCode, error: ErrorBody) -> Outcome {
    Outcome { status: status.as_u16(), body: serde_json::to_string(&ErrorEnvelope { error }).ok() }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use axum::response::IntoResponse as _;
    use bytes::Bytes;
    use kalends_accounts::reach::{CallerKind, Standing};
    use rstest::rstest;

    use super::*;

    const UPDATE: &Operation = &operations::UPDATE_EVENT;

    fn request(body: impl Into<Bytes>) -> Request {
        Request::builder()
            .method(UPDATE.method)
            .uri("/v1/events/evt_1?local=true")
            .header(header::CONTENT_TYPE, "application/json")
            .header(header::IF_MATCH, "\"1\"")
            .header(header::IF_MATCH, "\"2\"")
            .header(header::AUTHORIZATION, "Bearer svc_ak_secret")
            .body(Body::from(body.into()))
            .unwrap()
    }

    #[tokio::test]
    async fn a_request_is_rebuilt_as_it_was_captured_without_its_credential() {
        let run = RunName::parse("plan").unwrap();
        let (passed_on, waiting) = captured(UPDATE, Some(&run), request("{\"title\":\"é\"}")).await.unwrap();
        let body = passed_on.into_body().collect().await.unwrap().to_bytes();
        assert_eq!(body, "{\"title\":\"é\"}", "the use case reads the body too");
        let expected = WaitingRequest {
            target: "/v1/events/evt_1?local=true".to_owned(),
            content_type: Some("application/json".to_owned()),
            if_match: Some("\"1\", \"2\"".to_owned()),
            language: None,
            run: Some("plan".to_owned()),
            body: "{\"title\":\"é\"}".to_owned(),
        };
        assert_eq!(waiting, expected);
        let rebuilt = rebuilt(&waiting, UPDATE).unwrap();
        assert_eq!((rebuilt.method().as_str(), rebuilt.uri().to_string()), (UPDATE.method, waiting.target.clone()));
        assert!(!rebuilt.headers().contains_key(header::AUTHORIZATION));
        let (_, again) = captured(UPDATE, Some(&run), rebuilt).await.unwrap();
        assert_eq!(again, waiting);
    }

    #[rstest]
    #[case::longest("x".repeat(BODY_MAX).into_bytes(), None)]
    #[case::too_long("x".repeat(BODY_MAX + 1).into_bytes(), Some("longer than 65536 bytes"))]
    #[case::not_text(vec![0xff], Some("not UTF-8"))]
    #[tokio::test]
    async fn some_bodies_cannot_wait(#[case] body: Vec<u8>, #[case] message: Option<&str>) {
        let refused = captured(UPDATE, None, request(body)).await.err();
        match (refused, message) {
            (None, None) => {}
            (Some(ApiError::Refused(Refusal::ApprovalNotPossible(text))), Some(message)) => {
                assert!(text.contains(message) && text.contains("use a key without"), "{text}");
            }
            (refused, _) => panic!("{refused:?}"),
        }
    }

    /// Every write of an agent's key waits, except these.
    #[test]
    fn the_writes_that_cannot_wait_are_few() {
        let agent_key = Standing::from(CallerKind::AgentKey);
        let writes = operations::ALL
            .iter()
            .filter(|operation| operation.changes_data() && !operation.is_public() && agent_key.opens(operation.touch));
        let cannot: BTreeSet<&str> =
            writes.filter(|operation| !operation.can_wait()).map(|operation| operation.id).collect();
        let expected = [
            operations::CREATE_AGENT_CALENDAR.id,
            operations::ROTATE_FEED_TOKEN.id,
            operations::IMPORT_CALENDAR.id,
            operations::CREATE_CONNECTION_LINK.id,
            operations::CANCEL_APPROVAL.id,
        ];
        assert_eq!(cannot, BTreeSet::from(expected));
    }

    #[test]
    fn reads_decisions_and_writes_without_a_key_never_wait() {
        for operation in operations::ALL {
            if operation.can_wait() {
                assert!(operation.changes_data() && operation.takes_dry_run(), "{}", operation.id);
                assert!(!operation.decides() && !operation.is_public() && !operation.is_console(), "{}", operation.id);
                assert!(operation.secret_fields().is_empty(), "{}", operation.id);
            }
        }
    }

    #[rstest]
    #[case::secret(&operations::CREATE_AGENT_CALENDAR, "a secret")]
    #[case::import(&operations::IMPORT_CALENDAR, "single change")]
    #[case::sends(&operations::TEST_WEBHOOK, "sends something")]
    #[case::decision(&operations::APPROVE, "decides")]
    #[case::read(&operations::GET_EVENT, "no data")]
    #[case::public(&operations::CREATE_BOOKING, "no key")]
    fn the_reason_is_named(#[case] operation: &Operation, #[case] reason: &str) {
        assert!(why_not(operation).contains(reason), "{}", why_not(operation));
    }

    #[tokio::test]
    async fn a_failure_that_passes_is_handed_on_and_others_are_the_outcome() {
        let answer = |status: StatusCode, retry_after: Option<&str>, code: ErrorCode| {
            let error = ErrorBody::new(ErrorType::Conflict, code, "why".to_owned(), "req_1".to_owned());
            let mut response = (status, axum::Json(ErrorEnvelope { error })).into_response();
            if let Some(seconds) = retry_after {
                response.headers_mut().insert(header::RETRY_AFTER, seconds.parse().unwrap());
            }
            response
        };
        let taken = outcome(answer(StatusCode::CONFLICT, None, ErrorCode::SlotTaken)).await.unwrap();
        assert!(taken.status == 409 && taken.body.is_some_and(|body| body.contains("slot_taken")));
        for (status, retry_after, code) in [
            (StatusCode::CONFLICT, Some("1"), ErrorCode::Contended),
            (StatusCode::SERVICE_UNAVAILABLE, Some("1"), ErrorCode::DatabaseUnavailable),
            (StatusCode::INTERNAL_SERVER_ERROR, None, ErrorCode::Internal),
            (StatusCode::TOO_MANY_REQUESTS, None, ErrorCode::BookingClosed),
        ] {
            let relayed = outcome(answer(status, retry_after, code)).await.unwrap_err();
            assert_eq!(relayed.status(), status);
            let ApiError::Relayed { error, .. } = relayed else { panic!("{relayed:?}") };
            assert_eq!(error.code, Some(code.name()));
        }
        let empty = outcome(StatusCode::NO_CONTENT.into_response()).await.unwrap();
        assert_eq!(empty, Outcome { status: 204, body: None });
    }
}
