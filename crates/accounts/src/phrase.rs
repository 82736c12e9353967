//! The actions of the audit log in words.

use crate::Action;

impl Action {
    /// What the actor did, in words that follow the actor's name: "revoked the key {}". `{}` stands for the changed
    /// resource, if the words name it.
    pub const fn phrase(self) -> &'static str {
        match self {
            Self::AuthSignup => "signed up",
            Self::AuthSignin => "signed in to the console",
            Self::AuthSignout => "signed out of the console",
            Self::AuthFailure => "sent a wrong password, code or key",
            Self::AuthRecoveryCode => "signed in with a recovery code",
            Self::AuthSecondFactorOn => "turned on a second factor",
            Self::AuthSecondFactorOff => "turned off the second factor of {}",
            Self::UserUpdate => "changed the account of {}",
            Self::MemberInvite => "sent the invitation {}",
            Self::MemberJoin => "joined the organization",
            Self::MemberUpdate => "changed the role of {}",
            Self::MemberDelete => "removed the member or invitation {}",
            Self::KeyCreate => "created the key {}",
            Self::KeyDelete => "revoked the key {}",
            Self::KeyRegenerate => "replaced the organization's key",
            Self::OrgUpdate => "changed the organization",
            Self::AccountDelete => "deleted the organization",
            Self::AgentCreate => "created the agent {}",
            Self::AgentUpdate => "changed the agent {}",
            Self::AgentDelete => "decommissioned the agent {}",
            Self::CalendarCreate => "created the calendar {}",
            Self::CalendarUpdate => "changed the calendar {}",
            Self::CalendarDelete => "deleted the calendar {}",
            Self::EventCreate => "created the event {}",
            Self::EventUpdate => "changed the event {}",
            Self::EventDelete => "deleted the event {}",
            Self::EventReply => "replied to the invitation to the event {}",
            Self::HoldSetCreate => "placed the hold set {}",
            Self::HoldConfirm => "confirmed the hold {}",
            Self::HoldRelease => "released the hold {}",
            Self::AvailabilityRulesUpdate => "changed the availability rules {}",
            Self::AvailabilityRulesDelete => "removed the availability rules {}",
            Self::WebhookCreate => "created the webhook endpoint {}",
            Self::WebhookUpdate => "changed or tested the webhook endpoint {}",
            Self::WebhookDelete => "deleted the webhook endpoint {}",
            Self::IcalSubscriptionCreate => "created the subscription {}",
            Self::IcalSubscriptionUpdate => "changed or synced the subscription {}",
            Self::IcalSubscriptionDelete => "deleted the subscription {}",
            Self::BookingPageCreate => "created the booking page {}",
            Self::BookingPageUpdate => "changed the booking page {}",
            Self::BookingPageDelete => "deleted the booking page {}",
            Self::BookingPageConsent => "agreed to or refused the emails of the booking page {}",
            Self::BookingCreate => "booked {}",
            Self::BookingMove => "moved the booking {}",
            Self::BookingCancel => "cancelled the booking {}",
            Self::ProposalCreate => "created the proposal {}",
            Self::ProposalRespond => "responded to the proposal {}",
            Self::ProposalResolve => "resolved the proposal {}",
            Self::ProposalCancel => "cancelled the proposal {}",
            Self::RunUndo => "took back the run {}",
            Self::ApprovalApprove => "approved the request {}",
            Self::ApprovalDeny => "denied the request {}",
            Self::ApprovalCancel => "cancelled the request {}",
            Self::ConnectionCreate => "created the connection link {}",
            Self::ConnectionAuthorize => "authorized the connection {}",
            Self::ConnectionRevoke => "revoked the connection or link {}",
            Self::ExternalDestinationUpdate => "set where the events of {} are published",
            Self::ExternalDestinationDelete => "stopped publishing the events of {}",
            Self::RateLimitExceeded => "exceeded a limit",
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_action_has_words_of_its_own() {
        let phrases: BTreeSet<_> = Action::ALL.iter().map(|action| action.phrase()).collect();
        assert_eq!(phrases.len(), Action::ALL.len());
        for phrase in phrases {
            assert!(phrase.starts_with(|first: char| first.is_ascii_lowercase()), "{phrase}");
            assert!(phrase.matches("{}").count() <= 1 && !phrase.ends_with('.'), "{phrase}");
        }
    }
}
