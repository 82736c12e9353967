//! The operations of the service, the kind of thing that each concerns, and the parts in which tests walk them.

use kalends_e2e::Server;
use reqwest::Method;
use rstest_reuse::template;

/// The kind of thing that an operation concerns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum About {
    /// Public things. No credential is needed.
    Public,
    /// The organization. Agents' keys are refused.
    Organization,
    /// Operations of the operator, whatever they concern.
    Operator,
    /// Operations of a user in the console.
    Console,
    /// The organization and one of its agents. Agents' keys are refused.
    OrganizationsAgent,
    /// The organization and one of its keys. Agents' keys are refused.
    OrganizationsKey,
    /// The organization and one of its webhooks. Agents' keys are refused.
    OrganizationsWebhook,
    /// A list that is limited to the key's agent, or something that any key may read.
    Common,
    /// An agent.
    Agent,
    /// A calendar.
    Calendar,
    /// An event on a calendar.
    Event,
    /// A hold.
    Hold,
    /// A hold set.
    HoldSet,
    /// A calendar with rules.
    Rules,
    /// A subscription of an agent's calendar.
    Subscription,
    /// A proposal that an agent organizes and takes part in.
    Proposal,
    /// A booking page of a calendar.
    BookingPage,
    /// A booking on a page of a calendar.
    Booking,
    /// A link that asks a user for a calendar.
    Link,
    /// A run of an agent.
    Run,
    /// A write of an agent that waits for approval.
    Approval,
    /// A decision on such a write. Agents' keys are refused.
    Decision,
    /// The tools. Every key is accepted, and each call is checked as the operation that it stands for.
    Tools,
}

/// The kind of thing that each operation concerns. Panics for an operation without an entry.
fn ruled(operation: &str) -> About {
    match operation {
        "getHealth"
        | "getReady"
        | "getOpenApi"
        | "listPlans"
        | "getCurrentTerms"
        | "agentSignUp"
        | "joinWaitlist"
        | "signUp"
        | "signIn"
        | "forgotPassword"
        | "resetPassword"
        | "verifyEmail"
        | "revokeClaim"
        | "startSignInWith"
        | "endSignInWith"
        | "getFeed"
        | "showBookingPage"
        | "getBookingAsset"
        | "showCancellation"
        | "showMove"
        | "getBookingFile"
        | "showReplyLink"
        | "answerReplyLink"
        | "showBookingEmails"
        | "answerBookingEmails"
        | "showInvitation"
        | "replyToInvitation"
        | "listBookingSlots"
        | "createBooking"
        | "getBooking"
        | "cancelBooking"
        | "moveBooking"
        | "endCalendarConnection" => About::Public,
        "signOut"
        | "resendVerification"
        | "startSecondFactor"
        | "confirmSecondFactor"
        | "renewRecoveryCodes"
        | "removeSecondFactor"
        | "getMe"
        | "updateMe"
        | "changePassword"
        | "listOwnOrgs"
        | "listMembers"
        | "inviteMember"
        | "updateMember"
        | "deleteMember"
        | "acceptInvitation"
        | "switchOrg"
        | "initiateClaim"
        | "verifyClaim"
        | "listClaims"
        | "updateOrg"
        | "acceptTermsInConsole"
        | "exportAccount"
        | "deleteAccount"
        | "regenerateKey"
        | "createScopedKeyFromConsole"
        | "openConnectionLink"
        | "declineConnectionLink"
        | "startCalendarConnection"
        | "connectCaldav"
        | "connectExample"
        | "listCalendarConnections"
        | "getCalendarConnection"
        | "updateCalendarConnection"
        | "deleteCalendarConnection"
        | "refreshCalendarConnection"
        | "pauseCalendarConnection"
        | "resumeCalendarConnection"
        | "reauthorizeCalendarConnection"
        | "listExternalCalendars"
        | "getDrawing"
        | "replaceDrawing"
        | "createAvailabilityGrant"
        | "listAvailabilityGrants"
        | "deleteAvailabilityGrant"
        | "getExternalDestination"
        | "putExternalDestination"
        | "deleteExternalDestination" => About::Console,
        "activateOrganization" => About::Operator,
        "agentVerify" | "acceptTerms" | "createAgent" | "listAgents" | "createCalendar" | "listScopedKeys"
        | "listAuditLog" | "listChanges" | "listMail" | "getReplyTo" | "putReplyTo" | "deleteReplyTo"
        | "createWebhook" | "listWebhooks" => About::Organization,
        "updateAgent" | "deleteAgent" | "getAvailability" | "createScopedKey" => About::OrganizationsAgent,
        "deleteScopedKey" => About::OrganizationsKey,
        "getWebhook"
        | "updateWebhook"
        | "deleteWebhook"
        | "rotateWebhookSecret"
        | "testWebhook"
        | "listWebhookDeliveries"
        | "retryWebhookDelivery" => About::OrganizationsWebhook,
        "listCalendars" | "listHoldSets" | "searchEvents" | "listProposals" | "listBookingPages" | "getUsage"
        | "sendFeedback" | "listApprovals" => About::Common,
        "mcp" => About::Tools,
        "createProposal" => About::Agent,
        "getProposal" | "respondToProposal" | "resolveProposal" | "cancelProposal" => About::Proposal,
        "getBookingPage" | "updateBookingPage" | "deleteBookingPage" | "listBookings" => About::BookingPage,
        "cancelBookingAsHost" => About::Booking,
        "getRun" | "undoRun" => About::Run,
        "getApproval" | "cancelApproval" => About::Approval,
        "approve" | "denyApproval" => About::Decision,
        "getAgent"
        | "createAgentCalendar"
        | "listAgentCalendars"
        | "listAgentEvents"
        | "getAgentAvailability"
        | "createIcalSubscription"
        | "listIcalSubscriptions" => About::Agent,
        "getCalendar"
        | "updateCalendar"
        | "deleteCalendar"
        | "rotateCalendarFeedToken"
        | "exportCalendar"
        | "importCalendar"
        | "getCalendarContext"
        | "listCalendarChanges"
        | "createEvent"
        | "createEventBatch"
        | "listCalendarEvents"
        | "createHoldSet"
        | "createBookingPage"
        | "getCalendarAvailability"
        | "putAvailabilityRules"
        | "createConnectionLink"
        | "explainAvailability" => About::Calendar,
        "getConnectionLink" | "cancelConnectionLink" => About::Link,
        "getCalendarEvent"
        | "updateCalendarEvent"
        | "deleteCalendarEvent"
        | "getEvent"
        | "updateEvent"
        | "deleteEvent"
        | "moveEvent" => About::Event,
        "confirmHold" | "releaseHold" => About::Hold,
        "getHoldSet" | "confirmHoldSet" | "releaseHoldSet" => About::HoldSet,
        "getAvailabilityRules" | "deleteAvailabilityRules" => About::Rules,
        "getIcalSubscription" | "updateIcalSubscription" | "syncIcalSubscription" | "deleteIcalSubscription" => {
            About::Subscription
        }
        unknown => panic!("{unknown} has no entry in the matrix"),
    }
}

