//! The audit log: its actions, how long entries are kept, and how a reader pages through it.

use std::net::IpAddr;

use kalends_kernel::{AgentId, AuditId, FieldError, OrgId, RequestId, base64url, from_base64url};
use kalends_plans::Plan;
use kalends_quotas::Rate;
use kalends_time::{SignedDuration, Timestamp};

macro_rules! actions {
    ($($(#[$doc:meta])* $name:ident = $text:literal,)*) => {
        /// The action of an audit entry. This is the only list of actions.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Action { $($(#[$doc])* $name,)* }

        impl Action {
            /// Every action.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];

            /// The name in the log.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }

            /// The action with that name.
            pub fn from_name(name: &str) -> Option<Self> {
                match name { $($text => Some(Self::$name),)* _ => None }
            }
        }
    };
}

actions! {
    /// An agent or a user signed up.
    AuthSignup = "auth.signup",
    /// A user signed in to the console, or switched to the organization.
    AuthSignin = "auth.signin",
    /// A user signed out.
    AuthSignout = "auth.signout",
    /// A credential or a code was refused. Entries are sampled.
    AuthFailure = "auth.failure",
    /// A user signed in with a recovery code.
    AuthRecoveryCode = "auth.recovery_code",
    /// A user turned their second factor on.
    AuthSecondFactorOn = "auth.second_factor_on",
    /// A second factor was turned off, by its user or by the operator.
    AuthSecondFactorOff = "auth.second_factor_off",
    /// A user changed their name, their password or their recovery codes, or began to set up a second factor.
    UserUpdate = "user.update",
    /// Somebody was invited to become a member.
    MemberInvite = "member.invite",
    /// Somebody accepted an invitation.
    MemberJoin = "member.join",
    /// A member got another role.
    MemberUpdate = "member.update",
    /// A member left or was removed, or an invitation was withdrawn.
    MemberDelete = "member.delete",
    /// A key was created.
    KeyCreate = "key.create",
    /// A key was revoked.
    KeyDelete = "key.delete",
    /// An organization's key was replaced.
    KeyRegenerate = "key.regenerate",
    /// An organization was renamed, verified, claimed, put on another plan, put on the waiting list or admitted from it,
    /// or it accepted terms.
    OrgUpdate = "org.update",
    /// An account was deleted.
    AccountDelete = "account.delete",
    /// An agent was created.
    AgentCreate = "agent.create",
    /// An agent was changed.
    AgentUpdate = "agent.update",
    /// An agent was decommissioned.
    AgentDelete = "agent.delete",
    /// A calendar was created.
    CalendarCreate = "calendar.create",
    /// A calendar was changed.
    CalendarUpdate = "calendar.update",
    /// A calendar was deleted.
    CalendarDelete = "calendar.delete",
    /// An event was created.
    EventCreate = "event.create",
    /// An event was changed.
    EventUpdate = "event.update",
    /// An event was deleted.
    EventDelete = "event.delete",
    /// An attendee replied to an invitation.
    EventReply = "event.reply",
    /// Holds were placed together.
    HoldSetCreate = "hold_set.create",
    /// A hold, or all of a set, was confirmed.
    HoldConfirm = "hold.confirm",
    /// A hold, or all of a set, was released.
    HoldRelease = "hold.release",
    /// A calendar was given availability rules.
    AvailabilityRulesUpdate = "availability_rules.update",
    /// A calendar's availability rules were removed.
    AvailabilityRulesDelete = "availability_rules.delete",
    /// A webhook endpoint was created.
    WebhookCreate = "webhook.create",
    /// A webhook endpoint was changed, tested or given another secret, or one of its deliveries was retried.
    WebhookUpdate = "webhook.update",
    /// A webhook endpoint was deleted.
    WebhookDelete = "webhook.delete",
    /// An iCalendar subscription was created.
    IcalSubscriptionCreate = "ical_subscription.create",
    /// An iCalendar subscription was changed, or a sync of it was requested.
    IcalSubscriptionUpdate = "ical_subscription.update",
    /// An iCalendar subscription was deleted.
    IcalSubscriptionDelete = "ical_subscription.delete",
    /// A booking page was created.
    BookingPageCreate = "booking_page.create",
    /// A booking page was changed.
    BookingPageUpdate = "booking_page.update",
    /// A booking page was deleted.
    BookingPageDelete = "booking_page.delete",
    /// An address agreed to the emails about bookings of a page, or refused them.
    BookingPageConsent = "booking_page.consent",
    /// A slot of a booking page was booked.
    BookingCreate = "booking.create",
    /// A booking was moved by its guest.
    BookingMove = "booking.move",
    /// A booking was cancelled by its guest.
    BookingCancel = "booking.cancel",
    /// A proposal was created.
    ProposalCreate = "proposal.create",
    /// A participant responded to a proposal.
    ProposalRespond = "proposal.respond",
    /// A proposal was resolved.
    ProposalResolve = "proposal.resolve",
    /// A proposal was cancelled.
    ProposalCancel = "proposal.cancel",
    /// The writes of a run were taken back.
    RunUndo = "run.undo",
    /// A write that waited was approved.
    ApprovalApprove = "approval.approve",
    /// A write that waited was denied.
    ApprovalDeny = "approval.deny",
    /// A write that waited was cancelled by its caller.
    ApprovalCancel = "approval.cancel",
    /// A connection link was created.
    ConnectionCreate = "connection.create",
    /// A user connected a calendar.
    ConnectionAuthorize = "connection.authorize",
    /// A connection was revoked, or a link cancelled.
    ConnectionRevoke = "connection.revoke",
    /// The events of a calendar are published to an account, or the policy for that was changed.
    ExternalDestinationUpdate = "external_destination.update",
    /// The events of a calendar are no longer published.
    ExternalDestinationDelete = "external_destination.delete",
    /// A request was refused by a rate limit. Entries are sampled.
    RateLimitExceeded = "rate_limit.exceeded",
}

impl Action {
    /// The rate at which entries of this action may be written, for each action and key (or address); `None` is
    /// unlimited. Failures are sampled, so that they do not flood the log.
    pub const fn sampled(self) -> Option<Rate> {
        match self {
            Self::AuthFailure | Self::RateLimitExceeded => Some(Rate::per_minute(1)),
            _ => None,
        }
    }
}

/// One entry of the audit log. An entry about a change is written in the same transaction as the change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditEntry {
    /// The identifier.
    pub id: AuditId,
    /// The organization.
    pub org: OrgId,
    /// The action.
    pub action: Action,
    /// The first characters of the caller's key, or of the user's identifier; `None` if the caller has neither, such as
    /// an operator, a guest or an agent that signs up.
    pub actor_key_prefix: Option<String>,
    /// The agent concerned, if there is one.
    pub agent: Option<AgentId>,
    /// The identifier of the changed resource; for a refused request, of the organization.
    pub resource: String,
    /// The caller's address; `None` if it is unknown or there was no request.
    pub ip: Option<IpAddr>,
    /// The status of the response.
    pub status: u16,
    /// The HTTP method; `CLI` for an operator's command, `AUTO` for what the server does by
    /// itself, such as a claim that takes effect after its hold.
    pub method: String,
    /// The route's template; without a request, the command or the cause.
    pub path: String,
    /// The time from the request to the commit.
    pub duration: SignedDuration,
    /// The request; a new identifier if there was none.
    pub request: RequestId,
    /// When the action was performed.
    pub created_at: Timestamp,
}

/// The number of days for which a plan keeps the audit log: 3 on the free plans, 90 on Pro. A custom plan keeps
/// everything (`None`).
pub const fn audit_retention_days(plan: Plan) -> Option<u32> {
    match plan {
        Plan::FreeAgentUnverified | Plan::FreeAgent | Plan::Free => Some(3),
        Plan::Pro => Some(90),
        Plan::Custom => None,
    }
}

/// The earliest time whose entries a plan still keeps at `now`. Older entries are purged.
pub fn audit_kept_since(plan: Plan, now: Timestamp) -> Option<Timestamp> {
    audit_retention_days(plan).map(|days| now - SignedDuration::days(i64::from(days)))
}

/// The part of the log that a reader asked for, clamped to the entries that the plan keeps. Half-open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AuditRange {
    /// The start; `None` reaches back to the beginning.
    pub from: Option<Timestamp>,
    /// The end, exclusive.
    pub to: Timestamp,
    /// Whether the requested `from` was older than the entries that the plan keeps.
    pub clamped: bool,
    /// The number of days that the plan keeps; `None` keeps all.
    pub retention_days: Option<u32>,
}

