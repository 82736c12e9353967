//! Requests to a CalDAV server, with the user's password.

use std::time::Duration;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use bytes::Bytes;
use kalends_app::ports::{DiscoveryError, ProviderError};
use kalends_egress::{Egress, EgressError, Exchange, HeaderMap, HeaderName, HeaderValue, Method, NotAllowed, header};
use kalends_kernel::FieldError;
use kalends_remote::RemoteUrl;

use super::{
    hosts::entrusted,
    xml::{self, Response, XmlError},
};
use crate::answer::unavailable;

/// How long one exchange may take.
const WITHIN: Duration = Duration::from_secs(15);
/// The maximum number of redirects of one request.
const REDIRECTS_MAX: u8 = 5;
/// The maximum length of an answer with properties, in bytes.
pub(crate) const PROPS_MAX: usize = 4 << 20;

const DEPTH: HeaderName = HeaderName::from_static("depth");
const XML: HeaderValue = HeaderValue::from_static("application/xml; charset=utf-8");
const ACCEPTED: HeaderValue = HeaderValue::from_static("application/xml, text/xml");

/// Why a request failed.
#[derive(Debug)]
pub(crate) enum Fault {
    /// The server refuses the password.
    Refused,
    /// The server wants another kind of proof than a password that it can read.
    NoBasic,
    /// The address is at a host that may not receive the password.
    Elsewhere,
    /// The service must not send requests to the address, for this reason.
    NotAllowed(String),
    /// The host has no public address, with the message about it.
    NoAddress(String),
    /// The server answers with another status than 207.
    Status(u16),
    /// A redirect cannot be followed, for this reason.
    Redirect(String),
    /// The answer is longer than its limit, or the server has left out a part of it.
    TooLarge,
    /// The answer cannot be read.
    Malformed(XmlError),
    /// There is no complete answer.
    Unavailable(EgressError),
}

/// Why access ended, as the user sees it.
const WRONG_PASSWORD: &str = "the server refuses the password";
/// Why access ended at a server that changed its methods of authentication.
const ONLY_OTHER_METHODS: &str = "the server no longer accepts passwords by Basic authentication";
/// The reason if the server offers no Basic authentication.
const NO_BASIC: &str =
    "must be of a server that accepts passwords by Basic authentication; this one offers only other methods";

/// What to do if the host has no public address.
const NO_ADDRESS: &str =
    "check how it is spelled; the operator can allow a private one, as host:port, in KALENDS_EGRESS_ALLOW";

impl Fault {
    fn of(error: EgressError) -> Self {
        match error {
            EgressError::TooLarge { .. } => Self::TooLarge,
            EgressError::NotAllowed(NotAllowed::Url(refused)) => Self::NotAllowed(refused.message),
            // Both have the same text, so that nobody learns which names exist in a private network.
            EgressError::NotAllowed(NotAllowed::Address(_)) | EgressError::Resolve(_) => {
                Self::NoAddress(error.to_string())
            }
            error => Self::Unavailable(error),
        }
    }

    /// Whether the same server may answer differently at another address.
    pub(crate) const fn is_of_address(&self) -> bool {
        match self {
            Self::Status(_) | Self::Elsewhere | Self::Redirect(_) | Self::TooLarge | Self::Malformed(_) => true,
            Self::Refused | Self::NoBasic | Self::NotAllowed(_) | Self::NoAddress(_) | Self::Unavailable(_) => false,
        }
    }
}

impl From<Fault> for ProviderError {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Refused => Self::Lapsed(WRONG_PASSWORD.to_owned()),
            Fault::NoBasic => Self::Lapsed(ONLY_OTHER_METHODS.to_owned()),
            Fault::Elsewhere => Self::Unavailable("it leads to another domain".into()),
            Fault::NotAllowed(reason) | Fault::NoAddress(reason) | Fault::Redirect(reason) => {
                Self::Unavailable(reason.into())
            }
            Fault::Status(status) => unavailable(status, None),
            Fault::TooLarge => Self::Malformed("the answer is longer than its limit, or not complete".into()),
            Fault::Malformed(error) => Self::Malformed(Box::new(error)),
            Fault::Unavailable(error) => Self::Unavailable(Box::new(error)),
        }
    }
}

