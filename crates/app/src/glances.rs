//! How much there is in an organization, and what waits in it, for its pages.

use crate::{
    Actor, App, Refusal,
    ports::{Glance, Waits},
};

impl App {
    /// How much there is in the caller's organization.
    ///
    /// # Errors
    /// [`Refusal::OutOfReach`] for an agent's key.
    pub async fn glance(&self, actor: &Actor) -> Result<Glance, Refusal> {
        actor.for_organization()?;
        Ok(self.parts.store.glance(actor.org(), self.now()).await?)
    }

    /// What waits for somebody in the caller's organization.
    ///
    /// # Errors
    /// [`Refusal::OutOfReach`] for an agent's key.
    pub async fn waits(&self, actor: &Actor) -> Result<Waits, Refusal> {
        actor.for_organization()?;
        Ok(self.parts.store.waits(actor.org(), self.now()).await?)
    }
}
