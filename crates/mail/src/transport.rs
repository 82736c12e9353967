//! The mail transport, as configured.

use std::{fmt, io, net::IpAddr, path::Path, str::FromStr, sync::Arc};

use kalends_app::ports::Mailer;
use lettre::transport::smtp::authentication::Credentials;
use percent_encoding::percent_decode_str;
use url::{Host, Url};

use crate::{FileMailbox, Letterhead, SmtpMailer};

/// The text is not a mail transport. The error never quotes the text, which may contain a password.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum MailTransportError {
    /// Neither `file` nor an SMTP address.
    #[error("must be \"file\", smtp://user:password@host:port or smtps://user:password@host:port")]
    Form,
    /// The address has no host.
    #[error("must name a host")]
    Host,
    /// There is a user without a password, or a password without a user.
    #[error("must name both a user and a password, or neither")]
    HalfCredentials,
    /// The user or the password is not UTF-8 after percent-decoding.
    #[error("the user and the password must be UTF-8, with special characters percent-encoded")]
    Encoding,
    /// There is a path, a query or a fragment.
    #[error("must end after the port")]
    Rest,
}

/// The mail transport.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MailTransport {
    /// Messages are written to files.
    File,
    /// Messages are sent to an SMTP server.
    Smtp(SmtpUrl),
}

/// How an SMTP connection is protected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Protection {
    /// TLS from the first byte.
    Wrapped,
    /// STARTTLS is required.
    Required,
    /// STARTTLS is used if the server offers it.
    Offered,
    /// No protection: the connection stays on this machine.
    Plain,
}

/// An SMTP server and the account there.
///
/// `smtps://` uses TLS from the first byte. `smtp://` starts without TLS. On another machine it requires STARTTLS if
/// there is an account, and otherwise uses STARTTLS if the server offers it. On a loopback host it stays unencrypted,
/// so that a local relay does not need a certificate. Certificates are verified against Mozilla's root certificates.
#[derive(Clone, PartialEq, Eq)]
pub struct SmtpUrl {
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) protection: Protection,
    account: Option<(String, String)>,
}

impl SmtpUrl {
    pub(crate) fn credentials(&self) -> Option<Credentials> {
        self.account.as_ref().map(|(user, password)| Credentials::new(user.clone(), password.clone()))
    }
}

impl fmt::Debug for SmtpUrl {
    /// Omits the account.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SmtpUrl")
            .field("host", &self.host)
            .field("port", &self.port)
            .field("protection", &self.protection)
            .finish_non_exhaustive()
    }
}

impl FromStr for SmtpUrl {
    type Err = MailTransportError;

    fn from_str(text: &str) -> Result<Self, MailTransportError> {
        let url = Url::parse(text).map_err(|_| MailTransportError::Form)?;
        let wrapped = match url.scheme() {
            "smtp" => false,
            "smtps" => true,
            _ => return Err(MailTransportError::Form),
        };
        if !matches!(url.path(), "" | "/") || url.query().is_some() || url.fragment().is_some() {
            return Err(MailTransportError::Rest);
        }
        // For these schemes, the parser keeps the host as written, so literal addresses are recognized here.
        let host = url.host_str().filter(|host| !host.is_empty()).ok_or(MailTransportError::Host)?;
        let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        if host.parse::<IpAddr>().is_err() && !matches!(Host::parse(&host), Ok(Host::Domain(_))) {
            return Err(MailTransportError::Host);
        }
        let decode = |text: &str| {
            percent_decode_str(text).decode_utf8().map(String::from).map_err(|_| MailTransportError::Encoding)
        };
        let account = match (url.username(), url.password()) {
            ("", None) => None,
            (user, Some(password)) if !user.is_empty() && !password.is_empty() => {
                Some((decode(user)?, decode(password)?))
            }
            _ => return Err(MailTransportError::HalfCredentials),
        };
        let loopback = host.parse::<IpAddr>().map_or(host == "localhost", |address| address.is_loopback());
        let (protection, port) = match (wrapped, loopback, &account) {
            (true, ..) => (Protection::Wrapped, 465),
            (false, true, _) => (Protection::Plain, 25),
            (false, false, Some(_)) => (Protection::Required, 587),
            (false, false, None) => (Protection::Offered, 25),
        };
        Ok(Self { port: url.port().unwrap_or(port), host, protection, account })
    }
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

    /// Opens the mailer. Files are written to `directory`. Call it inside a tokio runtime.
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
    #[case("smtps://u:p@mail.example.com", Protection::Wrapped, "mail.example.com", 465)]
    #[case("smtps://127.0.0.1:1465", Protection::Wrapped, "127.0.0.1", 1465)]
    #[case("smtp://u:p@mail.example.com", Protection::Required, "mail.example.com", 587)]
    #[case("smtp://u:p@mail.example.com:2525/", Protection::Required, "mail.example.com", 2525)]
    #[case("smtp://mail.example.com", Protection::Offered, "mail.example.com", 25)]
    #[case("smtp://192.0.2.1", Protection::Offered, "192.0.2.1", 25)]
    #[case("smtp://localhost:1025", Protection::Plain, "localhost", 1025)]
    #[case("smtp://u:p@127.0.0.1:1025", Protection::Plain, "127.0.0.1", 1025)]
    #[case("smtp://[::1]:1025", Protection::Plain, "::1", 1025)]
    fn the_scheme_host_and_account_decide_the_protection(
        #[case] url: &str,
        #[case] protection: Protection,
        #[case] host: &str,
        #[case] port: u16,
    ) {
        let smtp: SmtpUrl = url.parse().unwrap();
        assert_eq!((smtp.protection, smtp.host.as_str(), smtp.port), (protection, host, port));
    }

    #[test]
    fn accounts_are_decoded_and_never_printed() {
        let smtp: SmtpUrl = "smtps://ada%40example.com:p%3Aw%2Fd@mail.example.com".parse().unwrap();
        assert_eq!(smtp.account, Some(("ada@example.com".to_owned(), "p:w/d".to_owned())));
        let printed = format!("{:?}", MailTransport::Smtp(smtp));
        assert!(!printed.contains("p:w/d") && !printed.contains("ada"), "{printed}");
    }

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
