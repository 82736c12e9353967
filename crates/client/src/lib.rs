//! Calls the REST API of Kalends from Rust.
//!
//! Every operation that an API key or nobody may call is a method of [`Client`], named by its `operationId`. It takes and
//! gives the types of [`wire`], which are the service's own, and returns a [`Call`], which is sent when it is awaited.
//!
//! ```no_run
//! use kalends_client::{
//!     Client,
//!     wire::{AgentType, CreateAgent, CreateCalendar, CreateEvent, ShowEvents, UpdateEvent},
//! };
//!
//! # async fn example() -> Result<(), kalends_client::Error> {
//! let client = Client::new("https://calendar.example.com", "svc_sk_…")?;
//! let ada = CreateAgent { name: "Ada".to_owned(), r#type: AgentType::Ai, description: None, metadata: None };
//! let ada = client.create_agent(&ada).await?;
//! let work =
//!     CreateCalendar { name: "Work".to_owned(), timezone: "Europe/Berlin".to_owned(), ..CreateCalendar::default() };
//! let work = client.create_agent_calendar(ada.id, &work).await?;
//! let standup = CreateEvent {
//!     title: "Standup".to_owned(),
//!     start_time: "2026-03-02T09:00:00+01:00".to_owned(),
//!     end_time: "2026-03-02T09:15:00+01:00".to_owned(),
//!     ..CreateEvent::default()
//! };
//! let made = client.create_event(work.id, &ShowEvents::default(), &standup).send().await?;
//!
//! // The description is cleared if nobody has changed the event since.
//! if let Some(etag) = &made.etag {
//!     let cleared = UpdateEvent { description: Some(None), ..UpdateEvent::default() };
//!     match client.update_event(&made.value.id, &ShowEvents::default(), &cleared).if_match(etag).await {
//!         Ok(event) => println!("{}", event.title),
//!         Err(error) if error.code() == Some("stale") => println!("somebody was faster"),
//!         Err(error) => return Err(error),
//!     }
//! }
//! # Ok(())
//! # }
//! ```
//!
//! Requests that got lost, that came too fast, or that the service could not answer just now are repeated within bounds
//! ([`Retry`]). Each write carries an idempotency key that its repetitions share, so that it is done once.

mod call;
mod client;
mod error;
mod operations;
mod path;
mod reply;
mod retry;
#[cfg(test)]
mod tests;

pub use call::{ANSWER_MAX, Call};
pub use client::{Builder, Client};
pub use error::Error;
pub use operations::{OPERATIONS, Operation};
pub use reply::{RateLimit, Reply};
pub use retry::{Outcome, Retry};

/// The words that the types of [`wire`] are made of: identifiers and instants.
pub use kalends_kernel as kernel;
/// What is sent and what is answered.
pub use kalends_wire as wire;