impl AuditRange {
    /// The range for the query parameters `from` and `to`. Without `to`, the range includes entries written at `now`.
    /// The range is empty if everything requested is older than the kept entries.
    ///
    /// # Errors
    /// `from` is not before `to`.
    pub fn ask(from: Option<Timestamp>, to: Option<Timestamp>, plan: Plan, now: Timestamp) -> Result<Self, FieldError> {
        let to = to.unwrap_or(now + SignedDuration::micros(1));
        if let Some(from) = from.filter(|from| *from >= to) {
            return Err(FieldError::new("from", format!("must be before `to` ({to}), got {from}")));
        }
        let kept = audit_kept_since(plan, now);
        let clamped = matches!((from, kept), (Some(from), Some(kept)) if from < kept);
        let from = from.max(kept);
        let to = from.map_or(to, |from| to.max(from));
        Ok(Self { from, to, clamped, retention_days: audit_retention_days(plan) })
    }

    /// Whether no entry can be in the range.
    pub fn is_empty(&self) -> bool {
        self.from == Some(self.to)
    }
}

/// A query of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditSearch {
    /// The range of time.
    pub range: AuditRange,
    /// Only entries of this action.
    pub action: Option<Action>,
    /// Only entries of the key with this prefix.
    pub actor_key_prefix: Option<String>,
    /// Only entries that concern this agent.
    pub agent: Option<AgentId>,
    /// Only entries after this place, newest first.
    pub after: Option<AuditCursor>,
    /// The maximum number of entries.
    pub limit: u32,
}

