//! The page on which a person grants a connector access, and its form.

use std::sync::Arc;

use axum::{Router, extract::RawQuery, response::Response, routing::get};
use http::StatusCode;
use kalends_accounts::{Role, Scope, Scopes};
use kalends_app::{
    Actor, App, AuthorizationRequest, ConnectorRequest, GrantError, NotAuthorizable, Refusal, operations,
};
use kalends_calendars::{AgentStatus, ports::AgentFilter};
use kalends_kernel::{FieldError, app_scheme};
use kalends_web::{
    Choice, ConnectorBack, ConnectorConsent, ConnectorForOthers, ConnectorReceiver, ConnectorWrong, Href, Problem,
    SignedIn,
};
use url::{Url, form_urlencoded};

use super::{
    form::OwnForm,
    keys::{AGENTS_MAX, scopes_to_choose},
    places::{AUTHORIZE, Form, HOME},
    shown::{because_of, for_page, page, reason},
};
use crate::{
    Service,
    error::ApiError,
    extract::Caller,
    pages::{Fields, html},
};

/// The page and the form, each with its operation. The grant makes a key once the client has exchanged its code.
pub(super) const OPERATIONS: &[Form] =
    &[("GET", AUTHORIZE, &operations::GET_ME), ("POST", AUTHORIZE, &operations::CREATE_KEY)];

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new().route(AUTHORIZE, get(ask).post(decide))
}

/// The parameters of a request for authorization. Others are ignored.
pub(crate) const PARAMETERS: [&str; 8] = [
    "client_id",
    "redirect_uri",
    "response_type",
    "code_challenge",
    "code_challenge_method",
    "state",
    "scope",
    "resource",
];

/// The value of the button that grants access.
const APPROVE: &str = "approve";

/// What the address of the page says.
fn request_in(query: RawQuery) -> Result<AuthorizationRequest, ApiError> {
    let fields = Fields::of_form(query.0.unwrap_or_default().as_bytes())?;
    let text = |name: &str| fields.get(name).to_owned();
    let given = |name: &str| Some(text(name)).filter(|value| !value.is_empty());
    Ok(AuthorizationRequest {
        client_id: text("client_id"),
        redirect_uri: text("redirect_uri"),
        response_type: text("response_type"),
        code_challenge: text("code_challenge"),
        code_challenge_method: text("code_challenge_method"),
        state: given("state"),
        scope: text("scope"),
        resource: given("resource"),
        repeated: PARAMETERS.into_iter().find(|name| fields.all(name).nth(1).is_some()).map(str::to_owned),
    })
}

/// The address of the page, to which it returns after a sign-in. Its form is sent there too.
fn address_of(sent: &AuthorizationRequest) -> String {
    let values = [
        sent.client_id.as_str(),
        sent.redirect_uri.as_str(),
        sent.response_type.as_str(),
        sent.code_challenge.as_str(),
        sent.code_challenge_method.as_str(),
        sent.state.as_deref().unwrap_or_default(),
        sent.scope.as_str(),
        sent.resource.as_deref().unwrap_or_default(),
    ];
    let given = PARAMETERS.into_iter().zip(values).filter(|(_, value)| !value.is_empty());
    let query = form_urlencoded::Serializer::new(String::new()).extend_pairs(given).finish();
    format!("{AUTHORIZE}?{}", query.replace('*', "%2A"))
}

/// The address of the client, with an answer. Every answer repeats the state, and names this server (RFC 9207), so that a
/// client of several servers knows which one answered.
fn back(app: &App, sent: &AuthorizationRequest, answer: &[(&str, &str)]) -> Result<Href, ApiError> {
    let mut to = Url::parse(&sent.redirect_uri).map_err(|_| ApiError::Internal)?;
    let state = sent.state_to_return().map(|state| ("state", state));
    let issuer = ("iss", app.settings().base_url.as_str());
    to.query_pairs_mut().extend_pairs(answer.iter().copied().chain(state).chain([issuer]));
    // The address is one that the client registered, and those are absolute.
    Href::of_program(to.as_str()).ok_or(ApiError::Internal)
}

