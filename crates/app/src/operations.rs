//! The operations of the API: one table from which routes, the audit log and the description are
//! checked and derived.

use kalends_accounts::Action;

/// Who may call an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Anybody.
    Public,
    /// The holder of an API key.
    Key,
    /// The holder of the operator's token; without one configured there is no such operation.
    Admin,
}

/// One operation.
#[derive(Debug, PartialEq, Eq)]
pub struct Operation {
    /// The `operationId` of the description.
    pub id: &'static str,
    /// The HTTP method.
    pub method: &'static str,
    /// The route's template.
    pub path: &'static str,
    /// The status of success.
    pub status: u16,
    /// Who may call it.
    pub access: Access,
    /// What the audit log records; `None` where nothing changes.
    pub action: Option<Action>,
}

impl Operation {
    /// Whether the operation may change something, and so takes an `Idempotency-Key`.
    pub fn writes(&self) -> bool {
        self.method != "GET"
    }
}

macro_rules! operations {
    ($($name:ident = $id:literal $method:literal $path:literal $status:literal $access:ident $($action:ident)?;)*) => {
        $(
            #[doc = concat!("`", $method, " ", $path, "`")]
            pub const $name: Operation = Operation {
                id: $id,
                method: $method,
                path: $path,
                status: $status,
                access: Access::$access,
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
    VERIFY = "agentVerify" "POST" "/v1/agent/verify" 200 Key OrgUpdate;

    ACCEPT_TERMS = "acceptTerms" "POST" "/v1/terms/accept" 200 Key OrgUpdate;
    JOIN_WAITLIST = "joinWaitlist" "POST" "/v1/waitlist" 201 Public AuthSignup;
    ACTIVATE_ORGANIZATION = "activateOrganization" "POST" "/v1/admin/orgs/{id}/activate" 200 Admin OrgUpdate;
    FEEDBACK = "sendFeedback" "POST" "/v1/feedback" 200 Key;
    EXPORT = "exportAccount" "GET" "/v1/account/export" 200 Key;
    DELETE_ACCOUNT = "deleteAccount" "DELETE" "/v1/account" 204 Key AccountDelete;
    AUDIT_LOG = "listAuditLog" "GET" "/v1/audit-log" 200 Key;

    CREATE_AGENT = "createAgent" "POST" "/v1/agents" 201 Key AgentCreate;
    LIST_AGENTS = "listAgents" "GET" "/v1/agents" 200 Key;
    GET_AGENT = "getAgent" "GET" "/v1/agents/{id}" 200 Key;
    UPDATE_AGENT = "updateAgent" "PATCH" "/v1/agents/{id}" 200 Key AgentUpdate;
    DELETE_AGENT = "deleteAgent" "DELETE" "/v1/agents/{id}" 204 Key AgentDelete;

    CREATE_CALENDAR = "createCalendar" "POST" "/v1/calendars" 201 Key CalendarCreate;
    CREATE_AGENT_CALENDAR = "createAgentCalendar" "POST" "/v1/agents/{agent_id}/calendars" 201 Key CalendarCreate;
    LIST_CALENDARS = "listCalendars" "GET" "/v1/calendars" 200 Key;
    LIST_AGENT_CALENDARS = "listAgentCalendars" "GET" "/v1/agents/{agent_id}/calendars" 200 Key;
    GET_CALENDAR = "getCalendar" "GET" "/v1/calendars/{id}" 200 Key;
    UPDATE_CALENDAR = "updateCalendar" "PATCH" "/v1/calendars/{id}" 200 Key CalendarUpdate;
    DELETE_CALENDAR = "deleteCalendar" "DELETE" "/v1/calendars/{id}" 204 Key CalendarDelete;
    ROTATE_FEED_TOKEN = "rotateCalendarFeedToken" "POST" "/v1/calendars/{id}/ical-token/rotate" 200 Key CalendarUpdate;
    GET_CONTEXT = "getCalendarContext" "GET" "/v1/calendars/{id}/context" 200 Key;
    LIST_CHANGES = "listCalendarChanges" "GET" "/v1/calendars/{id}/changes" 200 Key;

    CREATE_EVENT = "createEvent" "POST" "/v1/calendars/{cal_id}/events" 201 Key EventCreate;
    CREATE_EVENT_BATCH = "createEventBatch" "POST" "/v1/calendars/{cal_id}/events/batch" 201 Key EventCreate;
    LIST_EVENTS = "listCalendarEvents" "GET" "/v1/calendars/{cal_id}/events" 200 Key;
    LIST_AGENT_EVENTS = "listAgentEvents" "GET" "/v1/agents/{agent_id}/events" 200 Key;
    GET_CALENDAR_EVENT = "getCalendarEvent" "GET" "/v1/calendars/{cal_id}/events/{id}" 200 Key;
    UPDATE_CALENDAR_EVENT = "updateCalendarEvent" "PATCH" "/v1/calendars/{cal_id}/events/{id}" 200 Key EventUpdate;
    DELETE_CALENDAR_EVENT = "deleteCalendarEvent" "DELETE" "/v1/calendars/{cal_id}/events/{id}" 204 Key EventDelete;
    GET_EVENT = "getEvent" "GET" "/v1/events/{id}" 200 Key;
    UPDATE_EVENT = "updateEvent" "PATCH" "/v1/events/{id}" 200 Key EventUpdate;
    DELETE_EVENT = "deleteEvent" "DELETE" "/v1/events/{id}" 204 Key EventDelete;

    CONFIRM_HOLD = "confirmHold" "PUT" "/v1/events/{id}/confirm" 200 Key HoldConfirm;
    RELEASE_HOLD = "releaseHold" "PUT" "/v1/events/{id}/release" 200 Key HoldRelease;
    CREATE_HOLD_SET = "createHoldSet" "POST" "/v1/hold-sets" 201 Key HoldSetCreate;
    CONFIRM_HOLD_SET = "confirmHoldSet" "PUT" "/v1/hold-sets/{id}/confirm" 200 Key HoldConfirm;
    RELEASE_HOLD_SET = "releaseHoldSet" "PUT" "/v1/hold-sets/{id}/release" 200 Key HoldRelease;

    AGENT_AVAILABILITY = "getAgentAvailability" "GET" "/v1/agents/{id}/availability" 200 Key;
    CALENDAR_AVAILABILITY = "getCalendarAvailability" "GET" "/v1/calendars/{id}/availability" 200 Key;
    GET_RULES = "getAvailabilityRules" "GET" "/v1/calendars/{id}/availability-rules" 200 Key;
    PUT_RULES = "putAvailabilityRules" "PUT" "/v1/calendars/{id}/availability-rules" 200 Key AvailabilityRulesUpdate;
    DELETE_RULES = "deleteAvailabilityRules" "DELETE" "/v1/calendars/{id}/availability-rules" 204 Key AvailabilityRulesDelete;
    AVAILABILITY = "getAvailability" "GET" "/v1/availability" 200 Key;
    EXPLAIN_AVAILABILITY = "explainAvailability" "GET" "/v1/availability/explain" 200 Key;
}

/// The operation of a method and route template, if there is one.
pub fn find(method: &str, path: &str) -> Option<&'static Operation> {
    ALL.iter().find(|operation| operation.method == method && operation.path == path).copied()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn identifiers_and_routes_are_unique() {
        let ids: BTreeSet<_> = ALL.iter().map(|operation| operation.id).collect();
        let routes: BTreeSet<_> = ALL.iter().map(|operation| (operation.method, operation.path)).collect();
        assert_eq!((ids.len(), routes.len()), (ALL.len(), ALL.len()));
    }

    #[test]
    fn what_writes_is_audited() {
        for operation in ALL {
            // Feedback is stored nowhere, so that nothing changes.
            let changes = operation.writes() && operation.id != FEEDBACK.id;
            assert_eq!(changes, operation.action.is_some(), "{}", operation.id);
        }
    }
}
