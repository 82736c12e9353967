//! The JSON of every resource. REST, webhooks, exports and tools share it.
//!
//! Answers are built from domain values, never the other way round. serde reads requests, which are then parsed
//! into domain commands. Parsing collects every field error with its path (`reminders[2]`).
//!
//! Requests and answers can be both serialized and deserialized, so that a client can use them too. The exceptions are
//! operations that no key can call, such as claims and the console: their answers can only be serialized, and their
//! requests can only be deserialized. A client ignores unknown fields in an answer, because a newer service may send
//! more. The service rejects unknown fields in a request.
//!
//! The feature `parse` adds what the service does with the types: parsing requests into domain commands and building
//! answers from domain values. `schema` adds their OpenAPI schemas. A client needs neither.
//!
//! Agents, calendars and events use camelCase in answers and snake_case in requests.

mod agent;
mod approvals;
mod attendees;
mod audit;
mod availability;
mod booking_pages;
mod bookings;
mod calendar;
mod changes;
mod claims;
mod connection_links;
mod connections;
mod console;
mod context;
mod derives;
mod destinations;
mod error;
#[cfg(feature = "parse")]
mod error_codes;
mod event;
mod explain;
mod export;
#[cfg(feature = "parse")]
mod fields;
mod holds;
mod keys;
mod list;
mod local;
mod mail;
mod members;
mod names;
mod oauth;
mod organization_changes;
mod patch;
#[cfg(feature = "schema")]
mod payloads;
mod plan;
mod proposals;
// Two attributes, because clippy only knows the first form as a test.
#[cfg(test)]
#[cfg(feature = "schema")]
mod round_trips;
mod rules;
mod runs;
#[cfg(feature = "schema")]
mod schemas;
mod search;
mod sign_up;
mod subscriptions;
mod system;
mod usage;
mod waitlist;
mod webhooks;

