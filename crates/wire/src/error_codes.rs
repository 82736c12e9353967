//! The codes of errors, in a single list.

use std::borrow::Cow;

use kalends_kernel::Code;
use kalends_plans::Metric;
#[cfg(feature = "schema")]
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{
        RefOr, Schema,
        schema::{ObjectBuilder, Type},
    },
};

macro_rules! error_codes {
    ($($(#[doc = $doc:literal])+ $name:ident = $text:literal [$($status:literal),+],)*) => {
        /// The code of an error. Every error has one, and a code never changes its meaning.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum ErrorCode {
            $($(#[doc = $doc])+ $name,)*
            /// A limit of the plan is reached: `<metric>_limit`.
            Limit(Metric),
        }

        impl ErrorCode {
            const PLAIN: &'static [Self] = &[$(Self::$name),*];

            /// The code in the JSON.
            pub fn name(self) -> Cow<'static, str> {
                match self {
                    $(Self::$name => Cow::Borrowed($text),)*
                    Self::Limit(metric) => Cow::Owned(format!("{}_limit", metric.as_str())),
                }
            }

            /// The HTTP statuses with which the code is returned.
            pub const fn statuses(self) -> &'static [u16] {
                match self {
                    $(Self::$name => &[$($status),+],)*
                    Self::Limit(_) => &[429],
                }
            }

            /// The meaning, as one or more sentences.
            pub fn meaning(self) -> String {
                match self {
                    $(Self::$name => concat!($($doc),+).trim().to_owned(),)*
                    Self::Limit(metric) => format!("The plan's limit `{}` is reached.", metric.as_str()),
                }
            }
        }
    };
}

error_codes! {
    /// A field or parameter is missing, has the wrong type or is out of bounds. `param` names it.
    InvalidValue = "invalid_value" [400, 422],
    /// A time has no offset, or is not RFC 3339 at all.
    InvalidTimeFormat = "invalid_time_format" [400, 422],
    /// The end is not after the start.
    EndBeforeStart = "end_before_start" [400, 422],
    /// Not a zone of the IANA time-zone database.
    InvalidTimezone = "invalid_timezone" [400, 422],
    /// The metadata is larger than 16,384 bytes.
    MetadataTooLarge = "metadata_too_large" [400, 422],
    /// The endpoint does not know the field or parameter. The message names the nearest known one.
    UnknownField = "unknown_field" [400, 422],
    /// The request names a run, but its writes cannot be taken back, or the run has 500 writes already.
    NotUndoable = "not_undoable" [400],
    /// The body is not JSON.
    InvalidJson = "invalid_json" [400],
    /// The body nests arrays and objects too deeply.
    JsonTooDeep = "json_too_deep" [400],
    /// The body contains too many JSON values.
    JsonTooLarge = "json_too_large" [400],
    /// The `Host` header is missing or repeated.
    InvalidHost = "invalid_host" [400],
    /// The body did not arrive completely.
    BodyIncomplete = "body_incomplete" [400],
    /// The request does not follow the Model Context Protocol.
    InvalidProtocol = "invalid_protocol" [400],
    /// The API key is missing or not valid.
    InvalidKey = "invalid_key" [401],
    /// There is no console session, or it has ended.
    NotSignedIn = "not_signed_in" [401],
    /// The address or the password is wrong.
    WrongPassword = "wrong_password" [401],
    /// The password is right, and the second factor is on: send a `code` too.
    SecondFactorRequired = "second_factor_required" [401],
    /// The password is right, and the `code` is wrong, used or too old.
    SecondFactorWrong = "second_factor_wrong" [401],
    /// The key's scope does not cover the request.
    OutOfReach = "out_of_reach" [403],
    /// The key's agent is paused, so its keys may only read.
    AgentPaused = "agent_paused" [403],
    /// The key's writes need approval, and this one cannot wait for it: its answer has a secret, its body is longer than
    /// 64 KiB, or it sends something.
    ApprovalNotPossible = "approval_not_possible" [403],
    /// The user's role in the organization does not allow the request.
    RoleTooLow = "role_too_low" [403],
    /// The invitation was mailed to another address than that of the user.
    OtherAddress = "other_address" [403],
    /// This server does not let everybody sign up.
    SignUpClosed = "signup_closed" [403],
    /// The organization is on the waiting list.
    AccountWaitlisted = "account_waitlisted" [403],
    /// The plan does not include the feature that `feature` names.
    FeatureNotInPlan = "feature_not_in_plan" [403],
    /// The organization has not proved its email address, so it sends no words of its own to others.
    VerificationRequired = "verification_required" [403],
    /// Imported events are read-only.
    ExternalEventReadonly = "external_event_readonly" [403],
    /// The agent is not a participant of the proposal.
    NotAParticipant = "not_a_participant" [403],
    /// A write with a session came from another site.
    CrossSite = "cross_site" [403],
    /// `Host` or `Origin` belongs to another service.
    ForeignOrigin = "foreign_origin" [403],
    /// There is no such route.
    RouteNotFound = "route_not_found" [404],
    /// There is no such agent.
    AgentNotFound = "agent_not_found" [404],
    /// There is no such calendar.
    CalendarNotFound = "calendar_not_found" [404],
    /// There is no such event.
    EventNotFound = "event_not_found" [404],
    /// There is no such run, or its writes are older than 7 days.
    RunNotFound = "run_not_found" [404],
    /// There is no such approval, or it was decided more than 30 days ago.
    ApprovalNotFound = "approval_not_found" [404],
    /// There is no such hold set.
    HoldSetNotFound = "hold_set_not_found" [404],
    /// The calendar has no availability rules.
    AvailabilityRulesNotFound = "availability_rules_not_found" [404],
    /// There is no such key.
    KeyNotFound = "key_not_found" [404],
    /// There is no such organization.
    OrganizationNotFound = "organization_not_found" [404],
    /// There is no such claim.
    ClaimNotFound = "claim_not_found" [404],
    /// There is no such provider, or it is not configured.
    ProviderNotFound = "provider_not_found" [404],
    /// There is no such webhook.
    WebhookNotFound = "webhook_not_found" [404],
    /// There is no such delivery.
    DeliveryNotFound = "delivery_not_found" [404],
    /// There is no such feed.
    FeedNotFound = "feed_not_found" [404],
    /// There is no such iCal subscription.
    IcalSubscriptionNotFound = "ical_subscription_not_found" [404],
    /// There is no such proposal.
    ProposalNotFound = "proposal_not_found" [404],
    /// There is no such booking page.
    BookingPageNotFound = "booking_page_not_found" [404],
    /// There is no such booking.
    BookingNotFound = "booking_not_found" [404],
    /// There is no such invitation.
    InvitationNotFound = "invitation_not_found" [404],
    /// This link is unknown, was replaced, or has expired.
    ReplyLinkNotFound = "reply_link_not_found" [404],
    /// There is no such connection link.
    ConnectionLinkNotFound = "connection_link_not_found" [404],
    /// There is no such calendar connection.
    CalendarConnectionNotFound = "calendar_connection_not_found" [404],
    /// There is no such human calendar.
    ExternalCalendarNotFound = "external_calendar_not_found" [404],
    /// There is no such availability grant.
    AvailabilityGrantNotFound = "availability_grant_not_found" [404],
    /// The calendar is not published to an account of yours.
    ExternalDestinationNotFound = "external_destination_not_found" [404],
    /// The organization has no such member or open invitation.
    MemberNotFound = "member_not_found" [404],
    /// The route does not support the method.
    MethodNotAllowed = "method_not_allowed" [405],
    /// The body took too long to arrive.
    BodyTooSlow = "body_too_slow" [408],
    /// The agent is decommissioned.
    AgentDecommissioned = "agent_decommissioned" [409],
    /// The calendar still has events.
    CalendarHasEvents = "calendar_has_events" [409],
    /// The calendar is too large for an iCalendar file.
    FeedTooLarge = "feed_too_large" [409],
    /// The calendar already has a subscription to the feed.
    AlreadySubscribed = "already_subscribed" [409],
    /// The event is not a hold, or not anymore.
    NotAHold = "not_a_hold" [409],
    /// The hold has expired.
    HoldExpired = "hold_expired" [409],
    /// A PATCH cannot change the status of a hold.
    HoldStatus = "hold_status" [409],
    /// Some writes of the run cannot be taken back, so none was. `in_the_way` names their resources.
    RunChanged = "run_changed" [409],
    /// The approval is decided, cancelled or expired, so it cannot be decided.
    ApprovalDecided = "approval_decided" [409],
    /// The key has as many writes that wait for approval as it may have.
    TooManyPendingApprovals = "too_many_pending_approvals" [409],
    /// The agent has placed as many holds on calendars of others as it may have at a time.
    TooManyPlacedHolds = "too_many_placed_holds" [409],
    /// Something blocks the time. `conflicts` names it, and `nearest_free` lists free times.
    SlotTaken = "slot_taken" [409],
    /// The proposal has ended.
    ProposalNotPending = "proposal_not_pending" [409],
    /// The participant has already responded.
    DuplicateResponse = "duplicate_response" [409],
    /// Nobody has responded to the proposal yet.
    NoResponses = "no_responses" [409],
    /// Every slot of the proposal has started.
    NoSlotLeft = "no_slot_left" [409],
    /// No slot of the proposal has the acceptances that `min_accepts` requires.
    TooFewAccepts = "too_few_accepts" [409],
    /// The booking can no longer be changed.
    BookingOver = "booking_over" [409],
    /// The event takes no replies any more.
    InvitationOver = "invitation_over" [409],
    /// An account with that address exists.
    EmailTaken = "email_taken" [409],
    /// The second factor is on already. Turn it off first.
    SecondFactorOn = "second_factor_on" [409],
    /// The second factor is not on, or no first code is awaited.
    SecondFactorOff = "second_factor_off" [409],
    /// The user has no password. Set one by email first.
    PasswordRequired = "password_required" [409],
    /// Another booking page has that slug.
    SlugTaken = "slug_taken" [409],
    /// Another claim is pending, or the organization has an owner.
    ClaimTaken = "claim_taken" [409],
    /// The person is already a member of the organization.
    AlreadyMember = "already_member" [409],
    /// The organization would be left without an owner.
    LastOwner = "last_owner" [409],
    /// The organization has too many members and open invitations, or the user belongs to too many organizations.
    TooManyMembers = "too_many_members" [409],
    /// The accepted terms are not the current ones. `current_version` is the version to accept.
    TermsOutdated = "terms_outdated" [409],
    /// The connection link has ended.
    LinkOver = "link_over" [409],
    /// Another user has opened the connection link.
    LinkOfAnother = "link_of_another" [409],
    /// Nobody has opened the connection link yet.
    LinkNotOpened = "link_not_opened" [409],
    /// The session has been switched to another organization than that of the form's page.
    OrganizationSwitched = "organization_switched" [409],
    /// Events cannot be published to calendars of this provider. Connect a Microsoft account.
    PublishingUnsupported = "publishing_unsupported" [409],
    /// The user has not consented to events being written to the account. Reauthorize the connection with `publishing`.
    ConsentRequired = "consent_required" [409],
    /// The calendar is published to another account, or its copies there are still being deleted. Its user deletes that
    /// destination first.
    DestinationElsewhere = "destination_elsewhere" [409],
    /// The connection is paused.
    ConnectionPaused = "connection_paused" [409],
    /// The user has to consent to the connection again, or enter its new password.
    ReauthorizationRequired = "reauthorization_required" [409],
    /// The user has as many connections to example calendars as are allowed. Delete one of them first.
    TooManyExamples = "too_many_examples" [409],
    /// A worker is sending the delivery right now.
    DeliveryInFlight = "delivery_in_flight" [409],
    /// The webhook is inactive.
    WebhookInactive = "webhook_inactive" [409],
    /// The first request with this Idempotency-Key is still in progress.
    StillRunning = "still_running" [409],
    /// Other requests kept changing the same resource. Repeat the request.
    Contended = "contended" [409],
    /// The resource has changed: `If-Match` names another version, or something relevant changed since `if_as_of`.
    Stale = "stale" [409, 412],
    /// The copy is too old to be continued. Start again without `since`.
    Resync = "resync" [410],
    /// The 24 hours are over, and the claim has taken effect.
    ClaimOver = "claim_over" [410],
    /// The body is too large.
    BodyTooLarge = "body_too_large" [413],
    /// A tools message is larger than 1 MiB and is not a call of the import.
    MessageTooLarge = "message_too_large" [413],
    /// The path and query are too long.
    UriTooLong = "uri_too_long" [414],
    /// There are too many headers, or they are too large.
    HeadersTooLarge = "headers_too_large" [431],
    /// The route does not accept the body's content type.
    UnsupportedMediaType = "unsupported_media_type" [415],
    /// The Idempotency-Key was used for a different request.
    IdempotencyMismatch = "idempotency_mismatch" [422],
    /// The feed's address must not be fetched.
    UrlRefused = "url_refused" [422],
    /// The caller sends requests faster than its rate allows.
    TooFast = "too_fast" [429],
    /// The organization is already sending another large body.
    UploadInProgress = "upload_in_progress" [429],
    /// The organization is sending too many bytes of request bodies at once.
    BodiesUnderWay = "bodies_under_way" [429],
    /// The organization has too many bytes of unread answers.
    AnswersUnread = "answers_unread" [429],
    /// The key waits for changes in too many requests at once.
    TooManyWaits = "too_many_waits" [429],
    /// Too many sign-ups with addresses of one mail domain.
    SignUpLimit = "sign_up_limit" [429],
    /// Too many claims.
    ClaimLimit = "claim_limit" [429],
    /// Too many password reset emails for one account.
    ResetLimit = "reset_limit" [429],
    /// Too many emails for proving an address.
    ProofLimit = "proof_limit" [429],
    /// Too many wrong codes of one user's second factor.
    SecondFactorLimit = "second_factor_limit" [429],
    /// Too many attempts of one user to connect an account at a calendar server.
    CalendarPasswordLimit = "calendar_password_limit" [429],
    /// The organization has used its hourly allowance of email to third parties.
    MailLimit = "mail_limit" [429],
    /// The recipient has received the maximum number of emails for this hour.
    RecipientLimit = "recipient_limit" [429],
    /// Too many exports.
    ExportLimit = "export_limit" [429],
    /// Too much feedback in one day.
    FeedbackLimit = "feedback_limit" [429],
    /// The owner of the booking page has used this month's events.
    BookingClosed = "booking_closed" [429],
    /// The service failed. Quote the `request_id` to the operator.
    Internal = "internal" [500],
    /// The calendar server does not answer, or its answer cannot be understood. Check its address, or repeat the
    /// request later.
    CalendarServerUnavailable = "calendar_server_unavailable" [502],
    /// The database is not answering.
    DatabaseUnavailable = "database_unavailable" [503],
    /// The service did not answer in time.
    DeadlineExceeded = "deadline_exceeded" [503],
    /// Too many sign-ins are in progress.
    Busy = "busy" [503],
    /// The service, or the caller's address, has reached its maximum number of connections.
    TooManyConnections = "too_many_connections" [503],
    /// The service is holding as many large bodies as it can.
    UploadsBusy = "uploads_busy" [503],
    /// An email that must be sent first was not accepted. Nothing has changed.
    MailUnavailable = "mail_unavailable" [503],
    /// Older events cannot be found by their metadata yet: they are still being indexed after an upgrade.
    MetadataNotIndexed = "metadata_not_indexed" [503],
}

impl ErrorCode {
    /// All codes, sorted by status.
    pub fn all() -> impl Iterator<Item = Self> {
        let mut all = Self::PLAIN.to_vec();
        all.extend(Metric::ALL.map(Self::Limit));
        all.sort_by_key(|code| code.statuses());
        all.into_iter()
    }
}

impl From<Code> for ErrorCode {
    fn from(code: Code) -> Self {
        match code {
            Code::InvalidTimeFormat => Self::InvalidTimeFormat,
            Code::EndBeforeStart => Self::EndBeforeStart,
            Code::InvalidTimezone => Self::InvalidTimezone,
            Code::MetadataTooLarge => Self::MetadataTooLarge,
            Code::UnknownField => Self::UnknownField,
        }
    }
}

#[cfg(feature = "schema")]
impl PartialSchema for ErrorCode {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::String)
            .enum_values(Some(Self::all().map(Self::name)))
            .description(Some("The code of an error. Every error has one, and a code never changes its meaning."))
            .build()
            .into()
    }
}

#[cfg(feature = "schema")]
impl ToSchema for ErrorCode {
    fn name() -> Cow<'static, str> {
        "ErrorCode".into()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn codes_are_snake_case_and_unique() {
        let names: Vec<String> = ErrorCode::all().map(|code| code.name().into_owned()).collect();
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
        assert!(
            names.iter().all(|name| name.bytes().all(|byte| byte == b'_' || byte.is_ascii_lowercase())),
            "{names:?}"
        );
        for code in ErrorCode::all() {
            assert!(code.meaning().ends_with('.') && !code.statuses().is_empty(), "{code:?}");
            assert!(code.statuses().iter().all(|status| (400..600).contains(status)), "{code:?}");
        }
    }

    #[test]
    fn codes_of_field_errors_match_the_kernel() {
        for code in [
            Code::InvalidTimeFormat,
            Code::EndBeforeStart,
            Code::InvalidTimezone,
            Code::MetadataTooLarge,
            Code::UnknownField,
        ] {
            assert_eq!(ErrorCode::from(code).name(), code.as_str());
        }
    }
}
