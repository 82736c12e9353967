//! Signing up by a form.

use axum::{
    extract::{Query, rejection::QueryRejection},
    response::{IntoResponse as _, Response},
};
use http::{HeaderMap, StatusCode};
use kalends_accounts::{KeptToken, MemberError};
use kalends_app::{Answer, App, Refusal};
use kalends_kernel::FieldErrors;
use kalends_web::{Next, SignUp, SignUpGiven, SignedUp};
use kalends_wire as wire;
use serde::Deserialize;

use super::{
    form::{Earlier, ONCE, Sent, begin_anonymous, earlier, new_once, opened_invitation, read},
    shown::{STALE_TERMS, admits, because_of, page, providers, terms_page, wait},
};
use crate::{
    Service,
    error::ApiError,
    reply::{cookies, with_cookie},
};

const TAKEN: &str = "An account already uses this address. Sign in, or set its password by email.";
const NOT_ACCEPTED: &str = "Accept the terms to create an account.";
const NOT_INVITED: &str = "The invitation is unknown, used, withdrawn or more than 7 days old. Ask for another one.";
const OTHER_ADDRESS: &str = "The invitation was sent to another address. Use that one.";
const SENT_BEFORE: &str =
    "This form was sent before, with other entries. Sign in if you have an account now, or send it again.";
const WAITING: &str = "This address is on the waiting list. We will email you when it is admitted.";
/// The same on a server that sends no mail.
const WAITING_UNSENT: &str = "This address is on the waiting list. An email is written when it is admitted. This \
                              server sends none: its operator can pass it on.";

/// What the address of the page says.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Asked {
    /// The path to continue to.
    #[serde(default)]
    next: String,
}

/// `GET /console/sign-up`
pub(super) async fn show(app: Service, headers: HeaderMap, asked: Result<Query<Asked>, QueryRejection>) -> Response {
    let asked = asked.map(|asked| asked.0).unwrap_or_default();
    let next = Next::of(&asked.next);
    let is_open = admits(&app, next, opened_invitation(&headers).as_deref());
    let form = Form { app: &app, next, is_open };
    form.render(StatusCode::OK, &SignUpGiven::default(), None, &[])
}

/// The form that a person sees.
#[derive(Clone, Copy)]
struct Form<'a> {
    app: &'a App,
    /// What the person continues to.
    next: Next<'a>,
    /// Whether the person may be able to sign up.
    is_open: bool,
}

impl Form<'_> {
    fn render(
        self,
        status: StatusCode,
        given: &SignUpGiven,
        problem: Option<&str>,
        problems: &[(String, String)],
    ) -> Response {
        let settings = self.app.settings();
        let Some(terms) = terms_page(self.app) else { return ApiError::Internal.into_response() };
        let sign_up = SignUp {
            next: self.next,
            once: &new_once(self.app.entropy()),
            is_open: self.is_open,
            admits_invited: settings.sign_ups.admits(true),
            terms_version: &settings.terms.version,
            terms,
            providers: &providers(self.app),
            given,
            problem,
            problems,
        };
        page(status, sign_up.html())
    }
}

/// The label of each field, as the beginning of a sentence about it.
const LABELS: [(&str, &str); 4] = [
    ("email", "The address"),
    ("name", "Your name"),
    ("org_name", "The organization's name"),
    ("password", "The password"),
];

fn about_fields(errors: &FieldErrors) -> Vec<(String, String)> {
    let sentence = |param: &str, message: &str| {
        // The version is hidden in the form, which is out of date or not ours.
        if param == "tos_version" {
            return ("accepted".to_owned(), STALE_TERMS.to_owned());
        }
        let label = LABELS.into_iter().find(|(name, _)| *name == param).map_or("This", |(_, label)| label);
        (param.to_owned(), format!("{label} {message}."))
    };
    errors.iter().map(|error| sentence(&error.param, &error.message)).collect()
}

/// The part of the answer to a sign-up that the page shows.
#[derive(Deserialize)]
struct Made {
    org: MadeOrg,
    user: MadeUser,
    api_key: String,
}

#[derive(Deserialize)]
struct MadeOrg {
    name: String,
}

#[derive(Deserialize)]
struct MadeUser {
    email: String,
    email_verified_at: Option<String>,
}

/// The page that shows the key. A form that is sent twice gets it twice, but only the first answer begins a session.
fn signed_up(app: &App, next: Next<'_>, answer: &Answer) -> Result<Response, ApiError> {
    let made: Made = read(answer)?;
    let settings = app.settings();
    let asks = settings.email_proof && made.user.email_verified_at.is_none();
    let asked = Some(&*made.user.email).filter(|_| asks);
    let keeps_mail = settings.deployment.keeps_mail;
    let shown = SignedUp { next, organization: &made.org.name, key: &made.api_key, asked, keeps_mail };
    Ok(page(StatusCode::CREATED, shown.html()))
}

