//! Joining an organization by forms.
//!
//! The link of an invitation has the token in its fragment, which no browser sends. A form takes it from there, and a
//! cookie keeps it while its holder signs in or up.

use axum::{extract::Request, response::Response};
use http::{HeaderMap, StatusCode};
use kalends_accounts::{KeptToken, MemberError, TokenHash};
use kalends_app::{Actor, App, OwnInvitation, Refusal};
use kalends_kernel::base64url;
use kalends_web::{Invited, Join, JoinState};
use serde::Deserialize;

use super::{
    form::{keep_token, once, opened_invitation, read},
    places::{INVITATIONS, JOIN},
    shown::page,
};
use crate::{
    Service,
    error::ApiError,
    extract::{Caller, read_body},
    pages::Fields,
    reply::{cookies, see_other, with_cookie},
};

/// `GET /console/invitations`
pub(super) async fn ask() -> Response {
    page(StatusCode::OK, Invited { is_wrong: false }.html())
}

/// `POST /console/invitations`
pub(super) async fn open(app: Service, request: Request) -> Result<Response, ApiError> {
    match keep_token(&app, KeptToken::Invitation, request).await? {
        Some(cookie) => Ok(see_other(JOIN, Some(cookie))),
        None => Ok(page(StatusCode::BAD_REQUEST, Invited { is_wrong: true }.html())),
    }
}

/// The key of the form that accepts the invitation with that token. So the form accepts the invitation that its page
/// showed, even if another one was opened in between, and it does so once.
fn key_of(token: &str) -> String {
    base64url(&TokenHash::of(token).0)
}

/// `GET /console/join`
pub(super) async fn show(app: Service, caller: Caller, headers: HeaderMap) -> Result<Response, ApiError> {
    let Some(token) = opened_invitation(&headers) else { return Ok(see_other(INVITATIONS, None)) };
    match app.invitation_to(&caller.0, &token).await {
        Ok(OwnInvitation { organization, role }) => {
            let key = key_of(&token);
            let state = JoinState::Invited { organization: &organization, role: role.as_str(), key: &key };
            render(&app, &caller.0, StatusCode::OK, state).await
        }
        Err(refusal) => refused(&app, &caller.0, refusal).await,
    }
}

/// The part of the answer that the page shows.
#[derive(Deserialize)]
struct Joined {
    id: String,
    name: String,
    role: String,
}

/// `POST /console/join`
pub(super) async fn accept(app: Service, mut caller: Caller, request: Request) -> Result<Response, ApiError> {
    let Some(token) = opened_invitation(request.headers()) else { return Ok(see_other(INVITATIONS, None)) };
    let key = key_of(&token);
    let fields = Fields::of_form(&read_body(request.into_body()).await?)?;
    if fields.get("key") != key {
        // Another invitation was opened in between. The user sees it first.
        return Ok(see_other(JOIN, None));
    }
    let outcome =
        once(&app, &mut caller.0, &key, b"", async |caller: &Actor| app.accept_invitation(caller, &token).await);
    let answer = match outcome.await {
        Ok(answer) => answer,
        Err(refusal) => return refused(&app, &caller.0, refusal).await,
    };
    let Joined { id, name, role } = read(&answer)?;
    let state = JoinState::Joined { id: &id, organization: &name, role: &role };
    let shown = render(&app, &caller.0, StatusCode::OK, state).await?;
    Ok(with_cookie(shown, &cookies(&app).forget(KeptToken::Invitation)))
}

/// The page that says why the caller cannot accept the invitation. An invitation for another account is kept.
async fn refused(app: &App, actor: &Actor, refusal: Refusal) -> Result<Response, ApiError> {
    let said = match &refusal {
        Refusal::Invalid(_) => {
            Some(("It is unknown, used, withdrawn or more than 7 days old. Ask for another one.", false))
        }
        Refusal::Member(MemberError::OtherAddress) => {
            Some(("It was sent to another address than yours. Sign in with the address that received it.", true))
        }
        Refusal::Member(MemberError::AlreadyMember) => Some(("You belong to this organization already.", false)),
        Refusal::Member(MemberError::TooManyMemberships) => {
            Some(("You already belong to the maximum number of organizations. Leave one first.", true))
        }
        _ => None,
    };
    let error = ApiError::from(refusal);
    let Some((reason, for_another)) = said else { return Err(error) };
    let shown = render(app, actor, error.status(), JoinState::Refused { reason, for_another }).await?;
    Ok(if for_another { shown } else { with_cookie(shown, &cookies(app).forget(KeptToken::Invitation)) })
}

async fn render(app: &App, actor: &Actor, status: StatusCode, state: JoinState<'_>) -> Result<Response, ApiError> {
    let me = app.me(actor).await?;
    Ok(page(status, Join { name: &me.user.name, email: &me.user.email, state }.html()))
}
