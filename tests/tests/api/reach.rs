//! Access: every operation of the description, by every kind of caller, on the caller's own things, a sibling's,
//! shared, foreign and missing ones.
//!
//! The operations come from the service's own description. The expected access of each is repeated here, so that a new
//! route cannot be added without an entry.

use std::collections::BTreeSet;

use kalends_e2e::Database;
use reqwest::Method;
use rstest::rstest;
use rstest_reuse::apply;

use crate::{
    reach_operations::{About, Operation, Part, in_parts, operations},
    reach_world::{CALLERS, THINGS, Who, Whose, World, scopes_of},
};

/// The expected answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ExpectedAnswer {
    /// 2xx, or a fixed other status for operations that cannot succeed here.
    Yes,
    Refused(u16, &'static str),
}

/// The expected answer of a cell.
pub(crate) fn cell(operation: &Operation, who: Who, whose: Whose) -> ExpectedAnswer {
    let about = operation.about();
    let writes = operation.method != Method::GET;
    let forbidden = ExpectedAnswer::Refused(403, "forbidden");
    if let Some(opened) = opened(operation, who, whose) {
        return opened;
    }
    let who = if scopes_of(who).is_empty() { who } else { Who::Own };
    if role_of(who).is_some_and(|role| role < least(operation)) {
        return forbidden;
    }
    match (about, who) {
        (About::Public, _) | (About::Console, Who::Session) => return ExpectedAnswer::Yes,
        (About::Console, who) if role_of(who).is_some() => return ExpectedAnswer::Yes,
        (About::Console, _) => return ExpectedAnswer::Refused(401, "authentication_error"),
        (About::Operator, _)
        | (About::Tools, Who::Session | Who::Owner | Who::Admin | Who::Member | Who::Viewer)
        | (_, Who::Revoked | Who::Garbage | Who::Nobody) => {
            return ExpectedAnswer::Refused(401, "unauthorized");
        }
        (_, Who::Waitlisted) => return ExpectedAnswer::Refused(403, "account_waitlisted"),
        (About::Tools, _) => return ExpectedAnswer::Yes,
        (
            About::Organization
            | About::OrganizationsAgent
            | About::OrganizationsKey
            | About::OrganizationsWebhook
            | About::Decision,
            _,
        ) if is_scoped(who) => return forbidden,
        (_, Who::Paused) if writes => return forbidden,
        (_, Who::Sandbox | Who::Session) if is_paid_for(&operation.id) => {
            return ExpectedAnswer::Refused(403, "plan_required");
        }
        (About::Organization | About::Common, _) => return ExpectedAnswer::Yes,
        _ => {}
    }
    let missing = ExpectedAnswer::Refused(404, "not_found");
    match (who, whose) {
        (_, Whose::Missing) => missing,
        (Who::Foreign, Whose::Foreign) => ExpectedAnswer::Yes,
        (Who::Foreign | Who::Sandbox | Who::Session, _) | (_, Whose::Foreign) => missing,
        (Who::Organization | Who::Owner | Who::Admin | Who::Member | Who::Viewer, _)
        | (Who::Own, Whose::Own)
        | (Who::Sibling, Whose::Sibling)
        | (Who::Paused, Whose::Paused) => ExpectedAnswer::Yes,
        _ => forbidden,
    }
}

/// What a scope of the key opens: the cell is then as for a key of the organization.
fn opened(operation: &Operation, who: Who, whose: Whose) -> Option<ExpectedAnswer> {
    let scope = match operation.id.as_str() {
        "getAvailability" | "getAgentAvailability" | "getCalendarAvailability" => "freebusy:org",
        "listAgents" | "getAgent" => "directory:org",
        "createHoldSet" => "holds:org",
        _ => return None,
    };
    let is_list = operation.id == "listAgents";
    scopes_of(who).contains(&scope).then_some(match whose {
        Whose::Foreign | Whose::Missing if !is_list => ExpectedAnswer::Refused(404, "not_found"),
        _ => ExpectedAnswer::Yes,
    })
}

