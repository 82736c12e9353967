//! The pages on which a person grants a connector access. They are in English, like the console, and work without scripts.

use std::fmt;

use askama::Template;

use crate::{
    english::in_english,
    field::{Choice, Select},
    keys::ScopeChoice,
    link::Href,
    signed_in::SignedIn,
};

/// What the answer goes to, and so what receives the access. It is the only thing about a program that can be relied
/// on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConnectorReceiver {
    /// A host, with its port if the address names one.
    Host(String),
    /// An app on the person's device. Any app there may claim the addresses of this scheme.
    App(String),
}

impl ConnectorReceiver {
    /// Its name at the beginning of a sentence.
    fn first(&self) -> String {
        match self {
            Self::Host(host) => host.clone(),
            Self::App(scheme) => format!("An {}", app(scheme)),
        }
    }

    /// The scheme, if an app receives the access.
    fn scheme(&self) -> Option<&str> {
        match self {
            Self::Host(_) => None,
            Self::App(scheme) => Some(scheme),
        }
    }
}

impl fmt::Display for ConnectorReceiver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Host(host) => f.write_str(host),
            Self::App(scheme) => write!(f, "an {}", app(scheme)),
        }
    }
}

/// What the pages call an app, without its article.
fn app(scheme: &str) -> String {
    format!("app on this device that opens {scheme}: addresses")
}

/// The question whether a program may act for an agent.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "connector_consent.html")]
pub struct ConnectorConsent<'a> {
    /// The user and the organization.
    pub who: SignedIn<'a>,
    /// The name that the program gave itself; empty if none.
    pub client: &'a str,
    /// What the answer goes to.
    pub receiver: &'a ConnectorReceiver,
    /// The agents to choose from, by identifier and name.
    pub agents: &'a [Choice<'a>],
    /// Whether the organization has more agents than these.
    pub more: bool,
    /// The identifier of the chosen agent; empty for the first one.
    pub agent: &'a str,
    /// The scopes.
    pub scopes: &'a [ScopeChoice],
    /// The names of the scopes that the program asks for. None of them is chosen because of that.
    pub asked: &'a [&'a str],
    /// Why the form had no effect.
    pub problem: Option<&'a str>,
    /// The path and query of the page.
    pub address: &'a str,
}

impl<'a> ConnectorConsent<'a> {
    const fn name(&self) -> &'a str {
        name(self.client)
    }

    fn is_asked(&self, scope: &ScopeChoice) -> bool {
        self.asked.contains(&scope.name)
    }

    const fn agent(&self) -> Select<'a> {
        let (options, chosen) = (self.agents, self.agent);
        Select { name: "agent_id", label: "The agent that it acts for", options, chosen, problem: None }
    }
}

/// The page for those who may not grant access.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "connector_for_others.html")]
pub struct ConnectorForOthers<'a> {
    /// The user and the organization.
    pub who: SignedIn<'a>,
    /// The name that the program gave itself; empty if none.
    pub client: &'a str,
    /// What the answer would go to.
    pub receiver: &'a ConnectorReceiver,
    /// Whether nobody may grant it, because the organization is on the waiting list.
    pub waits: bool,
    /// The addresses of those who may grant access.
    pub managers: &'a [String],
    /// The path and query of the page.
    pub address: &'a str,
}

impl<'a> ConnectorForOthers<'a> {
    const fn name(&self) -> &'a str {
        name(self.client)
    }
}

/// The page that leads back to a program with the decision of a person. It is not a redirect: browsers apply the
/// `form-action` of the form's page to all redirects that follow, also to those of the program. So the page refreshes itself,
/// and has a link for browsers that do not.
#[derive(Debug, Clone, Template)]
#[template(path = "connector_back.html")]
pub struct ConnectorBack<'a> {
    /// What the decision goes to.
    pub receiver: &'a ConnectorReceiver,
    /// The address of the program, with the decision.
    pub address: Href,
}

/// The page that says why a request of a known program cannot be decided. It does not lead back by itself: anybody can
/// register a program, and would lead people from a link to this server to an address of their own.
#[derive(Debug, Clone, Template)]
#[template(path = "connector_wrong.html")]
pub struct ConnectorWrong<'a> {
    /// What the error goes to.
    pub receiver: &'a ConnectorReceiver,
    /// What is wrong, without a full stop.
    pub reason: &'a str,
    /// The address of the program, with the error.
    pub address: Href,
}

/// What the page calls a program.
const fn name(client: &str) -> &str {
    if client.is_empty() { "A program without a name" } else { client }
}

in_english!(ConnectorConsent<'_>, ConnectorForOthers<'_>, ConnectorBack<'_>, ConnectorWrong<'_>);

#[cfg(test)]
mod tests {
    use super::*;

    const WHO: SignedIn<'static> = SignedIn { org: "org_x", organization: "Looms", email: "ada@example.com" };

    fn consent(receiver: &ConnectorReceiver) -> String {
        let consent = ConnectorConsent {
            who: WHO,
            client: "Cursor",
            receiver,
            agents: &[],
            more: false,
            agent: "",
            scopes: &[],
            asked: &[],
            problem: None,
            address: "/console/authorize?client_id=oac_x",
        };
        consent.html()
    }

    #[test]
    fn the_page_says_that_any_app_on_the_device_may_receive_the_access() {
        let page = consent(&ConnectorReceiver::App("cursor".to_owned()));
        for part in [
            "<h1>Connect an app on this device that opens cursor: addresses?</h1>",
            "<strong>An app on this device that opens cursor: addresses</strong> asks for access",
            "Any app on this device can open cursor: addresses",
        ] {
            assert!(page.contains(part), "no {part} in {page}");
        }
    }

    #[test]
    fn the_page_names_the_host_that_receives_the_access() {
        let page = consent(&ConnectorReceiver::Host("assistant.example".to_owned()));
        assert!(page.contains("<strong>assistant.example</strong> asks for access"), "{page}");
        assert!(!page.contains("on this device"), "{page}");
    }

    #[test]
    fn the_page_with_the_decision_leads_to_the_app() {
        let address = "cursor://anysphere.cursor-mcp/oauth/callback?code=x";
        let receiver = ConnectorReceiver::App("cursor".to_owned());
        let page = ConnectorBack { receiver: &receiver, address: Href::of_program(address).unwrap() }.html();
        assert!(page.contains(&format!("content=\"0;url={address}\"")), "{page}");
        assert!(page.contains(&format!("href=\"{address}\"")), "{page}");
    }
}
