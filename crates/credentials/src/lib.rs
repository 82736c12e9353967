//! Passwords and the tokens of console sessions (rulings 3.1 and 3.10).
//!
//! [`Argon2Hasher`] hashes and checks passwords, one for each core at a time; [`JwtTokens`] signs what a session's token
//! claims and reads it back. What a claim is worth is decided elsewhere.

mod passwords;
mod threads;
mod tokens;

pub use passwords::Argon2Hasher;
pub use tokens::{JwtTokens, SESSION_KEY_MIN};