impl From<Fault> for DiscoveryError {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Refused => Self::Refused,
            Fault::NoBasic => Self::NotAllowed(NO_BASIC.to_owned()),
            Fault::Elsewhere => Self::Elsewhere,
            Fault::NotAllowed(reason) | Fault::Redirect(reason) => Self::NotAllowed(reason),
            Fault::NoAddress(reason) => Self::NotAllowed(format!("{reason}; {NO_ADDRESS}")),
            Fault::Status(429 | 500 | 502..=599) | Fault::TooLarge | Fault::Malformed(_) | Fault::Unavailable(_) => {
                Self::Provider(fault.into())
            }
            Fault::Status(_) => Self::NoServer,
        }
    }
}

/// A question about a resource and its members.
pub(crate) struct Question {
    pub(crate) method: &'static str,
    /// How many levels below the resource it concerns: 0 or 1.
    pub(crate) depth: u8,
    pub(crate) body: Bytes,
    /// The maximum length of the answer, in bytes.
    pub(crate) max: usize,
}

impl Question {
    /// Asks for properties (RFC 4918 section 9.1).
    pub(crate) const fn props(depth: u8, body: &'static str) -> Self {
        Self { method: "PROPFIND", depth, body: Bytes::from_static(body.as_bytes()), max: PROPS_MAX }
    }
}

/// An answer with the status 207.
pub(crate) struct Answer {
    /// The address that answered, after redirects. The addresses in the answer are relative to it.
    pub(crate) at: RemoteUrl,
    pub(crate) responses: Vec<Response>,
    /// The length in bytes.
    pub(crate) length: usize,
}

impl Answer {
    /// Whether the server has left out a part (RFC 4918 section 11.5, RFC 6578 section 3.6).
    pub(crate) fn is_cut(&self) -> bool {
        self.responses.iter().any(|response| response.status == Some(507))
    }
}

/// A server, with the password of one user.
pub(crate) struct Server<'a> {
    egress: &'a Egress,
    /// The address that the user entered.
    typed: RemoteUrl,
    authorization: HeaderValue,
}

impl<'a> Server<'a> {
    /// The server at the address that the user entered.
    pub(crate) fn new(egress: &'a Egress, url: &str, username: &str, password: &str) -> Result<Self, Fault> {
        let typed = RemoteUrl::parse("url", url, |host, port| egress.allowed().contains(host, port));
        let typed = typed.map_err(|refused| Fault::NotAllowed(refused.message))?;
        let authorization = authorization(username, password)?;
        Ok(Self { egress, typed, authorization })
    }

    /// The address that the user entered.
    pub(crate) const fn typed(&self) -> &RemoteUrl {
        &self.typed
    }

    /// Whether the password may be sent to the address.
    pub(crate) fn trusts(&self, url: &RemoteUrl) -> bool {
        entrusted(self.typed.as_url(), url.as_url(), self.egress.allowed())
    }

    /// The address that a link leads to. `link` is absolute or relative to `base`.
    pub(crate) fn join(&self, base: &RemoteUrl, link: &str) -> Result<RemoteUrl, FieldError> {
        base.join("href", link, |host, port| self.egress.allowed().contains(host, port))
    }

    /// Asks at an address, and follows redirects to other hosts that may receive the password.
    pub(crate) async fn ask(&self, url: &RemoteUrl, question: &Question) -> Result<Answer, Fault> {
        let mut at = url.clone();
        for _ in 0..=REDIRECTS_MAX {
            if !self.trusts(&at) {
                return Err(Fault::Elsewhere);
            }
            let reply = self.egress.send(self.exchange(at.clone(), question)).await.map_err(Fault::of)?;
            match reply.status.as_u16() {
                207 => {
                    let responses = xml::multistatus(&reply.body).map_err(Fault::Malformed)?;
                    return Ok(Answer { at, responses, length: reply.body.len() });
                }
                301 | 302 | 303 | 307 | 308 => at = self.target(&at, &reply.headers)?,
                401 => return Err(unauthorized(&reply.headers)),
                507 => return Err(Fault::TooLarge),
                status => return Err(Fault::Status(status)),
            }
        }
        Err(Fault::Redirect(format!("the server redirects more than {REDIRECTS_MAX} times")))
    }

