//! The operations of the API, in one table. Routes, the audit log and the OpenAPI description are derived from the
//! table or checked against it.

use kalends_accounts::{Action, reach::Touch};
use kalends_plans::IpLane;

/// One operation.
#[derive(Debug, PartialEq, Eq)]
pub struct Operation {
    /// The `operationId` in the OpenAPI description.
    pub id: &'static str,
    /// The HTTP method.
    pub method: &'static str,
    /// The path template of the route.
    pub path: &'static str,
    /// The status on success.
    pub status: u16,
    /// The kind of data it touches, which determines who may call it ([`kalends_accounts::reach`]).
    pub touch: Touch,
    /// The action in the audit log; `None` if the audit log does not record the operation.
    pub action: Option<Action>,
}

impl Operation {
    /// Whether the operation may change something, and so accepts an `Idempotency-Key`.
    pub fn writes(&self) -> bool {
        self.method != "GET"
    }

    /// Whether the operation takes `dry_run`. What a key may write does, except trying a code, because each try counts, and
    /// testing a webhook endpoint, which sends something. The operator's and the console's own operations do not, and of
    /// the public ones only those on bookings.
    pub fn takes_dry_run(&self) -> bool {
        let has_effects = [VERIFY.id, TEST_WEBHOOK.id].contains(&self.id);
        let is_for_keys = !self.is_public() && !self.is_console() && self.touch != Touch::Admin && !has_effects;
        let on_a_booking = [CREATE_BOOKING.id, CANCEL_BOOKING.id, MOVE_BOOKING.id].contains(&self.id);
        self.changes_data() && (is_for_keys || on_a_booking)
    }

    /// Whether it changes data that the audit log records. Public and console operations do so too.
    pub fn changes_data(&self) -> bool {
        self.writes() && self.action.is_some()
    }

    /// Whether it decides an approval, and so needs none.
    pub fn decides(&self) -> bool {
        [APPROVE.id, DENY_APPROVAL.id, CANCEL_APPROVAL.id].contains(&self.id)
    }

    /// Whether its writes can wait for approval. Those of a key can, if one change-set makes them, unless the answer shows
    /// a secret, which nobody but the caller may read.
    pub fn can_wait(&self) -> bool {
        let commits_in_parts = self.id == IMPORT_CALENDAR.id;
        let is_excluded = self.is_public() || self.decides() || commits_in_parts;
        self.takes_dry_run() && self.secret_fields().is_empty() && !is_excluded
    }

    /// Whether its writes can belong to a run, because an undo can take them back.
    pub fn is_undoable(&self) -> bool {
        UNDOABLE.iter().any(|operation| operation.id == self.id)
    }

