//! Console sessions: the principal that a token belongs to, and the requests that may use it.
//!
//! Nothing is cached: once a session has ended, every node refuses its next request.

use std::sync::Arc;

use kalends_accounts::{
    Organization, Principal, Provenance, Session, SignedIn, User, active_membership, check_anonymous, check_provenance,
};
use kalends_kernel::{StoreError, UserId};

use crate::{App, Refusal, operations::Operation};

impl App {
    /// The principal of the session with that token: its user, in one of the user's organizations.
    ///
    /// # Errors
    /// [`Refusal::NotSignedIn`] or [`Refusal::Store`]. What the session may do is decided by [`crate::Actor::enter`].
    pub async fn authenticate_session(&self, token: &str) -> Result<Arc<Principal>, Refusal> {
        let now = self.now();
        let claimed = self.parts.tokens.read(token).and_then(|claims| claims.check(now));
        let (session, user) = claimed.ok_or(Refusal::NotSignedIn)?;
        let signed_in = self.parts.store.find_signed_in(session, user).await?;
        let signed_in = signed_in.filter(|found| found.session.holds(user, now)).ok_or(Refusal::NotSignedIn)?;
        principal_of(signed_in).map(Arc::new)
    }

    /// The organization that a user without a session works in: the one that they have belonged to longest. `None` if
    /// they belong to none.
    pub(crate) async fn organization_of(&self, user: UserId) -> Result<Option<Organization>, StoreError> {
        let memberships = self.parts.store.memberships_of(user).await?;
        match active_membership(&memberships, None) {
            Some(active) => self.parts.store.find_organization(active.org).await,
            None => Ok(None),
        }
    }

    /// Whether a request may use a session's cookie.
    ///
    /// # Errors
    /// [`Refusal::CrossSite`].
    pub fn admit_cookie(&self, operation: &Operation, from: Provenance<'_>) -> Result<(), Refusal> {
        Ok(check_provenance(operation.writes(), from, &self.origins)?)
    }

    /// Whether a request that signs in or up, or a form of somebody who is not signed in, may come from that origin.
    ///
    /// # Errors
    /// [`Refusal::CrossSite`].
    pub fn admit_entrant(&self, from: Provenance<'_>) -> Result<(), Refusal> {
        Ok(check_anonymous(from, &self.origins)?)
    }

    /// The token of a session.
    pub(crate) fn token_of(&self, session: &Session) -> Result<String, Refusal> {
        Ok(self.parts.tokens.sign(&session.claims())?)
    }

    /// The user as they are now. A user who has just been deleted has no session.
    pub(crate) async fn user(&self, user: UserId) -> Result<User, Refusal> {
        self.parts.store.find_user(user).await?.ok_or(Refusal::NotSignedIn)
    }
}

fn principal_of(signed_in: SignedIn) -> Result<Principal, Refusal> {
    let org = signed_in.organization.id;
    Principal::of_session(signed_in)
        .map_err(|error| StoreError::corrupt("organizations", "limit_overrides", org, error).into())
}
