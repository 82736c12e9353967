//! The one HTTP client for addresses that others name: webhook endpoints, feeds, providers (ruling 7.5).
//!
//! [`Egress::send`] takes an [`Exchange`] and answers with a [`Reply`] or says why not ([`EgressError`]). Whatever a
//! URL, a name's owner or a server does, it reaches the public internet alone, or what the operator allows
//! ([`Allowed`], `KALENDS_EGRESS_ALLOW`); it ends at its deadline; and it keeps no more bytes than it was told to.
//! `docs/egress.md` says what is refused and why. How that is kept:
//!
//! - Every URL is checked when it is used, and again at every redirect, by
//!   [`RemoteUrl`](kalends_kernel::RemoteUrl): scheme, credentials, literal addresses, local names.
//! - A name is resolved once for a connection, by a [`Resolver`]; exactly the addresses that were checked are
//!   dialled, and one bad address spoils the answer (`guard`). There is no second look-up that could tell otherwise.
//! - The client knows no proxy, no cookies and no redirects of its own; what redirects may do is decided in `redirect`.
//! - What the operator allows goes through a client of its own, since a resolver is not told the port.

mod allowed;
mod clients;
mod egress;
mod error;
mod exchange;
mod guard;
mod lanes;
mod redirect;
mod resolver;
#[cfg(test)]
mod tests;

pub use allowed::Allowed;
pub use egress::{Egress, Settings};
pub use error::{EgressError, NotAllowed, RedirectFault, StartError, TlsFault};
pub use exchange::{Exchange, PastCap, Reply};
pub use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
pub use resolver::{Resolver, SystemResolver};