/// The role of the organization's own users.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Role {
    Viewer,
    Member,
    Admin,
    Owner,
}

fn role_of(who: Who) -> Option<Role> {
    match who {
        Who::Owner => Some(Role::Owner),
        Who::Admin => Some(Role::Admin),
        Who::Member => Some(Role::Member),
        Who::Viewer => Some(Role::Viewer),
        _ => None,
    }
}

/// The lowest role that may call the operation.
fn least(operation: &Operation) -> Role {
    let about = operation.about();
    match operation.id.as_str() {
        _ if [About::Public, About::Operator, About::Tools].contains(&about) => Role::Viewer,
        "deleteAccount" => Role::Owner,
        "updateOrg"
        | "acceptTermsInConsole"
        | "exportAccount"
        | "regenerateKey"
        | "createScopedKeyFromConsole"
        | "createScopedKey"
        | "deleteScopedKey"
        | "inviteMember"
        | "updateMember"
        | "agentVerify"
        | "acceptTerms"
        | "putReplyTo"
        | "deleteReplyTo"
        | "createWebhook"
        | "updateWebhook"
        | "deleteWebhook"
        | "rotateWebhookSecret"
        | "testWebhook"
        | "retryWebhookDelivery" => Role::Admin,
        // A user's own account, and feedback.
        "sendFeedback" => Role::Viewer,
        _ if about == About::Console || operation.method == Method::GET => Role::Viewer,
        _ => Role::Member,
    }
}

fn is_scoped(who: Who) -> bool {
    matches!(who, Who::Own | Who::Sibling | Who::Paused)
}

/// Whether it needs a paid feature.
fn is_paid_for(operation: &str) -> bool {
    // Holds that were placed on another plan can still be read.
    let named = operation.contains("Hold") && !["getHoldSet", "listHoldSets"].contains(&operation)
        || operation.contains("Proposal");
    named || ["getAvailability", "createScopedKey", "listScopedKeys", "deleteScopedKey"].contains(&operation)
}

/// Whether a success uses the thing up.
fn consumes(operation: &Operation) -> bool {
    let ends = ["/confirm", "/release", "/respond", "/resolve", "/cancel", "/retry", "/approve", "/deny"];
    operation.method == Method::DELETE || ends.iter().any(|end| operation.path.ends_with(end))
}

/// Whether it is a user's operation on an existing link, connection or grant.
fn names_a_connection(operation: &Operation) -> bool {
    let below = ["/v1/connection-links/", "/v1/calendar-connections/", "/v1/availability-grants/"];
    below.iter().any(|below| operation.path.starts_with(below))
        || operation.path.ends_with("/external-destination")
        || operation.id == "createAvailabilityGrant"
}

/// The owners of the things that the operations are about.
pub(crate) fn targets_of(about: About) -> &'static [Whose] {
    match about {
        About::Public | About::Operator | About::Console | About::Organization | About::Common | About::Tools => {
            &[Whose::Missing]
        }
        // Agents have no owner but themselves. A shared calendar has no subscriptions and no organizer of proposals.
        About::OrganizationsAgent | About::OrganizationsKey | About::Agent | About::Subscription | About::Proposal => {
            &[Whose::Own, Whose::Sibling, Whose::Paused, Whose::Foreign, Whose::Missing]
        }
        About::OrganizationsWebhook => &[Whose::Own, Whose::Foreign, Whose::Missing],
        // The key of a paused agent has made no run.
        About::Run => &[Whose::Own, Whose::Sibling, Whose::Missing],
        // It asks for nothing either.
        About::Approval | About::Decision => &[Whose::Own, Whose::Sibling, Whose::Foreign, Whose::Missing],
        About::Calendar
        | About::Event
        | About::Hold
        | About::HoldSet
        | About::Rules
        | About::BookingPage
        | About::Booking
        | About::Link => &THINGS,
    }
}

