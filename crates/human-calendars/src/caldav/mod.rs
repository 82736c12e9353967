//! CalDAV (RFC 4791): finds the calendars of an account, and reads their busy times.
//!
//! Everything that a server sends is read by pure functions (`xml`, `resource`), and `hosts` decides which hosts may
//! receive the password. Titles, places and guests may arrive, because many servers send whole events. Only the
//! properties that determine the time of an event are read, and only starts and ends leave this module.

mod busy;
mod dav;
mod discovery;
mod hosts;
mod quirks;
mod resource;
mod xml;

pub(crate) use busy::busy;
pub(crate) use discovery::{calendars, discover};
