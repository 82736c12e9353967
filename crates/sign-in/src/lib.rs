//! Identifies users at the providers that they sign in with.
//!
//! There is one exchange: the authorization code of a callback for an identity token, at the provider's token
//! endpoint, through the guarded client. The token's claims are returned as they are. [`kalends_accounts::oauth`]
//! decides whether they belong to the sign-in attempt.

mod answer;
mod providers;

pub use providers::{ProviderSettings, Providers};