    /// The fields of the answer that hold a secret, or an address with one. A dry run does not show it.
    pub fn secret_fields(&self) -> &'static [&'static str] {
        match self.id {
            id if id == CREATE_KEY.id || id == CREATE_KEY_FROM_CONSOLE.id || id == REGENERATE_KEY.id => &["key"],
            id if id == CREATE_WEBHOOK.id || id == ROTATE_WEBHOOK_SECRET.id => &["secret"],
            id if id == CREATE_CONNECTION_LINK.id => &["setup_url"],
            id if id == CREATE_CALENDAR.id || id == CREATE_AGENT_CALENDAR.id || id == ROTATE_FEED_TOKEN.id => {
                &["ical_url"]
            }
            id if id == CREATE_BOOKING.id || id == MOVE_BOOKING.id => &["cancel_url", "ics_url", "reschedule_url"],
            _ => &[],
        }
    }

    /// Whether a success may invalidate keys.
    pub fn may_end_keys(&self) -> bool {
        use Action::{AccountDelete, AgentDelete, AgentUpdate, KeyDelete, KeyRegenerate};
        let ends = [KeyDelete, KeyRegenerate, AccountDelete, AgentDelete, AgentUpdate];
        self.action.is_some_and(|action| ends.contains(&action))
    }

    /// Whether a success counts as an availability query in addition to the call. The three reads of availability do.
    /// Explaining an answer does not count again.
    pub fn reads_availability(&self) -> bool {
        [AVAILABILITY.id, AGENT_AVAILABILITY.id, CALENDAR_AVAILABILITY.id].contains(&self.id)
    }

    /// The lane in which calls are limited by address; `None` if they are not.
    pub fn lane(&self) -> Option<IpLane> {
        match self.id {
            id if id == GET_FEED.id => Some(IpLane::Feed),
            id if id == PLANS.id => Some(IpLane::Plans),
            id if id == SIGN_UP.id || id == CONSOLE_SIGN_UP.id => Some(IpLane::SignUp),
            id if id == JOIN_WAITLIST.id => Some(IpLane::Waitlist),
            id if [
                LIST_BOOKING_SLOTS.id,
                SHOW_BOOKING_PAGE.id,
                GET_BOOKING.id,
                GET_BOOKING_FILE.id,
                SHOW_CANCELLATION.id,
                SHOW_MOVE.id,
            ]
            .contains(&id) =>
            {
                Some(IpLane::BookingPage)
            }
            id if [
                SHOW_INVITATION.id,
                REPLY_TO_INVITATION.id,
                SHOW_BOOKING_EMAILS.id,
                ANSWER_BOOKING_EMAILS.id,
                SHOW_REPLY_LINK.id,
                ANSWER_REPLY_LINK.id,
            ]
            .contains(&id) =>
            {
                Some(IpLane::Rsvp)
            }
            id if [CREATE_BOOKING.id, CANCEL_BOOKING.id, MOVE_BOOKING.id].contains(&id) => Some(IpLane::Booking),
            // Operations that try a password, a code or a token.
            id if [
                SIGN_IN.id,
                CHANGE_PASSWORD.id,
                FORGOT_PASSWORD.id,
                RESET_PASSWORD.id,
                VERIFY_EMAIL.id,
                VERIFY_CLAIM.id,
                REVOKE_CLAIM.id,
                ACCEPT_INVITATION.id,
                START_SECOND_FACTOR.id,
                CONFIRM_SECOND_FACTOR.id,
                RENEW_RECOVERY_CODES.id,
                REMOVE_SECOND_FACTOR.id,
                OAUTH_START.id,
            ]
            .contains(&id) =>
            {
                Some(IpLane::SignIn)
            }
            id if id == REGISTER_CONNECTOR.id => Some(IpLane::ConnectorRegistration),
            id if id == CONNECTOR_TOKEN.id || id == REVOKE_CONNECTOR_TOKEN.id => Some(IpLane::ConnectorToken),
            _ => None,
        }
    }

    /// Whether it is an endpoint of OAuth that pages of any origin may call. It takes no cookie, so a page cannot act for its
    /// visitor there.
    pub fn is_for_any_page(&self) -> bool {
        self.id != AUTHORIZE_CONNECTOR.id && OAUTH.iter().any(|operation| operation.id == self.id)
    }

    /// Whether its errors have the form of RFC 6749, section 5.2.
    pub fn has_oauth_errors(&self) -> bool {
        self.method == "POST" && OAUTH.iter().any(|operation| operation.id == self.id)
    }

    /// Whether it redirects a browser.
    pub const fn redirects(&self) -> bool {
        self.status == 302
    }

    /// Whether it belongs to the console: it needs a session, and keys are refused.
    pub const fn is_console(&self) -> bool {
        self.touch.is_console()
    }

    /// Whether it needs no credential.
    pub fn is_public(&self) -> bool {
        self.touch == Touch::Public
    }
}

macro_rules! operations {
    ($($name:ident = $id:literal $method:literal $path:literal $status:literal $touch:ident $($action:ident)?;)*) => {
        $(
            #[doc = concat!("`", $method, " ", $path, "`")]
            pub const $name: Operation = Operation {
                id: $id,
                method: $method,
                path: $path,
                status: $status,
                touch: Touch::$touch,
                action: operations!(@action $($action)?),
            };
        )*

        /// Every operation.
        pub static ALL: &[&Operation] = &[$(&$name),*];
    };
    (@action) => { None };
    (@action $action:ident) => { Some(Action::$action) };
}

