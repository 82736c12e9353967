//! Asks Google and Microsoft when humans are busy (ruling 9).
//!
//! [`CalendarAccounts`] exchanges what a human's consent brings for tokens, renews them, lists the calendars of the account and
//! reads when these are busy, through the guarded client. The least is asked for, and less is handed on: of an event nothing
//! but its start and its end leaves this crate, and neither titles nor places nor guests are asked for at all.
//!
//! What an answer means is decided by pure functions over its status and its content (`tokens`, `google`, `microsoft`); who is
//! asked, how long and how often is decided around them. Errors repeat nothing of an answer but the provider's own code.

mod account;
mod accounts;
mod answer;
pub mod defaults;
mod google;
mod microsoft;
#[cfg(test)]
mod tests;
mod tokens;

pub use accounts::{CalendarAccounts, ProviderSettings};
