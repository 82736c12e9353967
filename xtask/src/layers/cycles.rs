//! No two files of a crate import each other, neither directly nor through other files.
//!
//! A file imports the files that define what its `crate::`, `super::` and `self::` paths, and paths into its child
//! modules, name. Re-exports are followed to the definition. A parent that only declares or re-exports its children
//! does not import them. Tests do not count.

mod graph;
mod imports;

use std::collections::BTreeMap;

use self::graph::{Crate, Import};
use super::Violation;
use super::model::Model;

pub(super) fn check(model: &Model) -> Vec<Violation> {
    let mut sources: BTreeMap<&str, Vec<(&str, &str)>> = BTreeMap::new();
    for file in &model.files {
        if let Some(name) = file.source_of()
            && let Some((_, path)) = file.path.split_once("/src/")
        {
            sources.entry(name).or_default().push((path, &file.text));
        }
    }
    let mut violations = Vec::new();
    for (name, files) in &sources {
        for cycle in Crate::read(files).cycles() {
            let way: Vec<String> = cycle.way.iter().map(described).collect();
            let what = format!("these files import each other: {}; {}", cycle.files.join(", "), way.join(", "));
            violations.push(Violation::new(format!("crates/{name}/src"), what));
        }
    }
    violations
}

fn described(Import { from, line, to }: &Import) -> String {
    format!("{from}:{line} imports {to}")
}

#[cfg(test)]
mod tests {
    use super::super::model::fixture;
    use super::*;

    fn model(files: &[(&str, &str)]) -> Model {
        let named: Vec<(String, &str)> =
            files.iter().map(|(path, text)| (format!("crates/mail/src/{path}"), *text)).collect();
        let files: Vec<(&str, &str)> = named.iter().map(|(path, text)| (path.as_str(), *text)).collect();
        fixture::files(&files)
    }

    /// The cycles of a crate with these files.
    fn cycles(files: &[(&str, &str)]) -> Vec<Vec<String>> {
        Crate::read(files).cycles().into_iter().map(|cycle| cycle.files).collect()
    }

    const LIB: (&str, &str) = ("lib.rs", "mod a; mod b; mod c; pub use a::A;");

    #[test]
    fn two_files_that_import_each_other_form_a_cycle() {
        let found = cycles(&[LIB, ("a.rs", "use crate::b::B; pub struct A;"), ("b.rs", "use super::a::A; struct B;")]);
        assert_eq!(found, [["a.rs", "b.rs"]]);
    }

    #[test]
    fn a_cycle_may_be_longer() {
        let found = cycles(&[
            LIB,
            ("a.rs", "fn a() { crate::b::b() }"),
            ("b.rs", "use crate::{c::{self, C}}; struct B;"),
            ("c.rs", "use crate::a; struct C;"),
        ]);
        assert_eq!(found, [["a.rs", "b.rs", "c.rs"]]);
    }

    #[test]
    fn imports_in_one_direction_form_no_cycle() {
        let found = cycles(&[
            LIB,
            ("a.rs", "use crate::{b, c}; fn a() { b::b(c::c()) }"),
            ("b.rs", "use crate::c::C;"),
            ("c.rs", "pub struct C;"),
        ]);
        assert!(found.is_empty(), "{found:?}");
    }

    #[test]
    fn re_exports_are_followed() {
        let found = cycles(&[LIB, ("a.rs", "use crate::b::B; pub struct A;"), ("b.rs", "use crate::A; struct B;")]);
        assert_eq!(found, [["a.rs", "b.rs"]]);
        let nested = cycles(&[
            ("lib.rs", "mod a; pub mod b;"),
            ("a.rs", "use crate::b::B; pub struct A;"),
            ("b/mod.rs", "mod inner; pub use self::inner::*;"),
            ("b/inner.rs", "use crate::a::A; pub struct B;"),
        ]);
        assert_eq!(nested, [["a.rs", "b/inner.rs"]]);
    }

    #[test]
    fn a_module_may_be_imported_before_its_item() {
        let found = cycles(&[
            ("lib.rs", "mod a; mod b;"),
            ("a.rs", "use crate::b; fn a() { b::inner::b() }"),
            ("b.rs", "pub mod inner;"),
            ("b/inner.rs", "pub fn b() { crate::a::a() }"),
        ]);
        assert_eq!(found, [["a.rs", "b/inner.rs"]]);
    }

    #[test]
    fn a_parent_imports_only_the_children_that_it_uses() {
        let child = ("a/child.rs", "use super::Shared; pub struct Child;");
        let root = ("lib.rs", "mod a;");
        assert!(cycles(&[root, ("a.rs", "mod child; pub struct Shared;"), child]).is_empty());
        assert!(cycles(&[root, ("a.rs", "mod child; pub use child::Child; pub struct Shared;"), child]).is_empty());
        let uses = [
            "mod child; use child::Child; pub struct Shared;",
            "mod child; pub use child::Child; pub struct Shared(Child);",
            "mod child; pub struct Shared(child::Child);",
        ];
        for parent in uses {
            assert_eq!(cycles(&[root, ("a.rs", parent), child]), [["a.rs", "a/child.rs"]], "{parent}");
        }
    }

    #[test]
    fn modules_inside_a_file_belong_to_it() {
        let found = cycles(&[
            ("lib.rs", "mod a; mod b;"),
            ("a.rs", "pub mod inside { use super::super::b::B; pub struct A; }"),
            ("b.rs", "use crate::a::inside::A; pub struct B;"),
        ]);
        assert_eq!(found, [["a.rs", "b.rs"]]);
    }

    #[test]
    fn a_path_may_be_the_type_of_a_field_or_its_value() {
        for a in ["pub struct A { b: crate::b::B }", "fn a() { B { b: crate::b::b() } }", "fn a(b: super::b::B) {}"] {
            let found = cycles(&[LIB, ("a.rs", a), ("b.rs", "use crate::a::A;")]);
            assert_eq!(found, [["a.rs", "b.rs"]], "{a}");
        }
    }

    #[test]
    fn tests_do_not_count() {
        let found = cycles(&[
            ("lib.rs", "mod a; mod b; #[cfg(test)] mod laws; #[cfg(test)] mod tests { use crate::a; }"),
            ("a.rs", "use crate::b::B; pub struct A; #[cfg(test)] mod checks;"),
            ("b.rs", "pub struct B; #[cfg(test)] mod tests { use crate::a::A; }"),
            ("laws.rs", "use crate::a::A;"),
            ("a/checks.rs", "use super::A;"),
            ("b/tests.rs", "use crate::a::A; use super::B;"),
        ]);
        assert!(found.is_empty(), "{found:?}");
    }

    #[test]
    fn comments_and_other_crates_are_not_imports() {
        let found = cycles(&[
            LIB,
            ("a.rs", "use crate::b::B;"),
            ("b.rs", "//! See [`crate::a`].\nuse other::a::A; /* crate::a::A */ pub struct B;"),
        ]);
        assert!(found.is_empty(), "{found:?}");
    }

    #[test]
    fn a_cycle_is_described() {
        let model = model(&[LIB, ("a.rs", "use crate::b::B;"), ("b.rs", "\nuse crate::a::A;")]);
        let said: Vec<String> = check(&model).iter().map(Violation::to_string).collect();
        let expected = "crates/mail/src: these files import each other: a.rs, b.rs; \
                        a.rs:1 imports b.rs, b.rs:2 imports a.rs";
        assert_eq!(said, [expected]);
    }
}
