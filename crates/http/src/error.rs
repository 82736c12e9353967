//! From a refusal to an error of the specification's table: the one place where that is decided.

use std::borrow::Cow;

use axum::response::{IntoResponse, Response};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use kalends_accounts::Limited;
use kalends_app::{App, Obstacles, Refusal, operations::Operation, ports::CredentialsError};
use kalends_bridge::{ConnectionStatus, LinkError};
use kalends_calendars::HoldError;
use kalends_kernel::{FieldError, FieldErrors, RequestId, StoreError};
use kalends_proposals::ProposalError;
use kalends_wire::{Conflict, ErrorBody, ErrorEnvelope, ErrorType, Slot};

/// The most field errors that one message names; the rest is counted.
const NAMED_MAX: usize = 5;
/// The most characters that are told of one of them.
const FIELD_ERROR_MAX: usize = 380;

/// Why a request is not answered with success. It becomes a response in [`crate::envelope`], which
/// knows the request's identifier.
#[derive(Debug)]
pub(crate) enum ApiError {
    /// A use case said no.
    Refused(Refusal),
    /// The body is not JSON.
    NotJson(String),
    /// The body is not declared as JSON.
    MediaType,
    /// The body is not declared as a file.
    FileType,
    /// The body is larger than so many bytes.
    TooLarge(usize),
    /// The address of a feed may not be asked, and whatever else is wrong with the fields.
    FeedUrl(FieldErrors),
    /// The body did not arrive to its end.
    BodyLost,
    /// The body took too long to arrive.
    BodyLate,
    /// No route of that path.
    NoRoute,
    /// The route knows other methods only.
    Method,
    /// `Host` is another service's, or `Origin` another site's.
    Elsewhere,
    /// The protocol of the tools does not allow it, for this reason.
    Protocol(String),
    /// We took too long.
    Deadline,
    /// A handler panicked, or an answer could not be built.
    Internal,
}

impl<T: Into<Refusal>> From<T> for ApiError {
    fn from(refusal: T) -> Self {
        Self::Refused(refusal.into())
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut response = self.status().into_response();
        response.extensions_mut().insert(std::sync::Arc::new(self));
        response
    }
}

impl ApiError {
    /// The error of a subscription's fields: that of its address has a status of its own (service, "Error catalog").
    pub(crate) fn of_subscription(errors: FieldErrors) -> Self {
        if errors.iter().any(|error| error.param == "url") { Self::FeedUrl(errors) } else { errors.into() }
    }

    /// The error that a response without one stands for: those of the framework.
    pub(crate) const fn of_status(status: StatusCode) -> Self {
        match status {
            StatusCode::NOT_FOUND => Self::NoRoute,
            StatusCode::METHOD_NOT_ALLOWED => Self::Method,
            StatusCode::PAYLOAD_TOO_LARGE => Self::TooLarge(crate::BODY_MAX),
            StatusCode::UNSUPPORTED_MEDIA_TYPE => Self::MediaType,
            StatusCode::SERVICE_UNAVAILABLE => Self::Deadline,
            StatusCode::BAD_REQUEST => Self::BodyLost,
            _ => Self::Internal,
        }
    }

