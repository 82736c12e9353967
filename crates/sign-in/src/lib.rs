//! Asks the providers with which humans sign in who they are (ruling 3.10).
//!
//! One exchange: the code of a callback for an identity token, at the provider's token endpoint, through the guarded
//! client. What the token says is handed on as it is; whether it answers the attempt is decided in
//! [`kalends_accounts::oauth`].

mod answer;
mod providers;

pub use providers::{ProviderSettings, Providers};