operations! {
    HEALTH = "getHealth" "GET" "/health" 200 Public;
    READY = "getReady" "GET" "/ready" 200 Public;
    OPENAPI = "getOpenApi" "GET" "/openapi.json" 200 Public;
    PLANS = "listPlans" "GET" "/v1/plans" 200 Public;
    TERMS = "getCurrentTerms" "GET" "/v1/auth/terms/current" 200 Public;
    SIGN_UP = "agentSignUp" "POST" "/v1/agent/sign-up" 200 Public AuthSignup;
    VERIFY = "agentVerify" "POST" "/v1/agent/verify" 200 Organization OrgUpdate;

    ACCEPT_TERMS = "acceptTerms" "POST" "/v1/terms/accept" 200 Organization OrgUpdate;
    JOIN_WAITLIST = "joinWaitlist" "POST" "/v1/waitlist" 201 Public AuthSignup;
    ACTIVATE_ORGANIZATION = "activateOrganization" "POST" "/v1/admin/orgs/{id}/activate" 200 Admin OrgUpdate;
    FEEDBACK = "sendFeedback" "POST" "/v1/feedback" 200 Common;
    AUDIT_LOG = "listAuditLog" "GET" "/v1/audit-log" 200 Organization;
    LIST_ORGANIZATION_CHANGES = "listChanges" "GET" "/v1/changes" 200 Organization;
    LIST_MAIL = "listMail" "GET" "/v1/mail" 200 Organization;
    GET_REPLY_TO = "getReplyTo" "GET" "/v1/mail/reply-to" 200 Organization;
    PUT_REPLY_TO = "putReplyTo" "PUT" "/v1/mail/reply-to" 200 Organization OrgUpdate;
    DELETE_REPLY_TO = "deleteReplyTo" "DELETE" "/v1/mail/reply-to" 204 Organization OrgUpdate;
    SHOW_REPLY_LINK = "showReplyLink" "GET" "/replies/{token}" 200 Public;
    ANSWER_REPLY_LINK = "answerReplyLink" "POST" "/replies/{token}" 200 Public OrgUpdate;

    CONSOLE_SIGN_UP = "signUp" "POST" "/v1/auth/signup" 201 Public AuthSignup;
    SIGN_IN = "signIn" "POST" "/v1/auth/signin" 200 Public AuthSignin;
    SIGN_OUT = "signOut" "POST" "/v1/auth/signout" 204 Account AuthSignout;
    GET_ME = "getMe" "GET" "/v1/auth/me" 200 Account;
    UPDATE_ME = "updateMe" "PATCH" "/v1/auth/me" 200 Account UserUpdate;
    CHANGE_PASSWORD = "changePassword" "POST" "/v1/auth/password" 204 Account UserUpdate;
    FORGOT_PASSWORD = "forgotPassword" "POST" "/v1/auth/password/forgot" 202 Public;
    RESET_PASSWORD = "resetPassword" "POST" "/v1/auth/password/reset" 204 Public UserUpdate;
    VERIFY_EMAIL = "verifyEmail" "POST" "/v1/auth/verify-email" 200 Public UserUpdate;
    RESEND_PROOF = "resendVerification" "POST" "/v1/auth/verify-email/resend" 202 Account UserUpdate;
    START_SECOND_FACTOR = "startSecondFactor" "POST" "/v1/auth/second-factor" 201 Account UserUpdate;
    REMOVE_SECOND_FACTOR = "removeSecondFactor" "DELETE" "/v1/auth/second-factor" 204 Account AuthSecondFactorOff;
    CONFIRM_SECOND_FACTOR = "confirmSecondFactor" "POST" "/v1/auth/second-factor/confirm" 200 Account AuthSecondFactorOn;
    RENEW_RECOVERY_CODES = "renewRecoveryCodes" "POST" "/v1/auth/second-factor/recovery-codes" 200 Account UserUpdate;
    LIST_ORGS = "listOwnOrgs" "GET" "/v1/auth/orgs" 200 Account;
    SWITCH_ORG = "switchOrg" "POST" "/v1/auth/orgs/{id}/switch" 200 Account AuthSignin;
    OAUTH_START = "startSignInWith" "GET" "/v1/auth/oauth/{provider}" 302 Public;
    OAUTH_CALLBACK = "endSignInWith" "GET" "/v1/auth/oauth/{provider}/callback" 302 Public;

    INITIATE_CLAIM = "initiateClaim" "POST" "/v1/auth/claim/initiate" 200 Account;
    VERIFY_CLAIM = "verifyClaim" "POST" "/v1/auth/claim/verify" 200 Account OrgUpdate;
    REVOKE_CLAIM = "revokeClaim" "POST" "/v1/auth/claim/{id}/revoke" 200 Public OrgUpdate;
    LIST_CLAIMS = "listClaims" "GET" "/v1/auth/claims" 200 Account;

    LIST_MEMBERS = "listMembers" "GET" "/v1/auth/members" 200 Members;
    INVITE_MEMBER = "inviteMember" "POST" "/v1/auth/members" 201 Members MemberInvite;
    UPDATE_MEMBER = "updateMember" "PATCH" "/v1/auth/members/{id}" 200 Members MemberUpdate;
    DELETE_MEMBER = "deleteMember" "DELETE" "/v1/auth/members/{id}" 204 Account MemberDelete;
    ACCEPT_INVITATION = "acceptInvitation" "POST" "/v1/auth/invitations/accept" 200 Account MemberJoin;

    UPDATE_ORG = "updateOrg" "PATCH" "/v1/auth/org" 200 Administration OrgUpdate;
    ACCEPT_TERMS_IN_CONSOLE = "acceptTermsInConsole" "PATCH" "/v1/auth/terms" 200 Administration OrgUpdate;
    EXPORT = "exportAccount" "GET" "/v1/auth/export" 200 Administration;
    DELETE_ACCOUNT = "deleteAccount" "DELETE" "/v1/auth/account" 204 Deletion AccountDelete;
    REGENERATE_KEY = "regenerateKey" "POST" "/v1/auth/keys/regenerate" 200 ConsoleKeys KeyRegenerate;
    CREATE_KEY_FROM_CONSOLE = "createScopedKeyFromConsole" "POST" "/v1/auth/keys/scoped" 201 ConsoleKeys KeyCreate;

    CREATE_AGENT = "createAgent" "POST" "/v1/agents" 201 Agents AgentCreate;
    LIST_AGENTS = "listAgents" "GET" "/v1/agents" 200 AgentDirectory;
    GET_AGENT = "getAgent" "GET" "/v1/agents/{id}" 200 AgentRecord;
    UPDATE_AGENT = "updateAgent" "PATCH" "/v1/agents/{id}" 200 Agents AgentUpdate;
    DELETE_AGENT = "deleteAgent" "DELETE" "/v1/agents/{id}" 204 Agents AgentDelete;

    CREATE_CALENDAR = "createCalendar" "POST" "/v1/calendars" 201 Agents CalendarCreate;
    CREATE_AGENT_CALENDAR = "createAgentCalendar" "POST" "/v1/agents/{agent_id}/calendars" 201 AgentData CalendarCreate;
    LIST_CALENDARS = "listCalendars" "GET" "/v1/calendars" 200 CalendarDirectory;
    LIST_AGENT_CALENDARS = "listAgentCalendars" "GET" "/v1/agents/{agent_id}/calendars" 200 AgentData;
    GET_CALENDAR = "getCalendar" "GET" "/v1/calendars/{id}" 200 AgentData;
    UPDATE_CALENDAR = "updateCalendar" "PATCH" "/v1/calendars/{id}" 200 AgentData CalendarUpdate;
    DELETE_CALENDAR = "deleteCalendar" "DELETE" "/v1/calendars/{id}" 204 AgentData CalendarDelete;
    ROTATE_FEED_TOKEN = "rotateCalendarFeedToken" "POST" "/v1/calendars/{id}/ical-token/rotate" 200 AgentData CalendarUpdate;
    GET_FEED = "getFeed" "GET" "/ical/{feed}" 200 Public;
    EXPORT_CALENDAR = "exportCalendar" "GET" "/v1/calendars/{id}/export.ics" 200 AgentData;
    GET_CONTEXT = "getCalendarContext" "GET" "/v1/calendars/{id}/context" 200 AgentData;
    LIST_CHANGES = "listCalendarChanges" "GET" "/v1/calendars/{id}/changes" 200 AgentData;

    CREATE_EVENT = "createEvent" "POST" "/v1/calendars/{cal_id}/events" 201 AgentData EventCreate;
    CREATE_EVENT_BATCH = "createEventBatch" "POST" "/v1/calendars/{cal_id}/events/batch" 201 AgentData EventCreate;
    LIST_EVENTS = "listCalendarEvents" "GET" "/v1/calendars/{cal_id}/events" 200 AgentData;
    LIST_AGENT_EVENTS = "listAgentEvents" "GET" "/v1/agents/{agent_id}/events" 200 AgentData;
    SEARCH_EVENTS = "searchEvents" "GET" "/v1/events/search" 200 AgentLists;
    GET_CALENDAR_EVENT = "getCalendarEvent" "GET" "/v1/calendars/{cal_id}/events/{id}" 200 AgentData;
    UPDATE_CALENDAR_EVENT = "updateCalendarEvent" "PATCH" "/v1/calendars/{cal_id}/events/{id}" 200 AgentData EventUpdate;
    DELETE_CALENDAR_EVENT = "deleteCalendarEvent" "DELETE" "/v1/calendars/{cal_id}/events/{id}" 204 AgentData EventDelete;
    GET_EVENT = "getEvent" "GET" "/v1/events/{id}" 200 AgentData;
    UPDATE_EVENT = "updateEvent" "PATCH" "/v1/events/{id}" 200 AgentData EventUpdate;
    DELETE_EVENT = "deleteEvent" "DELETE" "/v1/events/{id}" 204 AgentData EventDelete;
    MOVE_EVENT = "moveEvent" "POST" "/v1/events/{id}/move" 200 AgentData EventUpdate;

    CONFIRM_HOLD = "confirmHold" "PUT" "/v1/events/{id}/confirm" 200 AgentData HoldConfirm;
    RELEASE_HOLD = "releaseHold" "PUT" "/v1/events/{id}/release" 200 AgentData HoldRelease;
    CREATE_HOLD_SET = "createHoldSet" "POST" "/v1/hold-sets" 201 HoldSets HoldSetCreate;
    LIST_HOLD_SETS = "listHoldSets" "GET" "/v1/hold-sets" 200 HoldSets;
    GET_HOLD_SET = "getHoldSet" "GET" "/v1/hold-sets/{id}" 200 HoldSets;
    CONFIRM_HOLD_SET = "confirmHoldSet" "PUT" "/v1/hold-sets/{id}/confirm" 200 HoldSets HoldConfirm;
    RELEASE_HOLD_SET = "releaseHoldSet" "PUT" "/v1/hold-sets/{id}/release" 200 HoldSets HoldRelease;

    CREATE_KEY = "createScopedKey" "POST" "/v1/keys" 201 KeyCreation KeyCreate;
    LIST_KEYS = "listScopedKeys" "GET" "/v1/keys" 200 Keys;
    DELETE_KEY = "deleteScopedKey" "DELETE" "/v1/keys/{id}" 204 Keys KeyDelete;

    CREATE_WEBHOOK = "createWebhook" "POST" "/v1/webhooks" 201 Organization WebhookCreate;
    LIST_WEBHOOKS = "listWebhooks" "GET" "/v1/webhooks" 200 Organization;
    GET_WEBHOOK = "getWebhook" "GET" "/v1/webhooks/{id}" 200 Organization;
    UPDATE_WEBHOOK = "updateWebhook" "PATCH" "/v1/webhooks/{id}" 200 Organization WebhookUpdate;
    DELETE_WEBHOOK = "deleteWebhook" "DELETE" "/v1/webhooks/{id}" 204 Organization WebhookDelete;
    ROTATE_WEBHOOK_SECRET = "rotateWebhookSecret" "POST" "/v1/webhooks/{id}/rotate-secret" 200 Organization WebhookUpdate;
    TEST_WEBHOOK = "testWebhook" "POST" "/v1/webhooks/{id}/test" 200 Organization WebhookUpdate;
    LIST_DELIVERIES = "listWebhookDeliveries" "GET" "/v1/webhooks/{id}/deliveries" 200 Organization;
    RETRY_DELIVERY = "retryWebhookDelivery" "POST" "/v1/webhooks/{id}/deliveries/{delivery_id}/retry" 200 Organization WebhookUpdate;

    CREATE_SUBSCRIPTION = "createIcalSubscription" "POST" "/v1/agents/{agent_id}/ical-subscriptions" 201 AgentData IcalSubscriptionCreate;
    LIST_SUBSCRIPTIONS = "listIcalSubscriptions" "GET" "/v1/agents/{agent_id}/ical-subscriptions" 200 AgentData;
    GET_SUBSCRIPTION = "getIcalSubscription" "GET" "/v1/ical-subscriptions/{id}" 200 AgentData;
    UPDATE_SUBSCRIPTION = "updateIcalSubscription" "PATCH" "/v1/ical-subscriptions/{id}" 200 AgentData IcalSubscriptionUpdate;
    SYNC_SUBSCRIPTION = "syncIcalSubscription" "POST" "/v1/ical-subscriptions/{id}/sync" 202 AgentData IcalSubscriptionUpdate;
    DELETE_SUBSCRIPTION = "deleteIcalSubscription" "DELETE" "/v1/ical-subscriptions/{id}" 204 AgentData IcalSubscriptionDelete;
    IMPORT_CALENDAR = "importCalendar" "POST" "/v1/calendars/{id}/import" 200 AgentData EventCreate;

    CREATE_CONNECTION_LINK = "createConnectionLink" "POST" "/v1/calendars/{id}/connection-links" 201 AgentData ConnectionCreate;
    GET_CONNECTION_LINK = "getConnectionLink" "GET" "/v1/connection-links/{id}" 200 AgentData;
    CANCEL_CONNECTION_LINK = "cancelConnectionLink" "DELETE" "/v1/connection-links/{id}" 204 AgentData ConnectionRevoke;
    OPEN_CONNECTION_LINK = "openConnectionLink" "POST" "/v1/connection-links/open" 200 Account ConnectionAuthorize;
    DECLINE_CONNECTION_LINK = "declineConnectionLink" "POST" "/v1/connection-links/{id}/decline" 200 Account ConnectionRevoke;
    START_CONNECTION = "startCalendarConnection" "POST" "/v1/calendar-connections/oauth/{provider}/start" 200 Account ConnectionAuthorize;
    END_CONNECTION = "endCalendarConnection" "GET" "/v1/calendar-connections/oauth/{provider}/callback" 302 Public;
    CONNECT_CALDAV = "connectCaldav" "POST" "/v1/calendar-connections/caldav" 201 Account ConnectionAuthorize;
    CONNECT_EXAMPLE = "connectExample" "POST" "/v1/calendar-connections/example" 201 Account ConnectionAuthorize;
    LIST_CONNECTIONS = "listCalendarConnections" "GET" "/v1/calendar-connections" 200 Account;
    GET_CONNECTION = "getCalendarConnection" "GET" "/v1/calendar-connections/{id}" 200 Account;
    UPDATE_CONNECTION = "updateCalendarConnection" "PATCH" "/v1/calendar-connections/{id}" 200 Account ConnectionAuthorize;
    DELETE_CONNECTION = "deleteCalendarConnection" "DELETE" "/v1/calendar-connections/{id}" 204 Account ConnectionRevoke;
    REFRESH_CONNECTION = "refreshCalendarConnection" "POST" "/v1/calendar-connections/{id}/refresh" 202 Account ConnectionAuthorize;
    PAUSE_CONNECTION = "pauseCalendarConnection" "POST" "/v1/calendar-connections/{id}/pause" 200 Account ConnectionRevoke;
    RESUME_CONNECTION = "resumeCalendarConnection" "POST" "/v1/calendar-connections/{id}/resume" 200 Account ConnectionAuthorize;
    REAUTHORIZE_CONNECTION = "reauthorizeCalendarConnection" "POST" "/v1/calendar-connections/{id}/reauthorize" 200 Account ConnectionAuthorize;
    LIST_EXTERNAL_CALENDARS = "listExternalCalendars" "GET" "/v1/calendar-connections/{id}/external-calendars" 200 Account;
    GET_DRAWING = "getDrawing" "GET" "/v1/calendar-connections/{id}/drawing" 200 Account;
    REPLACE_DRAWING = "replaceDrawing" "PUT" "/v1/calendar-connections/{id}/drawing" 200 Account ConnectionAuthorize;
    CREATE_GRANT = "createAvailabilityGrant" "POST" "/v1/availability-grants" 201 Account ConnectionAuthorize;
    LIST_GRANTS = "listAvailabilityGrants" "GET" "/v1/availability-grants" 200 Account;
    DELETE_GRANT = "deleteAvailabilityGrant" "DELETE" "/v1/availability-grants/{id}" 204 Account ConnectionRevoke;

    GET_DESTINATION = "getExternalDestination" "GET" "/v1/calendars/{cal_id}/external-destination" 200 Account;
    PUT_DESTINATION = "putExternalDestination" "PUT" "/v1/calendars/{cal_id}/external-destination" 200 Account ExternalDestinationUpdate;
    DELETE_DESTINATION = "deleteExternalDestination" "DELETE" "/v1/calendars/{cal_id}/external-destination" 204 Account ExternalDestinationDelete;

    CREATE_PROPOSAL = "createProposal" "POST" "/v1/scheduling/proposals" 201 ProposalOrganize ProposalCreate;
    LIST_PROPOSALS = "listProposals" "GET" "/v1/scheduling/proposals" 200 ProposalList;
    GET_PROPOSAL = "getProposal" "GET" "/v1/scheduling/proposals/{id}" 200 ProposalRead;
    RESPOND_TO_PROPOSAL = "respondToProposal" "POST" "/v1/scheduling/proposals/{id}/respond" 200 ProposalRespond ProposalRespond;
    RESOLVE_PROPOSAL = "resolveProposal" "POST" "/v1/scheduling/proposals/{id}/resolve" 200 ProposalOrganize ProposalResolve;
    CANCEL_PROPOSAL = "cancelProposal" "POST" "/v1/scheduling/proposals/{id}/cancel" 200 ProposalOrganize ProposalCancel;
    GET_RUN = "getRun" "GET" "/v1/runs/{name}" 200 HoldSets;
    UNDO_RUN = "undoRun" "POST" "/v1/runs/{name}/undo" 200 HoldSets RunUndo;
    LIST_APPROVALS = "listApprovals" "GET" "/v1/approvals" 200 AgentLists;
    GET_APPROVAL = "getApproval" "GET" "/v1/approvals/{id}" 200 AgentData;
    APPROVE = "approve" "POST" "/v1/approvals/{id}/approve" 200 Decisions ApprovalApprove;
    DENY_APPROVAL = "denyApproval" "POST" "/v1/approvals/{id}/deny" 200 Decisions ApprovalDeny;
    CANCEL_APPROVAL = "cancelApproval" "POST" "/v1/approvals/{id}/cancel" 200 AgentData ApprovalCancel;
    CREATE_BOOKING_PAGE = "createBookingPage" "POST" "/v1/booking-pages" 201 AgentData BookingPageCreate;
    LIST_BOOKING_PAGES = "listBookingPages" "GET" "/v1/booking-pages" 200 AgentLists;
    GET_BOOKING_PAGE = "getBookingPage" "GET" "/v1/booking-pages/{id}" 200 AgentData;
    UPDATE_BOOKING_PAGE = "updateBookingPage" "PATCH" "/v1/booking-pages/{id}" 200 AgentData BookingPageUpdate;
    DELETE_BOOKING_PAGE = "deleteBookingPage" "DELETE" "/v1/booking-pages/{id}" 204 AgentData BookingPageDelete;
    LIST_BOOKINGS = "listBookings" "GET" "/v1/booking-pages/{id}/bookings" 200 AgentData;
    CANCEL_BOOKING_AS_HOST = "cancelBookingAsHost" "POST" "/v1/bookings/{id}/cancel" 200 AgentData BookingCancel;
    LIST_BOOKING_SLOTS = "listBookingSlots" "GET" "/book/{slug}/slots" 200 Public;
    SHOW_BOOKING_PAGE = "showBookingPage" "GET" "/book/{slug}" 200 Public;
    BOOKING_ASSET = "getBookingAsset" "GET" "/book/assets/{name}" 200 Public;
    SHOW_CANCELLATION = "showCancellation" "GET" "/book/{slug}/bookings/{token}/cancel" 200 Public;
    SHOW_MOVE = "showMove" "GET" "/book/{slug}/bookings/{token}/move" 200 Public;
    GET_BOOKING_FILE = "getBookingFile" "GET" "/book/{slug}/bookings/{token}/event.ics" 200 Public;
    SHOW_BOOKING_EMAILS = "showBookingEmails" "GET" "/book/emails/{token}" 200 Public;
    ANSWER_BOOKING_EMAILS = "answerBookingEmails" "POST" "/book/emails/{token}" 200 Public BookingPageConsent;
    CREATE_BOOKING = "createBooking" "POST" "/book/{slug}" 201 Public BookingCreate;
    GET_BOOKING = "getBooking" "GET" "/book/{slug}/bookings/{token}" 200 Public;
    CANCEL_BOOKING = "cancelBooking" "POST" "/book/{slug}/bookings/{token}/cancel" 200 Public BookingCancel;
    MOVE_BOOKING = "moveBooking" "POST" "/book/{slug}/bookings/{token}/move" 200 Public BookingMove;

    SHOW_INVITATION = "showInvitation" "GET" "/rsvp/{token}" 200 Public;
    REPLY_TO_INVITATION = "replyToInvitation" "POST" "/rsvp/{token}" 200 Public EventReply;

    USAGE = "getUsage" "GET" "/v1/usage" 200 Common;

    AGENT_AVAILABILITY = "getAgentAvailability" "GET" "/v1/agents/{id}/availability" 200 Availability;
    CALENDAR_AVAILABILITY = "getCalendarAvailability" "GET" "/v1/calendars/{id}/availability" 200 Availability;
    GET_RULES = "getAvailabilityRules" "GET" "/v1/calendars/{id}/availability-rules" 200 AgentData;
    PUT_RULES = "putAvailabilityRules" "PUT" "/v1/calendars/{id}/availability-rules" 200 AgentData AvailabilityRulesUpdate;
    DELETE_RULES = "deleteAvailabilityRules" "DELETE" "/v1/calendars/{id}/availability-rules" 204 AgentData AvailabilityRulesDelete;
    AVAILABILITY = "getAvailability" "GET" "/v1/availability" 200 JointAvailability;
    EXPLAIN_AVAILABILITY = "explainAvailability" "GET" "/v1/availability/explain" 200 AgentData;
}