    pub(crate) fn status(&self) -> StatusCode {
        match self {
            Self::NotJson(_) | Self::BodyLost | Self::Protocol(_) => StatusCode::BAD_REQUEST,
            Self::MediaType | Self::FileType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::TooLarge(_) => StatusCode::PAYLOAD_TOO_LARGE,
            Self::FeedUrl(_) => StatusCode::UNPROCESSABLE_ENTITY,
            Self::NoRoute => StatusCode::NOT_FOUND,
            Self::Method => StatusCode::METHOD_NOT_ALLOWED,
            Self::Elsewhere => StatusCode::FORBIDDEN,
            Self::BodyLate => StatusCode::REQUEST_TIMEOUT,
            Self::Deadline => StatusCode::SERVICE_UNAVAILABLE,
            Self::Internal => StatusCode::INTERNAL_SERVER_ERROR,
            Self::Refused(refusal) => match refusal {
                Refusal::Invalid(_) | Refusal::Proposal(ProposalError::Invalid(_)) => StatusCode::BAD_REQUEST,
                Refusal::Unauthorized | Refusal::NotSignedIn | Refusal::WrongPassword => StatusCode::UNAUTHORIZED,
                Refusal::CrossSite(_)
                | Refusal::Waitlisted
                | Refusal::OutOfReach
                | Refusal::AgentPaused
                | Refusal::PlanRequired(_)
                | Refusal::Proposal(ProposalError::NotParticipant)
                | Refusal::ReadOnly(_) => StatusCode::FORBIDDEN,
                Refusal::NotFound { .. } => StatusCode::NOT_FOUND,
                Refusal::AgentState(_)
                | Refusal::CalendarHasEvents(_)
                | Refusal::Hold(_)
                | Refusal::HoldSet(_)
                | Refusal::Proposal(
                    ProposalError::NotPending(_) | ProposalError::Duplicate(_) | ProposalError::NoResponses,
                )
                | Refusal::SlotTaken(_)
                | Refusal::BookingTaken { .. }
                | Refusal::BookingOver(_)
                | Refusal::Outdated(_)
                | Refusal::StaleTerms(_)
                | Refusal::EmailTaken
                | Refusal::ClaimTaken
                | Refusal::Link(_)
                | Refusal::NotPublished(_)
                | Refusal::NotRefreshed(_)
                | Refusal::BeingSent(_)
                | Refusal::WebhookInactive
                | Refusal::StillRunning
                | Refusal::AlreadyAnswered
                | Refusal::Contended => StatusCode::CONFLICT,
                Refusal::Stale { .. } => StatusCode::PRECONDITION_FAILED,
                Refusal::Resync(_) | Refusal::ClaimOver => StatusCode::GONE,
                Refusal::Undelivered => StatusCode::SERVICE_UNAVAILABLE,
                Refusal::IdempotencyMismatch => StatusCode::UNPROCESSABLE_ENTITY,
                Refusal::LimitReached { .. }
                | Refusal::BookingClosed { .. }
                | Refusal::TooFast { .. }
                | Refusal::TooMany { .. } => StatusCode::TOO_MANY_REQUESTS,
                Refusal::Credentials(CredentialsError::Busy) | Refusal::Store(StoreError::Unavailable(_)) => {
                    StatusCode::SERVICE_UNAVAILABLE
                }
                Refusal::Credentials(CredentialsError::Failed(_))
                | Refusal::Store(StoreError::Corrupt(_) | StoreError::Failed(_)) => StatusCode::INTERNAL_SERVER_ERROR,
            },
        }
    }