    fn exchange(&self, url: RemoteUrl, question: &Question) -> Exchange {
        // The names of methods here are valid, so the default is never used.
        let method = Method::from_bytes(question.method.as_bytes()).unwrap_or(Method::OPTIONS);
        let mut exchange = Exchange::new(method, url, WITHIN, question.max);
        let depth = if question.depth == 0 { "0" } else { "1" };
        exchange.headers.insert(DEPTH, HeaderValue::from_static(depth));
        exchange.headers.insert(header::CONTENT_TYPE, XML);
        exchange.headers.insert(header::ACCEPT, ACCEPTED);
        exchange.headers.insert(header::AUTHORIZATION, self.authorization.clone());
        exchange.body = question.body.clone();
        exchange
    }

    fn target(&self, from: &RemoteUrl, headers: &HeaderMap) -> Result<RemoteUrl, Fault> {
        let location = headers.get(header::LOCATION).and_then(|location| location.to_str().ok());
        let location =
            location.ok_or_else(|| Fault::Redirect("the server redirects without saying where to".to_owned()))?;
        self.join(from, location)
            .map_err(|refused| Fault::Redirect(format!("the address that the server redirects to {}", refused.message)))
    }
}

/// The header with the user name and the password (RFC 7617 section 2).
fn authorization(username: &str, password: &str) -> Result<HeaderValue, Fault> {
    // No server accepts a name or a password that cannot be sent.
    if username.contains(':') || username.chars().chain(password.chars()).any(char::is_control) {
        return Err(Fault::Refused);
    }
    let encoded = BASE64_STANDARD.encode(format!("{username}:{password}"));
    let mut value = HeaderValue::from_str(&format!("Basic {encoded}")).map_err(|_| Fault::Refused)?;
    value.set_sensitive(true);
    Ok(value)
}

/// The fault of an answer with the status 401.
fn unauthorized(headers: &HeaderMap) -> Fault {
    let challenges: Vec<&str> =
        headers.get_all(header::WWW_AUTHENTICATE).iter().filter_map(|challenge| challenge.to_str().ok()).collect();
    // A header may have several challenges, and commas also separate the parameters of one.
    let is_basic = |challenge: &str| {
        let starts = challenge.split(',').map(str::trim_start);
        starts
            .filter_map(|part| part.split_ascii_whitespace().next())
            .any(|scheme| scheme.eq_ignore_ascii_case("basic"))
    };
    if challenges.is_empty() || challenges.into_iter().any(is_basic) { Fault::Refused } else { Fault::NoBasic }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn of_challenges(challenges: &[&'static str]) -> Fault {
        let mut headers = HeaderMap::new();
        for challenge in challenges {
            headers.append(header::WWW_AUTHENTICATE, HeaderValue::from_static(challenge));
        }
        unauthorized(&headers)
    }

    #[rstest]
    #[case::none(&[], true)]
    #[case::basic(&["Basic realm=\"x\""], true)]
    #[case::lower_case(&["basic"], true)]
    #[case::among_others(&["Digest realm=\"x\", nonce=\"y\"", "Basic realm=\"x\""], true)]
    #[case::in_one_header(&["Bearer realm=\"x\", Basic realm=\"y\""], true)]
    #[case::digest(&["Digest realm=\"x\", nonce=\"y\""], false)]
    #[case::bearer(&["Bearer"], false)]
    fn only_basic_takes_a_password(#[case] challenges: &[&'static str], #[case] basic: bool) {
        assert_eq!(matches!(of_challenges(challenges), Fault::Refused), basic);
    }

    #[test]
    fn a_host_without_an_address_may_be_misspelled() {
        let error = DiscoveryError::from(Fault::NoAddress("the host has no public address".to_owned()));
        assert!(error.to_string().contains("address; check how it is spelled"), "{error}");
        let later = ProviderError::from(Fault::NoAddress("the host has no public address".to_owned()));
        let ProviderError::Unavailable(cause) = later else { panic!("{later}") };
        assert_eq!(cause.to_string(), "the host has no public address");
    }

    #[test]
    fn passwords_are_sent_as_utf_8() {
        // `ada:gehêim: ü`
        assert_eq!(authorization("ada", "geh\u{ea}im: \u{fc}").unwrap(), "Basic YWRhOmdlaMOqaW06IMO8");
        assert!(!format!("{:?}", authorization("ada", "x")).contains("YWRh"));
    }

    #[rstest]
    #[case("a:b", "x")]
    #[case("a\n", "x")]
    #[case("a", "x\r\ny")]
    fn names_that_cannot_be_sent_are_refused(#[case] username: &str, #[case] password: &str) {
        assert!(matches!(authorization(username, password), Err(Fault::Refused)));
    }
}
