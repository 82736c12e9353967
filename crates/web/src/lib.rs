//! The HTML pages: the public booking pages for guests, also as Markdown for agents, invitations for attendees, the pages
//! that introduce the server, and the pages of the console.
//!
//! Everything here is a pure function. A caller reads the request with [`PageQuery`] and [`Reader`], runs the use
//! cases, fills in one of the views and sends the text that its `html()` returns, with the headers [`headers::SAFE`]
//! and [`headers::PAGE`]. The files that the HTML refers to are in [`assets::ALL`].
//!
//! No text in a view is trusted: the templates escape all text, and an address becomes a link only as a [`Path`] or an
//! [`Href`], neither of which can be a `javascript:` URL.

mod accent;
mod activity;
mod agents;
mod approvals;
pub mod assets;
mod availability;
pub mod headers;
pub mod markdown;

mod booking;
mod booking_pages;
mod caldav;
mod calendar;
mod calendar_form;
mod calendars;
mod chart;
mod claims;
mod connect;
mod connections;
mod connector;
mod consent;
mod csv;
mod deliveries;
mod destinations;
mod drawing;
mod emails;
mod english;
mod entry;
mod feeds;
mod field;
mod first_run;
mod form;
mod front;
mod import;
mod invitation;
mod join;
mod json;
mod kept;
mod keys;
mod link;
mod members;
mod next;
mod notice;
mod numbers;
mod operator;
mod organization;
mod orgs;
mod overview;
mod own_account;
mod page;
mod page_query;
mod paging;
mod password;
mod picker;
mod problem;
mod problems;
mod proposal_list;
mod proposal_page;
mod proposals;
mod prose;
mod providers;
mod replies;
mod revocation;
mod security;
mod shell;
mod signed_in;
mod snippets;
mod subscriptions;
mod time;
mod usage;
mod verification;
mod waiting;
mod webhooks;
mod zones;

#[cfg(test)]
mod tests;

