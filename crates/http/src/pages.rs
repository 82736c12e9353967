//! Web pages: which requests get one, and how they show errors.
//!
//! A browser that opens a page, or sends the form of one, is answered in HTML, including errors. Everyone else gets JSON.

mod fields;

use axum::{
    Router,
    body::Body,
    extract::{self, Request},
    response::{IntoResponse, Response},
    routing::get,
};
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use kalends_accounts::{Limited, session_token};
use kalends_app::{App, Missing, Refusal};
use kalends_kernel::{ClaimId, RequestId};
use kalends_plans::{Plan, PublicPlan};
use kalends_web::{
    Home, Href, Notice, PageQuery, Path, PlanOffer, Plans, Problem, Prose, Reader, Revocation, RevocationState, Terms,
    Verification, VerificationState, headers,
};
use url::form_urlencoded;

pub(crate) use self::fields::{Fields, WAS, line, lines};
use crate::{console::places::to_sign_in, error::ApiError};

/// The path below which booking pages are served.
const PAGES: &str = "/book/";
/// The beginning of a path, below that of booking pages, on which a person decides about emails.
const EMAILS: &str = "emails/";
/// The path below which invitations are served.
const INVITATIONS: &str = "/rsvp/";
/// The path below which a person agrees to replies.
const REPLIES: &str = "/replies/";
/// The path at and below which the console's pages are served.
const CONSOLE: &str = "/console";
/// The path below which a claim is revoked, which a form does too.
const CLAIMS: &str = "/v1/auth/claim/";
/// The path to which the form that proves an address is sent.
const PROOF: &str = "/v1/auth/verify-email";
/// The end of a path that lists slots, which is for programs only.
const SLOTS: &str = "/slots";
/// The end of a path that moves a booking.
const MOVE: &str = "/move";

/// Marks a request that wants a page. Contains the address that an error page links back to.
#[derive(Debug, Clone)]
pub(crate) struct Wanted {
    back: Option<Path>,
    kind: Kind,
    path: String,
    query: Option<String>,
    languages: String,
}

/// The kinds of pages, each with its own errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A booking page, or the page of one booking.
    Booking,
    /// An invitation.
    Invitation,
    /// The question about replies.
    Replies,
    /// A page of the console, or one of its forms.
    Console,
}

impl Wanted {
    /// Whether the request comes from a browser that shows one of the pages.
    pub(crate) fn of(request: &Request) -> Option<Self> {
        let path = request.uri().path();
        let reads = [Method::GET, Method::HEAD].contains(request.method());
        let places = [
            (PAGES, Kind::Booking),
            (INVITATIONS, Kind::Invitation),
            (REPLIES, Kind::Replies),
            (CONSOLE, Kind::Console),
            (CLAIMS, Kind::Console),
            (PROOF, Kind::Console),
        ];
        let (below, kind) = places.into_iter().find(|(below, _)| path.starts_with(below))?;
        let wants = if reads {
            names(request.headers(), "text/html")
        } else {
            is_form(request.headers()) || (below == CONSOLE && is_form_with_file(request.headers()))
        };
        if !wants || path.ends_with(SLOTS) || ([CLAIMS, PROOF].contains(&below) && reads) {
            return None;
        }
        let rest = path.strip_prefix(PAGES).filter(|rest| !rest.starts_with(EMAILS));
        let slug = rest.and_then(|rest| rest.split('/').next());
        Some(Self {
            back: slug.and_then(|slug| Path::new(format!("{PAGES}{slug}"))),
            kind,
            path: path.to_owned(),
            query: request.uri().query().map(str::to_owned),
            languages: languages(request.headers()),
        })
    }

    /// Whether the request is for that path.
    pub(crate) fn is_at(&self, path: &str) -> bool {
        self.path == path
    }

