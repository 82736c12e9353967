//! What waits for a decision of somebody of the organization.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use axum::{Router, response::Response, routing::get};
use http::{HeaderMap, StatusCode};
use kalends_app::{
    Actor, App, OwnInvitation, Refusal, operations,
    ports::{AgentName, Waits},
};
use kalends_calendars::ports::LiveHold;
use kalends_kernel::{AgentId, LIMIT_MAX, Page, visible};
use kalends_plans::Feature;
use kalends_proposals::{Proposal, Status};
use kalends_web::{
    ApprovalWaiting, ApprovalsWaiting, ClaimWait, ClaimWaiting, EventInView, HoldWaiting, HoldsWaiting,
    InvitationWaiting, OpenedHere, Paging, Place, ProposalWaiting, ProposalsWaiting, Waiting,
};
use kalends_wire::{AccountClaim, Approval};

use super::{
    form::{new_once, opened_invitation, opened_link},
    frame::{Asked, AskedOf, shell},
    places::{Form, WAITING},
    shown::page,
};
use crate::{Service, error::ApiError, extract::Caller};

/// The page with its operation. Everybody may open it: it shows what the user may see.
pub(super) const OPERATIONS: &[Form] = &[("GET", WAITING, &operations::GET_ME)];

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new().route(WAITING, get(show))
}

/// The page, to continue on after a refused form, with the text of the link to it.
pub(super) const TO_WAITING: (&str, &str) = (WAITING, "See what waits for you");

/// The maximum number of entries of a kind.
const ENTRIES_MAX: u32 = 50;
/// The maximum number of approvals. Others are on their list.
const APPROVALS_MAX: u32 = 20;

/// `GET /console/waiting`
async fn show(app: Service, caller: Caller, headers: HeaderMap, asked: AskedOf<Asked>) -> Result<Response, ApiError> {
    let (caller, asked) = (&caller.0, Asked::of(asked));
    // Most often little waits, so what there is of each kind is read only if there is any.
    let waits = app.waits(caller).await?;
    let (proposals, total) = proposals(&app, caller, waits, asked.page()).await?;
    let paging = Paging { path: WAITING.to_owned(), filter: Vec::new(), page: asked.page(), total };
    let holds = Holds::read(&app, caller, waits).await?;
    let (waiting, all_waiting) = approvals(&app, caller, waits).await?;
    let shown = Waiting {
        shell: &shell(caller, Place::Waiting)?,
        done: asked.done(),
        now: app.now(),
        opened: &opened(&app, caller, &headers).await?,
        approvals: ApprovalsWaiting {
            entries: &waiting,
            total: all_waiting,
            may_decide: caller.may(&operations::APPROVE),
        },
        holds: HoldsWaiting {
            entries: &holds.entries,
            may_end: caller.may(&operations::CONFIRM_HOLD) && caller.needs(Feature::Holds).is_ok(),
            has_more: holds.has_more,
        },
        proposals: ProposalsWaiting { entries: &proposals, paging: &paging, has_list: may_list(caller) },
        claims: &claims(&app, caller).await?,
        invitations: invitations(caller, waits),
    };
    Ok(page(StatusCode::OK, shown.html()))
}

/// What the browser has opened.
async fn opened(app: &App, caller: &Actor, headers: &HeaderMap) -> Result<OpenedHere, Refusal> {
    let invitation = match opened_invitation(headers) {
        None => None,
        Some(token) => match app.invitation_to(caller, &token).await {
            Ok(OwnInvitation { organization, role }) => Some(InvitationWaiting { organization, role: role.as_str() }),
            // It is over, or for another user.
            Err(Refusal::Invalid(_) | Refusal::Member(_)) => None,
            Err(refusal) => return Err(refusal),
        },
    };
    Ok(OpenedHere { invitation, has_link: opened_link(headers).is_some() })
}

/// The writes that wait for approval and expire first, and the number of all.
async fn approvals(app: &App, caller: &Actor, waits: Waits) -> Result<(Vec<ApprovalWaiting>, u64), Refusal> {
    if waits.approvals == 0 || !caller.may(&operations::LIST_APPROVALS) {
        return Ok((Vec::new(), 0));
    }
    let first = app.approvals_to_decide(caller, APPROVALS_MAX).await?;
    let agents: BTreeSet<_> = first.iter().map(|approval| approval.agent_id).collect();
    let names = app.agent_names(caller, &agents).await?;
    let shown: Vec<_> = first.iter().map(|approval| waiting_approval(approval, &names)).collect();
    // They were counted a moment earlier.
    let total = waits.approvals.max(u64::try_from(shown.len()).unwrap_or(0));
    Ok((shown, total))
}

