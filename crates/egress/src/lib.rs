//! The HTTP client for addresses that come from outside: webhook endpoints, feeds, providers.
//!
//! [`Egress::send`] takes an [`Exchange`] and returns a [`Reply`] or an [`EgressError`]. Whatever a URL, the owner of
//! a name or a server does, the client reaches only the public internet and what the operator allows ([`Allowed`],
//! `KALENDS_EGRESS_ALLOW`). It stops at its deadline, and it keeps no more bytes than the exchange allows.
//! `docs/run/egress.md` lists what is refused and why. The client works like this:
//!
//! - Every URL is checked when it is used, and again at every redirect, by
//!   [`RemoteUrl`](kalends_remote::RemoteUrl): scheme, credentials, literal addresses, local names.
//! - A [`Resolver`] resolves a name once for each connection. The client connects only to addresses that were checked.
//!   If one address of a name is refused, all of them are (`guard`). There is no second look-up that could return
//!   something else.
//! - The client has no proxy, no cookies and no redirects of its own. `redirect` decides what a redirect may do.
//! - Destinations that the operator allows have a client of their own, because a resolver does not see the port.

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
