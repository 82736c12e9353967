//! The forms of the console, and what a browser keeps for them.

use std::sync::Arc;

use axum::{
    extract::{FromRequest, MatchedPath, Request},
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use http::{HeaderMap, header, request::Parts};
use kalends_accounts::{KeptToken, kept_token};
use kalends_app::{Actor, Answer, Answered, App, IfMatch, Refusal, Repeater, Request as Called, operations::Operation};
use kalends_kernel::Version;
use kalends_web::{NoEffect, Problems};

use super::{
    hidden::{ORG, VERSION},
    kept::{Kept, may_be_kept, no_preview},
    parts::{Content, comes_from_form},
    places::PREVIEW_BOOKING_PAGE,
    shown::{because_of, problems, wait},
};
pub(super) use crate::once::{Earlier, ONCE, begin_anonymous, earlier, is_once, new_once, once, read};
use crate::{
    error::ApiError,
    extract::read_body,
    once::begin,
    pages::{Fields, WAS, mailed_code},
    provenance::provenance,
    reply::cookies,
};

/// Marks a form of an address that sends too many. The page answers it, so that what was typed is kept.
#[derive(Debug, Clone)]
pub(crate) struct Exceeded {
    /// Whole seconds after which the address may send another one.
    pub retry_after: i64,
    /// The refusal.
    pub error: Arc<ApiError>,
}

impl Exceeded {
    /// The page of the form that says so. Several forms share the limit.
    pub(super) fn shown(self, page: impl FnOnce(&str) -> Response) -> Response {
        let problem = format!("Too many attempts from your network. Try again in {}.", wait(self.retry_after));
        because_of(self.error, page(&problem))
    }
}

/// A form of somebody who is not signed in.
pub(super) struct Sent {
    /// The request, for the use case; or the limit that the sender exceeds.
    pub called: Result<Called, Exceeded>,
    pub fields: Fields,
    /// The token of the invitation that the sender has opened.
    pub invitation: Option<String>,
    pub body: Bytes,
}

impl<S: Sync> FromRequest<S> for Sent {
    type Rejection = ApiError;

    async fn from_request(mut request: Request, _: &S) -> Result<Self, ApiError> {
        let called = request.extensions_mut().remove::<Called>().ok_or(ApiError::Internal)?;
        let called = request.extensions_mut().remove::<Exceeded>().map_or(Ok(called), Err);
        let invitation = opened_invitation(request.headers());
        let body = read_body(request.into_body()).await?;
        Ok(Self { called, fields: Fields::of_form(&body)?, invitation, body })
    }
}

/// A form that changes something in the organization of the session.
///
/// Its page has the organization in the hidden field [`ORG`]. If the session has been switched to another one since,
/// the form is refused: it would change something that its page did not show. The answer keeps what was typed.
pub(super) struct OwnForm {
    pub caller: Actor,
    pub fields: Fields,
    /// The headers of the request.
    pub headers: HeaderMap,
    /// The files that were chosen, each with the name of its field.
    files: Vec<(String, Bytes)>,
    /// What two forms with the same content have in common.
    identity: [u8; 32],
}

/// Why there is no [`OwnForm`].
pub(super) enum NotOwn {
    /// It could not be read.
    Unread(ApiError),
    /// The session is in another organization. This is the answer.
    Switched(Response),
}

impl From<ApiError> for NotOwn {
    fn from(error: ApiError) -> Self {
        Self::Unread(error)
    }
}

impl IntoResponse for NotOwn {
    fn into_response(self) -> Response {
        match self {
            Self::Unread(error) => error.into_response(),
            Self::Switched(answer) => answer,
        }
    }
}

impl<S: Sync> FromRequest<S> for OwnForm {
    type Rejection = NotOwn;

    async fn from_request(mut request: Request, _: &S) -> Result<Self, NotOwn> {
        let caller = request.extensions_mut().remove::<Actor>().ok_or(ApiError::Internal)?;
        let (parts, body) = request.into_parts();
        let content = Content::of_form(&parts.headers, read_body(body).await?).await?;
        if content.fields.get(ORG) != caller.org().to_string() {
            return Err(NotOwn::Switched(switched(&parts, &content)));
        }
        let identity = content.identity();
        let Content { fields, files, .. } = content;
        Ok(Self { caller, fields, headers: parts.headers, files, identity })
    }
}

/// The answer to a form of another organization than that of the session.
fn switched(parts: &Parts, content: &Content) -> Response {
    let route = parts.extensions.get::<MatchedPath>().map_or("", MatchedPath::as_str);
    let (reason, error) = (NoEffect::Switched, ApiError::Switched);
    if !comes_from_form(&parts.headers) || !may_be_kept(route) {
        return error.into_response();
    }
    match route {
        PREVIEW_BOOKING_PAGE => no_preview(reason, error),
        _ => Kept::of_content(content).answer(reason, error, parts.uri.path()),
    }
}

/// The token of the invitation that the sender of these headers has opened.
pub(super) fn opened_invitation(headers: &HeaderMap) -> Option<String> {
    kept(KeptToken::Invitation, headers)
}

/// The token of the connection link that the sender of these headers has opened.
pub(super) fn opened_link(headers: &HeaderMap) -> Option<String> {
    kept(KeptToken::ConnectionLink, headers)
}

fn kept(token: KeptToken, headers: &HeaderMap) -> Option<String> {
    kept_token(token, cookie_lines(headers)).map(str::to_owned)
}

fn cookie_lines(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok())
}