/// The operations whose writes can be taken back.
pub static UNDOABLE: &[&Operation] = &[
    &CREATE_EVENT,
    &CREATE_EVENT_BATCH,
    &UPDATE_CALENDAR_EVENT,
    &DELETE_CALENDAR_EVENT,
    &UPDATE_EVENT,
    &DELETE_EVENT,
    &MOVE_EVENT,
    &CONFIRM_HOLD,
    &RELEASE_HOLD,
    &CREATE_HOLD_SET,
    &CONFIRM_HOLD_SET,
    &RELEASE_HOLD_SET,
    &CREATE_PROPOSAL,
];

/// The endpoint of the tools. It is not in [`ALL`]: each call of a tool is counted, executed and recorded as one of
/// those operations.
pub static MCP: Operation =
    Operation { id: "mcp", method: "POST", path: "/mcp", status: 200, touch: Touch::Common, action: None };

/// Says to clients of OAuth where the tools are, and who grants access to them (RFC 9728).
pub const TOOLS_METADATA: Operation =
    oauth("getProtectedResourceMetadata", "GET", "/.well-known/oauth-protected-resource", 200);
/// [`TOOLS_METADATA`], at the address that belongs to that of the tools.
pub const TOOLS_METADATA_OF_PATH: Operation =
    oauth("getProtectedResourceMetadataOfTools", "GET", "/.well-known/oauth-protected-resource/mcp", 200);
