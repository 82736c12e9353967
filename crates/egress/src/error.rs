//! Why an exchange failed.

use std::{error::Error, fmt, io, time::Duration};

use kalends_kernel::{FieldError, NotPublic};
use rustls::CertificateError;

/// Why there is no answer.
///
/// What `Display` says may be shown to whoever named the address: it tells neither what a name resolves to, nor
/// whether a private name exists, nor how a private address reacts. The sources are for the log of the operator.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EgressError {
    /// The address is not one that may be reached. Nothing was connected to.
    #[error(transparent)]
    NotAllowed(NotAllowed),
    /// The name has no addresses, or they could not be found out.
    #[error("{NO_PUBLIC_ADDRESS}")]
    Resolve(#[source] Cause),
    /// No connection was made.
    #[error("the server could not be connected to")]
    Connect(#[source] Cause),
    /// The server is not whom its name says, or speaks no TLS.
    #[error("{fault}")]
    Tls {
        /// What is wrong.
        fault: TlsFault,
        /// How it came out.
        #[source]
        cause: Cause,
    },
    /// Time ran out.
    #[error("no complete answer within {} s", within.as_secs_f64())]
    Deadline {
        /// How long it might have taken.
        within: Duration,
    },
    /// The answer is longer than it may be.
    #[error("the answer is longer than {limit} bytes")]
    TooLarge {
        /// The most bytes.
        limit: usize,
    },
    /// A redirect was not followed.
    #[error(transparent)]
    Redirect(RedirectFault),
    /// The answer is no HTTP, or broke off.
    #[error("the answer is not valid HTTP, or ended too early")]
    Protocol(#[source] Cause),
}

/// Said of names without addresses and of those with private ones alike: who asks shall not learn which names exist
/// inside.
const NO_PUBLIC_ADDRESS: &str = "the host has no address in the public internet";

/// Why an address may not be reached.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotAllowed {
    /// The URL itself tells.
    #[error("the address {}", .0.message)]
    Url(FieldError),
    /// Its name resolves to at least one address that is not of the public internet.
    #[error("{NO_PUBLIC_ADDRESS}")]
    Address(NotPublic),
}

/// Why a redirect was not followed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RedirectFault {
    /// There were more than asked for.
    #[error("the server redirects more than {limit} times")]
    TooMany {
        /// The most.
        limit: u8,
    },
    /// It does not say where to, or says so more than once.
    #[error("the server redirects without saying where to")]
    NoTarget,
    /// It leads where nothing may be reached.
    #[error("the address to which the server redirects {}", .0.message)]
    NotAllowed(FieldError),
    /// It leads from https to http.
    #[error("the server redirects from https to http")]
    Downgrade,
    /// It would send the request's content to somebody else.
    #[error("the server redirects the content of the request to another host")]
    BodyElsewhere,
}

/// What is wrong with a server's TLS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TlsFault {
    /// The certificate was valid once.
    Expired,
    /// The certificate is not valid yet.
    NotYetValid,
    /// The certificate is for other names.
    OtherName,
    /// No authority that is trusted stands behind the certificate.
    UnknownIssuer,
    /// Anything else about the certificate.
    Certificate,
    /// There was no agreement, or no TLS.
    Handshake,
}

impl fmt::Display for TlsFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Expired => "the server's certificate has expired",
            Self::NotYetValid => "the server's certificate is not valid yet",
            Self::OtherName => "the server's certificate is for another name",
            Self::UnknownIssuer => "the server's certificate comes from no authority that is trusted here",
            Self::Certificate => "the server's certificate is not valid",
            Self::Handshake => "no secure connection could be agreed on with the server",
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

/// What the client said, without the URL, which may carry a secret. It may name addresses: for the log alone.
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

/// The client cannot be made.
#[derive(Debug, thiserror::Error)]
#[error("the client for outgoing calls cannot be made")]
pub struct StartError(#[source] Box<dyn Error + Send + Sync>);

impl StartError {
    pub(crate) fn new(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self(cause.into())
    }
}

impl EgressError {
    /// What an error of the client means. The first of the causes that is known decides.
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

/// The first error of a type among an error and its causes.
fn find<'a, T: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a T> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref() {
            return Some(found);
        }
        // An error of I/O passes over what it holds when it is asked for its source.
        let held = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        next = held.map(|held| held as &(dyn Error + 'static)).or_else(|| error.source());
    }
    None
}