#[apply(in_parts)]
#[tokio::test]
async fn every_cell_of_the_matrix_is_as_expected(#[case] database: Database, part: Part) {
    let mut world = World::of_everybody(database).await;
    let operations = operations(&world.server).await;
    assert!(operations.len() >= 120, "{}", operations.len());
    let mut wrong = BTreeSet::new();
    let mut cells = 0;
    for operation in part.of(&operations) {
        let about = operation.about();
        for whose in targets_of(about) {
            let mut things = world.things(operation, *whose).await;
            for who in CALLERS {
                let ruled = cell(operation, who, *whose);
                // Some that write end the session, so they are only called as a new user.
                let writes = operation.method != Method::GET;
                if about == About::Console && role_of(who).is_some() && writes && ruled == ExpectedAnswer::Yes {
                    continue;
                }
                let answer = world.ask(operation, who, &things).await;
                let status = answer.status;
                let kind = answer.at("/error/type");
                let right = match ruled {
                    // Allowed, but the code or the token is wrong, or the claim or the feed is unknown.
                    ExpectedAnswer::Yes
                        if ["agentVerify", "verifyClaim", "resetPassword", "verifyEmail"]
                            .contains(&operation.id.as_str()) =>
                    {
                        status == 400
                    }
                    ExpectedAnswer::Yes if ["revokeClaim", "getFeed"].contains(&operation.id.as_str()) => status == 404,
                    // No page has this slug.
                    ExpectedAnswer::Yes
                        if ["/book/", "/rsvp/", "/replies/"].iter().any(|below| operation.path.starts_with(below)) =>
                    {
                        status == 404
                    }
                    ExpectedAnswer::Yes if operation.id == "acceptInvitation" => status == 400,
                    // A first code is awaited, and this one is wrong. The second factor is not on.
                    ExpectedAnswer::Yes if operation.id == "confirmSecondFactor" => [400, 409].contains(&status),
                    ExpectedAnswer::Yes
                        if ["renewRecoveryCodes", "removeSecondFactor"].contains(&operation.id.as_str()) =>
                    {
                        status == 409
                    }
                    ExpectedAnswer::Yes if ["updateMember", "deleteMember"].contains(&operation.id.as_str()) => {
                        status == 404
                    }
                    // No provider is configured.
                    ExpectedAnswer::Yes if operation.path.contains("/oauth/") => status == 404,
                    // There is no calendar server at that address.
                    ExpectedAnswer::Yes if operation.id == "connectCaldav" => status == 400,
                    // The user has followed no link and connected nothing. The stand-in is switched off.
                    ExpectedAnswer::Yes if about == About::Console && names_a_connection(operation) => status == 404,
                    // Users sign up on the free plan, which has no scoped keys.
                    ExpectedAnswer::Yes if operation.id == "createScopedKeyFromConsole" => kind == "plan_required",
                    ExpectedAnswer::Yes => (200..300).contains(&status),
                    ExpectedAnswer::Refused(expected, type_is) => status == expected && kind == type_is,
                };
                if ruled == ExpectedAnswer::Refused(403, "forbidden") && role_of(who).is_some() {
                    assert_eq!(answer.at("/error/code"), "role_too_low", "{}", answer.describe());
                }
                if !right {
                    wrong
                        .insert(format!("{} by {who:?} about {whose:?}: {ruled:?}, got {status} {kind}", operation.id));
                }
                let paused = !matches!(about, About::Public | About::Tools)
                    && who == Who::Paused
                    && operation.method != Method::GET;
                if paused
                    && matches!(
                        about,
                        About::Agent
                            | About::Calendar
                            | About::Event
                            | About::Subscription
                            | About::Proposal
                            | About::Link
                    )
                {
                    assert_eq!(answer.at("/error/code"), "agent_paused", "{}", answer.describe());
                }
                cells += 1;
                if ruled == ExpectedAnswer::Yes && consumes(operation) {
                    things = world.things(operation, *whose).await;
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {cells} cells:\n{}", wrong.len(), Vec::from_iter(wrong).join("\n"));
}
