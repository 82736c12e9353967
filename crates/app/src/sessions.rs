//! Console sessions: the principal that a token belongs to, and the requests that may use it.
//!
//! Nothing is cached: once a session has ended, every node refuses its next request.

use std::sync::Arc;

use kalends_accounts::{
    Organization, Principal, Provenance, Session, User, active_organization, check_anonymous, check_provenance,
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
        let session = self.parts.store.find_session(session).await?;
        let session = session.filter(|session| session.holds(user, now)).ok_or(Refusal::NotSignedIn)?;
        let organization = self.opened_by(user, Some(&session)).await?.ok_or(Refusal::NotSignedIn)?;
        principal_of(&session, &organization).map(Arc::new)
    }

    /// The organization that a user works in: the session's if the user owns it, else the one that they have owned
    /// longest. `None` if they own none.
    pub(crate) async fn opened_by(
        &self,
        user: UserId,
        session: Option<&Session>,
    ) -> Result<Option<Organization>, StoreError> {
        let owned = self.parts.store.owned_by(user).await?;
        match active_organization(&owned, session.and_then(|session| session.org)) {
            Some(org) => self.parts.store.find_organization(org).await,
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

    /// Whether a request may sign in or sign up from that origin.
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

fn principal_of(session: &Session, organization: &Organization) -> Result<Principal, Refusal> {
    Principal::of_session(session, organization)
        .map_err(|error| StoreError::corrupt("organizations", "limit_overrides", organization.id, error).into())
}