/// An approval as an entry of a list, given the names of agents.
pub(super) fn waiting_approval(approval: &Approval, names: &BTreeMap<AgentId, AgentName>) -> ApprovalWaiting {
    ApprovalWaiting {
        id: approval.id.to_string(),
        summary: approval.summary.clone(),
        agent: asking_agent(approval, names),
        created_at: approval.created_at,
        expires_at: approval.expires_at,
    }
}

/// The name of the agent whose key asks, as a person sees it, or its identifier.
pub(super) fn asking_agent(approval: &Approval, names: &BTreeMap<AgentId, AgentName>) -> String {
    let name = names.get(&approval.agent_id).map(|agent| visible(&agent.name));
    name.filter(|name| !name.trim().is_empty()).unwrap_or_else(|| approval.agent_id.to_string())
}

/// The holds that expire first.
#[derive(Default)]
struct Holds {
    entries: Vec<HoldWaiting>,
    has_more: bool,
}

impl Holds {
    /// Reads one hold more than the page shows, to know whether there are others.
    async fn read(app: &App, caller: &Actor, waits: Waits) -> Result<Self, Refusal> {
        if !waits.has_holds || !caller.may(&operations::LIST_EVENTS) {
            return Ok(Self::default());
        }
        let mut live = app.live_holds(caller, ENTRIES_MAX + 1).await?;
        let has_more = live.len() > ENTRIES_MAX as usize;
        live.truncate(ENTRIES_MAX as usize);
        let entries = live.into_iter().filter_map(|live| waiting_hold(live, new_once(app.entropy()))).collect();
        Ok(Self { entries, has_more })
    }
}

/// A live hold as an entry, with the key of its forms.
fn waiting_hold(live: LiveHold, once: String) -> Option<HoldWaiting> {
    let LiveHold { event, calendar_name, zone } = live;
    let span = event.times.span;
    Some(HoldWaiting {
        expires_at: event.hold.map(|hold| hold.expires_at)?,
        id: event.id.to_string(),
        calendar: calendar_name,
        zone,
        span,
        dates: event.times.all_day.then(|| EventInView::whole_days(span, zone)),
        once,
        title: event.title,
    })
}

/// The pending proposals of a page of the list, and the number of all.
async fn proposals(
    app: &App,
    caller: &Actor,
    waits: Waits,
    page: Page,
) -> Result<(Vec<ProposalWaiting>, u64), Refusal> {
    if !waits.has_proposals || !may_list(caller) {
        return Ok((Vec::new(), 0));
    }
    let listed = app.whole_proposals(caller, Some(Status::Pending), page).await?;
    let organizers: BTreeSet<_> = listed.data.iter().map(Proposal::organizer).collect();
    let names = app.agent_names(caller, &organizers).await?;
    Ok((listed.data.iter().map(|proposal| waiting_proposal(proposal, &names)).collect(), listed.total))
}

/// A proposal as an entry of a list, given the names of agents.
pub(super) fn waiting_proposal(proposal: &Proposal, names: &BTreeMap<AgentId, AgentName>) -> ProposalWaiting {
    let organizer = names.get(&proposal.organizer());
    ProposalWaiting {
        id: proposal.id().to_string(),
        title: proposal.title().to_owned(),
        organizer: organizer.map_or_else(|| proposal.organizer().to_string(), |agent| agent.name.clone()),
        expires_at: proposal.expires_at(),
        answered: proposal.responses().len(),
        participants: proposal.participants().len(),
    }
}

/// Whether the caller may see proposals.
fn may_list(caller: &Actor) -> bool {
    caller.may(&operations::LIST_PROPOSALS) && caller.needs(Feature::Scheduling).is_ok()
}

/// The newest claims of the user that wait for something, the oldest of them first.
async fn claims(app: &App, caller: &Actor) -> Result<Vec<ClaimWaiting>, Refusal> {
    // Claims whose code was tried too often are read too.
    let found = app.unfinished_claims(caller, LIMIT_MAX).await?;
    let mut waiting: Vec<_> = found.iter().filter_map(waiting_claim).collect();
    waiting.drain(..waiting.len().saturating_sub(ENTRIES_MAX as usize));
    Ok(waiting)
}

/// A claim, if it waits for something.
fn waiting_claim(claim: &AccountClaim) -> Option<ClaimWaiting> {
    let wait = match (claim.status, claim.expires_at, claim.takes_effect_at) {
        ("pending", Some(until), _) => ClaimWait::Code(until),
        ("held", _, Some(at)) => ClaimWait::Effect(at),
        _ => return None,
    };
    let org = claim.org_id.map(|org| org.to_string()).unwrap_or_default();
    Some(ClaimWaiting { id: claim.id.to_string(), org, wait })
}

/// The number of invitations that the organization has sent and that are open, for those who may invite people.
fn invitations(caller: &Actor, waits: Waits) -> usize {
    if caller.may(&operations::INVITE_MEMBER) { usize::try_from(waits.invitations).unwrap_or(usize::MAX) } else { 0 }
}