/// The page that leads the browser back to the client with the decision of a person.
fn decided(app: &App, sent: &AuthorizationRequest, answer: &[(&str, &str)]) -> Result<Response, ApiError> {
    let (receiver, address) = (receiver_of(&sent.redirect_uri), back(app, sent, answer)?);
    // Unlike other pages of the console, it sends no referrer.
    Ok(html(StatusCode::OK, ConnectorBack { receiver: &receiver, address }.html()))
}

/// The answer to a request that nobody can decide. It leads nowhere by itself.
fn not_authorizable(app: &App, sent: &AuthorizationRequest, why: NotAuthorizable) -> Result<Response, ApiError> {
    match why {
        NotAuthorizable::Untrusted(said) => {
            let title = "This program cannot be connected";
            let shown = Problem { title, reason: said, to: (HOME, "Go to the console") };
            let error = FieldError::new("client_id", "is unknown, or does not have this redirect_uri");
            Ok(because_of(ApiError::from(error), page(StatusCode::BAD_REQUEST, shown.html())))
        }
        NotAuthorizable::Wrong(GrantError { code, description }) => {
            let receiver = receiver_of(&sent.redirect_uri);
            let address = back(app, sent, &[("error", code), ("error_description", description.as_str())])?;
            let text = ConnectorWrong { receiver: &receiver, reason: &description, address }.html();
            let error = FieldError::new("query", description);
            Ok(because_of(ApiError::from(error), page(StatusCode::BAD_REQUEST, text)))
        }
        NotAuthorizable::Refused(refusal) => Err(refusal.into()),
    }
}

/// `GET /console/authorize`
async fn ask(app: Service, caller: Caller, query: RawQuery) -> Result<Response, ApiError> {
    let sent = request_in(query)?;
    match app.connector_request(&sent).await {
        Ok(asked) => {
            let chosen = Chosen { agent: "", scopes: &Fields::default(), problem: None };
            let text = render(&app, &caller.0, &sent, &asked, chosen).await?;
            Ok(page(StatusCode::OK, text))
        }
        Err(why) => not_authorizable(&app, &sent, why),
    }
}

/// What is chosen on the page.
#[derive(Clone, Copy)]
struct Chosen<'a> {
    /// The identifier of the agent; empty for the first one.
    agent: &'a str,
    /// Fields with the names of the scopes.
    scopes: &'a Fields,
    /// Why the form had no effect.
    problem: Option<&'a str>,
}

/// The page. It asks those who may create keys, and says to others who may, or that the organization waits.
async fn render(
    app: &App,
    caller: &Actor,
    sent: &AuthorizationRequest,
    asked: &ConnectorRequest,
    chosen: Chosen<'_>,
) -> Result<String, Refusal> {
    let me = app.me(caller).await?;
    let org = me.org.id.to_string();
    let who = SignedIn { org: &org, organization: &me.org.name, email: &me.user.email };
    let (receiver, address) = (&receiver_of(&asked.redirect), address_of(sent));
    let (client, address) = (asked.client.name.as_str(), address.as_str());
    if !caller.may(&operations::CREATE_KEY) {
        let waits = caller.principal.waitlisted;
        let managers = if waits { Vec::new() } else { managers(app, caller).await? };
        return Ok(ConnectorForOthers { who, client, receiver, waits, managers: &managers, address }.html());
    }
    let active = AgentFilter { status: Some(AgentStatus::Active), ..AgentFilter::default() };
    let listed = app.list_agents(caller, active, AGENTS_MAX).await?;
    let more = listed.total > u64::from(AGENTS_MAX.limit);
    let agents: Vec<_> = listed.data.into_iter().map(|agent| (agent.id.to_string(), agent.name)).collect();
    let agents: Vec<_> = agents.iter().map(|(id, name)| Choice { value: id, title: name }).collect();
    let Chosen { agent, scopes, problem } = chosen;
    let scopes = &scopes_to_choose(scopes);
    let wanted: Vec<_> = asked.scopes.iter().map(Scope::as_str).collect();
    let (agents, asked) = (&agents, &wanted);
    let consent = ConnectorConsent { who, client, receiver, agents, more, agent, scopes, asked, problem, address };
    Ok(consent.html())
}

