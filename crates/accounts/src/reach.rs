//! The access table: which callers may do what.
//!
//! [`TABLE`] is the only place with these rules. An operation declares what it touches ([`Touch`]) and nothing else.
//! [`enter`] decides whether the caller's kind may enter at all, before anything is read. It returns a [`Passage`],
//! whose [`Passage::covers`] decides about a resource once it is read. The documentation prints the table with
//! [`credentials_markdown`] and [`roles_markdown`], and tests check each cell.

mod kinds;
mod markdown;
mod passage;
mod table;
#[cfg(test)]
mod tests;

pub use self::{
    kinds::{Allowed, CallerKind, Touch},
    markdown::{credentials_markdown, roles_markdown},
    passage::{Caller, Denied, Passage, ScopedAgent, Standing, Subject, enter},
    table::{TABLE, allowed},
};
