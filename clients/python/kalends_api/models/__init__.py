"""Contains all the data models used in inputs/outputs"""

from .accept_terms import AcceptTerms
from .accepted import Accepted
from .accepted_status import AcceptedStatus
from .accepted_terms import AcceptedTerms
from .agent import Agent
from .agent_activity import AgentActivity
from .agent_availability import AgentAvailability
from .agent_availability_per_agent_busy import AgentAvailabilityPerAgentBusy
from .agent_metadata import AgentMetadata
from .agent_name import AgentName
from .agent_status import AgentStatus
from .agent_type import AgentType
from .all_writes import AllWrites
from .answer_booking_emails import AnswerBookingEmails
from .answer_reply_link import AnswerReplyLink
from .answered_reply_link import AnsweredReplyLink
from .approval import Approval
from .approval_result import ApprovalResult
from .approval_status import ApprovalStatus
from .assignment_name import AssignmentName
from .attendee import Attendee
from .attendee_responded import AttendeeResponded
from .attendee_role import AttendeeRole
from .attendee_status import AttendeeStatus
from .attention_status import AttentionStatus
from .audit_action import AuditAction
from .audit_entry import AuditEntry
from .audit_log import AuditLog
from .availability_rules import AvailabilityRules
from .availability_state import AvailabilityState
from .awaits_approval import AwaitsApproval
from .batched_event import BatchedEvent
from .batched_event_metadata_type_0 import BatchedEventMetadataType0
from .booked import Booked
from .booking import Booking
from .booking_answers import BookingAnswers
from .booking_links import BookingLinks
from .booking_page import BookingPage
from .booking_slots import BookingSlots
from .booking_status import BookingStatus
from .calendar import Calendar
from .calendar_availability import CalendarAvailability
from .calendar_context import CalendarContext
from .calendar_metadata import CalendarMetadata
from .calendar_name import CalendarName
from .cancel_booking import CancelBooking
from .cancelled_by_name import CancelledByName
from .capability_name import CapabilityName
from .changes import Changes
from .claim_revoked import ClaimRevoked
from .confirm_hold import ConfirmHold
from .conflict import Conflict
from .conflicts import Conflicts
from .connection_link import ConnectionLink
from .connection_link_status import ConnectionLinkStatus
from .connection_needs_attention import ConnectionNeedsAttention
from .consent_name import ConsentName
from .console_sign_up import ConsoleSignUp
from .console_signed_up import ConsoleSignedUp
from .counter_slot import CounterSlot
from .create_agent import CreateAgent
from .create_agent_metadata_type_0 import CreateAgentMetadataType0
from .create_booking_page import CreateBookingPage
from .create_calendar import CreateCalendar
from .create_calendar_metadata_type_0 import CreateCalendarMetadataType0
from .create_connection_link import CreateConnectionLink
from .create_event import CreateEvent
from .create_event_batch import CreateEventBatch
from .create_event_metadata_type_0 import CreateEventMetadataType0
from .create_hold_set import CreateHoldSet
from .create_proposal import CreateProposal
from .create_proposal_metadata_type_0 import CreateProposalMetadataType0
from .create_scoped_key import CreateScopedKey
from .create_subscription import CreateSubscription
from .create_webhook import CreateWebhook
from .created_event import CreatedEvent
from .cursor_pagination import CursorPagination
from .date_hours import DateHours
from .deactivation_reason import DeactivationReason
from .delete_ical_subscription_events import DeleteIcalSubscriptionEvents
from .deleted import Deleted
from .delivery import Delivery
from .delivery_list import DeliveryList
from .delivery_payload_type_0 import DeliveryPayloadType0
from .delivery_stats import DeliveryStats
from .delivery_status import DeliveryStatus
from .deny_approval import DenyApproval
from .email_reply import EmailReply
from .email_status import EmailStatus
from .email_verified import EmailVerified
from .ended_hold import EndedHold
from .error_body import ErrorBody
from .error_code import ErrorCode
from .error_envelope import ErrorEnvelope
from .error_type import ErrorType
from .event import Event
from .event_batch import EventBatch
from .event_metadata import EventMetadata
from .event_name import EventName
from .event_source import EventSource
from .event_status import EventStatus
from .explanation import Explanation
from .external_sync import ExternalSync
from .external_sync_status import ExternalSyncStatus
from .feature_name import FeatureName
from .feedback import Feedback
from .feedback_context_type_0 import FeedbackContextType0
from .feedback_type import FeedbackType
from .first_occurrence import FirstOccurrence
from .forgot_password import ForgotPassword
from .found_event import FoundEvent
from .found_events import FoundEvents
from .guest_booking import GuestBooking
from .guest_booking_answers import GuestBookingAnswers
from .guest_event import GuestEvent
from .health import Health
from .health_status import HealthStatus
from .hold_end import HoldEnd
from .hold_scope import HoldScope
from .hold_set import HoldSet
from .import_report import ImportReport
from .in_the_way import InTheWay
from .include_calendars import IncludeCalendars
from .join_waitlist import JoinWaitlist
from .joined_waitlist import JoinedWaitlist
from .list_agent_events_metadata import ListAgentEventsMetadata
from .list_approval import ListApproval
from .list_booking import ListBooking
from .list_booking_page import ListBookingPage
from .list_calendar import ListCalendar
from .list_calendar_events_metadata import ListCalendarEventsMetadata
from .list_event import ListEvent
from .list_hold_set import ListHoldSet
from .list_proposal_summary import ListProposalSummary
from .list_shown_agent import ListShownAgent
from .list_shown_calendar import ListShownCalendar
from .list_subscription import ListSubscription
from .list_webhook import ListWebhook
from .local import Local
from .mail_list import MailList
from .message_type import MessageType
from .move_booking import MoveBooking
from .move_event import MoveEvent
from .new_attendee import NewAttendee
from .new_connection_link import NewConnectionLink
from .new_scoped_key import NewScopedKey
from .new_webhook import NewWebhook
from .notice import Notice
from .notice_code import NoticeCode
from .notify_consent import NotifyConsent
from .offered_counter_slot import OfferedCounterSlot
from .offered_slot import OfferedSlot
from .open_hours import OpenHours
from .open_page import OpenPage
from .org import Org
from .organization_change import OrganizationChange
from .organization_change_body import OrganizationChangeBody
from .organization_changes import OrganizationChanges
from .page_notice import PageNotice
from .password_forgotten import PasswordForgotten
from .pending_reply_to import PendingReplyTo
from .placement_name import PlacementName
from .plan import Plan
from .plan_limits import PlanLimits
from .plans import Plans
from .policy_name import PolicyName
from .proposal import Proposal
from .proposal_cancel_reason import ProposalCancelReason
from .proposal_cancelled import ProposalCancelled
from .proposal_confirmed import ProposalConfirmed
from .proposal_expired import ProposalExpired
from .proposal_responded import ProposalResponded
from .proposal_response import ProposalResponse
from .proposal_slot import ProposalSlot
from .proposal_status import ProposalStatus
from .proposal_summary import ProposalSummary
from .proposal_summary_metadata import ProposalSummaryMetadata
from .provider import Provider
from .provider_name import ProviderName
from .public_plan_name import PublicPlanName
from .put_availability_rules import PutAvailabilityRules
from .put_reply_to import PutReplyTo
from .question import Question
from .question_type_name import QuestionTypeName
from .reason import Reason
from .reason_kind import ReasonKind
from .recurrence_default import RecurrenceDefault
from .refused_event import RefusedEvent
from .reply_name import ReplyName
from .reply_to import ReplyTo
from .required_plan import RequiredPlan
from .reset_password import ResetPassword
from .resolution import Resolution
from .resolution_reason import ResolutionReason
from .resolution_status import ResolutionStatus
from .respond_to_proposal import RespondToProposal
from .response_name import ResponseName
from .revoke_claim import RevokeClaim
from .revoked_status import RevokedStatus
from .run import Run
from .run_resource import RunResource
from .run_write import RunWrite
from .scope import Scope
from .scoped_key import ScopedKey
from .scoped_keys import ScopedKeys
from .sent_email import SentEmail
from .series_scope import SeriesScope
from .settled_status import SettledStatus
from .shown_plan import ShownPlan
from .sign_in import SignIn
from .sign_up import SignUp
from .sign_up_existing import SignUpExisting
from .sign_up_source_name import SignUpSourceName
from .signed_in import SignedIn
from .signed_up import SignedUp
from .skipped_event import SkippedEvent
from .slot import Slot
from .submit_booking import SubmitBooking
from .submit_booking_answers import SubmitBookingAnswers
from .submit_reply import SubmitReply
from .subscription import Subscription
from .subscription_status_name import SubscriptionStatusName
from .sync_report import SyncReport
from .syncing import Syncing
from .syncing_status import SyncingStatus
from .terms import Terms
from .terms_accepted import TermsAccepted
from .tested_delivery import TestedDelivery
from .undo_action import UndoAction
from .undo_obstacle import UndoObstacle
from .undone_resource import UndoneResource
from .undone_run import UndoneRun
from .update_agent import UpdateAgent
from .update_agent_metadata import UpdateAgentMetadata
from .update_booking_page import UpdateBookingPage
from .update_calendar import UpdateCalendar
from .update_calendar_metadata import UpdateCalendarMetadata
from .update_event import UpdateEvent
from .update_event_metadata import UpdateEventMetadata
from .update_subscription import UpdateSubscription
from .update_webhook import UpdateWebhook
from .usage import Usage
from .used import Used
from .used_calls import UsedCalls
from .user import User
from .verified import Verified
from .verify import Verify
from .verify_email import VerifyEmail
from .waitlist_entry import WaitlistEntry
from .wanted_subscription_status import WantedSubscriptionStatus
from .webhook import Webhook
from .webhook_deactivated import WebhookDeactivated
from .webhook_secret import WebhookSecret
from .weekday import Weekday
from .working_hours import WorkingHours

