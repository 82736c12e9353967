//! Sends email: [`FileMailbox`] writes each message to a file, [`SmtpMailer`] sends it to a server.
//!
//! Both send plain text and HTML as alternatives, under one [`Letterhead`]. Nothing here logs: a body may contain a
//! code, and addresses do not belong in logs either.

mod error;
mod file;
mod letterhead;
mod smtp;
mod smtp_url;
#[cfg(test)]
mod stand_ins;
mod transport;

pub use error::MailTransportError;
pub use file::FileMailbox;
pub use letterhead::{Letterhead, Sender};
pub use smtp::SmtpMailer;
pub use smtp_url::SmtpUrl;
pub use transport::MailTransport;
