//! The one place that decides which error a refusal becomes.

use axum::response::{IntoResponse, Response};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use kalends_accounts::{Limited, MemberError};
use kalends_app::{
    App, GrantError, Obstacles, Refusal,
    operations::{self, Operation},
    ports::CredentialsError,
};
use kalends_bridge::{ConnectionStatus, DestinationError, LinkError};
use kalends_calendars::HoldError;
use kalends_kernel::{FieldError, FieldErrors, RequestId, StoreError};
use kalends_proposals::ProposalError;
use kalends_runs::{Reason, ResourceKind};
use kalends_wire::{
    AwaitsApproval, Conflict, ErrorBody, ErrorCode, ErrorEnvelope, ErrorType, InTheWay, RunResource, Slot, UndoObstacle,
};

use crate::{
    limits::{
        BODIES_MAX, BODY_MAX, BYTES_A_SECOND, DEPTH_MAX, FREE, HEADER_BYTES_MAX, HEADERS_MAX, PLACES, URI_MAX,
        VALUES_MAX, WITHIN,
    },
    oauth_error,
};

/// The maximum number of field errors in a message. The others are only counted.
const NAMED_MAX: usize = 5;
/// The maximum length of a field error in a message, in characters.
const FIELD_ERROR_MAX: usize = 380;
/// The `Retry-After` of a request for which there was no place or no memory, in seconds.
const PLACE_RETRY: i64 = 5;
/// How many seconds until it is worth asking again whether metadata is indexed.
const INDEXING_RETRY: i64 = 10;

/// Why a request failed. [`crate::envelope`] turns it into a response, because it knows the request's identifier.
#[derive(Debug)]
pub(crate) enum ApiError {
    /// A use case refused the request.
    Refused(Refusal),
    /// The body is not JSON.
    NotJson(String),
    /// The body's content type is not JSON.
    MediaType,
    /// The body's content type is not that of a file.
    FileType,
    /// The body is larger than this many bytes.
    TooLarge(usize),
    /// A tools message is larger than other bodies may be, not counting an imported file.
    LargeMessage,
    /// The JSON nests too deeply.
    TooDeep,
    /// The JSON contains too many values.
    TooManyValues,
    /// The organization is already sending another large body.
    Uploading,
    /// All places for large bodies are taken.
    NoPlace,
    /// The organization holds too many bytes of unread answers. Contains the maximum.
    AnswersUnread(usize),
    /// The organization is sending too many bytes of bodies at once.
    BodiesUnderWay,
    /// The feed's address must not be fetched. Contains the errors of other fields too.
    FeedUrl(FieldErrors),
    /// The body did not arrive completely.
    BodyLost,
    /// The body took too long to arrive.
    BodyLate,
    /// The target of the request is too long.
    UriTooLong,
    /// There are too many headers, or they are too large.
    HeadersTooLarge,
    /// `Host` is missing, repeated or invalid.
    Host,
    /// There is no route with that path.
    NoRoute,
    /// The route does not support the method.
    Method,
    /// `Host` belongs to another service, or `Origin` to another site.
    Elsewhere,
    /// The request violates the tools protocol, for this reason.
    Protocol(String),
    /// The session has been switched to another organization than that of the form's page.
    Switched,
    /// The failure of a request that was made for this one, which this one passes on.
    Relayed { status: StatusCode, error: Box<ErrorBody>, retry_after: Option<i64> },
    /// The service took too long.
    Deadline,
    /// A handler panicked, or an answer could not be built.
    Internal,
}

/// The error envelope for a connection that is refused, with status 503, before a request is read.
pub fn refused_connection(why: &str, request: RequestId) -> String {
    let message = format!("{why}; close connections that are not needed, or wait");
    let (kind, code) = (ErrorType::RateLimitError, ErrorCode::TooManyConnections);
    let error = ErrorBody::new(kind, code, message, request.to_string());
    serde_json::to_string(&ErrorEnvelope { error }).unwrap_or_default()
}

impl<T: Into<Refusal>> From<T> for ApiError {
    fn from(refusal: T) -> Self {
        Self::Refused(refusal.into())
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        // A write that waits is an answer, and not a failure.
        if let Self::Refused(Refusal::AwaitsApproval(approval)) = self {
            let body = AwaitsApproval { approval: *approval };
            return (StatusCode::ACCEPTED, axum::Json(body)).into_response();
        }
        let mut response = self.status().into_response();
        response.extensions_mut().insert(std::sync::Arc::new(self));
        response
    }
}

impl ApiError {
    /// The error for invalid fields of a subscription. An invalid address has its own status.
    pub(crate) fn of_subscription(errors: FieldErrors) -> Self {
        if errors.iter().any(|error| error.param == "url") { Self::FeedUrl(errors) } else { errors.into() }
    }

