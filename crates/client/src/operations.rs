//! The operations of the API. The methods are generated from one table.

use std::fmt::Display;

use kalends_wire::{
    AcceptTerms, Accepted, AcrossAgents, Agent, AgentAvailability, AnswerBookingEmails, AnswerReplyLink,
    AnsweredReplyLink, Approval, Attendee, AuditLog, AvailabilityOf, AvailabilityRules, Booked, Booking, BookingPage,
    BookingSlots, Calendar, CalendarAvailability, CalendarContext, CancelBooking, ChangeEvent, Changes, ConfirmHold,
    ConnectionLink, CreateAgent, CreateBookingPage, CreateCalendar, CreateConnectionLink, CreateEvent,
    CreateEventBatch, CreateHoldSet, CreateProposal, CreateScopedKey, CreateSubscription, CreateWebhook,
    DeleteCalendar, DeleteEvent, DeleteSubscription, Delivery, DeliveryList, DenyApproval, Event, EventBatch,
    ExplainAvailability, Explanation, Feedback, FoundEvents, GuestBooking, Health, HoldSet, ImportReport, JoinWaitlist,
    JoinedWaitlist, List, ListAgents, ListApprovals, ListAudit, ListBookings, ListCalendars, ListChanges,
    ListDeliveries, ListEvents, ListHoldSets, ListMail, ListOrganizationChanges, ListProposals, ListSubscriptions,
    MailList, MoveBooking, MoveEvent, NewConnectionLink, NewScopedKey, NewWebhook, NotifyConsent, OrganizationChanges,
    OwnerOfRun, Paging, Plans, Proposal, ProposalSummary, PutAvailabilityRules, PutReplyTo, ReplyTo, Resolution,
    RespondToProposal, Run, ScopedKeys, SearchEvents, ShowEvents, ShownAgent, ShownCalendar, SignUp, SignUpAnswer,
    SlotsOfPage, SubmitBooking, SubmitReply, Subscription, Syncing, Terms, TermsAccepted, TestedDelivery, UndoRun,
    UndoneRun, UpdateAgent, UpdateBookingPage, UpdateCalendar, UpdateEvent, UpdateSubscription, UpdateWebhook, Usage,
    Verified, Verify, WaitForApproval, Webhook, WebhookPaging, WebhookSecret,
};
use reqwest::Method;
use serde_json::Value;

use crate::{Call, Client};

/// An operation that a client can call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Operation {
    /// The `operationId` in the service's OpenAPI description.
    pub id: &'static str,
    /// The method's name in [`Client`].
    pub name: &'static str,
    /// The HTTP method.
    pub method: &'static str,
    /// The route's template.
    pub path: &'static str,
    /// The parameters of the template, in the order of the method's arguments.
    pub parameters: &'static [&'static str],
}

