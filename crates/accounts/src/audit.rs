//! The audit log: its vocabulary, how long entries are kept, and how a reader moves through it
//! (ruling 3.12).

use std::net::IpAddr;

use kalends_kernel::{
    AgentId, AuditId, FieldError, OrgId, RequestId, SignedDuration, Timestamp, base64url, from_base64url,
};
use kalends_quotas::{Plan, Rate};

macro_rules! actions {
    ($($(#[$doc:meta])* $name:ident = $text:literal,)*) => {
        /// What an audit entry records: the only list, those of ruling 3.12 included.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Action { $($(#[$doc])* $name,)* }

        impl Action {
            /// Every action.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];

            /// The name in the log.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }

            /// The action of that name.
            pub fn from_name(name: &str) -> Option<Self> {
                match name { $($text => Some(Self::$name),)* _ => None }
            }
        }
    };
}

actions! {
    /// An agent signed itself up, or a human.
    AuthSignup = "auth.signup",
    /// A human signed in to the console, or switched to the organization.
    AuthSignin = "auth.signin",
    /// A human signed out.
    AuthSignout = "auth.signout",
    /// A credential or a code was refused; sampled.
    AuthFailure = "auth.failure",
    /// A human changed their name or their password.
    UserUpdate = "user.update",
    /// A key was made.
    KeyCreate = "key.create",
    /// A key was revoked.
    KeyDelete = "key.delete",
    /// An organization's key was replaced.
    KeyRegenerate = "key.regenerate",
    /// An organization changed: verified, put on another plan, claimed, or its terms accepted.
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
    /// Holds were placed together.
    HoldSetCreate = "hold_set.create",
    /// A hold, or all of a set, was confirmed.
    HoldConfirm = "hold.confirm",
    /// A hold, or all of a set, was given up.
    HoldRelease = "hold.release",
    /// A calendar was given availability rules.
    AvailabilityRulesUpdate = "availability_rules.update",
    /// A calendar's availability rules were taken away.
    AvailabilityRulesDelete = "availability_rules.delete",
    /// A webhook endpoint was created.
    WebhookCreate = "webhook.create",
    /// A webhook endpoint was changed, tested, given another secret, or a delivery of it retried.
    WebhookUpdate = "webhook.update",
    /// A webhook endpoint was deleted.
    WebhookDelete = "webhook.delete",
    /// An iCal subscription was created.
    IcalSubscriptionCreate = "ical_subscription.create",
    /// An iCal subscription was changed, or a sync of it asked for.
    IcalSubscriptionUpdate = "ical_subscription.update",
    /// An iCal subscription was deleted.
    IcalSubscriptionDelete = "ical_subscription.delete",
    /// A booking page was created.
    BookingPageCreate = "booking_page.create",
    /// A booking page was changed.
    BookingPageUpdate = "booking_page.update",
    /// A booking page was deleted.
    BookingPageDelete = "booking_page.delete",
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
    /// A connection link was made.
    ConnectionCreate = "connection.create",
    /// A human connected a calendar.
    ConnectionAuthorize = "connection.authorize",
    /// A connection was revoked, or a link cancelled.
    ConnectionRevoke = "connection.revoke",
    /// A request was refused by a rate limit; sampled.
    RateLimitExceeded = "rate_limit.exceeded",
}

impl Action {
    /// How often an entry of this action may be written, for each key (or address) and action; `None` is
    /// every time. Failures are sampled, so that they do not flood the log (ruling 3.12).
    pub const fn sampled(self) -> Option<Rate> {
        match self {
            Self::AuthFailure | Self::RateLimitExceeded => Some(Rate::per_minute(1)),
            _ => None,
        }
    }
}

/// One entry of the audit log, written in the transaction of the change (ruling 3.12).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditEntry {
    /// The identifier.
    pub id: AuditId,
    /// The organization.
    pub org: OrgId,
    /// What was done.
    pub action: Action,
    /// The first characters of the key that did it, or of the human's identifier; `None` for an operator or a
    /// sign-up.
    pub actor_key_prefix: Option<String>,
    /// The agent concerned, if one.
    pub agent: Option<AgentId>,
    /// The identifier of what was changed.
    pub resource: String,
    /// The caller's address; `None` for an operator.
    pub ip: Option<IpAddr>,
    /// The status that the endpoint answers on success.
    pub status: u16,
    /// The HTTP method; `CLI` for an operator.
    pub method: String,
    /// The route's template.
    pub path: String,
    /// From the request to the commit.
    pub duration: SignedDuration,
    /// The request.
    pub request: RequestId,
    /// When it was done.
    pub created_at: Timestamp,
}

/// How many days of the audit log a plan keeps: 3 on the free ones, 90 on Pro. A custom plan keeps
/// everything that its contract does not end: `None`.
pub const fn audit_retention_days(plan: Plan) -> Option<u32> {
    match plan {
        Plan::FreeAgentUnverified | Plan::FreeAgent | Plan::Free => Some(3),
        Plan::Pro => Some(90),
        Plan::Custom => None,
    }
}

/// The earliest instant whose entries a plan still shows at `now`: older ones are purged.
pub fn audit_kept_since(plan: Plan, now: Timestamp) -> Option<Timestamp> {
    audit_retention_days(plan).map(|days| now - SignedDuration::days(i64::from(days)))
}

/// The part of the log that a reader asked for, cut to what the plan keeps. Half-open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AuditRange {
    /// The first instant; `None` reaches back to the beginning.
    pub from: Option<Timestamp>,
    /// The first instant after it.
    pub to: Timestamp,
    /// Whether `from` was older than what the plan keeps.
    pub clamped: bool,
    /// How many days the plan keeps; `None` keeps all.
    pub retention_days: Option<u32>,
}

