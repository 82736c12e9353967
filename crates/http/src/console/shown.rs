//! What the console's pages have in common.

use std::sync::Arc;

use axum::response::Response;
use http::{HeaderValue, StatusCode, header};
use kalends_accounts::MemberError;
use kalends_app::{App, ConsentBegun, Missing, Obstacles, Refusal};
use kalends_approvals::Status;
use kalends_bookings::Colour;
use kalends_bridge::{CalendarProvider, ConnectionStatus, DestinationError};
use kalends_calendars::HoldError;
use kalends_plans::{Feature, Metric};
use kalends_proposals::ProposalError;
use kalends_time::Zone;
use kalends_web::{Consent, Href, Next, Parted, Problem, Problems, ProviderChoice, event_time, headers};
use kalends_wire as wire;

use crate::{
    error::ApiError,
    pages::html,
    reply::{cookies, see_other, with_cookie},
};

/// Why an address cannot be proved.
pub(crate) const TAKEN: &str = "Another account has confirmed this address. Sign in to that account instead.";

/// Why a form that was sent before with other content has no effect, on the page that shows it again.
const SENT_BEFORE: &str = "This form was sent before, with other content. Send it again to do this too.";

/// Why terms are not accepted.
pub(crate) const STALE_TERMS: &str = "The terms have changed. Read and accept the new ones.";

/// The page with the terms. The configuration checks that their address is one of a page.
pub(crate) fn terms_page(app: &App) -> Option<Href> {
    Href::new(app.settings().terms.url.clone()).or_else(|| Href::new("/terms"))
}

/// The answer to a user whose session has ended with the membership of the organization.
pub(crate) fn parted(app: &App, parted: &Parted<'_>) -> Response {
    with_cookie(page(StatusCode::OK, parted.html()), &cookies(app).clear())
}