pub use agent::{Agent, AgentName, CreateAgent, ListAgents, ShownAgent, UpdateAgent};
pub use approvals::{
    Approval, ApprovalResult, ApprovalStatus, AwaitsApproval, DenyApproval, ListApprovals, WaitForApproval,
};
pub use attendees::{Attendee, AttendeeResponded, NewAttendee, SubmitReply};
pub use audit::{AuditEntry, AuditLog, ListAudit};
pub use availability::{
    AcrossAgents, AgentAvailability, AvailabilityOf, AvailabilityState, CalendarAvailability, Slot,
};
pub use booking_pages::{
    AnswerBookingEmails, BookingPage, CreateBookingPage, NotifyConsent, Question, UpdateBookingPage,
};
pub use bookings::{
    Booked, BookedEvent, Booking, BookingLinks, BookingSlots, CancelBooking, GuestBooking, GuestEvent, ListBookings,
    MoveBooking, OpenPage, PageNotice, SlotsOfPage, SubmitBooking,
};
pub use calendar::{
    Calendar, CalendarName, CreateCalendar, DeleteCalendar, IncludeCalendars, ListCalendars, ShownCalendar,
    UpdateCalendar,
};
pub use changes::{Change, Changes, Deleted, ListChanges};
pub use claims::{AccountClaim, ClaimInitiated, ClaimRevoked, ExportedClaim, InitiateClaim, RevokeClaim, VerifyClaim};
pub use connection_links::{ConnectionLink, CreateConnectionLink, FollowedLink, NewConnectionLink, OpenConnectionLink};
pub use connections::{
    AvailabilityGrant, CalendarConnection, ConnectCaldav, ConnectExample, ConnectionNeedsAttention, ConsentBegun,
    CreateGrant, DrawnCalendar, DrawnCalendars, DrawnTime, ExternalCalendar, ExternalCalendars, ReauthorizeConnection,
    Refreshing, ReplaceCalendar, ReplaceDrawing, ReplaceTime, StartConnection, UpdateConnection,
};
pub use console::{
    ChangePassword, ConsoleSignUp, ConsoleSignedUp, EmailVerified, ForgotPassword, Me, Org, OwnOrg, OwnOrgs,
    PasswordForgotten, ProofResent, RecoveryCodes, RegeneratedKey, ResetPassword, SecondFactorCode,
    SecondFactorStarted, SignIn, SignedIn, StartSecondFactor, UpdateMe, UpdateOrg, User, VerifyEmail,
};
pub use context::CalendarContext;
pub use destinations::{CopyCounts, DeleteExternalDestination, ExternalDestination, PutExternalDestination};
pub use error::{ErrorBody, ErrorEnvelope, ErrorType};
pub use event::{
    ChangeEvent, CreateEvent, CreateEventBatch, DeleteEvent, Event, EventBatch, ExternalSync, ListEvents, MoveEvent,
    Notice, UpdateEvent,
};
pub use explain::{ExplainAvailability, Explanation, Reason, ReasonKind};
pub use export::{
    Export, ExportedAcceptance, ExportedCalendar, ExportedConnection, ExportedCounter, ExportedKey, ExportedOrg,
    ExportedResponse, ExportedSlot, ExportedUse,
};
pub use holds::{ConfirmHold, Conflict, CreateHoldSet, EndedHold, HoldSet, ListHoldSets};
pub use keys::{AllWrites, CreateScopedKey, NewScopedKey, RequiredApproval, Scope, ScopedKey, ScopedKeys};
pub use list::{CursorPagination, List, Paging};
pub use local::{Local, ShowEvents, Weekday};
pub use mail::{
    AnswerReplyLink, AnsweredReplyLink, EmailReply, EmailStatus, ListMail, MailList, PendingReplyTo, PutReplyTo,
    ReplyTo, SentEmail,
};
pub use members::{AcceptInvitation, InviteMember, Member, MemberInvitation, Members, UpdateMember};
pub use names::{
    AgentActivity, AgentStatus, AgentType, AttendeeRole, AttendeeStatus, Conflicts, EventSource, EventStatus,
    ExternalSyncStatus, HoldEnd, HoldScope, Provider, RecurrenceDefault, SeriesScope,
};
pub use oauth::{SignInAnswer, SignInWith};
pub use organization_changes::{ListOrganizationChanges, OrganizationChange, OrganizationChanges};
#[cfg(feature = "schema")]
pub use payloads::payload_of;
pub use plan::{Plan, PlanLimits, Plans};
pub use proposals::{
    CounterSlot, CreateProposal, CreatedEvent, ListProposals, OfferedCounterSlot, OfferedSlot, Proposal,
    ProposalCancelled, ProposalConfirmed, ProposalExpired, ProposalResponded, ProposalResponse, ProposalSlot,
    ProposalSummary, Resolution, RespondToProposal,
};
pub use rules::{AvailabilityRules, DateHours, OpenHours, PutAvailabilityRules, WorkingHours};
pub use runs::{
    InTheWay, OwnerOfRun, Run, RunResource, RunWrite, UndoAction, UndoObstacle, UndoRun, UndoneResource, UndoneRun,
};
pub use search::{FirstOccurrence, FoundEvent, FoundEvents, SearchEvents};
pub use sign_up::{SignUp, SignUpAnswer, SignUpExisting, SignedUp, Terms, Verified, Verify};
pub use subscriptions::{
    CreateSubscription, DeleteSubscription, ImportReport, ListSubscriptions, RefusedEvent, SkippedEvent, Subscription,
    SyncReport, Syncing, UpdateSubscription,
};
pub use system::Health;
pub use usage::{Usage, Used, UsedCalls};
pub use waitlist::{
    AcceptTerms, Accepted, AcceptedTerms, Feedback, FeedbackType, JoinWaitlist, JoinedWaitlist, TermsAccepted,
    WaitlistEntry,
};

pub use webhooks::{
    CreateWebhook, Delivery, DeliveryList, DeliveryStats, DeliveryStatus, ExportedWebhook, ListDeliveries, NewWebhook,
    TestedDelivery, UpdateWebhook, Webhook, WebhookDeactivated, WebhookPaging, WebhookSecret,
};

#[cfg(feature = "parse")]
pub use {
    audit::AuditQuery,
    availability::{
        Across, Found, LISTS, MAX_RANGE, MAX_SLOTS, Of, ParseSlotLengthError, SlotLength, SlotQuery, SlotQueryError,
        SlotsRequest, TooManySlots, render,
    },
    bookings::SlotRange,
    changes::ChangesQuery,
    connections::{CheckedCaldav, WantedGrant, provider_names},
    console::CheckedConsoleSignUp,
    destinations::WantedDestination,
    error_codes::ErrorCode,
    event::{Listing, MAPS},
    explain::{ExplainOf, ExplainQuery},
    holds::NewHoldSet,
    keys::WantedKey,
    mail::MailQuery,
    organization_changes::{FeedQuery, WAIT_MAX},
    proposals::{PROPOSAL_ID, WantedProposal, WantedProposals, WantedResponse, WantedSlot},
    search::WantedSearch,
    sign_up::CheckedSignUp,
    waitlist::{CheckedFeedback, CheckedJoin},
};

/// Why a request is invalid: every invalid field.
pub use kalends_kernel::FieldErrors;
