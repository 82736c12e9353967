//! The pages of a connection link.
//!
//! The link has its token in the fragment, which no browser sends. A form takes it from there, and a cookie keeps it
//! while the user signs in and consents.

use axum::{extract::Request, response::Response};
use http::{HeaderMap, StatusCode};
use kalends_accounts::KeptToken;
use kalends_app::{Actor, App, Refusal, operations};
use kalends_bridge::LinkError;
use kalends_kernel::{LIMIT_MAX, Page};
use kalends_web::{ConnectCode, Declined, LinkOver, Offer, OtherOrganization, SignedIn, UnknownLink, UsableAccount};
use kalends_wire as wire;

use super::{
    form::{OwnForm, caller_of, keep_token, new_once, opened_link},
    places::{CONNECT, OFFER},
    shown::{account, because_of, consent, page, provider_title, reason, refused},
};
use crate::{
    Service,
    error::ApiError,
    extract::{Caller, PathOf},
    reply::{cookies, see_other, with_cookie},
};

/// The page to continue on after a refused form, with the text of the link to it.
const TO_OFFER: (&str, &str) = (OFFER, "Back to the link");

/// `GET /console/connect`. It is the same for everyone, so that the token of a new link never stays in the address.
pub(super) async fn ask(headers: HeaderMap) -> Response {
    let has_link = opened_link(&headers).is_some();
    page(StatusCode::OK, ConnectCode { is_wrong: false, has_link }.html())
}

/// `POST /console/connect`
pub(super) async fn open(app: Service, request: Request) -> Result<Response, ApiError> {
    match keep_token(&app, KeptToken::ConnectionLink, request).await? {
        Some(cookie) => Ok(see_other(OFFER, Some(cookie))),
        None => Ok(page(StatusCode::BAD_REQUEST, ConnectCode { is_wrong: true, has_link: false }.html())),
    }
}

/// Somebody reloads the address of a form.
pub(super) async fn again() -> Response {
    see_other(OFFER, None)
}

/// Opens the link with that token, as the caller of the operation that does.
///
/// # Errors
/// Those of [`App::open_connection_link`].
async fn open_link(app: &App, caller: &Actor, token: &str) -> Result<wire::FollowedLink, Refusal> {
    let opener = caller_of(&operations::OPEN_CONNECTION_LINK, caller)?;
    let token = wire::OpenConnectionLink { token: token.to_owned() }.parse()?;
    Ok(app.open_connection_link(&opener, &token).await?.resource)
}

/// `GET /console/connect/offer`
pub(super) async fn offer(app: Service, caller: Caller, headers: HeaderMap) -> Result<Response, ApiError> {
    let Some(token) = opened_link(&headers) else { return Ok(see_other(CONNECT, None)) };
    match open_link(&app, &caller.0, &token).await {
        Ok(asked) => show(&app, &caller.0, &asked).await,
        Err(Refusal::NotFound { .. } | Refusal::Invalid(_)) => unknown(&app, &caller.0).await,
        Err(Refusal::Link(error)) => {
            let shown = over(&app, &caller.0, error).await?;
            // Another user may be able to use it.
            Ok(if error == LinkError::OtherHuman { shown } else { without_link(&app, shown) })
        }
        Err(refusal) => Err(refusal.into()),
    }
}

async fn show(app: &App, caller: &Actor, asked: &wire::FollowedLink) -> Result<Response, ApiError> {
    let me = app.me(caller).await?;
    let (org, link) = (me.org.id.to_string(), asked.link.id.to_string());
    let providers: Vec<_> = asked.providers.iter().map(|name| (*name, provider_title(name))).collect();
    let mut known = app.list_connections(caller, Page { limit: LIMIT_MAX, offset: 0 }).await?.data;
    known.retain(|one| asked.providers.contains(&one.provider) && ["active", "error"].contains(&one.status));
    let usable = |one: &wire::CalendarConnection| UsableAccount {
        id: one.id.to_string(),
        name: account(one),
        connected_at: one.created_at,
    };
    let accounts: Vec<_> = known.iter().map(usable).collect();
    let shown = Offer {
        who: SignedIn { org: &org, organization: &me.org.name, email: &me.user.email },
        link: &link,
        once: &new_once(app.entropy()),
        agent: asked.agent_name.as_deref(),
        calendar: asked.calendar_name.as_deref(),
        expires_at: asked.link.expires_at,
        publishes: asked.link.capabilities.iter().any(|name| name == "publishing"),
        providers: &providers,
        accounts: &accounts,
    };
    Ok(page(StatusCode::OK, shown.html()))
}

/// The page for a link that is not one of the session's organization. It may be one of the user's others.
async fn unknown(app: &App, caller: &Actor) -> Result<Response, ApiError> {
    let me = app.me(caller).await?;
    let org = me.org.id.to_string();
    let others = app.own_orgs(caller).await?.orgs.into_iter().filter(|own| !own.active);
    let others: Vec<_> =
        others.map(|own| OtherOrganization { id: own.org.id.to_string(), name: own.org.name }).collect();
    let who = SignedIn { org: &org, organization: &me.org.name, email: &me.user.email };
    Ok(page(StatusCode::NOT_FOUND, UnknownLink { who, others: &others }.html()))
}

/// The page for a link that cannot be used.
pub(super) async fn over(app: &App, caller: &Actor, error: LinkError) -> Result<Response, ApiError> {
    let me = app.me(caller).await?;
    let org = me.org.id.to_string();
    let refusal = Refusal::from(error);
    let who = SignedIn { org: &org, organization: &me.org.name, email: &me.user.email };
    let shown = page(StatusCode::CONFLICT, LinkOver { who, reason: &reason(&refusal) }.html());
    Ok(because_of(ApiError::from(refusal), shown))
}

/// The page after a form about the link with that identifier. The browser forgets the link, unless it keeps another one.
pub(super) async fn after_link(app: &App, form: &OwnForm, shown: Response) -> Result<Response, ApiError> {
    let is_kept = match opened_link(&form.headers) {
        Some(token) => app.is_token_of_link(&token, form.fields.get("link")).await?,
        None => false,
    };
    Ok(if is_kept { without_link(app, shown) } else { shown })
}

/// The page, which also makes the browser forget the connection link.
fn without_link(app: &App, shown: Response) -> Response {
    with_cookie(shown, &cookies(app).forget(KeptToken::ConnectionLink))
}

/// `POST /console/connect/offer/{provider}`
pub(super) async fn start(app: Service, provider: PathOf<String>, form: OwnForm) -> Result<Response, ApiError> {
    match app.begin_connection(&form.caller, &provider.0, Some(form.fields.get("link")), false).await {
        Ok(begun) => consent(&app, provider_title(&provider.0), begun),
        Err(Refusal::Link(error)) => over(&app, &form.caller, error).await,
        Err(refusal) => refused(refusal, TO_OFFER),
    }
}

/// `POST /console/connect/decline`
pub(super) async fn decline(app: Service, form: OwnForm) -> Result<Response, ApiError> {
    let link = form.fields.get("link");
    let declined = match app.decline_connection_link(&form.caller, link).await {
        Ok(declined) => declined.resource,
        Err(Refusal::Link(error)) => match app.declined_link(&form.caller, link).await? {
            // The form was sent twice.
            Some(declined) => declined,
            None => return over(&app, &form.caller, error).await,
        },
        Err(refusal) => return refused(refusal, TO_OFFER),
    };
    let me = app.me(&form.caller).await?;
    let asker = declined.agent_name.as_deref().unwrap_or(&me.org.name);
    after_link(&app, &form, page(StatusCode::OK, Declined { asker }.html())).await
}
