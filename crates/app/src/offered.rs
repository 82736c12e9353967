//! What the console shows to a user before an account is connected, or gets another password.

use kalends_bridge::Access;
use kalends_wire as wire;

use crate::{Actor, App, Missing, Refusal};

impl App {
    /// The names of the providers at which users can connect accounts, in the order in which they are offered.
    pub fn offered_providers(&self) -> Vec<&'static str> {
        wire::provider_names(|provider| self.parts.calendar_providers.offers(provider))
    }

    /// The address of the server and the user name of a connection of the caller, as its user entered them.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] if the caller has no such connection with a password; [`Refusal::UnreadableConnection`] if
    /// what is stored about it cannot be read. Another password would then make another connection.
    pub async fn entered_server(&self, actor: &Actor, id: &str) -> Result<(String, String), Refusal> {
        match self.connection_of(actor, id).await?.access {
            Access::Password(account) => Ok((account.server, account.username)),
            Access::Consent(_) | Access::Drawn(_) => Err(Refusal::missing(Missing::Connection, id)),
        }
    }
}