__all__ = (
    "AcceptTerms",
    "Accepted",
    "AcceptedStatus",
    "AcceptedTerms",
    "Agent",
    "AgentActivity",
    "AgentAvailability",
    "AgentAvailabilityPerAgentBusy",
    "AgentMetadata",
    "AgentName",
    "AgentStatus",
    "AgentType",
    "AllWrites",
    "AnswerBookingEmails",
    "AnswerReplyLink",
    "AnsweredReplyLink",
    "Approval",
    "ApprovalResult",
    "ApprovalStatus",
    "AssignmentName",
    "Attendee",
    "AttendeeResponded",
    "AttendeeRole",
    "AttendeeStatus",
    "AttentionStatus",
    "AuditAction",
    "AuditEntry",
    "AuditLog",
    "AvailabilityRules",
    "AvailabilityState",
    "AwaitsApproval",
    "BatchedEvent",
    "BatchedEventMetadataType0",
    "Booked",
    "Booking",
    "BookingAnswers",
    "BookingLinks",
    "BookingPage",
    "BookingSlots",
    "BookingStatus",
    "Calendar",
    "CalendarAvailability",
    "CalendarContext",
    "CalendarMetadata",
    "CalendarName",
    "CancelBooking",
    "CancelledByName",
    "CapabilityName",
    "Changes",
    "ClaimRevoked",
    "ConfirmHold",
    "Conflict",
    "Conflicts",
    "ConnectionLink",
    "ConnectionLinkStatus",
    "ConnectionNeedsAttention",
    "ConsentName",
    "ConsoleSignUp",
    "ConsoleSignedUp",
    "CounterSlot",
    "CreateAgent",
    "CreateAgentMetadataType0",
    "CreateBookingPage",
    "CreateCalendar",
    "CreateCalendarMetadataType0",
    "CreateConnectionLink",
    "CreateEvent",
    "CreateEventBatch",
    "CreateEventMetadataType0",
    "CreateHoldSet",
    "CreateProposal",
    "CreateProposalMetadataType0",
    "CreateScopedKey",
    "CreateSubscription",
    "CreateWebhook",
    "CreatedEvent",
    "CursorPagination",
    "DateHours",
    "DeactivationReason",
    "DeleteIcalSubscriptionEvents",
    "Deleted",
    "Delivery",
    "DeliveryList",
    "DeliveryPayloadType0",
    "DeliveryStats",
    "DeliveryStatus",
    "DenyApproval",
    "EmailReply",
    "EmailStatus",
    "EmailVerified",
    "EndedHold",
    "ErrorBody",
    "ErrorCode",
    "ErrorEnvelope",
    "ErrorType",
    "Event",
    "EventBatch",
    "EventMetadata",
    "EventName",
    "EventSource",
    "EventStatus",
    "Explanation",
    "ExternalSync",
    "ExternalSyncStatus",
    "FeatureName",
    "Feedback",
    "FeedbackContextType0",
    "FeedbackType",
    "FirstOccurrence",
    "ForgotPassword",
    "FoundEvent",
    "FoundEvents",
    "GuestBooking",
    "GuestBookingAnswers",
    "GuestEvent",
    "Health",
    "HealthStatus",
    "HoldEnd",
    "HoldScope",
    "HoldSet",
    "ImportReport",
    "InTheWay",
    "IncludeCalendars",
    "JoinWaitlist",
    "JoinedWaitlist",
    "ListAgentEventsMetadata",
    "ListApproval",
    "ListBooking",
    "ListBookingPage",
    "ListCalendar",
    "ListCalendarEventsMetadata",
    "ListEvent",
    "ListHoldSet",
    "ListProposalSummary",
    "ListShownAgent",
    "ListShownCalendar",
    "ListSubscription",
    "ListWebhook",
    "Local",
    "MailList",
    "MessageType",
    "MoveBooking",
    "MoveEvent",
    "NewAttendee",
    "NewConnectionLink",
    "NewScopedKey",
    "NewWebhook",
    "Notice",
    "NoticeCode",
    "NotifyConsent",
    "OfferedCounterSlot",
    "OfferedSlot",
    "OpenHours",
    "OpenPage",
    "Org",
    "OrganizationChange",
    "OrganizationChangeBody",
    "OrganizationChanges",
    "PageNotice",
    "PasswordForgotten",
    "PendingReplyTo",
    "PlacementName",
    "Plan",
    "PlanLimits",
    "Plans",
    "PolicyName",
    "Proposal",
    "ProposalCancelReason",
    "ProposalCancelled",
    "ProposalConfirmed",
    "ProposalExpired",
    "ProposalResponded",
    "ProposalResponse",
    "ProposalSlot",
    "ProposalStatus",
    "ProposalSummary",
    "ProposalSummaryMetadata",
    "Provider",
    "ProviderName",
    "PublicPlanName",
    "PutAvailabilityRules",
    "PutReplyTo",
    "Question",
    "QuestionTypeName",
    "Reason",
    "ReasonKind",
    "RecurrenceDefault",
    "RefusedEvent",
    "ReplyName",
    "ReplyTo",
    "RequiredPlan",
    "ResetPassword",
    "Resolution",
    "ResolutionReason",
    "ResolutionStatus",
    "RespondToProposal",
    "ResponseName",
    "RevokeClaim",
    "RevokedStatus",
    "Run",
    "RunResource",
    "RunWrite",
    "Scope",
    "ScopedKey",
    "ScopedKeys",
    "SentEmail",
    "SeriesScope",
    "SettledStatus",
    "ShownPlan",
    "SignIn",
    "SignUp",
    "SignUpExisting",
    "SignUpSourceName",
    "SignedIn",
    "SignedUp",
    "SkippedEvent",
    "Slot",
    "SubmitBooking",
    "SubmitBookingAnswers",
    "SubmitReply",
    "Subscription",
    "SubscriptionStatusName",
    "SyncReport",
    "Syncing",
    "SyncingStatus",
    "Terms",
    "TermsAccepted",
    "TestedDelivery",
    "UndoAction",
    "UndoObstacle",
    "UndoneResource",
    "UndoneRun",
    "UpdateAgent",
    "UpdateAgentMetadata",
    "UpdateBookingPage",
    "UpdateCalendar",
    "UpdateCalendarMetadata",
    "UpdateEvent",
    "UpdateEventMetadata",
    "UpdateSubscription",
    "UpdateWebhook",
    "Usage",
    "Used",
    "UsedCalls",
    "User",
    "Verified",
    "Verify",
    "VerifyEmail",
    "WaitlistEntry",
    "WantedSubscriptionStatus",
    "Webhook",
    "WebhookDeactivated",
    "WebhookSecret",
    "Weekday",
    "WorkingHours",
)