    /// Renders the page for an error. `base_url` is the address of the server.
    pub(crate) fn render(&self, error: &ApiError, request: RequestId, base_url: &str) -> Response {
        let is_nobody = matches!(error, ApiError::Refused(Refusal::NotSignedIn | Refusal::Unauthorized));
        if self.kind == Kind::Console && is_nobody {
            return to_sign_in(&self.path, self.query.as_deref());
        }
        if matches!(error, ApiError::Switched) {
            return html(error.status(), Problem::SWITCHED.html());
        }
        let back = self.back.as_ref();
        let request = request.to_string();
        let (notice, back) = match error {
            ApiError::NoRoute if self.kind == Kind::Invitation => (Notice::NoInvitation, None),
            ApiError::NoRoute | ApiError::Refused(Refusal::NotFound { .. }) if self.kind == Kind::Replies => {
                (Notice::NoReplyLink, None)
            }
            ApiError::NoRoute | ApiError::Refused(Refusal::NotFound { .. }) if self.kind == Kind::Console => {
                (Notice::NoConsolePage, None)
            }
            ApiError::NoRoute => (Notice::NotFound, None),
            ApiError::Refused(Refusal::NotFound { missing: Missing::Booking, .. }) => (Notice::NoBooking, None),
            ApiError::Refused(Refusal::NotFound { missing: Missing::BookingPage, .. })
                if self.kind == Kind::Booking && self.path.ends_with(MOVE) =>
            {
                (Notice::NotMoved, None)
            }
            ApiError::Refused(Refusal::NotFound { missing: Missing::Invitation, .. }) => (Notice::NoInvitation, None),
            ApiError::Refused(Refusal::NotFound { .. }) => (Notice::NotFound, None),
            ApiError::Refused(Refusal::BookingClosed { .. }) => (Notice::Closed, None),
            ApiError::Refused(Refusal::TooFast { retry_after, .. }) => {
                let retry_after_seconds = u32::try_from(*retry_after).unwrap_or(u32::MAX);
                (Notice::TooMany { retry_after_seconds }, back)
            }
            ApiError::Refused(Refusal::TooMany { limited: Limited::Mail(_), .. }) => (Notice::Closed, None),
            error if error.status().is_server_error() => (Notice::Failed { request_id: &request }, back),
            _ if self.kind == Kind::Invitation => (Notice::NoReply, None),
            _ if self.kind == Kind::Replies => (Notice::NoReplyLink, None),
            ApiError::Refused(Refusal::CrossSite(_)) => (Notice::OtherAddress { address: base_url }, None),
            _ if self.kind == Kind::Console => (Notice::NotAccepted, None),
            _ => (Notice::Nonsense, back),
        };
        let reader = reader_with(self.query.as_deref(), &self.languages);
        let text = if self.kind == Kind::Console { notice.in_console(&reader) } else { notice.html(&reader, back) };
        let mut response = html(error.status(), text);
        error.add_retry_after(response.headers_mut());
        response
    }
}

/// Whether the caller explicitly accepts that media type. `*/*` does not count.
pub(crate) fn names(headers: &HeaderMap, media_type: &str) -> bool {
    let accepted = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    accepted.flat_map(|value| value.split(',')).any(|range| {
        let essence = range.split(';').next().unwrap_or_default().trim();
        essence.eq_ignore_ascii_case(media_type)
    })
}

/// Whether the body is sent by a form.
pub(crate) fn is_form(headers: &HeaderMap) -> bool {
    has_media_type(headers, "application/x-www-form-urlencoded")
}

/// Whether the body is sent by a form that has a field for a file. Only the console has such forms.
pub(crate) fn is_form_with_file(headers: &HeaderMap) -> bool {
    has_media_type(headers, "multipart/form-data")
}

fn has_media_type(headers: &HeaderMap, media_type: &str) -> bool {
    let sent = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    sent.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case(media_type)
}

/// The page of the terms. It shows the operator's text and links to the operator's own page, if there are any.
const TERMS: &str = "/terms";

/// Marks an answer that is complete, whatever its status, so that the error envelope does not replace it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Finished;

