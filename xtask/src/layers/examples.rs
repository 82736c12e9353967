//! Each item of a published crate has an example in its documentation, or names the item that has one.

use super::model::{File, Model};
use super::{PUBLISHED, Violation};

pub(super) fn check(model: &Model) -> Vec<Violation> {
    let of_published = |file: &&File| {
        let source = file.source_of().is_some_and(|of| PUBLISHED.contains(&of));
        source && !file.is_test() && !file.path.contains("/testing")
    };
    let without = |file: &File| {
        let problem =
            |item| Violation::new(&file.path, format!("`{item}` has no example, and names no item that has one"));
        items_without(&file.text).into_iter().map(problem).collect::<Vec<_>>()
    };
    model.files.iter().filter(of_published).flat_map(without).collect()
}

/// The first lines of the items whose documentation has no example. Functions that read a part of a value need none.
fn items_without(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut documentation = String::new();
    for line in text.lines().take_while(|line| *line != "#[cfg(test)]").map(str::trim) {
        if let Some(sentence) = line.strip_prefix("///") {
            documentation.push(' ');
            documentation.push_str(sentence.trim());
        } else if !line.starts_with("#[") {
            let shown = documentation.contains("```")
                || documentation.contains("has an example")
                || documentation.contains("have an example");
            if is_item(line) && !is_accessor(line) && !shown {
                found.push(line);
            }
            documentation.clear();
        }
    }
    found
}

/// Whether a public type or function begins here. The types of a macro are documented by its calls.
fn is_item(line: &str) -> bool {
    let kinds = ["fn ", "const fn ", "async fn ", "struct ", "enum ", "trait "];
    line.strip_prefix("pub ").is_some_and(|item| {
        kinds.iter().any(|kind| item.strip_prefix(kind).is_some_and(|named| !named.starts_with('$')))
    })
}

fn is_accessor(line: &str) -> bool {
    line.contains("(&self) -> ") || line.contains("(self) -> ")
}

#[cfg(test)]
mod tests {
    use super::super::model::fixture;
    use super::*;

    fn problems(path: &str, text: &str) -> usize {
        check(&fixture::files(&[(path, text)])).len()
    }

    #[test]
    fn items_have_an_example() {
        let file = "crates/quotas/src/rate.rs";
        assert_eq!(problems(file, "/// A rate.\n#[derive(Debug)]\npub struct Rate;\n"), 1);
        assert_eq!(problems(file, "/// A rate.\n///\n/// ```\n/// Rate;\n/// ```\npub struct Rate;\n"), 0);
        assert_eq!(problems(file, "/// A new one. [`Rate`] has an\n/// example.\npub const fn new() -> Self {\n"), 0);
        assert_eq!(problems(file, "/// A new one.\npub fn new() -> Self {}\n"), 1);
        // The example of another item does not count.
        assert_eq!(problems(file, "/// ```\npub struct Rate;\n\n/// A new one.\npub fn new() -> Self {}\n"), 1);
    }

    #[test]
    fn some_items_need_none() {
        assert_eq!(problems("crates/quotas/src/rate.rs", "/// The count.\npub fn count(&self) -> u32 {}\n"), 0);
        assert_eq!(problems("crates/quotas/src/rate.rs", "/// Inner.\npub(crate) fn nanos(at: u32) -> i64 {}\n"), 0);
        assert_eq!(problems("crates/quotas/src/rate.rs", "#[cfg(test)]\nmod tests {\n    pub fn rate() {}\n}\n"), 0);
        assert_eq!(problems("crates/mail/src/lib.rs", "pub fn send() {}\n"), 0, "it is not published");
    }
}
