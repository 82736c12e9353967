//! A deleted account leaves nothing in any table of the schema, not even in tables that are added later: the test
//! lists the tables from the database, and gives each a row of two organizations.

use std::collections::BTreeMap;

use kalends_accounts::{Change, ports::Deletions as _};
use kalends_app::{ChangeSet, ports::Commit as _};
use kalends_kernel::OrgId;
use kalends_testkit::fixtures::Compose as _;
use sqlx::{AssertSqlSafe, ConnectOptions as _, PgConnection, Row as _};

use crate::server::Bench;

/// Tables without rows of an organization.
const OF_NOBODY: &[&str] = &[
    "_sqlx_migrations",
    "bridge_claims",
    "connector_clients",
    "data_keys",
    "database_identity",
    "ical_claims",
    "oauth_attempts",
    "user_tokens",
    "backups",
    "principals_epoch",
    "recovery_codes",
    "second_factors",
    "timer_seeding",
    "user_identities",
    "users",
];

#[derive(Debug)]
struct Column {
    name: String,
    kind: String,
}

/// The tables of the schema with their columns.
async fn tables(connection: &mut PgConnection) -> BTreeMap<String, Vec<Column>> {
    let rows = sqlx::query(
        "select table_name::text as \"table\", column_name::text as name, data_type::text as kind
         from information_schema.columns join information_schema.tables using (table_schema, table_name)
         where table_schema = current_schema() and table_type = 'BASE TABLE' order by table_name, ordinal_position",
    )
    .fetch_all(connection)
    .await
    .unwrap();
    let mut tables = BTreeMap::<String, Vec<Column>>::new();
    for row in rows {
        let column = Column { name: row.get("name"), kind: row.get("kind") };
        tables.entry(row.get("table")).or_default().push(column);
    }
    tables
}

/// 16 bytes that no other row or column has.
fn made_up(salt: u8, index: usize) -> Vec<u8> {
    [[salt; 15].as_slice(), &[u8::try_from(index).unwrap()]].concat()
}

/// A statement that inserts a row of the organization. The other values are made up; numbers rise from column to
/// column, so that what ends does so after it begins.
fn insertion(table: &str, columns: &[Column], org: OrgId, salt: u8) -> String {
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let values = columns.iter().enumerate().map(|(index, column)| match column.kind.as_str() {
        _ if column.name == "org_id" => format!("'{}'", org.uuid()),
        "uuid" => format!("'{}'", hex(&made_up(salt, index))),
        "bytea" => format!("'\\x{}'", hex(&made_up(salt, index))),
        "text" => format!("'{salt}-{index}'"),
        "bigint" | "integer" | "smallint" => format!("{}", 1_000 * usize::from(salt) + index),
        "boolean" => "false".to_owned(),
        other => panic!("{table}.{} is of the unknown type {other}", column.name),
    });
    let names: Vec<_> = columns.iter().map(|column| column.name.as_str()).collect();
    format!("insert into {table} ({}) values ({})", names.join(", "), values.collect::<Vec<_>>().join(", "))
}

#[tokio::test]
async fn a_deleted_account_leaves_nothing_in_any_table() {
    let Bench { store, make, scratch, .. } = Bench::set().await;
    let (ours, theirs) = (make.organization(), make.organization());
    for organization in [&ours, &theirs] {
        store.commit(ChangeSet::new(organization.id).create(organization)).await.unwrap();
    }
    let mut plain = scratch.options.connect().await.unwrap();
    let tables = tables(&mut plain).await;
    let owned = |columns: &[Column]| columns.iter().any(|column| column.name == "org_id");
    for (table, columns) in &tables {
        assert!(
            owned(columns) || table == "organizations" || OF_NOBODY.contains(&table.as_str()),
            "{table}: add an org_id if its rows belong to an organization, otherwise add it to this test's list"
        );
        if owned(columns) && table != "account_deletions" {
            for (organization, salt) in [(&ours, 1), (&theirs, 2)] {
                let insertion = insertion(table, columns, organization.id, salt);
                sqlx::query(AssertSqlSafe(insertion)).execute(&mut plain).await.unwrap();
            }
        }
    }

    let (org, seen, at) = (ours.id, ours.version, make.tick());
    let deletion = ChangeSet::new(org).account(Change::DeleteOrganization { org, seen, at });
    store.commit(deletion).await.unwrap();
    while store.remove_rows(org, 3).await.unwrap() > 0 {}
    store.end_deletion(org).await.unwrap();

    for (table, columns) in &tables {
        let count = async |connection: &mut PgConnection, org: OrgId| -> i64 {
            let count = format!("select count(*) from {table} where org_id = $1");
            sqlx::query_scalar(AssertSqlSafe(count)).bind(org.uuid()).fetch_one(connection).await.unwrap()
        };
        if owned(columns) {
            assert_eq!(count(&mut plain, ours.id).await, 0, "{table}: see PostgresStore::remove_rows");
            assert_eq!(count(&mut plain, theirs.id).await, i64::from(table != "account_deletions"), "{table}");
        }
    }
    let kept: i64 = sqlx::query_scalar("select count(*) from terms_acceptances where org_id is null")
        .fetch_one(&mut plain)
        .await
        .unwrap();
    assert_eq!(kept, 1, "the acceptance stays, without its organization");
}
