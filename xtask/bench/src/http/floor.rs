//! The minimum cost of a service on the same libraries: a constant, one SELECT, one INSERT.
//!
//! It runs in its own process, as the service does, with the same runtime, server and pool.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use anyhow::{Context as _, Result};
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::HeaderName;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde_json::{Value, json};
use sqlx::postgres::PgPoolOptions;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{PgPool, SqlitePool};
use tokio::net::TcpListener;

use crate::serving;

/// The number of rows to look up.
pub(crate) const ROWS: i64 = 1000;
/// The length of the long constant in bytes: that of half-hour slots over 30 days.
const LONG: usize = 68_735;
/// The page cache of each reading SQLite connection, in KiB (negative, as the pragma requires).
const READER_CACHE: &str = "-2048";

/// The options of the floor.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// A Postgres database. Without it, SQLite is used.
    #[arg(long)]
    postgres: Option<String>,
    /// The file of the SQLite database.
    #[arg(long, default_value = "floor.db")]
    sqlite: PathBuf,
    /// The number of connections that look up rows.
    #[arg(long)]
    pool: u32,
    /// The approximate length of a row's JSON, in bytes.
    #[arg(long)]
    row_bytes: usize,
    /// The length of the long constant, in bytes.
    #[arg(long, default_value_t = LONG)]
    long_bytes: usize,
}

/// One row: identifiers, two timestamps and texts, like an event.
type Row = (i64, String, String, i64, i64, String);

/// The length of a row's JSON without the filling.
const FRAME: usize = 190;

#[derive(Clone)]
enum Store {
    Sqlite { readers: SqlitePool, writer: SqlitePool },
    Postgres(PgPool),
}

#[derive(Clone)]
struct Floor {
    store: Store,
    next: Arc<AtomicI64>,
    filling: Arc<str>,
    long: Bytes,
}

/// A failure of the database.
struct Failed(sqlx::Error);

impl From<sqlx::Error> for Failed {
    fn from(error: sqlx::Error) -> Self {
        Self(error)
    }
}

impl IntoResponse for Failed {
    fn into_response(self) -> Response {
        (axum::http::StatusCode::INTERNAL_SERVER_ERROR, self.0.to_string()).into_response()
    }
}

/// Serves until standard input ends, which it does when the measuring program ends.
pub(crate) async fn serve(options: &Options) -> Result<()> {
    let store = Store::open(options).await.context("cannot open the floor's database")?;
    let filling: Arc<str> = "x".repeat(options.row_bytes.saturating_sub(FRAME)).into();
    let constant = vec![b'1'; options.long_bytes].into();
    let floor = Floor { store, next: Arc::new(AtomicI64::new(ROWS)), filling, long: constant };
    for id in 0..ROWS {
        floor.insert(id).await?;
    }
    let routes = Router::new()
        .route("/constant", get(async || Json(json!({ "status": "ok" }))))
        .route("/long", get(long))
        .route("/rows/{id}", get(select))
        .route("/rows", post(insert))
        .with_state(floor);
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("floor listening on http://{}", listener.local_addr()?);
    serving::until_input_ends(listener, routes).await
}

/// The cost of the bytes alone.
async fn long(State(floor): State<Floor>) -> ([(HeaderName, &'static str); 1], Bytes) {
    ([(CONTENT_TYPE, "application/json")], floor.long)
}

async fn select(State(floor): State<Floor>, Path(id): Path<i64>) -> Result<Json<Value>, Failed> {
    const SQLITE: &str = "SELECT id, calendar, title, start_at, end_at, description FROM floor_rows WHERE id = ?1";
    const POSTGRES: &str = "SELECT id, calendar, title, start_at, end_at, description FROM floor_rows WHERE id = $1";
    let row: Row = match &floor.store {
        Store::Sqlite { readers, .. } => sqlx::query_as(SQLITE).bind(id).fetch_one(readers).await?,
        Store::Postgres(pool) => sqlx::query_as(POSTGRES).bind(id).fetch_one(pool).await?,
    };
    let (id, calendar, title, start_at, end_at, description) = row;
    Ok(Json(json!({
        "id": id, "calendar": calendar, "title": title, "start_at": start_at, "end_at": end_at,
        "description": description,
    })))
}

async fn insert(State(floor): State<Floor>) -> Result<Json<Value>, Failed> {
    let id = floor.next.fetch_add(1, Ordering::Relaxed);
    floor.insert(id).await?;
    Ok(Json(json!({ "id": id })))
}

impl Floor {
    async fn insert(&self, id: i64) -> Result<(), sqlx::Error> {
        const SQLITE: &str = "INSERT INTO floor_rows (id, calendar, title, start_at, end_at, description)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
        const POSTGRES: &str = "INSERT INTO floor_rows (id, calendar, title, start_at, end_at, description)
            VALUES ($1, $2, $3, $4, $5, $6)";
        const START: i64 = 1_772_438_400_000_000;
        const HALF_AN_HOUR: i64 = 1_800_000_000;
        let calendar = "cal_01jn8r7d2xe9tvn4a6k8m0pqrs";
        let title = "Weekly planning";
        let (start, end) = (START + id * HALF_AN_HOUR, START + (id + 1) * HALF_AN_HOUR);
        match &self.store {
            Store::Sqlite { writer, .. } => {
                let query = sqlx::query(SQLITE).bind(id).bind(calendar).bind(title).bind(start).bind(end);
                query.bind(&*self.filling).execute(writer).await?;
            }
            Store::Postgres(pool) => {
                let query = sqlx::query(POSTGRES).bind(id).bind(calendar).bind(title).bind(start).bind(end);
                query.bind(&*self.filling).execute(pool).await?;
            }
        }
        Ok(())
    }
}

impl Store {
    async fn open(options: &Options) -> Result<Self, sqlx::Error> {
        const SQLITE: &str = "CREATE TABLE floor_rows (id INTEGER PRIMARY KEY, calendar TEXT NOT NULL,
            title TEXT NOT NULL, start_at INTEGER NOT NULL, end_at INTEGER NOT NULL, description TEXT NOT NULL)";
        const POSTGRES: &str = "CREATE TABLE floor_rows (id BIGINT PRIMARY KEY, calendar TEXT NOT NULL,
            title TEXT NOT NULL, start_at BIGINT NOT NULL, end_at BIGINT NOT NULL, description TEXT NOT NULL)";
        if let Some(url) = &options.postgres {
            let pool = PgPoolOptions::new().max_connections(options.pool).test_before_acquire(false);
            let pool = pool.connect(url).await?;
            sqlx::query(POSTGRES).execute(&pool).await?;
            return Ok(Self::Postgres(pool));
        }
        let file = SqliteConnectOptions::new().filename(&options.sqlite).create_if_missing(true);
        let writing = file.clone().journal_mode(SqliteJournalMode::Wal).synchronous(SqliteSynchronous::Full);
        let writer = SqlitePoolOptions::new().max_connections(1).test_before_acquire(false);
        let writer = writer.connect_with(writing).await?;
        sqlx::query(SQLITE).execute(&writer).await?;
        let reading = file.read_only(true).create_if_missing(false).pragma("cache_size", READER_CACHE);
        let readers = SqlitePoolOptions::new().max_connections(options.pool).test_before_acquire(false);
        let readers = readers.idle_timeout(None).max_lifetime(None).connect_with(reading).await?;
        Ok(Self::Sqlite { readers, writer })
    }
}
