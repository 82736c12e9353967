//! The shared parts of the end-to-end tests: the real binary on either database, and a thin client that checks the
//! rules for every answer of the service.
//!
//! ```no_run
//! # async fn example() {
//! use kalends_e2e::{Database, Server};
//! use serde_json::json;
//!
//! let server = Server::start(Database::Sqlite).await;
//! let org = server.org("pro").await;
//! let api = server.api(&org);
//! let agent = api.post("/v1/agents").json(json!({ "name": "Ada", "type": "ai" })).await.expect(201);
//! api.get(format!("/v1/agents/{}", agent.id())).await.expect(200);
//! api.get("/v1/agents/agt_nobody").await.refused(404, "not_found").code("agent_not_found");
//! # }
//! ```
#![expect(clippy::expect_used, clippy::panic, reason = "a failure here must fail the test that called it")]

mod answer;
mod authorization;
mod browser;
mod caldav_server;
mod calendar_provider;
mod client;
mod collector;
mod database;
mod description;
mod feed_server;
mod guide;
mod kept;
mod mail;
mod provider;
mod receiver;
mod server;
mod time;
mod under_test;

pub use answer::Answer;
pub use authorization::{CLIENT_ID, CLIENT_SECRET};
pub use browser::{Browser, Key, Visitor};
pub use caldav_server::{CaldavRequest, CaldavServer, Playing};
pub use calendar_provider::{CalendarProvider, TheirCopy, TheirEvent, Transparency};
pub use client::{Call, Client, plain_http};
pub use collector::{Collected, Collector};
pub use database::Database;
pub use feed_server::{FeedRequest, FeedServer, Serving};
pub use guide::{Block, Guide, root};
pub use mail::Mail;
pub use provider::{Answering, SignInProvider};
pub use receiver::{Behaviour, Received, Receiver};
pub use server::{Org, Output, Server};
pub use time::{at, iso, shifted};
pub use under_test::binary;
