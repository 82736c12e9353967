//! The addresses of the console's pages.

use axum::response::Response;
use kalends_app::operations::Operation;
use kalends_web::Next;
use url::form_urlencoded;

use crate::reply::see_other;

/// A page or a form: its method, the template of its route, and its operation.
pub(super) type Form = (&'static str, &'static str, &'static Operation);

/// The first page.
pub(crate) const HOME: &str = "/console";
/// The page on which a user signs in.
pub(crate) const SIGN_IN: &str = "/console/sign-in";
pub(crate) const SIGN_UP: &str = "/console/sign-up";
/// The page to which a sign-in in another tab leads.
pub(crate) const SIGNED_IN: &str = "/console/signed-in";
pub(crate) const SIGN_OUT: &str = "/console/sign-out";
pub(crate) const RESEND: &str = "/console/verify/resend";
/// The page on which a user asks for an email that sets the password.
pub(crate) const FORGOT: &str = "/console/forgot";
/// The page on which a user sets the password with the code from that email.
pub(crate) const RESET: &str = "/console/reset";
/// The page to which the link of an invitation leads.
pub(crate) const INVITATIONS: &str = "/console/invitations";
/// The page on which a user accepts the invitation.
pub(crate) const JOIN: &str = "/console/join";
/// The page on which a user manages their second factor.
pub(crate) const SECURITY: &str = "/console/security";
pub(crate) const START_SECOND_FACTOR: &str = "/console/security/start";
pub(crate) const CONFIRM_SECOND_FACTOR: &str = "/console/security/confirm";
pub(crate) const RENEW_RECOVERY_CODES: &str = "/console/security/recovery-codes";
pub(crate) const REMOVE_SECOND_FACTOR: &str = "/console/security/off";
/// What waits for a decision.
pub(crate) const WAITING: &str = "/console/waiting";
/// The approvals.
pub(crate) const APPROVALS: &str = "/console/approvals";
/// One approval.
pub(crate) const APPROVAL: &str = "/console/approvals/{id}";
pub(crate) const APPROVE: &str = "/console/approvals/{id}/approve";
pub(crate) const DENY_APPROVAL: &str = "/console/approvals/{id}/deny";
pub(crate) const PROPOSALS: &str = "/console/proposals";
/// One proposal.
pub(crate) const PROPOSAL: &str = "/console/proposals/{id}";
pub(crate) const RESPOND: &str = "/console/proposals/{id}/respond";
pub(crate) const RESOLVE: &str = "/console/proposals/{id}/resolve";
pub(crate) const CANCEL_PROPOSAL: &str = "/console/proposals/{id}/cancel";
/// The calendar.
pub(crate) const CALENDAR: &str = "/console/calendar";
/// The form that creates an event.
pub(crate) const NEW_EVENT: &str = "/console/calendar/new";
pub(crate) const EVENTS: &str = "/console/calendar/events";
/// One event.
pub(crate) const EVENT: &str = "/console/calendar/events/{id}";
pub(crate) const EDIT_EVENT: &str = "/console/calendar/events/{id}/edit";
pub(crate) const CANCEL_EVENT: &str = "/console/calendar/events/{id}/cancel";
pub(crate) const MOVE_EVENT: &str = "/console/calendar/events/{id}/move";
pub(crate) const CONFIRM_HOLD: &str = "/console/calendar/events/{id}/confirm";
pub(crate) const RELEASE_HOLD: &str = "/console/calendar/events/{id}/release";
/// Why a time is not free.
pub(crate) const EXPLAIN: &str = "/console/calendar/explain";
/// The calendars with their rules.
pub(crate) const AVAILABILITY: &str = "/console/availability";
/// What is offered, and why not more.
pub(crate) const TEST_AVAILABILITY: &str = "/console/availability/test";
/// The rules of a calendar, and the form that changes them.
pub(crate) const RULES: &str = "/console/availability/{id}";
/// The form that gives a date hours of its own.
pub(crate) const RULED_DATES: &str = "/console/availability/{id}/dates";
pub(crate) const REMOVE_DATE: &str = "/console/availability/{id}/dates/remove";
pub(crate) const REMOVE_RULES: &str = "/console/availability/{id}/remove";
/// The booking pages, and the form that creates one.
pub(crate) const BOOKING_PAGES: &str = "/console/booking-pages";
pub(crate) const NEW_BOOKING_PAGE: &str = "/console/booking-pages/new";
/// What guests would see of a page that is not saved.
pub(crate) const PREVIEW_BOOKING_PAGE: &str = "/console/booking-pages/preview";
/// One booking page.
pub(crate) const BOOKING_PAGE: &str = "/console/booking-pages/{id}";
pub(crate) const EDIT_BOOKING_PAGE: &str = "/console/booking-pages/{id}/edit";
pub(crate) const SWITCH_ON_BOOKING_PAGE: &str = "/console/booking-pages/{id}/on";
pub(crate) const SWITCH_OFF_BOOKING_PAGE: &str = "/console/booking-pages/{id}/off";
pub(crate) const DELETE_BOOKING_PAGE: &str = "/console/booking-pages/{id}/delete";
/// The bookings of a page.
pub(crate) const PAGE_BOOKINGS: &str = "/console/booking-pages/{id}/bookings";
pub(crate) const CANCEL_PAGE_BOOKING: &str = "/console/booking-pages/{id}/bookings/{booking}/cancel";
/// The bookings of all pages, also of deleted ones.
pub(crate) const BOOKINGS: &str = "/console/bookings";
pub(crate) const CANCEL_BOOKING: &str = "/console/bookings/{booking}/cancel";
/// The agents.
pub(crate) const AGENTS: &str = "/console/agents";
/// The form that creates an agent.
pub(crate) const NEW_AGENT: &str = "/console/agents/new";
/// One agent, and the form that changes it.
pub(crate) const AGENT: &str = "/console/agents/{id}";
pub(crate) const PAUSE_AGENT: &str = "/console/agents/{id}/pause";
pub(crate) const RESUME_AGENT: &str = "/console/agents/{id}/resume";
pub(crate) const DECOMMISSION: &str = "/console/agents/{id}/decommission";
/// The form that creates a calendar of an agent.
pub(crate) const NEW_CALENDAR: &str = "/console/agents/{id}/calendars/new";
/// The form that changes a calendar.
pub(crate) const CALENDAR_SETTINGS: &str = "/console/calendars/{id}";
pub(crate) const DELETE_CALENDAR: &str = "/console/calendars/{id}/delete";
/// The form that creates the first agent, with a calendar and a key.
pub(crate) const FIRST_RUN: &str = "/console/start";
/// The form that creates a test event.
pub(crate) const TEST_EVENT: &str = "/console/start/test";
/// The organization, and the form that renames it.
pub(crate) const ORGANIZATION: &str = "/console/organization";
pub(crate) const ACCEPT_TERMS: &str = "/console/organization/terms";
pub(crate) const DELETE_ORGANIZATION: &str = "/console/organization/delete";
/// The page that explains the export.
pub(crate) const EXPORT: &str = "/console/export";
/// The exported file.
pub(crate) const EXPORT_FILE: &str = "/console/export/file";
/// The members, and the form that invites one.
pub(crate) const MEMBERS: &str = "/console/members";
/// The form that gives a member another role.
pub(crate) const MEMBER: &str = "/console/members/{id}";
/// Removing a member, leaving, and withdrawing an invitation.
pub(crate) const REMOVE_MEMBER: &str = "/console/members/{id}/remove";
/// The user's own account, and the form that changes the name.
pub(crate) const ACCOUNT: &str = "/console/account";
pub(crate) const ACCOUNT_PASSWORD: &str = "/console/account/password";
/// The webhooks.
pub(crate) const WEBHOOKS: &str = "/console/webhooks";
/// The form that creates a webhook.
pub(crate) const NEW_WEBHOOK: &str = "/console/webhooks/new";
/// One webhook, and the form that changes it.
pub(crate) const WEBHOOK: &str = "/console/webhooks/{id}";
pub(crate) const TEST_WEBHOOK: &str = "/console/webhooks/{id}/test";
pub(crate) const ROTATE_SECRET: &str = "/console/webhooks/{id}/rotate";
pub(crate) const DELETE_WEBHOOK: &str = "/console/webhooks/{id}/delete";
/// The deliveries of a webhook.
pub(crate) const DELIVERIES: &str = "/console/webhooks/{id}/deliveries";
/// One delivery, with its payload.
pub(crate) const DELIVERY: &str = "/console/webhooks/{id}/deliveries/{delivery}";
pub(crate) const RETRY_DELIVERY: &str = "/console/webhooks/{id}/deliveries/{delivery}/retry";
/// The audit log in sentences.
pub(crate) const ACTIVITY: &str = "/console/activity";
/// The audit log as a file for spreadsheets.
pub(crate) const ACTIVITY_FILE: &str = "/console/activity/file";
/// What was used, and what the plan allows.
pub(crate) const USAGE: &str = "/console/usage";
/// The keys, and the form that creates one.
pub(crate) const KEYS: &str = "/console/keys";
pub(crate) const NEW_KEY: &str = "/console/keys/new";
/// The question whether to replace the organization's own key.
pub(crate) const REPLACE_KEY: &str = "/console/keys/replace";
pub(crate) const REVOKE_KEY: &str = "/console/keys/{id}/revoke";
/// The user's organizations.
pub(crate) const ORGS: &str = "/console/orgs";
/// The user's claims, and the form that begins one.
pub(crate) const CLAIMS: &str = "/console/claims";
/// One claim, and the form that proves it.
pub(crate) const CLAIM: &str = "/console/claims/{id}";
pub(crate) const SWITCH: &str = "/console/orgs/{id}/switch";
/// The page on which a person grants a connector access.
pub(crate) const AUTHORIZE: &str = "/console/authorize";
/// The page to which a connection link leads.
pub(crate) const CONNECT: &str = "/console/connect";
/// The page that shows what a connection link asks for.
pub(crate) const OFFER: &str = "/console/connect/offer";
pub(crate) const START: &str = "/console/connect/offer/{provider}";
pub(crate) const DECLINE: &str = "/console/connect/decline";
/// The connected calendars, to which a provider also returns the browser.
pub(crate) const CONNECTIONS: &str = "/console/connections";
/// The forms that connect an account without a link. The provider is one that asks for consent.
pub(crate) const CONNECT_WITH: &str = "/console/connections/new/{provider}";
/// The form that connects an account at a CalDAV server.
pub(crate) const CALDAV: &str = "/console/connections/caldav";
pub(crate) const EXAMPLE: &str = "/console/connections/example";
/// The page on which a user draws the busy times of an example calendar.
pub(crate) const DRAWING: &str = "/console/connections/{id}/drawing";
/// The page on which a user chooses the calendars of an account.
pub(crate) const CALENDARS: &str = "/console/connections/{id}/calendars";
/// The events that are copied to an account.
pub(crate) const COPIES: &str = "/console/connections/{id}/copies";
/// Where the events of a calendar of ours are copied, and the form that changes it.
pub(crate) const DESTINATION: &str = "/console/copies/{id}";
pub(crate) const STOP_COPYING: &str = "/console/copies/{id}/stop";
pub(crate) const DISCONNECT: &str = "/console/connections/{id}/disconnect";
pub(crate) const REFRESH: &str = "/console/connections/{id}/refresh";
pub(crate) const PAUSE: &str = "/console/connections/{id}/pause";
pub(crate) const RESUME: &str = "/console/connections/{id}/resume";
pub(crate) const REAUTHORIZE: &str = "/console/connections/{id}/reauthorize";
pub(crate) const REVOKE: &str = "/console/grants/{id}/revoke";

/// The operator's pages. They belong to no organization, and are no operations.
pub(crate) const OPERATOR: &str = "/console/operator";
pub(crate) const OPERATOR_SIGN_OUT: &str = "/console/operator/sign-out";
pub(crate) const OPERATOR_ORGANIZATIONS: &str = "/console/operator/organizations";
/// One organization, and the form that changes its plan.
pub(crate) const OPERATOR_ORGANIZATION: &str = "/console/operator/organizations/{id}";
pub(crate) const OPERATOR_ACTIVATE: &str = "/console/operator/organizations/{id}/activate";
pub(crate) const OPERATOR_WAITLIST: &str = "/console/operator/organizations/{id}/waitlist";
/// The waiting list.
pub(crate) const OPERATOR_WAITING: &str = "/console/operator/waiting";
pub(crate) const OPERATOR_MAIL: &str = "/console/operator/mail";
pub(crate) const OPERATOR_KEYS: &str = "/console/operator/keys";
pub(crate) const OPERATOR_CONFIGURATION: &str = "/console/operator/configuration";
/// The feeds of calendars, and the first subscriptions.
pub(crate) const FEEDS: &str = "/console/feeds";
/// The feed of a calendar.
pub(crate) const FEED: &str = "/console/feeds/calendars/{id}";
pub(crate) const ROTATE_FEED: &str = "/console/feeds/calendars/{id}/rotate";
/// A calendar as a file.
pub(crate) const CALENDAR_FILE: &str = "/console/feeds/calendars/{id}/file";
/// The form for the text of a file, and the form that imports it.
pub(crate) const IMPORT: &str = "/console/feeds/calendars/{id}/import";
/// What an import would do.
pub(crate) const CHECK_IMPORT: &str = "/console/feeds/calendars/{id}/import/check";
/// The subscriptions to feeds, and the form that creates one.
pub(crate) const SUBSCRIPTIONS: &str = "/console/feeds/subscriptions";
pub(crate) const NEW_SUBSCRIPTION: &str = "/console/feeds/subscriptions/new";
/// One subscription, and the form that changes it.
pub(crate) const SUBSCRIPTION: &str = "/console/feeds/subscriptions/{id}";
pub(crate) const SYNC_SUBSCRIPTION: &str = "/console/feeds/subscriptions/{id}/sync";
pub(crate) const PAUSE_SUBSCRIPTION: &str = "/console/feeds/subscriptions/{id}/pause";
pub(crate) const RESUME_SUBSCRIPTION: &str = "/console/feeds/subscriptions/{id}/resume";
pub(crate) const DELETE_SUBSCRIPTION: &str = "/console/feeds/subscriptions/{id}/delete";

/// A path parameter as the segment of a path. It may be any text: somebody typed the address.
pub(crate) fn segment(parameter: &str) -> String {
    form_urlencoded::byte_serialize(parameter.as_bytes()).collect()
}

/// The answer to somebody who is not signed in: the page on which they sign in. It leads back to the page that they
/// opened.
pub(crate) fn to_sign_in(path: &str, query: Option<&str>) -> Response {
    // The forms of the offer lead back to it.
    let (path, query) = if path.starts_with("/console/connect/") { (OFFER, None) } else { (path, query) };
    let whole = query.map_or_else(|| path.to_owned(), |query| format!("{path}?{query}"));
    let mut to = form_urlencoded::Serializer::new(String::new());
    let next = Next::of(&whole);
    if next != Next::Home {
        to.append_pair("next", next.path());
    }
    // A failed sign-in with a provider. On another page, it is a failed consent.
    let query = query.filter(|_| next == Next::Home);
    let failed = form_urlencoded::parse(query.unwrap_or_default().as_bytes()).find(|(name, _)| name == "error");
    if let Some((name, code)) = failed {
        to.append_pair(&name, &code);
    }
    let query = to.finish();
    see_other(&if query.is_empty() { SIGN_IN.to_owned() } else { format!("{SIGN_IN}?{query}") }, None)
}
