//! Why an exchange failed.

use std::{error::Error, fmt, io, time::Duration};

use kalends_kernel::FieldError;
use kalends_remote::NotPublic;
use rustls::CertificateError;

/// Why an exchange failed.
///
/// The `Display` text may be shown to the party that named the address. It does not reveal what a name resolves to,
/// whether a private name exists, or how a private address reacts. The sources are only for the operator's log.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EgressError {
    /// The address may not be reached. No connection to it was opened.
    #[error(transparent)]
    NotAllowed(NotAllowed),
    /// The name has no addresses, or the look-up failed.
    #[error("{NO_PUBLIC_ADDRESS}")]
    Resolve(#[source] Cause),
    /// The connection failed.
    #[error("cannot connect to the server")]
    Connect(#[source] Cause),
    /// The server's identity could not be verified, or the TLS handshake failed.
    #[error("{fault}")]
    Tls {
        /// The kind of fault.
        fault: TlsFault,
        /// The underlying error.
        #[source]
        cause: Cause,
    },
    /// Time ran out.
    #[error("no complete answer within {} s", within.as_secs_f64())]
    Deadline {
        /// The time that was allowed.
        within: Duration,
    },
    /// The answer exceeds the limit.
    #[error("the answer is longer than {limit} bytes")]
    TooLarge {
        /// The limit in bytes.
        limit: usize,
    },
    /// A redirect was not followed.
    #[error(transparent)]
    Redirect(RedirectFault),
    /// The answer is not HTTP, or was cut short.
    #[error("the answer is not valid HTTP, or ended too early")]
    Protocol(#[source] Cause),
}

/// The message is the same for names without addresses and names with private ones, so that it does not reveal which
/// names exist in a private network.
const NO_PUBLIC_ADDRESS: &str = "the host has no public address";

/// Why an address may not be reached.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotAllowed {
    /// The URL itself is refused.
    #[error("the address {}", .0.message)]
    Url(FieldError),
    /// The name resolves to at least one address that is not public.
    #[error("{NO_PUBLIC_ADDRESS}")]
    Address(NotPublic),
}

/// Why a redirect was not followed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RedirectFault {
    /// There were more redirects than allowed.
    #[error("the server redirects more than {limit} times")]
    TooMany {
        /// The limit.
        limit: u8,
    },
    /// It has no valid target, or more than one.
    #[error("the server redirects without saying where to")]
    NoTarget,
    /// It leads to an address that may not be reached.
    #[error("the address that the server redirects to {}", .0.message)]
    NotAllowed(FieldError),
    /// It leads from https to http.
    #[error("the server redirects from https to http")]
    Downgrade,
    /// It would send the request's content to another origin.
    #[error("the server redirects the content of the request to another host")]
    BodyElsewhere,
}

/// A fault of a server's TLS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TlsFault {
    /// The certificate has expired.
    Expired,
    /// The certificate is not valid yet.
    NotYetValid,
    /// The certificate is for other names.
    OtherName,
    /// The certificate is not from a trusted authority.
    UnknownIssuer,
    /// The certificate is invalid for another reason.
    Certificate,
    /// The handshake failed, or the server does not speak TLS.
    Handshake,
}

impl fmt::Display for TlsFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Expired => "the server's certificate has expired",
            Self::NotYetValid => "the server's certificate is not valid yet",
            Self::OtherName => "the server's certificate is for another name",
            Self::UnknownIssuer => "the server's certificate is not from a trusted authority",
            Self::Certificate => "the server's certificate is not valid",
            Self::Handshake => "the TLS handshake with the server failed",
        })
    }
}

impl TlsFault {
    fn of(error: &rustls::Error) -> Self {
        let rustls::Error::InvalidCertificate(what) = error else { return Self::Handshake };
        match what {
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => Self::Expired,
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => Self::NotYetValid,
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => Self::OtherName,
            CertificateError::UnknownIssuer => Self::UnknownIssuer,
            _ => Self::Certificate,
        }
    }
}

/// The client's error without the URL, which may contain a secret. The error may name addresses, so it is only for the
/// log.
#[derive(Debug)]
pub struct Cause(reqwest::Error);

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl Error for Cause {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source()
    }
}

/// The client cannot be built.
#[derive(Debug, thiserror::Error)]
#[error("cannot build the client for outgoing calls")]
pub struct StartError(#[source] Box<dyn Error + Send + Sync>);

impl StartError {
    pub(crate) fn new(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self(cause.into())
    }
}

impl EgressError {
    /// Classifies an error of the client by the first known cause.
    pub(crate) fn of(error: reqwest::Error) -> Self {
        let error = error.without_url();
        if let Some(refused) = find::<NotAllowed>(&error) {
            return Self::NotAllowed(refused.clone());
        }
        if error.is_dns() {
            return Self::Resolve(Cause(error));
        }
        if let Some(fault) = find::<rustls::Error>(&error).map(TlsFault::of) {
            return Self::Tls { fault, cause: Cause(error) };
        }
        if error.is_connect() { Self::Connect(Cause(error)) } else { Self::Protocol(Cause(error)) }
    }
}

/// The first error of a type in a chain of causes.
fn find<'a, T: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a T> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref() {
            return Some(found);
        }
        // `io::Error::source` skips the error that it holds, so look at that first.
        let held = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        next = held.map(|held| held as &(dyn Error + 'static)).or_else(|| error.source());
    }
    None
}
