//! The address of an SMTP server.

use std::{fmt, net::IpAddr, str::FromStr};

use lettre::transport::smtp::authentication::Credentials;
use percent_encoding::percent_decode_str;
use url::{Host, Url};

use crate::MailTransportError;

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

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::MailTransport;

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
}
