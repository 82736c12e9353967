//! Addresses of third parties: the URLs that callers supply for feeds, webhooks and providers ([`RemoteUrl`]), and which
//! IP addresses are public ([`not_public`]).
//!
//! Nothing here does I/O. The adapter `egress` checks every address again when it connects.

mod address;
mod remote_url;

pub use address::{NotPublic, not_public};
pub use remote_url::RemoteUrl;