    /// The response in the envelope of every error (ruling 2.1).
    pub(crate) fn render(&self, app: &App, request: RequestId, operation: Option<&Operation>) -> Response {
        let body = ErrorEnvelope { error: self.body(app, request.to_string(), operation) };
        let mut response = (self.status(), axum::Json(body)).into_response();
        self.tell_when(response.headers_mut());
        if self.status() == StatusCode::UNAUTHORIZED {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }

    /// Tells after how many seconds the request may be repeated, where that is known.
    pub(crate) fn tell_when(&self, headers: &mut HeaderMap) {
        if let Some(seconds) = self.retry_after()
            && let Ok(value) = HeaderValue::from_str(&seconds.to_string())
        {
            headers.insert(header::RETRY_AFTER, value);
        }
    }

    const fn retry_after(&self) -> Option<i64> {
        match self {
            Self::Refused(
                Refusal::LimitReached { retry_after, .. }
                | Refusal::BookingClosed { retry_after }
                | Refusal::TooFast { retry_after, .. }
                | Refusal::TooMany { retry_after, .. },
            ) => Some(*retry_after),
            Self::Deadline
            | Self::Refused(
                Refusal::StillRunning
                | Refusal::Contended
                | Refusal::Credentials(CredentialsError::Busy)
                | Refusal::Store(StoreError::Unavailable(_)),
            ) => Some(1),
            _ => None,
        }
    }

    fn body(&self, app: &App, id: String, operation: Option<&Operation>) -> ErrorBody {
        let plain = |kind, message: &str| ErrorBody::new(kind, message.to_owned(), id.clone());
        match self {
            Self::NotJson(why) => plain(ErrorType::InvalidRequest, &format!("the body must be JSON: {why}")),
            Self::BodyLost => plain(ErrorType::InvalidRequest, "the request could not be read to its end"),
            Self::MediaType => {
                plain(ErrorType::InvalidRequest, "the body must be JSON: send it with Content-Type: application/json")
            }
            Self::FileType => plain(
                ErrorType::InvalidRequest,
                "the body must be an iCalendar file: send it with Content-Type: text/calendar",
            ),
            Self::TooLarge(max) => {
                plain(ErrorType::InvalidRequest, &format!("the body must be at most {max} bytes long"))
            }
            Self::FeedUrl(errors) => invalid(errors, id, operation),
            Self::NoRoute => plain(ErrorType::NotFound, "there is no such route; GET /openapi.json lists them all"),
            Self::Method => plain(
                ErrorType::InvalidRequest,
                "the route does not know this method; the Allow header lists those it knows",
            ),
            Self::Elsewhere => plain(
                ErrorType::Forbidden,
                "Host must be that of KALENDS_BASE_URL or of this machine, and Origin, where there is one, its origin",
            ),
            Self::Protocol(why) => {
                plain(ErrorType::InvalidRequest, &format!("the Model Context Protocol does not allow it: {why}"))
            }
            Self::BodyLate => {
                plain(ErrorType::InvalidRequest, "the body took longer than 20 seconds to arrive; send it again")
            }
            Self::Deadline => plain(ErrorType::InternalError, "the service did not answer in time; repeat the request"),
            Self::Internal => {
                plain(ErrorType::InternalError, "something went wrong here; quote the request_id to the operator")
            }
            Self::Refused(refusal) => refused(refusal, app, id, operation),
        }
    }
}

fn refused(refusal: &Refusal, app: &App, id: String, operation: Option<&Operation>) -> ErrorBody {
    let of = |kind| ErrorBody::new(kind, refusal.to_string(), id.clone());
    let coded = |kind, code| ErrorBody { code: Some(Cow::Borrowed(code)), ..of(kind) };
    match refusal {
        Refusal::Invalid(errors) | Refusal::Proposal(ProposalError::Invalid(errors)) => invalid(errors, id, operation),
        Refusal::Unauthorized => of(ErrorType::Unauthorized),
        Refusal::NotSignedIn | Refusal::WrongPassword => of(ErrorType::AuthenticationError),
        Refusal::CrossSite(_) => coded(ErrorType::Forbidden, "cross_site"),
        Refusal::Waitlisted => of(ErrorType::AccountWaitlisted),
        Refusal::OutOfReach => of(ErrorType::Forbidden),
        Refusal::AgentPaused => coded(ErrorType::Forbidden, "agent_paused"),
        Refusal::ReadOnly(_) => coded(ErrorType::Forbidden, "external_event_readonly"),
        Refusal::PlanRequired(feature) => ErrorBody {
            required_plan: Some(feature.required_plan().as_str().into()),
            feature: Some(feature.as_str().into()),
            upgrade_url: Some(format!("{}/plans", app.settings().console_url)),
            docs_url: Some(format!("{}/docs/", app.settings().base_url)),
            ..of(ErrorType::PlanRequired)
        },
        Refusal::LimitReached { .. } => of(ErrorType::QuotaExceeded),
        Refusal::TooFast { .. } => of(ErrorType::RateLimitError),
        Refusal::TooMany { limited, .. } => of(match limited {
            Limited::SignUps | Limited::ClaimsOn | Limited::ClaimsOf => ErrorType::RateLimitError,
            Limited::Exports => ErrorType::RateLimited,
            Limited::Feedback => ErrorType::QuotaExceeded,
        }),
        Refusal::NotFound { missing, .. } => coded(
            ErrorType::NotFound,
            match missing {
                kalends_app::Missing::Agent => "agent_not_found",
                kalends_app::Missing::Calendar => "calendar_not_found",
                kalends_app::Missing::Event => "event_not_found",
                kalends_app::Missing::HoldSet => "hold_set_not_found",
                kalends_app::Missing::AvailabilityRules => "availability_rules_not_found",
                kalends_app::Missing::Key => "key_not_found",
                kalends_app::Missing::Organization => "organization_not_found",
                kalends_app::Missing::Claim => "claim_not_found",
                kalends_app::Missing::Provider => "provider_not_found",
                kalends_app::Missing::Webhook => "webhook_not_found",
                kalends_app::Missing::Delivery => "delivery_not_found",
                kalends_app::Missing::Feed => "feed_not_found",
                kalends_app::Missing::Subscription => "ical_subscription_not_found",
                kalends_app::Missing::Proposal => "proposal_not_found",
                kalends_app::Missing::BookingPage => "booking_page_not_found",
                kalends_app::Missing::Booking => "booking_not_found",
                kalends_app::Missing::ConnectionLink => "connection_link_not_found",
                kalends_app::Missing::Connection => "calendar_connection_not_found",
                kalends_app::Missing::ExternalCalendar => "external_calendar_not_found",
                kalends_app::Missing::Grant => "availability_grant_not_found",
                kalends_app::Missing::CalendarProvider => "provider_not_found",
            },
        ),
        Refusal::AgentState(_) => coded(ErrorType::Conflict, "agent_decommissioned"),
        Refusal::CalendarHasEvents(_) => coded(ErrorType::Conflict, "calendar_has_events"),
        Refusal::Hold(error) => coded(ErrorType::Conflict, hold_code(error)),
        Refusal::HoldSet(error) => coded(ErrorType::Conflict, hold_code(&error.error)),
        Refusal::Proposal(ProposalError::NotParticipant) => coded(ErrorType::Forbidden, "not_a_participant"),
        Refusal::Proposal(ProposalError::NotPending(_)) => coded(ErrorType::Conflict, "proposal_not_pending"),
        Refusal::Proposal(ProposalError::Duplicate(_)) => coded(ErrorType::Conflict, "duplicate_response"),
        Refusal::Proposal(ProposalError::NoResponses) => coded(ErrorType::Conflict, "no_responses"),
        Refusal::SlotTaken(obstacles) => obstructed(coded(ErrorType::Conflict, "slot_taken"), obstacles),
        Refusal::BookingTaken { nearest, .. } => ErrorBody {
            param: Some("start".to_owned()),
            // What is in the way is nobody's business here.
            nearest_free: Some(nearest.iter().copied().map(Slot::from).collect()),
            ..coded(ErrorType::Conflict, "slot_taken")
        },
        Refusal::BookingClosed { .. } => coded(ErrorType::QuotaExceeded, "booking_closed"),
        Refusal::BookingOver(_) => coded(ErrorType::Conflict, "booking_over"),
        Refusal::Outdated(obstacles) => obstructed(
            ErrorBody { param: Some("if_as_of".to_owned()), ..coded(ErrorType::Conflict, "stale") },
            obstacles,
        ),
        Refusal::Stale { .. } => {
            ErrorBody { param: Some("If-Match".to_owned()), ..coded(ErrorType::Conflict, "stale") }
        }
        Refusal::Resync(_) => ErrorBody { param: Some("since".to_owned()), ..coded(ErrorType::Conflict, "resync") },
        Refusal::StaleTerms(terms) => ErrorBody {
            param: Some("tos_version".to_owned()),
            current_version: Some(terms.current.clone()),
            ..of(ErrorType::TosVersionStale)
        },
        Refusal::EmailTaken => coded(ErrorType::Conflict, "email_taken"),
        Refusal::ClaimTaken => coded(ErrorType::Conflict, "claim_taken"),
        Refusal::ClaimOver => coded(ErrorType::Conflict, "claim_over"),
        Refusal::Link(error) => coded(
            ErrorType::Conflict,
            match error {
                LinkError::Ended(_) | LinkError::Removed => "link_over",
                LinkError::OtherHuman => "link_of_another",
                LinkError::NotOpened => "link_not_opened",
            },
        ),
        Refusal::NotPublished(_) => coded(ErrorType::Conflict, "publishing_unsupported"),
        Refusal::NotRefreshed(status) => coded(
            ErrorType::Conflict,
            match status {
                ConnectionStatus::Paused => "connection_paused",
                ConnectionStatus::ReauthorizationRequired => "reauthorization_required",
                ConnectionStatus::Active | ConnectionStatus::Error => "contended",
            },
        ),
        Refusal::BeingSent(_) => coded(ErrorType::Conflict, "delivery_in_flight"),
        Refusal::WebhookInactive => coded(ErrorType::Conflict, "webhook_inactive"),
        Refusal::Undelivered => coded(ErrorType::InternalError, "mail_unavailable"),
        Refusal::IdempotencyMismatch => ErrorBody {
            param: Some("Idempotency-Key".to_owned()),
            ..coded(ErrorType::ValidationError, "idempotency_mismatch")
        },
        Refusal::StillRunning | Refusal::AlreadyAnswered => coded(ErrorType::Conflict, "still_running"),
        Refusal::Contended => coded(ErrorType::Conflict, "contended"),
        Refusal::Credentials(CredentialsError::Busy) => {
            ErrorBody::new(ErrorType::InternalError, "too many are signing in now; repeat the request".to_owned(), id)
        }
        // The cause is in the log; it is not for the caller.
        Refusal::Store(StoreError::Unavailable(_)) => ErrorBody::new(
            ErrorType::InternalError,
            "the database does not answer now; repeat the request".to_owned(),
            id,
        ),
        Refusal::Credentials(CredentialsError::Failed(_))
        | Refusal::Store(StoreError::Corrupt(_) | StoreError::Failed(_)) => ErrorBody::new(
            ErrorType::InternalError,
            "something went wrong here; quote the request_id to the operator".to_owned(),
            id,
        ),
    }
}

const fn hold_code(error: &HoldError) -> &'static str {
    match error {
        HoldError::NotHeld(_) => "not_a_hold",
        HoldError::Expired(_) => "hold_expired",
        HoldError::StatusIsNotSet => "hold_status",
    }
}