pub use activity::{
    ACTIVITY_FIELDS, ACTIVITY_FILE_MAX, Activity, ActivityChoices, ActivityEntry, ActivityGiven, ActivityLog,
    ActivityPart,
};
pub use agents::{AGENT_FIELDS, AgentGiven, AgentPage, AgentShown, Agents, CalendarShown, Decommission, NewAgentForm};
pub use approvals::{
    ApprovalDecision, ApprovalListed, ApprovalPage, ApprovalRequest, ApprovalShown, ApprovalState, Approvals,
    DENIAL_FIELDS,
};
pub use availability::{
    AskedTime, AvailabilityList, CHOSEN_MAX, Candidate, DATE_FIELDS, DATES_SHOWN, DateGiven, DateShown, Hindrance,
    OpenHours, RULES_FIELDS, RemoveRules, RuledCalendar, RulesGiven, RulesPage, RulesShown, TEST_DAYS_MAX, TEST_FIELDS,
    TEST_REASONS_MAX, TestGiven, Tested, TesterPage, days_of, hours_text, read_hours,
};
pub use booking::{Booked, Booking, BookingState, Moving};
pub use booking_pages::{
    ALL_BOOKINGS_FILTER_FIELDS, AllBookings, BOOKING_FILTER_FIELDS, BOOKING_PAGE_TEXTS, BookingPageDetail,
    BookingPageForm, BookingPageGiven, BookingPageShown, BookingPages, BookingShown, CANCELLATION_FIELDS,
    CancelBookingForm, DELETED_PAGES, DeleteBookingPage, EditedBookingPage, NoPreview, OPENING_HOURS, OpeningHours,
    PageBookings, QuestionGiven,
};
pub use caldav::{CALDAV_FIELDS, CaldavForm, CaldavGiven, CaldavPreset};
pub use calendar::{
    Answer, AttendeeLine, AttendeeShown, CALENDARS_MAX, CalendarInView, CalendarPage, CancelEvent, EVENT_FIELDS,
    EVENTS_MAX, EditEventForm, EventDetail, EventGiven, EventInView, EventKind, EventPage, ExplainPage, MoveEvent,
    NewEventForm, Obstacle, Repeat, RepeatGiven, SHOWN_CALENDARS, SeriesPart, View, Viewed, WhyNot, clock_text,
    date_in_range, event_time, read_clock, read_reminders, reminders_text,
};
pub use calendar_form::{CALENDAR_FIELDS, CalendarGiven, CalendarSettings, DeleteCalendar, NewCalendarForm};
pub use calendars::{AudienceChoice, CalendarChoice, CalendarsChosen, ChooseCalendars};
pub use claims::{CLAIM_CODE_FIELDS, CLAIM_FIELDS, ClaimCode, ClaimShown, Claims};
pub use connect::{ConnectCode, Declined, LinkOver, Offer, UnknownLink, UsableAccount};
pub use connections::{Account, Connections, Disconnect, Grant};
pub use connector::{ConnectorBack, ConnectorConsent, ConnectorForOthers, ConnectorReceiver, ConnectorWrong};
pub use consent::{CONSENT_ERRORS, Consent, NothingConnected};
pub use csv::csv_row;
pub use deliveries::{Deliveries, DeliveryPage, DeliveryShown, DeliveryState, StatusFilter, WebhookTested};
pub use destinations::{
    Copies, CopyOffer, DESTINATION_FIELDS, DestinationGiven, DestinationPage, DestinationShown, NEW_DESTINATION_FIELDS,
    NewDestination, StopCopying,
};
pub use drawing::{DrawingPage, DrawnWeek};
pub use emails::{BookingEmails, EmailsState};
pub use entry::{Ended, ProviderChoice, SIGN_IN_ERRORS, SignIn, SignInCode, SignUp, SignUpGiven, SignedUp};
pub use feeds::{FeedCalendar, FeedCalendarPage, FeedsPage, RotateFeed};
pub use field::Choice;
pub use first_run::{FIRST_RUN_FIELDS, FirstAgent, FirstRunForm, FirstRunGiven, FirstRunMade, TestEvent};
pub use form::{Form, Given, HONEYPOT, Limits, Taken};
pub use front::{Home, PlanOffer, Plans, Terms};
pub use import::{
    IMPORT_FIELDS, IMPORT_MAX, ImportCheck, ImportForm, ImportShown, Imported, PlannedShown, RefusedShown, import_max,
};
pub use invitation::{Invitation, InvitationState, Reply, ReplyProblem};
pub use join::{Invited, Join, JoinState};
pub use json::pretty_json;
pub use kept::{FormPlace, KeptForm, KeptPart, NoEffect, SentForm, SignedInAgain};
pub use keys::{
    KEY_FIELDS, KeyApproval, KeyFacts, KeyGiven, KeyMade, KeyReplaced, KeyShown, Keys, KeysOf, NewKeyForm, ReplaceKey,
    RevokeKey, ScopeChoice,
};
pub use link::{Href, Path};
pub use members::{
    INVITATION_FIELDS, InvitationShown, InviteGiven, MemberShown, MembersPage, ROLES, RemoveMember, RoleGiven,
};
pub use next::Next;
pub use notice::Notice;
pub use numbers::counted;
pub use operator::{
    OperatorBackup, OperatorConfiguration, OperatorCount, OperatorDataKey, OperatorDayCount, OperatorDuty,
    OperatorFailedEmail, OperatorFailedMail, OperatorFailure, OperatorKeys, OperatorLimit, OperatorMail,
    OperatorMailOutcome, OperatorOrganization, OperatorOrganizationPage, OperatorOrganizations, OperatorOverview,
    OperatorPlace, OperatorPlanGiven, OperatorSetting, OperatorShell, OperatorSignIn, OperatorState, OperatorWaiting,
    PLAN_FIELDS, TEST_MAIL_FIELDS,
};
pub use organization::{
    DELETION_FIELDS, DeleteOrganization, ExportPage, ORGANIZATION_FIELDS, OrganizationPage, OrganizationShown, Parted,
};
pub use orgs::{OwnOrganization, OwnOrganizations};
pub use overview::{NextStep, OtherOrganization, Overview, OverviewNumber};
pub use own_account::{ACCOUNT_FIELDS, OwnAccount};
pub use page::{DisplaySettings, Page, Reader};
pub use page_query::{ChosenSlot, PageQuery};
pub use paging::Paging;
pub use password::{Forgot, Forgotten, PasswordSet, Reset};
pub use picker::Picker;
pub use problem::Problem;
pub use problems::{NO_PROBLEMS, Problems};
pub use proposal_list::{ProposalListed, Proposals};
pub use proposal_page::{ANSWER_FIELDS, AnswerGiven, CancelProposal, DECLINES, ProposalPage};
pub use proposals::{AgentNamed, AnswerKind, Outlook, ProposalAnswer, ProposalShown, ProposalState, ProposedSlot};
pub use prose::Prose;
pub use replies::{Replies, RepliesState};
pub use revocation::{Revocation, RevocationState};
pub use security::{Security, SecurityForm, SecurityState, WrongEntry};
pub use shell::{Done, Place, Shell};
pub use signed_in::SignedIn;
pub use subscriptions::{
    DeleteSubscription, NewSubscriptionForm, SUBSCRIPTION_FIELDS, SubscriptionFilter, SubscriptionGiven,
    SubscriptionPage, SubscriptionShown, SubscriptionState, Subscriptions, SubscriptionsOf, SyncShown,
};
pub use time::Month;
pub use usage::{UsagePage, UsedMetric, UsedMonths};
pub use verification::{Verification, VerificationState};
pub use waiting::{
    ApprovalWaiting, ApprovalsWaiting, ClaimWait, ClaimWaiting, HoldWaiting, HoldsWaiting, InvitationWaiting,
    OpenedHere, ProposalWaiting, ProposalsWaiting, Waiting,
};
pub use webhooks::{
    DeliveryDay, EventChoice, NewWebhookForm, SecretShown, WEBHOOK_FIELDS, WebhookGiven, WebhookPage, WebhookQuestion,
    WebhookQuestions, WebhookShown, WebhookState, Webhooks,
};

/// Renders a template.
fn render(template: &impl askama::Template) -> String {
    #[expect(clippy::expect_used, reason = "writing to a String does not fail, and neither do our filters")]
    template.render().expect("a template is written to a String")
}
