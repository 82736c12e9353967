//! The mail transport, as configured.

use std::{io, path::Path, str::FromStr, sync::Arc};

use kalends_app::ports::Mailer;

use crate::{FileMailbox, Letterhead, MailTransportError, SmtpMailer, SmtpUrl};

/// The mail transport.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MailTransport {
    /// Messages are written to files.
    File,
    /// Messages are sent to an SMTP server.
    Smtp(SmtpUrl),
}

impl FromStr for MailTransport {
    type Err = MailTransportError;

    fn from_str(text: &str) -> Result<Self, MailTransportError> {
        match text.trim() {
            "file" => Ok(Self::File),
            url => url.parse().map(Self::Smtp),
        }
    }
}

impl MailTransport {
    /// Reads `file`, `smtp://user:password@host:port` or `smtps://...`; see [`SmtpUrl`].
    ///
    /// # Errors
    /// [`MailTransportError`] says what is allowed. It never quotes the text.
    pub fn parse(text: &str) -> Result<Self, MailTransportError> {
        text.parse()
    }

    /// Opens the mailer. Files are written to `directory`. Call this inside a tokio runtime.
    ///
    /// # Errors
    /// If the directory cannot be created or TLS cannot be set up.
    pub fn open(&self, directory: &Path, letterhead: Letterhead) -> io::Result<Arc<dyn Mailer>> {
        Ok(match self {
            Self::File => Arc::new(FileMailbox::new(directory, letterhead)?),
            Self::Smtp(url) => Arc::new(SmtpMailer::new(url, letterhead)?),
        })
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("", MailTransportError::Form)]
    #[case("files", MailTransportError::Form)]
    #[case("https://mail.example.com", MailTransportError::Form)]
    #[case("smtp://", MailTransportError::Host)]
    #[case("smtp://u@mail.example.com", MailTransportError::HalfCredentials)]
    #[case("smtp://:p@mail.example.com", MailTransportError::HalfCredentials)]
    #[case("smtp://u:%ff@mail.example.com", MailTransportError::Encoding)]
    #[case("smtp://mail.example.com/path", MailTransportError::Rest)]
    #[case("smtp://mail.example.com?tls=none", MailTransportError::Rest)]
    fn invalid_transports_are_refused(#[case] text: &str, #[case] error: MailTransportError) {
        assert_eq!(MailTransport::parse(text), Err(error));
    }
}
