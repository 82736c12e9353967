//! Identifies users at the providers that they sign in with.
//!
//! There is one exchange: the authorization code of a callback for an identity token, at the provider's token
//! endpoint, through the guarded client. The token's claims are returned as they are. [`kalends_accounts::oauth`]
//! decides whether they belong to the sign-in attempt.
//!
//! The endpoints of Google and Microsoft are settings. Those of an operator's own provider come from its discovery
//! document (`discovery`), and the address of a user may come from its UserInfo endpoint (`userinfo`).

mod answer;
mod discovery;
mod providers;
mod requests;
mod userinfo;

pub use providers::{OidcSettings, ProviderSettings, Providers};
