//! A client of the Kalends REST API.
//!
//! Every operation that is callable with an API key or anonymously is a method of [`Client`], named after its
//! `operationId`. It takes and returns the types of [`wire`], which the service itself uses. It returns a [`Call`],
//! which is sent when it is awaited.
//!
//! ```no_run
//! use kalends_client::{
//!     Client,
//!     wire::{AgentType, ChangeEvent, CreateAgent, CreateCalendar, CreateEvent, ShowEvents, UpdateEvent},
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
//! // Clear the description, unless the event was changed since.
//! if let Some(etag) = &made.etag {
//!     let cleared = UpdateEvent { description: Some(None), ..UpdateEvent::default() };
//!     match client.update_event(&made.value.id, &ChangeEvent::default(), &cleared).if_match(etag).await {
//!         Ok(event) => println!("{}", event.title),
//!         Err(error) if error.code() == Some("stale") => println!("the event was changed in the meantime"),
//!         Err(error) => return Err(error),
//!     }
//! }
//! # Ok(())
//! # }
//! ```
//!
//! Requests are retried within limits ([`Retry`]) if they were lost or sent too fast, or if the service could not
//! answer at that moment. Each write carries an idempotency key that its retries share, so it is performed only once.

mod call;
mod client;
mod error;
mod operations;
mod path;
mod reply;
mod retry;
#[cfg(test)]
mod tests;

pub use call::Call;
pub use client::{ANSWER_MAX, Builder, Client};
pub use error::Error;
pub use operations::{OPERATIONS, Operation};
pub use reply::{RateLimit, Reply};
pub use retry::{Outcome, Retry};

/// The identifiers in [`wire`].
pub use kalends_kernel as kernel;
/// The timestamps and zones in [`wire`].
pub use kalends_time as time;
/// The types of requests and answers.
pub use kalends_wire as wire;
