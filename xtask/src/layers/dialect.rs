//! The SQL of the Postgres store is limited to what Citus, YugabyteDB and CockroachDB also support.
//!
//! It must not use exclusion constraints, LISTEN and NOTIFY, session state or sequences: these are either missing
//! there or do not work across nodes.

use super::Violation;
use super::model::{File, Model};
use super::rust::facts;
use super::statement::is_statement;

pub(super) fn check(model: &Model) -> Vec<Violation> {
    model.files.iter().filter(|file| !file.is_test()).flat_map(check_file).collect()
}

fn check_file(file: &File) -> Vec<Violation> {
    let texts = if file.source_of() == Some("postgres") {
        facts(&file.text).strings.into_iter().filter(|(_, text)| is_sql(text)).collect()
    } else if is_sql_file(&file.path) {
        vec![(1, file.text.clone())]
    } else {
        Vec::new()
    };
    let problems =
        texts.iter().flat_map(|(line, text)| problems(text).into_iter().map(move |p| (line + p.line, p.what)));
    problems.map(|(line, what)| Violation::new(format!("{}:{line}", file.path), what)).collect()
}

fn is_sql_file(path: &str) -> bool {
    path.ends_with(".sql") && (path.starts_with("migrations/postgres/") || path.starts_with("crates/postgres/"))
}

/// Whether a string in Rust code is SQL: a statement over rows, or one that only changes a session.
fn is_sql(text: &str) -> bool {
    let words: Vec<String> = text.split_whitespace().map(str::to_ascii_lowercase).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    is_statement(text)
        || match words.as_slice() {
            ["create" | "alter" | "drop", ..]
            | ["discard", _]
            | ["reset", _]
            | ["listen" | "unlisten" | "notify", _] => true,
            ["notify", channel, ..] => channel.ends_with(','),
            ["set", "session" | "local" | "transaction", ..] | ["set", _, "=" | "to", ..] => true,
            _ => false,
        }
}

/// A forbidden construct, and its line relative to the first line of the text.
#[derive(Debug, PartialEq, Eq)]
struct Problem {
    line: usize,
    what: &'static str,
}

const EXCLUSION: &str = "exclusion constraints are not portable: lock the row and check";
const NOTIFICATION: &str = "LISTEN and NOTIFY are not portable: poll";
const SESSION: &str = "the state of a session does not survive a pooler or a second node";
const SEQUENCE: &str = "sequences are not portable and give no order: identifiers come from the service";

fn problems(sql: &str) -> Vec<Problem> {
    let mut problems = Vec::new();
    for statement in statements(sql) {
        for (index, (line, word)) in statement.iter().enumerate() {
            let next = statement.get(index + 1).map_or("", |(_, word)| word.as_str());
            if let Some(what) = forbidden(index == 0, word, next) {
                problems.push(Problem { line: *line, what });
            }
        }
    }
    problems
}

/// The problem with a word, given the word after it.
fn forbidden(first: bool, word: &str, next: &str) -> Option<&'static str> {
    match (word, next) {
        // `exclude current row` and similar clauses belong to window frames.
        ("exclude", next) if !matches!(next, "current" | "group" | "ties" | "no") => Some(EXCLUSION),
        ("listen" | "unlisten" | "notify", _) if first => Some(NOTIFICATION),
        ("pg_notify", _) => Some(NOTIFICATION),
        ("set", next) if first && !matches!(next, "local" | "transaction" | "constraints") => Some(SESSION),
        ("reset" | "discard" | "prepare" | "declare", _) if first => Some(SESSION),
        ("set_config" | "pg_advisory_lock" | "pg_try_advisory_lock" | "pg_advisory_lock_shared", _) => Some(SESSION),
        ("temp" | "temporary", "table" | "view" | "sequence") => Some(SESSION),
        ("nextval" | "currval" | "lastval" | "setval", _) => Some(SEQUENCE),
        ("serial" | "bigserial" | "smallserial" | "serial2" | "serial4" | "serial8", _) => Some(SEQUENCE),
        ("create" | "alter", "sequence") | ("as", "identity") => Some(SEQUENCE),
        _ => None,
    }
}