/// A page of the console. A form on it states its origin, which a browser hides from forms of pages that send no
/// referrer.
pub(crate) fn page(status: StatusCode, text: String) -> Response {
    let mut response = html(status, text);
    response.headers_mut().insert(header::REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    response
}

/// A page in the frame that shows the preview of a booking page with that accent.
pub(super) fn in_frame(status: StatusCode, text: String, accent: Option<Colour>) -> Response {
    let mut response = html(status, text);
    // The policy consists of characters that a header may have.
    if let Ok(policy) = HeaderValue::try_from(headers::policy_of_preview(accent)) {
        response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    response
}

pub(crate) fn providers(app: &App) -> Vec<ProviderChoice<'_>> {
    let offered = app.sign_in_providers().iter();
    offered.map(|offered| ProviderChoice { name: offered.provider.as_str(), title: &offered.title }).collect()
}

/// Whether the page at which a user signs in or up offers to sign up. `invitation` is the token of the invitation that
/// the user has opened, which may or may not be valid.
pub(crate) fn admits(app: &App, next: Next<'_>, invitation: Option<&str>) -> bool {
    let sign_ups = app.settings().sign_ups;
    sign_ups.admits(false) || sign_ups.admits(next == Next::Join && invitation.is_some())
}

/// The page that shows why a form was refused. Like any refusal, it can be in the audit log, and says when to try again.
pub(crate) fn because_of(error: impl Into<Arc<ApiError>>, mut page: Response) -> Response {
    let error = error.into();
    error.add_retry_after(page.headers_mut());
    page.extensions_mut().insert(error);
    page
}

/// How long to wait, in words.
pub(crate) fn wait(seconds: i64) -> String {
    match seconds {
        ..=90 => format!("{} seconds", seconds.max(2)),
        _ => format!("{} minutes", seconds.saturating_add(59) / 60),
    }
}

/// Why a use case did not do what a form asked for, as a sentence for the page.
pub(crate) fn reason(refusal: &Refusal) -> String {
    let text = match refusal {
        Refusal::Invalid(errors) if errors.iter().any(|error| error.param == "audience") => {
            "These agents cannot be chosen here. Choose all agents, including future ones."
        }
        Refusal::IdempotencyMismatch => "This form was sent before, with other content. Nothing was done now.",
        Refusal::RoleTooLow => "Your role does not allow this.",
        Refusal::StaleTerms(_) => STALE_TERMS,
        Refusal::Unverified => {
            "The email address of the organization is not confirmed yet, so it cannot write to other people. Confirm \
             the address first."
        }
        Refusal::Member(MemberError::AlreadyMember) => "This person is a member already.",
        Refusal::NotRefreshed(ConnectionStatus::Paused) => "The account is paused. Resume it first.",
        Refusal::UnreadableConnection => {
            "What is stored about this account cannot be read. Disconnect it, and connect it again."
        }
        Refusal::NotRefreshed(_) => {
            "The provider no longer accepts what you gave. Renew your consent, or enter the password again, first."
        }
        Refusal::CalendarServer => {
            "The server does not answer, or its answer cannot be understood. Nothing was connected. Check the address, \
             or try again later."
        }
        Refusal::TooManyExamples => "You have as many example calendars as are allowed. Disconnect one of them first.",
        Refusal::NotFound { missing: Missing::Connection, .. } => "You have no such account connected here.",
        Refusal::NotFound { missing: Missing::Destination, .. } => {
            "The events of this calendar are not copied to an account of yours. If they are copied to another member's \
             account, only that member sees and stops it."
        }
        Refusal::NotPublished(_) | Refusal::Destination(DestinationError::Provider) => {
            "This provider's calendars give busy times only. Events cannot be copied to them. Connect a Microsoft \
             account."
        }
        Refusal::Destination(DestinationError::Consent) => {
            "You have not allowed copying events to this account yet. Allow it first, under Connected calendars: \
             Copied events."
        }
        Refusal::Destination(DestinationError::Elsewhere) => {
            "The events of this calendar are copied to another account, or those copies are still being deleted. Stop \
             copying there first, or try again in a minute. If it is another member's account, ask that member."
        }
        Refusal::NotFound { missing: Missing::ExternalCalendar, .. } => "The account has no such calendar any more.",
        Refusal::NotFound { missing: Missing::Calendar, .. } => "There is no such calendar any more.",
        Refusal::NotFound { missing: Missing::AvailabilityRules, .. } => "The calendar has no rules any more.",
        Refusal::NotFound { missing: Missing::Member, .. } => "There is no such member or invitation any more.",
        Refusal::NotFound { missing: Missing::Event, .. } => "There is no such event any more.",
        Refusal::NotFound { missing: Missing::Agent, .. } => "There is no such agent any more.",
        Refusal::NotFound { missing: Missing::Subscription, .. } => "There is no such subscription any more.",
        Refusal::NotFound { missing: Missing::Key, .. } => "There is no such key any more.",
        Refusal::PlanRequired(Feature::CrossAgentAvailability) => {
            "Your plan does not include times of several agents together. Choose one agent, or calendars of one agent."
        }
        Refusal::PlanRequired(Feature::ScopedKeys) => "Your plan does not include keys of agents.",
        Refusal::PlanRequired(Feature::Holds) => "Your plan does not include holds.",
        Refusal::PlanRequired(Feature::UnboundedRecurrence) => {
            "Your plan does not include series that last longer than 90 days. End it sooner."
        }
        Refusal::LimitReached { metric: Metric::ScopedKeys, limit, .. } => {
            return format!("Your plan's limit of keys of agents is {limit}. Revoke one that is no longer used.");
        }
        Refusal::LimitReached { metric, limit, .. } => {
            return format!("{}: the limit of {limit} is reached. {}", metric.title(), metric.at_limit());
        }
        Refusal::NotFound { missing: Missing::ConnectionLink, .. } => "There is no such link here.",
        Refusal::NotFound { missing: Missing::Claim, .. } => "There is no such claim.",
        Refusal::NotFound { missing: Missing::BookingPage, .. } => "There is no such booking page any more.",
        Refusal::NotFound { missing: Missing::Booking, .. } => "There is no such booking any more.",
        Refusal::NotFound { missing: Missing::Webhook, .. } => "There is no such webhook any more.",
        Refusal::NotFound { missing: Missing::Delivery, .. } => "There is no such delivery any more.",
        Refusal::WebhookInactive => "The webhook is switched off. Switch it on first.",
        Refusal::NotFound { missing: Missing::Proposal, .. } => "There is no such proposal any more.",
        Refusal::NotFound { missing: Missing::Approval, .. } => {
            "There is no such approval in this organization. If you belong to several, switch to the other one first."
        }
        Refusal::ApprovalDecided(Status::Expired) => "It has expired, so nothing was changed.",
        Refusal::ApprovalDecided(_) => "This was already decided or cancelled, so nothing was changed.",
        Refusal::PlanRequired(Feature::Scheduling) => "Your plan does not include proposals.",
        Refusal::Proposal(error) => return of_proposal(error),
        Refusal::Hold(HoldError::NotHeld(_)) => "This is not a hold any more.",
        Refusal::Hold(HoldError::Expired(_)) => "The hold has expired. Hold the time again.",
        Refusal::Hold(HoldError::StatusIsNotSet) => "A hold can only be confirmed, released or cancelled.",
        Refusal::SlotTaken(obstacles) => return taken(obstacles, Zone::UTC) + " These times are in UTC.",
        Refusal::NotFound { missing: Missing::CalendarProvider, .. } => "This provider is not offered here.",
        refusal => return sentence(&refusal.to_string()),
    };
    text.to_owned()
}

/// Why a proposal does not allow something, as a sentence.
fn of_proposal(error: &ProposalError) -> String {
    let text = match error {
        ProposalError::NotPending(_) => "The proposal has ended, so it can no longer change.",
        ProposalError::NotParticipant => "This agent does not take part in the proposal.",
        ProposalError::Duplicate(_) => "This agent has answered before. An agent answers once.",
        ProposalError::NoResponses => "Nobody has answered yet.",
        ProposalError::NoSlotLeft => "All times have begun. Cancel the proposal, and propose other times.",
        ProposalError::TooFewAccepts(least) => {
            return format!("No remaining time has enough acceptances ({least} needed).");
        }
        other => return sentence(&other.to_string()),
    };
    text.to_owned()
}

/// What is at a time that must be free, with times in that zone.
pub(super) fn taken(obstacles: &Obstacles, zone: Zone) -> String {
    let mut text = "Something else is at that time".to_owned();
    if let Some((_, block)) = obstacles.conflicts.first() {
        text.push_str(&format!(": {}", event_time(block.span, None, zone)));
    }
    if let Some(free) = obstacles.nearest_free.first() {
        text.push_str(&format!(". The nearest free time is {}", event_time(*free, None, zone)));
    }
    text + "."
}

/// A message of the API as a sentence.
pub(super) fn sentence(message: &str) -> String {
    let end = if message.ends_with('.') { "" } else { "." };
    capitalized(message) + end
}

/// The text with a capital letter at its beginning.
pub(super) fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
    first + letters.as_str()
}

