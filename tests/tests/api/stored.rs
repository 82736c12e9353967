//! The contents of the service's database, read and changed without the service.

use std::collections::{BTreeMap, BTreeSet};

use kalends_e2e::Server;
use sqlx::{AssertSqlSafe, Connection as _, PgConnection, SqliteConnection};

/// The rows of every table, each as lower-case text. Identifiers are hexadecimal digits without dashes.
pub(crate) type Tables = BTreeMap<String, Vec<String>>;

async fn sqlite(server: &Server) -> SqliteConnection {
    let file = format!("sqlite://{}?mode=rw", server.data_dir().join("kalends.db").display());
    SqliteConnection::connect(&file).await.unwrap()
}

/// Runs a statement and returns the number of rows that it wrote.
pub(crate) async fn execute(server: &Server, statement: &str) -> u64 {
    let statement = AssertSqlSafe(statement.to_owned());
    match server.postgres_url() {
        Some(url) => {
            let mut connection = PgConnection::connect(&url).await.unwrap();
            sqlx::query(statement).execute(&mut connection).await.unwrap().rows_affected()
        }
        None => sqlx::query(statement).execute(&mut sqlite(server).await).await.unwrap().rows_affected(),
    }
}

/// The one 64-bit number that a query returns.
pub(crate) async fn number(server: &Server, query: &str) -> i64 {
    let query = AssertSqlSafe(query.to_owned());
    match server.postgres_url() {
        Some(url) => {
            let mut connection = PgConnection::connect(&url).await.unwrap();
            sqlx::query_scalar(query).fetch_one(&mut connection).await.unwrap()
        }
        None => sqlx::query_scalar(query).fetch_one(&mut sqlite(server).await).await.unwrap(),
    }
}

/// Everything in the database.
pub(crate) async fn tables(server: &Server) -> Tables {
    let found = match server.postgres_url() {
        Some(url) => postgres_tables(&url).await,
        None => sqlite_tables(&mut sqlite(server).await).await,
    };
    assert!(found.contains_key("organizations"), "{:?}", found.keys());
    let plain = |row: String| row.to_lowercase().replace('-', "");
    found.into_iter().map(|(table, rows)| (table, rows.into_iter().map(plain).collect())).collect()
}

async fn postgres_tables(url: &str) -> Tables {
    let mut connection = PgConnection::connect(url).await.unwrap();
    let names: Vec<String> = sqlx::query_scalar("select tablename::text from pg_tables where schemaname = 'public'")
        .fetch_all(&mut connection)
        .await
        .unwrap();
    let mut tables = Tables::new();
    for name in names {
        let rows = AssertSqlSafe(format!(r#"select t::text from "{name}" t"#));
        let rows = sqlx::query_scalar(rows).fetch_all(&mut connection).await.unwrap();
        tables.insert(name, rows);
    }
    tables
}

async fn sqlite_tables(connection: &mut SqliteConnection) -> Tables {
    let names = "select name from sqlite_schema where type = 'table' and name not like 'sqlite~_%' escape '~'";
    let names: Vec<String> = sqlx::query_scalar(names).fetch_all(&mut *connection).await.unwrap();
    let mut tables = Tables::new();
    for name in names {
        let columns = AssertSqlSafe(format!("select name from pragma_table_info('{name}')"));
        let columns: Vec<String> = sqlx::query_scalar(columns).fetch_all(&mut *connection).await.unwrap();
        let row = columns.iter().map(|column| format!(r#"quote("{column}")"#)).collect::<Vec<_>>().join(" || ' ' || ");
        let rows = AssertSqlSafe(format!(r#"select {row} from "{name}""#));
        let rows = sqlx::query_scalar(rows).fetch_all(&mut *connection).await.unwrap();
        tables.insert(name, rows);
    }
    tables
}

/// The tables with a row that contains this identifier, in either notation.
pub(crate) fn naming<'a>(tables: &'a Tables, id: &str) -> BTreeSet<&'a str> {
    let digits = digits(id);
    let names = |rows: &[String]| rows.iter().any(|row| row.contains(id) || row.contains(&digits));
    tables.iter().filter(|(_, rows)| names(rows)).map(|(table, _)| table.as_str()).collect()
}

/// The 32 hexadecimal digits that an identifier is stored as.
fn digits(id: &str) -> String {
    let (_, encoded) = id.rsplit_once('_').unwrap_or_else(|| panic!("not an identifier: {id}"));
    let value = encoded.bytes().fold(0_u128, |value, letter| {
        let digit = b"0123456789abcdefghjkmnpqrstvwxyz".iter().position(|known| *known == letter);
        (value << 5) | u128::try_from(digit.unwrap_or_else(|| panic!("not an identifier: {id}"))).unwrap()
    });
    format!("{value:032x}")
}

/// Removes the rate limit of the organization with this address. The other limits of its plan stay. Call this before a
/// key is used, because the service caches keys for a while.
pub(crate) async fn hurry(server: &Server, address: &str) {
    let statement = format!(
        r#"update organizations set limit_overrides = '{{"rate_per_second":1000000}}' where email = '{address}'"#
    );
    assert_eq!(execute(server, &statement).await, 1);
}
