//! Signing up by a form.

use axum::{
    extract::Request,
    response::{IntoResponse as _, Response},
};
use http::StatusCode;
use kalends_app::{App, Refusal};
use kalends_kernel::FieldErrors;
use kalends_web::{Href, SignUp, SignUpGiven, SignedUp};
use kalends_wire as wire;

use super::shown::{because_of, page, providers, wait};
use crate::{
    Service,
    error::ApiError,
    extract::{Anonymous, read_body},
    pages::Fields,
    reply::{cookies, with_cookie},
};

const TAKEN: &str = "An account already uses this address. Sign in, or set its password by email.";
const STALE: &str = "The terms have changed. Read and accept the new ones.";
const NOT_ACCEPTED: &str = "Accept the terms to create an account.";
const WAITING: &str = "This address is on the waiting list. We will email you when it is admitted.";

/// `GET /console/sign-up`
pub(super) async fn show(app: Service) -> Response {
    render(&app, StatusCode::OK, &SignUpGiven::default(), None, &[])
}

fn render(
    app: &App,
    status: StatusCode,
    given: &SignUpGiven,
    problem: Option<&str>,
    problems: &[(String, String)],
) -> Response {
    let settings = app.settings();
    // The configuration checks that the address is one of a page.
    let terms = Href::new(settings.terms.url.clone()).or_else(|| Href::new("/terms"));
    let Some(terms) = terms else { return ApiError::Internal.into_response() };
    let sign_up = SignUp {
        is_open: settings.sign_ups.admits(false),
        admits_invited: settings.sign_ups.admits(true),
        terms_version: &settings.terms.version,
        terms,
        providers: &providers(app),
        given,
        problem,
        problems,
    };
    page(status, sign_up.html())
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
            return ("accepted".to_owned(), STALE.to_owned());
        }
        let label = LABELS.into_iter().find(|(name, _)| *name == param).map_or("This", |(_, label)| label);
        (param.to_owned(), format!("{label} {message}."))
    };
    errors.iter().map(|error| sentence(&error.param, &error.message)).collect()
}

/// `POST /console/sign-up`
pub(super) async fn submit(app: Service, called: Anonymous, request: Request) -> Result<Response, ApiError> {
    let fields = Fields::read(&read_body(request.into_body()).await?);
    let text = |name: &str| fields.get(name).trim().to_owned();
    let given = SignUpGiven {
        email: text("email"),
        name: text("name"),
        org_name: text("org_name"),
        accepted: !text("accepted").is_empty(),
    };
    let wrong = |status, problems: &[(String, String)]| Ok(render(&app, status, &given, None, problems));
    let body = wire::ConsoleSignUp {
        email: given.email.clone(),
        password: fields.get("password").to_owned(),
        name: given.name.clone(),
        org_name: Some(given.org_name.clone()).filter(|name| !name.is_empty()),
        tos_version: text("tos_version"),
        invitation_token: None,
    };
    let new = match body.parse() {
        Ok(new) => new,
        Err(errors) => return wrong(StatusCode::BAD_REQUEST, &about_fields(&errors)),
    };
    if !given.accepted {
        return wrong(StatusCode::BAD_REQUEST, &[("accepted".to_owned(), NOT_ACCEPTED.to_owned())]);
    }
    match app.console_sign_up(&called.0, new).await {
        Ok(begun) => {
            let made = &begun.answered.resource;
            let asks = app.settings().email_proof && made.user.email_verified_at.is_none();
            let shown = SignedUp {
                organization: &made.org.name,
                key: &made.api_key,
                asked: Some(made.user.email.as_str()).filter(|_| asks),
            };
            Ok(with_cookie(page(StatusCode::CREATED, shown.html()), &cookies(&app).set(&begun.token)))
        }
        Err(Refusal::EmailTaken) => wrong(StatusCode::CONFLICT, &[("email".to_owned(), TAKEN.to_owned())]),
        Err(Refusal::Invalid(errors)) => wrong(StatusCode::BAD_REQUEST, &about_fields(&errors)),
        Err(Refusal::StaleTerms(_)) => {
            let given = SignUpGiven { accepted: false, ..given };
            let problem = [("accepted".to_owned(), STALE.to_owned())];
            Ok(render(&app, StatusCode::CONFLICT, &given, None, &problem))
        }
        Err(Refusal::Waitlisted) => wrong(StatusCode::FORBIDDEN, &[("email".to_owned(), WAITING.to_owned())]),
        Err(Refusal::SignUpClosed) => Ok(render(&app, StatusCode::FORBIDDEN, &given, None, &[])),
        Err(refusal @ Refusal::TooMany { retry_after, .. }) => {
            let problem = format!("Too many people signed up. Try again in {}.", wait(retry_after));
            let page = render(&app, StatusCode::TOO_MANY_REQUESTS, &given, Some(&problem), &[]);
            Ok(because_of(refusal, page))
        }
        Err(error) => Err(error.into()),
    }
}
