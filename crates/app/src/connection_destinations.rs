//! The destinations of a connection, as the console lists them.

use kalends_bridge::Destination;
use kalends_kernel::ConnectionId;

use crate::{Actor, App, Refusal, console::human};

impl App {
    /// The destinations of a connection of the caller, by calendar, with the names of the calendars that are visible.
    /// Those of other members do not exist for the caller.
    ///
    /// # Errors
    /// [`Refusal::Store`].
    pub async fn destinations_of_connection(
        &self,
        actor: &Actor,
        connection: ConnectionId,
    ) -> Result<Vec<(Destination, Option<String>)>, Refusal> {
        let (_, user) = human(actor)?;
        let mut known = self.parts.store.destinations_of(actor.org(), connection).await?;
        known.retain(|(destination, _)| destination.human == user);
        Ok(known)
    }
}
