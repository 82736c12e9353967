//! Reads busy times from Google, Microsoft and CalDAV calendars, and publishes events to Microsoft calendars.
//!
//! [`CalendarAccounts`] exchanges the result of a user's consent for tokens, renews them, lists the calendars of the
//! account and reads their busy times, through the guarded client. It asks for as little as possible and returns even
//! less: only the start and end of an event leave this crate, and titles and places are not even asked for. It reads the
//! guests of an event at a CalDAV server, to find whether the user declined, and returns only busy times. It reads the
//! title and the times of the copies that it wrote, to find what a person changed, and returns only whether they
//! changed.
//!
//! Pure functions interpret the status and content of an answer (`tokens`, `google`, `microsoft`, `caldav`). The code
//! around them sends the requests and limits their number and duration. Errors repeat nothing of an answer except the
//! provider's own code.

mod account;
mod accounts;
mod answer;
mod caldav;
pub mod defaults;
mod google;
mod microsoft;
mod settings;
#[cfg(test)]
mod tests;
mod tokens;

pub use accounts::CalendarAccounts;
pub use settings::ProviderSettings;