/// What a form that was refused shows: its problems, and the error for [`because_of`]. `known` are the names of its fields.
///
/// # Errors
/// The refusal, if the session has ended or the server failed. These have pages of their own.
pub(crate) fn problems(refusal: Refusal, known: &[&str]) -> Result<(Problems, ApiError), ApiError> {
    let problems = match &refusal {
        Refusal::Invalid(errors) => {
            let mut problems = Problems::default();
            for error in errors.iter() {
                problems.add(known, &error.param, &sentence(&error.message));
            }
            problems
        }
        Refusal::IdempotencyMismatch => Problems::general(SENT_BEFORE.to_owned()),
        refusal => Problems::general(reason(refusal)),
    };
    Ok((problems, for_page(refusal)?))
}

/// The error of a refusal that a page can show.
///
/// # Errors
/// The refusal, if the session has ended or the server failed. These have pages of their own.
pub(crate) fn for_page(refusal: Refusal) -> Result<ApiError, ApiError> {
    let error = ApiError::from(refusal);
    let status = error.status();
    if status.is_client_error() && status != StatusCode::UNAUTHORIZED { Ok(error) } else { Err(error) }
}

/// The page of a form that was refused, which says why; or, if it cannot be shown any more, the page that says why not.
///
/// # Errors
/// As [`refused`].
pub(crate) fn shown_again(
    error: ApiError,
    text: Result<String, Refusal>,
    to: (&'static str, &'static str),
) -> Result<Response, ApiError> {
    match text {
        Ok(text) => {
            let shown = page(error.status(), text);
            Ok(because_of(error, shown))
        }
        Err(refusal) => refused(refusal, to),
    }
}

