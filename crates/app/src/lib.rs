//! What Kalends offers: every use case is authorize, read, decide, commit.
//!
//! Nothing here knows of HTTP or SQL. Stores, mail, time and randomness come through ports. The use
//! cases are methods of [`App`]; each stands in the module named after what it concerns.

mod accounts;
mod actor;
mod agents;
mod allowances;
mod app;
mod audit;
mod availability;
mod busy_cache;
mod calendars;
mod change_set;
mod changes;
mod claims;
mod commit_queue;
mod console;
mod events;
mod explain;
mod export;
mod failures;
mod feedback;
mod holds;
mod human;
mod idempotency;
mod keys;
mod letters;
mod local;
mod metering;
pub mod operations;
pub mod operators;
mod pace;
pub mod ports;
mod principals;
mod rate_limiter;
mod refusal;
mod rules;
mod series;
mod series_cache;
mod sessions;
mod sign_up;
mod terms;
mod waitlist;

pub use actor::{Actor, Idempotency, IfMatch, Request, etag};
pub use app::{App, Parts, Settings};
pub use change_set::{Answer, ChangeSet, Charge, Guard, StoredAnswer};
pub use commit_queue::{ApplyBatch, BATCH_MAX, CommitQueue};
pub use console::{Entrant, SessionBegun};
pub use events::EventPath;
pub use export::{Export, ExportBroken};
pub use human::NoHumanCalendars;
pub use idempotency::{Repeater, RunningGuard};
pub use local::LocalZones;
pub use metering::Counted;
pub use rate_limiter::MemoryRateLimiter;
pub use refusal::{Missing, Obstacles, Refusal};
pub use waitlist::{Activation, activate};
