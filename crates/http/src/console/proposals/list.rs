//! The list of all proposals, also of those that have ended.

use std::collections::BTreeSet;

use axum::response::Response;
use http::StatusCode;
use kalends_app::{Actor, App, Refusal};
use kalends_kernel::AgentId;
use kalends_proposals::{Proposal, Status};
use kalends_web::{Paging, Place, ProposalListed, Proposals};
use serde::Deserialize;

use super::{
    super::{
        frame::{Asked, AskedOf, shell},
        places::PROPOSALS,
        shown::{page, refused},
        waiting::{TO_WAITING, waiting_proposal},
    },
    reading::state,
};
use crate::{Service, error::ApiError, extract::Caller};

/// Which proposals the address names.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Filter {
    /// A status, as the API names it; empty for all of them.
    #[serde(default)]
    status: String,
}

/// `GET /console/proposals`
pub(super) async fn show(
    app: Service,
    caller: Caller,
    asked: AskedOf<Asked>,
    filter: AskedOf<Filter>,
) -> Result<Response, ApiError> {
    let filter = filter.map(|filter| filter.0).unwrap_or_default();
    match render(&app, &caller.0, &Asked::of(asked), &filter).await {
        Ok(text) => Ok(page(StatusCode::OK, text)),
        Err(refusal) => refused(refusal, TO_WAITING),
    }
}

async fn render(app: &App, caller: &Actor, asked: &Asked, filter: &Filter) -> Result<String, Refusal> {
    let status = Status::from_name(&filter.status);
    let listed = app.whole_proposals(caller, status, asked.page()).await?;
    let organizers: BTreeSet<AgentId> = listed.data.iter().map(Proposal::organizer).collect();
    let (names, now) = (app.agent_names(caller, &organizers).await?, app.now());
    let entry = |proposal: &Proposal| ProposalListed {
        state: state(proposal.state_at(now)),
        facts: waiting_proposal(proposal, &names),
    };
    let kept = status.iter().map(|status| ("status", status.as_str().to_owned())).collect();
    let paging = Paging { path: PROPOSALS.to_owned(), filter: kept, page: asked.page(), total: listed.total };
    let list = Proposals {
        shell: &shell(caller, Place::Waiting)?,
        status: status.map_or("", Status::as_str),
        proposals: &listed.data.iter().map(entry).collect::<Vec<_>>(),
        paging: &paging,
    };
    Ok(list.html())
}
