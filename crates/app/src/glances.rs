//! How much there is in an organization, for its first page.

use crate::{Actor, App, Refusal, ports::Glance};

impl App {
    /// How much there is in the caller's organization.
    ///
    /// # Errors
    /// [`Refusal::OutOfReach`] for an agent's key.
    pub async fn glance(&self, actor: &Actor) -> Result<Glance, Refusal> {
        actor.for_organization()?;
        Ok(self.parts.store.glance(actor.org(), self.now()).await?)
    }
}