impl AuditSearch {
    /// Whether the entry matches the query, regardless of `limit`.
    pub fn matches(&self, entry: &AuditEntry) -> bool {
        let at = entry.created_at;
        self.range.from.is_none_or(|from| from <= at)
            && at < self.range.to
            && self.action.is_none_or(|action| action == entry.action)
            && self.actor_key_prefix.as_ref().is_none_or(|prefix| Some(prefix) == entry.actor_key_prefix.as_ref())
            && self.agent.is_none_or(|agent| Some(agent) == entry.agent)
            && self.after.is_none_or(|after| (at, entry.id) < (after.created_at, after.id))
    }
}

/// A reader's place in the log, which is read newest first: after this entry. Callers see it as an opaque text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AuditCursor {
    /// When the last entry that was shown was written.
    pub created_at: Timestamp,
    /// The identifier of that entry. It distinguishes entries written at the same time.
    pub id: AuditId,
}

/// The version of the cursor's format, so that a later format can be recognized.
const CURSOR_FORM: u8 = 1;

impl AuditCursor {
    /// The cursor after an entry.
    pub const fn after(entry: &AuditEntry) -> Self {
        Self { created_at: entry.created_at, id: entry.id }
    }

    /// The text that callers send back.
    pub fn encode(self) -> String {
        let mut bytes = Vec::with_capacity(25);
        bytes.push(CURSOR_FORM);
        bytes.extend_from_slice(&self.created_at.as_micros().to_be_bytes());
        bytes.extend_from_slice(self.id.uuid().as_bytes());
        base64url(&bytes)
    }

