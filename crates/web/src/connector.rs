//! The pages on which a person grants a connector access. They are in English, like the console, and work without scripts.

use askama::Template;

use crate::{
    english::in_english,
    field::{Choice, Select},
    keys::ScopeChoice,
    link::Href,
    signed_in::SignedIn,
};

/// The question whether a program may act for an agent.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "connector_consent.html")]
pub struct ConnectorConsent<'a> {
    /// The user and the organization.
    pub who: SignedIn<'a>,
    /// The name that the program gave itself; empty if none.
    pub client: &'a str,
    /// The host to which the answer goes. It is the only thing about the program that can be relied on.
    pub host: &'a str,
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
    /// The host to which the answer would go.
    pub host: &'a str,
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
    /// The host to which the decision goes.
    pub host: &'a str,
    /// The address of the program, with the decision.
    pub address: Href,
}

/// The page that says why a request of a known program cannot be decided. It does not lead back by itself: anybody can
/// register a program, and would lead people from a link to this server to an address of their own.
#[derive(Debug, Clone, Template)]
#[template(path = "connector_wrong.html")]
pub struct ConnectorWrong<'a> {
    /// The host to which the error goes.
    pub host: &'a str,
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
