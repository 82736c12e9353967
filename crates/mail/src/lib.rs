//! Sends mail: [`FileMailbox`] keeps each message as a file, [`SmtpMailer`] hands it to a server.
//!
//! Both write plain text and HTML, of which readers choose one, under one [`Letterhead`]. Nothing here logs: a body may carry a code, and an
//! address does not belong in logs either.

mod file;
mod letterhead;
mod smtp;
#[cfg(test)]
mod stand_ins;
mod transport;

pub use file::FileMailbox;
pub use letterhead::Letterhead;
pub use smtp::SmtpMailer;
pub use transport::{MailTransport, MailTransportError, SmtpUrl};