    /// Reads what [`Self::encode`] wrote.
    ///
    /// # Errors
    /// Any other text.
    pub fn decode(param: &str, text: &str) -> Result<Self, FieldError> {
        let wrong = || FieldError::new(param, "must be the `next_cursor` of an earlier page, unchanged");
        // 25 bytes are 34 characters. A text of another length is not worth decoding.
        let bytes = Some(text).filter(|text| text.len() == 34).and_then(from_base64url).ok_or_else(wrong)?;
        let Some(([CURSOR_FORM], rest)) = bytes.split_first_chunk::<1>() else { return Err(wrong()) };
        let (micros, id) = rest.split_first_chunk::<8>().ok_or_else(wrong)?;
        let id: [u8; 16] = id.try_into().map_err(|_| wrong())?;
        Ok(Self { created_at: Timestamp::from_micros(i64::from_be_bytes(*micros)), id: AuditId::from_bytes(id) })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    const NOW: Timestamp = Timestamp::from_micros(1_800_000_000_000_000);

    /// The list of actions, written a second time so that a slip in either place shows.
    #[test]
    fn the_actions_are_complete() {
        let listed = "auth.signup auth.signin auth.signout auth.failure auth.second_factor_on \
                      auth.second_factor_off auth.recovery_code key.create key.delete key.regenerate \
                      org.update account.delete agent.create agent.update agent.delete calendar.create \
                      calendar.update calendar.delete event.create event.update event.delete event.reply webhook.create \
                      webhook.update webhook.delete ical_subscription.create ical_subscription.update \
                      ical_subscription.delete rate_limit.exceeded booking_page.create booking_page.update \
                      booking_page.delete booking_page.consent booking.create booking.move booking.cancel proposal.create proposal.respond proposal.resolve \
                      proposal.cancel connection.create connection.authorize connection.revoke external_destination.update external_destination.delete hold.confirm \
                      user.update member.invite member.join member.update member.delete run.undo approval.approve approval.deny approval.cancel hold.release hold_set.create availability_rules.update availability_rules.delete";
        let listed: BTreeSet<_> = listed.split_whitespace().collect();
        let known: BTreeSet<_> = Action::ALL.iter().map(|action| action.as_str()).collect();
        assert_eq!(known, listed);
        for action in Action::ALL {
            assert_eq!(Action::from_name(action.as_str()), Some(*action));
        }
    }

    #[test]
    fn only_failures_are_sampled() {
        let sampled: Vec<_> = Action::ALL.iter().filter(|action| action.sampled().is_some()).collect();
        assert_eq!(sampled, [&Action::AuthFailure, &Action::RateLimitExceeded]);
        assert_eq!(Action::AuthFailure.sampled(), Some(Rate::per_minute(1)));
    }

    const fn days_ago(days: i64) -> Timestamp {
        Timestamp::from_micros(NOW.as_micros() - SignedDuration::days(days).as_micros())
    }

    #[rstest]
    #[case::everything_kept(Plan::Free, None, None, Some(days_ago(3)), false)]
    #[case::inside(Plan::Free, Some(days_ago(2)), None, Some(days_ago(2)), false)]
    #[case::at_the_edge(Plan::Free, Some(days_ago(3)), None, Some(days_ago(3)), false)]
    #[case::older(Plan::FreeAgent, Some(days_ago(4)), None, Some(days_ago(3)), true)]
    #[case::the_sandbox(Plan::FreeAgentUnverified, Some(days_ago(4)), None, Some(days_ago(3)), true)]
    #[case::paid(Plan::Pro, Some(days_ago(4)), None, Some(days_ago(4)), false)]
    #[case::paid_and_older(Plan::Pro, Some(days_ago(91)), None, Some(days_ago(90)), true)]
    #[case::negotiated(Plan::Custom, Some(days_ago(4_000)), None, Some(days_ago(4_000)), false)]
    #[case::negotiated_from_the_beginning(Plan::Custom, None, None, None, false)]
    fn ranges_are_clamped_to_kept_entries(
        #[case] plan: Plan,
        #[case] from: Option<Timestamp>,
        #[case] to: Option<Timestamp>,
        #[case] begins: Option<Timestamp>,
        #[case] clamped: bool,
    ) {
        let range = AuditRange::ask(from, to, plan, NOW).unwrap();
        assert_eq!((range.from, range.clamped), (begins, clamped));
        assert_eq!(range.to, NOW + SignedDuration::micros(1), "an entry of this very time is shown");
        assert_eq!(range.retention_days, audit_retention_days(plan));
        assert!(!range.is_empty());
    }

    #[test]
    fn a_range_older_than_all_kept_entries_is_empty() {
        let range = AuditRange::ask(Some(days_ago(9)), Some(days_ago(8)), Plan::Free, NOW).unwrap();
        assert!(range.is_empty() && range.clamped);
        let range = AuditRange::ask(None, Some(days_ago(8)), Plan::Free, NOW).unwrap();
        assert!(range.is_empty() && !range.clamped, "nothing older was named");
    }

    #[test]
    fn a_range_runs_forward() {
        let refused = AuditRange::ask(Some(days_ago(1)), Some(days_ago(1)), Plan::Free, NOW).unwrap_err();
        assert_eq!(refused.param, "from");
        assert!(AuditRange::ask(Some(NOW + SignedDuration::days(1)), None, Plan::Free, NOW).is_err());
    }

    #[rstest]
    #[case("")]
    #[case("0")]
    #[case("AQ")]
    #[case(&"A".repeat(34))]
    #[case(&"A".repeat(35))]
    #[case(&"!".repeat(34))]
    #[case(&"é".repeat(17))]
    fn other_texts_are_refused(#[case] text: &str) {
        assert_eq!(AuditCursor::decode("cursor", text).unwrap_err().param, "cursor");
    }

    proptest! {
        /// Every cursor of the audit log is read back from its text.
        #[test]
        fn a_cursor_is_read_back(micros: i64, id: [u8; 16]) {
            let cursor = AuditCursor { created_at: Timestamp::from_micros(micros), id: AuditId::from_bytes(id) };
            let text = cursor.encode();
            prop_assert!(text.len() == 34 && text.is_ascii());
            prop_assert_eq!(AuditCursor::decode("cursor", &text), Ok(cursor));
        }
    }
}