/// `POST /console/sign-up`
pub(super) async fn submit(app: Service, sent: Sent) -> Result<Response, ApiError> {
    let next = Next::of(sent.fields.get("next"));
    let text = |name: &str| sent.fields.get(name).trim().to_owned();
    let given = SignUpGiven {
        email: text("email"),
        name: text("name"),
        org_name: text("org_name"),
        accepted: !text("accepted").is_empty(),
    };
    let invitation = sent.invitation.clone().filter(|_| next == Next::Join);
    let form = Form { app: &app, next, is_open: admits(&app, next, invitation.as_deref()) };
    let stopped = |status, problem: &str| form.render(status, &given, Some(problem), &[]);
    let wrong = |status, problems: &[(String, String)]| Ok(form.render(status, &given, None, problems));
    let mut called = match sent.called {
        Ok(called) => called,
        Err(exceeded) => return Ok(exceeded.shown(|problem| stopped(StatusCode::TOO_MANY_REQUESTS, problem))),
    };
    let body = wire::ConsoleSignUp {
        email: given.email.clone(),
        password: sent.fields.get("password").to_owned(),
        name: given.name.clone(),
        org_name: Some(given.org_name.clone()).filter(|name| !name.is_empty()),
        tos_version: text("tos_version"),
        invitation_token: invitation,
    };
    let new = match body.parse() {
        Ok(new) => new,
        Err(errors) => return wrong(StatusCode::BAD_REQUEST, &about_fields(&errors)),
    };
    if !given.accepted {
        return wrong(StatusCode::BAD_REQUEST, &[("accepted".to_owned(), NOT_ACCEPTED.to_owned())]);
    }
    let _running = match begin_anonymous(&app, &mut called, sent.fields.get(ONCE), &sent.body).await {
        Ok(Earlier::Answered(answer)) => return signed_up(&app, next, &answer),
        Ok(Earlier::Nothing(running)) => running,
        Err(Refusal::IdempotencyMismatch) => return Ok(stopped(StatusCode::CONFLICT, SENT_BEFORE)),
        Err(error) => return Err(error.into()),
    };
    let refusal = match app.console_sign_up(&called, new).await {
        Ok(begun) => {
            let shown = signed_up(&app, next, &begun.answered.answer)?;
            return Ok(with_cookie(shown, &cookies(&app).set(&begun.token)));
        }
        Err(refusal) => refusal,
    };
    if let Some(answer) = earlier(&app, &called).await? {
        return signed_up(&app, next, &answer);
    }
    match refusal {
        Refusal::EmailTaken => wrong(StatusCode::CONFLICT, &[("email".to_owned(), TAKEN.to_owned())]),
        Refusal::Invalid(errors) if errors.iter().any(|error| error.param == "invitation_token") => {
            // Without the invitation, the person can still sign up if everybody can.
            let form = Form { next: Next::Home, is_open: admits(&app, Next::Home, None), ..form };
            let again = form.render(StatusCode::BAD_REQUEST, &given, Some(NOT_INVITED), &[]);
            Ok(with_cookie(again, &cookies(&app).forget(KeptToken::Invitation)))
        }
        Refusal::Invalid(errors) => wrong(StatusCode::BAD_REQUEST, &about_fields(&errors)),
        Refusal::Member(MemberError::OtherAddress) => {
            wrong(StatusCode::FORBIDDEN, &[("email".to_owned(), OTHER_ADDRESS.to_owned())])
        }
        Refusal::StaleTerms(_) => {
            let given = SignUpGiven { accepted: false, ..given };
            let problem = [("accepted".to_owned(), STALE_TERMS.to_owned())];
            Ok(form.render(StatusCode::CONFLICT, &given, None, &problem))
        }
        Refusal::Waitlisted => {
            let waiting = if app.settings().deployment.keeps_mail { WAITING_UNSENT } else { WAITING };
            wrong(StatusCode::FORBIDDEN, &[("email".to_owned(), waiting.to_owned())])
        }
        Refusal::SignUpClosed => Ok(Form { is_open: false, ..form }.render(StatusCode::FORBIDDEN, &given, None, &[])),
        refusal @ Refusal::TooMany { retry_after, .. } => {
            let problem = format!("Too many people signed up. Try again in {}.", wait(retry_after));
            Ok(because_of(ApiError::from(refusal), stopped(StatusCode::TOO_MANY_REQUESTS, &problem)))
        }
        refusal => Err(refusal.into()),
    }
}
