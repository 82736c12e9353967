//! `POST /v1/runs/{name}/undo`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, NoBody, PathOf, QueryOf},
    reply::Changed,
};

/// Takes back all writes of a run, or none.
///
/// What the run created is deleted or cancelled. What it changed or deleted gets its state before the run, with the same
/// identifiers. If something else has changed one of these resources, or its time must be free and is not, nothing is taken
/// back: the answer is 409 `conflict`, code `run_changed`, and `in_the_way` lists these resources. A repetition has nothing
/// to take back. The caller needs access to everything that the run wrote.
#[utoipa::path(
    post,
    path = "/v1/runs/{name}/undo",
    operation_id = "undoRun",
    tag = "Runs",
    params(("name" = String, Path, description = "The name of the run, 1-64 visible ASCII characters."), wire::UndoRun),
    responses((status = 200, description = "What was taken back.", body = wire::UndoneRun))
)]
pub(crate) async fn undo(
    app: Service,
    caller: Caller,
    name: PathOf<String>,
    query: QueryOf<wire::UndoRun>,
    _: NoBody,
) -> Result<Changed<wire::UndoneRun>, ApiError> {
    let (agent, send) = (query.0.agent_id.as_deref(), query.0.send_invitations.unwrap_or(false));
    Ok(Changed(app.undo_run(&caller.0, &name.0, agent, send).await?))
}