/// Says to clients of OAuth which endpoints there are (RFC 8414).
pub const OAUTH_METADATA: Operation =
    oauth("getAuthorizationServerMetadata", "GET", "/.well-known/oauth-authorization-server", 200);
/// Registers a client of OAuth (RFC 7591).
pub const REGISTER_CONNECTOR: Operation = oauth("registerConnector", "POST", "/oauth/register", 201);
/// Leads a browser to the page on which a person grants a client access.
pub const AUTHORIZE_CONNECTOR: Operation = oauth("authorizeConnector", "GET", "/oauth/authorize", 302);
/// Exchanges a code or a refresh token for tokens.
pub const CONNECTOR_TOKEN: Operation = oauth("getConnectorToken", "POST", "/oauth/token", 200);
/// Ends the access of a client (RFC 7009).
pub const REVOKE_CONNECTOR_TOKEN: Operation = oauth("revokeConnectorToken", "POST", "/oauth/revoke", 200);

/// The endpoints of OAuth. They are not in [`ALL`]: clients learn of them from [`OAUTH_METADATA`], and their requests,
/// answers and errors have the forms that the standards say.
pub static OAUTH: &[&Operation] = &[
    &TOOLS_METADATA,
    &TOOLS_METADATA_OF_PATH,
    &OAUTH_METADATA,
    &REGISTER_CONNECTOR,
    &AUTHORIZE_CONNECTOR,
    &CONNECTOR_TOKEN,
    &REVOKE_CONNECTOR_TOKEN,
];