/// Returns the cookie that keeps the token in the form of a link's page; `None` if what was typed cannot be a token.
/// Nothing is looked up, so this is no operation.
///
/// # Errors
/// [`Refusal::CrossSite`], or those of [`read_body`].
pub(super) async fn keep_token(app: &App, token: KeptToken, request: Request) -> Result<Option<String>, ApiError> {
    app.admit_entrant(provenance(request.headers()))?;
    let fields = Fields::of_form(&read_body(request.into_body()).await?)?;
    Ok(cookies(app).keep(token, &mailed_code(fields.get("token").trim())))
}

/// The same caller in another operation, which a page does in addition to its own. The key of a form belongs to the
/// form's own effect, so it is left out.
///
/// # Errors
/// Those of [`Actor::enter`].
pub(super) fn caller_of(operation: &'static Operation, caller: &Actor) -> Result<Actor, Refusal> {
    let request = Called { operation, idempotency: None, ..caller.request.clone() };
    Actor::enter(Arc::clone(&caller.principal), request)
}

impl OwnForm {
    /// [`once`], for this form with its hidden field [`ONCE`].
    ///
    /// # Errors
    /// As [`once`].
    pub(super) async fn once<T>(
        &mut self,
        app: &App,
        effect: impl AsyncFnOnce(&Actor) -> Result<Answered<T>, Refusal>,
    ) -> Result<Answer, Refusal> {
        once(app, &mut self.caller, self.fields.get(ONCE), &self.identity, effect).await
    }

    /// The file that was chosen in that field. It is empty if the file is.
    pub(super) fn file(&self, field: &str) -> Option<&Bytes> {
        self.files.iter().find(|(name, _)| name == field).map(|(_, file)| file)
    }

    /// The version that the page of the form showed: its hidden field [`VERSION`].
    pub(super) fn version(&self) -> &str {
        self.fields.get(VERSION)
    }

    /// Requires the version that the page of the form showed, as a number.
    pub(super) fn if_match(&self) -> IfMatch {
        IfMatch::OneOf(self.version().parse().map(Version).into_iter().collect())
    }

    /// [`begin`], for the caller, with the hidden field [`ONCE`].
    ///
    /// # Errors
    /// As [`begin`].
    pub(super) async fn begin(&mut self, app: &App) -> Result<Earlier, Refusal> {
        let principal = Arc::clone(&self.caller.principal);
        begin(app, &mut self.caller.request, Repeater::of(&principal), self.fields.get(ONCE), &self.identity).await
    }
}

/// A form that had no effect, whose page is shown again.
///
/// Besides its fields, the form has what its page showed in them, in hidden fields `was_NAME`. So only the fields that
/// were typed over are changed, and a resource that has changed since keeps its other changes.
pub(super) struct Again<'a> {
    fields: &'a Fields,
    /// The version that was sent, so that the form does not replace a change that its sender has not seen. `None` if
    /// there was one: the page then shows the current state, and says so.
    version: Option<&'a str>,
    pub problems: Problems,
}

impl<'a> Again<'a> {
    /// The form that was refused, and the refusal as an answer. `known` are the names of its fields; `changed` is said
    /// if the resource has changed since the page was opened.
    ///
    /// # Errors
    /// As [`problems`].
    pub(super) fn of(
        form: &'a OwnForm,
        refusal: Refusal,
        known: &[&str],
        changed: &str,
    ) -> Result<(Self, ApiError), ApiError> {
        let stale = matches!(refusal, Refusal::Stale { .. });
        let (problems, error) = problems(refusal, known)?;
        let problems = if stale { Problems::general(changed.to_owned()) } else { problems };
        let version = (!stale).then(|| form.fields.get(VERSION));
        Ok((Self { fields: &form.fields, version, problems }, error))
    }

    /// The text of a field: what was typed. If the resource has changed since, a field that was not typed over has its
    /// text `now`.
    pub(super) fn text(&self, name: &str, now: &'a str) -> &'a str {
        if self.shows_now(name) { now } else { self.fields.get(name).trim() }
    }

    /// [`Again::text`], for a field of several values.
    pub(super) fn values(&self, name: &str, now: Vec<&'a str>) -> Vec<&'a str> {
        if self.shows_now(name) { now } else { self.fields.all(name).collect() }
    }

    fn shows_now(&self, name: &str) -> bool {
        self.is_stale() && !self.fields.is_typed_over(name)
    }

    /// The text of the hidden field `was_NAME`, given the text of the field `now`.
    pub(super) fn text_before(&self, name: &str, now: &'a str) -> &'a str {
        if self.is_stale() { now } else { self.fields.get(&format!("{WAS}{name}")).trim() }
    }

    /// [`Again::text_before`], for a field of several values.
    pub(super) fn values_before(&self, name: &str, now: Vec<&'a str>) -> Vec<&'a str> {
        if self.is_stale() { now } else { self.fields.all(&format!("{WAS}{name}")).collect() }
    }

    /// The version that the form is for, given the one that is current.
    pub(super) fn version(&self, now: Version) -> String {
        self.version_text(&now.0.to_string()).to_owned()
    }

    /// [`Again::version`], for a version that is another text than a number.
    pub(super) fn version_text<'v>(&self, now: &'v str) -> &'v str
    where
        'a: 'v,
    {
        self.version.unwrap_or(now)
    }

    /// Whether the resource has changed since its page was opened.
    pub(super) const fn is_stale(&self) -> bool {
        self.version.is_none()
    }
}