/// The pages that are the same for everyone, like the documentation. They are not operations.
pub(crate) fn routes<S: Clone + Send + Sync + 'static>(app: &App) -> Router<S> {
    let settings = app.settings();
    let offers = settings.upgrade_url.clone().and_then(Href::new);
    let is_own = settings.terms.url == format!("{}{TERMS}", settings.base_url);
    let text = Some(settings.terms.url.clone()).filter(|_| !is_own).and_then(Href::new);
    let plans = Plan::PUBLIC.map(|PublicPlan { name, tagline, display_features, .. }| PlanOffer {
        name,
        tagline,
        includes: display_features,
    });
    let terms_text = settings.terms_text.as_deref().map(Prose::read);
    let terms = Terms {
        version: &settings.terms.version,
        effective_at: settings.terms.effective_at,
        text: text.clone(),
        body: terms_text.as_ref(),
    };
    let admits = settings.sign_ups.admits(false);
    let home = Home { terms: text, offers: offers.clone(), admits, has_session: false };
    let signed_in = Bytes::from(Home { has_session: true, ..home.clone() }.html());
    let home = Bytes::from(home.html());
    let pages = [
        (TERMS, terms.html()),
        ("/console/verify", Verification { action: PROOF, state: VerificationState::Asks { is_wrong: false } }.html()),
        ("/console/plans", Plans { plans: &plans, offers }.html()),
    ];
    let first = move |headers: HeaderMap| async move {
        html(StatusCode::OK, if has_session(&headers) { signed_in } else { home })
    };
    let routes = Router::new().route("/", get(first)).route("/console/claims/{id}/revoke", get(ask_to_revoke));
    pages.into_iter().fold(routes, |routes, (path, text)| {
        let text = Bytes::from(text);
        routes.route(path, get(move || async move { html(StatusCode::OK, text) }))
    })
}

/// Whether the browser sends the token of a session. It is not checked: the console does that.
fn has_session(headers: &HeaderMap) -> bool {
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|cookies| cookies.to_str().ok());
    session_token(cookies).is_some()
}

/// Shows the form that revokes a claim. The token is in the fragment of the address, which no browser sends.
async fn ask_to_revoke(id: extract::Path<String>) -> Result<Response, ApiError> {
    let claim: ClaimId = id.parse().map_err(|_| ApiError::NoRoute)?;
    Ok(revocation(StatusCode::OK, claim, RevocationState::Asks { is_wrong: false }))
}

/// The page on which a claim is revoked.
pub(crate) fn revocation(status: StatusCode, claim: ClaimId, state: RevocationState) -> Response {
    match Path::new(format!("{CLAIMS}{claim}/revoke")) {
        Some(action) => html(status, Revocation { action: &action, state }.html()),
        None => ApiError::NoRoute.into_response(),
    }
}

/// The page on which an address is proved.
pub(crate) fn verification(status: StatusCode, state: VerificationState<'_>) -> Response {
    html(status, Verification { action: PROOF, state }.html())
}

/// The code that was typed into a form. The whole address from the email will do too: the code comes after its `#`.
pub(crate) fn mailed_code(typed: &str) -> String {
    typed.rsplit('#').next().unwrap_or_default().to_owned()
}

/// Parses the query of a page.
pub(crate) fn page_query(query: Option<&str>) -> PageQuery {
    let pairs: Vec<_> = form_urlencoded::parse(query.unwrap_or_default().as_bytes()).collect();
    PageQuery::read(pairs.iter().map(|(name, value)| (name.as_ref(), value.as_ref())))
}

/// Who reads the page with this query.
pub(crate) fn reader(query: Option<&str>, headers: &HeaderMap) -> Reader {
    reader_with(query, &languages(headers))
}

fn reader_with(query: Option<&str>, languages: &str) -> Reader {
    Reader::new(page_query(query).lang, Some(languages))
}

/// The languages that the reader accepts: all lines of the header (RFC 9110 section 5.3) that are text.
fn languages(headers: &HeaderMap) -> String {
    let lines = headers.get_all(header::ACCEPT_LANGUAGE).iter().filter_map(|line| line.to_str().ok());
    lines.collect::<Vec<_>>().join(",")
}

/// An answer in HTML.
pub(crate) fn html(status: StatusCode, text: impl Into<Body>) -> Response {
    text_of(status, "text/html; charset=utf-8", text, &headers::PAGE)
}