/// Generates the table and the methods. The parentheses contain the path parameters and, after semicolons, everything
/// else that is sent: `query` and `body` are types of `kalends_wire`, `file` is iCalendar text.
macro_rules! operations {
    ($(
        $(#[$doc:meta])+
        $id:ident $name:ident: $method:ident $path:literal
            ($($parameter:ident),* $(; query: $query:ty)? $(; body: $body:ty)? $(; file: $file:ty)?) -> $answer:ty;
    )*) => {
        /// Every operation for which [`Client`] has a method.
        pub const OPERATIONS: &[Operation] = &[$(Operation {
            id: stringify!($id),
            name: stringify!($name),
            method: stringify!($method),
            path: $path,
            parameters: &[$(stringify!($parameter)),*],
        },)*];

        impl Client {$(
            $(#[$doc])+
            ///
            #[doc = concat!("`", stringify!($method), " ", $path, "`")]
            pub fn $name(
                &self
                $(, $parameter: impl Display)*
                $(, query: &$query)?
                $(, body: &$body)?
                $(, file: &$file)?
            ) -> Call<$answer> {
                let call = self.call(Method::$method, $path, &[$(&$parameter),*]);
                $(let call = call.query::<$query>(query);)?
                $(let call = call.body::<$body>(body);)?
                $(let call = call.file(file as &$file);)?
                call
            }
        )*}
    };
}

operations! {
    /// Checks that the service is running.
    getHealth get_health: GET "/health" () -> Health;
    /// Checks that the service can answer, which includes its database.
    getReady get_ready: GET "/ready" () -> Health;
    /// Returns the OpenAPI description of the API.
    getOpenApi get_open_api: GET "/openapi.json" () -> Value;
    /// Lists the plans.
    listPlans list_plans: GET "/v1/plans" () -> Plans;
    /// Returns the terms in force.
    getCurrentTerms get_current_terms: GET "/v1/auth/terms/current" () -> Terms;
    /// Signs an agent up.
    agentSignUp agent_sign_up: POST "/v1/agent/sign-up" (; body: SignUp) -> SignUpAnswer;
    /// Verifies the organization with the code from the email.
    agentVerify agent_verify: POST "/v1/agent/verify" (; body: Verify) -> Verified;
    /// Accepts the current terms for the organization.
    acceptTerms accept_terms: POST "/v1/terms/accept" (; body: AcceptTerms) -> TermsAccepted;
    /// Joins the waiting list.
    joinWaitlist join_waitlist: POST "/v1/waitlist" (; body: JoinWaitlist) -> JoinedWaitlist;
    /// Sends feedback to the operator of the service.
    sendFeedback send_feedback: POST "/v1/feedback" (; body: Feedback) -> Accepted;
    /// Lists the audit log, newest entry first.
    listAuditLog list_audit_log: GET "/v1/audit-log" (; query: ListAudit) -> AuditLog;
    /// Lists what changed in the organization since a token, and waits for changes if asked to.
    listChanges list_changes: GET "/v1/changes" (; query: ListOrganizationChanges) -> OrganizationChanges;
    /// Lists the emails that are sent for the organization, newest first.
    listMail list_mail: GET "/v1/mail" (; query: ListMail) -> MailList;
    /// Returns the address that replies to the organization's emails go to.
    getReplyTo get_reply_to: GET "/v1/mail/reply-to" () -> ReplyTo;
    /// Asks an address by email whether replies to the organization's emails may go to it.
    putReplyTo put_reply_to: PUT "/v1/mail/reply-to" (; body: PutReplyTo) -> ReplyTo;
    /// Removes the addresses for replies.
    deleteReplyTo delete_reply_to: DELETE "/v1/mail/reply-to" () -> ();
    /// Records whether replies to an organization's emails may go to the address that the link was mailed to.
    answerReplyLink answer_reply_link: POST "/replies/{token}" (token; body: AnswerReplyLink) -> AnsweredReplyLink;
    /// Creates an agent.
    createAgent create_agent: POST "/v1/agents" (; body: CreateAgent) -> Agent;
    /// Lists agents, oldest first.
    listAgents list_agents: GET "/v1/agents" (; query: ListAgents) -> List<ShownAgent>;
    /// Returns an agent.
    getAgent get_agent: GET "/v1/agents/{id}" (id) -> ShownAgent;
    /// Changes an agent.
    updateAgent update_agent: PATCH "/v1/agents/{id}" (id; body: UpdateAgent) -> Agent;
    /// Decommissions an agent.
    deleteAgent delete_agent: DELETE "/v1/agents/{id}" (id) -> ();
    /// Creates a calendar that the organization shares.
    createCalendar create_calendar: POST "/v1/calendars" (; body: CreateCalendar) -> Calendar;
    /// Creates a calendar that an agent owns.
    createAgentCalendar create_agent_calendar: POST "/v1/agents/{agent_id}/calendars"
        (agent_id; body: CreateCalendar) -> Calendar;
    /// Lists the calendars of all agents, oldest first.
    listCalendars list_calendars: GET "/v1/calendars" (; query: ListCalendars) -> List<ShownCalendar>;
    /// Lists the calendars of an agent, oldest first.
    listAgentCalendars list_agent_calendars: GET "/v1/agents/{agent_id}/calendars"
        (agent_id; query: Paging) -> List<Calendar>;
    /// Returns a calendar.
    getCalendar get_calendar: GET "/v1/calendars/{id}" (id) -> Calendar;
    /// Changes a calendar.
    updateCalendar update_calendar: PATCH "/v1/calendars/{id}" (id; body: UpdateCalendar) -> Calendar;
    /// Deletes a calendar and all of its events.
    deleteCalendar delete_calendar: DELETE "/v1/calendars/{id}" (id; query: DeleteCalendar) -> ();
    /// Replaces the address of a calendar's feed.
    rotateCalendarFeedToken rotate_calendar_feed_token: POST "/v1/calendars/{id}/ical-token/rotate" (id) -> Calendar;
    /// Returns a calendar's public feed as iCalendar text. `feed` is the last part of the calendar's `ical_url`.
    getFeed get_feed: GET "/ical/{feed}" (feed) -> String;
    /// Exports a calendar as iCalendar text.
    exportCalendar export_calendar: GET "/v1/calendars/{id}/export.ics" (id) -> String;
    /// Returns the current, next and recent events of a calendar.
    getCalendarContext get_calendar_context: GET "/v1/calendars/{id}/context"
        (id; query: ShowEvents) -> CalendarContext;
    /// Lists what changed on a calendar, to keep a copy up to date.
    listCalendarChanges list_calendar_changes: GET "/v1/calendars/{id}/changes" (id; query: ListChanges) -> Changes;
    /// Creates an event.
    createEvent create_event: POST "/v1/calendars/{cal_id}/events"
        (cal_id; query: ShowEvents; body: CreateEvent) -> Event;
    /// Creates up to 100 events. Either all of them are created or none.
    createEventBatch create_event_batch: POST "/v1/calendars/{cal_id}/events/batch"
        (cal_id; query: ShowEvents; body: CreateEventBatch) -> EventBatch;
    /// Lists the events of a calendar, sorted by start.
    listCalendarEvents list_calendar_events: GET "/v1/calendars/{cal_id}/events"
        (cal_id; query: ListEvents) -> List<Event>;
    /// Lists the events on all calendars of an agent, sorted by start.
    listAgentEvents list_agent_events: GET "/v1/agents/{agent_id}/events" (agent_id; query: ListEvents) -> List<Event>;
    /// Finds events by words in their titles, descriptions and locations.
    searchEvents search_events: GET "/v1/events/search" (; query: SearchEvents) -> FoundEvents;
    /// Returns an event.
    getCalendarEvent get_calendar_event: GET "/v1/calendars/{cal_id}/events/{id}"
        (cal_id, id; query: ShowEvents) -> Event;
    /// Changes an event.
    updateCalendarEvent update_calendar_event: PATCH "/v1/calendars/{cal_id}/events/{id}"
        (cal_id, id; query: ChangeEvent; body: UpdateEvent) -> Event;
    /// Deletes an event. With `occurrence_start`, cancels only that occurrence and returns the series.
    deleteCalendarEvent delete_calendar_event: DELETE "/v1/calendars/{cal_id}/events/{id}"
        (cal_id, id; query: DeleteEvent) -> Option<Event>;
    /// Returns an event by its identifier alone.
    getEvent get_event: GET "/v1/events/{id}" (id; query: ShowEvents) -> Event;
    /// Changes an event by its identifier alone.
    updateEvent update_event: PATCH "/v1/events/{id}" (id; query: ChangeEvent; body: UpdateEvent) -> Event;
    /// Deletes an event by its identifier alone. With `occurrence_start`, cancels only that occurrence and returns
    /// the series.
    deleteEvent delete_event: DELETE "/v1/events/{id}" (id; query: DeleteEvent) -> Option<Event>;
    /// Moves an event, or a whole series, to another calendar.
    moveEvent move_event: POST "/v1/events/{id}/move" (id; query: ShowEvents; body: MoveEvent) -> Event;
    /// Confirms a hold.
    confirmHold confirm_hold: PUT "/v1/events/{id}/confirm" (id; query: ShowEvents; body: ConfirmHold) -> Event;
    /// Releases a hold.
    releaseHold release_hold: PUT "/v1/events/{id}/release" (id; query: ShowEvents) -> Event;
    /// Places a hold on each of several calendars. Either all of them are placed or none.
    createHoldSet create_hold_set: POST "/v1/hold-sets" (; query: ShowEvents; body: CreateHoldSet) -> HoldSet;
    /// Lists hold sets, oldest first.
    listHoldSets list_hold_sets: GET "/v1/hold-sets" (; query: ListHoldSets) -> List<HoldSet>;
    /// Returns a hold set: its holds, and the events that they became.
    getHoldSet get_hold_set: GET "/v1/hold-sets/{id}" (id; query: ShowEvents) -> HoldSet;
    /// Confirms all holds of a set. Either all of them are confirmed or none.
    confirmHoldSet confirm_hold_set: PUT "/v1/hold-sets/{id}/confirm"
        (id; query: ShowEvents; body: ConfirmHold) -> HoldSet;
    /// Releases all holds of a set.
    releaseHoldSet release_hold_set: PUT "/v1/hold-sets/{id}/release" (id; query: ShowEvents) -> HoldSet;
    /// Creates a key that is scoped to one agent.
    createScopedKey create_scoped_key: POST "/v1/keys" (; body: CreateScopedKey) -> NewScopedKey;
    /// Lists the agent-scoped keys, oldest first.
    listScopedKeys list_scoped_keys: GET "/v1/keys" () -> ScopedKeys;
    /// Revokes an agent-scoped key.
    deleteScopedKey delete_scoped_key: DELETE "/v1/keys/{id}" (id) -> ();
    /// Creates a webhook endpoint.
    createWebhook create_webhook: POST "/v1/webhooks" (; body: CreateWebhook) -> NewWebhook;
    /// Lists webhook endpoints, oldest first.
    listWebhooks list_webhooks: GET "/v1/webhooks" (; query: WebhookPaging) -> List<Webhook>;
    /// Returns a webhook endpoint.
    getWebhook get_webhook: GET "/v1/webhooks/{id}" (id) -> Webhook;
    /// Changes a webhook endpoint.
    updateWebhook update_webhook: PATCH "/v1/webhooks/{id}" (id; body: UpdateWebhook) -> Webhook;
    /// Deletes a webhook endpoint.
    deleteWebhook delete_webhook: DELETE "/v1/webhooks/{id}" (id) -> ();
    /// Replaces the secret of a webhook endpoint.
    rotateWebhookSecret rotate_webhook_secret: POST "/v1/webhooks/{id}/rotate-secret" (id) -> WebhookSecret;
    /// Sends a test message to a webhook endpoint.
    testWebhook test_webhook: POST "/v1/webhooks/{id}/test" (id) -> TestedDelivery;
    /// Lists the deliveries of a webhook endpoint, oldest message first.
    listWebhookDeliveries list_webhook_deliveries: GET "/v1/webhooks/{id}/deliveries"
        (id; query: ListDeliveries) -> DeliveryList;
    /// Sends a delivery again.
    retryWebhookDelivery retry_webhook_delivery: POST "/v1/webhooks/{id}/deliveries/{delivery_id}/retry"
        (id, delivery_id) -> Delivery;
    /// Subscribes a calendar to an iCal feed.
    createIcalSubscription create_ical_subscription: POST "/v1/agents/{agent_id}/ical-subscriptions"
        (agent_id; body: CreateSubscription) -> Subscription;
    /// Lists the iCal subscriptions of an agent, oldest first.
    listIcalSubscriptions list_ical_subscriptions: GET "/v1/agents/{agent_id}/ical-subscriptions"
        (agent_id; query: ListSubscriptions) -> List<Subscription>;
    /// Returns an iCal subscription.
    getIcalSubscription get_ical_subscription: GET "/v1/ical-subscriptions/{id}" (id) -> Subscription;
    /// Changes an iCal subscription.
    updateIcalSubscription update_ical_subscription: PATCH "/v1/ical-subscriptions/{id}"
        (id; body: UpdateSubscription) -> Subscription;
    /// Syncs an iCal subscription now.
    syncIcalSubscription sync_ical_subscription: POST "/v1/ical-subscriptions/{id}/sync" (id) -> Syncing;
    /// Deletes an iCal subscription.
    deleteIcalSubscription delete_ical_subscription: DELETE "/v1/ical-subscriptions/{id}"
        (id; query: DeleteSubscription) -> ();
    /// Imports iCalendar text into a calendar.
    importCalendar import_calendar: POST "/v1/calendars/{id}/import" (id; file: str) -> ImportReport;
    /// Creates a link on which a user can connect a calendar. The answer contains its address.
    createConnectionLink create_connection_link: POST "/v1/calendars/{id}/connection-links"
        (id; body: CreateConnectionLink) -> NewConnectionLink;
    /// Returns the state of a connection link.
    getConnectionLink get_connection_link: GET "/v1/connection-links/{id}" (id) -> ConnectionLink;
    /// Cancels a connection link.
    cancelConnectionLink cancel_connection_link: DELETE "/v1/connection-links/{id}" (id) -> ();
    /// Creates a proposal with candidate slots.
    createProposal create_proposal: POST "/v1/scheduling/proposals" (; body: CreateProposal) -> Proposal;
    /// Lists proposals, oldest first.
    listProposals list_proposals: GET "/v1/scheduling/proposals" (; query: ListProposals) -> List<ProposalSummary>;
    /// Returns a proposal with its slots and responses.
    getProposal get_proposal: GET "/v1/scheduling/proposals/{id}" (id) -> Proposal;
    /// Records a participant's response to a proposal.
    respondToProposal respond_to_proposal: POST "/v1/scheduling/proposals/{id}/respond"
        (id; body: RespondToProposal) -> Proposal;
    /// Resolves a proposal with the responses so far.
    resolveProposal resolve_proposal: POST "/v1/scheduling/proposals/{id}/resolve" (id) -> Resolution;
    /// Cancels a proposal.
    cancelProposal cancel_proposal: POST "/v1/scheduling/proposals/{id}/cancel" (id) -> Resolution;
    /// Returns a run with its writes, in order.
    getRun get_run: GET "/v1/runs/{name}" (name; query: OwnerOfRun) -> Run;
    /// Takes back all writes of a run, or none.
    undoRun undo_run: POST "/v1/runs/{name}/undo" (name; query: UndoRun) -> UndoneRun;
    /// Lists the writes that wait for approval, or did, newest first.
    listApprovals list_approvals: GET "/v1/approvals" (; query: ListApprovals) -> List<Approval>;
    /// Returns an approval, and waits for the decision if asked to.
    getApproval get_approval: GET "/v1/approvals/{id}" (id; query: WaitForApproval) -> Approval;
    /// Approves a write, which is made at once. The answer says what became of it.
    approve approve: POST "/v1/approvals/{id}/approve" (id) -> Approval;
    /// Denies a write.
    denyApproval deny_approval: POST "/v1/approvals/{id}/deny" (id; body: DenyApproval) -> Approval;
    /// Cancels a write that waits for approval.
    cancelApproval cancel_approval: POST "/v1/approvals/{id}/cancel" (id) -> Approval;
    /// Creates a booking page for a calendar.
    createBookingPage create_booking_page: POST "/v1/booking-pages" (; body: CreateBookingPage) -> BookingPage;
    /// Lists booking pages, oldest first.
    listBookingPages list_booking_pages: GET "/v1/booking-pages" (; query: Paging) -> List<BookingPage>;
    /// Returns a booking page.
    getBookingPage get_booking_page: GET "/v1/booking-pages/{id}" (id) -> BookingPage;
    /// Changes a booking page.
    updateBookingPage update_booking_page: PATCH "/v1/booking-pages/{id}" (id; body: UpdateBookingPage) -> BookingPage;
    /// Deletes a booking page.
    deleteBookingPage delete_booking_page: DELETE "/v1/booking-pages/{id}" (id) -> ();
    /// Lists the bookings of a page, by start.
    listBookings list_bookings: GET "/v1/booking-pages/{id}/bookings" (id; query: ListBookings) -> List<Booking>;
    /// Cancels a booking, as its host.
    cancelBookingAsHost cancel_booking_as_host: POST "/v1/bookings/{id}/cancel" (id; body: CancelBooking) -> Booking;
    /// Lists the slots that a booking page offers right now.
    listBookingSlots list_booking_slots: GET "/book/{slug}/slots" (slug; query: SlotsOfPage) -> BookingSlots;
    /// Books a slot on a booking page.
    createBooking create_booking: POST "/book/{slug}" (slug; body: SubmitBooking) -> Booked;
    /// Returns a booking to its guest.
    getBooking get_booking: GET "/book/{slug}/bookings/{token}" (slug, token) -> GuestBooking;
    /// Returns a booking as an iCalendar file. `token` is that of one of its links.
    getBookingFile get_booking_file: GET "/book/{slug}/bookings/{token}/event.ics" (slug, token) -> String;
    /// Decides whether emails about the bookings of a page are sent to an address. `token` is that of the link.
    answerBookingEmails answer_booking_emails: POST "/book/emails/{token}"
        (token; body: AnswerBookingEmails) -> NotifyConsent;
    /// Replies to an invitation, as its attendee. `token` is that of the link.
    replyToInvitation reply_to_invitation: POST "/rsvp/{token}" (token; body: SubmitReply) -> Attendee;
    /// Cancels a booking, as its guest.
    cancelBooking cancel_booking: POST "/book/{slug}/bookings/{token}/cancel" (slug, token) -> GuestBooking;
    /// Moves a booking to another slot, as its guest.
    moveBooking move_booking: POST "/book/{slug}/bookings/{token}/move"
        (slug, token; body: MoveBooking) -> GuestBooking;
    /// Returns the organization's usage and the limits of its plan.
    getUsage get_usage: GET "/v1/usage" () -> Usage;
    /// Returns free times of an agent.
    getAgentAvailability get_agent_availability: GET "/v1/agents/{id}/availability"
        (id; query: AvailabilityOf) -> AgentAvailability;
    /// Returns free times of a calendar.
    getCalendarAvailability get_calendar_availability: GET "/v1/calendars/{id}/availability"
        (id; query: AvailabilityOf) -> CalendarAvailability;
    /// Returns a calendar's availability rules.
    getAvailabilityRules get_availability_rules: GET "/v1/calendars/{id}/availability-rules" (id) -> AvailabilityRules;
    /// Sets a calendar's availability rules.
    putAvailabilityRules put_availability_rules: PUT "/v1/calendars/{id}/availability-rules"
        (id; body: PutAvailabilityRules) -> AvailabilityRules;
    /// Deletes a calendar's availability rules.
    deleteAvailabilityRules delete_availability_rules: DELETE "/v1/calendars/{id}/availability-rules" (id) -> ();
    /// Returns the times at which several agents are all free.
    getAvailability get_availability: GET "/v1/availability" (; query: AcrossAgents) -> AgentAvailability;
    /// Explains why a time is not offered.
    explainAvailability explain_availability: GET "/v1/availability/explain"
        (; query: ExplainAvailability) -> Explanation;
}