impl AuditRange {
    /// The range for the query parameters `from` and `to` (default now, included to the microsecond).
    /// Where all that was asked for is older than what is kept, the range is empty.
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

    /// Whether nothing can lie in the range.
    pub fn is_empty(&self) -> bool {
        self.from == Some(self.to)
    }
}

/// What a reader of the log asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditQuery {
    /// From when to when.
    pub range: AuditRange,
    /// Entries of this action only.
    pub action: Option<Action>,
    /// Entries of the key that begins so only.
    pub actor_key_prefix: Option<String>,
    /// Only what comes after this place, newest first.
    pub after: Option<AuditCursor>,
    /// The most entries.
    pub limit: u32,
}

impl AuditQuery {
    /// Whether the entry is among those that are asked for, however many there are.
    pub fn matches(&self, entry: &AuditEntry) -> bool {
        let at = entry.created_at;
        self.range.from.is_none_or(|from| from <= at)
            && at < self.range.to
            && self.action.is_none_or(|action| action == entry.action)
            && self.actor_key_prefix.as_ref().is_none_or(|prefix| Some(prefix) == entry.actor_key_prefix.as_ref())
            && self.after.is_none_or(|after| (at, entry.id) < (after.created_at, after.id))
    }
}

/// Where a reader of the log, newest first, stands: after this entry. Opaque to callers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AuditCursor {
    /// When the last entry that was shown was written.
    pub created_at: Timestamp,
    /// Its identifier, which tells apart what was written at the same instant.
    pub id: AuditId,
}

/// The form of the cursor, so that a later one can tell it from its own.
const CURSOR_FORM: u8 = 1;

impl AuditCursor {
    /// The cursor after an entry.
    pub const fn after(entry: &AuditEntry) -> Self {
        Self { created_at: entry.created_at, id: entry.id }
    }

    /// The text that callers hand back.
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
        // 25 bytes are 34 characters; whatever is longer is not worth decoding.
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

    /// The specification's list and the ruling's additions, written again so that a slip in either shows.
    #[test]
    fn the_actions_are_the_specification_s() {
        let listed = "auth.signup auth.signin auth.signout auth.failure key.create key.delete key.regenerate \
                      org.update account.delete agent.create agent.update agent.delete calendar.create \
                      calendar.update calendar.delete event.create event.update event.delete webhook.create \
                      webhook.update webhook.delete ical_subscription.create ical_subscription.update \
                      ical_subscription.delete rate_limit.exceeded booking_page.create booking_page.update \
                      booking_page.delete booking.create booking.move booking.cancel proposal.create proposal.respond proposal.resolve \
                      proposal.cancel connection.create connection.authorize connection.revoke hold.confirm \
                      user.update hold.release hold_set.create availability_rules.update availability_rules.delete";
        let listed: BTreeSet<_> = listed.split_whitespace().collect();
        let known: BTreeSet<_> = Action::ALL.iter().map(|action| action.as_str()).collect();
        assert_eq!(known, listed);
        for action in Action::ALL {
            assert_eq!(Action::from_name(action.as_str()), Some(*action));
        }
    }

    #[test]
    fn failures_alone_are_sampled() {
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
    fn ranges_are_cut_to_what_is_kept(
        #[case] plan: Plan,
        #[case] from: Option<Timestamp>,
        #[case] to: Option<Timestamp>,
        #[case] begins: Option<Timestamp>,
        #[case] clamped: bool,
    ) {
        let range = AuditRange::ask(from, to, plan, NOW).unwrap();
        assert_eq!((range.from, range.clamped), (begins, clamped));
        assert_eq!(range.to, NOW + SignedDuration::micros(1), "what was written at this instant is shown");
        assert_eq!(range.retention_days, audit_retention_days(plan));
        assert!(!range.is_empty());
    }

    #[test]
    fn what_is_all_older_is_empty() {
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
    fn only_cursors_are_cursors(#[case] text: &str) {
        assert_eq!(AuditCursor::decode("cursor", text).unwrap_err().param, "cursor");
    }

    proptest! {
        #[test]
        fn a_cursor_is_read_back(micros: i64, id: [u8; 16]) {
            let cursor = AuditCursor { created_at: Timestamp::from_micros(micros), id: AuditId::from_bytes(id) };
            let text = cursor.encode();
            prop_assert!(text.len() == 34 && text.is_ascii());
            prop_assert_eq!(AuditCursor::decode("cursor", &text), Ok(cursor));
        }
    }
}
