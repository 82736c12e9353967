//! The attacks and their common parts.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use anyhow::{Context as _, Result};
use serde_json::json;
use tokio::net::{TcpSocket, TcpStream};

use super::{Size, feeds, messages, sessions, unread, uploads};
use crate::connection::{Connection, post};
use crate::database::Place;
use crate::json;
use crate::service::{Process, Program};

/// The address that the attacks come from.
const ADDRESS: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 3));
/// The receive buffer of a client that does not read, in bytes.
const RECEIVED: u32 = 4 << 10;
/// Limits without a rate. Only a few attacks are about how fast a key may call.
const UNPACED: &str = r#"{"rate_per_second":1000000}"#;

/// An attack of one caller on the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Attack {
    Tree,
    Trees,
    Messages,
    Pipelines,
    Silence,
    Lists,
    Window,
    Versions,
    Feeds,
    Uploads,
    Bodies,
    Session,
    Passwords,
}

/// The result of an attack.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// A summary of the requests and answers.
    pub(crate) summary: String,
    /// Violations, in addition to those that are judged for every attack.
    pub(crate) broken: Vec<String>,
}

impl Outcome {
    pub(crate) fn of(summary: String) -> Self {
        Self { summary, broken: Vec::new() }
    }

    /// Adds a violation unless it `holds`.
    pub(crate) fn unless(mut self, holds: bool, what: impl FnOnce() -> String) -> Self {
        if !holds {
            self.broken.push(what());
        }
        self
    }
}

/// The environment of an attack.
pub(crate) struct Scene<'a> {
    pub(crate) size: Size,
    pub(crate) place: &'a Place,
    pub(crate) program: &'a Program,
    pub(crate) server: &'a Process,
    /// The address of the third-party feed.
    pub(crate) feed: SocketAddr,
    /// The attacker's key and calendar.
    pub(crate) key: String,
    pub(crate) calendar: String,
    /// The request that the attack prepared before the measurement.
    pub(crate) prepared: Vec<u8>,
}

impl Attack {
    pub(crate) const ALL: [Self; 13] = [
        Self::Tree,
        Self::Trees,
        Self::Messages,
        Self::Pipelines,
        Self::Silence,
        Self::Lists,
        Self::Window,
        Self::Versions,
        Self::Feeds,
        Self::Uploads,
        Self::Bodies,
        Self::Session,
        Self::Passwords,
    ];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Tree => "a large tree to /mcp",
            Self::Trees => "large trees to /mcp at once",
            Self::Messages => "many messages to /mcp",
            Self::Pipelines => "requests without readers",
            Self::Silence => "silent connections",
            Self::Lists => "lists without readers",
            Self::Window => "HTTP/2 without a window",
            Self::Versions => "versions of a feed without readers",
            Self::Feeds => "feeds, imported repeatedly",
            Self::Uploads => "uploads that drip",
            Self::Bodies => "bodies that stop short",
            Self::Session => "a busy console session",
            Self::Passwords => "passwords of one account",
        }
    }

    /// Whether the attacker has the rates of the free plan, not only its size limits. This matters for attacks that
    /// call often.
    const fn is_paced(self) -> bool {
        matches!(self, Self::Tree | Self::Trees | Self::Messages | Self::Feeds)
    }

    pub(crate) async fn run(self, scene: &mut Scene<'_>) -> Result<Outcome> {
        match self {
            Self::Tree => messages::trees(scene, 1).await,
            Self::Trees => messages::trees(scene, scene.size.trees).await,
            Self::Messages => messages::many(scene).await,
            Self::Pipelines => unread::pipelines(scene).await,
            Self::Silence => unread::silence(scene).await,
            Self::Lists => unread::lists(scene).await,
            Self::Window => unread::window(scene).await,
            Self::Versions => unread::versions(scene).await,
            Self::Feeds => feeds::again_and_again(scene).await,
            Self::Uploads => uploads::drip(scene).await,
            Self::Bodies => uploads::stop_short(scene).await,
            Self::Session => sessions::changes(scene).await,
            Self::Passwords => sessions::passwords(scene).await,
        }
    }
}

impl<'a> Scene<'a> {
    /// Creates the attacker and the data that the attack needs.
    pub(crate) async fn set(
        size: Size,
        place: &'a Place,
        program: &'a Program,
        server: &'a Process,
        feed: SocketAddr,
        attack: Attack,
    ) -> Result<Self> {
        let key = if attack.is_paced() {
            program.create_free_organization("Attacker").await?
        } else {
            program.create_organization_with("Attacker", UNPACED).await?
        };
        let mut connection = Connection::open_from(ADDRESS, server.address).await?;
        let body = json!({ "name": "Work", "timezone": "UTC" }).to_string();
        let calendar = connection.ask(&post("/v1/calendars", Some(&key), None, &body)).await?.json(201)?;
        let calendar = json::text(&calendar, "id")?.to_owned();
        let mut scene = Self { size, place, program, server, feed, key, calendar, prepared: Vec::new() };
        match attack {
            Attack::Tree | Attack::Trees => scene.prepared = messages::tree(&scene),
            Attack::Lists | Attack::Window | Attack::Versions => unread::fill(&scene, &mut connection).await?,
            _ => {}
        }
        Ok(scene)
    }

    /// A connection that receives as little of an answer as possible.
    pub(crate) async fn stream(&self) -> Result<TcpStream> {
        let socket = TcpSocket::new_v4()?;
        socket.set_recv_buffer_size(RECEIVED)?;
        socket.bind(SocketAddr::new(ADDRESS, 0))?;
        let stream = socket.connect(self.server.address).await.context("the attacker cannot connect")?;
        stream.set_nodelay(true)?;
        Ok(stream)
    }

    /// A connection whose answers are read.
    pub(crate) async fn connection(&self) -> Result<Connection> {
        Connection::open_from(ADDRESS, self.server.address).await
    }
}