/// An operation of the description.
pub(crate) struct Operation {
    pub(crate) id: String,
    pub(crate) method: Method,
    pub(crate) path: String,
}

impl Operation {
    /// The kind of thing that it concerns.
    pub(crate) fn about(&self) -> About {
        ruled(&self.id)
    }
}

/// Every operation, in the order of the description.
pub(crate) async fn operations(server: &Server) -> Vec<Operation> {
    let description = server.anonymous().get("/openapi.json").await.expect(200);
    let mut all = Vec::new();
    for (path, methods) in description["paths"].as_object().unwrap() {
        for (method, described) in methods.as_object().unwrap() {
            let id = described["operationId"].as_str().unwrap().to_owned();
            all.push(Operation { id, method: method.to_uppercase().parse().unwrap(), path: path.clone() });
        }
    }
    all
}

macro_rules! parts {
    ($($part:ident),+) => {
        /// A part of the operations. Tests walk the parts side by side. The compiler warns of a part that none walks.
        #[derive(Debug, Clone, Copy)]
        pub(crate) enum Part { $($part),+ }

        /// How many parts there are.
        const PARTS: usize = [$(stringify!($part)),+].len();
    };
}

parts!(First, Second, Third, Fourth);

impl Part {
    /// The operations of this part. Each operation belongs to exactly one part, and neighbours to different ones.
    pub(crate) fn of(self, operations: &[Operation]) -> impl Iterator<Item = &Operation> {
        operations.iter().skip(self as usize).step_by(PARTS)
    }
}

/// The cases of a walk over every operation, in all parts and on both databases.
#[template]
#[rstest]
#[case::sqlite(kalends_e2e::Database::Sqlite)]
#[case::postgres(kalends_e2e::Database::Postgres)]
fn in_parts(
    #[case] database: kalends_e2e::Database,
    #[values(
        crate::reach_operations::Part::First,
        crate::reach_operations::Part::Second,
        crate::reach_operations::Part::Third,
        crate::reach_operations::Part::Fourth
    )]
    part: crate::reach_operations::Part,
) {
}
