//! Passwords and the tokens of console sessions.
//!
//! [`Argon2Hasher`] hashes and verifies passwords, at most one per core at a time. [`JwtTokens`] signs a session's
//! claims and reads them back. Whether the claims are valid is decided elsewhere.

mod passwords;
mod threads;
mod tokens;

pub use passwords::Argon2Hasher;
pub use tokens::{JwtTokens, SESSION_KEY_MIN};
