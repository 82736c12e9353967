//! Console sessions: whom a token speaks for, and which requests may use it.
//!
//! Nothing of it is cached: a session that was ended is refused with the next request, on every node.

use std::sync::Arc;

use kalends_accounts::{
    Organization, Principal, Provenance, Session, User, active_organization, check_anonymous, check_provenance,
};
use kalends_kernel::{StoreError, UserId};

use crate::{App, Refusal, operations::Operation};

impl App {
    /// Whom the session of that token speaks for: its human, in front of an organization of theirs.
    ///
    /// # Errors
    /// [`Refusal::NotSignedIn`] or [`Refusal::Store`]. What it may do is told by [`crate::Actor::enter`].
    pub async fn authenticate_session(&self, token: &str) -> Result<Arc<Principal>, Refusal> {
        let now = self.now();
        let claimed = self.tokens.read(token).and_then(|claims| claims.check(now));
        let (session, user) = claimed.ok_or(Refusal::NotSignedIn)?;
        let session = self.store.find_session(session).await?;
        let session = session.filter(|session| session.holds(user, now)).ok_or(Refusal::NotSignedIn)?;
        let organization = self.opened_by(user, Some(&session)).await?.ok_or(Refusal::NotSignedIn)?;
        principal_of(&session, &organization).map(Arc::new)
    }

    /// The organization in front of which a human stands: that of the session where it is theirs, else the one that
    /// they have owned longest; `None` where they own none.
    pub(crate) async fn opened_by(
        &self,
        user: UserId,
        session: Option<&Session>,
    ) -> Result<Option<Organization>, StoreError> {
        let owned = self.store.owned_by(user).await?;
        match active_organization(&owned, session.and_then(|session| session.org)) {
            Some(org) => self.store.find_organization(org).await,
            None => Ok(None),
        }
    }

    /// Whether a request may use the authority of a session's cookie (ruling 3.10).
    ///
    /// # Errors
    /// [`Refusal::CrossSite`].
    pub fn admit_cookie(&self, operation: &Operation, from: Provenance<'_>) -> Result<(), Refusal> {
        Ok(check_provenance(operation.writes(), from, &self.origins)?)
    }

    /// Whether a request may sign in or up from there.
    ///
    /// # Errors
    /// [`Refusal::CrossSite`].
    pub fn admit_entrant(&self, from: Provenance<'_>) -> Result<(), Refusal> {
        Ok(check_anonymous(from, &self.origins)?)
    }

    /// The token of a session.
    pub(crate) fn token_of(&self, session: &Session) -> Result<String, Refusal> {
        Ok(self.tokens.sign(&session.claims())?)
    }

    /// The human as they are now. Whoever has just gone has no session any more.
    pub(crate) async fn user(&self, user: UserId) -> Result<User, Refusal> {
        self.store.find_user(user).await?.ok_or(Refusal::NotSignedIn)
    }
}

fn principal_of(session: &Session, organization: &Organization) -> Result<Principal, Refusal> {
    Principal::of_session(session, organization)
        .map_err(|error| StoreError::corrupt("organizations", "limit_overrides", organization.id, error).into())
}