/// An answer with text of that type and these headers.
pub(crate) fn text_of(
    status: StatusCode,
    content_type: &'static str,
    text: impl Into<Body>,
    headers: &[(&'static str, &'static str)],
) -> Response {
    let mut response = (status, text.into()).into_response();
    for (name, value) in headers {
        response.headers_mut().insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    response.extensions_mut().insert(Finished);
    response
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const BROWSER: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
    const FORM: &str = "application/x-www-form-urlencoded; charset=utf-8";
    const WITH_FILE: &str = "multipart/form-data; boundary=x";

    #[rstest]
    #[case::browser("GET", "/book/x7Jd", Some(("accept", BROWSER)), Some("/book/x7Jd"))]
    #[case::link_in_a_mail("GET", "/book/x7Jd/bookings/t0k/cancel", Some(("accept", BROWSER)), Some("/book/x7Jd"))]
    #[case::form("POST", "/book/x7Jd", Some(("content-type", FORM)), Some("/book/x7Jd"))]
    #[case::file("POST", "/book/x7Jd", Some(("content-type", WITH_FILE)), None)]
    #[case::program("GET", "/book/x7Jd", Some(("accept", "*/*")), None)]
    #[case::booking_by_a_program("POST", "/book/x7Jd", Some(("content-type", "application/json")), None)]
    #[case::slots_are_for_programs("GET", "/book/x7Jd/slots", Some(("accept", BROWSER)), None)]
    #[case::other_path("GET", "/v1/agents", Some(("accept", BROWSER)), None)]
    #[case::no_accept_header("GET", "/book/x7Jd", None, None)]
    fn browsers_get_a_page(
        #[case] method: &str,
        #[case] path: &str,
        #[case] header: Option<(&str, &str)>,
        #[case] back: Option<&str>,
    ) {
        let mut request = Request::builder().method(method).uri(path);
        if let Some((name, value)) = header {
            request = request.header(name, value);
        }
        let wanted = Wanted::of(&request.body(Body::empty()).unwrap());
        assert_eq!(
            wanted.map(|wanted| wanted.back.map(|path| path.to_string())),
            back.map(|path| Some(path.to_owned()))
        );
    }

    #[rstest]
    #[case::opened("GET", ("accept", BROWSER), true)]
    #[case::sent("POST", ("content-type", FORM), true)]
    #[case::by_a_program("POST", ("content-type", "application/json"), false)]
    fn invitations_are_pages(#[case] method: &str, #[case] (name, value): (&str, &str), #[case] shown: bool) {
        let request = Request::builder().method(method).uri("/rsvp/t0k").header(name, value);
        let wanted = Wanted::of(&request.body(Body::empty()).unwrap());
        assert_eq!(wanted.is_some_and(|wanted| wanted.kind == Kind::Invitation && wanted.back.is_none()), shown);
    }

    #[rstest]
    #[case("/console/feeds", true)]
    #[case("/v1/auth/verify-email", false)]
    fn a_form_with_a_file_belongs_to_the_console(#[case] path: &str, #[case] shown: bool) {
        let request = Request::post(path).header("content-type", WITH_FILE).body(Body::empty()).unwrap();
        assert_eq!(Wanted::of(&request).is_some(), shown);
    }

    #[test]
    fn a_decision_about_emails_leads_back_to_no_page() {
        let request = Request::get("/book/emails/t0k").header("accept", BROWSER).body(Body::empty()).unwrap();
        assert!(Wanted::of(&request).is_some_and(|wanted| wanted.back.is_none() && wanted.kind == Kind::Booking));
    }

    #[test]
    fn all_lines_of_the_header_count() {
        let mut headers = HeaderMap::new();
        for line in [&b"it;q=0.9"[..], b"\xff", b"de;q=0.2, ja;q=0.3"] {
            headers.append(header::ACCEPT_LANGUAGE, HeaderValue::from_bytes(line).unwrap());
        }
        assert_eq!(reader(None, &headers).locale().to_string(), "ja");
        assert_eq!(reader(Some("tz=UTC&lang=pt-BR"), &headers).locale().to_string(), "pt-BR");
    }
}
