//! The settings of a provider.

use kalends_accounts::oauth::Client;
use kalends_remote::RemoteUrl;
use secrecy::SecretString;

/// A provider of calendars, and the OAuth client of this service there.
#[derive(Debug, Clone)]
pub struct ProviderSettings {
    /// The OAuth client at the provider.
    pub client: Client,
    /// Its token endpoint.
    pub token_endpoint: RemoteUrl,
    /// The secret of the OAuth client.
    pub client_secret: SecretString,
    /// The base URL of its calendar API, with or without a trailing slash.
    pub api: RemoteUrl,
    /// The endpoint that revokes a consent. `None` if the provider has none.
    pub revocation_endpoint: Option<RemoteUrl>,
}