/// The words of each statement in lower case, each with its line. Comments and quoted values are left out.
fn statements(sql: &str) -> Vec<Vec<(usize, String)>> {
    let mut statements = vec![Vec::new()];
    let mut word = String::new();
    let mut line = 0;
    let mut rest = sql.chars().peekable();
    while let Some(char) = rest.next() {
        if char.is_alphanumeric() || char == '_' {
            word.extend(char.to_lowercase());
            continue;
        }
        if let Some(statement) = statements.last_mut().filter(|_| !word.is_empty()) {
            statement.push((line, std::mem::take(&mut word)));
        }
        match char {
            '\n' => line += 1,
            ';' => statements.push(Vec::new()),
            '-' if rest.peek() == Some(&'-') => while rest.next_if(|char| *char != '\n').is_some() {},
            '\'' => line += rest.by_ref().take_while(|char| *char != '\'').filter(|char| *char == '\n').count(),
            '/' if rest.peek() == Some(&'*') => {
                let mut before = ' ';
                for char in rest.by_ref() {
                    line += usize::from(char == '\n');
                    if before == '*' && char == '/' {
                        break;
                    }
                    before = char;
                }
            }
            _ => {}
        }
    }
    if let Some(statement) = statements.last_mut().filter(|_| !word.is_empty()) {
        statement.push((line, word));
    }
    statements
}

#[cfg(test)]
mod tests {
    use super::super::model::fixture;
    use super::*;

    #[track_caller]
    fn broken(sql: &str, what: &'static str) {
        assert_eq!(problems(sql), [Problem { line: 0, what }], "{sql}");
    }

    #[test]
    fn unportable_constructs_are_found() {
        broken("create table t (span tstzrange, EXCLUDE USING gist (span with &&))", EXCLUSION);
        broken("listen changes", NOTIFICATION);
        broken("select pg_notify('changes', $1)", NOTIFICATION);
        broken("set search_path to kalends", SESSION);
        broken("SET SESSION lock_timeout = 1", SESSION);
        broken("select pg_advisory_lock(1)", SESSION);
        broken("create temp table t (id uuid)", SESSION);
        broken("create table t (id bigserial)", SEQUENCE);
        broken("create table t (id int generated always as identity)", SEQUENCE);
        broken("select currval('t_id_seq')", SEQUENCE);
        broken("create sequence s", SEQUENCE);
    }

    #[test]
    fn ordinary_statements_pass() {
        for sql in [
            "update counters set used = used + 1; set local lock_timeout = '2s'",
            "insert into t values ('listen; notify') -- set x\n on conflict do update set a = excluded.a",
            "select sum(n) over (order by d rows 3 preceding exclude current row) /* nextval */ from t",
            "create table t (listen boolean not null, notify text)",
        ] {
            assert_eq!(problems(sql), [], "{sql}");
        }
    }

    #[test]
    fn violations_name_the_line() {
        let migration = "-- begin\ncreate table t (\n  a text default 'x\ny',\n  id serial\n);\n";
        let problems = check(&fixture::files(&[("migrations/postgres/0001_begin.sql", migration)]));
        assert_eq!(problems[0].to_string(), format!("migrations/postgres/0001_begin.sql:5: {SEQUENCE}"));
        assert!(check(&fixture::files(&[("migrations/sqlite/0001_begin.sql", migration)])).is_empty());
    }

    #[test]
    fn strings_of_the_store_are_checked_if_they_are_sql() {
        let problems = |text: &str| check(&fixture::files(&[("crates/postgres/src/lib.rs", text)])).len();
        assert_eq!(problems("fn f() { run(\"listen changes\") }"), 1);
        assert_eq!(problems("fn f() { query!(\"select nextval('s')\") }"), 1);
        assert_eq!(problems("fn f() { fail(\"set KALENDS_DATABASE_URL, then start again\") }"), 0);
    }
}