const fn oauth(id: &'static str, method: &'static str, path: &'static str, status: u16) -> Operation {
    Operation { id, method, path, status, touch: Touch::Public, action: None }
}

/// The operation of a method and route template, if there is one.
pub fn find(method: &str, path: &str) -> Option<&'static Operation> {
    let mut all = ALL.iter().chain(OAUTH);
    all.find(|operation| operation.method == method && operation.path == path).copied()
}

/// The operation with that identifier.
pub fn named(id: &str) -> Option<&'static Operation> {
    ALL.iter().find(|operation| operation.id == id).copied()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn identifiers_and_routes_are_unique() {
        let all: Vec<_> = ALL.iter().chain(OAUTH).collect();
        let ids: BTreeSet<_> = all.iter().map(|operation| operation.id).collect();
        let routes: BTreeSet<_> = all.iter().map(|operation| (operation.method, operation.path)).collect();
        assert_eq!((ids.len(), routes.len()), (all.len(), all.len()));
    }

    #[test]
    fn what_can_be_taken_back_can_be_tried() {
        for operation in UNDOABLE {
            assert!(
                ALL.contains(operation) && operation.is_undoable() && operation.takes_dry_run(),
                "{}",
                operation.id
            );
        }
        assert!(UNDO_RUN.takes_dry_run() && !UNDO_RUN.is_undoable());
    }

    #[test]
    fn every_operation_that_writes_is_audited() {
        for operation in ALL {
            // Feedback is not stored. A claim's initiation does not concern an organization yet. A forgotten password
            // may be for an address that no user has.
            let silent = [FEEDBACK.id, INITIATE_CLAIM.id, FORGOT_PASSWORD.id];
            let changes = operation.writes() && !silent.contains(&operation.id);
            assert_eq!(changes, operation.action.is_some(), "{}", operation.id);
        }
    }
}
