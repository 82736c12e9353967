//! Principals: the owners of keys and sessions, and their reach.

use kalends_kernel::{KeyId, OrgId, SessionId, UserId};
use kalends_plans::{Limits, LimitsError, Plan};

use crate::{
    ApprovalPolicy, ConnectorAccess, NewKey, Scopes, SignedIn, Waitlist,
    reach::{Caller, CallerKind, ScopedAgent, Standing},
};

/// The reach of a key inside its organization.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reach {
    /// The whole organization.
    Organization,
    /// One agent and everything that belongs to it.
    Agent(ScopedAgent),
}

/// The credential of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Credential {
    /// An API key.
    Key(KeyId),
    /// A console session.
    Session {
        /// The session.
        session: SessionId,
        /// The user who signed in.
        user: UserId,
    },
}

impl Credential {
    /// The identifier that failures are counted by: that of the key, or of the user.
    pub const fn bytes(&self) -> [u8; 16] {
        match self {
            Self::Key(key) => key.uuid().into_bytes(),
            Self::Session { user, .. } => user.uuid().into_bytes(),
        }
    }
}

/// The owner of a key or a session: everything that a request needs to know about its caller. That of a key can be
/// cached; that of a session is read for each request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Principal {
    /// The key or the session.
    pub credential: Credential,
    /// The first characters of the key, or of the user's identifier for a session. They identify the caller in the
    /// audit log.
    pub key_prefix: String,
    /// The organization.
    pub org: OrgId,
    /// The kind of credential.
    pub kind: CallerKind,
    /// The reach.
    pub reach: Reach,
    /// Whether the organization is on the waiting list.
    pub waitlisted: bool,
    /// The organization's plan.
    pub plan: Plan,
    /// The plan's limits with the organization's own overrides.
    pub limits: Limits,
    /// The terms that the organization last accepted.
    pub accepted_terms: Option<String>,
    /// Which writes of the key need approval; `None` if none does.
    pub approval: Option<ApprovalPolicy>,
    /// The client that holds the key, if it was granted by OAuth.
    pub connector: Option<ConnectorAccess>,
    /// What the session opens, from which the other fields are taken; `None` exactly if the credential is a key.
    pub signed_in: Option<Box<SignedIn>>,
}

impl Principal {
    /// The part of a user's identifier that the audit log shows: as many characters as of a key.
    pub fn user_prefix(user: UserId) -> String {
        user.to_string().chars().take(NewKey::PREFIX_LEN).collect()
    }

    /// The principal of a session that is in force.
    ///
    /// # Errors
    /// [`LimitsError`] if the stored overrides are invalid.
    pub fn of_session(signed_in: SignedIn) -> Result<Self, LimitsError> {
        let SignedIn { session, organization, role, .. } = &signed_in;
        Ok(Self {
            credential: Credential::Session { session: session.id, user: session.user },
            key_prefix: Self::user_prefix(session.user),
            org: organization.id,
            kind: CallerKind::of_role(*role),
            reach: Reach::Organization,
            waitlisted: organization.waitlist != Waitlist::Active,
            plan: organization.plan,
            limits: organization.limits()?,
            accepted_terms: organization.accepted.as_ref().map(|acceptance| acceptance.version.clone()),
            approval: None,
            connector: None,
            signed_in: Some(Box::new(signed_in)),
        })
    }

    /// The scopes of an agent's key; none for any other credential.
    pub const fn scopes(&self) -> Scopes {
        match self.reach {
            Reach::Organization => Scopes::NONE,
            Reach::Agent(agent) => agent.scopes,
        }
    }

    /// What decides which rows of the access table are open to it.
    pub const fn standing(&self) -> Standing {
        Standing { kind: self.kind, scopes: self.scopes() }
    }

    /// The caller, in the form that the access table uses.
    pub const fn caller(&self) -> Caller {
        let agent = match self.reach {
            Reach::Organization => None,
            Reach::Agent(agent) => Some(agent),
        };
        Caller { kind: self.kind, agent, waitlisted: self.waitlisted }
    }
}