    /// The error for a failure that the framework answered with only a status.
    pub(crate) const fn of_status(status: StatusCode) -> Self {
        match status {
            StatusCode::NOT_FOUND => Self::NoRoute,
            StatusCode::METHOD_NOT_ALLOWED => Self::Method,
            StatusCode::PAYLOAD_TOO_LARGE => Self::TooLarge(BODY_MAX),
            StatusCode::UNSUPPORTED_MEDIA_TYPE => Self::MediaType,
            StatusCode::SERVICE_UNAVAILABLE => Self::Deadline,
            StatusCode::BAD_REQUEST => Self::BodyLost,
            StatusCode::URI_TOO_LONG => Self::UriTooLong,
            StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE => Self::HeadersTooLarge,
            _ => Self::Internal,
        }
    }

    pub(crate) fn status(&self) -> StatusCode {
        match self {
            Self::Relayed { status, .. } => *status,
            Self::NotJson(_)
            | Self::BodyLost
            | Self::Protocol(_)
            | Self::TooDeep
            | Self::TooManyValues
            | Self::Host => StatusCode::BAD_REQUEST,
            Self::UriTooLong => StatusCode::URI_TOO_LONG,
            Self::HeadersTooLarge => StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
            Self::MediaType | Self::FileType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::TooLarge(_) | Self::LargeMessage => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Uploading | Self::AnswersUnread(_) | Self::BodiesUnderWay => StatusCode::TOO_MANY_REQUESTS,
            Self::FeedUrl(_) => StatusCode::UNPROCESSABLE_ENTITY,
            Self::NoRoute => StatusCode::NOT_FOUND,
            Self::Method => StatusCode::METHOD_NOT_ALLOWED,
            Self::Elsewhere => StatusCode::FORBIDDEN,
            Self::Switched => StatusCode::CONFLICT,
            Self::BodyLate => StatusCode::REQUEST_TIMEOUT,
            Self::Deadline | Self::NoPlace => StatusCode::SERVICE_UNAVAILABLE,
            Self::Internal => StatusCode::INTERNAL_SERVER_ERROR,
            Self::Refused(refusal) => match refusal {
                Refusal::Invalid(_)
                | Refusal::Proposal(ProposalError::Invalid(_))
                | Refusal::NotUndoable(_)
                | Refusal::RunFull(_) => StatusCode::BAD_REQUEST,
                Refusal::Unauthorized
                | Refusal::ConnectorElsewhere
                | Refusal::NotSignedIn
                | Refusal::WrongPassword
                | Refusal::SecondFactorRequired(_)
                | Refusal::SecondFactorWrong => StatusCode::UNAUTHORIZED,
                // It is answered before it would be an error.
                Refusal::AwaitsApproval(_) => StatusCode::ACCEPTED,
                Refusal::CrossSite(_)
                | Refusal::ApprovalNotPossible(_)
                | Refusal::Waitlisted
                | Refusal::SignUpClosed
                | Refusal::Unverified
                | Refusal::OutOfReach
                | Refusal::AgentPaused
                | Refusal::RoleTooLow
                | Refusal::Member(MemberError::NotManager | MemberError::AboveOwn | MemberError::OtherAddress)
                | Refusal::PlanRequired(_)
                | Refusal::Proposal(ProposalError::NotParticipant)
                | Refusal::ReadOnly(_) => StatusCode::FORBIDDEN,
                Refusal::NotFound { .. } => StatusCode::NOT_FOUND,
                Refusal::AgentState(_)
                | Refusal::CalendarHasEvents(_)
                | Refusal::AlreadySubscribed(_)
                | Refusal::FeedTooLarge
                | Refusal::Hold(_)
                | Refusal::HoldSet(_)
                | Refusal::PlacedHolds { .. }
                | Refusal::Proposal(
                    ProposalError::NotPending(_)
                    | ProposalError::Duplicate(_)
                    | ProposalError::NoResponses
                    | ProposalError::NoSlotLeft
                    | ProposalError::TooFewAccepts(_)
                    | ProposalError::AllDeclined
                    | ProposalError::NotAllDeclined
                    | ProposalError::NotExpired(_),
                )
                | Refusal::SlotTaken(_)
                | Refusal::BookingTaken { .. }
                | Refusal::BookingOver(_)
                | Refusal::InvitationOver(_)
                | Refusal::Outdated(_)
                | Refusal::StaleTerms(_)
                | Refusal::EmailTaken
                | Refusal::SecondFactorOn
                | Refusal::SecondFactorOff
                | Refusal::PasswordRequired
                | Refusal::SlugTaken
                | Refusal::ClaimTaken
                | Refusal::Member(
                    MemberError::LastOwner
                    | MemberError::AlreadyMember
                    | MemberError::Full
                    | MemberError::TooManyMemberships,
                )
                | Refusal::Link(_)
                | Refusal::NotPublished(_)
                | Refusal::Destination(_)
                | Refusal::NotRefreshed(_)
                | Refusal::UnreadableConnection
                | Refusal::TooManyExamples
                | Refusal::BeingSent(_)
                | Refusal::WebhookInactive
                | Refusal::StillRunning
                | Refusal::AlreadyAnswered
                | Refusal::InTheWay { .. }
                | Refusal::ApprovalDecided(_)
                | Refusal::TooManyPending
                | Refusal::Contended => StatusCode::CONFLICT,
                Refusal::Stale { .. } | Refusal::ApprovalStale => StatusCode::PRECONDITION_FAILED,
                Refusal::Resync(_) | Refusal::FeedResync(_) | Refusal::ClaimOver => StatusCode::GONE,
                Refusal::CalendarServer => StatusCode::BAD_GATEWAY,
                Refusal::Undelivered | Refusal::MetadataNotIndexed => StatusCode::SERVICE_UNAVAILABLE,
                Refusal::IdempotencyMismatch => StatusCode::UNPROCESSABLE_ENTITY,
                Refusal::LimitReached { .. }
                | Refusal::BookingClosed { .. }
                | Refusal::TooFast { .. }
                | Refusal::TooMany { .. }
                | Refusal::TooManyWaits { .. }
                | Refusal::FeedsUnread => StatusCode::TOO_MANY_REQUESTS,
                Refusal::Credentials(CredentialsError::Busy) | Refusal::Store(StoreError::Unavailable(_)) => {
                    StatusCode::SERVICE_UNAVAILABLE
                }
                Refusal::Credentials(CredentialsError::Failed(_))
                | Refusal::Store(StoreError::Corrupt(_) | StoreError::Failed(_)) => StatusCode::INTERNAL_SERVER_ERROR,
            },
        }
    }