/// The page; or, if it cannot be shown, the page that says why not.
///
/// # Errors
/// As [`refused`].
pub(super) fn page_or_refused(
    text: Result<String, Refusal>,
    to: (&'static str, &'static str),
) -> Result<Response, ApiError> {
    match text {
        Ok(text) => Ok(page(StatusCode::OK, text)),
        Err(refusal) => refused(refusal, to),
    }
}

/// The page that says why a form was refused, with a link to another page.
///
/// # Errors
/// The refusal, if the session has ended or the server failed. These have pages of their own.
pub(crate) fn refused(refusal: Refusal, to: (&'static str, &'static str)) -> Result<Response, ApiError> {
    let reason = reason(&refusal);
    let error = for_page(refusal)?;
    let shown = page(error.status(), Problem { title: "That could not be done", reason: &reason, to }.html());
    Ok(because_of(error, shown))
}

/// The answer to a form that removes something: the list, which says what was done. What is gone may have been removed
/// by the same form, sent twice.
///
/// # Errors
/// As [`refused`].
pub(super) fn after_removal<T>(
    outcome: Result<T, Refusal>,
    done: &str,
    list: (&'static str, &'static str),
) -> Result<Response, ApiError> {
    let done = match outcome {
        Ok(_) => done,
        Err(Refusal::NotFound { .. }) => "gone",
        Err(refusal) => return refused(refusal, list),
    };
    Ok(see_other(&format!("{}?done={done}", list.0), None))
}

/// The name of a connected account: its provider, and the user's label.
pub(crate) fn account(connection: &wire::CalendarConnection) -> String {
    let provider = provider_title(connection.provider);
    match &connection.label {
        Some(label) => format!("{provider} ({label})"),
        None => provider.to_owned(),
    }
}

/// Whether events can be copied to calendars of the provider with that name.
pub(super) fn takes_copies(name: &str) -> bool {
    CalendarProvider::from_name(name).is_some_and(CalendarProvider::takes_copies)
}

/// The name by which people know the provider.
pub(crate) fn provider_title(name: &str) -> &'static str {
    CalendarProvider::from_name(name).map_or("your provider", CalendarProvider::title)
}

/// The page that leads to the provider, which asks for the user's consent. Its cookie binds the attempt to the browser.
///
/// # Errors
/// [`ApiError::Internal`] if the address of the provider is not a page's. The configuration checks that.
pub(crate) fn consent(app: &App, provider: &str, begun: ConsentBegun) -> Result<Response, ApiError> {
    let address = Href::new(begun.answered.resource.authorization_url).ok_or(ApiError::Internal)?;
    let shown = html(StatusCode::OK, Consent { provider, address }.html());
    Ok(with_cookie(shown, &cookies(app).set_state(&begun.state)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_limit_has_words_for_people() {
        for metric in Metric::ALL {
            let said = reason(&Refusal::LimitReached { metric, limit: 7, retry_after: 60 });
            assert!(said.contains('7') && said.ends_with('.'), "{said}");
            assert!(!said.contains('_'), "{said}");
        }
        let said = reason(&Refusal::LimitReached { metric: Metric::Agents, limit: 7, retry_after: 60 });
        assert_eq!(
            said,
            "Agents: the limit of 7 is reached. No agent can be created until another one is decommissioned."
        );
    }

    #[test]
    fn messages_become_sentences() {
        for (message, expected) in [("the link is over", "The link is over."), ("Done.", "Done."), ("", ".")] {
            assert_eq!(sentence(message), expected);
        }
    }
}