/// The addresses of those who may grant access.
async fn managers(app: &App, caller: &Actor) -> Result<Vec<String>, Refusal> {
    let manages = [Role::Owner, Role::Admin].map(Role::as_str);
    let members = app.members(caller).await?.into_iter();
    Ok(members.filter(|member| manages.contains(&member.role)).map(|member| member.email).collect())
}

/// What an answer at the address goes to: an app, or a host with its port if the address names one. A host in another
/// script is shown in its ASCII form.
fn receiver_of(redirect: &str) -> ConnectorReceiver {
    if let Some(scheme) = app_scheme(redirect) {
        return ConnectorReceiver::App(scheme.to_owned());
    }
    let parsed = Url::parse(redirect).ok();
    let host = parsed.as_ref().and_then(Url::host_str).unwrap_or_default();
    ConnectorReceiver::Host(match parsed.as_ref().and_then(Url::port) {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    })
}

/// `POST /console/authorize`
async fn decide(app: Service, query: RawQuery, form: OwnForm) -> Result<Response, ApiError> {
    let sent = request_in(query)?;
    let asked = match app.connector_request(&sent).await {
        Ok(asked) => asked,
        Err(why) => return not_authorizable(&app, &sent, why),
    };
    if form.fields.get("decision") != APPROVE {
        return decided(&app, &sent, &[("error", "access_denied"), ("error_description", "the person denied it")]);
    }
    let agent = form.fields.get("agent_id");
    let names: Vec<&str> = form.fields.all("scopes").collect();
    let granted = match Scopes::from_text(&names.join(" ")) {
        Ok(scopes) => app.grant_connector(&form.caller, &asked, agent, scopes).await,
        Err(unknown) => Err(FieldError::new("scopes", unknown.to_string()).into()),
    };
    match granted {
        Ok(code) => decided(&app, &sent, &[("code", code.as_str())]),
        Err(refusal) => {
            let problem = reason(&refusal);
            let error = for_page(refusal)?;
            let chosen = Chosen { agent, scopes: &form.fields, problem: Some(&problem) };
            let text = render(&app, &form.caller, &sent, &asked, chosen).await?;
            let again = page(error.status(), text);
            Ok(because_of(error, again))
        }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::host("https://assistant.example/callback", "assistant.example")]
    #[case::port("http://127.0.0.1:33418/", "127.0.0.1:33418")]
    #[case::other_script("https://аpple.example/", "xn--pple-43d.example")]
    #[case::user_name_of_another("https://assistant.example@evil.example/", "evil.example")]
    fn the_page_names_the_host_to_which_the_code_goes(#[case] redirect: &str, #[case] expected: &str) {
        assert_eq!(receiver_of(redirect), ConnectorReceiver::Host(expected.to_owned()));
    }

    #[rstest]
    #[case::editor("cursor://anysphere.cursor-mcp/oauth/callback", "cursor")]
    #[case::reverse_domain("com.example.app:/callback", "com.example.app")]
    fn the_page_names_the_scheme_of_the_app_to_which_the_code_goes(#[case] redirect: &str, #[case] expected: &str) {
        assert_eq!(receiver_of(redirect), ConnectorReceiver::App(expected.to_owned()));
    }

    #[test]
    fn the_address_of_the_page_asks_for_the_same() {
        let query = "client_id=oac_1&redirect_uri=https%3A%2F%2Fa.example%2Fb%3Fc%3Dd&response_type=code\
                     &code_challenge=x&code_challenge_method=S256&state=a%2Ab%26c&scope=freebusy%3Aorg+holds%3Aorg";
        let asked = request_in(RawQuery(Some(query.to_owned()))).unwrap();
        assert_eq!(address_of(&asked), format!("{AUTHORIZE}?{query}"));
        assert_eq!(asked.state_to_return(), Some("a*b&c"));
    }
}