    /// Renders the error as a response, in the envelope that all errors share, or in the form that clients of OAuth read.
    pub(crate) fn render(&self, app: &App, request: RequestId, operation: Option<&Operation>) -> Response {
        let error = self.body(app, request.to_string(), operation);
        if operation.is_some_and(Operation::has_oauth_errors) {
            let status = self.status();
            let mut response =
                oauth_error::answer(status, GrantError::new(oauth_error::code_of(status), error.message));
            self.add_retry_after(response.headers_mut());
            return response;
        }
        debug_assert!(
            ErrorCode::all()
                .any(|code| error.code.as_ref() == Some(&code.name())
                    && code.statuses().contains(&self.status().as_u16())),
            "{:?} does not come with {}",
            error.code,
            self.status()
        );
        let body = ErrorEnvelope { error };
        let mut response = (self.status(), axum::Json(body)).into_response();
        self.add_retry_after(response.headers_mut());
        if self.status() == StatusCode::UNAUTHORIZED {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }

    /// Sets `Retry-After` if it is known when the request may be repeated.
    pub(crate) fn add_retry_after(&self, headers: &mut HeaderMap) {
        if let Some(seconds) = self.retry_after()
            && let Ok(value) = HeaderValue::from_str(&seconds.to_string())
        {
            headers.insert(header::RETRY_AFTER, value);
        }
    }

    const fn retry_after(&self) -> Option<i64> {
        match self {
            Self::Relayed { retry_after, .. } => *retry_after,
            Self::Refused(
                Refusal::LimitReached { retry_after, .. }
                | Refusal::BookingClosed { retry_after }
                | Refusal::TooFast { retry_after, .. }
                | Refusal::TooMany { retry_after, .. },
            ) => Some(*retry_after),
            Self::Uploading
            | Self::NoPlace
            | Self::AnswersUnread(_)
            | Self::BodiesUnderWay
            | Self::Refused(Refusal::FeedsUnread | Refusal::TooManyWaits { .. }) => Some(PLACE_RETRY),
            Self::Deadline
            | Self::Refused(
                Refusal::StillRunning
                | Refusal::Contended
                | Refusal::Credentials(CredentialsError::Busy)
                | Refusal::Store(StoreError::Unavailable(_)),
            ) => Some(1),
            Self::Refused(Refusal::MetadataNotIndexed) => Some(INDEXING_RETRY),
            _ => None,
        }
    }

    /// The body of the response, in the envelope.
    pub(crate) fn body(&self, app: &App, id: String, operation: Option<&Operation>) -> ErrorBody {
        let plain = |kind, code, message: &str| ErrorBody::new(kind, code, message.to_owned(), id.clone());
        let malformed = |code, message: &str| plain(ErrorType::InvalidRequest, code, message);
        match self {
            Self::NotJson(why) => malformed(ErrorCode::InvalidJson, &format!("the body must be JSON: {why}")),
            Self::BodyLost => malformed(ErrorCode::BodyIncomplete, "the request could not be read completely"),
            Self::MediaType => malformed(
                ErrorCode::UnsupportedMediaType,
                "the body must be JSON: send it with Content-Type: application/json",
            ),
            Self::FileType => malformed(
                ErrorCode::UnsupportedMediaType,
                "the body must be an iCalendar file: send it with Content-Type: text/calendar",
            ),
            Self::TooLarge(max) => {
                malformed(ErrorCode::BodyTooLarge, &format!("the body must be at most {max} bytes long"))
            }
            Self::FeedUrl(errors) => invalid(errors, ErrorCode::UrlRefused, id, operation),
            Self::UriTooLong => malformed(
                ErrorCode::UriTooLong,
                &format!("the path and query must be at most {URI_MAX} bytes long; send less, or in several requests"),
            ),
            Self::HeadersTooLarge => malformed(
                ErrorCode::HeadersTooLarge,
                &format!(
                    "a request may have at most {HEADERS_MAX} headers, and {HEADER_BYTES_MAX} bytes of them; send fewer"
                ),
            ),
            Self::Host => malformed(
                ErrorCode::InvalidHost,
                "there must be exactly one Host header, a host name or address with an optional port",
            ),
            Self::NoRoute => plain(
                ErrorType::NotFound,
                ErrorCode::RouteNotFound,
                "there is no such route; GET /openapi.json lists them all",
            ),
            Self::Method => malformed(
                ErrorCode::MethodNotAllowed,
                "the route does not support this method; the Allow header lists those it supports",
            ),
            Self::Elsewhere => plain(
                ErrorType::Forbidden,
                ErrorCode::ForeignOrigin,
                "Host must be that of KALENDS_BASE_URL or of this machine, and Origin, if sent, must match it",
            ),
            Self::Protocol(why) => {
                malformed(ErrorCode::InvalidProtocol, &format!("the Model Context Protocol does not allow it: {why}"))
            }
            Self::BodyLate => malformed(
                ErrorCode::BodyTooSlow,
                &format!(
                    "the body must arrive at {} KB a second or faster after its first {} seconds, and within {} \
                     seconds in total; send it again",
                    BYTES_A_SECOND / 1_000,
                    FREE.as_secs(),
                    WITHIN.as_secs()
                ),
            ),
            Self::LargeMessage => malformed(
                ErrorCode::MessageTooLarge,
                &format!(
                    "a message must be at most {BODY_MAX} bytes long; only a tools/call of {} may be longer, by the \
                     file in its argument content",
                    operations::IMPORT_CALENDAR.id
                ),
            ),
            Self::TooDeep => malformed(
                ErrorCode::JsonTooDeep,
                &format!("the body must nest at most {DEPTH_MAX} arrays and objects; send it with fewer levels"),
            ),
            Self::TooManyValues => malformed(
                ErrorCode::JsonTooLarge,
                &format!("the body must contain at most {VALUES_MAX} JSON values; send it in several requests"),
            ),
            Self::Uploading => plain(
                ErrorType::RateLimitError,
                ErrorCode::UploadInProgress,
                &format!(
                    "your organization may send one body of more than {BODY_MAX} bytes at a time; repeat the request \
                     when the other one is finished"
                ),
            ),
            Self::AnswersUnread(most) => plain(
                ErrorType::RateLimitError,
                ErrorCode::AnswersUnread,
                &format!(
                    "your organization may have {} MiB of unread answers at a time; read them completely or close \
                     their connections, then repeat the request",
                    most >> 20
                ),
            ),
            Self::BodiesUnderWay => plain(
                ErrorType::RateLimitError,
                ErrorCode::BodiesUnderWay,
                &format!(
                    "your organization may send {} MiB of request bodies at a time; repeat the request when others are \
                     finished",
                    BODIES_MAX >> 20
                ),
            ),
            Self::NoPlace => plain(
                ErrorType::InternalError,
                ErrorCode::UploadsBusy,
                &format!(
                    "the service holds at most {PLACES} bodies of more than {BODY_MAX} bytes at a time; repeat the \
                     request later"
                ),
            ),
            Self::Switched => plain(
                ErrorType::Conflict,
                ErrorCode::OrganizationSwitched,
                "the session has been switched to another organization than that of the form's page; open the page again",
            ),
            Self::Deadline => plain(
                ErrorType::InternalError,
                ErrorCode::DeadlineExceeded,
                "the service did not answer in time; repeat the request",
            ),
            Self::Internal => plain(
                ErrorType::InternalError,
                ErrorCode::Internal,
                "something went wrong here; quote the request_id to the operator",
            ),
            Self::Relayed { error, .. } => ErrorBody { request_id: id, ..ErrorBody::clone(error) },
            Self::Refused(refusal) => refused(refusal, app, id, operation),
        }
    }
}

fn refused(refusal: &Refusal, app: &App, id: String, operation: Option<&Operation>) -> ErrorBody {
    let coded = |kind, code| ErrorBody::new(kind, code, refusal.to_string(), id.clone());
    match refusal {
        Refusal::Invalid(errors) | Refusal::Proposal(ProposalError::Invalid(errors)) => {
            invalid(errors, ErrorCode::InvalidValue, id, operation)
        }
        Refusal::Unauthorized | Refusal::ConnectorElsewhere => coded(ErrorType::Unauthorized, ErrorCode::InvalidKey),
        Refusal::NotSignedIn => coded(ErrorType::AuthenticationError, ErrorCode::NotSignedIn),
        Refusal::WrongPassword => coded(ErrorType::AuthenticationError, ErrorCode::WrongPassword),
        Refusal::SecondFactorRequired(_) => coded(ErrorType::AuthenticationError, ErrorCode::SecondFactorRequired),
        Refusal::SecondFactorWrong => coded(ErrorType::AuthenticationError, ErrorCode::SecondFactorWrong),
        Refusal::SecondFactorOn => coded(ErrorType::Conflict, ErrorCode::SecondFactorOn),
        Refusal::SecondFactorOff => coded(ErrorType::Conflict, ErrorCode::SecondFactorOff),
        Refusal::PasswordRequired => coded(ErrorType::Conflict, ErrorCode::PasswordRequired),
        Refusal::CrossSite(_) => coded(ErrorType::Forbidden, ErrorCode::CrossSite),
        Refusal::SignUpClosed => coded(ErrorType::Forbidden, ErrorCode::SignUpClosed),
        Refusal::Waitlisted => coded(ErrorType::AccountWaitlisted, ErrorCode::AccountWaitlisted),
        Refusal::ApprovalNotPossible(_) => coded(ErrorType::Forbidden, ErrorCode::ApprovalNotPossible),
        Refusal::ApprovalDecided(_) => coded(ErrorType::Conflict, ErrorCode::ApprovalDecided),
        Refusal::TooManyPending => coded(ErrorType::Conflict, ErrorCode::TooManyPendingApprovals),
        Refusal::OutOfReach => coded(ErrorType::Forbidden, ErrorCode::OutOfReach),
        Refusal::AgentPaused => coded(ErrorType::Forbidden, ErrorCode::AgentPaused),
        Refusal::RoleTooLow | Refusal::Member(MemberError::NotManager | MemberError::AboveOwn) => {
            coded(ErrorType::Forbidden, ErrorCode::RoleTooLow)
        }
        Refusal::Member(MemberError::OtherAddress) => coded(ErrorType::Forbidden, ErrorCode::OtherAddress),
        Refusal::Member(MemberError::LastOwner) => coded(ErrorType::Conflict, ErrorCode::LastOwner),
        Refusal::Member(MemberError::AlreadyMember) => coded(ErrorType::Conflict, ErrorCode::AlreadyMember),
        Refusal::Member(MemberError::Full | MemberError::TooManyMemberships) => {
            coded(ErrorType::Conflict, ErrorCode::TooManyMembers)
        }
        Refusal::ReadOnly(_) => coded(ErrorType::Forbidden, ErrorCode::ExternalEventReadonly),
        Refusal::PlanRequired(feature) => ErrorBody {
            required_plan: Some(feature.required_plan().as_str().into()),
            feature: Some(feature.as_str().into()),
            upgrade_url: Some(app.settings().upgrade_url.clone()),
            docs_url: Some(format!("{}/docs/", app.settings().base_url)),
            ..coded(ErrorType::PlanRequired, ErrorCode::FeatureNotInPlan)
        },
        Refusal::LimitReached { metric, .. } => coded(ErrorType::QuotaExceeded, ErrorCode::Limit(*metric)),
        Refusal::TooFast { .. } => coded(ErrorType::RateLimitError, ErrorCode::TooFast),
        Refusal::TooMany { limited, .. } => match limited {
            Limited::SignUps | Limited::PublicSignUps | Limited::ReservedSignUps => {
                coded(ErrorType::RateLimitError, ErrorCode::SignUpLimit)
            }
            Limited::ClaimsOn | Limited::ClaimsOf => coded(ErrorType::RateLimitError, ErrorCode::ClaimLimit),
            Limited::Resets => coded(ErrorType::RateLimitError, ErrorCode::ResetLimit),
            Limited::Proofs => coded(ErrorType::RateLimitError, ErrorCode::ProofLimit),
            Limited::SecondFactor => coded(ErrorType::RateLimitError, ErrorCode::SecondFactorLimit),
            Limited::CalendarPasswords => coded(ErrorType::RateLimitError, ErrorCode::CalendarPasswordLimit),
            Limited::MailTo(_) => coded(ErrorType::RateLimitError, ErrorCode::RecipientLimit),
            Limited::Mail(_) | Limited::TestMail | Limited::ApprovalMail => {
                coded(ErrorType::QuotaExceeded, ErrorCode::MailLimit)
            }
            Limited::Exports | Limited::AuditFiles => coded(ErrorType::RateLimited, ErrorCode::ExportLimit),
            Limited::Feedback => coded(ErrorType::QuotaExceeded, ErrorCode::FeedbackLimit),
        },
        Refusal::NotFound { missing, .. } => coded(
            ErrorType::NotFound,
            match missing {
                kalends_app::Missing::Agent => ErrorCode::AgentNotFound,
                kalends_app::Missing::Calendar => ErrorCode::CalendarNotFound,
                kalends_app::Missing::Event => ErrorCode::EventNotFound,
                kalends_app::Missing::HoldSet => ErrorCode::HoldSetNotFound,
                kalends_app::Missing::AvailabilityRules => ErrorCode::AvailabilityRulesNotFound,
                kalends_app::Missing::Key => ErrorCode::KeyNotFound,
                kalends_app::Missing::Organization => ErrorCode::OrganizationNotFound,
                kalends_app::Missing::Claim => ErrorCode::ClaimNotFound,
                kalends_app::Missing::Provider => ErrorCode::ProviderNotFound,
                kalends_app::Missing::Webhook => ErrorCode::WebhookNotFound,
                kalends_app::Missing::Delivery => ErrorCode::DeliveryNotFound,
                kalends_app::Missing::Feed => ErrorCode::FeedNotFound,
                kalends_app::Missing::Subscription => ErrorCode::IcalSubscriptionNotFound,
                kalends_app::Missing::Proposal => ErrorCode::ProposalNotFound,
                kalends_app::Missing::BookingPage => ErrorCode::BookingPageNotFound,
                kalends_app::Missing::Booking => ErrorCode::BookingNotFound,
                kalends_app::Missing::Invitation => ErrorCode::InvitationNotFound,
                kalends_app::Missing::ReplyLink => ErrorCode::ReplyLinkNotFound,
                kalends_app::Missing::ConnectionLink => ErrorCode::ConnectionLinkNotFound,
                kalends_app::Missing::Connection => ErrorCode::CalendarConnectionNotFound,
                kalends_app::Missing::ExternalCalendar => ErrorCode::ExternalCalendarNotFound,
                kalends_app::Missing::Grant => ErrorCode::AvailabilityGrantNotFound,
                kalends_app::Missing::Destination => ErrorCode::ExternalDestinationNotFound,
                kalends_app::Missing::CalendarProvider => ErrorCode::ProviderNotFound,
                kalends_app::Missing::Member => ErrorCode::MemberNotFound,
                kalends_app::Missing::Run => ErrorCode::RunNotFound,
                kalends_app::Missing::Approval => ErrorCode::ApprovalNotFound,
            },
        ),
        Refusal::AgentState(_) => coded(ErrorType::Conflict, ErrorCode::AgentDecommissioned),
        Refusal::CalendarHasEvents(_) => coded(ErrorType::Conflict, ErrorCode::CalendarHasEvents),
        Refusal::FeedTooLarge => coded(ErrorType::Conflict, ErrorCode::FeedTooLarge),
        Refusal::FeedsUnread => coded(ErrorType::RateLimitError, ErrorCode::AnswersUnread),
        Refusal::TooManyWaits { .. } => coded(ErrorType::RateLimitError, ErrorCode::TooManyWaits),
        Refusal::AlreadySubscribed(_) => {
            ErrorBody { param: Some("url".to_owned()), ..coded(ErrorType::Conflict, ErrorCode::AlreadySubscribed) }
        }
        Refusal::Hold(error) => coded(ErrorType::Conflict, hold_code(error)),
        Refusal::PlacedHolds { .. } => coded(ErrorType::Conflict, ErrorCode::TooManyPlacedHolds),
        Refusal::HoldSet(error) => coded(ErrorType::Conflict, hold_code(&error.error)),
        Refusal::Proposal(ProposalError::NotParticipant) => coded(ErrorType::Forbidden, ErrorCode::NotAParticipant),
        Refusal::Proposal(
            ProposalError::NotPending(_) | ProposalError::NotAllDeclined | ProposalError::NotExpired(_),
        ) => coded(ErrorType::Conflict, ErrorCode::ProposalNotPending),
        Refusal::Proposal(ProposalError::Duplicate(_)) => coded(ErrorType::Conflict, ErrorCode::DuplicateResponse),
        Refusal::Proposal(ProposalError::NoResponses) => coded(ErrorType::Conflict, ErrorCode::NoResponses),
        // The use cases end a proposal as its verdict says, so no request ends in `AllDeclined`, `NotAllDeclined` or
        // `NotExpired`.
        Refusal::Proposal(ProposalError::NoSlotLeft | ProposalError::AllDeclined) => {
            coded(ErrorType::Conflict, ErrorCode::NoSlotLeft)
        }
        Refusal::Proposal(ProposalError::TooFewAccepts(_)) => coded(ErrorType::Conflict, ErrorCode::TooFewAccepts),
        Refusal::SlotTaken(obstacles) => obstructed(coded(ErrorType::Conflict, ErrorCode::SlotTaken), obstacles),
        Refusal::NotUndoable(_) | Refusal::RunFull(_) => ErrorBody {
            param: Some(kalends_runs::HEADER.to_owned()),
            ..coded(invalid_type(operation), ErrorCode::NotUndoable)
        },
        Refusal::InTheWay { resources, .. } => ErrorBody {
            in_the_way: Some(resources.iter().map(in_the_way).collect()),
            ..coded(ErrorType::Conflict, ErrorCode::RunChanged)
        },
        Refusal::BookingTaken { nearest, .. } => ErrorBody {
            param: Some("start".to_owned()),
            // A guest must not learn what blocks the time.
            nearest_free: Some(nearest.iter().copied().map(Slot::from).collect()),
            ..coded(ErrorType::Conflict, ErrorCode::SlotTaken)
        },
        Refusal::BookingClosed { .. } => coded(ErrorType::QuotaExceeded, ErrorCode::BookingClosed),
        Refusal::BookingOver(_) => coded(ErrorType::Conflict, ErrorCode::BookingOver),
        Refusal::InvitationOver(_) => coded(ErrorType::Conflict, ErrorCode::InvitationOver),
        Refusal::Unverified => coded(ErrorType::Forbidden, ErrorCode::VerificationRequired),
        Refusal::Outdated(obstacles) => obstructed(
            ErrorBody { param: Some("if_as_of".to_owned()), ..coded(ErrorType::Conflict, ErrorCode::Stale) },
            obstacles,
        ),
        Refusal::Stale { .. } => {
            ErrorBody { param: Some("If-Match".to_owned()), ..coded(ErrorType::Conflict, ErrorCode::Stale) }
        }
        Refusal::ApprovalStale => coded(ErrorType::Conflict, ErrorCode::Stale),
        Refusal::Resync(_) | Refusal::FeedResync(_) => {
            ErrorBody { param: Some("since".to_owned()), ..coded(ErrorType::Conflict, ErrorCode::Resync) }
        }
        Refusal::StaleTerms(terms) => ErrorBody {
            param: Some("tos_version".to_owned()),
            current_version: Some(terms.current.clone()),
            ..coded(ErrorType::TosVersionStale, ErrorCode::TermsOutdated)
        },
        Refusal::EmailTaken => coded(ErrorType::Conflict, ErrorCode::EmailTaken),
        Refusal::SlugTaken => {
            ErrorBody { param: Some("slug".to_owned()), ..coded(ErrorType::Conflict, ErrorCode::SlugTaken) }
        }
        Refusal::ClaimTaken => coded(ErrorType::Conflict, ErrorCode::ClaimTaken),
        Refusal::ClaimOver => coded(ErrorType::Conflict, ErrorCode::ClaimOver),
        Refusal::Link(error) => coded(
            ErrorType::Conflict,
            match error {
                LinkError::Ended(_) | LinkError::Removed => ErrorCode::LinkOver,
                LinkError::OtherHuman => ErrorCode::LinkOfAnother,
                LinkError::NotOpened => ErrorCode::LinkNotOpened,
            },
        ),
        Refusal::NotPublished(_) => coded(ErrorType::Conflict, ErrorCode::PublishingUnsupported),
        Refusal::Destination(error) => coded(
            ErrorType::Conflict,
            match error {
                DestinationError::Provider => ErrorCode::PublishingUnsupported,
                DestinationError::Consent => ErrorCode::ConsentRequired,
                DestinationError::Elsewhere => ErrorCode::DestinationElsewhere,
            },
        ),
        Refusal::NotRefreshed(status) => coded(
            ErrorType::Conflict,
            match status {
                ConnectionStatus::Paused => ErrorCode::ConnectionPaused,
                ConnectionStatus::ReauthorizationRequired => ErrorCode::ReauthorizationRequired,
                ConnectionStatus::Active | ConnectionStatus::Error => ErrorCode::Contended,
            },
        ),
        Refusal::UnreadableConnection => coded(ErrorType::Conflict, ErrorCode::ReauthorizationRequired),
        Refusal::TooManyExamples => coded(ErrorType::Conflict, ErrorCode::TooManyExamples),
        Refusal::CalendarServer => coded(ErrorType::InternalError, ErrorCode::CalendarServerUnavailable),
        Refusal::BeingSent(_) => coded(ErrorType::Conflict, ErrorCode::DeliveryInFlight),
        Refusal::WebhookInactive => coded(ErrorType::Conflict, ErrorCode::WebhookInactive),
        Refusal::Undelivered => coded(ErrorType::InternalError, ErrorCode::MailUnavailable),
        Refusal::MetadataNotIndexed => coded(ErrorType::InternalError, ErrorCode::MetadataNotIndexed),
        Refusal::IdempotencyMismatch => ErrorBody {
            param: Some("Idempotency-Key".to_owned()),
            ..coded(ErrorType::ValidationError, ErrorCode::IdempotencyMismatch)
        },
        Refusal::StillRunning | Refusal::AlreadyAnswered => coded(ErrorType::Conflict, ErrorCode::StillRunning),
        Refusal::Contended => coded(ErrorType::Conflict, ErrorCode::Contended),
        Refusal::Credentials(CredentialsError::Busy) => ErrorBody::new(
            ErrorType::InternalError,
            ErrorCode::Busy,
            "too many sign-ins are in progress; repeat the request".to_owned(),
            id,
        ),
        // The cause is in the log. The caller must not see it.
        Refusal::Store(StoreError::Unavailable(_)) => ErrorBody::new(
            ErrorType::InternalError,
            ErrorCode::DatabaseUnavailable,
            "the database is not answering; repeat the request".to_owned(),
            id,
        ),
        // A write that waits never gets here: it is answered with 202.
        Refusal::AwaitsApproval(_)
        | Refusal::Credentials(CredentialsError::Failed(_))
        | Refusal::Store(StoreError::Corrupt(_) | StoreError::Failed(_)) => ErrorBody::new(
            ErrorType::InternalError,
            ErrorCode::Internal,
            "something went wrong here; quote the request_id to the operator".to_owned(),
            id,
        ),
    }
}

const fn hold_code(error: &HoldError) -> ErrorCode {
    match error {
        HoldError::NotHeld(_) => ErrorCode::NotAHold,
        HoldError::Expired(_) => ErrorCode::HoldExpired,
        HoldError::StatusIsNotSet => ErrorCode::HoldStatus,
    }
}

/// A resource that keeps a run from being taken back.
fn in_the_way(found: &kalends_app::InTheWay) -> InTheWay {
    InTheWay {
        resource_type: match found.resource.kind() {
            ResourceKind::Event => RunResource::Event,
            ResourceKind::Proposal => RunResource::Proposal,
        },
        resource_id: found.id.clone(),
        reason: match found.reason {
            Reason::Changed => UndoObstacle::Changed,
            Reason::TimeTaken => UndoObstacle::TimeTaken,
            Reason::CalendarGone => UndoObstacle::CalendarDeleted,
        },
    }
}

/// Adds what blocks the time, and free times near it.
fn obstructed(body: ErrorBody, obstacles: &Obstacles) -> ErrorBody {
    let conflicts = obstacles.conflicts.iter().map(|(calendar, block)| Conflict::new(*calendar, *block));
    let nearest = obstacles.nearest_free.iter().map(|span| Slot::from(*span));
    let starts = obstacles.occurrences.iter().map(|span| span.start());
    ErrorBody {
        param: obstacles.item.map(|index| format!("events[{index}]")).or(body.param),
        conflicts: Some(conflicts.collect()),
        nearest_free: Some(nearest.collect()),
        occurrences: (!obstacles.occurrences.is_empty()).then(|| starts.collect()),
        ..body
    }
}

/// A field error, truncated to a reasonable length because it may repeat the input.
fn field_message(error: &FieldError) -> String {
    let text = error.to_string();
    match text.char_indices().nth(FIELD_ERROR_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// The `type` of a 400, which differs between endpoints.
fn invalid_type(operation: Option<&Operation>) -> ErrorType {
    match operation.map(|operation| operation.path) {
        Some("/v1/availability") => ErrorType::BadRequest,
        Some(path) if path.starts_with("/v1/scheduling/") => ErrorType::Validation,
        _ => ErrorType::ValidationError,
    }
}

/// The error for invalid fields. `otherwise` is its code if the first field error has none.
fn invalid(errors: &FieldErrors, otherwise: ErrorCode, id: String, operation: Option<&Operation>) -> ErrorBody {
    let FieldError { param, code, .. } = errors.first();
    let mut message = errors.iter().take(NAMED_MAX).map(field_message).collect::<Vec<_>>().join("; ");
    let more = errors.iter().count().saturating_sub(NAMED_MAX);
    if more > 0 {
        message.push_str(&format!("; and {more} more"));
    }
    let code = code.map_or(otherwise, ErrorCode::from);
    ErrorBody { param: Some(param), ..ErrorBody::new(invalid_type(operation), code, message, id) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOCS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/use/errors.md");
    const BEGIN: &str = "<!-- The table of codes is written by a test. -->\n";
    const END: &str = "<!-- The end of the table. -->\n";
    const RENEW: &str = "KALENDS_RENEW_EXAMPLES=1 cargo test -p kalends-http --lib the_docs_list_every_code";

    fn table() -> String {
        let row = |code: ErrorCode| {
            let statuses: Vec<String> = code.statuses().iter().map(u16::to_string).collect();
            format!("| `{}` | {} | {} |\n", code.name(), statuses.join(", "), code.meaning())
        };
        format!("\n| code | status | meaning |\n|---|---|---|\n{}\n", ErrorCode::all().map(row).collect::<String>())
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a test may read a variable that controls it")]
    fn the_docs_list_every_code() {
        let text = std::fs::read_to_string(DOCS).unwrap();
        let (before, rest) = text.split_once(BEGIN).unwrap();
        let (written, after) = rest.split_once(END).unwrap();
        if std::env::var("KALENDS_RENEW_EXAMPLES").is_ok_and(|value| value == "1") {
            return std::fs::write(DOCS, [before, BEGIN, &table(), END, after].concat()).unwrap();
        }
        assert_eq!(written, table(), "docs/use/errors.md lists other codes; update its table with\n    {RENEW}");
    }
}