/// An error that tells what is in the way and what else is free.
fn obstructed(body: ErrorBody, obstacles: &Obstacles) -> ErrorBody {
    let conflicts = obstacles.conflicts.iter().map(|(calendar, block)| Conflict::new(*calendar, *block));
    let nearest = obstacles.nearest_free.iter().map(|span| Slot::from(*span));
    ErrorBody { conflicts: Some(conflicts.collect()), nearest_free: Some(nearest.collect()), ..body }
}

/// An error of a field, cut to a bearable length: it may repeat what was sent.
fn told(error: &FieldError) -> String {
    let text = error.to_string();
    match text.char_indices().nth(FIELD_ERROR_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// The `type` of a 400, which differs between endpoints (ruling 2.2).
fn invalid_type(operation: Option<&Operation>) -> ErrorType {
    match operation.map(|operation| operation.path) {
        Some("/v1/availability") => ErrorType::BadRequest,
        Some(path) if path.starts_with("/v1/scheduling/") => ErrorType::Validation,
        _ => ErrorType::ValidationError,
    }
}

fn invalid(errors: &FieldErrors, id: String, operation: Option<&Operation>) -> ErrorBody {
    let FieldError { param, code, .. } = errors.first();
    let mut message = errors.iter().take(NAMED_MAX).map(told).collect::<Vec<_>>().join("; ");
    let more = errors.iter().count().saturating_sub(NAMED_MAX);
    if more > 0 {
        message.push_str(&format!("; and {more} more"));
    }
    ErrorBody {
        param: Some(param),
        code: code.map(|code| code.as_str().into()),
        ..ErrorBody::new(invalid_type(operation), message, id)
    }
}
