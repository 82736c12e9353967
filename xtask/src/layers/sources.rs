//! What the source files of a crate may contain: SQL only in the stores, access to the environment only in the server.

use super::model::{File, Model};
use super::rust::{Facts, facts};
use super::statement::is_statement;
use super::{DRIVERS, READS_ENVIRONMENT, STORES, Violation};

const READERS: &[&str] = &["var", "vars", "var_os", "vars_os"];

pub(super) fn check(model: &Model) -> Vec<Violation> {
    model.files.iter().filter(|file| !file.is_test()).flat_map(check_file).collect()
}

fn check_file(file: &File) -> Vec<Violation> {
    let Some(name) = file.source_of() else { return Vec::new() };
    let Facts { paths, strings } = facts(&file.text);
    let at = |line: usize, what: &str| Violation::new(format!("{}:{line}", file.path), what);
    let mut violations = Vec::new();
    if !READS_ENVIRONMENT.contains(&name) {
        let reads = paths.iter().filter(|(_, [head, tail])| head == "env" && READERS.contains(&tail.as_str()));
        violations.extend(reads.map(|(line, _)| at(*line, "only the server's configuration may read the environment")));
    }
    if !DRIVERS.contains(&name) {
        let driver = paths.iter().filter(|(_, [head, _])| head == "sqlx");
        violations.extend(driver.map(|(line, _)| at(*line, "only the stores may use sqlx")));
    }
    if !STORES.contains(&name) {
        let statements = strings.iter().filter(|(_, text)| is_statement(text));
        violations.extend(statements.map(|(line, _)| at(*line, "only the stores may contain SQL")));
    }
    violations
}

#[cfg(test)]
mod tests {
    use super::super::model::fixture;
    use super::*;

    fn problems(path: &str, text: &str) -> Vec<String> {
        check(&fixture::files(&[(path, text)])).iter().map(Violation::to_string).collect()
    }

    #[test]
    fn only_the_server_reads_the_environment() {
        let text = "fn f() { std::env::var_os(\"HOME\"); }";
        assert_eq!(
            problems("crates/mail/src/lib.rs", text),
            ["crates/mail/src/lib.rs:1: only the server's configuration may read the environment"]
        );
        assert!(problems("crates/server/src/config.rs", text).is_empty());
        assert!(problems("crates/mail/src/tests.rs", text).is_empty());
        assert!(problems("crates/mail/src/lib.rs", "const A: &str = env!(\"CARGO_PKG_VERSION\");").is_empty());
    }

    #[test]
    fn only_the_stores_contain_sql() {
        let text = "\nfn f() { run(\"delete from events\") }";
        assert_eq!(
            problems("crates/app/src/lib.rs", text),
            ["crates/app/src/lib.rs:2: only the stores may contain SQL"]
        );
        assert_eq!(problems("crates/http/src/lib.rs", "use sqlx::Row;").len(), 1);
        assert!(problems("crates/sqlite/src/lib.rs", text).is_empty());
    }
}
