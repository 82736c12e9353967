//! Every module begins with a doc comment, and SQL files are next to the stores.

use super::model::{File, Model};
use super::{STORES, Violation};

/// The first line of a crate whose front page is its README.
const README: &str = r#"#![doc = include_str!("../README.md")]"#;

pub(super) fn check(model: &Model) -> Vec<Violation> {
    model.files.iter().filter_map(|file| Some(Violation::new(&file.path, problem(file)?))).collect()
}

fn problem(file: &File) -> Option<&'static str> {
    let documented = || {
        let begins = |line: &str| line.starts_with("//!") || line == README;
        file.text.lines().find(|line| !line.trim().is_empty()).is_some_and(begins)
    };
    if file.source_of().is_some() && !documented() {
        return Some("a module must begin with `//!` and its purpose");
    }
    let with_a_store = || {
        let rest = file.path.strip_prefix("crates/").or_else(|| file.path.strip_prefix("migrations/"));
        rest.and_then(|rest| rest.split('/').next()).is_some_and(|folder| STORES.contains(&folder))
    };
    if file.path.ends_with(".sql") && !with_a_store() {
        return Some("SQL belongs in migrations/ or in the stores' crates");
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::model::fixture;
    use super::*;

    fn problems(path: &str, text: &str) -> usize {
        check(&fixture::files(&[(path, text)])).len()
    }

    #[test]
    fn modules_are_documented() {
        assert_eq!(problems("crates/mail/src/lib.rs", "\n//! Sends mail.\n"), 0);
        assert_eq!(problems("crates/mail/src/lib.rs", "#![doc = include_str!(\"../README.md\")]\nuse std::fmt;\n"), 0);
        assert_eq!(problems("crates/mail/src/lib.rs", "#![doc = \"\"]\n"), 1);
        assert_eq!(problems("crates/mail/src/lib.rs", "use std::fmt;\n//! late\n"), 1);
        assert_eq!(problems("crates/mail/src/empty.rs", ""), 1);
        assert_eq!(problems("crates/mail/build.rs", "fn main() {}"), 0);
    }

    #[test]
    fn sql_files_belong_to_the_stores() {
        assert_eq!(problems("migrations/sqlite/0001_begin.sql", "select 1"), 0);
        assert_eq!(problems("crates/postgres/queries/busy.sql", "select 1"), 0);
        assert_eq!(problems("crates/app/busy.sql", "select 1"), 1);
        assert_eq!(problems("migrations/oracle/0001_begin.sql", "select 1"), 1);
    }
}
